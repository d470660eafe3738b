//! Host state that may change while a simulation runs: settings, materials, pins, targets, tethers, colliders.
//!
//! Each backend owns one [`Controls`]. It validates a change before it applies it, and stores the data that the
//! backends upload: [`Params`], scaled materials, targets, tethers.

use crate::collision::{Collider, ColliderId, Colliders, ContactMaterial, ContactMaterialId};
use crate::constraints::{Distance, Kind, is_weld, kind_index};
use crate::error::{Error, Result, check_finite};
use crate::geometry::check_range;
use crate::scene::{Material, MaterialId, Scene, TetherGraph, TetherRow, follows, invert_mass};
use crate::schedule::compiled::{CompiledScene, Purpose};
use crate::schedule::plan::Plan;
use crate::settings::Settings;
use crate::sim::attachments::Attachments;
use crate::sim::capacities::Capacities;
use crate::sim::checkpoint::ChangedParameters;
use crate::sim::contact_params::ContactParams;
use crate::sim::join::join;
use crate::sim::params::Target;
use crate::sim::shift::Shift;
use crate::sim::skinned::Skinning;
use crate::sim::tearing::{TearState, check_tearing};
use std::collections::BTreeMap;
use std::ops::Range;

/// The changes by [`Controls::set_constraints`].
pub(crate) struct ChangedConstraints {
    pub kind: usize,
    /// A range of the words of the records that includes all changed parameters; empty if there are none.
    pub words: Range<usize>,
    /// The indices of the constraints among the plastic ones, which lose their plastic strain.
    pub plastic: Vec<usize>,
    /// True if the shaders of the kind contained the parameters as constants and must load them from now on.
    pub other: bool,
    /// True if the seams have changed.
    pub seams: bool,
}

/// See the [module documentation](self).
#[derive(Debug, Clone)]
pub(crate) struct Controls {
    pub scene: Scene,
    pub compiled: CompiledScene,
    pub settings: Settings,
    pub plan: Plan,
    pub materials: Vec<Material>,
    /// Current inverse mass of each particle, then inverse inertia of each orientation; 0 if pinned.
    pub inverse_masses: Vec<f32>,
    /// Inverse masses of the scene before any change, with which the constraints are scheduled.
    pub scheduled_masses: Vec<f32>,
    /// By particle, the lowest index of the particles at its seam; empty if there has been no seam.
    pub seams: Vec<u32>,
    /// Particles with current inverse mass 0, in ascending order.
    pub pins: Vec<u32>,
    pub targets: Vec<Target>,
    /// Index in `targets` by particle.
    pub(super) target_of: BTreeMap<u32, usize>,
    /// By kind and index, what `set_constraint` has changed.
    pub changed_constraints: BTreeMap<(usize, u32), ChangedParameters>,
    pub tether_graph: TetherGraph,
    pub tether_rows: Vec<TetherRow>,
    pub colliders: Colliders,
    pub attachments: Attachments,
    pub skinning: Skinning,
    pub shift: Shift,
    /// Of the lists of self-collision.
    pub capacities: Capacities,
    pub tears: TearState,
}

impl Controls {
    pub fn new(scene: &Scene, settings: Settings) -> Result<Self> {
        Self::made_for(scene, settings, Purpose::Scene)
    }

    /// Creates the state for a scene or for the asset of instances.
    pub fn made_for(scene: &Scene, settings: Settings, purpose: Purpose) -> Result<Self> {
        if scene.particle_count() == 0 {
            return Err(Error::Empty { what: "the scene (it has no particles)" });
        }
        settings.check()?;
        check_tearing(scene, &settings)?;
        CompiledScene::check_tethers(scene)?;
        let tether = || {
            let graph = TetherGraph::new(scene);
            let rows = graph.tie(|particle| scene.is_pinned(particle));
            (graph, rows)
        };
        let ((tether_graph, tether_rows), compiled) = join(tether, || CompiledScene::new(scene, &settings, purpose));
        let compiled = compiled?;
        compiled.check_bodies(&settings)?;
        let colliders = Colliders::new(&scene.colliders, scene.contact_materials.len())?;
        let mut scene = scene.clone();
        scene.place_followers();
        let capacities = Capacities::new(scene.particle_count(), settings.self_collision);
        let tears = TearState::new(compiled.tearing.as_ref());
        let mut controls = Self {
            tears,
            scheduled_masses: scene.inverse_masses.clone(),
            scene,
            compiled,
            settings,
            plan: Plan::default(),
            materials: Vec::new(),
            inverse_masses: Vec::new(),
            seams: Vec::new(),
            pins: Vec::new(),
            targets: Vec::new(),
            target_of: BTreeMap::new(),
            changed_constraints: BTreeMap::new(),
            tether_graph,
            tether_rows: Vec::new(),
            colliders: Colliders::default(),
            attachments: Attachments::default(),
            skinning: Skinning::default(),
            shift: Shift::default(),
            capacities,
        };
        controls.reset_to(colliders, tether_rows);
        controls.renew_seams();
        Ok(controls)
    }

    /// Restores pins, colliders and materials of the scene; the settings stay.
    pub fn reset(&mut self) {
        self.mend();
        // Cannot fail: the same colliders fitted at construction.
        let colliders = Colliders::new(&self.scene.colliders, self.scene.contact_materials.len()).unwrap_or_default();
        let tether_rows = self.tether_graph.tie(|particle| self.scene.is_pinned(particle));
        self.capacities.growths = 0;
        self.reset_to(colliders.continuing_ids_of(&self.colliders), tether_rows);
    }

    fn reset_to(&mut self, colliders: Colliders, tether_rows: Vec<TetherRow>) {
        let scene = &self.scene;
        self.inverse_masses = scene.entity_weights();
        self.materials.clone_from(&scene.materials);
        self.list_pins();
        self.clear_all_targets();
        self.tether_rows = tether_rows;
        self.colliders = colliders;
        self.attachments = Attachments::new(&self.scene).continuing_ids_of(&self.attachments);
        self.reset_skinning();
        self.make_plan();
    }

    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        settings.check()?;
        check_tearing(&self.scene, &settings)?;
        self.compiled.check_bodies(&settings)?;
        if settings.needs_other_schedule(&self.settings) {
            self.reschedule(&settings)?;
        }
        let lists = |settings: &Settings| {
            settings.self_collision.map(|own| (own.level, own.pairs_per_particle, own.fixed_capacity))
        };
        if lists(&settings) != lists(&self.settings) {
            self.capacities = Capacities::new(self.scene.particle_count(), settings.self_collision);
        }
        self.settings = settings;
        self.make_plan();
        Ok(())
    }

    /// Parameters of collision.
    pub fn contact_params(&self) -> ContactParams {
        // Particles in contact with a collider must not be truncated together with fast ones.
        let is_pin = |&pin: &u32| !follows(&self.scene.followers, pin);
        let some_are_held =
            self.pins.iter().any(is_pin) || self.settings.keeps_surfaces_apart() && self.colliders.are_any_left();
        let holds_particles = self.settings.self_collision.is_some() && some_are_held;
        ContactParams::new(
            &self.scene,
            &self.settings,
            &self.compiled.contact_elements,
            &self.colliders,
            holds_particles,
        )
    }

    pub fn add_collider(&mut self, collider: &Collider) -> Result<ColliderId> {
        let id = self.colliders.add(collider, self.scene.contact_materials.len())?;
        self.make_plan();
        Ok(id)
    }

    /// Replaces a collider; returns its index.
    pub fn set_collider(&mut self, id: ColliderId, collider: &Collider) -> Result<usize> {
        self.colliders.set(id, collider, self.scene.contact_materials.len())?;
        self.make_plan();
        Ok(id.index())
    }

    pub fn set_contact_material(&mut self, id: ContactMaterialId, material: ContactMaterial) -> Result<()> {
        self.scene.set_contact_material(id, material)?;
        self.make_plan();
        Ok(())
    }

    pub fn set_material(&mut self, id: MaterialId, material: Material) -> Result<()> {
        self.scene.material(id)?;
        material.check(&format!("material {}", id.index()))?;
        self.materials[id.index()] = material;
        Ok(())
    }

    /// Changes the parameters of consecutive constraints, or of none if one of them is invalid.
    pub fn set_constraints<K: Kind>(&mut self, first: u32, constraints: &[K]) -> Result<ChangedConstraints> {
        let kind = kind_index(K::INFO);
        let (places, changes) = self.checked_constraints(first, constraints)?;
        let mut changed = ChangedConstraints { kind, words: 0..0, plastic: Vec::new(), other: false, seams: false };
        let is_distance = kind == kind_index(Distance::INFO);
        for ((index, place), words) in (first..).zip(places).zip(changes) {
            let first = place * K::INFO.record_words + K::INFO.material_word() + 1;
            self.note_change(kind, index, first, &words);
            let compiled = &mut self.compiled.kinds[kind];
            let old = &mut compiled.records[first..first + words.len()];
            changed.other |= *old != words && compiled.tiling.unshare();
            changed.seams |= is_distance && is_weld(old) != is_weld(&words);
            old.copy_from_slice(&words);
            changed.plastic.extend(compiled.set_plastic_rest(index, &words));
            let start = if changed.words.is_empty() { first } else { changed.words.start.min(first) };
            changed.words = start..changed.words.end.max(first + words.len());
        }
        changed.seams = changed.seams && self.renew_seams();
        Ok(changed)
    }

    /// The places of the records of consecutive constraints, and their new parameters as words.
    pub fn checked_constraints<K: Kind>(&self, first: u32, constraints: &[K]) -> Result<(Vec<usize>, Vec<Vec<u32>>)> {
        let kind = kind_index(K::INFO);
        let (compiled, set) = (&self.compiled.kinds[kind], &self.scene.constraints[kind]);
        let places = compiled.places_of(first, constraints.len())?;
        let entries = (first..).zip(constraints).zip(&places);
        let parameters = entries.map(|((index, own), &place)| compiled.parameters_of(index, own, place, set));
        let parameters = parameters.collect::<Result<_>>()?;
        Ok((places, parameters))
    }

    pub fn is_pinned(&self, particle: u32) -> bool {
        self.inverse_masses[particle as usize] == 0.0 && !self.scene.is_in_reserve(particle)
    }

    /// `Ok` if the particles can be pinned (or released).
    pub fn check_pins(&self, particles: &[u32], pinned: bool) -> Result<()> {
        for &particle in particles {
            let what = if pinned { "pin" } else { "release" };
            self.scene.check_particle(what, particle)?;
            self.scene.check_in_use(what, particle)?;
            self.scene.check_no_follower(what, particle, 1)?;
            if !pinned && self.scene.inverse_masses[particle as usize] == 0.0 {
                let what = format!("inverse mass of particle {particle}, which is to be released,");
                return Err(Error::invalid(what, 0.0, "greater than 0: the particle has no mass in the scene"));
            }
        }
        Ok(())
    }

    /// Pins or releases particles and recomputes the tethers of their bodies; returns the particles that changed.
    pub fn set_pinned(&mut self, particles: &[u32], pinned: bool) -> Result<Vec<u32>> {
        self.check_pins(particles, pinned)?;
        let mut changed = Vec::new();
        for &particle in particles {
            if self.is_pinned(particle) != pinned {
                let free = self.scene.inverse_masses[particle as usize];
                self.inverse_masses[particle as usize] = if pinned { 0.0 } else { free };
                self.remove_target(particle);
                changed.push(particle);
            }
        }
        self.list_pins();
        self.make_plan();
        let Self { tether_graph, tether_rows, inverse_masses, .. } = self;
        tether_graph.retie(tether_rows, &changed, |particle| inverse_masses[particle as usize] == 0.0);
        Ok(changed)
    }

    pub(super) fn list_pins(&mut self) {
        let masses = (0..).zip(&self.inverse_masses[..self.scene.particle_count()]);
        let pinned = masses.filter(|(_, mass)| **mass == 0.0).map(|(particle, _)| particle);
        self.pins = pinned.filter(|&particle| !self.scene.is_in_reserve(particle)).collect();
    }

    /// `Ok` if `values`, one per particle from `first` on, are valid positions or velocities: the particles exist and
    /// are not followers, and the values are finite.
    pub fn check_state(&self, what: &str, first: u32, values: &[[f32; 3]]) -> Result<()> {
        self.check_values(what, first, values)?;
        self.scene.check_no_follower(what, first, values.len() as u32)
    }

    /// The same for velocities. Those of particles in reserve must be 0.
    pub fn check_velocities(&self, first: u32, velocities: &[[f32; 3]]) -> Result<()> {
        self.check_state("velocity", first, velocities)?;
        let mut moving = (first..).zip(velocities).filter(|(_, velocity)| **velocity != [0.0; 3]);
        moving.try_for_each(|(particle, _)| self.scene.check_in_use("set_velocities", particle))
    }

    /// `Ok` if the particles of `values`, one per particle from `first` on, exist and the values are finite.
    pub fn check_values(&self, what: &str, first: u32, values: &[[f32; 3]]) -> Result<()> {
        check_range(what, "particle", first, values.len(), self.scene.particle_count())?;
        for (particle, &value) in (first..).zip(values) {
            check_finite(|| format!("{what} of particle {particle}"), value)?;
        }
        Ok(())
    }

    /// Sets the masses \[kg\] of the particles from `first` on, whose mass in the scene must be finite. Returns
    /// those that are free.
    pub fn set_masses(&mut self, first: u32, masses: &[f32]) -> Result<Vec<u32>> {
        let count = masses.len() as u32;
        check_range("set_masses", "particle", first, masses.len(), self.scene.particle_count())?;
        self.scene.check_no_follower("set_masses", first, count)?;
        let mut inverses = Vec::with_capacity(masses.len());
        for (particle, &mass) in (first..).zip(masses) {
            if self.scene.inverse_masses[particle as usize] == 0.0 {
                let what = format!("inverse mass of particle {particle} in the scene");
                return Err(Error::invalid(what, 0.0, "greater than 0 to be changed while running"));
            }
            inverses.push((particle, invert_mass(|| format!("mass of particle {particle}"), mass)?));
        }
        for &(particle, inverse) in &inverses {
            self.scene.inverse_masses[particle as usize] = inverse;
        }
        inverses.retain(|&(particle, _)| !self.is_pinned(particle));
        for &(particle, inverse) in &inverses {
            self.inverse_masses[particle as usize] = inverse;
        }
        Ok(inverses.into_iter().map(|(particle, _)| particle).collect())
    }

    /// `Ok` if forces are enabled, the particles exist and the values are finite.
    pub fn check_forces(&self, first: u32, forces: &[[f32; 3]]) -> Result<()> {
        if !self.settings.forces {
            return Err(Error::NotEnabled { what: "set_forces", needed: "Settings::forces = true" });
        }
        self.check_values("force", first, forces)
    }
}
