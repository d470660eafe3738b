//! Contacts between particles and surfaces: their lists, and the passes that find and solve them.

use super::event_passes::event_buffers;
use super::growth::Watch;
use super::search_passes::SearchPasses;
use super::{Binder, Binding, Bound, Contacts, Size, scaled, sewn};
use crate::error::Result;
use crate::gpu::buffers::Buffers;
use crate::gpu::maker::Maker;
use crate::gpu::stage::Slot::{Read, Uniform, Write};
use crate::gpu::stage::flag;
use crate::gpu::store::PipelineStore;
use crate::schedule::plan::{DIVISION_ROUNDS, Pass, SearchPass};
use crate::sim::capacities::Capacities;
use crate::sim::contact_params::ContactParams;
use crate::sim::controls::Controls;
use wgpu::BufferUsages;

/// Bytes of `ActiveContact`, of a pair and of `PreviousContact` in `shaders/common/pair.wgsl`.
pub(in crate::gpu) const CONTACT_BYTES: u64 = 96;
pub(super) const PAIR_BYTES: u64 = 16;
const PREVIOUS_BYTES: u64 = 48;

/// Bytes of the rows of a particle in `corrections`; see `shaders/collision/find_contacts.wgsl`.
pub(in crate::gpu) const CORRECTION_BYTES: u64 = 48;

/// Byte offsets in `dispatches`: workgroups of find_contacts and build_division_planes; of resolve_intersections; of
/// solve_contacts, apply_corrections and note_contacts.
const FIND: u64 = 12 * SearchPass::ALL.len() as u64;
const RESOLVE: u64 = FIND + 12;
const SOLVE: u64 = RESOLVE + 12;

/// The passes of contacts between particles.
#[derive(Debug)]
pub(in crate::gpu) struct ContactPasses {
    search: SearchPasses,
    find: Bound,
    resolve: Option<Bound>,
    /// Bits of the index: the last iteration, the sum that it completes, whether it continues the one before.
    solve: Vec<Bound>,
    apply: Bound,
    /// One pass for each round of division planes.
    divide: Vec<Bound>,
    truncate: Option<Bound>,
    /// `None` without contact events.
    note: Option<Bound>,
    /// Workgroups of passes: 12 bytes each; see `shaders/common/contacts.wgsl`.
    dispatches: wgpu::Buffer,
    /// Sums, counts and lists of contacts per particle.
    pub corrections: wgpu::Buffer,
    tracked: wgpu::Buffer,
    intersections: wgpu::Buffer,
    /// The buffers whose size depends on the capacities: pairs, contacts, previous contacts.
    pub(super) lists: [wgpu::Buffer; 3],
    /// `None` if the lists do not grow.
    pub(super) watch: Option<Watch>,
    /// Size of all its buffers [bytes].
    pub bytes: u64,
}

/// Creates the buffers of pairs, contacts and previous contacts.
pub(super) fn make_lists(maker: &Maker, capacities: Capacities) -> Result<[wgpu::Buffer; 3]> {
    let make = |label, capacity, bytes| maker.empty(label, u64::from(capacity) * bytes, BufferUsages::STORAGE);
    let Capacities { pairs, contacts, .. } = capacities;
    Ok([
        make("pairs", pairs, PAIR_BYTES)?,
        make("contacts", contacts, CONTACT_BYTES)?,
        make("previous contacts", contacts, PREVIOUS_BYTES)?,
    ])
}

/// The buffers of [`ContactPasses`]; see the table in `mod.rs`.
pub(super) struct PairBuffers {
    pub elements: wgpu::Buffer,
    pub cells: wgpu::Buffer,
    pub volumes: wgpu::Buffer,
    pub tracked: wgpu::Buffer,
    pub pairs: wgpu::Buffer,
    pub contacts: wgpu::Buffer,
    pub previous: wgpu::Buffer,
    pub corrections: wgpu::Buffer,
    pub dispatches: wgpu::Buffer,
    pub intersections: wgpu::Buffer,
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
            (&contact_elements.elements[..parameters.particle_end as usize], [].as_slice())
        } else {
            (contact_elements.elements.as_slice(), contact_elements.wings.as_slice())
        };
        let wings = wings.iter().map(|&[left, right]| [left, right, 0, 0]);
        let rows: Vec<[u32; 4]> = elements.iter().copied().chain(wings).collect();
        let elements = maker.filled(queue, "elements", &rows, storage)?;
        let cells = maker.empty("cells", u64::from(parameters.table_size) * 4, storage)?;
        let volumes = maker.empty("volumes", u64::from(parameters.element_end) * 32, storage)?;
        let tracked = maker.empty("tracked", count * 32, storage)?;
        let [pairs, contacts, previous] = make_lists(maker, controls.capacities)?;
        let corrections = maker.empty("corrections", count * CORRECTION_BYTES, storage)?;
        // No workgroups until a pass writes their number.
        let sizes = [[0u32, 1, 1]; SearchPass::ALL.len() + 3];
        let dispatches = maker.filled(queue, "contact_dispatches", &sizes, storage | BufferUsages::INDIRECT)?;
        let intersections = maker.empty("intersections", if only_particles { 4 } else { count * 32 }, storage)?;
        Ok(Self {
            elements,
            cells,
            volumes,
            tracked,
            pairs,
            contacts,
            previous,
            corrections,
            dispatches,
            intersections,
        })
    }
}

impl ContactPasses {
    /// An error if a buffer exceeds the limits.
    pub fn new(
        contacts: &Contacts,
        store: &PipelineStore,
        queue: &wgpu::Queue,
        controls: &Controls,
        shared: &Buffers,
    ) -> Result<Self> {
        let maker = Maker::new(store.device());
        let made = PairBuffers::new(&maker, queue, controls)?;
        let only_particles = controls.contact_params().level == 1;
        let binder = Binder { store };
        let (params, parameters) = ((Uniform, &shared.params), (Uniform, &contacts.params));
        let bindings = Bindings {
            binder: &binder,
            made: &made,
            motion: [params, parameters, (Read, &shared.positions), (Read, &shared.displacements)],
            displacements: (Write, &shared.displacements),
            particles: (Read, &contacts.particles),
            status: (Write, &contacts.status),
            constants: [("ONLY_PARTICLES", flag(only_particles)), ("SCALED", scaled(controls))],
            sewn: ("SEWN", sewn(controls)),
        };
        let solve = |place: u32| -> Result<Bound> {
            let row = [place & 1, place >> 1 & 1, place >> 2, 0];
            Ok(bindings.solve(&maker.filled(queue, "contact_iteration", &[row], BufferUsages::UNIFORM)?))
        };
        // No intersections and no division planes at the particle level.
        let rounds = 0..if only_particles { 0 } else { DIVISION_ROUNDS };
        Ok(Self {
            search: SearchPasses::new(&bindings, controls),
            find: bindings.find(),
            resolve: (!only_particles).then(|| bindings.resolve()),
            solve: (0..8).map(solve).collect::<Result<_>>()?,
            apply: bindings.apply(),
            divide: rounds.map(|round| bindings.divide(round)).collect(),
            truncate: (!only_particles).then(|| bindings.truncate()),
            note: (controls.settings.contact_events > 0).then(|| bindings.note(shared)),
            watch: (!controls.capacities.is_fixed).then(|| Watch::new(&maker)).transpose()?,
            bytes: maker.made_bytes(),
            lists: [made.pairs, made.contacts, made.previous],
            dispatches: made.dispatches,
            corrections: made.corrections,
            tracked: made.tracked,
            intersections: made.intersections,
        })
    }

    /// The buffers with state that outlasts a step. The grid is filled anew by each search, contacts in each substep.
    pub fn state_buffers(&self) -> [(&'static str, &wgpu::Buffer); 6] {
        let [pairs, _, previous] = &self.lists;
        [
            ("pairs", pairs),
            ("previous contacts", previous),
            ("tracked", &self.tracked),
            ("corrections", &self.corrections),
            ("intersections", &self.intersections),
            ("dispatches", &self.dispatches),
        ]
    }

    /// All passes.
    pub(super) fn passes_mut(&mut self) -> impl Iterator<Item = &mut Bound> {
        let own = [&mut self.find, &mut self.apply].into_iter().chain(&mut self.resolve).chain(&mut self.solve);
        own.chain(&mut self.divide).chain(&mut self.truncate).chain(&mut self.note).chain(self.search.passes_mut())
    }

    /// The pass and the size of its dispatch.
    pub fn dispatch(&self, pass: Pass, controls: &Controls, parameters: &ContactParams) -> Option<(&Bound, Size<'_>)> {
        let indirect = |place| Size::Indirect(&self.dispatches, place);
        match pass {
            Pass::FindContacts => Some((&self.find, indirect(FIND))),
            Pass::ResolveIntersections => Some((self.resolve.as_ref()?, indirect(RESOLVE))),
            Pass::SolveContacts { is_last, sum, continues } => {
                let place = u32::from(is_last) | sum << 1 | u32::from(continues) << 2;
                Some((&self.solve[place as usize], indirect(SOLVE)))
            }
            Pass::ApplyCorrections => Some((&self.apply, indirect(SOLVE))),
            Pass::NoteContacts => Some((self.note.as_ref()?, indirect(SOLVE))),
            Pass::BuildDivisionPlanes { round } => Some((&self.divide[round as usize], indirect(FIND))),
            Pass::TruncateDisplacements => {
                Some((self.truncate.as_ref()?, Size::Threads(controls.scene.particle_count() as u32)))
            }
            _ => self.search.dispatch(pass, controls, parameters, &self.dispatches),
        }
    }
}

/// The buffers and constants that the passes share.
pub(super) struct Bindings<'a> {
    pub binder: &'a Binder<'a>,
    pub made: &'a PairBuffers,
    /// Parameters, positions and displacements.
    pub motion: [Binding<'a>; 4],
    pub displacements: Binding<'a>,
    pub particles: Binding<'a>,
    pub status: Binding<'a>,
    pub constants: [(&'a str, f64); 2],
    /// Of the passes that list pairs and intersections.
    pub sewn: (&'a str, f64),
}

impl Bindings<'_> {
    fn find(&self) -> Bound {
        let made = self.made;
        let own = [
            (Read, &made.pairs),
            self.particles,
            (Write, &made.contacts),
            (Write, &made.corrections),
            self.status,
            (Read, &made.previous),
        ];
        let text = concat!(
            include_str!("../../../shaders/collision/find_contacts.wgsl"),
            include_str!("../../../shaders/collision/contact_list.wgsl"),
            include_str!("../../../shaders/collision/contact_sides.wgsl"),
            include_str!("../../../shaders/collision/pair_state.wgsl")
        );
        self.binder.bind_with("find_contacts", text, &[self.motion.as_slice(), &own].concat(), &self.constants)
    }

    fn resolve(&self) -> Bound {
        let made = self.made;
        let own = [(Read, &made.intersections), (Write, &made.contacts), (Write, &made.corrections), self.status];
        let text = concat!(
            include_str!("../../../shaders/collision/resolve_intersections.wgsl"),
            include_str!("../../../shaders/collision/contact_list.wgsl")
        );
        self.binder.bind("resolve_intersections", text, &[&self.motion[..3], &own].concat())
    }

    fn solve(&self, iteration: &wgpu::Buffer) -> Bound {
        let made = self.made;
        let own = [
            self.particles,
            (Write, &made.contacts),
            (Write, &made.corrections),
            self.status,
            (Write, &made.previous),
            (Uniform, iteration),
        ];
        let text = concat!(
            include_str!("../../../shaders/collision/solve_contacts.wgsl"),
            include_str!("../../../shaders/collision/contact_sides.wgsl"),
            include_str!("../../../shaders/collision/pair_state.wgsl")
        );
        self.binder.bind_with("solve_contacts", text, &[self.motion.as_slice(), &own].concat(), &self.constants)
    }

    fn apply(&self) -> Bound {
        let made = self.made;
        let own = [
            self.displacements,
            (Read, &made.tracked),
            (Write, &made.corrections),
            self.status,
            (Read, &made.contacts),
        ];
        let text = concat!(
            include_str!("../../../shaders/collision/apply_corrections.wgsl"),
            include_str!("../../../shaders/collision/search/tracked.wgsl")
        );
        self.binder.bind_with("apply_corrections", text, &[&self.motion[..3], &own].concat(), &self.constants[..1])
    }

    fn note(&self, shared: &Buffers) -> Bound {
        let own = [(Read, &self.made.contacts), self.status];
        let text = concat!(
            include_str!("../../../shaders/collision/note_contacts.wgsl"),
            include_str!("../../../shaders/collision/event_table.wgsl")
        );
        let bindings = [&[self.motion[0], self.motion[2]], own.as_slice(), &event_buffers(shared)].concat();
        self.binder.bind_with("note_contacts", text, &bindings, &self.constants[..1])
    }

    fn divide(&self, round: u32) -> Bound {
        let made = self.made;
        let own = [(Read, &made.pairs), self.particles, (Write, &made.corrections), self.status];
        let text = concat!(
            include_str!("../../../shaders/collision/build_division_planes.wgsl"),
            include_str!("../../../shaders/collision/contact_sides.wgsl"),
            include_str!("../../../shaders/collision/pair_state.wgsl")
        );
        let bindings = [self.motion.as_slice(), &own].concat();
        let constants = [("ROUND", f64::from(round)), self.constants[1]];
        self.binder.bind_with("build_division_planes", text, &bindings, &constants)
    }

    fn truncate(&self) -> Bound {
        let own = [self.motion[0], self.displacements, (Write, &self.made.corrections), self.status];
        let text = include_str!("../../../shaders/collision/truncate_displacements.wgsl");
        self.binder.bind("truncate_displacements", text, &own)
    }
}
