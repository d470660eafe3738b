//! Soft bodies in a funnel and on a slope.

use crate::{Arguments, Setup};
use anyhow::ensure;
use glam::{Quat, Vec3};
use serde_json::json;
use supple::{Collider, ContactMaterialId, Elasticity, Pose, Scene, Settings, Shape, SoftBody, SoftParts};
use supple_demos::camera::Camera;
use supple_demos::shapes::{Surface, icosphere, placed, rounded_cube};
use supple_demos::{Demo, Figures};

/// The edge of a lattice cube [m].
const SPACING: f32 = 0.05;

fn body(
    scene: &mut Scene,
    (positions, triangles): Surface,
    (young, damping_time): (f32, f32),
    contact: ContactMaterialId,
) -> supple::Result<SoftParts> {
    let elasticity = Elasticity::Elastic { young, bulk: young, damping_time };
    let soft = SoftBody { positions: &positions, triangles: &triangles, spacing: SPACING, density: 200.0, elasticity };
    let parts = scene.add_soft_body(&soft)?;
    scene.set_particle_contact(parts.particles.clone(), contact)?;
    Ok(parts)
}

/// Balls that fall through a funnel of four boards.
pub fn funnel(arguments: &Arguments) -> anyhow::Result<Setup> {
    let mut scene = Scene::new();
    let mut arguments = arguments.clone();
    arguments.friction.get_or_insert(0.1);
    // With a smaller thickness the lattices interlock.
    arguments.thickness.get_or_insert(SPACING);
    let material = arguments.material(&mut scene, None, SPACING)?;
    let mut tints = Vec::new();
    let mut edges = 0..0;
    let mut lattices = Vec::new();
    for index in 0..arguments.count.unwrap_or(12) {
        let (layer, place) = (index / 4, index % 4);
        let angle = (place as f32 + 0.3 * layer as f32) * std::f32::consts::FRAC_PI_2;
        let middle = Vec3::new(0.24 * angle.cos(), 0.75 + 0.3 * layer as f32, 0.24 * angle.sin());
        let surface = placed(icosphere(3, 0.12), Quat::IDENTITY, middle);
        let parts = body(&mut scene, surface, (2e4, 2e-3), material)?;
        edges.end = parts.edges.end;
        let color = [[0.03, 0.12, 0.30], [0.45, 0.12, 0.02], [0.10, 0.28, 0.06]][layer as usize % 3];
        tints.push((parts.surface.clone(), color));
        lattices.push(parts.particles);
    }
    // Boards that lean outwards and leave a gap.
    for side in 0..4 {
        let around = Quat::from_rotation_y(side as f32 * std::f32::consts::FRAC_PI_2);
        let lean = around * Quat::from_rotation_z(0.8);
        let half_extents = [0.5, 0.02, 0.75];
        let position = around * Vec3::new(0.30, 0.25, 0.0) + lean * Vec3::new(0.5, -0.02, 0.0);
        let pose = Pose { position: position.into(), rotation: lean.to_array() };
        scene.add_collider(Collider { pose, material, ..Collider::new(Shape::Box { half_extents }, [0.0; 3]) })?;
    }
    scene.add_collider(Collider { material, ..Collider::new(Shape::HalfSpace, [0.0, -0.35, 0.0]) })?;
    let demo = Demo {
        title: "contacts",
        edges,
        tints,
        camera: Camera { target: Vec3::new(0.0, 0.3, 0.0), distance: 3.2, yaw: 0.4, pitch: 0.75 },
        ground: -0.35,
        scene,
        ..Demo::default()
    };
    let passed = move |positions: &[[f32; 3]]| {
        let below =
            |lattice: &std::ops::Range<u32>| lattice.clone().all(|particle| positions[particle as usize][1] < 0.25);
        Figures::from_iter([("passed".into(), json!(lattices.iter().filter(|lattice| below(lattice)).count()))])
    };
    Ok(Setup {
        demo,
        frames: 180,
        // The search lists all near pairs, including those within one body.
        margin: Some(0.3),
        measure: Box::new(passed),
        check: Box::new(|report| {
            let deepest = report.figures["deepest_penetration"].as_f64();
            ensure!(deepest.is_some_and(|value| value < 1e-3), "a body is {deepest:?} m inside");
            Ok(())
        }),
        ..Setup::default()
    })
}

/// A block on an inclined plane: it sticks for tan α < μ, else it slides with g (sin α − μ cos α).
pub fn incline(arguments: &Arguments) -> anyhow::Result<Setup> {
    let mut scene = Scene::new();
    let material = arguments.material(&mut scene, None, SPACING)?;
    let friction = scene.contact_material(material)?.friction.kinetic;
    let radius = 0.5 * scene.contact_material(material)?.thickness;
    let angle = arguments.angle.to_radians();
    let turn = Quat::from_rotation_z(-angle);
    let (mut positions, triangles) = rounded_cube(4, 0.4);
    // Flat, so that it does not tip over on a steep slope.
    positions.iter_mut().for_each(|position| position[1] *= 0.5);
    // Strongly damped, because an oscillating block slips when its normal force is low.
    let parts = body(&mut scene, (positions, triangles), (2e5, 1e-2), material)?;
    // Rotated after the lattice is built, so that the lattice is aligned with the slope.
    for particle in parts.particles.clone() {
        let place = turn * Vec3::from(scene.positions()[particle as usize]);
        scene.set_position(particle, place.into())?;
    }
    let normal = turn * Vec3::Y;
    let height = |particle: u32, scene: &Scene| Vec3::from(scene.positions()[particle as usize]).dot(normal);
    let lowest = parts.particles.clone().map(|particle| height(particle, &scene)).fold(f32::INFINITY, f32::min);
    let foot = normal * (lowest - radius);
    let half_space = Collider::half_space(foot.into(), normal.into())?;
    scene.add_collider(Collider { material, ..half_space })?;
    let middle = {
        let particles = parts.particles.clone();
        move |positions: &[[f32; 3]]| {
            let sum: Vec3 = particles.clone().map(|particle| Vec3::from(positions[particle as usize])).sum();
            sum / particles.len() as f32
        }
    };
    let start = middle(scene.positions());
    let frames = if crate::is_given("--frames") { arguments.options.frames } else { 60 };
    let seconds = frames as f32 * Settings::default().dt;
    let expected = 9.81 * (angle.sin() - friction * angle.cos()).max(0.0) * 0.5 * seconds * seconds;
    let demo = Demo {
        title: "contacts",
        edges: parts.edges,
        tints: vec![(parts.surface, [0.45, 0.12, 0.02])],
        camera: Camera { target: Vec3::new(0.3, -0.2, 0.0), distance: 2.6, yaw: 0.3, pitch: 0.25 },
        ground: -1.2,
        scene,
        ..Demo::default()
    };
    Ok(Setup {
        demo,
        frames,
        level: None,
        measure: Box::new(move |positions| {
            let slid = (middle(positions) - start).dot(turn * Vec3::X);
            Figures::from_iter([("slid".into(), json!(slid)), ("expected_slide".into(), json!(expected))])
        }),
        check: Box::new(move |report| {
            let slid = report.figures["slid"].as_f64().unwrap_or(f64::NAN);
            let expected = f64::from(expected);
            ensure!((slid - expected).abs() < 0.03 + 0.1 * expected, "it has slid {slid} m, not {expected} m");
            Ok(())
        }),
        ..Setup::default()
    })
}
