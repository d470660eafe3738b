//! The compute pipelines of a solver: those of the table of passes, and those of the constraints.
//!
//! A projection consists of the C and ∇C of the kind, the pass that all kinds share, and the constants of the kind's descriptor.

use super::chains;
use super::kind_buffers::TREE_ROWS;
use super::passes::PASSES;
use super::shader::unrolled;
use super::stage::Slot::{Read, Span, Uniform, Write};
use super::stage::{SIZE, Slot, Stage, WORKGROUP_SIZE, flag};
use super::store::PipelineStore;
use super::tiles;
use crate::constraints::{Distance, Function, Kind, KindInfo, Measure, group};
use crate::schedule::clusters;
use crate::schedule::compiled::CompiledScene;
use crate::schedule::compiled_kind::CompiledKind;
use crate::schedule::plan::{FEW_PINS, Pass, Plan};
use crate::schedule::trees::{LEAST_LEAF, MOST_TURN, ROOT, ROUNDS};
use crate::settings::Settings;
use crate::sim::controls::Controls;
use std::collections::BTreeSet;

/// A record in storage; tiles read records in their own way.
pub(super) const RECORD: &str = include_str!("../../shaders/schedule/projection/record.wgsl");

/// The projection of one constraint of a kind with a fixed number of particles.
pub(super) const SOLVE: &str = include_str!("../../shaders/schedule/projection/solve.wgsl");

/// The same for particles in slots; needs [`RECORD`].
pub(super) const SCATTER: &str = include_str!("../../shaders/schedule/projection/scatter.wgsl");

/// The particles of a scene in storage buffers.
const IN_STORAGE: &str = include_str!("../../shaders/schedule/projection/in_storage.wgsl");

#[derive(Debug)]
pub(super) struct Pipelines {
    /// In the order of [`PASSES`]; `None` if no plan has the pass.
    pub fixed: Vec<Option<Stage>>,
    /// `None` if no plan has its passes.
    pub tethered: Option<TetheredStage>,
    /// Sums impulses by chunk, and chunks by hub; `None` without mass splitting.
    pub gather: Option<[Stage; 2]>,
    /// In the order of [`crate::constraints::KINDS`].
    pub kinds: Vec<KindStages>,
    /// Solves chains of rods; `None` without them.
    pub chains: Option<Stage>,
    /// Clears the sums of λ, and adds to them; `None` unless [`Settings::mean_forces`] is on.
    pub force_sums: Option<[Stage; 2]>,
}

/// Integration of free particles with tethers, which depends on the pins.
#[derive(Debug, Clone)]
pub(super) struct TetheredStage {
    /// Pins in a uniform buffer: a power of two, so that the pipeline is seldom made again; or 0 for many pins, which the pass reads from storage.
    anchors: u32,
    pub stage: Stage,
}

/// The ways to project the constraints of a kind, as places in [`KindStages::stages`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Projection {
    Project,
    Trees,
    Tiles,
    Clusters,
    Split,
    /// Evaluates the links of chains.
    Linearize,
}

/// The pipelines of a kind, by [`Projection`]. `None` if the scene has no constraints for it: compiling a shader takes longer than compiling the scene.
#[derive(Debug)]
pub(super) struct KindStages {
    pub stages: [Option<Stage>; 6],
    /// The flow of plastic constraints.
    pub flow: Option<Stage>,
    /// True if a workgroup solves a constraint, not a thread.
    pub wide: bool,
}

/// Span, positions, displacements, records, materials, λ.
const PROJECT: [Slot; 6] = [Span, Read, Write, Read, Read, Write];
/// The same; tiles or clusters.
const CLUSTERED: [Slot; 7] = [Span, Read, Write, Read, Read, Write, Read];
/// The same as [`PROJECT`]; shares, impulses. Or links of records, links of chains. Or trees, their nodes.
const SPLIT: [Slot; 8] = [Span, Read, Write, Read, Read, Write, Read, Write];
/// The same as [`PROJECT`]; members, impulses, rotations of groups.
const GROUP: [Slot; 9] = [Span, Read, Write, Read, Read, Write, Read, Write, Write];
/// Span, positions, records, plastic rows, their states, params, states of segments of rods.
const FLOW: [Slot; 7] = [Span, Read, Write, Read, Write, Uniform, Read];
/// Span, positions, displacements, impulses, slots, chunks, sums, hubs.
const GATHER: [Slot; 8] = [Span, Read, Write, Read, Read, Read, Write, Read];
/// Params, positions, displacements, residuals; tether runs, tethers, anchors now and in the next substep.
const TETHERED: [Slot; 8] = [Uniform, Write, Write, Write, Read, Read, Uniform, Write];

impl Pipelines {
    pub fn new(store: &PipelineStore, controls: &Controls, keep_lambdas: bool) -> Self {
        let mut pipelines = Self {
            fixed: vec![None; PASSES.len()],
            tethered: None,
            gather: Self::make_gather(store, &controls.compiled),
            kinds: Self::make_kinds(store, &controls.compiled, keep_lambdas),
            chains: chains::stage(store, &controls.compiled, keep_lambdas),
            force_sums: Self::make_force_sums(store, &controls.settings),
        };
        let missing = pipelines.missing(controls);
        pipelines.add(missing.compile(store, controls));
        pipelines
    }

    /// The passes of the plans that are not compiled.
    pub fn missing(&self, controls: &Controls) -> MissingPasses {
        let plans = controls.plans();
        let runs = |pass: Pass| plans.iter().any(|plan| plan.contains(&pass));
        let rows = (0..PASSES.len()).filter(|&row| self.fixed[row].is_none() && runs(PASSES[row].pass)).collect();
        MissingPasses { rows, anchors: TetheredStage::missing(self.tethered.as_ref(), controls, &plans) }
    }

    pub fn add(&mut self, compiled: CompiledPasses) {
        for (row, stage) in compiled.rows {
            self.fixed[row] = Some(stage);
        }
        self.tethered = compiled.tethered.or_else(|| self.tethered.take());
    }

    /// The passes that sum the impulses of mass splitting.
    pub fn make_gather(store: &PipelineStore, compiled: &CompiledScene) -> Option<[Stage; 2]> {
        let text = include_str!("../../shaders/schedule/gather.wgsl");
        let stage = |entry: &str| Stage::new(store, entry, entry, text, &GATHER, &[]);
        let is_split = compiled.kinds.iter().any(|kind| !kind.split.is_empty());
        is_split.then(|| ["gather_chunks", "gather_hubs"].map(stage))
    }

    /// The passes that clear the sums of λ and add to them, if these are kept.
    pub fn make_force_sums(store: &PipelineStore, settings: &Settings) -> Option<[Stage; 2]> {
        let text = include_str!("../../shaders/schedule/force_sums.wgsl");
        let stage = |entry: &str, slots: &[Slot]| Stage::new(store, entry, entry, text, slots, &[]);
        settings.mean_forces.then(|| [stage("force_sums_clear", &[Write]), stage("force_sums_add", &[Write, Read])])
    }

    pub fn make_kinds(store: &PipelineStore, compiled: &CompiledScene, keep_lambdas: bool) -> Vec<KindStages> {
        (0..compiled.kinds.len()).map(|kind| KindStages::new(store, compiled, kind, keep_lambdas)).collect()
    }
}

/// Passes to compile.
#[derive(Debug)]
pub(super) struct MissingPasses {
    /// Rows of [`PASSES`].
    rows: Vec<usize>,
    /// Anchors of the integration with tethers.
    anchors: Option<u32>,
}

/// Compiled passes, for [`Pipelines::add`].
#[derive(Debug)]
pub(super) struct CompiledPasses {
    rows: Vec<(usize, Stage)>,
    tethered: Option<TetheredStage>,
}

impl MissingPasses {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.anchors.is_none()
    }

    pub fn compile(self, store: &PipelineStore, controls: &Controls) -> CompiledPasses {
        let compiled = |row: usize| {
            let info = &PASSES[row];
            let slots: Vec<Slot> = info.bindings.iter().map(|(slot, _)| *slot).collect();
            (row, Stage::new(store, info.entry, info.entry, info.text, &slots, &[]))
        };
        let tethered = self.anchors.map(|anchors| TetheredStage::with_anchors(store, controls, anchors));
        CompiledPasses { rows: self.rows.into_iter().map(compiled).collect(), tethered }
    }
}

impl TetheredStage {
    /// The number of anchors of another stage if `present` does not fit the pins. One with more anchors than there are
    /// pins fits.
    fn missing(present: Option<&Self>, controls: &Controls, plans: &[Plan]) -> Option<u32> {
        let runs = |plan: &Plan| plan.contains(&Pass::IntegrateTethered) || plan.contains(&Pass::IntegrateFree);
        let needed = Self::anchors(controls.pins.len());
        let anchors = present.map_or(needed, |own| if needed == 0 { 0 } else { needed.max(own.anchors) });
        let fits = present.is_some_and(|own| own.anchors == anchors);
        (!fits && plans.iter().any(runs)).then_some(anchors)
    }

    /// The anchors of the stage for a number of pins.
    fn anchors(pins: usize) -> u32 {
        if pins <= FEW_PINS { pins.max(1).next_power_of_two() as u32 } else { 0 }
    }

    fn with_anchors(store: &PipelineStore, controls: &Controls, anchors: u32) -> Self {
        let pairs = controls.compiled.tether_pairs();
        let constants = [
            ("MOST_TETHERS", f64::from(controls.compiled.most_tethers)),
            ("TETHER_PAIRS", f64::from(pairs)),
            ("ALL_TETHERED", flag(controls.compiled.all_tethered)),
            ("ANCHORS", f64::from(anchors)),
        ];
        let loops = [("TETHER_PAIRS", pairs as usize), ("ANCHORS", anchors as usize)];
        let text = unrolled(include_str!("../../shaders/integrate/velocity.wgsl"), &loops);
        let entry = "velocity_tether";
        Self { anchors, stage: Stage::new(store, entry, entry, &text, &TETHERED, &constants) }
    }

    /// Compiles the stages for all numbers of pins.
    pub fn prepare(store: &PipelineStore, controls: &Controls) {
        let anchors: BTreeSet<u32> = (0..=FEW_PINS + 1).map(Self::anchors).collect();
        anchors.into_iter().for_each(|anchors| drop(Self::with_anchors(store, controls, anchors)));
    }
}

impl KindStages {
    pub fn new(store: &PipelineStore, compiled: &CompiledScene, kind: usize, keep_lambdas: bool) -> Self {
        let (kind, is_chained) = (&compiled.kinds[kind], !compiled.chains.order(kind).is_empty());
        let (info, wide) = (kind.info, kind.threads > 1);
        let pass: &[&str] = if info.is_group() {
            &[include_str!("../../shaders/schedule/project_group.wgsl")]
        } else {
            &[include_str!("../../shaders/schedule/project.wgsl"), RECORD, SCATTER, IN_STORAGE]
        };
        let stage = |entry: &str, parts: &[&str], slots: &[Slot]| {
            let text = unrolled(&projection(info, parts), &loops(info));
            let name = format!("{entry}_{}", info.name);
            let size = if entry == tiles::ENTRY { tiles::WORKGROUP_SIZE } else { WORKGROUP_SIZE };
            let entry = if wide { format!("{entry}_wide") } else { entry.to_owned() };
            let slots = if info.is_group() { GROUP.as_slice() } else { slots };
            let constants = [("KEEP_LAMBDA", flag(keep_lambdas)), (SIZE, f64::from(size))];
            Stage::new(store, &name, &entry, &text, slots, &constants)
        };
        let trees = || {
            let text = include_str!("../../shaders/schedule/solve_trees.wgsl");
            stage("solve_trees", &[text, RECORD, &tree_constants(kind)], &SPLIT)
        };
        let tile = || stage(tiles::ENTRY, &[&tiles::pass(info, &kind.tiling, keep_lambdas), IN_STORAGE], &CLUSTERED);
        let cluster = || {
            let parts = [include_str!("../../shaders/schedule/project_cluster.wgsl"), RECORD, SCATTER];
            stage("project_cluster", &parts, &CLUSTERED)
        };
        let linearize = || {
            let text = include_str!("../../shaders/schedule/linearize_chains.wgsl");
            stage("linearize_chains", &[text, RECORD, &chains::constants()], &SPLIT)
        };
        let stages = [
            kind.has_colors().then(|| stage("project", pass, &PROJECT)),
            (!kind.trees.is_empty()).then(trees),
            kind.has_tiles().then(tile),
            kind.has_clusters().then(cluster),
            (kind.split.span.count > 0).then(|| stage("split", pass, &SPLIT)),
            is_chained.then(linearize),
        ];
        let flow = (!kind.plastic.is_empty()).then(|| flow(store, info));
        Self { stages, flow, wide }
    }
}

/// The text of a pass that projects constraints of a kind, without the prelude.
fn projection(info: &KindInfo, parts: &[&str]) -> String {
    if info.is_group() {
        let constants = format!(
            "const THREADS = {}u;\nconst ROTATION_STEPS = {}u;\nconst PIN_WEIGHT = {:?};\n",
            group::THREADS,
            group::ROTATION_STEPS,
            group::PIN_WEIGHT
        );
        return [info.shader, &parts.join("\n"), &constants].join("\n");
    }
    let constants = format!("{}const MOST_PARTICLES = {}u;\n", constants(info), clusters::MOST_PARTICLES);
    let shared = [
        SOLVE,
        include_str!("../../shaders/schedule/projection/bindings.wgsl"),
        include_str!("../../shaders/schedule/projection/unscaled.wgsl"),
    ];
    [info.shader, impulses(info), &parts.join("\n"), &shared.join("\n"), &constants].join("\n")
}

/// The constants of a pass over trees.
fn tree_constants(kind: &CompiledKind) -> String {
    format!(
        "const TREES = {}u;\nconst TREE_ROWS = {TREE_ROWS}u;\nconst ROOT = {ROOT}u;\nconst ROUNDS = {ROUNDS}u;\n\
         const MOST_TURN = {MOST_TURN:?};\nconst LEAST_LEAF = {LEAST_LEAF:?};\nconst WELDS = {};\n",
        kind.trees.rows.len(),
        std::ptr::eq(kind.info, Distance::INFO)
    )
}

/// The flow of the plastic constraints of a kind.
fn flow(store: &PipelineStore, info: &KindInfo) -> Stage {
    let own = match info.plastic {
        Some(Measure::Angle) => include_str!("../../shaders/schedule/flow/angle.wgsl"),
        Some(Measure::Stretch) => include_str!("../../shaders/schedule/flow/stretch.wgsl"),
        Some(Measure::Rotation) => include_str!("../../shaders/schedule/flow/rotation.wgsl"),
        _ => include_str!("../../shaders/schedule/flow/length.wgsl"),
    };
    let joints = info.plastic == Some(Measure::Rotation);
    let constants = format!("{}const JOINTS = {joints};\n", constants(info));
    let text = [info.shader, own, include_str!("../../shaders/schedule/flow.wgsl"), RECORD, &constants].join("\n");
    Stage::new(store, &format!("flow_{}", info.name), "flow", &unrolled(&text, &loops(info)), &FLOW, &[])
}

/// Iterations of the loops of a kind with a fixed number of particles.
pub(super) fn loops(info: &KindInfo) -> [(&'static str, usize); 2] {
    [("ARITY", info.arity), ("ROWS", info.record_words / 4)]
}

/// The constants of a kind's descriptor.
pub(super) fn constants(info: &KindInfo) -> String {
    format!(
        "const ARITY = {}u;\nconst POINTS = {}u;\nconst ROWS = {}u;\nconst LAMBDAS = {}u;\nconst UNIT_GRADIENTS = {};\nconst UNILATERAL = {};\nconst OVER_RELAXED = {};\n",
        info.arity,
        info.point_count(),
        info.record_words / 4,
        info.lambda_count(),
        info.unit_gradients,
        info.unilateral,
        info.over_relaxed
    )
}

/// The text that turns C and ∇C into impulses.
pub(super) fn impulses(info: &KindInfo) -> &'static str {
    match info.function {
        Function::Components(_) => concat!(
            include_str!("../../shaders/schedule/projection/components.wgsl"),
            include_str!("../../shaders/schedule/projection/delta_lambdas.wgsl")
        ),
        Function::Vector(_) => concat!(
            include_str!("../../shaders/schedule/projection/vector.wgsl"),
            include_str!("../../shaders/schedule/projection/delta_lambdas.wgsl"),
            include_str!("../../shaders/schedule/projection/placed.wgsl")
        ),
        _ => concat!(
            include_str!("../../shaders/schedule/projection/scalar.wgsl"),
            include_str!("../../shaders/schedule/projection/placed.wgsl")
        ),
    }
}
