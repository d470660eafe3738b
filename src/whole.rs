//! Whole bodies: where every body of a scene is small, a workgroup keeps one of them for all substeps of a step.
//!
//! A *body* is here what hangs together by constraints: a connected component of the particles. Tethers lead along constraints, so they stay
//! within one, too. Bodies are put into *batches* of [`MOST_PARTICLES`] at most, a workgroup each, which share no particle, so that a
//! workgroup need not wait for any other: the loop over the substeps is in the shader (`shaders/whole.wgsl`), and a step of any number of
//! substeps takes one dispatch. The constraints of a batch are solved by local colours, *rounds*, with a barrier after each, as those of a
//! patch are (`src/patches.rs`).
//!
//! Contacts and forces of all kinds come between the substeps. With them a dispatch sweeps over the constraints of all kinds once.

use crate::cooked::MAX_LOOP;
use crate::scene::ConstraintSet;
use crate::settings::Settings;

/// The most particles of a batch, and so of a body: 16 bytes of each fill 16 KiB of workgroup memory, which every device has.
pub(crate) const MOST_PARTICLES: usize = 1024;

/// The most particles that small bodies fill a batch with: two for each thread. Larger batches leave fewer workgroups to share out.
const MOST_SHARED: usize = 256;

/// Threads in a workgroup.
const LANES: u64 = 128;

/// The most materials: as many as a uniform buffer holds.
pub(crate) const MOST_MATERIALS: usize = 4096;

/// Words before the first head: how many batches there are, where the local place of each particle stands.
pub(crate) const START: usize = 2;

/// Words of the head of a batch: where its particles stand, how many; then [`KIND_HEAD`] for each kind.
const HEAD: usize = 2;

/// Words of a head for each kind: where the rounds stand, how many, where the local particles of record 0 would stand.
const KIND_HEAD: usize = 3;

/// How the constraints of a scene are solved body by body.
#[derive(Debug, Clone, Default)]
pub(crate) struct Whole {
    /// As the GPU reads it: the heads of all batches, the local place of each particle, then for each batch its particles (each with its run of
    /// tethers), and for each kind its rounds (first record, count) and for each record the local places of its particles, two to a word.
    pub words: Vec<u32>,
    pub batch_count: u32,
    /// The kinds that the scene has, as places in [`crate::kinds::KINDS`].
    pub kinds: Vec<usize>,
    /// For each kind of [`crate::kinds::KINDS`] its constraints in the order of their records.
    pub orders: Vec<Vec<u32>>,
    /// For each of these the place of its first record. Records and multipliers of all kinds lie in one buffer each; a place leads into both,
    /// so each kind begins where there is room in both.
    pub first_places: Vec<u32>,
    /// Words of all records, and all multipliers.
    pub record_words: usize,
    pub lambda_count: usize,
    /// The most turns that the loops of a thread take for one sweep over the constraints, and for one over the particles.
    pub sweep_turns: u64,
    pub particle_turns: u64,
}

/// Words of a constraint's local places.
pub(crate) fn local_words(arity: usize) -> usize {
    arity.div_ceil(2)
}

impl Whole {
    /// Words of the head of a batch where a scene has so many kinds.
    pub fn head(kind_count: usize) -> usize {
        HEAD + KIND_HEAD * kind_count
    }

    /// Puts the bodies of a scene into batches; `None` where it has groups, a body that is too large, or a particle with so many constraints
    /// that there are not rounds enough. `sets` are those of all kinds; `tether_runs` may be empty.
    pub fn new(
        sets: &[ConstraintSet],
        particle_count: usize,
        material_count: usize,
        tether_runs: &[u32],
    ) -> Option<Self> {
        let groups = sets.iter().any(|set| set.info.is_group() && set.len() > 0);
        if groups || material_count > MOST_MATERIALS {
            return None;
        }
        let batches = batches(sets, particle_count)?;
        let kinds: Vec<usize> = (0..sets.len()).filter(|&kind| sets[kind].len() > 0).collect();
        let head = Self::head(kinds.len());
        let mut whole = Self {
            batch_count: batches.len() as u32,
            kinds,
            orders: vec![Vec::new(); sets.len()],
            first_places: vec![0; sets.len()],
            ..Self::default()
        };
        whole.place_records(sets);
        let locals_at = START + batches.len() * head;
        whole.words = vec![0; locals_at + particle_count];
        whole.words[..START].copy_from_slice(&[whole.batch_count, locals_at as u32]);
        let mut batch_of = vec![0; particle_count];
        for (index, batch) in (0..).zip(&batches) {
            for (local, &particle) in (0..).zip(batch) {
                whole.words[locals_at + particle as usize] = local;
                batch_of[particle as usize] = index;
            }
        }
        let mut sweep_turns = vec![0; batches.len()];
        for (index, batch) in batches.iter().enumerate() {
            let own = [whole.words.len() as u32, batch.len() as u32];
            whole.words[START + index * head..][..HEAD].copy_from_slice(&own);
            let run = |particle: u32| tether_runs.get(particle as usize).copied().unwrap_or(0);
            whole.words.extend(batch.iter().flat_map(|&particle| [particle, run(particle)]));
            whole.particle_turns = whole.particle_turns.max((batch.len() as u64).div_ceil(LANES));
        }
        for (rank, kind) in whole.kinds.clone().into_iter().enumerate() {
            let set = &sets[kind];
            let mut used = vec![0u64; particle_count];
            for (index, constraints) in by_batch(set, &batch_of, batches.len()).iter().enumerate() {
                let rounds = rounds(set, constraints, &mut used)?;
                sweep_turns[index] += 1 + rounds.len() as u64;
                sweep_turns[index] += rounds.iter().map(|round| (round.len() as u64).div_ceil(LANES)).sum::<u64>();
                let at = START + index * head + HEAD + KIND_HEAD * rank;
                let kind_head = whole.push_rounds(set, kind, &rounds, locals_at);
                whole.words[at..][..KIND_HEAD].copy_from_slice(&kind_head);
            }
        }
        whole.sweep_turns = sweep_turns.into_iter().max().unwrap_or(0);
        Some(whole)
    }

    /// Finds where the records of each kind begin.
    fn place_records(&mut self, sets: &[ConstraintSet]) {
        for &kind in &self.kinds {
            let (info, count) = (sets[kind].info, sets[kind].len());
            let lambdas = info.lambda_count();
            let first = self.record_words.div_ceil(info.record_words).max(self.lambda_count.div_ceil(lambdas));
            self.first_places[kind] = first as u32;
            self.record_words = (first + count) * info.record_words;
            self.lambda_count = (first + count) * lambdas;
        }
    }

    /// Appends the rounds of a kind in a batch, and their constraints to the order; returns what the head says of them.
    fn push_rounds(
        &mut self,
        set: &ConstraintSet,
        kind: usize,
        rounds: &[Vec<u32>],
        locals_at: usize,
    ) -> [u32; KIND_HEAD] {
        let first = self.first_places[kind] + self.orders[kind].len() as u32;
        let rounds_at = self.words.len() as u32;
        let mut next = first;
        for round in rounds {
            self.words.extend([next, round.len() as u32]);
            next += round.len() as u32;
        }
        let size = local_words(set.info.arity) as u32;
        let begin = (self.words.len() as u32).wrapping_sub(size * first);
        for &constraint in rounds.iter().flatten() {
            for pair in set.particles_of(constraint).chunks(2) {
                let local = |particle: &u32| self.words[locals_at + *particle as usize];
                let word = local(&pair[0]) | pair.get(1).map_or(0, local) << 16;
                self.words.push(word);
            }
            self.orders[kind].push(constraint);
        }
        [rounds_at, rounds.len() as u32, begin]
    }

    /// Whether no thread that plays all substeps of a step turns more often than it may.
    pub fn fits_a_step(&self, settings: &Settings, most_tethers: u32) -> bool {
        let sweeps = u64::from(settings.iterations) * (1 + self.sweep_turns);
        let advance = self.particle_turns * (2 + u64::from(most_tethers));
        2 * self.particle_turns + u64::from(settings.substeps) * (1 + advance + sweeps) <= MAX_LOOP
    }
}

/// The particles of each batch, ascending: those of one body, or of several small ones. `None` where a body is too large.
fn batches(sets: &[ConstraintSet], particle_count: usize) -> Option<Vec<Vec<u32>>> {
    let mut parents: Vec<u32> = (0..particle_count as u32).collect();
    for set in sets {
        for constraint in 0..set.len() as u32 {
            let particles = set.particles_of(constraint);
            for pair in particles.windows(2) {
                let [a, b] = [root(&mut parents, pair[0]), root(&mut parents, pair[1])];
                // The lowest particle stands for all, so that bodies are in the order of insertion.
                parents[a.max(b) as usize] = a.min(b);
            }
        }
    }
    let mut bodies: Vec<Vec<u32>> = Vec::new();
    let mut body_of = vec![0; particle_count];
    for particle in 0..particle_count as u32 {
        let root = root(&mut parents, particle);
        if root == particle {
            body_of[particle as usize] = bodies.len();
            bodies.push(Vec::new());
        }
        let body = &mut bodies[body_of[root as usize]];
        body.push(particle);
        if body.len() > MOST_PARTICLES {
            return None;
        }
    }
    let mut batches: Vec<Vec<u32>> = Vec::new();
    for body in bodies {
        match batches.last_mut() {
            Some(last) if last.len() + body.len() <= MOST_SHARED => last.extend(body),
            _ => batches.push(body),
        }
    }
    // Bodies may be interleaved.
    batches.iter_mut().for_each(|batch| batch.sort_unstable());
    Some(batches)
}

/// The root of a particle in a forest, whose paths are halved on the way.
fn root(parents: &mut [u32], mut particle: u32) -> u32 {
    while parents[particle as usize] != particle {
        let above = parents[parents[particle as usize] as usize];
        parents[particle as usize] = above;
        particle = above;
    }
    particle
}

/// The constraints of each batch, in the order of insertion.
fn by_batch(set: &ConstraintSet, batch_of: &[u32], batch_count: usize) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); batch_count];
    for constraint in 0..set.len() as u32 {
        let first = set.particles_of(constraint)[0];
        lists[batch_of[first as usize] as usize].push(constraint);
    }
    lists
}

/// Colours constraints in the order of insertion: what was added last is satisfied best. `used` has a mask of colours for each particle.
fn rounds(set: &ConstraintSet, constraints: &[u32], used: &mut [u64]) -> Option<Vec<Vec<u32>>> {
    let mut rounds: Vec<Vec<u32>> = Vec::new();
    for &constraint in constraints {
        let named = set.particles_of(constraint);
        let round = (!named.iter().fold(0, |mask, &particle| mask | used[particle as usize])).trailing_zeros();
        if round == u64::BITS {
            return None;
        }
        named.iter().for_each(|&particle| used[particle as usize] |= 1 << round);
        rounds.resize(rounds.len().max(round as usize + 1), Vec::new());
        rounds[round as usize].push(constraint);
    }
    Some(rounds)
}
