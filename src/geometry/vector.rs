//! Vector arithmetic in the order of operations of `shaders/common/xpbd.wgsl`, so both round alike.

use glam::Vec3;

/// a·b, summed left to right as on the GPU.
#[inline]
pub fn dot(a: Vec3, b: Vec3) -> f32 {
    a.x * b.x + a.y * b.y + a.z * b.z
}

/// |a| by [`dot`].
#[inline]
pub fn length(a: Vec3) -> f32 {
    dot(a, a).sqrt()
}

/// An upper bound of |a|, without a square root.
#[inline]
pub fn sum_of_components(a: Vec3) -> f32 {
    a.x.abs() + a.y.abs() + a.z.abs()
}

/// A symmetric matrix: its diagonal (xx, yy, zz) and its off-diagonal elements (yz, zx, xy).
pub type Symmetric = (Vec3, Vec3);

/// Solves K ω = v for a positive semidefinite matrix K, such as an inertia tensor.
///
/// If K is singular (all mass on a line or at a point), ω is small about the axis without inertia. If K is not positive
/// semidefinite, ω is 0.
///
/// The method is LDLᵀ, which is backward stable unlike cofactors, on K with 1e-6 of its trace added to the diagonal.
/// One step of iterative refinement with the residual of K removes that shift.
pub fn solve_symmetric((diagonal, beside): Symmetric, v: Vec3) -> Vec3 {
    let trace = diagonal.x + diagonal.y + diagonal.z;
    if trace.is_nan() || trace <= 0.0 {
        return Vec3::ZERO;
    }
    let (d, o) = (diagonal / trace + 1e-6, beside / trace);
    let (l1, l2) = (o.z / d.x, o.y / d.x);
    let d1 = d.y - l1 * o.z;
    let l3 = (o.x - l2 * o.z) / d1.max(1e-7);
    let d2 = (d.z - l2 * o.y) - l3 * l3 * d1.max(1e-7);
    // The tolerances cover the rounding of a pivot that is exactly 0.
    if !(d.x > 0.0 && d1 > -1e-5 && d2 > -1e-5) {
        return Vec3::ZERO;
    }
    let (l, pivots) = (Vec3::new(l1, l2, l3), Vec3::new(d.x, d1.max(1e-7), d2.max(1e-7)));
    let omega = solve_ldl(l, pivots, v) / trace;
    let [wr, or] = [omega, beside].map(|v| [Vec3::new(v.y, v.z, v.x), Vec3::new(v.z, v.x, v.y)]);
    let left = v - (diagonal * omega + or[1] * wr[0] + or[0] * wr[1]);
    omega + solve_ldl(l, pivots, left) / trace
}

/// The product of a symmetric matrix with a vector.
pub fn times_symmetric((diagonal, beside): Symmetric, v: Vec3) -> Vec3 {
    let turned = |v: Vec3| [Vec3::new(v.y, v.z, v.x), Vec3::new(v.z, v.x, v.y)];
    let ([vr, vl], [br, bl]) = (turned(v), turned(beside));
    diagonal * v + bl * vr + br * vl
}

/// Adds f (a bᵀ + b aᵀ)/2 to a symmetric matrix.
pub fn add_outer((diagonal, beside): &mut Symmetric, a: Vec3, b: Vec3, f: f32) {
    let turned = |v: Vec3| [Vec3::new(v.y, v.z, v.x), Vec3::new(v.z, v.x, v.y)];
    let ([ar, al], [br, bl]) = (turned(a), turned(b));
    *diagonal += (a * b) * f;
    *beside += (ar * bl + al * br) * (0.5 * f);
}

/// The inverse of a symmetric matrix by LDLᵀ; 0 in the directions of pivots that do not exceed `least`.
pub fn inverse_symmetric((d, o): Symmetric, least: Vec3) -> Symmetric {
    let guarded = |pivot: f32, least: f32| if pivot > least { 1.0 / pivot } else { 0.0 };
    let i0 = guarded(d.x, least.x);
    let (l1, l2) = (o.z * i0, o.y * i0);
    let d1 = d.y - l1 * o.z;
    let i1 = guarded(d1, least.y);
    let l3 = (o.x - l2 * o.z) * i1;
    let d2 = (d.z - l2 * o.y) - l3 * l3 * d1;
    let i2 = guarded(d2, least.z);
    let c = l1 * l3 - l2;
    let (xy, zx, yz) = (-(i1 * l1) - i2 * (l3 * c), i2 * c, -(i2 * l3));
    let (xx, yy) = ((i0 + i1 * (l1 * l1)) + i2 * (c * c), i1 + i2 * (l3 * l3));
    (Vec3::new(xx, yy, i2), Vec3::new(yz, zx, xy))
}

/// Solves L D Lᵀ x = v with L = (1, 0, 0; l₁, 1, 0; l₂, l₃, 1).
fn solve_ldl(l: Vec3, d: Vec3, v: Vec3) -> Vec3 {
    let y = v.y - l.x * v.x;
    let z = ((v.z - l.y * v.x) - l.z * y) / d.z;
    let y = y / d.y - l.z * z;
    Vec3::new((v.x / d.x - l.x * y) - l.y * z, y, z)
}

/// The angle of the point (x, y) from the x axis \[rad\], −π to π; 0 at the origin.
///
/// The CPU and the GPU use this same polynomial, because built-in `atan2` differs between GPUs. It holds for |t| ≤ tan
/// π/8 (Moshier, Cephes `atanf`, relative error 2e-7) after two exact range reductions.
pub fn atan2(y: f32, x: f32) -> f32 {
    use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    const TAN_PI_8: f32 = 0.414_213_56;
    let (abs_x, abs_y) = (x.abs(), y.abs());
    let (small, large) = (abs_x.min(abs_y), abs_x.max(abs_y));
    if large == 0.0 {
        return 0.0;
    }
    let ratio = small / large;
    let steep = ratio > TAN_PI_8;
    let t = if steep { (ratio - 1.0) / (ratio + 1.0) } else { ratio };
    let z = t * t;
    let p = ((8.053_744_5e-2 * z - 1.387_768_6e-1) * z + 1.997_771_1e-1) * z - 3.333_295e-1;
    let mut angle = p * z * t + t;
    if steep {
        angle += FRAC_PI_4;
    }
    if abs_y > abs_x {
        angle = FRAC_PI_2 - angle;
    }
    if x < 0.0 {
        angle = PI - angle;
    }
    if y < 0.0 { -angle } else { angle }
}

/// Returns a + b rounded, and the rounding error (Knuth's two-sum).
#[inline]
pub fn two_sum(a: Vec3, b: Vec3) -> (Vec3, Vec3) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

/// Rounds the residual of a position to 18 bits; with the 24 bits of the position, 42 in all. With 8 bits, constant
/// small displacements far from the origin would always round to the same side, and slow motion would be too slow.
#[inline]
pub fn kept_of_position(residual: Vec3) -> Vec3 {
    kept(residual, 6)
}

/// Rounds the residual of a displacement to 8 bits; with the displacement, 32 in all.
#[inline]
pub fn kept_of_displacement(residual: Vec3) -> Vec3 {
    kept(residual, 16)
}

/// Rounds away the lowest `dropped` bits.
fn kept(v: Vec3, dropped: u32) -> Vec3 {
    let kept = |v: f32| f32::from_bits(v.to_bits().wrapping_add(1 << (dropped - 1)) >> dropped << dropped);
    Vec3::new(kept(v.x), kept(v.y), kept(v.z))
}

#[cfg(test)]
mod tests {
    use super::solve_symmetric;
    use glam::{Mat3, Vec3};

    #[test]
    fn symmetric_matrices_are_inverted() {
        let turn = Mat3::from_rotation_y(0.7) * Mat3::from_rotation_x(-1.2);
        let k = turn * Mat3::from_diagonal(Vec3::new(3.0, 0.5, 1.7)) * turn.transpose();
        let symmetric = |k: Mat3, scale: f32| {
            let (x, y, z) = (k.x_axis * scale, k.y_axis * scale, k.z_axis * scale);
            (Vec3::new(x.x, y.y, z.z), Vec3::new(y.z, z.x, x.y))
        };
        let expected = Vec3::new(0.3, -1.1, 2.0);
        for scale in [1e-20, 1e-3, 1.0, 1e10] {
            let omega = solve_symmetric(symmetric(k, scale), k * expected * scale);
            assert!(omega.distance(expected) < 1e-4, "{omega}");
        }
        // A rod along x turns about y and z only.
        let rod = (Vec3::new(0.0, 2.0, 2.0), Vec3::ZERO);
        assert!(solve_symmetric(rod, Vec3::new(0.0, 2.0, 4.0)).distance(Vec3::new(0.0, 1.0, 2.0)) < 1e-4);
        assert_eq!(solve_symmetric((Vec3::ZERO, Vec3::ZERO), Vec3::ONE), Vec3::ZERO);
        assert_eq!(solve_symmetric((Vec3::NAN, Vec3::ZERO), Vec3::ONE), Vec3::ZERO);
    }

    #[test]
    fn atan2_is_the_angle() {
        let mut worst = 0f64;
        for k in -1800..1800 {
            let angle = f64::from(k) * std::f64::consts::PI / 1800.0;
            for radius in [1e-15, 1e-3, 1.0, 1e15] {
                let (y, x) = ((radius * angle.sin()) as f32, (radius * angle.cos()) as f32);
                worst = worst.max((f64::from(super::atan2(y, x)) - f64::from(y).atan2(f64::from(x))).abs());
            }
        }
        assert!(worst < 3e-7, "{worst}");
        assert_eq!(super::atan2(0.0, 0.0), 0.0);
        assert_eq!(super::atan2(0.0, -1.0), std::f32::consts::PI);
    }
}
