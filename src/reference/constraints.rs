//! Constraint passes: projection by colours and mass splitting, for fixed arity and for groups.

use super::Reference;
use crate::constraints::group::{self, Frame, Member, Moments, Sums, turned};
use crate::constraints::xpbd::{ScaledMaterial, delta_lambda, relaxation, unilateral};
use crate::constraints::{ComponentGradients, Components, Function, Group, KindInfo, MAX_ARITY};
use crate::geometry::rotation::rotation_step;
use crate::geometry::vector::{dot, solve_symmetric};
use glam::Vec3;

impl Reference {
    /// The particles of a record, relative to the position of the first one to keep the precision of differences, then
    /// its orientations, as modified Rodrigues parameters.
    pub(super) fn gather(&self, record: &[u32], info: &KindInfo) -> ([usize; MAX_ARITY], Points) {
        let mut entities = [0; MAX_ARITY];
        let mut p = [Vec3::ZERO; MAX_ARITY];
        for k in 0..info.arity {
            entities[k] = record[k] as usize;
            let (x, d) = (self.positions[entities[k]], self.displacements[entities[k]]);
            p[k] = if k >= info.point_count() {
                x + rotation_step(x, d)
            } else if k > 0 {
                d + (x - self.positions[entities[0]])
            } else {
                d
            };
        }
        (entities, p)
    }

    /// The particles and orientations of a record and the impulse on each. `shares` are the numbers of parts that mass splitting makes
    /// of the particles.
    fn solve(
        &mut self,
        kind: usize,
        place: usize,
        first_iteration: bool,
        shares: [f32; MAX_ARITY],
    ) -> ([usize; MAX_ARITY], Points) {
        let compiled = &self.controls.compiled.kinds[kind];
        let (info, record) = (compiled.info, compiled.record(place));
        let (particles, p) = self.gather(record, info);
        let gathered = Gathered {
            parameters: &record[info.arity + 1..],
            material: self.materials[record[info.material_word()] as usize].of(info),
            arity: info.arity,
            p,
            d: particles.map(|particle| self.displacements[particle]),
            w: std::array::from_fn(|k| self.controls.inverse_masses[particles[k]] * shares[k]),
        };
        let count = info.lambda_count();
        let lambdas = &mut self.lambdas[kind][place * count..][..count];
        if first_iteration {
            lambdas.fill(0.0);
        }
        let impulses = match info.function {
            Function::Vector(evaluate) => vector_impulses(evaluate, &gathered, lambdas),
            Function::Components(evaluate) => component_impulses((info, evaluate), &gathered, lambdas),
            _ => scalar_impulses(info, &gathered, lambdas),
        };
        (particles, impulses)
    }

    pub(super) fn project(&mut self, kind: usize, place: usize, first_iteration: bool) {
        if self.controls.compiled.kinds[kind].info.is_group() {
            for (particle, impulse) in self.solve_group(kind, place, first_iteration) {
                self.displacements[particle] += impulse * self.controls.inverse_masses[particle];
            }
            return;
        }
        let (particles, impulses) = self.solve(kind, place, first_iteration, [1.0; MAX_ARITY]);
        for k in 0..self.controls.compiled.kinds[kind].info.arity {
            self.displacements[particles[k]] += impulses[k] * self.controls.inverse_masses[particles[k]];
        }
    }

    pub(super) fn split(&mut self, kind: usize, place: usize, first_iteration: bool) {
        let compiled = &self.controls.compiled.kinds[kind];
        let slots = compiled.slots(place);
        if compiled.info.is_group() {
            let impulses = self.solve_group(kind, place, first_iteration);
            for (slot, (_, impulse)) in self.impulses[kind][slots].iter_mut().zip(impulses) {
                *slot = impulse;
            }
            return;
        }
        let mut shares = [1.0; MAX_ARITY];
        shares[..slots.len()].copy_from_slice(&compiled.split.shares[slots.clone()]);
        let (_, impulses) = self.solve(kind, place, first_iteration, shares);
        self.impulses[kind][slots].iter_mut().zip(impulses).for_each(|(slot, impulse)| *slot = impulse);
    }

    /// Projects a group, see [`crate::constraints::group`]: returns the particle of each member and the impulse on it.
    /// Sums are computed per thread, in the order of the GPU.
    fn solve_group(&mut self, kind: usize, place: usize, first_iteration: bool) -> Vec<(usize, Vec3)> {
        let compiled = &self.controls.compiled.kinds[kind];
        let Function::Group(function) = compiled.info.function else { return Vec::new() };
        let record = compiled.record(place);
        let parameters = &record[group::MATERIAL_WORD + 1..];
        let pin_weight = group::PIN_WEIGHT * f32::from_bits(parameters[0]);
        let member = |index: usize| {
            let member = Member::read(&compiled.rows, record[0] as usize, index);
            let pinned = function.rotates && self.controls.inverse_masses[member.particle as usize] == 0.0;
            Member { weight: if pinned { pin_weight } else { member.weight }, ..member }
        };
        let members: Vec<_> = (0..record[1] as usize).map(member).collect();
        let state = GroupState {
            function,
            first: members[0].particle as usize,
            members,
            threads: compiled.threads,
            positions: &self.positions,
            displacements: &self.displacements,
            inverse_masses: &self.controls.inverse_masses,
        };
        let start = self.rotations[kind][place];
        let frame = Frame::new(&state.moments(), function.rotates, start, group::ROTATION_STEPS);
        let (directions, sums) = state.directions(&frame);
        let (c, s) = (function.measure)(parameters, sums.value);
        let lambda = if first_iteration { 0.0 } else { self.lambdas[kind][place] };
        let material = self.materials[record[compiled.info.material_word()] as usize].of(compiled.info);
        let weighted = sums.weighted * s * s;
        let delta = delta_lambda(c, weighted, sums.travel * s, lambda, material);
        // The directions of a rotating group change between iterations: each impulse has its own multiplier.
        let first_share =
            if function.rotates { delta_lambda(c, weighted, sums.travel * s, 0.0, material) } else { delta };
        let strength = s * first_share;
        let relax = if function.rotates { relaxation(weighted, material) } else { 0.0 };
        let omega = solve_symmetric(frame.inertia, sums.torque);
        let first_slot = record[2] as usize;
        let mut impulses = Vec::with_capacity(directions.len());
        for (index, (member, r)) in state.members.iter().zip(directions).enumerate() {
            let mut r = r - sums.direction * (member.weight / frame.total);
            if function.rotates {
                r -= omega.cross(turned(frame.rotation, member.rest - frame.rest)) * member.weight;
            }
            let given = if first_iteration { Vec3::ZERO } else { self.given[kind][first_slot + index] };
            let impulse = r * strength - given * relax;
            self.given[kind][first_slot + index] = given + impulse;
            impulses.push((member.particle as usize, impulse));
        }
        self.rotations[kind][place] = frame.rotation;
        self.lambdas[kind][place] = lambda + delta;
        impulses
    }

    pub(super) fn gather_chunks(&mut self, kind: usize) {
        let split = &self.controls.compiled.kinds[kind].split;
        let sum = |&[first, count]: &[u32; 2]| {
            let slots = &split.slots[first as usize..(first + count) as usize];
            slots.iter().fold(Vec3::ZERO, |sum, &slot| sum + self.impulses[kind][slot as usize])
        };
        self.chunk_sums = split.chunks.iter().map(sum).collect();
    }

    pub(super) fn gather_hubs(&mut self, kind: usize) {
        for &[particle, first, count, _] in &self.controls.compiled.kinds[kind].split.hubs {
            let chunks = &self.chunk_sums[first as usize..(first + count) as usize];
            let impulse = chunks.iter().fold(Vec3::ZERO, |sum, &chunk| sum + chunk);
            let w = self.controls.inverse_masses[particle as usize];
            self.displacements[particle as usize] += impulse * w;
        }
    }
}

/// A value for each particle of a constraint.
pub(super) type Points = [Vec3; MAX_ARITY];

/// A constraint with the values of its particles: the parameters of `impulses_of` in the shaders.
struct Gathered<'a> {
    parameters: &'a [u32],
    material: ScaledMaterial,
    arity: usize,
    /// Positions relative to the position of the first particle at the start of the substep \[m\].
    p: Points,
    /// Displacements \[m\].
    d: Points,
    /// Inverse masses, multiplied by the numbers of parts of mass splitting.
    w: [f32; MAX_ARITY],
}

/// ∇C Δλ of each particle. Counterpart: `shaders/schedule/projection/scalar.wgsl`.
fn scalar_impulses(info: &KindInfo, gathered: &Gathered<'_>, lambdas: &mut [f32]) -> Points {
    let Gathered { parameters, material, arity, p, d, w } = gathered;
    let mut grad = [Vec3::ZERO; MAX_ARITY];
    let c = info.evaluate(parameters, &[], p, &mut grad);
    let (mut weighted, mut travel) = (0.0, 0.0);
    for k in 0..*arity {
        let unit = info.unit_gradients && grad[k] != Vec3::ZERO;
        weighted += if unit { w[k] } else { w[k] * dot(grad[k], grad[k]) };
        // The gradients sum to zero: the common motion of all particles has no effect.
        if k > 0 {
            travel += dot(grad[k], d[k] - d[0]);
        }
    }
    let delta = delta_lambda(c, weighted, travel, lambdas[0], *material);
    let delta = if info.unilateral { unilateral(delta, lambdas[0]) } else { delta };
    lambdas[0] += delta;
    grad.map(|grad| grad * delta)
}

/// k Δλ of each particle, Δλ being a vector. Counterpart: `shaders/schedule/projection/vector.wgsl`.
fn vector_impulses(
    evaluate: fn(&[u32], &[Vec3], &mut [f32]) -> Vec3,
    gathered: &Gathered<'_>,
    lambdas: &mut [f32],
) -> Points {
    let Gathered { parameters, material, arity, p, d, w } = gathered;
    let mut factors = [0.0; MAX_ARITY];
    let s = evaluate(parameters, p, &mut factors[..*arity]);
    let (mut weighted, mut travel) = (0.0, Vec3::ZERO);
    for k in 0..*arity {
        weighted += w[k] * (factors[k] * factors[k]);
        if k > 0 {
            travel += (d[k] - d[0]) * factors[k];
        }
    }
    let mut delta = Vec3::ZERO;
    for axis in 0..3 {
        delta[axis] = delta_lambda(s[axis], weighted, travel[axis], lambdas[axis], *material);
        lambdas[axis] += delta[axis];
    }
    factors.map(|k| delta * k)
}

/// Σ ∇Cᵢ Δλᵢ of each entity, over the components of C. Counterpart: `shaders/schedule/projection/components.wgsl`.
fn component_impulses(
    (info, evaluate): (&KindInfo, Components),
    gathered: &Gathered<'_>,
    lambdas: &mut [f32],
) -> Points {
    let Gathered { parameters, material, p, d, w, .. } = gathered;
    let mut grad = [[Vec3::ZERO; 3]; MAX_ARITY];
    let s = evaluate(parameters, p, &mut grad);
    let mut weighted = Vec3::ZERO;
    for ([x, y, z], w) in grad[..info.arity].iter().zip(w) {
        weighted += Vec3::new(dot(*x, *x), dot(*y, *y), dot(*z, *z)) * *w;
    }
    let travel = travel_of(info, &grad, d);
    let mut delta = Vec3::ZERO;
    for axis in 0..3 {
        delta[axis] = delta_lambda(s[axis], weighted[axis], travel[axis], lambdas[axis], *material);
        lambdas[axis] += delta[axis];
    }
    grad.map(|[x, y, z]| (x * delta.x + y * delta.y) + z * delta.z)
}

/// ∇C·(x − x_prev) of each component.
pub(super) fn travel_of(info: &KindInfo, grad: &ComponentGradients, d: &Points) -> Vec3 {
    let mut travel = Vec3::ZERO;
    for k in 0..info.arity {
        // The gradients at the points sum to zero, so their common displacement cancels.
        let own = d[k] - if k < info.point_count() { d[0] } else { Vec3::ZERO };
        let [x, y, z] = grad[k];
        travel += Vec3::new(dot(x, own), dot(y, own), dot(z, own));
    }
    travel
}

/// A group with the state of its particles.
struct GroupState<'a> {
    function: Group,
    members: Vec<Member<'a>>,
    /// The particle whose position is the origin.
    first: usize,
    /// The number of threads that solve the group on the GPU.
    threads: usize,
    positions: &'a [Vec3],
    displacements: &'a [Vec3],
    inverse_masses: &'a [f32],
}

impl GroupState<'_> {
    fn relative(&self, particle: u32) -> Vec3 {
        (self.positions[particle as usize] - self.positions[self.first]) + self.displacements[particle as usize]
    }

    /// The first pass over the members.
    fn moments(&self) -> Moments {
        let mut moments = Moments::default();
        for thread in 0..self.threads {
            let mut partial = Moments::default();
            for member in self.members.iter().skip(thread).step_by(self.threads) {
                partial.add_member(member, self.relative(member.particle));
            }
            moments.add(&partial);
        }
        moments
    }

    /// The second pass over the members: their directions and the sums.
    fn directions(&self, frame: &Frame) -> (Vec<Vec3>, Sums) {
        let d0 = self.displacements[self.first];
        let relative = |particle: u32| self.relative(particle);
        let mut directions = vec![Vec3::ZERO; self.members.len()];
        let mut sums = Sums::default();
        for thread in 0..self.threads {
            let mut partial = Sums::default();
            for index in (thread..self.members.len()).step_by(self.threads) {
                let member = &self.members[index];
                let (i, x) = (member.particle as usize, relative(member.particle));
                let (r, value) = (self.function.direction)(member, x, frame, &relative);
                directions[index] = r;
                let w = self.inverse_masses[i] * member.share;
                let travel = dot(r, self.displacements[i] - d0);
                let torque = if self.function.rotates { (x - frame.middle).cross(r) } else { Vec3::ZERO };
                partial.add(&Sums { direction: r, value, weighted: w * dot(r, r), travel, torque });
            }
            sums.add(&partial);
        }
        (directions, sums)
    }
}
