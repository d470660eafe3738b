//! Runs a scene file and writes its results: NumPy arrays for Houdini, Blender or scripts.
//!
//! Arrays are float32 of shape (frames, particles, 3); λ has the shape (frames, constraints). The first entry is the
//! initial state. With `--every K` the entries are frames 0, K, 2 K, … up to N: N/K + 1 of them. Frames are written as
//! they are computed, to a temporary file that is renamed once it is complete. Contacts are one line of JSON per frame,
//! and OBJ files one per frame.

use anyhow::{Context as _, ensure};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use npyz::WriterBuilder;
use serde::Serialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use supple::constraints::KINDS;
use supple::gpu::Context;
use supple::scene_file::SceneFile;
use supple::{ColliderForce, ColliderId, ContactReport, Pose, Reference, Solver};

#[derive(Parser, Debug)]
#[command(about = "Runs a scene file and writes NumPy arrays")]
struct Arguments {
    /// The scene file; docs/scene.md describes the format
    scene: PathBuf,
    /// Steps to run
    #[arg(long, default_value_t = 120)]
    frames: u32,
    /// Write every K-th frame
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// The file for positions [m]; default positions.npy if no other file is given
    #[arg(long, value_name = "FILE.npy")]
    out: Option<PathBuf>,
    /// The file for velocities [m/s]
    #[arg(long, value_name = "FILE.npy")]
    velocities: Option<PathBuf>,
    /// The file for λ after the last substep of each frame, 0 at the start; λ/h² is the force along ∇C
    #[arg(long, value_name = "FILE.npy")]
    lambda: Option<PathBuf>,
    /// The kind of constraint whose λ is written
    #[arg(long, default_value = "distance", value_parser = kind_names())]
    lambda_kind: String,
    /// The file for contacts, one line of JSON per frame: counts, and the poses, forces and torques of colliders;
    /// forces [N] and torques [N m] are averages over the last step
    #[arg(long, value_name = "FILE.jsonl")]
    contacts: Option<PathBuf>,
    /// The folder for surfaces, one Wavefront OBJ per frame
    #[arg(long, value_name = "FOLDER")]
    obj: Option<PathBuf>,
    /// Run on the CPU reference
    #[arg(long)]
    reference: bool,
}

fn kind_names() -> clap::builder::PossibleValuesParser {
    KINDS.iter().map(|info| info.name).collect::<Vec<_>>().into()
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut file = SceneFile::read(&arguments.scene).with_context(|| arguments.scene.display().to_string())?;
    for hint in &file.hints {
        eprintln!("warning: {hint}");
    }
    file.settings.keep_lambdas |= arguments.lambda.is_some();
    let mut backend =
        if arguments.reference { Backend::Cpu(Box::new(file.reference()?)) } else { Backend::on_gpu(&file)? };
    let kind = KINDS.iter().position(|info| info.name == arguments.lambda_kind).context("no such kind")?;

    let frames = u64::from(arguments.frames / arguments.every) + 1;
    let particles = file.scene.particle_count() as u64;
    let lambdas = backend.lambdas(kind)?.len() as u64;
    let others = [&arguments.velocities, &arguments.lambda, &arguments.contacts, &arguments.obj];
    let only_others = others.iter().any(|path| path.is_some());
    let out = arguments.out.or_else(|| (!only_others).then(|| "positions.npy".into()));
    let arrays = out.iter().chain(&arguments.velocities).chain(&arguments.lambda);
    let paths: Vec<&PathBuf> = arrays.chain(&arguments.contacts).collect();
    for (index, path) in paths.iter().enumerate() {
        ensure!(!paths[..index].contains(path), "{}: two things cannot go to one file", path.display());
        let is_scene = path.canonicalize().is_ok_and(|path| arguments.scene.canonicalize().is_ok_and(|of| of == path));
        ensure!(!is_scene, "cannot write {}: it is the scene file", path.display());
    }
    let array =
        |path: &Option<PathBuf>, shape: &[u64]| path.as_deref().map(|path| Array::create(path, shape)).transpose();
    let mut positions = array(&out, &[frames, particles, 3])?;
    let mut velocities = array(&arguments.velocities, &[frames, particles, 3])?;
    let mut lambda = array(&arguments.lambda, &[frames, lambdas])?;
    let mut contacts = arguments.contacts.as_deref().map(|path| Lines::create(path, &file)).transpose()?;

    if let Some(folder) = &arguments.obj {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot write {}", folder.display()))?;
    }

    let elements = arguments.obj.as_ref().map(|_| obj_elements(&file)).unwrap_or_default();
    // The progress bar is hidden without a terminal.
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} frames, {per_sec}, {eta} left")?;
    let progress = ProgressBar::new(arguments.frames.into()).with_style(style);
    for frame in 0..=arguments.frames {
        let time = f64::from(frame) * f64::from(file.settings.dt);
        if frame > 0 {
            for (particle, position) in file.targets_at(time) {
                backend.set_target(particle, position)?;
            }
            for (collider, pose) in file.collider_poses_at(time) {
                backend.move_collider(collider, pose)?;
            }
            backend.step();
            progress.inc(1);
        }
        if frame % arguments.every != 0 {
            continue;
        }
        if let Some(array) = &mut positions {
            array.extend(backend.positions()?.into_iter().flatten())?;
        }
        if let Some(array) = &mut velocities {
            array.extend(backend.velocities()?.into_iter().flatten())?;
        }
        if let Some(array) = &mut lambda {
            array.extend(backend.lambdas(kind)?)?;
        }
        if let Some(lines) = &mut contacts {
            lines.write(frame, time, &file, &backend)?;
        }
        if let Some(folder) = &arguments.obj {
            write_obj(&folder.join(format!("frame_{frame:05}.obj")), &backend.positions()?, &elements)?;
        }
    }
    progress.finish_and_clear();
    let (count, first) = backend.non_finite()?;
    if count > 0 {
        let first = first.map_or(String::new(), |particle| format!(" (the first: {particle})"));
        eprintln!(
            "warning: positions would not have been finite, {count} in all steps, and were held{first}; more substeps or \
             softer materials may help"
        );
    }
    let (lost, own) = (backend.contacts()?.lost, file.settings.self_collision.unwrap_or_default());
    if lost > 0 {
        eprintln!(
            "warning: {lost} contact(s) were lost; where it is for want of room, raise pairs_per_particle of self_collision \
             in the settings, which is {} and may be 256, or lower its margin; more than 32768 others about an element, or a \
             way of more than 4096 cells in a substep, are lost in any case",
            own.pairs_per_particle
        );
    }
    let lost = backend.lost_collider_contacts()?;
    if lost > 0 {
        eprintln!("warning: {lost} touch(es) with a third collider in a step are missing from the forces on colliders");
    }
    for array in [positions, velocities, lambda].into_iter().flatten() {
        println!("wrote {}", array.finish()?);
    }
    if let Some(lines) = contacts {
        println!("wrote {}", lines.finish()?);
    }
    if let Some(folder) = &arguments.obj {
        println!("wrote {} [{frames} files]", folder.display());
    }
    Ok(())
}

/// A file under a temporary name until it is complete. If it is dropped earlier, it is removed.
struct Partial {
    path: PathBuf,
    /// The final path, with links resolved.
    place: PathBuf,
    partial: PathBuf,
}

impl Partial {
    fn create(path: &Path) -> anyhow::Result<(Self, BufWriter<File>)> {
        // Resolved, because renaming would replace a link, a device or a pipe by a file.
        let place = path.canonicalize().unwrap_or_else(|_| path.into());
        let name = place.file_name().with_context(|| format!("cannot write {}: it names no file", path.display()))?;
        let mut partial = name.to_os_string();
        partial.push(format!(".{}.part", std::process::id()));
        let partial = place.with_file_name(partial);
        ensure!(!path.is_dir(), "cannot write {}: it is a folder", path.display());
        ensure!(!path.exists() || path.is_file(), "cannot write {}: it is not a regular file", path.display());
        let file = File::create(&partial).with_context(|| format!("cannot write {}", partial.display()))?;
        Ok((Self { path: path.into(), place, partial }, BufWriter::new(file)))
    }

    fn fault(&self) -> String {
        format!("cannot write {}", self.path.display())
    }

    /// Renames the file to its final name.
    fn finish(self) -> anyhow::Result<()> {
        std::fs::rename(&self.partial, &self.place).with_context(|| self.fault())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After the rename there is nothing to remove.
        std::fs::remove_file(&self.partial).ok();
    }
}

/// A NumPy array that is written frame by frame.
struct Array {
    // Dropped in this order: closed, then removed.
    writer: npyz::NpyWriter<f32, BufWriter<File>>,
    file: Partial,
    shape: Vec<u64>,
}

impl Array {
    fn create(path: &Path, shape: &[u64]) -> anyhow::Result<Self> {
        let (file, writer) = Partial::create(path)?;
        let options = npyz::WriteOptions::new().dtype(npyz::DType::Plain("<f4".parse()?)).shape(shape);
        let writer = options.writer(writer).begin_nd().with_context(|| file.fault())?;
        Ok(Self { writer, file, shape: shape.into() })
    }

    fn extend(&mut self, values: impl IntoIterator<Item = f32>) -> anyhow::Result<()> {
        self.writer.extend(values).with_context(|| self.file.fault())
    }

    /// Renames the file to its final name and returns a description of it.
    fn finish(self) -> anyhow::Result<String> {
        self.writer.finish().with_context(|| self.file.fault())?;
        let what = format!("{} {:?}", self.file.path.display(), self.shape);
        self.file.finish()?;
        Ok(what)
    }
}

/// The lines of an OBJ that are equal in each frame: texture coordinates and faces.
fn obj_elements(file: &SceneFile) -> String {
    let corner = |vertex: u32, texture: Option<u32>| match texture {
        Some(texture) => format!("{}/{}", vertex + 1, texture + 1),
        None => format!("{}", vertex + 1),
    };
    let (mut elements, mut faces, mut first) = (String::new(), String::new(), 0);
    let mut textures = vec![None; file.scene.triangles().len()];
    for part in &file.parts {
        let texture = &part.texture;
        elements.extend(texture.coordinates.iter().map(|[u, v]| format!("vt {u} {v}\n")));
        for (index, triangle) in part.triangles.clone().zip(&texture.triangles) {
            textures[index as usize] = triangle.map(|corners| corners.map(|corner| first + corner));
        }
        first += texture.coordinates.len() as u32;
    }
    for (triangle, texture) in file.scene.triangles().iter().zip(textures) {
        let [a, b, c] = [0, 1, 2].map(|place| corner(triangle[place], texture.map(|texture| texture[place])));
        faces.push_str(&format!("f {a} {b} {c}\n"));
    }
    elements + &faces
}

/// Writes a frame as an OBJ. Particles without triangles are vertices too, so that numbers match.
fn write_obj(path: &Path, positions: &[[f32; 3]], elements: &str) -> anyhow::Result<()> {
    let (file, mut writer) = Partial::create(path)?;
    let mut write = || {
        positions.iter().try_for_each(|[x, y, z]| writeln!(writer, "v {x} {y} {z}"))?;
        writer.write_all(elements.as_bytes())?;
        writer.flush()
    };
    write().with_context(|| file.fault())?;
    file.finish()
}

/// A line of the contacts file.
#[derive(Serialize)]
struct Line<'a> {
    frame: u32,
    time: f64,
    pairs: u32,
    contacts: u32,
    most_pairs: u32,
    most_contacts: u32,
    pair_capacity: u32,
    contact_capacity: u32,
    growths: u32,
    lost: u32,
    halted: u32,
    lost_collider_contacts: u32,
    deepest: f32,
    searches: u32,
    truncated: u32,
    crossings: Option<u32>,
    colliders: Vec<LineCollider<'a>>,
}

#[derive(Serialize)]
struct LineCollider<'a> {
    name: Option<&'a str>,
    force: [f32; 3],
    torque: [f32; 3],
    position: [f32; 3],
    rotation: [f32; 4],
}

/// A contacts file that is written frame by frame.
struct Lines {
    // Dropped in this order: closed, then removed.
    writer: BufWriter<File>,
    file: Partial,
    /// The names of colliders by index.
    names: HashMap<usize, String>,
    count: usize,
}

impl Lines {
    fn create(path: &Path, scene: &SceneFile) -> anyhow::Result<Self> {
        let (file, writer) = Partial::create(path)?;
        let names = scene.colliders.iter().map(|(name, id)| (id.index(), name.clone())).collect();
        Ok(Self { writer, file, names, count: 0 })
    }

    fn write(&mut self, frame: u32, time: f64, scene: &SceneFile, backend: &Backend) -> anyhow::Result<()> {
        let report = backend.contacts()?;
        let mut forces = backend.collider_forces()?;
        forces.resize(scene.scene.colliders().len(), ColliderForce::default());
        let mut poses: Vec<Pose> = scene.scene.colliders().iter().map(|collider| collider.pose).collect();
        for (id, pose) in scene.collider_poses_at(time) {
            poses[id.index()] = pose;
        }
        let collider = |(index, (force, pose)): (usize, (ColliderForce, Pose))| LineCollider {
            name: self.names.get(&index).map(String::as_str),
            force: force.force,
            torque: force.torque,
            position: pose.position,
            rotation: pose.rotation,
        };
        let line = Line {
            frame,
            time,
            pairs: report.pairs,
            contacts: report.contacts,
            most_pairs: report.most_pairs,
            most_contacts: report.most_contacts,
            pair_capacity: report.pair_capacity,
            contact_capacity: report.contact_capacity,
            growths: report.growths,
            lost: report.lost,
            halted: report.halted,
            lost_collider_contacts: backend.lost_collider_contacts()?,
            deepest: report.deepest,
            searches: report.searches,
            truncated: report.truncated,
            crossings: report.crossings,
            colliders: forces.into_iter().zip(poses).enumerate().map(collider).collect(),
        };
        let text = serde_json::to_string(&line)?;
        writeln!(self.writer, "{text}").with_context(|| self.file.fault())?;
        self.count += 1;
        Ok(())
    }

    /// Renames the file to its final name and returns a description of it.
    fn finish(self) -> anyhow::Result<String> {
        let writer = self.writer.into_inner().map_err(|error| error.into_error());
        writer.with_context(|| self.file.fault())?;
        let what = format!("{} [{} lines]", self.file.path.display(), self.count);
        self.file.finish()?;
        Ok(what)
    }
}

/// One of the two backends.
enum Backend {
    Gpu(Box<(Context, Solver)>),
    Cpu(Box<Reference>),
}

impl Backend {
    fn on_gpu(file: &SceneFile) -> anyhow::Result<Self> {
        let gpu = Context::new(supple::required_limits_with(&file.scene, &file.settings))?;
        let solver = file.solver(&gpu.device, &gpu.queue)?;
        Ok(Self::Gpu(Box::new((gpu, solver))))
    }

    fn step(&mut self) {
        match self {
            Self::Gpu(backend) => {
                let (gpu, solver) = &mut **backend;
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                solver.encode(&mut encoder, 1);
                gpu.queue.submit([encoder.finish()]);
            }
            Self::Cpu(reference) => reference.step(1),
        }
    }

    fn set_target(&mut self, particle: u32, position: [f32; 3]) -> supple::Result<()> {
        match self {
            Self::Gpu(backend) => backend.1.set_target(particle, position),
            Self::Cpu(reference) => reference.set_target(particle, position),
        }
    }

    fn move_collider(&mut self, collider: ColliderId, pose: Pose) -> supple::Result<()> {
        match self {
            Self::Gpu(backend) => backend.1.move_collider(collider, pose),
            Self::Cpu(reference) => reference.move_collider(collider, pose),
        }
    }

    fn contacts(&self) -> supple::Result<ContactReport> {
        match self {
            Self::Gpu(backend) => backend.1.read_contacts(),
            Self::Cpu(reference) => Ok(reference.read_contacts().unwrap()),
        }
    }

    fn collider_forces(&self) -> supple::Result<Vec<ColliderForce>> {
        match self {
            Self::Gpu(backend) => backend.1.read_collider_forces(),
            Self::Cpu(reference) => Ok(reference.read_collider_forces().unwrap()),
        }
    }

    fn positions(&self) -> supple::Result<Vec<[f32; 3]>> {
        match self {
            Self::Gpu(backend) => backend.1.read_positions(),
            Self::Cpu(reference) => Ok(reference.read_positions().unwrap()),
        }
    }

    fn velocities(&self) -> supple::Result<Vec<[f32; 3]>> {
        match self {
            Self::Gpu(backend) => backend.1.read_velocities(),
            Self::Cpu(reference) => Ok(reference.read_velocities().unwrap()),
        }
    }

    /// λ of all constraints of a kind, in the order of the scene.
    fn lambdas(&self, kind: usize) -> supple::Result<Vec<f32>> {
        let solver = match self {
            Self::Cpu(reference) => return Ok(reference.read_lambdas_of(kind).unwrap()),
            Self::Gpu(backend) if backend.1.settings().keep_lambdas => &backend.1,
            Self::Gpu(_) => return Ok(Vec::new()),
        };
        solver.read_lambdas_of(kind)
    }

    /// The number of collider contacts beyond two colliders per particle and step.
    fn lost_collider_contacts(&self) -> supple::Result<u32> {
        match self {
            Self::Gpu(backend) => Ok(backend.1.read_diagnostics()?.lost_collider_contacts),
            Self::Cpu(reference) => Ok(reference.read_diagnostics().unwrap().lost_collider_contacts),
        }
    }

    /// The number of positions that became non-finite, and the first such particle if it is known.
    fn non_finite(&self) -> supple::Result<(u32, Option<u32>)> {
        match self {
            Self::Gpu(backend) => {
                let diagnostics = backend.1.read_diagnostics()?;
                Ok((diagnostics.non_finite_count, diagnostics.first_non_finite))
            }
            Self::Cpu(reference) => Ok((reference.read_diagnostics().unwrap().non_finite_count, None)),
        }
    }
}
