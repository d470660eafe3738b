//! Cloth that tears: the strength of its edges, and particles in reserve for the vertices that tears add.

use super::{Cloth, Particle, Scene};
use crate::constraints::{Distance, DistanceLimit, Kind, kind_index};
use crate::error::{Error, Result, check_positive};
use crate::geometry::Distinct;
use std::ops::Range;

/// How a cloth tears; see [`super::Fabric::tearing`].
///
/// A tear runs along the edges between two triangles. An edge tears if the strain across it, the mean of its two triangles, exceeds
/// its strength. The strain across an edge is the relative stretch of the material perpendicular to it. In a grid it is the sum of the
/// strains of rows and columns, times the squares of the components of that direction, so that shear alone tears nothing.
///
/// The tension across an edge is its strain times the stiffness of the membrane [N/m]: 1/α in a grid of square cells whose
/// structural compliance is α [m/N], or the modulus of [`super::Orthotropic`] without stiffening. A strength of S [N/m] is a strain of S α. A rigid
/// fabric, or a piece of infinite modulus below the strength, stretches by the error of a sweep only and tears at no defined force.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tearing {
    /// The strain across an edge beyond which it tears, greater than 0; infinite = only the edges of [`Scene::set_tear_strain`]
    /// tear, which changes single edges.
    pub strain: f32,
    /// The most vertices that tears can add. Each needs the memory of a particle from the start. A tear along n edges adds
    /// about n. At most 3 T − V are allocated for T triangles and V vertices: then no two triangles share a particle.
    pub copies: u32,
}

impl Tearing {
    /// Tears at a strain, with at most 1024 added vertices.
    pub const fn at(strain: f32) -> Self {
        Self { strain, copies: 1024 }
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.strain == f32::INFINITY { Ok(()) } else { check_positive("tear strain of a fabric", self.strain) }
    }

    /// The number of particles in reserve: with one for each corner of each triangle, all are apart.
    pub(super) fn reserve(&self, vertex_count: usize, triangle_count: usize) -> u32 {
        self.copies.min((3 * triangle_count).saturating_sub(vertex_count) as u32)
    }
}

/// A cloth that tears.
#[derive(Debug, Clone)]
pub(crate) struct TearableCloth {
    pub vertices: Range<u32>,
    /// Particles in reserve, of which the first `used` are copies of vertices.
    pub copies: Range<u32>,
    pub used: u32,
    pub triangles: Range<u32>,
    pub strain: f32,
    /// The direction of the rows of a grid at rest.
    pub warp: Option<[f32; 3]>,
    /// The constraints of the second sides of edges, among those of [`twin_kinds`].
    pub twins: [Range<u32>; 2],
}

impl TearableCloth {
    pub(super) fn new(cloth: &Cloth, copies: Range<u32>, strain: f32, warp: Option<[f32; 3]>) -> Self {
        let (vertices, triangles) = (cloth.particles.clone(), cloth.triangles.clone());
        Self { vertices, copies, used: 0, triangles, strain, warp, twins: [0..0, 0..0] }
    }
}

/// The kinds along edges. Each of their constraints between two triangles has a twin, which takes effect once the triangles are
/// torn apart.
pub(crate) fn twin_kinds() -> [usize; 2] {
    [kind_index(Distance::INFO), kind_index(DistanceLimit::INFO)]
}

/// An edge of two triangles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct InnerEdge {
    pub ends: [u32; 2],
    /// By triangle, the places of both ends: 3 times the triangle, plus the corner.
    pub places: [[u32; 2]; 2],
    /// False at edges of more than two triangles.
    pub tears: bool,
}

/// The edges between two triangles of a list. `first` is the index of its first triangle.
pub(crate) fn inner_edges(triangles: &[[u32; 3]], first: u32, particle_count: usize) -> Vec<InnerEdge> {
    let sides = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let Distinct { values, places } =
        Distinct::new(particle_count, sides.clone().map(|[from, to]| (from.min(to), from.max(to))));
    let mut uses: Vec<Vec<[u32; 2]>> = vec![Vec::new(); values.len()];
    for (side, (place, [from, to])) in (0u32..).zip(places.into_iter().zip(sides)) {
        let triangle = 3 * first + side / 3 * 3;
        let ends = [triangle + side % 3, triangle + (side % 3 + 1) % 3];
        uses[place as usize].push(if from < to { ends } else { [ends[1], ends[0]] });
    }
    let edge = |((low, high), uses): ((u32, u32), Vec<[u32; 2]>)| {
        let tears = uses.len() == 2;
        let pairs: Vec<InnerEdge> =
            uses.windows(2).map(|pair| InnerEdge { ends: [low, high], places: [pair[0], pair[1]], tears }).collect();
        pairs
    };
    values.into_iter().zip(uses).flat_map(edge).collect()
}

impl Scene {
    /// Changes the strain at which some edges of tearable cloths tear, such as those of a weak line or of a perforation. Each edge is
    /// given by its two particles. Infinite = never.
    ///
    /// # Errors
    /// An edge does not lie between two triangles of a cloth with [`super::Fabric::tearing`], or the strain is not greater than
    /// 0.
    pub fn set_tear_strain(&mut self, edges: &[[u32; 2]], strain: f32) -> Result<()> {
        let mut known = self.tearable_edges();
        known.sort_unstable();
        let sorted = |&[a, b]: &[u32; 2]| [a.min(b), a.max(b)];
        if let Some([a, b]) = edges.iter().find(|edge| known.binary_search(&sorted(edge)).is_err()) {
            let what = format!("particle {b}, the other end of an edge from particle {a} in set_tear_strain,");
            return Err(Error::invalid(what, *b, "the end of an edge between two triangles of a tearable cloth"));
        }
        self.push_tear_strains(edges.iter().map(sorted), strain)
    }

    /// The same for edges of [`Scene::tearable_edges`].
    pub(crate) fn push_tear_strains(&mut self, edges: impl IntoIterator<Item = [u32; 2]>, strain: f32) -> Result<()> {
        if strain != f32::INFINITY {
            check_positive("tear strain of edges", strain)?;
        }
        self.tear_strains.extend(edges.into_iter().map(|edge| (edge, strain)));
        Ok(())
    }

    /// The edges that can tear, by their particles, the lower one first: those between two triangles of the cloths with
    /// [`super::Fabric::tearing`].
    pub fn tearable_edges(&self) -> Vec<[u32; 2]> {
        let of_cloth = |cloth: &TearableCloth| {
            let triangles = &self.triangles[cloth.triangles.start as usize..cloth.triangles.end as usize];
            inner_edges(triangles, cloth.triangles.start, self.particle_count())
        };
        let edges = self.tearable.iter().flat_map(of_cloth);
        edges.filter(|edge| edge.tears).map(|edge| edge.ends).collect()
    }

    /// True if a cloth of the scene has [`super::Fabric::tearing`]. Its solvers need [`crate::Solver::tear`].
    pub fn can_tear(&self) -> bool {
        !self.tearable.is_empty()
    }

    /// True if a particle is in reserve: it takes part in nothing.
    pub(crate) fn is_in_reserve(&self, particle: u32) -> bool {
        self.tearable.iter().any(|cloth| (cloth.copies.start + cloth.used..cloth.copies.end).contains(&particle))
    }

    /// `Ok` if a particle is not in reserve.
    pub(crate) fn check_in_use(&self, what: &str, particle: u32) -> Result<()> {
        if !self.is_in_reserve(particle) {
            return Ok(());
        }
        Err(Error::invalid(format!("particle of {what}"), particle, "none in reserve for tears (Fabric::tearing)"))
    }

    /// Adds the particles in reserve of a cloth.
    pub(super) fn push_reserve(&mut self, vertices: Range<u32>, count: u32) -> Range<u32> {
        let first = self.positions.len() as u32;
        let position = self.positions[vertices.start as usize];
        for _ in 0..count {
            self.push_particle(Particle { position, velocity: [0.0; 3], inverse_mass: 0.0 });
        }
        first..first + count
    }

    /// Makes a cloth tearable: adds the twins of the constraints along its inner edges, from the given indices on.
    pub(super) fn push_tearable(&mut self, mut cloth: TearableCloth, first_constraints: [u32; 2]) {
        let triangles = &self.triangles[cloth.triangles.start as usize..cloth.triangles.end as usize];
        let mut edges: Vec<[u32; 2]> =
            inner_edges(triangles, cloth.triangles.start, self.positions.len()).iter().map(|edge| edge.ends).collect();
        edges.sort_unstable();
        for (place, kind) in twin_kinds().into_iter().enumerate() {
            let set = &mut self.constraints[kind];
            let (size, end) = (set.info.record_words, set.len() as u32);
            let first = first_constraints[place] as usize * size;
            let is_inner =
                |record: &&[u32]| edges.binary_search(&[record[0].min(record[1]), record[0].max(record[1])]).is_ok();
            let twins: Vec<u32> = set.words[first..].chunks_exact(size).filter(is_inner).flatten().copied().collect();
            set.words.extend(twins);
            cloth.twins[place] = end..set.len() as u32;
        }
        self.tearable.push(cloth);
    }
}
