//! Collider passes: collision, restitution, interpolation and commit of the colliders, and the forces on them.

use super::Reference;
use super::contacts::Contacts;
use super::exits::{Exit, Inside, SLACK};
use crate::collision::{
    Collider, ColliderFrame, ColliderId, ColliderRow, ContactMaterial, ContactMaterialId, DISABLED, MOVING, Pose,
    Sample, TWO_SIDED, sample,
};
use crate::constraints::group;
use crate::error::Result;
use crate::geometry::vector::{dot, length};
use crate::schedule::contacts::UNTOUCHABLE;
use glam::Vec3;

/// Collider contact of a particle. Counterpart: `ColliderContact` in `shaders/common/contacts.wgsl`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ColliderContact {
    /// Displacement by restitution, added after the particle has moved.
    pub bounce: Vec3,
    /// Part of the displacement that moves the particle out of colliders; not part of its velocity.
    pub recovery: Vec3,
    /// Length of the whole displacement.
    pub way: f32,
    /// Up to two colliders with the impulses on them in this step, and the moments about their positions.
    pub impulses: [Option<(u32, Vec3, Vec3)>; 2],
}

/// A particle during the collider pass of a substep.
struct Moving {
    /// Position, including the recovery.
    x: Vec3,
    /// Displacement, without the recovery.
    d: Vec3,
    recovery: Vec3,
    was_met: bool,
    /// Exit from the colliders that contain it; `None` until it is computed.
    exit: Option<Exit>,
}

/// Maximum number of iterations of conservative advancement.
const TURNS: u32 = 24;

/// A particle in the frame of a collider, in a substep.
struct View<'a> {
    collider: &'a ColliderRow,
    data: &'a [f32],
    /// Start position, and displacement relative to the collider.
    p: Vec3,
    delta: Vec3,
    /// Distance that the particle keeps.
    keep: f32,
}

/// Runtime changes and results.
impl Reference {
    /// See [`crate::Solver::add_collider`].
    ///
    /// # Errors
    /// See there.
    pub fn add_collider(&mut self, collider: &Collider) -> Result<ColliderId> {
        let id = self.controls.add_collider(collider)?;
        self.take_collider(id.index());
        Ok(id)
    }

    /// See [`crate::Solver::set_collider`].
    ///
    /// # Errors
    /// See there.
    pub fn set_collider(&mut self, id: ColliderId, collider: &Collider) -> Result<()> {
        let index = self.controls.set_collider(id, collider)?;
        self.take_collider(index);
        Ok(())
    }

    /// See [`crate::Solver::remove_collider`].
    ///
    /// # Errors
    /// See there.
    pub fn remove_collider(&mut self, id: ColliderId) -> Result<()> {
        let index = self.controls.colliders.remove(id)?;
        self.colliders[index].flags = DISABLED;
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::move_collider`].
    ///
    /// # Errors
    /// See there.
    pub fn move_collider(&mut self, id: ColliderId, pose: Pose) -> Result<()> {
        let index = self.controls.colliders.move_to(id, pose)?;
        let from = self.controls.colliders.rows[index];
        let row = &mut self.colliders[index];
        (row.target_position, row.target_rotation, row.flags) =
            (from.target_position, from.target_rotation, from.flags);
        Ok(())
    }

    /// See [`crate::Solver::set_contact_material`].
    ///
    /// # Errors
    /// See there.
    pub fn set_contact_material(&mut self, id: ContactMaterialId, material: ContactMaterial) -> Result<()> {
        let restitutes = self.controls.restitutes();
        self.controls.set_contact_material(id, material)?;
        if self.controls.restitutes() && !restitutes {
            self.forget_collider_forces();
        }
        self.upload();
        Ok(())
    }

    /// Copies a collider from the host state, and the data offsets of all.
    fn take_collider(&mut self, index: usize) {
        let rows = &self.controls.colliders.rows;
        self.colliders.resize(rows.len(), rows[index]);
        self.colliders[index] = rows[index];
        for (own, row) in self.colliders.iter_mut().zip(rows) {
            own.data = row.data;
        }
        self.collider_forces = vec![[Vec3::ZERO; 2]; rows.len()];
        self.upload();
        self.mark_stale();
    }

    pub(super) fn forget_collider_forces(&mut self) {
        self.collider_forces.fill([Vec3::ZERO; 2]);
    }

    pub(super) fn reset_contacts(&mut self) {
        self.colliders.clone_from(&self.controls.colliders.rows);
        self.collider_forces = vec![[Vec3::ZERO; 2]; self.colliders.len()];
        self.touches.fill(ColliderContact::default());
        self.contacts = Contacts::new(self.positions.len());
        self.lost_collider_contacts = 0;
    }
}

impl Reference {
    pub(super) fn collide(&mut self, i: usize) {
        let material = self.controls.compiled.contact_elements.material(i as u32);
        if self.controls.inverse_masses[i] == 0.0 || material == UNTOUCHABLE {
            return;
        }
        let on_way = self.controls.settings.keeps_surfaces_apart();
        let start = if on_way { self.touches[i].recovery } else { Vec3::ZERO };
        // The position residual is no motion: it takes no part in friction.
        let rest = self.position_residuals[i];
        let (x, d) = (self.positions[i], self.displacements[i] - rest);
        let was_met = start != Vec3::ZERO;
        let mut particle = Moving { x: x + start, d: d - start, recovery: start, was_met, exit: None };
        for index in 0..self.colliders.len() {
            self.collide_with(i, material, index, &mut particle);
        }
        if !particle.was_met {
            return;
        }
        if on_way {
            let way = particle.d + particle.recovery;
            self.displacements[i] = way + rest;
            (self.touches[i].recovery, self.touches[i].way) = (particle.recovery, length(way));
        } else {
            (self.positions[i], self.displacements[i]) = (particle.x, particle.d + rest);
        }
    }

    fn collide_with(&mut self, i: usize, material: u32, index: usize, particle: &mut Moving) {
        let params = &self.contact_params;
        let collider = &self.colliders[index];
        if collider.flags & DISABLED != 0 || !params.touch(material, collider.material) {
            return;
        }
        let keep = params.radius(material) + collider.margin;
        let (x, d, rest) = (particle.x, particle.d, self.position_residuals[i]);
        // Bounding sphere test, valid for all shapes.
        if length(x - collider.frame.offset()) > collider.near + length(d) {
            return;
        }
        // Move the point with the collider to the end of the substep; the rest of the path is relative to the collider.
        let place = (x - collider.frame.offset()) + rest;
        let turn = collider.travel.turned_into(place);
        let start = place + turn;
        let way = d - (turn + collider.travel.offset());
        let (p, delta) = (collider.frame.turned_into(start), collider.frame.turned_into(way));
        let view = View { collider, data: &self.controls.colliders.data, p, delta, keep };
        let near = view.sample(p);
        let overlaps = near.distance < (1.0 - SLACK) * keep && collider.flags & TWO_SIDED == 0;
        let exit = if overlaps && self.colliders.len() > 1 {
            *particle.exit.get_or_insert_with(|| self.exit(Inside { x, rest, material }))
        } else {
            Exit::default()
        };
        if exit.owner.is_some_and(|owner| owner != index) {
            return;
        }
        // World space from here on.
        let met = if exit.depth > 0.0 {
            exit.meet(way)
        } else {
            view.meet(near).map(|meet| Meet { normal: collider.frame.turned_out_of(meet.normal), ..meet })
        };
        let Some(Meet { normal, depth, gap, time }) = met else { return };

        // Initial overlap changes the position and not the velocity. At the surface level each of the two passes of a
        // substep takes out one half.
        let out = depth.min((-gap).max(0.0));
        let push = depth - out;
        let out = out.min(params.recovery * if self.controls.settings.keeps_surfaces_apart() { 0.5 } else { 1.0 });
        let [statics, kinetic, restitution, _] = params.friction(material, collider.material);
        // Restitution, on top of that.
        let gravity = Vec3::from(self.params.gravity_step);
        let speed = -dot(normal, way - gravity);
        let impact = restitution > 0.0 && push > 0.0 && speed > 2.0 * length(gravity);
        // Includes the restitution by other colliders and earlier in the substep.
        let given = dot(normal, self.touches[i].bounce);
        let left = dot(normal, way) + push + given;
        let back = if impact { (restitution * speed - left).max(0.0) } else { 0.0 };
        let slip = way - Vec3::from(collider.surface_step);
        let slip = slip - normal * dot(normal, slip);
        // Friction moves the particle back by at most the slip after the impact plus the kept distance: a round
        // collider may end there. With restitution, friction on the rest of the slip changes only the velocity.
        let l = length(slip);
        let quarantined = if l * time > keep { slip * ((1.0 - time) + keep / l) } else { slip };
        let (l, grip) = (if back > 0.0 { l } else { length(quarantined) }, push + back);
        let share = if l <= statics * grip { 1.0 } else { kinetic * grip / l };
        let change = normal * push - quarantined * share;
        let w = self.controls.inverse_masses[i];
        let away = normal * out;
        let recovery = particle.recovery + away;
        *particle = Moving { x: x + away, d: d + change, recovery, was_met: true, exit: particle.exit };
        let mut bounce = Vec3::ZERO;
        if back > 0.0 {
            bounce = normal * back - (slip - quarantined) * share;
            self.touches[i].bounce += bounce;
        }
        if self.controls.settings.collider_forces {
            self.push_on(i, index as u32, -((change + bounce) / (w * self.params.h)), start + way);
        }
    }

    /// Adds an impulse on a collider \[N s\] at an arm from its position \[m\].
    fn push_on(&mut self, i: usize, index: u32, impulse: Vec3, arm: Vec3) {
        let moment = arm.cross(impulse);
        let slots = &mut self.touches[i].impulses;
        match slots.iter_mut().find(|slot| slot.is_none_or(|(of, ..)| of == index)) {
            Some(slot) => {
                let (_, before, moment_before) = slot.unwrap_or((index, Vec3::ZERO, Vec3::ZERO));
                *slot = Some((index, before + impulse, moment_before + moment));
            }
            None => self.lost_collider_contacts += 1,
        }
    }

    pub(super) fn clear_collider_contacts(&mut self) {
        self.touches.iter_mut().for_each(|touch| touch.impulses = Default::default());
    }

    pub(super) fn apply_restitution(&mut self, i: usize) {
        let touch = &mut self.touches[i];
        let (bounce, recovery) = (std::mem::take(&mut touch.bounce), std::mem::take(&mut touch.recovery));
        let d = &mut self.displacements[i];
        if recovery != Vec3::ZERO {
            // A displacement of length 0 was not truncated.
            let left = if touch.way > 0.0 { length(*d) / touch.way } else { 1.0 };
            *d -= recovery * left;
        }
        *d += bounce;
    }

    pub(super) fn commit_colliders(&mut self) {
        for row in &mut self.colliders {
            row.position = row.target_position;
            row.rotation = row.target_rotation;
            row.flags &= !MOVING;
            row.substep = 0;
        }
    }

    pub(super) fn interpolate_colliders(&mut self) {
        let params = &self.contact_params;
        let share = 1.0 / params.substeps as f32;
        for row in &mut self.colliders {
            let after = |substep| ColliderFrame::after(row, substep as f32 * share);
            let (start, end) = (after(row.substep), after(row.substep + 1));
            let [frame, travel] = ColliderFrame::between(start, end);
            (row.frame, row.travel) = (frame, if row.flags & MOVING == 0 { ColliderFrame::default() } else { travel });
            row.near = (row.bound + (row.margin + params.thickness)) + length(row.travel.offset());
            row.surface_step = end.turned_out_of(Vec3::from(row.surface_velocity) * self.params.h).into();
            row.substep += 1;
        }
    }

    /// Force \[N\] and torque \[N m\] on a collider in the step: the sums of the threads of a workgroup, in order.
    pub(super) fn collider_force(&mut self, index: usize) {
        let mut sums = [[Vec3::ZERO; 2]; group::THREADS];
        for (i, touch) in self.touches.iter().enumerate() {
            for (of, impulse, moment) in touch.impulses.into_iter().flatten() {
                if of == index as u32 {
                    let thread = &mut sums[i % group::THREADS];
                    thread[0] += impulse;
                    thread[1] += moment;
                }
            }
        }
        let whole = sums.iter().fold([Vec3::ZERO; 2], |sum, thread| [sum[0] + thread[0], sum[1] + thread[1]]);
        self.collider_forces[index] = whole.map(|sum| sum / self.params.dt);
    }
}

/// `Meet` in `shaders/collision/collide.wgsl`.
struct Meet {
    normal: Vec3,
    /// Penetration depth at the end of the substep.
    depth: f32,
    /// Gap at the start.
    gap: f32,
    /// Time of contact: 0 at the start of the substep, 1 at its end.
    time: f32,
}

impl Exit {
    /// Contact with the collider of the exit, for a displacement relative to it.
    fn meet(&self, way: Vec3) -> Option<Meet> {
        let depth = self.depth - dot(self.normal, way);
        (depth > 0.0).then_some(Meet { normal: self.normal, depth, gap: -self.depth, time: 0.0 })
    }
}

impl View<'_> {
    fn sample(&self, p: Vec3) -> Sample {
        sample(self.collider, self.data, p, self.keep)
    }

    /// Time of impact and contact; `near` is the sample at the start.
    fn meet(&self, mut near: Sample) -> Option<Meet> {
        let sample = |p| self.sample(p);
        let inside = near.distance < 0.0 && self.collider.flags & TWO_SIDED != 0;
        let side = if inside { -1.0 } else { 1.0 };
        let outside = near.distance * side > 0.0;
        // Outside of the border of a height field.
        let beyond = near.normal == Vec3::ZERO;
        let start = near.distance * side - self.keep;
        let reach = length(self.delta);
        // Inside of a two-sided shell only the distance is a valid bound.
        let sure = if side > 0.0 { near.sure - self.keep } else { start };
        if sure >= reach {
            return None;
        }
        // Conservative advancement to the time of impact: the distance is a lower bound.
        let (mut gap, mut time, mut turn) = (start, 0.0f32, 0);
        while turn < TURNS && gap > 1e-3 * self.keep {
            time = (time + gap / reach).min(1.0);
            near = sample(self.p + self.delta * time);
            gap = near.distance * side - self.keep;
            if time >= 1.0 && gap > 1e-3 * self.keep {
                return None;
            }
            turn += 1;
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
        (depth > 0.0).then(|| Meet { normal: out / depth, depth, gap: start, time })
    }
}
