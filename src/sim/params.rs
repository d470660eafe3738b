//! The parameters of a step, as the shaders read them.

use crate::constraints::xpbd::ScaledMaterial;
use crate::scene::Material;
use crate::schedule::plan::Pass;
use crate::settings::{Field, MAX_FIELDS, Method, Settings, Wind};
use crate::sim::controls::Controls;

/// Parameters of a step. Layout of `shaders/common/params.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Params {
    /// h² g: displacement that gravity adds in a substep \[m\].
    pub gravity_step: [f32; 3],
    /// Duration h of a substep \[s\].
    pub h: f32,
    /// Mean velocity of the air [m/s].
    pub wind_velocity: [f32; 3],
    /// Duration dt of a step \[s\].
    pub dt: f32,
    /// Wave vector k of the gusts, parallel to the wind: one wave per gust length [1/m].
    pub gust_wave: [f32; 3],
    /// Amplitude of the gusts relative to the mean wind.
    pub gust: f32,
    /// Periods of the turbulence in a step, for each m/s of its velocity.
    pub noise_rate: f32,
    /// ½ ρ C_D [kg/m³].
    pub drag: f32,
    /// ½ ρ C_L [kg/m³].
    pub lift: f32,
    /// Factor on the displacement of a free particle in each substep: exp(−damping · h) times the substep's part of the
    /// step factor.
    pub velocity_factor: f32,
    /// Number of particles.
    pub particle_count: u32,
    /// Number of pinned particles.
    pub pin_count: u32,
    /// Number of kinematic particles with a target.
    pub target_count: u32,
    /// 1 if a substep begins with the accelerations by wind, fields and forces, else 0.
    pub accelerated: u32,
    /// 0, unknown to the compiler: see `opaque` in `shaders/common/xpbd.wgsl`.
    pub zero: u32,
    /// 1 if there is wind, else 0.
    pub wind: u32,
    /// 1 if external forces are enabled, else 0.
    pub forces: u32,
    /// Amplitude of the turbulence [m/s].
    pub turbulence: f32,
    /// Origin of the air field \[m\]: the sum of all shifts of the origin.
    pub air_origin: [f32; 3],
    /// 1/length scale of the turbulence [1/m].
    pub turbulence_scale: f32,
    /// Fraction of the non-rigid motion of a body that is damped in a step.
    pub body_damping: f32,
    /// Number of fields.
    pub field_count: u32,
    /// Number of orientations, whose rows follow those of the particles.
    pub orientation_count: u32,
    /// Number of substeps of a step.
    pub substeps: u32,
    /// Motion of the turbulence along each axis, and of the gusts, in a step, in 2⁻³² of their periods.
    pub air_step: [u32; 4],
    /// The fields; the first `field_count` are in use.
    pub fields: [FieldRow; MAX_FIELDS],
}

/// A force field. Layout of the shaders.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct FieldRow {
    /// Position \[m\].
    pub position: [f32; 3],
    /// Strength S [m/s²].
    pub strength: f32,
    /// Unit axis of a vortex; 0 for a point.
    pub axis: [f32; 3],
    /// 1/R, R being the radius [1/m].
    pub scale: f32,
}

impl FieldRow {
    fn new(field: &Field) -> Option<Self> {
        match *field {
            Field::None => None,
            Field::Point { position, strength, radius } => {
                Some(Self { position, strength, axis: [0.0; 3], scale: 1.0 / radius })
            }
            Field::Vortex { position, axis, strength, radius } => {
                let axis = glam::Vec3::from(axis).normalize().into();
                Some(Self { position, strength, axis, scale: 1.0 / radius })
            }
        }
    }
}

/// A pinned particle and its target position at the end of the step, or a pinned orientation and its target rotation.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Target {
    /// Target position \[m\]; modified Rodrigues parameters of an orientation.
    pub position: [f32; 3],
    /// Index of the particle or, behind the particles, of the orientation.
    pub particle: u32,
}

impl Controls {
    pub fn params(&self) -> Params {
        let h = self.settings.substep();
        let wind = self.settings.wind.unwrap_or_default();
        let turbulence_scale = 1.0 / wind.turbulence_length;
        let noise_rate = self.settings.dt * turbulence_scale / NOISE_PERIOD;
        // In f64: h² g is rounded once.
        let square = f64::from(h) * f64::from(h);
        let rows: Vec<FieldRow> = self.settings.fields.iter().filter_map(FieldRow::new).collect();
        let mut fields = [FieldRow::default(); MAX_FIELDS];
        fields[..rows.len()].copy_from_slice(&rows);
        Params {
            gravity_step: self.settings.gravity.map(|g| (square * f64::from(g)) as f32),
            h,
            wind_velocity: wind.velocity,
            dt: self.settings.dt,
            gust_wave: gust_wave(&wind),
            gust: wind.gust,
            noise_rate,
            drag: 0.5 * wind.density * wind.drag,
            lift: 0.5 * wind.density * wind.lift,
            velocity_factor: self.velocity_factor(),
            particle_count: self.scene.particle_count() as u32,
            pin_count: self.pins.len() as u32,
            target_count: self.targets.len() as u32,
            accelerated: u32::from(self.plan.begin.contains(&Pass::Accelerations)),
            zero: 0,
            wind: u32::from(self.settings.wind.is_some() && !self.compiled.rings.is_empty()),
            forces: u32::from(self.settings.forces),
            turbulence: wind.turbulence,
            air_origin: self.shift.air_origin(),
            turbulence_scale,
            body_damping: self.settings.body_damping,
            field_count: rows.len() as u32,
            orientation_count: self.scene.orientations.len() as u32,
            substeps: self.settings.substeps,
            air_step: air_step(&wind, noise_rate, self.settings.dt),
            fields,
        }
    }

    /// exp(−damping · h) times the substep's part of the step factor.
    fn velocity_factor(&self) -> f32 {
        let Settings { damping, step_factor, substeps, .. } = self.settings;
        let decay = -f64::from(damping) * f64::from(self.settings.substep());
        (decay.exp() * f64::from(step_factor).powf(1.0 / f64::from(substeps))) as f32
    }

    /// α̃, γ, the relaxation factor and the relief of every material, for the substep and the method of the settings.
    pub fn scaled_materials(&self) -> Vec<ScaledMaterial> {
        let own = self.materials.iter().map(|material| self.scaled_material(material));
        // That of broken constraints, which have no effect.
        let broken = ScaledMaterial { alpha_tilde: 1e30, gamma: 0.0, factor: 0.0, relief: 0.0 };
        let breaks = self.compiled.tearing.is_some() || self.compiled.kinds.iter().any(|kind| !kind.plastic.is_empty());
        own.chain(breaks.then_some(broken)).collect()
    }

    /// The same of one material.
    pub fn scaled_material(&self, material: &Material) -> ScaledMaterial {
        let h = f64::from(self.settings.substep());
        let omega = f64::from(self.settings.relaxation);
        let sweeps = f64::from(self.settings.iterations);
        let [alpha, beta, tau] = [material.compliance, material.damping, material.damping_time].map(f64::from);
        let k = f64::from(material.stiffness);
        let [alpha_tilde, gamma, factor] = match self.settings.method {
            Method::Xpbd => [alpha / (h * h), (alpha * beta + tau) / h, omega],
            Method::Pbd => [0.0, 0.0, omega * (1.0 - (1.0 - k).powf(1.0 / sweeps))],
            Method::NaivePbd => [0.0, 0.0, omega * k],
        }
        // 1e30 acts as infinity and cannot overflow in the update.
        .map(|value| value.min(1e30) as f32);
        let relief = if self.settings.relaxation == 1.0 { 0.5 } else { 0.0 };
        ScaledMaterial { alpha_tilde, gamma, factor, relief }
    }
}

/// Period of the turbulence along each axis, in cells of `turbulence_length`.
pub(crate) const NOISE_PERIOD: f32 = 4096.0;

/// Period of the gusts, in cycles of `gust_frequency`: the second wave has 2.3 times the frequency.
pub(crate) const GUST_PERIOD: f32 = 10.0;

/// The motion of the air within a period is stored in units of 1/2³² of it.
pub(crate) const AIR_UNIT: f32 = 4_294_967_296.0;

/// See [`Params::air_step`]. In f32 the turbulence would move by whole cells after some hours; these wrap exactly.
fn air_step(wind: &Wind, noise_rate: f32, dt: f32) -> [u32; 4] {
    let [x, y, z] = wind.velocity.map(|component| component * noise_rate);
    [x, y, z, dt * wind.gust_frequency / GUST_PERIOD].map(air_units)
}

/// The fraction of a number of periods, in units; as `air_units` in `shaders/instancing/instances.wgsl`. A negative number has the negative
/// units of its magnitude: its own distance from the next lower integer would be rounded to 256 units.
fn air_units(periods: f32) -> u32 {
    let size = periods.abs();
    let units = ((size - size.floor()) * AIR_UNIT) as u32;
    if periods < 0.0 { units.wrapping_neg() } else { units }
}

/// Wave vector k of the gusts of a wind [1/m].
pub(crate) fn gust_wave(wind: &Wind) -> [f32; 3] {
    // In f64: the square of a very low wind speed would underflow in f32.
    let speed = wind.velocity.iter().map(|&component| f64::from(component).powi(2)).sum::<f64>().sqrt();
    let wave = if speed > 0.0 { 1.0 / (speed * f64::from(wind.gust_length)) } else { 0.0 };
    wind.velocity.map(|component| (f64::from(component) * wave) as f32)
}

#[cfg(test)]
mod tests {
    use super::{AIR_UNIT, GUST_PERIOD, NOISE_PERIOD, air_step};
    use crate::settings::Wind;

    /// A wind of 10 m/s moves turbulence of 0.05 m by 3.3 cells in a step. In f32 it would move by steps of 16 cells after two weeks.
    #[test]
    fn the_air_moves_evenly_for_weeks() {
        let dt = 1.0 / 60.0;
        let wind = Wind { velocity: [10.0, -3.0, 0.0], gust_frequency: 0.3, ..Wind::default() };
        let noise_rate = dt / 0.05 / NOISE_PERIOD;
        let rates = [10.0 * noise_rate, -3.0 * noise_rate, 0.0, 0.3 * dt / GUST_PERIOD];
        for (step, rate) in air_step(&wind, noise_rate, dt).into_iter().zip(rates) {
            for steps in [0, 60, 60 * 86_400 * 14u32] {
                let [one, next] = [steps, steps + 1].map(|steps| f64::from(step.wrapping_mul(steps) as f32 / AIR_UNIT));
                let moved = (next - one + 0.5).rem_euclid(1.0) - 0.5;
                assert!((moved - f64::from(rate)).abs() < 2e-7, "{rate}: {moved} after {steps} steps");
            }
        }
    }

    /// Opposite winds move the turbulence by opposite steps, however slow they are. Eddies of 20 m move by 1e-7 of a period in a step.
    #[test]
    fn opposite_winds_move_the_air_alike() {
        let (dt, speeds) = (1.0 / 120.0, [0.25, 1.0, 1e-6]);
        let noise_rate = dt / 20.0 / NOISE_PERIOD;
        let step = |velocity| air_step(&Wind { velocity, ..Wind::default() }, noise_rate, dt);
        let (there, back) = (step(speeds), step(speeds.map(|speed| -speed)));
        for (k, speed) in (0..3).zip(speeds) {
            let units = speed * noise_rate * AIR_UNIT;
            assert!((there[k] as f32 - units).abs() <= 1.0, "{there:?}, {units}");
            assert_eq!(there[k].wrapping_neg(), back[k]);
        }
    }
}
