//! The attachments of a running simulation, and the rows that the backends read.

mod checkpoint;

use crate::collision::ColliderId;
use crate::error::{Error, Result};
use crate::scene::{
    Attachment, AttachmentForce, AttachmentId, AttachmentTarget, Scene, SceneMap, check_attachment_count,
};
use crate::settings::check_moderate;
use crate::sim::controls::Controls;
use crate::sim::shifted;
use std::collections::HashMap;

/// Bits of `AttachmentRow::flags`; the lowest four are the number of particles.
pub(crate) const COUNT_MASK: u32 = 15;
pub(crate) const IN_SPACE: u32 = 16;
pub(crate) const ON_COLLIDER: u32 = 32;
pub(crate) const ONLY_PULL: u32 = 64;

/// An attachment in the layout of `shaders/schedule/attachments/rows.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct AttachmentRow {
    pub particles: [u32; 8],
    /// Factor of each particle in x₁ − x₂.
    pub factors: [f32; 8],
    /// Point in space or in the frame of the collider \[m\].
    pub target: [f32; 3],
    pub flags: u32,
    /// [`crate::constraints::xpbd::ScaledMaterial`] without its relief.
    pub material: [f32; 3],
    pub rest_length: f32,
    /// \[N\]; 0 if it never breaks.
    pub break_force: f32,
    pub collider: u32,
    /// 1/number of substeps.
    pub share: f32,
    pub padding: u32,
}

/// State of an attachment that the backend writes, in the same layout.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct AttachmentState {
    /// λ of the substep: one per component, or one in all.
    pub lambda: [f32; 3],
    pub broken: u32,
    /// Sum of the impulses ∇C Δλ on the point in the step \[kg m\].
    pub sum: [f32; 3],
    /// Number of substeps of the step that have begun.
    pub substep: u32,
    /// Sum of their moments on the collider \[kg m²\].
    pub moment: [f32; 3],
    pub padding: u32,
    /// The point in space at the start of the step \[m\].
    pub anchor: [f32; 3],
    pub padding_2: u32,
    /// Mean force in the last step \[N\].
    pub force: [f32; 3],
    pub padding_3: u32,
}

impl AttachmentState {
    /// Byte offset of `anchor`.
    pub const ANCHOR: u64 = 48;

    pub fn report(&self, id: AttachmentId) -> AttachmentForce {
        AttachmentForce { id, force: self.force, is_broken: self.broken != 0 }
    }
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    attachment: Attachment,
    generation: u32,
    /// Attachments of one colour share no particle.
    color: u32,
    /// The point in space at the start of the next step.
    anchor: [f32; 3],
}

/// All attachments of a backend.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attachments {
    pub capacity: u32,
    slots: Vec<Option<Slot>>,
    last_generation: u32,
    /// The colours of the attachments of each particle, as bits.
    taken: HashMap<u32, Vec<u64>>,
    /// Number of colours, bounds of the colours in this list, then slots by colour.
    pub order: Vec<u32>,
}

impl Attachments {
    pub fn new(scene: &Scene) -> Self {
        let slot = |generation, attachment| {
            let anchor = point_in_space(&attachment);
            Slot { attachment, generation, color: 0, anchor }
        };
        let count = scene.attachment_ids.iter().map(|id| id.index() + 1).max().unwrap_or(0);
        let mut slots = vec![None; count];
        for (id, attachment) in scene.attachment_ids.iter().zip(&scene.attachments) {
            slots[id.index()] = Some(slot(id.generation, *attachment));
        }
        let capacity = scene.reserved_attachments.max(slots.len() as u32);
        let last_generation = scene.attachment_generation;
        let mut all = Self { capacity, slots, last_generation, ..Self::default() };
        (0..all.slots.len()).for_each(|index| all.color(index));
        all.list();
        all
    }

    /// Continues the id numbering of `before`, so ids of attachments added later differ from the old ones, and keeps its
    /// capacity.
    pub fn continuing_ids_of(self, before: &Self) -> Self {
        let last_generation = self.last_generation.max(before.last_generation);
        Self { capacity: self.capacity.max(before.capacity), last_generation, ..self }
    }

    /// The attachments that remain in an edited scene, with their ids. Those of removed particles are released. `capacity` is that of
    /// the scene; it grows if indices or colours need it.
    pub fn carried(&self, map: &SceneMap, capacity: u32) -> Self {
        let renamed = |slot: &Slot| {
            let (mut slot, mut remains) = (*slot, true);
            slot.attachment.rename(|particle| match map.particle(*particle) {
                Some(now) => *particle = now,
                None => remains = false,
            });
            remains.then_some(slot)
        };
        let mut slots: Vec<_> = self.slots.iter().map(|slot| slot.as_ref().and_then(renamed)).collect();
        slots.truncate(slots.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
        // The colours stay, which decide the order.
        let most_color = slots.iter().flatten().map(|slot| slot.color + 1).max().unwrap_or(0);
        let capacity = capacity.max(slots.len() as u32).max(most_color);
        let mut all = Self { capacity, slots, last_generation: self.last_generation, ..Self::default() };
        all.take_colors();
        all.list();
        all
    }

    /// Notes the colours of all attachments.
    fn take_colors(&mut self) {
        for Slot { attachment, color, .. } in self.slots.iter().flatten() {
            for (particle, _) in attachment.factors() {
                let (own, word) = (self.taken.entry(particle).or_default(), *color as usize / 64);
                own.resize(own.len().max(word + 1), 0);
                own[word] |= 1 << (color % 64);
            }
        }
    }

    /// Number of words of `order` for all attachments in as many colours.
    pub fn most_words(&self) -> u64 {
        2 * u64::from(self.capacity) + 2
    }

    /// The place of the first attachment in `order`, and the end of all.
    pub fn places(&self) -> std::ops::Range<usize> {
        self.order.first().map_or(0, |&colors| colors as usize + 2)..self.order.len()
    }

    /// Puts an attachment in the first colour without any of its particles.
    fn color(&mut self, index: usize) {
        let Some(slot) = &mut self.slots[index] else { return };
        let factors = slot.attachment.factors();
        let words = factors.iter().filter_map(|(particle, _)| self.taken.get(particle)).map(Vec::len).max();
        let mut union = vec![0u64; words.unwrap_or(0) + 1];
        for words in factors.iter().filter_map(|(particle, _)| self.taken.get(particle)) {
            union.iter_mut().zip(words).for_each(|(all, own)| *all |= own);
        }
        // The last word is 0.
        let word = union.iter().position(|&word| word != u64::MAX).unwrap_or(0);
        let bit = union[word].trailing_ones();
        slot.color = 64 * word as u32 + bit;
        for (particle, _) in factors {
            let own = self.taken.entry(particle).or_default();
            own.resize(own.len().max(word + 1), 0);
            own[word] |= 1 << bit;
        }
    }

    /// Removes an attachment from its colour and from the list.
    fn remove(&mut self, index: usize) {
        let Some(Slot { attachment, color, .. }) = self.slots[index].take() else { return };
        for (particle, _) in attachment.factors() {
            if let Some(own) = self.taken.get_mut(&particle) {
                own[color as usize / 64] &= !(1 << (color % 64));
                if own.iter().all(|&word| word == 0) {
                    self.taken.remove(&particle);
                }
            }
        }
    }

    /// Lists the attachments by colour.
    fn list(&mut self) {
        let live = || (0u32..).zip(&self.slots).filter_map(|(index, slot)| Some((index, slot.as_ref()?.color)));
        let colors = live().map(|(_, color)| color + 1).max().unwrap_or(0) as usize;
        let mut order = vec![0; colors + 2 + live().count()];
        order[0] = colors as u32;
        live().for_each(|(_, color)| order[color as usize + 2] += 1);
        order[1] = colors as u32 + 2;
        for color in 0..colors {
            order[color + 2] += order[color + 1];
        }
        let mut next = order[1..=colors].to_vec();
        for (index, color) in live() {
            let place = &mut next[color as usize];
            order[*place as usize] = index;
            *place += 1;
        }
        self.order = order;
    }

    fn find(&self, id: AttachmentId) -> Result<usize> {
        let slot = self.slots.get(id.index()).copied().flatten();
        match slot {
            Some(slot) if slot.generation == id.generation => Ok(id.index()),
            _ => Err(Error::NoAttachment { index: id.index().try_into().unwrap_or(u64::MAX) }),
        }
    }

    /// The indices of the next `count` attachments, in ascending order.
    fn free(&self, count: usize) -> Result<Vec<usize>> {
        check_attachment_count((self.live().count() + count) as u64, self.capacity)?;
        let is_free = |index: &usize| self.slots.get(*index).is_none_or(Option::is_none);
        Ok((0..self.capacity as usize).filter(is_free).take(count).collect())
    }

    /// Adds an attachment that is in no list yet.
    fn add(&mut self, index: usize, attachment: Attachment) -> AttachmentId {
        self.last_generation = self.last_generation.wrapping_add(1);
        let generation = self.last_generation;
        self.slots.resize(self.slots.len().max(index + 1), None);
        self.slots[index] = Some(Slot { attachment, generation, color: 0, anchor: point_in_space(&attachment) });
        self.color(index);
        AttachmentId { index: index as u32, generation }
    }

    pub fn release(&mut self, id: AttachmentId) -> Result<()> {
        let index = self.find(id)?;
        self.remove(index);
        self.list();
        Ok(())
    }

    /// Releases all attachments to a collider.
    pub fn release_of(&mut self, collider: ColliderId) {
        for index in 0..self.slots.len() {
            let target = self.slots[index].map(|slot| slot.attachment.target);
            if matches!(target, Some(AttachmentTarget::Collider { id, .. }) if id == collider) {
                self.remove(index);
            }
        }
        self.list();
    }

    /// Sets the point in space at the end of the next step; returns the index.
    pub fn move_to(&mut self, id: AttachmentId, position: [f32; 3]) -> Result<usize> {
        let index = self.find(id)?;
        check_moderate(&format!("the point in space of attachment {index}"), position)?;
        match &mut self.slots[index] {
            Some(Slot { attachment: Attachment { target: AttachmentTarget::Space(point), .. }, .. }) => {
                *point = position;
                Ok(index)
            }
            _ => {
                let needed = "an attachment to a point in space (AttachmentTarget::Space)";
                Err(Error::NotEnabled { what: "move_attachment", needed })
            }
        }
    }

    /// The ids of all attachments.
    pub fn live(&self) -> impl Iterator<Item = AttachmentId> {
        let slots = (0..).zip(&self.slots);
        slots.filter_map(|(index, slot)| slot.map(|Slot { generation, .. }| AttachmentId { index, generation }))
    }

    /// Points in space are at their targets once a step has been recorded.
    pub fn commit_targets(&mut self) {
        self.slots.iter_mut().flatten().for_each(|slot| slot.anchor = point_in_space(&slot.attachment));
    }

    /// `Ok` if all points in space are within 1e6 m of the origin after a shift.
    pub fn check_shift(&self, offset: [f32; 3]) -> Result<()> {
        for (index, slot) in self.slots.iter().enumerate() {
            if let Some(Slot {
                attachment: Attachment { target: AttachmentTarget::Space(point), .. }, anchor, ..
            }) = slot
            {
                let what = format!("the point in space of attachment {index} after shift_origin");
                [*point, *anchor].into_iter().try_for_each(|own| check_moderate(&what, shifted(own, offset)))?;
            }
        }
        Ok(())
    }

    /// Shifts all points in space.
    pub fn shift(&mut self, offset: [f32; 3]) {
        for slot in self.slots.iter_mut().flatten() {
            if let AttachmentTarget::Space(point) = &mut slot.attachment.target {
                *point = shifted(*point, offset);
                slot.anchor = shifted(slot.anchor, offset);
            }
        }
    }

    /// The state of a new attachment.
    pub fn initial_state(&self, index: usize) -> AttachmentState {
        let anchor = self.slots.get(index).copied().flatten().map_or([0.0; 3], |slot| slot.anchor);
        AttachmentState { anchor, ..AttachmentState::default() }
    }
}

/// The point in space of an attachment; 0 if it has another target.
fn point_in_space(attachment: &Attachment) -> [f32; 3] {
    if let AttachmentTarget::Space(point) = attachment.target { point } else { [0.0; 3] }
}

impl Controls {
    /// Adds attachments; returns their ids, with ascending indices.
    pub fn attach_all(&mut self, attachments: &[Attachment]) -> Result<Vec<AttachmentId>> {
        let free = self.attachments.free(attachments.len())?;
        for (index, attachment) in free.iter().zip(attachments) {
            attachment.check(&format!("attachment {index}"), &self.scene)?;
            if let AttachmentTarget::Collider { id, .. } = attachment.target {
                self.colliders.find(id)?;
            }
        }
        let ids = free.into_iter().zip(attachments).map(|(index, &own)| self.attachments.add(index, own)).collect();
        self.attachments.list();
        Ok(ids)
    }

    /// The row of an attachment; that of a free slot is never read.
    pub fn attachment_row(&self, index: usize) -> AttachmentRow {
        let Some(Slot { attachment, .. }) = self.attachments.slots.get(index).copied().flatten() else {
            return AttachmentRow::default();
        };
        let factors = attachment.factors();
        let material = self.scaled_material(&attachment.material);
        let (target, kind, collider) = match attachment.target {
            AttachmentTarget::Particles(_) => ([0.0; 3], 0, 0),
            AttachmentTarget::Space(point) => (point, IN_SPACE, 0),
            AttachmentTarget::Collider { id, point } => (point, ON_COLLIDER, id.index),
        };
        let mut row = AttachmentRow {
            target,
            flags: factors.len() as u32 | kind | if attachment.only_pull { ONLY_PULL } else { 0 },
            material: [material.alpha_tilde, material.gamma, material.factor],
            rest_length: attachment.rest_length,
            break_force: attachment.break_force.unwrap_or(0.0),
            collider,
            share: 1.0 / self.settings.substeps as f32,
            ..AttachmentRow::default()
        };
        for (k, (particle, factor)) in factors.into_iter().enumerate() {
            (row.particles[k], row.factors[k]) = (particle, factor);
        }
        row
    }

    /// The rows of all slots.
    pub fn attachment_rows(&self) -> Vec<AttachmentRow> {
        (0..self.attachments.capacity as usize).map(|index| self.attachment_row(index)).collect()
    }

    /// The states of all slots at the start.
    pub fn attachment_states(&self) -> Vec<AttachmentState> {
        (0..self.attachments.capacity as usize).map(|index| self.attachments.initial_state(index)).collect()
    }

    pub fn remove_collider(&mut self, id: ColliderId) -> Result<usize> {
        let index = self.colliders.remove(id)?;
        self.attachments.release_of(id);
        self.make_plan();
        Ok(index)
    }
}
