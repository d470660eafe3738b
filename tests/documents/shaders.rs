//! The shader modules as they are compiled: assembled for standard scenes, valid by naga alone, within the default limits of wgpu, and equal to
//! stored snapshots where they are generated.

use crate::common::shapes::icosphere;
use crate::common::{gpu, hanging_cloth, press, raw, solver, store, wheel};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};
use supple::constraints::{KINDS, Kind};
use supple::gpu::{Context, VertexOutput, VertexTarget};
use supple::internals::{ShaderModule, take_shader_modules};
use supple::scene::TetherRow;
use supple::scene::{BoundMesh, DetailMesh};
use supple::{
    Balloon, Bending, ClothGrid, Collider, ContactScale, Distance, Execution, Fabric, Hinge, Instances, Material,
    Plasticity, Rod, RodMaterial, Scene, SelfCollision, Settings, Shape, Skinned, SkinnedLimits, SkinnedPose, Sweep,
    Tethers, Wind, wgpu,
};

/// Storage buffers of a stage that every device offers by [`supple::wgpu::Limits::default`].
const MAX_STORAGE_BUFFERS: usize = 8;

/// Workgroup memory that every device offers by [`supple::wgpu::Limits::default`].
const MAX_WORKGROUP_BYTES: u32 = 16 << 10;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files of a folder and its subfolders with the given extension, sorted by name.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|fault| panic!("{}: {fault}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(!files.is_empty(), "no .{extension} files in {folder}");
    files
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
}

fn cloth(bending: Bending, tethers: Option<Tethers>) -> Scene {
    let mut scene = Scene::new();
    let fabric = Fabric { bending, flexural_rigidity: 1e-2, stretch_limit: 1.05, ..Fabric::default() };
    let particles =
        scene.add_cloth_grid(&ClothGrid { columns: 12, rows: 9, fabric, tethers, ..ClothGrid::default() }).unwrap();
    scene.pin(particles.particles.start).unwrap();
    scene
}

/// A cloth with plastic springs and hinges.
fn plastic() -> Scene {
    let mut scene = cloth(Bending::Hinges, None);
    for info in [Distance::INFO, Hinge::INFO] {
        let count = scene.constraint_count_of(info) as u32;
        assert!(count > 0, "{} constraints", info.name);
    }
    scene.set_plasticity::<Distance>(0..1, Plasticity::default()).unwrap();
    scene.set_plasticity::<Hinge>(0..1, Plasticity::default()).unwrap();
    scene
}

/// Three sheets and so many colliders.
fn touching(colliders: usize) -> Scene {
    let mut scene = press(0.01, 1);
    for k in 0..colliders {
        scene.add_collider(Collider::new(Shape::Sphere { radius: 0.1 }, [k as f32, -5.0, 0.0])).unwrap();
    }
    scene
}

/// A balloon, and a follower of its first particles.
fn airy() -> Scene {
    let mut scene = Scene::new();
    let (positions, triangles) = icosphere(3, 0.2);
    let (fabric, gas) = (Fabric::default(), Material::RIGID);
    let balloon = Balloon { positions: &positions, triangles: &triangles, fabric, pressure: 1.5, gas };
    scene.add_balloon(&balloon).unwrap();
    scene.add_follower([0, 1, 2, 3], [0.25; 4]).unwrap();
    scene
}

/// Adds a vertex output with all targets.
fn vertex_output(gpu: &Context) {
    let usage = wgpu::BufferUsages::STORAGE;
    let descriptor = wgpu::BufferDescriptor { label: None, size: 1024, usage, mapped_at_creation: false };
    let buffer = gpu.device.create_buffer(&descriptor);
    let format = wgpu::VertexFormat::Float32x4;
    let target = |offset| Some(VertexTarget { buffer: &buffer, offset, stride: 48, format });
    let (triangles, texture) = ([[0, 1, 12]], [[0.0; 2]; 13]);
    let output = VertexOutput {
        vertices: &(0..13).collect::<Vec<_>>(),
        triangles: &triangles,
        texture_coordinates: Some(&texture),
        positions: target(0),
        normals: target(16),
        tangents: target(32),
        ..VertexOutput::EMPTY
    };
    let scene = cloth(Bending::Springs, None);
    let mut solver = solver(gpu, &scene, Settings::default());
    solver.add_vertex_output(&output).unwrap();
    let detail = DetailMesh { positions: &[[0.0; 3]], normals: &[[0.0; 3]], triangles: &[], texture_coordinates: None };
    let mesh = BoundMesh::new(&scene, scene.triangles(), &detail).unwrap();
    let output = VertexOutput { bound: Some(&mesh), positions: target(0), normals: target(16), ..VertexOutput::EMPTY };
    solver.add_vertex_output(&output).unwrap();
}

/// The modules of standard scenes: every execution, every kind, contacts of both levels, few and many colliders, instances.
fn modules(gpu: &Context) -> Vec<ShaderModule> {
    take_shader_modules();
    for execution in [Execution::Colors, Execution::Tiles, Execution::Clusters] {
        for bending in [Bending::Springs, Bending::Hinges, Bending::Isometric] {
            let settings = Settings { execution, iterations: 2, mean_forces: true, ..Settings::default() };
            let mut solver = solver(gpu, &cloth(bending, Some(Tethers::default())), settings);
            solver.shift_origin([1.0, 0.0, 0.0]).unwrap();
        }
        for (place, _, sample) in raw::cases() {
            let scene = raw::scene_of(place, &sample, &sample.positions, Material::compliant(1e-4));
            solver(gpu, &scene, Settings { execution, ..Settings::default() });
        }
    }
    for sweep in [Sweep::GaussSeidel, Sweep::Jacobi] {
        let settings = Settings { sweep, wind: Some(Wind::default()), body_damping: 0.1, ..Settings::default() };
        solver(gpu, &airy(), settings);
    }
    vertex_output(gpu);
    solver(gpu, &plastic(), Settings::default());
    for links in [60, 1100] {
        solver(gpu, &wheel(links, Material::RIGID), Settings::default());
    }
    for own in [SelfCollision::default(), SelfCollision::surfaces()] {
        for colliders in [1, 9] {
            let settings = Settings { self_collision: Some(own), contact_events: 100, ..Settings::default() };
            let mut scene = touching(colliders);
            solver(gpu, &scene, settings);
            scene.set_contact_scales(0..1, &[ContactScale { thickness: 0.5, friction: 0.5 }]).unwrap();
            solver(gpu, &scene, settings);
        }
    }
    let points: Vec<[f32; 3]> = (0..8).map(|k| [0.1 * k as f32, 0.0, 0.0]).collect();
    let mut scene = Scene::new();
    scene.add_rod(&Rod::new(&points, RodMaterial::round(0.01, 1e6, 0.3, 1000.0))).unwrap();
    solver(gpu, &scene, Settings::default());
    let mut scene = touching(1);
    scene.reserve_attachments(1).unwrap();
    solver(gpu, &scene, Settings::default());
    let (pose, limits) = (SkinnedPose::default(), SkinnedLimits::FREE);
    scene.add_skinned(Skinned { particle: 20, pose, limits, joints: None }).unwrap();
    let settings = Settings { self_collision: Some(SelfCollision::default()), ..Settings::default() };
    solver(gpu, &scene, settings).shift_origin([1.0, 0.0, 0.0]).unwrap();
    for bending in [Bending::Springs, Bending::Hinges, Bending::Isometric] {
        let asset = cloth(bending, Some(Tethers::default()));
        let mut instances = Instances::with_store(&store(gpu), &gpu.queue, &asset, 3, Settings::default()).unwrap();
        instances.shift_origin([1.0, 0.0, 0.0]).unwrap();
        if bending == Bending::Springs {
            instances.add_collider(&Collider::default()).unwrap();
            instances.add_collider(&Collider::new(Shape::Sphere { radius: 0.1 }, [0.0; 3])).unwrap();
        }
    }
    take_shader_modules()
}

/// Parses and validates with no more than core WGSL; the error is naga's own, with the line of the module.
fn validated(source: &str) -> Result<naga::Module, String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|fault| fault.emit_to_string(source))?;
    let (flags, capabilities) = (naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty());
    let mut validator = naga::valid::Validator::new(flags, capabilities);
    validator.validate(&module).map_err(|fault| fault.emit_to_string(source))?;
    Ok(module)
}

/// `SUPPLE_WRITE_SHADERS=FOLDER` writes all modules as files, for other compilers of WGSL.
#[test]
fn every_module_is_valid_and_within_the_default_limits() {
    let gpu = gpu();
    let modules = modules(&gpu);
    if let Some(folder) = std::env::var_os("SUPPLE_WRITE_SHADERS").map(PathBuf::from) {
        fs::create_dir_all(&folder).unwrap();
        for (index, ShaderModule { name, source, .. }) in modules.iter().enumerate() {
            fs::write(folder.join(format!("{index:03}_{name}.wgsl")), source).unwrap();
        }
    }
    let names: BTreeSet<&str> = modules.iter().map(|module| module.name.as_str()).collect();
    assert!(names.len() > 60, "{names:?}");
    let entries: BTreeSet<&str> = modules.iter().map(|module| module.entry.as_str()).collect();
    for path in files("shaders", "wgsl") {
        for entry in
            read(&path).split("@compute").skip(1).filter_map(|text| text.split("fn ").nth(1)?.split('(').next())
        {
            assert!(entries.contains(entry), "no standard scene runs {entry} of {}", path.display());
        }
    }
    let mut seen = BTreeSet::new();
    for ShaderModule { name, entry, source } in
        modules.iter().filter(|module| seen.insert((&module.source, &module.entry)))
    {
        let module = validated(source).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        let found = module.entry_points.iter().find(|point| point.name == *entry);
        let point = found.unwrap_or_else(|| panic!("{name} has no entry point {entry}"));
        assert_eq!(point.stage, naga::ShaderStage::Compute, "{name}");
        // A literal size would part from the size of the dispatch in silence; workgroups for one group, body
        // or collider, or for a block of particles, have a literal one.
        let is_overridden =
            point.workgroup_size_overrides.is_some_and(|[x, y, z]| x.is_some() && y.is_none() && z.is_none());
        let literal = match entry.as_str() {
            "body_damping" | "restore_momentum" | "mark_touched_colliders" | "collider_forces" => Some([128, 1, 1]),
            wide if wide.ends_with("_wide") => Some([128, 1, 1]),
            _ => None,
        };
        assert!(literal.map_or(is_overridden, |size| point.workgroup_size == size), "{name}");
        let of_space = |space: naga::AddressSpace| {
            module.global_variables.iter().map(|(_, variable)| variable).filter(move |variable| variable.space == space)
        };
        let size = |variable: &naga::GlobalVariable| module.types[variable.ty].inner.size(module.to_ctx());
        let bytes: u32 = of_space(naga::AddressSpace::WorkGroup).map(size).sum();
        assert!(bytes <= MAX_WORKGROUP_BYTES, "{name} has {bytes} bytes of workgroup memory");
        let mut bindings: Vec<u32> = Vec::new();
        let mut storage = BTreeSet::new();
        for (_, variable) in module.global_variables.iter() {
            let Some(binding) = &variable.binding else { continue };
            assert_eq!(binding.group, 0, "{name}");
            bindings.push(binding.binding);
            if matches!(variable.space, naga::AddressSpace::Storage { .. }) {
                storage.insert(binding.binding);
            }
        }
        bindings.sort_unstable();
        // Entry points of a file may have bindings of their own.
        bindings.dedup();
        assert_eq!(bindings, (0..bindings.len() as u32).collect::<Vec<_>>(), "{name}");
        assert!(storage.len() <= MAX_STORAGE_BUFFERS, "{name} binds {} storage buffers", storage.len());
    }
}

#[test]
fn the_validation_rejects_an_invalid_module() {
    let text = "@compute @workgroup_size(1) fn broken() { var x: u32 = 1.5; }";
    assert!(validated(text).is_err());
    // Parses, but writes to a storage buffer that is read only.
    let text = "@group(0) @binding(0) var<storage, read> a: array<u32>;
        @compute @workgroup_size(1) fn broken() { a[0] = 1u; }";
    assert!(validated(text).is_err());
}

/// Generated shaders, as they are compiled for a small cloth. `SUPPLE_WRITE_SNAPSHOTS=1 cargo test --test documents shaders` writes them.
#[test]
fn generated_modules_equal_their_snapshots() {
    let gpu = gpu();
    take_shader_modules();
    let mut scene = Scene::new();
    let tethers = Some(Tethers { per_particle: 2, scale: 1.0 });
    let cloth = scene.add_cloth_grid(&ClothGrid { columns: 20, rows: 20, tethers, ..ClothGrid::default() }).unwrap();
    scene.pin(cloth.particles.start).unwrap();
    for execution in [Execution::Colors, Execution::Tiles, Execution::Clusters] {
        solver(&gpu, &scene, Settings { execution, ..Settings::default() });
    }
    // Too small for tiles, which the other module shows.
    let (small, _) = hanging_cloth(3, 3);
    Instances::with_store(&store(&gpu), &gpu.queue, &small, 3, Settings::default()).unwrap();
    let names =
        ["project_distance", "project_tile_distance", "project_cluster_distance", "velocity_tether", "instances"];
    // Common modules are named, not repeated.
    let common: Vec<(String, String)> =
        files("shaders/common", "wgsl").iter().map(|path| (path.display().to_string(), read(path))).collect();
    let without_common = |module: ShaderModule| {
        let named = |source: String, (path, text): &(String, String)| {
            let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
            source.replace(text, &format!("// shaders/common/{name}\n"))
        };
        (module.name.replace("supple.", ""), common.iter().fold(module.source, named))
    };
    let modules: BTreeMap<String, String> = take_shader_modules().into_iter().map(without_common).collect();
    for name in names {
        let path = root().join(format!("tests/snapshots/{name}.wgsl"));
        let source = &modules[name];
        if std::env::var_os("SUPPLE_WRITE_SNAPSHOTS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, source).unwrap();
        }
        let stored = read(&path).replace("\r\n", "\n");
        let first = stored.lines().zip(source.lines()).position(|(a, b)| a != b);
        assert!(
            stored == *source,
            "{name} differs from its snapshot from line {:?} on; SUPPLE_WRITE_SNAPSHOTS=1 writes it anew",
            first.map(|line| line + 1)
        );
    }
}

/// A limit has the C and ∇C of the membrane that it limits.
#[test]
fn every_kind_contains_its_own_shader() {
    let mut names = BTreeSet::new();
    for info in KINDS {
        let name = if info.name == "membrane_limit" { "membrane" } else { info.name };
        let file = root().join(format!("shaders/constraints/{name}.wgsl"));
        assert_eq!(info.shader, read(&file), "the kind {} carries the text of another file", info.name);
        names.insert(name);
    }
    assert_eq!(
        files("shaders/constraints", "wgsl").len(),
        names.len(),
        "files in shaders/constraints and kinds in KINDS"
    );
}

#[test]
fn every_shader_is_compiled_into_the_crate() {
    let sources: String = files("src", "rs").iter().map(|path| read(path)).collect();
    for path in files("shaders", "wgsl") {
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string().replace('\\', "/");
        assert!(sources.contains(&format!("{name}\")")), "no include_str! of {name}");
    }
}

#[test]
fn tethers_are_read_as_they_are_written() {
    // A row is one vec2: the anchor, then the length.
    let gpu = gpu();
    take_shader_modules();
    let (scene, _) = hanging_cloth(4, 4);
    solver(&gpu, &scene, Settings::default());
    let modules = take_shader_modules();
    let source = &modules.iter().find(|module| module.entry == "solve_tethers").unwrap().source;
    let module = validated(source).unwrap_or_else(|fault| panic!("{fault}"));
    let found = module.global_variables.iter().find(|(_, variable)| variable.name.as_deref() == Some("tethers"));
    let tethers = found.map(|(_, variable)| &module.types[variable.ty].inner);
    let Some(&naga::TypeInner::Array { base, stride, .. }) = tethers else { panic!("tethers: {tethers:?}") };
    let naga::TypeInner::Vector { size: naga::VectorSize::Bi, scalar } = module.types[base].inner else {
        panic!("a tether is no vec2: {:?}", module.types[base]);
    };
    assert_eq!(scalar, naga::Scalar::U32);
    assert_eq!((offset_of!(TetherRow, anchor), offset_of!(TetherRow, length)), (0, 4));
    assert_eq!(size_of::<TetherRow>(), stride as usize);
    // Two of them in one vec4.
    let integrate = read(&root().join("shaders/integrate/velocity.wgsl"));
    assert!(integrate.contains("tethers: array<vec4u>") && 2 * stride == 16);
}
