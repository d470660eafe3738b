//! Thickness and friction of the two sides of a contact: the contact material, scaled by particle. Counterpart:
//! `shaders/collision/contact_sides.wgsl`.

use super::Reference;
use crate::collision::ColliderRow;
use crate::collision::pair::PairKind;
use crate::schedule::contacts::UNTOUCHABLE;

/// A particle or triangle in contacts with colliders. Counterpart: `ContactSide` in `shaders/common/contacts.wgsl`.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContactSide {
    pub material: u32,
    /// Half the thickness \[m\].
    pub radius: f32,
    /// Factor of the coefficients of friction.
    pub friction: f32,
}

impl ContactSide {
    /// The contact distance to a collider \[m\].
    pub fn distance_to(&self, collider: &ColliderRow) -> f32 {
        self.radius + collider.margin
    }
}

/// The particles of both elements of a pair.
pub(super) fn sides(kind: PairKind, particles: &[u32; 4]) -> [&[u32]; 2] {
    match kind {
        PairKind::Particles => [&particles[..1], &particles[1..2]],
        PairKind::VertexTriangle | PairKind::Crossing => [&particles[..1], &particles[1..]],
        PairKind::Edges => [&particles[..2], &particles[2..]],
    }
}

impl Reference {
    /// `None` for a follower, which has no contacts.
    pub(super) fn contact_side(&self, particles: &[u32]) -> Option<ContactSide> {
        let material = self.controls.compiled.contact_elements.material(particles[0]);
        if material == UNTOUCHABLE {
            return None;
        }
        let scale = self.controls.scene.mean_scale(particles);
        let radius = self.contact_params.radius(material) * scale.thickness;
        Some(ContactSide { material, radius, friction: scale.friction.sqrt() })
    }

    /// Distance at which the elements of a pair are kept \[m\].
    pub(super) fn thickness(&self, kind: PairKind, particles: [u32; 4]) -> f32 {
        let [first, second] = sides(kind, &particles);
        self.radius(first) + self.radius(second)
    }

    /// Half the thickness of an element \[m\], which has the contact material of its first particle.
    pub(super) fn radius(&self, element: &[u32]) -> f32 {
        let material = self.controls.compiled.contact_elements.material(element[0]);
        self.contact_params.radius(material) * self.controls.scene.mean_scale(element).thickness
    }

    /// Static and kinetic friction of the elements of a pair.
    pub(super) fn pair_friction(&self, kind: PairKind, particles: [u32; 4]) -> [f32; 2] {
        let material = |element: &[u32]| self.controls.compiled.contact_elements.material(element[0]);
        let elements = sides(kind, &particles);
        let [statics, kinetic, ..] = self.contact_params.friction(material(elements[0]), material(elements[1]));
        let [first, second] = elements.map(|element| self.controls.scene.mean_scale(element).friction);
        let factor = (first * second).sqrt();
        [statics * factor, kinetic * factor]
    }
}
