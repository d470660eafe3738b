//! Point caches: PC2 (PointCache2 of 3ds Max, read by Blender) and MDD (LightWave, read by Blender and Houdini).
//!
//! - PC2, little-endian: `POINTCACHE2\0`, version 1, points, first frame 0, 1 frame per sample, samples; then the positions as
//!   `f32`, sample by sample.
//! - MDD, big-endian: samples, points; the time of each sample \[s\]; then the positions as `f32`, sample by sample.

use super::partial::Partial;
use super::{Frame, Timing};
use anyhow::{Context as _, ensure};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

/// The file format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Format {
    Pc2,
    Mdd,
}

/// A point cache that is written sample by sample.
pub struct PointCache {
    // Dropped in this order: closed, then removed.
    writer: BufWriter<File>,
    file: Partial,
    format: Format,
    particles: Vec<u32>,
    samples: u32,
}

impl PointCache {
    pub fn create(path: &Path, format: Format, particles: Vec<u32>, timing: Timing) -> anyhow::Result<Self> {
        let (file, mut writer) = Partial::create(path)?;
        let head = header(format, particles.len(), timing).with_context(|| file.failure())?;
        writer.write_all(&head).with_context(|| file.failure())?;
        Ok(Self { writer, file, format, particles, samples: timing.samples })
    }

    pub fn write(&mut self, frame: &Frame) -> anyhow::Result<()> {
        let bytes = samples(self.format, &self.particles, frame.positions);
        self.writer.write_all(&bytes).with_context(|| self.file.failure())
    }

    /// Renames the file to its final name and returns a description of it.
    pub fn finish(self) -> anyhow::Result<String> {
        let writer = self.writer.into_inner().map_err(|error| error.into_error());
        writer.with_context(|| self.file.failure())?;
        let what = format!("{} [{} samples, {} points]", self.file.name(), self.samples, self.particles.len());
        self.file.finish()?;
        Ok(what)
    }
}

fn header(format: Format, points: usize, timing: Timing) -> anyhow::Result<Vec<u8>> {
    ensure!(points <= i32::MAX as usize, "{points} points; the format allows {}", i32::MAX);
    ensure!(timing.samples <= i32::MAX as u32, "{} samples; the format allows {}", timing.samples, i32::MAX);
    let (points, samples) = (points as u32, timing.samples);
    Ok(match format {
        Format::Pc2 => [
            &b"POINTCACHE2\0"[..],
            &1i32.to_le_bytes(),
            &points.to_le_bytes(),
            &0f32.to_le_bytes(),
            &1f32.to_le_bytes(),
            &samples.to_le_bytes(),
        ]
        .concat(),
        Format::Mdd => {
            let times = (0..samples).flat_map(|sample| ((f64::from(sample) * timing.seconds) as f32).to_be_bytes());
            [samples.to_be_bytes(), points.to_be_bytes()].concat().into_iter().chain(times).collect()
        }
    })
}

fn samples(format: Format, particles: &[u32], positions: &[[f32; 3]]) -> Vec<u8> {
    let values = particles.iter().flat_map(|&particle| positions[particle as usize]);
    match format {
        Format::Pc2 => values.flat_map(f32::to_le_bytes).collect(),
        Format::Mdd => values.flat_map(f32::to_be_bytes).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMING: Timing = Timing { samples: 3, seconds: 0.5 };

    #[test]
    fn pc2_has_a_header_of_32_bytes_and_little_endian_values() {
        let head = header(Format::Pc2, 2, TIMING).unwrap();
        let expected = b"POINTCACHE2\0\x01\0\0\0\x02\0\0\0\0\0\0\0\0\0\x80\x3f\x03\0\0\0";
        assert_eq!(head, expected);
        let positions = [[0.0; 3], [1.0, -2.0, 0.5], [4.0, 0.0, 0.0]];
        let bytes = samples(Format::Pc2, &[2, 1], &positions);
        assert_eq!(bytes, b"\0\0\x80\x40\0\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\xc0\0\0\0\x3f");
    }

    #[test]
    fn mdd_has_counts_times_and_big_endian_values() {
        let head = header(Format::Mdd, 2, TIMING).unwrap();
        assert_eq!(head, b"\0\0\0\x03\0\0\0\x02\0\0\0\0\x3f\0\0\0\x3f\x80\0\0");
        assert_eq!(samples(Format::Mdd, &[0], &[[1.0, -2.0, 0.5]]), b"\x3f\x80\0\0\xc0\0\0\0\x3f\0\0\0");
    }
}
