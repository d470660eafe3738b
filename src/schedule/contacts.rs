//! The elements of collision: particles, edges and triangles, with their bodies and contact materials.

use crate::collision::MAX_CONTACT_MATERIALS;
use crate::collision::crossing::NO_WING;
use crate::geometry::{Distinct, grouped, root, unite};
use crate::scene::{Scene, follows};
use glam::Vec3;
use std::collections::HashMap;

/// Number of element types: particle (0), edge (1), triangle (2).
const TYPES: usize = 3;

/// Contact material of a particle without contacts: a follower, or one in reserve for a tear.
pub(crate) const UNTOUCHABLE: u32 = 0x7f;

/// Flag beside the contact material: a particle of edges without triangles, as of a rope.
const CORD: u32 = 0x80;

/// The elements of collision. They change at tears of cloth only.
#[derive(Debug, Clone, Default)]
pub(crate) struct ContactElements {
    /// By particle: rest position (bits), and in the last word its contact material and [`CORD`], with its body in the upper
    /// 24 bits.
    pub particles: Vec<[u32; 4]>,
    /// By contact material, the number of its particles.
    pub counts: [u32; MAX_CONTACT_MATERIALS],
    /// By contact material: bit k is 1 if an element has a particle of it, and the contact material k.
    pub elements_of: [u32; MAX_CONTACT_MATERIALS],
    /// Three particles and a type, in this order: particles of triangles, of edges only, isolated particles, edges,
    /// triangles. The contact material of an element is that of its first particle.
    pub elements: Vec<[u32; 4]>,
    /// The first element of each of these five groups, and the end.
    pub firsts: [u32; 6],
    /// By edge, the third corners of up to two adjacent triangles, else [`NO_WING`]; for ropes always.
    pub wings: Vec<[u32; 2]>,
    /// By type, distance of the center of an element from its particles at rest.
    pub radii: [Radii; TYPES],
}

/// By particle: its body. Each connected component of particles that no builder made is a body. If constraints connect it to one body of a
/// builder, it belongs to that; if to several, it stays apart. Constraints do not unite bodies of builders, whose contacts with each other would end
/// where they are near at rest.
fn bodies(scene: &Scene) -> Vec<u32> {
    let mut parents: Vec<u32> = (0..scene.particle_count() as u32).collect();
    let mut built = vec![false; parents.len()];
    for body in &scene.bodies {
        let particles = body.start as usize..body.end as usize;
        parents[particles.clone()].fill(body.start);
        built[particles].fill(true);
    }
    // A loose particle and one of a builder that a constraint connects.
    let mut bridges = Vec::new();
    for set in &scene.constraints {
        for record in set.records() {
            let particles = || set.info.points(record, &set.rows);
            let Some(loose) = particles().find(|&particle| !built[particle as usize]) else { continue };
            for particle in particles() {
                if built[particle as usize] {
                    bridges.push([loose, particle]);
                } else {
                    unite(&mut parents, loose, particle);
                }
            }
        }
    }
    // By component of loose particles, the one body of a builder to which it is connected; none if there are several.
    let mut neighbours: HashMap<u32, Option<u32>> = HashMap::new();
    for bridge in bridges {
        let [component, body] = bridge.map(|particle| root(&mut parents, particle));
        let own = neighbours.entry(component).or_insert(Some(body));
        *own = own.filter(|own| *own == body);
    }
    for (component, body) in neighbours {
        if let Some(body) = body {
            parents[component as usize] = body;
        }
    }
    // 24 bits hold 16 million bodies. If two bodies share a number, pairs that are close at rest have no contact.
    (0..parents.len() as u32).map(|i| root(&mut parents, i) & 0x00ff_ffff).collect()
}

/// The triangles without followers; those that a mesh lists twice once, as they would have two contacts.
fn distinct_triangles(scene: &Scene) -> Vec<[u32; 3]> {
    let has_follower = |triangle: &[u32; 3]| triangle.iter().any(|&particle| follows(&scene.followers, particle));
    let all: Vec<[u32; 3]> = scene.triangles.iter().copied().filter(|triangle| !has_follower(triangle)).collect();
    let corners = all.iter().map(|&triangle| {
        let mut corners = triangle;
        corners.sort_unstable();
        (corners[0], [corners[1], corners[2]])
    });
    let Distinct { values, places } = Distinct::new(scene.particle_count(), corners);
    let mut known = vec![false; values.len()];
    let fresh = |place: u32| !std::mem::replace(&mut known[place as usize], true);
    let fresh: Vec<bool> = places.into_iter().map(fresh).collect();
    all.into_iter().zip(fresh).filter(|&(_, fresh)| fresh).map(|(triangle, _)| triangle).collect()
}

/// By edge, the third corners of its triangles. The sides of triangle i are the edges at `places[3 i..]`.
fn wings(triangles: &[[u32; 3]], places: &[u32], edge_count: usize) -> Vec<[u32; 2]> {
    let mut wings = vec![[NO_WING; 2]; edge_count];
    for (&[a, b, c], places) in triangles.iter().zip(places.chunks_exact(3)) {
        for (wing, &place) in [c, a, b].into_iter().zip(places) {
            let [first, second] = &mut wings[place as usize];
            // Two triangles at an edge determine a direction; further ones are ignored.
            if *first == NO_WING {
                *first = wing;
            } else if *second == NO_WING {
                *second = wing;
            }
        }
    }
    wings
}

/// The minimum, the bound of the smallest eighth, and the maximum of the radii of the elements of a type \[m\]; 0 without
/// any.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Radii {
    pub least: f32,
    pub eighth: f32,
    pub most: f32,
}

/// See [`ContactElements::radii`].
fn radii(scene: &Scene, elements: &[[u32; 4]], firsts: [u32; 6]) -> [Radii; TYPES] {
    let rest = |particle: u32| Vec3::from(scene.rest_positions[particle as usize]);
    let radius = |&[a, b, c, of]: &[u32; 4]| {
        let center = center([rest(a), rest(b), rest(c)], of);
        [a, b, c].map(|particle| rest(particle).distance(center)).into_iter().fold(0.0, f32::max)
    };
    let radii_of = |first: u32, end: u32| {
        let mut radii: Vec<f32> = elements[first as usize..end as usize].iter().map(radius).collect();
        if radii.is_empty() {
            return Radii::default();
        }
        let eighth = radii.len() / 8;
        let (smaller, &mut eighth, larger) = radii.select_nth_unstable_by(eighth, f32::total_cmp);
        Radii {
            least: smaller.iter().copied().fold(eighth, f32::min),
            eighth,
            most: larger.iter().copied().fold(eighth, f32::max),
        }
    };
    [Radii::default(), radii_of(firsts[3], firsts[4]), radii_of(firsts[4], firsts[5])]
}

impl ContactElements {
    pub fn new(scene: &Scene) -> Self {
        let count = scene.particle_count();
        let bodies = bodies(scene);
        let row = |particle: usize| {
            let [x, y, z] = scene.rest_positions[particle].map(f32::to_bits);
            let material = if scene.is_contactless(particle as u32) {
                UNTOUCHABLE
            } else {
                scene.particle_contacts[particle].0.into()
            };
            [x, y, z, bodies[particle] << 8 | material]
        };
        let mut particles: Vec<[u32; 4]> = (0..count).map(row).collect();
        let triangles = distinct_triangles(scene);
        let sides = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let ends = sides.chain(scene.cord_edges.iter().copied()).map(|[a, b]| (a.min(b), a.max(b)));
        // The sides of triangle i are the edges at `places[3 i..]`.
        let Distinct { values: edges, places } = Distinct::new(count, ends);
        // By particle: 0 in triangles, 1 in edges only, 2 in neither.
        let mut groups = vec![2; count];
        edges.iter().flat_map(|&(a, b)| [a, b]).for_each(|particle| groups[particle as usize] = 1);
        triangles.iter().flatten().for_each(|&particle| groups[particle as usize] = 0);
        let mut elements = Vec::with_capacity(count + edges.len() + triangles.len());
        let mut firsts = [0; 6];
        for group in 0..3 {
            let own = (0..count as u32).filter(|&i| groups[i as usize] == group && !scene.is_contactless(i));
            elements.extend(own.map(|i| [i, i, i, 0]));
            firsts[group + 1] = elements.len() as u32;
        }
        for &[cord, ..] in &elements[firsts[1] as usize..firsts[2] as usize] {
            particles[cord as usize][3] |= CORD;
        }
        elements.extend(edges.iter().map(|&(a, b)| [a, b, b, 1]));
        firsts[4] = elements.len() as u32;
        elements.extend(triangles.iter().map(|&[a, b, c]| [a, b, c, 2]));
        firsts[5] = elements.len() as u32;
        let wings = wings(&triangles, &places, edges.len());
        let radii = radii(scene, &elements, firsts);
        let mut counts = [0; MAX_CONTACT_MATERIALS];
        for material in particles.iter().map(|row| row[3] & UNTOUCHABLE).filter(|&material| material != UNTOUCHABLE) {
            counts[material as usize] += 1;
        }
        let mut elements_of = [0; MAX_CONTACT_MATERIALS];
        for &[a, b, c, _] in &elements {
            let materials = [a, b, c].map(|particle| particles[particle as usize][3] & UNTOUCHABLE);
            for material in materials {
                elements_of[material as usize] |= 1 << materials[0];
            }
        }
        Self { particles, counts, elements_of, elements, firsts, wings, radii }
    }

    /// True if a surface has triangles.
    pub fn has_triangles(&self) -> bool {
        self.firsts[4] < self.firsts[5]
    }

    /// The triangles: three particles each, and the edges that are borders of the surface: bit k is 1 for the edge
    /// opposite of corner k.
    pub fn triangles(&self) -> Vec<[u32; 4]> {
        let [.., edge_first, first, end] = self.firsts.map(|first| first as usize);
        let edges: std::collections::BTreeSet<[u32; 2]> = self.elements[edge_first..first]
            .iter()
            .zip(&self.wings)
            .filter(|(_, [_, second])| *second == NO_WING)
            .map(|(&[a, b, ..], _)| [a, b])
            .collect();
        let is_border = |a: u32, b: u32| u32::from(edges.contains(&[a.min(b), a.max(b)]));
        let row = |&[a, b, c, _]: &[u32; 4]| [a, b, c, is_border(b, c) | is_border(c, a) << 1 | is_border(a, b) << 2];
        self.elements[first..end].iter().map(row).collect()
    }

    /// The corners of triangles by particle: 4 times the triangle, plus the corner. Particle p has the corners
    /// `offsets[p]..offsets[p + 1]`.
    pub fn corners(&self) -> (Vec<u32>, Vec<u32>) {
        let corner =
            |(place, &[a, b, c, _]): (u32, &[u32; 4])| [(a, 4 * place), (b, 4 * place + 1), (c, 4 * place + 2)];
        let [.., first, end] = self.firsts.map(|first| first as usize);
        grouped(self.particles.len(), (0..).zip(&self.elements[first..end]).flat_map(corner))
    }

    /// Rest position of a particle.
    pub fn rest(&self, particle: u32) -> Vec3 {
        let [x, y, z, _] = self.particles[particle as usize];
        [x, y, z].map(f32::from_bits).into()
    }

    /// The body of a particle.
    pub fn body(&self, particle: u32) -> u32 {
        self.particles[particle as usize][3] >> 8
    }

    /// The contact material of a particle.
    pub fn material(&self, particle: u32) -> u32 {
        self.particles[particle as usize][3] & UNTOUCHABLE
    }

    /// True if a particle is in edges, but not in triangles.
    pub fn is_cord(&self, particle: u32) -> bool {
        self.particles[particle as usize][3] & CORD != 0
    }
}

/// The center of an element of type `of`.
fn center(p: [Vec3; 3], of: u32) -> Vec3 {
    match of {
        0 => p[0],
        1 => (p[0] + p[1]) * 0.5,
        _ => ((p[0] + p[1]) + p[2]) * (1.0 / 3.0),
    }
}
