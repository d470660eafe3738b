//! A separate wgpu device, for programs without a renderer.

use crate::error::{Error, Result};

/// Environment variable that selects the adapter: a part of its name, or `software` for one that runs on the CPU.
pub const ADAPTER_VARIABLE: &str = "SUPPLE_ADAPTER";

/// Hint of the error if no adapter exists.
pub const NO_ADAPTER_HINT: &str = "On Linux, install Mesa's software driver: `mesa-vulkan-drivers` (Debian, Ubuntu, \
     Fedora), `vulkan-swrast` (Arch) or `mesa-vulkan-swrast` (Alpine), or run `cargo xtask test`, which installs it";

/// An adapter, and a device and queue on it.
#[derive(Debug, Clone)]
pub struct Context {
    /// The adapter.
    pub adapter: wgpu::Adapter,
    /// A device on the adapter.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
}

impl Context {
    /// Opens the adapter of [`choose_adapter`] with these limits, raised by [`raised_limits`], and with timestamp queries
    /// if available. Native targets only.
    ///
    /// # Errors
    /// [`Error::NoAdapter`]; [`Error::AdapterLimit`] if the adapter does not meet the limits.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(limits: wgpu::Limits) -> Result<Self> {
        pollster::block_on(Self::new_async(limits))
    }

    /// As [`Context::new`], without blocking.
    ///
    /// # Errors
    /// As [`Context::new`].
    pub async fn new_async(limits: wgpu::Limits) -> Result<Self> {
        let descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor { flags: instance_flags(), ..descriptor });
        Self::on_async(choose_adapter_async(&instance, None).await?, limits).await
    }

    /// Opens a given adapter. Native targets only.
    ///
    /// # Errors
    /// As [`Context::new`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn on(adapter: wgpu::Adapter, limits: wgpu::Limits) -> Result<Self> {
        pollster::block_on(Self::on_async(adapter, limits))
    }

    /// As [`Context::on`], without blocking.
    ///
    /// # Errors
    /// As [`Context::new`].
    pub async fn on_async(adapter: wgpu::Adapter, limits: wgpu::Limits) -> Result<Self> {
        let most = adapter.limits();
        let (binding, buffer) = (most.max_storage_buffer_binding_size, most.max_buffer_size);
        for (limit, needed, available) in [
            ("max_storage_buffer_binding_size", limits.max_storage_buffer_binding_size, binding),
            ("max_buffer_size", limits.max_buffer_size, buffer),
        ] {
            if needed > available {
                let adapter = adapter.get_info().name;
                return Err(Error::AdapterLimit { adapter, limit, needed, available });
            }
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("supple"),
            required_features: adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
            required_limits: raised_limits(limits, &adapter),
            ..Default::default()
        };
        let (device, queue) =
            adapter.request_device(&descriptor).await.map_err(|fault| Error::Gpu { message: fault.to_string() })?;
        Ok(Self { adapter, device, queue })
    }

    /// Name and driver of the adapter, for reports.
    pub fn adapter_name(&self) -> String {
        let info = self.adapter.get_info();
        if info.driver.is_empty() { info.name } else { format!("{}, {} {}", info.name, info.driver, info.driver_info) }
    }
}

/// Raises limits to those of an adapter: [`crate::Instances`] use large workgroups, and large scenes large buffers. A
/// limit below the wgpu default stays.
pub fn raised_limits(limits: wgpu::Limits, adapter: &wgpu::Adapter) -> wgpu::Limits {
    let (defaults, most) = (wgpu::Limits::default(), adapter.limits());
    let mut raised = limits.clone();
    macro_rules! raise {
        ($($limit:ident),+) => {$(
            if limits.$limit >= defaults.$limit {
                raised.$limit = limits.$limit.max(most.$limit);
            }
        )+};
    }
    raise!(
        max_compute_workgroup_storage_size,
        max_compute_invocations_per_workgroup,
        max_compute_workgroup_size_x,
        max_storage_buffers_per_shader_stage,
        max_storage_buffer_binding_size,
        max_buffer_size
    );
    raised
}

/// Instance flags for solvers: release builds skip wgpu's validation of indirect dispatches, which adds a dispatch and
/// two barriers to each. A step with self-collision has hundreds of them, each with at most 65 535 workgroups per axis.
/// The environment variables of [`wgpu::InstanceFlags::with_env`] override the flags.
///
/// A renderer that creates its own instance can use them if its indirect calls need no validation:
/// `wgpu::InstanceDescriptor { flags: supple::gpu::instance_flags(), ..descriptor }`.
pub fn instance_flags() -> wgpu::InstanceFlags {
    let mut flags = wgpu::InstanceFlags::default();
    flags.set(wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL, cfg!(debug_assertions));
    flags.with_env()
}

/// True if an adapter runs on the CPU.
pub(super) fn is_software(adapter: &wgpu::AdapterInfo) -> bool {
    adapter.device_type == wgpu::DeviceType::Cpu
}

/// Chooses the adapter that `SUPPLE_ADAPTER` names, else the one of the fastest device type. With a `surface`, the
/// adapter can present to it. Native targets only.
///
/// # Errors
/// [`Error::NoAdapter`] if none matches; it lists the available adapters and the packages to install.
#[cfg(not(target_arch = "wasm32"))]
pub fn choose_adapter(instance: &wgpu::Instance, surface: Option<&wgpu::Surface<'_>>) -> Result<wgpu::Adapter> {
    pollster::block_on(choose_adapter_async(instance, surface))
}

/// As [`choose_adapter`], without blocking. A browser offers one adapter.
///
/// # Errors
/// As [`choose_adapter`].
pub async fn choose_adapter_async(
    instance: &wgpu::Instance,
    surface: Option<&wgpu::Surface<'_>>,
) -> Result<wgpu::Adapter> {
    let wanted = std::env::var(ADAPTER_VARIABLE).ok().filter(|name| !name.trim().is_empty());
    let mut adapters = instance.enumerate_adapters(wgpu::Backends::PRIMARY).await;
    let found: Vec<String> = adapters.iter().map(|adapter| format!("{:?}", adapter.get_info().name)).collect();
    let fits = |adapter: &wgpu::Adapter| {
        let named = match wanted.as_deref().map(str::trim) {
            None => true,
            Some("software") => is_software(&adapter.get_info()),
            Some(name) => adapter.get_info().name.to_lowercase().contains(&name.to_lowercase()),
        };
        named && surface.is_none_or(|surface| adapter.is_surface_supported(surface))
    };
    adapters.retain(fits);
    adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    adapters.into_iter().next().ok_or_else(|| Error::NoAdapter {
        wanted: wanted.map_or_else(|| "exists".into(), |name| format!("fits {ADAPTER_VARIABLE}={name}")),
        found: if found.is_empty() { "none".into() } else { found.join(", ") },
        hint: NO_ADAPTER_HINT,
    })
}
