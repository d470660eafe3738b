//! Reads arbitrary bytes as the glTF mesh of a cloth, of a soft body and of a cloth with maps. Reading must not panic, and
//! a scene that is read must compile and run for one step.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;
use supple::scene_file::{Limits, SceneFile};

static FOLDER: LazyLock<PathBuf> = LazyLock::new(supple_fuzz::folder);

const PARTS: [&str; 3] = [
    r#"{"cloth_mesh": {"mesh": {"gltf": "mesh.glb"}}}"#,
    r#"{"cloth_mesh": {"mesh": {"gltf": "mesh.glb", "node": "cloth", "pin_map": "_PIN", "thickness_map": "COLOR_0.g"}}}"#,
    r#"{"soft_body": {"mesh": {"gltf": "mesh.glb"}, "spacing": 0.5, "density": 100, "elasticity": {"rigid": {}}}}"#,
];

fuzz_target!(|bytes: &[u8]| {
    supple_fuzz::write(&FOLDER, "mesh.glb", &supple_fuzz::gltf(bytes));
    for part in PARTS {
        let text = format!(r#"{{"version": 1, "parts": [{part}]}}"#);
        match SceneFile::parse_within(&text, Some(&FOLDER), &Limits::small()) {
            Ok(file) => supple_fuzz::run(file),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
});
