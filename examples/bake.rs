//! Plays a scene file and writes where everything was: NumPy arrays for Houdini, Blender, or a script.
//!
//! Arrays are float32, of shape (frames, particles, 3); λ is (frames, constraints). The first entry is the start, before any
//! step; with `--every K` the entries are frames 0, K, 2 K, … up to N: N/K + 1 of them. Frames are written as they come, to
//! a file of another name, which gets its own once all is written.

use anyhow::{Context as _, ensure};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use npyz::WriterBuilder;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use supple::gpu::Context;
use supple::kinds::KINDS;
use supple::scene::file::SceneFile;
use supple::{Reference, Solver};

#[derive(Parser, Debug)]
#[command(about = "Plays a scene file and writes NumPy arrays")]
struct Arguments {
    /// The scene; docs/scene.md describes the format
    scene: PathBuf,
    /// Steps to play
    #[arg(long, default_value_t = 120)]
    frames: u32,
    /// Write every so many frames
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Where the positions [m] go; positions.npy if no other file is asked for
    #[arg(long, value_name = "FILE.npy")]
    out: Option<PathBuf>,
    /// Where the velocities [m/s] go
    #[arg(long, value_name = "FILE.npy")]
    velocities: Option<PathBuf>,
    /// Where λ after the last substep of each frame goes, 0 at the start; λ/h² is the force along ∇C
    #[arg(long, value_name = "FILE.npy")]
    lambda: Option<PathBuf>,
    /// The kind of constraint whose λ is written
    #[arg(long, default_value = "distance", value_parser = kind_names())]
    lambda_kind: String,
    /// Play on the CPU
    #[arg(long)]
    reference: bool,
}

fn kind_names() -> clap::builder::PossibleValuesParser {
    KINDS.iter().map(|info| info.name).collect::<Vec<_>>().into()
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut file = SceneFile::read(&arguments.scene).with_context(|| arguments.scene.display().to_string())?;
    file.settings.keep_lambdas |= arguments.lambda.is_some();
    let mut player =
        if arguments.reference { Player::Cpu(Box::new(file.reference()?)) } else { Player::on_gpu(&file)? };
    let kind = KINDS.iter().position(|info| info.name == arguments.lambda_kind).context("no such kind")?;

    let frames = u64::from(arguments.frames / arguments.every) + 1;
    let particles = file.scene.particle_count() as u64;
    let lambdas = player.lambdas(kind)?.len() as u64;
    let only_others = arguments.velocities.is_some() || arguments.lambda.is_some();
    let out = arguments.out.or_else(|| (!only_others).then(|| "positions.npy".into()));
    let paths: Vec<&PathBuf> = out.iter().chain(&arguments.velocities).chain(&arguments.lambda).collect();
    for (index, path) in paths.iter().enumerate() {
        ensure!(!paths[..index].contains(path), "{}: two arrays cannot go to one file", path.display());
    }
    let array =
        |path: &Option<PathBuf>, shape: &[u64]| path.as_deref().map(|path| Array::create(path, shape)).transpose();
    let mut positions = array(&out, &[frames, particles, 3])?;
    let mut velocities = array(&arguments.velocities, &[frames, particles, 3])?;
    let mut lambda = array(&arguments.lambda, &[frames, lambdas])?;

    // Hidden by itself where there is no terminal.
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} frames, {per_sec}, {eta} left")?;
    let progress = ProgressBar::new(arguments.frames.into()).with_style(style);
    for frame in 0..=arguments.frames {
        if frame > 0 {
            for (particle, position) in file.targets_at(f64::from(frame) * f64::from(file.settings.dt)) {
                player.set_target(particle, position)?;
            }
            player.step();
            progress.inc(1);
        }
        if frame % arguments.every != 0 {
            continue;
        }
        if let Some(array) = &mut positions {
            array.extend(player.positions()?.into_iter().flatten())?;
        }
        if let Some(array) = &mut velocities {
            array.extend(player.velocities()?.into_iter().flatten())?;
        }
        if let Some(array) = &mut lambda {
            array.extend(player.lambdas(kind)?)?;
        }
    }
    progress.finish_and_clear();
    let (count, first) = player.non_finite()?;
    if count > 0 {
        let first = first.map_or(String::new(), |particle| format!(" (the first: {particle})"));
        eprintln!(
            "warning: {count} position(s) would not have been finite and were held{first}; more substeps or softer \
             materials may help"
        );
    }
    for array in [positions, velocities, lambda].into_iter().flatten() {
        println!("wrote {}", array.finish()?);
    }
    Ok(())
}

/// An array that is written as it comes, under another name until it is whole.
struct Array {
    writer: Option<npyz::NpyWriter<f32, BufWriter<File>>>,
    path: PathBuf,
    partial: PathBuf,
    shape: Vec<u64>,
}

impl Array {
    fn create(path: &Path, shape: &[u64]) -> anyhow::Result<Self> {
        let name = path.file_name().with_context(|| format!("cannot write {}: it names no file", path.display()))?;
        let mut partial = name.to_os_string();
        partial.push(format!(".{}.part", std::process::id()));
        let partial = path.with_file_name(partial);
        ensure!(!path.is_dir(), "cannot write {}: it is a folder", path.display());
        let file = File::create(&partial).with_context(|| format!("cannot write {}", partial.display()))?;
        // From here on whatever fails removes the file.
        let mut array = Self { writer: None, path: path.into(), partial, shape: shape.into() };
        let options = npyz::WriteOptions::new().dtype(npyz::DType::Plain("<f4".parse()?)).shape(shape);
        array.writer = Some(options.writer(BufWriter::new(file)).begin_nd().with_context(|| array.fault())?);
        Ok(array)
    }

    fn fault(&self) -> String {
        format!("cannot write {}", self.path.display())
    }

    fn extend(&mut self, values: impl IntoIterator<Item = f32>) -> anyhow::Result<()> {
        let fault = self.fault();
        self.writer.as_mut().context("it is finished")?.extend(values).context(fault)
    }

    /// Gives the file its name; returns what was written.
    fn finish(mut self) -> anyhow::Result<String> {
        let writer = self.writer.take().context("it is finished")?;
        writer.finish().with_context(|| self.fault())?;
        std::fs::rename(&self.partial, &self.path).with_context(|| self.fault())?;
        Ok(format!("{} {:?}", self.path.display(), self.shape))
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        // Nothing is there once it has its name.
        drop(self.writer.take());
        std::fs::remove_file(&self.partial).ok();
    }
}

/// Either player.
enum Player {
    Gpu(Box<(Context, Solver)>),
    Cpu(Box<Reference>),
}

impl Player {
    fn on_gpu(file: &SceneFile) -> anyhow::Result<Self> {
        let gpu = Context::new(supple::required_limits(&file.scene))?;
        let solver = file.solver(&gpu.device, &gpu.queue)?;
        Ok(Self::Gpu(Box::new((gpu, solver))))
    }

    fn step(&mut self) {
        match self {
            Self::Gpu(player) => {
                let (gpu, solver) = &mut **player;
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                solver.encode(&mut encoder, 1);
                gpu.queue.submit([encoder.finish()]);
            }
            Self::Cpu(reference) => reference.step(1),
        }
    }

    fn set_target(&mut self, particle: u32, position: [f32; 3]) -> supple::Result<()> {
        match self {
            Self::Gpu(player) => player.1.set_target(particle, position),
            Self::Cpu(reference) => reference.set_target(particle, position),
        }
    }

    fn positions(&self) -> supple::Result<Vec<[f32; 3]>> {
        match self {
            Self::Gpu(player) => player.1.read_positions(),
            Self::Cpu(reference) => Ok(reference.positions()),
        }
    }

    fn velocities(&self) -> supple::Result<Vec<[f32; 3]>> {
        match self {
            Self::Gpu(player) => player.1.read_velocities(),
            Self::Cpu(reference) => Ok(reference.velocities()),
        }
    }

    /// λ of all constraints of a kind, in the order of the scene.
    fn lambdas(&self, kind: usize) -> supple::Result<Vec<f32>> {
        let solver = match self {
            Self::Cpu(reference) => return Ok(reference.lambdas(kind)),
            Self::Gpu(player) if player.1.settings().keep_lambdas => &player.1,
            Self::Gpu(_) => return Ok(Vec::new()),
        };
        solver.read_lambdas_of(kind)
    }

    /// How often a position would not have been finite, and the first such particle where that is known.
    fn non_finite(&self) -> supple::Result<(u32, Option<u32>)> {
        match self {
            Self::Gpu(player) => {
                let diagnostics = player.1.read_diagnostics()?;
                Ok((diagnostics.non_finite_count, diagnostics.first_non_finite))
            }
            Self::Cpu(reference) => Ok((reference.non_finite_count(), None)),
        }
    }
}
