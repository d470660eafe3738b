//! Attachments of a solver: changes while it runs, and their forces.

use super::readback::Readback;
use super::solver::Solver;
use crate::error::Result;
use crate::scene::{Attachment, AttachmentForce, AttachmentId};
use crate::sim::attachments::AttachmentState;

impl Solver {
    /// Adds an attachment, which acts from the next submitted step on. [`Solver::reset`] removes it, and restores the
    /// attachments of the scene.
    ///
    /// Nothing is compiled or allocated on the GPU: the host writes its row and the list of all attachments.
    ///
    /// # Errors
    /// As [`crate::Scene::add_attachment`]; [`crate::Error::NoCollider`]; [`crate::Error::TooLarge`] if the capacity is
    /// used up ([`crate::Scene::reserve_attachments`]).
    pub fn attach(&mut self, attachment: Attachment) -> Result<AttachmentId> {
        Ok(self.attach_all(&[attachment])?[0])
    }

    /// Adds many attachments at once; returns their ids in the same order. [`Solver::attach`] writes the list of all attachments
    /// for each of them, this call once. Attachments whose indices are consecutive share one upload.
    ///
    /// # Errors
    /// As [`Solver::attach`]; the error names the index that the attachment would have. No attachment is added then.
    pub fn attach_all(&mut self, attachments: &[Attachment]) -> Result<Vec<AttachmentId>> {
        let ids = self.controls.attach_all(attachments)?;
        let [rows, _, states] = &self.buffers.attachments;
        for run in ids.chunk_by(|a, b| a.index() + 1 == b.index()) {
            let indices = || run.iter().map(|id| id.index());
            let of_run: Vec<_> = indices().map(|index| self.controls.attachment_row(index)).collect();
            self.write(rows, run[0].index(), &of_run);
            let of_run: Vec<_> = indices().map(|index| self.controls.attachments.initial_state(index)).collect();
            self.write(states, run[0].index(), &of_run);
        }
        self.write_attachment_order();
        Ok(ids)
    }

    /// Removes an attachment, broken or not. [`Solver::remove_collider`] removes those to its collider.
    ///
    /// # Errors
    /// [`crate::Error::NoAttachment`].
    pub fn release_attachment(&mut self, id: AttachmentId) -> Result<()> {
        self.controls.attachments.release(id)?;
        self.write_attachment_order();
        Ok(())
    }

    /// Sets the point in space of an attachment at the end of the next step \[m\]. It moves there at constant velocity, and
    /// stays until the next call. This has no effect on a broken attachment ([`Solver::request_attachments`]).
    ///
    /// # Errors
    /// [`crate::Error::NoAttachment`]; [`crate::Error::NotEnabled`] for an attachment with another target; the position
    /// must be finite.
    pub fn move_attachment(&mut self, id: AttachmentId, position: [f32; 3]) -> Result<()> {
        let index = self.controls.attachments.move_to(id, position)?;
        self.write(&self.buffers.attachments[0], index, &[self.controls.attachment_row(index)]);
        Ok(())
    }

    /// Requests the mean force of each attachment in the last step, and whether it is broken. The list has the attachments that
    /// exist, in the order of [`AttachmentId::index`]; [`AttachmentForce::id`] names them.
    pub fn request_attachments(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Vec<AttachmentForce>> {
        let ids: Vec<AttachmentId> = self.controls.attachments.live().collect();
        let decode = move |bytes: &[u8]| {
            let states = bytemuck::pod_collect_to_vec::<u8, AttachmentState>(bytes);
            ids.iter().map(|&id| states[id.index()].report(id)).collect()
        };
        let size = u64::from(self.controls.attachments.capacity) * size_of::<AttachmentState>() as u64;
        Readback::new(&self.device, encoder, &self.buffers.attachments[2], size, decode)
    }

    /// Waits for all submitted work and reads the mean force of each attachment in the last step, and whether it is
    /// broken: see [`Solver::request_attachments`].
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn read_attachments(&self) -> Result<Vec<AttachmentForce>> {
        if self.controls.attachments.live().next().is_none() {
            return Ok(Vec::new());
        }
        super::reading::read(&self.device, &self.queue, |encoder| self.request_attachments(encoder))
    }

    pub(super) fn write_attachment_order(&self) {
        if self.controls.attachments.capacity > 0 {
            self.write(&self.buffers.attachments[1], 0, &self.controls.attachments.order);
        }
    }

    /// Writes the rows of all attachments, which depend on the settings.
    pub(super) fn write_attachments(&self) {
        self.write(&self.buffers.attachments[0], 0, &self.controls.attachment_rows());
    }

    /// Writes the rows and anchors of all attachments after a shift of the origin.
    pub(super) fn write_shifted_attachments(&self) {
        self.write_attachments();
        let [.., states] = &self.buffers.attachments;
        for index in self.controls.attachments.live().map(AttachmentId::index) {
            let anchor = self.controls.attachments.initial_state(index).anchor;
            let place = (index * size_of::<AttachmentState>()) as u64 + AttachmentState::ANCHOR;
            self.queue.write_buffer(states, place, bytemuck::bytes_of(&anchor));
        }
    }
}
