//! Bending resistance of cloth: springs, hinges, or a quadratic energy of a given flexural rigidity.
//!
//! A plate of flexural rigidity B \[N m\] that is bent to a cylinder of curvature κ stores ½ B κ² per area. All bending
//! constraints of a cloth share one material of compliance 1/B; each constraint has its own scale.

use super::hinge_weights::hinge_weights;
use super::{Fabric, Material, MaterialId, Scene};
use crate::constraints::{Hinge, IsometricBend};
use crate::error::{Result, check_positive};
use glam::Vec3;

/// The bending model of a cloth.
///
/// One row of pins is a hinge with free rotation. To clamp the slope at an edge, pin two rows of particles. The clamp
/// then starts halfway between the two rows: n cells of length a, counted from the first pinned row, bend as a plate of
/// length (n − ½) a.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bending {
    /// [`crate::Distance`] constraints of [`Fabric::bend`] between every second particle of a line, or between the
    /// opposite vertices of an edge. Cheap and stiff against sharp folds, but without stiffness against small bends.
    #[default]
    Springs,
    /// [`Hinge`]s of [`Fabric::flexural_rigidity`] B; the rest angles are those of the given shape. For cloth that
    /// stretches or is curved at rest.
    ///
    /// - Grids with rectangular cells and sides up to 1 : 1.25: a strip of width w, at least two cells, has the
    ///   rigidity B w under small loads, along rows and columns. If the membrane holds a grid to a cylinder, it is
    ///   stiffer: 1.5 B for square cells.
    /// - Other grids have the hinges of a mesh, which are softer, and set [`crate::Cloth::soft_hinges`].
    ///   [`Bending::Isometric`] is exact for rectangular cells of any aspect.
    /// - Meshes: a sheet rolled to a cylinder has the energy of a plate. A strip with free borders is softer under
    ///   small loads; the table holds for widths w of 4 to 16 cells. At 2 cells the ratio is 0.53 to 0.89.
    ///   [`Bending::Isometric`] has the same softness on a mesh. For an exact rigidity use a grid with
    ///   [`Bending::Isometric`].
    ///
    /// | triangles | rigidity / (B w) |
    /// |---|---|
    /// | equilateral | 0.85 to 0.90 |
    /// | Delaunay, smoothed | 0.84 to 0.89 |
    /// | Delaunay of random points | 0.78 to 0.84 |
    /// | Delaunay of a jittered square lattice | 0.67 to 0.81 |
    /// | right-angled, alternating diagonals | 0.67 |
    /// | right-angled, parallel diagonals | 0.51 |
    Hinges,
    /// The quadratic energy of Bergou et al. 2006 by [`Fabric::flexural_rigidity`], for inextensible cloth that is flat
    /// at rest.
    ///
    /// - Meshes: [`IsometricBend`]s with the weights of hinges; strips have the same softness.
    /// - Grids: second differences along the lines ([`crate::LineBend`]) and across the cells, with half the weight along the
    ///   border. They are exact for every direction of bending and for square and rectangular cells. If the sides of the cells
    ///   meet at 80°, the rigidity is 0.69 to 1.38 B by direction, at 60° 0.29 to 2.57 B.
    /// - Grids that are so fine and stiff that one sweep at the default substep could not hold these bends also have bends
    ///   over two cells, with a part of the rigidity. Cloths with [`Fabric::tearing`] do not.
    Isometric,
    /// No bending resistance.
    None,
}

impl Bending {
    /// True if the bends have the flexural rigidity of the fabric in a grid; `None` for a cloth that is cut out of one. Springs
    /// and no bends have none.
    pub(super) fn is_exact(self, lines: Option<GridLines>) -> bool {
        match self {
            Self::Springs | Self::None => true,
            Self::Hinges => lines.is_some_and(|lines| lines.has_exact_hinges()),
            Self::Isometric => lines.is_some_and(|lines| lines.is_rectangular()),
        }
    }
}

/// The largest ratio of cell sides for which hinges of a grid have the rigidity of the fabric. The weight of the longer
/// sides grows by the factor 3/(3 − ratio²): 2.1 here, with a pole at √3. Strips of one cell get too stiff with the
/// ratio.
const MAX_HINGE_ASPECT: f32 = 1.25;
/// The largest cosine between the axes of a rectangular grid.
const MAX_SKEW: f32 = 1e-3;

/// The layout of a grid for its bending constraints.
#[derive(Debug, Clone, Copy)]
pub(super) struct GridLines {
    pub columns: u32,
    pub rows: u32,
    /// From a particle to the next one in its row, and from a row to the next one \[m\].
    pub steps: [Vec3; 2],
    /// The area of a cell \[m²\].
    pub area: f32,
}

impl GridLines {
    /// The lengths of both steps \[m\].
    pub fn cell(&self) -> [f32; 2] {
        self.steps.map(Vec3::length)
    }

    /// Returns true if [`GridLines::hinge_weight`] is valid: rectangular cells of moderate aspect.
    pub fn has_exact_hinges(&self) -> bool {
        let [a, b] = self.cell();
        a.max(b) <= MAX_HINGE_ASPECT * a.min(b) && self.is_rectangular()
    }

    pub fn is_rectangular(&self) -> bool {
        let [a, b] = self.cell();
        self.steps[0].dot(self.steps[1]).abs() <= MAX_SKEW * a * b
    }

    /// The weight w of the hinge at an edge in the energy ½ B Σ w θ², such that strips have the rigidity B.
    ///
    /// Every second particle has no diagonal. It moves out of a cylinder of curvature K by a distance δ until its
    /// hinges are in equilibrium. The angles, with the cell sides a and b, are
    ///
    /// - a K₁₁ − 2δ/a at sides along b,
    /// - b K₂₂ − 2δ/b at sides along a,
    /// - (2δ ± a b K₁₂) √(a² + b²)/(a b) at diagonals.
    ///
    /// Minimise the energy over δ and K₂₂. A strip along a has the rigidity B if the weights of diagonals r and of
    /// sides q satisfy q r/(q + r) = 4 b/a³ (in units of δ²). Sides along the border cancel, so this holds for any
    /// width. Strips at 45° give r = 12/(a b).
    pub fn hinge_weight(&self, [from, to]: [u32; 2]) -> f64 {
        let [a, b] = self.cell().map(f64::from);
        let side = |ratio: f64| ratio * 3.0 / (3.0 - ratio * ratio);
        match from.abs_diff(to) {
            1 => side(a / b),
            step if step == self.columns => side(b / a),
            _ => 3.0 * a * b / (a * a + b * b),
        }
    }

    /// The rest distance of two particles \[m\]. It depends only on their offset in the grid, unlike the distance of
    /// rounded positions.
    pub fn distance(&self, pair: [u32; 2]) -> f32 {
        self.offset(pair).length()
    }

    /// The vector from one particle to another at rest \[m\].
    pub fn offset(&self, [a, b]: [u32; 2]) -> Vec3 {
        let place = |particle: u32| [particle % self.columns, particle / self.columns].map(|place| place as f32);
        let ([a, b], [column, row]) = ([place(a), place(b)], self.steps);
        (b[0] - a[0]) * column + (b[1] - a[1]) * row
    }

    /// A quarter of every adjacent cell per particle \[m²\]. Areas of the triangles would alternate with the diagonals.
    pub fn vertex_areas(&self) -> Vec<f32> {
        let Self { columns, rows, area, .. } = *self;
        let cells = |line: u32, count: u32| if line == 0 || line == count - 1 { 1.0 } else { 2.0 };
        (0..rows).flat_map(|r| (0..columns).map(move |c| 0.25 * area * cells(r, rows) * cells(c, columns))).collect()
    }
}

/// The material of the bending constraints.
pub(super) fn material(fabric: &Fabric) -> Result<Material> {
    match fabric.bending {
        Bending::Springs | Bending::None => Ok(fabric.bend),
        Bending::Hinges | Bending::Isometric => {
            check_positive("flexural rigidity of a fabric", fabric.flexural_rigidity)?;
            let material = Material { compliance: 1.0 / fabric.flexural_rigidity, damping: 0.0, ..fabric.bend };
            material.check("the flexural rigidity of a fabric, inverted,")?;
            Ok(material)
        }
    }
}

impl Scene {
    /// Adds hinges to a grid that is flat at rest; see [`GridLines::hinge_weight`].
    pub(super) fn push_grid_hinges(&mut self, base: u32, lines: GridLines, hinges: &[[u32; 4]], id: MaterialId) {
        for hinge in hinges {
            let particles = hinge.map(|vertex| base + vertex);
            let scale = lines.hinge_weight([hinge[0], hinge[1]]).sqrt() as f32;
            self.push_constraint(&Hinge { particles, rest_angle: 0.0, scale }, id);
        }
    }

    /// Adds hinges, or isometric bends of equal weights, to a mesh with first particle `base`.
    pub(super) fn push_mesh_bends(
        &mut self,
        base: u32,
        positions: &[[f32; 3]],
        hinges: &[[u32; 4]],
        bending: Bending,
        id: MaterialId,
    ) {
        let weights = hinge_weights(positions, hinges);
        for (&hinge, weight) in hinges.iter().zip(weights).filter(|(_, weight)| *weight > 0.0) {
            let particles = hinge.map(|vertex| base + vertex);
            let rest = hinge.map(|vertex| positions[vertex as usize]);
            let scale = weight.sqrt() as f32;
            if bending == Bending::Hinges {
                self.push_constraint(&Hinge { particles, rest_angle: Hinge::angle(rest), scale }, id);
            } else if let Ok(bend) = IsometricBend::new(particles, rest) {
                let edge = Vec3::from(rest[0]).distance(rest[1].into());
                self.push_constraint(&bend.scaled(scale / edge), id);
            }
        }
    }
}
