//! The window of the flags.

use crate::draw::Renderer;
use crate::{Arguments, Crowd, flag};
use anyhow::Context as _;
use glam::Vec2;
use std::sync::Arc;
use std::time::{Duration, Instant};
use supple::gpu::Context;
use supple::{Instances, wgpu};
use supple_demos::camera::Camera;
use supple_demos::screen::Screen;
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
    screen: Screen,
    gpu: Context,
    crowd: Crowd,
    renderer: Renderer,
    camera: Camera,
    cursor: Vec2,
    orbiting: bool,
    /// The time that no step has simulated yet [s].
    last_frame: Instant,
}

impl State {
    fn open(event_loop: &ActiveEventLoop, arguments: &Arguments) -> anyhow::Result<Self> {
        let attributes =
            Window::default_attributes().with_title("supple: crowd").with_inner_size(LogicalSize::new(960, 600));
        let window = Arc::new(event_loop.create_window(attributes)?);
        let (flag, settings) = (flag()?, arguments.settings());
        let limits = Instances::required_limits(&flag, arguments.count, &settings);
        let (gpu, screen) = Screen::open(event_loop, window.clone(), limits, |formats| {
            let srgb = formats.iter().copied().find(|format| format.is_srgb());
            srgb.or(formats.first().copied()).context("the adapter cannot draw to this window")
        })?;
        let mut crowd = Crowd::new(&gpu, flag, settings, [arguments.count, arguments.balls])?;
        let renderer = Renderer::new(&gpu, &crowd, screen.config.format);
        let camera = crowd.camera();
        // The ball moves once a frame.
        crowd.flags.set_catch_up_limit(1)?;
        let (cursor, orbiting, last_frame) = (Vec2::ZERO, false, Instant::now());
        Ok(Self { window, screen, gpu, crowd, renderer, camera, cursor, orbiting, last_frame })
    }

    fn handle(&mut self, event_loop: &ActiveEventLoop, event: WindowEvent) -> anyhow::Result<()> {
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::KeyboardInput { event, .. } if event.logical_key == Key::Named(NamedKey::Escape) => {
                event_loop.exit();
            }
            WindowEvent::Resized(size) => self.screen.resize(&self.gpu.device, size.width, size.height)?,
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

    /// Runs at most one step, in real time, and draws one picture.
    fn frame(&mut self) -> anyhow::Result<()> {
        let steps = self.crowd.flags.advance(self.last_frame.elapsed().as_secs_f32());
        self.last_frame = Instant::now();
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        if steps > 0 {
            self.crowd.change()?;
            self.crowd.flags.encode(&mut encoder, 1);
        }
        let frame = self.screen.next_picture(&self.gpu.device)?;
        if let Some(frame) = &frame {
            self.renderer.draw(&self.gpu, &mut encoder, &self.crowd, &self.camera, &frame.texture);
        }
        self.gpu.queue.submit([encoder.finish()]);
        if let Some(frame) = frame {
            self.window.pre_present_notify();
            self.gpu.queue.present(frame);
        } else {
            // Not visible: limits the frame rate.
            std::thread::sleep(Duration::from_millis(10));
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
