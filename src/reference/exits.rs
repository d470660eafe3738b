//! Exits: how a particle that starts a substep inside of colliders leaves them. The WGSL counterpart is
//! `shaders/collision/collide/exits.wgsl`.
//!
//! The nearest exit of one collider may lie in another: at the seam of two flush boxes each would push into the other.
//! The nearest exit that lies in no other collider is taken. The collider of this exit pushes the particle; other
//! overlapping colliders ignore it. An exit may lead through one other collider, as in a corner between floor and wall.
//! If no exit is free, each collider pushes through its nearest one.

use super::Reference;
use super::contact_sides::ContactSide;
use crate::collision::{ColliderRow, DISABLED, Exits, Sample, TWO_SIDED, sample};
use crate::geometry::vector::dot;
use glam::Vec3;

/// The way out of all colliders that contain a particle.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Exit {
    /// Index of its collider; `None` if no exit is free.
    pub owner: Option<usize>,
    /// Outward normal in world space; unused if `depth` is 0.
    pub normal: Vec3,
    /// Distance along the normal to the exit \[m\]; 0 for the nearest exit of the owner.
    pub depth: f32,
}

/// Tolerance of a point on a surface, as a share of the contact distance. It exceeds rounding errors
/// within 1 km of the origin.
pub(super) const SURFACE_TOLERANCE: f32 = 0.0625;

/// Colliders are on opposite sides of a particle if the cosine of the angle between their normals is less.
const OPPOSITE: f32 = -0.9;

/// A particle inside of a collider.
#[derive(Clone, Copy)]
pub(super) struct Inside {
    pub x: Vec3,
    /// Position residual: the rounding error of x.
    pub rest: Vec3,
    pub side: ContactSide,
}

/// Start of an exit: a point in or at a collider, reached at a distance of `cost` \[m\].
struct Origin<'a> {
    index: usize,
    place: Inside,
    cost: f32,
    exits: Exits<'a>,
}

impl Reference {
    /// The exit of a particle. Called only for particles inside of a collider.
    pub(super) fn exit(&self, inside: Inside) -> Exit {
        let (mut best, mut least) = (Exit::default(), f32::MAX);
        for index in self.colliders_near(inside.x) {
            let Some(origin) = self.origin(index, inside, 0.0) else { continue };
            if origin.exits.near.distance > SURFACE_TOLERANCE * origin.exits.keep {
                continue;
            }
            for k in 0..origin.exits.count() {
                let Some((exit, end, cost)) = self.exit_from(&origin, k, least) else { continue };
                match self.blocker(end, &origin) {
                    None => (best, least) = (exit, cost),
                    Some(blocker) => {
                        let Some(next) = self.origin(blocker, end, cost) else { continue };
                        for k in 0..next.exits.count() {
                            let Some((_, end, cost)) = self.exit_from(&next, k, least) else { continue };
                            if self.blocker(end, &next).is_none() {
                                (best, least) = (exit, cost);
                            }
                        }
                    }
                }
            }
        }
        best
    }

    /// The indices of the colliders whose bounds contain a point.
    fn colliders_near(&self, x: Vec3) -> impl Iterator<Item = usize> {
        self.colliders.iter().enumerate().filter(move |(_, collider)| collider.is_near(x, 0.0)).map(|(index, _)| index)
    }

    /// Exit `k` of the origin, its end point and its total distance; `None` if that is not less than `least` \[m\].
    fn exit_from(&self, origin: &Origin, k: u32, least: f32) -> Option<(Exit, Inside, f32)> {
        let (normal, depth) = origin.exits.exit(k);
        let cost = origin.cost + depth;
        if cost >= least {
            return None;
        }
        let normal = self.colliders[origin.index].frame.turned_out_of(normal);
        let end = Inside { x: origin.place.x + normal * depth, ..origin.place };
        Some((Exit { owner: Some(origin.index), normal, depth: if k == 0 { 0.0 } else { depth } }, end, cost))
    }

    /// A collider other than the origin that contains the point. A point on surfaces is moved away from them and tested
    /// again: it is free in front of a wall, and not in a seam.
    fn blocker(&self, mut place: Inside, origin: &Origin) -> Option<usize> {
        let slack = SURFACE_TOLERANCE * origin.exits.keep;
        let mut blocker = None;
        for _ in 0..2 {
            blocker = None;
            let mut away = Vec3::ZERO;
            for index in self.colliders_near(place.x).filter(|&index| index != origin.index) {
                let Some((_, near)) = self.sample_at(place, index) else { continue };
                if near.distance < -slack {
                    return Some(index);
                }
                if near.distance < slack {
                    blocker = Some(index);
                    away += self.colliders[index].frame.turned_out_of(near.normal);
                }
            }
            blocker?;
            place.x += away * (2.0 * slack);
        }
        blocker
    }

    fn origin(&self, index: usize, place: Inside, cost: f32) -> Option<Origin<'_>> {
        let (p, near) = self.sample_at(place, index)?;
        let collider = &self.colliders[index];
        let keep = place.side.distance_to(collider);
        let exits = Exits { collider, data: &self.controls.colliders.data, p, keep, near };
        Some(Origin { index, place, cost, exits })
    }

    /// The share of its distance that a particle between two opposite colliders keeps: what the gap between them has
    /// room for. Colliders without a gap between them push the particle out. `near` is the sample of the collider with
    /// this index.
    pub(super) fn squeeze(&self, index: usize, place: Inside, near: Sample, keep: f32) -> f32 {
        let normal = self.colliders[index].frame.turned_out_of(near.normal);
        let mut least = 1.0;
        for other in self.colliders_near(place.x).filter(|&other| other != index) {
            let Some((_, there)) = self.sample_at(place, other) else { continue };
            let (radius, keep_there) = (place.side.radius, place.side.distance_to(&self.colliders[other]));
            let normal_there = self.colliders[other].frame.turned_out_of(there.normal);
            let share = (near.distance + there.distance) / (keep + keep_there);
            if there.distance < keep_there + radius && share > SURFACE_TOLERANCE && dot(normal, normal_there) < OPPOSITE
            {
                least = f32::min(least, share);
            }
        }
        least
    }

    /// The point in the frame of a collider and its distance sample; `None` for colliders that are disabled, do not
    /// collide with the particle, or are shells, which have no interior.
    fn sample_at(&self, inside: Inside, index: usize) -> Option<(Vec3, Sample)> {
        let (params, collider) = (&self.contact_params, &self.colliders[index]);
        if collider.flags & (DISABLED | TWO_SIDED) != 0 || !params.touch(inside.side.material, collider.material) {
            return None;
        }
        let p = in_frame(collider, inside);
        let keep = inside.side.distance_to(collider);
        Some((p, sample(collider, &self.controls.colliders.data, p, keep)))
    }
}

/// A point at the start of the substep, moved with the collider to the end of it, in the collider's frame.
fn in_frame(collider: &ColliderRow, inside: Inside) -> Vec3 {
    let [start, _] = collider.relative_motion(inside.x, inside.rest, Vec3::ZERO);
    collider.frame.turned_into(start)
}
