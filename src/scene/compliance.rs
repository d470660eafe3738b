//! Compliances scaled by particle.

use super::{ConstraintSet, Material, MaterialId, Scene};
use crate::error::{Error, Result};
use std::ops::Range;

impl Scene {
    /// Multiplies the compliance of constraints by scales of their particles, one value each: a painted map. The factor of a
    /// constraint is the mean of the scales of its particles.
    ///
    /// Constraints with a particle outside of the range and groups keep their compliance, and rigid constraints stay rigid.
    /// Damping does not change. Each new value is an entry of the material table of its own, so
    /// [`crate::Solver::set_material`] with a material of the cloth no longer reaches the scaled constraints.
    ///
    /// ```
    /// # use supple::{ClothGrid, Fabric, Scene};
    /// let mut scene = Scene::new();
    /// let fabric = Fabric::COTTON;
    /// let cloth = scene.add_cloth_grid(&ClothGrid { columns: 3, rows: 2, fabric, ..ClothGrid::default() })?;
    /// // Ten times softer towards the last column.
    /// scene.scale_compliance(cloth.particles, &[1.0, 1.0, 10.0, 1.0, 1.0, 10.0])?;
    /// # Ok::<(), supple::Error>(())
    /// ```
    ///
    /// # Errors
    /// A particle does not exist, a scale is negative or not finite, the number of scales is not that of the particles, or a
    /// compliance exceeds its maximum.
    pub fn scale_compliance(&mut self, particles: Range<u32>, scales: &[f32]) -> Result<()> {
        if particles.len() != scales.len() {
            let what = "particles and their scales of compliance";
            return Err(Error::LengthMismatch { what, left: particles.len(), right: scales.len() });
        }
        if particles.is_empty() {
            return Ok(());
        }
        self.check_particle("scale_compliance", particles.end - 1)?;
        for (particle, &scale) in particles.clone().zip(scales) {
            crate::error::check_non_negative(&format!("scale of compliance of particle {particle}"), scale)?;
        }
        let scale_of = |particle: &u32| {
            let place = particle.checked_sub(particles.start)?;
            scales.get(place as usize).copied().map(f64::from)
        };
        let scaled = self.scaled_materials(scale_of)?;
        for (set, word, material) in scaled {
            let MaterialId(id) = self.intern(material);
            self.constraints[set].words[word] = id;
        }
        Ok(())
    }

    /// For each constraint whose material changes, its kind, the place of the material among the words, and the material.
    fn scaled_materials(&self, scale_of: impl Fn(&u32) -> Option<f64>) -> Result<Vec<(usize, usize, Material)>> {
        let mut scaled = Vec::new();
        // Groups have no fixed particles, joints of rods have orientations only.
        let has_points = |set: &ConstraintSet| !set.info.is_group() && set.info.point_count() > 0;
        let sets = self.constraints.iter().enumerate().filter(|(_, set)| has_points(set));
        for (kind, set) in sets {
            let (count, arity) = (set.info.point_count(), set.info.arity);
            for (index, record) in set.records().enumerate() {
                let Some(sum) = record[..count].iter().map(&scale_of).sum::<Option<f64>>() else { continue };
                let own = self.materials[record[arity] as usize];
                let compliance = (f64::from(own.compliance) * sum / count as f64) as f32;
                if compliance != own.compliance {
                    let material = Material { compliance, ..own };
                    material.check(&format!("scaled {} constraint {index}", set.info.name))?;
                    scaled.push((kind, index * set.info.record_words + arity, material));
                }
            }
        }
        Ok(scaled)
    }
}
