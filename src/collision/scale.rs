//! Scales of thickness and friction by particle.

use crate::error::{Error, Result};

/// Scales of the thickness and of the friction of a particle's contact material, such as the values of a painted map.
///
/// An edge or a triangle has the mean of its particles. Values are stored in steps of 2⁻¹⁵.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactScale {
    /// Factor of [`super::ContactMaterial::thickness`], greater than 0 and at most 1.
    pub thickness: f32,
    /// Factor of both coefficients of [`super::ContactMaterial::friction`], 0 to 1. A contact has the geometric mean of
    /// its two sides, as for two materials; a collider has 1. It also scales a friction of
    /// [`crate::Scene::set_friction`].
    pub friction: f32,
}

impl Default for ContactScale {
    /// The values of the contact material: 1.
    fn default() -> Self {
        Self { thickness: 1.0, friction: 1.0 }
    }
}

/// Steps of 1; also in `shaders/common/contacts.wgsl`.
const STEPS: f32 = 32768.0;

impl ContactScale {
    pub(crate) fn check(&self, particle: u32) -> Result<()> {
        if !(self.thickness > 0.0 && self.thickness <= 1.0) {
            let what = format!("scale of the thickness of particle {particle}");
            return Err(Error::invalid(what, self.thickness, "greater than 0 and at most 1"));
        }
        if !(0.0..=1.0).contains(&self.friction) {
            return Err(Error::invalid(
                format!("scale of the friction of particle {particle}"),
                self.friction,
                "0 to 1",
            ));
        }
        Ok(())
    }

    /// Both scales in steps: the thickness in the lower 16 bits.
    pub(crate) fn pack(self) -> u32 {
        let steps = |scale: f32| (scale * STEPS).round_ties_even() as u32;
        steps(self.thickness).max(1) | steps(self.friction) << 16
    }

    pub(crate) fn unpack(word: u32) -> Self {
        Self { thickness: (word & 0xffff) as f32 / STEPS, friction: (word >> 16) as f32 / STEPS }
    }

    /// The mean of the scales of an element of one, two or three particles. Counterpart: `mean_scale` in
    /// `shaders/common/contacts.wgsl`.
    pub(crate) fn mean(words: impl Iterator<Item = u32>) -> Self {
        let (mut count, mut sums) = (0, [0, 0]);
        for word in words {
            sums = [sums[0] + (word & 0xffff), sums[1] + (word >> 16)];
            count += 1;
        }
        let share = match count {
            1 => 1.0,
            2 => 0.5,
            _ => 1.0 / 3.0,
        };
        let [thickness, friction] = sums.map(|sum| (sum as f32 * (1.0 / STEPS)) * share);
        Self { thickness, friction }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_equal_scales_is_exact() {
        for scale in [1.0, 0.5, 0.25, 1.0 / 32768.0] {
            let scale = ContactScale { thickness: scale, friction: scale };
            let word = scale.pack();
            assert_eq!(ContactScale::unpack(word), scale);
            for count in 1..=3 {
                assert_eq!(ContactScale::mean(std::iter::repeat_n(word, count)), scale, "{count}");
            }
        }
        let contacts = include_str!("../../shaders/common/contacts.wgsl");
        assert!(contacts.contains(&format!("const SCALE_STEPS = {STEPS:?};")));
    }
}
