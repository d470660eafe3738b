//! Trees: the links of crowded particles, solved as one linear system.
//!
//! A *link* is a constraint between two particles. In one Gauss-Seidel sweep per substep, the constraint errors change
//! by a linear map. If several rigid links share one particle, this map has complex eigenvalues, and the velocity
//! update adds energy. Six parallel links between equal masses are sufficient, or three if the shared particle has a
//! tenth of the mass of its neighbours. Such a particle is a *hub*. Hubs that are connected by links without a cycle form
//! a *tree*, which is solved exactly. In a mesh, where links form cycles, each hub and its links are a tree of depth one.
//!
//! ```text
//! (M + K) Δx = Jᵀ Δλ,   J Δx + α̃/(1 + γ) Δλ = b,   b = ω (−C − α̃ λ − γ J (x − x_prev))/(1 + γ)
//! ```
//!
//! ω is the relaxation. K is the geometric stiffness of the links (Tournier, Nesme, Gilles, Faure 2015, *Stable Constrained Dynamics*). It is
//! k P between both ends. P = I − n nᵀ and k = |λ|/L, with the length L and the stored λ. In the first
//! iteration, this λ is that of the last substep. Without K, a light particle
//! between two links that are nearly in line moves far aside.
//!
//! The elimination starts at the leaves (Baraff 1996, *Linear-Time Dynamics using Lagrange Multipliers*). Particle c has
//! the mass A = m I plus the contributions of its own links, and the impulse g. Let V = (A + k P)⁻¹, q = V n,
//! s = α̃/(1 + γ) + n·q and r = n − k P q. The link from c to its parent adds
//!
//! ```text
//! k P − k² P V P + r rᵀ/s to A of the parent,   k P V g + r (b + q·g)/s to its g.
//! ```
//!
//! From the root on, Δλ = (b + q·g − r·Δx_parent)/s and Δx = V (g + k P Δx_parent − n Δλ).
//!
//! A link of rest length 0 keeps two particles at one point (a weld). Its C is the vector x_parent − x_child, since n has no
//! meaning where both coincide. With S = V + α̃/(1 + γ) I it adds S⁻¹ to A of the parent, S⁻¹ (b n + V g) to its g, and
//! ΔΛ = S⁻¹ (b n + V g − Δx_parent), Δx = V (g − ΔΛ).
//!
//! A leaf with constraints outside of its tree counts with half of its mass, because they move it too; with its full
//! mass, meshes gain energy. All leaves of trees of depth one do. If n > 2 of these trees have three or more leaves in
//! common, they count their leaves with 1/n. See `docs/decisions/0001-trees.md`.

mod surface;

use crate::geometry::grouped;
use crate::scene::{ConstraintSet, Scene};
use crate::schedule::coloring::{Coloring, Span};
use glam::DVec3;
use std::collections::VecDeque;
use surface::{Surface, in_grid};

/// Least factor on the inverse mass of a leaf that other constraints move too.
const LEAF_FACTOR: u32 = 2;

/// Number of common leaves from which two trees are parallel: in a mesh, two hubs have at most two.
const PARALLEL: usize = 3;

/// Minimum of s as a share of the parent's inverse mass: keeps the system with rigid links to pinned particles solvable
/// in `f32`.
pub(crate) const LEAST_LEAF: f32 = 1e-4;

/// Most solves of a tree per projection.
pub(crate) const ROUNDS: u32 = 3;

/// A tree is solved again with a larger K if the square of a shift across a link exceeds this part of the largest L |b|.
pub(crate) const MOST_TURN: f32 = 0.2;

/// Substep \[s\] that scales compliances here. The schedule is independent of the current settings.
const SUBSTEP: f64 = crate::settings::DEFAULT_SUBSTEP;

/// Threshold of the *crowding* Σ w_h/(w_h + wᵢ + α̃ᵢ): above it, a particle can gain energy when its links become
/// parallel. It is 3 in a mesh of six rigid links per particle.
const CROWDED: f64 = 4.1;

/// Threshold of the largest eigenvalue of Σ w_h/(w_h + wᵢ + α̃ᵢ) nᵢ nᵢᵀ: above it, a particle gains energy at once. It
/// is 1.5 in a mesh of equilateral triangles. Links outside of triangles count as parallel.
const ALIGNED: f64 = 2.2;

/// Crowding of a particle of at least [`FEWEST_LINKS`] links from which a branch of links without cycles is a tree. It is
/// 1.5 in a branch of three rigid links between equal masses.
const BRANCHED: f64 = 1.2;

/// Minimum crowding of a hub near a crowded or aligned particle. It is 1 in a chain of equal masses.
const HUB_CROWDING: f64 = 1.5;

/// Maximum number of links between a hub and the nearest crowded or aligned particle.
const REACH: u32 = 4;

/// Minimum number of links of a tree: two form a chain, which gains no energy.
const FEWEST_LINKS: usize = 3;

/// Maximum number of links of a tree, which one thread solves. Particles with more are hubs of
/// `src/schedule/coloring.rs`.
const MOST_LINKS: usize = 1024;

/// Parent of a link at the root.
pub(crate) const ROOT: u32 = u32::MAX;

/// The trees of a kind with two particles.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trees {
    /// The links, tree by tree, parents first, in the order of their records.
    pub order: Vec<u32>,
    /// Per tree: root, first record, number of links, first entry of `nodes`.
    pub rows: Vec<[u32; 4]>,
    /// Per link: its child, the number of the link above it within the tree or [`ROOT`], the factor on the inverse mass of
    /// the child.
    pub nodes: Vec<[u32; 4]>,
    /// The rows of each colour; trees of a colour share no particle.
    pub colors: Vec<Span>,
    /// The records of each colour.
    pub records: Vec<Span>,
}

/// A tree of links.
struct Tree {
    root: u32,
    /// Parents first.
    links: Vec<u32>,
    nodes: Vec<[u32; 4]>,
}

impl Trees {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Appends trees of further colours, whose records come after those of `self`.
    pub fn extend(&mut self, more: Self) {
        let (first, node) = (self.rows.len() as u32, self.nodes.len() as u32);
        let colors = more.colors.iter().map(|span| Span { first: first + span.first, count: span.count });
        self.colors.extend(colors);
        self.rows.extend(more.rows.iter().map(|&[root, record, count, first]| [root, record, count, node + first]));
        self.nodes.extend(more.nodes);
        self.order.extend(more.order);
        self.records.extend(more.records);
    }

    /// Finds the trees of a set, except constraints in `taken`. Their records begin at `first_record`.
    pub fn new(set: &ConstraintSet, scene: &Scene, first_record: u32, taken: &[u32]) -> Self {
        if set.info.arity != 2 || set.info.orientations > 0 || set.len() < FEWEST_LINKS {
            return Self::default();
        }
        let Some(links) = Links::new(set, scene, taken) else { return Self::default() };
        let found = links.trees();
        let (mut particles, mut offsets) = (Vec::new(), vec![0]);
        for tree in &found {
            particles.push(tree.root);
            particles.extend(tree.nodes.iter().map(|node| node[0]));
            offsets.push(particles.len());
        }
        let coloring = Coloring::greedy_groups(&particles, &offsets, scene.particle_count());
        // Trees without a colour are solved link by link.
        let colored = coloring.order.len() - coloring.overflow.count as usize;
        let mut trees = Self { colors: coloring.colors.clone(), ..Self::default() };
        for &tree in &coloring.order[..colored] {
            let Tree { root, links, nodes } = &found[tree as usize];
            let first = trees.order.len() as u32;
            trees.rows.push([*root, first_record + first, links.len() as u32, first]);
            trees.order.extend(links);
            trees.nodes.extend(nodes);
        }
        for color in &trees.colors {
            let rows = &trees.rows[color.range()];
            let count = rows.iter().map(|row| row[2]).sum();
            trees.records.push(Span { first: rows[0][1], count });
        }
        trees
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
    /// The links that may belong to trees; `None` if there are too few for one tree.
    fn new(set: &'a ConstraintSet, scene: &'a Scene, taken: &[u32]) -> Option<Self> {
        let mut is_left = vec![true; set.len()];
        taken.iter().for_each(|&link| is_left[link as usize] = false);
        let ends_of = |link: u32| [0, 1].map(|k| set.entities_of(link)[k]);
        let mut candidates: Vec<u32> = (0..set.len() as u32)
            .filter(|&link| is_left[link as usize] && !in_grid(&scene.grids, ends_of(link)))
            .collect();
        // Scenes of grids return here, before the neighbours are computed.
        if candidates.len() < FEWEST_LINKS {
            return None;
        }
        let surface = Surface::new(scene);
        candidates.retain(|&link| {
            let [a, b] = ends_of(link);
            !surface.bends(a, b)
        });
        let ends =
            candidates.iter().flat_map(|&link| set.entities_of(link).iter().map(move |&particle| (particle, link)));
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

    /// By particle, true if it is within [`REACH`] links of a seed.
    fn near(&self, is_seed: impl Fn(u32) -> bool) -> Vec<bool> {
        let count = self.scene.particle_count() as u32;
        let mut near = vec![false; count as usize];
        let mut queue: VecDeque<(u32, u32)> =
            (0..count).filter(|&particle| is_seed(particle)).map(|particle| (particle, 0)).collect();
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

    /// Finds trees from the most crowded hub on; each link belongs to at most one.
    fn trees(&self) -> Vec<Tree> {
        let count = self.scene.particle_count() as u32;
        let crowding: Vec<f64> = (0..count).map(|particle| self.crowding(particle, self.around(particle))).collect();
        let mut hubs: Vec<u32> = (0..count).collect();
        hubs.sort_by(|&a, &b| crowding[b as usize].total_cmp(&crowding[a as usize]));
        let mut is_free = vec![true; self.set.len()];
        let is_branched =
            |particle: u32| crowding[particle as usize] > BRANCHED && self.around(particle).len() >= FEWEST_LINKS;
        let mut trees = self.without_cycles(&hubs, &self.near(is_branched), &mut is_free);
        let near = self.near(|particle| self.pumps_energy(particle, crowding[particle as usize]));
        hubs.retain(|&hub| near[hub as usize] && crowding[hub as usize] > HUB_CROWDING);
        trees.extend(self.of_depth_one(&hubs, is_free));
        trees
    }

    /// True if a particle is crowded or aligned.
    fn pumps_energy(&self, particle: u32, crowding: f64) -> bool {
        // The largest eigenvalue is at most the trace.
        let may = crowding > ALIGNED;
        crowding > CROWDED || may && (self.alignment(particle) > ALIGNED || self.loose_crowding(particle) > ALIGNED)
    }

    /// The components of the links of hubs that have no cycle.
    fn without_cycles(&self, hubs: &[u32], is_hub: &[bool], is_free: &mut [bool]) -> Vec<Tree> {
        // By particle, the link above it; None if no tree has reached it.
        let mut above: Vec<Option<u32>> = vec![None; is_hub.len()];
        let mut trees = Vec::new();
        for &root in hubs {
            if !is_hub[root as usize] || above[root as usize].is_some() {
                continue;
            }
            above[root as usize] = Some(ROOT);
            let (mut links, mut nodes, mut has_cycle) = (Vec::new(), Vec::new(), false);
            let mut queue = VecDeque::from([(root, ROOT, ROOT)]);
            while let Some((particle, number, from)) = queue.pop_front() {
                for &link in self.around(particle).iter().filter(|&&link| link != from) {
                    let other = self.other(link, particle);
                    if !is_hub[particle as usize] && !is_hub[other as usize] {
                        continue;
                    }
                    if above[other as usize].is_some() {
                        has_cycle = true;
                        continue;
                    }
                    above[other as usize] = Some(link);
                    queue.push_back((other, links.len() as u32, link));
                    links.push(link);
                    nodes.push([other, number, 1, 0]);
                }
            }
            if !has_cycle && (FEWEST_LINKS..=MOST_LINKS).contains(&links.len()) {
                links.iter().for_each(|&link| is_free[link as usize] = false);
                trees.push(Tree { root, links, nodes });
            }
        }
        self.set_factors(&mut trees, is_hub);
        trees
    }

    /// Sets the factors of the leaves of trees: [`LEAF_FACTOR`] if a constraint outside of the tree moves them.
    fn set_factors(&self, trees: &mut [Tree], is_hub: &[bool]) {
        if trees.is_empty() {
            return;
        }
        let mut constraints = vec![0u32; is_hub.len()];
        for set in &self.scene.constraints {
            (0..set.len() as u32).flat_map(|index| set.points_of(index)).for_each(|&at| constraints[at as usize] += 1);
        }
        for tree in trees {
            for &[child, parent, ..] in &tree.nodes {
                constraints[child as usize] -= 1;
                let parent = if parent == ROOT { tree.root } else { tree.nodes[parent as usize][0] };
                constraints[parent as usize] -= 1;
            }
            for node in &mut tree.nodes {
                let is_outside = !is_hub[node[0] as usize] && constraints[node[0] as usize] > 0;
                node[2] = if is_outside { LEAF_FACTOR } else { 1 };
            }
        }
    }

    /// The hubs of cycles, each with its links that are still free.
    fn of_depth_one(&self, hubs: &[u32], mut is_free: Vec<bool>) -> Vec<Tree> {
        let mut trees = Vec::new();
        for &hub in hubs {
            let links: Vec<u32> = self.around(hub).iter().copied().filter(|&link| is_free[link as usize]).collect();
            let fits = (FEWEST_LINKS..=MOST_LINKS).contains(&links.len());
            if fits && self.crowding(hub, &links) > HUB_CROWDING && !self.names_one_leaf_twice(hub, &links) {
                links.iter().for_each(|&link| is_free[link as usize] = false);
                let nodes = links.iter().map(|&link| [self.other(link, hub), ROOT, 0, 0]).collect();
                trees.push(Tree { root: hub, links, nodes });
            }
        }
        set_parallel(&mut trees, self.scene.particle_count());
        trees
    }

    /// True if two of the links have the same leaf: it would get two corrections at once.
    fn names_one_leaf_twice(&self, hub: u32, links: &[u32]) -> bool {
        let mut leaves: Vec<u32> = links.iter().map(|&link| self.other(link, hub)).collect();
        leaves.sort_unstable();
        leaves.windows(2).any(|pair| pair[0] == pair[1])
    }
}

/// Sets the factors of trees of depth one: the number of trees parallel to it, itself included, but at least
/// [`LEAF_FACTOR`]. As in mass splitting, a leaf of n parallel trees counts with 1/n of its mass in each.
fn set_parallel(trees: &mut [Tree], particle_count: usize) {
    let pairs = (0..).zip(&*trees).flat_map(|(number, tree)| tree.nodes.iter().map(move |node| (node[0], number)));
    let (first, of_leaf) = grouped(particle_count, pairs);
    let mut common = vec![0; trees.len()];
    for tree in trees {
        let others = || {
            let around =
                |node: &[u32; 4]| &of_leaf[first[node[0] as usize] as usize..first[node[0] as usize + 1] as usize];
            tree.nodes.iter().flat_map(around).map(|&other: &u32| other as usize)
        };
        others().for_each(|other| common[other] += 1);
        let mut parallel = 0;
        for other in others() {
            parallel += u32::from(std::mem::take(&mut common[other]) >= PARALLEL);
        }
        tree.nodes.iter_mut().for_each(|node| node[2] = parallel.max(LEAF_FACTOR));
    }
}

#[cfg(test)]
mod tests;
