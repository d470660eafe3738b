//! Reads of the state of instances; they wait for the device, on native targets only.

use super::instance_pool::lambda_capacity;
use super::instances::Instances;
use super::readback::Readback;
use super::reading::{decode_scalars, read};
use crate::constraints::{Kind, kind_index};
use crate::error::{Error, Result};
use crate::instancing::InstanceId;
use crate::sim::Diagnostics;

impl Instances {
    /// Waits for all submitted work and reads the positions \[m\] of an instance.
    ///
    /// # Errors
    /// [`Error::NoInstance`], [`Error::DeviceLost`], [`Error::Timeout`].
    pub fn read_positions(&self, id: InstanceId) -> Result<Vec<[f32; 3]>> {
        self.read_vectors(&self.buffers.positions, id)
    }

    /// Waits for all submitted work and reads the velocities [m/s] of an instance.
    ///
    /// # Errors
    /// As [`Instances::read_positions`].
    pub fn read_velocities(&self, id: InstanceId) -> Result<Vec<[f32; 3]>> {
        self.read_vectors(&self.buffers.velocities, id)
    }

    /// Waits for all submitted work and reads the normals of an instance; empty for an asset without surfaces.
    ///
    /// # Errors
    /// As [`Instances::read_positions`].
    pub fn read_normals(&self, id: InstanceId) -> Result<Vec<[f32; 3]>> {
        if !self.has_surfaces() {
            return self.pool.slot(id).map(|_| Vec::new());
        }
        self.read_vectors(&self.buffers.normals, id)
    }

    /// Waits for all submitted work and reads λ of every constraint of a kind in an instance (see
    /// [`crate::Solver::read_lambdas`]). The values refer to the asset at scale 1: the force of a distance constraint is
    /// scale · λ/h².
    ///
    /// # Errors
    /// As [`Instances::read_positions`]; [`Error::NotEnabled`] if λ is not kept ([`crate::Settings::keep_lambdas`]).
    pub fn read_lambdas<K: Kind>(&self, id: InstanceId) -> Result<Vec<f32>> {
        let slot = self.pool.slot(id)?;
        if !self.keep_lambdas {
            let needed = "Settings::keep_lambdas = true, or more than one iteration";
            return Err(Error::NotEnabled { what: "read_lambdas", needed });
        }
        let kind = kind_index(K::INFO);
        let compiled = &self.pool.controls.compiled;
        let (coloring, lambdas) = (&compiled.kinds[kind].coloring, K::INFO.lambda_count());
        if coloring.order.is_empty() {
            return Ok(Vec::new());
        }
        let first = slot as usize * lambda_capacity(&self.pool) + self.pool.asset.first_places[kind] as usize * lambdas;
        let (first, size) = (first as u64 * 4, (coloring.order.len() * lambdas) as u64 * 4);
        let sorted = read(&self.device, &self.queue, |encoder| {
            Readback::of_part(&self.device, encoder, &self.buffers.lambdas, first, size, decode_scalars)
        })?;
        Ok(coloring.unsort(&K::INFO.lambdas(&sorted)))
    }

    /// Waits for all submitted work and reads the GPU's diagnostic counters.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Timeout`].
    pub fn read_diagnostics(&self) -> Result<Diagnostics> {
        read(&self.device, &self.queue, |encoder| self.request_diagnostics(encoder))
    }

    fn read_vectors(&self, source: &wgpu::Buffer, id: InstanceId) -> Result<Vec<[f32; 3]>> {
        let slot = self.pool.slot(id)?;
        read(&self.device, &self.queue, |encoder| self.request_vectors(encoder, source, slot))
    }
}
