//! The joints of a glTF skin: hierarchy, transforms, and their motion by animations.

use super::Gltf;
use super::animation::{Animation, Path};
use super::json::{Document, Node, name};
use super::nodes;
use crate::scene::MAX_JOINTS;
use glam::{DMat4, DQuat, DVec3};

/// The relative difference of scales that counts as uniform.
const UNIFORM: f64 = 1e-3;

/// The transform of a node to its parent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::scene_file) enum Local {
    Parts { translation: DVec3, rotation: DQuat, scale: DVec3 },
    Matrix(DMat4),
}

impl Local {
    fn of(node: &Node) -> Self {
        if let Some(matrix) = &node.matrix {
            return Self::Matrix(DMat4::from_cols_array(matrix));
        }
        let vector = |given: Option<[f64; 3]>, default| DVec3::from(given.unwrap_or([default; 3]));
        let rotation = node.rotation.map_or(DQuat::IDENTITY, DQuat::from_array).normalize();
        Self::Parts { translation: vector(node.translation, 0.0), rotation, scale: vector(node.scale, 1.0) }
    }

    fn matrix(self) -> DMat4 {
        match self {
            Self::Parts { translation, rotation, scale } => {
                DMat4::from_scale_rotation_translation(scale, rotation, translation)
            }
            Self::Matrix(matrix) => matrix,
        }
    }
}

/// A node that is a joint or above one.
#[derive(Debug, Clone)]
struct Bone {
    /// Its index among the bones, before its own.
    parent: Option<usize>,
    local: Local,
}

/// The joints of a skin and the nodes above them.
struct Bones {
    /// Parents first.
    bones: Vec<Bone>,
    /// By joint, its index in `bones`.
    joints: Vec<usize>,
    /// By node of the file, its index in `bones`.
    places: Vec<Option<usize>>,
}

/// The joints of a skin.
#[derive(Debug, Clone)]
pub(in crate::scene_file) struct Rig {
    /// Parents first.
    bones: Vec<Bone>,
    /// By joint, its index in `bones`.
    joints: Vec<usize>,
    inverse_binds: Vec<DMat4>,
    /// From the space of the mesh to the bind pose: that of the first joint at rest.
    to_bind: DMat4,
    names: Vec<String>,
    pub animations: Vec<Animation>,
}

impl Rig {
    /// Reads a skin and all animations of its joints.
    pub fn read(gltf: &Gltf, number: u32) -> Result<Self, String> {
        let document = &gltf.document;
        let skins = &document.skins;
        let skin = skins.get(number as usize);
        let skin = skin.ok_or_else(|| format!("it names skin {number}, but {} exist", skins.len()))?;
        let skin_name = name("skin", number as usize, &skin.name);
        if skin.joints.is_empty() {
            return Err(format!("{skin_name} has no joints"));
        }
        if skin.joints.len() > MAX_JOINTS as usize {
            return Err(format!("{skin_name} has {} joints, more than the limit of {MAX_JOINTS}", skin.joints.len()));
        }
        let Bones { bones, joints, places } =
            Bones::of(document, &skin.joints).map_err(|error| format!("{skin_name}: {error}"))?;
        let inverse_binds = match skin.inverse_bind_matrices {
            Some(index) => matrices(gltf, index, joints.len()).map_err(|error| format!("{skin_name}: {error}"))?,
            None => vec![DMat4::IDENTITY; joints.len()],
        };
        let label = |node: &u32| {
            document
                .nodes
                .get(*node as usize)
                .and_then(|node| node.name.clone())
                .unwrap_or_else(|| format!("node {node}"))
        };
        let names = skin.joints.iter().map(label).collect();
        let (to_bind, animations) = (DMat4::IDENTITY, Vec::new());
        let mut rig = Self { bones, joints, inverse_binds, to_bind, names, animations };
        rig.to_bind = rig.matrices(None, 0.0)[0];
        let volume = rig.to_bind.determinant();
        if volume == 0.0 || !volume.is_finite() {
            return Err(format!("{skin_name}: its first joint at rest has a transform of the determinant {volume}"));
        }
        rig.animations = Animation::read_all(gltf, &places)?;
        Ok(rig)
    }

    /// The transform of positions of the mesh to the bind pose.
    pub fn to_bind(&self) -> DMat4 {
        self.to_bind
    }

    pub fn joint_count(&self) -> usize {
        self.joints.len()
    }

    /// The names of the joints, and for each joint the nearest joint above it.
    pub fn joints(&self) -> Vec<(&str, Option<u32>)> {
        let mut own: Vec<Option<u32>> = vec![None; self.bones.len()];
        (0..).zip(&self.joints).for_each(|(joint, &bone)| own[bone] = Some(joint));
        // By bone, the nearest joint above it.
        let mut above: Vec<Option<u32>> = Vec::with_capacity(self.bones.len());
        for bone in &self.bones {
            above.push(bone.parent.and_then(|parent| own[parent].or(above[parent])));
        }
        self.names.iter().map(String::as_str).zip(self.joints.iter().map(|&bone| above[bone])).collect()
    }

    /// The matrix of each joint from the bind pose to the scene, at rest or at a time \[s\] of an animation.
    pub fn pose(&self, animation: Option<usize>, time: f64) -> Vec<DMat4> {
        let from_bind = self.to_bind.inverse();
        self.matrices(animation, time).into_iter().map(|matrix| matrix * from_bind).collect()
    }

    /// The same from the space of the mesh.
    fn matrices(&self, animation: Option<usize>, time: f64) -> Vec<DMat4> {
        let mut locals: Vec<Local> = self.bones.iter().map(|bone| bone.local).collect();
        for channel in animation.and_then(|index| self.animations.get(index)).iter().flat_map(|own| &own.channels) {
            if let Local::Parts { translation, rotation, scale } = &mut locals[channel.bone] {
                let [x, y, z, w] = channel.at(time);
                match channel.path {
                    Path::Translation => *translation = DVec3::new(x, y, z),
                    Path::Rotation => *rotation = DQuat::from_xyzw(x, y, z, w),
                    Path::Scale => *scale = DVec3::new(x, y, z),
                }
            }
        }
        let mut world: Vec<DMat4> = Vec::with_capacity(self.bones.len());
        for (bone, local) in self.bones.iter().zip(&locals) {
            let own = local.matrix();
            world.push(bone.parent.map_or(own, |parent| world[parent] * own));
        }
        self.joints.iter().zip(&self.inverse_binds).map(|(&bone, inverse)| world[bone] * *inverse).collect()
    }
}

impl Bones {
    fn of(document: &Document, joints: &[u32]) -> Result<Self, String> {
        // Also checks that the nodes are trees.
        let reached = nodes::world(document, None)?;
        let count = document.nodes.len();
        let (mut parents, mut is_reached) = (vec![None; count], vec![false; count]);
        let mut to_scene = vec![DMat4::IDENTITY; count];
        for &(index, transform) in &reached {
            to_scene[index] = transform;
            is_reached[index] = true;
            document.nodes[index].children.iter().for_each(|&child| parents[child as usize] = Some(index));
        }
        let (mut is_joint, mut is_needed) = (vec![false; count], vec![false; count]);
        for (place, &joint) in joints.iter().enumerate() {
            if !is_reached.get(joint as usize).is_some_and(|&is_reached| is_reached) {
                return Err(format!("joint {place} is node {joint}, which is not in the scene"));
            }
            nodes::check_volume(document, joint as usize, &to_scene[joint as usize])?;
            if std::mem::replace(&mut is_joint[joint as usize], true) {
                return Err(format!("joint {place} is node {joint}, as another joint"));
            }
            let mut next = Some(joint as usize);
            while let Some(node) = next.filter(|&node| !is_needed[node]) {
                is_needed[node] = true;
                next = parents[node];
            }
        }
        let mut places = vec![None; count];
        let mut bones = Vec::new();
        for (index, _) in reached.into_iter().filter(|&(index, _)| is_needed[index]) {
            let node = &document.nodes[index];
            let local = Local::of(node);
            check_uniform(local.matrix()).map_err(|scale| non_uniform(&name("node", index, &node.name), scale))?;
            places[index] = Some(bones.len());
            bones.push(Bone { parent: parents[index].and_then(|parent: usize| places[parent]), local });
        }
        let joints = joints.iter().filter_map(|&joint| places[joint as usize]).collect();
        Ok(Self { bones, joints, places })
    }
}

/// The inverse bind matrices of a skin.
fn matrices(gltf: &Gltf, index: u32, count: usize) -> Result<Vec<DMat4>, String> {
    let values = gltf.vectors(index, "inverseBindMatrices", 16)?;
    let matrices: Vec<DMat4> =
        values.as_chunks::<16>().0.iter().map(|values| DMat4::from_cols_array(&values.map(f64::from))).collect();
    if matrices.len() < count {
        return Err(format!("{} inverse bind matrices for {count} joints", matrices.len()));
    }
    for (joint, matrix) in matrices.iter().take(count).enumerate() {
        let volume = matrix.determinant();
        if !matrix.is_finite() || volume == 0.0 || !volume.is_finite() {
            return Err(format!("the inverse bind matrix of joint {joint} has the determinant {volume}"));
        }
        check_uniform(*matrix)
            .map_err(|scale| non_uniform(&format!("the inverse bind matrix of joint {joint}"), scale))?;
    }
    Ok(matrices.into_iter().take(count).collect())
}

/// `Ok` if a matrix is a rotation and a uniform scale; else its scales.
pub(super) fn check_uniform(matrix: DMat4) -> Result<(), [f64; 3]> {
    let axes = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(glam::DVec4::truncate);
    let scale = axes.map(DVec3::length);
    let greatest = scale.into_iter().fold(0.0, f64::max);
    let is_even = scale.iter().all(|own| (greatest - own) <= UNIFORM * greatest);
    let is_straight =
        [(0, 1), (1, 2), (2, 0)].iter().all(|&(a, b)| axes[a].dot(axes[b]).abs() <= UNIFORM * greatest * greatest);
    if is_even && is_straight { Ok(()) } else { Err(scale) }
}

pub(super) fn non_uniform(what: &str, [x, y, z]: [f64; 3]) -> String {
    format!("{what} has the scale {x:.4}, {y:.4}, {z:.4}; joints must be scaled uniformly, without shear")
}
