//! Pictures without a window: a render target and its export to files.

use super::Demo;
use super::draw::{ColorView, Renderer};
use image::codecs::gif::{GifEncoder, Repeat};
use image::{Delay, Frame, RgbaImage, imageops};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::mpsc;
use supple::gpu::Context;
use supple::{Solver, wgpu};

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;

/// Renders a solver into images.
pub struct ImageRenderer {
    renderer: Renderer,
    texture: wgpu::Texture,
    size: (u32, u32),
}

impl ImageRenderer {
    pub fn new(gpu: &Context, demo: &Demo, solver: &Solver, size: (u32, u32)) -> Self {
        let renderer = Renderer::new(&gpu.device, &gpu.queue, FORMAT, demo, solver);
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("picture"),
            size: wgpu::Extent3d { width: size.0, height: size.1, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        Self { renderer, texture, size }
    }

    pub fn render(&mut self, gpu: &Context, demo: &Demo, solver: &Solver) -> anyhow::Result<RgbaImage> {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let view = self.texture.create_view(&Default::default());
        self.renderer.draw(&mut encoder, &view, self.size, solver, demo, ColorView::Cloth);
        read_texture(gpu, encoder, &self.texture)
    }
}

/// Submits the commands of an encoder, and reads a texture of 4 bytes per texel after them.
pub fn read_texture(
    gpu: &Context,
    mut encoder: wgpu::CommandEncoder,
    texture: &wgpu::Texture,
) -> anyhow::Result<RgbaImage> {
    let (width, height) = (texture.width(), texture.height());
    let stride = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let staging = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("picture"),
        size: u64::from(stride) * u64::from(height),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(stride), rows_per_image: None };
    let destination = wgpu::TexelCopyBufferInfo { buffer: &staging, layout };
    encoder.copy_texture_to_buffer(texture.as_image_copy(), destination, texture.size());
    let (sender, receiver) = mpsc::channel();
    encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., move |result| {
        let _ = sender.send(result);
    });
    gpu.queue.submit([encoder.finish()]);
    gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
    receiver.recv()??;
    let view = staging.get_mapped_range(..)?;
    let rows = view.chunks_exact(stride as usize).flat_map(|row| &row[..width as usize * 4]);
    RgbaImage::from_raw(width, height, rows.copied().collect()).ok_or_else(|| anyhow::anyhow!("picture too short"))
}

/// A GIF that is written picture by picture, at half the picture size.
pub struct Film {
    encoder: GifEncoder<BufWriter<File>>,
}

impl Film {
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let mut encoder = GifEncoder::new_with_speed(BufWriter::new(File::create(path)?), 20);
        encoder.set_repeat(Repeat::Infinite)?;
        Ok(Self { encoder })
    }

    /// Adds a picture of 1/30 s.
    pub fn push(&mut self, picture: &RgbaImage) -> anyhow::Result<()> {
        let small = imageops::thumbnail(picture, picture.width() / 2, picture.height() / 2);
        // GIF delays are in hundredths of a second.
        self.encoder.encode_frame(Frame::from_parts(small, 0, 0, Delay::from_numer_denom_ms(30, 1)))?;
        Ok(())
    }
}
