//! How things behave that touch: thickness, friction, restitution, and what touches what.

use crate::error::{Error, Result};

/// How many contact materials a scene may have.
pub const MAX_CONTACT_MATERIALS: usize = 16;

/// How particles or a collider behave when they touch something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactMaterial {
    /// The distance \[m\] that two particles, edges or triangles of this material keep: the thickness of a cloth, the diameter
    /// of a rope. Between two materials it is the mean of both; from a collider half of it is kept. 1e-6 to 1e3.
    pub thickness: f32,
    /// Friction against the same material; against another the geometric mean of both, unless [`crate::Scene::set_friction`]
    /// says otherwise.
    pub friction: Friction,
    /// Coefficient of restitution e, 0 to 1: what is left of the speed of approach after an impact on a collider; against another
    /// material the larger of both. Impacts below 2 g h are plastic, whatever e.
    pub restitution: f32,
    /// The groups that it is in, a bit each.
    pub groups: u32,
    /// The groups that it touches, a bit each: two things touch where each is in a group that the other touches.
    pub touches: u32,
}

impl Default for ContactMaterial {
    /// 5 mm thick, with friction 0.5.
    fn default() -> Self {
        let friction = Friction { statics: 0.5, kinetic: 0.5 };
        Self { thickness: 0.005, friction, restitution: 0.0, groups: 1, touches: u32::MAX }
    }
}

impl ContactMaterial {
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

/// Coulomb friction: a contact sticks while the tangential force is at most `statics` times the normal force; where it slides,
/// the force is `kinetic` times the normal force.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Friction {
    /// The coefficient μ of static friction, 0 to 1e3.
    pub statics: f32,
    /// The coefficient μ of kinetic friction, at most that of static friction.
    pub kinetic: f32,
}

impl Friction {
    /// No friction.
    pub const NONE: Self = Self { statics: 0.0, kinetic: 0.0 };

    /// The same coefficient at rest and in motion.
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

    /// What two materials have between them where nothing else is said.
    pub(crate) fn between(self, other: Self) -> Self {
        let mean = |a: f32, b: f32| (f64::from(a) * f64::from(b)).sqrt() as f32;
        Self { statics: mean(self.statics, other.statics), kinetic: mean(self.kinetic, other.kinetic) }
    }
}

/// An entry of a scene's list of contact materials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ContactMaterialId(pub(crate) u8);

impl ContactMaterialId {
    /// Its place in the list; 0 is what particles are of that nobody has said anything about.
    pub fn index(self) -> usize {
        self.0.into()
    }
}
