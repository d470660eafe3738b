//! Body damping, followers and normals.

use super::Reference;
use crate::constraints::group;
use crate::geometry::vector::solve_symmetric;
use crate::schedule::rings::normal;
use glam::Vec3;

impl Reference {
    /// Müller et al. 2007, §3.5: v += k (v_cm + ω × r − v), with d in place of v. Sums are computed per thread, in the
    /// order of the GPU.
    pub(super) fn damp_body(&mut self, body: usize) {
        let [first, count] = self.controls.compiled.bodies[body].map(|number| number as usize);
        let origin = self.positions[first];
        let threads = |thread: usize| (first + thread..first + count).step_by(group::THREADS);
        let mass = |i: usize| match self.controls.inverse_masses[i] {
            0.0 => 0.0,
            w => 1.0 / w,
        };
        let (mut total, mut center, mut d_cm) = (0.0, Vec3::ZERO, Vec3::ZERO);
        for thread in 0..group::THREADS {
            let (mut m_sum, mut x_sum, mut d_sum) = (0.0, Vec3::ZERO, Vec3::ZERO);
            for i in threads(thread) {
                let m = mass(i);
                m_sum += m;
                x_sum += (self.positions[i] - origin) * m;
                d_sum += self.displacements[i] * m;
            }
            (total, center, d_cm) = (total + m_sum, center + x_sum, d_cm + d_sum);
        }
        if total == 0.0 {
            return;
        }
        (center, d_cm) = (center / total, d_cm / total);
        let (mut l, mut diagonal, mut beside) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
        for thread in 0..group::THREADS {
            let (mut l_sum, mut diagonal_sum, mut beside_sum) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
            for i in threads(thread) {
                let (r, m) = ((self.positions[i] - origin) - center, mass(i));
                l_sum += r.cross(self.displacements[i] - d_cm) * m;
                let [r1, r2] = [Vec3::new(r.y, r.z, r.x), Vec3::new(r.z, r.x, r.y)];
                diagonal_sum += (r1 * r1 + r2 * r2) * m;
                beside_sum -= (r1 * r2) * m;
            }
            (l, diagonal, beside) = (l + l_sum, diagonal + diagonal_sum, beside + beside_sum);
        }
        let omega = solve_symmetric((diagonal, beside), l);
        for i in first..first + count {
            if self.controls.inverse_masses[i] != 0.0 {
                let rigid = d_cm + omega.cross((self.positions[i] - origin) - center);
                let d = self.displacements[i];
                self.displacements[i] = d + (rigid - d) * self.params.body_damping;
            }
        }
    }

    pub(super) fn follow(&mut self, row: usize) {
        let follower = self.controls.compiled.followers[row];
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
        self.normals[i] = normal(&self.controls.compiled.rings, i, |particle| self.positions[particle]);
    }
}
