//! Writes the surfaces of a demo as a sequence of Wavefront OBJ files, for renderers.

use super::Demo;
use anyhow::Context as _;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A folder of consecutive files; `frame_00000.obj` is the initial state.
pub struct Sequence {
    folder: PathBuf,
    every: u32,
    /// The particles that are written.
    vertices: Vec<u32>,
    /// Faces and lines, equal in all files.
    elements: String,
    written: u32,
}

impl Sequence {
    pub fn create(folder: &Path, every: u32, demo: &Demo) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let scene = &demo.scene;
        // Ropes are lines. A scene without surfaces and ropes writes all edges as lines.
        let bare = scene.triangles().is_empty() && demo.ropes.is_empty();
        let cords = if bare { demo.edges.clone() } else { demo.ropes.clone() };
        let cords: Vec<[u32; 2]> = scene.distances(cords).map(|distance| distance.particles).collect();
        let mut vertices: Vec<u32> =
            scene.triangles().iter().flatten().chain(cords.iter().flatten()).copied().collect();
        vertices.sort_unstable();
        vertices.dedup();
        // OBJ counts from 1.
        let number = |particle: &u32| vertices.partition_point(|vertex| vertex < particle) + 1;
        let mut elements = String::new();
        for [a, b, c] in scene.triangles().iter().map(|triangle| triangle.each_ref().map(number)) {
            writeln!(elements, "f {a} {b} {c}")?;
        }
        for [a, b] in cords.iter().map(|cord| cord.each_ref().map(number)) {
            writeln!(elements, "l {a} {b}")?;
        }
        Ok(Self { folder: folder.into(), every, vertices, elements, written: 0 })
    }

    /// Returns true if the state after `steps` steps is written.
    pub fn wants(&self, steps: u32) -> bool {
        steps.is_multiple_of(self.every)
    }

    pub fn write(&mut self, positions: &[[f32; 3]]) -> anyhow::Result<()> {
        let path = self.folder.join(format!("frame_{:05}.obj", self.written));
        let mut text = String::with_capacity(self.vertices.len() * 36 + self.elements.len());
        for &vertex in &self.vertices {
            let [x, y, z] = positions[vertex as usize];
            writeln!(text, "v {x} {y} {z}")?;
        }
        text.push_str(&self.elements);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        self.written += 1;
        Ok(())
    }
}
