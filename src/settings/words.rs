//! Settings as words of a snapshot.

use super::{ColorOrder, Execution, Field, MAX_FIELDS, Method, Settings, Sweep, Wind};
use crate::collision::{SelfCollision, SelfCollisionLevel};
use crate::error::Result;
use crate::words::{WordReader, WordWriter, damaged};

const METHODS: [Method; 3] = [Method::Xpbd, Method::Pbd, Method::NaivePbd];
const SWEEPS: [Sweep; 2] = [Sweep::GaussSeidel, Sweep::Jacobi];
const EXECUTIONS: [Execution; 4] = [Execution::Auto, Execution::Colors, Execution::Tiles, Execution::Clusters];
const LEVELS: [SelfCollisionLevel; 2] = [SelfCollisionLevel::Particles, SelfCollisionLevel::Surfaces];

/// The value with the given code; `all` is in the order of declaration.
fn decoded<T: Copy>(all: &[T], what: &str, code: u32) -> Result<T> {
    all.get(code as usize).copied().ok_or_else(|| damaged(format!("its {what} has the unknown code {code}")))
}

impl Settings {
    pub(crate) fn write_words(&self, w: &mut WordWriter) {
        // By name, so that a new setting does not compile before it is stored.
        let Self {
            dt,
            substeps,
            iterations,
            gravity,
            damping,
            step_factor,
            body_damping,
            method,
            sweep,
            relaxation,
            color_order,
            execution,
            wind,
            fields,
            forces,
            tethers,
            self_collision,
            triangle_contacts,
            recovery_speed,
            collider_forces,
            contact_events,
            keep_lambdas,
            mean_forces,
            tether_forces,
        } = *self;
        w.floats(&[dt, damping, step_factor, body_damping, relaxation, recovery_speed]);
        w.floats(&gravity);
        [substeps, iterations, contact_events].into_iter().for_each(|count| w.word(count));
        let flags = [forces, tethers, triangle_contacts, collider_forces, keep_lambdas, mean_forces, tether_forces];
        flags.into_iter().for_each(|flag| w.word(flag.into()));
        [method as u32, sweep as u32, execution as u32].into_iter().for_each(|code| w.word(code));
        let (order, seed) = match color_order {
            ColorOrder::Fixed => (0, 0),
            ColorOrder::Alternating => (1, 0),
            ColorOrder::Shuffled { seed } => (2, seed),
        };
        w.word(order);
        w.word(seed);
        write_wind(w, wind);
        fields.iter().for_each(|field| write_field(w, field));
        w.word(self_collision.is_some().into());
        if let Some(SelfCollision { level, margin, iterations, pairs_per_particle, fixed_capacity }) = self_collision {
            w.floats(&[margin]);
            [level as u32, iterations.unwrap_or(0), pairs_per_particle, fixed_capacity.into()]
                .into_iter()
                .for_each(|word| w.word(word));
        }
    }

    /// Reads and checks settings.
    pub(crate) fn read_words(r: &mut WordReader<'_>) -> Result<Self> {
        let [dt, damping, step_factor, body_damping, relaxation, recovery_speed] = r.floats()?;
        let gravity = r.floats()?;
        let [substeps, iterations, contact_events] = r.words()?;
        let mut flags = [false; 7];
        for flag in &mut flags {
            *flag = r.flag()?;
        }
        let [forces, tethers, triangle_contacts, collider_forces, keep_lambdas, mean_forces, tether_forces] = flags;
        let method = decoded(&METHODS, "method", r.word()?)?;
        let sweep = decoded(&SWEEPS, "sweep", r.word()?)?;
        let execution = decoded(&EXECUTIONS, "execution", r.word()?)?;
        let [order, seed] = r.words()?;
        let orders = [ColorOrder::Fixed, ColorOrder::Alternating, ColorOrder::Shuffled { seed }];
        let color_order = decoded(&orders, "colour order", order)?;
        let wind = read_wind(r)?;
        let mut fields = [Field::None; MAX_FIELDS];
        for field in &mut fields {
            *field = read_field(r)?;
        }
        let self_collision = match r.flag()? {
            false => None,
            true => {
                let margin = r.float()?;
                let level = decoded(&LEVELS, "self-collision level", r.word()?)?;
                let ([iterations, pairs_per_particle], fixed_capacity) = (r.words()?, r.flag()?);
                let iterations = (iterations > 0).then_some(iterations);
                Some(SelfCollision { level, margin, iterations, pairs_per_particle, fixed_capacity })
            }
        };
        let settings = Self {
            dt,
            substeps,
            iterations,
            gravity,
            damping,
            step_factor,
            body_damping,
            method,
            sweep,
            relaxation,
            color_order,
            execution,
            wind,
            fields,
            forces,
            tethers,
            self_collision,
            triangle_contacts,
            recovery_speed,
            collider_forces,
            contact_events,
            keep_lambdas,
            mean_forces,
            tether_forces,
        };
        settings.check()?;
        Ok(settings)
    }

    /// The settings that determine buffers and the order of constraints, as text for errors. A snapshot needs a solver with
    /// the same.
    pub(crate) fn layout_text(&self) -> String {
        let Self { sweep, color_order, execution, forces, self_collision, triangle_contacts, .. } = self;
        let Self { collider_forces, contact_events, mean_forces, tether_forces, .. } = self;
        let lambdas = self.keeps_lambdas(false);
        format!(
            "execution {execution:?}, sweep {sweep:?}, color_order {color_order:?}, forces {forces}, self_collision \
             {self_collision:?}, triangle_contacts {triangle_contacts}, collider_forces {collider_forces}, contact_events \
             {contact_events}, multipliers kept {lambdas}, mean_forces {mean_forces}, tether_forces {tether_forces}"
        )
    }
}

fn write_wind(w: &mut WordWriter, wind: Option<Wind>) {
    w.word(wind.is_some().into());
    if let Some(wind) = wind {
        let Wind { velocity, gust, gust_frequency, gust_length, density, drag, lift, turbulence, turbulence_length } =
            wind;
        w.floats(&velocity);
        w.floats(&[gust, gust_frequency, gust_length, density, drag, lift, turbulence, turbulence_length]);
    }
}

fn read_wind(r: &mut WordReader<'_>) -> Result<Option<Wind>> {
    if !r.flag()? {
        return Ok(None);
    }
    let velocity = r.floats()?;
    let [gust, gust_frequency, gust_length, density, drag, lift, turbulence, turbulence_length] = r.floats()?;
    Ok(Some(Wind { velocity, gust, gust_frequency, gust_length, density, drag, lift, turbulence, turbulence_length }))
}

fn write_field(w: &mut WordWriter, field: &Field) {
    match *field {
        Field::None => w.word(0),
        Field::Point { position, strength, radius } => {
            w.word(1);
            w.floats(&position);
            w.floats(&[strength, radius]);
        }
        Field::Vortex { position, axis, strength, radius } => {
            w.word(2);
            w.floats(&position);
            w.floats(&axis);
            w.floats(&[strength, radius]);
        }
    }
}

fn read_field(r: &mut WordReader<'_>) -> Result<Field> {
    match r.word()? {
        0 => Ok(Field::None),
        1 => {
            let (position, [strength, radius]) = (r.floats()?, r.floats()?);
            Ok(Field::Point { position, strength, radius })
        }
        2 => {
            let (position, axis, [strength, radius]) = (r.floats()?, r.floats()?, r.floats()?);
            Ok(Field::Vortex { position, axis, strength, radius })
        }
        other => Err(damaged(format!("a field has the kind {other}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_the_round_trip_and_truncated_words_are_errors() {
        let point = Field::Point { position: [1.0, 2.0, 3.0], strength: -4.0, radius: 5.0 };
        let vortex = Field::Vortex { position: [1.5; 3], axis: [0.0, 1.0, 0.0], strength: 6.0, radius: 7.0 };
        let settings = Settings {
            substeps: 7,
            iterations: 3,
            method: Method::NaivePbd,
            color_order: ColorOrder::Shuffled { seed: 99 },
            execution: Execution::Clusters,
            wind: Some(Wind { velocity: [1.0, 2.0, 3.0], gust: 0.3, ..Wind::default() }),
            fields: Field::slots(&[point, vortex]),
            self_collision: Some(SelfCollision { margin: 0.7, fixed_capacity: true, ..SelfCollision::surfaces() }),
            contact_events: 12,
            mean_forces: true,
            ..Settings::default()
        };
        for settings in [settings, Settings::default()] {
            let mut w = WordWriter::default();
            settings.write_words(&mut w);
            let mut r = WordReader(&w.0);
            assert_eq!(Settings::read_words(&mut r), Ok(settings));
            assert!(r.0.is_empty());
            for count in 0..w.0.len() {
                assert!(Settings::read_words(&mut WordReader(&w.0[..count])).is_err(), "{count} words");
            }
        }
    }
}
