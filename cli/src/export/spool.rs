//! A temporary file of samples.

use super::Frame;
use anyhow::Context as _;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The size of a vector in the file.
const VECTOR_BYTES: usize = 12;

/// Positions, velocities and normals of each sample as `f32`, in a file beside the path of the final one. It is removed on drop.
pub struct Spool {
    /// `None` only while it is dropped: some systems remove no open files.
    file: Option<BufWriter<File>>,
    path: PathBuf,
    particles: usize,
    /// The values of the last reads.
    values: [Vec<[f32; 3]>; 3],
}

impl Spool {
    pub fn create(path: &Path, particles: usize) -> anyhow::Result<Self> {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.samples", std::process::id()));
        let path = path.with_file_name(name);
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { file: Some(BufWriter::new(file)), path, particles, values: Default::default() })
    }

    /// Appends a sample. All samples are written before the first is read.
    pub fn write(&mut self, frame: &Frame) -> anyhow::Result<()> {
        let particles = self.particles;
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut write = || {
            for values in [frame.positions, frame.velocities, frame.normals] {
                // Scenes without surfaces have no normals.
                let vector = |particle: usize| values.get(particle).copied().unwrap_or_default();
                let bytes: Vec<u8> = (0..particles).flat_map(vector).flat_map(f32::to_le_bytes).collect();
                file.write_all(&bytes)?;
            }
            io::Result::Ok(())
        };
        write().with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Passes a sample to a function; only the values of the given range of particles are valid.
    pub fn read(
        &mut self,
        sample: u32,
        particles: Range<u32>,
        with: impl FnOnce(&Frame) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.flush()?;
        let file = file.get_mut();
        let (first, end) = (particles.start as usize, particles.end as usize);
        let mut bytes = vec![0; (end - first) * VECTOR_BYTES];
        for (array, values) in self.values.iter_mut().enumerate() {
            let place = (3 * u64::from(sample) + array as u64) * self.particles as u64 + first as u64;
            file.seek(SeekFrom::Start(place * VECTOR_BYTES as u64))?;
            file.read_exact(&mut bytes)?;
            values.resize(self.particles, [0.0; 3]);
            for (value, bytes) in values[first..end].iter_mut().zip(bytes.chunks_exact(VECTOR_BYTES)) {
                *value =
                    [0, 4, 8].map(|at| f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
            }
        }
        let [positions, velocities, normals] = &self.values;
        with(&Frame { sample, positions, velocities, normals })
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        self.file = None;
        std::fs::remove_file(&self.path).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_read_in_any_order_and_the_file_is_removed() {
        let path = std::env::temp_dir().join("supple_spool_test.usda");
        let mut spool = Spool::create(&path, 2).unwrap();
        let place = spool.path.clone();
        let value = |base: f32| [[base, 1.0, 2.0], [3.0, 4.0, base]];
        for sample in 0..3 {
            let base = sample as f32;
            let (positions, velocities) = (value(base), value(10.0 + base));
            spool.write(&Frame { sample, positions: &positions, velocities: &velocities, normals: &[] }).unwrap();
        }
        for sample in [2, 0, 1] {
            let base = sample as f32;
            spool
                .read(sample, 0..2, |frame| {
                    assert_eq!((frame.positions, frame.velocities), (&value(base)[..], &value(10.0 + base)[..]));
                    assert_eq!(frame.normals, [[0.0; 3]; 2]);
                    Ok(())
                })
                .unwrap();
        }
        spool
            .read(2, 1..2, |frame| {
                assert_eq!(frame.positions[1], [3.0, 4.0, 2.0]);
                Ok(())
            })
            .unwrap();
        drop(spool);
        assert!(!place.exists());
    }
}
