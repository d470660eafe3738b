//! Projects stars; equations in `src/schedule/stars.rs`. Counterpart: `shaders/schedule/project_stars.wgsl`.

use super::Reference;
use crate::constraints::xpbd::ScaledMaterial;
use crate::geometry::vector::{dot, solve_symmetric};
use crate::schedule::compiled::CompiledKind;
use crate::schedule::stars::LEAST_LEAF;
use glam::Vec3;

/// State of a hub.
#[derive(Clone, Copy)]
struct Hub {
    particle: usize,
    position: Vec3,
    displacement: Vec3,
    w: f32,
    leaf_factor: f32,
}

/// A linearised distance constraint of a star.
struct Link {
    leaf: usize,
    /// The unit gradient at the hub; 0 where both particles coincide.
    n: Vec3,
    b: f32,
    d: f32,
    lambda: f32,
    /// (L b)², L being the distance between hub and leaf.
    reach: f32,
}

impl Reference {
    pub(super) fn project_star(&mut self, kind: usize, row: usize, first_iteration: bool) {
        let compiled = &self.controls.compiled.kinds[kind];
        let [particle, first, count, leaf_factor] = compiled.stars.rows[row];
        let particle = particle as usize;
        let hub = Hub {
            particle,
            position: self.positions[particle],
            displacement: self.displacements[particle],
            w: self.controls.inverse_masses[particle],
            leaf_factor: leaf_factor as f32,
        };
        let places = first as usize..(first + count) as usize;
        let (mut diagonal, mut beside, mut right, mut reach) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, 0f32);
        for place in places.clone() {
            let link = self.link(kind, place, hub, first_iteration);
            if link.d > 0.0 {
                let scaled = link.n / link.d;
                diagonal += link.n * scaled;
                beside += Vec3::new(link.n.y, link.n.z, link.n.x) * Vec3::new(scaled.z, scaled.x, scaled.y);
                right += scaled * link.b;
                reach = reach.max(link.reach);
            }
        }
        let system = (Vec3::ONE + diagonal * hub.w, beside * hub.w);
        let moved = solve_symmetric(system, right) * hub.w;
        // |moved|² ≤ 2 L |b|: see `src/schedule/stars.rs`.
        let square = dot(moved, moved);
        let (square, reach) = (square * square, 4.0 * reach);
        let part = if square > reach { (reach / square).sqrt().sqrt() } else { 1.0 };
        let mut impulse = Vec3::ZERO;
        for place in places {
            let link = self.link(kind, place, hub, first_iteration);
            let delta = if link.d > 0.0 && link.n != Vec3::ZERO {
                part * ((link.b - dot(link.n, moved)) / link.d)
            } else {
                0.0
            };
            self.lambdas[kind][place] = link.lambda + delta;
            let given = link.n * delta;
            self.displacements[link.leaf] -= given * self.controls.inverse_masses[link.leaf];
            impulse += given;
        }
        self.displacements[hub.particle] += impulse * hub.w;
    }

    fn link(&self, kind: usize, place: usize, hub: Hub, first_iteration: bool) -> Link {
        let compiled: &CompiledKind = &self.controls.compiled.kinds[kind];
        let (info, record) = (compiled.info, compiled.record(place));
        let hub_is_first = record[0] as usize == hub.particle;
        let leaf = if hub_is_first { record[1] } else { record[0] } as usize;
        let displacement = self.displacements[leaf];
        let relative = (self.positions[leaf] - hub.position) + displacement;
        let p = if hub_is_first { [hub.displacement, relative] } else { [relative, hub.displacement] };
        let mut grad = [Vec3::ZERO; 2];
        let c = info.evaluate(&record[info.arity + 1..], &[], &p, &mut grad);
        let n = if hub_is_first { grad[0] } else { grad[1] };
        let ScaledMaterial { alpha_tilde, gamma, factor, .. } = self.materials[record[info.material_word()] as usize];
        let lambda = if first_iteration { 0.0 } else { self.lambdas[kind][place] };
        let travel = dot(n, hub.displacement - displacement);
        let b = factor * ((-c - alpha_tilde * lambda - gamma * travel) / (1.0 + gamma));
        let w = self.controls.inverse_masses[leaf];
        let weight = if hub.w > 0.0 { (hub.leaf_factor * w).max(LEAST_LEAF * hub.w) } else { w };
        let d = weight + alpha_tilde / (1.0 + gamma);
        let apart = relative - hub.displacement;
        let reach = dot(apart, apart) * (b * b);
        Link { leaf, n, b, d, lambda, reach }
    }
}
