//! A figure of tubes: its joints, its body in the bind pose, and its walk.

use glam::{Mat4, Quat, Vec3};
use std::f32::consts::TAU;
use supple::{JointWeights, SkinnedMesh};

/// Joints by index.
pub const PELVIS: u32 = 0;
const SPINE: u32 = 1;
pub const CHEST: u32 = 2;
const HEAD: u32 = 3;
/// Upper arm, forearm, thigh and shin of the left side; those of the right side follow at + 4.
const UPPER_ARM: u32 = 4;
const FOREARM: u32 = 5;
const THIGH: u32 = 6;
const SHIN: u32 = 7;
pub const JOINTS: usize = 12;

/// The angle of the arms below the horizontal in the bind pose.
pub const ARM_ANGLE: f32 = 0.96;
pub const ARM_LENGTH: f32 = 0.54;

/// Heights [m] and half axes of the torso [m].
const TORSO: [(f32, f32, f32); 7] = [
    (0.86, 0.150, 0.105),
    (0.94, 0.160, 0.110),
    (1.06, 0.135, 0.098),
    (1.20, 0.150, 0.112),
    (1.32, 0.165, 0.110),
    (1.40, 0.130, 0.085),
    (1.45, 0.060, 0.060),
];

/// The half axes of the torso at a height.
pub fn torso(y: f32) -> [f32; 2] {
    let next = TORSO.iter().position(|&(height, ..)| height >= y).unwrap_or(TORSO.len() - 1).max(1);
    let ((y0, a0, b0), (y1, a1, b1)) = (TORSO[next - 1], TORSO[next]);
    let share = ((y - y0) / (y1 - y0)).clamp(0.0, 1.0);
    [a0 + (a1 - a0) * share, b0 + (b1 - b0) * share]
}

/// The parent and the position of a joint in the bind pose.
fn joint(index: u32) -> (Option<u32>, Vec3) {
    let (side, limb) = if index < 8 { (1.0, index) } else { (-1.0, index - 4) };
    let parent = |limb: u32| if index < 8 { limb } else { limb + 4 };
    match limb {
        PELVIS => (None, Vec3::new(0.0, 0.96, 0.0)),
        SPINE => (Some(PELVIS), Vec3::new(0.0, 1.06, 0.0)),
        CHEST => (Some(SPINE), Vec3::new(0.0, 1.22, 0.0)),
        HEAD => (Some(CHEST), Vec3::new(0.0, 1.46, 0.0)),
        UPPER_ARM => (Some(CHEST), shoulder(side)),
        FOREARM => (Some(parent(UPPER_ARM)), shoulder(side) + 0.5 * ARM_LENGTH * arm(side)),
        THIGH => (Some(PELVIS), Vec3::new(0.088 * side, 0.92, 0.0)),
        _ => (Some(parent(THIGH)), Vec3::new(0.088 * side, 0.49, 0.0)),
    }
}

/// The shoulder of a side: 1 for the left one at positive x.
pub fn shoulder(side: f32) -> Vec3 {
    Vec3::new(0.155 * side, 1.33, 0.0)
}

/// The direction of an arm in the bind pose.
pub fn arm(side: f32) -> Vec3 {
    Vec3::new(ARM_ANGLE.cos() * side, -ARM_ANGLE.sin(), 0.0)
}

/// The radius of an arm at a distance from the shoulder.
pub fn arm_radius(along: f32) -> f32 {
    0.046 - 0.022 * along
}

/// A ring of a tube: centre, half axes, joint weights.
struct Ring {
    centre: Vec3,
    axes: [Vec3; 2],
    weights: JointWeights,
}

/// Weights that pass from one joint to the next within `width` \[m\] about a place.
fn blend(joints: [u32; 2], beyond: f32, width: f32) -> JointWeights {
    let share = (0.5 + beyond / width).clamp(0.0, 1.0);
    JointWeights { joints: [joints[0], joints[1], 0, 0], weights: [1.0 - share, share, 0.0, 0.0] }
}

/// The body in the bind pose.
pub fn body() -> supple::Result<SkinnedMesh> {
    let mut mesh = SkinnedMesh::default();
    let rings = (0..=24).map(|k| {
        let y = 0.86 + 0.59 * k as f32 / 24.0;
        let [a, b] = torso(y);
        let weights = match y {
            ..1.14 => blend([PELVIS, SPINE], y - 1.06, 0.1),
            _ => blend([SPINE, CHEST], y - 1.22, 0.1),
        };
        Ring { centre: Vec3::Y * y, axes: [Vec3::X * a, Vec3::Z * -b], weights }
    });
    add_tube(&mut mesh, rings, 24);
    let head = (0..=8).map(|k| {
        let angle = std::f32::consts::PI * k as f32 / 8.0;
        let radius = 0.095 * angle.sin() + 1e-3;
        let centre = Vec3::Y * (1.59 - 0.12 * angle.cos());
        Ring { centre, axes: [Vec3::X * radius, Vec3::Z * -radius], weights: JointWeights::rigid(HEAD) }
    });
    add_tube(&mut mesh, head, 16);
    for (side, add) in [(1.0, 0), (-1.0, 4)] {
        let along = arm(side);
        let arms = (0..=16).map(|k| {
            let place = ARM_LENGTH * k as f32 / 16.0;
            let radius = arm_radius(place);
            let weights = match place {
                ..0.12 => blend([CHEST, UPPER_ARM + add], place + 0.03, 0.08),
                _ => blend([UPPER_ARM + add, FOREARM + add], place - 0.27, 0.08),
            };
            let axes = [Vec3::Z * radius, Vec3::Z.cross(along) * -radius];
            Ring { centre: shoulder(side) + along * place, axes, weights }
        });
        add_tube(&mut mesh, arms, 12);
        let legs = (0..=20).map(|k| {
            let y = 0.92 - 0.86 * k as f32 / 20.0;
            let radius = 0.078 - 0.05 * (0.92 - y);
            let weights = blend([THIGH + add, SHIN + add], 0.49 - y, 0.1);
            let centre = Vec3::new(0.088 * side, y, 0.0);
            Ring { centre, axes: [Vec3::Z * radius, Vec3::X * -radius], weights }
        });
        add_tube(&mut mesh, legs, 12);
    }
    mesh.checked(JOINTS as u32)
}

/// Adds a tube through rings whose axes turn counterclockwise, seen against its direction.
fn add_tube(mesh: &mut SkinnedMesh, rings: impl Iterator<Item = Ring>, columns: u32) {
    let first = mesh.positions.len() as u32;
    for (row, Ring { centre, axes: [a, b], weights }) in (0..).zip(rings) {
        for column in 0..columns {
            let (sin, cos) = (TAU * column as f32 / columns as f32).sin_cos();
            mesh.positions.push((centre + a * cos + b * sin).into());
            mesh.normals.push((a.normalize() * cos + b.normalize() * sin).into());
            mesh.weights.push(weights);
            if row > 0 {
                let at = |row: u32, column: u32| first + row * columns + column % columns;
                let [p, q] = [at(row - 1, column), at(row - 1, column + 1)];
                let [r, s] = [at(row, column), at(row, column + 1)];
                mesh.triangles.extend([[p, q, r], [q, s, r]]);
            }
        }
    }
}

/// A walk in place, with arms that swing and at times cross the body.
#[derive(Debug, Clone, Copy)]
pub struct Walk {
    /// Steps of one foot per second [Hz].
    pub frequency: f32,
    /// The swing of the thighs \[rad\].
    pub stride: f32,
    /// The phase of the slow motions.
    pub phase: f32,
}

impl Walk {
    /// A walk that depends on the seed.
    pub fn new(seed: u64) -> Self {
        let part = |k: u64| {
            (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17 * k as u32) >> 40) as f32 / (1 << 24) as f32
        };
        Self { frequency: 0.85 + 0.15 * part(1), stride: 0.38 + 0.08 * part(2), phase: TAU * part(3) }
    }

    /// The matrix of each joint from the bind pose at a time \[s\].
    pub fn joints(&self, time: f32) -> Vec<[[f32; 4]; 4]> {
        // The figure begins at rest in the bind pose.
        let share = smooth(time / 1.5);
        let step = TAU * self.frequency * time;
        // 1 while the arms cross the body.
        let cross = smooth(3.0 * (TAU * time / 7.0 + self.phase).sin() - 1.0);
        let mut world = [Mat4::IDENTITY; JOINTS];
        for index in 0..JOINTS as u32 {
            let (parent, place) = joint(index);
            let turn = Quat::IDENTITY.slerp(self.turn(index, step, cross, time), share);
            let (above, offset) = match parent {
                Some(parent) => (world[parent as usize], place - joint(parent).1),
                None => (Mat4::IDENTITY, place + Vec3::Y * share * 0.02 * ((2.0 * step).cos() - 1.0)),
            };
            world[index as usize] = above * Mat4::from_rotation_translation(turn, offset);
        }
        let matrix = |index: u32| world[index as usize] * Mat4::from_translation(-joint(index).1);
        (0..JOINTS as u32).map(|index| matrix(index).to_cols_array_2d()).collect()
    }

    /// The rotation of a joint.
    fn turn(&self, index: u32, step: f32, cross: f32, time: f32) -> Quat {
        let (side, limb) = if index < 8 { (1.0, index) } else { (-1.0, index - 4) };
        let swing = side * step.sin();
        match limb {
            PELVIS => {
                let yaw = 0.5 * (0.6 * time + self.phase).sin() + 0.08 * step.sin();
                Quat::from_rotation_y(yaw) * Quat::from_rotation_z(0.03 * step.cos())
            }
            SPINE => Quat::from_rotation_y(-0.08 * step.sin()) * Quat::from_rotation_x(0.04),
            CHEST => Quat::from_rotation_y(-0.08 * step.sin()),
            HEAD => Quat::from_rotation_y(0.06 * step.sin()),
            UPPER_ARM => {
                let along = arm(side);
                let swing = (1.0 - cross) * 0.35 * swing - 0.75 * cross;
                let down = -side * (0.2 - 0.1 * cross);
                Quat::from_rotation_x(swing)
                    * Quat::from_rotation_z(down)
                    * Quat::from_axis_angle(along, side * 1.0 * cross)
            }
            FOREARM => {
                let along = arm(side);
                let flex = 0.25 + (1.0 - cross) * 0.15 * (1.0 - swing) + 1.15 * cross;
                Quat::from_axis_angle(along.cross(Vec3::Z).normalize(), flex)
            }
            THIGH => Quat::from_rotation_x(-self.stride * swing - 0.06),
            // The knee bends while the thigh swings forward.
            _ => Quat::from_rotation_x(
                0.12 + 0.75 * (side * (step - 1.1).sin()).max(0.0).powi(2) * (side * step.cos()).max(0.0),
            ),
        }
    }
}

/// 0 below 0, 1 above 1, smooth between.
fn smooth(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
