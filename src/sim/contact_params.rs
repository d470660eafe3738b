//! Parameters of collision: the uniform buffer of the passes of contacts.

use crate::collision::{
    Colliders, ContactMaterial, Friction, MAX_CONTACT_MATERIALS, SelfCollision, SelfCollisionLevel,
};
use crate::scene::Scene;
use crate::schedule::contacts::{ContactElements, TYPES, UNTOUCHABLE};
use crate::schedule::plan::SearchPass;
use crate::settings::Settings;
use glam::Vec3;

/// Words of a cell of the coarse grid; layout in `shaders/collision/search.wgsl`.
pub(crate) const COARSE_WORDS: u32 = 20;

/// Offsets in a coarse cell (particle level): bounds of the displacements of its particles, and of the fast particles
/// whose swept paths cross it.
const WITHIN: usize = 0;
const THROUGH: usize = 8;

/// Cells per block of the prefix sum; also in `shaders/collision/search.wgsl`.
pub(crate) const BLOCK: u32 = 64;

/// Particles per thread of the pass that gathers expired particles; also in `shaders/collision/search/particles.wgsl`.
const SHARE: u32 = 16;

/// Number of speed classes.
pub(crate) const PACES: u32 = 64;

/// Number of size levels of elements, each with its own grid; also in `shaders/common/contacts.wgsl`.
pub(crate) const LEVELS: usize = 8;

/// Flag beside the number of contacts of a particle: its displacement was truncated in the previous substep.
pub(crate) const WAS_CUT: i32 = 0x100_0000;

/// Predicted displacements per substep are stored in multiples of this many quanta: 1024ths of the thickness.
const PACE_QUANTUM: f32 = 16384.0;

/// Share of the margin that is reserved for deviation from the predicted path (particle level); the rest is for
/// unlisted particles that approach. A lower share keeps lists of straight motion valid for longer and lists fewer
/// pairs.
const ASIDE: f32 = 0.6;

/// The reach of a particle is stored in shares of the maximum reach.
const REACH_SHARES: f32 = 65536.0;

/// Maximum number of substeps for which a pair list is valid.
const MOST_SUBSTEPS: f32 = 1000.0;

/// Parameters of contacts. Layout of `shaders/common/contacts.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct ContactParams {
    pub collider_count: u32,
    pub substeps: u32,
    /// Maximum reduction of overlap in a substep \[m\].
    pub recovery: f32,
    /// 0 no self-collision, 1 particles, 2 surfaces.
    pub level: u32,
    /// Twice the allowed deviation of a particle from its predicted path before the next search \[m\]. At the particle
    /// level it is a part of the margin of the settings; [`Self::gap`] covers approach.
    pub margin: f32,
    /// Corrections are summed in integer multiples of this \[m\]: the sum does not depend on the order.
    pub quantum: f32,
    pub inverse_quantum: f32,
    /// Largest thickness of a contact material in use \[m\].
    pub thickness: f32,
    /// Entries of the hashed grid per element type: a power of two.
    pub table_size: u32,
    /// Number of grid tables in use: 1 or 3.
    pub tables: u32,
    /// Range of the elements that are inserted in the grid.
    pub insert_first: u32,
    pub insert_end: u32,
    /// End of the range of elements that query the grid; it begins at 0.
    pub query_end: u32,
    /// First isolated particle: a particle of no surface and no edge. They are stored before the edges.
    pub alone_first: u32,
    /// End of the particles, isolated ones included.
    pub alone_end: u32,
    pub pair_capacity: u32,
    pub contact_capacity: u32,
    /// Search distance between particles \[m\]: thickness, [`Self::margin`] for deviation and [`Self::gap`] for
    /// approach before the next search.
    pub reach: f32,
    /// 1 if there are pins or, at the surface level, colliders. The drift is then 0, in the search and in truncation:
    /// held particles do not move with it.
    pub anchored: u32,
    /// Cells of the coarse grid along each axis: 16, 32 or 64. The grid is periodic.
    pub coarse: u32,
    /// By type, maximum distance \[m\] between the center of an element of level 0 and its particles. Each further
    /// level allows four times as much, the last any distance. For particles: half the length of the swept path
    /// ([`Self::way_level`]).
    pub level_sizes: [f32; TYPES],
    /// Offset of the sums of the cell blocks, behind the cells of both grids.
    pub sums_first: u32,
    /// Offsets of two bit masks of the coarse cells: those with expired particles, and those with an expired cell among
    /// their neighbours. One or two words per row of cells along x.
    pub worn_first: u32,
    pub nearby_first: u32,
    /// 1/edge of a cell of the coarse grid (particle level) [1/m].
    pub inverse_coarse: f32,
    /// Offset of the quantised positions of the sorted elements.
    pub rough_first: u32,
    /// Distance \[m\] by which unlisted particles may approach before the next search: the reach minus thickness and
    /// margin.
    pub gap: f32,
    /// 1/[`Self::reach`] [1/m].
    pub inverse_reach: f32,
    /// Offset of the quantised swept paths of the sorted particles (particle level).
    pub ways_first: u32,
    pub padding: u32,
    /// By [`SearchPass`], number of threads if the pair list is expired; 0 if an earlier pass determines it.
    pub search_threads: [[u32; 4]; 4],
    /// By level and type, 1/edge of a grid cell [1/m].
    pub inverse_cells: [[f32; 4]; LEVELS],
    /// Half the thickness \[m\] (bits), collision groups, mask of groups that it collides with, 0.
    pub materials: [[u32; 4]; MAX_CONTACT_MATERIALS],
    /// By pair of materials: static friction, kinetic friction, restitution, 0.
    pub friction: [[f32; 4]; MAX_CONTACT_MATERIALS * MAX_CONTACT_MATERIALS],
}

impl ContactParams {
    pub fn new(
        scene: &Scene,
        settings: &Settings,
        contact_elements: &ContactElements,
        colliders: &Colliders,
        anchored: bool,
    ) -> Self {
        let own = &scene.contact_materials;
        let mut materials = [[0; 4]; MAX_CONTACT_MATERIALS];
        let mut friction = [[0.0; 4]; MAX_CONTACT_MATERIALS * MAX_CONTACT_MATERIALS];
        for (a, material) in own.iter().enumerate() {
            materials[a] = [(0.5 * material.thickness).to_bits(), material.groups, material.touches, 0];
            for (b, other) in own.iter().enumerate() {
                let Friction { statics, kinetic } = scene
                    .friction_pairs
                    .get(&[a.min(b) as u8, a.max(b) as u8])
                    .copied()
                    .unwrap_or_else(|| material.friction.between(other.friction));
                let restitution = material.restitution.max(other.restitution);
                friction[a * MAX_CONTACT_MATERIALS + b] = [statics, kinetic, restitution, 0.0];
            }
        }
        let used: std::collections::BTreeSet<u32> =
            contact_elements.particles.iter().map(|row| row[3] & 0xff).collect();
        let thickness =
            |place: u32| own.get(place as usize).map_or(0.0, |material: &ContactMaterial| material.thickness);
        let thickness = used.into_iter().map(thickness).fold(1e-6, f32::max);
        let own = settings.self_collision.unwrap_or_default();
        let SelfCollision { level, margin, pairs_per_particle, .. } = own;
        let surfaces = level == SelfCollisionLevel::Surfaces;
        let slack = margin * thickness;
        let margin = if surfaces { slack } else { ASIDE * slack };
        let [_, alone_first, edge_first, triangle_first, end] = contact_elements.firsts;
        let largest = if surfaces {
            (edge_first - alone_first).max(triangle_first - edge_first).max(end - triangle_first)
        } else {
            edge_first
        };
        let quantum = (thickness.log2().floor() - 24.0).exp2();
        let pairs = u64::from(pairs_per_particle) * contact_elements.particles.len() as u64;
        let capacity = |count: u64| count.min(u64::from(u32::MAX / 64)) as u32;
        let (table_size, tables) = (2 * largest.max(64).next_power_of_two(), if surfaces { 3 } else { 1 });
        // The coarse grid is periodic: many particles need more cells, or distant ones would share a cell.
        let coarse = match edge_first {
            65_536.. if !surfaces => 64u32,
            4096.. if !surfaces => 32,
            _ => 16,
        };
        // Words of a bit mask of the coarse cells.
        let words = coarse.div_ceil(32) * coarse.pow(2);
        let sums_first = tables * table_size + COARSE_WORDS * coarse.pow(3);
        let reach = thickness + 2.0 * slack;
        let worn_first = sums_first + tables * table_size / BLOCK;
        // Level 0 includes all elements that are much smaller than the reach or than the other elements.
        let least = contact_elements.radii.iter().map(|[small, _]| 0.25 * small).fold(0.5 * reach, f32::max);
        let radii = contact_elements.radii.map(|[small, largest]| if largest > 0.0 { small.max(least) } else { 0.0 });
        // The largest swept path of level 1 is as long as the reach.
        let way_size = 0.125 * reach;
        let inverse_cells = |level: usize| {
            let inverse_cell = |of: usize| {
                let limit = radii[of] * 4f32.powi(level as i32);
                let radius = match of {
                    0 => way_radius(level as u32, way_size),
                    _ if level == LEVELS - 1 => limit.max(contact_elements.radii[of][1]),
                    _ => limit,
                };
                // A margin of 0.1 %, so that rounding of a position to its cell misses no pair.
                1.0 / ((reach + radius) * 1.001)
            };
            [inverse_cell(0), inverse_cell(1), inverse_cell(2), 0.0]
        };
        let blocks = tables * table_size / BLOCK;
        let (insert_first, insert_end) = if surfaces { (alone_first, end) } else { (0, edge_first) };
        let inserted = insert_end - insert_first;
        let rough_first = (worn_first + 2 * words).next_multiple_of(4);
        let threads = |part: SearchPass| match part {
            SearchPass::ClearCells if surfaces => {
                blocks.max(coarse.pow(3)).max(insert_end).max(contact_elements.particles.len() as u32)
            }
            SearchPass::ClearCells => blocks.max(words),
            SearchPass::MarkStale => edge_first.div_ceil(SHARE),
            SearchPass::MeasureMotion => edge_first.max(inserted),
            SearchPass::SetHorizons if surfaces => coarse.pow(3),
            SearchPass::SetHorizons => words,
            SearchPass::CountCells | SearchPass::SortIntoCells if surfaces => inserted,
            SearchPass::SumBlocks | SearchPass::CellOffsets => blocks,
            SearchPass::ScanBlocks => 1,
            SearchPass::ParticlePairs if surfaces => edge_first - alone_first,
            SearchPass::VertexPairs => edge_first,
            SearchPass::EdgePairs => triangle_first - edge_first,
            SearchPass::RemoveStalePairs
            | SearchPass::CountCells
            | SearchPass::SortIntoCells
            | SearchPass::ParticlePairs
            | SearchPass::FinishSearch => 0,
        };
        let mut search_threads = [[0; 4]; 4];
        for part in SearchPass::ALL.into_iter().filter(|part| part.is_of(level)) {
            search_threads[part as usize / 4][part as usize % 4] = threads(part);
        }
        Self {
            collider_count: colliders.len() as u32,
            substeps: settings.substeps,
            recovery: settings.recovery_speed * settings.substep(),
            level: settings.self_collision.map_or(0, |_| if surfaces { 2 } else { 1 }),
            margin,
            quantum,
            inverse_quantum: 1.0 / quantum,
            thickness,
            table_size,
            tables,
            insert_first,
            insert_end,
            query_end: if surfaces { triangle_first } else { edge_first },
            alone_first,
            alone_end: edge_first,
            pair_capacity: capacity(pairs),
            contact_capacity: capacity(pairs.div_ceil(2).max(64)),
            reach,
            anchored: u32::from(anchored),
            coarse,
            // 2.1 instead of 2: elements of meshes whose sizes are powers of two do not lie on a limit.
            level_sizes: [way_size, (2.1 * radii[1]).max(reach), (2.1 * radii[2]).max(reach)],
            sums_first,
            worn_first,
            nearby_first: worn_first + words,
            inverse_coarse: inverse_coarse(reach),
            // A multiple of 4: passes load four entries at a time.
            rough_first,
            ways_first: rough_first + inserted.next_multiple_of(4),
            gap: reach - (thickness + margin),
            inverse_reach: 1.0 / reach,
            padding: 0,
            search_threads,
            inverse_cells: std::array::from_fn(inverse_cells),
            materials,
            friction,
        }
    }

    /// Number of threads of a pass of the search if the pair list is expired.
    pub fn threads(&self, part: SearchPass) -> u32 {
        self.search_threads[part as usize / 4][part as usize % 4]
    }

    /// Number of words of the cell buffer: both grids, sums, bit masks, quantised positions and paths.
    pub fn cell_words(&self) -> u32 {
        let ways = if self.level == 1 { 2 } else { 1 };
        self.rough_first + ways * (self.insert_end - self.insert_first).next_multiple_of(4)
    }

    /// Initial non-zero content of the cell buffer: the offset of the coarse grid and its words, all bounds empty.
    pub fn empty_coarse_grid(&self) -> (u32, Vec<u32>) {
        let first = self.tables * self.table_size;
        let mut words = vec![0; (self.sums_first - first) as usize];
        for cell in words.chunks_mut(COARSE_WORDS as usize) {
            for bounds in [WITHIN, THROUGH] {
                cell[bounds..bounds + 3].fill(u32::MAX);
            }
        }
        (first, words)
    }

    /// Returns true if elements of two contact materials collide with each other.
    pub fn touch(&self, a: u32, b: u32) -> bool {
        if a == UNTOUCHABLE || b == UNTOUCHABLE {
            return false;
        }
        let ([_, groups_a, touches_a, _], [_, groups_b, touches_b, _]) =
            (self.materials[a as usize], self.materials[b as usize]);
        groups_a & touches_b != 0 && groups_b & touches_a != 0
    }

    /// Level of an element of a type by its squared size, which moving elements take from the current step.
    pub fn size_level(&self, square_size: f32, of: u32) -> u32 {
        let size = self.level_sizes[of as usize];
        let limits = (0..LEVELS as i32 - 1).map(|level| size * size * 16f32.powi(level));
        // NaN goes to the last level.
        limits.take_while(|&limit| square_size.is_nan() || square_size >= limit).count() as u32
    }

    /// Maximum distance \[m\] between the center of an element of a level and its particles, if none exceeds `largest`.
    pub fn radius_in_level(&self, level: u32, of: u32, largest: f32) -> f32 {
        let limit = self.level_sizes[of as usize] * (1 << (2 * level)) as f32;
        if level == LEVELS as u32 - 1 { largest } else { limit.min(largest) }
    }

    /// Level of a fast particle, at least 1, by the squared half of its swept path.
    pub fn way_level(&self, square_half: f32) -> u32 {
        self.size_level(square_half, 0).max(1)
    }

    /// Maximum half length of a swept path of a level \[m\]. Longer paths would cross more cells than a query may
    /// visit.
    pub fn way_radius(&self, level: u32) -> f32 {
        way_radius(level, self.level_sizes[0])
    }

    /// 1/edge of a cell of the coarse grid for elements of this radius [1/m].
    pub fn inverse_coarse(&self, radius: f32) -> f32 {
        inverse_coarse(self.reach + radius)
    }

    /// Number of substeps for which a pair list is valid. `local` bounds the relative displacements of near or slow
    /// elements, `most` those of all; 0 disables a bound. The list expires when an unlisted pair may have approached by
    /// the gap or, if a coarse cell lies between, by 2/3 of its edge. For surfaces see
    /// `shaders/collision/search/surfaces.wgsl`.
    pub fn horizon(&self, gap: f32, local: f32, most: f32, inverse_coarse: f32) -> u32 {
        let near = if local > 0.0 { gap / local } else { MOST_SUBSTEPS };
        let far = if most > 0.0 { 0.666 / (inverse_coarse * most) } else { MOST_SUBSTEPS };
        near.min(far).min(MOST_SUBSTEPS) as u32
    }

    /// Search distance \[m\] of a particle with this horizon, if nothing near it moves faster than `extent` \[m\] per
    /// substep relative to it. Unlisted particles stay beyond thickness and margin. Rounded up to the shares that the
    /// GPU stores (`outlook` in `shaders/common/contacts.wgsl`).
    pub fn reach_within(&self, horizon: u32, extent: f32) -> f32 {
        let far = self.reach - (self.gap - horizon as f32 * extent);
        let shares = ((far * self.inverse_reach) * (1.0001 * REACH_SHARES)).ceil().clamp(1.0, REACH_SHARES);
        if horizon > 0 { self.reach * (shares / REACH_SHARES) } else { self.reach }
    }

    /// A predicted displacement per substep, rounded to the 3 × 16 bits that the GPU stores.
    pub fn kept_pace(&self, pace: Vec3) -> Vec3 {
        let quanta =
            (pace * (self.inverse_quantum * PACE_QUANTUM.recip())).clamp(Vec3::splat(-32767.0), Vec3::splat(32767.0));
        quanta.map(f32::round_ties_even) * (self.quantum * PACE_QUANTUM)
    }

    /// Speed class; four classes are an octave.
    pub fn pace_class(&self, speed: f32) -> u32 {
        (speed.to_bits() >> 21).saturating_sub(self.first_class()).min(PACES - 1)
    }

    /// The class of 1/1024 of the thickness.
    fn first_class(&self) -> u32 {
        (self.thickness * 2f32.powi(-10)).to_bits() >> 21
    }

    /// Upper bound of the speed of at least 63 of 64 particles, from the number of particles in each class.
    pub fn slow(&self, counts: [u32; PACES as usize]) -> f32 {
        let (mut class, mut faster) = (PACES - 1, counts[PACES as usize - 1]);
        while class > 0 && faster <= self.alone_end / 64 {
            class -= 1;
            faster += counts[class as usize];
        }
        f32::from_bits((self.first_class() + class + 1) << 21)
    }

    /// Half the thickness of a material \[m\].
    pub fn radius(&self, material: u32) -> f32 {
        f32::from_bits(self.materials[material as usize][0])
    }

    /// Static friction, kinetic friction, restitution, 0.
    pub fn friction(&self, a: u32, b: u32) -> [f32; 4] {
        self.friction[a as usize * MAX_CONTACT_MATERIALS + b as usize]
    }
}

fn way_radius(level: u32, way_size: f32) -> f32 {
    if level == 0 { 0.0 } else { way_size * (1 << (2 * level)) as f32 }
}

fn inverse_coarse(reach: f32) -> f32 {
    1.0 / (3.0 * reach)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_those_of_the_shaders() {
        let shared = include_str!("../../shaders/common/contacts.wgsl");
        let search = include_str!("../../shaders/collision/search.wgsl");
        let particles = include_str!("../../shaders/collision/search/particles.wgsl");
        let surfaces = include_str!("../../shaders/collision/search/surfaces.wgsl");
        let cluster = include_str!("../../shaders/schedule/project_cluster.wgsl");
        let pair = include_str!("../../shaders/common/pair.wgsl");
        for (text, line) in [
            (shared, format!("const COARSE_WORDS = {COARSE_WORDS}u;")),
            (shared, format!("const LEVELS = {LEVELS}u;")),
            (shared, format!("const SEARCH_PASSES = {}u;", SearchPass::ALL.len())),
            (shared, format!("const PRUNE = {}u;", SearchPass::RemoveStalePairs as u32)),
            (shared, format!("const LEVEL_SHIFT = {}u;", 31 - LEVELS.ilog2())),
            (shared, format!("const PACE_QUANTUM = {PACE_QUANTUM:?};")),
            (shared, format!("const REACH_SHARES = {REACH_SHARES:?};")),
            // The longest horizon must fit in this many bits.
            (shared, format!("const REACH_SHIFT = {}u;", (MOST_SUBSTEPS as u32).ilog2() + 3)),
            (search, format!("const BLOCK = {BLOCK}u;")),
            (particles, format!("const SHARE = {SHARE}u;")),
            (particles, format!("const WITHIN = {WITHIN}u;")),
            (particles, format!("const THROUGH = {THROUGH}u;")),
            (surfaces, format!("const PACES = {PACES}u;")),
            (pair, format!("const WAS_CUT = {WAS_CUT:#x};")),
            (cluster, format!("const HEAD = {}u;", crate::schedule::clusters::HEAD)),
        ] {
            assert!(text.lines().any(|own| own == line), "{line}");
        }
    }
}
