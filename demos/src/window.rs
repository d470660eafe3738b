//! The window of the demos: winit for the window and its events, egui for the panel, and the renderer of `draw.rs`.

use super::draw::{ColorView, Renderer};
use super::grip::Grip;
use super::markers::Markers;
use super::panel::{self, Panel};
use super::screen::Screen;
use super::strains::particle_strains;
use super::timer::Timer;
use super::{Demo, ExecutionChoice, Options, breeze, software};
use glam::Vec2;
use std::sync::Arc;
use std::time::Instant;
use supple::gpu::{Context, Readback};
use supple::{Settings, Solver, wgpu};
use winit::application::ApplicationHandler;
use winit::event::{ElementState, KeyEvent, MouseButton, MouseScrollDelta, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, KeyCode, PhysicalKey};
use winit::window::{Window, WindowId};

/// The result of running a window.
pub enum Outcome {
    /// The user closed it.
    Closed,
    /// No window could be opened; the demo is returned.
    NoDisplay { demo: Box<Demo>, reason: String },
}

/// Runs the demo in a window until the user closes it.
pub fn run(demo: Demo, options: &Options) -> anyhow::Result<Outcome> {
    let event_loop = match EventLoop::new() {
        Ok(event_loop) => event_loop,
        Err(error) => {
            // winit begins with the file and the line of its source: "os error at …:1: ".
            let text = error.to_string();
            let reason =
                text.strip_prefix("os error at ").and_then(|rest| rest.split_once(": ")).map(|(_, reason)| reason);
            let reason = reason.unwrap_or(&text).trim_end_matches('.').to_owned();
            return Ok(Outcome::NoDisplay { demo: Box::new(demo), reason });
        }
    };
    event_loop.set_control_flow(ControlFlow::Poll);
    let mut app = App { demo, size: options.picture_size()?, execution: options.execution, state: None, failure: None };
    event_loop.run_app(&mut app)?;
    match app.failure {
        None => Ok(Outcome::Closed),
        Some(failure) => Err(failure),
    }
}

struct App {
    execution: ExecutionChoice,
    demo: Demo,
    size: (u32, u32),
    state: Option<State>,
    failure: Option<anyhow::Error>,
}

/// The state while the window is open.
struct State {
    window: Arc<Window>,
    screen: Screen,
    gpu: Context,
    solver: Solver,
    renderer: Renderer,
    panel: Panel,
    timer: Option<Timer>,
    last_frame: Instant,
    /// Steps since the start or the last reset.
    step: u32,
    /// True if steps ran since the patch that the user drags moved: it moves by steps, not while paused.
    stepped: bool,
    cursor: Vec2,
    orbiting: bool,
    /// The patch that the user drags.
    grip: Option<Grip>,
    paused: bool,
    single_step: bool,
    released: bool,
    color_view: ColorView,
    markers: Markers,
    /// The readback in flight.
    pending: Option<Readback<Vec<[f32; 3]>>>,
    /// The last positions read back, for picking and strains.
    positions: Vec<[f32; 3]>,
}

impl App {
    fn open(&mut self, event_loop: &ActiveEventLoop) -> anyhow::Result<State> {
        let size = winit::dpi::PhysicalSize::new(self.size.0, self.size.1);
        let attributes =
            Window::default_attributes().with_title(format!("supple: {}", self.demo.title)).with_inner_size(size);
        let window = Arc::new(event_loop.create_window(attributes)?);
        let limits = supple::required_limits_with(&self.demo.scene, &self.demo.settings);
        let (gpu, screen) = Screen::open(event_loop, window.clone(), limits, |formats| {
            // egui blends in sRGB bytes.
            Ok(egui_wgpu::preferred_framebuffer_format(formats)?)
        })?;
        software::shrink(&gpu, &mut self.demo)?;
        self.execution.measure(&gpu, &mut self.demo)?;
        let solver = Solver::new(&gpu.device, &gpu.queue, &self.demo.scene, self.demo.settings)?;
        let renderer = Renderer::new(&gpu.device, &gpu.queue, screen.config.format, &self.demo, &solver);
        let panel = Panel::new(&window, &gpu, screen.config.format);
        let timer = Timer::new(&gpu);
        Ok(State {
            positions: self.demo.scene.positions().to_vec(),
            window,
            screen,
            gpu,
            solver,
            renderer,
            panel,
            timer,
            last_frame: Instant::now(),
            step: 0,
            stepped: false,
            cursor: Vec2::ZERO,
            orbiting: false,
            grip: None,
            paused: false,
            single_step: false,
            released: false,
            color_view: ColorView::default(),
            markers: Markers::default(),
            pending: None,
        })
    }

    fn handle(&mut self, event_loop: &ActiveEventLoop, event: WindowEvent) -> anyhow::Result<()> {
        let Some(state) = &mut self.state else { return Ok(()) };
        let consumed = state.panel.on_event(&state.window, &event);
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::Resized(size) => state.screen.resize(&state.gpu.device, size.width, size.height)?,
            WindowEvent::RedrawRequested => state.frame(&mut self.demo)?,
            _ if consumed => {}
            WindowEvent::CursorMoved { position, .. } => {
                let cursor = Vec2::new(position.x as f32, position.y as f32);
                if state.orbiting {
                    self.demo.camera.orbit(cursor - state.cursor);
                }
                state.cursor = cursor;
            }
            WindowEvent::MouseWheel { delta, .. } => self.demo.camera.zoom(match delta {
                MouseScrollDelta::LineDelta(_, lines) => lines,
                MouseScrollDelta::PixelDelta(pixels) => pixels.y as f32 / 40.0,
            }),
            WindowEvent::MouseInput { state: ElementState::Pressed, button: MouseButton::Left, .. } => {
                state.orbiting = !state.grab(&self.demo)?;
            }
            WindowEvent::MouseInput { state: ElementState::Pressed, .. } => state.orbiting = true,
            WindowEvent::MouseInput { state: ElementState::Released, button, .. } => {
                state.orbiting = false;
                if button == MouseButton::Left {
                    state.release_grip()?;
                }
            }
            // Keys that are held when the window gains focus are synthetic.
            WindowEvent::KeyboardInput { event, is_synthetic: false, .. }
                if event.state.is_pressed() && !event.repeat =>
            {
                if let Some(key) = key_of(&event) {
                    state.key(event_loop, key, &mut self.demo)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The key by its letter in Latin layouts, and by its place in others.
fn key_of(event: &KeyEvent) -> Option<KeyCode> {
    const LETTERS: [(&str, KeyCode); 6] = [
        ("c", KeyCode::KeyC),
        ("n", KeyCode::KeyN),
        ("p", KeyCode::KeyP),
        ("q", KeyCode::KeyQ),
        ("r", KeyCode::KeyR),
        ("w", KeyCode::KeyW),
    ];
    match (&event.logical_key, event.physical_key) {
        (Key::Character(text), _) if text.is_ascii() => {
            LETTERS.iter().find(|(letter, _)| text.eq_ignore_ascii_case(letter)).map(|&(_, key)| key)
        }
        (_, PhysicalKey::Code(key)) => Some(key),
        (_, PhysicalKey::Unidentified(_)) => None,
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.state.is_none() {
            match self.open(event_loop) {
                Ok(state) => self.state = Some(state),
                Err(failure) => {
                    self.failure = Some(failure);
                    event_loop.exit();
                }
            }
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        if let Err(failure) = self.handle(event_loop, event) {
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

impl State {
    fn aspect(&self) -> f32 {
        self.screen.config.width as f32 / self.screen.config.height as f32
    }

    /// The cursor in the picture; both axes run from −1 to 1, y up.
    fn place(&self) -> Vec2 {
        let size = Vec2::new(self.screen.config.width as f32, self.screen.config.height as f32);
        (self.cursor / size * 2.0 - 1.0) * Vec2::new(1.0, -1.0)
    }

    /// Grabs the cloth under the cursor, if there is one.
    fn grab(&mut self, demo: &Demo) -> anyhow::Result<bool> {
        let ray = demo.camera.ray(self.place(), self.aspect());
        self.grip = Grip::grab(demo, &mut self.solver, &self.positions, ray)?;
        Ok(self.grip.is_some())
    }

    fn release_grip(&mut self) -> anyhow::Result<()> {
        if let Some(grip) = self.grip.take() {
            grip.release(&mut self.solver)?;
        }
        Ok(())
    }

    fn key(&mut self, event_loop: &ActiveEventLoop, key: KeyCode, demo: &mut Demo) -> anyhow::Result<()> {
        match key {
            KeyCode::Escape | KeyCode::KeyQ => event_loop.exit(),
            KeyCode::Space => self.paused = !self.paused,
            KeyCode::KeyN => (self.paused, self.single_step) = (true, true),
            KeyCode::KeyR => self.reset(demo),
            KeyCode::KeyP => {
                self.release_grip()?;
                // Massless particles, such as followers, cannot be released.
                let masses = demo.scene.inverse_masses();
                let pins = demo.scene.pinned_particles().filter(|&particle| masses[particle as usize] > 0.0);
                let pins: Vec<u32> = pins.collect();
                if self.released {
                    self.solver.pin(&pins)?
                } else {
                    self.solver.release(&pins)?
                }
                self.released = !self.released;
            }
            KeyCode::KeyC => {
                self.color_view = match self.color_view {
                    ColorView::Cloth => ColorView::Strain,
                    ColorView::Strain => ColorView::Constraints,
                    ColorView::Constraints => ColorView::Cloth,
                }
            }
            KeyCode::KeyW => {
                let own = demo.wind.unwrap_or_else(|| breeze(4.0));
                let wind = if demo.settings.wind.is_some() { None } else { Some(own) };
                self.apply(Settings { wind, ..demo.settings }, demo)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn reset(&mut self, demo: &mut Demo) {
        self.grip = None;
        self.panel.reset_materials();
        self.released = false;
        self.solver.reset();
        self.step = 0;
        if let Some(script) = &mut demo.script {
            script.reset();
        }
    }

    fn frame(&mut self, demo: &mut Demo) -> anyhow::Result<()> {
        let elapsed = self.last_frame.elapsed().as_secs_f32();
        self.last_frame = Instant::now();
        self.collect(demo)?;

        // On a machine slower than real time, each step is shown.
        let due = self.solver.advance(if self.paused { 0.0 } else { elapsed.min(demo.settings.dt) });
        // At most one step, because the script runs before each step.
        let steps = if std::mem::take(&mut self.single_step) { 1 } else { due.min(1) };
        if let Some(script) = demo.script.as_mut().filter(|_| steps > 0) {
            script.drive(&mut self.solver, self.step)?;
        }
        self.step += steps;
        self.stepped |= steps > 0;
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        let profile = self.timer.as_mut().map(Timer::collect).transpose()?.flatten();
        match &mut self.timer {
            Some(timer) if steps > 0 => timer.encode(&mut self.solver, &mut encoder, self.panel.profiles)?,
            _ => self.solver.encode(&mut encoder, steps),
        }
        if let Some(script) = demo.script.as_mut().filter(|_| steps > 0) {
            script.request(&self.solver, &mut encoder);
        }
        if steps > 0 {
            self.markers.request(&self.solver, &mut encoder)?;
        }
        if self.pending.is_none() {
            self.pending = Some(self.solver.request_positions(&mut encoder));
        }
        let frame = self.screen.next_picture(&self.gpu.device)?;
        if let Some(frame) = &frame {
            let view = frame.texture.create_view(&Default::default());
            let size = (self.screen.config.width, self.screen.config.height);
            self.renderer.draw(&mut encoder, &view, size, &self.solver, demo, self.color_view);
        }
        let input = panel::PanelInput {
            seconds: elapsed,
            has_timestamps: self.timer.is_some(),
            gpu_milliseconds: self.timer.as_ref().and_then(|timer| timer.milliseconds),
            profile,
            adapter: self.gpu.adapter.get_info().name,
            paused: self.paused,
            strain: demo.scene.strain(demo.edges.clone(), &self.positions)?,
            positions: &self.positions,
        };
        let had_contacts = self.markers.contacts;
        self.markers.released = self.released;
        let mut requests = self.panel.run(&self.window, &input, demo, &self.solver, &mut self.markers);
        if self.markers.contacts != had_contacts {
            requests.settings = requests.settings.or(Some(demo.settings));
        }
        let commands = self.panel.draw(&self.gpu, &mut encoder, frame.as_ref(), &self.screen.config);
        self.gpu.queue.submit(commands.into_iter().chain([encoder.finish()]));
        self.panel.after_submit();
        if let Some(frame) = frame {
            self.window.pre_present_notify();
            self.gpu.queue.present(frame);
        } else {
            // Not visible: limits the frame rate.
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        self.gpu.device.poll(wgpu::PollType::Poll)?;
        self.execute(requests, demo)
    }

    /// Executes the actions requested in the panel.
    fn execute(&mut self, requests: panel::Requests, demo: &mut Demo) -> anyhow::Result<()> {
        if let Some(settings) = requests.settings {
            self.apply(settings, demo)?;
        }
        for (id, material) in requests.materials {
            self.solver.set_material(id, material)?;
        }
        if requests.reset {
            self.reset(demo);
        }
        Ok(())
    }

    fn apply(&mut self, settings: Settings, demo: &mut Demo) -> anyhow::Result<()> {
        self.solver.set_settings(self.markers.settings(settings))?;
        demo.settings = settings;
        Ok(())
    }

    /// Collects the readbacks that arrived since the last frame.
    fn collect(&mut self, demo: &mut Demo) -> anyhow::Result<()> {
        self.markers.collect()?;
        let Some(pending) = &mut self.pending else { return Ok(()) };
        if let Some(positions) = pending.try_take()? {
            self.pending = None;
            self.positions = positions;
            let (pointer, aspect) = (self.place(), self.aspect());
            if let Some(grip) = self.grip.as_mut().filter(|_| std::mem::take(&mut self.stepped)) {
                grip.aim(demo, pointer, aspect);
                grip.pull(demo, &mut self.solver, &self.positions)?;
            }
            if let Some(script) = &mut demo.script {
                script.observe(&self.positions)?;
            }
            if self.color_view == ColorView::Strain {
                self.renderer.set_strains(&self.solver, &particle_strains(demo, &self.positions));
            }
        }
        Ok(())
    }
}
