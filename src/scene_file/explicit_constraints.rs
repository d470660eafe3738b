//! Adds the explicit constraints of a scene file to the scene.

use super::build::Builder;
use super::constraints::{ConstraintFile, LimitFile};
use super::error::{At, FileError, Reason};
use super::format::MaterialFile;
use super::values::{NameOr, OneOrMany, Selection};
use crate::constraints::{Area, ClosedSurface, CosineBend, Distance, DistanceLimit, Hinge, IsometricBend, Kind, Limit};
use crate::constraints::{LineBend, Membrane, MembraneLimit, NeoHookean, Pressure, ShapeMatching, Volume};
use crate::scene::MaterialId;
use glam::{DVec3, Vec3};
use std::f32::consts::PI;

/// An optional value of a constraint: one for all constraints of a list, or one each.
type Value<'a> = &'a Option<OneOrMany>;

type Named<'a> = Option<&'a NameOr<MaterialFile>>;

impl Builder<'_> {
    pub fn add_constraints(&mut self, index: usize, constraint: &ConstraintFile) -> Result<(), FileError> {
        let place = |kind: &str| format!("constraints[{index}].{kind}");
        match constraint {
            ConstraintFile::Distance { particles, rest_length, material } => {
                let place = place("distance");
                self.add_each(&place, particles, material.as_ref(), |entry| entry.distance(rest_length))
            }
            ConstraintFile::DistanceLimit { particles, edges_of, length, scale, limit, material } => {
                let place = place("distance_limit");
                if length.is_some() && scale.is_some() {
                    return Err("it has both a length and a scale").at(|| place);
                }
                let limit = LimitRule { length, scale: scale.unwrap_or(1.0), limit: *limit };
                self.add_limits(&place, (particles, edges_of), &limit, material.as_ref())
            }
            ConstraintFile::Hinge { particles, rest_angle, scale, material } => {
                self.add_each(&place("hinge"), particles, material.as_ref(), |entry| entry.hinge(rest_angle, scale))
            }
            ConstraintFile::CosineBend { particles, rest_angle, material } => {
                let place = place("cosine_bend");
                self.add_each(&place, particles, material.as_ref(), |entry| entry.cosine_bend(rest_angle))
            }
            ConstraintFile::LineBend { particles, lengths, scale, material } => {
                let place = place("line_bend");
                self.add_each(&place, particles, material.as_ref(), |entry| entry.line_bend(lengths, scale))
            }
            ConstraintFile::IsometricBend { particles, coefficients, scale, material } => {
                let place = place("isometric_bend");
                self.add_each(&place, particles, material.as_ref(), |entry| entry.isometric_bend(coefficients, scale))
            }
            ConstraintFile::Area { particles, rest_area, material } => {
                self.add_each(&place("area"), particles, material.as_ref(), |entry| entry.area(rest_area))
            }
            ConstraintFile::Membrane { particles, weights, direction, material } => {
                let place = place("membrane");
                self.add_each(&place, particles, material.as_ref(), |entry| entry.membrane(*weights, *direction))
            }
            ConstraintFile::MembraneLimit { particles, strain, weights, direction, material } => {
                let place = place("membrane_limit");
                self.add_each(&place, particles, material.as_ref(), |entry| {
                    entry.membrane_limit(*weights, *direction, *strain)
                })
            }
            ConstraintFile::NeoHookean { particles, scale, material } => {
                self.add_each(&place("neo_hookean"), particles, material.as_ref(), |entry| entry.neo_hookean(scale))
            }
            ConstraintFile::Volume { particles, rest_volume, material } => {
                self.add_each(&place("volume"), particles, material.as_ref(), |entry| entry.volume(rest_volume))
            }
            ConstraintFile::Pressure { part, triangles, rest_volume, pressure, material } => {
                let place = place("pressure");
                let triangles = match (part, triangles) {
                    (Some(name), None) => self.surface_of(name).at(|| format!("{place}.part"))?,
                    (None, Some(triangles)) => self.corners(&place, triangles)?,
                    _ => return Err("it must have either part or triangles").at(|| place),
                };
                let id = self.material_id(material.as_ref()).at(|| format!("{place}.material"))?;
                self.add_pressure(triangles, *rest_volume, pressure.unwrap_or(1.0), id).at(|| place)
            }
            ConstraintFile::ShapeMatching { particles, rest_positions, masses, material } => {
                let place = place("shape_matching");
                let particles = self.select(particles, None, || format!("{place}.particles"))?;
                let id = self.material_id(material.as_ref()).at(|| format!("{place}.material"))?;
                self.add_group(particles, rest_positions, masses, id).at(|| place)
            }
        }
    }

    /// Adds one constraint for each entry of `list`.
    fn add_each<const N: usize, K: Kind>(
        &mut self,
        place: &str,
        list: &[[Selection; N]],
        material: Named,
        make: impl Fn(&Entry<N>) -> Result<K, Reason>,
    ) -> Result<(), FileError> {
        let id = self.material_id(material).at(|| format!("{place}.material"))?;
        for (index, selections) in list.iter().enumerate() {
            let at = || format!("{place}.particles[{index}]");
            let particles = self.each(selections, at)?;
            let points = particles.map(|particle| self.scene.positions[particle as usize]);
            let constraint = make(&Entry { particles, points, index, count: list.len() }).at(at)?;
            self.scene.add_with(constraint, id).at(at)?;
        }
        Ok(())
    }

    /// Adds limits to pairs of particles, or to the edges of a part.
    fn add_limits(
        &mut self,
        place: &str,
        (particles, edges_of): (&Option<Vec<[Selection; 2]>>, &Option<String>),
        rule: &LimitRule,
        material: Named,
    ) -> Result<(), FileError> {
        match (particles, edges_of) {
            (Some(particles), None) => self.add_each(place, particles, material, |entry| entry.distance_limit(rule)),
            (None, Some(name)) => self.limit_edges(place, name, rule, material),
            _ => Err("it must have either particles or edges_of").at(|| place.to_owned()),
        }
    }

    /// Adds a limit to each edge of a part.
    fn limit_edges(&mut self, place: &str, part: &str, rule: &LimitRule, material: Named) -> Result<(), FileError> {
        let edges = self.edges_of(part).at(|| format!("{place}.edges_of"))?;
        let count = edges.len();
        let id = self.material_id(material).at(|| format!("{place}.material"))?;
        for (index, edge) in edges.into_iter().enumerate() {
            let given = value_of("length", rule.length, index, count).at(|| format!("{place}.length"))?;
            let limit = rule.limit(edge.particles, given, edge.rest_length);
            self.scene.add_with(limit, id).at(|| place.to_owned())?;
        }
        Ok(())
    }

    fn edges_of(&mut self, name: &str) -> Result<Vec<Distance>, Reason> {
        let part = self.part(name)?;
        let edges = self.parts[part].edges.clone();
        if edges.is_empty() {
            return Err(format!("the part {name:?} has no edges that are distance constraints").into());
        }
        self.count_members(2 * edges.len() as u64)?;
        Ok(self.scene.distances(edges).collect())
    }

    fn surface_of(&mut self, name: &str) -> Result<Vec<[u32; 3]>, Reason> {
        let part = &self.parts[self.part(name)?];
        if !part.surface.is_empty() {
            return Err(format!(
                "the surface of {name:?} consists of followers, which have no mass; pressure needs particles with mass"
            )
            .into());
        }
        let range = part.triangles.clone();
        self.count_members(3 * range.len() as u64)?;
        Ok(self.scene.triangles[range.start as usize..range.end as usize].to_vec())
    }

    fn corners(&self, place: &str, triangles: &[[Selection; 3]]) -> Result<Vec<[u32; 3]>, FileError> {
        let corners = |(index, triangle)| self.each(triangle, || format!("{place}.triangles[{index}]"));
        triangles.iter().enumerate().map(corners).collect()
    }

    fn add_pressure(
        &mut self,
        triangles: Vec<[u32; 3]>,
        rest_volume: Option<f32>,
        pressure: f32,
        material: MaterialId,
    ) -> Result<(), Reason> {
        let surface = ClosedSurface::new(&triangles)?;
        let measured = || surface.volume(|particle| self.scene.positions[particle as usize]) as f32;
        let rest_volume = rest_volume.unwrap_or_else(measured);
        self.scene.add_with(Pressure { surface: &surface, rest_volume, pressure }, material)?;
        Ok(())
    }

    fn add_group(
        &mut self,
        particles: Vec<u32>,
        rest_positions: &Option<Vec<[f32; 3]>>,
        masses: &Option<OneOrMany>,
        material: MaterialId,
    ) -> Result<(), Reason> {
        let count = particles.len();
        let measured = || particles.iter().map(|&particle| self.scene.positions[particle as usize]).collect();
        let rest_positions = rest_positions.clone().unwrap_or_else(measured);
        let mass = |(index, &particle): (usize, &u32)| match (value_of("masses", masses, index, count)?, particle) {
            (Some(mass), _) => Ok(mass),
            (None, particle) => match self.scene.inverse_masses[particle as usize] {
                0.0 => Err(Reason::from(format!("particle {particle} has no mass; give masses"))),
                inverse => Ok(1.0 / inverse),
            },
        };
        let masses: Vec<f32> = particles.iter().enumerate().map(mass).collect::<Result<_, _>>()?;
        let group = ShapeMatching { particles: &particles, rest_positions: &rest_positions, masses: &masses };
        self.scene.add_with(group, material)?;
        Ok(())
    }
}

/// A [`ConstraintFile::DistanceLimit`] without its particles.
struct LimitRule<'a> {
    length: Value<'a>,
    /// The factor on the rest length if no length is given.
    scale: f32,
    limit: LimitFile,
}

impl LimitRule<'_> {
    fn limit(&self, particles: [u32; 2], given: Option<f32>, rest_length: f32) -> DistanceLimit {
        let limit = match self.limit {
            LimitFile::AtMost => Limit::AtMost,
            LimitFile::AtLeast => Limit::AtLeast,
        };
        DistanceLimit { particles, length: given.unwrap_or(rest_length * self.scale), limit }
    }
}

/// An entry of a list of constraints: its particles, their positions \[m\], its index, and the length of the list.
struct Entry<const N: usize> {
    particles: [u32; N],
    points: [[f32; 3]; N],
    index: usize,
    count: usize,
}

impl<const N: usize> Entry<N> {
    /// The value of a field.
    fn value(&self, field: &str, value: Value) -> Result<Option<f32>, Reason> {
        value_of(field, value, self.index, self.count)
    }

    /// The element of an optional list; an error if the list has another length.
    fn element<T: Copy>(&self, field: &str, list: &Option<Vec<T>>) -> Result<Option<T>, Reason> {
        match list {
            None => Ok(None),
            Some(list) if list.len() == self.count => Ok(Some(list[self.index])),
            Some(list) => Err(format!("{field} has {} values for {} constraints", list.len(), self.count).into()),
        }
    }
}

/// The constraints of two particles.
impl Entry<2> {
    fn distance(&self, rest_length: Value) -> Result<Distance, Reason> {
        let measured = || apart(self.points[0], self.points[1]);
        Ok(Distance {
            particles: self.particles,
            rest_length: self.value("rest_length", rest_length)?.unwrap_or_else(measured),
        })
    }

    fn distance_limit(&self, rule: &LimitRule) -> Result<DistanceLimit, Reason> {
        Ok(rule.limit(self.particles, self.value("length", rule.length)?, apart(self.points[0], self.points[1])))
    }
}

/// The weights of the strain along the warp.
const ALONG_WARP: [f32; 3] = [1.0, 0.0, 0.0];

/// The constraints of three particles.
impl Entry<3> {
    fn cosine_bend(&self, rest_angle: Value) -> Result<CosineBend, Reason> {
        let rest_angle = self.value("rest_angle", rest_angle)?.unwrap_or_else(|| angle(self.points));
        Ok(CosineBend { particles: self.particles, rest_angle })
    }

    fn line_bend(&self, lengths: &Option<Vec<[f32; 2]>>, scale: Value) -> Result<LineBend, Reason> {
        let [a, b, middle] = self.points;
        let lengths = self.element("lengths", lengths)?.unwrap_or_else(|| [apart(a, middle), apart(b, middle)]);
        Ok(LineBend { particles: self.particles, lengths, scale: self.value("scale", scale)?.unwrap_or(1.0) })
    }

    fn membrane(&self, weights: Option<[f32; 3]>, direction: Option<[f32; 3]>) -> Result<Membrane, Reason> {
        Ok(Membrane::along(self.particles, self.points, self.warp(direction), weights.unwrap_or(ALONG_WARP))?)
    }

    fn membrane_limit(
        &self,
        weights: Option<[f32; 3]>,
        direction: Option<[f32; 3]>,
        strain: f32,
    ) -> Result<MembraneLimit, Reason> {
        let (warp, weights) = (self.warp(direction), weights.unwrap_or(ALONG_WARP));
        Ok(MembraneLimit::along(self.particles, self.points, warp, weights, strain)?)
    }

    fn warp(&self, direction: Option<[f32; 3]>) -> [f32; 3] {
        let [a, b, _] = self.points.map(Vec3::from);
        direction.unwrap_or_else(|| (b - a).into())
    }

    fn area(&self, rest_area: Value) -> Result<Area, Reason> {
        let rest_area = self.value("rest_area", rest_area)?.unwrap_or_else(|| area(self.points));
        Ok(Area { particles: self.particles, rest_area })
    }
}

/// The constraints of four particles.
impl Entry<4> {
    fn hinge(&self, rest_angle: Value, scale: Value) -> Result<Hinge, Reason> {
        let measured = || Hinge::angle(self.points).clamp(-PI, PI);
        let rest_angle = self.value("rest_angle", rest_angle)?.unwrap_or_else(measured);
        Ok(Hinge { particles: self.particles, rest_angle, scale: self.value("scale", scale)?.unwrap_or(1.0) })
    }

    fn isometric_bend(&self, coefficients: &Option<Vec<[f32; 3]>>, scale: Value) -> Result<IsometricBend, Reason> {
        let particles = self.particles;
        let bend = match self.element("coefficients", coefficients)? {
            Some(coefficients) => IsometricBend { particles, coefficients },
            None => IsometricBend::new(particles, self.points)?,
        };
        let scale = self.value("scale", scale)?.unwrap_or(1.0);
        crate::error::check_positive("scale", scale)?;
        Ok(bend.scaled(scale))
    }

    fn neo_hookean(&self, scale: Value) -> Result<NeoHookean, Reason> {
        let scale = self.value("scale", scale)?.unwrap_or(1.0);
        crate::error::check_positive("scale", scale)?;
        Ok(NeoHookean::new(self.particles, self.points)?.scaled(scale))
    }

    fn volume(&self, rest_volume: Value) -> Result<Volume, Reason> {
        let rest_volume = self.value("rest_volume", rest_volume)?.unwrap_or_else(|| Volume::of(self.points));
        Ok(Volume { particles: self.particles, rest_volume })
    }
}

/// The value of a field for entry `index` of `count`.
fn value_of(field: &str, value: Value, index: usize, count: usize) -> Result<Option<f32>, Reason> {
    let value = value.as_ref().map(|value| value.get(index, count));
    Ok(value.transpose().map_err(|error| format!("{field} has {error}"))?)
}

/// The distance [m] between two points.
fn apart(a: [f32; 3], b: [f32; 3]) -> f32 {
    Vec3::from(a).distance(b.into())
}

/// The angle [rad] at the last of three points.
fn angle(points: [[f32; 3]; 3]) -> f32 {
    let [a, b, middle] = points.map(|point| DVec3::from(point.map(f64::from)));
    let (a, b) = (a - middle, b - middle);
    (a.cross(b).length().atan2(a.dot(b)) as f32).clamp(0.0, PI)
}

/// The area [m²] of a triangle.
fn area(points: [[f32; 3]; 3]) -> f32 {
    let [a, b, c] = points.map(Vec3::from);
    0.5 * (b - a).cross(c - a).length()
}
