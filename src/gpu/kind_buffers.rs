//! The buffers of the constraints of one kind.

use super::buffers::{SpanRow, sizes};
use super::chains::ChainBuffers;
use super::maker::Maker;
use super::pipelines::Projection;

use super::stage::SPAN_STRIDE;
use crate::constraints::plasticity::PlasticState;
use crate::error::Result;
use crate::schedule::chains::chain_kinds;
use crate::schedule::coloring::Span;
use crate::schedule::compiled_kind::CompiledKind;
use crate::sim::controls::Controls;
use wgpu::BufferUsages;

/// `vec4` rows of a node of a tree.
pub(super) const TREE_ROWS: u64 = 9;

/// Which multipliers are kept.
#[derive(Debug, Clone, Copy)]
struct KeptLambdas {
    /// λ of the last substep.
    lambdas: bool,
    /// Their sums over the substeps of a step.
    sums: bool,
}

#[derive(Debug)]
pub(super) struct KindBuffers {
    pub records: wgpu::Buffer,
    /// Of trees: rows and state of their nodes.
    pub trees: [wgpu::Buffer; 2],
    pub tiles: wgpu::Buffer,
    pub clusters: wgpu::Buffer,
    pub lambdas: wgpu::Buffer,
    pub force_sums: Option<wgpu::Buffer>,
    pub shares: wgpu::Buffer,
    pub impulses: wgpu::Buffer,
    pub slots: wgpu::Buffer,
    pub chunks: wgpu::Buffer,
    pub sums: wgpu::Buffer,
    pub hubs: wgpu::Buffer,
    /// Of groups.
    pub members: wgpu::Buffer,
    pub rotations: wgpu::Buffer,
    /// Of plastic constraints: rows and states.
    pub plastic: [wgpu::Buffer; 2],
    /// By record, the link of a chain of rods.
    pub links_of: wgpu::Buffer,
    pub is_group: bool,
    /// The first row of each projection in `spans`, by [`Projection`]; two rows each colour, phase or layer: first iteration, later ones.
    projection_rows: [u32; 6],
    /// The row of the chunks in `spans`; that of the hubs follows.
    gather_row: u32,
}

impl KindBuffers {
    /// The buffers of one kind; appends its rows to `spans`.
    fn new(
        queue: &wgpu::Queue,
        maker: &Maker<'_>,
        (kind, links_of, chained): (&CompiledKind, &[u32], &[Span]),
        kept: KeptLambdas,
        spans: &mut Vec<SpanRow>,
    ) -> Result<Self> {
        let (projection_rows, gather_row) = Self::push_rows(kind, chained, spans);
        let (split, is_group, storage) = (&kind.split, kind.info.is_group(), BufferUsages::STORAGE);
        let label = |part: &str| format!("{part}.{}", kind.info.name);
        let empty = |part: &str, bytes: u64| maker.empty(&label(part), bytes, storage);
        let impulse_rows = kind.impulse_count() as u64 * if is_group { 2 } else { 1 };
        let records = if kind.needs_records() { kind.records.as_slice() } else { &[] };
        let lambda_bytes = if kept.lambdas { kind.lambda_count() as u64 * 4 } else { 0 };
        let sums = kept.sums && kind.len() > 0;
        Ok(Self {
            records: maker.filled(queue, &label("records"), records, storage)?,
            trees: [
                maker.filled(queue, &label("trees"), &[&kind.trees.rows[..], &kind.trees.nodes].concat(), storage)?,
                empty("tree_nodes", 16 * TREE_ROWS * kind.trees.nodes.len() as u64)?,
            ],
            tiles: maker.filled(queue, &label("tiles"), &kind.tiling.words(), storage)?,
            clusters: maker.filled(queue, &label("clusters"), &kind.clustering.words, storage)?,
            lambdas: empty("lambdas", lambda_bytes)?,
            force_sums: sums.then(|| empty("force_sums", lambda_bytes)).transpose()?,
            shares: maker.filled(queue, &label("shares"), &split.shares, storage)?,
            // Of groups also the sum of the impulses of each member, behind them.
            impulses: empty("impulses", impulse_rows * 16)?,
            slots: maker.filled(queue, &label("slots"), &split.slots, storage)?,
            chunks: maker.filled(queue, &label("chunks"), &split.chunks, storage)?,
            sums: empty("sums", split.chunks.len() as u64 * 16)?,
            hubs: maker.filled(queue, &label("hubs"), &split.hubs, storage)?,
            members: maker.filled(queue, &label("members"), &kind.rows, storage)?,
            rotations: empty("rotations", if is_group { kind.len() as u64 * 16 } else { 0 })?,
            plastic: [
                maker.filled(queue, &label("plastic_rows"), &kind.plastic, storage)?,
                empty("plastic_states", size_of::<PlasticState>() as u64 * kind.plastic.len() as u64)?,
            ],
            links_of: maker.filled(queue, &label("links_of"), links_of, storage)?,
            is_group,
            projection_rows,
            gather_row,
        })
    }

    /// The dynamic offset of a colour, phase or layer of a projection.
    pub fn offset(&self, projection: Projection, index: u32, first_iteration: bool) -> u32 {
        (self.projection_rows[projection as usize] + 2 * index + u32::from(!first_iteration)) * SPAN_STRIDE
    }

    /// The dynamic offsets of the chunks and of the hubs.
    pub fn gather_offsets(&self) -> [u32; 2] {
        [self.gather_row * SPAN_STRIDE, (self.gather_row + 1) * SPAN_STRIDE]
    }

    /// Size of all of them [bytes]. It names every field, so that one that is added does not compile before it is counted.
    pub fn bytes(&self) -> u64 {
        let Self {
            records,
            trees: [trees, tree_nodes],
            tiles,
            clusters,
            lambdas,
            force_sums,
            shares,
            impulses,
            slots,
            chunks,
            sums,
            hubs,
            members,
            rotations,
            plastic: [plastic_rows, plastic_states],
            links_of,
            is_group: _,
            projection_rows: _,
            gather_row: _,
        } = self;
        let always = sizes(&[
            records,
            trees,
            tree_nodes,
            tiles,
            clusters,
            lambdas,
            shares,
            impulses,
            slots,
            chunks,
            sums,
            hubs,
            members,
            rotations,
            plastic_rows,
            plastic_states,
            links_of,
        ]);
        always + force_sums.as_ref().map_or(0, wgpu::Buffer::size)
    }

    /// Appends the rows of a kind to `spans`; returns the first row of each projection, and that of the chunks.
    fn push_rows(kind: &CompiledKind, chained: &[Span], spans: &mut Vec<SpanRow>) -> ([u32; 6], u32) {
        let row = |first, count, first_iteration| SpanRow { first, count, first_iteration, zero: 0 };
        let split = [kind.split.span];
        let projections: [&[Span]; 6] =
            [&kind.coloring.colors, &kind.trees.colors, &kind.tiling.phases, &kind.clustering.layers, &split, chained];
        let firsts = projections.map(|own| {
            let first = spans.len() as u32;
            spans.extend(own.iter().flat_map(|span| [1, 0].map(|flag| row(span.first, span.count, flag))));
            first
        });
        let gather_row = spans.len() as u32;
        spans.push(row(0, kind.split.chunks.len() as u32, 0));
        spans.push(row(0, kind.split.hubs.len() as u32, 0));
        (firsts, gather_row)
    }
}

/// The buffers of all kinds and of chains, and the uniform rows of the spans that their dispatches work on.
pub(super) fn make_kinds(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    controls: &Controls,
    keep_lambdas: bool,
) -> Result<(Vec<KindBuffers>, ChainBuffers, wgpu::Buffer)> {
    let (maker, mut spans) = (Maker::new(device), Vec::new());
    let kept = KeptLambdas { lambdas: keep_lambdas, sums: controls.settings.mean_forces };
    let (kinds, own) = (controls.compiled.kinds.iter().enumerate(), &controls.compiled.chains);
    let chained = |kind| match chain_kinds().iter().position(|own| *own == kind) {
        Some(kind) => (own.links_of[kind].as_slice(), own.records[kind].as_slice()),
        None => Default::default(),
    };
    let kinds = kinds
        .map(|(index, kind)| {
            let (links_of, records) = chained(index);
            KindBuffers::new(queue, &maker, (kind, links_of, records), kept, &mut spans)
        })
        .collect::<Result<Vec<_>>>()?;
    let chains = ChainBuffers::new(queue, &maker, own, &mut spans)?;
    Ok((kinds, chains, maker.rows(queue, "spans", &spans)?))
}

/// The records of a kind, which tiles do not need until a constraint is changed.
pub(super) fn make_records(device: &wgpu::Device, queue: &wgpu::Queue, kind: &CompiledKind) -> Result<wgpu::Buffer> {
    let label = format!("records.{}", kind.info.name);
    Maker::new(device).filled(queue, &label, &kind.records, BufferUsages::STORAGE)
}
