//! Contacts on the GPU: their buffers, pipelines and bindings, made where a scene needs them.
//!
//! | buffer | element | written by | read by |
//! |---|---|---|---|
//! | params | uniform: figures, contact materials, friction | host | every pass of contacts |
//! | particles | place at rest, material, body | – | watch, pairs, contacts, separate, collide |
//! | colliders, data | rows, distances and planes | host, arrive | collide |
//! | touches | restitution, impulses on colliders | collide | bounce, collider_forces |
//! | forces | force and torque of each collider | collider_forces | the host |
//! | status | counts | watch, search, pairs, contacts | the same, the host |
//! | elements | three particles and a type | – | search, pairs |
//! | cells, sums, sorted | the grid | search | pairs |
//! | watched | where each particle was to be at the last search | search | watch |
//! | pairs | four particles | pairs | contacts |
//! | meetings | n and c₀, b, particles | contacts | separate |
//! | corrections | three sums and a count, `i32` | watch, contacts, separate, settle | separate, settle |

use super::buffers::{Buffers, Maker};
use super::guarded;
use super::pipelines::Slot::{Read, Uniform, Write};
use super::pipelines::{Slot, Stage};
use crate::collide::{ColliderRow, ContactParams, ContactReport};
use crate::controls::Controls;
use crate::error::Result;
use crate::plan::{Pass, SearchPass};
use wgpu::BufferUsages;

/// What the GPU counts of contacts: `ContactStatus` in `shaders/prelude/contacts.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct ContactStatus {
    pub drift: [f32; 3],
    pub since: u32,
    pub stale: u32,
    pub pair_count: u32,
    pub contact_count: u32,
    pub searches: u32,
    pub most_pairs: u32,
    pub most_contacts: u32,
    pub lost: u32,
    pub deepest: u32,
}

impl ContactStatus {
    pub const NEW: Self = Self {
        drift: [0.0; 3],
        since: 0,
        stale: 1,
        pair_count: 0,
        contact_count: 0,
        searches: 0,
        most_pairs: 0,
        most_contacts: 0,
        lost: 0,
        deepest: 0,
    };

    pub fn report(&self) -> ContactReport {
        ContactReport {
            // The room is known by the most that have found some.
            pairs: self.pair_count.min(self.most_pairs),
            contacts: self.contact_count.min(self.most_contacts),
            most_pairs: self.most_pairs,
            most_contacts: self.most_contacts,
            lost: self.lost,
            deepest: f32::from_bits(self.deepest),
            searches: self.searches,
        }
    }
}

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
    pub obstacles: Option<Obstacles>,
    pub pairing: Option<Pairing>,
}

/// Of colliders.
#[derive(Debug)]
pub(super) struct Obstacles {
    pub colliders: wgpu::Buffer,
    pub data: wgpu::Buffer,
    pub forces: wgpu::Buffer,
    collide: Bound,
    bounce: Bound,
    arrive: Bound,
    collider_forces: Bound,
}

/// Of contacts between particles.
#[derive(Debug)]
pub(super) struct Pairing {
    watch: Bound,
    /// In the order of [`SearchPass::ALL`].
    search: Vec<Bound>,
    contacts: Bound,
    separate: Bound,
    settle: Bound,
}

/// Binds a pass of contacts.
struct Binder<'a> {
    device: &'a wgpu::Device,
}

impl Binder<'_> {
    fn bind(&self, entry: &str, text: &str, bindings: &[(Slot, &wgpu::Buffer)]) -> Bound {
        let (slots, buffers): (Vec<Slot>, Vec<&wgpu::Buffer>) = bindings.iter().copied().unzip();
        let stage = Stage::new(self.device, entry, entry, text, &slots, &[]);
        let bindings = stage.bind(self.device, &buffers);
        Bound { stage, bindings }
    }
}

impl Contacts {
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, controls: &Controls, shared: &Buffers) -> Result<Self> {
        let maker = Maker { device, limits: device.limits() };
        let storage = BufferUsages::STORAGE;
        let wanted = !controls.colliders.is_empty() || controls.settings.self_collision.is_some();
        let rows = if wanted { controls.cooked.contacting.particles.as_slice() } else { &[] };
        let mut contacts = Self {
            params: maker.empty("contact_params", size_of::<ContactParams>() as u64, BufferUsages::UNIFORM)?,
            status: maker.filled(queue, "contact_status", &[ContactStatus::NEW], storage)?,
            particles: maker.filled(queue, "contact_particles", rows, storage)?,
            obstacles: None,
            pairing: None,
        };
        if !controls.colliders.is_empty() {
            contacts.obstacles = Some(contacts.make_obstacles(&maker, queue, controls, shared)?);
        }
        if controls.settings.self_collision.is_some() {
            contacts.pairing = Some(contacts.make_pairing(&maker, queue, controls, shared)?);
        }
        Ok(contacts)
    }

    fn make_obstacles(
        &self,
        maker: &Maker<'_>,
        queue: &wgpu::Queue,
        controls: &Controls,
        shared: &Buffers,
    ) -> Result<Obstacles> {
        let storage = BufferUsages::STORAGE;
        let (count, own) = (controls.scene.particle_count() as u64, &controls.colliders);
        let colliders = maker.empty("colliders", (own.len() * size_of::<ColliderRow>()) as u64, storage)?;
        queue.write_buffer(&colliders, 0, bytemuck::cast_slice(&own.rows));
        let data = maker.filled(queue, "collider_data", &own.data, storage)?;
        let forces = maker.empty("collider_forces", own.len() as u64 * 32, storage)?;
        let touches = maker.empty("touches", count * 80, storage)?;
        let binder = Binder { device: maker.device };
        let (params, figures) = ((Uniform, &shared.params), (Uniform, &self.params));
        let shapes = include_str!("../../shaders/collide/shapes.wgsl");
        Ok(Obstacles {
            collide: binder.bind(
                "collide",
                &[include_str!("../../shaders/collide.wgsl"), shapes].join("\n"),
                &[
                    params,
                    figures,
                    (Write, &shared.positions),
                    (Write, &shared.displacements),
                    (Read, &shared.residuals),
                    (Read, &colliders),
                    (Read, &data),
                    (Read, &self.particles),
                    (Write, &touches),
                    (Write, &shared.status),
                ],
            ),
            bounce: binder.bind(
                "bounce",
                include_str!("../../shaders/bounce.wgsl"),
                &[params, (Read, &touches), (Write, &shared.displacements)],
            ),
            arrive: binder.bind("arrive", include_str!("../../shaders/arrive.wgsl"), &[figures, (Write, &colliders)]),
            collider_forces: binder.bind(
                "collider_forces",
                include_str!("../../shaders/collider_forces.wgsl"),
                &[params, figures, (Read, &touches), (Write, &forces)],
            ),
            colliders,
            data,
            forces,
        })
    }

    fn make_pairing(
        &self,
        maker: &Maker<'_>,
        queue: &wgpu::Queue,
        controls: &Controls,
        shared: &Buffers,
    ) -> Result<Pairing> {
        let storage = BufferUsages::STORAGE;
        let figures = controls.contact_params();
        let count = controls.scene.particle_count() as u64;
        let cell_count = u64::from(figures.tables) * u64::from(figures.table_size);
        let elements = maker.filled(queue, "elements", &controls.cooked.contacting.elements, storage)?;
        let inserted = u64::from(figures.insert_end - figures.insert_first);
        let cells = maker.empty("cells", cell_count * 4, storage)?;
        let sums = maker.empty("cell_sums", cell_count / 16, storage)?;
        let sorted = maker.empty("sorted_elements", inserted * 16, storage)?;
        let watched = maker.empty("watched", count * 16, storage)?;
        let pairs = maker.empty("pairs", u64::from(figures.pair_capacity) * 16, storage)?;
        let meetings = maker.empty("meetings", u64::from(figures.contact_capacity) * 48, storage)?;
        let corrections = maker.empty("corrections", count * 16, storage)?;

        let binder = Binder { device: maker.device };
        let (params, figures) = ((Uniform, &shared.params), (Uniform, &self.params));
        let motion = [params, figures, (Read, &shared.positions), (Read, &shared.displacements)];
        let (particles, status) = ((Read, &self.particles), (Write, &self.status));
        let bind = |entry: &str, text: &str, rest: &[(Slot, &wgpu::Buffer)]| {
            binder.bind(entry, text, &[motion.as_slice(), rest].concat())
        };
        let search = |part: &str| {
            let grid =
                [(Read, &elements), (Write, &cells), (Write, &sums), (Write, &sorted), (Write, &watched), status];
            bind(&format!("search_{part}"), include_str!("../../shaders/search.wgsl"), &grid)
        };
        let mut stages = Vec::from(["clear", "count", "sum_blocks", "scan_blocks", "starts", "fill"].map(search));
        stages.push(bind(
            "pairs_list",
            include_str!("../../shaders/pairs.wgsl"),
            &[(Read, &elements), (Read, &cells), (Read, &sorted), particles, (Write, &pairs), status],
        ));
        Ok(Pairing {
            watch: bind(
                "watch",
                include_str!("../../shaders/watch.wgsl"),
                &[(Read, &watched), particles, (Write, &corrections), status],
            ),
            search: stages,
            contacts: bind(
                "contacts",
                include_str!("../../shaders/contacts.wgsl"),
                &[(Read, &pairs), particles, (Write, &meetings), (Write, &corrections), status],
            ),
            separate: bind(
                "separate",
                include_str!("../../shaders/separate.wgsl"),
                &[particles, (Read, &meetings), (Write, &corrections), status],
            ),
            settle: binder.bind(
                "settle",
                include_str!("../../shaders/settle.wgsl"),
                &[params, figures, (Write, &shared.displacements), (Write, &corrections)],
            ),
        })
    }

    /// Whether the data of the colliders are not those that lie in their buffer.
    pub fn holds_other_data(&self, controls: &Controls) -> bool {
        let size = (controls.colliders.data.len() as u64 * 4).max(16).next_multiple_of(16);
        self.obstacles.as_ref().is_some_and(|obstacles| obstacles.data.size() != size)
    }

    /// What a pass of contacts dispatches: how many threads, or workgroups where it is `Err`.
    pub fn dispatch(
        &self,
        pass: Pass,
        controls: &Controls,
        figures: &ContactParams,
    ) -> Option<(&Bound, Result<u32, u32>)> {
        let particles = controls.scene.particle_count() as u32;
        let colliders = controls.colliders.len() as u32;
        let obstacle =
            |bound: fn(&Obstacles) -> &Bound, count| self.obstacles.as_ref().map(|obstacles| (bound(obstacles), count));
        let pairing =
            |bound: fn(&Pairing) -> &Bound| self.pairing.as_ref().map(|pairing| (bound(pairing), Ok(particles)));
        match pass {
            Pass::Collide => obstacle(|obstacles| &obstacles.collide, Ok(particles)),
            Pass::Bounce => obstacle(|obstacles| &obstacles.bounce, Ok(particles)),
            Pass::Arrive => obstacle(|obstacles| &obstacles.arrive, Ok(colliders)),
            Pass::ColliderForces => obstacle(|obstacles| &obstacles.collider_forces, Err(colliders)),
            Pass::Watch => pairing(|pairing| &pairing.watch),
            Pass::Contacts => pairing(|pairing| &pairing.contacts),
            Pass::Separate => pairing(|pairing| &pairing.separate),
            Pass::Settle => pairing(|pairing| &pairing.settle),
            Pass::Search(part) => {
                let cells = figures.tables * figures.table_size;
                let count = match part {
                    SearchPass::Clear => Ok(cells.max(particles)),
                    SearchPass::Count | SearchPass::Fill => Ok(figures.insert_end - figures.insert_first),
                    SearchPass::SumBlocks | SearchPass::Starts => Ok(cells / 64),
                    SearchPass::ScanBlocks => Err(1),
                    SearchPass::Pairs => Ok(figures.query_end),
                };
                self.pairing.as_ref().map(|pairing| (&pairing.search[part as usize], count))
            }
            _ => None,
        }
    }
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
