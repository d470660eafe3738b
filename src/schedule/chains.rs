//! Chains: the constraints along a rod, solved as one linear system (Deul, Kugelstadt, Weiler, Bender 2018, *Direct
//! Position-Based Solver for Stiff Rods*).
//!
//! Gauss-Seidel sweeps carry a moment one segment further per sweep, so a stiff rod bends too much. A *chain* orders the
//! bend-twist and stretch-shear constraints of a rod from one end to the other (joint, segment, joint, segment).
//! Constraints that share a particle or an orientation are then at most two places apart, and
//!
//! ```text
//! (J W Jᵀ + α̃/(1 + γ)) Δλ = b,   b = (−C − α̃ λ − γ J (x − x_prev))/(1 + γ)
//! ```
//!
//! has two blocks of 3 × 3 beside its diagonal. A block LDLᵀ decomposition solves it exactly, in a time that is linear in
//! the number of constraints. Constraints that would couple farther, such as the closing joint of a ring, are not in a
//! chain and are projected by colours.
//!
//! The system is linear in Δλ, but the error of the constraints is quadratic in the rotation of a segment. If Δλ turns a
//! segment by more than [`MOST_ROTATION`], the chain is solved again with larger inertias of its frames, so that its
//! particles still satisfy stretch and shear. If that is not sufficient, all Δλ are scaled down. Otherwise a wire that is
//! bent far from its rest shape would gain energy until it flies apart.

use crate::constraints::{BendTwist, Kind, StretchShear, kind_index};
use crate::geometry::grouped;
use crate::scene::ConstraintSet;
use crate::schedule::coloring::{Coloring, Span};
use crate::schedule::compiled::MAX_LOOP;
use std::borrow::Cow;
use std::collections::HashMap;

/// The kinds of chains: joints, then segments.
pub(crate) fn chain_kinds() -> [usize; 2] {
    [kind_index(BendTwist::INFO), kind_index(StretchShear::INFO)]
}

/// Entities of a constraint that has fewer.
pub(crate) const NO_ENTITY: u32 = u32::MAX;

/// Bit of a link that is a segment.
pub(crate) const SEGMENT: u32 = 1 << 31;

/// Least α̃ of the decomposition, relative to the diagonal of J W Jᵀ. Below it, rounding errors exceed the pivots.
pub(crate) const LEAST_COMPLIANCE: f32 = 1e-5;

/// Largest rotation of a segment by one solve of its chain \[rad\].
pub(crate) const MOST_ROTATION: f32 = 0.3;

/// Most solves of a chain per projection.
pub(crate) const SOLVES: u32 = 3;

/// Least factor on the inverse inertias of frames: with still larger inertias, rods would gain energy.
pub(crate) const LEAST_INVERSE_INERTIA: f32 = 0.01;

/// Constraints of the shortest chain: fewer are coloured.
const FEWEST: usize = 3;

/// Constraints of the longest chain; a longer rod is several chains. One thread solves a chain: at most six iterations a link and solve, and one to
/// apply the corrections.
const MOST: usize = (MAX_LOOP / (6 * SOLVES as u64 + 1)) as usize;

/// The chains of a scene.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chains {
    /// By chain: first link, number of links.
    pub chains: Vec<[u32; 2]>,
    /// The chains of each colour, which share no entity.
    pub colors: Vec<Span>,
    /// By link: its record, with [`SEGMENT`], and its entities.
    pub links: Vec<[u32; 4]>,
    /// By kind of [`chain_kinds`]: the constraints in the order of their records.
    pub orders: [Vec<u32>; 2],
    /// By kind and record: the link.
    pub links_of: [Vec<u32>; 2],
    /// By kind, the records of each colour.
    pub records: [Vec<Span>; 2],
}

/// Finds chains along the joints of a set of rods.
struct Finder<'a> {
    sets: [&'a ConstraintSet; 2],
    /// By entity, the joints and the segment of its frame: offsets and constraints.
    joints: (Vec<u32>, Vec<u32>),
    segments: (Vec<u32>, Vec<u32>),
    /// By kind and constraint: true if it is in a chain.
    taken: [Vec<bool>; 2],
}

impl Chains {
    /// Finds the chains of the constraints of all kinds of a compiled scene.
    pub fn new(sets: &[Cow<'_, ConstraintSet>], entity_count: usize) -> Self {
        let own = chain_kinds().map(|kind| &*sets[kind]);
        if own[0].len() == 0 {
            return Self::default();
        }
        let found = Finder::new(own, entity_count).chains();
        let entities_of = |(kind, constraint): (usize, u32)| own[kind].entities_of(constraint);
        let (mut entities, mut offsets) = (Vec::new(), vec![0]);
        for chain in &found {
            entities.extend(chain.iter().flat_map(|&link| entities_of(link)));
            offsets.push(entities.len());
        }
        // A chain without a colour is projected link by link.
        let coloring = Coloring::greedy_groups(&entities, &offsets, entity_count);
        let mut chains = Self::default();
        for color in coloring.colors {
            let first = [0, 1].map(|kind: usize| chains.orders[kind].len() as u32);
            for place in color.range() {
                chains.push(&found[coloring.order[place] as usize], entities_of);
            }
            for (kind, first) in first.into_iter().enumerate() {
                let count = chains.orders[kind].len() as u32 - first;
                chains.records[kind].push(Span { first, count });
            }
            chains.colors.push(color);
        }
        chains
    }

    fn push<'a>(&mut self, links: &[(usize, u32)], entities_of: impl Fn((usize, u32)) -> &'a [u32]) {
        self.chains.push([self.links.len() as u32, links.len() as u32]);
        for &(kind, constraint) in links {
            let record = self.orders[kind].len() as u32;
            let mut row = [record | if kind == 1 { SEGMENT } else { 0 }, NO_ENTITY, NO_ENTITY, NO_ENTITY];
            row[1..].iter_mut().zip(entities_of((kind, constraint))).for_each(|(own, &entity)| *own = entity);
            self.links_of[kind].push(self.links.len() as u32);
            self.links.push(row);
            self.orders[kind].push(constraint);
        }
    }

    /// The constraints of a kind that are in chains, in the order of their records.
    pub fn order(&self, kind: usize) -> &[u32] {
        chain_kinds().iter().position(|own| *own == kind).map_or(&[], |own| &self.orders[own])
    }
}

impl<'a> Finder<'a> {
    fn new(sets: [&'a ConstraintSet; 2], entity_count: usize) -> Self {
        let [joints, segments] = sets;
        let frames = |set: &'a ConstraintSet, from: usize| {
            let of =
                move |constraint: u32| set.entities_of(constraint)[from..].iter().map(move |&own| (own, constraint));
            grouped(entity_count, (0..set.len() as u32).flat_map(of))
        };
        let taken = sets.map(|set| vec![false; set.len()]);
        Self { sets, joints: frames(joints, 0), segments: frames(segments, 2), taken }
    }

    fn around(list: &(Vec<u32>, Vec<u32>), entity: u32) -> &[u32] {
        &list.1[list.0[entity as usize] as usize..list.0[entity as usize + 1] as usize]
    }

    /// All chains: from the ends of rods first, then of rings.
    fn chains(mut self) -> Vec<Vec<(usize, u32)>> {
        let frames: Vec<u32> = (0..self.joints.0.len() as u32 - 1).collect();
        let degree = |finder: &Self, frame: u32| Self::around(&finder.joints, frame).len();
        let ends = frames.iter().copied().filter(|&frame| degree(&self, frame) == 1);
        let others = frames.iter().copied().filter(|&frame| degree(&self, frame) > 1);
        let starts: Vec<u32> = ends.chain(others).collect();
        let mut chains = Vec::new();
        for start in starts {
            loop {
                let chain = self.grow(start);
                if chain.len() < FEWEST {
                    break;
                }
                chain.iter().for_each(|&(kind, constraint)| self.taken[kind][constraint as usize] = true);
                chains.push(chain);
            }
        }
        chains
    }

    /// The chain from a frame on.
    fn grow(&self, start: u32) -> Vec<(usize, u32)> {
        // The place of the first link that uses an entity.
        let (mut chain, mut first_use): (Vec<(usize, u32)>, HashMap<u32, usize>) = (Vec::new(), HashMap::new());
        let mut frame = start;
        loop {
            for &segment in Self::around(&self.segments, frame) {
                self.append(&mut chain, &mut first_use, (1, segment));
            }
            let next = Self::around(&self.joints, frame)
                .iter()
                .find(|&&joint| chain.len() + 1 < MOST && self.append(&mut chain, &mut first_use, (0, joint)));
            let Some(&joint) = next else { return chain };
            let ends = self.sets[0].entities_of(joint);
            frame = if ends[0] == frame { ends[1] } else { ends[0] };
        }
    }

    /// Appends a constraint if it couples with the last two links only.
    fn append(&self, chain: &mut Vec<(usize, u32)>, first_use: &mut HashMap<u32, usize>, link: (usize, u32)) -> bool {
        let (kind, constraint) = link;
        let (entities, place) = (self.sets[kind].entities_of(constraint), chain.len());
        let near = entities.iter().all(|entity| first_use.get(entity).is_none_or(|&first| place <= first + 2));
        if self.taken[kind][constraint as usize] || chain.iter().rev().take(3).any(|own| *own == link) || !near {
            return false;
        }
        entities.iter().for_each(|&entity| _ = first_use.entry(entity).or_insert(place));
        chain.push(link);
        true
    }
}
