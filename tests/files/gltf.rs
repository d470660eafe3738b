//! Meshes from glTF files: transforms, seams, maps, buffers, errors.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use supple::ContactScale;
use supple::scene_file::{Limits, SceneFile};

/// A glTF document under construction.
pub struct Builder {
    pub document: Value,
    pub bytes: Vec<u8>,
}

/// The code of a component type.
const F32: u32 = 5126;
pub const U8: u32 = 5121;
const U16: u32 = 5123;
const U32: u32 = 5125;

impl Builder {
    pub fn new() -> Self {
        let document = json!({ "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [] }], "nodes": [],
            "meshes": [], "accessors": [], "bufferViews": [], "buffers": [] });
        Self { document, bytes: Vec::new() }
    }

    pub fn list(&mut self, name: &str, value: Value) -> usize {
        let list = self.document[name].as_array_mut().unwrap();
        list.push(value);
        list.len() - 1
    }

    pub fn accessor(&mut self, code: u32, shape: &str, count: usize, bytes: &[u8]) -> usize {
        let view = json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let view = self.list("bufferViews", view);
        let accessor = json!({ "bufferView": view, "componentType": code, "count": count, "type": shape });
        self.list("accessors", accessor)
    }

    pub fn floats<const N: usize>(&mut self, values: &[[f32; N]]) -> usize {
        let bytes: Vec<u8> = values.as_flattened().iter().flat_map(|value| value.to_le_bytes()).collect();
        self.accessor(
            F32,
            if N == 16 { "MAT4" } else { ["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1] },
            values.len(),
            &bytes,
        )
    }

    /// Adds a mesh of one primitive and returns its number.
    pub fn mesh(&mut self, attributes: Value, indices: &[u16]) -> usize {
        let bytes: Vec<u8> = indices.iter().flat_map(|index| index.to_le_bytes()).collect();
        let indices = self.accessor(U16, "SCALAR", indices.len(), &bytes);
        self.list("meshes", json!({ "primitives": [{ "attributes": attributes, "indices": indices }] }))
    }

    /// Adds a node; a root of the scene if `is_root`.
    pub fn node(&mut self, node: Value, is_root: bool) -> usize {
        let index = self.list("nodes", node);
        if is_root {
            self.document["scenes"][0]["nodes"].as_array_mut().unwrap().push(index.into());
        }
        index
    }

    pub fn glb(mut self) -> Vec<u8> {
        self.list("buffers", json!({ "byteLength": self.bytes.len() }));
        let mut text = self.document.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut glb = b"glTF\x02\0\0\0".to_vec();
        glb.extend((12 + 8 + text.len() as u32 + 8 + self.bytes.len() as u32).to_le_bytes());
        for (chunk, sort) in [(&text, b"JSON"), (&self.bytes, b"BIN\0")] {
            glb.extend((chunk.len() as u32).to_le_bytes());
            glb.extend(sort);
            glb.extend(chunk);
        }
        glb
    }
}

/// Two triangles of a unit square in the plane z = 0.
pub const SQUARE: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
pub const CORNERS: [u16; 6] = [0, 1, 2, 0, 2, 3];

/// A file with a square at the origin.
pub fn square() -> Builder {
    let mut file = Builder::new();
    let position = file.floats(&SQUARE);
    let mesh = file.mesh(json!({ "POSITION": position }), &CORNERS);
    file.node(json!({ "name": "square", "mesh": mesh }), true);
    file
}

pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gltf").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Reads a scene with a cloth of the file and further fields of its mesh; `fields` starts with a comma.
pub fn read(name: &str, glb: &[u8], fields: &str) -> Result<SceneFile, String> {
    let folder = folder(name);
    std::fs::write(folder.join("mesh.glb"), glb).unwrap();
    scene(&folder, &format!(r#""gltf": "mesh.glb"{fields}"#))
}

pub fn scene(folder: &Path, mesh: &str) -> Result<SceneFile, String> {
    let text = format!(r#"{{"version": 1, "parts": [{{"cloth_mesh": {{"mesh": {{{mesh}}}}}}}]}}"#);
    SceneFile::parse(&text, Some(folder)).map_err(|error| error.to_string())
}

#[test]
fn node_transforms_apply_from_the_root_and_mirrors_are_turned() {
    let mut file = Builder::new();
    let position = file.floats(&SQUARE);
    let mesh = file.mesh(json!({ "POSITION": position }), &CORNERS);
    let half = 0.5f32.sqrt();
    // A quarter turn about z, below a translation and an uneven scale.
    let turned = file.node(json!({ "mesh": mesh, "rotation": [0, 0, half, half], "translation": [0, 0, 3] }), false);
    file.node(json!({ "children": [turned], "translation": [10, 0, 0], "scale": [2, 3, 4] }), true);
    // A mirror image by a matrix, column by column.
    let matrix = [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -5, 0, 0, 1];
    file.node(json!({ "mesh": mesh, "matrix": matrix }), true);
    let file = read("transforms", &file.glb(), "").unwrap();
    let expected = [
        [10.0, 0.0, 12.0],
        [10.0, 3.0, 12.0],
        [8.0, 3.0, 12.0],
        [8.0, 0.0, 12.0],
        [-5.0, 0.0, 0.0],
        [-6.0, 0.0, 0.0],
        [-6.0, 1.0, 0.0],
        [-5.0, 1.0, 0.0],
    ];
    for (position, expected) in file.scene.positions().iter().zip(expected) {
        assert!((0..3).all(|axis| (position[axis] - expected[axis] as f32).abs() < 1e-5), "{position:?}, {expected:?}");
    }
    assert_eq!(file.scene.positions().len(), 8);
    assert_eq!(file.scene.triangles(), [[0, 1, 2], [0, 2, 3], [4, 6, 5], [4, 7, 6]]);
}

#[test]
fn a_node_selects_its_meshes_and_those_below_it() {
    let build = || {
        let mut file = Builder::new();
        let position = file.floats(&SQUARE);
        let mesh = file.mesh(json!({ "POSITION": position }), &CORNERS);
        let sleeve = file.node(json!({ "name": "sleeve", "mesh": mesh, "translation": [0, 0, 1] }), false);
        file.node(json!({ "name": "coat", "mesh": mesh, "children": [sleeve] }), true);
        file.node(json!({ "name": "hat", "mesh": mesh, "translation": [0, 0, 5] }), true);
        file.glb()
    };
    let count = |node: &str| read("nodes", &build(), node).unwrap().scene.particle_count();
    assert_eq!((count(""), count(r#", "node": "coat""#), count(r#", "node": "sleeve""#)), (12, 8, 4));
    let error = read("nodes", &build(), r#", "node": "shoe""#).unwrap_err();
    assert!(error.contains("parts[0].cloth_mesh.mesh.gltf: mesh.glb: no node is named \"shoe\""), "{error}");
    assert!(error.contains("sleeve, coat, hat"), "{error}");
    let mut nameless = Builder::new();
    let position = nameless.floats(&SQUARE);
    let mesh = nameless.mesh(json!({ "POSITION": position }), &CORNERS);
    nameless.node(json!({ "mesh": mesh }), true);
    let error = read("nodes", &nameless.glb(), r#", "node": "shoe""#).unwrap_err();
    assert!(error.ends_with("there are none"), "{error}");
}

#[test]
fn a_flat_node_without_a_mesh_of_its_own_is_no_error() {
    let mut file = square();
    file.node(json!({ "name": "hidden", "scale": [0, 0, 0] }), true);
    assert_eq!(read("hidden", &file.glb(), "").unwrap().scene.particle_count(), 4);
}

#[test]
fn seams_are_welded_and_texture_coordinates_start_below() {
    // The second triangle has vertices of its own on the diagonal, as exporters write them along a texture seam.
    let mut file = Builder::new();
    let [a, b, c, d] = SQUARE;
    let position = file.floats(&[a, b, c, a, c, d]);
    let texture = file.floats(&[[0.0, 1.0], [0.5, 1.0], [0.5, 0.0], [0.5, 0.75], [1.0, 0.25], [0.5, 0.25]]);
    let mesh = file.mesh(json!({ "POSITION": position, "TEXCOORD_0": texture }), &[0, 1, 2, 3, 4, 5]);
    file.node(json!({ "mesh": mesh }), true);
    let file = read("seams", &file.glb(), "").unwrap();
    let part = &file.parts[0];
    assert_eq!((file.scene.particle_count(), &part.vertex_particles[..]), (4, &[0, 1, 2, 0, 2, 3][..]));
    assert_eq!(part.texture.coordinates[..3], [[0.0, 0.0], [0.5, 0.0], [0.5, 1.0]]);
    assert_eq!(part.texture.triangles, [Some([0, 1, 2]), Some([3, 4, 5])]);
    assert!(file.hints.is_empty());
}

#[test]
fn maps_pin_vertices_and_scale_their_thickness() {
    let build = || {
        let mut file = Builder::new();
        let position = file.floats(&SQUARE);
        let pin = file.floats(&[[0.0], [0.49], [0.5], [1.0]]);
        let color: Vec<u8> = [[255, 255, 0, 255], [0, 51, 0, 255], [0, 102, 0, 255], [255, 204, 0, 255]].concat();
        let color = file.accessor(U8, "VEC4", 4, &color);
        file.document["accessors"][color]["normalized"] = true.into();
        let attributes = json!({ "POSITION": position, "_PIN": pin, "COLOR_0": color });
        let mesh = file.mesh(attributes, &CORNERS);
        file.node(json!({ "name": "painted", "mesh": mesh }), true);
        // A mesh without the attributes: nothing is pinned, and the thickness is whole.
        let plain = file.mesh(json!({ "POSITION": position }), &CORNERS);
        file.node(json!({ "mesh": plain, "translation": [3, 0, 0] }), true);
        file.glb()
    };
    let file = read("maps", &build(), r#", "pin_map": "_PIN", "thickness_map": "COLOR_0.g""#).unwrap();
    assert_eq!(file.scene.pinned_particles().collect::<Vec<_>>(), [2, 3]);
    let scales = (0..8).map(|particle| file.scene.contact_scale(particle).unwrap().thickness);
    for (scale, expected) in scales.zip([1.0, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0, 1.0]) {
        assert!((scale - expected).abs() < 0.01, "{scale} instead of {expected}");
    }
    let red = read("maps", &build(), r#", "pin_map": "COLOR_0.r""#).unwrap();
    assert_eq!(red.scene.pinned_particles().collect::<Vec<_>>(), [0, 3]);
    assert_eq!(red.scene.contact_scale(1).unwrap(), ContactScale::default());
    for (fields, words) in [
        (r#", "pin_map": "_PINS""#, &["\"_PINS\"", "COLOR_0, POSITION, _PIN"][..]),
        (r#", "pin_map": "_PIN.g""#, &["_PIN has 1 components", "\"_PIN.g\""]),
        (r#", "thickness_map": "_PIN""#, &["thickness_map", "0"]),
    ] {
        let error = read("maps", &build(), fields).unwrap_err();
        assert!(words.iter().all(|word| error.contains(word)), "{fields}: {error}");
    }
}

#[test]
fn buffers_are_read_from_files_data_uris_and_with_strides() {
    let folder = folder("buffers");
    // Positions interleaved with 4 other bytes, indices of 32 bits.
    let mut bytes: Vec<u8> = Vec::new();
    for position in SQUARE {
        bytes.extend(position.iter().flat_map(|value| value.to_le_bytes()));
        bytes.extend([9; 4]);
    }
    bytes.extend(CORNERS.iter().flat_map(|&index| u32::from(index).to_le_bytes()));
    let document = |uri: &str| {
        json!({ "asset": { "version": "2.0" }, "nodes": [{ "mesh": 0 }],
            "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1 }] }],
            "buffers": [{ "uri": uri, "byteLength": 88 }],
            "bufferViews": [{ "buffer": 0, "byteLength": 64, "byteStride": 16 }, { "buffer": 0, "byteOffset": 64, "byteLength": 24 }],
            "accessors": [{ "bufferView": 0, "componentType": F32, "count": 4, "type": "VEC3" },
                { "bufferView": 1, "componentType": U32, "count": 6, "type": "SCALAR" }] })
    };
    std::fs::write(folder.join("my mesh.bin"), &bytes).unwrap();
    let data = format!("data:application/octet-stream;base64,{}", base64(&bytes));
    for uri in ["my%20mesh.bin", &data] {
        std::fs::write(folder.join("mesh.gltf"), document(uri).to_string()).unwrap();
        let file = scene(&folder, r#""gltf": "mesh.gltf""#).unwrap();
        assert_eq!((file.scene.positions(), file.scene.triangles()), (&SQUARE[..], &[[0, 1, 2], [0, 2, 3]][..]));
    }
    for (uri, words) in [
        ("none.bin", &["cannot read", "none.bin"][..]),
        ("/etc/hostname", &["/etc/hostname", "relative"]),
        ("data:;base64,AAAA", &["buffer 0 has 3 bytes and should have 88"]),
        ("data:;base64,A*AA", &["buffer 0", "character 1", "'*'"]),
    ] {
        std::fs::write(folder.join("mesh.gltf"), document(uri).to_string()).unwrap();
        let error = scene(&folder, r#""gltf": "mesh.gltf""#).unwrap_err();
        assert!(words.iter().all(|word| error.contains(word)), "{uri}: {error}");
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |bytes: &[u8]| {
        let word = (0..3).fold(0u32, |word, place| word << 8 | u32::from(bytes.get(place).copied().unwrap_or(0)));
        let letter = move |place: usize| char::from(LETTERS[(word >> (18 - 6 * place)) as usize & 63]);
        (0..4).map(move |place| if place <= bytes.len() { letter(place) } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

#[test]
fn invalid_files_are_refused_with_the_object_at_fault() {
    type Change = fn(&mut Builder);
    let cases: [(Change, &[&str]); 17] = [
        (|it| it.document["nodes"] = json!([{ "name": "empty" }]), &["the scene has no meshes"]),
        (|it| it.document["asset"]["version"] = "1.0".into(), &["version \"1.0\""]),
        (
            |it| it.document["meshes"][0]["primitives"][0]["mode"] = 1.into(),
            &["node 0 \"square\", primitive 0", "lines"],
        ),
        (|it| it.document["meshes"][0]["primitives"][0]["mode"] = 5.into(), &["triangle strip"]),
        (|it| it.document["nodes"][0]["children"] = json!([0]), &["node 0 \"square\"", "reached twice"]),
        (|it| it.document["nodes"][0]["children"] = json!([7]), &["node 7", "1 exist"]),
        (|it| it.document["nodes"][0]["scale"] = json!([1, 0, 1]), &["node 0 \"square\"", "determinant 0"]),
        (|it| it.document["nodes"][0]["rotation"] = json!([0, 0, 0, 2]), &["rotation of length 2"]),
        (|it| it.document["nodes"][0]["skin"] = 0.into(), &["node 0 \"square\" has a skin"]),
        (|it| it.document["nodes"][0]["mesh"] = 3.into(), &["mesh 3", "1 exist"]),
        (|it| it.document["accessors"][0]["count"] = 4_000_000_000u64.into(), &["particles of the scene"]),
        (|it| it.document["accessors"][0]["count"] = 5.into(), &["accessor 0 ends at byte 60 of view 0 of 48 bytes"]),
        (|it| it.document["accessors"][0]["type"] = "VEC2".into(), &["POSITION has 2 components instead of 3"]),
        (|it| it.document["accessors"][1]["componentType"] = 5122.into(), &["no indices"]),
        (|it| it.document["bufferViews"][1]["byteStride"] = 0.into(), &["stride of 0 bytes"]),
        (
            |it| it.document["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]),
            &["KHR_draco_mesh_compression"],
        ),
        (|it| it.bytes[..4].copy_from_slice(&f32::NAN.to_le_bytes()), &["vertex 0", "NaN", "not finite"]),
    ];
    for (change, words) in cases {
        let mut file = square();
        change(&mut file);
        let error = read("invalid", &file.glb(), "").unwrap_err();
        let place = "parts[0].cloth_mesh.mesh.gltf: ";
        assert!(error.starts_with(place) && words.iter().all(|word| error.contains(word)), "{words:?}: {error}");
    }
    let mut no_binary = square().glb();
    no_binary.truncate(no_binary.len() - 1);
    assert!(read("invalid", &no_binary, "").unwrap_err().contains("not complete"));
    let error = scene(&folder("invalid"), r#""obj": "x.obj", "node": "coat""#).unwrap_err();
    assert!(error.contains("node needs gltf"), "{error}");
}

#[test]
fn shared_meshes_are_counted_before_memory_is_allocated() {
    let folder = folder("small");
    let mut file = Builder::new();
    let position = file.floats(&SQUARE);
    let mesh = file.mesh(json!({ "POSITION": position }), &CORNERS);
    for _ in 0..5_000 {
        file.node(json!({ "mesh": mesh }), true);
    }
    std::fs::write(folder.join("mesh.glb"), file.glb()).unwrap();
    let text = r#"{"version": 1, "parts": [{"cloth_mesh": {"mesh": {"gltf": "mesh.glb"}}}]}"#;
    let error = SceneFile::parse_within(text, Some(&folder), &Limits::small()).unwrap_err().to_string();
    assert!(error.contains("particles of the scene") && error.contains("20000"), "{error}");
}

#[test]
fn colliders_and_balloons_are_read_from_a_gltf() {
    let folder = folder("solids");
    let mut file = Builder::new();
    let position = file.floats(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let pin = file.floats(&[[1.0], [0.0], [0.0], [0.0]]);
    let attributes = json!({ "POSITION": position, "_PIN": pin });
    let mesh = file.mesh(attributes, &[0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]);
    file.node(json!({ "name": "solid", "mesh": mesh }), true);
    std::fs::write(folder.join("mesh.glb"), file.glb()).unwrap();
    let text = r#"{"version": 1, "parts": [{"balloon": {"mesh": {"gltf": "mesh.glb", "pin_map": "_PIN"}}}],
        "colliders": [{"shape": {"mesh": {"gltf": "mesh.glb", "node": "solid", "translate": [5, 0, 0], "cell": 0.1}}}]}"#;
    let file = SceneFile::parse(text, Some(&folder)).unwrap();
    assert_eq!((file.scene.colliders().len(), file.scene.pinned_particles().collect::<Vec<_>>()), (1, vec![0]));
    let text = r#"{"version": 1, "parts": [{"soft_body": {"mesh": {"gltf": "mesh.glb", "pin_map": "_PIN"}, "spacing": 0.5,
        "density": 100, "elasticity": {"rigid": {}}}}]}"#;
    let error = SceneFile::parse(text, Some(&folder)).unwrap_err().to_string();
    assert!(error.contains("parts[0].soft_body.mesh") && error.contains("pin_map"), "{error}");
}

#[test]
fn damaged_files_never_panic() {
    let whole = square().glb();
    let folder = folder("damaged");
    let mut state = 1u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let text = r#"{"version": 1, "parts": [{"cloth_mesh": {"mesh": {"gltf": "mesh.glb"}}}]}"#;
    let mut refused = 0;
    for _ in 0..500 {
        let mut bytes = whole.clone();
        for _ in 0..1 + random(3) {
            let place = random(bytes.len());
            // Digits stay digits half of the time, so that numbers of objects change.
            let is_digit = bytes[place].is_ascii_digit() && random(2) == 0;
            bytes[place] = if is_digit { b'0' + random(10) as u8 } else { random(256) as u8 };
        }
        if random(4) == 0 {
            bytes.truncate(random(bytes.len()));
        }
        std::fs::write(folder.join("mesh.glb"), &bytes).unwrap();
        refused += usize::from(SceneFile::parse_within(text, Some(&folder), &Limits::small()).is_err());
    }
    assert!(refused > 150, "only {refused} files were refused");
}
