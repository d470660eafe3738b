//! Membranes of cloth: moduli, Poisson ratio and shear against the closed form of an orthotropic sheet under uniform
//! tension. A free sheet has the strain ε = S σ at every point, which linear triangles represent exactly.

use crate::common;
use crate::common::nets::Random;
use crate::common::{Pair, change, gpu};
use glam::{DMat2, DVec2};
use std::collections::HashMap;
use supple::{
    Bending, ClothGrid, ClothMesh, Collider, Execution, Fabric, Material, Orthotropic, Reference, Scene, SelfCollision,
    Settings, Shape, Stiffening, TensionPiece, Tethers, count_intersections,
};

const LAW: Orthotropic = Orthotropic { weft: 80.0, shear: 30.0, ..Orthotropic::isotropic(200.0, 0.3) };

fn fabric(law: Orthotropic) -> Fabric {
    Fabric { area_density: 0.05, bending: Bending::None, membrane: Some(law), ..Fabric::default() }
}

fn flat(points: &[[f32; 3]]) -> Vec<DVec2> {
    points.iter().map(|&[x, y, _]| DVec2::new(x.into(), y.into())).collect()
}

/// Square sheets of 0.4 m in the xy plane: a grid of alternating diagonals, one of parallel diagonals with jittered
/// vertices, and the same rotated by 25°.
fn sheets(law: Orthotropic) -> [(&'static str, Scene); 3] {
    const CELLS: u32 = 6;
    let side = 0.4f32;
    let mut grid = Scene::new();
    let (column_axis, row_axis) = ([side, 0.0, 0.0], [0.0, side, 0.0]);
    let count = CELLS + 1;
    let fabric = fabric(law);
    let layout =
        ClothGrid { columns: count, rows: count, origin: [0.0; 3], column_axis, row_axis, fabric, tethers: None };
    grid.add_cloth_grid(&layout).unwrap();
    let mut random = Random::new(5);
    let mut positions = Vec::new();
    for (row, column) in (0..count).flat_map(|row| (0..count).map(move |column| (row, column))) {
        let mut place = |k: u32| {
            let jitter = if k.is_multiple_of(CELLS) { 0.0 } else { 0.5 * (random.next() - 0.5) };
            side * (k as f32 + jitter) / CELLS as f32
        };
        positions.push([place(column), place(row), 0.0]);
    }
    let cell = |row: u32, column: u32| {
        let [a, b, c, d] = [0, 1, count, count + 1].map(|step| row * count + column + step);
        [[a, b, d], [a, d, c]]
    };
    let triangles: Vec<[u32; 3]> =
        (0..CELLS).flat_map(|row| (0..CELLS).flat_map(move |column| cell(row, column))).collect();
    let (sin, cos) = 25f32.to_radians().sin_cos();
    let rotated: Vec<[f32; 3]> = positions.iter().map(|&[x, y, z]| [cos * x - sin * y, sin * x + cos * y, z]).collect();
    let [jittered, rotated] = [positions, rotated].map(|positions| {
        let mut scene = Scene::new();
        let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers: None };
        scene.add_cloth_mesh(&mesh).unwrap();
        scene
    });
    [("grid", grid), ("jittered", jittered), ("rotated", rotated)]
}

/// The forces [N] of a uniform tension [N/m] on the border of a flat sheet.
fn border_forces(scene: &Scene, tension: DMat2) -> Vec<[f32; 3]> {
    let places = flat(scene.positions());
    let mut edges: HashMap<[u32; 2], ([u32; 2], u32)> = HashMap::new();
    for &[a, b, c] in scene.triangles() {
        // Counterclockwise, whatever the winding of the mesh.
        let [p, q, r] = [a, b, c].map(|vertex| places[vertex as usize]);
        let turn = if (q - p).perp_dot(r - p) > 0.0 { [a, b, c] } else { [a, c, b] };
        for k in 0..3 {
            let (from, to) = (turn[k], turn[(k + 1) % 3]);
            edges.entry([from.min(to), from.max(to)]).or_insert(([from, to], 0)).1 += 1;
        }
    }
    let mut forces = vec![DVec2::ZERO; places.len()];
    for ([from, to], _) in edges.into_values().filter(|&(_, uses)| uses == 1) {
        let along = places[to as usize] - places[from as usize];
        let force = tension * DVec2::new(along.y, -along.x) * 0.5;
        forces[from as usize] += force;
        forces[to as usize] += force;
    }
    forces.iter().map(|force| [force.x as f32, force.y as f32, 0.0]).collect()
}

/// Critical damping of the slowest motion (side 0.4 m, 24 m/s) and nine times its time scale.
fn settings(steps: u32) -> Settings {
    let (rate, substeps) = (190.0, 100);
    Settings {
        dt: 9.0 / rate / steps as f32,
        substeps,
        damping: 2.0 * rate,
        gravity: [0.0; 3],
        forces: true,
        ..Settings::default()
    }
}

/// The strain of the best affine fit from `from` to `to`.
fn strain(from: &[[f32; 3]], to: &[[f32; 3]]) -> DMat2 {
    let mean = |points: &[DVec2]| points.iter().sum::<DVec2>() / points.len() as f64;
    let outer = |a: DVec2, b: DVec2| DMat2::from_cols(a * b.x, a * b.y);
    let (from, to) = (flat(from), flat(to));
    let (center, moved) = (mean(&from), mean(&to));
    let (mut cross, mut square) = (DMat2::ZERO, DMat2::ZERO);
    for (&from, &to) in from.iter().zip(&to) {
        cross += outer(to - moved, from - center);
        square += outer(from - center, from - center);
    }
    let f = cross * square.inverse();
    (f + f.transpose()) * 0.5 - DMat2::IDENTITY
}

fn strain_under(scene: &Scene, tension: DMat2) -> DMat2 {
    let mut reference = Reference::new(scene, settings(10)).unwrap();
    reference.set_forces(0, &border_forces(scene, tension)).unwrap();
    reference.step(10);
    strain(scene.positions(), &reference.read_positions().unwrap())
}

/// The closed form ε = S σ of a sheet whose warp is `angle` from the x axis.
fn closed_form(law: Orthotropic, angle: f64, tension: DMat2) -> DMat2 {
    let turn = DMat2::from_angle(angle);
    let t = turn.transpose() * tension * turn;
    let [warp, weft, shear, ratio] = [law.warp, law.weft, law.shear, law.poisson_ratio].map(f64::from);
    let uu = t.x_axis.x / warp - ratio * t.y_axis.y / warp;
    let vv = t.y_axis.y / weft - ratio * t.x_axis.x / warp;
    let uv = t.x_axis.y / (2.0 * shear);
    turn * DMat2::from_cols(DVec2::new(uu, uv), DVec2::new(uv, vv)) * turn.transpose()
}

fn largest(m: DMat2) -> f64 {
    m.to_cols_array().into_iter().fold(0.0, |size, element| size.max(element.abs()))
}

fn along(angle: f64) -> Orthotropic {
    Orthotropic { direction: Some([angle.cos() as f32, angle.sin() as f32, 0.0]), ..LAW }
}

/// The tension is 1e-3 of the smallest modulus.
const TENSION: f64 = 0.03;

#[test]
fn sheets_have_the_moduli_and_poisson_ratio_asked_for_in_every_direction_on_three_meshes() {
    let uniaxial = DMat2::from_cols(DVec2::new(TENSION, 0.0), DVec2::ZERO);
    for degrees in [0f64, 30.0, 45.0, 90.0] {
        let angle = degrees.to_radians();
        for (mesh, scene) in sheets(along(angle)) {
            let (found, expected) = (strain_under(&scene, uniaxial), closed_form(LAW, angle, uniaxial));
            let [modulus, wanted] = [found, expected].map(|strain| TENSION / strain.x_axis.x);
            let [ratio, wanted_ratio] = [found, expected].map(|strain| -strain.y_axis.y / strain.x_axis.x);
            println!("{mesh} {degrees}°: {modulus:.2} of {wanted:.2} N/m, ratio {ratio:.4} of {wanted_ratio:.4}");
            assert!((modulus / wanted - 1.0).abs() < 0.02, "{mesh} {degrees}°: {modulus} of {wanted} N/m");
            assert!((ratio - wanted_ratio).abs() < 0.02 * wanted_ratio.max(0.3), "{mesh} {degrees}°: ratio {ratio}");
            assert!(largest(found - expected) < 0.02 * largest(expected), "{mesh} {degrees}°: {found} of {expected}");
        }
    }
}

#[test]
fn sheets_have_the_shear_modulus_asked_for_in_every_direction_on_three_meshes() {
    let shear = DMat2::from_cols(DVec2::new(0.0, TENSION), DVec2::new(TENSION, 0.0));
    for degrees in [0f64, 30.0, 45.0, 90.0] {
        let angle = degrees.to_radians();
        for (mesh, scene) in sheets(along(angle)) {
            let (found, expected) = (strain_under(&scene, shear), closed_form(LAW, angle, shear));
            let [modulus, wanted] = [found, expected].map(|strain| TENSION / (2.0 * strain.x_axis.y));
            println!("{mesh} {degrees}°: {modulus:.2} of {wanted:.2} N/m");
            assert!((modulus / wanted - 1.0).abs() < 0.02, "{mesh} {degrees}°: {modulus} of {wanted} N/m");
            assert!(largest(found - expected) < 0.02 * largest(expected), "{mesh} {degrees}°: {found} of {expected}");
        }
    }
}

const fn piece(strain: f32, modulus: f32) -> Option<TensionPiece> {
    Some(TensionPiece { strain, modulus })
}

/// 200, 600 and 1500 N/m along the warp, 80 and 900 N/m along the weft.
const CURVE: Orthotropic = Orthotropic {
    stiffening: Stiffening { warp: [piece(0.02, 600.0), piece(0.05, 1500.0)], weft: [piece(0.03, 900.0), None] },
    ..LAW
};

/// No more than 5 % along the warp and 2 % along the weft.
const LIMITED: Stiffening =
    Stiffening { warp: [piece(0.05, f32::INFINITY), None], weft: [piece(0.02, f32::INFINITY), None] };

/// The Green strain at which a force f per rest width stretches a sheet along one thread: f = s N, s² = 1 + 2 ε.
fn green_strain(modulus: f32, pieces: [Option<TensionPiece>; 2], force: f64) -> f64 {
    let tension = |strain: f64| {
        let (mut sum, mut before) = (f64::from(modulus) * strain, modulus);
        for piece in pieces.into_iter().flatten() {
            sum += f64::from(piece.modulus - before) * (strain - f64::from(piece.strain)).max(0.0);
            before = piece.modulus;
        }
        sum * (1.0 + 2.0 * strain).sqrt()
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if tension(middle) < force { low = middle } else { high = middle }
    }
    low
}

/// The stretch along a thread at `degrees` from the x axis under a force per width [N/m] along it.
fn stretch_along(scene: &Scene, degrees: f64, force: f64) -> f64 {
    let n = DVec2::from_angle(degrees.to_radians());
    1.0 + n.dot(strain_under(scene, DMat2::from_cols(n * n.x, n * n.y) * force) * n)
}

#[test]
fn sheets_that_stiffen_have_a_piecewise_linear_tension_along_warp_and_weft_on_three_meshes() {
    for degrees in [0f64, 30.0] {
        let direction = along(degrees.to_radians()).direction;
        let threads = [
            ("warp", 0.0, CURVE.warp, CURVE.stiffening.warp, [2.0, 10.0, 20.0, 50.0]),
            ("weft", 90.0, CURVE.weft, CURVE.stiffening.weft, [1.0, 4.0, 15.0, 30.0]),
        ];
        for (mesh, scene) in sheets(Orthotropic { direction, ..CURVE }) {
            for (thread, turn, modulus, pieces, forces) in threads {
                for force in forces {
                    let stretch = stretch_along(&scene, degrees + turn, force);
                    let (found, wanted) = (0.5 * (stretch * stretch - 1.0), green_strain(modulus, pieces, force));
                    let what = format!("{mesh}, {degrees}°, {thread}, {force} N/m: strain {found:.5} of {wanted:.5}");
                    println!("{what}");
                    assert!((found / wanted - 1.0).abs() < 0.005, "{what}");
                }
            }
        }
    }
}

#[test]
fn a_piece_of_infinite_modulus_limits_the_strain_along_its_thread() {
    for (mesh, scene) in sheets(Orthotropic { stiffening: LIMITED, ..along(0.0) }) {
        for (degrees, limit) in [(0.0, 0.05), (90.0, 0.02)] {
            // Without limits the strains would be 0.25 and 0.52.
            let stretch = stretch_along(&scene, degrees, 60.0);
            let strain = 0.5 * (stretch * stretch - 1.0);
            println!("{mesh}, {degrees}°: strain {strain:.5} of {limit}");
            assert!((strain - limit).abs() < 1e-3, "{mesh}, {degrees}°: strain {strain} of {limit}");
        }
    }
}

#[test]
fn an_isotropic_membrane_is_as_stiff_along_the_diagonal_and_a_grid_of_springs_is_not() {
    let along = |degrees: f64| {
        let n = DVec2::from_angle(degrees.to_radians());
        (n, DMat2::from_cols(n * n.x, n * n.y) * TENSION)
    };
    let membrane = sheets(Orthotropic::isotropic(100.0, 0.3)).map(|(_, scene)| scene);
    let springs = Fabric {
        membrane: None,
        structural: Material::compliant(1.0 / 100.0),
        shear: Material::compliant(1.0 / 30.0),
        ..fabric(LAW)
    };
    let mut scene = Scene::new();
    let (column_axis, row_axis) = ([0.4, 0.0, 0.0], [0.0, 0.4, 0.0]);
    let grid = ClothGrid {
        columns: 7,
        rows: 7,
        column_axis,
        row_axis,
        fabric: springs,
        tethers: None,
        ..ClothGrid::default()
    };
    scene.add_cloth_grid(&grid).unwrap();
    let moduli = |scene: &Scene| {
        [0.0, 45.0].map(|degrees| {
            let (n, tension) = along(degrees);
            TENSION / n.dot(strain_under(scene, tension) * n)
        })
    };
    for scene in membrane {
        let [straight, diagonal] = moduli(&scene);
        println!("membrane: {straight:.2} and {diagonal:.2} N/m");
        assert!((straight / 100.0 - 1.0).abs() < 0.02 && (diagonal / 100.0 - 1.0).abs() < 0.02);
    }
    let [straight, diagonal] = moduli(&scene);
    println!("springs: {straight:.2} and {diagonal:.2} N/m");
    assert!(straight / diagonal > 1.3, "{straight} and {diagonal}");
}

/// Texture coordinates whose u axis is turned in space, scaled by 3 and mirrored.
#[test]
fn texture_coordinates_give_the_warp_of_a_mesh() {
    let angle = 30f64.to_radians();
    let given = sheets(along(angle));
    let source = &given[1].1;
    let (sin, cos) = (angle.sin() as f32, angle.cos() as f32);
    let corner = |vertex: u32| {
        let [x, y, _] = source.positions()[vertex as usize];
        [3.0 * (cos * x + sin * y) + 7.0, sin * x - cos * y]
    };
    let texture: Vec<[[f32; 2]; 3]> = source.triangles().iter().map(|triangle| triangle.map(corner)).collect();
    let (positions, triangles) = (source.positions(), source.triangles());
    let mut scene = Scene::new();
    let mesh = ClothMesh { positions, triangles, fabric: fabric(LAW), tethers: None };
    scene.add_cloth_mesh_with_texture(&mesh, &texture).unwrap();
    let tension = DMat2::from_cols(DVec2::new(TENSION, 0.0), DVec2::ZERO);
    let [by_texture, by_direction] = [&scene, source].map(|scene| strain_under(scene, tension));
    assert!(largest(by_texture - by_direction) < 1e-3 * largest(by_direction), "{by_texture} and {by_direction}");
}

#[test]
fn sheets_under_tension_agree_on_both_backends_in_every_execution() {
    let gpu = gpu();
    let tension = DMat2::from_cols(DVec2::new(TENSION, 0.01), DVec2::new(0.01, 0.0));
    for execution in [Execution::Colors, Execution::Tiles, Execution::Clusters] {
        // Pieces that begin below the strains of the tension.
        let (warp, weft) = ([piece(2e-5, 300.0), piece(5e-5, 500.0)], [piece(0.0, 100.0), None]);
        let law = Orthotropic { stiffening: Stiffening { warp, weft }, ..along(0.5) };
        for (mesh, scene) in sheets(along(0.5)).into_iter().chain(sheets(law)) {
            let forces = border_forces(&scene, tension);
            let mut pair = Pair::new(&gpu, &scene, Settings { execution, ..settings(10) });
            change!(pair, set_forces(0, &forces));
            pair.run(1, 1e-4, mesh);
        }
    }
}

/// Kinetic and potential energy [J] of a scene in the gravity of the default settings.
fn energy(scene: &Scene, x: &[[f32; 3]], v: &[[f32; 3]]) -> f64 {
    let of = |((x, v), &w): ((&[f32; 3], &[f32; 3]), &f32)| {
        let square: f64 = v.iter().map(|&v| f64::from(v).powi(2)).sum();
        (0.5 * square + 9.81 * f64::from(x[1])) / f64::from(w)
    };
    x.iter().zip(v).zip(scene.inverse_masses()).map(of).sum()
}

/// A sheet of 1 m that hangs by two corners, without damping: kinetic and potential energy never exceed those of the
/// start, at which the membrane is relaxed.
#[test]
fn a_hanging_membrane_gains_no_energy() {
    for (what, law) in [
        ("soft", LAW),
        ("stiff", Orthotropic { warp: 2e4, weft: 8e3, shear: 100.0, ..LAW }),
        ("nearly rigid", Orthotropic::isotropic(1e7, 0.3)),
        ("stiffening", CURVE),
        ("limited", Orthotropic { stiffening: LIMITED, ..LAW }),
    ] {
        for substeps in [20, 60] {
            let mut scene = Scene::new();
            let fabric = Fabric { area_density: 0.2, ..fabric(law) };
            let (column_axis, row_axis) = ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
            let grid = ClothGrid {
                columns: 13,
                rows: 13,
                column_axis,
                row_axis,
                fabric,
                tethers: None,
                ..ClothGrid::default()
            };
            scene.add_cloth_grid(&grid).unwrap();
            scene.pin(0).unwrap();
            scene.pin(12).unwrap();
            let mut reference = Reference::new(&scene, Settings { substeps, ..Settings::default() }).unwrap();
            let start = energy(&scene, scene.positions(), &vec![[0.0; 3]; scene.particle_count()]);
            // The mass is 0.2 kg and falls by at most about 1 m.
            let mut gain = f64::NEG_INFINITY;
            for _ in 0..90 {
                reference.step(1);
                let now = energy(&scene, &reference.read_positions().unwrap(), &reference.read_velocities().unwrap());
                gain = gain.max((now - start) / (0.2 * 9.81));
            }
            println!("{what}, {substeps} substeps: {gain:.1e} of m g L");
            assert!(gain < 1e-4, "{what}, {substeps} substeps: {gain} of m g L");
        }
    }
}

/// The relative lengths of the sides of all triangles.
fn stretches(scene: &Scene, x: &[[f32; 3]]) -> impl Iterator<Item = f64> {
    let length = |x: &[[f32; 3]], [a, b]: [u32; 2]| common::distance(x[a as usize], x[b as usize]);
    let sides = scene.triangles().iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    sides.map(move |side| length(x, side) / length(scene.positions(), side))
}

#[test]
fn tethers_hold_a_membrane_along_its_triangles() {
    let stretch = |tethers: Option<Tethers>| {
        let mut scene = Scene::new();
        let fabric = Fabric { area_density: 0.2, ..fabric(Orthotropic::isotropic(1e4, 0.3)) };
        let (column_axis, row_axis) = ([1.0, 0.0, 0.0], [0.0, -1.0, 0.0]);
        let grid = ClothGrid { columns: 25, rows: 25, column_axis, row_axis, fabric, tethers, ..ClothGrid::default() };
        scene.add_cloth_grid(&grid).unwrap();
        (0..25).for_each(|particle| scene.pin(particle).unwrap());
        let mut reference = Reference::new(&scene, Settings { damping: 2.0, ..Settings::default() }).unwrap();
        reference.step(60);
        let x = reference.read_positions().unwrap();
        let depth = x.iter().fold(0f32, |depth, x| depth.max(-x[1]));
        (f64::from(depth) - 1.0, stretches(&scene, &x).fold(0.0, f64::max) - 1.0)
    };
    let (free, tied) = (stretch(None), stretch(Some(Tethers::default())));
    println!("free {free:?}, with tethers {tied:?}");
    assert!(tied.0.abs() < 1e-3 && tied.0 < 0.5 * free.0, "{free:?} and {tied:?}");
}

/// Two sheets of membranes with bending fall on a sphere.
#[test]
fn membranes_with_bending_collide_without_crossing() {
    for bending in [Bending::Hinges, Bending::Isometric] {
        let mut scene = Scene::new();
        let law = Orthotropic { weft: 1e3, shear: 40.0, ..Orthotropic::isotropic(2e3, 0.2) };
        let fabric = Fabric { area_density: 0.2, bending, flexural_rigidity: 1e-5, ..fabric(law) };
        for (height, turn) in [(0.31f32, 0.0f32), (0.33, 0.4)] {
            let (sin, cos) = (0.6 * turn.sin(), 0.6 * turn.cos());
            let origin = [-0.5 * (cos + sin), height, -0.5 * (cos - sin)];
            let (column_axis, row_axis) = ([cos, 0.0, -sin], [sin, 0.0, cos]);
            let grid = ClothGrid { columns: 8, rows: 8, origin, column_axis, row_axis, fabric, tethers: None };
            scene.add_cloth_grid(&grid).unwrap();
        }
        scene.add_collider(Collider { shape: Shape::Sphere { radius: 0.3 }, ..Collider::default() }).unwrap();
        let self_collision = Some(SelfCollision::surfaces());
        let settings = Settings { substeps: 10, self_collision, damping: 0.5, ..Settings::default() };
        let mut reference = Reference::new(&scene, settings).unwrap();
        reference.step(40);
        let x = reference.read_positions().unwrap();
        assert_eq!(count_intersections(&x, scene.triangles()).unwrap(), Default::default(), "{bending:?}");
        let nearest = x.iter().fold(f64::INFINITY, |nearest, &x| nearest.min(common::distance(x, [0.0; 3])));
        let lowest = x.iter().fold(f32::INFINITY, |lowest, x| lowest.min(x[1]));
        assert!(nearest > 0.297 && lowest < 0.25, "{bending:?}: {nearest} m from the centre, down to {lowest} m");
        let worst = stretches(&scene, &x).fold(0.0, |worst: f64, stretch| worst.max((stretch - 1.0).abs()));
        println!("{bending:?}: strain {worst:.3}");
        assert!(worst < 0.2, "{bending:?}: {worst}");
    }
}
