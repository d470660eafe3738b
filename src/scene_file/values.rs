//! Values of a scene file that have several forms; also named entries and the format version.
//!
//! All of them read directly from the deserializer, without serde's buffering, so errors keep their place in the file.

use crate::error::check_finite;
use glam::{DQuat, DVec3};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use std::collections::HashSet;
use std::fmt::{self, Formatter};
use std::marker::PhantomData;

/// A scalar, or a list or object in its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Either<A, B> {
    /// A number, a string or a boolean.
    Scalar(A),
    /// A list or an object.
    Structured(B),
}

/// A name, or an inline object.
pub(super) type NameOr<T> = Either<String, T>;
/// One value for all entries, or a list with one value per entry.
pub(super) type OneOrMany = Either<f32, Vec<f32>>;

impl OneOrMany {
    /// The value of entry `index` of `count`.
    pub fn get(&self, index: usize, count: usize) -> Result<f32, String> {
        match self {
            Self::Scalar(value) => Ok(*value),
            Self::Structured(values) if values.len() == count => Ok(values[index]),
            Self::Structured(values) => {
                Err(format!("{} values for {count} entries; give one for all or one each", values.len()))
            }
        }
    }
}

impl<'de, A: Deserialize<'de>, B: Deserialize<'de>> Deserialize<'de> for Either<A, B> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EitherVisitor(PhantomData))
    }
}

struct EitherVisitor<A, B>(PhantomData<(A, B)>);

impl<'de, A: Deserialize<'de>, B: Deserialize<'de>> Visitor<'de> for EitherVisitor<A, B> {
    type Value = Either<A, B>;

    fn expecting(&self, formatter: &mut Formatter) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        A::deserialize(value.into_deserializer()).map(Either::Scalar)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        A::deserialize(value.into_deserializer()).map(Either::Scalar)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        A::deserialize(value.into_deserializer()).map(Either::Scalar)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        A::deserialize(value.into_deserializer()).map(Either::Scalar)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        A::deserialize(value.into_deserializer()).map(Either::Scalar)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, list: S) -> Result<Self::Value, S::Error> {
        B::deserialize(List(SeqAccessDeserializer::new(list))).map(Either::Structured)
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Self::Value, M::Error> {
        B::deserialize(MapAccessDeserializer::new(map)).map(Either::Structured)
    }
}

/// The deserializer of a list. serde would read a struct from it by the order of its fields.
struct List<S>(SeqAccessDeserializer<S>);

impl<'de, S: SeqAccess<'de>> Deserializer<'de> for List<S> {
    type Error = S::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, S::Error> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, S::Error> {
        Err(Error::invalid_type(Unexpected::Seq, &"a name, a number, true, false or an object"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// One particle or several.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Selection {
    /// A particle by its index in the scene.
    Index(u32),
    /// Particles of a part: `"flag:3"`, `"flag:row 0"`. In the `pin` field of a part, its name may be omitted.
    Text(Box<str>),
    /// All particles in a box.
    Box(Box<Within>),
}

/// All particles of a part, or of the scene, whose rest positions lie in a box.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct Within {
    /// The name of the part. Default: the part itself in a `pin` field, the whole scene elsewhere.
    pub part: Option<String>,
    /// The lowest and the highest corner of the box [m], both included.
    #[serde(rename = "box")]
    pub corners: [[f32; 3]; 2],
}

impl<'de> Deserialize<'de> for Selection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SelectionVisitor;
        impl<'de> Visitor<'de> for SelectionVisitor {
            type Value = Selection;

            fn expecting(&self, formatter: &mut Formatter) -> fmt::Result {
                formatter.write_str("a particle: an index from 0, a text like \"flag:3\", or a box")
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Selection, E> {
                let index =
                    u32::try_from(value).map_err(|_| E::custom(format!("particle {value} is beyond any scene")))?;
                Ok(Selection::Index(index))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Selection, E> {
                Ok(Selection::Text(value.into()))
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Selection, M::Error> {
                let within = Within::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Selection::Box(Box::new(within)))
            }
        }
        deserializer.deserialize_any(SelectionVisitor)
    }
}

/// A rotation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rotation {
    /// A quaternion (x, y, z, w).
    Quaternion([f32; 4]),
    /// An angle about an axis.
    AxisAngle(AxisAngle),
}

/// A rotation about an axis, counterclockwise if the axis points at the viewer.
#[derive(Debug, Clone, Copy, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct AxisAngle {
    /// The axis, of any length but 0.
    pub axis: [f32; 3],
    /// The angle [degrees].
    pub degrees: f32,
}

impl Rotation {
    /// The unit quaternion (x, y, z, w); as given if its length is 0 or not finite, which [`crate::Pose`] does not accept.
    pub fn quaternion(&self) -> Result<[f32; 4], crate::Error> {
        let AxisAngle { axis, degrees } = match *self {
            Self::Quaternion(quaternion) => return Ok(unit(quaternion)),
            Self::AxisAngle(axis_angle) => axis_angle,
        };
        check_finite(|| "axis of a rotation".into(), axis)?;
        check_finite(|| "angle of a rotation".into(), [degrees; 3])?;
        let axis = DVec3::from(axis.map(f64::from));
        if axis.length() < 1e-12 {
            return Err(crate::Error::invalid("length of the axis of a rotation", axis.length(), "at least 1e-12"));
        }
        let turn = DQuat::from_axis_angle(axis.normalize(), f64::from(degrees).to_radians());
        Ok(turn.to_array().map(|component| component as f32))
    }
}

/// Keeps the bits of quaternions that are of unit length up to rounding.
fn unit(quaternion: [f32; 4]) -> [f32; 4] {
    let length = DQuat::from_array(quaternion.map(f64::from)).length();
    if !length.is_finite() || length < 1e-12 || (length - 1.0).abs() < 1e-6 {
        return quaternion;
    }
    quaternion.map(|component| (f64::from(component) / length) as f32)
}

impl<'de> Deserialize<'de> for Rotation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RotationVisitor;
        impl<'de> Visitor<'de> for RotationVisitor {
            type Value = Rotation;

            fn expecting(&self, formatter: &mut Formatter) -> fmt::Result {
                formatter.write_str("a rotation: a quaternion [x, y, z, w], or an axis and degrees")
            }

            fn visit_seq<S: SeqAccess<'de>>(self, list: S) -> Result<Rotation, S::Error> {
                <[f32; 4]>::deserialize(SeqAccessDeserializer::new(list)).map(Rotation::Quaternion)
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Rotation, M::Error> {
                AxisAngle::deserialize(MapAccessDeserializer::new(map)).map(Rotation::AxisAngle)
            }
        }
        deserializer.deserialize_any(RotationVisitor)
    }
}

/// An object with named entries, in the order of the file; each name occurs once.
#[derive(Debug)]
pub(super) struct Table<T>(pub Vec<(String, T)>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TableVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for TableVisitor<T> {
            type Value = Table<T>;

            fn expecting(&self, formatter: &mut Formatter) -> fmt::Result {
                formatter.write_str("an object of named entries")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Table<T>, M::Error> {
                let (mut entries, mut names) = (Vec::new(), HashSet::new());
                while let Some(name) = map.next_key::<String>()? {
                    if !names.insert(name.clone()) {
                        return Err(M::Error::custom(format!("the name {name:?} is given twice")));
                    }
                    entries.push((name, map.next_value()?));
                }
                Ok(Table(entries))
            }
        }
        deserializer.deserialize_map(TableVisitor(PhantomData))
    }
}

/// The version of the format: 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Version;

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            1 => Ok(Self),
            other => Err(D::Error::custom(format!("version {other} of the format is not known; this library reads 1"))),
        }
    }
}

#[cfg(feature = "scene-schema")]
mod schema {
    use super::{AxisAngle, Either, Rotation, Selection, Table, Version, Within};
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use std::borrow::Cow;

    impl<A: JsonSchema, B: JsonSchema> JsonSchema for Either<A, B> {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            format!("{}Or{}", A::schema_name(), B::schema_name()).into()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            json_schema!({ "anyOf": [generator.subschema_for::<A>(), generator.subschema_for::<B>()] })
        }
    }

    impl JsonSchema for Selection {
        fn schema_name() -> Cow<'static, str> {
            "Selection".into()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            json_schema!({
                "description": "One particle or several: an index in the whole scene, a text \"PART:WHAT\" where WHAT is an \
                    index, \"A-B\", \"all\", \"first\", \"last\", \"row R\", \"column C\" or \"corners\", or a box.",
                "anyOf": [
                    { "type": "integer", "minimum": 0 }, { "type": "string" }, generator.subschema_for::<Within>()
                ],
            })
        }
    }

    impl JsonSchema for Rotation {
        fn schema_name() -> Cow<'static, str> {
            "Rotation".into()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            json_schema!({
                "description": "A rotation: a quaternion [x, y, z, w] of any length but 0, or an axis and degrees.",
                "anyOf": [generator.subschema_for::<[f32; 4]>(), generator.subschema_for::<AxisAngle>()],
            })
        }
    }

    impl<T: JsonSchema> JsonSchema for Table<T> {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            format!("TableOf{}", T::schema_name()).into()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<T>() })
        }
    }

    impl JsonSchema for Version {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            "Version".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "const": 1 })
        }
    }
}
