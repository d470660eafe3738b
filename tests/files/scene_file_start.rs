//! Initial positions and selections by boxes: both count from the rest positions.

use supple::scene_file::SceneFile;

const ROPE: &str = r#"{"rope": {"name": "a", "from": [0,0,0], "to": [2,0,0], "segments": 2, "cord": "nylon"}}"#;

fn parse(more: &str) -> SceneFile {
    SceneFile::parse(&format!(r#"{{"version": 1, "parts": [{ROPE}], {more}}}"#), None).unwrap()
}

#[test]
fn offsets_of_a_particle_do_not_add_up() {
    let file = parse(
        r#""start": [{"particles": ["a:all", "a:0"], "offset": [0,1,0]}, {"particles": ["a:0"], "offset": [0,2,0]}]"#,
    );
    assert_eq!(file.scene.positions(), [[0.0, 2.0, 0.0], [1.0, 1.0, 0.0], [2.0, 1.0, 0.0]]);
}

#[test]
fn a_box_selects_by_rest_positions() {
    let file = parse(
        r#""start": [{"particles": ["a:all"], "offset": [0,5,0]},
                     {"particles": [{"box": [[0.5,-1,-1], [3,1,1]]}], "velocity": [0,0,1]}]"#,
    );
    assert_eq!(file.reference().unwrap().read_velocities().unwrap(), [[0.0; 3], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]);
}

#[test]
fn targets_of_a_moved_particle_count_from_its_rest_position() {
    let file = parse(
        r#""pins": ["a:0"], "start": [{"particles": ["a:0"], "offset": [0,5,0]}],
           "targets": [{"particles": ["a:0"], "times": [0, 1], "offsets": [[0,0,0], [0,0,1]]}]"#,
    );
    assert_eq!(file.targets_at(1.0).collect::<Vec<_>>(), [(0, [0.0, 0.0, 1.0])]);
}

#[test]
fn rotations_of_colliders_are_of_unit_length() {
    let file = parse(r#""colliders": [{"shape": {"sphere": {"radius": 0.1}}, "rotation": [0,0,0,2]}]"#);
    assert_eq!(file.scene.colliders()[0].pose.rotation, [0.0, 0.0, 0.0, 1.0]);
}
