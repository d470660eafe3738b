//! Bad and unusual glTF meshes and characters: claims of sizes, missing objects, shared data, and content that is skipped.

use crate::characters::Strip;
use crate::gltf::{Builder, CORNERS, SQUARE, U8, folder, read, scene, square};
use glam::Mat4;
use serde_json::{Value, json};
use supple::scene_file::Character;

#[test]
fn meshes_with_false_claims_are_errors_with_the_numbers() {
    type Change = fn(&mut Builder);
    let cases: [(Change, &str); 9] = [
        (
            |it| it.document["buffers"] = json!([{ "byteLength": 2_147_483_648u64 }]),
            "buffer 0 has 60 bytes and should have 2147483648",
        ),
        (
            |it| it.document["bufferViews"][0]["byteLength"] = 2_147_483_648u64.into(),
            "accessor 0 ends at byte 48 of view 0 of 2147483648 bytes at byte 0 of a buffer of 60 bytes",
        ),
        (|it| it.document["bufferViews"][0]["buffer"] = 3.into(), "view 0 names buffer 3, but 1 exist"),
        (
            |it| it.document["bufferViews"][0]["byteOffset"] = u64::MAX.into(),
            "accessor 0 ends at byte 48 of view 0 of 48 bytes at byte 18446744073709551615 of a buffer of 60 bytes",
        ),
        (|it| it.document["accessors"][0]["bufferView"] = 9.into(), "accessor 0 names view 9, but 2 exist"),
        (
            |it| it.document["accessors"][0]["sparse"] = json!({ "count": 1 }),
            "accessor 0 is sparse, which is not supported",
        ),
        (
            |it| it.document["accessors"][1]["count"] = 5.into(),
            "5 indices are no triangles: their number must be a multiple of 3",
        ),
        (|it| it.bytes[50] = 7, "index 1 is 7, but there are 4 vertices"),
        (
            |it| {
                _ = it.document["meshes"][0]["primitives"][0]["attributes"].as_object_mut().unwrap().remove("POSITION")
            },
            "it has no attribute POSITION",
        ),
    ];
    for (change, words) in cases {
        let mut file = square();
        change(&mut file);
        let error = read("claims", &file.glb(), "").unwrap_err();
        assert!(error.starts_with("parts[0].cloth_mesh.mesh.gltf: mesh.glb: ") && error.ends_with(words), "{error}");
    }
}

#[test]
fn a_buffer_without_contents_is_an_error() {
    let folder = folder("no_contents");
    for (buffers, words) in [
        (json!([{ "byteLength": 60 }]), "buffer 0: it has no URI and the file no binary chunk for it"),
        (json!([]), "view 0 names buffer 0, but 0 exist"),
        (json!([{ "uri": "data:text/plain,abc", "byteLength": 60 }]), "buffer 0: its data URI is not in base64"),
    ] {
        let mut document = square().document;
        document["buffers"] = buffers;
        std::fs::write(folder.join("mesh.gltf"), document.to_string()).unwrap();
        let error = scene(&folder, r#""gltf": "mesh.gltf""#).unwrap_err();
        assert!(error.ends_with(words), "{error}");
    }
}

#[test]
fn buffers_that_share_a_file_count_each_time() {
    let folder = folder("shared_file");
    std::fs::write(folder.join("data.bin"), vec![0; 600_000]).unwrap();
    let mut document = square().document;
    let buffer = json!({ "uri": "data.bin", "byteLength": 64 });
    document["buffers"] = json!([buffer, buffer]);
    std::fs::write(folder.join("mesh.gltf"), document.to_string()).unwrap();
    let text = r#"{"version": 1, "parts": [{"cloth_mesh": {"mesh": {"gltf": "mesh.gltf"}}}]}"#;
    let limits = supple::scene_file::Limits::small();
    let error = supple::scene_file::SceneFile::parse_within(text, Some(&folder), &limits).unwrap_err().to_string();
    assert!(error.ends_with("buffer 1: the buffers so far have 1200000 bytes, more than 1048576"), "{error}");
}

#[test]
fn materials_textures_and_morph_targets_are_skipped() {
    let mut file = square();
    file.document["images"] = json!([{ "uri": "missing.png" }]);
    file.document["textures"] = json!([{ "source": 5 }]);
    file.document["materials"] = json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 9 } } }]);
    let moved = file.floats(&[[0.0f32, 0.0, 1.0]; 4]);
    let primitive = &mut file.document["meshes"][0]["primitives"][0];
    primitive["material"] = 7.into();
    primitive["targets"] = json!([{ "POSITION": moved }]);
    file.document["meshes"][0]["weights"] = json!([1.0]);
    file.document["extensionsUsed"] = json!(["EXT_unknown"]);
    let file = read("skipped", &file.glb(), "").unwrap();
    assert_eq!(file.scene.positions(), SQUARE);
}

#[test]
fn the_attributes_of_a_shared_mesh_are_listed_once() {
    let mut file = Builder::new();
    let position = file.floats(&SQUARE);
    let mut attributes = json!({ "POSITION": position });
    (0..5_000).for_each(|k| attributes[format!("_A{k:04}")] = position.into());
    let mesh = file.mesh(attributes, &CORNERS);
    (0..2_000).for_each(|_| _ = file.node(json!({ "mesh": mesh }), true));
    let error = read("attributes", &file.glb(), r#", "pin_map": "_PIN""#).unwrap_err();
    assert!(error.contains("there are POSITION, _A0000, _A0001, ") && error.ends_with("_A0018, …"), "{error}");
}

/// The error of a strip with a change.
fn error_of(change: impl FnOnce(&mut Strip)) -> String {
    let mut strip = Strip::new();
    change(&mut strip);
    strip.read().unwrap_err()
}

#[test]
fn shared_data_of_a_character_is_counted_before_memory_is_allocated() {
    // 3000 nodes that share 30 000 triangles are 90 million triangles.
    let mut file = Strip::new().finish();
    let indices = file.accessor(U8, "SCALAR", 90_000, &vec![0; 90_000]);
    file.document["meshes"][0]["primitives"][0]["indices"] = indices.into();
    (1..3_000).for_each(|_| _ = file.node(json!({ "mesh": 0, "skin": 0 }), true));
    let error = Character::parse(&file.glb(), None).unwrap_err().to_string();
    assert_eq!(error, "its skinned meshes have 90000000 triangles, more than the limit of 32000000");
    // 1200 channels that share 10 000 key frames.
    let error = error_of(|strip| {
        let times: Vec<f32> = (0..10_000).map(|key| key as f32).collect();
        strip.animate(2, "translation", "LINEAR", &times, &vec![[0.0; 3]; 10_000]);
        let channels = &mut strip.file.document["animations"][0]["channels"];
        *channels = Value::Array(vec![channels[0].clone(); 1_200]);
    });
    assert_eq!(error, "its animations have 24000000 times and values, more than the limit of 10000000");
    let error = error_of(|strip| strip.skin["joints"] = json!(vec![1; 70_000]));
    assert_eq!(error, "skin 0 has 70000 joints, more than the limit of 65536");
}

#[test]
fn a_chain_of_very_many_joints_is_read_in_linear_time() {
    let count = 30_000;
    let mut file = Strip::new().finish();
    let first = file.document["nodes"].as_array().unwrap().len();
    for k in 0..count {
        let children = if k + 1 < count { vec![first + k + 1] } else { Vec::new() };
        file.node(json!({ "children": children }), k == 0);
    }
    let joints: Vec<usize> = (first..first + count).collect();
    file.document["skins"] = json!([{ "joints": joints }]);
    let character = Character::parse(&file.glb(), None).unwrap();
    assert_eq!((character.joints.len(), character.joints[count - 1].parent), (count, Some(count as u32 - 2)));
    assert_eq!(character.rest().len(), count);
}

#[test]
fn animations_of_other_nodes_and_of_no_length_move_nothing_else() {
    let mut strip = Strip::new();
    // One key frame at time 0: the animation has no length.
    strip.animate(2, "translation", "LINEAR", &[0.0], &[[0.0, 5.0, 0.0]]);
    // The node of the mesh is no joint.
    strip.animate(3, "translation", "LINEAR", &[0.0, 1.0], &[[0.0; 3], [9.0; 3]]);
    strip.file.document["animations"].as_array_mut().unwrap().push(json!({ "channels": [], "samplers": [] }));
    let character = strip.read().unwrap();
    let durations: Vec<f64> = character.animations.iter().map(|own| own.duration).collect();
    assert_eq!(durations, [0.0, 1.0, 0.0]);
    let at = |animation, time| {
        let pose = character.pose(animation, time).unwrap();
        pose.iter().map(Mat4::from_cols_array_2d).collect::<Vec<_>>()
    };
    for time in [-1.0, 0.0, 1.0] {
        assert_eq!(at(0, time)[1].w_axis.truncate().to_array(), [0.0, 4.0, 0.0]);
        for animation in [1, 2] {
            assert!(at(animation, time).iter().all(|joint| joint.abs_diff_eq(Mat4::IDENTITY, 1e-6)));
        }
    }
}

#[test]
fn characters_with_missing_objects_are_errors_that_name_them() {
    let part = "node 3 \"strip\", primitive 0 of mesh 0: ";
    let scaled = Mat4::from_scale(glam::Vec3::new(1.0, 2.0, 1.0)).to_cols_array();
    let cases = [
        (
            error_of(|strip| strip.skin["inverseBindMatrices"] = strip.file.floats(&[scaled; 2]).into()),
            "skin 0: the inverse bind matrix of joint 0 has the scale 1.0000, 2.0000, 1.0000; joints must be scaled uniformly, without shear".to_owned(),
        ),
        (
            error_of(|strip| {
                strip.nodes[0]["scale"] = json!([1e-60, 1e-60, 1e-60]);
                strip.nodes[1]["scale"] = json!([1e-60, 1e-60, 1e-60]);
            }),
            "skin 0: node 1 \"lower\" has a transform of the determinant 0; it must be finite and not 0".into(),
        ),
        (
            error_of(|strip| strip.skin["inverseBindMatrices"] = strip.file.floats(&[scaled; 1]).into()),
            "skin 0: 1 inverse bind matrices for 2 joints".into(),
        ),
        (
            error_of(|strip| strip.attributes["NORMAL"] = strip.file.floats(&[[0.0f32; 3]; 4]).into()),
            format!("{part}NORMAL has 4 values for 10 vertices"),
        ),
        (
            error_of(|strip| strip.attributes["POSITION"] = json!(40)),
            format!("{part}it names accessor 40, but 5 exist"),
        ),
        (
            error_of(|strip| strip.nodes[2]["rotation"] = json!([0, 0, 0, 0])),
            "node 2 \"upper\" has a rotation of length 0; it must be a unit quaternion".into(),
        ),
        (
            error_of(|strip| {
                strip.animate(2, "rotation", "LINEAR", &[0.0], &[[0.0; 4]]);
            }),
            "animation 0 \"rotation\": channel 0: rotation 0 is 0".into(),
        ),
        (
            error_of(|strip| {
                strip.animate(2, "rotation", "LINEAR", &[0.0], &[[0.0, 0.0, 0.0, 1.0]]);
                strip.file.document["animations"][0]["channels"][0]["sampler"] = json!(4);
            }),
            "animation 0 \"rotation\": channel 0 names sampler 4, but 1 exist".into(),
        ),
        (
            error_of(|strip| strip.animate(2, "translation", "SPLINE", &[0.0], &[[0.0; 3]])),
            "animation 0 \"translation\": channel 0: the interpolation \"SPLINE\" does not exist".into(),
        ),
        (
            error_of(|strip| strip.file.document["extensionsRequired"] = json!(["EXT_unknown"])),
            "it requires the extension \"EXT_unknown\", which is not supported".into(),
        ),
    ];
    for (error, expected) in cases {
        assert_eq!(error, expected);
    }
}
