//! Construction of instances.

use super::instance_pool::{Buffers, WorkgroupLayout, check_limits, make_normals, make_run};
use super::instances::Instances;
use super::real_time::RealTime;
use super::store::PipelineStore;
use crate::error::Result;
use crate::instancing::pool::InstancePool;
use crate::scene::Scene;
use crate::settings::Settings;
use std::sync::atomic::AtomicBool;

impl Instances {
    /// Compiles an asset and allocates buffers for `capacity` instances. The uploads run with the queue's next
    /// submission. Native targets only, see [`Instances::new_async`].
    ///
    /// # Errors
    /// - [`crate::Error::Empty`] for an asset without particles.
    /// - [`crate::Error::TooLarge`] for more than 1024 particles, 48 constraints of a kind at one particle, or 4096 materials.
    /// - [`crate::Error::TooLarge`] if substeps and iterations give a thread more than 60 000 loop iterations in a step.
    /// - [`crate::Error::NotInstanced`] for groups, followers, attachments, skinned particles, orientations, tearable cloth,
    ///   plastic constraints, and for colliders of the asset; see [`Instances::add_collider`].
    /// - [`crate::Error::InvalidValue`] for settings out of range, for a capacity of 0 or with 2³¹ particles or more in all,
    ///   and for a particle beyond 1e6 m or faster than 1e6 m/s.
    /// - [`crate::Error::NotEnabled`] for settings that instances do not support.
    /// - [`crate::Error::LimitExceeded`] if the device limits are too low (see [`Instances::required_limits`]).
    /// - [`crate::Error::OutOfMemory`], [`crate::Error::Gpu`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        asset: &Scene,
        capacity: u32,
        settings: Settings,
    ) -> Result<Self> {
        Self::with_store(&PipelineStore::new(device), queue, asset, capacity, settings)
    }

    /// As [`Instances::new`]. The asset is compiled when the future is first polled; then the future waits for the
    /// device to report errors.
    ///
    /// # Errors
    /// As [`Instances::new`].
    pub async fn new_async(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        asset: &Scene,
        capacity: u32,
        settings: Settings,
    ) -> Result<Self> {
        Self::with_store_async(&PipelineStore::new(device), queue, asset, capacity, settings).await
    }

    /// As [`Instances::new`], on the device of a store. Only the pipelines that the store lacks are compiled; they depend
    /// on the asset and the capacity.
    ///
    /// # Errors
    /// As [`Instances::new`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn with_store(
        store: &PipelineStore,
        queue: &wgpu::Queue,
        asset: &Scene,
        capacity: u32,
        settings: Settings,
    ) -> Result<Self> {
        pollster::block_on(Self::with_store_async(store, queue, asset, capacity, settings))
    }

    /// As [`Instances::with_store`], without blocking; see [`Instances::new_async`].
    ///
    /// # Errors
    /// As [`Instances::new`].
    pub async fn with_store_async(
        store: &PipelineStore,
        queue: &wgpu::Queue,
        asset: &Scene,
        capacity: u32,
        settings: Settings,
    ) -> Result<Self> {
        let device = store.device();
        let mut pool = InstancePool::new(asset, capacity, settings)?;
        let workgroup = WorkgroupLayout::new(device, &pool);
        check_limits(&pool, workgroup, &device.limits())?;
        let keep_lambdas = settings.keeps_lambdas(false);
        let (run, normals_stage, buffers) = store
            .guarded_async(|| {
                let buffers = Buffers::new(device, queue, &pool, keep_lambdas)?;
                Ok((make_run(store, &pool, keep_lambdas, workgroup), make_normals(store, &pool), buffers))
            })
            .await?;
        // After the allocation of the buffers.
        pool.grow(0);
        let bindings = buffers.bind(device, &run, &normals_stage);
        let (device, store, queue) = (device.clone(), store.clone(), queue.clone());
        let instances = Self {
            device,
            store,
            queue,
            pool,
            run,
            normals_stage,
            buffers,
            bindings,
            keep_lambdas,
            workgroup,
            shift: None,
            colliders: None,
            colliders_moved: AtomicBool::new(false),
            real_time: RealTime::default(),
        };
        instances.write_words(0..instances.pool.words.len());
        instances.upload_settings();
        Ok(instances)
    }
}
