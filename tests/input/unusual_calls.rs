//! Calls at the edges of the API: empty and reversed ranges, particles in reserve, followers, calls before the first step.

use crate::common;
use crate::common::{Pair, gpu};
use supple::constraints::Kind;
use supple::{
    Attachment, AttachmentTarget, BendTwist, ClothGrid, ClothMesh, ContactScale, Cord, Distance, Elasticity, Error,
    Execution, Fabric, JointWeights, Material, Particle, ParticlePoint, Plasticity, Reference, Rod, RodMaterial, Rope,
    Scene, SelfCollision, Settings, Skinned, SkinnedLimits, SkinnedMesh, SkinnedPose, Tearing, TetMesh, Tethers,
};

fn rope() -> (Scene, std::ops::Range<u32>) {
    let mut scene = Scene::new();
    let points = [[0.0; 3], [0.5, 0.0, 0.0], [1.0, 0.0, 0.0]];
    let rope = scene.add_rope(&Rope { points: &points, cord: Cord::NYLON, tethers: None }).unwrap();
    (scene, rope.particles)
}

fn tearable() -> (Scene, supple::Cloth) {
    let mut scene = Scene::new();
    let fabric = Fabric { tearing: Some(Tearing::at(0.1)), ..Fabric::default() };
    let grid = ClothGrid { columns: 3, rows: 3, fabric, tethers: None, ..ClothGrid::default() };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    (scene, cloth)
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "the calls under test")]
fn empty_and_reversed_ranges_change_nothing() {
    let gpu = gpu();
    let (mut scene, _) = rope();
    let settings = Settings { self_collision: Some(SelfCollision::default()), ..Settings::default() };
    let mut unchanged = common::solver(&gpu, &scene, settings);
    for range in [1..1, 2..1, 3..3] {
        assert_eq!(scene.strain(range.clone(), scene.positions()).unwrap().max, 0.0);
        scene.set_plasticity::<Distance>(range, Plasticity { yield_strain: 0.0, ..Plasticity::default() }).unwrap();
    }
    let mut solver = common::solver(&gpu, &scene, settings);
    let mut reference = Reference::new(&scene, settings).unwrap();
    solver.step(1);
    reference.step(1);
    for range in [1..1, 2..1, 3..3] {
        solver.set_contact_scales(range.clone(), &[]).unwrap();
        reference.set_contact_scales(range, &[]).unwrap();
    }
    solver.step(1);
    reference.step(1);
    unchanged.step(2);
    assert_eq!(solver.read_positions().unwrap(), unchanged.read_positions().unwrap());
    assert_eq!(solver.read_contacts().unwrap(), unchanged.read_contacts().unwrap());
    assert_eq!(solver.read_contacts().unwrap().searches, reference.read_contacts().unwrap().searches);
    solver.set_contact_scales(0..1, &[ContactScale::default()]).unwrap();
    for range in [1..1, 2..1, 4..4] {
        solver.set_contact_scales(range, &[]).unwrap();
    }
}

#[test]
fn the_compliance_of_a_cloth_beside_a_rod_can_be_scaled() {
    let (mut scene, particles) = rope();
    let points = [[0.0, 1.0, 0.0], [0.1, 1.0, 0.0], [0.2, 1.0, 0.0]];
    let material = RodMaterial::round(0.005, 1e6, 0.3, 1000.0);
    scene.add_rod(&Rod::new(&points, material)).unwrap();
    assert!(scene.constraint_count_of(BendTwist::INFO) > 0);
    scene.scale_compliance(particles, &[2.0; 3]).unwrap();
}

#[test]
fn a_body_with_an_invalid_damping_time_adds_nothing() {
    let positions = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for elasticity in [
        Elasticity::NeoHookean { young: 1e5, poisson_ratio: 0.3, damping_time: 1e20 },
        Elasticity::Elastic { young: 1e5, bulk: 1e5, damping_time: f32::INFINITY },
    ] {
        let mut scene = Scene::new();
        let body = TetMesh { positions: &positions, tetrahedra: &[[0, 1, 2, 3]], density: 1000.0, elasticity };
        let error = scene.add_tetrahedra(&body).unwrap_err().to_string();
        assert!(error.contains("damping time"), "{error}");
        assert_eq!((scene.particle_count(), scene.bodies().len()), (0, 0));
    }
}

#[test]
fn an_unchecked_skinned_mesh_is_an_error() {
    let mesh = SkinnedMesh {
        positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        normals: vec![[0.0, 0.0, 1.0]; 3],
        triangles: vec![[0, 1, 9]],
        weights: vec![JointWeights::rigid(u32::MAX); 3],
    };
    let error = mesh.weights_at(&[[0.0; 3]]).unwrap_err().to_string();
    assert!(error.contains("triangle 0") && error.contains('9'), "{error}");
    assert_eq!(mesh.capsules(), []);
    let mesh = SkinnedMesh { triangles: vec![[0, 1, 2]], ..mesh };
    assert!(mesh.weights_at(&[[f32::NAN; 3]]).unwrap_err().to_string().contains("point 0"));
    let short = SkinnedMesh { weights: vec![JointWeights::rigid(0); 2], ..mesh.clone() };
    assert!(short.weights_at(&[[0.0; 3]]).is_err());
    let no_joint = SkinnedMesh { weights: vec![JointWeights::rigid(0); 3], ..mesh };
    assert!(matches!(no_joint.checked(0), Err(Error::IndexOutOfRange { target: "joint", index: 0, .. })));
}

#[test]
fn particles_in_reserve_are_no_part_of_anything() {
    let (mut scene, cloth) = tearable();
    let reserve = cloth.particles.end;
    assert!(scene.particle_count() as u32 > reserve);
    let distance = Distance { particles: [0, reserve], rest_length: 1.0 };
    let pose = SkinnedPose { position: [0.0; 3], normal: [0.0, 1.0, 0.0] };
    let skinned =
        Skinned { particle: reserve, pose, limits: SkinnedLimits { max_distance: 0.1, backstop: None }, joints: None };
    let errors = [
        scene.add(distance, Material::RIGID).map(drop),
        scene.add_follower([0, 1, 2, reserve], [1.0, 0.0, 0.0, 0.0]).map(drop),
        scene.add_skinned(skinned).map(drop),
    ];
    for error in errors {
        let error = error.unwrap_err().to_string();
        assert!(error.contains("reserve") && error.contains(&reserve.to_string()), "{error}");
    }
    let error = scene.add_tethers(cloth.particles, Tethers::default()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}

/// Vertices without a triangle need no copies: 2 triangles of 4 vertices have 2 copies, whatever else the mesh has.
#[test]
fn vertices_without_a_triangle_take_no_copies() {
    let positions = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [5.0; 3], [6.0; 3], [7.0; 3]];
    let fabric = Fabric { tearing: Some(Tearing::at(0.1)), ..Fabric::default() };
    let mesh = ClothMesh { positions: &positions, triangles: &[[0, 2, 1], [0, 3, 2]], fabric, tethers: None };
    let mut scene = Scene::new();
    scene.add_cloth_mesh(&mesh).unwrap();
    assert_eq!(scene.particle_count(), 7 + 2);
}

#[test]
fn a_follower_is_no_pin() {
    let gpu = gpu();
    let (mut scene, _) = rope();
    let follower = scene.add_follower([0, 1, 2, 2], [0.5, 0.5, 0.0, 0.0]).unwrap();
    scene.pin(0).unwrap();
    assert_eq!(scene.pinned_particles().collect::<Vec<_>>(), [0]);
    assert!(matches!(scene.pin(follower), Err(Error::Follower { .. })));
    let mut solver = common::solver(&gpu, &scene, Settings::default());
    assert!(matches!(solver.pin(&[follower]), Err(Error::Follower { .. })));
    assert!(matches!(solver.release(&[follower]), Err(Error::Follower { .. })));
}

/// Finite sources may have an infinite weighted sum.
#[test]
fn a_follower_that_would_be_infinite_stays_and_is_counted() {
    let gpu = gpu();
    let (mut scene, _) = rope();
    let follower = scene.add_follower([0, 1, 1, 1], [-999.0, 1000.0, 0.0, 0.0]).unwrap();
    let before = scene.positions()[follower as usize];
    let mut pair = Pair::new(&gpu, &scene, Settings { gravity: [0.0; 3], ..Settings::default() });
    common::change!(pair, set_positions(1, &[[1e36, 0.0, 0.0]]));
    pair.run(1, 0.0, "a follower");
    let found = [pair.solver.read_diagnostics().unwrap(), pair.reference.read_diagnostics().unwrap()];
    for found in found {
        assert!(found.non_finite_count > 0, "{found:?}");
    }
    for positions in [pair.solver.read_positions().unwrap(), pair.reference.read_positions().unwrap()] {
        assert_eq!(positions[follower as usize], before);
    }
}

#[test]
fn forces_before_the_first_step_are_zero() {
    let gpu = gpu();
    let (scene, _) = rope();
    let settings = Settings { keep_lambdas: true, ..Settings::default() };
    let solver = common::solver(&gpu, &scene, settings);
    let reference = Reference::new(&scene, settings).unwrap();
    assert_eq!(solver.read_constraint_forces::<Distance>().unwrap(), [0.0; 2]);
    assert_eq!(reference.read_constraint_forces::<Distance>().unwrap(), [0.0; 2]);
}

#[test]
fn a_constraint_that_does_not_exist_makes_no_buffers() {
    let gpu = gpu();
    let (scene, _) = common::hanging_cloth(20, 20);
    let settings = Settings { execution: Execution::Tiles, ..Settings::default() };
    let mut solver = common::solver(&gpu, &scene, settings);
    let bytes = solver.memory_bytes();
    let distance = Distance { particles: [0, 1], rest_length: 0.1 };
    assert!(matches!(solver.set_constraint(9_999_999, distance), Err(Error::IndexOutOfRange { .. })));
    assert_eq!(solver.memory_bytes(), bytes);
}

#[test]
fn another_margin_keeps_the_lists_of_contacts() {
    let gpu = gpu();
    let mut scene = Scene::new();
    for k in 0..200u32 {
        let position = [k % 6, k / 6 % 6, k / 36].map(|n| 0.004 * n as f32);
        scene.add_particle(Particle { position, velocity: [0.0; 3], inverse_mass: 1.0 }).unwrap();
    }
    let own = SelfCollision { pairs_per_particle: 1, ..SelfCollision::default() };
    let settings = Settings { self_collision: Some(own), ..Settings::default() };
    let mut solver = common::solver(&gpu, &scene, settings);
    (0..6).for_each(|_| solver.step(1));
    let grown = solver.read_contacts().unwrap();
    assert!(grown.growths > 0, "{grown:?}");
    let own = SelfCollision { margin: 0.6, iterations: Some(5), ..own };
    solver.set_settings(Settings { self_collision: Some(own), ..settings }).unwrap();
    solver.step(1);
    let after = solver.read_contacts().unwrap();
    assert!(after.pair_capacity >= grown.pair_capacity && after.lost == 0, "{after:?}");
}

#[test]
fn a_shift_keeps_the_first_points_of_attachments_within_their_range() {
    let (mut scene, _) = rope();
    let point = ParticlePoint::Particle(2);
    let id = scene.add_attachment(Attachment::new(point, AttachmentTarget::Space([9e5, 0.0, 0.0]))).unwrap();
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    reference.move_attachment(id, [0.0; 3]).unwrap();
    reference.step(1);
    let error = reference.shift_origin([9e5, 0.0, 0.0]).unwrap_err().to_string();
    assert!(error.contains("initial point of attachment 0") && error.contains("1e6"), "{error}");
    reference.shift_origin([-9e5, 0.0, 0.0]).unwrap();
}
