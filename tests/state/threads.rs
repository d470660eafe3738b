//! Every public type can be moved to another thread and shared between threads.

use std::collections::BTreeSet;
use std::path::Path;
use supple::constraints::{Function, Group, KindInfo, Measure, Sample};
use supple::gpu::{
    Context, Interval, PipelineStore, Profile, Readback, Run, Snapshot, Timestamps, VertexOutput, VertexOutputId,
    VertexTarget,
};
use supple::scene::{
    BoundMesh, BoundVertex, ClothMaterials, DetailMesh, Embedded, Lattice, MeshReport, OpenContacts, PlacedVertex,
    RenderMesh, TetherRow, Topology, Weld,
};
use supple::scene_file::{
    Character, CharacterAnimation, CharacterJoint, ColliderPath, FileError, Hint, KeyFrames, Limits, ObjMesh, Part,
    SceneFile, TargetPath, TextureCoordinates,
};
use supple::{
    Attachment, AttachmentForce, AttachmentId, AttachmentTarget, Backstop, Balloon, BalloonParts, Bending,
    ClosedSurface, Cloth, ClothGrid, ClothMesh, Collider, ColliderForce, ColliderId, ColorOrder, ContactEvent,
    ContactEvents, ContactMaterial, ContactMaterialId, ContactPair, ContactPhase, ContactReport, ContactScale, Cord,
    CutCloth, Diagnostics, DistanceField, EdgeTriangle, Elasticity, Error, Execution, Fabric, Field, Friction,
    Heightfield, Instance, InstanceId, Instances, Intersections, JointCapsule, JointWeights, Limit, Material,
    MaterialId, Method, Numbering, Orientation, OrientationId, Orthotropic, Particle, ParticlePoint, Placement,
    PlasticStrain, Plasticity, Pose, Ray, RayHit, Reference, Rod, RodMaterial, RodParts, RodRest, RodStiffness, Rope,
    RopeParts, Running, Scene, SceneMap, SelfCollision, SelfCollisionLevel, Settings, Shape, Sides, Skinned,
    SkinnedLimits, SkinnedMesh, SkinnedPose, SoftBody, SoftParts, Solver, Stiffening, Strain, Sweep, TearRequest,
    Tearing, Tears, TensionPiece, TetMesh, TetherForce, Tethers, Wind,
};

/// The names of types, which must be `Send` and `Sync` for this to compile.
macro_rules! shared {
    ($($name:ident $(< $argument:ty >)?),+ $(,)?) => {{
        fn is_shared<T: Send + Sync>() {}
        $(is_shared::<$name $(< $argument >)?>();)+
        [$(stringify!($name)),+].into_iter().collect::<BTreeSet<&'static str>>()
    }};
}

/// The kinds of constraints: `Kind` requires both traits.
fn kinds() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/constraints");
    let texts = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()));
    let implementation = |line: &str| {
        let name = line.strip_prefix("impl Kind for ")?;
        Some(name.split(|c: char| !c.is_alphanumeric()).next()?.to_owned())
    };
    texts.flat_map(|text| text.unwrap_or_default().lines().filter_map(implementation).collect::<Vec<_>>()).collect()
}

/// The types that a file re-exports: names in camel case in its `pub use`.
fn exported(file: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let public = text.split("mod internals").next().unwrap();
    let names = public.split("pub use ").skip(1).flat_map(|part| {
        let list = part.split(';').next().unwrap();
        list.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect::<Vec<_>>()
    });
    names.filter(|name| name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)).collect()
}

fn is_shared<T: Send + Sync + ?Sized>() {}

#[test]
fn every_public_type_is_send_and_sync() {
    let shared = shared!(
        Ray,
        RayHit,
        RenderMesh,
        BoundMesh,
        BoundVertex,
        DetailMesh,
        PlacedVertex,
        Character,
        CharacterAnimation,
        CharacterJoint,
        Backstop,
        JointCapsule,
        JointWeights,
        Skinned,
        SkinnedLimits,
        SkinnedMesh,
        SkinnedPose,
        Snapshot,
        VertexOutput,
        VertexOutputId,
        VertexTarget,
        Attachment,
        AttachmentForce,
        AttachmentId,
        AttachmentTarget,
        ParticlePoint,
        Balloon,
        BalloonParts,
        Bending,
        ClosedSurface,
        Cloth,
        ClothGrid,
        ClothMesh,
        Collider,
        ColliderForce,
        ColliderId,
        ColorOrder,
        ContactEvent,
        ContactEvents,
        ContactMaterial,
        ContactMaterialId,
        ContactPair,
        ContactPhase,
        ContactReport,
        ContactScale,
        Context,
        Cord,
        CutCloth,
        Diagnostics,
        DistanceField,
        EdgeTriangle,
        Elasticity,
        Error,
        Execution,
        Fabric,
        Field,
        Friction,
        Heightfield,
        Instance,
        InstanceId,
        Instances,
        Intersections,
        Interval,
        Limit,
        Material,
        MaterialId,
        Method,
        Numbering,
        Orthotropic,
        Stiffening,
        TensionPiece,
        Particle,
        PipelineStore,
        Placement,
        PlasticStrain,
        Plasticity,
        Orientation,
        OrientationId,
        Rod,
        RodMaterial,
        RodParts,
        RodRest,
        RodStiffness,
        Pose,
        Profile,
        Readback<Vec<[f32; 3]>>,
        Reference,
        Rope,
        RopeParts,
        Run,
        Running,
        Scene,
        SceneMap,
        SceneFile,
        SelfCollision,
        SelfCollisionLevel,
        Settings,
        Shape,
        Sides,
        SoftBody,
        SoftParts,
        Solver,
        Strain,
        Sweep,
        TearRequest,
        Tearing,
        Tears,
        TetMesh,
        TetherForce,
        Tethers,
        Timestamps,
        Wind,
        ClothMaterials,
        Embedded,
        Lattice,
        MeshReport,
        OpenContacts,
        TetherRow,
        Topology,
        Weld,
        ColliderPath,
        FileError,
        Hint,
        KeyFrames,
        Limits,
        ObjMesh,
        Part,
        TargetPath,
        TextureCoordinates,
        Function,
        Group,
        KindInfo,
        Measure,
        Sample,
    );
    let modules = ["gpu", "scene", "scene_file", "collision", "constraints"].map(|name| format!("src/{name}/mod.rs"));
    let files = modules.into_iter().chain(["src/lib.rs".to_owned()]);
    let exported: BTreeSet<String> = files.into_iter().flat_map(|file| exported(&file)).collect();
    assert!(exported.len() > 70, "{exported:?}");
    is_shared::<dyn supple::Simulation>();
    let kinds = kinds();
    assert_eq!(kinds.len(), supple::constraints::KINDS.len(), "{kinds:?}");
    // `Result` is an alias of `std::result::Result`.
    let is_checked =
        |name: &str| ["Result", "Simulation"].contains(&name) || shared.contains(name) || kinds.contains(name);
    let missing: Vec<_> = exported.iter().filter(|name| !is_checked(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
