//! The scenes of the page.

use crate::common::Demo;
use crate::common::camera::Camera;
use crate::common::hung::{breeze, hung_cloth};
use glam::Vec3;
use supple::{ClothGrid, Collider, ContactMaterial, Fabric, Friction, Scene, SelfCollision, Settings, Shape, Sweep};

/// Substeps of a step of 1/60 s.
const SUBSTEPS: u32 = 20;

/// A scene by its name on the page, with a cloth of `columns` × `columns` particles.
pub fn named(name: &str, columns: u32) -> supple::Result<Option<Demo>> {
    match name {
        "hung" => hung(columns).map(Some),
        "draped" => draped(columns).map(Some),
        _ => Ok(None),
    }
}

/// A cloth that hangs by two corners in the wind.
fn hung(columns: u32) -> supple::Result<Demo> {
    let settings = Settings { substeps: SUBSTEPS, wind: Some(breeze(2.0)), ..Settings::default() };
    hung_cloth(&ClothGrid { columns, rows: columns, ..ClothGrid::default() }, 3, settings)
}

/// A cloth that falls on a ball and collides with itself.
fn draped(columns: u32) -> supple::Result<Demo> {
    let spacing = 2.0 / (columns - 1) as f32;
    let mut scene = Scene::new();
    let material =
        ContactMaterial { thickness: 1.2 * spacing, friction: Friction::coulomb(0.3), ..ContactMaterial::default() };
    let material = scene.add_contact_material(material)?;
    scene.add_collider(Collider { material, ..Collider::new(Shape::Sphere { radius: 0.5 }, [0.0, -0.5, 0.0]) })?;
    scene.add_collider(Collider { material, ..Collider::new(Shape::HalfSpace, [0.0, -1.0, 0.0]) })?;
    let grid = ClothGrid {
        columns,
        rows: columns,
        origin: [-1.0, 0.05, -1.0],
        fabric: Fabric::COTTON,
        tethers: None,
        ..ClothGrid::default()
    };
    let cloth = scene.add_cloth_grid(&grid)?;
    scene.set_particle_contact(cloth.particles.clone(), material)?;
    let texture = scene.positions().iter().map(|&[x, _, z]| [x, z]).collect();
    let settings = Settings {
        substeps: SUBSTEPS,
        sweep: Sweep::GaussSeidel,
        damping: 0.5,
        self_collision: Some(SelfCollision::default()),
        ..Settings::default()
    };
    Ok(Demo {
        title: "draped",
        settings,
        edges: cloth.structural,
        camera: Camera { target: Vec3::new(0.0, -0.55, 0.0), distance: 3.4, yaw: 0.6, pitch: 0.45 },
        ground: -1.0,
        texture,
        scene,
        ..Demo::default()
    })
}
