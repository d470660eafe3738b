//! Attachments of scene files: what they add, and the places of their errors.

use supple::scene_file::SceneFile;
use supple::{Attachment, AttachmentTarget, Material, ParticlePoint};

/// A scene of a rope of five particles, a collider and the given attachments.
fn parsed(attachments: &str) -> Result<SceneFile, String> {
    let text = format!(
        r#"{{"version": 1, "materials": {{"soft": {{"compliance": 0.5}}}},
        "parts": [{{"rope": {{"name": "rope", "from": [0, 0, 0], "to": [1, 0, 0], "segments": 4, "cord": "cotton"}}}}],
        "colliders": [{{"shape": {{"sphere": {{"radius": 0.1}}}}}}, {{"name": "ball", "shape": {{"sphere": {{"radius": 0.1}}}}}}],
        "attachments": [{attachments}]}}"#
    );
    SceneFile::parse(&text, None).map_err(|error| error.to_string())
}

#[test]
fn attachments_of_a_file_are_those_of_the_library() {
    let file = parsed(
        r#"{"name": "end", "point": {"particles": ["rope:last"]}, "target": {"position": [1, 2, 3]}, "rest_length": 0.5, "only_pull": true},
        {"point": {"particles": [0, "rope:1"]}, "target": {"point": {"particles": [2, 3, 4], "weights": [0.2, 0.3, 0.5]}}, "material": "soft"},
        {"point": {"particles": [0]}, "target": {"collider": {"name": "ball", "point": [0, 0.1, 0]}}, "break_force": 20}"#,
    )
    .unwrap();
    let (end, id) = (file.attachments["end"], file.colliders["ball"]);
    let string = Attachment::new(ParticlePoint::Particle(4), AttachmentTarget::Space([1.0, 2.0, 3.0]));
    let triangle = ParticlePoint::Triangle([2, 3, 4], [0.2, 0.3, 0.5]);
    let seam = Attachment::new(ParticlePoint::Edge([0, 1], [0.5; 2]), AttachmentTarget::Particles(triangle));
    let target = AttachmentTarget::Collider { id, point: [0.0, 0.1, 0.0] };
    let expected = [
        Attachment { rest_length: 0.5, only_pull: true, ..string },
        Attachment { material: Material::compliant(0.5), ..seam },
        Attachment { break_force: Some(20.0), ..Attachment::new(ParticlePoint::Particle(0), target) },
    ];
    assert_eq!(file.scene.attachments(), expected);
    assert_eq!(file.reference().unwrap().read_attachments().unwrap()[0].id, end);
}

#[test]
fn errors_of_attachments_name_their_places() {
    let hook = r#""target": {"position": [0, 1, 0]}"#;
    let end = r#""point": {"particles": [4]}"#;
    for (text, words) in [
        (format!(r#"{{{hook}}}"#), ["attachments[0]", "missing field `point`"]),
        (format!(r#"{{"point": {{"particles": [9]}}, {hook}}}"#), ["attachments[0].point.particles[0]", "particle 9"]),
        (format!(r#"{{"point": {{"particles": []}}, {hook}}}"#), ["attachments[0].point", "0 particles"]),
        (format!(r#"{{"point": {{"particles": [0, 1, 2, 3, 4]}}, {hook}}}"#), ["attachments[0].point", "5 particles"]),
        (
            format!(r#"{{"point": {{"particles": ["rope:all"]}}, {hook}}}"#),
            ["attachments[0].point.particles[0]", "5 particles"],
        ),
        (
            format!(r#"{{"point": {{"particles": [0, 1], "weights": [1]}}, {hook}}}"#),
            ["attachments[0].point", "1 weights for 2"],
        ),
        (format!(r#"{{"point": {{"particles": [0], "weights": [0.5]}}, {hook}}}"#), ["attachments[0].point", "0.5"]),
        (
            format!(r#"{{"point": {{"particles": [0, 1], "weights": [0.5, 0.4]}}, {hook}}}"#),
            ["attachments[0]", "sum of the weights"],
        ),
        (format!(r#"{{{end}, "target": {{"point": {{"particles": [4]}}}}}}"#), ["attachments[0]", "same point"]),
        (
            format!(r#"{{{end}, "target": {{"collider": {{"name": "cube", "point": [0, 0, 0]}}}}}}"#),
            ["attachments[0].target.collider.name", "\"cube\""],
        ),
        (format!(r#"{{{end}, {hook}, "material": "hard"}}"#), ["attachments[0].material", "\"hard\""]),
        (format!(r#"{{{end}, {hook}, "rest_length": -1}}"#), ["attachments[0]", "-1"]),
        (format!(r#"{{{end}, {hook}, "only_pull": true}}"#), ["attachments[0]", "only pulls"]),
        (format!(r#"{{{end}, {hook}, "break_force": 0}}"#), ["attachments[0]", "break force"]),
        (
            format!(r#"{{"name": "a", {end}, {hook}}}, {{"name": "a", {end}, {hook}}}"#),
            ["attachments[1].name", "\"a\""],
        ),
    ] {
        let error = parsed(&text).unwrap_err();
        assert!(words.iter().all(|word| error.contains(word)), "{text}: {error} lacks one of {words:?}");
    }
}
