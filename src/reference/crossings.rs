//! Intersections at the end of a step: the passes that find and resolve them.

use super::Reference;
use super::contact_sides::sides;
use super::contacts::ActiveContact;
use crate::collision::crossing::{NO_WING, edge_crossing, exit_direction, mark, push};
use crate::collision::pair::{Contact, PairKind, closest, pack};
use crate::geometry::vector::length;
use glam::Vec3;
use std::collections::{BTreeSet, HashMap};

impl Reference {
    /// True if the elements of a pair take part in intersections with each other's bodies. A contact would keep them on
    /// the wrong sides.
    pub(super) fn is_tangled(&self, kind: PairKind, particles: [u32; 4]) -> bool {
        let contact_elements = &self.controls.compiled.contact_elements;
        let [first, second] = sides(kind, &particles);
        let marks = |element: &[u32]| element.iter().fold(0, |marks, &i| marks | self.contacts.tangled[i as usize]);
        marks(first) & mark(contact_elements.body(second[0])) != 0
            && marks(second) & mark(contact_elements.body(first[0])) != 0
    }

    /// Finds the edges that pass through triangles.
    pub(super) fn find_intersections(&mut self) {
        self.contacts.crossings.clear();
        self.contacts.tangled.fill(0);
        let contact_elements = &self.controls.compiled.contact_elements;
        let [.., edge_first, triangle_first, end] = contact_elements.firsts;
        let x = |i: u32| self.positions[i as usize];
        let radius = |&[a, b, c, _]: &[u32; 4]| length(x(b) - x(a)).max(length(x(c) - x(a)));
        let largest = contact_elements.elements[triangle_first as usize..].iter().map(radius).fold(1e-6, f32::max);
        let scale = 1.0 / largest;
        let bounds = |particles: &[u32]| {
            let (low, high) = particles
                .iter()
                .fold((x(particles[0]), x(particles[0])), |(low, high), &i| (low.min(x(i)), high.max(x(i))));
            (cell_at(low, scale), cell_at(high, scale))
        };
        let cells = |(low, high): ([i32; 3], [i32; 3])| {
            (low[0]..=high[0])
                .flat_map(move |x| (low[1]..=high[1]).flat_map(move |y| (low[2]..=high[2]).map(move |z| [x, y, z])))
        };
        let mut grid: HashMap<[i32; 3], Vec<u32>> = HashMap::new();
        for index in triangle_first..end {
            let [a, b, c, _] = contact_elements.elements[index as usize];
            cells(bounds(&[a, b, c])).for_each(|cell| grid.entry(cell).or_default().push(index));
        }
        let mut found = BTreeSet::new();
        for (index, &[left, right]) in (edge_first..triangle_first).zip(&contact_elements.wings) {
            let [a, b, ..] = contact_elements.elements[index as usize];
            if left == NO_WING {
                continue;
            }
            for triangle in cells(bounds(&[a, b])).filter_map(|cell| grid.get(&cell)).flatten() {
                let [c, d, e, _] = contact_elements.elements[*triangle as usize];
                let shared = [c, d, e].into_iter().any(|corner| corner == a || corner == b)
                    || self.controls.are_sewn(&[a, b], &[c, d, e]);
                let may = self.contact_params.touch(contact_elements.material(a), contact_elements.material(c));
                let particles = [a, b, c, d, e];
                let p = particles.map(|i| x(i) - x(a));
                if !shared && may && edge_crossing(p).is_some() && !self.is_crossed_at_rest(particles) {
                    found.insert([a, b, c, d, e, left, right]);
                }
            }
        }
        for row in found {
            let [first, second] =
                [row[2], row[0]].map(|other| mark(self.controls.compiled.contact_elements.body(other)));
            row[..2].iter().for_each(|&i| self.contacts.tangled[i as usize] |= first);
            row[2..5].iter().for_each(|&i| self.contacts.tangled[i as usize] |= second);
            self.contacts.crossings.push(row);
        }
    }

    /// True if an edge and a triangle of one body intersect or nearly touch at rest.
    fn is_crossed_at_rest(&self, particles: [u32; 5]) -> bool {
        let contact_elements = &self.controls.compiled.contact_elements;
        if contact_elements.body(particles[0]) != contact_elements.body(particles[2]) {
            return false;
        }
        let [a, b, c, d, e] = particles;
        let p = particles.map(|i| contact_elements.rest(i) - contact_elements.rest(a));
        let near = [p[0], p[1]].map(|end| closest(PairKind::VertexTriangle, [end, p[2], p[3], p[4]]).distance);
        let thickness = self.radius(&[a, b]) + self.radius(&[c, d, e]);
        edge_crossing(p).is_some() || near[0].min(near[1]) < thickness
    }

    /// Adds the contacts that push edges out of the triangles that they still pass through.
    pub(super) fn resolve_intersections(&mut self) {
        let capacity = self.capacity(self.controls.capacities.contacts);
        for place in 0..self.contacts.crossings.len() {
            let [a, b, c, d, e, left, right] = self.contacts.crossings[place];
            let origin = self.positions[a as usize];
            let x = |i: u32| self.positions[i as usize] - origin;
            let p = [a, b, c, d, e].map(x);
            let Some(weights) = edge_crossing(p) else { continue };
            let wings = [left, right].into_iter().filter(|&wing| wing != NO_WING).map(x);
            let exit = exit_direction(p, wings);
            let l = length(exit);
            if l == 0.0 || !l.is_finite() {
                continue;
            }
            let contact =
                Contact { normal: exit / l, c0: self.contact_params.recovery * l.min(1.0), weights: push(weights) };
            for particle in [a, b] {
                let particles = [particle, c, d, e];
                self.contacts.found_contacts += 1;
                if self.contacts.active.len() == capacity {
                    self.contacts.lose(1);
                    continue;
                }
                particles.iter().for_each(|&i| self.contacts.counts[i as usize] += 1);
                let pair = pack(PairKind::Crossing, particles);
                self.contacts.active.push(ActiveContact { pair, contact, ..ActiveContact::default() });
            }
        }
    }
}

/// The grid cell of a point.
fn cell_at(place: Vec3, inverse_cell: f32) -> [i32; 3] {
    (place * inverse_cell).to_array().map(|component| component.floor().clamp(-1e9, 1e9) as i32)
}
