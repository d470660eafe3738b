//! The files that it writes: NumPy arrays, Wavefront OBJ, lines of JSON.

use crate::backend::Backend;
use anyhow::{Context as _, ensure};
use npyz::WriterBuilder;
use serde::Serialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use supple::scene_file::SceneFile;
use supple::{ColliderForce, Pose};

/// A file under a temporary name until it is complete. If it is dropped earlier, it is removed.
pub struct Partial {
    path: PathBuf,
    /// The final path, with links resolved.
    place: PathBuf,
    partial: PathBuf,
}

impl Partial {
    pub fn create(path: &Path) -> anyhow::Result<(Self, BufWriter<File>)> {
        // Resolved, because renaming would replace a link, a device or a pipe by a file.
        let place = path.canonicalize().unwrap_or_else(|_| path.into());
        let name = place.file_name().with_context(|| format!("cannot write {}: it names no file", path.display()))?;
        let mut partial = name.to_os_string();
        partial.push(format!(".{}.part", std::process::id()));
        let partial = place.with_file_name(partial);
        ensure!(!path.is_dir(), "cannot write {}: it is a folder", path.display());
        ensure!(!path.exists() || path.is_file(), "cannot write {}: it is not a regular file", path.display());
        let file = File::create(&partial).with_context(|| format!("cannot write {}", partial.display()))?;
        Ok((Self { path: path.into(), place, partial }, BufWriter::new(file)))
    }

    pub fn fault(&self) -> String {
        format!("cannot write {}", self.path.display())
    }

    /// Renames the file to its final name.
    pub fn finish(self) -> anyhow::Result<()> {
        std::fs::rename(&self.partial, &self.place).with_context(|| self.fault())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After the rename there is nothing to remove.
        std::fs::remove_file(&self.partial).ok();
    }
}

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
        let writer = options.writer(writer).begin_nd().with_context(|| file.fault())?;
        Ok(Self { writer, file, shape: shape.into() })
    }

    pub fn extend(&mut self, values: impl IntoIterator<Item = f32>) -> anyhow::Result<()> {
        self.writer.extend(values).with_context(|| self.file.fault())
    }

    /// Renames the file to its final name and returns a description of it.
    pub fn finish(self) -> anyhow::Result<String> {
        self.writer.finish().with_context(|| self.file.fault())?;
        let what = format!("{} {:?}", self.file.path.display(), self.shape);
        self.file.finish()?;
        Ok(what)
    }
}

/// The lines of an OBJ that are equal in each frame: texture coordinates and faces.
pub fn obj_elements(file: &SceneFile) -> String {
    let corner = |vertex: u32, texture: Option<u32>| match texture {
        Some(texture) => format!("{}/{}", vertex + 1, texture + 1),
        None => format!("{}", vertex + 1),
    };
    let (mut elements, mut faces, mut first) = (String::new(), String::new(), 0);
    let mut textures = vec![None; file.scene.triangles().len()];
    for part in &file.parts {
        let texture = &part.texture;
        elements.extend(texture.coordinates.iter().map(|[u, v]| format!("vt {u} {v}\n")));
        for (index, triangle) in part.triangles.clone().zip(&texture.triangles) {
            textures[index as usize] = triangle.map(|corners| corners.map(|corner| first + corner));
        }
        first += texture.coordinates.len() as u32;
    }
    for (triangle, texture) in file.scene.triangles().iter().zip(textures) {
        let [a, b, c] = [0, 1, 2].map(|place| corner(triangle[place], texture.map(|texture| texture[place])));
        faces.push_str(&format!("f {a} {b} {c}\n"));
    }
    elements + &faces
}

/// Writes a frame as an OBJ. Particles without triangles are vertices too, so that numbers match.
pub fn write_obj(path: &Path, positions: &[[f32; 3]], elements: &str) -> anyhow::Result<()> {
    let (file, mut writer) = Partial::create(path)?;
    let mut write = || {
        positions.iter().try_for_each(|[x, y, z]| writeln!(writer, "v {x} {y} {z}"))?;
        writer.write_all(elements.as_bytes())?;
        writer.flush()
    };
    write().with_context(|| file.fault())?;
    file.finish()
}

/// A line of the contacts file.
#[derive(Serialize)]
pub struct Line<'a> {
    frame: u32,
    time: f64,
    pairs: u32,
    contacts: u32,
    most_pairs: u32,
    most_contacts: u32,
    pair_capacity: u32,
    contact_capacity: u32,
    growths: u32,
    lost: u32,
    halted: u32,
    lost_collider_contacts: u32,
    deepest: f32,
    deep_contacts: u32,
    searches: u32,
    truncated: u32,
    crossings: Option<u32>,
    colliders: Vec<LineCollider<'a>>,
}

#[derive(Serialize)]
pub struct LineCollider<'a> {
    name: Option<&'a str>,
    force: [f32; 3],
    torque: [f32; 3],
    position: [f32; 3],
    rotation: [f32; 4],
}

/// A contacts file that is written frame by frame.
pub struct Lines {
    // Dropped in this order: closed, then removed.
    writer: BufWriter<File>,
    file: Partial,
    /// The names of colliders by index.
    names: HashMap<usize, String>,
    count: usize,
}

impl Lines {
    pub fn create(path: &Path, scene: &SceneFile) -> anyhow::Result<Self> {
        let (file, writer) = Partial::create(path)?;
        let names = scene.colliders.iter().map(|(name, id)| (id.index(), name.clone())).collect();
        Ok(Self { writer, file, names, count: 0 })
    }

    pub fn write(&mut self, frame: u32, time: f64, scene: &SceneFile, backend: &Backend) -> anyhow::Result<()> {
        let report = backend.contacts()?;
        let mut forces = backend.collider_forces()?;
        forces.resize(scene.scene.colliders().len(), ColliderForce::default());
        let mut poses: Vec<Pose> = scene.scene.colliders().iter().map(|collider| collider.pose).collect();
        for (id, pose) in scene.collider_poses_at(time) {
            poses[id.index()] = pose;
        }
        let collider = |(index, (force, pose)): (usize, (ColliderForce, Pose))| LineCollider {
            name: self.names.get(&index).map(String::as_str),
            force: force.force,
            torque: force.torque,
            position: pose.position,
            rotation: pose.rotation,
        };
        let line = Line {
            frame,
            time,
            pairs: report.pairs,
            contacts: report.contacts,
            most_pairs: report.most_pairs,
            most_contacts: report.most_contacts,
            pair_capacity: report.pair_capacity,
            contact_capacity: report.contact_capacity,
            growths: report.growths,
            lost: report.lost,
            halted: report.halted,
            lost_collider_contacts: backend.lost_collider_contacts()?,
            deepest: report.deepest,
            deep_contacts: report.deep_contacts,
            searches: report.searches,
            truncated: report.truncated,
            crossings: report.crossings,
            colliders: forces.into_iter().zip(poses).enumerate().map(collider).collect(),
        };
        let text = serde_json::to_string(&line)?;
        writeln!(self.writer, "{text}").with_context(|| self.file.fault())?;
        self.count += 1;
        Ok(())
    }

    /// Renames the file to its final name and returns a description of it.
    pub fn finish(self) -> anyhow::Result<String> {
        let writer = self.writer.into_inner().map_err(|error| error.into_error());
        writer.with_context(|| self.file.fault())?;
        let what = format!("{} [{} lines]", self.file.path.display(), self.count);
        self.file.finish()?;
        Ok(what)
    }
}
