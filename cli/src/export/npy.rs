//! NumPy arrays.

use super::partial::Partial;
use anyhow::Context as _;
use npyz::WriterBuilder;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// A NumPy array that is written frame by frame.
pub struct Array {
    // Dropped in this order: closed, then removed.
    writer: npyz::NpyWriter<f32, BufWriter<File>>,
    file: Partial,
    shape: Vec<u64>,
}

impl Array {
    pub fn create(path: &Path, shape: &[u64]) -> anyhow::Result<Self> {
        let (file, writer) = Partial::create(path)?;
        let options = npyz::WriteOptions::new().dtype(npyz::DType::Plain("<f4".parse()?)).shape(shape);
        let writer = options.writer(writer).begin_nd().with_context(|| file.failure())?;
        Ok(Self { writer, file, shape: shape.into() })
    }

    pub fn extend(&mut self, values: impl IntoIterator<Item = f32>) -> anyhow::Result<()> {
        self.writer.extend(values).with_context(|| self.file.failure())
    }

    /// Renames the file to its final name and returns a description of it.
    pub fn finish(self) -> anyhow::Result<String> {
        self.writer.finish().with_context(|| self.file.failure())?;
        let what = format!("{} {:?}", self.file.name(), self.shape);
        self.file.finish()?;
        Ok(what)
    }
}
