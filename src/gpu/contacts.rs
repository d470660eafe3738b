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

use super::buffers::{Buffers, Maker};
use super::guarded;
use super::pipelines::Slot::{Read, Uniform, Write};
use super::pipelines::{Slot, Stage};
use super::profile::pass_name;
use crate::collide::pair::PairKind;
use crate::collide::{BLOCK, ColliderRow, Colliders, ContactParams, ContactReport, UNTOUCHABLE};
use crate::controls::Controls;
use crate::error::Result;
use crate::plan::{Pass, ROUNDS, SearchPass};
use std::hash::{DefaultHasher, Hash, Hasher};
use wgpu::BufferUsages;

/// The most colliders for which the shader is written out, collider by collider.
const MOST_WRITTEN_OUT: usize = 4;

/// Size of `Touch` in `shaders/prelude/contacts.wgsl`, of which each particle has one where anything is kept of what happens to it at colliders.
pub(super) const TOUCH_BYTES: u64 = 96;

/// How many particles a thread of watch looks at on a software driver, and how many pairs one of contacts between particles; at most 32.
const SHARE_ON_SOFTWARE: u32 = 8;

/// Where in `dispatches` the workgroups of contacts, which are those of the first round of divide, too, and of untangle stand [bytes].
const CONTACTS: u64 = 12 * SearchPass::ALL.len() as u64;
const UNTANGLE: u64 = CONTACTS + 12 + 12 * ROUNDS as u64;

/// Where in `late_dispatches` the workgroups of separate and settle stand \[bytes\].
const SEPARATE: u64 = 12 * ROUNDS as u64;

/// What the GPU counts of contacts: `ContactStatus` in `shaders/prelude/contacts.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct ContactStatus {
    pub drift: [f32; 3],
    pub now: u32,
    pub stale: u32,
    pub hurried: u32,
    pub horizon: u32,
    pub slow: f32,
    pub fastest: u32,
    pub renewed_count: u32,
    pub nearby_count: u32,
    pub crossing_count: u32,
    pub pair_count: u32,
    pub vacancy_count: u32,
    pub found_count: u32,
    pub listed: u32,
    pub contact_count: u32,
    pub searches: u32,
    pub most_pairs: u32,
    pub most_contacts: u32,
    pub lost: u32,
    pub deepest: u32,
    pub truncated: u32,
    pub edge_radius: u32,
    pub triangle_radius: u32,
    pub end_edge_radius: u32,
    pub overfull: u32,
    pub searched: u32,
    pub end_triangle_radius: u32,
    pub levels: u32,
    pub wide_excess: u32,
    pub end_levels: u32,
}

impl ContactStatus {
    /// Where the mark stands that the list of pairs no longer holds.
    pub const STALE: u64 = std::mem::offset_of!(Self, stale) as u64;
    /// That mark: nothing of it does.
    pub const ALL: u32 = 2;
    pub const NEW: Self = Self {
        drift: [0.0; 3],
        now: 0,
        stale: Self::ALL,
        hurried: 0,
        horizon: 0,
        slow: 0.0,
        fastest: 0,
        renewed_count: 0,
        nearby_count: 0,
        crossing_count: 0,
        pair_count: 0,
        vacancy_count: 0,
        found_count: 0,
        listed: 0,
        contact_count: 0,
        searches: 0,
        most_pairs: 0,
        most_contacts: 0,
        lost: 0,
        deepest: 0,
        truncated: 0,
        edge_radius: 0,
        triangle_radius: 0,
        end_edge_radius: 0,
        overfull: 0,
        searched: 0,
        end_triangle_radius: 0,
        levels: 0,
        wide_excess: 0,
        end_levels: 0,
    };

    pub fn report(&self) -> ContactReport {
        ContactReport {
            pairs: self.listed,
            // The room is known by the most that have found some.
            contacts: self.contact_count.min(self.most_contacts),
            most_pairs: self.most_pairs,
            most_contacts: self.most_contacts,
            lost: self.lost,
            deepest: f32::from_bits(self.deepest),
            searches: self.searches,
            truncated: self.truncated,
            crossings: self.crossing_count,
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
    /// Size of these three [bytes]. Here and below it is what their maker has made: most buffers are held by bindings only.
    bytes: u64,
    pub obstacles: Option<Obstacles>,
    pub pairing: Option<Pairing>,
}

/// Of colliders.
#[derive(Debug)]
pub(super) struct Obstacles {
    pub colliders: wgpu::Buffer,
    /// The [`fingerprint`] of what was there when this was made.
    shapes: u64,
    pub forces: wgpu::Buffer,
    /// Size of all its buffers [bytes].
    bytes: u64,
    carry: Bound,
    /// The pass alone, and with the end of the substep.
    collide: [Bound; 2],
    forget_touches: Bound,
    bounce: Bound,
    arrive: Bound,
    collider_forces: Bound,
}

/// Of contacts between particles.
#[derive(Debug)]
pub(super) struct Pairing {
    watch: Bound,
    /// In the order of [`SearchPass::ALL`]; none where it is not played.
    search: Vec<Option<Bound>>,
    contacts: Bound,
    untangle: Option<Bound>,
    separate: Bound,
    /// Those before the last in a substep, and that.
    settle: [Bound; 2],
    /// By round.
    divide: Vec<Bound>,
    truncate: Vec<Bound>,
    /// In the order of [`SearchPass::SORT`]; none where crossings are not looked for.
    sort: Vec<Bound>,
    clear_crossings: Option<Bound>,
    find_crossings: Option<Bound>,
    /// Workgroups of the parts of the search, then of contacts, of further rounds of divide, of untangle: 12 bytes each.
    dispatches: wgpu::Buffer,
    /// Sums and counts by particle.
    pub corrections: wgpu::Buffer,
    /// How many particles a thread of watch looks at, and how many pairs one of contacts between particles.
    share: u32,
    /// Those of passes whose size is known only while those are in use: rounds of truncate, or of particles pairs, count and fill; then separate and
    /// settle.
    late_dispatches: wgpu::Buffer,
    /// Size of all its buffers [bytes].
    bytes: u64,
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
            status: maker.filled(queue, "contact_status", &[ContactStatus::NEW], storage)?,
            particles: maker.filled(queue, "contact_particles", rows, storage)?,
            bytes: 0,
            obstacles: None,
            pairing: None,
        };
        contacts.bytes = maker.made_bytes();
        if !controls.colliders.is_empty() {
            contacts.obstacles = Some(contacts.make_obstacles(device, queue, controls, shared)?);
        }
        if controls.settings.self_collision.is_some() {
            contacts.pairing = Some(contacts.make_pairing(device, queue, controls, shared)?);
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
        let make = || self.make_obstacles(device, queue, controls, shared);
        (!controls.colliders.is_empty()).then(|| guarded(device, make)).transpose()
    }

    fn make_obstacles(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        controls: &Controls,
        shared: &Buffers,
    ) -> Result<Obstacles> {
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
        let are_touches_kept = [Pass::Bounce, Pass::ForgetTouches].iter().any(|pass| controls.plan.contains(pass));
        let touched = if are_touches_kept { count } else { 1 };
        let touches = maker.empty("touches", touched * TOUCH_BYTES, storage)?;
        let binder = Binder { device };
        let (params, figures) = ((Uniform, &shared.params), (Uniform, &self.params));
        let few = own.len() <= MOST_WRITTEN_OUT;
        let all =
            if few { few_colliders(own.len()) } else { include_str!("../../shaders/collide/many.wgsl").to_owned() };
        let text = [
            include_str!("../../shaders/collide.wgsl"),
            &all,
            include_str!("../../shaders/collide/field.wgsl"),
            include_str!("../../shaders/collide/heightfield.wgsl"),
            include_str!("../../shaders/collide/hull.wgsl"),
            include_str!("../../shaders/collide/shapes.wgsl"),
        ];
        let present = own.rows.iter().fold(0u32, |sum, row| sum | 1 << row.shape);
        let collide = |advances: bool| {
            binder.bind_with(
                "collide",
                &text.join("\n"),
                &[
                    params,
                    figures,
                    (Write, &shared.positions),
                    (Write, &shared.displacements),
                    (Write, &shared.residuals),
                    (if few { Uniform } else { Read }, &colliders),
                    (Read, &data),
                    (Read, &self.particles),
                    (Write, &touches),
                    (Write, &shared.status),
                ],
                &[
                    ("SHAPES", f64::from(present)),
                    ("RECOVERS_ON_WAY", f64::from(u8::from(on_way))),
                    ("RESTITUTES", f64::from(u8::from(restitutes))),
                    ("NOTES_IMPULSES", f64::from(u8::from(notes))),
                    ("ADVANCES", f64::from(u8::from(advances))),
                    ("MATERIAL", common_material(controls)),
                ],
            )
        };
        Ok(Obstacles {
            carry: binder.bind(
                "carry",
                include_str!("../../shaders/carry.wgsl"),
                &[params, figures, (Write, &colliders)],
            ),
            collide: [false, true].map(collide),
            forget_touches: binder.bind(
                "forget_touches",
                include_str!("../../shaders/forget_touches.wgsl"),
                &[params, (Write, &touches)],
            ),
            bounce: binder.bind(
                "bounce",
                include_str!("../../shaders/bounce.wgsl"),
                &[params, (Write, &touches), (Write, &shared.displacements)],
            ),
            arrive: binder.bind("arrive", include_str!("../../shaders/arrive.wgsl"), &[figures, (Write, &colliders)]),
            collider_forces: binder.bind(
                "collider_forces",
                include_str!("../../shaders/collider_forces.wgsl"),
                &[params, figures, (Read, &touches), (Write, &forces)],
            ),
            colliders,
            shapes: fingerprint(own),
            forces,
            bytes: maker.made_bytes(),
        })
    }

    fn make_pairing(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        controls: &Controls,
        shared: &Buffers,
    ) -> Result<Pairing> {
        let maker = Maker::new(device);
        let storage = BufferUsages::STORAGE;
        let figures = controls.contact_params();
        let count = controls.scene.particle_count() as u64;
        let contacting = &controls.cooked.contacting;
        let only_particles = figures.level == 1;
        // Where only particles touch, nothing else is looked for.
        let (elements, wings) = if only_particles {
            (&contacting.elements[..figures.alone_end as usize], [].as_slice())
        } else {
            (contacting.elements.as_slice(), contacting.wings.as_slice())
        };
        let wings = wings.iter().map(|&[left, right]| [left, right, 0, 0]);
        let rows: Vec<[u32; 4]> = elements.iter().copied().chain(wings).collect();
        let elements = maker.filled(queue, "elements", &rows, storage)?;
        let inserted = u64::from(figures.insert_end - figures.insert_first);
        let cells = maker.empty("cells", u64::from(figures.cell_words()) * 4, storage)?;
        let (coarse_first, words) = figures.empty_coarse_grid();
        queue.write_buffer(&cells, u64::from(coarse_first) * 4, bytemuck::cast_slice(&words));
        let rows = if only_particles { 1 } else { 2 };
        let sorted = maker.empty("sorted_elements", inserted * rows * 16, storage)?;
        let lists = maker.empty("lists", if only_particles { count * 8 } else { 4 }, storage)?;
        let watched = maker.empty("watched", count * 32, storage)?;
        let pairs = maker.empty("pairs", u64::from(figures.pair_capacity) * 16, storage)?;
        let vacancies = if only_particles { u64::from(figures.pair_capacity) * 4 } else { 4 };
        let vacancies = maker.empty("vacancies", vacancies, storage)?;
        let meetings = maker.empty("meetings", u64::from(figures.contact_capacity) * 48, storage)?;
        let corrections = maker.empty("corrections", count * 16, storage)?;
        // Nothing in x, one in z, for a start.
        let sizes = [[0u32, 1, 1]; SearchPass::ALL.len() + 2 + ROUNDS as usize];
        let dispatches = maker.filled(queue, "contact_dispatches", &sizes, storage | BufferUsages::INDIRECT)?;
        let sizes = [[0u32, 1, 1]; 1 + ROUNDS as usize];
        let late_dispatches = maker.filled(queue, "late_dispatches", &sizes, storage | BufferUsages::INDIRECT)?;
        let tangles = maker.empty("tangles", if only_particles { 4 } else { count * 36 }, storage)?;
        let untouchable = |particle| contacting.material(particle) == UNTOUCHABLE;
        let some_untouchable = (0..count as u32).any(untouchable);
        let constants =
            [("ONLY_PARTICLES", f64::from(u8::from(only_particles))), ("MATERIAL", common_material(controls))];
        // Software drivers run through all of a pass for every thread, whatever is rare in it.
        let is_software = device.adapter_info().device_type == wgpu::DeviceType::Cpu;
        let share = if is_software { SHARE_ON_SOFTWARE } else { 1 };
        let shared_by = |share: u32| ("SHARE", f64::from(share));
        let pairs_share = shared_by(if only_particles { share } else { 1 });

        let binder = Binder { device };
        let (params, figures) = ((Uniform, &shared.params), (Uniform, &self.params));
        let motion = [params, figures, (Read, &shared.positions), (Read, &shared.displacements)];
        let (particles, status) = ((Read, &self.particles), (Write, &self.status));
        let bind = |entry: &str, text: &str, rest: &[(Slot, &wgpu::Buffer)]| {
            binder.bind_with(entry, text, &[motion.as_slice(), rest].concat(), &constants)
        };
        let search = |entry: &str, at_end: bool| {
            let grid = [(Read, &elements), (Write, &cells), (Write, &sorted), (Write, &watched), status];
            let own = if only_particles {
                include_str!("../../shaders/search/particles.wgsl")
            } else {
                include_str!("../../shaders/search/surfaces.wgsl")
            };
            let text = [include_str!("../../shaders/search.wgsl"), own].join("\n");
            let lists = [(Write, &lists)];
            let lists = if only_particles { lists.as_slice() } else { &[] };
            let constants = [constants[0], ("AT_END", f64::from(u8::from(at_end)))];
            binder.bind_with(entry, &text, &[&motion[..], &grid, lists].concat(), &constants)
        };
        let look = |kind: PairKind| {
            let grid = [params, figures, (Read, &cells), (Read, &sorted), particles, (Write, &pairs), status];
            let (text, own) = if only_particles {
                let lists = [(Read, &watched), (Read, &lists), (Read, &vacancies)];
                (include_str!("../../shaders/pairs/particles.wgsl"), lists.to_vec())
            } else {
                let elements = [(Read, &watched), (Read, &elements)];
                (include_str!("../../shaders/pairs/surfaces.wgsl"), elements.to_vec())
            };
            let text = [include_str!("../../shaders/pairs.wgsl"), text].join("\n");
            let constants = [("KIND", f64::from(kind as u32)), constants[0], constants[1]];
            binder.bind_with("pairs_list", &text, &[grid.as_slice(), &own].concat(), &constants)
        };
        let part = |part: SearchPass, at_end: bool| match part {
            SearchPass::Pairs => look(PairKind::Particles),
            SearchPass::VertexPairs => look(PairKind::VertexTriangle),
            SearchPass::EdgePairs => look(PairKind::Edges),
            SearchPass::Prune => binder.bind(
                "search_prune",
                include_str!("../../shaders/search_prune.wgsl"),
                &[params, (Read, &watched), (Write, &pairs), (Write, &vacancies), status, (Write, &late_dispatches)],
            ),
            SearchPass::Ready => binder.bind_with(
                "ready",
                include_str!("../../shaders/ready.wgsl"),
                &[params, figures, status, (Write, &dispatches), (Write, &late_dispatches)],
                &[("ROUNDS", f64::from(ROUNDS)), pairs_share],
            ),
            sorted => search(&pass_name(&Pass::Search(sorted)), at_end),
        };
        let level = controls.settings.self_collision.unwrap_or_default().level;
        let stages = SearchPass::ALL.map(|pass| pass.is_of(level).then(|| part(pass, false)));
        let sort = if only_particles { Vec::new() } else { SearchPass::SORT.map(|pass| part(pass, true)).into() };
        let rounds = ("ROUNDS", f64::from(ROUNDS));
        let (mut divide, mut truncate) = (Vec::new(), Vec::new());
        // Between particles nothing is cut.
        for round in 0..if only_particles { 0 } else { ROUNDS } {
            let constants = [("ROUND", f64::from(round)), rounds];
            let own =
                [(Read, &pairs), particles, (Write, &corrections), status, (Write, &late_dispatches), (Read, &tangles)];
            divide.push(binder.bind_with(
                "divide",
                include_str!("../../shaders/divide.wgsl"),
                &[motion.as_slice(), &own].concat(),
                &constants,
            ));
            truncate.push(binder.bind_with(
                "truncate",
                include_str!("../../shaders/truncate.wgsl"),
                &[params, (Write, &shared.displacements), (Write, &corrections), status, (Write, &dispatches)],
                &constants,
            ));
        }
        let crossings = |entry: &str| {
            let grid = [(Read, &elements), (Read, &cells), (Read, &sorted), particles];
            binder.bind(
                entry,
                include_str!("../../shaders/crossings.wgsl"),
                &[&motion[..3], &grid, &[(Write, &tangles), status]].concat(),
            )
        };
        let separate = ("SEPARATE", (SEPARATE / 4) as f64);
        let untangle = || {
            let own = [(Read, &tangles), (Write, &meetings), (Write, &corrections), status, (Write, &late_dispatches)];
            binder.bind_with(
                "untangle",
                include_str!("../../shaders/untangle.wgsl"),
                &[&motion[..3], &own].concat(),
                &[separate],
            )
        };
        let contacts = {
            let (own, last) = if only_particles {
                (include_str!("../../shaders/contacts/particles.wgsl"), (Write, &late_dispatches))
            } else {
                (include_str!("../../shaders/contacts/surfaces.wgsl"), (Read, &tangles))
            };
            let text = [include_str!("../../shaders/contacts.wgsl"), own].join("\n");
            let rest = [(Read, &pairs), particles, (Write, &meetings), (Write, &corrections), status, last];
            let separate = only_particles.then_some(separate);
            let constants: Vec<_> = constants.into_iter().chain([pairs_share]).chain(separate).collect();
            binder.bind_with("contacts", &text, &[motion.as_slice(), &rest].concat(), &constants)
        };
        let settle = |is_last: bool| {
            let moved = [(Read, &shared.positions), (Write, &shared.displacements), (Read, &watched)];
            let found = [(Write, &corrections), status, (Read, &meetings)];
            binder.bind_with(
                "settle",
                include_str!("../../shaders/settle.wgsl"),
                &[&motion[..2], &moved, &found].concat(),
                &[constants[0], ("IS_LAST", f64::from(u8::from(is_last)))],
            )
        };
        let [clear_crossings, find_crossings] =
            ["crossings_clear", "crossings_find"].map(|entry| (!only_particles).then(|| crossings(entry)));
        let untangle = (!only_particles).then(untangle);
        Ok(Pairing {
            watch: binder.bind_with(
                "watch",
                include_str!("../../shaders/watch.wgsl"),
                &[
                    &motion[..],
                    &[
                        (Read, &watched),
                        particles,
                        (Write, &corrections),
                        status,
                        (Write, &dispatches),
                        (Write, &cells),
                    ],
                ]
                .concat(),
                &[
                    constants[0],
                    constants[1],
                    shared_by(share),
                    ("SOME_UNTOUCHABLE", f64::from(u8::from(some_untouchable))),
                ],
            ),
            search: stages.into(),
            contacts,
            untangle,
            separate: bind(
                "separate",
                include_str!("../../shaders/separate.wgsl"),
                &[particles, (Read, &meetings), (Write, &corrections), status],
            ),
            settle: [false, true].map(settle),
            divide,
            truncate,
            sort,
            clear_crossings,
            find_crossings,
            dispatches,
            corrections,
            share,
            late_dispatches,
            bytes: maker.made_bytes(),
        })
    }

    /// Size of all buffers [bytes].
    pub fn bytes(&self) -> u64 {
        let obstacles = self.obstacles.as_ref().map_or(0, |obstacles| obstacles.bytes);
        self.bytes + obstacles + self.pairing.as_ref().map_or(0, |pairing| pairing.bytes)
    }

    /// Whether the shapes of the colliders are not those that lie in their buffer and for which the pass was made.
    pub fn holds_other_data(&self, controls: &Controls) -> bool {
        self.obstacles.as_ref().is_some_and(|obstacles| obstacles.shapes != fingerprint(&controls.colliders))
    }

    /// What a pass of contacts dispatches.
    pub fn dispatch(&self, pass: Pass, controls: &Controls, figures: &ContactParams) -> Option<(&Bound, Size<'_>)> {
        let particles = Size::Threads(controls.scene.particle_count() as u32);
        let colliders = controls.colliders.len() as u32;
        if let Some(obstacles) = &self.obstacles {
            match pass {
                Pass::ForgetTouches => return Some((&obstacles.forget_touches, particles)),
                Pass::Carry => return Some((&obstacles.carry, Size::Threads(colliders))),
                Pass::Collide => return Some((&obstacles.collide[0], particles)),
                Pass::CollideAdvance => return Some((&obstacles.collide[1], particles)),
                Pass::Bounce => return Some((&obstacles.bounce, particles)),
                Pass::Arrive => return Some((&obstacles.arrive, Size::Threads(colliders))),
                Pass::ColliderForces => return Some((&obstacles.collider_forces, Size::Groups(colliders))),
                _ => {}
            }
        }
        let pairing = self.pairing.as_ref()?;
        let indirect = |place| Size::Indirect(&pairing.dispatches, place);
        match pass {
            Pass::Watch => {
                let count = controls.scene.particle_count() as u32;
                Some((&pairing.watch, Size::Threads(count.div_ceil(pairing.share))))
            }
            Pass::Contacts => Some((&pairing.contacts, indirect(CONTACTS))),
            Pass::Untangle => Some((pairing.untangle.as_ref()?, indirect(UNTANGLE))),
            Pass::Separate => Some((&pairing.separate, Size::Indirect(&pairing.late_dispatches, SEPARATE))),
            Pass::Settle { is_last } => {
                let settle = &pairing.settle[usize::from(is_last)];
                Some((settle, Size::Indirect(&pairing.late_dispatches, SEPARATE)))
            }
            Pass::Divide { round } => {
                Some((&pairing.divide[round as usize], indirect(CONTACTS + 12 * u64::from(round))))
            }
            Pass::Truncate { round } => {
                let size = Size::Indirect(&pairing.late_dispatches, 12 * u64::from(round));
                Some((&pairing.truncate[round as usize], size))
            }
            Pass::ClearCrossings => Some((pairing.clear_crossings.as_ref()?, particles)),
            Pass::FindCrossings => {
                Some((pairing.find_crossings.as_ref()?, Size::Threads(figures.insert_end - figures.alone_end)))
            }
            Pass::Sort(SearchPass::Clear) => {
                Some((pairing.sort.first()?, Size::Threads(figures.tables * figures.table_size / BLOCK)))
            }
            Pass::Sort(part) => {
                let place = SearchPass::SORT.iter().position(|&other| other == part)?;
                Some((pairing.sort.get(place)?, Size::Threads(figures.threads(part))))
            }
            Pass::Search(part) => Some((pairing.search[part as usize].as_ref()?, pairing.size_of(part, figures))),
            _ => None,
        }
    }
}

impl Pairing {
    /// How much a part of a search dispatches: nothing where the list holds.
    fn size_of(&self, part: SearchPass, figures: &ContactParams) -> Size<'_> {
        let only_particles = figures.level == 1;
        match part {
            SearchPass::Ready => Size::Groups(1),
            SearchPass::Pairs if only_particles => Size::Indirect(&self.late_dispatches, 0),
            SearchPass::Count | SearchPass::Fill if only_particles => Size::Indirect(&self.late_dispatches, 12),
            _ => Size::Indirect(&self.dispatches, 12 * part as u64),
        }
    }
}

/// MATERIAL of the passes: the contact material that all particles have, or VARIOUS.
fn common_material(controls: &Controls) -> f64 {
    let contacting = &controls.cooked.contacting;
    let first = contacting.particles.first().map_or(0, |row| row[3] & 0xff);
    let is_common = contacting.particles.iter().all(|row| row[3] & 0xff == first);
    f64::from(if is_common { first } else { u32::MAX })
}

/// The text for so many colliders.
fn few_colliders(count: usize) -> String {
    // Of those that are near the first counts.
    let near = |from: usize| -> String {
        let one = |index| format!("    if is_near({index}u, particle) {{ next = {index}u; }}\n");
        let after = |index| format!("    if before < {index}u && is_near({index}u, particle) {{ next = {index}u; }}\n");
        (from..count).rev().map(|index| if from == 0 { one(index) } else { after(index) }).collect()
    };
    let others = (1..count).map(|index| format!("    if index == {index}u {{ c = colliders[{index}]; }}\n"));
    let others: String = others.collect();
    let text = include_str!("../../shaders/collide/few.wgsl");
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

/// Of the kinds of shapes and their data, which are too large to be kept for a comparison.
fn fingerprint(colliders: &Colliders) -> u64 {
    let mut hasher = DefaultHasher::new();
    colliders.rows.iter().for_each(|row| (row.shape, row.data).hash(&mut hasher));
    bytemuck::cast_slice::<f32, u8>(&colliders.data).hash(&mut hasher);
    hasher.finish()
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
