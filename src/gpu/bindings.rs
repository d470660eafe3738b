//! The bind groups of all passes.

use super::buffers::Buffers;
use super::passes::PASSES;
use super::pipelines::Pipelines;
use super::stage::Stage;
use crate::schedule::chains::chain_kinds;

#[derive(Debug)]
pub(super) struct Bindings {
    /// In the order of [`PASSES`]; `None` if the pass is not compiled.
    pub fixed: Vec<Option<wgpu::BindGroup>>,
    /// By which of the two buffers of anchors is read.
    pub tethered: Option<[wgpu::BindGroup; 2]>,
    pub kinds: Vec<KindBindings>,
    pub chains: Option<wgpu::BindGroup>,
}

#[derive(Debug)]
pub(super) struct KindBindings {
    /// By [`super::pipelines::Projection`].
    pub projections: [Option<wgpu::BindGroup>; 6],
    /// Of the pass that clears the sums of λ, and of the one that adds to them.
    pub force_sums: Option<[wgpu::BindGroup; 2]>,
    /// Of the flow of plastic constraints.
    pub flow: Option<wgpu::BindGroup>,
    /// Of both passes of [`Pipelines::gather`].
    pub gather: Option<[wgpu::BindGroup; 2]>,
}

impl Bindings {
    pub fn new(device: &wgpu::Device, pipelines: &Pipelines, buffers: &Buffers) -> Self {
        let b = buffers;
        let fixed = PASSES.iter().zip(&pipelines.fixed).map(|(info, stage)| {
            let bound: Vec<&wgpu::Buffer> = info.bindings.iter().map(|(_, select)| select(b)).collect();
            Some(stage.as_ref()?.bind(device, &bound))
        });
        let tethered = |stage: &Stage, side: usize| {
            let motion = [&b.params, &b.positions, &b.displacements, &b.residuals];
            let own = [&b.tether_runs, &b.tethers, &b.anchors[side], &b.anchors[1 - side]];
            stage.bind(device, &[motion, own].concat())
        };
        Self {
            fixed: fixed.collect(),
            tethered: pipelines.tethered.as_ref().map(|tether| [0, 1].map(|side| tethered(&tether.stage, side))),
            kinds: (0..b.kinds.len()).map(|kind| KindBindings::new(device, pipelines, b, kind)).collect(),
            chains: pipelines
                .chains
                .as_ref()
                .map(|stage| b.chains.bind(stage, device, [&b.spans, &b.positions, &b.displacements], &b.kinds)),
        }
    }
}

impl KindBindings {
    fn new(device: &wgpu::Device, pipelines: &Pipelines, b: &Buffers, place: usize) -> Self {
        let (stages, own) = (&pipelines.kinds[place], &b.kinds[place]);
        let shared = [&b.positions, &b.displacements, &own.records, &b.materials, &own.lambdas];
        let group = [&own.members, &own.impulses, &own.rotations];
        let chained = [&own.links_of, &b.chains.links];
        let more: [&[&wgpu::Buffer]; 6] = [
            &[],
            &[&own.trees[0], &own.trees[1]],
            &[&own.tiles],
            &[&own.clusters],
            &[&own.shares, &own.impulses],
            &chained,
        ];
        let projections = std::array::from_fn(|place| {
            let more = if own.is_group { &group } else { more[place] };
            let bound = [&shared[..], more].concat();
            stages.stages[place].as_ref().map(|stage| stage.bind_span(device, &b.spans, &bound))
        });
        let gather = [&b.positions, &b.displacements, &own.impulses, &own.slots, &own.chunks, &own.sums, &own.hubs];
        let sums = pipelines.force_sums.as_ref().zip(own.force_sums.as_ref());
        let [rows, states] = &own.plastic;
        // Segments do not read the states of segments, which are their own.
        let [joints, segments] = chain_kinds();
        let of_segments = &b.kinds[if place == joints { segments } else { joints }].plastic[1];
        let flow = [&b.positions, &own.records, rows, states, &b.params, of_segments];
        Self {
            projections,
            flow: stages.flow.as_ref().map(|stage| stage.bind_span(device, &b.spans, &flow)),
            force_sums: sums
                .map(|([clear, add], sum)| [clear.bind(device, &[sum]), add.bind(device, &[sum, &own.lambdas])]),
            gather: pipelines
                .gather
                .as_ref()
                .map(|stages| stages.each_ref().map(|stage| stage.bind_span(device, &b.spans, &gather))),
        }
    }
}
