//! The pairs that a search lists: a sweep over the boxes around the paths of the elements, independent of the grids of
//! the GPU.

use super::TrackedParticle;
use crate::collision::pair::{PairKind, SLACK, approach, closest, pack, unpack};
use crate::geometry::vector::length;
use crate::reference::Reference;
use crate::reference::contact_sides::sides;
use glam::Vec3;

/// A box that contains an element in all substeps until the next search, extended by half the distance at
/// which pairs are listed.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    low: Vec3,
    high: Vec3,
}

impl Reference {
    /// Adds all pairs that may come into contact before the next search.
    pub(super) fn list_pairs(&self, pairs: &mut Vec<[u32; 4]>) {
        let bounds: Vec<Bounds> = (0..self.contact_params.element_end).map(|index| self.bounds(index)).collect();
        let of = |index: u32| bounds[index as usize];
        let finite = bounds.iter().filter(|own| own.low.is_finite() && own.high.is_finite());
        let all = finite.copied().reduce(|a, b| Bounds { low: a.low.min(b.low), high: a.high.max(b.high) });
        let Some(all) = all else { return };
        let axis = (all.high - all.low).max_position();
        let mut order: Vec<u32> = (0..self.contact_params.element_end).collect();
        order.sort_by(|&a, &b| of(a).low[axis].total_cmp(&of(b).low[axis]));
        for (place, &a) in order.iter().enumerate() {
            let own = of(a);
            let near = order[place + 1..].iter().copied().take_while(|&b| of(b).low[axis] <= own.high[axis]);
            let overlapping = near.filter(|&b| own.low.cmple(of(b).high).all() && of(b).low.cmple(own.high).all());
            pairs.extend(overlapping.filter_map(|b| self.pair(a, b)));
        }
    }

    fn bounds(&self, index: u32) -> Bounds {
        let contact_elements = &self.controls.compiled.contact_elements;
        let [a, b, c, _] = contact_elements.elements[index as usize];
        let tracked = [a, b, c].map(|i| self.contacts.tracked[i as usize]);
        // The middle of the substep, in the frame of the drift.
        let paths = tracked.map(|own| own.displacement - self.contacts.drift);
        let middle: [Vec3; 3] = std::array::from_fn(|k| tracked[k].place - paths[k] * 0.5);
        let path = paths.map(length).into_iter().fold(0.0, f32::max);
        let predicted = tracked.map(|own| length(own.predicted));
        let travel = path + self.contacts.horizon as f32 * predicted.into_iter().fold(0.0, f32::max);
        let radius = |i: u32| self.contact_params.radius(contact_elements.material(i));
        let reach = travel + 0.5 * self.contact_params.listed_distance(2.0 * radius(a).max(radius(b)).max(radius(c)));
        let [low, high] = [middle[0].min(middle[1]).min(middle[2]), middle[0].max(middle[1]).max(middle[2])];
        // The tolerances cover rounding.
        let reach = 1.001 * reach + 1e-6 * (low.abs() + high.abs());
        Bounds { low: low - reach, high: high + reach }
    }

    /// The pair of two elements, if they may come into contact before the next search.
    pub(super) fn pair(&self, one: u32, other: u32) -> Option<[u32; 4]> {
        let (params, contact_elements) = (&self.contact_params, &self.controls.compiled.contact_elements);
        let [index, second] = [one.min(other), one.max(other)];
        let [[a, b, _, first_of], [c, d, e, second_of]] =
            [index, second].map(|index| contact_elements.elements[index as usize]);
        let (kind, particles) = match (first_of, second_of) {
            (0, 0) if index >= params.sphere_first => (PairKind::Particles, [a, c, c, c]),
            (0, 2) => (PairKind::VertexTriangle, [a, c, d, e]),
            (1, 1) => (PairKind::Edges, [a, b, c, d]),
            _ => return None,
        };
        let row = pack(kind, particles);
        let (_, particles) = unpack(row);
        let [a, b, c, d] = particles;
        let shared = match kind {
            // Edges without triangles meet each other as edges.
            PairKind::Particles => params.level == 2 && contact_elements.is_cord(a) && contact_elements.is_cord(c),
            PairKind::VertexTriangle | PairKind::Crossing => a == b || a == c || a == d,
            PairKind::Edges => a == c || a == d || b == c || b == d,
        };
        let [first, second] = sides(kind, &particles);
        let materials = [first, second].map(|element| contact_elements.material(element[0]));
        if shared || self.controls.are_sewn(first, second) || !params.touch(materials[0], materials[1]) {
            return None;
        }
        let thickness = self.thickness(kind, particles);
        if contact_elements.body(a) == contact_elements.body(second[0]) {
            let rest = particles.map(|i| contact_elements.rest(i) - contact_elements.rest(a));
            // Elements that are in contact at rest.
            let exempt = thickness * if kind == PairKind::Particles { 1.5 } else { 1.0 + SLACK };
            if closest(kind, rest).distance < exempt {
                return None;
            }
        }
        let apart = |of: &dyn Fn(&TrackedParticle) -> Vec3| {
            let all = particles.map(|i| of(&self.contacts.tracked[i as usize]));
            all.map(|one| one - all[0])
        };
        let paths = apart(&|tracked| tracked.displacement);
        let places = apart(&|tracked| tracked.place);
        // In the middle of the substep. Contacts deflect particles, so the bound in the substep is twice that on straight paths.
        let p = std::array::from_fn(|k| places[k] - paths[k] * 0.5);
        let predicted = apart(&|tracked| tracked.predicted);
        let decrease = approach(kind, paths) + self.contacts.horizon as f32 * approach(kind, predicted);
        (closest(kind, p).distance < params.listed_distance(thickness) + decrease).then_some(row)
    }
}
