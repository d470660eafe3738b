//! Reads arbitrary bytes as a Wavefront OBJ: as text, and as the mesh of a cloth and of a balloon. Reading must not panic,
//! and a scene that is read must compile and run for one step.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;
use supple::scene_file::{Limits, ObjMesh, SceneFile};

static FOLDER: LazyLock<PathBuf> = LazyLock::new(supple_fuzz::folder);

const PARTS: [&str; 2] = [
    r#"{"cloth_mesh": {"mesh": {"obj": "mesh.obj", "weld": 0.001}, "fabric": {"bending": "hinges"}}}"#,
    r#"{"balloon": {"mesh": {"obj": "mesh.obj"}, "pressure": 1.5}}"#,
];

fuzz_target!(|bytes: &[u8]| {
    if let Ok(mesh) = ObjMesh::parse(&String::from_utf8_lossy(bytes)) {
        let count = mesh.positions.len();
        assert!(mesh.triangles.iter().flatten().all(|&vertex| (vertex as usize) < count));
        assert_eq!(mesh.lines.len(), mesh.triangles.len());
    }
    supple_fuzz::write(&FOLDER, "mesh.obj", bytes);
    for part in PARTS {
        let text = format!(r#"{{"version": 1, "parts": [{part}]}}"#);
        match SceneFile::parse_within(&text, Some(&FOLDER), &Limits::small()) {
            Ok(file) => supple_fuzz::run(file),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
});
