//! `supple adapters`.

use crate::console;
use supple::gpu::choose_adapter;
use supple::wgpu;

/// Lists the adapters; an error if there is none.
pub fn run() -> anyhow::Result<()> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let chosen = choose_adapter(&instance, None)?.get_info();
    let mut is_marked = false;
    for adapter in pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY)) {
        let info = adapter.get_info();
        // Each enumeration creates new objects, so adapters are compared by their info. Among equal ones the first is marked.
        let mark = if info == chosen && !is_marked { "*" } else { " " };
        is_marked |= info == chosen;
        let driver = format!("{} {}", info.driver, info.driver_info);
        let (name, backend, kind) = (&info.name, info.backend, info.device_type);
        console::print(format_args!("{mark} {name} ({backend}, {kind:?}, {})", driver.trim()))?;
    }
    Ok(())
}
