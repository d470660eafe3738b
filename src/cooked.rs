//! A scene made ready to run: records sorted by colour, overflow split, triangles gathered per particle, tethers tied.
//!
//! Cooking happens once; both players read the result. What changes while running (pins, targets, materials, settings)
//! lives in [`crate::controls`].

use crate::coloring::{Coloring, Span};
use crate::error::{Error, Result};
use crate::kinds::KindInfo;
use crate::scene::{ConstraintSet, Scene, TetherGraph};
use std::collections::BTreeMap;

/// The longest loop that one GPU thread may run: Mesa's software driver ends every loop of an invocation after 65 535
/// turns in all, without a word.
const MAX_LOOP: u64 = 60_000;

/// How many contributions one thread sums for a hub.
const CHUNK: u32 = 64;

/// What both players read.
#[derive(Debug, Clone)]
pub(crate) struct Cooked {
    /// One entry a kind of [`crate::kinds::KINDS`].
    pub kinds: Vec<CookedKind>,
    pub rings: Rings,
    /// One row a tethered particle: itself, its first tether, how many it has.
    pub tethered: Vec<[u32; 4]>,
    pub tether_graph: TetherGraph,
}

/// The constraints of one kind, sorted by colour.
#[derive(Debug, Clone)]
pub(crate) struct CookedKind {
    pub info: &'static KindInfo,
    pub records: Vec<u32>,
    pub coloring: Coloring,
    pub split: Split,
}

/// How the overflow of a colouring is solved: *mass splitting* (Tonge, Benevolenski, Voroshilov 2012).
///
/// A particle with n overflow constraints counts as n particles of an n-th of its mass, one in each constraint. All
/// constraints are then independent and projected at once; the particle moves to the mean of its parts. The whole keeps
/// momentum, cannot overshoot, and takes three dispatches for any number of constraints: project the parts, sum the
/// impulses in chunks, sum the chunks. A fixed order of summation keeps it deterministic.
#[derive(Debug, Clone, Default)]
pub(crate) struct Split {
    /// n for each particle of each overflow record.
    pub shares: Vec<f32>,
    /// Places in `shares`, grouped by particle.
    pub slots: Vec<u32>,
    /// Runs of `slots`: first, count.
    pub chunks: Vec<[u32; 2]>,
    /// Particle, first chunk, chunk count, 0.
    pub hubs: Vec<[u32; 4]>,
}

/// The triangles around each particle: the other two corners of each, in the triangle's direction.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rings {
    /// Particle p has the corners `offsets[p]..offsets[p + 1]`.
    pub offsets: Vec<u32>,
    pub corners: Vec<[u32; 2]>,
}

impl Cooked {
    pub fn new(scene: &Scene) -> Result<Self> {
        let particle_count = scene.particle_count();
        let kinds: Vec<_> =
            scene.constraints.iter().map(|set| CookedKind::new(set, particle_count)).collect::<Result<_>>()?;
        let tether_graph = TetherGraph::new(scene);
        let mut tethered = Vec::new();
        let mut next = 0;
        for (first, count, per_particle) in tether_graph.runs() {
            for particle in first..first + count {
                tethered.push([particle, next, per_particle, 0]);
                next += per_particle;
            }
        }
        Ok(Self { kinds, rings: Rings::new(&scene.triangles, particle_count)?, tethered, tether_graph })
    }
}

impl CookedKind {
    fn new(set: &ConstraintSet, particle_count: usize) -> Result<Self> {
        let info = set.info;
        let coloring = set.coloring(particle_count);
        let mut records = Vec::with_capacity(set.words.len());
        for &constraint in &coloring.order {
            let first = constraint as usize * info.record_words;
            records.extend_from_slice(&set.words[first..first + info.record_words]);
        }
        let split = Split::new(info, &records, coloring.overflow)?;
        Ok(Self { info, records, coloring, split })
    }

    pub fn len(&self) -> usize {
        self.coloring.order.len()
    }

    pub fn record(&self, place: usize) -> &[u32] {
        &self.records[place * self.info.record_words..][..self.info.record_words]
    }
}

impl Split {
    fn new(info: &KindInfo, records: &[u32], overflow: Span) -> Result<Self> {
        let mut slots_of: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (index, place) in overflow.range().enumerate() {
            let particles = &records[place * info.record_words..][..info.arity];
            for (corner, &particle) in particles.iter().enumerate() {
                slots_of.entry(particle).or_default().push((index * info.arity + corner) as u32);
            }
        }
        let mut split = Self { shares: vec![0.0; overflow.count as usize * info.arity], ..Self::default() };
        for (particle, slots) in slots_of {
            let first_chunk = split.chunks.len() as u32;
            for chunk in slots.chunks(CHUNK as usize) {
                split.chunks.push([split.slots.len() as u32, chunk.len() as u32]);
                split.slots.extend_from_slice(chunk);
            }
            let chunk_count = split.chunks.len() as u32 - first_chunk;
            check_loop("constraints at one particle", chunk_count.into(), CHUNK.into())?;
            split.hubs.push([particle, first_chunk, chunk_count, 0]);
            for slot in &slots {
                split.shares[*slot as usize] = slots.len() as f32;
            }
        }
        Ok(split)
    }

    pub fn is_empty(&self) -> bool {
        self.hubs.is_empty()
    }
}

impl Rings {
    fn new(triangles: &[[u32; 3]], particle_count: usize) -> Result<Self> {
        if triangles.is_empty() {
            return Ok(Self::default());
        }
        let mut offsets = vec![0u32; particle_count + 1];
        for particle in triangles.iter().flatten() {
            offsets[*particle as usize + 1] += 1;
        }
        check_loop("triangles at one particle", offsets.iter().copied().max().unwrap_or(0).into(), 1)?;
        for particle in 0..particle_count {
            offsets[particle + 1] += offsets[particle];
        }
        let mut next = offsets.clone();
        let mut corners = vec![[0u32; 2]; offsets[particle_count] as usize];
        for &[a, b, c] in triangles {
            for (particle, others) in [(a, [b, c]), (b, [c, a]), (c, [a, b])] {
                corners[next[particle as usize] as usize] = others;
                next[particle as usize] += 1;
            }
        }
        Ok(Self { offsets, corners })
    }

    /// The corners around a particle.
    pub fn around(&self, particle: usize) -> std::ops::Range<usize> {
        self.offsets[particle] as usize..self.offsets[particle + 1] as usize
    }

    pub fn is_empty(&self) -> bool {
        self.corners.is_empty()
    }
}

fn check_loop(what: &'static str, turns: u64, each: u64) -> Result<()> {
    if turns <= MAX_LOOP { Ok(()) } else { Err(Error::TooLarge { what, count: turns * each, limit: MAX_LOOP * each }) }
}
