//! A figure that walks in place in a shirt and a skirt, with arms that swing and at times cross the body. The code makes
//! the figure, its walk and its clothes.
//!
//! ```text
//! cargo run --release --example character                                             a window
//! cargo run --release --example character -- --headless --frames 600 --json           a line of JSON
//! cargo run --release --example character -- --headless --frames 200 --png walk.png   a picture
//! ```
//!
//! The clothes are skinned: the waist and the collar follow the body, the shirt stays near it. Capsules fitted to the limbs
//! are colliders, and the surfaces do not cross each other.

mod clothes;
mod figure;

use anyhow::ensure;
use clap::Parser;
use clothes::Garment;
use figure::Walk;
use glam::Vec3;
use serde_json::json;
use std::ops::Range;
use supple::{
    Backstop, Cloth, ClothMesh, Collider, ColliderId, ContactMaterial, Fabric, Friction, JointCapsule, JointWeights,
    Pose, Scene, SelfCollision, Settings, Skinned, SkinnedLimits, SkinnedMesh, Solver,
};
use supple_demos::camera::Camera;
use supple_demos::colliders::signed_distance;
use supple_demos::hung::jitter;
use supple_demos::{Demo, Figures, Options, Script};

#[derive(Parser, Debug)]
#[command(about = "A walking figure in a shirt and a skirt")]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Particles around the waist; the clothes have about 1.3 times its square
    #[arg(long, default_value_t = 36, value_parser = clap::value_parser!(u32).range(16..=128))]
    columns: u32,
}

/// The number of steps between two counts of crossings.
const LOOKED_AT: u32 = 10;

/// The walk, its colliders, and what was seen.
struct Character {
    walk: Walk,
    capsules: Vec<(ColliderId, JointCapsule)>,
    moved: Vec<(usize, Pose)>,
    scene: Scene,
    dt: f32,
    step: u32,
    seen: Seen,
}

/// The poses of the capsules at rest.
fn at_rest(capsules: &[(ColliderId, JointCapsule)]) -> Vec<(usize, Pose)> {
    capsules.iter().map(|(id, capsule)| (id.index(), capsule.collider().pose)).collect()
}

/// The worst of all counts.
#[derive(Default)]
struct Seen {
    /// Edges of the clothes that pass through triangles.
    crossings: usize,
    /// Triangles of the clothes that the middle of a limb passes through.
    limbs: usize,
    /// Depth of particles in a capsule [m].
    depth: f64,
}

impl Character {
    /// The ends of the middle of each limb.
    fn limbs(&self) -> impl Iterator<Item = [Vec3; 2]> {
        self.capsules.iter().zip(&self.moved).map(|((_, capsule), (_, pose))| {
            let [a, b] = capsule.ends.map(Vec3::from);
            let half = glam::Quat::from_array(pose.rotation) * Vec3::Y * (0.5 * a.distance(b));
            [Vec3::from(pose.position) - half, Vec3::from(pose.position) + half]
        })
    }

    fn depth(&self, positions: &[[f32; 3]]) -> f64 {
        let depth = |position: &[f32; 3]| {
            let distances = self
                .capsules
                .iter()
                .zip(&self.moved)
                .filter_map(|((_, capsule), (_, pose))| signed_distance(&capsule.collider(), pose, *position));
            -distances.fold(f64::INFINITY, f64::min)
        };
        positions.iter().map(depth).fold(0.0, f64::max)
    }
}

impl Script for Character {
    fn drive(&mut self, solver: &mut Solver, step: u32) -> supple::Result<()> {
        self.step = step;
        let joints = self.walk.joints((step + 1) as f32 * self.dt);
        solver.set_joints(0, &joints)?;
        self.moved.clear();
        for (id, capsule) in &self.capsules {
            let pose = capsule.pose(&joints[capsule.joint as usize]);
            solver.move_collider(*id, pose)?;
            self.moved.push((id.index(), pose));
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.moved = at_rest(&self.capsules);
    }

    fn moved_colliders(&self) -> &[(usize, Pose)] {
        &self.moved
    }

    fn observe(&mut self, positions: &[[f32; 3]]) -> supple::Result<()> {
        if !(self.step + 1).is_multiple_of(LOOKED_AT) {
            return Ok(());
        }
        let crossings = self.scene.intersections(positions)?.count;
        let triangles =
            self.scene.triangles().iter().map(|corners| corners.map(|it| Vec3::from(positions[it as usize])));
        let limbs = triangles.map(|triangle| self.limbs().filter(|&limb| crosses(limb, triangle)).count()).sum();
        let Seen { crossings: a, limbs: b, depth } = self.seen;
        self.seen = Seen { crossings: a.max(crossings), limbs: b.max(limbs), depth: depth.max(self.depth(positions)) };
        Ok(())
    }

    fn figures(&mut self, _: &Solver) -> supple::Result<Figures> {
        let Seen { crossings, limbs, depth } = self.seen;
        let figures =
            [("crossings", json!(crossings)), ("limb_crossings", json!(limbs)), ("depth_in_capsules", json!(depth))];
        Ok(figures.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
    }
}

/// True if a segment passes through a triangle.
fn crosses([from, to]: [Vec3; 2], [a, b, c]: [Vec3; 3]) -> bool {
    let volume = |p: Vec3, q: Vec3, r: Vec3, s: Vec3| (q - p).cross(r - p).dot(s - p);
    let sides = [volume(from, to, a, b), volume(from, to, b, c), volume(from, to, c, a)];
    let is_inside = sides.iter().all(|side| *side > 0.0) || sides.iter().all(|side| *side < 0.0);
    is_inside && volume(a, b, c, from) * volume(a, b, c, to) < 0.0
}

/// Adds a garment whose particles are skinned by the weights of the body.
fn add_garment(scene: &mut Scene, garment: &Garment, fabric: Fabric, wear: &Wear<'_>) -> supple::Result<Cloth> {
    let Garment { positions, triangles, looseness } = garment;
    let cloth = scene.add_cloth_mesh(&ClothMesh { positions, triangles, fabric, tethers: None })?;
    let poses = scene.rest_poses();
    let weights = wear.body.weights_at(positions)?;
    for ((particle, weights), &looseness) in cloth.particles.clone().zip(weights).zip(looseness) {
        if looseness == 0.0 {
            scene.pin(particle)?;
        }
        let limits = wear.limits.map_or(SkinnedLimits::FREE, |limits| limits(looseness));
        let joints = Some(wear.joint.map_or(weights, JointWeights::rigid));
        if looseness == 0.0 || limits != SkinnedLimits::FREE {
            scene.add_skinned(Skinned { particle, pose: poses[particle as usize], limits, joints })?;
        }
    }
    Ok(cloth)
}

/// How a garment is worn.
struct Wear<'a> {
    body: &'a SkinnedMesh,
    /// The joint of all of its particles, instead of the weights of the body.
    joint: Option<u32>,
    /// The limits by looseness; `None` for a garment that is free but for its fixed border.
    limits: Option<fn(f32) -> SkinnedLimits>,
}

/// Looser towards the hem and the ends of the sleeves. The backstop is just in front of the skin.
fn shirt_limits(looseness: f32) -> SkinnedLimits {
    let backstop = Some(Backstop { distance: 0.012, radius: 0.1 });
    SkinnedLimits { max_distance: 0.03 + 0.07 * looseness, backstop }
}

/// A dressed figure.
struct Figure {
    scene: Scene,
    skirt: Cloth,
    shirt: Cloth,
    capsules: Vec<(ColliderId, JointCapsule)>,
}

fn dressed(columns: u32, seed: u64) -> anyhow::Result<Figure> {
    let mut scene = Scene::new();
    let body = figure::body()?;
    scene.reserve_joints(figure::JOINTS as u32)?;
    let thickness = (0.16 / columns as f32).min(0.005);
    let friction = Friction::coulomb(0.3);
    let material = scene.add_contact_material(ContactMaterial { thickness, friction, ..ContactMaterial::default() })?;
    let fabric = Fabric { bending: supple::Bending::Hinges, flexural_rigidity: 2e-5, ..Fabric::COTTON };
    let worn = Wear { body: &body, joint: Some(clothes::WAIST_JOINT), limits: None };
    let skirt = add_garment(&mut scene, &clothes::skirt(columns), fabric, &worn)?;
    let worn = Wear { body: &body, joint: None, limits: Some(shirt_limits) };
    let shirt = add_garment(&mut scene, &clothes::shirt(columns), fabric, &worn)?;
    for cloth in [&skirt, &shirt] {
        scene.set_particle_contact(cloth.particles.clone(), material)?;
        jitter(&mut scene, cloth.particles.clone(), 0.02 / columns as f32, seed)?;
    }
    let capsules = body.capsules().into_iter().map(|capsule| {
        // The margin keeps triangles that span a limb in front of what is drawn.
        let id = scene.add_collider(Collider { material, margin: 0.006, ..capsule.collider() })?;
        Ok((id, capsule))
    });
    let capsules = capsules.collect::<supple::Result<Vec<_>>>()?;
    Ok(Figure { scene, skirt, shirt, capsules })
}

fn main() -> anyhow::Result<()> {
    let Arguments { options, columns } = supple_demos::parse(&[("damping", "1"), ("seed", "1"), ("substeps", "10")]);
    let Figure { scene, skirt, shirt, capsules } = dressed(columns, options.seed)?;
    let at_start = scene.intersections(scene.positions())?.count;
    ensure!(at_start == 0, "{at_start} edges of the clothes cross triangles at the start");
    let settings = Settings { self_collision: Some(SelfCollision::surfaces()), ..options.settings() };
    let edges: Range<u32> = skirt.structural.start..shirt.structural.end;
    let script = Character {
        walk: Walk::new(options.seed),
        moved: at_rest(&capsules),
        capsules,
        scene: scene.clone(),
        dt: settings.dt,
        step: 0,
        seen: Seen::default(),
    };
    let demo = Demo {
        title: "character",
        settings,
        edges,
        tints: vec![(skirt.particles, [0.35, 0.03, 0.05]), (shirt.particles, [0.05, 0.12, 0.35])],
        script: Some(Box::new(script)),
        camera: Camera { target: Vec3::new(0.0, 0.85, 0.0), distance: 3.0, yaw: 0.4, pitch: 0.12 },
        ground: 0.0,
        scene,
        ..Demo::default()
    };
    supple_demos::run(demo, &options, |report| {
        ensure!(report.non_finite_count == 0, "{} positions were not finite", report.non_finite_count);
        for (name, what) in [("crossings", "edges crossed triangles"), ("limb_crossings", "limbs crossed the clothes")]
        {
            let count = report.figures[name].as_u64().unwrap_or(u64::MAX);
            ensure!(count == 0, "{count} {what}");
        }
        Ok(())
    })
}
