//! supple inside an existing renderer. This program owns the window, device, queue, encoder, depth buffer and pipelines.
//! supple records its steps into the same encoder. The renderer draws the cloth directly from the buffers of supple, with
//! texture coordinates of its own. A frame copies nothing and does not wait for the GPU; only a grab of the cloth waits.
//!
//! Drag the cloth with the pointer. With `--headless`, or without a display, the program renders offscreen and
//! writes the last frame to `out/embed.png`.

use glam::camera::rh::{proj::directx::perspective, view::look_at_mat4};
use glam::{Mat4, Vec2, Vec3};
use std::{sync::Arc, time::Instant};
use supple::wgpu::{self, util::DeviceExt};
use supple::{Attachment, AttachmentId, AttachmentTarget, Material, Ray};
use supple::{ClothGrid, Collider, Fabric, Scene, Settings, Shape, Solver, Wind};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, MouseButton, WindowEvent};
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::window::{Window, WindowId};

/// The part of the program that uses supple.
struct Simulation {
    solver: Solver,
    /// Texture coordinates of the particles \[m\], a vertex buffer of the renderer.
    texture: wgpu::Buffer,
    grip: Option<AttachmentId>,
}

/// A cloth of 48 × 48 particles, pinned at two corners, above a box.
fn scene() -> supple::Result<Scene> {
    let mut scene = Scene::new();
    let grid = ClothGrid { columns: 48, rows: 48, fabric: Fabric::COTTON, ..ClothGrid::default() };
    let cloth = scene.add_cloth_grid(&grid)?;
    cloth.corners()?[..2].iter().try_for_each(|&corner| scene.pin(corner))?;
    scene.add_collider(Collider::new(Shape::Box { half_extents: [0.35; 3] }, [0.0, -0.9, 0.1]))?;
    // For the pointer.
    scene.reserve_attachments(1)?;
    Ok(scene)
}

impl Simulation {
    fn new(device: &wgpu::Device, queue: &wgpu::Queue, scene: &Scene) -> supple::Result<Self> {
        let wind = Wind { velocity: [0.0, 0.1, -1.0], gust: 0.5, ..Wind::default() };
        let solver = Solver::new(device, queue, scene, Settings { wind: Some(wind), ..Settings::default() })?;
        // A particle is a vertex. The cloth starts flat, so its positions are its texture coordinates.
        let coordinates: Vec<[f32; 2]> = scene.positions().iter().map(|&[x, _, z]| [x, z]).collect();
        let texture = buffer(device, wgpu::BufferUsages::VERTEX, bytemuck::cast_slice(&coordinates));
        Ok(Self { solver, texture, grip: None })
    }

    /// Records the steps that are due after another `seconds`, and returns by how much the picture is behind the last step.
    ///
    /// A step has a fixed length; a frame has any. `advance` returns whole steps and keeps the rest. The picture is one step
    /// behind real time, between the last two steps: at x − lag · v, so its motion is smooth at any frame rate.
    fn simulate(&mut self, encoder: &mut wgpu::CommandEncoder, seconds: f32) -> f32 {
        let steps = self.solver.advance(seconds);
        self.solver.encode(encoder, steps);
        (1.0 - self.solver.interpolation()) * self.solver.settings().dt
    }

    /// One vertex per particle.
    fn draw(&self, pass: &mut wgpu::RenderPass) {
        pass.set_vertex_buffer(0, self.solver.positions().slice(..));
        pass.set_vertex_buffer(1, self.solver.normals().slice(..));
        pass.set_vertex_buffer(2, self.solver.velocities().slice(..));
        pass.set_vertex_buffer(3, self.texture.slice(..));
        pass.set_index_buffer(self.solver.indices().slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..self.solver.index_count(), 0, 0..1);
    }

    /// Ties the first point of the cloth on the ray to that place by a damped spring of 50 N/m; returns the place, or `None`
    /// if the ray misses the cloth. Waits for the GPU.
    fn grab(&mut self, origin: Vec3, direction: Vec3) -> supple::Result<Option<Vec3>> {
        let ray = Ray { origin: origin.into(), direction: direction.into(), radius: 0.0 };
        let Some(hit) = self.solver.pick(&ray)? else { return Ok(None) };
        self.let_go()?;
        let place = ray.at(hit.distance);
        let material = Material { damping_time: 0.02, ..Material::compliant(1.0 / 50.0) };
        let attachment = Attachment::new(hit.point, AttachmentTarget::Space(place));
        self.grip = Some(self.solver.attach(Attachment { material, ..attachment })?);
        Ok(Some(place.into()))
    }

    fn drag(&mut self, place: Vec3) -> supple::Result<()> {
        self.grip.map_or(Ok(()), |grip| self.solver.move_attachment(grip, place.into()))
    }

    fn let_go(&mut self) -> supple::Result<()> {
        self.grip.take().map_or(Ok(()), |grip| self.solver.release_attachment(grip))
    }
}

// The rest is a renderer.

const EYE: Vec3 = Vec3::new(2.1, 0.2, 2.6);
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

fn main() -> anyhow::Result<()> {
    if std::env::args().any(|argument| argument == "--headless") {
        return picture();
    }
    let event_loop = match EventLoop::new() {
        Ok(event_loop) => event_loop,
        Err(reason) => {
            eprintln!("No window can be opened ({reason}); rendering offscreen instead.");
            return picture();
        }
    };
    let mut app = App::default();
    event_loop.run_app(&mut app)?;
    app.failure.map_or(Ok(()), Err)
}

struct Renderer {
    device: wgpu::Device,
    queue: wgpu::Queue,
    simulation: Simulation,
    cloth: (wgpu::RenderPipeline, wgpu::BindGroup),
    cube: (wgpu::RenderPipeline, wgpu::BindGroup),
    uniform: wgpu::Buffer,
    depth: wgpu::Texture,
}

impl Renderer {
    fn new(adapter: &wgpu::Adapter, format: wgpu::TextureFormat, size: [u32; 2]) -> anyhow::Result<Self> {
        let scene = scene()?;
        let descriptor =
            wgpu::DeviceDescriptor { required_limits: supple::required_limits(&scene), ..Default::default() };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))?;
        let simulation = Simulation::new(&device, &queue, &scene)?;
        // A matrix, and the lag with padding.
        let uniform = buffer(&device, wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST, &[0; 80]);
        let stream = |array_stride, attributes| {
            Some(wgpu::VertexBufferLayout { array_stride, step_mode: wgpu::VertexStepMode::Vertex, attributes })
        };
        // The buffers of supple hold one vec4 per particle: a stride of 16 bytes.
        let streams = [
            stream(16, &wgpu::vertex_attr_array![0 => Float32x4]),
            stream(16, &wgpu::vertex_attr_array![1 => Float32x4]),
            stream(16, &wgpu::vertex_attr_array![2 => Float32x4]),
            stream(8, &wgpu::vertex_attr_array![3 => Float32x2]),
        ];
        let pipelines = [
            pipeline(&device, ["cloth", "checker"], &streams, format),
            pipeline(&device, ["cube", "plain"], &[], format),
        ];
        let entries = &[wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() }];
        let [cloth, cube] = pipelines.map(|pipeline| {
            let layout = &pipeline.get_bind_group_layout(0);
            let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries });
            (pipeline, bindings)
        });
        let depth = target(&device, DEPTH, size);
        Ok(Self { device, queue, simulation, cloth, cube, uniform, depth })
    }

    /// From space to the picture.
    fn camera(&self) -> Mat4 {
        let aspect = self.depth.width() as f32 / self.depth.height() as f32;
        perspective(45f32.to_radians(), aspect, 0.1, 50.0) * look_at_mat4(EYE, Vec3::new(0.0, -0.9, -0.4), Vec3::Y)
    }

    /// Records and submits a frame.
    fn frame(&mut self, seconds: f32, view: &wgpu::TextureView) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let lag = self.simulation.simulate(&mut encoder, seconds);
        let mut uniform = [0.0; 20];
        uniform[..16].copy_from_slice(&self.camera().to_cols_array());
        uniform[16] = lag;
        self.queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&uniform));
        let depth = self.depth.create_view(&Default::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::WHITE), store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_pipeline(&self.cube.0);
        pass.set_bind_group(0, &self.cube.1, &[]);
        pass.draw(0..36, 0..1);
        pass.set_pipeline(&self.cloth.0);
        pass.set_bind_group(0, &self.cloth.1, &[]);
        self.simulation.draw(&mut pass);
        drop(pass);
        self.queue.submit([encoder.finish()]);
    }
}

fn buffer(device: &wgpu::Device, usage: wgpu::BufferUsages, contents: &[u8]) -> wgpu::Buffer {
    device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
}

fn pipeline(
    device: &wgpu::Device,
    [vertex, fragment]: [&str; 2],
    buffers: &[Option<wgpu::VertexBufferLayout>],
    format: wgpu::TextureFormat,
) -> wgpu::RenderPipeline {
    let module = &device.create_shader_module(wgpu::include_wgsl!("embed.wgsl"));
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(vertex),
        layout: None,
        vertex: wgpu::VertexState {
            module,
            entry_point: Some(vertex),
            compilation_options: Default::default(),
            buffers,
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Less),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some(fragment),
            compilation_options: Default::default(),
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn target(device: &wgpu::Device, format: wgpu::TextureFormat, [width, height]: [u32; 2]) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

#[derive(Default)]
struct App {
    screen: Option<Screen>,
    failure: Option<anyhow::Error>,
}

/// The state while the window is open.
struct Screen {
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    renderer: Renderer,
    last_frame: Instant,
    /// The pointer in the picture; both axes run from −1 to 1, y up.
    pointer: Vec2,
    /// The depth of the grabbed point in the picture: 0 is near, 1 is far.
    grabbed: Option<f32>,
}

impl Screen {
    fn open(event_loop: &ActiveEventLoop) -> anyhow::Result<Self> {
        let window = Arc::new(event_loop.create_window(Window::default_attributes().with_title("supple: embed"))?);
        let display = Box::new(event_loop.owned_display_handle());
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_with_display_handle_from_env(display));
        let surface = instance.create_surface(window.clone())?;
        let adapter = supple::gpu::choose_adapter(&instance, Some(&surface))?;
        let size = window.inner_size();
        let mut config = surface
            .get_default_config(&adapter, size.width.max(1), size.height.max(1))
            .ok_or_else(|| anyhow::anyhow!("the adapter cannot draw to the window"))?;
        let formats = surface.get_capabilities(&adapter).formats;
        config.format = formats.into_iter().find(|format| format.is_srgb()).unwrap_or(config.format);
        let renderer = Renderer::new(&adapter, config.format, [config.width, config.height])?;
        surface.configure(&renderer.device, &config);
        let (last_frame, pointer) = (Instant::now(), Vec2::ZERO);
        Ok(Self { window, surface, config, renderer, last_frame, pointer, grabbed: None })
    }

    fn resize(&mut self, size: PhysicalSize<u32>) {
        // A minimised window has no size.
        if size.width > 0 && size.height > 0 {
            (self.config.width, self.config.height) = (size.width, size.height);
            self.surface.configure(&self.renderer.device, &self.config);
            self.renderer.depth = target(&self.renderer.device, DEPTH, size.into());
        }
    }

    /// The point in space under the pointer, at a depth of 0 (near) to 1 (far).
    fn under_pointer(&self, depth: f32) -> Vec3 {
        self.renderer.camera().inverse().project_point3(self.pointer.extend(depth))
    }

    fn press(&mut self) -> supple::Result<()> {
        let place = self.renderer.simulation.grab(EYE, self.under_pointer(0.0) - EYE)?;
        self.grabbed = place.map(|place| self.renderer.camera().project_point3(place).z);
        Ok(())
    }

    fn move_pointer(&mut self, x: f32, y: f32) -> supple::Result<()> {
        let size = Vec2::new(self.config.width as f32, self.config.height as f32);
        self.pointer = (Vec2::new(x, y) / size * 2.0 - 1.0) * Vec2::new(1.0, -1.0);
        self.grabbed.map_or(Ok(()), |depth| self.renderer.simulation.drag(self.under_pointer(depth)))
    }

    fn redraw(&mut self) -> anyhow::Result<()> {
        use wgpu::CurrentSurfaceTexture::{Occluded, Outdated, Suboptimal, Success, Timeout};
        let seconds = std::mem::replace(&mut self.last_frame, Instant::now()).elapsed().as_secs_f32();
        match self.surface.get_current_texture() {
            Success(texture) | Suboptimal(texture) => {
                self.renderer.frame(seconds, &texture.texture.create_view(&Default::default()));
                self.renderer.queue.present(texture);
            }
            Outdated => self.resize(self.window.inner_size()),
            Occluded | Timeout => std::thread::sleep(std::time::Duration::from_millis(10)),
            fault => anyhow::bail!("the window cannot be drawn to: {fault:?}"),
        }
        self.window.request_redraw();
        Ok(())
    }
}

impl App {
    fn handle(&mut self, event_loop: &ActiveEventLoop, event: WindowEvent) -> anyhow::Result<()> {
        let Some(screen) = &mut self.screen else { return Ok(()) };
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::Resized(size) => screen.resize(size),
            WindowEvent::RedrawRequested => screen.redraw()?,
            WindowEvent::CursorMoved { position, .. } => screen.move_pointer(position.x as f32, position.y as f32)?,
            WindowEvent::MouseInput { state: ElementState::Pressed, button: MouseButton::Left, .. } => {
                screen.press()?
            }
            WindowEvent::MouseInput { button: MouseButton::Left, .. } => {
                screen.grabbed = None;
                screen.renderer.simulation.let_go()?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends the program if the result is an error.
    fn check<T>(&mut self, event_loop: &ActiveEventLoop, result: anyhow::Result<T>) -> Option<T> {
        result.map_err(|failure| (self.failure, _) = (Some(failure), event_loop.exit())).ok()
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.screen.is_none() {
            self.screen = self.check(event_loop, Screen::open(event_loop));
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let result = self.handle(event_loop, event);
        self.check(event_loop, result);
    }
}

/// Renders 70 frames offscreen, checks by colour that the cloth and the cube are visible in the last one, and writes it.
fn picture() -> anyhow::Result<()> {
    let (width, height, format) = (640, 480, wgpu::TextureFormat::Rgba8UnormSrgb);
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = supple::gpu::choose_adapter(&instance, None)?;
    let mut renderer = Renderer::new(&adapter, format, [width, height])?;
    let picture = target(&renderer.device, format, [width, height]);
    let view = picture.create_view(&Default::default());
    for _ in 0..70 {
        renderer.frame(1.0 / 60.0, &view);
    }
    let Renderer { device, queue, .. } = renderer;
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let staging = buffer(&device, usage, &vec![0; (width * height * 4) as usize]);
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(width * 4), rows_per_image: None };
    let mut encoder = device.create_command_encoder(&Default::default());
    let destination = wgpu::TexelCopyBufferInfo { buffer: &staging, layout };
    encoder.copy_texture_to_buffer(picture.as_image_copy(), destination, picture.size());
    encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., |_| {});
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let pixels = staging.get_mapped_range(..)?.to_vec();
    let count = |is: fn(i16, i16) -> bool| pixels.chunks(4).filter(|p| is(p[0].into(), p[2].into())).count();
    let (blue, orange) = (count(|red, blue| blue > red + 30), count(|red, blue| red > blue + 60));
    println!("{blue} pixels of cloth and {orange} pixels of cube in {}", pixels.len() / 4);
    anyhow::ensure!(blue > 15_000 && orange > 3_000, "the cloth or the cube is missing in the picture");
    std::fs::create_dir_all("out")?;
    image::save_buffer("out/embed.png", &pixels, width, height, image::ExtendedColorType::Rgba8)?;
    println!("wrote out/embed.png");
    Ok(())
}
