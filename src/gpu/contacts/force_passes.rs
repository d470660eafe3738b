//! The passes that sum the forces on colliders: `shaders/collision/collider_forces.wgsl`.

use super::{Binder, Binding, Bound, Size};
use crate::error::Result;
use crate::gpu::maker::Maker;
use crate::gpu::stage::Slot::{Read, Write};
use crate::sim::controls::Controls;
use wgpu::BufferUsages;

/// The number of particles for which a word of `collider_masks` says which colliders they touch.
const MASK_BLOCK: u32 = 512;

#[derive(Debug)]
pub(super) struct ForcePasses {
    mark: Bound,
    sum: Bound,
}

impl ForcePasses {
    pub fn new(
        maker: &Maker<'_>,
        binder: &Binder<'_>,
        controls: &Controls,
        params: Binding<'_>,
        [collider_contacts, forces]: [&wgpu::Buffer; 2],
    ) -> Result<Self> {
        let masks = maker.empty("collider_masks", u64::from(block_count(controls)) * 4, BufferUsages::STORAGE)?;
        let bindings = [params, (Read, collider_contacts), (Write, &masks), (Write, forces)];
        let text = include_str!("../../../shaders/collision/collider_forces.wgsl");
        let [mark, sum] =
            ["mark_touched_colliders", "collider_forces"].map(|entry| binder.bind(entry, text, &bindings));
        Ok(Self { mark, sum })
    }

    /// The pass that writes the masks, and the size of its dispatch.
    pub fn mark(&self, controls: &Controls) -> (&Bound, Size<'_>) {
        (&self.mark, Size::Workgroups(block_count(controls)))
    }

    /// The pass that writes the forces, and the size of its dispatch.
    pub fn sum(&self, controls: &Controls) -> (&Bound, Size<'_>) {
        (&self.sum, Size::Workgroups(controls.colliders.len() as u32))
    }
}

fn block_count(controls: &Controls) -> u32 {
    (controls.scene.particle_count() as u32).div_ceil(MASK_BLOCK)
}
