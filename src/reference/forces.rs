//! Accelerations: wind and air drag, turbulence, fields, forces.

use super::Reference;
use crate::geometry::vector::{dot, length};
use crate::sim::params::{AIR_UNIT, FieldRow, GUST_PERIOD, NOISE_PERIOD};
use glam::Vec3;

impl Reference {
    pub(super) fn accelerate(&mut self, i: usize) {
        let wind = if self.params.wind == 1 { self.aerodynamics(i) } else { Vec3::ZERO };
        let mut a = wind;
        for field in &self.params.fields[..self.params.field_count as usize] {
            a += field_acceleration(field, self.positions[i]);
        }
        if self.params.forces == 1 {
            a += self.forces[i] * self.controls.inverse_masses[i];
        }
        self.accelerations[i] = a;
    }

    /// Acceleration by drag and lift of [`crate::Wind`]. A particle takes a third of the force of each triangle around
    /// it: −½ ρ A |v| (v·n) (C_D v̂ + C_L (n − (n·v̂) v̂)), with v·n ≥ 0. The area normal is N = 2 A n.
    pub(super) fn aerodynamics(&self, i: usize) -> Vec3 {
        let params = &self.params;
        let w = self.controls.inverse_masses[i];
        let wind = self.air_velocity(self.positions[i]);
        let (per_substep, drag, lift) = (1.0 / (3.0 * params.h), params.drag, params.lift);
        let (mut force, mut rate) = (Vec3::ZERO, 0.0);
        for corner in self.ring(i) {
            let others = self.controls.compiled.rings.corners[corner].map(|other| other as usize);
            let [x0, x1, x2] = [i, others[0], others[1]].map(|k| self.positions[k]);
            let [d0, d1, d2] = [i, others[0], others[1]].map(|k| self.displacements[k]);
            let v = (d0 + d1 + d2) * per_substep - wind;
            let area_normal = (x1 - x0).cross(x2 - x0);
            let (speed, double_area) = (length(v), length(area_normal));
            let (most, flow) = (double_area * speed, dot(area_normal, v));
            if most == 0.0 {
                continue;
            }
            let facing = (flow.abs() / most).min(1.0);
            force -= flow.abs() * (drag - lift * facing) * v + (flow * lift * speed / double_area) * area_normal;
            rate += most;
        }
        // Implicit step of the drag: it cannot reverse the motion of a light particle.
        (force / 6.0) * (w / (1.0 + rate * (drag + lift) / 6.0 * w * params.h))
    }

    pub(super) fn air_velocity(&self, x: Vec3) -> Vec3 {
        let params = &self.params;
        let x = x - Vec3::from(params.air_origin);
        let mean = Vec3::from(params.wind_velocity);
        let [motion @ .., gusts] = self.air.map(|units| units as f32 / AIR_UNIT);
        let motion = Vec3::from(motion) * NOISE_PERIOD;
        let phase = std::f32::consts::TAU * (gusts * GUST_PERIOD - dot(params.gust_wave.into(), x));
        let swing = 0.5 * (phase.sin() + (2.3 * phase + 1.0).sin());
        let wind = mean * (1.0 + params.gust * swing);
        if params.turbulence > 0.0 {
            wind + noise(x * params.turbulence_scale - motion) * params.turbulence
        } else {
            wind
        }
    }
}

/// Acceleration by a field at a point.
fn field_acceleration(field: &FieldRow, x: Vec3) -> Vec3 {
    let axis = Vec3::from(field.axis);
    let apart = Vec3::from(field.position) - x;
    let vortex = dot(axis, axis) > 0.0;
    let out = if vortex { apart - axis * dot(axis, apart) } else { apart };
    let distance = length(out);
    if distance == 0.0 {
        return Vec3::ZERO;
    }
    let along = if vortex { out.cross(axis) } else { out };
    let part = distance * field.scale;
    along * (field.strength / (distance * (1.0 + part * part)))
}

/// Value noise from −1 to 1 in each component: random values at the corners of unit cells, interpolated.
fn noise(p: Vec3) -> Vec3 {
    let p = p.clamp(Vec3::splat(-1e6), Vec3::splat(1e6));
    let cell = p.floor();
    let f = p - cell;
    let s = f * f * (Vec3::splat(3.0) - f * 2.0);
    let corner = |x: f32, y: f32, z: f32| random(cell + Vec3::new(x, y, z));
    let along = |y: f32, z: f32| corner(0.0, y, z) + (corner(1.0, y, z) - corner(0.0, y, z)) * s.x;
    let across = |z: f32| along(0.0, z) + (along(1.0, z) - along(0.0, z)) * s.y;
    across(0.0) + (across(1.0) - across(0.0)) * s.z
}

/// Three pseudorandom numbers from −1 to 1 for each cell, with the period of the noise (Jarzynski, Olano 2020, `pcg3d`).
fn random(cell: Vec3) -> Vec3 {
    let step = |v: u32| v.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    let [mut x, mut y, mut z] = cell.to_array().map(|c| step(c as i32 as u32 & (NOISE_PERIOD as u32 - 1)));
    x = x.wrapping_add(y.wrapping_mul(z));
    y = y.wrapping_add(z.wrapping_mul(x));
    z = z.wrapping_add(x.wrapping_mul(y));
    [x, y, z] = [x, y, z].map(|v| v ^ (v >> 16));
    x = x.wrapping_add(y.wrapping_mul(z));
    y = y.wrapping_add(z.wrapping_mul(x));
    z = z.wrapping_add(x.wrapping_mul(y));
    Vec3::from([x, y, z].map(|v| (v >> 8) as f32)) * (1.0 / 8_388_608.0) - Vec3::ONE
}
