//! Two-way coupling with rapier: its rigid bodies fall on a trampoline of supple, and one hangs from a rope of supple.
//!
//! Each body is a rigid body of rapier and a collider of supple. In each step rapier moves the bodies and the colliders
//! follow. The forces and torques of the cloth and of the rope act on the bodies in the next step. The coupling is explicit and
//! staggered; it never blocks. Its limits:
//!
//! - **One step of delay.** A force is the average over the previous step, so a spring k adds energy to a body of mass
//!   M at a rate of about k Δt/2M. The forces are therefore extrapolated by their last change, which removes as much
//!   energy; the sum of all impulses stays the same. `--ahead 0` disables the extrapolation, `--drag 0` the damping of
//!   the bodies.
//! - **Stiffness.** k Δt²/M must be less than 2/3, or the extrapolation overshoots: a taut cloth and a light body need
//!   a shorter step. A small ball rotates more easily than it moves, so friction makes it oscillate first.
//! - **Mass.** The cloth that moves with a body must have less than a third of its mass, or their accelerations amplify
//!   each other. Foam of 10 kg/m³ comes to rest, foam of 2 kg/m³ is thrown off.
//!
//! ```text
//! cargo run --release --example rapier                                      a window
//! cargo run --release --example rapier -- --headless --json                 a line of JSON
//! cargo run --release --example rapier -- --headless --density 60 --json    bodies of foam
//! ```

use anyhow::{Context, ensure};
use clap::Parser;
use glam::{Quat, Vec3};
use rapier3d::prelude as rigid;
use rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder, RigidBodyHandle};
use serde_json::json;
use std::collections::VecDeque;
use std::ops::Range;
use supple::gpu::Readback;
use supple::{
    Attachment, AttachmentTarget, Bending, ClothGrid, Collider, ColliderForce, ColliderId, ContactMaterial,
    ContactMaterialId, Cord, Fabric, Friction, Material, ParticlePoint, Pose, Rope, Scene, Shape, Solver, wgpu,
};
use supple_demos::camera::Camera;
use supple_demos::colliders::signed_distance;
use supple_demos::contacts;
use supple_demos::{Demo, Figures, Options, Script};

#[derive(Parser, Debug)]
#[command(about = "Rigid bodies of rapier on a trampoline")]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Particles per row of the cloth
    #[arg(long, default_value_t = 48, value_parser = clap::value_parser!(u32).range(8..))]
    columns: u32,
    /// Density of the bodies [kg/m³]; the default is wood
    #[arg(long, default_value_t = 600.0)]
    density: f32,
    /// Steps by which the forces are extrapolated; 0 disables it
    #[arg(long, default_value_t = 1.0)]
    ahead: f32,
    /// Velocity damping of the bodies [1/s]
    #[arg(long, default_value_t = 2.0)]
    drag: f32,
}

/// Half the side of the trampoline, and its height above the ground [m].
const HALF: f32 = 1.0;
const HEIGHT: f32 = 0.8;
/// The tension per width of the cloth at twice its length [N/m].
const STIFFNESS: f32 = 3000.0;
/// The damping time of the cloth [s].
const DAMPING: f32 = 0.003;
const FRICTION: f32 = 0.4;
/// The number of steps over which the carried weight is averaged.
const WINDOW: usize = 60;

/// The shapes and initial poses of the bodies.
fn bodies() -> Vec<(Shape, Pose)> {
    let body = |shape, position, tilt: f32| {
        let rotation = Quat::from_euler(glam::EulerRot::XYZ, tilt, 0.5 * tilt, 0.7 * tilt).to_array();
        (shape, Pose { position, rotation })
    };
    let ball = |radius| Shape::Sphere { radius };
    vec![
        body(ball(0.16), [-0.4, 1.1, 0.1], 0.0),
        body(Shape::Box { half_extents: [0.18, 0.10, 0.14] }, [0.4, 1.15, 0.0], 0.4),
        body(ball(0.10), [0.0, 1.0, -0.45], 0.0),
        body(Shape::Capsule { radius: 0.08, half_height: 0.14 }, [-0.1, 1.2, 0.45], 1.2),
        body(Shape::Box { half_extents: [0.09; 3] }, [0.0, 1.3, 0.0], -0.6),
        body(ball(0.08), [0.5, 1.1, 0.55], 0.0),
        // Hangs from the rope.
        body(Shape::Box { half_extents: [HANGING; 3] }, [-0.62, 1.0, -0.25], 0.0),
    ]
}

/// Half the side of the box that hangs from the rope, and the upper end of the rope [m].
const HANGING: f32 = 0.08;
const HOOK: [f32; 3] = [-0.45, 1.57, -0.25];
/// The stiffness of the knot between rope and box [N/m]: k Δt²/M is 0.1 for a box of wood.
const KNOT: f32 = 1000.0;

/// Ties a rope to the middle of the upper side of a box at `pose`; returns its segments.
fn tie(scene: &mut Scene, boxed: ColliderId, pose: Pose) -> supple::Result<Range<u32>> {
    const SEGMENTS: u8 = 16;
    let (hook, knot) = (Vec3::from(HOOK), Vec3::from(pose.position) + HANGING * Vec3::Y);
    let points: Vec<[f32; 3]> =
        (0..=SEGMENTS).map(|k| hook.lerp(knot, f32::from(k) / f32::from(SEGMENTS)).into()).collect();
    let rope = scene.add_rope(&Rope { points: &points, cord: Cord::NYLON, tethers: None })?;
    scene.pin(rope.particles.start)?;
    let material = Material { damping_time: 0.01, ..Material::compliant(1.0 / KNOT) };
    let target = AttachmentTarget::Collider { id: boxed, point: [0.0, HANGING, 0.0] };
    scene.add_attachment(Attachment {
        material,
        ..Attachment::new(ParticlePoint::Particle(rope.particles.end - 1), target)
    })?;
    Ok(rope.segments)
}

/// Four beams around the cloth, on legs.
fn frame() -> Vec<(Shape, [f32; 3])> {
    let beam = |half_extents, position| (Shape::Box { half_extents }, position);
    let (thick, middle) = (0.03, HALF + 0.03);
    let mut frame = Vec::new();
    for side in [-1.0, 1.0] {
        frame.push(beam([thick, thick, HALF + 2.0 * thick], [side * middle, HEIGHT, 0.0]));
        frame.push(beam([HALF, thick, thick], [0.0, HEIGHT, side * middle]));
        for other in [-1.0, 1.0] {
            let half_height = 0.5 * (HEIGHT - thick);
            frame.push(beam([thick, half_height, thick], [side * middle, half_height, other * middle]));
        }
    }
    frame
}

/// The same shape in rapier.
fn rigid_shape(shape: &Shape) -> ColliderBuilder {
    match *shape {
        Shape::Sphere { radius } => ColliderBuilder::ball(radius),
        Shape::Capsule { radius, half_height } => ColliderBuilder::capsule_y(half_height, radius),
        Shape::Box { half_extents: [x, y, z] } => ColliderBuilder::cuboid(x, y, z),
        _ => ColliderBuilder::halfspace(rapier3d::na::Unit::new_unchecked(rigid::Vector::Y)),
    }
}

/// The rapier world and the coupling state.
struct Coupling {
    arguments: Arguments,
    scene: Scene,
    bodies: Vec<(Shape, Pose)>,
    /// The colliders of supple, in the order of the bodies.
    colliders: Vec<ColliderId>,
    state: State,
}

/// The state that a reset recreates.
#[derive(Default)]
struct State {
    world: rigid::PhysicsWorld,
    /// The rapier bodies, in the same order.
    handles: Vec<RigidBodyHandle>,
    /// The current poses of the colliders.
    moved: Vec<(usize, Pose)>,
    /// The readback of the forces of the last step.
    asked: Option<Readback<Vec<ColliderForce>>>,
    /// The forces of the step before.
    before: Vec<ColliderForce>,
    /// The vertical force of cloth and rope in the last steps [N].
    carried: VecDeque<f64>,
}

impl Coupling {
    fn start(&self) -> State {
        let Arguments { density, drag, .. } = self.arguments;
        let mut world = rigid::PhysicsWorld::new();
        for (shape, position) in frame().into_iter().chain([(Shape::HalfSpace, [0.0; 3])]) {
            world.insert_collider(rigid_shape(&shape).translation(position.into()).friction(FRICTION), None);
        }
        let insert = |(shape, pose): &(Shape, Pose)| {
            let pose = rigid::Pose::from_parts(pose.position.into(), rigid::Rotation::from_array(pose.rotation));
            // rapier does not know the cloth and would put a resting body to sleep.
            let builder = RigidBodyBuilder::dynamic().pose(pose).can_sleep(false);
            let builder = builder.linear_damping(drag).angular_damping(2.0 * drag);
            world.insert(builder, rigid_shape(shape).density(density).friction(FRICTION)).0
        };
        let handles = self.bodies.iter().map(insert).collect();
        State { world, handles, ..State::default() }
    }
}

impl State {
    /// The forces of the cloth on the colliders in the last step. It waits if the GPU is slower than the window,
    /// because each further step of delay adds energy.
    fn forces(&mut self, solver: &Solver) -> supple::Result<Vec<ColliderForce>> {
        let Some(mut asked) = self.asked.take() else { return Ok(Vec::new()) };
        asked.try_take()?.map_or_else(|| solver.read_collider_forces(), Ok)
    }

    fn rigid_bodies(&self) -> impl Iterator<Item = &rigid::RigidBody> {
        self.handles.iter().filter_map(|&handle| self.world.bodies.get(handle))
    }

    /// The weight of all bodies [N].
    fn weight(&self) -> f64 {
        self.rigid_bodies().map(|body| f64::from(body.mass())).sum::<f64>() * 9.81
    }

    /// The mean vertical force over the last steps [N].
    fn carried(&self) -> f64 {
        self.carried.iter().sum::<f64>() / self.carried.len().max(1) as f64
    }
}

impl Script for Coupling {
    fn drive(&mut self, solver: &mut Solver, step: u32) -> supple::Result<()> {
        if step == 0 {
            self.state = self.start();
        }
        let forces = self.state.forces(solver)?;
        let State { world, handles, moved, before, carried, .. } = &mut self.state;
        let mut lift = 0.0;
        for (collider, &handle) in self.colliders.iter().zip(&*handles) {
            let (Some(load), Some(body)) = (forces.get(collider.index()), world.bodies.get_mut(handle)) else {
                continue;
            };
            let before = before.get(collider.index()).copied().unwrap_or_default();
            let ahead = |now: [f32; 3], before: [f32; 3]| {
                let [now, before] = [now, before].map(rigid::Vector::from);
                now + (now - before) * self.arguments.ahead
            };
            // Applied as forces, not impulses: rapier distributes them over its substeps like gravity, so both cancel
            // in each substep at rest.
            body.reset_forces(true);
            body.reset_torques(true);
            body.add_force(ahead(load.force, before.force), true);
            body.add_torque(ahead(load.torque, before.torque), true);
            lift += f64::from(load.force[1]);
        }
        *before = forces;
        carried.push_back(lift);
        if carried.len() > WINDOW {
            carried.pop_front();
        }
        world.integration_parameters.dt = solver.settings().dt;
        world.step();
        moved.clear();
        for (&collider, &handle) in self.colliders.iter().zip(&*handles) {
            let Some(body) = world.bodies.get(handle) else { continue };
            let pose = Pose { position: body.translation().into(), rotation: body.rotation().to_array() };
            solver.move_collider(collider, pose)?;
            moved.push((collider.index(), pose));
        }
        Ok(())
    }

    fn request(&mut self, solver: &Solver, encoder: &mut wgpu::CommandEncoder) {
        self.state.asked = Some(solver.request_collider_forces(encoder));
    }

    fn reset(&mut self) {
        self.state = self.start();
    }

    fn moved_colliders(&self) -> &[(usize, Pose)] {
        &self.state.moved
    }

    fn panel(&mut self, ui: &mut egui::Ui) {
        ui.label(format!("carried: {:.1} of {:.1} N", self.state.carried(), self.state.weight()));
    }

    fn figures(&mut self, solver: &Solver) -> supple::Result<Figures> {
        let positions = solver.read_positions()?;
        let mut lowest = f64::INFINITY;
        let mut deepest = 0f64;
        for ((shape, _), &(_, pose)) in self.bodies.iter().zip(&self.state.moved) {
            lowest = lowest.min(bottom(shape, &pose).into());
            let collider = Collider::new(shape.clone(), [0.0; 3]);
            let depths = positions.iter().filter_map(|&point| signed_distance(&collider, &pose, point));
            deepest = depths.fold(deepest, |deepest, distance| deepest.max(-distance));
        }
        let speeds = self.state.rigid_bodies().map(|body| body.linvel().length());
        let figures = [
            ("weight", self.state.weight()),
            ("carried", self.state.carried()),
            ("lowest_body", lowest),
            ("fastest_body", speeds.fold(0.0, f32::max).into()),
            ("deepest_penetration", deepest),
        ];
        let mut all = contacts::figures(&self.scene, solver, &positions)?;
        all.extend(figures.map(|(name, value)| (name.into(), json!(value))));
        Ok(all)
    }
}

/// The height of the lowest point of a body [m].
fn bottom(shape: &Shape, pose: &Pose) -> f32 {
    let up = Quat::from_array(pose.rotation).inverse() * Vec3::Y;
    let down = match *shape {
        Shape::Sphere { radius } => radius,
        Shape::Capsule { radius, half_height } => radius + half_height * up.y.abs(),
        Shape::Box { half_extents } => Vec3::from(half_extents).dot(up.abs()),
        _ => 0.0,
    };
    pose.position[1] - down
}

/// A cloth pinned along its border, and the colliders of the frame and the ground.
fn trampoline(scene: &mut Scene, columns: u32) -> supple::Result<(supple::Cloth, ContactMaterialId)> {
    let thread = |compliance| Material { damping_time: DAMPING, ..Material::compliant(compliance) };
    let fabric = Fabric {
        area_density: 0.8,
        structural: thread(1.0 / STIFFNESS),
        shear: thread(2.0 / STIFFNESS),
        bending: Bending::None,
        ..Fabric::default()
    };
    let cloth = scene.add_cloth_grid(&ClothGrid {
        columns,
        rows: columns,
        origin: [-HALF, HEIGHT, -HALF],
        column_axis: [2.0 * HALF, 0.0, 0.0],
        row_axis: [0.0, 0.0, 2.0 * HALF],
        fabric,
        // Tethers are rigid: bodies would bounce as on a board.
        tethers: None,
    })?;
    let spacing = 2.0 * HALF / (columns - 1) as f32;
    // With this thickness, edges of boxes do not show between the particles.
    let friction = Friction::coulomb(FRICTION);
    let material =
        scene.add_contact_material(ContactMaterial { thickness: spacing, friction, ..Default::default() })?;
    scene.set_particle_contact(cloth.particles.clone(), material)?;
    for particle in cloth.particles.clone() {
        let [x, _, z] = scene.positions()[particle as usize];
        if x.abs().max(z.abs()) > HALF - 0.5 * spacing {
            scene.pin(particle)?;
        }
    }
    Ok((cloth, material))
}

fn main() -> anyhow::Result<()> {
    // With one sweep per substep the cloth would be softer than its material.
    let arguments: Arguments = supple_demos::parse(&[("frames", "300"), ("iterations", "3")]);
    let options = arguments.options.clone();
    let spacing = 2.0 * HALF / (arguments.columns - 1) as f32;
    let mut scene = Scene::new();
    let (cloth, material) = trampoline(&mut scene, arguments.columns)?;
    let bodies = bodies();
    let add = |(shape, pose): &(Shape, Pose)| {
        scene.add_collider(Collider { shape: shape.clone(), pose: *pose, material, ..Collider::default() })
    };
    let colliders = bodies.iter().map(add).collect::<supple::Result<Vec<_>>>()?;
    let (last, pose) = (colliders.last().context("no body")?, bodies.last().context("no body")?.1);
    let ropes = tie(&mut scene, *last, pose)?;
    for (shape, position) in frame() {
        scene.add_collider(Collider { material, ..Collider::new(shape, position) })?;
    }
    scene.add_collider(Collider { material, ..Collider::default() })?;
    let coupling = Coupling { arguments, scene: scene.clone(), bodies, colliders, state: State::default() };
    let demo = Demo {
        title: "rapier",
        settings: options.settings(),
        edges: cloth.structural,
        ropes,
        materials: vec![("stretch", cloth.materials.structural)],
        script: Some(Box::new(coupling)),
        camera: Camera { target: Vec3::new(0.0, 0.5, 0.0), distance: 2.9, yaw: 0.5, pitch: 0.55 },
        scene,
        ..Demo::default()
    };
    supple_demos::run(demo, &options, |report| {
        ensure!(report.non_finite_count == 0, "{} positions were not finite", report.non_finite_count);
        let figure = |name: &str| report.figures[name].as_f64().unwrap_or(f64::NAN);
        let share = figure("carried") / figure("weight");
        ensure!((share - 1.0).abs() < 0.03, "cloth and rope carry {share:.3} of the weight");
        let (body, cloth) = (figure("lowest_body"), report.lowest_point);
        // The corner of a box may protrude between particles.
        ensure!(body > cloth - 0.5 * f64::from(spacing), "a body is at {body} m, below the cloth at {cloth} m");
        Ok(())
    })
}
