//! A cloth in a panel of egui. The window, the device, the queue and the depth buffer are those of eframe. The steps of supple are
//! recorded into the encoder of egui, before the render pass in which the paint callback draws the cloth.
//!
//! Drag the cloth with the pointer. The sliders change its settings while it moves.

use eframe::egui::{self, mutex::Mutex};
use eframe::egui_wgpu::{Callback, CallbackResources, CallbackTrait, RenderState, ScreenDescriptor};
use glam::camera::rh::{proj::directx::perspective, view::look_at_mat4};
use glam::{Mat4, Vec3};
use std::sync::Arc;
use supple::{
    Attachment, AttachmentId, AttachmentTarget, ClothGrid, Fabric, Material, Ray, Scene, Settings, Solver, Wind, wgpu,
};

const SAMPLES: u32 = 4;
const EYE: [f32; 3] = [1.6, 0.2, 2.6];

fn main() -> eframe::Result {
    // A depth buffer of 32 bits is `Depth32Float`. A scene above the default limits needs `wgpu_options` as well, with
    // `supple::required_limits` in the `device_descriptor`.
    let options = eframe::NativeOptions { depth_buffer: 32, multisampling: SAMPLES as u16, ..Default::default() };
    eframe::run_native("supple in egui", options, Box::new(|context| Ok(Box::new(App::new(context)?))))
}

struct App {
    /// Shared with the paint callback, which egui calls after `ui`.
    solver: Arc<Mutex<Solver>>,
    drawing: Arc<Drawing>,
    settings: Settings,
    wind: f32,
    grip: Option<Grip>,
}

/// A point of the cloth tied to the pointer, and its depth in the picture.
struct Grip {
    id: AttachmentId,
    depth: f32,
}

impl App {
    fn new(context: &eframe::CreationContext) -> anyhow::Result<Self> {
        let gpu = context.wgpu_render_state.as_ref().ok_or_else(|| anyhow::anyhow!("eframe runs without wgpu"))?;
        let mut scene = Scene::new();
        let cloth =
            scene.add_cloth_grid(&ClothGrid { columns: 48, rows: 48, fabric: Fabric::COTTON, ..Default::default() })?;
        cloth.corners()?[..2].iter().try_for_each(|&corner| scene.pin(corner))?;
        // The attachment by which the pointer drags.
        scene.reserve_attachments(1)?;
        let settings = Settings::default();
        let solver = Solver::new(&gpu.device, &gpu.queue, &scene, settings)?;
        let (solver, drawing) = (Arc::new(Mutex::new(solver)), Arc::new(Drawing::new(gpu)));
        Ok(Self { solver, drawing, settings, wind: 0.5, grip: None })
    }

    fn controls(&mut self, ui: &mut egui::Ui) -> supple::Result<()> {
        ui.add(egui::Slider::new(&mut self.wind, 0.0..=10.0).text("wind [m/s]"));
        ui.add(egui::Slider::new(&mut self.settings.substeps, 1..=50).text("substeps"));
        ui.add(egui::Slider::new(&mut self.settings.damping, 0.0..=5.0).text("damping [1/s]"));
        self.settings.wind = Some(Wind { velocity: [0.0, 0.1 * self.wind, -self.wind], gust: 0.5, ..Wind::default() });
        let mut solver = self.solver.lock();
        if *solver.settings() != self.settings {
            solver.set_settings(self.settings)?;
        }
        if ui.button("reset").clicked() {
            solver.reset();
            // A reset removes attachments.
            self.grip = None;
        }
        Ok(())
    }

    fn picture(&mut self, ui: &mut egui::Ui) -> supple::Result<()> {
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), egui::Sense::drag());
        let camera = camera(rect.aspect_ratio());
        let mut solver = self.solver.lock();
        if let Some(pointer) = response.interact_pointer_pos() {
            let place = (pointer - rect.center()) / (0.5 * rect.size());
            // The point in space under the pointer, at a depth of 0 (near) to 1 (far).
            let under = |depth| camera.inverse().project_point3(Vec3::new(place.x, -place.y, depth));
            if response.drag_started() {
                self.grip = grab(&mut solver, under(0.0), camera)?;
            } else if let Some(Grip { id, depth }) = self.grip {
                solver.move_attachment(id, under(depth).into())?;
            }
        }
        if response.drag_stopped()
            && let Some(grip) = self.grip.take()
        {
            solver.release_attachment(grip.id)?;
        }
        let steps = solver.advance(ui.input(|input| input.stable_dt));
        let (solver, drawing) = (self.solver.clone(), self.drawing.clone());
        ui.painter().add(Callback::new_paint_callback(rect, Picture { solver, drawing, steps, camera }));
        Ok(())
    }
}

fn camera(aspect: f32) -> Mat4 {
    // 45° along the shorter side of the picture.
    let half = (0.5 * 45f32.to_radians()).tan() / aspect.min(1.0);
    perspective(2.0 * half.atan(), aspect, 0.1, 50.0) * look_at_mat4(EYE.into(), Vec3::new(0.0, -0.9, -0.7), Vec3::Y)
}

/// Ties the point of the cloth under the pointer to the pointer by a damped spring of 50 N/m. `near` is the start of the ray.
fn grab(solver: &mut Solver, near: Vec3, camera: Mat4) -> supple::Result<Option<Grip>> {
    let ray = Ray { origin: EYE, direction: (near - Vec3::from(EYE)).into(), radius: 0.0 };
    // `pick` waits for the GPU, here once a drag.
    let Some(hit) = solver.pick(&ray)? else { return Ok(None) };
    let place = ray.at(hit.distance);
    let material = Material { damping_time: 0.02, ..Material::compliant(1.0 / 50.0) };
    let attachment = Attachment { material, ..Attachment::new(hit.point, AttachmentTarget::Space(place)) };
    let id = solver.attach(attachment)?;
    Ok(Some(Grip { id, depth: camera.project_point3(place.into()).z }))
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        let controls = egui::Panel::left("controls").show(ui, |ui| self.controls(ui)).inner;
        let picture = egui::CentralPanel::default().show(ui, |ui| self.picture(ui)).inner;
        if let Err(fault) = controls.and(picture) {
            eprintln!("{fault}");
        }
        ui.ctx().request_repaint();
    }
}

/// One frame of the picture.
struct Picture {
    solver: Arc<Mutex<Solver>>,
    drawing: Arc<Drawing>,
    steps: u32,
    camera: Mat4,
}

impl CallbackTrait for Picture {
    fn prepare(
        &self,
        _: &wgpu::Device,
        queue: &wgpu::Queue,
        _: &ScreenDescriptor,
        encoder: &mut wgpu::CommandEncoder,
        _: &mut CallbackResources,
    ) -> Vec<wgpu::CommandBuffer> {
        queue.write_buffer(&self.drawing.camera, 0, bytemuck::bytes_of(&self.camera));
        self.solver.lock().encode(encoder, self.steps);
        Vec::new()
    }

    fn paint(&self, _: egui::PaintCallbackInfo, pass: &mut wgpu::RenderPass<'static>, _: &CallbackResources) {
        let solver = self.solver.lock();
        pass.set_pipeline(&self.drawing.pipeline);
        pass.set_bind_group(0, &self.drawing.bindings, &[]);
        pass.set_vertex_buffer(0, solver.positions().slice(..));
        pass.set_vertex_buffer(1, solver.normals().slice(..));
        pass.set_index_buffer(solver.indices().slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..solver.index_count(), 0, 0..1);
    }
}

struct Drawing {
    pipeline: wgpu::RenderPipeline,
    bindings: wgpu::BindGroup,
    camera: wgpu::Buffer,
}

// egui draws in sRGB values, so colours are not converted. A vertex is a particle; the pattern follows rows and columns.
const SHADER: &str = "
@group(0) @binding(0) var<uniform> camera: mat4x4f;
struct Out { @builtin(position) clip: vec4f, @location(0) normal: vec3f, @location(1) cell: vec2f }
@vertex fn cloth(@builtin(vertex_index) i: u32, @location(0) position: vec4f, @location(1) normal: vec4f) -> Out {
    let cell = vec2f(f32(i % 48u), f32(i / 48u)) / 4.0;
    return Out(camera * vec4f(position.xyz, 1.0), normal.xyz, cell);
}
@fragment fn shade(in: Out, @builtin(front_facing) is_front: bool) -> @location(0) vec4f {
    let normal = normalize(select(-in.normal, in.normal, is_front));
    let light = 0.6 + 0.4 * dot(normal, normalize(vec3f(0.5, 0.5, 0.7)));
    let cell = vec2u(in.cell);
    let color = select(vec3f(0.95, 0.9, 0.8), vec3f(0.2, 0.45, 0.75), (cell.x + cell.y) % 2u == 0u);
    return vec4f(color * light, 1.0);
}";

impl Drawing {
    fn new(RenderState { device, target_format, .. }: &RenderState) -> Self {
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("cloth"),
            source: wgpu::ShaderSource::Wgsl(SHADER.into()),
        });
        // The buffers of supple hold one vec4 per particle: a stride of 16 bytes.
        let stream = |attributes| {
            Some(wgpu::VertexBufferLayout { array_stride: 16, step_mode: wgpu::VertexStepMode::Vertex, attributes })
        };
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("cloth"),
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("cloth"),
                compilation_options: Default::default(),
                buffers: &[
                    stream(&wgpu::vertex_attr_array![0 => Float32x4]),
                    stream(&wgpu::vertex_attr_array![1 => Float32x4]),
                ],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: wgpu::TextureFormat::Depth32Float,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: wgpu::MultisampleState { count: SAMPLES, ..Default::default() },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("shade"),
                compilation_options: Default::default(),
                targets: &[Some((*target_format).into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let camera = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("camera"),
            size: size_of::<Mat4>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("cloth"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: camera.as_entire_binding() }],
        });
        Self { pipeline, bindings, camera }
    }
}
