//! How far distance constraints are from their rest length.

use super::Scene;
use crate::constraints::{Distance, Kind, kind_index};
use crate::error::{Error, Result};
use std::ops::Range;

/// How far edges are from their rest length, |l/L₀ − 1|: 0.01 is one per cent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Strain {
    /// Over all edges.
    pub mean: f64,
    /// Of the worst edge.
    pub max: f64,
}

impl Scene {
    /// Particles and rest length \[m\] of the distance constraints in a range of indices; none where it runs past the end.
    pub fn distances(&self, constraints: Range<u32>) -> impl Iterator<Item = Distance> {
        let set = &self.constraints[kind_index(Distance::INFO)];
        let words = set.info.record_words;
        let range = constraints.start as usize * words..constraints.end as usize * words;
        set.words
            .get(range)
            .unwrap_or_default()
            .chunks_exact(words)
            .map(|record| Distance { particles: [record[0], record[1]], rest_length: f32::from_bits(record[3]) })
    }

    /// |l/L₀ − 1| of distance constraints at the given positions \[m\]: the mean and the largest. Those of a rest length of 0 have no
    /// strain and are left out.
    ///
    /// # Errors
    /// The positions must be as many as the particles, the constraints must exist.
    pub fn strain(&self, constraints: Range<u32>, positions: &[[f32; 3]]) -> Result<Strain> {
        if positions.len() != self.particle_count() {
            let (left, right) = (positions.len(), self.particle_count());
            return Err(Error::LengthMismatch { what: "positions and particles", left, right });
        }
        let count = self.constraints[kind_index(Distance::INFO)].len();
        if constraints.end as usize > count || constraints.start > constraints.end {
            return Err(Error::IndexOutOfRange {
                what: "strain".into(),
                target: "distance constraint",
                index: constraints.end.into(),
                count: count as u64,
            });
        }
        let (mut sum, mut max, mut edges) = (0.0f64, 0.0f64, 0u32);
        for distance in self.distances(constraints).filter(|distance| distance.rest_length > 0.0) {
            let [a, b] = distance.particles.map(|particle| positions[particle as usize]);
            let square: f64 = (0..3).map(|axis| f64::from(a[axis] - b[axis]).powi(2)).sum();
            let strain = (square.sqrt() / f64::from(distance.rest_length) - 1.0).abs();
            sum += strain;
            edges += 1;
            // A NaN must show, and f64::max would drop it.
            max = if strain > max || strain.is_nan() { strain } else { max };
        }
        let mean = if edges == 0 { 0.0 } else { sum / f64::from(edges) };
        Ok(Strain { mean, max })
    }
}
