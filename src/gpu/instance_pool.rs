//! Instances of one asset on the GPU: their buffers, their two passes, and the required limits.

use super::buffers::Status;
use super::context::is_software;
use super::instance_colliders::Kernel;
use super::limits::STORAGE_BUFFERS;
use super::maker::Maker;
use super::recorder::MAX_WORKGROUPS_PER_AXIS;
use super::shader::unrolled;
use super::stage::Slot::{Read, Span, Uniform, Write};
use super::stage::{SIZE, Slot, Stage, WORKGROUP_SIZE, flag};
use super::store::PipelineStore;
use super::sweep::sweep;
use crate::constraints::xpbd::ScaledMaterial;
use crate::error::{Error, Result};
use crate::instancing::checks::check_words;
use crate::instancing::pool::InstancePool;
use crate::scene::Scene;
use crate::settings::Settings;
use crate::sim::params::Params;
use wgpu::BufferUsages;

/// Parameters of a dispatch: `PoolParams` in `shaders/instancing/instance.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct PoolParams {
    pub substeps: u32,
    pub iterations: u32,
    pub tethers: u32,
    pub count: u32,
}

/// Bindings of instances.wgsl: pool, params, materials; positions, velocities, motions, status, live or rows of
/// colliders, asset, records, λ.
const RUN: [Slot; 11] = [Uniform, Uniform, Uniform, Write, Write, Write, Write, Read, Read, Read, Write];
/// The further bindings with colliders: contact parameters; the substeps of the dispatch.
const RUN_COLLIDERS: [Slot; 2] = [Uniform, Span];
/// Bindings of instances_normals.wgsl: pool, params, positions, live, asset, status, normals.
const NORMALS: [Slot; 7] = [Uniform, Uniform, Read, Read, Read, Write, Write];

#[derive(Debug)]
pub(super) struct Buffers {
    pub pool: wgpu::Buffer,
    pub params: wgpu::Buffer,
    pub materials: wgpu::Buffer,
    pub positions: wgpu::Buffer,
    pub velocities: wgpu::Buffer,
    pub motions: wgpu::Buffer,
    pub status: wgpu::Buffer,
    pub live: wgpu::Buffer,
    pub asset: wgpu::Buffer,
    pub records: wgpu::Buffer,
    pub lambdas: wgpu::Buffer,
    pub normals: wgpu::Buffer,
}

impl Buffers {
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, pool: &InstancePool, keep_lambdas: bool) -> Result<Self> {
        let maker = Maker::new(device);
        let (storage, uniform) = (BufferUsages::STORAGE, BufferUsages::UNIFORM);
        let drawn = storage | BufferUsages::VERTEX;
        let capacity = u64::from(pool.capacity);
        let count = capacity * pool.particle_count() as u64;
        let compiled = &pool.controls.compiled;
        let surface_count = if compiled.rings.is_empty() { 0 } else { count };
        let records = pool.asset.records(&compiled.kinds);
        let empty = |label: &str, size, usage| maker.empty(&format!("instances.{label}"), size, usage);
        Ok(Self {
            pool: empty("pool", size_of::<PoolParams>() as u64, uniform)?,
            params: empty("params", size_of::<Params>() as u64, uniform)?,
            materials: empty("materials", (material_count(pool) * size_of::<ScaledMaterial>()) as u64, uniform)?,
            positions: empty("positions", count * 16, drawn)?,
            velocities: empty("velocities", count * 16, drawn)?,
            motions: empty("motions", (count + capacity) * 32, storage)?,
            status: maker.filled(queue, "instances.status", &[Status::NEW], storage)?,
            live: empty("live", capacity * 4, drawn)?,
            asset: empty("asset", pool.bytes_with(0)?, storage)?,
            records: maker.filled(queue, "instances.records", &records, storage)?,
            lambdas: make_lambdas(&maker, pool, keep_lambdas)?,
            normals: empty("normals", surface_count * 16, drawn)?,
        })
    }

    /// Size of all buffers [bytes]. The pattern names every field: a new field does not compile until it is counted.
    pub fn bytes(&self) -> u64 {
        let Self {
            pool,
            params,
            materials,
            positions,
            velocities,
            motions,
            status,
            live,
            asset,
            records,
            lambdas,
            normals,
        } = self;
        let state = [positions, velocities, motions, live, lambdas, normals];
        let rest = [pool, params, materials, status, asset, records];
        state.iter().chain(&rest).map(|buffer| buffer.size()).sum()
    }

    pub fn bind(&self, device: &wgpu::Device, run: &Stage, normals: &Stage) -> [wgpu::BindGroup; 2] {
        let b = self;
        let surfaces = [&b.pool, &b.params, &b.positions, &b.live, &b.asset, &b.status, &b.normals];
        [run.bind(device, &self.of_run(&b.live)), normals.bind(device, &surfaces)]
    }

    /// The buffers of instances.wgsl, with those of its binding 7.
    pub fn of_run<'a>(&'a self, seventh: &'a wgpu::Buffer) -> [&'a wgpu::Buffer; 11] {
        let b = self;
        [
            &b.pool,
            &b.params,
            &b.materials,
            &b.positions,
            &b.velocities,
            &b.motions,
            &b.status,
            seventh,
            &b.asset,
            &b.records,
            &b.lambdas,
        ]
    }
}

/// Number of materials, at least 1: uniform buffers must not be empty.
fn material_count(pool: &InstancePool) -> usize {
    pool.controls.materials.len().max(1)
}

/// Number of multipliers per instance: a multiple of the multipliers per constraint of every kind.
pub(super) fn lambda_capacity(pool: &InstancePool) -> usize {
    pool.asset.lambda_count.next_multiple_of(3)
}

pub(super) fn make_lambdas(maker: &Maker<'_>, pool: &InstancePool, keep_lambdas: bool) -> Result<wgpu::Buffer> {
    let count = if keep_lambdas { lambda_capacity(pool) as u64 * u64::from(pool.capacity) } else { 0 };
    maker.empty("instances.lambdas", check_words("multipliers of all instances", count)?, BufferUsages::STORAGE)
}

/// Assumed number of threads of a subgroup.
fn subgroup_width(device: &wgpu::Device) -> usize {
    if is_software(&device.adapter_info()) { 8 } else { 32 }
}

/// Distribution of instances over the threads of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WorkgroupLayout {
    /// Number of threads per instance.
    pub threads: u32,
    /// Number of instances: as many as fill a subgroup, if they fit in workgroup memory.
    pub instances: u32,
    /// True if workgroup memory stores positions besides displacements: if they fit, except for tiles on a GPU. Tiles
    /// read a particle only twice per substep, and less memory per workgroup lets more workgroups run in parallel.
    pub near: bool,
}

impl WorkgroupLayout {
    pub fn new(device: &wgpu::Device, pool: &InstancePool) -> Self {
        Self::of(device, pool, pool.threads(subgroup_width(device)))
    }

    /// The layout with colliders.
    pub fn with_colliders(device: &wgpu::Device, pool: &InstancePool) -> Self {
        Self::of(device, pool, pool.threads_with_colliders(subgroup_width(device)))
    }

    fn of(device: &wgpu::Device, pool: &InstancePool, threads: usize) -> Self {
        let (subgroup_width, is_software) = (subgroup_width(device), is_software(&device.adapter_info()));
        let capacity = device.limits().max_compute_workgroup_storage_size as usize / 16;
        let instances = (subgroup_width / threads).min(capacity / pool.particle_count()).max(1);
        let near = 2 * instances * pool.particle_count() <= capacity && (is_software || !pool.has_tiles());
        Self { threads: threads as u32, instances: instances as u32, near }
    }

    /// Number of threads of the workgroup.
    pub fn size(self) -> u32 {
        self.threads * self.instances
    }
}

/// Number of threads of a workgroup that computes normals: one per particle of a small asset.
fn normals_threads(pool: &InstancePool) -> u32 {
    (pool.particle_count() as u32).next_power_of_two().clamp(8, WORKGROUP_SIZE)
}

/// WGSL constants of an asset.
pub(super) fn constants(pool: &InstancePool) -> String {
    let (places, count) = (&pool.places, pool.particle_count());
    let numbers = [
        ("ASSET_PARTICLES", count),
        ("MATERIALS", material_count(pool)),
        ("LAMBDA_CAPACITY", lambda_capacity(pool)),
        ("TETHER_RUNS_AT", pool.asset.tether_runs_at()),
        ("RINGS_AT", places.rings),
        ("CORNERS_AT", places.corners),
        ("CONTACTS_AT", places.contacts),
        ("LIVE_AT", places.live),
        ("SLOTS_AT", places.slots),
        ("ROWS_OF_SLOTS", 2 * count * pool.capacity as usize),
    ];
    let lines: String = numbers.iter().map(|(name, value)| format!("const {name} = {value}u;\n")).collect();
    lines + &format!("const SURFACES = {};\n", !pool.controls.compiled.rings.is_empty())
}

/// WGSL that computes the rows of an instance.
const INSTANCE: &str = include_str!("../../shaders/instancing/instance.wgsl");

/// WGSL of the pass that runs all substeps, without the prelude. `colliders` is the part of colliders.
pub(super) fn pass(constants: &str, sweep: &str, colliders: &str, workgroup: WorkgroupLayout) -> String {
    let WorkgroupLayout { threads, instances, near } = workgroup;
    let constants = &format!("{constants}const THREADS = {threads}u;\nconst INSTANCES = {instances}u;\n");
    let pass = include_str!("../../shaders/instancing/instances.wgsl");
    let places = if near {
        include_str!("../../shaders/instancing/parts/near.wgsl")
    } else {
        include_str!("../../shaders/instancing/parts/far.wgsl")
    };
    let shared = concat!(
        include_str!("../../shaders/integrate/shared/air.wgsl"),
        include_str!("../../shaders/integrate/shared/quarantined.wgsl")
    );
    [pass, places, colliders, INSTANCE, shared, constants, sweep].join("\n")
}

/// WGSL of instances without colliders.
pub(super) const FREE: &str = include_str!("../../shaders/instancing/parts/free.wgsl");

/// WGSL of the pass that computes normals.
pub(super) fn normals_pass(constants: &str) -> String {
    let pass = include_str!("../../shaders/instancing/instances_normals.wgsl");
    [pass, INSTANCE, include_str!("../../shaders/integrate/shared/normal.wgsl"), constants].join("\n")
}

/// WGSL of the pass that shifts the origin.
pub(super) fn shift_pass(pool: &InstancePool) -> String {
    [include_str!("../../shaders/instancing/instances_shift.wgsl"), &constants(pool)].join("\n")
}

pub(super) fn make_run(
    store: &PipelineStore,
    pool: &InstancePool,
    keep_lambdas: bool,
    workgroup: WorkgroupLayout,
) -> Stage {
    make_stage(store, pool, (keep_lambdas, workgroup), None)
}

/// The pass with colliders.
pub(super) fn make_run_with_colliders(store: &PipelineStore, pool: &InstancePool, kernel: &Kernel) -> Stage {
    make_stage(store, pool, (kernel.keep_lambdas, kernel.workgroup), Some(kernel))
}

fn make_stage(
    store: &PipelineStore,
    pool: &InstancePool,
    (keep_lambdas, workgroup): (bool, WorkgroupLayout),
    kernel: Option<&Kernel>,
) -> Stage {
    let pairs = pool.controls.compiled.tether_pairs();
    let sweep = sweep(&pool.controls.compiled, &pool.asset, keep_lambdas);
    let colliders = kernel.map_or(FREE.to_owned(), Kernel::text);
    let text = pass(&constants(pool), &sweep, &colliders, workgroup);
    let text = unrolled(&text, &[("TETHER_PAIRS", pairs as usize)]);
    let keep = ("KEEP_LAMBDA", flag(keep_lambdas));
    let size = (SIZE, f64::from(workgroup.size()));
    let mut constants = vec![keep, size, ("TETHER_PAIRS", f64::from(pairs))];
    let mut slots = RUN.to_vec();
    if let Some(kernel) = kernel {
        constants.extend(kernel.constants);
        slots.extend(RUN_COLLIDERS);
    }
    Stage::new(store, "instances", "instances", &text, &slots, &constants)
}

pub(super) fn make_normals(store: &PipelineStore, pool: &InstancePool) -> Stage {
    let (name, size) = ("instances_normals", (SIZE, f64::from(normals_threads(pool))));
    Stage::new(store, name, name, &normals_pass(&constants(pool)), &NORMALS, &[size])
}

/// `Ok` if a device meets the limits of the passes.
pub(super) fn check_limits(pool: &InstancePool, workgroup: WorkgroupLayout, limits: &wgpu::Limits) -> Result<()> {
    let materials = (material_count(pool) * size_of::<ScaledMaterial>()) as u64;
    let memory = pool.particle_count() as u64 * 16;
    let storage_buffers = limits.max_storage_buffers_per_shader_stage.into();
    let demands: [(_, u64, u64); 5] = [
        ("max_storage_buffers_per_shader_stage", STORAGE_BUFFERS.into(), storage_buffers),
        (
            "max_compute_invocations_per_workgroup",
            workgroup.size().max(normals_threads(pool)).into(),
            limits.max_compute_invocations_per_workgroup.into(),
        ),
        (
            "max_compute_workgroups_per_dimension",
            MAX_WORKGROUPS_PER_AXIS.into(),
            limits.max_compute_workgroups_per_dimension.into(),
        ),
        ("max_compute_workgroup_storage_size", memory, limits.max_compute_workgroup_storage_size.into()),
        ("max_uniform_buffer_binding_size", materials, limits.max_uniform_buffer_binding_size),
    ];
    match demands.into_iter().find(|(_, needed, available)| needed > available) {
        Some((limit, needed, available)) => {
            Err(Error::LimitExceeded { what: "an asset that is instanced".into(), limit, needed, available })
        }
        None => Ok(()),
    }
}

/// See [`super::Instances::required_limits`].
pub(super) fn required_limits(asset: &Scene, capacity: u32, settings: &Settings) -> wgpu::Limits {
    let defaults = wgpu::Limits::default();
    let Ok(pool) = InstancePool::new(asset, capacity, *settings) else { return defaults };
    let (capacity, count) = (u64::from(capacity), asset.particle_count() as u64);
    let lambdas = if settings.keeps_lambdas(false) { lambda_capacity(&pool) as u64 * capacity * 4 } else { 0 };
    let records = pool.asset.record_words as u64 * 4;
    let words = pool.words_with(pool.capacity) as u64 * 4;
    let largest = (count + 1).saturating_mul(capacity * 32).max(words).max(lambdas).max(records).next_multiple_of(256);
    wgpu::Limits {
        max_storage_buffer_binding_size: defaults.max_storage_buffer_binding_size.max(largest),
        max_buffer_size: defaults.max_buffer_size.max(largest),
        ..defaults
    }
}
