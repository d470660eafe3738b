//! Ties particles to their nearest pins along geodesics of the rest shape.
//!
//! Geodesic distances are computed by Dijkstra's algorithm from the pins over the edges, refined by unfolding (Novotni
//! & Klein 2002; Xin & Wang 2009). A front that has reached two corners of a triangle reaches the third along the
//! straight line from the unfolded source, if that line passes between the two corners. On a flat mesh this is exact;
//! paths along edges alone are too long.
//!
//! At a hole or a notch, a path turns at a corner and continues straight from there, so each label stores its last
//! corner. Behind such a corner, where two fronts meet, a length can be slightly too long, but never too short.

mod geodesics;

use super::{Scene, TetherRow, TetheredBody, Tethers};
use crate::geometry::grouped;

/// Labels per particle in addition to its tethers.
const SPARE_LABELS: usize = 1;

/// The tethered bodies of a scene as graphs of rest lengths, independent of the pins.
#[derive(Debug, Clone)]
pub(crate) struct TetherGraph {
    bodies: Vec<BodyGraph>,
}

/// Values by body.
struct Buckets<T> {
    offsets: Vec<u32>,
    values: Vec<T>,
}

impl<T: Copy + Default> Buckets<T> {
    fn new(body_count: usize, values: &[(u32, T)]) -> Self {
        let (offsets, values) = grouped(body_count, values.iter().copied());
        Self { offsets, values }
    }

    fn of(&self, body: usize) -> &[T] {
        &self.values[self.offsets[body] as usize..self.offsets[body + 1] as usize]
    }
}

/// Two particles and their distance in the material \[m\].
type Edge = ([u32; 2], f32);

#[derive(Debug, Clone)]
struct BodyGraph {
    first_particle: u32,
    tethers: Tethers,
    /// Neighbours of particle p: `edges[offsets[p]..offsets[p + 1]]`, sorted by particle.
    offsets: Vec<u32>,
    edges: Vec<(u32, f32)>,
    /// Triangles of particle p: `fans[fan_offsets[p]..fan_offsets[p + 1]]`.
    fan_offsets: Vec<u32>,
    fans: Vec<Blade>,
    /// True if a shortest path can turn at a particle: the angle of the material around it exceeds π at a border, or 2π
    /// inside.
    corners: Vec<bool>,
}

/// A triangle relative to one of its corners.
#[derive(Debug, Clone, Copy, Default)]
struct Blade {
    /// The other two corners.
    corners: [u32; 2],
    /// The sides to the first and to the second of them, and the side between them; infinite if there is no edge.
    /// Stored here to avoid distant reads.
    sides: [f32; 3],
}

impl TetherGraph {
    /// The time grows with the constraints and triangles of the scene and, for bodies without edges, of their ranges.
    pub fn new(scene: &Scene) -> Self {
        let bodies = &scene.tethered_bodies;
        if bodies.is_empty() {
            return Self { bodies: Vec::new() };
        }
        let mut owners = vec![u32::MAX; scene.particle_count()];
        for (index, body) in (0..).zip(bodies) {
            owners[body.particles.start as usize..body.particles.end as usize].fill(index);
        }
        // The body that has all the particles.
        let owner = |particles: &[u32]| {
            let first = owners[particles[0] as usize];
            (first != u32::MAX && particles.iter().all(|&particle| owners[particle as usize] == first)).then_some(first)
        };
        let edges = (0..).zip(scene.distances(0..scene.distance_count())).filter_map(|(index, distance)| {
            let body = owner(&distance.particles)?;
            let is_in_range = bodies[body as usize].edges.contains(&index);
            is_in_range.then_some((body, (distance.particles, distance.rest_length)))
        });
        let edges = Buckets::new(bodies.len(), &edges.collect::<Vec<_>>());
        let triangles = (0..).zip(&scene.triangles).filter_map(|(index, triangle)| {
            let body = owner(triangle)?;
            bodies[body as usize].triangles.contains(&index).then_some((body, *triangle))
        });
        let triangles = Buckets::new(bodies.len(), &triangles.collect::<Vec<_>>());
        let graph = |(index, body): (usize, &TetheredBody)| {
            if body.edges.is_empty() {
                let triangles_of_range = &scene.triangles[body.triangles.start as usize..body.triangles.end as usize];
                let mut sides = sides(scene, triangles_of_range);
                sides.retain(|(side, _)| owner(side) == Some(index as u32));
                return BodyGraph::new(body, &sides, triangles.of(index));
            }
            BodyGraph::new(body, edges.of(index), triangles.of(index))
        };
        Self { bodies: bodies.iter().enumerate().map(graph).collect() }
    }

    /// The tether rows by range of particles: (first, count, tethers per particle). A particle has [`rows_of`] rows.
    pub fn runs(scene: &Scene) -> impl Iterator<Item = (u32, u32, u32)> {
        let run = |body: &TetheredBody| (body.particles.start, body.particles.len() as u32, body.tethers.per_particle);
        scene.tethered_bodies.iter().map(run)
    }

    /// Computes the tethers of all bodies for the given pins. The rows of a particle are consecutive, in the order of
    /// the ranges; unused rows refer to the particle itself and are never taut.
    pub fn tie(&self, is_pinned: impl Fn(u32) -> bool) -> Vec<TetherRow> {
        self.bodies.iter().flat_map(|body| body.tie(&is_pinned)).collect()
    }

    /// Recomputes the tethers of bodies with a particle that has been pinned or released.
    pub fn retie(&self, rows: &mut [TetherRow], changed: &[u32], is_pinned: impl Fn(u32) -> bool) {
        let mut changed = changed.to_vec();
        changed.sort_unstable();
        let mut rest = rows;
        for body in &self.bodies {
            let row_count = (body.particle_count() * rows_of(body.tethers.per_particle)) as usize;
            let (own, others) = rest.split_at_mut(row_count);
            let next = changed.partition_point(|&particle| particle < body.first_particle);
            if changed.get(next).is_some_and(|particle| particle - body.first_particle < body.particle_count()) {
                own.copy_from_slice(&body.tie(&is_pinned));
            }
            rest = others;
        }
    }
}

/// Rows per particle: an even number, because the GPU reads two at once.
pub(crate) fn rows_of(per_particle: u32) -> u32 {
    per_particle.next_multiple_of(2)
}

/// The sides of triangles with their lengths at the rest positions, each once.
fn sides(scene: &Scene, triangles: &[[u32; 3]]) -> Vec<Edge> {
    let sides = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let mut sides: Vec<[u32; 2]> = sides.map(|[a, b]| [a.min(b), a.max(b)]).collect();
    sides.sort_unstable();
    sides.dedup();
    let place = |particle: u32| glam::Vec3::from(scene.rest_positions[particle as usize]);
    sides.into_iter().map(|side| (side, place(side[0]).distance(place(side[1])))).collect()
}

impl BodyGraph {
    /// `edges` and `triangles` connect particles of the body.
    fn new(body: &TetheredBody, edges: &[Edge], triangles: &[[u32; 3]]) -> Self {
        let first = body.particles.start;
        let count = body.particles.len();
        let links = edges.iter().flat_map(|&(particles, length)| {
            let [a, b] = particles.map(|particle| particle - first);
            [(a, (b, length)), (b, (a, length))]
        });
        let (offsets, mut edges) = grouped(count, links);
        for particle in 0..count {
            edges[offsets[particle] as usize..offsets[particle + 1] as usize].sort_by_key(|edge| edge.0);
        }
        let length = |a: u32, b: u32| {
            let neighbours: &[(u32, f32)] = &edges[offsets[a as usize] as usize..offsets[a as usize + 1] as usize];
            neighbours.binary_search_by_key(&b, |edge| edge.0).map_or(f32::INFINITY, |place| neighbours[place].1)
        };
        let blades: Vec<[(u32, Blade); 3]> = triangles
            .iter()
            .map(|triangle| {
                let [a, b, c] = triangle.map(|particle| particle - first);
                let [ab, bc, ca] = [length(a, b), length(b, c), length(c, a)];
                let blade = |corners, sides| Blade { corners, sides };
                [(a, blade([b, c], [ab, ca, bc])), (b, blade([c, a], [bc, ab, ca])), (c, blade([a, b], [ca, bc, ab]))]
            })
            .collect();
        let (fan_offsets, fans) = grouped(count, blades.iter().flatten().copied());
        let (first_particle, tethers) = (first, body.tethers);
        let mut graph = Self { first_particle, tethers, offsets, edges, fan_offsets, fans, corners: Vec::new() };
        let mut met = Vec::new();
        graph.corners = (0..count as u32).map(|particle| graph.is_corner(particle, &mut met)).collect();
        graph
    }

    /// `met` is scratch memory.
    fn is_corner(&self, particle: u32, met: &mut Vec<u32>) -> bool {
        let fan = self.fan(particle);
        let angle = |blade: &Blade| {
            let [b, c, a] = blade.sides;
            if !blade.sides.iter().all(|side| side.is_finite()) {
                return 0.0;
            }
            ((b * b + c * c - a * a) / (2.0 * b * c)).clamp(-1.0, 1.0).acos()
        };
        // Inside, each neighbour is a corner of exactly two triangles.
        met.clear();
        met.extend(fan.iter().flat_map(|blade| blade.corners));
        met.sort_unstable();
        let inside = met.chunks(2).all(|pair| pair.len() == 2 && pair[0] == pair[1]);
        let straight = if inside { std::f32::consts::TAU } else { std::f32::consts::PI };
        fan.iter().map(angle).sum::<f32>() > straight + 1e-3
    }

    fn particle_count(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    fn neighbours(&self, particle: u32) -> &[(u32, f32)] {
        let particle = particle as usize;
        &self.edges[self.offsets[particle] as usize..self.offsets[particle + 1] as usize]
    }

    fn fan(&self, particle: u32) -> &[Blade] {
        let particle = particle as usize;
        &self.fans[self.fan_offsets[particle] as usize..self.fan_offsets[particle + 1] as usize]
    }

    fn tie(&self, is_pinned: &impl Fn(u32) -> bool) -> Vec<TetherRow> {
        let per_particle = self.tethers.per_particle as usize;
        // Unfolding needs labels of the same pin at two neighbours. A pin may be among the nearest ones of only one of
        // them, so extra labels are kept.
        let label_count = per_particle + SPARE_LABELS;
        let labels = self.geodesics(label_count, is_pinned);
        let spare = rows_of(self.tethers.per_particle) as usize - per_particle;
        let mut rows = Vec::with_capacity(self.particle_count() as usize * (per_particle + spare));
        for (particle, labels) in (0..self.particle_count()).zip(labels.chunks_exact(label_count)) {
            let slack = TetherRow { anchor: self.first_particle + particle, length: f32::INFINITY };
            // The nearest pin comes last, because the last tether is satisfied exactly.
            for label in labels[..per_particle].iter().rev() {
                let tied = label.settled && label.source != particle;
                rows.push(if tied {
                    TetherRow {
                        anchor: self.first_particle + label.source,
                        length: label.distance * self.tethers.scale,
                    }
                } else {
                    slack
                });
            }
            rows.extend(std::iter::repeat_n(slack, spare));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{ClothGrid, ClothMesh};

    /// Each particle must be tied to two pins, and each pin to another one.
    fn straight_line_error(scene: &Scene, pins: &[u32]) -> f64 {
        let rows = TetherGraph::new(scene).tie(|particle| pins.contains(&particle));
        let finite = rows.iter().filter(|row| row.length.is_finite()).count();
        assert_eq!(finite, 2 * scene.particle_count() - pins.len());
        let mut worst = 0.0f64;
        for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.length < f32::INFINITY) {
            let [a, b] =
                [index as u32 / 2, row.anchor].map(|p| glam::Vec3::from(scene.positions()[p as usize]).as_dvec3());
            worst = worst.max((f64::from(row.length) / a.distance(b) - 1.0).abs());
        }
        worst
    }

    #[test]
    fn geodesics_of_a_flat_grid_are_straight_lines() {
        let mut scene = Scene::new();
        let cloth = scene.add_cloth_grid(&ClothGrid { columns: 37, rows: 23, ..Default::default() }).unwrap();
        let error = straight_line_error(&scene, &[0, 36, 400]);
        assert!(error < 1e-5, "{error}");
        assert_eq!(cloth.particles.len(), 37 * 23);
    }

    #[test]
    fn geodesics_of_a_flat_irregular_mesh_are_straight_lines() {
        // A sheared and jittered grid: no edge points at the pins.
        let (columns, rows) = (21u32, 17u32);
        let jitter = |k: u32| ((k.wrapping_mul(2_654_435_761) >> 16) & 0xff) as f32 / 255.0 - 0.5;
        let positions: Vec<[f32; 3]> = (0..rows * columns)
            .map(|k| {
                let (r, c) = ((k / columns) as f32, (k % columns) as f32);
                [c + 0.3 * r + 0.4 * jitter(k), 0.0, r + 0.4 * jitter(k + 7919)]
            })
            .collect();
        let at = |r: u32, c: u32| r * columns + c;
        let cells = (0..rows - 1).flat_map(|r| (0..columns - 1).map(move |c| (r, c)));
        let triangles: Vec<[u32; 3]> = cells
            .flat_map(|(r, c)| [[at(r, c), at(r + 1, c), at(r, c + 1)], [at(r, c + 1), at(r + 1, c), at(r + 1, c + 1)]])
            .collect();
        let mut scene = Scene::new();
        let (fabric, tethers) = Default::default();
        let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers: Some(tethers) };
        scene.add_cloth_mesh(&mesh).unwrap();
        // The pins are inside, so every straight line stays on the mesh.
        let error = straight_line_error(&scene, &[at(8, 9), at(5, 14)]);
        assert!(error < 1e-5, "{error}");
    }

    /// An L shape: three squares of `side` cells with their common corner at the origin, jittered inside.
    #[test]
    fn geodesics_around_a_corner_turn_at_the_corner() {
        let side = 12i32;
        let hash = |k: i32| (((k as u32).wrapping_mul(2_654_435_761) >> 16) & 0xff) as f32 / 255.0 - 0.5;
        let mut positions = Vec::new();
        let mut index = std::collections::HashMap::new();
        for (z, x) in (-side..=side).flat_map(|z| (-side..=side).map(move |x| (z, x))) {
            if x <= 0 || z <= 0 {
                let inside = z.abs() < side && x.abs() < side && (x < 0 || z < 0);
                let shift = |k: i32| if inside { 0.5 * hash(k) } else { 0.0 };
                index.insert((z, x), positions.len() as u32);
                positions.push([x as f32 + shift(31 * z + x), 0.0, z as f32 + shift(x * 57 - z)]);
            }
        }
        let mut triangles = Vec::new();
        for (z, x) in (-side..side).flat_map(|z| (-side..side).map(move |x| (z, x))) {
            if x < 0 || z < 0 {
                let [a, b, c, d] = [(z, x), (z, x + 1), (z + 1, x), (z + 1, x + 1)].map(|place| index[&place]);
                triangles.extend([[a, c, b], [b, c, d]]);
            }
        }
        let mut scene = Scene::new();
        let (fabric, tethers) = Default::default();
        let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers: Some(tethers) };
        scene.add_cloth_mesh(&mesh).unwrap();
        let pin = index[&(side, -3)];
        let rows = TetherGraph::new(&scene).tie(|particle| particle == pin);
        let place = |particle: u32| glam::Vec3::from(positions[particle as usize]).as_dvec3();
        let start = place(pin);
        let mut worst = 0f64;
        for (&(z, x), &particle) in index.iter().filter(|(_, particle)| **particle != pin) {
            let end = place(particle);
            let length = rows[particle as usize * 2..][..2].iter().map(|row| row.length).fold(f32::INFINITY, f32::min);
            // If the straight line crosses z = 0 right of the corner, the path turns at the corner.
            let crossing = start.x + (end.x - start.x) * start.z / (start.z - end.z);
            let hidden = end.z < 0.0 && crossing > 0.0 || end.z == 0.0 && end.x > 0.0;
            let exact = if hidden { start.length() + end.length() } else { start.distance(end) };
            let error = f64::from(length) / exact - 1.0;
            // Never too short; slightly too long behind the corner, because only paths with the same root are unfolded
            // together.
            worst = worst.max(error);
            assert!(error > -1e-5, "{error} at row {z}, column {x}");
        }
        assert!(worst < 1.5e-2, "{worst}");
    }

    #[test]
    fn a_particle_without_pins_is_not_tied() {
        let mut scene = Scene::new();
        scene.add_cloth_grid(&ClothGrid { columns: 3, rows: 3, ..Default::default() }).unwrap();
        let rows = TetherGraph::new(&scene).tie(|_| false);
        assert!(rows.iter().all(|row| row.length == f32::INFINITY));
    }
}
