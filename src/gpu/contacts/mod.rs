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

mod obstacles;
mod pairing;
#[cfg(test)]
mod shapes_tests;
mod status;

use super::buffers::{Buffers, Maker};
use super::guarded;
use super::pipelines::{Slot, Stage};
use crate::error::Result;
use crate::schedule::plan::Pass;
use crate::sim::contact_params::ContactParams;
use crate::sim::controls::Controls;
use wgpu::BufferUsages;

pub(super) use obstacles::{Obstacles, TOUCH_BYTES};
pub(super) use pairing::Pairing;
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
    pub obstacles: Option<Obstacles>,
    pub pairing: Option<Pairing>,
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
        let rows = if wanted { controls.cooked.contacting.particles.as_slice() } else { &[] };
        let mut contacts = Self {
            params: maker.empty("contact_params", size_of::<ContactParams>() as u64, BufferUsages::UNIFORM)?,
            status: maker.filled(queue, "contact_status", &[ContactStatus::new()], storage)?,
            particles: maker.filled(queue, "contact_particles", rows, storage)?,
            bytes: 0,
            obstacles: None,
            pairing: None,
        };
        contacts.bytes = maker.made_bytes();
        if !controls.colliders.is_empty() {
            contacts.obstacles = Some(Obstacles::new(&contacts, device, queue, controls, shared)?);
        }
        if controls.settings.self_collision.is_some() {
            contacts.pairing = Some(Pairing::new(&contacts, device, queue, controls, shared)?);
        }
        Ok(contacts)
    }

    /// Obstacles for the colliders, settings and materials of now, where all else may stay as it is: what is known of contacts between particles is
    /// not to be lost. An error if there is no room.
    pub fn other_obstacles(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        controls: &Controls,
        shared: &Buffers,
    ) -> Result<Option<Obstacles>> {
        let make = || Obstacles::new(self, device, queue, controls, shared);
        (!controls.colliders.is_empty()).then(|| guarded(device, make)).transpose()
    }

    /// Size of all buffers [bytes].
    pub fn bytes(&self) -> u64 {
        let obstacles = self.obstacles.as_ref().map_or(0, |obstacles| obstacles.bytes);
        self.bytes + obstacles + self.pairing.as_ref().map_or(0, |pairing| pairing.bytes)
    }

    /// Whether the shapes of the colliders are not those that lie in their buffer and for which the pass was made.
    pub fn holds_other_data(&self, controls: &Controls) -> bool {
        self.obstacles.as_ref().is_some_and(|obstacles| obstacles.holds_other_data(controls))
    }

    /// What a pass of contacts dispatches.
    pub fn dispatch(&self, pass: Pass, controls: &Controls, figures: &ContactParams) -> Option<(&Bound, Size<'_>)> {
        let of_obstacles = self.obstacles.as_ref().and_then(|obstacles| obstacles.dispatch(pass, controls));
        of_obstacles.or_else(|| self.pairing.as_ref()?.dispatch(pass, controls, figures))
    }
}

/// MATERIAL of the passes: the contact material that all particles have, or VARIOUS.
fn common_material(controls: &Controls) -> f64 {
    let contacting = &controls.cooked.contacting;
    let first = contacting.particles.first().map_or(0, |row| row[3] & 0xff);
    let is_common = contacting.particles.iter().all(|row| row[3] & 0xff == first);
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
