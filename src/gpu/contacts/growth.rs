//! Growth of the pair list and of the contact list, whose need only the GPU knows.
//!
//! Each [`crate::Solver::encode`] copies the counters to the host, unless a copy is under way. The first one after their
//! arrival replaces lists that are too short, in the encoder of the caller: pairs and previous contacts are copied, so
//! growth changes no result. Shaders take the capacities from the size of the buffers.

use super::contact_passes::{CONTACT_BYTES, PAIR_BYTES, make_lists};
use super::{ContactPasses, ContactStatus};
use crate::error::Result;
use crate::gpu::maker::Maker;
use crate::gpu::readback::{Arrival, StagedCopy};
use crate::gpu::solver::Solver;
use crate::gpu::{Probe, guarded};
use crate::sim::capacities::Capacities;

/// A copy of the counters for the host, at most one at a time.
#[derive(Debug)]
pub(super) struct Watch {
    copy: StagedCopy,
    probe: Probe,
    /// True from the recording of a copy until its outcome is read.
    is_pending: bool,
    /// True if the encoder of the copy contains that of the lists.
    has_growth: bool,
}

impl Watch {
    pub fn new(maker: &Maker) -> Result<Self> {
        let size = size_of::<ContactStatus>() as u64;
        let copy = StagedCopy::into_buffer(maker.staging("contact_counters", size)?, size);
        Ok(Self { copy, probe: maker.probe(), is_pending: false, has_growth: false })
    }

    /// The outcome of the copy, once.
    fn outcome(&mut self) -> Option<Arrival> {
        let arrival = self.copy.arrival().filter(|_| self.is_pending)?;
        self.is_pending = false;
        Some(arrival)
    }

    /// Records a copy of the counters unless one is under way.
    fn request(&mut self, encoder: &mut wgpu::CommandEncoder, status: &wgpu::Buffer) {
        if !self.is_pending {
            self.is_pending = true;
            self.copy.record(encoder, status, 0, self.probe.is_lost());
        }
    }
}

impl ContactPasses {
    /// Replaces the lists by others with these capacities.
    fn grow(
        &mut self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        capacities: Capacities,
    ) -> Result<()> {
        let lists = guarded(device, || make_lists(&Maker::new(device), capacities))?;
        let old = std::mem::replace(&mut self.lists, lists);
        let new = self.lists.clone();
        let replaced: Vec<_> = old.iter().zip(&new).collect();
        self.passes_mut().for_each(|pass| pass.replace(device, &replaced));
        let [pairs, _, previous] = [0, 1, 2].map(|list| (&old[list], &new[list]));
        // Contacts do not outlast a substep.
        for (old, new) in [pairs, previous] {
            encoder.copy_buffer_to_buffer(old, 0, new, 0, old.size());
        }
        self.bytes += replaced.iter().map(|(old, new)| new.size() - old.size()).sum::<u64>();
        Ok(())
    }
}

impl Solver {
    /// Replaces the lists of contacts by larger ones if the counters have arrived and ask for it. A device without the
    /// memory keeps the lists.
    pub(in crate::gpu) fn grow_contacts(&mut self, encoder: &mut wgpu::CommandEncoder) {
        let Some(passes) = &mut self.contacts.contact_passes else { return };
        let Some(watch) = &mut passes.watch else { return };
        let Some(arrival) = watch.outcome() else { return };
        let had_growth = std::mem::take(&mut watch.has_growth);
        match arrival {
            Arrival::Mapped => {}
            // If the encoder was dropped, the new lists have remained empty.
            Arrival::Dropped if had_growth => return self.mark_stale(),
            Arrival::Dropped | Arrival::Failed => return,
        }
        let Ok(ContactStatus { most_pairs, most_contacts, .. }) = watch.copy.take() else { return };
        let limits = self.device.limits();
        let bytes = limits.max_buffer_size.min(limits.max_storage_buffer_binding_size);
        let most = [bytes / PAIR_BYTES, bytes / CONTACT_BYTES];
        let Some(grown) = self.controls.capacities.grown([most_pairs, most_contacts], most) else { return };
        match passes.grow(&self.device, encoder, grown) {
            Ok(()) => {
                self.controls.capacities = grown;
                if let Some(watch) = &mut passes.watch {
                    watch.has_growth = true;
                }
            }
            Err(error) => {
                log::warn!("the lists of contacts cannot grow: {error}");
                passes.watch = None;
            }
        }
    }

    /// Discards counters that are under way: they precede a reset.
    pub(in crate::gpu) fn forget_counters(&mut self) {
        if let Some(watch) = self.contacts.contact_passes.as_mut().and_then(|passes| passes.watch.as_mut()) {
            // A buffer of the same size was created before: it fails only on a lost device.
            if let Ok(fresh) = Watch::new(&Maker::new(&self.device)) {
                *watch = fresh;
            }
        }
    }

    /// Records a copy of the counters of contacts for [`Solver::grow_contacts`].
    pub(in crate::gpu) fn watch_contacts(&mut self, encoder: &mut wgpu::CommandEncoder) {
        if let Some(watch) = self.contacts.contact_passes.as_mut().and_then(|passes| passes.watch.as_mut()) {
            watch.request(encoder, &self.contacts.status);
        }
    }
}
