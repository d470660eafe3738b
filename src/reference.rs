//! The CPU player: the method itself, readable beside the papers, and the oracle of the tests.
//!
//! It plays the same [`Plan`] as the GPU with the same arithmetic in the same order, in `f32`, one thread, no
//! SIMD; each pass is a method named like its shader. It is not made for speed.
//!
//! # State
//! A particle is at x + d: x is its position at the start of the substep, d its displacement since then. Constraints
//! move d. At the end of the substep x takes d up, and d/h *is* the velocity. So velocity is never recovered as a
//! difference of rounded positions, which at small substeps drowns in rounding: a particle 10 m up would not even begin to
//! fall at 100 substeps a frame. What the roundings of x + d and of d + h² g lose is kept in two residuals (Kahan's sum).

use crate::controls::{Controls, FieldRow, Params};
use crate::cooked::{CookedKind, Rings};
use crate::error::Result;
use crate::kinds::group::{self, Frame, Member, Moments, Rotation, Sums, turned};
use crate::kinds::{Function, Kind, MAX_ARITY, ShapeMatching, kind_index};
use crate::plan::{Pass, Plan};
use crate::scene::{Material, MaterialId, Scene};
use crate::settings::Settings;
use crate::xpbd::{ScaledMaterial, delta_lambda, dot, length, solve_symmetric, two_sum, unilateral};
use glam::Vec3;

/// Plays a scene on the CPU. See the [module documentation](self).
#[derive(Debug, Clone)]
pub struct Reference {
    controls: Controls,
    params: Params,
    materials: Vec<ScaledMaterial>,
    positions: Vec<Vec3>,
    displacements: Vec<Vec3>,
    position_residuals: Vec<Vec3>,
    displacement_residuals: Vec<Vec3>,
    velocities: Vec<Vec3>,
    /// Whether a velocity was set from outside and has yet to become a displacement.
    fresh: Vec<bool>,
    accelerations: Vec<Vec3>,
    /// By the user \[N\].
    forces: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// λ of every record, per kind.
    lambdas: Vec<Vec<f32>>,
    /// How every group is turned, per kind.
    rotations: Vec<Vec<Rotation>>,
    /// w ∇C Δλ without the w, of every particle of every record that is split, per kind; and their sums by chunk.
    impulses: Vec<Vec<Vec3>>,
    chunk_sums: Vec<Vec3>,
    /// The substep of the last step that was played \[s\].
    last_h: f32,
    steps: u32,
    non_finite_count: u32,
}

impl Reference {
    /// Cooks a scene.
    ///
    /// # Errors
    /// As [`crate::Solver::new`], but for the device.
    pub fn new(scene: &Scene, settings: Settings) -> Result<Self> {
        let controls = Controls::new(scene, settings)?;
        let count = scene.particle_count();
        let zeros = vec![Vec3::ZERO; count];
        let mut reference = Self {
            params: controls.params(),
            materials: controls.scaled_materials(),
            positions: zeros.clone(),
            displacements: zeros.clone(),
            position_residuals: zeros.clone(),
            displacement_residuals: zeros.clone(),
            velocities: zeros.clone(),
            fresh: vec![true; count],
            accelerations: zeros.clone(),
            forces: zeros.clone(),
            normals: zeros,
            lambdas: controls.cooked.kinds.iter().map(|kind| vec![0.0; kind.len()]).collect(),
            rotations: Vec::new(),
            impulses: Vec::new(),
            chunk_sums: Vec::new(),
            last_h: 0.0,
            steps: 0,
            non_finite_count: 0,
            controls,
        };
        reference.make_impulses();
        reference.reset();
        Ok(reference)
    }

    /// Plays so many steps of `dt`.
    pub fn step(&mut self, steps: u32) {
        for _ in 0..steps {
            let plan = std::mem::take(&mut self.controls.plan);
            for pass in plan.step(self.controls.settings.substeps, self.steps) {
                self.play_planned(pass);
            }
            self.controls.plan = plan;
        }
    }

    /// Plays one pass of the plan, and none that is not in it. [`Reference::step`] plays a whole plan; this is for those who
    /// compare stage by stage.
    pub fn play(&mut self, pass: Pass) {
        if self.controls.plan.contains(&pass) {
            self.play_planned(pass);
        }
    }

    fn play_planned(&mut self, pass: Pass) {
        let particles = 0..self.positions.len();
        match pass {
            Pass::Targets => self.targets(),
            Pass::Start => particles.for_each(|i| self.start(i)),
            Pass::Accelerations => particles.for_each(|i| self.accelerate(i)),
            Pass::Predict => particles.for_each(|i| self.predict(i)),
            Pass::Project { kind, span, first_iteration, .. } => {
                span.range().for_each(|place| self.project(kind, place, first_iteration));
            }
            Pass::Split { kind, span, first_iteration } => {
                span.range().for_each(|place| self.split(kind, place, first_iteration));
            }
            Pass::GatherChunks { kind } => self.gather_chunks(kind),
            Pass::GatherHubs { kind } => self.gather_hubs(kind),
            Pass::Tether => (0..self.controls.cooked.tethered.len()).for_each(|row| self.tether(row)),
            Pass::Velocity => particles.for_each(|i| self.velocity(i)),
            Pass::Advance => particles.for_each(|i| {
                self.velocity(i);
                self.predict(i);
            }),
            Pass::Finish => {
                particles.for_each(|i| self.velocities[i] = self.displacements[i] / self.params.h);
                self.last_h = self.params.h;
                self.steps += 1;
            }
            Pass::BodyDamping => (0..self.controls.cooked.bodies.len()).for_each(|body| self.damp_body(body)),
            Pass::Follow => (0..self.controls.cooked.followers.len()).for_each(|row| self.follow(row)),
            Pass::Normals => particles.for_each(|i| self.normal(i)),
        }
    }

    fn targets(&mut self) {
        for target in &self.controls.targets {
            let i = target.particle as usize;
            self.velocities[i] = (Vec3::from(target.position) - self.positions[i]) / self.params.dt;
            self.fresh[i] = true;
        }
    }

    fn start(&mut self, i: usize) {
        if std::mem::take(&mut self.fresh[i]) || self.last_h != self.params.h {
            self.displacements[i] = self.velocities[i] * self.params.h;
            self.displacement_residuals[i] = Vec3::ZERO;
        }
    }

    fn predict(&mut self, i: usize) {
        if self.controls.inverse_masses[i] == 0.0 {
            return;
        }
        let mut increment = Vec3::from(self.params.gravity_step);
        if self.params.accelerated == 1 {
            increment += self.accelerations[i] * (self.params.h * self.params.h);
        }
        let increment = increment + self.displacement_residuals[i];
        (self.displacements[i], self.displacement_residuals[i]) = two_sum(self.displacements[i], increment);
    }

    /// The particles of a record in the frame of the first one's position, so that differences keep their precision.
    fn gather(&self, record: &[u32], arity: usize) -> ([usize; MAX_ARITY], [Vec3; MAX_ARITY]) {
        let mut particles = [0; MAX_ARITY];
        let mut p = [Vec3::ZERO; MAX_ARITY];
        for k in 0..arity {
            particles[k] = record[k] as usize;
            p[k] = (self.positions[particles[k]] - self.positions[particles[0]]) + self.displacements[particles[k]];
        }
        (particles, p)
    }

    /// Δλ of a record, with its gradients; `shares` divide the masses of its particles.
    fn solve(
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

    fn project(&mut self, kind: usize, place: usize, first_iteration: bool) {
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

    fn split(&mut self, kind: usize, place: usize, first_iteration: bool) {
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
    fn solve_group(&mut self, kind: usize, place: usize, first_iteration: bool) -> Vec<(usize, Vec3, Vec3)> {
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

    fn gather_chunks(&mut self, kind: usize) {
        let split = &self.controls.cooked.kinds[kind].split;
        let sum = |&[first, count]: &[u32; 2]| {
            let slots = &split.slots[first as usize..(first + count) as usize];
            slots.iter().fold(Vec3::ZERO, |sum, &slot| sum + self.impulses[kind][slot as usize])
        };
        self.chunk_sums = split.chunks.iter().map(sum).collect();
    }

    fn gather_hubs(&mut self, kind: usize) {
        for &[particle, first, count, _] in &self.controls.cooked.kinds[kind].split.hubs {
            let chunks = &self.chunk_sums[first as usize..(first + count) as usize];
            let impulse = chunks.iter().fold(Vec3::ZERO, |sum, &chunk| sum + chunk);
            let w = self.controls.inverse_masses[particle as usize];
            self.displacements[particle as usize] += impulse * w;
        }
    }

    fn tether(&mut self, row: usize) {
        let [particle, first, count, _] = self.controls.cooked.tethered[row];
        let i = particle as usize;
        if self.controls.inverse_masses[i] == 0.0 {
            return;
        }
        let mut d = self.displacements[i];
        for tether in &self.controls.tether_rows[first as usize..(first + count) as usize] {
            let anchor = tether.anchor as usize;
            let difference = (self.positions[i] - self.positions[anchor]) + (d - self.displacements[anchor]);
            let l = length(difference);
            if l > tether.length {
                d -= difference * ((l - tether.length) / l);
            }
        }
        self.displacements[i] = d;
    }

    fn velocity(&mut self, i: usize) {
        let (x, residual) = two_sum(self.positions[i], self.displacements[i] + self.position_residuals[i]);
        if !x.is_finite() {
            // Quarantine: the particle stays at its last good place and the fault is counted.
            self.displacements[i] = Vec3::ZERO;
            self.displacement_residuals[i] = Vec3::ZERO;
            self.position_residuals[i] = Vec3::ZERO;
            self.non_finite_count += 1;
            return;
        }
        self.positions[i] = x;
        self.position_residuals[i] = residual;
        if self.controls.inverse_masses[i] != 0.0 {
            self.displacements[i] *= self.params.velocity_factor;
            self.displacement_residuals[i] *= self.params.velocity_factor;
        }
    }

    /// The corners of the triangles around a particle.
    fn ring(&self, i: usize) -> std::ops::Range<usize> {
        self.controls.cooked.rings.around(i)
    }

    fn accelerate(&mut self, i: usize) {
        let wind = if self.params.wind == 1 { self.aerodynamics(i) } else { Vec3::ZERO };
        let mut a = wind;
        for field in &self.params.fields[..self.params.field_count as usize] {
            a += field_acceleration(field, self.positions[i]);
        }
        if self.params.forces == 1 {
            a += self.forces[i] * self.controls.inverse_masses[i];
        }
        self.accelerations[i] = a;
    }

    /// The acceleration by drag and lift of [`crate::Wind`] on the triangles around a particle.
    fn aerodynamics(&self, i: usize) -> Vec3 {
        let params = &self.params;
        let w = self.controls.inverse_masses[i];
        let (mut force, mut rate) = (Vec3::ZERO, 0.0);
        for corner in self.ring(i) {
            let others = self.controls.cooked.rings.corners[corner].map(|other| other as usize);
            let [x0, x1, x2] = [i, others[0], others[1]].map(|k| self.positions[k]);
            let [d0, d1, d2] = [i, others[0], others[1]].map(|k| self.displacements[k]);
            let center = (x0 + x1 + x2) / 3.0;
            let air = self.air_velocity(center);
            let v = (d0 + d1 + d2) / (3.0 * params.h) - air;
            let cross = (x1 - x0).cross(x2 - x0);
            let (speed, double_area) = (length(v), length(cross));
            if speed == 0.0 || double_area == 0.0 {
                continue;
            }
            let along = v / speed;
            let mut n = cross / double_area;
            if dot(n, along) < 0.0 {
                n = -n;
            }
            let facing = dot(n, along);
            let pressure = 0.5 * double_area * speed * speed * facing;
            let push = along * params.drag + (n - along * facing) * params.lift;
            force -= push * (pressure / 3.0);
            rate += double_area * speed * (params.drag + params.lift) / 6.0;
        }
        // The implicit step of the drag, which cannot turn the motion round however light the cloth.
        force * (w / (1.0 + rate * w * params.h))
    }

    fn air_velocity(&self, x: Vec3) -> Vec3 {
        let params = &self.params;
        let time = self.steps as f32 * params.dt;
        let phase = std::f32::consts::TAU * (params.gust_frequency * time - dot(params.gust_wave.into(), x));
        let swing = 0.5 * (phase.sin() + (2.3 * phase + 1.0).sin());
        let mean = Vec3::from(params.wind_velocity);
        let wind = mean * (1.0 + params.gust * swing);
        if params.turbulence > 0.0 {
            wind + noise((x - mean * time) * params.turbulence_scale) * params.turbulence
        } else {
            wind
        }
    }

    /// Müller et al. 2007, §3.5: v += k (v_cm + ω × r − v), with d in place of v. The sums are made by lanes, as on the GPU.
    fn damp_body(&mut self, body: usize) {
        let [first, count] = self.controls.cooked.bodies[body].map(|number| number as usize);
        let origin = self.positions[first];
        let lanes = |lane: usize| (first + lane..first + count).step_by(group::LANES);
        let mass = |i: usize| match self.controls.inverse_masses[i] {
            0.0 => 0.0,
            w => 1.0 / w,
        };
        let (mut total, mut center, mut d_cm) = (0.0, Vec3::ZERO, Vec3::ZERO);
        for lane in 0..group::LANES {
            let (mut m_sum, mut x_sum, mut d_sum) = (0.0, Vec3::ZERO, Vec3::ZERO);
            for i in lanes(lane) {
                let m = mass(i);
                m_sum += m;
                x_sum += (self.positions[i] - origin) * m;
                d_sum += self.displacements[i] * m;
            }
            (total, center, d_cm) = (total + m_sum, center + x_sum, d_cm + d_sum);
        }
        if total == 0.0 {
            return;
        }
        (center, d_cm) = (center / total, d_cm / total);
        let (mut l, mut diagonal, mut beside) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
        for lane in 0..group::LANES {
            let (mut l_sum, mut diagonal_sum, mut beside_sum) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
            for i in lanes(lane) {
                let (r, m) = ((self.positions[i] - origin) - center, mass(i));
                l_sum += r.cross(self.displacements[i] - d_cm) * m;
                let [r1, r2] = [Vec3::new(r.y, r.z, r.x), Vec3::new(r.z, r.x, r.y)];
                diagonal_sum += (r1 * r1 + r2 * r2) * m;
                beside_sum -= (r1 * r2) * m;
            }
            (l, diagonal, beside) = (l + l_sum, diagonal + diagonal_sum, beside + beside_sum);
        }
        let omega = solve_symmetric((diagonal, beside), l);
        for i in first..first + count {
            if self.controls.inverse_masses[i] != 0.0 {
                let rigid = d_cm + omega.cross((self.positions[i] - origin) - center);
                let d = self.displacements[i];
                self.displacements[i] = d + (rigid - d) * self.params.body_damping;
            }
        }
    }

    fn follow(&mut self, row: usize) {
        let follower = self.controls.cooked.followers[row];
        let i = follower.particle as usize;
        self.positions[i] = follower.place(|source| self.positions[source as usize]);
        self.velocities[i] = follower.place(|source| self.velocities[source as usize]);
    }

    fn normal(&mut self, i: usize) {
        self.normals[i] = normal(&self.controls.cooked.rings, i, |particle| self.positions[particle]);
    }

    /// Back to the scene's start; the settings stay.
    pub fn reset(&mut self) {
        self.controls.reset();
        self.upload();
        for i in 0..self.positions.len() {
            self.positions[i] = self.controls.scene.positions[i].into();
            self.velocities[i] = self.controls.scene.velocities[i].into();
            self.displacements[i] = Vec3::ZERO;
            self.position_residuals[i] = Vec3::ZERO;
            self.displacement_residuals[i] = Vec3::ZERO;
            self.fresh[i] = true;
        }
        let positions = &self.controls.scene.positions;
        self.rotations = self.controls.cooked.kinds.iter().map(|kind| kind.initial_rotations(positions)).collect();
        self.steps = 0;
        self.non_finite_count = 0;
        if !self.controls.cooked.rings.is_empty() {
            self.play(Pass::Normals);
        }
    }

    fn upload(&mut self) {
        self.params = self.controls.params();
        self.materials = self.controls.scaled_materials();
    }

    fn make_impulses(&mut self) {
        let room = |kind: &CookedKind| vec![Vec3::ZERO; kind.impulse_count()];
        self.impulses = self.controls.cooked.kinds.iter().map(room).collect();
    }

    /// The schedule that it plays.
    pub fn plan(&self) -> &Plan {
        &self.controls.plan
    }

    /// How it simulates.
    pub fn settings(&self) -> &Settings {
        &self.controls.settings
    }

    /// See [`crate::Solver::set_settings`].
    ///
    /// # Errors
    /// See there.
    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        self.controls.set_settings(settings)?;
        self.make_impulses();
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::set_material`].
    ///
    /// # Errors
    /// See there.
    pub fn set_material(&mut self, id: MaterialId, material: Material) -> Result<()> {
        self.controls.set_material(id, material)?;
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::set_constraint`].
    ///
    /// # Errors
    /// See there.
    pub fn set_constraint<K: Kind>(&mut self, index: u32, constraint: K) -> Result<()> {
        self.controls.set_constraint(index, constraint).map(drop)
    }

    /// See [`crate::Solver::pin`].
    ///
    /// # Errors
    /// See there.
    pub fn pin(&mut self, particles: &[u32]) -> Result<()> {
        for particle in self.controls.set_pinned(particles, true)? {
            self.velocities[particle as usize] = Vec3::ZERO;
            self.fresh[particle as usize] = true;
        }
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::release`].
    ///
    /// # Errors
    /// See there.
    pub fn release(&mut self, particles: &[u32]) -> Result<()> {
        self.controls.set_pinned(particles, false)?;
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::set_target`].
    ///
    /// # Errors
    /// See there.
    pub fn set_target(&mut self, particle: u32, position: [f32; 3]) -> Result<()> {
        self.controls.set_target(particle, position)?;
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::set_positions`].
    ///
    /// # Errors
    /// See there.
    pub fn set_positions(&mut self, first: u32, positions: &[[f32; 3]]) -> Result<()> {
        self.controls.check_values("position", first, positions)?;
        for (i, &position) in (first as usize..).zip(positions) {
            self.positions[i] = position.into();
            self.position_residuals[i] = Vec3::ZERO;
        }
        Ok(())
    }

    /// See [`crate::Solver::set_velocities`].
    ///
    /// # Errors
    /// See there.
    pub fn set_velocities(&mut self, first: u32, velocities: &[[f32; 3]]) -> Result<()> {
        self.controls.check_values("velocity", first, velocities)?;
        for (i, &velocity) in (first as usize..).zip(velocities) {
            self.velocities[i] = velocity.into();
            self.fresh[i] = true;
        }
        Ok(())
    }

    /// See [`crate::Solver::set_forces`].
    ///
    /// # Errors
    /// See there.
    pub fn set_forces(&mut self, first: u32, forces: &[[f32; 3]]) -> Result<()> {
        self.controls.check_forces(first, forces)?;
        for (i, &force) in (first as usize..).zip(forces) {
            self.forces[i] = force.into();
        }
        Ok(())
    }

    /// Positions x \[m\].
    pub fn positions(&self) -> Vec<[f32; 3]> {
        self.positions.iter().map(|&x| x.into()).collect()
    }

    /// Displacements d over the substep \[m\], for comparing stage by stage.
    pub fn displacements(&self) -> Vec<[f32; 3]> {
        self.displacements.iter().map(|&d| d.into()).collect()
    }

    /// Velocities [m/s] after the last step.
    pub fn velocities(&self) -> Vec<[f32; 3]> {
        self.velocities.iter().map(|&v| v.into()).collect()
    }

    /// Unit normals of the surfaces.
    pub fn normals(&self) -> Vec<[f32; 3]> {
        self.normals.iter().map(|&n| n.into()).collect()
    }

    /// See [`crate::Solver::read_lambdas`]; the kind's place in [`crate::kinds::KINDS`].
    pub fn lambdas(&self, kind: usize) -> Vec<f32> {
        self.controls.cooked.kinds[kind].coloring.unsort(&self.lambdas[kind])
    }

    /// See [`crate::Solver::read_rotations`].
    pub fn rotations(&self) -> Vec<[f32; 4]> {
        let kind = kind_index(ShapeMatching::INFO);
        let rows: Vec<[f32; 4]> = self.rotations[kind].iter().map(|&(axis, w)| axis.extend(w).into()).collect();
        self.controls.cooked.kinds[kind].coloring.unsort(&rows)
    }

    /// How often a position would have become NaN or infinite, and was held instead.
    pub fn non_finite_count(&self) -> u32 {
        self.non_finite_count
    }
}

/// The acceleration of a field at a place.
fn field_acceleration(field: &FieldRow, x: Vec3) -> Vec3 {
    let axis = Vec3::from(field.axis);
    let apart = Vec3::from(field.position) - x;
    let vortex = dot(axis, axis) > 0.0;
    let out = if vortex { apart - axis * dot(axis, apart) } else { apart };
    let distance = length(out);
    if distance == 0.0 {
        return Vec3::ZERO;
    }
    let along = if vortex { out.cross(axis) } else { out };
    let part = distance * field.scale;
    along * (field.strength / (distance * (1.0 + part * part)))
}

/// A smooth noise of a place, −1 to 1 in each direction: values at the corners of unit cells, blended.
fn noise(p: Vec3) -> Vec3 {
    let p = p.clamp(Vec3::splat(-1e6), Vec3::splat(1e6));
    let cell = p.floor();
    let f = p - cell;
    let s = f * f * (Vec3::splat(3.0) - f * 2.0);
    let corner = |x: f32, y: f32, z: f32| random(cell + Vec3::new(x, y, z));
    let along = |y: f32, z: f32| corner(0.0, y, z) + (corner(1.0, y, z) - corner(0.0, y, z)) * s.x;
    let across = |z: f32| along(0.0, z) + (along(1.0, z) - along(0.0, z)) * s.y;
    across(0.0) + (across(1.0) - across(0.0)) * s.z
}

/// Three numbers from −1 to 1 that look random, for each cell (Jarzynski, Olano 2020, `pcg3d`).
fn random(cell: Vec3) -> Vec3 {
    let step = |v: u32| v.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    let [mut x, mut y, mut z] = cell.to_array().map(|c| step(c as i32 as u32));
    x = x.wrapping_add(y.wrapping_mul(z));
    y = y.wrapping_add(z.wrapping_mul(x));
    z = z.wrapping_add(x.wrapping_mul(y));
    [x, y, z] = [x, y, z].map(|v| v ^ (v >> 16));
    x = x.wrapping_add(y.wrapping_mul(z));
    y = y.wrapping_add(z.wrapping_mul(x));
    z = z.wrapping_add(x.wrapping_mul(y));
    Vec3::from([x, y, z].map(|v| (v >> 8) as f32)) * (1.0 / 8_388_608.0) - Vec3::ONE
}

/// The sum of the triangles around a particle, each weighted by its area, at length 1.
pub(crate) fn normal(rings: &Rings, i: usize, position: impl Fn(usize) -> Vec3) -> Vec3 {
    let x = position(i);
    let sum = rings.around(i).fold(Vec3::ZERO, |sum, corner| {
        let [a, b] = rings.corners[corner].map(|other| position(other as usize));
        sum + (a - x).cross(b - x)
    });
    let l = length(sum);
    if l > 0.0 { sum / l } else { Vec3::Y }
}
