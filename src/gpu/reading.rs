//! Reading a solver's state: asked for without waiting, or waited for.

use super::buffers::Status;
use super::contacts::ContactStatus;
use super::guarded;
use super::halos::HaloPass;
use super::readback::{Readback, decode_scalars, decode_vectors};
use super::skins::SkinPasses;
use super::solver::{Diagnostics, Solver};
use crate::collide::{ColliderForce, ContactReport};
use crate::error::{Error, Result};
use crate::kinds::{Kind, ShapeMatching, kind_index};
use crate::scene::TetherForce;

impl Solver {
    /// Asks for the positions \[m\] as they are at this place in the encoder.
    pub fn request_positions(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Vec<[f32; 3]>> {
        self.request_vectors(encoder, &self.buffers.positions)
    }

    /// Asks for the velocities [m/s].
    pub fn request_velocities(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Vec<[f32; 3]>> {
        self.request_vectors(encoder, &self.buffers.velocities)
    }

    /// Asks for what the GPU has counted.
    pub fn request_diagnostics(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Diagnostics> {
        request_status(&self.device, encoder, &self.buffers.status)
    }

    /// Waits for all submitted work and reads the positions \[m\].
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Timeout`].
    pub fn read_positions(&self) -> Result<Vec<[f32; 3]>> {
        self.read(|encoder| self.request_positions(encoder))
    }

    /// Waits for all submitted work and reads the velocities [m/s].
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_velocities(&self) -> Result<Vec<[f32; 3]>> {
        self.read(|encoder| self.request_velocities(encoder))
    }

    /// Waits for all submitted work and reads the displacements d of the last substep \[m\].
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_displacements(&self) -> Result<Vec<[f32; 3]>> {
        self.read(|encoder| self.request_vectors(encoder, &self.buffers.displacements))
    }

    /// Waits for all submitted work and reads the normals; empty in a scene without surfaces.
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_normals(&self) -> Result<Vec<[f32; 3]>> {
        if self.index_count() == 0 {
            return Ok(Vec::new());
        }
        self.read(|encoder| self.request_vectors(encoder, &self.buffers.normals))
    }

    /// Waits for all submitted work and reads what the GPU has counted.
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_diagnostics(&self) -> Result<Diagnostics> {
        self.read(|encoder| self.request_diagnostics(encoder))
    }

    /// Asks for the force and the torque on every collider in the last step, on average over its time; by the place of its id. For a
    /// rigid body engine that moves it: as what it reads is the average of a step that is over, it should carry it forward by its last
    /// change, or bodies gain energy (`examples/rapier.rs` does). Nothing where there is no collider, or
    /// [`crate::Settings::collider_forces`] is off.
    pub fn request_collider_forces(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Vec<ColliderForce>> {
        let decode = |bytes: &[u8]| {
            let rows = bytes.chunks_exact(32).map(bytemuck::pod_read_unaligned::<[[f32; 4]; 2]>);
            rows.map(|[[x, y, z, _], [a, b, c, _]]| ColliderForce { force: [x, y, z], torque: [a, b, c] }).collect()
        };
        let count = self.controls.colliders.len() as u64;
        let obstacles = self.contacts.obstacles.as_ref().filter(|_| self.controls.settings.collider_forces);
        let forces = obstacles.map(|obstacles| &obstacles.forces);
        let (buffer, size) = forces.map_or((&self.buffers.status, 0), |forces| (forces, count * 32));
        Readback::new(&self.device, encoder, buffer, size, decode)
    }

    /// Asks for what has been counted of contacts between particles.
    pub fn request_contacts(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<ContactReport> {
        let counts_crossings = self.controls.settings.keeps_surfaces_apart();
        let decode = move |bytes: &[u8]| {
            let status: ContactStatus = bytemuck::pod_read_unaligned(&bytes[..size_of::<ContactStatus>()]);
            status.report(counts_crossings)
        };
        Readback::new(&self.device, encoder, &self.contacts.status, size_of::<ContactStatus>() as u64, decode)
    }

    /// Waits for all submitted work and reads the force and the torque on every collider in the last step. Of a particle that
    /// touched more than two colliders in it only two are told, see [`super::Diagnostics::lost_touches`]. After a collider was
    /// added or set anew, or contacts of other kinds or these forces were asked for, or a contact material became the first with
    /// restitution, all are zero until the next step; moving one leaves them. Nothing where there is no collider, or
    /// [`crate::Settings::collider_forces`] is off.
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_collider_forces(&self) -> Result<Vec<ColliderForce>> {
        if self.controls.colliders.is_empty() || !self.controls.settings.collider_forces {
            return Ok(Vec::new());
        }
        self.read(|encoder| self.request_collider_forces(encoder))
    }

    /// Waits for all submitted work and reads what has been counted of contacts between particles.
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_contacts(&self) -> Result<ContactReport> {
        self.read(|encoder| self.request_contacts(encoder))
    }

    /// Waits for all submitted work and reads λ of every constraint of a kind after the last substep, in the order in which
    /// they were added; λ/h² is the force along ∇C, in N for a distance.
    ///
    /// # Errors
    /// As [`Solver::read_positions`]; [`Error::NotEnabled`] where λ is not kept ([`crate::Settings::keep_lambdas`]).
    pub fn read_lambdas<K: Kind>(&self) -> Result<Vec<f32>> {
        self.read_lambdas_of(kind_index(K::INFO))
    }

    /// The same by the kind's place in [`crate::kinds::KINDS`].
    ///
    /// # Errors
    /// As [`Solver::read_lambdas`]; the place must exist.
    pub fn read_lambdas_of(&self, kind: usize) -> Result<Vec<f32>> {
        let Some(cooked) = self.controls.cooked.kinds.get(kind) else {
            let (what, count) = ("read_lambdas_of".into(), self.controls.cooked.kinds.len() as u64);
            return Err(Error::IndexOutOfRange { what, target: "kind", index: kind as u64, count });
        };
        if !self.keep_lambdas {
            let needed = "Settings::keep_lambdas = true, or more than one iteration";
            return Err(Error::NotEnabled { what: "read_lambdas", needed });
        }
        let coloring = &cooked.coloring;
        if coloring.order.is_empty() {
            return Ok(Vec::new());
        }
        let (buffer, begin) = self.buffers.lambdas_of(&self.controls.cooked, kind);
        let size = (coloring.order.len() * cooked.info.lambda_count()) as u64 * 4;
        let first = begin as u64 * 4;
        let sorted =
            self.read(|encoder| Readback::of_part(&self.device, encoder, buffer, first, size, decode_scalars))?;
        Ok(coloring.unsort(&cooked.info.lambdas(&sorted)))
    }

    /// Waits for all submitted work and reads the force of every constraint of a kind along its ∇C in the last substep, λ/h²: in N
    /// for a distance (positive pushes apart), in Pa for a pressure, in N m for a hinge; in general J/\[C\]. In the order in which
    /// they were added. Tethers carry a part of it: see [`Solver::read_tether_forces`].
    ///
    /// C is rounded, and a rigid constraint corrects the rounding. The force of a rigid distance of length L \[m\] is therefore within
    /// 8 · 2⁻²⁴ L/(Σw h²) \[N\] of the true one, Σw being the sum of both inverse masses [1/kg] and h the substep \[s\]: 17 N for 1 m, 1 kg
    /// and 1/6000 s, 0.7 N for 1/1200 s. The error changes its sign from substep to substep: the mean over N steps is nearer by 1/N.
    ///
    /// # Errors
    /// As [`Solver::read_lambdas`].
    pub fn read_constraint_forces<K: Kind>(&self) -> Result<Vec<f32>> {
        let square = self.recorded_substep.powi(2);
        Ok(self.read_lambdas::<K>()?.into_iter().map(|lambda| lambda / square).collect())
    }

    /// Waits for all submitted work and reads the forces of the taut tethers in the last substep, by particle. A tether carries what the
    /// constraints between a particle and its pin do not: the force on a pin is the sum of these towards the particles and of the constraint
    /// forces at the pin. Nothing where [`crate::Settings::tether_forces`] is off. Where it has just been turned on, or pins have changed, all
    /// are 0 N until the next step.
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_tether_forces(&self) -> Result<Vec<TetherForce>> {
        let count = self.controls.tether_rows.len();
        if count == 0 || !self.controls.settings.tether_forces {
            return Ok(Vec::new());
        }
        let pulls = self.read(|encoder| {
            Readback::new(&self.device, encoder, &self.buffers.pulls, count as u64 * 4, decode_scalars)
        })?;
        Ok(self.controls.tether_forces(&pulls, self.recorded_substep))
    }

    /// Waits for all submitted work and reads how each shape matching group is turned against its rest pose: a unit quaternion
    /// (x, y, z, w) each, in the order in which they were added.
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_rotations(&self) -> Result<Vec<[f32; 4]>> {
        let kind = kind_index(ShapeMatching::INFO);
        let cooked = &self.controls.cooked.kinds[kind];
        if cooked.len() == 0 {
            return Ok(Vec::new());
        }
        let (buffer, size) = (&self.buffers.kinds[kind].rotations, cooked.len() as u64 * 16);
        let sorted = self.read(|encoder| {
            Readback::new(&self.device, encoder, buffer, size, |bytes| {
                bytemuck::pod_collect_to_vec::<u8, [f32; 4]>(bytes)
            })
        })?;
        Ok(cooked.coloring.unsort(&sorted))
    }

    /// Size of all its buffers on the GPU \[bytes\]. Readbacks come on top while they are on their way, and what the driver adds to each.
    pub fn memory_bytes(&self) -> u64 {
        let halos = self.halos.as_ref().map_or(0, HaloPass::bytes);
        let skins = self.skins.as_ref().map_or(0, SkinPasses::bytes);
        self.buffers.bytes() + self.contacts.bytes() + halos + skins
    }

    fn request_vectors(&self, encoder: &mut wgpu::CommandEncoder, source: &wgpu::Buffer) -> Readback<Vec<[f32; 3]>> {
        if self.derived_is_stale {
            self.record(encoder, self.controls.plan.derived(), None);
        }
        Readback::new(&self.device, encoder, source, u64::from(self.particle_count()) * 16, decode_vectors)
    }

    fn read<T>(&self, request: impl FnOnce(&mut wgpu::CommandEncoder) -> Readback<T>) -> Result<T> {
        read(&self.device, &self.queue, request)
    }
}

/// Asks for what the GPU has counted.
pub(super) fn request_status(
    device: &wgpu::Device,
    encoder: &mut wgpu::CommandEncoder,
    status: &wgpu::Buffer,
) -> Readback<Diagnostics> {
    let decode = |bytes: &[u8]| {
        let status: Status = bytemuck::pod_read_unaligned(&bytes[..size_of::<Status>()]);
        let first_non_finite = (status.first_non_finite != u32::MAX).then_some(status.first_non_finite);
        let Status { steps, non_finite_count, lost_touches, .. } = status;
        Diagnostics { steps, non_finite_count, first_non_finite, lost_touches }
    };
    Readback::new(device, encoder, status, size_of::<Status>() as u64, decode)
}

/// Submits a request, and waits for it.
pub(super) fn read<T>(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    request: impl FnOnce(&mut wgpu::CommandEncoder) -> Readback<T>,
) -> Result<T> {
    let readback = guarded(device, || {
        let mut encoder = device.create_command_encoder(&Default::default());
        let readback = request(&mut encoder);
        queue.submit([encoder.finish()]);
        Ok(readback)
    })?;
    readback.wait(device)
}
