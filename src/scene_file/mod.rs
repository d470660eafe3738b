//! Reads, checks and builds scenes from JSON files in the format of `docs/scene.md`.
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
//! let mut reference = file.reference()?;
//! let mut time = 0.0;
//! for _ in 0..10 {
//!     time += f64::from(file.settings.dt);
//!     for (particle, position) in file.targets_at(time) {
//!         reference.set_target(particle, position)?;
//!     }
//!     for (collider, pose) in file.collider_poses_at(time) {
//!         reference.move_collider(collider, pose)?;
//!     }
//!     reference.step(1);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attachments;
mod bodies;
mod build;
mod character;
mod cloths;
mod colliders;
mod constraints;
mod contacts;
mod error;
mod explicit_constraints;
mod fabrics;
mod format;
mod gltf;
mod mesh;
mod motion;
mod obj;
mod parts;
mod plasticity;
mod polygon;
mod rods;
mod select;
mod settings;
mod skinned;
mod text;
mod values;

pub use character::{Character, CharacterAnimation, CharacterJoint};
pub use error::FileError;
pub use motion::{ColliderPath, KeyFrames, TargetPath};
pub use obj::{ObjMesh, TextureCoordinates};

use super::{AttachmentId, MaterialId, Numbering, Scene};
use crate::collision::{ColliderId, ContactMaterialId, Pose};
use crate::reference::Reference;
use crate::settings::Settings;
use error::At;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// A parsed scene file: the scene, its settings, its forces and its motions. Both backends run it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SceneFile {
    /// The title from the file.
    pub title: Option<String>,
    /// The particles, constraints and colliders.
    pub scene: Scene,
    /// The settings. [`Settings::forces`] is true if the file has forces.
    pub settings: Settings,
    /// The constant force on each particle \[N\]; empty if the file has none. [`SceneFile::reference`] and
    /// [`SceneFile::solver`] apply them; after [`crate::Solver::reset`], call `set_forces` again.
    pub forces: Vec<[f32; 3]>,
    /// The ranges of each part, in the order of the file.
    pub parts: Vec<Part>,
    /// The named materials. [`crate::Solver::set_material`] changes the `constraints` that name one; parts and attachments copy its values
    /// ([`Scene::material_of`] finds their entries).
    pub materials: BTreeMap<String, MaterialId>,
    /// The contact materials by name; `default` always exists.
    pub contact_materials: BTreeMap<String, ContactMaterialId>,
    /// The motions of pinned particles; see [`SceneFile::targets_at`].
    pub targets: Vec<TargetPath>,
    /// The named colliders.
    pub colliders: BTreeMap<String, ColliderId>,
    /// The motions of colliders; see [`SceneFile::collider_poses_at`].
    pub collider_paths: Vec<ColliderPath>,
    /// The named attachments.
    pub attachments: BTreeMap<String, AttachmentId>,
    /// Warnings that do not prevent the simulation: open seams of cloth, contact materials too thin for their particles,
    /// fields without an effect.
    pub hints: Vec<Hint>,
}

/// A warning about a scene file, with its place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hint {
    /// The place in the file: `parts[2].cloth_mesh`.
    pub place: String,
    /// The problem and its remedy.
    pub message: String,
}

impl std::fmt::Display for Hint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// The particles, triangles and edges that a part of a scene file produced.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Part {
    /// The name, if the part has one.
    pub name: Option<String>,
    /// The particles; for a soft body the particles of its lattice.
    pub particles: Range<u32>,
    /// The surface particles of a soft body, which follow the lattice; empty for other parts.
    pub surface: Range<u32>,
    /// The triangles, as a range of [`Scene::triangles`].
    pub triangles: Range<u32>,
    /// The distance constraints: structural and shear edges of cloth, segments of a rope, or edges of a soft body.
    pub edges: Range<u32>,
    /// Hinges of a cloth whose bending model is hinges.
    pub hinges: Range<u32>,
    /// Joints of a rod ([`crate::BendTwist`]).
    pub joints: Range<u32>,
    /// Segments of a rod ([`crate::StretchShear`]).
    pub segments: Range<u32>,
    /// The half axes of the cross-section of a rod \[m\]; 0 for other parts.
    pub radii: [f32; 2],
    /// Columns and rows, if the part is a grid.
    pub grid: Option<[u32; 2]>,
    /// For each vertex of the mesh in the file, its particle; empty for parts without a mesh. Welded vertices share a
    /// particle. The indices are those before [`SceneFile::renumber`]; [`Numbering::new_index`] gives the new ones.
    pub vertex_particles: Vec<u32>,
    /// The texture coordinates of the triangles, if the mesh has them. Those of a grid run from (0, 0) at the first particle of
    /// the last row to (1, 1) at the last particle of row 0.
    pub texture: TextureCoordinates,
}

/// Upper bounds on the size of a scene. A larger file is an error, found before memory is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a file, for a scene and for an OBJ. Default 1 GiB.
    pub file_bytes: u64,
    /// Particles, followers included. Default 4 000 000.
    pub particles: u64,
    /// Triangles and tetrahedra. Default 32 000 000.
    pub elements: u64,
    /// Particles named by selections, surfaces, edges and the groups of soft bodies, with repetitions.
    /// Default 32 000 000.
    pub members: u64,
    /// Lattice cubes in the bounding box of each soft body. If the bounding box of a surface triangle has more than 64
    /// cubes, the excess is added. 64 samples of a collider mesh count as one cube. Default 4 000 000.
    pub cubes: u64,
    /// Entries of `bodies`. Default 10 000.
    pub bodies: u64,
    /// Entries of `colliders`. Default 4 096, the maximum of both backends.
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
    /// Small limits for untrusted scenes: 1 MiB, 10 000 particles, 40 000 elements, 200 000 members, 10 000 cubes,
    /// 100 bodies, 64 colliders.
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
    /// Reads and builds a scene. Paths of meshes are relative to `folder`; without a folder, a mesh path is an error.
    ///
    /// # Errors
    /// The file is invalid; the error has the place in the file. Never panics.
    pub fn parse(text: &str, folder: Option<&Path>) -> Result<Self, FileError> {
        Self::parse_within(text, folder, &Limits::default())
    }

    /// As [`SceneFile::parse`], with the given limits.
    ///
    /// # Errors
    /// As [`SceneFile::parse`].
    pub fn parse_within(text: &str, folder: Option<&Path>, limits: &Limits) -> Result<Self, FileError> {
        if text.len() as u64 > limits.file_bytes {
            return Err(error::Reason::too_large("bytes", text.len() as u64, limits.file_bytes)).at(String::new);
        }
        let text = text::without_mark(text);
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let file: format::File =
            serde_path_to_error::deserialize(&mut deserializer).map_err(|error| FileError::syntax(error, text))?;
        deserializer.end().map_err(|error| FileError::syntax_at("", &error))?;
        build::build(file, folder, limits)
    }

    /// Reads and builds a scene from a file. Paths of meshes are relative to its folder.
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

    /// Compiles the scene for the CPU reference and sets its forces.
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

    /// Compiles the scene for the GPU and sets its forces. Native targets only.
    ///
    /// # Errors
    /// As [`crate::Solver::new`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn solver(&self, device: &wgpu::Device, queue: &wgpu::Queue) -> crate::Result<crate::Solver> {
        self.solver_with_store(&crate::gpu::PipelineStore::new(device), queue)
    }

    /// As [`SceneFile::solver`], with the pipelines of a store: see [`crate::Solver::with_store`].
    ///
    /// # Errors
    /// As [`crate::Solver::new`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn solver_with_store(
        &self,
        store: &crate::gpu::PipelineStore,
        queue: &wgpu::Queue,
    ) -> crate::Result<crate::Solver> {
        pollster::block_on(self.solver_with_store_async(store, queue))
    }

    /// As [`SceneFile::solver`], without blocking.
    ///
    /// # Errors
    /// As [`crate::Solver::new`].
    pub async fn solver_async(&self, device: &wgpu::Device, queue: &wgpu::Queue) -> crate::Result<crate::Solver> {
        self.solver_with_store_async(&crate::gpu::PipelineStore::new(device), queue).await
    }

    /// As [`SceneFile::solver_with_store`], without blocking.
    ///
    /// # Errors
    /// As [`crate::Solver::new`].
    pub async fn solver_with_store_async(
        &self,
        store: &crate::gpu::PipelineStore,
        queue: &wgpu::Queue,
    ) -> crate::Result<crate::Solver> {
        let mut solver = crate::Solver::with_store_async(store, queue, &self.scene, self.settings).await?;
        if !self.forces.is_empty() {
            solver.set_forces(0, &self.forces)?;
        }
        Ok(solver)
    }

    /// Renumbers the particles of the scene as [`Scene::renumber`] does, and its forces and targets accordingly. Parts
    /// keep their ranges of particles, unless `bodies` of the file merges several parts into one body.
    pub fn renumber(&mut self) -> Numbering {
        let numbering = self.scene.renumber();
        let count = self.scene.particle_count();
        // Particles added to the scene after parsing have no force.
        if !self.forces.is_empty() && self.forces.len() < count {
            self.forces.resize(count, [0.0; 3]);
        }
        // Entries of particles that do not exist stay: `set_forces` and `set_target` report them.
        if let Some(Ok(forces)) = self.forces.get(..count).map(|forces| numbering.to_new_order(forces)) {
            self.forces[..count].copy_from_slice(&forces);
        }
        for (particle, _) in self.targets.iter_mut().flat_map(|path| &mut path.particles) {
            *particle = numbering.new_index(*particle).unwrap_or(*particle);
        }
        numbering
    }

    /// The part of the given name.
    pub fn part(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.name.as_deref() == Some(name))
    }

    /// The target positions of particles at a time \[s\] from the start. Pass them to `set_target` before the step that
    /// *ends* at that time.
    pub fn targets_at(&self, time: f64) -> impl Iterator<Item = (u32, [f32; 3])> {
        self.targets.iter().flat_map(move |path| path.at(time))
    }

    /// The poses of moving colliders at a time \[s\] from the start. Pass them to `move_collider` before the step that
    /// *ends* at that time. Colliders start at the pose of their motion at time 0.
    pub fn collider_poses_at(&self, time: f64) -> impl Iterator<Item = (ColliderId, Pose)> {
        self.collider_paths.iter().map(move |path| (path.collider, path.keys.at(time)))
    }
}

/// The JSON Schema of the format, as in `docs/scene.schema.json`.
#[cfg(feature = "scene-schema")]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(format::File).to_value()
}
