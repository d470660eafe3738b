//! Bad input while a simulation runs, and device failures, cause an error; the simulation continues unchanged.

use crate::attempts::{Attempt, running_case};
use crate::common;
use crate::common::cases::*;
use crate::common::{gpu, solver};
use std::sync::mpsc;
use std::time::Duration;
use supple::gpu::Context;
use supple::internals::Pass;
use supple::internals::coloring::Span;
use supple::{
    ClothGrid, Collider, ColorOrder, Distance, Error, Instances, Material, MaterialId, Particle, Reference, Scene,
    SelfCollision, Settings, Shape, ShapeMatching, Solver, Sweep, wgpu,
};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

/// Invalid calls on `base`: 15 particles, of which 2 is massless and 3 is pinned.
fn running_cases(foreign: MaterialId) -> Vec<Case<Attempt>> {
    vec![
        running_case!("a target of a free particle", "NotPinned", &["particle 1 "], |p| p.set_target(1, [0.0; 3])),
        running_case!("a target past the end", "IndexOutOfRange", &["set_target", "15"], |p| p
            .set_target(15, [0.0; 3])),
        running_case!("a target of −1", "IndexOutOfRange", &["4294967295"], |p| p.set_target(u32::MAX, [0.0; 3])),
        running_case!("a NaN target", "InvalidValue", &["target of particle 3", "NaN"], |p| p.set_target(3, [NAN; 3])),
        running_case!("an infinite target", "InvalidValue", &["target of particle 3", "inf"], |p| {
            p.set_target(3, [0.0, INF, 0.0])
        }),
        running_case!("a release of a massless particle", "InvalidValue", &["inverse mass of particle 2", "0"], |p| {
            p.release(&[2])
        }),
        // The first entry of the list is valid.
        running_case!("a release past the end", "IndexOutOfRange", &["release", "15"], |p| p.release(&[3, 15])),
        running_case!("a pin past the end", "IndexOutOfRange", &["pin", "77", "15"], |p| p.pin(&[0, 1, 77])),
        running_case!("a pin at u32::MAX", "IndexOutOfRange", &["pin", "4294967295"], |p| p.pin(&[u32::MAX])),
        running_case!("positions past the end", "IndexOutOfRange", &["position", "particle 15", "only 15"], |p| {
            p.set_positions(14, &[[0.0; 3]; 2])
        }),
        running_case!("positions from u32::MAX", "IndexOutOfRange", &["4294967295", "15"], |p| {
            p.set_positions(u32::MAX, &[[0.0; 3]])
        }),
        running_case!("a NaN position", "InvalidValue", &["position of particle 5", "NaN"], |p| {
            p.set_positions(4, &[[0.0; 3], [0.0, NAN, 0.0]])
        }),
        running_case!("velocities past the end", "IndexOutOfRange", &["velocity", "particle 16", "15"], |p| {
            p.set_velocities(0, &[[0.0; 3]; 17])
        }),
        running_case!("an infinite velocity", "InvalidValue", &["velocity of particle 0", "inf"], |p| {
            p.set_velocities(0, &[[INF; 3]])
        }),
        running_case!("settings without substeps", "InvalidValue", &["substeps", "0"], |p| {
            p.set_settings(Settings { substeps: 0, ..Settings::default() })
        }),
        running_case!("settings of NaN dt that also want λ", "InvalidValue", &["dt", "NaN"], |p| {
            p.set_settings(Settings { dt: NAN, keep_lambdas: true, ..Settings::default() })
        }),
        Case {
            what: "a material of another scene",
            variant: "IndexOutOfRange",
            words: &["material", "8", "4"],
            attempt: Box::new(Attempt {
                on_gpu: Box::new(move |p| p.set_material(foreign, Material::RIGID)),
                on_reference: Box::new(move |p| p.set_material(foreign, Material::RIGID)),
            }),
        },
    ]
}

#[test]
fn rejected_calls_leave_a_running_solver_unchanged() {
    let gpu = gpu();
    let scene = running_scene();
    let foreign = (0..9).map(|_| Scene::add_material).fold((Scene::new(), None), |(mut other, _), add| {
        let id = add(&mut other, Material::RIGID).unwrap();
        (other, Some(id))
    });
    let foreign = foreign.1.expect("nine materials");
    let mut tried = solver(&gpu, &scene, Settings::default());
    let mut untouched = solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    tried.step(3);
    untouched.step(3);
    reference.step(3);

    let before = tried.read_positions().unwrap();
    let mut faults = Vec::new();
    for case in running_cases(foreign) {
        let (on_gpu, on_reference) = ((case.attempt.on_gpu)(&mut tried), (case.attempt.on_reference)(&mut reference));
        if format!("{on_gpu:?}") != format!("{on_reference:?}") {
            faults.push(format!("{}: {on_gpu:?} against {on_reference:?} of the reference", case.what));
        }
        faults.extend(fault(&case, on_gpu));
        if first_changed(&before, &tried.read_positions().unwrap()).is_some() {
            faults.push(format!("{}: positions have changed", case.what));
        }
    }
    // λ is not stored.
    let what = "λ that is not kept";
    let case: Case<()> = Case { what, variant: "NotEnabled", words: &["keep_lambdas = true"], attempt: Box::new(()) };
    faults.extend(fault(&case, tried.read_lambdas::<Distance>()));
    let case: Case<()> = Case { what: "is_pinned past the end", variant: "IndexOutOfRange", words: &["15"], ..case };
    faults.extend(fault(&case, tried.is_pinned(15)));
    assert_no_faults(faults);

    tried.step(5);
    untouched.step(5);
    let pairs = [
        ("position", tried.read_positions().unwrap(), untouched.read_positions().unwrap()),
        ("velocity", tried.read_velocities().unwrap(), untouched.read_velocities().unwrap()),
    ];
    for (what, tried, untouched) in pairs {
        assert_eq!(first_changed(&tried, &untouched), None, "the first particle whose {what} has changed");
    }
    assert_eq!(*tried.settings(), Settings::default());
    assert_eq!(tried.read_diagnostics().unwrap(), untouched.read_diagnostics().unwrap());
}

#[test]
fn non_finite_real_time_counts_as_zero() {
    let gpu = gpu();
    let mut solver = solver(&gpu, &base(), Settings::default());
    for nonsense in [NAN, INF, -INF, -1.0] {
        assert_eq!(solver.advance(nonsense), 0, "{nonsense}");
        assert_eq!(solver.interpolation(), 0.0, "{nonsense}");
    }
    for long in [1.0, 1e10, f32::MAX] {
        assert_eq!(solver.advance(long), 4, "{long} s");
        assert!((0.0..=1.0).contains(&solver.interpolation()), "{long} s: {}", solver.interpolation());
    }
}

#[test]
fn an_empty_scene_is_rejected() {
    let gpu = gpu();
    let outcome = Solver::new(&gpu.device, &gpu.queue, &Scene::new(), Settings::default());
    assert!(matches!(outcome, Err(Error::Empty { .. })), "{outcome:?}");
}

#[test]
fn both_backends_reject_an_empty_scene() {
    // The documentation says: "As `Solver::new`, but for the device."
    let outcome = Reference::new(&Scene::new(), Settings::default());
    assert!(matches!(outcome, Err(Error::Empty { .. })), "{:?}", outcome.map(drop));
}

#[test]
fn a_scene_over_the_limits_of_the_device_is_rejected_with_both_numbers() {
    const ROOM: u64 = 65_536;
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns: 100, rows: 100, ..ClothGrid::default() }).unwrap();

    let gpu = common::gpu_with(wgpu::Limits { max_storage_buffer_binding_size: ROOM, ..wgpu::Limits::default() });
    let outcome = Solver::new(&gpu.device, &gpu.queue, &scene, Settings::default()).map(drop);
    let Err(Error::LimitExceeded { what, limit, needed, available }) = outcome else { panic!("{outcome:?}") };
    assert_eq!((limit, available), ("max_storage_buffer_binding_size", ROOM), "{what}");
    assert!(needed > ROOM, "{needed}");
    // The required limits are sufficient.
    let enough = supple::required_limits(&scene);
    assert!(enough.max_storage_buffer_binding_size >= needed);
    // The device still works.
    let mut alive = solver(&gpu, &base(), Settings::default());
    alive.step(1);
    assert_eq!(alive.read_diagnostics().map(|found| found.steps), Ok(1));

    let gpu = common::gpu_with(wgpu::Limits { max_buffer_size: ROOM, ..wgpu::Limits::default() });
    let outcome = Solver::new(&gpu.device, &gpu.queue, &scene, Settings::default()).map(drop);
    assert!(matches!(outcome, Err(Error::LimitExceeded { limit: "max_buffer_size", .. })), "{outcome:?}");

    let gpu = common::gpu_with(wgpu::Limits { max_storage_buffers_per_shader_stage: 4, ..wgpu::Limits::default() });
    let outcome = Solver::new(&gpu.device, &gpu.queue, &base(), Settings::default()).map(drop);
    let Err(Error::LimitExceeded { limit, available, .. }) = outcome else { panic!("{outcome:?}") };
    assert_eq!((limit, available), ("max_storage_buffers_per_shader_stage", 4));
}

#[test]
fn required_limits_include_the_impulses_of_mass_splitting() {
    const LINKS: u32 = 4_300_000;
    let mut scene = Scene::new();
    for _ in 0..LINKS / 10 + 2 {
        scene.add_particle(Particle::default()).unwrap();
    }
    for k in 0..LINKS {
        let particles = [k / 10, k / 10 + 1 + k % 2];
        scene.add(Distance { particles, rest_length: 1.0 }, Material::RIGID).unwrap();
    }
    let needed = |sweep| {
        let settings = Settings { sweep, ..Settings::default() };
        supple::required_limits_with(&scene, &settings).max_storage_buffer_binding_size
    };
    // Mass splitting stores a vec4 per particle of a constraint; records of 16 bytes fit the default limits.
    assert_eq!(needed(Sweep::GaussSeidel), wgpu::Limits::default().max_storage_buffer_binding_size);
    assert!(needed(Sweep::Jacobi) >= u64::from(LINKS) * 32);
}

#[test]
fn required_limits_include_the_members_of_groups() {
    const SIZE: u32 = 4000;
    let mut scene = Scene::new();
    let rest_positions: Vec<[f32; 3]> = (0..SIZE).map(|k| [k as f32, (k * k % 7) as f32, 0.0]).collect();
    for &position in &rest_positions {
        scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
    }
    let (particles, masses) = ((0..SIZE).collect::<Vec<u32>>(), vec![1.0; SIZE as usize]);
    let group = ShapeMatching { particles: &particles, rest_positions: &rest_positions, masses: &masses };
    let mut add = |members: u32| {
        for _ in 0..members / SIZE {
            scene.add(group, Material::RIGID).unwrap();
        }
        supple::required_limits(&scene)
    };
    // 32 bytes each.
    assert_eq!(add(3_000_000), wgpu::Limits::default());
    assert!(add(2_000_000).max_storage_buffer_binding_size >= 5_000_000 * 32);
}

#[test]
fn limits_beyond_the_adapter_are_rejected() {
    let limits = wgpu::Limits { max_storage_buffer_binding_size: 1 << 60, ..wgpu::Limits::default() };
    let outcome = Context::new(limits).map(drop);
    let Err(Error::AdapterLimit { limit, needed, available, .. }) = outcome else { panic!("{outcome:?}") };
    assert_eq!((limit, needed), ("max_storage_buffer_binding_size", 1 << 60));
    assert!(available < needed);
}

/// Runs in its own thread, and fails after one minute.
fn within_a_minute<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || sender.send(run()));
    match receiver.recv_timeout(Duration::from_secs(60)) {
        Ok(outcome) => outcome,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: hangs"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            panic!("{what}: panicked: {:?}", thread.join().err().and_then(|fault| fault.downcast::<String>().ok()))
        }
    }
}

#[test]
fn a_destroyed_device_causes_an_error_without_panic_or_hang() {
    let outcomes = within_a_minute("a destroyed device", || {
        let gpu = common::own_gpu();
        let mut solver = solver(&gpu, &base(), Settings::default());
        solver.step(2);
        assert!(solver.read_positions().is_ok());
        // With work in flight.
        solver.step(50);
        gpu.device.destroy();
        [
            ("read_positions", solver.read_positions().map(drop)),
            ("read_velocities", solver.read_velocities().map(drop)),
            ("read_diagnostics", solver.read_diagnostics().map(drop)),
            ("Solver::new", Solver::new(&gpu.device, &gpu.queue, &base(), Settings::default()).map(drop)),
        ]
    });
    for (what, outcome) in outcomes {
        let lost = matches!(outcome, Err(Error::DeviceLost { .. } | Error::Gpu { .. }));
        assert!(lost, "{what}: {outcome:?}");
    }
}

#[test]
fn calls_on_a_destroyed_device_neither_panic_nor_hang() {
    within_a_minute("calls on a destroyed device", || {
        let gpu = common::own_gpu();
        let mut solver = solver(&gpu, &running_scene(), Settings::default());
        gpu.device.destroy();
        // A program may notice the loss later. The results of these calls are not checked.
        let outcomes = [
            solver.set_positions(0, &[[0.0; 3]]),
            solver.set_velocities(0, &[[0.0; 3]]),
            solver.set_target(3, [0.0; 3]),
            solver.pin(&[4]),
            solver.release(&[4]),
            solver.set_settings(Settings { iterations: 2, ..Settings::default() }),
        ];
        drop(outcomes);
        solver.reset();
        solver.step(2);
        assert!(solver.read_positions().is_err());
    });
}

#[test]
fn a_request_made_before_the_device_was_destroyed_is_an_error() {
    within_a_minute("a request under way", || {
        let gpu = common::own_gpu();
        let solver = solver(&gpu, &base(), Settings::default());
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut request = solver.request_positions(&mut encoder);
        gpu.device.destroy();
        gpu.queue.submit([encoder.finish()]);
        // A program polls once per frame.
        for _ in 0..100 {
            if let Err(error) = gpu.device.poll(wgpu::PollType::Poll) {
                println!("poll: {error}");
            }
            match request.try_take() {
                Err(Error::DeviceLost { .. }) => return,
                Err(error) => panic!("{error}"),
                Ok(Some(_)) => panic!("it delivered"),
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        panic!("for ever on its way");
    });
}

#[test]
fn passes_outside_the_plan_are_skipped() {
    let gpu = gpu();
    let mut scene = Scene::new();
    scene.add_particle(Particle::default()).unwrap();
    let mut solver = solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    let span = Span { first: 0, count: 1000 };
    let foreign = [
        Pass::Normals,
        Pass::Accelerations,
        Pass::Project { kind: 0, color: 9, span, first_iteration: true },
        Pass::Split { kind: 7, span, first_iteration: false },
        Pass::GatherChunks { kind: 3 },
        Pass::GatherHubs { kind: usize::MAX },
    ];
    foreign.into_iter().for_each(|pass| reference.run(pass));
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    solver.encode_passes(&mut encoder, foreign, None);
    gpu.queue.submit([encoder.finish()]);
    assert_eq!(solver.read_positions().unwrap(), reference.read_positions().unwrap());
}

/// Error texts print booleans as `true` or `false`, report a removed collider as removed, and use the singular for one.
#[test]
fn error_texts_name_values_and_objects() {
    let gpu = gpu();
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns: 8, rows: 8, ..ClothGrid::default() }).unwrap();
    let cloth = scene.clone();
    let collider = scene.add_collider(Collider::new(Shape::Sphere { radius: 0.1 }, [5.0; 3])).unwrap();
    let mut on_gpu = solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    let text = |outcome: Result<(), Error>| outcome.unwrap_err().to_string();

    on_gpu.remove_collider(collider).unwrap();
    reference.remove_collider(collider).unwrap();
    for error in [text(on_gpu.remove_collider(collider)), text(reference.move_collider(collider, Default::default()))] {
        assert!(error.contains("no collider 0") && error.contains("removed") && !error.contains("only"), "{error}");
    }
    // The new collider takes the slot of the removed one; the old id stays invalid.
    on_gpu.add_collider(&Collider::new(Shape::Sphere { radius: 0.1 }, [5.0; 3])).unwrap();
    assert_eq!(on_gpu.remove_collider(collider), Err(Error::NoCollider { index: 0 }));

    let error = text(on_gpu.read_lambdas::<Distance>().map(drop));
    assert_eq!(error, "read_lambdas needs Settings::keep_lambdas = true, or more than one iteration");
    for error in [text(on_gpu.set_forces(0, &[[0.0; 3]])), text(reference.set_forces(0, &[[0.0; 3]]))] {
        assert_eq!(error, "set_forces needs Settings::forces = true");
    }
    let instances = |settings| Instances::new(&gpu.device, &gpu.queue, &cloth, 1, settings).map(drop);
    for (settings, needed) in [
        (Settings { forces: true, ..Settings::default() }, "Settings::forces = false"),
        (Settings { mean_forces: true, ..Settings::default() }, "Settings::mean_forces = false"),
        (Settings { tether_forces: true, ..Settings::default() }, "Settings::tether_forces = false"),
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
