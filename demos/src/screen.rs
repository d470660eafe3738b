//! The surface of a window: its device, its size, and the textures that are drawn to.

use std::sync::Arc;
use supple::gpu::{Context, choose_adapter, instance_flags};
use supple::wgpu;
use winit::event_loop::ActiveEventLoop;
use winit::window::Window;

/// A window with its surface.
pub struct Screen {
    window: Arc<Window>,
    instance: wgpu::Instance,
    surface: wgpu::Surface<'static>,
    pub config: wgpu::SurfaceConfiguration,
}

impl Screen {
    /// Opens a device with these limits that can draw to the window, in the format that `choose` selects of those of the surface.
    pub fn open(
        event_loop: &ActiveEventLoop,
        window: Arc<Window>,
        limits: wgpu::Limits,
        choose: impl FnOnce(&[wgpu::TextureFormat]) -> anyhow::Result<wgpu::TextureFormat>,
    ) -> anyhow::Result<(Context, Self)> {
        let display = Box::new(event_loop.owned_display_handle());
        let descriptor = wgpu::InstanceDescriptor::new_with_display_handle_from_env(display);
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor { flags: instance_flags(), ..descriptor });
        let surface = instance.create_surface(window.clone())?;
        let adapter = choose_adapter(&instance, Some(&surface))?;
        let gpu = Context::on(adapter, limits)?;
        let size = window.inner_size();
        let mut config = surface
            .get_default_config(&gpu.adapter, size.width.max(1), size.height.max(1))
            .ok_or_else(|| anyhow::anyhow!("{} cannot draw to this window", gpu.adapter_name()))?;
        config.format = choose(&surface.get_capabilities(&gpu.adapter).formats)?;
        surface.configure(&gpu.device, &config);
        Ok((gpu, Self { window, instance, surface, config }))
    }

    pub fn resize(&mut self, device: &wgpu::Device, width: u32, height: u32) -> anyhow::Result<()> {
        // A minimised window has no size; it keeps its surface and draws nothing.
        if width > 0 && height > 0 {
            (self.config.width, self.config.height) = (width, height);
            self.configure(device)?;
        }
        Ok(())
    }

    /// The next surface texture; `None` if there is currently nothing to draw to.
    pub fn next_picture(&mut self, device: &wgpu::Device) -> anyhow::Result<Option<wgpu::SurfaceTexture>> {
        if self.window.is_minimized() == Some(true) {
            return Ok(None);
        }
        match self.surface.get_current_texture() {
            wgpu::CurrentSurfaceTexture::Success(frame) | wgpu::CurrentSurfaceTexture::Suboptimal(frame) => {
                Ok(Some(frame))
            }
            wgpu::CurrentSurfaceTexture::Timeout | wgpu::CurrentSurfaceTexture::Occluded => Ok(None),
            wgpu::CurrentSurfaceTexture::Outdated => {
                self.configure(device)?;
                Ok(None)
            }
            wgpu::CurrentSurfaceTexture::Lost => {
                self.surface = self.instance.create_surface(self.window.clone())?;
                self.configure(device)?;
                Ok(None)
            }
            wgpu::CurrentSurfaceTexture::Validation => {
                anyhow::bail!("the window's surface is invalid: is the device lost?")
            }
        }
    }

    /// Configures the surface for the window size. wgpu would panic for a window that was destroyed externally.
    fn configure(&self, device: &wgpu::Device) -> anyhow::Result<()> {
        let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
        self.surface.configure(device, &self.config);
        match pollster::block_on(scope.pop()) {
            None => Ok(()),
            Some(fault) => anyhow::bail!("the window is gone: {fault}"),
        }
    }
}
