//! Counters of contacts on the GPU.

use crate::collision::ContactReport;
use crate::sim::capacities::Capacities;

/// Counters of contacts: `ContactStatus` in `shaders/common/contacts.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(in crate::gpu) struct ContactStatus {
    pub drift: [f32; 3],
    pub now: u32,
    pub truncation_frame: [f32; 3],
    pub stale: u32,
    pub searched: u32,
    pub horizon: u32,
    pub crossing_count: u32,
    pub found_count: u32,
    pub pair_count: u32,
    pub contact_count: u32,
    pub searches: u32,
    pub most_pairs: u32,
    pub most_contacts: u32,
    pub lost: u32,
    pub deepest: u32,
    pub truncated: u32,
    pub halted: u32,
    pub deep_contacts: u32,
    pub cut_round: u32,
    pub radii: [u32; 24],
    pub padding: u32,
}

impl ContactStatus {
    /// Byte offset of the mark that the pair list is invalid.
    pub const STALE: u64 = std::mem::offset_of!(Self, stale) as u64;
    /// The mark: positions were reset since the last search.
    pub const RESET: u32 = 2;

    /// Counters at 0, without a valid pair list.
    pub fn new() -> Self {
        Self { stale: Self::RESET, ..bytemuck::Zeroable::zeroed() }
    }

    /// The report. `has_surfaces` is true at the surface level.
    pub fn report(&self, has_surfaces: bool, capacities: Capacities) -> ContactReport {
        let contacts = match self.contact_count > capacities.contacts {
            // As `used_count` in `shaders/common/pair.wgsl`.
            true if has_surfaces => 0,
            _ => self.contact_count.min(capacities.contacts),
        };
        ContactReport {
            pairs: self.pair_count,
            contacts,
            most_pairs: self.most_pairs,
            most_contacts: self.most_contacts,
            pair_capacity: capacities.pairs,
            contact_capacity: capacities.contacts,
            growths: capacities.growths,
            lost: self.lost,
            halted: self.halted,
            deepest: f32::from_bits(self.deepest),
            deep_contacts: self.deep_contacts,
            searches: self.searches,
            truncated: self.truncated,
            crossings: has_surfaces.then_some(self.crossing_count),
        }
    }
}
