//! Convex hulls as sets of planes.
//!
//! The distance of a point is the greatest n·x − o of all planes. It is exact if the closest point lies on a face, and
//! so at all points inside. Near an edge or a corner outside it is less than the exact distance.

use glam::Vec3;

/// The greatest n·x − o of the planes and the normal of that plane; the counterpart of `hull_sample` in
/// `shaders/collision/collide/hull.wgsl`. Without planes the distance is infinite.
pub(crate) fn sample_hull(planes: &[[f32; 4]], point: [f32; 3]) -> (f32, [f32; 3]) {
    let point = Vec3::from(point);
    let distance = |plane: [f32; 4]| Vec3::new(plane[0], plane[1], plane[2]).dot(point) - plane[3];
    let Some((&first, others)) = planes.split_first() else {
        return (f32::MAX, [0.0, 1.0, 0.0]);
    };
    let (mut best, mut furthest) = (first, distance(first));
    for &plane in others {
        let distance = distance(plane);
        if distance > furthest {
            (best, furthest) = (plane, distance);
        }
    }
    (furthest, [best[0], best[1], best[2]])
}

#[cfg(feature = "mesh-colliders")]
pub(crate) use making::hull_planes;

#[cfg(feature = "mesh-colliders")]
mod making {
    use crate::error::{Error, Result, check_finite};
    use crate::geometry::check_closed;
    use glam::DVec3;
    use parry3d::math::Vector;
    use std::collections::{HashMap, HashSet};

    /// One GPU thread evaluates all planes of a hull.
    const MAX_PLANES: usize = 256;
    /// Tolerance of planes, relative to the extent: flatter point sets have no inside, closer points are coplanar.
    const FLAT: f64 = 1e-5;

    /// The planes of the convex hull of `points` \[m\]: outward unit normals and offsets \[m\], n·x ≤ o inside.
    ///
    /// Faces that are coplanar within 1e-5 of the extent are merged. Each plane touches a point, and all points lie
    /// inside up to `f32` rounding.
    ///
    /// # Errors
    /// - There are fewer than 4 points, a point is not finite, or all points are coplanar.
    /// - The hull has more than 256 planes.
    pub(crate) fn hull_planes(points: &[[f32; 3]]) -> Result<Vec<[f32; 4]>> {
        if points.is_empty() {
            return Err(Error::Empty { what: "point list of a convex hull" });
        }
        if points.len() < 4 {
            return Err(Error::invalid("number of points of a convex hull", points.len() as f64, "at least 4"));
        }
        for (index, &point) in points.iter().enumerate() {
            check_finite(|| format!("point {index} of a convex hull"), point)?;
        }
        let mut known = HashMap::with_capacity(points.len());
        let mut cloud: Vec<DVec3> = Vec::with_capacity(points.len());
        for point in points {
            // Adding 0 turns −0 into 0.
            known.entry(point.map(|x| (x + 0.0).to_bits())).or_insert_with(|| cloud.push(point.map(f64::from).into()));
        }
        let frame = Frame::new(&cloud)?;
        let triangles = frame.hull(&cloud)?;
        merged(&cloud, &triangles, frame.tolerance)
    }

    /// Axes along which the points have extent 1 each, so thin plates have hulls too. An affine map preserves convex
    /// hulls.
    struct Frame {
        origin: DVec3,
        /// Each is divided by the extent along it.
        axes: [DVec3; 3],
        /// Tolerance of coplanar points \[m\].
        tolerance: f64,
    }

    impl Frame {
        fn new(cloud: &[DVec3]) -> Result<Self> {
            let furthest = |measure: &dyn Fn(DVec3) -> f64| {
                cloud.iter().copied().max_by(|a, b| measure(*a).total_cmp(&measure(*b))).unwrap_or_default()
            };
            let origin = furthest(&|p| -p.x);
            let along = furthest(&|p| (p - origin).length()) - origin;
            let extent = along.length();
            let size = cloud.iter().fold(0.0f64, |size, p| size.max(p.abs().max_element()));
            let tolerance = (FLAT * extent).max(4.0 * f64::from(f32::EPSILON) * size);
            let x = along.normalize_or_zero();
            let across = furthest(&|p| (p - origin).cross(x).length()) - origin;
            let across = across - x * across.dot(x);
            let y = across.normalize_or_zero();
            let z = x.cross(y);
            let thickness = (furthest(&|p| (p - origin).dot(z).abs()) - origin).dot(z).abs();
            let least = extent.min(across.length()).min(thickness);
            if least <= tolerance {
                let what = format!("thickness of the points of a convex hull with an extent of {extent:e} m");
                return Err(Error::invalid(
                    what,
                    least,
                    "more than 1e-5 of the extent (they lie in a plane or a line)",
                ));
            }
            Ok(Self { origin, axes: [x / extent, y / across.length(), z / thickness], tolerance })
        }

        /// The triangles of the hull, as indices into `cloud`, counterclockwise seen from outside.
        fn hull(&self, cloud: &[DVec3]) -> Result<Vec<[usize; 3]>> {
            let place = |p: &DVec3| self.axes.map(|axis| (*p - self.origin).dot(axis) as f32 + 0.0);
            let mut known: HashMap<[u32; 3], usize> = HashMap::with_capacity(cloud.len());
            let mut points = Vec::with_capacity(cloud.len());
            for (index, point) in cloud.iter().enumerate() {
                let place = place(point);
                known.entry(place.map(f32::to_bits)).or_insert_with(|| {
                    points.push(Vector::from(place));
                    index
                });
            }
            check_extremes(&points)?;
            let failed =
                || Error::invalid("number of faces of a convex hull", 0.0, "at least 4 (its points are too close)");
            // parry3d asserts the consistency of its rounding; a failed assertion becomes an error.
            let (vertices, triangles) = std::panic::catch_unwind(|| parry3d::transformation::try_convex_hull(&points))
                .map_err(|_| failed())?
                .map_err(|_| failed())?;
            check_closed(&triangles).map_err(|_| failed())?;
            let index = |vertex: u32| {
                let place = vertices.get(vertex as usize)?.to_array();
                known.get(&place.map(f32::to_bits)).copied()
            };
            triangles
                .iter()
                .map(|t| Some([index(t[0])?, index(t[1])?, index(t[2])?]))
                .collect::<Option<_>>()
                .ok_or_else(failed)
        }
    }

    /// Rejects hulls with too many corners before the costly hull of a large point set is computed. A hull with V
    /// corners has at least (V + 4)/2 faces.
    fn check_extremes(points: &[Vector]) -> Result<()> {
        if points.len() <= 4 * MAX_PLANES {
            return Ok(());
        }
        let directions = 4096;
        let extreme = |index: u32| {
            // Directions spread evenly by the golden angle.
            let y = 1.0 - (2 * index + 1) as f32 / directions as f32;
            let (sin, cos) = (index as f32 * 2.399_963_2).sin_cos();
            let direction = Vector::new((1.0 - y * y).sqrt() * cos, y, (1.0 - y * y).sqrt() * sin);
            let height = |point: &&Vector| point.dot(direction);
            points.iter().max_by(|a, b| height(a).total_cmp(&height(b))).map(|point| point.to_array().map(f32::to_bits))
        };
        let corners = (0..directions).filter_map(extreme).collect::<HashSet<_>>().len();
        too_large(corners.div_ceil(2) + 2)
    }

    fn too_large(planes: usize) -> Result<()> {
        if planes <= MAX_PLANES {
            return Ok(());
        }
        let (count, limit) = (planes as u64, MAX_PLANES as u64);
        Err(Error::TooLarge { what: "planes of a convex hull (at least)", count, limit })
    }

    /// Merges coplanar triangles into planes, the largest triangle first: small triangles have imprecise normals.
    fn merged(cloud: &[DVec3], triangles: &[[usize; 3]], tolerance: f64) -> Result<Vec<[f32; 4]>> {
        let mut faces: Vec<([DVec3; 3], DVec3)> = triangles
            .iter()
            .filter_map(|t| {
                let [a, b, c] = [cloud.get(t[0])?, cloud.get(t[1])?, cloud.get(t[2])?].map(|p| *p);
                Some(([a, b, c], (b - a).cross(c - a)))
            })
            .collect();
        faces.sort_by(|a, b| b.1.length_squared().total_cmp(&a.1.length_squared()));
        let mut planes: Vec<(DVec3, f64)> = Vec::new();
        for (corners, normal) in faces {
            let normal = normal.normalize_or_zero();
            let same = |&(n, o): &(DVec3, f64)| {
                n.dot(normal) >= 0.0 && corners.iter().all(|p| (n.dot(*p) - o).abs() <= tolerance)
            };
            if normal != DVec3::ZERO && !planes.iter().any(same) {
                planes.push((normal, normal.dot(corners[0])));
                if planes.len() > 16 * MAX_PLANES {
                    break;
                }
            }
        }
        too_large(planes.len())?;
        // The offset is computed from the rounded normal and from all points, so points outside the hull by rounding
        // are inside.
        let rounded = |(n, _): &(DVec3, f64)| {
            let n = n.as_vec3();
            let offset = cloud.iter().fold(f64::MIN, |o, p| o.max(n.as_dvec3().dot(*p)));
            [n.x, n.y, n.z, offset as f32]
        };
        Ok(planes.iter().map(rounded).collect())
    }
}

#[cfg(all(test, feature = "mesh-colliders"))]
mod tests {
    use super::super::shapes::{cuboid, cuboid_distance, numbers, sphere};
    use super::*;
    use crate::error::Error;

    fn planes(points: &[[f32; 3]]) -> Vec<[f32; 4]> {
        hull_planes(points).unwrap()
    }

    /// Asserts that no point is outside, every plane touches a point, and normals have length 1.
    fn check(points: &[[f32; 3]], planes: &[[f32; 4]], size: f32) {
        for plane in planes {
            let normal = Vec3::new(plane[0], plane[1], plane[2]);
            assert!((normal.length() - 1.0).abs() < 1e-6, "{plane:?}");
            let most = points.iter().map(|p| normal.dot(Vec3::from(*p)) - plane[3]).fold(f32::MIN, f32::max);
            assert!(most.abs() < 1e-6 * size, "{plane:?}: {most}");
        }
    }

    #[test]
    fn a_box_has_six_planes_and_its_distances() {
        let half = Vec3::new(0.5, 0.3, 0.8);
        let mut random = numbers(5);
        let (mut points, _) = cuboid(half);
        // Points inside, on faces and on edges add no planes.
        for _ in 0..200 {
            let p = half * (2.0 * Vec3::new(random(), random(), random()) - 1.0);
            points.extend([p.into(), [half.x, p.y, p.z], [p.x, -half.y, half.z], [p.x, p.y, -half.z]]);
        }
        let planes = planes(&points);
        assert_eq!(planes.len(), 6, "{planes:?}");
        check(&points, &planes, 1.0);
        for _ in 0..500 {
            let p = 1.5 * (2.0 * Vec3::new(random(), random(), random()) - 1.0);
            let (distance, normal) = sample_hull(&planes, p.into());
            assert!((distance - (p.abs() - half).max_element()).abs() < 1e-5, "{p}: {distance}");
            assert!(distance <= cuboid_distance(half, p) + 1e-5);
            let step = Vec3::from(sample_hull(&planes, (p + 1e-2 * Vec3::from(normal)).into()).1);
            assert_eq!(step, Vec3::from(normal));
        }
    }

    #[test]
    fn plates_and_needles_have_hulls_wherever_they_are() {
        let turn = glam::Quat::from_euler(glam::EulerRot::XYZ, 0.4, 1.1, -0.3);
        for half in [[1.0, 1e-3, 1.0], [1.0, 1e-3, 1e-3], [1e-6, 1e-6, 1e-6], [1e6, 1e6, 1e4]] {
            for place in [Vec3::ZERO, Vec3::new(3.0, -2.0, 5.0) * half[0]] {
                let points: Vec<_> =
                    cuboid(half.into()).0.iter().map(|p| (turn * Vec3::from(*p) + place).into()).collect();
                let planes = planes(&points);
                assert_eq!(planes.len(), 6, "{half:?}: {planes:?}");
                check(&points, &planes, 10.0 * half[0]);
            }
        }
    }

    #[test]
    fn clouds_lie_in_their_hulls() {
        let mut random = numbers(9);
        let mut made = 0;
        for trial in 0..400 {
            let count = 4 + (random() * 100.0) as usize;
            let scale = Vec3::new(1.0, 10f32.powf(-2.0 * random()), 10f32.powf(-2.0 * random()));
            let cloud = |_| {
                let p = Vec3::new(random(), random(), random()) - 0.5;
                // Random points, a lattice, a sphere, and clusters at the corners of a box.
                let p = match trial % 4 {
                    0 => p,
                    1 => (4.0 * p).round(),
                    2 => p.normalize(),
                    _ => p.signum() + 1e-6 * p,
                };
                (scale * p).into()
            };
            let points: Vec<[f32; 3]> = (0..count).map(cloud).collect();
            match hull_planes(&points) {
                Ok(planes) => {
                    assert!(planes.len() >= 4);
                    check(&points, &planes, 4.0);
                    made += 1;
                }
                // Only four points of a lattice may be coplanar.
                Err(fault) => {
                    assert!(matches!(fault, Error::InvalidValue { .. }) && trial % 4 != 0, "{trial}: {fault}")
                }
            }
        }
        assert!(made > 350, "{made}");
    }

    #[test]
    fn a_ball_of_a_few_points_is_a_polyhedron() {
        let (points, triangles) = sphere(5);
        let planes = planes(&points);
        assert!(planes.len() > 100 && planes.len() <= triangles.len(), "{}", planes.len());
        check(&points, &planes, 1.0);
        assert!((sample_hull(&planes, [0.0; 3]).0 + 0.96).abs() < 0.04);
    }

    #[test]
    fn an_invalid_hull_is_refused() {
        let fault = |points: &[[f32; 3]]| hull_planes(points).unwrap_err();
        assert!(matches!(fault(&[]), Error::Empty { .. }));
        assert!(matches!(fault(&[[0.0; 3], [1.0; 3], [0.0, 1.0, 0.0]]), Error::InvalidValue { value: 3.0, .. }));
        for bad in [f32::NAN, f32::INFINITY] {
            let points = [[0.0; 3], [1.0; 3], [0.0, 1.0, 0.0], [0.0, 0.0, bad]];
            assert!(matches!(fault(&points), Error::InvalidValue { what, .. } if what.contains("point 3")));
        }
        let mut random = numbers(1);
        let axes = [Vec3::new(0.3, 1.0, -0.2), Vec3::new(1.0, 0.1, 0.7)];
        for dimension in 0..3 {
            let points: Vec<[f32; 3]> = (0..40)
                .map(|_| axes[..dimension].iter().fold(Vec3::new(3.0, 2.0, 1.0), |p, axis| p + random() * axis).into())
                .collect();
            assert!(
                matches!(fault(&points), Error::InvalidValue { what, .. } if what.contains("thickness")),
                "{dimension}"
            );
        }
        // Rejected by the number of planes, and for a large point set by the number of corners.
        assert!(matches!(fault(&sphere(8).0), Error::TooLarge { limit: 256, .. }));
        assert!(matches!(fault(&sphere(100).0), Error::TooLarge { count: 257.., .. }));
        // Without planes the distance is infinite.
        assert_eq!(sample_hull(&[], [0.0; 3]).0, f32::MAX);
    }
}
