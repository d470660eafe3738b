//! Collider passes: collision, restitution, interpolation and commit of the colliders, and the forces on them.

use super::Reference;
use super::contact_sides::ContactSide;
use super::exits::{Exit, Inside, SURFACE_TOLERANCE};
use super::friction::{ColliderFriction, Slip};
use crate::collision::{ColliderFrame, ColliderRow, MOVING, Sample, TWO_SIDED, sample};
use crate::constraints::group;
use crate::geometry::vector::{dot, length, sum_of_components};
use glam::Vec3;

/// Collider contact of a particle. Counterpart: `ColliderContact` in `shaders/common/contacts.wgsl`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ColliderContact {
    /// Displacement by restitution, added after the particle has moved.
    pub bounce: Vec3,
    /// Part of the displacement that moves the particle out of colliders; not part of its velocity.
    pub recovery: Vec3,
    /// Length of the whole displacement.
    pub displacement_length: f32,
    pub friction: ColliderFriction,
    /// Impulses on up to two colliders in this step.
    pub impulses: [Option<ColliderImpulse>; 2],
}

/// Impulse of a particle on a collider in this step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ColliderImpulse {
    /// Index of the collider.
    pub collider: u32,
    /// Impulse \[N s\], and its moment about the position of the collider \[N m s\].
    pub impulse: Vec3,
    pub moment: Vec3,
    /// Sum of the normal impulses \[N s\].
    pub normal: f32,
}

/// A particle during a collider pass.
struct Moving {
    side: ContactSide,
    /// The position residual.
    rest: Vec3,
    is_first: bool,
    /// Position, including the recovery.
    x: Vec3,
    /// Displacement, without the recovery.
    d: Vec3,
    recovery: Vec3,
    was_met: bool,
    /// Exit from the colliders that contain it; `None` until it is computed.
    exit: Option<Exit>,
    friction: ColliderFriction,
}

/// The contact of a particle with a collider in a substep.
struct ColliderHit {
    index: usize,
    impact: Impact,
    /// Start position relative to the collider, and displacement relative to it, in world space.
    start: Vec3,
    displacement: Vec3,
    /// The contact distance.
    keep: f32,
}

/// Maximum number of iterations of conservative advancement.
const MOST_ADVANCES: u32 = 24;

/// A particle in the frame of a collider, in a substep.
struct LocalParticle<'a> {
    collider: &'a ColliderRow,
    data: &'a [f32],
    /// Start position, and displacement relative to the collider.
    p: Vec3,
    delta: Vec3,
    /// The contact distance.
    keep: f32,
}

impl Reference {
    pub(super) fn collide(&mut self, i: usize, is_first: bool) {
        let Some(side) = self.contact_side(&[i as u32]).filter(|_| self.controls.inverse_masses[i] != 0.0) else {
            return;
        };
        let keeps_apart = self.controls.settings.keeps_surfaces_apart();
        let recovery = if keeps_apart { self.collider_contacts[i].recovery } else { Vec3::ZERO };
        let friction = if is_first { ColliderFriction::default() } else { self.collider_contacts[i].friction };
        // The position residual is no motion: it takes no part in friction.
        let rest = self.position_residuals[i];
        let (x, d) = (self.positions[i] + recovery, self.displacements[i] - rest - recovery);
        let was_met = recovery != Vec3::ZERO;
        let mut particle = Moving { side, rest, is_first, x, d, recovery, was_met, exit: None, friction };
        for index in 0..self.colliders.len() {
            if let Some(hit) = self.find_hit(index, &mut particle) {
                self.respond(i, &hit, &mut particle);
            }
        }
        self.collider_contacts[i].friction = particle.friction;
        if !particle.was_met {
            return;
        }
        if keeps_apart {
            let whole = particle.d + particle.recovery;
            self.displacements[i] = whole + rest;
            (self.collider_contacts[i].recovery, self.collider_contacts[i].displacement_length) =
                (particle.recovery, length(whole));
        } else {
            (self.positions[i], self.displacements[i]) = (particle.x, particle.d + rest);
        }
    }

    /// The contact of a particle with a collider, if there is one.
    fn find_hit(&self, index: usize, particle: &mut Moving) -> Option<ColliderHit> {
        let &mut Moving { side, rest, x, d, .. } = particle;
        let (params, collider) = (&self.contact_params, &self.colliders[index]);
        if collider.is_removed() || !params.touch(side.material, collider.material) {
            return None;
        }
        let keep = side.distance_to(collider);
        if !collider.is_near(x, sum_of_components(d)) {
            return None;
        }
        let [start, displacement] = collider.relative_motion(x, rest, d);
        let (p, delta) = (collider.frame.turned_into(start), collider.frame.turned_into(displacement));
        let mut local = LocalParticle { collider, data: &self.controls.colliders.data, p, delta, keep };
        let near = local.sample(p);
        let inside = Inside { x, rest, side };
        let is_solid = collider.flags & TWO_SIDED == 0 && self.colliders.len() > 1;
        if is_solid && near.distance < keep + length(delta) {
            local.keep *= self.squeeze(index, inside, near, keep);
        }
        let keep = local.keep;
        let exit = if is_solid && near.distance < (1.0 - SURFACE_TOLERANCE) * keep {
            *particle.exit.get_or_insert_with(|| self.exit(inside))
        } else {
            Exit::default()
        };
        if exit.owner.is_some_and(|owner| owner != index) {
            return None;
        }
        // The impact is in world space.
        let turned = |impact: Impact| Impact { normal: collider.frame.turned_out_of(impact.normal), ..impact };
        let impact = if exit.depth > 0.0 { exit.impact(displacement) } else { local.impact(near).map(turned) };
        let impact = impact.or_else(|| {
            // A contact of an earlier pass of the substep keeps its friction.
            let end = |normal| turned(Impact { normal, depth: 0.0, start_gap: 0.0, time: 0.0 });
            (particle.friction.owner == Some(index)).then(|| end(local.sample(p + delta).normal))
        });
        impact.map(|impact| ColliderHit { index, impact, start, displacement, keep })
    }

    /// Moves a particle out of a collider, with friction and restitution.
    fn respond(&mut self, i: usize, hit: &ColliderHit, particle: &mut Moving) {
        let Impact { normal, depth, start_gap, .. } = hit.impact;
        let (params, collider, displacement) = (&self.contact_params, &self.colliders[hit.index], hit.displacement);
        // Initial overlap changes the position and not the velocity.
        let overlap = depth.min((-start_gap).max(0.0));
        let push = depth - overlap;
        let recovered = if particle.is_first { overlap.min(params.recovery) } else { 0.0 };
        let [statics, kinetic, restitution, _] = params.friction(particle.side.material, collider.material);
        let coefficients = [statics, kinetic].map(|coefficient| coefficient * particle.side.friction);
        // Restitution, in addition to the push, above the speed that gravity gives in two substeps.
        let gravity = Vec3::from(self.params.gravity_step);
        let speed = -dot(normal, displacement - gravity);
        let bounces = restitution > 0.0 && push > 0.0 && speed > 2.0 * length(gravity);
        // Includes the restitution by other colliders and earlier in the substep.
        let given = dot(normal, self.collider_contacts[i].bounce);
        let left = dot(normal, displacement) + push + given;
        let back = if bounces { (restitution * speed - left).max(0.0) } else { 0.0 };
        let slip = displacement - Vec3::from(collider.surface_step);
        let slip = slip - normal * dot(normal, slip);
        let slip = Slip { index: hit.index, slip, push, back, time: hit.impact.time, keep: hit.keep };
        let before = particle.friction;
        let of_before = if before.owner == Some(hit.index) { before } else { ColliderFriction::default() };
        let (friction, beyond) = slip.after_friction(of_before, coefficients);
        let change = normal * push + (friction.displacement - of_before.displacement);
        if before.owner == Some(hit.index) || before.owner.is_none() && push > 0.0 {
            particle.friction = friction;
        }
        let away = normal * recovered;
        (particle.x, particle.d, particle.recovery) =
            (particle.x + away, particle.d + change, particle.recovery + away);
        particle.was_met = true;
        let mut bounce = Vec3::ZERO;
        if back > 0.0 {
            bounce = normal * back - beyond;
            self.collider_contacts[i].bounce += bounce;
        }
        if self.controls.settings.keeps_collider_impulses() {
            let scale = self.controls.inverse_masses[i] * self.params.h;
            let own = (-((change + bounce) / scale), (push + back) / scale);
            self.push_on(i, hit.index as u32, own, hit.start + displacement);
        }
    }

    /// Adds an impulse on a collider and its normal part \[N s\], at an arm from its position \[m\].
    pub(super) fn push_on(&mut self, i: usize, collider: u32, (impulse, normal): (Vec3, f32), arm: Vec3) {
        let moment = arm.cross(impulse);
        let slots = &mut self.collider_contacts[i].impulses;
        match slots.iter_mut().find(|slot| slot.is_none_or(|own| own.collider == collider)) {
            Some(slot) => {
                let before = slot.unwrap_or_default();
                let (impulse, moment) = (before.impulse + impulse, before.moment + moment);
                *slot = Some(ColliderImpulse { collider, impulse, moment, normal: before.normal + normal });
            }
            None => self.lost_collider_contacts += 1,
        }
    }

    pub(super) fn clear_collider_contacts(&mut self) {
        self.collider_contacts.iter_mut().for_each(|contact| contact.impulses = Default::default());
    }

    pub(super) fn apply_restitution(&mut self, i: usize, predicts: bool) {
        self.velocity(i);
        let contact = &mut self.collider_contacts[i];
        let (bounce, recovery) = (std::mem::take(&mut contact.bounce), std::mem::take(&mut contact.recovery));
        if recovery != Vec3::ZERO {
            let d = self.displacements[i];
            // A displacement of length 0 was not truncated.
            let left = if contact.displacement_length > 0.0 { length(d) / contact.displacement_length } else { 1.0 };
            let (own, carried) = without_recovery(d, recovery * left);
            if self.controls.settings.keeps_collider_impulses() {
                self.push_by_recovery(i, carried);
            }
            self.displacements[i] = own;
        }
        self.displacements[i] += bounce;
        if predicts {
            self.predict(i);
        }
    }

    /// Adds the impulse of a particle whose recovery has carried a load, `carried` \[m\], on a collider: on that of the two
    /// of this step that it has pressed most in this direction.
    fn push_by_recovery(&mut self, i: usize, carried: Vec3) {
        if carried == Vec3::ZERO {
            return;
        }
        let factor = 1.0 / (self.controls.inverse_masses[i] * self.params.h);
        let impulse = carried * -factor;
        let [first, second] = self.collider_contacts[i].impulses;
        let along = |slot: ColliderImpulse| dot(slot.impulse, impulse);
        let owner = match (first, second) {
            (Some(first), Some(second)) if along(second) > along(first) => second.collider,
            (Some(first), _) => first.collider,
            _ => return,
        };
        // The collider is at the end of the substep too.
        let collider = &self.colliders[owner as usize];
        let arm = self.positions[i] - (collider.frame.offset() + collider.travel.offset());
        self.push_on(i, owner, (impulse, length(carried) * factor), arm);
    }

    pub(super) fn commit_colliders(&mut self) {
        for row in &mut self.colliders {
            row.position = row.target_position;
            row.rotation = row.target_rotation;
            row.flags &= !MOVING;
            row.substep = 0;
        }
        self.controls.colliders.commit_targets();
    }

    pub(super) fn interpolate_colliders(&mut self) {
        let params = &self.contact_params;
        let share = 1.0 / params.substeps as f32;
        for row in &mut self.colliders {
            let after = |substep| ColliderFrame::after(row, substep as f32 * share);
            let (start, end) = (after(row.substep), after(row.substep + 1));
            let [frame, travel] = ColliderFrame::between(start, end);
            (row.frame, row.travel) = (frame, if row.flags & MOVING == 0 { ColliderFrame::default() } else { travel });
            let keep = row.margin + params.largest_thickness;
            row.near = (row.bound + keep) + length(row.travel.offset());
            row.above = row.height_bound(keep);
            row.surface_step = end.turned_out_of(Vec3::from(row.surface_velocity) * self.params.h).into();
            row.substep += 1;
        }
    }

    /// Force \[N\] and torque \[N m\] on each collider in the step: the sums of the threads of a workgroup, in order.
    pub(super) fn sum_collider_forces(&mut self) {
        let mut sums = vec![[[Vec3::ZERO; 2]; group::THREADS]; self.colliders.len()];
        for (i, contact) in self.collider_contacts.iter().enumerate() {
            for ColliderImpulse { collider, impulse, moment, .. } in contact.impulses.into_iter().flatten() {
                let thread = &mut sums[collider as usize][i % group::THREADS];
                thread[0] += impulse;
                thread[1] += moment;
            }
        }
        for (force, threads) in self.collider_forces.iter_mut().zip(sums) {
            let whole = threads.iter().fold([Vec3::ZERO; 2], |sum, thread| [sum[0] + thread[0], sum[1] + thread[1]]);
            *force = whole.map(|sum| sum / self.params.dt);
        }
    }
}

/// The contact of a path with a collider. Counterpart: `Impact` in `shaders/collision/collide/response.wgsl`.
struct Impact {
    normal: Vec3,
    /// Penetration depth at the end of the substep.
    depth: f32,
    /// Gap at the start.
    start_gap: f32,
    /// Time of contact: 0 at the start of the substep, 1 at its end.
    time: f32,
}

impl Exit {
    /// Contact with the collider of the exit, for a displacement relative to it.
    fn impact(&self, displacement: Vec3) -> Option<Impact> {
        let depth = self.depth - dot(self.normal, displacement);
        (depth > 0.0).then_some(Impact { normal: self.normal, depth, start_gap: -self.depth, time: 0.0 })
    }
}

impl LocalParticle<'_> {
    fn sample(&self, p: Vec3) -> Sample {
        sample(self.collider, self.data, p, self.keep)
    }

    /// Time of impact and contact; `near` is the sample at the start.
    fn impact(&self, mut near: Sample) -> Option<Impact> {
        let sample = |p| self.sample(p);
        let inside = near.distance < 0.0 && self.collider.flags & TWO_SIDED != 0;
        let side = if inside { -1.0 } else { 1.0 };
        let outside = near.distance * side > 0.0;
        // Outside of the border of a height field.
        let beyond = near.normal == Vec3::ZERO;
        let start_gap = near.distance * side - self.keep;
        let reach = length(self.delta);
        // Below a two-sided surface only the distance is a safe bound.
        let sure = if side > 0.0 { near.sure - self.keep } else { start_gap };
        if sure >= reach {
            return None;
        }
        // Conservative advancement to the time of impact: the distance is a lower bound.
        let (mut gap, mut time, mut advance) = (start_gap, 0.0f32, 0);
        while advance < MOST_ADVANCES && gap > 1e-3 * self.keep {
            time = (time + gap / reach).min(1.0);
            near = sample(self.p + self.delta * time);
            gap = near.distance * side - self.keep;
            if time >= 1.0 && gap > 1e-3 * self.keep {
                return None;
            }
            advance += 1;
        }
        // A path that enters through the border below the surface comes from above only if the neighbour's surface is
        // no steeper.
        if beyond && near.distance < 0.0 {
            let deepest = if self.collider.flags & TWO_SIDED != 0 { 0.0 } else { reach * time };
            if -near.distance * self.collider.size[2] > deepest {
                return None;
            }
        }
        // A particle from outside stays in front of the first plane of contact, however thin the shape is behind it.
        let mut out = Vec3::ZERO;
        if outside {
            let normal = near.normal * side;
            let along = dot(normal, self.delta * (1.0 - time));
            out = normal * (-along - gap).max(0.0);
        }
        // The end position must also keep its distance from other surfaces of the shape, as in inner corners.
        let end = sample((self.p + self.delta) + out);
        let left = self.keep - end.distance * side;
        if left > 0.0 {
            out += end.normal * (side * left);
        }
        let depth = length(out);
        (depth > 0.0).then(|| Impact { normal: out / depth, depth, start_gap, time })
    }
}

/// A displacement without the recovery, as far as the displacement still contains it, and the rest of the recovery: contacts
/// have pushed the particle back by it, so it has carried a load.
fn without_recovery(d: Vec3, recovery: Vec3) -> (Vec3, Vec3) {
    let l = length(recovery);
    let normal = recovery / l;
    let along = dot(normal, d);
    if l > 0.0 && along < l {
        let left = along.max(0.0);
        return (d - normal * left, normal * (l - left));
    }
    (d - recovery, Vec3::ZERO)
}
