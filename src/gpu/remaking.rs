//! Buffers and pipelines of a solver that are made anew, where what has changed needs others.

use super::bindings::Bindings;
use super::buffers::Buffers;
use super::contacts;
use super::guarded;
use super::halos::HaloPass;
use super::pipelines::Pipelines;
use super::solver::{Solver, check_workgroup_memory, needs_lambdas};
use super::whole::lanes;
use crate::error::Result;
use crate::settings::{Execution, Settings};

impl Solver {
    /// Other buffers and pipelines where the settings need others than those before did. Where any cannot be had, all that is played stays.
    pub(super) fn remake_for(&mut self, before: &Settings) -> Result<()> {
        let settings = self.controls.settings;
        self.remake_accelerations()?;
        if settings.tether_forces != before.tether_forces {
            self.buffers.pulls = guarded(&self.device, || Buffers::make_pulls(&self.device, &self.controls))?;
            self.rebind();
        }
        // Buffers and pipelines of contacts depend on nothing else of the settings.
        let make_contacts = || contacts::remake(&self.device, &self.queue, &self.controls, &self.buffers);
        let contacts = (settings.self_collision != before.self_collision).then(make_contacts).transpose()?;
        let refit = contacts.is_none() && settings.collider_forces != before.collider_forces;
        let obstacles = refit.then(|| self.other_obstacles()).transpose()?;
        let keep_lambdas = needs_lambdas(&settings);
        if settings.spreads_unlike(before) || keep_lambdas != self.keep_lambdas {
            self.remake_kinds(keep_lambdas)?;
        } else {
            self.fit_whole()?;
        }
        self.make_halos();
        if let Some(contacts) = contacts {
            self.contacts = contacts;
        }
        if let Some(obstacles) = obstacles {
            self.contacts.obstacles = obstacles;
        }
        Ok(())
    }

    /// Makes what plays whole substeps where that is asked for, the plan is for it, and it is not there yet.
    pub(super) fn make_halos(&mut self) {
        let wanted = self.controls.settings.execution == Execution::Halos;
        if !wanted || self.tried_halos || !self.controls.can_fuse() {
            return;
        }
        let make = || HaloPass::new(&self.device, &self.queue, &self.controls, &self.buffers);
        // Whatever is in the way, it can be played by colours, to the same bits; a device that is lost tells the next who reads.
        self.halos = guarded(&self.device, make).unwrap_or(None);
        self.tried_halos = true;
        self.controls.no_halos = "the device has no room for halos, or they outgrow their cores";
        self.controls.fuse(self.halos.is_some());
    }

    /// Does without what plays whole substeps.
    pub(super) fn drop_halos(&mut self, why: &'static str) {
        self.controls.no_halos = why;
        self.halos = None;
        self.controls.fuse(false);
    }

    /// Other buffers and pipelines for contacts, with all that the host knows, but for their figures, which are to be uploaded.
    pub(super) fn remake_contacts(&mut self) -> Result<()> {
        self.contacts = contacts::remake(&self.device, &self.queue, &self.controls, &self.buffers)?;
        Ok(())
    }

    /// Room for accelerations and forces that were not needed before.
    fn remake_accelerations(&mut self) -> Result<()> {
        let controls = &self.controls;
        let room = |needed: bool| if needed { controls.scene.particle_count() as u64 * 16 } else { 0 };
        let few = |buffer: &wgpu::Buffer, needed| buffer.size() < room(needed);
        let (accelerated, forces) = (controls.params().accelerated == 1, controls.settings.forces);
        let (few_accelerations, few_forces) =
            (few(&self.buffers.accelerations, accelerated), few(&self.buffers.forces, forces));
        // Both or none, as what is made must be bound.
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

    /// Other pipelines and buffers for the kinds, which keep how groups are turned.
    fn remake_kinds(&mut self, keep_lambdas: bool) -> Result<()> {
        let (device, queue, cooked) = (&self.device, &self.queue, &self.controls.cooked);
        check_workgroup_memory(device, cooked)?;
        let (stages, whole_stage, (kinds, whole, spans)) = guarded(device, || {
            let stages = Pipelines::make_kinds(device, cooked, keep_lambdas);
            let whole = Pipelines::make_whole(device, &self.controls, keep_lambdas);
            Ok((stages, whole, Buffers::make_kinds(device, queue, cooked, keep_lambdas)?))
        })?;
        let old = std::mem::replace(&mut self.buffers.kinds, kinds);
        for (kind, old) in self.buffers.kinds.iter_mut().zip(old) {
            kind.rotations = old.rotations;
        }
        (self.buffers.whole, self.buffers.spans) = (whole, spans);
        (self.pipelines.whole, self.pipelines.kinds) = (whole_stage, stages);
        self.keep_lambdas = keep_lambdas;
        self.drop_halos("the device has no room for halos");
        self.tried_halos = false;
        self.upload_tethers();
        self.rebind();
        Ok(())
    }

    /// Makes the pass that plays whole bodies anew where it has more threads than it needs now, or fewer.
    fn fit_whole(&mut self) -> Result<()> {
        let (Some(stage), Some(whole)) = (&self.pipelines.whole, &self.controls.cooked.whole) else { return Ok(()) };
        let (device, controls, keep_lambdas) = (&self.device, &self.controls, self.keep_lambdas);
        if lanes(device, whole, controls) as u32 != stage.workgroup_size {
            self.pipelines.whole = guarded(device, || Ok(Pipelines::make_whole(device, controls, keep_lambdas)))?;
            self.rebind();
        }
        Ok(())
    }

    /// Makes the passes that end a substep anew where they are for fewer pins than there are, or for many more.
    pub(super) fn fit_velocities(&mut self) -> Result<()> {
        let velocities = &self.pipelines.velocities;
        if let Some(others) = guarded(&self.device, || Ok(velocities.refitted(&self.device, &self.controls)))? {
            self.pipelines.velocities = others;
            self.rebind();
        }
        Ok(())
    }

    pub(super) fn rebind(&mut self) {
        self.bindings = Bindings::new(&self.device, &self.pipelines, &self.buffers);
        if let Some(halos) = &mut self.halos {
            halos.rebind(&self.device, &self.buffers);
        }
        if let Some(skins) = &mut self.skins {
            skins.rebind(&self.device, &self.buffers);
        }
    }

    pub(super) fn other_obstacles(&self) -> Result<Option<contacts::Obstacles>> {
        self.contacts.other_obstacles(&self.device, &self.queue, &self.controls, &self.buffers)
    }
}
