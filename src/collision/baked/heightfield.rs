//! Heightfields: ground given by heights on a grid.

use crate::error::{Error, Result};
use crate::geometry::vector::length;
use glam::{Vec2, Vec3};

/// Heights on a grid in x and z, centred at the origin; y is up.
///
/// Each cell has two triangles, with the diagonal from (x + 1, z) to (x, z + 1).
///
/// The distance of a point is measured to the plane of the triangle below or above it. It is exact over a plane and an
/// estimate near edges of the ground. The error grows with the slope: near a cliff, the cliff affects a particle only
/// when it crosses into the ground. The sweep of a fast particle uses the steepest slope, so a fast particle does not
/// pass through features wider than a quarter of the spacing.
///
/// By default the ground continues at the height of the border beyond the border. With [`Heightfield::ends_at_border`]
/// it ends there. Heightfields that end can be placed side by side as chunks of one terrain, with equal heights at a
/// common border.
#[derive(Debug, Clone, PartialEq)]
pub struct Heightfield {
    /// Grid points along x; at least 2.
    pub columns: u32,
    /// Grid points along z; at least 2.
    pub rows: u32,
    /// Distance between neighbouring grid points in x and z \[m\].
    pub spacing: f32,
    /// Heights of the grid points \[m\]; point (column, row) is `heights[row * columns + column]`.
    pub heights: Vec<f32>,
    /// If true, the ground ends at the border. Default: false, the ground continues level.
    ///
    /// A heightfield that ends has no side walls: a particle that enters from the side below the surface is moved up to
    /// the surface at the recovery speed. The ground is solid down to at least half its horizontal diagonal below its
    /// lowest height; particles farther below are not affected.
    pub ends_at_border: bool,
}

impl Default for Heightfield {
    /// A level square with a side of 1 m at height 0.
    fn default() -> Self {
        Self { columns: 2, rows: 2, spacing: 1.0, heights: vec![0.0; 4], ends_at_border: false }
    }
}

impl Heightfield {
    /// Returns `Ok` if the heightfield is valid.
    ///
    /// # Errors
    /// - There are fewer than 2 columns or rows, or the number of heights differs from the number of grid points.
    /// - A height is not finite or exceeds 1e6 m.
    /// - The spacing is not in 1e-6 to 1e6 m.
    pub fn check(&self) -> Result<()> {
        for (what, count) in
            [("number of columns of a heightfield", self.columns), ("number of rows of a heightfield", self.rows)]
        {
            if count < 2 {
                return Err(Error::invalid(what, count, "at least 2"));
            }
        }
        if !(1e-6..=1e6).contains(&self.spacing) {
            return Err(Error::invalid("spacing of a heightfield", self.spacing, "1e-6 to 1e6 m"));
        }
        let count = u64::from(self.columns) * u64::from(self.rows);
        if count > super::field::MAX_SAMPLES {
            return Err(Error::TooLarge { what: "heights of a heightfield", count, limit: super::field::MAX_SAMPLES });
        }
        if self.heights.len() as u64 != count {
            return Err(Error::LengthMismatch {
                what: "heights and grid points of a heightfield",
                left: self.heights.len(),
                right: count as usize,
            });
        }
        match self.heights.iter().enumerate().find(|(_, height)| !(-1e6..=1e6).contains(*height)) {
            None => Ok(()),
            Some((index, &height)) => {
                Err(Error::invalid(format!("height {index} of a heightfield"), height, "at most 1e6 m either way"))
            }
        }
    }

    /// The smallest y component of a triangle normal. The height above the ground times this is a lower bound of the
    /// distance.
    pub(crate) fn least_upright(&self) -> f32 {
        let columns = (self.columns as usize).max(2);
        let mut steepest = 0.0f64;
        for (row, next) in self.heights.chunks(columns).zip(self.heights.chunks(columns).skip(1)) {
            for (low, high) in row.windows(2).zip(next.windows(2)) {
                let [h00, h10, h01, h11] = [low[0], low[1], high[0], high[1]].map(f64::from);
                let square = |x: f64, z: f64| x * x + z * z;
                steepest = steepest.max(square(h10 - h00, h01 - h00)).max(square(h11 - h01, h11 - h10));
            }
        }
        // Rounded down to stay a lower bound.
        let slack = if steepest == 0.0 { 1.0 } else { 0.9999 };
        (slack / (1.0 + steepest / f64::from(self.spacing).powi(2)).sqrt()) as f32
    }

    /// Half the lengths along x and z \[m\].
    fn half_extents(&self) -> Vec2 {
        let half = |count: u32| 0.5 * count.saturating_sub(1) as f32 * self.spacing;
        Vec2::new(half(self.columns), half(self.rows))
    }

    /// The radius of a bounding sphere about the origin \[m\].
    pub(crate) fn bound(&self) -> f32 {
        if !self.ends_at_border {
            return f32::MAX;
        }
        let across = self.half_extents().length();
        let tallest = self.heights.iter().fold(0.0f32, |tallest, height| tallest.max(height.abs()));
        1.0001 * across.hypot(tallest + across)
    }

    #[cfg(test)]
    pub(crate) fn sample(&self, point: [f32; 3]) -> (f32, [f32; 3]) {
        sample_heights(&self.heights, [self.columns, self.rows], self.spacing, self.ends_at_border, point)
    }
}

/// The position of a point on the grid in cells, and the nearest position within the border.
fn place_on_grid(size: [u32; 2], spacing: f32, p: Vec3) -> [Vec2; 2] {
    let limit = Vec2::from(size.map(|count| count.saturating_sub(1) as f32));
    let place = Vec2::new(p.x, p.z) / spacing + 0.5 * limit;
    [place, place.max(Vec2::ZERO).min(limit)]
}

/// The distance of a point \[m\] from the border \[m\]; 0 within the border and within its tolerance. The tolerance is a few
/// roundings of a coordinate at the collider's positions \[m\], so chunks side by side have no gap. The counterpart is
/// `heightfield_beyond` of `shaders/collision/collide/heightfield.wgsl`.
pub(crate) fn beyond_border(size: [u32; 2], spacing: f32, positions: [[f32; 3]; 2], p: Vec3) -> f32 {
    let [place, inside] = place_on_grid(size, spacing, p);
    let over = (place - inside).abs();
    let half = 0.5 * (size[0].max(size[1]) - 1) as f32 * spacing;
    let farthest = positions.into_iter().flatten().fold(half, |farthest, x| farthest.max(x.abs()));
    let tolerance = (4e-7 * farthest / spacing).min(0.1);
    if over.x.max(over.y) <= tolerance { 0.0 } else { length(over.extend(0.0)) * spacing }
}

/// Distance \[m\] and normal at a point \[m\]; the counterpart of `heightfield_sample` in
/// `shaders/collision/collide/heightfield.wgsl`. Beyond the border the ground continues level or, if `ends`, in the
/// plane of the nearest triangle.
pub(crate) fn sample_heights(
    heights: &[f32],
    size: [u32; 2],
    spacing: f32,
    ends: bool,
    point: [f32; 3],
) -> (f32, [f32; 3]) {
    let p = Vec3::from(point);
    let [place, inside] = place_on_grid(size, spacing, p);
    let corner = [0, 1].map(|axis: usize| (inside[axis] as u32).min(size[axis].saturating_sub(2)));
    let used = if ends { place } else { inside };
    let t = used - Vec2::new(corner[0] as f32, corner[1] as f32);
    let columns = size[0] as usize;
    let first = corner[1] as usize * columns + corner[0] as usize;
    let at = |index: usize| heights.get(index).copied().unwrap_or(0.0);
    let [h00, h10, h01, h11] = [first, first + 1, first + columns, first + columns + 1].map(at);
    let (mut base, mut rise, mut along) = (h00, Vec2::new(h10 - h00, h01 - h00), t);
    if t.x + t.y > 1.0 {
        (base, rise, along) = (h11, Vec2::new(h11 - h01, h11 - h10), t - 1.0);
    }
    let climb = rise * along;
    let height = (base + climb.x) + climb.y;
    let slope = Vec2::select(place.cmpne(used), Vec2::ZERO, rise / spacing);
    let across = Vec3::new(-slope.x, 1.0, -slope.y);
    let n = across / length(across);
    ((p.y - height) * n.y, n.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(columns: u32, rows: u32, spacing: f32, height: impl Fn(f32, f32) -> f32) -> Heightfield {
        let place = |index: u32, count: u32| (index as f32 - 0.5 * (count - 1) as f32) * spacing;
        let heights =
            (0..rows * columns).map(|i| height(place(i % columns, columns), place(i / columns, rows))).collect();
        Heightfield { columns, rows, spacing, heights, ends_at_border: false }
    }

    #[test]
    fn a_slope_has_the_distance_of_its_plane() {
        let ground = field(7, 4, 0.5, |x, z| 0.3 * x - 0.7 * z + 2.0);
        ground.check().unwrap();
        let n = Vec3::new(-0.3, 1.0, 0.7).normalize();
        for p in [[0.1, 3.0, 0.2], [-1.4, 0.0, 0.7], [1.49, 2.0, -0.74], [0.0, 2.0, 0.0], [0.3, -1.0, 0.6]] {
            let (distance, normal) = ground.sample(p);
            assert!((distance - (Vec3::from(p) - Vec3::new(0.0, 2.0, 0.0)).dot(n)).abs() < 1e-5, "{p:?}: {distance}");
            assert!((Vec3::from(normal) - n).length() < 1e-5, "{p:?}: {normal:?}");
        }
    }

    #[test]
    fn each_half_of_a_cell_is_its_own_triangle() {
        let heights = vec![0.0, 0.0, 0.0, 2.0];
        let ground = Heightfield { spacing: 2.0, heights, ..Heightfield::default() };
        assert_eq!(ground.sample([-0.5, 0.25, -0.5]), (0.25, [0.0, 1.0, 0.0]));
        let n = Vec3::new(-1.0, 1.0, -1.0).normalize();
        let (distance, normal) = ground.sample([0.5, 3.0, 0.5]);
        assert!((Vec3::from(normal) - n).length() < 1e-6, "{normal:?}");
        assert!((distance - 2.0 * n.y).abs() < 1e-6, "{distance}");
        // The diagonal runs from (x + 1, z) to (x, z + 1).
        assert_eq!(ground.sample([0.5, 0.0, -0.5]).0, 0.0);
        assert_eq!(ground.sample([-0.5, 0.0, 0.5]).0, 0.0);
    }

    /// The distance to the ground and its level continuation, from many points on them.
    fn brute_force(ground: &Heightfield, p: Vec3) -> f32 {
        let mut least = f32::MAX;
        for i in -60..=60 {
            for k in -60..=60 {
                let [x, z] = [p.x + 0.02 * i as f32, p.z + 0.02 * k as f32];
                let (gap, n) = ground.sample([x, p.y, z]);
                least = least.min(Vec3::new(x, p.y - gap / n[1], z).distance(p));
            }
        }
        least
    }

    #[test]
    fn a_height_times_the_least_upright_is_no_more_than_the_distance() {
        let mut random = crate::collision::baked::shapes::numbers(5);
        for steepness in [0.0, 0.3, 2.0] {
            let heights = (0..63).map(|_| steepness * random()).collect();
            let ground = Heightfield { columns: 9, rows: 7, spacing: 0.25, heights, ends_at_border: false };
            let upright = ground.least_upright();
            let (mut overrun, mut flat) = (0, 0);
            for _ in 0..60 {
                let p = Vec3::new(3.0 * random() - 1.5, 0.9 * random() + 0.2 * steepness, 3.0 * random() - 1.5);
                let (distance, n) = ground.sample(p.into());
                if distance <= 0.0 {
                    continue;
                }
                let (sure, least) = (distance / n[1] * upright, brute_force(&ground, p));
                assert!(sure <= least * 1.0001, "{p}: {sure} {least}");
                overrun += u32::from(distance > 1.01 * least);
                flat += u32::from(sure == distance);
            }
            // The lower bound is needed on hills and has no effect on a plane.
            assert_eq!(overrun > 0, steepness > 0.0);
            assert_eq!(flat == 60, steepness == 0.0, "{flat}");
        }
    }

    #[test]
    fn beyond_the_border_the_ground_is_level() {
        let ground = field(3, 3, 1.0, |x, _| x);
        assert_eq!(ground.sample([5.0, 4.0, 0.25]), (3.0, [0.0, 1.0, 0.0]));
        assert_eq!(ground.sample([-5.0, 0.0, 9.0]), (1.0, [0.0, 1.0, 0.0]));
        let (distance, normal) = ground.sample([0.5, 1.5, 9.0]);
        assert!((distance - 0.5f32.sqrt()).abs() < 1e-6 && (normal[0] + 0.5f32.sqrt()).abs() < 1e-6, "{distance}");
    }

    #[test]
    fn an_invalid_heightfield_is_refused() {
        let good = field(3, 2, 1.0, |_, _| 0.0);
        let bad = |change: fn(&mut Heightfield)| {
            let mut field = good.clone();
            change(&mut field);
            field.check().unwrap_err()
        };
        assert!(matches!(bad(|f| f.columns = 1), Error::InvalidValue { what, .. } if what.contains("columns")));
        assert!(matches!(bad(|f| f.rows = 0), Error::InvalidValue { what, .. } if what.contains("rows")));
        assert!(matches!(bad(|f| f.spacing = 0.0), Error::InvalidValue { .. }));
        assert!(matches!(bad(|f| f.spacing = f32::NAN), Error::InvalidValue { .. }));
        assert!(
            matches!(bad(|f| f.heights[4] = f32::NAN), Error::InvalidValue { what, .. } if what.contains("height 4"))
        );
        assert!(matches!(bad(|f| f.heights.push(0.0)), Error::LengthMismatch { left: 7, right: 6, .. }));
        assert!(matches!(bad(|f| f.columns = u32::MAX), Error::TooLarge { .. }));
        // An unchecked heightfield does not panic.
        for columns in [0, 1, 2, 1000] {
            Heightfield { columns, ..good.clone() }.sample([f32::NAN, 1e30, -1e30]);
        }
    }

    /// The positions of both chunks are rounded, so a gap of up to two roundings opens between them.
    #[test]
    fn chunks_side_by_side_have_no_gap_far_from_the_origin() {
        let (size, spacing) = ([5, 5], 0.7f32);
        for k in 0..1000 {
            let origin = 7.3 * f64::from(k);
            let [left, right] = [origin, origin + 4.0 * f64::from(spacing)].map(|x| x as f32);
            let beyond = |center: f32, x: f64| {
                let poses = [[center, 0.0, 0.0]; 2];
                beyond_border(size, spacing, poses, Vec3::new((x - f64::from(center)) as f32, 0.0, 0.0))
            };
            let seam = 0.5 * (f64::from(left) + f64::from(right));
            let points = (-10..=10).map(|step| seam + 5e-5 * f64::from(step));
            for x in points {
                assert!(beyond(left, x) == 0.0 || beyond(right, x) == 0.0, "{x} between {left} and {right}");
            }
        }
    }
}
