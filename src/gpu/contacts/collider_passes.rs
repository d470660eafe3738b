//! Colliders: their buffers, and the passes that move them and resolve penetration.

use super::{Binder, Bound, Contacts, Size, common_material};
use crate::collision::{ColliderRow, Colliders};
use crate::error::Result;
use crate::gpu::buffers::Buffers;
use crate::gpu::maker::Maker;
use crate::gpu::stage::Slot::{Read, Uniform, Write};
use crate::schedule::plan::Pass;
use crate::sim::controls::Controls;
use std::hash::{DefaultHasher, Hash, Hasher};
use wgpu::BufferUsages;

/// The most colliders for which the shader is generated with one branch per collider.
const MOST_WRITTEN_OUT: usize = 4;

/// Size of `ColliderContact` in `shaders/common/contacts.wgsl`, one per particle if contacts with colliders are recorded.
pub(in crate::gpu) const COLLIDER_CONTACT_BYTES: u64 = 96;

/// The passes of colliders.
#[derive(Debug)]
pub(in crate::gpu) struct ColliderPasses {
    pub colliders: wgpu::Buffer,
    /// The [`fingerprint`] of the shapes in the buffers.
    shapes: u64,
    pub forces: wgpu::Buffer,
    /// Size of all its buffers [bytes].
    pub bytes: u64,
    carry: Bound,
    /// The pass alone, and with the end of the substep.
    collide: [Bound; 2],
    forget_touches: Bound,
    bounce: Bound,
    arrive: Bound,
    collider_forces: Bound,
}

impl ColliderPasses {
    /// An error if a buffer exceeds the limits.
    pub fn new(
        contacts: &Contacts,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        controls: &Controls,
        shared: &Buffers,
    ) -> Result<Self> {
        let maker = Maker::new(device);
        let storage = BufferUsages::STORAGE;
        let (count, own) = (controls.scene.particle_count() as u64, &controls.colliders);
        let usage = storage | BufferUsages::UNIFORM;
        let colliders = maker.empty("colliders", (own.len() * size_of::<ColliderRow>()) as u64, usage)?;
        queue.write_buffer(&colliders, 0, bytemuck::cast_slice(&own.rows));
        let data = maker.filled(queue, "collider_data", &own.data, storage)?;
        let forces = maker.empty("collider_forces", own.len() as u64 * 32, storage)?;
        let settings = &controls.settings;
        let (on_way, restitutes, notes) =
            (settings.keeps_surfaces_apart(), controls.restitutes(), settings.collider_forces);
        let are_touches_kept =
            [Pass::ApplyRestitution, Pass::ClearColliderContacts].iter().any(|pass| controls.plan.contains(pass));
        let touched = if are_touches_kept { count } else { 1 };
        let touches = maker.empty("touches", touched * COLLIDER_CONTACT_BYTES, storage)?;
        let binder = Binder { device };
        let (params, parameters) = ((Uniform, &shared.params), (Uniform, &contacts.params));
        let few = own.len() <= MOST_WRITTEN_OUT;
        let all = if few {
            few_colliders(own.len())
        } else {
            include_str!("../../../shaders/collision/collide/many.wgsl").to_owned()
        };
        let text = [
            include_str!("../../../shaders/collision/collide.wgsl"),
            &all,
            include_str!("../../../shaders/collision/collide/field.wgsl"),
            include_str!("../../../shaders/collision/collide/heightfield.wgsl"),
            include_str!("../../../shaders/collision/collide/hull.wgsl"),
            include_str!("../../../shaders/collision/collide/shapes.wgsl"),
            include_str!("../../../shaders/collision/collide/exits.wgsl"),
        ];
        let present = own.rows.iter().fold(0u32, |sum, row| sum | 1 << row.shape);
        let collide = |advances: bool| {
            binder.bind_with(
                "collide",
                &text.join("\n"),
                &[
                    params,
                    parameters,
                    (Write, &shared.positions),
                    (Write, &shared.displacements),
                    (Write, &shared.residuals),
                    (if few { Uniform } else { Read }, &colliders),
                    (Read, &data),
                    (Read, &contacts.particles),
                    (Write, &touches),
                    (Write, &shared.status),
                ],
                &[
                    ("SHAPES", f64::from(present)),
                    ("RECOVERS_ON_WAY", f64::from(u8::from(on_way))),
                    ("SEVERAL", f64::from(u8::from(own.len() > 1))),
                    ("RESTITUTES", f64::from(u8::from(restitutes))),
                    ("NOTES_IMPULSES", f64::from(u8::from(notes))),
                    ("ADVANCES", f64::from(u8::from(advances))),
                    ("MATERIAL", common_material(controls)),
                ],
            )
        };
        Ok(Self {
            carry: binder.bind(
                "interpolate_colliders",
                include_str!("../../../shaders/collision/interpolate_colliders.wgsl"),
                &[params, parameters, (Write, &colliders)],
            ),
            collide: [false, true].map(collide),
            forget_touches: binder.bind(
                "clear_collider_contacts",
                include_str!("../../../shaders/collision/clear_collider_contacts.wgsl"),
                &[params, (Write, &touches)],
            ),
            bounce: binder.bind(
                "apply_restitution",
                include_str!("../../../shaders/collision/apply_restitution.wgsl"),
                &[params, (Write, &touches), (Write, &shared.displacements)],
            ),
            arrive: binder.bind(
                "commit_colliders",
                include_str!("../../../shaders/collision/commit_colliders.wgsl"),
                &[parameters, (Write, &colliders)],
            ),
            collider_forces: binder.bind(
                "collider_forces",
                include_str!("../../../shaders/collision/collider_forces.wgsl"),
                &[params, parameters, (Read, &touches), (Write, &forces)],
            ),
            colliders,
            shapes: fingerprint(own),
            forces,
            bytes: maker.made_bytes(),
        })
    }

    /// True if the shapes of the colliders differ from those in the buffer and the pass.
    pub fn holds_other_data(&self, controls: &Controls) -> bool {
        self.shapes != fingerprint(&controls.colliders)
    }

    /// The pass and the size of its dispatch.
    pub fn dispatch(&self, pass: Pass, controls: &Controls) -> Option<(&Bound, Size<'_>)> {
        let particles = Size::Threads(controls.scene.particle_count() as u32);
        let colliders = controls.colliders.len() as u32;
        match pass {
            Pass::ClearColliderContacts => Some((&self.forget_touches, particles)),
            Pass::InterpolateColliders => Some((&self.carry, Size::Threads(colliders))),
            Pass::Collide => Some((&self.collide[0], particles)),
            Pass::CollideAndPredict => Some((&self.collide[1], particles)),
            Pass::ApplyRestitution => Some((&self.bounce, particles)),
            Pass::CommitColliders => Some((&self.arrive, Size::Threads(colliders))),
            Pass::ColliderForces => Some((&self.collider_forces, Size::Groups(colliders))),
            _ => None,
        }
    }
}

/// The generated part of the shader for a number of colliders.
fn few_colliders(count: usize) -> String {
    // The first of several near colliders.
    let near = |from: usize| -> String {
        let one = |index| format!("    if is_near({index}u, particle) {{ next = {index}u; }}\n");
        let after = |index| format!("    if before < {index}u && is_near({index}u, particle) {{ next = {index}u; }}\n");
        (from..count).rev().map(|index| if from == 0 { one(index) } else { after(index) }).collect()
    };
    let others = (1..count).map(|index| format!("    if index == {index}u {{ c = colliders[{index}]; }}\n"));
    let others: String = others.collect();
    let text = include_str!("../../../shaders/collision/collide/few.wgsl");
    format!(
        "{text}
const FEW = {count}u;
fn first_near(particle: Moving) -> u32 {{
    var next = NONE;
{}    return next;
}}
fn next_near(before: u32, particle: Moving) -> u32 {{
    var next = NONE;
{}    return next;
}}
fn collider_at(index: u32) -> Collider {{
    var c = colliders[0];
{others}    return c;
}}
",
        near(0),
        near(1)
    )
}

/// A hash of the shapes and their data.
fn fingerprint(colliders: &Colliders) -> u64 {
    let mut hasher = DefaultHasher::new();
    colliders.rows.iter().for_each(|row| (row.shape, row.data).hash(&mut hasher));
    bytemuck::cast_slice::<f32, u8>(&colliders.data).hash(&mut hasher);
    hasher.finish()
}
