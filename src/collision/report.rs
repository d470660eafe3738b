//! Contact results that a program can read.

/// Mean force and torque of particles on a collider in a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ColliderForce {
    /// Force \[N\].
    pub force: [f32; 3],
    /// Torque about the collider's position \[N m\].
    pub torque: [f32; 3],
}

/// Counters of contacts between particles; contacts with colliders are not included. Unless stated otherwise, they
/// count since the start, the last reset or the last change of [`crate::Settings::self_collision`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct ContactReport {
    /// Pairs in the list.
    pub pairs: u32,
    /// Contacts of the last substep.
    pub contacts: u32,
    /// The greatest length of the pair list.
    pub most_pairs: u32,
    /// The greatest number of contacts in a substep.
    pub most_contacts: u32,
    /// Pairs and contacts beyond the capacity; raise [`super::SelfCollision::pairs_per_particle`] or lower the margin.
    /// Also counts elements with more than 32 768 neighbours, or with a path of more than 4096 cells in a substep.
    pub lost: u32,
    /// The greatest overlap at the start of a substep, thickness minus distance \[m\].
    pub deepest: f32,
    /// Number of searches.
    pub searches: u32,
    /// Displacements that were truncated: at a division plane after all corrections, or at the bound within which the
    /// pair list of a truncated particle is valid. Only at [`super::SelfCollisionLevel::Surfaces`].
    pub truncated: u32,
    /// Edges that passed through triangles at the end of the last step, in rounded arithmetic. The solver resolves
    /// these intersections. `None` unless the level is [`super::SelfCollisionLevel::Surfaces`]: particle contacts allow
    /// edges to cross, and only [`crate::scene::count_intersections`] counts them, on the host.
    pub crossings: Option<u32>,
}
