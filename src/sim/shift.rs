//! Shifts of the origin: moves all positions that the host stores.

use crate::collision::{Collider, ColliderRow, Colliders};
use crate::error::{Error, Result, check_finite};
use crate::scene::{Attachment, AttachmentTarget, Scene, Skinned};
use crate::settings::{Field, Settings, check_moderate};
use crate::sim::controls::Controls;

/// The total shift of the origin, and the initial positions before the first shift.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shift {
    /// Sum of all offsets \[m\].
    total: [f64; 3],
    positions: Vec<[f32; 3]>,
    colliders: Vec<Collider>,
    attachments: Vec<Attachment>,
    skinned: Vec<Skinned>,
}

impl Shift {
    /// The total shift after one more offset.
    fn after(&self, offset: [f32; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| self.total[axis] + f64::from(offset[axis]))
    }

    /// The sum of all shifts \[m\].
    pub fn total(&self) -> [f64; 3] {
        self.total
    }

    /// The initial positions before the first shift.
    pub fn start_positions<'a>(&'a self, scene: &'a Scene) -> &'a [[f32; 3]] {
        if self.positions.is_empty() { &scene.positions } else { &self.positions }
    }

    /// The skinned particles before the first shift.
    pub fn start_skinned<'a>(&'a self, scene: &'a Scene) -> &'a [Skinned] {
        if self.positions.is_empty() { &scene.skinned.rows } else { &self.skinned }
    }

    /// Origin of the air field \[m\].
    pub fn air_origin(&self) -> [f32; 3] {
        self.total.map(|component| component as f32)
    }
}

/// a + b in one f32 addition, as in the shaders.
pub(crate) fn shifted(position: [f32; 3], offset: [f32; 3]) -> [f32; 3] {
    std::array::from_fn(|axis| position[axis] + offset[axis])
}

fn placed(position: [f32; 3], total: [f64; 3]) -> [f32; 3] {
    std::array::from_fn(|axis| (f64::from(position[axis]) + total[axis]) as f32)
}

fn shifted_field(field: Field, offset: [f32; 3]) -> Field {
    match field {
        Field::None => Field::None,
        Field::Point { position, strength, radius } => {
            Field::Point { position: shifted(position, offset), strength, radius }
        }
        Field::Vortex { position, axis, strength, radius } => {
            Field::Vortex { position: shifted(position, offset), axis, strength, radius }
        }
    }
}

impl Colliders {
    /// `Ok` if the poses of all colliders that are not removed are within 1e6 m of the origin after a shift.
    pub fn check_shift(&self, offset: [f32; 3]) -> Result<()> {
        for (index, row) in self.rows.iter().enumerate().filter(|(_, row)| !row.is_removed()) {
            check_moderate(&format!("position of collider {index} after shift_origin"), shifted(row.position, offset))?;
            let what = format!("target position of collider {index} after shift_origin");
            check_moderate(&what, shifted(row.target_position, offset))?;
        }
        Ok(())
    }

    /// Shifts the poses of all colliders that are not removed.
    pub fn shift(&mut self, offset: [f32; 3]) {
        let rows = self.rows.iter_mut().filter(|row| !row.is_removed());
        for ColliderRow { position, target_position, .. } in rows {
            (*position, *target_position) = (shifted(*position, offset), shifted(*target_position, offset));
        }
    }
}

impl Controls {
    /// Shifts the force fields and the air field. An error changes nothing.
    pub fn shift_fields(&mut self, offset: [f32; 3]) -> Result<()> {
        check_moderate("offset of shift_origin", offset)?;
        let fields = self.settings.fields.map(|field| shifted_field(field, offset));
        Settings { fields, ..self.settings }.check()?;
        self.shift.total = self.shift.after(offset);
        self.settings.fields = fields;
        Ok(())
    }

    /// Shifts targets, joints, colliders, attachments, force fields, the air field and the initial state. An error changes nothing.
    pub fn shift_origin(&mut self, offset: [f32; 3]) -> Result<()> {
        check_moderate("offset of shift_origin", offset)?;
        let total = self.shift.after(offset);
        self.colliders.check_shift(offset)?;
        self.attachments.check_shift(offset)?;
        // Positions of particles stay finite: an offset of at most 1e6 m does not change the greatest finite number.
        self.check_joint_shift(offset)?;
        self.check_start(total)?;
        self.shift_fields(offset)?;
        self.colliders.shift(offset);
        self.attachments.shift(offset);
        self.shift_joints(offset);
        let count = self.scene.particle_count() as u32;
        for target in self.targets.iter_mut().filter(|target| target.particle < count) {
            target.position = shifted(target.position, offset);
        }
        self.place_start();
        Ok(())
    }

    /// Sets the total shift, and moves the initial state that `reset` restores.
    pub fn move_start(&mut self, total: [f64; 3]) -> Result<()> {
        if let Some(component) = total.into_iter().find(|component| !component.is_finite()) {
            return Err(Error::invalid("total shift of the origin", component, "finite"));
        }
        if total != self.shift.total {
            self.check_start(total)?;
            self.shift.total = total;
            self.place_start();
        }
        Ok(())
    }

    /// Moves the initial state by the total shift.
    fn place_start(&mut self) {
        let total = self.shift.total;
        if self.shift.positions.is_empty() {
            self.shift.positions.clone_from(&self.scene.positions);
            self.shift.colliders.clone_from(&self.scene.colliders);
            self.shift.attachments.clone_from(&self.scene.attachments);
            self.shift.skinned.clone_from(&self.scene.skinned.rows);
        }
        // Computed from the unshifted positions: a shift and its inverse leave no rounding error.
        for (position, &start) in self.scene.positions.iter_mut().zip(&self.shift.positions) {
            *position = placed(start, total);
        }
        self.scene.place_followers();
        for (collider, start) in self.scene.colliders.iter_mut().zip(&self.shift.colliders) {
            collider.pose.position = placed(start.pose.position, total);
        }
        for (skinned, start) in self.scene.skinned.rows.iter_mut().zip(&self.shift.skinned) {
            skinned.pose.position = placed(start.pose.position, total);
        }
        for (attachment, start) in self.scene.attachments.iter_mut().zip(&self.shift.attachments) {
            if let (AttachmentTarget::Space(point), AttachmentTarget::Space(start)) =
                (&mut attachment.target, start.target)
            {
                *point = placed(start, total);
            }
        }
    }

    /// `Ok` if `reset` can restore the initial state at this total offset.
    fn check_start(&self, total: [f64; 3]) -> Result<()> {
        let first = self.shift.positions.is_empty();
        let (positions, colliders) = if first {
            (&self.scene.positions, &self.scene.colliders)
        } else {
            (&self.shift.positions, &self.shift.colliders)
        };
        for (particle, &position) in positions.iter().enumerate() {
            check_finite(
                || format!("initial position of particle {particle} at the total shift of the origin"),
                placed(position, total),
            )?;
        }
        for (index, collider) in colliders.iter().enumerate() {
            let position = placed(collider.pose.position, total);
            let outside = position.into_iter().find(|component| component.abs() > 1e6);
            if let Some(component) = outside {
                let what = format!("initial position of collider {index} at the total shift of the origin");
                return Err(Error::invalid(what, component, "at most 1e6 m either way"));
            }
        }
        let attachments = if first { &self.scene.attachments } else { &self.shift.attachments };
        for (index, attachment) in attachments.iter().enumerate() {
            let AttachmentTarget::Space(point) = attachment.target else { continue };
            let outside = placed(point, total).into_iter().find(|component| component.abs() > 1e6);
            if let Some(component) = outside {
                let what = format!("initial point of attachment {index} at the total shift of the origin");
                return Err(Error::invalid(what, component, "at most 1e6 m either way"));
            }
        }
        Ok(())
    }
}
