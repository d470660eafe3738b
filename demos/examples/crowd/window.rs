//! The window of the flags.

use crate::draw::Renderer;
use crate::{Arguments, Crowd, flag};
use glam::Vec2;
use std::sync::Arc;
use supple::gpu::{Context, choose_adapter, instance_flags};
use supple::{Instances, wgpu};
use supple_demos::camera::Camera;
use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{ElementState, MouseScrollDelta, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowId};

/// The result of running a window.
pub enum Outcome {
    /// The user closed it.
    Closed,
    /// No window could be opened.
    NoDisplay(String),
}

/// Shows the flags until the window is closed.
pub fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let event_loop = match EventLoop::new() {
        Ok(event_loop) => event_loop,
        Err(reason) => return Ok(Outcome::NoDisplay(reason.to_string())),
    };
    event_loop.set_control_flow(ControlFlow::Poll);
    let mut app = App { arguments, state: None, failure: None };
    event_loop.run_app(&mut app)?;
    app.failure.map_or(Ok(Outcome::Closed), Err)
}

struct App<'a> {
    arguments: &'a Arguments,
    state: Option<State>,
    failure: Option<anyhow::Error>,
}

struct State {
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    surface_config: wgpu::SurfaceConfiguration,
    gpu: Context,
    crowd: Crowd,
    renderer: Renderer,
    camera: Camera,
    cursor: Vec2,
    orbiting: bool,
}

impl State {
    fn open(event_loop: &ActiveEventLoop, arguments: &Arguments) -> anyhow::Result<Self> {
        let attributes =
            Window::default_attributes().with_title("supple: crowd").with_inner_size(LogicalSize::new(960, 600));
        let window = Arc::new(event_loop.create_window(attributes)?);
        let display = Box::new(event_loop.owned_display_handle());
        let descriptor = wgpu::InstanceDescriptor::new_with_display_handle_from_env(display);
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor { flags: instance_flags(), ..descriptor });
        let surface = instance.create_surface(window.clone())?;
        let adapter = choose_adapter(&instance, Some(&surface))?;
        let (flag, settings) = (flag()?, arguments.settings());
        let gpu = Context::on(adapter, Instances::required_limits(&flag, arguments.count, &settings))?;
        let size = window.inner_size();
        let mut surface_config = surface
            .get_default_config(&gpu.adapter, size.width.max(1), size.height.max(1))
            .ok_or_else(|| anyhow::anyhow!("{} cannot draw to this window", gpu.adapter_name()))?;
        let formats = surface.get_capabilities(&gpu.adapter).formats;
        surface_config.format = formats.into_iter().find(|format| format.is_srgb()).unwrap_or(surface_config.format);
        surface.configure(&gpu.device, &surface_config);
        let crowd = Crowd::new(&gpu, flag, settings, [arguments.count, arguments.balls])?;
        let renderer = Renderer::new(&gpu, &crowd, surface_config.format);
        let camera = crowd.camera();
        let (cursor, orbiting) = (Vec2::ZERO, false);
        Ok(Self { window, surface, surface_config, gpu, crowd, renderer, camera, cursor, orbiting })
    }

    fn handle(&mut self, event_loop: &ActiveEventLoop, event: WindowEvent) -> anyhow::Result<()> {
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::KeyboardInput { event, .. } if event.logical_key == Key::Named(NamedKey::Escape) => {
                event_loop.exit();
            }
            // A minimised window has no size.
            WindowEvent::Resized(size) if size.width > 0 && size.height > 0 => {
                (self.surface_config.width, self.surface_config.height) = (size.width, size.height);
                self.surface.configure(&self.gpu.device, &self.surface_config);
            }
            WindowEvent::CursorMoved { position, .. } => {
                let cursor = Vec2::new(position.x as f32, position.y as f32);
                if self.orbiting {
                    self.camera.orbit(cursor - self.cursor);
                }
                self.cursor = cursor;
            }
            WindowEvent::MouseInput { state, .. } => self.orbiting = state == ElementState::Pressed,
            WindowEvent::MouseWheel { delta, .. } => self.camera.zoom(match delta {
                MouseScrollDelta::LineDelta(_, lines) => lines,
                MouseScrollDelta::PixelDelta(pixels) => pixels.y as f32 / 40.0,
            }),
            WindowEvent::RedrawRequested => self.frame()?,
            _ => {}
        }
        Ok(())
    }

    /// Runs one step and draws one picture.
    fn frame(&mut self) -> anyhow::Result<()> {
        self.crowd.change()?;
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        self.crowd.flags.encode(&mut encoder, 1);
        let frame = match self.surface.get_current_texture() {
            wgpu::CurrentSurfaceTexture::Success(frame) | wgpu::CurrentSurfaceTexture::Suboptimal(frame) => Some(frame),
            wgpu::CurrentSurfaceTexture::Outdated => {
                self.surface.configure(&self.gpu.device, &self.surface_config);
                None
            }
            wgpu::CurrentSurfaceTexture::Timeout | wgpu::CurrentSurfaceTexture::Occluded => None,
            wgpu::CurrentSurfaceTexture::Lost | wgpu::CurrentSurfaceTexture::Validation => {
                anyhow::bail!("the window's surface is gone")
            }
        };
        if let Some(frame) = &frame {
            self.renderer.draw(&self.gpu, &mut encoder, &self.crowd, &self.camera, &frame.texture);
        }
        self.gpu.queue.submit([encoder.finish()]);
        if let Some(frame) = frame {
            self.window.pre_present_notify();
            self.gpu.queue.present(frame);
        }
        self.gpu.device.poll(wgpu::PollType::Poll)?;
        Ok(())
    }
}

impl ApplicationHandler for App<'_> {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.state.is_none() {
            match State::open(event_loop, self.arguments) {
                Ok(state) => self.state = Some(state),
                Err(failure) => {
                    self.failure = Some(failure);
                    event_loop.exit();
                }
            }
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        if let Some(state) = &mut self.state
            && let Err(failure) = state.handle(event_loop, event)
        {
            self.failure = Some(failure);
            event_loop.exit();
        }
    }

    fn about_to_wait(&mut self, _: &ActiveEventLoop) {
        if let Some(state) = &self.state {
            state.window.request_redraw();
        }
    }
}
