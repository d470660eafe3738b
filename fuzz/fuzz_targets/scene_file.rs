//! Parses arbitrary bytes as a scene file. Parsing must not panic, and a parsed scene must compile and run for one
//! step.
#![no_main]

use libfuzzer_sys::fuzz_target;
use supple::scene_file::{Limits, SceneFile};

/// Larger scenes are skipped, so that one input takes well below a second.
const MOST_PARTICLES: usize = 2_000;
const MOST_CONSTRAINTS: usize = 20_000;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // Without a folder no other file is read.
    let file = match SceneFile::parse_within(text, None, &Limits::small()) {
        Ok(file) => file,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let time = f64::from(file.settings.dt);
    for (particle, position) in file.targets_at(time) {
        assert!((particle as usize) < file.scene.particle_count() && position.iter().all(|x| x.is_finite()));
    }
    for (_, pose) in file.collider_poses_at(time) {
        assert!(pose.position.iter().chain(&pose.rotation).all(|x| x.is_finite()));
    }
    if file.scene.particle_count() > MOST_PARTICLES || file.scene.constraint_count() > MOST_CONSTRAINTS {
        return;
    }
    let mut file = file;
    file.settings.substeps = file.settings.substeps.min(2);
    file.settings.iterations = file.settings.iterations.min(2);
    // Compilation may reject a scene whose loops are too long for a GPU.
    let Ok(mut reference) = file.reference() else { return };
    for (particle, position) in file.targets_at(time) {
        reference.set_target(particle, position).expect("what a file gives a target can follow it");
    }
    for (collider, pose) in file.collider_poses_at(time) {
        reference.move_collider(collider, pose).expect("what a file gives a motion can move");
    }
    reference.step(1);
    assert!(reference.positions().iter().flatten().all(|x| x.is_finite()), "a position is not finite");
});
