//! Colliders: their buffers, and the passes that move them and resolve penetration.

use super::event_passes;
use super::force_passes::ForcePasses;
use super::triangle_passes::TrianglePasses;
use super::{Binder, Binding, Bound, CONTACT_SIDES, Contacts, Size, scaled};
use crate::collision::{ColliderRow, Colliders, slabs};
use crate::error::Result;
use crate::gpu::buffers::Buffers;
use crate::gpu::maker::Maker;
use crate::gpu::stage::Slot::{Read, Uniform, Write};
use crate::gpu::stage::{Stage, flag};
use crate::gpu::store::PipelineStore;
use crate::schedule::plan::Pass;
use crate::sim::controls::Controls;
use std::hash::{DefaultHasher, Hash, Hasher};
use wgpu::BufferUsages;

/// Size of `ColliderContact` in `shaders/common/contacts.wgsl`, one per particle if passes store them.
pub(in crate::gpu) const COLLIDER_CONTACT_BYTES: u64 = 112;

/// WGSL of the response of a particle to colliders, shared by the pass of a scene and by instances.
pub(in crate::gpu) const RESPONSE: &str = concat!(
    include_str!("../../../shaders/collision/collide/response.wgsl"),
    include_str!("../../../shaders/collision/collide/friction.wgsl"),
    include_str!("../../../shaders/collision/collide/exits.wgsl")
);

/// WGSL of the signed distances of the shapes, and of their bounds.
pub(in crate::gpu) const SHAPES: &str = concat!(
    include_str!("../../../shaders/collision/collide/near.wgsl"),
    include_str!("../../../shaders/collision/collide/field.wgsl"),
    include_str!("../../../shaders/collision/collide/heightfield.wgsl"),
    include_str!("../../../shaders/collision/collide/hull.wgsl"),
    include_str!("../../../shaders/collision/collide/shapes.wgsl")
);

/// WGSL of the poses of a collider in a step.
pub(in crate::gpu) const POSES: &str = include_str!("../../../shaders/collision/collider_poses.wgsl");

/// WGSL of the slabs of colliders.
const SLABS_TEXT: &str = include_str!("../../../shaders/collision/collide/slabs.wgsl");

const MARK_SLABS: &str = include_str!("../../../shaders/collision/mark_slabs.wgsl");
const INTERPOLATE: &str = include_str!("../../../shaders/collision/interpolate_colliders.wgsl");
const COMMIT: &str = include_str!("../../../shaders/collision/commit_colliders.wgsl");
const CLEAR: &str = include_str!("../../../shaders/collision/clear_collider_contacts.wgsl");
const RESTITUTION: &str = concat!(
    include_str!("../../../shaders/collision/apply_restitution.wgsl"),
    include_str!("../../../shaders/collision/collide/impulses.wgsl")
);

/// The passes of colliders.
#[derive(Debug)]
pub(in crate::gpu) struct ColliderPasses {
    pub colliders: wgpu::Buffer,
    /// The [`fingerprint`] of the shapes in the buffers.
    shapes: u64,
    pub forces: wgpu::Buffer,
    collider_contacts: wgpu::Buffer,
    /// Size of all its buffers [bytes].
    pub bytes: u64,
    mark_slabs: Bound,
    interpolate: Bound,
    /// All but the first in a substep, and the first.
    collide: [Bound; 2],
    /// The first, with the end of the substep; `None` with contacts between particles.
    collide_and_predict: Option<Bound>,
    clear_contacts: Option<Bound>,
    /// Without and with the prediction of the next substep.
    apply_restitution: Option<[Bound; 2]>,
    commit: Bound,
    collider_forces: Option<ForcePasses>,
    triangles: Option<TrianglePasses>,
    note: Option<Bound>,
}

impl ColliderPasses {
    /// An error if a buffer exceeds the limits.
    pub fn new(
        contacts: &Contacts,
        store: &PipelineStore,
        queue: &wgpu::Queue,
        controls: &Controls,
        shared: &Buffers,
    ) -> Result<Self> {
        let maker = Maker::new(store.device());
        let storage = BufferUsages::STORAGE;
        let own = &controls.colliders;
        let colliders = maker.empty("colliders", (own.len() * size_of::<ColliderRow>()) as u64, storage)?;
        queue.write_buffer(&colliders, 0, bytemuck::cast_slice(&own.rows));
        let data = maker.filled(queue, "collider_data", &data_words(controls), storage)?;
        let forces = maker.empty("collider_forces", own.len() as u64 * 32, storage)?;
        let count = if stores_contacts(controls) { controls.scene.particle_count() as u64 } else { 1 };
        let collider_contacts = maker.empty("collider_contacts", count * COLLIDER_CONTACT_BYTES, storage)?;
        let is_first = maker.flags(queue, "is_first")?;
        let made = [&colliders, &data, &collider_contacts];
        let bound =
            |stage: &Stage, place: usize| bound(store.device(), stage, (contacts, shared), made, &is_first[place]);
        let collide = collide_stage(store, controls, false);
        // Settings that change while running decide whether a plan has it.
        let collide_and_predict =
            controls.settings.self_collision.is_none().then(|| bound(&collide_stage(store, controls, true), 1));
        let binder = Binder { store };
        let (params, parameters) = ((Uniform, &shared.params), (Uniform, &contacts.params));
        let move_colliders = |entry: &str, text: &str| {
            binder.bind(entry, &[text, POSES].join("\n"), &[params, parameters, (Write, &colliders)])
        };
        // A plan that needs them after a change makes the passes again.
        let runs = |pass: Pass| controls.plan.contains(&pass);
        let bind_if = |pass: Pass, entry: &str, text: &str, bindings: &[Binding<'_>]| {
            runs(pass).then(|| binder.bind(entry, text, bindings))
        };
        let marks_slabs = [params, parameters, (Read, &colliders), (Write, &data)];
        let mark_slabs = binder.bind("mark_slabs", &[MARK_SLABS, SLABS_TEXT].join("\n"), &marks_slabs);
        let triangle_passes = || TrianglePasses::new(&maker, (&binder, queue), controls, (contacts, shared), made);
        let triangles = runs(Pass::CollideTriangles).then(triangle_passes).transpose()?;
        let cleared = [params, (Write, &collider_contacts)];
        let motion = [&shared.positions, &shared.displacements, &shared.residuals, &collider_contacts];
        let [positions, displacements, residuals, rebounds] = motion.map(|buffer| (Write, buffer));
        let restitution = || {
            [false, true].map(|predicts| {
                let state = [params, positions, displacements, residuals, rebounds];
                let bindings = [&state[..], &[(Read, &colliders), (Write, &shared.status)]].concat();
                let notes = flag(controls.settings.keeps_collider_impulses());
                let constants = [("PREDICTS", flag(predicts)), ("NOTES_IMPULSES", notes)];
                binder.bind_with("apply_restitution", RESTITUTION, &bindings, &constants)
            })
        };
        let summing = || ForcePasses::new(&maker, &binder, controls, params, [&collider_contacts, &forces]);
        let collider_forces = runs(Pass::ColliderForces).then(summing).transpose()?;
        Ok(Self {
            mark_slabs,
            interpolate: move_colliders("interpolate_colliders", INTERPOLATE),
            collide: [0, 1].map(|place| bound(&collide, place)),
            collide_and_predict,
            clear_contacts: bind_if(Pass::ClearColliderContacts, "clear_collider_contacts", CLEAR, &cleared),
            apply_restitution: runs(Pass::ApplyRestitution { predicts: false }).then(restitution),
            commit: move_colliders("commit_colliders", COMMIT),
            collider_forces,
            triangles,
            note: event_passes::note_colliders(&binder, controls, shared, &collider_contacts),
            colliders,
            shapes: fingerprint(own),
            forces,
            collider_contacts,
            bytes: maker.made_bytes(),
        })
    }

    /// True if the buffers and passes hold the shapes of the colliders, and all passes of the plan.
    pub fn fits(&self, controls: &Controls) -> bool {
        let has_passes = [
            (Pass::CollideTriangles, self.triangles.is_some()),
            (Pass::ClearColliderContacts, self.clear_contacts.is_some()),
            (Pass::ApplyRestitution { predicts: false }, self.apply_restitution.is_some()),
            (Pass::ColliderForces, self.collider_forces.is_some()),
        ];
        let has_passes = has_passes.into_iter().all(|(pass, exists)| exists || !controls.plan.contains(&pass));
        has_passes && self.shapes == fingerprint(&controls.colliders)
    }

    /// The buffers with state that outlasts a step.
    pub fn state_buffers(&self, controls: &Controls) -> Vec<(&'static str, &wgpu::Buffer)> {
        let contacts = stores_contacts(controls).then_some(("collider_contacts", &self.collider_contacts));
        [("colliders", &self.colliders), ("collider_forces", &self.forces)].into_iter().chain(contacts).collect()
    }

    /// The pass and the size of its dispatch.
    pub fn dispatch(&self, pass: Pass, controls: &Controls) -> Option<(&Bound, Size<'_>)> {
        let particles = Size::Threads(controls.scene.particle_count() as u32);
        let colliders = controls.colliders.len() as u32;
        match pass {
            Pass::ClearColliderContacts => Some((self.clear_contacts.as_ref()?, particles)),
            Pass::MarkSlabs => Some((&self.mark_slabs, Size::Threads(slabs::word_count(colliders as usize) as u32))),
            Pass::InterpolateColliders => Some((&self.interpolate, Size::Threads(colliders))),
            Pass::Collide { is_first } => Some((&self.collide[usize::from(is_first)], particles)),
            Pass::CollideAndPredict => Some((self.collide_and_predict.as_ref()?, particles)),
            Pass::ApplyRestitution { predicts } => {
                Some((&self.apply_restitution.as_ref()?[usize::from(predicts)], particles))
            }
            Pass::CollideTriangles | Pass::ApplyTriangleContacts => self.triangles.as_ref()?.dispatch(pass, particles),
            Pass::CommitColliders => Some((&self.commit, Size::Threads(colliders))),
            Pass::NoteColliderContacts => Some((self.note.as_ref()?, particles)),
            Pass::MarkTouchedColliders => Some(self.collider_forces.as_ref()?.mark(controls)),
            Pass::ColliderForces => Some(self.collider_forces.as_ref()?.sum(controls)),
            _ => None,
        }
    }
}

/// True if passes store the contacts of particles with colliders.
fn stores_contacts(controls: &Controls) -> bool {
    let passes = [Pass::ApplyRestitution { predicts: false }, Pass::ClearColliderContacts];
    passes.iter().any(|pass| controls.plan.contains(pass)) || controls.settings.self_collision.is_some()
}

/// Binds the buffers of the pass over the particles; `made` are the colliders, their data and the contacts.
fn bound(
    device: &wgpu::Device,
    stage: &Stage,
    (contacts, shared): (&Contacts, &Buffers),
    [colliders, data, collider_contacts]: [&wgpu::Buffer; 3],
    is_first: &wgpu::Buffer,
) -> Bound {
    let buffers = [
        &shared.params,
        &contacts.params,
        &shared.positions,
        &shared.displacements,
        &shared.residuals,
        colliders,
        data,
        &contacts.particles,
        collider_contacts,
        &shared.status,
        is_first,
    ];
    Bound::new(device, stage.clone(), &buffers)
}

/// Slabs, which a pass fills, and the data of shapes.
fn data_words(controls: &Controls) -> Vec<u32> {
    let slabs = slabs::initial_words(&controls.colliders.rows, controls.contact_params().largest_thickness);
    slabs.into_iter().chain(controls.colliders.data.iter().map(|number| number.to_bits())).collect()
}

/// The pass over the particles. `advances` is true if it ends the substep.
fn collide_stage(store: &PipelineStore, controls: &Controls, advances: bool) -> Stage {
    let settings = &controls.settings;
    let text = [
        include_str!("../../../shaders/collision/collide.wgsl"),
        include_str!("../../../shaders/collision/collide/impulses.wgsl"),
        RESPONSE,
        CONTACT_SIDES,
        &colliders_text(),
    ];
    let slots = [Uniform, Uniform, Write, Write, Write, Read, Read, Read, Write, Write, Uniform];
    let pass = [
        ("RECOVERS_BY_DISPLACEMENT", flag(settings.keeps_surfaces_apart())),
        ("NOTES_IMPULSES", flag(settings.keeps_collider_impulses())),
        ("ADVANCES", flag(advances)),
        ("REPEATS", flag(settings.self_collision.is_some())),
    ];
    let constants = [pass.as_slice(), &response_constants(controls)].concat();
    Stage::new(store, "collide", "collide", &text.join("\n"), &slots, &constants)
}

/// WGSL of the colliders of a scene, the loops over them, and their shapes.
pub(super) fn colliders_text() -> String {
    let rows = include_str!("../../../shaders/collision/collide/rows.wgsl");
    let search = include_str!("../../../shaders/collision/collide/near_by_slabs.wgsl");
    [rows, search, SLABS_TEXT, SHAPES].join("\n")
}

/// The constant SHAPES: the mask of the shapes of all colliders.
pub(super) fn shapes_in_use(controls: &Controls) -> f64 {
    f64::from(controls.colliders.rows.iter().fold(0u32, |sum, row| sum | 1 << row.shape))
}

/// The constant SEVERAL: 1 with more than one collider.
pub(super) fn several(controls: &Controls) -> f64 {
    flag(controls.colliders.are_several())
}

/// Constants of [`RESPONSE`] and [`SHAPES`] for the present colliders and materials.
pub(in crate::gpu) fn response_constants(controls: &Controls) -> [(&'static str, f64); 4] {
    [
        ("SHAPES", shapes_in_use(controls)),
        ("SEVERAL", several(controls)),
        ("RESTITUTES", flag(controls.restitutes())),
        ("SCALED", scaled(controls)),
    ]
}

/// A hash of the shapes and their data.
fn fingerprint(colliders: &Colliders) -> u64 {
    let mut hasher = DefaultHasher::new();
    colliders.rows.iter().for_each(|row| (row.shape, row.data).hash(&mut hasher));
    bytemuck::cast_slice::<f32, u8>(&colliders.data).hash(&mut hasher);
    hasher.finish()
}
