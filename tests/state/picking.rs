//! Picking by a ray, and the catch-up limit of `advance`.

use crate::common::instancing::{few, instances, leaf};
use crate::common::{gpu, hanging_cloth, solver};
use supple::{Attachment, AttachmentTarget, ClothGrid, Cord, Error, ParticlePoint, Ray, Rope, Scene, Settings};

/// Two horizontal sheets, y = 0 and y = −1, and a rope beside them at x = 3.
fn layers() -> Scene {
    let mut scene = Scene::new();
    for y in [0.0, -1.0] {
        let grid = ClothGrid { columns: 9, rows: 9, origin: [-1.0, y, -1.0], ..ClothGrid::default() };
        let grid = ClothGrid { column_axis: [2.0, 0.0, 0.0], row_axis: [0.0, 0.0, 2.0], tethers: None, ..grid };
        scene.add_cloth_grid(&grid).unwrap();
    }
    let cord = Cord { linear_density: 0.1, axial_stiffness: 1e4, damping: 0.0, bend: None, flexural_rigidity: 0.0 };
    let points: Vec<[f32; 3]> = (0..5).map(|k| [3.0, 0.0, 0.25 * k as f32]).collect();
    scene.add_rope(&Rope { points: &points, cord, tethers: None }).unwrap();
    scene
}

fn ray(origin: [f32; 3], direction: [f32; 3]) -> Ray {
    Ray { origin, direction, radius: 0.05 }
}

#[test]
fn a_ray_hits_the_first_triangle_from_either_side_with_the_weights_of_the_point() {
    let scene = layers();
    let positions = scene.positions();
    for (origin, direction, y) in
        [([0.11, 2.0, -0.27], [0.0, -3.0, 0.0], 0.0), ([0.11, -5.0, -0.27], [0.0, 0.1, 0.0], -1.0)]
    {
        let ray = ray(origin, direction);
        let hit = scene.pick(&ray, positions).unwrap().unwrap();
        assert!((hit.distance - f64::from((y - origin[1]).abs())).abs() < 1e-9, "{hit:?}");
        let place = ray.at(hit.distance);
        assert!(place[0] == 0.11 && (place[1] - y).abs() < 1e-6 && place[2] == -0.27, "{place:?}");
        let ParticlePoint::Triangle(corners, weights) = hit.point else { panic!("{hit:?}") };
        assert_eq!(scene.triangles()[hit.triangle.unwrap() as usize], corners);
        let at = [0, 1, 2].map(|axis| (0..3).map(|k| positions[corners[k] as usize][axis] * weights[k]).sum::<f32>());
        assert!((at[0] - 0.11).abs() < 1e-6 && (at[1] - y).abs() < 1e-6 && (at[2] + 0.27).abs() < 1e-6, "{at:?}");
        let distance = |particle: u32| {
            let [x, _, z] = positions[particle as usize];
            (x - at[0]).hypot(z - at[2])
        };
        let nearest = corners.into_iter().min_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap();
        assert_eq!(hit.particle, nearest);
    }
    // Through an edge, and through a vertex.
    for x in [0.0, 0.125, -0.25] {
        for z in [0.0, 0.1, 0.25] {
            let hit = scene.pick(&ray([x, 1.0, z], [0.0, -1.0, 0.0]), positions).unwrap();
            assert!(hit.is_some_and(|hit| hit.distance == 1.0), "{x} {z}: {hit:?}");
        }
    }
    // Behind the origin, and beside everything.
    assert_eq!(scene.pick(&ray([0.0, 1.0, 0.0], [0.0, 1.0, 0.0]), positions), Ok(None));
    assert_eq!(scene.pick(&ray([5.0, 1.0, 0.0], [0.0, -1.0, 0.0]), positions), Ok(None));
    // A radius of 0 hits no rope.
    let thin = Ray { radius: 0.0, ..ray([3.0, 1.0, 0.5], [0.0, -1.0, 0.0]) };
    assert_eq!(scene.pick(&thin, positions), Ok(None));
}

#[test]
fn a_ray_hits_particles_without_triangles_within_its_radius() {
    let scene = layers();
    let rope = 162..167;
    let hit = scene.pick(&ray([3.04, 1.0, 0.51], [0.0, -2.0, 0.0]), scene.positions()).unwrap().unwrap();
    assert_eq!(
        (hit.particle, hit.point, hit.triangle),
        (rope.start + 2, ParticlePoint::Particle(rope.start + 2), None)
    );
    assert!((hit.distance - 1.0).abs() < 1e-9);
    let thin = Ray { radius: 0.01, ..ray([3.04, 1.0, 0.51], [0.0, -2.0, 0.0]) };
    assert_eq!(scene.pick(&thin, scene.positions()), Ok(None));
}

#[test]
fn the_hit_of_a_solver_is_at_its_current_positions_and_fits_an_attachment() {
    let gpu = gpu();
    let (mut scene, _) = hanging_cloth(9, 9);
    scene.reserve_attachments(1).unwrap();
    let mut solver = solver(&gpu, &scene, Settings::default());
    solver.step(20);
    let positions = solver.read_positions().unwrap();
    let [x, y, z] = positions[40];
    let ray = Ray { origin: [x, y + 2.0, z], direction: [0.0, -1.0, 0.0], radius: 0.0 };
    let hit = solver.pick(&ray).unwrap().expect("the cloth is hit");
    assert_eq!((hit.particle, Ok(Some(hit))), (40, scene.pick(&ray, &positions)));
    assert_eq!(solver.pick_at(&ray, &positions), Ok(Some(hit)));
    solver.attach(Attachment::new(hit.point, AttachmentTarget::Space([x, y, z]))).unwrap();
    solver.step(5);
    let after = solver.read_positions().unwrap()[40];
    assert!((0..3).all(|axis| (after[axis] - [x, y, z][axis]).abs() < 0.02), "{after:?}");
}

#[test]
fn an_invalid_ray_is_an_error_that_names_its_value() {
    let scene = layers();
    let good = ray([0.0; 3], [0.0, -1.0, 0.0]);
    for (ray, expected) in [
        (Ray { direction: [0.0; 3], ..good }, "length of the direction of a ray is 0, but must be greater than 0"),
        (Ray { direction: [0.0, f32::NAN, 0.0], ..good }, "direction of a ray is NaN, but must be finite"),
        (Ray { origin: [f32::INFINITY, 0.0, 0.0], ..good }, "origin of a ray is inf, but must be finite"),
        (Ray { radius: -1.0, ..good }, "radius of a ray is -1, but must be finite and at least 0"),
    ] {
        assert_eq!(scene.pick(&ray, scene.positions()).unwrap_err().to_string(), expected);
    }
    let error = scene.pick(&good, &[[0.0; 3]]).unwrap_err();
    assert!(matches!(error, Error::LengthMismatch { left: 1, right: 167, .. }), "{error}");
    // The smallest direction is a direction.
    let tiny = Ray { direction: [0.0, -1e-40, 0.0], origin: [0.1, 1.0, 0.1], ..good };
    assert!(scene.pick(&tiny, scene.positions()).unwrap().is_some());
}

#[test]
fn advance_catches_up_by_at_most_the_limit_and_drops_the_rest() {
    let gpu = gpu();
    let (scene, _) = hanging_cloth(4, 4);
    let mut solver = solver(&gpu, &scene, Settings { dt: 0.01, ..Settings::default() });
    assert_eq!(solver.advance(1.004), 4);
    for limit in [1, 9, 1000] {
        solver.set_catch_up_limit(limit).unwrap();
        assert_eq!(solver.advance(1.0), limit.min(100));
        assert!((solver.interpolation() - 0.4).abs() < 0.02, "{}", solver.interpolation());
    }
    let error = solver.set_catch_up_limit(0).unwrap_err();
    assert_eq!(error.to_string(), "catch-up limit of advance is 0, but must be at least 1 step");
    assert_eq!(solver.advance(0.058), 6);
    let mut pool = instances(&gpu, &leaf(0.5), 2, Settings { dt: 0.01, ..few() });
    pool.set_catch_up_limit(2).unwrap();
    assert_eq!((pool.advance(0.009), pool.advance(0.002), pool.advance(1.0)), (0, 1, 2));
    assert!((pool.interpolation() - 0.1).abs() < 0.02, "{}", pool.interpolation());
    // A shorter step leaves at most one of them.
    pool.set_settings(Settings { dt: 1e-4, ..few() }).unwrap();
    assert!(pool.interpolation() <= 1.0 && pool.advance(0.0) <= 1, "{}", pool.interpolation());
}
