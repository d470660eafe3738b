//! Effects of `set_positions`, `set_velocities` and `pin` on followers, normals and targets, on both backends.

use crate::common::{change, gpu, solver};
use supple::gpu::Context;
use supple::{ClothGrid, Error, Particle, Reference, Scene, Settings, Solver};

/// A cloth of 4 × 4 particles in the x-z plane, and a follower (16) of four of them.
fn cloth_with_a_follower() -> Scene {
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns: 4, rows: 4, ..ClothGrid::default() }).unwrap();
    scene.add_follower([0, 3, 12, 15], [0.25; 4]).unwrap();
    scene
}

struct Backends {
    solver: Solver,
    reference: Reference,
}

impl Backends {
    fn new(gpu: &Context, scene: &Scene, settings: Settings) -> Self {
        let (solver, reference) = (solver(gpu, scene, settings), Reference::new(scene, settings).unwrap());
        Self { solver, reference }
    }

    fn step(&mut self, steps: u32) {
        self.solver.step(steps);
        self.reference.step(steps);
    }

    /// The positions of both backends, which must be equal.
    fn positions(&self) -> Vec<[f32; 3]> {
        let positions = self.solver.read_positions().unwrap();
        assert_eq!(positions, self.reference.read_positions().unwrap());
        positions
    }

    fn velocities(&self) -> Vec<[f32; 3]> {
        let velocities = self.solver.read_velocities().unwrap();
        assert_eq!(velocities, self.reference.read_velocities().unwrap());
        velocities
    }

    fn normals(&self) -> Vec<[f32; 3]> {
        let normals = self.solver.read_normals().unwrap();
        assert_eq!(normals, self.reference.read_normals().unwrap());
        normals
    }
}

/// (x, y, z) → (−y, x, z), 5 m up: a quarter turn about z.
fn turned(positions: &[[f32; 3]]) -> Vec<[f32; 3]> {
    positions.iter().map(|&[x, y, z]| [-y, x + 5.0, z]).collect()
}

#[test]
fn normals_and_followers_of_a_paused_cloth_follow_set_positions() {
    let gpu = gpu();
    let mut both = Backends::new(&gpu, &cloth_with_a_follower(), Settings::default());
    both.step(2);
    let before = both.positions();
    change!(both, set_positions(0, &turned(&before[..16])));
    // As in a renderer: no step and no readback before drawing.
    both.solver.step(0);
    let (positions, normals) = (both.positions(), both.normals());
    let expected = turned(&before)[16];
    for axis in 0..3 {
        assert!((positions[16][axis] - expected[axis]).abs() < 1e-5, "{:?} instead of {expected:?}", positions[16]);
    }
    // The flat cloth faced y and now faces x.
    assert!(normals[5][0].abs() > 0.999, "{:?}", normals[5]);
}

#[test]
fn readback_without_encode_includes_all_changes() {
    let gpu = gpu();
    let mut both = Backends::new(&gpu, &cloth_with_a_follower(), Settings::default());
    let before = both.positions();
    change!(both, set_positions(0, &turned(&before[..16])));
    assert!((both.positions()[16][1] - turned(&before)[16][1]).abs() < 1e-5);
    assert!(both.normals()[5][0].abs() > 0.999);
    change!(both, set_velocities(0, &[[1.0, 2.0, 3.0]; 16]));
    assert_eq!(both.velocities()[16], [1.0, 2.0, 3.0]);
    change!(both, pin(&[0, 3, 12, 15]));
    assert_eq!(both.velocities()[16], [0.0; 3]);
    both.step(3);
    both.positions();
}

#[test]
fn followers_start_at_the_changed_positions_of_a_scene() {
    let gpu = gpu();
    let mut scene = cloth_with_a_follower();
    for particle in 0..16 {
        let [x, y, z] = scene.positions()[particle as usize];
        scene.set_position(particle, [x, y + 7.0, z]).unwrap();
    }
    let both = Backends::new(&gpu, &scene, Settings::default());
    assert!((both.positions()[16][1] - 7.0).abs() < 1e-5, "{:?}", both.positions()[16]);
}

#[test]
fn the_state_of_a_follower_is_rejected_by_its_index_and_nothing_changes() {
    let gpu = gpu();
    let mut scene = cloth_with_a_follower();
    let is_refused = |outcome: Result<(), Error>, what: &str| {
        assert_eq!(outcome, Err(Error::Follower { what: what.into(), particle: 16 }));
        let text = outcome.unwrap_err().to_string();
        assert!(text.contains("particle 16 is a follower") && text.contains(what), "{text}");
    };
    is_refused(scene.set_position(16, [0.0; 3]), "position");
    is_refused(scene.set_velocity(16, [0.0; 3]), "velocity");
    let mut both = Backends::new(&gpu, &scene, Settings::default());
    both.step(1);
    let before = (both.positions(), both.velocities());
    is_refused(both.solver.set_positions(10, &[[1.0; 3]; 7]), "position");
    is_refused(both.reference.set_positions(10, &[[1.0; 3]; 7]), "position");
    is_refused(both.solver.set_velocities(16, &[[1.0; 3]]), "velocity");
    is_refused(both.reference.set_velocities(16, &[[1.0; 3]]), "velocity");
    is_refused(both.solver.set_target(16, [1.0; 3]), "set_target");
    is_refused(both.reference.set_target(16, [1.0; 3]), "set_target");
    assert_eq!((both.positions(), both.velocities()), before);
    // Ranges up to the follower, and empty ranges, are valid.
    change!(both, set_positions(10, &[[1.0; 3]; 6]));
    change!(both, set_positions(17, &[]));
    change!(both, set_positions(16, &[]));
}

#[test]
fn a_follower_stays_in_place_after_a_change_of_the_substep() {
    // A particle connected to the follower of one that moves at 2 m/s, with a changed and an unchanged number of
    // substeps.
    let gpu = gpu();
    let mut scene = Scene::new();
    let mover = Particle { velocity: [2.0, 0.0, 0.0], ..Particle::default() };
    let source = scene.add_particle(mover).unwrap();
    let follower = scene.add_follower([source; 4], [0.25; 4]).unwrap();
    let settings = Settings { gravity: [0.0; 3], ..Settings::default() };
    let mut both = Backends::new(&gpu, &scene, settings);
    both.step(1);
    for substeps in [10, 20] {
        change!(both, set_settings(Settings { substeps, ..settings }));
        both.step(2);
        let displacements = both.solver.read_displacements().unwrap();
        assert_eq!(displacements, both.reference.read_displacements().unwrap());
        assert_eq!(displacements[follower as usize], [0.0; 3], "{substeps} substeps");
    }
}

#[test]
fn a_pin_stays_at_its_set_position_despite_an_earlier_target() {
    let gpu = gpu();
    let mut scene = Scene::new();
    for k in 0..3 {
        scene.add_particle(Particle { position: [k as f32, 0.0, 0.0], ..Particle::default() }).unwrap();
        scene.pin(k).unwrap();
    }
    let mut both = Backends::new(&gpu, &scene, Settings::default());
    // One particle at rest at its target, one moving at 6 m/s, and one without a target.
    change!(both, set_target(0, [0.0; 3]));
    change!(both, set_target(1, [1.1, 0.0, 0.0]));
    both.step(1);
    change!(both, set_positions(0, &[[5.0, 1.0, 0.0], [6.0, 1.0, 0.0], [7.0, 1.0, 0.0]]));
    for _ in 0..2 {
        both.step(1);
        assert_eq!(both.positions(), [[5.0, 1.0, 0.0], [6.0, 1.0, 0.0], [7.0, 1.0, 0.0]]);
        assert_eq!(both.velocities(), [[0.0; 3]; 3]);
    }
    // A later target applies; a failed call moves nothing.
    change!(both, set_target(1, [6.1, 1.0, 0.0]));
    assert!(both.solver.set_positions(0, &[[0.0; 3], [f32::NAN; 3]]).is_err());
    assert!(both.reference.set_positions(0, &[[0.0; 3], [f32::NAN; 3]]).is_err());
    both.step(1);
    assert!((both.positions()[1][0] - 6.1).abs() < 1e-5, "{:?}", both.positions()[1]);
}
