//! Runs a scene file and writes its results: NumPy arrays for Houdini, Blender or scripts.
//!
//! Arrays are float32 of shape (frames, particles, 3); λ has the shape (frames, constraints). The first entry is the
//! initial state. With `--every K` the entries are frames 0, K, 2 K, … up to N: N/K + 1 of them. Frames are written as
//! they are computed, to a temporary file that is renamed once it is complete. Contacts are one line of JSON per frame,
//! and OBJ files one per frame.

mod backend;
mod output;

use anyhow::{Context as _, ensure};
use backend::Backend;
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use output::{Array, Lines, obj_elements, write_obj};
use std::path::PathBuf;
use supple::constraints::KINDS;
use supple::scene_file::SceneFile;

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
