//! Halos: a whole substep, colour by colour, in one dispatch.
//!
//! What a particle is after a substep depends on no more than the particles around it: on those with which it shares a constraint of the last
//! colour, on those with which these share one of the colour before, and so on. So the particles are cut into *cores* of some hundred. A workgroup
//! loads a core and its *halo*, all that it depends on, into its own memory, ends the last substep for all of them, solves all colours in
//! their order with a barrier after each, and stores the core, in other buffers than those from which it has loaded, as others still read
//! these. Halos overlap, so what lies in several is solved several times, each time to the same bits: the result is bit by bit that of a dispatch a
//! colour ([`crate::Execution::Colors`]). On a GPU a dispatch takes longer than the work of a colour, by far where there are few particles.
//! (Overlapped tiling, or ghost zones, in the words of stencil codes: Meng and Skadron 2009.)
//!
//! What such a workgroup has of a particle is its position, its displacement and whether it is pinned. Inverse masses stand with the constraints, in the words
//! in which other records have particles: the more particles a workgroup has room for, the less of its work is halo.

mod cores;

use crate::cooked::CookedKind;
use crate::scene::Scene;
use crate::whole::local_words;
use cores::{Closer, Cores};
use std::collections::HashMap;

/// What a workgroup has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// Particles, of core and halo.
    pub particles: usize,
    /// Threads, each of which solves a constraint at a time.
    pub lanes: usize,
    /// About how many workgroups of so many threads the device plays at once.
    pub at_once: usize,
}

impl Room {
    /// What there is room for in so many bytes of workgroup memory; `None` where that is too little.
    pub fn new(memory: usize, lanes: usize, at_once: usize) -> Option<Self> {
        // A bit for each particle.
        let particles = 8 * memory.saturating_sub(FLAG_BYTES) / (8 * PARTICLE_BYTES + 1) / PIN_BITS * PIN_BITS;
        (particles >= LEAST_PARTICLES && lanes >= LEAST_LANES).then_some(Self { particles, lanes, at_once })
    }
}

/// With no more cores than so many each has a multiprocessor of a large GPU for itself, or nearly so, and as many threads as there may be. With more,
/// they are [`SHARED_LANES`], so that some workgroups fit a multiprocessor. (NVIDIA H200, 222 cores: 0.57 ms a frame with 1024 threads, 0.63 with 512;
/// 2230 cores: 20.7 and 6.8 ms.)
const FEW_CORES: usize = 256;
const SHARED_LANES: usize = 512;

/// Bytes of a particle in workgroup memory, besides a bit: position and displacement.
const PARTICLE_BYTES: usize = 24;

/// Bytes of what says whether any particle is pinned.
const FLAG_BYTES: usize = 4;

/// Particles to a word that says which are pinned.
pub(crate) const PIN_BITS: usize = 32;

/// With less room, halos outgrow their cores.
const LEAST_PARTICLES: usize = 1024;
const LEAST_LANES: usize = 128;

/// The threads of a workgroup are a multiple of what works in step on any GPU.
const LANE_STEP: usize = 64;

/// Words before the first head: how many batches there are.
const START: usize = 1;

/// Words of the head of a batch: where its particles stand, how many, how many of them are its core; then [`KIND_HEAD`] for each kind.
const HEAD: usize = 3;

/// Words of a head for each kind: where the rounds stand, how many.
const KIND_HEAD: usize = 2;

/// In the place of the local particles of a constraint where a lane has none in a round.
const NONE: u32 = u32::MAX;

/// Bits of a local place where an entry is one word.
pub(crate) const PLACE_BITS: u32 = 11;

/// How the substeps of a scene are played core by core.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Halos {
    /// As the GPU reads it: the heads of all batches, then for each its particles, those of its core first, and for each kind its rounds. A round
    /// has an entry for each lane: the local places of the particles of a constraint, two to a word, and the place of its record; each word of
    /// all lanes together. What fits one word is one.
    pub words: Vec<u32>,
    /// The records of all kinds, with the inverse masses of their particles instead of these, each of what is alike only once.
    pub records: Vec<u32>,
    pub batch_count: u32,
    /// Threads of a workgroup.
    pub lanes: usize,
    /// The kinds that the scene has, as places in [`crate::kinds::KINDS`].
    pub kinds: Vec<usize>,
    /// For each of them whether its entries are of one word: two local places of [`PLACE_BITS`], and above these the place of the record.
    pub packed: Vec<bool>,
    /// For each of them the place of a record, for lanes that have nothing to solve.
    pub first_places: Vec<u32>,
}

impl Halos {
    /// Words of the head of a batch where a scene has so many kinds.
    pub fn head(kind_count: usize) -> usize {
        HEAD + KIND_HEAD * kind_count
    }

    /// Cuts a scene of coloured constraints into cores; `None` where anything is not coloured or the constraint of a group, or where there is so
    /// little room that halos would be most of the work.
    pub fn new(kinds: &[CookedKind], scene: &Scene, room: Room) -> Option<Self> {
        let colored = |kind: &CookedKind| {
            let colored: u32 = kind.coloring.colors.iter().map(|span| span.count).sum();
            colored as usize == kind.len() && kind.split.is_empty() && (!kind.info.is_group() || kind.len() == 0)
        };
        // Local places are of 16 bits.
        if !kinds.iter().all(colored) || room.particles > 1 << 15 {
            return None;
        }
        let mut closer = Closer::new(kinds, scene.particle_count(), room.particles);
        let Cores { cores, most_loaded, .. } = Cores::new(&mut closer, &scene.positions, room)?;
        let mut halos =
            Self { kinds: (0..kinds.len()).filter(|&kind| kinds[kind].len() > 0).collect(), ..Self::default() };
        let places = halos.place_records(kinds, &scene.inverse_masses);
        let is_small = |&kind: &usize| {
            let largest = places[kind].iter().max().is_some_and(|&place| place < (NONE >> (2 * PLACE_BITS)));
            kinds[kind].info.arity == 2 && room.particles <= 1 << PLACE_BITS && largest
        };
        halos.packed = halos.kinds.iter().map(is_small).collect();
        halos.first_places = halos.kinds.iter().map(|&kind| places[kind][0]).collect();
        // A colour has no more constraints of a core than half its particles.
        let most_lanes = if cores.len() <= FEW_CORES { room.lanes } else { room.lanes.min(SHARED_LANES) };
        halos.lanes = most_loaded.div_ceil(2).next_multiple_of(LANE_STEP).min(most_lanes);
        let (head, lanes) = (Self::head(halos.kinds.len()), halos.lanes);
        halos.batch_count = cores.len() as u32;
        halos.words = vec![0; START + cores.len() * head];
        halos.words[0] = halos.batch_count;
        for (index, core) in cores.iter().enumerate() {
            // It has been closed before.
            closer.close(core);
            let at = START + index * head;
            let counts = [halos.words.len() as u32, closer.particles.len() as u32, core.len() as u32];
            halos.words[at..][..HEAD].copy_from_slice(&counts);
            halos.words.extend(&closer.particles);
            let mut colors = closer.taken.iter().peekable();
            for (rank, kind) in halos.kinds.clone().into_iter().enumerate() {
                let rounds_at = halos.words.len() as u32;
                let mut rounds = 0;
                while let Some((_, taken)) = colors.next_if(|(of, _)| *of == kind) {
                    for round in taken.chunks(lanes) {
                        let round = &taking_turns(&kinds[kind], round, &closer.local);
                        let packed = halos.packed[rank];
                        halos.push_round(&kinds[kind], round, &closer.local, &places[kind], packed);
                        rounds += 1;
                    }
                }
                halos.words[at + HEAD + KIND_HEAD * rank..][..KIND_HEAD].copy_from_slice(&[rounds_at, rounds]);
            }
        }
        (halos.words.len() < u32::MAX as usize / 4).then_some(halos)
    }

    /// Keeps the records of each kind, once where they are alike but for their particles; returns the place of each.
    fn place_records(&mut self, kinds: &[CookedKind], inverse_masses: &[f32]) -> Vec<Vec<u32>> {
        let place_kind = |kind: &CookedKind| {
            let (size, arity) = (kind.info.record_words, kind.info.arity);
            let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
            // Each kind begins where a record of its size may.
            self.records.resize(self.records.len().next_multiple_of(size), 0);
            let mut record = vec![0; size];
            let place = |place: usize| {
                record.copy_from_slice(kind.record(place));
                record[..arity].iter_mut().for_each(|word| *word = inverse_masses[*word as usize].to_bits());
                if let Some(&place) = known.get(&record) {
                    return place;
                }
                let place = (self.records.len() / size) as u32;
                self.records.extend(&record);
                known.insert(record.clone(), place);
                place
            };
            if kind.info.is_group() { Vec::new() } else { (0..kind.len()).map(place).collect() }
        };
        kinds.iter().map(place_kind).collect()
    }

    /// Appends constraints that no two lanes share a particle of.
    fn push_round(&mut self, kind: &CookedKind, round: &[u32], local: &[u32], places: &[u32], packed: bool) {
        let (arity, first) = (kind.info.arity, self.words.len());
        let word_count = if packed { 1 } else { local_words(arity) + 1 };
        self.words.resize(first + self.lanes * word_count, NONE);
        for (lane, &constraint) in round.iter().enumerate() {
            let slot = |&particle: &u32| slot_of(local[particle as usize]);
            let named = &kind.record(constraint as usize)[..arity];
            let place = places[constraint as usize];
            let words: &mut dyn Iterator<Item = u32> = if packed {
                &mut std::iter::once(slot(&named[0]) | slot(&named[1]) << PLACE_BITS | place << (2 * PLACE_BITS))
            } else {
                &mut named.chunks(2).map(|pair| slot(&pair[0]) | pair.get(1).map_or(0, slot) << 16).chain([place])
            };
            for (word, value) in words.enumerate() {
                self.words[first + word * self.lanes + lane] = value;
            }
        }
    }
}

/// How many particles of workgroup memory lie in different banks: so many lanes at a time are served at once, at eight bytes each.
pub(crate) const BANKS: u32 = 16;

/// Where a particle lies in workgroup memory: its local place, with the lowest bits changed by those above, so that places at a distance of two, four or
/// eight fall into different banks.
pub(crate) fn slot_of(local: u32) -> u32 {
    local ^ (local / BANKS % BANKS)
}

/// The constraints of a round in another order, of lanes that take turns: [`BANKS`] at a time are served as often as the most of their first particles lie in
/// the same bank of workgroup memory, and so with their second ones, and so on.
fn taking_turns(kind: &CookedKind, round: &[u32], local: &[u32]) -> Vec<u32> {
    /// How many are looked at for one that takes no turn of its own.
    const WINDOW: usize = 256;
    let arity = kind.info.arity;
    // Of each the bank of its first particle in the lowest four bits, that of its second in the next ones, and so on.
    let banks = |constraint: u32| {
        let named = kind.record(constraint as usize)[..arity].iter().enumerate();
        named.fold(0u64, |all, (k, &particle)| all | u64::from(slot_of(local[particle as usize]) % BANKS) << (4 * k))
    };
    let mut left: Vec<(u32, u64)> = round.iter().map(|&constraint| (constraint, banks(constraint))).collect();
    let mut order = Vec::with_capacity(round.len());
    // How many of those that are served together lie in each bank, and the most that do.
    let mut counts = vec![[0u8; BANKS as usize]; arity];
    let mut turns = vec![0u8; arity];
    let bank = |banks: u64, k: usize| (banks >> (4 * k)) as usize % BANKS as usize;
    while !left.is_empty() {
        if order.len().is_multiple_of(BANKS as usize) {
            counts.fill([0; BANKS as usize]);
            turns.fill(0);
        }
        let more = |banks: u64| (0..arity).filter(|&k| counts[k][bank(banks, k)] == turns[k]).count();
        let near = &left[..left.len().min(WINDOW)];
        let free = near.iter().position(|&(_, banks)| more(banks) == 0);
        let best = || (0..near.len()).min_by_key(|&place| more(near[place].1));
        let (constraint, banks) = left.swap_remove(free.or_else(best).unwrap_or(0));
        for k in 0..arity {
            let count = &mut counts[k][bank(banks, k)];
            *count += 1;
            turns[k] = turns[k].max(*count);
        }
        order.push(constraint);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controls::Controls;
    use crate::settings::{Execution, Settings};
    use crate::{Bending, ClothGrid, Distance, Fabric, Material, Particle, Scene};

    const ROOM: Room = Room { particles: 1536, lanes: 1024, at_once: 1 };

    fn cooked(scene: &Scene) -> Controls {
        Controls::new(scene, Settings { execution: Execution::Halos, ..Settings::default() }).unwrap()
    }

    fn halos(controls: &Controls, room: Room) -> Option<Halos> {
        Halos::new(&controls.cooked.kinds, &controls.scene, room)
    }

    fn cloth(side: u32, bending: Bending) -> Scene {
        let mut scene = Scene::new();
        let fabric = Fabric { bending, flexural_rigidity: 1e-3, ..Fabric::default() };
        scene.add_cloth_grid(&ClothGrid { columns: side, rows: side, fabric, ..ClothGrid::default() }).unwrap();
        scene
    }

    /// Whether each particle is of one core, and each batch solves what its core depends on, colour after colour, with what the records say.
    fn check(controls: &Controls, halos: &Halos, room: Room) {
        let (words, kinds, lanes) = (&halos.words, &controls.cooked.kinds, halos.lanes);
        let head = Halos::head(halos.kinds.len());
        let mut is_core = vec![false; controls.scene.particle_count()];
        for batch in 0..halos.batch_count as usize {
            let heads = &words[START + batch * head..][..head];
            let [at, count, core] = [heads[0] as usize, heads[1] as usize, heads[2] as usize];
            assert!(core > 0 && core <= count && count <= room.particles);
            let particles = &words[at..][..count];
            for &particle in &particles[..core] {
                assert!(!std::mem::replace(&mut is_core[particle as usize], true));
            }
            // Backwards, as what the core depends on grows; a round of a colour holds no more than there are lanes.
            let mut needed: std::collections::HashSet<u32> = particles[..core].iter().copied().collect();
            for (rank, &kind) in halos.kinds.iter().enumerate().rev() {
                let info = kinds[kind].info;
                let masses = |named: &[u32]| -> Vec<u32> {
                    named.iter().map(|&particle| controls.scene.inverse_masses[particle as usize].to_bits()).collect()
                };
                let [rounds_at, rounds] = [0, 1].map(|word| heads[HEAD + KIND_HEAD * rank + word] as usize);
                let locals = local_words(info.arity);
                let packed = halos.packed[rank];
                let stride = if packed { 1 } else { locals + 1 } * lanes;
                let mut solved: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
                for round in words[rounds_at..][..rounds * stride].chunks_exact(stride) {
                    for lane in (0..lanes).filter(|lane| round[*lane] != NONE) {
                        let local = |k: usize| match packed {
                            true => round[lane] >> (PLACE_BITS * k as u32) & ((1 << PLACE_BITS) - 1),
                            false => round[k / 2 * lanes + lane] >> (16 * (k % 2)) & 0xffff,
                        };
                        // What a slot is of is its own inverse.
                        let named: Vec<u32> = (0..info.arity).map(|k| particles[slot_of(local(k)) as usize]).collect();
                        let place = match packed {
                            true => round[lane] >> (2 * PLACE_BITS),
                            false => round[locals * lanes + lane],
                        } as usize;
                        let record = &halos.records[place * info.record_words..][..info.record_words];
                        assert_eq!(record[..info.arity], masses(&named));
                        solved.push((named, record[info.arity..].to_vec()));
                    }
                }
                for span in kinds[kind].coloring.colors.iter().rev() {
                    let records = span.range().map(|place| kinds[kind].record(place));
                    let (named, others): (Vec<_>, Vec<_>) = records.map(|record| record.split_at(info.arity)).unzip();
                    let mut of_color: Vec<(Vec<u32>, Vec<u32>)> = named
                        .iter()
                        .zip(others)
                        .filter(|(named, _)| named.iter().any(|particle| needed.contains(particle)))
                        .map(|(named, others)| (named.to_vec(), others.to_vec()))
                        .collect();
                    needed.extend(of_color.iter().flat_map(|(named, _)| named.iter().copied()));
                    let mut last = solved.split_off(solved.len() - of_color.len());
                    last.sort();
                    of_color.sort();
                    assert_eq!(last, of_color, "batch {batch}, {}", info.name);
                }
                assert!(solved.is_empty());
            }
            assert_eq!(needed.len(), count);
        }
        assert!(is_core.into_iter().all(|core| core));
    }

    #[test]
    fn a_batch_solves_what_its_core_depends_on() {
        for (side, bending) in [(70, Bending::Springs), (50, Bending::Isometric), (3, Bending::Hinges)] {
            let controls = cooked(&cloth(side, bending));
            let halos = halos(&controls, ROOM).unwrap();
            check(&controls, &halos, ROOM);
            assert!(halos.batch_count > 1 || side == 3);
        }
    }

    #[test]
    fn what_is_alike_stands_once() {
        let controls = cooked(&cloth(60, Bending::Springs));
        let halos = halos(&controls, ROOM).unwrap();
        let size = controls.cooked.kinds[halos.kinds[0]].info.record_words;
        // Lengths and materials of edges, diagonals and bends.
        assert!(halos.records.len() / size < 20, "{}", halos.records.len());
    }

    #[test]
    fn loose_particles_are_of_a_core_too() {
        let mut scene = cloth(20, Bending::Springs);
        for k in 0..100 {
            let position = [f32::from(k as u8), 3.0, 0.0];
            scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
        }
        let link = Distance { particles: [0, 450], rest_length: 5.0 };
        scene.add(link, Material::RIGID).unwrap();
        let controls = cooked(&scene);
        check(&controls, &halos(&controls, ROOM).unwrap(), ROOM);
    }

    /// How many cores a cloth has, and how often they load it.
    fn cut(side: u32, at_once: usize) -> (u32, f64) {
        let controls = cooked(&cloth(side, Bending::Springs));
        let halos = halos(&controls, Room::new(48 << 10, 1024, at_once).unwrap()).unwrap();
        let heads = halos.words[START..].chunks_exact(Halos::head(1)).take(halos.batch_count as usize);
        let loaded: u32 = heads.map(|head| head[1]).sum();
        (halos.batch_count, f64::from(loaded) / f64::from(side * side))
    }

    #[test]
    fn a_large_cloth_has_no_more_cores_than_a_large_gpu_plays_at_once() {
        let (count, loaded) = cut(316, 128);
        assert!(count <= 132, "{count}");
        assert!(loaded < 2.4, "{loaded}");
    }

    #[test]
    fn a_small_cloth_has_as_many_cores_as_the_device_plays_at_once() {
        let ((many, _), (few, loaded)) = (cut(100, 128), cut(100, 8));
        assert!((100..=132).contains(&many), "{many}");
        assert!(few < 20 && loaded < 2.2, "{few}, {loaded}");
        // Even what fits into one, but for what is tiny.
        assert!(cut(40, 128).0 >= 15);
        assert_eq!([cut(40, 1).0, cut(10, 128).0], [1, 1]);
    }

    #[test]
    fn few_small_bodies_are_spread_over_the_device() {
        let mut scene = Scene::new();
        for k in 0..200u8 {
            let origin = [f32::from(k), 0.0, 0.0];
            scene.add_cloth_grid(&ClothGrid { columns: 4, rows: 5, origin, ..ClothGrid::default() }).unwrap();
        }
        let controls = cooked(&scene);
        let count = |at_once| halos(&controls, Room { at_once, ..ROOM }).unwrap().batch_count;
        let all = controls.scene.particle_count();
        assert_eq!(count(1), all.div_ceil(ROOM.particles) as u32);
        assert!(count(128) >= (all / (ROOM.particles / 8)) as u32, "{}", count(128));
    }

    /// Turns in which workgroup memory serves the lanes of a warp, [`BANKS`] at a time, with eight bytes of one of their particles each.
    fn turns(lanes: &[u32]) -> u32 {
        let of_some = |some: &[u32]| {
            let is_in = |entry: u32, bank: u32| entry != NONE && entry % BANKS == bank;
            let in_bank = |bank: u32| some.iter().filter(|entry| is_in(**entry, bank)).count() as u32;
            (0..BANKS).map(in_bank).max().unwrap_or(0)
        };
        lanes.chunks(BANKS as usize).map(of_some).sum()
    }

    #[test]
    fn lanes_take_turns_at_the_banks_of_memory() {
        let controls = cooked(&cloth(200, Bending::Springs));
        let halos = halos(&controls, ROOM).unwrap();
        let (mut served, mut warps) = (0, 0);
        for heads in halos.words[START..].chunks_exact(Halos::head(1)).take(halos.batch_count as usize) {
            let words = &halos.words[heads[3] as usize..][..heads[4] as usize * halos.lanes];
            for warp in words.chunks(32).filter(|warp| warp[0] != NONE) {
                let second: Vec<u32> =
                    warp.iter().map(|&entry| if entry == NONE { NONE } else { entry >> PLACE_BITS }).collect();
                served += turns(warp) + turns(&second);
                warps += 1;
            }
        }
        // Four are the fewest for both; in the order of their places there would be 8.3.
        let mean = f64::from(served) / f64::from(warps);
        assert!(mean < 6.2, "{mean}");
    }

    #[test]
    fn small_bodies_have_no_halos() {
        let mut scene = Scene::new();
        for k in 0..30 {
            let origin = [0.1 * f32::from(k as u8), 0.0, 0.0];
            let side = 10 + k % 3;
            scene.add_cloth_grid(&ClothGrid { columns: side, rows: 20, origin, ..ClothGrid::default() }).unwrap();
        }
        let controls = cooked(&scene);
        let halos = halos(&controls, ROOM).unwrap();
        check(&controls, &halos, ROOM);
        let heads = halos.words[START..].chunks_exact(Halos::head(1)).take(halos.batch_count as usize);
        assert!(heads.clone().all(|head| head[1] == head[2]) && heads.len() == 5, "{}", halos.batch_count);
    }

    #[test]
    fn bodies_at_one_place_are_cut_one_by_one() {
        let room = Room::new(48 << 10, 1024, 128).unwrap();
        for (side, bending) in [(30, Bending::Springs), (70, Bending::Springs), (30, Bending::Hinges)] {
            let mut scene = cloth(side, bending);
            for k in 1..20u8 {
                let origin = [0.0, 0.0, 0.002 * f32::from(k)];
                scene.add_cloth_grid(&ClothGrid { columns: 30, rows: 30, origin, ..ClothGrid::default() }).unwrap();
            }
            let controls = cooked(&scene);
            let halos = halos(&controls, room).unwrap();
            check(&controls, &halos, room);
            assert!(halos.batch_count >= 20, "{}", halos.batch_count);
        }
    }

    #[test]
    fn a_body_of_which_each_part_needs_all_is_kept_whole() {
        let mut scene = cloth(80, Bending::Springs);
        // Every particle linked to others everywhere in it, softly: no link is solved in a star.
        let (first, count) = (scene.particle_count() as u32, 1500);
        for k in 0..count {
            let position = [10.0 + k as f32 * 0.01, 0.0, 0.0];
            scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
        }
        for [step, k] in [1, 37, 211, 643].into_iter().flat_map(|step| (0..count).map(move |k| [step, k])) {
            let particles = [first + k, first + (k + step) % count];
            scene.add(Distance { particles, rest_length: 1.0 }, Material::compliant(1.0)).unwrap();
        }
        let room = Room::new(48 << 10, 1024, 128).unwrap();
        let controls = cooked(&scene);
        let halos = halos(&controls, room).unwrap();
        check(&controls, &halos, room);
        let heads = halos.words[START..].chunks_exact(Halos::head(halos.kinds.len())).take(halos.batch_count as usize);
        let cores: Vec<u32> = heads.map(|head| head[2]).collect();
        assert!(cores.contains(&count) && cores.iter().filter(|&&core| core < 150).count() > 60, "{cores:?}");
    }

    #[test]
    fn where_there_is_no_room_there_are_none() {
        let controls = cooked(&cloth(60, Bending::Hinges));
        assert!(halos(&controls, ROOM).is_none());
        let controls = cooked(&cloth(60, Bending::Springs));
        assert!(halos(&controls, Room { particles: 300, ..ROOM }).is_none());
        // Nor where one body is much and another too much.
        let mut scene = cloth(150, Bending::Springs);
        let fabric = Fabric { bending: Bending::Hinges, flexural_rigidity: 1e-3, ..Fabric::default() };
        let strip = ClothGrid { columns: 40, rows: 200, origin: [10.0, 0.0, 0.0], fabric, ..ClothGrid::default() };
        scene.add_cloth_grid(&strip).unwrap();
        for particles in [1024, 1536] {
            assert!(halos(&cooked(&scene), Room { particles, ..ROOM }).is_none(), "{particles}");
        }
    }

    #[test]
    fn whatever_hangs_together_is_cut() {
        // Random soft links, of which none is solved in a star, between random places, near ones more often; some of all three at one place, on a line and in a plane.
        let mut state = 7u64;
        let mut random = move |below: u32| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) as u32) % below
        };
        let (mut made, mut parted) = (0, 0);
        for case in 0..40 {
            let (count, dimensions) = (20 + random(4000), case % 4);
            let mut scene = Scene::new();
            for _ in 0..count {
                let mut at = || random(1000) as f32 * 0.01;
                let place = [at(), at(), at()];
                let position = [0, 1, 2].map(|axis| if axis < dimensions as usize { place[axis] } else { 0.0 });
                let inverse_mass = [0.0, 0.5, 1.0, 2.0][random(4) as usize];
                scene.add_particle(Particle { position, inverse_mass, ..Particle::default() }).unwrap();
            }
            for a in (0..count * (1 + case % 2)).map(|link| link % count) {
                let b = (a + 1 + random(if case % 3 == 0 { 3 } else { 40 })) % count;
                if a != b && random(10) > 0 {
                    let link = Distance { particles: [a, b], rest_length: 1.0 + random(2000) as f32 };
                    scene.add(link, Material::compliant(1.0)).unwrap();
                }
            }
            let controls = cooked(&scene);
            for room in [(1, 1024, 128), (8, 1536, 200), (128, 2016, 1024)] {
                let room = Room { at_once: room.0, particles: room.1, lanes: room.2 };
                if let Some(halos) = halos(&controls, room) {
                    check(&controls, &halos, room);
                    (made, parted) = (made + 1, parted + usize::from(halos.batch_count > 1));
                }
            }
        }
        // Most, but not all; some as one core.
        assert!(parted > 40 && made > parted && made < 110, "{made}, {parted}");
    }
}
