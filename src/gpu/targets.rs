//! Targets of pinned particles, set by the host or by a pass of the program.

use super::buffers::Buffers;
use super::guarded;
use super::solver::Solver;
use crate::error::Result;

impl Solver {
    /// Sets the position \[m\] of a pinned particle at the end of the next step. The particle moves there at constant
    /// velocity, and stays until it gets another target or is released.
    ///
    /// # Errors
    /// The particle must exist and be pinned, the position must be finite.
    pub fn set_target(&mut self, particle: u32, position: [f32; 3]) -> Result<()> {
        self.put_targets("set_target", &[(particle, position)])
    }

    /// Sets the positions \[m\] of many pinned particles, as [`Solver::set_target`] does for one, in one upload. If a particle
    /// occurs more than once, its last position counts.
    ///
    /// The upload contains the rows from the first to the last particle of the call ([`Solver::targets`]).
    ///
    /// # Errors
    /// As [`Solver::set_target`]; an error changes no target.
    pub fn set_targets(&mut self, targets: &[(u32, [f32; 3])]) -> Result<()> {
        self.put_targets("set_targets", targets)
    }

    fn put_targets(&mut self, what: &str, targets: &[(u32, [f32; 3])]) -> Result<()> {
        self.controls.check_targets(what, targets)?;
        self.upload_targets_of(targets)
    }

    /// Sets targets of particles and of orientations, which have been checked.
    pub(super) fn upload_targets_of(&mut self, targets: &[(u32, [f32; 3])]) -> Result<()> {
        let (count, most) = (self.controls.targets.len(), self.controls.most_targets_with(targets));
        let grows = self.fit_targets(most)?;
        let range = self.controls.set_targets(targets);
        if grows {
            self.upload_targets();
            return Ok(());
        }
        self.write(&self.buffers.targets, range.start, &self.controls.targets[range]);
        if self.controls.targets.len() > count {
            self.upload_params();
        }
        Ok(())
    }

    /// Replaces the buffer of targets if it is too small; true if it was.
    pub(super) fn fit_targets(&mut self, count: usize) -> Result<bool> {
        if count <= self.target_capacity {
            return Ok(false);
        }
        let capacity = count * 2;
        self.buffers.targets = guarded(&self.device, || Buffers::make_targets(&self.device, capacity))?;
        self.target_capacity = capacity;
        self.rebind();
        Ok(true)
    }

    /// Removes the targets of particles. These stay pinned, and rest where they are. A particle without a target does not
    /// change.
    ///
    /// # Errors
    /// The particles must exist.
    pub fn clear_targets(&mut self, particles: &[u32]) -> Result<()> {
        let changed = self.controls.clear_targets(particles)?;
        for &particle in &changed {
            self.write_velocity(particle, &[[0.0; 3]]);
        }
        if !changed.is_empty() {
            self.upload_targets();
            self.derived_is_stale = true;
        }
        Ok(())
    }

    /// The targets, for a pass of the program that moves pinned particles, such as the skinning of a character. One row of 16
    /// bytes per particle with a target, in the order of [`Solver::target_particles`]: position at the end of the next step
    /// \[m\] (three `f32`), particle (`u32`). STORAGE, COPY_DST, COPY_SRC.
    ///
    /// ```wgsl
    /// struct Target { position: vec3f, particle: u32 }
    /// @group(0) @binding(0) var<storage, read_write> targets: array<Target>;
    /// ```
    ///
    /// Create the rows by one call of [`Solver::set_targets`]. Then write only positions, before [`Solver::encode`] in the same
    /// encoder, and in each frame: a particle that gets no new target rests. The buffer may be longer than the list. A position
    /// that is not finite quarantines the particle ([`crate::Diagnostics`]).
    ///
    /// The host keeps its own positions. It uploads rows in [`Solver::set_target`], [`Solver::set_targets`] and
    /// [`Solver::set_positions`], and all rows if the list or the pins change, and in [`Solver::shift_origin`]. A list that
    /// grows may be in another buffer: call this function and [`Solver::target_particles`] again after each of these changes.
    pub fn targets(&self) -> &wgpu::Buffer {
        &self.buffers.targets
    }

    /// The particle of each row of [`Solver::targets`]. Rows of orientations ([`Solver::set_orientation_target`]) have a number
    /// behind those of the particles.
    pub fn target_particles(&self) -> impl ExactSizeIterator<Item = u32> {
        self.controls.targets.iter().map(|target| target.particle)
    }
}
