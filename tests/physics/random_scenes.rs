//! Random scenes with all kinds of constraints, topologies, masses, executions and substeps. They stay finite, gain no
//! energy, keep their momentum, and run identically each time and on both backends.
//!
//! `SCENES=20000 cargo test --test physics random_scenes` sets the number of scenes on the reference.

use crate::common::nets::{FAMILIES, Random};
use crate::common::shapes::icosphere;
use crate::common::{Pair, gpu};
use supple::{
    Area, Balloon, Bending, ClothGrid, ClothMesh, Cord, CosineBend, Elasticity, Execution, Fabric, Material, Particle,
    Reference, Rope, Scene, Settings, ShapeMatching, SoftBody, Sweep, Volume,
};

/// A scene with its settings.
struct Drawn {
    scene: Scene,
    settings: Settings,
    /// True without external forces, so that momentum is kept.
    is_free: bool,
    name: String,
}

fn pick<T: Copy>(random: &mut Random, of: &[T]) -> T {
    of[random.below(of.len())]
}

/// A material with compliance 0, or 1e-8 to 1e-2.
fn material(random: &mut Random) -> Material {
    let compliance = if random.next() < 0.4 { 0.0 } else { 10f32.powf(-8.0 + 6.0 * random.next()) };
    // Damping times up to about one substep. Longer ones on rigid constraints beside undamped ones can add a little
    // energy.
    let damping_time = if random.next() < 0.3 { 2.7e-4 * random.next() } else { 0.0 };
    Material { compliance, damping_time, ..Material::RIGID }
}

fn fabric(random: &mut Random) -> Fabric {
    Fabric {
        area_density: 0.05 + 0.5 * random.next(),
        structural: material(random),
        bend: material(random),
        bending: pick(random, &[Bending::Springs, Bending::Hinges, Bending::Isometric, Bending::None]),
        flexural_rigidity: 10f32.powf(-6.0 + 4.0 * random.next()),
        stretch_limit: if random.next() < 0.2 { 1.05 } else { f32::INFINITY },
        ..Fabric::default()
    }
}

fn words(fabric: &Fabric) -> String {
    let Fabric { structural, bend, bending, flexural_rigidity, stretch_limit, .. } = fabric;
    let [structural, bend] =
        [structural, bend].map(|part| format!("{:.0e} {:.0e} s", part.compliance, part.damping_time));
    format!("{structural}, {bending:?} {bend}, B {flexural_rigidity:.0e}, limit {stretch_limit}")
}

/// Adds a part at rest around `at` and returns its name.
fn add_part(scene: &mut Scene, random: &mut Random, at: [f32; 3]) -> String {
    let place = |[x, y, z]: [f32; 3]| [x + at[0], y + at[1], z + at[2]];
    match random.below(8) {
        0 | 1 => {
            let (name, family) = FAMILIES[random.below(FAMILIES.len())];
            let net = family(random);
            net.add_to(scene, at, Material::RIGID);
            name.into()
        }
        2 => {
            let (columns, rows) = (2 + random.below(7) as u32, 2 + random.below(7) as u32);
            let fabric = fabric(random);
            let row_axis = [0.0, -0.3 * random.next(), 0.4];
            let grid =
                ClothGrid { columns, rows, origin: at, column_axis: [0.4, 0.0, 0.0], row_axis, fabric, tethers: None };
            scene.add_cloth_grid(&grid).unwrap();
            format!("grid of {columns} × {rows} ({})", words(&fabric))
        }
        3 => {
            let side = 3 + random.below(5);
            let mut positions = Vec::new();
            for k in 0..side * side {
                let [x, z] = [k % side, k / side].map(|k| 0.1 * (k as f32 + 0.4 * (random.next() - 0.5)));
                positions.push(place([x, 0.0, z]));
            }
            let mut triangles = Vec::new();
            for k in (0..side * (side - 1)).filter(|k| k % side + 1 < side) {
                let [a, b, c, d] = [k, k + 1, k + side, k + side + 1].map(|k| k as u32);
                triangles.extend(if random.next() < 0.5 { [[a, c, b], [b, c, d]] } else { [[a, d, b], [a, c, d]] });
            }
            let fabric = fabric(random);
            let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers: None };
            scene.add_cloth_mesh(&mesh).unwrap();
            format!("mesh of {side} × {side} ({})", words(&fabric))
        }
        4 => {
            let points: Vec<_> = (0..3 + random.below(20)).map(|k| place([0.05 * k as f32, 0.0, 0.0])).collect();
            let axial_stiffness =
                if random.next() < 0.5 { f32::INFINITY } else { 10f32.powf(2.0 + 4.0 * random.next()) };
            let flexural_rigidity = if random.next() < 0.5 { 0.0 } else { 10f32.powf(-6.0 + 4.0 * random.next()) };
            let cord = Cord { linear_density: 0.05, axial_stiffness, damping: 0.0, bend: None, flexural_rigidity };
            scene.add_rope(&Rope { points: &points, cord, tethers: None }).unwrap();
            "rope".into()
        }
        5 => {
            let (positions, triangles) = icosphere(1, 0.15);
            let positions: Vec<_> = positions.into_iter().map(place).collect();
            let (density, spacing) = (200.0 + 1000.0 * random.next(), 0.1);
            let young = 10f32.powf(3.0 + 3.0 * random.next());
            let elasticity = match random.below(3) {
                0 => Elasticity::elastic(young, density, spacing),
                1 => Elasticity::Rigid { shape: Material::RIGID },
                _ => Elasticity::Regions { rings: 1, shape: material(random) },
            };
            let body = SoftBody { positions: &positions, triangles: &triangles, spacing, density, elasticity };
            scene.add_soft_body(&body).unwrap();
            "soft body".into()
        }
        6 => {
            let (positions, triangles) = icosphere(1, 0.15);
            let positions: Vec<_> = positions.into_iter().map(place).collect();
            let fabric = Fabric { bending: Bending::Springs, ..fabric(random) };
            let gas = material(random);
            let balloon = Balloon { positions: &positions, triangles: &triangles, fabric, pressure: 1.0, gas };
            scene.add_balloon(&balloon).unwrap();
            "balloon".into()
        }
        _ => {
            add_elements(scene, random, place);
            "elements".into()
        }
    }
}

/// A tetrahedron for each kind that fits on one, with random masses.
fn add_elements(scene: &mut Scene, random: &mut Random, place: impl Fn([f32; 3]) -> [f32; 3]) {
    let corners = [[0.0; 3], [0.2, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.2]];
    let mut add = |random: &mut Random, far: f32| {
        corners.map(|[x, y, z]| {
            let inverse_mass = 100f32.powf(random.next());
            let position = place([x + far, y, z]);
            scene.add_particle(Particle { position, inverse_mass, ..Particle::default() }).unwrap()
        })
    };
    let [volume, area, group] = [0.0, 0.5, 1.0].map(|far| add(random, far));
    scene.add(Volume { particles: volume, rest_volume: 0.008 / 6.0 }, material(random)).unwrap();
    scene.add(Area { particles: [area[0], area[1], area[2]], rest_area: 0.02 }, material(random)).unwrap();
    let bend = CosineBend { particles: [area[1], area[2], area[0]], rest_angle: std::f32::consts::FRAC_PI_2 };
    scene.add(bend, material(random)).unwrap();
    let rest_positions = group.map(|particle| scene.positions()[particle as usize]);
    let masses = group.map(|particle| 1.0 / scene.inverse_masses()[particle as usize]);
    let shape = ShapeMatching { particles: &group, rest_positions: &rest_positions, masses: &masses };
    scene.add(shape, material(random)).unwrap();
}

fn draw(seed: u64) -> Drawn {
    let random = &mut Random::new(seed.wrapping_mul(31).wrapping_add(17));
    let mut scene = Scene::new();
    let is_free = random.next() < 0.4;
    let mut name = format!("scene {seed}, {}:", if is_free { "free" } else { "hanging" });
    for part in 0..1 + random.below(2) {
        let first = scene.particle_count() as u32;
        name += " ";
        let part = add_part(&mut scene, random, [3.0 * part as f32, 0.0, 0.0]);
        // A rigid group with three nearly collinear pins gains energy as it rotates about them.
        let pins_more = part != "soft body";
        name += &part;
        let count = scene.particle_count() - first as usize;
        for particle in first..first + count as u32 {
            // Followers have no mass.
            if scene.inverse_masses()[particle as usize] == 0.0 {
                continue;
            }
            if is_free {
                let velocity = random.direction();
                scene.set_velocity(particle, velocity).unwrap();
            } else if particle == first || pins_more && random.next() < 0.03 {
                scene.pin(particle).unwrap();
            }
        }
    }
    let settings = Settings {
        gravity: if is_free { [0.0; 3] } else { [0.0, -9.81, 0.0] },
        substeps: pick(random, &[10, 20, 35, 60]),
        iterations: pick(random, &[1, 1, 1, 2, 4]),
        sweep: if random.next() < 0.1 { Sweep::Jacobi } else { Sweep::GaussSeidel },
        execution: pick(random, &[Execution::Auto, Execution::Colors, Execution::Tiles, Execution::Clusters]),
        ..Settings::default()
    };
    let Settings { substeps, iterations, sweep, execution, .. } = settings;
    name += &format!(", {substeps} × {iterations}, {sweep:?}, {execution:?}");
    Drawn { scene, settings, is_free, name }
}

/// Kinetic energy, potential energy, momentum and Σ m |v| of the free particles.
struct Sums {
    kinetic: f64,
    potential: f64,
    momentum: [f64; 3],
    scale: f64,
    weight: f64,
}

fn sums(drawn: &Drawn, positions: &[[f32; 3]], velocities: &[[f32; 3]]) -> Sums {
    let mut sums = Sums { kinetic: 0.0, potential: 0.0, momentum: [0.0; 3], scale: 0.0, weight: 0.0 };
    let pinned: Vec<u32> = drawn.scene.pinned_particles().collect();
    for (particle, (&x, &v)) in (0u32..).zip(positions.iter().zip(velocities)) {
        let w = f64::from(drawn.scene.inverse_masses()[particle as usize]);
        if w == 0.0 || pinned.binary_search(&particle).is_ok() {
            continue;
        }
        let (m, v) = (1.0 / w, v.map(f64::from));
        let square: f64 = v.iter().map(|v| v * v).sum();
        sums.kinetic += 0.5 * m * square;
        sums.potential -= m * f64::from(drawn.settings.gravity[1]) * f64::from(x[1]);
        (0..3).for_each(|axis| sums.momentum[axis] += m * v[axis]);
        sums.scale += m * square.sqrt();
        sums.weight += m * 9.81 * 0.2;
    }
    sums
}

/// The claim that fails after a step, if any; `start` has the sums before the first step.
fn fault(drawn: &Drawn, start: &Sums, positions: &[[f32; 3]], velocities: &[[f32; 3]]) -> Option<String> {
    if !positions.iter().chain(velocities).flatten().all(|value| value.is_finite()) {
        return Some("not finite".into());
    }
    let now = sums(drawn, positions, velocities);
    let gain = now.kinetic + now.potential - start.kinetic - start.potential;
    let scale = if drawn.is_free { start.kinetic } else { start.weight };
    if gain > 1e-3 * scale {
        return Some(format!("energy grows by {:.1e}", gain / scale));
    }
    let drift = (0..3).map(|axis| (now.momentum[axis] - start.momentum[axis]).abs()).fold(0.0, f64::max);
    let is_kept = !drawn.is_free || drift < 1e-4 * start.scale;
    (!is_kept).then(|| format!("momentum changes by {:.1e}", drift / start.scale))
}

/// Runs on the reference; returns the final positions, or the fault.
fn run(drawn: &Drawn, steps: u32) -> Result<Vec<[f32; 3]>, String> {
    let mut reference = Reference::new(&drawn.scene, drawn.settings).map_err(|error| error.to_string())?;
    let start = sums(drawn, &reference.read_positions().unwrap(), &reference.read_velocities().unwrap());
    for step in 0..steps {
        reference.step(1);
        if let Some(fault) =
            fault(drawn, &start, &reference.read_positions().unwrap(), &reference.read_velocities().unwrap())
        {
            return Err(format!("{fault} in step {step}"));
        }
    }
    Ok(reference.read_positions().unwrap())
}

#[test]
fn random_scenes_stay_finite_and_keep_energy_and_momentum() {
    let count: u64 = std::env::var("SCENES").map_or(2000, |count| count.parse().expect("SCENES is a number"));
    let check = |seed: u64| {
        let drawn = draw(seed);
        match run(&drawn, 20) {
            Err(fault) => return Some(format!("{}: {fault}", drawn.name)),
            // A second run gives the same bits.
            Ok(positions) if seed.is_multiple_of(20) => assert_eq!(run(&drawn, 20), Ok(positions), "{}", drawn.name),
            Ok(_) => {}
        }
        None
    };
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    let faults: Vec<String> = std::thread::scope(|scope| {
        let share = |first| scope.spawn(move || (first..count).step_by(threads as usize).filter_map(check).collect());
        let shares: Vec<_> = (0..threads).map(share).collect();
        shares.into_iter().flat_map(|share| -> Vec<String> { share.join().unwrap() }).collect()
    });
    assert!(faults.is_empty(), "{} of {count} scenes:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn random_scenes_agree_on_both_backends() {
    let gpu = gpu();
    for seed in 0..100 {
        let drawn = draw(5_000_000 + seed);
        let mut pair = Pair::new(&gpu, &drawn.scene, drawn.settings);
        let start = sums(&drawn, &pair.reference.read_positions().unwrap(), &pair.reference.read_velocities().unwrap());
        for _ in 0..3 {
            pair.run(2, 1e-3, &drawn.name);
            let (positions, velocities) =
                (pair.solver.read_positions().unwrap(), pair.solver.read_velocities().unwrap());
            assert_eq!(fault(&drawn, &start, &positions, &velocities), None, "{}", drawn.name);
        }
    }
}
