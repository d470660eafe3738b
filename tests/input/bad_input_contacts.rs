//! Bad input to contacts causes an error and changes nothing. Extreme valid input runs in bounded time and stays
//! finite.

use crate::common;
use crate::common::cases::*;
use crate::common::{gpu, noise, press, solver};
use std::sync::Once;
use std::time::{Duration, Instant};
use supple::gpu::Context;
use supple::{
    ClothGrid, Collider, ColliderId, ContactMaterial, ContactMaterialId, ContactScale, Error, Execution, Friction,
    Particle, Pose, Reference, Result, Scene, SelfCollision, SelfCollisionLevel, Settings, Shape, Solver, wgpu,
};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

/// Invalid contact materials, with words of their errors.
fn bad_materials() -> Vec<(String, ContactMaterial, &'static str)> {
    let plain = ContactMaterial::default();
    let mut bad = Vec::new();
    for thickness in [NAN, INF, -INF, 0.0, -0.0, -0.01, 1e-7, 1.1e3, f32::MIN_POSITIVE] {
        bad.push((format!("thickness {thickness}"), ContactMaterial { thickness, ..plain }, "thickness"));
    }
    for restitution in [NAN, INF, -0.1, 1.1] {
        bad.push((format!("restitution {restitution}"), ContactMaterial { restitution, ..plain }, "restitution"));
    }
    for (friction, words) in bad_frictions() {
        bad.push((format!("{friction:?}"), ContactMaterial { friction, ..plain }, words));
    }
    bad
}

/// Invalid scales of three particles, with words of their errors.
fn bad_scales() -> Vec<(String, [ContactScale; 3], &'static str)> {
    let one = ContactScale::default();
    let bad = |what: &str, scale: ContactScale, words| (format!("scale {what} {scale:?}"), [one, one, scale], words);
    let thin = [NAN, INF, -INF, 0.0, -0.0, -0.5, 1.000_001, 2.0];
    let thin = thin.map(|thickness| bad("t", ContactScale { thickness, ..one }, "thickness of particle 2"));
    let smooth = [NAN, INF, -INF, -0.1, 1.000_001];
    let smooth = smooth.map(|friction| bad("f", ContactScale { friction, ..one }, "friction of particle 2"));
    thin.into_iter().chain(smooth).collect()
}

fn bad_frictions() -> Vec<(Friction, &'static str)> {
    let statics = [NAN, INF, -0.1, 1.1e3].map(|statics| (Friction { statics, kinetic: 0.0 }, "static friction"));
    let kinetic = [NAN, INF, -0.1, 0.6].map(|kinetic| (Friction { statics: 0.5, kinetic }, "kinetic friction"));
    [statics, kinetic].concat()
}

fn at(position: [f32; 3]) -> Collider {
    Collider::new(Shape::HalfSpace, position)
}

fn turned(rotation: [f32; 4]) -> Collider {
    Collider { pose: Pose { rotation, ..Pose::default() }, ..Collider::default() }
}

fn bad_colliders() -> Vec<(String, Collider, &'static str)> {
    let mut bad = Vec::new();
    for value in [NAN, INF, -INF, 0.0, -1.0, 1e-7, 1e7] {
        let shapes = [
            (Shape::Sphere { radius: value }, "radius of a sphere"),
            (Shape::Capsule { radius: value, half_height: 1.0 }, "radius of a capsule"),
            (Shape::Capsule { radius: 1.0, half_height: value }, "half height of a capsule"),
            (Shape::Box { half_extents: [value, 1.0, 1.0] }, "half extent of a box"),
            (Shape::Box { half_extents: [1.0, value, 1.0] }, "half extent of a box"),
            (Shape::Box { half_extents: [1.0, 1.0, value] }, "half extent of a box"),
        ];
        bad.extend(shapes.map(|(shape, words)| (format!("{shape:?}"), Collider::new(shape, [0.0; 3]), words)));
    }
    for margin in [NAN, INF, -1e-3, 1.1e3] {
        bad.push((format!("margin {margin}"), Collider { margin, ..Collider::default() }, "margin of collider"));
    }
    for value in [NAN, INF, -INF] {
        for axis in 0..3 {
            let mut vector = [0.0; 3];
            vector[axis] = value;
            bad.push((format!("position {vector:?}"), at(vector), "position of collider"));
            let belt = Collider { surface_velocity: vector, ..Collider::default() };
            bad.push((format!("surface velocity {vector:?}"), belt, "surface velocity of collider"));
        }
        for axis in 0..4 {
            let mut rotation = [0.0, 0.0, 0.0, 1.0];
            rotation[axis] = value;
            bad.push((format!("rotation {rotation:?}"), turned(rotation), "rotation of collider"));
        }
    }
    bad.push(("far away".into(), at([0.0, 1.1e6, 0.0]), "position of collider"));
    bad.push(("a rotation of length 0".into(), turned([0.0; 4]), "rotation of collider"));
    bad.push(("a rotation of length 1e-20".into(), turned([1e-20, 0.0, 0.0, 0.0]), "rotation of collider"));
    bad
}

fn expect(what: &str, outcome: Result<()>, words: &str) -> Option<String> {
    match outcome {
        Ok(()) => Some(format!("{what}: accepted")),
        Err(Error::InvalidValue { .. }) if outcome.as_ref().unwrap_err().to_string().contains(words) => None,
        Err(error) => Some(format!("{what}: {error:?}")),
    }
}

/// The id of a contact material that a small scene does not have.
fn foreign_material() -> ContactMaterialId {
    let mut other = Scene::new();
    (0..9).map(|_| other.add_contact_material(ContactMaterial::default()).unwrap()).last().unwrap()
}

/// The id of a collider that a small scene does not have.
fn foreign_collider() -> ColliderId {
    let mut other = Scene::new();
    (0..9).map(|_| other.add_collider(Collider::default()).unwrap()).last().unwrap()
}

#[test]
fn invalid_contact_input_is_rejected() {
    let mut scene = base();
    let own = scene.add_contact_material(ContactMaterial::default()).unwrap();
    scene.add_collider(Collider::default()).unwrap();
    let mut faults = Vec::new();
    for (what, material, words) in bad_materials() {
        faults.extend(expect(&what, scene.add_contact_material(material).map(drop), words));
        faults.extend(expect(&what, scene.set_contact_material(own, material), words));
    }
    for (friction, words) in bad_frictions() {
        faults.extend(expect(&format!("{friction:?}"), scene.set_friction(own, own, friction), words));
    }
    for (what, collider, words) in bad_colliders() {
        faults.extend(expect(&what, scene.add_collider(collider).map(drop), words));
    }
    for (what, scales, words) in bad_scales() {
        faults.extend(expect(&what, scene.set_contact_scales(0..3, &scales), words));
    }
    for normal in [[0.0; 3], [NAN, 1.0, 0.0], [INF, 0.0, 0.0], [1e-20; 3]] {
        let outcome = Collider::half_space([0.0; 3], normal).map(drop);
        faults.extend(expect(&format!("normal {normal:?}"), outcome, "normal of a half-space"));
    }
    // Only the direction of a normal matters.
    for normal in [[0.0, 1e-6, 0.0], [0.0, -3e38, 0.0], [3e38, 3e38, 3e38]] {
        let rotation = Collider::half_space([0.0; 3], normal).unwrap().pose.rotation;
        let length = rotation.iter().map(|q| q * q).sum::<f32>();
        assert!((length - 1.0).abs() < 1e-5, "{normal:?}: {rotation:?}");
    }
    assert_no_faults(faults);

    let (unknown, count) = (foreign_material(), scene.particle_count() as u32);
    let out_of_range = [
        scene.contact_material(unknown).map(drop),
        scene.set_contact_material(unknown, ContactMaterial::default()),
        scene.set_particle_contact(0..1, unknown),
        scene.set_particle_contact(0..count + 1, own),
        scene.set_particle_contact(u32::MAX - 1..u32::MAX, own),
        scene.set_contact_scales(count - 1..count + 1, &[ContactScale::default(); 2]),
        scene.set_contact_scales(u32::MAX - 1..u32::MAX, &[ContactScale::default()]),
        scene.contact_scale(count).map(drop),
        scene.set_friction(own, unknown, Friction::NONE),
        scene.set_friction(unknown, own, Friction::NONE),
        scene.add_collider(Collider { material: unknown, ..Collider::default() }).map(drop),
    ];
    for (k, outcome) in out_of_range.into_iter().enumerate() {
        assert!(matches!(outcome, Err(Error::IndexOutOfRange { .. })), "{k}: {outcome:?}");
    }
    let outcome = scene.set_contact_scales(0..3, &[ContactScale::default(); 2]);
    assert!(matches!(outcome, Err(Error::LengthMismatch { left: 3, right: 2, .. })), "{outcome:?}");
    assert!((0..count).all(|i| scene.contact_scale(i).unwrap() == ContactScale::default()));
    // Nothing has changed: one own material and one collider.
    assert_eq!(scene.colliders(), [Collider::default()]);
    assert_eq!(scene.contact_material(own).unwrap(), ContactMaterial::default());
    let last = scene.add_contact_material(ContactMaterial::default()).unwrap();
    assert_eq!(last.index(), own.index() + 1, "a refused material has taken room");
}

#[test]
fn empty_particle_ranges_change_nothing() {
    let mut scene = base();
    let own = scene.add_contact_material(ContactMaterial::default()).unwrap();
    // Empty ranges, reversed ranges and ranges beyond the end: any result, but no panic.
    let count = scene.particle_count() as u32;
    #[expect(clippy::reversed_empty_ranges, reason = "that is the mistake")]
    for range in [0..0, count..count, 3..1, count + 5..count + 5, u32::MAX..0, u32::MAX..u32::MAX] {
        let shown = format!("{range:?}");
        let outcome =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scene.set_particle_contact(range, own).is_ok()));
        assert!(outcome.is_ok(), "{shown}: panic");
    }
    for particle in 0..count {
        assert_eq!(scene.particle_contact(particle), Ok(ContactMaterialId::default()), "particle {particle}");
    }
}

#[test]
fn sixteen_materials_and_4096_colliders_are_accepted() {
    let mut scene = base();
    for _ in 1..16 {
        scene.add_contact_material(ContactMaterial::default()).unwrap();
    }
    let outcome = scene.add_contact_material(ContactMaterial::default());
    assert!(matches!(outcome, Err(Error::TooLarge { count: 17, limit: 16, .. })), "{outcome:?}");

    let gpu = gpu();
    let ball = Collider::new(Shape::Sphere { radius: 0.1 }, [50.0, 0.0, 0.0]);
    for _ in 0..4096 {
        scene.add_collider(ball.clone()).unwrap();
    }
    let mut on_gpu = solver(&gpu, &scene, Settings { substeps: 1, ..Settings::default() });
    on_gpu.step(1);
    let outcome = on_gpu.add_collider(&ball);
    assert!(matches!(outcome, Err(Error::TooLarge { limit: 4096, .. })), "{outcome:?}");
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    let outcome = reference.add_collider(&ball);
    assert!(matches!(outcome, Err(Error::TooLarge { limit: 4096, .. })), "{outcome:?}");

    // One collider too many: an error when it is added or when a backend is created.
    let added = scene.add_collider(ball);
    let made = [
        Reference::new(&scene, Settings::default()).map(drop),
        Solver::new(&gpu.device, &gpu.queue, &scene, Settings::default()).map(drop),
    ];
    if added.is_ok() {
        for outcome in made {
            assert!(matches!(outcome, Err(Error::TooLarge { limit: 4096, .. })), "4097 colliders: {outcome:?}");
        }
    } else {
        assert!(matches!(added, Err(Error::TooLarge { limit: 4096, .. })), "{added:?}");
    }
}

#[test]
fn contact_settings_out_of_range_are_rejected() {
    let gpu = gpu();
    let scene = base();
    let mut on_gpu = solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    let plain = SelfCollision::default();
    let mut bad = Vec::new();
    for margin in [NAN, INF, 0.0, -1.0, 0.04, 11.0] {
        bad.push((format!("margin {margin}"), SelfCollision { margin, ..plain }, "margin"));
    }
    for iterations in [0, 65, u32::MAX] {
        bad.push((
            format!("{iterations} iterations"),
            SelfCollision { iterations: Some(iterations), ..plain },
            "iterations",
        ));
    }
    for pairs_per_particle in [0, 257, u32::MAX] {
        let own = SelfCollision { pairs_per_particle, ..plain };
        bad.push((format!("{pairs_per_particle} pairs"), own, "pairs per particle"));
    }
    let mut faults = Vec::new();
    let mut try_all = |what: &str, settings: Settings, words: &str| {
        faults.extend(expect(what, on_gpu.set_settings(settings), words));
        faults.extend(expect(what, reference.set_settings(settings), words));
        faults.extend(expect(what, Reference::new(&scene, settings).map(drop), words));
    };
    for (what, own, words) in bad {
        try_all(&what, Settings { self_collision: Some(own), ..Settings::default() }, words);
    }
    for recovery_speed in [NAN, INF, -1.0, 1.1e3] {
        let settings = Settings { recovery_speed, ..Settings::default() };
        try_all(&format!("recovery speed {recovery_speed}"), settings, "recovery speed");
    }
    assert_no_faults(faults);
    assert_eq!(*on_gpu.settings(), Settings::default());
}

/// A cloth that falls on a ball and on the ground.
fn running() -> (Scene, ColliderId, ContactMaterialId) {
    let mut scene = Scene::new();
    let grid = ClothGrid {
        columns: 6,
        rows: 6,
        origin: [-0.5, 0.3, -0.5],
        column_axis: [1.0, 0.0, 0.0],
        row_axis: [0.0, 0.0, 1.0],
        ..ClothGrid::default()
    };
    scene.add_cloth_grid(&grid).unwrap();
    let own = scene.add_contact_material(ContactMaterial { restitution: 0.3, ..ContactMaterial::default() }).unwrap();
    scene.set_particle_contact(0..18, own).unwrap();
    let id = scene.add_collider(Collider::new(Shape::Sphere { radius: 0.25 }, [0.0; 3])).unwrap();
    scene.add_collider(Collider::default()).unwrap();
    (scene, id, own)
}

#[test]
fn rejected_changes_while_running_leave_no_trace() {
    let gpu = gpu();
    let (scene, id, own) = running();
    let settings = Settings { self_collision: Some(SelfCollision::surfaces()), substeps: 5, ..Settings::default() };
    let [mut tried, mut untouched] = [0, 1].map(|_| solver(&gpu, &scene, settings));
    let [mut reference, mut alone] = [0, 1].map(|_| Reference::new(&scene, settings).unwrap());
    for backend in [&mut tried, &mut untouched] {
        backend.step(8);
    }
    reference.step(8);
    alone.step(8);

    let mut faults = Vec::new();
    for (what, collider, words) in bad_colliders() {
        faults.extend(expect(&what, tried.add_collider(&collider).map(drop), words));
        faults.extend(expect(&what, tried.set_collider(id, &collider), words));
        faults.extend(expect(&what, reference.add_collider(&collider).map(drop), words));
        faults.extend(expect(&what, reference.set_collider(id, &collider), words));
        if words.starts_with("position") || words.starts_with("rotation") {
            faults.extend(expect(&what, tried.move_collider(id, collider.pose), words));
            faults.extend(expect(&what, reference.move_collider(id, collider.pose), words));
        }
    }
    for (what, material, words) in bad_materials() {
        faults.extend(expect(&what, tried.set_contact_material(own, material), words));
        faults.extend(expect(&what, reference.set_contact_material(own, material), words));
    }
    for (what, scales, words) in bad_scales() {
        faults.extend(expect(&what, tried.set_contact_scales(0..3, &scales), words));
        faults.extend(expect(&what, reference.set_contact_scales(0..3, &scales), words));
    }
    let few = [ContactScale::default(); 2];
    for outcome in [tried.set_contact_scales(0..3, &few), reference.set_contact_scales(0..3, &few)] {
        assert!(matches!(outcome, Err(Error::LengthMismatch { .. })), "{outcome:?}");
    }
    assert_no_faults(faults);
    let (unknown, nobody) = (foreign_material(), foreign_collider());
    let strange = Collider { material: unknown, ..Collider::default() };
    for (k, outcome) in [
        tried.set_contact_material(unknown, ContactMaterial::default()),
        reference.set_contact_material(unknown, ContactMaterial::default()),
        tried.add_collider(&strange).map(drop),
        reference.add_collider(&strange).map(drop),
        tried.set_collider(id, &strange),
        reference.set_collider(id, &strange),
        tried.move_collider(nobody, Pose::default()),
        reference.move_collider(nobody, Pose::default()),
        tried.set_collider(nobody, &Collider::default()),
        reference.set_collider(nobody, &Collider::default()),
        tried.remove_collider(nobody),
        reference.remove_collider(nobody),
    ]
    .into_iter()
    .enumerate()
    {
        assert!(matches!(outcome, Err(Error::IndexOutOfRange { .. })), "{k}: {outcome:?}");
    }
    for backend in [&mut tried, &mut untouched] {
        backend.step(8);
    }
    reference.step(8);
    alone.step(8);
    assert_eq!(first_changed(&tried.read_positions().unwrap(), &untouched.read_positions().unwrap()), None);
    assert_eq!(first_changed(&reference.read_positions().unwrap(), &alone.read_positions().unwrap()), None);
    assert_eq!(tried.read_collider_forces().unwrap(), untouched.read_collider_forces().unwrap());
    assert_eq!(tried.read_contacts().unwrap(), untouched.read_contacts().unwrap());
}

#[test]
fn settings_beyond_the_device_limits_leave_contacts_unchanged() {
    // Buffers smaller than the pair list of `many` particles.
    let limits = wgpu::Limits { max_storage_buffer_binding_size: 1 << 20, ..wgpu::Limits::default() };
    let gpu = common::gpu_with(limits);
    let scene = press(0.01, 1);
    let many = Some(SelfCollision { pairs_per_particle: 256, ..SelfCollision::default() });
    let touching = Settings { self_collision: Some(SelfCollision::default()), substeps: 4, ..Settings::default() };
    let apart = Settings { self_collision: None, ..touching };
    for before in [touching, apart] {
        let [mut tried, mut untouched] = [0, 1].map(|_| solver(&gpu, &scene, before));
        let outcome = tried.set_settings(Settings {
            execution: Execution::Clusters,
            self_collision: many,
            forces: true,
            ..before
        });
        assert!(matches!(outcome, Err(Error::LimitExceeded { .. })), "{outcome:?}");
        assert_eq!(*tried.settings(), before);
        for backend in [&mut tried, &mut untouched] {
            backend.step(8);
        }
        assert_eq!(first_changed(&tried.read_positions().unwrap(), &untouched.read_positions().unwrap()), None);
        assert_eq!(tried.read_contacts().unwrap(), untouched.read_contacts().unwrap());
    }
}

/// Compiles the shaders once per level, so that compile time does not count towards the time limits of the tests. The
/// driver caches the result.
fn translate(gpu: &Context, own: Option<SelfCollision>) {
    static SEEN: [Once; 3] = [const { Once::new() }; 3];
    let level = match own.map(|own| own.level) {
        None => 0,
        Some(SelfCollisionLevel::Particles) => 1,
        Some(SelfCollisionLevel::Surfaces) => 2,
    };
    SEEN[level].call_once(|| {
        let settings = Settings { self_collision: own, substeps: 1, ..Settings::default() };
        let mut scene = press(0.01, 1);
        scene.add_collider(Collider::default()).unwrap();
        let mut solver = solver(gpu, &scene, settings);
        solver.step(1);
        solver.read_positions().unwrap();
    });
}

/// Runs both backends. Fails if they exceed the time limit or a position is not finite. Returns the positions.
fn survive(what: &str, scene: &Scene, settings: Settings, steps: u32, most: Duration) -> Vec<[f32; 3]> {
    let gpu = gpu();
    translate(&gpu, settings.self_collision);
    let start = Instant::now();
    let mut on_gpu = solver(&gpu, scene, settings);
    on_gpu.step(steps);
    let x = on_gpu.read_positions().unwrap();
    println!("{what}: solver {:?}, {:?}", start.elapsed(), on_gpu.read_contacts());
    assert!(start.elapsed() < most, "{what}: the solver takes {:?}", start.elapsed());
    let start = Instant::now();
    let mut reference = Reference::new(scene, settings).unwrap();
    reference.step(steps);
    println!("{what}: reference {:?}, {:?}", start.elapsed(), reference.read_contacts().unwrap());
    assert!(start.elapsed() < most, "{what}: the reference takes {:?}", start.elapsed());
    for (name, x) in [("solver", &x), ("reference", &reference.read_positions().unwrap())] {
        let bad = x.iter().position(|x| !x.iter().all(|x| x.is_finite()));
        assert_eq!(bad, None, "{what}: {name}: the first particle that is not finite");
    }
    assert_eq!(
        on_gpu.read_diagnostics().unwrap().non_finite_count,
        reference.read_diagnostics().unwrap().non_finite_count,
        "{what}"
    );
    x
}

fn levels() -> [SelfCollision; 2] {
    [SelfCollision::default(), SelfCollision::surfaces()]
}

/// Particles in a cube, with gaps of `spacing`.
fn cloud(count: u32, spacing: f32) -> Scene {
    let mut scene = Scene::new();
    let side = (count as f32).cbrt().ceil() as u32;
    for k in 0..count {
        let place = [k % side, k / side % side, k / side / side].map(|k| spacing * k as f32);
        scene.add_particle(Particle { position: place, ..Particle::default() }).unwrap();
    }
    scene
}

#[test]
fn thousands_of_particles_at_one_point_stay_finite() {
    // Rest positions are apart, so all pairs are candidates. The reference lists all pairs, which limits the counts at
    // which both backends run, and those of the surface level.
    let gpu = gpu();
    for own in levels() {
        let settings = Settings { self_collision: Some(own), substeps: 1, ..Settings::default() };
        let many = if own.level == SelfCollisionLevel::Particles { 10_000 } else { 4_000 };
        for (count, both) in [(many, false), (1_500, true)] {
            let mut scene = cloud(count, 0.05);
            (0..count).for_each(|i| scene.set_position(i, [0.3, 0.2, 0.1]).unwrap());
            let what = format!("{count} at one point, {:?}", own.level);
            if both {
                survive(&what, &scene, settings, 1, Duration::from_secs(20));
                continue;
            }
            translate(&gpu, settings.self_collision);
            let start = Instant::now();
            let mut on_gpu = solver(&gpu, &scene, settings);
            on_gpu.step(1);
            let (x, report) = (on_gpu.read_positions().unwrap(), on_gpu.read_contacts().unwrap());
            println!("{what}: {:?}, {report:?}", start.elapsed());
            assert!(start.elapsed() < Duration::from_secs(40), "{what}: {:?}", start.elapsed());
            assert!(x.iter().flatten().all(|x| x.is_finite()), "{what}");
            assert!(report.lost > 0, "{what}: nothing is said to be lost: {report:?}");
        }
    }
}

#[test]
fn all_particles_in_one_cell_stay_finite() {
    let mut scene = cloud(1500, 0.05);
    let grid = ClothGrid { columns: 12, rows: 12, ..ClothGrid::default() };
    scene.add_cloth_grid(&grid).unwrap();
    let thick = scene.add_contact_material(ContactMaterial { thickness: 10.0, ..ContactMaterial::default() }).unwrap();
    scene.set_particle_contact(0..scene.particle_count() as u32, thick).unwrap();
    for own in levels() {
        // The reference would solve more than a million contacts.
        let own = SelfCollision { fixed_capacity: true, ..own };
        let settings = Settings { self_collision: Some(own), substeps: 2, ..Settings::default() };
        survive(&format!("one cell, {:?}", own.level), &scene, settings, 2, Duration::from_secs(40));
    }
}

#[test]
fn a_cloth_thicker_than_its_spacing_rests() {
    // Neighbours at rest do not repel: a flat cloth without gravity keeps its shape.
    let mut scene = Scene::new();
    let grid = ClothGrid { columns: 10, rows: 10, ..ClothGrid::default() };
    scene.add_cloth_grid(&grid).unwrap();
    let spacing = 2.0 / 9.0;
    let thick = ContactMaterial { thickness: 1.7 * spacing, ..ContactMaterial::default() };
    let thick = scene.add_contact_material(thick).unwrap();
    scene.set_particle_contact(0..100, thick).unwrap();
    for own in levels() {
        let settings = Settings { self_collision: Some(own), substeps: 4, gravity: [0.0; 3], ..Settings::default() };
        let x = survive(&format!("thick, {:?}", own.level), &scene, settings, 10, Duration::from_secs(20));
        for (i, (x, start)) in x.iter().zip(scene.positions()).enumerate() {
            assert!(common::distance(*x, *start) < 1e-5, "{:?}: particle {i} has moved to {x:?}", own.level);
        }
    }
}

#[test]
fn extreme_positions_and_speeds_are_handled() {
    let mut scene = Scene::new();
    let huge = [1e6, 3e7, 1e15, 1e30, f32::MAX];
    for (k, value) in huge.into_iter().enumerate() {
        for axis in 0..3 {
            let mut position = [0.1 * k as f32, 0.3, 0.0];
            position[axis] = value;
            let mut velocity = [0.0; 3];
            velocity[(axis + 1) % 3] = -1e-3 * value;
            scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
        }
    }
    // Ordinary particles beside the extreme ones; they must not be affected.
    let first = scene.particle_count() as u32;
    for k in 0..20 {
        let position = [0.3 * k as f32 - 3.0, 0.0025, 5.0];
        scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
    }
    scene.add_cloth_grid(&ClothGrid { columns: 4, rows: 4, origin: [0.0, 1e15, 0.0], ..ClothGrid::default() }).unwrap();
    let rubber = ContactMaterial { restitution: 1.0, friction: Friction::coulomb(1e3), ..ContactMaterial::default() };
    let rubber = scene.add_contact_material(rubber).unwrap();
    scene.set_particle_contact(0..first, rubber).unwrap();
    scene.add_collider(Collider::default()).unwrap();
    let far = [
        Shape::Sphere { radius: 1e6 },
        Shape::Sphere { radius: 1e-6 },
        Shape::Capsule { radius: 1e6, half_height: 1e-6 },
        Shape::Box { half_extents: [1e6, 1e-6, 1e6] },
    ];
    for shape in far {
        let surface_velocity = [1e6, -1e6, 0.0];
        let material = rubber;
        let collider = Collider::new(shape, [1e6, -1e6, 1e6]);
        scene.add_collider(Collider { material, two_sided: true, surface_velocity, ..collider }).unwrap();
    }
    for own in [None, Some(SelfCollision::default()), Some(SelfCollision::surfaces())] {
        let settings = Settings { self_collision: own, substeps: 4, ..Settings::default() };
        let x = survive(&format!("far away, {own:?}"), &scene, settings, 4, Duration::from_secs(20));
        for (i, x) in x.iter().enumerate().skip(first as usize).take(20) {
            assert!((x[1] - 0.0025).abs() < 1e-4, "{own:?}: particle {i} at {x:?}");
        }
    }
}

/// Particles collide as usual beside a particle whose squared displacement overflows.
#[test]
fn extremely_fast_particles_hide_no_other_contacts() {
    for speed in [0.0, 1e13, 1e23, 1e37] {
        let mut scene = Scene::new();
        let thin = ContactMaterial { thickness: 0.01, ..ContactMaterial::default() };
        let thin = scene.add_contact_material(thin).unwrap();
        for position in [[0.0; 3], [0.009, 0.0, 0.0], [0.0, 0.0, 1.0]] {
            scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
        }
        scene
            .add_particle(Particle { position: [0.0, 0.0, 2.0], velocity: [0.0, speed, 0.0], ..Particle::default() })
            .unwrap();
        scene.set_particle_contact(0..4, thin).unwrap();
        scene.pin(2).unwrap();
        let own = Some(SelfCollision::default());
        let settings = Settings { self_collision: own, gravity: [0.0; 3], substeps: 4, ..Settings::default() };
        let x = survive(&format!("{speed} m/s beside"), &scene, settings, 4, Duration::from_secs(20));
        let apart = common::distance(x[0], x[1]);
        assert!(apart > 0.0099, "{speed} m/s: {apart} m apart");
    }
}

#[test]
fn extremely_fast_colliders_are_handled() {
    let gpu = gpu();
    let shapes = [
        Shape::HalfSpace,
        Shape::Sphere { radius: 0.3 },
        Shape::Capsule { radius: 0.2, half_height: 0.4 },
        Shape::Box { half_extents: [0.3, 0.01, 0.3] },
    ];
    let mut scene = cloud(64, 0.1);
    let rubber =
        scene.add_contact_material(ContactMaterial { restitution: 1.0, ..ContactMaterial::default() }).unwrap();
    scene.set_particle_contact(0..32, rubber).unwrap();
    let ids: Vec<ColliderId> =
        shapes.into_iter().map(|shape| scene.add_collider(Collider::new(shape, [0.0, -1.0, 0.0])).unwrap()).collect();
    let settings = Settings { self_collision: Some(SelfCollision::default()), substeps: 4, ..Settings::default() };
    let mut on_gpu = solver(&gpu, &scene, settings);
    let mut reference = Reference::new(&scene, settings).unwrap();
    for turn in 0..10u32 {
        for (k, &id) in (0u32..).zip(&ids) {
            let far = |axis: u32| 1e5 * noise(31 * turn + 7 * k + axis);
            // Half a turn in one step and back: both directions are equally long.
            let rotation =
                [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1e-9, 0.0, -1e-9], [1e30, 1e30, 0.0, 1.0]];
            let rotation = rotation[(turn + k) as usize % 4];
            let pose = Pose { position: [far(0), far(1), far(2)], rotation };
            on_gpu.move_collider(id, pose).unwrap();
            reference.move_collider(id, pose).unwrap();
        }
        on_gpu.step(1);
        reference.step(1);
    }
    for (name, x) in [("solver", on_gpu.read_positions().unwrap()), ("reference", reference.read_positions().unwrap())]
    {
        let bad = x.iter().position(|x| !x.iter().all(|x| x.is_finite()));
        assert_eq!(bad, None, "{name}: the first particle that is not finite");
    }
    for (k, force) in on_gpu.read_collider_forces().unwrap().iter().enumerate() {
        let numbers = [force.force, force.torque].concat();
        assert!(numbers.iter().all(|number| number.is_finite()), "collider {k}: {force:?}");
    }
}

#[test]
fn degenerate_elements_are_handled() {
    // Degenerate triangles and edges on top of each other, whose cross products vanish.
    let mut scene = Scene::new();
    for _ in 0..3 {
        scene.add_cloth_grid(&ClothGrid { columns: 4, rows: 4, ..ClothGrid::default() }).unwrap();
    }
    for i in 0..48 {
        let place = [[0.0; 3], [0.1 * (i % 4) as f32, 0.0, 0.0], [1e-30 * i as f32, 1e-38, 0.0]];
        scene.set_position(i, place[i as usize / 16]).unwrap();
    }
    for thickness in [1e-6, 0.005, 1e3] {
        scene
            .set_contact_material(ContactMaterialId::default(), ContactMaterial { thickness, ..Default::default() })
            .unwrap();
        for level in [SelfCollisionLevel::Particles, SelfCollisionLevel::Surfaces] {
            let own = SelfCollision { level, ..SelfCollision::surfaces() };
            let settings = Settings { self_collision: Some(own), substeps: 4, ..Settings::default() };
            survive(&format!("{thickness} m, {level:?}"), &scene, settings, 3, Duration::from_secs(20));
        }
    }
}

#[test]
fn particles_at_the_centre_of_colliders_are_handled() {
    // Positions without a normal: the centre of a ball, the axis of a capsule, the centre and the edge of a box.
    let mut scene = Scene::new();
    let shapes = [
        Shape::Sphere { radius: 0.3 },
        Shape::Capsule { radius: 0.3, half_height: 0.4 },
        Shape::Box { half_extents: [0.3; 3] },
    ];
    for (k, shape) in shapes.into_iter().enumerate() {
        for (j, two_sided) in [false, true].into_iter().enumerate() {
            let place = [3.0 * k as f32, 0.0, 3.0 * j as f32];
            scene.add_collider(Collider { two_sided, ..Collider::new(shape.clone(), place) }).unwrap();
            for aside in
                [[0.0; 3], [0.0, 0.1, 0.0], [0.3, 0.3, 0.3], [0.3, 0.0, 0.0], [0.0, 0.3, 0.0], [-0.3, 0.3, 0.0]]
            {
                let position = [0, 1, 2].map(|axis| place[axis] + aside[axis]);
                scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
            }
        }
    }
    // Many colliders at one particle: the report counts the contacts without forces, and nothing else is lost.
    for _ in 0..8 {
        scene.add_collider(Collider::new(Shape::HalfSpace, [0.0, -0.1, 0.0])).unwrap();
    }
    let settings = Settings { self_collision: Some(SelfCollision::default()), ..Settings::default() };
    survive("hearts", &scene, settings, 20, Duration::from_secs(20));
    let gpu = gpu();
    let mut on_gpu = solver(&gpu, &scene, settings);
    on_gpu.step(20);
    let mut reference = Reference::new(&scene, settings).unwrap();
    reference.step(20);
    let lost = (
        on_gpu.read_diagnostics().unwrap().lost_collider_contacts,
        reference.read_diagnostics().unwrap().lost_collider_contacts,
    );
    assert!(lost.0 > 0 && lost.1 > 0, "touches of more than two colliders are lost, but not counted: {lost:?}");
}

/// The required limits grow with the per-particle memory of colliders and contacts that the settings use.
#[test]
fn required_limits_include_contacts() {
    let default = wgpu::Limits::default().max_storage_buffer_binding_size;
    let mut scene = Scene::new();
    for _ in 0..1_700_000 {
        scene.add_particle(Particle::default()).unwrap();
    }
    let few = |level, pairs_per_particle| {
        let own = SelfCollision { level, pairs_per_particle, ..SelfCollision::default() };
        Settings { self_collision: Some(own), ..Settings::default() }
    };
    let needed =
        |scene: &Scene, settings| supple::required_limits_with(scene, &settings).max_storage_buffer_binding_size;
    assert_eq!(needed(&scene, Settings::default()), default);
    // Half as many contacts as pairs, of 96 bytes; the grid of the surface level.
    assert!(needed(&scene, few(SelfCollisionLevel::Particles, 12)) >= 1_700_000 * 6 * 96);
    assert!(needed(&scene, few(SelfCollisionLevel::Surfaces, 3)) >= 1_700_000 * 11 * 16);
    // Invalid settings are an error of the solver.
    assert!(needed(&scene, Settings { contact_events: u32::MAX, ..Settings::default() }) > 1 << 30);
    let events = Settings { contact_events: 1 << 20, ..Settings::default() };
    assert!(needed(&scene, events) >= 2 * 2 * (1 << 20) * 48);
    scene.add_collider(Collider::default()).unwrap();
    // Impulses at two colliders, and restitution.
    assert!(needed(&scene, Settings::default()) >= 1_700_000 * 80);
}

/// Squared distances of such triangles from the colliders overflow.
#[test]
fn triangles_that_reach_far_from_colliders_stay_finite() {
    for shape in [Shape::Sphere { radius: 1.0 }, Shape::Box { half_extents: [0.3; 3] }] {
        for far in [1e12, 1e16, 1e20] {
            let mut scene = Scene::new();
            scene.add_cloth_grid(&ClothGrid { columns: 6, rows: 6, ..ClothGrid::default() }).unwrap();
            scene.pin(0).unwrap();
            scene.add_collider(Collider::new(shape.clone(), [0.0, -1.2, 0.0])).unwrap();
            let wind = Some(supple::Wind { velocity: [3.0, 0.0, 0.0], ..Default::default() });
            let mut reference = Reference::new(&scene, Settings { substeps: 4, wind, ..Settings::default() }).unwrap();
            reference.set_positions(20, &[[far, -far, far]]).unwrap();
            reference.step(3);
            let positions = reference.read_positions().unwrap();
            assert!(positions.iter().flatten().all(|x| x.is_finite()), "{shape:?}, {far}: {positions:?}");
            // At the largest distance the lengths of its links overflow, too: a quarantine in each step.
            let mut free = Scene::new();
            free.add_cloth_grid(&ClothGrid { columns: 6, rows: 6, ..ClothGrid::default() }).unwrap();
            free.pin(0).unwrap();
            let mut free = Reference::new(&free, *reference.settings()).unwrap();
            free.set_positions(20, &[[far, -far, far]]).unwrap();
            free.step(3);
            let counts = [&free, &reference].map(|own| own.read_diagnostics().unwrap().non_finite_count);
            assert_eq!(counts, if far == 1e20 { [3; 2] } else { [0; 2] }, "{shape:?}, {far}");
        }
    }
}
