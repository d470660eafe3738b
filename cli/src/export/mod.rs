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
