//! A GPU physics solver for cloth, ropes, rods, soft bodies, rigid bodies and balloons.
//!
//! It implements extended position based dynamics (XPBD, Macklin, Müller, Chentanez 2016) as wgpu compute passes.
//!
//! # Overview
//!
//! 1. A [`Scene`] holds particles, constraints, colliders and surfaces on the host. Builders such as
//!    [`Scene::add_cloth_grid`] and [`Scene::add_rope`] add whole objects; [`Scene::add`] adds a constraint of any kind
//!    in [`constraints`].
//! 2. [`Solver::new`] compiles the scene, with [`Settings`], for a [`wgpu::Device`] and a [`wgpu::Queue`] of the caller.
//!    [`gpu::Context`] creates both for programs without a renderer.
//! 3. [`Solver::advance`] converts elapsed time to a number of steps. [`Solver::encode`] records these steps into an
//!    encoder of the caller. It does not submit, write or wait.
//! 4. The caller submits the encoder and draws [`Solver::positions`], [`Solver::normals`] and [`Solver::indices`].
//!    [`Solver::add_vertex_output`] writes vertex buffers of the caller instead. [`Solver::read_positions`] copies to the host; [`Solver::request_positions`] does so without waiting.
//!
//! ```no_run
//! use supple::{ClothGrid, Scene, Settings, Solver, gpu::Context};
//!
//! # fn main() -> supple::Result<()> {
//! let mut scene = Scene::new();
//! let cloth = scene.add_cloth_grid(&ClothGrid::default())?;
//! scene.pin(cloth.particles.start)?;
//!
//! let gpu = Context::new(supple::required_limits(&scene))?;
//! let mut solver = Solver::new(&gpu.device, &gpu.queue, &scene, Settings::default())?;
//! let mut encoder = gpu.device.create_command_encoder(&Default::default());
//! solver.encode(&mut encoder, 60); // one second
//! gpu.queue.submit([encoder.finish()]);
//! println!("{:?}", solver.read_positions()?);
//! # Ok(())
//! # }
//! ```
//!
//! [`Instances`] simulate thousands of copies of one scene. [`Reference`] runs the same schedule on the CPU.
//!
//! # Conventions
//!
//! - Units are SI. Coordinates are right-handed; gravity points along −y by default.
//! - Triangles are counterclockwise seen from the side of their normal.
//! - Positions and normals are one `vec4<f32>` per particle, 16 bytes.
//! - Compliance is \[C\]²/J for a constraint function C, such as m/N for a distance. 0 is rigid.
//! - A call that returns an [`Error`] changes nothing, unless the device fails.
//!
//! # Limits
//!
//! A scene needs the default limits of wgpu, raised to the size of its buffers: see [`required_limits`] and
//! [`required_limits_with`]. It needs no optional feature of the device.
//!
//! # Cargo features
//!
//! | feature | default | content |
//! |---|---|---|
//! | `native` | yes | the Vulkan, Metal and DX12 backends of wgpu |
//! | `webgpu` | no | WebGPU in a browser |
//! | `mesh-colliders` | yes | colliders from triangle meshes and convex hulls (`Shape::mesh`, `Shape::sheet`, `Shape::ConvexHull`) |
//! | `scene-file` | no | scenes from JSON files (`supple::scene_file`) |
//! | `scene-schema` | no | the JSON Schema of these files |

pub mod collision;
pub mod constraints;
mod error;
mod geometry;
pub mod gpu;
mod instancing;
pub mod reference;
pub mod scene;
#[cfg(feature = "scene-file")]
pub mod scene_file;
mod schedule;
mod settings;
mod sim;
#[cfg(not(target_arch = "wasm32"))]
mod simulation;
mod words;

#[cfg(feature = "mesh-colliders")]
pub use collision::Sides;
pub use collision::{
    Collider, ColliderForce, ColliderId, ContactEvent, ContactEvents, ContactMaterial, ContactMaterialId, ContactPair,
    ContactPhase, ContactReport, ContactScale, DistanceField, Friction, Heightfield, Pose, SelfCollision,
    SelfCollisionLevel, Shape,
};
pub use constraints::{
    Area, BendTwist, ClosedSurface, CosineBend, Distance, DistanceLimit, Hinge, IsometricBend, Limit, LineBend,
    Membrane, MembraneLimit, NeoHookean, PlasticStrain, Plasticity, Pressure, ShapeMatching, StretchShear, Volume,
};
pub use error::{Error, Result};
pub use gpu::{Instances, Solver, required_limits, required_limits_with};
pub use instancing::{Instance, InstanceId, Placement};
pub use reference::Reference;
pub use scene::{
    Attachment, AttachmentForce, AttachmentId, AttachmentTarget, Backstop, Balloon, BalloonParts, Bending, Cloth,
    ClothGrid, ClothMesh, Cord, CutCloth, EdgeTriangle, Elasticity, Fabric, Intersections, JointCapsule, JointWeights,
    Material, MaterialId, Numbering, Orientation, OrientationId, Orthotropic, Particle, ParticlePoint, Ray, RayHit,
    Rod, RodMaterial, RodParts, RodRest, RodStiffness, Rope, RopeParts, Scene, SceneMap, Skinned, SkinnedLimits,
    SkinnedMesh, SkinnedPose, SoftBody, SoftParts, Stiffening, Strain, Tearing, TensionPiece, TetMesh, TetherForce,
    Tethers, count_intersections,
};
pub use settings::{ColorOrder, Execution, Field, MAX_FIELDS, Method, Settings, Sweep, Wind};
pub use sim::{Diagnostics, Running, TearRequest, Tears};
#[cfg(not(target_arch = "wasm32"))]
pub use simulation::Simulation;
pub use wgpu;

/// Types for the tests, benches and examples of this crate. They may change in any release.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals {
    pub use crate::constraints::xpbd;
    pub use crate::geometry::{rotation, vector};
    pub use crate::gpu::recorded::{ShaderModule, take_shader_modules};
    pub use crate::schedule::coloring;
    pub use crate::schedule::compiled::counted::compiled_scenes;
    pub use crate::schedule::plan;
    pub use crate::schedule::plan::{Pass, Plan};
}

/// Compiles the code of the README as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;

/// Compiles the code of the guide as doctests.
#[cfg(doctest)]
#[doc = include_str!("../docs/guide.md")]
struct GuideDoctests;

/// Compiles the code of the page on collision as doctests.
#[cfg(doctest)]
#[doc = include_str!("../docs/collision.md")]
struct CollisionDoctests;
