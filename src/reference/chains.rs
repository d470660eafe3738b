//! Chains of rods: one linear system each; see [`crate::schedule::chains`]. Counterpart:
//! `shaders/schedule/solve_chains.wgsl`.

use super::Reference;
use crate::constraints::{Function, MAX_ARITY};
use crate::geometry::vector::{dot, inverse_symmetric};
use crate::schedule::chains::{
    LEAST_COMPLIANCE, LEAST_INVERSE_INERTIA, MOST_ROTATION, NO_ENTITY, SEGMENT, SOLVES, chain_kinds,
};
use crate::schedule::coloring::Span;
use glam::Vec3;

/// The rows of a 3 × 3 matrix.
type Matrix = [Vec3; 3];

/// A link of a chain: a linearised constraint, and its part of the decomposition.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Link {
    /// b of the equations.
    b: Vec3,
    /// α̃/(1 + γ).
    alpha: f32,
    /// The factor on Δλ.
    relaxation: f32,
    /// By entity, the gradient of each component.
    grad: [Matrix; 3],
    /// D⁻¹.
    inverse: Matrix,
    /// The block of L to the link before.
    beside: Matrix,
    /// The block of L to the link before that.
    next: Matrix,
    /// y of L y = b, then Δλ.
    y: Vec3,
}

/// A Bᵀ.
fn times_transposed(a: &Matrix, b: &Matrix) -> Matrix {
    a.map(|row| Vec3::new(dot(row, b[0]), dot(row, b[1]), dot(row, b[2])))
}

fn minus(a: &Matrix, b: &Matrix) -> Matrix {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// A v.
fn times(a: &Matrix, v: Vec3) -> Vec3 {
    Vec3::new(dot(a[0], v), dot(a[1], v), dot(a[2], v))
}

/// Aᵀ v.
fn transposed_times(a: &Matrix, v: Vec3) -> Vec3 {
    (a[0] * v.x + a[1] * v.y) + a[2] * v.z
}

/// The inverse of a symmetric matrix; 0 in the directions of pivots that do not exceed `least`.
fn inverse(d: &Matrix, least: Vec3) -> Matrix {
    let symmetric = (Vec3::new(d[0].x, d[1].y, d[2].z), Vec3::new(d[2].y, d[2].x, d[1].x));
    let (m, o) = inverse_symmetric(symmetric, least);
    [Vec3::new(m.x, o.z, o.y), Vec3::new(o.z, m.y, o.x), Vec3::new(o.y, o.x, m.z)]
}

/// Adds w G Hᵀ.
fn add_coupling(sum: &mut Matrix, w: f32, g: &Matrix, h: &Matrix) {
    let product = times_transposed(g, h);
    sum.iter_mut().zip(product).for_each(|(sum, row)| *sum += row * w);
}

impl Reference {
    /// Evaluates the links of a kind at the current positions.
    pub(super) fn linearize_chains(&mut self, kind: usize, records: Span, first_iteration: bool) {
        let own = usize::from(kind != chain_kinds()[0]);
        for place in records.range() {
            let link = self.controls.compiled.chains.links_of[own][place] as usize;
            self.chain_links[link] = self.linearized(kind, place, first_iteration);
        }
    }

    fn linearized(&self, kind: usize, place: usize, first_iteration: bool) -> Link {
        let compiled = &self.controls.compiled.kinds[kind];
        let (info, record) = (compiled.info, compiled.record(place));
        let Function::Components(evaluate) = info.function else { return Link::default() };
        let (entities, p) = self.gather(record, info);
        let mut grad = [[Vec3::ZERO; 3]; MAX_ARITY];
        let c = evaluate(&record[info.arity + 1..], &p, &mut grad);
        let d = entities.map(|entity| self.displacements[entity]);
        let travel = super::constraints::travel_of(info, &grad, &d);
        let material = self.materials[record[info.material_word()] as usize];
        let mut lambda = Vec3::ZERO;
        if !first_iteration {
            lambda = Vec3::from_slice(&self.lambdas[kind][3 * place..]);
        }
        let damped = 1.0 + material.gamma;
        let b = ((-c - lambda * material.alpha_tilde) - travel * material.gamma) / damped;
        let alpha = material.alpha_tilde / damped;
        Link { b, alpha, relaxation: material.factor, grad: [grad[0], grad[1], grad[2]], ..Link::default() }
    }

    pub(super) fn solve_chain(&mut self, chain: usize, first_iteration: bool) {
        let [first, count] = self.controls.compiled.chains.chains[chain].map(|number| number as usize);
        let most = MOST_ROTATION * MOST_ROTATION;
        let (mut factor, mut largest) = (1f32, most);
        for _ in 0..SOLVES {
            factor = (factor * (most / largest)).max(LEAST_INVERSE_INERTIA);
            self.solve_links(first, count, factor);
            largest = self.largest_rotation(first, count, factor);
            if largest <= most || factor == LEAST_INVERSE_INERTIA {
                break;
            }
        }
        let scale = if largest > most { (most / largest).sqrt() } else { 1.0 };
        for place in (first..first + count).rev() {
            self.chain_links[place].y *= scale;
            self.apply_link(place, factor, first_iteration);
        }
    }

    /// Computes Δλ of each link. `factor` applies to the inverse inertias of frames.
    fn solve_links(&mut self, first: usize, count: usize, factor: f32) {
        for place in first..first + count {
            self.decompose(first, place, factor);
        }
        let (mut z1, mut z2) = (Vec3::ZERO, Vec3::ZERO);
        for place in (first..first + count).rev() {
            let link = self.chain_links[place];
            let mut z = times(&link.inverse, link.y);
            if place + 1 < first + count {
                z -= transposed_times(&self.chain_links[place + 1].beside, z1);
            }
            if place + 2 < first + count {
                z -= transposed_times(&self.chain_links[place + 2].next, z2);
            }
            self.chain_links[place].y = z * link.relaxation;
            (z1, z2) = (z, z1);
        }
    }

    /// The square of the largest rotation of a segment by Δλ.
    fn largest_rotation(&self, first: usize, count: usize, factor: f32) -> f32 {
        let end = first + count;
        let mut largest = 0f32;
        for place in first..end {
            let [record, .., frame] = self.controls.compiled.chains.links[place];
            if record & SEGMENT == 0 {
                continue;
            }
            let mut rotation = Vec3::ZERO;
            for other in place.saturating_sub(2).max(first)..(place + 3).min(end) {
                if let Some(k) = self.entities_of_link(other).iter().position(|&entity| entity == frame) {
                    let link = &self.chain_links[other];
                    rotation += transposed_times(&link.grad[k], link.y);
                }
            }
            rotation *= self.weight(frame, factor);
            largest = largest.max(dot(rotation, rotation));
        }
        largest
    }

    /// The inverse mass of a particle, or the inverse inertia of a frame times `factor`.
    fn weight(&self, entity: u32, factor: f32) -> f32 {
        let w = self.controls.inverse_masses[entity as usize];
        if (entity as usize) < self.particle_count() { w } else { w * factor }
    }

    /// The row of a link: its blocks of L and D⁻¹, and y of L y = b.
    fn decompose(&mut self, first: usize, place: usize, factor: f32) {
        let mut link = self.chain_links[place];
        let mut diagonal = self.coupling(place, place, factor);
        let own = Vec3::new(diagonal[0].x, diagonal[1].y, diagonal[2].z);
        let least = own * LEAST_COMPLIANCE;
        diagonal[0].x += link.alpha.max(least.x);
        diagonal[1].y += link.alpha.max(least.y);
        diagonal[2].z += link.alpha.max(least.z);
        (link.y, link.beside) = (link.b, [Vec3::ZERO; 3]);
        let one = if place > first { self.chain_links[place - 1] } else { Link::default() };
        if place > first + 1 {
            let two = self.chain_links[place - 2];
            let coupling = self.coupling(place, place - 2, factor);
            link.next = times_transposed(&coupling, &two.inverse);
            diagonal = minus(&diagonal, &times_transposed(&coupling, &link.next));
            link.beside = times_transposed(&coupling, &one.beside);
            link.y -= times(&link.next, two.y);
        }
        if place > first {
            let coupling = minus(&self.coupling(place, place - 1, factor), &link.beside);
            link.beside = times_transposed(&coupling, &one.inverse);
            diagonal = minus(&diagonal, &times_transposed(&coupling, &link.beside));
            link.y -= times(&link.beside, one.y);
        }
        link.inverse = inverse(&diagonal, least * 0.25);
        self.chain_links[place] = link;
    }

    fn entities_of_link(&self, place: usize) -> [u32; 3] {
        let [_, a, b, c] = self.controls.compiled.chains.links[place];
        [a, b, c]
    }

    /// J W Jᵀ of two links.
    fn coupling(&self, place: usize, other: usize, factor: f32) -> Matrix {
        let mut sum = [Vec3::ZERO; 3];
        for (k, entity) in self.entities_of_link(place).into_iter().enumerate() {
            for (m, same) in self.entities_of_link(other).into_iter().enumerate() {
                if entity == same && entity != NO_ENTITY {
                    let (own, other) = (self.chain_links[place].grad[k], self.chain_links[other].grad[m]);
                    add_coupling(&mut sum, self.weight(entity, factor), &own, &other);
                }
            }
        }
        sum
    }

    /// Adds Δλ to λ, and w ∇C Δλ to the displacements.
    fn apply_link(&mut self, place: usize, factor: f32, first_iteration: bool) {
        let delta = self.chain_links[place].y;
        let record = self.controls.compiled.chains.links[place][0];
        let kind = chain_kinds()[usize::from(record & SEGMENT != 0)];
        let row = 3 * (record & !SEGMENT) as usize;
        for axis in 0..3 {
            let lambda = if first_iteration { 0.0 } else { self.lambdas[kind][row + axis] };
            self.lambdas[kind][row + axis] = lambda + delta[axis];
        }
        for (k, entity) in self.entities_of_link(place).into_iter().enumerate() {
            if entity != NO_ENTITY {
                let impulse = transposed_times(&self.chain_links[place].grad[k], delta);
                let w = self.weight(entity, factor);
                self.displacements[entity as usize] += impulse * w;
            }
        }
    }
}
