//! The text of USD layers (`.usda`).

use super::geometry::{Shape, Surface};
use super::{Frame, Timing};
use std::fmt::Display;
use std::io::{self, Write};

/// The root prim of all shapes.
pub const ROOT: &str = "scene";

/// An attribute with a value per sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Attribute {
    Extent,
    Points,
    Velocities,
    Normals,
}

impl Attribute {
    /// The attributes of a shape: curves have no normals.
    pub fn of(shape: &Shape) -> &'static [Self] {
        const ALL: [Attribute; 4] = [Attribute::Extent, Attribute::Points, Attribute::Velocities, Attribute::Normals];
        if shape.surface.is_some() { &ALL } else { &ALL[..3] }
    }

    pub fn declaration(self) -> &'static str {
        match self {
            Self::Extent => "float3[] extent",
            Self::Points => "point3f[] points",
            Self::Velocities => "vector3f[] velocities",
            Self::Normals => "normal3f[] normals",
        }
    }

    /// Metadata in parentheses.
    fn metadata(self) -> &'static str {
        if self == Self::Normals { " (interpolation = \"vertex\")" } else { "" }
    }

    /// Writes the value of the attribute in a frame.
    pub fn write(self, writer: &mut impl Write, shape: &Shape, frame: &Frame) -> io::Result<()> {
        let values = match self {
            Self::Extent => return write_vectors(writer, extent(shape, frame).into_iter()),
            Self::Points => frame.positions,
            Self::Velocities => frame.velocities,
            Self::Normals => frame.normals,
        };
        let vector = |&particle: &u32| values.get(particle as usize).copied().unwrap_or_default();
        write_vectors(writer, shape.particles.iter().map(vector))
    }
}

fn write_vectors(writer: &mut impl Write, vectors: impl Iterator<Item = [f32; 3]>) -> io::Result<()> {
    writer.write_all(b"[")?;
    for (index, [x, y, z]) in vectors.enumerate() {
        write!(writer, "{}({x}, {y}, {z})", if index == 0 { "" } else { ", " })?;
    }
    writer.write_all(b"]")
}

/// The lowest and the highest corner of the bounding box.
fn extent(shape: &Shape, frame: &Frame) -> [[f32; 3]; 2] {
    let margin = 0.5 * shape.widths.iter().copied().fold(0.0, f32::max);
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for &particle in &shape.particles {
        for axis in 0..3 {
            low[axis] = low[axis].min(frame.positions[particle as usize][axis] - margin);
            high[axis] = high[axis].max(frame.positions[particle as usize][axis] + margin);
        }
    }
    [low, high]
}

/// Writes the head of a layer: units, axes, time.
pub fn write_head(writer: &mut impl Write, timing: Timing) -> io::Result<()> {
    let rate = rate(timing.seconds);
    writeln!(writer, "#usda 1.0\n(")?;
    writeln!(writer, "    defaultPrim = \"{ROOT}\"\n    upAxis = \"Y\"\n    metersPerUnit = 1")?;
    writeln!(writer, "    startTimeCode = 0\n    endTimeCode = {}", timing.samples.saturating_sub(1))?;
    writeln!(writer, "    timeCodesPerSecond = {rate}\n    framesPerSecond = {rate}\n)\n")
}

/// The relative difference from an integer rate that counts as rounding: half of the sixth decimal of a time step of 1/60 s.
/// The rates of video, such as 24 000/1001, differ by 1e-3.
const RATE_ROUNDING: f64 = 3e-5;

/// Samples per second, rounded to an integer if the time step is that of an integer rate, rounded to six decimals or to `f32`.
fn rate(seconds: f64) -> f64 {
    let rate = 1.0 / seconds;
    if (rate - rate.round()).abs() <= RATE_ROUNDING * rate { rate.round() } else { rate }
}

/// The schema of the prim of a shape.
pub fn prim_type(shape: &Shape) -> &'static str {
    if shape.surface.is_some() { "Mesh" } else { "BasisCurves" }
}

/// Prim names: identifiers of ASCII letters, digits and underscores, each once.
pub fn prim_names(shapes: &[Shape]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for shape in shapes {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut name: String = shape.name.chars().map(plain).collect();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            name.insert(0, '_');
        }
        let first = name.clone();
        for number in 1.. {
            if !names.contains(&name) {
                break;
            }
            name = format!("{first}_{number}");
        }
        names.push(name);
    }
    names
}

/// Writes the attributes that do not change, and declares the others.
pub fn write_constants(writer: &mut impl Write, shape: &Shape) -> io::Result<()> {
    match &shape.surface {
        Some(surface) => write_topology(writer, surface)?,
        None => {
            writeln!(writer, "        uniform token type = \"linear\"")?;
            let wrap = if shape.closed { "periodic" } else { "nonperiodic" };
            writeln!(writer, "        uniform token wrap = \"{wrap}\"")?;
            writeln!(writer, "        int[] curveVertexCounts = [{}]", shape.particles.len())?;
            write!(writer, "        float[] widths = ")?;
            write_numbers(writer, shape.widths.iter(), " (interpolation = \"vertex\")")?;
        }
    }
    for attribute in Attribute::of(shape) {
        writeln!(writer, "        {}{}", attribute.declaration(), attribute.metadata())?;
    }
    Ok(())
}

fn write_topology(writer: &mut impl Write, surface: &Surface) -> io::Result<()> {
    writeln!(writer, "        uniform token subdivisionScheme = \"none\"")?;
    writeln!(writer, "        uniform bool doubleSided = 1")?;
    write!(writer, "        int[] faceVertexCounts = ")?;
    write_numbers(writer, surface.triangles.iter().map(|_| 3), "")?;
    write!(writer, "        int[] faceVertexIndices = ")?;
    write_numbers(writer, surface.triangles.iter().flatten(), "")?;
    if surface.corners.is_empty() {
        return Ok(());
    }
    // Corners without texture coordinates have (0, 0).
    let spare = surface.coordinates.len() as u32;
    let has_gaps = surface.corners.contains(&None);
    let spares = if has_gaps { &[[0.0; 2]][..] } else { &[] };
    write!(writer, "        texCoord2f[] primvars:st = [")?;
    for (index, [u, v]) in surface.coordinates.iter().chain(spares).enumerate() {
        write!(writer, "{}({u}, {v})", if index == 0 { "" } else { ", " })?;
    }
    writeln!(writer, "] (interpolation = \"faceVarying\")")?;
    write!(writer, "        int[] primvars:st:indices = ")?;
    write_numbers(writer, surface.corners.iter().flat_map(|corners| corners.unwrap_or([spare; 3])), "")
}

fn write_numbers<T: Display>(
    writer: &mut impl Write,
    numbers: impl Iterator<Item = T>,
    metadata: &str,
) -> io::Result<()> {
    writer.write_all(b"[")?;
    for (index, number) in numbers.enumerate() {
        write!(writer, "{}{number}", if index == 0 { "" } else { ", " })?;
    }
    writeln!(writer, "]{metadata}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Shape {
        Shape { name: name.into(), particles: vec![0, 1], ..Shape::default() }
    }

    #[test]
    fn prim_names_are_identifiers_and_unique() {
        let shapes = ["flag", "2nd flag", "flag", "Ä", "", "flag_1"].map(named);
        assert_eq!(prim_names(&shapes), ["flag", "_2nd_flag", "flag_1", "_", "__1", "flag_1_1"]);
    }

    #[test]
    fn rates_are_integers_within_rounding() {
        assert_eq!(rate(f64::from(1.0f32 / 60.0)), 60.0);
        assert_eq!(rate(2.0 * f64::from(1.0f32 / 48.0)), 24.0);
        assert_eq!(rate(0.4), 2.5);
        // Time steps of six and seven decimals in a scene file.
        assert_eq!(rate(f64::from(0.016667f32)), 60.0);
        assert_eq!(rate(2.0 * f64::from(0.0208333f32)), 24.0);
        assert_eq!(rate(1001.0 / 24_000.0), 24_000.0 / 1001.0);
    }

    #[test]
    fn corners_without_texture_coordinates_have_a_spare_one() {
        let surface = Surface {
            triangles: vec![[0, 1, 2], [2, 1, 3]],
            coordinates: vec![[0.0, 0.25], [1.0, 0.0]],
            corners: vec![Some([0, 1, 0]), None],
        };
        let mut text = Vec::new();
        write_topology(&mut text, &surface).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("faceVertexCounts = [3, 3]\n"), "{text}");
        assert!(text.contains("faceVertexIndices = [0, 1, 2, 2, 1, 3]\n"), "{text}");
        assert!(text.contains("primvars:st = [(0, 0.25), (1, 0), (0, 0)] (interpolation = \"faceVarying\")"), "{text}");
        assert!(text.contains("primvars:st:indices = [0, 1, 0, 2, 2, 2]\n"), "{text}");
    }

    #[test]
    fn the_extent_of_a_curve_contains_its_width() {
        let frame = Frame { sample: 0, positions: &[[0.0; 3], [1.0, -2.0, 0.0]], velocities: &[], normals: &[] };
        let rope = Shape { widths: vec![0.005, 0.01], ..named("rope") };
        assert_eq!(extent(&rope, &frame), [[-0.005, -2.005, -0.005], [1.005, 0.005, 0.005]]);
    }
}
