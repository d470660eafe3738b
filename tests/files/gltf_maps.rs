//! Maps of density, of compliance and of maximum distance from the vertex attributes of glTF files.

use crate::gltf::{Builder, CORNERS, SQUARE, U8, read};
use serde_json::json;
use supple::scene_file::SceneFile;

/// A square with the attribute `_MAP`, and one without it 3 m beside it.
fn mapped(values: [f32; 4]) -> Vec<u8> {
    let mut file = Builder::new();
    let position = file.floats(&SQUARE);
    let map = file.floats(&values.map(|value| [value]));
    let color = file.accessor(U8, "VEC4", 4, &[[51u8, 0, 255, 255]; 4].concat());
    file.document["accessors"][color]["normalized"] = true.into();
    let mesh = file.mesh(json!({ "POSITION": position, "_MAP": map, "COLOR_0": color }), &CORNERS);
    file.node(json!({ "name": "painted", "mesh": mesh }), true);
    let plain = file.mesh(json!({ "POSITION": position }), &CORNERS);
    file.node(json!({ "mesh": plain, "translation": [3, 0, 0] }), true);
    file.glb()
}

const FABRIC: &str = r#"}, "fabric": {"structural": {"compliance": 0.001}, "bend": {"compliance": 0.01}"#;

/// The positions after 20 steps of a cloth that hangs by the first vertex of each square.
fn run(mut file: SceneFile) -> Vec<[f32; 3]> {
    for square in (0..file.scene.particle_count() as u32).step_by(4) {
        file.scene.pin(square).unwrap();
    }
    let mut reference = file.reference().unwrap();
    reference.step(20);
    reference.read_positions().unwrap()
}

#[test]
fn a_compliance_map_scales_the_constraints_of_its_vertices() {
    let read = |values, fields: &str| read("compliance_map", &mapped(values), fields).unwrap();
    let node = r#", "node": "painted""#;
    let map = r#", "compliance_map": "_MAP""#;
    let soft = FABRIC.replace("0.001", "0.004").replace("0.01}", "0.04}");
    // A uniform map equals a softer fabric bit for bit.
    let uniform = run(read([4.0; 4], &format!("{node}{map}{FABRIC}")));
    assert_eq!(uniform, run(read([1.0; 4], &format!("{node}{soft}"))));
    assert_ne!(uniform, run(read([1.0; 4], &format!("{node}{FABRIC}"))));
    // The second square has no attribute: its factor is 1.
    let (both, plain) = (run(read([4.0; 4], &format!("{map}{FABRIC}"))), run(read([1.0; 4], FABRIC)));
    assert_ne!(both[..4], plain[..4]);
    assert_eq!(both[4..], plain[4..]);
    // A factor of 0 is rigid.
    let rigid = FABRIC.replace("0.001", "0").replace("0.01}", "0}");
    let mapped = run(read([0.0; 4], &format!("{node}{map}{FABRIC}")));
    assert_eq!(mapped, run(read([1.0; 4], &format!("{node}{rigid}"))));
}

#[test]
fn a_density_map_scales_the_masses_of_its_vertices() {
    let read = |values, fields: &str| read("density_map", &mapped(values), fields).unwrap();
    let masses =
        |file: &SceneFile| -> Vec<f32> { file.scene.inverse_masses().iter().map(|inverse| 1.0 / inverse).collect() };
    let map = r#", "density_map": "_MAP""#;
    let plain = masses(&read([1.0; 4], ""));
    let scaled = masses(&read([0.5, 1.0, 2.0, 8.0], map));
    // The second square has no attribute: its factor is 1.
    for (particle, factor) in [0.5, 1.0, 2.0, 8.0, 1.0, 1.0, 1.0, 1.0].into_iter().enumerate() {
        let expected = factor * plain[particle];
        assert!((scaled[particle] - expected).abs() < 1e-6 * expected, "particle {particle}: {scaled:?}");
    }
    // A uniform map equals a heavier fabric bit for bit: the factor is exact in f32.
    let node = r#", "node": "painted""#;
    let heavy =
        |density: f32| format!(r#"}}, "fabric": {{"structural": {{"compliance": 0.001}}, "area_density": {density}"#);
    let uniform = run(read([4.0; 4], &format!("{node}{map}{}", heavy(0.25))));
    assert_eq!(uniform, run(read([1.0; 4], &format!("{node}{}", heavy(1.0)))));
    assert_ne!(uniform, run(read([1.0; 4], &format!("{node}{}", heavy(0.25)))));
}

#[test]
fn a_map_of_maximum_distances_adds_skinned_particles() {
    let read = |fields: &str| read("max_distance_map", &mapped([0.0, 0.5, 1.0, 2.0]), fields);
    let limits = |file: &SceneFile| -> Vec<(u32, f32)> {
        file.scene.skinned().iter().map(|own| (own.particle, own.limits.max_distance)).collect()
    };
    let file = read(r#", "max_distance_map": "_MAP", "max_distance": 0.1"#).unwrap();
    // Vertices without the attribute have no limit.
    assert_eq!(limits(&file), [(0, 0.0), (1, 0.05), (2, 0.1), (3, 0.2)]);
    let pose = file.scene.skinned()[2].pose;
    assert_eq!((pose.position, pose.normal), ([1.0, 1.0, 0.0], [0.0, 0.0, 1.0]));
    let color = read(r#", "max_distance_map": "COLOR_0.r""#).unwrap();
    assert!(limits(&color).iter().all(|(_, distance)| (distance - 0.2).abs() < 1e-6), "{:?}", limits(&color));
    let mut reference = file.reference().unwrap();
    reference.step(60);
    for ((particle, limit), position) in limits(&file).into_iter().zip(reference.read_positions().unwrap()) {
        let start = glam::Vec3::from(file.scene.positions()[particle as usize]);
        assert!(start.distance(position.into()) <= limit + 1e-5, "particle {particle}: {position:?}");
    }
}

#[test]
fn bad_maps_are_errors_that_name_the_vertex_and_the_value() {
    let error = |values, fields: &str| read("bad_maps", &mapped(values), fields).unwrap_err();
    let place = "parts[0].cloth_mesh.mesh.";
    for (values, fields, expected) in [
        (
            [1.0, -2.0, 1.0, 1.0],
            r#", "compliance_map": "_MAP""#,
            format!("{place}compliance_map: scale of compliance of particle 1 is -2, but must be finite and at least 0"),
        ),
        (
            [1.0, 1.0, 1.0, 0.0],
            r#", "density_map": "_MAP""#,
            format!("{place}density_map: scale of density of particle 3 is 0, but must be finite and greater than 0"),
        ),
        (
            [1.0, 1e-20, 1.0, 1.0],
            r#", "density_map": "_MAP""#,
            format!("{place}density_map: inverse mass of particle 1 is 2999999989753888000000, but must be 0 to 1e12"),
        ),
        (
            [0.0, 0.0, -0.5, 0.0],
            r#", "max_distance_map": "_MAP""#,
            format!("{place}max_distance_map: maximum distance of particle 2 is -0.5, but must be at least 0 m"),
        ),
        (
            [0.0; 4],
            r#", "max_distance_map": "_MAP", "max_distance": -1"#,
            format!("{place}max_distance: maximum distance is -1, but must be finite and at least 0 m"),
        ),
        (
            [0.0; 4],
            r#", "max_distance": 1"#,
            "parts[0].cloth_mesh.mesh: max_distance needs max_distance_map".into(),
        ),
        (
            [0.0, f32::NAN, 0.0, 0.0],
            r#", "max_distance_map": "_MAP""#,
            "parts[0].cloth_mesh.mesh.gltf: mesh.glb: node 0 \"painted\", primitive 0 of mesh 0: _MAP of vertex 1 is NaN, which is not finite".into(),
        ),
        (
            [1.0; 4],
            r#", "compliance_map": "_MAP"}, "fabric": {"tearing": {"strain": 0.2, "copies": 4}"#,
            format!("{place}compliance_map: a cloth that tears has no compliance map"),
        ),
    ] {
        assert_eq!(error(values, fields), expected);
    }
    let text = |more: &str| {
        format!(
            r#"{{"version": 1, "parts": [{{"cloth_mesh": {{"mesh": {{"gltf": "mesh.glb", "max_distance_map": "_MAP"}}, "pin": [0]}}}}], {more}}}"#
        )
    };
    let folder = crate::gltf::folder("bad_maps");
    std::fs::write(folder.join("mesh.glb"), mapped([0.1; 4])).unwrap();
    let error = |more| SceneFile::parse(&text(more), Some(&folder)).unwrap_err().to_string();
    assert_eq!(
        error(r#""targets": [{"particles": [0], "times": [0, 1], "offsets": [[0, 0, 0], [0, 1, 0]]}]"#),
        format!("{place}max_distance_map: particle 0 has a target; it cannot be skinned")
    );
    let twice = error(r#""skinned": [{"particles": [3], "max_distance": 1}]"#);
    assert!(twice.starts_with("skinned[0]: ") && twice.contains("particle 3"), "{twice}");
}
