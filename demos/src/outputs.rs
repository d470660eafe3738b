//! The files of a run without a window: pictures, a film, meshes.

use super::obj::Sequence;
use super::picture::{Film, ImageRenderer};
use super::{Demo, Options, print};
use anyhow::Context as _;
use std::path::Path;
use supple::Solver;
use supple::gpu::Context;

/// Steps between the pictures of `--png`. Each replaces the previous one, so that a long run can be watched.
const STEPS_PER_PICTURE: u32 = 30;

/// The open files of a run, and the renderer of its pictures.
pub struct Outputs<'a> {
    options: &'a Options,
    renderer: Option<ImageRenderer>,
    film: Option<Film>,
    sequence: Option<Sequence>,
}

impl<'a> Outputs<'a> {
    /// Checks the paths, and writes the meshes of the start.
    pub fn create(gpu: &Context, demo: &Demo, solver: &Solver, options: &'a Options) -> anyhow::Result<Self> {
        let picture_size = options.picture_size()?;
        for path in options.png.iter().chain(&options.gif).chain(&options.positions).chain(&options.trace) {
            check_file(path)?;
        }
        if let Some(path) = &options.png {
            let format = image::ImageFormat::from_path(path).with_context(|| cannot_write(path))?;
            anyhow::ensure!(format == image::ImageFormat::Png, "{}: pictures are PNG", cannot_write(path));
        }
        if let Some(folder) = &options.pictures {
            std::fs::create_dir_all(folder).with_context(|| cannot_write(folder))?;
        }
        let wants_pictures = options.png.is_some() || options.gif.is_some() || options.pictures.is_some();
        let renderer = wants_pictures.then(|| ImageRenderer::new(gpu, demo, solver, picture_size));
        let film = |path| Film::create(path).with_context(|| cannot_write(path));
        let film = options.gif.as_deref().map(film).transpose()?;
        let sequence = |folder| Sequence::create(folder, options.every, demo);
        let mut sequence = options.obj.as_deref().map(sequence).transpose()?;
        if let Some(sequence) = &mut sequence {
            sequence.write(demo.scene.positions())?;
        }
        Ok(Self { options, renderer, film, sequence })
    }

    /// Writes what is due after a step. Returns a message for the user, if there is one.
    pub fn write(&mut self, gpu: &Context, demo: &Demo, solver: &Solver, step: u32) -> anyhow::Result<Option<String>> {
        let Options { png, pictures, every, frames, .. } = self.options;
        if let Some(sequence) = self.sequence.as_mut().filter(|sequence| sequence.wants(step)) {
            sequence.write(&solver.read_positions()?)?;
        }
        let Some(renderer) = &mut self.renderer else { return Ok(None) };
        if let (Some(film), 1) = (&mut self.film, step % 2) {
            film.push(&renderer.render(gpu, demo, solver)?)?;
        }
        if let (Some(folder), 0) = (pictures, step % every) {
            let path = folder.join(format!("picture_{step:05}.png"));
            renderer.render(gpu, demo, solver)?.save(&path).with_context(|| cannot_write(&path))?;
        }
        if let Some(path) = png
            && (step.is_multiple_of(STEPS_PER_PICTURE) || step == *frames)
        {
            renderer.render(gpu, demo, solver)?.save(path).with_context(|| cannot_write(path))?;
            if step == STEPS_PER_PICTURE && step < *frames {
                let path = path.display();
                return Ok(Some(format!("{path} shows step {step} of {frames}; later pictures replace it")));
            }
        }
        Ok(None)
    }

    /// Ends the film, and writes the final positions.
    pub fn finish(self, positions: &[[f32; 3]]) -> anyhow::Result<()> {
        let options = self.options;
        drop(self.film);
        if let Some(path) = &options.positions {
            write_positions(path, positions).with_context(|| cannot_write(path))?;
        }
        for path in options.png.iter().chain(&options.gif).filter(|_| !options.json) {
            print(format_args!("wrote {}", path.display()))?;
        }
        Ok(())
    }
}

fn write_positions(path: &Path, positions: &[[f32; 3]]) -> anyhow::Result<()> {
    use npyz::WriterBuilder;
    let file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let dtype = npyz::DType::Plain("<f4".parse()?);
    let mut writer =
        npyz::WriteOptions::new().dtype(dtype).shape(&[positions.len() as u64, 3]).writer(file).begin_nd()?;
    writer.extend(positions.iter().flatten().copied())?;
    writer.finish()?;
    Ok(())
}

/// Checks that a file can be in a folder, before a simulation whose result it takes.
pub fn check_file(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    anyhow::ensure!(folder.is_dir(), "{}: there is no folder {}", cannot_write(path), folder.display());
    anyhow::ensure!(!path.is_dir(), "{}: it is a folder", cannot_write(path));
    Ok(())
}

pub fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
