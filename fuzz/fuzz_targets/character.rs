//! Reads arbitrary bytes as a glTF character. Reading must not panic. The particles of a character that is read follow its
//! animations for a step, and each position must be finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use supple::scene_file::Character;
use supple::{Particle, Reference, Scene, Settings, Skinned, SkinnedLimits};

fuzz_target!(|bytes: &[u8]| {
    let character = match Character::parse(&supple_fuzz::gltf(bytes), None) {
        Ok(character) => character,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let mesh = &character.mesh;
    let joints = character.joints.len();
    assert!(joints > 0 && character.rest().len() == joints);
    assert!(mesh.positions.iter().chain(&mesh.normals).flatten().all(|x| x.is_finite()));
    if mesh.positions.len() > supple_fuzz::MOST_PARTICLES || joints > supple_fuzz::MOST_PARTICLES {
        return;
    }
    let mut scene = Scene::new();
    for capsule in mesh.capsules() {
        // A joint may be larger than a collider may be.
        let _ = scene.add_collider(capsule.collider());
    }
    let rest = mesh.posed(&character.rest()).expect("all weights name joints of the character");
    for ((&position, &joints), pose) in mesh.positions.iter().zip(&mesh.weights).zip(rest) {
        let particle = Particle { position, ..Particle::default() };
        let limits = SkinnedLimits { max_distance: 0.1, backstop: None };
        // Positions may be out of range.
        let Ok(particle) = scene.add_particle(particle) else { return };
        let Ok(_) = scene.add_skinned(Skinned { particle, pose, limits, joints: Some(joints) }) else { return };
    }
    let settings = Settings { substeps: 2, ..Settings::default() };
    let Ok(mut reference) = Reference::new(&scene, settings) else { return };
    for (animation, own) in character.animations.iter().enumerate().take(4) {
        for time in [-1.0, 0.0, 0.5 * own.duration, own.duration, 1e9] {
            let pose = character.pose(animation, time).expect("the animation exists, and the time is finite");
            // A matrix may be beyond the range of f32.
            if reference.set_joints(0, &pose).is_ok() {
                reference.step(1);
                supple_fuzz::check_positions(&reference);
            }
        }
    }
});
