//! Explicit constraints of a scene file.

use super::build::Builder;
use super::constraints::{Constraint, LimitFile};
use super::error::{At, FileError, Reason};
use super::format::MaterialFile;
use super::values::{NameOr, OneOrMany, Selection};
use crate::constraints::{Area, ClosedSurface, CosineBend, Distance, DistanceLimit, Hinge, IsometricBend, Kind, Limit};
use crate::constraints::{LineBend, Pressure, ShapeMatching, Volume};
use glam::{DVec3, Vec3};
use std::f32::consts::PI;

/// Entry `index` of an optional list; an error if the list does not have `count` entries.
fn each<T: Copy>(list: &Option<Vec<T>>, index: usize, count: usize) -> Result<Option<T>, Reason> {
    match list {
        None => Ok(None),
        Some(list) if list.len() == count => Ok(Some(list[index])),
        Some(list) => Err(format!("{} values for {count} constraints", list.len()).into()),
    }
}

/// The value of constraint `index` of `count`.
fn figure(value: &Option<OneOrMany>, index: usize, count: usize) -> Result<Option<f32>, Reason> {
    Ok(value.as_ref().map(|value| value.get(index, count)).transpose()?)
}

type Named<'a> = Option<&'a NameOr<MaterialFile>>;

impl Builder<'_> {
    pub fn add_constraints(&mut self, index: usize, constraint: &Constraint) -> Result<(), FileError> {
        let place = |kind: &str| format!("constraints[{index}].{kind}");
        match constraint {
            Constraint::Distance { particles, rest_length, material } => {
                self.add_each(&place("distance"), particles, material.as_ref(), |particles, points, index, count| {
                    let rest_length = figure(rest_length, index, count)?.unwrap_or_else(|| apart(points[0], points[1]));
                    Ok(Distance { particles, rest_length })
                })
            }
            Constraint::DistanceLimit { particles, edges_of, length, scale, limit, material } => {
                let place = place("distance_limit");
                let limit = match limit {
                    LimitFile::AtMost => Limit::AtMost,
                    LimitFile::AtLeast => Limit::AtLeast,
                };
                if length.is_some() && scale.is_some() {
                    return Err("it has both a length and a scale").at(|| place);
                }
                let scale = scale.unwrap_or(1.0);
                match (particles, edges_of) {
                    (Some(particles), None) => {
                        self.add_each(&place, particles, material.as_ref(), |particles, points, index, count| {
                            let given = figure(length, index, count)?;
                            let length = given.unwrap_or_else(|| apart(points[0], points[1]) * scale);
                            Ok(DistanceLimit { particles, length, limit })
                        })
                    }
                    (None, Some(name)) => {
                        let edges = self.edges_of(name).at(|| format!("{place}.edges_of"))?;
                        let count = edges.len();
                        let id = self.material_id(material.as_ref()).at(|| format!("{place}.material"))?;
                        for (index, edge) in edges.into_iter().enumerate() {
                            let given = figure(length, index, count).at(|| format!("{place}.length"))?;
                            let length = given.unwrap_or(edge.rest_length * scale);
                            let limit = DistanceLimit { particles: edge.particles, length, limit };
                            self.scene.add_with(limit, id).at(|| place.clone())?;
                        }
                        Ok(())
                    }
                    _ => Err("it must have either particles or edges_of").at(|| place),
                }
            }
            Constraint::Hinge { particles, rest_angle, scale, material } => {
                self.add_each(&place("hinge"), particles, material.as_ref(), |particles, points, index, count| {
                    let own = || Hinge::angle(points).clamp(-PI, PI);
                    let rest_angle = figure(rest_angle, index, count)?.unwrap_or_else(own);
                    Ok(Hinge { particles, rest_angle, scale: figure(scale, index, count)?.unwrap_or(1.0) })
                })
            }
            Constraint::CosineBend { particles, rest_angle, material } => {
                self.add_each(&place("cosine_bend"), particles, material.as_ref(), |particles, points, index, count| {
                    let rest_angle = figure(rest_angle, index, count)?.unwrap_or_else(|| angle(points));
                    Ok(CosineBend { particles, rest_angle })
                })
            }
            Constraint::LineBend { particles, lengths, scale, material } => {
                self.add_each(&place("line_bend"), particles, material.as_ref(), |particles, points, index, count| {
                    let own = || [apart(points[0], points[2]), apart(points[1], points[2])];
                    let lengths = each(lengths, index, count)?.unwrap_or_else(own);
                    Ok(LineBend { particles, lengths, scale: figure(scale, index, count)?.unwrap_or(1.0) })
                })
            }
            Constraint::IsometricBend { particles, coefficients, scale, material } => {
                let place = place("isometric_bend");
                self.add_each(&place, particles, material.as_ref(), |particles, points, index, count| {
                    let bend = match each(coefficients, index, count)? {
                        Some(coefficients) => IsometricBend { particles, coefficients },
                        None => IsometricBend::new(particles, points)?,
                    };
                    let scale = figure(scale, index, count)?.unwrap_or(1.0);
                    crate::error::check_positive("scale", scale)?;
                    Ok(bend.scaled(scale))
                })
            }
            Constraint::Area { particles, rest_area, material } => {
                self.add_each(&place("area"), particles, material.as_ref(), |particles, points, index, count| {
                    let rest_area = figure(rest_area, index, count)?.unwrap_or_else(|| area(points));
                    Ok(Area { particles, rest_area })
                })
            }
            Constraint::Volume { particles, rest_volume, material } => {
                self.add_each(&place("volume"), particles, material.as_ref(), |particles, points, index, count| {
                    let rest_volume = figure(rest_volume, index, count)?.unwrap_or_else(|| Volume::of(points));
                    Ok(Volume { particles, rest_volume })
                })
            }
            Constraint::Pressure { part, triangles, rest_volume, pressure, material } => {
                let place = place("pressure");
                let triangles = match (part, triangles) {
                    (Some(name), None) => self.surface_of(name).at(|| format!("{place}.part"))?,
                    (None, Some(triangles)) => self.corners(&place, triangles)?,
                    _ => return Err("it must have either part or triangles").at(|| place),
                };
                let material = material.as_ref();
                self.add_pressure(triangles, *rest_volume, pressure.unwrap_or(1.0), material).at(|| place)
            }
            Constraint::ShapeMatching { particles, rest_positions, masses, material } => {
                let place = place("shape_matching");
                let particles = self.select(particles, None, || format!("{place}.particles"))?;
                self.add_group(particles, rest_positions, masses, material.as_ref()).at(|| place)
            }
        }
    }

    /// Adds one constraint for each entry of `list`. `make` receives the particles, their positions, the index and the
    /// count.
    fn add_each<const N: usize, K: Kind>(
        &mut self,
        place: &str,
        list: &[[Selection; N]],
        material: Named,
        make: impl Fn([u32; N], [[f32; 3]; N], usize, usize) -> Result<K, Reason>,
    ) -> Result<(), FileError> {
        let id = self.material_id(material).at(|| format!("{place}.material"))?;
        for (index, selections) in list.iter().enumerate() {
            let at = || format!("{place}.particles[{index}]");
            let mut particles = [0; N];
            for (corner, (selection, particle)) in selections.iter().zip(&mut particles).enumerate() {
                *particle = self.one(selection).at(|| format!("{place}.particles[{index}][{corner}]"))?;
            }
            let points = particles.map(|particle| self.scene.positions[particle as usize]);
            let constraint = make(particles, points, index, list.len()).at(at)?;
            self.scene.add_with(constraint, id).at(at)?;
        }
        Ok(())
    }

    fn edges_of(&mut self, name: &str) -> Result<Vec<Distance>, Reason> {
        let part = self.part(name)?;
        let edges = self.parts[part].edges.clone();
        if edges.is_empty() {
            return Err(format!("the part {name:?} has no links, segments or springs").into());
        }
        self.spend(2 * edges.len() as u64)?;
        Ok(self.scene.distances(edges).collect())
    }

    fn surface_of(&mut self, name: &str) -> Result<Vec<[u32; 3]>, Reason> {
        let part = &self.parts[self.part(name)?];
        if !part.surface.is_empty() {
            return Err(format!("the surface of {name:?} only follows its lattice; nothing can press on it").into());
        }
        let range = part.triangles.clone();
        self.spend(3 * range.len() as u64)?;
        Ok(self.scene.triangles[range.start as usize..range.end as usize].to_vec())
    }

    fn corners(&mut self, place: &str, triangles: &[[Selection; 3]]) -> Result<Vec<[u32; 3]>, FileError> {
        let mut corners = Vec::with_capacity(triangles.len());
        for (index, triangle) in triangles.iter().enumerate() {
            let mut particles = [0; 3];
            for (selection, particle) in triangle.iter().zip(&mut particles) {
                *particle = self.one(selection).at(|| format!("{place}.triangles[{index}]"))?;
            }
            corners.push(particles);
        }
        Ok(corners)
    }

    fn add_pressure(
        &mut self,
        triangles: Vec<[u32; 3]>,
        rest_volume: Option<f32>,
        pressure: f32,
        material: Named,
    ) -> Result<(), Reason> {
        let surface = ClosedSurface::new(&triangles)?;
        let own = || surface.volume(|particle| self.scene.positions[particle as usize]) as f32;
        let rest_volume = rest_volume.unwrap_or_else(own);
        let id = self.material_id(material)?;
        self.scene.add_with(Pressure { surface: &surface, rest_volume, pressure }, id)?;
        Ok(())
    }

    fn add_group(
        &mut self,
        particles: Vec<u32>,
        rest_positions: &Option<Vec<[f32; 3]>>,
        masses: &Option<OneOrMany>,
        material: Named,
    ) -> Result<(), Reason> {
        let count = particles.len();
        let own = || particles.iter().map(|&particle| self.scene.positions[particle as usize]).collect();
        let rest_positions = rest_positions.clone().unwrap_or_else(own);
        let mass = |(index, &particle): (usize, &u32)| match (figure(masses, index, count)?, particle) {
            (Some(mass), _) => Ok(mass),
            (None, particle) => match self.scene.inverse_masses[particle as usize] {
                0.0 => Err(Reason::from(format!("particle {particle} has no mass; give masses"))),
                inverse => Ok(1.0 / inverse),
            },
        };
        let masses: Vec<f32> = particles.iter().enumerate().map(mass).collect::<Result<_, _>>()?;
        let id = self.material_id(material)?;
        let group = ShapeMatching { particles: &particles, rest_positions: &rest_positions, masses: &masses };
        self.scene.add_with(group, id)?;
        Ok(())
    }
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
