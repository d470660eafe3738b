//! Attachments: the GPU equals the reference bit for bit, in every execution.

use crate::common;
use crate::common::{Pair, change, hanging_cloth, is_exact};
use supple::{
    Attachment, AttachmentTarget, ClothGrid, Collider, ColliderId, Cord, Execution, Material, Particle, ParticlePoint,
    Pose, Reference, Rope, Scene, SelfCollision, Settings, Shape, Sweep,
};

/// A cloth, a rope on a triangle of it, and weights on a moving box, in space and on strings between each other.
fn mixed() -> (Scene, ColliderId) {
    let (mut scene, cloth) = hanging_cloth(12, 9);
    let first = cloth.particles.start;
    let triangle = [first + 50, first + 51, first + 63];
    let on_cloth = ParticlePoint::Triangle(triangle, [0.2, 0.5, 0.3]);
    let [x, y, z] = scene.positions()[triangle[1] as usize];
    let points: Vec<[f32; 3]> = (0..6).map(|k| [x, y - 0.1 * k as f32, z]).collect();
    let cord = Cord { linear_density: 0.1, axial_stiffness: 1e4, damping: 0.0, bend: None, flexural_rigidity: 0.0 };
    let rope = scene.add_rope(&Rope { points: &points, cord, tethers: None }).unwrap();
    let top = ParticlePoint::Particle(rope.particles.start);
    scene.add_attachment(Attachment::new(top, AttachmentTarget::Particles(on_cloth))).unwrap();
    let pose = Pose { position: [3.0, 0.2, 0.1], rotation: [0.1, 0.2, 0.3, 0.927] };
    let shape = Shape::Box { half_extents: [0.2; 3] };
    let id = scene.add_collider(Collider { pose, shape, ..Collider::default() }).unwrap();
    for k in 0..20 {
        let position = [2.5 + 0.07 * k as f32, 0.9 + 0.03 * (k % 3) as f32, 0.05 * k as f32 - 0.4];
        let particle = scene.add_particle(Particle { position, inverse_mass: 3.0, ..Particle::default() }).unwrap();
        let point = ParticlePoint::Particle(particle);
        let chain = ParticlePoint::Edge([particle, particle.saturating_sub(1)], [0.3, 0.7]);
        let target = match k % 4 {
            0 => AttachmentTarget::Space([3.0, 1.2, 0.0]),
            1 => AttachmentTarget::Collider { id, point: [0.25, 0.03 * k as f32, -0.2] },
            2 => AttachmentTarget::Particles(ParticlePoint::Edge([particle - 1, particle - 2], [0.4, 0.6])),
            _ => AttachmentTarget::Particles(on_cloth),
        };
        let material = Material { compliance: 1e-4 * (k % 3) as f32, damping: 20.0, ..Material::RIGID };
        let rest_length = 0.3 * (k % 2) as f32;
        let own = if k > 0 && k % 5 == 0 { chain } else { point };
        let attachment = Attachment { material, rest_length, only_pull: k % 6 == 1, ..Attachment::new(own, target) };
        scene.add_attachment(attachment).unwrap();
    }
    scene.reserve_attachments(30).unwrap();
    (scene, id)
}

#[test]
fn attachments_agree_in_every_execution() {
    let gpu = common::gpu();
    let (scene, collider) = mixed();
    let pose = Pose { position: [3.1, 0.25, 0.0], rotation: [0.0, 0.3, 0.3, 0.9055] };
    let base = Settings { substeps: 4, ..Settings::default() };
    for (what, settings) in [
        ("colours", Settings { execution: Execution::Colors, iterations: 3, ..base }),
        ("tiles", Settings { execution: Execution::Tiles, ..base }),
        ("clusters", Settings { execution: Execution::Clusters, iterations: 2, ..base }),
        ("mass splitting", Settings { sweep: Sweep::Jacobi, ..base }),
        ("contacts", Settings { self_collision: Some(SelfCollision::surfaces()), ..base }),
    ] {
        let mut pair = Pair::new(&gpu, &scene, settings);
        pair.run(4, 1e-4, what);
        change!(pair, move_collider(collider, pose));
        pair.run(2, 1e-4, what);
        // Attached, moved and released while running.
        let target = AttachmentTarget::Space([0.0, -0.5, 0.0]);
        let attachment = Attachment { rest_length: 0.2, ..Attachment::new(ParticlePoint::Particle(40), target) };
        let ids = [pair.solver.attach(attachment).unwrap(), pair.reference.attach(attachment).unwrap()];
        assert_eq!(ids[0], ids[1]);
        change!(pair, move_attachment(ids[0], [0.2, -0.4, 0.1]));
        pair.run(2, 1e-4, what);
        let forces = [pair.solver.read_attachments().unwrap(), pair.reference.read_attachments().unwrap()];
        assert_eq!(forces[0].len(), 22);
        if is_exact(&gpu) {
            assert_eq!(forces[0], forces[1], "{what}");
            let forces = [pair.solver.read_collider_forces().unwrap(), pair.reference.read_collider_forces().unwrap()];
            assert!(forces[0][0].torque[0] != 0.0, "{forces:?}");
            assert_eq!(forces[0], forces[1], "{what}");
        }
        change!(pair, release_attachment(ids[0]));
        change!(pair, remove_collider(collider));
        assert_eq!(pair.solver.read_attachments().unwrap().len(), 16);
        pair.run(2, 1e-4, what);
    }
}

/// A list of attachments with a gap among the free indices gives the state of single calls. An invalid list changes nothing.
#[test]
fn attachments_added_at_once_equal_those_added_one_by_one() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let grid = ClothGrid { columns: 6, rows: 6, tethers: None, ..ClothGrid::default() };
    scene.add_cloth_grid(&grid).unwrap();
    let hook = |particle: u32| {
        let target = AttachmentTarget::Space([0.1 * particle as f32, 0.2, 0.0]);
        Attachment { material: Material::compliant(1e-3), ..Attachment::new(ParticlePoint::Particle(particle), target) }
    };
    let first = [hook(0), hook(5), hook(30)].map(|own| scene.add_attachment(own).unwrap());
    scene.reserve_attachments(8).unwrap();
    let settings = Settings { substeps: 4, ..Settings::default() };
    let mut pair = Pair::new(&gpu, &scene, settings);
    let mut single = Reference::new(&scene, settings).unwrap();
    pair.run(1, 1e-4, "before");
    single.step(1);
    change!(pair, release_attachment(first[1]));
    single.release_attachment(first[1]).unwrap();
    let more = [hook(35), hook(14), hook(21)];
    let wrong = [more[0], hook(99)];
    for error in [pair.solver.attach_all(&wrong).unwrap_err(), pair.reference.attach_all(&wrong).unwrap_err()] {
        assert!(error.to_string().contains("attachment 3") && error.to_string().contains("99"), "{error}");
    }
    let many = [hook(7); 7];
    let error = pair.solver.attach_all(&many).unwrap_err().to_string();
    assert!(error.contains('9') && error.contains('8'), "{error}");
    assert_eq!(pair.solver.read_attachments().unwrap().len(), 2);
    assert!(pair.solver.attach_all(&[]).unwrap().is_empty());
    let ids = [pair.solver.attach_all(&more).unwrap(), pair.reference.attach_all(&more).unwrap()];
    assert_eq!(ids[0], ids[1]);
    assert_eq!(ids[0], more.map(|own| single.attach(own).unwrap()));
    assert_eq!(ids[0].iter().map(|id| id.index()).collect::<Vec<_>>(), [1, 3, 4]);
    pair.run(3, 1e-4, "after");
    single.step(3);
    assert_eq!(pair.reference.read_positions().unwrap(), single.read_positions().unwrap());
}
