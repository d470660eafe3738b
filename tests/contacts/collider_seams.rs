//! Seams between colliders: adjacent chunks of a terrain, and floors of several boxes, hulls and meshes.

use crate::common;
use crate::common::{Pair, noise};
use supple::{
    Collider, ContactMaterial, ContactMaterialId, Friction, Heightfield, Particle, Pose, Reference, Scene,
    SelfCollision, Settings, Shape,
};

/// The distance that a particle of the default material keeps from a collider \[m\].
const KEEP: f32 = 0.0025;

/// Heights of a steep terrain of 13 × 13 points; its chunks have 5 × 5 points.
fn steep(column: u32, row: u32) -> f32 {
    let (x, z) = (column as f32, row as f32);
    0.8 * (0.9 * x + 0.3 * z).sin() + 0.6 * (0.8 * z - 0.4 * x).cos() + 0.3 * noise(row * 13 + column)
}

/// The height of the terrain at (x, z) \[m\] from its centre.
fn ground(x: f32, z: f32, spacing: f32) -> f32 {
    let [u, v] = [x, z].map(|x| (x / spacing + 6.0).clamp(0.0, 12.0));
    let [c, r] = [u, v].map(|u| (u as u32).min(11));
    let [s, t] = [u - c as f32, v - r as f32];
    let height = |c, r| spacing * steep(c, r);
    if s + t <= 1.0 {
        return height(c, r) + s * (height(c + 1, r) - height(c, r)) + t * (height(c, r + 1) - height(c, r));
    }
    let far = height(c + 1, r + 1);
    far + (1.0 - s) * (height(c, r + 1) - far) + (1.0 - t) * (height(c + 1, r) - far)
}

/// Adds the terrain as one heightfield, or as 3 × 3 chunks in a shuffled order.
fn add_terrain(scene: &mut Scene, chunked: bool, at: [f32; 3], spacing: f32, material: ContactMaterialId) {
    let mut add = |heights: Vec<f32>, count: u32, [x, z]: [f32; 2]| {
        let ground = Heightfield { columns: count, rows: count, spacing, heights, ends_at_border: chunked };
        let position = [at[0] + x, at[1], at[2] + z];
        scene.add_collider(Collider { material, ..Collider::new(ground.into(), position) }).unwrap();
    };
    let height = |column, row| spacing * steep(column, row);
    if !chunked {
        return add((0..169).map(|i| height(i % 13, i / 13)).collect(), 13, [0.0; 2]);
    }
    for chunk in [4u32, 0, 8, 2, 6, 1, 7, 3, 5] {
        let [column, row] = [chunk % 3, chunk / 3];
        let heights = (0..25).map(|i| height(4 * column + i % 5, 4 * row + i / 5)).collect();
        add(heights, 5, [column, row].map(|k| (k as f32 - 1.0) * 4.0 * spacing));
    }
}

/// 108 particles above the seams and corners that fall and move in all directions, displaced by `aside` spacings.
fn over_seams(at: [f32; 3], spacing: f32, speed: f32, friction: f32, aside: [f32; 2]) -> (Scene, ContactMaterialId) {
    let mut scene = Scene::new();
    let friction = Friction { statics: friction, kinetic: friction };
    let own = scene.add_contact_material(ContactMaterial { friction, ..ContactMaterial::default() }).unwrap();
    let near = [-2.0, 0.0, 2.0];
    for i in 0..108u32 {
        let angle = (i % 12) as f32 * std::f32::consts::PI / 6.0;
        let [x, z] = [near[i as usize / 12 % 3] + aside[0], near[i as usize / 36] + aside[1]];
        // Some start above the seam, others move towards it.
        let back = if i % 5 == 0 { 0.0 } else { 0.6 };
        let [x, z] = [spacing * (x - back * angle.cos()), spacing * (z - back * angle.sin())];
        let position = [at[0] + x, at[1] + ground(x, z, spacing) + 0.3 * spacing, at[2] + z];
        let velocity = [speed * angle.cos(), -speed, speed * angle.sin()];
        scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
    }
    scene.set_particle_contact(0..108, own).unwrap();
    (scene, own)
}

fn length(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f32>().sqrt()
}

#[test]
fn chunks_of_a_terrain_act_like_the_undivided_terrain() {
    for (speed, friction) in [(0.0, 0.0), (0.0, 1000.0), (3.0, 0.0), (3.0, 0.3), (3.0, 1000.0)] {
        let [mut whole, mut chunked] = [false, true].map(|is_chunked| {
            let (mut scene, material) = over_seams([0.0; 3], 1.0, speed, friction, [0.0137, -0.0071]);
            add_terrain(&mut scene, is_chunked, [0.0; 3], 1.0, material);
            Reference::new(&scene, Settings { substeps: 10, ..Settings::default() }).unwrap()
        });
        let mut apart = Vec::new();
        for _ in 0..50 {
            // Both start from the same state, so that a rounding at a ridge does not accumulate.
            whole.set_positions(0, &chunked.read_positions().unwrap()).unwrap();
            whole.set_velocities(0, &chunked.read_velocities().unwrap()).unwrap();
            whole.step(1);
            chunked.step(1);
            apart.extend(
                whole
                    .read_positions()
                    .unwrap()
                    .into_iter()
                    .zip(chunked.read_positions().unwrap())
                    .map(|(a, b)| length(a, b)),
            );
        }
        apart.sort_by(f32::total_cmp);
        let count = apart.len();
        // Within a substep, an impact near a seam touches both triangles; on the single heightfield it touches only the
        // first one.
        let (most, few) = (apart[count - 1], apart[count - 1 - count / 200]);
        println!("{speed} m/s, friction {friction}: 99.5 % within {few} m, all within {most} m");
        assert!(few < 1e-4 && most < 0.05, "{speed} m/s, friction {friction}: {few} {most}");
    }
}

#[test]
fn no_particle_falls_through_the_seams_of_chunks() {
    // On the seams, at positions with rounding, and at high speed.
    for (at, spacing, speed) in [
        ([0.0; 3], 1.0, 0.0),
        ([0.0; 3], 1.0, 3.0),
        ([0.0; 3], 0.1, 0.0),
        ([1234.5, 3.0, -987.6], 0.7, 1.0),
        ([0.0; 3], 1.0, 100.0),
    ] {
        for friction in [0.0, 1000.0] {
            let (mut scene, material) = over_seams(at, spacing, speed, friction, [0.0; 2]);
            add_terrain(&mut scene, true, at, spacing, material);
            let mut reference = Reference::new(&scene, Settings { substeps: 10, ..Settings::default() }).unwrap();
            for frame in 0..90 {
                reference.step(1);
                for [x, y, z] in reference.read_positions().unwrap() {
                    let [x, y, z] = [x - at[0], y - at[1], z - at[2]];
                    if x.abs().max(z.abs()) < 6.0 * spacing {
                        let below = ground(x, z, spacing) - y;
                        let what = format!("spacing {spacing}, {speed} m/s, friction {friction}, frame {frame}");
                        // For one substep a fast particle may be in the corner between two triangles.
                        let most = if frame < 80 && speed > 10.0 { 0.02 } else { 1e-3 };
                        assert!(below < most, "{what}: {below} m below the surface at {x} {y} {z}");
                    }
                }
            }
        }
    }
}

#[test]
fn particles_beside_a_bounded_heightfield_fall_freely() {
    let count = 40;
    let heights = (0..25).map(|i| 0.5 * noise(i)).collect();
    let block = Heightfield { columns: 5, rows: 5, spacing: 1.0, heights, ends_at_border: true };
    let mut scene = Scene::new();
    for i in 0..count {
        let along = -2.5 + 5.0 * (i / 4) as f32 / 9.0;
        let out = [2.0 + 1e-4, -2.0 - 1e-4][i % 2];
        let [x, z] = if i % 4 < 2 { [out, along] } else { [along, out] };
        // Above the surface, at its height, and below it.
        let position = [x, [1.0, 0.1, -0.5, -3.0][i / 4 % 4], z];
        let velocity = if i % 4 < 2 { [0.0, 0.0, 0.5] } else { [-0.5, 0.0, 0.0] };
        scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
    }
    let free = |scene: &Scene| {
        let mut reference = Reference::new(scene, Settings::default()).unwrap();
        reference.step(30);
        reference.read_positions().unwrap()
    };
    let without = free(&scene);
    scene.add_collider(Collider::new(block.into(), [0.0; 3])).unwrap();
    assert_eq!(free(&scene), without);
}

#[test]
fn particles_that_enter_below_the_surface_are_not_ejected() {
    let mut scene = Scene::new();
    for i in 0..20 {
        let velocity = [[0.5, 5.0, 50.0][i % 3], 0.0, 0.0];
        let position = [-1.0, -0.05 * i as f32 - 0.05, 0.02 * i as f32];
        scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
    }
    let block = Heightfield { ends_at_border: true, ..Heightfield::default() };
    scene.add_collider(Collider::new(block.into(), [0.0; 3])).unwrap();
    let mut reference = Reference::new(&scene, Settings { gravity: [0.0; 3], ..Settings::default() }).unwrap();
    for _ in 0..60 {
        reference.step(1);
        assert!(
            reference.read_velocities().unwrap().iter().all(|v| v[1] < 1.0),
            "{:?}",
            reference.read_velocities().unwrap()
        );
    }
}

#[test]
fn chunks_agree_on_both_backends() {
    let gpu = common::gpu();
    for (speed, friction) in [(2.0, 0.0), (20.0, 1000.0)] {
        let (mut scene, material) = over_seams([0.0; 3], 1.0, speed, friction, [0.0; 2]);
        add_terrain(&mut scene, true, [0.0; 3], 1.0, material);
        let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 10, ..Settings::default() });
        pair.run(25, 1e-3, "chunks");
    }
}

/// Particles at rest.
fn loose(places: &[[f32; 3]]) -> Scene {
    let mut scene = Scene::new();
    for &position in places {
        scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
    }
    scene
}

fn cuboid(half: [f32; 3]) -> Shape {
    Shape::Box { half_extents: half }
}

/// A cube of 1 m as each shape that can represent it.
fn cubes() -> Vec<(&'static str, Shape)> {
    let corner = |i: u32| [0, 1, 2].map(|axis| if i >> axis & 1 == 0 { -0.5 } else { 0.5 });
    let corners: Vec<[f32; 3]> = (0..8).map(corner).collect();
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles: Vec<[u32; 3]> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    vec![
        ("box", cuboid([0.5; 3])),
        ("hull", Shape::ConvexHull { points: corners.clone() }),
        ("mesh", Shape::mesh(&corners, &triangles, Some(0.05)).unwrap()),
    ]
}

/// The positions after `steps` steps on the reference, without and with the surface level; the first steps are compared
/// with the GPU.
fn after(scene: &Scene, steps: u32) -> Vec<[f32; 3]> {
    let gpu = common::gpu();
    let play = |self_collision| {
        let settings = Settings { self_collision, substeps: 8, ..Settings::default() };
        let mut pair = Pair::new(&gpu, scene, settings);
        pair.run(6, 1e-3, "seams");
        pair.reference.step(steps - 6);
        pair.reference.read_positions().unwrap()
    };
    [play(None), play(Some(SelfCollision::surfaces()))].concat()
}

#[test]
fn particles_in_the_seam_of_two_boxes_exit_at_the_top() {
    for (name, shape) in cubes() {
        let depth = |k: usize| [0.0, 0.002, 0.03, 0.12, 0.2][k / 5];
        let place = |k: usize| [[0.0, 1e-7, -1e-4, 0.002, -0.03][k % 5], -depth(k), 0.02 * (k as f32 - 12.0)];
        let places: Vec<_> = (0..25).map(place).collect();
        let mut scene = loose(&places);
        for x in [-0.5, 0.5] {
            scene.add_collider(Collider::new(shape.clone(), [x, -0.5, 0.0])).unwrap();
        }
        for ([x, y, z], start) in after(&scene, 60).into_iter().zip(places.iter().cycle()) {
            // The sampled edges of two meshes leave a notch between them, less than a quarter of a cell deep.
            let notch = if name == "mesh" { 0.0125 } else { 1e-4 };
            assert!(y > KEEP - notch && y < KEEP + 1e-4 && x.abs() < 0.06, "{name} from {start:?}: {x} {y} {z}");
        }
    }
}

/// The rotation of all floors in these tests: a unit quaternion.
const TURN: [f32; 4] = [0.18, 0.36, -0.1, 0.909_505_36];

fn turned([x, y, z]: [f32; 3]) -> [f32; 3] {
    (glam::Quat::from_array(TURN).normalize() * glam::Vec3::new(x, y, z)).into()
}

/// Adds shapes at the given places, all rotated by `TURN` about the origin.
fn add_turned(scene: &mut Scene, shapes: &[(Shape, [f32; 3])]) {
    for (shape, place) in shapes {
        let pose = Pose { position: turned(*place), rotation: TURN };
        scene.add_collider(Collider { pose, ..Collider::new(shape.clone(), [0.0; 3]) }).unwrap();
    }
}

/// The positions, in the rotated frame, after `steps` steps without gravity from the given places in that frame.
fn after_in_turned(shapes: &[(Shape, [f32; 3])], places: &[[f32; 3]], steps: u32) -> Vec<[f32; 3]> {
    let places: Vec<_> = places.iter().map(|&place| turned(place)).collect();
    let mut scene = loose(&places);
    add_turned(&mut scene, shapes);
    let gpu = common::gpu();
    let mut pair = Pair::new(&gpu, &scene, Settings { gravity: [0.0; 3], substeps: 8, ..Settings::default() });
    pair.run(4, 1e-3, "a turned floor");
    pair.reference.step(steps - 4);
    let back = glam::Quat::from_array(TURN).normalize().inverse();
    pair.reference.read_positions().unwrap().into_iter().map(|x| (back * glam::Vec3::from(x)).into()).collect()
}

#[test]
fn particles_inside_a_floor_of_nine_boxes_exit() {
    // The distance fields of four meshes that meet in an edge leave gaps of less than a cell.
    for (name, shape) in cubes().into_iter().take(2) {
        let tiles: Vec<_> =
            (0..9).map(|k| (shape.clone(), [(k % 3) as f32 - 1.0, -0.5, (k / 3) as f32 - 1.0])).collect();
        // A grid around all seams and corners, at depths of up to nearly half the floor.
        let across = [-0.52, -0.5, -0.499, -0.2, 0.0, 0.3, 0.497, 0.5, 0.503];
        let place = |i: usize| [across[i % 9], [-0.001, -0.02, -0.2, -0.45][i / 81], across[i / 9 % 9]];
        let places: Vec<_> = (0..324).map(place).collect();
        for ([x, y, z], start) in after_in_turned(&tiles, &places, 60).into_iter().zip(&places) {
            let what = format!("{name} from {start:?}: {x} {y} {z}");
            assert!(y > 0.9 * KEEP && y < 0.05, "{what}");
            assert!((x - start[0]).abs().max((z - start[2]).abs()) < 0.06, "{what}");
        }
    }
}

#[test]
fn particles_between_floor_and_wall_exit_on_the_free_side() {
    // A wall beside a floor, and a second wall on the floor: an L and a corner.
    let shapes = [
        (cuboid([1.0, 0.5, 1.0]), [0.0, -0.5, 0.0]),
        (cuboid([0.1, 1.0, 1.0]), [1.1, 0.0, 0.0]),
        (cuboid([1.0, 0.5, 0.2]), [0.0, 0.5, -0.7]),
    ];
    let place = |i: usize| {
        let near = [-0.04, -0.002, 0.0, 0.002, 0.04];
        let [a, b] = [near[i % 5], near[i / 5 % 5]];
        if i < 25 { [1.0 + a, b, 0.3] } else { [-0.2, b, -0.5 + a] }
    };
    let places: Vec<_> = (0..50).map(place).collect();
    let inside = |[x, y, z]: [f32; 3]| {
        shapes.iter().any(|(shape, [a, b, c])| {
            let Shape::Box { half_extents: [h, k, l] } = shape else { return false };
            (x - a).abs() < h - 1e-5 && (y - b).abs() < k - 1e-5 && (z - c).abs() < l - 1e-5
        })
    };
    for (end, start) in after_in_turned(&shapes, &places, 90).into_iter().zip(&places) {
        let [x, y, z] = end;
        let what = format!("from {start:?}: {end:?}");
        assert!(!inside(end), "{what}");
        // The free region: above the floor and in front of both walls.
        assert!(y > 0.0 && x < 1.0 && z > -0.5, "{what}");
    }
}

#[test]
fn particles_inside_both_ground_and_box_exit() {
    let shapes = [(Shape::HalfSpace, [0.0; 3]), (cuboid([0.3, 0.2, 0.3]), [0.0, -0.1, 0.0])];
    let places: Vec<_> = (0..16).map(|i| [0.09 * (i % 4) as f32 - 0.1, -0.07 * (i / 4) as f32, 0.05]).collect();
    for ([x, y, z], start) in after_in_turned(&shapes, &places, 60).into_iter().zip(&places) {
        assert!(y > 0.09 || y > 0.9 * KEEP && x.abs().max(z.abs()) > 0.3, "from {start:?}: {x} {y} {z}");
    }
}

#[test]
fn particles_without_a_free_exit_take_the_nearest() {
    // A stack of 27 cubes: particles in the middle cube move to a neighbour and then out.
    let place = |i: i32| [i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1].map(|k| k as f32);
    let pile: Vec<_> = (0..27).map(|i| (cuboid([0.5; 3]), place(i))).collect();
    let places = [[0.3, 0.1, 0.0], [0.0, -0.4, 0.1], [0.1, 0.2, -0.25]];
    for (end, start) in after_in_turned(&pile, &places, 150).into_iter().zip(&places) {
        assert!(end.iter().any(|x| x.abs() > 1.5), "from {start:?}: {end:?}");
    }
}
