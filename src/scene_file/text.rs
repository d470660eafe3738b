//! Reads text files, with a size limit and byte order marks.

use super::error::Reason;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Reads the bytes of a file, at most `limit`.
pub(super) fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, Reason> {
    let fail = |message: String| Reason::Read(path.into(), message);
    let metadata = std::fs::metadata(path).map_err(|error| fail(error.to_string()))?;
    // A device or a pipe may be endless.
    if !metadata.is_file() {
        return Err(fail("it is not a file".into()));
    }
    if metadata.len() > limit {
        return Err(fail(format!("{} bytes are more than the limit of {limit}", metadata.len())));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| fail(error.to_string()))?;
    file.take(limit).read_to_end(&mut bytes).map_err(|error| fail(error.to_string()))?;
    Ok(bytes)
}

/// Reads a text file of at most `limit` bytes: UTF-8, or UTF-16 with a byte order mark.
pub(super) fn read_text(path: &Path, limit: u64) -> Result<String, Reason> {
    let bytes = read_bytes(path, limit)?;
    decode(bytes).map_err(|_| Reason::Read(path.into(), "it is neither UTF-8 nor UTF-16 text".into()))
}

/// As [`read_text`], with a replacement character for each invalid sequence. Names in an OBJ may have any encoding.
pub(super) fn read_lossy(path: &Path, limit: u64) -> Result<String, Reason> {
    let bytes = read_bytes(path, limit)?;
    Ok(decode(bytes).unwrap_or_else(|lossy| lossy))
}

/// Text without its byte order mark.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Decodes text by its byte order mark, else as UTF-8. On invalid input the error is the text with replacement
/// characters.
fn decode(bytes: Vec<u8>) -> Result<String, String> {
    let from: fn([u8; 2]) -> u16 = match bytes.first_chunk() {
        Some([0xff, 0xfe]) => u16::from_le_bytes,
        Some([0xfe, 0xff]) => u16::from_be_bytes,
        _ => return String::from_utf8(bytes).map_err(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    };
    let (pairs, rest) = bytes[2..].as_chunks();
    let units: Vec<u16> = pairs.iter().copied().map(from).collect();
    match String::from_utf16(&units) {
        Ok(text) if rest.is_empty() => Ok(text),
        _ => Err(String::from_utf16_lossy(&units)),
    }
}
