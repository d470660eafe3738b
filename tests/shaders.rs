//! The shaders, by naga alone: each file is valid where it stands, and its structs lie in memory as Rust's do.
//!
//! The folder is walked, so a new shader is covered as soon as it exists.

use std::collections::BTreeSet;
use std::fs;
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};
use supple::kinds::{Function, KINDS, KindInfo};
use supple::scene::TetherRow;

/// Storage buffers in one stage that every device offers by [`wgpu::Limits::default`].
const MAX_STORAGE_BUFFERS: usize = 8;

/// Memory of a workgroup that every device offers by [`wgpu::Limits::default`].
const MAX_WORKGROUP_BYTES: u32 = 16 << 10;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files of a folder with the given extension, sorted by name.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap_or_else(|fault| panic!("{folder}: {fault}"));
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap_or_else(|fault| panic!("{folder}: {fault}")).path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no .{extension} files in {folder}");
    files
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_else(|| panic!("{}: not a name", path.display()))
}

/// The text that src/gpu/pipelines.rs gives to wgpu: the pass, then the prelude.
fn joined(text: &str) -> String {
    let prelude: String = files("shaders/prelude", "wgsl").iter().map(|path| read(path)).collect();
    format!("{text}\n{prelude}")
}

/// Parses and validates with no more than core WGSL; the error is naga's own, with the line of the file.
fn validated(text: &str) -> Result<naga::Module, String> {
    let source = joined(text);
    let module = naga::front::wgsl::parse_str(&source).map_err(|fault| fault.emit_to_string(&source))?;
    let (flags, capabilities) = (naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty());
    let mut validator = naga::valid::Validator::new(flags, capabilities);
    validator.validate(&module).map_err(|fault| fault.emit_to_string(&source))?;
    Ok(module)
}

/// Every pass with its text; a projection once for every kind, as src/gpu/pipelines.rs makes it.
fn texts() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for path in files("shaders", "wgsl") {
        let (name, text) = (stem(&path).to_owned(), read(&path));
        if name == "collide" {
            let parts = files("shaders/collide", "wgsl");
            let without = |left_out: &str| -> String {
                parts.iter().filter(|path| !path.ends_with(left_out)).map(|path| read(path)).collect()
            };
            let few = "const FEW = 3u;
                fn first_near(particle: Moving) -> u32 { return select(NONE, 2u, is_near(2u, particle)); }
                fn next_near(before: u32, particle: Moving) -> u32 { return NONE; }
                fn collider_at(index: u32) -> Collider { return colliders[2]; }";
            texts.push((name.clone(), text.clone() + &without("many.wgsl") + few));
            texts.push((name, text + &without("few.wgsl")));
            continue;
        }
        if ["search", "pairs", "contacts"].contains(&name.as_str()) {
            for path in files(&format!("shaders/{name}"), "wgsl") {
                texts.push((name.clone(), text.clone() + &read(&path)));
            }
            continue;
        }
        let shared_text = |part: &str| read(&root().join(format!("shaders/shared/{part}.wgsl")));
        let asset =
            "const ASSET_PARTICLES = 1024u; const MATERIALS = 4u; const LAMBDA_ROOM = 3u; const SURFACES = true;
            const LANES = 64u; const INSTANCES = 1u; const RINGS_AT = 9u; const CORNERS_AT = 9u; const SLOTS_AT = 9u; const ROWS_OF_SLOTS = 9u;";
        let parts: &[&str] = match name.as_str() {
            "accelerations" => &["rings", "air"],
            "normals" => &["rings", "normal"],
            "finish" => &["held"],
            "body_damping" | "restore_momentum" => &["rigid_motion"],
            "instances" => &["instance", "air", "held"],
            "instances_normals" => &["instance", "normal"],
            "whole" | "project_tile" => &["unscaled"],
            _ => &[],
        };
        let text = parts.iter().fold(text, |text, part| text + &shared_text(part));
        if name.starts_with("instances_") {
            texts.push((name, text + asset));
            continue;
        }
        if ["whole", "instances", "halos"].contains(&name.as_str()) {
            let sweep = if name == "halos" { "halos" } else { "whole" };
            let shared = |name: &str| read(&root().join(format!("shaders/project/{name}.wgsl")));
            for info in KINDS.iter().filter(|info| !info.is_group()) {
                let constants = format!(
                    "const ARITY = {}u; const ROWS = {}u; const LAMBDAS = 1u; const UNIT_GRADIENTS = {}; const UNILATERAL = {};
                    const HEAD = 5u; const MOST_PARTICLES = 1024u; const LOCAL_WORDS = {}u; {asset}
                    const PACKED = {}; const PLACE_BITS = 11u; const BANKS = 16u; const PIN_BITS = 32u; const FIRST_PLACE = 0u;
                    fn sweep(head: u32, lane: u32) {{ solve_rounds(head, lane); }}",
                    info.arity,
                    info.record_words / 4,
                    info.unit_gradients,
                    info.unilateral,
                    info.arity.div_ceil(2),
                    info.arity == 2,
                );
                let form = if matches!(info.function, Function::Vector(_)) { "vector" } else { "scalar" };
                let parts = [&text, info.shader, &shared(form), &shared("record"), &shared(sweep), &constants];
                let parts = parts.join("\n");
                if name == "whole" {
                    let tiles = "const PHASES = 4u; const TILE_WORDS = 13u; fn solve_tile(at: u32) {}";
                    let tiles = [&shared("tile_in_batch"), tiles, &constants.replace("solve_rounds", "solve_tiles")];
                    let whole = [&text, info.shader, &shared(form), &shared("tile"), &tiles.join("\n")];
                    texts.push((name.clone(), whole.join("\n")));
                }
                if name != "instances" {
                    texts.push((name.clone(), parts));
                    continue;
                }
                let places = |name: &str| read(&root().join(format!("shaders/instances/{name}.wgsl")));
                texts.push((name.clone(), parts.clone() + &places("far")));
                // Half as many particles have room.
                let near = parts.replace("ASSET_PARTICLES = 1024u", "ASSET_PARTICLES = 512u");
                texts.push((name.clone(), near + &places("near")));
            }
            continue;
        }
        if !name.starts_with("project") {
            texts.push((name, text));
            continue;
        }
        let is_for = |info: &KindInfo| match name.as_str() {
            "project_group" => info.is_group(),
            "project_stars" => info.arity == 2,
            _ => !info.is_group(),
        };
        for info in KINDS.iter().filter(|info| is_for(info)) {
            let constants = format!(
                "const ARITY = {}u; const ROWS = {}u; const LAMBDAS = 1u; const MOST_PARTICLES = 256u; const UNIT_GRADIENTS = {}; const UNILATERAL = {};
                const LANES = 128u; const ROTATION_STEPS = 8u; const PIN_WEIGHT = 10.0; const LEAF_FACTOR = 2.0; const LEAST_LEAF = 1e-4;",
                info.arity.max(1),
                info.record_words / 4,
                info.unit_gradients,
                info.unilateral
            );
            let form = if matches!(info.function, Function::Vector(_)) { "vector" } else { "scalar" };
            let shared = |name: &str| read(&root().join(format!("shaders/project/{name}.wgsl")));
            // Link by link the rest of the shader of tiles is written by src/gpu/tiles.rs.
            let record = if name == "project_tile" { "tile" } else { "record" };
            let shared =
                if info.is_group() { String::new() } else { shared(form) + &shared("bindings") + &shared(record) };
            let solve_tile = if name == "project_tile" { "fn solve_tile(at: u32) {}" } else { "" };
            let constants = constants + solve_tile;
            texts.push((format!("{name}_{}", info.name), [&text, info.shader, &shared, &constants].join("\n")));
        }
    }
    texts
}

fn shaders() -> Vec<(String, naga::Module)> {
    let module = |(name, text): (String, String)| match validated(&text) {
        Ok(module) => (name, module),
        Err(fault) => panic!("{name}: {fault}"),
    };
    texts().into_iter().map(module).collect()
}

#[test]
fn every_shader_is_valid_with_the_prelude() {
    assert!(shaders().len() >= 10);
}

#[test]
fn the_validation_can_fail() {
    let text = "@compute @workgroup_size(1) fn broken() { var x: u32 = 1.5; }";
    assert!(validated(text).is_err());
    // Parses, but a storage buffer that is only read is written.
    let text = "@group(0) @binding(0) var<storage, read> a: array<u32>;
        @compute @workgroup_size(1) fn broken() { a[0] = 1u; }";
    assert!(validated(text).is_err());
}

#[test]
fn every_file_holds_the_entry_points_that_its_name_promises() {
    for (file, module) in shaders() {
        let names: BTreeSet<_> = module.entry_points.iter().map(|entry| entry.name.as_str()).collect();
        assert!(!names.is_empty(), "{file}.wgsl has no entry point");
        if file.starts_with("project") {
            let expected: &[&str] = if file.starts_with("project_patch") {
                &["project_patch"]
            } else if file.starts_with("project_tile") {
                &["project_tile"]
            } else if file.starts_with("project_stars") {
                &["project_stars"]
            } else if file.starts_with("project_group") {
                &["project", "split", "project_wide", "split_wide"]
            } else {
                &["project", "split"]
            };
            assert_eq!(names, expected.iter().copied().collect(), "{file}");
            continue;
        }
        let parts = format!("{file}_");
        for name in names {
            assert!(name == file || name.starts_with(&parts), "{file}.wgsl has an entry point {name}");
        }
    }
}

#[test]
fn every_entry_point_is_a_compute_shader_of_the_common_workgroup_size() {
    for (file, module) in shaders() {
        for entry in &module.entry_points {
            assert_eq!(entry.stage, naga::ShaderStage::Compute, "{file}: {}", entry.name);
            // The override; a literal size would part from src/gpu/pipelines.rs in silence.
            let overrides = entry.workgroup_size_overrides;
            // A workgroup a group, a body, or a collider: `group::LANES`.
            let wide = ["body_damping", "restore_momentum", "collider_forces", "search_scan_blocks"];
            if entry.name.ends_with("_wide") || wide.contains(&entry.name.as_str()) {
                assert_eq!(entry.workgroup_size, [128, 1, 1]);
                continue;
            }
            assert!(
                overrides.is_some_and(|[x, y, z]| x.is_some() && y.is_none() && z.is_none()),
                "{file}: {}",
                entry.name
            );
        }
    }
}

#[test]
fn every_workgroup_has_memory_enough() {
    for (file, module) in shaders() {
        let of_workgroup = |variable: &&naga::GlobalVariable| variable.space == naga::AddressSpace::WorkGroup;
        let variables = module.global_variables.iter().map(|(_, variable)| variable).filter(of_workgroup);
        let bytes: u32 = variables.map(|variable| module.types[variable.ty].inner.size(module.to_ctx())).sum();
        // Halos are for devices that have more, and their size is what there is.
        assert!(bytes <= MAX_WORKGROUP_BYTES || file == "halos", "{file}.wgsl has {bytes} bytes of workgroup memory");
    }
}

#[test]
fn every_kind_carries_its_own_text() {
    for info in KINDS {
        let file = root().join(format!("shaders/kinds/{}.wgsl", info.name));
        assert_eq!(info.shader, read(&file), "the kind {} carries the text of another file", info.name);
    }
    assert_eq!(files("shaders/kinds", "wgsl").len(), KINDS.len());
}

#[test]
fn bindings_are_numbered_without_gaps_in_one_group() {
    // `Stage::bind` numbers the buffers by their place in a list.
    for (file, module) in shaders() {
        let mut bindings: Vec<(u32, u32)> = Vec::new();
        for (_, variable) in module.global_variables.iter() {
            if let Some(binding) = &variable.binding {
                bindings.push((binding.group, binding.binding));
            }
        }
        bindings.sort_unstable();
        // Entry points of a file may have bindings of their own.
        bindings.dedup();
        let expected: Vec<_> = (0..bindings.len() as u32).map(|binding| (0, binding)).collect();
        assert_eq!(bindings, expected, "of {file}.wgsl");
        let is_storage = |space| matches!(space, naga::AddressSpace::Storage { .. });
        let storage = module.global_variables.iter().filter(|(_, variable)| is_storage(variable.space)).count();
        // As `room` in src/gpu/halos.rs counts them.
        let most = if file == "halos" { 11 } else { MAX_STORAGE_BUFFERS };
        assert!(storage <= most, "{file}.wgsl binds {storage} storage buffers");
    }
}

#[test]
fn the_prelude_holds_nothing_but_what_passes_share() {
    let module = validated("").unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(module.entry_points.len(), 0);
    assert_eq!(module.global_variables.len(), 0);
}

/// The text of every Rust file under src.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap_or_else(|fault| panic!("{}: {fault}", folder.display()));
    let text = |path: PathBuf| if path.is_dir() { sources(&path) } else { read(&path) };
    entries.map(|entry| text(entry.unwrap_or_else(|fault| panic!("{}: {fault}", folder.display())).path())).collect()
}

#[test]
fn every_shader_is_compiled_into_the_crate() {
    // A file that only lies there would pass all of the above.
    let sources = sources(&root().join("src"));
    let parts = ["prelude", "kinds", "project", "shared", "collide", "search", "pairs", "instances"]
        .map(|part| format!("shaders/{part}"));
    for path in std::iter::once("shaders".to_owned()).chain(parts).flat_map(|folder| files(&folder, "wgsl")) {
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string().replace('\\', "/");
        assert!(sources.contains(&format!("{name}\")")), "no include_str! of {name}");
    }
}

#[test]
fn tethers_are_read_as_they_are_written() {
    // A row is one vec2: the anchor, then the length.
    let module = validated(&read(&root().join("shaders/tether.wgsl"))).unwrap_or_else(|fault| panic!("{fault}"));
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
    let advance = read(&root().join("shaders/velocity.wgsl"));
    assert!(advance.contains("tethers: array<vec4u>") && 2 * stride == 16);
}
