//! Settings of a simulation: time step, substeps, iterations, forces, wind, fields.

mod field;
mod wind;
mod words;

pub use field::{Field, MAX_FIELDS};
pub use wind::Wind;

use crate::collision::events::MOST_EVENTS;
use crate::collision::{SelfCollision, SelfCollisionLevel};
use crate::error::{Error, Result, check_finite, check_non_negative, check_positive};

/// Substep h of the default settings \[s\].
pub(crate) const DEFAULT_SUBSTEP: f64 = 1.0 / 1200.0;

/// Settings of a simulation.
///
/// # Range of coordinates
/// A position is an `f32` with a residual of 18 bits, and constraints read both. Cloth and ropes therefore stay at rest
/// up to 10 km from the origin. Limits of this precision:
///
/// - Rendered positions are rounded to ulp(x): 8 µm at 100 m, 0.06 mm at 1 km, 1 mm at 10 km.
/// - Contacts between particles, tethers to moving pins, and strong damping of moving constraints read the motion of a
///   substep to half an ulp(x). Velocities may then vary by ulp(x)/(2 h), h being the substep: by default 0.005 m/s at
///   100 m and 0.04 m/s at 1 km.
///
/// [`crate::Solver::shift_origin`] moves a distant scene back to the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Length of a step dt \[s\], 1e-6 to 1.
    pub dt: f32,
    /// Substeps per step, 1 to 10 000; the substep is h = dt/substeps.
    ///
    /// At equal cost, more substeps are more accurate than more iterations (Macklin et al. 2019, *Small Steps in
    /// Physics Simulation*).
    pub substeps: u32,
    /// Sweeps over all constraints per substep, 1 to 1 000; at most 100 000 per step.
    pub iterations: u32,
    /// Acceleration of every free particle [m/s²], at most 1e6 in each direction.
    pub gravity: [f32; 3],
    /// Velocity damping [1/s], at least 0: a free velocity decays as exp(−damping · t) for any substep.
    pub damping: f32,
    /// Factor of a free velocity per step, greater than 0, at most 1, distributed over the substeps. It is the damping
    /// of many programs (0.99, 0.995). Unlike `damping`, it depends on `dt`.
    pub step_factor: f32,
    /// Fraction of the non-rigid motion that each body loses per step, 0 to 1. The rigid part v_cm + ω × r of the
    /// velocities is kept, and so are linear and angular momentum (Müller et al. 2007, §3.5). 1 leaves a rigid motion.
    /// Bodies are those of the builders and of [`crate::Scene::add_body`]; pinned particles are excluded.
    pub body_damping: f32,
    /// The constraint update: XPBD or PBD.
    pub method: Method,
    /// The sweep over the constraints of a kind: Gauss-Seidel or Jacobi.
    pub sweep: Sweep,
    /// Relaxation ω of every correction, greater than 0 and less than 2. Values above 1 overshoot (successive
    /// over-relaxation), values below 1 are more stable.
    ///
    /// The overshoot becomes velocity in the next substep. After n iterations, a single rigid constraint keeps the
    /// share q = (1 − ω)ⁿ of its error. From substep to substep its errors follow z² = q (2 z − 1), and for q < −1/3
    /// they grow. So ω must be less than 4/3 with one iteration and less than 1.69 with three; even numbers of
    /// iterations are stable.
    pub relaxation: f32,
    /// The order of the colours in a Gauss-Seidel sweep.
    pub color_order: ColorOrder,
    /// The schedule of the constraints in a Gauss-Seidel sweep.
    pub execution: Execution,
    /// Wind on the surfaces; `None` for a vacuum.
    pub wind: Option<Wind>,
    /// Fields of acceleration on every free particle, at most [`MAX_FIELDS`]; see [`Field::slots`].
    // A literal: with the constant, rustc 1.95 fails on `Settings { .., ..settings }` within a closure.
    pub fields: [Field; 8],
    /// If true, the forces of [`crate::Solver::set_forces`] act.
    pub forces: bool,
    /// If true, tethers act.
    pub tethers: bool,
    /// Contacts between particles or between surfaces; `None` for none.
    pub self_collision: Option<SelfCollision>,
    /// If true, colliders push the triangles and edges of surfaces, not only their particles. Default: true. It adds two
    /// passes per substep in scenes with triangles and colliders other than half-spaces, and about 188 bytes per particle.
    /// [`crate::Instances`] push particles only.
    pub triangle_contacts: bool,
    /// The greatest speed at which each contact separates an overlap at the start of a substep [m/s], 0 to 1e3. Particles
    /// and surfaces that are nearer than their thickness when they meet separate at a twentieth of it, because their
    /// separation becomes velocity. If they are closer than a tenth of the thickness, they part to this distance at once.
    pub recovery_speed: f32,
    /// If true, forces on colliders are summed, for [`crate::Solver::read_collider_forces`]. This takes 112 bytes per
    /// particle, unless restitution, self-collision or contact events need the same buffer.
    pub collider_forces: bool,
    /// The most contact events of a step, 0 to 1 048 576, for [`crate::Solver::read_contact_events`]: contacts that begin, last
    /// and end. Default: 0, no events. An event takes 32 bytes, and 192 to 384 bytes of tables. A change of this
    /// setting discards the contacts of the previous step, friction anchors and the counters of [`crate::ContactReport`].
    pub contact_events: u32,
    /// If true, λ is stored even with one iteration, for [`crate::Solver::read_lambdas`]. After it is enabled, or after
    /// a change of the execution, λ is 0 until the next step.
    pub keep_lambdas: bool,
    /// If true, the forces of constraints are averaged over the substeps of each step, for
    /// [`crate::Solver::read_mean_forces`]. Default: false. It adds one pass per kind and substep, and 8 bytes per
    /// constraint (24 for a vector constraint). After it is enabled, or after a change of the execution, all forces are
    /// 0 until the next step.
    pub mean_forces: bool,
    /// If true, the forces of tethers are stored, for [`crate::Solver::read_tether_forces`]. Default: false. Tethers
    /// then have a separate pass per substep, and each takes 4 more bytes.
    pub tether_forces: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dt: 1.0 / 60.0,
            substeps: 20,
            iterations: 1,
            gravity: [0.0, -9.81, 0.0],
            damping: 0.0,
            step_factor: 1.0,
            body_damping: 0.0,
            method: Method::Xpbd,
            sweep: Sweep::GaussSeidel,
            relaxation: 1.0,
            color_order: ColorOrder::Fixed,
            execution: Execution::Auto,
            wind: None,
            fields: [Field::None; MAX_FIELDS],
            forces: false,
            tethers: true,
            self_collision: None,
            triangle_contacts: true,
            recovery_speed: 1.0,
            collider_forces: true,
            contact_events: 0,
            keep_lambdas: false,
            mean_forces: false,
            tether_forces: false,
        }
    }
}

/// The constraint update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Extended position based dynamics (Macklin et al. 2016). After convergence, the stiffness is given by compliance
    /// and damping, independently of iterations and substep. The error of a single sweep is about an additional
    /// compliance of `(1 + γ) w h²` per constraint, with γ = (α β + τ)/h. Damped constraints thus converge more slowly
    /// and stretch slightly more.
    #[default]
    Xpbd,
    /// Position based dynamics (Müller et al. 2007). Each correction is scaled by k' = 1 − (1 − k)^(1/n), with n
    /// iterations and the stiffness k = [`crate::Material::stiffness`]. A single constraint keeps 1 − k of its error
    /// for any n, but the stiffness depends on the substep. Compliance and damping are not used.
    Pbd,
    /// PBD with k instead of k': stiffness grows with the iterations. For comparison.
    NaivePbd,
}

/// The order in which constraints of a kind read each other's corrections. Kinds are always solved one after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sweep {
    /// By colours: a constraint reads the corrections of all previous colours.
    #[default]
    GaussSeidel,
    /// All at once from the same positions, averaged per particle by mass splitting (Tonge et al. 2012). A particle
    /// with n constraints counts as n particles of 1/n of its mass, one per constraint. Momentum is conserved and λ
    /// stays the true multiplier, unlike with averaged corrections.
    ///
    /// There is no order of constraints; convergence is slower than Gauss-Seidel. Angular momentum is conserved to
    /// rounding even if constraints act against each other at rest. With Gauss-Seidel it is then conserved only within
    /// closed surfaces ([`crate::Pressure`]).
    ///
    /// Needs 16 bytes per particle of each constraint, which [`crate::required_limits`] does not include.
    Jacobi,
}

/// The order of the colours in a Gauss-Seidel sweep.
///
/// A fixed order favours the directions that are solved last: a symmetric cloth hangs slightly asymmetrically. Shuffled
/// orders have no mean bias, but cause slight vibration. Alternating orders have no bias for compliant constraints.
/// Rigid constraints vibrate strongly with them, even with damping, if a substep has one sweep. [`Sweep::Jacobi`] has
/// no order and no bias.
///
/// The order of a step is chosen when it is recorded, by the number of steps recorded since the start or the last reset
/// ([`crate::Solver::recorded_steps`]). If a program drops an encoder instead of submitting it, it must set the next
/// step number by [`crate::Solver::set_recorded_steps`]; otherwise the order skips the dropped steps. The CPU reference
/// counts the steps that it has run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorOrder {
    /// The same order in every sweep.
    #[default]
    Fixed,
    /// Forwards and backwards alternately.
    Alternating,
    /// A pseudo-random order in every sweep of every step.
    Shuffled {
        /// The seed; equal seeds give equal orders.
        seed: u32,
    },
}

/// The schedule of the constraints in a Gauss-Seidel sweep.
///
/// Constraints that are solved at the same time never share a particle. The order of the sweep differs between
/// schedules, and so does the error of a sweep. [`crate::Solver::execution`] reports the schedule in use, and the
/// reason if it is not the chosen one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Execution {
    /// Chooses by the scene and the adapter, so results are reproducible; [`crate::gpu::fastest_execution`] measures
    /// instead.
    ///
    /// - Software adapters and the CPU reference: [`Execution::Tiles`] for kinds with at least 4096 constraints in
    ///   grids, [`Execution::Colors`] for the others.
    /// - GPUs: [`Execution::Tiles`] from 524 288 particles on, if half of them lie in grids, else
    ///   [`Execution::Clusters`], if the device has memory for them.
    #[default]
    Auto,
    /// A graph colouring: one thread per constraint, one dispatch per colour.
    Colors,
    /// Tiles of 4 × 4 particles of a grid ([`crate::Scene::add_grid`], [`crate::ClothGrid`]): one thread per tile
    /// solves all its constraints, in four dispatches per kind. Constraints outside grids use colours. Needs
    /// [`ColorOrder::Fixed`].
    Tiles,
    /// Clusters of up to 256 particles: one workgroup per cluster solves its constraints in workgroup memory, in three
    /// or four dispatches per kind on any mesh. Intended for real GPUs, because workgroup barriers are slow on software
    /// adapters. Needs [`ColorOrder::Fixed`].
    Clusters,
}

impl Settings {
    /// The length of a substep, h \[s\].
    pub fn substep(&self) -> f32 {
        self.dt / self.substeps as f32
    }

    /// Returns true if anything reads λ after the projection of its constraint. Groups are solved again in each iteration of
    /// contacts.
    pub(crate) fn keeps_lambdas(&self, has_groups: bool) -> bool {
        let repeats_groups = has_groups && self.self_collision.is_some_and(|own| own.iterations != Some(1));
        self.keep_lambdas || self.mean_forces || self.iterations > 1 || repeats_groups
    }

    /// Returns true if contacts between surfaces are enabled.
    pub(crate) fn keeps_surfaces_apart(&self) -> bool {
        self.self_collision.is_some_and(|own| own.level == SelfCollisionLevel::Surfaces)
    }

    /// Returns true if schedules other than colours are allowed.
    fn is_free_of_colors(&self) -> bool {
        self.sweep == Sweep::GaussSeidel && self.color_order == ColorOrder::Fixed
    }

    /// Returns true if constraints of grids may be solved in tiles.
    pub(crate) fn tiles(&self) -> bool {
        self.is_free_of_colors() && matches!(self.execution, Execution::Auto | Execution::Tiles)
    }

    /// Returns true if constraints may be solved in clusters.
    pub(crate) fn clusters(&self) -> bool {
        self.is_free_of_colors() && self.execution == Execution::Clusters
    }

    /// Returns true if the constraints need another schedule for these settings than for `other`.
    pub(crate) fn needs_other_schedule(&self, other: &Self) -> bool {
        self.sweep != other.sweep
            || self.is_free_of_colors() != other.is_free_of_colors()
            || self.execution != other.execution
            || self.mean_forces != other.mean_forces
    }

    /// Returns `Ok` if contact events are recorded.
    pub(crate) fn check_contact_events(&self) -> Result<()> {
        if self.contact_events > 0 {
            return Ok(());
        }
        Err(Error::NotEnabled { what: "read_contact_events", needed: "Settings::contact_events of at least 1" })
    }

    /// Returns true if the impulses on colliders are stored.
    pub(crate) fn keeps_collider_impulses(&self) -> bool {
        self.collider_forces || self.contact_events > 0
    }

    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// Names the parameter, its value and its range.
    pub fn check(&self) -> Result<()> {
        check_positive("dt", self.dt)?;
        if self.dt > 1.0 {
            return Err(Error::invalid("dt", self.dt, "at most 1 s"));
        }
        if self.dt < 1e-6 {
            return Err(Error::invalid("dt", self.dt, "at least 1e-6 s"));
        }
        let counts =
            [("substeps", self.substeps, 10_000, "1 to 10 000"), ("iterations", self.iterations, 1_000, "1 to 1 000")];
        for (what, count, limit, range) in counts {
            if !(1..=limit).contains(&count) {
                return Err(Error::invalid(what, f64::from(count), range));
            }
        }
        let sweeps = self.substeps * self.iterations;
        if sweeps > 100_000 {
            return Err(Error::invalid("substeps × iterations", f64::from(sweeps), "at most 100 000"));
        }
        check_moderate("gravity", self.gravity)?;
        for (place, field) in self.fields.iter().enumerate() {
            field.check(place)?;
        }
        check_non_negative("velocity damping", self.damping)?;
        if !(self.step_factor > 0.0 && self.step_factor <= 1.0) {
            return Err(Error::invalid("step factor", self.step_factor, "greater than 0, at most 1"));
        }
        if !(0.0..=1.0).contains(&self.body_damping) {
            return Err(Error::invalid("body damping", self.body_damping, "0 to 1"));
        }
        if !(self.relaxation > 0.0 && self.relaxation < 2.0) {
            return Err(Error::invalid("relaxation", self.relaxation, "greater than 0, less than 2"));
        }
        if let Some(own) = &self.self_collision {
            own.check()?;
        }
        if self.contact_events > MOST_EVENTS {
            return Err(Error::invalid("contact events", f64::from(self.contact_events), "0 to 1 048 576"));
        }
        if !(0.0..=1e3).contains(&self.recovery_speed) {
            return Err(Error::invalid("recovery speed", self.recovery_speed, "0 to 1000 m/s"));
        }
        self.wind.as_ref().map_or(Ok(()), Wind::check)
    }
}

/// Returns `Ok` if all components are finite and at most 1e6 in magnitude, so that their squares fit in `f32`.
pub(crate) fn check_moderate(what: &str, value: [f32; 3]) -> Result<()> {
    check_finite(|| what.into(), value)?;
    match value.into_iter().find(|component| component.abs() > 1e6) {
        None => Ok(()),
        Some(component) => Err(Error::invalid(what, component, "at most 1e6 either way")),
    }
}
