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
//! Cores are what a k-d tree of the particles leaves in a cell. The larger a core, the less of its work is its halo's.

use crate::components::components;
use crate::cooked::CookedKind;
use crate::whole::local_words;
use std::collections::HashMap;

/// What a workgroup has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// Particles, of core and halo.
    pub particles: usize,
    /// Threads, each of which solves a constraint at a time.
    pub lanes: usize,
}

/// With no more cores than so many each has a multiprocessor of a large GPU for itself, or nearly so, and as many threads as there may be. With more,
/// they are [`SHARED_LANES`], so that some workgroups fit a multiprocessor. (NVIDIA H200, 222 cores: 0.57 ms a frame with 1024 threads, 0.63 with 512;
/// 2230 cores: 20.7 and 6.8 ms.)
const FEW_CORES: usize = 256;
const SHARED_LANES: usize = 512;

/// Bytes of a particle in workgroup memory: position and inverse mass; displacement.
pub(crate) const PARTICLE_BYTES: usize = 32;

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

/// Where any body would be loaded more than so many times over, a dispatch a colour does better.
const MOST_TIMES: usize = 10;

/// Sizes of cores to choose from, as shares of what there is room for: from where halos would be all of the work to where they hardly fit.
const SHARES: [f32; 10] = [12.0, 9.0, 7.0, 5.5, 4.3, 3.4, 2.7, 2.1, 1.6, 1.3];

/// How the substeps of a scene are played core by core.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Halos {
    /// As the GPU reads it: the heads of all batches, then for each its particles, those of its core first, and for each kind its rounds. A round
    /// has an entry for each lane: the local places of the particles of a constraint, two to a word, and the place of its record; each word of
    /// all lanes together. What fits one word is one.
    pub words: Vec<u32>,
    /// The records of all kinds, without their particles, each of what is alike only once.
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
    pub fn new(kinds: &[CookedKind], positions: &[[f32; 3]], room: Room) -> Option<Self> {
        let colored = |kind: &CookedKind| {
            let colored: u32 = kind.coloring.colors.iter().map(|span| span.count).sum();
            colored as usize == kind.len() && kind.split.is_empty() && (!kind.info.is_group() || kind.len() == 0)
        };
        // Local places are of 16 bits.
        if !kinds.iter().all(colored) || room.particles > 1 << 15 {
            return None;
        }
        let mut closer = Closer::new(kinds, positions.len(), room.particles);
        let cores = cores(&mut closer, positions, room.particles)?;
        let mut halos =
            Self { kinds: (0..kinds.len()).filter(|&kind| kinds[kind].len() > 0).collect(), ..Self::default() };
        let places = halos.place_records(kinds);
        let is_small = |&kind: &usize| {
            let largest = places[kind].iter().max().is_some_and(|&place| place < (NONE >> (2 * PLACE_BITS)));
            kinds[kind].info.arity == 2 && room.particles <= 1 << PLACE_BITS && largest
        };
        halos.packed = halos.kinds.iter().map(is_small).collect();
        halos.first_places = halos.kinds.iter().map(|&kind| places[kind][0]).collect();
        halos.lanes = if cores.len() <= FEW_CORES { room.lanes } else { room.lanes.min(SHARED_LANES) };
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
    fn place_records(&mut self, kinds: &[CookedKind]) -> Vec<Vec<u32>> {
        let place_kind = |kind: &CookedKind| {
            let size = kind.info.record_words;
            let mut known: HashMap<&[u32], u32> = HashMap::new();
            // Each kind begins where a record of its size may.
            self.records.resize(self.records.len().next_multiple_of(size), 0);
            let place = |place: usize| {
                let alike = &kind.record(place)[kind.info.arity..];
                *known.entry(alike).or_insert_with(|| {
                    let place = self.records.len() / size;
                    self.records.extend(std::iter::repeat_n(0, kind.info.arity));
                    self.records.extend(alike);
                    place as u32
                })
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

/// Where a particle lies in workgroup memory: its local place, with the lowest bits changed by those above, so that places at a distance of two, four or
/// eight fall into different banks.
pub(crate) fn slot_of(local: u32) -> u32 {
    local ^ (local >> 3 & 7)
}

/// The constraints of a round in another order, of lanes that take turns: eight at a time are served at once where no two of their first particles, nor of their
/// second ones and so on, lie in the same banks of workgroup memory.
fn taking_turns(kind: &CookedKind, round: &[u32], local: &[u32]) -> Vec<u32> {
    /// How many are looked at for one that fits.
    const WINDOW: usize = 256;
    let banks = |constraint: u32| {
        let named = &kind.record(constraint as usize)[..kind.info.arity];
        let bank = |(k, &particle): (usize, &u32)| 1u32 << (8 * k + (slot_of(local[particle as usize]) & 7) as usize);
        named.iter().enumerate().map(bank).fold(0, |all, bank| all | bank)
    };
    let mut left: Vec<(u32, u32)> = round.iter().map(|&constraint| (constraint, banks(constraint))).collect();
    let mut order = Vec::with_capacity(round.len());
    let mut taken = 0;
    while !left.is_empty() {
        if order.len().is_multiple_of(8) {
            taken = 0;
        }
        let near = &left[..left.len().min(WINDOW)];
        let fits = near.iter().position(|(_, banks)| banks & taken == 0);
        let best = || (0..near.len()).min_by_key(|&place| (near[place].1 & taken).count_ones());
        let (constraint, banks) = left.swap_remove(fits.or_else(best).unwrap_or(0));
        taken |= banks;
        order.push(constraint);
    }
    order
}

/// Finds what a core depends on.
struct Closer<'a> {
    kinds: &'a [CookedKind],
    /// For each colour, in the order in which they are solved, its kind, and for each particle its constraint, or `NONE`.
    colors: Vec<(usize, Vec<u32>)>,
    most: usize,
    /// For each particle which closure has seen it last, and its place in that.
    seen: Vec<u32>,
    local: Vec<u32>,
    count: u32,
    /// Of the last closure: its particles, and for each colour its kind and constraints.
    particles: Vec<u32>,
    taken: Vec<(usize, Vec<u32>)>,
}

impl<'a> Closer<'a> {
    fn new(kinds: &'a [CookedKind], particle_count: usize, most: usize) -> Self {
        let mut colors = Vec::new();
        for (index, kind) in kinds.iter().enumerate() {
            for span in &kind.coloring.colors {
                let mut of_particle = vec![NONE; particle_count];
                for place in span.range() {
                    let named = &kind.record(place)[..kind.info.arity];
                    named.iter().for_each(|&particle| of_particle[particle as usize] = place as u32);
                }
                colors.push((index, of_particle));
            }
        }
        let taken = colors.iter().map(|&(kind, _)| (kind, Vec::new())).collect();
        let (seen, local) = (vec![0; particle_count], vec![0; particle_count]);
        Self { kinds, colors, most, seen, local, count: 0, particles: Vec::new(), taken }
    }

    /// Whether a core and its halo fit; they are in `particles` and `taken` then.
    fn close(&mut self, core: &[u32]) -> bool {
        self.count += 1;
        self.particles.clear();
        if !core.iter().all(|&particle| self.add(particle)) {
            return false;
        }
        for color in (0..self.colors.len()).rev() {
            // Those that join in this colour do so by their only constraint of it.
            let count = self.particles.len();
            self.taken[color].1.clear();
            for place in 0..count {
                let (kind, of_particle) = &self.colors[color];
                let constraint = of_particle[self.particles[place] as usize];
                if constraint == NONE {
                    continue;
                }
                let kind = &self.kinds[*kind];
                let named = &kind.record(constraint as usize)[..kind.info.arity];
                let is_known = |particle: u32| self.seen[particle as usize] == self.count;
                // The first of its particles takes it.
                if named.iter().any(|&other| is_known(other) && (self.local[other as usize] as usize) < place) {
                    continue;
                }
                self.taken[color].1.push(constraint);
                if !named.iter().all(|&particle| self.add(particle)) {
                    return false;
                }
            }
        }
        true
    }

    /// Whether there is room for a particle that may be new.
    fn add(&mut self, particle: u32) -> bool {
        if self.seen[particle as usize] == self.count {
            return true;
        }
        if self.particles.len() == self.most {
            return false;
        }
        self.seen[particle as usize] = self.count;
        self.local[particle as usize] = self.particles.len() as u32;
        self.particles.push(particle);
        true
    }
}

/// Cores whose halos fit, of whichever size makes least work of them; `None` where those of even the smallest do not.
fn cores(closer: &mut Closer<'_>, positions: &[[f32; 3]], most: usize) -> Option<Vec<Vec<u32>>> {
    let records =
        closer.kinds.iter().flat_map(|kind| (0..kind.len()).map(move |place| &kind.record(place)[..kind.info.arity]));
    let bodies = components(records, positions.len());
    let (small, mut large): (Vec<_>, Vec<_>) = bodies.into_iter().partition(|body| body.len() <= most);
    let mut cores = together(small, most);
    if large.is_empty() {
        return Some(cores);
    }
    // The size is tried out on a part of the scene that has some of the largest cores.
    let sample = cell(&mut large.concat(), positions, 8 * most).to_vec();
    let mut least = None;
    for share in SHARES {
        let size = (most as f32 / share).max(1.0) as usize;
        // Most of what fits hardly is cut in two.
        if !closer.close(cell(&mut sample.clone(), positions, size)) {
            break;
        }
        let mut loaded = 0;
        if cut(closer, &mut sample.clone(), positions, size, &mut loaded, MOST_TIMES * sample.len()).is_none() {
            continue;
        }
        if least.is_none_or(|(known, _)| loaded < known) {
            least = Some((loaded, size));
        }
    }
    let (_, size) = least?;
    // Each body by itself: what reaches far in one is not made good by another.
    for body in &mut large {
        let most_loaded = MOST_TIMES * body.len();
        cores.extend(cut(closer, body, positions, size, &mut 0, most_loaded)?);
    }
    Some(cores)
}

/// Small bodies, which have no halos, as many together as have room.
fn together(bodies: Vec<Vec<u32>>, most: usize) -> Vec<Vec<u32>> {
    let mut cores: Vec<Vec<u32>> = Vec::new();
    for body in bodies {
        match cores.last_mut() {
            Some(core) if core.len() + body.len() <= most => core.extend(body),
            _ => cores.push(body),
        }
    }
    cores
}

/// One of the cells of a k-d tree that have no more particles than so many, from within.
fn cell<'a>(particles: &'a mut [u32], positions: &[[f32; 3]], most: usize) -> &'a [u32] {
    if particles.len() <= most {
        return particles;
    }
    let half = particles.len() / 2;
    let [left, right] = halves(particles, positions, half);
    // Now on one side, now on the other: away from the border.
    cell(if half.ilog2().is_multiple_of(2) { left } else { right }, positions, most)
}

/// Cuts particles into cores of about `size`, and those whose halos do not fit once more. Adds up what they load; `None` where that is more than
/// `most_loaded`, or one particle alone does not fit.
fn cut(
    closer: &mut Closer<'_>,
    particles: &mut [u32],
    positions: &[[f32; 3]],
    size: usize,
    loaded: &mut usize,
    most_loaded: usize,
) -> Option<Vec<Vec<u32>>> {
    let parts = particles.len().div_ceil(size);
    if parts <= 1 {
        if closer.close(particles) {
            *loaded += closer.particles.len();
            return (*loaded <= most_loaded).then(|| vec![particles.to_vec()]);
        }
        if particles.len() == 1 {
            return None;
        }
    }
    // As many parts on either side as make all alike in size.
    let parts = parts.max(2);
    let first = particles.len() * (parts / 2) / parts;
    let [left, right] = halves(particles, positions, first.max(1));
    let mut cores = cut(closer, left, positions, size, loaded, most_loaded)?;
    cores.extend(cut(closer, right, positions, size, loaded, most_loaded)?);
    Some(cores)
}

/// Parts particles by the axis along which they reach farthest: so many with the lowest coordinate, and the others.
fn halves<'a>(particles: &'a mut [u32], positions: &[[f32; 3]], first: usize) -> [&'a mut [u32]; 2] {
    let at = |particle: u32, axis: usize| positions[particle as usize][axis];
    let extent = |axis: usize| {
        let bounds =
            |(low, high): (f32, f32), &particle: &u32| (low.min(at(particle, axis)), high.max(at(particle, axis)));
        let (low, high) = particles.iter().fold((f32::INFINITY, f32::NEG_INFINITY), bounds);
        high - low
    };
    let extents = [0, 1, 2].map(extent);
    let axis = (0..3).max_by(|&a, &b| extents[a].total_cmp(&extents[b])).unwrap_or(0);
    let before = |a: &u32, b: &u32| at(*a, axis).total_cmp(&at(*b, axis)).then(a.cmp(b));
    if first < particles.len() {
        particles.select_nth_unstable_by(first, before);
    }
    let (left, right) = particles.split_at_mut(first);
    // Whatever the selection has left them in.
    left.sort_unstable();
    right.sort_unstable();
    [left, right]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controls::Controls;
    use crate::settings::{Execution, Settings};
    use crate::{Bending, ClothGrid, Distance, Fabric, Material, Particle, Scene};

    const ROOM: Room = Room { particles: 1536, lanes: 1024 };

    fn cooked(scene: &Scene) -> Controls {
        Controls::new(scene, Settings { execution: Execution::Halos, ..Settings::default() }).unwrap()
    }

    fn halos(controls: &Controls, room: Room) -> Option<Halos> {
        Halos::new(&controls.cooked.kinds, &controls.scene.positions, room)
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
                        let named = (0..info.arity).map(|k| particles[slot_of(local(k)) as usize]).collect();
                        let place = match packed {
                            true => round[lane] >> (2 * PLACE_BITS),
                            false => round[locals * lanes + lane],
                        } as usize;
                        let record = &halos.records[place * info.record_words..][..info.record_words];
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

    #[test]
    fn a_cloth_is_loaded_three_times_over() {
        let controls = cooked(&cloth(316, Bending::Springs));
        let halos = halos(&controls, ROOM).unwrap();
        let heads = halos.words[START..].chunks_exact(Halos::head(1)).take(halos.batch_count as usize);
        let loaded: u32 = heads.map(|head| head[1]).sum();
        assert!(loaded < 310_000, "{loaded}");
        // Two for each multiprocessor of a large GPU.
        assert!(halos.batch_count < 260, "{}", halos.batch_count);
    }

    /// Turns in which workgroup memory serves the lanes of a warp, eight at a time, with the rows of one of their particles each.
    fn turns(lanes: &[u32]) -> u32 {
        let of_eight = |eight: &[u32]| {
            let in_bank =
                |bank: u32| eight.iter().filter(|entry| **entry != NONE && **entry & 7 == bank).count() as u32;
            (0..8).map(in_bank).max().unwrap_or(0)
        };
        lanes.chunks(8).map(of_eight).sum()
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
        // Eight are the fewest for both; in the order of their places there would be 14.
        let mean = f64::from(served) / f64::from(warps);
        assert!(mean < 10.5, "{mean}");
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
}
