//! Cloth over the edges of colliders comes to rest and has the friction of a rope on a drum.

use std::f32::consts::FRAC_PI_2;
use supple::scene::Bending;
use supple::{
    ClothGrid, Collider, ContactMaterial, ContactMaterialId, Fabric, Friction, Reference, Scene, Settings, Shape,
};

fn material(scene: &mut Scene, thickness: f32, friction: f32) -> ContactMaterialId {
    let friction = Friction::coulomb(friction);
    scene.add_contact_material(ContactMaterial { thickness, friction, ..ContactMaterial::default() }).unwrap()
}

fn speeds(reference: &Reference) -> Vec<f32> {
    let length = |v: [f32; 3]| v.iter().map(|v| v * v).sum::<f32>().sqrt();
    reference.read_velocities().unwrap().into_iter().map(length).collect()
}

/// A square of 0.4 m falls on a box with a side of 0.24 m, `at` metres from the origin on each axis.
fn cloth_over_a_box(at: f32) -> Scene {
    let mut scene = Scene::new();
    let own = material(&mut scene, 0.005, 0.5);
    let shape = Shape::Box { half_extents: [0.12; 3] };
    scene.add_collider(Collider { material: own, ..Collider::new(shape, [at, at - 0.12, at]) }).unwrap();
    let grid = ClothGrid {
        columns: 16,
        rows: 16,
        origin: [at - 0.2, at + 0.0035, at - 0.2],
        column_axis: [0.4, 0.0, 0.0],
        row_axis: [0.0, 0.0, 0.4],
        fabric: Fabric::COTTON,
        tethers: None,
    };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    scene.set_particle_contact(cloth.particles, own).unwrap();
    scene
}

#[test]
fn a_cloth_over_a_box_comes_to_rest() {
    for at in [0.0, 100.0] {
        let settings = Settings { damping: 0.5, ..Settings::default() };
        let mut reference = Reference::new(&cloth_over_a_box(at), settings).unwrap();
        reference.step(300);
        let speeds = speeds(&reference);
        let fastest = speeds.iter().copied().fold(0.0, f32::max);
        let mean = (speeds.iter().map(|speed| speed * speed).sum::<f32>() / speeds.len() as f32).sqrt();
        println!("{at} m: {fastest} m/s, root mean square {mean} m/s");
        assert!(fastest < 5e-3 && mean < 1e-3, "{at} m: {fastest} m/s, root mean square {mean} m/s");
    }
}

/// A limp strip lies on a table and hangs over its edge, around a quarter of a circle. It slides if the ratio of the hanging to the
/// lying length exceeds µ exp(µ π/2) (Euler 1769, capstan).
#[test]
fn a_strip_over_a_table_edge_slides_beyond_its_friction() {
    const FRICTION: f32 = 0.3;
    const COLUMNS: u32 = 61;
    const CELL: f32 = 0.01;
    const THICKNESS: f32 = 0.01;
    let most = FRICTION * (FRICTION * FRAC_PI_2).exp();
    let moved = |ratio: f32| {
        let mut scene = Scene::new();
        let own = material(&mut scene, THICKNESS, 3.0);
        let shape = Shape::Box { half_extents: [0.5; 3] };
        scene.add_collider(Collider { material: own, ..Collider::new(shape, [-0.5, -0.5, 0.0]) }).unwrap();
        let length = CELL * (COLUMNS - 1) as f32;
        let (r, arc) = (0.5 * THICKNESS, 0.5 * THICKNESS * FRAC_PI_2);
        let lying = (length - arc) / (1.0 + ratio);
        let place = |along: f32| match along - lying {
            u if u < 0.0 => [u, r],
            u if u < arc => [r * (u / r).sin(), r * (u / r).cos()],
            u => [r, arc - u],
        };
        let fabric = Fabric { bending: Bending::None, ..Fabric::default() };
        let (origin, column_axis, row_axis) = ([0.0, 0.0, -CELL], [length, 0.0, 0.0], [0.0, 0.0, 2.0 * CELL]);
        let grid = ClothGrid { columns: COLUMNS, rows: 3, origin, column_axis, row_axis, fabric, tethers: None };
        let strip = scene.add_cloth_grid(&grid).unwrap().particles;
        scene.set_particle_contact(strip.clone(), own).unwrap();
        for particle in strip {
            let [x, y] = place(CELL * (particle % COLUMNS) as f32);
            scene.set_position(particle, [x, y, ((particle / COLUMNS) as f32 - 1.0) * CELL]).unwrap();
        }
        // It stretches while friction holds it.
        let mut reference = Reference::new(&scene, Settings { damping: 5.0, ..Settings::default() }).unwrap();
        reference.step(90);
        let before = reference.read_positions().unwrap()[0][0];
        let friction = Friction::coulomb(FRICTION);
        reference
            .set_contact_material(own, ContactMaterial { thickness: THICKNESS, friction, ..ContactMaterial::default() })
            .unwrap();
        reference.set_settings(Settings::default()).unwrap();
        reference.step(120);
        reference.read_positions().unwrap()[0][0] - before
    };
    // Its end moves by some millimetres before friction holds it.
    for share in [0.5, 0.7, 0.9] {
        let moved = moved(share * most);
        assert!(moved < 0.012, "at {share} of the limit: {moved} m");
    }
    // A row of particles that lies on the edge holds the strip a little longer.
    for share in [1.35, 1.65] {
        let moved = moved(share * most);
        assert!(moved > 0.1, "at {share} of the limit: {moved} m");
    }
}
