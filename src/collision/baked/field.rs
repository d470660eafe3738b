//! Distance fields: a signed or unsigned distance sampled on a grid.

use crate::error::{Error, Result, check_finite, check_positive};
use crate::geometry::vector::{dot, length};
use glam::{Vec3, Vec4};

/// The greatest number of samples: 64 MiB, half of the default size limit of a storage buffer binding.
pub(super) const MAX_SAMPLES: u64 = 16_777_216;

/// The distance to a surface \[m\] at the points of a grid.
///
/// Distances between samples are trilinear, so edges and corners are rounded by less than a cell, and features thinner
/// than a cell are lost. An unsigned field does not reach 0 between samples: at the surface it is up to half a cell,
/// and its gradient is undefined. Contacts with an unsigned field must be thicker than a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct DistanceField {
    /// Number of samples along x, y and z; at least 2 each.
    pub dims: [u32; 3],
    /// Position of the first sample \[m\].
    pub origin: [f32; 3],
    /// Distance between neighbouring samples \[m\].
    pub cell: f32,
    /// The samples \[m\]; x varies fastest, then y, then z.
    pub values: Vec<f32>,
    /// If true, distances are negative inside; otherwise the surface has no inside.
    pub signed: bool,
}

impl DistanceField {
    /// Returns `Ok` if the field is valid. Fields from `bake` are.
    ///
    /// # Errors
    /// - An axis has fewer than 2 samples, or the field has more than 16 777 216.
    /// - The number of values differs from the number of samples, or a value is not finite.
    /// - The cell is not positive, or a sample is farther than 1e7 m from the origin.
    pub fn check(&self) -> Result<()> {
        for (axis, count) in ["x", "y", "z"].into_iter().zip(self.dims) {
            if count < 2 {
                return Err(Error::invalid(format!("samples of a distance field along {axis}"), count, "at least 2"));
            }
        }
        check_finite(|| "origin of a distance field".into(), self.origin)?;
        check_positive("cell of a distance field", self.cell)?;
        let count = self.dims.iter().fold(1u64, |count, dim| count.saturating_mul(u64::from(*dim)));
        if count > MAX_SAMPLES {
            return Err(Error::TooLarge { what: "samples of a distance field", count, limit: MAX_SAMPLES });
        }
        let last = [0, 1, 2].map(|axis: usize| self.origin[axis] + self.cell * (self.dims[axis] - 1) as f32);
        if let Some(far) = self.origin.into_iter().chain(last).find(|far| far.abs() > 1e7) {
            return Err(Error::invalid("place of a sample of a distance field", far, "at most 1e7 m either way"));
        }
        if self.values.len() as u64 != count {
            return Err(Error::LengthMismatch {
                what: "values and samples of a distance field",
                left: self.values.len(),
                right: count as usize,
            });
        }
        match self.values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            None => Ok(()),
            Some((index, &value)) => Err(Error::invalid(format!("value {index} of a distance field"), value, "finite")),
        }
    }

    #[cfg(test)]
    pub(crate) fn sample(&self, point: [f32; 3]) -> (f32, [f32; 3]) {
        sample_field(&self.values, self.dims, self.origin, self.cell, point)
    }
}

/// Distance \[m\] and normal at a point \[m\]; the counterpart of `field_sample` in
/// `shaders/collision/collide/field.wgsl`. The normal is the normalised gradient of the interpolated distance, and +y
/// if it is 0.
pub(crate) fn sample_field(
    values: &[f32],
    dims: [u32; 3],
    origin: [f32; 3],
    cell: f32,
    point: [f32; 3],
) -> (f32, [f32; 3]) {
    let place = (Vec3::from(point) - Vec3::from(origin)) / cell;
    let limit = Vec3::from(dims.map(|dim| dim.saturating_sub(1) as f32));
    let inside = place.max(Vec3::ZERO).min(limit);
    let corner = [0, 1, 2].map(|axis: usize| (inside[axis] as u32).min(dims[axis].saturating_sub(2)));
    let t = inside - Vec3::from(corner.map(|index| index as f32));
    let [up, back] = [dims[0] as usize, dims[0] as usize * dims[1] as usize];
    let first = corner[2] as usize * back + corner[1] as usize * up + corner[0] as usize;
    let at = |index: usize| values.get(index).copied().unwrap_or(0.0);
    let corners = |first: usize| Vec4::from([first, first + up, first + back, first + back + up].map(at));
    let (low, high) = (corners(first), corners(first + 1));

    // Interpolation along x, then y, then z; the remaining differences give the gradient.
    let rise = high - low;
    let along = low + rise * t.x;
    let climb = Vec4::new(along.y, along.w, rise.y, rise.w) - Vec4::new(along.x, along.z, rise.x, rise.z);
    let across = Vec4::new(along.x, along.z, rise.x, rise.z) + climb * t.y;
    let near = Vec3::new(across.x, across.z, climb.x);
    let step = Vec3::new(across.y, across.w, climb.y) - near;
    let mixed = near + step * t.z;
    let mut distance = mixed.x;
    let mut gradient = Vec3::new(mixed.y, mixed.z, step.x) / cell;

    let beyond = (place - inside) * cell;
    let outside = dot(beyond, beyond);
    if outside > 0.0 {
        // From the clamped point, the surface inside the grid and the point outside subtend at least 90°.
        let above = mixed.x.max(0.0);
        let far = (outside + above * above).sqrt();
        let weight = if above > 0.0 { above / far } else { 1.0 };
        // The distance is constant along a clamped coordinate.
        let slope = Vec3::select(beyond.cmpne(Vec3::ZERO), Vec3::ZERO, gradient);
        gradient = slope * weight + beyond / far;
        distance = mixed.x.min(0.0) + far;
    }
    let size = length(gradient);
    if size > 1e-6 { (distance, (gradient / size).into()) } else { (distance, [0.0, 1.0, 0.0]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::baked::shapes::numbers;

    fn field() -> DistanceField {
        let mut random = numbers(7);
        let dims = [4, 3, 5];
        DistanceField {
            dims,
            origin: [-1.0, 0.5, 2.0],
            cell: 0.25,
            values: (0..60).map(|_| random()).collect(),
            signed: true,
        }
    }

    #[test]
    fn samples_are_met_and_the_middle_is_their_mean() {
        let field = field();
        field.check().unwrap();
        for (index, &value) in field.values.iter().enumerate() {
            let place = [index % 4, index / 4 % 3, index / 12].map(|i| i as f32 * 0.25);
            let p = Vec3::from(field.origin) + Vec3::from(place);
            assert!((field.sample(p.into()).0 - value).abs() < 1e-6, "{index}");
        }
        let mean = [16, 17, 20, 21, 28, 29, 32, 33].map(|i| field.values[i]).iter().sum::<f32>() / 8.0;
        assert!((field.sample([-0.875, 0.875, 2.375]).0 - mean).abs() < 1e-6);
    }

    #[test]
    fn normals_are_the_gradient_inside_and_outside() {
        let field = field();
        let mut random = numbers(3);
        let (mut inside, mut outside) = (0, 0);
        for _ in 0..6000 {
            let p = Vec3::new(-1.5 + 1.75 * random(), 1.5 * random(), 1.5 + 2.0 * random());
            let t = ((p - Vec3::from(field.origin)) / 0.25).to_array();
            // Finite differences across a cell border mix two gradients.
            if t.iter().any(|t| (t - t.round()).abs() < 0.05) {
                continue;
            }
            let within = t.iter().zip(field.dims).all(|(t, dim)| *t > 0.0 && *t < (dim - 1) as f32);
            if within {
                inside += 1
            } else {
                outside += 1
            }
            let step = 2e-3;
            let difference =
                |axis: Vec3| field.sample((p + axis * step).into()).0 - field.sample((p - axis * step).into()).0;
            let gradient = Vec3::new(difference(Vec3::X), difference(Vec3::Y), difference(Vec3::Z)) / (2.0 * step);
            let normal = Vec3::from(field.sample(p.into()).1);
            let error = (gradient.normalize() - normal).length();
            assert!(error * gradient.length().min(1.0) < 5e-3, "{p}: {gradient} {normal}");
        }
        assert!(inside > 100 && outside > 100, "{inside} {outside}");
    }

    #[test]
    fn outside_the_way_to_the_grid_is_the_other_side_of_a_right_angle() {
        let field = field();
        let corner = field.sample(field.origin).0;
        assert!((field.sample([-1.0 - 3.0, 0.5 - 4.0, 2.0 - 12.0]).0 - corner.hypot(13.0)).abs() < 1e-5);
    }

    #[test]
    fn where_the_gradient_vanishes_the_normal_is_up() {
        let flat = DistanceField { values: vec![0.5; 60], ..field() };
        assert_eq!(flat.sample([-0.9, 0.6, 2.1]), (0.5, [0.0, 1.0, 0.0]));
    }

    #[test]
    fn an_invalid_field_is_refused() {
        let bad = |change: fn(&mut DistanceField)| {
            let mut field = field();
            change(&mut field);
            field.check().unwrap_err()
        };
        assert!(matches!(bad(|f| f.dims[1] = 1), Error::InvalidValue { what, .. } if what.contains("along y")));
        assert!(matches!(bad(|f| f.origin[2] = f32::INFINITY), Error::InvalidValue { .. }));
        assert!(matches!(bad(|f| f.cell = -1.0), Error::InvalidValue { .. }));
        assert!(
            matches!(bad(|f| f.values[9] = f32::NAN), Error::InvalidValue { what, .. } if what.contains("value 9"))
        );
        assert!(matches!(bad(|f| f.values.truncate(59)), Error::LengthMismatch { left: 59, right: 60, .. }));
        assert!(matches!(bad(|f| f.dims = [u32::MAX; 3]), Error::TooLarge { .. }));
        // An unchecked field does not panic.
        for dims in [[0; 3], [1, 2, 9], [100; 3]] {
            DistanceField { dims, ..field() }.sample([f32::NAN, 1e30, -1e30]);
        }
    }
}
