//! Contact materials that are thinner than the gaps between their particles.

use super::Scene;
use crate::collision::{ContactMaterialId, SelfCollisionLevel};
use crate::settings::Settings;
use glam::Vec3;
use std::fmt;

/// A square grid of spheres is closed if their diameter exceeds this share of the spacing: 1/√2.
const CLOSED: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// A contact material that is too thin for its particles: others pass between them. See [`Scene::open_contacts`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenContacts {
    /// The material.
    pub material: ContactMaterialId,
    /// Largest spacing of its particles: the edge of the lattice of soft bodies, the mean edge of cloth \[m\].
    pub spacing: f32,
    /// The least thickness of its particles \[m\].
    pub thickness: f32,
}

impl fmt::Display for OpenContacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { material, spacing, thickness } = self;
        write!(
            f,
            "the particles of contact material {} are {spacing} m apart and keep a distance of {thickness} m: others pass \
             between them; a thickness of {spacing} m closes the gaps",
            material.index()
        )
    }
}

impl Scene {
    /// The contact materials with a thickness below 1/√2 of the spacing of their particles, where these collide as
    /// spheres. These are lattices of soft bodies at both levels, and cloth at the particle level. Others pass between them. Ropes and rods are not
    /// included: particles of no surface pass between points that are farther apart than the thickness.
    /// [`crate::Solver::new`] logs them as warnings.
    pub fn open_contacts(&self, settings: &Settings) -> Vec<OpenContacts> {
        let Some(own) = settings.self_collision else { return Vec::new() };
        let mut spacings = self.lattice_spacings();
        if own.level == SelfCollisionLevel::Particles {
            for (spacing, cloth) in spacings.iter_mut().zip(self.mean_edges()) {
                *spacing = spacing.max(cloth);
            }
        }
        let least_scales = self.least_scales();
        let open = |(index, spacing): (usize, f32)| {
            let material = self.contact_materials[index];
            let thickness = material.thickness * least_scales[index];
            let is_open = material.touches != 0 && material.groups != 0 && thickness < CLOSED * spacing;
            is_open.then_some(OpenContacts { material: ContactMaterialId(index as u8), spacing, thickness })
        };
        spacings.into_iter().enumerate().filter_map(open).collect()
    }

    fn rest_distance(&self, [a, b]: [u32; 2]) -> f32 {
        let [a, b] = [a, b].map(|i| Vec3::from(self.rest_positions[i as usize]));
        a.distance(b)
    }

    fn contact_of(&self, particle: u32) -> Option<usize> {
        self.particle_contacts.get(particle as usize).map(|id| id.index())
    }

    /// By contact material, the largest edge of a lattice cube \[m\], from the tetrahedra with followers.
    fn lattice_spacings(&self) -> Vec<f32> {
        let mut spacings = vec![0.0f32; self.contact_materials.len()];
        // Sources in triangles are those of surfaces.
        let mut is_in_surface = vec![false; self.particle_count()];
        self.triangles.iter().flatten().for_each(|&vertex| is_in_surface[vertex as usize] = true);
        for follower in self.followers.iter().filter(|follower| !is_in_surface[follower.sources[0] as usize]) {
            let [a, b, c, d] = follower.sources;
            let Some(material) = self.contact_of(a) else { continue };
            let edges = [[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]];
            let lengths = edges.map(|edge| self.rest_distance(edge));
            let shortest = lengths.into_iter().fold(f32::INFINITY, f32::min);
            let longest = lengths.into_iter().fold(0.0, f32::max);
            // The edges of the tetrahedron in the middle of a cube are the diagonals of its faces.
            let is_middle = longest < 1.2 * shortest;
            spacings[material] = spacings[material].max(if is_middle { CLOSED * shortest } else { shortest });
        }
        spacings
    }

    /// By contact material, the mean length of the edges of its triangles \[m\]; surfaces of soft bodies do not count.
    fn mean_edges(&self) -> Vec<f32> {
        let mut sums = vec![(0.0f64, 0u32); self.contact_materials.len()];
        let is_follower =
            |particle| self.followers.binary_search_by_key(&particle, |follower| follower.particle).is_ok();
        for &[a, b, c] in self.triangles.iter().filter(|triangle| !is_follower(triangle[0])) {
            let Some(material) = self.contact_of(a) else { continue };
            for edge in [[a, b], [b, c], [c, a]] {
                sums[material].0 += f64::from(self.rest_distance(edge));
                sums[material].1 += 1;
            }
        }
        sums.into_iter().map(|(sum, count)| (sum / f64::from(count.max(1))) as f32).collect()
    }
}
