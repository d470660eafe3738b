//! Points that are farther apart than a tolerance.

use glam::DVec3;
use std::collections::HashMap;

/// Points that are farther apart than a tolerance \[m\], in a hash grid with cells of the tolerance.
pub(crate) struct DistinctPoints {
    tolerance: f64,
    pub positions: Vec<[f32; 3]>,
    /// The last point of each cell, and for each point the previous one in its cell.
    cells: HashMap<[u64; 3], u32>,
    before: Vec<Option<u32>>,
}

impl DistinctPoints {
    pub fn new(tolerance: f32) -> Self {
        Self { tolerance: tolerance.into(), positions: Vec::new(), cells: HashMap::new(), before: Vec::new() }
    }

    /// The index of the nearest point within the tolerance, or of the position as a new point.
    pub fn find_or_add(&mut self, position: [f32; 3]) -> u32 {
        let place = DVec3::from(position.map(f64::from));
        // Cell coordinates are `f64`. Far from the origin, where neighbouring cells round to the same coordinate, each
        // position has its own cell.
        let (cell, reach) = if self.tolerance > 0.0 { ((place / self.tolerance).floor(), 1) } else { (place, 0) };
        let mut nearest: Option<(f64, u32)> = None;
        let around = || (-reach..=reach).map(f64::from);
        let offsets = around().flat_map(|x| around().flat_map(move |y| around().map(move |z| DVec3::new(x, y, z))));
        for offset in offsets {
            let mut next = self.cells.get(&key(cell + offset)).copied();
            while let Some(point) = next {
                let distance = place.distance(DVec3::from(self.positions[point as usize].map(f64::from)));
                let candidate = (distance, point);
                if distance <= self.tolerance && nearest.is_none_or(|nearest| candidate < nearest) {
                    nearest = Some(candidate);
                }
                next = self.before[point as usize];
            }
        }
        nearest.map_or_else(|| self.add(position, key(cell)), |(_, point)| point)
    }

    fn add(&mut self, position: [f32; 3], cell: [u64; 3]) -> u32 {
        let point = self.positions.len() as u32;
        self.positions.push(position);
        self.before.push(self.cells.insert(cell, point));
        point
    }
}

/// Adding 0 turns −0 into 0.
fn key(cell: DVec3) -> [u64; 3] {
    cell.to_array().map(|index| (index + 0.0).to_bits())
}
