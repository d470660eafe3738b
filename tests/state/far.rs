//! Far from the origin, on both backends: velocities at rest are as small as near it, and a shift of the origin has no
//! effect.

use crate::common::{gpu, hanging_cloth, solver, store};
use supple::{
    ClothGrid, Collider, ColliderId, Cord, Distance, Execution, Fabric, Field, Instance, Instances, Placement, Pose,
    Reference, Rope, Scene, SelfCollision, Settings, Shape, Simulation, Tethers, Wind,
};

/// A cloth that hangs by its upper row and a rope that hangs by its end, `at` metres from the origin on each axis.
fn at_rest(at: f32, fabric: Fabric) -> Scene {
    let mut scene = Scene::new();
    let (columns, rows) = (10, 10);
    let (column_axis, row_axis) = ([0.4, 0.0, 0.0], [0.0, -0.4, 0.0]);
    let grid = ClothGrid { columns, rows, origin: [at; 3], column_axis, row_axis, fabric, ..ClothGrid::default() };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    cloth.particles.take(columns as usize).for_each(|particle| scene.pin(particle).unwrap());
    let points: Vec<[f32; 3]> = (0..8).map(|k| [at, at - 0.05 * k as f32, at + 0.5]).collect();
    let cord = Cord { linear_density: 0.1, axial_stiffness: 1e4, damping: 0.0, bend: None, flexural_rigidity: 0.0 };
    let rope = scene.add_rope(&Rope { points: &points, cord, tethers: Some(Tethers::default()) }).unwrap();
    scene.pin(rope.particles.start).unwrap();
    scene
}

fn fastest(velocities: &[[f32; 3]]) -> f32 {
    velocities.iter().flatten().fold(0.0, |most, component| most.max(component.abs()))
}

/// The largest velocity component during ten steps after the first 150.
fn unrest(at: f32, fabric: Fabric, settings: Settings) -> f32 {
    let mut reference = Reference::new(&at_rest(at, fabric), settings).unwrap();
    reference.step(150);
    (0..10).fold(0.0, |most: f32, _| {
        reference.step(1);
        most.max(fastest(&reference.read_velocities().unwrap()))
    })
}

/// The bound documented in `Settings`: at most 1 mm/s up to 10 km. Without the residual in d it would be ulp(x)/h.
#[test]
fn a_hanging_cloth_rests_up_to_ten_kilometres_from_the_origin() {
    let damped = |time: f32| {
        let mut fabric = Fabric::default();
        for material in [&mut fabric.structural, &mut fabric.shear, &mut fabric.bend] {
            material.damping_time = time;
        }
        fabric
    };
    let settings = Settings { damping: 4.0, ..Settings::default() };
    for (name, fabric) in [("cotton", Fabric::COTTON), ("rigid", damped(0.0)), ("damped", damped(0.01))] {
        for at in [0.0, 100.0, 1000.0, 10_000.0] {
            let speed = unrest(at, fabric, settings);
            println!("{name} at {at} m: {speed:e} m/s");
            assert!(speed < 1e-3, "{name} at {at} m: {speed} m/s");
        }
    }
}

#[test]
fn a_cloth_far_from_the_origin_rests_at_50_substeps() {
    let settings = Settings { substeps: 50, damping: 4.0, ..Settings::default() };
    let speed = unrest(10_000.0, Fabric::COTTON, settings);
    assert!(speed < 1e-3, "{speed} m/s");
}

#[test]
fn a_cloth_ten_kilometres_away_rests_on_the_gpu_and_falls_as_near_the_origin() {
    let gpu = gpu();
    let scene = at_rest(10_000.0, Fabric::COTTON);
    let settings = Settings { damping: 4.0, substeps: 10, ..Settings::default() };
    let mut on_gpu = solver(&gpu, &scene, settings);
    let mut reference = Reference::new(&scene, settings).unwrap();
    on_gpu.step(150);
    reference.step(150);
    for velocities in [on_gpu.read_velocities().unwrap(), reference.read_velocities().unwrap()] {
        assert!(fastest(&velocities) < 1e-3, "{} m/s", fastest(&velocities));
    }
    // The released cloth contracts sideways. Rounding to 1 mm changes its shape slightly.
    let mut near = Reference::new(&at_rest(0.0, Fabric::COTTON), settings).unwrap();
    near.step(150);
    let all: Vec<u32> = (0..10).collect();
    on_gpu.release(&all).unwrap();
    on_gpu.step(1);
    for reference in [&mut reference, &mut near] {
        reference.release(&all).unwrap();
        reference.step(1);
    }
    let aside =
        |velocities: &[[f32; 3]]| velocities.iter().flat_map(|&[x, _, z]| [x.abs(), z.abs()]).fold(0.0, f32::max);
    let most = 3e-3 + aside(&near.read_velocities().unwrap());
    for velocities in [on_gpu.read_velocities().unwrap(), reference.read_velocities().unwrap()] {
        assert!(aside(&velocities) < most, "{} m/s, not {most}", aside(&velocities));
    }
}

#[test]
fn a_cloth_on_a_floor_far_away_rests() {
    for at in [0.0, 1000.0, 10_000.0] {
        let mut scene = Scene::new();
        let (column_axis, row_axis) = ([0.3, 0.0, 0.0], [0.0, 0.0, 0.3]);
        let origin = [at, at + 0.01, at];
        let grid = ClothGrid { columns: 8, rows: 8, origin, column_axis, row_axis, ..ClothGrid::default() };
        scene.add_cloth_grid(&grid).unwrap();
        scene.add_collider(Collider::half_space([at; 3], [0.0, 1.0, 0.0]).unwrap()).unwrap();
        let mut reference = Reference::new(&scene, Settings::default()).unwrap();
        reference.step(60);
        let speed = (0..10).fold(0.0, |most: f32, _| {
            reference.step(1);
            most.max(fastest(&reference.read_velocities().unwrap()))
        });
        println!("on a floor at {at} m: {speed:e} m/s");
        assert!(speed < 1e-3, "at {at} m: {speed} m/s");
    }
}

/// All coordinates are between 1024 m and 2048 m before and after the shift.
const OFFSET: [f32; 3] = [512.0, 256.0, -64.0];

fn moved(positions: &[[f32; 3]], offset: [f32; 3]) -> Vec<[f32; 3]> {
    positions.iter().map(|x| std::array::from_fn(|axis| x[axis] + offset[axis])).collect()
}

/// All state that depends on positions: cloth, pins with targets, a resting and a moving collider, fields, gusts,
/// turbulence and contacts.
fn full_scene() -> (Scene, Settings, ColliderId) {
    let (hung, cloth) = hanging_cloth(8, 6);
    let mut scene = Scene::new();
    let origin = [1200.0, 1300.0, 1400.0];
    let (column_axis, row_axis) = ([0.4, 0.05, 0.1], [-0.05, 0.15, 0.4]);
    let grid = ClothGrid { columns: 8, rows: 6, origin, column_axis, row_axis, ..ClothGrid::default() };
    let own = scene.add_cloth_grid(&grid).unwrap();
    assert_eq!(own.particles, cloth.particles);
    hung.pinned_particles().for_each(|particle| scene.pin(particle).unwrap());
    let ball = Collider::new(Shape::Sphere { radius: 0.1 }, [1200.25, 1299.875, 1400.25]);
    let ball = scene.add_collider(ball).unwrap();
    scene.add_collider(Collider::half_space([1200.0, 1299.75, 1400.0], [0.0, 1.0, 0.0]).unwrap()).unwrap();
    let fields = Field::slots(&[
        Field::Point { position: [1201.0, 1300.5, 1400.25], strength: 3.0, radius: 1.0 },
        Field::Vortex { position: [1199.5, 1300.0, 1400.5], axis: [0.0, 1.0, 0.0], strength: 2.0, radius: 0.5 },
    ]);
    let wind = Wind { velocity: [2.0, 0.0, 1.0], gust: 0.5, turbulence: 1.0, ..Wind::default() };
    let settings = Settings {
        substeps: 6,
        fields,
        wind: Some(wind),
        self_collision: Some(SelfCollision::default()),
        keep_lambdas: true,
        ..Settings::default()
    };
    (scene, settings, ball)
}

/// Positions, velocities, λ of distance constraints, forces on colliders.
type State = (Vec<[f32; 3]>, Vec<[f32; 3]>, Vec<f32>, String);

fn state(backend: &dyn Simulation) -> State {
    let forces = format!("{:?}", backend.read_collider_forces().unwrap());
    let (positions, velocities) = (backend.read_positions().unwrap(), backend.read_velocities().unwrap());
    (positions, velocities, backend.read_lambdas::<Distance>().unwrap(), forces)
}

/// Runs both; one is shifted while a collider and a pin are moving.
fn compare([shifted, unshifted]: [&mut dyn Simulation; 2], ball: ColliderId) {
    let target = [1200.25, 1300.125, 1400.25];
    let place = [1200.25, 1300.0, 1400.25];
    for backend in [&mut *shifted, &mut *unshifted] {
        backend.step(2);
        backend.set_target(0, target).unwrap();
        backend.move_collider(ball, Pose { position: place, ..Pose::default() }).unwrap();
    }
    shifted.shift_origin(OFFSET).unwrap();
    for (steps, there) in [(1, target), (3, [1200.0, 1300.25, 1400.5])] {
        shifted.step(steps);
        unshifted.step(steps);
        let (own, other) = (state(shifted), state(unshifted));
        assert_eq!(own.0, moved(&other.0, OFFSET), "positions");
        assert_eq!((own.1, own.2, own.3), (other.1, other.2, other.3), "velocities, λ, forces on colliders");
        shifted.set_target(0, moved(&[there], OFFSET)[0]).unwrap();
        unshifted.set_target(0, there).unwrap();
    }
    let Field::Point { position, .. } = shifted.settings().fields[0] else { panic!("the field is gone") };
    assert_eq!(position, moved(&[[1201.0, 1300.5, 1400.25]], OFFSET)[0]);
    shifted.reset();
    unshifted.reset();
    shifted.step(1);
    unshifted.step(1);
    assert_eq!(state(shifted).0, moved(&state(unshifted).0, OFFSET), "after reset");
}

#[test]
fn a_shift_within_the_same_powers_of_two_leaves_no_trace_on_the_gpu() {
    let gpu = gpu();
    let (scene, settings, ball) = full_scene();
    let [mut shifted, mut unshifted] = [0, 1].map(|_| solver(&gpu, &scene, settings));
    compare([&mut shifted, &mut unshifted], ball);
}

#[test]
fn a_shift_within_the_same_powers_of_two_leaves_no_trace_in_the_reference() {
    let (scene, settings, ball) = full_scene();
    let [mut shifted, mut unshifted] = [0, 1].map(|_| Reference::new(&scene, settings).unwrap());
    compare([&mut shifted, &mut unshifted], ball);
}

#[test]
fn a_scene_shifted_to_the_origin_continues_as_before() {
    let gpu = gpu();
    let scene = at_rest(4096.0, Fabric::COTTON);
    let settings = Settings { damping: 2.0, substeps: 10, ..Settings::default() };
    let mut near = solver(&gpu, &scene, settings);
    let (mut near_reference, mut far) =
        (Reference::new(&scene, settings).unwrap(), Reference::new(&scene, settings).unwrap());
    near.step(5);
    near_reference.step(5);
    far.step(5);
    near.shift_origin([-4096.0; 3]).unwrap();
    near_reference.shift_origin([-4096.0; 3]).unwrap();
    assert_eq!(near_reference.read_velocities().unwrap(), far.read_velocities().unwrap());
    near.step(10);
    near_reference.step(10);
    far.step(10);
    for (positions, velocities) in [
        (near.read_positions().unwrap(), near.read_velocities().unwrap()),
        (near_reference.read_positions().unwrap(), near_reference.read_velocities().unwrap()),
    ] {
        let apart = |a: &[[f32; 3]], b: &[[f32; 3]]| {
            a.iter().flatten().zip(b.iter().flatten()).fold(0.0, |most: f32, (a, b)| most.max((a - b).abs()))
        };
        // An ulp of 4096 m is half a millimetre.
        assert!(apart(&moved(&positions, [4096.0; 3]), &far.read_positions().unwrap()) < 1e-3);
        assert!(
            apart(&velocities, &far.read_velocities().unwrap()) < 0.02,
            "{}",
            apart(&velocities, &far.read_velocities().unwrap())
        );
    }
    // After a shift there and back, a reset restores the exact initial state.
    near_reference.shift_origin([4096.0; 3]).unwrap();
    near_reference.reset();
    assert_eq!(near_reference.read_positions().unwrap(), scene.positions());
}

#[test]
fn instances_are_shifted_without_a_trace() {
    let gpu = gpu();
    let mut flag = Scene::new();
    let grid = ClothGrid {
        columns: 6,
        rows: 5,
        column_axis: [0.4, 0.0, 0.0],
        row_axis: [0.0, 0.1, 0.3],
        ..ClothGrid::default()
    };
    let cloth = flag.add_cloth_grid(&grid).unwrap();
    flag.pin(cloth.particles.start).unwrap();
    let wind = Wind { velocity: [2.0, 0.0, 1.0], gust: 0.5, turbulence: 1.0, ..Wind::default() };
    let point = Field::Point { position: [1201.0, 1300.5, 1400.25], strength: 3.0, radius: 1.0 };
    let settings = Settings { substeps: 5, wind: Some(wind), fields: Field::slots(&[point]), ..Settings::default() };
    let play = |flags: &Instances, steps| {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        flags.encode(&mut encoder, steps);
        gpu.queue.submit([encoder.finish()]);
    };
    let mut both = [0, 1].map(|_| Instances::with_store(&store(&gpu), &gpu.queue, &flag, 4, settings).unwrap());
    let spawn = |flags: &mut Instances, place: [f32; 3]| {
        flags.spawn(&Instance { placement: Placement::at(place), ..Instance::default() }).unwrap()
    };
    let ids = both.each_mut().map(|flags| {
        let ids = [spawn(flags, [1200.0, 1300.0, 1400.0]), spawn(flags, [1202.0, 1301.0, 1400.0])];
        play(flags, 2);
        flags.set_target(ids[0], 0, [1200.0, 1300.25, 1400.0]).unwrap();
        // In motion towards another place at the time of the shift.
        flags.teleport(ids[1], Placement::at([1203.0, 1301.5, 1400.0])).unwrap();
        ids
    });
    both[0].shift_origin(OFFSET).unwrap();
    assert_eq!(both[0].placement(ids[0][0]).unwrap().position, moved(&[[1200.0, 1300.0, 1400.0]], OFFSET)[0]);
    for _ in 0..2 {
        both.iter().for_each(|flags| play(flags, 2));
        for (k, pair) in ids[0].into_iter().zip(ids[1]).enumerate() {
            let pair = [pair.0, pair.1];
            let [own, other] = [0, 1].map(|which| both[which].read_positions(pair[which]).unwrap());
            assert_eq!(own, moved(&other, OFFSET), "instance {k}");
            let [own, other] = [0, 1].map(|which| both[which].read_velocities(pair[which]).unwrap());
            assert_eq!(own, other, "velocities of instance {k}");
        }
        both[0].reset(ids[0][1]).unwrap();
        both[1].reset(ids[1][1]).unwrap();
    }
    for (offset, words) in [([f32::NAN; 3], "NaN"), ([0.0, 9e5, 9e5], "slot 0"), ([2e6, 0.0, 0.0], "2000000")] {
        let before = both[0].placement(ids[0][0]).unwrap();
        if words == "slot 0" {
            both[0].shift_origin([0.0, 2e5, 0.0]).unwrap();
            assert!(both[0].shift_origin(offset).unwrap_err().to_string().contains(words));
            both[0].shift_origin([0.0, -2e5, 0.0]).unwrap();
        } else {
            let error = both[0].shift_origin(offset).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        assert_eq!(both[0].placement(ids[0][0]).unwrap(), before);
    }
}

/// A removed collider has no position that could leave the range of coordinates.
#[test]
fn removed_colliders_do_not_limit_a_shift() {
    let gpu = gpu();
    let (scene, _) = hanging_cloth(4, 4);
    let mut solver = solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    let ball = Collider { shape: Shape::Sphere { radius: 1.0 }, ..Collider::default() };
    for _ in 0..3 {
        let [one, other] = [solver.add_collider(&ball).unwrap(), reference.add_collider(&ball).unwrap()];
        solver.remove_collider(one).unwrap();
        reference.remove_collider(other).unwrap();
        for offset in [[-9e5, 0.0, 0.0], [-9e5, 0.0, 0.0], [9e5, 0.0, 0.0], [9e5, 0.0, 0.0]] {
            solver.shift_origin(offset).unwrap();
            reference.shift_origin(offset).unwrap();
        }
    }
}

#[test]
fn an_invalid_shift_is_rejected_and_changes_nothing() {
    let gpu = gpu();
    let (scene, settings, _) = full_scene();
    let mut on_gpu = solver(&gpu, &scene, settings);
    let mut reference = Reference::new(&scene, settings).unwrap();
    let before = (on_gpu.read_positions().unwrap(), *on_gpu.settings());
    for (offset, words) in [
        ([f32::NAN, 0.0, 0.0], "offset of shift_origin is NaN"),
        ([0.0, f32::NEG_INFINITY, 0.0], "offset of shift_origin is -inf"),
        ([0.0, 0.0, 1.1e6], "offset of shift_origin is 1100000"),
        ([999_500.0, 0.0, 0.0], "collider 0"),
    ] {
        let errors = [on_gpu.shift_origin(offset), reference.shift_origin(offset)].map(|outcome| outcome.unwrap_err());
        assert_eq!(errors[0].to_string(), errors[1].to_string());
        assert!(errors[0].to_string().contains(words), "{}", errors[0]);
    }
    let mut scene = Scene::new();
    scene.add_particle(supple::Particle::default()).unwrap();
    let far = Field::Point { position: [-5e5, 0.0, 0.0], strength: 1.0, radius: 1.0 };
    let mut alone =
        Reference::new(&scene, Settings { fields: Field::slots(&[far]), execution: Execution::Colors, ..settings })
            .unwrap();
    let error = alone.shift_origin([-6e5, 0.0, 0.0]).unwrap_err().to_string();
    assert!(error.contains("position of field 0"), "{error}");
    assert_eq!(alone.read_positions().unwrap(), [[0.0; 3]]);
    assert_eq!((on_gpu.read_positions().unwrap(), *on_gpu.settings()), before);
    assert_eq!(reference.read_positions().unwrap(), before.0);
}
