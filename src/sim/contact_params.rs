//! Parameters of collision: the uniform buffer of the passes of contacts.

use crate::collision::{
    Colliders, ContactMaterial, Friction, MAX_CONTACT_MATERIALS, SelfCollision, SelfCollisionLevel,
};
use crate::scene::Scene;
use crate::schedule::contacts::{ContactElements, TYPES, UNTOUCHABLE};
use crate::schedule::plan::{MOST_SUMMED, SearchPass};
use crate::settings::Settings;
use glam::Vec3;

/// Words of a cell of the coarse grid; layout in `shaders/common/search.wgsl`.
const COARSE_WORDS: u32 = 12;

/// Cells per block: a workgroup reserves a range of sorted elements for each; also in `shaders/common/search.wgsl`.
const BLOCK: u32 = 512;

/// Threads of a workgroup of `search_allocate_cells`, and of all other workgroups; also in
/// `shaders/collision/search.wgsl` and `shaders/common/params.wgsl`.
const ALLOCATING_THREADS: u32 = 32;
const WORKGROUP: u32 = 128;

/// Number of speed classes; also in `shaders/collision/search/coarse.wgsl`.
pub(crate) const SPEED_CLASSES: u32 = 64;

/// Number of size levels of elements, each with its own grid; also in `shaders/common/search.wgsl`.
pub(crate) const LEVELS: usize = 8;

/// Flag beside the number of contacts of a particle: its displacement was truncated in the previous substep.
pub(crate) const WAS_CUT: i32 = 0x100_0000;

/// Predicted displacements per substep are stored in multiples of this many quanta: 1024ths of the thickness.
const PREDICTION_QUANTUM: f32 = 16384.0;

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
    /// Twice the allowed deviation of a particle from its predicted path before the next search, and the distance by
    /// which unlisted slow particles may approach in the prediction \[m\].
    pub margin: f32,
    /// Corrections are summed in integer multiples of this \[m\]: the sum does not depend on the order.
    pub quantum: f32,
    pub inverse_quantum: f32,
    /// Limit of the corrections of a particle in one iteration \[quanta\]: the sum of those that are applied together fits
    /// an `i32`. With groups each iteration is applied.
    pub most_quanta: f32,
    /// Largest thickness of a contact material in use \[m\].
    pub thickness: f32,
    /// Entries of the hashed grid per element type: a power of two.
    pub table_size: u32,
    /// Number of grid tables in use: 1 or 3.
    pub tables: u32,
    /// End of the range of the elements that are inserted in the grid; it begins at `sphere_first`.
    pub insert_end: u32,
    /// End of the range of elements that query the grid; it begins at 0.
    pub query_end: u32,
    /// First particle that meets others as a sphere: particles of no triangle, if some are isolated. They are stored before the
    /// edges.
    pub sphere_first: u32,
    /// End of the particles.
    pub particle_end: u32,
    /// Search distance between particles \[m\]: thickness, [`Self::margin`] for deviation and for the motion in the
    /// substep of the search. The predicted approach is added.
    pub reach: f32,
    /// 1 if there are pins or, at the surface level, colliders. The drift is then 0, in the search and in truncation:
    /// pinned particles and particles at colliders do not move with it.
    pub anchored: u32,
    /// Cells of the coarse grid along each axis, or 1 at the particle level. The grid is periodic.
    pub coarse: u32,
    /// Offset of the starts of the blocks, behind the coarse grid; of the number of particles in each speed class.
    pub block_starts: u32,
    pub speed_classes: u32,
    /// By type, maximum distance \[m\] between the center of an element of level 0 and its particles. Each further
    /// level allows four times as much, the last any distance. For particles: half the length of the swept path
    /// ([`Self::path_level`]).
    pub level_sizes: [f32; TYPES],
    /// Offset of the coarse grid, behind the cells.
    pub coarse_first: u32,
    /// By [`SearchPass`], number of threads if the pair list is expired.
    pub search_threads: [[u32; 4]; 2],
    /// By level and type, 1/edge of a grid cell [1/m].
    pub inverse_cells: [[f32; 4]; LEVELS],
    /// Half the thickness \[m\] (bits), collision groups, mask of groups that it collides with, 0.
    pub materials: [[u32; 4]; MAX_CONTACT_MATERIALS],
    /// By pair of materials: static friction, kinetic friction, restitution, 0.
    pub friction: FrictionTable,
}

/// By pair of contact materials: static friction, kinetic friction, restitution, 0.
type FrictionTable = [[f32; 4]; MAX_CONTACT_MATERIALS * MAX_CONTACT_MATERIALS];

/// The rows of the contact materials, and of the friction of each pair of them.
fn material_tables(scene: &Scene) -> ([[u32; 4]; MAX_CONTACT_MATERIALS], FrictionTable) {
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
    (materials, friction)
}

/// Each contact material in use, with its thickness \[m\].
fn thicknesses(scene: &Scene, elements: &ContactElements) -> impl Iterator<Item = (usize, f32)> {
    let is_used = |&(place, _): &(usize, &ContactMaterial)| elements.materials >> place & 1 == 1;
    scene.contact_materials.iter().enumerate().filter(is_used).map(|(place, material)| (place, material.thickness))
}

/// The largest thickness of the contact materials in use \[m\].
fn largest_thickness(scene: &Scene, elements: &ContactElements) -> f32 {
    thicknesses(scene, elements).map(|(_, thickness)| thickness).fold(1e-6, f32::max)
}

/// Half the least thickness of the particles \[m\].
pub(crate) fn least_radius(scene: &Scene, elements: &ContactElements) -> f32 {
    let scales = scene.least_scales();
    0.5 * thicknesses(scene, elements).fold(f32::MAX, |least, (place, thickness)| least.min(thickness * scales[place]))
}

/// Cells along each axis of the coarse grid for a number of elements: about one cell for eight elements, 4 to 16.
fn coarse_cells(elements: u32) -> u32 {
    [4, 8].into_iter().find(|cells: &u32| 8 * cells.pow(3) >= elements).unwrap_or(16)
}

/// [`ContactParams::level_sizes`] and [`ContactParams::inverse_cells`] of a search distance.
fn cell_sizes(elements: &ContactElements, reach: f32) -> ([f32; TYPES], [[f32; 4]; LEVELS]) {
    // Level 0 includes all elements that are much smaller than the reach or than the other elements.
    let least = elements.radii.iter().map(|[small, _]| 0.25 * small).fold(0.5 * reach, f32::max);
    let radii = elements.radii.map(|[small, largest]| if largest > 0.0 { small.max(least) } else { 0.0 });
    // The largest swept path of level 1 is as long as the reach.
    let path_size = 0.125 * reach;
    let radius = |level: usize, of: usize| {
        let limit = radii[of] * 4f32.powi(level as i32);
        match of {
            0 => path_radius(level as u32, path_size),
            _ if level == LEVELS - 1 => limit.max(elements.radii[of][1]),
            _ => limit,
        }
    };
    // A margin of 0.1 %, so that rounding of a position to its cell misses no pair.
    let inverse = |level: usize, of: usize| 1.0 / ((reach + radius(level, of)) * 1.001);
    let inverse_cells = std::array::from_fn(|level| [inverse(level, 0), inverse(level, 1), inverse(level, 2), 0.0]);
    // 2.1 instead of 2: elements of meshes whose sizes are powers of two do not lie on a limit.
    ([path_size, (2.1 * radii[1]).max(reach), (2.1 * radii[2]).max(reach)], inverse_cells)
}

/// The elements of a search, in the order of [`ContactElements`]: particles that are spheres, edges, triangles.
#[derive(Clone, Copy)]
struct SearchedElements {
    sphere_first: u32,
    edge_first: u32,
    /// The end of the elements that search for others.
    query_end: u32,
    /// The end of the elements in the cells.
    insert_end: u32,
}

impl SearchedElements {
    fn new(contact_elements: &ContactElements, surfaces: bool) -> Self {
        let [_, cord_first, alone_first, edge_first, triangle_first, end] = contact_elements.firsts;
        // Edges meet each other, so particles of edges only need no spheres without isolated particles.
        let sphere_first = if alone_first < edge_first { cord_first } else { edge_first };
        // At the particle level all particles are spheres.
        let (sphere_first, query_end, insert_end) =
            if surfaces { (sphere_first, triangle_first, end) } else { (0, edge_first, edge_first) };
        Self { sphere_first, edge_first, query_end, insert_end }
    }

    /// The threads of each pass of the search in the form of the uniform buffer, for this number of particles, of coarse
    /// cells and of blocks of cells.
    fn threads(self, particles: u32, cells: u32, blocks: u32, surfaces: bool) -> [[u32; 4]; 2] {
        let Self { sphere_first, edge_first, query_end, insert_end } = self;
        let inserted = insert_end - sphere_first;
        let threads = |pass| match pass {
            SearchPass::ClearCells => particles.max(inserted).max(cells).max(SPEED_CLASSES),
            SearchPass::CountCells => edge_first.max(inserted),
            SearchPass::AllocateCells => WORKGROUP * blocks.max(cells.div_ceil(ALLOCATING_THREADS)),
            SearchPass::SortIntoCells => inserted,
            SearchPass::FindPairs => (query_end - sphere_first) + if surfaces { edge_first } else { 0 },
            SearchPass::FinishSearch => 0,
        };
        let mut rows = [[0; 4]; 2];
        for pass in SearchPass::ALL {
            rows[pass as usize / 4][pass as usize % 4] = threads(pass);
        }
        rows
    }
}

impl ContactParams {
    pub fn new(
        scene: &Scene,
        settings: &Settings,
        contact_elements: &ContactElements,
        colliders: &Colliders,
        anchored: bool,
    ) -> Self {
        let (materials, friction) = material_tables(scene);
        let thickness = largest_thickness(scene, contact_elements);
        let own = settings.self_collision.unwrap_or_default();
        let SelfCollision { level, margin, .. } = own;
        let surfaces = level == SelfCollisionLevel::Surfaces;
        let margin = margin * thickness;
        let elements = SearchedElements::new(contact_elements, surfaces);
        let SearchedElements { sphere_first, edge_first, query_end, insert_end } = elements;
        let largest = (edge_first - sphere_first).max(query_end - edge_first).max(insert_end - query_end);
        let quantum = (thickness.log2().floor() - 24.0).exp2();
        let table_size = 2 * largest.next_power_of_two().max(BLOCK / 2);
        let (tables, coarse) = if surfaces { (3, coarse_cells(insert_end)) } else { (1, 1) };
        let coarse_first = tables * table_size;
        let cells = coarse.pow(3);
        let block_starts = coarse_first + COARSE_WORDS * cells;
        let blocks = coarse_first / BLOCK;
        let reach = thickness + 2.0 * margin;
        let (level_sizes, inverse_cells) = cell_sizes(contact_elements, reach);
        let particles = contact_elements.particles.len() as u32;
        Self {
            collider_count: colliders.len() as u32,
            substeps: settings.substeps,
            recovery: settings.recovery_speed * settings.substep(),
            level: settings.self_collision.map_or(0, |_| if surfaces { 2 } else { 1 }),
            margin,
            quantum,
            inverse_quantum: 1.0 / quantum,
            most_quanta: 2e9 / own.sweeps(false).min(MOST_SUMMED) as f32,
            thickness,
            table_size,
            tables,
            insert_end,
            query_end,
            sphere_first,
            particle_end: edge_first,
            reach,
            anchored: u32::from(anchored),
            coarse,
            block_starts,
            speed_classes: block_starts + blocks,
            level_sizes,
            coarse_first,
            search_threads: elements.threads(particles, cells, blocks, surfaces),
            inverse_cells,
            materials,
            friction,
        }
    }

    /// Number of threads of a pass of the search if the pair list is expired.
    pub fn threads(&self, pass: SearchPass) -> u32 {
        self.search_threads[pass as usize / 4][pass as usize % 4]
    }

    /// Number of words of the cell buffer: both grids, starts of blocks, and speed classes.
    pub fn cell_words(&self) -> u32 {
        self.speed_classes + SPEED_CLASSES
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
    pub fn path_level(&self, square_half: f32) -> u32 {
        self.size_level(square_half, 0).max(1)
    }

    /// Maximum half length of a swept path of a level \[m\]. Longer paths would cross more cells than a query may
    /// visit.
    pub fn path_radius(&self, level: u32) -> f32 {
        path_radius(level, self.level_sizes[0])
    }

    /// 1/edge of a cell of the coarse grid for elements of this radius [1/m].
    pub fn inverse_coarse(&self, radius: f32) -> f32 {
        1.0 / (3.0 * (self.reach + radius))
    }

    /// Number of substeps for which a pair list is valid: until slow particles may have approached each other by the
    /// margin. The limit for the fastest, a ninth of the edge of a coarse cell, keeps their search distance short.
    pub fn horizon(&self, slow: f32, fastest: f32, inverse_coarse: f32) -> u32 {
        let fastest = 6.0 * fastest;
        let far = if fastest > 0.0 { 0.666 / (inverse_coarse * fastest) } else { MOST_SUBSTEPS };
        (self.margin / (2.0 * slow)).min(far).min(MOST_SUBSTEPS) as u32
    }

    /// A predicted displacement per substep, rounded to the 3 × 16 bits that the GPU stores.
    pub fn rounded_prediction(&self, predicted: Vec3) -> Vec3 {
        let quanta = (predicted * (self.inverse_quantum * PREDICTION_QUANTUM.recip()))
            .clamp(Vec3::splat(-32767.0), Vec3::splat(32767.0));
        quanta.map(f32::round_ties_even) * (self.quantum * PREDICTION_QUANTUM)
    }

    /// Speed class; four classes are an octave.
    pub fn speed_class(&self, speed: f32) -> u32 {
        (speed.to_bits() >> 21).saturating_sub(self.first_class()).min(SPEED_CLASSES - 1)
    }

    /// The class of 1/1024 of the thickness.
    fn first_class(&self) -> u32 {
        (self.thickness * 2f32.powi(-10)).to_bits() >> 21
    }

    /// Upper bound of the speed of at least 63 of 64 particles, from the number of particles in each class.
    pub fn slow(&self, counts: [u32; SPEED_CLASSES as usize]) -> f32 {
        let (mut class, mut faster) = (SPEED_CLASSES - 1, counts[SPEED_CLASSES as usize - 1]);
        while class > 0 && faster <= self.particle_end / 64 {
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

fn path_radius(level: u32, path_size: f32) -> f32 {
    if level == 0 { 0.0 } else { path_size * (1 << (2 * level)) as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_those_of_the_shaders() {
        let contacts = include_str!("../../shaders/common/contacts.wgsl");
        let shared = include_str!("../../shaders/common/search.wgsl");
        let search = include_str!("../../shaders/collision/search.wgsl");
        let coarse = include_str!("../../shaders/collision/search/coarse.wgsl");
        let cluster = include_str!("../../shaders/schedule/project_cluster.wgsl");
        let pair = include_str!("../../shaders/common/pair.wgsl");
        use crate::collision::self_collision::{CORRECTION, HEAVY_BALL};
        let solve = include_str!("../../shaders/collision/solve_contacts.wgsl");
        for (text, line) in [
            (contacts, format!("const SEARCH_PASSES = {}u;", SearchPass::ALL.len())),
            (shared, format!("const COARSE_WORDS = {COARSE_WORDS}u;")),
            (shared, format!("const LEVELS = {LEVELS}u;")),
            (shared, format!("const LEVEL_SHIFT = {}u;", 31 - LEVELS.ilog2())),
            (shared, format!("const PREDICTION_QUANTUM = {PREDICTION_QUANTUM:?};")),
            (shared, format!("const BLOCK = {BLOCK}u;")),
            (search, format!("const THREADS = {ALLOCATING_THREADS}u;")),
            (search, format!("const CELLS_PER_THREAD = {}u;", BLOCK / ALLOCATING_THREADS)),
            (include_str!("../../shaders/common/params.wgsl"), format!("override WORKGROUP_SIZE: u32 = {WORKGROUP};")),
            (coarse, format!("const SPEED_CLASSES = {SPEED_CLASSES}u;")),
            (pair, format!("const WAS_CUT = {WAS_CUT:#x};")),
            (solve, format!("const CORRECTION = {CORRECTION:?};")),
            (solve, format!("const HEAVY_BALL = {HEAVY_BALL:?};")),
            (pair, format!("const DIVISION_ROUNDS = {}u;", crate::schedule::plan::DIVISION_ROUNDS)),
            (cluster, format!("const HEAD = {}u;", crate::schedule::clusters::HEAD)),
        ] {
            assert!(text.lines().any(|own| own == line), "{line}");
        }
    }
}
