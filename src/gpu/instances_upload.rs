//! Writes of the host state of instances to their buffers.

use super::instance_pool::{PoolParams, lambda_capacity};
use super::instances::Instances;
use crate::settings::Settings;
use glam::Vec4;

impl Instances {
    /// Writes the state of new instances in consecutive slots.
    pub(super) fn write_start(&self, slots: &[u32]) {
        let Some(&first) = slots.first() else { return };
        let (first, count) = (first as usize, self.pool.particle_count());
        let (mut positions, mut velocities) = (Vec::new(), Vec::new());
        let (mut normals, mut put): (Vec<[f32; 4]>, Vec<[f32; 4]>) = (Vec::new(), Vec::new());
        for &slot in slots {
            let begin = positions.len();
            self.pool.push_start(slot, &mut positions, &mut velocities);
            if self.has_surfaces() {
                // Normals to draw before the first step.
                let own = &positions[begin..];
                let position = |particle: usize| Vec4::from(own[particle]).truncate();
                let rings = &self.pool.controls.compiled.rings;
                normals.extend((0..count).map(|k| rings.normal(k, position).extend(0.0).to_array()));
            }
            let [[x, y, z, scale], rotation] = self.pool.placement(slot).rows();
            // The negative scale marks the slot's other state as invalid.
            put.extend([[x, y, z, -scale], rotation]);
        }
        self.write(&self.buffers.positions, first * count, &positions);
        self.write(&self.buffers.velocities, first * count, &velocities);
        self.write(&self.buffers.normals, first * count, &normals);
        self.write(&self.buffers.motions, 2 * (self.pool.capacity as usize * count + first), &put);
        let capacity = if self.keep_lambdas { lambda_capacity(&self.pool) } else { 0 };
        self.write(&self.buffers.lambdas, first * capacity, &vec![0.0f32; slots.len() * capacity]);
    }

    /// Writes the slots of the instances from `place` on.
    pub(super) fn write_live(&self, places: std::ops::Range<usize>) {
        self.write(&self.buffers.live, places.start, &self.pool.live[places.clone()]);
        let first = self.pool.places.live;
        self.write_words(first + places.start..first + places.end);
    }

    pub(super) fn write_words(&self, words: std::ops::Range<usize>) {
        self.write(&self.buffers.asset, words.start, &self.pool.words[words]);
    }

    pub(super) fn upload_settings(&self) {
        self.write(&self.buffers.params, 0, &[self.pool.controls.params()]);
        self.write(&self.buffers.materials, 0, &self.pool.controls.scaled_materials());
        self.upload_pool_params();
    }

    /// Uploads the settings and the number of instances.
    pub(super) fn upload_pool_params(&self) {
        let Settings { substeps, iterations, tethers, .. } = *self.settings();
        let row = PoolParams { substeps, iterations, tethers: u32::from(tethers), count: self.len() };
        self.write(&self.buffers.pool, 0, &[row]);
    }

    /// Queues a write of rows from row `place` on.
    pub(super) fn write<T: bytemuck::Pod>(&self, buffer: &wgpu::Buffer, place: usize, rows: &[T]) {
        if !rows.is_empty() {
            self.queue.write_buffer(buffer, (place * size_of::<T>()) as u64, bytemuck::cast_slice(rows));
        }
    }
}
