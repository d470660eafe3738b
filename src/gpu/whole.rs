//! Writes out the shader of whole bodies: the texts of all kinds that a scene has, each with names of its own (`src/whole.rs`,
//! `shaders/whole.wgsl`, `shaders/project/whole.wgsl`).

use super::context::is_software;
use super::pipelines::{RECORD, constants, impulses, loops};
use super::tiles;
use super::unroll::unrolled;
use crate::controls::Controls;
use crate::kinds::{KINDS, KindInfo};
use crate::settings::Settings;
use crate::whole::{MOST_LANES, MOST_PARTICLES, Whole, local_words};

/// The entry point.
pub(super) const ENTRY: &str = "whole";

/// What a dispatch plays: `Schedule` in `shaders/whole.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct ScheduleRow {
    pub substeps: u32,
    pub first_iteration: u32,
    pub iterations: u32,
    pub tethers: u32,
}

impl ScheduleRow {
    /// Of all substeps, of the first sweep of a substep, of a later one.
    pub fn all(settings: &Settings) -> [Self; 3] {
        let Settings { substeps, iterations, .. } = *settings;
        let sweep = |first_iteration| Self { substeps: 1, first_iteration, iterations: 1, tethers: 0 };
        let tethers = u32::from(settings.tethers);
        [Self { substeps, first_iteration: 0, iterations, tethers }, sweep(0), sweep(1)]
    }
}

/// How many threads of a workgroup work in step.
pub(super) fn in_step(device: &wgpu::Device) -> usize {
    if is_software(&device.adapter_info()) { 8 } else { 32 }
}

/// How many threads a workgroup has.
pub(super) fn lanes(device: &wgpu::Device, whole: &Whole, controls: &Controls) -> usize {
    let turns = |lanes| whole.turns(lanes, &controls.settings, controls.cooked.most_tethers, 0);
    // One batch alone leaves the others of those that work in step idle.
    let in_step = in_step(device);
    if whole.has_tiles() { whole.lanes(in_step, turns).max(in_step) } else { MOST_LANES }
}

/// The text of the pass, without the prelude.
pub(super) fn pass(whole: &Whole, keep_lambdas: bool) -> String {
    let head = Whole::head(whole.kinds.len());
    let constants = format!("const MOST_PARTICLES = {MOST_PARTICLES}u;\nconst HEAD = {head}u;\n");
    let pass = concat!(include_str!("../../shaders/whole.wgsl"), include_str!("../../shaders/shared/unscaled.wgsl"));
    pass.to_owned() + &constants + &whole_sweep(whole, keep_lambdas)
}

/// A part of what solves the constraints of all kinds.
pub(super) struct Part {
    pub info: &'static KindInfo,
    /// The function that solves it.
    pub entry: &'static str,
    /// What its names end in, besides that of the kind.
    pub suffix: &'static str,
    /// How many words behind the first head of a kind its own begins.
    pub head: usize,
    /// What belongs to it, besides C and ∇C and what makes impulses of them.
    pub text: String,
}

/// What solves the constraints of all kinds, part by part.
pub(super) fn sweep(parts: &[Part]) -> String {
    let name = |part: &Part| format!("{}{}", part.info.name, part.suffix);
    let call = |part: &Part| format!("    {}_{}(head + {}u, lane);\n", part.entry, name(part), part.head);
    let calls: String = parts.iter().map(call).collect();
    let texts: String = parts.iter().map(|part| renamed(&of_kind(part.info, &part.text), &name(part))).collect();
    format!("\nfn sweep(head: u32, lane: u32) {{\n{calls}}}\n{texts}")
}

/// The same for whole bodies: of each kind first what is in tiles.
pub(super) fn whole_sweep(whole: &Whole, keep_lambdas: bool) -> String {
    let mut parts = Vec::new();
    for (rank, info) in whole.kinds.iter().map(|&kind| KINDS[kind]).enumerate() {
        let head = Whole::head(rank) - Whole::head(0);
        if let Some(tiling) = whole.tilings.get(rank).filter(|tiling| !tiling.is_empty()) {
            let text = tiles::in_batches(info, tiling, keep_lambdas);
            parts.push(Part { info, entry: "solve_tiles", suffix: "_tiles", head, text });
        }
        let text = [RECORD, include_str!("../../shaders/project/whole.wgsl")].join("\n");
        parts.push(Part { info, entry: "solve_rounds", suffix: "", head, text });
    }
    sweep(&parts)
}

/// What belongs to a kind.
fn of_kind(info: &KindInfo, part: &str) -> String {
    let locals = local_words(info.arity);
    let constants = constants(info) + &format!("const LOCAL_WORDS = {locals}u;\n");
    let text = [info.shader, impulses(info), part, &constants].join("\n");
    unrolled(&text, &[loops(info).as_slice(), &[("LOCAL_WORDS", locals)]].concat())
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

    #[test]
    fn the_shader_of_all_kinds_together_is_valid() {
        let fixed = (0..KINDS.len()).filter(|&kind| !KINDS[kind].is_group());
        let whole = Whole { kinds: fixed.collect(), ..Whole::default() };
        let source = format!("{}\n{}", pass(&whole, false), super::super::pipelines::PRELUDE);
        let module = match naga::front::wgsl::parse_str(&source) {
            Ok(module) => module,
            Err(fault) => panic!("{}", fault.emit_to_string(&source)),
        };
        let (flags, capabilities) = (naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty());
        if let Err(fault) = naga::valid::Validator::new(flags, capabilities).validate(&module) {
            panic!("{}", fault.emit_to_string(&source));
        }
    }
}
