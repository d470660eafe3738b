//! Generates the shader function that solves the constraints of all kinds of an instance: one part per kind, with names of its own.

use super::pipelines::{RECORD, SCATTER, SOLVE, constants, impulses, loops};
use super::shader::{renamed, unrolled};
use super::tiles;
use crate::constraints::KindInfo;
use crate::instancing::asset::Asset;
use crate::schedule::compiled::CompiledScene;

/// `sweep(head, thread)`, where `head` is the word of the first head of a kind. Of each kind the tiles are solved first, then the colours.
pub(super) fn sweep(compiled: &CompiledScene, asset: &Asset, keep_lambdas: bool) -> String {
    let (mut calls, mut texts) = (String::new(), String::new());
    let mut add = |info: &KindInfo, entry: &str, suffix: &str, rank: usize, part: &str| {
        let name = format!("{}{suffix}", info.name);
        calls += &format!("    {entry}_{name}(head + {}u, thread);\n", Asset::head_at(rank));
        texts += &renamed(&of_kind(info, part), &name);
    };
    for (rank, kind) in asset.kinds.iter().map(|&kind| &compiled.kinds[kind]).enumerate() {
        if !kind.tiling.is_empty() {
            let part = tiles::in_instances(kind.info, &kind.tiling, keep_lambdas);
            add(kind.info, "solve_tiles", "_tiles", rank, &part);
        }
        let part = [RECORD, SCATTER, include_str!("../../shaders/instancing/parts/colors.wgsl")].join("\n");
        add(kind.info, "solve_colors", "", rank, &part);
    }
    format!("\nfn sweep(head: u32, thread: u32) {{\n{calls}}}\n{texts}")
}

/// The text of a kind.
fn of_kind(info: &KindInfo, part: &str) -> String {
    let text = [info.shader, impulses(info), SOLVE, part, &constants(info)].join("\n");
    unrolled(&text, &loops(info))
}
