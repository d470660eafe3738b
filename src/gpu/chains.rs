//! Buffers and the pipeline of the chains of rods (`src/schedule/chains.rs`).

use super::buffers::{SpanRow, sizes};
use super::kind_buffers::KindBuffers;
use super::maker::Maker;
use super::shader::unrolled;
use super::stage::Slot::{Read, Span, Write};
use super::stage::{SIZE, SPAN_STRIDE, Slot, Stage, flag};
use super::store::PipelineStore;
use crate::error::Result;
use crate::schedule::chains::{Chains, LEAST_COMPLIANCE, LEAST_INVERSE_INERTIA, MOST_ROTATION, SOLVES, chain_kinds};
use crate::schedule::compiled::CompiledScene;
use wgpu::BufferUsages;

/// `vec4` rows of a link, and of its blocks of the factorization. With two buffers, twice as many rods fit in the 128 MiB that WebGPU guarantees
/// for a binding.
const LINK_ROWS: u64 = 11;
const FACTOR_ROWS: u64 = 10;

/// Bytes of a link in the larger of the two buffers.
pub(super) const LINK_BYTES: u64 = 16 * LINK_ROWS;

/// Threads of a workgroup: a scene has few chains, and small workgroups distribute them over more compute units.
const WORKGROUP_SIZE: u32 = 32;

/// Span, positions, displacements, chains, rows of links, links, factors, λ of joints, λ of segments.
const SLOTS: [Slot; 9] = [Span, Read, Write, Read, Read, Read, Write, Write, Write];

/// The constants of the passes of chains.
pub(super) fn constants() -> String {
    let counts = [("LINK_ROWS", LINK_ROWS), ("FACTOR_ROWS", FACTOR_ROWS), ("SOLVES", SOLVES.into())];
    let numbers = [
        ("MOST_ROTATION", MOST_ROTATION),
        ("LEAST_INVERSE_INERTIA", LEAST_INVERSE_INERTIA),
        ("LEAST_COMPLIANCE", LEAST_COMPLIANCE),
    ];
    let counts = counts.map(|(name, value)| format!("const {name} = {value}u;\n"));
    counts.concat() + &numbers.map(|(name, value)| format!("const {name} = {value:?}f;\n")).concat()
}

#[derive(Debug)]
pub(super) struct ChainBuffers {
    pub chains: wgpu::Buffer,
    pub rows: wgpu::Buffer,
    pub links: wgpu::Buffer,
    pub factors: wgpu::Buffer,
    /// The first row of its spans: two per colour, for the first iteration and for later ones.
    first_span: u32,
}

impl ChainBuffers {
    /// Appends its rows to `spans`.
    pub fn new(queue: &wgpu::Queue, maker: &Maker<'_>, own: &Chains, spans: &mut Vec<SpanRow>) -> Result<Self> {
        let storage = BufferUsages::STORAGE;
        let first_span = spans.len() as u32;
        let row = |span: &crate::schedule::coloring::Span, first_iteration| SpanRow {
            first: span.first,
            count: span.count,
            first_iteration,
            zero: 0,
        };
        spans.extend(own.colors.iter().flat_map(|span| [1, 0].map(|flag| row(span, flag))));
        Ok(Self {
            chains: maker.filled(queue, "chains", &own.chains, storage)?,
            rows: maker.filled(queue, "chain_rows", &own.links, storage)?,
            links: maker.empty("chain_links", own.links.len() as u64 * LINK_BYTES, storage)?,
            factors: maker.empty("chain_factors", own.links.len() as u64 * 16 * FACTOR_ROWS, storage)?,
            first_span,
        })
    }

    /// The dynamic offset of a colour.
    pub fn offset(&self, color: u32, first_iteration: bool) -> u32 {
        (self.first_span + 2 * color + u32::from(!first_iteration)) * SPAN_STRIDE
    }

    /// Size of all of them [bytes].
    pub fn bytes(&self) -> u64 {
        sizes(&[&self.chains, &self.rows, &self.links, &self.factors])
    }

    pub fn bind(
        &self,
        stage: &Stage,
        device: &wgpu::Device,
        motion: [&wgpu::Buffer; 3],
        kinds: &[KindBuffers],
    ) -> wgpu::BindGroup {
        let [spans, positions, displacements] = motion;
        let [joints, segments] = chain_kinds().map(|kind| &kinds[kind].lambdas);
        let bound = [positions, displacements, &self.chains, &self.rows, &self.links, &self.factors, joints, segments];
        stage.bind_span(device, spans, &bound)
    }
}

/// The pass that solves chains; `None` for a scene without chains.
pub(super) fn stage(store: &PipelineStore, compiled: &CompiledScene, keep_lambdas: bool) -> Option<Stage> {
    let text = constants() + include_str!("../../shaders/schedule/solve_chains.wgsl");
    let text = unrolled(&text, &[("AXES", 3), ("ENTITIES", 3)]);
    let constants = [("KEEP_LAMBDA", flag(keep_lambdas)), (SIZE, f64::from(WORKGROUP_SIZE))];
    let name = "solve_chains";
    (!compiled.chains.chains.is_empty()).then(|| Stage::new(store, name, name, &text, &SLOTS, &constants))
}
