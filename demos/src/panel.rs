//! The control panel: values and sliders.

use super::markers::Markers;
use super::{Demo, breeze, headless, wind_of_speed};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use supple::gpu::{Context, Profile};
use supple::{Material, MaterialId, Settings, Solver, Strain, Wind, wgpu};
use winit::event::WindowEvent;
use winit::window::Window;

/// The panel in egui: input, layout and drawing.
pub struct Panel {
    context: egui::Context,
    state: egui_winit::State,
    renderer: egui_wgpu::Renderer,
    output: Option<egui::FullOutput>,
    frame_milliseconds: f32,
    /// If true, each pass is timed separately, which lengthens the step.
    pub profiles: bool,
    /// GPU time per step and pass [ms], smoothed.
    pass_milliseconds: Vec<(String, f64)>,
    /// Compliances that the user has changed.
    compliances: HashMap<MaterialId, f32>,
}

/// Values that the panel shows in a frame.
pub struct PanelInput<'a> {
    pub seconds: f32,
    pub has_timestamps: bool,
    pub gpu_milliseconds: Option<f64>,
    /// A profile received since the last frame.
    pub profile: Option<Profile>,
    pub adapter: String,
    pub paused: bool,
    pub strain: Strain,
    /// The last positions read back.
    pub positions: &'a [[f32; 3]],
}

/// The actions that the user has requested.
#[derive(Default)]
pub struct Requests {
    pub settings: Option<Settings>,
    pub materials: Vec<(MaterialId, Material)>,
    pub reset: bool,
}

const KEYS: &str = "drag: pull, or orbit\nright drag: orbit    wheel: zoom\nspace: pause    N: single step\n\
                    R: reset    P: pins off and on\nW: wind    C: colours    Q: quit";

impl Panel {
    pub fn new(window: &Window, gpu: &Context, format: wgpu::TextureFormat) -> Self {
        let context = egui::Context::default();
        let viewport = egui::ViewportId::ROOT;
        let texture_limit = gpu.device.limits().max_texture_dimension_2d as usize;
        let scale = Some(window.scale_factor() as f32);
        let state =
            egui_winit::State::new(context.clone(), viewport, window, scale, window.theme(), Some(texture_limit));
        let renderer = egui_wgpu::Renderer::new(&gpu.device, format, egui_wgpu::RendererOptions::default());
        Self {
            context,
            state,
            renderer,
            output: None,
            frame_milliseconds: 0.0,
            profiles: false,
            pass_milliseconds: Vec::new(),
            compliances: HashMap::new(),
        }
    }

    /// Returns true if the panel consumes the event.
    pub fn on_event(&mut self, window: &Window, event: &WindowEvent) -> bool {
        let consumed = self.state.on_window_event(window, event).consumed;
        // egui also claims Tab, and drags that have left the panel. The scene receives both unless the panel has the
        // keyboard focus.
        consumed && (self.context.is_pointer_over_egui() || self.context.egui_wants_keyboard_input())
    }

    /// Resets the sliders to the materials of the scene.
    pub fn reset_materials(&mut self) {
        self.compliances.clear();
    }

    /// Adds the times of a frame to the running means.
    fn note_times(&mut self, input: &PanelInput<'_>) {
        self.frame_milliseconds += (input.seconds * 1e3 - self.frame_milliseconds) * 0.1;
        if let Some(profile) = &input.profile {
            let known = std::mem::take(&mut self.pass_milliseconds);
            let smooth = |(name, now): (&str, f64)| {
                let before = known.iter().find(|(other, _)| other == name).map_or(now, |&(_, before)| before);
                (name.to_owned(), before + (now - before) * 0.1)
            };
            self.pass_milliseconds = profile.by_name().into_iter().map(smooth).collect();
        }
    }

    /// Lays out the panel.
    pub fn run(
        &mut self,
        window: &Window,
        input: &PanelInput<'_>,
        demo: &mut Demo,
        solver: &Solver,
        markers: &mut Markers,
    ) -> Requests {
        self.note_times(input);
        let milliseconds = self.frame_milliseconds;
        let mut requests = Requests::default();
        let raw_input = self.state.take_egui_input(window);
        let mut output = self.context.run_ui(raw_input, |ui| {
            // The rest scrolls in a small window.
            let height = (ui.ctx().content_rect().height() - 60.0).max(60.0);
            let shortcut = egui::KeyboardShortcut::new(egui::Modifiers::COMMAND, egui::Key::S);
            if ui.input_mut(|input| input.consume_shortcut(&shortcut))
                && let Some(script) = &mut demo.script
            {
                script.save(&demo.settings);
            }
            let panel = egui::Window::new(demo.title).default_pos([10.0, 10.0]).resizable(false);
            let contents = |ui: &mut egui::Ui| {
                value_rows(ui, input, demo, milliseconds);
                if !demo.note.is_empty() {
                    ui.label(&demo.note);
                }
                ui.separator();
                let mut settings = demo.settings;
                wind_slider(ui, demo.wind, &mut settings);
                ui.collapsing("solver", |ui| sliders(ui, demo, &mut settings, &mut self.compliances, &mut requests));
                requests.settings = (settings != demo.settings).then_some(settings);
                ui.horizontal(|ui| {
                    ui.checkbox(&mut markers.pins, "pins");
                    let contacts = format!("contacts: {}", markers.contact_count());
                    ui.checkbox(&mut markers.contacts, contacts);
                });
                if let Some(script) = &mut demo.script {
                    script.settings_panel(ui, &settings);
                    script.panel(ui);
                }
                ui.collapsing("details", |ui| {
                    detail_rows(ui, input, demo, solver);
                    ui.add_enabled(input.has_timestamps, egui::Checkbox::new(&mut self.profiles, "time passes"));
                    if self.profiles {
                        rows(ui, "passes", pass_rows(&self.pass_milliseconds));
                    }
                });
                ui.collapsing("keys", |ui| ui.label(KEYS));
                if ui.button("reset").clicked() {
                    requests.reset = true;
                }
            };
            panel.show(ui.ctx(), |ui| egui::ScrollArea::vertical().max_height(height).show(ui, contents));
            markers.draw(ui.ctx(), demo, input.positions);
        });
        self.state.handle_platform_output(window, std::mem::take(&mut output.platform_output));
        self.discard();
        self.output = Some(output);
        requests
    }

    /// Records the panel on top of the frame. Without a frame, only the textures of egui are updated.
    pub fn draw(
        &mut self,
        gpu: &Context,
        encoder: &mut wgpu::CommandEncoder,
        frame: Option<&wgpu::SurfaceTexture>,
        config: &wgpu::SurfaceConfiguration,
    ) -> Vec<wgpu::CommandBuffer> {
        let Some(output) = &mut self.output else { return Vec::new() };
        for (id, deltas) in output.textures_delta.set.drain() {
            for delta in deltas {
                self.renderer.update_texture(&gpu.device, &gpu.queue, id, &delta);
            }
        }
        let Some(frame) = frame else { return Vec::new() };
        let jobs = self.context.tessellate(std::mem::take(&mut output.shapes), output.pixels_per_point);
        let screen = egui_wgpu::ScreenDescriptor {
            size_in_pixels: [config.width, config.height],
            pixels_per_point: output.pixels_per_point,
        };
        let commands = self.renderer.update_buffers(&gpu.device, &gpu.queue, encoder, &jobs, &screen);
        let view = frame.texture.create_view(&Default::default());
        let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("panel"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store },
            })],
            ..Default::default()
        });
        self.renderer.render(&mut pass.forget_lifetime(), &jobs, &screen);
        commands
    }

    /// Frees the textures that egui no longer uses after this frame.
    pub fn after_submit(&mut self) {
        if let Some(output) = &mut self.output {
            for id in output.textures_delta.free.drain() {
                self.renderer.free_texture(&id);
            }
        }
        self.discard();
    }

    fn discard(&mut self) {
        if let Some(output) = self.output.take() {
            output.drop_without_applying_deltas();
        }
    }
}

fn value_rows(ui: &mut egui::Ui, input: &PanelInput<'_>, demo: &Demo, milliseconds: f32) {
    let gpu = match input.gpu_milliseconds {
        Some(gpu) => format!("{gpu:.2} ms per step of {:.2} ms", 1e3 * demo.settings.dt),
        None if input.has_timestamps => "–".into(),
        None => "not measured".into(),
    };
    let mut list = vec![
        ("picture", format!("{milliseconds:.1} ms{}", if input.paused { ", paused" } else { "" })),
        ("simulation", gpu),
        ("particles", demo.scene.particle_count().to_string()),
    ];
    // The edges across a tear are not those of the cloth any more.
    if !demo.edges.is_empty() && !demo.scene.can_tear() {
        let [mean, max] = [input.strain.mean, input.strain.max].map(|strain| strain * 100.0);
        list.push(("stretch", format!("mean {mean:.2} %, largest {max:.1} %")));
    }
    rows(ui, "values", list);
}

fn detail_rows(ui: &mut egui::Ui, input: &PanelInput<'_>, demo: &Demo, solver: &Solver) {
    let [colors, _] = headless::colors(solver);
    let list = vec![
        ("adapter", input.adapter.clone()),
        ("constraints", demo.scene.constraint_count().to_string()),
        ("execution", format!("{:?}", solver.execution().execution)),
        ("colours", colors.to_string()),
        ("dispatches", format!("{} per substep", solver.plan().dispatches_per_substep())),
    ];
    rows(ui, "details", list);
}

/// One row per pass: its name and GPU time.
fn pass_rows(milliseconds: &[(String, f64)]) -> Vec<(&str, String)> {
    milliseconds.iter().map(|(name, milliseconds)| (name.as_str(), format!("{milliseconds:.3} ms"))).collect()
}

fn rows(ui: &mut egui::Ui, id: &str, rows: Vec<(&str, String)>) {
    egui::Grid::new(id).num_columns(2).show(ui, |ui| {
        for (name, value) in rows {
            ui.label(name);
            ui.label(value);
            ui.end_row();
        }
    });
}

/// A slider that leaves a value beyond its range as it is until the user moves it.
fn slider<Value: egui::emath::Numeric>(value: &mut Value, range: RangeInclusive<Value>) -> egui::Slider<'_> {
    egui::Slider::new(value, range).clamping(egui::SliderClamping::Edits)
}

fn wind_slider(ui: &mut egui::Ui, own: Option<Wind>, settings: &mut Settings) {
    let mut speed = settings.wind.map_or(0.0, |wind| glam::Vec3::from(wind.velocity).length());
    if ui.add(slider(&mut speed, 0.0..=20.0).text("wind [m/s]")).changed() {
        settings.wind = wind_of_speed(own.unwrap_or_else(|| breeze(1.0)), speed);
    }
}

fn sliders(
    ui: &mut egui::Ui,
    demo: &Demo,
    settings: &mut Settings,
    compliances: &mut HashMap<MaterialId, f32>,
    requests: &mut Requests,
) {
    ui.add(slider(&mut settings.substeps, 1..=100).text("substeps"));
    // The product of both is limited (`Settings::check`).
    let most = (100_000 / settings.substeps.max(1)).clamp(1, 20);
    ui.add(slider(&mut settings.iterations, 1..=most).text("iterations"));
    ui.add(slider(&mut settings.damping, 0.0..=5.0).text("damping [1/s]"));
    ui.checkbox(&mut settings.tethers, "tethers");
    for &(name, id) in &demo.materials {
        let Ok(mut material) = demo.scene.material(id) else { continue };
        material.compliance = compliances.get(&id).copied().unwrap_or(material.compliance);
        let slider = egui::Slider::new(&mut material.compliance, 0.0..=1.0).logarithmic(true).smallest_positive(1e-8);
        if ui.add(slider.text(format!("{name} [m/N]"))).changed() {
            compliances.insert(id, material.compliance);
            requests.materials.push((id, material));
        }
    }
}
