//! Closed surfaces, their volumes, and the deviation of a body from its rest shape.

#[path = "../../tests/common/shapes.rs"]
#[allow(dead_code, reason = "the cube is a shape of the tests")]
mod spheres;

use glam::{DMat3, DQuat, DVec3, Quat, Vec3};
use std::f32::consts::TAU;
use std::path::Path;
use supple::ClosedSurface;
use supple::scene_file::ObjMesh;

pub use spheres::{Surface, icosphere};

/// A torus around the y axis with radii `major` and `minor` [m].
pub fn torus(major: f32, minor: f32, around: u32, across: u32) -> Surface {
    let point = |i: u32, j: u32| {
        let [(sin_u, cos_u), (sin_v, cos_v)] =
            [i as f32 / around as f32, j as f32 / across as f32].map(|turn| (turn * TAU).sin_cos());
        let out = major + minor * cos_v;
        [out * cos_u, minor * sin_v, out * sin_u]
    };
    (places(around, across).map(|(i, j)| point(i, j)).collect(), wrapped(around, across))
}

/// A tube along a trefoil knot, which winds twice around the y axis and three times around the tube of a torus.
pub struct Trefoil {
    /// The major radius of the torus [m].
    pub major: f32,
    /// The distance of the knot from the centre of the torus tube [m].
    pub minor: f32,
    /// The radius of the tube, less than `minor` [m].
    pub radius: f32,
}

impl Trefoil {
    /// The point of the centre line at parameter `share`, and the normal of the torus there.
    fn middle(&self, share: f32) -> [Vec3; 2] {
        let [(sin_u, cos_u), (sin_v, cos_v)] = [2.0, 3.0].map(|turns| (turns * share * TAU).sin_cos());
        let normal = Vec3::new(cos_v * cos_u, sin_v, cos_v * sin_u);
        [Vec3::new(cos_u, 0.0, sin_u) * self.major + normal * self.minor, normal]
    }

    pub fn surface(&self, along: u32, across: u32) -> Surface {
        let point = |i: u32, j: u32| {
            let share = i as f32 / along as f32;
            let [place, normal] = self.middle(share);
            let tangent = (self.middle(share + 1e-3)[0] - self.middle(share - 1e-3)[0]).normalize();
            let (sin, cos) = (j as f32 / across as f32 * TAU).sin_cos();
            (place + (normal * cos + tangent.cross(normal) * sin).normalize() * self.radius).into()
        };
        (places(along, across).map(|(i, j)| point(i, j)).collect(), wrapped(along, across))
    }

    /// The signed distance from the tube [m], exact up to the polyline approximation of its centre line.
    pub fn distance(&self, point: Vec3) -> f32 {
        const PIECES: u32 = 512;
        let middle = |piece: u32| self.middle(piece as f32 / PIECES as f32)[0];
        let piece = |piece: u32| {
            let (start, way) = (middle(piece), middle(piece + 1) - middle(piece));
            let share = ((point - start).dot(way) / way.length_squared()).clamp(0.0, 1.0);
            point.distance(start + way * share)
        };
        (0..PIECES).map(piece).fold(f32::INFINITY, f32::min) - self.radius
    }
}

/// The indices of a grid that is periodic in both directions.
fn places(around: u32, across: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..around).flat_map(move |i| (0..across).map(move |j| (i, j)))
}

/// The triangles of that grid.
fn wrapped(around: u32, across: u32) -> Vec<[u32; 3]> {
    let at = |i: u32, j: u32| (i % around) * across + j % across;
    let cell = |(i, j)| {
        let [a, b, c, d] = [at(i, j), at(i, j + 1), at(i + 1, j), at(i + 1, j + 1)];
        [[a, b, c], [c, b, d]]
    };
    places(around, across).flat_map(cell).collect()
}

/// A cube with rounded edges: |x|⁶ + |y|⁶ + |z|⁶ = (size/2)⁶.
pub fn rounded_cube(cuts: u32, size: f32) -> Surface {
    let (positions, triangles) = icosphere(cuts, 1.0);
    let cube = |position: [f32; 3]| {
        let sum: f32 = position.iter().map(|component| component.powi(6)).sum();
        (Vec3::from(position) * 0.5 * size * sum.powf(-1.0 / 6.0)).into()
    };
    (positions.into_iter().map(cube).collect(), triangles)
}

/// A ball with bumps.
pub fn blob(cuts: u32, radius: f32) -> Surface {
    let (positions, triangles) = icosphere(cuts, 1.0);
    let bump = |[x, y, z]: [f32; 3]| {
        let height = (4.0 * x + 1.0).sin() * (4.0 * y).cos() + (4.0 * z + 2.0).sin() * (3.0 * x).cos();
        (Vec3::new(x, y, z) * radius * (1.0 + 0.13 * height)).into()
    };
    (positions.into_iter().map(bump).collect(), triangles)
}

/// All objects of a Wavefront OBJ as one surface, centred at the origin and scaled to a longest side of `size` [m].
pub fn load_obj(path: &Path, size: f32) -> anyhow::Result<Surface> {
    let mesh = ObjMesh::read(path)?;
    let (positions, triangles) = (mesh.positions, mesh.triangles);
    let points = || positions.iter().copied().map(Vec3::from);
    let (low, high) = (points().fold(Vec3::INFINITY, Vec3::min), points().fold(Vec3::NEG_INFINITY, Vec3::max));
    let scale = size / (high - low).max_element();
    let positions = points().map(|point| ((point - 0.5 * (low + high)) * scale).into()).collect();
    Ok((positions, triangles))
}

/// Rotates about the origin, then translates.
pub fn placed((positions, triangles): Surface, turn: Quat, offset: Vec3) -> Surface {
    (positions.into_iter().map(|position| (turn * Vec3::from(position) + offset).into()).collect(), triangles)
}

/// A surface over particles, and its initial volume.
pub struct Volume {
    surface: ClosedSurface,
    pub at_rest: f64,
}

impl Volume {
    pub fn new(triangles: &[[u32; 3]], positions: &[[f32; 3]]) -> supple::Result<Self> {
        let surface = ClosedSurface::new(triangles)?;
        let at_rest = surface.volume(|vertex| positions[vertex as usize]);
        Ok(Self { surface, at_rest })
    }

    /// The volume relative to the initial one.
    pub fn ratio(&self, positions: &[[f32; 3]]) -> f64 {
        self.surface.volume(|vertex| positions[vertex as usize]) / self.at_rest
    }
}

/// The deviation of a body from its rest shape, relative to the largest distance from its centre. The first value is
/// the worst free particle, relative to the best-fit rigid transform of the free particles by mass; the second is the
/// worst pinned particle.
///
/// The rotation is computed by Müller et al. 2016, *A Robust Method to Extract the Rotational Part of Deformations*;
/// `rotation` is its initial value and receives the result.
pub fn shape_errors(
    rest: &[[f32; 3]],
    now: &[[f32; 3]],
    inverse_masses: &[f32],
    is_held: impl Fn(usize) -> bool,
    rotation: &mut DQuat,
) -> [f64; 2] {
    let (free, held): (Vec<usize>, Vec<usize>) = (0..rest.len()).partition(|&particle| !is_held(particle));
    let mass = |particle: usize| 1.0 / f64::from(inverse_masses[particle]);
    let total: f64 = free.iter().map(|&particle| mass(particle)).sum();
    let place = |points: &[[f32; 3]], particle: usize| Vec3::from(points[particle]).as_dvec3();
    let middle = |points| free.iter().map(|&particle| place(points, particle) * mass(particle)).sum::<DVec3>() / total;
    let (rest_middle, middle) = (middle(rest), middle(now));
    let mut moments = DMat3::ZERO;
    for &particle in &free {
        let (q, x) = (place(rest, particle) - rest_middle, (place(now, particle) - middle) * mass(particle));
        moments += DMat3::from_cols(x * q.x, x * q.y, x * q.z);
    }
    for _ in 0..50 {
        let turned = DMat3::from_quat(*rotation);
        let axes = [0, 1, 2].map(|axis| (turned.col(axis), moments.col(axis)));
        let torque: DVec3 = axes.iter().map(|(turned, moment)| turned.cross(*moment)).sum();
        let extent = axes.iter().map(|(turned, moment)| turned.dot(*moment)).sum::<f64>().abs() + 1e-30;
        *rotation = (DQuat::from_scaled_axis(torque / extent) * *rotation).normalize();
    }
    let arm = |particle| place(rest, particle) - rest_middle;
    let size = (0..rest.len()).map(|particle| arm(particle).length()).fold(0.0, f64::max);
    let error = |&particle: &usize| (place(now, particle) - middle - *rotation * arm(particle)).length() / size;
    // Unlike `f64::max`, this propagates NaN.
    let worse = |worst: f64, error: f64| if error > worst || error.is_nan() { error } else { worst };
    [free, held].map(|particles| particles.iter().map(error).fold(0.0, worse))
}
