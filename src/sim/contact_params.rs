//! What the players read of a scene's contacts: the figures by which things meet.

use crate::collision::{
    Colliders, ContactMaterial, Friction, MAX_CONTACT_MATERIALS, SelfCollision, SelfCollisionLevel,
};
use crate::scene::Scene;
use crate::schedule::contacts::{ContactElements, TYPES, UNTOUCHABLE};
use crate::schedule::plan::SearchPass;
use crate::settings::Settings;
use glam::Vec3;

/// Words of a cell of the coarse grid; `shaders/collision/search.wgsl` says which.
pub(crate) const COARSE_WORDS: u32 = 20;

/// Where in a cell of that of particles the bounds of the displacements in it stand, and of those that come through it.
const WITHIN: usize = 0;
const THROUGH: usize = 8;

/// A search sums its cells in blocks of so many; `shaders/collision/search.wgsl` has it too.
pub(crate) const BLOCK: u32 = 64;

/// How many particles a thread of a search gathers; `shaders/collision/search/particles.wgsl` has it too.
const SHARE: u32 = 16;

/// How many classes of speeds there are.
pub(crate) const PACES: u32 = 64;

/// Into how many levels elements fall by their size, each with a grid of its own; `shaders/common/contacts.wgsl` has it too.
pub(crate) const LEVELS: usize = 8;

/// Beside the number of contacts of a particle: that its way was cut in the substep before.
pub(crate) const WAS_CUT: i32 = 0x100_0000;

/// How far things go in a substep is kept in so many quanta, which are a 1024th of the thickness.
const PACE_QUANTUM: f32 = 16384.0;

/// How much of the margin is, between particles, for what leaves its way, the rest for what comes nearer unseen: the less, the longer a look holds
/// for what goes straight, and the fewer pairs are listed.
const ASIDE: f32 = 0.6;

/// In what shares of the reach a particle knows how far it looked.
const REACH_SHARES: f32 = 65536.0;

/// How long a list of pairs may hold.
const MOST_SUBSTEPS: f32 = 1000.0;

/// The figures of contacts, as the shaders read them (`shaders/common/contacts.wgsl`).
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct ContactParams {
    pub collider_count: u32,
    pub substeps: u32,
    /// How far overlap is taken back in a substep \[m\].
    pub recovery: f32,
    /// 0 none, 1 particles, 2 surfaces.
    pub level: u32,
    /// How far a particle may be aside from its way, twice, before it looks again \[m\]: the margin of the search, of which between particles a part
    /// is for [`Self::gap`] instead.
    pub margin: f32,
    /// Corrections are added up in multiples of this \[m\], so that their order does not matter.
    pub quantum: f32,
    pub inverse_quantum: f32,
    /// The largest thickness \[m\].
    pub thickness: f32,
    /// Entries of the grid by type: a power of two.
    pub table_size: u32,
    /// Tables of the grid that are in use: 1 or 3.
    pub tables: u32,
    /// The elements that stand in the grid.
    pub insert_first: u32,
    pub insert_end: u32,
    /// The elements that look for others: all before this one.
    pub query_end: u32,
    /// The particles that stand alone: from this one on, before the edges.
    pub alone_first: u32,
    /// Those that stand in a surface or an edge, and those that stand alone: before this one.
    pub alone_end: u32,
    pub pair_capacity: u32,
    pub contact_capacity: u32,
    /// How near particles are that the search sees: the thickness, [`Self::margin`] for what moves aside before the next search, and [`Self::gap`] for
    /// what comes nearer until then \[m\].
    pub reach: f32,
    /// 1 where any particle is held, by a pin or, between surfaces, by a collider: then nothing is taken to travel with the others, neither by
    /// cuts, which would take along what is held, nor by the search, whose list has to hold between what is cut and what goes on.
    pub anchored: u32,
    /// Cells of the coarse grid along each axis: 16, 32 or 64. It repeats itself beyond.
    pub coarse: u32,
    /// By type, how far the center of an element of level 0 is from its particles, less than this \[m\]. In each further level it is four times
    /// as far, in the last any distance. Of particles, whose levels are those of ways ([`Self::way_level`]), half of the way.
    pub level_sizes: [f32; TYPES],
    /// Where the sums of blocks of cells lie behind the cells of both grids.
    pub sums_first: u32,
    /// Where the marks lie of coarse cells in which particles are to look for others anew, and of those that are near one: a word or
    /// two for each row of cells along x.
    pub worn_first: u32,
    pub nearby_first: u32,
    /// 1/the edge of a cell of the coarse grid where nothing but particles touches [1/m].
    pub inverse_coarse: f32,
    /// Where the rough places of the sorted elements lie.
    pub rough_first: u32,
    /// How much nearer to a particle others may come unseen before it looks again \[m\]: what the reach is more than thickness and margin.
    pub gap: f32,
    /// 1/[`Self::reach`] [1/m].
    pub inverse_reach: f32,
    /// Where the rough ways of the sorted particles lie, where nothing else touches.
    pub ways_first: u32,
    pub padding: u32,
    /// By [`SearchPass`], how many threads it takes where the list of pairs does not hold; 0 where only the passes before it know.
    pub search_threads: [[u32; 4]; 4],
    /// By level and type, 1/the edge of a cell of the grid in which its elements stand [1/m].
    pub inverse_cells: [[f32; 4]; LEVELS],
    /// Half the thickness \[m\] (bits), groups, touches, 0.
    pub materials: [[u32; 4]; MAX_CONTACT_MATERIALS],
    /// By material and material: static and kinetic friction, restitution, 0.
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
        // Where many particles are they take much room, and what repeats itself within it would be taken to be near.
        let coarse = match edge_first {
            65_536.. if !surfaces => 64u32,
            4096.. if !surfaces => 32,
            _ => 16,
        };
        // Of the marks of its cells.
        let words = coarse.div_ceil(32) * coarse.pow(2);
        let sums_first = tables * table_size + COARSE_WORDS * coarse.pow(3);
        let reach = thickness + 2.0 * slack;
        let worn_first = sums_first + tables * table_size / BLOCK;
        // What is much smaller than the reach, or than the others, need not be told apart from what is as large.
        let least = contact_elements.radii.iter().map(|[small, _]| 0.25 * small).fold(0.5 * reach, f32::max);
        let radii = contact_elements.radii.map(|[small, largest]| if largest > 0.0 { small.max(least) } else { 0.0 });
        // Ways of level 1 are at most as long as the reach.
        let way_size = 0.125 * reach;
        let inverse_cells = |level: usize| {
            let inverse_cell = |of: usize| {
                let limit = radii[of] * 4f32.powi(level as i32);
                let radius = match of {
                    0 => way_radius(level as u32, way_size),
                    _ if level == LEVELS - 1 => limit.max(contact_elements.radii[of][1]),
                    _ => limit,
                };
                // A thousandth, so that rounding of a place to its cell hides nothing.
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
            // Meshes whose sizes are powers of two are not to lie on a limit.
            level_sizes: [way_size, (2.1 * radii[1]).max(reach), (2.1 * radii[2]).max(reach)],
            sums_first,
            worn_first,
            nearby_first: worn_first + words,
            inverse_coarse: inverse_coarse(reach),
            // Passes load four at a time.
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

    /// How many threads a pass of the search takes where the list of pairs does not hold.
    pub fn threads(&self, part: SearchPass) -> u32 {
        self.search_threads[part as usize / 4][part as usize % 4]
    }

    /// How many words cells have: both grids, sums, marks, rough places and ways.
    pub fn cell_words(&self) -> u32 {
        let ways = if self.level == 1 { 2 } else { 1 };
        self.rough_first + ways * (self.insert_end - self.insert_first).next_multiple_of(4)
    }

    /// What is not 0 in them before the first search: where the coarse grid begins, and its words, in which its cells are empty.
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

    /// Whether two contact materials touch each other.
    pub fn touch(&self, a: u32, b: u32) -> bool {
        if a == UNTOUCHABLE || b == UNTOUCHABLE {
            return false;
        }
        let ([_, groups_a, touches_a, _], [_, groups_b, touches_b, _]) =
            (self.materials[a as usize], self.materials[b as usize]);
        groups_a & touches_b != 0 && groups_b & touches_a != 0
    }

    /// The level of an element of a type, by the square of its size: of what moves, of that of the moment.
    pub fn size_level(&self, square_size: f32, of: u32) -> u32 {
        let size = self.level_sizes[of as usize];
        let limits = (0..LEVELS as i32 - 1).map(|level| size * size * 16f32.powi(level));
        // What is no number is of the last.
        limits.take_while(|&limit| square_size.is_nan() || square_size >= limit).count() as u32
    }

    /// How far the center of an element of a level is from its particles, at most, where that of none is more than `largest` \[m\].
    pub fn radius_in_level(&self, level: u32, of: u32, largest: f32) -> f32 {
        let limit = self.level_sizes[of as usize] * (1 << (2 * level)) as f32;
        if level == LEVELS as u32 - 1 { largest } else { limit.min(largest) }
    }

    /// The level of a particle that is fast and stands on its way, by the square of half of that: 1 at least.
    pub fn way_level(&self, square_half: f32) -> u32 {
        self.size_level(square_half, 0).max(1)
    }

    /// How long half of a way of a level is, at most \[m\]. What is faster yet crosses more cells than anything may look into.
    pub fn way_radius(&self, level: u32) -> f32 {
        way_radius(level, self.level_sizes[0])
    }

    /// 1/the edge of a cell of the coarse grid [1/m].
    pub fn inverse_coarse(&self, radius: f32) -> f32 {
        inverse_coarse(self.reach + radius)
    }

    /// For how many substeps a list holds in which relative displacements are at most `local` among what is near or slow, and at most
    /// `most` on the whole, or 0 where that is looked at elsewhere (for surfaces more, see shaders/collision/search/surfaces.wgsl): until what it
    /// leaves out can have come nearer by the gap, or, where a coarse cell lies in between, by the two thirds of its edge that are more
    /// than the reach.
    pub fn horizon(&self, gap: f32, local: f32, most: f32, inverse_coarse: f32) -> u32 {
        let near = if local > 0.0 { gap / local } else { MOST_SUBSTEPS };
        let far = if most > 0.0 { 0.666 / (inverse_coarse * most) } else { MOST_SUBSTEPS };
        near.min(far).min(MOST_SUBSTEPS) as u32
    }

    /// How far a particle looks which holds for so many substeps, in each of which nothing about it goes farther against it than that \[m\]: what it
    /// leaves out stays beyond thickness and margin. In shares of the reach, as the GPU keeps it; its twin is `outlook` in
    /// shaders/common/contacts.wgsl.
    pub fn reach_within(&self, horizon: u32, extent: f32) -> f32 {
        let far = self.reach - (self.gap - horizon as f32 * extent);
        let shares = ((far * self.inverse_reach) * (1.0001 * REACH_SHARES)).ceil().clamp(1.0, REACH_SHARES);
        if horizon > 0 { self.reach * (shares / REACH_SHARES) } else { self.reach }
    }

    /// How far something goes in a substep as the GPU keeps it: in three times 16 bits, which is as good as any guess.
    pub fn kept_pace(&self, pace: Vec3) -> Vec3 {
        let quanta =
            (pace * (self.inverse_quantum * PACE_QUANTUM.recip())).clamp(Vec3::splat(-32767.0), Vec3::splat(32767.0));
        quanta.map(f32::round_ties_even) * (self.quantum * PACE_QUANTUM)
    }

    /// In which of the classes a speed is, four of which are an octave.
    pub fn pace_class(&self, speed: f32) -> u32 {
        (speed.to_bits() >> 21).saturating_sub(self.first_class()).min(PACES - 1)
    }

    /// The class of a thousandth of the thickness.
    fn first_class(&self) -> u32 {
        (self.thickness * 2f32.powi(-10)).to_bits() >> 21
    }

    /// What 63 of 64 particles do not exceed, of how many there are in each class.
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

    /// Static and kinetic friction, restitution.
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
            // As many bits as it takes for the longest horizon.
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
