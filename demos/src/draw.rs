//! Draws the buffers of a solver in place, without readback or copies.

use super::Demo;
use super::camera::Camera;
use super::colliders::DrawnColliders;
use super::draw_pipelines::{DEPTH, Pipelines, SAMPLES};
use super::draw_resources::{bind, depth_attachment, strain_buffer, target};
use super::lines::{Tube, constraint_lines, texture_coordinates, tints, tubes};
use glam::camera::rh::{proj::directx::orthographic, view::look_at_mat4};
use glam::{Mat4, Vec3};
use supple::Solver;
use supple::wgpu::{self, util::DeviceExt};

const SHADOW_SIZE: u32 = 2048;

/// The view: surfaces in their colours, surfaces coloured by strain, or constraints as lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorView {
    #[default]
    Cloth,
    Strain,
    Constraints,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct FrameUniform {
    view_projection: Mat4,
    light_projection: Mat4,
    eye: Vec3,
    color_view: u32,
    light: Vec3,
    ground: f32,
}

/// Vertices of a rope segment and of a ball, as `tube_corner` and `ball_vertex` of `draw.wgsl` produce them.
const TUBE_CORNERS: u32 = 72;
const BALL_CORNERS: u32 = 8 * TUBE_CORNERS;

/// Pipelines and buffers for one solver, and render targets of the last picture size.
pub struct Renderer {
    device: wgpu::Device,
    queue: wgpu::Queue,
    format: wgpu::TextureFormat,
    uniform: wgpu::Buffer,
    strains: wgpu::Buffer,
    shadow: wgpu::TextureView,
    pipelines: Pipelines,
    bindings: wgpu::BindGroup,
    shadow_bindings: wgpu::BindGroup,
    line_instances: wgpu::Buffer,
    line_count: u32,
    tube_instances: wgpu::Buffer,
    tube_count: u32,
    /// The balls follow the tubes in the buffer.
    ball_count: u32,
    colliders: DrawnColliders,
    tints: wgpu::Buffer,
    texture: wgpu::Buffer,
    ground_height: f32,
    targets: Option<Targets>,
}

fn set_surface(pass: &mut wgpu::RenderPass<'_>, solver: &Solver) {
    pass.set_vertex_buffer(0, solver.positions().slice(..));
    pass.set_index_buffer(solver.indices().slice(..), wgpu::IndexFormat::Uint32);
}

struct Targets {
    size: (u32, u32),
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
}

impl Renderer {
    pub fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        format: wgpu::TextureFormat,
        demo: &Demo,
        solver: &Solver,
    ) -> Self {
        let pipelines = Pipelines::new(device, format);
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("frame"),
            size: size_of::<FrameUniform>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut all_lines = constraint_lines(demo, solver);
        let line_count = all_lines.len() as u32;
        // A buffer must not be empty.
        all_lines.push(bytemuck::Zeroable::zeroed());
        let mut tubes = tubes(demo);
        let tube_count = tubes.len() as u32;
        tubes.extend(demo.balls.iter().map(|&(particle, radius)| Tube { particles: [particle; 4], radius }));
        tubes.push(bytemuck::Zeroable::zeroed());
        let vertices = |label, contents| {
            let usage = wgpu::BufferUsages::VERTEX;
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: Some(label), contents, usage })
        };
        let line_instances = vertices("lines", bytemuck::cast_slice(&all_lines));
        let tube_instances = vertices("tubes", bytemuck::cast_slice(&tubes));
        let tints = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("tints"),
            contents: bytemuck::cast_slice(&tints(demo)),
            usage: wgpu::BufferUsages::STORAGE,
        });
        let texture = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("texture coordinates"),
            contents: bytemuck::cast_slice(&texture_coordinates(demo)),
            usage: wgpu::BufferUsages::STORAGE,
        });
        let strains = strain_buffer(device, &[0.0]);
        let shadow = target(device, (SHADOW_SIZE, SHADOW_SIZE), DEPTH, 1, wgpu::TextureUsages::TEXTURE_BINDING);
        let bindings =
            bind(device, &pipelines.layout, &uniform, &shadow, [&strains, solver.positions(), &tints, &texture]);
        let shadow_bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipelines.shadow_layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 4, resource: solver.positions().as_entire_binding() },
            ],
        });
        Self {
            device: device.clone(),
            queue: queue.clone(),
            format,
            uniform,
            strains,
            shadow,
            pipelines,
            bindings,
            shadow_bindings,
            line_instances,
            line_count,
            tube_instances,
            tube_count,
            ball_count: demo.balls.len() as u32,
            colliders: DrawnColliders::new(device, demo),
            tints,
            texture,
            ground_height: demo.ground,
            targets: None,
        }
    }

    /// Sets the strain of each particle, shown by [`ColorView::Strain`].
    pub fn set_strains(&mut self, solver: &Solver, strains: &[f32]) {
        if self.strains.size() == strains.len() as u64 * 4 {
            self.queue.write_buffer(&self.strains, 0, bytemuck::cast_slice(strains));
        } else {
            self.strains = strain_buffer(&self.device, strains);
            let points = [&self.strains, solver.positions(), &self.tints, &self.texture];
            self.bindings = bind(&self.device, &self.pipelines.layout, &self.uniform, &self.shadow, points);
        }
    }

    fn frame_uniform(&self, camera: &Camera, size: (u32, u32), color_view: ColorView) -> FrameUniform {
        let light = Vec3::new(0.5, 0.7, 0.65).normalize();
        let light_view = look_at_mat4(camera.target + light * 8.0, camera.target, Vec3::Y);
        FrameUniform {
            view_projection: camera.view_projection(size.0 as f32 / size.1 as f32),
            light_projection: orthographic(-3.2, 3.2, -3.2, 3.2, 0.1, 16.0) * light_view,
            eye: camera.eye(),
            color_view: u32::from(color_view == ColorView::Strain),
            light,
            ground: self.ground_height,
        }
    }

    /// Draws the depth of all surfaces, seen from the light.
    fn draw_shadows(&self, encoder: &mut wgpu::CommandEncoder, solver: &Solver) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("shadow"),
            depth_stencil_attachment: Some(depth_attachment(&self.shadow)),
            ..Default::default()
        });
        pass.set_bind_group(0, &self.shadow_bindings, &[]);
        // Colliders cast shadows by the same pipeline.
        pass.set_pipeline(&self.pipelines.surface_shadow);
        if solver.index_count() > 0 {
            set_surface(&mut pass, solver);
            pass.draw_indexed(0..solver.index_count(), 0, 0..1);
        }
        self.colliders.draw(&mut pass);
        self.draw_ropes_and_balls(&mut pass, &self.pipelines.tube_shadow, &self.pipelines.ball_shadow);
    }

    /// Records the draw calls of a frame.
    pub fn draw(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::TextureView,
        size: (u32, u32),
        solver: &Solver,
        demo: &Demo,
        color_view: ColorView,
    ) {
        self.colliders.place(&self.queue, demo.collider_poses());
        let uniform = self.frame_uniform(&demo.camera, size, color_view);
        self.queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&uniform));
        if self.targets.as_ref().is_none_or(|targets| targets.size != size) {
            let none = wgpu::TextureUsages::empty();
            let [color, depth] = [self.format, DEPTH].map(|format| target(&self.device, size, format, SAMPLES, none));
            self.targets = Some(Targets { size, color, depth });
        }
        let Some(targets) = &self.targets else { return };
        self.draw_shadows(encoder, solver);
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("picture"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &targets.color,
                depth_slice: None,
                resolve_target: Some(view),
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::WHITE), store: wgpu::StoreOp::Discard },
            })],
            depth_stencil_attachment: Some(depth_attachment(&targets.depth)),
            ..Default::default()
        });
        pass.set_bind_group(0, &self.bindings, &[]);
        pass.set_pipeline(&self.pipelines.sky);
        pass.draw(0..3, 0..1);
        pass.set_pipeline(&self.pipelines.ground);
        pass.draw(0..4, 0..1);
        pass.set_pipeline(&self.pipelines.collider);
        self.colliders.draw(&mut pass);
        // Scenes without surfaces, ropes and balls show only lines.
        let only_lines = solver.index_count() == 0 && self.tube_count == 0 && self.ball_count == 0;
        let wants_lines = color_view == ColorView::Constraints && self.line_count > 0;
        if only_lines || wants_lines {
            pass.set_pipeline(&self.pipelines.lines);
            pass.set_vertex_buffer(0, self.line_instances.slice(..));
            // Browsers warn about draws of zero instances.
            if self.line_count > 0 {
                pass.draw(0..6, 0..self.line_count);
            }
            return;
        }
        if solver.index_count() > 0 {
            pass.set_pipeline(&self.pipelines.surface);
            set_surface(&mut pass, solver);
            pass.set_vertex_buffer(1, solver.normals().slice(..));
            pass.draw_indexed(0..solver.index_count(), 0, 0..1);
        }
        self.draw_ropes_and_balls(&mut pass, &self.pipelines.tube, &self.pipelines.ball);
    }

    fn draw_ropes_and_balls(
        &self,
        pass: &mut wgpu::RenderPass,
        tube: &wgpu::RenderPipeline,
        ball: &wgpu::RenderPipeline,
    ) {
        pass.set_vertex_buffer(0, self.tube_instances.slice(..));
        // Browsers warn about draws of zero instances.
        if self.tube_count > 0 {
            pass.set_pipeline(tube);
            pass.draw(0..TUBE_CORNERS, 0..self.tube_count);
        }
        if self.ball_count > 0 {
            pass.set_pipeline(ball);
            pass.draw(0..BALL_CORNERS, self.tube_count..self.tube_count + self.ball_count);
        }
    }
}
