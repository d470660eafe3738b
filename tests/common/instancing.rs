//! Instances for tests: assets, placements, and the reference of an instance.

use super::{crumple, first_apart, roundings, store};
use glam::{Quat, Vec3};
use supple::gpu::Context;
use supple::scene::Lattice;
use supple::{
    Bending, Cloth, ClothGrid, ClothMesh, Cord, Elasticity, Fabric, Instance, InstanceId, Instances, Particle,
    Placement, Reference, Rope, Scene, Settings, TetMesh, Tethers, Wind,
};

pub fn instances(gpu: &Context, asset: &Scene, capacity: u32, settings: Settings) -> Instances {
    Instances::with_store(&store(gpu), &gpu.queue, asset, capacity, settings).unwrap()
}

pub fn few() -> Settings {
    Settings { substeps: 4, ..Settings::default() }
}

/// The reference for an instance: the placed asset, with the passes in the order of instances.
pub fn reference(asset: &Scene, instance: &Instance, settings: Settings) -> Reference {
    let mut scene = asset.clone();
    let Instance { placement, velocity, wind, pinned } = instance;
    let pins: Vec<u32> = pinned.clone().unwrap_or_else(|| asset.pinned_particles().collect());
    let put = asset.clone();
    for (particle, &x) in (0..).zip(put.positions()) {
        scene.set_position(particle, placement.place(x)).unwrap();
        let common = if pins.contains(&particle) { [0.0; 3] } else { *velocity };
        scene.set_velocity(particle, common).unwrap();
    }
    let add =
        |wind: Wind, more: &[f32; 3]| Wind { velocity: (Vec3::from(wind.velocity) + Vec3::from(*more)).into(), ..wind };
    let wind = settings.wind.map(|settings| add(settings, wind));
    // Enabling forces without any force changes only the order of the passes.
    let settings = Settings { wind, forces: true, ..settings };
    let mut reference = Reference::of_asset(&scene, settings).unwrap();
    let other: Vec<u32> = asset.pinned_particles().filter(|pin| !pins.contains(pin)).collect();
    reference.release(&other).unwrap();
    reference.pin(&pins).unwrap();
    reference
}

/// The first difference in any readable state of an instance.
pub fn difference(instances: &Instances, id: InstanceId, reference: &Reference, tolerance: f32) -> Option<String> {
    let slack = if tolerance == 0.0 { 0.0 } else { roundings(&reference.read_positions().unwrap()) };
    let Settings { dt, substeps, .. } = *reference.settings();
    let pairs = [
        ("position", instances.read_positions(id).unwrap(), reference.read_positions().unwrap(), slack),
        (
            "velocity",
            instances.read_velocities(id).unwrap(),
            reference.read_velocities().unwrap(),
            slack * substeps as f32 / dt,
        ),
        // Of triangles of a few centimetres.
        ("normal", instances.read_normals(id).unwrap(), reference.read_normals().unwrap(), 100.0 * slack),
    ];
    pairs.into_iter().filter(|(_, left, ..)| !left.is_empty()).find_map(|(what, left, right, slack)| {
        let particle = first_apart(&left, &right, tolerance, slack)?;
        Some(format!("{what} of particle {particle}: {:?}, should be {:?}", left[particle], right[particle]))
    })
}

pub fn turned(x: f32, y: f32, z: f32) -> [f32; 4] {
    Quat::from_euler(glam::EulerRot::XYZ, x, y, z).to_array()
}

/// A cloth with all constraint kinds of the builder except groups, tethered to two corners.
pub fn flag(columns: u32, rows: u32, bending: Bending) -> Scene {
    hung(columns, rows, bending).0
}

/// As [`flag`], with the ranges of the cloth.
pub fn hung(columns: u32, rows: u32, bending: Bending) -> (Scene, Cloth) {
    let mut scene = Scene::new();
    let fabric = Fabric { bending, flexural_rigidity: 1e-2, stretch_limit: 1.05, ..Fabric::default() };
    let grid = ClothGrid {
        columns,
        rows,
        fabric,
        origin: [0.25, 0.5, 0.0],
        column_axis: [0.5, 0.0, 0.0],
        row_axis: [0.0, -0.375, 0.0],
        ..ClothGrid::default()
    };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    crumple(&mut scene, cloth.particles.clone(), 0.01);
    scene.pin(cloth.particles.start).unwrap();
    scene.pin(cloth.particles.start + columns).unwrap();
    (scene, cloth)
}

/// A cloth of an irregular mesh, scaled by `size`, with the compliances and masses of an instance at that scale.
pub fn leaf(size: f32) -> Scene {
    let mut scene = Scene::new();
    let mut points = vec![[0.0f32; 3]];
    for ring in 1..4u32 {
        for spoke in 0..3 + 4 * ring {
            let angle = std::f32::consts::TAU * (spoke as f32 + 0.3 * ring as f32) / (3 + 4 * ring) as f32;
            points.push([
                0.125 * ring as f32 * angle.cos(),
                0.03 * (3.0 * angle).sin(),
                0.125 * ring as f32 * angle.sin(),
            ]);
        }
    }
    let (first, count) = ([0u32, 1, 8, 19], [1u32, 7, 11, 15]);
    let mut triangles = Vec::new();
    for ring in 1..4 {
        let (mut inner, mut outer) = (0, 0);
        let at = |ring: usize, k: u32| first[ring] + k % count[ring];
        while outer < count[ring] || inner < count[ring - 1] && ring > 1 {
            let ahead = (outer + 1) * count[ring - 1] <= (inner + 1) * count[ring];
            if ring == 1 || ahead && outer < count[ring] || inner == count[ring - 1] {
                triangles.push([at(ring - 1, inner), at(ring, outer), at(ring, outer + 1)]);
                outer += 1;
            } else {
                triangles.push([at(ring - 1, inner), at(ring, outer), at(ring - 1, inner + 1)]);
                inner += 1;
            }
        }
    }
    let positions: Vec<[f32; 3]> = points.iter().map(|point| point.map(|x| size * x)).collect();
    let default = Fabric::default();
    let fabric = Fabric {
        bending: Bending::Hinges,
        flexural_rigidity: size * size * 2f32.powi(-10),
        area_density: default.area_density / (size * size),
        ..default
    };
    let tethers = Some(Tethers { per_particle: 1, scale: 1.0 });
    scene.add_cloth_mesh(&ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers }).unwrap();
    scene.pin(19).unwrap();
    scene
}

pub fn rope() -> Scene {
    let mut scene = Scene::new();
    let points: Vec<[f32; 3]> = (0..20).map(|k| [0.05 * k as f32, 0.01 * (k as f32).sin(), 0.0]).collect();
    let cord = Cord { flexural_rigidity: 1e-4, ..Cord::limp(0.05, 1e4) };
    scene.add_rope(&Rope { points: &points, cord, tethers: Some(Tethers::default()) }).unwrap();
    scene.pin(0).unwrap();
    scene
}

pub fn block() -> Scene {
    let mut scene = Scene::new();
    let edge = 0.4f32;
    let corners: Vec<[f32; 3]> = (0..8).map(|c| [c & 1, c >> 1 & 1, c >> 2].map(|bit| edge * bit as f32)).collect();
    let faces = [[0u32, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles: Vec<[u32; 3]> = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let lattice = Lattice::new(&corners, &triangles, edge / 2.0).unwrap();
    let elasticity = Elasticity::Elastic { young: 1e4, bulk: 1e4, damping_time: 0.01 };
    let Lattice { positions, tetrahedra, .. } = &lattice;
    scene.add_tetrahedra(&TetMesh { positions, tetrahedra, density: 500.0, elasticity }).unwrap();
    scene.pin(0).unwrap();
    scene
}

/// Three components that do not fit into one batch, and a single particle.
pub fn bodies() -> Scene {
    let mut scene = flag(12, 11, Bending::Springs);
    for k in 0..2 {
        let origin = [1.0 + k as f32, 0.0, 0.0];
        let grid = ClothGrid { columns: 10, rows: 11, origin, ..ClothGrid::default() };
        let cloth = scene.add_cloth_grid(&grid).unwrap();
        crumple(&mut scene, cloth.particles, 0.01);
    }
    scene.add_particle(Particle::default()).unwrap();
    scene
}

pub fn some() -> [Instance; 4] {
    let placements = [
        Placement::default(),
        Placement { position: [3.0, -1.0, 0.5], rotation: turned(0.3, 1.0, -0.4), scale: 1.0 },
        Placement { position: [0.0, 100.0, 7.0], rotation: [2.0, 0.0, 1.0, 0.5], scale: 1.0 },
        Placement { position: [-4.0, 0.0, 0.0], rotation: turned(1.5, 0.0, 2.0), scale: 1.0 },
    ];
    let [first, second, third, fourth] = placements.map(|placement| Instance { placement, ..Instance::default() });
    [
        first,
        Instance { velocity: [0.5, 0.25, -1.0], wind: [1.0, 0.0, 2.0], ..second },
        Instance { pinned: Some(vec![3, 7, 7]), wind: [-3.0, 0.5, 0.0], ..third },
        Instance { pinned: Some(Vec::new()), velocity: [0.0, 3.0, 0.0], ..fourth },
    ]
}
