//! Renumbered scenes: connected particles are close in memory, and nothing else changes.

use crate::common;
use crate::common::store;
use supple::{
    Balloon, ClosedSurface, ClothGrid, ClothMesh, Collider, ContactMaterial, Cord, Distance, Elasticity, Error,
    Execution, Fabric, Hinge, Material, Numbering, Particle, Pressure, Reference, Rope, Scene, SelfCollision, Settings,
    SoftBody, Solver, Sweep, Tethers,
};

/// The numbers 0 to `count` − 1 in random order.
fn shuffled(count: usize) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..count as u32).collect();
    numbers.sort_by_key(|number| number.wrapping_mul(2_654_435_761) ^ 0x5bd1_e995);
    numbers
}

/// A sheet of `n` × `n` vertices in random order, its triangles in random order, and the vertices of two corners.
fn sheet(n: usize) -> (Vec<[f32; 3]>, Vec<[u32; 3]>, [u32; 2]) {
    let numbers = shuffled(n * n);
    let mut positions = vec![[0.0; 3]; n * n];
    for (k, &number) in numbers.iter().enumerate() {
        let [u, v] = [k % n, k / n].map(|place| place as f32 / (n - 1) as f32);
        positions[number as usize] = [u, 0.02 * (7.0 * u * v).sin(), v];
    }
    let corner = |row: usize, column: usize| numbers[row * n + column];
    let cells = (0..n - 1).flat_map(|row| (0..n - 1).map(move |column| [row, column]));
    let both: Vec<[u32; 3]> = cells
        .flat_map(|[row, column]| {
            let [a, b] = [corner(row, column), corner(row, column + 1)];
            let [c, d] = [corner(row + 1, column), corner(row + 1, column + 1)];
            [[a, c, b], [b, c, d]]
        })
        .collect();
    let triangles = shuffled(both.len()).into_iter().map(|place| both[place as usize]).collect();
    (positions, triangles, [corner(0, 0), corner(0, n - 1)])
}

fn add_sheet(scene: &mut Scene, n: usize, tethers: Option<Tethers>) -> std::ops::Range<u32> {
    let (positions, triangles, corners) = sheet(n);
    let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric: Fabric::COTTON, tethers };
    let particles = scene.add_cloth_mesh(&mesh).unwrap().particles;
    corners.into_iter().for_each(|corner| scene.pin(particles.start + corner).unwrap());
    particles
}

/// A sphere of `n` rings of 2 `n` vertices each, in random order.
fn sphere(n: usize) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let (across, count) = (2 * n, 2 * n * n + 2);
    let numbers = shuffled(count);
    let mut positions = vec![[0.0; 3]; count];
    positions[numbers[count - 2] as usize] = [0.0, 0.5, 0.0];
    positions[numbers[count - 1] as usize] = [0.0, -0.5, 0.0];
    for k in 0..2 * n * n {
        let theta = std::f32::consts::PI * (k / across + 1) as f32 / (n + 1) as f32;
        let phi = std::f32::consts::PI * (k % across) as f32 / n as f32;
        let [x, z] = [phi.cos(), phi.sin()].map(|turn| 0.5 * theta.sin() * turn);
        positions[numbers[k] as usize] = [x, 0.5 * theta.cos(), z];
    }
    let at = |ring: usize, k: usize| numbers[ring * across + k % across];
    let mut triangles = Vec::new();
    for k in 0..across {
        triangles.push([numbers[count - 2], at(0, k + 1), at(0, k)]);
        triangles.push([numbers[count - 1], at(n - 1, k), at(n - 1, k + 1)]);
        for ring in 0..n - 1 {
            triangles.push([at(ring, k), at(ring, k + 1), at(ring + 1, k)]);
            triangles.push([at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k)]);
        }
    }
    (positions, triangles)
}

/// The mean difference of particle indices of distance constraints.
fn spread(scene: &Scene, constraints: std::ops::Range<u32>) -> f64 {
    let count = constraints.len() as f64;
    scene
        .distances(constraints)
        .map(|distance| f64::from(distance.particles[0].abs_diff(distance.particles[1])))
        .sum::<f64>()
        / count
}

#[test]
fn connected_particles_get_near_indices() {
    let mut scene = Scene::new();
    let (positions, triangles, _) = sheet(60);
    let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric: Fabric::COTTON, tethers: None };
    let cloth = scene.add_cloth_mesh(&mesh).unwrap();
    let before = spread(&scene, cloth.structural.clone());
    let numbering = scene.renumber();
    let after = spread(&scene, cloth.structural.clone());
    // Row by row it would be 40.
    assert!(before > 800.0 && after < 60.0, "{before} particles apart before, {after} after");
    // A scene in order does not change.
    assert!(!numbering.is_unchanged() && scene.renumber().is_unchanged());
}

/// Connects the particles of both ends of a body by soft constraints, so that an ordered body needs another order.
fn tie_ends(scene: &mut Scene, body: std::ops::Range<u32>) {
    let (positions, material) = (scene.positions().to_vec(), Material::compliant(1e6));
    for (k, other) in body.clone().zip(body.clone().rev()).take(body.len() / 2) {
        let rest_length = glam::Vec3::from(positions[k as usize]).distance(positions[other as usize].into());
        for _ in 0..4 {
            scene.add(Distance { particles: [k, other], rest_length }, material).unwrap();
        }
    }
}

/// Jacobi solves all constraints at once, so the order of particles affects only rounding.
fn moves_alike(scene: Scene) -> Numbering {
    moves_alike_with(scene, Settings::default(), 10)
}

fn moves_alike_with(mut scene: Scene, settings: Settings, steps: u32) -> Numbering {
    let settings = Settings { sweep: Sweep::Jacobi, substeps: 4, ..settings };
    let mut before = Reference::new(&scene, settings).unwrap();
    let numbering = scene.renumber();
    let mut after = Reference::new(&scene, settings).unwrap();
    before.step(steps);
    after.step(steps);
    let (expected, found) =
        (before.read_positions().unwrap(), numbering.to_old_order(&after.read_positions().unwrap()).unwrap());
    for (particle, (a, b)) in expected.iter().zip(&found).enumerate() {
        let apart = glam::Vec3::from(*a).distance((*b).into());
        assert!(apart < 2e-4, "particle {particle} at {a:?}, after renumbering at {b:?}");
    }
    assert_ne!(expected, numbering.to_old_order(scene.positions()).unwrap(), "nothing has moved");
    numbering
}

#[test]
fn renumbered_bodies_of_all_kinds_move_as_before() {
    let mut scene = Scene::new();
    let grid = scene.add_cloth_grid(&ClothGrid { columns: 9, rows: 7, ..ClothGrid::default() }).unwrap().particles;
    scene.pin(grid.start).unwrap();
    let sheet = add_sheet(&mut scene, 14, Some(Tethers::default()));
    let (positions, triangles) = sphere(8);
    let (fabric, gas) = (Fabric::COTTON, Material::compliant(1e-9));
    let balloon = Balloon { positions: &positions, triangles: &triangles, fabric, pressure: 1.1, gas };
    let balloon = scene.add_balloon(&balloon).unwrap().cloth.particles;
    let elasticity = Elasticity::Elastic { young: 1e4, bulk: 1e4, damping_time: 0.0 };
    let body = SoftBody { positions: &positions, triangles: &triangles, spacing: 0.25, density: 1000.0, elasticity };
    let surface = scene.add_soft_body(&body).unwrap().surface;
    let follower = scene.add_follower([7, 70, 77, 170].map(|k| sheet.start + k), [0.5, 0.25, 0.5, -0.25]).unwrap();
    scene.set_velocity(sheet.start + 40, [0.0, 3.0, 0.0]).unwrap();
    let numbering = moves_alike(scene);
    let changed = |particles: std::ops::Range<u32>| particles.filter(|&k| numbering.new_index(k) != Ok(k)).count();
    let shuffled = [sheet.clone(), balloon].map(changed);
    assert!(shuffled[0] > 150 && shuffled[1] > 100, "{shuffled:?}");
    // Rows and followers are in order already, and the particles of a body stay in its range.
    assert_eq!((changed(grid), changed(surface), numbering.new_index(follower)), (0, 0, Ok(follower)));
    assert!(sheet.clone().all(|k| sheet.contains(&numbering.new_index(k).unwrap())));
}

#[test]
fn loose_particles_move_as_before_once_they_are_a_body() {
    let mut scene = Scene::new();
    let numbers = shuffled(60);
    for number in 0..60 {
        let place = numbers.iter().position(|&other| other == number).unwrap() as f32;
        let position = [0.1 * place, 0.01 * place * place % 0.3, 0.0];
        let inverse_mass = if place == 0.0 { 0.0 } else { 1.0 + place };
        scene.add_particle(Particle { position, inverse_mass, ..Particle::default() }).unwrap();
    }
    for pair in numbers.windows(2) {
        let particles = [pair[0], pair[1]];
        scene.add(Distance { particles, rest_length: 0.1 }, Material::compliant(1e-5)).unwrap();
    }
    scene
        .add(
            Hinge { particles: [numbers[3], numbers[4], numbers[5], numbers[7]], rest_angle: 0.3, scale: 1.0 },
            Material::RIGID,
        )
        .unwrap();
    let before = spread(&scene, 0..59);
    assert!(scene.clone().renumber().is_unchanged());
    scene.add_body(0..60).unwrap();
    let numbering = moves_alike(scene.clone());
    scene.renumber();
    assert!(before > 10.0 && spread(&scene, 0..59) < 2.0, "{before}");
    assert!(!numbering.is_unchanged());
}

/// Two layers whose vertices are stitched together are one body; tethers name the first layer.
#[test]
fn tethers_of_a_part_of_a_body_stay_with_it() {
    let mut scene = Scene::new();
    let count = 400;
    for k in 0..2 * count {
        let position = [0.01 * (k % count) as f32, 0.0, 0.01 * (k / count) as f32];
        scene.add_particle(supple::Particle { position, ..Default::default() }).unwrap();
    }
    // The neighbours are far apart in the order, so that renumbering would pay.
    let links = (0..count).flat_map(|k| {
        let next = (k + 137) % count;
        [[k, k + count], [k, next], [k + count, next + count]]
    });
    for particles in links {
        scene.add(supple::Distance { particles, rest_length: 0.01 }, supple::Material::RIGID).unwrap();
    }
    scene.add_tethers(0..count, Tethers::default()).unwrap();
    scene.add_body(0..2 * count).unwrap();
    let numbering = scene.renumber();
    let moved: Vec<u32> = (0..count).filter(|&k| numbering.new_index(k).unwrap() >= count).collect();
    assert!(moved.is_empty(), "{moved:?}");
    assert!(!numbering.is_unchanged(), "the second layer is renumbered");
}

#[test]
fn pins_and_triangles_are_renumbered() {
    let mut scene = Scene::new();
    add_sheet(&mut scene, 20, Some(Tethers::default()));
    let points: Vec<[f32; 3]> = (0..30).map(|k| [0.1 * k as f32, 1.0, 0.0]).collect();
    scene.add_rope(&Rope { points: &points, cord: Cord::STEEL_CABLE, tethers: None }).unwrap();
    let before = scene.clone();
    let numbering = scene.renumber();
    assert_eq!(numbering.to_old_order(scene.positions()).unwrap(), before.positions());
    assert_eq!(numbering.to_new_order(before.positions()).unwrap(), scene.positions());
    let renamed = |particles: &[u32]| particles.iter().map(|&k| numbering.new_index(k).unwrap()).collect::<Vec<_>>();
    let mut pins = renamed(&before.pinned_particles().collect::<Vec<_>>());
    pins.sort_unstable();
    assert_eq!(pins, scene.pinned_particles().collect::<Vec<_>>());
    assert_eq!(renamed(before.triangles().as_flattened()), scene.triangles().as_flattened());
}

#[test]
fn contacts_move_as_before() {
    let mut scene = Scene::new();
    let sheet = add_sheet(&mut scene, 14, None);
    // Next neighbours are closer than one thickness at rest, so their pairs are excluded.
    let thick = |thickness| ContactMaterial { thickness, ..ContactMaterial::default() };
    let [thin, thick] = [0.078, 0.084].map(|thickness| scene.add_contact_material(thick(thickness)).unwrap());
    for particle in sheet.clone() {
        let is_left = scene.positions()[particle as usize][0] < 0.5;
        scene.set_particle_contact(particle..particle + 1, if is_left { thin } else { thick }).unwrap();
    }
    scene.add_collider(Collider::default()).unwrap();
    let settings = Settings { self_collision: Some(SelfCollision::default()), ..Settings::default() };
    let numbering = moves_alike_with(scene.clone(), settings, 5);
    assert!(!numbering.is_unchanged());
    // Negative control: losing any of these would change the result.
    let alike = |materials: [_; 2]| {
        let mut other = scene.clone();
        for particle in sheet.clone() {
            let is_left = scene.positions()[particle as usize][0] < 0.5;
            other.set_particle_contact(particle..particle + 1, materials[usize::from(is_left)]).unwrap();
        }
        let play = |scene: &Scene| {
            let mut reference = Reference::new(scene, Settings { substeps: 4, ..settings }).unwrap();
            reference.step(5);
            reference.read_positions().unwrap()
        };
        play(&scene) == play(&other)
    };
    assert!(alike([thick, thin]) && !alike([thin, thick]));
}

#[test]
fn touching_ropes_move_as_before() {
    let mut scene = Scene::new();
    let line = |from: [f32; 3], step: [f32; 3]| -> Vec<[f32; 3]> {
        (0..40).map(|k| [0, 1, 2].map(|axis| from[axis] + k as f32 * step[axis])).collect()
    };
    let cord = Cord::STEEL_CABLE;
    let [under, over] = [line([-0.39, 0.0, 0.0], [0.02, 0.0, 0.0]), line([0.01, 0.012, -0.39], [0.0, 0.0, 0.02])];
    let mut add = |points: &[[f32; 3]]| scene.add_rope(&Rope { points, cord, tethers: None }).unwrap().particles;
    let [under, over] = [add(&under), add(&over)];
    for end in [under.start, under.end - 1] {
        scene.pin(end).unwrap();
    }
    for rope in [under, over.clone()] {
        tie_ends(&mut scene, rope);
    }
    let settings = Settings { self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    let numbering = moves_alike_with(scene.clone(), settings, 12);
    assert!(over.clone().filter(|&k| numbering.new_index(k) != Ok(k)).count() > 20);
    // They are in contact.
    let height = |settings| {
        let mut reference = Reference::new(&scene, settings).unwrap();
        reference.step(12);
        reference.read_positions().unwrap()[over.start as usize + 19][1]
    };
    let (held, falling) = (height(settings), height(Settings { self_collision: None, ..settings }));
    assert!(held > falling + 0.01, "{held} m, {falling} m");
}

#[test]
fn a_renumbered_balloon_can_be_blown_up() {
    let mut scene = Scene::new();
    let (positions, triangles) = sphere(8);
    let (fabric, gas) = (Fabric::COTTON, Material::compliant(1e-9));
    let balloon = Balloon { positions: &positions, triangles: &triangles, fabric, pressure: 1.0, gas };
    let parts = scene.add_balloon(&balloon).unwrap();
    assert!(!scene.renumber().is_unchanged());
    let surface = ClosedSurface::new(scene.triangles()).unwrap();
    let settings = Settings { gravity: [0.0; 3], ..Settings::default() };
    let mut reference = Reference::new(&scene, settings).unwrap();
    let volume =
        |reference: &Reference| surface.volume(|particle| reference.read_positions().unwrap()[particle as usize]);
    assert!((volume(&reference) / f64::from(parts.rest_volume) - 1.0).abs() < 1e-4);
    let pressure = Pressure { surface: &surface, rest_volume: parts.rest_volume, pressure: 1.1 };
    reference.set_constraint(parts.pressure, pressure).unwrap();
    reference.step(20);
    let grown = volume(&reference) / f64::from(parts.rest_volume);
    assert!(grown > 1.02, "{grown} times as large");
    // The surface of other particles is a different one.
    let other = ClosedSurface::new(&[[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]]).unwrap();
    let pressure = Pressure { surface: &other, ..pressure };
    assert!(reference.set_constraint(parts.pressure, pressure).is_err());
}

#[cfg(feature = "scene-file")]
#[test]
fn forces_and_targets_of_a_scene_file_are_renumbered() {
    let (positions, triangles, corners) = sheet(12);
    let positions: Vec<_> = positions.iter().map(|x| format!("{x:?}")).collect();
    let text = format!(
        r#"{{
            "version": 1,
            "parts": [{{ "cloth_mesh": {{
                "name": "sheet", "mesh": {{ "positions": [{}], "triangles": {triangles:?} }}, "pin": ["{}", "{}"]
            }} }}],
            "forces": [{{ "particles": ["sheet:{}"], "force": [0, 0.01, 0] }}],
            "targets": [{{ "particles": ["sheet:{}"], "times": [0, 1], "offsets": [[0, 0, 0], [0, 0.5, 0]] }}]
        }}"#,
        positions.join(", "),
        corners[0],
        corners[1],
        corners[0] ^ 1,
        corners[1],
    );
    let mut file = supple::scene_file::SceneFile::parse(&text, None).unwrap();
    let before = file.clone();
    let numbering = file.renumber();
    assert!(!numbering.is_unchanged());
    assert_eq!(numbering.to_old_order(&file.forces).unwrap(), before.forces);
    assert_ne!(file.forces, before.forces);
    let targets = |file: &supple::scene_file::SceneFile| file.targets_at(0.7).collect::<Vec<_>>();
    let expected: Vec<_> = targets(&before).into_iter().map(|(k, x)| (numbering.new_index(k).unwrap(), x)).collect();
    assert_eq!(targets(&file), expected);
    assert!(file.scene.pinned_particles().any(|pin| pin == expected[0].0));
    assert_eq!(file.parts, before.parts);
    // Particles added later have no force, and entries of particles that do not exist are kept.
    let mut more = before.clone();
    more.scene.add_particle(Particle::default()).unwrap();
    more.targets[0].particles.push((u32::MAX, [0.0; 3]));
    let numbering = more.renumber();
    assert_eq!(numbering.to_old_order(&more.forces).unwrap(), [before.forces, vec![[0.0; 3]]].concat());
    assert_eq!(more.targets[0].particles.last(), Some(&(u32::MAX, [0.0; 3])));
    more.forces.push([1.0; 3]);
    more.renumber();
    assert_eq!((more.forces.len(), more.forces.last()), (146, Some(&[1.0; 3])));
    assert!(matches!(more.reference(), Err(Error::IndexOutOfRange { index: 145, .. })));
}

#[test]
fn colours_and_clusters_of_a_renumbered_scene_agree_with_the_reference() {
    let gpu = common::gpu();
    for execution in [Execution::Colors, Execution::Clusters] {
        let mut scene = Scene::new();
        add_sheet(&mut scene, 24, Some(Tethers::default()));
        scene.renumber();
        let settings = Settings { execution, substeps: 5, ..Settings::default() };
        let mut solver = Solver::with_store(&store(&gpu), &gpu.queue, &scene, settings).unwrap();
        let mut reference = Reference::new(&scene, settings).unwrap();
        solver.step(5);
        reference.step(5);
        let tolerance = if common::is_exact(&gpu) { 0.0 } else { 1e-3 };
        let (found, expected) = (solver.read_positions().unwrap(), reference.read_positions().unwrap());
        assert_eq!(common::first_unequal(&found, &expected, tolerance), None, "{execution:?}");
    }
}

#[test]
fn indices_and_lengths_out_of_range_are_errors() {
    let numbering = Scene::new().renumber();
    assert!(numbering.is_unchanged());
    assert!(matches!(numbering.new_index(0), Err(Error::IndexOutOfRange { index: 0, count: 0, .. })));
    let mut scene = Scene::new();
    add_sheet(&mut scene, 5, None);
    let numbering = scene.renumber();
    assert!(numbering.new_index(24).is_ok());
    assert!(matches!(numbering.new_index(25), Err(Error::IndexOutOfRange { index: 25, count: 25, .. })));
    for values in [numbering.to_old_order(&[0.0; 24]), numbering.to_new_order(&[0.0; 24])] {
        assert!(matches!(values, Err(Error::LengthMismatch { left: 24, right: 25, .. })));
    }
}
