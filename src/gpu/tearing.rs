//! Tears of cloth on the GPU: found on the host in positions that are read back, applied by queued writes.

use super::maker::Maker;
use super::readback::Readback;
use super::solver::Solver;
use crate::error::{Error, Result};
use crate::sim::{TearRequest, Tears};
use wgpu::BufferUsages;

impl Solver {
    /// Waits for all submitted work and tears cloths with [`crate::scene::Tearing`] along their overloaded edges. Call it after each
    /// step, or after each frame. Native targets only; see [`Solver::request_tears`].
    ///
    /// In a call each end of a tear advances by one edge, and a cloth without such an end may begin one tear, so a tear runs at one edge
    /// a call. A strain between two calls does not count. An edge whose tear would cut off a piece of
    /// fewer than 8 triangles stays whole.
    ///
    /// - Around each end of a torn edge every fan of triangles but the first gets a copy of the particle: a particle in reserve, behind
    ///   those of the cloth. The copy has the same position and velocity, the pin and the target. The mass is divided by the area
    ///   of the fans, so mass and momentum are kept up to rounding.
    /// - Triangles ([`Solver::triangles`], [`Solver::indices`]), normals, wind and contacts follow the torn mesh. Bends across a torn edge
    ///   have no effect any more. Tethers follow the paths that remain.
    /// - Attachments and followers stay with the particle, which is that of the first fan. Vertex outputs do too: draw a torn cloth with
    ///   [`Solver::indices`].
    /// - Contacts start anew: friction anchors and the impulses on colliders of the last step are lost.
    ///
    /// [`Solver::reset`] mends all tears. Snapshots contain them. [`Solver::set_constraint`] does not apply to the twin that a constraint
    /// along an edge has at the other side of a tear.
    ///
    /// # Errors
    /// [`crate::Error::NotEnabled`] if no cloth has [`crate::Fabric::tearing`]; as [`Solver::read_positions`]. Nothing changes on an error.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn tear(&mut self) -> Result<Tears> {
        self.controls.check_tears()?;
        let request = super::reading::read(&self.device, &self.queue, |encoder| self.copy_tears(encoder))?;
        self.apply_tears(&request)
    }

    /// Requests the positions in which [`Solver::apply_tears`] finds tears, at this point of the encoder. It does not wait.
    ///
    /// # Errors
    /// [`crate::Error::NotEnabled`] if no cloth has [`crate::Fabric::tearing`].
    pub fn request_tears(&self, encoder: &mut wgpu::CommandEncoder) -> Result<Readback<TearRequest>> {
        self.controls.check_tears()?;
        Ok(self.copy_tears(encoder))
    }

    fn copy_tears(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<TearRequest> {
        let (generation, size) = (self.controls.tears.generation, self.buffers.positions.size());
        Readback::new(&self.device, encoder, &self.buffers.positions, size, move |bytes| {
            let rows = bytes.chunks_exact(16).map(bytemuck::pod_read_unaligned::<[f32; 4]>);
            TearRequest { positions: rows.map(|[x, y, z, _]| [x, y, z]).collect(), generation }
        })
    }

    /// Tears cloths along the edges that are overloaded in a request: see [`Solver::tear`]. Submit recorded steps first. Requests from before
    /// the last tear have no effect.
    ///
    /// # Errors
    /// As [`Solver::request_tears`]; [`crate::Error::LengthMismatch`] if the request is from a solver with another number of particles;
    /// [`crate::Error::LimitExceeded`] or [`crate::Error::OutOfMemory`] if buffers cannot be created again. If those of contacts cannot, nothing
    /// changes.
    pub fn apply_tears(&mut self, request: &TearRequest) -> Result<Tears> {
        self.controls.check_tears()?;
        if request.generation != self.controls.tears.generation {
            return Ok(Tears::default());
        }
        let (left, right) = (request.positions.len(), (self.buffers.positions.size() / 16) as usize);
        if left != right {
            return Err(Error::LengthMismatch { what: "positions of a tear request and of the solver", left, right });
        }
        let before = self.controls.has_contacts().then(|| self.controls.clone());
        let tears = self.controls.tear(&request.positions);
        if tears.edges.is_empty() {
            return Ok(tears);
        }
        if let Some(before) = before
            && let Err(error) = self.remake_contacts()
        {
            self.controls = before;
            return Err(error);
        }
        self.copy_rows(&tears.copies);
        self.contact_params = self.controls.contact_params();
        self.upload_torn();
        self.upload_inverse_masses(tears.copies.as_flattened());
        self.write(&self.buffers.pins, 0, &self.controls.pins);
        self.fit_targets(self.controls.targets.len())?;
        self.upload_targets();
        self.upload_tethers();
        self.mark_stale();
        self.derived_is_stale = true;
        self.fit_passes()?;
        Ok(tears)
    }

    /// Uploads all that depends on the triangles of torn cloths.
    pub(super) fn upload_torn(&self) {
        let compiled = &self.controls.compiled;
        let Some(mesh) = &compiled.tearing else { return };
        self.write(&self.buffers.indices, 0, &self.controls.scene.triangles);
        self.write(&self.buffers.ring_offsets, 0, &compiled.rings.offsets);
        self.write(&self.buffers.ring_corners, 0, &compiled.rings.corners);
        for (kind, (own, buffers)) in compiled.kinds.iter().zip(&self.buffers.kinds).enumerate() {
            if !mesh.tearable(kind).is_empty() {
                self.write(&buffers.records, 0, &own.records);
            }
        }
    }

    /// Copies the state of particles to their copies, after all submitted work.
    fn copy_rows(&self, copies: &[[u32; 2]]) {
        let buffers = &self.buffers;
        let rows = [&buffers.positions, &buffers.displacements, &buffers.residuals, &buffers.velocities];
        // A buffer cannot be copied into itself. A copy may be copied again, so the rows are copied one after the other.
        let Ok(staged) = Maker::new(&self.device).empty("torn", 16, BufferUsages::STORAGE) else {
            debug_assert!(false, "it is smaller than the buffer of positions");
            return;
        };
        let mut encoder = self.device.create_command_encoder(&Default::default());
        for buffer in rows {
            for [from, to] in copies.iter().map(|rows| rows.map(|row| 16 * u64::from(row))) {
                encoder.copy_buffer_to_buffer(buffer, from, &staged, 0, 16);
                encoder.copy_buffer_to_buffer(&staged, 0, buffer, to, 16);
            }
        }
        self.queue.submit([encoder.finish()]);
    }

    /// The present triangles, three particles each: those of the scene, with the particles that tears have added.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.controls.scene.triangles
    }

    /// The inverse mass [1/kg] of each particle when it is free, after [`Solver::set_masses`] and tears; 0 for a particle in reserve.
    pub fn inverse_masses(&self) -> &[f32] {
        &self.controls.scene.inverse_masses
    }
}
