//! Shared by the fuzz targets.

use std::path::{Path, PathBuf};
use supple::Reference;
use supple::scene_file::SceneFile;

/// Larger scenes are skipped, so that one input takes well below a second.
pub const MOST_PARTICLES: usize = 2_000;
const MOST_CONSTRAINTS: usize = 20_000;

/// Compiles a scene and runs one step on the CPU reference. Each target, pose and position must be finite.
pub fn run(mut file: SceneFile) {
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
    check_positions(&reference);
}

/// Panics if a position is not finite.
pub fn check_positions(reference: &Reference) {
    let positions = reference.read_positions().expect("the reference has positions");
    assert!(positions.iter().flatten().all(|x| x.is_finite()), "a position is not finite");
}

/// A glTF file from the bytes of an input: a `.glb` as it is; JSON, a zero byte and a binary chunk as a `.glb` of both, so
/// that mutations of the JSON need no change of a length; else the JSON of a `.gltf`.
pub fn gltf(input: &[u8]) -> Vec<u8> {
    let end = input.iter().position(|&byte| byte == 0);
    let (Some(end), false) = (end, input.starts_with(b"glTF")) else { return input.to_vec() };
    let (json, binary) = (&input[..end], &input[end + 1..]);
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend((12 + 8 + json.len() as u32 + 8 + binary.len() as u32).to_le_bytes());
    for (chunk, sort) in [(json, b"JSON"), (binary, b"BIN\0")] {
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(sort);
        file.extend(chunk);
    }
    file
}

/// An empty folder for the files of this process.
pub fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("supple-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder of temporary files can be written");
    folder
}

/// Writes a file of the folder.
pub fn write(folder: &Path, name: &str, bytes: &[u8]) {
    std::fs::write(folder.join(name), bytes).expect("the folder of temporary files can be written");
}
