//! Pins, targets and placements of single instances.

use crate::error::{Error, Result, check_finite};
use crate::instancing::Placement;
use crate::instancing::pool::{InstancePool, TARGET_WORDS};
use crate::settings::check_moderate;
use crate::sim::shifted;
use glam::{Quat, Vec3};

impl InstancePool {
    /// True if a particle of an instance is currently pinned.
    pub fn is_pinned(&self, slot: u32, particle: u32) -> bool {
        let own = self.slots[slot as usize].own.as_ref();
        own.map_or_else(|| self.controls.scene.is_pinned(particle), |own| own.pinned[particle as usize])
    }

    /// Current inverse mass of a particle of an instance.
    pub fn inverse_mass(&self, slot: u32, particle: u32) -> f32 {
        if self.is_pinned(slot, particle) { 0.0 } else { self.controls.scene.inverse_masses[particle as usize] }
    }

    /// Gives the instance a block with the asset's pins, if it has none.
    fn ensure_own(&mut self, slot: u32) {
        if self.slots[slot as usize].own.is_none() {
            let pinned = (0..self.particle_count() as u32).map(|particle| self.controls.scene.is_pinned(particle));
            let pinned = pinned.collect();
            self.make_own(slot, pinned);
            self.write_row(slot);
        }
    }

    /// Pins or releases validated particles; returns those that changed. The instance has a block, or one is free.
    pub fn set_pinned(&mut self, slot: u32, particles: &[u32], pinned: bool) -> Vec<u32> {
        self.ensure_own(slot);
        let targets = self.own_words(slot).start + self.places.block_tethers;
        let mut changed = Vec::new();
        if let Some(own) = &mut self.slots[slot as usize].own {
            for &particle in particles {
                if std::mem::replace(&mut own.pinned[particle as usize], pinned) != pinned {
                    let at = targets + particle as usize * TARGET_WORDS;
                    self.words[at..at + TARGET_WORDS].fill(0);
                    changed.push(particle);
                }
            }
        }
        self.tie(slot, Some(&changed));
        changed
    }

    /// `Ok` if a particle of an instance can have this target.
    pub fn check_target(&self, slot: u32, particle: u32, position: [f32; 3]) -> Result<()> {
        self.controls.scene.check_particle("set_target", particle)?;
        check_finite(|| format!("target of particle {particle} of the instance in slot {slot}"), position)?;
        if self.is_pinned(slot, particle) { Ok(()) } else { Err(Error::NotPinned { particle }) }
    }

    /// Sets a validated target; returns its range of words.
    pub fn set_target(&mut self, slot: u32, particle: u32, position: [f32; 3]) -> std::ops::Range<usize> {
        self.ensure_own(slot);
        let targets = self.own_words(slot).start + self.places.block_tethers;
        let [x, y, z] = position.map(f32::to_bits);
        let at = targets + particle as usize * TARGET_WORDS;
        self.words[at..at + TARGET_WORDS].copy_from_slice(&[x, y, z, 1]);
        at..at + TARGET_WORDS
    }

    /// Transforms the targets of an instance from one placement to another.
    fn carry_targets(&mut self, slot: u32, from: &Placement, to: &Placement) {
        let words = self.own_words(slot);
        let (before, after) = (from.rotation(), to.rotation());
        let turn = if before == after { Quat::IDENTITY } else { (after * before.inverse()).normalize() };
        let tethers = if words.is_empty() { 0 } else { self.places.block_tethers };
        for target in self.words[words].split_at_mut(tethers).1.chunks_exact_mut(TARGET_WORDS) {
            if let [x, y, z, 1] = target {
                let apart = Vec3::from([*x, *y, *z].map(f32::from_bits)) - Vec3::from(from.position);
                let carried = Vec3::from(to.position) + turn * apart * (to.scale / from.scale);
                [*x, *y, *z] = carried.to_array().map(f32::to_bits);
            }
        }
    }

    /// Removes the targets of an instance.
    pub fn clear_targets(&mut self, slot: u32) {
        let mut words = self.own_words(slot);
        words.start += if words.is_empty() { 0 } else { self.places.block_tethers };
        self.words[words].fill(0);
    }

    pub fn teleport(&mut self, slot: u32, placement: Placement) -> Result<()> {
        placement.check(&format!("the instance in slot {slot}"))?;
        let before = std::mem::replace(&mut self.slots[slot as usize].placement, placement);
        self.carry_targets(slot, &before, &placement);
        self.write_row(slot);
        Ok(())
    }

    /// Shifts placements, targets, colliders, fields and the air field. An error changes nothing.
    pub fn shift_origin(&mut self, offset: [f32; 3]) -> Result<()> {
        check_moderate("offset of shift_origin", offset)?;
        for &slot in &self.live {
            let position = shifted(self.slots[slot as usize].placement.position, offset);
            check_moderate(&format!("position of the instance in slot {slot} after shift_origin"), position)?;
        }
        self.controls.colliders.check_shift(offset)?;
        self.controls.shift_fields(offset)?;
        self.controls.colliders.shift(offset);
        for place in 0..self.live.len() {
            let slot = self.live[place];
            let placement = &mut self.slots[slot as usize].placement;
            placement.position = shifted(placement.position, offset);
            self.write_row(slot);
            let mut targets = self.own_words(slot);
            targets.start += if targets.is_empty() { 0 } else { self.places.block_tethers };
            for target in self.words[targets].chunks_exact_mut(TARGET_WORDS) {
                if let [x, y, z, 1] = target {
                    [*x, *y, *z] = shifted([*x, *y, *z].map(f32::from_bits), offset).map(f32::to_bits);
                }
            }
        }
        Ok(())
    }
}
