//! Parameters of collision: the uniform buffer of the passes of contacts.

use crate::collision::pair::SLACK;
use crate::collision::{
    Colliders, ContactMaterial, Friction, MAX_CONTACT_MATERIALS, SelfCollision, SelfCollisionLevel,
};
use crate::scene::Scene;
use crate::schedule::contacts::{ContactElements, UNTOUCHABLE};
use crate::schedule::plan::{MOST_SUMMED, SearchPass};
use crate::settings::Settings;
use glam::Vec3;

/// Flag beside the number of contacts of a particle: its displacement was truncated in the previous substep.
pub(crate) const WAS_CUT: i32 = 0x100_0000;

/// The largest horizon of a search. `shaders/collision/search.wgsl` has the reasons of this and of the following constants.
pub(crate) const MOST_SUBSTEPS: u32 = 100;
/// The largest predicted travel of a particle within the horizon, in margins.
pub(crate) const MOST_TRAVEL: f32 = 0.5;
/// The same of fast particles, which move by more than [`FAST`] times the spread of the sample.
pub(crate) const MOST_TRAVEL_IF_FAST: f32 = 64.0;
pub(crate) const FAST: f32 = 16.0;
/// A sample is left out if it differs from the mean by more than this many times the spread.
pub(crate) const OUTLIER: f32 = 7.0;
/// Limit of the masses of the samples, so that sums of masses times displacements stay finite \[kg\].
pub(crate) const MOST_MASS: f32 = 1e20;
/// With pins or colliders, a smaller drift counts as 0; in margins per substep.
pub(crate) const LEAST_DRIFT: f32 = 0.1;

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
    /// Twice the allowed deviation of a particle from its predicted path before the next search \[m\].
    pub margin: f32,
    /// Corrections are summed in integer multiples of this \[m\]: the sum does not depend on the order.
    pub quantum: f32,
    pub inverse_quantum: f32,
    /// Limit of the corrections of a particle in one iteration \[quanta\]: the sum of those that are applied together fits
    /// an `i32`. With groups each iteration is applied.
    pub most_quanta: f32,
    /// Largest thickness of a contact material in use \[m\].
    pub largest_thickness: f32,
    /// Entries of the table of cells: a power of two.
    pub table_size: u32,
    /// 1/radius of level 0 [1/m]: the largest radius of the volume of an element with its path. Each further level allows
    /// four times as much, the last any radius.
    pub inverse_level_radius: f32,
    /// 1 if there are pins or, at the surface level, colliders. Truncation is then not relative to the center of mass: pinned
    /// particles and particles at colliders do not move with it.
    pub holds_particles: u32,
    /// First particle that meets others as a sphere: particles of no triangle, if some are isolated. They are stored before the
    /// edges.
    pub sphere_first: u32,
    /// Ends of the particles, of the edges, and of the triangles among the elements. At the particle level all are equal.
    pub particle_end: u32,
    pub edge_end: u32,
    pub element_end: u32,
    /// Predicted displacements per substep are stored in multiples of this, a power of two \[m\], and 1/this \[1/m\].
    pub prediction_quantum: f32,
    pub inverse_prediction_quantum: f32,
    pub padding: [u32; 2],
    /// Half the thickness \[m\] (bits), collision groups, mask of groups that it collides with, 1 if an element with a
    /// particle of this material can collide with another.
    pub materials: [[u32; 4]; MAX_CONTACT_MATERIALS],
    /// By pair of materials: static friction, kinetic friction, restitution, 0.
    pub friction: FrictionTable,
}

/// By pair of contact materials: static friction, kinetic friction, restitution, 0.
type FrictionTable = [[f32; 4]; MAX_CONTACT_MATERIALS * MAX_CONTACT_MATERIALS];

/// The rows of the contact materials, and of the friction of each pair of them.
fn material_tables(scene: &Scene, elements: &ContactElements) -> ([[u32; 4]; MAX_CONTACT_MATERIALS], FrictionTable) {
    let own = &scene.contact_materials;
    let used = || own.iter().zip(elements.counts).filter(|&(_, count)| count > 0);
    let mut materials = [[0; 4]; MAX_CONTACT_MATERIALS];
    let mut friction = [[0.0; 4]; MAX_CONTACT_MATERIALS * MAX_CONTACT_MATERIALS];
    for (a, material) in own.iter().enumerate() {
        let has_own = |&(b, _): &(usize, &ContactMaterial)| elements.elements_of[a] >> b & 1 == 1;
        let mut own_elements = own.iter().enumerate().filter(has_own);
        let collides = own_elements.any(|(_, own)| used().any(|(other, _)| own.collides_with(other)));
        materials[a] = [(0.5 * material.thickness).to_bits(), material.groups, material.touches, collides.into()];
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
    let is_used = |&(place, _): &(usize, &ContactMaterial)| elements.counts[place] > 0;
    scene.contact_materials.iter().enumerate().filter(is_used).map(|(place, material)| (place, material.thickness))
}

/// The geometric mean of the thicknesses of the particles \[m\]. A few particles that are much thicker or thinner than the
/// others hardly change it. It is relative to the largest one, so that equal thicknesses give it exactly.
fn mean_thickness(scene: &Scene, elements: &ContactElements, largest: f32) -> f32 {
    let count = elements.counts.iter().sum::<u32>().max(1);
    let logarithm =
        |(place, thickness): (usize, f32)| f64::from(elements.counts[place]) * f64::from(thickness / largest).ln();
    let sum: f64 = thicknesses(scene, elements).map(logarithm).sum();
    largest * (sum / f64::from(count)).exp() as f32
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

/// Number of levels of the grids; also in `shaders/common/search.wgsl`.
const LEVELS: i32 = 8;

/// The radius of level 0 and the width of its cells \[m\]. One of the levels has about the radius of a small and thin
/// element at the usual speed; those below it are for still smaller elements. Particles alone are few in a cell, so their
/// cells are twice as wide: fewer are visited.
fn level_radius(scene: &Scene, elements: &ContactElements, margin: f32, surfaces: bool) -> f32 {
    let largest = largest_thickness(scene, elements);
    let thinnest = thicknesses(scene, elements).map(|(_, thickness)| thickness).fold(largest, f32::min);
    let own = 0.5 * thinnest + 1.5 * margin;
    if !surfaces {
        return 2.0 * own;
    }
    let [edges, triangles] = [elements.radii[1], elements.radii[2]];
    let usual = 1.5 * edges.eighth.max(triangles.eighth) + own;
    let least = 1.5 * edges.least.max(triangles.least) + own;
    let most = 1.5 * edges.most.max(triangles.most) + own;
    // Whole levels, each with four times the radius of the one below; the last but one still holds the largest element.
    let levels = (usual / least).min(usual * 4f32.powi(LEVELS - 2) / most).log(4.0).floor();
    usual * 0.25f32.powf(levels.max(0.0))
}

impl ContactParams {
    pub fn new(
        scene: &Scene,
        settings: &Settings,
        contact_elements: &ContactElements,
        colliders: &Colliders,
        holds_particles: bool,
    ) -> Self {
        let (materials, friction) = material_tables(scene, contact_elements);
        let largest = largest_thickness(scene, contact_elements);
        let own = settings.self_collision.unwrap_or_default();
        let SelfCollision { level, margin, .. } = own;
        let surfaces = level == SelfCollisionLevel::Surfaces;
        let margin = margin * mean_thickness(scene, contact_elements, largest);
        let [_, cord_first, alone_first, edge_first, triangle_first, end] = contact_elements.firsts;
        // Edges meet each other, so particles of edges only need no spheres without isolated particles. At the particle
        // level all particles are spheres.
        let sphere_first = if alone_first < edge_first { cord_first } else { edge_first };
        let (sphere_first, edge_end, element_end) =
            if surfaces { (sphere_first, triangle_first, end) } else { (0, edge_first, edge_first) };
        let quantum = (largest.log2().floor() - 24.0).exp2();
        let prediction_quantum = (margin.log2().floor() - 9.0).exp2();
        Self {
            collider_count: colliders.len() as u32,
            substeps: settings.substeps,
            recovery: settings.recovery_speed * settings.substep(),
            level: settings.self_collision.map_or(0, |_| if surfaces { 2 } else { 1 }),
            margin,
            quantum,
            inverse_quantum: 1.0 / quantum,
            most_quanta: 2e9 / own.sweeps(false).min(MOST_SUMMED) as f32,
            largest_thickness: largest,
            table_size: (2 * element_end).next_power_of_two(),
            inverse_level_radius: 1.0 / level_radius(scene, contact_elements, margin, surfaces),
            holds_particles: u32::from(holds_particles),
            sphere_first,
            particle_end: edge_first,
            edge_end,
            element_end,
            prediction_quantum,
            inverse_prediction_quantum: 1.0 / prediction_quantum,
            padding: [0; 2],
            materials,
            friction,
        }
    }

    /// Number of threads of a pass that writes the grids.
    pub fn threads(&self, pass: SearchPass, particles: u32) -> u32 {
        // As `shaders/collision/validate_pairs.wgsl` writes it for the search.
        if pass == SearchPass::ClearCells { particles.max(self.table_size) } else { self.element_end }
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

    /// Returns true if an element with a particle of this material can collide with another.
    pub fn collides(&self, material: u32) -> bool {
        material != UNTOUCHABLE && self.materials[material as usize][3] == 1
    }

    /// The distance along the predicted paths below which a pair of this thickness is listed \[m\]. The list of a thick pair
    /// contains it as long as it is a contact.
    pub fn listed_distance(&self, thickness: f32) -> f32 {
        thickness + self.margin.max(SLACK * thickness)
    }

    /// A predicted displacement per substep, rounded to the 3 × 16 bits that the GPU stores.
    pub fn rounded_prediction(&self, predicted: Vec3) -> Vec3 {
        let quanta = (predicted * self.inverse_prediction_quantum).clamp(Vec3::splat(-32767.0), Vec3::splat(32767.0));
        quanta.map(f32::round_ties_even) * self.prediction_quantum
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The small elements may be few: less than an eighth of them.
    #[test]
    fn a_level_has_the_size_of_small_elements_beside_many_large_ones() {
        let sheet = |cells: u32, size: f32| crate::ClothGrid {
            columns: cells,
            rows: cells,
            column_axis: [size, 0.0, 0.0],
            row_axis: [0.0, 0.0, size],
            tethers: None,
            ..crate::ClothGrid::default()
        };
        let radius = |sheets: &[crate::ClothGrid]| {
            let mut scene = Scene::new();
            for sheet in sheets {
                scene.add_cloth_grid(sheet).unwrap();
            }
            level_radius(&scene, &ContactElements::new(&scene), 1e-3, true)
        };
        let sheets = [sheet(8, 0.1), sheet(40, 40.0)];
        let [alone, of_large, beside] = [radius(&sheets[..1]), radius(&sheets[1..]), radius(&sheets)];
        println!("{alone} m, {beside} m beside large ones, {of_large} m");
        assert!(beside >= alone && beside < 4.0 * alone, "{alone} m, {beside} m");
        // A whole number of levels below that of the large elements.
        let levels = (of_large / beside).log(4.0);
        assert!(levels > 1.0 && (levels - levels.round()).abs() < 1e-3, "{levels}");
        // Elements that are still larger have cells of their own, too.
        let [huge, of_huge] = [radius(&[sheet(8, 0.01), sheet(40, 4e6)]), radius(&[sheet(40, 4e6)])];
        println!("{huge} m beside huge ones, {of_huge} m");
        assert!(huge * 4f32.powi(LEVELS - 2) >= 0.99 * of_huge, "{huge} m, {of_huge} m");
    }

    #[test]
    fn constants_are_those_of_the_shaders() {
        let contacts = include_str!("../../shaders/common/contacts.wgsl");
        let search = include_str!("../../shaders/collision/search.wgsl");
        let cluster = include_str!("../../shaders/schedule/project_cluster.wgsl");
        let pair = include_str!("../../shaders/common/pair.wgsl");
        use crate::collision::pair::{NEAREST, SEPARATION};
        use crate::collision::self_collision::{CORRECTION, HEAVY_BALL};
        let solve = include_str!("../../shaders/collision/solve_contacts.wgsl");
        for (text, line) in [
            (contacts, format!("const SEARCH_PASSES = {}u;", SearchPass::ALL.len())),
            (include_str!("../../shaders/common/search.wgsl"), format!("const LEVELS = {LEVELS}u;")),
            (search, format!("const MOST_SUBSTEPS = {MOST_SUBSTEPS}u;")),
            (search, format!("const MOST_TRAVEL = {MOST_TRAVEL:?};")),
            (search, format!("const MOST_TRAVEL_IF_FAST = {MOST_TRAVEL_IF_FAST:?};")),
            (search, format!("const FAST = {FAST:?};")),
            (search, format!("const MOST_MASS = {MOST_MASS:?};")),
            (search, format!("const OUTLIER = {OUTLIER:?};")),
            (search, format!("const LEAST_DRIFT = {LEAST_DRIFT:?};")),
            (pair, format!("const SLACK_OF_PAIR = {SLACK:?};")),
            (pair, format!("const WAS_CUT = {WAS_CUT:#x};")),
            (pair, format!("const SEPARATION = {SEPARATION:?};")),
            (pair, format!("const NEAREST = {NEAREST:?};")),
            (solve, format!("const CORRECTION = {CORRECTION:?};")),
            (solve, format!("const HEAVY_BALL = {HEAVY_BALL:?};")),
            (pair, format!("const DIVISION_ROUNDS = {}u;", crate::schedule::plan::DIVISION_ROUNDS)),
            (cluster, format!("const HEAD = {}u;", crate::schedule::clusters::HEAD)),
        ] {
            assert!(text.lines().any(|own| own == line), "{line}");
        }
    }
}
