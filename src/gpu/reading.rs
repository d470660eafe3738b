//! Reads of a solver's state that wait, on native targets only.

use super::guarded;
use super::readback::{Readback, decode_vectors};
use super::solver::Solver;
use crate::collision::{ColliderForce, ContactEvents, ContactReport};
use crate::constraints::plasticity::{PlasticState, strains};
use crate::constraints::{Kind, PlasticStrain, ShapeMatching, kind_index};
use crate::error::{Error, Result};
use crate::scene::{Ray, RayHit, TetherForce};
use crate::sim::Diagnostics;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Timeout of a blocking read.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The time that a blocking read waits after the queue is empty. Another thread that polls the device may deliver the
/// data, and may have to wait for a processor first.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

impl Solver {
    /// Waits for all submitted work and reads the positions \[m\].
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Timeout`].
    pub fn read_positions(&self) -> Result<Vec<[f32; 3]>> {
        self.read(|encoder| self.request_positions(encoder))
    }

    /// Waits for all submitted work, reads the positions, and returns the first triangle or particle on a ray: see
    /// [`crate::Scene::pick`]. [`Solver::pick_at`] does not wait.
    ///
    /// # Errors
    /// As [`crate::Scene::pick`] and [`Solver::read_positions`].
    pub fn pick(&self, ray: &Ray) -> Result<Option<RayHit>> {
        self.pick_at(ray, &self.read_positions()?)
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

    /// Waits for all submitted work and reads the GPU's diagnostic counters.
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_diagnostics(&self) -> Result<Diagnostics> {
        self.read(|encoder| self.request_diagnostics(encoder))
    }

    /// Waits for all submitted work and reads the mean force and torque on every collider in the last step.
    ///
    /// Each particle counts for at most two colliders, see [`crate::Diagnostics::lost_collider_contacts`]. Empty if
    /// there are no colliders or [`crate::Settings::collider_forces`] is off. Each of these changes resets the values
    /// to zero until the next step:
    ///
    /// - adding or replacing a collider (moving one keeps the values),
    /// - changing self-collision, collider forces, contact events or triangle contacts in the settings,
    /// - the first contact material with restitution, and the first scales of contacts,
    /// - a contact material or scale with which triangles meet colliders for the first time,
    /// - a tear.
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_collider_forces(&self) -> Result<Vec<ColliderForce>> {
        if self.controls.colliders.is_empty() || !self.controls.settings.collider_forces {
            return Ok(Vec::new());
        }
        self.read(|encoder| self.request_collider_forces(encoder))
    }

    /// Waits for all submitted work and reads the counters of self-collision.
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_contacts(&self) -> Result<ContactReport> {
        self.read(|encoder| self.request_contacts(encoder))
    }

    /// Waits for all submitted work and reads the contact events of the last step: see
    /// [`Solver::request_contact_events`].
    ///
    /// # Errors
    /// As [`Solver::request_contact_events`] and [`Solver::read_positions`].
    pub fn read_contact_events(&self) -> Result<ContactEvents> {
        self.controls.settings.check_contact_events()?;
        self.read(|encoder| self.copy_contact_events(encoder))
    }

    /// Waits for all submitted work and reads λ of every constraint of a kind after the last substep, in the order of
    /// insertion. The force along ∇C is λ/h², in N for a distance.
    ///
    /// # Errors
    /// As [`Solver::read_positions`]; [`Error::NotEnabled`] if λ is not kept ([`crate::Settings::keep_lambdas`]).
    pub fn read_lambdas<K: Kind>(&self) -> Result<Vec<f32>> {
        self.read_lambdas_of(kind_index(K::INFO))
    }

    /// As [`Solver::read_lambdas`]; `kind` is an index in [`crate::constraints::KINDS`].
    ///
    /// # Errors
    /// As [`Solver::read_lambdas`]; the index must be in range.
    pub fn read_lambdas_of(&self, kind: usize) -> Result<Vec<f32>> {
        let Some(compiled) = self.controls.compiled.kinds.get(kind) else {
            let (what, count) = ("read_lambdas_of".into(), self.controls.compiled.kinds.len() as u64);
            return Err(Error::IndexOutOfRange { what, target: "kind", index: kind as u64, count });
        };
        if !self.keep_lambdas {
            let needed = "Settings::keep_lambdas = true, or more than one iteration";
            return Err(Error::NotEnabled { what: "read_lambdas", needed });
        }
        let coloring = &compiled.coloring;
        if coloring.order.is_empty() {
            return Ok(Vec::new());
        }
        let size = (coloring.order.len() * compiled.info.lambda_count()) as u64 * 4;
        let buffer = &self.buffers.kinds[kind].lambdas;
        let sorted = self.read(|encoder| Readback::of_part(&self.device, encoder, buffer, 0, size, decode_scalars))?;
        Ok(coloring.unsort(&compiled.info.lambdas(&sorted)))
    }

    /// Waits for all submitted work and reads the force λ/h² of every constraint of a kind along its ∇C in the last
    /// substep.
    ///
    /// The unit is J/\[C\]: N for a distance (positive pushes apart), Pa for a pressure, N m for a hinge. The order is
    /// that of insertion. Tethers carry a part of the load: see [`Solver::read_tether_forces`].
    ///
    /// C is rounded, and a rigid constraint corrects the rounding. The error of the force of a rigid distance of length
    /// L \[m\] is at most 8 · 2⁻²⁴ L/(Σw h²) \[N\]. Here Σw is the sum of both inverse masses [1/kg] and h the substep
    /// \[s\]. For 1 m and 1 kg it is 17 N at 1/6000 s and 0.7 N at 1/1200 s. The error changes its sign from substep to
    /// substep: the error of the mean over N steps is 1/N of it.
    ///
    /// # Errors
    /// As [`Solver::read_lambdas`].
    pub fn read_constraint_forces<K: Kind>(&self) -> Result<Vec<f32>> {
        self.read_constraint_forces_of(kind_index(K::INFO))
    }

    /// The same by the index of the kind in [`crate::constraints::KINDS`].
    ///
    /// # Errors
    /// As [`Solver::read_lambdas_of`].
    pub fn read_constraint_forces_of(&self, kind: usize) -> Result<Vec<f32>> {
        let square = self.recorded_substep.powi(2);
        Ok(self.read_lambdas_of(kind)?.into_iter().map(|lambda| lambda / square).collect())
    }

    /// Waits for all submitted work and reads the mean force of every constraint of a kind along its ∇C over the last
    /// step, Σλ/(N h²) for N substeps of h \[s\]. Use it for display or to compare with a strength.
    ///
    /// Units, sign and order are those of [`Solver::read_constraint_forces`], which returns the last substep alone. If
    /// C is the length of a vector (isometric and line bends), the value is minus the length of the mean. Empty for a
    /// kind without constraints.
    ///
    /// The rounding error of C changes its sign from substep to substep. The error of a substep, at most 8 · 2⁻²⁴ L/(Σw
    /// h²) \[N\] for a rigid distance, is divided by N.
    ///
    /// # Errors
    /// As [`Solver::read_positions`]; [`Error::NotEnabled`] if [`crate::Settings::mean_forces`] is off.
    pub fn read_mean_forces<K: Kind>(&self) -> Result<Vec<f32>> {
        self.read_mean_forces_of(kind_index(K::INFO))
    }

    /// As [`Solver::read_mean_forces`]; `kind` is an index in [`crate::constraints::KINDS`].
    ///
    /// # Errors
    /// As [`Solver::read_mean_forces`]; the index must be in range.
    pub fn read_mean_forces_of(&self, kind: usize) -> Result<Vec<f32>> {
        self.controls.check_mean_forces(kind)?;
        let Some(buffer) = &self.buffers.kinds[kind].force_sums else { return Ok(Vec::new()) };
        let size = self.controls.compiled.kinds[kind].lambda_count() as u64 * 4;
        let sums = self.read(|encoder| Readback::new(&self.device, encoder, buffer, size, decode_scalars))?;
        Ok(self.controls.mean_forces(kind, &sums, (self.recorded_substep, self.recorded_substeps)))
    }

    /// Waits for all submitted work and reads the state of the constraints of a kind that have a
    /// [`crate::Plasticity`], in the order of their indices. A step measures the strain at its start.
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_plastic_strains<K: Kind>(&self) -> Result<Vec<PlasticStrain>> {
        let kind = kind_index(K::INFO);
        let rows = &self.controls.compiled.kinds[kind].plastic;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let buffer = &self.buffers.kinds[kind].plastic[1];
        let size = size_of::<PlasticState>() as u64 * rows.len() as u64;
        let decode = |bytes: &[u8]| bytemuck::pod_collect_to_vec::<u8, PlasticState>(bytes);
        let states = self.read(|encoder| Readback::new(&self.device, encoder, buffer, size, decode))?;
        Ok(strains(rows, &states, K::INFO.plastic))
    }

    /// Waits for all submitted work and reads the forces of the taut tethers in the last substep, by particle.
    ///
    /// A tether carries the load that the constraints between a particle and its pin do not. The force on a pin is the
    /// sum of its tether forces towards the particles and of the constraint forces at the pin. Empty if
    /// [`crate::Settings::tether_forces`] is off. After it is turned on, or pins change, all forces are 0 N until the
    /// next step.
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_tether_forces(&self) -> Result<Vec<TetherForce>> {
        let count = self.controls.tether_rows.len();
        if count == 0 || !self.controls.settings.tether_forces {
            return Ok(Vec::new());
        }
        let tether_displacements = self.read(|encoder| {
            Readback::new(&self.device, encoder, &self.buffers.tether_displacements, count as u64 * 4, decode_scalars)
        })?;
        Ok(self.controls.tether_forces(&tether_displacements, self.recorded_substep))
    }

    /// Waits for all submitted work and reads the rotation of each shape matching group relative to its rest pose: unit
    /// quaternions (x, y, z, w) in the order of insertion.
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_rotations(&self) -> Result<Vec<[f32; 4]>> {
        let kind = kind_index(ShapeMatching::INFO);
        let compiled = &self.controls.compiled.kinds[kind];
        if compiled.len() == 0 {
            return Ok(Vec::new());
        }
        let (buffer, size) = (&self.buffers.kinds[kind].rotations, compiled.len() as u64 * 16);
        let sorted = self.read(|encoder| {
            Readback::new(&self.device, encoder, buffer, size, |bytes| {
                bytemuck::pod_collect_to_vec::<u8, [f32; 4]>(bytes)
            })
        })?;
        Ok(compiled.coloring.unsort(&sorted))
    }

    /// Waits for all submitted work and reads the orientations, in the order of [`crate::Scene::orientations`]. Each is a
    /// unit quaternion (x, y, z, w), the rotation from the axes of the world to those of the frame.
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_orientations(&self) -> Result<Vec<[f32; 4]>> {
        if self.orientation_count() == 0 {
            return Ok(Vec::new());
        }
        self.read(|encoder| self.request_orientations(encoder))
    }

    /// Waits for all submitted work and reads the angular velocities of the orientations, in the axes of the world
    /// [rad/s].
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_angular_velocities(&self) -> Result<Vec<[f32; 3]>> {
        self.read_orientation_rows(&self.buffers.velocities)
    }

    /// Waits for all submitted work and reads the rotation vectors of the orientations in the last substep \[rad\].
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_rotation_vectors(&self) -> Result<Vec<[f32; 3]>> {
        self.read_orientation_rows(&self.buffers.displacements)
    }

    fn read_orientation_rows(&self, buffer: &wgpu::Buffer) -> Result<Vec<[f32; 3]>> {
        if self.orientation_count() == 0 {
            return Ok(Vec::new());
        }
        let [first, size] = [self.particle_count(), self.orientation_count()].map(|rows| u64::from(rows) * 16);
        self.read(|encoder| Readback::of_part(&self.device, encoder, buffer, first, size, decode_vectors))
    }

    fn read<T>(&self, request: impl FnOnce(&mut wgpu::CommandEncoder) -> Readback<T>) -> Result<T> {
        read(&self.device, &self.queue, request)
    }
}

/// Submits a request and waits for it.
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

impl<T> Readback<T> {
    /// Waits for the data; the encoder must have been submitted.
    fn wait(mut self, device: &wgpu::Device) -> Result<T> {
        let start = Instant::now();
        let mut idle_since = None;
        loop {
            if let Some(data) = self.try_take()? {
                return Ok(data);
            }
            let left = TIMEOUT.saturating_sub(start.elapsed());
            let timeout = Error::Timeout { seconds: TIMEOUT.as_secs_f32() };
            if left.is_zero() {
                return Err(timeout);
            }
            let poll = wgpu::PollType::Wait { submission_index: None, timeout: Some(left) };
            // wgpu panics if the device is lost during the wait. It also panics if the wait times out while another
            // thread collects the same work, so a wait is not cut into shorter ones.
            let idle = match catch_unwind(AssertUnwindSafe(|| device.poll(poll))) {
                Ok(status) => status.is_ok_and(|status| status.is_queue_empty()),
                Err(_) if start.elapsed() >= TIMEOUT => return Err(timeout),
                Err(_) => return Err(Error::DeviceLost { reason: "it was lost during a wait".into() }),
            };
            if !idle {
                idle_since = None;
            } else if !self.has_arrived() {
                if idle_since.get_or_insert_with(Instant::now).elapsed() > IDLE_TIMEOUT {
                    return Err(Error::DeviceLost { reason: "submitted work did not complete".into() });
                }
                // Another thread that polls the same device delivers the data.
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

/// Every `f32`.
pub(super) fn decode_scalars(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect()
}
