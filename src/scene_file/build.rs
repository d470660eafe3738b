//! Builds a scene from the deserialized file.

use super::colliders::ContactMaterialFile;
use super::error::{At, FileError, Reason};
use super::format::{self, MaterialFile, StartFile};
use super::gltf::Gltf;
use super::obj::ObjMesh;
use super::parts::Part as PartFile;
use super::values::{NameOr, Selection, Table};
use super::{Hint, Limits, Part, SceneFile};
use crate::collision::ContactMaterialId;
use crate::error::check_finite;
use crate::scene::{Material, MaterialId, OpenContacts, Scene};
use crate::settings::{MAX_FIELDS, Settings};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::rc::Rc;

/// A scene under construction.
pub(super) struct Builder<'a> {
    pub scene: Scene,
    pub limits: &'a Limits,
    pub folder: Option<&'a Path>,
    pub parts: Vec<Part>,
    /// For each name, the index of its part.
    pub names: HashMap<String, usize>,
    materials: BTreeMap<String, MaterialId>,
    pub contact_materials: BTreeMap<String, ContactMaterialId>,
    /// OBJ files already read.
    pub meshes: HashMap<String, Rc<ObjMesh>>,
    /// glTF files already read.
    pub gltfs: HashMap<String, Rc<Gltf>>,
    pub hints: Vec<Hint>,
    /// For each map of maximum distances, its place, its particles and their distances [m].
    pub max_distances: Vec<(String, Vec<(u32, f32)>)>,
    /// Totals so far, compared with [`Limits`].
    pub members: u64,
    pub elements: u64,
    pub cubes: u64,
}

/// The result of adding a part; the name is set later.
pub(super) type Built = Result<Part, FileError>;

pub(super) fn build(file: format::File, folder: Option<&Path>, limits: &Limits) -> Result<SceneFile, FileError> {
    let settings = checked_settings(&file)?;
    let mut builder = Builder {
        scene: Scene::new(),
        limits,
        folder,
        parts: Vec::with_capacity(file.parts.len()),
        names: HashMap::new(),
        materials: BTreeMap::new(),
        contact_materials: BTreeMap::new(),
        meshes: HashMap::new(),
        gltfs: HashMap::new(),
        hints: Vec::new(),
        max_distances: Vec::new(),
        members: 0,
        elements: 0,
        cubes: 0,
    };
    builder.add_materials(&file.materials)?;
    builder.add_contact_materials(&file.contact_materials)?;
    builder.add_frictions(&file.frictions)?;
    for (index, part) in file.parts.iter().enumerate() {
        builder.add_part(index, part)?;
    }
    for (index, constraint) in file.constraints.iter().enumerate() {
        builder.add_constraints(index, constraint)?;
    }
    builder.add_plasticity(&file.plasticity)?;
    builder.add_weak_edges(&file.weak_edges)?;
    builder.add_bodies(&file.bodies)?;
    for particle in builder.select(&file.pins, None, || "pins".into())? {
        builder.scene.pin(particle).at(|| "pins".into())?;
    }
    let targets = builder.targets(&file.targets)?;
    let forces = builder.forces(&file.forces)?;
    builder.start(&file.start)?;
    let (colliders, collider_paths) = builder.add_colliders(&file.colliders)?;
    let attachments = builder.add_attachments(&file.attachments, &colliders)?;
    let with_target = targets.iter().flat_map(|path| &path.particles).map(|&(particle, _)| particle).collect();
    builder.add_skinned(&file.skinned, &with_target)?;
    let Builder { scene, parts, materials, contact_materials, mut hints, .. } = builder;
    if scene.particle_count() == 0 {
        return Err("the scene has no particles").at(|| "parts".into());
    }
    hints.extend(open_contacts(&scene, &settings, &contact_materials, &file.contact_materials));
    Ok(SceneFile {
        title: file.title,
        scene,
        settings,
        forces,
        parts,
        materials,
        contact_materials,
        targets,
        colliders,
        collider_paths,
        attachments,
        hints,
    })
}

fn checked_settings(file: &format::File) -> Result<Settings, FileError> {
    if file.settings.fields.len() > MAX_FIELDS {
        let count = file.settings.fields.len() as u64;
        return Err(Reason::too_large("fields", count, MAX_FIELDS as u64)).at(|| "settings.fields".into());
    }
    let settings = file.settings.settings(!file.forces.is_empty());
    if let Some(self_collision) = &settings.self_collision {
        self_collision.check().at(|| "settings.self_collision".into())?;
    }
    settings.check().at(|| "settings".into())?;
    Ok(settings)
}

/// The contact materials that are too thin for their particles.
fn open_contacts(
    scene: &Scene,
    settings: &Settings,
    names: &BTreeMap<String, ContactMaterialId>,
    files: &[ContactMaterialFile],
) -> Vec<Hint> {
    let hint = |open: OpenContacts| {
        let is_named = |file: &ContactMaterialFile| names.get(&file.name) == Some(&open.material);
        let index = files.iter().position(is_named);
        let place = index.map_or("contact_materials".into(), |index| format!("contact_materials[{index}]"));
        Hint { place, message: open.to_string() }
    };
    scene.open_contacts(settings).into_iter().map(hint).collect()
}

impl Builder<'_> {
    fn add_materials(&mut self, table: &Table<MaterialFile>) -> Result<(), FileError> {
        for (name, material) in &table.0 {
            let id = self.scene.add_material((*material).into()).at(|| format!("materials.{name}"))?;
            self.materials.insert(name.clone(), id);
        }
        Ok(())
    }

    /// A material of the table by its name, or an inline material; rigid if none is given.
    pub fn material(&self, given: Option<&NameOr<MaterialFile>>) -> Result<Material, Reason> {
        match given {
            None => Ok(Material::RIGID),
            Some(NameOr::Structured(material)) => Ok((*material).into()),
            Some(NameOr::Scalar(name)) => match self.materials.get(name) {
                Some(&id) => Ok(self.scene.material(id)?),
                None => Err(format!("no material is named {name:?}").into()),
            },
        }
    }

    /// The index in the material table: a named material has its own entry; equal inline materials share one.
    pub fn material_id(&mut self, given: Option<&NameOr<MaterialFile>>) -> Result<MaterialId, Reason> {
        if let Some(NameOr::Scalar(name)) = given
            && let Some(&id) = self.materials.get(name)
        {
            return Ok(id);
        }
        let material = self.material(given)?;
        material.check("material of a constraint")?;
        Ok(self.scene.intern(material))
    }

    /// Checks that `count` more particles are within the limits.
    pub fn check_particles(&self, count: u64) -> Result<(), Reason> {
        let total = (self.scene.particle_count() as u64).saturating_add(count);
        if total > self.limits.particles {
            return Err(Reason::too_large("particles of the scene", total, self.limits.particles));
        }
        Ok(())
    }

    /// Counts `count` more triangles or tetrahedra.
    pub fn count_elements(&mut self, count: u64) -> Result<(), Reason> {
        self.elements = self.elements.saturating_add(count);
        if self.elements > self.limits.elements {
            return Err(Reason::too_large("triangles and tetrahedra", self.elements, self.limits.elements));
        }
        Ok(())
    }

    fn add_part(&mut self, index: usize, part: &PartFile) -> Result<(), FileError> {
        let (kind, name, pin, velocity, contact, scale): (_, _, &[Selection], _, _, _) = match part {
            PartFile::Particles(it) => ("particles", &it.name, &it.pin, it.velocity, &it.contact, &it.contact_scale),
            PartFile::ClothGrid(it) => ("cloth_grid", &it.name, &it.pin, it.velocity, &it.contact, &it.contact_scale),
            PartFile::ClothMesh(it) => ("cloth_mesh", &it.name, &it.pin, it.velocity, &it.contact, &it.contact_scale),
            PartFile::Rope(it) => ("rope", &it.name, &it.pin, it.velocity, &it.contact, &it.contact_scale),
            PartFile::Rod(it) => ("rod", &it.name, &it.pin, it.velocity, &it.contact, &it.contact_scale),
            PartFile::SoftBody(it) => ("soft_body", &it.name, &it.pin, it.velocity, &it.contact, &it.contact_scale),
            PartFile::Tetrahedra(it) => ("tetrahedra", &it.name, &it.pin, it.velocity, &it.contact, &it.contact_scale),
            PartFile::Balloon(it) => ("balloon", &it.name, &it.pin, it.velocity, &it.contact, &it.contact_scale),
            PartFile::Followers(it) => ("followers", &it.name, &[], None, &None, &None),
        };
        let place = format!("parts[{index}].{kind}");
        let named = || format!("{place}.name");
        if let Some(name) = name {
            if name.is_empty() || name.contains(':') {
                return Err(format!("{name:?}: a name must not be empty nor contain a colon")).at(named);
            }
            if self.names.contains_key(name) {
                return Err(format!("two parts are named {name:?}")).at(named);
            }
        }
        let contact = self.contact(contact.as_deref()).at(|| format!("{place}.contact"))?;
        let built = match part {
            PartFile::Particles(it) => self.add_particles(&place, it),
            PartFile::ClothGrid(it) => self.add_cloth_grid(&place, it),
            PartFile::ClothMesh(it) => self.add_cloth_mesh(&place, it),
            PartFile::Rope(it) => self.add_rope(&place, it),
            PartFile::Rod(it) => self.add_rod(&place, it),
            PartFile::SoftBody(it) => self.add_soft_body(&place, it),
            PartFile::Tetrahedra(it) => self.add_tetrahedra(&place, it),
            PartFile::Balloon(it) => self.add_balloon(&place, it),
            PartFile::Followers(it) => self.add_followers(&place, it),
        }?;
        let particles = built.particles.clone();
        self.scene.set_particle_contact(particles.clone(), contact).at(|| format!("{place}.contact"))?;
        if let Some(file) = scale {
            self.scale_contacts(particles.clone(), file, &format!("{place}.contact_scale"))?;
        }
        self.parts.push(Part { name: name.clone(), ..built });
        self.names.extend(name.clone().map(|name| (name, index)));
        for particle in self.select(pin, Some(index), || format!("{place}.pin"))? {
            self.scene.pin(particle).at(|| format!("{place}.pin"))?;
        }
        if let Some(velocity) = velocity {
            for particle in particles {
                self.scene.set_velocity(particle, velocity).at(|| format!("{place}.velocity"))?;
            }
        }
        Ok(())
    }

    fn add_bodies(&mut self, bodies: &[format::BodyFile]) -> Result<(), FileError> {
        // Each body is compared with all others.
        if bodies.len() as u64 > self.limits.bodies {
            let reason = Reason::too_large("bodies", bodies.len() as u64, self.limits.bodies);
            return Err(reason).at(|| "bodies".into());
        }
        for (index, body) in bodies.iter().enumerate() {
            let of = |field: &str| format!("bodies[{index}]{field}");
            let first = self.one(&body.first).at(|| of(".first"))?;
            let last = self.one(&body.last).at(|| of(".last"))?;
            if first > last {
                return Err(format!("its last particle {last} comes before its first, {first}")).at(|| of(""));
            }
            self.scene.add_body(first..last + 1).at(|| of(""))?;
        }
        Ok(())
    }

    fn forces(&mut self, files: &[format::ForceFile]) -> Result<Vec<[f32; 3]>, FileError> {
        let mut forces = if files.is_empty() { Vec::new() } else { vec![[0f32; 3]; self.scene.particle_count()] };
        for (index, file) in files.iter().enumerate() {
            let place = || format!("forces[{index}].force");
            for particle in self.select(&file.particles, None, || format!("forces[{index}].particles"))? {
                let sum = &mut forces[particle as usize];
                (0..3).for_each(|axis| sum[axis] += file.force[axis]);
                check_finite(|| format!("force on particle {particle}"), *sum).at(place)?;
            }
        }
        Ok(forces)
    }

    fn start(&mut self, files: &[StartFile]) -> Result<(), FileError> {
        for (index, file) in files.iter().enumerate() {
            let of = |field: &str| format!("start[{index}]{field}");
            let chosen = self.select(&file.particles, None, || of(".particles"))?;
            if file.offset.is_some() && file.positions.is_some() {
                return Err("it has both an offset and positions").at(|| of(""));
            }
            if let Some(positions) = &file.positions
                && positions.len() != chosen.len()
            {
                return Err(format!("{} positions for {} particles", positions.len(), chosen.len()))
                    .at(|| of(".positions"));
            }
            for (entry, &particle) in chosen.iter().enumerate() {
                let rest = self.scene.rest_positions[particle as usize];
                let moved = file.offset.map(|offset| [0, 1, 2].map(|axis| rest[axis] + offset[axis]));
                let given = file.positions.as_ref().map(|positions| positions[entry]);
                if let Some(position) = moved.or(given) {
                    self.scene.set_position(particle, position).at(|| of(""))?;
                }
                if let Some(velocity) = file.velocity {
                    self.scene.set_velocity(particle, velocity).at(|| of(".velocity"))?;
                }
            }
        }
        Ok(())
    }
}
