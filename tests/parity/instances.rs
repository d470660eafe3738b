//! Instances of one asset. Each runs bit for bit as the reference with the placed asset, independent of the other
//! instances.

use crate::common;
use crate::common::instancing::{
    block, bodies, difference, few, flag, hung, instances, leaf, reference, rope, some, turned,
};
use crate::common::{first_unequal, is_exact, store};
use glam::{Quat, Vec3};
use supple::constraints::Kind;
use supple::gpu::Context;
use supple::{
    Bending, ClothMesh, ColorOrder, Distance, Error, Execution, Fabric, Field, Instance, InstanceId, Instances,
    Material, Particle, Placement, Reference, Scene, SelfCollision, Settings, ShapeMatching, Sweep, Wind,
};

#[test]
fn every_instance_agrees_with_the_reference() {
    let gpu = common::gpu();
    let tolerance = if is_exact(&gpu) { 0.0 } else { 2e-5 };
    let wind = Some(Wind { velocity: [2.0, 0.0, 1.0], ..Wind::default() });
    let point = Field::Point { position: [1.0, 1.0, 0.0], strength: 2.0, radius: 1.0 };
    let with_all = Settings { wind, iterations: 3, damping: 0.3, fields: Field::slots(&[point]), ..few() };
    let assets = [
        ("springs", flag(7, 6, Bending::Springs)),
        ("hinges", flag(12, 13, Bending::Hinges)),
        ("isometric", flag(6, 5, Bending::Isometric)),
        ("leaf", leaf(1.0)),
        ("rope", rope()),
        ("block", block()),
        ("bodies", bodies()),
    ];
    for (name, asset) in &assets {
        for settings in [few(), with_all] {
            let mut pool = instances(&gpu, asset, 5, settings);
            let ids = pool.spawn_many(&some()).unwrap();
            let mut references = some().map(|instance| reference(asset, &instance, settings));
            for place in 0..ids.len() {
                let before = difference(&pool, ids[place], &references[place], 0.0);
                assert_eq!(before, None, "{name}, instance {place} before the first step");
            }
            for steps in [1, 2] {
                pool.step(steps);
                for (place, reference) in references.iter_mut().enumerate() {
                    reference.step(steps);
                    let found = difference(&pool, ids[place], reference, tolerance);
                    assert_eq!(found, None, "{name}, instance {place}, {} iterations", settings.iterations);
                }
            }
            assert_eq!(pool.read_diagnostics().unwrap().steps, 3);
            assert_eq!(pool.read_diagnostics().unwrap().non_finite_count, 0);
        }
    }
}

#[test]
fn small_instances_that_share_a_workgroup_are_independent() {
    let gpu = common::gpu();
    let tolerance = if is_exact(&gpu) { 0.0 } else { 2e-5 };
    // Assets of 4, 9 and 16 tiles, and one without tiles.
    for asset in [flag(8, 8, Bending::Springs), flag(9, 12, Bending::Springs), flag(15, 16, Bending::Springs), rope()] {
        let mut pool = instances(&gpu, &asset, 40, few());
        // A number of instances that leaves the last workgroup partly empty.
        let all: Vec<Instance> = (0..39).map(|k| some()[k % 4].clone()).collect();
        let mut ids = pool.spawn_many(&all).unwrap();
        let mut references: Vec<_> = all.iter().map(|instance| reference(&asset, instance, few())).collect();
        pool.step(1);
        references.iter_mut().for_each(|reference| reference.step(1));
        for gone in [38, 17, 2] {
            pool.remove(ids.remove(gone)).unwrap();
            references.remove(gone);
        }
        pool.step(1);
        for (place, (id, reference)) in ids.into_iter().zip(&mut references).enumerate() {
            reference.step(1);
            assert_eq!(difference(&pool, id, reference, tolerance), None, "instance {place}");
        }
    }
}

#[test]
fn gusts_and_turbulence_are_those_of_the_reference() {
    let gpu = common::gpu();
    for velocity in [[4.0, 0.0, 1.0], [-3.0, 2.0, -1e-7]] {
        let asset = flag(7, 6, Bending::Springs);
        let wind = Wind { velocity, gust: 0.5, turbulence: 1.0, ..Wind::default() };
        let settings = Settings { wind: Some(wind), ..few() };
        let mut pool = instances(&gpu, &asset, 4, settings);
        let ids = pool.spawn_many(&some()).unwrap();
        pool.step(4);
        for (instance, id) in some().iter().zip(ids) {
            let mut reference = reference(&asset, instance, settings);
            reference.step(4);
            let (left, right) = (pool.read_positions(id).unwrap(), reference.read_positions().unwrap());
            for (particle, (a, b)) in left.iter().zip(&right).enumerate() {
                assert!(Vec3::from(*a).distance((*b).into()) < 2e-4, "particle {particle}: {a:?}, {b:?}");
            }
            // Negative control: without wind the flag is elsewhere.
            let mut calm = self::reference(&asset, instance, few());
            calm.step(4);
            let apart = |(a, b): (&[f32; 3], [f32; 3])| Vec3::from(*a).distance(b.into());
            let felt = left.iter().zip(calm.read_positions().unwrap()).map(apart).fold(0.0, f32::max);
            assert!(felt > 1e-3, "{felt} m");
        }
    }
}

#[test]
fn a_larger_instance_is_the_asset_built_larger() {
    let gpu = common::gpu();
    let settings =
        Settings { wind: Some(Wind { velocity: [2.0, 1.0, 0.0], ..Wind::default() }), iterations: 2, ..few() };
    for (scale, exact) in [(2.0f32, true), (0.25, true), (1.7, false)] {
        let asset = leaf(1.0);
        let mut pool = instances(&gpu, &asset, 1, settings);
        let placement = Placement { scale, position: [0.5, 0.0, -1.0], ..Placement::default() };
        let id = pool.spawn(&Instance { placement, ..Instance::default() }).unwrap();
        let at_origin = Instance { placement: Placement { scale: 1.0, ..placement }, ..Instance::default() };
        let mut reference = reference(&leaf(scale), &at_origin, settings);
        pool.step(5);
        reference.step(5);
        let tolerance = if exact && is_exact(&gpu) { 0.0 } else { 1e-3 };
        let (left, right) = (pool.read_positions(id).unwrap(), reference.read_positions().unwrap());
        assert_eq!(first_unequal(&left, &right, tolerance), None, "scale {scale}");
    }
}

#[test]
fn changes_of_pins_targets_winds_and_settings_agree_with_the_reference() {
    let gpu = common::gpu();
    let tolerance = if is_exact(&gpu) { 0.0 } else { 2e-5 };
    let (asset, cloth) = hung(7, 6, Bending::Hinges);
    let settings = Settings { wind: Some(Wind::default()), ..few() };
    let goal = |reference: &Reference, particle: u32, step: f32| {
        let [x, y, z] = reference.read_positions().unwrap()[particle as usize];
        [x + 0.01 * step, y, z - 0.02]
    };
    let mut pool = instances(&gpu, &asset, 8, settings);
    let ids = pool.spawn_many(&some()).unwrap();
    let mut references = some().map(|instance| reference(&asset, &instance, settings));
    for turn in 0..6u32 {
        for (place, (&id, reference)) in ids.iter().zip(&mut references).enumerate() {
            let particle = 11 + place as u32;
            match turn {
                0 => {
                    pool.pin(id, &[particle]).unwrap();
                    reference.pin(&[particle]).unwrap();
                }
                1 | 2 => {
                    let target = goal(reference, particle, turn as f32);
                    pool.set_target(id, particle, target).unwrap();
                    reference.set_target(particle, target).unwrap();
                }
                4 => {
                    pool.release(id, &[particle, 0]).unwrap();
                    reference.release(&[particle, 0]).unwrap();
                }
                _ => {}
            }
        }
        // After one recording of two steps a pin still reaches its target.
        let steps = 1 + u32::from(turn == 2);
        pool.step(steps);
        for (place, (&id, reference)) in ids.iter().zip(&mut references).enumerate() {
            reference.step(steps);
            assert_eq!(difference(&pool, id, reference, tolerance), None, "turn {turn}, instance {place}");
        }
    }
    // Other settings, another wind, another material.
    let wind = Wind { velocity: [1.0, 0.0, 0.0], ..Wind::default() };
    let winds = [[0.0, 0.0, 5.0], [1.0, 0.0, 2.0], [-3.0, 0.5, 0.0], [0.0; 3]];
    let soft = Material::compliant(1e-3);
    pool.set_wind(ids[0], winds[0]).unwrap();
    for (other, material) in [
        (Settings { substeps: 3, iterations: 2, wind: Some(wind), gravity: [1.0, -5.0, 0.0], ..settings }, soft),
        (Settings { wind: None, tethers: false, ..settings }, Material::RIGID),
    ] {
        pool.set_settings(other).unwrap();
        pool.set_material(cloth.materials.structural, material).unwrap();
        pool.step(2);
        for (place, (&id, reference)) in ids.iter().zip(&mut references).enumerate() {
            let add =
                |wind: Wind| Wind { velocity: (Vec3::from(wind.velocity) + Vec3::from(winds[place])).into(), ..wind };
            let wind = other.wind.map(add);
            reference.set_settings(Settings { wind, forces: true, execution: Execution::Tiles, ..other }).unwrap();
            reference.set_material(cloth.materials.structural, material).unwrap();
            reference.step(2);
            assert_eq!(difference(&pool, id, reference, tolerance), None, "other settings, instance {place}");
            if other.iterations > 1 && is_exact(&gpu) {
                let right = reference.read_lambdas::<Distance>().unwrap();
                assert_eq!(pool.read_lambdas::<Distance>(id).unwrap(), right, "λ of instance {place}");
            }
        }
    }
}

#[test]
fn a_reused_slot_has_no_trace_of_its_previous_instance() {
    let gpu = common::gpu();
    let asset = flag(7, 6, Bending::Springs);
    let settings = Settings { iterations: 2, ..few() };
    let mut pool = instances(&gpu, &asset, 2, settings);
    let wild = Instance { velocity: [9.0, 1.0, 4.0], pinned: Some(vec![5]), ..Instance::default() };
    let old = pool.spawn(&wild).unwrap();
    pool.set_target(old, 5, [3.0, 3.0, 3.0]).unwrap();
    pool.step(3);
    pool.teleport(old, Placement::at([8.0, 8.0, 8.0])).unwrap();
    pool.remove(old).unwrap();
    pool.step(1);
    let calm = &some()[2];
    let new = pool.spawn(calm).unwrap();
    assert_eq!((old.slot(), new.slot()), (0, 0));
    assert_ne!(old, new);
    let none = vec![0.0; asset.constraint_count_of(Distance::INFO)];
    assert_eq!(pool.read_lambdas::<Distance>(new).unwrap(), none);
    // Pinned before its first step, so that not all velocities are initial ones.
    pool.pin(new, &[9]).unwrap();
    let mut other = instances(&gpu, &asset, 2, settings);
    let same = other.spawn(calm).unwrap();
    other.pin(same, &[9]).unwrap();
    for _ in 0..2 {
        assert_eq!(pool.read_positions(new).unwrap(), other.read_positions(same).unwrap());
        assert_eq!(pool.read_velocities(new).unwrap(), other.read_velocities(same).unwrap());
        assert_eq!(pool.read_normals(new).unwrap(), other.read_normals(same).unwrap());
        pool.step(2);
        other.step(2);
    }
    assert_eq!(pool.read_lambdas::<Distance>(new).unwrap(), other.read_lambdas::<Distance>(same).unwrap());
}

#[test]
fn a_teleport_carries_shape_and_velocities_and_makes_none() {
    let gpu = common::gpu();
    let asset = flag(7, 6, Bending::Springs);
    // No forces, so that one substep shows only the teleport.
    let settings = Settings { gravity: [0.0; 3], ..few() };
    let mut pool = instances(&gpu, &asset, 3, settings);
    let ids = pool.spawn_many(&some()[..2]).unwrap();
    pool.step(5);
    let (before, speeds) = (pool.read_positions(ids[1]).unwrap(), pool.read_velocities(ids[1]).unwrap());
    let from = some()[1].placement;
    for (to, turns) in [
        (Placement { position: [from.position[0] + 64.0, from.position[1], from.position[2]], ..from }, false),
        (Placement { position: [1.0, 2.0, 3.0], rotation: turned(-1.0, 0.3, 0.9), scale: 1.0 }, true),
        (Placement { position: [1.0, 2.0, 3.0], rotation: turned(-1.0, 0.3, 0.9), scale: 2.0 }, true),
    ] {
        // The reference continues from the placed state.
        let q = |placement: Placement| Quat::from_array(placement.rotation).normalize();
        let turn = if turns { q(to) * q(from).inverse() } else { Quat::IDENTITY };
        let apart = |x: [f32; 3]| turn * (Vec3::from(x) - Vec3::from(from.position)) * (to.scale / from.scale);
        let positions: Vec<[f32; 3]> = before.iter().map(|&x| (Vec3::from(to.position) + apart(x)).into()).collect();
        let velocities: Vec<[f32; 3]> = speeds.iter().map(|&v| (turn * Vec3::from(v)).into()).collect();
        let mut other = instances(&gpu, &asset, 3, settings);
        let ids = other.spawn_many(&some()[..2]).unwrap();
        other.step(5);
        other.teleport(ids[1], Placement::at([-7.0; 3])).unwrap();
        other.teleport(ids[1], to).unwrap();
        assert_eq!(other.placement(ids[1]).unwrap(), to);
        // An encoder that is recorded and dropped has no effect.
        other.encode(&mut gpu.device.create_command_encoder(&Default::default()), 1);
        other.step(1);
        if to.scale == 1.0 {
            let mut reference = reference(&asset, &some()[1], settings);
            reference.set_positions(0, &positions).unwrap();
            reference.set_velocities(0, &velocities).unwrap();
            reference.step(1);
            let tolerance = if is_exact(&gpu) && !turns { 0.0 } else { 1e-5 };
            assert_eq!(difference(&other, ids[1], &reference, tolerance), None);
        }
        let after = other.read_positions(ids[1]).unwrap();
        for (particle, (x, y)) in positions.iter().zip(&after).enumerate() {
            let moved = Vec3::from(*x).distance((*y).into());
            assert!(moved < 0.1, "particle {particle} is {moved} m from where it was carried");
        }
        // The neighbouring instance is unchanged.
        pool.step(1);
        let mut alone = instances(&gpu, &asset, 1, settings);
        let id = alone.spawn(&some()[0]).unwrap();
        alone.step(6);
        assert_eq!(other.read_positions(ids[0]).unwrap(), alone.read_positions(id).unwrap());
    }
    // Pins are teleported with their targets, reached or not, and stay there.
    let mut other = instances(&gpu, &asset, 1, few());
    let id = other.spawn(&Instance::default()).unwrap();
    let [x, y, z] = asset.positions()[0];
    other.set_target(id, 0, [x, y, z + 0.5]).unwrap();
    other.step(1);
    other.set_target(id, 7, [x, y - 0.5, z]).unwrap();
    let quarter = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2).to_array();
    other.teleport(id, Placement { rotation: quarter, position: [0.0, 2.0, 0.0], scale: 1.0 }).unwrap();
    other.step(3);
    for (particle, target) in [(0, [z + 0.5, y + 2.0, -x]), (7, [z, y + 1.5, -x])] {
        let found = other.read_positions(id).unwrap()[particle];
        assert!(Vec3::from(found).distance(target.into()) < 1e-5, "{found:?}, should be {target:?}");
        assert!(Vec3::from(other.read_velocities(id).unwrap()[particle]).length() < 1e-4);
    }
    other.teleport(id, Placement::at([0.0, 2.0, 0.0])).unwrap();
    // Back to the initial state.
    other.reset(id).unwrap();
    let start: Vec<[f32; 3]> = asset.positions().iter().map(|&x| Placement::at([0.0, 2.0, 0.0]).place(x)).collect();
    assert_eq!(other.read_positions(id).unwrap(), start);
    let mut reference =
        reference(&asset, &Instance { placement: Placement::at([0.0, 2.0, 0.0]), ..Instance::default() }, few());
    reference.step(2);
    other.step(2);
    let tolerance = if is_exact(&gpu) { 0.0 } else { 2e-5 };
    // Gusts depend on the time, but there is no wind.
    assert_eq!(difference(&other, id, &reference, tolerance), None);
}

#[test]
fn removed_instances_and_exceeded_capacity_are_errors() {
    let gpu = common::gpu();
    let asset = rope();
    let mut pool = instances(&gpu, &asset, 2, few());
    let [a, b] = [0; 2].map(|_| pool.spawn(&Instance::default()).unwrap());
    assert_eq!((pool.len(), pool.capacity(), pool.is_empty(), pool.particle_count()), (2, 2, false, 20));
    let error = pool.spawn(&Instance::default()).unwrap_err();
    assert_eq!(error, Error::CapacityExceeded { count: 3, capacity: 2 });
    assert!(error.to_string().contains("capacity of 2"), "{error}");
    pool.remove(a).unwrap();
    assert!(!pool.contains(a) && pool.contains(b));
    assert_eq!(pool.ids().collect::<Vec<_>>(), [b]);
    let gone = Error::NoInstance { slot: a.slot(), generation: 0 };
    let at = Placement::default();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    assert_eq!(pool.remove(a), Err(gone.clone()));
    assert_eq!(pool.teleport(a, at), Err(gone.clone()));
    assert_eq!(pool.reset(a), Err(gone.clone()));
    assert_eq!(pool.pin(a, &[1]), Err(gone.clone()));
    assert_eq!(pool.release(a, &[1]), Err(gone.clone()));
    assert_eq!(pool.is_pinned(a, 1), Err(gone.clone()));
    assert_eq!(pool.set_target(a, 0, [0.0; 3]), Err(gone.clone()));
    assert_eq!(pool.set_wind(a, [0.0; 3]), Err(gone.clone()));
    assert_eq!(pool.placement(a), Err(gone.clone()));
    assert_eq!(pool.request_positions(&mut encoder, a).unwrap_err(), gone);
    assert_eq!(pool.request_velocities(&mut encoder, a).unwrap_err(), gone);
    assert_eq!(pool.read_positions(a), Err(gone.clone()));
    assert_eq!(pool.read_velocities(a), Err(gone.clone()));
    assert_eq!(pool.read_normals(a), Err(gone.clone()));
    assert_eq!(pool.read_lambdas::<Distance>(a), Err(gone.clone()));
    // An id that exists, but in another pool.
    let mut others = instances(&gpu, &asset, 2, few());
    let [foreign, other] = [0; 2].map(|_| others.spawn(&Instance::default()).unwrap());
    assert_eq!(other.slot(), b.slot());
    assert!(!pool.contains(other) && !others.contains(b) && others.contains(foreign));
    assert_eq!(pool.remove(other), Err(Error::NoInstance { slot: b.slot(), generation: 0 }));
    // Its slot is reused, and the old id stays invalid.
    let c = pool.spawn(&Instance::default()).unwrap();
    assert_eq!(c.slot(), a.slot());
    assert_eq!(pool.remove(a), Err(gone));
    // All instances are removed; a step only advances the time.
    pool.remove(b).unwrap();
    pool.remove(c).unwrap();
    assert!(pool.is_empty());
    pool.step(2);
    assert_eq!(pool.read_diagnostics().unwrap().steps, 2);
    assert_eq!(pool.owner(0), None);
    assert_eq!(pool.spawn_many(&[]).unwrap(), []);
}

#[test]
fn invalid_assets_and_settings_are_rejected_by_name() {
    let gpu = common::gpu();
    let make = |asset: &Scene, capacity: u32, settings: Settings| {
        Instances::with_store(&store(&gpu), &gpu.queue, asset, capacity, settings).map(drop).unwrap_err().to_string()
    };
    assert_eq!(make(&Scene::new(), 1, few()), "the scene (it has no particles) is empty");
    let large = flag(33, 32, Bending::Springs);
    assert!(make(&large, 1, few()).contains("1056 is more than the limit of 1024"));
    assert!(make(&rope(), 0, few()).starts_with("capacity of instances of 20 particles each is 0"));
    assert!(make(&rope(), u32::MAX, few()).contains("4294967295"));
    let limit = make(&rope(), 10_000_000, few());
    assert!(limit.contains("instances.positions") && limit.contains("3200000000"), "{limit}");
    let mut grouped = rope();
    let rest = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    grouped
        .add(ShapeMatching { particles: &[0, 1, 2], rest_positions: &rest, masses: &[1.0; 3] }, Material::RIGID)
        .unwrap();
    assert!(make(&grouped, 1, few()).contains("1 shape_matching constraint,"), "{}", make(&grouped, 1, few()));
    let hub = make(&common::wheel(100, Material::RIGID), 1, few());
    assert!(hub.contains("100 is more than the limit of 48"), "{hub}");
    for (particle, words) in [
        (Particle { position: [0.0, -2e6, 0.0], ..Particle::default() }, "position of particle 20"),
        (Particle { velocity: [0.0, 0.0, 2e6], ..Particle::default() }, "velocity of particle 20"),
    ] {
        let mut far = rope();
        far.add_particle(particle).unwrap();
        assert!(make(&far, 1, few()).contains(words), "{}", make(&far, 1, few()));
    }
    let mut with_collider = rope();
    with_collider.add_collider(supple::Collider::default()).unwrap();
    assert!(make(&with_collider, 1, few()).contains("1 collider,"));
    let refused = [
        (Settings { self_collision: Some(SelfCollision::surfaces()), ..few() }, "self_collision"),
        (Settings { forces: true, ..few() }, "forces"),
        (Settings { body_damping: 0.5, ..few() }, "Settings::body_damping = 0"),
        (Settings { sweep: Sweep::Jacobi, ..few() }, "sweep"),
        (Settings { color_order: ColorOrder::Alternating, ..few() }, "color_order"),
        (Settings { substeps: 10_000, iterations: 10, ..few() }, "loop iterations of a thread"),
        (Settings { dt: f32::NAN, ..few() }, "dt is NaN"),
    ];
    let mut pool = instances(&gpu, &rope(), 2, few());
    let id = pool.spawn(&Instance::default()).unwrap();
    for (settings, part) in refused {
        let error = make(&rope(), 1, settings);
        assert!(error.contains(part), "{error}");
        assert_eq!(pool.set_settings(settings).unwrap_err().to_string(), error);
    }
    assert_eq!(pool.settings().substeps, 4);
    let nan = f32::NAN;
    let at = Placement::default();
    let placements = [
        (Placement { position: [0.0, nan, 0.0], ..at }, "position of instance 0 to be spawned is NaN"),
        (Placement { position: [2e6, 0.0, 0.0], ..at }, "is 2000000"),
        (Placement { rotation: [0.0; 4], ..at }, "length of the rotation of instance 0"),
        (Placement { rotation: [0.0, nan, 0.0, 1.0], ..at }, "rotation of instance 0"),
        (Placement { scale: 0.0, ..at }, "scale of instance 0 to be spawned is 0"),
        (Placement { scale: nan, ..at }, "scale"),
        (Placement { scale: -1.0, ..at }, "scale"),
    ];
    for (placement, part) in placements {
        let error = pool.spawn(&Instance { placement, ..Instance::default() }).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
        assert!(pool.teleport(id, placement).is_err());
        assert_eq!(pool.placement(id).unwrap(), at);
    }
    let others = [
        (Instance { velocity: [nan, 0.0, 0.0], ..Instance::default() }, "velocity of instance 1"),
        (Instance { wind: [0.0, f32::INFINITY, 0.0], ..Instance::default() }, "wind of instance 1"),
        (Instance { pinned: Some(vec![0, 20]), ..Instance::default() }, "names particle 20, but there are only 20"),
    ];
    for (instance, part) in others {
        let mut pair = instances(&gpu, &rope(), 2, few());
        let error = pair.spawn_many(&[Instance::default(), instance]).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
        assert!(pair.is_empty());
    }
    assert!(pool.set_wind(id, [nan; 3]).unwrap_err().to_string().contains("slot 0"));
    assert!(pool.set_target(id, 0, [nan; 3]).unwrap_err().to_string().contains("target of particle 0"));
    assert_eq!(pool.set_target(id, 3, [0.0; 3]), Err(Error::NotPinned { particle: 3 }));
    assert!(matches!(pool.set_target(id, 20, [0.0; 3]), Err(Error::IndexOutOfRange { index: 20, count: 20, .. })));
    assert!(matches!(pool.pin(id, &[1, 20]), Err(Error::IndexOutOfRange { index: 20, .. })));
    assert!(!pool.is_pinned(id, 1).unwrap());
    assert!(matches!(pool.read_lambdas::<Distance>(id), Err(Error::NotEnabled { .. })));
}

#[test]
fn a_non_finite_position_is_quarantined_and_counted_by_instance() {
    let gpu = common::gpu();
    let asset = rope();
    let mut pool = instances(&gpu, &asset, 3, few());
    let ids = pool.spawn_many(&some()[..3]).unwrap();
    pool.pin(ids[1], &[4]).unwrap();
    pool.set_target(ids[1], 4, [f32::MAX; 3]).unwrap();
    pool.step(1);
    let found = pool.read_diagnostics().unwrap();
    assert!(found.non_finite_count > 0);
    let (owner, particle) = pool.owner(found.first_non_finite.unwrap()).unwrap();
    assert_eq!(owner, ids[1]);
    assert!(particle <= 5);
    for id in ids {
        assert!(pool.read_positions(id).unwrap().iter().flatten().all(|x| x.is_finite()));
    }
}

#[test]
fn a_teleport_beyond_f32_is_quarantined_and_counted() {
    let gpu = common::gpu();
    let mut speck = Scene::new();
    speck.add_particle(Particle::default()).unwrap();
    let mut pool = instances(&gpu, &speck, 1, few());
    let id = pool.spawn(&Instance { pinned: Some(vec![0]), ..Instance::default() }).unwrap();
    pool.set_target(id, 0, [1e36, 0.0, 0.0]).unwrap();
    pool.step(1);
    pool.release(id, &[0]).unwrap();
    assert_eq!(pool.read_diagnostics().unwrap().non_finite_count, 0);
    pool.teleport(id, Placement { scale: 1e3, ..Placement::default() }).unwrap();
    pool.step(2);
    assert_eq!(pool.read_diagnostics().unwrap().non_finite_count, 1);
    let [x, ..] = pool.read_positions(id).unwrap()[0];
    assert!((2e36..4e36).contains(&x), "{x:e}");
}

#[test]
fn seventy_thousand_instances_take_more_than_one_row_of_workgroups() {
    let gpu = common::gpu();
    let mut asset = Scene::new();
    for k in 0..2 {
        asset.add_particle(Particle { position: [k as f32, 0.0, 0.0], ..Particle::default() }).unwrap();
    }
    asset.add(Distance { particles: [0, 1], rest_length: 1.0 }, Material::RIGID).unwrap();
    asset.pin(0).unwrap();
    let settings = Settings { substeps: 2, ..Settings::default() };
    let mut pool = instances(&gpu, &asset, 70_000, settings);
    let place = |k: u32| Placement::at([(k % 300) as f32, 0.0, (k / 300) as f32]);
    let all: Vec<Instance> = (0..70_000).map(|k| Instance { placement: place(k), ..Instance::default() }).collect();
    let ids = pool.spawn_many(&all).unwrap();
    pool.step(1);
    for k in [0u32, 1, 65_534, 65_535, 65_536, 69_999] {
        let mut reference = reference(&asset, &all[k as usize], settings);
        reference.step(1);
        let tolerance = if is_exact(&gpu) { 0.0 } else { 2e-5 };
        assert_eq!(difference(&pool, ids[k as usize], &reference, tolerance), None, "instance {k}");
    }
    println!("{} bytes a particle", pool.memory_bytes() as f64 / 140_000.0);
}

/// Some drivers end long loops silently. The limit on substeps keeps the loops below that length.
#[test]
fn a_step_with_the_most_substeps_runs_to_its_end() {
    let gpu = common::gpu();
    let wind = Some(Wind { velocity: [2.0, 0.0, 1.0], ..Wind::default() });
    for (asset, settings) in [(flag(12, 13, Bending::Hinges), Settings { wind, ..few() }), (rope(), few())] {
        let mut pool = instances(&gpu, &asset, 1, settings);
        let id = pool.spawn(&Instance::default()).unwrap();
        let (mut least, mut most) = (1, 10_001);
        while most - least > 1 {
            let substeps = (least + most) / 2;
            let taken = pool.set_settings(Settings { substeps, ..settings }).is_ok();
            *(if taken { &mut least } else { &mut most }) = substeps;
        }
        assert!((100..10_000).contains(&least), "{least} substeps");
        let settings = Settings { substeps: least, ..settings };
        pool.set_settings(settings).unwrap();
        let mut reference = reference(&asset, &Instance::default(), settings);
        pool.step(1);
        reference.step(1);
        let tolerance = if is_exact(&gpu) { 0.0 } else { 1e-3 };
        assert_eq!(difference(&pool, id, &reference, tolerance), None, "{least} substeps");
    }
}

/// Software drivers end long loops silently, and all threads of a subgroup take part in a loop until the last one
/// leaves it.
#[test]
fn assets_with_too_many_loop_iterations_in_wind_are_rejected() {
    let gpu = common::gpu();
    // Eight fans of 60 triangles; their hubs are in eight rows of threads, each at a different thread.
    let middles: Vec<u32> = (0..8).map(|k| 129 * k).collect();
    let mut positions: Vec<[f32; 3]> = (0..1024u16).map(|k| [f32::from(k), 50.0, 0.0]).collect();
    let mut others = (0..1024).filter(|particle| !middles.contains(particle));
    let mut triangles = Vec::new();
    for &middle in &middles {
        let rim: Vec<u32> = others.by_ref().take(40).collect();
        let at = positions[middle as usize];
        for (k, &particle) in (0..40u8).zip(&rim) {
            let angle = f32::from(k) / 40.0 * std::f32::consts::TAU;
            positions[particle as usize] = [at[0] + angle.cos(), at[1] + 0.1 * (3.0 * angle).sin(), angle.sin()];
            triangles.push([middle, particle, rim[(usize::from(k) + 1) % 40]]);
        }
    }
    let mut asset = Scene::new();
    let fabric = Fabric { bending: Bending::None, ..Fabric::default() };
    let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers: None };
    asset.add_cloth_mesh(&mesh).unwrap();
    let wind = Some(Wind { velocity: [1.0, 0.0, 2.0], ..Wind::default() });
    let mut refused = 0;
    for substeps in [20, 60, 90, 110, 130, 150, 200, 300] {
        let settings = Settings { substeps, wind, ..Settings::default() };
        let mut pool = match Instances::with_store(&store(&gpu), &gpu.queue, &asset, 1, settings) {
            Ok(pool) => pool,
            Err(error) => {
                assert!(matches!(error, Error::TooLarge { count, limit: 60_000, .. } if count > 60_000), "{error}");
                refused += 1;
                continue;
            }
        };
        let id = pool.spawn(&Instance::default()).unwrap();
        let mut reference = reference(&asset, &Instance::default(), settings);
        pool.step(1);
        reference.step(1);
        let tolerance = if is_exact(&gpu) { 0.0 } else { 1e-4 };
        assert_eq!(difference(&pool, id, &reference, tolerance), None, "{substeps} substeps");
    }
    assert!((1..7).contains(&refused), "{refused}");
}

#[test]
fn a_repeated_run_has_the_same_bits() {
    let gpu = common::gpu();
    let asset = flag(12, 13, Bending::Hinges);
    let wind = Wind { velocity: [4.0, 0.0, 1.0], gust: 0.5, turbulence: 1.0, ..Wind::default() };
    let play = || {
        let mut pool = instances(&gpu, &asset, 4, Settings { wind: Some(wind), iterations: 2, ..few() });
        let ids = pool.spawn_many(&some()).unwrap();
        pool.step(4);
        ids.into_iter().map(|id| pool.read_positions(id).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(play(), play());
}

/// Random spawns, removals, pins, releases, targets, teleports and steps, with a reference for each instance.
#[test]
fn instances_are_independent_under_any_order_of_changes() {
    let gpu = common::gpu();
    let tolerance = if is_exact(&gpu) { 0.0 } else { 1e-4 };
    let asset = flag(5, 4, Bending::Springs);
    let settings = Settings { substeps: 2, wind: Some(Wind { velocity: [1.0, 0.0, 0.0], ..Wind::default() }), ..few() };
    for seed in 1..4u32 {
        let mut state = seed;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        let mut pool = instances(&gpu, &asset, 5, settings);
        // Each entry has a flag that is true if one of its particles has a target.
        let mut model: Vec<(InstanceId, Reference, bool)> = Vec::new();
        for turn in 0..60 {
            let who = if model.is_empty() { 0 } else { random(model.len() as u32) as usize };
            let what = random(9);
            match what {
                0 | 1 if model.len() < 5 => {
                    let mut instance = some()[random(4) as usize].clone();
                    instance.placement.position[0] += random(10) as f32;
                    let id = pool.spawn(&instance).unwrap();
                    model.push((id, reference(&asset, &instance, settings), false));
                }
                2 if !model.is_empty() => {
                    let (id, ..) = model.swap_remove(who);
                    pool.remove(id).unwrap();
                }
                3..=5 if !model.is_empty() => {
                    let (id, reference, is_led) = &mut model[who];
                    let particles = [random(20), random(20)];
                    if what == 3 {
                        pool.release(*id, &particles).unwrap();
                        reference.release(&particles).unwrap();
                    } else {
                        pool.pin(*id, &particles).unwrap();
                        reference.pin(&particles).unwrap();
                        if what == 5 {
                            let [x, y, z] = reference.read_positions().unwrap()[particles[0] as usize];
                            let target = [x, y + 0.01, z];
                            pool.set_target(*id, particles[0], target).unwrap();
                            reference.set_target(particles[0], target).unwrap();
                            *is_led = true;
                        }
                    }
                }
                _ => {
                    if let Some((id, reference, false)) = model.get_mut(who).filter(|_| what == 6) {
                        let from = pool.placement(*id).unwrap();
                        let [x, y, z] = from.position;
                        let to = Placement { position: [x + 1.0, y, z - 0.3], ..from };
                        pool.teleport(*id, to).unwrap();
                        let carried = |x: [f32; 3]| Vec3::from(x) - Vec3::from(from.position) + Vec3::from(to.position);
                        let positions: Vec<_> =
                            reference.read_positions().unwrap().into_iter().map(|x| carried(x).into()).collect();
                        let velocities = reference.read_velocities().unwrap();
                        reference.set_positions(0, &positions).unwrap();
                        reference.set_velocities(0, &velocities).unwrap();
                    }
                    pool.step(1);
                    model.iter_mut().for_each(|(_, reference, _)| reference.step(1));
                }
            }
            assert_eq!(pool.len() as usize, model.len());
            if turn % 10 == 9 {
                pool.step(1);
                for (id, reference, _) in &mut model {
                    reference.step(1);
                    assert_eq!(difference(&pool, *id, reference, tolerance), None, "seed {seed}, turn {turn}");
                }
            }
        }
    }
}

#[test]
fn required_limits_are_sufficient() {
    let asset = flag(5, 4, Bending::Springs);
    let gpu = common::gpu_with(Instances::required_limits(&asset, 50, &few()));
    let mut pool = instances(&gpu, &asset, 50, few());
    let all = vec![Instance { pinned: Some(vec![7]), ..Instance::default() }; 50];
    let before = pool.memory_bytes();
    let ids = pool.spawn_many(&all).unwrap();
    pool.step(1);
    assert!(pool.memory_bytes() > before);
    assert_eq!(pool.read_positions(ids[49]).unwrap()[7], asset.positions()[7]);
    // Large pools need more than the default limits.
    let limits = Instances::required_limits(&flag(32, 32, Bending::Springs), 10_000, &few());
    assert!(limits.max_storage_buffer_binding_size >= 1025 * 10_000 * 32);
}

#[test]
fn positions_in_workgroup_and_storage_memory_have_the_same_bits() {
    let asset = flag(25, 24, Bending::Springs);
    let wind = Some(Wind { velocity: [2.0, 0.0, 1.0], ..Wind::default() });
    let play = |gpu: &Context| {
        let mut pool = instances(gpu, &asset, 2, Settings { wind, ..few() });
        let ids = [0.0, 2.0].map(|x| {
            let placement = Placement { position: [x, 0.0, 0.0], scale: 1.0 + x, ..Placement::default() };
            pool.spawn(&Instance { placement, velocity: [0.0, x, 0.5], ..Instance::default() }).unwrap()
        });
        pool.step(2);
        pool.teleport(ids[1], Placement { position: [0.0, 3.0, 0.0], ..Placement::default() }).unwrap();
        pool.step(2);
        ids.map(|id| pool.read_positions(id).unwrap())
    };
    // 600 particles of 16 bytes fit into this workgroup memory, of 32 bytes they do not.
    let small = wgpu::Limits { max_compute_workgroup_storage_size: 12_288, ..wgpu::Limits::default() };
    let (near, far) = (play(&common::gpu()), play(&common::gpu_with(small)));
    let tolerance = if is_exact(&common::gpu()) { 0.0 } else { 1e-4 };
    for (near, far) in near.iter().zip(&far) {
        assert_eq!(first_unequal(near, far, tolerance), None);
    }
}

/// Each kind but the groups, with a material that has all parameters.
#[test]
fn every_kind_agrees_in_instances() {
    let gpu = common::gpu();
    let material = Material { compliance: 1e-4, damping: 10.0, damping_time: 1e-3, stiffness: 0.5 };
    for (place, info, sample) in common::raw::cases().filter(|(_, info, _)| !info.is_group() && info.orientations == 0)
    {
        let scene = common::raw::scene_of(place, &sample, &sample.positions, material);
        let settings = Settings { substeps: 3, iterations: 3, relaxation: 1.2, ..Settings::default() };
        let mut pool = instances(&gpu, &scene, 1, settings);
        let id = pool.spawn(&Instance::default()).unwrap();
        let mut reference = Reference::of_asset(&scene, settings).unwrap();
        pool.step(3);
        reference.step(3);
        let (solved, expected) = (pool.read_positions(id).unwrap(), reference.read_positions().unwrap());
        let tolerance = if is_exact(&gpu) { 0.0 } else { 1e-4 };
        assert_eq!(first_unequal(&solved, &expected, tolerance), None, "{}", info.name);
    }
}
