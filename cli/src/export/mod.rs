//! Writers of the files of `supple bake`.

pub mod contacts;
pub mod geometry;
pub mod npy;
pub mod obj;
pub mod partial;
pub mod point_cache;
mod spool;
pub mod usd;
pub mod usd_text;

use crate::console;
use std::path::Path;

/// The samples of an animation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// The number of samples, the initial state included.
    pub samples: u32,
    /// The time between two samples \[s\].
    pub seconds: f64,
}

/// The state that a writer receives, per particle of the scene.
pub struct Frame<'a> {
    /// The number of the sample, from 0.
    pub sample: u32,
    /// Positions \[m\].
    pub positions: &'a [[f32; 3]],
    /// Velocities \[m/s\]; empty if no writer needs them.
    pub velocities: &'a [[f32; 3]],
    /// Unit normals; empty if no writer needs them or the scene has no surfaces.
    pub normals: &'a [[f32; 3]],
}

/// Prints a warning if a folder has numbered files that this simulation has not written. `name` is the text before and after the number.
fn warn_of_others(folder: &Path, name: [&str; 2], is_written: impl Fn(u32) -> bool) {
    let is_other = |file: &str| number_of(file, name).is_some_and(|number| !is_written(number));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let others = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_other)).count();
    if others > 0 {
        let folder = folder.display();
        console::warn(format_args!("{folder} also has {others} frames that this simulation has not written"));
    }
}

/// The number in the name of a file, with the text before and after it.
fn number_of(file: &str, [prefix, suffix]: [&str; 2]) -> Option<u32> {
    file.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok()
}
