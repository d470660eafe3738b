//! The pairs that a search lists.

use super::elements::Element;
use super::{TrackedParticle, from_segment};
use crate::collision::pair::{PairKind, approach, closest, pack};
use crate::geometry::vector::dot;
use crate::reference::Reference;
use glam::Vec3;

impl Reference {
    /// The pair of two elements, if they may come into contact before the next search.
    pub(super) fn pair(&self, query: &Element, other: &Element, near: f32) -> Option<[u32; 4]> {
        let (params, contact_elements) = (&self.contact_params, &self.controls.compiled.contact_elements);
        let [start, end] = query.segment;
        let apart = from_segment(query.segment, other.center);
        if dot(apart, apart) >= near * near {
            return None;
        }
        if query.of == 1 && !query.is_fast {
            let [middle, along] = [other.center - start, end - start];
            let p = [Vec3::ZERO, along, middle - other.half, middle + other.half];
            if closest(PairKind::Edges, p).distance >= query.gap(other.grid(1)) {
                return None;
            }
        }
        if query.grid(query.of) == other.grid(other.of) {
            // List each pair once. In different grids only one element queries the other. In the same grid the fast one
            // lists the pair, else the one with the larger z.
            let higher = (other.center.z, query.particles) < (query.center.z, other.particles);
            if !(if query.is_fast == other.is_fast { higher } else { query.is_fast }) {
                return None;
            }
        }
        let [a, b, _] = query.particles;
        let [c, d, e] = other.particles;
        let (kind, particles) = match (query.of, other.of) {
            (0, 0) => (PairKind::Particles, [a, c, c, c]),
            (0, _) => (PairKind::VertexTriangle, [a, c, d, e]),
            _ => (PairKind::Edges, [a, b, c, d]),
        };
        let shared = match kind {
            // Edges without triangles meet each other as edges.
            PairKind::Particles => params.level == 2 && contact_elements.is_cord(a) && contact_elements.is_cord(c),
            PairKind::VertexTriangle | PairKind::Crossing => a == c || a == d || a == e,
            PairKind::Edges => a == c || a == d || b == c || b == d,
        };
        let (left, right) = (contact_elements.material(a), contact_elements.material(particles[2]));
        let seconds = if kind == PairKind::Edges { 2 } else { 1 };
        let is_sewn = self.controls.are_sewn(&particles[..seconds], &particles[seconds..]);
        if shared || is_sewn || !params.touch(left, right) {
            return None;
        }
        let thickness = self.thickness(kind, particles);
        let reach = thickness + params.margin;
        if contact_elements.body(a) == contact_elements.body(particles[2]) {
            let rest = particles.map(|i| contact_elements.rest(i) - contact_elements.rest(a));
            let least = if kind == PairKind::Particles { 1.5 * thickness } else { thickness };
            if closest(kind, rest).distance < least {
                return None;
            }
        }
        let apart = |of: &dyn Fn(&TrackedParticle) -> Vec3| {
            let all = particles.map(|i| of(&self.contacts.tracked[i as usize]));
            all.map(|one| one - all[0])
        };
        let p = apart(&|tracked| tracked.place);
        let d = apart(&|tracked| tracked.displacement);
        let predicted = apart(&|tracked| tracked.predicted);
        let path = approach(kind, d) + self.contacts.horizon as f32 * approach(kind, predicted);
        if closest(kind, p).distance >= reach + path {
            return None;
        }
        Some(pack(kind, particles))
    }
}
