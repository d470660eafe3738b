//! Strain of distance constraints.

use super::Scene;
use crate::constraints::{Distance, Kind, kind_index};
use crate::error::{Error, Result};
use std::ops::Range;

/// Strain of edges, |l/L₀ − 1|: 0.01 is one per cent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Strain {
    /// The mean over all edges.
    pub mean: f64,
    /// The greatest strain of an edge.
    pub max: f64,
}

impl Scene {
    /// Particles and rest length \[m\] of a range of distance constraints; empty if the range exceeds their number.
    pub fn distances(&self, constraints: Range<u32>) -> impl DoubleEndedIterator<Item = Distance> {
        let set = &self.constraints[kind_index(Distance::INFO)];
        let words = set.info.record_words;
        let range = constraints.start as usize * words..constraints.end as usize * words;
        set.words
            .get(range)
            .unwrap_or_default()
            .chunks_exact(words)
            .map(|record| Distance { particles: [record[0], record[1]], rest_length: f32::from_bits(record[3]) })
    }

    /// Mean and greatest strain |l/L₀ − 1| of a range of distance constraints at the given positions \[m\]. Constraints
    /// with a rest length of 0 are skipped.
    ///
    /// # Errors
    /// The number of positions differs from the number of particles, or a constraint does not exist.
    pub fn strain(&self, constraints: Range<u32>, positions: &[[f32; 3]]) -> Result<Strain> {
        if positions.len() != self.particle_count() {
            let (left, right) = (positions.len(), self.particle_count());
            return Err(Error::LengthMismatch { what: "positions and particles", left, right });
        }
        let count = self.constraints[kind_index(Distance::INFO)].len();
        if constraints.end as usize > count && !constraints.is_empty() {
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
            // Unlike `f64::max`, this keeps NaN.
            max = if strain > max || strain.is_nan() { strain } else { max };
        }
        let mean = if edges == 0 { 0.0 } else { sum / f64::from(edges) };
        Ok(Strain { mean, max })
    }
}
