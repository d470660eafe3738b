//! Triangle meshes of a scene file: inline, from an OBJ or from a glTF, transformed.

use super::build::Builder;
use super::error::{At, FileError, Reason};
use super::gltf::{Gltf, GltfMesh, MAPS, MapRequest};
use super::obj::{self, ObjMesh, TextureCoordinates};
use super::text;
use super::values::OneOrMany;
use crate::collision::ContactScale;
use crate::error::{Error, check_positive};
use crate::scene::weld;
use glam::{DMat3, DVec3, EulerRot};
use serde::Deserialize;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// The value of a pin map from which a vertex is pinned.
const PINNED: f32 = 0.5;

/// A triangle mesh: `positions` and `triangles`, `obj`, or `gltf`. It is scaled, then rotated, then translated, then welded.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct MeshFile {
    /// The vertices [m].
    pub positions: Option<Vec<[f32; 3]>>,
    /// The triangles, as vertex indices from 0.
    pub triangles: Option<Vec<[u32; 3]>>,
    /// The path of a Wavefront OBJ file, relative to the folder of the scene.
    pub obj: Option<String>,
    /// The path of a glTF 2.0 file (.gltf or .glb), relative to the folder of the scene.
    pub gltf: Option<String>,
    /// The name of the node of the glTF file that is read, with the nodes below it. Default: all nodes.
    pub node: Option<String>,
    /// The vertex attribute of the glTF file, such as "_PIN" or "COLOR_0.r", that pins vertices from a value of 0.5.
    pub pin_map: Option<String>,
    /// The vertex attribute of the glTF file that scales the thickness of contacts, greater than 0 and at most 1.
    pub thickness_map: Option<String>,
    /// The vertex attribute of the glTF file that scales the area density, greater than 0.
    pub density_map: Option<String>,
    /// The vertex attribute of the glTF file that scales the compliance of the constraints of the part, at least 0.
    pub compliance_map: Option<String>,
    /// The vertex attribute of the glTF file that gives the maximum distance from the start, at least 0.
    pub max_distance_map: Option<String>,
    /// The maximum distance [m] where max_distance_map is 1. Default 1.
    pub max_distance: Option<f32>,
    /// The scale factor of all coordinates, or one factor per axis. Default 1.
    pub scale: Option<OneOrMany>,
    /// Rotation angles [degrees] about the x axis, then the y axis, then the z axis. Default [0, 0, 0].
    pub rotate: Option<[f32; 3]>,
    /// The translation [m]. Default [0, 0, 0].
    pub translate: Option<[f32; 3]>,
    /// Vertices within this distance [m] are merged, for instance along texture seams; at least 0. Default: no merging; for
    /// glTF 0, since its vertices are split along seams.
    pub weld: Option<f32>,
}

/// A transformed mesh.
#[derive(Debug, Clone, Default)]
pub(super) struct Surface {
    pub positions: Vec<[f32; 3]>,
    pub triangles: Vec<[u32; 3]>,
    pub texture: TextureCoordinates,
    /// For each vertex of the file, its index in `positions`.
    pub map: Vec<u32>,
    /// For each triangle, its line in the OBJ; empty for inline meshes.
    lines: Vec<u32>,
    /// The values of the maps of pins, thickness, density, compliance and maximum distance, by vertex; empty without the map.
    maps: [Vec<f32>; MAPS],
}

impl Surface {
    fn new(positions: Vec<[f32; 3]>, triangles: Vec<[u32; 3]>) -> Self {
        let map = (0..positions.len() as u32).collect();
        Self { positions, triangles, map, ..Self::default() }
    }

    /// Adds the line of the OBJ to an error of the library.
    pub fn explain(&self, error: Error) -> Reason {
        match &error {
            Error::DegenerateTriangle { triangle, .. } if !self.lines.is_empty() => {
                let line = self.lines.get(*triangle as usize).copied().unwrap_or_default();
                format!("{error}; the first is on line {line} of the OBJ").into()
            }
            _ => error.into(),
        }
    }

    /// The texture coordinates of the corners of each triangle; `None` if the mesh has none. An error if a triangle has
    /// none.
    pub fn corners(&self) -> Option<Result<Vec<[[f32; 2]; 3]>, Reason>> {
        let TextureCoordinates { coordinates, triangles } = &self.texture;
        let corners = |(index, corners): (usize, &Option<[u32; 3]>)| match corners {
            Some(corners) => Ok(corners.map(|corner| coordinates[corner as usize])),
            None => Err(format!("triangle {index} has no texture coordinates").into()),
        };
        (!triangles.is_empty()).then(|| triangles.iter().enumerate().map(corners).collect())
    }

    /// Returns true if the mesh has a map.
    pub fn has_maps(&self) -> bool {
        self.maps.iter().any(|map| !map.is_empty())
    }

    fn weld(&mut self, tolerance: f32) -> Result<(), Error> {
        let weld = weld(&self.positions, &self.triangles, tolerance)?;
        let sources = || weld.sources.iter().map(|&source| source as usize);
        if !self.texture.triangles.is_empty() {
            self.texture.triangles = sources().map(|source| self.texture.triangles[source]).collect();
        }
        if !self.lines.is_empty() {
            self.lines = sources().map(|source| self.lines[source]).collect();
        }
        for map in self.maps.iter_mut().filter(|map| !map.is_empty()) {
            // A merged vertex has the greatest of its values.
            let mut values = vec![f32::NEG_INFINITY; weld.positions.len()];
            for (&value, &vertex) in map.iter().zip(&weld.map) {
                values[vertex as usize] = values[vertex as usize].max(value);
            }
            *map = values;
        }
        (self.positions, self.triangles, self.map) = (weld.positions, weld.triangles, weld.map);
        Ok(())
    }
}

impl From<&ObjMesh> for Surface {
    fn from(mesh: &ObjMesh) -> Self {
        let surface = Self::new(mesh.positions.clone(), mesh.triangles.clone());
        Self { texture: mesh.texture.clone(), lines: mesh.lines.clone(), ..surface }
    }
}

impl From<GltfMesh> for Surface {
    fn from(mesh: GltfMesh) -> Self {
        Self { texture: mesh.texture, maps: mesh.maps, ..Self::new(mesh.positions, mesh.triangles) }
    }
}

impl Builder<'_> {
    /// The transformed mesh, checked against the limits.
    pub fn surface(&mut self, place: &str, file: &MeshFile) -> Result<Surface, FileError> {
        let of = |field: &str| format!("{place}.mesh{field}");
        let of_gltf = [
            ("node", &file.node),
            ("pin_map", &file.pin_map),
            ("thickness_map", &file.thickness_map),
            ("density_map", &file.density_map),
            ("compliance_map", &file.compliance_map),
            ("max_distance_map", &file.max_distance_map),
        ];
        if let Some((field, _)) = of_gltf.iter().find(|(_, given)| given.is_some() && file.gltf.is_none()) {
            return Err(format!("{field} needs gltf")).at(|| of(""));
        }
        if file.max_distance.is_some() && file.max_distance_map.is_none() {
            return Err("max_distance needs max_distance_map").at(|| of(""));
        }
        let surface = match (&file.positions, &file.triangles, &file.obj, &file.gltf) {
            (None, None, None, Some(name)) => self.gltf(name, file).at(|| of(".gltf"))?,
            (None, None, Some(name), None) => {
                let shared = self.obj(name).at(|| of(".obj"))?;
                self.count(shared.positions.len(), shared.triangles.len()).at(|| of(".obj"))?;
                Surface::from(&*shared)
            }
            (Some(positions), Some(triangles), None, None) => {
                self.count(positions.len(), triangles.len()).at(|| of(""))?;
                Surface::new(positions.clone(), triangles.clone())
            }
            _ => return Err("a mesh has either positions and triangles, or obj, or gltf").at(|| of("")),
        };
        let mut surface = transform(surface, file).at(|| of(""))?;
        if let Some(tolerance) = file.weld.or(file.gltf.as_ref().map(|_| 0.0)) {
            surface.weld(tolerance).at(|| of(".weld"))?;
        }
        Ok(surface)
    }

    fn count(&mut self, positions: usize, triangles: usize) -> Result<(), Reason> {
        self.check_particles(positions as u64)?;
        self.count_elements(triangles as u64)
    }

    fn obj(&mut self, name: &str) -> Result<Rc<ObjMesh>, Reason> {
        if let Some(surface) = self.meshes.get(name) {
            return Ok(surface.clone());
        }
        let text = text::read_lossy(&self.path(name)?, self.limits.file_bytes)?;
        let surface = Rc::new(obj::parse(&text).map_err(|error| format!("{name}: {error}"))?);
        self.meshes.insert(name.into(), surface.clone());
        Ok(surface)
    }

    /// The mesh of a glTF file, counted against the limits.
    fn gltf(&mut self, name: &str, file: &MeshFile) -> Result<Surface, Reason> {
        let named = |error: Reason| match error {
            Reason::Content(message) => format!("{name}: {message}").into(),
            other => other,
        };
        let gltf = match self.gltfs.get(name) {
            Some(gltf) => gltf.clone(),
            None => {
                let (path, limit) = (self.path(name)?, self.limits.file_bytes);
                let gltf = Gltf::read(&path, limit).map_err(named)?;
                self.gltfs.entry(name.into()).or_insert(Rc::new(gltf)).clone()
            }
        };
        let request = |name: &'_ Option<String>, default| name.clone().map(|name| MapRequest { name, default });
        let requests = [
            request(&file.pin_map, 0.0),
            request(&file.thickness_map, 1.0),
            request(&file.density_map, 1.0),
            request(&file.compliance_map, 1.0),
            request(&file.max_distance_map, f32::INFINITY),
        ];
        let mesh = gltf.mesh(file.node.as_deref(), &requests, |vertices, triangles| {
            self.check_particles(vertices)?;
            self.count_elements(triangles)
        });
        Ok(mesh.map_err(named)?.into())
    }

    /// The path of a file that the scene names.
    fn path(&self, name: &str) -> Result<PathBuf, Reason> {
        let Some(folder) = self.folder else {
            return Err(format!("{name:?}: a scene that is parsed without a folder cannot read files").into());
        };
        if !is_relative(name) {
            return Err(format!("{name:?}: the path must be relative to the folder of the scene").into());
        }
        Ok(folder.join(name))
    }

    /// Applies the maps of a mesh to its particles. `first` is the particle of vertex 0.
    pub fn apply_maps(&mut self, place: &str, file: &MeshFile, surface: &Surface, first: u32) -> Result<(), FileError> {
        let of = |field: &str| format!("{place}.mesh.{field}");
        let [pins, thicknesses, densities, compliances, distances] = &surface.maps;
        for (particle, _) in (first..).zip(pins).filter(|(_, value)| **value >= PINNED) {
            self.scene.pin(particle).at(|| of("pin_map"))?;
        }
        let particles = first..first + surface.positions.len() as u32;
        if !thicknesses.is_empty() {
            let scale = |&thickness: &f32| ContactScale { thickness, ..ContactScale::default() };
            let scales: Vec<ContactScale> = thicknesses.iter().map(scale).collect();
            self.scene.set_contact_scales(particles.clone(), &scales).at(|| of("thickness_map"))?;
        }
        self.scale_masses(densities, first).at(|| of("density_map"))?;
        if !compliances.is_empty() {
            self.scene.scale_compliance(particles, compliances).at(|| of("compliance_map"))?;
        }
        let scale = file.max_distance.unwrap_or(1.0);
        if !(scale >= 0.0 && scale.is_finite()) {
            return Err(Error::invalid("maximum distance", scale, "finite and at least 0 m")).at(|| of("max_distance"));
        }
        let limited = (first..).zip(distances).filter(|(_, value)| **value < f32::INFINITY);
        let limited: Vec<(u32, f32)> = limited.map(|(particle, value)| (particle, value * scale)).collect();
        if let Some((particle, distance)) = limited.iter().find(|(_, distance)| *distance < 0.0) {
            let what = format!("maximum distance of particle {particle}");
            return Err(Error::invalid(what, *distance, "at least 0 m")).at(|| of("max_distance_map"));
        }
        if !limited.is_empty() {
            self.max_distances.push((of("max_distance_map"), limited));
        }
        Ok(())
    }

    /// Multiplies the masses of the particles from `first` by the scales of the area density at their vertices.
    fn scale_masses(&mut self, scales: &[f32], first: u32) -> Result<(), Error> {
        for (particle, &scale) in (first..).zip(scales) {
            check_positive(&format!("scale of density of particle {particle}"), scale)?;
            let mass = self.scene.inverse_masses()[particle as usize].recip();
            self.scene.set_mass(particle, mass * scale)?;
        }
        Ok(())
    }
}

/// Returns true if a path is relative and has no drive.
pub(super) fn is_relative(path: &str) -> bool {
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir | Component::ParentDir);
    Path::new(path).components().all(is_plain)
}

/// Scales, rotates and translates.
fn transform(mut surface: Surface, file: &MeshFile) -> Result<Surface, Reason> {
    if file.scale.is_none() && file.rotate.is_none() && file.translate.is_none() {
        return Ok(surface);
    }
    let mut scale = [1.0f32; 3];
    if let Some(given) = &file.scale {
        for (axis, factor) in scale.iter_mut().enumerate() {
            *factor = given.get(axis, 3).map_err(|error| format!("scale has {error}"))?;
        }
    }
    if let Some(factor) = scale.into_iter().find(|factor| !(factor.is_finite() && *factor != 0.0)) {
        return Err(crate::Error::invalid("scale of a mesh", factor, "finite and not 0").into());
    }
    let [x, y, z] = file.rotate.unwrap_or_default().map(|angle| f64::from(angle).to_radians());
    let turn = DMat3::from_euler(EulerRot::ZYX, z, y, x);
    let (scale, translate) = (scale.map(f64::from), DVec3::from(file.translate.unwrap_or_default().map(f64::from)));
    for (vertex, position) in surface.positions.iter_mut().enumerate() {
        let place = turn * (DVec3::from(scale) * DVec3::from(position.map(f64::from))) + translate;
        *position = place.as_vec3().into();
        crate::error::check_finite(|| format!("position of mesh vertex {vertex}"), *position)?;
    }
    // A mirrored mesh would be inside out.
    if scale.into_iter().product::<f64>() < 0.0 {
        let textures = surface.texture.triangles.iter_mut().flatten();
        surface.triangles.iter_mut().chain(textures).for_each(|triangle| triangle.swap(1, 2));
    }
    Ok(surface)
}
