//! Contacts on the GPU: their buffers, pipelines and bindings, made where a scene needs them.
//!
//! | buffer | element | written by | read by |
//! |---|---|---|---|
//! | params | uniform: figures, contact materials, friction | host | every pass of contacts |
//! | particles | place at rest, material, body | – | watch, pairs, contacts, separate, collide, divide, crossings |
//! | colliders, data | rows, distances and planes | host, carry, arrive | collide |
//! | touches | restitution, recovery, impulses on colliders | forget_touches, collide, bounce | collide, bounce, collider_forces |
//! | forces | force and torque of each collider | collider_forces | the host |
//! | status | counts | watch, search, pairs, contacts | the same, the host |
//! | elements | three particles and a type | – | search, pairs, crossings |
//! | cells, sorted | the grid | search, sort; marks: watch | pairs; after sort, crossings |
//! | watched | where each particle was to be when it last looked for others | search | watch, pairs, settle |
//! | lists | particles that look for others, and those near them | search | search, pairs |
//! | pairs, vacancies | four particles; places that are free | pairs, search_prune | contacts, divide |
//! | meetings | n and c₀, b, particles and whom it settles | contacts, untangle | separate, settle |
//! | dispatches | workgroups of the search; of contacts; of further rounds of divide; of untangle | watch, ready, truncate | – |
//! | corrections | three sums and a count, `i32`; then cuts, and marks of what was cut | contacts, untangle, separate, settle, divide, truncate; of surfaces, watch | separate, settle, divide, truncate |
//! | tangles | whether it is in a crossing, by particle; crossings | crossings | contacts, untangle, divide |
//! | late_dispatches | workgroups of rounds of truncate, or of pairs, count and fill of particles; then of separate and settle | ready, divide, search_prune; contacts of particles, untangle | – |

mod collider_passes;
mod contact_passes;
#[cfg(test)]
mod shapes_tests;
mod status;

use super::buffers::Buffers;
use super::guarded;
use super::stage::{Slot, Stage};
use crate::error::Result;
use crate::gpu::maker::Maker;
use crate::schedule::plan::Pass;
use crate::sim::contact_params::ContactParams;
use crate::sim::controls::Controls;
use wgpu::BufferUsages;

pub(super) use collider_passes::{COLLIDER_CONTACT_BYTES, ColliderPasses};
pub(super) use contact_passes::ContactPasses;
pub(super) use status::ContactStatus;

/// A pass: its pipeline, and what it is bound to.
#[derive(Debug)]
pub(super) struct Bound {
    pub stage: Stage,
    pub bindings: wgpu::BindGroup,
}

/// Everything of contacts; what a scene does not need is not there.
#[derive(Debug)]
pub(super) struct Contacts {
    pub params: wgpu::Buffer,
    pub status: wgpu::Buffer,
    particles: wgpu::Buffer,
    /// Size of these three [bytes]. Here and below it is what their maker has made: most buffers are held by bindings only.
    bytes: u64,
    pub collider_passes: Option<ColliderPasses>,
    pub contact_passes: Option<ContactPasses>,
}

/// Binds a pass of contacts.
struct Binder<'a> {
    device: &'a wgpu::Device,
}

impl Binder<'_> {
    fn bind(&self, entry: &str, text: &str, bindings: &[(Slot, &wgpu::Buffer)]) -> Bound {
        self.bind_with(entry, text, bindings, &[])
    }

    fn bind_with(
        &self,
        entry: &str,
        text: &str,
        bindings: &[(Slot, &wgpu::Buffer)],
        constants: &[(&str, f64)],
    ) -> Bound {
        let (slots, buffers): (Vec<Slot>, Vec<&wgpu::Buffer>) = bindings.iter().copied().unzip();
        let stage = Stage::new(self.device, entry, entry, text, &slots, constants);
        let bindings = stage.bind(self.device, &buffers);
        Bound { stage, bindings }
    }
}

impl Contacts {
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, controls: &Controls, shared: &Buffers) -> Result<Self> {
        let maker = Maker::new(device);
        let storage = BufferUsages::STORAGE;
        let wanted = !controls.colliders.is_empty() || controls.settings.self_collision.is_some();
        let rows = if wanted { controls.compiled.contact_elements.particles.as_slice() } else { &[] };
        let mut contacts = Self {
            params: maker.empty("contact_params", size_of::<ContactParams>() as u64, BufferUsages::UNIFORM)?,
            status: maker.filled(queue, "contact_status", &[ContactStatus::new()], storage)?,
            particles: maker.filled(queue, "contact_particles", rows, storage)?,
            bytes: 0,
            collider_passes: None,
            contact_passes: None,
        };
        contacts.bytes = maker.made_bytes();
        if !controls.colliders.is_empty() {
            contacts.collider_passes = Some(ColliderPasses::new(&contacts, device, queue, controls, shared)?);
        }
        if controls.settings.self_collision.is_some() {
            contacts.contact_passes = Some(ContactPasses::new(&contacts, device, queue, controls, shared)?);
        }
        Ok(contacts)
    }

    /// Obstacles for the colliders, settings and materials of now, where all else may stay as it is: what is known of contacts between particles is
    /// not to be lost. An error if there is no room.
    pub fn other_collider_passes(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        controls: &Controls,
        shared: &Buffers,
    ) -> Result<Option<ColliderPasses>> {
        let make = || ColliderPasses::new(self, device, queue, controls, shared);
        (!controls.colliders.is_empty()).then(|| guarded(device, make)).transpose()
    }

    /// Size of all buffers [bytes].
    pub fn bytes(&self) -> u64 {
        let collider_passes = self.collider_passes.as_ref().map_or(0, |collider_passes| collider_passes.bytes);
        self.bytes + collider_passes + self.contact_passes.as_ref().map_or(0, |contact_passes| contact_passes.bytes)
    }

    /// Whether the shapes of the colliders are not those that lie in their buffer and for which the pass was made.
    pub fn holds_other_data(&self, controls: &Controls) -> bool {
        self.collider_passes.as_ref().is_some_and(|collider_passes| collider_passes.holds_other_data(controls))
    }

    /// What a pass of contacts dispatches.
    pub fn dispatch(&self, pass: Pass, controls: &Controls, parameters: &ContactParams) -> Option<(&Bound, Size<'_>)> {
        let of_obstacles =
            self.collider_passes.as_ref().and_then(|collider_passes| collider_passes.dispatch(pass, controls));
        of_obstacles.or_else(|| self.contact_passes.as_ref()?.dispatch(pass, controls, parameters))
    }
}

/// MATERIAL of the passes: the contact material that all particles have, or VARIOUS.
fn common_material(controls: &Controls) -> f64 {
    let contact_elements = &controls.compiled.contact_elements;
    let first = contact_elements.particles.first().map_or(0, |row| row[3] & 0xff);
    let is_common = contact_elements.particles.iter().all(|row| row[3] & 0xff == first);
    f64::from(if is_common { first } else { u32::MAX })
}

/// How much is dispatched.
#[derive(Debug, Clone, Copy)]
pub(super) enum Size<'a> {
    Threads(u32),
    Groups(u32),
    /// As many workgroups as stand at a place in a buffer, so that what has nothing to do costs nothing: software drivers run
    /// through all of a shader, however early it returns.
    Indirect(&'a wgpu::Buffer, u64),
}

/// The same contacts with all that a change asks for, or an error and nothing changed.
pub(super) fn remake(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    controls: &Controls,
    shared: &Buffers,
) -> Result<Contacts> {
    guarded(device, || Contacts::new(device, queue, controls, shared))
}
