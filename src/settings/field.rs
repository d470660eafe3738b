//! Fields of acceleration.

use super::check_moderate;
use crate::error::{Error, Result};

/// The greatest number of fields.
pub const MAX_FIELDS: usize = 8;

/// A field of acceleration.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Field {
    /// No field.
    #[default]
    None,
    /// Towards a point: a = S r̂/(1 + (r/R)²) at the distance r from it; 0 at the point itself.
    Point {
        /// The point \[m\].
        position: [f32; 3],
        /// Strength S [m/s²]; negative repels.
        strength: f32,
        /// Radius R \[m\] of half the strength, 1e-6 to 1e6 m.
        radius: f32,
    },
    /// Around an axis: a = S n × ρ̂/(1 + (ρ/R)²), with the radial vector ρ from the axis along n; 0 on the axis itself.
    Vortex {
        /// A point on the axis \[m\].
        position: [f32; 3],
        /// The direction of the axis, longer than 1e-6; the rotation is counterclockwise if the axis points at
        /// the viewer.
        axis: [f32; 3],
        /// Strength S [m/s²].
        strength: f32,
        /// Radius R \[m\] of half the strength, 1e-6 to 1e6 m.
        radius: f32,
    },
}

impl Field {
    /// Fills the slots with the given fields and [`Field::None`]. Fields beyond [`MAX_FIELDS`] are dropped.
    pub fn slots(fields: &[Self]) -> [Self; MAX_FIELDS] {
        std::array::from_fn(|place| fields.get(place).copied().unwrap_or_default())
    }

    pub(super) fn check(&self, place: usize) -> Result<()> {
        let of = |what: &str| format!("{what} of field {place}");
        let (position, strength, radius) = match *self {
            Self::None => return Ok(()),
            Self::Point { position, strength, radius } => (position, strength, radius),
            Self::Vortex { position, axis, strength, radius } => {
                check_moderate(&of("axis"), axis)?;
                let length = axis.iter().map(|component| component * component).sum::<f32>().sqrt();
                if length < 1e-6 {
                    return Err(Error::invalid(of("length of the axis"), length, "at least 1e-6"));
                }
                (position, strength, radius)
            }
        };
        check_moderate(&of("position"), position)?;
        check_moderate(&of("strength"), [strength; 3])?;
        if (1e-6..=1e6).contains(&radius) { Ok(()) } else { Err(Error::invalid(of("radius"), radius, "1e-6 to 1e6 m")) }
    }
}
