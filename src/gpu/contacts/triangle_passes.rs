//! The passes of contacts of triangles with colliders, and their buffers.

use super::collider_passes::{colliders_text, several, shapes_in_use};
use super::{Binder, Binding, Bound, CONTACT_SIDES, Contacts, Size, scaled};
use crate::error::Result;
use crate::gpu::buffers::Buffers;
use crate::gpu::maker::Maker;
use crate::gpu::stage::Slot::{Read, Uniform, Write};
use crate::gpu::stage::flag;
use crate::schedule::plan::Pass;
use crate::settings::Settings;
use crate::sim::controls::Controls;
use wgpu::BufferUsages;

/// Size of `TriangleContact` in `shaders/common/contacts.wgsl`.
pub(in crate::gpu) const TRIANGLE_CONTACT_BYTES: u64 = 64;

/// The passes of contacts of triangles with colliders.
#[derive(Debug)]
pub(super) struct TrianglePasses {
    find: Bound,
    apply: Bound,
    triangle_count: u32,
}

impl TrianglePasses {
    /// `colliders` are the colliders, their data, and the collider contacts of particles.
    pub fn new(
        maker: &Maker<'_>,
        (binder, queue): (&Binder<'_>, &wgpu::Queue),
        controls: &Controls,
        (contacts, shared): (&Contacts, &Buffers),
        [colliders, data, collider_contacts]: [&wgpu::Buffer; 3],
    ) -> Result<Self> {
        let storage = BufferUsages::STORAGE;
        let elements = &controls.compiled.contact_elements;
        let (offsets, corners) = elements.corners();
        let rows = elements.triangles();
        let triangle_count = rows.len();
        let triangles = maker.filled(queue, "contact_triangles", &rows, storage)?;
        let offsets = maker.filled(queue, "corner_offsets", &offsets, storage)?;
        let corners = maker.filled(queue, "triangle_corners", &corners, storage)?;
        let made = maker.empty("triangle_contacts", triangle_count as u64 * TRIANGLE_CONTACT_BYTES, storage)?;
        let params = (Uniform, &shared.params);
        let find = bind_find(
            binder,
            controls,
            &[
                params,
                (Uniform, &contacts.params),
                (Read, &shared.positions),
                (Read, &shared.displacements),
                (Read, &shared.residuals),
                (Read, colliders),
                (Read, data),
                (Read, &contacts.particles),
                (Read, &triangles),
                (Write, &made),
            ],
        );
        let apply = bind_apply(
            binder,
            &controls.settings,
            &[
                params,
                (Write, &shared.positions),
                (Write, &shared.displacements),
                (Read, &offsets),
                (Read, &corners),
                (Read, &made),
                (Write, collider_contacts),
                (Write, &shared.status),
                (Read, &shared.residuals),
            ],
        );
        Ok(Self { find, apply, triangle_count: triangle_count as u32 })
    }

    /// The pass and the size of its dispatch; `particles` is that of a pass over all particles.
    pub fn dispatch<'a>(&'a self, pass: Pass, particles: Size<'a>) -> Option<(&'a Bound, Size<'a>)> {
        match pass {
            Pass::CollideTriangles => Some((&self.find, Size::Threads(self.triangle_count))),
            Pass::ApplyTriangleContacts => Some((&self.apply, particles)),
            _ => None,
        }
    }
}

fn bind_find(binder: &Binder<'_>, controls: &Controls, bindings: &[Binding<'_>]) -> Bound {
    let text = [
        include_str!("../../../shaders/collision/collide_triangles.wgsl"),
        include_str!("../../../shaders/collision/collide/triangle.wgsl"),
        CONTACT_SIDES,
        &colliders_text(),
    ];
    let constants = [("SHAPES", shapes_in_use(controls)), ("SEVERAL", several(controls)), ("SCALED", scaled(controls))];
    binder.bind_with("collide_triangles", &text.join("\n"), bindings, &constants)
}

fn bind_apply(binder: &Binder<'_>, settings: &Settings, bindings: &[Binding<'_>]) -> Bound {
    let text = [
        include_str!("../../../shaders/collision/apply_triangle_contacts.wgsl"),
        include_str!("../../../shaders/collision/collide/impulses.wgsl"),
    ];
    let constants = [
        ("NOTES_IMPULSES", flag(settings.keeps_collider_impulses())),
        ("RECOVERS_BY_DISPLACEMENT", flag(settings.keeps_surfaces_apart())),
    ];
    binder.bind_with("apply_triangle_contacts", &text.join("\n"), bindings, &constants)
}
