//! Truncated displacements.

use crate::common::shapes::{CUBE, cube_corners};
use supple::{
    ClothGrid, ContactMaterial, ContactMaterialId, Elasticity, Material, Reference, Scene, SelfCollision, Settings,
    SoftBody,
};

/// A rigid box hits four free sheets of about a ninth of its mass, so fast that truncation stops them at each other.
/// Truncation is relative to the center of mass, so that the bodies keep their momentum together.
#[test]
fn a_fast_box_and_the_sheets_that_it_hits_keep_their_momentum() {
    for (speed, flight) in [(20.0, 0.0), (50.0, 0.0), (20.0, 30.0)] {
        let mut scene = Scene::new();
        let material = ContactMaterial { thickness: 0.006, ..ContactMaterial::default() };
        scene.set_contact_material(ContactMaterialId::default(), material).unwrap();
        for sheet in 0..4 {
            let at = sheet as f32;
            let grid = ClothGrid {
                columns: 10,
                rows: 10,
                origin: [-0.135 + 0.003 * at, 0.0078 * (at + 0.5), -0.135 + 0.0041 * at],
                column_axis: [0.27, 0.0, 0.0],
                row_axis: [0.0, 0.0, 0.27],
                tethers: None,
                ..ClothGrid::default()
            };
            scene.add_cloth_grid(&grid).unwrap();
        }
        let positions = cube_corners([0.0, 0.115, 0.0], 0.05);
        let elasticity = Elasticity::Rigid { shape: Material::RIGID };
        let body = SoftBody { positions: &positions, triangles: &CUBE, spacing: 0.025, density: 500.0, elasticity };
        let body = scene.add_soft_body(&body).unwrap().particles;
        // The followers of the surface of the box have no velocity of their own.
        for particle in 0..body.end {
            let down = if body.contains(&particle) { -speed } else { 0.0 };
            scene.set_velocity(particle, [flight, down, 0.0]).unwrap();
        }
        let settings =
            Settings { gravity: [0.0; 3], self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
        let mut reference = Reference::new(&scene, settings).unwrap();
        let masses: Vec<f64> =
            scene.inverse_masses()[..body.end as usize].iter().map(|&w| 1.0 / f64::from(w)).collect();
        // Momentum, and the energy relative to the flight.
        let state = |reference: &Reference| {
            let v = reference.read_velocities().unwrap();
            let sum = |of: &dyn Fn([f64; 3]) -> f64| {
                v.iter().zip(&masses).map(|(v, m)| m * of(v.map(f64::from))).sum::<f64>()
            };
            let p = [0, 1, 2].map(|k| sum(&|v| v[k]));
            (p, sum(&|[x, y, z]| 0.5 * ((x - f64::from(flight)).powi(2) + y * y + z * z)))
        };
        let (before, energy_before) = state(&reference);
        reference.step(6);
        let (after, energy) = state(&reference);
        let report = reference.read_contacts().unwrap();
        let text = format!("{speed} m/s: {before:?} -> {after:?} kg m/s, {energy_before} -> {energy} J, {report:?}");
        println!("{text}");
        assert!(report.truncated > 500 && report.crossings == Some(0), "{text}");
        for k in 0..3 {
            assert!((after[k] - before[k]).abs() < 0.1 * before[1].abs(), "{text}");
        }
        assert!(energy < 1.05 * energy_before, "{text}");
    }
}
