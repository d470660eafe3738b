//! Typed arrays of a glTF file.

use super::Gltf;
use super::json::{Accessor, Primitive};
use glam::DMat4;

/// The largest stride of the specification.
const MAX_STRIDE: u64 = 252;

/// The type of a number in a buffer.
#[derive(Clone, Copy)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn new(code: u32) -> Result<Self, String> {
        Ok(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return Err(format!("the component type {code} does not exist")),
        })
    }

    fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// The first number of the bytes, which have at least its size.
    fn read(self, bytes: &[u8]) -> f64 {
        match self {
            Self::I8 => f64::from(bytes[0] as i8),
            Self::U8 => f64::from(bytes[0]),
            Self::I16 => f64::from(i16::from_le_bytes([bytes[0], bytes[1]])),
            Self::U16 => f64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
            Self::U32 => f64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
            Self::F32 => f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        }
    }

    /// The greatest value, which a normalized number divides; 1 for floating point.
    fn greatest(self) -> f64 {
        match self {
            Self::I8 => f64::from(i8::MAX),
            Self::U8 => f64::from(u8::MAX),
            Self::I16 => f64::from(i16::MAX),
            Self::U16 => f64::from(u16::MAX),
            Self::U32 => f64::from(u32::MAX),
            Self::F32 => 1.0,
        }
    }
}

impl Gltf {
    pub(super) fn accessor(&self, index: u32) -> Result<&Accessor, String> {
        let accessors = &self.document.accessors;
        let accessor = accessors.get(index as usize);
        accessor.ok_or_else(|| format!("it names accessor {index}, but {} exist", accessors.len()))
    }

    /// The elements of an accessor: the number of components of each, the type, the distance between two elements, and the
    /// bytes of all.
    fn elements(&self, index: u32) -> Result<(usize, Component, usize, &[u8]), String> {
        let accessor = self.accessor(index)?;
        let width = match accessor.shape.as_str() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            "MAT4" => 16,
            other => {
                return Err(format!("accessor {index} has the type {other:?}; SCALAR, VEC2 to VEC4 and MAT4 are read"));
            }
        };
        let component =
            Component::new(accessor.component_type).map_err(|error| format!("accessor {index}: {error}"))?;
        if accessor.sparse.is_some() {
            return Err(format!("accessor {index} is sparse, which is not supported"));
        }
        let views = &self.document.buffer_views;
        let number = accessor.buffer_view.ok_or_else(|| format!("accessor {index} has no buffer view"))?;
        let view = views.get(number as usize);
        let view = view.ok_or_else(|| format!("accessor {index} names view {number}, but {} exist", views.len()))?;
        let count = self.buffers.len();
        let buffer = self.buffers.get(view.buffer as usize);
        let buffer = buffer.ok_or_else(|| format!("view {number} names buffer {}, but {count} exist", view.buffer))?;
        let size = (width * component.bytes()) as u64;
        let stride = view.byte_stride.unwrap_or(size);
        if !(size..=MAX_STRIDE).contains(&stride) {
            return Err(format!(
                "view {number} has a stride of {stride} bytes; it must be {size}, the size of an element, to {MAX_STRIDE}"
            ));
        }
        if accessor.count == 0 {
            return Err(format!("accessor {index} has no elements"));
        }
        // In `u128`, nothing overflows.
        let length = u128::from(stride) * u128::from(accessor.count - 1) + u128::from(size);
        let end = u128::from(accessor.byte_offset) + length;
        let view_end = u128::from(view.byte_offset) + u128::from(view.byte_length);
        if end > u128::from(view.byte_length) || view_end > buffer.len() as u128 {
            return Err(format!(
                "accessor {index} ends at byte {end} of view {number} of {} bytes at byte {} of a buffer of {} bytes",
                view.byte_length,
                view.byte_offset,
                buffer.len()
            ));
        }
        let start = (view.byte_offset + accessor.byte_offset) as usize;
        Ok((width, component, stride as usize, &buffer[start..start + length as usize]))
    }

    /// The number of components of each element, and all components one after another.
    pub(super) fn numbers(&self, index: u32) -> Result<(usize, Vec<f32>), String> {
        let (width, component, stride, bytes) = self.elements(index)?;
        let divisor = if self.accessor(index)?.normalized { component.greatest() } else { 1.0 };
        let size = component.bytes();
        let element = |bytes: &[u8]| -> [f32; 16] {
            let mut values = [0.0; 16];
            for (place, value) in values[..width].iter_mut().enumerate() {
                // The least signed number is below −1.
                let number = component.read(&bytes[place * size..]) / divisor;
                *value = if divisor == 1.0 { number as f32 } else { number.max(-1.0) as f32 };
            }
            values
        };
        // The last element may be shorter than the stride.
        let values = bytes.chunks(stride).flat_map(|bytes| element(bytes).into_iter().take(width));
        Ok((width, values.collect()))
    }

    /// The components of vectors of a given width.
    pub(super) fn vectors(&self, index: u32, name: &str, width: usize) -> Result<Vec<f32>, String> {
        let (own, values) = self.numbers(index)?;
        if own == width { Ok(values) } else { Err(format!("{name} has {own} components instead of {width}")) }
    }

    /// As [`Gltf::vectors`], with one vector for each of `count` vertices, all finite.
    pub(super) fn values_of(&self, index: u32, name: &str, count: usize, width: usize) -> Result<Vec<f32>, String> {
        let values = self.vectors(index, name, width)?;
        if values.len() != count * width {
            return Err(format!("{name} has {} values for {count} vertices", values.len() / width));
        }
        match values.iter().position(|value| !value.is_finite()) {
            Some(place) => Err(format!("{name} of vertex {} is {}, which is not finite", place / width, values[place])),
            None => Ok(values),
        }
    }

    /// Unsigned integers of a given width, such as joints.
    pub(super) fn integers(&self, index: u32, name: &str, count: usize, width: usize) -> Result<Vec<u32>, String> {
        let (own, component, stride, bytes) = self.elements(index)?;
        if own != width || !matches!(component, Component::U8 | Component::U16 | Component::U32) {
            return Err(format!("{name} has {own} components instead of {width} unsigned integers"));
        }
        let size = component.bytes();
        let read =
            |bytes: &[u8]| (0..width).map(|place| component.read(&bytes[place * size..]) as u32).collect::<Vec<_>>();
        let values: Vec<u32> = bytes.chunks(stride).flat_map(read).collect();
        if values.len() == count * width {
            return Ok(values);
        }
        Err(format!("{name} has {} values for {count} vertices", values.len() / width))
    }

    /// The triangles of a primitive of `count` vertices. A transform that mirrors swaps two corners, so that no mesh is inside out.
    pub(super) fn triangles(&self, part: &Primitive, count: usize, transform: DMat4) -> Result<Vec<[u32; 3]>, String> {
        let indices = match part.indices {
            Some(index) => self.indices(index, count)?,
            None => (0..count as u32).collect(),
        };
        let (triangles, rest) = indices.as_chunks();
        if !rest.is_empty() {
            return Err(format!("{} indices are no triangles: their number must be a multiple of 3", indices.len()));
        }
        let is_mirrored = transform.determinant() < 0.0;
        Ok(triangles.iter().map(|&[a, b, c]| if is_mirrored { [a, c, b] } else { [a, b, c] }).collect())
    }

    /// Indices of vertices, each less than `count`.
    fn indices(&self, index: u32, count: usize) -> Result<Vec<u32>, String> {
        let (width, component, stride, bytes) = self.elements(index)?;
        if width != 1 || !matches!(component, Component::U8 | Component::U16 | Component::U32) {
            return Err(format!("accessor {index} has no indices: they are unsigned SCALARs"));
        }
        let indices: Vec<u32> = bytes.chunks(stride).map(|bytes| component.read(bytes) as u32).collect();
        match indices.iter().position(|&vertex| vertex as usize >= count) {
            Some(place) => Err(format!("index {place} is {}, but there are {count} vertices", indices[place])),
            None => Ok(indices),
        }
    }
}
