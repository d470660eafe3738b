//! Adds the cloths and ropes of a scene file to the scene.

use super::build::{Builder, Built};
use super::error::{At, FileError, Reason};
use super::fabrics::Weave;
use super::format::Switch;
use super::mesh::Surface;
use super::obj::TextureCoordinates;
use super::parts::{ClothGridFile, ClothMeshFile, CordFile, RopeFile, TethersFile};
use super::values::NameOr;
use super::{Hint, Part};
use crate::scene::{Cloth, ClothGrid, ClothMesh, Cord, MeshReport, RenderMesh, Rope, Scene, Tethers};

/// The fields of a polyline: points; or its ends and the number of its segments.
type Polyline<'a> = (&'a Option<Vec<[f32; 3]>>, Option<[f32; 3]>, Option<[f32; 3]>, Option<u32>);

impl Builder<'_> {
    pub fn add_cloth_grid(&mut self, place: &str, file: &ClothGridFile) -> Built {
        let (columns, rows) = (file.columns, file.rows);
        let count = u64::from(columns) * u64::from(rows);
        self.check_particles(count).at(|| place.into())?;
        self.count_elements(2 * count).at(|| place.into())?;
        let fabric = self.fabric(place, file.fabric.as_ref(), Weave::Grid)?;
        let default = ClothGrid::default();
        let grid = ClothGrid {
            columns,
            rows,
            origin: file.origin.unwrap_or(default.origin),
            column_axis: file.column_axis.unwrap_or(default.column_axis),
            row_axis: file.row_axis.unwrap_or(default.row_axis),
            fabric,
            tethers: tethers(file.tethers.as_ref()),
        };
        let cloth = self.scene.add_cloth_grid(&grid).at(|| place.into())?;
        let texture = self.grid_texture(&cloth, [columns, rows]);
        Ok(Part { grid: Some([columns, rows]), texture, ..cloth_part(cloth) })
    }

    /// Texture coordinates from (0, 0) at the first particle of the last row to (1, 1) at the last one of row 0. Seen from
    /// the side of the normals, u × v points to the viewer, so pictures are not mirrored.
    fn grid_texture(&self, cloth: &Cloth, [columns, rows]: [u32; 2]) -> TextureCoordinates {
        let share = |index: u32, count: u32| index as f32 / (count - 1) as f32;
        let row = |row: u32| (0..columns).map(move |column| [share(column, columns), share(rows - 1 - row, rows)]);
        let range = cloth.triangles.start as usize..cloth.triangles.end as usize;
        let first = cloth.particles.start;
        let corners = |triangle: &[u32; 3]| Some(triangle.map(|particle| particle - first));
        TextureCoordinates {
            coordinates: (0..rows).flat_map(row).collect(),
            triangles: self.scene.triangles()[range].iter().map(corners).collect(),
        }
    }

    pub fn add_cloth_mesh(&mut self, place: &str, file: &ClothMeshFile) -> Built {
        let surface = self.surface(place, &file.mesh)?;
        let mesh = ClothMesh {
            positions: &surface.positions,
            triangles: &surface.triangles,
            fabric: self.fabric(place, file.fabric.as_ref(), Weave::Mesh)?,
            tethers: tethers(file.tethers.as_ref()),
        };
        if mesh.fabric.tearing.is_some() && file.mesh.compliance_map.is_some() {
            return Err("a cloth that tears has no compliance map").at(|| format!("{place}.mesh.compliance_map"));
        }
        let added = match surface.corners().filter(|_| mesh.fabric.needs_warp()) {
            Some(texture) => self.scene.add_cloth_mesh_with_texture(&mesh, &texture.at(|| format!("{place}.mesh"))?),
            None => self.scene.add_cloth_mesh(&mesh),
        };
        let cloth = added.map_err(|error| surface.explain(error)).at(|| place.into())?;
        let hint = |message| Hint { place: place.into(), message };
        self.hints.extend(defects(&cloth.report).map(hint));
        self.apply_maps(place, &file.mesh, &surface, cloth.particles.start)?;
        Ok(cloth_part(cloth).with_mesh(surface))
    }

    pub fn add_rope(&mut self, place: &str, file: &RopeFile) -> Built {
        let points = self.polyline(place, "rope", (&file.points, file.from, file.to, file.segments))?;
        let cord = self.cord(&file.cord).at(|| format!("{place}.cord"))?;
        if cord.damping > 0.0 && cord.axial_stiffness == f32::INFINITY {
            let (place, message) = (format!("{place}.cord.damping"), "it has no effect: the cord is rigid".into());
            self.hints.push(Hint { place, message });
        }
        let rope = Rope { points: &points, cord, tethers: tethers(file.tethers.as_ref()) };
        let rope = self.scene.add_rope(&rope).at(|| place.into())?;
        Ok(Part { particles: rope.particles, edges: rope.segments, ..Part::empty() })
    }

    /// The points of a rope or a rod.
    pub fn polyline(&self, place: &str, sort: &str, file: Polyline<'_>) -> Result<Vec<[f32; 3]>, FileError> {
        let points = match file {
            (Some(points), None, None, None) => {
                self.check_particles(points.len() as u64).at(|| format!("{place}.points"))?;
                points.clone()
            }
            (None, Some(from), Some(to), Some(segments)) => {
                if segments == 0 {
                    return Err("it must be at least 1").at(|| format!("{place}.segments"));
                }
                self.check_particles(u64::from(segments) + 1).at(|| format!("{place}.segments"))?;
                let part = |point: u32| f64::from(point) / f64::from(segments);
                let at =
                    |t: f64| [0, 1, 2].map(|axis| (f64::from(from[axis]) * (1.0 - t) + f64::from(to[axis]) * t) as f32);
                (0..=segments).map(|point| at(part(point))).collect()
            }
            _ => return Err(format!("a {sort} has either points, or from, to and segments")).at(|| place.into()),
        };
        Ok(points)
    }

    fn cord(&self, given: &NameOr<CordFile>) -> Result<Cord, Reason> {
        let file = match given {
            NameOr::Scalar(name) => return cord_preset(name),
            NameOr::Structured(file) => file,
        };
        let mut cord = match (&file.preset, file.linear_density) {
            (Some(name), _) => cord_preset(name)?,
            (None, Some(density)) => Cord::limp(density, f32::INFINITY),
            (None, None) => return Err("a cord needs a preset or a linear_density".into()),
        };
        cord.linear_density = file.linear_density.unwrap_or(cord.linear_density);
        cord.axial_stiffness = file.axial_stiffness.unwrap_or(cord.axial_stiffness);
        cord.damping = file.damping.unwrap_or(cord.damping);
        cord.flexural_rigidity = file.flexural_rigidity.unwrap_or(cord.flexural_rigidity);
        if file.bend.is_some() {
            cord.bend = Some(self.material(file.bend.as_ref())?);
        }
        Ok(cord)
    }
}

pub(super) fn cloth_part(cloth: Cloth) -> Part {
    let edges = cloth.structural.start..cloth.shear.end;
    Part { particles: cloth.particles, triangles: cloth.triangles, edges, hinges: cloth.hinges, ..Part::empty() }
}

fn tethers(given: Option<&Switch<TethersFile>>) -> Option<Tethers> {
    match given {
        None | Some(Switch::Scalar(true)) => Some(Tethers::default()),
        Some(Switch::Scalar(false)) => None,
        Some(Switch::Structured(file)) => Some(Tethers { per_particle: file.per_particle, scale: file.scale }),
    }
}

/// The defects of a mesh that change the motion of the cloth.
fn defects(report: &MeshReport) -> impl Iterator<Item = String> {
    let &MeshReport { coincident_vertices: seams, isolated_vertices: loose, inconsistent_edges: opposed, .. } = report;
    let seams = (seams > 0).then(|| {
        format!(
            "the cloth has open seams: {seams} border vertices lie within a thousandth of an edge of another one and will part from it; weld of its \
             mesh joins them"
        )
    });
    let loose = (loose > 0).then(|| {
        format!(
            "{loose} vertices belong to no triangle: each is a loose particle with the mean mass of the other vertices"
        )
    });
    let opposed = (opposed > 0).then(|| {
        format!("{opposed} edges are between triangles of opposed normals: the faces of the mesh do not all have the same winding")
    });
    [seams, loose, opposed].into_iter().flatten()
}

fn cord_preset(name: &str) -> Result<Cord, Reason> {
    Ok(match name {
        "steel_cable" => Cord::STEEL_CABLE,
        "nylon" => Cord::NYLON,
        "hemp" => Cord::HEMP,
        "cotton" => Cord::COTTON,
        "rubber_band" => Cord::RUBBER_BAND,
        _ => {
            let known = "steel_cable, nylon, hemp, cotton and rubber_band";
            return Err(format!("no cord is named {name:?}; there are {known}").into());
        }
    })
}

impl Part {
    pub(super) fn empty() -> Self {
        Self {
            name: None,
            particles: 0..0,
            surface: 0..0,
            triangles: 0..0,
            edges: 0..0,
            hinges: 0..0,
            joints: 0..0,
            segments: 0..0,
            radii: [0.0; 2],
            grid: None,
            vertex_particles: Vec::new(),
            texture: Default::default(),
        }
    }

    /// The mesh of the part for drawing: vertices split along the seams of its texture coordinates, (0, 0) where it has none.
    /// `scene` is the scene of the file. Call it after [`super::SceneFile::renumber`].
    ///
    /// # Errors
    /// As [`RenderMesh::new`]: the part was changed, or belongs to another scene.
    pub fn render_mesh(&self, scene: &Scene) -> crate::Result<RenderMesh> {
        let range = self.triangles.start as usize..self.triangles.end as usize;
        let triangles = scene.triangles().get(range).unwrap_or_default();
        let TextureCoordinates { coordinates, triangles: indices } = &self.texture;
        let place = |corner: u32| coordinates.get(corner as usize).copied().unwrap_or_default();
        let corners = |index: &Option<[u32; 3]>| index.map_or([[0.0; 2]; 3], |corners| corners.map(place));
        let texture: Vec<[[f32; 2]; 3]> = match indices.is_empty() {
            true => vec![[[0.0; 2]; 3]; triangles.len()],
            false => indices.iter().map(corners).collect(),
        };
        RenderMesh::new(triangles, &texture)
    }

    /// Sets the vertices and texture coordinates of the mesh. Its first vertex is the first follower if there are
    /// followers, else the first particle.
    pub(super) fn with_mesh(mut self, mesh: Surface) -> Self {
        let first = if self.surface.is_empty() { self.particles.start } else { self.surface.start };
        self.vertex_particles = mesh.map.into_iter().map(|vertex| first + vertex).collect();
        self.texture = mesh.texture;
        self
    }
}
