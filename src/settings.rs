//! How to simulate: time step, substeps, iterations, forces.

use crate::error::{Error, Result, check_finite, check_non_negative, check_positive};

/// How to simulate.
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
    /// Air around the surfaces; `None` for a vacuum.
    pub wind: Option<Wind>,
    /// Whether tethers hold.
    pub tethers: bool,
    /// Whether λ is kept even with one iteration, for [`crate::Solver::read_lambdas`].
    pub keep_lambdas: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dt: 1.0 / 60.0,
            substeps: 20,
            iterations: 1,
            gravity: [0.0, -9.81, 0.0],
            damping: 0.0,
            wind: None,
            tethers: true,
            keep_lambdas: false,
        }
    }
}

/// Moving air, and what it does to surfaces.
///
/// A triangle of area A that moves at v relative to the air, at an angle to its normal n (turned so that v·n ≥ 0), feels
/// F = −½ ρ A |v| (v·n) (C_D v̂ + C_L (n − (n·v̂) v̂)): drag along −v̂ on the area that it shows to the air, lift across it,
/// strongest at 45°, as for a flat plate. Each corner takes a third.
///
/// The sum at a corner is divided by 1 + h k, where k is the rate at which it slows the corner: an implicit step, which cannot
/// turn the motion round however light the cloth. A terminal velocity comes out too high by about h k/2 (0.5 % at 20 substeps).
///
/// The air moves at u(x, t) = `velocity` · (1 + `gust` · s), with s = (sin φ + sin(2.3 φ + 1))/2 and
/// φ = 2π (`gust_frequency` t − k·x), where k points along the wind with one wave per `gust_length`.
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
        }
    }
}

impl Settings {
    /// The length of a substep, h \[s\].
    pub fn substep(&self) -> f32 {
        self.dt / self.substeps as f32
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
        check_non_negative("velocity damping", self.damping)?;
        let Some(wind) = &self.wind else { return Ok(()) };
        check_moderate("wind velocity", wind.velocity)?;
        for (what, value, range, words) in [
            ("gust frequency", wind.gust_frequency, 0.0..=1e3, "0 to 1000 Hz"),
            ("gust length", wind.gust_length, 1e-3..=1e6, "1e-3 to 1e6 m"),
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
fn check_moderate(what: &str, value: [f32; 3]) -> Result<()> {
    check_finite(|| what.into(), value)?;
    match value.into_iter().find(|component| component.abs() > 1e6) {
        None => Ok(()),
        Some(component) => Err(Error::invalid(what, component, "at most 1e6 either way")),
    }
}
