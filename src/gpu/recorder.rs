//! Records the dispatches of a step as one compute pass.

use super::bindings::KindBindings;
use super::contacts::{Bound, Size};
use super::pipelines::{KindStages, Projection};
use super::stage::Stage;

/// The limit of WebGPU on the workgroups of a dispatch along one axis.
pub(super) const MAX_WORKGROUPS_PER_AXIS: u32 = 65_535;

/// A compute pass, and the pipeline that is set in it.
pub(super) struct Recorder<'a> {
    pass: wgpu::ComputePass<'a>,
    last: Option<&'a Stage>,
    pub ping_pong: PingPong,
}

/// Ping-pong indices: which of two buffers the next pass reads.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PingPong {
    /// Of the positions of pins that tethers read; each pass writes the other.
    pub anchors: usize,
}

impl<'a> Recorder<'a> {
    pub fn new(
        encoder: &'a mut wgpu::CommandEncoder,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) -> Self {
        let descriptor = wgpu::ComputePassDescriptor { label: Some("supple.step"), timestamp_writes };
        Self { pass: encoder.begin_compute_pass(&descriptor), last: None, ping_pong: PingPong::default() }
    }

    pub fn dispatch(&mut self, stage: &'a Stage, bindings: &wgpu::BindGroup, offsets: &[u32], threads: u32) {
        self.dispatch_workgroups(stage, bindings, offsets, threads.div_ceil(stage.workgroup_size));
    }

    /// Dispatches a projection of one kind. `offset` is the byte offset of its row in the span buffer; `count` is the number
    /// of constraints, trees, tiles or clusters.
    pub fn dispatch_kind(
        &mut self,
        stages: &'a KindStages,
        projection: Projection,
        bindings: &KindBindings,
        offset: u32,
        count: u32,
    ) {
        if count == 0 {
            return;
        }
        let index = projection as usize;
        let (Some(stage), Some(bindings)) = (&stages.stages[index], &bindings.projections[index]) else {
            debug_assert!(false, "{projection:?} is in the plan, but not compiled");
            return;
        };
        let is_workgroup_each = stages.wide || projection == Projection::Clusters;
        let workgroups = if is_workgroup_each { count } else { count.div_ceil(stage.workgroup_size) };
        self.dispatch_workgroups(stage, bindings, &[offset], workgroups);
    }

    pub fn dispatch_sized(&mut self, bound: &'a Bound, size: Size<'_>) {
        let Bound { stage, bindings, .. } = bound;
        match size {
            Size::Threads(threads) => self.dispatch(stage, bindings, &[], threads),
            Size::Workgroups(count) => self.dispatch_workgroups(stage, bindings, &[], count),
            Size::Indirect(buffer, offset) => {
                self.set(stage, bindings, &[]);
                self.pass.dispatch_workgroups_indirect(buffer, offset);
            }
        }
    }

    pub fn dispatch_workgroups(
        &mut self,
        stage: &'a Stage,
        bindings: &wgpu::BindGroup,
        offsets: &[u32],
        workgroups: u32,
    ) {
        if workgroups == 0 {
            return;
        }
        self.set(stage, bindings, offsets);
        // Rows of workgroups: shaders compute the index with `thread_index` and skip those beyond the count.
        let (row, rows) = (workgroups.min(MAX_WORKGROUPS_PER_AXIS), workgroups.div_ceil(MAX_WORKGROUPS_PER_AXIS));
        self.pass.dispatch_workgroups(row, rows, 1);
    }

    fn set(&mut self, stage: &'a Stage, bindings: &wgpu::BindGroup, offsets: &[u32]) {
        if !self.last.is_some_and(|last| std::ptr::eq(last, stage)) {
            self.pass.set_pipeline(&stage.pipeline);
            self.last = Some(stage);
        }
        self.pass.set_bind_group(0, bindings, offsets);
    }
}
