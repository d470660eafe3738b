//! Skinned particles of scene files: what they add, and the places of their errors.

use supple::scene_file::SceneFile;
use supple::{Backstop, SkinnedLimits};

/// A scene of a cloth whose first row is pinned, and the given skinned particles.
fn parsed(skinned: &str) -> Result<SceneFile, String> {
    let text = format!(
        r#"{{"version": 1,
        "parts": [{{"cloth_grid": {{"name": "cape", "columns": 3, "rows": 3, "pin": ["row 0"]}}}}],
        "targets": [{{"particles": [2], "times": [0, 1], "offsets": [[0, 0, 0], [0, 1, 0]]}}],
        "skinned": [{skinned}]}}"#
    );
    SceneFile::parse(&text, None).map_err(|error| error.to_string())
}

#[test]
fn skinned_particles_of_a_file_are_those_of_the_library() {
    let text = r#"{"particles": [0, 1]},
        {"particles": ["cape:row 1"], "max_distance": 0.1},
        {"particles": [8], "max_distance": 0.02, "backstop": {"radius": 0.5}}"#;
    let file = parsed(text).unwrap();
    let skinned = file.scene.skinned();
    let particles: Vec<u32> = skinned.iter().map(|skinned| skinned.particle).collect();
    assert_eq!(particles, [0, 1, 3, 4, 5, 8]);
    let backstop = Some(Backstop { distance: 0.0, radius: 0.5 });
    assert_eq!(skinned[1].limits, SkinnedLimits::FREE);
    assert_eq!(skinned[2].limits, SkinnedLimits { max_distance: 0.1, backstop: None });
    assert_eq!(skinned[5].limits, SkinnedLimits { max_distance: 0.02, backstop });
    assert_eq!(skinned[5].pose, file.scene.rest_poses()[8]);
    assert_eq!(skinned[5].pose.position, file.scene.positions()[8]);
    let mut reference = file.reference().unwrap();
    reference.step(3);
    assert_eq!(reference.read_positions().unwrap()[0], file.scene.positions()[0]);
}

#[test]
fn errors_of_skinned_particles_name_their_places() {
    let cases = [
        (r#"{"max_distance": 1}"#, "skinned[0]", "missing field `particles`"),
        (r#"{"particles": [9]}"#, "skinned[0].particles[0]", "particle 9"),
        (r#"{"particles": [4]}, {"particles": [3, 4]}"#, "skinned[1]", "particle 4 is skinned"),
        (r#"{"particles": [2]}"#, "skinned[0]", "particle 2 has a target"),
        (r#"{"particles": [4], "max_distance": -0.5}"#, "skinned[0]", "is -0.5, but must be at least 0 m"),
        (r#"{"particles": [4], "backstop": {"distance": 1}}"#, "skinned[0].backstop", "missing field `radius`"),
        (r#"{"particles": [4], "backstop": {"radius": -1}}"#, "skinned[0]", "radius of skinned particle 0 is -1"),
    ];
    for (text, place, message) in cases {
        let error = parsed(text).unwrap_err();
        assert!(error.starts_with(&format!("{place}: ")) && error.contains(message), "{error}");
    }
}
