//! Attachments: points of particles that are tied to other points, to points in space, or to colliders.

use super::{Material, Scene};
use crate::collision::ColliderId;
use crate::error::{Error, Result, check_positive};
use crate::geometry::check_indices;
use crate::settings::check_moderate;

/// A point given by one to four particles: Σ w x, with the barycentric weights w.
///
/// The sum of the weights is 1 up to 1e-3; they are divided by it. Weights may be negative: the point may lie outside of
/// its particles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParticlePoint {
    /// A particle.
    Particle(u32),
    /// A point of the line through two particles.
    Edge([u32; 2], [f32; 2]),
    /// A point of the plane through three particles.
    Triangle([u32; 3], [f32; 3]),
    /// A point in the space of four particles.
    Tetrahedron([u32; 4], [f32; 4]),
}

/// The other end of an attachment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AttachmentTarget {
    /// Another point of particles. Opposite forces act on both ends.
    Particles(ParticlePoint),
    /// A point in space \[m\], at most 1e6 either way, which [`crate::Solver::move_attachment`] moves.
    Space([f32; 3]),
    /// A point of a collider, on which the force and its torque act: see [`crate::Solver::read_collider_forces`].
    Collider {
        /// The collider.
        id: ColliderId,
        /// The point in the frame of the collider \[m\]: relative to [`crate::Pose::position`], before its rotation. If particles
        /// collide with the collider, choose a point outside of it by at least their contact thickness.
        point: [f32; 3],
    },
}

/// Ties a point of particles to a target. Attachments are added by [`Scene::add_attachment`], and added, moved and
/// released while a solver runs.
///
/// With a rest length of 0, C = x₁ − x₂, a vector constraint with one multiplier λ per component. With a rest length L,
/// C = |x₁ − x₂| − L (Macklin, Müller, Chentanez 2016; ∇C of a particle is its weight times that of its point).
///
/// ```
/// # use supple::{Attachment, AttachmentTarget, ParticlePoint, Particle, Reference, Scene, Settings};
/// # fn main() -> supple::Result<()> {
/// let mut scene = Scene::new();
/// let weight = scene.add_particle(Particle { position: [0.0, -1.0, 0.0], velocity: [0.0; 3], inverse_mass: 0.5 })?;
/// let hook = AttachmentTarget::Space([0.0; 3]);
/// let string = Attachment { rest_length: 1.0, only_pull: true, ..Attachment::new(ParticlePoint::Particle(weight), hook) };
/// let id = scene.add_attachment(string)?;
/// let mut solver = Reference::new(&scene, Settings::default())?;
/// solver.step(1);
/// assert_eq!(solver.read_attachments()?[0].id, id);
/// solver.release_attachment(id)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attachment {
    /// The point that is tied.
    pub point: ParticlePoint,
    /// The other end.
    pub target: AttachmentTarget,
    /// Rest length \[m\], 0 to 1e6.
    pub rest_length: f32,
    /// True if the attachment pulls and does not push: C ≤ 0. Needs a rest length greater than 0.
    pub only_pull: bool,
    /// Compliance \[m/N\] and damping.
    pub material: Material,
    /// The attachment breaks at the end of a step in which the magnitude of its mean force exceeds this \[N\]; greater than
    /// 0. `None` never breaks.
    pub break_force: Option<f32>,
}

/// Identifies an attachment of a scene or of a backend. Ids of different backends are not told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttachmentId {
    pub(crate) index: u32,
    /// Distinguishes attachments that reuse the index of a removed or released one; 0 at first.
    pub(crate) generation: u32,
}

impl AttachmentId {
    /// The index among the attachments, below their greatest number at a time ([`Scene::reserve_attachments`]). A later attachment may reuse
    /// it after a release.
    pub fn index(self) -> usize {
        self.index as usize
    }
}

/// The force of an attachment in the last step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttachmentForce {
    /// The attachment.
    pub id: AttachmentId,
    /// Mean force on [`Attachment::point`] over the step \[N\]; the target feels the opposite force. 0 before the first step
    /// and after the step in which the attachment broke.
    pub force: [f32; 3],
    /// True if the attachment is broken. It exerts no force and keeps its place until it is released.
    pub is_broken: bool,
}

impl ParticlePoint {
    /// The particles and their weights.
    pub(crate) fn parts(&self) -> (&[u32], &[f32]) {
        match self {
            Self::Particle(particle) => (std::slice::from_ref(particle), &[1.0]),
            Self::Edge(particles, weights) => (particles, weights),
            Self::Triangle(particles, weights) => (particles, weights),
            Self::Tetrahedron(particles, weights) => (particles, weights),
        }
    }

    fn check(&self, what: &str, scene: &Scene) -> Result<()> {
        let (particles, weights) = self.parts();
        check_indices(|| what.into(), "particle", particles, scene.particle_count())?;
        particles.iter().try_for_each(|&particle| scene.check_no_follower(what, particle, 1))?;
        particles.iter().try_for_each(|&particle| scene.check_in_use(what, particle))?;
        if let Some(&weight) = weights.iter().find(|weight| !(-1e3..=1e3).contains(*weight)) {
            return Err(Error::invalid(format!("weight of {what}"), weight, "-1000 to 1000"));
        }
        let sum: f32 = weights.iter().sum();
        if !(0.999..=1.001).contains(&sum) {
            return Err(Error::invalid(format!("sum of the weights of {what}"), sum, "1"));
        }
        Ok(())
    }

    fn rename(&mut self, rename: impl FnMut(&mut u32)) {
        match self {
            Self::Particle(particle) => std::slice::from_mut(particle).iter_mut().for_each(rename),
            Self::Edge(particles, _) => particles.iter_mut().for_each(rename),
            Self::Triangle(particles, _) => particles.iter_mut().for_each(rename),
            Self::Tetrahedron(particles, _) => particles.iter_mut().for_each(rename),
        }
    }
}

impl Attachment {
    /// A rigid attachment of rest length 0 that does not break.
    pub const fn new(point: ParticlePoint, target: AttachmentTarget) -> Self {
        Self { point, target, rest_length: 0.0, only_pull: false, material: Material::RIGID, break_force: None }
    }

    /// The particles of both ends and their factors in x₁ − x₂: the weights of the point, and minus those of the target. A
    /// particle of both ends has the sum; particles of factor 0 are left out.
    pub(crate) fn factors(&self) -> Vec<(u32, f32)> {
        let mut factors: Vec<(u32, f64)> = Vec::with_capacity(8);
        let ends = match &self.target {
            AttachmentTarget::Particles(target) => vec![(&self.point, 1.0), (target, -1.0)],
            _ => vec![(&self.point, 1.0)],
        };
        for (point, sign) in ends {
            let (particles, weights) = point.parts();
            let sum: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
            for (&particle, &weight) in particles.iter().zip(weights) {
                let factor = sign * f64::from(weight) / sum;
                match factors.iter_mut().find(|(other, _)| *other == particle) {
                    Some((_, own)) => *own += factor,
                    None => factors.push((particle, factor)),
                }
            }
        }
        // Weights have the precision of f32.
        factors.retain(|(_, factor)| factor.abs() > 1e-7);
        factors.into_iter().map(|(particle, factor)| (particle, factor as f32)).collect()
    }

    /// `Ok` if all parameters but the collider are valid; `what` names the attachment.
    pub(crate) fn check(&self, what: &str, scene: &Scene) -> Result<()> {
        self.point.check(&format!("the point of {what}"), scene)?;
        match &self.target {
            AttachmentTarget::Particles(point) => point.check(&format!("the target of {what}"), scene)?,
            AttachmentTarget::Space(point) => check_moderate(&format!("the point in space of {what}"), *point)?,
            AttachmentTarget::Collider { point, .. } => {
                check_moderate(&format!("the point of a collider of {what}"), *point)?;
            }
        }
        if self.factors().is_empty() {
            let (what, index) = (format!("{what}, whose ends are the same point,"), self.point.parts().0[0]);
            return Err(Error::RepeatedIndex { what, target: "particle", index });
        }
        if !(0.0..=1e6).contains(&self.rest_length) {
            return Err(Error::invalid(format!("rest length of {what}"), self.rest_length, "0 to 1e6 m"));
        }
        if self.only_pull && self.rest_length == 0.0 {
            let what = format!("rest length of {what}, which only pulls,");
            return Err(Error::invalid(what, 0.0, "greater than 0 m"));
        }
        if let Some(force) = self.break_force {
            check_positive(&format!("break force of {what}"), force)?;
        }
        self.material.check(&format!("the material of {what}"))
    }

    pub(crate) fn rename(&mut self, mut rename: impl FnMut(&mut u32)) {
        self.point.rename(&mut rename);
        if let AttachmentTarget::Particles(point) = &mut self.target {
            point.rename(rename);
        }
    }
}

impl Scene {
    /// The greatest number of attachments at a time: one workgroup solves all of them.
    pub const MOST_ATTACHMENTS: u32 = 4096;

    /// Adds an attachment.
    ///
    /// A pinned particle and a particle without mass do not move; the other end does. Attached particles
    /// still collide with each other, and the lengths of tethers ignore attachments.
    ///
    /// # Errors
    /// - A particle or the collider does not exist, a particle is repeated in a point, or both ends are the same point.
    /// - A particle is a follower: attach its sources with its weights.
    /// - A weight is not in −1000 to 1000, or the weights of a point do not sum to 1 up to 1e-3.
    /// - A number is not finite, or the rest length or the material is out of range.
    /// - The attachment only pulls and has a rest length of 0, or the break force is not greater than 0.
    /// - [`Error::TooLarge`] for more than [`Scene::MOST_ATTACHMENTS`].
    pub fn add_attachment(&mut self, attachment: Attachment) -> Result<AttachmentId> {
        check_count(self.attachments.len() as u64 + 1, Self::MOST_ATTACHMENTS)?;
        let mut is_taken = vec![false; self.attachments.len() + 1];
        for id in self.attachment_ids.iter().filter(|id| id.index() < self.attachments.len()) {
            is_taken[id.index()] = true;
        }
        let index = is_taken.iter().position(|taken| !taken).unwrap_or(0);
        let what = format!("attachment {index}");
        attachment.check(&what, self)?;
        if let AttachmentTarget::Collider { id, .. } = attachment.target {
            let (index, count) = (id.index() as u64, self.colliders.len() as u64);
            if index >= count {
                return Err(Error::IndexOutOfRange { what, target: "collider", index, count });
            }
            if id.generation != 0 {
                return Err(Error::NoCollider { index });
            }
        }
        let id = AttachmentId { index: index as u32, generation: self.attachment_generation };
        self.attachments.push(attachment);
        self.attachment_ids.push(id);
        Ok(id)
    }

    /// Sets the most attachments that exist at a time, those of the scene included. [`crate::Solver::attach`] needs it:
    /// without it the limit is the number of attachments of the scene.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more than [`Scene::MOST_ATTACHMENTS`].
    pub fn reserve_attachments(&mut self, count: u32) -> Result<()> {
        check_count(count.into(), Self::MOST_ATTACHMENTS)?;
        self.reserved_attachments = count;
        Ok(())
    }

    /// The attachments of the scene.
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }
}

/// `Ok` if there is room for a number of attachments.
pub(crate) fn check_count(count: u64, limit: u32) -> Result<()> {
    if count <= u64::from(limit) {
        return Ok(());
    }
    let what = "attachments at a time (Scene::reserve_attachments)";
    Err(Error::TooLarge { what, count, limit: limit.into() })
}
