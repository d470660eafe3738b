//! Renumbering of particles, so that particles of one constraint are close in memory.
//!
//! The vertices of a mesh may be in arbitrary order; then each particle of a constraint lies in a different cache line.
//! Particles are renumbered in breadth-first order along the constraints, from one end of a component (Cuthill, McKee:
//! Reducing the bandwidth of sparse symmetric matrices, 1969), but neighbours are not sorted by degree. The index distance of
//! two connected particles is then at most the size of two levels.

use super::Scene;
use crate::error::{Error, Result};
use crate::geometry::grouped;
use std::ops::Range;

/// The owner of particles that keep their index.
const FIXED: u32 = u32::MAX;

/// The map from old to new particle indices of [`Scene::renumber`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbering {
    now: Vec<u32>,
}

impl Numbering {
    /// The new index of a particle.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`] if the old index does not exist.
    pub fn new_index(&self, before: u32) -> Result<u32> {
        self.now.get(before as usize).copied().ok_or_else(|| Error::IndexOutOfRange {
            what: "numbering".into(),
            target: "particle",
            index: before.into(),
            count: self.now.len() as u64,
        })
    }

    /// Returns true if every particle has kept its index.
    pub fn is_unchanged(&self) -> bool {
        (0..).zip(&self.now).all(|(before, &now)| before == now)
    }

    /// Reorders values per particle from the new order (as read from a solver) to the old order.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the number of values is not the number of particles.
    pub fn to_old_order<T: Copy>(&self, values: &[T]) -> Result<Vec<T>> {
        self.check(values.len())?;
        Ok(self.now.iter().map(|&now| values[now as usize]).collect())
    }

    /// Reorders values per particle from the old order to the new order.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the number of values is not the number of particles.
    pub fn to_new_order<T: Copy>(&self, values: &[T]) -> Result<Vec<T>> {
        self.check(values.len())?;
        Ok(self.arrange(values))
    }

    fn rename(&self, particle: &mut u32) {
        *particle = self.now[*particle as usize];
    }

    fn check(&self, left: usize) -> Result<()> {
        let right = self.now.len();
        if left == right {
            return Ok(());
        }
        Err(Error::LengthMismatch { what: "values and numbered particles", left, right })
    }

    fn arrange<T: Copy>(&self, values: &[T]) -> Vec<T> {
        let mut arranged = values.to_vec();
        for (&now, &value) in self.now.iter().zip(values) {
            arranged[now as usize] = value;
        }
        arranged
    }
}

impl Scene {
    /// Renumbers the particles of each body, so that particles of one constraint are close in memory, and returns the
    /// map.
    ///
    /// Call it last, before a solver is created: earlier particle indices become invalid, except ranges of complete
    /// bodies. Rebuild a [`ClosedSurface`](crate::ClosedSurface) from the scene's triangles. All particle indices
    /// within the scene are updated: pins, masses, velocities, contact materials, tethers. Constraints and triangles
    /// keep their order.
    ///
    /// It reduces cache misses for meshes whose vertices are in arbitrary order. These particles keep their index:
    ///
    /// - particles of a body whose order is already about as good,
    /// - a range of tethered particles that is part of a larger body,
    /// - particles of no body ([`Scene::add_body`] declares one), of grids, followers, and those in reserve for tears.
    ///
    /// Shape matching and pressure constraints do not count as connections. The motion is the same, except where the
    /// order of particles decides:
    ///
    /// - the contact material of an edge between particles of different materials is that of the lower index;
    /// - the choice between pins at equal distance for a tether;
    /// - the growth of clusters ([`Execution::Clusters`](crate::Execution::Clusters));
    /// - the particles that represent free-flying components in the truncation of displacements
    ///   ([`SelfCollisionLevel::Surfaces`](crate::SelfCollisionLevel::Surfaces)).
    ///
    /// ```
    /// # use supple::{ClothMesh, Fabric, Reference, Scene, Settings};
    /// # let (positions, triangles) = ([[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [[0, 1, 2]]);
    /// let mut scene = Scene::new();
    /// scene.add_cloth_mesh(&ClothMesh { positions: &positions, triangles: &triangles, fabric: Fabric::COTTON, tethers: None })?;
    /// let numbering = scene.renumber();
    /// let mut reference = Reference::new(&scene, Settings::default())?;
    /// reference.step(1);
    /// let by_vertex = numbering.to_old_order(&reference.read_positions()?)?;
    /// # assert_eq!(by_vertex.len(), 3);
    /// # Ok::<(), supple::Error>(())
    /// ```
    pub fn renumber(&mut self) -> Numbering {
        let owners = self.owners();
        let numbering = Links::new(self, &owners).numbering(&owners, &self.bodies);
        if numbering.is_unchanged() {
            return numbering;
        }
        // All fields are listed, so a new field does not compile until it is handled. Bodies and grids are ranges and
        // do not change.
        let Self {
            positions,
            velocities,
            inverse_masses,
            pinned,
            triangles,
            constraints,
            followers,
            rest_positions,
            particle_contacts,
            contact_scales,
            cord_edges,
            attachments,
            skinned,
            tear_strains,
            orientations: _,
            orientation_pins: _,
            materials: _,
            interned: _,
            grids: _,
            tethered_bodies: _,
            bodies: _,
            contact_materials: _,
            friction_pairs: _,
            colliders: _,
            attachment_ids: _,
            attachment_generation: _,
            reserved_attachments: _,
            tearable: _,
        } = self;
        for values in [positions, velocities, rest_positions] {
            *values = numbering.arrange(values);
        }
        *inverse_masses = numbering.arrange(inverse_masses);
        *pinned = numbering.arrange(pinned);
        *particle_contacts = numbering.arrange(particle_contacts);
        *contact_scales = numbering.arrange(contact_scales);
        let rename = |particle: &mut u32| numbering.rename(particle);
        triangles.iter_mut().flatten().for_each(rename);
        cord_edges.iter_mut().flatten().for_each(rename);
        followers.iter_mut().flat_map(|follower| &mut follower.sources).for_each(rename);
        attachments.iter_mut().for_each(|attachment| attachment.rename(rename));
        constraints.iter_mut().for_each(|set| set.rename(rename));
        skinned.rename(rename);
        let renamed = |([a, b], strain): ([u32; 2], f32)| {
            let [a, b] = [a, b].map(|particle| numbering.now[particle as usize]);
            ([a.min(b), a.max(b)], strain)
        };
        *tear_strains = std::mem::take(tear_strains).into_iter().map(renamed).collect();
        numbering
    }

    /// The body of each particle that may be renumbered, otherwise [`FIXED`].
    fn owners(&self) -> Vec<u32> {
        let mut owners = vec![FIXED; self.positions.len()];
        for (index, body) in (0..).zip(&self.bodies) {
            owners[body.start as usize..body.end as usize].fill(index);
        }
        // A tethered range must contain the same particles afterwards.
        for own in self.tethered_bodies.iter().map(|tethered| &tethered.particles) {
            let body = self.bodies.get(owners[own.start as usize] as usize);
            if body.is_some_and(|body| body != own && body.start <= own.start && own.end <= body.end) {
                owners[own.start as usize..own.end as usize].fill(FIXED);
            }
        }
        for grid in &self.grids {
            owners[grid.first as usize..][..grid.columns as usize * grid.rows as usize].fill(FIXED);
        }
        self.followers.iter().for_each(|follower| owners[follower.particle as usize] = FIXED);
        for cloth in &self.tearable {
            owners[cloth.copies.start as usize..cloth.copies.end as usize].fill(FIXED);
        }
        owners
    }
}

/// Adjacency of particles by constraints within a body.
struct Links {
    offsets: Vec<u32>,
    others: Vec<u32>,
}

impl Links {
    fn new(scene: &Scene, owners: &[u32]) -> Self {
        // Groups are skipped, because they connect all their members.
        let kinds = scene.constraints.iter().filter(|set| !set.info.is_group());
        let records = kinds.flat_map(|set| set.records().map(|record| &record[..set.info.point_count()]));
        let pairs = records.flat_map(|particles| particles.windows(2).map(|pair| [pair[0], pair[1]]));
        let owner = |particle: u32| owners[particle as usize];
        let within = pairs.filter(|&[a, b]| owner(a) == owner(b) && owner(a) != FIXED);
        let both: Vec<(u32, u32)> = within.flat_map(|[a, b]| [(a, b), (b, a)]).collect();
        let (offsets, others) = grouped(owners.len(), both.into_iter());
        Self { offsets, others }
    }

    fn of(&self, particle: u32) -> &[u32] {
        &self.others[self.offsets[particle as usize] as usize..self.offsets[particle as usize + 1] as usize]
    }

    fn numbering(&self, owners: &[u32], bodies: &[Range<u32>]) -> Numbering {
        let mut now: Vec<u32> = (0..owners.len() as u32).collect();
        let [mut reached, mut placed] = [vec![false; owners.len()], vec![false; owners.len()]];
        for body in bodies {
            let places: Vec<u32> = body.clone().filter(|&particle| owners[particle as usize] != FIXED).collect();
            let (mut found, mut order) = (Vec::new(), Vec::with_capacity(places.len()));
            for &particle in &places {
                if !reached[particle as usize] {
                    found.clear();
                    self.walk(particle, &mut reached, &mut found);
                    // The last particle found is at an end of the component.
                    self.walk(found[found.len() - 1], &mut placed, &mut order);
                }
            }
            let before = self.spread(&places, &now);
            places.iter().zip(&order).for_each(|(&place, &particle)| now[particle as usize] = place);
            if 4 * self.spread(&places, &now) > 3 * before {
                places.iter().for_each(|&particle| now[particle as usize] = particle);
            }
        }
        Numbering { now }
    }

    /// Appends the component of a particle in breadth-first order.
    fn walk(&self, from: u32, seen: &mut [bool], found: &mut Vec<u32>) {
        let mut next = found.len();
        seen[from as usize] = true;
        found.push(from);
        while let Some(&particle) = found.get(next) {
            for &other in self.of(particle) {
                if !std::mem::replace(&mut seen[other as usize], true) {
                    found.push(other);
                }
            }
            next += 1;
        }
    }

    /// The sum of index distances over all connections.
    fn spread(&self, particles: &[u32], now: &[u32]) -> u64 {
        let place = |particle: u32| now[particle as usize];
        let apart = |a: u32, b: u32| u64::from(place(a).abs_diff(place(b)));
        particles.iter().flat_map(|&a| self.of(a).iter().map(move |&b| apart(a, b))).sum()
    }
}
