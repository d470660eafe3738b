//! The nodes of a glTF scene and their transforms.

use super::json::{Document, Node, listed, name};
use glam::{DMat4, DQuat, DVec3};

/// The nodes of the scene in depth-first order with their transforms to the scene; if `only` is given, the node of this name
/// and those below it.
pub fn world(document: &Document, only: Option<&str>) -> Result<Vec<(usize, DMat4)>, String> {
    let mut visited = vec![false; document.nodes.len()];
    let mut found = Vec::new();
    let mut matches = 0;
    // Nodes to visit: index, transform of the parent, and whether an ancestor is selected.
    let mut stack: Vec<(u32, DMat4, bool)> = Vec::new();
    stack.extend(roots(document)?.into_iter().rev().map(|root| (root, DMat4::IDENTITY, only.is_none())));
    while let Some((index, parent, is_below)) = stack.pop() {
        let count = document.nodes.len();
        let node =
            document.nodes.get(index as usize).ok_or_else(|| format!("it names node {index}, but {count} exist"))?;
        if std::mem::replace(&mut visited[index as usize], true) {
            let name = name("node", index as usize, &node.name);
            return Err(format!("{name} is reached twice: the nodes have a cycle, or two parents of one child"));
        }
        let transform = parent * local(node, index as usize)?;
        let is_match = node.name.as_deref() == only && only.is_some();
        matches += u32::from(is_match);
        let is_selected = is_below || is_match;
        if is_selected {
            found.push((index as usize, transform));
        }
        stack.extend(node.children.iter().rev().map(|&child| (child, transform, is_selected)));
    }
    match only {
        Some(only) if matches != 1 => Err(wrong_name(document, &visited, only, matches)),
        _ => Ok(found),
    }
}

fn wrong_name(document: &Document, visited: &[bool], only: &str, matches: u32) -> String {
    if matches > 1 {
        return format!("{matches} nodes are named {only:?}");
    }
    let names = document.nodes.iter().zip(visited).filter(|(_, visited)| **visited);
    let names: Vec<&str> = names.filter_map(|(node, _)| node.name.as_deref()).collect();
    format!("no node is named {only:?}; there are {}", listed(&names))
}

/// The root nodes of the default scene, else of the first one; without scenes, the nodes that are no children.
fn roots(document: &Document) -> Result<Vec<u32>, String> {
    let number = document.scene.unwrap_or(0);
    if let Some(scene) = document.scenes.get(number as usize) {
        return Ok(scene.nodes.clone());
    }
    if document.scene.is_some() {
        return Err(format!("its default scene is {number}, but {} exist", document.scenes.len()));
    }
    let mut is_child = vec![false; document.nodes.len()];
    for &child in document.nodes.iter().flat_map(|node| &node.children) {
        if let Some(is_child) = is_child.get_mut(child as usize) {
            *is_child = true;
        }
    }
    let roots: Vec<u32> = (0..).zip(&is_child).filter(|(_, is_child)| !**is_child).map(|(index, _)| index).collect();
    if roots.is_empty() && !is_child.is_empty() {
        return Err("every node is the child of another one: the nodes have a cycle".into());
    }
    Ok(roots)
}

/// The transform of a node to its parent.
fn local(node: &Node, index: usize) -> Result<DMat4, String> {
    let matrix = match &node.matrix {
        Some(matrix) => DMat4::from_cols_array(matrix),
        None => {
            let [scale, translation] = [(node.scale, 1.0), (node.translation, 0.0)]
                .map(|(given, default)| DVec3::from(given.unwrap_or([default; 3])));
            let rotation = node.rotation.map_or(DQuat::IDENTITY, DQuat::from_array);
            let length = rotation.length();
            // Files store rotations as f32.
            if (length - 1.0).abs() > 1e-3 || !length.is_finite() {
                let name = name("node", index, &node.name);
                return Err(format!("{name} has a rotation of length {length}; it must be a unit quaternion"));
            }
            DMat4::from_scale_rotation_translation(scale, rotation.normalize(), translation)
        }
    };
    Ok(matrix)
}

/// An error if a node flattens its meshes or joints: the determinant of its transform to the scene is 0 or not finite. Other
/// nodes, such as hidden ones, may do so.
pub fn check_volume(document: &Document, index: usize, to_scene: &DMat4) -> Result<(), String> {
    let volume = to_scene.determinant();
    if volume == 0.0 || !volume.is_finite() || !to_scene.is_finite() {
        let name = name("node", index, &document.nodes[index].name);
        return Err(format!("{name} has a transform of the determinant {volume}; it must be finite and not 0"));
    }
    Ok(())
}
