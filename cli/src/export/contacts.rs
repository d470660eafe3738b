//! Contacts and forces on colliders, one line of JSON per sample.

use super::partial::Partial;
use crate::backend::Backend;
use anyhow::Context as _;
use serde::Serialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use supple::scene_file::SceneFile;
use supple::{ColliderForce, Pose};

/// A line of the contacts file.
#[derive(Serialize)]
pub struct ContactSample<'a> {
    /// The step.
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
    colliders: Vec<ColliderSample<'a>>,
}

#[derive(Serialize)]
pub struct ColliderSample<'a> {
    name: Option<&'a str>,
    force: [f32; 3],
    torque: [f32; 3],
    position: [f32; 3],
    rotation: [f32; 4],
}

/// A contacts file that is written sample by sample.
pub struct ContactsFile {
    // Dropped in this order: closed, then removed.
    writer: BufWriter<File>,
    file: Partial,
    /// The names of colliders by index.
    names: HashMap<usize, String>,
    count: usize,
}

impl ContactsFile {
    pub fn create(path: &Path, scene: &SceneFile) -> anyhow::Result<Self> {
        let (file, writer) = Partial::create(path)?;
        let names = scene.colliders.iter().map(|(name, id)| (id.index(), name.clone())).collect();
        Ok(Self { writer, file, names, count: 0 })
    }

    pub fn write(&mut self, frame: u32, time: f64, scene: &SceneFile, backend: &Backend) -> anyhow::Result<()> {
        let report = backend.simulation.read_contacts()?;
        let mut forces = backend.simulation.read_collider_forces()?;
        // Empty if collider_forces is off.
        forces.resize(scene.scene.colliders().len(), ColliderForce::default());
        let mut poses: Vec<Pose> = scene.scene.colliders().iter().map(|collider| collider.pose).collect();
        for (id, pose) in scene.collider_poses_at(time) {
            poses[id.index()] = pose;
        }
        let collider = |(index, (force, pose)): (usize, (ColliderForce, Pose))| ColliderSample {
            name: self.names.get(&index).map(String::as_str),
            force: force.force,
            torque: force.torque,
            position: pose.position,
            rotation: pose.rotation,
        };
        let sample = ContactSample {
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
            lost_collider_contacts: backend.simulation.read_diagnostics()?.lost_collider_contacts,
            deepest: report.deepest,
            deep_contacts: report.deep_contacts,
            searches: report.searches,
            truncated: report.truncated,
            crossings: report.crossings,
            colliders: forces.into_iter().zip(poses).enumerate().map(collider).collect(),
        };
        let text = serde_json::to_string(&sample)?;
        writeln!(self.writer, "{text}").with_context(|| self.file.failure())?;
        self.count += 1;
        Ok(())
    }

    /// Renames the file to its final name and returns a description of it.
    pub fn finish(self) -> anyhow::Result<String> {
        let writer = self.writer.into_inner().map_err(|error| error.into_error());
        writer.with_context(|| self.file.failure())?;
        let description = format!("{} [{} lines]", self.file.name(), self.count);
        self.file.finish()?;
        Ok(description)
    }
}
