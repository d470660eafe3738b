//! Colliders of instances on the GPU: their buffers, the pass that moves them, and the pass of instances that meet them.
//!
//! | buffer | content | written by |
//! |---|---|---|
//! | params | contact materials, number of colliders | host |
//! | colliders | a row per collider: poses at the start and end of the step | host, instances_colliders |
//! | rows | data of all shapes; a row per substep and collider (`ColliderRows`) | host, instances_colliders |
//! | parts | the substeps of each dispatch ([`PartRow`]) | host |

use super::contacts::{Bound, POSES, RESPONSE, SHAPES, response_constants};
use super::instance_pool::{self, Buffers, WorkgroupLayout};
use super::maker::Maker;
use super::recorder::Recorder;
use super::stage::Slot::{Uniform, Write};
use super::stage::{SIZE, SPAN_STRIDE, Stage};
use super::store::PipelineStore;
use crate::collision::ColliderRow;
use crate::error::Result;
use crate::instancing::checks::check_words;
use crate::instancing::pool::InstancePool;
use wgpu::BufferUsages;

/// The data of shapes has a length of a multiple of this, so that the kernel changes rarely.
const DATA_STEP: usize = 1024;

/// Threads of a workgroup that interpolates a collider.
const THREADS: f64 = 32.0;

/// The substeps of a dispatch: `Part` in `shaders/instancing/parts/collide.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct PartRow {
    pub first: u32,
    pub count: u32,
    pub is_last: u32,
    pub padding: u32,
}

/// The text of the pass of instances depends on this.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kernel {
    pub keep_lambdas: bool,
    pub workgroup: WorkgroupLayout,
    pub constants: [(&'static str, f64); 4],
    /// Length of the data of all shapes.
    pub data: usize,
}

impl Kernel {
    fn new(device: &wgpu::Device, pool: &InstancePool, keep_lambdas: bool) -> Self {
        let own = &pool.controls.colliders;
        let workgroup = WorkgroupLayout::with_colliders(device, pool);
        let data = own.data.len().next_multiple_of(DATA_STEP).max(4);
        Self { keep_lambdas, workgroup, constants: response_constants(&pool.controls), data }
    }

    /// WGSL of the part of colliders.
    pub fn text(&self) -> String {
        let part = include_str!("../../shaders/instancing/parts/collide.wgsl");
        [part, RESPONSE, SHAPES, &self.rows_text()].join("\n")
    }

    fn rows_text(&self) -> String {
        let rows = include_str!("../../shaders/instancing/parts/collider_rows.wgsl");
        format!("{rows}\nconst COLLIDER_DATA = {}u;\n", self.data)
    }

    /// Byte offset of the first row behind the data.
    pub fn rows_at(&self) -> u64 {
        (self.data as u64 * 4).next_multiple_of(16)
    }
}

/// See the [module documentation](self).
#[derive(Debug)]
pub(super) struct InstanceColliders {
    pub params: wgpu::Buffer,
    pub colliders: wgpu::Buffer,
    rows: wgpu::Buffer,
    parts: wgpu::Buffer,
    part_rows: Vec<PartRow>,
    kernel: Kernel,
    interpolate: Bound,
    run: Stage,
    /// `None` before [`InstanceColliders::bind`].
    bindings: Option<wgpu::BindGroup>,
    count: u32,
    /// Size of all its buffers [bytes].
    pub bytes: u64,
}

impl InstanceColliders {
    /// Makes the buffers, and the pipelines if those of `before` do not fit. An error if a buffer exceeds the limits.
    pub fn new(
        store: &PipelineStore,
        queue: &wgpu::Queue,
        pool: &InstancePool,
        keep_lambdas: bool,
        (buffers, before): (&Buffers, Option<&Self>),
    ) -> Result<Self> {
        let device = store.device();
        let (maker, storage) = (Maker::new(device), BufferUsages::STORAGE);
        let own = &pool.controls.colliders;
        let kernel = Kernel::new(device, pool, keep_lambdas);
        let substeps = pool.controls.settings.substeps;
        let row_count = u64::from(substeps) * own.len() as u64;
        let words = kernel.rows_at() / 4 + row_count * size_of::<ColliderRow>() as u64 / 4;
        let rows = maker.empty("instances.collider_rows", check_words("rows of colliders", words)?, storage)?;
        queue.write_buffer(&rows, 0, bytemuck::cast_slice(&own.data));
        let colliders = maker.filled(queue, "instances.colliders", &own.rows, storage)?;
        let params = maker.filled(
            queue,
            "instances.contact_params",
            &[pool.controls.contact_params()],
            BufferUsages::UNIFORM,
        )?;
        let part_rows = part_rows(pool, &kernel);
        let parts = maker.rows(queue, "instances.parts", &part_rows)?;
        let (run, stage) = match before.filter(|before| before.kernel == kernel) {
            Some(before) => (before.run.clone(), before.interpolate.stage.clone()),
            None => (instance_pool::make_run_with_colliders(store, pool, &kernel), interpolate_stage(store, &kernel)),
        };
        let interpolate = Bound::new(device, stage, &[&buffers.params, &params, &colliders, &rows]);
        let (count, bytes) = (own.len() as u32, maker.made_bytes());
        Ok(Self { params, colliders, rows, parts, part_rows, kernel, interpolate, run, bindings: None, count, bytes })
    }

    /// True if only the parameters differ from those of the pool, for unchanged colliders.
    pub fn fits(&self, device: &wgpu::Device, pool: &InstancePool, keep_lambdas: bool) -> bool {
        let kernel = Kernel::new(device, pool, keep_lambdas);
        self.kernel == kernel && self.part_rows == part_rows(pool, &kernel)
    }

    /// Binds the buffers of the instances.
    pub fn bind(&mut self, device: &wgpu::Device, buffers: &Buffers) {
        let all = [buffers.of_run(&self.rows).as_slice(), &[&self.params]].concat();
        self.bindings = Some(self.run.bind_before_row(device, &all, &self.parts));
    }

    /// Number of dispatches of a step, without the normals.
    pub fn dispatches(&self) -> u32 {
        1 + self.part_rows.len() as u32
    }

    /// Records a step of this number of instances, without the normals.
    pub fn record<'a>(&'a self, recorder: &mut Recorder<'a>, instances: u32) {
        let Some(bindings) = &self.bindings else { return };
        let Bound { stage, bindings: of_colliders, .. } = &self.interpolate;
        recorder.dispatch_workgroups(stage, of_colliders, &[], self.count);
        let groups = instances.div_ceil(self.kernel.workgroup.instances);
        for part in 0..self.part_rows.len() as u32 {
            recorder.dispatch_workgroups(&self.run, bindings, &[part * SPAN_STRIDE], groups);
        }
    }
}

fn interpolate_stage(store: &PipelineStore, kernel: &Kernel) -> Stage {
    let pass = include_str!("../../shaders/instancing/instances_colliders.wgsl");
    let text = [pass, POSES, &kernel.rows_text()].join("\n");
    let (name, slots) = ("instances_colliders", [Uniform, Uniform, Write, Write]);
    Stage::new(store, name, name, &text, &slots, &[(SIZE, THREADS)])
}

/// The dispatches of a step.
fn part_rows(pool: &InstancePool, kernel: &Kernel) -> Vec<PartRow> {
    split(pool.controls.settings.substeps, pool.substeps_per_dispatch(kernel.workgroup.threads as usize))
}

fn split(substeps: u32, per_dispatch: u32) -> Vec<PartRow> {
    let firsts = (0..substeps).step_by(per_dispatch.max(1) as usize);
    let row = |first: u32| {
        let count = per_dispatch.min(substeps - first);
        PartRow { first, count, is_last: u32::from(first + count == substeps), padding: 0 }
    };
    firsts.map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_substep_is_in_one_dispatch_and_the_last_ends_the_step() {
        for (substeps, per_dispatch) in [(1, 1), (20, 7), (20, 20), (21, 5), (9, 100)] {
            let rows = split(substeps, per_dispatch);
            let mut next = 0;
            for (place, row) in rows.iter().enumerate() {
                assert_eq!((row.first, row.is_last == 1), (next, place + 1 == rows.len()));
                assert!((1..=per_dispatch).contains(&row.count));
                next += row.count;
            }
            assert_eq!(next, substeps);
        }
    }
}
