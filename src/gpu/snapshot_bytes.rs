//! The byte format of snapshots.
//!
//! Little endian: the mark `supplesn`, version (`u32`), size of the body (`u64`), hash of the body (`u64`), body. The body holds the
//! fingerprints of scene and layout, the settings and the host state in words, and the buffers. Texts, words and buffers
//! follow their size in bytes (`u64`). A buffer ends at its last byte other than 0, and follows its full size.

use super::snapshot::Snapshot;
use crate::error::Result;
use crate::settings::Settings;
use crate::words::{Fingerprint, WordReader, WordWriter, damaged};

const MARK: &[u8; 8] = b"supplesn";

/// The version of the format. Each change of the format or of the state that it contains needs another one.
const VERSION: u32 = 10;

/// Bytes of mark, version, size and hash.
const HEADER: usize = 28;

/// The state of a buffer, up to the last byte other than 0.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Section {
    pub name: String,
    /// Size of the buffer \[bytes\].
    pub size: u64,
    pub bytes: Vec<u8>,
}

impl Section {
    pub fn new(name: &str, bytes: &[u8]) -> Self {
        let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        Self { name: name.into(), size: bytes.len() as u64, bytes: bytes[..end].to_vec() }
    }

    /// The bytes of the whole buffer.
    pub fn contents(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes.resize(self.size as usize, 0);
        bytes
    }
}

impl Snapshot {
    /// The snapshot in bytes, for a file or a network. They depend on neither the device nor the machine.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut settings = WordWriter::default();
        self.settings.write_words(&mut settings);
        let mut body = Vec::new();
        put(&mut body, self.scene.as_bytes());
        put(&mut body, self.layout.as_bytes());
        put_words(&mut body, &settings.0);
        put_words(&mut body, &self.host);
        body.extend((self.sections.len() as u64).to_le_bytes());
        for Section { name, size, bytes } in &self.sections {
            put(&mut body, name.as_bytes());
            body.extend(size.to_le_bytes());
            put(&mut body, bytes);
        }
        let mut all = Vec::with_capacity(HEADER + body.len());
        all.extend(MARK);
        all.extend(VERSION.to_le_bytes());
        all.extend((body.len() as u64).to_le_bytes());
        all.extend(hash(&body).to_le_bytes());
        all.extend(body);
        all
    }

    /// Reads the bytes of [`Snapshot::to_bytes`]. The hash in them finds damage, not forgery: read files of sources that you
    /// trust.
    ///
    /// # Errors
    /// [`crate::Error::SnapshotBytes`]: not a snapshot, of another version of the format, truncated, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut header = ByteReader(bytes);
        if bytes.len() < HEADER {
            return Err(damaged(format!("{} bytes are fewer than the {HEADER} of its header", bytes.len())));
        }
        if header.take(MARK.len() as u64)? != MARK {
            return Err(damaged("it does not begin with the mark of a snapshot"));
        }
        let version = header.word()?;
        if version != VERSION {
            return Err(damaged(format!("its format has version {version}; this version of supple reads {VERSION}")));
        }
        let (size, expected, body) = (header.long()?, header.long()?, header.0);
        if body.len() as u64 != size {
            return Err(damaged(format!("it has {} of {size} bytes after its header", body.len())));
        }
        if hash(body) != expected {
            return Err(damaged(format!("the hash of its {size} bytes differs from that in its header")));
        }
        let mut r = ByteReader(body);
        let (scene, layout, settings, host) = (r.text()?, r.text()?, r.words()?, r.words()?);
        let mut settings = WordReader(&settings);
        let settings = Settings::read_words(&mut settings)?;
        let mut sections = Vec::new();
        for _ in 0..r.long()? {
            let (name, size) = (r.text()?, r.long()?);
            let bytes = r.list()?.to_vec();
            if (bytes.len() as u64) > size {
                return Err(damaged(format!("{name} has {} bytes, but a size of {size}", bytes.len())));
            }
            sections.push(Section { name, size, bytes });
        }
        Ok(Self { scene, layout, settings, host, sections })
    }
}

fn put(body: &mut Vec<u8>, bytes: &[u8]) {
    body.extend((bytes.len() as u64).to_le_bytes());
    body.extend(bytes);
}

fn put_words(body: &mut Vec<u8>, words: &[u32]) {
    body.extend((words.len() as u64 * 4).to_le_bytes());
    body.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hash = Fingerprint::new();
    let chunks = bytes.chunks(4).map(|chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(word)
    });
    hash.add(chunks);
    hash.0
}

struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        let left = self.0.len();
        let own = usize::try_from(count).ok().and_then(|count| self.0.split_at_checked(count));
        let (own, rest) = own.ok_or_else(|| damaged(format!("{count} bytes are missing; {left} are left")))?;
        self.0 = rest;
        Ok(own)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64)?);
        Ok(array)
    }

    fn word(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn list(&mut self) -> Result<&'a [u8]> {
        let count = self.long()?;
        self.take(count)
    }

    fn text(&mut self) -> Result<String> {
        String::from_utf8(self.list()?.to_vec()).map_err(|fault| damaged(fault.to_string()))
    }

    fn words(&mut self) -> Result<Vec<u32>> {
        let bytes = self.list()?.chunks_exact(4);
        Ok(bytes.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
    }
}
