//! Meshes of glTF 2.0 files, `.gltf` and `.glb`: triangles, node transforms, texture coordinates, vertex attributes, skins
//! and animations.
//!
//! Source: Khronos Group, *glTF 2.0 Specification*, version 2.0.1 (2021). glTF has metres and y up, as supple.

mod accessor;
mod animation;
mod container;
mod json;
mod nodes;
mod rig;
mod skin;

pub(super) use rig::Rig;

use super::error::Reason;
use super::mesh::is_relative;
use super::obj::TextureCoordinates;
use super::text;
use glam::{DMat4, DVec3};
use json::{Document, Primitive};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The mode of a primitive of separate triangles.
const TRIANGLES: u32 = 4;
/// The names of the modes of primitives.
const MODES: [&str; 7] = ["points", "lines", "line loop", "line strip", "triangles", "triangle strip", "triangle fan"];
/// Required extensions that do not change the meshes, by their beginnings.
const HARMLESS: [&str; 5] = ["KHR_materials_", "KHR_texture_", "EXT_texture_", "KHR_lights_", "KHR_mesh_quantization"];

/// The number of maps of a mesh.
pub(super) const MAPS: usize = 5;

/// The most primitives of all nodes. Nodes may share meshes, so a small file may place very many.
const MAX_PLACED: usize = 100_000;

/// A parsed file with its buffers.
pub(super) struct Gltf {
    document: Document,
    buffers: Vec<Vec<u8>>,
}

/// The meshes of some nodes as one mesh.
#[derive(Debug, Default)]
pub(super) struct GltfMesh {
    pub positions: Vec<[f32; 3]>,
    pub triangles: Vec<[u32; 3]>,
    pub texture: TextureCoordinates,
    /// The values of the requested attributes, by vertex; empty for an attribute that is not requested.
    pub maps: [Vec<f32>; MAPS],
}

/// A vertex attribute that is read as a map.
pub(super) struct MapRequest {
    /// The attribute, with a component if it has several: `_PIN`, `COLOR_0.r`.
    pub name: String,
    /// The value of the vertices of primitives without the attribute.
    pub default: f32,
}

/// A primitive under the transform of its node.
struct Placed<'a> {
    transform: DMat4,
    primitive: &'a Primitive,
    /// The node, the mesh and the primitive, for errors.
    name: String,
}

impl Gltf {
    /// Reads a file of at most `limit` bytes and the files of its buffers, of at most `limit` bytes together.
    pub fn read(path: &Path, limit: u64) -> Result<Self, Reason> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let bytes = text::read_bytes(path, limit)?;
        // An error of the system keeps its path.
        let mut fault = None;
        // Buffers may share a file, so a small file may have very large ones.
        let mut total = 0;
        let load = |name: &str| {
            if !is_relative(name) {
                return Err(format!("{name:?}: the path must be relative to the folder of the file"));
            }
            let bytes = text::read_bytes(&folder.join(name), limit).map_err(|reason| {
                fault = Some(reason);
                String::new()
            })?;
            total += bytes.len() as u64;
            let is_small = total <= limit;
            is_small.then_some(bytes).ok_or_else(|| format!("the buffers so far have {total} bytes, more than {limit}"))
        };
        let gltf = Self::parse(&bytes, load);
        fault.map_or(Ok(()), Err)?;
        Ok(gltf?)
    }

    /// Reads the contents of a file; `load` returns the contents of a buffer by its path relative to the file.
    pub fn parse(bytes: &[u8], load: impl FnMut(&str) -> Result<Vec<u8>, String>) -> Result<Self, String> {
        let (text, binary) = container::split(bytes)?;
        let document: Document = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if !document.asset.version.starts_with("2.") {
            return Err(format!("it has the version {:?} of glTF; only 2 is read", document.asset.version));
        }
        let is_harmless = |name: &&String| HARMLESS.iter().any(|harmless| name.starts_with(harmless));
        if let Some(name) = document.extensions_required.iter().find(|name| !is_harmless(name)) {
            return Err(format!("it requires the extension {name:?}, which is not supported"));
        }
        let buffers = container::buffers(&document, binary, load)?;
        Ok(Self { document, buffers })
    }

    /// The mesh of all nodes of the scene, or of the named node and those below it. `count` receives the numbers of vertices
    /// and of triangles before memory is allocated for them; its error is returned.
    pub fn mesh(
        &self,
        node: Option<&str>,
        requests: &[Option<MapRequest>; MAPS],
        count: impl FnOnce(u64, u64) -> Result<(), Reason>,
    ) -> Result<GltfMesh, Reason> {
        let placed = self.placed(node)?;
        let (mut vertices, mut indices) = (0u64, 0u64);
        for part in &placed {
            let own = self.sizes(part.primitive).map_err(|error| format!("{}: {error}", part.name))?;
            (vertices, indices) = (vertices.saturating_add(own[0]), indices.saturating_add(own[1]));
        }
        count(vertices, indices / 3)?;
        for request in requests.iter().flatten() {
            self.check_map(&placed, &request.name)?;
        }
        let mut mesh = GltfMesh::default();
        for part in &placed {
            self.append(&mut mesh, part, requests).map_err(|error| format!("{}: {error}", part.name))?;
        }
        if mesh.triangles.is_empty() {
            return Err("its meshes have no triangles".into());
        }
        if mesh.texture.triangles.iter().all(Option::is_none) {
            mesh.texture = TextureCoordinates::default();
        }
        Ok(mesh)
    }

    /// The primitives of the selected nodes.
    fn placed(&self, node: Option<&str>) -> Result<Vec<Placed<'_>>, String> {
        let mut placed = Vec::new();
        for (index, transform) in nodes::world(&self.document, node)? {
            let node = &self.document.nodes[index];
            let Some(number) = node.mesh else { continue };
            let mesh = self.document.meshes.get(number as usize);
            nodes::check_volume(&self.document, index, &transform)?;
            let node_name = json::name("node", index, &node.name);
            let mesh =
                mesh.ok_or_else(|| format!("{node_name} has mesh {number}, but {} exist", self.document.meshes.len()))?;
            if node.skin.is_some() {
                return Err(format!("{node_name} has a skin; apply its armature before the export"));
            }
            for (number, primitive) in mesh.primitives.iter().enumerate() {
                let mesh_name = json::name("mesh", node.mesh.unwrap_or_default() as usize, &mesh.name);
                let name = format!("{node_name}, primitive {number} of {mesh_name}");
                let mode = primitive.mode.unwrap_or(TRIANGLES);
                if mode != TRIANGLES {
                    let mode = MODES.get(mode as usize).copied().unwrap_or("an unknown mode");
                    return Err(format!("{name} has {mode}; only triangles are read"));
                }
                if placed.len() == MAX_PLACED {
                    return Err(format!("its nodes have more than {MAX_PLACED} primitives"));
                }
                placed.push(Placed { transform, primitive, name });
            }
        }
        if placed.is_empty() {
            let of = node.map_or("the scene".into(), |name| format!("the node {name:?}"));
            return Err(format!("{of} has no meshes"));
        }
        Ok(placed)
    }

    /// The numbers of vertices and of indices of a primitive.
    fn sizes(&self, part: &Primitive) -> Result<[u64; 2], String> {
        let position = part.attributes.get("POSITION").ok_or("it has no attribute POSITION")?;
        let vertices = self.accessor(*position)?.count;
        let indices = part.indices.map(|index| self.accessor(index)).transpose()?;
        Ok([vertices, indices.map_or(vertices, |accessor| accessor.count)])
    }

    /// Checks that at least one primitive has the attribute of a map.
    fn check_map(&self, placed: &[Placed<'_>], name: &str) -> Result<(), String> {
        let (attribute, _) = channel(name);
        if placed.iter().any(|part| part.primitive.attributes.contains_key(attribute)) {
            return Ok(());
        }
        // Nodes may share meshes.
        let primitives: BTreeMap<*const Primitive, _> =
            placed.iter().map(|part| (std::ptr::from_ref(part.primitive), part.primitive)).collect();
        let known: BTreeSet<&str> =
            primitives.values().flat_map(|own| own.attributes.keys()).map(String::as_str).collect();
        let known: Vec<&str> = known.into_iter().collect();
        Err(format!("no vertex has the attribute {attribute:?}; there are {}", json::listed(&known)))
    }

    /// Adds the vertices and triangles of a primitive.
    fn append(
        &self,
        mesh: &mut GltfMesh,
        part: &Placed<'_>,
        requests: &[Option<MapRequest>; MAPS],
    ) -> Result<(), String> {
        let attribute = |name: &str| part.primitive.attributes.get(name).copied();
        let first = mesh.positions.len() as u32;
        let positions = self.vectors(attribute("POSITION").unwrap_or_default(), "POSITION", 3)?;
        let count = positions.len() / 3;
        for (vertex, position) in positions.chunks_exact(3).enumerate() {
            let local = DVec3::new(position[0].into(), position[1].into(), position[2].into());
            let place: [f32; 3] = part.transform.transform_point3(local).as_vec3().into();
            if !place.iter().all(|value| value.is_finite()) {
                return Err(format!("vertex {vertex} has the position {place:?}, which is not finite"));
            }
            mesh.positions.push(place);
        }
        let triangles = self.triangles(part.primitive, count, part.transform)?;
        mesh.triangles.extend(triangles.iter().map(|triangle| triangle.map(|vertex| first + vertex)));
        let base = mesh.texture.coordinates.len() as u32;
        let texture = attribute("TEXCOORD_0");
        if let Some(index) = texture {
            let coordinates = self.values_of(index, "TEXCOORD_0", count, 2)?;
            // The origin of glTF is the upper left corner of the picture, that of OBJ and USD the lower left one.
            mesh.texture.coordinates.extend(coordinates.chunks_exact(2).map(|uv| [uv[0], 1.0 - uv[1]]));
        }
        let corners = triangles.iter().map(|corners| texture.map(|_| corners.map(|corner| base + corner)));
        mesh.texture.triangles.extend(corners);
        for (map, request) in mesh.maps.iter_mut().zip(requests) {
            if let Some(request) = request {
                map.extend(self.map(part.primitive, request, count)?);
            }
        }
        Ok(())
    }

    /// The values of a map at the vertices of a primitive.
    fn map(&self, primitive: &Primitive, request: &MapRequest, count: usize) -> Result<Vec<f32>, String> {
        let (attribute, component) = channel(&request.name);
        let Some(&index) = primitive.attributes.get(attribute) else { return Ok(vec![request.default; count]) };
        let (width, values) = self.numbers(index)?;
        if component >= width {
            return Err(format!("{attribute} has {width} components, so {:?} does not exist", request.name));
        }
        if values.len() != width * count {
            return Err(format!("{attribute} has {} values for {count} vertices", values.len() / width));
        }
        let values: Vec<f32> = values.chunks_exact(width).map(|value| value[component]).collect();
        match values.iter().position(|value| !value.is_finite()) {
            Some(vertex) => Err(format!("{attribute} of vertex {vertex} is {}, which is not finite", values[vertex])),
            None => Ok(values),
        }
    }
}

/// Splits `COLOR_0.g` into the attribute and the number of its component.
fn channel(name: &str) -> (&str, usize) {
    let split = name.rsplit_once('.').and_then(|(attribute, channel)| {
        let place = ["r", "g", "b", "a"].iter().position(|known| *known == channel);
        place
            .or_else(|| ["x", "y", "z", "w"].iter().position(|known| *known == channel))
            .map(|place| (attribute, place))
    });
    split.unwrap_or((name, 0))
}
