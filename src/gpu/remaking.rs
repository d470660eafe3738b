//! Buffers and pipelines that are created again after a change.

use super::bindings::Bindings;
use super::buffers::Buffers;
use super::contacts;
use super::guarded;
use super::kind_buffers::make_kinds;
use super::maker::Maker;
use super::pipelines::Pipelines;
use super::solver::Solver;
use crate::error::Result;
use crate::settings::Settings;
use crate::sim::replacing::{Move, runs};
use wgpu::BufferUsages;

impl Solver {
    /// Creates the buffers and pipelines that the settings need and the previous ones did not. On an error nothing changes.
    pub(super) fn remake_for(&mut self, before: &Settings) -> Result<()> {
        let events = [self.buffers.contact_events.clone(), self.buffers.event_table.clone()];
        let tether_displacements = self.buffers.tether_displacements.clone();
        let outcome = self.remake_changed(before);
        if outcome.is_err() {
            [self.buffers.contact_events, self.buffers.event_table] = events;
            self.buffers.tether_displacements = tether_displacements;
            self.rebind();
        }
        outcome
    }

    fn remake_changed(&mut self, before: &Settings) -> Result<()> {
        let settings = self.controls.settings;
        self.fit_passes()?;
        self.remake_accelerations()?;
        if settings.tether_forces != before.tether_forces {
            self.buffers.tether_displacements =
                guarded(&self.device, || Buffers::make_tether_displacements(&self.device, &self.controls))?;
            self.rebind();
        }
        // Buffers and pipelines of contacts depend on no other settings.
        let has_other_events = settings.contact_events != before.contact_events;
        if has_other_events {
            let made = guarded(&self.device, || Buffers::make_events(&self.device, &self.controls))?;
            [self.buffers.contact_events, self.buffers.event_table] = made;
        }
        let make_contacts = || contacts::remake(&self.store, &self.queue, &self.controls, &self.buffers);
        let is_other = has_other_events || settings.self_collision != before.self_collision;
        let contacts = is_other.then(make_contacts).transpose()?;
        let changed = settings.collider_forces != before.collider_forces
            || settings.triangle_contacts != before.triangle_contacts;
        let refit = contacts.is_none() && changed;
        let collider_passes = refit.then(|| self.other_collider_passes()).transpose()?;
        let keep_lambdas = self.controls.keeps_lambdas();
        if settings.needs_other_schedule(before) || keep_lambdas != self.keep_lambdas {
            self.remake_kinds(keep_lambdas)?;
        }
        if let Some(contacts) = contacts {
            self.contacts = contacts;
        }
        if let Some(collider_passes) = collider_passes {
            self.contacts.set_collider_passes(&self.device, collider_passes);
        }
        Ok(())
    }

    /// Creates buffers and pipelines of contacts again. The caller uploads their parameters.
    pub(super) fn remake_contacts(&mut self) -> Result<()> {
        self.contacts = contacts::remake(&self.store, &self.queue, &self.controls, &self.buffers)?;
        Ok(())
    }

    /// Enlarges the buffers of accelerations and forces when they are first needed.
    pub(super) fn remake_accelerations(&mut self) -> Result<()> {
        let controls = &self.controls;
        let few = |buffer: &wgpu::Buffer, needed, count: usize| needed && buffer.size() < count as u64 * 16;
        let scene = &controls.scene;
        let (accelerated, forces) = (controls.params().accelerated == 1, controls.settings.forces);
        let (few_accelerations, few_forces) = (
            few(&self.buffers.accelerations, accelerated, scene.particle_count()),
            few(&self.buffers.forces, forces, scene.entity_count()),
        );
        // Both or none, since both are bound at once.
        let make_accelerations = || guarded(&self.device, || Buffers::make_accelerations(&self.device, controls));
        let make_forces = || guarded(&self.device, || Buffers::make_forces(&self.device, controls));
        let accelerations = few_accelerations.then(make_accelerations).transpose()?;
        let forces = few_forces.then(make_forces).transpose()?;
        if let Some(accelerations) = accelerations {
            self.buffers.accelerations = accelerations;
        }
        if let Some(forces) = forces {
            self.buffers.forces = forces;
        }
        if few_accelerations || few_forces {
            self.rebind();
        }
        Ok(())
    }

    /// Creates pipelines and buffers of the kinds again; rotations of groups and plastic strains are kept.
    fn remake_kinds(&mut self, keep_lambdas: bool) -> Result<()> {
        let (store, queue, compiled) = (&self.store, &self.queue, &self.controls.compiled);
        let ((kinds, chains, spans), stages, solve_chains, gather, force_sums) = store.guarded(|| {
            let buffers = make_kinds(store.device(), queue, &self.controls, keep_lambdas)?;
            let stages = Pipelines::make_kinds(store, compiled, keep_lambdas);
            let solve_chains = super::chains::stage(store, compiled, keep_lambdas);
            let gather = Pipelines::make_gather(store, compiled);
            Ok((buffers, stages, solve_chains, gather, Pipelines::make_force_sums(store, &self.controls.settings)))
        })?;
        let old = std::mem::replace(&mut self.buffers.kinds, kinds);
        for (kind, old) in self.buffers.kinds.iter_mut().zip(old) {
            kind.rotations = old.rotations;
            // In the order of the constraints, which no schedule changes.
            let [_, states] = old.plastic;
            kind.plastic[1] = states;
        }
        self.buffers.spans = spans;
        self.buffers.chains = chains;
        self.pipelines.chains = solve_chains;
        self.pipelines.kinds = stages;
        self.pipelines.gather = gather;
        self.pipelines.force_sums = force_sums;
        self.keep_lambdas = keep_lambdas;
        self.rebind();
        Ok(())
    }

    /// Puts the rotations of groups into the order of their records. `before` has the earlier place of each group, by kind.
    pub(super) fn reorder_rotations(&mut self, before: &[Vec<u32>]) -> Result<()> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        for (index, (kind, before)) in self.controls.compiled.kinds.iter().zip(before).enumerate() {
            let places = (0u32..).zip(kind.coloring.order.iter().map(|&group| before[group as usize]));
            let moves: Vec<Move> = places.map(|(now, before)| [before, now]).collect();
            if !kind.info.is_group() || moves.iter().all(|[before, now]| before == now) {
                continue;
            }
            let old = &self.buffers.kinds[index].rotations;
            let new = Maker::new(&self.device).empty(
                &format!("rotations.{}", kind.info.name),
                old.size(),
                BufferUsages::STORAGE,
            )?;
            for (range, first) in runs(moves) {
                let [source, target] = [range.start, first].map(|row| 16 * u64::from(row));
                encoder.copy_buffer_to_buffer(old, source, &new, target, 16 * range.len() as u64);
            }
            self.buffers.kinds[index].rotations = new;
        }
        self.queue.submit([encoder.finish()]);
        self.rebind();
        Ok(())
    }

    /// Compiles the passes over particles that the plan needs, and that it would need with other pins, unless they exist.
    pub(super) fn fit_passes(&mut self) -> Result<()> {
        let missing = self.pipelines.missing(&self.controls);
        if !missing.is_empty() {
            let compiled = self.store.guarded(|| Ok(missing.compile(&self.store, &self.controls)))?;
            self.pipelines.add(compiled);
            self.rebind();
        }
        Ok(())
    }

    pub(super) fn rebind(&mut self) {
        self.bindings = Bindings::new(&self.device, &self.pipelines, &self.buffers);
    }

    pub(super) fn other_collider_passes(&self) -> Result<Option<contacts::ColliderPasses>> {
        self.contacts.other_collider_passes(&self.store, &self.queue, &self.controls, &self.buffers)
    }
}
