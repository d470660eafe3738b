//! The settings of a scene file, as deserialized by serde.

use crate::collision::SelfCollision;
use crate::settings::{self, Settings};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IntoDeserializer, MapAccess, Unexpected, Visitor};
use std::fmt::{self, Formatter};

/// The simulation settings.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct SettingsFile {
    /// The time step [s], 1e-6 to 1. Default 1/60.
    pub dt: f32,
    /// Substeps per step, 1 to 10000. Default 20.
    pub substeps: u32,
    /// Sweeps over all constraints per substep, 1 to 1000. Default 1.
    pub iterations: u32,
    /// Acceleration of every free particle [m/s²]. Default [0, -9.81, 0].
    pub gravity: [f32; 3],
    /// Velocity damping [1/s]: velocities decay as exp(-damping t). Default 0.
    pub damping: f32,
    /// The factor applied to each velocity in each step, above 0 and at most 1. Default 1.
    pub step_factor: f32,
    /// The fraction of its non-rigid motion that each body loses per step, 0 to 1. Default 0.
    pub body_damping: f32,
    /// The stiffness model of constraints. Default "xpbd".
    pub method: MethodFile,
    /// The order in which constraints are solved. Default "gauss_seidel".
    pub sweep: SweepFile,
    /// The factor applied to each correction, above 0 and below 2. Default 1.
    pub relaxation: f32,
    /// The order of the colours in a Gauss-Seidel sweep. Default "fixed".
    pub color_order: ColorOrderFile,
    /// The distribution of constraints over GPU threads. Default "auto".
    pub execution: ExecutionFile,
    /// Wind on the surfaces. Default: none.
    pub wind: Option<WindFile>,
    /// Acceleration fields, at most 8. Default: none.
    pub fields: Vec<FieldFile>,
    /// If true, colliders push triangles and edges of surfaces, not only particles. Default true.
    pub triangle_contacts: bool,
    /// If true, tethers are active. Default true.
    pub tethers: bool,
    /// Collision between particles, or between surfaces. Default: none.
    pub self_collision: Option<SelfCollisionFile>,
    /// The maximum speed at which overlaps at the start of a substep are resolved [m/s], 0 to 1000. Default 1.
    pub recovery_speed: f32,
    /// If true, λ is stored for readback even with one iteration. Default false.
    pub keep_lambdas: bool,
}

impl Default for SettingsFile {
    fn default() -> Self {
        let Settings { dt, substeps, iterations, gravity, damping, step_factor, body_damping, relaxation, .. } =
            Settings::default();
        Self {
            dt,
            substeps,
            iterations,
            gravity,
            damping,
            step_factor,
            body_damping,
            method: MethodFile::Xpbd,
            sweep: SweepFile::GaussSeidel,
            relaxation,
            color_order: ColorOrderFile::Fixed,
            execution: ExecutionFile::Auto,
            wind: None,
            fields: Vec::new(),
            triangle_contacts: Settings::default().triangle_contacts,
            tethers: Settings::default().tethers,
            self_collision: None,
            recovery_speed: Settings::default().recovery_speed,
            keep_lambdas: Settings::default().keep_lambdas,
        }
    }
}

/// "xpbd": compliance and damping, independent of iterations and substeps. "pbd": stiffness, independent of iterations.
/// "naive_pbd": stiffness that rises with the number of iterations.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum MethodFile {
    Xpbd,
    Pbd,
    NaivePbd,
}

/// "gauss_seidel": one colour after another. "jacobi": all constraints of a kind at once.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum SweepFile {
    GaussSeidel,
    Jacobi,
}

/// "auto": chosen by the scene and the adapter. "colors": one thread per constraint. "tiles": one thread per tile of a
/// grid. "clusters": one workgroup per cluster of up to 256 particles.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum ExecutionFile {
    Auto,
    Colors,
    Tiles,
    Clusters,
}

/// "fixed", "alternating", or {"shuffled": {"seed": 1}}.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum ColorOrderFile {
    Fixed,
    Alternating,
    Shuffled {
        /// The seed; equal seeds give equal orders.
        seed: u32,
    },
}

/// Self-collision: off, a level with default parameters, or an object with parameters.
#[derive(Debug, Clone, Copy)]
pub(super) enum SelfCollisionFile {
    /// Off: `false`.
    Off,
    /// A level with default parameters.
    Level(LevelFile),
    /// A level and its parameters; parameters left out have their defaults.
    Parameters(SelfCollisionParametersFile),
}

/// "particles": particles as spheres. "surfaces": vertices against triangles, edges against edges, and particles of neither as spheres.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum LevelFile {
    #[default]
    Particles,
    Surfaces,
}

/// The parameters of self-collision.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct SelfCollisionParametersFile {
    /// The level. Default "particles".
    pub level: LevelFile,
    /// The margin of the search, in mean thicknesses of the particles, 0.05 to 10. Default 0.5.
    pub margin: Option<f32>,
    /// Sweeps over the contacts per substep, 1 to 64. Default 4; for "surfaces" 6; with shape matching 10.
    pub iterations: Option<u32>,
    /// The capacity for pairs per particle at the start, 1 to 256. Default 12; for "surfaces" 48.
    pub pairs_per_particle: Option<u32>,
    /// True: the lists of pairs and contacts do not grow. Default false.
    pub fixed_capacity: bool,
}

impl SelfCollisionFile {
    fn settings(self) -> Option<SelfCollision> {
        let parameters = match self {
            Self::Off => return None,
            Self::Level(level) => SelfCollisionParametersFile { level, ..SelfCollisionParametersFile::default() },
            Self::Parameters(parameters) => parameters,
        };
        let default = match parameters.level {
            LevelFile::Particles => SelfCollision::default(),
            LevelFile::Surfaces => SelfCollision::surfaces(),
        };
        Some(SelfCollision {
            level: default.level,
            margin: parameters.margin.unwrap_or(default.margin),
            iterations: parameters.iterations,
            pairs_per_particle: parameters.pairs_per_particle.unwrap_or(default.pairs_per_particle),
            fixed_capacity: parameters.fixed_capacity,
        })
    }
}

impl<'de> Deserialize<'de> for SelfCollisionFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SelfCollisionVisitor;
        impl<'de> Visitor<'de> for SelfCollisionVisitor {
            type Value = SelfCollisionFile;

            fn expecting(&self, formatter: &mut Formatter) -> fmt::Result {
                formatter.write_str("false, \"particles\", \"surfaces\" or an object")
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<SelfCollisionFile, E> {
                if value { Err(E::invalid_value(Unexpected::Bool(value), &self)) } else { Ok(SelfCollisionFile::Off) }
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<SelfCollisionFile, E> {
                LevelFile::deserialize(value.into_deserializer()).map(SelfCollisionFile::Level)
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<SelfCollisionFile, M::Error> {
                SelfCollisionParametersFile::deserialize(MapAccessDeserializer::new(map))
                    .map(SelfCollisionFile::Parameters)
            }
        }
        deserializer.deserialize_any(SelfCollisionVisitor)
    }
}

#[cfg(feature = "scene-schema")]
impl schemars::JsonSchema for SelfCollisionFile {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SelfCollisionFile".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "False, a level, or an object.",
            "anyOf": [
                { "const": false }, generator.subschema_for::<LevelFile>(), generator.subschema_for::<SelfCollisionParametersFile>()
            ],
        })
    }
}

/// The wind.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct WindFile {
    /// Mean velocity of the air [m/s]. Default [0, 0, 0].
    pub velocity: [f32; 3],
    /// The amplitude of the gusts relative to the mean velocity, 0 to 10. Default 0.
    pub gust: f32,
    /// The frequency of the gusts [Hz], 0 to 1000. Default 0.5.
    pub gust_frequency: f32,
    /// The wavelength of the gusts [m], 1e-3 to 1e6. Default 2.
    pub gust_length: f32,
    /// Density of the air [kg/m³]. Default 1.204.
    pub density: f32,
    /// Drag coefficient C_D. Default 1.2.
    pub drag: f32,
    /// Lift coefficient. Default 0.6.
    pub lift: f32,
    /// Amplitude of the turbulence [m/s], 0 to 1000. Default 0.
    pub turbulence: f32,
    /// Size of the eddies [m], 1e-3 to 1e6. Default 0.5.
    pub turbulence_length: f32,
}

impl Default for WindFile {
    fn default() -> Self {
        let settings::Wind {
            velocity,
            gust,
            gust_frequency,
            gust_length,
            density,
            drag,
            lift,
            turbulence,
            turbulence_length,
        } = settings::Wind::default();
        Self { velocity, gust, gust_frequency, gust_length, density, drag, lift, turbulence, turbulence_length }
    }
}

/// An acceleration field.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum FieldFile {
    /// Acceleration towards a point.
    Point {
        /// The point [m].
        position: [f32; 3],
        /// Acceleration near the point [m/s²]; negative values repel.
        strength: f32,
        /// The distance at which the acceleration is halved [m], 1e-6 to 1e6.
        radius: f32,
    },
    /// Acceleration around an axis, counterclockwise if the axis points at the viewer.
    Vortex {
        /// A point on the axis [m].
        position: [f32; 3],
        /// The direction of the axis, of any length but 0.
        axis: [f32; 3],
        /// Acceleration near the axis [m/s²].
        strength: f32,
        /// The distance at which the acceleration is halved [m], 1e-6 to 1e6.
        radius: f32,
    },
}

impl SettingsFile {
    /// Converts to the settings of the library, with the given [`Settings::forces`]. The caller must reject more than
    /// eight fields; the surplus is dropped here.
    pub fn settings(&self, forces: bool) -> Settings {
        let fields: Vec<settings::Field> = self.fields.iter().map(FieldFile::field).collect();
        let wind = |wind: WindFile| settings::Wind {
            velocity: wind.velocity,
            gust: wind.gust,
            gust_frequency: wind.gust_frequency,
            gust_length: wind.gust_length,
            density: wind.density,
            drag: wind.drag,
            lift: wind.lift,
            turbulence: wind.turbulence,
            turbulence_length: wind.turbulence_length,
        };
        Settings {
            self_collision: self.self_collision.and_then(SelfCollisionFile::settings),
            recovery_speed: self.recovery_speed,
            dt: self.dt,
            substeps: self.substeps,
            iterations: self.iterations,
            gravity: self.gravity,
            damping: self.damping,
            step_factor: self.step_factor,
            body_damping: self.body_damping,
            method: match self.method {
                MethodFile::Xpbd => settings::Method::Xpbd,
                MethodFile::Pbd => settings::Method::Pbd,
                MethodFile::NaivePbd => settings::Method::NaivePbd,
            },
            sweep: match self.sweep {
                SweepFile::GaussSeidel => settings::Sweep::GaussSeidel,
                SweepFile::Jacobi => settings::Sweep::Jacobi,
            },
            relaxation: self.relaxation,
            color_order: match self.color_order {
                ColorOrderFile::Fixed => settings::ColorOrder::Fixed,
                ColorOrderFile::Alternating => settings::ColorOrder::Alternating,
                ColorOrderFile::Shuffled { seed } => settings::ColorOrder::Shuffled { seed },
            },
            execution: match self.execution {
                ExecutionFile::Auto => settings::Execution::Auto,
                ExecutionFile::Colors => settings::Execution::Colors,
                ExecutionFile::Tiles => settings::Execution::Tiles,
                ExecutionFile::Clusters => settings::Execution::Clusters,
            },
            wind: self.wind.map(wind),
            fields: settings::Field::slots(&fields),
            forces,
            collider_forces: true,
            contact_events: 0,
            triangle_contacts: self.triangle_contacts,
            tethers: self.tethers,
            keep_lambdas: self.keep_lambdas,
            mean_forces: false,
            tether_forces: false,
        }
    }
}

impl FieldFile {
    fn field(&self) -> settings::Field {
        match *self {
            Self::Point { position, strength, radius } => settings::Field::Point { position, strength, radius },
            Self::Vortex { position, axis, strength, radius } => {
                settings::Field::Vortex { position, axis, strength, radius }
            }
        }
    }
}
