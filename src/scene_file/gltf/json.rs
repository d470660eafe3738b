//! The fields of a glTF document that describe meshes; others are skipped.

use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    pub asset: Asset,
    #[serde(default)]
    pub extensions_required: Vec<String>,
    pub scene: Option<u32>,
    #[serde(default)]
    pub scenes: Vec<Scene>,
    #[serde(default)]
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub meshes: Vec<Mesh>,
    #[serde(default)]
    pub accessors: Vec<Accessor>,
    #[serde(default)]
    pub buffer_views: Vec<BufferView>,
    #[serde(default)]
    pub buffers: Vec<Buffer>,
    #[serde(default)]
    pub skins: Vec<Skin>,
    #[serde(default)]
    pub animations: Vec<Animation>,
}

#[derive(Deserialize)]
pub struct Asset {
    pub version: String,
}

#[derive(Deserialize)]
pub struct Scene {
    #[serde(default)]
    pub nodes: Vec<u32>,
}

#[derive(Deserialize)]
pub struct Node {
    pub name: Option<String>,
    #[serde(default)]
    pub children: Vec<u32>,
    pub mesh: Option<u32>,
    pub skin: Option<u32>,
    /// Column by column.
    pub matrix: Option<[f64; 16]>,
    pub translation: Option<[f64; 3]>,
    /// The quaternion x, y, z, w.
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
}

#[derive(Deserialize)]
pub struct Mesh {
    pub name: Option<String>,
    pub primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
pub struct Primitive {
    pub attributes: BTreeMap<String, u32>,
    pub indices: Option<u32>,
    pub mode: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accessor {
    pub buffer_view: Option<u32>,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
    #[serde(default)]
    pub normalized: bool,
    pub count: u64,
    #[serde(rename = "type")]
    pub shape: String,
    pub sparse: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BufferView {
    pub buffer: u32,
    #[serde(default)]
    pub byte_offset: u64,
    pub byte_length: u64,
    pub byte_stride: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Buffer {
    pub uri: Option<String>,
    pub byte_length: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Skin {
    pub name: Option<String>,
    /// Nodes.
    pub joints: Vec<u32>,
    /// Accessor.
    pub inverse_bind_matrices: Option<u32>,
}

#[derive(Deserialize)]
pub struct Animation {
    pub name: Option<String>,
    pub channels: Vec<Channel>,
    pub samplers: Vec<Sampler>,
}

#[derive(Deserialize)]
pub struct Channel {
    pub sampler: u32,
    pub target: Target,
}

#[derive(Deserialize)]
pub struct Target {
    pub node: Option<u32>,
    pub path: String,
}

#[derive(Deserialize)]
pub struct Sampler {
    /// Accessor of the times.
    pub input: u32,
    /// Accessor of the values.
    pub output: u32,
    pub interpolation: Option<String>,
}

/// The name of an object for errors: `node 3 "sleeve"`.
pub fn name(sort: &str, index: usize, name: &Option<String>) -> String {
    name.as_ref().map_or_else(|| format!("{sort} {index}"), |name| format!("{sort} {index} {name:?}"))
}

/// The first names of a list for errors; `none` for an empty one.
pub fn listed(names: &[&str]) -> String {
    const MOST: usize = 20;
    if names.is_empty() {
        return "none".to_owned();
    }
    let more = if names.len() > MOST { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(MOST)].join(", "))
}
