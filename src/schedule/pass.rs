//! The passes of a step.

use crate::schedule::coloring::Span;

/// Number of rounds of [`Pass::BuildDivisionPlanes`]: at most 4, one word each in the corrections of a particle.
pub(crate) const DIVISION_ROUNDS: u32 = 4;

/// Largest number of iterations of contacts whose corrections are summed before they are applied.
pub(crate) const MOST_SUMMED: u32 = 8;

/// One pass over particles or constraints; every pass is one GPU dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pass {
    /// Kinematic particles: computes the velocity that reaches the target at the end of the step.
    Targets,
    /// Computes the skinned poses from joint matrices, and the velocities by which pinned skinned particles reach theirs.
    StartSkinned,
    /// Moves skinned particles back within their limits.
    LimitSkinned {
        /// True for the first one in the substep, which moves the pose.
        is_first: bool,
    },
    /// Ends the step of the skinned poses.
    FinishSkinned,
    /// Converts velocities to displacements: d = h v.
    Start,
    /// `Start` and `Predict` of orientations: d = h ω + h² w τ, the rotation vector of the substep.
    StartOrientations,
    /// Turns orientations by d, and predicts their next substep.
    IntegrateOrientations,
    /// Turns orientations by d, writes their angular velocities ω = d/h and their quaternions.
    FinishOrientations,
    /// Computes accelerations by wind and air drag, fields and forces.
    Accelerations,
    /// d += h² a; from here on x + d is the predicted position.
    Predict,
    /// Lets the plastic constraints of a kind yield and break.
    Flow {
        /// Index in [`crate::constraints::KINDS`].
        kind: usize,
    },
    /// Projects the constraints of one colour.
    Project {
        /// Index in [`crate::constraints::KINDS`].
        kind: usize,
        /// The colour.
        color: u32,
        /// Its records.
        span: Span,
        /// True if λ starts at 0.
        first_iteration: bool,
    },
    /// Solves the constraints of the tiles of one phase.
    Tiles {
        /// Index in [`crate::constraints::KINDS`].
        kind: usize,
        /// The phase.
        phase: u32,
        /// Its records.
        span: Span,
        /// True if λ starts at 0.
        first_iteration: bool,
    },
    /// Solves the trees of one colour: each hub with its links (two-particle constraints) as one linear system.
    Trees {
        /// Index in [`crate::constraints::KINDS`].
        kind: usize,
        /// The colour.
        color: u32,
        /// Its records.
        span: Span,
        /// True if λ starts at 0.
        first_iteration: bool,
    },
    /// Solves the constraints of the clusters of one layer.
    Clusters {
        /// Index in [`crate::constraints::KINDS`].
        kind: usize,
        /// The layer.
        layer: u32,
        /// Its records.
        span: Span,
        /// True if λ starts at 0.
        first_iteration: bool,
    },
    /// Evaluates the constraints of a kind in the chains of one colour.
    LinearizeChains {
        /// Index in [`crate::constraints::KINDS`].
        kind: usize,
        /// The colour.
        color: u32,
        /// Its records.
        span: Span,
        /// True if λ starts at 0.
        first_iteration: bool,
    },
    /// Solves the chains of rods of one colour, each as one linear system.
    SolveChains {
        /// The colour.
        color: u32,
        /// Its chains.
        span: Span,
        /// True if λ starts at 0.
        first_iteration: bool,
    },
    /// Projects constraints in parallel by mass splitting: the overflow, or all in a Jacobi sweep.
    Split {
        /// Index in [`crate::constraints::KINDS`].
        kind: usize,
        /// Its records.
        span: Span,
        /// True if λ starts at 0.
        first_iteration: bool,
    },
    /// Sums the impulses of `Split` in chunks.
    GatherChunks {
        /// Index in [`crate::constraints::KINDS`].
        kind: usize,
    },
    /// Adds the sums of the chunks to the displacements of the particles.
    GatherHubs {
        /// Index in [`crate::constraints::KINDS`].
        kind: usize,
    },
    /// Sets the sums of λ of a kind to 0.
    ClearForceSums {
        /// Index in [`crate::constraints::KINDS`].
        kind: usize,
    },
    /// Adds the λ of a kind to their sums over the step.
    AddForceSums {
        /// Index in [`crate::constraints::KINDS`].
        kind: usize,
    },
    /// Saves the displacements of the particles of skins, before the constraints within skins.
    SaveDisplacements,
    /// Removes from each skin the angular momentum that the constraints within it have created since
    /// `SaveDisplacements`.
    RestoreMomentum,
    /// Solves the attachments, colour by colour in one workgroup.
    SolveAttachments {
        /// True if λ starts at 0.
        first_iteration: bool,
    },
    /// Adds the forces of attachments to those on colliders.
    AddAttachmentForces,
    /// Computes the mean forces of attachments in the step, and breaks those that exceed their break force.
    FinishAttachments,
    /// Limits the distance of particles to their pins by the tether length (long-range attachments).
    SolveTethers,
    /// Marks the pair list as expired if a particle has moved too far.
    ValidatePairs,
    /// A pass of the search for pairs; returns at once if the pair list is valid.
    Search(SearchPass),
    /// Finds the contacts of this substep in the pair list.
    FindContacts,
    /// Adds contacts that push edges out of intersected triangles.
    ResolveIntersections,
    /// Computes the corrections of contacts.
    SolveContacts {
        /// True for the last one in the substep: neither over-relaxed, nor with a part of the change in the one before.
        is_last: bool,
        /// Index of the sum of corrections that it completes. The last before `ApplyCorrections` completes 0; the indices
        /// alternate.
        sum: u32,
        /// True if the corrections of the iteration before have not been applied.
        continues: bool,
    },
    /// Adds the sum of its corrections to each displacement.
    ApplyCorrections,
    /// Builds division planes between pairs that would still pass through each other (Chen et al. 2025).
    BuildDivisionPlanes {
        /// Number of the round; later rounds return at once if the previous one truncated no displacement.
        round: u32,
    },
    /// Truncates displacements in front of the division planes.
    TruncateDisplacements,
    /// Clears the list of contact events, and the table of the contacts of the step.
    ClearContactEvents,
    /// Adds the contacts of the substep to the table of the step.
    NoteContacts,
    /// Adds the contacts with colliders to the table of the step.
    NoteColliderContacts,
    /// Lists the contacts that began, continued and ended in the step.
    CollectContactEvents,
    /// Clears the impulses on colliders.
    ClearColliderContacts,
    /// Marks the colliders in each slab of space for the step, so that particles do not test all of them.
    MarkSlabs,
    /// Interpolates the colliders at the start and at the end of the substep.
    InterpolateColliders,
    /// Finds the contacts of triangles with colliders.
    CollideTriangles,
    /// Moves the particles of triangles that are in contact with colliders.
    ApplyTriangleContacts,
    /// Solves contacts with colliders, with friction.
    Collide {
        /// True for the first one in the substep, which removes overlap.
        is_first: bool,
    },
    /// `Collide`, then `IntegrateAndPredict`.
    CollideAndPredict,
    /// `Velocity`, then adds restitution to displacements and, at the surface level, removes the recovery from collider
    /// overlap.
    ApplyRestitution {
        /// True if `Predict` of the next substep follows.
        predicts: bool,
    },
    /// Moves colliders to their targets.
    CommitColliders,
    /// Marks the colliders that each block of particles touches.
    MarkTouchedColliders,
    /// Sums the forces on colliders.
    ColliderForces,
    /// A pass that writes the grids of the elements at the end of the step, for the search for intersections.
    GridsForIntersections(SearchPass),
    /// Clears the intersections of the last step.
    ClearIntersections,
    /// Finds the edges that intersect triangles.
    FindIntersections,
    /// x += d; the displacement is kept as the new velocity.
    Velocity,
    /// `Velocity`, then `Predict` of the next substep.
    IntegrateAndPredict,
    /// `IntegrateAndPredict`, and `SolveTethers` of free particles with the moved pins, for up to 8 pins.
    IntegrateTethered,
    /// `IntegrateAndPredict` of free particles, then `SolveTethers` with the moved pins.
    IntegrateFree,
    /// `IntegrateAndPredict` of pinned particles.
    IntegratePinned,
    /// Damps the non-rigid motion of each body.
    BodyDamping,
    /// Writes the velocities v = d/h.
    Finish,
    /// Moves followers.
    Follow,
    /// Computes the normals of the surfaces.
    Normals,
}

impl Pass {
    /// The index in [`crate::constraints::KINDS`] of the kind that the pass solves.
    pub(crate) fn kind(self) -> Option<usize> {
        match self {
            Self::Project { kind, .. }
            | Self::Tiles { kind, .. }
            | Self::Trees { kind, .. }
            | Self::Clusters { kind, .. }
            | Self::Split { kind, .. }
            | Self::LinearizeChains { kind, .. }
            | Self::GatherChunks { kind }
            | Self::GatherHubs { kind }
            | Self::ClearForceSums { kind }
            | Self::AddForceSums { kind }
            | Self::Flow { kind } => Some(kind),
            _ => None,
        }
    }
}

/// A pass of the search, which writes the elements into hashed grids and then visits the cells near each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchPass {
    /// Clears the cells, and stores the predicted positions of the particles.
    ClearCells,
    /// Adds the elements to the lists of their cells.
    InsertElements,
    /// Lists the pairs.
    FindPairs,
    /// Counts the pairs and resets the state of the search; runs even if the list is valid.
    FinishSearch,
}

impl SearchPass {
    /// All passes, in order.
    pub const ALL: [Self; 4] = [Self::ClearCells, Self::InsertElements, Self::FindPairs, Self::FinishSearch];

    /// The passes that write the grids.
    pub const GRIDS: [Self; 2] = [Self::ClearCells, Self::InsertElements];
}
