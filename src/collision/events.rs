//! Contact events: the contacts that began, lasted and ended in a step.

/// The contacts of a step, in the order of their kinds and particles. See [`crate::Settings::contact_events`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContactEvents {
    /// Number of the step since the start or the last reset, from 1 on; 0 before the first step.
    pub step: u32,
    /// One event per contact.
    pub events: Vec<ContactEvent>,
    /// Number of events that did not fit. If it is not 0, raise [`crate::Settings::contact_events`]. A contact without a
    /// place may count once per substep; which contacts have a place is not reproducible then.
    pub lost: u32,
}

/// A contact in a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactEvent {
    /// The two sides.
    pub contact: ContactPair,
    /// The contact began, continued or ended in the step.
    pub phase: ContactPhase,
    /// Sum of the normal impulses of all substeps \[N s\], without friction; 0 in the event of the end.
    pub impulse: f32,
    /// The place of the contact \[m\]. With a collider it is that of the particle at the end of the step. Otherwise it is
    /// the point of the first side at the start of the last substep of the contact.
    pub position: [f32; 3],
}

/// The two sides of a contact. Indices are particles of the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ContactPair {
    /// Two particles.
    Particles([u32; 2]),
    /// A vertex and a triangle.
    VertexTriangle {
        /// The vertex.
        vertex: u32,
        /// The corners of the triangle.
        triangle: [u32; 3],
    },
    /// Two edges.
    Edges([[u32; 2]; 2]),
    /// A particle and a collider. The contact of a triangle counts as that of its particles, by their shares.
    Collider {
        /// The particle.
        particle: u32,
        /// The index of the collider ([`super::ColliderId::index`]).
        collider: u32,
    },
}

/// The phase of a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContactPhase {
    /// There was no contact in the step before.
    Began,
    /// There was a contact in the step before.
    Continued,
    /// The contact of the step before is gone.
    Ended,
}

/// A contact as the shaders store it: particles and kind as [`super::pair::pack`]. A contact with a collider has the kind
/// [`COLLIDER`], the particle and the index of the collider.
pub(crate) type ContactKey = [u32; 4];

/// The kind of a contact with a collider, in the upper two bits of the last word; also in
/// `shaders/collision/event_table.wgsl`.
const COLLIDER: u32 = 3;

/// The key of a contact of a particle with a collider.
pub(crate) fn collider_key(particle: u32, collider: u32) -> ContactKey {
    [particle, collider, 0, COLLIDER << 30]
}

/// The order of the events: by kind, then by particles.
pub(crate) fn order([a, b, c, d]: ContactKey) -> [u32; 5] {
    [d >> 30, a, b, c, d & 0x0fff_ffff]
}

impl ContactPair {
    pub(crate) fn new([a, b, c, d]: ContactKey) -> Self {
        let last = d & 0x0fff_ffff;
        match d >> 30 {
            0 => Self::Particles([a, b]),
            1 => Self::VertexTriangle { vertex: a, triangle: [b, c, last] },
            2 => Self::Edges([[a, b], [c, last]]),
            _ => Self::Collider { particle: a, collider: b },
        }
    }
}

/// Header of the events in the layout of the shaders: number of events, number of contacts without a place in the table,
/// step, 0.
pub(crate) const HEADER_BYTES: usize = 16;

/// `ContactEventRow` in `shaders/collision/event_table.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct ContactEventRow {
    /// The key, with the phase in the bits 28 and 29 of the last word.
    pub key: ContactKey,
    pub position: [f32; 3],
    pub impulse: f32,
}

impl ContactEvents {
    /// The events from the buffer of the GPU.
    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let (header, rows) = bytes.split_at(HEADER_BYTES);
        let [count, lost, step, _]: [u32; 4] = bytemuck::pod_read_unaligned(header);
        let rows = rows.chunks_exact(size_of::<ContactEventRow>());
        let capacity = rows.len() as u32;
        let mut rows: Vec<ContactEventRow> = rows.take(count as usize).map(bytemuck::pod_read_unaligned).collect();
        rows.sort_unstable_by_key(|row| order(row.key));
        let event = |row: ContactEventRow| ContactEvent {
            contact: ContactPair::new(row.key),
            phase: match row.key[3] >> 28 & 3 {
                0 => ContactPhase::Began,
                1 => ContactPhase::Continued,
                _ => ContactPhase::Ended,
            },
            impulse: row.impulse,
            position: row.position,
        };
        let lost = lost.saturating_add(count.saturating_sub(capacity));
        Self { step, events: rows.into_iter().map(event).collect(), lost }
    }
}

/// The greatest capacity of a list of events.
pub(crate) const MOST_EVENTS: u32 = 1 << 20;

/// Bytes of the list of events for a capacity, and of the two tables of contacts; 0 without events.
pub(crate) fn event_bytes(capacity: u32) -> [u64; 2] {
    if capacity == 0 {
        return [0; 2];
    }
    // At most half of a table is in use, so that searches are short.
    let slots = (2 * u64::from(capacity)).next_power_of_two().max(64);
    let rows = u64::from(capacity) * size_of::<ContactEventRow>() as u64;
    [HEADER_BYTES as u64 + rows, 2 * slots * TABLE_ENTRY_BYTES]
}

/// Size of `ContactEntry` in `shaders/collision/event_table.wgsl`.
pub(crate) const TABLE_ENTRY_BYTES: u64 = 48;
