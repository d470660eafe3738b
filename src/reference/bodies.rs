//! The passes over bodies and surfaces: damping, momentum of skins, followers, normals.

use super::Reference;
use crate::cooked::Rings;
use crate::kinds::group;
use crate::xpbd::{length, solve_symmetric};
use glam::Vec3;

/// How heavy a pin counts in the rigid motion of a skin, over the mass of all that is free. A skin with one pin turns about it, with two about
/// the line between them, with more not at all; so momentum that pins absorb is not taken for created. Heavier pins would leave
/// [`solve_symmetric`] no digits for the turn about two of them.
pub(crate) const PIN_FACTOR: f32 = 1e4;

/// The rigid motion of some particles that has their momentum and their angular momentum.
struct RigidMotion {
    origin: Vec3,
    /// Relative to the origin.
    center: Vec3,
    d_cm: Vec3,
    omega: Vec3,
}

impl RigidMotion {
    /// ω × r.
    fn turn_at(&self, x: Vec3) -> Vec3 {
        self.omega.cross((x - self.origin) - self.center)
    }
}

impl Reference {
    /// The rigid motion of some particles that move by `displacement(k)`, the index of the k-th of them being `particle(k)`; `None` where none is
    /// free. The sums are made by lanes, as on the GPU; `shaders/shared/rigid_motion.wgsl` is the counterpart.
    fn rigid_motion(
        &self,
        count: usize,
        pin_factor: f32,
        particle: impl Fn(usize) -> usize,
        displacement: impl Fn(usize) -> Vec3,
    ) -> Option<RigidMotion> {
        let origin = self.positions[particle(0)];
        let lanes = |lane: usize| (lane..count).step_by(group::LANES);
        let w = |k: usize| self.controls.inverse_masses[particle(k)];
        let x = |k: usize| self.positions[particle(k)] - origin;
        let (mut free, mut center, mut d_cm) = (0.0, Vec3::ZERO, Vec3::ZERO);
        let (mut pins, mut pin_center) = (0.0, Vec3::ZERO);
        for lane in 0..group::LANES {
            let (mut m_sum, mut x_sum, mut d_sum) = (0.0, Vec3::ZERO, Vec3::ZERO);
            let (mut pin_sum, mut pin_x_sum) = (0.0, Vec3::ZERO);
            for k in lanes(lane) {
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
        for lane in 0..group::LANES {
            let (mut l_sum, mut diagonal_sum, mut beside_sum) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
            let mut rest_sum = Vec3::ZERO;
            for k in lanes(lane) {
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
        // What rounding has left of Σ m r.
        let center = center + rest / total;
        Some(RigidMotion { origin, center, d_cm, omega })
    }

    /// Müller et al. 2007, §3.5: v += k (v_cm + ω × r − v), with d in place of v.
    pub(super) fn damp_body(&mut self, body: usize) {
        let [first, count] = self.controls.cooked.bodies[body].map(|number| number as usize);
        let rigid = self.rigid_motion(count, 0.0, |k| first + k, |k| self.displacements[first + k]);
        let Some(rigid) = rigid else { return };
        for i in first..first + count {
            if self.controls.inverse_masses[i] != 0.0 {
                let d = self.displacements[i];
                self.displacements[i] =
                    d + (rigid.d_cm + rigid.turn_at(self.positions[i]) - d) * self.params.body_damping;
            }
        }
    }

    pub(super) fn save_displacements(&mut self) {
        let members = &self.controls.cooked.skins.members;
        self.saved_displacements = members.iter().map(|&particle| self.displacements[particle as usize]).collect();
    }

    /// d −= ω × r, the rotation of the corrections by the constraints within the skin. These keep momentum to rounding, so d_cm stays.
    pub(super) fn restore_momentum(&mut self, skin: usize) {
        let [first, count] = self.controls.cooked.skins.rows[skin].map(|number| number as usize);
        let particle = |k: usize| self.controls.cooked.skins.members[first + k] as usize;
        let correction = |k: usize| self.displacements[particle(k)] - self.saved_displacements[first + k];
        let Some(created) = self.rigid_motion(count, PIN_FACTOR, particle, correction) else { return };
        for k in 0..count {
            let i = self.controls.cooked.skins.members[first + k] as usize;
            if self.controls.inverse_masses[i] != 0.0 {
                self.displacements[i] -= created.turn_at(self.positions[i]);
            }
        }
    }

    pub(super) fn follow(&mut self, row: usize) {
        let follower = self.controls.cooked.followers[row];
        let i = follower.particle as usize;
        self.positions[i] = follower.place(|source| self.positions[source as usize]);
        self.velocities[i] = follower.place(|source| self.velocities[source as usize]);
        // A follower stays in place during a step.
        self.displacements[i] = Vec3::ZERO;
        self.position_residuals[i] = Vec3::ZERO;
        self.displacement_residuals[i] = Vec3::ZERO;
        self.fresh[i] = false;
    }

    pub(super) fn normal(&mut self, i: usize) {
        self.normals[i] = normal(&self.controls.cooked.rings, i, |particle| self.positions[particle]);
    }
}

/// The sum of the triangles around a particle, each weighted by its area, at length 1.
pub(crate) fn normal(rings: &Rings, i: usize, position: impl Fn(usize) -> Vec3) -> Vec3 {
    let x = position(i);
    let sum = rings.around(i).fold(Vec3::ZERO, |sum, corner| {
        let [a, b] = rings.corners[corner].map(|other| position(other as usize));
        sum + (a - x).cross(b - x)
    });
    let l = length(sum);
    if l > 0.0 { sum / l } else { Vec3::Y }
}
