//! The commands of `supple` other than `bake`.

use crate::{path, scene, supple};
use std::path::PathBuf;

/// The exit status, standard output and error output.
fn run(arguments: &[&str]) -> (bool, String, String) {
    let output = supple(arguments);
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (output.status.success(), out, err)
}

fn write(name: &str, text: &str) -> PathBuf {
    let path = path(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn validate_lists_particles_constraints_and_parts() {
    let (success, out, err) = run(&["validate", &scene("flag_in_wind.json"), &scene("balloon.json")]);
    assert!(success && err.is_empty(), "{err}");
    assert!(out.contains("flag_in_wind.json: valid") && out.contains("balloon.json: valid"), "{out}");
    assert!(out.contains("pressure 1") && out.contains("particles: ") && out.contains("parts[0]"), "{out}");
}

#[test]
fn validate_reports_every_invalid_scene_with_its_place() {
    write("wool.json", r#"{"version": 1, "parts": [{"rope": {"cord": "wool", "points": []}}]}"#);
    write("zero.json", r#"{"version": 1, "settings": {"substeps": 0}, "parts": []}"#);
    let (success, out, err) = run(&["validate", "wool.json", &scene("bat.json"), "zero.json", "missing.json"]);
    assert!(!success && out.contains("bat.json: valid"), "{out}");
    assert!(err.contains("wool.json: parts[0].rope.cord") && err.contains("zero.json: "), "{err}");
    assert!(err.contains("substeps") && err.contains("missing.json") && err.contains("3 of 4 scenes"), "{err}");
}

#[test]
fn validate_is_strict_about_warnings_on_request() {
    // Two triangles that touch but share no vertices.
    let mesh = r#"{"positions": [[0,0,0],[1,0,0],[0,0,1],[1,0,0],[1,0,1],[0,0,1]], "triangles": [[0,2,1],[3,5,4]]}"#;
    write("seam.json", &format!(r#"{{"version": 1, "parts": [{{"cloth_mesh": {{"mesh": {mesh}}}}}]}}"#));
    let (success, _, err) = run(&["validate", "seam.json"]);
    assert!(success && err.contains("seam.json: warning: parts[0].cloth_mesh: the cloth has open seams"), "{err}");
    assert!(!run(&["validate", "--strict", "seam.json"]).0);
}

#[test]
fn adapters_marks_the_selected_adapter() {
    let (success, out, err) = run(&["adapters"]);
    assert!(success, "{err}");
    assert_eq!(out.lines().filter(|line| line.starts_with("* ")).count(), 1, "{out}");
}

#[test]
fn bench_names_the_adapter_and_the_scene() {
    let (success, out, err) = run(&["bench", "--particles", "250", "--substeps", "4", "--steps", "3"]);
    assert!(success, "{err}");
    assert!(out.contains("adapter: ") && out.contains("256 particles") && out.contains("4 substeps"), "{out}");
    assert!(out.contains("wall-clock: ") && out.contains("ns per particle and substep"), "{out}");
}

#[cfg(feature = "view")]
#[test]
fn view_draws_ropes_rods_and_moving_targets() {
    // The first rope and the cloth are as small as a point.
    let rope = |half: &str| {
        format!(r#"{{"rope": {{"from": [-{half}, 0, 0], "to": [{half}, 0, 0], "segments": 9, "cord": "nylon"}}}}"#)
    };
    let cloth = r#"{"cloth_grid": {"columns": 2, "rows": 2, "column_axis": [0.001, 0, 0], "row_axis": [0, 0, 0.001]}}"#;
    let parts = [rope("0.001"), cloth.into(), rope("1")].join(", ");
    let mixed = write("two_ropes.json", &format!(r#"{{"version": 1, "parts": [{parts}]}}"#));
    for (scene, least) in [
        (scene("animated_target.json"), 5_000),
        (scene("rope_bridge.json"), 80),
        (scene("rods.json"), 40),
        (mixed.to_str().unwrap().to_owned(), 40),
    ] {
        let name = scene.rsplit('/').next().unwrap_or_default();
        let png = path(&format!("{name}.png"));
        let (success, _, err) =
            run(&["view", &scene, "--png", png.to_str().unwrap(), "--frames", "3", "--size", "320", "200"]);
        assert!(success, "{err}");
        let picture = image::open(&png).unwrap().to_rgb8();
        // Cloth and ropes are red or yellow; sky and ground are not.
        let drawn = picture.pixels().filter(|pixel| pixel.0[0] > pixel.0[2].saturating_add(40)).count();
        assert!(drawn > least, "{name}: {drawn} pixels of {:?}", picture.dimensions());
    }
}

#[test]
fn unknown_commands_and_options_end_with_usage() {
    for arguments in [&["play"][..], &["bake"], &["bake", "x.json", "--fast"], &[]] {
        let output = supple(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("Usage"), "{arguments:?}");
    }
}
