//! Tears: which edges tear, and the vertices that they split.
//!
//! Both backends read the positions back and call [`Controls::tear`] on the host, so they tear the same edges. In a call
//!
//! 1. Each end of a tear advances by the most overloaded edge at it, if its overload is at least 1.
//! 2. In a cloth without such an end the most overloaded edge starts a tear.
//! 3. The triangles around each end of these edges form *fans*, which are joined by whole edges. The first one keeps the
//!    particle, each further one gets a copy. Its mass is divided by the area of the fans.
//!
//! An edge whose tear would cut off a piece of fewer than [`SMALLEST`] triangles stays whole.

mod checkpoint;

use crate::collision::ContactScale;
use crate::error::{Error, Result};
use crate::geometry::{root, unite};
use crate::scene::{Scene, TetherGraph};
use crate::schedule::contacts::ContactElements;
use crate::schedule::rings::Rings;
use crate::schedule::tearing::{NONE, TearMesh, at};
use crate::settings::{Settings, Sweep};
use crate::sim::controls::Controls;
use std::collections::BTreeMap;

/// Minimum number of triangles of a piece: a tear does not crumble the cloth at its ends.
const SMALLEST: usize = 8;

/// The edges that have torn, and the vertices that were added, in one call of [`crate::Solver::tear`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tears {
    /// The torn edges, by the vertices that they had at first, the lower one first.
    pub edges: Vec<[u32; 2]>,
    /// A particle, and the new particle that is a copy of it, for each fan of triangles that was split off.
    pub copies: Vec<[u32; 2]>,
    /// Edges that stay whole because [`crate::scene::Tearing::copies`] are used up.
    pub refused: u32,
}

/// Positions to find tears in, from [`crate::Solver::request_tears`].
#[derive(Debug, Clone)]
pub struct TearRequest {
    pub(crate) positions: Vec<[f32; 3]>,
    pub(crate) generation: u32,
}

/// `Ok` if the settings allow the tearable cloths of a scene.
pub(crate) fn check_tearing(scene: &Scene, settings: &Settings) -> Result<()> {
    if scene.tearable.is_empty() || settings.sweep == Sweep::GaussSeidel {
        return Ok(());
    }
    Err(Error::NotEnabled { what: "Fabric::tearing", needed: "Settings::sweep = Sweep::GaussSeidel" })
}

/// The tears so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct TearState {
    /// By edge.
    pub(super) broken: Vec<bool>,
    /// The inverse masses of vertices before they were split.
    pub(super) masses: BTreeMap<u32, f32>,
    /// The number of changes of the mesh.
    pub generation: u32,
}

impl TearState {
    pub fn new(mesh: Option<&TearMesh>) -> Self {
        Self { broken: vec![false; mesh.map_or(0, |mesh| mesh.edges.len())], ..Self::default() }
    }

    pub(crate) fn is_torn(&self) -> bool {
        self.broken.contains(&true)
    }

    /// Restores a scene to its state before any tear; the initial positions never change.
    fn restore(&self, mesh: &TearMesh, scene: &mut Scene) {
        scene.triangles.clone_from(&mesh.triangles);
        // Includes copies that were split; the loop sets their mass to 0.
        self.masses.iter().for_each(|(&vertex, &inverse)| scene.inverse_masses[vertex as usize] = inverse);
        for reserve in &mesh.reserve {
            if scene.is_in_reserve(reserve.particle) {
                continue;
            }
            let copy = reserve.particle as usize;
            scene.inverse_masses[copy] = 0.0;
            scene.rest_positions[copy] = reserve.rest_position;
            scene.particle_contacts[copy] = reserve.contact;
            if let Some(scale) = scene.contact_scales.get_mut(copy) {
                *scale = reserve.contact_scale.unwrap_or(ContactScale::default().pack());
            }
        }
        scene.tearable.iter_mut().for_each(|cloth| cloth.used = 0);
    }
}

/// A scene while edges are being torn.
struct Tearer<'a> {
    mesh: &'a TearMesh,
    state: &'a mut TearState,
    scene: &'a mut Scene,
}

impl Tearer<'_> {
    /// The places around a particle, and the fan of each, numbered from 0 in the order of their places.
    fn fans(&self, vertex: u32, particle: u32) -> (Vec<u32>, Vec<u32>) {
        let triangles = &self.scene.triangles;
        let places: Vec<u32> =
            self.mesh.corners(vertex).iter().copied().filter(|&place| at(triangles, place) == particle).collect();
        let mut parents: Vec<u32> = (0..places.len() as u32).collect();
        let index_of = |triangle: u32| places.iter().position(|place| place / 3 == triangle);
        for &place in &places {
            let before = place / 3 * 3 + (place + 2) % 3;
            for edge in [self.mesh.side(place), self.mesh.side(before)] {
                if edge == NONE || self.state.broken[edge as usize] {
                    continue;
                }
                let [first, second] = self.mesh.edges[edge as usize].inner.places.map(|places| index_of(places[0] / 3));
                if let (Some(first), Some(second)) = (first, second) {
                    unite(&mut parents, first as u32, second as u32);
                }
            }
        }
        let mut roots = Vec::new();
        let fans = (0..places.len() as u32).map(|index| {
            let own = root(&mut parents, index);
            roots.iter().position(|known| *known == own).unwrap_or_else(|| {
                roots.push(own);
                roots.len() - 1
            }) as u32
        });
        let fans = fans.collect();
        (places, fans)
    }

    /// The particles at an end of an edge in both triangles.
    fn sides(&self, edge: usize, end: usize) -> [u32; 2] {
        self.mesh.edges[edge].inner.places.map(|places| at(&self.scene.triangles, places[end]))
    }

    /// True if the tear of an edge would cut off a piece of fewer than [`SMALLEST`] triangles.
    fn isolates(&self, torn: usize) -> bool {
        self.mesh.edges[torn].inner.places.iter().any(|[from, _]| {
            let (mut piece, mut next) = (vec![from / 3], 0);
            while next < piece.len() && piece.len() < SMALLEST {
                for corner in 3 * piece[next]..3 * piece[next] + 3 {
                    let edge = self.mesh.opposite[corner as usize];
                    if edge == NONE || edge as usize == torn || self.state.broken[edge as usize] {
                        continue;
                    }
                    let sides = self.mesh.edges[edge as usize].inner.places.map(|places| places[0] / 3);
                    let other = if sides[0] == piece[next] { sides[1] } else { sides[0] };
                    if !piece.contains(&other) {
                        piece.push(other);
                    }
                }
                next += 1;
            }
            piece.len() < SMALLEST
        })
    }

    /// The edge with the greatest overload of at least 1 that may tear.
    fn most_overloaded(&self, edges: impl Iterator<Item = usize>, positions: &[[f32; 3]]) -> Option<usize> {
        let mut best = (1.0, None);
        for edge in edges {
            let own = &self.mesh.edges[edge];
            if self.state.broken[edge] || own.strain == f64::INFINITY {
                continue;
            }
            let overload = own.overload(&self.scene.triangles, positions);
            if (overload > best.0 || best.1.is_none() && overload == best.0) && !self.isolates(edge) {
                best = (overload, Some(edge));
            }
        }
        best.1
    }

    /// The edges that tear next.
    fn choose(&self, positions: &[[f32; 3]]) -> Vec<usize> {
        let mut chosen = Vec::new();
        for own in &self.mesh.edges_of {
            let before = chosen.len();
            for edge in own.clone().filter(|&edge| self.state.broken[edge]) {
                for end in 0..2 {
                    let [particle, other] = self.sides(edge, end);
                    if particle != other {
                        continue;
                    }
                    let (places, _) = self.fans(self.mesh.edges[edge].inner.ends[end], particle);
                    let around = places
                        .iter()
                        .flat_map(|&place| [self.mesh.side(place), self.mesh.side(place / 3 * 3 + (place + 2) % 3)]);
                    let around = around.filter(|&edge| edge != NONE).map(|edge| edge as usize);
                    chosen.extend(self.most_overloaded(around, positions));
                }
            }
            if chosen.len() == before {
                chosen.extend(self.most_overloaded(own.clone(), positions));
            }
        }
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// Tears an edge, and splits the particles at its ends.
    fn tear(&mut self, edge: usize, cloth: usize, tears: &mut Tears) {
        if self.isolates(edge) {
            return;
        }
        self.state.broken[edge] = true;
        let ends = self.mesh.edges[edge].inner.ends;
        let particles = [0, 1].map(|end| self.sides(edge, end)[0]);
        let fans = [0, 1].map(|end| self.fans(ends[end], particles[end]));
        let more = |fans: &[u32]| fans.iter().max().copied().unwrap_or(0);
        let own = &self.scene.tearable[cloth];
        if more(&fans[0].1) + more(&fans[1].1) > own.copies.len() as u32 - own.used {
            self.state.broken[edge] = false;
            tears.refused += 1;
            return;
        }
        tears.edges.push(ends);
        for ((places, fans), particle) in fans.into_iter().zip(particles) {
            self.split((&places, &fans), particle, cloth, tears);
        }
    }

    fn split(&mut self, (places, fans): (&[u32], &[u32]), particle: u32, cloth: usize, tears: &mut Tears) {
        let count = fans.iter().max().map_or(0, |most| most + 1);
        if count < 2 {
            return;
        }
        let mut areas = vec![0.0; count as usize];
        for (place, fan) in places.iter().zip(fans) {
            areas[*fan as usize] += self.mesh.areas[*place as usize / 3];
        }
        let total: f64 = areas.iter().sum();
        let own = particle as usize;
        let scene = &mut *self.scene;
        let inverse = scene.inverse_masses[own];
        self.state.masses.entry(particle).or_insert(inverse);
        let share = |fan: u32| (f64::from(inverse) * total / areas[fan as usize]) as f32;
        scene.inverse_masses[own] = share(0);
        for fan in 1..count {
            let body = &mut scene.tearable[cloth];
            let copy = body.copies.start + body.used;
            body.used += 1;
            let index = copy as usize;
            scene.inverse_masses[index] = share(fan);
            scene.rest_positions[index] = scene.rest_positions[own];
            scene.particle_contacts[index] = scene.particle_contacts[own];
            if !scene.contact_scales.is_empty() {
                scene.contact_scales[index] = scene.contact_scales[own];
            }
            for (place, _) in places.iter().zip(fans).filter(|(_, own)| **own == fan) {
                scene.triangles[*place as usize / 3][*place as usize % 3] = copy;
            }
            tears.copies.push([particle, copy]);
        }
    }
}

impl Controls {
    /// `Ok` if a cloth can tear.
    pub fn check_tears(&self) -> Result<()> {
        if self.compiled.tearing.is_some() {
            return Ok(());
        }
        Err(Error::NotEnabled { what: "tear", needed: "a cloth with Fabric::tearing" })
    }

    /// True if particles collide with colliders or with one another.
    pub fn has_contacts(&self) -> bool {
        !self.colliders.is_empty() || self.settings.self_collision.is_some()
    }

    /// Tears the edges that are overloaded at the given positions. A copy has the pin and the target of its particle.
    pub fn tear(&mut self, positions: &[[f32; 3]]) -> Tears {
        let mut tears = Tears::default();
        let Self { compiled, scene, tears: state, .. } = self;
        let Some(mesh) = &compiled.tearing else { return tears };
        let mut tearer = Tearer { mesh, state, scene };
        for edge in tearer.choose(positions) {
            let cloth = mesh.edges_of.iter().position(|own| own.contains(&edge)).unwrap_or(0);
            tearer.tear(edge, cloth, &mut tears);
        }
        if tears.edges.is_empty() {
            return tears;
        }
        self.tears.generation = self.tears.generation.wrapping_add(1);
        for &[particle, copy] in &tears.copies {
            let is_pinned = self.inverse_masses[particle as usize] == 0.0;
            for index in [particle as usize, copy as usize] {
                self.inverse_masses[index] = if is_pinned { 0.0 } else { self.scene.inverse_masses[index] };
            }
            self.remove_target(copy);
            let target = self.target_of.get(&particle).map(|&place| self.targets[place].position);
            if let Some(position) = target {
                self.put_target(copy, position);
            }
        }
        self.renew_torn();
        self.list_pins();
        self.make_plan();
        if self.has_tethered_tearable_cloth() {
            let Self { tether_graph, inverse_masses, scene, .. } = self;
            let is_pinned = |particle: u32| inverse_masses[particle as usize] == 0.0 && !scene.is_in_reserve(particle);
            self.tether_rows = tether_graph.tie(is_pinned);
        }
        tears
    }

    /// Restores the scene before any tear.
    pub fn mend(&mut self) {
        let Some(mesh) = &self.compiled.tearing else { return };
        // Requests from before have no effect.
        let generation = self.tears.generation.wrapping_add(1);
        if self.tears.is_torn() {
            self.tears.restore(mesh, &mut self.scene);
            self.tears = TearState { generation, ..TearState::new(Some(mesh)) };
            self.renew_torn();
        }
        self.tears.generation = generation;
    }

    /// Reschedules the constraints. A schedule is that of the scene before any tear and any change of masses.
    pub fn reschedule(&mut self, settings: &Settings) -> Result<()> {
        let changed = self.tears.is_torn() || self.scene.inverse_masses != self.scheduled_masses;
        let original = changed.then(|| {
            let mut scene = self.untorn_scene().into_owned();
            scene.inverse_masses.clone_from(&self.scheduled_masses);
            scene
        });
        self.compiled.reschedule(original.as_ref().unwrap_or(&self.scene), settings)?;
        if let Some(mesh) = self.compiled.tearing.as_ref().filter(|_| self.tears.is_torn()) {
            mesh.write_bound(&mut self.compiled.kinds, &self.scene);
        }
        Ok(())
    }

    fn has_tethered_tearable_cloth(&self) -> bool {
        let cloths = &self.scene.tearable;
        let has = |first: u32| cloths.iter().any(|cloth| cloth.vertices.start == first);
        self.scene.tethered_bodies.iter().any(|body| has(body.particles.start))
    }

    /// Computes what depends on the triangles again: records, rings, contact elements, paths of tethers, seams.
    pub(super) fn renew_torn(&mut self) {
        let Self { compiled, scene, .. } = self;
        if let Some(mesh) = &compiled.tearing {
            mesh.write_bound(&mut compiled.kinds, scene);
        }
        // No particle has more triangles than before.
        compiled.rings = Rings::new(&scene.triangles, scene.particle_count()).unwrap_or_default();
        compiled.contact_elements = ContactElements::new(scene);
        if self.has_tethered_tearable_cloth() {
            self.tether_graph = TetherGraph::new(&self.scene);
        }
        self.renew_seams();
    }

    /// The scene before any tear.
    pub(super) fn untorn_scene(&self) -> std::borrow::Cow<'_, Scene> {
        let mut scene = std::borrow::Cow::Borrowed(&self.scene);
        if let Some(mesh) = self.compiled.tearing.as_ref().filter(|_| self.tears.is_torn()) {
            self.tears.restore(mesh, scene.to_mut());
        }
        scene
    }
}
