//! Runtime changes of a solver's state: each is validated, then queued for the next submission.

use super::buffers::Status;
use super::contacts::ContactStatus;
use super::guarded;
use super::kind_buffers::make_records;
use super::maker::Maker;
use super::pipelines::KindStages;
use super::solver::Solver;
use crate::collision::events::HEADER_BYTES;
use crate::constraints::plasticity::PlasticState;
use crate::constraints::{Kind, kind_index};
use crate::error::Result;
use crate::scene::{Material, MaterialId};
use crate::settings::{Execution, Settings};
use crate::sim::controls::ChangedConstraints;
use wgpu::BufferUsages;

/// The most inverse masses that are written one by one. More take one submission.
const MOST_WRITES: usize = 1000;

impl Solver {
    /// Changes the settings of steps that are encoded from now on. Submit earlier recordings first; see
    /// [`Solver::encode`].
    ///
    /// # Errors
    /// See [`Settings::check`]; [`crate::Error::LimitExceeded`] if the buffers for λ, another execution, contacts or
    /// collider forces exceed the limits of the device (see [`crate::required_limits_with`]); [`crate::Error::OutOfMemory`].
    pub fn set_settings(&mut self, mut settings: Settings) -> Result<()> {
        let user_settings = settings;
        let (before, capacities) = (self.controls.settings, self.controls.capacities);
        if settings.execution == Execution::Auto {
            settings.execution = self.auto;
        }
        let places = if settings.sweep == before.sweep { Vec::new() } else { self.controls.compiled.places() };
        self.controls.set_settings(settings)?;
        let fresh_forces = settings.forces && !before.forces;
        if let Err(error) = self.remake_for(&before) {
            self.controls.set_settings(before)?;
            self.controls.capacities = capacities;
            return Err(error);
        }
        self.user_settings = user_settings;
        if !places.is_empty() {
            self.reorder_rotations(&places)?;
        }
        if fresh_forces {
            self.clear_forces();
        }
        self.real_time.left = self.real_time.left.min(settings.dt);
        self.renew_contact_params();
        if settings.substep() != before.substep() {
            self.mark_stale();
        }
        self.upload_settings();
        Ok(())
    }

    /// Changes an entry of the material table.
    ///
    /// # Errors
    /// The entry must exist, and its values must be in range.
    pub fn set_material(&mut self, id: MaterialId, material: Material) -> Result<()> {
        self.controls.set_material(id, material)?;
        self.upload_settings();
        Ok(())
    }

    /// Changes the parameters of a constraint, such as the pressure of a balloon. `index` is its index among those of
    /// its kind, in the order of insertion. [`Solver::reset`] does not revert the change.
    ///
    /// # Errors
    /// The constraint must exist and have the same particles as in the scene, also after [`Solver::tear`]. Its parameters must be in
    /// range. The rest length of a plastic constraint must be greater than 0. The rest shape of a group stays.
    /// [`crate::Error::LimitExceeded`] or [`crate::Error::OutOfMemory`] if the records of the kind were not on the GPU and do not fit.
    pub fn set_constraint<K: Kind>(&mut self, index: u32, constraint: K) -> Result<()> {
        self.set_constraints(index, &[constraint])
    }

    /// Changes the parameters of consecutive constraints from index `first` on with one upload, such as rest lengths that grow
    /// or shrink over time. Tethers keep the lengths of the scene. An error changes none.
    ///
    /// The first [`crate::Distance`] that gets the rest length 0 makes a seam, which resets contacts between particles and their
    /// friction anchors, collider forces and the counters of [`crate::ContactReport`].
    ///
    /// # Errors
    /// As [`Solver::set_constraint`]; the first seam may exceed the limits or the memory of the device too.
    pub fn set_constraints<K: Kind>(&mut self, first: u32, constraints: &[K]) -> Result<()> {
        // Before buffers are made.
        let (_, parameters) = self.controls.checked_constraints(first, constraints)?;
        self.upload_records(kind_index(K::INFO))?;
        self.begin_seams(kind_index(K::INFO), &parameters)?;
        let ChangedConstraints { kind, words, plastic, other, seams } =
            self.controls.set_constraints(first, constraints)?;
        if seams {
            self.contacts.write_seams(&self.queue, &self.controls);
            self.mark_stale();
        }
        if other {
            // Happens at most once per kind. Fails only on a lost device.
            let (store, compiled, keep_lambdas) = (&self.store, &self.controls.compiled, self.keep_lambdas);
            self.pipelines.kinds[kind] = store.guarded(|| Ok(KindStages::new(store, compiled, kind, keep_lambdas)))?;
            self.rebind();
        }
        let (buffers, compiled) = (&self.buffers.kinds[kind], &self.controls.compiled.kinds[kind]);
        if !words.is_empty() {
            self.write(&buffers.records, words.start, &compiled.records[words]);
        }
        for place in plastic {
            self.write(&buffers.plastic[0], place, &compiled.plastic[place..=place]);
            self.write(&buffers.plastic[1], place, &[PlasticState::default()]);
        }
        Ok(())
    }

    /// Makes contacts with room for seams if parameters close the first one.
    fn begin_seams(&mut self, kind: usize, parameters: &[Vec<u32>]) -> Result<()> {
        if !self.controls.begin_seams(kind, parameters) || self.controls.settings.self_collision.is_none() {
            return Ok(());
        }
        if let Err(error) = self.remake_contacts() {
            self.controls.seams.clear();
            return Err(error);
        }
        self.upload_params();
        Ok(())
    }

    /// Uploads the records of a kind if its shader contained them as constants.
    pub(super) fn upload_records(&mut self, kind: usize) -> Result<()> {
        let (device, queue, compiled) = (&self.device, &self.queue, &self.controls.compiled);
        let size = size_of_val(compiled.kinds[kind].records.as_slice()) as u64;
        if self.buffers.kinds[kind].records.size() < size {
            let make = || make_records(device, queue, &compiled.kinds[kind]);
            self.buffers.kinds[kind].records = guarded(device, make)?;
            self.rebind();
        }
        Ok(())
    }

    /// Returns true if a particle is currently pinned, or is a follower.
    ///
    /// # Errors
    /// The particle must exist.
    pub fn is_pinned(&self, particle: u32) -> Result<bool> {
        self.controls.scene.check_particle("is_pinned", particle)?;
        Ok(self.controls.is_pinned(particle))
    }

    /// Pins particles at their positions, and recomputes the tethers of their bodies on the host. More than 1000 particles are
    /// uploaded by a submission of its own, also by [`Solver::release`] and [`Solver::set_masses`].
    ///
    /// # Errors
    /// The particles must exist, and be neither followers nor in reserve for tears.
    pub fn pin(&mut self, particles: &[u32]) -> Result<()> {
        let changed = self.controls.set_pinned(particles, true)?;
        for run in changed.chunk_by(|a, b| a + 1 == *b) {
            self.write_velocity(run[0], &vec![[0.0; 3]; run.len()]);
        }
        self.derived_is_stale = true;
        self.upload_pins(&changed);
        self.renew_contact_params();
        self.fit_passes()
    }

    /// Releases pinned particles; each keeps the velocity of its last step. Recomputes the tethers of their bodies.
    ///
    /// # Errors
    /// As [`Solver::pin`]; the particles must have a mass in the scene.
    pub fn release(&mut self, particles: &[u32]) -> Result<()> {
        let changed = self.controls.set_pinned(particles, false)?;
        self.upload_pins(&changed);
        self.renew_contact_params();
        self.fit_passes()
    }

    /// Sets the positions \[m\] of the particles from `first` on. Velocities stay. The target of a pinned particle
    /// moves to its new position.
    ///
    /// The next [`Solver::encode`] recomputes followers and normals, also with 0 steps; readbacks do so at once.
    ///
    /// # Errors
    /// The particles must exist, and the positions must be finite. [`crate::Error::Follower`] if one of the particles
    /// is a follower.
    pub fn set_positions(&mut self, first: u32, positions: &[[f32; 3]]) -> Result<()> {
        self.controls.check_state("position", first, positions)?;
        self.write_positions(first, positions);
        for place in self.controls.move_targets(first, positions) {
            self.write(&self.buffers.targets, place, &self.controls.targets[place..=place]);
        }
        self.derived_is_stale = true;
        Ok(())
    }

    /// Sets the masses \[kg\] of the particles from `first` on; for a pinned particle the mass after release.
    /// Velocities stay. Groups ([`crate::ShapeMatching`]) keep the masses of their insertion. [`Solver::reset`] does
    /// not revert the change; a torn vertex gets back the mass that it had before its first tear.
    ///
    /// # Errors
    /// The particles must exist, must not be followers, and must have a mass in the scene. Masses must be finite,
    /// positive and at least 1e-12 kg.
    pub fn set_masses(&mut self, first: u32, masses: &[f32]) -> Result<()> {
        let changed = self.controls.set_masses(first, masses)?;
        self.upload_inverse_masses(&changed);
        Ok(())
    }

    /// Sets the forces \[N\] on the particles from `first` on. They act in every substep until the next call; initially
    /// they are 0. A program that computes forces on the GPU writes to [`Solver::forces`] instead.
    ///
    /// # Errors
    /// [`Settings::forces`] must be on; the particles must exist, the forces must be finite.
    pub fn set_forces(&mut self, first: u32, forces: &[[f32; 3]]) -> Result<()> {
        self.controls.check_forces(first, forces)?;
        let rows: Vec<[f32; 4]> = forces.iter().map(|&[x, y, z]| [x, y, z, 0.0]).collect();
        self.write(&self.buffers.forces, first as usize, &rows);
        Ok(())
    }

    /// Sets the velocities [m/s] of the particles from `first` on. A pinned particle without a target moves at its
    /// velocity. If it is truncated at a surface ([`crate::ContactReport::truncated`]), it keeps the reduced velocity;
    /// set a target to continue.
    ///
    /// # Errors
    /// The particles must exist, and the velocities must be finite. [`crate::Error::Follower`] if one of the particles
    /// is a follower.
    pub fn set_velocities(&mut self, first: u32, velocities: &[[f32; 3]]) -> Result<()> {
        self.controls.check_velocities(first, velocities)?;
        self.write_velocity(first, velocities);
        self.derived_is_stale = true;
        Ok(())
    }

    /// Restores the initial state of the scene: positions, velocities, orientations, pins, materials, colliders, attachments,
    /// skinned poses and joints, clock. Plastic strains, broken and torn constraints are whole again; targets are the
    /// pins; forces by the user and λ are 0. Colliders and attachments that were added later are removed.
    ///
    /// It does not revert [`Solver::set_settings`], [`Solver::set_constraint`], [`Solver::set_masses`],
    /// [`Solver::set_contact_material`] and [`Solver::set_contact_scales`].
    pub fn reset(&mut self) {
        let (count, is_mended) = (self.controls.colliders.len(), self.controls.tears.is_torn());
        self.controls.reset();
        // Colliders that were added later are removed, with their buffers.
        if is_mended || self.controls.colliders.len() != count || !self.contacts.fits(&self.controls) {
            // These buffers existed before: it fails only on a lost device, which the next read reports.
            let _ = self.remake_contacts();
        }
        // The same.
        let _ = self.fit_passes();
        self.contact_params = self.controls.contact_params();
        self.forget_counters();
        self.real_time.left = 0.0;
        self.steps = 0;
        self.derived_is_stale = !self.vertex_outputs.is_empty();
        // Trees read λ of the last substep.
        for buffer in self.buffers.kinds.iter().flat_map(|own| own.force_sums.iter().chain([&own.lambdas])) {
            self.write(buffer, 0, &vec![0u32; buffer.size() as usize / 4]);
        }
        if is_mended {
            self.upload_torn();
        }
        self.upload_state();
    }

    pub(super) fn upload_state(&self) {
        let scene = &self.controls.scene;
        self.write_positions(0, &scene.positions);
        self.write_velocity(0, &scene.velocities);
        self.upload_orientations();
        self.write(&self.buffers.displacements, 0, &vec![[0.0f32; 4]; scene.entity_count()]);
        self.write(&self.buffers.pins, 0, &self.controls.pins);
        self.upload_settings();
        self.write(&self.buffers.attachments[2], 0, &self.controls.attachment_states());
        self.write_attachment_order();
        self.reset_skinned();
        self.upload_tethers();
        self.clear_forces();
        for (kind, buffers) in self.controls.compiled.kinds.iter().zip(&self.buffers.kinds) {
            let rotations = kind.initial_rotations(&scene.positions);
            let rows: Vec<[f32; 4]> = rotations.into_iter().map(|(axis, w)| axis.extend(w).into()).collect();
            self.write(&buffers.rotations, 0, &rows);
            self.write(&buffers.plastic[1], 0, &vec![PlasticState::default(); kind.plastic.len()]);
        }
        self.write(&self.buffers.status, 0, &[Status::NEW]);
        self.write(&self.contacts.status, 0, &[ContactStatus::new()]);
        if self.controls.settings.contact_events > 0 {
            self.write(&self.buffers.contact_events, 0, &[0u8; HEADER_BYTES]);
        }
        if let Some(contact_passes) = &self.contacts.contact_passes {
            // Corrections may be left if only some passes of a step were run.
            self.write(&contact_passes.corrections, 0, &vec![[0i32; 12]; scene.particle_count()]);
        }
        if let Some(collider_passes) = &self.contacts.collider_passes {
            self.write(&collider_passes.colliders, 0, &self.controls.colliders.rows);
            self.write(&collider_passes.forces, 0, &vec![[0.0f32; 8]; self.controls.colliders.len()]);
        }
        let rings = &self.controls.compiled.rings;
        if !rings.is_empty() {
            // Normals to draw before the first step.
            let position = |particle: usize| glam::Vec3::from(scene.positions[particle]);
            let normals = (0..scene.particle_count()).map(|i| rings.normal(i, position).extend(0.0).to_array());
            self.write(&self.buffers.normals, 0, &normals.collect::<Vec<_>>());
        }
    }

    /// Invalidates the pair list.
    pub(super) fn mark_stale(&self) {
        self.queue.write_buffer(&self.contacts.status, ContactStatus::STALE, bytemuck::bytes_of(&ContactStatus::RESET));
    }

    pub(super) fn upload_settings(&self) {
        self.upload_params();
        self.write(&self.buffers.materials, 0, &self.controls.scaled_materials());
        self.write_attachments();
    }

    pub(super) fn upload_tethers(&self) {
        let rows = &self.controls.tether_rows;
        self.write(&self.buffers.tethers, 0, rows);
        if self.controls.settings.tether_forces {
            self.write(&self.buffers.tether_displacements, 0, &vec![0.0f32; rows.len()]);
        }
    }

    pub(super) fn upload_params(&self) {
        self.write(&self.buffers.params, 0, &[self.controls.params()]);
        self.write(&self.contacts.params, 0, &[self.contact_params]);
    }

    /// Uploads the targets and their number.
    pub(super) fn upload_targets(&self) {
        self.write(&self.buffers.targets, 0, &self.controls.targets);
        self.upload_params();
    }

    /// Uploads the host state that a shift of the origin changed.
    pub(super) fn upload_shifted(&self) {
        if let Some(collider_passes) = &self.contacts.collider_passes {
            self.write(&collider_passes.colliders, 0, &self.controls.colliders.rows);
        }
        self.upload_targets();
        self.write_shifted_attachments();
        self.upload_skinning();
        self.mark_stale();
    }

    fn upload_pins(&self, changed: &[u32]) {
        if changed.is_empty() {
            return;
        }
        self.upload_inverse_masses(changed);
        self.write(&self.buffers.pins, 0, &self.controls.pins);
        self.upload_targets();
        self.upload_tethers();
    }

    /// Uploads the inverse masses of particles. Each write of a queue creates a staging buffer, so many are copied from one.
    pub(super) fn upload_inverse_masses(&self, particles: &[u32]) {
        let inverses: Vec<f32> = particles.iter().map(|&i| self.controls.inverse_masses[i as usize]).collect();
        if particles.len() <= MOST_WRITES {
            let rows = particles.iter().zip(&inverses);
            return rows.for_each(|(&i, w)| self.write(&self.buffers.positions, i as usize * 4 + 3, &[*w]));
        }
        let maker = Maker::new(&self.device);
        let Ok(staged) = maker.filled(&self.queue, "inverse_masses", &inverses, BufferUsages::STORAGE) else {
            debug_assert!(false, "it is smaller than the buffer of positions");
            return;
        };
        let mut encoder = self.device.create_command_encoder(&Default::default());
        for (place, &particle) in (0u64..).zip(particles) {
            let target = 16 * u64::from(particle) + 12;
            encoder.copy_buffer_to_buffer(&staged, 4 * place, &self.buffers.positions, target, 4);
        }
        self.queue.submit([encoder.finish()]);
    }

    fn write_positions(&self, first: u32, positions: &[[f32; 3]]) {
        let start = first as usize;
        let masses = &self.controls.inverse_masses[start..start + positions.len()];
        let rows: Vec<[f32; 4]> = positions.iter().zip(masses).map(|(&[x, y, z], &w)| [x, y, z, w]).collect();
        self.write(&self.buffers.positions, start, &rows);
        self.write(&self.buffers.residuals, start, &vec![[0u32; 4]; positions.len()]);
    }

    pub(super) fn write_velocity(&self, first: u32, velocities: &[[f32; 3]]) {
        let rows: Vec<[f32; 4]> = velocities.iter().map(|&[x, y, z]| [x, y, z, 1.0]).collect();
        self.write(&self.buffers.velocities, first as usize, &rows);
    }

    /// Queues a write of rows from row `place` on.
    pub(super) fn write<T: bytemuck::Pod>(&self, buffer: &wgpu::Buffer, place: usize, rows: &[T]) {
        if !rows.is_empty() {
            self.queue.write_buffer(buffer, (place * size_of::<T>()) as u64, bytemuck::cast_slice(rows));
        }
    }
}
