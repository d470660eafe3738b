//! The triangles around each particle, for normals and wind.

use super::compiled::check_loop;
use crate::error::Result;
use crate::geometry::grouped;
use crate::geometry::vector::length;
use glam::Vec3;

/// The triangles around each particle: the other two corners of each, in the orientation of the triangle.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rings {
    /// Particle p has the corners `offsets[p]..offsets[p + 1]`.
    pub offsets: Vec<u32>,
    pub corners: Vec<[u32; 2]>,
}

impl Rings {
    pub fn new(triangles: &[[u32; 3]], particle_count: usize) -> Result<Self> {
        if triangles.is_empty() {
            return Ok(Self::default());
        }
        let around = |&[a, b, c]: &[u32; 3]| [(a, [b, c]), (b, [c, a]), (c, [a, b])];
        let (offsets, corners) = grouped(particle_count, triangles.iter().flat_map(around));
        let most = offsets.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
        check_loop("triangles at one particle", most.into(), 1)?;
        Ok(Self { offsets, corners })
    }

    /// The corners around a particle.
    pub fn around(&self, particle: usize) -> std::ops::Range<usize> {
        self.offsets[particle] as usize..self.offsets[particle + 1] as usize
    }

    pub fn is_empty(&self) -> bool {
        self.corners.is_empty()
    }

    /// The vertex normal of a particle: the area-weighted sum of the normals of the triangles around it, normalised. +y if
    /// it is 0.
    pub fn normal(&self, particle: usize, position: impl Fn(usize) -> Vec3) -> Vec3 {
        let x = position(particle);
        let sum = self.around(particle).fold(Vec3::ZERO, |sum, corner| {
            let [a, b] = self.corners[corner].map(|other| position(other as usize));
            sum + (a - x).cross(b - x)
        });
        let l = length(sum);
        if l > 0.0 { sum / l } else { Vec3::Y }
    }
}
