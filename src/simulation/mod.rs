//! The trait of [`Solver`] and [`Reference`], for programs that choose between them while they run.

use crate::collision::{
    Collider, ColliderForce, ColliderId, ContactEvents, ContactMaterial, ContactMaterialId, ContactReport,
    ContactScale, Pose,
};
use crate::constraints::{Kind, kind_index};
use crate::error::Result;
use crate::gpu::Solver;
use crate::reference::Reference;
use crate::scene::{
    Attachment, AttachmentForce, AttachmentId, Material, MaterialId, OrientationId, Scene, SceneMap, SkinnedLimits,
    SkinnedPose, TetherForce,
};
use crate::settings::Settings;
use crate::sim::{Diagnostics, Running, Tears};
use std::ops::Range;

mod sealed {
    pub trait Sealed {}
}

/// Declares [`Simulation`] and implements it by the methods of the same names.
macro_rules! simulation {
    (
        reads { $($read:ident($($ra:ident: $rt:ty),*) -> $ro:ty;)* }
        changes { $($change:ident($($ca:ident: $ct:ty),*) -> $co:ty;)* }
    ) => {
        /// A running scene on a GPU ([`Solver`]) or on the CPU ([`Reference`]), on native targets. Its methods are those of both with the
        /// same names and errors. The reference stores λ in any case; the solver as [`Solver::read_lambdas`] says. Only this crate
        /// implements it.
        ///
        /// ```no_run
        /// use supple::{ClothGrid, Reference, Scene, Settings, Simulation, Solver, gpu::Context};
        ///
        /// # fn main() -> supple::Result<()> {
        /// let mut scene = Scene::new();
        /// scene.add_cloth_grid(&ClothGrid::default())?;
        /// let settings = Settings::default();
        /// let mut simulation: Box<dyn Simulation> = match Context::new(supple::required_limits(&scene)) {
        ///     Ok(gpu) => Box::new(Solver::new(&gpu.device, &gpu.queue, &scene, settings)?),
        ///     Err(_) => Box::new(Reference::new(&scene, settings)?),
        /// };
        /// simulation.step(60);
        /// println!("{:?}", simulation.read_positions()?);
        /// # Ok(())
        /// # }
        /// ```
        pub trait Simulation: Send + Sync + sealed::Sealed {
            /// `Solver` or `Reference`.
            fn name(&self) -> &'static str;
            $(
                #[doc = concat!("See [`Solver::", stringify!($read), "`].")]
                fn $read(&self, $($ra: $rt),*) -> $ro;
            )*
            $(
                #[doc = concat!("See [`Solver::", stringify!($change), "`].")]
                fn $change(&mut self, $($ca: $ct),*) -> $co;
            )*
        }

        simulation!(@ Solver $(($read($($ra: $rt),*) -> $ro))* [$(($change($($ca: $ct),*) -> $co))*]);
        simulation!(@ Reference $(($read($($ra: $rt),*) -> $ro))* [$(($change($($ca: $ct),*) -> $co))*]);
    };
    (
        @ $backend:ident $(($read:ident($($ra:ident: $rt:ty),*) -> $ro:ty))*
        [$(($change:ident($($ca:ident: $ct:ty),*) -> $co:ty))*]
    ) => {
        impl sealed::Sealed for $backend {}

        impl Simulation for $backend {
            fn name(&self) -> &'static str {
                stringify!($backend)
            }
            $(
                fn $read(&self, $($ra: $rt),*) -> $ro {
                    $backend::$read(self, $($ra),*)
                }
            )*
            $(
                fn $change(&mut self, $($ca: $ct),*) -> $co {
                    $backend::$change(self, $($ca),*)
                }
            )*
        }
    };
}

simulation! {
    reads {
        settings() -> &Settings;
        execution() -> Running;
        triangles() -> &[[u32; 3]];
        inverse_masses() -> &[f32];
        read_positions() -> Result<Vec<[f32; 3]>>;
        read_velocities() -> Result<Vec<[f32; 3]>>;
        read_normals() -> Result<Vec<[f32; 3]>>;
        read_orientations() -> Result<Vec<[f32; 4]>>;
        read_angular_velocities() -> Result<Vec<[f32; 3]>>;
        read_lambdas_of(kind: usize) -> Result<Vec<f32>>;
        read_constraint_forces_of(kind: usize) -> Result<Vec<f32>>;
        read_mean_forces_of(kind: usize) -> Result<Vec<f32>>;
        read_tether_forces() -> Result<Vec<TetherForce>>;
        read_rotations() -> Result<Vec<[f32; 4]>>;
        read_contacts() -> Result<ContactReport>;
        read_contact_events() -> Result<ContactEvents>;
        read_collider_forces() -> Result<Vec<ColliderForce>>;
        read_attachments() -> Result<Vec<AttachmentForce>>;
        read_diagnostics() -> Result<Diagnostics>;
    }
    changes {
        step(steps: u32) -> ();
        reset() -> ();
        set_settings(settings: Settings) -> Result<()>;
        set_material(id: MaterialId, material: Material) -> Result<()>;
        set_positions(first: u32, positions: &[[f32; 3]]) -> Result<()>;
        set_velocities(first: u32, velocities: &[[f32; 3]]) -> Result<()>;
        set_target(particle: u32, position: [f32; 3]) -> Result<()>;
        set_targets(targets: &[(u32, [f32; 3])]) -> Result<()>;
        clear_targets(particles: &[u32]) -> Result<()>;
        set_forces(first: u32, forces: &[[f32; 3]]) -> Result<()>;
        set_masses(first: u32, masses: &[f32]) -> Result<()>;
        pin(particles: &[u32]) -> Result<()>;
        release(particles: &[u32]) -> Result<()>;
        set_orientation_target(id: OrientationId, rotation: [f32; 4]) -> Result<()>;
        set_angular_velocities(first: OrientationId, velocities: &[[f32; 3]]) -> Result<()>;
        set_torques(first: OrientationId, torques: &[[f32; 3]]) -> Result<()>;
        pin_orientations(ids: &[OrientationId]) -> Result<()>;
        release_orientations(ids: &[OrientationId]) -> Result<()>;
        set_skinned_poses(first: u32, poses: &[SkinnedPose]) -> Result<()>;
        set_skinned_limits(first: u32, limits: &[SkinnedLimits]) -> Result<()>;
        set_joints(first: u32, joints: &[[[f32; 4]; 4]]) -> Result<()>;
        teleport_skinned(rows: Range<u32>) -> Result<()>;
        add_collider(collider: &Collider) -> Result<ColliderId>;
        set_collider(id: ColliderId, collider: &Collider) -> Result<()>;
        remove_collider(id: ColliderId) -> Result<()>;
        move_collider(id: ColliderId, pose: Pose) -> Result<()>;
        set_contact_material(id: ContactMaterialId, material: ContactMaterial) -> Result<()>;
        set_contact_scales(particles: Range<u32>, scales: &[ContactScale]) -> Result<()>;
        attach(attachment: Attachment) -> Result<AttachmentId>;
        attach_all(attachments: &[Attachment]) -> Result<Vec<AttachmentId>>;
        move_attachment(id: AttachmentId, position: [f32; 3]) -> Result<()>;
        release_attachment(id: AttachmentId) -> Result<()>;
        shift_origin(offset: [f32; 3]) -> Result<()>;
        tear() -> Result<Tears>;
        replace_scene(scene: &Scene, map: &SceneMap) -> Result<()>;
    }
}

impl dyn Simulation + '_ {
    /// See [`Solver::read_lambdas`].
    pub fn read_lambdas<K: Kind>(&self) -> Result<Vec<f32>> {
        self.read_lambdas_of(kind_index(K::INFO))
    }
}
