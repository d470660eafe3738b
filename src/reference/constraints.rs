//! The passes over constraints: projection, by colours or split, of few particles or of groups.

use super::Reference;
use crate::kinds::group::{self, Frame, Member, Moments, Sums, turned};
use crate::kinds::{Function, MAX_ARITY};
use crate::xpbd::{delta_lambda, dot, solve_symmetric, unilateral};
use glam::Vec3;

impl Reference {
    /// The particles of a record in the frame of the first one's position, so that differences keep their precision.
    pub(super) fn gather(&self, record: &[u32], arity: usize) -> ([usize; MAX_ARITY], [Vec3; MAX_ARITY]) {
        let mut particles = [0; MAX_ARITY];
        let mut p = [Vec3::ZERO; MAX_ARITY];
        for k in 0..arity {
            particles[k] = record[k] as usize;
            p[k] = (self.positions[particles[k]] - self.positions[particles[0]]) + self.displacements[particles[k]];
        }
        (particles, p)
    }

    /// Δλ of a record, with its gradients; `shares` divide the masses of its particles.
    pub(super) fn solve(
        &mut self,
        kind: usize,
        place: usize,
        first_iteration: bool,
        shares: [f32; MAX_ARITY],
    ) -> ([usize; MAX_ARITY], [Vec3; MAX_ARITY], f32) {
        let cooked = &self.controls.cooked.kinds[kind];
        let (info, record) = (cooked.info, cooked.record(place));
        let (particles, p) = self.gather(record, info.arity);
        let mut grad = [Vec3::ZERO; MAX_ARITY];
        let c = info.evaluate(&record[info.arity + 1..], &[], &p, &mut grad);
        let (mut weighted, mut travel) = (0.0, 0.0);
        let d0 = self.displacements[particles[0]];
        for k in 0..info.arity {
            let w = self.controls.inverse_masses[particles[k]] * shares[k];
            let unit = info.unit_gradients && grad[k] != Vec3::ZERO;
            weighted += if unit { w } else { w * dot(grad[k], grad[k]) };
            // The gradients sum to zero, so what all particles travel together counts for nothing.
            travel += dot(grad[k], self.displacements[particles[k]] - d0);
        }
        let lambda = if first_iteration { 0.0 } else { self.lambdas[kind][place] };
        let material = self.materials[record[info.material_word()] as usize];
        let delta = delta_lambda(c, weighted, travel, lambda, material);
        let delta = if info.unilateral { unilateral(delta, lambda) } else { delta };
        self.lambdas[kind][place] = lambda + delta;
        (particles, grad, delta)
    }

    pub(super) fn project(&mut self, kind: usize, place: usize, first_iteration: bool) {
        if self.controls.cooked.kinds[kind].info.is_group() {
            let impulses = self.solve_group(kind, place, first_iteration);
            for (particle, _, push) in impulses {
                self.displacements[particle] += push;
            }
            return;
        }
        let (particles, grad, delta) = self.solve(kind, place, first_iteration, [1.0; MAX_ARITY]);
        for k in 0..self.controls.cooked.kinds[kind].info.arity {
            let w = self.controls.inverse_masses[particles[k]];
            self.displacements[particles[k]] += grad[k] * (w * delta);
        }
    }

    pub(super) fn split(&mut self, kind: usize, place: usize, first_iteration: bool) {
        let cooked = &self.controls.cooked.kinds[kind];
        let slots = cooked.slots(place);
        if cooked.info.is_group() {
            let impulses = self.solve_group(kind, place, first_iteration);
            for (slot, (_, impulse, _)) in self.impulses[kind][slots].iter_mut().zip(impulses) {
                *slot = impulse;
            }
            return;
        }
        let mut shares = [1.0; MAX_ARITY];
        shares[..slots.len()].copy_from_slice(&cooked.split.shares[slots.clone()]);
        let (_, grad, delta) = self.solve(kind, place, first_iteration, shares);
        for (impulse, grad) in self.impulses[kind][slots].iter_mut().zip(grad) {
            *impulse = grad * delta;
        }
    }

    /// The projection of a group, see [`crate::kinds::group`]: each member's particle, its impulse s Δλ r, and how far that
    /// moves it. The sums are made by lanes, as on the GPU.
    pub(super) fn solve_group(&mut self, kind: usize, place: usize, first_iteration: bool) -> Vec<(usize, Vec3, Vec3)> {
        let cooked = &self.controls.cooked.kinds[kind];
        let Function::Group(function) = cooked.info.function else { return Vec::new() };
        let (record, lanes) = (cooked.record(place), cooked.lanes);
        let parameters = &record[group::MATERIAL_WORD + 1..];
        let total = f32::from_bits(parameters[0]);
        let members: Vec<_> =
            (0..record[1] as usize).map(|index| Member::read(&cooked.rows, record[0] as usize, index)).collect();
        let first = members[0].particle as usize;
        let (origin, d0) = (self.positions[first], self.displacements[first]);
        let relative =
            |particle: u32| (self.positions[particle as usize] - origin) + self.displacements[particle as usize];

        let mut moments = Moments::default();
        for lane in 0..lanes {
            let mut partial = Moments::default();
            for member in members.iter().skip(lane).step_by(lanes) {
                partial.add_member(member, relative(member.particle));
            }
            moments.add(&partial);
        }
        let start = self.rotations[kind][place];
        let frame = Frame::new(&moments, total, function.rotates, start, group::ROTATION_STEPS);

        let mut directions = vec![Vec3::ZERO; members.len()];
        let mut sums = Sums::default();
        for lane in 0..lanes {
            let mut partial = Sums::default();
            for index in (lane..members.len()).step_by(lanes) {
                let member = &members[index];
                let i = member.particle as usize;
                let (r, value) = (function.direction)(member, relative(member.particle), &frame, &relative);
                directions[index] = r;
                let w = self.controls.inverse_masses[i] * member.share;
                let travel = dot(r, self.displacements[i] - d0);
                let torque =
                    if function.rotates { (relative(member.particle) - frame.center).cross(r) } else { Vec3::ZERO };
                partial.add(&Sums { direction: r, value, weighted: w * dot(r, r), travel, torque });
            }
            sums.add(&partial);
        }
        let (c, s) = (function.measure)(parameters, sums.value);
        let lambda = if first_iteration { 0.0 } else { self.lambdas[kind][place] };
        let material = self.materials[record[cooked.info.material_word()] as usize];
        let delta = delta_lambda(c, sums.weighted * s * s, sums.travel * s, lambda, material);
        let strength = s * delta;
        let omega = solve_symmetric(frame.inertia, sums.torque);
        let push = |(member, r): (&Member<'_>, Vec3)| {
            let mut r = r - sums.direction * (member.weight / total);
            if function.rotates {
                r -= omega.cross(turned(frame.rotation, member.rest)) * member.weight;
            }
            let i = member.particle as usize;
            (i, r * strength, r * (strength * self.controls.inverse_masses[i]))
        };
        let pushes = members.iter().zip(directions).map(push).collect();
        self.rotations[kind][place] = frame.rotation;
        self.lambdas[kind][place] = lambda + delta;
        pushes
    }

    pub(super) fn gather_chunks(&mut self, kind: usize) {
        let split = &self.controls.cooked.kinds[kind].split;
        let sum = |&[first, count]: &[u32; 2]| {
            let slots = &split.slots[first as usize..(first + count) as usize];
            slots.iter().fold(Vec3::ZERO, |sum, &slot| sum + self.impulses[kind][slot as usize])
        };
        self.chunk_sums = split.chunks.iter().map(sum).collect();
    }

    pub(super) fn gather_hubs(&mut self, kind: usize) {
        for &[particle, first, count, _] in &self.controls.cooked.kinds[kind].split.hubs {
            let chunks = &self.chunk_sums[first as usize..(first + count) as usize];
            let impulse = chunks.iter().fold(Vec3::ZERO, |sum, &chunk| sum + chunk);
            let w = self.controls.inverse_masses[particle as usize];
            self.displacements[particle as usize] += impulse * w;
        }
    }
}
