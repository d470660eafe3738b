//! The program `supple`, run as its users run it.

mod bake;
mod commands;
mod exports;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the program in the folder of the temporary files.
fn supple(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_supple"));
    command.args(arguments).current_dir(env!("CARGO_TARGET_TMPDIR")).output().unwrap()
}

/// Runs `supple bake`.
fn bake(arguments: &[&str]) -> Output {
    supple(&[&["bake"], arguments].concat())
}

/// Runs `supple bake` and returns its standard output and its error output.
fn baked(arguments: &[&str]) -> [String; 2] {
    let output = bake(arguments);
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{arguments:?}: {err}");
    [out, err]
}

/// Runs `supple bake`, which must fail, and returns its error output.
fn refused(arguments: &[&str]) -> String {
    let output = bake(arguments);
    assert!(!output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

/// The path of a scene of the examples.
fn scene(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/scenes").join(name).to_str().unwrap().into()
}

/// The path of a temporary file.
fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The shape and the values of a NumPy array.
fn array(name: &str) -> (Vec<u64>, Vec<f32>) {
    let file = std::io::BufReader::new(std::fs::File::open(path(name)).unwrap());
    let array = npyz::NpyFile::new(file).unwrap();
    (array.shape().to_vec(), array.into_vec().unwrap())
}
