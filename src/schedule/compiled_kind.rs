//! The constraints of one kind in a compiled scene.

use crate::constraints::plasticity::PlasticRow;
use crate::constraints::{KindInfo, Measure, Plasticity, group, kind_index};
use crate::error::Result;
use crate::scene::ConstraintSet;
use crate::schedule::chains::Chains;
use crate::schedule::clusters::Clustering;
use crate::schedule::coloring::Coloring;
use crate::schedule::compiled::{Purpose, ScheduleInput, check_loop};
use crate::schedule::split::{Split, split_at_once};
use crate::schedule::tiling::Tiling;
use crate::schedule::trees::Trees;
use crate::settings::Execution;
use std::collections::BTreeMap;

/// Minimum number of constraints for which [`Execution::Auto`] uses tiles, whose shaders are slow to compile.
const WORTH_TILING: usize = 4096;

/// The same for the asset of instances; each instance runs all of its constraints.
const WORTH_TILING_ASSET: usize = 128;

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

/// Indices of the constraints of a kind that tiles and clusters leave to other schedules, ascending except those of chains.
#[derive(Default)]
struct Exceptions<'a> {
    /// In chains of rods; their records come first, in this order.
    chained: &'a [u32],
    /// Within skins, which have colours and trees of their own.
    skin: Vec<u32>,
    /// Solved by mass splitting; their records come last.
    split: Vec<u32>,
    /// Those that a tear may change, which are solved by colours.
    tearable: Vec<u32>,
}

impl<'a> Exceptions<'a> {
    fn new(set: &ConstraintSet, input: ScheduleInput<'_>, chains: &'a Chains) -> Self {
        let kind = kind_index(set.info);
        let mut found = Self { chained: chains.order(kind), ..Self::default() };
        if input.is_gauss_seidel_scene() {
            (found.skin, found.split) = (input.skins.constraints_of(set), split_at_once(set, input.scene));
        }
        found.tearable = input.tearing.map_or(Vec::new(), |mesh| mesh.tearable(kind));
        found.split.retain(|constraint| found.tearable.binary_search(constraint).is_err());
        found
    }
}

/// The tiles of a kind; none if they are not worth compiling a shader, or if any of their constraints is in `apart`.
fn tiling(set: &ConstraintSet, input: ScheduleInput<'_>, apart: &[u32]) -> Tiling {
    let ScheduleInput { scene, settings, purpose, .. } = input;
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
    pub(super) fn new(set: &ConstraintSet, input: ScheduleInput<'_>, chains: &Chains) -> Result<Self> {
        let (info, ScheduleInput { scene, settings, .. }) = (set.info, input);
        let Exceptions { chained, skin, split, tearable } = Exceptions::new(set, input, chains);
        let apart = [skin.as_slice(), &split, &tearable].concat();
        let tiling = tiling(set, input, &apart);
        // In the order of their records. Kinds of chains have no tiles and no trees.
        let mut ordered = [chained, tiling.order.as_slice()].concat();
        let (mut trees, mut outside) = (Trees::default(), Colors::default());
        if input.is_gauss_seidel_scene() && !info.unilateral {
            trees = Trees::new(set, scene, ordered.len() as u32, &[ordered.as_slice(), &apart].concat());
            outside.trees = trees.colors.len();
            if !skin.is_empty() {
                let others: Vec<u32> =
                    (0..set.len() as u32).filter(|index| skin.binary_search(index).is_err()).collect();
                trees.extend(Trees::new(set, scene, (ordered.len() + trees.order.len()) as u32, &others));
            }
        }
        ordered.extend(&trees.order);
        let clustering = if settings.clusters() {
            Clustering::new(set, scene.entity_count(), ordered.len(), &[ordered.as_slice(), &apart].concat())
        } else {
            Clustering::default()
        };
        ordered.extend(&clustering.order);
        let (coloring, constraints) = set.coloring(scene.entity_count(), &ordered, &skin, &split);
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
        kind.check_tearable(&tearable)?;
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
            let mut iterations = vec![2 * self.threads as u64 + group::ROTATION_STEPS as u64; self.threads];
            for (index, member) in members.chunks_exact(group::MEMBER_ROWS).enumerate() {
                iterations[index % self.threads] += 3 + u64::from(member[1][3]);
            }
            check_loop(
                "members and details of a group",
                iterations.into_iter().max().unwrap_or(0),
                self.threads as u64,
            )?;
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
