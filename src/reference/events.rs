//! Contact events. Counterparts: `shaders/collision/contact_events.wgsl`, `shaders/collision/note_contacts.wgsl` and
//! `shaders/collision/note_collider_contacts.wgsl`.

use super::Reference;
use crate::collision::events::{ContactKey, collider_key, order};
use crate::collision::pair::{PairKind, unpack};
use crate::collision::{ContactEvent, ContactEvents, ContactPair, ContactPhase};
use crate::error::Result;
use glam::Vec3;
use std::collections::BTreeMap;

/// The contacts of a step: key, sum of the normal impulses \[N s\] and position.
type Noted = BTreeMap<[u32; 5], (ContactKey, f32, Vec3)>;

/// The contacts of this step and of the one before, and the events of the last step.
#[derive(Debug, Clone, Default)]
pub(super) struct Events {
    now: Noted,
    before: Noted,
    last: ContactEvents,
}

impl Events {
    fn note(&mut self, key: ContactKey, impulse: f32, position: Vec3) {
        let (_, sum, place) = self.now.entry(order(key)).or_insert((key, 0.0, position));
        (*sum, *place) = (*sum + impulse, position);
    }
}

impl Reference {
    pub(super) fn clear_contact_events(&mut self) {
        let now = std::mem::take(&mut self.events.now);
        self.events.before = if self.steps == 0 { Noted::new() } else { now };
        self.events.last = ContactEvents { step: self.steps.wrapping_add(1), ..ContactEvents::default() };
    }

    pub(super) fn note_contacts(&mut self) {
        for active in &self.contacts.active {
            let (kind, particles) = unpack(active.pair);
            let impulse = active.normal_lambda / self.params.h;
            // Without force it neither begins nor ends.
            let is_old = impulse == 0.0 && self.events.before.contains_key(&order(active.pair));
            if kind == PairKind::Crossing || impulse == 0.0 && !is_old {
                continue;
            }
            let [x, y] = [particles[0], particles[1]].map(|i| self.positions[i as usize]);
            let weights = active.contact.weights;
            let position = if kind == PairKind::Edges { x * weights.x + y * weights.y } else { x };
            self.events.note(active.pair, impulse, position);
        }
    }

    pub(super) fn note_collider_contacts(&mut self) {
        for (i, contact) in self.collider_contacts.iter().enumerate() {
            for own in contact.impulses.iter().flatten() {
                self.events.note(collider_key(i as u32, own.collider), own.normal, self.positions[i]);
            }
        }
    }

    pub(super) fn collect_contact_events(&mut self) {
        let Self { events, controls, .. } = self;
        let (now, before) = (&events.now, &events.before);
        let event = |&(key, impulse, position): &(ContactKey, f32, Vec3), phase| ContactEvent {
            contact: ContactPair::new(key),
            phase,
            impulse,
            position: position.into(),
        };
        let present = now.iter().map(|(order, own)| {
            let phase = if before.contains_key(order) { ContactPhase::Continued } else { ContactPhase::Began };
            (order, event(own, phase))
        });
        let ended = before.iter().filter(|(order, _)| !now.contains_key(*order));
        let ended =
            ended.map(|(order, &(key, _, position))| (order, event(&(key, 0.0, position), ContactPhase::Ended)));
        let all: BTreeMap<_, _> = present.chain(ended).collect();
        let capacity = controls.settings.contact_events as usize;
        events.last.lost = all.len().saturating_sub(capacity) as u32;
        events.last.events = all.into_values().take(capacity).collect();
    }

    /// See [`crate::Solver::read_contact_events`].
    ///
    /// # Errors
    /// See there.
    pub fn read_contact_events(&self) -> Result<ContactEvents> {
        self.controls.settings.check_contact_events()?;
        Ok(self.events.last.clone())
    }
}
