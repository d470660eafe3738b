//! How to simulate: time step, substeps, iterations, forces.

use crate::collide::{SelfCollision, SelfCollisionLevel};
use crate::error::{Error, Result, check_finite, check_non_negative, check_positive};

/// How to simulate.
///
/// # Range of coordinates
/// Positions are `f32` and a residual of 18 bits, and constraints read both. So what rests is calm far from the origin, too: a hanging cloth and
/// a rope move by less than 1 mm/s up to 10 km, at 20 and at 50 substeps (measured: 0.02 mm/s at 0, 0.1, 1 and 10 km). What is drawn is rounded to
/// ulp(x): 8 µm at 100 m, 0.06 mm at 1 km, 1 mm at 10 km. Contacts between particles,
/// tethers to pins that move, and strong damping of constraints that move read the motion of a substep to half an ulp(x): there velocities may tremble
/// by ulp(x)/(2 h), h being the substep, which is 0.005 m/s at 100 m and 0.04 m/s at 1 km by default.
/// [`crate::Solver::shift_origin`] brings a scene that has travelled far back to the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The length of a step, dt \[s\]; at most 1.
    pub dt: f32,
    /// Substeps in a step, 1 to 10 000; the substep is h = dt/substeps.
    ///
    /// At equal work more substeps beat more iterations by far (Macklin et al. 2019, *Small Steps in Physics Simulation*).
    pub substeps: u32,
    /// Sweeps over all constraints in a substep, 1 to 1 000; at most 100 000 in a step.
    pub iterations: u32,
    /// Acceleration of every free particle [m/s²].
    pub gravity: [f32; 3],
    /// Velocity damping [1/s]: a free velocity decays as exp(−damping · t), whatever the substep.
    pub damping: f32,
    /// The factor of a free velocity in each step, greater than 0, at most 1; spread evenly over its substeps. The damping of
    /// many programs (0.99, 0.995): unlike `damping`, it depends on `dt`.
    pub step_factor: f32,
    /// The share of its motion against itself that each body loses in a step, 0 to 1: what is left of its velocities once the
    /// rigid part v_cm + ω × r is taken off (Müller et al. 2007, §3.5). Linear and angular momentum stay; 1 leaves a rigid motion.
    /// Bodies are what the builders added, and what [`crate::Scene::add_body`] named; pinned particles take no part.
    pub body_damping: f32,
    /// How a constraint is made stiff or soft.
    pub method: Method,
    /// In which order constraints of a kind see each other's corrections.
    pub sweep: Sweep,
    /// Relaxation ω of every correction, greater than 0 and less than 2: 1 takes it as it is, more overshoots (successive
    /// over-relaxation), less is steadier.
    ///
    /// What is overshot is velocity in the next substep. n iterations leave a lone rigid constraint the share q = (1 − ω)ⁿ of its error, and its
    /// errors follow z² = q (2 z − 1) from substep to substep: below q = −1/3 they grow. So with one iteration ω must be less than
    /// 4/3, with three less than 1.69; an even number is safe.
    pub relaxation: f32,
    /// The order of the colours in a Gauss-Seidel sweep.
    pub color_order: ColorOrder,
    /// How the constraints of a Gauss-Seidel sweep are spread over the threads.
    pub execution: Execution,
    /// Air around the surfaces; `None` for a vacuum.
    pub wind: Option<Wind>,
    /// Fields of acceleration on every free particle, [`MAX_FIELDS`] at most; see [`Field::slots`].
    // A literal: with the constant rustc 1.95 breaks on `Settings { .., ..settings }` within a closure.
    pub fields: [Field; 8],
    /// Whether the forces of [`crate::Solver::set_forces`] act.
    pub forces: bool,
    /// Whether tethers hold.
    pub tethers: bool,
    /// How particles are kept from passing through each other; `None` where they may.
    pub self_collision: Option<SelfCollision>,
    /// How fast what overlaps at the start of a substep is pushed apart, at most, by each that it touches [m/s], 0 to 1e3: faster, and what was
    /// laid into something else flies out of it.
    pub recovery_speed: f32,
    /// Whether what touches colliders sums up its forces on them, for [`crate::Solver::read_collider_forces`]: a quarter of what colliders cost,
    /// and 84 bytes a particle where nothing has restitution either, nor are surfaces kept apart.
    pub collider_forces: bool,
    /// Whether λ is kept even with one iteration, for [`crate::Solver::read_lambdas`]. Where it has just been turned on, or the execution changed,
    /// a solver's λ is 0 until the next step.
    pub keep_lambdas: bool,
    /// Whether the pulls of tethers are kept, for [`crate::Solver::read_tether_forces`]. Default: false. While it is on, tethers are a pass of
    /// their own in each substep, whole bodies and halos are not used, and each tether takes 4 bytes more.
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
            recovery_speed: 1.0,
            collider_forces: true,
            keep_lambdas: false,
            tether_forces: false,
        }
    }
}

/// How a constraint is made stiff or soft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Extended position based dynamics (Macklin et al. 2016): by compliance and damping, whatever the iterations and the
    /// substep, once it has converged. What one sweep has not converged adds a compliance of about (1 + γ) w h² to each constraint, γ being
    /// (α β + τ)/h: what is damped converges more slowly, and hangs a little lower until it has.
    #[default]
    Xpbd,
    /// Position based dynamics (Müller et al. 2007): each correction is scaled by k' = 1 − (1 − k)^(1/n), n being the iterations
    /// and k [`crate::Material::stiffness`], so that a lone constraint keeps 1 − k of its error whatever n. It still depends on the
    /// substep. Compliance and damping are not used.
    Pbd,
    /// The same with k in place of k': stiffer with every iteration. For comparison.
    NaivePbd,
}

/// In which order constraints of a kind see each other's corrections. Kinds come one after another either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sweep {
    /// By colours: each sees what those of the colours before have done.
    #[default]
    GaussSeidel,
    /// All at once from the same positions, and each particle takes the mean. A particle with n constraints counts as n particles
    /// of an n-th of its mass, one in each (mass splitting, Tonge et al. 2012): so momentum is kept and λ stays the true
    /// multiplier, which averaging of finished corrections loses. Free of any order, and slower to converge. It keeps angular momentum
    /// to rounding. Gauss-Seidel does not where constraints pull against each other at rest, except within closed surfaces
    /// ([`crate::Pressure`]). Takes 16 bytes a particle of each constraint, which [`crate::required_limits`] does not count.
    Jacobi,
}

/// The order of the colours in a Gauss-Seidel sweep.
///
/// A fixed order favours the directions that come last: a symmetric cloth hangs a little askew. Shuffled orders are free of that
/// bias in the mean, at the price of a tremble. Alternating ones are where constraints are compliant; rigid ones they make boil, in
/// spite of damping where a substep has one sweep. [`Sweep::Jacobi`] has no order, and no bias at all.
///
/// The order of a step is chosen when it is recorded, by the number of the step: how many steps have been recorded since the start or the last
/// reset ([`crate::Solver::recorded_steps`]). A program that drops an encoder instead of submitting it hands the number of the next step in by
/// [`crate::Solver::set_recorded_steps`]; otherwise the order skips the dropped steps. The reference counts the steps that it has run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorOrder {
    /// The same in every sweep.
    #[default]
    Fixed,
    /// Forwards, then backwards.
    Alternating,
    /// Another in every sweep of every step, by a seed.
    Shuffled {
        /// The same seed gives the same orders.
        seed: u32,
    },
}

/// How the constraints of a Gauss-Seidel sweep are spread over the threads. Either way constraints that are solved at the same time
/// share no particle; the order of the sweep differs, and with it what one sweep leaves unsolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Execution {
    /// On adapters that run on the CPU, and in the reference, in tiles where many constraints of a kind lie in grids, else by colours. On GPUs
    /// [`Execution::Halos`] up to 131 072 particles, if the scene is for that as a solver is made; [`Execution::Tiles`] from 524 288 on, if half of
    /// them lie in grids; else [`Execution::Patches`], if there is room for them. That is decided once: wind or contacts that come later find a scene
    /// of halos by colours. [`crate::Solver::execution`] says which runs, and why. It depends on nothing that has
    /// to be timed, so that results are the same in every run; [`crate::gpu::fastest_execution`] measures instead.
    #[default]
    Auto,
    /// One thread a constraint, one dispatch a colour.
    Colors,
    /// Whatever lies in a grid of particles ([`crate::Scene::add_grid`]; cloth of [`crate::ClothGrid`] does) is cut into tiles, and one
    /// thread solves all constraints of a tile: four dispatches in place of a dozen, with a third of the loads and stores. What is
    /// left goes by colours. Colours that alternate or are shuffled are not clustered.
    Tiles,
    /// Constraints among a few hundred particles are solved by one workgroup, which keeps these in its own memory: three or four
    /// dispatches a kind, whatever the mesh. For real GPUs: barriers within a workgroup are dear on software adapters.
    Patches,
    /// Grids in tiles, all else in patches.
    Clusters,
    /// By colours, bit for bit, but a whole substep in one dispatch: a workgroup plays it for a few hundred particles and for the halo of others
    /// around them on which they depend. For real GPUs, where a dispatch takes longer than the work of a colour; it wants a device with more than
    /// the default limits (`gpu::Context` asks for them, [`crate::gpu::with_room`] helps others to), and keeps particles and constraints in memory
    /// several times. Substeps go in pairs, so the first of an odd number goes by colours. All go by colours, a dispatch each, where the device
    /// has no room; where halos outgrow their cores, as with hinges on a fine mesh; where a scene has groups or particles with more constraints than there
    /// are colours; where a sweep is not one iteration of Gauss-Seidel in a fixed order of colours, or multipliers are kept; while anything but
    /// gravity, damping and tethers acts; and after a constraint was changed, until constraints are spread anew.
    Halos,
    /// One workgroup for each body, with all substeps of a step in one dispatch: for thousands of ropes, leaves, small flags. A body is what
    /// hangs together by constraints, of 1024 particles at most; small ones share a workgroup. What lies in grids is solved in tiles there, too. With wind, fields, forces, colliders or contacts,
    /// or where a step has so many substeps and iterations that a thread would turn more than 60 000 times, the constraints of all kinds take
    /// one dispatch an iteration instead. Where any body is larger, a scene has shape matching or pressure, or a particle more than 64 constraints
    /// of a kind, it is [`Execution::Patches`]. For bodies that are all alike see [`crate::Instances`].
    Whole,
}

/// Moving air, and what it does to surfaces.
///
/// A triangle of area A that moves at v relative to the air, at an angle to its normal n (turned so that v·n ≥ 0), feels
/// F = −½ ρ A |v| (v·n) (C_D v̂ + C_L (n − (n·v̂) v̂)): drag along −v̂ on the area that it shows to the air, lift across it,
/// strongest at 45°, as for a flat plate. Each corner takes a third, in the air that is where the corner is.
///
/// The sum at a corner is divided by 1 + h k, where k is the rate at which it slows the corner: an implicit step, which cannot
/// turn the motion round however light the cloth. A terminal velocity comes out too high by about h k/2 (0.5 % at 20 substeps). Where h k
/// is large (cloth lighter than any fabric) and differs much from corner to corner, still air may add a little energy.
///
/// The air moves at u(x, t) = `velocity` · (1 + `gust` · s), with s = (sin φ + sin(2.3 φ + 1))/2 and
/// φ = 2π (`gust_frequency` t − k·x), where k points along the wind with one wave per `gust_length`; and `turbulence` times a
/// smooth noise of the place, which drifts with the mean wind (Taylor 1938, frozen turbulence).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wind {
    /// Mean velocity of the air [m/s].
    pub velocity: [f32; 3],
    /// Strength of the gusts over the mean, 0 to 10.
    pub gust: f32,
    /// Gusts a second \[Hz\].
    pub gust_frequency: f32,
    /// Distance between two gusts \[m\].
    pub gust_length: f32,
    /// Density of the air ρ [kg/m³].
    pub density: f32,
    /// Drag coefficient C_D.
    pub drag: f32,
    /// Lift coefficient C_L.
    pub lift: f32,
    /// Size of the turbulence on top [m/s], 0 to 1000: a vector noise of this largest value in each direction.
    pub turbulence: f32,
    /// Size of its eddies \[m\].
    pub turbulence_length: f32,
}

impl Default for Wind {
    /// Still air at 20 °C at sea level; the coefficients of a flat plate (Hoerner 1965: C_D 1.2 across the flow).
    fn default() -> Self {
        Self {
            velocity: [0.0; 3],
            gust: 0.0,
            gust_frequency: 0.5,
            gust_length: 2.0,
            density: 1.204,
            drag: 1.2,
            lift: 0.6,
            turbulence: 0.0,
            turbulence_length: 0.5,
        }
    }
}

/// How many fields there may be at once.
pub const MAX_FIELDS: usize = 8;

/// A field of acceleration.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Field {
    /// Nothing.
    #[default]
    None,
    /// Towards a point: a = S r̂/(1 + (r/R)²), r being the distance from it; 0 at the point itself.
    Point {
        /// The point \[m\].
        position: [f32; 3],
        /// S [m/s²]; negative pushes away.
        strength: f32,
        /// R \[m\], at which half of it is left; positive.
        radius: f32,
    },
    /// Around an axis: a = S n × ρ̂/(1 + (ρ/R)²), ρ being the way out from the axis along n; 0 on the axis itself.
    Vortex {
        /// A point of the axis \[m\].
        position: [f32; 3],
        /// The direction of the axis, of any length but 0; it turns counterclockwise seen against it.
        axis: [f32; 3],
        /// S [m/s²].
        strength: f32,
        /// R \[m\], at which half of it is left; positive.
        radius: f32,
    },
}

impl Field {
    /// The given fields, and nothing in the other slots. What does not fit is left out.
    pub fn slots(fields: &[Self]) -> [Self; MAX_FIELDS] {
        std::array::from_fn(|place| fields.get(place).copied().unwrap_or_default())
    }

    fn check(&self, place: usize) -> Result<()> {
        let of = |what: &str| format!("{what} of field {place}");
        let (position, strength, radius) = match *self {
            Self::None => return Ok(()),
            Self::Point { position, strength, radius } => (position, strength, radius),
            Self::Vortex { position, axis, strength, radius } => {
                check_moderate(&of("axis"), axis)?;
                if axis.iter().map(|component| component * component).sum::<f32>() < 1e-12 {
                    return Err(Error::invalid(of("axis"), 0.0, "longer than 1e-6"));
                }
                (position, strength, radius)
            }
        };
        check_moderate(&of("position"), position)?;
        check_moderate(&of("strength"), [strength; 3])?;
        if (1e-6..=1e6).contains(&radius) { Ok(()) } else { Err(Error::invalid(of("radius"), radius, "1e-6 to 1e6 m")) }
    }
}

impl Settings {
    /// The length of a substep, h \[s\].
    pub fn substep(&self) -> f32 {
        self.dt / self.substeps as f32
    }

    /// Whether surfaces are kept from each other, not only particles.
    pub(crate) fn keeps_surfaces_apart(&self) -> bool {
        self.self_collision.is_some_and(|own| own.level == SelfCollisionLevel::Surfaces)
    }

    /// Whether constraints may be solved in other orders than by colours.
    fn clusters(&self) -> bool {
        self.sweep == Sweep::GaussSeidel && self.color_order == ColorOrder::Fixed
    }

    /// Whether grids may be solved in tiles.
    pub(crate) fn tiles(&self) -> bool {
        self.clusters() && matches!(self.execution, Execution::Auto | Execution::Tiles | Execution::Clusters)
    }

    /// Whether meshes may be solved in patches.
    pub(crate) fn patches(&self) -> bool {
        self.clusters() && matches!(self.execution, Execution::Patches | Execution::Clusters | Execution::Whole)
    }

    /// Whether bodies may be solved whole.
    pub(crate) fn whole(&self) -> bool {
        self.clusters() && self.execution == Execution::Whole
    }

    /// Whether the constraints must be cooked anew for these settings instead of those.
    pub(crate) fn spreads_unlike(&self, other: &Self) -> bool {
        self.sweep != other.sweep || self.clusters() != other.clusters() || self.execution != other.execution
    }

    /// Whether every figure is in range.
    ///
    /// # Errors
    /// Names the figure, its value and its range.
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
        if !(0.0..=1e3).contains(&self.recovery_speed) {
            return Err(Error::invalid("recovery speed", self.recovery_speed, "0 to 1000 m/s"));
        }
        let Some(wind) = &self.wind else { return Ok(()) };
        check_moderate("wind velocity", wind.velocity)?;
        for (what, value, range, words) in [
            ("gust frequency", wind.gust_frequency, 0.0..=1e3, "0 to 1000 Hz"),
            ("gust length", wind.gust_length, 1e-3..=1e6, "1e-3 to 1e6 m"),
            ("turbulence", wind.turbulence, 0.0..=1e3, "0 to 1000 m/s"),
            ("turbulence length", wind.turbulence_length, 1e-3..=1e6, "1e-3 to 1e6 m"),
        ] {
            if !range.contains(&value) {
                return Err(Error::invalid(what, value, words));
            }
        }
        for (what, value) in
            [("air density", wind.density), ("drag coefficient", wind.drag), ("lift coefficient", wind.lift)]
        {
            check_non_negative(what, value)?;
            if value > 1e6 {
                return Err(Error::invalid(what, value, "at most 1e6"));
            }
        }
        if !(0.0..=10.0).contains(&wind.gust) {
            return Err(Error::invalid("gust", wind.gust, "0 to 10"));
        }
        Ok(())
    }
}

/// `Ok` where all components are finite and at most a million, so that their squares stay far from the end of `f32`.
pub(crate) fn check_moderate(what: &str, value: [f32; 3]) -> Result<()> {
    check_finite(|| what.into(), value)?;
    match value.into_iter().find(|component| component.abs() > 1e6) {
        None => Ok(()),
        Some(component) => Err(Error::invalid(what, component, "at most 1e6 either way")),
    }
}
