//! Generates the shader of tiles: the links of a pattern in sequence (`src/schedule/tiling.rs`,
//! `shaders/schedule/projection/tile.wgsl`).

use crate::constraints::KindInfo;
use crate::schedule::tiling::{PHASES, SPAN, TILE_WORDS, Tiling};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The entry point.
pub(super) const ENTRY: &str = "project_tile";

/// Number of tiles in a workgroup, one thread each. A phase has few tiles: small workgroups distribute them over more
/// compute units.
pub(super) const WORKGROUP_SIZE: u32 = 32;

/// WGSL of the pass that solves the tiles of a kind.
pub(super) fn pass(info: &KindInfo, tiling: &Tiling, keep_lambdas: bool) -> String {
    let shared = concat!(
        include_str!("../../shaders/schedule/projection/tile.wgsl"),
        include_str!("../../shaders/schedule/project_tile.wgsl")
    );
    shared.to_owned() + &solve_tile(info, tiling, keep_lambdas)
}

/// WGSL that solves the tiles of a kind in an instance.
pub(super) fn in_instances(info: &KindInfo, tiling: &Tiling, keep_lambdas: bool) -> String {
    let shared = concat!(
        include_str!("../../shaders/schedule/projection/tile.wgsl"),
        include_str!("../../shaders/instancing/parts/tiles.wgsl")
    );
    let constants = format!("const PHASES = {PHASES}u;\nconst TILE_WORDS = {TILE_WORDS}u;\n");
    shared.to_owned() + &constants + &solve_tile(info, tiling, keep_lambdas)
}

/// WGSL of `solve_tile`, which solves the tile whose words begin at `at`.
///
/// Links that a tile lacks are solved too and their result is dropped: a branch per link slows down compilation in
/// drivers. If multipliers are kept, these links are skipped, because they would overwrite multipliers.
fn solve_tile(info: &KindInfo, tiling: &Tiling, keep_lambdas: bool) -> String {
    let slots = tiling.slots(info.arity);
    let materials: BTreeSet<u8> = tiling.pattern.iter().map(|link| link.material).collect();
    let mut text = String::from(
        "
fn solve_tile(at: u32) {
    let tile = tile_words(at, 0u);
    let links = tile_words(at, 4u);
    var place = links.w;
",
    );
    // Writing to a string cannot fail.
    let mut line = |arguments: std::fmt::Arguments<'_>| _ = text.write_fmt(arguments);
    for &slot in &slots {
        let (row, column, there) = (slot / SPAN, slot % SPAN, slot_is_there(slot));
        line(format_args!("    let i{slot} = particle_at(tile, {there}, {row}u, {column}u);\n"));
        line(format_args!("    let x{slot} = position_at(i{slot});\n    var d{slot} = displacement_at(i{slot});\n"));
    }
    // If all tiles have the same materials, all threads load the same entries.
    let common = tiling.common_materials();
    if common.is_none() {
        line(format_args!("    let ids = tile_words(at, 8u);\n"));
    }
    for material in materials {
        let id = common.map_or(format!("ids[{material}u]"), |ids| format!("{}u", ids[usize::from(material)]));
        line(format_args!("    let m{material} = materials[{id}];\n"));
    }
    for (place, link) in tiling.pattern.iter().enumerate() {
        let (word, bit, material) = (["x", "y", "z"][place / 32], place % 32, link.material);
        let list =
            |name: &str| link.slots[..info.arity].iter().map(|slot| format!("{name}{slot}, ")).collect::<String>();
        let (x, d) = (list("x"), list("d"));
        let record = match tiling.shared[place] {
            Some([a, b, c, d]) => format!("opaque_record(vec4u({a}u, {b}u, {c}u, {d}u))"),
            None => "load(place)".to_owned(),
        };
        let skip = if keep_lambdas { format!("if here{place} ") } else { String::new() };
        line(format_args!("    let here{place} = has(links.{word}, {bit}u);\n    {skip}{{\n"));
        line(format_args!("        let moved = projected(place, {record}, m{material}, array({x}), Points({d}));\n"));
        for (k, slot) in link.slots[..info.arity].iter().enumerate() {
            line(format_args!("        d{slot} = select(d{slot}, moved[{k}], here{place});\n"));
        }
        line(format_args!("        place += u32(here{place});\n    }}\n"));
    }
    for slot in slots {
        let there = slot_is_there(slot);
        line(format_args!("    if {there} {{ set_displacement(i{slot}, d{slot}); }}\n"));
    }
    text + "}\n"
}

/// WGSL expression that is true if a tile has a slot.
fn slot_is_there(slot: u32) -> String {
    format!("has(tile.{}, {}u)", if slot < 32 { "z" } else { "w" }, slot % 32)
}
