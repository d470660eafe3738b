//! Adds the contact materials and colliders of a scene file to the scene.

use super::Hint;
use super::build::Builder;
use super::colliders::{
    AllFile, ColliderFile, ColliderMeshFile, ContactMaterialFile, ContactScaleFile, FrictionFile, FrictionPairFile,
    ShapeFile,
};
use super::error::{At, FileError, Reason};
use super::mesh::{MeshFile, Surface};
use super::motion::ColliderPath;
use super::values::Either;
use crate::collision::{
    Collider, ColliderId, Colliders, ContactMaterial, ContactMaterialId, Friction, Heightfield, Shape,
};
#[cfg(feature = "mesh-colliders")]
use crate::collision::{DistanceField, Sides};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The name of entry 0, which always exists.
const DEFAULT: &str = "default";

impl Builder<'_> {
    pub(super) fn add_contact_materials(&mut self, files: &[ContactMaterialFile]) -> Result<(), FileError> {
        for (index, file) in files.iter().enumerate() {
            let of = |field: &str| format!("contact_materials[{index}]{field}");
            let name = &file.name;
            if name.is_empty() {
                return Err("a name must not be empty").at(|| of(".name"));
            }
            if self.contact_materials.contains_key(name) {
                return Err(format!("two contact materials are named {name:?}")).at(|| of(".name"));
            }
            let what = format!("contact material {name:?}");
            let mut material = ContactMaterial::default();
            material.thickness = file.thickness.unwrap_or(material.thickness);
            material.restitution = file.restitution.unwrap_or(material.restitution);
            if let Some(file) = &file.friction {
                material.friction = friction(file);
                material.friction.check(&what).at(|| of(".friction"))?;
            }
            if let Some(groups) = &file.groups {
                material.groups = bits(groups, || of(".groups"))?;
            }
            match &file.touches {
                None => {}
                Some(Either::Scalar(AllFile::All)) => material.touches = u32::MAX,
                Some(Either::Structured(groups)) => material.touches = bits(groups, || of(".touches"))?,
            }
            material.check(&what).at(|| of(""))?;
            let id = if name == DEFAULT {
                let id = ContactMaterialId::default();
                self.scene.set_contact_material(id, material).at(|| of(""))?;
                id
            } else {
                self.scene.add_contact_material(material).at(|| of(""))?
            };
            self.contact_materials.insert(name.clone(), id);
        }
        // "default" exists even if the file does not define it.
        self.contact_materials.entry(DEFAULT.into()).or_default();
        Ok(())
    }

    pub(super) fn add_frictions(&mut self, files: &[FrictionPairFile]) -> Result<(), FileError> {
        let mut taken = BTreeSet::new();
        for (index, file) in files.iter().enumerate() {
            let of = |field: &str| format!("frictions[{index}]{field}");
            let mut pair = [ContactMaterialId::default(); 2];
            for (side, (id, name)) in pair.iter_mut().zip(&file.between).enumerate() {
                *id = self.contact(Some(name)).at(|| of(&format!(".between[{side}]")))?;
            }
            let ([a, b], [name_a, name_b]) = (pair, &file.between);
            if !taken.insert([a.min(b), a.max(b)]) {
                return Err(format!("the friction between {name_a:?} and {name_b:?} is given already"))
                    .at(|| of(".between"));
            }
            let friction = friction(&file.friction);
            friction.check(&format!("contact materials {name_a:?} and {name_b:?}")).at(|| of(".friction"))?;
            self.scene.set_friction(a, b, friction).at(|| of(""))?;
        }
        Ok(())
    }

    /// The contact material of the given name; entry 0 without a name.
    pub(super) fn contact(&self, name: Option<&str>) -> Result<ContactMaterialId, Reason> {
        let Some(name) = name else { return Ok(ContactMaterialId::default()) };
        let known = self.contact_materials.get(name).copied();
        known.ok_or_else(|| format!("no contact material is named {name:?}").into())
    }

    /// Sets the scales of thickness and friction of a part.
    pub(super) fn scale_contacts(
        &mut self,
        particles: Range<u32>,
        file: &ContactScaleFile,
        place: &str,
    ) -> Result<(), FileError> {
        // Those of a thickness map, if there is one.
        let scales =
            particles.clone().map(|particle| self.scene.contact_scale(particle)).collect::<Result<Vec<_>, _>>();
        let mut scales = scales.at(|| place.into())?;
        for (index, scale) in scales.iter_mut().enumerate() {
            for (own, given, field) in [
                (&mut scale.thickness, &file.thickness, ".thickness"),
                (&mut scale.friction, &file.friction, ".friction"),
            ] {
                if let Some(given) = given {
                    *own = given.get(index, particles.len()).at(|| format!("{place}{field}"))?;
                }
            }
        }
        self.scene.set_contact_scales(particles, &scales).at(|| place.into())
    }

    pub(super) fn add_colliders(
        &mut self,
        files: &[ColliderFile],
    ) -> Result<(BTreeMap<String, ColliderId>, Vec<ColliderPath>), FileError> {
        // Every particle is tested against every collider.
        if files.len() as u64 > self.limits.colliders {
            let reason = Reason::too_large("colliders", files.len() as u64, self.limits.colliders);
            return Err(reason).at(|| "colliders".into());
        }
        let (mut names, mut paths) = (BTreeMap::new(), Vec::new());
        for (index, file) in files.iter().enumerate() {
            let place = format!("colliders[{index}]");
            if let Some(name) = &file.name {
                let named = || format!("{place}.name");
                if name.is_empty() {
                    return Err("a name must not be empty").at(named);
                }
                if names.contains_key(name) {
                    return Err(format!("two colliders are named {name:?}")).at(named);
                }
            }
            let (id, path) = self.add_collider(&place, file)?;
            names.extend(file.name.clone().map(|name| (name, id)));
            paths.extend(path);
        }
        Ok((names, paths))
    }

    fn add_collider(
        &mut self,
        place: &str,
        file: &ColliderFile,
    ) -> Result<(ColliderId, Option<ColliderPath>), FileError> {
        let of = |field: &str| format!("{place}{field}");
        let Collider { shape, pose, .. } = self.shape(&of(".shape"), file)?;
        let faces = matches!(file.shape, ShapeFile::HalfSpace { normal: Some(_) });
        if faces && file.rotation.is_some() {
            return Err("it has both a rotation and a normal").at(|| of(".rotation"));
        }
        let mut start = pose;
        start.position = file.position.unwrap_or(start.position);
        start.checked("the collider").at(|| of(".position"))?;
        if let Some(rotation) = &file.rotation {
            start.rotation = rotation.quaternion().at(|| of(".rotation"))?;
            start.checked("the collider").at(|| of(".rotation"))?;
        }
        let keys = file.motion.as_ref().map(|motion| {
            let of = |field: &str| of(&format!(".motion{field}"));
            if motion.positions.is_some() && file.position.is_some() {
                return Err("it has both a position and positions of its motion").at(|| of(".positions"));
            }
            if motion.rotations.is_some() && (file.rotation.is_some() || faces) {
                let own = if faces { "normal" } else { "rotation" };
                return Err(format!("it has both a {own} and rotations of its motion")).at(|| of(".rotations"));
            }
            motion.keys(of, start)
        });
        let keys = keys.transpose()?;
        let collider = Collider {
            shape: Shape::HalfSpace,
            pose: keys.as_ref().map_or(start, |keys| keys.at(0.0)),
            material: self.contact(file.contact.as_deref()).at(|| of(".contact"))?,
            margin: file.margin,
            two_sided: file.two_sided,
            surface_velocity: file.surface_velocity,
        };
        self.hint_at_thin_sheet(place, &collider, file, &shape);
        // Checks the other fields before the shape is set, so that their errors are not attributed to `shape`.
        let known = self.contact_materials.len();
        Colliders::check(&collider, self.scene.colliders.len(), known).at(|| place.into())?;
        let id = self.scene.add_collider(Collider { shape, ..collider }).at(|| of(".shape"))?;
        Ok((id, keys.map(|keys| ColliderPath { collider: id, keys })))
    }

    /// Adds a hint if particles keep less than a cell from a sheet: the distance between samples does not reach 0 there.
    fn hint_at_thin_sheet(&mut self, place: &str, collider: &Collider, file: &ColliderFile, shape: &Shape) {
        let (ShapeFile::Mesh(ColliderMeshFile { open: true, .. }), Shape::Field(field)) = (&file.shape, shape) else {
            return;
        };
        let scene = &self.scene;
        let of = |id: ContactMaterialId| &scene.contact_materials[id.index()];
        let (scales, own) = (scene.least_scales(), of(collider.material));
        let colliding = (0..scene.particle_count() as u32).filter(|&particle| !scene.is_contactless(particle));
        let materials = colliding.map(|particle| scene.particle_contacts[particle as usize]);
        let touching = materials.filter(|&id| of(id).collides_with(own));
        let least = touching.map(|id| of(id).thickness * scales[id.index()]).fold(f32::INFINITY, f32::min);
        let (keep, cell) = (collider.margin + 0.5 * least, field.cell);
        if keep < cell {
            let message = format!(
                "particles keep {keep} m from this sheet, less than its cell of {cell} m, and may pass through: raise margin, or \
                 lower cell"
            );
            self.hints.push(Hint { place: format!("{place}.shape.mesh"), message });
        }
    }

    /// The shape, with the pose that the shape itself implies. Together with [`ShapeFile`], the only list of shapes.
    fn shape(&mut self, place: &str, file: &ColliderFile) -> Result<Collider, FileError> {
        let shape = match &file.shape {
            ShapeFile::HalfSpace { normal: None } => Shape::HalfSpace,
            ShapeFile::HalfSpace { normal: Some(normal) } => {
                return Collider::half_space([0.0; 3], *normal).at(|| format!("{place}.half_space.normal"));
            }
            &ShapeFile::Sphere { radius } => Shape::Sphere { radius },
            &ShapeFile::Capsule { radius, half_height } => Shape::Capsule { radius, half_height },
            &ShapeFile::Box { half_extents } => Shape::Box { half_extents },
            ShapeFile::ConvexHull { points } => convex_hull(points).at(|| format!("{place}.convex_hull"))?,
            &ShapeFile::Heightfield { columns, rows, spacing, ref heights, ends_at_border } => {
                Heightfield { columns, rows, spacing, heights: heights.clone(), ends_at_border }.into()
            }
            ShapeFile::Mesh(mesh) => self.mesh_shape(place, mesh, file.two_sided)?,
        };
        Ok(Collider::new(shape, [0.0; 3]))
    }

    fn mesh_shape(&mut self, place: &str, file: &ColliderMeshFile, two_sided: bool) -> Result<Shape, FileError> {
        let mesh = MeshFile {
            positions: file.positions.clone(),
            triangles: file.triangles.clone(),
            obj: file.obj.clone(),
            gltf: file.gltf.clone(),
            node: file.node.clone(),
            scale: file.scale.clone(),
            rotate: file.rotate,
            translate: file.translate,
            weld: file.weld,
            ..MeshFile::default()
        };
        let surface = self.surface(place, &mesh)?;
        let of = || format!("{place}.mesh");
        // A sample costs about 1/64 of a lattice cube.
        let samples = samples(&surface, file.cell);
        self.cubes = self.cubes.saturating_add((samples / 64.0) as u64);
        if self.cubes > self.limits.cubes {
            let what = "cubes of lattices, 64 samples of a collider mesh being one";
            return Err(Reason::too_large(what, self.cubes, self.limits.cubes)).at(of);
        }
        bake(&surface, file.cell, file.open, two_sided).at(of)
    }
}

/// The approximate number of samples of a mesh, with 4 cells of padding on each side.
fn samples(surface: &Surface, cell: Option<f32>) -> f64 {
    let mut sides = [0.0f64; 3];
    for (axis, side) in sides.iter_mut().enumerate() {
        let places = || surface.positions.iter().map(|position| f64::from(position[axis]));
        *side = places().fold(f64::MIN, f64::max) - places().fold(f64::MAX, f64::min);
    }
    let cell = cell.map_or(sides.into_iter().fold(0.0, f64::max) / 64.0, f64::from);
    sides.iter().map(|side| side / cell + 9.0).product()
}

#[cfg(feature = "mesh-colliders")]
fn bake(surface: &Surface, cell: Option<f32>, open: bool, two_sided: bool) -> Result<Shape, Reason> {
    let (positions, triangles) = (&surface.positions, &surface.triangles);
    let shape = match (open, two_sided) {
        (true, _) => Shape::sheet(positions, triangles, cell),
        (false, false) => Shape::mesh(positions, triangles, cell),
        // A shell may have either winding.
        (false, true) => DistanceField::bake(positions, triangles, cell, Sides::Closed).map(Shape::from),
    };
    shape.map_err(|error| surface.explain(error))
}

#[cfg(feature = "mesh-colliders")]
fn convex_hull(points: &[[f32; 3]]) -> Result<Shape, Reason> {
    Ok(Shape::ConvexHull { points: points.to_vec() })
}

#[cfg(not(feature = "mesh-colliders"))]
fn bake(_: &Surface, _: Option<f32>, _: bool, _: bool) -> Result<Shape, Reason> {
    Err(WITHOUT.into())
}

#[cfg(not(feature = "mesh-colliders"))]
fn convex_hull(_: &[[f32; 3]]) -> Result<Shape, Reason> {
    Err(WITHOUT.into())
}

#[cfg(not(feature = "mesh-colliders"))]
const WITHOUT: &str = "this program was built without the feature `mesh-colliders`";

fn friction(file: &FrictionFile) -> Friction {
    match *file {
        Either::Scalar(coefficient) => Friction::coulomb(coefficient),
        Either::Structured(it) => Friction { statics: it.statics, kinetic: it.kinetic.unwrap_or(it.statics) },
    }
}

/// The groups as a bit mask.
fn bits(groups: &[u32], place: impl Fn() -> String) -> Result<u32, FileError> {
    let mut bits = 0;
    for (index, &group) in groups.iter().enumerate() {
        let bit = 1u32.checked_shl(group).ok_or_else(|| format!("there is no group {group}; they are 0 to 31"));
        bits |= bit.at(|| format!("{}[{index}]", place()))?;
    }
    Ok(bits)
}
