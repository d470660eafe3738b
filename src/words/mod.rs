//! Words (`u32`) of state that a checkpoint stores.

use crate::error::{Error, Result};

/// Appends values as words.
#[derive(Debug, Default)]
pub(crate) struct WordWriter(pub Vec<u32>);

impl WordWriter {
    pub fn word(&mut self, word: u32) {
        self.0.push(word);
    }

    pub fn floats(&mut self, values: &[f32]) {
        self.0.extend(values.iter().map(|value| value.to_bits()));
    }

    pub fn double(&mut self, value: f64) {
        let bits = value.to_bits();
        self.0.extend([bits as u32, (bits >> 32) as u32]);
    }

    /// The number of entries and the entries. Their size is a multiple of 4 bytes.
    pub fn list<T: bytemuck::Pod>(&mut self, entries: &[T]) {
        self.word(entries.len() as u32);
        self.0.extend_from_slice(bytemuck::cast_slice(entries));
    }
}

/// Reads values in the order in which they were written.
#[derive(Debug)]
pub(crate) struct WordReader<'a>(pub &'a [u32]);

impl WordReader<'_> {
    pub fn word(&mut self) -> Result<u32> {
        let (&word, rest) = self.0.split_first().ok_or_else(|| damaged("its state ends early"))?;
        self.0 = rest;
        Ok(word)
    }

    /// A word that is 0 or 1.
    pub fn flag(&mut self) -> Result<bool> {
        match self.word()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(damaged(format!("a flag is {other}"))),
        }
    }

    pub fn words<const N: usize>(&mut self) -> Result<[u32; N]> {
        let mut words = [0; N];
        for word in &mut words {
            *word = self.word()?;
        }
        Ok(words)
    }

    pub fn float(&mut self) -> Result<f32> {
        Ok(f32::from_bits(self.word()?))
    }

    pub fn floats<const N: usize>(&mut self) -> Result<[f32; N]> {
        Ok(self.words()?.map(f32::from_bits))
    }

    pub fn double(&mut self) -> Result<f64> {
        let [low, high] = self.words()?.map(u64::from);
        Ok(f64::from_bits(high << 32 | low))
    }

    pub fn list<T: bytemuck::Pod>(&mut self) -> Result<Vec<T>> {
        let count = self.word()? as usize;
        let size = count.checked_mul(size_of::<T>() / 4).filter(|&size| size <= self.0.len());
        let Some(size) = size else {
            return Err(damaged(format!("a list of {count} entries is longer than its state")));
        };
        let (words, rest) = self.0.split_at(size);
        self.0 = rest;
        Ok(bytemuck::pod_collect_to_vec(words))
    }

    /// A list with a given number of entries; `what` names them.
    pub fn list_of<T: bytemuck::Pod>(&mut self, what: &str, count: usize) -> Result<Vec<T>> {
        let list = self.list()?;
        if list.len() == count {
            return Ok(list);
        }
        Err(damaged(format!("it has {} {what}, but the solver has {count}", list.len())))
    }
}

/// The error of a snapshot that cannot be read.
pub(crate) fn damaged(reason: impl Into<String>) -> Error {
    Error::SnapshotBytes { reason: reason.into() }
}

/// A hash that is the same on all machines and in all versions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fingerprint(pub u64);

impl Fingerprint {
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds words, in the manner of FNV-1a.
    pub fn add(&mut self, words: impl IntoIterator<Item = u32>) {
        for word in words {
            self.0 = (self.0 ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01b3);
            self.0 ^= self.0 >> 29;
        }
    }

    /// Adds a list: its length and its words.
    pub fn add_list<T: bytemuck::Pod>(&mut self, list: &[T]) {
        self.add([list.len() as u32]);
        self.add(bytemuck::cast_slice::<T, u32>(list).iter().copied());
    }
}
