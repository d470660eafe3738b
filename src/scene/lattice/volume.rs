//! Finds the cubes of a grid that a closed surface passes through or encloses, and the fill of each of their
//! tetrahedra.
//!
//! The volume inside is a sum over the triangles. Each term is the volume of the prism from the triangle down to the bottom
//! of the grid, positive for triangles that face up, negative for others. This is Gauss's theorem for the field (0, 0, z).
//! Within a tetrahedron, each term is the integral of a piecewise linear function over a polygon. It has a closed form
//! and is continuous in the vertices. Unlike ray casting, no decision depends on rounding: a vertical triangle, or one
//! in a lattice plane, causes only a small error.

use super::{Grid, cube_parity};
use glam::DVec3;

/// A cube that is kept.
pub(super) struct Cube {
    pub at: [u32; 3],
    /// The fraction of each tetrahedron inside, in 0..=1 except for rounding and overlaps.
    pub fill: [f32; 5],
}

/// The volumes of the five tetrahedra of a unit cube.
const VOLUMES: [f64; 5] = [1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 3.0];

/// The cubes that the surface passes through by more than the tolerance, or encloses. `points` are in grid coordinates;
/// `orientation` is −1 if the surface faces inwards, otherwise 1.
pub(super) fn inside_cubes(grid: &Grid, points: &[DVec3], triangles: &[[u32; 3]], orientation: f64) -> Vec<Cube> {
    let mut cubes = Vec::new();
    let mut column = Column::new(grid, orientation);
    let corners = |triangle: usize| triangles[triangle].map(|vertex| points[vertex as usize]);
    let rows: Vec<[u32; 2]> = (0..triangles.len()).map(|triangle| cell_range(grid, 1, &corners(triangle))).collect();
    sweep(&rows, grid.cells[1], |j, in_row| {
        let strip = |&triangle: &usize| {
            let strip = clip(&corners(triangle), |point| point.y - f64::from(j));
            clip(&strip, |point| f64::from(j + 1) - point.y)
        };
        let strips: Vec<Vec<DVec3>> = in_row.iter().map(strip).filter(|strip| !strip.is_empty()).collect();
        let columns: Vec<[u32; 2]> = strips.iter().map(|strip| cell_range(grid, 0, strip)).collect();
        sweep(&columns, grid.cells[0], |i, in_column| {
            let corner = DVec3::new(f64::from(i), f64::from(j), 0.0);
            for &strip in in_column {
                let polygon: Vec<DVec3> = strips[strip].iter().map(|&point| point - corner).collect();
                let polygon = clip(&clip(&polygon, |point| point.x), |point| 1.0 - point.x);
                column.add(&polygon, i ^ j);
            }
            column.finish([i, j], &mut cubes);
        });
    });
    cubes
}

/// The first and last cube of a polygon along `axis`.
fn cell_range(grid: &Grid, axis: usize, polygon: &[DVec3]) -> [u32; 2] {
    let (low, high) = extent(polygon, axis);
    [grid.cell(axis, low), grid.cell(axis, high)]
}

fn extent(polygon: &[DVec3], axis: usize) -> (f64, f64) {
    let coordinates = polygon.iter().map(|point| point[axis]);
    coordinates.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
}

/// Calls `visit` for every slot below `count` that lies in at least one range (first and last slot), with the indices
/// of those ranges.
fn sweep(ranges: &[[u32; 2]], count: u32, mut visit: impl FnMut(u32, &[usize])) {
    let mut waiting: Vec<usize> = (0..ranges.len()).collect();
    // In descending order, because ranges are taken from the end. Within a slot they are in order of index, so sums
    // have a fixed order.
    waiting.sort_unstable_by_key(|&range| std::cmp::Reverse((ranges[range][0], range)));
    let mut active: Vec<usize> = Vec::new();
    for slot in 0..count {
        active.retain(|&range| ranges[range][1] >= slot);
        while let Some(range) = waiting.pop_if(|range| ranges[*range][0] <= slot) {
            active.push(range);
        }
        if !active.is_empty() {
            visit(slot, &active);
        }
    }
}

/// The part of a convex polygon where a linear function is not negative (Sutherland and Hodgman 1974).
fn clip(polygon: &[DVec3], height: impl Fn(DVec3) -> f64) -> Vec<DVec3> {
    let mut part = Vec::with_capacity(polygon.len() + 1);
    let Some(&last) = polygon.last() else { return part };
    let mut previous = (last, height(last));
    for &point in polygon {
        let next = (point, height(point));
        if (previous.1 < 0.0) != (next.1 < 0.0) {
            part.push(previous.0.lerp(next.0, previous.1 / (previous.1 - next.1)));
        }
        if next.1 >= 0.0 {
            part.push(point);
        }
        previous = next;
    }
    part
}

/// The column of cubes over one square of the grid, which accumulates the triangles over that square.
struct Column {
    tolerance: f64,
    orientation: f64,
    /// True for cubes that the surface passes through.
    touched: Vec<bool>,
    /// Volume inside each tetrahedron, from triangles that reach into the cube.
    within: Vec<[f64; 5]>,
    /// Volume that triangles above add to each tetrahedron of this cube and of all cubes below, by parity.
    below: Vec<[[f64; 5]; 2]>,
}

impl Column {
    fn new(grid: &Grid, orientation: f64) -> Self {
        let height = grid.cells[2] as usize;
        Self {
            tolerance: grid.tolerance,
            orientation,
            touched: vec![false; height],
            within: vec![[0.0; 5]; height],
            below: vec![[[0.0; 5]; 2]; height],
        }
    }

    /// The cube that contains the height z.
    fn cell(&self, z: f64) -> usize {
        (z.max(0.0) as usize).min(self.touched.len() - 1)
    }

    /// Adds a part of a triangle with x and y in 0..=1. The lowest bit of `parity` is the parity of the lowest cube.
    fn add(&mut self, polygon: &[DVec3], parity: u32) {
        self.touch(polygon);
        // The diagonals cut the square into quarters. Over each quarter, a cube is a stack of three tetrahedra with
        // plane faces: one at a lower corner, the middle one, one at an upper corner.
        for [right, far] in [[true, true], [true, false], [false, true], [false, false]] {
            let across = |point: DVec3| if right { point.x - point.y } else { point.y - point.x };
            let along = |point: DVec3| if far { point.x + point.y - 1.0 } else { 1.0 - point.x - point.y };
            let part = clip(&clip(polygon, across), along);
            let Some((&first, rest)) = part.split_first() else { continue };
            let (low, high) = extent(&part, 2);
            let [bottom, top] = [self.cell(low), self.cell(high)];
            let tetrahedra =
                [[usize::from(!right), 4, 2 + usize::from(far)], [usize::from(far), 4, 2 + usize::from(!right)]];
            for pair in rest.windows(2) {
                let corners = [first, pair[0], pair[1]];
                let area = 0.5 * (pair[0] - first).truncate().perp_dot((pair[1] - first).truncate());
                let area = self.orientation * area;
                // The height of the four faces of the stack at each corner, above the bottom of the cube.
                let faces = [
                    corners.map(|point| [0.0, across(point), 1.0 - along(point), 1.0]),
                    corners.map(|point| [0.0, along(point), 1.0 - across(point), 1.0]),
                ];
                for cube in bottom..=top {
                    let parity = (parity as usize ^ cube) & 1;
                    let above = [0, 1, 2, 3].map(|face| {
                        let height = |corner: usize| corners[corner].z - cube as f64 - faces[parity][corner][face];
                        area * mean_positive([0, 1, 2].map(height))
                    });
                    for layer in 0..3 {
                        self.within[cube][tetrahedra[parity][layer]] += above[layer] - above[layer + 1];
                    }
                }
                for (parity, faces) in faces.iter().enumerate().filter(|_| bottom > 0) {
                    for layer in 0..3 {
                        let thickness: f64 = faces.iter().map(|face| face[layer + 1] - face[layer]).sum();
                        self.below[bottom - 1][parity][tetrahedra[parity][layer]] += area * thickness / 3.0;
                    }
                }
            }
        }
    }

    /// Marks the cubes that a part of a triangle enters by more than the tolerance. This is exact: a convex polygon
    /// clipped to the column intersects the cubes between its lowest and its highest point.
    fn touch(&mut self, polygon: &[DVec3]) {
        let [low, high] = [self.tolerance, 1.0 - self.tolerance];
        let part = clip(&clip(polygon, |point| point.x - low), |point| high - point.x);
        let part = clip(&clip(&part, |point| point.y - low), |point| high - point.y);
        if !part.is_empty() {
            let (bottom, top) = extent(&part, 2);
            for cube in self.cell(bottom)..=self.cell(top) {
                self.touched[cube] |= top > cube as f64 + low && bottom < cube as f64 + high;
            }
        }
    }

    /// Appends the kept cubes of the column and clears it.
    fn finish(&mut self, [i, j]: [u32; 2], cubes: &mut Vec<Cube>) {
        let mut from_above = [[0.0; 5]; 2];
        for cube in (0..self.touched.len()).rev() {
            for (sums, added) in from_above.as_flattened_mut().iter_mut().zip(self.below[cube].as_flattened()) {
                *sums += added;
            }
            let at = [i, j, cube as u32];
            let above = from_above[cube_parity(at)];
            let inside = [0, 1, 2, 3, 4].map(|index| self.within[cube][index] + above[index]);
            if self.touched[cube] || inside.iter().sum::<f64>() > self.tolerance {
                cubes.push(Cube { at, fill: [0, 1, 2, 3, 4].map(|index| (inside[index] / VOLUMES[index]) as f32) });
            }
        }
        self.touched.fill(false);
        self.within.fill([0.0; 5]);
        self.below.fill([[0.0; 5]; 2]);
    }
}

/// The mean of max(f, 0) over a triangle, for a linear f with the given values at its corners.
fn mean_positive(values: [f64; 3]) -> f64 {
    let mut sorted = values;
    sorted.sort_unstable_by(f64::total_cmp);
    let [low, middle, high] = sorted;
    // A corner whose value alone has its sign spans a triangle with sides cut in proportion. The quotients avoid
    // underflow of products.
    let tip = |tip: f64, a: f64, b: f64| tip * (tip / (tip - a)) * (tip / (tip - b)) / 3.0;
    let mean = (low + middle + high) / 3.0;
    if low >= 0.0 {
        mean
    } else if high <= 0.0 {
        0.0
    } else if middle <= 0.0 {
        tip(high, middle, low)
    } else {
        mean - tip(low, middle, high)
    }
}
