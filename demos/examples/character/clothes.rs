//! A shirt and a skirt beside the body in its bind pose.

use super::figure::{self, arm, arm_radius, shoulder, torso};
use glam::Vec3;
use std::f32::consts::TAU;

/// The height of the waist of the skirt, and of its hem [m].
const WAIST: f32 = 1.03;
const KNEES: f32 = 0.52;
/// The heights of the hem and of the collar of the shirt [m].
const HEM: f32 = 0.97;
const COLLAR: f32 = 1.44;
/// The range of heights of the armholes [m].
const ARMHOLE: [f32; 2] = [1.19, 1.40];
/// The length of the sleeves [m].
const SLEEVE: f32 = 0.24;

/// The distance of the shirt from the body [m].
const LOOSE: f32 = 0.016;

/// A garment. Rows are rings, from its border that is fixed to the body.
#[derive(Default)]
pub struct Garment {
    pub positions: Vec<[f32; 3]>,
    pub triangles: Vec<[u32; 3]>,
    /// For each position, 0 at the border that is fixed, 1 at the loosest border.
    pub looseness: Vec<f32>,
}

impl Garment {
    fn push(&mut self, position: Vec3, looseness: f32) -> u32 {
        self.positions.push(position.into());
        self.looseness.push(looseness);
        self.positions.len() as u32 - 1
    }

    /// Connects two rings of equal length; the second is below the first, or further out.
    fn connect(&mut self, upper: &[u32], lower: &[u32]) {
        let count = upper.len();
        for k in 0..count {
            let [a, b] = [upper[k], upper[(k + 1) % count]];
            let [c, d] = [lower[k], lower[(k + 1) % count]];
            // Alternating diagonals.
            self.triangles.extend(if k.is_multiple_of(2) { [[a, b, d], [a, d, c]] } else { [[a, b, c], [b, d, c]] });
        }
    }
}

/// A point on an ellipse; the angle runs from x to z.
fn around(angle: f32, [a, b]: [f32; 2], y: f32) -> Vec3 {
    Vec3::new(a * angle.cos(), y, b * angle.sin())
}

/// A skirt with `columns` particles around the waist.
pub fn skirt(columns: u32) -> Garment {
    let mut skirt = Garment::default();
    let rows = (columns as f32 * 0.39).round() as u32;
    let mut above = Vec::new();
    for row in 0..=rows {
        let share = row as f32 / rows as f32;
        let y = WAIST + (KNEES - WAIST) * share;
        let body = torso(y.max(0.94)).map(|axis| axis + 0.012);
        let cone = [0.15 + 0.15 * share, 0.115 + 0.165 * share];
        let axes = [body[0].max(cone[0]), body[1].max(cone[1])];
        let ring: Vec<u32> = (0..columns)
            .map(|column| skirt.push(around(TAU * column as f32 / columns as f32, axes, y), share))
            .collect();
        if row > 0 {
            skirt.connect(&above, &ring);
        }
        above = ring;
    }
    skirt
}

/// A shirt with about `columns` particles around the torso, and short sleeves.
pub fn shirt(columns: u32) -> Garment {
    // The armholes are centred at columns 0 and columns/2.
    let columns = columns.next_multiple_of(4);
    let half = (columns / 12).max(2);
    let spacing = TAU * 0.15 / columns as f32;
    let rows = ((COLLAR - HEM) / spacing).round() as u32;
    let height = |row: u32| COLLAR + (HEM - COLLAR) * row as f32 / rows as f32;
    let mut shirt = Garment::default();
    let row_of =
        |y: f32| (0..=rows).min_by(|&a, &b| (height(a) - y).abs().total_cmp(&(height(b) - y).abs())).unwrap_or(0);
    let [bottom, top] = ARMHOLE.map(row_of);
    let is_side = |column: u32| {
        let place = column % (columns / 2);
        place.min(columns / 2 - place)
    };
    // The particles of the torso; none inside of the armholes.
    let mut places = vec![vec![None; columns as usize]; rows as usize + 1];
    for row in 0..=rows {
        let y = height(row);
        // Wider at the hem, which is outside of the skirt.
        let loose = LOOSE + 0.026 * ((1.12 - y) / 0.15).clamp(0.0, 1.0);
        let axes = torso(y).map(|axis| axis + loose);
        for column in 0..columns {
            let is_hole = row > top && row < bottom && is_side(column) < half;
            if !is_hole {
                let place = around(TAU * column as f32 / columns as f32, axes, y);
                let looseness = row as f32 / rows as f32;
                places[row as usize][column as usize] = Some(shirt.push(place, looseness));
            }
        }
    }
    let at = |row: u32, column: i64| places[row as usize][column.rem_euclid(columns.into()) as usize];
    for row in 0..rows {
        for column in 0..i64::from(columns) {
            let corners = [at(row, column), at(row, column + 1), at(row + 1, column), at(row + 1, column + 1)];
            let is_hole = row >= top && row < bottom && {
                let (a, b) = (column as u32, (column as u32 + 1) % columns);
                is_side(a) <= half && is_side(b) <= half && (is_side(a) < half || is_side(b) < half)
            };
            if let ([Some(a), Some(b), Some(c), Some(d)], false) = (corners, is_hole) {
                let is_even = (row + column as u32).is_multiple_of(2);
                shirt.triangles.extend(if is_even { [[a, b, d], [a, d, c]] } else { [[a, b, c], [b, d, c]] });
            }
        }
    }
    for (side, centre) in [(1.0, 0), (-1.0, i64::from(columns) / 2)] {
        let (h, depth) = (i64::from(half), bottom - top);
        // Around the armhole, so that the triangles of the sleeve face outwards.
        let above = (-h..h).map(|k| at(top, centre + k));
        let right = (0..depth).map(|k| at(top + k, centre + h));
        let below = (-h..h).map(|k| at(bottom, centre - k));
        let left = (0..depth).map(|k| at(bottom - k, centre - h));
        let ring: Vec<u32> = above.chain(right).chain(below).chain(left).flatten().collect();
        sleeve(&mut shirt, ring, half, side, spacing);
    }
    shirt
}

/// Adds a sleeve to the ring of an armhole, whose highest place has the index `top`.
fn sleeve(shirt: &mut Garment, ring: Vec<u32>, top: u32, side: f32, spacing: f32) {
    let along = arm(side);
    let start: Vec<Vec3> = ring.iter().map(|&particle| Vec3::from(shirt.positions[particle as usize])).collect();
    let [up, front] = [Vec3::Z.cross(along) * side, Vec3::Z * side];
    let rows = (SLEEVE / spacing).round() as u32;
    // The lines of the tube begin in front of the torso.
    let lines: Vec<(Vec3, f32)> = (0..start.len())
        .map(|k| {
            let (sin, cos) = (TAU * (k as f32 - top as f32) / start.len() as f32).sin_cos();
            let out = up * cos + front * sin;
            let at = |place: f32| shoulder(side) + along * place + out * (arm_radius(place) + LOOSE);
            let is_clear = |place: &f32| {
                let point = at(*place);
                let [a, b] = torso(point.y).map(|axis| axis + 2.0 * LOOSE);
                (point.x / a).powi(2) + (point.z / b).powi(2) > 1.0
            };
            (out, (0..).map(|k| 0.002 * k as f32).find(is_clear).unwrap_or(0.0))
        })
        .collect();
    let mut above = ring;
    for row in 1..=rows {
        let share = row as f32 / rows as f32;
        let below: Vec<u32> = lines
            .iter()
            .zip(&start)
            .map(|(&(out, first), from)| {
                let place = first + (SLEEVE - first) * share;
                let radius = arm_radius(place) + LOOSE + 0.012 * share;
                let tube = shoulder(side) + along * place + out * radius;
                // The first rows pass from the armhole to the tube.
                shirt.push(from.lerp(tube, (3.0 * share).min(1.0)), 0.3 + 0.4 * share)
            })
            .collect();
        shirt.connect(&above, &below);
        above = below;
    }
}

/// The joint of the waist.
pub const WAIST_JOINT: u32 = figure::PELVIS;
