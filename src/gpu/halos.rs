//! What plays whole substeps core by core on the GPU (`src/halos/mod.rs`): its buffers, its pass, and when it can.

use super::buffers::{Buffers, Maker};
use super::pipelines::Slot::{Read, Span, Uniform, Write};
use super::pipelines::{RECORD, SIZE, SPAN_STRIDE, Slot, Stage};
use super::unroll::unrolled;
use super::whole::{Part, sweep};
use crate::controls::Controls;
use crate::error::Result;
use crate::halos::{BANKS, Halos, PIN_BITS, PLACE_BITS, Room};
use crate::kinds::KINDS;
use wgpu::BufferUsages;

/// What a dispatch does before it solves constraints: `Schedule` in `shaders/halos.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct ScheduleRow {
    pub advances: u32,
    pub tethers: u32,
    pub padding: [u32; 2],
}

/// Of the first substep; of others, without tethers and with them.
const SCHEDULES: [ScheduleRow; 3] = [
    ScheduleRow { advances: 0, tethers: 0, padding: [0; 2] },
    ScheduleRow { advances: 1, tethers: 0, padding: [0; 2] },
    ScheduleRow { advances: 1, tethers: 1, padding: [0; 2] },
];

/// Schedule, params; old positions, displacements, residuals; new ones; batches, records, materials, runs, tethers.
const SLOTS: [Slot; 13] = [Span, Uniform, Read, Read, Read, Write, Write, Write, Read, Read, Read, Read, Read];

/// The most threads of a workgroup.
const MOST_LANES: u32 = 1024;

/// The most workgroup memory that is used: what the GPUs of most vendors have at least.
const MOST_MEMORY: u32 = 48 << 10;

/// About how many workgroups of so many threads a graphics card plays at once, one on each multiprocessor of a large one, and what shares a chip with the CPU.
/// (wgpu does not tell how many multiprocessors there are.)
const AT_ONCE_ON_CARD: usize = 128;
const AT_ONCE_ON_CHIP: usize = 8;

#[derive(Debug)]
pub(super) struct HaloPass {
    pub stage: Stage,
    /// From the buffers of the solver to the others, and back.
    pub bindings: [wgpu::BindGroup; 2],
    pub batch_count: u32,
    own: Own,
}

/// Its own buffers.
#[derive(Debug)]
struct Own {
    schedule: wgpu::Buffer,
    batches: wgpu::Buffer,
    records: wgpu::Buffer,
    /// Where every other substep leaves positions, displacements and residuals.
    others: [wgpu::Buffer; 3],
}

/// What a workgroup of a device has room for; `None` where that is too little.
pub(super) fn room(limits: &wgpu::Limits, at_once: usize) -> Option<Room> {
    let storage_buffers = SLOTS.iter().filter(|slot| matches!(slot, Read | Write)).count() as u32;
    let memory = limits.max_compute_workgroup_storage_size.min(MOST_MEMORY);
    let lanes = MOST_LANES.min(limits.max_compute_invocations_per_workgroup).min(limits.max_compute_workgroup_size_x);
    let room = Room::new(memory as usize, lanes as usize, at_once);
    room.filter(|_| limits.max_storage_buffers_per_shader_stage >= storage_buffers)
}

/// How many workgroups a device plays at once.
fn at_once(device: &wgpu::Device) -> usize {
    match device.adapter_info().device_type {
        wgpu::DeviceType::DiscreteGpu | wgpu::DeviceType::VirtualGpu => AT_ONCE_ON_CARD,
        wgpu::DeviceType::Cpu => 1,
        _ => AT_ONCE_ON_CHIP,
    }
}

impl HaloPass {
    /// `None` where the scene or the device is not for it.
    pub fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        controls: &Controls,
        buffers: &Buffers,
    ) -> Result<Option<Self>> {
        let Some(room) = room(&device.limits(), at_once(device)) else { return Ok(None) };
        let Some(halos) = Halos::new(&controls.cooked.kinds, &controls.scene, room) else { return Ok(None) };
        let maker = Maker::new(device);
        let (storage, count) = (BufferUsages::STORAGE, controls.scene.particle_count() as u64);
        let other = |label: &str| maker.empty(&format!("halos.{label}"), count * 16, storage);
        let others = [other("positions")?, other("displacements")?, other("residuals")?];
        let own = Own {
            schedule: maker.rows(queue, "halos.schedule", &SCHEDULES)?,
            batches: maker.filled(queue, "halos.batches", &halos.words, storage)?,
            records: maker.filled(queue, "halos.records", &halos.records, storage)?,
            others,
        };
        let stage = stage(device, controls, &halos, room);
        let bindings = own.bind(device, &stage, buffers);
        Ok(Some(Self { stage, bindings, batch_count: halos.batch_count, own }))
    }

    /// Binds the solver's buffers anew.
    pub fn rebind(&mut self, device: &wgpu::Device, buffers: &Buffers) {
        self.bindings = self.own.bind(device, &self.stage, buffers);
    }

    /// Where a dispatch finds what it does first.
    pub fn offset(is_first: bool, tethers: bool) -> u32 {
        let row = if is_first { 0 } else { 1 + u32::from(tethers) };
        row * SPAN_STRIDE
    }

    /// Size of all its buffers [bytes].
    pub fn bytes(&self) -> u64 {
        let Own { schedule, batches, records, others } = &self.own;
        [schedule, batches, records].into_iter().chain(others).map(|buffer| buffer.size()).sum()
    }
}

impl Own {
    fn bind(&self, device: &wgpu::Device, stage: &Stage, buffers: &Buffers) -> [wgpu::BindGroup; 2] {
        let b = buffers;
        let here = [&b.positions, &b.displacements, &b.residuals];
        let there = self.others.each_ref();
        let rest = [&self.batches, &self.records, &b.materials, &b.tether_runs, &b.tethers];
        [[here, there], [there, here]].map(|[from, to]| {
            stage.bind_span(device, &self.schedule, &[[&b.params].as_slice(), &from, &to, &rest].concat())
        })
    }
}

fn stage(device: &wgpu::Device, controls: &Controls, halos: &Halos, room: Room) -> Stage {
    let rows = controls.cooked.tether_rows();
    let text = unrolled(&pass(halos, room.particles), &[("TETHER_ROWS", rows as usize)]);
    let constants = [("TETHER_ROWS", f64::from(rows)), (SIZE, halos.lanes as f64)];
    Stage::new(device, "halos", "halos", &text, &SLOTS, &constants)
}

/// The text of the pass, without the prelude.
pub(super) fn pass(halos: &Halos, most_particles: usize) -> String {
    let head = Halos::head(halos.kinds.len());
    let constants = format!(
        "const MOST_PARTICLES = {most_particles}u;\nconst HEAD = {head}u;\nconst PLACE_BITS = {PLACE_BITS}u;\n\
        const BANKS = {BANKS}u;\nconst PIN_BITS = {PIN_BITS}u;\n"
    );
    let part = |(rank, &kind): (usize, &usize)| {
        let (packed, first) = (halos.packed[rank], halos.first_places[rank]);
        let constants = format!("const PACKED = {packed};\nconst FIRST_PLACE = {first}u;\n");
        let text = [RECORD, include_str!("../../shaders/project/halos.wgsl"), &constants].join("\n");
        let head = Halos::head(rank) - Halos::head(0);
        Part { info: KINDS[kind], entry: "solve_rounds", suffix: "", head, text }
    };
    let parts: Vec<_> = halos.kinds.iter().enumerate().map(part).collect();
    include_str!("../../shaders/halos.wgsl").to_owned() + &constants + &sweep(&parts)
}
