//! Shape matching: a group of particles keeps its rest shape, up to a rigid motion.
//!
//! The goal of a particle is gᵢ = R qᵢ + x_cm. The rigid motion minimises Σ m |x − g|²: R is the rotational part of A =
//! Σ m (x − x_cm) qᵀ (Müller, Heidelberger, Teschner, Gross 2005, *Meshless Deformations Based on Shape Matching*).
//!
//! The XPBD constraint is C = √Σ m |x − g|², with the energy C²/(2α). R and x_cm are stationary, so ∇ᵢC = mᵢ (xᵢ −
//! gᵢ)/C. If no member is pinned, Σ wᵢ|∇ᵢC|² = 1 and the projection is Δxᵢ = (gᵢ − xᵢ)/(1 + α̃): the stiffness of the
//! paper, but independent of the time step.
//!
//! Compliance in kg m²/J = s²: 1/√α is the angular frequency of the group [rad/s]; 0 is rigid. One group is a rigid
//! body; overlapping groups form a soft body. The forces of a group have zero sum and zero torque.

use super::group::{Frame, Group, Member, RECORD_WORDS, turned};
use super::{Function, Kind, KindInfo, Sample};
use crate::error::{Error, Result};
use crate::geometry::vector::dot;
use glam::{DVec3, Vec3};

/// Particles that keep the shape of `rest_positions`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShapeMatching<'a> {
    /// The particles, at least 2, without repetition.
    pub particles: &'a [u32],
    /// Their rest positions \[m\], in any frame; one per particle.
    pub rest_positions: &'a [[f32; 3]],
    /// Their masses \[kg\], one per particle: the weights of the fit. A pinned particle also has one.
    pub masses: &'a [f32],
}

static INFO: KindInfo = KindInfo {
    name: "shape_matching",
    arity: 0,
    orientations: 0,
    record_words: RECORD_WORDS,
    unit_gradients: false,
    unilateral: false,
    over_relaxed: false,
    plastic: None,
    compliance_unit: "s²",
    shader: include_str!("../../shaders/constraints/shape_matching.wgsl"),
    function: Function::Group(Group { rotates: true, direction, measure }),
    samples,
};

impl Kind for ShapeMatching<'_> {
    const INFO: &'static KindInfo = &INFO;

    fn particles(&self) -> &[u32] {
        self.particles
    }

    fn write_parameters(&self, words: &mut Vec<u32>) {
        let total: f64 = self.masses.iter().copied().map(f64::from).sum();
        words.push((total as f32).to_bits());
    }

    fn write_members(&self, _first_row: u32, rows: &mut Vec<[u32; 4]>) {
        let place = |rest: &[f32; 3]| Vec3::from(*rest).as_dvec3();
        let total: f64 = self.masses.iter().copied().map(f64::from).sum();
        let moment: DVec3 = self.rest_positions.iter().zip(self.masses).map(|(q, &m)| place(q) * f64::from(m)).sum();
        for ((&particle, rest), &mass) in self.particles.iter().zip(self.rest_positions).zip(self.masses) {
            rows.extend(Member::rows(particle, mass, (place(rest) - moment / total).as_vec3(), 0, 0));
        }
    }

    fn check(&self, index: usize) -> Result<()> {
        let left = self.particles.len();
        for (what, right) in [
            ("particles and rest positions of a shape matching group", self.rest_positions.len()),
            ("particles and masses of a shape matching group", self.masses.len()),
        ] {
            if left != right {
                return Err(Error::LengthMismatch { what, left, right });
            }
        }
        if left < 2 {
            return Err(Error::invalid(
                format!("particle count of shape matching group {index}"),
                left as f64,
                "at least 2",
            ));
        }
        for (&particle, (&rest, &mass)) in self.particles.iter().zip(self.rest_positions.iter().zip(self.masses)) {
            let of = |what: &str| format!("{what} of particle {particle} in shape matching group {index}");
            crate::error::check_finite(|| of("rest position"), rest)?;
            if !(mass > 0.0 && mass <= 1e12) {
                return Err(Error::invalid(of("mass"), mass, "greater than 0, at most 1e12"));
            }
        }
        Ok(())
    }
}

/// m (x − g) and m |x − g|².
fn direction(member: &Member<'_>, x: Vec3, frame: &Frame, _other: &dyn Fn(u32) -> Vec3) -> (Vec3, f32) {
    let apart = (x - frame.center) - turned(frame.rotation, member.rest);
    let direction = apart * member.weight;
    (direction, dot(direction, apart))
}

/// C = √Σ, s = 1/C.
fn measure(_parameters: &[u32], sum: f32) -> (f32, f32) {
    let c = sum.sqrt();
    (c, if c > 0.0 { 1.0 / c } else { 0.0 })
}

fn samples() -> Vec<Sample> {
    let cube: Vec<[f32; 3]> =
        (0..8u8).map(|k| [k & 1, k >> 1 & 1, k >> 2].map(|bit| 1.5 * f32::from(bit) - 0.4)).collect();
    let flat = vec![[0.0; 3], [1.0, 0.0, 0.0], [1.2, 0.9, 0.0], [0.0, 1.0, 0.0], [0.4, 0.3, 0.0]];
    let body = vec![[0.0; 3], [1.0, 0.0, 0.1], [0.3, 0.8, -0.2], [0.1, 0.2, 0.9]];
    let turn = glam::Quat::from_rotation_y(0.7) * glam::Quat::from_rotation_x(-0.4);
    let sample = |(place, rest): (usize, Vec<[f32; 3]>)| {
        let particles: Vec<u32> = (0..rest.len() as u32).collect();
        let masses: Vec<f32> = particles.iter().map(|&k| 1.0 / (1.0 + 0.5 * k as f32)).collect();
        let group = ShapeMatching { particles: &particles, rest_positions: &rest, masses: &masses };
        let (mut parameters, mut rows) = (Vec::new(), Vec::new());
        group.write_parameters(&mut parameters);
        group.write_members(0, &mut rows);
        let moved = |(k, &x): (usize, &[f32; 3])| {
            let k = k as f32 + place as f32;
            let push = Vec3::new((3.0 * k).sin(), (5.0 * k).cos(), (7.0 * k).sin()) * 0.2;
            turn * (Vec3::from(x) + push) + Vec3::new(2.0, -1.0, 0.5)
        };
        let positions = rest.iter().enumerate().map(moved).collect();
        let rest = rest.iter().map(|&x| turn * Vec3::from(x)).collect();
        Sample { parameters, members: rows.into_iter().flatten().collect(), positions, rest }
    };
    [cube, flat, body].into_iter().enumerate().map(sample).collect()
}
