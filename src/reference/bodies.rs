//! Body damping, angular momentum of skins, followers and normals.

use super::Reference;
use crate::constraints::group;
use crate::geometry::vector::solve_symmetric;
use glam::Vec3;

/// Factor on the mass of all free particles that a pin counts with in the rigid motion of a skin. A skin with one pin
/// turns about it, with two pins about the line between them, and with more not at all. So angular momentum that pins
/// absorb is not removed. With a larger factor, [`solve_symmetric`] would lose the rotation about two pins to rounding.
pub(crate) const PIN_FACTOR: f32 = 1e4;

/// The rigid motion that has the linear and angular momentum of a set of particles.
struct RigidMotion {
    origin: Vec3,
    /// Relative to the origin.
    center: Vec3,
    /// The rounding error of `center`.
    center_residual: Vec3,
    d_cm: Vec3,
    omega: Vec3,
}

impl RigidMotion {
    /// ω × r.
    fn rotation_at(&self, x: Vec3) -> Vec3 {
        self.omega.cross((x - self.origin) - self.center)
    }
}

impl Reference {
    /// The rigid motion of `count` particles; `None` if all are pinned. Particle k has the index `particle(k)` and the
    /// displacement `displacement(k)`. Sums are computed per thread, in the order of the GPU
    /// (`shaders/integrate/shared/rigid_motion.wgsl`).
    fn rigid_motion(
        &self,
        count: usize,
        pin_factor: f32,
        particle: impl Fn(usize) -> usize,
        displacement: impl Fn(usize) -> Vec3,
    ) -> Option<RigidMotion> {
        let origin = self.positions[particle(0)];
        let threads = |thread: usize| (thread..count).step_by(group::THREADS);
        let w = |k: usize| self.controls.inverse_masses[particle(k)];
        let x = |k: usize| self.positions[particle(k)] - origin;
        let (mut free, mut center, mut d_cm) = (0.0, Vec3::ZERO, Vec3::ZERO);
        let (mut pins, mut pin_center) = (0.0, Vec3::ZERO);
        for thread in 0..group::THREADS {
            let (mut m_sum, mut x_sum, mut d_sum) = (0.0, Vec3::ZERO, Vec3::ZERO);
            let (mut pin_sum, mut pin_x_sum) = (0.0, Vec3::ZERO);
            for k in threads(thread) {
                if w(k) != 0.0 {
                    let m = 1.0 / w(k);
                    m_sum += m;
                    x_sum += x(k) * m;
                    d_sum += displacement(k) * m;
                } else {
                    pin_sum += 1.0;
                    pin_x_sum += x(k);
                }
            }
            (free, center, d_cm) = (free + m_sum, center + x_sum, d_cm + d_sum);
            (pins, pin_center) = (pins + pin_sum, pin_center + pin_x_sum);
        }
        if free == 0.0 {
            return None;
        }
        let pin_mass = free * pin_factor;
        let total = free + pins * pin_mass;
        let center = (center + pin_center * pin_mass) / total;
        let d_cm = d_cm / total;
        let (mut l, mut diagonal, mut beside, mut rest) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
        for thread in 0..group::THREADS {
            let (mut l_sum, mut diagonal_sum, mut beside_sum) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
            let mut rest_sum = Vec3::ZERO;
            for k in threads(thread) {
                let (m, d) = if w(k) != 0.0 { (1.0 / w(k), displacement(k)) } else { (pin_mass, Vec3::ZERO) };
                let r = x(k) - center;
                l_sum += r.cross(d - d_cm) * m;
                rest_sum += r * m;
                let [r1, r2] = [Vec3::new(r.y, r.z, r.x), Vec3::new(r.z, r.x, r.y)];
                diagonal_sum += (r1 * r1 + r2 * r2) * m;
                beside_sum -= (r1 * r2) * m;
            }
            (l, diagonal, beside) = (l + l_sum, diagonal + diagonal_sum, beside + beside_sum);
            rest += rest_sum;
        }
        let omega = solve_symmetric((diagonal, beside), l);
        Some(RigidMotion { origin, center, center_residual: rest / total, d_cm, omega })
    }

    /// Müller et al. 2007, §3.5: v += k (v_cm + ω × r − v), with d in place of v.
    pub(super) fn damp_body(&mut self, body: usize) {
        let [first, count] = self.controls.compiled.bodies[body].map(|number| number as usize);
        let rigid = self.rigid_motion(count, 0.0, |k| first + k, |k| self.displacements[first + k]);
        let Some(rigid) = rigid else { return };
        for i in first..first + count {
            if self.controls.inverse_masses[i] != 0.0 {
                let motion = rigid.d_cm + rigid.rotation_at(self.positions[i]);
                let d = self.displacements[i];
                self.displacements[i] = d + (motion - d) * self.params.body_damping;
            }
        }
    }

    pub(super) fn save_displacements(&mut self) {
        let members = &self.controls.compiled.skins.members;
        self.saved_displacements = members.iter().map(|&particle| self.displacements[particle as usize]).collect();
    }

    /// d −= ω × r: removes the rotation of the corrections by the constraints within a skin. These constraints conserve
    /// linear momentum to rounding, so d_cm stays.
    pub(super) fn restore_momentum(&mut self, skin: usize) {
        let [first, count] = self.controls.compiled.skins.rows[skin].map(|number| number as usize);
        let particle = |k: usize| self.controls.compiled.skins.members[first + k] as usize;
        let correction = |k: usize| self.displacements[particle(k)] - self.saved_displacements[first + k];
        let Some(mut created) = self.rigid_motion(count, PIN_FACTOR, particle, correction) else { return };
        created.center += created.center_residual;
        for k in 0..count {
            let i = self.controls.compiled.skins.members[first + k] as usize;
            if self.controls.inverse_masses[i] != 0.0 {
                self.displacements[i] -= created.rotation_at(self.positions[i]);
            }
        }
    }

    pub(super) fn follow(&mut self, row: usize) {
        let follower = self.controls.compiled.followers[row];
        let i = follower.particle as usize;
        let place = follower.place(|source| self.positions[source as usize]);
        let velocity = follower.place(|source| self.velocities[source as usize]);
        if place.is_finite() && velocity.is_finite() {
            (self.positions[i], self.velocities[i]) = (place, velocity);
        } else {
            self.velocities[i] = Vec3::ZERO;
            self.count_quarantined(i);
        }
        // A follower stays in place during a step.
        self.displacements[i] = Vec3::ZERO;
        self.position_residuals[i] = Vec3::ZERO;
        self.displacement_residuals[i] = Vec3::ZERO;
        self.fresh[i] = false;
    }

    pub(super) fn normal(&mut self, i: usize) {
        self.normals[i] = self.controls.compiled.rings.normal(i, |particle| self.positions[particle]);
    }
}
