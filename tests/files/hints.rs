//! Hints of scene files: fields that are valid but have no effect.

use supple::scene_file::SceneFile;

fn hints(text: &str) -> Vec<String> {
    SceneFile::parse(text, None).unwrap().hints.iter().map(ToString::to_string).collect()
}

fn grid(fabric: &str) -> Vec<String> {
    hints(&format!(r#"{{"version": 1, "parts": [{{"cloth_grid": {{"columns": 3, "rows": 3, "fabric": {fabric}}}}}]}}"#))
}

fn mesh(fabric: &str) -> Vec<String> {
    let mesh = r#"{"positions": [[0,0,0], [1,0,0], [0,0,1]], "triangles": [[0,2,1]]}"#;
    hints(&format!(r#"{{"version": 1, "parts": [{{"cloth_mesh": {{"mesh": {mesh}, "fabric": {fabric}}}}}]}}"#))
}

#[test]
fn fields_of_a_fabric_without_effect_are_hints() {
    let soft = r#"{"compliance": 1e-4}"#;
    let cases = [
        (grid(&format!(r#"{{"membrane": {{"warp": 100}}, "structural": {soft}}}"#)), "structural"),
        (grid(&format!(r#"{{"membrane": {{"warp": 100}}, "shear": {soft}}}"#)), "shear"),
        (mesh(&format!(r#"{{"shear": {soft}}}"#)), "shear"),
        (grid(&format!(r#"{{"bending": "isometric", "bend": {soft}}}"#)), "bend"),
        (mesh(&format!(r#"{{"bending": "none", "bend": {soft}}}"#)), "bend"),
        (grid(r#"{"bending": "springs", "flexural_rigidity": 1e-4}"#), "flexural_rigidity"),
    ];
    for (hints, field) in cases {
        assert_eq!(hints.len(), 1, "{field}: {hints:?}");
        assert!(hints[0].contains(&format!(".fabric.{field}: it has no effect: ")), "{hints:?}");
    }
}

#[test]
fn fields_of_a_fabric_with_an_effect_are_no_hints() {
    for fabric in [
        r#""denim""#,
        r#"{"preset": "denim", "structural": {"damping_time": 1e-3}, "bend": {"damping_time": 1e-3}}"#,
        r#"{"bending": "hinges", "flexural_rigidity": 1e-4, "bend": {"damping_time": 1e-3}}"#,
        r#"{"bending": "springs", "structural": {"compliance": 1e-4}, "shear": {"compliance": 1e-4}, "bend": {"compliance": 1}}"#,
        r#"{"membrane": {"warp": 100}, "structural": {"damping_time": 1e-3}}"#,
    ] {
        assert_eq!(grid(fabric), [""; 0], "{fabric}");
    }
}

#[test]
fn plasticity_without_a_yield_strain_or_a_rupture_is_a_hint() {
    let cloth = |plasticity: &str| {
        hints(&format!(
            r#"{{"version": 1, "parts": [{{"cloth_grid": {{"name": "c", "columns": 3, "rows": 3, "tethers": false}}}}], "plasticity": [{{"edges_of": "c"{plasticity}}}]}}"#
        ))
    };
    assert_eq!(
        cloth(r#", "flow_rate": 2"#),
        ["plasticity[0]: it has no effect: it has neither yield_strain nor rupture"]
    );
    assert_eq!(cloth(r#", "yield_strain": 0.1"#), [""; 0]);
    assert_eq!(cloth(r#", "rupture": 0.1"#), [""; 0]);
}

#[test]
fn tethers_of_a_part_that_yields_are_a_hint() {
    let rope = |more: &str| {
        hints(&format!(
            r#"{{"version": 1, "parts": [{{"rope": {{"name": "r", "from": [0,0,0], "to": [1,0,0], "segments": 4, "cord": "nylon"{more}}}}}], "plasticity": [{{"edges_of": "r", "rupture": 0.2}}]}}"#
        ))
    };
    assert_eq!(rope(""), ["plasticity[0]: tethers neither yield nor break: set tethers of the part to false"]);
    assert_eq!(rope(r#", "tethers": false"#), [""; 0]);
}

#[test]
fn a_sheet_thinner_than_its_cell_is_a_hint() {
    let sheet = |margin: f32| {
        hints(&format!(
            r#"{{"version": 1, "parts": [{{"particles": {{"positions": [[0,0,0]]}}}}], "colliders": [{{"margin": {margin}, "shape":
                {{"mesh": {{"positions": [[0,0,0], [1,0,0], [0,0,1]], "triangles": [[0,2,1]], "open": true, "cell": 0.05}}}}}}]}}"#
        ))
    };
    let [hint] = &sheet(0.0)[..] else { panic!("no hint") };
    assert!(
        hint.starts_with("colliders[0].shape.mesh: ") && hint.contains("0.0025 m") && hint.contains("0.05 m"),
        "{hint}"
    );
    assert_eq!(sheet(0.05), [""; 0]);
}

/// The surface of a soft body follows its lattice, and only the lattice collides.
#[test]
fn particles_that_do_not_touch_a_sheet_give_no_hint() {
    let hints_of = |default: &str, body: &str| {
        let tetrahedron =
            r#""positions": [[0,1,0], [1,1,0], [0,2,0], [0,1,1]], "triangles": [[0,2,1], [0,1,3], [0,3,2], [1,2,3]]"#;
        hints(&format!(
            r#"{{"version": 1, "parts": [{{"soft_body": {{"mesh": {{{tetrahedron}}}, "spacing": 0.5, "density": 1000, "elasticity": {{"neo_hookean": {{"young": 1e4, "poisson_ratio": 0.3}}}}, "contact": "{body}"}}}}],
                "contact_materials": [{{"name": "thick", "thickness": 0.1}}, {{"name": "default"{default}}}],
                "colliders": [{{"shape": {{"mesh": {{"positions": [[0,0,0], [1,0,0], [0,0,1]], "triangles": [[0,2,1]], "open": true,
                "cell": 0.04}}}}}}]}}"#
        ))
    };
    assert_eq!(hints_of("", "thick"), [""; 0]);
    assert_eq!(hints_of("", "default").len(), 1);
    assert_eq!(hints_of(r#", "groups": [3], "touches": [4]"#, "default"), [""; 0]);
}

#[test]
fn the_damping_of_a_rigid_cord_and_a_tearing_without_a_strain_are_hints() {
    let cord = r#"{"version": 1, "parts": [{"rope": {"from": [0,0,0], "to": [1,0,0], "segments": 2, "cord": {"linear_density": 0.1, "damping": 5}}}]}"#;
    assert_eq!(hints(cord), ["parts[0].rope.cord.damping: it has no effect: the cord is rigid"]);
    let [hint] = &grid(r#"{"tearing": {}}"#)[..] else { panic!("no hint") };
    assert!(hint.starts_with("weak_edges: a cloth with tearing never tears"), "{hint}");
}
