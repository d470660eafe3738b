//! The example `bake` writes what the players say, whole files or none.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use supple::kinds::{Distance, kind_index};
use supple::scene::file::SceneFile;

/// The examples lie beside the folder of this test's executable; `cargo test` has built them.
fn bake(arguments: &[&str]) -> Output {
    let executable = std::env::current_exe().unwrap();
    let folder = executable.ancestors().nth(2).unwrap().join("examples");
    let path = folder.join("bake").with_extension(std::env::consts::EXE_EXTENSION);
    assert!(path.exists(), "{} is not built: run all tests, or `cargo build --examples` first", path.display());
    Command::new(path).args(arguments).current_dir(env!("CARGO_TARGET_TMPDIR")).output().unwrap()
}

/// Runs it and returns what it printed.
fn baked(arguments: &[&str]) -> String {
    let output = bake(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs it and returns what it complained of.
fn refused(arguments: &[&str]) -> String {
    let output = bake(arguments);
    assert!(!output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

fn scene(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/scenes").join(name).to_str().unwrap().into()
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn array(name: &str) -> (Vec<u64>, Vec<f32>) {
    let file = std::io::BufReader::new(std::fs::File::open(path(name)).unwrap());
    let array = npyz::NpyFile::new(file).unwrap();
    (array.shape().to_vec(), array.into_vec().unwrap())
}

#[test]
fn arrays_hold_every_frame_that_was_asked_for() {
    let (name, file) = (scene("jacobi_net.json"), SceneFile::read(scene("jacobi_net.json")).unwrap());
    let out = baked(&[
        &name,
        "--frames",
        "7",
        "--every",
        "3",
        "--reference",
        "--out",
        "net.npy",
        "--velocities",
        "net_v.npy",
        "--lambda",
        "net_l.npy",
        "--lambda-kind",
        "distance",
    ]);
    assert!(out.contains("wrote net.npy [3, 81, 3]") && out.contains("wrote net_l.npy [3, 144]"), "{out}");
    let (mut positions, mut velocities, mut lambdas) = (Vec::new(), Vec::new(), Vec::new());
    let mut reference = file.reference().unwrap();
    for frame in 0..=7 {
        if frame > 0 {
            reference.step(1);
        }
        if frame % 3 == 0 {
            positions.extend(reference.positions().into_iter().flatten());
            velocities.extend(reference.velocities().into_iter().flatten());
            lambdas.extend(reference.lambdas(kind_index(<Distance as supple::kinds::Kind>::INFO)));
        }
    }
    assert_eq!(array("net.npy"), (vec![3, 81, 3], positions));
    assert_eq!(array("net_v.npy"), (vec![3, 81, 3], velocities));
    assert_eq!(array("net_l.npy"), (vec![3, 144], lambdas));
}

#[test]
fn the_gpu_follows_targets_too() {
    let name = scene("animated_target.json");
    baked(&[&name, "--frames", "12", "--every", "12", "--out", "gpu.npy"]);
    let (shape, values) = array("gpu.npy");
    assert_eq!(shape, [2, 576, 3]);
    let file = SceneFile::read(&name).unwrap();
    let end = &values[576 * 3..];
    for (particle, position) in file.targets_at(12.0 * f64::from(file.settings.dt)) {
        let place = &end[particle as usize * 3..][..3];
        assert!((0..3).all(|axis| (place[axis] - position[axis]).abs() < 1e-6), "{place:?} against {position:?}");
    }
}

#[test]
fn lambdas_alone_leave_no_positions() {
    let name = scene("balloon.json");
    baked(&[&name, "--frames", "1", "--lambda", "p.npy", "--lambda-kind", "pressure"]);
    let (shape, values) = array("p.npy");
    assert_eq!(shape, [2, 1]);
    assert!(values[0] == 0.0 && values[1] != 0.0, "{values:?}");
    assert!(!path("positions.npy").exists());
}

#[test]
fn what_cannot_be_done_is_said_and_leaves_nothing() {
    let name = scene("beam.json");
    let error = refused(&[&name, "--frames", "1", "--out", "none/x.npy"]);
    assert!(error.contains("cannot write none"), "{error}");
    let error = refused(&["missing.json"]);
    assert!(error.contains("missing.json") && error.contains("cannot read"), "{error}");
    let error = refused(&[&name, "--out", "same.npy", "--velocities", "same.npy"]);
    assert!(error.contains("same.npy") && error.contains("one file"), "{error}");
    let error = refused(&[&name, "--lambda", "l.npy", "--lambda-kind", "spring"]);
    assert!(error.contains("spring") && error.contains("shape_matching"), "{error}");
    let error = refused(&[&name, "--every", "0"]);
    assert!(error.contains("0"), "{error}");
    std::fs::write(path("bad.json"), r#"{"version": 1, "parts": [{"rope": {"cord": "wool", "points": []}}]}"#).unwrap();
    let error = refused(&["bad.json", "--out", "bad.npy"]);
    assert!(error.contains("bad.json") && error.contains("parts[0].rope.cord") && error.contains("wool"), "{error}");
    let left = std::fs::read_dir(path("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = left.filter(|name| name.starts_with("bad.npy") || name.starts_with("same.npy")).collect();
    assert!(left.is_empty(), "{left:?}");
}
