//! Parts come and go while a simulation runs; the rest continues with the same bits.

use crate::common::shapes::icosphere;
use crate::common::{Pair, backends, change, crumple, gpu, hanging_cloth, press};
use std::ops::Range;
use supple::constraints::Kind;
use supple::gpu::{Context, VertexOutput, VertexTarget};
use supple::{
    Attachment, AttachmentTarget, Balloon, ClothGrid, Collider, ColorOrder, ContactMaterial, ContactScale, Cord,
    Distance, Elasticity, Error, Execution, Fabric, LineBend, Material, ParticlePoint, PlasticStrain, Plasticity, Pose,
    Reference, Rod, RodMaterial, Rope, RopeParts, Scene, SceneMap, SelfCollision, Settings, Shape, Skinned,
    SkinnedLimits, SkinnedPose, SoftBody, Tearing, Tethers, Wind, wgpu,
};

fn add_cloth(scene: &mut Scene, x: f32, size: u32) -> Range<u32> {
    let grid = ClothGrid { columns: size, rows: size, origin: [x, 0.0, -1.0], ..ClothGrid::default() };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    crumple(scene, cloth.particles.clone(), 0.01);
    scene.pin(cloth.particles.start).unwrap();
    cloth.particles
}

fn add_rope(scene: &mut Scene, x: f32) -> RopeParts {
    let points: Vec<[f32; 3]> = (0..50).map(|k| [x, 1.0, 0.04 * k as f32]).collect();
    let tethers = Some(Tethers::default());
    let rope = scene.add_rope(&Rope { points: &points, cord: Cord::limp(0.01, 100.0), tethers }).unwrap();
    scene.pin(rope.particles.start).unwrap();
    rope
}

/// The particles that remain have the same state in both pairs, on both backends.
fn assert_same(control: &Pair<'_>, edited: &Pair<'_>, map: &SceneMap, what: &str) {
    let bits = |rows: Vec<[f32; 3]>| rows.into_iter().map(|row| row.map(f32::to_bits)).collect::<Vec<_>>();
    let all = [
        (control.solver.read_positions(), edited.solver.read_positions()),
        (control.solver.read_velocities(), edited.solver.read_velocities()),
        (control.solver.read_displacements(), edited.solver.read_displacements()),
        (control.reference.read_positions(), edited.reference.read_positions()),
        (control.reference.read_displacements(), edited.reference.read_displacements()),
    ];
    for (place, (expected, found)) in all.into_iter().enumerate() {
        let [expected, found] = [expected, found].map(|rows| bits(rows.unwrap()));
        let mut remaining = 0;
        for (particle, row) in (0..).zip(&expected) {
            if let Some(now) = map.particle(particle) {
                assert_eq!(*row, found[now as usize], "{what}: state {place} of particle {particle}, now {now}");
                remaining += 1;
            }
        }
        assert!(remaining > 0, "{what}");
    }
}

fn pair<'a>(gpu: &'a Context, scene: &Scene, settings: Settings) -> Pair<'a> {
    Pair::new(gpu, scene, settings)
}

fn executions() -> [(&'static str, Settings); 5] {
    let wind = Wind { velocity: [3.0, 1.0, -5.0], ..Wind::default() };
    let base = Settings { substeps: 4, damping: 0.3, wind: Some(wind), ..Settings::default() };
    [
        ("auto", base),
        ("colours", Settings { execution: Execution::Colors, ..base }),
        ("tiles", Settings { execution: Execution::Tiles, ..base }),
        ("clusters", Settings { execution: Execution::Clusters, ..base }),
        ("shuffled", Settings { color_order: ColorOrder::Shuffled { seed: 5 }, iterations: 2, ..base }),
    ]
}

#[test]
fn a_rope_is_added_to_a_running_cloth_which_continues_with_the_same_bits() {
    let gpu = gpu();
    for (what, settings) in executions() {
        let (mut scene, _) = hanging_cloth(13, 11);
        let (mut control, mut edited) = (pair(&gpu, &scene, settings), pair(&gpu, &scene, settings));
        control.run(4, 1e-4, what);
        edited.run(4, 1e-4, what);
        let map = scene.map();
        let rope = add_rope(&mut scene, 5.0);
        change!(edited, replace_scene(&scene, &map));
        assert_same(&control, &edited, &map, what);
        control.run(5, 1e-4, what);
        edited.run(5, 1e-4, what);
        assert_same(&control, &edited, &map, what);
        let end = edited.solver.read_positions().unwrap()[rope.particles.end as usize - 1];
        assert!(end[1] < 1.0, "{what}: the rope falls: {end:?}");
        assert_eq!(edited.solver.recorded_steps(), 9);
    }
}

#[test]
fn a_cloth_is_removed_while_another_continues_with_the_same_bits() {
    let gpu = gpu();
    for (what, settings) in executions() {
        let mut scene = Scene::new();
        let first = add_cloth(&mut scene, -3.0, 9);
        let rope = add_rope(&mut scene, 5.0);
        let second = add_cloth(&mut scene, 1.0, 14);
        let (mut control, mut edited) = (pair(&gpu, &scene, settings), pair(&gpu, &scene, settings));
        control.run(4, 1e-4, what);
        edited.run(4, 1e-4, what);
        let map = scene.remove(std::slice::from_ref(&first)).unwrap();
        assert_eq!(map.particles(second.clone()), Some(50..50 + 14 * 14));
        assert_eq!(map.particles(first.clone()), None);
        assert_eq!(map.constraint::<Distance>(rope.segments.start), Some(0));
        change!(edited, replace_scene(&scene, &map));
        control.run(5, 1e-4, what);
        edited.run(5, 1e-4, what);
        assert_same(&control, &edited, &map, what);
    }
}

#[test]
fn a_part_that_is_added_and_removed_leaves_the_same_bits() {
    let gpu = gpu();
    for (what, settings) in executions() {
        let (mut scene, _) = hanging_cloth(13, 11);
        let (mut control, mut edited) = (pair(&gpu, &scene, settings), pair(&gpu, &scene, settings));
        let mut both = scene.map();
        for _ in 0..2 {
            control.run(2, 1e-4, what);
            edited.run(2, 1e-4, what);
            let map = scene.map();
            let rope = add_rope(&mut scene, 5.0).particles;
            let cloth = add_cloth(&mut scene, 8.0, 10);
            change!(edited, replace_scene(&scene, &map));
            control.run(2, 1e-4, what);
            edited.run(2, 1e-4, what);
            let removed = scene.remove(&[rope, cloth]).unwrap();
            change!(edited, replace_scene(&scene, &removed));
            both = both.then(&map).unwrap().then(&removed).unwrap();
        }
        control.run(2, 1e-4, what);
        edited.run(2, 1e-4, what);
        assert_eq!(edited.solver.particle_count(), control.solver.particle_count());
        assert_same(&control, &edited, &both, what);
    }
}

/// Pins, targets, masses, forces, materials, parameters, scales, colliders, attachments and the shift of the origin.
#[test]
fn all_changes_while_running_outlast_a_replacement() {
    let gpu = gpu();
    let mut scene = Scene::new();
    let gone = add_cloth(&mut scene, -6.0, 7);
    let cloth = add_cloth(&mut scene, 1.0, 11);
    let first = cloth.start;
    let link = Distance { particles: [first + 30, first + 52], rest_length: 0.4 };
    let index = scene.add(link, Material::compliant(1e-4)).unwrap();
    let stiff = scene.add_material(Material::compliant(1e-5)).unwrap();
    scene.add_with(Distance { particles: [first + 31, first + 53], rest_length: 0.4 }, stiff).unwrap();
    let rubber = scene.add_contact_material(ContactMaterial::default()).unwrap();
    scene.set_particle_contact(cloth.clone(), rubber).unwrap();
    let ball = scene.add_collider(Collider::new(Shape::Sphere { radius: 0.3 }, [1.5, -0.35, 0.0])).unwrap();
    let lost = Attachment::new(ParticlePoint::Particle(gone.start + 20), AttachmentTarget::Space([-5.0, 1.0, 0.0]));
    scene.add_attachment(lost).unwrap();
    let hook = Attachment {
        material: Material::compliant(1e-3),
        ..Attachment::new(ParticlePoint::Particle(first + 60), AttachmentTarget::Space([2.0, 0.5, 0.0]))
    };
    let hook = scene.add_attachment(hook).unwrap();
    scene.reserve_attachments(6).unwrap();
    let settings = Settings { substeps: 4, forces: true, mean_forces: true, ..Settings::default() };
    let (mut control, mut edited) = (pair(&gpu, &scene, settings), pair(&gpu, &scene, settings));
    let mut ids = Vec::new();
    for pair in [&mut control, &mut edited] {
        pair.run(2, 1e-4, "before");
        change!(pair, pin(&[first + 40, first + 41]));
        change!(pair, release(&[first]));
        change!(pair, set_targets(&[(first + 40, [1.3, 0.2, 0.4])]));
        change!(pair, set_masses(first + 60, &[0.05, 0.06]));
        change!(pair, set_forces(first + 70, &[[0.0, 0.3, 0.1]; 3]));
        change!(pair, set_constraint(index, Distance { rest_length: 0.3, ..link }));
        change!(pair, set_material(stiff, Material::compliant(1e-2)));
        change!(pair, set_contact_scales(first..first + 20, &[ContactScale { thickness: 0.7, friction: 0.5 }; 20]));
        change!(pair, set_contact_material(rubber, ContactMaterial { restitution: 0.3, ..ContactMaterial::default() }));
        change!(pair, add_collider(&Collider::new(Shape::Sphere { radius: 0.3 }, [2.2, -0.4, 0.0])));
        change!(pair, move_collider(ball, Pose { position: [1.5, -0.3, 0.1], ..Pose::default() }));
        let own = ParticlePoint::Edge([first + 100, first + 101], [0.5, 0.5]);
        let target = AttachmentTarget::Collider { id: ball, point: [0.4, 0.0, 0.0] };
        let attachment = Attachment { material: Material::compliant(1e-2), ..Attachment::new(own, target) };
        ids.push(pair.solver.attach(attachment).unwrap());
        pair.reference.attach(attachment).unwrap();
        change!(pair, shift_origin([0.5, -0.25, 0.125]));
        pair.run(3, 1e-4, "changed");
    }
    let map = scene.remove(&[gone]).unwrap();
    change!(edited, replace_scene(&scene, &map));
    assert_same(&control, &edited, &map, "replaced");
    assert_eq!(edited.solver.read_attachments().unwrap().len() + 1, control.solver.read_attachments().unwrap().len());
    let [forces, expected] = [&edited, &control].map(|pair| pair.solver.read_mean_forces::<Distance>().unwrap());
    for (k, force) in (0..).zip(expected) {
        if let Some(now) = map.constraint::<Distance>(k) {
            assert_eq!(force, forces[now as usize], "mean force of constraint {k}");
        }
    }
    for (pair, own) in [(&mut control, first), (&mut edited, map.particle(first).unwrap())] {
        change!(pair, move_attachment(hook, [2.5, 0.4, 0.2]));
        change!(pair, release(&[own + 41]));
        pair.run(6, 1e-4, "continued");
    }
    assert_same(&control, &edited, &map, "continued");
    let [found, expected] = [&edited, &control].map(|pair| pair.solver.read_attachments().unwrap());
    assert_eq!(found[..], expected[1..]);
    change!(edited, release_attachment(ids[1]));
    edited.solver.reset();
    edited.reference.reset();
    edited.run(2, 1e-4, "reset");
}

/// Groups with rotations, plastic constraints, followers, rods and skinned particles behind the removed part.
#[test]
fn bodies_rods_and_skinned_particles_outlast_the_removal_of_others() {
    let gpu = gpu();
    let mut scene = Scene::new();
    let (positions, triangles) = icosphere(1, 0.5);
    let mut parts = Vec::new();
    let rod_points = |x: f32| (0..8).map(|k| [x, 2.0, 0.1 * k as f32]).collect::<Vec<[f32; 3]>>();
    for (k, shape) in [Material::RIGID, Material::compliant(1e-5)].into_iter().enumerate() {
        let moved: Vec<[f32; 3]> = positions.iter().map(|&[x, y, z]| [x + 3.0 * k as f32, y, z]).collect();
        let elasticity = Elasticity::Regions { rings: 1, shape };
        let body = SoftBody { positions: &moved, triangles: &triangles, spacing: 0.3, density: 500.0, elasticity };
        let soft = scene.add_soft_body(&body).unwrap().particles;
        crumple(&mut scene, soft.clone(), 0.05);
        let moved: Vec<[f32; 3]> = moved.iter().map(|&[x, y, z]| [x, y, z - 3.0]).collect();
        let gas = Material::compliant(1e-6);
        let fabric = Fabric { structural: Material::compliant(1e-5), ..Fabric::default() };
        let balloon = Balloon { positions: &moved, triangles: &triangles, fabric, pressure: 1.3, gas };
        let balloon = scene.add_balloon(&balloon).unwrap().cloth.particles;
        let material = RodMaterial::round(0.005, 1e6, 0.3, 1000.0);
        let rod =
            scene.add_rod(&Rod { clamped: [true, false], ..Rod::new(&rod_points(3.0 * k as f32), material) }).unwrap();
        let rope = add_rope(&mut scene, 3.0 * k as f32 + 1.5);
        let soft_rope = Plasticity { yield_strain: 1e-4, ..Plasticity::default() };
        scene.set_plasticity::<Distance>(rope.segments.clone(), soft_rope).unwrap();
        let particle = rope.particles.end - 1;
        let position = scene.positions()[particle as usize];
        let limits = SkinnedLimits { max_distance: 0.02, backstop: None };
        let pose = SkinnedPose { position, normal: [0.0, 1.0, 0.0] };
        scene.add_skinned(Skinned { particle, pose, limits, joints: None }).unwrap();
        parts.push([soft, balloon, rod.particles, rope.particles]);
    }
    let settings = Settings { substeps: 3, body_damping: 0.1, ..Settings::default() };
    let (mut control, mut edited) = (pair(&gpu, &scene, settings), pair(&gpu, &scene, settings));
    for pair in [&mut control, &mut edited] {
        let pose = SkinnedPose { position: [4.5, 1.1, 1.9], normal: [0.0, 1.0, 0.0] };
        change!(pair, set_skinned_poses(1, &[pose]));
        pair.run(4, 1e-3, "before");
    }
    let map = scene.remove(&parts[0]).unwrap();
    assert_eq!(scene.particle_count() * 2, control.solver.particle_count() as usize);
    assert_eq!(scene.orientations().len() * 2, control.solver.read_orientations().unwrap().len());
    assert_eq!(map.skinned(1), Some(0));
    change!(edited, replace_scene(&scene, &map));
    control.run(5, 1e-3, "control");
    edited.run(5, 1e-3, "bodies");
    assert_same(&control, &edited, &map, "bodies");
    let [found, expected] = [&edited, &control].map(|pair| pair.solver.read_orientations().unwrap());
    assert_eq!(found[..], expected[found.len()..]);
    let [found, expected] = [&edited, &control].map(|pair| pair.solver.read_plastic_strains::<Distance>().unwrap());
    assert_eq!(format!("{found:?}").matches("strain").count() * 2, format!("{expected:?}").matches("strain").count());
    assert!(!found.is_empty() && expected.len() == 2 * found.len());
    let states = |rows: &[PlasticStrain]| rows.iter().map(|row| (row.strain, row.is_broken)).collect::<Vec<_>>();
    assert_eq!(states(&found), states(&expected[found.len()..]));
    assert!(found.iter().any(|row| row.strain != 0.0), "{found:?}");
}

#[test]
fn colliders_and_self_collision_work_after_a_replacement() {
    let gpu = gpu();
    let mut scene = press(0.02, 1);
    scene.add_collider(Collider::new(Shape::Sphere { radius: 0.2 }, [0.3, -0.15, 0.0])).unwrap();
    for own in [SelfCollision::default(), SelfCollision::surfaces()] {
        let mut scene = scene.clone();
        let settings =
            Settings { self_collision: Some(own), substeps: 2, contact_events: 20_000, ..Settings::default() };
        let mut pair = pair(&gpu, &scene, settings);
        pair.run(4, 1e-3, "before");
        let map = scene.map();
        let rope = add_rope(&mut scene, 3.0);
        change!(pair, replace_scene(&scene, &map));
        pair.run(4, 1e-3, "with a rope");
        let map = scene.remove(&[rope.particles]).unwrap();
        change!(pair, replace_scene(&scene, &map));
        pair.run(4, 1e-3, "without it");
        assert!(pair.solver.read_contacts().unwrap().contacts > 0);
    }
}

#[test]
fn a_map_that_does_not_fit_and_a_part_that_is_cut_change_nothing() {
    let gpu = gpu();
    let mut scene = Scene::new();
    let first = add_cloth(&mut scene, -3.0, 9);
    let second = add_cloth(&mut scene, 1.0, 9);
    let mut pair = pair(&gpu, &scene, Settings::default());
    pair.run(2, 1e-4, "before");
    let before = pair.solver.read_positions().unwrap();

    let mut edited = scene.clone();
    let cut = edited.remove(std::slice::from_ref(&(first.start..first.start + 9))).unwrap_err();
    assert!(matches!(cut, Error::CutPart { kept: 72, count: 81, .. }), "{cut}");
    assert_eq!(
        cut.to_string(),
        "the body of the particles 0 to 80 must be removed or kept as a whole; 72 of its 81 particles would remain"
    );
    let out = edited.remove(std::slice::from_ref(&(100..200))).unwrap_err();
    assert!(matches!(out, Error::IndexOutOfRange { index: 199, count: 162, .. }), "{out}");
    assert_eq!(edited.particle_count(), 162);

    let map = edited.remove(std::slice::from_ref(&first)).unwrap();
    let other = edited.map();
    let mut swapped = Scene::new();
    add_cloth(&mut swapped, 1.0, 9);
    add_cloth(&mut swapped, -3.0, 9);
    let mut more = scene.clone();
    more.add_collider(Collider::new(Shape::HalfSpace, [0.0, -2.0, 0.0])).unwrap();
    let hook = Attachment::new(ParticlePoint::Particle(5), AttachmentTarget::Space([0.0; 3]));
    let mut attached = scene.clone();
    attached.add_attachment(hook).unwrap();
    for (scene, map, expected) in [
        (&edited, &other, "it has 81 entries for particles, but the scene of the solver has 162"),
        (&edited, &scene.map(), "particle 81 becomes 81, but must be 81 or more and less than 81"),
        (&scene, &map, "particle 81 was added at [1.0, 0.0, -1.0], its new particle 0 at [-3.0, 0.0, -1.0]"),
        (&swapped, &scene.map(), "particle 0 was added at"),
        (
            &more,
            &scene.map(),
            "the new scene has 1 colliders, that of the solver 0; add and remove colliders of the solver",
        ),
        (&attached, &scene.map(), "the new scene has 1 attachments, but the map has 0; attach to the solver"),
    ] {
        for error in [
            pair.solver.replace_scene(scene, map).unwrap_err().to_string(),
            pair.reference.replace_scene(scene, map).unwrap_err().to_string(),
        ] {
            assert!(error.contains(expected), "{error}");
        }
    }
    let nothing = edited.clone().remove(std::slice::from_ref(&(0..81))).unwrap();
    let mut empty = scene.clone();
    let map = empty.remove(&[first, second]).unwrap();
    assert!(matches!(pair.solver.replace_scene(&empty, &map).unwrap_err(), Error::Empty { .. }));
    assert!(scene.map().then(&nothing).is_err());
    assert_eq!(pair.solver.read_positions().unwrap(), before);
    pair.run(2, 1e-4, "after");
}

#[test]
fn vertex_outputs_are_removed_and_can_be_added_again() {
    let gpu = gpu();
    let (mut scene, cloth) = hanging_cloth(8, 8);
    let mut pair = pair(&gpu, &scene, Settings::default());
    pair.run(1, 1e-4, "before");
    let map = scene.map();
    add_rope(&mut scene, 5.0);
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_SRC;
    let descriptor = wgpu::BufferDescriptor { label: None, size: 64 * 12, usage, mapped_at_creation: false };
    let buffer = gpu.device.create_buffer(&descriptor);
    let format = wgpu::VertexFormat::Float32x3;
    let target = VertexTarget { buffer: &buffer, offset: 0, stride: 12, format };
    let vertices: Vec<u32> = cloth.particles.collect();
    let output = VertexOutput { vertices: &vertices, positions: Some(target), ..VertexOutput::EMPTY };
    let old = pair.solver.add_vertex_output(&output).unwrap();
    change!(pair, replace_scene(&scene, &map));
    assert!(matches!(pair.solver.remove_vertex_output(old).unwrap_err(), Error::NoVertexOutput { .. }));
    let new = pair.solver.add_vertex_output(&output).unwrap();
    assert_ne!(old, new);
    pair.run(1, 1e-4, "after");
    pair.solver.remove_vertex_output(new).unwrap();
}

/// The pipelines of a solver are compiled once.
#[test]
fn a_replacement_compiles_no_pipeline_that_exists() {
    let gpu = gpu();
    let (mut scene, _) = hanging_cloth(8, 8);
    add_rope(&mut scene, 4.0);
    let store = supple::gpu::PipelineStore::new(&gpu.device);
    let mut solver = supple::Solver::with_store(&store, &gpu.queue, &scene, Settings::default()).unwrap();
    let count = store.len();
    let map = scene.map();
    add_rope(&mut scene, 5.0);
    solver.replace_scene(&scene, &map).unwrap();
    assert_eq!(store.len(), count);
    let reference = Reference::new(&scene, Settings::default()).unwrap();
    assert_eq!(solver.read_positions().unwrap(), reference.read_positions().unwrap());
    assert_eq!(scene.constraint_count_of(Distance::INFO), solver.coloring::<Distance>().order.len());
}

#[test]
fn a_torn_cloth_continues_while_another_is_removed() {
    let gpu = gpu();
    let mut scene = Scene::new();
    let fabric = Fabric { tearing: Some(Tearing { copies: 40, ..Tearing::at(0.05) }), ..Fabric::default() };
    let structural = Material::compliant(1e-3);
    let cloths = [-4.0, 1.0].map(|x| {
        let fabric = Fabric { structural, ..fabric };
        let grid =
            ClothGrid { columns: 9, rows: 9, origin: [x, 0.0, -1.0], fabric, tethers: None, ..ClothGrid::default() };
        let cloth = scene.add_cloth_grid(&grid).unwrap().particles;
        (0..9).for_each(|k| scene.pin(cloth.start + k).unwrap());
        cloth
    });
    let settings = Settings { substeps: 4, ..Settings::default() };
    let (mut control, mut edited) = (pair(&gpu, &scene, settings), pair(&gpu, &scene, settings));
    let pull = |pair: &mut Pair<'_>, first: u32, steps: u32| {
        let mut torn = 0;
        for _ in 0..steps {
            // The last row, 0.4 m away from its place.
            let row: Vec<[f32; 3]> = (0..9).map(|k| [1.0 + 0.25 * k as f32, 0.0, 1.4]).collect();
            change!(pair, set_positions(first + 72, &row));
            torn += pair.solver.tear().unwrap().edges.len();
            pair.reference.tear().unwrap();
            pair.run(1, 1e-4, "torn");
        }
        torn
    };
    let second = cloths[1].start;
    for pair in [&mut control, &mut edited] {
        assert!(pull(pair, second, 6) > 0);
    }
    let map = scene.remove(&[cloths[0].clone()]).unwrap();
    assert_eq!(scene.particle_count(), 81 + 40);
    change!(edited, replace_scene(&scene, &map));
    assert_same(&control, &edited, &map, "torn");
    let now = map.particle(second).unwrap();
    assert_eq!(pull(&mut control, second, 4), pull(&mut edited, now, 4));
    assert_same(&control, &edited, &map, "torn further");
    edited.solver.reset();
    edited.reference.reset();
    edited.run(2, 1e-4, "mended");
}

/// A rope becomes stiffer while it runs: the entry of the material table of its bends is found by a constraint.
#[test]
fn the_material_of_a_rope_is_found_and_changes_its_stiffness() {
    let gpu = gpu();
    let mut scene = Scene::new();
    let points: Vec<[f32; 3]> = (0..11).map(|k| [0.125 * k as f32, 0.0, 0.0]).collect();
    let cord = Cord { flexural_rigidity: 1e-4, ..Cord::limp(0.1, 1e4) };
    let rope = scene.add_rope(&Rope { points: &points, cord, tethers: None }).unwrap();
    assert_eq!((rope.segments.len(), rope.line_bends.clone()), (10, 0..9));
    scene.pin(0).unwrap();
    scene.pin(1).unwrap();
    let id = scene.material_of::<LineBend>(rope.line_bends.start).unwrap();
    assert_eq!(scene.material_of::<LineBend>(8), Ok(id));
    assert_ne!(scene.material_of::<Distance>(0), Ok(id));
    let error = scene.material_of::<LineBend>(9).unwrap_err().to_string();
    assert_eq!(error, "material_of a line_bend constraint names constraint 9, but there are only 9");
    for mut own in backends(&gpu, &scene, Settings { damping: 5.0, ..Settings::default() }) {
        own.step(120);
        let limp = own.read_positions().unwrap()[10][1];
        own.set_material(id, Material::compliant(1e-4)).unwrap();
        own.step(240);
        let stiff = own.read_positions().unwrap()[10][1];
        assert!(limp < -0.5 && stiff > 0.5 * limp, "{}: {limp} m, then {stiff} m", own.name());
    }
}
