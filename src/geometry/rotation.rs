//! Rotations in the order of operations of `shaders/common/rotation.wgsl`, so both round alike.
//!
//! An orientation is stored as its modified Rodrigues parameters m = e tan(θ/4): e and θ are axis and angle of the
//! rotation from the axes of the world. Source: Schaub, Junkins 1996, *Stereographic Orientation Parameters
//! for Attitude Dynamics: A Generalization of the Rodrigues Parameters*. m and −m/|m|²
//! are the same orientation, so |m| stays at or below 1 (θ ≤ π). The unit quaternion is (2 m, 1 − |m|²)/(1 + |m|²), so
//! conversions need no transcendental function.
//!
//! A rotation vector d turns by the parameters d/4, which is an angle of 4 atan(|d|/4) = |d| − |d|³/48 + ….

use super::vector::{atan2, dot, length};
use glam::{DQuat, DVec3, Quat, Vec3};

/// A unit quaternion: vector and scalar.
pub type UnitQuaternion = (Vec3, f32);

/// Returns m' − m, where m' is the orientation m rotated by the parameters d/4: by 4 atan(|d|/4) about d, in world axes.
pub fn rotation_step(m: Vec3, d: Vec3) -> Vec3 {
    let t = d * 0.25;
    let (mm, tt) = (dot(m, m), dot(t, t));
    let two_mt = 2.0 * dot(m, t);
    let turn = t * (1.0 - mm) + t.cross(m) * 2.0;
    let along = m * (two_mt - tt * (1.0 + mm));
    (turn + along) / ((1.0 + tt * mm) - two_mt)
}

/// The rotation vector, in the axes of the world, of a small change r of the parameters m: to first order the inverse
/// of [`rotation_step`].
pub fn rotation_of_residual(m: Vec3, r: Vec3) -> Vec3 {
    let mm = dot(m, m);
    let turn = r * (1.0 - mm) + m.cross(r) * 2.0;
    let along = m * (2.0 * dot(m, r));
    let scale = 1.0 + mm;
    (turn + along) * (4.0 / (scale * scale))
}

/// The parameters of the same orientation with |m| ≤ 1.
pub fn short_parameters(m: Vec3) -> Vec3 {
    let square = dot(m, m);
    if square > 1.0 { -(m / square) } else { m }
}

/// The unit quaternion of the parameters m.
pub fn unit_quaternion(m: Vec3) -> UnitQuaternion {
    let mm = dot(m, m);
    let scale = 1.0 + mm;
    ((m * 2.0) / scale, (1.0 - mm) / scale)
}

/// The product a b.
pub fn product((a, aw): UnitQuaternion, (b, bw): UnitQuaternion) -> UnitQuaternion {
    ((b * aw + a * bw) + a.cross(b), aw * bw - dot(a, b))
}

/// The conjugate, which is the inverse of a unit quaternion.
pub fn conjugate((v, w): UnitQuaternion) -> UnitQuaternion {
    (-v, w)
}

/// The axes d₁, d₂, d₃ of a frame: the columns of its rotation matrix.
pub fn axes((v, w): UnitQuaternion) -> [Vec3; 3] {
    let square = v * v;
    let mixed = Vec3::new(v.y * v.z, v.z * v.x, v.x * v.y);
    let scaled = v * w;
    let (plus, minus) = ((mixed + scaled) * 2.0, (mixed - scaled) * 2.0);
    let sum = Vec3::new(square.y, square.z, square.x) + Vec3::new(square.z, square.x, square.y);
    let diagonal = Vec3::ONE - sum * 2.0;
    [
        Vec3::new(diagonal.x, plus.z, minus.y),
        Vec3::new(minus.z, diagonal.y, plus.x),
        Vec3::new(plus.y, minus.x, diagonal.z),
    ]
}

/// The rotation vector \[rad\] from the parameters `from` to the parameters `to`, the short way.
pub fn rotation_between(from: Vec3, to: Vec3) -> Vec3 {
    let (v, w) = product(unit_quaternion(to), conjugate(unit_quaternion(from)));
    let (v, w) = if w < 0.0 { (-v, -w) } else { (v, w) };
    let size = length(v);
    if size > 0.0 { v * (2.0 * atan2(size, w) / size) } else { Vec3::ZERO }
}

/// The parameters of a quaternion, which need not be a unit quaternion. Host only.
pub fn parameters_of(quaternion: DQuat) -> Vec3 {
    let q = quaternion.normalize();
    let q = if q.w < 0.0 { -q } else { q };
    (DVec3::new(q.x, q.y, q.z) / (1.0 + q.w)).as_vec3()
}

/// The unit quaternion (x, y, z, w) of the parameters m.
pub fn quaternion_of(m: Vec3) -> Quat {
    let (v, w) = unit_quaternion(m);
    Quat::from_xyzw(v.x, v.y, v.z, w)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Orientations up to half a turn, and small and large rotations.
    fn cases() -> impl Iterator<Item = (DQuat, DVec3)> {
        let axis = |k: u32| DVec3::new((1.7 * f64::from(k)).sin(), (2.3 * f64::from(k)).cos(), 0.3).normalize();
        (0..400).map(move |k| {
            let angle = f64::from(k % 20) / 19.0 * std::f64::consts::PI;
            let turn = [1e-6, 1e-3, 0.1, 0.3][k as usize % 4];
            (DQuat::from_axis_angle(axis(k), angle), axis(k + 7) * turn)
        })
    }

    fn apart(a: DQuat, b: DQuat) -> f64 {
        let difference = a * b.conjugate();
        2.0 * DVec3::new(difference.x, difference.y, difference.z).length()
    }

    #[test]
    fn steps_of_the_parameters_are_rotations() {
        for (q, d) in cases() {
            let m = parameters_of(q);
            let step = rotation_step(m, d.as_vec3());
            let expected = DQuat::from_scaled_axis(d.normalize() * 4.0 * (d.length() / 4.0).atan()) * q;
            assert!(apart(quaternion_of(m + step).as_dquat(), expected) < 1e-6, "{q} by {d}");
            // The step is accurate relative to its own size, unlike the sum.
            let back = rotation_of_residual(m, step).as_dvec3();
            let size = d.length();
            assert!((back - d).length() < size * (1e-6 + size), "{q} by {d}: {back}");
            assert!((rotation_between(m, m + step).as_dvec3() - d).length() < 1e-6 + size.powi(3) / 40.0, "{q} by {d}");
        }
    }

    #[test]
    fn axes_are_the_rotated_axes_of_the_world() {
        for (q, _) in cases() {
            let own = axes(unit_quaternion(parameters_of(q)));
            for (axis, world) in own.into_iter().zip([DVec3::X, DVec3::Y, DVec3::Z]) {
                assert!((axis.as_dvec3() - q * world).length() < 1e-6, "{q}: {axis}");
            }
        }
    }
}
