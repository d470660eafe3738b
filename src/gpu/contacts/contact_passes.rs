//! Contacts between particles and surfaces: their lists, and the passes that find and solve them.

use super::{Binder, Bound, Contacts, Size, common_material};
use crate::collision::pair::PairKind;
use crate::error::Result;
use crate::gpu::buffers::Buffers;
use crate::gpu::context::is_software;
use crate::gpu::maker::Maker;
use crate::gpu::profile::pass_name;
use crate::gpu::stage::Slot;
use crate::gpu::stage::Slot::{Read, Uniform, Write};
use crate::schedule::contacts::UNTOUCHABLE;
use crate::schedule::plan::{Pass, ROUNDS, SearchPass};
use crate::sim::contact_params::{BLOCK, ContactParams};
use crate::sim::controls::Controls;
use wgpu::BufferUsages;

/// Particles per thread of validate_pairs, and pairs per thread of find_contacts at the particle level, on a software driver; at most 32.
const SHARE_ON_SOFTWARE: u32 = 8;

/// Byte offsets in `dispatches`: workgroups of find_contacts, which also serve the first round of division planes, and of resolve_intersections.
const CONTACTS: u64 = 12 * SearchPass::ALL.len() as u64;
const UNTANGLE: u64 = CONTACTS + 12 + 12 * ROUNDS as u64;

/// Byte offset in `late_dispatches`: workgroups of solve_contacts and apply_corrections.
const SEPARATE: u64 = 12 * ROUNDS as u64;

/// The passes of contacts between particles.
#[derive(Debug)]
pub(in crate::gpu) struct ContactPasses {
    watch: Bound,
    /// In the order of [`SearchPass::ALL`]; `None` for passes of the other level.
    search: Vec<Option<Bound>>,
    contacts: Bound,
    untangle: Option<Bound>,
    separate: Bound,
    /// All but the last in a substep, and the last.
    settle: [Bound; 2],
    /// By round.
    divide: Vec<Bound>,
    truncate: Vec<Bound>,
    /// In the order of [`SearchPass::SORT`]; empty at the particle level.
    sort: Vec<Bound>,
    clear_crossings: Option<Bound>,
    find_crossings: Option<Bound>,
    /// Workgroups of the search, of find_contacts, of further rounds of division planes, and of resolve_intersections: 12 bytes each.
    dispatches: wgpu::Buffer,
    /// Sums and counts per particle.
    pub corrections: wgpu::Buffer,
    /// Particles per thread of validate_pairs, and pairs per thread of find_contacts at the particle level.
    share: u32,
    /// Workgroups of passes whose size is known late: rounds of truncation, or pairs, count and sort at the particle level; then the solve.
    late_dispatches: wgpu::Buffer,
    /// Size of all its buffers [bytes].
    pub bytes: u64,
}

/// The buffers of [`ContactPasses`]; see the table in `mod.rs`.
struct PairBuffers {
    elements: wgpu::Buffer,
    cells: wgpu::Buffer,
    sorted: wgpu::Buffer,
    watched: wgpu::Buffer,
    lists: wgpu::Buffer,
    pairs: wgpu::Buffer,
    vacancies: wgpu::Buffer,
    meetings: wgpu::Buffer,
    corrections: wgpu::Buffer,
    dispatches: wgpu::Buffer,
    late_dispatches: wgpu::Buffer,
    tangles: wgpu::Buffer,
}

impl PairBuffers {
    fn new(maker: &Maker, queue: &wgpu::Queue, controls: &Controls) -> Result<Self> {
        let storage = BufferUsages::STORAGE;
        let parameters = controls.contact_params();
        let count = controls.scene.particle_count() as u64;
        let contact_elements = &controls.compiled.contact_elements;
        let only_particles = parameters.level == 1;
        // At the particle level only particles are searched.
        let (elements, wings) = if only_particles {
            (&contact_elements.elements[..parameters.alone_end as usize], [].as_slice())
        } else {
            (contact_elements.elements.as_slice(), contact_elements.wings.as_slice())
        };
        let wings = wings.iter().map(|&[left, right]| [left, right, 0, 0]);
        let rows: Vec<[u32; 4]> = elements.iter().copied().chain(wings).collect();
        let elements = maker.filled(queue, "elements", &rows, storage)?;
        let inserted = u64::from(parameters.insert_end - parameters.insert_first);
        let cells = maker.empty("cells", u64::from(parameters.cell_words()) * 4, storage)?;
        let (coarse_first, words) = parameters.empty_coarse_grid();
        queue.write_buffer(&cells, u64::from(coarse_first) * 4, bytemuck::cast_slice(&words));
        let rows = if only_particles { 1 } else { 2 };
        let sorted = maker.empty("sorted_elements", inserted * rows * 16, storage)?;
        let lists = maker.empty("lists", if only_particles { count * 8 } else { 4 }, storage)?;
        let watched = maker.empty("watched", count * 32, storage)?;
        let pairs = maker.empty("pairs", u64::from(parameters.pair_capacity) * 16, storage)?;
        let vacancies = if only_particles { u64::from(parameters.pair_capacity) * 4 } else { 4 };
        let vacancies = maker.empty("vacancies", vacancies, storage)?;
        let meetings = maker.empty("meetings", u64::from(parameters.contact_capacity) * 48, storage)?;
        let corrections = maker.empty("corrections", count * 16, storage)?;
        // No workgroups until a pass writes their number.
        let sizes = [[0u32, 1, 1]; SearchPass::ALL.len() + 2 + ROUNDS as usize];
        let dispatches = maker.filled(queue, "contact_dispatches", &sizes, storage | BufferUsages::INDIRECT)?;
        let sizes = [[0u32, 1, 1]; 1 + ROUNDS as usize];
        let late_dispatches = maker.filled(queue, "late_dispatches", &sizes, storage | BufferUsages::INDIRECT)?;
        let tangles = maker.empty("tangles", if only_particles { 4 } else { count * 36 }, storage)?;
        Ok(Self {
            elements,
            cells,
            sorted,
            watched,
            lists,
            pairs,
            vacancies,
            meetings,
            corrections,
            dispatches,
            late_dispatches,
            tangles,
        })
    }
}

impl ContactPasses {
    /// An error if a buffer exceeds the limits.
    pub fn new(
        contacts: &Contacts,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        controls: &Controls,
        shared: &Buffers,
    ) -> Result<Self> {
        let maker = Maker::new(device);
        let made = PairBuffers::new(&maker, queue, controls)?;
        let only_particles = controls.contact_params().level == 1;
        let contact_elements = &controls.compiled.contact_elements;
        let untouchable = |particle| contact_elements.material(particle) == UNTOUCHABLE;
        let some_untouchable = (0..controls.scene.particle_count() as u32).any(untouchable);
        let constants =
            [("ONLY_PARTICLES", f64::from(u8::from(only_particles))), ("MATERIAL", common_material(controls))];
        // Software drivers execute both sides of a branch, so rare work stands behind a loop over several elements.
        let share = if is_software(&device.adapter_info()) { SHARE_ON_SOFTWARE } else { 1 };
        let shared_by = |share: u32| ("SHARE", f64::from(share));
        let pairs_share = shared_by(if only_particles { share } else { 1 });

        let binder = Binder { device };
        let (params, parameters) = ((Uniform, &shared.params), (Uniform, &contacts.params));
        let motion = [params, parameters, (Read, &shared.positions), (Read, &shared.displacements)];
        let (particles, status) = ((Read, &contacts.particles), (Write, &contacts.status));
        let bind = |entry: &str, text: &str, rest: &[(Slot, &wgpu::Buffer)]| {
            binder.bind_with(entry, text, &[motion.as_slice(), rest].concat(), &constants)
        };
        let search = |entry: &str, at_end: bool| {
            let grid =
                [(Read, &made.elements), (Write, &made.cells), (Write, &made.sorted), (Write, &made.watched), status];
            let own = if only_particles {
                include_str!("../../../shaders/collision/search/particles.wgsl")
            } else {
                include_str!("../../../shaders/collision/search/surfaces.wgsl")
            };
            let text = [include_str!("../../../shaders/collision/search.wgsl"), own].join("\n");
            let lists = [(Write, &made.lists)];
            let lists = if only_particles { lists.as_slice() } else { &[] };
            let constants = [constants[0], ("AT_END", f64::from(u8::from(at_end)))];
            binder.bind_with(entry, &text, &[&motion[..], &grid, lists].concat(), &constants)
        };
        let look = |kind: PairKind| {
            let grid = [
                params,
                parameters,
                (Read, &made.cells),
                (Read, &made.sorted),
                particles,
                (Write, &made.pairs),
                status,
            ];
            let (text, own) = if only_particles {
                let lists = [(Read, &made.watched), (Read, &made.lists), (Read, &made.vacancies)];
                (include_str!("../../../shaders/collision/pairs/particles.wgsl"), lists.to_vec())
            } else {
                let elements = [(Read, &made.watched), (Read, &made.elements)];
                (include_str!("../../../shaders/collision/pairs/surfaces.wgsl"), elements.to_vec())
            };
            let text = [include_str!("../../../shaders/collision/pairs.wgsl"), text].join("\n");
            let constants = [("KIND", f64::from(kind as u32)), constants[0], constants[1]];
            binder.bind_with("pairs_list", &text, &[grid.as_slice(), &own].concat(), &constants)
        };
        let part = |part: SearchPass, at_end: bool| match part {
            SearchPass::ParticlePairs => look(PairKind::Particles),
            SearchPass::VertexPairs => look(PairKind::VertexTriangle),
            SearchPass::EdgePairs => look(PairKind::Edges),
            SearchPass::RemoveStalePairs => binder.bind(
                "search_remove_stale_pairs",
                include_str!("../../../shaders/collision/search_remove_stale_pairs.wgsl"),
                &[
                    params,
                    (Read, &made.watched),
                    (Write, &made.pairs),
                    (Write, &made.vacancies),
                    status,
                    (Write, &made.late_dispatches),
                ],
            ),
            SearchPass::FinishSearch => binder.bind_with(
                "finish_search",
                include_str!("../../../shaders/collision/finish_search.wgsl"),
                &[params, parameters, status, (Write, &made.dispatches), (Write, &made.late_dispatches)],
                &[("ROUNDS", f64::from(ROUNDS)), pairs_share],
            ),
            sorted => search(&pass_name(&Pass::Search(sorted)), at_end),
        };
        let level = controls.settings.self_collision.unwrap_or_default().level;
        let stages = SearchPass::ALL.map(|pass| pass.is_of(level).then(|| part(pass, false)));
        let sort = if only_particles { Vec::new() } else { SearchPass::SORT.map(|pass| part(pass, true)).into() };
        let rounds = ("ROUNDS", f64::from(ROUNDS));
        let (mut divide, mut truncate) = (Vec::new(), Vec::new());
        // No division planes at the particle level.
        for round in 0..if only_particles { 0 } else { ROUNDS } {
            let constants = [("ROUND", f64::from(round)), rounds];
            let own = [
                (Read, &made.pairs),
                particles,
                (Write, &made.corrections),
                status,
                (Write, &made.late_dispatches),
                (Read, &made.tangles),
            ];
            divide.push(binder.bind_with(
                "build_division_planes",
                include_str!("../../../shaders/collision/build_division_planes.wgsl"),
                &[motion.as_slice(), &own].concat(),
                &constants,
            ));
            truncate.push(binder.bind_with(
                "truncate_displacements",
                include_str!("../../../shaders/collision/truncate_displacements.wgsl"),
                &[
                    params,
                    (Write, &shared.displacements),
                    (Write, &made.corrections),
                    status,
                    (Write, &made.dispatches),
                ],
                &constants,
            ));
        }
        let crossings = |entry: &str| {
            let grid = [(Read, &made.elements), (Read, &made.cells), (Read, &made.sorted), particles];
            binder.bind(
                entry,
                include_str!("../../../shaders/collision/intersections.wgsl"),
                &[&motion[..3], &grid, &[(Write, &made.tangles), status]].concat(),
            )
        };
        let separate = ("SEPARATE", (SEPARATE / 4) as f64);
        let untangle = || {
            let own = [
                (Read, &made.tangles),
                (Write, &made.meetings),
                (Write, &made.corrections),
                status,
                (Write, &made.late_dispatches),
            ];
            binder.bind_with(
                "resolve_intersections",
                include_str!("../../../shaders/collision/resolve_intersections.wgsl"),
                &[&motion[..3], &own].concat(),
                &[separate],
            )
        };
        let contacts = {
            let (own, last) = if only_particles {
                (
                    include_str!("../../../shaders/collision/find_contacts/particles.wgsl"),
                    (Write, &made.late_dispatches),
                )
            } else {
                (include_str!("../../../shaders/collision/find_contacts/surfaces.wgsl"), (Read, &made.tangles))
            };
            let text = [include_str!("../../../shaders/collision/find_contacts.wgsl"), own].join("\n");
            let rest =
                [(Read, &made.pairs), particles, (Write, &made.meetings), (Write, &made.corrections), status, last];
            let separate = only_particles.then_some(separate);
            let constants: Vec<_> = constants.into_iter().chain([pairs_share]).chain(separate).collect();
            binder.bind_with("find_contacts", &text, &[motion.as_slice(), &rest].concat(), &constants)
        };
        let settle = |is_last: bool| {
            let moved = [(Read, &shared.positions), (Write, &shared.displacements), (Read, &made.watched)];
            let found = [(Write, &made.corrections), status, (Read, &made.meetings)];
            binder.bind_with(
                "apply_corrections",
                include_str!("../../../shaders/collision/apply_corrections.wgsl"),
                &[&motion[..2], &moved, &found].concat(),
                &[constants[0], ("IS_LAST", f64::from(u8::from(is_last)))],
            )
        };
        let [clear_crossings, find_crossings] =
            ["intersections_clear", "intersections_find"].map(|entry| (!only_particles).then(|| crossings(entry)));
        let untangle = (!only_particles).then(untangle);
        Ok(Self {
            watch: binder.bind_with(
                "validate_pairs",
                include_str!("../../../shaders/collision/validate_pairs.wgsl"),
                &[
                    &motion[..],
                    &[
                        (Read, &made.watched),
                        particles,
                        (Write, &made.corrections),
                        status,
                        (Write, &made.dispatches),
                        (Write, &made.cells),
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
                "solve_contacts",
                include_str!("../../../shaders/collision/solve_contacts.wgsl"),
                &[particles, (Read, &made.meetings), (Write, &made.corrections), status],
            ),
            settle: [false, true].map(settle),
            divide,
            truncate,
            sort,
            clear_crossings,
            find_crossings,
            dispatches: made.dispatches,
            corrections: made.corrections,
            share,
            late_dispatches: made.late_dispatches,
            bytes: maker.made_bytes(),
        })
    }

    /// The pass and the size of its dispatch.
    pub fn dispatch(&self, pass: Pass, controls: &Controls, parameters: &ContactParams) -> Option<(&Bound, Size<'_>)> {
        let particles = Size::Threads(controls.scene.particle_count() as u32);
        let indirect = |place| Size::Indirect(&self.dispatches, place);
        match pass {
            Pass::ValidatePairs => {
                let count = controls.scene.particle_count() as u32;
                Some((&self.watch, Size::Threads(count.div_ceil(self.share))))
            }
            Pass::FindContacts => Some((&self.contacts, indirect(CONTACTS))),
            Pass::ResolveIntersections => Some((self.untangle.as_ref()?, indirect(UNTANGLE))),
            Pass::SolveContacts => Some((&self.separate, Size::Indirect(&self.late_dispatches, SEPARATE))),
            Pass::ApplyCorrections { is_last } => {
                let settle = &self.settle[usize::from(is_last)];
                Some((settle, Size::Indirect(&self.late_dispatches, SEPARATE)))
            }
            Pass::BuildDivisionPlanes { round } => {
                Some((&self.divide[round as usize], indirect(CONTACTS + 12 * u64::from(round))))
            }
            Pass::TruncateDisplacements { round } => {
                let size = Size::Indirect(&self.late_dispatches, 12 * u64::from(round));
                Some((&self.truncate[round as usize], size))
            }
            Pass::ClearIntersections => Some((self.clear_crossings.as_ref()?, particles)),
            Pass::FindIntersections => {
                Some((self.find_crossings.as_ref()?, Size::Threads(parameters.insert_end - parameters.alone_end)))
            }
            Pass::SortForIntersections(SearchPass::ClearCells) => {
                Some((self.sort.first()?, Size::Threads(parameters.tables * parameters.table_size / BLOCK)))
            }
            Pass::SortForIntersections(part) => {
                let place = SearchPass::SORT.iter().position(|&other| other == part)?;
                Some((self.sort.get(place)?, Size::Threads(parameters.threads(part))))
            }
            Pass::Search(part) => Some((self.search[part as usize].as_ref()?, self.size_of(part, parameters))),
            _ => None,
        }
    }

    /// Size of a part of the search: 0 while the pair list is valid.
    fn size_of(&self, part: SearchPass, parameters: &ContactParams) -> Size<'_> {
        let only_particles = parameters.level == 1;
        match part {
            SearchPass::FinishSearch => Size::Groups(1),
            SearchPass::ParticlePairs if only_particles => Size::Indirect(&self.late_dispatches, 0),
            SearchPass::CountCells | SearchPass::SortIntoCells if only_particles => {
                Size::Indirect(&self.late_dispatches, 12)
            }
            _ => Size::Indirect(&self.dispatches, 12 * part as u64),
        }
    }
}
