//! Cuts the particles of a scene into cores, and finds what each depends on.
//!
//! Cores are what a k-d tree of the particles leaves in a cell. The larger a core, the less of its work is its halo's; but a small scene should have
//! as many as the device plays at once.

use super::{NONE, Room};
use crate::components::components;
use crate::cooked::CookedKind;

/// Where any body would be loaded more than so many times over, a dispatch a colour does better.
const MOST_TIMES: usize = 10;

/// Sizes of cores to choose from, as shares of what there is room for: from where halos would be all of the work to where they hardly fit.
const SHARES: [f32; 13] = [25.0, 17.0, 12.0, 9.0, 7.0, 5.5, 4.3, 3.4, 2.7, 2.1, 1.6, 1.3, 1.0];

/// So many times the particles that there is room for are enough to see which of these is the fastest.
const SAMPLE: usize = 8;

/// Sizes around that which are tried out on all of a scene, as factors of it: these up to so many times the particles that there is room for, beyond, where a try takes
/// long, the first two.
const FACTORS: [f32; 6] = [0.9, 1.0, 1.04, 1.08, 1.13, 1.18];
const FINELY: usize = 64;

/// Bodies that have no more than this part of what there is room for are never cut, and as many are always put together.
const WHOLE_SHARE: usize = 8;

/// What a core costs besides what it loads, in particles: a dispatch takes some time however little it has to do.
const FIXED_COST: f32 = 800.0;

/// Up to so many parts are cut in several ways until they fit.
const FEW_PARTS: usize = 4;

/// Cuts bodies into cores.
struct Cutter<'a, 'k> {
    closer: &'a mut Closer<'k>,
    positions: &'a [[f32; 3]],
    room: Room,
}

/// The cores of a scene.
#[derive(Debug, Default)]
pub(super) struct Cores {
    pub cores: Vec<Vec<u32>>,
    /// Particles that all of them load, those of halos as often as they are in any.
    loaded: usize,
    /// The most that one loads.
    pub most_loaded: usize,
}

impl Cores {
    /// Cores whose halos fit, of whichever size is the fastest; `None` where those of even the smallest do not.
    pub fn new(closer: &mut Closer<'_>, positions: &[[f32; 3]], room: Room) -> Option<Self> {
        let records = closer
            .kinds
            .iter()
            .flat_map(|kind| (0..kind.len()).map(move |place| &kind.record(place)[..kind.info.arity]));
        let bodies = components(records, positions.len());
        // Where there are few, a body is cut even where it would fit.
        let most_whole = if bodies.len() < room.at_once { room.particles / WHOLE_SHARE } else { room.particles };
        let (small, mut large): (Vec<_>, Vec<_>) = bodies.into_iter().partition(|body| body.len() <= most_whole);
        let mut cores = Self::default();
        cores.gather(small, room);
        if large.is_empty() {
            return Some(cores);
        }
        let mut cutter = Cutter { closer, positions, room };
        let count = large.iter().map(Vec::len).sum();
        // The size is tried out roughly on some bodies or a part of one, then on all.
        let mut left = SAMPLE * room.particles;
        let mut sample = Vec::new();
        for body in &large {
            if left < room.particles {
                break;
            }
            let part = cell(&mut body.clone(), positions, left).to_vec();
            left -= part.len();
            sample.push(part);
        }
        let sizes = SHARES.map(|share| (room.particles as f32 / share).max(1.0) as usize);
        let (size, _) = cutter.fastest(&mut sample, count, &sizes)?;
        let factors = if count <= FINELY * room.particles { &FACTORS[..] } else { &FACTORS[..2] };
        let sizes: Vec<usize> = factors.iter().map(|factor| (size as f32 * factor) as usize).collect();
        let (_, of_large) = cutter.fastest(&mut large, count, &sizes)?;
        cores.extend(of_large);
        Some(cores)
    }

    /// Small bodies, which have no halos: as many together as have room, unless there are too few for that.
    fn gather(&mut self, bodies: Vec<Vec<u32>>, room: Room) {
        let all: usize = bodies.iter().map(Vec::len).sum();
        let most = room.particles.min(all.div_ceil(room.at_once).max(room.particles / WHOLE_SHARE));
        for body in bodies {
            self.loaded += body.len();
            match self.cores.last_mut() {
                Some(core) if core.len() + body.len() <= most => core.extend(body),
                _ => self.cores.push(body),
            }
        }
        self.most_loaded = self.cores.iter().map(Vec::len).max().unwrap_or(0);
    }

    fn extend(&mut self, others: Self) {
        self.cores.extend(others.cores);
        self.loaded += others.loaded;
        self.most_loaded = self.most_loaded.max(others.most_loaded);
    }
}

impl Cutter<'_, '_> {
    /// The fastest of some sizes of cores, the smallest first, and the bodies cut into such, or whole where these fit and parts do not. Of `count` particles the
    /// bodies are a part.
    fn fastest(&mut self, bodies: &mut [Vec<u32>], count: usize, sizes: &[usize]) -> Option<(usize, Cores)> {
        let tried: usize = bodies.iter().map(Vec::len).sum();
        let mut fastest: Option<(f32, usize, Cores)> = None;
        for &size in sizes {
            let mut cores = Cores::default();
            // Each body by itself: what reaches far in one is not made good by another.
            let fits = bodies.iter_mut().all(|body| {
                let count = body.len();
                let parts = self.cut(body, count.div_ceil(size), MOST_TIMES * count);
                let parts = parts.or_else(|| self.cut_exactly(body, 1));
                parts.map(|parts| cores.extend(parts)).is_some()
            });
            if !fits {
                continue;
            }
            let core_count = cores.cores.len() as f32;
            let waves = (core_count * count as f32 / tried as f32 / self.room.at_once as f32).max(1.0);
            let cost = waves * (FIXED_COST + cores.loaded as f32 / core_count);
            // The larger, the faster, until most of what fits hardly is cut in two.
            if fastest.as_ref().is_some_and(|(known, ..)| *known <= cost) {
                break;
            }
            fastest = Some((cost, size, cores));
        }
        fastest.map(|(_, size, cores)| (size, cores))
    }

    /// Cuts particles into so many parts, of which there are no more than particles, and those whose halos do not fit once more; `None` where one alone
    /// does not fit, or where they load more than `most_loaded`.
    fn cut(&mut self, particles: &mut [u32], parts: usize, most_loaded: usize) -> Option<Cores> {
        if parts <= FEW_PARTS
            && let Some(cores) = self.cut_exactly(particles, parts)
        {
            return (cores.loaded <= most_loaded).then_some(cores);
        }
        if particles.len() < 2 {
            return None;
        }
        let cut = Cut::new(particles, self.positions, parts.max(2));
        let [left, right] = cut.halves(particles, self.positions, 0);
        let mut cores = self.cut(left, cut.parts[0], most_loaded)?;
        cores.extend(self.cut(right, cut.parts[1], most_loaded - cores.loaded)?);
        Some(cores)
    }

    /// Cuts particles into so many parts, where each of these fits; `None` where no such cut was found.
    fn cut_exactly(&mut self, particles: &mut [u32], parts: usize) -> Option<Cores> {
        if parts == 1 {
            // Whatever order they have been left in.
            particles.sort_unstable();
            let fits = self.closer.close(particles);
            let loaded = self.closer.particles.len();
            return fits.then(|| Cores { cores: vec![particles.to_vec()], loaded, most_loaded: loaded });
        }
        let cut = Cut::new(particles, self.positions, parts);
        // The last cut alone, as tries multiply.
        let tries: &[isize] = if parts == 2 { &[0, 1, -1, 2, -2] } else { &[0] };
        tries.iter().find_map(|&layers| {
            let [left, right] = cut.halves(particles, self.positions, layers);
            let mut cores = self.cut_exactly(left, cut.parts[0])?;
            cores.extend(self.cut_exactly(right, cut.parts[1])?);
            Some(cores)
        })
    }
}

/// Where to cut particles in two: across their longest extent.
struct Cut {
    axis: usize,
    /// Of how many parts there are to be on either side.
    parts: [usize; 2],
    /// How many particles lie before the cut, and make a layer along it.
    first: usize,
    layer: usize,
}

impl Cut {
    /// One that makes parts alike in size and as long as they are wide: along a surface there are as many of them in a row as make them so, and about half of
    /// these come before the cut.
    fn new(particles: &[u32], positions: &[[f32; 3]], parts: usize) -> Self {
        let extents = extents(particles, positions);
        let [axis, across, _] = by_length(&extents);
        // 1 where all are at one place.
        let ratio = (extents[axis] / extents[across]).max(1.0);
        let in_row = (parts as f32 * ratio).sqrt().round().clamp(2.0, parts as f32);
        let before = ((parts as f32 * (in_row / 2.0).floor() / in_row).round() as usize).clamp(1, parts - 1);
        let layer = (particles.len() as f32 / ratio).sqrt().max(1.0) as usize;
        Self {
            axis,
            parts: [before, parts - before],
            first: (particles.len() as u64 * before as u64 / parts as u64) as usize,
            layer,
        }
    }

    /// What lies before the cut, moved by some layers, and what behind it.
    fn halves<'a>(&self, particles: &'a mut [u32], positions: &[[f32; 3]], layers: isize) -> [&'a mut [u32]; 2] {
        let first = self.first.saturating_add_signed(layers * self.layer as isize);
        // Each part has a particle at least.
        let first = first.clamp(self.parts[0], particles.len() - self.parts[1]);
        halves(particles, positions, self.axis, first)
    }
}

/// One of the cells of a k-d tree that have no more particles than so many, from within.
fn cell<'a>(particles: &'a mut [u32], positions: &[[f32; 3]], most: usize) -> &'a mut [u32] {
    if particles.len() <= most {
        return particles;
    }
    let half = particles.len() / 2;
    let extents = extents(particles, positions);
    let [left, right] = halves(particles, positions, by_length(&extents)[0], half);
    // Now on one side, now on the other: away from the border.
    cell(if half.ilog2().is_multiple_of(2) { left } else { right }, positions, most)
}

/// Parts particles: so many with the lowest coordinate along an axis, and the others.
fn halves<'a>(particles: &'a mut [u32], positions: &[[f32; 3]], axis: usize, first: usize) -> [&'a mut [u32]; 2] {
    let at = |particle: u32| positions[particle as usize][axis];
    let before = |a: &u32, b: &u32| at(*a).total_cmp(&at(*b)).then(a.cmp(b));
    if first < particles.len() {
        particles.select_nth_unstable_by(first, before);
    }
    let (left, right) = particles.split_at_mut(first);
    [left, right]
}

/// How far particles reach along each axis.
fn extents(particles: &[u32], positions: &[[f32; 3]]) -> [f32; 3] {
    [0, 1, 2].map(|axis| {
        let bounds = |(low, high): (f32, f32), &particle: &u32| {
            let at = positions[particle as usize][axis];
            (low.min(at), high.max(at))
        };
        let (low, high) = particles.iter().fold((f32::INFINITY, f32::NEG_INFINITY), bounds);
        high - low
    })
}

/// The axes, that of the longest extent first.
fn by_length(extents: &[f32; 3]) -> [usize; 3] {
    let mut axes = [0, 1, 2];
    axes.sort_by(|&a, &b| extents[b].total_cmp(&extents[a]));
    axes
}

/// Finds what a core depends on.
pub(super) struct Closer<'a> {
    kinds: &'a [CookedKind],
    /// For each colour, in the order in which they are solved, its kind, and for each particle its constraint, or `NONE`.
    colors: Vec<(usize, Vec<u32>)>,
    most: usize,
    /// For each particle which closure has seen it last, and its place in that.
    seen: Vec<u32>,
    pub local: Vec<u32>,
    count: u32,
    /// Of the last closure: its particles, and for each colour its kind and constraints.
    pub particles: Vec<u32>,
    pub taken: Vec<(usize, Vec<u32>)>,
}

impl<'a> Closer<'a> {
    pub fn new(kinds: &'a [CookedKind], particle_count: usize, most: usize) -> Self {
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
    pub fn close(&mut self, core: &[u32]) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of ten parts lie before the first cut through particles that lie as far apart as this along each axis, and how many particles make a layer.
    fn first_cut(extent: [f32; 3]) -> ([usize; 2], usize) {
        let positions: Vec<[f32; 3]> = (0..100u8).map(|k| extent.map(|way| way * f32::from(k) / 99.0)).collect();
        let particles: Vec<u32> = (0..100).collect();
        let cut = Cut::new(&particles, &positions, 10);
        (cut.parts, cut.layer)
    }

    #[test]
    fn about_half_of_the_parts_come_before_a_cut() {
        assert_eq!(first_cut([1.0, 1.0, 0.0]), ([3, 7], 10));
        assert_eq!(first_cut([1.0, 4.0, 0.0]), ([5, 5], 5));
        assert_eq!(first_cut([0.0, 0.0, 1.0]), ([5, 5], 1));
        // Where all are at one place a cut must not take off one part after the other.
        assert_eq!(first_cut([0.0; 3]), ([3, 7], 10));
    }
}
