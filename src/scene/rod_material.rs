//! Cross-sections and materials of rods.

use super::Material;
use crate::error::{Error, Result, check_positive};
use std::f64::consts::PI;

/// The cross-section and the material of a rod: an ellipse of an isotropic elastic solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RodMaterial {
    /// The half axes of the cross-section along d₁ and d₂ \[m\]; equal for a circle.
    pub radii: [f32; 2],
    /// Young's modulus E \[Pa\].
    pub young: f32,
    /// Poisson's ratio ν: greater than −1, at most 0.5.
    pub poisson_ratio: f32,
    /// Density ρ [kg/m³].
    pub density: f32,
    /// Damping time \[s\] of all strains; see [`Material::damping_time`].
    pub damping_time: f32,
}

impl RodMaterial {
    /// A round rod without damping.
    pub const fn round(radius: f32, young: f32, poisson_ratio: f32, density: f32) -> Self {
        Self { radii: [radius; 2], young, poisson_ratio, density, damping_time: 0.0 }
    }

    /// The stiffnesses of the cross-section.
    pub fn stiffness(&self) -> RodStiffness {
        let [a, b] = self.radii.map(f64::from);
        let (young, poisson) = (f64::from(self.young), f64::from(self.poisson_ratio));
        let (shear, area) = (young / (2.0 * (1.0 + poisson)), PI * a * b);
        // Cowper 1966 for a circle.
        let correction = 6.0 * (1.0 + poisson) / (7.0 + 6.0 * poisson);
        RodStiffness {
            stretch: (young * area) as f32,
            shear: (correction * shear * area) as f32,
            bend: [(young * area * b * b / 4.0) as f32, (young * area * a * a / 4.0) as f32],
            twist: (shear * PI * a.powi(3) * b.powi(3) / (a * a + b * b)) as f32,
        }
    }

    /// Mass per length [kg/m].
    pub fn linear_density(&self) -> f32 {
        let [a, b] = self.radii.map(f64::from);
        (f64::from(self.density) * PI * a * b) as f32
    }

    pub(super) fn check(&self) -> Result<()> {
        for (axis, radius) in self.radii.into_iter().enumerate() {
            check_positive(&format!("radius {axis} of a rod"), radius)?;
        }
        check_positive("Young's modulus of a rod", self.young)?;
        check_positive("density of a rod", self.density)?;
        if !(self.poisson_ratio > -1.0 && self.poisson_ratio <= 0.5) {
            let what = "Poisson's ratio of a rod";
            return Err(Error::invalid(what, self.poisson_ratio, "greater than -1 and at most 0.5"));
        }
        let RodStiffness { stretch, shear, bend: [bend1, bend2], twist } = self.stiffness();
        for (name, value) in [
            ("stretch", stretch),
            ("shear", shear),
            ("bending about d1", bend1),
            ("bending about d2", bend2),
            ("twist", twist),
            ("linear density", self.linear_density()),
        ] {
            check_positive(&format!("stiffness or density of a rod ({name})"), value)?;
        }
        Ok(())
    }
}

/// The stiffnesses of a cross-section.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RodStiffness {
    /// EA \[N\].
    pub stretch: f32,
    /// κ GA \[N\] with the shear correction κ = 6 (1 + ν)/(7 + 6 ν) of a circle.
    pub shear: f32,
    /// EI about d₁ and about d₂ \[N m²\].
    pub bend: [f32; 2],
    /// GJ \[N m²\], with the torsion constant J = π a³ b³/(a² + b²).
    pub twist: f32,
}

impl RodMaterial {
    /// The moment of inertia of the frame of a segment \[kg m²\], at least `least` m l².
    pub(super) fn inertia(&self, length: f64, least: f32) -> f64 {
        let [a, b] = self.radii.map(f64::from);
        let mass = f64::from(self.linear_density()) * length;
        mass * ((a * a + b * b) / 4.0).max(f64::from(least) * length * length)
    }

    /// The material of a stretch-shear constraint: α = 1/(EA l).
    pub(super) fn segment(&self, length: f64) -> Material {
        let compliance = (1.0 / (f64::from(self.stiffness().stretch) * length)) as f32;
        Material { compliance, damping_time: self.damping_time, ..Material::RIGID }
    }

    /// The greatest stiffness of bending and twist \[N m²\].
    fn stiffest(&self) -> f32 {
        let RodStiffness { bend: [bend1, bend2], twist, .. } = self.stiffness();
        bend1.max(bend2).max(twist)
    }

    /// The material of a bend-twist constraint: α = l/K with the greatest stiffness K.
    pub(super) fn joint(&self, length: f64) -> Material {
        let compliance = (length / f64::from(self.stiffest())) as f32;
        Material { compliance, damping_time: self.damping_time, ..Material::RIGID }
    }

    pub(super) fn joint_scales(&self) -> [f32; 3] {
        let RodStiffness { bend: [bend1, bend2], twist, .. } = self.stiffness();
        [bend1, bend2, twist].map(|stiffness| (stiffness / self.stiffest()).sqrt())
    }
}
