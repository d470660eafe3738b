//! The compute pipelines: one a pass, made of the pass's own text and the prelude.
//!
//! A projection is made of three: the kind's C and ∇C, the pass that all kinds share, the prelude; and of the constants of the
//! kind's descriptor.

use super::unroll::unrolled;
use super::{tiles, whole};
use crate::controls::Controls;
use crate::cooked::{Cooked, CookedKind};
use crate::kinds::{Function, KindInfo, group};
use crate::patches;
use crate::plan::FEW_PINS;
use crate::stars::{LEAF_FACTOR, LEAST_LEAF};

/// Threads in a workgroup, where a pass has no other number; the default of `WORKGROUP_SIZE` in the prelude follows it.
pub(super) const WORKGROUP_SIZE: u32 = 128;

/// The constant of the shaders by which a pass has another.
pub(super) const SIZE: &str = "WORKGROUP_SIZE";

/// Bytes from one row of the span buffer to the next: the alignment that dynamic offsets need everywhere.
pub(super) const SPAN_STRIDE: u32 = 256;

pub(super) const PRELUDE: &str = concat!(
    include_str!("../../shaders/prelude/params.wgsl"),
    include_str!("../../shaders/prelude/xpbd.wgsl"),
    include_str!("../../shaders/prelude/contacts.wgsl"),
    include_str!("../../shaders/prelude/pair.wgsl"),
    include_str!("../../shaders/prelude/crossing.wgsl"),
    include_str!("../../shaders/prelude/particle.wgsl"),
);

/// How projections read a record, but for those of tiles.
pub(super) const RECORD: &str = include_str!("../../shaders/project/record.wgsl");

/// How a pass sees a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Uniform,
    /// A row of the span buffer, by dynamic offset.
    Span,
    Read,
    Write,
}

use Slot::{Read, Span, Uniform, Write};

/// A pipeline and the layout of its one bind group.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    pub name: String,
    pub pipeline: wgpu::ComputePipeline,
    pub layout: wgpu::BindGroupLayout,
    /// Threads in a workgroup.
    pub workgroup_size: u32,
}

#[derive(Debug)]
pub(super) struct Pipelines {
    pub targets: Stage,
    pub start: Stage,
    pub accelerations: Stage,
    pub body_damping: Stage,
    pub follow: Stage,
    pub predict: Stage,
    pub velocities: Velocities,
    pub finish: Stage,
    pub tether: Stage,
    pub normals: Stage,
    pub gather_chunks: Stage,
    pub gather_hubs: Stage,
    /// Of whole bodies; `None` where they are not.
    pub whole: Option<Stage>,
    /// In the order of [`crate::kinds::KINDS`].
    pub kinds: Vec<KindStages>,
}

/// The passes of `shaders/velocity.wgsl`.
#[derive(Debug, Clone)]
pub(super) struct Velocities {
    made_for: VelocityConstants,
    pub velocity: Stage,
    pub advance: Stage,
    /// AdvanceTethered or AdvanceFree, and AdvancePinned; `None` where nothing is tethered.
    pub advance_tethered: Option<[Stage; 2]>,
}

/// What the passes are made for, which may change while the solver runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct VelocityConstants {
    /// Pins that are kept in a uniform buffer too: a power of two, so that the passes seldom have to be made anew; or 0, by which
    /// AdvanceTethered becomes AdvanceFree and reads the pins where they lie.
    anchors: u32,
}

impl VelocityConstants {
    fn new(controls: &Controls) -> Self {
        let pin_count = controls.pins.len();
        let few = controls.cooked.most_tethers > 0 && pin_count <= FEW_PINS;
        let anchors = if few { pin_count.max(1).next_power_of_two() as u32 } else { 0 };
        Self { anchors }
    }

    /// What is needed now, and what has been as long as it does no harm.
    fn with(self, before: Self) -> Self {
        let anchors = if self.anchors == 0 { 0 } else { self.anchors.max(before.anchors) };
        Self { anchors }
    }

    fn stage(self, device: &wgpu::Device, controls: &Controls, entry: &str, slots: &[Slot]) -> Stage {
        let (most_tethers, rows) = (controls.cooked.most_tethers, controls.cooked.tether_rows());
        let constants = [
            ("MOST_TETHERS", f64::from(most_tethers)),
            ("TETHER_ROWS", f64::from(rows)),
            ("ALL_TETHERED", f64::from(u8::from(controls.cooked.all_tethered))),
            ("ANCHORS", f64::from(self.anchors)),
        ];
        let loops = [("TETHER_ROWS", rows as usize), ("ANCHORS", self.anchors as usize)];
        let text = unrolled(include_str!("../../shaders/velocity.wgsl"), &loops);
        Stage::new(device, entry, entry, &text, slots, &constants)
    }
}

/// The ways to project a kind. `None` where a scene does not need it: compiling takes longer than cooking.
#[derive(Debug)]
pub(super) struct KindStages {
    pub project: Option<Stage>,
    pub stars: Option<Stage>,
    pub tile: Option<Stage>,
    pub patch: Option<Stage>,
    pub split: Option<Stage>,
    /// Whether a workgroup solves a constraint, not a thread.
    pub wide: bool,
}

/// The bindings of a projection, and what stars, tiles, patches and splits have on top: span, positions, displacements, records, materials, λ;
/// stars, tiles or patches; shares, impulses.
const PROJECT: [Slot; 6] = [Span, Read, Write, Read, Read, Write];
const CLUSTERED: [Slot; 7] = [Span, Read, Write, Read, Read, Write, Read];
const SPLIT: [Slot; 8] = [Span, Read, Write, Read, Read, Write, Read, Write];
/// Of what ends a substep: params, positions, displacements, residuals.
const MOTION: [Slot; 4] = [Uniform, Write, Write, Write];
/// Of what is tethered: the same four; runs, tethers, anchors, those of the next substep.
const TETHERED: [Slot; 8] = [Uniform, Write, Write, Write, Read, Read, Uniform, Write];
/// Of its pins: the same four; pins.
const PINNED: [Slot; 5] = [Uniform, Write, Write, Write, Read];
/// Of whole bodies: schedule, params, positions, displacements, residuals; batches, records, λ, materials.
const WHOLE: [Slot; 9] = [Span, Uniform, Write, Write, Write, Read, Read, Write, Read];
/// Of groups: span, positions, displacements, records, materials, λ; members, impulses, rotations.
const GROUP: [Slot; 9] = [Span, Read, Write, Read, Read, Write, Read, Write, Write];

impl Pipelines {
    pub fn new(device: &wgpu::Device, controls: &Controls, keep_lambdas: bool) -> Self {
        let cooked = &controls.cooked;
        let stage = |entry: &str, text: &str, slots: &[Slot]| Stage::new(device, entry, entry, text, slots, &[]);
        let gather = include_str!("../../shaders/gather.wgsl");
        Self {
            targets: stage("targets", include_str!("../../shaders/targets.wgsl"), &[Uniform, Read, Read, Write]),
            start: stage("start", include_str!("../../shaders/start.wgsl"), &[Uniform, Write, Write, Write, Write]),
            accelerations: stage(
                "accelerations",
                concat!(
                    include_str!("../../shaders/accelerations.wgsl"),
                    include_str!("../../shaders/shared/rings.wgsl"),
                    include_str!("../../shaders/shared/air.wgsl")
                ),
                &[Uniform, Read, Read, Read, Read, Write, Write, Read],
            ),
            body_damping: stage(
                "body_damping",
                concat!(
                    include_str!("../../shaders/body_damping.wgsl"),
                    include_str!("../../shaders/shared/rigid_motion.wgsl")
                ),
                &[Uniform, Read, Write, Read],
            ),
            follow: stage(
                "follow",
                include_str!("../../shaders/follow.wgsl"),
                &[Uniform, Write, Write, Read, Write, Write],
            ),
            predict: stage("predict", include_str!("../../shaders/predict.wgsl"), &[Uniform, Read, Read, Write, Write]),
            velocities: Velocities::new(device, controls),
            finish: stage(
                "finish",
                concat!(include_str!("../../shaders/finish.wgsl"), include_str!("../../shaders/shared/held.wgsl")),
                &[Uniform, Read, Write, Write, Write],
            ),
            tether: stage(
                "tether",
                include_str!("../../shaders/tether.wgsl"),
                &[Uniform, Read, Write, Read, Read, Read, Write, Write],
            ),
            normals: stage(
                "normals",
                concat!(
                    include_str!("../../shaders/normals.wgsl"),
                    include_str!("../../shaders/shared/rings.wgsl"),
                    include_str!("../../shaders/shared/normal.wgsl")
                ),
                &[Uniform, Read, Read, Read, Write],
            ),
            gather_chunks: stage("gather_chunks", gather, &[Span, Read, Write, Read, Read, Read, Write, Read]),
            gather_hubs: stage("gather_hubs", gather, &[Span, Read, Write, Read, Read, Read, Write, Read]),
            whole: Self::make_whole(device, controls, keep_lambdas),
            kinds: Self::make_kinds(device, cooked, keep_lambdas),
        }
    }
}

impl Pipelines {
    /// The pass that plays whole bodies.
    pub fn make_whole(device: &wgpu::Device, controls: &Controls, keep_lambdas: bool) -> Option<Stage> {
        let whole = controls.cooked.whole.as_ref()?;
        let text = whole::pass(whole, keep_lambdas);
        let constants =
            [("KEEP_LAMBDA", f64::from(u8::from(keep_lambdas))), (SIZE, whole::lanes(device, whole, controls) as f64)];
        Some(Stage::new(device, whole::ENTRY, whole::ENTRY, &text, &WHOLE, &constants))
    }

    pub fn make_kinds(device: &wgpu::Device, cooked: &Cooked, keep_lambdas: bool) -> Vec<KindStages> {
        cooked.kinds.iter().map(|kind| KindStages::new(device, kind, keep_lambdas)).collect()
    }
}

impl Velocities {
    fn new(device: &wgpu::Device, controls: &Controls) -> Self {
        Self::made_for(device, controls, VelocityConstants::new(controls))
    }

    fn made_for(device: &wgpu::Device, controls: &Controls, made_for: VelocityConstants) -> Self {
        let stage = |entry: &str, slots: &[Slot]| made_for.stage(device, controls, entry, slots);
        Self {
            made_for,
            velocity: stage("velocity", &MOTION),
            advance: stage("velocity_predict", &MOTION),
            advance_tethered: (controls.cooked.most_tethers > 0)
                .then(|| [stage("velocity_tether", &TETHERED), stage("velocity_pinned", &PINNED)]),
        }
    }

    /// Others, where these do not do for what has changed.
    pub fn refitted(&self, device: &wgpu::Device, controls: &Controls) -> Option<Self> {
        let needed = VelocityConstants::new(controls).with(self.made_for);
        if needed == self.made_for {
            return None;
        }
        // But one, none knows of anchors.
        let mut others = Self { made_for: needed, ..self.clone() };
        if let Some([advance_free, _]) = &mut others.advance_tethered {
            *advance_free = needed.stage(device, controls, "velocity_tether", &TETHERED);
        }
        Some(others)
    }
}

impl KindStages {
    pub fn new(device: &wgpu::Device, kind: &CookedKind, keep_lambdas: bool) -> Self {
        let (info, wide) = (kind.info, kind.lanes > 1);
        let pass = if info.is_group() {
            include_str!("../../shaders/project_group.wgsl")
        } else {
            include_str!("../../shaders/project.wgsl")
        };
        let stage = |entry: &str, pass: &str, slots: &[Slot]| {
            let record = if entry == tiles::ENTRY || info.is_group() { "" } else { RECORD };
            let text = unrolled(&(projection(info, pass) + record), &loops(info));
            let name = format!("{entry}_{}", info.name);
            let entry = if wide { format!("{entry}_wide") } else { entry.to_owned() };
            let slots = if info.is_group() { GROUP.as_slice() } else { slots };
            let size = if entry == tiles::ENTRY { tiles::WORKGROUP_SIZE } else { WORKGROUP_SIZE };
            let constants = [("KEEP_LAMBDA", f64::from(u8::from(keep_lambdas))), (SIZE, f64::from(size))];
            Stage::new(device, &name, &entry, &text, slots, &constants)
        };
        Self {
            project: kind.has_colors().then(|| stage("project", pass, &PROJECT)),
            stars: (!kind.stars.is_empty())
                .then(|| stage("project_stars", include_str!("../../shaders/project_stars.wgsl"), &CLUSTERED)),
            tile: kind
                .has_tiles()
                .then(|| stage(tiles::ENTRY, &tiles::pass(info, &kind.tiling, keep_lambdas), &CLUSTERED)),
            patch: kind
                .has_patches()
                .then(|| stage("project_patch", include_str!("../../shaders/project_patch.wgsl"), &CLUSTERED)),
            split: (kind.split.span.count > 0).then(|| stage("split", pass, &SPLIT)),
            wide,
        }
    }
}

/// The text of a pass that projects constraints of a kind, without the prelude.
fn projection(info: &KindInfo, pass: &str) -> String {
    if info.is_group() {
        let constants = format!(
            "const LANES = {}u;\nconst ROTATION_STEPS = {}u;\nconst PIN_WEIGHT = {:?};\n",
            group::LANES,
            group::ROTATION_STEPS,
            group::PIN_WEIGHT
        );
        return [info.shader, pass, &constants].join("\n");
    }
    let constants = format!(
        "{}const MOST_PARTICLES = {}u;\nconst LEAF_FACTOR = {LEAF_FACTOR:?};\nconst LEAST_LEAF = {LEAST_LEAF:?};\n",
        constants(info),
        patches::MOST_PARTICLES
    );
    [info.shader, impulses(info), pass, include_str!("../../shaders/project/bindings.wgsl"), &constants].join("\n")
}

/// How often the loops of a kind with a fixed number of particles turn.
pub(super) fn loops(info: &KindInfo) -> [(&'static str, usize); 2] {
    [("ARITY", info.arity), ("ROWS", info.record_words / 4)]
}

/// The constants of a kind's descriptor.
pub(super) fn constants(info: &KindInfo) -> String {
    format!(
        "const ARITY = {}u;\nconst ROWS = {}u;\nconst LAMBDAS = {}u;\nconst UNIT_GRADIENTS = {};\nconst UNILATERAL = {};\n",
        info.arity,
        info.record_words / 4,
        info.lambda_count(),
        info.unit_gradients,
        info.unilateral
    )
}

/// What makes impulses of C and ∇C.
pub(super) fn impulses(info: &KindInfo) -> &'static str {
    match info.function {
        Function::Vector(_) => include_str!("../../shaders/project/vector.wgsl"),
        _ => include_str!("../../shaders/project/scalar.wgsl"),
    }
}

impl Stage {
    pub fn new(
        device: &wgpu::Device,
        name: &str,
        entry: &str,
        text: &str,
        slots: &[Slot],
        constants: &[(&str, f64)],
    ) -> Self {
        let name = format!("supple.{name}");
        let entries: Vec<_> = (0..).zip(slots).map(|(binding, &slot)| layout_entry(binding, slot)).collect();
        let layout =
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(&name), entries: &entries });
        // The pass stands first, so that the line numbers in errors are those of its file.
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(&name),
            source: wgpu::ShaderSource::Wgsl(format!("{text}\n{PRELUDE}").into()),
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(&name),
            bind_group_layouts: &[Some(&layout)],
            ..Default::default()
        });
        let size = constants.iter().find(|(name, _)| *name == SIZE).map(|&(_, size)| size as u32);
        let own = size.is_none().then_some((SIZE, f64::from(WORKGROUP_SIZE)));
        let constants: Vec<_> = constants.iter().copied().chain(own).collect();
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(&name),
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &constants,
                // Whatever lies in workgroup memory is written before it is read.
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        });
        Self { name, pipeline, layout, workgroup_size: size.unwrap_or(WORKGROUP_SIZE) }
    }

    /// Binds buffers to the slots, in order.
    pub fn bind(&self, device: &wgpu::Device, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        self.bind_entries(device, &entries)
    }

    /// The same, where slot 0 is a row of the span buffer.
    pub fn bind_span(&self, device: &wgpu::Device, spans: &wgpu::Buffer, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let row = wgpu::BufferBinding { buffer: spans, offset: 0, size: wgpu::BufferSize::new(16) };
        let mut entries = vec![wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(row) }];
        entries.extend(
            (1..)
                .zip(buffers)
                .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }),
        );
        self.bind_entries(device, &entries)
    }

    fn bind_entries(&self, device: &wgpu::Device, entries: &[wgpu::BindGroupEntry]) -> wgpu::BindGroup {
        let (label, layout) = (Some(self.name.as_str()), &self.layout);
        device.create_bind_group(&wgpu::BindGroupDescriptor { label, layout, entries })
    }
}

fn layout_entry(binding: u32, slot: Slot) -> wgpu::BindGroupLayoutEntry {
    let ty = match slot {
        Uniform | Span => wgpu::BufferBindingType::Uniform,
        Read | Write => wgpu::BufferBindingType::Storage { read_only: slot == Read },
    };
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: slot == Span, min_binding_size: None },
        count: None,
    }
}
