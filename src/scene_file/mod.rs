//! Scenes from JSON files: what `docs/scene.md` describes, read, checked and built.
//!
//! ```
//! use supple::scene_file::SceneFile;
//!
//! let text = r#"{
//!     "version": 1,
//!     "parts": [{ "cloth_grid": { "name": "flag", "columns": 16, "rows": 12, "fabric": "silk", "pin": ["column 0"] } }],
//!     "targets": [{ "particles": ["flag:column 0"], "times": [0, 1], "offsets": [[0, 0, 0], [0, 0.5, 0]] }]
//! }"#;
//! let file = SceneFile::parse(text, None)?;
//! let mut player = file.reference()?;
//! let mut time = 0.0;
//! for _ in 0..10 {
//!     time += f64::from(file.settings.dt);
//!     for (particle, position) in file.targets_at(time) {
//!         player.set_target(particle, position)?;
//!     }
//!     for (collider, pose) in file.collider_poses_at(time) {
//!         player.move_collider(collider, pose)?;
//!     }
//!     player.step(1);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bodies;
mod build;
mod cloths;
mod colliders;
mod constraints;
mod contacts;
mod error;
mod format;
mod links;
mod mesh;
mod motion;
mod obj;
mod parts;
mod polygon;
mod select;
mod settings;
mod text;
mod values;

pub use error::FileError;
pub use motion::{ColliderPath, KeyFrames, TargetPath};
pub use obj::{ObjMesh, TextureCoordinates};

use super::{MaterialId, Numbering, Scene};
use crate::collision::{ColliderId, ContactMaterialId, Pose};
use crate::reference::Reference;
use crate::settings::Settings;
use error::At;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// A scene file, read and built: what both players need.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SceneFile {
    /// What the scene shows, in the file's words.
    pub title: Option<String>,
    /// What there is.
    pub scene: Scene,
    /// How it is simulated. [`Settings::forces`] is on where the file has forces.
    pub settings: Settings,
    /// The constant force on every particle \[N\]; empty where the file has none. [`SceneFile::reference`] and
    /// [`SceneFile::solver`] set them.
    pub forces: Vec<[f32; 3]>,
    /// What each part of the file became, in its order.
    pub parts: Vec<Part>,
    /// The entries of the material table that have a name.
    pub materials: BTreeMap<String, MaterialId>,
    /// The contact materials by name; `default` is always there.
    pub contact_materials: BTreeMap<String, ContactMaterialId>,
    /// Where pinned particles go over time; see [`SceneFile::targets_at`].
    pub targets: Vec<TargetPath>,
    /// The colliders that have a name.
    pub colliders: BTreeMap<String, ColliderId>,
    /// Where colliders go over time; see [`SceneFile::collider_poses_at`].
    pub collider_paths: Vec<ColliderPath>,
    /// What is odd about the scene, none of which keeps it from being simulated: open seams of cloth.
    pub hints: Vec<Hint>,
}

/// What is odd about a scene file, and at which place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hint {
    /// The place in the file: `parts[2].cloth_mesh`.
    pub place: String,
    /// What is odd, and what to do about it.
    pub message: String,
}

impl std::fmt::Display for Hint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// What a part of a scene file became.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Part {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its particles; of a soft body those of the lattice.
    pub particles: Range<u32>,
    /// The particles of a soft body's surface, which follow the lattice; empty for other parts.
    pub surface: Range<u32>,
    /// Its triangles in [`Scene::triangles`].
    pub triangles: Range<u32>,
    /// The distance constraints along its structural and shear links, its segments or its springs.
    pub edges: Range<u32>,
    /// Columns and rows of a grid.
    pub grid: Option<[u32; 2]>,
    /// By vertex of its mesh in the file, the particle that is there; empty for parts without a mesh. Welded vertices have the
    /// same particle. The numbers are those before [`SceneFile::renumber`]; [`Numbering::now`] gives the new ones.
    pub vertex_particles: Vec<u32>,
    /// The texture coordinates of its triangles, if its mesh has them.
    pub texture: TextureCoordinates,
}

/// How large a scene may be. What a file asks for beyond it is refused before memory is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a file, be it a scene or an OBJ. Default 1 GiB.
    pub file_bytes: u64,
    /// Particles, followers included. Default 4 000 000.
    pub particles: u64,
    /// Triangles and tetrahedra. Default 32 000 000.
    pub elements: u64,
    /// Particles that selections, surfaces, edges and the groups of soft bodies name, each as often as it is named.
    /// Default 32 000 000.
    pub members: u64,
    /// Lattice cubes over the bounding boxes of soft bodies, and those beyond 64 over that of each of their triangles.
    /// 64 samples of a mesh that is a collider count as one. Default 4 000 000.
    pub cubes: u64,
    /// Entries of `bodies`. Default 10 000.
    pub bodies: u64,
    /// Entries of `colliders`. Default 4 096, which is as many as a player takes.
    pub colliders: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 1 << 30,
            particles: 4_000_000,
            elements: 32_000_000,
            members: 32_000_000,
            cubes: 4_000_000,
            bodies: 10_000,
            colliders: 4_096,
        }
    }
}

impl Limits {
    /// Small ones, for scenes from strangers: 1 MiB, 10 000 particles, 40 000 elements, 200 000 members, 10 000 cubes, 100
    /// bodies, 64 colliders.
    pub fn small() -> Self {
        Self {
            file_bytes: 1 << 20,
            particles: 10_000,
            elements: 40_000,
            members: 200_000,
            cubes: 10_000,
            bodies: 100,
            colliders: 64,
        }
    }
}

impl SceneFile {
    /// Reads and builds a scene. Meshes are looked for from `folder` on; without one, the text may name no files.
    ///
    /// # Errors
    /// Whatever is wrong, with its place in the file. It never panics.
    pub fn parse(text: &str, folder: Option<&Path>) -> Result<Self, FileError> {
        Self::parse_within(text, folder, &Limits::default())
    }

    /// The same within other limits.
    ///
    /// # Errors
    /// As [`SceneFile::parse`].
    pub fn parse_within(text: &str, folder: Option<&Path>, limits: &Limits) -> Result<Self, FileError> {
        if text.len() as u64 > limits.file_bytes {
            return Err(error::Reason::too_large("bytes", text.len() as u64, limits.file_bytes)).at(String::new);
        }
        let mut deserializer = serde_json::Deserializer::from_str(text::without_mark(text));
        let file: format::File = serde_path_to_error::deserialize(&mut deserializer).map_err(FileError::syntax)?;
        deserializer.end().map_err(|error| FileError::syntax_at("", &error))?;
        build::build(file, folder, limits)
    }

    /// Reads and builds a scene from a file; meshes are looked for in its folder.
    ///
    /// # Errors
    /// [`FileError::Read`]; otherwise as [`SceneFile::parse`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let limits = Limits::default();
        let text = text::read_text(path, limits.file_bytes).at(String::new)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse_within(&text, Some(folder), &limits)
    }

    /// Cooks the scene for the CPU and sets its forces.
    ///
    /// # Errors
    /// As [`Reference::new`].
    pub fn reference(&self) -> crate::Result<Reference> {
        let mut reference = Reference::new(&self.scene, self.settings)?;
        if !self.forces.is_empty() {
            reference.set_forces(0, &self.forces)?;
        }
        Ok(reference)
    }

    /// Cooks the scene for the GPU and sets its forces.
    ///
    /// # Errors
    /// As [`crate::Solver::new`].
    pub fn solver(&self, device: &wgpu::Device, queue: &wgpu::Queue) -> crate::Result<crate::Solver> {
        let mut solver = crate::Solver::new(device, queue, &self.scene, self.settings)?;
        if !self.forces.is_empty() {
            solver.set_forces(0, &self.forces)?;
        }
        Ok(solver)
    }

    /// Renumbers the particles of the scene as [`Scene::renumber`] does, and with them its forces and targets. Parts keep their ranges of
    /// particles, unless `bodies` of the file makes one body of several.
    pub fn renumber(&mut self) -> Numbering {
        let numbering = self.scene.renumber();
        let count = self.scene.particle_count();
        // Particles that were added to the scene feel none.
        if !self.forces.is_empty() && self.forces.len() < count {
            self.forces.resize(count, [0.0; 3]);
        }
        // What is of no particle stays, for `set_forces` and `set_target` to tell of.
        if let Some(Ok(forces)) = self.forces.get(..count).map(|forces| numbering.arranged(forces)) {
            self.forces[..count].copy_from_slice(&forces);
        }
        for (particle, _) in self.targets.iter_mut().flat_map(|path| &mut path.particles) {
            *particle = numbering.now(*particle).unwrap_or(*particle);
        }
        numbering
    }

    /// The part of that name.
    pub fn part(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.name.as_deref() == Some(name))
    }

    /// Where the particles with targets are to be at a time \[s\] from the start: what to give to `set_target` before the step that
    /// *ends* at that time.
    pub fn targets_at(&self, time: f64) -> impl Iterator<Item = (u32, [f32; 3])> {
        self.targets.iter().flat_map(move |path| path.at(time))
    }

    /// Where the colliders with a motion are to be at a time \[s\] from the start: what to give to `move_collider` before the step
    /// that *ends* at that time. At the start they are where their motion is at 0.
    pub fn collider_poses_at(&self, time: f64) -> impl Iterator<Item = (ColliderId, Pose)> {
        self.collider_paths.iter().map(move |path| (path.collider, path.keys.at(time)))
    }
}

/// The JSON Schema of the format, as in `docs/scene.schema.json`.
#[cfg(feature = "scene-schema")]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(format::File).to_value()
}
