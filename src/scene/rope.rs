//! Ropes: polylines of particles, held by distance constraints.

use super::{Cord, Material, Particle, Scene, TetheredBody, Tethers};
use crate::constraints::{Distance, Kind, LineBend};
use crate::error::{Error, Result, check_finite};
use glam::Vec3;
use std::ops::Range;

/// A rope along a polyline.
#[derive(Debug, Clone)]
pub struct Rope<'a> {
    /// The points \[m\]: at least two, consecutive ones different.
    pub points: &'a [[f32; 3]],
    /// The material.
    pub cord: Cord,
    /// Tethers to the pins; `None` for none.
    pub tethers: Option<Tethers>,
}

/// Index ranges of a rope in the scene.
#[derive(Debug, Clone, PartialEq)]
pub struct RopeParts {
    /// The particles, one per point.
    pub particles: Range<u32>,
    /// The distance constraints of the segments.
    pub segments: Range<u32>,
    /// The distance constraints against bending, between every second point.
    pub bend: Range<u32>,
    /// The [`LineBend`] constraints of [`Cord::flexural_rigidity`], one per inner point.
    pub line_bends: Range<u32>,
}

impl Scene {
    /// Adds a rope. Each segment has the compliance α = L/(EA) [m/N] of an elastic bar and gives half its mass to each
    /// end.
    ///
    /// # Errors
    /// - The rope has fewer than two points, a point is not finite, or consecutive points coincide.
    /// - A parameter of the cord is out of range.
    pub fn add_rope(&mut self, rope: &Rope) -> Result<RopeParts> {
        let points = rope.points;
        if points.len() < 2 {
            return Err(Error::Empty { what: "segment list of a rope (it has fewer than two points)" });
        }
        rope.cord.check()?;
        if let Some(tethers) = &rope.tethers {
            tethers.check()?;
        }
        for (point, &position) in points.iter().enumerate() {
            check_finite(|| format!("point {point} of a rope"), position)?;
        }
        let base = self.check_capacity("particles", points.len())?;
        let lengths: Vec<f32> = points.windows(2).map(|pair| Vec3::from(pair[0]).distance(pair[1].into())).collect();
        if let Some(segment) = lengths.iter().position(|&length| !(length > 0.0 && length.is_finite())) {
            return Err(Error::ZeroLength {
                what: format!("segment {segment} of a rope"),
                particles: [base + segment as u32, base + segment as u32 + 1],
                length: lengths[segment],
            });
        }

        for (segment, &length) in lengths.iter().enumerate() {
            rope.cord.material(length).check(&format!("segment {segment} of a rope"))?;
        }
        for (point, pair) in lengths.windows(2).enumerate().filter(|_| rope.cord.flexural_rigidity > 0.0) {
            bend_of(&rope.cord, pair).check(&format!("the bend at point {} of a rope", point + 1))?;
        }
        let inverse_masses = (0..points.len()).map(|point| {
            let before = if point > 0 { lengths[point - 1] } else { 0.0 };
            let after = lengths.get(point).copied().unwrap_or(0.0);
            let mass = 0.5 * (before + after) * rope.cord.linear_density;
            super::invert_mass(|| format!("mass of point {point} of a rope"), mass)
        });
        let inverse_masses: Vec<f32> = inverse_masses.collect::<Result<_>>()?;
        for (&position, inverse_mass) in points.iter().zip(inverse_masses) {
            self.push_particle(Particle { position, velocity: [0.0; 3], inverse_mass });
        }
        let first_segment = self.distance_count();
        for (segment, &rest_length) in lengths.iter().enumerate() {
            let particle = base + segment as u32;
            let material = self.intern(rope.cord.material(rest_length));
            self.push_constraint(&Distance { particles: [particle, particle + 1], rest_length }, material);
            self.cord_edges.push([particle, particle + 1]);
        }
        let (first_bend, first_line_bend) = (self.distance_count(), self.kind_count(LineBend::INFO));
        self.push_rope_bends(rope, base, &lengths);
        let particles = base..base + points.len() as u32;
        let segments = first_segment..first_bend;
        if let Some(tethers) = rope.tethers {
            let edges = segments.clone();
            self.tethered_bodies.push(TetheredBody { particles: particles.clone(), triangles: 0..0, edges, tethers });
        }
        self.bodies.push(particles.clone());
        let line_bends = first_line_bend..self.kind_count(LineBend::INFO);
        Ok(RopeParts { particles, segments, bend: first_bend..self.distance_count(), line_bends })
    }

    /// Adds the bending constraints of a rope whose first particle is `base`.
    fn push_rope_bends(&mut self, rope: &Rope, base: u32, lengths: &[f32]) {
        if let Some(bend) = rope.cord.bend {
            let material = self.intern(bend);
            for (point, pair) in lengths.windows(2).enumerate() {
                let particle = base + point as u32;
                let rest_length = Vec3::from(rope.points[point]).distance(rope.points[point + 2].into());
                // At a full reversal of the rope the constraint has no direction.
                if rest_length > 1e-6 * (pair[0] + pair[1]) {
                    self.push_constraint(&Distance { particles: [particle, particle + 2], rest_length }, material);
                }
            }
        }
        for (point, pair) in lengths.windows(2).enumerate().filter(|_| rope.cord.flexural_rigidity > 0.0) {
            let middle = base + point as u32 + 1;
            let material = self.intern(bend_of(&rope.cord, pair));
            let particles = [middle - 1, middle + 1, middle];
            self.push_constraint(&LineBend { particles, lengths: [pair[0], pair[1]], scale: 1.0 }, material);
        }
    }
}

/// The material of the bending constraint between two segments, with the EI of the cord.
fn bend_of(cord: &Cord, pair: &[f32]) -> Material {
    Material::compliant(0.5 * (pair[0] + pair[1]) / cord.flexural_rigidity)
}
