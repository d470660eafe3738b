//! What can be read of contacts.

/// What particles have done to a collider in a step, on average over its time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ColliderForce {
    /// \[N\]
    pub force: [f32; 3],
    /// About the collider's position \[N m\].
    pub torque: [f32; 3],
}

/// What has been counted of contacts between particles, since the start or the last reset where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct ContactReport {
    /// Pairs in the list.
    pub pairs: u32,
    /// Pairs that met in the last substep.
    pub contacts: u32,
    /// The most pairs that were in it.
    pub most_pairs: u32,
    /// The most pairs that met in a substep.
    pub most_contacts: u32,
    /// Pairs and contacts that found no room, and elements that had too many others, or too wide a way, around them. More than 0: see
    /// [`super::SelfCollision::pairs_per_particle`].
    pub lost: u32,
    /// By how much of their thickness two things overlapped at the start of a substep, at most \[m\].
    pub deepest: f32,
    /// Searches.
    pub searches: u32,
    /// How often the way of a particle was cut, as it would have passed through something after all corrections, or would have left, from
    /// where it was stuck, to where nothing was sought. Only between surfaces.
    pub truncated: u32,
    /// Edges that passed through triangles at the end of the last step, as far as rounded arithmetic sees them. They are being parted. Only
    /// between surfaces.
    pub crossings: u32,
}
