//! Cloth that tears: pieces, weak lines, masses and momentum, both backends, contacts, snapshots.

use crate::common;
use crate::common::{Pair, is_exact};
use supple::scene::Bending;
use supple::{
    Attachment, AttachmentTarget, ClosedSurface, Cloth, ClothGrid, ClothMesh, Collider, ColliderId, ContactMaterial,
    ContactScale, Distance, Error, Fabric, Instances, Material, Particle, ParticlePoint, Plasticity, Pose, Pressure,
    Reference, Scene, SelfCollision, Settings, Shape, Solver, Stiffening, Sweep, Tearing, Tears, TensionPiece, Tethers,
};

const COLUMNS: u32 = 13;
const ROWS: u32 = 17;

/// The side of a cell \[m\].
const CELL: f32 = 0.05;

/// Tears at a strain of 10 %; a tension of T [N/m] is a strain of 0.01 T.
fn fabric() -> Fabric {
    Fabric {
        area_density: 0.1,
        structural: Material::compliant(1e-2),
        shear: Material::compliant(1e-1),
        bending: Bending::None,
        tearing: Some(Tearing::at(0.1)),
        ..Fabric::default()
    }
}

/// A sheet that hangs from its first row, with `load` \[kg\] spread over its last row.
fn sheet(fabric: Fabric, load: f32) -> (Scene, Cloth) {
    let mut scene = Scene::new();
    let grid = ClothGrid {
        columns: COLUMNS,
        rows: ROWS,
        origin: [0.0; 3],
        column_axis: [(COLUMNS - 1) as f32 * CELL, 0.0, 0.0],
        row_axis: [0.0, -((ROWS - 1) as f32) * CELL, 0.0],
        fabric,
        tethers: None,
    };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    for column in 0..COLUMNS {
        scene.pin(column).unwrap();
        let end = if column == 0 || column == COLUMNS - 1 { 0.5 } else { 1.0 };
        scene.set_mass((ROWS - 1) * COLUMNS + column, load * end / (COLUMNS - 1) as f32).unwrap();
    }
    (scene, cloth)
}

/// The load [kg] at which the mean strain of a sheet is its strength, without its own weight.
fn strength() -> f32 {
    10.0 * (COLUMNS - 1) as f32 * CELL / 9.81
}

/// Without oscillations after the start.
fn damped() -> Settings {
    Settings { damping: 20.0, ..Settings::default() }
}

/// Runs steps, each followed by a tear; returns all tears.
fn run(reference: &mut Reference, steps: u32) -> Tears {
    let mut all = Tears::default();
    for _ in 0..steps {
        reference.step(1);
        let Tears { edges, copies, refused } = reference.tear().unwrap();
        all.edges.extend(edges);
        all.copies.extend(copies);
        all.refused += refused;
    }
    all
}

/// The triangles of each piece: those that are connected by sides. Checks that no two pieces share a particle.
fn pieces(triangles: &[[u32; 3]]) -> Vec<Vec<u32>> {
    let mut by_edge = std::collections::BTreeMap::<[u32; 2], Vec<u32>>::new();
    for (index, &[a, b, c]) in (0..).zip(triangles) {
        for [a, b] in [[a, b], [b, c], [c, a]] {
            by_edge.entry([a.min(b), a.max(b)]).or_default().push(index);
        }
    }
    let mut piece_of = vec![usize::MAX; triangles.len()];
    let mut pieces = Vec::new();
    for start in 0..triangles.len() as u32 {
        if piece_of[start as usize] != usize::MAX {
            continue;
        }
        let (mut piece, mut next) = (vec![start], 0);
        piece_of[start as usize] = pieces.len();
        while next < piece.len() {
            let [a, b, c] = triangles[piece[next] as usize];
            for [a, b] in [[a, b], [b, c], [c, a]] {
                for &other in &by_edge[&[a.min(b), a.max(b)]] {
                    if piece_of[other as usize] == usize::MAX {
                        piece_of[other as usize] = pieces.len();
                        piece.push(other);
                    }
                }
            }
            next += 1;
        }
        pieces.push(piece);
    }
    let mut owner = std::collections::BTreeMap::new();
    for (triangle, piece) in triangles.iter().zip(&piece_of) {
        for particle in triangle {
            assert_eq!(owner.insert(*particle, *piece).unwrap_or(*piece), *piece, "particle {particle} of two pieces");
        }
    }
    pieces
}

fn mass(inverse_masses: &[f32]) -> f64 {
    inverse_masses.iter().filter(|inverse| **inverse > 0.0).map(|inverse| 1.0 / f64::from(*inverse)).sum()
}

fn momentum(reference: &Reference) -> [f64; 3] {
    let velocities = reference.read_velocities().unwrap();
    let mut sum = [0.0; 3];
    for (inverse, velocity) in reference.inverse_masses().iter().zip(velocities) {
        for axis in (0..3).filter(|_| *inverse > 0.0) {
            sum[axis] += f64::from(velocity[axis]) / f64::from(*inverse);
        }
    }
    sum
}

/// The mean acceleration of particles over some steps along y.
fn fall(reference: &mut Reference, particles: &[u32], steps: u32) -> f64 {
    let speed = |reference: &Reference| {
        let velocities = reference.read_velocities().unwrap();
        let (mut sum, mut total) = (0.0, 0.0);
        for &particle in particles {
            let mass = 1.0 / f64::from(reference.inverse_masses()[particle as usize]);
            sum += mass * f64::from(velocities[particle as usize][1]);
            total += mass;
        }
        sum / total
    };
    let before = speed(reference);
    reference.step(steps);
    (speed(reference) - before) / (f64::from(steps) / 60.0)
}

#[test]
fn an_overloaded_sheet_tears_in_two_and_its_lower_piece_falls_freely() {
    for (bending, load) in [(Bending::None, 1.5), (Bending::Hinges, 1.2), (Bending::Isometric, 2.5)] {
        let fabric = Fabric { bending, ..fabric() };
        let (scene, _) = sheet(fabric, 0.75 * strength());
        let mut reference = Reference::new(&scene, damped()).unwrap();
        assert_eq!(run(&mut reference, 60), Tears::default(), "{bending:?}");

        let (scene, _) = sheet(fabric, load * strength());
        let mut reference = Reference::new(&scene, damped()).unwrap();
        let before = mass(reference.inverse_masses());
        let tears = run(&mut reference, 50);
        let pieces = pieces(reference.triangles());
        let sizes: Vec<usize> = pieces.iter().map(Vec::len).collect();
        assert_eq!(pieces.len(), 2, "{bending:?}: {sizes:?}, {} edges", tears.edges.len());
        let after = mass(reference.inverse_masses());
        assert!((after / before - 1.0).abs() < 1e-6, "{before} {after}");
        let lower = particles(&pieces[1], reference.triangles());
        reference.set_settings(Settings::default()).unwrap();
        let acceleration = fall(&mut reference, &lower, 6);
        assert!((acceleration / -9.81 - 1.0).abs() < 0.01, "{bending:?}: {acceleration}");
        assert!(reference.read_positions().unwrap().iter().flatten().all(|x| x.is_finite()));
        assert_eq!(reference.read_diagnostics().unwrap().non_finite_count, 0);
    }
}

/// A membrane of 100 N/m tears at the load of its modulus, and a jittered mesh at that of its springs.
#[test]
fn membranes_and_meshes_tear_in_two() {
    let membrane = supple::Orthotropic { shear: 40.0, ..supple::Orthotropic::isotropic(100.0, 0.0) };
    let (scene, _) = sheet(Fabric { membrane: Some(membrane), ..fabric() }, 0.7 * strength());
    let mut reference = Reference::new(&scene, damped()).unwrap();
    assert_eq!(run(&mut reference, 60), Tears::default());
    let (scene, _) = sheet(Fabric { membrane: Some(membrane), ..fabric() }, 1.4 * strength());
    let mut reference = Reference::new(&scene, damped()).unwrap();
    run(&mut reference, 50);
    assert_eq!(pieces(reference.triangles()).len(), 2);

    // 300 N/m beyond 4 %: the strength is 2.2 times that of the membrane.
    let weft = [Some(TensionPiece { strain: 0.04, modulus: 300.0 }), None];
    let stiffening = Stiffening { weft, ..Stiffening::NONE };
    let membrane = supple::Orthotropic { stiffening, ..membrane };
    for (load, count) in [(1.4, 1), (3.0, 2)] {
        let (scene, _) = sheet(Fabric { membrane: Some(membrane), ..fabric() }, load * strength());
        let mut reference = Reference::new(&scene, damped()).unwrap();
        run(&mut reference, 50);
        assert_eq!(pieces(reference.triangles()).len(), count, "stiffened, {load} times the strength");
    }

    let (grid, _) = sheet(fabric(), 1.0);
    let jitter = |k: u32| 0.3 * CELL * common::noise(k);
    let inner = |k: u32| (1..ROWS - 1).contains(&(k / COLUMNS)) && (1..COLUMNS - 1).contains(&(k % COLUMNS));
    let vertices = (0..ROWS * COLUMNS).zip(grid.positions());
    let moved =
        |(k, &[x, y, z]): (u32, &[f32; 3])| if inner(k) { [x + jitter(k), y + jitter(k + 997), z] } else { [x, y, z] };
    let vertices: Vec<[f32; 3]> = vertices.map(moved).collect();
    for bending in [Bending::None, Bending::Hinges] {
        let mut scene = Scene::new();
        let fabric = Fabric { bending, ..fabric() };
        let mesh = ClothMesh { positions: &vertices, triangles: grid.triangles(), fabric, tethers: None };
        scene.add_cloth_mesh(&mesh).unwrap();
        for column in 0..COLUMNS {
            scene.pin(column).unwrap();
            scene.set_mass((ROWS - 1) * COLUMNS + column, 2.5 * strength() / COLUMNS as f32).unwrap();
        }
        let numbering = scene.renumber();
        let mut reference = Reference::new(&scene, damped()).unwrap();
        run(&mut reference, 60);
        let sizes: Vec<usize> = pieces(reference.triangles()).iter().map(Vec::len).collect();
        assert_eq!(sizes.len(), 2, "{sizes:?}");
        let x = numbering.to_old_order(&reference.read_positions().unwrap()).unwrap();
        assert!(x[0] == vertices[0] && x[(ROWS * COLUMNS - 1) as usize][1] < -1.0);
    }
}

/// The particles of triangles, each once.
fn particles(piece: &[u32], triangles: &[[u32; 3]]) -> Vec<u32> {
    let mut particles: Vec<u32> = piece.iter().flat_map(|&own| triangles[own as usize]).collect();
    particles.sort_unstable();
    particles.dedup();
    particles
}

/// The line has 0.4 of the strength of the sheet, and the load is 0.6 of it.
#[test]
fn a_sheet_tears_along_its_weak_line() {
    for slope in [0, 1] {
        let (mut scene, cloth) = sheet(fabric(), 0.6 * strength());
        // A line along a row, or one with two steps along diagonals.
        let row = |column: u32| 7 + slope * (u32::from(column > 4) + u32::from(column > 9));
        let at = |column: u32| cloth.particles.start + row(column) * COLUMNS + column;
        let mut line: Vec<[u32; 2]> = (0..COLUMNS - 1).map(|column| [at(column), at(column + 1)]).collect();
        scene.set_tear_strain(&line, 0.04).unwrap();
        let mut reference = Reference::new(&scene, damped()).unwrap();
        let tears = run(&mut reference, 80);
        assert_eq!(pieces(reference.triangles()).len(), 2, "{tears:?}");
        let mut torn = tears.edges;
        torn.sort_unstable();
        line.sort_unstable();
        assert_eq!(torn, line);
    }
}

/// The momentum after a tear is that before it, up to the rounding of the masses.
#[test]
fn a_tear_keeps_mass_momentum_and_the_pins_of_its_vertices() {
    let mut scene = Scene::new();
    let grid = ClothGrid { columns: 9, rows: 9, fabric: fabric(), tethers: None, ..ClothGrid::default() };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    let settings = Settings { gravity: [0.0; 3], ..Settings::default() };
    // Flies apart along x.
    for (particle, [x, _, z]) in cloth.particles.clone().zip(scene.positions().to_vec()) {
        scene.set_velocity(particle, [20.0 * x + 1.0, 0.3 * z, 0.5]).unwrap();
    }
    let mut reference = Reference::new(&scene, settings).unwrap();
    for _ in 0..30 {
        reference.step(1);
        let before = (mass(reference.inverse_masses()), momentum(&reference));
        let tears = reference.tear().unwrap();
        let after = (mass(reference.inverse_masses()), momentum(&reference));
        assert!((before.0 / after.0 - 1.0).abs() < 1e-6, "{before:?} {after:?} {tears:?}");
        let size = before.1.iter().map(|own| own.abs()).fold(0.0, f64::max);
        assert!((0..3).all(|axis| (before.1[axis] - after.1[axis]).abs() < 1e-6 * size), "{before:?} {after:?}");
    }
    assert!(reference.triangles() != scene.triangles());
    // Two clamps: the tear ends between pins, whose copies are pinned and follow the same target.
    let mut scene = Scene::new();
    scene.add_cloth_grid(&grid).unwrap();
    let row = 4 * 9..5 * 9;
    let along: Vec<[u32; 2]> = (36..44).map(|particle| [particle, particle + 1]).collect();
    scene.set_tear_strain(&along, 0.05).unwrap();
    row.clone().chain(0..9).chain(72..81).for_each(|particle| scene.pin(particle).unwrap());
    let mut reference = Reference::new(&scene, settings).unwrap();
    for particle in 72..81u32 {
        let [x, y, z] = scene.positions()[particle as usize];
        reference.set_target(particle, [x, y, z + 0.15]).unwrap();
    }
    for particle in row.clone() {
        reference.set_target(particle, scene.positions()[particle as usize]).unwrap();
    }
    let tears = run(&mut reference, 20);
    assert!(!tears.edges.is_empty());
    let of_row: Vec<_> = tears.copies.iter().filter(|[particle, _]| row.contains(particle)).collect();
    assert!(!of_row.is_empty(), "{tears:?}");
    for [particle, copy] in of_row {
        let x = reference.read_positions().unwrap();
        assert_eq!(x[*particle as usize], x[*copy as usize]);
    }
}

/// A level sheet of 0.6 m.
fn level(count: u32, fabric: Fabric) -> ClothGrid {
    ClothGrid {
        columns: count,
        rows: count,
        origin: [-0.3, 0.0, -0.3],
        column_axis: [0.6, 0.0, 0.0],
        row_axis: [0.0, 0.0, 0.6],
        fabric,
        tethers: None,
    }
}

/// A ball of 4 cm falls through a sheet between pinned borders.
fn shot(self_collision: Option<SelfCollision>) -> (Scene, Settings, Option<ColliderId>) {
    let mut scene = Scene::new();
    let fabric = Fabric { area_density: 0.3, bending: Bending::Isometric, ..fabric() };
    let grid = level(13, fabric);
    scene.add_cloth_grid(&grid).unwrap();
    for k in 0..13 {
        [k, 156 + k, 13 * k, 13 * k + 12].into_iter().for_each(|particle| scene.pin(particle).unwrap());
    }
    let ball = Collider { shape: Shape::Sphere { radius: 0.04 }, pose: ball_at(0), ..Collider::default() };
    let id = scene.add_collider(ball).unwrap();
    (scene, Settings { self_collision, substeps: 8, dt: 1.0 / 120.0, ..Settings::default() }, Some(id))
}

/// The pose of the ball at the end of a step.
fn ball_at(step: u32) -> Pose {
    Pose { position: [0.01, 0.06 - 0.02 * step as f32, 0.02], ..Pose::default() }
}

#[test]
fn both_backends_tear_the_same_edges_and_agree() {
    let gpu = common::gpu();
    let exact = is_exact(&gpu);
    let (loaded, _) = sheet(fabric(), 1.5 * strength());
    let (plain, with_surfaces) = (shot(None), shot(Some(SelfCollision::surfaces())));
    let cases = [("loaded", (loaded, damped(), None)), ("shot", plain), ("surfaces", with_surfaces)];
    for (what, (scene, settings, ball)) in cases {
        let mut pair = Pair::new(&gpu, &scene, settings);
        let mut count = 0;
        for step in 0..26 {
            if let Some(id) = ball {
                common::change!(pair, move_collider(id, ball_at(step)));
            }
            pair.run(1, if exact { 0.0 } else { 1e-3 }, what);
            let (on_gpu, on_reference) = (pair.solver.tear().unwrap(), pair.reference.tear().unwrap());
            if !exact {
                continue;
            }
            assert_eq!(on_gpu, on_reference, "{what}, step {step}");
            assert_eq!(pair.solver.triangles(), pair.reference.triangles());
            assert_eq!(
                pair.solver.read_normals().unwrap(),
                pair.reference.read_normals().unwrap(),
                "{what}, step {step}"
            );
            count += on_gpu.edges.len();
        }
        assert!(count > 5 || !exact, "{what}: {count} edges");
    }
}

/// A sheet between two clamps that move apart tears along its middle, and a particle falls through the gap; a whole sheet catches it.
#[test]
fn contacts_of_surfaces_follow_the_torn_mesh() {
    let gpu = common::gpu();
    for (strain, falls) in [(0.05, true), (f32::INFINITY, false)] {
        let mut scene = Scene::new();
        let fabric = Fabric { area_density: 0.3, tearing: Some(Tearing::at(f32::INFINITY)), ..fabric() };
        let grid = level(9, fabric);
        scene.add_cloth_grid(&grid).unwrap();
        let middle: Vec<[u32; 2]> = (0..8).map(|row| [9 * row + 4, 9 * row + 13]).collect();
        scene.set_tear_strain(&middle, strain).unwrap();
        let ends: Vec<u32> = (0..9).flat_map(|row| [9 * row, 9 * row + 8]).collect();
        ends.iter().for_each(|&particle| scene.pin(particle).unwrap());
        let position = [0.01, 0.6, 0.02];
        let stone = scene.add_particle(Particle { position, inverse_mass: 500.0, ..Particle::default() }).unwrap();
        let self_collision = Some(SelfCollision::surfaces());
        let settings = Settings { self_collision, substeps: 10, damping: 1.0, ..Settings::default() };
        let mut pair = Pair::new(&gpu, &scene, settings);
        for step in 1..=32 {
            let apart = 0.01 * step.min(6) as f32;
            let moved = ends.iter().map(|&particle| {
                let [x, y, z] = scene.positions()[particle as usize];
                (particle, [x + apart * x.signum(), y, z])
            });
            let moved: Vec<_> = moved.collect();
            common::change!(pair, set_targets(&moved));
            pair.run(1, 1e-3, "gap");
            assert_eq!(pair.solver.tear().unwrap(), pair.reference.tear().unwrap(), "step {step}");
        }
        let height = pair.solver.read_positions().unwrap()[stone as usize][1];
        assert_eq!(height < -0.4, falls, "tears at {strain}: {height}");
        assert_eq!(pieces(pair.solver.triangles()).len(), if falls { 2 } else { 1 });
    }
}

/// A snapshot continues bit for bit, and a reset mends the cloth.
#[test]
fn tears_survive_snapshots_and_other_schedules_and_a_reset_mends_them() {
    let gpu = common::gpu();
    let (mut scene, settings, ball) = shot(Some(SelfCollision::surfaces()));
    scene.reserve_attachments(1).unwrap();
    let advance = |solver: &mut Solver, steps: std::ops::Range<u32>| {
        for step in steps {
            solver.move_collider(ball.unwrap(), ball_at(step)).unwrap();
            solver.step(1);
            solver.tear().unwrap();
        }
    };
    let mut solver = common::solver(&gpu, &scene, settings);
    advance(&mut solver, 0..16);
    let copy = *solver.triangles().iter().flatten().max().unwrap();
    assert!(scene.triangles().iter().flatten().all(|&vertex| vertex < copy));
    let held = Attachment::new(ParticlePoint::Particle(copy), AttachmentTarget::Space([0.0, 0.3, 0.0]));
    solver.attach(Attachment { material: Material::compliant(0.1), ..held }).unwrap();
    let snapshot = solver.snapshot().unwrap();
    let bytes = snapshot.to_bytes();
    let snapshot = supple::gpu::Snapshot::from_bytes(&bytes).unwrap();
    let mut other = common::solver(&gpu, &scene, settings);
    other.restore(&snapshot).unwrap();
    assert_eq!(other.triangles(), solver.triangles());
    advance(&mut solver, 16..22);
    advance(&mut other, 16..22);
    assert!(solver.read_positions().unwrap() == other.read_positions().unwrap());
    assert_eq!(other.triangles(), solver.triangles());
    // Back to before the tears, and from a mended solver to the tears.
    other.reset();
    assert_eq!(other.triangles(), scene.triangles());
    assert_eq!(other.inverse_masses(), scene.inverse_masses());
    let mut fresh = common::solver(&gpu, &scene, settings);
    advance(&mut fresh, 0..4);
    advance(&mut other, 0..4);
    assert!(fresh.read_positions().unwrap() == other.read_positions().unwrap());
    other.restore(&snapshot).unwrap();
    advance(&mut other, 16..22);
    assert!(solver.read_positions().unwrap() == other.read_positions().unwrap());
    // Another schedule of torn cloth, and a reset to the whole one.
    let mut pair = Pair::new(&gpu, &sheet(fabric(), 1.5 * strength()).0, damped());
    let both = |pair: &mut Pair<'_>, steps: u32| {
        for _ in 0..steps {
            pair.run(1, 1e-3, "torn");
            assert_eq!(pair.solver.tear().unwrap(), pair.reference.tear().unwrap());
        }
    };
    both(&mut pair, 14);
    let execution = supple::Execution::Clusters;
    common::change!(pair, set_settings(Settings { execution, mean_forces: true, ..damped() }));
    both(&mut pair, 6);
    pair.solver.reset();
    pair.reference.reset();
    both(&mut pair, 4);
}

/// The particles in reserve have other rest positions, materials and scales than the first vertex of a renumbered mesh.
#[test]
fn snapshots_of_a_renumbered_torn_mesh_fit_its_scene() {
    let gpu = common::gpu();
    let (grid, _) = sheet(fabric(), 1.0);
    let mut scene = Scene::new();
    let positions = &grid.positions()[..(ROWS * COLUMNS) as usize];
    let mesh = ClothMesh { positions, triangles: grid.triangles(), fabric: fabric(), tethers: None };
    scene.add_cloth_mesh(&mesh).unwrap();
    for column in 0..COLUMNS {
        scene.pin(column).unwrap();
        scene.set_mass((ROWS - 1) * COLUMNS + column, 2.5 * strength() / COLUMNS as f32).unwrap();
    }
    let all = 0..scene.particle_count() as u32;
    let material = scene.add_contact_material(ContactMaterial::default()).unwrap();
    scene.set_particle_contact(all.clone(), material).unwrap();
    let scale = ContactScale { thickness: 0.5, ..ContactScale::default() };
    scene.set_contact_scales(all.clone(), &vec![scale; all.len()]).unwrap();
    scene.renumber();
    let mut solver = common::solver(&gpu, &scene, damped());
    let whole = solver.snapshot().unwrap();
    let mut tears = 0;
    for _ in 0..60 {
        solver.step(1);
        tears += solver.tear().unwrap().edges.len();
    }
    assert!(tears > 0);
    let torn = solver.snapshot().unwrap();
    common::solver(&gpu, &scene, damped()).restore(&torn).unwrap();
    solver.restore(&whole).unwrap();
    assert_eq!(solver.triangles(), scene.triangles());
    solver.restore(&torn).unwrap();
    solver.reset();
    solver.restore(&whole).unwrap();
}

/// The tethers of the lower piece end with the tear.
#[test]
fn tethers_across_a_tear_have_no_effect() {
    let tethers = Tethers { scale: 1.3, ..Tethers::default() };
    let mut scene = Scene::new();
    let grid = ClothGrid {
        columns: COLUMNS,
        rows: ROWS,
        origin: [0.0; 3],
        column_axis: [(COLUMNS - 1) as f32 * CELL, 0.0, 0.0],
        row_axis: [0.0, -((ROWS - 1) as f32) * CELL, 0.0],
        fabric: fabric(),
        tethers: Some(tethers),
    };
    scene.add_cloth_grid(&grid).unwrap();
    for column in 0..COLUMNS {
        scene.pin(column).unwrap();
        scene.set_mass((ROWS - 1) * COLUMNS + column, 1.5 * strength() / COLUMNS as f32).unwrap();
    }
    let gpu = common::gpu();
    let mut pair = Pair::new(&gpu, &scene, Settings { tether_forces: true, ..damped() });
    for _ in 0..40 {
        pair.run(1, 1e-3, "tethered");
        assert_eq!(pair.solver.tear().unwrap(), pair.reference.tear().unwrap());
    }
    let pieces = pieces(pair.reference.triangles());
    assert_eq!(pieces.len(), 2);
    let lower = particles(&pieces[1], pair.reference.triangles());
    let forces = pair.reference.read_tether_forces().unwrap();
    assert!(forces.iter().all(|own| lower.binary_search(&own.particle).is_err()), "{forces:?}");
    pair.reference.set_settings(Settings::default()).unwrap();
    let acceleration = fall(&mut pair.reference, &lower, 6);
    assert!((acceleration / -9.81 - 1.0).abs() < 0.01, "{acceleration}");
}

/// Requests without waiting tear the same edges, and a request from before a tear has no effect.
#[test]
fn a_request_of_tears_does_not_wait_and_counts_once() {
    let gpu = common::gpu();
    let (scene, _) =
        sheet(Fabric { tearing: Some(Tearing { copies: 9, ..Tearing::at(0.1) }), ..fabric() }, 1.5 * strength());
    let mut solver = common::solver(&gpu, &scene, damped());
    let mut refused = 0;
    let mut copies = 0;
    for _ in 0..30 {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        solver.encode(&mut encoder, 1);
        let mut requests = [(); 2].map(|()| solver.request_tears(&mut encoder).unwrap());
        gpu.queue.submit([encoder.finish()]);
        let [first, second] = requests.each_mut().map(|request| common::taken(&gpu, request));
        let tears = solver.apply_tears(&first).unwrap();
        if !tears.edges.is_empty() {
            assert_eq!(solver.apply_tears(&second).unwrap(), Tears::default());
        }
        copies += tears.copies.len();
        refused += tears.refused;
    }
    assert_eq!(copies, 9);
    assert!(refused > 0);
}

#[test]
fn cloth_that_cannot_tear_is_an_error() {
    let gpu = common::gpu();
    let (scene, cloth) = sheet(fabric(), 1.0);
    let few = Some(Tearing { copies: 100, ..Tearing::at(0.1) });
    let (asset, _) = sheet(Fabric { tearing: few, ..fabric() }, 1.0);
    let error = Instances::new(&gpu.device, &gpu.queue, &asset, 2, Settings::default()).unwrap_err().to_string();
    assert!(error.contains("tearable"), "{error}");
    let jacobi = Settings { sweep: Sweep::Jacobi, ..Settings::default() };
    let error = Reference::new(&scene, jacobi).unwrap_err().to_string();
    assert!(error.contains("tearing") && error.contains("GaussSeidel"), "{error}");
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    assert!(reference.set_settings(jacobi).is_err());
    let mut plastic = scene.clone();
    plastic.set_plasticity::<Distance>(cloth.structural.clone(), Plasticity::default()).unwrap();
    let error = Reference::new(&plastic, Settings::default()).unwrap_err().to_string();
    assert!(error.contains("plasticity of distance constraint 0"), "{error}");
    let mut scene = scene;
    for (edges, strain) in
        [([[0, 1]], 0.1), ([[20, 60]], 0.1), ([[20, 900_000]], 0.1), ([[14, 15]], -0.1), ([[14, 15]], f32::NAN)]
    {
        assert!(matches!(scene.set_tear_strain(&edges, strain), Err(Error::InvalidValue { .. })), "{edges:?}");
    }
    for strain in [0.0, -1.0, f32::NAN] {
        let grid =
            ClothGrid { fabric: Fabric { tearing: Some(Tearing::at(strain)), ..fabric() }, ..ClothGrid::default() };
        assert!(matches!(Scene::new().add_cloth_grid(&grid), Err(Error::InvalidValue { .. })));
    }
    // A fan of 60 triangles: the vertex in the middle has 60 springs.
    let rim = |k: u32| (k as f32 * std::f32::consts::TAU / 60.0).sin_cos();
    let positions: Vec<_> = std::iter::once([0.0; 3]).chain((0..60).map(rim).map(|(s, c)| [c, 0.0, s])).collect();
    let triangles: Vec<_> = (0..60).map(|k| [0, 1 + k, 1 + (k + 1) % 60]).collect();
    let mut fan = Scene::new();
    let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric: fabric(), tethers: None };
    fan.add_cloth_mesh(&mesh).unwrap();
    let error = Reference::new(&fan, Settings::default()).unwrap_err().to_string();
    assert!(error.contains("number of constraints of a tearable cloth") && error.contains("48"), "{error}");
    let mut whole = Reference::new(&common::hanging_cloth(4, 4).0, Settings::default()).unwrap();
    assert!(matches!(whole.tear(), Err(Error::NotEnabled { .. })));
    // A pressure needs a skin without holes.
    let (vertices, triangles) = common::shapes::icosphere(1, 0.2);
    let mut scene = Scene::new();
    let mesh = ClothMesh { positions: &vertices, triangles: &triangles, fabric: fabric(), tethers: None };
    let cloth = scene.add_cloth_mesh(&mesh).unwrap();
    let surface = ClosedSurface::new(&scene.triangles()[cloth.triangles.start as usize..]).unwrap();
    scene.add(Pressure { surface: &surface, rest_volume: 0.03, pressure: 1.0 }, Material::RIGID).unwrap();
    let error = Reference::new(&scene, Settings::default()).unwrap_err().to_string();
    assert!(error.contains("pressure constraint 0") && error.contains("tearable"), "{error}");
}
