//! Shifts of the origin on the GPU.

use super::instances::Instances;
use super::maker::Maker;
use super::recorder::Recorder;
use super::solver::Solver;
use super::stage::Slot::{Uniform, Write};
use super::stage::{Slot, Stage};
use super::store::PipelineStore;
use crate::error::Result;
use crate::instancing::pool::InstancePool;
use wgpu::BufferUsages;

/// Bindings: params, offset, positions, residuals.
const SLOTS: [Slot; 4] = [Uniform, Uniform, Write, Write];

/// The shift pass, created at the first shift.
#[derive(Debug)]
pub(super) struct ShiftPass {
    stage: Stage,
    offset: wgpu::Buffer,
}

impl ShiftPass {
    fn new(store: &PipelineStore, stage: impl FnOnce() -> Stage) -> Result<Self> {
        store.guarded(|| {
            let offset = Maker::new(store.device()).empty("shift.offset", 16, BufferUsages::UNIFORM)?;
            Ok(Self { stage: stage(), offset })
        })
    }

    /// Submits the pass; it runs after all work that was submitted before.
    fn submit(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        [x, y, z]: [f32; 3],
        state: [&wgpu::Buffer; 3],
        threads: u32,
    ) {
        let [params, positions, residuals] = state;
        queue.write_buffer(&self.offset, 0, bytemuck::bytes_of(&[x, y, z, 0.0]));
        let bindings = self.stage.bind(device, &[params, &self.offset, positions, residuals]);
        let mut encoder = device.create_command_encoder(&Default::default());
        Recorder::new(&mut encoder, None).dispatch(&self.stage, &bindings, &[], threads);
        queue.submit([encoder.finish()]);
    }
}

/// The pass of a solver.
pub(super) fn shift_stage(store: &PipelineStore) -> Stage {
    let text = include_str!("../../shaders/integrate/shift.wgsl");
    Stage::new(store, "shift", "shift", text, &SLOTS, &[])
}

/// The pass of skinned poses.
pub(super) fn shift_skinned_stage(store: &PipelineStore) -> Stage {
    let text = include_str!("../../shaders/integrate/shift_skinned.wgsl");
    Stage::new(store, "shift_skinned", "shift_skinned", text, &[Uniform, Write, Write], &[])
}

/// The pass of instances.
pub(super) fn instances_shift_stage(store: &PipelineStore, pool: &InstancePool) -> Stage {
    let name = "instances_shift";
    Stage::new(store, name, name, &super::instance_pool::shift_pass(pool), &SLOTS, &[])
}

impl Solver {
    /// Moves the whole simulation by `offset` \[m\], to continue near the origin.
    ///
    /// These move: particles, targets, skinned poses, joints, attachments to points in space, colliders with their
    /// targets, fields, and the initial state that [`Solver::reset`] restores. The air field moves too: gusts and
    /// turbulence stay with the particles. Velocities, λ, contacts and the
    /// clock stay. The call submits one small compute pass. Like all changes it runs after earlier submissions: submit
    /// recorded steps first.
    ///
    /// The sum x + `offset` is rounded to `f32`, and the residual of the position stores the rounding error. The
    /// simulation continues bit for bit, moved by `offset`, under two conditions. All coordinates and their sums with
    /// `offset` stay between the same two powers of two (such as 1024 m and 2048 m). And `offset` is a multiple of 2⁻²²
    /// of the lower one. Otherwise it continues up to rounding. With self-collision the next substep searches for all
    /// pairs.
    ///
    /// # Errors
    /// The offset must be finite and each component at most 1e6 m in magnitude; fields and colliders must be within 1e6
    /// m of the origin afterwards. An error changes nothing.
    pub fn shift_origin(&mut self, offset: [f32; 3]) -> Result<()> {
        let pass = match self.shift.take() {
            Some(pass) => pass,
            None => ShiftPass::new(&self.store, || shift_stage(&self.store))?,
        };
        let pass = self.shift.insert(pass);
        self.controls.shift_origin(offset)?;
        self.user_settings.fields = self.controls.settings.fields;
        let state = [&self.buffers.params, &self.buffers.positions, &self.buffers.residuals];
        let count = self.controls.scene.particle_count() as u32;
        pass.submit(&self.device, &self.queue, offset, state, count);
        self.shift_skinned();
        self.upload_shifted();
        self.derived_is_stale = true;
        Ok(())
    }
}

impl Solver {
    /// Shifts the skinned poses by the offset of the last shift.
    fn shift_skinned(&self) {
        let count = self.controls.scene.skinned.rows.len() as u32;
        if let Some(pass) = self.shift.as_ref().filter(|_| count > 0) {
            let stage = shift_skinned_stage(&self.store);
            let (offset, own) = (&pass.offset, &self.buffers.skinned);
            let bindings = stage.bind(&self.device, &[offset, &own.poses, &own.states]);
            let mut encoder = self.device.create_command_encoder(&Default::default());
            Recorder::new(&mut encoder, None).dispatch(&stage, &bindings, &[], count);
            self.queue.submit([encoder.finish()]);
        }
    }
}

impl Instances {
    /// Moves all instances by `offset` \[m\], as [`Solver::shift_origin`] does: particles, placements, targets,
    /// colliders, fields and the air field. Placements of instances that are spawned later refer to the shifted origin.
    ///
    /// # Errors
    /// The offset must be finite and each component at most 1e6 m in magnitude; placements, colliders and fields
    /// must be within 1e6 m of the origin afterwards. An error changes nothing.
    pub fn shift_origin(&mut self, offset: [f32; 3]) -> Result<()> {
        self.commit_collider_targets();
        let pass = match self.shift.take() {
            Some(pass) => pass,
            None => ShiftPass::new(&self.store, || instances_shift_stage(&self.store, &self.pool))?,
        };
        let pass = self.shift.insert(pass);
        self.pool.shift_origin(offset)?;
        let state = [&self.buffers.params, &self.buffers.positions, &self.buffers.motions];
        let count = self.pool.particle_count() as u32 * self.pool.capacity;
        pass.submit(&self.device, &self.queue, offset, state, count);
        self.upload_settings();
        self.write_colliders();
        let first = self.pool.places.slots;
        self.write_words(first..self.pool.words.len());
        Ok(())
    }
}
