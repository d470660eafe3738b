//! The passes of contact events.

use super::{Binder, Binding, Bound, Size};
use crate::collision::events::{TABLE_ENTRY_BYTES, event_bytes};
use crate::gpu::buffers::Buffers;
use crate::gpu::stage::Slot::{Read, Uniform, Write};
use crate::schedule::plan::Pass;
use crate::sim::controls::Controls;

/// The passes of contact events at the start of a step (`clear`: empties the table of the step and the list of events) and at
/// its end (`collect`: lists the events).
#[derive(Debug)]
pub(super) struct EventPasses {
    clear: Bound,
    collect: Bound,
    /// Number of entries of both tables.
    entries: u32,
}

/// The buffers of all passes of contact events.
pub(super) fn event_buffers(shared: &Buffers) -> [Binding<'_>; 3] {
    [(Write, &shared.status), (Write, &shared.event_table), (Write, &shared.contact_events)]
}

/// The pass that records contacts with colliders in the event table; `None` without contact events.
pub(super) fn note_colliders(
    binder: &Binder<'_>,
    controls: &Controls,
    shared: &Buffers,
    collider_contacts: &wgpu::Buffer,
) -> Option<Bound> {
    let text = concat!(
        include_str!("../../../shaders/collision/note_collider_contacts.wgsl"),
        include_str!("../../../shaders/collision/event_table.wgsl")
    );
    let own = [(Uniform, &shared.params), (Read, &shared.positions), (Read, collider_contacts)];
    let bindings = [own.as_slice(), &event_buffers(shared)].concat();
    (controls.settings.contact_events > 0).then(|| binder.bind("note_collider_contacts", text, &bindings))
}

impl EventPasses {
    /// `None` without contact events.
    pub fn new(binder: &Binder<'_>, controls: &Controls, shared: &Buffers) -> Option<Self> {
        let capacity = controls.settings.contact_events;
        let text = concat!(
            include_str!("../../../shaders/collision/contact_events.wgsl"),
            include_str!("../../../shaders/collision/event_table.wgsl")
        );
        let bindings = [[(Uniform, &shared.params)].as_slice(), &event_buffers(shared)].concat();
        let [_, table] = event_bytes(capacity);
        (capacity > 0).then(|| Self {
            clear: binder.bind("clear_contact_events", text, &bindings),
            collect: binder.bind("collect_contact_events", text, &bindings),
            entries: (table / TABLE_ENTRY_BYTES) as u32,
        })
    }

    /// The pass and the size of its dispatch.
    pub fn dispatch(&self, pass: Pass) -> Option<(&Bound, Size<'_>)> {
        match pass {
            // The other half is the table of the step before.
            Pass::ClearContactEvents => Some((&self.clear, Size::Threads(self.entries / 2))),
            Pass::CollectContactEvents => Some((&self.collect, Size::Threads(self.entries))),
            _ => None,
        }
    }
}
