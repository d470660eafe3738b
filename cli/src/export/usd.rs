//! USD stages: one layer with time samples, or a layer with value clips, one file per sample.

use super::geometry::Shape;
use super::partial::{Partial, PartialFolder};
use super::spool::Spool;
use super::usd_text::{Attribute, ROOT, prim_names, prim_type, write_constants, write_head};
use super::{Frame, Timing, number_of, warn_of_others};
use crate::interrupt;
use anyhow::{Context as _, ensure};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// The largest expected size of a stage in one file. USD reads text layers into memory.
const MAX_BYTES: u64 = 2 << 30;
/// The approximate text of a vertex in a sample: position, velocity and normal.
const VERTEX_BYTES: u64 = 120;

/// The file names of clips before and after the sample.
const CLIP: [&str; 2] = ["frame.", ".usda"];

/// The file in the folder of clips that declares their attributes.
const MANIFEST: &str = "manifest.usda";

/// A stage that is written sample by sample.
pub struct Usd {
    // Dropped in this order: closed, then removed.
    writer: BufWriter<File>,
    file: Partial,
    shapes: Vec<Shape>,
    names: Vec<String>,
    timing: Timing,
    samples: Samples,
}

/// The samples until the stage is complete.
enum Samples {
    /// In a temporary file, because the text of a layer is ordered by attribute, not by time.
    Spool(Spool),
    /// In clips in a folder beside the stage.
    Clips(PartialFolder),
}

impl Usd {
    /// A stage in one file.
    pub fn create(path: &Path, shapes: Vec<Shape>, timing: Timing, particles: usize) -> anyhow::Result<Self> {
        let bytes = expected_bytes(&shapes, timing);
        let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        ensure!(
            bytes <= MAX_BYTES,
            "{} would have about {:.1} GiB, and at most {} GiB are written to one file; add --usd-clips, or select a part",
            path.display(),
            gib(bytes),
            gib(MAX_BYTES)
        );
        let (file, writer) = Partial::create(path)?;
        let samples = Samples::Spool(Spool::create(path, particles)?);
        Ok(Self { writer, file, names: prim_names(&shapes), shapes, timing, samples })
    }

    /// A stage with one clip per sample in the folder `<name>_clips`.
    pub fn create_with_clips(path: &Path, shapes: Vec<Shape>, timing: Timing) -> anyhow::Result<Self> {
        let (file, writer) = Partial::create(path)?;
        let folder = PartialFolder::create(clip_folder(path), |name| {
            name == MANIFEST
                || number_of(name, CLIP).is_some_and(|sample| sample < timing.samples && name == clip_name(sample))
        })?;
        Ok(Self { writer, file, names: prim_names(&shapes), shapes, timing, samples: Samples::Clips(folder) })
    }

    pub fn write(&mut self, frame: &Frame) -> anyhow::Result<()> {
        match &mut self.samples {
            Samples::Spool(spool) => spool.write(frame),
            Samples::Clips(folder) => {
                let (file, mut writer) = folder.file(&clip_name(frame.sample))?;
                write_clip(&mut writer, &self.shapes, &self.names, Some(frame)).with_context(|| file.failure())?;
                file.finish()
            }
        }
    }

    /// Writes the stage from its samples, renames the file to its final name, and returns a description.
    pub fn finish(mut self) -> anyhow::Result<String> {
        let Self { writer, file, shapes, names, timing, samples } = &mut self;
        let mut write = || match samples {
            Samples::Spool(spool) => write_stage(writer, shapes, names, *timing, spool),
            Samples::Clips(folder) => {
                let (manifest, mut to) = folder.file(MANIFEST)?;
                write_clip(&mut to, shapes, names, None)?;
                manifest.finish()?;
                let folder = folder.target().file_name().unwrap_or_default().to_string_lossy();
                Ok(write_clip_stage(writer, shapes, names, *timing, &folder)?)
            }
        };
        let written: anyhow::Result<()> = write();
        written.with_context(|| file.failure())?;
        self.writer.flush().with_context(|| self.file.failure())?;
        let what = format!("{} [{} samples, {} prims]", self.file.name(), self.timing.samples, self.shapes.len());
        if let Samples::Clips(folder) = self.samples {
            warn_of_others(folder.target(), CLIP, |sample| sample < self.timing.samples);
            folder.finish()?;
        }
        self.file.finish()?;
        Ok(what)
    }
}

/// The folder of the clips of a stage. It is named in the stage, where characters other than letters, digits, `-` and `_` would
/// need quotes: they are replaced by their code, so that the folders of two stages differ.
pub fn clip_folder(stage: &Path) -> PathBuf {
    let stem = stage.file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-_".contains(c) { c.to_string() } else { format!("_x{:x}_", u32::from(c)) }
    };
    stage.with_file_name(format!("{}_clips", stem.chars().map(plain).collect::<String>()))
}

fn clip_name(sample: u32) -> String {
    let [prefix, suffix] = CLIP;
    format!("{prefix}{sample:05}{suffix}")
}

fn expected_bytes(shapes: &[Shape], timing: Timing) -> u64 {
    let vertices: u64 = shapes.iter().map(|shape| shape.particles.len() as u64).sum();
    vertices.saturating_mul(VERTEX_BYTES).saturating_mul(timing.samples.into())
}

/// Writes a stage in one file.
fn write_stage(
    writer: &mut BufWriter<File>,
    shapes: &[Shape],
    names: &[String],
    timing: Timing,
    spool: &mut Spool,
) -> anyhow::Result<()> {
    write_head(writer, timing)?;
    writeln!(writer, "def Xform \"{ROOT}\" (kind = \"component\")\n{{")?;
    for (shape, name) in shapes.iter().zip(names) {
        writeln!(writer, "    def {} \"{name}\"\n    {{", prim_type(shape))?;
        write_constants(writer, shape)?;
        let lowest = shape.particles.iter().min().copied().unwrap_or_default();
        let end = shape.particles.iter().max().map_or(0, |particle| particle + 1);
        for attribute in Attribute::of(shape) {
            writeln!(writer, "        {}.timeSamples = {{", attribute.declaration())?;
            for sample in 0..timing.samples {
                interrupt::check(|| format!("before sample {sample} of the {} of {name}", attribute.declaration()))?;
                write!(writer, "            {sample}: ")?;
                spool.read(sample, lowest..end, |frame| attribute.write(writer, shape, frame))?;
                writeln!(writer, ",")?;
            }
            writeln!(writer, "        }}")?;
        }
        writeln!(writer, "    }}\n")?;
    }
    writeln!(writer, "}}")?;
    Ok(())
}

/// Writes a stage whose samples are clips.
fn write_clip_stage(
    writer: &mut BufWriter<File>,
    shapes: &[Shape],
    names: &[String],
    timing: Timing,
    folder: &str,
) -> io::Result<()> {
    write_head(writer, timing)?;
    writeln!(
        writer,
        "def Xform \"{ROOT}\" (\n    kind = \"component\"\n    clips = {{\n        dictionary default = {{"
    )?;
    writeln!(writer, "            string primPath = \"/{ROOT}\"")?;
    let list = |entry: &dyn Fn(u32) -> String| (0..timing.samples).map(entry).collect::<Vec<_>>().join(", ");
    // Paths are listed, because tools that copy a stage with its files do not resolve templates.
    let paths = list(&|sample| format!("@./{folder}/{}@", clip_name(sample)));
    writeln!(writer, "            asset[] assetPaths = [{paths}]")?;
    writeln!(writer, "            double2[] active = [{}]", list(&|sample| format!("({sample}, {sample})")))?;
    writeln!(writer, "            double2[] times = [{}]", list(&|sample| format!("({sample}, {sample})")))?;
    writeln!(writer, "            asset manifestAssetPath = @./{folder}/manifest.usda@")?;
    writeln!(writer, "        }}\n    }}\n)\n{{")?;
    for (shape, name) in shapes.iter().zip(names) {
        writeln!(writer, "    def {} \"{name}\"\n    {{", prim_type(shape))?;
        write_constants(writer, shape)?;
        writeln!(writer, "    }}\n")?;
    }
    writeln!(writer, "}}")
}

/// Writes the attributes of one sample; without a frame the manifest, which declares them.
fn write_clip(
    writer: &mut BufWriter<File>,
    shapes: &[Shape],
    names: &[String],
    frame: Option<&Frame>,
) -> io::Result<()> {
    writeln!(writer, "#usda 1.0\n\nover \"{ROOT}\"\n{{")?;
    for (shape, name) in shapes.iter().zip(names) {
        writeln!(writer, "    over \"{name}\"\n    {{")?;
        for attribute in Attribute::of(shape) {
            write!(writer, "        {}", attribute.declaration())?;
            if let Some(frame) = frame {
                write!(writer, ".timeSamples = {{ {}: ", frame.sample)?;
                attribute.write(writer, shape, frame)?;
                write!(writer, " }}")?;
            }
            writeln!(writer)?;
        }
        writeln!(writer, "    }}")?;
    }
    writeln!(writer, "}}")?;
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_of_more_than_two_gibibytes_is_refused_before_the_simulation() {
        let shape = Shape { name: "big".into(), particles: vec![0; 1000], ..Shape::default() };
        let timing = Timing { samples: 30_000, seconds: 0.1 };
        let path = std::env::temp_dir().join("supple_big.usda");
        let error = Usd::create(&path, vec![shape], timing, 1000).err().unwrap().to_string();
        assert!(error.contains("3.4 GiB") && error.contains("--usd-clips"), "{error}");
        assert!(!path.exists());
    }
}
