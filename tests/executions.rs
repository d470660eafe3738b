//! Constraints that are solved in tiles and in patches: the same constraints, alike on both players, and as good as by colours.

mod common;

use common::{Pair, crumple, is_exact, step};
use supple::kinds::{Kind, kind_index};
use supple::{
    Bending, Cloth, ClothGrid, ClothMesh, ColorOrder, Distance, Error, Execution, Fabric, Material, Particle, Pass,
    Reference, Scene, Settings, Sweep, Tethers,
};

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

/// Cloths of two sizes, stitched together, a rope of loose particles beside them, and edges of another material.
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
        // From cloth to cloth, across a cloth, along an edge that has a constraint already, and with a material of its own.
        link([a.start + k, b.start + k], 1e-4);
        link([a.start + k, a.end - 1 - k], 1e-5);
        link([a.start + k, a.start + k + 1], 1e-4);
        link([b.start + k, b.start + k + 6], 1e-6);
    }
    link([loose, b.end - 1], 1e-3);
    scene
}

#[test]
fn every_stage_agrees_in_tiles_and_patches() {
    let gpu = common::gpu();
    for bending in [Bending::Springs, Bending::Hinges, Bending::Isometric] {
        let scene = patchwork(bending);
        let iterated = Settings { iterations: 2, keep_lambdas: true, damping: 0.3, ..clusters() };
        let executions = [Execution::Tiles, Execution::Patches, Execution::Clusters];
        for settings in
            executions.iter().flat_map(|&execution| [clusters(), iterated].map(|s| Settings { execution, ..s }))
        {
            let mut pair = Pair::new(&gpu, &scene, settings);
            let execution = settings.execution;
            let any = |found: fn(&Pass) -> bool| pair.solver.plan().substep.iter().any(found);
            assert_eq!(any(|pass| matches!(pass, Pass::Tiles { .. })), execution != Execution::Patches);
            assert_eq!(any(|pass| matches!(pass, Pass::Patches { .. })), execution != Execution::Tiles);
            assert_eq!(any(|pass| matches!(pass, Pass::Project { .. })), execution == Execution::Tiles);
            let passes = pair.passes(2);
            let tolerance = if is_exact(&gpu) { 0.0 } else { 2e-5 };
            let difference = pair.first_difference(tolerance, passes);
            assert!(difference.is_none(), "{bending:?}, {execution:?}: {difference:#?}");
            if settings.keep_lambdas && is_exact(&gpu) {
                let on_gpu = pair.solver.read_lambdas::<Distance>().unwrap();
                assert_eq!(on_gpu, pair.reference.lambdas(kind_index(Distance::INFO)));
                let idle = on_gpu.iter().filter(|lambda| **lambda == 0.0).count();
                assert!(10 * idle < on_gpu.len(), "{idle} of {}", on_gpu.len());
            }
        }
    }
}

/// A grid of its own, in whose parameters all tiles agree: they stand in the shader, and are still no constants to the compiler.
#[test]
fn every_stage_agrees_where_parameters_stand_in_the_shader() {
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

#[test]
fn a_grid_takes_four_dispatches_in_place_of_twelve() {
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns: 40, rows: 31, ..ClothGrid::default() }).unwrap();
    let passes = |settings| Reference::new(&scene, settings).unwrap().plan().substep.len();
    let springs = clusters();
    assert_eq!(passes(springs), 4);
    assert_eq!(passes(Settings { execution: Execution::Colors, ..springs }), 12);
    // What has no fixed order of colours has no tiles.
    assert_eq!(passes(Settings { color_order: ColorOrder::Alternating, ..springs }), 12);
    assert_eq!(passes(Settings { sweep: Sweep::Jacobi, ..springs }), 3);
    // Many constraints in a grid are tiled unasked, few are not.
    assert_eq!(passes(Settings { execution: Execution::Auto, ..springs }), 4);
    let (small, _) = common::hanging_cloth(9, 9);
    let plan = Reference::new(&small, Settings::default()).unwrap().plan().clone();
    assert!(!plan.substep.iter().any(|pass| matches!(pass, Pass::Tiles { .. })));
}

#[test]
fn tiles_and_patches_converge_to_what_colours_converge_to() {
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
        reference.positions()
    };
    let colors = play(Execution::Colors);
    for execution in [Execution::Tiles, Execution::Patches] {
        let clustered = play(execution);
        let distance = |a: &[f32; 3], b: &[f32; 3]| glam::Vec3::from(*a).distance((*b).into());
        let worst = clustered.iter().zip(&colors).map(|(a, b)| distance(a, b)).fold(0.0, f32::max);
        let moved = clustered.iter().zip(scene.positions()).map(|(a, b)| distance(a, b)).fold(0.0, f32::max);
        assert!(moved > 0.01 && worst < 0.03 * moved, "{execution:?}: {worst} apart of {moved} moved");
    }
}

#[test]
fn the_execution_may_change_while_running_and_keeps_what_was_set() {
    let gpu = common::gpu();
    let scene = patchwork(Bending::Springs);
    let mut pair = Pair::new(&gpu, &scene, clusters());
    let longer = Distance { particles: [0, 1], rest_length: 0.5 };
    let count = scene.constraint_count_of(Distance::INFO) as u32;
    let index = scene.distances(0..count).position(|distance| distance.particles == [0, 1]).unwrap() as u32;
    pair.solver.set_constraint(index, longer).unwrap();
    pair.reference.set_constraint(index, longer).unwrap();
    for execution in [Execution::Colors, Execution::Clusters, Execution::Patches, Execution::Auto, Execution::Tiles] {
        let settings = Settings { execution, iterations: 20, ..clusters() };
        pair.solver.set_settings(settings).unwrap();
        pair.reference.set_settings(settings).unwrap();
        step(&gpu, &mut pair.solver, 2);
        pair.reference.step(2);
        let (on_gpu, on_reference) = (pair.solver.read_positions().unwrap(), pair.reference.positions());
        if is_exact(&gpu) {
            assert_eq!(common::first_unequal(&on_gpu, &on_reference, 0.0), None, "{execution:?}");
        }
        let [a, b] = [0, 1].map(|particle| glam::Vec3::from(on_reference[particle]));
        // The limit of its stretch, 5 %, holds it back, and gives way.
        assert!(a.distance(b) > 1.08 * 0.2, "{execution:?}: {}", a.distance(b));
    }
}

#[test]
fn grids_that_are_none_are_refused() {
    let mut scene = Scene::new();
    for _ in 0..12 {
        scene.add_particle(Particle::default()).unwrap();
    }
    assert!(matches!(scene.add_grid(0..0, 1), Err(Error::Empty { .. })));
    assert!(matches!(scene.add_grid(4..13, 3), Err(Error::IndexOutOfRange { index: 12, count: 12, .. })));
    assert!(matches!(scene.add_grid(0..8, 0), Err(Error::InvalidValue { .. })));
    assert!(matches!(scene.add_grid(0..8, 3), Err(Error::InvalidValue { .. })));
    scene.add_grid(4..8, 2).unwrap();
    assert!(matches!(scene.add_grid(6..10, 2), Err(Error::RepeatedIndex { particle: 6, .. })));
    scene.add_grid(8..12, 4).unwrap();
    scene.add_grid(0..4, 1).unwrap();
}

#[test]
fn the_fastest_execution_is_measured_and_does_not_change_within_a_run() {
    let gpu = common::gpu();
    let scene = patchwork(Bending::Springs);
    let find = || supple::gpu::fastest_execution(&gpu.device, &gpu.queue, &scene, clusters());
    let found = find().unwrap();
    assert_ne!(found, Execution::Auto);
    assert_eq!(find().unwrap(), found);
    let wrong = Settings { substeps: 0, ..clusters() };
    let refused = supple::gpu::fastest_execution(&gpu.device, &gpu.queue, &scene, wrong);
    assert!(matches!(refused, Err(Error::InvalidValue { .. })), "{refused:?}");
}

/// A flat mesh of points that lie anyhow, each cell of its grid cut along either diagonal.
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
fn patches_take_few_dispatches_whatever_the_mesh() {
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns: 120, rows: 97, ..ClothGrid::default() }).unwrap();
    scene.pin(0).unwrap();
    let patches = Settings { execution: Execution::Patches, ..clusters() };
    let plan = |scene: &Scene, settings| Reference::new(scene, settings).unwrap().plan().dispatches_per_substep();
    assert!(plan(&scene, patches) <= 5, "{}", plan(&scene, patches));
    let mut scene = Scene::new();
    irregular(&mut scene, 110, 95);
    scene.pin(0).unwrap();
    let (few, many) = (plan(&scene, patches), plan(&scene, Settings { execution: Execution::Colors, ..patches }));
    assert!(few <= 8 && many > 20, "{few}, {many}");
}

fn whole() -> Settings {
    Settings { execution: Execution::Whole, ..clusters() }
}

/// Bodies of many kinds and sizes: cloths with tethers that hang by a corner, ropes, loose particles, all interleaved with nothing else.
fn bodies(bending: Bending) -> Scene {
    let mut scene = Scene::new();
    for (index, [columns, rows]) in [[11, 8], [32, 32], [5, 4], [3, 3], [4, 6]].into_iter().enumerate() {
        let fabric = Fabric { bending, flexural_rigidity: 1e-2, stretch_limit: 1.05, ..Fabric::default() };
        let tethers = (index != 2).then(Tethers::default);
        let origin = [2.5 * index as f32, 0.1 * index as f32, 0.0];
        let cloth = ClothGrid { columns, rows, fabric, origin, tethers, ..ClothGrid::default() };
        let particles = scene.add_cloth_grid(&cloth).unwrap().particles;
        crumple(&mut scene, particles.clone(), 0.02);
        scene.pin(particles.start).unwrap();
        let loose = scene.particle_count() as u32;
        for k in 0..5 {
            let position = [2.5 * index as f32, 3.0 - 0.1 * k as f32, 0.01 * k as f32];
            scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
        }
        for k in 0..3 {
            let particles = [loose + k, loose + k + 1];
            scene.add(Distance { particles, rest_length: 0.09 }, Material::compliant(1e-4 * k as f32)).unwrap();
        }
    }
    scene
}

#[test]
fn whole_bodies_agree_in_every_step() {
    let gpu = common::gpu();
    for bending in [Bending::Springs, Bending::Hinges, Bending::Isometric] {
        let scene = bodies(bending);
        let iterated = Settings { iterations: 2, keep_lambdas: true, damping: 0.3, ..whole() };
        for settings in [whole(), iterated, Settings { tethers: false, ..iterated }] {
            let mut pair = Pair::new(&gpu, &scene, settings);
            let plan = pair.solver.plan().clone();
            assert!(plan.contains(&Pass::Whole) && plan.dispatches_per_substep() == 0, "{plan:?}");
            let passes = pair.passes(3);
            let tolerance = if is_exact(&gpu) { 0.0 } else { 2e-5 };
            let difference = pair.first_difference(tolerance, passes);
            assert!(difference.is_none(), "{bending:?}, {settings:?}: {difference:#?}");
            if settings.keep_lambdas && is_exact(&gpu) {
                let on_gpu = pair.solver.read_lambdas::<Distance>().unwrap();
                assert_eq!(on_gpu, pair.reference.lambdas(kind_index(Distance::INFO)));
                let idle = on_gpu.iter().filter(|lambda| **lambda == 0.0).count();
                assert!(10 * idle < on_gpu.len(), "{idle} of {}", on_gpu.len());
            }
        }
    }
}
