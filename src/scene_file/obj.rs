//! Wavefront OBJ: vertices, faces and texture coordinates; other lines are skipped.
//!
//! Vertices keep the order of the file across objects and groups, so indices agree with those of the modelling program,
//! and surfaces stay closed across groups.

use super::error::{At, FileError};
use super::{Limits, polygon, text};
use std::path::Path;

/// The mesh of a Wavefront OBJ.
///
/// Vertices keep the order of the file, counted from 0. Objects, groups, materials, normals, lines and points are
/// skipped. A face of more than three corners is triangulated without new vertices. Concave polygons and collinear
/// corners are allowed, and each corner stays a vertex of the triangulation. A convex quad whose corners are not nearly
/// collinear is cut along the diagonal from its first corner.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ObjMesh {
    /// The vertices \[m\].
    pub positions: Vec<[f32; 3]>,
    /// The triangles, as vertex indices from 0.
    pub triangles: Vec<[u32; 3]>,
    /// The texture coordinates of the corners of the triangles.
    pub texture: TextureCoordinates,
    /// For each triangle, the line of its face in the file, from 1.
    pub lines: Vec<u32>,
}

/// Texture coordinates of a triangle mesh, per corner: a vertex on a seam has several.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct TextureCoordinates {
    /// The coordinates (u, v).
    pub coordinates: Vec<[f32; 2]>,
    /// For each triangle, the indices into `coordinates` of its three corners; `None` for a triangle without texture
    /// coordinates. Empty if the mesh has none.
    pub triangles: Vec<Option<[u32; 3]>>,
}

impl ObjMesh {
    /// Reads a file of at most 1 GiB. It may start with a byte order mark; comments and names may have any encoding.
    ///
    /// # Errors
    /// [`FileError::Read`]; otherwise as [`ObjMesh::parse`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let text = text::read_lossy(path, Limits::default().file_bytes).at(String::new)?;
        parse(&text).at(|| path.display().to_string())
    }

    /// Reads the text of an OBJ file.
    ///
    /// # Errors
    /// [`FileError::Content`], with the line if one line is at fault, for:
    /// - a number that is missing or not finite;
    /// - an index that names no earlier vertex or texture coordinate;
    /// - a face of fewer than three corners;
    /// - a face that repeats a vertex;
    /// - a face of more than three corners that repeats a position, intersects itself or has no area;
    /// - a file without vertices or without faces.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        parse(text).at(String::new)
    }
}

fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim_end()
}

/// A corner of a face.
#[derive(Clone, Copy)]
struct Corner {
    vertex: u32,
    texture: Option<u32>,
}

/// Reads an OBJ; an error of a line contains its number.
pub(super) fn parse(text: &str) -> Result<ObjMesh, String> {
    let mut mesh = ObjMesh::default();
    let mut face = Vec::new();
    let mut lines = text::without_mark(text).lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let mut line = without_comment(line).to_string();
        while line.ends_with('\\') {
            line.pop();
            let Some((_, next)) = lines.next() else { break };
            line.push(' ');
            line.push_str(without_comment(next));
        }
        let number = number as u32 + 1;
        let mut words = line.split_whitespace();
        let result = match words.next() {
            Some("v") => vertex(words).map(|position| mesh.positions.push(position)),
            Some("vt") => texture(words).map(|coordinates| mesh.texture.coordinates.push(coordinates)),
            Some("f") => read_face(words, &mesh, &mut face).and_then(|()| mesh.add_face(&face, number)),
            _ => Ok(()),
        };
        result.map_err(|error| format!("line {number}: {error}"))?;
    }
    if mesh.positions.is_empty() {
        return Err("it has no vertices".into());
    }
    if mesh.triangles.is_empty() {
        return Err("it has no faces".into());
    }
    if mesh.texture.triangles.iter().all(Option::is_none) {
        mesh.texture = TextureCoordinates::default();
    }
    Ok(mesh)
}

impl ObjMesh {
    fn add_face(&mut self, face: &[Corner], line: u32) -> Result<(), String> {
        let vertices: Vec<u32> = face.iter().map(|corner| corner.vertex).collect();
        for triangle in polygon::triangulate(&self.positions, &vertices)? {
            let [a, b, c] = triangle.map(|corner| face[corner as usize]);
            self.triangles.push([a.vertex, b.vertex, c.vertex]);
            let texture = a.texture.zip(b.texture).zip(c.texture);
            self.texture.triangles.push(texture.map(|((a, b), c)| [a, b, c]));
            self.lines.push(line);
        }
        Ok(())
    }
}

fn vertex<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<[f32; 3], String> {
    let mut position = [0.0; 3];
    for component in &mut position {
        *component = coordinate(words.next().ok_or("a vertex needs three coordinates")?)?;
    }
    Ok(position)
}

/// Reads texture coordinates. A missing second coordinate is 0; a third one is skipped.
fn texture<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<[f32; 2], String> {
    let u = coordinate(words.next().ok_or("a texture coordinate needs a number")?)?;
    Ok([u, words.next().map_or(Ok(0.0), coordinate)?])
}

fn coordinate(word: &str) -> Result<f32, String> {
    let value: f32 = word.parse().map_err(|_| format!("{word:?} is not a number"))?;
    if value.is_finite() { Ok(value) } else { Err(format!("the coordinate {word} is not finite")) }
}

/// Reads a face with corners in the form `7`, `7/1`, `7//3` or `7/1/3`; the third index, a normal, is skipped. Indices
/// count from 1, or backwards from −1.
fn read_face<'a>(words: impl Iterator<Item = &'a str>, mesh: &ObjMesh, face: &mut Vec<Corner>) -> Result<(), String> {
    face.clear();
    for word in words {
        let index = |number: &str, what: &str, count: usize| {
            let given: i64 = number.parse().map_err(|_| format!("{word:?} is not the corner of a face"))?;
            let index = if given < 0 { given + count as i64 } else { given - 1 };
            let index = u32::try_from(index).ok().filter(|&index| (index as usize) < count);
            index.ok_or_else(|| format!("a face names {what} {given}, but only {count} came before it"))
        };
        let mut numbers = word.split('/');
        let vertex = index(numbers.next().unwrap_or_default(), "vertex", mesh.positions.len())?;
        let texture = numbers.next().filter(|number| !number.is_empty());
        let count = mesh.texture.coordinates.len();
        let texture = texture.map(|number| index(number, "texture coordinate", count)).transpose()?;
        face.push(Corner { vertex, texture });
    }
    if face.len() < 3 { Err("a face needs three corners".into()) } else { Ok(()) }
}
