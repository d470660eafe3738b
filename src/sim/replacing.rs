//! The host state of a simulation whose scene is replaced by an edited one.

use crate::collision::ContactScale;
use crate::error::{Error, Result};
use crate::scene::{GONE, Scene, SceneMap};
use crate::sim::controls::Controls;
use std::ops::Range;

/// A row of the old state and its row in the new one.
pub(crate) type Move = [u32; 2];

impl Controls {
    /// The state of an edited scene. Remaining entries keep their state. New entries start with the state of the
    /// scene.
    pub fn replaced(&self, scene: &Scene, map: &SceneMap) -> Result<Self> {
        map.check(&self.untorn_scene(), scene)?;
        self.check_tables(scene, map)?;
        let mut new = Self::made_for(scene, self.settings, self.compiled.purpose)?;
        new.move_start(self.shift.total())?;
        new.reset_skinning();
        self.carry_tables(&mut new);
        self.carry_particles(&mut new, map);
        self.carry_tears(&mut new, map);
        new.attachments = self.attachments.carried(map, new.attachments.capacity);
        self.carry_skinning(&mut new, map);
        let places = new.compiled.places();
        for ((kind, index), changed) in &self.changed_constraints {
            if let Some(&now) = map.constraints[*kind].get(*index as usize).filter(|now| **now != GONE) {
                new.replace_parameters(*kind, now, &places, &changed.current);
            }
        }
        new.renew_seams();
        let (own, old) = (&mut new.capacities, self.capacities);
        (own.pairs, own.contacts) = (own.pairs.max(old.pairs), own.contacts.max(old.contacts));
        own.growths = old.growths;
        // The tethers are those of the pins in the scene.
        let initial_pins = std::mem::take(&mut new.pins);
        new.list_pins();
        if new.pins != initial_pins || new.tears.is_torn() {
            new.tether_rows = new.tether_graph.tie(|particle| new.is_pinned(particle));
        }
        new.make_plan();
        Ok(new)
    }

    /// Returns an error if materials or contact materials are removed, if the number of colliders differs, or if attachments
    /// are added.
    fn check_tables(&self, scene: &Scene, map: &SceneMap) -> Result<()> {
        let fault = |reason| Err(Error::SceneMap { reason });
        let tables = [
            ("materials", self.materials.len(), scene.materials.len()),
            ("contact materials", self.scene.contact_materials.len(), scene.contact_materials.len()),
        ];
        for (what, old, new) in tables {
            if new < old {
                return fault(format!("the new scene has {new} {what}, that of the solver {old}"));
            }
        }
        let (old, new) = (self.scene.colliders.len(), scene.colliders.len());
        if new != old {
            let instead = "add and remove colliders of the solver instead";
            return fault(format!("the new scene has {new} colliders, that of the solver {old}; {instead}"));
        }
        let (old, new) = (map.attachments.iter().filter(|now| **now != GONE).count(), scene.attachments.len());
        if new != old {
            let instead = "attach to the solver after the replacement instead";
            return fault(format!("the new scene has {new} attachments, but the map has {old}; {instead}"));
        }
        Ok(())
    }

    fn carry_tables(&self, new: &mut Self) {
        new.materials[..self.materials.len()].copy_from_slice(&self.materials);
        let materials = &self.scene.contact_materials;
        new.scene.contact_materials[..materials.len()].copy_from_slice(materials);
        new.colliders = self.colliders.clone();
    }

    fn carry_particles(&self, new: &mut Self, map: &SceneMap) {
        let has_scales = !self.scene.contact_scales.is_empty() || !new.scene.contact_scales.is_empty();
        if has_scales {
            let fill = |scales: &[u32], count| {
                if scales.is_empty() { vec![ContactScale::default().pack(); count] } else { scales.to_vec() }
            };
            let old = fill(&self.scene.contact_scales, self.scene.particle_count());
            new.scene.contact_scales = fill(&new.scene.contact_scales, new.scene.particle_count());
            for [before, now] in moves(&map.particles) {
                new.scene.contact_scales[now as usize] = old[before as usize];
            }
        }
        for [before, now] in moves(&map.particles) {
            new.scene.inverse_masses[now as usize] = self.scene.inverse_masses[before as usize];
        }
        let entities = self.entity_moves(new, map);
        let mut now_of = vec![GONE; self.scene.entity_count()];
        for [before, now] in entities {
            new.inverse_masses[now as usize] = self.inverse_masses[before as usize];
            now_of[before as usize] = now;
        }
        for target in &self.targets {
            let now = now_of[target.particle as usize];
            if now != GONE {
                new.put_target(now, target.position);
            }
        }
    }

    /// Copies the tears of the remaining cloths. Call [`Controls::carry_particles`] first, which copies inverse masses and contact
    /// scales.
    fn carry_tears(&self, new: &mut Self, map: &SceneMap) {
        new.tears.generation = self.tears.generation.wrapping_add(1);
        let (Some(old_mesh), Some(mesh)) = (&self.compiled.tearing, &new.compiled.tearing) else { return };
        let remaining = (0..self.scene.tearable.len()).filter_map(|cloth| {
            let now = map.particle(self.scene.tearable[cloth].vertices.start)?;
            Some((cloth, new.scene.tearable.iter().position(|own| own.vertices.start == now)?))
        });
        for (cloth, now) in remaining.collect::<Vec<_>>() {
            let own = &self.scene.tearable[cloth];
            new.scene.tearable[now].used = own.used;
            for (edge, place) in old_mesh.edges_of[cloth].clone().zip(mesh.edges_of[now].clone()) {
                new.tears.broken[place] = self.tears.broken[edge];
            }
            for triangle in own.triangles.clone() {
                let corners = self.scene.triangles[triangle as usize].map(|particle| map.particle(particle));
                if let (Some(place), [Some(a), Some(b), Some(c)]) = (map.triangle(triangle), corners) {
                    new.scene.triangles[place as usize] = [a, b, c];
                }
            }
            for copy in own.copies.start..own.copies.start + own.used {
                if let Some(place) = map.particle(copy) {
                    new.scene.rest_positions[place as usize] = self.scene.rest_positions[copy as usize];
                    new.scene.particle_contacts[place as usize] = self.scene.particle_contacts[copy as usize];
                }
            }
        }
        let masses = self.tears.masses.iter();
        new.tears.masses = masses.filter_map(|(&vertex, &mass)| Some((map.particle(vertex)?, mass))).collect();
        if new.tears.is_torn() {
            new.renew_torn();
        }
    }

    fn carry_skinning(&self, new: &mut Self, map: &SceneMap) {
        for [before, now] in moves(&map.skinned) {
            new.skinning.limits[now as usize] = self.skinning.limits[before as usize];
        }
        new.skinning.joints.iter_mut().zip(&self.skinning.joints).for_each(|(own, old)| *own = *old);
    }

    /// The entities that remain: particles, then orientations.
    pub fn entity_moves(&self, new: &Self, map: &SceneMap) -> Vec<Move> {
        let firsts = [self, new].map(|own| own.scene.particle_count() as u32);
        let orientations = moves(&map.orientations).map(|[before, now]| [firsts[0] + before, firsts[1] + now]);
        moves(&map.particles).chain(orientations).collect()
    }

    /// The places of the records of a kind that remain, by new place.
    pub fn record_moves(&self, new: &Self, map: &SceneMap, kind: usize) -> Vec<Move> {
        let [old, own] = [self, new].map(|controls| controls.compiled.kinds[kind].coloring.places());
        let mut rows: Vec<Move> =
            moves(&map.constraints[kind]).map(|[before, now]| [old[before as usize], own[now as usize]]).collect();
        rows.sort_unstable_by_key(|row| row[1]);
        rows
    }

    /// The states of the plastic constraints of a kind that remain.
    pub fn plastic_moves(&self, new: &Self, map: &SceneMap, kind: usize) -> Vec<Move> {
        let [old, new] = [self, new].map(|own| own.scene.constraints[kind].plastic.keys());
        let place_of: std::collections::BTreeMap<u32, u32> = new.copied().zip(0..).collect();
        let now = |&constraint: &u32| place_of.get(&map.constraints[kind][constraint as usize]).copied();
        (0..).zip(old).filter_map(|(place, constraint)| Some([place, now(constraint)?])).collect()
    }
}

/// The old and the new index of each remaining entry.
pub(crate) fn moves(map: &[u32]) -> impl Iterator<Item = Move> {
    (0..).zip(map).filter(|(_, now)| **now != GONE).map(|(before, &now)| [before, now])
}

/// Consecutive moves as ranges of old rows and their first new row.
pub(crate) fn runs(moves: impl IntoIterator<Item = Move>) -> Vec<(Range<u32>, u32)> {
    let mut runs: Vec<(Range<u32>, u32)> = Vec::new();
    for [before, now] in moves {
        match runs.last_mut() {
            Some((old, new)) if old.end == before && *new + old.len() as u32 == now => old.end += 1,
            _ => runs.push((before..before + 1, now)),
        }
    }
    runs
}
