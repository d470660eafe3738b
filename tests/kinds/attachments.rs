//! Attachments, on both backends: forces, compliance, breaks, momentum, and changes while running.

use crate::common::{backends, distance, gpu, momentum, solver};
use supple::internals::Pass;
use supple::{
    Attachment, AttachmentTarget, ClothGrid, Collider, ColliderForce, Cord, Error, Execution, Material, Particle,
    ParticlePoint, Pose, Reference, Rope, Scene, Settings, Shape, Simulation,
};

const GRAVITY: f32 = 9.81;

fn particle(scene: &mut Scene, position: [f32; 3], mass: f32) -> u32 {
    scene.add_particle(Particle { position, velocity: [0.0; 3], inverse_mass: 1.0 / mass }).unwrap()
}

/// A rope of 0.1 kg/m from a point down, with a weight at its end. Returns its particles and its mass with the weight.
fn rope(scene: &mut Scene, [x, y, z]: [f32; 3], length: f32, weight: f32) -> (std::ops::Range<u32>, f32) {
    let points: Vec<[f32; 3]> = (0..9).map(|k| [x, y - length * k as f32 / 8.0, z]).collect();
    let cord = Cord { linear_density: 0.1, axial_stiffness: 1e4, damping: 5.0, bend: None, flexural_rigidity: 0.0 };
    let particles = scene.add_rope(&Rope { points: &points, cord, tethers: None }).unwrap().particles;
    let last = particles.end - 1;
    let own = 0.1 * length / 16.0 + weight;
    scene.set_mass(last, own).unwrap();
    (particles, 0.1 * length + weight)
}

/// The mean over a second, after `steps` steps.
fn mean<const N: usize>(
    backend: &mut dyn Simulation,
    steps: u32,
    value: impl Fn(&dyn Simulation) -> [f32; N],
) -> [f32; N] {
    backend.step(steps);
    let mut sum = [0.0; N];
    for _ in 0..60 {
        backend.step(1);
        let own = value(backend);
        sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own / 60.0);
    }
    sum
}

#[test]
fn a_collider_feels_the_weight_of_an_attached_rope() {
    for execution in [Execution::Colors, Execution::Clusters] {
        let mut scene = Scene::new();
        let turned = Pose { position: [0.5, 1.0, 0.0], rotation: [0.0, 0.0, 0.5f32.sqrt(), 0.5f32.sqrt()] };
        let shape = Shape::Box { half_extents: [0.1; 3] };
        let id = scene.add_collider(Collider { pose: turned, shape, ..Collider::default() }).unwrap();
        // The x axis of the box points up, its y axis along −x.
        let (particles, mass) = rope(&mut scene, [0.7, 0.8, 0.0], 0.8, 2.0);
        let target = AttachmentTarget::Collider { id, point: [-0.2, -0.2, 0.0] };
        scene.add_attachment(Attachment::new(ParticlePoint::Particle(particles.start), target)).unwrap();
        let settings = Settings { execution, damping: 2.0, ..Settings::default() };
        for mut backend in backends(&gpu(), &scene, settings) {
            let [_, force, _, _, _, torque, own] = mean(&mut *backend, 60, |backend| {
                let ColliderForce { force: [x, y, z], torque: [a, b, c] } = backend.read_collider_forces().unwrap()[0];
                [x, y, z, a, b, c, backend.read_attachments().unwrap()[0].force[1]]
            });
            println!("{execution:?}: {force:?} N, {torque:?} N m of {} N", mass * GRAVITY);
            assert!((force + mass * GRAVITY).abs() < 0.01 * mass * GRAVITY, "{force}");
            assert!((torque + 0.2 * mass * GRAVITY).abs() < 0.01 * 0.2 * mass * GRAVITY, "{torque}");
            assert!((own - mass * GRAVITY).abs() < 0.01 * mass * GRAVITY, "{own}");
            let first = backend.read_positions().unwrap()[particles.start as usize];
            assert!(distance(first, [0.7, 0.8, 0.0]) < 1e-3, "{first:?}");
        }
    }
}

#[test]
fn a_rope_hangs_from_a_point_on_a_triangle_of_a_pinned_cloth() {
    for execution in [Execution::Colors, Execution::Tiles, Execution::Clusters] {
        let mut scene = Scene::new();
        let grid = ClothGrid { columns: 5, rows: 5, ..ClothGrid::default() };
        let cloth = scene.add_cloth_grid(&grid).unwrap().particles;
        cloth.clone().for_each(|particle| scene.pin(particle).unwrap());
        let corners = [cloth.start + 6, cloth.start + 7, cloth.start + 11];
        let weights = [0.5, 0.2, 0.3];
        let at = |axis: usize| {
            corners.iter().zip(weights).map(|(&corner, w)| scene.positions()[corner as usize][axis] * w).sum::<f32>()
        };
        let point = [at(0), at(1), at(2)];
        let (particles, mass) = rope(&mut scene, point, 0.5, 0.5);
        let target = AttachmentTarget::Particles(ParticlePoint::Triangle(corners, weights));
        scene.add_attachment(Attachment::new(ParticlePoint::Particle(particles.start), target)).unwrap();
        let settings = Settings { execution, damping: 2.0, ..Settings::default() };
        for mut backend in backends(&gpu(), &scene, settings) {
            let force = mean(&mut *backend, 30, |backend| backend.read_attachments().unwrap()[0].force);
            assert!((force[1] - mass * GRAVITY).abs() < 0.01 * mass * GRAVITY, "{execution:?}: {force:?}");
            let first = backend.read_positions().unwrap()[particles.start as usize];
            assert!(distance(first, point) < 1e-3, "{execution:?}: {first:?} {point:?}");
        }
    }
}

/// A free weight on a cloth pulls it down: both ends feel the force.
#[test]
fn a_weight_on_an_edge_divides_its_force_by_the_weights() {
    let mut scene = Scene::new();
    let ends = [[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]].map(|position| particle(&mut scene, position, 0.1));
    let weight = particle(&mut scene, [0.25, 0.0, 0.0], 1.0);
    let point = ParticlePoint::Particle(weight);
    let target = AttachmentTarget::Particles(ParticlePoint::Edge(ends, [0.25, 0.75]));
    scene.add_attachment(Attachment::new(point, target)).unwrap();
    for (end, x) in ends.into_iter().zip([-0.5, 0.5]) {
        let hook = AttachmentTarget::Space([x, 0.0, 0.0]);
        scene.add_attachment(Attachment::new(ParticlePoint::Particle(end), hook)).unwrap();
    }
    for mut backend in backends(&gpu(), &scene, Settings { damping: 4.0, ..Settings::default() }) {
        let forces = mean(&mut *backend, 60, |backend| {
            [0, 1, 2].map(|index| backend.read_attachments().unwrap()[index].force[1])
        });
        for (force, expected) in forces.into_iter().zip([1.0, 0.1 + 0.25, 0.1 + 0.75]) {
            assert!((force - expected * GRAVITY).abs() < 0.01 * GRAVITY, "{force} {expected}");
        }
    }
}

#[test]
fn the_extension_is_the_force_times_the_compliance() {
    for (rest_length, only_pull) in [(0.0, false), (0.4, false), (0.4, true)] {
        for iterations in [1, 3] {
            let mut scene = Scene::new();
            let weight = particle(&mut scene, [0.1, -rest_length, 0.0], 0.5);
            let hook = AttachmentTarget::Space([0.1, 0.0, 0.0]);
            let material = Material { compliance: 0.02, damping: 20.0, ..Material::RIGID };
            let attachment = Attachment::new(ParticlePoint::Particle(weight), hook);
            scene.add_attachment(Attachment { rest_length, only_pull, material, ..attachment }).unwrap();
            let settings = Settings { iterations, damping: 1.0, ..Settings::default() };
            for mut backend in backends(&gpu(), &scene, settings) {
                backend.step(180);
                let extension = -backend.read_positions().unwrap()[weight as usize][1] - rest_length;
                let expected = 0.02 * 0.5 * GRAVITY;
                assert!((extension - expected).abs() < 0.01 * expected, "{rest_length} m: {extension} {expected}");
                let force = backend.read_attachments().unwrap()[0].force[1];
                assert!((force - 0.5 * GRAVITY).abs() < 0.01 * GRAVITY, "{force}");
            }
        }
    }
}

#[test]
fn an_attachment_that_only_pulls_does_not_push() {
    for only_pull in [true, false] {
        let mut scene = Scene::new();
        let weight = particle(&mut scene, [0.0, 0.3, 0.0], 1.0);
        let hook = AttachmentTarget::Space([0.0; 3]);
        let attachment =
            Attachment { rest_length: 0.5, only_pull, ..Attachment::new(ParticlePoint::Particle(weight), hook) };
        scene.add_attachment(attachment).unwrap();
        let settings = Settings { gravity: [0.0; 3], ..Settings::default() };
        for mut backend in backends(&gpu(), &scene, settings) {
            backend.step(1);
            assert_eq!(backend.read_positions().unwrap()[0] == [0.0, 0.3, 0.0], only_pull);
        }
    }
}

#[test]
fn an_attachment_breaks_above_its_break_force_and_holds_below() {
    let mut scene = Scene::new();
    for (k, share) in [1.05, 0.95].into_iter().enumerate() {
        let weight = particle(&mut scene, [k as f32, 0.0, 0.0], 2.0);
        let hook = AttachmentTarget::Space([k as f32, 0.0, 0.0]);
        let attachment = Attachment::new(ParticlePoint::Particle(weight), hook);
        scene.add_attachment(Attachment { break_force: Some(share * 2.0 * GRAVITY), ..attachment }).unwrap();
    }
    for mut backend in backends(&gpu(), &scene, Settings::default()) {
        backend.step(1);
        let [holds, breaks] = backend.read_attachments().unwrap()[..] else { panic!() };
        assert!(!holds.is_broken && breaks.is_broken, "{holds:?} {breaks:?}");
        assert!((breaks.force[1] - 2.0 * GRAVITY).abs() < 0.01 * GRAVITY, "{breaks:?}");
        backend.step(60);
        let [holds, breaks] = backend.read_attachments().unwrap()[..] else { panic!() };
        assert!(!holds.is_broken && breaks.is_broken && breaks.force == [0.0; 3], "{holds:?} {breaks:?}");
        let positions = backend.read_positions().unwrap();
        assert!(positions[0][1] > -1e-3 && positions[1][1] < -4.0, "{positions:?}");
        // A reset mends it.
        backend.reset();
        assert!(backend.read_attachments().unwrap().iter().all(|own| !own.is_broken && own.force == [0.0; 3]));
    }
}

/// Ropes in a row, each attached to the middle of the last segment of the one before. The angular momentum changes by
/// less than 0.1 % of Σ m |v| times 1 m in a second, about as much as that of a rope alone.
#[test]
fn attachments_between_free_bodies_keep_both_momenta() {
    for rest_length in [0.0, 0.3] {
        let mut scene = Scene::new();
        let cord = Cord { linear_density: 0.5, axial_stiffness: 1e3, damping: 0.0, bend: None, flexural_rigidity: 0.0 };
        let (mut start, mut last) = ([0.0f32; 3], None);
        for k in 0..4 {
            let way = [0.1, 0.08 * if k % 2 == 0 { 1.0 } else { -1.0 }, 0.02 * k as f32];
            let at = |share: f32| [0, 1, 2].map(|axis| start[axis] + way[axis] * share);
            let points: Vec<[f32; 3]> = (0..6).map(|i| at(i as f32)).collect();
            let particles = scene.add_rope(&Rope { points: &points, cord, tethers: None }).unwrap().particles;
            if let Some(last) = last {
                let point = ParticlePoint::Edge([last - 1, last], [0.5, 0.5]);
                let target = AttachmentTarget::Particles(ParticlePoint::Particle(particles.start));
                scene.add_attachment(Attachment { rest_length, ..Attachment::new(point, target) }).unwrap();
            }
            last = Some(particles.end - 1);
            start = at(4.5);
            start[2] += rest_length;
        }
        for particle in 0..scene.particle_count() as u32 {
            let k = particle as f32;
            scene.set_velocity(particle, [(1.3 * k).sin(), (0.7 * k).cos(), (2.1 * k).sin()]).unwrap();
        }
        let angular = |positions: &[[f32; 3]], velocities: &[[f32; 3]]| {
            let mut sum = glam::DVec3::ZERO;
            for ((x, v), w) in positions.iter().zip(velocities).zip(scene.inverse_masses()) {
                let [x, v] = [x, v].map(|vector| glam::Vec3::from(*vector).as_dvec3());
                sum += x.cross(v) / f64::from(*w);
            }
            sum
        };
        let settings = Settings { gravity: [0.0; 3], substeps: 40, ..Settings::default() };
        for mut backend in backends(&gpu(), &scene, settings) {
            let read = |backend: &dyn Simulation| {
                let (x, v) = (backend.read_positions().unwrap(), backend.read_velocities().unwrap());
                let masses = v.iter().zip(scene.inverse_masses());
                let scale: f64 = masses.map(|(v, w)| distance(*v, [0.0; 3]) / f64::from(*w)).sum();
                (momentum(&scene, &v), angular(&x, &v), scale)
            };
            backend.step(1);
            let (before, angular_before, scale) = read(&*backend);
            backend.step(60);
            let (after, angular_after, _) = read(&*backend);
            let lost = angular_before.distance(angular_after);
            println!("{rest_length} m: {before:?} {after:?}: angular {lost:e} of {scale:e}");
            assert!((0..3).all(|axis| (before[axis] - after[axis]).abs() < 1e-5 * scale), "{before:?} {after:?}");
            assert!(lost < 1e-3 * scale, "{angular_before:?} {angular_after:?} of {scale}");
        }
    }
}

#[test]
fn attachments_are_added_moved_and_released_while_running() {
    let mut scene = Scene::new();
    let weight = particle(&mut scene, [0.0; 3], 1.0);
    let pin = particle(&mut scene, [1.0, 0.0, 0.0], 1.0);
    scene.pin(pin).unwrap();
    scene.reserve_attachments(2).unwrap();
    let point = ParticlePoint::Particle(weight);
    for mut backend in backends(&gpu(), &scene, Settings::default()) {
        let hook = Attachment::new(point, AttachmentTarget::Space([0.0; 3]));
        let id = backend.attach(hook).unwrap();
        backend.step(10);
        assert!(distance(backend.read_positions().unwrap()[0], [0.0; 3]) < 1e-5);
        // A moved point in space moves evenly in the step: 0.6 m/s.
        for k in 1..=10 {
            backend.move_attachment(id, [0.01 * k as f32, 0.0, 0.0]).unwrap();
            backend.step(1);
        }
        assert!(
            distance(backend.read_positions().unwrap()[0], [0.1, 0.0, 0.0]) < 1e-5,
            "{:?}",
            backend.read_positions().unwrap()
        );
        let velocity = backend.read_velocities().unwrap()[0];
        assert!(distance(velocity, [0.6, 0.0, 0.0]) < 1e-2, "{velocity:?}");
        backend.release_attachment(id).unwrap();
        assert_eq!(backend.release_attachment(id), Err(Error::NoAttachment { index: 0 }));
        backend.step(30);
        assert!(backend.read_positions().unwrap()[0][1] < -1.0);
        // Attached again, on a string to a pinned particle.
        let target = AttachmentTarget::Particles(ParticlePoint::Particle(pin));
        let string = Attachment { rest_length: 0.5, only_pull: true, ..Attachment::new(point, target) };
        let other = backend.attach(string).unwrap();
        assert!(other != id && other.index() == id.index());
        backend.set_velocities(0, &[[0.0; 3]]).unwrap();
        backend.step(60);
        let [own, pin] = backend.read_positions().unwrap()[..] else { panic!() };
        assert!(distance(own, pin) < 0.505 && pin == [1.0, 0.0, 0.0], "{own:?} {pin:?}");
        // A shift of the origin moves points in space, and a reset removes both.
        let third = Attachment::new(ParticlePoint::Particle(weight), AttachmentTarget::Space([1.0, -0.5, 0.0]));
        backend.attach(third).unwrap();
        backend.step(30);
        backend.shift_origin([3.0, 0.0, 0.0]).unwrap();
        backend.step(30);
        let own = backend.read_positions().unwrap()[0];
        assert!(distance(own, [4.0, -0.5, 0.0]) < 1e-3, "{own:?}");
        backend.reset();
        assert!(backend.read_attachments().unwrap().is_empty());
    }
}

/// Two panels along an edge: the gaps are below 1 % of the length of an edge.
#[test]
fn panels_attached_along_an_edge_stay_together() {
    let mut scene = Scene::new();
    let panel = |scene: &mut Scene, z: f32| {
        let grid = ClothGrid {
            columns: 11,
            rows: 6,
            origin: [0.0, 0.0, z],
            column_axis: [1.0, 0.0, 0.0],
            row_axis: [0.0, 0.0, 0.5],
            ..ClothGrid::default()
        };
        scene.add_cloth_grid(&grid).unwrap().particles.start
    };
    let [left, right] = [panel(&mut scene, 0.0), panel(&mut scene, 0.5)];
    (0..11).for_each(|column| scene.pin(left + column).unwrap());
    for column in 0..11 {
        let target = AttachmentTarget::Particles(ParticlePoint::Particle(right + column));
        let point = ParticlePoint::Particle(left + 55 + column);
        scene.add_attachment(Attachment::new(point, target)).unwrap();
    }
    for execution in [Execution::Colors, Execution::Tiles, Execution::Clusters] {
        let settings = Settings { execution, damping: 0.5, ..Settings::default() };
        for mut backend in backends(&gpu(), &scene, settings) {
            backend.step(90);
            let positions = backend.read_positions().unwrap();
            let gaps = (0..11).map(|k| distance(positions[(left + 55 + k) as usize], positions[(right + k) as usize]));
            let widest = gaps.fold(0.0, f64::max);
            println!("{execution:?}: widest gap {widest:e} m");
            assert!(widest < 1e-3, "{execution:?}: {widest}");
            assert!(positions[right as usize + 60][1] < -0.5);
        }
    }
}

#[test]
fn a_plan_has_the_passes_of_attachments_only_with_room_for_them() {
    let mut scene = Scene::new();
    particle(&mut scene, [0.0; 3], 1.0);
    for room in [0, 1] {
        scene.reserve_attachments(room).unwrap();
        let settings = Settings { iterations: 3, ..Settings::default() };
        let reference = Reference::new(&scene, settings).unwrap();
        let is_solve = |pass: &&Pass| matches!(pass, Pass::SolveAttachments { .. });
        assert_eq!(reference.plan().substep.iter().filter(is_solve).count(), 3 * room as usize);
        assert_eq!(reference.plan().contains(&Pass::FinishAttachments), room > 0);
    }
}

/// Ids of attachments outlast an edit of the scene and a reset. The room does not shrink while they need it.
#[test]
fn attachments_keep_their_ids_when_a_part_is_removed_and_the_solver_is_reset() {
    let mut scene = Scene::new();
    let first = particle(&mut scene, [0.0; 3], 1.0);
    let points = [1.0, 2.0, 3.0].map(|x| particle(&mut scene, [x, 0.0, 0.0], 1.0));
    let held = |own: u32, x: f32| Attachment::new(ParticlePoint::Particle(own), AttachmentTarget::Space([x, 0.0, 0.0]));
    scene.add_attachment(held(first, 0.0)).unwrap();
    let ids = [0, 1].map(|k| scene.add_attachment(held(points[k], 1.0 + k as f32)).unwrap());
    scene.reserve_attachments(6).unwrap();
    let mut edited = scene.clone();
    let gone = first..first + 1;
    let map = edited.remove(std::slice::from_ref(&gone)).unwrap();
    edited.reserve_attachments(1).unwrap();
    assert_eq!(edited.attachments().len(), 2);
    // A solver of the edited scene has the same ids.
    let fresh = Reference::new(&edited, Settings::default()).unwrap().read_attachments().unwrap();
    assert_eq!(fresh.iter().map(|force| force.id).collect::<Vec<_>>(), ids);
    for mut backend in backends(&gpu(), &scene, Settings::default()) {
        // The edge has another colour than the attachments of its particles.
        let added = backend.attach(held(points[2], 3.0)).unwrap();
        let edge = ParticlePoint::Edge([points[0], points[2]], [0.5, 0.5]);
        backend.attach(Attachment::new(edge, AttachmentTarget::Space([2.0, 0.0, 0.0]))).unwrap();
        backend.release_attachment(added).unwrap();
        backend.replace_scene(&edited, &map).unwrap();
        backend.step(1);
        assert_eq!(backend.read_attachments().unwrap().len(), 3);
        backend.reset();
        for (k, id) in ids.into_iter().enumerate() {
            let place = [1.0 + k as f32, 0.5, 0.0];
            backend.move_attachment(id, place).unwrap();
            backend.step(2);
            let x = backend.read_positions().unwrap();
            assert!(distance(x[k], place) < 1e-4, "{x:?}");
        }
    }
}

/// A new attachment may reuse the index of a removed one, but not its id. A snapshot after an edit fits a new solver of the scene.
#[test]
fn ids_of_removed_attachments_name_no_later_one() {
    let gpu = gpu();
    let mut scene = Scene::new();
    let points = [0.0, 1.0, 2.0].map(|x| particle(&mut scene, [x, 0.0, 0.0], 1.0));
    let held =
        |own: u32| Attachment::new(ParticlePoint::Particle(own), AttachmentTarget::Space([own as f32, 0.0, 0.0]));
    let ids = points.map(|own| scene.add_attachment(held(own)).unwrap());
    let mut before = solver(&gpu, &scene, Settings::default());
    let gone = points[2]..points[2] + 1;
    let map = scene.remove(std::slice::from_ref(&gone)).unwrap();
    before.replace_scene(&scene, &map).unwrap();
    before.step(2);
    let snapshot = before.snapshot().unwrap();
    let mut fresh = solver(&gpu, &scene, Settings::default());
    fresh.restore(&snapshot).unwrap();
    assert_eq!(fresh.read_positions().unwrap(), before.read_positions().unwrap());
    // 4096 times: the removed indices are free again.
    for _ in 0..Scene::MOST_ATTACHMENTS {
        let last = particle(&mut scene, [2.0, 0.0, 0.0], 1.0);
        let id = scene.add_attachment(held(last)).unwrap();
        assert!(id.index() == 2 && id != ids[2]);
        let gone = last..last + 1;
        scene.remove(std::slice::from_ref(&gone)).unwrap();
    }
    let last = particle(&mut scene, [2.0, 0.0, 0.0], 1.0);
    let id = scene.add_attachment(held(last)).unwrap();
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    assert!(matches!(reference.move_attachment(ids[2], [0.0; 3]), Err(Error::NoAttachment { index: 2 })));
    reference.move_attachment(id, [2.0, 0.5, 0.0]).unwrap();
    reference.release_attachment(id).unwrap();
    assert!(reference.attach(held(last)).unwrap() != id);
}

/// A shift of the origin keeps points in space within the range that attachments and snapshots accept.
#[test]
fn a_shift_that_moves_a_point_in_space_too_far_is_an_error() {
    let mut scene = Scene::new();
    let own = particle(&mut scene, [9e5, 0.0, 0.0], 1.0);
    let held = Attachment::new(ParticlePoint::Particle(own), AttachmentTarget::Space([9e5, 0.0, 0.0]));
    scene.add_attachment(held).unwrap();
    for mut backend in backends(&gpu(), &scene, Settings::default()) {
        let error = backend.shift_origin([2e5, 0.0, 0.0]).unwrap_err().to_string();
        assert!(error.contains("point in space of attachment 0") && error.contains("1100000"), "{error}");
        assert_eq!(backend.read_positions().unwrap()[0], [9e5, 0.0, 0.0]);
        backend.shift_origin([-9e5, 0.0, 0.0]).unwrap();
        backend.step(1);
        assert!(distance(backend.read_positions().unwrap()[0], [0.0; 3]) < 1e-3);
    }
}
