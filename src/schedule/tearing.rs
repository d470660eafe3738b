//! Tearable cloths: inner edges, the strain across them, and the constraints that refer to the corners of triangles.
//!
//! A tear gives triangles other particles. A constraint of a tearable cloth is *bound* to a connected set of at most
//! [`MOST_JOINTS`] + 1 triangles that contain its particles. While the triangles are connected, the constraint acts on their
//! present corners; afterwards it has no effect. Constraints that share no vertex share no copy of one, so the colours stay
//! valid. Decision: `docs/decisions/0036-tearing.md`.

use crate::collision::ContactMaterialId;
use crate::error::{Error, Result};
use crate::geometry::grouped;
use crate::scene::tearing::{InnerEdge, TearableCloth, inner_edges, twin_kinds};
use crate::scene::{ConstraintSet, Scene};
use crate::schedule::compiled_kind::CompiledKind;
use glam::DVec3;

/// No edge.
pub(crate) const NONE: u32 = u32::MAX;

/// Maximum number of edges that a constraint crosses: a spring of a grid over a particle of eight triangles crosses three.
const MOST_JOINTS: usize = 3;

/// Number of triangles at most [`MOST_JOINTS`] edges away from one.
const MOST_WALK: usize = 1 + 3 + 6 + 12;

/// The strain of a material direction in a triangle: that of the vector Σ k e of its two sides e from its first corner, whose length at
/// rest is 1.
#[derive(Debug, Clone, Copy)]
struct Gauge {
    factors: [f64; 2],
    /// The share of this direction in the strain across an edge.
    weight: f64,
}

/// An edge that can tear.
#[derive(Debug, Clone)]
pub(crate) struct TearEdge {
    pub inner: InnerEdge,
    /// The strain at which it tears.
    pub strain: f64,
    /// Of the directions along the rows and columns, or across the edge, in both triangles.
    gauges: [[Gauge; 2]; 2],
}

/// The constraint of a kind that is bound to triangles.
#[derive(Debug, Clone, Copy)]
struct Bond {
    constraint: u32,
    /// By particle, its place: 3 times the triangle, plus the corner.
    places: [u32; 4],
    /// The edges that it crosses, else [`NONE`]; for a twin the edge along which it lies.
    joints: [u32; MOST_JOINTS],
    is_twin: bool,
}

/// The tearable cloths of a scene.
#[derive(Debug, Clone)]
pub(crate) struct TearMesh {
    pub edges: Vec<TearEdge>,
    /// By cloth, its edges.
    pub edges_of: Vec<std::ops::Range<usize>>,
    /// By place, the edge opposite of the corner, or [`NONE`].
    pub opposite: Vec<u32>,
    /// By vertex, the places of its corners: `corners[offsets[v]..offsets[v + 1]]`.
    offsets: Vec<u32>,
    corners: Vec<u32>,
    /// The triangles before any tear.
    pub triangles: Vec<[u32; 3]>,
    /// The area of each triangle at rest \[m²\].
    pub areas: Vec<f64>,
    /// The particles in reserve before any tear.
    pub reserve: Vec<ReserveParticle>,
    /// By kind.
    bonds: Vec<Vec<Bond>>,
}

/// The properties of a particle in reserve that the copy of a vertex takes over from the vertex.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReserveParticle {
    pub particle: u32,
    pub rest_position: [f32; 3],
    pub contact: ContactMaterialId,
    /// Packed; `None` in a scene without scales.
    pub contact_scale: Option<u32>,
}

fn rest(scene: &Scene, particle: u32) -> DVec3 {
    scene.rest_positions[particle as usize].map(f64::from).into()
}

/// The present particle at a place.
pub(crate) fn at(triangles: &[[u32; 3]], place: u32) -> u32 {
    triangles[place as usize / 3][place as usize % 3]
}

impl Gauge {
    /// Of the unit vector `direction` in the plane of the sides `u` and `v`.
    fn new(direction: DVec3, [u, v]: [DVec3; 2], weight: f64) -> Self {
        let [uu, uv, vv] = [u.dot(u), u.dot(v), v.dot(v)];
        let (along_u, along_v) = (direction.dot(u), direction.dot(v));
        let determinant = uu * vv - uv * uv;
        let factors = [(along_u * vv - along_v * uv) / determinant, (along_v * uu - along_u * uv) / determinant];
        Self { factors, weight }
    }
}

impl TearEdge {
    fn new(scene: &Scene, cloth: &TearableCloth, inner: InnerEdge) -> Self {
        let strain = scene.tear_strains.get(&inner.ends).copied().unwrap_or(cloth.strain);
        let strain = if inner.tears { f64::from(strain) } else { f64::INFINITY };
        let gauges = inner.places.map(|[from, _]| {
            let corners = scene.triangles[from as usize / 3].map(|particle| rest(scene, particle));
            let sides = [corners[1] - corners[0], corners[2] - corners[0]];
            let [a, b] = inner.ends.map(|end| rest(scene, end));
            let normal = sides[0].cross(sides[1]).normalize();
            let across = normal.cross(b - a).normalize();
            match cloth.warp {
                None => [Gauge::new(across, sides, 1.0), Gauge { factors: [0.0; 2], weight: 0.0 }],
                Some(warp) => {
                    let warp = DVec3::from(warp.map(f64::from)).normalize();
                    [warp, normal.cross(warp)].map(|own| Gauge::new(own, sides, across.dot(own).powi(2)))
                }
            }
        });
        Self { inner, strain, gauges }
    }

    /// The ratio of the strain across the edge to its strength.
    pub fn overload(&self, triangles: &[[u32; 3]], positions: &[[f32; 3]]) -> f64 {
        let strain = |place: u32, gauges: &[Gauge; 2]| {
            let corners = triangles[place as usize / 3].map(|own| DVec3::from(positions[own as usize].map(f64::from)));
            let sides = [corners[1] - corners[0], corners[2] - corners[0]];
            let stretch = |gauge: &Gauge| (sides[0] * gauge.factors[0] + sides[1] * gauge.factors[1]).length() - 1.0;
            gauges.iter().filter(|gauge| gauge.weight > 0.0).map(|gauge| gauge.weight * stretch(gauge)).sum::<f64>()
        };
        let [first, second] = [0, 1].map(|side| strain(self.inner.places[side][0], &self.gauges[side]));
        0.5 * (first + second) / self.strain
    }
}

impl TearMesh {
    /// `None` without tearable cloths.
    ///
    /// # Errors
    /// A group has a particle of a tearable cloth.
    pub fn new(scene: &Scene) -> Result<Option<Self>> {
        if scene.tearable.is_empty() {
            return Ok(None);
        }
        let count = scene.particle_count();
        let (mut edges, mut edges_of) = (Vec::new(), Vec::new());
        let mut opposite = vec![NONE; 3 * scene.triangles.len()];
        for cloth in &scene.tearable {
            let first = edges.len();
            let triangles = &scene.triangles[cloth.triangles.start as usize..cloth.triangles.end as usize];
            for inner in inner_edges(triangles, cloth.triangles.start, count) {
                for [from, to] in inner.places {
                    // The corners of a triangle are numbered 0, 1, 2: the third one is 3 minus the other two.
                    let corner = 3 - from % 3 - to % 3;
                    opposite[(from / 3 * 3 + corner) as usize] = edges.len() as u32;
                }
                edges.push(TearEdge::new(scene, cloth, inner));
            }
            edges_of.push(first..edges.len());
        }
        let own = |cloth: &TearableCloth| 3 * cloth.triangles.start..3 * cloth.triangles.end;
        let places = scene.tearable.iter().flat_map(own).map(|place| (at(&scene.triangles, place), place));
        let (offsets, corners) = grouped(count, places);
        let area = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(|particle| rest(scene, particle));
            0.5 * (b - a).cross(c - a).length()
        };
        let areas = scene.triangles.iter().map(area).collect();
        let triangles = scene.triangles.clone();
        let in_reserve = |particle: u32| ReserveParticle {
            particle,
            rest_position: scene.rest_positions[particle as usize],
            contact: scene.particle_contacts[particle as usize],
            contact_scale: scene.contact_scales.get(particle as usize).copied(),
        };
        let reserve = scene.tearable.iter().flat_map(|cloth| cloth.copies.clone()).map(in_reserve).collect();
        let bonds = Vec::new();
        let mut mesh = Self { edges, edges_of, opposite, offsets, corners, triangles, areas, reserve, bonds };
        let bind = |(kind, set)| mesh.bind(scene, kind, set);
        mesh.bonds = scene.constraints.iter().enumerate().map(bind).collect::<Result<_>>()?;
        Ok(Some(mesh))
    }

    /// The places of the corners at a vertex.
    pub fn corners(&self, vertex: u32) -> &[u32] {
        &self.corners[self.offsets[vertex as usize] as usize..self.offsets[vertex as usize + 1] as usize]
    }

    fn is_vertex(&self, particle: u32) -> bool {
        !self.corners(particle).is_empty()
    }

    /// The edge from a corner of a triangle to the next one, or [`NONE`].
    pub fn side(&self, place: u32) -> u32 {
        self.opposite[(place / 3 * 3 + (place + 2 - place / 3 * 3) % 3) as usize]
    }

    fn bind(&self, scene: &Scene, kind: usize, set: &ConstraintSet) -> Result<Vec<Bond>> {
        let tears = |&particle: &u32| self.is_vertex(particle);
        if set.info.is_group() {
            for (index, record) in set.records().enumerate() {
                if let Some(particle) = set.info.points(record, &set.rows).find(tears) {
                    let what = format!("a particle of the {} constraint {index}", set.info.name);
                    return Err(Error::invalid(
                        what,
                        particle,
                        "none of a tearable cloth, which would leave a hole in it",
                    ));
                }
            }
            return Ok(Vec::new());
        }
        let place = twin_kinds().iter().position(|own| *own == kind);
        let is_twin = |constraint: u32| {
            place.is_some_and(|place| scene.tearable.iter().any(|cloth| cloth.twins[place].contains(&constraint)))
        };
        let mut bonds = Vec::new();
        for constraint in 0..set.len() as u32 {
            let particles = set.points_of(constraint);
            if set.info.orientations > 0 || particles.len() > 4 || !particles.iter().all(tears) {
                continue;
            }
            let bond = self.bond(constraint, particles, is_twin(constraint));
            if let (Some(_), true) = (&bond, set.plastic.contains_key(&constraint)) {
                let what = format!("plasticity of {} constraint {constraint} of a tearable cloth", set.info.name);
                return Err(Error::Unsupported { what, instead: "Fabric::tearing tears the cloth instead" });
            }
            bonds.extend(bond);
        }
        Ok(bonds)
    }

    /// The bond of a constraint, with as few joints as possible; `None` if its particles are too far apart in the mesh.
    fn bond(&self, constraint: u32, particles: &[u32], is_twin: bool) -> Option<Bond> {
        let (mut best, mut most): (Option<Bond>, usize) = (None, MOST_JOINTS);
        for &start in self.corners(particles[0]) {
            let Some((places, joints)) = self.reach(start, particles, most) else { continue };
            let count = joints.iter().filter(|joint| **joint != NONE).count();
            best = Some(Bond { constraint, places, joints, is_twin: false });
            if count == 0 {
                break;
            }
            // The next one needs fewer.
            most = count - 1;
        }
        let bond = best?;
        if !is_twin {
            return Some(bond);
        }
        // The second triangle of the edge.
        let [from, to] = [bond.places[0], bond.places[1]];
        let edge = if (from + 1) % 3 == to % 3 { self.side(from) } else { self.side(to) };
        let inner = &self.edges.get(edge as usize)?.inner;
        let places = inner.places.iter().find(|places| places[0] / 3 != from / 3)?;
        let turned = if inner.ends[0] == particles[0] { *places } else { [places[1], places[0]] };
        Some(Bond { constraint, places: [turned[0], turned[1], NONE, NONE], joints: [edge, NONE, NONE], is_twin })
    }

    /// Walks from a corner over the triangles around, breadth first, until all particles are found; at most `most` joints away.
    fn reach(&self, start: u32, particles: &[u32], most: usize) -> Option<([u32; 4], [u32; MOST_JOINTS])> {
        let mut walk = [(0, usize::MAX, NONE); MOST_WALK];
        walk[0].0 = start / 3;
        let mut found = [(NONE, usize::MAX); 4];
        found[0] = (start, 0);
        let (mut next, mut end, mut depth_end, mut depth) = (0, 1, 0, 0);
        let mut missing = particles.len() - 1;
        while next < end {
            if next == depth_end {
                (depth, depth_end) = (depth + 1, end);
            }
            let triangle = walk[next].0;
            let corners = self.triangles[triangle as usize];
            for (own, particle) in found.iter_mut().zip(particles).filter(|(own, _)| own.0 == NONE) {
                if let Some(corner) = corners.iter().position(|corner| corner == particle) {
                    *own = (3 * triangle + corner as u32, next);
                    missing -= 1;
                }
            }
            if missing == 0 {
                let joints = Self::joints(&walk, &found[..particles.len()], most)?;
                return Some((found.map(|own| own.0), joints));
            }
            for corner in 0..if depth <= most { 3 } else { 0 } {
                let edge = self.opposite[3 * triangle as usize + corner];
                let Some(own) = self.edges.get(edge as usize) else { continue };
                let sides = own.inner.places.map(|places| places[0] / 3);
                let other = if sides[0] == triangle { sides[1] } else { sides[0] };
                if end < MOST_WALK && !walk[..end].iter().any(|&(known, ..)| known == other) {
                    walk[end] = (other, next, edge);
                    end += 1;
                }
            }
            next += 1;
        }
        None
    }

    /// The edges on the paths from the start of a walk to the found corners; `None` if there are more than `most`.
    fn joints(walk: &[(u32, usize, u32)], found: &[(u32, usize)], most: usize) -> Option<[u32; MOST_JOINTS]> {
        let (mut joints, mut count) = ([NONE; MOST_JOINTS], 0);
        for &(_, end) in found {
            let mut step = end;
            while walk[step].2 != NONE {
                if !joints.contains(&walk[step].2) {
                    *joints[..most].get_mut(count)? = walk[step].2;
                    count += 1;
                }
                step = walk[step].1;
            }
        }
        Some(joints)
    }

    /// The bound constraints of a kind, in ascending order.
    pub fn tearable(&self, kind: usize) -> Vec<u32> {
        self.bonds[kind].iter().map(|bond| bond.constraint).collect()
    }

    /// True if both triangles of an edge have the same particles at both ends.
    fn is_joined(&self, edge: u32, triangles: &[[u32; 3]]) -> bool {
        let [first, second] = self.edges[edge as usize].inner.places;
        (0..2).all(|end| at(triangles, first[end]) == at(triangles, second[end]))
    }

    /// Writes the present particles of the bound constraints into their records, and the material of those that have no effect.
    pub fn write_bound(&self, kinds: &mut [CompiledKind], scene: &Scene) {
        let disabled = scene.materials.len() as u32;
        for (kind, bonds) in kinds.iter_mut().zip(&self.bonds).filter(|(_, bonds)| !bonds.is_empty()) {
            let (size, arity) = (kind.info.record_words, kind.info.arity);
            let set = &scene.constraints[crate::constraints::kind_index(kind.info)];
            let places = kind.coloring.places();
            for bond in bonds {
                let record = &mut kind.records[places[bond.constraint as usize] as usize * size..][..size];
                let joined = |&edge: &u32| edge == NONE || self.is_joined(edge, &scene.triangles);
                let acts = bond.joints.iter().all(joined) != bond.is_twin;
                let particles = bond.places[..arity].iter().map(|&place| at(&scene.triangles, place));
                // Also of those without effect, which write to their particles too: a copy may be that of another vertex before.
                record.iter_mut().zip(particles).for_each(|(own, particle)| *own = particle);
                let material = set.words[bond.constraint as usize * size + arity];
                record[arity] = if acts { material } else { disabled };
            }
        }
    }

    /// Writes the particles and materials before any tear into records in the order of the constraints.
    pub fn restore(&self, kind: usize, words: &mut [u32], scene: &Scene) {
        let set = &scene.constraints[kind];
        for bond in &self.bonds[kind] {
            let first = bond.constraint as usize * set.info.record_words;
            let named = first..first + set.info.arity + 1;
            words[named.clone()].copy_from_slice(&set.words[named]);
        }
    }
}

impl CompiledKind {
    /// `Ok` if all constraints that a tear may change have a colour.
    pub fn check_tearable(&self, tearable: &[u32]) -> Result<()> {
        let split = &self.coloring.order[self.split.span.range()];
        let count = split.iter().filter(|constraint| tearable.binary_search(constraint).is_ok()).count() as u64;
        if count == 0 {
            return Ok(());
        }
        let what = "number of constraints of a tearable cloth at particles with more than 48 constraints";
        Err(Error::invalid(what, count as f64, "0, since they have no colour"))
    }
}
