//! Tiles and clusters: the same results on both backends, and a similar residual as by colours.

use crate::common;
use crate::common::{Pair, change, crumple, is_exact, raw, store};
use supple::constraints::Kind;
use supple::internals::Pass;
use supple::internals::coloring::Coloring;
use supple::internals::compiled_scenes;
use supple::{
    Bending, Cloth, ClothGrid, ClothMesh, ColorOrder, Distance, Error, Execution, Fabric, Material, Particle,
    Reference, Scene, Settings, Solver, Sweep, Tethers, wgpu,
};

/// Tolerance relative to the largest component after several steps, on adapters that are not exact.
const TOLERANCE: f32 = 1e-3;

fn clusters() -> Settings {
    Settings { execution: Execution::Clusters, substeps: 3, ..Settings::default() }
}

fn add_cloth(scene: &mut Scene, columns: u32, rows: u32, bending: Bending, height: f32) -> std::ops::Range<u32> {
    let fabric = Fabric { bending, flexural_rigidity: 1e-2, stretch_limit: 1.05, ..Fabric::default() };
    let grid = ClothGrid { columns, rows, fabric, origin: [-1.0, height, -1.0], ..ClothGrid::default() };
    let particles = scene.add_cloth_grid(&grid).unwrap().particles;
    crumple(scene, particles.clone(), 0.02);
    scene.pin(particles.start).unwrap();
    particles
}

/// Cloths of two sizes stitched together, a rope of loose particles, and edges of another material.
fn patchwork(bending: Bending) -> Scene {
    let mut scene = Scene::new();
    let a = add_cloth(&mut scene, 11, 8, bending, 0.0);
    let loose = scene.particle_count() as u32;
    for k in 0..5 {
        let position = [3.0, -0.1 * k as f32, 0.0];
        scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
    }
    let b = add_cloth(&mut scene, 5, 13, bending, 0.5);
    let mut link = |particles: [u32; 2], compliance: f32| {
        let [p, q] = particles.map(|particle| glam::Vec3::from(scene.positions()[particle as usize]));
        let rest_length = 0.9 * p.distance(q);
        scene.add(Distance { particles, rest_length }, Material::compliant(compliance)).unwrap();
    };
    for k in 0..4 {
        link([loose + k, loose + k + 1], 0.0);
        // From cloth to cloth, across a cloth, along an edge that already has a constraint, and with another material.
        link([a.start + k, b.start + k], 1e-4);
        link([a.start + k, a.end - 1 - k], 1e-5);
        link([a.start + k, a.start + k + 1], 1e-4);
        link([b.start + k, b.start + k + 6], 1e-6);
    }
    link([loose, b.end - 1], 1e-3);
    scene
}

#[test]
fn every_stage_agrees_in_tiles_and_clusters() {
    let gpu = common::gpu();
    for bending in [Bending::Springs, Bending::Hinges, Bending::Isometric] {
        let scene = patchwork(bending);
        let iterated = Settings { iterations: 2, keep_lambdas: true, damping: 0.3, ..clusters() };
        let executions = [Execution::Tiles, Execution::Clusters];
        for settings in
            executions.iter().flat_map(|&execution| [clusters(), iterated].map(|s| Settings { execution, ..s }))
        {
            let mut pair = Pair::new(&gpu, &scene, settings);
            let execution = settings.execution;
            let any = |found: fn(&Pass) -> bool| pair.solver.plan().substep.iter().any(found);
            assert_eq!(any(|pass| matches!(pass, Pass::Tiles { .. })), execution == Execution::Tiles);
            assert_eq!(any(|pass| matches!(pass, Pass::Clusters { .. })), execution == Execution::Clusters);
            assert_eq!(any(|pass| matches!(pass, Pass::Project { .. })), execution == Execution::Tiles);
            let passes = pair.passes(2);
            let tolerance = if is_exact(&gpu) { 0.0 } else { 2e-5 };
            let difference = pair.first_difference(tolerance, passes);
            assert!(difference.is_none(), "{bending:?}, {execution:?}: {difference:#?}");
            if settings.keep_lambdas && is_exact(&gpu) {
                let on_gpu = pair.solver.read_lambdas::<Distance>().unwrap();
                assert_eq!(on_gpu, pair.reference.read_lambdas::<Distance>().unwrap());
                let idle = on_gpu.iter().filter(|lambda| **lambda == 0.0).count();
                assert!(10 * idle < on_gpu.len(), "{idle} of {}", on_gpu.len());
            }
        }
    }
}

/// A grid whose parameters are equal in all tiles. They become shader parameters that the compiler must not fold.
#[test]
fn every_stage_agrees_with_parameters_in_the_shader() {
    let gpu = common::gpu();
    for (columns, rows, bending) in [(6, 5, Bending::Springs), (4, 7, Bending::Hinges), (6, 5, Bending::Isometric)] {
        let mut scene = Scene::new();
        add_cloth(&mut scene, columns, rows, bending, 0.0);
        let mut pair = Pair::new(&gpu, &scene, Settings { execution: Execution::Tiles, ..clusters() });
        let passes = pair.passes(1);
        let difference = pair.first_difference(if is_exact(&gpu) { 0.0 } else { 2e-5 }, passes);
        assert!(difference.is_none(), "{bending:?}: {difference:#?}");
    }
}

/// If the tile shader holds all parameters, the records are not uploaded until one of them changes.
#[test]
fn unread_records_are_not_uploaded() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    add_cloth(&mut scene, 14, 9, Bending::Springs, 0.0);
    let settings = Settings { execution: Execution::Tiles, ..clusters() };
    let records = 16 * scene.constraint_count_of(Distance::INFO) as u64;
    let mut pair = Pair::new(&gpu, &scene, settings);
    let alike = pair.solver.memory_bytes();
    pair.run(1, TOLERANCE, "alike");
    let old = scene.distances(30..31).next().unwrap();
    assert!(pair.solver.set_constraint(30, Distance { rest_length: f32::NAN, ..old }).is_err());
    change!(pair, set_constraint(30, Distance { rest_length: 1.3 * old.rest_length, ..old }));
    let unlike = pair.solver.memory_bytes();
    assert!((records - 16..=records).contains(&(unlike - alike)), "{alike}, {unlike}, {records}");
    pair.run(2, TOLERANCE, "one of them changed");
    change!(pair, set_settings(Settings { iterations: 2, execution: Execution::Colors, ..settings }));
    pair.run(2, TOLERANCE, "by colours");
    change!(pair, set_settings(settings));
    pair.run(2, TOLERANCE, "in tiles again");
    pair.solver.reset();
    pair.reference.reset();
    pair.run(2, TOLERANCE, "reset");
}

#[test]
fn a_grid_takes_four_dispatches_in_place_of_twelve() {
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns: 40, rows: 31, ..ClothGrid::default() }).unwrap();
    let passes = |settings| Reference::new(&scene, settings).unwrap().plan().substep.len();
    let springs = Settings { execution: Execution::Tiles, ..clusters() };
    assert_eq!(passes(springs), 4);
    assert_eq!(passes(Settings { execution: Execution::Colors, ..springs }), 12);
    // Settings without a fixed colour order have no tiles.
    assert_eq!(passes(Settings { color_order: ColorOrder::Alternating, ..springs }), 12);
    assert_eq!(passes(Settings { sweep: Sweep::Jacobi, ..springs }), 3);
    // `Auto` tiles many constraints in a grid, and few not.
    assert_eq!(passes(Settings { execution: Execution::Auto, ..springs }), 4);
    let (small, _) = common::hanging_cloth(9, 9);
    let plan = Reference::new(&small, Settings::default()).unwrap().plan().clone();
    assert!(!plan.substep.iter().any(|pass| matches!(pass, Pass::Tiles { .. })));
}

#[test]
fn tiles_and_clusters_converge_to_the_result_of_colours() {
    let mut scene = Scene::new();
    let [structural, shear, bend] = [1e-3, 2e-3, 1e-2].map(Material::compliant);
    let fabric = Fabric { structural, shear, bend, ..Fabric::default() };
    let grid = ClothGrid { columns: 11, rows: 8, fabric, ..ClothGrid::default() };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    crumple(&mut scene, cloth.particles, 0.005);
    scene.pin(0).unwrap();
    let settings = Settings { substeps: 4, iterations: 200, ..clusters() };
    let play = |execution| {
        let mut reference = Reference::new(&scene, Settings { execution, ..settings }).unwrap();
        reference.step(2);
        reference.read_positions().unwrap()
    };
    let colors = play(Execution::Colors);
    for execution in [Execution::Tiles, Execution::Clusters] {
        let clustered = play(execution);
        let distance = |a: &[f32; 3], b: &[f32; 3]| glam::Vec3::from(*a).distance((*b).into());
        let worst = clustered.iter().zip(&colors).map(|(a, b)| distance(a, b)).fold(0.0, f32::max);
        let moved = clustered.iter().zip(scene.positions()).map(|(a, b)| distance(a, b)).fold(0.0, f32::max);
        assert!(moved > 0.01 && worst < 0.03 * moved, "{execution:?}: {worst} apart of {moved} moved");
    }
}

#[test]
fn a_change_of_execution_keeps_the_changed_state() {
    let gpu = common::gpu();
    let scene = patchwork(Bending::Springs);
    let mut pair = Pair::new(&gpu, &scene, clusters());
    let longer = Distance { particles: [0, 1], rest_length: 0.5 };
    let count = scene.constraint_count_of(Distance::INFO) as u32;
    let index = scene.distances(0..count).position(|distance| distance.particles == [0, 1]).unwrap() as u32;
    pair.solver.set_constraint(index, longer).unwrap();
    pair.reference.set_constraint(index, longer).unwrap();
    let executions = [Execution::Colors, Execution::Clusters, Execution::Tiles, Execution::Clusters];
    for execution in executions.into_iter().chain([Execution::Auto, Execution::Tiles]) {
        let settings = Settings { execution, iterations: 20, ..clusters() };
        pair.solver.set_settings(settings).unwrap();
        pair.reference.set_settings(settings).unwrap();
        pair.solver.step(2);
        pair.reference.step(2);
        let (on_gpu, on_reference) = (pair.solver.read_positions().unwrap(), pair.reference.read_positions().unwrap());
        if is_exact(&gpu) {
            assert_eq!(common::first_unequal(&on_gpu, &on_reference, 0.0), None, "{execution:?}");
        }
        let [a, b] = [0, 1].map(|particle| glam::Vec3::from(on_reference[particle]));
        // The stretch limit of 5 % acts and is compliant.
        assert!(a.distance(b) > 1.08 * 0.2, "{execution:?}: {}", a.distance(b));
    }
}

#[test]
fn invalid_grids_are_rejected() {
    let mut scene = Scene::new();
    for _ in 0..12 {
        scene.add_particle(Particle::default()).unwrap();
    }
    assert!(matches!(scene.add_grid(0..0, 1), Err(Error::Empty { .. })));
    assert!(matches!(scene.add_grid(4..13, 3), Err(Error::IndexOutOfRange { index: 12, count: 12, .. })));
    assert!(matches!(scene.add_grid(0..8, 0), Err(Error::InvalidValue { .. })));
    assert!(matches!(scene.add_grid(0..8, 3), Err(Error::InvalidValue { .. })));
    scene.add_grid(4..8, 2).unwrap();
    assert!(matches!(scene.add_grid(6..10, 2), Err(Error::RepeatedIndex { index: 6, .. })));
    scene.add_grid(8..12, 4).unwrap();
    scene.add_grid(0..4, 1).unwrap();
}

#[test]
fn the_coloring_includes_the_constraints_of_tiles() {
    let gpu = common::gpu();
    // A grid in tiles and a chain by colours.
    let mut scene = Scene::new();
    add_cloth(&mut scene, 64, 64, Bending::Springs, 1.0);
    let chain: Vec<u32> = (0..10).map(|_| scene.add_particle(Particle::default()).unwrap()).collect();
    for link in chain.windows(2) {
        scene.add(Distance { particles: [link[0], link[1]], rest_length: 1.0 }, Material::RIGID).unwrap();
    }
    let settings = Settings { execution: Execution::Tiles, ..Settings::default() };
    let solver = Solver::with_store(&store(&gpu), &gpu.queue, &scene, settings).unwrap();
    let coloring = solver.coloring::<Distance>();
    let (count, particle_count) = (coloring.order.len(), scene.particle_count());
    let particles: Vec<u32> = scene.distances(0..count as u32).flat_map(|distance| distance.particles).collect();
    let find = |coloring: &Coloring| coloring.find_conflict(&particles, 2, particle_count);
    assert_eq!(find(coloring), None);
    let colors = coloring.color_of_constraints();
    let (cloth, links) = colors.split_at(count - 9);
    assert!(cloth.iter().all(Option::is_none) && links.iter().all(Option::is_some));
    let mut doubled = coloring.clone();
    doubled.order[0] = doubled.order[1];
    assert!(find(&doubled).is_some(), "a constraint that stands twice, in clusters");
}

#[test]
fn the_fastest_execution_is_measured_and_does_not_change_within_a_run() {
    let gpu = common::gpu();
    let scene = patchwork(Bending::Springs);
    let find = || {
        let before = compiled_scenes();
        let found = supple::gpu::fastest_execution(&gpu.device, &gpu.queue, &scene, clusters()).unwrap();
        (found, compiled_scenes() - before)
    };
    let ((found, measuring), (again, remembering)) = (find(), find());
    assert_ne!(found, Execution::Auto);
    assert_eq!(again, found);
    // The second call creates no solver.
    assert!(measuring >= 3 && remembering == 0, "{remembering} scenes compiled after {measuring}");
    let wrong = Settings { substeps: 0, ..clusters() };
    let refused = supple::gpu::fastest_execution(&gpu.device, &gpu.queue, &scene, wrong);
    assert!(matches!(refused, Err(Error::InvalidValue { .. })), "{refused:?}");
}

#[test]
fn scenes_of_equal_sizes_are_measured_separately() {
    let gpu = common::gpu();
    // 2000 particles and 2000 constraints: a hundred rings fit into workgroups, one ring does not.
    let rings = |count: u32| {
        let (mut scene, size) = (Scene::new(), 2000 / count);
        (0..2000).for_each(|k| {
            let position = [k as f32, 0.0, 0.0];
            scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
        });
        for k in 0..2000 {
            let next = k / size * size + (k % size + 1) % size;
            scene.add(Distance { particles: [k, next], rest_length: 1.0 }, Material::RIGID).unwrap();
        }
        scene
    };
    let settings = Settings { substeps: 3, ..clusters() };
    let compiled = |scene: &Scene| {
        let before = compiled_scenes();
        supple::gpu::fastest_execution(&gpu.device, &gpu.queue, scene, settings).unwrap();
        compiled_scenes() - before
    };
    let [many, one] = [rings(100), rings(1)];
    let [first, second, again] = [&many, &one, &one].map(compiled);
    assert!(first >= 2 && second >= 2 && again == 0, "{first}, {second}, {again}");
}

#[test]
fn no_execution_is_the_fastest_without_memory_for_any() {
    let scene = patchwork(Bending::Springs);
    let limits = wgpu::Limits { max_storage_buffer_binding_size: 256, ..wgpu::Limits::default() };
    let gpu = common::gpu_with(limits);
    let none = supple::gpu::fastest_execution(&gpu.device, &gpu.queue, &scene, clusters());
    assert!(matches!(none, Err(Error::LimitExceeded { .. })), "{none:?}");
}

/// A flat mesh of jittered points; each cell of the grid is cut along a random diagonal.
fn irregular(scene: &mut Scene, columns: u32, rows: u32) -> Cloth {
    let random = |k: u32| (k.wrapping_mul(2_654_435_761) >> 20) as f32 / 4096.0 - 0.5;
    let along = |k: u32, by: u32| 0.02 * (k as f32 + 0.6 * random(by));
    let position = |k: u32| [along(k % columns, k), 0.0, along(k / columns, k + 7777)];
    let positions: Vec<[f32; 3]> = (0..columns * rows).map(position).collect();
    let cells = (0..columns * (rows - 1)).filter(|cell| cell % columns + 1 < columns);
    let triangles: Vec<[u32; 3]> = cells
        .flat_map(|cell| {
            let [a, b, c, d] = [cell, cell + 1, cell + columns, cell + columns + 1];
            if random(cell) < 0.0 { [[a, b, c], [b, d, c]] } else { [[a, b, d], [a, d, c]] }
        })
        .collect();
    let fabric = Fabric { bending: Bending::Hinges, ..Fabric::default() };
    let tethers = Some(Tethers::default());
    scene.add_cloth_mesh(&ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers }).unwrap()
}

#[test]
fn clusters_take_few_dispatches_whatever_the_mesh() {
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns: 316, rows: 316, ..ClothGrid::default() }).unwrap();
    scene.pin(0).unwrap();
    let in_clusters = Settings { execution: Execution::Clusters, ..clusters() };
    let plan = |scene: &Scene, settings| Reference::new(scene, settings).unwrap().plan().dispatches_per_substep();
    assert!(plan(&scene, in_clusters) <= 4, "{}", plan(&scene, in_clusters));
    let mut scene = Scene::new();
    irregular(&mut scene, 316, 316);
    scene.pin(0).unwrap();
    let (few, many) =
        (plan(&scene, in_clusters), plan(&scene, Settings { execution: Execution::Colors, ..in_clusters }));
    // Seven layers of clusters, and one dispatch per colour of the trees around vertices of eight triangles.
    println!("{few} dispatches in clusters, {many} by colours");
    assert!(few <= 20 && many > 20, "{few}, {many}");
}

#[test]
fn every_kind_agrees_in_clusters() {
    let gpu = common::gpu();
    let material = Material { compliance: 1e-4, damping: 10.0, damping_time: 1e-3, stiffness: 0.5 };
    for (place, info, sample) in raw::cases().filter(|(_, info, _)| !info.is_group()) {
        let scene = raw::scene_of(place, &sample, &sample.positions, material);
        let mut pair = Pair::new(&gpu, &scene, Settings { iterations: 3, relaxation: 1.2, ..clusters() });
        assert!(pair.solver.plan().substep.iter().any(|pass| matches!(pass, Pass::Clusters { .. })));
        pair.run(3, TOLERANCE, info.name);
    }
}
