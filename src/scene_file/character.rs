//! Characters from glTF files: a skinned mesh, its joints and its animations.

use super::error::{At, FileError};
use super::gltf::{Gltf, Rig};
use super::{Limits, error};
use crate::error::{Error, Result};
use crate::scene::SkinnedMesh;
use std::path::Path;

/// A skinned mesh of a glTF 2.0 file, its joints and its animations.
///
/// ```no_run
/// use supple::{Scene, scene_file::Character};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let character = Character::read("walker.glb", None)?;
/// let mut scene = Scene::new();
/// let capsules = character.mesh.capsules();
/// for capsule in &capsules {
///     scene.add_collider(capsule.collider())?;
/// }
/// let joints = character.pose(0, 0.25)?; // for Solver::set_joints
/// # Ok(())
/// # }
/// ```
///
/// The *bind pose* is the mesh after the rest transform of its first joint, with its scale. In most files it equals the mesh at
/// rest in the scene. Joints must be scaled uniformly.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Character {
    /// The mesh in the bind pose, with the four largest weights of each vertex.
    pub mesh: SkinnedMesh,
    /// The joints, by index of the weights.
    pub joints: Vec<CharacterJoint>,
    /// The animations, by index in the file.
    pub animations: Vec<CharacterAnimation>,
    rig: Rig,
}

/// A joint of a character.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CharacterJoint {
    /// The name of its node.
    pub name: String,
    /// The nearest joint above it.
    pub parent: Option<u32>,
}

/// An animation of a character.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CharacterAnimation {
    /// Its name.
    pub name: String,
    /// The time of its last key frame \[s\], including those of nodes that move no joint.
    pub duration: f64,
}

impl Character {
    /// Reads a `.gltf` or `.glb` file: the skinned meshes of its scene, or of the named node and those below it. All must have
    /// the same skin. Buffers may be files beside it, at most 1 GiB together.
    ///
    /// # Errors
    /// [`FileError::Read`], or [`FileError::Content`] with the problem:
    ///
    /// - There is no mesh with a skin, or the skin has no joints.
    /// - A joint or an accessor does not exist. Nodes form a cycle.
    /// - Weights are not finite, negative or all 0.
    /// - A joint has a non-uniform scale.
    pub fn read(path: impl AsRef<Path>, node: Option<&str>) -> Result<Self, FileError> {
        let limits = Limits::default();
        let gltf = Gltf::read(path.as_ref(), limits.file_bytes).at(String::new)?;
        Self::of(&gltf, node, &limits).map_err(error::Reason::from).at(String::new)
    }

    /// Reads a character from the bytes of a `.glb` file, or of a `.gltf` file without external buffers.
    ///
    /// # Errors
    /// As [`Character::read`], and a buffer in another file.
    pub fn parse(bytes: &[u8], node: Option<&str>) -> Result<Self, FileError> {
        let load = |name: &str| Err(format!("{name:?}: buffers in other files are read by Character::read only"));
        let gltf = Gltf::parse(bytes, load);
        let character = gltf.and_then(|gltf| Self::of(&gltf, node, &Limits::default()));
        character.map_err(error::Reason::from).at(String::new)
    }

    fn of(gltf: &Gltf, node: Option<&str>, limits: &Limits) -> Result<Self, String> {
        let (mesh, rig) = gltf.character(node, limits)?;
        let joint = |(name, parent): (&str, Option<u32>)| CharacterJoint { name: name.to_owned(), parent };
        let joints: Vec<CharacterJoint> = rig.joints().into_iter().map(joint).collect();
        let mesh = mesh.checked(joints.len() as u32).map_err(|error| error.to_string())?;
        let animations = rig.animations.iter();
        let animations =
            animations.map(|own| CharacterAnimation { name: own.name.clone(), duration: own.duration }).collect();
        Ok(Self { mesh, joints, animations, rig })
    }

    /// The matrix of each joint from the bind pose to the scene at rest, for [`crate::Solver::set_joints`]. If the bind pose is
    /// that of the scene, all are the identity.
    pub fn rest(&self) -> Vec<[[f32; 4]; 4]> {
        self.matrices(None, 0.0)
    }

    /// The matrix of each joint from the bind pose to the scene at a time \[s\] of an animation. Before its first key frame a
    /// channel has its first value, after its last key frame its last value. To repeat an animation, pass the remainder of the
    /// time by its duration.
    ///
    /// Values are interpolated linearly (rotations along the shorter arc), stepwise or by cubic splines, as each channel states.
    ///
    /// # Errors
    /// The animation must exist, and the time must be finite.
    pub fn pose(&self, animation: usize, time: f64) -> Result<Vec<[[f32; 4]; 4]>> {
        if animation >= self.animations.len() {
            let (what, index, count) = ("pose".into(), animation as u64, self.animations.len() as u64);
            return Err(Error::IndexOutOfRange { what, target: "animation", index, count });
        }
        if !time.is_finite() {
            return Err(Error::invalid("time of an animation", time, "finite"));
        }
        Ok(self.matrices(Some(animation), time))
    }

    fn matrices(&self, animation: Option<usize>, time: f64) -> Vec<[[f32; 4]; 4]> {
        self.rig.pose(animation, time).into_iter().map(|matrix| matrix.as_mat4().to_cols_array_2d()).collect()
    }
}
