//! Contacts of the triangles of surfaces with colliders. Counterparts: `shaders/collision/collide_triangles.wgsl` and
//! `shaders/collision/apply_triangle_contacts.wgsl`.

use super::Reference;
use super::contact_sides::ContactSide;
use crate::collision::{HALF_SPACE, TWO_SIDED, TriangleView, mixed, sample};
use crate::geometry::vector::{dot, length, sum_of_components};
use glam::Vec3;
use std::collections::BTreeMap;

/// The contact of a triangle with a collider. Counterpart: `TriangleContact` in `shaders/common/contacts.wgsl`.
#[derive(Debug, Clone, Copy)]
struct TriangleContact {
    /// Index of the collider.
    owner: usize,
    /// Barycentric weights of the second and of the third corner.
    weights: [f32; 2],
    /// Displacement of the contact point by the contact and by friction, times its effective mass [kg m].
    impulse: Vec3,
    /// The normal part of `impulse` [kg m].
    normal_impulse: f32,
    /// Displacement along the normal that removes overlap of the start of the substep, times the same mass [kg m].
    recovery: f32,
    /// Outward normal of the collider.
    normal: Vec3,
    /// Displacement of the collider along the normal at the contact point \[m\].
    carried: f32,
    /// Offset of the contact point from the collider \[m\].
    arm: Vec3,
}

/// The contact with one collider.
struct Candidate {
    contact: TriangleContact,
    /// The displacement along the normal that ends the contact \[m\].
    depth: f32,
}

/// Normals are opposite if the cosine of their angle is less.
const OPPOSITE: f32 = -0.9;

/// A triangle in a substep.
struct Triangle {
    corners: [usize; 3],
    x: [Vec3; 3],
    /// Displacements without the residuals.
    d: [Vec3; 3],
    /// Residuals of the positions.
    rest: [Vec3; 3],
    side: ContactSide,
    borders: u32,
}

/// The triangles of surfaces and their contacts.
#[derive(Debug, Clone, Default)]
pub(super) struct TriangleContacts {
    /// As `ContactElements::triangles`; empty before the first use.
    rows: Vec<[u32; 4]>,
    found: Vec<([usize; 3], TriangleContact)>,
}

impl TriangleContact {
    fn weight(&self, corner: usize) -> f32 {
        match corner {
            0 => (1.0 - self.weights[0]) - self.weights[1],
            _ => self.weights[corner - 1],
        }
    }
}

impl Reference {
    pub(super) fn collide_triangles(&mut self) {
        let mut found = Vec::new();
        let elements = &self.controls.compiled.contact_elements;
        if self.triangle_contacts.rows.is_empty() {
            self.triangle_contacts.rows = elements.triangles();
        }
        for &[a, b, c, borders] in &self.triangle_contacts.rows {
            let corners = [a, b, c].map(|corner| corner as usize);
            let is_fixed = corners.iter().all(|&corner| self.controls.inverse_masses[corner] == 0.0);
            let Some(side) = self.contact_side(&[a, b, c]).filter(|_| !is_fixed) else { continue };
            let x = corners.map(|corner| self.positions[corner]);
            let rest = corners.map(|corner| self.position_residuals[corner]);
            let d = corners.map(|corner| self.displacements[corner] - self.position_residuals[corner]);
            let triangle = Triangle { corners, x, d, rest, side, borders };
            if let Some(contact) = self.deepest_contact(&triangle) {
                found.push((corners, contact));
            }
        }
        self.triangle_contacts.found = found;
    }

    /// The contact with the collider into which a triangle is deepest.
    fn deepest_contact(&self, triangle: &Triangle) -> Option<TriangleContact> {
        let x = triangle.x;
        let center = ((x[0] + x[1]) + x[2]) * (1.0 / 3.0);
        let reach = |k: usize| sum_of_components(x[k] - center) + sum_of_components(triangle.d[k]);
        let reach = [0, 1, 2].map(reach).into_iter().fold(0.0, f32::max);
        let mut best: Option<Candidate> = None;
        // Depth in a collider on the other side: between two, the triangle has the same depth in both.
        let mut against = 0.0f32;
        for (index, collider) in self.colliders.iter().enumerate() {
            if !collider.is_near(center, reach) {
                continue;
            }
            let Some(own) = self.contact_with(index, triangle) else { continue };
            let (depth, opposite) = match &best {
                Some(best) => (best.depth, dot(own.contact.normal, best.contact.normal) < OPPOSITE),
                None => (0.0, false),
            };
            if own.depth > depth {
                against = if opposite { depth } else { 0.0 };
                best = Some(own);
            } else if opposite {
                against = against.max(own.depth);
            }
        }
        best.map(|Candidate { mut contact, depth }| {
            if against > 0.0 {
                let share = 0.5 * (depth - against) / depth;
                contact.impulse *= share;
                contact.normal_impulse *= share;
                contact.recovery *= share;
            }
            contact
        })
    }

    /// The contact of a triangle with a collider.
    fn contact_with(&self, index: usize, triangle: &Triangle) -> Option<Candidate> {
        let (params, collider) = (&self.contact_params, &self.colliders[index]);
        let may_meet = !collider.is_removed() && params.touch(triangle.side.material, collider.material);
        if collider.shape == HALF_SPACE || !may_meet {
            return None;
        }
        let keep = triangle.side.distance_to(collider);
        let frame = &collider.frame;
        let motions = [0, 1, 2].map(|k| collider.relative_motion(triangle.x[k], triangle.rest[k], triangle.d[k]));
        let (start, displacement) = (motions.map(|[start, _]| start), motions.map(|[_, displacement]| displacement));
        let local = [0, 1, 2].map(|k| frame.turned_into(start[k] + displacement[k]));
        let data = &self.controls.colliders.data;
        let mut view = TriangleView { collider, data, keep, side: 1.0, borders: triangle.borders };
        if collider.flags & TWO_SIDED != 0 {
            let center = frame.turned_into(mixed(Vec3::splat(1.0 / 3.0), start));
            view.side = if sample(collider, data, center, keep).distance < 0.0 { -1.0 } else { 1.0 };
        }
        let deepest = view.deepest_point(local)?;
        let w = Vec3::from(triangle.corners.map(|corner| self.controls.inverse_masses[corner]));
        let weighted = deepest.weights * deepest.weights * w;
        let inverse_mass = (weighted.x + weighted.y) + weighted.z;
        // Far from the collider, squared lengths are infinite.
        if inverse_mass == 0.0 || !deepest.depth.is_finite() {
            return None;
        }
        // World space from here on.
        let normal = frame.turned_out_of(deepest.normal);
        let motion = mixed(deepest.weights, displacement);
        // The contact ends the approach; the rest of its depth is overlap, which is no velocity.
        let push = (-dot(normal, motion)).clamp(0.0, deepest.depth);
        let recovered = (deepest.depth - push).min(params.recovery);
        let relative = motion - Vec3::from(collider.surface_step);
        let slip = relative - normal * dot(normal, relative);
        let [statics, kinetic, ..] = params.friction(triangle.side.material, collider.material);
        let [statics, kinetic] = [statics, kinetic].map(|coefficient| coefficient * triangle.side.friction);
        let l = length(slip);
        let share = if l <= statics * push { 1.0 } else { kinetic * push / l };
        let change = normal * push - slip * share;
        let contact = TriangleContact {
            owner: index,
            weights: [deepest.weights.y, deepest.weights.z],
            impulse: change / inverse_mass,
            normal_impulse: push / inverse_mass,
            recovery: recovered / inverse_mass,
            normal,
            carried: dot(normal, mixed(deepest.weights, triangle.d) - motion),
            arm: mixed(deepest.weights, start) + motion,
        };
        Some(Candidate { contact, depth: deepest.depth })
    }

    /// Moves the particles of triangles in contact. A particle follows the contact that moves it most: the mean of several
    /// would leave each of them unresolved. Together they may move a triangle farther than its own contact would. So the contact takes from a
    /// particle no more than its approach; the rest is recovery, and no particle rebounds.
    pub(super) fn apply_triangle_contacts(&mut self) {
        let contacts = std::mem::take(&mut self.triangle_contacts.found);
        let mut strongest = BTreeMap::<usize, (f32, f32, TriangleContact)>::new();
        for (corners, contact) in &contacts {
            for (corner, &i) in corners.iter().enumerate() {
                let b = contact.weight(corner);
                let size = b * length(contact.impulse + contact.normal * contact.recovery);
                if size > strongest.get(&i).map_or(0.0, |&(most, ..)| most) {
                    strongest.insert(i, (size, b, *contact));
                }
            }
        }
        for (i, (_, b, contact)) in strongest {
            if self.controls.inverse_masses[i] != 0.0 {
                self.move_by_triangle(i, b, &contact);
            }
        }
    }

    fn move_by_triangle(&mut self, i: usize, b: f32, contact: &TriangleContact) {
        let scale = self.controls.inverse_masses[i] * b;
        let push = contact.normal_impulse * scale;
        let motion = self.displacements[i] - self.position_residuals[i];
        let approach = contact.carried - dot(contact.normal, motion);
        let kept = if push > 0.0 { (approach / push).clamp(0.0, 1.0) } else { 1.0 };
        let d = self.displacements[i] + contact.impulse * (scale * kept);
        let away = contact.normal * (contact.recovery * scale + (push - push * kept));
        if self.controls.settings.keeps_surfaces_apart() {
            let whole = d + away;
            self.displacements[i] = whole;
            let own = &mut self.collider_contacts[i];
            (own.recovery, own.displacement_length) = (own.recovery + away, length(whole));
        } else {
            self.displacements[i] = d;
            self.positions[i] += away;
        }
        if self.controls.settings.keeps_collider_impulses() {
            let share = b / self.params.h * kept;
            let own = (contact.impulse * -share, contact.normal_impulse * share);
            self.push_on(i, contact.owner as u32, own, contact.arm);
        }
    }
}
