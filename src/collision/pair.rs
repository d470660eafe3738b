//! Geometry of a contact pair: two particles, a vertex and a triangle, or two edges. `shaders/common/pair.wgsl` is the
//! counterpart, operation by operation.
//!
//! A pair has the particles 0 … 3; a pair of two particles repeats them. The gap between the closest points is n·Σ b x
//! with Σ b = 0.

use crate::geometry::vector::{dot, length};
use glam::{Vec3, Vec4};

/// The kind of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum PairKind {
    Particles = 0,
    /// The first particle against the triangle of the other three.
    VertexTriangle = 1,
    /// The edge of the first two particles against the edge of the last two.
    Edges = 2,
    /// A particle of an edge that passes through the triangle of the other three. The contact pushes it in the
    /// direction that resolves the intersection. The pair list never has this kind, only contacts.
    Crossing = 3,
}

/// The closest points of a pair.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Closest {
    /// Unit vector from the second to the first closest point.
    pub normal: Vec3,
    pub distance: f32,
    /// The weights b.
    pub weights: Vec4,
}

/// The contact constraint of a pair: C = c₀ − n·Σ b d ≤ 0.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Contact {
    pub normal: Vec3,
    pub c0: f32,
    pub weights: Vec4,
}

/// Encodes a pair for the list; the upper two bits of the last particle hold the kind. The order of two particles or
/// two edges has no effect on the code.
pub(crate) fn pack(kind: PairKind, particles: [u32; 4]) -> [u32; 4] {
    let [a, b, c, d] = match (kind, particles) {
        (PairKind::Particles, [a, c, ..]) => [a.min(c), a.max(c), a.max(c), a.max(c)],
        (PairKind::Edges, [a, b, c, d]) if a > c => [c, d, a, b],
        (_, particles) => particles,
    };
    [a, b, c, d | (kind as u32) << 30]
}

pub(crate) fn unpack(row: [u32; 4]) -> (PairKind, [u32; 4]) {
    let [a, b, c, d] = row;
    let kind = match d >> 30 {
        0 => PairKind::Particles,
        1 => PairKind::VertexTriangle,
        2 => PairKind::Edges,
        _ => PairKind::Crossing,
    };
    (kind, [a, b, c, d & 0x3fff_ffff])
}

pub(crate) fn closest(kind: PairKind, p: [Vec3; 4]) -> Closest {
    match kind {
        PairKind::Particles => apart(p[0] - p[1], Vec4::new(1.0, -1.0, 0.0, 0.0)),
        PairKind::VertexTriangle | PairKind::Crossing => vertex_triangle(p),
        PairKind::Edges => edges(p),
    }
}

/// Two points. If they coincide, the normal is arbitrary.
fn apart(difference: Vec3, weights: Vec4) -> Closest {
    let l = length(difference);
    if l > 0.0 {
        return Closest { normal: difference / l, distance: l, weights };
    }
    Closest { normal: Vec3::Y, distance: 0.0, weights }
}

/// Vertex p₀ against triangle p₁ p₂ p₃ (Ericson 2005, *Real-Time Collision Detection*, §5.1.5). If the closest point is
/// inside the triangle, the normal is the triangle's own, oriented towards the vertex: exact at any distance.
fn vertex_triangle(p: [Vec3; 4]) -> Closest {
    let [ab, ac, ap] = [p[2] - p[1], p[3] - p[1], p[0] - p[1]];
    let (d1, d2) = (dot(ab, ap), dot(ac, ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return apart(ap, Vec4::new(1.0, -1.0, 0.0, 0.0));
    }
    let bp = p[0] - p[2];
    let (d3, d4) = (dot(ab, bp), dot(ac, bp));
    if d3 >= 0.0 && d4 <= d3 {
        return apart(bp, Vec4::new(1.0, 0.0, -1.0, 0.0));
    }
    let cp = p[0] - p[3];
    let (d5, d6) = (dot(ab, cp), dot(ac, cp));
    if d6 >= 0.0 && d5 <= d6 {
        return apart(cp, Vec4::new(1.0, 0.0, 0.0, -1.0));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return apart(ap - ab * t, Vec4::new(1.0, t - 1.0, -t, 0.0));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return apart(ap - ac * t, Vec4::new(1.0, t - 1.0, 0.0, -t));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return apart(bp - (p[3] - p[2]) * t, Vec4::new(1.0, 0.0, t - 1.0, -t));
    }
    let sum = va + vb + vc;
    let (v, w) = (vb / sum, vc / sum);
    let weights = Vec4::new(1.0, (v + w) - 1.0, -v, -w);
    let normal = ab.cross(ac);
    let l = length(normal);
    if l == 0.0 {
        return apart(ap, Vec4::new(1.0, -1.0, 0.0, 0.0));
    }
    let normal = normal / l;
    let height = dot(normal, ap);
    let normal = if height < 0.0 { -normal } else { normal };
    Closest { normal, distance: height.abs(), weights }
}

/// Edge p₀ p₁ against edge p₂ p₃ (Ericson 2005, §5.1.9). If the closest points are inside two edges that are not
/// parallel, the normal is their cross product, oriented towards the first edge.
fn edges(p: [Vec3; 4]) -> Closest {
    let [d1, d2, r] = [p[1] - p[0], p[3] - p[2], p[0] - p[2]];
    let (a, e, f) = (dot(d1, d1), dot(d2, d2), dot(d2, r));
    let (b, c) = (dot(d1, d2), dot(d1, r));
    let square = a * e - b * b;
    // The sine of the angle between the edges is above 0.01. Below, their cross product is mostly rounding.
    let oblique = square > 1e-4 * (a * e);
    let mut s = if oblique { ((b * f - c * e) / square).clamp(0.0, 1.0) } else { 0.5 };
    let mut t = if e > 0.0 { (b * s + f) / e } else { 0.0 };
    if !(0.0..=1.0).contains(&t) {
        t = t.clamp(0.0, 1.0);
        s = if a > 0.0 { ((b * t - c) / a).clamp(0.0, 1.0) } else { 0.0 };
    }
    let weights = Vec4::new(1.0 - s, s, t - 1.0, -t);
    let difference = (r + d1 * s) - d2 * t;
    let inside = s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0;
    if !(oblique && inside) {
        return apart(difference, weights);
    }
    let normal = d1.cross(d2);
    let normal = normal / length(normal);
    let height = dot(normal, r);
    let normal = if height < 0.0 { -normal } else { normal };
    Closest { normal, distance: height.abs(), weights }
}

/// Upper bound of the decrease of the distance of a pair in the substep: the largest relative displacement of two of its
/// particles.
pub(crate) fn approach(kind: PairKind, d: [Vec3; 4]) -> f32 {
    let apart = |i: usize, j: usize| length(d[j] - d[i]);
    match kind {
        PairKind::Particles => apart(0, 1),
        PairKind::VertexTriangle | PairKind::Crossing => apart(0, 1).max(apart(0, 2)).max(apart(0, 3)),
        PairKind::Edges => apart(0, 2).max(apart(0, 3)).max(apart(1, 2).max(apart(1, 3))),
    }
}

/// Iterations of the time-of-impact search.
const MOST_ADVANCES: u32 = 10;

/// Elements are in contact if their gap exceeds the thickness by at most this share of it. The solve leaves gaps of this
/// size, and a contact that ended would lose its friction anchor.
pub(crate) const SLACK: f32 = 0.05;

/// Elements that are nearer than their thickness when they meet keep their distance. It grows at this share of the
/// recovery speed up to the thickness, because the separation becomes velocity.
pub(crate) const SEPARATION: f32 = 0.05;
/// They keep at least this share of the thickness: closer, truncation would hold them.
pub(crate) const NEAREST: f32 = 0.1;

fn on_the_way(p: [Vec3; 4], d: [Vec3; 4], time: f32) -> [Vec3; 4] {
    std::array::from_fn(|k| p[k] + d[k] * time)
}

/// Returns a contact constraint if the distance of a pair falls below `thickness` on the motion from p to p + d. The
/// constraint is about the closest points at the time of impact (conservative advancement), so fast particles do not
/// pass through. Initial overlap is corrected by at most `recovery` per substep.
///
/// p is relative to the first particle.
pub(crate) fn meet(kind: PairKind, p: [Vec3; 4], d: [Vec3; 4], thickness: f32, recovery: f32) -> Option<Contact> {
    let mut near = closest(kind, p);
    let mut gap = near.distance - thickness;
    if gap > SLACK * thickness {
        let reach = approach(kind, d);
        if gap >= reach {
            return None;
        }
        let (mut time, mut advances) = (0.0, 0);
        while advances < MOST_ADVANCES && gap > SLACK * thickness {
            time += gap / reach;
            if time > 1.0 {
                return None;
            }
            near = closest(kind, on_the_way(p, d, time));
            gap = near.distance - thickness;
            advances += 1;
        }
    }
    let c0 = (thickness - dot(near.normal, weighted(near.weights, p))).min(recovery);
    let contact = Contact { normal: near.normal, c0, weights: near.weights };
    (c0 - dot(near.normal, weighted(near.weights, d)) > -SLACK * thickness).then_some(contact)
}

/// The share of its gap that a pair always keeps in a substep, and the share of its thickness that it always keeps.
const LEFT: f32 = 0.2;
const FLOOR: f32 = 0.02;

/// The share of the displacement e of each particle that must be cut so that the elements of a pair do not pass through
/// each other; `None` if no cut is needed.
///
/// A division plane lies between the elements, closer to the slower one. No displacement crosses it, so no pair
/// intersects regardless of the motion of its other particles (Chen et al. 2025, *Divide and Truncate*). At a gap of
/// `FLOOR` times the thickness, far above rounding errors, the approach is cut completely.
///
/// Planes are static, so they would also stop elements that move together. With `excused`, a pair that keeps its
/// distance on the motion is not cut. This holds only while no displacement of its particles is cut, hence the
/// iterations of [`crate::schedule::plan::Pass::BuildDivisionPlanes`].
pub(crate) fn cuts(kind: PairKind, p: [Vec3; 4], e: [Vec3; 4], thickness: f32, excused: bool) -> Option<[f32; 4]> {
    let start = closest(kind, p);
    // Elements that start at one point have no sides.
    if start.distance == 0.0 {
        return None;
    }
    // The first element lies above the plane, from `lowest` upwards, the second one below.
    let seconds = if kind == PairKind::Edges { 2 } else { 1 };
    let members = if kind == PairKind::Particles { 2 } else { 4 };
    let heights = p.map(|p| dot(start.normal, p));
    let mut speeds = e.map(|e| dot(start.normal, e));
    speeds[..seconds].iter_mut().for_each(|speed| *speed = -*speed);
    let lowest = heights[..seconds].iter().copied().fold(0.0, f32::min);
    let highest = heights[seconds..members].iter().copied().fold(-1e30, f32::max);
    let above = speeds[..seconds].iter().copied().fold(0.0, f32::max);
    let below = speeds[seconds..members].iter().copied().fold(0.0, f32::max);
    let free_gap = (1.0 - LEFT) * ((lowest - highest) - FLOOR * thickness).max(0.0);
    let gap_below = free_gap * (below / (above + below).max(1e-30));
    // Division on GPUs is not exact, so the difference may be negative.
    let gap_above = (free_gap - gap_below).max(0.0);
    let mut cuts = [0.0; 4];
    for k in 0..members {
        let own = if k < seconds { (heights[k] - lowest) + gap_above } else { (highest - heights[k]) + gap_below };
        if speeds[k] > own {
            cuts[k] = 1.0 - own / speeds[k];
        }
    }
    if cuts == [0.0; 4] {
        return None;
    }
    if !excused {
        return Some(cuts);
    }
    let d = e.map(|p| p - e[0]);
    let floor = (LEFT * start.distance.min(thickness)).max((0.9 * start.distance).min(FLOOR * thickness));
    let reach = approach(kind, d);
    let (mut left, mut time) = (start.distance - floor, 0.0);
    for _ in 0..MOST_ADVANCES {
        time += left / reach;
        if time.is_nan() || time >= 1.0 {
            return None;
        }
        let near = closest(kind, on_the_way(p, d, time));
        left = near.distance - floor;
        if left <= 0.0 {
            break;
        }
    }
    Some(cuts)
}

/// Returns Σ b x.
pub(crate) fn weighted(weights: Vec4, x: [Vec3; 4]) -> Vec3 {
    ((x[0] * weights.x + x[1] * weights.y) + x[2] * weights.z) + x[3] * weights.w
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random number, −1 to 1.
    fn noise(seed: u32) -> f32 {
        let mixed = (seed ^ (seed >> 15)).wrapping_mul(0x2c1b_3c6d);
        let mixed = (mixed ^ (mixed >> 12)).wrapping_mul(0x297a_2d39);
        (mixed ^ (mixed >> 15)) as f32 / u32::MAX as f32 * 2.0 - 1.0
    }

    fn points(seed: u32, size: f32) -> [Vec3; 4] {
        let at = |k: u32| size * noise(12 * seed + k);
        [0, 3, 6, 9].map(|k| Vec3::new(at(k), at(k + 1), at(k + 2)))
    }

    /// Cut displacements do not intersect at any fraction of the motion.
    #[test]
    fn cut_ways_do_not_meet() {
        let thickness = 0.3;
        let (mut cut, mut excused) = (0, 0);
        for seed in 0..20_000 {
            let kind = [PairKind::VertexTriangle, PairKind::Edges][seed as usize % 2];
            let p = points(2 * seed, 1.0);
            let p = p.map(|point| point - p[0]);
            let e = points(2 * seed + 1, 2.0);
            let start = closest(kind, p).distance;
            let Some(shares) = cuts(kind, p, e, thickness, false) else { continue };
            cut += 1;
            excused += u32::from(cuts(kind, p, e, thickness, true).is_none());
            for time in 1..=20 {
                let at_time = |k: usize| {
                    // A different fraction for each particle.
                    let own = 0.5 + 0.5 * noise(seed * 100 + time * 4 + k as u32);
                    p[k] + e[k] * ((1.0 - shares[k]) * own)
                };
                let gap = closest(kind, std::array::from_fn(at_time)).distance;
                assert!(gap >= 0.99 * LEFT * start, "{kind:?} {seed}: {start} became {gap}");
            }
        }
        assert!(cut > 5000 && excused > 500, "{cut} {excused}");
    }

    #[test]
    fn common_motion_is_excused() {
        let p = [Vec3::ZERO, Vec3::new(-1.0, -0.1, -1.0), Vec3::new(1.0, -0.1, -1.0), Vec3::new(0.0, -0.1, 1.0)];
        let together = [Vec3::new(0.0, -3.0, 0.5); 4];
        assert!(cuts(PairKind::VertexTriangle, p, together, 0.1, false).is_some());
        assert!(cuts(PairKind::VertexTriangle, p, together, 0.1, true).is_none());
        let [mut apart, mut into] = [together; 2];
        apart[0].y += 0.05;
        assert!(cuts(PairKind::VertexTriangle, p, apart, 0.1, true).is_none());
        into[0].y -= 0.11;
        let shares = cuts(PairKind::VertexTriangle, p, into, 0.1, true).unwrap();
        assert!(shares[0] > 0.9 && shares[1..] == [0.0; 3], "{shares:?}");
    }
}
