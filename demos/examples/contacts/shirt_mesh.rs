//! A shirt and the capsules of a body that wears it.

use glam::{Quat, Vec3};
use supple::{Collider, Pose, Shape};

/// Half the width of the shirt at the hem [m].
pub const HALF_WIDTH: f32 = 0.26;
/// Height of the hem [m].
const HEM: f32 = 0.86;
/// Height of the neck [m].
const TOP: f32 = 1.5;
/// Distance of the end of a sleeve from the middle [m].
const SLEEVE_END: f32 = 0.46;
/// Width of a sleeve [m].
const SLEEVE: f32 = 0.2;
/// The radius of the neckline [m], and how far it goes down below the shoulders.
const NECK: f32 = 0.1;
/// Half the largest distance between front and back [m].
const HALF_DEPTH: f32 = 0.14;
/// Distance from the seams over which they reach it [m].
const TAPER: f32 = 0.16;
/// The slope of shoulders, sleeves and arms.
const SLOPE: f32 = 0.3;

/// A shirt with openings at the neck, the sleeves and the hem: a front and a back of square cells of about `spacing` [m],
/// which share the vertices of their seams. Triangles are counterclockwise seen from outside.
pub fn shirt(spacing: f32) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let cells = |length: f32| (length / spacing).round().max(1.0) as i32;
    // Whole numbers of cells, so that seams follow the grid; `step` is the size of a cell.
    let [width, reach, height, sleeve] = [HALF_WIDTH, SLEEVE_END, TOP - HEM, SLEEVE].map(cells);
    let step = [HALF_WIDTH / width as f32, SLEEVE / sleeve as f32];
    let is_neck = |i: i32, j: i32| j >= 0 && ((i as f32 + 0.5) * step[0]).hypot((j as f32 + 0.5) * step[1]) <= NECK;
    let is_cell = |i: i32, j: i32| ((-width..width).contains(&i) || j < sleeve) && !is_neck(i, j);
    let is_neckline =
        |i: i32, j: i32| [[i, j], [i - 1, j], [i, j - 1], [i - 1, j - 1]].iter().any(|c| is_neck(c[0], c[1]));
    let (columns, rows) = (2 * reach + 1, height + 1);
    let mut indices = vec![[u32::MAX; 2]; (columns * rows) as usize];
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for j in 0..height {
        for i in -reach..reach {
            if !is_cell(i, j) {
                continue;
            }
            let corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]].map(|[i, j]| {
                let known = &mut indices[((i + reach) * rows + j) as usize];
                if known[0] == u32::MAX {
                    let [mut x, mut down] = [i as f32 * step[0], j as f32 * step[1]];
                    if is_neckline(i, j) {
                        [x, down] = [x, down].map(|k| k * NECK / x.hypot(down));
                    }
                    let depth = depth([x, down], [width as f32 * step[0], sleeve as f32 * step[1]]);
                    let y = TOP - down - SLOPE * (x.abs() - NECK).max(0.0);
                    for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                        let is_seam = depth == 0.0 && side == 1;
                        known[side] = if is_seam { known[0] } else { positions.len() as u32 };
                        if !is_seam {
                            positions.push([x, y, sign * depth]);
                        }
                    }
                }
                *known
            });
            let [a, b, c, d] = corners.map(|corner| corner[0]);
            let [e, f, g, h] = corners.map(|corner| corner[1]);
            // Rows go down: this order faces the front along +z.
            triangles.extend([[a, c, b], [a, d, c], [e, f, g], [e, g, h]]);
        }
    }
    (positions, triangles)
}

/// The distance of the front from the plane of the seams, which run along shoulders, sleeves and sides.
fn depth([x, down]: [f32; 2], [width, sleeve]: [f32; 2]) -> f32 {
    let x = x.abs();
    let shoulder = if x < NECK { (NECK - x).hypot(down) } else { down };
    let side = if down < sleeve { (width - x).max(0.0).hypot(sleeve - down) } else { width - x };
    let under = if x > width { sleeve - down } else { f32::INFINITY };
    let share = (shoulder.min(side).min(under).max(0.0) / TAPER).min(1.0);
    if share < 1e-3 { 0.0 } else { HALF_DEPTH * share * (2.0 - share) }
}

/// The body: capsules for torso, neck and arms, which are raised by `lift` [rad], and a sphere for the head.
pub fn body(lift: f32) -> [Collider; 6] {
    let between = |from: Vec3, to: Vec3, radius: f32| {
        let along = to - from;
        let rotation = Quat::from_rotation_arc(Vec3::Y, along.normalize());
        let pose = Pose { position: (0.5 * (from + to)).into(), rotation: rotation.into() };
        let shape = Shape::Capsule { radius, half_height: 0.5 * along.length() };
        Collider { shape, pose, ..Collider::default() }
    };
    let torso = |x: f32| between(Vec3::new(x, 0.75, 0.0), Vec3::new(x, 1.28, 0.0), 0.12);
    let arm = |side: f32| {
        let shoulder = Vec3::new(0.18 * side, TOP - 0.5 * SLEEVE - SLOPE * (0.18 - NECK), 0.0);
        let turn = Quat::from_rotation_z(side * (lift - SLOPE.atan()));
        between(shoulder, shoulder + turn * Vec3::new(0.5 * side, 0.0, 0.0), 0.05)
    };
    let neck = between(Vec3::new(0.0, 1.35, 0.0), Vec3::new(0.0, 1.5, 0.0), 0.05);
    let head = Collider::new(Shape::Sphere { radius: 0.11 }, [0.0, 1.63, 0.0]);
    [torso(-0.1), torso(0.1), arm(-1.0), arm(1.0), neck, head]
}

/// How far the arms are raised after `seconds` [rad]: up by half a radian, then down below the start.
pub fn lift(seconds: f32) -> f32 {
    let swing = (seconds - 1.0).clamp(0.0, 1.5) / 1.5;
    0.5 * (std::f32::consts::TAU * swing).sin()
}
