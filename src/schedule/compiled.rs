//! The compiled scene: records sorted by schedule, data of mass splitting, and the triangles around each particle.
//!
//! A scene is compiled once; both backends read the result. State that changes at run time (pins, targets, materials,
//! settings) is in [`crate::sim::controls`].

use crate::constraints::plasticity::PlasticRow;
use crate::constraints::{KindInfo, Measure, Plasticity, group, kind_index};
use crate::error::{Error, Result};
use crate::scene::{ConstraintSet, Follower, Scene, TetherGraph, rows_of};
use crate::schedule::chains::Chains;
use crate::schedule::changes::link_joints;
use crate::schedule::clusters::Clustering;
use crate::schedule::coloring::Coloring;
use crate::schedule::contacts::ContactElements;
use crate::schedule::rings::Rings;
use crate::schedule::skins::Skins;
use crate::schedule::split::{Split, split_at_once};
use crate::schedule::tearing::TearMesh;
use crate::schedule::tiling::Tiling;
use crate::schedule::trees::Trees;
use crate::settings::{Execution, Settings, Sweep};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// Maximum number of loop iterations of one GPU thread. Mesa's software driver silently ends all loops of an invocation
/// after 65 535 iterations in total.
pub(crate) const MAX_LOOP: u64 = 60_000;

/// Minimum number of constraints for which [`Execution::Auto`] uses tiles, whose shaders are slow to compile.
const WORTH_TILING: usize = 4096;

/// The same for the asset of instances; each instance runs all of its constraints.
const WORTH_TILING_ASSET: usize = 128;

/// The use of a compiled scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Scene,
    /// The asset of [`crate::Instances`]: without trees, mass splitting and skins.
    Asset,
}

/// The scene data that both backends read.
#[derive(Debug, Clone)]
pub(crate) struct CompiledScene {
    /// One entry per kind of [`crate::constraints::KINDS`].
    pub kinds: Vec<CompiledKind>,
    pub purpose: Purpose,
    pub chains: Chains,
    pub orientation_count: u32,
    pub rings: Rings,
    /// Maximum number of tethers of a particle.
    pub most_tethers: u32,
    /// By particle: first tether row · 16 + number of tethers.
    pub tether_runs: Vec<u32>,
    /// True if all particles have `most_tethers` tethers, stored consecutively.
    pub all_tethered: bool,
    /// First particle and particle count of each body.
    pub bodies: Vec<[u32; 2]>,
    pub followers: Vec<Follower>,
    pub skins: Skins,
    pub contact_elements: ContactElements,
    pub tearing: Option<TearMesh>,
}

/// The constraints of one kind, sorted by schedule.
#[derive(Debug, Clone)]
pub(crate) struct CompiledKind {
    pub info: &'static KindInfo,
    /// Of chains, or of tiles and trees, then of clusters, colours, and mass splitting.
    pub records: Vec<u32>,
    /// For groups: the rows of their members, and the number of all members.
    pub rows: Vec<[u32; 4]>,
    pub slot_count: u32,
    /// Number of threads that solve one group: 1, or [`group::THREADS`].
    pub threads: usize,
    /// Constraints in tiles.
    pub tiling: Tiling,
    /// Constraints in trees.
    pub trees: Trees,
    /// Constraints in clusters.
    pub clustering: Clustering,
    /// The order of all constraints, and the colours of the remaining ones.
    pub coloring: Coloring,
    /// The numbers of colours outside of skins; those within skins follow.
    pub outside: Colors,
    pub split: Split,
    /// In the order of the constraints.
    pub plastic: Vec<PlasticRow>,
    plasticity: BTreeMap<u32, Plasticity>,
}

/// Numbers of colours.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Colors {
    pub trees: usize,
    pub constraints: usize,
}

impl CompiledScene {
    pub fn new(scene: &Scene, settings: &Settings, purpose: Purpose) -> Result<Self> {
        #[cfg(feature = "internals")]
        counted::add();
        let particle_count = scene.particle_count();
        let mut tether_runs = vec![0; particle_count];
        let (mut next, mut most_tethers) = (0u32, 0);
        for (first, count, per_particle) in TetherGraph::runs(scene) {
            let rows = rows_of(per_particle);
            most_tethers = per_particle.max(most_tethers);
            for particle in first..first + count {
                tether_runs[particle as usize] = next << 4 | per_particle;
                next += rows;
            }
        }
        let run_of = |particle: usize| (particle as u32 * rows_of(most_tethers)) << 4 | most_tethers;
        let all_tethered = tether_runs.iter().enumerate().all(|(particle, &run)| run == run_of(particle));
        // The pieces of a torn body move apart.
        let tears = |body: &&Range<u32>| scene.tearable.iter().any(|cloth| cloth.vertices.start == body.start);
        let whole = scene.bodies.iter().filter(|body| !tears(body));
        let bodies: Vec<[u32; 2]> = whole.map(|body| [body.start, body.len() as u32]).collect();
        let rings = Rings::new(&scene.triangles, particle_count)?;
        let skins = match purpose {
            Purpose::Scene => Skins::new(&scene.constraints, particle_count),
            Purpose::Asset => Skins::default(),
        };
        let sets: Vec<_> = scene.constraints.iter().map(|set| set.with_entities(particle_count)).collect();
        let tearing = TearMesh::new(scene)?;
        let uses = (purpose, &skins, tearing.as_ref());
        let (kinds, chains) = Self::compile_kinds(&sets, scene, settings, uses)?;
        Ok(Self {
            kinds,
            chains,
            purpose,
            orientation_count: scene.orientations.len() as u32,
            rings,
            most_tethers,
            tether_runs,
            all_tethered,
            bodies,
            followers: scene.followers.clone(),
            skins,
            contact_elements: ContactElements::new(scene),
            tearing,
        })
    }
}

impl CompiledScene {
    /// Schedules the constraints of all kinds.
    fn compile_kinds(
        sets: &[Cow<'_, ConstraintSet>],
        scene: &Scene,
        settings: &Settings,
        (purpose, skins, tearing): (Purpose, &Skins, Option<&TearMesh>),
    ) -> Result<(Vec<CompiledKind>, Chains)> {
        let chains = match (settings.sweep, purpose) {
            (Sweep::GaussSeidel, Purpose::Scene) => Chains::new(sets, scene.entity_count()),
            _ => Chains::default(),
        };
        let compile = |set: &Cow<'_, ConstraintSet>| {
            let (skin, mut split) = match (settings.sweep, purpose) {
                (Sweep::GaussSeidel, Purpose::Scene) => (skins.constraints_of(set), split_at_once(set, scene)),
                _ => (Vec::new(), Vec::new()),
            };
            let torn = tearing.map_or(Vec::new(), |mesh| mesh.bound(kind_index(set.info)));
            split.retain(|constraint| torn.binary_search(constraint).is_err());
            let chained = chains.order(kind_index(set.info));
            CompiledKind::new(set, scene, settings, purpose, [&skin, &split, chained, &torn])
        };
        let mut kinds = sets.iter().map(compile).collect::<Result<Vec<_>>>()?;
        link_joints(&mut kinds);
        if let Some(mesh) = tearing {
            mesh.write_bound(&mut kinds, scene);
        }
        Ok((kinds, chains))
    }

    /// Reschedules the constraints for other settings; their current parameters are kept.
    pub fn reschedule(&mut self, scene: &Scene, settings: &Settings) -> Result<()> {
        let mut sets: Vec<_> = self.kinds.iter().map(CompiledKind::constraints).collect();
        if let Some(mesh) = &self.tearing {
            sets.iter_mut().enumerate().for_each(|(kind, set)| mesh.restore(kind, &mut set.words, scene));
        }
        let sets: Vec<_> = sets.into_iter().map(Cow::Owned).collect();
        let uses = (self.purpose, &self.skins, self.tearing.as_ref());
        (self.kinds, self.chains) = Self::compile_kinds(&sets, scene, settings, uses)?;
        Ok(())
    }

    /// By kind and constraint, the place of its record.
    pub fn places(&self) -> Vec<Vec<u32>> {
        self.kinds.iter().map(|kind| kind.coloring.places()).collect()
    }

    /// Maximum number of pairs of tethers of a particle; the shaders read two at once.
    pub fn tether_pairs(&self) -> u32 {
        rows_of(self.most_tethers) / 2
    }
}

/// The tiles of a kind; none if they are not worth compiling a shader, or if any of their constraints is in `apart`.
fn tiling(set: &ConstraintSet, scene: &Scene, settings: &Settings, purpose: Purpose, apart: &[u32]) -> Tiling {
    // Tiles have rest values as constants.
    if !settings.tiles() || !set.plastic.is_empty() {
        return Tiling::default();
    }
    let worth_tiling = match (purpose, settings.execution) {
        (Purpose::Asset, _) => WORTH_TILING_ASSET,
        (Purpose::Scene, Execution::Auto) => WORTH_TILING,
        (Purpose::Scene, _) => 0,
    };
    let tiling = Tiling::new(set, &scene.grids);
    let mut is_apart = vec![false; set.len()];
    apart.iter().for_each(|&constraint| is_apart[constraint as usize] = true);
    let is_small = tiling.order.len() < worth_tiling;
    if is_small || tiling.order.iter().any(|&constraint| is_apart[constraint as usize]) {
        return Tiling::default();
    }
    tiling
}

impl CompiledKind {
    /// `skin` lists the constraints within skins, which have colours and trees of their own. `split` lists the constraints
    /// that are solved by mass splitting; their records come last. `chained` lists those in chains of rods; their records
    /// come first. `torn` lists those that a tear may change, which are solved by colours.
    pub fn new(
        set: &ConstraintSet,
        scene: &Scene,
        settings: &Settings,
        purpose: Purpose,
        [skin, split, chained, torn]: [&[u32]; 4],
    ) -> Result<Self> {
        let info = set.info;
        let apart = [skin, split, torn].concat();
        let tiling = tiling(set, scene, settings, purpose, &apart);
        // Kinds of chains have no tiles and no trees.
        let mut clustered = [chained, &tiling.order].concat();
        let has_trees = settings.sweep == Sweep::GaussSeidel && purpose == Purpose::Scene && !info.unilateral;
        let (mut trees, mut outside) = (Trees::default(), Colors::default());
        if has_trees {
            trees = Trees::new(set, scene, clustered.len() as u32, &[&clustered[..], &apart].concat());
            outside.trees = trees.colors.len();
            if !skin.is_empty() {
                let taken: Vec<u32> =
                    (0..set.len() as u32).filter(|index| skin.binary_search(index).is_err()).collect();
                trees.extend(Trees::new(set, scene, (clustered.len() + trees.order.len()) as u32, &taken));
            }
        }
        clustered.extend(&trees.order);
        let clustering = if settings.clusters() {
            Clustering::new(set, scene.entity_count(), clustered.len(), &[&clustered[..], &apart].concat())
        } else {
            Clustering::default()
        };
        clustered.extend(&clustering.order);
        let (coloring, constraints) = set.coloring(scene.entity_count(), &clustered, skin, split);
        outside.constraints = constraints;
        let records = set.records_in(&coloring.order);
        let threads = threads(set);
        let (rows, slot_count) = (set.rows.clone(), set.slot_count);
        let mut kind = Self {
            info,
            records,
            rows,
            slot_count,
            threads,
            tiling,
            trees,
            clustering,
            coloring,
            outside,
            split: Split::default(),
            plastic: Vec::new(),
            plasticity: set.plastic.clone(),
        };
        kind.plastic = set.plastic_rows(&kind.coloring.places(), scene.materials.len() as u32);
        if info.is_group() {
            kind.check_loops()?;
        }
        kind.split(scene.entity_count(), settings.sweep)?;
        kind.check_torn(torn)?;
        Ok(kind)
    }

    /// The constraints in the order of insertion, with their current parameters.
    pub fn constraints(&self) -> ConstraintSet {
        let size = self.info.record_words;
        let mut words = vec![0; self.records.len()];
        for (place, &constraint) in self.coloring.order.iter().enumerate() {
            words[constraint as usize * size..][..size].copy_from_slice(self.record(place));
        }
        // The records may contain plastic strain.
        for row in &self.plastic {
            let (first, count) =
                (row.constraint as usize * size + self.info.arity, self.info.plastic.map_or(0, Measure::rest_words));
            words[first] = row.material;
            words[first + 1..=first + count].copy_from_slice(&row.rest.map(f32::to_bits)[..count]);
        }
        let (info, rows, plastic) = (self.info, self.rows.clone(), self.plasticity.clone());
        ConstraintSet { info, words, rows, slot_count: self.slot_count, plastic }
    }

    /// True if any constraint is solved by colours.
    pub fn has_colors(&self) -> bool {
        !self.coloring.colors.is_empty() && self.split.span.count < self.len() as u32
    }

    /// True if any constraint is solved in a tile.
    pub fn has_tiles(&self) -> bool {
        !self.tiling.is_empty() && self.split.span.count < self.len() as u32
    }

    /// True if any colour contains constraints within skins.
    pub fn has_skins(&self) -> bool {
        self.outside.trees < self.trees.colors.len() || self.outside.constraints < self.coloring.colors.len()
    }

    /// True if any pass reads the records.
    pub fn needs_records(&self) -> bool {
        self.split.span.count > 0 || !self.tiling.holds_all(self.len())
    }

    /// True if any constraint is solved in a cluster.
    pub fn has_clusters(&self) -> bool {
        !self.clustering.is_empty() && self.split.span.count < self.len() as u32
    }

    pub fn len(&self) -> usize {
        self.coloring.order.len()
    }

    /// Number of multipliers of all constraints.
    pub fn lambda_count(&self) -> usize {
        self.len() * self.info.lambda_count()
    }

    pub fn record(&self, place: usize) -> &[u32] {
        &self.records[place * self.info.record_words..][..self.info.record_words]
    }

    /// Initial rotations of groups, one per record; empty for other kinds.
    pub fn initial_rotations(&self, positions: &[[f32; 3]]) -> Vec<group::Rotation> {
        let groups = if self.info.is_group() { 0..self.len() } else { 0..0 };
        groups.map(|place| group::initial_rotation(self.record(place), &self.rows, positions)).collect()
    }

    /// `Ok` if every thread stays within the limit of loop iterations: three loops over its members, one over
    /// their details, two over the threads, and the iterations of the rotation.
    fn check_loops(&self) -> Result<()> {
        for place in 0..self.len() {
            let members = &self.rows[group::member_rows(self.record(place))];
            let mut turns = vec![2 * self.threads as u64 + group::ROTATION_STEPS as u64; self.threads];
            for (index, member) in members.chunks_exact(group::MEMBER_ROWS).enumerate() {
                turns[index % self.threads] += 3 + u64::from(member[1][3]);
            }
            check_loop("members and details of a group", turns.into_iter().max().unwrap_or(0), self.threads as u64)?;
        }
        Ok(())
    }
}

/// Number of threads that solve one group of a set: many if large groups outweigh the idle threads of small ones, or if
/// a group is too large for one thread.
fn threads(set: &ConstraintSet) -> usize {
    if !set.info.is_group() {
        return 1;
    }
    let sizes = || set.records().map(|record| record[1] as usize);
    let large: usize = sizes().filter(|&size| size > group::SMALL).sum();
    let alone = sizes().max().unwrap_or(0) > group::MOST_ALONE;
    if alone || large > 0 && sizes().count() * group::SMALL <= 4 * large { group::THREADS } else { 1 }
}

pub(crate) fn check_loop(what: &'static str, turns: u64, each: u64) -> Result<()> {
    if turns <= MAX_LOOP { Ok(()) } else { Err(Error::TooLarge { what, count: turns * each, limit: MAX_LOOP * each }) }
}

/// The number of scenes that this thread has compiled, for tests.
#[cfg(feature = "internals")]
pub mod counted {
    use std::cell::Cell;

    thread_local! {
        static COMPILED: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn add() {
        COMPILED.set(COMPILED.get() + 1);
    }

    /// The number of scenes that this thread has compiled.
    pub fn compiled_scenes() -> usize {
        COMPILED.get()
    }
}
