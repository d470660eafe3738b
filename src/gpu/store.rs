//! Compiled pipelines, shared by the solvers of a device.

use super::stage::{Slot, Stage};
use super::{guarded, guarded_async};
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// All inputs of a [`Stage`] except the device.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Description {
    pub name: String,
    pub entry: String,
    /// Without the common modules, which are constant.
    pub source: String,
    pub slots: Vec<Slot>,
    /// Names and the bits of values.
    pub constants: Vec<(String, u64)>,
}

/// The compute pipelines of a device, compiled once for all solvers and instances that share the store.
///
/// A clone is another handle of the same store. Pipelines stay in it until [`PipelineStore::clear`], or until the last
/// handle is dropped; solvers keep those that they use. Pipelines with equal shaders and constants are the same: scenes
/// of the same kinds of constraints share most of them at any number of particles.
///
/// ```no_run
/// # fn main() -> supple::Result<()> {
/// # let scene = supple::Scene::new();
/// use supple::{Settings, Solver, gpu::PipelineStore};
/// let gpu = supple::gpu::Context::new(supple::required_limits(&scene))?;
/// let store = PipelineStore::new(&gpu.device);
/// let first = Solver::with_store(&store, &gpu.queue, &scene, Settings::default())?;
/// let second = Solver::with_store(&store, &gpu.queue, &scene, Settings::default())?; // compiles no pipeline
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[cfg_attr(target_arch = "wasm32", allow(clippy::arc_with_non_send_sync, reason = "browsers have one thread"))]
pub struct PipelineStore {
    device: wgpu::Device,
    cache: Option<wgpu::PipelineCache>,
    stages: Arc<Mutex<HashMap<Description, Stage>>>,
}

impl PipelineStore {
    /// An empty store for a device.
    pub fn new(device: &wgpu::Device) -> Self {
        Self { device: device.clone(), cache: None, stages: Arc::default() }
    }

    /// An empty store whose pipelines are created with a pipeline cache of the caller. A program that saves the data of the
    /// cache ([`wgpu::PipelineCache::get_data`]) skips the compilation by the driver in its next run; wgpu still translates
    /// the shaders. The cache must belong to the device; otherwise constructors return [`Error::Gpu`].
    pub fn with_cache(device: &wgpu::Device, cache: &wgpu::PipelineCache) -> Self {
        Self { cache: Some(cache.clone()), ..Self::new(device) }
    }

    /// The device of the pipelines.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// Number of pipelines. It does not change while solvers find all of their pipelines in the store.
    pub fn len(&self) -> usize {
        self.stages().len()
    }

    /// Returns true if nothing has been compiled.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all pipelines, for example those of a level that is unloaded. Solvers keep those that they use.
    pub fn clear(&self) {
        self.stages().clear();
    }

    fn stages(&self) -> MutexGuard<'_, HashMap<Description, Stage>> {
        self.stages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stage of this description; `create` compiles it unless the store has it.
    pub(super) fn stage(
        &self,
        description: Description,
        create: impl FnOnce(&Description, Option<&wgpu::PipelineCache>) -> Stage,
    ) -> Stage {
        if let Some(stage) = self.stages().get(&description) {
            return stage.clone();
        }
        // Unlocked: other threads create stages at the same time.
        let stage = create(&description, self.cache.as_ref());
        self.stages().entry(description).or_insert(stage).clone()
    }

    /// As [`guarded`]. After a fault the store may contain invalid pipelines, so it is cleared.
    pub(super) fn guarded<T>(&self, create: impl FnOnce() -> Result<T>) -> Result<T> {
        self.without_invalid(guarded(&self.device, create))
    }

    /// As [`PipelineStore::guarded`]; the future waits for the report.
    pub(super) async fn guarded_async<T>(&self, create: impl FnOnce() -> Result<T>) -> Result<T> {
        self.without_invalid(guarded_async(&self.device, create).await)
    }

    fn without_invalid<T>(&self, outcome: Result<T>) -> Result<T> {
        if matches!(outcome, Err(Error::OutOfMemory { .. } | Error::Gpu { .. } | Error::DeviceLost { .. })) {
            self.clear();
        }
        outcome
    }
}

impl fmt::Debug for PipelineStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PipelineStore").field("len", &self.len()).finish_non_exhaustive()
    }
}
