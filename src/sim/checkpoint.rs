//! The host state of a simulation as words of a checkpoint: all of [`Controls`] that may change while it runs.

use crate::collision::{Colliders, ContactMaterial, Friction};
use crate::error::{Result, check_finite};
use crate::geometry::check_exists;
use crate::scene::Material;
use crate::sim::attachments::Attachments;
use crate::sim::controls::Controls;
use crate::sim::params::Target;
use crate::words::{Fingerprint, WordReader, WordWriter, damaged};

/// Words of a contact material.
type ContactWords = [u32; 6];

/// The parameters of a constraint that [`Controls::set_constraints`] has changed, and the original ones.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChangedParameters {
    pub original: Vec<u32>,
    pub current: Vec<u32>,
}

fn contact_words(material: &ContactMaterial) -> ContactWords {
    let ContactMaterial { thickness, friction: Friction { statics, kinetic }, restitution, groups, touches } =
        *material;
    let [thickness, statics, kinetic, restitution] = [thickness, statics, kinetic, restitution].map(f32::to_bits);
    [thickness, statics, kinetic, restitution, groups, touches]
}

fn contact_material([thickness, statics, kinetic, restitution, groups, touches]: ContactWords) -> ContactMaterial {
    let [thickness, statics, kinetic, restitution] = [thickness, statics, kinetic, restitution].map(f32::from_bits);
    ContactMaterial { thickness, friction: Friction { statics, kinetic }, restitution, groups, touches }
}

impl Controls {
    /// The scene, in words: counts and a hash of all that does not change while a simulation runs.
    pub fn scene_fingerprint(&self) -> String {
        let (scene, compiled) = (&*self.untorn_scene(), &self.compiled);
        let mut hash = Fingerprint::new();
        hash.add_list(&scene.rest_positions);
        hash.add_list(self.shift.start_positions(scene));
        hash.add_list(&scene.velocities);
        hash.add(scene.pinned.iter().map(|&pinned| u32::from(pinned)));
        hash.add_list(&scene.triangles);
        for set in &scene.constraints {
            hash.add(set.info.name.bytes().map(u32::from));
            hash.add_list(&set.words);
            hash.add_list(&set.rows);
            for (&constraint, plasticity) in &set.plastic {
                hash.add([constraint].into_iter().chain(plasticity.values().map(f32::to_bits)));
            }
        }
        for follower in &scene.followers {
            hash.add([follower.particle].into_iter().chain(follower.sources).chain(follower.weights.map(f32::to_bits)));
        }
        hash.add_list(&scene.entity_places().skip(scene.particle_count()).collect::<Vec<_>>());
        for (own, &pinned) in scene.orientations.iter().zip(&scene.orientation_pins) {
            hash.add(own.angular_velocity.map(f32::to_bits));
            hash.add([own.inverse_inertia.to_bits(), pinned.into()]);
        }
        hash.add_list(&compiled.bodies);
        hash.add_list(&compiled.tether_runs);
        hash.add_list(&scene.cord_edges);
        hash.add(scene.particle_contacts.iter().map(|id| id.index() as u32));
        for (materials, friction) in &scene.friction_pairs {
            hash.add(materials.iter().map(|&index| u32::from(index)));
            hash.add([friction.statics, friction.kinetic].map(f32::to_bits));
        }
        for (edge, strain) in &scene.tear_strains {
            hash.add([edge[0], edge[1], strain.to_bits()]);
        }
        hash.add(scene.tearable.iter().map(|cloth| cloth.strain.to_bits()));
        let counts = [self.materials.len(), scene.contact_materials.len(), scene.colliders.len()];
        hash.add(counts.map(|count| count as u32));
        for skinned in &scene.skinned.rows {
            hash.add([skinned.particle].into_iter().chain(skinned.pose.normal.map(f32::to_bits)));
            let joints = skinned.joints.iter();
            hash.add(joints.flat_map(|own| own.joints.into_iter().chain(own.weights.map(f32::to_bits))));
        }
        let (particles, constraints) = (scene.particle_count(), scene.constraint_count());
        let (triangles, pins) = (scene.triangle_count(), scene.pinned.iter().filter(|&&pinned| pinned).count());
        let hash = hash.0;
        format!(
            "{particles} particles ({pins} pinned), {constraints} constraints, {triangles} triangles, fingerprint {hash:016x}"
        )
    }

    /// The settings and capacities that determine buffers, and a hash of the order of the constraints, as text.
    pub fn layout_fingerprint(&self) -> String {
        let mut hash = Fingerprint::new();
        self.compiled.kinds.iter().for_each(|kind| hash.add_list(&kind.coloring.order));
        let (settings, attachments) = (self.settings.layout_text(), self.attachments.capacity);
        format!("{settings}, {attachments} attachments at most, order of constraints {:016x}", hash.0)
    }

    pub fn write_words(&self, w: &mut WordWriter) {
        self.materials.iter().for_each(|Material { compliance, damping, damping_time, stiffness }| {
            w.floats(&[*compliance, *damping, *damping_time, *stiffness]);
        });
        w.list(&self.inverse_masses);
        w.list(&self.scene.inverse_masses);
        w.list(&self.targets);
        w.list(&self.tether_rows);
        w.word(self.changed_constraints.len() as u32);
        for ((kind, index), changed) in &self.changed_constraints {
            w.word(*kind as u32);
            w.word(*index);
            w.list(&changed.current);
        }
        self.scene.contact_materials.iter().for_each(|material| w.0.extend(contact_words(material)));
        w.list(&self.scene.contact_scales);
        self.colliders.write_words(w);
        self.write_tears(w);
        self.attachments.write_words(w);
        self.write_skinning(w);
        self.shift.total().into_iter().for_each(|component| w.double(component));
        let capacities = self.capacities;
        [capacities.pairs, capacities.contacts, capacities.growths].into_iter().for_each(|count| w.word(count));
    }

    /// Reads the state of a simulation of the same scene. After an error this state is incomplete: read into a copy.
    pub fn read_words(&mut self, r: &mut WordReader<'_>) -> Result<()> {
        for (index, material) in self.materials.iter_mut().enumerate() {
            let [compliance, damping, damping_time, stiffness] = r.floats()?;
            *material = Material { compliance, damping, damping_time, stiffness };
            material.check(&format!("material {index} of the snapshot"))?;
        }
        let count = self.scene.particle_count();
        self.inverse_masses = r.list_of("inverse masses and inertias", self.scene.entity_count())?;
        self.scene.inverse_masses = r.list_of("inverse masses", count)?;
        self.read_targets(r)?;
        self.tether_rows = r.list_of("tethers", self.tether_rows.len())?;
        self.read_constraints(r)?;
        for (index, material) in self.scene.contact_materials.iter_mut().enumerate() {
            *material = contact_material(r.words()?);
            material.check(&format!("contact material {index} of the snapshot"))?;
        }
        self.scene.contact_scales = r.list()?;
        let scales = self.scene.contact_scales.len();
        if scales != 0 && scales != count {
            return Err(damaged(format!("it has {scales} contact scales for {count} particles")));
        }
        self.colliders = Colliders::read_words(r)?;
        self.read_tears(r)?;
        // After the tears: an attachment may have the copy of a torn vertex.
        self.attachments = Attachments::read_words(r, &self.scene, self.attachments.capacity)?;
        self.read_skinning(r)?;
        self.move_start([r.double()?, r.double()?, r.double()?])?;
        let [pairs, contacts, growths] = r.words()?;
        let own = &mut self.capacities;
        (own.pairs, own.contacts, own.growths) = (own.pairs.max(pairs), own.contacts.max(contacts), growths);
        self.list_pins();
        self.make_plan();
        Ok(())
    }

    fn read_targets(&mut self, r: &mut WordReader<'_>) -> Result<()> {
        let targets: Vec<Target> = r.list()?;
        self.clear_all_targets();
        for Target { position, particle } in targets {
            check_exists(|| "a target of the snapshot".into(), "particle", &[particle], self.scene.entity_count())?;
            check_finite(|| format!("target of particle {particle} of the snapshot"), position)?;
            self.put_target(particle, position);
        }
        Ok(())
    }

    /// Restores the parameters of constraints: those of the snapshot, else the original ones.
    fn read_constraints(&mut self, r: &mut WordReader<'_>) -> Result<()> {
        let places = self.compiled.places();
        for ((kind, index), changed) in std::mem::take(&mut self.changed_constraints) {
            self.replace_parameters(kind, index, &places, &changed.original);
        }
        self.changed_constraints.clear();
        for _ in 0..r.word()? {
            let ([kind, index], words) = (r.words()?, r.list::<u32>()?);
            if !self.replace_parameters(kind as usize, index, &places, &words) {
                return Err(damaged(format!("it changes constraint {index} of kind {kind}, which does not exist")));
            }
        }
        self.renew_seams();
        Ok(())
    }

    /// Writes the parameters of a constraint and notes the change; false if there is no such constraint. `places` are those
    /// of the compiled scene.
    pub(super) fn replace_parameters(&mut self, kind: usize, index: u32, places: &[Vec<u32>], words: &[u32]) -> bool {
        let Some(&place) = places.get(kind).and_then(|own| own.get(index as usize)) else { return false };
        let info = self.compiled.kinds[kind].info;
        let offset = info.material_word() + 1;
        if words.len() > info.record_words - offset {
            return false;
        }
        let first = place as usize * info.record_words + offset;
        self.note_change(kind, index, first, words);
        let compiled = &mut self.compiled.kinds[kind];
        let old = &mut compiled.records[first..first + words.len()];
        if old != words {
            compiled.tiling.unshare();
            old.copy_from_slice(words);
        }
        compiled.set_plastic_rest(index, words);
        true
    }

    /// Notes the change of the parameters at a place of the records, before it is made.
    pub(super) fn note_change(&mut self, kind: usize, index: u32, first: usize, words: &[u32]) {
        let original = || self.compiled.kinds[kind].records[first..first + words.len()].to_vec();
        let entry = self.changed_constraints.entry((kind, index));
        let changed = entry.or_insert_with(|| ChangedParameters { original: original(), current: Vec::new() });
        changed.current = words.to_vec();
    }
}
