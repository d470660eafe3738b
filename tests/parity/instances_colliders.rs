//! Colliders of instances: each instance responds to them bit for bit as the reference of the placed asset.

use crate::common;
use crate::common::instancing::{difference, few, flag, instances, leaf, reference, rope, some, turned};
use crate::common::{is_exact, store};
use glam::{Quat, Vec3};
use supple::gpu::Context;
use supple::{
    Bending, ClothGrid, Collider, ColliderId, ContactMaterial, Error, Fabric, Friction, Heightfield, Instance,
    InstanceId, Instances, Particle, Placement, Pose, Reference, Scene, Settings, Shape, Wind,
};

fn tolerance(gpu: &Context) -> f32 {
    if is_exact(gpu) { 0.0 } else { 1e-4 }
}

fn shapes() -> Vec<(&'static str, Shape)> {
    let heights = (0..72).map(|i| 0.15 * common::noise(i)).collect();
    let ground = Heightfield { columns: 9, rows: 8, spacing: 0.2, heights, ends_at_border: false };
    let corner = |i: u32, axis: u32| (0.25 + 0.03 * i as f32) * if i >> axis & 1 == 0 { -1.0 } else { 1.0 };
    let points = (0..8u32).map(|i| [0, 1, 2].map(|axis| corner(i, axis))).collect();
    let pyramid = [[0.5, 0.0, 0.5], [-0.5, 0.05, 0.4], [-0.4, 0.0, -0.5], [0.5, -0.1, -0.4], [0.0, 0.4, 0.1]];
    let triangles = [[0, 4, 1], [1, 4, 2], [2, 4, 3], [3, 4, 0], [0, 1, 2], [0, 2, 3]];
    vec![
        ("half-space", Shape::HalfSpace),
        ("sphere", Shape::Sphere { radius: 0.4 }),
        ("capsule", Shape::Capsule { radius: 0.2, half_height: 0.3 }),
        ("box", Shape::Box { half_extents: [0.3, 0.2, 0.4] }),
        ("hull", Shape::ConvexHull { points }),
        ("heightfield that ends", Heightfield { ends_at_border: true, ..ground.clone() }.into()),
        ("heightfield", ground.into()),
        ("mesh", Shape::mesh(&pyramid, &triangles, Some(0.06)).unwrap()),
    ]
}

/// Instances above the origin, rotated, that fall on it; one is pinned and one is beyond all colliders.
fn falling() -> Vec<Instance> {
    let at = |position, rotation| Placement { position, rotation, scale: 1.0 };
    let free =
        |placement| Instance { placement, velocity: [0.3, -4.0, 0.2], pinned: Some(Vec::new()), ..Instance::default() };
    vec![
        free(at([-0.5, 0.5, -0.1], turned(1.5, 0.2, 0.0))),
        free(at([-0.1, 0.6, 0.3], turned(-1.2, 1.0, 0.4))),
        Instance { placement: at([-0.4, 0.1, 0.0], turned(0.2, 0.4, 0.0)), ..Instance::default() },
        free(at([3.0, 50.0, 0.0], [0.0, 0.0, 0.0, 1.0])),
    ]
}

/// A pool, and a reference of each of its instances.
struct Model {
    pool: Instances,
    members: Vec<(InstanceId, Reference)>,
}

impl Model {
    fn new(gpu: &Context, asset: &Scene, all: &[Instance], settings: Settings) -> Self {
        let mut pool = instances(gpu, asset, all.len() as u32, settings);
        let ids = pool.spawn_many(all).unwrap();
        let references = all.iter().map(|instance| reference(asset, instance, settings));
        Self { pool, members: ids.into_iter().zip(references).collect() }
    }

    fn add(&mut self, collider: &Collider) -> ColliderId {
        let id = self.pool.add_collider(collider).unwrap();
        self.members.iter_mut().for_each(|(_, own)| assert_eq!(own.add_collider(collider).unwrap(), id));
        id
    }

    fn add_all(&mut self, colliders: &[Collider]) -> Vec<ColliderId> {
        let ids = self.pool.add_colliders(colliders).unwrap();
        for (collider, &id) in colliders.iter().zip(&ids) {
            self.members.iter_mut().for_each(|(_, own)| assert_eq!(own.add_collider(collider).unwrap(), id));
        }
        ids
    }

    fn move_to(&mut self, id: ColliderId, pose: Pose) {
        self.pool.move_collider(id, pose).unwrap();
        self.members.iter_mut().for_each(|(_, own)| own.move_collider(id, pose).unwrap());
    }

    /// Runs steps and compares all instances.
    fn run(&mut self, gpu: &Context, steps: u32, what: &str) {
        self.pool.step(steps);
        for (place, (id, own)) in self.members.iter_mut().enumerate() {
            own.step(steps);
            let found = difference(&self.pool, *id, own, tolerance(gpu));
            assert_eq!(found, None, "{what}, instance {place}");
        }
        assert_eq!(self.pool.read_diagnostics().unwrap().non_finite_count, 0, "{what}");
    }
}

/// Distance between the shapes of a world \[m\].
const APART: f32 = 4.0;

/// Moves what happens at the origin to the place of a shape.
fn at_shape(shape: usize, [x, y, z]: [f32; 3]) -> [f32; 3] {
    [x + APART * shape as f32, y, z]
}

/// Instances that fall on each shape, two on each.
fn falling_on_shapes() -> Vec<Instance> {
    let of_shape = |shape: usize| {
        let both = [shape, shape + 1].map(|place| falling()[place % 3].clone());
        both.map(|mut instance| {
            instance.placement.position = at_shape(shape, instance.placement.position);
            instance
        })
    };
    (0..shapes().len()).flat_map(of_shape).collect()
}

/// A cloth with two contact materials; the second is thick, slippery and elastic.
fn patched() -> Scene {
    let mut asset = flag(7, 6, Bending::Hinges);
    let friction = Friction { statics: 0.3, kinetic: 0.2 };
    let own = ContactMaterial { thickness: 0.03, restitution: 0.6, friction, ..ContactMaterial::default() };
    let own = asset.add_contact_material(own).unwrap();
    asset.set_particle_contact(10..25, own).unwrap();
    asset
}

#[test]
fn every_shape_agrees_with_the_reference() {
    let gpu = common::gpu();
    let wind = Some(Wind { velocity: [2.0, 0.0, 1.0], ..Wind::default() });
    for (asset, settings, two_sided) in [
        (flag(7, 6, Bending::Springs), few(), false),
        (patched(), Settings { wind, iterations: 2, damping: 0.3, ..few() }, true),
    ] {
        let all = falling_on_shapes();
        let mut model = Model::new(&gpu, &asset, &all, settings);
        let collider = |(place, (_, shape))| {
            // In wind the flags fall more slowly. The half-space is tilted, and below the others.
            let y = if two_sided { 0.25 } else { -0.1 };
            let pose = if place == 0 {
                Pose { position: [0.0, y, 0.0], rotation: [0.0, 0.0, -0.2, 1.0] }
            } else {
                Pose { position: at_shape(place, [0.05, y, 0.02]), rotation: [0.1, 0.2, -0.15, 0.9] }
            };
            let surface_velocity = [0.5, 0.0, 0.2];
            Collider { shape, pose, two_sided, surface_velocity, ..Collider::default() }
        };
        model.add_all(&shapes().into_iter().enumerate().map(collider).collect::<Vec<_>>());
        for steps in [1, 2, 6, 1] {
            model.run(&gpu, steps, &format!("two-sided {two_sided}"));
        }
        // Each shape was met.
        for (place, (name, _)) in shapes().into_iter().enumerate() {
            let mut touched = 0;
            for which in [2 * place, 2 * place + 1] {
                let mut free = reference(&asset, &all[which], settings);
                free.step(10);
                let (left, right) = (model.members[which].1.read_positions().unwrap(), free.read_positions().unwrap());
                touched += left.iter().zip(&right).filter(|(a, b)| a != b).count();
            }
            assert!(touched > 10, "{name}, two-sided {two_sided}: {touched}");
        }
    }
}

#[test]
fn several_moving_colliders_agree_with_the_reference() {
    let gpu = common::gpu();
    let mut model = Model::new(&gpu, &patched(), &falling_on_shapes(), few());
    let mut colliders = Vec::new();
    for (place, (_, shape)) in shapes().into_iter().enumerate() {
        colliders.push(Collider::new(shape, at_shape(place, [0.0, -0.3, 0.0])));
        let ball = Collider::new(Shape::Sphere { radius: 0.2 }, at_shape(place, [0.3, -0.1, 0.0]));
        colliders.push(Collider { margin: 0.02, ..ball });
    }
    let ids = model.add_all(&colliders);
    for turn in 0..6u32 {
        let angle = 0.3 * turn as f32;
        for (place, &id) in ids.iter().step_by(2).enumerate() {
            let rotation = [0.0, (0.5 * angle).sin(), 0.1, (0.5 * angle).cos()];
            // The half-space turns less: it reaches below all others.
            let rotation = if place == 0 { [0.0, 0.0, 0.01 * angle, 1.0] } else { rotation };
            let position = at_shape(place, [0.0, -0.3 + 0.06 * turn as f32, 0.0]);
            model.move_to(id, Pose { position, rotation });
        }
        // In the second step of one recording the colliders rest.
        model.run(&gpu, 1 + turn % 2, &format!("turn {turn}"));
    }
}

#[test]
fn colliders_of_scaled_and_rotated_instances_keep_distances_in_metres() {
    let gpu = common::gpu();
    let scales = [(2.0f32, true), (0.25, true), (1.7, false)];
    let mut pool = instances(&gpu, &leaf(1.0), 24, few());
    let mut members = Vec::new();
    for (scale, exact) in scales {
        for place in 0..shapes().len() {
            let position = at_shape(place, [0.1, 0.4 + 0.2 * scale, 0.0]);
            let placement = Placement { scale, position, rotation: turned(0.4, 0.7, -0.2) };
            let of = |placement| Instance { placement, velocity: [0.0, -3.0, 0.0], ..Instance::default() };
            let id = pool.spawn(&of(placement)).unwrap();
            let built = reference(&leaf(scale), &of(Placement { scale: 1.0, ..placement }), few());
            members.push((id, built, scale, exact));
        }
    }
    let collider =
        |(place, (_, shape))| Collider { margin: 0.01, ..Collider::new(shape, at_shape(place, [0.0, -0.1, 0.0])) };
    let colliders: Vec<_> = shapes().into_iter().enumerate().map(collider).collect();
    pool.add_colliders(&colliders).unwrap();
    for collider in &colliders {
        members.iter_mut().for_each(|(_, built, ..)| _ = built.add_collider(collider).unwrap());
    }
    pool.step(6);
    for (place, (id, built, scale, exact)) in members.iter_mut().enumerate() {
        built.step(6);
        let tolerance = if *exact { tolerance(&gpu) } else { 2e-3 };
        let (left, right) = (pool.read_positions(*id).unwrap(), built.read_positions().unwrap());
        let name = shapes()[place % shapes().len()].0;
        assert_eq!(common::first_unequal(&left, &right, tolerance), None, "{name}, scale {scale}");
    }
}

#[test]
fn a_flag_rests_on_a_sphere_at_its_thickness_in_each_instance() {
    let gpu = common::gpu();
    let (radius, thickness, margin) = (0.3f32, 0.02f32, 0.004f32);
    let mut asset = Scene::new();
    let own = ContactMaterial { thickness, ..ContactMaterial::default() };
    let own = asset.add_contact_material(own).unwrap();
    let side = [0.6, 0.0, 0.0];
    let grid = ClothGrid {
        columns: 13,
        rows: 13,
        origin: [-0.3, 0.0, -0.3],
        column_axis: side,
        row_axis: [0.0, 0.0, 0.6],
        ..ClothGrid::default()
    };
    let cloth = asset.add_cloth_grid(&grid).unwrap();
    asset.set_particle_contact(cloth.particles, own).unwrap();
    let settings = Settings { damping: 2.0, wind: Some(Wind::default()), ..Settings::default() };
    let mut pool = instances(&gpu, &asset, 3, settings);
    let centers = [[0.0f32, 0.0, 0.0], [3.0, 1.0, 0.0], [-40.0, 7.0, 25.0]];
    let mut ids = Vec::new();
    for (center, scale) in centers.into_iter().zip([1.0, 0.8, 1.5]) {
        let collider = Collider { margin, ..Collider::new(Shape::Sphere { radius }, center) };
        pool.add_collider(&collider).unwrap();
        let position = [center[0], center[1] + radius + 0.1, center[2]];
        let placement = Placement { position, scale, rotation: turned(0.0, 0.3 * scale, 0.0) };
        ids.push(pool.spawn(&Instance { placement, ..Instance::default() }).unwrap());
    }
    pool.step(60);
    for (id, center) in ids.into_iter().zip(centers) {
        let gap = |x: &[f32; 3]| Vec3::from(*x).distance(center.into()) - radius;
        let gaps: Vec<f32> = pool.read_positions(id).unwrap().iter().map(gap).collect();
        let keep = 0.5 * thickness + margin;
        let least = gaps.iter().copied().fold(f32::MAX, f32::min);
        let resting = gaps.iter().filter(|gap| (**gap - keep).abs() < 1e-4).count();
        assert!((least - keep).abs() < 2e-5, "least gap {least} m");
        assert!(resting > 8, "{resting} particles rest at {keep} m");
    }
}

#[test]
fn friction_on_an_incline_is_that_of_the_closed_form() {
    let gpu = common::gpu();
    let (statics, kinetic, angle) = (0.4f32, 0.3f32, 30f32.to_radians());
    let mut asset = Scene::new();
    let friction = Friction { statics, kinetic };
    let own = asset.add_contact_material(ContactMaterial { friction, ..ContactMaterial::default() }).unwrap();
    let grid = ClothGrid {
        columns: 5,
        rows: 5,
        origin: [-0.1, 0.0025, -0.1],
        column_axis: [0.2, 0.0, 0.0],
        row_axis: [0.0, 0.0, 0.2],
        fabric: Fabric { area_density: 1.0, ..Fabric::default() },
        ..ClothGrid::default()
    };
    let cloth = asset.add_cloth_grid(&grid).unwrap();
    asset.set_particle_contact(cloth.particles, own).unwrap();
    let settings = Settings { substeps: 10, ..Settings::default() };
    let mut pool = instances(&gpu, &asset, 2, settings);
    // Two planes, each under one instance: 30° is steeper than the friction angle, 15° is not.
    let mut starts = Vec::new();
    for (x, angle) in [(0.0f32, angle), (100.0, 0.5 * angle)] {
        let rotation = Quat::from_rotation_z(angle).to_array();
        let half_extents = [20.0, 1.0, 20.0];
        let top = Vec3::new(x, 0.0, 0.0);
        let center = top - Quat::from_rotation_z(angle) * Vec3::Y;
        let pose = Pose { position: center.into(), rotation };
        let plane = Collider { shape: Shape::Box { half_extents }, pose, material: own, ..Collider::default() };
        pool.add_collider(&plane).unwrap();
        let placement = Placement { position: top.into(), rotation, scale: 1.0 };
        let id = pool.spawn(&Instance { placement, ..Instance::default() }).unwrap();
        starts.push((id, placement, angle));
    }
    let steps = 60;
    pool.step(steps);
    let time = steps as f32 * settings.dt;
    let mean = |points: &[[f32; 3]]| points.iter().map(|&x| Vec3::from(x)).sum::<Vec3>() / points.len() as f32;
    for (id, placement, angle) in starts {
        let start = mean(&asset.positions().iter().map(|&x| placement.place(x)).collect::<Vec<_>>());
        let moved = mean(&pool.read_positions(id).unwrap()).distance(start);
        let slides = angle.tan() > statics;
        let speed = 9.81 * (angle.sin() - kinetic * angle.cos()) * time;
        if slides {
            let velocity = mean(&pool.read_velocities(id).unwrap()).length();
            assert!((velocity / speed - 1.0).abs() < 5e-3, "{velocity} m/s, should be {speed}");
            let way = 0.5 * speed * time;
            assert!((moved / way - 1.0).abs() < 1e-2, "{moved} m, should be {way}");
        } else {
            assert!(moved < 1e-4, "{moved} m");
        }
    }
}

#[test]
fn adding_setting_and_removing_colliders_while_running_agrees_with_the_reference() {
    let gpu = common::gpu();
    let mut model = Model::new(&gpu, &patched(), &falling(), few());
    model.run(&gpu, 2, "without");
    let ball = Collider::new(Shape::Sphere { radius: 0.4 }, [-0.2, 0.0, 0.0]);
    let id = model.add(&ball);
    model.run(&gpu, 3, "a sphere");
    // Moved, but not yet there: the next collider must not complete the motion.
    model.move_to(id, Pose { position: [-0.2, 0.1, 0.0], ..Pose::default() });
    let other = model.add(&Collider::new(Shape::HalfSpace, [0.0, -0.4, 0.0]));
    model.run(&gpu, 2, "a sphere and the ground");
    let plate = Collider::new(Shape::Box { half_extents: [0.5, 0.05, 0.5] }, [0.0, 0.0, 0.1]);
    model.pool.set_collider(id, &plate).unwrap();
    model.members.iter_mut().for_each(|(_, own)| own.set_collider(id, &plate).unwrap());
    model.run(&gpu, 2, "a box and the ground");
    for gone in [other, id] {
        model.pool.remove_collider(gone).unwrap();
        model.members.iter_mut().for_each(|(_, own)| own.remove_collider(gone).unwrap());
        model.run(&gpu, 2, "after a removal");
        assert!(matches!(model.pool.remove_collider(gone), Err(Error::NoCollider { .. })));
    }
    let again = model.add(&ball);
    assert_ne!(again, id);
    assert!(matches!(model.pool.move_collider(id, Pose::default()), Err(Error::NoCollider { .. })));
    model.run(&gpu, 3, "a sphere again");
    // Instances that are spawned, moved and removed later meet the same colliders.
    let (gone, _) = model.members.swap_remove(1);
    model.pool.remove(gone).unwrap();
    let late = &falling()[0];
    let id = model.pool.spawn(late).unwrap();
    let mut own = reference(&patched(), late, few());
    assert_eq!(own.read_positions().unwrap(), model.pool.read_positions(id).unwrap());
    for _ in 0..2 {
        own.add_collider(&ball).unwrap();
    }
    let first = own.add_collider(&ball).unwrap();
    own.remove_collider(first).unwrap();
    own.step(0);
    model.members.push((id, own));
    model.pool.step(4);
    model.members.iter_mut().for_each(|(_, own)| own.step(4));
    assert_eq!(difference(&model.pool, model.members[0].0, &model.members[0].1, tolerance(&gpu)), None);
}

#[test]
fn settings_and_contact_materials_that_change_while_running_agree_with_the_reference() {
    let gpu = common::gpu();
    let mut asset = patched();
    let slick = ContactMaterial { friction: Friction::NONE, ..ContactMaterial::default() };
    let extra = asset.add_contact_material(slick).unwrap();
    asset.set_particle_contact(0..10, extra).unwrap();
    let mut model = Model::new(&gpu, &asset, &falling(), few());
    model.add(&Collider::new(Shape::Sphere { radius: 0.4 }, [-0.2, 0.0, 0.0]));
    model.run(&gpu, 3, "at first");
    for (turn, settings) in [
        Settings { substeps: 7, ..few() },
        Settings { substeps: 3, iterations: 3, recovery_speed: 0.3, ..few() },
        Settings { gravity: [1.0, -5.0, 0.0], ..few() },
    ]
    .into_iter()
    .enumerate()
    {
        model.pool.set_settings(settings).unwrap();
        let execution = supple::Execution::Tiles;
        let of_reference = Settings { forces: true, triangle_contacts: false, execution, ..settings };
        model.members.iter_mut().for_each(|(_, own)| own.set_settings(of_reference).unwrap());
        model.run(&gpu, 2, &format!("settings {turn}"));
        let thickness = 0.05 + 0.02 * turn as f32;
        let other = ContactMaterial { thickness, restitution: 0.4 * turn as f32, ..ContactMaterial::default() };
        model.pool.set_contact_material(extra, other).unwrap();
        model.members.iter_mut().for_each(|(_, own)| own.set_contact_material(extra, other).unwrap());
        model.run(&gpu, 2, &format!("material {turn}"));
    }
}

/// The first restitution and the last one compile the kernel again.
#[test]
fn restitution_that_begins_and_ends_while_running_agrees_with_the_reference() {
    let gpu = common::gpu();
    let mut asset = flag(7, 6, Bending::Springs);
    let own = asset.add_contact_material(ContactMaterial::default()).unwrap();
    asset.set_particle_contact(0..42, own).unwrap();
    let mut model = Model::new(&gpu, &asset, &falling(), few());
    model.add(&Collider { material: own, ..Collider::new(Shape::HalfSpace, [0.0, -0.1, 0.0]) });
    for restitution in [0.0, 0.9, 0.5, 0.0] {
        let other = ContactMaterial { restitution, ..ContactMaterial::default() };
        model.pool.set_contact_material(own, other).unwrap();
        model.members.iter_mut().for_each(|(_, reference)| reference.set_contact_material(own, other).unwrap());
        model.run(&gpu, 3, &format!("restitution {restitution}"));
    }
    let lowest = |own: &Reference| own.read_positions().unwrap().iter().map(|x| x[1]).fold(f32::INFINITY, f32::min);
    let touching = model.members.iter().filter(|(_, own)| lowest(own) < -0.1 + ContactMaterial::default().thickness);
    assert!(touching.count() > 0, "nothing touches the floor");
}

#[test]
fn many_colliders_agree_with_the_reference() {
    let gpu = common::gpu();
    let mut model = Model::new(&gpu, &rope(), &falling()[..3], few());
    let mut colliders = Vec::new();
    for k in 0..200u32 {
        let place = |axis: u32| common::noise(3 * k + axis);
        let position = [1.2 * place(0), 0.5 * place(1) - 0.3, 0.8 * place(2)];
        let shape = match k % 3 {
            0 => Shape::Sphere { radius: 0.08 },
            1 => Shape::Capsule { radius: 0.05, half_height: 0.1 },
            _ => Shape::Box { half_extents: [0.1, 0.06, 0.08] },
        };
        colliders.push(Collider::new(shape, position));
    }
    let ids = model.add_all(&colliders);
    for turn in 0..4 {
        let position = [0.1 * turn as f32, -0.2, 0.0];
        model.move_to(ids[7 * turn + 3], Pose { position, rotation: [0.1, 0.0, 0.2, 1.0] });
        model.run(&gpu, 2, &format!("turn {turn}"));
    }
}

/// The loops of a thread in such a substep are long, so a step takes several dispatches.
#[test]
fn a_large_asset_inside_several_colliders_agrees_with_the_reference() {
    let gpu = common::gpu();
    let asset = flag(31, 31, Bending::Springs);
    let settings = Settings { substeps: 12, ..Settings::default() };
    let mut model = Model::new(&gpu, &asset, &falling()[..2], settings);
    let points = (0..40u32).map(|k| [0, 1, 2].map(|axis| common::noise(3 * k + axis))).collect();
    model.add_all(&[
        Collider::new(Shape::Sphere { radius: 2.0 }, [0.0, 0.0, 0.3]),
        Collider::new(Shape::Box { half_extents: [0.4, 2.0, 0.3] }, [0.1, 0.0, 0.0]),
        Collider::new(Shape::ConvexHull { points }, [-0.3, -0.5, 0.0]),
    ]);
    assert!(model.pool.dispatches_per_step() > 6, "{} dispatches", model.pool.dispatches_per_step());
    for steps in [1, 2] {
        model.run(&gpu, steps, "inside");
    }
}

#[test]
fn colliders_that_are_far_or_removed_change_no_bit() {
    let gpu = common::gpu();
    let asset = flag(7, 6, Bending::Hinges);
    let all = some();
    let mut plain = instances(&gpu, &asset, 4, few());
    let mut other = instances(&gpu, &asset, 4, few());
    let ids = plain.spawn_many(&all).unwrap();
    let same = other.spawn_many(&all).unwrap();
    let far = other.add_collider(&Collider::new(Shape::Sphere { radius: 1.0 }, [0.0, -500.0, 0.0])).unwrap();
    let below = other.add_collider(&Collider::new(Shape::HalfSpace, [0.0, -400.0, 0.0])).unwrap();
    for turn in 0..4 {
        plain.step(2);
        other.step(2);
        for (a, b) in ids.iter().zip(&same) {
            assert_eq!(plain.read_positions(*a).unwrap(), other.read_positions(*b).unwrap(), "turn {turn}");
            assert_eq!(plain.read_velocities(*a).unwrap(), other.read_velocities(*b).unwrap(), "turn {turn}");
        }
        match turn {
            1 => other.remove_collider(far).unwrap(),
            2 => other.remove_collider(below).unwrap(),
            _ => {}
        }
    }
}

#[test]
fn a_shift_of_the_origin_moves_colliders_and_their_targets() {
    let gpu = common::gpu();
    let asset = flag(7, 6, Bending::Springs);
    // 16 m to 32 m on both sides: the sums are exact.
    let offset = [4.0, 4.0, 4.0];
    let instance =
        Instance { placement: Placement::at([18.0, 20.0, 20.0]), velocity: [0.0, -3.0, 0.0], ..some()[3].clone() };
    let run = |shifts: bool| {
        let mut pool = instances(&gpu, &asset, 1, few());
        let id = pool.spawn(&instance).unwrap();
        let ball = pool.add_collider(&Collider::new(Shape::Sphere { radius: 0.3 }, [18.0, 19.5, 20.0])).unwrap();
        pool.move_collider(ball, Pose { position: [18.25, 19.75, 20.0], ..Pose::default() }).unwrap();
        pool.step(2);
        pool.move_collider(ball, Pose { position: [18.5, 19.75, 20.25], ..Pose::default() }).unwrap();
        if shifts {
            pool.shift_origin(offset).unwrap();
        }
        pool.step(4);
        pool.read_positions(id).unwrap()
    };
    let (there, here) = (run(true), run(false));
    for (a, b) in there.iter().zip(&here) {
        let apart = Vec3::from(*a) - Vec3::from(offset) - Vec3::from(*b);
        assert!(apart.length() <= if is_exact(&gpu) { 0.0 } else { 1e-5 }, "{a:?} {b:?}");
    }
    let mut pool = instances(&gpu, &asset, 1, few());
    pool.add_collider(&Collider::new(Shape::HalfSpace, [0.0, 9e5, 0.0])).unwrap();
    let error = pool.shift_origin([0.0, 2e5, 0.0]).unwrap_err().to_string();
    assert!(error.contains("collider 0"), "{error}");
}

#[test]
fn bad_colliders_are_errors_that_change_nothing() {
    let gpu = common::gpu();
    let asset = rope();
    let nan = f32::NAN;
    let instance = Instance { placement: Placement::at([0.0, 0.3, 0.0]), ..Instance::default() };
    let mut model = Model::new(&gpu, &asset, &[instance], few());
    let mut foreign = rope();
    let extra = foreign.add_contact_material(ContactMaterial::default()).unwrap();
    let ball = Collider::new(Shape::Sphere { radius: 0.3 }, [0.4, 0.0, 0.0]);
    let bad = [
        (Collider { pose: Pose { position: [0.0, nan, 0.0], ..Pose::default() }, ..ball.clone() }, "position"),
        (Collider { pose: Pose { rotation: [nan; 4], ..Pose::default() }, ..ball.clone() }, "rotation"),
        (Collider { pose: Pose { rotation: [0.0; 4], ..Pose::default() }, ..ball.clone() }, "rotation"),
        (Collider { margin: -1.0, ..ball.clone() }, "margin"),
        (Collider { shape: Shape::Sphere { radius: nan }, ..ball.clone() }, "radius of a sphere"),
        (Collider { material: extra, ..ball.clone() }, "contact material"),
        (Collider { surface_velocity: [0.0, f32::INFINITY, 0.0], ..ball.clone() }, "surface velocity"),
    ];
    assert!(model.pool.add_colliders(&[ball.clone(), bad[1].0.clone()]).unwrap_err().to_string().contains("rotation"));
    assert_eq!((model.pool.add_colliders(&[]), model.pool.dispatches_per_step()), (Ok(Vec::new()), 2));
    // Before and after the first collider.
    let mut id = None;
    for _ in 0..2 {
        for (collider, part) in &bad {
            let error = model.pool.add_collider(collider).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
            if let Some(id) = id {
                assert!(model.pool.set_collider(id, collider).unwrap_err().to_string().contains(part));
            }
        }
        id = Some(model.add(&ball));
    }
    let id = id.unwrap();
    let wrong = Pose { position: [nan, 0.0, 0.0], ..Pose::default() };
    assert!(model.pool.move_collider(id, wrong).unwrap_err().to_string().contains("collider 1"));
    // An id of another pool.
    let mut other = instances(&gpu, &asset, 1, few());
    let unknown = (0..3).map(|_| other.add_collider(&ball).unwrap()).last().unwrap();
    assert!(matches!(model.pool.remove_collider(unknown), Err(Error::IndexOutOfRange { index: 2, count: 2, .. })));
    assert!(matches!(model.pool.set_collider(unknown, &ball), Err(Error::IndexOutOfRange { .. })));
    assert!(matches!(model.pool.move_collider(unknown, Pose::default()), Err(Error::IndexOutOfRange { .. })));
    let thin = ContactMaterial { thickness: 0.0, ..ContactMaterial::default() };
    assert!(model.pool.set_contact_material(supple::ContactMaterialId::default(), thin).is_err());
    assert!(matches!(
        model.pool.set_contact_material(extra, ContactMaterial::default()),
        Err(Error::IndexOutOfRange { .. })
    ));
    model.run(&gpu, 4, "after all errors");
    // A collider of the asset would belong to no instance.
    let mut with_collider = rope();
    with_collider.add_collider(ball).unwrap();
    let error =
        Instances::with_store(&store(&gpu), &gpu.queue, &with_collider, 1, few()).map(drop).unwrap_err().to_string();
    assert!(error.contains("1 collider,") && error.contains("Instances::add_collider"), "{error}");
}

#[test]
fn too_many_colliders_are_errors_that_change_nothing() {
    let gpu = common::gpu();
    let mut speck = Scene::new();
    speck.add_particle(Particle { position: [0.0, 0.5, 0.0], ..Particle::default() }).unwrap();
    // A thread of a large asset would have too many loop iterations. Each addition takes milliseconds, so the rows are
    // limited by the device here: 240 bytes per collider and substep.
    let limits = supple::wgpu::Limits {
        max_storage_buffer_binding_size: 1 << 16,
        max_buffer_size: 1 << 16,
        ..supple::wgpu::Limits::default()
    };
    let small = common::gpu_with(limits);
    let settings = Settings { substeps: 40, ..Settings::default() };
    let mut model = Model::new(&small, &speck, &[Instance::default()], settings);
    let ball = |k: u32| Collider::new(Shape::Sphere { radius: 0.1 }, [0.0, 0.3 - 0.5 * k as f32, 0.0]);
    let mut count = 0;
    let error = loop {
        match model.pool.add_collider(&ball(count)) {
            Ok(_) => {
                model.members[0].1.add_collider(&ball(count)).unwrap();
                count += 1;
            }
            Err(error) => break error,
        }
    };
    assert_eq!(count, 6);
    assert!(matches!(error, Error::LimitExceeded { needed: 67_216, available: 65_536, .. }), "{error}");
    model.run(&small, 3, "six colliders");
    // As many substeps would exceed the limit, too.
    let more = Settings { substeps: 60, ..settings };
    assert!(matches!(model.pool.set_settings(more), Err(Error::LimitExceeded { .. })));
    assert_eq!(model.pool.settings().substeps, 40);
    model.run(&small, 3, "after the error");
    // A hull of many planes takes many loop iterations, and several substeps do not fit into a dispatch.
    let points: Vec<[f32; 3]> = (0..128u32)
        .map(|k| Vec3::new(common::noise(3 * k), common::noise(3 * k + 1), common::noise(3 * k + 2)).normalize().into())
        .collect();
    let hull = Collider::new(Shape::ConvexHull { points }, [0.0, -2.0, 0.0]);
    let asset = flag(31, 31, Bending::Springs);
    let mut pools = [0, 1].map(|_| instances(&gpu, &asset, 1, few()));
    let ids = pools.each_mut().map(|pool| pool.spawn(&Instance::default()).unwrap());
    let before = pools[0].read_positions(ids[0]).unwrap();
    // As many iterations as are accepted leave no room for a hull.
    let mut full = Settings { substeps: 1, ..few() };
    while let more = (Settings { iterations: full.iterations + 100, ..full })
        && pools[0].set_settings(more).is_ok()
    {
        full = more;
    }
    pools[1].set_settings(full).unwrap();
    let found = pools[0].add_collider(&hull);
    assert!(matches!(found, Err(Error::TooLarge { count: 60_001.., limit: 60_000, .. })), "{found:?}");
    let [tried, untouched] = [0, 1].map(|k| {
        assert_eq!(pools[k].read_positions(ids[k]).unwrap(), before);
        pools[k].step(1);
        pools[k].read_positions(ids[k]).unwrap()
    });
    assert_eq!(tried, untouched);
    assert_ne!(tried, before);
    pools[0].set_settings(few()).unwrap();
    pools[0].add_collider(&hull).unwrap();
}
