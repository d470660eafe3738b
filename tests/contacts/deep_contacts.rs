//! The report of self-collision: contacts deeper than half their thickness.

use crate::common;
use crate::common::is_exact;
use supple::{
    ClothGrid, Collider, ContactMaterial, ContactMaterialId, Particle, Reference, Scene, SelfCollision, Settings,
};

/// A ball on two sheets that lie on the ground.
fn ball_on_sheets(mass: f32) -> Scene {
    let mut scene = Scene::new();
    let own = ContactMaterial { thickness: 0.02, ..ContactMaterial::default() };
    scene.set_contact_material(ContactMaterialId::default(), own).unwrap();
    for height in [0.01, 0.03] {
        let grid = ClothGrid {
            columns: 5,
            rows: 5,
            origin: [-0.06, height, -0.06],
            column_axis: [0.12, 0.0, 0.0],
            row_axis: [0.0, 0.0, 0.12],
            ..ClothGrid::default()
        };
        scene.add_cloth_grid(&grid).unwrap();
    }
    let position = [0.0, 0.05, 0.0];
    scene.add_particle(Particle { position, inverse_mass: 1.0 / mass, ..Particle::default() }).unwrap();
    scene.add_collider(Collider::default()).unwrap();
    scene
}

#[test]
fn a_heavy_ball_reports_deep_contacts_and_a_light_one_does_not() {
    let gpu = common::gpu();
    for own in [SelfCollision::default(), SelfCollision::surfaces()] {
        for mass in [0.001, 1.0] {
            let settings = Settings { self_collision: Some(own), ..Settings::default() };
            let found = common::backends(&gpu, &ball_on_sheets(mass), settings).map(|mut backend| {
                backend.step(20);
                let report = backend.read_contacts().unwrap();
                println!("{}: {mass} kg: {report:?}", backend.name());
                assert_eq!(report.deep_contacts > 0, mass == 1.0, "{}: {mass} kg: {report:?}", backend.name());
                assert_eq!(report.deep_contacts > 0, report.deepest > 0.01, "{report:?}");
                report
            });
            assert!(!is_exact(&gpu) || found[0] == found[1], "{found:?}");
        }
    }
}

/// The documentation of `deep_contacts` recommends this.
#[test]
fn more_iterations_and_substeps_mend_deep_contacts() {
    for (iterations, substeps, is_deep) in [(6, 20, true), (24, 20, false), (12, 60, false)] {
        let own = SelfCollision { iterations: Some(iterations), ..SelfCollision::surfaces() };
        let settings = Settings { self_collision: Some(own), substeps, ..Settings::default() };
        let mut reference = Reference::new(&ball_on_sheets(0.05), settings).unwrap();
        reference.step(30);
        let report = reference.read_contacts().unwrap();
        println!("{iterations} iterations, {substeps} substeps: {report:?}");
        assert_eq!(report.deep_contacts > 0, is_deep, "{iterations} iterations, {substeps} substeps: {report:?}");
    }
}
