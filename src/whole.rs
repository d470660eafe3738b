//! Whole bodies: where every body of a scene is small, a workgroup keeps one of them for all substeps of a step.
//!
//! A *body* is here what hangs together by constraints: a connected component of the particles. Tethers lead along constraints, so they stay
//! within one, too. Bodies are put into *batches* of [`MOST_PARTICLES`] at most, a workgroup each, which share no particle, so that a
//! workgroup need not wait for any other: the loop over the substeps is in the shader (`shaders/whole.wgsl`), and a step of any number of
//! substeps takes one dispatch. Of the constraints of a batch, those of grids are solved in tiles (`src/tiling.rs`), phase by phase, the others
//! by local colours, *rounds*, as those of a patch are (`src/patches.rs`), with a barrier after each.
//!
//! Contacts and forces of all kinds come between the substeps. With them a dispatch sweeps over the constraints of all kinds once.

use crate::components::components;
use crate::cooked::{CookedKind, MAX_LOOP};
use crate::patches::rounds;
use crate::scene::{ConstraintSet, Grid, rows_of};
use crate::settings::Settings;
use crate::tiling::{PHASES, TILE_WORDS, Tile, Tiling};

/// The most particles of a batch, and so of a body: 16 bytes of each fill 16 KiB of workgroup memory, which every device has.
pub(crate) const MOST_PARTICLES: usize = 1024;

/// What batches are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Batches {
    /// The bodies of a scene. Where any link belongs to a star, there are none.
    Scene,
    /// The one asset of [`crate::Instances`]. Links are solved one by one.
    Asset,
}

impl Batches {
    /// The most particles that small bodies fill a batch with. In a scene two for each thread: larger batches leave fewer workgroups to share out.
    fn most_shared(self) -> usize {
        match self {
            Self::Scene => 256,
            Self::Asset => MOST_PARTICLES,
        }
    }
}

/// The most threads that solve a batch, as in `src/gpu/pipelines.rs`.
pub(crate) const MOST_LANES: usize = 128;

/// What the loops over the phases and rounds of a kind take in turns, however many there are. As measured where the software driver ends them:
/// every loop takes one turn more than it is long, by which it is seen to be over.
const KIND_TURNS: u64 = 6;

/// Words before the first head: how many batches there are, where the local place of each particle stands, where the tethers.
pub(crate) const START: usize = 3;

/// The word that says where the tethers stand.
const TETHERS_AT: usize = 2;

/// Words of the head of a batch: where its particles stand, how many; then [`KIND_HEAD`] for each kind.
const HEAD: usize = 2;

/// Words of a head for each kind: where the rounds stand, how many, where the local particles of record 0 would stand; where the bounds of the
/// phases stand.
const KIND_HEAD: usize = 4;

/// Words of a tile: as [`Tile`] has them, and the local place of its first particle.
pub(crate) const BATCH_TILE_WORDS: usize = TILE_WORDS + 1;

/// The fewest constraints of a kind for which there are tiles: their shaders take a second or so to compile.
const WORTH_TILING: usize = 128;

/// How the constraints of a scene are solved body by body.
#[derive(Debug, Clone, Default)]
pub(crate) struct Whole {
    /// As the GPU reads it: the heads of all batches, the local place of each particle, then for each batch its particles (each with its run of
    /// tethers), and for each kind its rounds (first record, count) and for each record the local places of its particles, two to a word; where there
    /// are tiles, the place at which those of each phase begin, and at which the last end, and the tiles; and room for the tethers, which change
    /// with the pins.
    pub words: Vec<u32>,
    pub batch_count: u32,
    /// The kinds that the scene has, as places in [`crate::kinds::KINDS`].
    pub kinds: Vec<usize>,
    /// For each of them what tiles have in common, and what they hold.
    pub tilings: Vec<Tiling>,
    /// For each kind of [`crate::kinds::KINDS`] its constraints in the order of their records.
    pub orders: Vec<Vec<u32>>,
    /// For each of these the place of its first record. Records and multipliers of all kinds lie in one buffer each; a place leads into both,
    /// so each kind begins where there is room in both.
    pub first_places: Vec<u32>,
    /// Words of all records, and all multipliers.
    pub record_words: usize,
    pub lambda_count: usize,
    /// Of each batch, how many constraints or tiles are solved at a time, phase by phase and round by round; and how many particles the largest has.
    pub steps: Vec<Vec<usize>>,
    pub largest: usize,
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
        grids: &[Grid],
        tether_runs: &[u32],
        made_for: Batches,
    ) -> Option<Self> {
        if sets.iter().any(|set| set.info.is_group() && set.len() > 0) {
            return None;
        }
        let batches = batches(sets, particle_count, made_for.most_shared())?;
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
        whole.words[..START].copy_from_slice(&[whole.batch_count, locals_at as u32, 0]);
        let mut batch_of = vec![0; particle_count];
        for (index, batch) in batches.iter().enumerate() {
            for (local, &particle) in (0..).zip(batch) {
                whole.words[locals_at + particle as usize] = local;
                batch_of[particle as usize] = index;
            }
        }
        for (index, batch) in batches.iter().enumerate() {
            let own = [whole.words.len() as u32, batch.len() as u32];
            whole.words[START + index * head..][..HEAD].copy_from_slice(&own);
            let run = |particle: u32| tether_runs.get(particle as usize).copied().unwrap_or(0);
            whole.words.extend(batch.iter().flat_map(|&particle| [particle, run(particle)]));
        }
        let tiled: Vec<Tiled> = whole
            .kinds
            .iter()
            .map(|&kind| Tiled::new(&sets[kind], grids, &batch_of, &whole.words[locals_at..], batches.len()))
            .collect();
        whole.largest = batches.iter().map(Vec::len).max().unwrap_or(0);
        whole.steps = vec![Vec::new(); batches.len()];
        for (rank, (kind, tiled)) in whole.kinds.clone().into_iter().zip(tiled).enumerate() {
            let set = &sets[kind];
            let mut used = vec![0u64; particle_count];
            for (index, constraints) in by_batch(set, &batch_of, batches.len()).iter().enumerate() {
                let others: Vec<u32> =
                    constraints.iter().copied().filter(|&constraint| !tiled.is_in[constraint as usize]).collect();
                let (rounds, left) = rounds(set, &others, &mut used);
                if !left.is_empty() {
                    return None;
                }
                whole.steps[index].extend(tiled.phases[index].iter().map(Vec::len));
                whole.steps[index].extend(rounds.iter().map(Vec::len));
                let at = START + index * head + HEAD + KIND_HEAD * rank;
                let tiles_at = if tiled.count > 0 { whole.push_tiles(kind, &tiled, index) } else { 0 };
                let [rounds_at, count, begin] = whole.push_rounds(set, kind, &rounds, locals_at);
                whole.words[at..][..KIND_HEAD].copy_from_slice(&[rounds_at, count, begin, tiles_at]);
            }
            whole.tilings.push(if tiled.count > 0 { tiled.tiling } else { Tiling::default() });
        }
        whole.words[TETHERS_AT] = whole.words.len() as u32;
        let ends = tether_runs.iter().map(|run| (run >> 4) + rows_of(run & 15));
        whole.words.resize(whole.words.len() + 2 * ends.max().unwrap_or(0) as usize, 0);
        Some(whole)
    }

    /// The records of all kinds, each where it belongs.
    pub fn records(&self, kinds: &[CookedKind]) -> Vec<u32> {
        let mut records = vec![0; self.record_words];
        for (kind, &first) in kinds.iter().zip(&self.first_places) {
            records[first as usize * kind.info.record_words..][..kind.records.len()].copy_from_slice(&kind.records);
        }
        records
    }

    /// What the tiles of a kind of [`crate::kinds::KINDS`] have in common.
    pub fn tiling_mut(&mut self, kind: usize) -> Option<&mut Tiling> {
        let rank = self.kinds.iter().position(|&known| known == kind)?;
        self.tilings.get_mut(rank)
    }

    /// The word at which the tethers begin.
    pub fn tethers_at(&self) -> usize {
        self.words[TETHERS_AT] as usize
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

    /// Appends the tiles of a kind in a batch, and their constraints to the order; returns where the bounds of the phases stand.
    fn push_tiles(&mut self, kind: usize, tiled: &Tiled, batch: usize) -> u32 {
        let tiles_at = self.words.len();
        let mut next = (tiles_at + PHASES + 1) as u32;
        self.words.push(next);
        for tiles in &tiled.phases[batch] {
            next += (tiles.len() * BATCH_TILE_WORDS) as u32;
            self.words.push(next);
        }
        for &(tile, local) in tiled.phases[batch].iter().flatten() {
            let tile = &tiled.tiling.tiles[tile];
            self.words.extend(tile.words(self.first_places[kind] + self.orders[kind].len() as u32));
            self.words.push(local);
            self.orders[kind].extend(&tiled.tiling.order[tile.constraints.range()]);
        }
        tiles_at as u32
    }

    /// Appends the rounds of a kind in a batch, and their constraints to the order; returns what the head says of them.
    fn push_rounds(&mut self, set: &ConstraintSet, kind: usize, rounds: &[Vec<u32>], locals_at: usize) -> [u32; 3] {
        let first = self.first_places[kind] + self.orders[kind].len() as u32;
        let rounds_at = self.words.len() as u32;
        let mut next = first;
        for round in rounds {
            self.words.extend([next, round.len() as u32]);
            next += round.len() as u32;
        }
        let size = local_words(set.info.arity) as u32;
        let begin = (self.words.len() as u32).wrapping_sub(size.wrapping_mul(first));
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
        self.turns(MOST_LANES, settings, most_tethers, 0) <= MAX_LOOP
    }

    /// How often one of so many threads turns at most, with so many turns more in each substep.
    pub fn turns(&self, lanes: usize, settings: &Settings, most_tethers: u32, more: u64) -> u64 {
        let turns = |count: usize| count.div_ceil(lanes) as u64;
        let sweep = |steps: &Vec<usize>| steps.iter().map(|&count| 2 + turns(count)).sum::<u64>();
        let most = self.steps.iter().map(sweep).max().unwrap_or(0) + KIND_TURNS * self.kinds.len() as u64;
        let sweeps = u64::from(settings.iterations) * (1 + most);
        let particle_turns = turns(self.largest);
        let over_particles = 2 * (particle_turns + 1);
        let tethers = particle_turns * (1 + u64::from(most_tethers));
        over_particles + u64::from(settings.substeps) * (4 + over_particles + tethers + sweeps + more)
    }

    /// Whether anything is solved in tiles.
    pub fn has_tiles(&self) -> bool {
        self.tilings.iter().any(|tiling| !tiling.is_empty())
    }

    /// How many threads solve a batch where so many work in step: one for each particle, or, as tiles are few and take all registers that there are, no
    /// more than work in step; but more, if one of so many would turn more often than it may.
    pub fn lanes(&self, in_step: usize, turns: impl Fn(usize) -> u64) -> usize {
        let at_a_time = self.steps.iter().flatten().copied().max().unwrap_or(1).max(1);
        let wanted = if self.has_tiles() {
            at_a_time.next_power_of_two().min(in_step)
        } else {
            self.largest.next_power_of_two()
        };
        let doubled = std::iter::successors(Some(wanted), |lanes| Some(2 * lanes));
        doubled.take_while(|&lanes| lanes < MOST_LANES).find(|&lanes| turns(lanes) <= MAX_LOOP).unwrap_or(MOST_LANES)
    }
}

/// What of a kind is solved in tiles.
struct Tiled {
    tiling: Tiling,
    /// For each batch and phase the tiles, each with the local place of its first particle.
    phases: Vec<[Vec<(usize, u32)>; PHASES]>,
    /// Which constraints they have, and how many.
    is_in: Vec<bool>,
    count: usize,
}

impl Tiled {
    /// `locals` are the local places of all particles.
    fn new(set: &ConstraintSet, grids: &[Grid], batch_of: &[usize], locals: &[u32], batch_count: usize) -> Self {
        let phases = vec![Default::default(); batch_count];
        let mut tiled = Self { tiling: Tiling::new(set, grids), phases, is_in: vec![false; set.len()], count: 0 };
        if tiled.tiling.order.len() < WORTH_TILING {
            tiled.tiling = Tiling::default();
        }
        // A grid may be of several bodies, which are in several batches, or others between them.
        let fits = |tile: &Tile| {
            let [batch, local] = [batch_of[tile.first as usize], locals[tile.first as usize] as usize];
            let lies = |(particle, beyond): (u32, u32)| {
                batch_of[particle as usize] == batch && locals[particle as usize] as usize == local + beyond as usize
            };
            tile.particles().all(lies).then_some((batch, local as u32))
        };
        for (index, tile) in tiled.tiling.tiles.iter().enumerate() {
            let Some((batch, local)) = fits(tile) else { continue };
            tiled.phases[batch][tile.phase].push((index, local));
            for &constraint in &tiled.tiling.order[tile.constraints.range()] {
                tiled.is_in[constraint as usize] = true;
            }
            tiled.count += tile.constraints.count as usize;
        }
        tiled
    }
}

/// The particles of each batch, ascending: those of one body, or of several small ones. `None` where a body is too large.
fn batches(sets: &[ConstraintSet], particle_count: usize, most_shared: usize) -> Option<Vec<Vec<u32>>> {
    let named = sets.iter().flat_map(|set| (0..set.len() as u32).map(|constraint| set.particles_of(constraint)));
    let bodies = components(named, particle_count);
    if bodies.iter().any(|body| body.len() > MOST_PARTICLES) {
        return None;
    }
    let mut batches: Vec<Vec<u32>> = Vec::new();
    // The batch that small bodies fill, whatever large ones stand between them.
    let mut open = 0;
    for body in bodies {
        match batches.get_mut(open) {
            Some(batch) if batch.len() + body.len() <= most_shared => batch.extend(body),
            _ => {
                if body.len() <= most_shared {
                    open = batches.len();
                }
                batches.push(body);
            }
        }
    }
    // Bodies may be interleaved.
    batches.iter_mut().for_each(|batch| batch.sort_unstable());
    Some(batches)
}

/// The constraints of each batch, in the order of insertion.
fn by_batch(set: &ConstraintSet, batch_of: &[usize], batch_count: usize) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); batch_count];
    for constraint in 0..set.len() as u32 {
        let first = set.particles_of(constraint)[0];
        lists[batch_of[first as usize]].push(constraint);
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::KINDS;
    use crate::tiling::SPAN;
    use crate::{Bending, ClothGrid, Distance, Fabric, Material, Particle, Scene, Tethers};
    use std::collections::HashMap;
    use std::ops::Range;

    fn add_cloth(scene: &mut Scene, columns: u32, rows: u32, bending: Bending) -> Range<u32> {
        let fabric = Fabric { bending, flexural_rigidity: 1e-2, stretch_limit: 1.05, ..Fabric::default() };
        scene.add_cloth_grid(&ClothGrid { columns, rows, fabric, ..ClothGrid::default() }).unwrap().particles
    }

    fn whole(scene: &Scene) -> Option<Whole> {
        Whole::new(&scene.constraints, scene.particle_count(), &scene.grids, &[], Batches::Scene)
    }

    /// Whether batches hold every particle once, rounds every constraint once and no particle twice, and heads lead to what they should.
    fn check(scene: &Scene, whole: &Whole) {
        let words = &whole.words;
        let [batch_count, locals_at] = [words[0] as usize, words[1] as usize];
        let mut owner = vec![usize::MAX; scene.particle_count()];
        let mut places: Vec<u32> = whole.first_places.clone();
        let head = |batch: usize| START + batch * Whole::head(whole.kinds.len());
        for batch in 0..batch_count {
            let [at, count] = [words[head(batch)] as usize, words[head(batch) + 1] as usize];
            assert!((1..=MOST_PARTICLES).contains(&count));
            let particles: Vec<u32> = words[at..at + 2 * count].iter().step_by(2).copied().collect();
            assert!(particles.is_sorted());
            for (local, &particle) in (0..).zip(&particles) {
                assert_eq!(std::mem::replace(&mut owner[particle as usize], batch), usize::MAX);
                assert_eq!(words[locals_at + particle as usize], local);
            }
        }
        assert!(owner.iter().all(|&owner| owner < batch_count));
        for (rank, &kind) in whole.kinds.iter().enumerate() {
            let set = &scene.constraints[kind];
            let mut seen = vec![false; set.len()];
            for batch in 0..batch_count {
                let at = head(batch) + HEAD + KIND_HEAD * rank;
                let [rounds_at, rounds, begin, bounds] = std::array::from_fn(|word| words[at + word] as usize);
                let tiling = &whole.tilings[rank];
                assert_eq!(bounds > 0, !tiling.is_empty());
                let phases = if bounds > 0 { &words[bounds..=bounds + PHASES] } else { &[] };
                for ends in phases.windows(2) {
                    let mut tile_of = HashMap::new();
                    for tile in words[ends[0] as usize..ends[1] as usize].chunks_exact(BATCH_TILE_WORDS) {
                        let [first, columns, _, _, low, middle, high, record, .., local] = *tile else {
                            unreachable!()
                        };
                        assert_eq!(record, places[kind]);
                        let has = |link: usize| [low, middle, high][link / 32] >> (link % 32) & 1 == 1;
                        for link in
                            tiling.pattern.iter().enumerate().filter(|(place, _)| has(*place)).map(|(_, link)| link)
                        {
                            let constraint = whole.orders[kind][(places[kind] - whole.first_places[kind]) as usize];
                            assert!(!std::mem::replace(&mut seen[constraint as usize], true));
                            for (&particle, &slot) in set.particles_of(constraint).iter().zip(&link.slots) {
                                let beyond = u32::from(slot) / SPAN * columns + u32::from(slot) % SPAN;
                                assert_eq!(particle, first + beyond);
                                assert_eq!(owner[particle as usize], batch);
                                assert_eq!(words[locals_at + particle as usize], local + beyond);
                                assert_eq!(*tile_of.entry(particle).or_insert(first), first);
                            }
                            places[kind] += 1;
                        }
                    }
                }
                for round in words[rounds_at..rounds_at + 2 * rounds].chunks_exact(2) {
                    assert_eq!(round[0], places[kind]);
                    places[kind] += round[1];
                    let mut named = std::collections::BTreeSet::new();
                    for place in round[0]..places[kind] {
                        let constraint = whole.orders[kind][(place - whole.first_places[kind]) as usize];
                        assert!(!std::mem::replace(&mut seen[constraint as usize], true));
                        let size = local_words(set.info.arity) as u32;
                        let locals = (begin as u32).wrapping_add(size * place) as usize;
                        for (k, &particle) in set.particles_of(constraint).iter().enumerate() {
                            assert_eq!(owner[particle as usize], batch);
                            assert!(named.insert(particle));
                            let local = words[locals + k / 2] >> (16 * (k % 2)) & 0xffff;
                            assert_eq!(local, words[locals_at + particle as usize]);
                        }
                    }
                }
            }
            assert!(seen.into_iter().all(|seen| seen));
        }
        // Where kinds end, others may begin, in both buffers.
        let mut ends = [0; 2];
        for &kind in &whole.kinds {
            let sizes = [KINDS[kind].record_words, KINDS[kind].lambda_count()];
            for (end, size) in ends.iter_mut().zip(sizes) {
                assert!(whole.first_places[kind] as usize * size >= *end);
                *end = places[kind] as usize * size;
            }
        }
        assert_eq!(ends, [whole.record_words, whole.lambda_count]);
    }

    #[test]
    fn bodies_are_put_into_batches() {
        for bending in [Bending::Springs, Bending::Hinges, Bending::Isometric] {
            let mut scene = Scene::new();
            for [columns, rows] in [[32, 32], [3, 4], [17, 9], [5, 5]] {
                add_cloth(&mut scene, columns, rows, bending);
                scene.add_particle(Particle::default()).unwrap();
            }
            let found = whole(&scene).unwrap();
            check(&scene, &found);
            // The large one, and one that all else shares.
            assert_eq!(found.batch_count, 2);
        }
        let mut scene = Scene::new();
        for _ in 0..3 {
            add_cloth(&mut scene, 16, 12, Bending::Springs);
        }
        assert_eq!(whole(&scene).unwrap().batch_count, 3);
        let all = Whole::new(&scene.constraints, scene.particle_count(), &scene.grids, &[], Batches::Asset).unwrap();
        check(&scene, &all);
        assert_eq!(all.batch_count, 1);
    }

    #[test]
    fn what_lies_in_grids_is_in_tiles_where_it_lies_together() {
        let mut scene = Scene::new();
        add_cloth(&mut scene, 32, 32, Bending::Springs);
        let found = whole(&scene).unwrap();
        check(&scene, &found);
        assert!(found.has_tiles() && found.steps[0].iter().all(|&tiles| tiles == 16));
        assert_eq!([8, 32].map(|in_step| found.lanes(in_step, |_| 0)), [8, 16]);
        // More threads, where so few would turn too often.
        assert_eq!(found.lanes(8, |lanes| 700_000 / lanes as u64), 16);
        // The last column hangs on nothing, and is in another batch, so that rows are no longer as long as the grid says.
        let mut torn = Scene::new();
        for k in 0..900u16 {
            let position = [f32::from(k % 30), f32::from(k / 30), 0.0];
            torn.add_particle(Particle { position, ..Particle::default() }).unwrap();
        }
        torn.add_grid(0..900, 30).unwrap();
        for k in (0..870).filter(|k| k % 30 < 28 || k % 30 == 29) {
            torn.add(Distance { particles: [k, k + 30], rest_length: 1.0 }, Material::RIGID).unwrap();
            if k % 30 < 28 {
                torn.add(Distance { particles: [k, k + 1], rest_length: 1.0 }, Material::RIGID).unwrap();
            }
        }
        let found = whole(&torn).unwrap();
        check(&torn, &found);
        assert!(found.batch_count == 2 && found.tilings[0].is_empty());
    }

    #[test]
    fn interleaved_bodies_keep_apart() {
        let mut scene = Scene::new();
        for k in 0..900 {
            scene.add_particle(Particle { position: [k as f32, 0.0, 0.0], ..Particle::default() }).unwrap();
        }
        for k in 0..897 {
            scene.add(Distance { particles: [k, k + 3], rest_length: 3.0 }, Material::RIGID).unwrap();
        }
        let found = whole(&scene).unwrap();
        check(&scene, &found);
        assert_eq!(found.batch_count, 3);
    }

    #[test]
    fn a_body_that_is_too_large_is_none() {
        let mut scene = Scene::new();
        let first = add_cloth(&mut scene, 32, 32, Bending::Springs);
        let second = add_cloth(&mut scene, 2, 2, Bending::Springs);
        assert!(whole(&scene).is_some());
        let particles = [first.start, second.start];
        scene.add(Distance { particles, rest_length: 1.0 }, Material::RIGID).unwrap();
        assert!(whole(&scene).is_none());
    }

    #[test]
    fn there_is_room_for_tethers() {
        let mut scene = Scene::new();
        let tethers = Some(Tethers { per_particle: 3, scale: 1.0 });
        scene.add_cloth_grid(&ClothGrid { columns: 4, rows: 3, tethers, ..ClothGrid::default() }).unwrap();
        let runs: Vec<u32> = (0..12).map(|particle| (4 * particle) << 4 | 3).collect();
        let found = Whole::new(&scene.constraints, 12, &scene.grids, &runs, Batches::Scene).unwrap();
        assert_eq!(found.words.len() - found.tethers_at(), 2 * 48);
    }
}
