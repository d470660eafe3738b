//! Cloth from a grid or a triangle mesh, held by distance constraints.

use super::bending::GridLines;
use super::cloth_links::{Links, Measured, inverse_masses};
use super::membrane::{AddedMembranes, Membranes, PIECES, Texture};
use super::tearing::{TearableCloth, twin_kinds};
use super::{
    Bending, Fabric, Material, MaterialId, MeshReport, Particle, Scene, TetheredBody, Tethers, Topology, bending,
};
use crate::constraints::{Distance, DistanceLimit, Hinge, Kind, Limit};
use crate::error::{Error, Result, check_finite};
use crate::geometry::mesh;
use glam::Vec3;
use std::ops::Range;

/// A rectangular cloth of `columns` × `rows` particles.
///
/// Particle (row r, column c) has the index r · `columns` + c after the first and lies at
/// `origin` + c/(`columns` − 1) · `column_axis` + r/(`rows` − 1) · `row_axis`.
#[derive(Debug, Clone, PartialEq)]
pub struct ClothGrid {
    /// Particles in a row; at least 2.
    pub columns: u32,
    /// Rows; at least 2.
    pub rows: u32,
    /// Position of particle (0, 0) \[m\].
    pub origin: [f32; 3],
    /// Vector from the first particle of a row to its last \[m\].
    pub column_axis: [f32; 3],
    /// Vector from the first row to the last \[m\].
    pub row_axis: [f32; 3],
    /// The fabric.
    pub fabric: Fabric,
    /// Tethers to the pins; `None` for none.
    pub tethers: Option<Tethers>,
}

impl Default for ClothGrid {
    /// A flat horizontal square of 2 m × 2 m around the y axis, with 64 × 64 particles.
    fn default() -> Self {
        Self {
            columns: 64,
            rows: 64,
            origin: [-1.0, 0.0, -1.0],
            column_axis: [2.0, 0.0, 0.0],
            row_axis: [0.0, 0.0, 2.0],
            fabric: Fabric::default(),
            tethers: Some(Tethers::default()),
        }
    }
}

/// A cloth in the shape of an indexed triangle mesh.
#[derive(Debug, Clone)]
pub struct ClothMesh<'a> {
    /// The vertices \[m\]; one particle per vertex.
    pub positions: &'a [[f32; 3]],
    /// The triangles, as vertex indices.
    pub triangles: &'a [[u32; 3]],
    /// The fabric. Edges are structural, opposite vertices of an edge have bend constraints; `shear` is not used.
    pub fabric: Fabric,
    /// Tethers to the pins; `None` for none.
    pub tethers: Option<Tethers>,
}

/// Index ranges of a cloth in the scene.
#[derive(Debug, Clone, PartialEq)]
pub struct Cloth {
    /// The particles, one per vertex.
    pub particles: Range<u32>,
    /// The triangles in [`Scene::triangles`].
    pub triangles: Range<u32>,
    /// Distance constraints along rows and columns (grid) or along edges (mesh).
    pub structural: Range<u32>,
    /// Distance constraints along the diagonals of the cells (grid); empty for a mesh.
    pub shear: Range<u32>,
    /// Distance constraints against bending, between every second particle of a line (grid) or opposite vertices of an
    /// edge (mesh). Empty unless the fabric has [`Bending::Springs`].
    pub bend: Range<u32>,
    /// [`crate::Hinge`] constraints. Empty unless the fabric has [`Bending::Hinges`].
    pub hinges: Range<u32>,
    /// [`crate::Membrane`] constraints, by triangle: all of the shear, then of the weft, then of the warp. Empty unless the fabric has a
    /// [`Fabric::membrane`]; `structural` and `shear` are empty then.
    pub membranes: Range<u32>,
    /// [`crate::MembraneLimit`] constraints, by triangle: those of each piece of the weft, then of the warp. Empty without
    /// [`crate::Orthotropic::stiffening`].
    pub membrane_limits: Range<u32>,
    /// The entries of the material table that belong to this cloth.
    pub materials: ClothMaterials,
    /// Defects of the mesh.
    pub report: MeshReport,
    /// Columns and rows of a grid; `None` for a mesh, and for a cloth that is cut out of a grid.
    pub grid: Option<[u32; 2]>,
    /// True if the bends of a grid are not those of its [`Fabric::flexural_rigidity`]. [`Bending`] has the factors.
    ///
    /// - [`Bending::Hinges`]: the cells are skewed or longer than 1.25 times their width.
    /// - [`Bending::Isometric`]: the cells are skewed.
    /// - Both: the cloth is cut out of a grid. It is as soft as a mesh.
    pub soft_hinges: bool,
}

/// The entries of the material table of one cloth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClothMaterials {
    /// Material of the structural constraints.
    pub structural: MaterialId,
    /// Material of the shear constraints.
    pub shear: MaterialId,
    /// Material of the bending constraints of any kind.
    pub bend: MaterialId,
    /// Materials of the membrane constraints of warp, weft and shear; see [`crate::constraints::Membrane`].
    pub membrane: Option<[MaterialId; 3]>,
    /// Materials of the pieces of [`crate::Orthotropic::stiffening`] along warp and weft.
    pub stiffening: [[Option<MaterialId>; PIECES]; 2],
}

impl ClothGrid {
    /// The positions, row by row.
    pub(super) fn points(&self) -> Result<Vec<[f32; 3]>> {
        let (columns, rows) = (self.columns, self.rows);
        for (what, count) in [("columns of a cloth grid", columns), ("rows of a cloth grid", rows)] {
            if count < 2 {
                return Err(Error::invalid(what, f64::from(count), "at least 2"));
            }
        }
        let vectors = [("origin", self.origin), ("column axis", self.column_axis), ("row axis", self.row_axis)];
        for (what, value) in vectors {
            check_finite(|| format!("{what} of a cloth grid"), value)?;
        }
        let count = u64::from(columns) * u64::from(rows);
        if count * 6 > u64::from(u32::MAX) {
            return Err(super::too_large("constraints of a cloth grid", count * 6));
        }
        let [origin, column_axis, row_axis] = vectors.map(|(_, value)| Vec3::from(value));
        let step = |index: u32, count: u32| index as f32 / (count - 1) as f32;
        Ok((0..rows)
            .flat_map(|r| (0..columns).map(move |c| (r, c)))
            .map(|(r, c)| (origin + step(c, columns) * column_axis + step(r, rows) * row_axis).into())
            .collect())
    }

    /// Row and column of every cell, row by row.
    pub(super) fn cells(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let (columns, rows) = (self.columns, self.rows);
        (0..rows - 1).flat_map(move |r| (0..columns - 1).map(move |c| (r, c)))
    }

    /// The area of a cell \[m²\].
    pub(super) fn cell_area(&self) -> f32 {
        let [column_axis, row_axis] = [self.column_axis, self.row_axis].map(Vec3::from);
        let cells = (self.columns - 1) as f32 * (self.rows - 1) as f32;
        column_axis.cross(row_axis).length() / cells
    }

    /// The corners of a cell: two of its row, then two of the next row.
    pub(super) fn cell_corners(&self, (r, c): (u32, u32)) -> [u32; 4] {
        let first = r * self.columns + c;
        [first, first + 1, first + self.columns, first + self.columns + 1]
    }

    /// The triangles of a cell. The diagonals alternate, so both directions have equal bending stiffness.
    pub(super) fn cell_triangles(&self, (r, c): (u32, u32)) -> [[u32; 3]; 2] {
        let [a, b, d, e] = self.cell_corners((r, c));
        if (r + c).is_multiple_of(2) { [[a, d, b], [b, d, e]] } else { [[a, d, e], [a, e, b]] }
    }

    /// All pairs of particles with an offset of `down` rows and `across` columns. In this order, greedy colouring needs
    /// two colours for each of the six directions.
    pub(super) fn links(&self, down: u32, across: i64) -> impl Iterator<Item = [u32; 2]> + use<> {
        let (columns, rows) = (self.columns, self.rows);
        let at = move |r: u32, c: u32| r * columns + c;
        (0..rows.saturating_sub(down)).flat_map(move |r| {
            (0..columns).filter_map(move |c| {
                let to = u32::try_from(i64::from(c) + across).ok().filter(|&to| to < columns)?;
                Some([at(r, c), at(r + down, to)])
            })
        })
    }
}

impl Scene {
    /// Adds a rectangular cloth. It has structural constraints along rows and columns, shear constraints along both
    /// diagonals of each cell, and bend constraints by the fabric's [`Bending`]. Its mass is area times density; each
    /// cell gives a quarter of its mass to each corner.
    ///
    /// # Errors
    /// - The grid has fewer than two rows or columns, a position is not finite, or the axes span no area.
    /// - A parameter of the fabric is out of range.
    pub fn add_cloth_grid(&mut self, grid: &ClothGrid) -> Result<Cloth> {
        let (columns, rows) = (grid.columns, grid.rows);
        let positions = grid.points()?;
        let triangles: Vec<[u32; 3]> = grid.cells().flat_map(|cell| grid.cell_triangles(cell)).collect();
        let Topology { hinges, report, .. } = Topology::new(&positions, &triangles)?;
        let [column_axis, row_axis] = [grid.column_axis, grid.row_axis].map(Vec3::from);
        let steps = [column_axis / (columns - 1) as f32, row_axis / (rows - 1) as f32];
        let lines = GridLines { columns, rows, steps, area: grid.cell_area() };
        let links = Links {
            structural: grid.links(0, 1).chain(grid.links(1, 0)).collect(),
            shear: grid.links(1, 1).chain(grid.links(1, -1)).collect(),
            bend: grid.links(0, 2).chain(grid.links(2, 0)).collect(),
            hinges,
            areas: lines.vertex_areas(),
            lines: Some(lines),
            rows: Some(column_axis),
            texture: None,
            report,
        };
        self.push_cloth(&positions, &triangles, links, &grid.fabric_along_rows(), grid.tethers)
    }

    /// Adds a cloth from a triangle mesh. It has structural constraints along the edges and bend constraints between
    /// opposite vertices of an edge. Its mass is area times density; each triangle gives a third of its mass to each
    /// vertex.
    ///
    /// Meshes with non-manifold edges or inconsistent winding are accepted; [`Cloth::report`] counts these defects.
    ///
    /// # Errors
    /// The errors of [`Topology::new`]; a parameter of the fabric is out of range.
    pub fn add_cloth_mesh(&mut self, mesh: &ClothMesh) -> Result<Cloth> {
        self.add_mesh(mesh, None)
    }

    pub(super) fn add_mesh(&mut self, mesh: &ClothMesh, texture: Texture<'_>) -> Result<Cloth> {
        let Topology { edges, opposites, hinges, report } = Topology::new(mesh.positions, mesh.triangles)?;
        report.warn_of_seams();
        let areas = mesh::vertex_areas(mesh.positions, mesh.triangles);
        let (structural, shear, bend) = (edges, Vec::new(), opposites);
        let links = Links { structural, shear, bend, hinges, areas, lines: None, rows: None, texture, report };
        self.push_cloth(mesh.positions, mesh.triangles, links, &mesh.fabric, mesh.tethers)
    }

    pub(super) fn push_cloth(
        &mut self,
        positions: &[[f32; 3]],
        triangles: &[[u32; 3]],
        links: Links<'_>,
        fabric: &Fabric,
        tethers: Option<Tethers>,
    ) -> Result<Cloth> {
        fabric.check()?;
        let bend_material = bending::material(fabric)?;
        tethers.as_ref().map_or(Ok(()), Tethers::check)?;
        let base = self.check_capacity("particles", positions.len())?;
        links.check_lengths(positions, base)?;
        let measured = Measured { links: &links, positions, base };
        let membranes = Membranes::new(&measured, triangles, links.texture, fabric)?;
        let copies = self.push_cloth_vertices(&measured, triangles.len(), fabric)?;
        let first_constraints = twin_kinds().map(|kind| self.constraints[kind].len() as u32);
        let triangles = self.push_triangles(base, triangles);

        // Greedy colouring keeps this order, and constraints that are projected last have the smallest error. With
        // shear last, the greatest strain of a corner-pinned cloth is smallest.
        let springs = if fabric.bending == Bending::Springs { links.bend.as_slice() } else { &[] };
        let (bend, bend_id) = self.push_distances(&measured, springs, bend_material)?;
        let sides = if fabric.membrane.is_some() { [&[][..]; 2] } else { [&links.structural[..], &links.shear] };
        let (structural, structural_id) = self.push_distances(&measured, sides[0], fabric.structural)?;
        let (shear, shear_id) = self.push_distances(&measured, sides[1], fabric.shear)?;
        let AddedMembranes { membranes, membrane_limits, membrane, stiffening } = self.push_membranes(&membranes)?;
        self.push_stretch_limits(&measured, fabric.stretch_limit)?;
        let hinges = self.push_bends(&measured, fabric, bend_id);

        let materials =
            ClothMaterials { structural: structural_id, shear: shear_id, bend: bend_id, membrane, stiffening };
        let cloth = Cloth {
            particles: base..base + positions.len() as u32,
            triangles,
            structural,
            shear,
            bend,
            hinges,
            membranes,
            membrane_limits,
            materials,
            report: links.report,
            grid: links.lines.map(|lines| [lines.columns, lines.rows]),
            soft_hinges: links.rows.is_some() && !fabric.bending.is_exact(links.lines),
        };
        if let Some(lines) = links.lines {
            self.add_grid(cloth.particles.clone(), lines.columns)?;
        }
        let body = cloth.particles.start..copies.end;
        self.push_tethered(&cloth, body.clone(), fabric, tethers);
        if let Some(tearing) = fabric.tearing {
            let warp = links.rows.map(Vec3::into);
            self.push_tearable(TearableCloth::new(&cloth, copies, tearing.strain, warp), first_constraints);
        }
        self.bodies.push(body);
        Ok(cloth)
    }

    /// Adds the vertices of a cloth, and particles for those that tear apart; returns the latter.
    fn push_cloth_vertices(&mut self, cloth: &Measured<'_>, triangles: usize, fabric: &Fabric) -> Result<Range<u32>> {
        let (positions, base) = (cloth.positions, cloth.base);
        let masses = inverse_masses(&cloth.links.areas, fabric.area_density)?;
        let in_triangles = positions.len() - cloth.links.report.isolated_vertices as usize;
        let reserve = fabric.tearing.map_or(0, |tearing| tearing.reserve(in_triangles, triangles));
        self.check_capacity("particles", positions.len() + reserve as usize)?;
        self.push_vertices(positions, masses);
        Ok(self.push_reserve(base..base + positions.len() as u32, reserve))
    }

    fn push_tethered(&mut self, cloth: &Cloth, particles: Range<u32>, fabric: &Fabric, tethers: Option<Tethers>) {
        // In a torn cloth the sides of the triangles are the paths that remain.
        let edges = if fabric.tearing.is_some() { 0..0 } else { cloth.structural.start..cloth.shear.end };
        let triangles = cloth.triangles.clone();
        self.tethered_bodies.extend(tethers.map(|tethers| TetheredBody { particles, triangles, edges, tethers }));
    }

    fn push_vertices(&mut self, positions: &[[f32; 3]], inverse_masses: Vec<f32>) {
        for (&position, inverse_mass) in positions.iter().zip(inverse_masses) {
            self.push_particle(Particle { position, velocity: [0.0; 3], inverse_mass });
        }
    }

    /// Adds a distance constraint for each of `pairs`, with a new entry of the material table. Returns the indices of
    /// the constraints.
    fn push_distances(
        &mut self,
        cloth: &Measured<'_>,
        pairs: &[[u32; 2]],
        material: Material,
    ) -> Result<(Range<u32>, MaterialId)> {
        let id = self.add_material(material)?;
        let first = self.distance_count();
        for &pair in pairs {
            let rest_length = cloth.rest_length(pair);
            // Opposite vertices of a folded mesh may coincide; such a constraint has no direction.
            if rest_length > 0.0 {
                self.push_constraint(&Distance { particles: cloth.particles(pair), rest_length }, id);
            }
        }
        Ok((first..self.distance_count(), id))
    }

    fn push_stretch_limits(&mut self, cloth: &Measured<'_>, stretch_limit: f32) -> Result<()> {
        if !stretch_limit.is_finite() {
            return Ok(());
        }
        let id = self.add_material(Material::RIGID)?;
        for &edge in &cloth.links.structural {
            let length = stretch_limit * cloth.rest_length(edge);
            let limit = DistanceLimit { particles: cloth.particles(edge), length, limit: Limit::AtMost };
            self.push_constraint(&limit, id);
        }
        Ok(())
    }

    /// Adds the bending constraints that are no distances; returns the hinges.
    fn push_bends(&mut self, cloth: &Measured<'_>, fabric: &Fabric, id: MaterialId) -> Range<u32> {
        let (base, hinges, first) = (cloth.base, &cloth.links.hinges, self.kind_count(Hinge::INFO));
        match (fabric.bending, cloth.links.lines) {
            (Bending::Springs | Bending::None, _) => {}
            (Bending::Isometric, Some(lines)) => self.push_grid_bends(base, lines, fabric, id),
            (Bending::Hinges, Some(lines)) if lines.has_exact_hinges() => {
                self.push_grid_hinges(base, lines, hinges, id);
            }
            (bending, _) => self.push_mesh_bends(base, cloth.positions, hinges, bending, id),
        }
        first..self.kind_count(Hinge::INFO)
    }
}
