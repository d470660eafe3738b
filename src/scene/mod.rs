//! What to simulate: particles, constraints of every kind, surfaces, tethers.
//!
//! A [`Scene`] is plain host data. Builders ([`ClothGrid`], [`ClothMesh`], [`Rope`]) add to it and return handles with the
//! index ranges of what they added. Nothing here knows of a GPU; [`crate::Solver`] and [`crate::Reference`] read it.

mod bending;
mod cloth;
mod constraint_set;
mod contacts;
mod cut_cloth;
mod elasticity;
mod follower;
mod hinge_weights;
mod intersections;
pub(crate) mod lattice;
mod material;
mod numbering;
mod presets;
mod rope;
mod skins;
mod soft;
mod strain;
mod tether;
mod weld;

pub use crate::geometry::{MeshReport, Topology};
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
pub use numbering::Numbering;
pub use rope::{Rope, RopeParts};
pub(crate) use skins::Skins;
pub use soft::{Balloon, BalloonParts, SoftBody, SoftParts, TetMesh};
pub use strain::Strain;
pub use tether::{TetherForce, TetherRow, Tethers};
pub(crate) use tether::{TetherGraph, rows_of};
pub use weld::{Weld, weld};

use crate::collision::{Collider, ContactMaterial, ContactMaterialId, Friction};
use crate::constraints::{self, KINDS, Kind, KindInfo};
use crate::error::{Error, Result, check_finite};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// A point mass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Particle {
    /// Where it is \[m\].
    pub position: [f32; 3],
    /// How fast it moves [m/s].
    pub velocity: [f32; 3],
    /// One over its mass [1/kg]; 0 = pinned for good.
    pub inverse_mass: f32,
}

impl Default for Particle {
    fn default() -> Self {
        Self { position: [0.0; 3], velocity: [0.0; 3], inverse_mass: 1.0 }
    }
}

/// Particles that lie in rows: particle (row r, column c) is `first` + r · `columns` + c.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    pub first: u32,
    pub columns: u32,
    pub rows: u32,
}

/// Which constraints and triangles hang together, so that tethers can measure distances along them.
#[derive(Debug, Clone)]
pub(crate) struct TetheredBody {
    pub particles: Range<u32>,
    pub triangles: Range<u32>,
    /// Distance constraints that are as long as the material between their particles.
    pub edges: Range<u32>,
    pub tethers: Tethers,
}

/// Particles and everything that acts between them. See the [module documentation](self).
#[derive(Debug, Clone)]
pub struct Scene {
    pub(crate) positions: Vec<[f32; 3]>,
    pub(crate) velocities: Vec<[f32; 3]>,
    /// The inverse mass that each particle has when it is free.
    pub(crate) inverse_masses: Vec<f32>,
    pub(crate) pinned: Vec<bool>,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) constraints: Vec<ConstraintSet>,
    pub(crate) materials: Vec<Material>,
    interned: HashMap<[u32; 4], MaterialId>,
    /// In ascending order; no two overlap.
    pub(crate) grids: Vec<Grid>,
    pub(crate) tethered_bodies: Vec<TetheredBody>,
    /// The particles of each body; no two overlap.
    pub(crate) bodies: Vec<Range<u32>>,
    /// In ascending order of their particles.
    pub(crate) followers: Vec<Follower>,
    /// Where each particle was when it was added.
    pub(crate) rest_positions: Vec<[f32; 3]>,
    pub(crate) contact_materials: Vec<ContactMaterial>,
    /// By particle.
    pub(crate) particle_contacts: Vec<ContactMaterialId>,
    /// Between two materials, the lower first.
    pub(crate) friction_pairs: BTreeMap<[u8; 2], Friction>,
    pub(crate) colliders: Vec<Collider>,
    /// The segments of ropes.
    pub(crate) cord_edges: Vec<[u32; 2]>,
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
            .map(|info| ConstraintSet { info, words: Vec::new(), rows: Vec::new(), slot_count: 0 })
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
            friction_pairs: BTreeMap::new(),
            colliders: Vec::new(),
            cord_edges: Vec::new(),
        }
    }

    /// Adds a particle and returns its index.
    ///
    /// # Errors
    /// Positions and velocities must be finite, the inverse mass 0 to 1e12.
    pub fn add_particle(&mut self, particle: Particle) -> Result<u32> {
        let index = self.positions.len();
        let index32 = self.check_room("particles", 1)?;
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
    /// Its particles must exist and differ, its parameters and its material must be in range.
    pub fn add<K: Kind>(&mut self, constraint: K, material: Material) -> Result<u32> {
        material.check("material of a constraint")?;
        self.check_constraint(&constraint)?;
        let id = self.intern(material);
        self.add_with(constraint, id)
    }

    /// Adds a constraint whose material is already in the table, so that [`crate::Solver::set_material`] reaches it.
    ///
    /// # Errors
    /// As [`Scene::add`]; the material must exist.
    pub fn add_with<K: Kind>(&mut self, constraint: K, material: MaterialId) -> Result<u32> {
        let index = self.check_constraint(&constraint)?;
        self.material(material)?;
        self.push_constraint(&constraint, material);
        Ok(index)
    }

    /// Adds an entry to the material table.
    ///
    /// # Errors
    /// Compliance and damping must be finite and at least 0.
    pub fn add_material(&mut self, material: Material) -> Result<MaterialId> {
        material.check(&format!("material {}", self.materials.len()))?;
        self.materials.push(material);
        Ok(MaterialId(self.materials.len() as u32 - 1))
    }

    /// The entry of the material table.
    ///
    /// # Errors
    /// The material must exist.
    pub fn material(&self, id: MaterialId) -> Result<Material> {
        self.materials.get(id.0 as usize).copied().ok_or_else(|| Error::IndexOutOfRange {
            what: "material id".into(),
            target: "material",
            index: id.0.into(),
            count: self.materials.len() as u64,
        })
    }

    /// Makes one body of the particles in a range of indices, for [`crate::Settings::body_damping`] and [`Scene::renumber`]. The
    /// builders have done so with theirs.
    ///
    /// # Errors
    /// The particles must exist and belong to no other body.
    pub fn add_body(&mut self, particles: Range<u32>) -> Result<()> {
        if particles.is_empty() {
            return Err(Error::Empty { what: "the particle range of a body" });
        }
        self.check_particle("body", particles.end - 1)?;
        let is_cut = |tied: &&TetheredBody| is_cut(&particles, &tied.particles);
        if let Some(tied) = self.tethered_bodies.iter().find(is_cut) {
            let particle = tied.particles.start.max(particles.start);
            return Err(Error::RepeatedIndex {
                what: "the lists of bodies and of tethered particles".into(),
                particle,
            });
        }
        match self.bodies.iter().find(|body| body.start < particles.end && particles.start < body.end) {
            None => self.bodies.push(particles),
            Some(body) => {
                let particle = body.start.max(particles.start);
                return Err(Error::RepeatedIndex { what: "the list of bodies".into(), particle });
            }
        }
        Ok(())
    }

    /// Says that the particles in a range of indices lie in rows of so many columns, row after row, so that the constraints between
    /// near ones can be solved tile by tile ([`crate::Settings::execution`]). [`crate::ClothGrid`] has done so with its own. It changes how
    /// fast they are solved and in which order, not what they mean.
    ///
    /// # Errors
    /// The particles must exist, fill their rows, and belong to no other grid.
    pub fn add_grid(&mut self, particles: Range<u32>, columns: u32) -> Result<()> {
        if particles.is_empty() {
            return Err(Error::Empty { what: "the particle range of a grid" });
        }
        self.check_particle("grid", particles.end - 1)?;
        let count = particles.len() as u32;
        if columns == 0 || !count.is_multiple_of(columns) {
            return Err(Error::invalid("columns of a grid", f64::from(columns), "a divisor of its particles"));
        }
        let end = |grid: &Grid| grid.first + grid.columns * grid.rows;
        match self.grids.iter().find(|grid| grid.first < particles.end && particles.start < end(grid)) {
            None => {
                let place = self.grids.partition_point(|grid| grid.first < particles.start);
                self.grids.insert(place, Grid { first: particles.start, columns, rows: count / columns });
                Ok(())
            }
            Some(grid) => {
                let particle = grid.first.max(particles.start);
                Err(Error::RepeatedIndex { what: "the list of grids".into(), particle })
            }
        }
    }

    /// The particles of each body.
    pub fn bodies(&self) -> &[Range<u32>] {
        &self.bodies
    }

    /// Pins a particle: it moves on at its velocity (by default it stays where it is), or follows a target ([`crate::Solver::set_target`]), until it is released.
    ///
    /// # Errors
    /// The particle must exist.
    pub fn pin(&mut self, particle: u32) -> Result<()> {
        self.check_particle("pin", particle)?;
        self.pinned[particle as usize] = true;
        Ok(())
    }

    /// Moves a particle \[m\] at the start. Rest lengths and tethers stay those of the shape in which it was added. Its followers move with
    /// it when a solver is made of the scene; [`Scene::positions`] still has them where they were.
    ///
    /// # Errors
    /// The particle must exist and be no follower, the position must be finite.
    pub fn set_position(&mut self, particle: u32, position: [f32; 3]) -> Result<()> {
        self.check_particle("set_position", particle)?;
        check_finite(|| format!("position of particle {particle}"), position)?;
        self.check_no_follower("position", particle, 1)?;
        self.positions[particle as usize] = position;
        Ok(())
    }

    /// Sets the velocity [m/s] of a particle at the start.
    ///
    /// # Errors
    /// The particle must exist and be no follower, the velocity must be finite.
    pub fn set_velocity(&mut self, particle: u32, velocity: [f32; 3]) -> Result<()> {
        self.check_particle("set_velocity", particle)?;
        check_finite(|| format!("velocity of particle {particle}"), velocity)?;
        self.check_no_follower("velocity", particle, 1)?;
        self.velocities[particle as usize] = velocity;
        Ok(())
    }

    /// Sets the mass \[kg\] of a particle, also of one that a builder has added. A pinned particle has it once it is released; one that was pinned
    /// for good by an inverse mass of 0 becomes free. Groups ([`constraints::ShapeMatching`]) keep the masses that they were added with.
    ///
    /// # Errors
    /// The particle must exist and be no follower; the mass must be finite, positive and at least 1e-12 kg.
    pub fn set_mass(&mut self, particle: u32, mass: f32) -> Result<()> {
        self.check_particle("set_mass", particle)?;
        self.check_no_follower("set_mass", particle, 1)?;
        self.inverse_masses[particle as usize] = invert_mass(|| format!("mass of particle {particle}"), mass)?;
        Ok(())
    }

    /// How many particles there are.
    pub fn particle_count(&self) -> usize {
        self.positions.len()
    }

    /// How many constraints of all kinds there are; tethers are not counted.
    pub fn constraint_count(&self) -> usize {
        self.constraints.iter().map(ConstraintSet::len).sum()
    }

    /// How many constraints of one kind there are.
    pub fn constraint_count_of(&self, info: &KindInfo) -> usize {
        self.kind_count(info) as usize
    }

    /// How many triangles the surfaces have.
    pub fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// The positions at the start \[m\].
    pub fn positions(&self) -> &[[f32; 3]] {
        &self.positions
    }

    /// The inverse mass [1/kg] of every particle when it is free, pinned or not.
    pub fn inverse_masses(&self) -> &[f32] {
        &self.inverse_masses
    }

    /// The particles that are pinned at the start.
    pub fn pinned_particles(&self) -> impl Iterator<Item = u32> {
        (0..self.pinned.len() as u32).filter(|&particle| self.is_pinned(particle))
    }

    pub(crate) fn is_pinned(&self, particle: u32) -> bool {
        self.pinned[particle as usize] || self.inverse_masses[particle as usize] == 0.0
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
        let room = set.rows.len() as u64 + (constraint.particles().len() * constraints::group::MEMBER_ROWS) as u64;
        if room > u64::from(u32::MAX / 8) {
            return Err(too_large("members of groups", room));
        }
        let what = || format!("{} constraint {index}", K::INFO.name);
        crate::error::check_particles(what, constraint.particles(), self.particle_count())?;
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
        // Padding is the scene's business: a kind that forgot it would shift all records after it.
        words.resize(words.len().next_multiple_of(K::INFO.record_words), 0);
    }

    fn distance_count(&self) -> u32 {
        self.kind_count(constraints::Distance::INFO)
    }

    fn kind_count(&self, info: &KindInfo) -> u32 {
        self.constraints[constraints::kind_index(info)].len() as u32
    }

    pub(crate) fn check_particle(&self, what: &str, particle: u32) -> Result<()> {
        if (particle as usize) < self.positions.len() {
            return Ok(());
        }
        Err(Error::IndexOutOfRange {
            what: what.into(),
            target: "particle",
            index: particle.into(),
            count: self.positions.len() as u64,
        })
    }

    /// Whether `count` more particles fit; returns the index of the first.
    fn check_room(&self, what: &'static str, count: usize) -> Result<u32> {
        let total = self.positions.len() as u64 + count as u64;
        if total > u64::from(u32::MAX) {
            return Err(too_large(what, total));
        }
        Ok(self.positions.len() as u32)
    }
}

/// Whether two ranges overlap and neither lies within the other.
fn is_cut(a: &Range<u32>, b: &Range<u32>) -> bool {
    let overlap = a.start < b.end && b.start < a.end;
    let within = |a: &Range<u32>, b: &Range<u32>| b.start <= a.start && a.end <= b.end;
    overlap && !within(a, b) && !within(b, a)
}

/// Whether an inverse mass [1/kg] is 0 or one that `f32` can reckon with.
fn check_inverse_mass(what: impl FnOnce() -> String, value: f32) -> Result<()> {
    if (0.0..=MAX_INVERSE_MASS).contains(&value) { Ok(()) } else { Err(Error::invalid(what(), value, "0 to 1e12")) }
}

/// The inverse [1/kg] of a mass that a builder has reckoned out [kg].
pub(crate) fn invert_mass(what: impl Fn() -> String, mass: f32) -> Result<f32> {
    if mass > 0.0 && mass.is_finite() {
        check_inverse_mass(|| format!("inverse {}", what()), 1.0 / mass)?;
        return Ok(1.0 / mass);
    }
    Err(Error::invalid(what(), mass, "finite and greater than 0"))
}

/// What weighs less weighs nothing.
const MAX_INVERSE_MASS: f32 = 1e12;

fn too_large(what: &'static str, count: u64) -> Error {
    Error::TooLarge { what, count, limit: u32::MAX.into() }
}
