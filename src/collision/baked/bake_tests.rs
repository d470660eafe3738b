use super::super::shapes::{cuboid, cuboid_distance, numbers, sphere, star, torus, torus_distance};
use super::*;
use glam::Vec3;
use parry3d::math::Vector;
use parry3d::query::PointQuery;
use parry3d::shape::{TriMesh, TriMeshFlags};

/// The greatest and the mean error of a field against the exact distance, at random points in its grid.
fn deviation(field: &DistanceField, exact: impl Fn(Vec3) -> f32) -> (f32, f32) {
    let mut random = numbers(11);
    let count = 5000;
    let reach = field.cell * Vec3::from(field.dims.map(|dim| (dim - 1) as f32));
    let (mut most, mut sum) = (0.0f32, 0.0);
    for _ in 0..count {
        let p = Vec3::from(field.origin) + Vec3::new(random(), random(), random()) * reach;
        let error = (field.sample(p.into()).0 - exact(p)).abs();
        most = most.max(error);
        sum += error;
    }
    (most, sum / count as f32)
}

/// The greatest slope between neighbouring samples; a distance has at most 1, and one wrong sign exceeds it.
fn steps(field: &DistanceField) -> f32 {
    let [columns, rows, _] = field.dims.map(|dim| dim as usize);
    let mut most = 0.0f32;
    for (index, &value) in field.values.iter().enumerate() {
        for (step, last) in [
            (1, index % columns + 1 == columns),
            (columns, index / columns % rows + 1 == rows),
            (columns * rows, false),
        ] {
            if let (false, Some(next)) = (last, field.values.get(index + step)) {
                most = most.max((next - value).abs() / field.cell);
            }
        }
    }
    most
}

#[test]
fn a_sphere_is_a_sphere() {
    let (vertices, triangles) = sphere(16);
    let field = DistanceField::bake(&vertices, &triangles, Some(0.1), Sides::Closed).unwrap();
    assert!(field.signed);
    assert_eq!(field.dims, [29; 3]);
    // The triangles lie up to 0.008 m inside the sphere. The distance has a peak at the centre, at a corner of eight
    // cells.
    let (most, mean) = deviation(&field, |p| p.length() - 1.0);
    assert!(most < 0.06 && mean < 6e-3, "{most} {mean}");
    let (distance, normal) = field.sample([0.6, -0.7, 0.2]);
    let p = Vec3::new(0.6, -0.7, 0.2);
    assert!((distance - (p.length() - 1.0)).abs() < 0.01, "{distance}");
    assert!(Vec3::from(normal).dot(p.normalize()) > 0.995, "{normal:?}");
    assert!(steps(&field) < 1.001, "{}", steps(&field));
}

#[test]
fn a_box_is_exact_at_its_samples() {
    let half = Vec3::new(0.5, 0.3, 0.8);
    let (vertices, triangles) = cuboid(half);
    let field = DistanceField::bake(&vertices, &triangles, Some(0.1), Sides::Closed).unwrap();
    assert_eq!(field.dims, [19, 15, 25]);
    for (index, value) in field.values.iter().enumerate() {
        let p = field.place([index % 19, index / 19 % 15, index / (19 * 15)]).as_vec3();
        assert!((value - cuboid_distance(half, p)).abs() < 1e-5, "{p}: {value}");
    }
    // Faces are exact between samples as well.
    let (distance, normal) = field.sample([0.55, 0.12, -0.33]);
    assert!((distance - 0.05).abs() < 1e-5 && normal[0] > 0.999_99, "{distance} {normal:?}");
}

#[test]
fn a_torus_has_its_hole() {
    let (vertices, triangles) = torus(1.0, 0.4, 48);
    let field = DistanceField::bake(&vertices, &triangles, Some(0.1), Sides::Closed).unwrap();
    let (most, mean) = deviation(&field, |p| torus_distance(1.0, 0.4, p));
    assert!(most < 0.08 && mean < 0.01, "{most} {mean}");
    assert!(field.sample([0.0; 3]).0 > 0.5);
    assert!(field.sample([1.0, 0.0, 0.0]).0 < -0.3);
}

#[test]
fn signs_hold_beside_sharp_corners() {
    let (vertices, triangles) = star();
    let field = DistanceField::bake(&vertices, &triangles, Some(0.041), Sides::Closed).unwrap();
    assert!(steps(&field) < 1.001, "{}", steps(&field));
    assert!(field.values.iter().any(|value| *value < 0.0));
}

#[test]
fn where_and_how_large_a_mesh_is_makes_no_difference() {
    let (vertices, triangles) = sphere(6);
    let plain = DistanceField::bake(&vertices, &triangles, Some(0.25), Sides::Closed).unwrap();
    for (scale, aside) in [(1.0f32, 64.0f32), (1024.0, 0.0), (9.5367e-7, 0.0), (1.0e6, 0.0)] {
        let moved: Vec<_> = vertices.iter().map(|vertex| vertex.map(|x| x * scale + aside)).collect();
        let field = DistanceField::bake(&moved, &triangles, Some(0.25 * scale), Sides::Closed).unwrap();
        assert_eq!(field.dims, plain.dims);
        for (a, b) in field.values.iter().zip(&plain.values) {
            assert!((a / scale - b).abs() < 2e-5, "{scale} {aside}: {a} {b}");
        }
    }
}

#[test]
fn inside_out_is_turned() {
    let (vertices, triangles) = sphere(4);
    let turned: Vec<_> = triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
    let bake = |triangles: &[[u32; 3]]| DistanceField::bake(&vertices, triangles, Some(0.2), Sides::Closed).unwrap();
    let (right, wrong) = (bake(&triangles), bake(&turned));
    assert!(right.sample([0.0; 3]).0 < -0.6);
    for (a, b) in right.values.iter().zip(&wrong.values) {
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
}

#[test]
fn an_open_sheet_has_a_distance_on_both_sides() {
    let vertices = [[-1.0, 0.0, -1.0], [1.0, 0.0, -1.0], [1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]];
    let field = DistanceField::bake(&vertices, &[[0, 2, 1], [0, 3, 2]], None, Sides::Open).unwrap();
    assert!(!field.signed);
    assert_eq!(field.dims, [73, 9, 73]);
    assert_eq!(field.cell, 2.0 / 64.0);
    for y in [-0.1f32, 0.1] {
        let (distance, normal) = field.sample([0.3, y, -0.2]);
        assert!((distance - 0.1).abs() < 1e-5, "{distance}");
        assert!((normal[1] - y.signum()).abs() < 1e-4, "{normal:?}");
    }
}

#[test]
fn an_invalid_mesh_is_refused() {
    let (vertices, triangles) = sphere(2);
    let bake = |vertices: &[[f32; 3]], triangles: &[[u32; 3]], cell| {
        DistanceField::bake(vertices, triangles, cell, Sides::Closed).unwrap_err()
    };
    assert!(matches!(bake(&[], &triangles, None), Error::Empty { .. }));
    assert!(matches!(bake(&vertices, &[], None), Error::Empty { .. }));
    assert!(matches!(bake(&vertices, &triangles[1..], None), Error::OpenSurface { boundary_edges: 3, .. }));
    let mut one_turned = triangles.clone();
    one_turned[5].swap(0, 1);
    assert!(matches!(bake(&vertices, &one_turned, None), Error::OpenSurface { inconsistent_edges: 3, .. }));
    let mut astray = triangles.clone();
    astray[3][1] = 99;
    assert!(matches!(bake(&vertices, &astray, None), Error::IndexOutOfRange { index: 99, .. }));
    let mut twice = triangles.clone();
    twice[3][1] = twice[3][0];
    assert!(matches!(bake(&vertices, &twice, None), Error::RepeatedIndex { .. }));
    let mut nan = vertices.clone();
    nan[2][1] = f32::NAN;
    assert!(matches!(bake(&nan, &triangles, None), Error::InvalidValue { .. }));
    let mut flat = vertices.clone();
    flat[triangles[0][0] as usize] = flat[triangles[0][1] as usize];
    assert!(matches!(bake(&flat, &triangles, None), Error::DegenerateTriangle { triangle: 0, .. }));
    for cell in [0.0, -1.0, f32::NAN, f32::INFINITY, 1.1e6, f32::MAX] {
        let error = bake(&vertices, &triangles, Some(cell));
        assert!(matches!(error, Error::InvalidValue { ref what, .. } if what.starts_with("cell")), "{cell}: {error}");
    }
    for cell in [0.007, 1e-20, f32::MIN_POSITIVE] {
        assert!(matches!(bake(&vertices, &triangles, Some(cell)), Error::TooLarge { .. }), "{cell}");
    }
    // The two sides of a sheet enclose no volume.
    assert!(matches!(
        bake(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], &[[0, 1, 2], [0, 2, 1]], None),
        Error::InvalidValue { what, .. } if what.contains("volume")
    ));
}

/// Within two cells of the surface, at the default resolution.
#[test]
fn a_field_agrees_with_the_closest_triangle() {
    let (vertices, triangles) = sphere(11);
    let corners = vertices.iter().map(|p| Vector::from(*p)).collect();
    let mesh = TriMesh::with_flags(corners, triangles.clone(), TriMeshFlags::ORIENTED).unwrap();
    let field = DistanceField::bake(&vertices, &triangles, Some(1.0 / 32.0), Sides::Closed).unwrap();
    let mut random = numbers(1);
    let count = 5000;
    let (mut most, mut sum, mut widest, mut angles) = (0.0f32, 0.0, 0.0f32, 0.0);
    for _ in 0..count {
        let p = Vec3::new(random(), random(), random()) * 2.0 - 1.0;
        let p = p.normalize() * (1.0 + (2.0 * random() - 1.0) / 16.0);
        let hit = mesh.project_local_point(Vector::from(p.to_array()), false);
        let away = p - Vec3::from(hit.point.to_array());
        let exact = if hit.is_inside { -away.length() } else { away.length() };
        let (distance, normal) = field.sample(p.into());
        let error = (distance - exact).abs();
        (most, sum) = (most.max(error), sum + error);
        // The direction to a point on the surface is not known.
        if exact.abs() > 1e-3 {
            let angle = Vec3::from(normal).dot(away / exact).clamp(-1.0, 1.0).acos().to_degrees();
            (widest, angles) = (widest.max(angle), angles + angle);
        }
    }
    let (error, angle) = (sum / count as f32, angles / count as f32);
    assert!(most < 3e-3 && error < 0.2e-3, "errors of the distance: {most}, mean {error}");
    assert!(widest < 15.0 && angle < 1.2, "errors of the normal: {widest}°, mean {angle}°");
}
