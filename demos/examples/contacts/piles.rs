//! Piles of cloth: on the ground, on a cylinder, in a bowl.

use crate::cloths::{PARTICLES, SURFACES, add, crossed, demo, never_crossed, sheet};
use crate::{Arguments, Setup};
use anyhow::ensure;
use glam::{Quat, Vec3};
use std::f32::consts::TAU;
use supple::{Cloth, Collider, ContactMaterialId, Pose, Scene, SelfCollisionLevel, Shape};
use supple_demos::camera::Camera;

/// A pile of cloths, each rotated against the one below.
fn pile(
    arguments: &Arguments,
    level: Option<SelfCollisionLevel>,
    columns: u32,
    count: u32,
    place: impl Fn(u32) -> Vec3,
) -> anyhow::Result<(Scene, Vec<Cloth>, ContactMaterialId)> {
    let [columns, rows] = arguments.columns(columns);
    let mut scene = Scene::new();
    let material = arguments.material(&mut scene, level, 1.0 / (columns.max(rows) - 1) as f32)?;
    let mut cloths = Vec::new();
    for index in 0..arguments.count.unwrap_or(count) {
        let cloth = scene.add_cloth_grid(&sheet(columns, rows, 1.0, place(index), 0.4 * index as f32))?;
        scene.set_particle_contact(cloth.particles.clone(), material)?;
        supple_demos::jitter(&mut scene, cloth.particles.clone(), 1e-4, arguments.options.seed)?;
        cloths.push(cloth);
    }
    Ok((scene, cloths, material))
}

/// Cloths of 1 m that fall on one another.
pub fn layers(arguments: &Arguments) -> anyhow::Result<Setup> {
    let place = |index: u32| Vec3::new(0.0, 0.1 + 0.08 * index as f32, 0.0);
    let (mut scene, cloths, material) = pile(arguments, PARTICLES, 96, 8, place)?;
    add(&mut scene, material, Collider::default())?;
    let camera = Camera { target: Vec3::new(0.0, 0.03, 0.0), distance: 1.9, yaw: 0.5, pitch: 0.5 };
    Ok(Setup {
        demo: demo(scene, &cloths, camera),
        margin: Some(0.3),
        pairs_per_particle: Some(32),
        check: Box::new(|report| {
            crossed(report)?;
            ensure!(report.lowest_point > -1e-4, "a cloth is below the ground: {} m", report.lowest_point);
            Ok(())
        }),
        ..Setup::default()
    })
}

/// Cloths of 1 m that fall on a lying capsule of 0.5 m diameter. With 50 cloths of 70 columns it has 245 000 vertices, the size of
/// the scene in Chen et al. 2025 (*Offset Geometric Contact*).
pub fn cylinder(arguments: &Arguments) -> anyhow::Result<Setup> {
    let place = |index: u32| Vec3::new(0.0, 0.28 + 0.02 * index as f32, 0.0);
    let (mut scene, cloths, material) = pile(arguments, SURFACES, 32, 6, place)?;
    let shape = Shape::Capsule { radius: 0.25, half_height: 1.0 };
    let pose = Pose { rotation: Quat::from_rotation_x(0.25 * TAU).into(), ..Pose::default() };
    add(&mut scene, material, Collider { shape, pose, ..Collider::default() })?;
    let camera = Camera { target: Vec3::new(0.0, 0.0, 0.0), distance: 2.3, yaw: 0.9, pitch: 0.35 };
    let mut demo = demo(scene, &cloths, camera);
    demo.ground = -0.6;
    Ok(Setup { demo, level: SURFACES, check: Box::new(never_crossed), ..Setup::default() })
}

/// Cloths of 1 m in a bowl: the inside of a two-sided sphere of 1 m radius.
pub fn bowl(arguments: &Arguments) -> anyhow::Result<Setup> {
    let place = |index: u32| Vec3::new(0.0, -0.45 + 0.05 * index as f32, 0.0);
    let (mut scene, cloths, material) = pile(arguments, PARTICLES, 48, 20, place)?;
    let shell = Collider::new(Shape::Sphere { radius: 1.0 }, [0.0; 3]);
    add(&mut scene, material, Collider { two_sided: true, ..shell })?;
    let camera = Camera { target: Vec3::new(0.0, -0.5, 0.0), distance: 2.9, yaw: 0.5, pitch: 0.7 };
    let mut demo = demo(scene, &cloths, camera);
    demo.ground = -1.0;
    Ok(Setup {
        demo,
        frames: 180,
        margin: Some(0.3),
        pairs_per_particle: Some(32),
        check: Box::new(|report| {
            crossed(report)?;
            let deepest = report.figures["deepest_penetration"].as_f64();
            ensure!(deepest.is_some_and(|value| value < 1e-4), "a cloth is {deepest:?} m outside the bowl");
            Ok(())
        }),
        ..Setup::default()
    })
}
