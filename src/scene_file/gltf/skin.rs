//! Skinned meshes of a glTF file.

use super::json::{Primitive, name};
use super::rig::Rig;
use super::{Gltf, MAX_PLACED, MODES, TRIANGLES, nodes};
use crate::geometry::vector::length;
use crate::scene::{JointWeights, SkinnedMesh};
use crate::scene_file::Limits;
use glam::{DMat4, DVec3, Vec3};

/// The vertex attributes of joints and weights.
const SETS: [[&str; 2]; 2] = [["JOINTS_0", "WEIGHTS_0"], ["JOINTS_1", "WEIGHTS_1"]];

impl Gltf {
    /// The skinned meshes of the scene, or of the named node and those below it, as one mesh in its bind pose, and their
    /// joints.
    pub fn character(&self, node: Option<&str>, limits: &Limits) -> Result<(SkinnedMesh, Rig), String> {
        let document = &self.document;
        let mut parts: Vec<(String, &Primitive)> = Vec::new();
        let mut skin = None;
        for (index, _) in nodes::world(document, node)? {
            let own = &document.nodes[index];
            let (Some(mesh), Some(of_node)) = (own.mesh, own.skin) else { continue };
            let label = name("node", index, &own.name);
            if *skin.get_or_insert(of_node) != of_node {
                return Err(format!("{label} has another skin than the nodes before it; name one of the nodes"));
            }
            let count = document.meshes.len();
            let of_mesh = document.meshes.get(mesh as usize);
            let of_mesh = of_mesh.ok_or_else(|| format!("{label} has mesh {mesh}, but {count} exist"))?;
            if parts.len() + of_mesh.primitives.len() > MAX_PLACED {
                return Err(format!("its nodes have more than {MAX_PLACED} primitives"));
            }
            let mesh_name = name("mesh", mesh as usize, &of_mesh.name);
            let primitives = of_mesh.primitives.iter().enumerate();
            parts.extend(primitives.map(|(number, own)| (format!("{label}, primitive {number} of {mesh_name}"), own)));
        }
        let Some(skin) = skin else {
            let of = node.map_or("the scene".into(), |name| format!("the node {name:?}"));
            return Err(format!("{of} has no mesh with a skin"));
        };
        let (mut vertices, mut indices) = (0u64, 0u64);
        for (label, primitive) in &parts {
            let own = self.sizes(primitive).map_err(|error| format!("{label}: {error}"))?;
            (vertices, indices) = (vertices.saturating_add(own[0]), indices.saturating_add(own[1]));
        }
        for (what, count, limit) in
            [("vertices", vertices, limits.particles), ("triangles", indices / 3, limits.elements)]
        {
            if count > limit {
                return Err(format!("its skinned meshes have {count} {what}, more than the limit of {limit}"));
            }
        }
        let rig = Rig::read(self, skin)?;
        let mut mesh = SkinnedMesh::default();
        for (label, primitive) in parts {
            self.add_skinned(&mut mesh, primitive, &rig).map_err(|error| format!("{label}: {error}"))?;
        }
        if mesh.triangles.is_empty() {
            return Err("its skinned meshes have no triangles".into());
        }
        Ok((mesh, rig))
    }

    /// Adds a primitive.
    fn add_skinned(&self, mesh: &mut SkinnedMesh, part: &Primitive, rig: &Rig) -> Result<(), String> {
        let mode = part.mode.unwrap_or(TRIANGLES);
        if mode != TRIANGLES {
            let mode = MODES.get(mode as usize).copied().unwrap_or("an unknown mode");
            return Err(format!("it has {mode}; only triangles are read"));
        }
        let attribute = |name: &str| part.attributes.get(name).copied();
        let position = attribute("POSITION").ok_or("it has no attribute POSITION")?;
        let count = self.accessor(position)?.count as usize;
        let to_bind = rig.to_bind();
        let place = |v: &[f32]| DVec3::new(v[0].into(), v[1].into(), v[2].into());
        let positions = self.values_of(position, "POSITION", count, 3)?;
        let positions: Vec<[f32; 3]> =
            positions.chunks_exact(3).map(|v| to_bind.transform_point3(place(v)).as_vec3().into()).collect();
        let triangles = self.triangles(part, count, to_bind)?;
        let first = mesh.positions.len() as u32;
        let normals = match attribute("NORMAL") {
            Some(index) => self.normals(index, count, to_bind)?,
            None => normals_of(&positions, &triangles),
        };
        mesh.weights.extend(self.weights(part, count, rig.joint_count())?);
        mesh.triangles.extend(triangles.iter().map(|corners| corners.map(|corner| first + corner)));
        mesh.normals.extend(normals);
        mesh.positions.extend(positions);
        Ok(())
    }

    fn normals(&self, index: u32, count: usize, to_bind: DMat4) -> Result<Vec<[f32; 3]>, String> {
        let normals = self.values_of(index, "NORMAL", count, 3)?;
        let turned = |v: &[f32]| {
            let normal = to_bind.transform_vector3(DVec3::new(v[0].into(), v[1].into(), v[2].into()));
            normal.normalize_or_zero().as_vec3().into()
        };
        Ok(normals.chunks_exact(3).map(turned).collect())
    }

    /// The four largest weights of each vertex.
    fn weights(&self, part: &Primitive, count: usize, joint_count: usize) -> Result<Vec<JointWeights>, String> {
        let mut all: Vec<Vec<(u32, f32)>> = vec![Vec::with_capacity(4); count];
        for [joints_name, weights_name] in SETS {
            let attribute = |name: &str| part.attributes.get(name).copied();
            let (joints, weights) = match (attribute(joints_name), attribute(weights_name)) {
                (Some(joints), Some(weights)) => (joints, weights),
                (None, None) if joints_name != "JOINTS_0" => continue,
                (None, _) => return Err(format!("it has no attribute {joints_name}")),
                (_, None) => return Err(format!("it has no attribute {weights_name}")),
            };
            let joints = self.integers(joints, joints_name, count, 4)?;
            let weights = self.values_of(weights, weights_name, count, 4)?;
            for (place, (&joint, &weight)) in joints.iter().zip(&weights).enumerate() {
                let vertex = place / 4;
                if joint as usize >= joint_count && weight != 0.0 {
                    return Err(format!("vertex {vertex} names joint {joint}, but {joint_count} exist"));
                }
                if weight > 0.0 {
                    all[vertex].push((joint, weight));
                } else if weight < 0.0 {
                    return Err(format!("{weights_name} of vertex {vertex} is {weight}, which is negative"));
                }
            }
        }
        let largest = |(vertex, weights): (usize, &Vec<(u32, f32)>)| {
            JointWeights::largest(weights).map_err(|_| format!("the weights of vertex {vertex} are all 0"))
        };
        all.iter().enumerate().map(largest).collect()
    }
}

/// Area-weighted normals of the vertices.
fn normals_of(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Vec<[f32; 3]> {
    let at = |vertex: u32| Vec3::from(positions[vertex as usize]);
    let mut sums = vec![Vec3::ZERO; positions.len()];
    for corners @ &[a, b, c] in triangles {
        let normal = (at(b) - at(a)).cross(at(c) - at(a));
        corners.iter().for_each(|&corner| sums[corner as usize] += normal);
    }
    sums.into_iter().map(|sum| (sum / length(sum).max(f32::MIN_POSITIVE)).into()).collect()
}
