//! Triangle meshes of a scene file: inline or from an OBJ, transformed.

use super::build::Builder;
use super::error::{At, FileError, Reason};
use super::obj::{self, ObjMesh, TextureCoordinates};
use super::parts::MeshFile;
use super::text;
use crate::error::Error;
use crate::scene::weld;
use glam::{DMat3, DVec3, EulerRot};
use std::path::{Component, Path};
use std::rc::Rc;

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

    fn weld(&mut self, tolerance: f32) -> Result<(), Error> {
        let weld = weld(&self.positions, &self.triangles, tolerance)?;
        let sources = || weld.sources.iter().map(|&source| source as usize);
        if !self.texture.triangles.is_empty() {
            self.texture.triangles = sources().map(|source| self.texture.triangles[source]).collect();
        }
        if !self.lines.is_empty() {
            self.lines = sources().map(|source| self.lines[source]).collect();
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

impl Builder<'_> {
    /// The transformed mesh, checked against the limits.
    pub fn surface(&mut self, place: &str, file: &MeshFile) -> Result<Surface, FileError> {
        let of = |field: &str| format!("{place}.mesh{field}");
        let surface = match (&file.positions, &file.triangles, &file.obj) {
            (None, None, Some(name)) => {
                let shared = self.obj(name).at(|| of(".obj"))?;
                self.count(shared.positions.len(), shared.triangles.len()).at(|| of(".obj"))?;
                Surface::from(&*shared)
            }
            (Some(positions), Some(triangles), None) => {
                self.count(positions.len(), triangles.len()).at(|| of(""))?;
                Surface::new(positions.clone(), triangles.clone())
            }
            _ => return Err("a mesh has either positions and triangles, or obj").at(|| of("")),
        };
        let mut surface = transform(surface, file).at(|| of(""))?;
        if let Some(tolerance) = file.weld {
            surface.weld(tolerance).at(|| of(".weld"))?;
        }
        Ok(surface)
    }

    fn count(&mut self, positions: usize, triangles: usize) -> Result<(), Reason> {
        self.check_room(positions as u64)?;
        self.spend_elements(triangles as u64)
    }

    fn obj(&mut self, name: &str) -> Result<Rc<ObjMesh>, Reason> {
        if let Some(surface) = self.meshes.get(name) {
            return Ok(surface.clone());
        }
        let Some(folder) = self.folder else {
            return Err(format!("{name:?}: this scene may name no files, as it has no folder").into());
        };
        let path = Path::new(name);
        if !path
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir | Component::ParentDir))
        {
            return Err(format!("{name:?}: the path must be relative to the folder of the scene").into());
        }
        let path = folder.join(path);
        let text = text::read_lossy(&path, self.limits.file_bytes)?;
        let surface = Rc::new(obj::parse(&text).map_err(|error| format!("{name}: {error}"))?);
        self.meshes.insert(name.into(), surface.clone());
        Ok(surface)
    }
}

/// Scales, rotates and translates.
fn transform(mut surface: Surface, file: &MeshFile) -> Result<Surface, Reason> {
    if file.scale.is_none() && file.rotate.is_none() && file.translate.is_none() {
        return Ok(surface);
    }
    let mut scale = [1.0f32; 3];
    if let Some(given) = &file.scale {
        for (axis, factor) in scale.iter_mut().enumerate() {
            *factor = given.get(axis, 3).map_err(|_| "scale must be one factor, or three")?;
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
