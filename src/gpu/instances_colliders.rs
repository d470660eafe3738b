//! Changes of the colliders of instances.

use super::instance_colliders::InstanceColliders;
use super::instances::Instances;
use crate::collision::{Collider, ColliderId, ColliderRow, ContactMaterial, ContactMaterialId, Pose};
use crate::error::Result;
use crate::sim::controls::Controls;
use std::sync::atomic::Ordering;

impl Instances {
    /// Adds a collider for all instances; it may reuse the index of a removed one. Particles respond to it as in a
    /// [`crate::Solver`]; those that overlap it are pushed out at [`crate::Settings::recovery_speed`].
    ///
    /// Its pose is in world space, and its material is one of the asset. Particles keep half the thickness of their
    /// contact material plus [`Collider::margin`], in metres of the world at any scale of an instance. Instances without
    /// colliders pay nothing for them. The kernel is compiled again for the
    /// first collider, the second one, and the first one of each shape.
    ///
    /// With colliders a step takes at least three dispatches, more if the loops of a thread would be too long for one
    /// ([`Instances::dispatches_per_step`]).
    /// Colliders push particles, not triangles, and forces on them are not reported:
    /// [`crate::Settings::triangle_contacts`] and [`crate::Settings::collider_forces`] have no effect.
    ///
    /// # Errors
    /// - [`crate::Error::InvalidValue`] for values out of range; [`crate::Error::IndexOutOfRange`] if the contact
    ///   material does not exist.
    /// - [`crate::Error::TooLarge`] for more than 4096 colliders, or if a thread would have more than 60 000 loop
    ///   iterations in a substep: about 2000 colliders for an asset of 1024 particles.
    /// - [`crate::Error::LimitExceeded`] if the rows of all colliders (240 bytes per collider and substep) and the data
    ///   of their shapes exceed the limits of the device.
    pub fn add_collider(&mut self, collider: &Collider) -> Result<ColliderId> {
        self.change_colliders(|controls| controls.add_collider(collider))
    }

    /// Adds several colliders; faster than single calls, because the kernel is compiled once.
    ///
    /// # Errors
    /// As [`Instances::add_collider`]; then none is added.
    pub fn add_colliders(&mut self, colliders: &[Collider]) -> Result<Vec<ColliderId>> {
        self.change_colliders(|controls| {
            colliders.iter().map(|collider| controls.add_collider(collider)).collect::<Result<_>>()
        })
    }

    /// Replaces a collider. Its pose changes at once, without a motion.
    ///
    /// # Errors
    /// As [`Instances::add_collider`]; the collider must exist.
    pub fn set_collider(&mut self, id: ColliderId, collider: &Collider) -> Result<()> {
        self.change_colliders(|controls| controls.set_collider(id, collider)).map(drop)
    }

    /// Removes a collider.
    ///
    /// # Errors
    /// The collider must exist.
    pub fn remove_collider(&mut self, id: ColliderId) -> Result<()> {
        self.commit_collider_targets();
        let index = self.pool.controls.colliders.remove(id)?;
        self.write_collider(index);
        Ok(())
    }

    /// Sets the pose of a collider at the end of the next step, as [`crate::Solver::move_collider`] does: it moves
    /// there through the substeps, and pushes and drags the particles of all instances. Then it rests until the next
    /// call.
    ///
    /// # Errors
    /// The collider must exist, and the pose must be finite and within 1e6 m of the origin.
    pub fn move_collider(&mut self, id: ColliderId, pose: Pose) -> Result<()> {
        self.commit_collider_targets();
        let index = self.pool.controls.colliders.move_to(id, pose)?;
        self.write_collider(index);
        Ok(())
    }

    /// Changes a contact material of the asset, for its particles in all instances and for the colliders.
    ///
    /// # Errors
    /// The material must exist, and its values must be in range.
    pub fn set_contact_material(&mut self, id: ContactMaterialId, material: ContactMaterial) -> Result<()> {
        self.commit_collider_targets();
        let before = self.pool.controls.scene.contact_material(id)?;
        self.pool.controls.set_contact_material(id, material)?;
        if self.colliders_fit(self.keep_lambdas) {
            self.upload_contact_params();
        } else if let Err(error) = self.remake_colliders() {
            self.pool.controls.set_contact_material(id, before)?;
            return Err(error);
        }
        Ok(())
    }

    fn change_colliders<T>(&mut self, change: impl FnOnce(&mut Controls) -> Result<T>) -> Result<T> {
        self.commit_collider_targets();
        let before = self.pool.controls.colliders.clone();
        let changed = change(&mut self.pool.controls).and_then(|changed| {
            self.pool.check_collider_iterations()?;
            self.remake_colliders().map(|()| changed)
        });
        if changed.is_err() {
            self.pool.controls.colliders = before;
            self.pool.controls.make_plan();
        }
        changed
    }

    /// Makes buffers, and if needed pipelines, for the present colliders and contact materials.
    fn remake_colliders(&mut self) -> Result<()> {
        if self.pool.controls.colliders.is_empty() {
            return Ok(());
        }
        let Self { device, store, queue, pool, buffers, keep_lambdas, colliders, .. } = self;
        let before = colliders.as_ref();
        let made = store.guarded(|| InstanceColliders::new(store, queue, pool, *keep_lambdas, (buffers, before)))?;
        colliders.insert(made).bind(device, buffers);
        Ok(())
    }

    /// True if the buffers and pipelines of colliders fit unchanged colliders, or if there are none.
    pub(super) fn colliders_fit(&self, keep_lambdas: bool) -> bool {
        self.colliders.as_ref().is_none_or(|own| own.fits(&self.device, &self.pool, keep_lambdas))
    }

    pub(super) fn upload_contact_params(&self) {
        if let Some(own) = &self.colliders {
            self.write(&own.params, 0, &[self.pool.controls.contact_params()]);
        }
    }

    /// Moves the colliders of the host to their targets, if a step was recorded since the last call.
    pub(super) fn commit_collider_targets(&mut self) {
        if self.colliders_moved.swap(false, Ordering::Relaxed) {
            self.pool.controls.colliders.commit_targets();
        }
    }

    /// Writes the target and the flags of a collider; the GPU keeps its current pose.
    fn write_collider(&self, index: usize) {
        if let Some(own) = &self.colliders {
            let (target, row) = (ColliderRow::TARGET, &self.pool.controls.colliders.rows[index..=index]);
            let bytes = &bytemuck::cast_slice(row)[target.clone()];
            let place = index * size_of::<ColliderRow>() + target.start;
            self.queue.write_buffer(&own.colliders, place as u64, bytes);
        }
    }

    /// Writes all colliders.
    pub(super) fn write_colliders(&self) {
        if let Some(own) = &self.colliders {
            self.write(&own.colliders, 0, &self.pool.controls.colliders.rows);
        }
    }
}
