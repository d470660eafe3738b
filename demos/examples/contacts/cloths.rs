//! Cloth on bodies and on itself.

use crate::{Arguments, Drive, Setup};
use anyhow::ensure;
use glam::{Quat, Vec3};
use serde_json::json;
use std::f32::consts::TAU;
use supple::{
    Cloth, ClothGrid, Collider, ColliderId, ContactMaterial, ContactMaterialId, Fabric, Particle, Pose, Scene,
    SelfCollisionLevel, Shape, Solver,
};
use supple_demos::camera::Camera;
use supple_demos::headless::Report;
use supple_demos::shapes::{Trefoil, placed};
use supple_demos::{Demo, Figures};

pub const PARTICLES: Option<SelfCollisionLevel> = Some(SelfCollisionLevel::Particles);
pub const SURFACES: Option<SelfCollisionLevel> = Some(SelfCollisionLevel::Surfaces);

/// A square cloth around `middle`, rotated by `angle` about the vertical.
pub fn sheet(columns: u32, rows: u32, side: f32, middle: Vec3, angle: f32) -> ClothGrid {
    let turn = Quat::from_rotation_y(angle);
    let (across, along) = (turn * Vec3::X * side, turn * Vec3::Z * side);
    ClothGrid {
        columns,
        rows,
        origin: (middle - 0.5 * (across + along)).into(),
        column_axis: across.into(),
        row_axis: along.into(),
        ..ClothGrid::default()
    }
}

/// Distinct colours for the cloths of a pile.
fn tint(index: u32) -> [f32; 3] {
    const TINTS: [[f32; 3]; 8] = [
        [0.45, 0.05, 0.05],
        [0.60, 0.28, 0.04],
        [0.55, 0.45, 0.10],
        [0.12, 0.33, 0.08],
        [0.03, 0.28, 0.28],
        [0.03, 0.12, 0.38],
        [0.20, 0.06, 0.32],
        [0.45, 0.40, 0.34],
    ];
    TINTS[index as usize % TINTS.len()]
}

/// Adds a collider with the given material.
pub fn add(scene: &mut Scene, material: ContactMaterialId, collider: Collider) -> supple::Result<ColliderId> {
    scene.add_collider(Collider { material, ..collider })
}

/// Rotates a collider about the vertical after half a second.
fn spin(id: ColliderId, at: [f32; 3], turns_a_second: f32) -> Option<Drive> {
    let drive = move |solver: &mut Solver, step: u32| {
        let seconds = ((step + 1) as f32 / 60.0 - 0.5).max(0.0);
        let rotation = Quat::from_rotation_y(TAU * turns_a_second * seconds).to_array();
        let pose = Pose { position: at, rotation };
        solver.move_collider(id, pose)?;
        Ok(vec![(id.index(), pose)])
    };
    (turns_a_second != 0.0).then(|| Box::new(drive) as Drive)
}

/// Velocity damping by air for a cloth of 0.2 kg/m² [1/s]: g over its terminal velocity of 1.6 m/s.
const AIR: f32 = 6.0;

/// The damping time of bending [s]. Fabric does not spring back; without damping, folds still snap over after seconds.
const CREEP: f32 = 0.02;

/// A square cloth that falls from slightly above a body on the ground.
fn over(arguments: &Arguments, columns: u32, side: f32, body: Collider, top: f32) -> anyhow::Result<Setup> {
    let [columns, rows] = arguments.columns(columns);
    let mut scene = Scene::new();
    let mut grid = sheet(columns, rows, side, Vec3::Y * (top + 0.03), 0.0);
    grid.fabric.bend.damping_time = CREEP;
    let cloth = scene.add_cloth_grid(&grid)?;
    let spacing = side / (columns.max(rows) - 1) as f32;
    // Larger than the spacing, so that no gaps open where the cloth is stretched.
    let material = arguments.material(&mut scene, PARTICLES, 1.2 * spacing)?;
    scene.set_particle_contact(cloth.particles.clone(), material)?;
    supple_demos::jitter(&mut scene, cloth.particles.clone(), 0.01 * spacing, arguments.options.seed)?;
    let at = body.pose.position;
    let id = add(&mut scene, material, body)?;
    add(&mut scene, material, Collider::default())?;
    let camera = Camera { target: Vec3::new(0.0, 0.38, 0.0), distance: 3.3, yaw: 0.5, pitch: 0.38 };
    Ok(Setup {
        demo: demo(scene, &[cloth], camera),
        drive: spin(id, at, arguments.spin),
        // Without pins the stiffness depends on the number of sweeps; this number keeps the strain below 0.5 %.
        substeps: 72,
        damping: AIR,
        // Cloth has a quarter of a pair per particle; the default capacity exceeds 128 MiB for a million particles.
        pairs_per_particle: (columns * rows > 400_000).then_some(4),
        check: Box::new(move |report| {
            crossed(report)?;
            let deepest = report.figures["deepest_penetration"].as_f64();
            ensure!(deepest.is_some_and(|value| value < 1e-4), "the cloth is {deepest:?} m inside");
            ensure!(report.lowest_point > -1e-4, "the cloth is below the ground: {} m", report.lowest_point);
            ensure!(report.mean_strain < 0.05, "the cloth is stretched by {:.1} %", report.mean_strain * 100.0);
            Ok(())
        }),
        ..Setup::default()
    })
}

pub fn demo(scene: Scene, cloths: &[Cloth], camera: Camera) -> Demo {
    let edges = cloths[0].structural.clone();
    let tints = (0..).zip(cloths).map(|(index, cloth)| (cloth.particles.clone(), tint(index)));
    let tints = if cloths.len() > 1 { tints.collect() } else { Vec::new() };
    Demo { title: "contacts", edges, tints, camera, scene, ..Demo::default() }
}

/// Checks that no edge intersects a triangle.
pub fn crossed(report: &Report) -> anyhow::Result<()> {
    let crossings = report.figures["self_intersections"].as_u64();
    ensure!(crossings == Some(0), "{crossings:?} edges of cloth intersect triangles");
    Ok(())
}

/// Checks that no edge intersects a triangle, nor has after any step without a window.
pub fn never_crossed(report: &Report) -> anyhow::Result<()> {
    crossed(report)?;
    let worst = report.figures.get("self_intersections_max");
    ensure!(worst.is_none_or(|worst| *worst == 0), "cloth has passed through cloth {worst:?} times");
    Ok(())
}

/// A cloth on a ball of 0.5 m that lies on the ground.
pub fn sphere(arguments: &Arguments) -> anyhow::Result<Setup> {
    over(arguments, 316, 2.0, Collider::new(Shape::Sphere { radius: 0.5 }, [0.0, 0.5, 0.0]), 1.0)
}

/// A cloth on a block with edges and corners.
pub fn table(arguments: &Arguments) -> anyhow::Result<Setup> {
    let half_extents = [0.5, 0.35, 0.5];
    over(arguments, 316, 2.0, Collider::new(Shape::Box { half_extents }, [0.0, 0.35, 0.0]), 0.7)
}

/// A cloth on a trefoil knot, a triangle mesh that stands on one of its three bends.
pub fn mesh(arguments: &Arguments) -> anyhow::Result<Setup> {
    let knot = Trefoil { major: 0.36, minor: 0.16, radius: 0.11 };
    // One bend is at the bottom, two are at the top.
    let turn = Quat::from_rotation_z(TAU / 12.0) * Quat::from_rotation_x(-TAU / 4.0);
    let (positions, triangles) = placed(knot.surface(256, 32), turn, Vec3::ZERO);
    let height = |bound: fn(f32, f32) -> f32| positions.iter().map(|position| position[1]).reduce(bound).unwrap_or(0.0);
    let (foot, top) = (height(f32::min), height(f32::max));
    let at = Vec3::NEG_Y * foot;
    let body = Collider::new(Shape::mesh(&positions, &triangles, None)?, at.into());
    let setup = over(arguments, 128, 1.2, body, top - foot)?;
    let (mut demo, check) = (setup.demo, setup.check);
    demo.meshes = vec![(0, (positions, triangles))];
    demo.camera = Camera { target: Vec3::new(0.0, 0.55, 0.0), distance: 2.3, yaw: 0.5, pitch: 0.25 };
    let half_thickness = 0.5 * demo.scene.contact_material(demo.scene.colliders()[0].material)?.thickness;
    let stands = arguments.spin == 0.0;
    Ok(Setup {
        demo,
        measure: Box::new(move |positions| {
            let distance = |&position: &[f32; 3]| knot.distance(turn.inverse() * (Vec3::from(position) - at));
            let nearest = positions.iter().map(distance).fold(f32::INFINITY, f32::min);
            // The distance is measured only if the knot does not rotate.
            let figures = [("nearest_to_mesh", nearest), ("deepest_penetration", (-nearest).max(0.0))];
            figures.into_iter().filter(|_| stands).map(|(name, value)| (name.into(), json!(value))).collect()
        }),
        check: Box::new(move |report| {
            check(report)?;
            // Tolerance for the sampled distances of the mesh and its chordal triangles.
            let least = f64::from(half_thickness) - 2e-3;
            let nearest = report.figures.get("nearest_to_mesh").and_then(serde_json::Value::as_f64);
            ensure!(nearest.is_none_or(|nearest| nearest > least), "the cloth is at {nearest:?} m, not {least} m");
            Ok(())
        }),
        ..setup
    })
}

/// A strip of cotton of 1 m by half a metre without gravity, in two narrow grips. The grips rotate against each other
/// and approach each other as the strip shortens.
pub fn twister(arguments: &Arguments) -> anyhow::Result<Setup> {
    let [columns, rows] = arguments.columns(128);
    let mut scene = Scene::new();
    let square = sheet(columns, rows, 1.0, Vec3::ZERO, 0.0);
    let cloth = scene.add_cloth_grid(&ClothGrid {
        origin: [-0.5, 0.0, -0.5 * WIDTH],
        row_axis: [0.0, 0.0, WIDTH],
        fabric: Fabric::COTTON,
        tethers: None,
        ..square
    })?;
    let spacing = 1.0 / (columns.max(rows) - 1) as f32;
    let mut arguments = arguments.clone();
    // A thicker or rougher strip jams before five turns, and the part between the grips stretches.
    arguments.thickness.get_or_insert(7e-4);
    arguments.friction.get_or_insert(0.2);
    let material = arguments.material(&mut scene, SURFACES, spacing)?;
    scene.set_particle_contact(cloth.particles.clone(), material)?;
    supple_demos::jitter(&mut scene, cloth.particles.clone(), 0.02 * spacing, arguments.options.seed.max(1))?;
    // Both ends of the cloth along x.
    let mut held: Vec<(u32, Vec3)> = Vec::new();
    for particle in cloth.particles.clone() {
        let place = Vec3::from(scene.positions()[particle as usize]);
        if place.x.abs() > 0.5 - 0.5 * spacing && place.z.abs() < GRIP {
            scene.set_position(particle, place.with_y(0.0).into())?;
            scene.pin(particle)?;
            held.push((particle, place.with_y(0.0)));
        }
    }
    let turns = arguments.turns;
    let thickness = scene.contact_material(material)?.thickness;
    let drive = move |solver: &mut Solver, step: u32| {
        let seconds = (step + 1) as f32 / 60.0;
        // Each grip makes half of the turns.
        // They accelerate during RAMP.
        let seconds = if seconds < RAMP { 0.5 * seconds * seconds / RAMP } else { seconds - 0.5 * RAMP };
        let angle = TAU * (TURN_RATE * seconds).min(0.5 * turns.abs()) * turns.signum();
        let length = twisted_length(2.0 * angle.abs(), thickness);
        for &(particle, start) in &held {
            let turn = Quat::from_rotation_x(angle * start.x.signum());
            let place = turn * Vec3::new(0.5 * length * start.x.signum(), start.y, start.z);
            if solver.is_pinned(particle)? {
                solver.set_target(particle, place.into())?;
            }
        }
        Ok(Vec::new())
    };
    let camera = Camera { target: Vec3::ZERO, distance: 1.15, yaw: 0.35, pitch: 0.35 };
    let mut demo = demo(scene, &[cloth], camera);
    demo.ground = -0.4;
    Ok(Setup {
        demo,
        level: SURFACES,
        pairs_per_particle: Some(128),
        contact_iterations: Some(8),
        // The cloth is thin relative to its spacing, and it rotates.
        margin: Some(2.0),
        gravity: Some([0.0; 3]),
        frames: ((0.5 * turns.abs() / TURN_RATE + 0.5 * RAMP) * 60.0) as u32 + 30,
        drive: Some(Box::new(drive)),
        check: Box::new(never_crossed),
        ..Setup::default()
    })
}

/// The width of the strip [m].
const WIDTH: f32 = 0.5;
/// Half the width of the clamped part of either end [m].
const GRIP: f32 = 0.04;
/// The rotation rate of either end [1/s].
const TURN_RATE: f32 = 0.5;
/// The time in which the grips reach this rate [s].
const RAMP: f32 = 1.0;

/// The length of the strip after its ends are rotated by `angle` [rad]. It winds up to a rope of the same volume, whose
/// outer fibres are helices of length 1 m. Their radius is larger than that of a tight rope.
fn twisted_length(angle: f32, thickness: f32) -> f32 {
    let mut length = 1f32;
    for _ in 0..50 {
        let radius = (WIDTH * thickness / (0.6 * std::f32::consts::PI * length)).sqrt();
        length = 0.5 * length + 0.5 * (1.0 - (1.15 * radius * angle).powi(2)).max(0.09).sqrt();
    }
    length
}

/// A small ball shot at a cloth that is pinned along its border.
pub fn bullet(arguments: &Arguments) -> anyhow::Result<Setup> {
    let [columns, rows] = arguments.columns(32);
    let mut scene = Scene::new();
    let cloth = scene.add_cloth_grid(&ClothGrid {
        columns,
        rows,
        origin: [-0.5, -0.5, 0.0],
        column_axis: [1.0, 0.0, 0.0],
        row_axis: [0.0, 1.0, 0.0],
        ..ClothGrid::default()
    })?;
    let spacing = 1.0 / (columns.max(rows) - 1) as f32;
    let material = arguments.material(&mut scene, SURFACES, spacing)?;
    scene.set_particle_contact(cloth.particles.clone(), material)?;
    for particle in cloth.particles.clone() {
        let [x, y, _] = scene.positions()[particle as usize];
        if x.abs().max(y.abs()) > 0.5 - 0.5 * spacing {
            scene.pin(particle)?;
        }
    }
    let lead = ContactMaterial { thickness: 2.0 * BULLET, friction: arguments.friction(0.5), ..Default::default() };
    let lead = scene.add_contact_material(lead)?;
    let position = [0.07, 0.04, 1.0];
    let velocity = [0.0, 0.0, -arguments.speed];
    let bullet = scene.add_particle(Particle { position, velocity, inverse_mass: 1.0 / arguments.mass })?;
    scene.set_particle_contact(bullet..bullet + 1, lead)?;
    let camera = Camera { target: Vec3::ZERO, distance: 1.9, yaw: 0.9, pitch: 0.25 };
    let mut demo = demo(scene, &[cloth], camera);
    demo.ground = -0.7;
    demo.balls = vec![(bullet, BULLET)];
    Ok(Setup {
        demo,
        level: SURFACES,
        // The margin is relative to the largest thickness, that of the bullet, which is many times that of the cloth.
        margin: Some(0.1),
        contact_iterations: Some(10),
        frames: 6,
        substeps: 60,
        measure: Box::new(move |positions| {
            let [x, y, z] = positions[bullet as usize];
            Figures::from_iter([("bullet".into(), json!([x, y, z]))])
        }),
        check: Box::new(|report| {
            let depth = report.figures["bullet"][2].as_f64();
            ensure!(depth > Some(-0.5), "the bullet is at {depth:?} m: it has passed");
            Ok(())
        }),
        ..Setup::default()
    })
}

/// The radius of the bullet [m].
const BULLET: f32 = 0.02;
