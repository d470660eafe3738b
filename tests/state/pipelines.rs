//! Pipelines are compiled once per store, only if a scene uses them, and on request before a change needs them.

use crate::common::{Pair, change, gpu, gpu_with, hanging_cloth, is_exact, own_gpu, press, store, wheel};
use std::collections::BTreeSet;
use supple::gpu::PipelineStore;
use supple::internals::{compiled_scenes, take_shader_modules};
use supple::{
    ClothGrid, Collider, ContactMaterial, ContactMaterialId, Error, Execution, Field, Instances, Material, Reference,
    Scene, SelfCollision, Settings, Shape, Solver, Tethers, Wind, wgpu,
};

/// A cloth that hangs by two corners.
fn cloth(tethers: Option<Tethers>) -> Scene {
    let mut scene = Scene::new();
    let grid = ClothGrid { columns: 9, rows: 7, tethers, ..ClothGrid::default() };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    scene.pin(cloth.particles.start).unwrap();
    scene.pin(cloth.particles.start + 8).unwrap();
    scene
}

fn tethered_cloth() -> Scene {
    cloth(Some(Tethers::default()))
}

fn ball(x: f32) -> Collider {
    Collider::new(Shape::Sphere { radius: 0.2 }, [x, -0.3, 0.5])
}

fn cuboid() -> Collider {
    Collider::new(Shape::Box { half_extents: [0.2; 3] }, [0.5, -1.0, 0.5])
}

/// The names of the pipelines that solvers of a scene use, without the prefix.
fn names(scene: &Scene, settings: Settings) -> BTreeSet<String> {
    let gpu = gpu();
    take_shader_modules();
    Solver::with_store(&store(&gpu), &gpu.queue, scene, settings).unwrap();
    take_shader_modules().into_iter().map(|module| module.name.trim_start_matches("supple.").to_owned()).collect()
}

#[test]
fn the_second_solver_of_a_sort_on_a_store_compiles_nothing() {
    let gpu = gpu();
    let store = PipelineStore::new(&gpu.device);
    assert!(store.is_empty());
    let settings = Settings { self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    let mut scene = press(0.01, 1);
    scene.add_collider(ball(0.0)).unwrap();
    let mut first = Solver::with_store(&store, &gpu.queue, &scene, settings).unwrap();
    let compiled = store.len();
    assert!(compiled > 20, "{compiled}");
    // Other numbers of particles and another place, through the store of the first solver.
    let mut other = press(0.02, 2);
    other.add_collider(ball(0.5)).unwrap();
    let mut second = Solver::with_store(first.pipeline_store(), &gpu.queue, &other, settings).unwrap();
    assert_eq!(store.len(), compiled);
    for (solver, scene) in [(&mut first, &scene), (&mut second, &other)] {
        let mut reference =
            Reference::new(scene, Settings { execution: solver.execution().chosen, ..settings }).unwrap();
        solver.step(3);
        reference.step(3);
        if is_exact(&gpu) {
            assert_eq!(solver.read_positions().unwrap(), reference.read_positions().unwrap());
        }
    }
    // A solver keeps its pipelines when the store is cleared.
    store.clear();
    assert!(second.pipeline_store().is_empty());
    second.step(1);
    assert_eq!(second.read_diagnostics().unwrap().steps, 4);
}

#[test]
fn solvers_and_instances_without_a_common_store_have_their_own() {
    let gpu = gpu();
    let (scene, _) = hanging_cloth(4, 4);
    let [a, b] = [0, 1].map(|_| Solver::new(&gpu.device, &gpu.queue, &scene, Settings::default()).unwrap());
    b.pipeline_store().clear();
    assert!(!a.pipeline_store().is_empty());
    let store = PipelineStore::new(&gpu.device);
    let make = || Instances::with_store(&store, &gpu.queue, &scene, 3, Settings::default()).unwrap();
    let (mut first, compiled) = (make(), store.len());
    let mut second = make();
    assert_eq!((store.len(), compiled), (2, 2));
    first.add_collider(&ball(0.0)).unwrap();
    let compiled = second.pipeline_store().len();
    assert!(compiled > 2);
    second.add_collider(&ball(1.0)).unwrap();
    assert_eq!(store.len(), compiled);
}

#[test]
fn solvers_on_several_threads_share_a_store() {
    let gpu = own_gpu();
    let store = PipelineStore::new(&gpu.device);
    let positions = std::thread::scope(|scope| {
        let run = || {
            let (scene, _) = hanging_cloth(6, 5);
            let mut solver = Solver::with_store(&store, &gpu.queue, &scene, Settings::default()).unwrap();
            solver.step(2);
            solver.read_positions().unwrap()
        };
        [0; 3].map(|_| scope.spawn(run)).map(|thread| thread.join().unwrap())
    });
    assert!(positions.iter().all(|own| *own == positions[0]));
}

#[test]
fn only_the_passes_of_a_scene_are_compiled() {
    let bare = || cloth(None);
    let settings = Settings::default();
    let least: BTreeSet<String> = names(&bare(), settings);
    let fixed: Vec<&str> = least.iter().map(String::as_str).filter(|name| !name.starts_with("project")).collect();
    assert_eq!(fixed, ["finish", "normals", "predict", "start", "targets", "velocity", "velocity_predict"]);
    let more = |scene: &Scene, settings| names(scene, settings).difference(&least).cloned().collect::<Vec<_>>();
    let body = bare();
    let wind = Some(Wind::default());
    assert_eq!(more(&body, settings), [""; 0]);
    assert_eq!(more(&body, Settings { body_damping: 0.5, ..settings }), ["body_damping"]);
    assert_eq!(more(&bare(), Settings { wind, ..settings }), ["accelerations"]);
    // The number of pins changes often: all of these run for some number.
    let tethers = ["solve_tethers", "velocity_pinned", "velocity_tether"];
    assert_eq!(more(&tethered_cloth(), settings), tethers);
    assert_eq!(more(&tethered_cloth(), Settings { tethers: false, ..settings }), [""; 0]);
    let hub = names(&wheel(60, Material::RIGID), Settings { execution: Execution::Colors, ..settings });
    assert!(!hub.contains("normals") && !hub.contains("save_displacements"), "{hub:?}");
    let jacobi = more(&bare(), Settings { sweep: supple::Sweep::Jacobi, ..settings });
    assert!(jacobi.iter().any(|name| name == "gather_hubs") && !least.contains("gather_hubs"), "{jacobi:?}");
    let mut touched = bare();
    touched.add_collider(ball(0.0)).unwrap();
    let without_forces = names(&touched, Settings { collider_forces: false, triangle_contacts: false, ..settings });
    let unused = ["apply_restitution", "clear_collider_contacts", "collide_triangles", "collider_forces"];
    assert!(unused.iter().all(|name| !without_forces.contains(*name)), "{without_forces:?}");
}

#[test]
fn passes_that_a_change_adds_run_as_on_the_reference() {
    let gpu = gpu();
    let mut pair = Pair::new(&gpu, &tethered_cloth(), Settings::default());
    let bouncy = ContactMaterial { restitution: 0.5, ..ContactMaterial::default() };
    let mut fields = Settings::default().fields;
    fields[0] = Field::Point { position: [0.0, -1.0, 0.0], strength: 3.0, radius: 0.5 };
    let pins: Vec<u32> = (20..32).collect();
    pair.run(1, 1e-4, "start");
    let base = *pair.reference.settings();
    let settings = [
        ("wind", Settings { wind: Some(Wind::default()), ..base }),
        ("calm", base),
        ("fields", Settings { fields, ..base }),
        ("tether forces", Settings { tether_forces: true, ..base }),
        ("no tethers", Settings { tethers: false, ..base }),
        ("tethers", base),
        ("Jacobi", Settings { sweep: supple::Sweep::Jacobi, ..base }),
        ("Gauss-Seidel", base),
    ];
    for (what, settings) in settings {
        change!(pair, set_settings(settings));
        pair.run(1, 1e-4, what);
    }
    change!(pair, pin(&pins));
    pair.run(1, 1e-4, "many pins");
    change!(pair, release(&pins));
    pair.run(1, 1e-4, "few pins");
    change!(pair, set_contact_material(ContactMaterialId::default(), bouncy));
    change!(pair, add_collider(&ball(0.5)));
    pair.run(1, 1e-4, "restitution");
    change!(pair, set_contact_material(ContactMaterialId::default(), ContactMaterial::default()));
    pair.run(1, 1e-4, "no restitution");
    for (what, settings) in [
        ("no collider forces", Settings { collider_forces: false, ..base }),
        ("collider forces", base),
        ("events", Settings { contact_events: 64, ..base }),
        ("self-collision", Settings { self_collision: Some(SelfCollision::default()), ..base }),
        ("surfaces", Settings { self_collision: Some(SelfCollision::surfaces()), ..base }),
        ("colliders only", base),
    ] {
        change!(pair, set_settings(settings));
        pair.run(1, 1e-4, what);
    }
    pair.solver.reset();
    pair.reference.reset();
    pair.run(1, 1e-4, "reset");
}

#[test]
fn prepared_changes_compile_nothing() {
    let gpu = gpu();
    let shapes = [ball(0.0), ball(0.5), cuboid()];
    let base = Settings::default();
    let later = [
        Settings { self_collision: Some(SelfCollision::surfaces()), wind: Some(Wind::default()), ..base },
        Settings { self_collision: Some(SelfCollision::default()), contact_events: 32, ..base },
        Settings { execution: Execution::Clusters, iterations: 3, mean_forces: true, tether_forces: true, ..base },
    ];
    for settings in later {
        let store = PipelineStore::new(&gpu.device);
        let mut solver = Solver::with_store(&store, &gpu.queue, &tethered_cloth(), base).unwrap();
        let before = (store.len(), solver.memory_bytes(), solver.plan().clone());
        solver.prepare(&settings, &shapes).unwrap();
        assert_eq!((solver.memory_bytes(), solver.plan()), (before.1, &before.2));
        let compiled = store.len();
        assert!(compiled > before.0 + 5, "{before:?}, {compiled}");
        solver.set_settings(settings).unwrap();
        for shape in &shapes {
            solver.step(1);
            solver.add_collider(shape).unwrap();
        }
        solver.pin(&(20..32).collect::<Vec<_>>()).unwrap();
        solver.release(&(20..31).collect::<Vec<_>>()).unwrap();
        solver.shift_origin([1.0, 0.0, 0.0]).unwrap();
        solver.step(1);
        assert_eq!(store.len(), compiled, "{settings:?}");
        assert_eq!(solver.read_diagnostics().unwrap().steps, 4);
    }
}

#[test]
fn preparation_does_not_change_the_simulation_and_reports_bad_input() {
    let gpu = gpu();
    let mut solvers =
        [0, 1].map(|_| Solver::with_store(&store(&gpu), &gpu.queue, &tethered_cloth(), Settings::default()).unwrap());
    let later = Settings { self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    solvers[0].step(1);
    solvers[1].step(1);
    solvers[0].prepare(&later, &[ball(0.0)]).unwrap();
    let bad = solvers[0].prepare(&Settings { dt: -1.0, ..later }, &[]);
    assert!(matches!(bad, Err(Error::InvalidValue { .. })), "{bad:?}");
    let bad = solvers[0].prepare(&later, &[Collider { margin: f32::NAN, ..ball(0.0) }]);
    assert!(matches!(bad, Err(Error::InvalidValue { .. })), "{bad:?}");
    let [prepared, other] = solvers.each_mut().map(|solver| {
        solver.step(2);
        solver.read_positions().unwrap()
    });
    assert_eq!(prepared, other);
    assert!(solvers[0].settings().self_collision.is_none());
}

#[test]
fn a_device_that_is_too_small_is_refused_before_the_scene_is_compiled() {
    const ROOM: u64 = 1 << 20;
    let mut scene = Scene::new();
    let grid = ClothGrid { columns: 400, rows: 400, tethers: None, ..ClothGrid::default() };
    scene.add_cloth_grid(&grid).unwrap();
    let gpu = gpu_with(wgpu::Limits { max_storage_buffer_binding_size: ROOM, ..wgpu::Limits::default() });
    let store = PipelineStore::new(&gpu.device);
    for execution in [Execution::Auto, Execution::Colors, Execution::Tiles, Execution::Clusters] {
        let settings = Settings { execution, ..Settings::default() };
        let before = compiled_scenes();
        let outcome = Solver::with_store(&store, &gpu.queue, &scene, settings).map(drop);
        let Err(Error::LimitExceeded { limit, needed, available, .. }) = outcome else { panic!("{outcome:?}") };
        assert_eq!((limit, available, needed), ("max_storage_buffer_binding_size", ROOM, 160_000 * 16));
        assert_eq!((compiled_scenes() - before, store.len()), (0, 0));
    }
    // Buffers whose size only the compilation gives are refused before any pipeline is compiled.
    let room = |bytes| gpu_with(wgpu::Limits { max_storage_buffer_binding_size: bytes, ..wgpu::Limits::default() });
    let large = Settings { self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    let (small, _) = hanging_cloth(24, 24);
    for bytes in [4096, 16_384, 65_536, 262_144] {
        let gpu = room(bytes);
        let store = PipelineStore::new(&gpu.device);
        let before = compiled_scenes();
        let outcome = Solver::with_store(&store, &gpu.queue, &small, large).map(drop);
        let compiled = compiled_scenes() - before;
        assert!(compiled <= 1, "{bytes}: {compiled}");
        assert!(matches!(outcome, Err(Error::LimitExceeded { .. })), "{bytes}: {outcome:?}");
        assert_eq!(store.len(), 0, "{bytes}");
    }
}

#[test]
fn a_solver_compiles_its_scene_once() {
    let gpu = gpu();
    for execution in [Execution::Auto, Execution::Colors, Execution::Tiles, Execution::Clusters] {
        let before = compiled_scenes();
        let settings = Settings { execution, ..Settings::default() };
        Solver::with_store(&store(&gpu), &gpu.queue, &tethered_cloth(), settings).unwrap();
        assert_eq!(compiled_scenes() - before, 1, "{execution:?}");
    }
}
