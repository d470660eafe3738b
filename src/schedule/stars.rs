//! Stars: the links of a crowded particle, solved as one linear system.
//!
//! A *link* is a constraint between two particles. In one Gauss-Seidel sweep per substep, the constraint errors change
//! by a linear map. If several rigid links share one particle, this map has complex eigenvalues, and the velocity
//! update adds energy. Six parallel links between equal masses are sufficient, or three if the shared particle has a
//! tenth of the mass of its neighbours. The shared particle, the *hub*, and its links form a *star*, which is solved
//! exactly:
//!
//! ```text
//! (D + w_h N Nᵀ) Δλ = b,   Dᵢ = 2 wᵢ + α̃ᵢ/(1 + γᵢ),   bᵢ = (−Cᵢ − α̃ᵢ λᵢ − γᵢ ∇Cᵢ·(x − x_prev))/(1 + γᵢ)
//! ```
//!
//! The rows of N are the unit gradients nᵢ at the hub; w_h and wᵢ are the inverse masses of the hub and of leaf i. The
//! Woodbury identity reduces it to a symmetric 3 × 3 system: (I + w_h Σ nᵢ nᵢᵀ/Dᵢ) y = Σ nᵢ bᵢ/Dᵢ, then Δλᵢ = (bᵢ − w_h
//! nᵢ·y)/Dᵢ. A leaf counts with half of its mass, because links outside of the star move it too; with its full mass,
//! meshes gain energy. The factor is n instead of 2 if n > 2 stars have the same leaves. See `docs/decisions/0001-stars.md`.
//!
//! Links that are nearly in line move a light hub far aside. A shift s across a link of length L stretches it by s²/(2 L). If this exceeds every
//! violation, s² > 2 L |b|, the corrections of the star are scaled down to that bound.

mod surface;

use crate::geometry::grouped;
use crate::scene::{ConstraintSet, Scene};
use crate::schedule::coloring::{Coloring, Span};
use glam::DVec3;
use std::collections::VecDeque;
use surface::{Surface, in_grid};

/// Least factor on a leaf's inverse mass in D if the hub can move.
const LEAF_FACTOR: u32 = 2;

/// Number of common leaves from which two stars are parallel: in a mesh, two hubs have at most two.
const PARALLEL: usize = 3;

/// Minimum of D as a share of the hub's inverse mass: keeps the system with rigid links to pinned leaves solvable in
/// `f32`.
pub(crate) const LEAST_LEAF: f32 = 1e-4;

/// Substep \[s\] that scales compliances here: that of the default settings. The schedule is independent of the current
/// settings.
const SUBSTEP: f64 = 1.0 / 1200.0;

/// Threshold of the *crowding* Σ w_h/(w_h + wᵢ + α̃ᵢ): above it, a particle can gain energy when its links become
/// parallel. It is 3 in a mesh of six rigid links per particle.
const CROWDED: f64 = 4.1;

/// Threshold of the largest eigenvalue of Σ w_h/(w_h + wᵢ + α̃ᵢ) nᵢ nᵢᵀ: above it, a particle gains energy at once. It
/// is 1.5 in a mesh of equilateral triangles. Links outside of triangles count as parallel.
const ALIGNED: f64 = 2.2;

/// Minimum crowding of a hub near a crowded or aligned particle. It is 1 in a chain of equal masses.
const HUB_CROWDING: f64 = 1.5;

/// Maximum number of links between a hub and the nearest crowded or aligned particle.
const REACH: u32 = 4;

/// Minimum number of links of a star: two form a chain, which gains no energy.
const FEWEST_LINKS: usize = 3;

/// Maximum number of links of a star, which one thread solves. Particles with more are hubs of
/// `src/schedule/coloring.rs`.
const MOST_LINKS: usize = 1024;

/// The stars of a kind with two particles.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stars {
    /// The links, star by star, in the order of their records.
    pub order: Vec<u32>,
    /// Per star: hub, first record, number of links, leaf factor.
    pub rows: Vec<[u32; 4]>,
    /// The rows of each colour; stars of a colour share no particle.
    pub colors: Vec<Span>,
    /// The records of each colour.
    pub records: Vec<Span>,
}

/// A hub and its links.
struct Star {
    hub: u32,
    links: Vec<u32>,
}

impl Stars {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Appends stars of further colours, whose records come after those of `self`.
    pub fn extend(&mut self, more: Self) {
        let first = self.rows.len() as u32;
        let colors = more.colors.iter().map(|span| Span { first: first + span.first, count: span.count });
        self.colors.extend(colors);
        self.rows.extend(more.rows);
        self.order.extend(more.order);
        self.records.extend(more.records);
    }

    /// Finds the stars of a set, except constraints in `taken`. Their records begin at `first_record`.
    pub fn new(set: &ConstraintSet, scene: &Scene, first_record: u32, taken: &[u32]) -> Self {
        if set.info.arity != 2 || set.info.orientations > 0 || set.len() < FEWEST_LINKS {
            return Self::default();
        }
        let Some(links) = Links::new(set, scene, taken) else { return Self::default() };
        let found = links.stars();
        let (mut particles, mut offsets) = (Vec::new(), vec![0]);
        for star in &found {
            particles.push(star.hub);
            particles.extend(star.links.iter().map(|&link| links.other(link, star.hub)));
            offsets.push(particles.len());
        }
        let factors = leaf_factors(&particles, &offsets, scene.particle_count());
        let coloring = Coloring::greedy_groups(&particles, &offsets, scene.particle_count());
        // Stars without a colour are solved link by link.
        let colored = coloring.order.len() - coloring.overflow.count as usize;
        let mut stars = Self { colors: coloring.colors.clone(), ..Self::default() };
        for &star in &coloring.order[..colored] {
            let Star { hub, links } = &found[star as usize];
            let factor = factors[star as usize];
            stars.rows.push([*hub, first_record + stars.order.len() as u32, links.len() as u32, factor]);
            stars.order.extend(links);
        }
        for color in &stars.colors {
            let rows = &stars.rows[color.range()];
            let count = rows.iter().map(|row| row[2]).sum();
            stars.records.push(Span { first: rows[0][1], count });
        }
        stars
    }
}

/// The links of a set, except springs within a grid and bending springs across mesh edges: these gain no energy.
struct Links<'a> {
    set: &'a ConstraintSet,
    scene: &'a Scene,
    /// By particle, its links: offsets and links.
    offsets: Vec<u32>,
    of_particle: Vec<u32>,
    surface: Surface,
}

impl<'a> Links<'a> {
    /// The links that may belong to stars; `None` if there are too few for one star.
    fn new(set: &'a ConstraintSet, scene: &'a Scene, taken: &[u32]) -> Option<Self> {
        let mut is_left = vec![true; set.len()];
        taken.iter().for_each(|&link| is_left[link as usize] = false);
        let ends_of = |link: u32| [0, 1].map(|k| set.entities_of(link)[k]);
        let mut loose: Vec<u32> = (0..set.len() as u32)
            .filter(|&link| is_left[link as usize] && !in_grid(&scene.grids, ends_of(link)))
            .collect();
        // Scenes of grids return here, before the neighbours are computed.
        if loose.len() < FEWEST_LINKS {
            return None;
        }
        let surface = Surface::new(scene);
        loose.retain(|&link| {
            let [a, b] = ends_of(link);
            !surface.bends(a, b)
        });
        let ends = loose.iter().flat_map(|&link| set.entities_of(link).iter().map(move |&particle| (particle, link)));
        let (offsets, of_particle) = grouped(scene.particle_count(), ends);
        Some(Self { set, scene, offsets, of_particle, surface })
    }

    fn around(&self, particle: u32) -> &[u32] {
        &self.of_particle[self.offsets[particle as usize] as usize..self.offsets[particle as usize + 1] as usize]
    }

    /// The other particle of a link.
    fn other(&self, link: u32, particle: u32) -> u32 {
        let named = self.set.entities_of(link);
        if named[0] == particle { named[1] } else { named[0] }
    }

    /// Share of a link's correction that moves a particle: w/(w + w of the other + α̃). Pinned particles count with the
    /// mass that they have when released.
    fn share(&self, link: u32, particle: u32) -> f64 {
        let w = |particle: u32| f64::from(self.scene.inverse_masses[particle as usize]);
        let own = w(particle);
        let sum = own + w(self.other(link, particle)) + self.compliance(link) / (SUBSTEP * SUBSTEP);
        if own == 0.0 { 0.0 } else { own / sum }
    }

    /// Initial compliance of a link \[m/N\].
    fn compliance(&self, link: u32) -> f64 {
        let info = self.set.info;
        let material = self.set.words[link as usize * info.record_words + info.material_word()];
        f64::from(self.scene.materials[material as usize].compliance)
    }

    fn crowding(&self, particle: u32, links: &[u32]) -> f64 {
        links.iter().map(|&link| self.share(link, particle)).sum()
    }

    /// The crowding by links that are not edges of triangles. Such links can become parallel as the scene moves: then it
    /// is the largest eigenvalue.
    fn loose_crowding(&self, particle: u32) -> f64 {
        let edges = self.surface.around(particle);
        let is_loose = |link: &&u32| edges.binary_search(&self.other(**link, particle)).is_err();
        self.around(particle).iter().filter(is_loose).map(|&link| self.share(link, particle)).sum()
    }

    /// The largest eigenvalue of Σ share n nᵀ, by power iteration.
    fn alignment(&self, particle: u32) -> f64 {
        let at = |particle: u32| DVec3::from(self.scene.positions[particle as usize].map(f64::from));
        let towards = |&link: &u32| {
            (at(self.other(link, particle)) - at(particle)).normalize_or_zero() * self.share(link, particle).sqrt()
        };
        let directions: Vec<DVec3> = self.around(particle).iter().map(towards).collect();
        let apply = |v: DVec3| directions.iter().fold(DVec3::ZERO, |sum, &n| sum + n * n.dot(v));
        let mut v = DVec3::new(1.0, 0.7, 0.3).normalize();
        (0..20).for_each(|_| v = apply(v).normalize_or_zero());
        v.dot(apply(v))
    }

    /// By particle, true if it is within [`REACH`] links of a crowded or aligned one.
    fn candidates(&self, crowding: &[f64]) -> Vec<bool> {
        let count = crowding.len() as u32;
        let is_seed = |&particle: &u32| {
            let sum = crowding[particle as usize];
            // The largest eigenvalue is at most the trace.
            sum > CROWDED
                || sum > ALIGNED && (self.alignment(particle) > ALIGNED || self.loose_crowding(particle) > ALIGNED)
        };
        let mut near = vec![false; count as usize];
        let mut queue: VecDeque<(u32, u32)> = (0..count).filter(is_seed).map(|particle| (particle, 0)).collect();
        queue.iter().for_each(|&(particle, _)| near[particle as usize] = true);
        while let Some((particle, distance)) = queue.pop_front() {
            for &link in self.around(particle).iter().filter(|_| distance < REACH) {
                let other = self.other(link, particle);
                if !std::mem::replace(&mut near[other as usize], true) {
                    queue.push_back((other, distance + 1));
                }
            }
        }
        near
    }

    /// Builds stars in descending order of crowding; each link belongs to at most one.
    fn stars(&self) -> Vec<Star> {
        let count = self.scene.particle_count() as u32;
        let crowding: Vec<f64> = (0..count).map(|particle| self.crowding(particle, self.around(particle))).collect();
        let near = self.candidates(&crowding);
        let mut hubs: Vec<u32> = (0..count)
            .filter(|&particle| near[particle as usize] && crowding[particle as usize] > HUB_CROWDING)
            .collect();
        hubs.sort_by(|&a, &b| crowding[b as usize].total_cmp(&crowding[a as usize]));
        let mut is_free = vec![true; self.set.len()];
        let mut stars = Vec::new();
        for hub in hubs {
            let links: Vec<u32> = self.around(hub).iter().copied().filter(|&link| is_free[link as usize]).collect();
            let fits = (FEWEST_LINKS..=MOST_LINKS).contains(&links.len());
            if fits && self.crowding(hub, &links) > HUB_CROWDING && !self.names_one_leaf_twice(hub, &links) {
                links.iter().for_each(|&link| is_free[link as usize] = false);
                stars.push(Star { hub, links });
            }
        }
        stars
    }

    /// True if two of the links have the same leaf: it would get two corrections at once.
    fn names_one_leaf_twice(&self, hub: u32, links: &[u32]) -> bool {
        let mut leaves: Vec<u32> = links.iter().map(|&link| self.other(link, hub)).collect();
        leaves.sort_unstable();
        leaves.windows(2).any(|pair| pair[0] == pair[1])
    }
}

/// By star, the factor on the inverse masses of its leaves: the number of stars parallel to it, itself included, but at
/// least [`LEAF_FACTOR`]. As in mass splitting, a leaf of n parallel stars counts with 1/n of its mass in each.
fn leaf_factors(particles: &[u32], offsets: &[usize], particle_count: usize) -> Vec<u32> {
    let leaves = |star: usize| &particles[offsets[star] + 1..offsets[star + 1]];
    let count = offsets.len() - 1;
    let pairs = (0..count).flat_map(|star| leaves(star).iter().map(move |&leaf| (leaf, star as u32)));
    let (first, of_leaf) = grouped(particle_count, pairs);
    let mut common = vec![0; count];
    let factor = |star: usize| {
        let others = || {
            let around = |&leaf: &u32| &of_leaf[first[leaf as usize] as usize..first[leaf as usize + 1] as usize];
            leaves(star).iter().flat_map(around).map(|&other| other as usize)
        };
        others().for_each(|other| common[other] += 1);
        let mut parallel = 0;
        for other in others() {
            parallel += u32::from(std::mem::take(&mut common[other]) >= PARALLEL);
        }
        parallel.max(LEAF_FACTOR)
    };
    (0..count).map(factor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::{Kind, kind_index};
    use crate::{ClothGrid, ClothMesh, Distance, Fabric, Material, Particle};

    fn stars(scene: &Scene) -> Stars {
        Stars::new(&scene.constraints[kind_index(Distance::INFO)], scene, 0, &[])
    }

    /// Adds a particle with `links` rigid links to leaves; `ratio` is the mass of a leaf divided by its mass.
    fn knot(scene: &mut Scene, links: u32, ratio: f32) -> u32 {
        let hub = scene.add_particle(Particle::default()).unwrap();
        for k in 0..links {
            let (sin, cos) = (2.4 * k as f32).sin_cos();
            let leaf = Particle { position: [cos, 0.1, sin], inverse_mass: 1.0 / ratio, ..Particle::default() };
            let leaf = scene.add_particle(leaf).unwrap();
            let particles = if k % 2 == 0 { [hub, leaf] } else { [leaf, hub] };
            scene.add(Distance { particles, rest_length: 1.0 }, Material::RIGID).unwrap();
        }
        hub
    }

    #[test]
    fn cloth_has_no_stars() {
        let mut scene = Scene::new();
        scene.add_cloth_grid(&ClothGrid { columns: 12, rows: 9, ..ClothGrid::default() }).unwrap();
        // Equilateral triangles, with bending springs across their edges.
        let (columns, rows) = (9u32, 8u32);
        let place = |k: u32| [(k % columns) as f32 + 0.5 * (k / columns % 2) as f32, 0.0, 0.866 * (k / columns) as f32];
        let positions: Vec<_> = (0..columns * rows).map(place).collect();
        let cells = (0..columns * (rows - 1)).filter(|cell| cell % columns + 1 < columns);
        let triangles: Vec<[u32; 3]> = cells
            .flat_map(|a| {
                let [b, c, d] = [a + 1, a + columns, a + columns + 1];
                if a / columns % 2 == 0 { [[a, c, b], [b, c, d]] } else { [[a, d, b], [a, c, d]] }
            })
            .collect();
        let fabric = Fabric::default();
        scene
            .add_cloth_mesh(&ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers: None })
            .unwrap();
        assert!(stars(&scene).is_empty());
    }

    #[test]
    fn a_junction_is_one_star_if_it_has_many_links_or_is_light() {
        for (links, ratio, is_star) in
            [(4, 1.0, false), (9, 1.0, true), (5, 10.0, true), (5, 0.01, false), (1024, 1.0, true), (1025, 1.0, false)]
        {
            let mut scene = Scene::new();
            let hub = knot(&mut scene, links, ratio);
            let stars = stars(&scene);
            let expected: &[[u32; 4]] = if is_star { &[[hub, 0, links, 2]] } else { &[] };
            assert_eq!(stars.rows, expected, "{links} links, masses {ratio} : 1");
        }
    }

    #[test]
    fn soft_links_and_repeated_leaves_make_no_star() {
        let mut scene = Scene::new();
        let hub = scene.add_particle(Particle::default()).unwrap();
        let leaves: Vec<u32> = (0..12).map(|_| scene.add_particle(Particle::default()).unwrap()).collect();
        for &leaf in &leaves {
            scene.add(Distance { particles: [hub, leaf], rest_length: 1.0 }, Material::compliant(1e-3)).unwrap();
        }
        assert!(stars(&scene).is_empty());
        let hub = knot(&mut scene, 12, 1.0);
        scene.add(Distance { particles: [hub, hub + 1], rest_length: 1.0 }, Material::RIGID).unwrap();
        assert!(stars(&scene).is_empty());
    }

    #[test]
    fn stars_of_one_color_share_no_particle_and_links_are_in_one_star() {
        let mut scene = Scene::new();
        let hubs: Vec<u32> = (0..6).map(|_| knot(&mut scene, 10, 1.0)).collect();
        // A ring of hubs; each is also a leaf of the previous one.
        for k in 0..hubs.len() {
            let particles = [hubs[k], hubs[(k + 1) % hubs.len()]];
            scene.add(Distance { particles, rest_length: 1.0 }, Material::RIGID).unwrap();
        }
        let stars = stars(&scene);
        assert_eq!(stars.rows.len(), hubs.len());
        assert!(stars.colors.len() > 1);
        let set = &scene.constraints[kind_index(Distance::INFO)];
        let mut in_star = vec![false; set.len()];
        for (color, records) in stars.colors.iter().zip(&stars.records) {
            let mut named = vec![false; scene.particle_count()];
            let mut next = records.first;
            for &[hub, first, count, _] in &stars.rows[color.range()] {
                assert_eq!(first, next);
                next += count;
                let links = &stars.order[first as usize..next as usize];
                let leaves = links.iter().map(|&link| {
                    assert!(!std::mem::replace(&mut in_star[link as usize], true));
                    let ends = set.entities_of(link);
                    assert!(ends.contains(&hub));
                    if ends[0] == hub { ends[1] } else { ends[0] }
                });
                for particle in leaves.chain([hub]) {
                    assert!(!std::mem::replace(&mut named[particle as usize], true));
                }
            }
            assert_eq!(next, records.first + records.count);
        }
        assert!(in_star.iter().all(|&is_in| is_in));
    }
}
