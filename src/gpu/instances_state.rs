//! Changes of instances while they run.

use super::instance_colliders::InstanceColliders;
use super::instance_pool::{WorkgroupLayout, make_lambdas, make_run};
use super::instances::Instances;
use super::maker::Maker;
use crate::error::Result;
use crate::instancing::InstanceId;
use crate::settings::Settings;

impl Instances {
    /// Pins particles of an instance at their positions, and recomputes its tethers. `particles` are indices in the
    /// asset.
    ///
    /// # Errors
    /// [`crate::Error::NoInstance`]; the particles must exist; [`crate::Error::LimitExceeded`] as of [`Instances::spawn`].
    pub fn pin(&mut self, id: InstanceId, particles: &[u32]) -> Result<()> {
        self.set_pinned(id, particles, true)
    }

    /// Releases pinned particles of an instance; each keeps the velocity of its last step. Recomputes its tethers.
    ///
    /// # Errors
    /// As [`Instances::pin`]; the particles must have a mass in the asset.
    pub fn release(&mut self, id: InstanceId, particles: &[u32]) -> Result<()> {
        self.set_pinned(id, particles, false)
    }

    fn set_pinned(&mut self, id: InstanceId, particles: &[u32], pinned: bool) -> Result<()> {
        let slot = self.pool.slot(id)?;
        self.pool.controls.check_pins(particles, pinned)?;
        if particles.iter().all(|&particle| self.pool.is_pinned(slot, particle) == pinned) {
            return Ok(());
        }
        self.make_blocks(self.pool.block_short(slot))?;
        for particle in self.pool.set_pinned(slot, particles, pinned) {
            let place = slot as usize * self.pool.particle_count() + particle as usize;
            self.write(&self.buffers.positions, 4 * place + 3, &[self.pool.inverse_mass(slot, particle)]);
            if pinned {
                self.write(&self.buffers.velocities, place, &[[0.0f32, 0.0, 0.0, 1.0]]);
            }
        }
        self.write_words(self.pool.own_words(slot));
        self.write_words(self.pool.row_words(slot));
        Ok(())
    }

    /// Returns true if a particle of an instance is currently pinned.
    ///
    /// # Errors
    /// [`crate::Error::NoInstance`]; the particle must exist.
    pub fn is_pinned(&self, id: InstanceId, particle: u32) -> Result<bool> {
        let slot = self.pool.slot(id)?;
        self.pool.controls.scene.check_particle("is_pinned", particle)?;
        Ok(self.pool.is_pinned(slot, particle))
    }

    /// Sets the position \[m\] of a pinned particle of an instance at the end of the next step, as
    /// [`crate::Solver::set_target`] does.
    ///
    /// # Errors
    /// [`crate::Error::NoInstance`]; [`crate::Error::LimitExceeded`] as of [`Instances::spawn`]. The particle must exist and be
    /// pinned, and the position must be finite.
    pub fn set_target(&mut self, id: InstanceId, particle: u32, position: [f32; 3]) -> Result<()> {
        let slot = self.pool.slot(id)?;
        self.pool.check_target(slot, particle, position)?;
        self.make_blocks(self.pool.block_short(slot))?;
        let is_first = self.pool.own_words(slot).is_empty();
        let words = self.pool.set_target(slot, particle, position);
        if is_first {
            self.write_words(self.pool.own_words(slot));
            self.write_words(self.pool.row_words(slot));
        } else {
            self.write_words(words);
        }
        Ok(())
    }

    /// Sets the wind of an instance [m/s], which is added to [`Settings::wind`]; it has no effect while that is `None`.
    ///
    /// # Errors
    /// [`crate::Error::NoInstance`]; each component must be at most 1e6 in magnitude.
    pub fn set_wind(&mut self, id: InstanceId, wind: [f32; 3]) -> Result<()> {
        let slot = self.pool.slot(id)?;
        self.pool.set_wind(slot, wind)?;
        self.write_words(self.pool.row_words(slot));
        Ok(())
    }

    /// Changes the settings of steps that are encoded from now on. Submit earlier recordings first; see
    /// [`crate::Solver::encode`].
    ///
    /// # Errors
    /// See [`Settings::check`] and [`Instances::new`].
    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        let before = self.pool.controls.settings;
        self.commit_collider_targets();
        self.pool.set_settings(settings)?;
        let keep_lambdas = settings.keeps_lambdas(false);
        let workgroup = WorkgroupLayout::new(&self.device, &self.pool);
        let other_lambdas = keep_lambdas != self.keep_lambdas;
        let other_run = other_lambdas || workgroup != self.workgroup;
        let other_colliders = !self.colliders_fit(keep_lambdas);
        if other_run || other_colliders {
            let (store, queue, pool) = (&self.store, &self.queue, &self.pool);
            let made = store.guarded(|| {
                let make = || make_lambdas(&Maker::new(store.device()), pool, keep_lambdas);
                let run = other_run.then(|| make_run(store, pool, keep_lambdas, workgroup));
                let before = self.colliders.as_ref().filter(|_| other_colliders);
                let colliders =
                    before.map(|_| InstanceColliders::new(store, queue, pool, keep_lambdas, (&self.buffers, before)));
                Ok((run, other_lambdas.then(make).transpose()?, colliders.transpose()?))
            });
            match made {
                Ok((run, lambdas, colliders)) => {
                    self.run = run.unwrap_or_else(|| self.run.clone());
                    self.buffers.lambdas = lambdas.unwrap_or_else(|| self.buffers.lambdas.clone());
                    self.colliders = colliders.or_else(|| self.colliders.take());
                }
                Err(error) => {
                    self.pool.set_settings(before)?;
                    return Err(error);
                }
            }
            (self.keep_lambdas, self.workgroup) = (keep_lambdas, workgroup);
            self.rebind();
        }
        self.real_time.left = self.real_time.left.min(settings.dt);
        self.upload_settings();
        self.upload_contact_params();
        // The rows contain the wind.
        let places = self.pool.places;
        self.write_words(places.slots..places.blocks);
        Ok(())
    }
}
