//! The surfaces, ropes and rods of a scene, as exported meshes and curves.

use anyhow::{bail, ensure};
use supple::Scene;
use supple::scene_file::{Part, SceneFile};

/// A mesh or a curve of a part.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shape {
    /// The name of the part, or `part_` and its number.
    pub name: String,
    /// The particle of each vertex.
    pub particles: Vec<u32>,
    /// The particle of each vertex of the mesh file of the part, in its order; without a mesh file, as `particles`. The two
    /// lists differ if vertices of the file are welded or belong to no triangle.
    pub file_particles: Vec<u32>,
    /// The triangles; `None` for a curve through the vertices.
    pub surface: Option<Surface>,
    /// True for a curve whose last vertex is joined to the first one.
    pub closed: bool,
    /// The width of a curve at each vertex \[m\]: the mean diameter of a rod, the thickness of the contacts of a rope. Empty for
    /// a surface.
    pub widths: Vec<f32>,
}

/// The triangles of a mesh.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Surface {
    /// Indices into [`Shape::particles`].
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates (u, v); empty if the part has none.
    pub coordinates: Vec<[f32; 2]>,
    /// Indices into `coordinates`, by triangle and corner; empty if the part has none.
    pub corners: Vec<Option<[u32; 3]>>,
}

/// The shapes of all parts that have a surface, are ropes or are rods, or of the part of the given name. Loose particles have no
/// shape.
pub fn shapes(file: &SceneFile, only: Option<&str>) -> anyhow::Result<Vec<Shape>> {
    ensure!(
        !file.scene.can_tear(),
        "the scene has a cloth with tearing, whose triangles change: meshes and point caches have the same triangles in all samples; \
         write positions by --out instead of --obj, --pc2, --mdd or --usd"
    );
    let names: Vec<&str> = file.parts.iter().filter_map(|part| part.name.as_deref()).collect();
    if let Some(name) = only
        && !names.contains(&name)
    {
        let known = if names.is_empty() {
            "no part has a name".into()
        } else {
            format!("the named parts are: {}", names.join(", "))
        };
        bail!("no part is named {name:?}; {known}");
    }
    let parts = file.parts.iter().enumerate().filter(|(_, part)| only.is_none() || part.name.as_deref() == only);
    let shapes: Vec<Shape> =
        parts.filter_map(|(index, part)| shape(file, index, part).transpose()).collect::<Result<_, _>>()?;
    match only {
        Some(name) => ensure!(!shapes.is_empty(), "the part {name:?} has no surface and is no rope or rod"),
        None => ensure!(!shapes.is_empty(), "the scene has no surfaces, no ropes and no rods"),
    }
    Ok(shapes)
}

/// Returns true for a rope or a rod.
pub fn is_curve(part: &Part) -> bool {
    part.triangles.is_empty() && !(part.edges.is_empty() && part.segments.is_empty())
}

/// Returns true for a closed rod, which has as many segments as particles.
pub fn is_closed(part: &Part) -> bool {
    part.segments.len() == part.particles.len()
}

/// `None` for loose particles.
fn shape(file: &SceneFile, index: usize, part: &Part) -> supple::Result<Option<Shape>> {
    let name = part.name.clone().unwrap_or_else(|| format!("part_{index}"));
    let range = part.triangles.start as usize..part.triangles.end as usize;
    let triangles = &file.scene.triangles()[range];
    if triangles.is_empty() {
        let particles: Vec<u32> = part.particles.clone().collect();
        if !is_curve(part) {
            return Ok(None);
        }
        let closed = is_closed(part);
        let widths = particles.iter().map(|&particle| width(&file.scene, part, particle)).collect::<Result<_, _>>()?;
        return Ok(Some(Shape { name, file_particles: particles.clone(), particles, surface: None, closed, widths }));
    }
    let mut particles = triangles.concat();
    particles.sort_unstable();
    particles.dedup();
    let vertex = |particle: u32| particles.partition_point(|&other| other < particle) as u32;
    let surface = Surface {
        triangles: triangles.iter().map(|triangle| triangle.map(vertex)).collect(),
        coordinates: part.texture.coordinates.clone(),
        corners: part.texture.triangles.clone(),
    };
    let has_file = !part.vertex_particles.is_empty();
    let file_particles = if has_file { part.vertex_particles.clone() } else { particles.clone() };
    let (surface, widths) = (Some(surface), Vec::new());
    Ok(Some(Shape { name, particles, file_particles, surface, closed: false, widths }))
}

/// The width of a curve at a particle \[m\].
fn width(scene: &Scene, part: &Part, particle: u32) -> supple::Result<f32> {
    let [a, b] = part.radii;
    if a > 0.0 {
        return Ok(a + b);
    }
    let material = scene.contact_material(scene.particle_contact(particle)?)?;
    Ok(material.thickness * scene.contact_scale(particle)?.thickness)
}
