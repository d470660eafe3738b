//! Scenes: particles, constraints, surfaces, tethers, contact materials and colliders.
//!
//! A [`Scene`] is plain host data. Builders ([`ClothGrid`], [`ClothMesh`], [`Rope`]) add to it and return the index
//! ranges of their particles and constraints. This module is independent of the GPU; [`crate::Solver`] and
//! [`crate::Reference`] read the scene.

mod attachment;
mod balloon;
mod bending;
mod cloth;
mod cloth_links;
mod cloth_places;
mod compliance;
mod constraint_set;
mod contacts;
mod cut_cloth;
mod elasticity;
mod follower;
mod grid_bends;
mod hinge_weights;
mod intersections;
pub(crate) mod lattice;
mod material;
mod membrane;
mod numbering;
mod open_contacts;
mod orientation;
mod particles;
mod pick;
mod plasticity;
mod presets;
mod removal;
mod render_mesh;
mod rod;
mod rod_material;
mod rope;
mod scene_map;
mod skinned;
mod soft;
mod strain;
pub(crate) mod tearing;
mod tether;
mod tether_graph;
mod weld;

pub use crate::constraints::OrientationId;
pub use crate::geometry::{MeshReport, Topology};
pub(crate) use attachment::check_count as check_attachment_count;
pub use attachment::{Attachment, AttachmentForce, AttachmentId, AttachmentTarget, ParticlePoint};
pub use balloon::{Balloon, BalloonParts};
pub use bending::Bending;
pub use cloth::{Cloth, ClothGrid, ClothMaterials, ClothMesh};
pub(crate) use constraint_set::ConstraintSet;
pub use cut_cloth::CutCloth;
pub use elasticity::Elasticity;
#[cfg(feature = "scene-file")]
pub(crate) use elasticity::sound_time;
pub(crate) use follower::{Follower, follows};
pub use intersections::{EdgeTriangle, Intersections, count_intersections};
pub use lattice::{Embedded, Lattice};
pub use material::{Cord, Fabric, Material, MaterialId};
pub use membrane::{Orthotropic, Stiffening, TensionPiece};
pub use numbering::Numbering;
pub use open_contacts::OpenContacts;
pub use orientation::Orientation;
pub use particles::Particle;
use particles::check_inverse_mass;
pub(crate) use particles::invert_mass;
pub use pick::{Ray, RayHit};
pub use render_mesh::{BoundMesh, BoundVertex, DetailMesh, PlacedVertex, RenderMesh};
pub use rod::{Rod, RodParts, RodRest};
pub use rod_material::{RodMaterial, RodStiffness};
pub use rope::{Rope, RopeParts};
pub(crate) use scene_map::GONE;
pub use scene_map::SceneMap;
pub use skinned::{Backstop, JointCapsule, JointWeights, MAX_JOINTS, Skinned, SkinnedLimits, SkinnedMesh, SkinnedPose};
pub use soft::{SoftBody, SoftParts, TetMesh};
pub use strain::Strain;
pub use tearing::Tearing;
pub use tether::{TetherForce, TetherRow, Tethers};
pub(crate) use tether_graph::{TetherGraph, rows_of};
pub use weld::{Weld, weld};

use crate::collision::{Collider, ContactMaterial, ContactMaterialId, ContactScale, Friction};
use crate::constraints::{self, KINDS, Kind, KindInfo};
use crate::error::{Error, Result, check_finite};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Particles in rows: particle (row r, column c) is `first` + r · `columns` + c.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    pub first: u32,
    pub columns: u32,
    pub rows: u32,
}

/// The particles, constraints and triangles along which tethers measure distances.
#[derive(Debug, Clone)]
pub(crate) struct TetheredBody {
    pub particles: Range<u32>,
    pub triangles: Range<u32>,
    /// Distance constraints whose rest length is that of the material between their particles. If empty, the sides of the
    /// triangles count at the rest positions.
    pub edges: Range<u32>,
    pub tethers: Tethers,
}

/// Particles, constraints and all other data of a simulation; see the [module documentation](self).
#[derive(Debug, Clone)]
pub struct Scene {
    pub(crate) positions: Vec<[f32; 3]>,
    pub(crate) velocities: Vec<[f32; 3]>,
    /// The inverse mass of each particle when it is free.
    pub(crate) inverse_masses: Vec<f32>,
    pub(crate) pinned: Vec<bool>,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) constraints: Vec<ConstraintSet>,
    pub(crate) materials: Vec<Material>,
    interned: HashMap<[u32; 4], MaterialId>,
    /// In ascending order, without overlap.
    pub(crate) grids: Vec<Grid>,
    pub(crate) tethered_bodies: Vec<TetheredBody>,
    /// The particles of each body, without overlap.
    pub(crate) bodies: Vec<Range<u32>>,
    /// In ascending order of their particles.
    pub(crate) followers: Vec<Follower>,
    /// The position of each particle when it was added.
    pub(crate) rest_positions: Vec<[f32; 3]>,
    pub(crate) contact_materials: Vec<ContactMaterial>,
    /// The contact material of each particle.
    pub(crate) particle_contacts: Vec<ContactMaterialId>,
    /// By particle, its [`ContactScale`](crate::ContactScale), packed; empty while all are 1.
    pub(crate) contact_scales: Vec<u32>,
    /// Friction between two materials; the lower index comes first.
    pub(crate) friction_pairs: BTreeMap<[u8; 2], Friction>,
    pub(crate) colliders: Vec<Collider>,
    pub(crate) orientations: Vec<Orientation>,
    pub(crate) orientation_pins: Vec<bool>,
    /// The segments of ropes and rods.
    pub(crate) cord_edges: Vec<[u32; 2]>,
    pub(crate) attachments: Vec<Attachment>,
    /// By attachment, its id, which [`Scene::remove`] keeps.
    pub(crate) attachment_ids: Vec<AttachmentId>,
    /// The generation of the ids of new attachments: the number of removals of attachments.
    pub(crate) attachment_generation: u32,
    pub(crate) reserved_attachments: u32,
    pub(crate) skinned: skinned::SkinnedParticles,
    pub(crate) tearable: Vec<tearing::TearableCloth>,
    /// The strains at which single edges tear, by their particles, the lower one first.
    pub(crate) tear_strains: BTreeMap<[u32; 2], f32>,
}

impl Default for Scene {
    fn default() -> Self {
        Self::new()
    }
}

impl Scene {
    /// An empty scene.
    pub fn new() -> Self {
        let constraints = KINDS
            .iter()
            .map(|info| ConstraintSet {
                info,
                words: Vec::new(),
                rows: Vec::new(),
                slot_count: 0,
                plastic: Default::default(),
            })
            .collect();
        Self {
            positions: Vec::new(),
            velocities: Vec::new(),
            inverse_masses: Vec::new(),
            pinned: Vec::new(),
            triangles: Vec::new(),
            constraints,
            materials: Vec::new(),
            interned: HashMap::new(),
            grids: Vec::new(),
            tethered_bodies: Vec::new(),
            bodies: Vec::new(),
            followers: Vec::new(),
            rest_positions: Vec::new(),
            contact_materials: vec![ContactMaterial::default()],
            particle_contacts: Vec::new(),
            contact_scales: Vec::new(),
            friction_pairs: BTreeMap::new(),
            colliders: Vec::new(),
            orientations: Vec::new(),
            orientation_pins: Vec::new(),
            cord_edges: Vec::new(),
            attachments: Vec::new(),
            attachment_ids: Vec::new(),
            attachment_generation: 0,
            reserved_attachments: 0,
            skinned: Default::default(),
            tearable: Vec::new(),
            tear_strains: BTreeMap::new(),
        }
    }

    /// Adds a particle and returns its index.
    ///
    /// # Errors
    /// The position or velocity is not finite, or the inverse mass is not in 0 to 1e12 1/kg.
    pub fn add_particle(&mut self, particle: Particle) -> Result<u32> {
        let index = self.positions.len();
        let index32 = self.check_capacity("particles", 1)?;
        check_finite(|| format!("position of particle {index}"), particle.position)?;
        check_finite(|| format!("velocity of particle {index}"), particle.velocity)?;
        check_inverse_mass(|| format!("inverse mass of particle {index}"), particle.inverse_mass)?;
        self.push_particle(particle);
        Ok(index32)
    }

    /// Adds a constraint of any kind and returns its index among the constraints of that kind.
    ///
    /// Constraints with equal materials share one entry of the material table.
    ///
    /// # Errors
    /// A particle does not exist or is repeated, or a parameter or the material is out of range.
    pub fn add<K: Kind>(&mut self, constraint: K, material: Material) -> Result<u32> {
        material.check("material of a constraint")?;
        self.check_constraint(&constraint)?;
        let id = self.intern(material);
        self.add_with(constraint, id)
    }

    /// Adds a constraint with a material of the table, which [`crate::Solver::set_material`] can change.
    ///
    /// # Errors
    /// The errors of [`Scene::add`], or the material does not exist.
    pub fn add_with<K: Kind>(&mut self, constraint: K, material: MaterialId) -> Result<u32> {
        let index = self.check_constraint(&constraint)?;
        self.material(material)?;
        self.push_constraint(&constraint, material);
        Ok(index)
    }

    /// Adds an entry to the material table.
    ///
    /// # Errors
    /// A parameter of the material is out of range.
    pub fn add_material(&mut self, material: Material) -> Result<MaterialId> {
        material.check(&format!("material {}", self.materials.len()))?;
        self.materials.push(material);
        Ok(MaterialId(self.materials.len() as u32 - 1))
    }

    /// Returns an entry of the material table.
    ///
    /// # Errors
    /// The material does not exist.
    pub fn material(&self, id: MaterialId) -> Result<Material> {
        self.materials.get(id.0 as usize).copied().ok_or_else(|| Error::IndexOutOfRange {
            what: "material id".into(),
            target: "material",
            index: id.0.into(),
            count: self.materials.len() as u64,
        })
    }

    /// The particles of each body.
    pub fn bodies(&self) -> &[Range<u32>] {
        &self.bodies
    }

    /// The number of particles.
    pub fn particle_count(&self) -> usize {
        self.positions.len()
    }

    /// The number of constraints of all kinds, without tethers.
    pub fn constraint_count(&self) -> usize {
        self.constraints.iter().map(ConstraintSet::len).sum()
    }

    /// The number of constraints of one kind.
    pub fn constraint_count_of(&self, info: &KindInfo) -> usize {
        self.kind_count(info) as usize
    }

    /// The number of triangles of all surfaces.
    pub fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// The initial positions \[m\].
    pub fn positions(&self) -> &[[f32; 3]] {
        &self.positions
    }

    /// The inverse mass [1/kg] of every particle when free, also of pinned ones.
    pub fn inverse_masses(&self) -> &[f32] {
        &self.inverse_masses
    }

    /// The particles that are initially pinned; followers are not.
    pub fn pinned_particles(&self) -> impl Iterator<Item = u32> {
        let is_pinned = |&particle: &u32| self.is_pinned(particle) && !follows(&self.followers, particle);
        (0..self.pinned.len() as u32).filter(is_pinned)
    }

    pub(crate) fn is_pinned(&self, particle: u32) -> bool {
        self.pinned[particle as usize] || self.inverse_masses[particle as usize] == 0.0 && !self.is_in_reserve(particle)
    }

    /// The triangles of all surfaces.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    pub(crate) fn intern(&mut self, material: Material) -> MaterialId {
        let next = MaterialId(self.materials.len() as u32);
        let Material { compliance, damping, damping_time, stiffness } = material;
        let key = [compliance, damping, damping_time, stiffness].map(f32::to_bits);
        *self.interned.entry(key).or_insert_with(|| {
            self.materials.push(material);
            next
        })
    }

    fn check_constraint<K: Kind>(&self, constraint: &K) -> Result<u32> {
        let set = &self.constraints[constraints::kind_index(K::INFO)];
        let index = set.len();
        let (left, right) = (constraint.particles().len(), K::INFO.arity);
        if left != right && !K::INFO.is_group() {
            return Err(Error::LengthMismatch { what: "particles of a constraint and arity of its kind", left, right });
        }
        if K::INFO.is_group() {
            self.check_members(K::INFO, constraint.particles().len() as u64)?;
        }
        let what = || format!("{} constraint {index}", K::INFO.name);
        self.check_entities(what, K::INFO, constraint.particles())?;
        constraint.check(index)?;
        if K::INFO.is_group() {
            let mut rows = Vec::new();
            constraint.write_members(0, &mut rows);
            if left == 0 || rows.len() < left * constraints::group::MEMBER_ROWS {
                let (what, left) = ("rows and members of a group", rows.len());
                return Err(Error::LengthMismatch { what, left, right: constraint.particles().len().max(1) * 2 });
            }
        }
        u32::try_from(index + 1).map(|next| next - 1).map_err(|_| too_large("constraints", index as u64 + 1))
    }

    fn push_particle(&mut self, particle: Particle) {
        self.positions.push(particle.position);
        self.velocities.push(particle.velocity);
        self.inverse_masses.push(particle.inverse_mass);
        self.pinned.push(false);
        self.rest_positions.push(particle.position);
        self.particle_contacts.push(ContactMaterialId::default());
        if !self.contact_scales.is_empty() {
            self.contact_scales.push(ContactScale::default().pack());
        }
    }

    fn push_constraint<K: Kind>(&mut self, constraint: &K, material: MaterialId) {
        let ConstraintSet { words, rows, slot_count, .. } = &mut self.constraints[constraints::kind_index(K::INFO)];
        let particles = constraint.particles();
        if K::INFO.is_group() {
            let first_row = rows.len() as u32;
            constraint.write_members(first_row, rows);
            words.extend([first_row, particles.len() as u32, *slot_count]);
            *slot_count += particles.len() as u32;
        } else {
            words.extend_from_slice(particles);
        }
        words.push(material.0);
        constraint.write_parameters(words);
        // Pads the record to its full size, independently of the kind.
        words.resize(words.len().next_multiple_of(K::INFO.record_words), 0);
    }

    pub(crate) fn check_particle(&self, what: &str, particle: u32) -> Result<()> {
        crate::geometry::check_exists(|| what.into(), "particle", &[particle], self.positions.len())
    }

    /// Checks that `count` more particles fit, and returns the index of the first.
    fn check_capacity(&self, what: &'static str, count: usize) -> Result<u32> {
        let total = self.positions.len() as u64 + count as u64;
        if total > u64::from(u32::MAX) {
            return Err(too_large(what, total));
        }
        Ok(self.positions.len() as u32)
    }
}

fn too_large(what: &'static str, count: u64) -> Error {
    Error::TooLarge { what, count, limit: u32::MAX.into() }
}
