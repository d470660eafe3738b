//! Host state that may change while a simulation runs: settings, materials, pins, targets, tethers, colliders.
//!
//! Each backend owns one [`Controls`]. It validates a change before it applies it, and stores the data that the
//! backends upload: [`Params`], scaled materials, targets, tethers.

use crate::collision::{Collider, ColliderId, Colliders, ContactMaterial, ContactMaterialId};
use crate::constraints::xpbd::ScaledMaterial;
use crate::constraints::{Kind, kind_index};
use crate::error::{Error, Result, check_finite};
use crate::scene::{Material, MaterialId, Scene, TetherForce, TetherGraph, TetherRow, invert_mass};
use crate::schedule::compiled::{CompiledScene, Purpose};
use crate::schedule::plan::{Pass, Plan, PlanInputs};
use crate::settings::{Field, MAX_FIELDS, Method, Settings, Wind};
use crate::sim::contact_params::ContactParams;
use crate::sim::join::join;
use crate::sim::shift::Shift;
use std::collections::BTreeMap;

/// Parameters of a step. Layout of `shaders/common/params.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Params {
    /// h² g: displacement that gravity adds in a substep \[m\].
    pub gravity_step: [f32; 3],
    /// Duration h of a substep \[s\].
    pub h: f32,
    /// Mean velocity of the air [m/s].
    pub wind_velocity: [f32; 3],
    /// Duration dt of a step \[s\].
    pub dt: f32,
    /// Wave vector k of the gusts, parallel to the wind: one wave per gust length [1/m].
    pub gust_wave: [f32; 3],
    /// Amplitude of the gusts relative to the mean wind.
    pub gust: f32,
    /// Frequency of the gusts \[Hz\].
    pub gust_frequency: f32,
    /// ½ ρ C_D [kg/m³].
    pub drag: f32,
    /// ½ ρ C_L [kg/m³].
    pub lift: f32,
    /// Factor on the displacement of a free particle in each substep: exp(−damping · h) times the substep's part of the
    /// step factor.
    pub velocity_factor: f32,
    /// Number of particles.
    pub particle_count: u32,
    /// Number of pinned particles.
    pub pin_count: u32,
    /// Number of kinematic particles with a target.
    pub target_count: u32,
    /// 1 if a substep begins with the accelerations by wind, fields and forces, else 0.
    pub accelerated: u32,
    /// 0, unknown to the compiler: see `opaque` in `shaders/common/xpbd.wgsl`.
    pub zero: u32,
    /// 1 if there is wind, else 0.
    pub wind: u32,
    /// 1 if external forces are enabled, else 0.
    pub forces: u32,
    /// Amplitude of the turbulence [m/s].
    pub turbulence: f32,
    /// Origin of the air field \[m\]: the sum of all shifts of the origin.
    pub air_origin: [f32; 3],
    /// 1/length scale of the turbulence [1/m].
    pub turbulence_scale: f32,
    /// Fraction of the non-rigid motion of a body that is damped in a step.
    pub body_damping: f32,
    /// Number of fields.
    pub field_count: u32,
    /// Pads the row to a multiple of 16 bytes.
    pub padding: [u32; 2],
    /// The fields; the first `field_count` are in use.
    pub fields: [FieldRow; MAX_FIELDS],
}

/// A force field. Layout of the shaders.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct FieldRow {
    /// Position \[m\].
    pub position: [f32; 3],
    /// Strength S [m/s²].
    pub strength: f32,
    /// Unit axis of a vortex; 0 for a point.
    pub axis: [f32; 3],
    /// 1/R, R being the radius [1/m].
    pub scale: f32,
}

impl FieldRow {
    fn new(field: &Field) -> Option<Self> {
        match *field {
            Field::None => None,
            Field::Point { position, strength, radius } => {
                Some(Self { position, strength, axis: [0.0; 3], scale: 1.0 / radius })
            }
            Field::Vortex { position, axis, strength, radius } => {
                let axis = glam::Vec3::from(axis).normalize().into();
                Some(Self { position, strength, axis, scale: 1.0 / radius })
            }
        }
    }
}

/// A pinned particle and its target position at the end of the step.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Target {
    /// Target position \[m\].
    pub position: [f32; 3],
    /// Index of the particle.
    pub particle: u32,
}

/// The change by [`Controls::set_constraint`].
pub(crate) struct ChangedConstraint {
    pub kind: usize,
    /// Index of the first word of its parameters in the records.
    pub first: usize,
    pub words: Vec<u32>,
    /// True if the shaders of the kind contained the parameters as constants and must load them from now on.
    pub other: bool,
}

/// See the [module documentation](self).
#[derive(Debug, Clone)]
pub(crate) struct Controls {
    pub scene: Scene,
    pub compiled: CompiledScene,
    pub settings: Settings,
    pub plan: Plan,
    pub materials: Vec<Material>,
    /// Current inverse mass of each particle; 0 if pinned.
    pub inverse_masses: Vec<f32>,
    /// Particles with current inverse mass 0, in ascending order.
    pub pins: Vec<u32>,
    pub targets: Vec<Target>,
    /// Index in `targets` by particle.
    target_of: BTreeMap<u32, usize>,
    pub tether_graph: TetherGraph,
    pub tether_rows: Vec<TetherRow>,
    pub colliders: Colliders,
    pub shift: Shift,
}

impl Controls {
    /// Forces of the taut tethers, from the displacement of each \[m\] in a substep of `h` \[s\].
    pub fn tether_forces(&self, pulls: &[f32], h: f32) -> Vec<TetherForce> {
        let mut forces = Vec::new();
        if !self.settings.tethers {
            return forces;
        }
        for (particle, (&run, &w)) in (0..).zip(self.compiled.tether_runs.iter().zip(&self.inverse_masses)) {
            let (first, count) = ((run >> 4) as usize, (run & 15) as usize);
            let rows = self.tether_rows.iter().zip(pulls).skip(first).take(count);
            let taut = rows.filter(|&(_, &pull)| pull > 0.0 && w > 0.0);
            forces.extend(taut.map(|(row, pull)| TetherForce {
                particle,
                anchor: row.anchor,
                force: pull / (w * h * h),
            }));
        }
        forces
    }

    /// `Ok` if mean forces of this kind are recorded.
    pub fn check_mean_forces(&self, kind: usize) -> Result<()> {
        let count = self.compiled.kinds.len();
        if kind >= count {
            let (what, index, count) = ("read_mean_forces_of".into(), kind as u64, count as u64);
            return Err(Error::IndexOutOfRange { what, target: "kind", index, count });
        }
        if !self.settings.mean_forces {
            let (what, needed) = ("read_mean_forces", "Settings::mean_forces = true");
            return Err(Error::NotEnabled { what, needed });
        }
        Ok(())
    }

    /// Mean force \[N\] of each constraint of a kind, from the sums of λ over a step of n substeps of h \[s\]. 0 if no
    /// step has run.
    pub fn mean_forces(&self, kind: usize, sums: &[f32], (h, substeps): (f32, u32)) -> Vec<f32> {
        let compiled = &self.compiled.kinds[kind];
        let unit = h * h * substeps as f32;
        let force = |sum: f32| if unit > 0.0 { sum / unit } else { 0.0 };
        compiled.coloring.unsort(&compiled.info.lambdas(sums)).into_iter().map(force).collect()
    }

    pub fn new(scene: &Scene, settings: Settings) -> Result<Self> {
        Self::made_for(scene, settings, Purpose::Scene)
    }

    /// Creates the state for a scene or for the asset of instances.
    pub fn made_for(scene: &Scene, settings: Settings, purpose: Purpose) -> Result<Self> {
        if scene.particle_count() == 0 {
            return Err(Error::Empty { what: "the scene (it has no particles)" });
        }
        settings.check()?;
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
        let mut controls = Self {
            scene,
            compiled,
            settings,
            plan: Plan::default(),
            materials: Vec::new(),
            inverse_masses: Vec::new(),
            pins: Vec::new(),
            targets: Vec::new(),
            target_of: BTreeMap::new(),
            tether_graph,
            tether_rows: Vec::new(),
            colliders: Colliders::default(),
            shift: Shift::default(),
        };
        controls.reset_to(colliders, tether_rows);
        Ok(controls)
    }

    /// Restores pins, colliders and materials of the scene; the settings stay.
    pub fn reset(&mut self) {
        // Cannot fail: the same colliders fitted at construction.
        let colliders = Colliders::new(&self.scene.colliders, self.scene.contact_materials.len()).unwrap_or_default();
        let tether_rows = self.tether_graph.tie(|particle| self.scene.is_pinned(particle));
        self.reset_to(colliders.after(&self.colliders), tether_rows);
    }

    fn reset_to(&mut self, colliders: Colliders, tether_rows: Vec<TetherRow>) {
        let scene = &self.scene;
        let inverse_mass =
            |particle| if scene.is_pinned(particle) { 0.0 } else { scene.inverse_masses[particle as usize] };
        self.inverse_masses = (0..scene.particle_count() as u32).map(inverse_mass).collect();
        self.materials.clone_from(&scene.materials);
        self.list_pins();
        self.targets.clear();
        self.target_of.clear();
        self.tether_rows = tether_rows;
        self.colliders = colliders;
        self.make_plan();
    }

    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        settings.check()?;
        self.compiled.check_bodies(&settings)?;
        if settings.needs_other_schedule(&self.settings) {
            self.compiled.reschedule(&self.scene, &settings)?;
        }
        self.settings = settings;
        self.make_plan();
        Ok(())
    }

    pub fn make_plan(&mut self) {
        let any = !self.colliders.is_empty();
        let inputs = PlanInputs { any, bounce: any && self.restitutes(), pins: self.pins.len() };
        self.plan = Plan::new(&self.compiled, &self.settings, inputs);
    }

    /// Returns true if any contact material has restitution.
    pub fn restitutes(&self) -> bool {
        self.scene.contact_materials.iter().any(|material| material.restitution > 0.0)
    }

    /// Parameters of collision.
    pub fn contact_params(&self) -> ContactParams {
        // Particles in contact with a collider must not be truncated together with fast ones.
        let quarantined =
            self.inverse_masses.contains(&0.0) || self.settings.keeps_surfaces_apart() && self.colliders.are_any_left();
        let anchored = self.settings.self_collision.is_some() && quarantined;
        ContactParams::new(&self.scene, &self.settings, &self.compiled.contact_elements, &self.colliders, anchored)
    }

    pub fn add_collider(&mut self, collider: &Collider) -> Result<ColliderId> {
        let id = self.colliders.add(collider, self.scene.contact_materials.len())?;
        self.make_plan();
        Ok(id)
    }

    /// Replaces a collider; returns its index.
    pub fn set_collider(&mut self, id: ColliderId, collider: &Collider) -> Result<usize> {
        self.colliders.set(id, collider, self.scene.contact_materials.len())?;
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

    /// Changes the parameters of a constraint.
    pub fn set_constraint<K: Kind>(&mut self, index: u32, constraint: K) -> Result<ChangedConstraint> {
        let kind = kind_index(K::INFO);
        let compiled = &mut self.compiled.kinds[kind];
        let name = K::INFO.name;
        let Some(place) = compiled.coloring.order.iter().position(|&constraint| constraint == index) else {
            let (what, count) = ("set_constraint".into(), compiled.len() as u64);
            return Err(Error::IndexOutOfRange { what, target: name, index: index.into(), count });
        };
        constraint.check(index as usize)?;
        let own = compiled.info.particles(compiled.record(place), &compiled.rows);
        let (mut given, mut own) = (constraint.particles().to_vec(), own.collect::<Vec<u32>>());
        // Members of a group may be given in any order.
        if K::INFO.is_group() {
            given.sort_unstable();
            own.sort_unstable();
        }
        if let Some((new, _)) = given.iter().zip(&own).find(|(new, old)| new != old) {
            return Err(Error::invalid(format!("particle of {name} constraint {index}"), *new, "unchanged"));
        }
        if given.len() != own.len() {
            let what = "new and old particles of a constraint";
            return Err(Error::LengthMismatch { what, left: given.len(), right: own.len() });
        }
        let mut words = Vec::new();
        constraint.write_parameters(&mut words);
        let first = place * K::INFO.record_words + K::INFO.material_word() + 1;
        // M is computed from the members, which do not change.
        if K::INFO.is_group() {
            words[0] = compiled.records[first];
        }
        let old = &mut compiled.records[first..first + words.len()];
        let other = *old != words && compiled.tiling.unshare();
        old.copy_from_slice(&words);
        Ok(ChangedConstraint { kind, first, words, other })
    }

    pub fn is_pinned(&self, particle: u32) -> bool {
        self.inverse_masses[particle as usize] == 0.0
    }

    /// `Ok` if the particles can be pinned (or released).
    pub fn check_pins(&self, particles: &[u32], pinned: bool) -> Result<()> {
        for &particle in particles {
            self.scene.check_particle(if pinned { "pin" } else { "release" }, particle)?;
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

    fn list_pins(&mut self) {
        let masses = (0..).zip(&self.inverse_masses);
        self.pins = masses.filter(|(_, mass)| **mass == 0.0).map(|(particle, _)| particle).collect();
    }

    /// Sets the position of a pinned particle at the end of the next step and of later ones; returns its index in
    /// `targets`.
    pub fn set_target(&mut self, particle: u32, position: [f32; 3]) -> Result<usize> {
        self.scene.check_particle("set_target", particle)?;
        check_finite(|| format!("target of particle {particle}"), position)?;
        self.scene.check_no_follower("set_target", particle, 1)?;
        if !self.is_pinned(particle) {
            return Err(Error::NotPinned { particle });
        }
        let place = *self.target_of.entry(particle).or_insert(self.targets.len());
        if place == self.targets.len() {
            self.targets.push(Target::default());
        }
        self.targets[place] = Target { position, particle };
        Ok(place)
    }

    /// Removes the target of a particle; the particle then stays in place.
    pub fn remove_target(&mut self, particle: u32) {
        let Some(place) = self.target_of.remove(&particle) else { return };
        self.targets.swap_remove(place);
        if let Some(moved) = self.targets.get(place) {
            self.target_of.insert(moved.particle, place);
        }
    }

    /// Sets the targets of the particles from `first` on to the given positions; returns their indices in `targets`.
    pub fn move_targets(&mut self, first: u32, positions: &[[f32; 3]]) -> Vec<usize> {
        let end = first + positions.len() as u32;
        let places: Vec<usize> = self.target_of.range(first..end).map(|(_, &place)| place).collect();
        for &place in &places {
            let target = &mut self.targets[place];
            target.position = positions[(target.particle - first) as usize];
        }
        places
    }

    /// `Ok` if `values`, one per particle from `first` on, are valid positions or velocities: the particles exist and
    /// are not followers, and the values are finite.
    pub fn check_state(&self, what: &str, first: u32, values: &[[f32; 3]]) -> Result<()> {
        self.check_values(what, first, values)?;
        self.scene.check_no_follower(what, first, values.len() as u32)
    }

    /// `Ok` if the particles of `values`, one per particle from `first` on, exist and the values are finite.
    pub fn check_values(&self, what: &str, first: u32, values: &[[f32; 3]]) -> Result<()> {
        let end = u64::from(first) + values.len() as u64;
        if end > self.scene.particle_count() as u64 {
            return Err(Error::IndexOutOfRange {
                what: what.into(),
                target: "particle",
                index: end - 1,
                count: self.scene.particle_count() as u64,
            });
        }
        for (particle, &value) in (first..).zip(values) {
            check_finite(|| format!("{what} of particle {particle}"), value)?;
        }
        Ok(())
    }

    /// Sets the masses \[kg\] of the particles from `first` on, whose mass in the scene must be finite. Returns the new
    /// inverse masses of those that are free.
    pub fn set_masses(&mut self, first: u32, masses: &[f32]) -> Result<Vec<(u32, f32)>> {
        let count = masses.len() as u32;
        let end = u64::from(first) + masses.len() as u64;
        if end > self.scene.particle_count() as u64 {
            let (what, of) = ("set_masses".into(), self.scene.particle_count() as u64);
            return Err(Error::IndexOutOfRange { what, target: "particle", index: end - 1, count: of });
        }
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
        Ok(inverses)
    }

    /// `Ok` if forces are enabled, the particles exist and the values are finite.
    pub fn check_forces(&self, first: u32, forces: &[[f32; 3]]) -> Result<()> {
        if !self.settings.forces {
            return Err(Error::NotEnabled { what: "set_forces", needed: "Settings::forces = true" });
        }
        self.check_values("force", first, forces)
    }

    pub fn params(&self) -> Params {
        let h = self.settings.substep();
        let wind = self.settings.wind.unwrap_or_default();
        // In f64: h² g is rounded once.
        let square = f64::from(h) * f64::from(h);
        let rows: Vec<FieldRow> = self.settings.fields.iter().filter_map(FieldRow::new).collect();
        let mut fields = [FieldRow::default(); MAX_FIELDS];
        fields[..rows.len()].copy_from_slice(&rows);
        Params {
            gravity_step: self.settings.gravity.map(|g| (square * f64::from(g)) as f32),
            h,
            wind_velocity: wind.velocity,
            dt: self.settings.dt,
            gust_wave: gust_wave(&wind),
            gust: wind.gust,
            gust_frequency: wind.gust_frequency,
            drag: 0.5 * wind.density * wind.drag,
            lift: 0.5 * wind.density * wind.lift,
            velocity_factor: self.velocity_factor(),
            particle_count: self.scene.particle_count() as u32,
            pin_count: self.pins.len() as u32,
            target_count: self.targets.len() as u32,
            accelerated: u32::from(self.plan.begin.contains(&Pass::Accelerations)),
            zero: 0,
            wind: u32::from(self.settings.wind.is_some() && !self.compiled.rings.is_empty()),
            forces: u32::from(self.settings.forces),
            turbulence: wind.turbulence,
            air_origin: self.shift.air_origin(),
            turbulence_scale: 1.0 / wind.turbulence_length,
            body_damping: self.settings.body_damping,
            field_count: rows.len() as u32,
            padding: [0; 2],
            fields,
        }
    }

    /// exp(−damping · h) times the substep's part of the step factor.
    fn velocity_factor(&self) -> f32 {
        let Settings { damping, step_factor, substeps, .. } = self.settings;
        let decay = -f64::from(damping) * f64::from(self.settings.substep());
        (decay.exp() * f64::from(step_factor).powf(1.0 / f64::from(substeps))) as f32
    }

    /// α̃, γ and the relaxation factor of every material, for the substep and the method of the settings.
    pub fn scaled_materials(&self) -> Vec<ScaledMaterial> {
        let h = f64::from(self.settings.substep());
        let omega = f64::from(self.settings.relaxation);
        let sweeps = f64::from(self.settings.iterations);
        let scale = |material: &Material| {
            let [alpha, beta, tau] = [material.compliance, material.damping, material.damping_time].map(f64::from);
            let k = f64::from(material.stiffness);
            let [alpha_tilde, gamma, factor] = match self.settings.method {
                Method::Xpbd => [alpha / (h * h), (alpha * beta + tau) / h, omega],
                Method::Pbd => [0.0, 0.0, omega * (1.0 - (1.0 - k).powf(1.0 / sweeps))],
                Method::NaivePbd => [0.0, 0.0, omega * k],
            }
            // 1e30 acts as infinity and cannot overflow in the update.
            .map(|value| value.min(1e30) as f32);
            ScaledMaterial { alpha_tilde, gamma, factor, padding: 0.0 }
        };
        self.materials.iter().map(scale).collect()
    }
}

/// Wave vector k of the gusts of a wind [1/m].
pub(crate) fn gust_wave(wind: &Wind) -> [f32; 3] {
    // In f64: the square of a very low wind speed would underflow in f32.
    let speed = wind.velocity.iter().map(|&component| f64::from(component).powi(2)).sum::<f64>().sqrt();
    let wave = if speed > 0.0 { 1.0 / (speed * f64::from(wind.gust_length)) } else { 0.0 };
    wind.velocity.map(|component| (f64::from(component) * wave) as f32)
}
