//! Validates the shaders with naga: each file is valid, and its structs have the memory layout of the Rust structs.
//!
//! The test walks the folder, so it covers new shaders.

use std::collections::BTreeSet;
use std::fs;
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};
use supple::constraints::{Function, KINDS, KindInfo};
use supple::scene::TetherRow;

/// Storage buffers per stage that [`wgpu::Limits::default`] guarantees.
const MAX_STORAGE_BUFFERS: usize = 8;

/// Workgroup memory that [`wgpu::Limits::default`] guarantees [bytes].
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

/// The shader text as src/gpu/pipelines.rs assembles it: the pass, then the prelude.
fn joined(text: &str) -> String {
    let prelude: String = files("shaders/common", "wgsl").iter().map(|path| read(path)).collect();
    format!("{text}\n{prelude}")
}

/// Parses and validates core WGSL; the error is that of naga, with the line of the file.
fn validated(text: &str) -> Result<naga::Module, String> {
    let source = joined(text);
    let module = naga::front::wgsl::parse_str(&source).map_err(|fault| fault.emit_to_string(&source))?;
    let (flags, capabilities) = (naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty());
    let mut validator = naga::valid::Validator::new(flags, capabilities);
    validator.validate(&module).map_err(|fault| fault.emit_to_string(&source))?;
    Ok(module)
}

/// Each pass with its text; projections once per kind, as src/gpu/pipelines.rs assembles them.
fn texts() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    let folders = ["collision", "instancing", "integrate", "schedule"].map(|folder| format!("shaders/{folder}"));
    for path in folders.iter().flat_map(|folder| files(folder, "wgsl")).filter(|path| !path.ends_with("instance.wgsl"))
    {
        let (name, text) = (stem(&path).to_owned(), read(&path));
        if name == "collide" {
            let parts = files("shaders/collision/collide", "wgsl");
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
        if ["search", "pairs", "find_contacts"].contains(&name.as_str()) {
            for path in files(&format!("shaders/collision/{name}"), "wgsl") {
                texts.push((name.clone(), text.clone() + &read(&path)));
            }
            continue;
        }
        let shared_text = |part: &str| read(&root().join(format!("shaders/integrate/shared/{part}.wgsl")));
        let asset =
            "const ASSET_PARTICLES = 1024u; const MATERIALS = 4u; const LAMBDA_ROOM = 3u; const SURFACES = true;
            const THREADS = 64u; const INSTANCES = 1u; const RINGS_AT = 9u; const CORNERS_AT = 9u; const SLOTS_AT = 9u; const TETHER_RUNS_AT = 9u; const ROWS_OF_SLOTS = 9u;";
        let parts: &[&str] = match name.as_str() {
            "accelerations" => &["rings", "air"],
            "normals" => &["rings", "normal"],
            "finish" => &["quarantined"],
            "instances" => &["air", "quarantined"],
            "instances_normals" => &["normal"],
            _ => &[],
        };
        let text = parts.iter().fold(text, |text, part| text + &shared_text(part));
        let text = if ["instances", "instances_normals"].contains(&name.as_str()) {
            text + &read(&root().join("shaders/instancing/instance.wgsl"))
        } else {
            text
        };
        if name.starts_with("instances_") {
            texts.push((name, text + asset));
            continue;
        }
        if name == "instances" {
            let shared = |name: &str| read(&root().join(format!("shaders/schedule/projection/{name}.wgsl")));
            let own = |name: &str| read(&root().join(format!("shaders/instancing/parts/{name}.wgsl")));
            for info in KINDS.iter().filter(|info| !info.is_group()) {
                let constants = format!(
                    "const ARITY = {}u; const ROWS = {}u; const LAMBDAS = 1u; const UNIT_GRADIENTS = {}; const UNILATERAL = {}; {asset}
                    fn sweep(head: u32, thread: u32) {{ solve_colors(head, thread); }}",
                    info.arity,
                    info.record_words / 4,
                    info.unit_gradients,
                    info.unilateral,
                );
                let form = if matches!(info.function, Function::Vector(_)) { "vector" } else { "scalar" };
                let of_colors = [shared("record"), shared("scatter"), own("colors"), constants.clone()].join("\n");
                let tiles = "const PHASES = 4u; const TILE_WORDS = 12u; fn solve_tile(at: u32) {}";
                let of_tiles =
                    [&shared("tile"), &own("tiles"), tiles, &constants.replace("solve_colors", "solve_tiles")];
                for part in [of_colors, of_tiles.join("\n")] {
                    let parts = [&text, info.shader, &shared(form), &shared("solve"), &part].join("\n");
                    texts.push((name.clone(), parts.clone() + &own("far")));
                    // Workgroup memory holds half as many particles.
                    let near = parts.replace("ASSET_PARTICLES = 1024u", "ASSET_PARTICLES = 512u");
                    texts.push((name.clone(), near + &own("near")));
                }
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
                const THREADS = 128u; const ROTATION_STEPS = 8u; const PIN_WEIGHT = 10.0; const LEAF_FACTOR = 2.0; const LEAST_LEAF = 1e-4;",
                info.arity.max(1),
                info.record_words / 4,
                info.unit_gradients,
                info.unilateral
            );
            let form = if matches!(info.function, Function::Vector(_)) { "vector" } else { "scalar" };
            let shared = |name: &str| read(&root().join(format!("shaders/schedule/projection/{name}.wgsl")));
            // src/gpu/tiles.rs generates the rest of the tile shader, constraint by constraint.
            let parts: &[&str] = match name.as_str() {
                _ if info.is_group() => &[],
                "project_tile" => &[form, "bindings", "solve", "tile", "in_storage"],
                "project_cluster" => &[form, "bindings", "solve", "record", "scatter"],
                _ => &[form, "bindings", "solve", "record", "scatter", "in_storage"],
            };
            let shared: String = parts.iter().map(|part| shared(part)).collect();
            let shared = if info.is_group() {
                shared
            } else {
                shared + &read(&root().join("shaders/schedule/projection/unscaled.wgsl"))
            };
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
    // Parses, but writes to a read-only storage buffer.
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
            let expected: &[&str] = if file.starts_with("project_cluster") {
                &["project_cluster"]
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
            // The size must be the override; a literal size could silently differ from src/gpu/pipelines.rs.
            let overrides = entry.workgroup_size_overrides;
            // One workgroup of 128 threads per group, body or collider.
            let wide = ["body_damping", "collider_forces", "search_scan_blocks"];
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
        assert!(bytes <= MAX_WORKGROUP_BYTES, "{file}.wgsl has {bytes} bytes of workgroup memory");
    }
}

#[test]
fn every_kind_carries_its_own_text() {
    for info in KINDS {
        let file = root().join(format!("shaders/constraints/{}.wgsl", info.name));
        assert_eq!(info.shader, read(&file), "the kind {} carries the text of another file", info.name);
    }
    assert_eq!(files("shaders/constraints", "wgsl").len(), KINDS.len());
}

#[test]
fn bindings_are_numbered_without_gaps_in_one_group() {
    // `Stage::bind` numbers the buffers by their index in a list.
    for (file, module) in shaders() {
        let mut bindings: Vec<(u32, u32)> = Vec::new();
        for (_, variable) in module.global_variables.iter() {
            if let Some(binding) = &variable.binding {
                bindings.push((binding.group, binding.binding));
            }
        }
        bindings.sort_unstable();
        // Entry points of a file may have their own bindings.
        bindings.dedup();
        let expected: Vec<_> = (0..bindings.len() as u32).map(|binding| (0, binding)).collect();
        assert_eq!(bindings, expected, "of {file}.wgsl");
        let is_storage = |space| matches!(space, naga::AddressSpace::Storage { .. });
        let storage = module.global_variables.iter().filter(|(_, variable)| is_storage(variable.space)).count();
        assert!(storage <= MAX_STORAGE_BUFFERS, "{file}.wgsl binds {storage} storage buffers");
    }
}

#[test]
fn the_prelude_holds_nothing_but_what_passes_share() {
    let module = validated("").unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(module.entry_points.len(), 0);
    assert_eq!(module.global_variables.len(), 0);
}

/// The text of all Rust files under src.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap_or_else(|fault| panic!("{}: {fault}", folder.display()));
    let text = |path: PathBuf| if path.is_dir() { sources(&path) } else { read(&path) };
    entries.map(|entry| text(entry.unwrap_or_else(|fault| panic!("{}: {fault}", folder.display())).path())).collect()
}

#[test]
fn every_shader_is_compiled_into_the_crate() {
    // An unused shader file would pass all tests above.
    let sources = sources(&root().join("src"));
    let parts = [
        "common",
        "constraints",
        "schedule",
        "schedule/projection",
        "integrate",
        "integrate/shared",
        "collision",
        "collision/collide",
        "collision/search",
        "collision/pairs",
        "collision/find_contacts",
        "instancing",
        "instancing/parts",
    ]
    .map(|part| format!("shaders/{part}"));
    for path in parts.iter().flat_map(|folder| files(folder, "wgsl")) {
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string().replace('\\', "/");
        assert!(sources.contains(&format!("{name}\")")), "no include_str! of {name}");
    }
}

#[test]
fn tethers_are_read_as_they_are_written() {
    // A row is a vec2: the anchor, then the length.
    let module = validated(&read(&root().join("shaders/integrate/solve_tethers.wgsl")))
        .unwrap_or_else(|fault| panic!("{fault}"));
    let found = module.global_variables.iter().find(|(_, variable)| variable.name.as_deref() == Some("tethers"));
    let tethers = found.map(|(_, variable)| &module.types[variable.ty].inner);
    let Some(&naga::TypeInner::Array { base, stride, .. }) = tethers else { panic!("tethers: {tethers:?}") };
    let naga::TypeInner::Vector { size: naga::VectorSize::Bi, scalar } = module.types[base].inner else {
        panic!("a tether is no vec2: {:?}", module.types[base]);
    };
    assert_eq!(scalar, naga::Scalar::U32);
    assert_eq!((offset_of!(TetherRow, anchor), offset_of!(TetherRow, length)), (0, 4));
    assert_eq!(size_of::<TetherRow>(), stride as usize);
    // Two rows per vec4.
    let advance = read(&root().join("shaders/integrate/velocity.wgsl"));
    assert!(advance.contains("tethers: array<vec4u>") && 2 * stride == 16);
}
