//! Growth of the pair list and of the contact list, whose need only the GPU knows.
//!
//! Each [`crate::Solver::encode`] copies the counters to the host, unless a copy is under way. The first one after their
//! arrival replaces lists that are too short, in the encoder of the caller: pairs and friction anchors are copied, so
//! growth changes no result. Shaders take the capacities from the size of the buffers.

use super::contact_passes::{CONTACT_BYTES, PAIR_BYTES, make_lists};
use super::{ContactPasses, ContactStatus};
use crate::error::Result;
use crate::gpu::maker::Maker;
use crate::gpu::solver::Solver;
use crate::gpu::{Probe, guarded};
use crate::sim::capacities::Capacities;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// States of a copy: none; under way; mapped; its encoder was dropped.
const IDLE: u8 = 0;
const PENDING: u8 = 1;
const ARRIVED: u8 = 2;
const DROPPED: u8 = 3;

/// A copy of the counters for the host, at most one at a time.
#[derive(Debug)]
pub(super) struct Watch {
    staging: wgpu::Buffer,
    probe: Probe,
    state: Arc<AtomicU8>,
    /// True if the encoder of the copy contains that of the lists.
    has_growth: bool,
}

/// Held by the callback of a copy: a callback that is dropped unused belongs to a dropped encoder.
struct Ticket(Arc<AtomicU8>);

impl Drop for Ticket {
    fn drop(&mut self) {
        // Fails if the callback has run.
        let _ = self.0.compare_exchange(PENDING, DROPPED, Ordering::AcqRel, Ordering::Acquire);
    }
}

impl Watch {
    pub fn new(maker: &Maker) -> Result<Self> {
        let staging = maker.staging("contact_counters", size_of::<ContactStatus>() as u64)?;
        Ok(Self { staging, probe: maker.probe(), state: Arc::new(AtomicU8::new(IDLE)), has_growth: false })
    }

    /// The numbers of pairs and contacts found, if they have arrived.
    fn needed(&mut self) -> Option<[u32; 2]> {
        if self.state.load(Ordering::Acquire) != ARRIVED {
            return None;
        }
        self.has_growth = false;
        let status = self.staging.get_mapped_range(..).ok().map(|view| bytemuck::pod_read_unaligned(&view));
        self.staging.unmap();
        self.state.store(IDLE, Ordering::Release);
        status.map(|ContactStatus { most_pairs, most_contacts, .. }| [most_pairs, most_contacts])
    }

    /// Records a copy of the counters unless one is under way.
    fn request(&self, encoder: &mut wgpu::CommandEncoder, status: &wgpu::Buffer) {
        // On a lost device the submission would fail to map the buffer, and wgpu would panic.
        if self.state.load(Ordering::Acquire) != IDLE || self.probe.is_lost() {
            return;
        }
        self.state.store(PENDING, Ordering::Release);
        encoder.copy_buffer_to_buffer(status, 0, &self.staging, 0, self.staging.size());
        let ticket = Ticket(self.state.clone());
        encoder.map_buffer_on_submit(&self.staging, wgpu::MapMode::Read, .., move |result| {
            ticket.0.store(if result.is_ok() { ARRIVED } else { IDLE }, Ordering::Release);
        });
    }

    /// True once if an encoder was dropped that contains the copy of the lists.
    fn has_lost_growth(&mut self) -> bool {
        let dropped = self.state.compare_exchange(DROPPED, IDLE, Ordering::AcqRel, Ordering::Acquire).is_ok();
        dropped && std::mem::take(&mut self.has_growth)
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
        let [pairs, _, anchors] = [0, 1, 2].map(|list| (&old[list], &new[list]));
        // Contacts do not outlast a substep.
        for (old, new) in [pairs, anchors] {
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
        if watch.has_lost_growth() {
            // The new lists have remained empty.
            self.mark_stale();
            return;
        }
        let Some(needed) = watch.needed() else { return };
        let limits = self.device.limits();
        let bytes = limits.max_buffer_size.min(limits.max_storage_buffer_binding_size);
        let most = [bytes / PAIR_BYTES, bytes / CONTACT_BYTES];
        let Some(grown) = self.controls.capacities.grown(needed, most) else { return };
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
    pub(in crate::gpu) fn watch_contacts(&self, encoder: &mut wgpu::CommandEncoder) {
        if let Some(watch) = self.contacts.contact_passes.as_ref().and_then(|passes| passes.watch.as_ref()) {
            watch.request(encoder, &self.contacts.status);
        }
    }
}
