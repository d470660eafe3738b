//! Wavefront OBJ: one file per sample, with texture coordinates and normals.

use super::geometry::Shape;
use super::partial::Partial;
use super::{Frame, warn_of_others};
use anyhow::Context as _;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The file names before and after the step.
const NAME: [&str; 2] = ["frame_", ".obj"];

/// A folder of files `frame_00000.obj`, numbered by step.
pub struct ObjSequence {
    folder: PathBuf,
    /// The vertices of all shapes.
    particles: Vec<u32>,
    /// The vertices that have a normal.
    normals: Vec<u32>,
    /// Texture coordinates.
    coordinates: String,
    /// Faces and lines.
    elements: String,
    /// The steps that are written.
    steps: HashSet<u32>,
}

impl ObjSequence {
    pub fn create(folder: &Path, shapes: &[Shape]) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot write {}", folder.display()))?;
        let particles = shapes.iter().flat_map(|shape| shape.particles.iter().copied()).collect();
        let surfaces = shapes.iter().filter(|shape| shape.surface.is_some());
        let normals = surfaces.flat_map(|shape| shape.particles.iter().copied()).collect();
        let (coordinates, elements) = elements(shapes);
        Ok(Self { folder: folder.into(), particles, normals, coordinates, elements, steps: HashSet::new() })
    }

    /// Writes the state after `step` steps.
    pub fn write(&mut self, step: u32, frame: &Frame) -> anyhow::Result<()> {
        let [prefix, suffix] = NAME;
        let (file, mut writer) = Partial::create(&self.folder.join(format!("{prefix}{step:05}{suffix}")))?;
        let mut write = || {
            let vector =
                |values: &[[f32; 3]], particle: u32| values.get(particle as usize).copied().unwrap_or_default();
            for &particle in &self.particles {
                let [x, y, z] = vector(frame.positions, particle);
                writeln!(writer, "v {x} {y} {z}")?;
            }
            writer.write_all(self.coordinates.as_bytes())?;
            for &particle in &self.normals {
                let [x, y, z] = vector(frame.normals, particle);
                writeln!(writer, "vn {x} {y} {z}")?;
            }
            writer.write_all(self.elements.as_bytes())?;
            writer.flush()
        };
        write().with_context(|| file.failure())?;
        self.steps.insert(step);
        file.finish()
    }

    /// Returns a description of the files, and prints a warning if the folder has other frames.
    pub fn finish(self) -> String {
        warn_of_others(&self.folder, NAME, |step| self.steps.contains(&step));
        format!("{} [{} files]", self.folder.display(), self.steps.len())
    }
}

/// The lines that are equal in each file: texture coordinates; groups, faces and lines. Objects are avoided, because
/// importers split the mesh by objects, and then no point cache fits it.
fn elements(shapes: &[Shape]) -> (String, String) {
    let (mut coordinates, mut elements) = (String::new(), String::new());
    // OBJ counts from 1 through the whole file.
    let (mut vertex, mut normal, mut texture) = (1, 1, 1);
    for shape in shapes {
        let name: String = shape.name.chars().map(|c| if c.is_whitespace() || c == '#' { '_' } else { c }).collect();
        let _ = writeln!(elements, "g {name}");
        let count = shape.particles.len() as u32;
        if let Some(surface) = &shape.surface {
            for [u, v] in &surface.coordinates {
                let _ = writeln!(coordinates, "vt {u} {v}");
            }
            for (index, triangle) in surface.triangles.iter().enumerate() {
                let corners = surface.corners.get(index).copied().flatten();
                let corner = |place: usize| {
                    let (v, n) = (vertex + triangle[place], normal + triangle[place]);
                    corners.map_or(format!("{v}//{n}"), |corners| format!("{v}/{}/{n}", texture + corners[place]))
                };
                let _ = writeln!(elements, "f {} {} {}", corner(0), corner(1), corner(2));
            }
            texture += surface.coordinates.len() as u32;
            normal += count;
        } else {
            elements.push('l');
            let back = shape.closed.then_some(vertex);
            (vertex..vertex + count).chain(back).for_each(|number| elements.push_str(&format!(" {number}")));
            elements.push('\n');
        }
        vertex += count;
    }
    (coordinates, elements)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::geometry::Surface;

    #[test]
    fn numbers_continue_through_meshes_and_curves() {
        let mesh = |corners: Vec<Option<[u32; 3]>>| Shape {
            name: "two words".into(),
            particles: vec![0, 1, 2],
            surface: Some(Surface { triangles: vec![[0, 1, 2]], coordinates: vec![[0.0, 0.5]; 3], corners }),
            ..Shape::default()
        };
        let rope = Shape { name: "rope".into(), particles: vec![3, 4], ..Shape::default() };
        let (texture, faces) = elements(&[mesh(vec![Some([0, 2, 1])]), rope, mesh(vec![None])]);
        assert_eq!(texture, "vt 0 0.5\n".repeat(6));
        assert_eq!(faces, "g two_words\nf 1/1/1 2/3/2 3/2/3\ng rope\nl 4 5\ng two_words\nf 6//4 7//5 8//6\n");
    }
}
