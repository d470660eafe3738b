//! Friction of a particle with a collider: limited by µ times the sum of the normal displacements of all passes of the substep.
//! Counterpart: `shaders/collision/collide/friction.wgsl`.

use crate::geometry::vector::length;
use glam::Vec3;

/// The friction of a particle with one collider in a substep.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ColliderFriction {
    /// Index of the collider; `None` without a contact.
    pub owner: Option<usize>,
    /// True if the particle hit the collider after a slip longer than the contact distance: the first pass determines its friction.
    pub is_impact: bool,
    /// Displacements of the particle by this collider: by friction, and along the normal \[m\].
    pub displacement: Vec3,
    pub push: f32,
}

/// A contact of a particle with a collider: slip, displacement along the normal and restitution in the pass \[m\].
pub(super) struct Slip {
    /// Index of the collider.
    pub index: usize,
    pub slip: Vec3,
    pub push: f32,
    pub back: f32,
    /// Time of impact: 0 at the start of the substep, 1 at its end.
    pub time: f32,
    /// The contact distance.
    pub keep: f32,
}

impl Slip {
    /// The friction of all passes up to this one, and the friction that changes only the velocity. `before` is the
    /// friction with the same collider in earlier passes.
    ///
    /// Friction moves the particle back by at most the slip after the impact plus the contact distance: a round collider
    /// may end there. With restitution, friction on the rest of the slip changes only the velocity.
    pub fn after_friction(&self, before: ColliderFriction, [statics, kinetic]: [f32; 2]) -> (ColliderFriction, Vec3) {
        let &Self { index, slip, push, back, time, keep } = self;
        let l = length(slip);
        let mut friction = ColliderFriction { owner: Some(index), ..before };
        friction.push = (before.push + push) + back;
        if before.is_impact {
            return (friction, Vec3::ZERO);
        }
        friction.is_impact = l * time > keep;
        let held = if friction.is_impact { slip * ((1.0 - time) + keep / l) } else { slip };
        // The friction of the substep that would end all slip.
        let sticking = before.displacement - held;
        let l = if back > 0.0 { l } else { length(sticking) };
        let share = if l <= statics * friction.push { 1.0 } else { kinetic * friction.push / l };
        friction.displacement = sticking * share;
        (friction, (slip - held) * share)
    }
}
