//! Geodesic distances from pins, by unfolding triangles; `src/scene/tether_graph.rs` describes the method.

use super::{Blade, BodyGraph};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A queue entry: a path from a pin to a particle. The order is by distance, particle and source, packed into one
/// integer for fast comparison. Distances are not negative, so the order of their bits is that of their values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival(Reverse<u128>);

impl Arrival {
    fn new(distance: f32, particle: u32, source: u32) -> Self {
        Self(Reverse(u128::from(distance.to_bits()) << 64 | u128::from(particle) << 32 | u128::from(source)))
    }

    fn distance(self) -> f32 {
        f32::from_bits((self.0.0 >> 64) as u32)
    }

    fn particle(self) -> u32 {
        (self.0.0 >> 32) as u32
    }

    fn source(self) -> u32 {
        self.0.0 as u32
    }
}

/// The best known distance from one pin to a particle.
#[derive(Clone, Copy)]
pub(super) struct Label {
    pub source: u32,
    pub distance: f32,
    /// The last corner of the path, from which it is straight.
    root: u32,
    /// The distance of that corner.
    root_distance: f32,
    pub settled: bool,
}

const NO_LABEL: Label =
    Label { source: u32::MAX, distance: f32::INFINITY, root: u32::MAX, root_distance: 0.0, settled: false };

impl BodyGraph {
    /// The nearest pins of every particle, `per_particle` labels each, nearest first.
    pub(super) fn geodesics(&self, per_particle: usize, is_pinned: &impl Fn(u32) -> bool) -> Vec<Label> {
        let count = self.particle_count();
        let mut labels = vec![NO_LABEL; count as usize * per_particle];
        let mut queue = BinaryHeap::new();
        for particle in (0..count).filter(|particle| is_pinned(self.first_particle + particle)) {
            let label = Label { source: particle, distance: 0.0, root: particle, root_distance: 0.0, settled: false };
            labels[particle as usize * per_particle] = label;
            queue.push(Arrival::new(0.0, particle, particle));
        }
        while let Some(arrival) = queue.pop() {
            let (distance, particle, source) = (arrival.distance(), arrival.particle(), arrival.source());
            let slots = &mut labels[particle as usize * per_particle..][..per_particle];
            let Some(label) = slots.iter_mut().find(|label| label.source == source && !label.settled) else { continue };
            if distance > label.distance {
                continue;
            }
            label.settled = true;
            let here = *label;
            let mut reach = |labels: &mut [Label], to: u32, label: Label| {
                if offer(&mut labels[to as usize * per_particle..][..per_particle], label) {
                    queue.push(Arrival::new(label.distance, to, source));
                }
            };
            let turned = Label { root: particle, root_distance: distance, ..here };
            let along_edges = if self.corners[particle as usize] { turned } else { here };
            for &(to, length) in self.neighbours(particle) {
                reach(&mut labels, to, Label { distance: distance + length, settled: false, ..along_edges });
            }
            for &Blade { corners: [b, c], sides: [ab, ac, bc] } in self.fan(particle) {
                if !(ab.is_finite() && ac.is_finite() && bc.is_finite()) {
                    continue;
                }
                for (known, to, base, side) in [(b, c, ab, ac), (c, b, ac, ab)] {
                    let slots = &labels[known as usize * per_particle..][..per_particle];
                    // Only paths that are straight from the same corner belong to one front.
                    let same_front = |label: &&Label| label.source == source && label.root == here.root;
                    let Some(known_label) = slots.iter().find(same_front) else { continue };
                    let [straight, known_straight] =
                        [distance, known_label.distance].map(|distance| distance - here.root_distance);
                    // Most paths lead back towards the source; the lower bound rejects them without unfolding.
                    let slots = &labels[to as usize * per_particle..][..per_particle];
                    let least = here.root_distance * (1.0 - 1e-5) + shortest(straight, known_straight, base, side, bc);
                    if slots.iter().any(|label| label.source == source && label.distance < least) {
                        continue;
                    }
                    if let Some(straight) = unfold(straight, known_straight, base, side, bc) {
                        reach(
                            &mut labels,
                            to,
                            Label { distance: here.root_distance + straight, settled: false, ..here },
                        );
                    }
                }
            }
        }
        labels
    }
}

/// Inserts a label among those of the nearest pins, nearest first; returns true if it improves them. A settled label
/// may improve again: in an obtuse triangle the front can reach a corner before the edge that it should cross.
fn offer(labels: &mut [Label], news: Label) -> bool {
    let place = labels.iter().position(|label| label.source == news.source).unwrap_or(labels.len() - 1);
    // Gains below rounding would repeat without end.
    if news.distance >= labels[place].distance * (1.0 - 1e-6) {
        return false;
    }
    labels[place] = news;
    let mut place = place;
    while place > 0 && labels[place].distance < labels[place - 1].distance {
        labels.swap(place, place - 1);
        place -= 1;
    }
    true
}

/// The distance of corner c of a triangle from a source at distances `da` and `db` from corners a and b, along a
/// straight line in the plane of the triangle; `None` if that line does not cross edge ab.
fn unfold(da: f32, db: f32, ab: f32, ac: f32, bc: f32) -> Option<f32> {
    let [da, db, ab, ac, bc] = [da, db, ab, ac, bc].map(f64::from);
    // a at the origin, b on the x axis, c above, the source below.
    let height = |x: f64, side: f64| (side * side - x * x).sqrt();
    let along = |from_a: f64, from_b: f64| (from_a * from_a - from_b * from_b + ab * ab) / (2.0 * ab);
    let (cx, sx) = (along(ac, bc), along(da, db));
    let (cy, sy) = (height(cx, ac), height(sx, da));
    if !(cy > 0.0 && sy >= 0.0) {
        return None;
    }
    let crossing = sx + (cx - sx) * sy / (sy + cy);
    let slack = 1e-6 * ab;
    (crossing >= -slack && crossing <= ab + slack).then(|| (cx - sx).hypot(cy + sy) as f32)
}

/// A cheap lower bound of [`unfold`], reduced by a rounding tolerance. For a point x of edge ab, the path |sx| + |xc|
/// is at least da − |ax| + ac − |ax|, and likewise from b. The mean of both does not depend on x.
fn shortest(da: f32, db: f32, ab: f32, ac: f32, bc: f32) -> f32 {
    let sum = da + db + ac + bc;
    0.5 * sum - ab - 1e-5 * (sum + ab)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_bound_is_below_every_unfolded_length() {
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32
        };
        let (mut found, mut tight) = (0, 0);
        for _ in 0..100_000 {
            // c is above the x axis, the source below, a and b on it; sources are near or far.
            let ab = 0.1 + random();
            let c = glam::Vec2::new(2.0 * random() - 0.5, random());
            let source = glam::Vec2::new(2.0 * random() - 0.5, -random()) * if random() < 0.5 { 1.0 } else { 50.0 };
            let (a, b) = (glam::Vec2::ZERO, glam::Vec2::new(ab, 0.0));
            let sides = [a.distance(source), b.distance(source), ab, a.distance(c), b.distance(c)];
            let [da, db, ab, ac, bc] = sides;
            if let Some(length) = unfold(da, db, ab, ac, bc) {
                let least = shortest(da, db, ab, ac, bc);
                assert!(least <= length, "{least} > {length} for {sides:?}");
                (found, tight) = (found + 1, tight + i32::from(least > 0.9 * length));
            }
        }
        assert!(found > 5000 && tight > 500, "{found}, {tight}");
    }
}
