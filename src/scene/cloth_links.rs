//! The constraints of a cloth before they are added to a scene.

use super::MeshReport;
use super::bending::GridLines;
use super::membrane::Texture;
use crate::error::{Error, Result};
use glam::{DVec3, Vec3};

/// The distance constraints and hinges of a cloth before they are added, as vertex indices.
pub(super) struct Links<'a> {
    pub structural: Vec<[u32; 2]>,
    pub shear: Vec<[u32; 2]>,
    pub bend: Vec<[u32; 2]>,
    pub hinges: Vec<[u32; 4]>,
    /// Area per vertex \[m²\].
    pub areas: Vec<f32>,
    /// Present for a complete grid.
    pub lines: Option<GridLines>,
    /// The direction of the rows of a grid, whole or cut.
    pub rows: Option<Vec3>,
    pub texture: Texture<'a>,
    pub report: MeshReport,
}

impl Links<'_> {
    /// Returns an error if a structural or shear link has no finite positive length. `base` is the first particle.
    pub fn check_lengths(&self, positions: &[[f32; 3]], base: u32) -> Result<()> {
        for &edge in self.structural.iter().chain(&self.shear) {
            let length = distance(positions, edge);
            if !(length > 0.0 && length.is_finite()) {
                let what = "edge of a cloth".into();
                return Err(Error::ZeroLength { what, particles: edge.map(|particle| base + particle), length });
            }
        }
        Ok(())
    }
}

/// The links of a cloth with the positions of its vertices.
pub(super) struct Measured<'a> {
    pub links: &'a Links<'a>,
    pub positions: &'a [[f32; 3]],
    /// The particle of vertex 0.
    pub base: u32,
}

impl Measured<'_> {
    pub fn rest_length(&self, pair: [u32; 2]) -> f32 {
        self.links.lines.map_or_else(|| distance(self.positions, pair), |lines| lines.distance(pair))
    }

    pub fn particles<const N: usize>(&self, vertices: [u32; N]) -> [u32; N] {
        vertices.map(|vertex| self.base + vertex)
    }

    /// The edges of a triangle from its first vertex \[m\].
    pub fn edges(&self, [a, b, c]: [u32; 3]) -> [DVec3; 2] {
        let place = |vertex: u32| Vec3::from(self.positions[vertex as usize]).as_dvec3();
        let edge = |to: u32| match self.links.lines {
            Some(lines) => lines.offset([a, to]).as_dvec3(),
            None => place(to) - place(a),
        };
        [edge(b), edge(c)]
    }
}

fn distance(positions: &[[f32; 3]], [a, b]: [u32; 2]) -> f32 {
    Vec3::from(positions[a as usize]).distance(positions[b as usize].into())
}

/// The inverse masses of vertices with the given areas. A vertex without area gets the mean area.
pub(super) fn inverse_masses(areas: &[f32], area_density: f32) -> Result<Vec<f32>> {
    let used = areas.iter().filter(|&&area| area > 0.0);
    let mean = used.clone().sum::<f32>() / used.count() as f32;
    let areas = areas.iter().map(|&area| if area == 0.0 { mean } else { area });
    let invert = |(vertex, area)| super::invert_mass(|| format!("mass of cloth vertex {vertex}"), area * area_density);
    areas.enumerate().map(invert).collect()
}
