//! The parts of a glTF file: JSON, the binary chunk of a `.glb`, and buffers in files and data URIs.

use super::json::Document;

const HEADER_BYTES: usize = 12;
const CHUNK_HEADER_BYTES: usize = 8;
const JSON_CHUNK: u32 = u32::from_le_bytes(*b"JSON");
const BINARY_CHUNK: u32 = u32::from_le_bytes(*b"BIN\0");

/// The JSON and the binary chunk of a file; a `.gltf` has only JSON.
pub fn split(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), String> {
    if !bytes.starts_with(b"glTF") {
        return Ok((bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), None));
    }
    let word = |at: usize| bytes.get(at..at + 4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let (version, length) = word(4).zip(word(8)).ok_or("its header is shorter than 12 bytes")?;
    if version != 2 {
        return Err(format!("it has the version {version} of GLB; only 2 is read"));
    }
    if (length as usize) > bytes.len() {
        return Err(format!("it should have {length} bytes and has {}: it is not complete", bytes.len()));
    }
    let (mut json, mut binary, mut at) = (None, None, HEADER_BYTES);
    while let Some((length, sort)) = word(at).zip(word(at + 4)) {
        let start = at + CHUNK_HEADER_BYTES;
        let chunk = bytes.get(start..).and_then(|rest| rest.get(..length as usize));
        let chunk = chunk.ok_or_else(|| format!("its chunk at byte {at} has {length} bytes, more than the file"))?;
        match sort {
            JSON_CHUNK if json.is_none() => json = Some(chunk),
            BINARY_CHUNK if binary.is_none() => binary = Some(chunk),
            _ => {}
        }
        at = start + chunk.len();
    }
    Ok((json.ok_or("it has no JSON chunk")?, binary))
}

/// The contents of the buffers. The first one is the binary chunk if it has no URI.
pub fn buffers(
    document: &Document,
    binary: Option<&[u8]>,
    mut load: impl FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Vec<Vec<u8>>, String> {
    let mut buffers = Vec::new();
    for (index, buffer) in document.buffers.iter().enumerate() {
        let bytes = match (&buffer.uri, binary) {
            (Some(uri), _) if uri.starts_with("data:") => data(uri),
            (Some(uri), _) => percent_decoded(uri).and_then(|path| load(&path)),
            (None, Some(binary)) if index == 0 => Ok(binary.to_vec()),
            (None, _) => Err("it has no URI and the file no binary chunk for it".into()),
        };
        let mut bytes = bytes.map_err(|error| format!("buffer {index}: {error}"))?;
        if (bytes.len() as u64) < buffer.byte_length {
            return Err(format!("buffer {index} has {} bytes and should have {}", bytes.len(), buffer.byte_length));
        }
        bytes.truncate(buffer.byte_length as usize);
        buffers.push(bytes);
    }
    Ok(buffers)
}

/// The bytes of a data URI in base 64.
fn data(uri: &str) -> Result<Vec<u8>, String> {
    let (_, text) = uri.split_once(";base64,").ok_or("its data URI is not in base64")?;
    let text = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    // The bits that are read and not yet written.
    let (mut bits, mut count) = (0u32, 0);
    for (place, letter) in text.bytes().enumerate() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => {
                return Err(format!(
                    "character {place} of its data is {:?}, which is not a base64 character",
                    char::from(letter)
                ));
            }
        };
        bits = (bits << 6 | u32::from(value)) & 0xfff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Ok(bytes)
}

/// A URI with `%20` and the like replaced by their bytes.
fn percent_decoded(uri: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => bytes.push(first),
        }
    }
    String::from_utf8(bytes).map_err(|_| format!("its URI {uri:?} is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_has_one_to_three_bytes_in_its_last_group() {
        for (text, bytes) in
            [("", &b""[..]), ("Zg==", b"f"), ("Zm8=", b"fo"), ("Zm9v", b"foo"), ("+/+/", b"\xfb\xff\xbf")]
        {
            assert_eq!(data(&format!("data:application/octet-stream;base64,{text}")).unwrap(), bytes, "{text}");
        }
        assert!(data("data:;base64,Zm-v").unwrap_err().contains("character 2"));
        assert!(data("data:text/plain,foo").is_err());
    }

    #[test]
    fn uris_are_percent_decoded() {
        assert_eq!(percent_decoded("my%20coat%2Ebin").unwrap(), "my coat.bin");
        assert_eq!(percent_decoded("100%.bin").unwrap(), "100%.bin");
        assert!(percent_decoded("%ff").is_err());
    }
}
