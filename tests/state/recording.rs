//! The state that a solver reports: recorded steps, running execution, intersection count. Also readback by several
//! threads.

use crate::common;
use crate::common::instancing::{few, instances, leaf};
use crate::common::{gpu, solver, taken};
use supple::{
    ClothGrid, Collider, ColorOrder, Distance, Error, Execution, Instance, Material, Particle, Reference, Scene,
    SelfCollision, SelfCollisionLevel, Settings, Shape, Sweep, Wind,
};

fn cloth() -> Scene {
    let mut scene = Scene::new();
    let cloth = scene.add_cloth_grid(&ClothGrid { columns: 8, rows: 8, ..ClothGrid::default() }).unwrap();
    scene.pin(cloth.particles.start).unwrap();
    scene
}

#[test]
fn restored_recorded_steps_undo_dropped_steps() {
    let gpu = gpu();
    for color_order in [ColorOrder::Alternating, ColorOrder::Shuffled { seed: 3 }] {
        let settings = Settings { color_order, substeps: 3, ..Settings::default() };
        let mut reference = Reference::new(&cloth(), settings).unwrap();
        let mut on_gpu = solver(&gpu, &cloth(), settings);
        on_gpu.step(1);
        let before = on_gpu.recorded_steps();
        assert_eq!(before, 1);
        let mut dropped = gpu.device.create_command_encoder(&Default::default());
        on_gpu.encode(&mut dropped, 3);
        drop(dropped);
        assert_eq!(on_gpu.recorded_steps(), 4);
        on_gpu.set_recorded_steps(before);
        on_gpu.step(2);
        reference.step(3);
        let (found, expected) = (on_gpu.read_positions().unwrap(), reference.read_positions().unwrap());
        let most = found.iter().flatten().zip(expected.iter().flatten()).fold(0f32, |m, (a, b)| m.max((a - b).abs()));
        assert!(most < 1e-6, "{color_order:?}: {most}");
        on_gpu.reset();
        assert_eq!(on_gpu.recorded_steps(), 0);
    }
}

#[test]
fn a_solver_reports_the_reason_for_an_execution_other_than_the_chosen_one() {
    let gpu = gpu();
    let clusters = Settings { execution: Execution::Clusters, substeps: 4, ..Settings::default() };
    let mut on_gpu = solver(&gpu, &cloth(), clusters);
    assert_eq!((on_gpu.execution().execution, on_gpu.execution().reason), (Execution::Clusters, None));
    for (settings, words) in [
        (Settings { sweep: Sweep::Jacobi, ..clusters }, "Jacobi"),
        (Settings { color_order: ColorOrder::Alternating, ..clusters }, "color_order"),
    ] {
        on_gpu.set_settings(settings).unwrap();
        let running = on_gpu.execution();
        assert_eq!((running.chosen, running.execution), (Execution::Clusters, Execution::Colors), "{words}");
        assert!(running.reason.is_some_and(|reason| reason.contains(words)), "{words}: {running:?}");
        assert_eq!(*on_gpu.settings(), settings);
    }
    // Wind, contacts, iterations, `keep_lambdas` and colliders do not change the execution.
    let own = Some(SelfCollision::default());
    for settings in [
        Settings { wind: Some(Wind::default()), iterations: 2, keep_lambdas: true, ..clusters },
        Settings { self_collision: own, ..clusters },
    ] {
        on_gpu.set_settings(settings).unwrap();
        assert_eq!((on_gpu.execution().execution, on_gpu.execution().reason), (Execution::Clusters, None));
    }
    on_gpu.add_collider(&Collider::new(Shape::Sphere { radius: 0.1 }, [5.0; 3])).unwrap();
    assert_eq!(on_gpu.execution().execution, Execution::Clusters);
    // Without a grid of particles there are no tiles, so the solver runs by colours.
    let mut own = Scene::new();
    for k in 0..3 {
        own.add_particle(Particle { position: [0.1 * k as f32, 0.0, 0.0], ..Particle::default() }).unwrap();
    }
    own.add(Distance { particles: [0, 1], rest_length: 0.2 }, Material::RIGID).unwrap();
    let running = solver(&gpu, &own, Settings { execution: Execution::Tiles, ..Settings::default() }).execution();
    assert!(running.execution == Execution::Colors && running.reason.is_some(), "{running:?}");
}

#[test]
fn settings_keep_the_chosen_execution() {
    let gpu = gpu();
    let mut on_gpu = solver(&gpu, &cloth(), Settings::default());
    let reference = Reference::new(&cloth(), Settings::default()).unwrap();
    assert_eq!((on_gpu.settings().execution, reference.settings().execution), (Execution::Auto, Execution::Auto));
    assert_eq!(on_gpu.execution().reason, None);
    on_gpu.set_settings(Settings { wind: Some(Wind::default()), ..Settings::default() }).unwrap();
    assert_eq!(on_gpu.settings().execution, Execution::Auto);
    for execution in [Execution::Colors, Execution::Tiles, Execution::Clusters] {
        let settings = Settings { execution, ..Settings::default() };
        let [own, other] =
            [solver(&gpu, &cloth(), settings).execution(), Reference::new(&cloth(), settings).unwrap().execution()];
        assert_eq!(own, other);
        assert_eq!((own.chosen, own.execution, own.reason), (execution, execution, None));
    }
}

#[test]
fn crossings_are_reported_only_at_the_surface_level() {
    let gpu = gpu();
    for (level, counted) in [(SelfCollisionLevel::Particles, None), (SelfCollisionLevel::Surfaces, Some(0))] {
        let own = SelfCollision { level, ..SelfCollision::default() };
        let settings = Settings { self_collision: Some(own), substeps: 3, ..Settings::default() };
        let mut on_gpu = solver(&gpu, &cloth(), settings);
        let mut reference = Reference::new(&cloth(), settings).unwrap();
        on_gpu.step(1);
        reference.step(1);
        assert_eq!(on_gpu.read_contacts().unwrap().crossings, counted, "{level:?}");
        assert_eq!(reference.read_contacts().unwrap().crossings, counted, "{level:?}");
    }
    let reference = Reference::new(&cloth(), Settings::default()).unwrap();
    assert_eq!(reference.read_contacts().unwrap().crossings, None);
}

#[test]
fn several_threads_read_solvers_of_one_device() {
    let gpu = gpu();
    let run = || {
        let mut own = solver(&gpu, &cloth(), Settings { substeps: 2, ..Settings::default() });
        let one = |_| {
            own.step(1);
            own.read_positions().unwrap()
        };
        (0..40).map(one).collect::<Vec<_>>()
    };
    let runs = std::thread::scope(|scope| {
        let threads = [0; 4].map(|_| scope.spawn(run));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_ne!(runs[0][0], runs[0][39]);
    for (thread, own) in runs.iter().enumerate() {
        assert!(*own == runs[0], "thread {thread}");
    }
}

#[test]
fn requested_vectors_are_those_of_the_reads() {
    let gpu = gpu();
    let mut solver = solver(&gpu, &cloth(), Settings::default());
    let mut pool = instances(&gpu, &leaf(0.5), 2, few());
    let id = pool.spawn(&Instance::default()).unwrap();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    solver.encode(&mut encoder, 3);
    pool.encode(&mut encoder, 3);
    let mut normals = solver.request_normals(&mut encoder).unwrap();
    let mut velocities = pool.request_velocities(&mut encoder, id).unwrap();
    gpu.queue.submit([encoder.finish()]);
    assert_eq!(taken(&gpu, &mut normals), solver.read_normals().unwrap());
    assert_eq!(taken(&gpu, &mut velocities), pool.read_velocities(id).unwrap());
    let mut bare = Scene::new();
    bare.add_particle(Particle::default()).unwrap();
    let bare = common::solver(&gpu, &bare, Settings::default());
    let error = bare.request_normals(&mut gpu.device.create_command_encoder(&Default::default())).unwrap_err();
    assert_eq!(error.to_string(), "request_normals needs a scene with triangles");
}

#[test]
fn a_readback_that_was_never_submitted_says_so() {
    let gpu = gpu();
    let solver = solver(&gpu, &cloth(), Settings::default());
    let request = |is_finished: bool| {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut readback = solver.request_positions(&mut encoder);
        assert_eq!(readback.try_take(), Ok(None), "it is pending while the encoder exists");
        if is_finished {
            drop(encoder.finish());
        } else {
            drop(encoder);
        }
        readback.try_take()
    };
    for is_finished in [false, true] {
        assert_eq!(request(is_finished), Err(Error::NotSubmitted));
    }
}

#[test]
fn forces_read_in_a_pause_are_those_of_the_last_step() {
    let gpu = gpu();
    let settings = Settings { keep_lambdas: true, ..Settings::default() };
    let mut solver = solver(&gpu, &cloth(), settings);
    solver.step(20);
    let before = solver.read_constraint_forces::<Distance>().unwrap();
    solver.set_settings(Settings { substeps: 2 * settings.substeps, ..settings }).unwrap();
    solver.pin(&[0]).unwrap();
    solver.set_velocities(9, &[[0.0; 3]]).unwrap();
    // Recomputes normals only.
    solver.step(0);
    assert_eq!(solver.read_constraint_forces::<Distance>().unwrap(), before);
    assert!(before.iter().any(|force| force.abs() > 1e-3));
}

#[test]
fn a_reset_clears_multipliers_and_mean_forces_on_both_backends() {
    let gpu = gpu();
    let settings = Settings { keep_lambdas: true, mean_forces: true, ..Settings::default() };
    let mut reference = Reference::new(&cloth(), settings).unwrap();
    let mut solver = solver(&gpu, &cloth(), settings);
    solver.step(5);
    reference.step(5);
    let is_zero = |values: Vec<f32>| values.iter().all(|value| *value == 0.0);
    assert!(!is_zero(solver.read_lambdas::<Distance>().unwrap()));
    assert!(!is_zero(reference.read_lambdas::<Distance>().unwrap()));
    assert!(!is_zero(solver.read_mean_forces::<Distance>().unwrap()));
    assert!(!is_zero(reference.read_mean_forces::<Distance>().unwrap()));
    solver.reset();
    reference.reset();
    assert!(is_zero(solver.read_lambdas::<Distance>().unwrap()));
    assert!(is_zero(reference.read_lambdas::<Distance>().unwrap()));
    assert!(is_zero(solver.read_mean_forces::<Distance>().unwrap()));
    assert!(is_zero(reference.read_mean_forces::<Distance>().unwrap()));
}
