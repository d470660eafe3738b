//! Calls to a solver with torn cloth: changed constraints, requests of other solvers.

use crate::common;
use crate::common::{Pair, change, distance};
use supple::scene::Bending;
use supple::{ClothGrid, Distance, Error, Fabric, Material, Scene, Settings, Tearing};

const COLUMNS: u32 = 7;

/// The side of a cell \[m\].
const CELL: f32 = 0.05;

/// A sheet that hangs from its first row and tears along its fifth one. Shear springs are soft.
fn sheet(rows: u32) -> Scene {
    let mut scene = Scene::new();
    let fabric = Fabric {
        area_density: 0.1,
        structural: Material::compliant(1e-2),
        shear: Material::compliant(1e3),
        bending: Bending::None,
        tearing: Some(Tearing::at(f32::INFINITY)),
        ..Fabric::default()
    };
    let column_axis = [(COLUMNS - 1) as f32 * CELL, 0.0, 0.0];
    let row_axis = [0.0, -((rows - 1) as f32) * CELL, 0.0];
    let grid = ClothGrid { columns: COLUMNS, rows, origin: [0.0; 3], column_axis, row_axis, fabric, tethers: None };
    scene.add_cloth_grid(&grid).unwrap();
    (0..COLUMNS).for_each(|column| scene.pin(column).unwrap());
    let first = 4 * COLUMNS;
    let line: Vec<[u32; 2]> = (first..first + COLUMNS - 1).map(|particle| [particle, particle + 1]).collect();
    scene.set_tear_strain(&line, 5e-4).unwrap();
    scene
}

/// A constraint names the particles of the scene, also if a tear has given it the copy of one of them.
#[test]
fn constraints_of_torn_vertices_change_by_their_particles_in_the_scene() {
    let gpu = common::gpu();
    let scene = sheet(9);
    let settings = Settings { damping: 20.0, ..Settings::default() };
    let mut pair = Pair::new(&gpu, &scene, settings);
    let mut copies = Vec::new();
    for _ in 0..30 {
        pair.run(1, 1e-3, "tearing");
        let tears = pair.reference.tear().unwrap();
        assert_eq!(pair.solver.tear().unwrap(), tears);
        copies.extend(tears.copies);
    }
    assert_eq!(copies.len() as u32, COLUMNS);
    change!(pair, set_settings(Settings { gravity: [0.0; 3], ..settings }));
    let column = |[a, b]: [u32; 2]| a.abs_diff(b) == COLUMNS;
    let all = scene.constraint_count_of(<Distance as supple::constraints::Kind>::INFO) as u32;
    for (index, own) in (0..all).zip(scene.distances(0..all)).filter(|(_, own)| column(own.particles)) {
        change!(pair, set_constraint(index, Distance { rest_length: 1.2 * own.rest_length, ..own }));
    }
    pair.run(120, 1e-3, "longer");
    let vertex = |particle: u32| copies.iter().find(|[_, copy]| *copy == particle).map_or(particle, |[own, _]| *own);
    let x = pair.solver.read_positions().unwrap();
    for &[a, b, c] in pair.solver.triangles() {
        for [a, b] in [[a, b], [b, c], [c, a]].into_iter().filter(|side| column(side.map(vertex))) {
            let length = distance(x[a as usize], x[b as usize]) / f64::from(CELL);
            assert!((length - 1.2).abs() < 0.01, "{a} to {b}: {length} cells");
        }
    }
}

#[test]
fn a_request_of_tears_of_another_scene_is_an_error() {
    let gpu = common::gpu();
    let [mut large, small] = [41, 7].map(|rows| common::solver(&gpu, &sheet(rows), Settings::default()));
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let mut request = small.request_tears(&mut encoder).unwrap();
    gpu.queue.submit([encoder.finish()]);
    let error = large.apply_tears(&common::taken(&gpu, &mut request)).unwrap_err();
    assert!(matches!(error, Error::LengthMismatch { left, right, .. } if left < right), "{error}");
}

#[test]
fn a_request_of_tears_from_before_a_reset_has_no_effect() {
    let gpu = common::gpu();
    let mut solver = common::solver(&gpu, &sheet(7), Settings::default());
    let x = solver.read_positions().unwrap();
    let wide: Vec<[f32; 3]> = x.iter().map(|&[x, y, z]| [3.0 * x, 3.0 * y, 3.0 * z]).collect();
    solver.set_positions(0, &wide).unwrap();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let mut requests = [(); 2].map(|()| solver.request_tears(&mut encoder).unwrap());
    gpu.queue.submit([encoder.finish()]);
    let [early, late] = requests.each_mut().map(|request| common::taken(&gpu, request));
    solver.reset();
    assert_eq!(solver.apply_tears(&early).unwrap(), supple::Tears::default());
    assert_eq!(solver.read_positions().unwrap(), x);
    // Without the reset the request tears.
    let mut other = common::solver(&gpu, &sheet(7), Settings::default());
    assert!(!other.apply_tears(&late).unwrap().edges.is_empty());
}

#[test]
fn a_ray_does_not_meet_particles_in_reserve() {
    let scene = sheet(7);
    let positions = scene.positions();
    let aside: Vec<[f32; 3]> = (0..)
        .zip(positions)
        .map(|(particle, &[x, y, z])| {
            let is_used = scene.triangles().iter().flatten().any(|&corner| corner == particle);
            if is_used { [x, y, z + 9.0] } else { [x, y, z] }
        })
        .collect();
    let [x, y, z] = positions[0];
    let ray = supple::Ray { origin: [x, y, z - 1.0], direction: [0.0, 0.0, 1.0], radius: 0.01 };
    let hit = scene.pick(&ray, &aside).unwrap();
    assert!(hit.is_none_or(|hit| hit.triangle.is_some()), "{hit:?}");
}

/// A loop of weak edges through a vertex of the first or the last row: parts of two columns, and a diagonal at the border. The
/// tear begins at the opposite end, and both of its ends reach the border in the same call.
fn weak_loop(scene: &Scene, size: u32, [first_row, to_right]: [bool; 2]) -> Vec<[u32; 2]> {
    let at = |column: u32, row: u32| if first_row { row * size + column } else { (size - 1 - row) * size + column };
    let beside = |column: u32| if to_right { column + 1 } else { column - 1 };
    let diagonal = |column: u32| [at(column, 0), at(beside(column), 1)];
    // The diagonals of a grid alternate.
    let exists = |[a, b]: [u32; 2]| scene.triangles().iter().any(|own| own.contains(&a) && own.contains(&b));
    let middle = [5, 6].into_iter().find(|&column| exists(diagonal(column))).unwrap();
    let depth = 6;
    let start = [at(middle, depth), at(beside(middle), depth)];
    let down = (0..depth).map(|row| [at(middle, row), at(middle, row + 1)]);
    let up = (1..depth).map(|row| [at(beside(middle), row), at(beside(middle), row + 1)]);
    [start, diagonal(middle)].into_iter().chain(down).chain(up).collect()
}

/// A copy that is copied again in the same call has the position of the vertex. A reset takes the mass of both.
#[test]
fn a_vertex_that_two_tears_reach_at_once_is_split_twice() {
    let gpu = common::gpu();
    let size = 13;
    let mut split_twice = 0;
    for side in [[true, true], [true, false], [false, true], [false, false]] {
        let mut scene = Scene::new();
        let fabric = Fabric { tearing: Some(Tearing::at(f32::INFINITY)), ..Fabric::default() };
        let grid = ClothGrid { columns: size, rows: size, fabric, tethers: None, ..ClothGrid::default() };
        scene.add_cloth_grid(&grid).unwrap();
        let weak = weak_loop(&scene, size, side);
        scene.set_tear_strain(&weak, 0.1).unwrap();
        scene.set_tear_strain(&weak[..1], 0.01).unwrap();
        let mut pair = Pair::new(&gpu, &scene, Settings::default());
        let masses = pair.solver.inverse_masses().to_vec();
        let wide: Vec<[f32; 3]> = scene.positions().iter().map(|x| x.map(|x| 1.5 * x)).collect();
        change!(pair, set_positions(0, &wide));
        let mut torn = 0;
        for _ in 0..8 {
            let tears = pair.reference.tear().unwrap();
            assert_eq!(pair.solver.tear().unwrap(), tears);
            torn += tears.edges.len();
            let is_copy = |particle: u32| tears.copies.iter().any(|[_, copy]| *copy == particle);
            split_twice += tears.copies.iter().filter(|[particle, _]| is_copy(*particle)).count();
            let x = pair.solver.read_positions().unwrap();
            assert_eq!(x, pair.reference.read_positions().unwrap());
            tears.copies.iter().for_each(|[own, copy]| assert_eq!(x[*own as usize], x[*copy as usize]));
        }
        assert_eq!(torn, weak.len());
        pair.solver.reset();
        pair.reference.reset();
        assert_eq!(pair.solver.inverse_masses(), masses);
        assert_eq!(pair.reference.inverse_masses(), masses);
    }
    assert!(split_twice > 0);
}
