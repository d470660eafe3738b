//! Random calls: the solver and the reference agree bit for bit after every call, also after snapshots are restored in the same
//! solver and in a new one.

use crate::common::shapes::icosphere;
use crate::common::{Pair, gpu, hanging_cloth_of, is_exact, solver};
use supple::constraints::Kind;
use supple::gpu::{Context, Snapshot};
use supple::{
    Attachment, AttachmentId, AttachmentTarget, Backstop, Collider, ColliderId, ColorOrder, ContactMaterial,
    ContactMaterialId, ContactScale, Distance, Elasticity, Execution, Fabric, Friction, JointWeights, Material,
    MaterialId, ParticlePoint, Plasticity, Pose, Reference, Scene, SelfCollision, Settings, Shape, Skinned,
    SkinnedLimits, SkinnedPose, SoftBody, Sweep, Tearing,
};

/// Random numbers (Marsaglia 2003, xorshift64).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..5).for_each(|_| {
            random.below(1);
        });
        random
    }

    fn below(&mut self, count: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) % u64::from(count)) as u32
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.below(10_001) as f32 / 10_000.0)
    }

    fn vector(&mut self, size: f32) -> [f32; 3] {
        std::array::from_fn(|_| self.between(-size, size))
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        if all.is_empty() { None } else { Some(all[self.below(all.len() as u32) as usize]) }
    }

    fn indices(&mut self, most: u32, below: u32) -> Vec<u32> {
        (0..self.below(most)).map(|_| self.below(below)).collect()
    }
}

/// A scene, and the objects that calls name.
struct World {
    scene: Scene,
    /// Number of particles that are not followers.
    free: u32,
    stiff: MaterialId,
    link: (u32, Distance),
    fabric: ContactMaterialId,
    colliders: Vec<ColliderId>,
    attached: Vec<AttachmentId>,
}

/// A hanging cloth with a further link, a ball, attachments, and half of the time a soft body.
fn world(random: &mut Random, tears: bool) -> World {
    let tearing = tears.then_some(Tearing { strain: 0.02, copies: 60 });
    let fabric = Fabric { tearing, ..Fabric::default() };
    let (mut scene, cloth) = hanging_cloth_of(5 + random.below(4), 5 + random.below(4), fabric);
    let fabric = ContactMaterial { thickness: 0.06, friction: Friction::coulomb(0.4), ..ContactMaterial::default() };
    let fabric = scene.add_contact_material(fabric).unwrap();
    scene.set_particle_contact(cloth.particles, fabric).unwrap();
    let stiff = scene.add_material(Material::compliant(1e-4)).unwrap();
    let link = Distance { particles: [1, 13], rest_length: 0.5 };
    let index = scene.constraint_count_of(Distance::INFO) as u32;
    scene.add_with(link, stiff).unwrap();
    if random.chance(50) && !tears {
        let plasticity = Plasticity { yield_strain: 0.05, rupture: 3.0, ..Plasticity::default() };
        scene.set_plasticity::<Distance>(0..index + 1, plasticity).unwrap();
    }
    let mut free = scene.particle_count() as u32;
    if random.chance(50) {
        let (positions, triangles) = icosphere(0, 0.3);
        let positions: Vec<[f32; 3]> = positions.iter().map(|&[x, y, z]| [x - 0.3, y + 1.0, z]).collect();
        let elasticity = Elasticity::Regions { rings: 1, shape: Material::compliant(1e-5) };
        let body = SoftBody { positions: &positions, triangles: &triangles, spacing: 0.3, density: 500.0, elasticity };
        free = scene.add_soft_body(&body).unwrap().particles.end;
        free = free.min(scene.particle_count() as u32 - positions.len() as u32);
    }
    let ball = Collider { material: fabric, ..Collider::new(Shape::Sphere { radius: 0.3 }, [0.0, -0.5, 0.3]) };
    let colliders = vec![scene.add_collider(ball).unwrap()];
    let attached = (0..random.below(4)).map(|k| {
        let target = AttachmentTarget::Space([0.1 * k as f32, 0.3, 0.4]);
        let attachment = Attachment::new(ParticlePoint::Particle(3 + 5 * k), target);
        scene.add_attachment(Attachment { material: Material::compliant(1e-3), ..attachment }).unwrap()
    });
    let attached = attached.collect();
    scene.reserve_attachments(8).unwrap();
    // Rows 0 to 2 without joints, 3 and 4 with them.
    for (row, pose) in (0..5).zip(&scene.rest_poses()[6..]) {
        let joints = (row > 2).then_some(JointWeights { joints: [0, 1, 0, 0], weights: [0.3, 0.7, 0.0, 0.0] });
        let limits = SkinnedLimits { max_distance: 0.1 * row as f32, ..SkinnedLimits::FREE };
        scene.add_skinned(Skinned { particle: 6 + row, pose: *pose, limits, joints }).unwrap();
    }
    World { scene, free, stiff, link: (index, link), fabric, colliders, attached }
}

fn settings(random: &mut Random) -> Settings {
    // The lists hold all pairs: which pairs a full list loses is not reproducible.
    let self_collision = match random.below(4) {
        0 => Some(SelfCollision { pairs_per_particle: 256, ..SelfCollision::default() }),
        1 => Some(SelfCollision { pairs_per_particle: 256, iterations: Some(2), ..SelfCollision::surfaces() }),
        _ => None,
    };
    let orders = [ColorOrder::Fixed, ColorOrder::Alternating, ColorOrder::Shuffled { seed: 3 }];
    Settings {
        substeps: 1 + random.below(4),
        iterations: 1 + random.below(2),
        execution: [Execution::Colors, Execution::Tiles, Execution::Clusters][random.below(3) as usize],
        sweep: if random.chance(15) { Sweep::Jacobi } else { Sweep::GaussSeidel },
        color_order: orders[random.below(3) as usize],
        self_collision,
        triangle_contacts: random.chance(50),
        contact_events: if random.chance(40) { 3000 } else { 0 },
        tethers: random.chance(70),
        collider_forces: random.chance(70),
        mean_forces: random.chance(20),
        tether_forces: random.chance(20),
        forces: random.chance(30),
        ..Settings::default()
    }
}

/// Other settings, or the present ones with one difference.
fn other_settings(random: &mut Random, old: Settings) -> Settings {
    let other = settings(random);
    match random.below(8) {
        0 => Settings { contact_events: other.contact_events, ..old },
        1 => Settings { triangle_contacts: other.triangle_contacts, ..old },
        2 => Settings { collider_forces: other.collider_forces, tethers: other.tethers, ..old },
        3 => Settings { substeps: other.substeps, iterations: other.iterations, ..old },
        4 => Settings { color_order: other.color_order, execution: other.execution, ..old },
        5 => Settings { self_collision: other.self_collision, ..old },
        _ => other,
    }
}

fn attachment(random: &mut Random, world: &World) -> Attachment {
    let first = random.below(world.free - 8);
    let point = |first: u32, kind: u32| match kind {
        0 => ParticlePoint::Particle(first),
        1 => ParticlePoint::Edge([first, first + 1], [0.3, 0.7]),
        2 => ParticlePoint::Triangle([first, first + 1, first + 2], [1.4, -0.5, 0.1]),
        _ => ParticlePoint::Tetrahedron([first, first + 1, first + 2, first + 3], [0.1, 0.2, 0.3, 0.4]),
    };
    let target = match (random.below(3), random.of(&world.colliders)) {
        (0, _) => AttachmentTarget::Particles(point(first + 3 + random.below(2), random.below(4))),
        (1, Some(id)) => AttachmentTarget::Collider { id, point: random.vector(0.4) },
        _ => AttachmentTarget::Space(random.vector(0.5)),
    };
    let rest_length = if random.chance(50) { 0.0 } else { random.between(0.05, 0.6) };
    Attachment {
        rest_length,
        only_pull: rest_length > 0.0 && random.chance(50),
        material: Material { damping_time: 0.003, ..Material::compliant([0.0, 1e-2][random.below(2) as usize]) },
        break_force: random.chance(30).then_some(5.0),
        ..Attachment::new(point(first, random.below(4)), target)
    }
}

/// Both backends and the calls so far.
struct Run<'a> {
    gpu: &'a Context,
    pair: Pair<'a>,
    world: World,
    saved: Vec<(Snapshot, Reference, Vec<ColliderId>, Vec<AttachmentId>)>,
    log: Vec<String>,
}

/// Makes a call on both backends, which must both succeed or fail alike; returns the outcome. Arguments are values: they are
/// evaluated several times.
macro_rules! call {
    ($run:expr, $call:ident($($argument:expr),*)) => {{
        $run.log.push(format!("{} {:?}", stringify!($call), ($(&$argument,)*)));
        let outcomes = ($run.pair.solver.$call($($argument),*), $run.pair.reference.$call($($argument),*));
        assert_eq!(outcomes.0, outcomes.1, "{:#?}", $run.log);
        outcomes.0
    }};
}

impl Run<'_> {
    fn compare(&self) {
        let (solver, reference) = (&self.pair.solver, &self.pair.reference);
        let settings = solver.settings();
        let pairs = [
            (solver.read_positions(), reference.read_positions()),
            (solver.read_displacements(), reference.read_displacements()),
            (solver.read_velocities(), reference.read_velocities()),
        ];
        for (what, pair) in ["positions", "displacements", "velocities"].into_iter().zip(pairs) {
            let (own, other) = (pair.0.unwrap(), pair.1.unwrap());
            let unequal = own.iter().zip(&other).position(|(own, other)| own != other);
            let unequal = unequal.map(|particle| (particle, own[particle], other[particle]));
            assert!(unequal.is_none(), "{what} of {unequal:?}: {:#?}", self.log);
        }
        assert_eq!(solver.read_attachments(), reference.read_attachments(), "{:#?}", self.log);
        assert_eq!(solver.read_diagnostics(), reference.read_diagnostics(), "{:#?}", self.log);
        if settings.collider_forces {
            assert_eq!(solver.read_collider_forces(), reference.read_collider_forces(), "{:#?}", self.log);
        }
        if settings.contact_events > 0 {
            assert_eq!(solver.read_contact_events(), reference.read_contact_events(), "{:#?}", self.log);
        }
    }

    fn change_particles(&mut self, random: &mut Random, what: u32) {
        let free = self.world.free;
        let positions = self.pair.solver.read_positions().unwrap();
        let near = |random: &mut Random, particle: u32, size: f32| {
            let offset = random.vector(size);
            std::array::from_fn(|axis| positions[particle as usize][axis] + offset[axis])
        };
        let first = random.below(free - 4);
        match what {
            0 => {
                let own = random.indices(4, free);
                drop(call!(self, pin(&own)));
            }
            1 => {
                let own = random.indices(4, free);
                drop(call!(self, release(&own)));
            }
            2 | 3 => {
                let pinned = |&particle: &u32| self.pair.solver.is_pinned(particle).unwrap();
                let pins: Vec<u32> = (0..free).filter(pinned).collect();
                let own: Vec<u32> = (0..3).filter_map(|_| random.of(&pins)).collect();
                let targets: Vec<_> = own.into_iter().map(|pin| (pin, near(random, pin, 0.05))).collect();
                drop(call!(self, set_targets(&targets)));
            }
            4 => {
                let own = random.indices(free, free);
                drop(call!(self, clear_targets(&own)));
            }
            5 => {
                let own = [near(random, first, 0.02), near(random, first + 1, 0.02)];
                drop(call!(self, set_positions(first, &own)));
            }
            6 => {
                let own = [random.vector(1.0); 2];
                drop(call!(self, set_velocities(first, &own)));
            }
            7 => {
                let own = [random.between(0.01, 0.2)];
                drop(call!(self, set_masses(first, &own)));
            }
            8 => {
                let material = Material::compliant(random.between(0.0, 1e-3));
                drop(call!(self, set_material(self.world.stiff, material)));
            }
            9 => {
                let (index, link) = self.world.link;
                let link = Distance { rest_length: random.between(0.2, 0.8), ..link };
                drop(call!(self, set_constraint(index, link)));
            }
            _ => {
                let scale = ContactScale { thickness: random.between(0.0, 1.0), friction: random.between(0.0, 1.0) };
                drop(call!(self, set_contact_scales(first..first + 4, &[scale; 4])));
            }
        }
    }

    fn change_skinned(&mut self, random: &mut Random) {
        let first = random.below(5);
        match random.below(4) {
            0 => {
                let pose = SkinnedPose { position: random.vector(1.0), normal: random.vector(1.0) };
                drop(call!(self, set_skinned_poses(first, &[pose])));
            }
            1 => {
                let backstop = Some(Backstop { distance: random.between(0.0, 0.2), radius: random.between(0.1, 1.0) });
                let limits = SkinnedLimits { max_distance: random.between(0.0, 0.3), backstop };
                drop(call!(self, set_skinned_limits(first, &[limits])));
            }
            2 => {
                let joint = glam::Mat4::from_translation(random.vector(0.3).into()).to_cols_array_2d();
                drop(call!(self, set_joints(first % 2, &[joint])));
            }
            _ => drop(call!(self, teleport_skinned(first..6))),
        }
        assert_eq!(self.pair.solver.read_skinned_poses().unwrap(), self.pair.reference.read_skinned_poses());
    }

    fn change_objects(&mut self, random: &mut Random, what: u32) {
        let (collider, attached) = (random.of(&self.world.colliders), random.of(&self.world.attached));
        match (what, collider, attached) {
            (0, ..) => {
                let shapes = [Shape::Sphere { radius: 0.2 }, Shape::Box { half_extents: [0.2, 0.1, 0.3] }];
                let ball = Collider::new(shapes[random.below(2) as usize].clone(), random.vector(0.6));
                self.world.colliders.extend(call!(self, add_collider(&ball)).ok());
            }
            (1 | 2, Some(id), _) => {
                let [x, y, z] = random.vector(0.5);
                let pose = Pose { position: random.vector(0.5), rotation: [x, y, z, 1.0] };
                drop(call!(self, move_collider(id, pose)));
            }
            (3, Some(id), _) => drop(call!(self, remove_collider(id))),
            (4, _, Some(id)) => {
                let place = random.vector(0.5);
                drop(call!(self, move_attachment(id, place)));
            }
            (5, _, Some(id)) => drop(call!(self, release_attachment(id))),
            (6, ..) => {
                let material = ContactMaterial {
                    thickness: random.between(0.0, 0.1),
                    restitution: if random.chance(30) { 0.5 } else { 0.0 },
                    ..ContactMaterial::default()
                };
                drop(call!(self, set_contact_material(self.world.fabric, material)));
            }
            _ => {
                let own = attachment(random, &self.world);
                self.world.attached.extend(call!(self, attach(own)).ok());
            }
        }
    }

    /// Takes a snapshot, and continues from it in a new solver, or from an earlier one.
    fn travel(&mut self, random: &mut Random) {
        let bytes = self.pair.solver.snapshot().unwrap().to_bytes();
        let snapshot = Snapshot::from_bytes(&bytes).unwrap();
        let ids = (self.world.colliders.clone(), self.world.attached.clone());
        self.saved.push((snapshot.clone(), self.pair.reference.clone(), ids.0, ids.1));
        if random.chance(50) {
            self.log.push("continue in a new solver".into());
            let mut other = solver(self.gpu, &self.world.scene, *snapshot.settings());
            other.restore(&snapshot).unwrap();
            assert!(other.snapshot().unwrap().to_bytes() == bytes, "{:#?}", self.log);
            self.pair.solver = other;
        } else {
            let place = random.below(self.saved.len() as u32) as usize;
            self.log.push(format!("return to snapshot {place}"));
            let (snapshot, reference, colliders, attached) = self.saved[place].clone();
            self.pair.solver.set_settings(*snapshot.settings()).unwrap();
            self.pair.solver.restore(&snapshot).unwrap();
            self.pair.reference = reference;
            (self.world.colliders, self.world.attached) = (colliders, attached);
        }
    }

    fn change(&mut self, random: &mut Random) {
        match random.below(31) {
            0..=5 => {
                let steps = 1 + random.below(3);
                self.log.push(format!("{steps} steps"));
                self.pair.solver.step(steps);
                self.pair.reference.step(steps);
                drop(call!(self, tear()));
            }
            6..=14 => {
                let what = random.below(11);
                self.change_particles(random, what);
            }
            15..=20 => {
                let what = random.below(8);
                self.change_objects(random, what);
            }
            21 | 22 => {
                let execution = self.pair.reference.settings().execution;
                let settings = other_settings(random, Settings { execution, ..*self.pair.solver.settings() });
                drop(call!(self, set_settings(settings)));
            }
            23 => {
                let offset = random.vector(1.0);
                drop(call!(self, shift_origin(offset)));
            }
            24 => {
                self.log.push("reset".into());
                self.pair.solver.reset();
                self.pair.reference.reset();
            }
            25..=27 => self.change_skinned(random),
            _ => self.travel(random),
        }
    }
}

#[test]
fn random_calls_agree_on_both_backends_and_after_snapshots() {
    let gpu = gpu();
    let count = std::env::var("SUPPLE_RANDOM_RUNS").ok().and_then(|count| count.parse().ok()).unwrap_or(4);
    for seed in 1..=count {
        let mut random = Random::new(seed);
        let tears = seed % 2 == 0;
        let world = world(&mut random, tears);
        let mut settings = settings(&mut random);
        if tears {
            settings.sweep = Sweep::GaussSeidel;
        }
        let pair = Pair::new(&gpu, &world.scene, settings);
        let log = vec![format!("seed {seed}: {settings:?}")];
        let mut run = Run { gpu: &gpu, pair, world, saved: Vec::new(), log };
        for _ in 0..40 {
            run.change(&mut random);
            // Other adapters round differently; there the calls must succeed alike, and snapshots must be equal.
            if is_exact(&gpu) {
                run.compare();
            }
        }
    }
}
