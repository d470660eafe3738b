//! Scales of thickness and friction by particle, on both backends.

use crate::common;
use crate::common::backends;
use supple::{
    ClothGrid, Collider, ContactMaterial, ContactScale, Friction, Particle, Reference, Scene, SelfCollision, Settings,
    Shape,
};

const THICKNESS: f32 = 0.01;

fn thickness(thickness: f32) -> ContactScale {
    ContactScale { thickness, ..ContactScale::default() }
}

fn friction(friction: f32) -> ContactScale {
    ContactScale { friction, ..ContactScale::default() }
}

/// A scene whose default contact material has this thickness and friction.
fn scene_of(thickness: f32, coefficient: f32) -> Scene {
    let mut scene = Scene::new();
    let id = supple::ContactMaterialId::default();
    let friction = Friction::coulomb(coefficient);
    scene.set_contact_material(id, ContactMaterial { thickness, friction, ..ContactMaterial::default() }).unwrap();
    scene
}

/// A level sheet of 13 × 4 particles, 20 mm apart; the scales of its right half are `scale`.
fn level_sheet(scene: &mut Scene, height: f32, shift: f32, scale: f32) -> std::ops::Range<u32> {
    let grid = ClothGrid {
        columns: 13,
        rows: 4,
        origin: [-0.12 + shift, height, -0.03 + shift],
        column_axis: [0.24, 0.0, 0.0],
        row_axis: [0.0, 0.0, 0.06],
        tethers: None,
        ..ClothGrid::default()
    };
    let particles = scene.add_cloth_grid(&grid).unwrap().particles;
    let map: Vec<_> = (0..52).map(|k| thickness(if k % 13 > 6 { scale } else { 1.0 })).collect();
    scene.set_contact_scales(particles.clone(), &map).unwrap();
    particles
}

#[test]
fn layers_keep_the_thickness_of_their_map() {
    let gpu = common::gpu();
    let mut scene = scene_of(THICKNESS, 0.5);
    let lower = level_sheet(&mut scene, 0.0, 0.0, 0.5);
    let upper = level_sheet(&mut scene, 1.2 * THICKNESS, 0.007, 0.5);
    lower.for_each(|i| scene.pin(i).unwrap());
    let settings = Settings { self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    for mut backend in backends(&gpu, &scene, settings) {
        backend.step(60);
        let x = backend.read_positions().unwrap();
        // Away from the border between the halves, where the sheet descends.
        for (columns, expected) in [(0..4, THICKNESS), (10..13, 0.5 * THICKNESS)] {
            let heights: Vec<f32> = (0..4)
                .flat_map(|row| columns.clone().map(move |column| 13 * row + column))
                .map(|k| x[(upper.start + k) as usize][1])
                .collect();
            let mean = heights.iter().sum::<f32>() / heights.len() as f32;
            println!("{}: gap {mean} m, expected {expected} m", backend.name());
            assert!((mean / expected - 1.0).abs() < 0.05, "{}: gap {mean} m, expected {expected} m", backend.name());
        }
        assert_eq!(backend.read_contacts().unwrap().crossings, Some(0), "{}", backend.name());
    }
}

#[test]
fn particles_keep_the_mean_of_their_scaled_thicknesses() {
    let gpu = common::gpu();
    let mut scene = scene_of(THICKNESS, 0.5);
    let scales = [[1.0, 1.0], [0.5, 0.5], [0.25, 1.0], [1.0, 0.1]];
    for (pair, scales) in (0..).zip(scales) {
        for (level, scale) in (0..).zip(scales) {
            let position = [0.1 * pair as f32, 1.5 * THICKNESS * level as f32, 0.0];
            let i = scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
            scene.set_contact_scales(i..i + 1, &[thickness(scale)]).unwrap();
            if level == 0 {
                scene.pin(i).unwrap();
            }
        }
    }
    for level in [SelfCollision::default(), SelfCollision::surfaces()] {
        let settings = Settings { self_collision: Some(level), ..Settings::default() };
        for mut backend in backends(&gpu, &scene, settings) {
            backend.step(60);
            let x = backend.read_positions().unwrap();
            for (pair, [lower, upper]) in scales.into_iter().enumerate() {
                let (gap, expected) = (x[2 * pair + 1][1] - x[2 * pair][1], 0.5 * (lower + upper) * THICKNESS);
                assert!((gap / expected - 1.0).abs() < 0.03, "{}: gap {gap} m, expected {expected} m", backend.name());
            }
        }
    }
}

#[test]
fn particles_and_triangles_keep_the_scaled_distance_from_colliders() {
    let gpu = common::gpu();
    for scale in [1.0f32, 0.5, 0.2] {
        let mut scene = scene_of(THICKNESS, 0.5);
        let i = scene.add_particle(Particle { position: [0.5, 0.02, 0.0], ..Particle::default() }).unwrap();
        scene.set_contact_scales(i..i + 1, &[thickness(scale)]).unwrap();
        // A coarse sheet over a ball that fits between its particles.
        let grid = ClothGrid {
            columns: 4,
            rows: 4,
            origin: [-0.15, 0.04, -0.148],
            column_axis: [0.3, 0.0, 0.0],
            row_axis: [0.0, 0.0, 0.3],
            tethers: None,
            ..ClothGrid::default()
        };
        let cloth = scene.add_cloth_grid(&grid).unwrap().particles;
        scene.set_contact_scales(cloth.clone(), &[thickness(scale); 16]).unwrap();
        [0, 3, 12, 15].into_iter().for_each(|k| scene.pin(cloth.start + k).unwrap());
        scene.add_collider(Collider::default()).unwrap();
        scene.add_collider(Collider::new(Shape::Sphere { radius: 0.03 }, [0.0, 0.01, 0.0])).unwrap();
        for mut backend in backends(&gpu, &scene, Settings::default()) {
            backend.step(60);
            let (x, keep) = (backend.read_positions().unwrap(), 0.5 * scale * THICKNESS);
            let name = backend.name();
            assert!((x[i as usize][1] / keep - 1.0).abs() < 0.01, "{name}: {} m, expected {keep} m", x[i as usize][1]);
            let corner = |k: u32| glam::Vec3::from(x[k as usize]);
            let mut nearest = f32::MAX;
            for &[a, b, c] in scene.triangles() {
                for (u, v) in (0..=40).flat_map(|u| (0..=40 - u).map(move |v| (u as f32 / 40.0, v as f32 / 40.0))) {
                    let p = corner(a) * u + corner(b) * v + corner(c) * (1.0 - u - v);
                    nearest = nearest.min(p.distance(glam::Vec3::new(0.0, 0.01, 0.0)) - 0.03);
                }
            }
            println!("{name}: scale {scale}: {nearest} m from the ball, expected {keep} m");
            assert!((nearest - keep).abs() < 0.1 * keep + 1e-4, "{name}: {nearest} m from the ball, expected {keep} m");
        }
    }
}

/// The friction of a contact is μ √(s t), where s and t are the scales of its sides.
#[test]
fn a_part_holds_on_an_incline_and_a_part_slides() {
    let (gpu, g) = (common::gpu(), 9.81);
    let angle = 20f64.to_radians();
    let (sin, cos) = (angle.sin() as f32, angle.cos() as f32);
    let scales = [1.0, 0.6, 0.25, 0.0];
    let mut scene = scene_of(THICKNESS, 0.5);
    scene.add_collider(Collider::half_space([0.0; 3], [sin, cos, 0.0]).unwrap()).unwrap();
    for (k, &scale) in (0..).zip(&scales) {
        let (x, y) = (0.5 * THICKNESS * sin, 0.5 * THICKNESS * cos);
        let i = scene.add_particle(Particle { position: [x, y, 0.1 * k as f32], ..Particle::default() }).unwrap();
        scene.set_contact_scales(i..i + 1, &[friction(scale)]).unwrap();
    }
    for mut backend in backends(&gpu, &scene, Settings::default()) {
        backend.step(60);
        for (&scale, v) in scales.iter().zip(backend.read_velocities().unwrap()) {
            let speed = f64::from(v[0]) * f64::from(cos) - f64::from(v[1]) * f64::from(sin);
            let expected = (g * (angle.sin() - 0.5 * f64::from(scale).sqrt() * angle.cos())).max(0.0);
            println!("{}: scale {scale}: {speed} m/s after 1 s, expected {expected}", backend.name());
            assert!((speed - expected).abs() < 0.01 * expected + 1e-3, "{}: {speed}, {expected} m/s", backend.name());
        }
    }
}

/// Two patches of cloth on a pinned cloth at 20°, whose left part is slippery.
#[test]
fn cloth_slides_on_the_slippery_part_of_a_cloth() {
    let (gpu, g) = (common::gpu(), 9.81);
    let angle = 20f64.to_radians();
    let (sin, cos) = (angle.sin() as f32, angle.cos() as f32);
    let mut scene = scene_of(THICKNESS, 0.5);
    let sheet = |scene: &mut Scene, [along, across, height]: [f32; 3], [columns, rows]: [u32; 2], size: [f32; 2]| {
        let grid = ClothGrid {
            columns,
            rows,
            origin: [along * cos + height * sin, height * cos - along * sin, across],
            column_axis: [size[0] * cos, -size[0] * sin, 0.0],
            row_axis: [0.0, 0.0, size[1]],
            tethers: None,
            ..ClothGrid::default()
        };
        scene.add_cloth_grid(&grid).unwrap().particles
    };
    let ground = sheet(&mut scene, [0.0; 3], [11, 11], [2.0, 0.5]);
    let map: Vec<_> = (0..121).map(|k| friction(if k / 11 > 5 { 0.16 } else { 1.0 })).collect();
    scene.set_contact_scales(ground.clone(), &map).unwrap();
    ground.for_each(|i| scene.pin(i).unwrap());
    let patches = [0.03, 0.36].map(|across| sheet(&mut scene, [0.1, across, THICKNESS], [4, 4], [0.1, 0.1]));
    let settings = Settings { self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    for mut backend in backends(&gpu, &scene, settings) {
        backend.step(30);
        let v = backend.read_velocities().unwrap();
        for (patch, scale) in patches.iter().zip([1.0, 0.16f64]) {
            let speed = |i: u32| f64::from(v[i as usize][0] * cos - v[i as usize][1] * sin);
            let mean = patch.clone().map(speed).sum::<f64>() / 16.0;
            let expected = (0.5 * g * (angle.sin() - 0.5 * scale.sqrt() * angle.cos())).max(0.0);
            println!("{}: scale {scale}: {mean} m/s after 0.5 s, expected {expected}", backend.name());
            assert!((mean - expected).abs() < 0.03 * expected + 2e-3, "{}: {mean}, {expected} m/s", backend.name());
        }
    }
}

#[test]
fn scales_change_while_a_scene_runs() {
    let gpu = common::gpu();
    let mut scene = scene_of(THICKNESS, 0.5);
    for k in 0..5 {
        scene.add_particle(Particle { position: [0.1 * k as f32, 0.02, 0.0], ..Particle::default() }).unwrap();
    }
    scene.add_collider(Collider::default()).unwrap();
    let settings = Settings { self_collision: Some(SelfCollision::default()), ..Settings::default() };
    for mut backend in common::backends(&gpu, &scene, settings) {
        backend.step(30);
        // The first scales, then others.
        for map in [[1.0, 0.5, 0.25], [0.75, 0.125, 1.0]] {
            backend.set_contact_scales(1..4, &map.map(thickness)).unwrap();
            backend.step(60);
            for (k, scale) in [1.0, map[0], map[1], map[2], 1.0].into_iter().enumerate() {
                let (height, expected) = (backend.read_positions().unwrap()[k][1], 0.5 * scale * THICKNESS);
                assert!((height / expected - 1.0).abs() < 0.01, "{}: {height} m, {expected} m", backend.name());
            }
        }
    }
}

/// The smaller thickness lets triangles meet the sphere between their corners, which needs further passes.
#[test]
fn later_scales_keep_the_counters_of_contacts() {
    let gpu = common::gpu();
    let mut scene = scene_of(0.5, 0.5);
    let grid = ClothGrid { columns: 6, rows: 6, origin: [-0.25, 1.2, -0.25], ..Default::default() };
    let grid = ClothGrid { column_axis: [0.5, 0.0, 0.0], row_axis: [0.0, 0.0, 0.5], ..grid };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    scene.set_contact_scales(cloth.particles.clone(), &vec![thickness(1.0); 36]).unwrap();
    scene.add_collider(Collider::new(Shape::Sphere { radius: 1.0 }, [0.0; 3])).unwrap();
    let own = SelfCollision { pairs_per_particle: 128, ..SelfCollision::surfaces() };
    let settings = Settings { self_collision: Some(own), collider_forces: true, ..Settings::default() };
    let mut solver = common::solver(&gpu, &scene, settings);
    let mut reference = Reference::new(&scene, settings).unwrap();
    let forces = |solver: &supple::Solver, reference: &Reference| {
        [solver.read_collider_forces().unwrap(), reference.read_collider_forces().unwrap()]
    };
    let before = solver.plan().clone();
    solver.step(4);
    reference.step(4);
    let [own, expected] = forces(&solver, &reference);
    assert!(own[0].force[1] < 0.0 && expected[0].force[1] < 0.0, "{own:?} {expected:?}");
    let scales = vec![thickness(0.02); 36];
    solver.set_contact_scales(cloth.particles.clone(), &scales).unwrap();
    reference.set_contact_scales(cloth.particles, &scales).unwrap();
    assert!(*solver.plan() != before, "triangles need no passes");
    let [own, expected] = forces(&solver, &reference);
    assert_eq!((&own, &own), (&expected, &vec![supple::ColliderForce::default()]));
    solver.step(1);
    reference.step(1);
    let [own, expected] = [solver.read_contacts().unwrap(), reference.read_contacts().unwrap()];
    assert_eq!((own.searches, own.most_pairs), (expected.searches, expected.most_pairs));
    assert!(own.searches > 1);
}

#[test]
fn renumbering_keeps_the_scale_of_each_particle() {
    let mut scene = Scene::new();
    let particles: Vec<u32> = (0..40).map(|_| scene.add_particle(Particle::default()).unwrap()).collect();
    let order: Vec<u32> = (0..40).map(|k| particles[(7 * k % 40) as usize]).collect();
    for two in order.windows(2) {
        let link = supple::Distance { particles: [two[0], two[1]], rest_length: 0.1 };
        scene.add(link, supple::Material::RIGID).unwrap();
    }
    scene.add_body(0..40).unwrap();
    let map: Vec<_> =
        (1..=40).map(|k| ContactScale { thickness: k as f32 / 64.0, friction: k as f32 / 128.0 }).collect();
    scene.set_contact_scales(0..40, &map).unwrap();
    let numbering = scene.renumber();
    let own: Vec<_> = (0..40).map(|i| scene.contact_scale(i).unwrap()).collect();
    assert_ne!(own, map);
    assert_eq!(numbering.to_old_order(&own).unwrap(), map);
    let later = scene.add_particle(Particle::default()).unwrap();
    assert_eq!(scene.contact_scale(later).unwrap(), ContactScale::default());
}
