//! `supple validate`.

use crate::console;
use anyhow::bail;
use std::path::{Path, PathBuf};
use supple::constraints::KINDS;
use supple::scene_file::{Part, SceneFile};

#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Scene files; docs/scene.md describes the format
    #[arg(required = true)]
    scenes: Vec<PathBuf>,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
}

/// Prints the contents of each scene on standard output, its errors and warnings on standard error.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut invalid = 0;
    for path in &arguments.scenes {
        match check(path) {
            Ok(file) => {
                console::print(report(path, &file))?;
                let warn = |hint| console::report(format_args!("{}: warning: {hint}", path.display()));
                file.hints.iter().for_each(warn);
                invalid += usize::from(arguments.strict && !file.hints.is_empty());
            }
            Err(error) => {
                console::report(format_args!("{}: {error:#}", path.display()));
                invalid += 1;
            }
        }
    }
    if invalid > 0 {
        let fault = if arguments.strict { "have errors or warnings" } else { "are not valid" };
        bail!("{invalid} of {} scenes {fault}", arguments.scenes.len());
    }
    Ok(())
}

/// Reads a scene and compiles it for the CPU reference, which needs no adapter.
fn check(path: &Path) -> anyhow::Result<SceneFile> {
    let file = SceneFile::read(path)?;
    file.reference()?;
    Ok(file)
}

fn report(path: &Path, file: &SceneFile) -> String {
    let scene = &file.scene;
    let warnings = if file.hints.is_empty() { "" } else { ", with warnings" };
    let mut lines = vec![format!("{}: valid{warnings}", path.display())];
    lines.extend(file.title.iter().map(|title| format!("  title: {title}")));
    let (pins, triangles) = (scene.pinned_particles().count(), scene.triangle_count());
    lines.push(format!("  particles: {}, {pins} of them pinned; triangles: {triangles}", scene.particle_count()));
    let counts = KINDS.iter().map(|info| (info.name, scene.constraint_count_of(info)));
    let counts: Vec<String> =
        counts.filter(|(_, count)| *count > 0).map(|(name, count)| format!("{name} {count}")).collect();
    lines.push(format!("  constraints: {} ({})", scene.constraint_count(), counts.join(", ")));
    lines.push(format!("  colliders: {}; targets: {}", scene.colliders().len(), file.targets.len()));
    let settings = &file.settings;
    lines.push(format!("  step: {} s, {} substeps", settings.dt, settings.substeps));
    lines.extend(file.parts.iter().enumerate().map(|(index, part)| part_line(index, part)));
    lines.join("\n")
}

fn part_line(index: usize, part: &Part) -> String {
    let name = part.name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
    let [first, end] = [part.particles.start, part.particles.end.max(part.surface.end)];
    let texture = if part.texture.triangles.is_empty() { "" } else { ", texture coordinates" };
    format!(
        "  parts[{index}]{name}: particles {first} to {end} (excluded), {} triangles{texture}",
        part.triangles.len()
    )
}
