//! Construction of solvers: checks of the limits, compilation of the scene, buffers and pipelines.

use super::bindings::Bindings;
use super::buffers::Buffers;
use super::contacts::Contacts;
use super::context::is_software;
use super::limits::{check_device, check_sizes};
use super::pipelines::Pipelines;
use super::real_time::RealTime;
use super::recorder::PingPong;
use super::solver::Solver;
use super::store::PipelineStore;
use super::suited::suited;
use crate::error::{Error, Result};
use crate::scene::Scene;
use crate::settings::{Execution, Settings};
use crate::sim::controls::Controls;

/// The GPU objects of a solver.
struct Parts {
    buffers: Buffers,
    pipelines: Pipelines,
    bindings: Bindings,
    contacts: Contacts,
}

impl Parts {
    async fn new(store: &PipelineStore, queue: &wgpu::Queue, controls: &Controls) -> Result<Self> {
        let (device, keep_lambdas) = (store.device(), controls.keeps_lambdas());
        let make = || {
            // The buffers first: a device that is too small compiles no pipeline.
            let buffers = Buffers::new(device, queue, controls, keep_lambdas)?;
            let contacts = Contacts::new(store, queue, controls, &buffers)?;
            let pipelines = Pipelines::new(store, controls, keep_lambdas);
            let bindings = Bindings::new(device, &pipelines, &buffers);
            Ok(Self { buffers, pipelines, bindings, contacts })
        };
        store.guarded_async(make).await
    }
}

/// True if an execution that needs less memory may succeed.
pub(super) fn is_too_large(error: &Error) -> bool {
    matches!(error, Error::LimitExceeded { .. } | Error::OutOfMemory { .. })
}

/// Frees the buffers of a failed execution, which their first writes hold until a submission has ended.
pub(super) fn free_failed(device: &wgpu::Device, queue: &wgpu::Queue) {
    queue.submit([]);
    // An error is that of a lost device, which the next attempt reports. A browser does not wait.
    let _ = device.poll(wgpu::PollType::wait_indefinitely());
}

/// A solver of controls that are ready, without their uploads.
pub(super) async fn opened(store: &PipelineStore, queue: &wgpu::Queue, controls: Controls) -> Result<Solver> {
    check_sizes(&controls.scene, &controls.settings, &store.device().limits())?;
    warn_of_open_contacts(&controls);
    let parts = Parts::new(store, queue, &controls).await?;
    Ok(Solver::of(store, queue, controls, parts))
}

fn warn_of_open_contacts(controls: &Controls) {
    for open in controls.scene.open_contacts(&controls.settings) {
        log::warn!("{open}");
    }
}

impl Solver {
    /// Compiles a scene and uploads it. The uploads travel with the next submission of the queue. Native targets only;
    /// a browser cannot wait for the device, see [`Solver::new_async`].
    ///
    /// The pipelines are compiled in a store of the solver's own. Several solvers on one device open faster if they share
    /// one: see [`Solver::with_store`].
    ///
    /// # Errors
    /// [`Error::Empty`] for a scene without particles; [`Error::LimitExceeded`] if the limits of the device are too
    /// small for it (see [`crate::required_limits`]); [`Error::InvalidValue`] for settings out of range;
    /// [`Error::TooLarge`]; [`Error::OutOfMemory`]; [`Error::Gpu`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, scene: &Scene, settings: Settings) -> Result<Self> {
        Self::with_store(&PipelineStore::new(device), queue, scene, settings)
    }

    /// As [`Solver::new`]. The scene is compiled when the future is first polled; then the future waits for the device
    /// to report errors.
    ///
    /// # Errors
    /// As [`Solver::new`].
    pub async fn new_async(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        scene: &Scene,
        settings: Settings,
    ) -> Result<Self> {
        Self::with_store_async(&PipelineStore::new(device), queue, scene, settings).await
    }

    /// As [`Solver::new`], on the device of a store. Only the pipelines that the store lacks are compiled.
    ///
    /// # Errors
    /// As [`Solver::new`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn with_store(store: &PipelineStore, queue: &wgpu::Queue, scene: &Scene, settings: Settings) -> Result<Self> {
        pollster::block_on(Self::with_store_async(store, queue, scene, settings))
    }

    /// As [`Solver::with_store`], without blocking; see [`Solver::new_async`].
    ///
    /// # Errors
    /// As [`Solver::new`].
    pub async fn with_store_async(
        store: &PipelineStore,
        queue: &wgpu::Queue,
        scene: &Scene,
        settings: Settings,
    ) -> Result<Self> {
        settings.check()?;
        let (device, limits) = (store.device(), store.device().limits());
        check_device(&limits)?;
        // On a software driver compilation resolves `Auto` by the size of the grids.
        let resolves = !is_software(&device.adapter_info());
        let auto = if resolves { suited(scene) } else { Execution::Auto };
        let is_auto = settings.execution == Execution::Auto && resolves;
        let mut execution = if is_auto { auto } else { settings.execution };
        // Tiles need less memory than clusters.
        let smaller = (is_auto && execution == Execution::Clusters).then_some(Execution::Tiles);
        match (check_sizes(scene, &Settings { execution, ..settings }, &limits), smaller) {
            (Ok(()), _) => {}
            (Err(error), None) => return Err(error),
            (Err(_), Some(smaller)) => {
                execution = smaller;
                check_sizes(scene, &Settings { execution, ..settings }, &limits)?;
            }
        }
        let mut controls = Controls::new(scene, Settings { execution, ..settings })?;
        warn_of_open_contacts(&controls);
        let mut parts = Parts::new(store, queue, &controls).await;
        let may_be_smaller = parts.as_ref().is_err_and(is_too_large);
        if let Some(smaller) = smaller.filter(|own| may_be_smaller && *own != execution) {
            free_failed(device, queue);
            execution = smaller;
            controls.set_settings(Settings { execution, ..settings })?;
            parts = Parts::new(store, queue, &controls).await;
        }
        let auto = if is_auto { execution } else { auto };
        let solver = Self { auto, user_settings: settings, ..Self::of(store, queue, controls, parts?) };
        solver.upload_state();
        Ok(solver)
    }

    fn of(store: &PipelineStore, queue: &wgpu::Queue, controls: Controls, parts: Parts) -> Self {
        let Parts { buffers, pipelines, bindings, contacts } = parts;
        let settings = controls.settings;
        Self {
            device: store.device().clone(),
            store: store.clone(),
            queue: queue.clone(),
            contact_params: controls.contact_params(),
            keep_lambdas: controls.keeps_lambdas(),
            controls,
            pipelines,
            buffers,
            bindings,
            contacts,
            target_capacity: 16,
            steps: 0,
            auto: settings.execution,
            ping_pong: PingPong::default(),
            recorded_substep: settings.substep(),
            recorded_substeps: settings.substeps,
            real_time: RealTime::default(),
            derived_is_stale: false,
            shift: None,
            vertex_outputs: Default::default(),
            user_settings: settings,
        }
    }
}
