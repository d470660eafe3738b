//! The capstan equation (Euler, Eytelwein): a rope that slides around a drum by the angle φ has tensions in the ratio
//! T₂/T₁ = e^(µφ).

use crate::common;
use std::f32::consts::PI;
use supple::{
    Collider, ContactMaterial, Cord, Distance, Friction, Pose, Reference, Rope, Scene, Settings, Shape, Solver,
};

/// Distance of the rope from the axis of the drum \[m\].
const RADIUS: f32 = 0.1;
/// Mass of the weight \[kg\].
const MASS: f32 = 0.5;
/// Speed of the pulled end \[m/s\].
const SPEED: f32 = 0.1;

/// A rope around a drum with `per_quarter` segments per quarter of a turn. Its first particle is the weight, the last
/// one is pinned.
struct Capstan {
    scene: Scene,
    settings: Settings,
    last: u32,
    end: [f32; 3],
    /// Direction of the pull.
    pull: [f32; 3],
}

impl Capstan {
    fn new(coefficient: f32, angle: f32, per_quarter: u32) -> Self {
        let mut scene = Scene::new();
        let friction = Friction::coulomb(coefficient);
        let material = ContactMaterial { thickness: 0.01, friction, ..ContactMaterial::default() };
        let material = scene.add_contact_material(material).unwrap();
        let drum = Shape::Capsule { radius: RADIUS - 0.005, half_height: 1.0 };
        let half_root = 0.5_f32.sqrt();
        let pose = Pose { position: [0.0; 3], rotation: [half_root, 0.0, 0.0, half_root] };
        scene.add_collider(Collider { material, pose, ..Collider::new(drum, [0.0; 3]) }).unwrap();
        let arc = 0.5 * RADIUS * angle;
        let (sin, cos) = (0.5 * angle).sin_cos();
        let point = |s: f32| {
            let beyond = (s.abs() - arc).max(0.0);
            let (on_sin, on_cos) = (s.clamp(-arc, arc) / RADIUS).sin_cos();
            [RADIUS * on_sin + s.signum() * beyond * cos, RADIUS * on_cos - beyond * sin, 0.0]
        };
        let [from, to] = [-arc - 1.0, arc + 0.6];
        let count = ((to - from) / (RADIUS * PI / 2.0 / per_quarter as f32)).round() as u32;
        let points: Vec<_> = (0..=count).map(|k| point(from + (to - from) * k as f32 / count as f32)).collect();
        let cord = Cord::limp(0.5, f32::INFINITY);
        let rope = scene.add_rope(&Rope { points: &points, cord, tethers: None }).unwrap().particles;
        scene.set_particle_contact(rope.clone(), material).unwrap();
        scene.set_mass(rope.start, MASS).unwrap();
        let last = rope.end - 1;
        scene.pin(last).unwrap();
        let settings =
            Settings { gravity: [0.0; 3], forces: true, mean_forces: true, damping: 1.0, ..Settings::default() };
        Self { scene, settings, last, end: points[last as usize], pull: [cos, -sin, 0.0] }
    }

    /// The force on the weight along its end of the rope \[N\]; the rest of the rope has no weight.
    fn weight(&self) -> [f32; 3] {
        [-9.81 * MASS * self.pull[0], 9.81 * MASS * self.pull[1], 0.0]
    }

    /// The target of the pulled end after `frame` frames.
    fn target(&self, frame: u32) -> [f32; 3] {
        let way = SPEED * frame as f32 / 60.0;
        [0, 1, 2].map(|k| self.end[k] + self.pull[k] * way)
    }
}

/// The ratio of the mean tensions at the two ends.
fn ratio(sums: &[f64; 2]) -> f64 {
    sums[1] / sums[0]
}

fn add(sums: &mut [f64; 2], forces: &[f32]) {
    sums[0] += f64::from(forces[0]);
    sums[1] += f64::from(*forces.last().unwrap());
}

/// The friction of a drum at the default settings, for four angles and coefficients and two lengths of the segments.
#[test]
fn a_rope_that_slides_around_a_drum_has_tensions_by_the_capstan_equation() {
    for (coefficient, angle, per_quarter) in [(0.3, PI, 10), (0.5, PI, 10), (0.3, 0.5 * PI, 10), (0.2, 0.75 * PI, 16)] {
        let case = Capstan::new(coefficient, angle, per_quarter);
        let mut reference = Reference::new(&case.scene, case.settings).unwrap();
        reference.set_forces(0, &[case.weight()]).unwrap();
        let mut sums = [0.0; 2];
        let mut before = [0.0; 3];
        for frame in 1..=300 {
            reference.set_target(case.last, case.target(frame)).unwrap();
            reference.step(1);
            if frame == 180 {
                before = reference.read_positions().unwrap()[0];
            }
            if frame > 180 {
                add(&mut sums, &reference.read_mean_forces::<Distance>().unwrap());
            }
        }
        let slid = glam::Vec3::from(reference.read_positions().unwrap()[0]).distance(before.into());
        assert!(slid > 0.75 * SPEED * 2.0, "the weight moved by {slid} m");
        let expected = f64::from(coefficient * angle).exp();
        let error = ratio(&sums) / expected - 1.0;
        println!("µ {coefficient}, φ {angle}: {} of {expected}", ratio(&sums));
        assert!(error.abs() < 0.05, "µ {coefficient}, φ {angle}: {error}");
    }
}

#[test]
fn a_rope_around_a_drum_agrees_on_both_backends() {
    let gpu = common::gpu();
    let case = Capstan::new(0.3, PI, 10);
    let mut solver: Solver = common::solver(&gpu, &case.scene, case.settings);
    let mut reference = Reference::new(&case.scene, case.settings).unwrap();
    solver.set_forces(0, &[case.weight()]).unwrap();
    reference.set_forces(0, &[case.weight()]).unwrap();
    let [mut on_gpu, mut on_reference] = [[0.0; 2]; 2];
    for frame in 1..=60 {
        solver.set_target(case.last, case.target(frame)).unwrap();
        reference.set_target(case.last, case.target(frame)).unwrap();
        solver.step(1);
        reference.step(1);
        add(&mut on_gpu, &solver.read_mean_forces::<Distance>().unwrap());
        add(&mut on_reference, &reference.read_mean_forces::<Distance>().unwrap());
    }
    let [on_gpu, on_reference] = [ratio(&on_gpu), ratio(&on_reference)];
    assert!((on_gpu / on_reference - 1.0).abs() < 0.02, "{on_gpu} and {on_reference}");
}
