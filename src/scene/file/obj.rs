//! Wavefront OBJ: vertices and faces, and nothing else of it.
//!
//! Vertices keep the order of the file, whatever objects and groups it has, so that particles have the numbers that an
//! editor shows and surfaces stay closed across groups. Faces of more than three corners are cut into fans.

use super::error::Reason;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// A text file of at most `limit` bytes.
pub(super) fn read_text(path: &Path, limit: u64) -> Result<String, Reason> {
    let fail = |message: String| Reason::Read(path.into(), message);
    let metadata = std::fs::metadata(path).map_err(|error| fail(error.to_string()))?;
    // A device or a pipe may never end.
    if !metadata.is_file() {
        return Err(fail("it is not a file".into()));
    }
    if metadata.len() > limit {
        return Err(fail(format!("{} bytes are more than the limit of {limit}", metadata.len())));
    }
    let mut text = String::new();
    let file = File::open(path).map_err(|error| fail(error.to_string()))?;
    file.take(limit).read_to_string(&mut text).map_err(|error| fail(error.to_string()))?;
    Ok(text)
}

/// Vertices, and triangles as indices of them from 0.
#[derive(Debug, Clone, Default)]
pub(super) struct Surface {
    pub positions: Vec<[f32; 3]>,
    pub triangles: Vec<[u32; 3]>,
}

/// Reads an OBJ; an error names the line.
pub(super) fn parse(text: &str) -> Result<Surface, String> {
    let mut surface = Surface::default();
    let mut face = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let mut line = line.split('#').next().unwrap_or_default().trim_end().to_string();
        while line.ends_with('\\') {
            line.pop();
            let Some((_, next)) = lines.next() else { break };
            line.push(' ');
            line.push_str(next.trim_end());
        }
        let mut words = line.split_whitespace();
        let result = match words.next() {
            Some("v") => vertex(words).map(|position| surface.positions.push(position)),
            Some("f") => read_face(words, surface.positions.len(), &mut face).map(|()| {
                let fan = face.windows(2).skip(1).map(|pair| [face[0], pair[0], pair[1]]);
                surface.triangles.extend(fan);
            }),
            _ => Ok(()),
        };
        result.map_err(|error| format!("line {}: {error}", number + 1))?;
    }
    if surface.positions.is_empty() {
        return Err("it has no vertices".into());
    }
    if surface.triangles.is_empty() {
        return Err("it has no faces".into());
    }
    Ok(surface)
}

fn vertex<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<[f32; 3], String> {
    let mut position = [0.0; 3];
    for component in &mut position {
        let word = words.next().ok_or("a vertex needs three coordinates")?;
        let value: f32 = word.parse().map_err(|_| format!("{word:?} is not a number"))?;
        if !value.is_finite() {
            return Err(format!("the coordinate {word} is not finite"));
        }
        *component = value;
    }
    Ok(position)
}

/// `7`, `7/1`, `7//3` or `7/1/3`, from 1, or backwards from −1.
fn read_face<'a>(words: impl Iterator<Item = &'a str>, count: usize, face: &mut Vec<u32>) -> Result<(), String> {
    face.clear();
    for word in words {
        let first = word.split('/').next().unwrap_or_default();
        let given: i64 = first.parse().map_err(|_| format!("{word:?} is not the corner of a face"))?;
        let index = if given < 0 { given + count as i64 } else { given - 1 };
        let index = u32::try_from(index).ok().filter(|&index| (index as usize) < count);
        face.push(index.ok_or_else(|| format!("a face names vertex {given}, but only {count} came before it"))?);
    }
    if face.len() < 3 { Err("a face needs three corners".into()) } else { Ok(()) }
}
