//! A shirt on a body of capsules.

use crate::cloths::{SURFACES, add, crossed, demo};
use crate::shirt_mesh::{self, HALF_WIDTH, body, lift};
use crate::{Arguments, Setup};
use anyhow::ensure;
use glam::Vec3;
use serde_json::json;
use supple::{ClothMesh, Collider, Fabric, Scene, Solver};
use supple_demos::Figures;
use supple_demos::camera::Camera;

/// A shirt that falls on the shoulders of a body of capsules, whose arms then swing up and down. `--columns` is the number
/// of cells across the shirt, and is rounded to an even one.
pub fn shirt(arguments: &Arguments) -> anyhow::Result<Setup> {
    let [columns, _] = arguments.columns(26);
    let mut scene = Scene::new();
    let surface = shirt_mesh::shirt(2.0 * HALF_WIDTH / columns as f32);
    let mesh = ClothMesh { positions: &surface.0, triangles: &surface.1, fabric: Fabric::COTTON, tethers: None };
    let cloth = scene.add_cloth_mesh(&mesh)?;
    let mut arguments = arguments.clone();
    arguments.thickness.get_or_insert(0.005);
    arguments.friction.get_or_insert(0.3);
    let material = arguments.material(&mut scene, SURFACES, 0.0)?;
    scene.set_particle_contact(cloth.particles.clone(), material)?;
    let mut ids = Vec::new();
    for collider in body(0.0) {
        ids.push(add(&mut scene, material, collider)?);
    }
    let triangles = scene.triangles().to_vec();
    let frames = arguments.frames(150);
    let mut demo =
        demo(scene, &[cloth], Camera { target: Vec3::new(0.0, 1.2, 0.0), distance: 1.7, yaw: 0.35, pitch: 0.1 });
    demo.ground = 0.5;
    let drive = move |solver: &mut Solver, step: u32| {
        let poses = body(lift((step + 1) as f32 / 60.0)).map(|collider| collider.pose);
        let moved: Vec<_> = ids.iter().copied().zip(poses).collect();
        moved.iter().try_for_each(|&(id, pose)| solver.move_collider(id, pose))?;
        Ok(moved.into_iter().map(|(id, pose)| (id.index(), pose)).collect())
    };
    let measure = move |positions: &[[f32; 3]]| {
        let nearest = nearest(&triangles, positions, &body(lift(frames as f32 / 60.0)));
        Figures::from_iter([("nearest_to_body".into(), json!(nearest))])
    };
    Ok(Setup {
        demo,
        level: SURFACES,
        frames,
        damping: 1.0,
        drive: Some(Box::new(drive)),
        measure: Box::new(measure),
        check: Box::new(|report| {
            crossed(report)?;
            let nearest = report.figures["nearest_to_body"].as_f64().unwrap_or(f64::NAN);
            ensure!(nearest > 0.0, "the body comes through the shirt: {nearest} m");
            ensure!(report.lowest_point > 0.6, "the shirt has slipped down to {} m", report.lowest_point);
            Ok(())
        }),
        ..Setup::default()
    })
}

/// The least distance of ten points of each triangle from capsules and spheres [m].
fn nearest(triangles: &[[u32; 3]], positions: &[[f32; 3]], body: &[Collider]) -> f32 {
    let points = triangles.iter().flat_map(|triangle| {
        let [a, b, c] = triangle.map(|i| Vec3::from(positions[i as usize]));
        (0..=3)
            .flat_map(move |i| (0..=3 - i).map(move |j| [i, j, 3 - i - j]))
            .map(move |[i, j, k]| (i as f32 * a + j as f32 * b + k as f32 * c) / 3.0)
    });
    points.flat_map(|point| body.iter().map(move |part| distance(part, point))).fold(f32::INFINITY, f32::min)
}

fn distance(part: &Collider, point: Vec3) -> f32 {
    supple_demos::colliders::signed_distance(part, &part.pose, point.into()).map_or(f32::INFINITY, |d| d as f32)
}
