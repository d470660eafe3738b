//! Contacts on the GPU: buffers, pipelines and bind groups, created when a scene needs them.
//!
//! | buffer | element | written by | read by |
//! |---|---|---|---|
//! | params | uniform: parameters, contact materials, friction | host | all passes of contacts |
//! | particles | rest position, material, component; then the scales of particles, if there are any | host | validate_pairs, search, find_pairs, find_contacts, solve_contacts, collide, build_division_planes, intersections |
//! | colliders | rows | host, interpolate_colliders, commit_colliders | mark_slabs, collide, collide_triangles |
//! | collider data | masks of slabs; distances and planes of shapes | host, mark_slabs | mark_slabs, collide, collide_triangles |
//! | collider masks | touched colliders of each block of particles | mark_touched_colliders | collider_forces |
//! | collider contacts | restitution, recovery, friction, impulses on colliders | clear_collider_contacts, collide, apply_triangle_contacts, apply_restitution | the same, collider_forces, note_collider_contacts |
//! | contact triangles, corner offsets, triangle corners | particles and borders of each triangle; triangles by particle | – | collide_triangles, apply_triangle_contacts |
//! | triangle contacts | contact of each triangle with a collider | collide_triangles | apply_triangle_contacts |
//! | forces | force and torque of each collider | collider_forces | host |
//! | status | counters, state of the pair list | passes of contacts between particles | the same, host |
//! | elements | three particles and a type | – | search, find_pairs, intersections |
//! | cells, volumes | the grids: lists of the elements of each cell; volume and path of each element | search | find_pairs, intersections |
//! | tracked | position and predicted displacement of each particle at the last search | search | validate_pairs, find_pairs, apply_corrections |
//! | pairs | four particles | find_pairs | find_contacts, build_division_planes |
//! | contacts | n and c₀, b, particles and the particle that applies the sum, distance, offset, multipliers and their last change | find_contacts, resolve_intersections, solve_contacts | solve_contacts, apply_corrections |
//! | previous contacts | particles, b, distance and offset of the contacts of the last substep | solve_contacts | find_contacts |
//! | dispatches | workgroups of the search, of find_contacts, of resolve_intersections, of solve_contacts | validate_pairs, finish_search | – |
//! | corrections | two sums of three `i32`, later truncations; number and lists of contacts, mask of intersected components, truncation of the last round | validate_pairs, find_contacts, intersections, resolve_intersections, solve_contacts, apply_corrections, build_division_planes, truncate_displacements | the same |
//! | event table | contacts of this step and of the one before | note_contacts, note_collider_contacts | collect_contact_events |
//! | contact events | contacts that began, continued and ended | collect_contact_events | host |
//! | intersections | edges that pass through triangles | intersections | resolve_intersections |

mod attachment_passes;
mod collider_passes;
mod contact_passes;
mod event_passes;
mod force_passes;
mod growth;
mod search_passes;
#[cfg(test)]
mod shapes_tests;
mod status;
mod triangle_passes;

use super::buffers::Buffers;
use super::stage::{Slot, Stage, flag};
use super::store::PipelineStore;
use crate::error::Result;
use crate::gpu::maker::Maker;
use crate::schedule::plan::Pass;
use crate::sim::contact_params::ContactParams;
use crate::sim::controls::Controls;
use attachment_passes::AttachmentPasses;
use event_passes::EventPasses;
use std::ops::Range;
use wgpu::BufferUsages;

pub(super) use collider_passes::{COLLIDER_CONTACT_BYTES, ColliderPasses, POSES, RESPONSE, SHAPES, response_constants};
pub(super) use contact_passes::{CONTACT_BYTES, CORRECTION_BYTES, ContactPasses};
pub(super) use status::ContactStatus;
pub(super) use triangle_passes::TRIANGLE_CONTACT_BYTES;

/// A pass: its pipeline, its bind group and the buffers in it.
#[derive(Debug)]
pub(super) struct Bound {
    pub stage: Stage,
    pub bindings: wgpu::BindGroup,
    buffers: Vec<wgpu::Buffer>,
}

impl Bound {
    pub fn new(device: &wgpu::Device, stage: Stage, buffers: &[&wgpu::Buffer]) -> Self {
        let bindings = stage.bind(device, buffers);
        Self { stage, bindings, buffers: buffers.iter().map(|&buffer| buffer.clone()).collect() }
    }

    /// Binds the second of each pair of buffers in place of the first.
    fn replace(&mut self, device: &wgpu::Device, replaced: &[(&wgpu::Buffer, &wgpu::Buffer)]) {
        let mut is_other = false;
        for buffer in &mut self.buffers {
            if let Some(&(_, new)) = replaced.iter().find(|(old, _)| *old == buffer) {
                *buffer = new.clone();
                is_other = true;
            }
        }
        if is_other {
            self.bindings = self.stage.bind(device, &self.buffers.iter().collect::<Vec<_>>());
        }
    }
}

/// All of contacts that a scene needs.
#[derive(Debug)]
pub(super) struct Contacts {
    pub params: wgpu::Buffer,
    pub status: wgpu::Buffer,
    particles: wgpu::Buffer,
    /// True if `particles` has room for seams.
    is_sewn: bool,
    /// Size of these three [bytes]. Most buffers are held by passes only, so their maker counts them.
    bytes: u64,
    pub collider_passes: Option<ColliderPasses>,
    pub contact_passes: Option<ContactPasses>,
    events: Option<EventPasses>,
    attachments: Option<AttachmentPasses>,
}

/// A buffer and the access of a pass to it.
type Binding<'a> = (Slot, &'a wgpu::Buffer);

/// Creates the passes of contacts.
struct Binder<'a> {
    store: &'a PipelineStore,
}

impl Binder<'_> {
    fn bind(&self, entry: &str, text: &str, bindings: &[Binding<'_>]) -> Bound {
        self.bind_with(entry, text, bindings, &[])
    }

    fn bind_with(&self, entry: &str, text: &str, bindings: &[Binding<'_>], constants: &[(&str, f64)]) -> Bound {
        let (slots, buffers): (Vec<Slot>, Vec<&wgpu::Buffer>) = bindings.iter().copied().unzip();
        let stage = Stage::new(self.store, entry, entry, text, &slots, constants);
        Bound::new(self.store.device(), stage, &buffers)
    }
}

impl Contacts {
    pub fn new(store: &PipelineStore, queue: &wgpu::Queue, controls: &Controls, shared: &Buffers) -> Result<Self> {
        let maker = Maker::new(store.device());
        let storage = BufferUsages::STORAGE;
        let wanted = !controls.colliders.is_empty() || controls.settings.self_collision.is_some();
        let rows = if wanted { particle_rows(controls) } else { Vec::new() };
        let mut contacts = Self {
            params: maker.empty("contact_params", size_of::<ContactParams>() as u64, BufferUsages::UNIFORM)?,
            status: maker.filled(queue, "contact_status", &[ContactStatus::new()], storage)?,
            particles: maker.filled(queue, "contact_particles", &rows, storage)?,
            is_sewn: wanted && !controls.seams.is_empty(),
            bytes: 0,
            collider_passes: None,
            contact_passes: None,
            events: EventPasses::new(&Binder { store }, controls, shared),
            attachments: AttachmentPasses::new(&Binder { store }, queue, controls, shared)?,
        };
        contacts.bytes = maker.made_bytes();
        if !controls.colliders.is_empty() {
            let made = ColliderPasses::new(&contacts, store, queue, controls, shared)?;
            contacts.set_collider_passes(store.device(), Some(made));
        }
        if controls.settings.self_collision.is_some() {
            contacts.contact_passes = Some(ContactPasses::new(&contacts, store, queue, controls, shared)?);
        }
        Ok(contacts)
    }

    /// Passes of colliders for the present colliders, settings and materials, without a change to the contacts between particles. An error if a
    /// buffer exceeds the limits.
    pub fn other_collider_passes(
        &self,
        store: &PipelineStore,
        queue: &wgpu::Queue,
        controls: &Controls,
        shared: &Buffers,
    ) -> Result<Option<ColliderPasses>> {
        let make = || ColliderPasses::new(self, store, queue, controls, shared);
        (!controls.colliders.is_empty()).then(|| store.guarded(make)).transpose()
    }

    /// Replaces the passes of colliders; attachments bind the new buffers.
    pub fn set_collider_passes(&mut self, device: &wgpu::Device, passes: Option<ColliderPasses>) {
        if let (Some(attachments), Some(made)) = (&mut self.attachments, &passes) {
            attachments.rebind(device, [&made.colliders, &made.forces]);
        }
        self.collider_passes = passes;
    }

    /// Writes the scales of some particles, behind the rows of all.
    pub fn write_scales(&self, queue: &wgpu::Queue, controls: &Controls, particles: Range<u32>) {
        let words = &controls.scene.contact_scales;
        let first = 16 * words.len() as u64 + 4 * u64::from(particles.start);
        let words = &words[particles.start as usize..particles.end as usize];
        if first + size_of_val(words) as u64 <= self.particles.size() {
            queue.write_buffer(&self.particles, first, bytemuck::cast_slice(words));
        }
    }

    /// Writes the seams, behind the rows and scales of all particles.
    pub fn write_seams(&self, queue: &wgpu::Queue, controls: &Controls) {
        if self.is_sewn {
            let first = 16 * (controls.scene.particle_count() + controls.scene.contact_scales.len().div_ceil(4));
            queue.write_buffer(&self.particles, first as u64, bytemuck::cast_slice(&controls.seams));
        }
    }

    /// The buffers with state that outlasts a step, for snapshots.
    pub fn state_buffers(&self, controls: &Controls) -> Vec<(&'static str, &wgpu::Buffer)> {
        let mut all = vec![("status", &self.status)];
        all.extend(self.collider_passes.iter().flat_map(|passes| passes.state_buffers(controls)));
        all.extend(self.contact_passes.iter().flat_map(ContactPasses::state_buffers));
        all
    }

    /// Size of all buffers [bytes].
    pub fn bytes(&self) -> u64 {
        let collider_passes = self.collider_passes.as_ref().map_or(0, |collider_passes| collider_passes.bytes);
        let attachments = self.attachments.as_ref().map_or(0, |attachments| attachments.bytes);
        self.bytes
            + attachments
            + collider_passes
            + self.contact_passes.as_ref().map_or(0, |contact_passes| contact_passes.bytes)
    }

    /// True if the buffers and passes fit the present colliders, plan and seams.
    pub fn fits(&self, controls: &Controls) -> bool {
        let sews = self.contact_passes.is_some() && !controls.seams.is_empty();
        (self.is_sewn || !sews)
            && self.collider_passes.as_ref().is_none_or(|collider_passes| collider_passes.fits(controls))
    }

    /// The pass and the size of its dispatch.
    pub fn dispatch(&self, pass: Pass, controls: &Controls, parameters: &ContactParams) -> Option<(&Bound, Size<'_>)> {
        let of_obstacles =
            self.collider_passes.as_ref().and_then(|collider_passes| collider_passes.dispatch(pass, controls));
        let of_attachments = || self.attachments.as_ref()?.dispatch(pass, controls);
        let of_events = || self.events.as_ref()?.dispatch(pass);
        of_obstacles
            .or_else(of_attachments)
            .or_else(of_events)
            .or_else(|| self.contact_passes.as_ref()?.dispatch(pass, controls, parameters))
    }
}

/// The rows of the particles, then one word each of their scales, then of their seams, if there are any.
fn particle_rows(controls: &Controls) -> Vec<[u32; 4]> {
    let words = [&controls.scene.contact_scales, &controls.seams].into_iter().flat_map(|words| {
        words.chunks(4).map(|words| {
            let mut row = [0; 4];
            row[..words.len()].copy_from_slice(words);
            row
        })
    });
    controls.compiled.contact_elements.particles.iter().copied().chain(words).collect()
}

/// The constant SEWN: 1 if there are seams.
fn sewn(controls: &Controls) -> f64 {
    flag(!controls.seams.is_empty())
}

/// The constant SCALED: 1 if particles have scales of thickness and friction.
fn scaled(controls: &Controls) -> f64 {
    flag(!controls.scene.contact_scales.is_empty())
}

/// Functions of thickness and friction of both sides of a contact.
pub(super) const CONTACT_SIDES: &str = include_str!("../../../shaders/collision/contact_sides.wgsl");

/// Size of a dispatch.
#[derive(Debug, Clone, Copy)]
pub(super) enum Size<'a> {
    Threads(u32),
    Workgroups(u32),
    /// The number of workgroups stands at an offset of a buffer, and is 0 if there is nothing to do.
    Indirect(&'a wgpu::Buffer, u64),
}

/// Creates the contacts again for changed settings. On an error nothing changes.
pub(super) fn remake(
    store: &PipelineStore,
    queue: &wgpu::Queue,
    controls: &Controls,
    shared: &Buffers,
) -> Result<Contacts> {
    store.guarded(|| Contacts::new(store, queue, controls, shared))
}
