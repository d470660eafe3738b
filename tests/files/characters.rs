//! Characters from glTF files: skins, weights, animations, errors.

use crate::gltf::{Builder, U8};
use glam::{Mat4, Quat, Vec3};
use serde_json::{Value, json};
use supple::scene_file::Character;
use supple::{Reference, Scene, Settings, Skinned, SkinnedLimits, SkinnedMesh};

/// A strip of 2 × 5 vertices along y, from 0 to 2 m, with joints at y = 0 and y = 1.
pub struct Strip {
    pub file: Builder,
    pub attributes: Value,
    indices: Vec<u16>,
    weights: Vec<[f32; 4]>,
    joints: Vec<u8>,
    pub skin: Value,
    /// Of the root, the first and the second joint.
    pub nodes: [Value; 3],
}

impl Strip {
    pub fn new() -> Self {
        let mut file = Builder::new();
        let points: Vec<[f32; 3]> = (0..10).map(|k| [0.2 * (k % 2) as f32, 0.5 * (k / 2) as f32, 0.0]).collect();
        let attributes = json!({ "POSITION": file.floats(&points) });
        let indices = (0..4).flat_map(|k| [0, 1, 3, 0, 3, 2].map(|corner| 2 * k + corner)).collect();
        let weights = (0..10).map(|k| if k < 4 { [1.0, 0.0, 0.0, 0.0] } else { [1.0, 3.0, 0.0, 0.0] }).collect();
        let second = Mat4::from_translation(Vec3::new(0.0, -1.0, 0.0)).to_cols_array();
        let binds = file.floats(&[Mat4::IDENTITY.to_cols_array(), second]);
        let nodes = [
            json!({ "name": "root", "children": [1] }),
            json!({ "name": "lower", "children": [2] }),
            json!({ "name": "upper", "translation": [0, 1, 0] }),
        ];
        let skin = json!({ "joints": [1, 2], "inverseBindMatrices": binds });
        Self { file, attributes, indices, weights, joints: [0, 1, 0, 0].repeat(10), skin, nodes }
    }

    /// Adds an animation of one channel.
    pub fn animate<const N: usize>(&mut self, node: u32, path: &str, kind: &str, times: &[f32], values: &[[f32; N]]) {
        let times: Vec<[f32; 1]> = times.iter().map(|&time| [time]).collect();
        let (input, output) = (self.file.floats(&times), self.file.floats(values));
        let animation = json!({ "name": path, "channels": [{ "sampler": 0, "target": { "node": node, "path": path } }],
            "samplers": [{ "input": input, "output": output, "interpolation": kind }] });
        let document = self.file.document.as_object_mut().unwrap();
        document.entry("animations").or_insert(json!([])).as_array_mut().unwrap().push(animation);
    }

    pub fn finish(self) -> Builder {
        let Self { mut file, mut attributes, indices, weights, joints, skin, nodes } = self;
        attributes["WEIGHTS_0"] = file.floats(&weights).into();
        attributes["JOINTS_0"] = file.accessor(U8, "VEC4", joints.len() / 4, &joints).into();
        let mesh = file.mesh(attributes, &indices);
        for (index, node) in nodes.into_iter().enumerate() {
            file.node(node, index == 0);
        }
        file.node(json!({ "name": "strip", "mesh": mesh, "skin": 0 }), true);
        file.document["skins"] = json!([skin]);
        file
    }

    pub fn read(self) -> Result<Character, String> {
        Character::parse(&self.finish().glb(), None).map_err(|error| error.to_string())
    }
}

fn matrices(joints: &[[[f32; 4]; 4]]) -> Vec<Mat4> {
    joints.iter().map(Mat4::from_cols_array_2d).collect()
}

#[test]
fn a_character_has_joints_weights_and_normals_in_its_bind_pose() {
    let character = Strip::new().read().unwrap();
    let names: Vec<(&str, Option<u32>)> =
        character.joints.iter().map(|joint| (joint.name.as_str(), joint.parent)).collect();
    assert_eq!(names, [("lower", None), ("upper", Some(0))]);
    assert_eq!(character.mesh.triangles.len(), 8);
    assert_eq!(character.mesh.positions[9], [0.2, 2.0, 0.0]);
    assert_eq!(character.mesh.normals[3], [0.0, 0.0, 1.0]);
    // The largest weight stands first, and the sum is 1.
    let own = character.mesh.weights[9];
    assert_eq!((own.joints[..2].to_vec(), own.weights), (vec![1, 0], [0.75, 0.25, 0.0, 0.0]));
    for joint in matrices(&character.rest()) {
        assert!(joint.abs_diff_eq(Mat4::IDENTITY, 1e-6), "{joint}");
    }
}

#[test]
fn a_scale_and_a_rotation_of_the_root_are_part_of_the_bind_pose() {
    let mut strip = Strip::new();
    strip.nodes[0]["scale"] = json!([0.01, 0.01, 0.01]);
    strip.nodes[0]["translation"] = json!([3, 0, 0]);
    let half = std::f32::consts::FRAC_1_SQRT_2;
    // A quarter turn about y takes x to −z.
    strip.nodes[0]["rotation"] = json!([0.0, half, 0.0, half]);
    let character = strip.read().unwrap();
    let [x, y, z] = character.mesh.positions[9];
    assert!((x - 3.0).abs() < 1e-6 && (y - 0.02).abs() < 1e-6 && (z + 0.002).abs() < 1e-6, "{x} {y} {z}");
    let normal = Vec3::from(character.mesh.normals[3]);
    assert!(normal.abs_diff_eq(Vec3::X, 1e-5), "{normal}");
    for joint in matrices(&character.rest()) {
        assert!(joint.abs_diff_eq(Mat4::IDENTITY, 1e-5), "{joint}");
    }
}

#[test]
fn a_mirrored_character_is_not_inside_out() {
    let plain = Strip::new().read().unwrap().mesh;
    let mut strip = Strip::new();
    strip.nodes[0]["scale"] = json!([-1, 1, 1]);
    let mirrored = strip.read().unwrap().mesh;
    let across = |mesh: &SkinnedMesh| {
        let [a, b, c] = mesh.triangles[0].map(|corner| Vec3::from(mesh.positions[corner as usize]));
        (b - a).cross(c - a)
    };
    let reflected = |v: Vec3| Vec3::new(-v.x, v.y, v.z);
    assert_eq!(mirrored.positions[9][0], -plain.positions[9][0]);
    assert!(across(&mirrored).distance(reflected(across(&plain))) < 1e-6, "{} {}", across(&mirrored), across(&plain));
    assert!(across(&plain).length() > 1e-4);
}

#[test]
fn animations_are_sampled_by_their_interpolation() {
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let mut strip = Strip::new();
    strip.animate(2, "rotation", "LINEAR", &[0.5, 1.5], &[[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, half, half]]);
    strip.animate(1, "translation", "STEP", &[0.0, 1.0], &[[0.0; 3], [5.0, 0.0, 0.0]]);
    // Tangents of 0: the cubic 3 t² − 2 t³ between the values.
    let cubic = [[0.0; 3], [0.0; 3], [0.0; 3], [0.0; 3], [0.0, 0.0, 4.0], [0.0; 3]];
    strip.animate(1, "translation", "CUBICSPLINE", &[0.0, 2.0], &cubic);
    strip.animate(1, "scale", "LINEAR", &[0.0, 1.0], &[[1.0; 3], [3.0; 3]]);
    let character = strip.read().unwrap();
    let durations: Vec<f64> = character.animations.iter().map(|own| own.duration).collect();
    assert_eq!(durations, [1.5, 1.0, 2.0, 1.0]);
    let at = |animation, time| matrices(&character.pose(animation, time).unwrap());
    // The second joint turns about the point (0, 1, 0).
    let turned = |angle| {
        Mat4::from_translation(Vec3::Y)
            * Mat4::from_quat(Quat::from_rotation_z(angle))
            * Mat4::from_translation(-Vec3::Y)
    };
    let quarter = std::f32::consts::FRAC_PI_2;
    for (time, share) in [(0.0, 0.0), (0.5, 0.0), (0.75, 0.25), (1.0, 0.5), (9.0, 1.0)] {
        let [lower, upper] = at(0, time)[..] else { panic!() };
        assert!(lower.abs_diff_eq(Mat4::IDENTITY, 1e-6) && upper.abs_diff_eq(turned(share * quarter), 1e-6), "{time}");
    }
    let offset = |animation, time| at(animation, time)[1].w_axis.truncate();
    assert_eq!([0.99, 1.0].map(|time| offset(1, time).x), [0.0, 5.0]);
    assert!((offset(2, 0.5).z - 4.0 * (3.0 / 16.0 - 2.0 / 64.0)).abs() < 1e-6);
    assert!((at(3, 0.5)[0].x_axis.x - 2.0).abs() < 1e-6);
    assert!(character.pose(4, 0.0).is_err() && character.pose(0, f64::NAN).is_err());
}

#[test]
fn scales_of_nodes_outside_of_the_skin_are_no_error() {
    let mut strip = Strip::new();
    // The fifth node is added beside the character. Joints could not have this scale.
    strip.animate(4, "scale", "LINEAR", &[0.0, 9.0], &[[1.0, 2.0, 1.0], [3.0, 1.0, 1.0]]);
    strip.animate(2, "translation", "LINEAR", &[0.0, 2.0], &[[0.0, 1.0, 0.0], [0.0, 3.0, 0.0]]);
    let mut file = strip.finish();
    file.node(json!({ "name": "prop" }), true);
    let character = Character::parse(&file.glb(), None).unwrap();
    let animations: Vec<(&str, f64)> =
        character.animations.iter().map(|animation| (animation.name.as_str(), animation.duration)).collect();
    assert_eq!(animations, [("scale", 9.0), ("translation", 2.0)]);
    assert_eq!(character.pose(0, 5.0).unwrap(), character.pose(1, 0.0).unwrap());
}

#[test]
fn particles_follow_an_animation_by_the_matrices_of_a_character() {
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let mut strip = Strip::new();
    strip.animate(2, "rotation", "LINEAR", &[0.0, 1.0], &[[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, half, half]]);
    let character = strip.read().unwrap();
    let mesh = &character.mesh;
    let mut scene = Scene::new();
    for (&position, &joints) in mesh.positions.iter().zip(&mesh.weights) {
        let particle = scene.add_particle(supple::Particle { position, ..supple::Particle::default() }).unwrap();
        let pose = supple::SkinnedPose { position, normal: [0.0, 0.0, 1.0] };
        let limits = SkinnedLimits { max_distance: 0.0, backstop: None };
        scene.add_skinned(Skinned { particle, pose, limits, joints: Some(joints) }).unwrap();
    }
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    for k in 1..=5 {
        let joints = character.pose(0, 0.2 * f64::from(k)).unwrap();
        reference.set_joints(0, &joints).unwrap();
        reference.step(1);
        let expected = mesh.posed(&joints).unwrap();
        for (pose, position) in expected.iter().zip(reference.read_positions().unwrap()) {
            assert!(Vec3::from(pose.position).distance(position.into()) < 1e-5, "{pose:?} {position:?}");
        }
    }
}

/// The error of a strip with a change.
fn error_of(change: impl FnOnce(&mut Strip)) -> String {
    let mut strip = Strip::new();
    change(&mut strip);
    strip.read().unwrap_err()
}

#[test]
fn a_bad_character_is_an_error_that_names_the_fault() {
    let part = "node 3 \"strip\", primitive 0 of mesh 0: ";
    let cases = [
        (error_of(|strip| strip.skin["joints"] = json!([])), "skin 0 has no joints".to_owned()),
        (error_of(|strip| strip.skin["joints"] = json!([1, 9])), "skin 0: joint 1 is node 9, which is not in the scene".into()),
        (error_of(|strip| strip.skin["joints"] = json!([1, 1])), "skin 0: joint 1 is node 1, as another joint".into()),
        (error_of(|strip| strip.weights[7][1] = f32::NAN), format!("{part}WEIGHTS_0 of vertex 7 is NaN, which is not finite")),
        (error_of(|strip| strip.weights[7] = [0.0; 4]), format!("{part}the weights of vertex 7 are all 0")),
        (error_of(|strip| strip.weights[7][0] = -0.5), format!("{part}WEIGHTS_0 of vertex 7 is -0.5, which is negative")),
        (error_of(|strip| strip.joints[21] = 2), format!("{part}vertex 5 names joint 2, but 2 exist")),
        (error_of(|strip| strip.nodes[2]["children"] = json!([1])), "node 1 \"lower\" is reached twice: the nodes have a cycle, or two parents of one child".into()),
        (error_of(|strip| strip.nodes[1]["scale"] = json!([1, 2, 1])), "skin 0: node 1 \"lower\" has the scale 1.0000, 2.0000, 1.0000; joints must be scaled uniformly, without shear".into()),
        (error_of(|strip| strip.skin["inverseBindMatrices"] = json!(77)), "skin 0: it names accessor 77, but 5 exist".into()),
        (error_of(|strip| strip.attributes["WEIGHTS_1"] = json!(0)), format!("{part}it has no attribute JOINTS_1")),
        (
            error_of(|strip| strip.animate(2, "scale", "LINEAR", &[0.0, 1.0], &[[1.0; 3], [1.0, 1.0, 2.0]])),
            "animation 0 \"scale\": channel 0: key frame 1 has the scale 1.0000, 1.0000, 2.0000; joints must be scaled uniformly, without shear".into(),
        ),
        (
            error_of(|strip| strip.animate(2, "scale", "LINEAR", &[1.0, 0.5], &[[1.0; 3], [1.0; 3]])),
            "animation 0 \"scale\": channel 0: its times are not finite, ascending and at least 0".into(),
        ),
        (
            error_of(|strip| strip.animate(2, "scale", "CUBICSPLINE", &[0.0, 0.5], &[[1.0; 3], [1.0; 3]])),
            "animation 0 \"scale\": channel 0: 2 values for 2 times, each with 3".into(),
        ),
        (
            error_of(|strip| strip.animate(8, "scale", "LINEAR", &[0.0, 0.5], &[[1.0; 3], [1.0; 3]])),
            "animation 0 \"scale\": channel 0 names node 8, but 4 exist".into(),
        ),
    ];
    for (error, expected) in cases {
        assert_eq!(error, expected);
    }
}

#[test]
fn a_file_without_a_skin_or_without_its_buffer_is_an_error() {
    let parse = |file: Builder| Character::parse(&file.glb(), None).unwrap_err().to_string();
    let mut file = Strip::new().finish();
    file.document["nodes"][3].as_object_mut().unwrap().remove("skin");
    assert_eq!(parse(file), "the scene has no mesh with a skin");
    let mut file = Strip::new().finish();
    file.document["nodes"][3]["skin"] = json!(4);
    assert_eq!(parse(file), "it names skin 4, but 1 exist");
    let file = Strip::new().finish();
    let error = Character::parse(&file.glb(), Some("nobody")).unwrap_err().to_string();
    assert_eq!(error, "no node is named \"nobody\"; there are root, lower, upper, strip");
    let mut file = Strip::new().finish();
    file.document["buffers"] = json!([{ "uri": "body.bin", "byteLength": 9 }]);
    let text = file.document.to_string();
    let error = Character::parse(text.as_bytes(), None).unwrap_err().to_string();
    assert!(error.contains("\"body.bin\": buffers in other files are read by Character::read only"), "{error}");
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("character.gltf");
    std::fs::write(&path, text).unwrap();
    let error = Character::read(&path, None).unwrap_err().to_string();
    assert!(error.contains("cannot read") && error.contains("body.bin"), "{error}");
}
