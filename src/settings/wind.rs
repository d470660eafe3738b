//! Moving air.

use super::check_moderate;
use crate::error::{Error, Result, check_non_negative};

/// Wind and its forces on surfaces.
///
/// A triangle of area A moves at v relative to the air; its normal n is oriented so that v·n ≥ 0. The force is F = −½ ρ
/// A |v| (v·n) (C_D v̂ + C_L (n − (n·v̂) v̂)): drag along −v̂ on the projected area, and lift perpendicular to it. Lift
/// is greatest at 45°, as for a flat plate. Each corner takes a third of the force, at the air velocity of its
/// position.
///
/// The sum at a corner is divided by 1 + h r, where r is an upper bound of the rate at which the force slows the corner. This
/// implicit step cannot reverse the motion of light cloth. The terminal velocity is too high by about h r/2 (0.5 % at 20
/// substeps). If h r is large (cloth lighter than any fabric) and varies strongly between corners, still air may add a
/// little energy.
///
/// The air velocity is u(x, t) = `velocity` · (1 + `gust` · s) plus turbulence. The gust is s = (sin φ + sin(2.3 φ +
/// 1))/2 with φ = 2π (`gust_frequency` t − k·x); k points along the wind with one wave per `gust_length`. The
/// turbulence is `turbulence` times a smooth noise in space, which moves with the mean wind (Taylor 1938, frozen
/// turbulence) and repeats after 4096 `turbulence_length`.
///
/// All values may change while the simulation runs. At the origin (that of the scene, before any [`crate::Solver::shift_origin`]) gusts and turbulence
/// continue from where they are. Elsewhere a new `gust_length`, `turbulence_length` or direction of `velocity` shifts them by an amount that grows
/// with the distance from the origin: it stretches or turns them about it. In [`crate::Instances`] both are functions of the number
/// of steps since the start: a change of `velocity`, `gust_frequency`, `turbulence_length` or [`crate::Settings::dt`] shifts them everywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wind {
    /// Mean velocity of the air [m/s], at most 1e6 in each direction.
    pub velocity: [f32; 3],
    /// Strength of the gusts relative to the mean velocity, 0 to 10.
    pub gust: f32,
    /// Frequency of the gusts \[Hz\], 0 to 1000.
    pub gust_frequency: f32,
    /// Distance between two gusts \[m\], 1e-3 to 1e6.
    pub gust_length: f32,
    /// Density of the air ρ [kg/m³], 0 to 1e6.
    pub density: f32,
    /// Drag coefficient C_D, 0 to 1e6.
    pub drag: f32,
    /// Lift coefficient C_L, 0 to 1e6.
    pub lift: f32,
    /// Amplitude of the turbulence [m/s], 0 to 1000: the greatest value of the noise in each direction.
    pub turbulence: f32,
    /// Size of the eddies \[m\], 1e-3 to 1e6.
    pub turbulence_length: f32,
}

impl Default for Wind {
    /// Still air at 20 °C at sea level, with the coefficients of a flat plate (Hoerner 1965: C_D = 1.2 for
    /// perpendicular flow).
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

impl Wind {
    /// Checks that every parameter is in range.
    pub(super) fn check(&self) -> Result<()> {
        check_moderate("wind velocity", self.velocity)?;
        for (what, value, range, words) in [
            ("gust", self.gust, 0.0..=10.0, "0 to 10"),
            ("gust frequency", self.gust_frequency, 0.0..=1e3, "0 to 1000 Hz"),
            ("gust length", self.gust_length, 1e-3..=1e6, "1e-3 to 1e6 m"),
            ("turbulence", self.turbulence, 0.0..=1e3, "0 to 1000 m/s"),
            ("turbulence length", self.turbulence_length, 1e-3..=1e6, "1e-3 to 1e6 m"),
        ] {
            if !range.contains(&value) {
                return Err(Error::invalid(what, value, words));
            }
        }
        for (what, value) in
            [("air density", self.density), ("drag coefficient", self.drag), ("lift coefficient", self.lift)]
        {
            check_non_negative(what, value)?;
            if value > 1e6 {
                return Err(Error::invalid(what, value, "at most 1e6"));
            }
        }
        Ok(())
    }
}
