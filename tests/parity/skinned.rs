//! Skinned particles: limits, moving poses and joints on both backends.

use crate::common::{self, Pair, change};
use supple::wgpu;
use supple::{
    Backstop, ClothGrid, Collider, Error, Instances, JointWeights, Pose, Scene, SelfCollision, Settings, Shape,
    Skinned, SkinnedLimits, SkinnedPose,
};

/// A sheet of 8 × 9 particles: rows without limits, with a maximum distance, a backstop, both, and pinned ones.
fn sheet(joints: bool) -> Scene {
    let mut scene = Scene::new();
    let grid = ClothGrid {
        columns: 8,
        rows: 9,
        column_axis: [0.7, 0.0, 0.1],
        row_axis: [0.0, 0.1, 0.8],
        ..ClothGrid::default()
    };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    let poses = scene.rest_poses();
    for row in 0..9 {
        for particle in cloth.row(row).unwrap() {
            if row == 0 {
                scene.pin(particle).unwrap();
            }
            let share = particle as f32 / 71.0;
            let joints =
                joints.then_some(JointWeights { joints: [0, 1, 0, 0], weights: [1.0 - share, share, 0.0, 0.0] });
            scene
                .add_skinned(Skinned { particle, pose: poses[particle as usize], limits: limits_of(row), joints })
                .unwrap();
        }
    }
    scene
}

fn limits_of(row: u32) -> SkinnedLimits {
    let backstop = Some(Backstop { distance: 0.002, radius: [0.05, 1.0, 500.0][row as usize % 3] });
    match row {
        0 | 1 => SkinnedLimits { max_distance: 0.0, backstop: None },
        2 | 3 => SkinnedLimits { max_distance: 0.01 * row as f32, backstop: None },
        4 | 5 => SkinnedLimits { max_distance: f32::INFINITY, backstop },
        6 | 7 => SkinnedLimits { max_distance: 0.03, backstop },
        _ => SkinnedLimits::FREE,
    }
}

/// The poses of a sheet that turns and moves up and down.
fn poses_at(scene: &Scene, k: u32) -> Vec<SkinnedPose> {
    let (sin, cos) = (0.1 * k as f32).sin_cos();
    let turned = |[x, y, z]: [f32; 3]| [x, cos * y - sin * z, sin * y + cos * z];
    let moved = |pose: &SkinnedPose| {
        let [x, y, z] = turned(pose.position);
        SkinnedPose {
            position: [x + 0.01 * k as f32, y + 0.05 * (0.9 * k as f32).sin(), z],
            normal: turned(pose.normal),
        }
    };
    scene.skinned().iter().map(|skinned| moved(&skinned.pose)).collect()
}

/// The first row that breaks a limit by more than `tolerance` \[m\], and by how much.
fn fault(scene: &Scene, poses: &[SkinnedPose], positions: &[[f32; 3]], tolerance: f32) -> Option<(usize, f32)> {
    let fault_of = |(skinned, pose): (&Skinned, &SkinnedPose)| {
        let p = glam::Vec3::from(positions[skinned.particle as usize]) - glam::Vec3::from(pose.position);
        let beyond = p.length() - skinned.limits.max_distance;
        let inside = skinned.limits.backstop.map_or(0.0, |Backstop { distance, radius }| {
            let centre = -glam::Vec3::from(pose.normal).normalize() * (distance + radius);
            // In f64 for the large radius.
            f64::from(radius) as f32 - p.as_dvec3().distance(centre.as_dvec3()) as f32
        });
        let is_free = scene.pinned_particles().all(|pin| pin != skinned.particle);
        if is_free { beyond.max(inside) } else { p.length() }
    };
    let faults = scene.skinned().iter().zip(poses).map(fault_of);
    faults.enumerate().find(|(_, fault)| *fault > tolerance)
}

#[test]
fn particles_stay_within_their_limits_while_the_pose_moves() {
    let (gpu, scene) = (common::gpu(), sheet(false));
    let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 4, ..Settings::default() });
    for k in 1..20 {
        let poses = poses_at(&scene, k);
        change!(pair, set_skinned_poses(0, &poses));
        pair.run(1, 1e-4, "limits");
        for positions in [pair.solver.read_positions().unwrap(), pair.reference.read_positions().unwrap()] {
            assert_eq!(fault(&scene, &poses, &positions, 1e-5), None, "step {k}");
        }
        assert_eq!(pair.solver.read_skinned_poses().unwrap(), poses);
        assert_eq!(pair.reference.read_skinned_poses(), poses);
    }
}

#[test]
fn every_pass_over_skinned_particles_agrees() {
    let gpu = common::gpu();
    for joints in [false, true] {
        let mut scene = sheet(joints);
        let floor = Collider {
            pose: Pose { position: [0.3, -0.3, 0.3], ..Pose::default() },
            shape: Shape::Sphere { radius: 0.25 },
            ..Collider::default()
        };
        scene.add_collider(floor).unwrap();
        for self_collision in [None, Some(SelfCollision::default()), Some(SelfCollision::surfaces())] {
            let settings = Settings { substeps: 3, self_collision, ..Settings::default() };
            let mut pair = Pair::new(&gpu, &scene, settings);
            for k in 1..4 {
                if joints {
                    change!(pair, set_joints(0, &joints_at(k)));
                } else {
                    let poses = poses_at(&scene, k);
                    change!(pair, set_skinned_poses(0, &poses));
                }
                let passes = pair.passes(1);
                let difference = pair.first_difference(if common::is_exact(&gpu) { 0.0 } else { 2e-5 }, passes);
                assert!(difference.is_none(), "joints {joints}, {self_collision:?}: {difference:#?}");
            }
        }
    }
}

/// Two joints that turn against each other.
fn joints_at(k: u32) -> [[[f32; 4]; 4]; 2] {
    let turn = |angle: f32| glam::Mat4::from_rotation_x(angle) * glam::Mat4::from_rotation_y(0.5 * angle);
    let a = glam::Mat4::from_translation(glam::Vec3::new(0.02 * k as f32, 0.1, 0.0)) * turn(0.1 * k as f32);
    [a, turn(-0.07 * k as f32)].map(|joint| joint.to_cols_array_2d())
}

#[test]
fn joints_move_poses_by_linear_blend_skinning() {
    let (gpu, scene) = (common::gpu(), sheet(true));
    assert_eq!(scene.joint_count(), 2);
    let mut pair = Pair::new(&gpu, &scene, Settings::default());
    for k in [3, 8] {
        let joints = joints_at(k);
        change!(pair, set_joints(0, &joints[..1]));
        change!(pair, set_joints(1, &joints[1..]));
        pair.run(1, 1e-4, "joints");
        let matrices = joints.map(|joint| glam::Mat4::from_cols_array_2d(&joint).as_dmat4());
        for poses in [pair.solver.read_skinned_poses().unwrap(), pair.reference.read_skinned_poses()] {
            for (skinned, pose) in scene.skinned().iter().zip(&poses) {
                let weights = skinned.joints.unwrap().weights;
                let blend = matrices[0] * f64::from(weights[0]) + matrices[1] * f64::from(weights[1]);
                let [x, n] = [skinned.pose.position, skinned.pose.normal].map(|v| glam::Vec3::from(v).as_dvec3());
                assert!(blend.transform_point3(x).distance(glam::Vec3::from(pose.position).as_dvec3()) < 1e-6);
                assert!(blend.transform_vector3(n).distance(glam::Vec3::from(pose.normal).as_dvec3()) < 1e-6);
            }
            let positions = pair.reference.read_positions().unwrap();
            assert_eq!(fault(&scene, &poses, &positions, 1e-5), None);
        }
    }
}

#[test]
fn a_pose_that_jumps_is_not_interpolated() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let particle = scene.add_particle(supple::Particle::default()).unwrap();
    let limits = SkinnedLimits { max_distance: 0.0, backstop: None };
    scene.add_skinned(Skinned { particle, pose: SkinnedPose::default(), limits, joints: None }).unwrap();
    let settings = Settings { gravity: [0.0; 3], substeps: 4, ..Settings::default() };
    let mut pair = Pair::new(&gpu, &scene, settings);
    let there = SkinnedPose { position: [5.0, 0.0, 0.0], ..SkinnedPose::default() };
    change!(pair, set_skinned_poses(0, &[there]));
    change!(pair, set_positions(0, &[there.position]));
    change!(pair, teleport_skinned(0..1));
    pair.run(1, 0.0, "a jump");
    assert_eq!(pair.reference.read_positions().unwrap(), [there.position]);
    assert_eq!(pair.reference.read_velocities().unwrap(), [[0.0; 3]]);
    // The next motion is interpolated again: its velocity is that of the pose.
    let further = SkinnedPose { position: [5.1, 0.0, 0.0], ..SkinnedPose::default() };
    change!(pair, set_skinned_poses(0, &[further]));
    pair.run(1, 0.0, "a motion");
    let [vx, ..] = pair.reference.read_velocities().unwrap()[0];
    assert!((vx - 0.1 / settings.dt).abs() < 1e-3, "{vx}");
}

#[test]
fn skinned_poses_survive_shifts_resets_and_snapshots() {
    let (gpu, scene) = (common::gpu(), sheet(true));
    let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 2, ..Settings::default() });
    change!(pair, set_joints(0, &joints_at(2)));
    pair.run(2, 1e-4, "before the shift");
    change!(pair, shift_origin([8.0, -4.0, 2.0]));
    pair.run(1, 1e-4, "after the shift");
    let free = [SkinnedLimits::FREE; 4];
    change!(pair, set_skinned_limits(20, &free));
    let snapshot = pair.solver.snapshot().unwrap();
    pair.run(3, 1e-4, "after the change of limits");
    let expected = pair.solver.read_positions().unwrap();
    let mut other = common::solver(&gpu, &scene, *snapshot.settings());
    other.restore(&snapshot).unwrap();
    other.step(3);
    assert_eq!(other.read_positions().unwrap(), expected);
    pair.solver.reset();
    pair.reference.reset();
    pair.run(2, 1e-4, "after the reset");
    let poses = pair.solver.read_skinned_poses().unwrap();
    for (skinned, pose) in scene.skinned().iter().zip(&poses) {
        let [x, y, z] = skinned.pose.position;
        let [px, py, pz] = pose.position;
        assert!((px - x - 8.0).abs() + (py - y + 4.0).abs() + (pz - z - 2.0).abs() < 2e-6, "{pose:?}");
    }
    let positions = pair.reference.read_positions().unwrap();
    assert_eq!(fault(&scene, &poses, &positions, 1e-5), None);
}

#[test]
fn a_pose_that_is_not_finite_quarantines_its_particle_for_that_step() {
    let gpu = common::gpu();
    let scene = sheet(false);
    let mut solver = common::solver(&gpu, &scene, Settings::default());
    let mut poses = poses_at(&scene, 1);
    let row = 20 * 32;
    gpu.queue.write_buffer(solver.skinned_poses(), row, bytemuck::bytes_of(&f32::NAN));
    solver.step(1);
    assert_eq!(solver.read_diagnostics().unwrap().non_finite_count, 1);
    poses.truncate(21);
    solver.set_skinned_poses(0, &poses).unwrap();
    solver.step(1);
    assert_eq!(solver.read_diagnostics().unwrap().non_finite_count, 1);
    let poses = solver.read_skinned_poses().unwrap();
    assert_eq!(fault(&scene, &poses, &solver.read_positions().unwrap(), 1e-5), None);
}

/// Asserts that the calls fail on both backends.
fn assert_fails(calls: [supple::Result<()>; 2], expected: &str) {
    for call in calls {
        assert_eq!(call.unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_bad_call_on_skinned_particles_is_an_error_and_changes_nothing() {
    let (gpu, scene) = (common::gpu(), sheet(true));
    let Pair { mut solver, mut reference, .. } = Pair::new(&gpu, &scene, Settings::default());
    macro_rules! both {
        ($call:ident($($argument:expr),+)) => { [solver.$call($($argument),+), reference.$call($($argument),+)] };
    }
    let pose = SkinnedPose::default();
    assert_fails(
        both!(set_skinned_poses(3, &[pose])),
        "set_skinned_poses needs rows without joints; call set_joints to move the others",
    );
    assert_fails(
        both!(set_skinned_poses(70, &[pose; 3])),
        "set_skinned_poses names skinned particle 72, but there are only 72",
    );
    assert_fails(
        both!(set_target(0, [0.0; 3])),
        "set_target: particle 0 is skinned; a particle has one skinned pose or one target",
    );
    let far = SkinnedLimits { max_distance: -1.0, backstop: None };
    assert_fails(
        both!(set_skinned_limits(1, &[SkinnedLimits::FREE, far])),
        "maximum distance of skinned particle 2 is -1, but must be at least 0 m, or infinity for no limit",
    );
    assert_fails(both!(teleport_skinned(60..80)), "teleport_skinned names skinned particle 79, but there are only 72");
    let identity = glam::Mat4::IDENTITY.to_cols_array_2d();
    assert_fails(both!(set_joints(1, &[identity; 2])), "set_joints names joint 2, but there are only 2");
    let mut bad = identity;
    bad[1][2] = f32::NAN;
    assert_fails(both!(set_joints(0, &[identity, bad])), "matrix of joint 1 is NaN, but must be finite");
    let rows = glam::Mat4::from_translation(glam::Vec3::X).transpose().to_cols_array_2d();
    assert_fails(
        both!(set_joints(0, &[rows])),
        "last component of column 0 of joint 0 is 1, but must be 0, and 1 in the last column: matrices are affine, by columns",
    );
    solver.step(1);
    let poses = solver.read_skinned_poses().unwrap();
    assert!(poses.iter().zip(scene.skinned()).all(|(pose, skinned)| *pose == skinned.pose));
}

#[test]
fn a_bad_skinned_particle_is_an_error_and_is_not_added() {
    let mut scene = sheet(false);
    let particle = scene.add_particle(supple::Particle::default()).unwrap();
    let good = Skinned { particle, pose: SkinnedPose::default(), limits: SkinnedLimits::FREE, joints: None };
    let weights = |weights| Skinned { joints: Some(JointWeights { joints: [0, 1, 2, 3], weights }), ..good };
    let backstop = |distance, radius| Skinned {
        limits: SkinnedLimits { backstop: Some(Backstop { distance, radius }), ..SkinnedLimits::FREE },
        ..good
    };
    let cases = [
        (Skinned { particle: 99, ..good }, "skinned particle 72 names particle 99, but there are only 73"),
        (
            Skinned { particle: 5, ..good },
            "skinned particle 72: particle 5 is skinned; a particle has one skinned pose or one target",
        ),
        (
            Skinned { pose: SkinnedPose { position: [f32::NAN; 3], normal: [0.0; 3] }, ..good },
            "position of skinned particle 72 is NaN, but must be finite",
        ),
        (backstop(-0.1, 1.0), "backstop distance of skinned particle 72 is -0.1, but must be finite and at least 0 m"),
        (
            backstop(0.1, 0.0),
            "backstop radius of skinned particle 72 is 0, but must be greater than 0 and at most 1e6 m",
        ),
        (
            weights([f32::NAN, 0.0, 0.0, 0.0]),
            "weight of joint 0 of joint weights of skinned particle 72 is NaN, but must be finite and at least 0",
        ),
        (weights([0.0; 4]), "sum of the joint weights of skinned particle 72 is 0, but must be greater than 0"),
        (
            Skinned { joints: Some(JointWeights::rigid(70_000)), ..good },
            "joint of skinned particle 72 is 70000, but must be less than 65536",
        ),
    ];
    for (bad, expected) in cases {
        assert_eq!(scene.add_skinned(bad).unwrap_err().to_string(), expected);
    }
    assert_eq!(scene.skinned().len(), 72);
    let gpu = common::gpu();
    let error = Instances::new(&gpu.device, &gpu.queue, &scene, 2, Settings::default()).unwrap_err();
    assert!(matches!(error, Error::NotInstanced { count: 72, .. }), "{error}");
}

#[test]
fn the_four_largest_weights_are_kept_and_normalised() {
    let own = JointWeights::largest(&[(7, 0.1), (3, 0.4), (9, 0.0), (1, 0.2), (2, 0.2), (5, 0.3)]).unwrap();
    assert_eq!(own.joints, [3, 5, 1, 2]);
    let sum: f32 = own.weights.iter().sum();
    assert!((sum - 1.0).abs() < 1e-6 && (own.weights[0] - 0.4 / 1.1).abs() < 1e-6, "{own:?}");
    assert!(JointWeights::largest(&[(0, 0.0)]).is_err());
    assert!(JointWeights::largest(&[(0, -1.0), (1, 2.0)]).is_err());
    assert!(JointWeights::largest(&[]).is_err());
}

/// Particles at random places that their limits contradict, also almost on the axis of the backstop.
#[test]
fn a_particle_far_from_its_pose_is_put_within_both_limits() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let noise = |k: u32| (k.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0;
    for k in 0..600 {
        let [x, y, z] = [noise(5 * k), noise(5 * k + 1), noise(5 * k + 2)];
        let shrink = if k % 3 == 0 { 1e-3 } else { 1.0 };
        let particle = supple::Particle { position: [x * shrink, y, z * shrink], ..supple::Particle::default() };
        let particle = scene.add_particle(particle).unwrap();
        let max_distance = 0.05 + 0.4 * noise(5 * k + 3).abs();
        let distance = max_distance * 0.9 * noise(5 * k + 4).abs();
        let backstop = Some(Backstop { distance, radius: [0.02, 0.3, 5.0, 1e4][k as usize % 4] });
        let pose = SkinnedPose { position: [0.0; 3], normal: [0.0, 2.0, 0.0] };
        let limits = SkinnedLimits { max_distance, backstop };
        scene.add_skinned(Skinned { particle, pose, limits, joints: None }).unwrap();
    }
    let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 1, ..Settings::default() });
    pair.run(1, 1e-4, "random places");
    let poses: Vec<SkinnedPose> = scene.skinned().iter().map(|skinned| skinned.pose).collect();
    assert_eq!(fault(&scene, &poses, &pair.reference.read_positions().unwrap(), 2e-6), None);
}

/// Moves all poses by an offset per step, as the skinning of a program.
const SKINNING: &str = "
struct Pose { position: vec3f, normal: vec3f }
@group(0) @binding(0) var<storage, read_write> poses: array<Pose>;
@compute @workgroup_size(64) fn skin(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&poses) {
        poses[id.x].position += vec3f(0.0, 0.0625, -0.03125);
    }
}";

#[test]
fn a_pass_of_the_program_that_writes_poses_gives_the_same_bits_as_calls_of_the_host() {
    let (gpu, scene) = (common::gpu(), sheet(false));
    let [mut host, mut driven] = [0, 1].map(|_| common::solver(&gpu, &scene, Settings::default()));
    let pipeline = common::pipeline(&gpu.device, SKINNING, "skin");
    let layout = pipeline.get_bind_group_layout(0);
    let entries = [wgpu::BindGroupEntry { binding: 0, resource: driven.skinned_poses().as_entire_binding() }];
    let bindings = wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
    let bindings = gpu.device.create_bind_group(&bindings);
    let mut poses: Vec<SkinnedPose> = scene.skinned().iter().map(|skinned| skinned.pose).collect();
    for _ in 0..6 {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bindings, &[]);
        pass.dispatch_workgroups(poses.len().div_ceil(64) as u32, 1, 1);
        drop(pass);
        driven.encode(&mut encoder, 1);
        gpu.queue.submit([encoder.finish()]);
        for pose in &mut poses {
            let [x, y, z] = pose.position;
            pose.position = [x, y + 0.0625, z - 0.03125];
        }
        host.set_skinned_poses(0, &poses).unwrap();
        host.step(1);
    }
    assert_eq!(driven.read_skinned_poses().unwrap(), poses);
    assert_eq!(driven.read_positions().unwrap(), host.read_positions().unwrap());
}

#[test]
fn particles_with_joints_follow_them_after_a_shift_and_a_replacement() {
    let (gpu, mut scene) = (common::gpu(), sheet(true));
    let mut pair = Pair::new(&gpu, &scene, Settings::default());
    change!(pair, set_joints(0, &joints_at(2)));
    pair.run(2, 1e-4, "before");
    change!(pair, shift_origin([8.0, -4.0, 2.0]));
    pair.run(1, 1e-3, "shifted");
    let before = pair.solver.read_skinned_poses().unwrap();
    // Another sheet, whose joint is new.
    let map = scene.map();
    let cloth = scene.add_cloth_grid(&ClothGrid { columns: 3, rows: 3, ..ClothGrid::default() }).unwrap();
    let (particle, place) = (cloth.particles.start, scene.positions()[cloth.particles.start as usize]);
    let pose = SkinnedPose { position: place, normal: [0.0, 1.0, 0.0] };
    let joints = Some(JointWeights::rigid(2));
    scene.add_skinned(Skinned { particle, pose, limits: SkinnedLimits::FREE, joints }).unwrap();
    change!(pair, replace_scene(&scene, &map));
    pair.run(1, 1e-3, "replaced");
    for poses in [pair.solver.read_skinned_poses().unwrap(), pair.reference.read_skinned_poses()] {
        let (old, new) = poses.split_at(before.len());
        for (found, expected) in old.iter().zip(&before) {
            let [a, b] = [found, expected].map(|pose| glam::Vec3::from(pose.position));
            assert!(a.distance(b) < 1e-5, "{a} {b}");
        }
        let shifted = glam::Vec3::from(place) + glam::Vec3::new(8.0, -4.0, 2.0);
        assert!(glam::Vec3::from(new[0].position).distance(shifted) < 1e-5, "{new:?}");
    }
}
