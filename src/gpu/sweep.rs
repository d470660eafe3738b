//! Generates the function that solves the constraints of all kinds of an instance: the texts of the kinds, each with names of its own.

use super::pipelines::{RECORD, SCATTER, SOLVE, constants, impulses, loops};
use super::tiles;
use super::unroll::unrolled;
use crate::constraints::KindInfo;
use crate::instancing::asset::Asset;
use crate::schedule::compiled::CompiledScene;

/// `sweep(head, lane)`, where `head` is the word of the first head of a kind: of each kind first the tiles, then the colours.
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

/// A text with a suffix behind every name that it declares at its top level. Members of structs keep theirs, as they follow a dot where
/// they are read, so they must not be called like anything at the top level.
fn renamed(text: &str, suffix: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let declared = |line: &str| {
        let rest = ["fn ", "struct ", "alias ", "const "].iter().find_map(|keyword| line.strip_prefix(keyword))?;
        Some(rest.split(|c| !is_name(c)).next().unwrap_or_default().to_owned())
    };
    let names: Vec<String> = text.lines().filter_map(declared).collect();
    let mut renamed = String::with_capacity(text.len() * 5 / 4);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_name(c) != is_name(first)).unwrap_or(rest.len());
        let (token, others) = rest.split_at(end);
        let is_member = renamed.ends_with('.');
        renamed += token;
        if !is_member && names.iter().any(|name| name == token) {
            renamed += "_";
            renamed += suffix;
        }
        rest = others;
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_names_get_a_suffix_and_others_do_not() {
        let text = "const PI = 3.0;\nfn load(x: u32) -> f32 {\n    let reload = a.load + b[load(PI * 1.0)];\n}\nstruct Record {\n    c: f32,\n}\n";
        let expected = "const PI_k = 3.0;\nfn load_k(x: u32) -> f32 {\n    let reload = a.load + b[load_k(PI_k * 1.0)];\n}\nstruct Record_k {\n    c: f32,\n}\n";
        assert_eq!(renamed(text, "k"), expected);
    }
}
