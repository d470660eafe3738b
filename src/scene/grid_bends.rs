//! The bends of a grid on one level or two: second differences over one cell, and over two.
//!
//! One sweep resolves a bend if its scaled compliance α̃ = α/h² is at least about W/2, with W = Σ w|∇C|². The ratio α̃/W is small
//! for small cells. For a bend over two cells it is 8 times that of a bend over one, with half as many bends. The rigidity is
//! therefore divided. Bends over one cell get the share clamp(α̃/W, 1/8, 1), where α̃ is that of the whole rigidity: a share of
//! α̃/W raises their own scaled compliance to W. Bends over two cells get the rest.
//! Decision: `docs/decisions/0033-bends-in-one-sweep.md`.

use super::bending::GridLines;
use super::{Fabric, MaterialId, Scene};
use crate::constraints::{IsometricBend, LineBend};

/// The substep h for which the rigidity is divided \[s\].
const SUBSTEP: f32 = crate::settings::DEFAULT_SUBSTEP as f32;

/// The least share of bends over one cell. Wrinkles of two cells are as stiff as this share of the rigidity.
const LEAST_SHARE: f32 = 0.125;

/// The shares of bends over one cell, at most 1: α̃/W of these bends.
#[derive(Debug, Clone, Copy)]
struct Shares {
    /// Of the lines along the rows and along the columns.
    lines: [f32; 2],
    /// Across the cells.
    twist: f32,
}

impl Shares {
    fn new(lines: GridLines, fabric: &Fabric) -> Self {
        // A tear can only change bends over at most four triangles, so tearable cloth has none over two cells.
        if fabric.tearing.is_some() {
            return Self { lines: [1.0; 2], twist: 1.0 };
        }
        let [a, b] = lines.cell();
        // W is 6/(ρ a⁴) along a and 8/(ρ a² b²) across a cell, with w = 1/(ρ a b) and scales for B = 1.
        // The ratio ρ/(B h²) [1/m⁴] gives α̃/W: times a⁴/6 along a line, times (a b)²/8 across a cell.
        let density_ratio = fabric.area_density / (fabric.flexural_rigidity * SUBSTEP * SUBSTEP);
        let share = |ratio: f32| ratio.clamp(LEAST_SHARE, 1.0);
        Self {
            lines: [a, b].map(|side| share(density_ratio * side.powi(4) / 6.0)),
            twist: share(density_ratio * (a * b).powi(2) / 8.0),
        }
    }
}

/// A second difference along a line of particles.
struct Difference {
    center: u32,
    /// The number of cells on each side.
    span: u32,
    /// The length of the line whose energy it holds, in cells.
    length: f32,
}

/// The second differences along a line of `count` particles, those over two cells first. Their lengths sum to that of the
/// line without half a cell at each end.
fn differences(count: u32, share: f32) -> Vec<Difference> {
    let mut lengths = vec![1.0; count as usize];
    let mut all = Vec::new();
    for center in (2..count.saturating_sub(2)).step_by(2).filter(|_| share < 1.0) {
        all.push(Difference { center, span: 2, length: 2.0 * (1.0 - share) });
        for (place, part) in [(center - 1, 0.5), (center, 1.0), (center + 1, 0.5)] {
            lengths[place as usize] -= part * (1.0 - share);
        }
    }
    let fine = |center: u32| Difference { center, span: 1, length: lengths[center as usize] };
    all.extend((1..count.saturating_sub(1)).map(fine));
    all
}

impl Scene {
    /// Adds second differences along the lines of a grid and across its cells.
    pub(super) fn push_grid_bends(&mut self, base: u32, lines: GridLines, fabric: &Fabric, id: MaterialId) {
        let (GridLines { columns, rows, .. }, shares) = (lines, Shares::new(lines, fabric));
        let at = |r: u32, c: u32| base + r * columns + c;
        // A line represents a strip of one cell width, half of that at the border.
        let width = |line: u32, count: u32| if line == 0 || line == count - 1 { 0.5 } else { 1.0 };
        let [a, b] = lines.cell();
        let along_rows = differences(columns, shares.lines[0]);
        for r in 0..rows {
            for &Difference { center: c, span, length } in &along_rows {
                let scale = (length * width(r, rows) * b / a).sqrt() / span as f32;
                let particles = [at(r, c - span), at(r, c + span), at(r, c)];
                self.push_constraint(&LineBend { particles, lengths: [a * span as f32; 2], scale }, id);
            }
        }
        let along_columns = differences(rows, shares.lines[1]);
        for &Difference { center: r, span, length } in &along_columns {
            for c in 0..columns {
                let scale = (length * width(c, columns) * a / b).sqrt() / span as f32;
                let particles = [at(r - span, c), at(r + span, c), at(r, c)];
                self.push_constraint(&LineBend { particles, lengths: [b * span as f32; 2], scale }, id);
            }
        }
        self.push_grid_twists(base, lines, shares.twist, id);
    }

    /// Adds mixed second differences across blocks of two by two cells, then across cells.
    fn push_grid_twists(&mut self, base: u32, lines: GridLines, share: f32, id: MaterialId) {
        let GridLines { columns, rows, .. } = lines;
        let [a, b] = lines.cell();
        // The number of particles of a side that lie in blocks, and of cells.
        let blocks = |count: u32| if share < 1.0 { (count - 1) / 2 * 2 } else { 0 };
        // `cells` is the number of cells whose energy the bend has.
        let mut push = |r: u32, c: u32, span: u32, cells: f32| {
            let at = |r: u32, c: u32| base + r * columns + c;
            let particles = [at(r, c), at(r, c + span), at(r + span, c), at(r + span, c + span)];
            let twist = (2.0 * cells / (a * b)).sqrt() / (span * span) as f32;
            self.push_constraint(&IsometricBend { particles, coefficients: [twist, -twist, -twist] }, id);
        };
        let in_blocks = [blocks(rows), blocks(columns)];
        for r in (0..in_blocks[0]).step_by(2) {
            (0..in_blocks[1]).step_by(2).for_each(|c| push(r, c, 2, 4.0 * (1.0 - share)));
        }
        for r in 0..rows - 1 {
            for c in 0..columns - 1 {
                push(r, c, 1, if r < in_blocks[0] && c < in_blocks[1] { share } else { 1.0 });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of n particles has the energy of n − 2 cells at curvature 1, whatever the shares.
    #[test]
    fn the_lengths_of_all_differences_are_those_of_the_line() {
        for count in 2..20 {
            for share in [0.125, 0.6, 1.0] {
                let all = differences(count, share);
                let sum: f32 = all.iter().map(|one| one.length).sum();
                assert!((sum - count.saturating_sub(2) as f32).abs() < 1e-5, "{count} particles, {share}: {sum}");
                assert!(all.iter().all(|one| one.length > 0.0 && one.center >= one.span));
                assert!(all.iter().all(|one| one.center + one.span < count));
                assert_eq!(all.iter().any(|one| one.span == 2), share < 1.0 && count > 4);
            }
        }
    }

    #[test]
    fn coarse_and_soft_grids_have_bends_over_one_cell_only() {
        let share = |cell: f32, rigidity: f32| {
            let steps = [glam::Vec3::X * cell, glam::Vec3::Z * cell];
            let lines = GridLines { columns: 9, rows: 9, steps, area: cell * cell };
            let fabric = Fabric { area_density: 0.2, flexural_rigidity: rigidity, ..Fabric::default() };
            Shares::new(lines, &fabric)
        };
        let soft = share(0.01, 1e-5);
        assert_eq!((soft.lines, soft.twist), ([1.0; 2], 1.0));
        let stiff = share(0.01, 1.0);
        assert_eq!((stiff.lines, stiff.twist), ([LEAST_SHARE; 2], LEAST_SHARE));
        // 0.2 (0.05)⁴/(6 · 0.75 (1/1200)²) = 0.4
        assert!((share(0.05, 0.75).lines[0] - 0.4).abs() < 1e-3);
    }
}
