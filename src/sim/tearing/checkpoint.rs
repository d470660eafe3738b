//! Tears as words of a checkpoint.

use super::TearState;
use crate::error::Result;
use crate::sim::controls::Controls;
use crate::words::{WordReader, WordWriter, damaged};

impl Controls {
    pub(in crate::sim) fn write_tears(&self, w: &mut WordWriter) {
        if self.compiled.tearing.is_none() {
            return;
        }
        let broken: Vec<u32> = (0..).zip(&self.tears.broken).filter(|(_, own)| **own).map(|(edge, _)| edge).collect();
        w.list(&broken);
        let torn = !broken.is_empty();
        w.list(if torn { &self.scene.triangles[..] } else { &[] });
        self.scene.tearable.iter().for_each(|cloth| w.word(cloth.used));
        w.list(&self.tears.masses.keys().copied().collect::<Vec<u32>>());
        w.list(&self.tears.masses.values().copied().collect::<Vec<f32>>());
    }

    /// Reads tears; the inverse masses are those of the snapshot already.
    pub(in crate::sim) fn read_tears(&mut self, r: &mut WordReader<'_>) -> Result<()> {
        let Some(mesh) = &self.compiled.tearing else { return Ok(()) };
        let (inverse_masses, scales) = (self.scene.inverse_masses.clone(), self.scene.contact_scales.clone());
        self.tears.restore(mesh, &mut self.scene);
        let generation = self.tears.generation.wrapping_add(1);
        let mut state = TearState { generation, ..TearState::new(Some(mesh)) };
        for edge in r.list::<u32>()? {
            let unknown = || damaged(format!("it tears edge {edge}, but there are {}", mesh.edges.len()));
            *state.broken.get_mut(edge as usize).ok_or_else(unknown)? = true;
        }
        let triangles: Vec<[u32; 3]> = r.list()?;
        let count = inverse_masses.len();
        let fits = triangles.is_empty() || triangles.len() == mesh.triangles.len();
        if !fits || triangles.iter().flatten().any(|&particle| particle as usize >= count) {
            return Err(damaged(format!("it has {} torn triangles of other particles", triangles.len())));
        }
        for index in 0..self.scene.tearable.len() {
            let (used, most) = (r.word()?, self.scene.tearable[index].copies.len() as u32);
            if used > most {
                return Err(damaged(format!("it uses {used} copies of {most} of a tearable cloth")));
            }
            self.scene.tearable[index].used = used;
        }
        let (vertices, masses): (Vec<u32>, Vec<f32>) = (r.list()?, r.list()?);
        if vertices.iter().any(|&vertex| vertex as usize >= count) || vertices.len() != masses.len() {
            return Err(damaged(format!("it has {} masses of {} torn vertices", masses.len(), vertices.len())));
        }
        state.masses = vertices.into_iter().zip(masses).collect();
        for (place, triangle) in triangles.iter().enumerate() {
            for (corner, &particle) in triangle.iter().enumerate() {
                self.scene.rest_positions[particle as usize] =
                    self.scene.rest_positions[mesh.triangles[place][corner] as usize];
                self.scene.particle_contacts[particle as usize] =
                    self.scene.particle_contacts[mesh.triangles[place][corner] as usize];
            }
        }
        if !triangles.is_empty() {
            self.scene.triangles = triangles;
        }
        (self.scene.inverse_masses, self.scene.contact_scales) = (inverse_masses, scales);
        self.tears = state;
        self.renew_torn();
        Ok(())
    }
}
