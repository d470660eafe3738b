//! Shifts of the origin on the GPU.

use super::guarded;
use super::instances::Instances;
use super::maker::Maker;
use super::recorder::Recorder;
use super::solver::Solver;
use super::stage::Slot::{Uniform, Write};
use super::stage::{Slot, Stage};
use crate::error::Result;
use wgpu::BufferUsages;

/// Params, offset, positions, residuals.
const SLOTS: [Slot; 4] = [Uniform, Uniform, Write, Write];

/// The pass, made with the first shift.
#[derive(Debug)]
pub(super) struct ShiftPass {
    stage: Stage,
    offset: wgpu::Buffer,
}

impl ShiftPass {
    fn new(device: &wgpu::Device, name: &str, text: &str) -> Result<Self> {
        guarded(device, || {
            let offset = Maker::new(device).empty("shift.offset", 16, BufferUsages::UNIFORM)?;
            Ok(Self { stage: Stage::new(device, name, name, text, &SLOTS, &[]), offset })
        })
    }

    /// Submits the pass: it runs after all work that was submitted before.
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

impl Solver {
    /// Moves everything by `offset` \[m\], so that a scene that has travelled far can go on near the origin: particles, targets, colliders (where they
    /// are and where they are to be), fields, the air (its gusts and turbulence stay with the particles), and the start that [`Solver::reset`]
    /// restores. Velocities, λ, contacts and the clock stay. The call submits one small compute pass; like all changes it acts after what
    /// was submitted before, so submit what is recorded first.
    ///
    /// The sum x + `offset` is rounded to `f32`; its rounding error is kept in the residual of the position. If all coordinates and their sums with
    /// `offset` stay between the same two powers of two (such as 1024 m and 2048 m), and `offset` is a multiple of 2⁻²² of the lower one, the
    /// simulation continues bit for bit, moved by `offset`. Otherwise it continues to rounding. With self-collision the next substep searches
    /// all pairs anew.
    ///
    /// # Errors
    /// The offset must be finite and at most 1e6 m either way; fields and colliders must be within 1e6 m of the origin afterwards. An error
    /// changes nothing.
    pub fn shift_origin(&mut self, offset: [f32; 3]) -> Result<()> {
        let pass = match self.shift.take() {
            Some(pass) => pass,
            None => ShiftPass::new(&self.device, "shift", include_str!("../../shaders/integrate/shift.wgsl"))?,
        };
        let pass = self.shift.insert(pass);
        self.controls.shift_origin(offset)?;
        self.asked.fields = self.controls.settings.fields;
        let state = [&self.buffers.params, &self.buffers.positions, &self.buffers.residuals];
        let count = self.controls.scene.particle_count() as u32;
        pass.submit(&self.device, &self.queue, offset, state, count);
        self.upload_shifted();
        Ok(())
    }
}

impl Instances {
    /// Moves everything by `offset` \[m\], as [`Solver::shift_origin`] does: particles, placements, targets, fields and the air. Instances that are
    /// spawned later stand where their placement says, in the shifted world.
    ///
    /// # Errors
    /// The offset must be finite and at most 1e6 m either way; placements and fields must be within 1e6 m of the origin afterwards. An
    /// error changes nothing.
    pub fn shift_origin(&mut self, offset: [f32; 3]) -> Result<()> {
        let pass = match self.shift.take() {
            Some(pass) => pass,
            None => ShiftPass::new(&self.device, "instances_shift", &super::instance_pool::shift_pass(&self.pool))?,
        };
        let pass = self.shift.insert(pass);
        self.pool.shift_origin(offset)?;
        let state = [&self.buffers.params, &self.buffers.positions, &self.buffers.motions];
        let count = self.pool.particle_count() as u32 * self.pool.capacity;
        pass.submit(&self.device, &self.queue, offset, state, count);
        self.upload_settings();
        let first = self.pool.places.slots;
        self.write_words(first..self.pool.words.len());
        Ok(())
    }
}
