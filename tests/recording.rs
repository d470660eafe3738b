//! The state that a solver reports: recorded steps, running execution, intersection count. Also error texts, and
//! readback by several threads.

mod common;

use common::{gpu, solver, step};
use supple::{
    ClothGrid, Collider, ColorOrder, Distance, Error, Execution, Instances, Material, Particle, Reference, Scene,
    SelfCollision, SelfCollisionLevel, Settings, Shape, Sweep, Wind,
};

fn cloth() -> Scene {
    let mut scene = Scene::new();
    let cloth = scene.add_cloth_grid(&ClothGrid { columns: 8, rows: 8, ..ClothGrid::default() }).unwrap();
    scene.pin(cloth.particles.start).unwrap();
    scene
}

#[test]
fn steps_that_were_recorded_and_dropped_do_not_shift_the_order_once_the_number_is_handed_in() {
    let gpu = gpu();
    for color_order in [ColorOrder::Alternating, ColorOrder::Shuffled { seed: 3 }] {
        let settings = Settings { color_order, substeps: 3, ..Settings::default() };
        let mut reference = Reference::new(&cloth(), settings).unwrap();
        let mut played = solver(&gpu, &cloth(), settings);
        step(&gpu, &mut played, 1);
        let before = played.recorded_steps();
        assert_eq!(before, 1);
        let mut dropped = gpu.device.create_command_encoder(&Default::default());
        played.encode(&mut dropped, 3);
        drop(dropped);
        assert_eq!(played.recorded_steps(), 4);
        played.set_recorded_steps(before);
        step(&gpu, &mut played, 2);
        reference.step(3);
        let (on_gpu, expected) = (played.read_positions().unwrap(), reference.read_positions().unwrap());
        let most = on_gpu.iter().flatten().zip(expected.iter().flatten()).fold(0f32, |m, (a, b)| m.max((a - b).abs()));
        assert!(most < 1e-6, "{color_order:?}: {most}");
        played.reset();
        assert_eq!(played.recorded_steps(), 0);
    }
}

#[test]
fn a_solver_reports_why_another_execution_runs_than_the_chosen_one() {
    let gpu = gpu();
    let clusters = Settings { execution: Execution::Clusters, substeps: 4, ..Settings::default() };
    let mut played = solver(&gpu, &cloth(), clusters);
    assert_eq!((played.execution().execution, played.execution().reason), (Execution::Clusters, None));
    for (settings, words) in [
        (Settings { sweep: Sweep::Jacobi, ..clusters }, "Jacobi"),
        (Settings { color_order: ColorOrder::Alternating, ..clusters }, "color_order"),
    ] {
        played.set_settings(settings).unwrap();
        let running = played.execution();
        assert_eq!((running.chosen, running.execution), (Execution::Clusters, Execution::Colors), "{words}");
        assert!(running.reason.is_some_and(|reason| reason.contains(words)), "{words}: {running:?}");
        assert_eq!(*played.settings(), settings);
    }
    // Wind, contacts, iterations, `keep_lambdas` and colliders do not change the execution.
    let own = Some(SelfCollision::default());
    for settings in [
        Settings { wind: Some(Wind::default()), iterations: 2, keep_lambdas: true, ..clusters },
        Settings { self_collision: own, ..clusters },
    ] {
        played.set_settings(settings).unwrap();
        assert_eq!((played.execution().execution, played.execution().reason), (Execution::Clusters, None));
    }
    played.add_collider(&Collider::new(Shape::Sphere { radius: 0.1 }, [5.0; 3])).unwrap();
    assert_eq!(played.execution().execution, Execution::Clusters);
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
fn settings_keep_the_execution_that_was_asked_for() {
    let gpu = gpu();
    let mut played = solver(&gpu, &cloth(), Settings::default());
    let reference = Reference::new(&cloth(), Settings::default()).unwrap();
    assert_eq!((played.settings().execution, reference.settings().execution), (Execution::Auto, Execution::Auto));
    assert_eq!(played.execution().reason, None);
    played.set_settings(Settings { wind: Some(Wind::default()), ..Settings::default() }).unwrap();
    assert_eq!(played.settings().execution, Execution::Auto);
    for execution in [Execution::Colors, Execution::Tiles, Execution::Clusters] {
        let settings = Settings { execution, ..Settings::default() };
        let [own, other] =
            [solver(&gpu, &cloth(), settings).execution(), Reference::new(&cloth(), settings).unwrap().execution()];
        assert_eq!(own, other);
        assert_eq!((own.chosen, own.execution, own.reason), (execution, execution, None));
    }
}

#[test]
fn crossings_are_told_only_where_something_counts_them() {
    let gpu = gpu();
    for (level, counted) in [(SelfCollisionLevel::Particles, None), (SelfCollisionLevel::Surfaces, Some(0))] {
        let own = SelfCollision { level, ..SelfCollision::default() };
        let settings = Settings { self_collision: Some(own), substeps: 3, ..Settings::default() };
        let mut played = solver(&gpu, &cloth(), settings);
        let mut reference = Reference::new(&cloth(), settings).unwrap();
        step(&gpu, &mut played, 1);
        reference.step(1);
        assert_eq!(played.read_contacts().unwrap().crossings, counted, "{level:?}");
        assert_eq!(reference.read_contacts().unwrap().crossings, counted, "{level:?}");
    }
    let reference = Reference::new(&cloth(), Settings::default()).unwrap();
    assert_eq!(reference.read_contacts().unwrap().crossings, None);
}

/// Error texts print booleans as `true` or `false`, report a removed collider as removed, and use the singular for one.
#[test]
fn errors_read_as_what_they_mean() {
    let gpu = gpu();
    let mut scene = cloth();
    let collider = scene.add_collider(Collider::new(Shape::Sphere { radius: 0.1 }, [5.0; 3])).unwrap();
    let mut played = solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    let text = |outcome: Result<(), Error>| outcome.unwrap_err().to_string();

    played.remove_collider(collider).unwrap();
    reference.remove_collider(collider).unwrap();
    for error in [text(played.remove_collider(collider)), text(reference.move_collider(collider, Default::default()))] {
        assert!(error.contains("no collider 0") && error.contains("removed") && !error.contains("only"), "{error}");
    }
    // The new collider takes the slot of the removed one; the old id stays invalid.
    played.add_collider(&Collider::new(Shape::Sphere { radius: 0.1 }, [5.0; 3])).unwrap();
    assert_eq!(played.remove_collider(collider), Err(Error::NoCollider { index: 0 }));

    let error = text(played.read_lambdas::<Distance>().map(drop));
    assert_eq!(error, "read_lambdas needs Settings::keep_lambdas = true, or more than one iteration");
    for error in [text(played.set_forces(0, &[[0.0; 3]])), text(reference.set_forces(0, &[[0.0; 3]]))] {
        assert_eq!(error, "set_forces needs Settings::forces = true");
    }
    let instances = |settings| Instances::new(&gpu.device, &gpu.queue, &cloth(), 1, settings).map(drop);
    for (settings, needed) in [
        (Settings { forces: true, ..Settings::default() }, "Settings::forces = false"),
        (Settings { mean_forces: true, ..Settings::default() }, "Settings::mean_forces = false"),
        (Settings { sweep: Sweep::Jacobi, ..Settings::default() }, "Settings::sweep = Sweep::GaussSeidel"),
        (
            Settings { color_order: ColorOrder::Alternating, ..Settings::default() },
            "Settings::color_order = ColorOrder::Fixed",
        ),
        (Settings { body_damping: 0.5, ..Settings::default() }, "Settings::body_damping = 0"),
        (
            Settings { self_collision: Some(SelfCollision::default()), ..Settings::default() },
            "Settings::self_collision = None",
        ),
    ] {
        assert_eq!(text(instances(settings)), format!("Instances needs {needed}"));
    }
    let refused = Instances::new(&gpu.device, &gpu.queue, &scene, 1, Settings::default()).map(drop);
    assert!(text(refused).contains("the asset has 1 collider, which"));

    let mut one = Scene::new();
    assert_eq!(text(one.pin(0)), "pin names particle 0, but there are none");
    one.add_particle(Particle::default()).unwrap();
    assert_eq!(text(one.pin(3)), "pin names particle 3, but there is only 1");
    one.add_particle(Particle::default()).unwrap();
    assert_eq!(text(one.pin(3)), "pin names particle 3, but there are only 2");
    // Errors print the shortest decimal that parses to the value.
    let error = text(Settings { relaxation: 2.1, ..Settings::default() }.check());
    assert!(error.contains("relaxation is 2.1,"), "{error}");
    let error = text(reference.pin(&[u32::MAX]));
    assert!(error.contains("4294967295"), "{error}");
}

#[test]
fn solvers_on_one_device_are_read_by_several_threads_at_once() {
    let gpu = gpu();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut own = solver(&gpu, &cloth(), Settings { substeps: 2, ..Settings::default() });
                for _ in 0..40 {
                    step(&gpu, &mut own, 1);
                    own.read_positions().unwrap();
                }
            });
        }
    });
}
