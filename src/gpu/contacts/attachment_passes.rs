//! The passes of attachments, created if a scene has or reserves attachments.

use super::{Binder, Bound, Size};
use crate::collision::ColliderRow;
use crate::error::Result;
use crate::gpu::buffers::Buffers;
use crate::gpu::maker::Maker;
use crate::gpu::stage::Slot::{Read, Uniform, Write};
use crate::schedule::plan::Pass;
use crate::sim::controls::Controls;
use wgpu::BufferUsages;

/// The passes of attachments.
#[derive(Debug)]
pub(super) struct AttachmentPasses {
    /// `[0]`: for later iterations; `[1]`: for the first of a substep.
    solve: [Bound; 2],
    add_forces: Bound,
    finish: Bound,
    /// The colliders and their forces that the passes bind.
    colliders: [wgpu::Buffer; 2],
    /// Size of its own buffers [bytes].
    pub bytes: u64,
}

const ROWS: &str = include_str!("../../../shaders/schedule/attachments/rows.wgsl");

impl AttachmentPasses {
    /// `None` if a scene neither has nor reserves attachments.
    pub fn new(
        binder: &Binder<'_>,
        queue: &wgpu::Queue,
        controls: &Controls,
        shared: &Buffers,
    ) -> Result<Option<Self>> {
        if controls.attachments.capacity == 0 {
            return Ok(None);
        }
        let maker = Maker::new(binder.store.device());
        let first_iteration = maker.flags(queue, "first_iteration")?;
        // Bound while the scene has no colliders.
        let placeholder = |bytes| maker.empty("no_colliders", bytes, BufferUsages::STORAGE);
        let colliders = [placeholder(size_of::<ColliderRow>() as u64)?, placeholder(32)?];
        let [rows, order, states] = &shared.attachments;
        let params = (Uniform, &shared.params);
        let text = |own: &str| [own, ROWS].join("\n");
        let solve = |flag: &wgpu::Buffer| {
            let text = text(include_str!("../../../shaders/schedule/attachments/solve_attachments.wgsl"));
            let bindings = [
                params,
                (Read, &shared.positions),
                (Write, &shared.displacements),
                (Read, rows),
                (Read, order),
                (Write, states),
                (Read, &colliders[0]),
                (Uniform, flag),
            ];
            binder.bind("solve_attachments", &text, &bindings)
        };
        Ok(Some(Self {
            solve: first_iteration.each_ref().map(solve),
            add_forces: binder.bind(
                "add_attachment_forces",
                &text(include_str!("../../../shaders/schedule/attachments/add_attachment_forces.wgsl")),
                &[params, (Read, rows), (Read, order), (Read, states), (Write, &colliders[1])],
            ),
            finish: binder.bind(
                "finish_attachments",
                &text(include_str!("../../../shaders/schedule/attachments/finish_attachments.wgsl")),
                &[params, (Read, rows), (Write, states)],
            ),
            colliders,
            bytes: maker.made_bytes(),
        }))
    }

    /// Binds other colliders and their forces.
    pub fn rebind(&mut self, device: &wgpu::Device, colliders: [&wgpu::Buffer; 2]) {
        let replaced = [(&self.colliders[0], colliders[0]), (&self.colliders[1], colliders[1])];
        for bound in self.solve.iter_mut().chain([&mut self.add_forces]) {
            bound.replace(device, &replaced);
        }
        self.colliders = colliders.map(wgpu::Buffer::clone);
    }

    /// The pass and the size of its dispatch.
    pub fn dispatch(&self, pass: Pass, controls: &Controls) -> Option<(&Bound, Size<'_>)> {
        match pass {
            Pass::SolveAttachments { first_iteration } => {
                Some((&self.solve[usize::from(first_iteration)], Size::Workgroups(1)))
            }
            Pass::AddAttachmentForces => Some((&self.add_forces, Size::Threads(controls.colliders.len() as u32))),
            Pass::FinishAttachments => Some((&self.finish, Size::Threads(controls.attachments.capacity))),
            _ => None,
        }
    }
}
