//! Records the dispatches of a step as one compute pass.

use super::bindings::KindBindings;
use super::contacts::{Bound, Size};
use super::pipelines::{KindStages, Projection};
use super::stage::Stage;

/// A compute pass, and the pipeline that is set in it.
pub(super) struct Recorder<'a> {
    pass: wgpu::ComputePass<'a>,
    last: Option<&'a Stage>,
    pub ping_pong: PingPong,
}

/// Ping-pong indices: which of two buffers the next pass reads.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PingPong {
    /// Of the anchors.
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
        self.dispatch_groups(stage, bindings, offsets, threads.div_ceil(stage.workgroup_size));
    }

    pub fn dispatch_kind(
        &mut self,
        stages: &'a KindStages,
        projection: Projection,
        bindings: &KindBindings,
        offset: u32,
        count: u32,
    ) {
        let place = projection as usize;
        let (stage, bindings) = (&stages.stages[place], &bindings.projections[place]);
        if let (Some(stage), Some(bindings)) = (stage, bindings) {
            let wide = stages.wide || projection == Projection::Clusters;
            let groups = if wide { count } else { count.div_ceil(stage.workgroup_size) };
            self.dispatch_groups(stage, bindings, &[offset], groups);
        }
    }

    pub fn dispatch_sized(&mut self, bound: &'a Bound, size: Size<'_>) {
        let Bound { stage, bindings, .. } = bound;
        match size {
            Size::Threads(threads) => self.dispatch(stage, bindings, &[], threads),
            Size::Groups(groups) => self.dispatch_groups(stage, bindings, &[], groups),
            Size::Indirect(buffer, offset) => {
                self.set(stage, bindings, &[]);
                self.pass.dispatch_workgroups_indirect(buffer, offset);
            }
        }
    }

    pub fn dispatch_groups(&mut self, stage: &'a Stage, bindings: &wgpu::BindGroup, offsets: &[u32], groups: u32) {
        if groups == 0 {
            return;
        }
        self.set(stage, bindings, offsets);
        // Rows of 65 535 workgroups, as `thread_index` of the shaders counts them.
        self.pass.dispatch_workgroups(groups.min(65_535), groups.div_ceil(65_535), 1);
    }

    fn set(&mut self, stage: &'a Stage, bindings: &wgpu::BindGroup, offsets: &[u32]) {
        if !self.last.is_some_and(|last| std::ptr::eq(last, stage)) {
            self.pass.set_pipeline(&stage.pipeline);
            self.last = Some(stage);
        }
        self.pass.set_bind_group(0, bindings, offsets);
    }
}
