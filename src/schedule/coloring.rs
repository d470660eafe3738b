//! Graph colouring: constraints of one colour share no particle, so that the GPU can project them in parallel.
//!
//! Greedy first fit with one bit mask of used colours per particle. Constraints are ordered by the highest degree of
//! their particles, then by insertion. The result is deterministic. Regular grids get the minimum number of colours: 12
//! for structural, shear and bending springs.
//!
//! A *hub* is a particle with more than [`HUB_DEGREE`] constraints. It would need as many colours, one dispatch each.
//! Its constraints go to the *overflow* instead, which mass splitting solves at once (`src/schedule/split.rs`).

use crate::geometry::grouped;

/// Number of colours in a particle's mask.
const MAX_COLORS: usize = 64;

/// Maximum number of constraints of a particle that is not a hub.
pub const HUB_DEGREE: usize = 48;

/// A range of records: `first .. first + count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first record.
    pub first: u32,
    /// Number of records.
    pub count: u32,
}

impl Span {
    /// The records as a range of `usize`.
    pub fn range(self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// An order of constraints in which every colour is one contiguous span.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coloring {
    /// `order[i]` is the constraint (by insertion) of record `i`.
    pub order: Vec<u32>,
    /// The records of each colour, in order. Constraints in tiles, trees or clusters ([`crate::Execution`]) come first.
    pub colors: Vec<Span>,
    /// Constraints without a colour, after the last colour.
    pub overflow: Span,
}

impl Coloring {
    /// Colours constraints of `arity` particles each, listed in `particles`.
    pub fn greedy(particles: &[u32], arity: usize, particle_count: usize) -> Self {
        let count = particles.len() / arity;
        Self::first_fit(particles, count, |index| index as usize * arity..(index as usize + 1) * arity, particle_count)
    }

    /// Colours groups: the particles of group i are `particles[offsets[i]..offsets[i + 1]]`.
    pub fn greedy_groups(particles: &[u32], offsets: &[usize], particle_count: usize) -> Self {
        let count = offsets.len().saturating_sub(1);
        Self::first_fit(particles, count, |index| offsets[index as usize]..offsets[index as usize + 1], particle_count)
    }

    /// True if first fit finds a colour for every constraint in any order: each of its at most `arity` particles shares
    /// it with at most degree − 1 others. False if this bound is not sufficient.
    pub(crate) fn surely_fits(particles: &[u32], arity: usize, particle_count: usize) -> bool {
        let mut degree = vec![0usize; particle_count];
        particles.iter().for_each(|&particle| degree[particle as usize] += 1);
        let most = degree.into_iter().max().unwrap_or(0);
        most <= HUB_DEGREE && most.saturating_sub(1) * arity < MAX_COLORS
    }

    fn first_fit(
        particles: &[u32],
        constraint_count: usize,
        range: impl Fn(u32) -> std::ops::Range<usize>,
        particle_count: usize,
    ) -> Self {
        let mut degree = vec![0u32; particle_count];
        for &particle in particles {
            degree[particle as usize] += 1;
        }
        let mut used = vec![0u64; particle_count];
        let overflow_color = MAX_COLORS;
        let mut counts = [0u32; MAX_COLORS + 1];
        let mut colors = vec![0u8; constraint_count];
        let constraint = |index: u32| &particles[range(index)];
        // Highest degree of the particles of each constraint, in descending order.
        let highest =
            |index: u32| constraint(index).iter().map(|&particle| degree[particle as usize]).max().unwrap_or(0);
        let busiest: Vec<u32> = (0..constraint_count as u32).map(highest).collect();
        let most = busiest.iter().copied().max().unwrap_or(0);
        let sequence = in_ascending_order(most as usize + 1, constraint_count, |index| most - busiest[index as usize]);
        for index in sequence {
            let constraint = constraint(index);
            let taken = constraint.iter().fold(0u64, |mask, &particle| mask | used[particle as usize]);
            let hub = busiest[index as usize] > HUB_DEGREE as u32;
            let color = if hub { overflow_color } else { (!taken).trailing_zeros() as usize };
            if color < MAX_COLORS {
                for &particle in constraint {
                    used[particle as usize] |= 1 << color;
                }
            }
            counts[color] += 1;
            colors[index as usize] = color as u8;
        }

        let mut next = [0u32; MAX_COLORS + 1];
        for color in 0..MAX_COLORS {
            next[color + 1] = next[color] + counts[color];
        }
        let span = |color: usize| Span { first: next[color], count: counts[color] };
        let spans = (0..MAX_COLORS).map(span).take_while(|span| span.count > 0).collect();
        let overflow = span(overflow_color);
        // Within a colour, order by the lowest particle: neighbouring threads read neighbouring memory.
        let lowest = |index: u32| match usize::from(colors[index as usize]) == overflow_color {
            true => 0,
            false => constraint(index).iter().copied().min().unwrap_or(0),
        };
        let mut order = vec![0u32; constraint_count];
        for constraint in in_ascending_order(particle_count.max(1), constraint_count, lowest) {
            let place = &mut next[usize::from(colors[constraint as usize])];
            order[*place as usize] = constraint;
            *place += 1;
        }
        Self { order, colors: spans, overflow }
    }

    /// Joins the colourings of subsets of a larger set. The order is: the constraints `first`, the colours of each part,
    /// the overflow of all parts. The constraints `last` are added to the overflow. Constraint i of a part is
    /// constraint `subset[i]` of the larger set.
    pub(crate) fn joined(first: &[u32], parts: &[(Self, Vec<u32>)], last: &[u32]) -> Self {
        let (mut order, mut colors) = (first.to_vec(), Vec::new());
        let mapped = |subset: &[u32], constraints: &[u32]| -> Vec<u32> {
            constraints.iter().map(|&constraint| subset[constraint as usize]).collect()
        };
        for (part, subset) in parts {
            let moved = |span: &Span| Span { first: span.first + order.len() as u32, count: span.count };
            colors.extend(part.colors.iter().map(moved));
            order.extend(mapped(subset, &part.order[..part.overflow.first as usize]));
        }
        let first = order.len() as u32;
        for (part, subset) in parts {
            order.extend(mapped(subset, &part.order[part.overflow.range()]));
        }
        order.extend_from_slice(last);
        let overflow = Span { first, count: order.len() as u32 - first };
        Self { order, colors, overflow }
    }

    /// By constraint, the place of its record: the inverse of `order`.
    pub(crate) fn places(&self) -> Vec<u32> {
        let mut places = vec![0; self.order.len()];
        (0..).zip(&self.order).for_each(|(place, &constraint)| places[constraint as usize] = place);
        places
    }

    /// Sorts values by record into the order of insertion.
    pub(crate) fn unsort<T: Copy + Default>(&self, by_place: &[T]) -> Vec<T> {
        let mut values = vec![T::default(); self.order.len()];
        for (&constraint, &value) in self.order.iter().zip(by_place) {
            values[constraint as usize] = value;
        }
        values
    }

    /// The colour of every constraint in insertion order; `None` if it is in the overflow, a tile, a tree or a cluster.
    pub fn color_of_constraints(&self) -> Vec<Option<u32>> {
        let mut colors = vec![None; self.order.len()];
        for (color, span) in self.colors.iter().enumerate() {
            for &constraint in &self.order[span.range()] {
                colors[constraint as usize] = Some(color as u32);
            }
        }
        colors
    }

    /// Number of constraints of each colour.
    pub fn histogram(&self) -> Vec<u32> {
        self.colors.iter().map(|span| span.count).collect()
    }

    /// The first pair of constraints that share a colour and a particle, or the first constraint that is listed twice
    /// or not at all. Constraints before the first colour may share particles.
    pub fn find_conflict(&self, particles: &[u32], arity: usize, particle_count: usize) -> Option<Conflict> {
        let mut seen = vec![false; particles.len() / arity];
        let clustered = Span { first: 0, count: self.colors.first().unwrap_or(&self.overflow).first };
        for place in [&clustered].into_iter().chain(&self.colors).chain([&self.overflow]).flat_map(|span| span.range())
        {
            let constraint = self.order.get(place).copied().unwrap_or(u32::MAX);
            match seen.get_mut(constraint as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return Some(Conflict { color: None, constraints: [constraint; 2] }),
            }
        }
        if let Some(missing) = seen.iter().position(|seen| !seen) {
            return Some(Conflict { color: None, constraints: [missing as u32; 2] });
        }
        let mut owner = vec![(u32::MAX, 0u32); particle_count];
        for (color, span) in self.colors.iter().enumerate() {
            for &constraint in &self.order[span.range()] {
                for &particle in &particles[constraint as usize * arity..][..arity] {
                    let (last_color, other) = owner[particle as usize];
                    if last_color == color as u32 {
                        return Some(Conflict { color: Some(color as u32), constraints: [other, constraint] });
                    }
                    owner[particle as usize] = (color as u32, constraint);
                }
            }
        }
        None
    }
}

/// Numbers `0..count`, stably sorted by keys below `key_count`: a counting sort.
fn in_ascending_order(key_count: usize, count: usize, key: impl Fn(u32) -> u32 + Clone) -> Vec<u32> {
    grouped(key_count, (0..count as u32).map(|index| (key(index), index))).1
}

/// An error in a [`Coloring`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conflict {
    /// The colour in which two constraints share a particle; `None` if a constraint is listed twice or not at all.
    pub color: Option<u32>,
    /// The two constraints.
    pub constraints: [u32; 2],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_within_the_bound_of_first_fit_do_not_overflow() {
        let mut state = 1u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        let [mut sure, mut overflowing] = [0; 2];
        for round in 1..200 {
            let particle_count = 50;
            let mut particles = Vec::new();
            while particles.len() < 20 * round {
                let [a, b] = [random(particle_count), random(particle_count)];
                if a != b {
                    particles.extend([a, b]);
                }
            }
            let overflow = Coloring::greedy(&particles, 2, particle_count as usize).overflow.count;
            if Coloring::surely_fits(&particles, 2, particle_count as usize) {
                assert_eq!(overflow, 0);
                sure += 1;
            }
            overflowing += i32::from(overflow > 0);
        }
        assert!(sure > 10 && overflowing > 10, "{sure}, {overflowing}");
    }
}
