//! The calls of the page: frames, pointers and controls.

use crate::common::Demo;
use crate::common::draw::{ColorView, Renderer};
use crate::common::grip::Grip;
use crate::common::hung::breeze;
use crate::common::strains::particle_strains;
use crate::common::timer::Timer;
use crate::scenes;
use glam::Vec2;
use serde_json::json;
use supple::gpu::{Context, Readback, choose_adapter_async};
use supple::{Solver, wgpu};
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

fn failure(error: impl std::fmt::Display) -> JsError {
    JsError::new(&error.to_string())
}

/// The device and the canvas, with the scene that is loaded.
#[wasm_bindgen]
pub struct Page {
    gpu: Context,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    loaded: Option<Loaded>,
}

struct Loaded {
    demo: Demo,
    solver: Solver,
    renderer: Renderer,
    timer: Option<Timer>,
    /// The readback in flight, and the steps that it follows.
    pending: Option<(Readback<Vec<[f32; 3]>>, u32)>,
    /// The last positions that were read back, and the steps that they follow.
    positions: Vec<[f32; 3]>,
    steps_read: u32,
    view: ColorView,
    grip: Option<Grip>,
    /// The pointer that drags; both axes run from −1 to 1, y up.
    pointer: Vec2,
    /// Steps since the start or the last reset.
    steps: u32,
}

#[wasm_bindgen]
impl Page {
    /// Opens the GPU for a canvas. Fails in a browser without WebGPU.
    pub async fn open(canvas: HtmlCanvasElement) -> Result<Page, JsError> {
        console_error_panic_hook::set_once();
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::BROWSER_WEBGPU;
        let instance = wgpu::Instance::new(descriptor);
        let (width, height) = (canvas.width().max(1), canvas.height().max(1));
        let surface = instance.create_surface(wgpu::SurfaceTarget::Canvas(canvas)).map_err(failure)?;
        let adapter = choose_adapter_async(&instance, Some(&surface)).await.map_err(failure)?;
        let gpu = Context::on_async(adapter, wgpu::Limits::default()).await.map_err(failure)?;
        let config = surface
            .get_default_config(&gpu.adapter, width, height)
            .ok_or_else(|| JsError::new("the GPU cannot draw to this canvas"))?;
        surface.configure(&gpu.device, &config);
        Ok(Self { gpu, surface, config, loaded: None })
    }

    /// Loads a scene, `hung` or `draped`, with about this many particles.
    pub async fn load(&mut self, scene: String, particles: u32) -> Result<(), JsError> {
        self.loaded = None;
        let columns = f64::from(particles).sqrt().round().clamp(8.0, 1400.0) as u32;
        let demo = scenes::named(&scene, columns)
            .map_err(failure)?
            .ok_or_else(|| JsError::new(&format!("there is no scene {scene:?}")))?;
        let (device, queue) = (&self.gpu.device, &self.gpu.queue);
        let solver = Solver::new_async(device, queue, &demo.scene, demo.settings).await.map_err(failure)?;
        let renderer = Renderer::new(device, queue, self.config.format, &demo, &solver);
        self.loaded = Some(Loaded {
            positions: demo.scene.positions().to_vec(),
            timer: Timer::new(&self.gpu),
            demo,
            solver,
            renderer,
            pending: None,
            steps_read: 0,
            view: ColorView::default(),
            grip: None,
            pointer: Vec2::ZERO,
            steps: 0,
        });
        Ok(())
    }

    /// The number of pixels of the canvas has changed.
    pub fn resize(&mut self, width: u32, height: u32) {
        if width > 0 && height > 0 {
            (self.config.width, self.config.height) = (width, height);
            self.surface.configure(&self.gpu.device, &self.config);
        }
    }

    /// Simulates the steps that are due after `seconds` of real time, at most one, and draws.
    pub fn frame(&mut self, seconds: f32) -> Result<(), JsError> {
        let Some(loaded) = &mut self.loaded else { return Ok(()) };
        let dt = loaded.demo.settings.dt;
        let due = loaded.solver.advance(seconds.min(dt)).min(1);
        self.draw(due)
    }

    /// Simulates one step and draws.
    pub fn step(&mut self) -> Result<(), JsError> {
        self.draw(1)
    }

    fn draw(&mut self, steps: u32) -> Result<(), JsError> {
        let aspect = self.aspect();
        let Some(loaded) = &mut self.loaded else { return Ok(()) };
        loaded.collect(aspect)?;
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        match &mut loaded.timer {
            Some(timer) if steps > 0 => {
                timer.collect().map_err(failure)?;
                timer.encode(&mut loaded.solver, &mut encoder, false).map_err(failure)?;
            }
            _ => loaded.solver.encode(&mut encoder, steps),
        }
        loaded.steps += steps;
        if loaded.pending.is_none() {
            loaded.pending = Some((loaded.solver.request_positions(&mut encoder), loaded.steps));
        }
        let texture = match self.surface.get_current_texture() {
            wgpu::CurrentSurfaceTexture::Success(texture) | wgpu::CurrentSurfaceTexture::Suboptimal(texture) => texture,
            _ => {
                self.gpu.queue.submit([encoder.finish()]);
                return Ok(());
            }
        };
        let view = texture.texture.create_view(&Default::default());
        let size = (self.config.width, self.config.height);
        loaded.renderer.draw(&mut encoder, &view, size, &loaded.solver, &loaded.demo, loaded.view);
        self.gpu.queue.submit([encoder.finish()]);
        self.gpu.queue.present(texture);
        Ok(())
    }

    /// The pointer goes down at a place of the canvas, from (0, 0) at the top left to (1, 1). True if it grabs the cloth.
    pub fn grab(&mut self, x: f32, y: f32) -> Result<bool, JsError> {
        let aspect = self.aspect();
        let Some(loaded) = &mut self.loaded else { return Ok(false) };
        loaded.pointer = of_canvas(x, y);
        let ray = loaded.demo.camera.ray(loaded.pointer, aspect);
        loaded.grip = Grip::grab(&loaded.demo, &mut loaded.solver, &loaded.positions, ray).map_err(failure)?;
        Ok(loaded.grip.is_some())
    }

    /// The pointer that grabbed the cloth moves.
    pub fn drag(&mut self, x: f32, y: f32) {
        if let Some(loaded) = &mut self.loaded {
            loaded.pointer = of_canvas(x, y);
        }
    }

    /// The pointer goes up.
    pub fn release(&mut self) -> Result<(), JsError> {
        self.loaded.as_mut().map_or(Ok(()), Loaded::let_go)
    }

    /// Turns the camera by a number of pixels.
    pub fn orbit(&mut self, x: f32, y: f32) {
        if let Some(loaded) = &mut self.loaded {
            loaded.demo.camera.orbit(Vec2::new(x, y));
        }
    }

    /// Moves the camera closer by a number of notches of a wheel.
    pub fn zoom(&mut self, notches: f32) {
        if let Some(loaded) = &mut self.loaded {
            loaded.demo.camera.zoom(notches);
        }
    }

    /// Sets the mean speed of the wind [m/s].
    pub fn set_wind(&mut self, speed: f32) -> Result<(), JsError> {
        let Some(loaded) = &mut self.loaded else { return Ok(()) };
        loaded.demo.settings.wind = (speed > 0.0).then(|| breeze(speed));
        loaded.solver.set_settings(loaded.demo.settings).map_err(failure)
    }

    /// Pins the corners, or releases them.
    pub fn set_pinned(&mut self, pinned: bool) -> Result<(), JsError> {
        let Some(loaded) = &mut self.loaded else { return Ok(()) };
        loaded.let_go()?;
        let pins: Vec<u32> = loaded.demo.scene.pinned_particles().collect();
        if pinned { loaded.solver.pin(&pins) } else { loaded.solver.release(&pins) }.map_err(failure)
    }

    /// Sets the colours: `cloth`, `strain` or `constraints`.
    pub fn set_view(&mut self, view: &str) {
        if let Some(loaded) = &mut self.loaded {
            loaded.view = match view {
                "strain" => ColorView::Strain,
                "constraints" => ColorView::Constraints,
                _ => ColorView::Cloth,
            };
        }
    }

    /// Puts the cloth back to its start.
    pub fn reset(&mut self) {
        if let Some(loaded) = &mut self.loaded {
            loaded.grip = None;
            loaded.solver.reset();
            loaded.steps = 0;
        }
    }

    /// Figures of the simulation, as JSON. Strain and lowest point are those of the last positions that were read back.
    pub fn figures(&self) -> Result<String, JsError> {
        let Some(loaded) = &self.loaded else { return Ok("{}".into()) };
        let strain = loaded.demo.scene.strain(loaded.demo.edges.clone(), &loaded.positions).map_err(failure)?;
        let lowest = loaded.positions.iter().map(|position| position[1]).fold(f32::INFINITY, f32::min);
        let figures = json!({
            "adapter": self.gpu.adapter.get_info().name,
            "particles": loaded.demo.scene.particle_count(),
            "constraints": loaded.demo.scene.constraint_count(),
            "substeps": loaded.demo.settings.substeps,
            "execution": format!("{:?}", loaded.solver.execution().execution).to_lowercase(),
            "steps": loaded.steps,
            "steps_read": loaded.steps_read,
            "gpu_ms": loaded.timer.as_ref().and_then(|timer| timer.milliseconds),
            "mean_strain": strain.mean,
            "max_strain": strain.max,
            "lowest_point": lowest,
            "grip_height": loaded.grip.as_ref().map(Grip::height),
        });
        Ok(figures.to_string())
    }

    fn aspect(&self) -> f32 {
        self.config.width as f32 / self.config.height as f32
    }
}

impl Loaded {
    /// Takes the positions if they have arrived, and moves the patch that is dragged.
    fn collect(&mut self, aspect: f32) -> Result<(), JsError> {
        let Some((pending, steps)) = &mut self.pending else { return Ok(()) };
        if let Some(positions) = pending.try_take().map_err(failure)? {
            // The patch moves by steps, not while paused.
            let is_new = *steps != self.steps_read;
            (self.positions, self.steps_read) = (positions, *steps);
            self.pending = None;
            if let Some(grip) = self.grip.as_mut().filter(|_| is_new) {
                grip.aim(&self.demo, self.pointer, aspect);
                grip.pull(&self.demo, &mut self.solver, &self.positions).map_err(failure)?;
            }
            if self.view == ColorView::Strain {
                self.renderer.set_strains(&self.solver, &particle_strains(&self.demo, &self.positions));
            }
        }
        Ok(())
    }

    fn let_go(&mut self) -> Result<(), JsError> {
        self.grip.take().map_or(Ok(()), |grip| grip.release(&mut self.solver)).map_err(failure)
    }
}

/// A place of the canvas, from (0, 0) at the top left to (1, 1), with axes from −1 to 1, y up.
fn of_canvas(x: f32, y: f32) -> Vec2 {
    Vec2::new(2.0 * x - 1.0, 1.0 - 2.0 * y)
}
