//! Pressure: a closed surface keeps a volume, as a balloon does.
//!
//! C = V − p V₀, V = ⅙ Σ x₀·(x₁ × x₂) over all triangles. ∇ᵢC = ⅙ Σ xⱼ × xₖ over the triangles of vertex i (Müller et
//! al. 2007, §4.4, there for 6 V). The pressure factor p scales the rest volume: at p = 2 the surface inflates to 2 V₀.
//!
//! Compliance in m⁶/J; 0 is an incompressible fluid. A gas is compressed by V − p V₀ = −α λ; λ/h² is the pressure
//! difference between inside and outside \[Pa\].
//!
//! A given pressure difference Δp at any volume is the limit of a large compliance. At equilibrium
//! λ/h² = (p V₀ − V)/α. With α = N V₀/Δp and p = 1 + N this is Δp (1 − (V/V₀ − 1)/N). [`Pressure::at`] has N = 1000.

use super::group::{Frame, Group, Member, RECORD_WORDS};
use super::{Function, Kind, KindInfo, Sample, bits};
use crate::error::{Error, Result, check_positive};
use crate::geometry::vector::dot;
use glam::Vec3;
use std::collections::BTreeMap;

/// A closed triangle surface with consistent winding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedSurface {
    particles: Vec<u32>,
    /// For each particle, the other two corners of its triangles, in winding order.
    corners: Vec<Vec<[u32; 2]>>,
}

impl ClosedSurface {
    /// Builds a surface from triangles that are counterclockwise seen from outside.
    ///
    /// # Errors
    /// - [`Error::Empty`]: there are no triangles.
    /// - [`Error::OpenSurface`]: an edge does not have exactly two triangles that traverse it in opposite directions.
    /// - [`Error::RepeatedIndex`]: a triangle repeats a vertex.
    pub fn new(triangles: &[[u32; 3]]) -> Result<Self> {
        if triangles.is_empty() {
            return Err(Error::Empty { what: "the triangle list of a closed surface" });
        }
        let mut around: BTreeMap<u32, Vec<[u32; 2]>> = BTreeMap::new();
        for (index, &[a, b, c]) in triangles.iter().enumerate() {
            crate::geometry::check_indices(
                || format!("triangle {index} of a closed surface"),
                "particle",
                &[a, b, c],
                usize::MAX,
            )?;
            for [corner, from, to] in [[a, b, c], [b, c, a], [c, a, b]] {
                around.entry(corner).or_default().push([from, to]);
            }
        }
        crate::geometry::check_closed(triangles)?;
        let (particles, corners) = around.into_iter().unzip();
        Ok(Self { particles, corners })
    }

    /// The vertices in ascending order.
    pub fn particles(&self) -> &[u32] {
        &self.particles
    }

    /// The enclosed volume \[m³\]; negative if the triangles face inwards. `position` returns the position of a vertex
    /// \[m\].
    pub fn volume(&self, position: impl Fn(u32) -> [f32; 3]) -> f64 {
        let Some(&first) = self.particles.first() else { return 0.0 };
        let place = |particle: u32| Vec3::from(position(particle)).as_dvec3();
        let origin = place(first);
        let vertex = |(&particle, corners): (&u32, &Vec<[u32; 2]>)| {
            let x = place(particle) - origin;
            corners.iter().map(|&[j, k]| x.dot((place(j) - origin).cross(place(k) - origin))).sum::<f64>()
        };
        // Each triangle is counted at its three corners.
        self.particles.iter().zip(&self.corners).map(vertex).sum::<f64>() / 18.0
    }
}

/// Keeps the volume of a closed surface at `pressure` · `rest_volume`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pressure<'a> {
    /// The surface.
    pub surface: &'a ClosedSurface,
    /// The volume V₀ without pressure \[m³\]; positive.
    pub rest_volume: f32,
    /// The pressure factor p; positive.
    pub pressure: f32,
}

static INFO: KindInfo = KindInfo {
    name: "pressure",
    arity: 0,
    orientations: 0,
    record_words: RECORD_WORDS,
    unit_gradients: false,
    unilateral: false,
    over_relaxed: false,
    plastic: None,
    compliance_unit: "m⁶/J",
    shader: include_str!("../../shaders/constraints/pressure.wgsl"),
    function: Function::Group(Group { rotates: false, direction, measure }),
    samples,
};

impl Kind for Pressure<'_> {
    const INFO: &'static KindInfo = &INFO;

    fn particles(&self) -> &[u32] {
        self.surface.particles()
    }

    /// M is the number of members; each has weight 1.
    fn write_parameters(&self, words: &mut Vec<u32>) {
        words.extend(bits([self.surface.particles.len() as f32, self.pressure * self.rest_volume]));
    }

    /// The details of a member are its corners, two per row.
    fn write_members(&self, first_row: u32, rows: &mut Vec<[u32; 4]>) {
        let mut next = first_row + (self.surface.particles.len() * super::group::MEMBER_ROWS) as u32;
        for (&particle, corners) in self.surface.particles.iter().zip(&self.surface.corners) {
            let count = corners.len().div_ceil(2) as u32;
            rows.extend(Member::rows(particle, 1.0, Vec3::ZERO, next, count));
            next += count;
        }
        for corners in &self.surface.corners {
            // Padding: a pair of equal particles adds x × x = 0.
            rows.extend(corners.chunks(2).map(|pair| match *pair {
                [[a, b], [c, d]] => [a, b, c, d],
                _ => [pair[0][0], pair[0][1], pair[0][0], pair[0][0]],
            }));
        }
    }

    fn check(&self, index: usize) -> Result<()> {
        check_positive(&format!("rest volume of pressure constraint {index}"), self.rest_volume)?;
        check_positive(&format!("pressure factor of pressure constraint {index}"), self.pressure)?;
        check_positive(&format!("target volume of pressure constraint {index}"), self.pressure * self.rest_volume)
    }
}

/// Returns ⅙ Σ xⱼ × xₖ and ⅓ x·r. The sum of the latter over all vertices is the volume.
fn direction(member: &Member<'_>, x: Vec3, frame: &Frame, other: &dyn Fn(u32) -> Vec3) -> (Vec3, f32) {
    let at = |particle: u32| other(particle) - frame.center;
    let mut sum = Vec3::ZERO;
    for &[a, b, c, d] in member.details {
        sum += at(a).cross(at(b));
        sum += at(c).cross(at(d));
    }
    let direction = sum * (1.0 / 6.0);
    (direction, dot(x - frame.center, direction) * (1.0 / 3.0))
}

/// C = V − p V₀, s = 1.
fn measure(parameters: &[u32], sum: f32) -> (f32, f32) {
    (sum - f32::from_bits(parameters[1]), 1.0)
}

fn samples() -> Vec<Sample> {
    let octahedron = vec![[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
    let tetrahedron = vec![[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]];
    let poles =
        |r: f32| vec![[r, 0.0, 0.0], [-r, 0.0, 0.0], [0.0, r, 0.0], [0.0, -r, 0.0], [0.0, 0.0, r], [0.0, 0.0, -r]];
    let corner = |r: f32| vec![[0.0; 3], [r, 0.0, 0.0], [0.0, r, 0.0], [0.0, 0.0, r]];
    let sample = |triangles: &[[u32; 3]], rest: Vec<[f32; 3]>, volume: f32| {
        let surface = ClosedSurface::new(triangles).ok()?;
        let pressure = Pressure { surface: &surface, rest_volume: volume, pressure: 1.0 };
        let (mut parameters, mut rows) = (Vec::new(), Vec::new());
        pressure.write_parameters(&mut parameters);
        pressure.write_members(0, &mut rows);
        let moved = |(k, &x): (usize, &[f32; 3])| {
            let k = k as f32;
            Vec3::from(x) * 1.3 + Vec3::new((3.0 * k).sin(), (5.0 * k).cos(), (7.0 * k).sin()) * 0.1
        };
        let positions = rest.iter().enumerate().map(moved).collect();
        let rest = rest.into_iter().map(Vec3::from).collect();
        Some(Sample { parameters, members: rows.into_iter().flatten().collect(), positions, rest })
    };
    let samples = [
        sample(&octahedron, poles(1.0), 4.0 / 3.0),
        sample(&octahedron, poles(0.5), 1.0 / 6.0),
        sample(&tetrahedron, corner(2.0), 4.0 / 3.0),
    ];
    samples.into_iter().flatten().collect()
}
