//! Triangle meshes of a scene file: inline or from an OBJ, placed.

use super::build::Builder;
use super::error::{At, FileError, Reason};
use super::obj::{self, Surface};
use super::parts::MeshFile;
use glam::{DMat3, DVec3, EulerRot};
use std::path::{Component, Path};
use std::rc::Rc;

impl Builder<'_> {
    /// The mesh in its place, within the limits.
    pub fn surface(&mut self, place: &str, file: &MeshFile) -> Result<Surface, FileError> {
        let of = |field: &str| format!("{place}.mesh{field}");
        let surface = match (&file.positions, &file.triangles, &file.obj) {
            (None, None, Some(name)) => {
                let shared = self.obj(name).at(|| of(".obj"))?;
                self.count(shared.positions.len(), shared.triangles.len()).at(|| of(".obj"))?;
                Surface::clone(&shared)
            }
            (Some(positions), Some(triangles), None) => {
                self.count(positions.len(), triangles.len()).at(|| of(""))?;
                Surface { positions: positions.clone(), triangles: triangles.clone() }
            }
            _ => return Err("a mesh has either positions and triangles, or obj").at(|| of("")),
        };
        transform(surface, file).at(|| of(""))
    }

    fn count(&mut self, positions: usize, triangles: usize) -> Result<(), Reason> {
        self.check_room(positions as u64)?;
        self.spend_elements(triangles as u64)
    }

    fn obj(&mut self, name: &str) -> Result<Rc<Surface>, Reason> {
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
        let text = obj::read_text(&path, self.limits.file_bytes)?;
        let surface = Rc::new(obj::parse(&text).map_err(|error| format!("{name}: {error}"))?);
        self.meshes.insert(name.into(), surface.clone());
        Ok(surface)
    }
}

/// Scales, turns and moves.
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
    // A mirror image would be inside out.
    if scale.into_iter().product::<f64>() < 0.0 {
        surface.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    }
    Ok(surface)
}
