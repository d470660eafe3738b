//! Attachments as words of a checkpoint.

use super::{Attachments, Slot};
use crate::collision::ColliderId;
use crate::error::Result;
use crate::scene::{Attachment, AttachmentTarget, Material, ParticlePoint, Scene};
use crate::words::{WordReader, WordWriter, damaged};

impl Attachments {
    pub fn write_words(&self, w: &mut WordWriter) {
        w.word(self.last_generation);
        w.word(self.slots.len() as u32);
        for slot in &self.slots {
            w.word(slot.is_some().into());
            if let Some(Slot { attachment, generation, color, anchor }) = slot {
                w.word(*generation);
                w.word(*color);
                w.floats(anchor);
                write_attachment(w, attachment);
            }
        }
    }

    /// Reads the attachments of a solver with the same capacity.
    pub fn read_words(r: &mut WordReader<'_>, scene: &Scene, capacity: u32) -> Result<Self> {
        let [last_generation, count] = r.words()?;
        if count > capacity {
            return Err(damaged(format!("it has {count} attachments, but the capacity of the solver is {capacity}")));
        }
        let mut all = Self { capacity, last_generation, ..Self::default() };
        for index in 0..count {
            let slot = match r.flag()? {
                false => None,
                true => {
                    let ([generation, color], anchor) = (r.words()?, r.floats()?);
                    let attachment = read_attachment(r)?;
                    attachment.check(&format!("attachment {index} of the snapshot"), scene)?;
                    if color >= capacity {
                        return Err(damaged(format!("attachment {index} has the colour {color}")));
                    }
                    Some(Slot { attachment, generation, color, anchor })
                }
            };
            all.slots.push(slot);
        }
        all.take_colors();
        all.list();
        Ok(all)
    }
}

fn write_attachment(w: &mut WordWriter, attachment: &Attachment) {
    let Attachment { point, target, rest_length, only_pull, material, break_force } = attachment;
    let Material { compliance, damping, damping_time, stiffness } = *material;
    write_point(w, point);
    match target {
        AttachmentTarget::Particles(point) => {
            w.word(0);
            write_point(w, point);
        }
        AttachmentTarget::Space(point) => {
            w.word(1);
            w.floats(point);
        }
        AttachmentTarget::Collider { id, point } => {
            w.word(2);
            w.word(id.index);
            w.word(id.generation);
            w.floats(point);
        }
    }
    w.floats(&[*rest_length, compliance, damping, damping_time, stiffness]);
    w.word((*only_pull).into());
    w.word(break_force.is_some().into());
    w.floats(&[break_force.unwrap_or_default()]);
}

fn read_attachment(r: &mut WordReader<'_>) -> Result<Attachment> {
    let point = read_point(r)?;
    let target = match r.word()? {
        0 => AttachmentTarget::Particles(read_point(r)?),
        1 => AttachmentTarget::Space(r.floats()?),
        2 => {
            let [index, generation] = r.words()?;
            AttachmentTarget::Collider { id: ColliderId { index, generation }, point: r.floats()? }
        }
        other => return Err(damaged(format!("an attachment has the target {other}"))),
    };
    let [rest_length, compliance, damping, damping_time, stiffness] = r.floats()?;
    let (only_pull, breaks) = (r.flag()?, r.flag()?);
    let force = r.float()?;
    let material = Material { compliance, damping, damping_time, stiffness };
    Ok(Attachment { point, target, rest_length, only_pull, material, break_force: breaks.then_some(force) })
}

fn write_point(w: &mut WordWriter, point: &ParticlePoint) {
    let (particles, weights) = point.parts();
    w.list(particles);
    w.floats(weights);
}

fn read_point(r: &mut WordReader<'_>) -> Result<ParticlePoint> {
    let particles: Vec<u32> = r.list()?;
    match *particles.as_slice() {
        [a] => r.float().map(|_| ParticlePoint::Particle(a)),
        [a, b] => Ok(ParticlePoint::Edge([a, b], r.floats()?)),
        [a, b, c] => Ok(ParticlePoint::Triangle([a, b, c], r.floats()?)),
        [a, b, c, d] => Ok(ParticlePoint::Tetrahedron([a, b, c, d], r.floats()?)),
        _ => Err(damaged(format!("a point of an attachment has {} particles", particles.len()))),
    }
}
