//! Contact materials: thickness, friction, restitution and collision groups.

use crate::error::{Error, Result};

/// The greatest number of contact materials of a scene.
pub const MAX_CONTACT_MATERIALS: usize = 16;

/// Contact parameters of particles or of a collider.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactMaterial {
    /// The distance \[m\] between two particles, edges or triangles of this material, 1e-6 to 1e3: the thickness of a
    /// cloth, the diameter of a rope. Two different materials use the mean; a collider uses half.
    pub thickness: f32,
    /// Friction against the same material. Two different materials use the geometric mean, unless
    /// [`crate::Scene::set_friction`] sets another value.
    pub friction: Friction,
    /// Coefficient of restitution e, 0 to 1: the ratio of the speeds after and before an impact on a collider. Two
    /// different materials use the greater one. Impacts slower than 2 g h are inelastic for any e, h being the substep.
    pub restitution: f32,
    /// Bits of the groups of this material.
    pub groups: u32,
    /// Bits of the groups that this material collides with. Two materials collide if each has a group that the other
    /// collides with.
    pub touches: u32,
}

impl Default for ContactMaterial {
    /// Thickness 5 mm, friction 0.5.
    fn default() -> Self {
        let friction = Friction { statics: 0.5, kinetic: 0.5 };
        Self { thickness: 0.005, friction, restitution: 0.0, groups: 1, touches: u32::MAX }
    }
}

impl ContactMaterial {
    pub(crate) fn collides_with(&self, other: &Self) -> bool {
        self.groups & other.touches != 0 && other.groups & self.touches != 0
    }

    pub(crate) fn check(&self, what: &str) -> Result<()> {
        if !(1e-6..=1e3).contains(&self.thickness) {
            return Err(Error::invalid(format!("thickness of {what}"), self.thickness, "1e-6 to 1e3 m"));
        }
        self.friction.check(what)?;
        if !(0.0..=1.0).contains(&self.restitution) {
            return Err(Error::invalid(format!("restitution of {what}"), self.restitution, "0 to 1"));
        }
        Ok(())
    }
}

/// Coulomb friction. A contact sticks while the tangential force is at most `statics` times the normal force. If it
/// slides, the tangential force is `kinetic` times the normal force.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Friction {
    /// Coefficient μ of static friction, 0 to 1e3.
    pub statics: f32,
    /// Coefficient μ of kinetic friction, at most that of static friction.
    pub kinetic: f32,
}

impl Friction {
    /// No friction.
    pub const NONE: Self = Self { statics: 0.0, kinetic: 0.0 };

    /// The same coefficient for static and kinetic friction.
    pub const fn coulomb(coefficient: f32) -> Self {
        Self { statics: coefficient, kinetic: coefficient }
    }

    pub(crate) fn check(&self, what: &str) -> Result<()> {
        if !(0.0..=1e3).contains(&self.statics) {
            return Err(Error::invalid(format!("static friction of {what}"), self.statics, "0 to 1000"));
        }
        if !(0.0..=self.statics).contains(&self.kinetic) {
            return Err(Error::invalid(
                format!("kinetic friction of {what}"),
                self.kinetic,
                "0 to that of static friction",
            ));
        }
        Ok(())
    }

    /// The default friction between two materials.
    pub(crate) fn between(self, other: Self) -> Self {
        let mean = |a: f32, b: f32| (f64::from(a) * f64::from(b)).sqrt() as f32;
        Self { statics: mean(self.statics, other.statics), kinetic: mean(self.kinetic, other.kinetic) }
    }
}

/// An entry of a scene's list of contact materials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ContactMaterialId(pub(crate) u8);

impl ContactMaterialId {
    /// The index in the list. The default material of particles is 0.
    pub fn index(self) -> usize {
        self.0.into()
    }
}
