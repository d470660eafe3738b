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
/// count since the start or the last of these events: a reset, a tear, a change of [`crate::Settings::self_collision`] or
/// [`crate::Settings::contact_events`], the first contact scales, the first seam that [`crate::Solver::set_constraints`] closes.
/// A replaced scene starts all but `growths` again.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct ContactReport {
    /// Pairs in the list; 0 while surfaces stand still.
    pub pairs: u32,
    /// Contacts of the last substep; 0 while surfaces stand still.
    pub contacts: u32,
    /// The greatest number of pairs that a search has found, also beyond the capacity. At least this number divided by
    /// the number of particles as [`super::SelfCollision::pairs_per_particle`] avoids losses.
    pub most_pairs: u32,
    /// The greatest number of contacts found in a substep, also beyond the capacity.
    pub most_contacts: u32,
    /// Capacities of the pair list and of the contact list, which grow unless
    /// [`super::SelfCollision::fixed_capacity`] is set.
    pub pair_capacity: u32,
    /// See [`Self::pair_capacity`].
    pub contact_capacity: u32,
    /// Number of times that a list has grown since the start or the last reset, which keeps the capacities; after a restore, that of the snapshot.
    /// Each time takes new buffers: raise [`super::SelfCollision::pairs_per_particle`] to allocate them at the start.
    pub growths: u32,
    /// Pairs and contacts beyond the capacity. If it keeps rising, the lists cannot grow further: raise the device's
    /// `max_storage_buffer_binding_size` and `max_buffer_size`, lower [`super::SelfCollision::margin`], or unset
    /// [`super::SelfCollision::fixed_capacity`].
    ///
    /// On the GPU, also counts elements with more than 20 000 others in the cells around them (7000 on a software
    /// adapter): raise the number of substeps. On the GPU, also intersections beyond the number of particles, of which
    /// the others are not resolved.
    pub lost: u32,
    /// Substeps in which all particles stood still and lost their velocity because a pair or a contact was lost. Raise
    /// [`super::SelfCollision::pairs_per_particle`] to avoid them. Only at [`super::SelfCollisionLevel::Surfaces`].
    pub halted: u32,
    /// The greatest overlap at the start of a substep, thickness minus distance \[m\].
    pub deepest: f32,
    /// Contacts with an overlap of more than half their thickness at the start of a substep, counted in each substep. If
    /// it rises, the contacts do not hold their load, such as a heavy body on light cloth; at the particle level
    /// particles may pass through each other.
    ///
    /// - First raise [`super::SelfCollision::iterations`], to 12 or 24.
    /// - Then raise [`crate::Settings::substeps`]; they do not replace iterations.
    /// - [`super::SelfCollisionLevel::Surfaces`] lets nothing pass even then.
    ///
    /// Overlaps at the start of a scene count too.
    pub deep_contacts: u32,
    /// Number of searches.
    pub searches: u32,
    /// Displacements that were truncated: at a division plane after all corrections, or at the bound within which the
    /// pair list of a truncated particle is valid. Only at [`super::SelfCollisionLevel::Surfaces`].
    pub truncated: u32,
    /// Edges that passed through triangles at the end of the last step, in rounded arithmetic. The solver resolves
    /// these intersections. Edges of ropes and rods, pairs of one body that are nearer than their thickness at rest, and elements that
    /// meet at a seam are not included. `None` unless the level is [`super::SelfCollisionLevel::Surfaces`]: particle contacts allow
    /// edges to cross, and only [`crate::scene::count_intersections`] counts them, on the host.
    pub crossings: Option<u32>,
}
