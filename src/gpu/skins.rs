//! The passes that keep the momentum of skins, with their buffers; see `shaders/restore_momentum.wgsl`.

use super::buffers::{Buffers, Maker};
use super::pipelines::{Slot, Stage};
use crate::error::Result;
use crate::scene::Skins;
use Slot::{Read, Uniform, Write};
use wgpu::BufferUsages;

/// Params, positions, displacements; skins, members, saved displacements.
const SLOTS: [Slot; 6] = [Uniform, Read, Write, Read, Read, Write];

#[derive(Debug)]
pub(super) struct SkinPasses {
    pub save: Stage,
    pub restore: Stage,
    /// Of either pass.
    pub bindings: [wgpu::BindGroup; 2],
    own: [wgpu::Buffer; 3],
}

impl SkinPasses {
    /// `None` if there are no skins.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, skins: &Skins, buffers: &Buffers) -> Result<Option<Self>> {
        if skins.rows.is_empty() {
            return Ok(None);
        }
        let (maker, storage) = (Maker::new(device), BufferUsages::STORAGE);
        let own = [
            maker.filled(queue, "skins.rows", &skins.rows, storage)?,
            maker.filled(queue, "skins.members", &skins.members, storage)?,
            maker.empty("skins.saved_displacements", skins.members.len() as u64 * 16, storage)?,
        ];
        let text = concat!(
            include_str!("../../shaders/restore_momentum.wgsl"),
            include_str!("../../shaders/shared/rigid_motion.wgsl")
        );
        let [save, restore] =
            ["save_displacements", "restore_momentum"].map(|entry| Stage::new(device, entry, entry, text, &SLOTS, &[]));
        let bindings = bind(device, [&save, &restore], &own, buffers);
        Ok(Some(Self { save, restore, bindings, own }))
    }

    /// Binds the solver's buffers anew.
    pub fn rebind(&mut self, device: &wgpu::Device, buffers: &Buffers) {
        self.bindings = bind(device, [&self.save, &self.restore], &self.own, buffers);
    }

    /// Size of all its buffers [bytes].
    pub fn bytes(&self) -> u64 {
        self.own.iter().map(wgpu::Buffer::size).sum()
    }
}

fn bind(
    device: &wgpu::Device,
    stages: [&Stage; 2],
    own: &[wgpu::Buffer; 3],
    buffers: &Buffers,
) -> [wgpu::BindGroup; 2] {
    let [rows, members, saved] = own;
    let all = [&buffers.params, &buffers.positions, &buffers.displacements, rows, members, saved];
    stages.map(|stage| stage.bind(device, &all))
}
