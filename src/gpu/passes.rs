//! The passes over particles as a table: text, bindings, and size of the dispatch. Pipelines, bind groups and the recording loop are derived
//! from it. A new pass is a variant of [`Pass`], a shader, and a row here.

use super::buffers::Buffers;
use super::stage::Slot;
use super::stage::Slot::{Read, Uniform, Write};
use crate::schedule::plan::Pass;
use crate::sim::controls::Controls;

/// Selects a buffer of the solver.
type Select = fn(&Buffers) -> &wgpu::Buffer;

/// Threads or workgroups of a dispatch.
#[derive(Debug, Clone, Copy)]
pub(super) enum Count {
    /// One thread each.
    Threads(fn(&Controls) -> u32),
    /// One workgroup each.
    Workgroups(fn(&Controls) -> u32),
}

/// One row of the table.
#[derive(Debug)]
pub(super) struct PassInfo {
    pub pass: Pass,
    /// Entry point of the shader, and name of the pipeline.
    pub entry: &'static str,
    pub text: &'static str,
    /// In the order of the binding numbers.
    pub bindings: &'static [(Slot, Select)],
    pub count: Count,
}

/// The row of a pass; `None` for passes over constraints and contacts, which depend on the scene.
pub(super) fn row_of(pass: Pass) -> Option<usize> {
    PASSES.iter().position(|info| info.pass == pass)
}

const PARTICLES: Count = Count::Threads(|controls| controls.scene.particle_count() as u32);

/// Params, positions, displacements, residuals: all that integration changes.
const MOTION: [(Slot, Select); 4] =
    [(Uniform, |b| &b.params), (Write, |b| &b.positions), (Write, |b| &b.displacements), (Write, |b| &b.residuals)];

const BODY_DAMPING: &str = concat!(
    include_str!("../../shaders/integrate/body_damping.wgsl"),
    include_str!("../../shaders/integrate/shared/rigid_motion.wgsl")
);

const RESTORE_MOMENTUM: &str = concat!(
    include_str!("../../shaders/integrate/restore_momentum.wgsl"),
    include_str!("../../shaders/integrate/shared/rigid_motion.wgsl")
);

/// Params, positions, displacements; skins, members, saved displacements.
const SKINS: [(Slot, Select); 6] = [
    (Uniform, |b| &b.params),
    (Read, |b| &b.positions),
    (Write, |b| &b.displacements),
    (Read, |b| &b.skin_rows),
    (Read, |b| &b.skin_members),
    (Write, |b| &b.saved_displacements),
];

const ORIENTATIONS: &str = concat!(
    include_str!("../../shaders/integrate/orientations.wgsl"),
    include_str!("../../shaders/integrate/shared/quarantined.wgsl")
);

/// Motion; velocities, status, forces, frames.
const TURN: [(Slot, Select); 8] = [
    MOTION[0],
    MOTION[1],
    MOTION[2],
    MOTION[3],
    (Write, |b| &b.velocities),
    (Write, |b| &b.status),
    (Read, |b| &b.forces),
    (Write, |b| &b.frames),
];

const EACH_ORIENTATION: Count = Count::Threads(|controls| controls.compiled.orientation_count);

/// Params; rows, poses, positions, states, displacements, binds, joints, velocities.
const SKINNED: [(Slot, Select); 9] = [
    MOTION[0],
    (Read, |b| &b.skinned.rows),
    (Write, |b| &b.skinned.poses),
    (Read, |b| &b.positions),
    (Write, |b| &b.skinned.states),
    (Write, |b| &b.displacements),
    (Read, |b| &b.skinned.binds),
    (Read, |b| &b.skinned.joints),
    (Write, |b| &b.velocities),
];

/// A pass over the skinned particles.
const fn skinned(pass: Pass, entry: &'static str) -> PassInfo {
    let text = include_str!("../../shaders/integrate/skinned.wgsl");
    let count = Count::Threads(|controls| controls.scene.skinned.rows.len() as u32);
    PassInfo { pass, entry, text, bindings: &SKINNED, count }
}

const VELOCITY: &str = include_str!("../../shaders/integrate/velocity.wgsl");

pub(super) const PASSES: &[PassInfo] = &[
    PassInfo {
        pass: Pass::Targets,
        entry: "targets",
        text: include_str!("../../shaders/integrate/targets.wgsl"),
        bindings: &[
            (Uniform, |b| &b.params),
            (Read, |b| &b.targets),
            (Read, |b| &b.positions),
            (Write, |b| &b.velocities),
        ],
        count: Count::Threads(|controls| controls.targets.len() as u32),
    },
    skinned(Pass::StartSkinned, "start_skinned"),
    skinned(Pass::LimitSkinned { is_first: true }, "limit_skinned"),
    skinned(Pass::LimitSkinned { is_first: false }, "limit_skinned_again"),
    skinned(Pass::FinishSkinned, "finish_skinned"),
    PassInfo {
        pass: Pass::Start,
        entry: "start",
        text: include_str!("../../shaders/integrate/start.wgsl"),
        bindings: &[
            (Uniform, |b| &b.params),
            (Write, |b| &b.velocities),
            (Write, |b| &b.displacements),
            (Write, |b| &b.residuals),
            (Write, |b| &b.status),
        ],
        count: PARTICLES,
    },
    PassInfo {
        pass: Pass::Accelerations,
        entry: "accelerations",
        text: concat!(
            include_str!("../../shaders/integrate/accelerations.wgsl"),
            include_str!("../../shaders/integrate/shared/rings.wgsl"),
            include_str!("../../shaders/integrate/shared/air.wgsl")
        ),
        bindings: &[
            (Uniform, |b| &b.params),
            (Read, |b| &b.positions),
            (Read, |b| &b.displacements),
            (Read, |b| &b.ring_offsets),
            (Read, |b| &b.ring_corners),
            (Write, |b| &b.accelerations),
            (Write, |b| &b.status),
            (Read, |b| &b.forces),
        ],
        count: PARTICLES,
    },
    PassInfo {
        pass: Pass::Predict,
        entry: "predict",
        text: include_str!("../../shaders/integrate/predict.wgsl"),
        bindings: &[
            (Uniform, |b| &b.params),
            (Read, |b| &b.positions),
            (Read, |b| &b.accelerations),
            (Write, |b| &b.displacements),
            (Write, |b| &b.residuals),
        ],
        count: PARTICLES,
    },
    PassInfo {
        pass: Pass::StartOrientations,
        entry: "start_orientations",
        text: ORIENTATIONS,
        bindings: &TURN,
        count: EACH_ORIENTATION,
    },
    PassInfo {
        pass: Pass::IntegrateOrientations,
        entry: "integrate_orientations",
        text: ORIENTATIONS,
        bindings: &TURN,
        count: EACH_ORIENTATION,
    },
    PassInfo {
        pass: Pass::FinishOrientations,
        entry: "finish_orientations",
        text: ORIENTATIONS,
        bindings: &TURN,
        count: EACH_ORIENTATION,
    },
    PassInfo {
        pass: Pass::SaveDisplacements,
        entry: "save_displacements",
        text: RESTORE_MOMENTUM,
        bindings: &SKINS,
        count: Count::Threads(|controls| controls.compiled.skins.members.len() as u32),
    },
    PassInfo {
        pass: Pass::RestoreMomentum,
        entry: "restore_momentum",
        text: RESTORE_MOMENTUM,
        bindings: &SKINS,
        count: Count::Workgroups(|controls| controls.compiled.skins.rows.len() as u32),
    },
    PassInfo {
        pass: Pass::SolveTethers,
        entry: "solve_tethers",
        text: include_str!("../../shaders/integrate/solve_tethers.wgsl"),
        bindings: &[
            (Uniform, |b| &b.params),
            (Read, |b| &b.positions),
            (Write, |b| &b.displacements),
            (Read, |b| &b.tether_runs),
            (Read, |b| &b.tethers),
            (Read, |b| &b.pins),
            (Write, |b| &b.anchors[0]),
            (Write, |b| &b.tether_displacements),
        ],
        count: PARTICLES,
    },
    PassInfo { pass: Pass::Velocity, entry: "velocity", text: VELOCITY, bindings: &MOTION, count: PARTICLES },
    PassInfo {
        pass: Pass::IntegrateAndPredict,
        entry: "velocity_predict",
        text: VELOCITY,
        bindings: &MOTION,
        count: PARTICLES,
    },
    PassInfo {
        pass: Pass::IntegratePinned,
        entry: "velocity_pinned",
        text: VELOCITY,
        bindings: &[MOTION[0], MOTION[1], MOTION[2], MOTION[3], (Read, |b| &b.pins)],
        count: Count::Threads(|controls| controls.pins.len() as u32),
    },
    PassInfo {
        pass: Pass::Finish,
        entry: "finish",
        text: concat!(
            include_str!("../../shaders/integrate/finish.wgsl"),
            include_str!("../../shaders/integrate/shared/quarantined.wgsl")
        ),
        bindings: &[
            (Uniform, |b| &b.params),
            (Read, |b| &b.displacements),
            (Write, |b| &b.velocities),
            (Write, |b| &b.residuals),
            (Write, |b| &b.status),
        ],
        count: PARTICLES,
    },
    PassInfo {
        pass: Pass::BodyDamping,
        entry: "body_damping",
        text: BODY_DAMPING,
        bindings: &[
            (Uniform, |b| &b.params),
            (Read, |b| &b.positions),
            (Write, |b| &b.displacements),
            (Read, |b| &b.bodies),
        ],
        count: Count::Workgroups(|controls| controls.compiled.bodies.len() as u32),
    },
    PassInfo {
        pass: Pass::Follow,
        entry: "follow",
        text: include_str!("../../shaders/integrate/follow.wgsl"),
        bindings: &[
            (Uniform, |b| &b.params),
            (Write, |b| &b.positions),
            (Write, |b| &b.velocities),
            (Read, |b| &b.followers),
            (Write, |b| &b.displacements),
            (Write, |b| &b.residuals),
            (Write, |b| &b.status),
        ],
        count: Count::Threads(|controls| controls.compiled.followers.len() as u32),
    },
    PassInfo {
        pass: Pass::Normals,
        entry: "normals",
        text: concat!(
            include_str!("../../shaders/integrate/normals.wgsl"),
            include_str!("../../shaders/integrate/shared/rings.wgsl"),
            include_str!("../../shaders/integrate/shared/normal.wgsl")
        ),
        bindings: &[
            (Uniform, |b| &b.params),
            (Read, |b| &b.positions),
            (Read, |b| &b.ring_offsets),
            (Read, |b| &b.ring_corners),
            (Write, |b| &b.normals),
        ],
        count: PARTICLES,
    },
];
