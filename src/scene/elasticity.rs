//! Elasticity of soft and rigid bodies: constraints and material laws.

use super::Material;
use crate::error::{Error, Result, check_positive};

/// The elastic model of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Elasticity {
    /// Springs along the edges of the tetrahedra, and their volumes. [`Elasticity::elastic`] chooses all parameters.
    ///
    /// The springs have a modulus Eₛ. On the lattice of a [`super::SoftBody`] with spacing s, cube edges inside the
    /// body have k = 0.4 Eₛ s, face diagonals 0.8 Eₛ s. They form an isotropic solid with a Poisson ratio of ¼. On
    /// other meshes k = Eₛ Σ V/L² over the tetrahedra of an edge (Van Gelder 1998), which is an approximation.
    ///
    /// Springs and volumes together have the shear modulus G = 0.4 Eₛ and the bulk modulus ⅔ Eₛ + K. Young's modulus is
    /// `E = 9 (⅔ Eₛ + K) G/(3 (⅔ Eₛ + K) + G)`. This determines Eₛ: it equals E without volumes and E/1.2 with rigid
    /// volumes.
    Elastic {
        /// Young's modulus E \[Pa\] of springs and volumes together.
        young: f32,
        /// Bulk modulus K of the volumes \[Pa\], in addition to that of the springs; 0 for none, infinite for rigid.
        ///
        /// - K = E: a Poisson ratio of 0.40.
        /// - K from 0.5 E to 2 E: the body recovers from flat, inverted and folded shapes, and from most random ones.
        /// - K = 0: a flat or mirrored body stays so, because its springs are at rest.
        /// - K above 5 E: single vertices may stay on the wrong side.
        bulk: f32,
        /// Damping time of springs and volumes \[s\]; see [`Material::damping_time`].
        ///
        /// Above ten times the value of [`Elasticity::elastic`] and above ten substeps, a body stiffer than 1 MPa may
        /// stay partly inverted.
        damping_time: f32,
    },
    /// A stable neo-Hookean solid (Macklin and Müller 2021): [`crate::NeoHookean`] and [`crate::Volume`] constraints of
    /// each tetrahedron. [`Elasticity::neo_hookean`] chooses the damping time.
    ///
    /// The energy per volume is ½ μ (tr FᵀF + J² − 4 J) + ½ λ (J − 1)² with J = det F. Under uniaxial tension a block of
    /// stretch s has J = (2 μ + λ − μ/s)/(μ + λ) and the force per rest area μ (s − J/s²). Small strains have the modulus
    /// and the Poisson ratio given, on any mesh. The body recovers from flat shapes, and up to a Poisson
    /// ratio of 0.4 from inverted ones.
    ///
    /// Linear tetrahedra are too stiff in bending, and the more so the closer the Poisson ratio is to ½; see
    /// `docs/constraints.md`.
    NeoHookean {
        /// Young's modulus E of small strains \[Pa\].
        young: f32,
        /// Poisson ratio ν of small strains, 0 to 0.4999.
        poisson_ratio: f32,
        /// Damping time of both constraints \[s\]; see [`Material::damping_time`].
        damping_time: f32,
    },
    /// One shape matching group of all particles: rigid, or elastic as a whole.
    Rigid {
        /// Compliance in s².
        shape: Material,
    },
    /// One shape matching group per particle, of the particles at most `rings` edges away: a soft body.
    Regions {
        /// Radius of a group in edges, 1 to 8.
        rings: u32,
        /// Compliance of each group in s².
        shape: Material,
    },
}

impl Elasticity {
    /// An elastic solid of Young's modulus `young` \[Pa\] that recovers from flat, inverted and folded shapes, and from most random
    /// ones.
    ///
    /// `bulk` is `young`: a Poisson ratio of 0.40. `damping_time` is s √(ρ/E), the time that sound takes through an
    /// element. `spacing` s \[m\] is the edge of a lattice cube or of a tetrahedron, `density` ρ is in kg/m³. This
    /// damping is critical for single elements; a body of n elements across has a damping ratio of about 1/n. A body of
    /// length L recovers from a full inversion in about 15 L √(ρ/E).
    ///
    /// ```
    /// use supple::Elasticity;
    /// let Elasticity::Elastic { bulk, damping_time, .. } = Elasticity::elastic(1e5, 1000.0, 0.1) else { unreachable!() };
    /// assert!(bulk == 1e5 && (damping_time - 0.01).abs() < 1e-6);
    /// ```
    pub fn elastic(young: f32, density: f32, spacing: f32) -> Self {
        Self::Elastic { young, bulk: young, damping_time: sound_time(young, density, spacing) }
    }

    /// A stable neo-Hookean solid of Young's modulus `young` \[Pa\] and the given Poisson ratio, 0 to 0.4999.
    ///
    /// `damping_time` is s √(ρ/E) as in [`Elasticity::elastic`]. `spacing` s \[m\] is the edge of a lattice cube or of a
    /// tetrahedron, `density` ρ is in kg/m³.
    pub fn neo_hookean(young: f32, poisson_ratio: f32, density: f32, spacing: f32) -> Self {
        Self::NeoHookean { young, poisson_ratio, damping_time: sound_time(young, density, spacing) }
    }

    pub(crate) fn check(&self) -> Result<()> {
        match *self {
            Self::NeoHookean { young, poisson_ratio, damping_time } => {
                check_positive("Young's modulus of a body", young)?;
                Material { damping_time, ..Material::RIGID }.check("a body")?;
                if (0.0..=MAX_POISSON_RATIO).contains(&poisson_ratio) {
                    return Ok(());
                }
                Err(Error::invalid("Poisson ratio of a body", poisson_ratio, "0 to 0.4999"))
            }
            Self::Elastic { young, bulk, damping_time } => {
                check_positive("Young's modulus of a body", young)?;
                Material { damping_time, ..Material::RIGID }.check("a body")?;
                if bulk >= 0.0 { Ok(()) } else { Err(Error::invalid("bulk modulus of a body", bulk, "at least 0")) }
            }
            Self::Rigid { shape } => shape.check("the shape of a body"),
            Self::Regions { rings, shape } => {
                if !(1..=8).contains(&rings) {
                    return Err(Error::invalid("rings of a body's regions", f64::from(rings), "1 to 8"));
                }
                shape.check("the shape of a body")
            }
        }
    }
}

/// The greatest Poisson ratio of a neo-Hookean solid.
const MAX_POISSON_RATIO: f32 = 0.4999;

/// The Lamé parameters (λ, μ) \[Pa\] of small strains.
pub(super) fn lame(young: f32, poisson_ratio: f32) -> [f64; 2] {
    let [young, ratio] = [young, poisson_ratio].map(f64::from);
    [young * ratio / ((1.0 + ratio) * (1.0 - 2.0 * ratio)), young / (2.0 * (1.0 + ratio))]
}

/// The time \[s\] that sound takes through an element of edge `spacing` \[m\].
pub(crate) fn sound_time(young: f32, density: f32, spacing: f32) -> f32 {
    spacing * (density / young).sqrt()
}

/// The spring modulus Eₛ of [`Elasticity::Elastic`] \[Pa\]: the positive root of 2.4 Eₛ² + (3.6 K − 2.4 E) Eₛ = 3 E K.
pub(super) fn spring_modulus(young: f32, bulk: f32) -> f64 {
    let young = f64::from(young);
    if bulk == 0.0 {
        return young;
    }
    let part = young / f64::from(bulk);
    let b = 3.6 - 2.4 * part;
    young * 6.0 / (b + (b * b + 28.8 * part).sqrt())
}

#[cfg(test)]
mod tests {
    use super::spring_modulus;

    #[test]
    fn springs_and_volumes_together_have_youngs_modulus() {
        for young in [1e3, 2e5, 1e9f32] {
            for ratio in [0.0, 1e-3, 0.5, 1.0, 10.0, 1e6f32] {
                let springs = spring_modulus(young, ratio * young);
                let (shear, bulk) = (0.4 * springs, springs / 1.5 + f64::from(ratio * young));
                let found = 9.0 * bulk * shear / (3.0 * bulk + shear) / f64::from(young);
                assert!((found - 1.0).abs() < 1e-6, "E {young}, K/E {ratio}: {found} E");
            }
            assert!((spring_modulus(young, f32::INFINITY) * 1.2 / f64::from(young) - 1.0).abs() < 1e-6);
        }
    }
}
