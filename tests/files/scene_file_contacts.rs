//! Contacts in scene files build the same scene as the library calls, and errors name their place.

use supple::scene_file::{FileError, Limits, SceneFile};
use supple::{
    ClothGrid, Collider, ColliderId, ContactMaterial, ContactMaterialId, ContactScale, Friction, Heightfield, Particle,
    Pose, Reference, Scene, SelfCollision, Settings, Shape,
};

fn parse(text: &str) -> Result<SceneFile, FileError> {
    SceneFile::parse(text, None)
}

fn good(text: &str) -> SceneFile {
    parse(text).unwrap_or_else(|error| panic!("{error}\nin {text}"))
}

/// A scene of loose particles, followed by more fields.
fn with(more: &str) -> String {
    let three = r#"{"particles": {"name": "p", "positions": [[0, 1, 0], [0.2, 1, 0], [0, 1.2, 0]]}}"#;
    format!(r#"{{"version": 1, "parts": [{three}], {more}}}"#)
}

fn material(fields: &str) -> String {
    with(&format!(r#""contact_materials": [{{"name": "felt"}}, {{{fields}}}]"#))
}

fn collider(fields: &str) -> String {
    with(&format!(r#""colliders": [{{"shape": {{"half_space": {{}}}}}}, {{{fields}}}]"#))
}

/// A ball with the given fields.
fn ball(fields: &str) -> String {
    collider(&format!(r#""shape": {{"sphere": {{"radius": 1}}}}, {fields}"#))
}

fn motion(fields: &str) -> String {
    ball(&format!(r#""motion": {{{fields}}}"#))
}

fn shape(shape: &str) -> String {
    collider(&format!(r#""shape": {shape}"#))
}

fn frictions(list: &str) -> String {
    with(&format!(r#""contact_materials": [{{"name": "felt"}}], "frictions": [{list}]"#))
}

fn setting(field: &str) -> String {
    with(&format!(r#""settings": {{{field}}}"#))
}

/// The description, the text, the place of the error, and words that it must contain.
struct Bad(&'static str, String, &'static str, &'static [&'static str]);

/// A part with these scales.
fn scaled(fields: &str) -> String {
    let three = format!(r#"{{"particles": {{"positions": [[0, 1, 0], [0.2, 1, 0], [0, 1.2, 0]], {fields}}}}}"#);
    format!(r#"{{"version": 1, "parts": [{three}]}}"#)
}

#[test]
fn scales_of_particles_are_those_of_the_library() {
    let parsed = good(&scaled(r#""contact_scale": {"thickness": [1, 0.5, 0.25], "friction": 0.5}"#));
    for (i, thickness) in (0..).zip([1.0, 0.5, 0.25]) {
        assert_eq!(parsed.scene.contact_scale(i).unwrap(), ContactScale { thickness, friction: 0.5 });
    }
    let cases = [
        (r#"{"thickness": 0}"#, "parts[0].particles.contact_scale", "thickness of particle 0 is 0"),
        (r#"{"thickness": [1, 1, 1.5]}"#, "parts[0].particles.contact_scale", "thickness of particle 2 is 1.5"),
        (r#"{"friction": -1}"#, "parts[0].particles.contact_scale", "friction of particle 0 is -1"),
        (r#"{"friction": [1, 1]}"#, "parts[0].particles.contact_scale.friction", "2 values for 3 entries"),
        (r#"{"rough": 1}"#, "parts[0].particles.contact_scale", "rough"),
    ];
    for (fields, place, words) in cases {
        let error = parse(&scaled(&format!(r#""contact_scale": {fields}"#))).map(drop).unwrap_err().to_string();
        assert!(error.contains(place) && error.contains(words), "{fields}: {error}");
    }
}

fn material_cases() -> Vec<Bad> {
    let many: Vec<String> = (0..16).map(|index| format!(r#"{{"name": "m{index}"}}"#)).collect();
    vec![
        Bad("a table", with(r#""contact_materials": {}"#), "contact_materials", &["a sequence"]),
        Bad("no name", material(r#""thickness": 1"#), "contact_materials[1]", &["missing field `name`"]),
        Bad("an empty name", material(r#""name": """#), "contact_materials[1].name", &["empty"]),
        Bad("a name of two", material(r#""name": "felt""#), "contact_materials[1].name", &["\"felt\""]),
        Bad(
            "two defaults",
            with(r#""contact_materials": [{"name": "default"}, {"name": "default"}]"#),
            "contact_materials[1].name",
            &["\"default\""],
        ),
        Bad(
            "an unknown field",
            material(r#""name": "a", "thicknes": 1"#),
            "contact_materials[1].thicknes",
            &["`thicknes`", "`thickness`"],
        ),
        Bad(
            "no thickness",
            material(r#""name": "a", "thickness": 0"#),
            "contact_materials[1]",
            &["thickness of contact material \"a\"", "1e-6"],
        ),
        Bad(
            "an infinite thickness",
            material(r#""name": "a", "thickness": 1e39"#),
            "contact_materials[1]",
            &["thickness", "inf"],
        ),
        Bad(
            "negative friction",
            material(r#""name": "a", "friction": -0.5"#),
            "contact_materials[1].friction",
            &["static friction of contact material \"a\"", "-0.5"],
        ),
        Bad(
            "friction in words",
            material(r#""name": "a", "friction": "high""#),
            "contact_materials[1].friction",
            &["\"high\"", "f32"],
        ),
        Bad(
            "more friction in motion",
            material(r#""name": "a", "friction": {"static": 0.3, "kinetic": 0.4}"#),
            "contact_materials[1].friction",
            &["kinetic", "0.4", "that of static"],
        ),
        Bad(
            "friction in motion alone",
            material(r#""name": "a", "friction": {"kinetic": 0.4}"#),
            "contact_materials[1].friction",
            &["missing field `static`"],
        ),
        Bad(
            "an unknown friction",
            material(r#""name": "a", "friction": {"static": 1, "rolling": 1}"#),
            "contact_materials[1].friction.rolling",
            &["`rolling`", "`kinetic`"],
        ),
        Bad(
            "too bouncy",
            material(r#""name": "a", "restitution": 1.5"#),
            "contact_materials[1]",
            &["restitution of contact material \"a\"", "1.5", "0 to 1"],
        ),
        Bad("group 32", material(r#""name": "a", "groups": [0, 32]"#), "contact_materials[1].groups[1]", &["32", "31"]),
        Bad("a group below", material(r#""name": "a", "groups": [-1]"#), "contact_materials[1].groups[0]", &["`-1`"]),
        Bad(
            "groups by word",
            material(r#""name": "a", "groups": "all""#),
            "contact_materials[1].groups",
            &["sequence"],
        ),
        Bad(
            "touches nobody knows",
            material(r#""name": "a", "touches": "some""#),
            "contact_materials[1].touches",
            &["`some`", "`all`"],
        ),
        Bad(
            "touches too high",
            material(r#""name": "a", "touches": [4, 40]"#),
            "contact_materials[1].touches[1]",
            &["no group 40"],
        ),
        Bad(
            "sixteen",
            with(&format!(r#""contact_materials": [{}]"#, many.join(", "))),
            "contact_materials[15]",
            &["contact materials", "17", "limit of 16"],
        ),
        Bad(
            "friction with nobody",
            frictions(r#"{"between": ["felt", "glass"], "friction": 1}"#),
            "frictions[0].between[1]",
            &["\"glass\""],
        ),
        Bad(
            "friction of three",
            frictions(r#"{"between": ["felt", "felt", "felt"], "friction": 1}"#),
            "frictions[0].between",
            &["more entries"],
        ),
        Bad("friction of one", frictions(r#"{"between": ["felt"], "friction": 1}"#), "frictions[0].between", &["2"]),
        Bad(
            "friction unsaid",
            frictions(r#"{"between": ["felt", "felt"]}"#),
            "frictions[0]",
            &["missing field `friction`"],
        ),
        Bad(
            "friction between out of range",
            frictions(r#"{"between": ["felt", "default"], "friction": 1e4}"#),
            "frictions[0].friction",
            &["contact materials \"felt\" and \"default\"", "10000"],
        ),
        Bad(
            "the same pair turned round",
            frictions(
                r#"{"between": ["felt", "default"], "friction": 1}, {"between": ["default", "felt"], "friction": 1}"#,
            ),
            "frictions[1].between",
            &["\"default\" and \"felt\"", "already"],
        ),
        Bad(
            "a part of no such material",
            r#"{"version": 1, "parts": [{"cloth_grid": {"columns": 2, "rows": 2, "contact": "tin"}}]}"#.into(),
            "parts[0].cloth_grid.contact",
            &["\"tin\""],
        ),
        Bad(
            "followers that touch",
            with(r#""bodies": []"#)
                .replace("}],", r#"}, {"followers": {"sources": [], "weights": [], "contact": "default"}}],"#),
            "parts[1].followers.contact",
            &["unknown field `contact`"],
        ),
    ]
}

fn collider_cases() -> Vec<Bad> {
    vec![
        Bad("a shapeless one", collider(r#""name": "a""#), "colliders[1]", &["missing field `shape`"]),
        Bad("an unknown shape", shape(r#"{"plane": {}}"#), "colliders[1].shape", &["`plane`", "`half_space`"]),
        Bad("two shapes", shape(r#"{"half_space": {}, "sphere": {"radius": 1}}"#), "colliders[1].shape", &["line 1"]),
        Bad(
            "a ball of no radius",
            shape(r#"{"sphere": {}}"#),
            "colliders[1].shape.sphere",
            &["missing field `radius`"],
        ),
        Bad(
            "a border that ends by a number",
            shape(
                r#"{"heightfield": {"columns": 2, "rows": 2, "spacing": 1, "heights": [0, 0, 0, 0], "ends_at_border": 1}}"#,
            ),
            "colliders[1].shape.heightfield.ends_at_border",
            &["expected a boolean"],
        ),
        Bad("a point", shape(r#"{"sphere": {"radius": 0}}"#), "colliders[1].shape", &["radius of a sphere", "0"]),
        Bad(
            "an endless capsule",
            shape(r#"{"capsule": {"radius": 1, "half_height": 1e39}}"#),
            "colliders[1].shape",
            &["half height of a capsule", "inf"],
        ),
        Bad(
            "a flat box",
            shape(r#"{"box": {"half_extents": [1, -1, 1]}}"#),
            "colliders[1].shape",
            &["half extent of a box", "-1"],
        ),
        Bad(
            "a box of two",
            shape(r#"{"box": {"half_extents": [1, 1]}}"#),
            "colliders[1].shape.box.half_extents",
            &["length 2"],
        ),
        Bad(
            "a plane of no normal",
            shape(r#"{"half_space": {"normal": [0, 0, 0]}}"#),
            "colliders[1].shape.half_space.normal",
            &["length of the normal"],
        ),
        Bad(
            "a plane of a size",
            shape(r#"{"half_space": {"radius": 1}}"#),
            "colliders[1].shape.half_space.radius",
            &["`radius`", "`normal`"],
        ),
        Bad(
            "a flat hull",
            shape(r#"{"convex_hull": {"points": [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]]}}"#),
            "colliders[1].shape",
            &["thickness of the points of a convex hull"],
        ),
        Bad(
            "too few heights",
            shape(r#"{"heightfield": {"columns": 2, "rows": 2, "spacing": 1, "heights": [0, 0, 0]}}"#),
            "colliders[1].shape",
            &["heights", "3 against 4"],
        ),
        Bad(
            "a mesh with holes",
            shape(r#"{"mesh": {"positions": [[0, 0, 0], [1, 0, 0], [0, 0, 1]], "triangles": [[0, 1, 2]]}}"#),
            "colliders[1].shape.mesh",
            &["not closed", "3 edges"],
        ),
        Bad(
            "too many samples",
            shape(
                r#"{"mesh": {"positions": [[0, 0, 0], [1, 1, 0], [0, 0, 1]], "triangles": [[0, 1, 2]],
                "open": true, "cell": 1e-4}}"#,
            ),
            "colliders[1].shape.mesh",
            &["samples of a collider mesh", "4000000"],
        ),
        Bad(
            "no mesh",
            shape(r#"{"mesh": {}}"#),
            "colliders[1].shape.mesh",
            &["either positions and triangles, or obj"],
        ),
        Bad(
            "an unknown field",
            ball(r#""velocity": [0, 0, 0]"#),
            "colliders[1].velocity",
            &["`velocity`", "`surface_velocity`"],
        ),
        Bad("an empty name", ball(r#""name": """#), "colliders[1].name", &["empty"]),
        Bad(
            "a name of two",
            with(
                r#""colliders": [{"name": "a", "shape": {"half_space": {}}}, {"name": "a", "shape": {"half_space": {}}}]"#,
            ),
            "colliders[1].name",
            &["two colliders", "\"a\""],
        ),
        Bad("an infinite place", ball(r#""position": [0, 1e39, 0]"#), "colliders[1].position", &["position", "inf"]),
        Bad("a place too far", ball(r#""position": [0, 2e6, 0]"#), "colliders[1].position", &["2000000", "1e6"]),
        Bad("no rotation", ball(r#""rotation": [0, 0, 0, 0]"#), "colliders[1].rotation", &["length of the rotation"]),
        Bad("three of four", ball(r#""rotation": [0, 0, 1]"#), "colliders[1].rotation", &["length 3"]),
        Bad("a rotation by word", ball(r#""rotation": "up""#), "colliders[1].rotation", &["quaternion", "degrees"]),
        Bad(
            "a turn about nothing",
            ball(r#""rotation": {"axis": [0, 0, 0], "degrees": 5}"#),
            "colliders[1].rotation",
            &["length of the axis"],
        ),
        Bad(
            "a turn without end",
            ball(r#""rotation": {"axis": [0, 1, 0], "degrees": 1e39}"#),
            "colliders[1].rotation",
            &["angle of a rotation", "inf"],
        ),
        Bad(
            "a turn of no angle",
            ball(r#""rotation": {"axis": [0, 1, 0]}"#),
            "colliders[1].rotation",
            &["missing field `degrees`"],
        ),
        Bad(
            "turned by both",
            collider(r#""shape": {"half_space": {"normal": [0, 0, 1]}}, "rotation": [0, 0, 0, 1]"#),
            "colliders[1].rotation",
            &["a rotation and a normal"],
        ),
        Bad("of no such material", ball(r#""contact": "tin""#), "colliders[1].contact", &["\"tin\""]),
        Bad("a negative margin", ball(r#""margin": -1"#), "colliders[1]", &["margin of", "-1", "0 to 1e3"]),
        Bad("half a shell", ball(r#""two_sided": 0.5"#), "colliders[1].two_sided", &["0.5", "boolean"]),
        Bad(
            "an endless belt",
            ball(r#""surface_velocity": [1e39, 0, 0]"#),
            "colliders[1]",
            &["surface velocity of", "inf"],
        ),
        Bad("no times", motion(r#""positions": []"#), "colliders[1].motion", &["missing field `times`"]),
        Bad(
            "times of nothing",
            motion(r#""times": [], "positions": []"#),
            "colliders[1].motion.times",
            &["there is no time"],
        ),
        Bad(
            "times that stand",
            motion(r#""times": [1, 1], "positions": [[0, 0, 0], [0, 0, 0]]"#),
            "colliders[1].motion.times",
            &["ascend"],
        ),
        Bad(
            "a time too early",
            motion(r#""times": [-1], "positions": [[0, 0, 0]]"#),
            "colliders[1].motion.times",
            &["at least 0"],
        ),
        Bad("nowhere to go", motion(r#""times": [0]"#), "colliders[1].motion", &["positions or rotations"]),
        Bad(
            "too few places",
            motion(r#""times": [0, 1], "positions": [[0, 0, 0]]"#),
            "colliders[1].motion.positions",
            &["1 entries for 2"],
        ),
        Bad(
            "too many turns",
            motion(r#""times": [0], "rotations": [[0, 0, 0, 1], [0, 0, 0, 1]]"#),
            "colliders[1].motion.rotations",
            &["2 entries for 1"],
        ),
        Bad(
            "an infinite key",
            motion(r#""times": [0, 1], "positions": [[0, 0, 0], [0, 1e39, 0]]"#),
            "colliders[1].motion.positions[1]",
            &["position of key frame 1", "inf"],
        ),
        Bad(
            "a key of no turn",
            motion(r#""times": [0, 1], "rotations": [[0, 0, 0, 1], [0, 0, 0, 0]]"#),
            "colliders[1].motion.rotations[1]",
            &["rotation of key frame 1"],
        ),
        Bad(
            "a key about nothing",
            motion(r#""times": [0], "rotations": [{"axis": [0, 0, 0], "degrees": 5}]"#),
            "colliders[1].motion.rotations[0]",
            &["length of the axis"],
        ),
        Bad(
            "two places",
            ball(r#""position": [0, 0, 0], "motion": {"times": [0], "positions": [[0, 0, 0]]}"#),
            "colliders[1].motion.positions",
            &["a position and positions"],
        ),
        Bad(
            "two turns",
            ball(r#""rotation": [0, 0, 0, 1], "motion": {"times": [0], "rotations": [[0, 0, 0, 1]]}"#),
            "colliders[1].motion.rotations",
            &["a rotation and rotations"],
        ),
        Bad(
            "a plane that turns",
            collider(
                r#""shape": {"half_space": {"normal": [0, 0, 1]}},
                "motion": {"times": [0], "rotations": [[0, 0, 0, 1]]}"#,
            ),
            "colliders[1].motion.rotations",
            &["a normal and rotations"],
        ),
        Bad(
            "an unknown key",
            motion(r#""times": [0], "offsets": [[0, 0, 0]]"#),
            "colliders[1].motion.offsets",
            &["`offsets`", "`positions`"],
        ),
    ]
}

fn setting_cases() -> Vec<Bad> {
    vec![
        Bad("true", setting(r#""self_collision": true"#), "settings.self_collision", &["`true`", "\"surfaces\""]),
        Bad("a number", setting(r#""self_collision": 1"#), "settings.self_collision", &["`1`", "\"particles\""]),
        Bad("a level", setting(r#""self_collision": "edges""#), "settings.self_collision", &["`edges`", "`surfaces`"]),
        Bad(
            "a level in full",
            setting(r#""self_collision": {"level": "edges"}"#),
            "settings.self_collision.level",
            &["`edges`", "`surfaces`"],
        ),
        Bad(
            "an unknown field",
            setting(r#""self_collision": {"thickness": 1}"#),
            "settings.self_collision.thickness",
            &["`thickness`", "`margin`"],
        ),
        Bad(
            "a margin too small",
            setting(r#""self_collision": {"margin": 0}"#),
            "settings.self_collision",
            &["margin of the self-collision", "0.05 to 10"],
        ),
        Bad(
            "too many iterations",
            setting(r#""self_collision": {"iterations": 65}"#),
            "settings.self_collision",
            &["iterations of the self-collision", "65"],
        ),
        Bad(
            "no room",
            setting(r#""self_collision": {"pairs_per_particle": 0}"#),
            "settings.self_collision",
            &["pairs per particle", "1 to 256"],
        ),
        Bad(
            "half a pair",
            setting(r#""self_collision": {"pairs_per_particle": 1.5}"#),
            "settings.self_collision.pairs_per_particle",
            &["1.5"],
        ),
        Bad("a fast recovery", setting(r#""recovery_speed": 1001"#), "settings", &["recovery", "1001"]),
        Bad("a negative recovery", setting(r#""recovery_speed": -1"#), "settings", &["recovery", "-1"]),
    ]
}

#[test]
fn invalid_contacts_are_rejected_with_their_place() {
    let mut cases = material_cases();
    cases.extend(collider_cases());
    cases.extend(setting_cases());
    assert!(cases.len() >= 70, "{}", cases.len());
    let mut faults = Vec::new();
    for Bad(what, text, place, words) in &cases {
        match parse(text) {
            Ok(_) => faults.push(format!("{what}: accepted")),
            Err(error) => {
                let message = error.to_string();
                if error.place() != *place {
                    faults.push(format!("{what}: at {:?}, not {place:?}: {message}", error.place()));
                }
                let missing = words.iter().filter(|word| !message.contains(**word));
                faults.extend(missing.map(|word| format!("{what}: no {word:?} in {message:?}")));
            }
        }
    }
    assert!(faults.is_empty(), "{} fault(s):\n{}", faults.len(), faults.join("\n"));
}

/// The positions after ten steps on the CPU, as bits, with colliders moved by `poses`.
fn run(reference: &mut Reference, poses: impl Fn(f64) -> Vec<(ColliderId, Pose)>) -> Vec<[u32; 3]> {
    let dt = f64::from(reference.settings().dt);
    for step in 1..=10 {
        for (collider, pose) in poses(f64::from(step) * dt) {
            reference.move_collider(collider, pose).unwrap();
        }
        reference.step(1);
    }
    assert_eq!(reference.read_diagnostics().unwrap().non_finite_count, 0);
    reference.read_positions().unwrap().into_iter().map(|position| position.map(f32::to_bits)).collect()
}

/// Checks for equal materials, colliders and settings, and equal bits after ten steps. Returns the file's reference.
fn assert_same(
    file: &SceneFile,
    scene: &Scene,
    settings: Settings,
    poses: impl Fn(f64) -> Vec<(ColliderId, Pose)>,
) -> Reference {
    assert_eq!(file.settings, settings);
    assert_eq!(file.scene.colliders(), scene.colliders());
    assert_eq!(file.scene.positions(), scene.positions());
    let mut reference = file.reference().unwrap();
    let own = run(&mut reference, |time| file.collider_poses_at(time).collect());
    assert!(own == run(&mut Reference::new(scene, settings).unwrap(), poses), "they part");
    reference
}

const SHEET: &str = r#"{"cloth_grid": {"columns": 9, "rows": 9, "origin": [-0.5, 0.01, -0.5], "column_axis": [1, 0, 0],
    "row_axis": [0, 0.02, 1], "velocity": [0, -1, 0.5], "contact": "wool"}}"#;

fn sheet(scene: &mut Scene, material: ContactMaterialId) {
    let grid = ClothGrid {
        columns: 9,
        rows: 9,
        origin: [-0.5, 0.01, -0.5],
        column_axis: [1.0, 0.0, 0.0],
        row_axis: [0.0, 0.02, 1.0],
        ..ClothGrid::default()
    };
    let particles = scene.add_cloth_grid(&grid).unwrap().particles;
    scene.set_particle_contact(particles.clone(), material).unwrap();
    for particle in particles {
        scene.set_velocity(particle, [0.0, -1.0, 0.5]).unwrap();
    }
}

#[test]
fn contact_materials_and_frictions_equal_those_of_the_library() {
    let mut scene = Scene::new();
    let (slow, fast) = (Friction { statics: 0.6, kinetic: 0.4 }, Friction::coulomb(0.3));
    let default = ContactMaterial { thickness: 0.01, restitution: 0.25, ..ContactMaterial::default() };
    scene.set_contact_material(ContactMaterialId::default(), default).unwrap();
    let wool = ContactMaterial { thickness: 0.04, friction: slow, groups: 0b110, touches: 0b1001, ..default };
    let wool = scene.add_contact_material(ContactMaterial { restitution: 0.0, ..wool }).unwrap();
    let steel = ContactMaterial { friction: fast, groups: 0b1000, restitution: 0.5, ..ContactMaterial::default() };
    let steel = scene.add_contact_material(steel).unwrap();
    // `wool` lists group 0, but `air` does not list the group of `wool`.
    let air = ContactMaterial { touches: 0, ..ContactMaterial::default() };
    let air = scene.add_contact_material(air).unwrap();
    scene.set_friction(wool, steel, Friction { statics: 0.2, kinetic: 0.2 }).unwrap();
    scene.set_friction(wool, wool, Friction { statics: 0.9, kinetic: 0.1 }).unwrap();
    sheet(&mut scene, wool);
    scene.add_particle(Particle { position: [0.0, 0.0, 3.0], ..Particle::default() }).unwrap();
    for (material, height) in [(steel, -0.05), (air, 0.0)] {
        scene.add_collider(Collider { material, ..Collider::new(Shape::HalfSpace, [0.0, height, 0.0]) }).unwrap();
    }
    scene.add_collider(Collider::new(Shape::Sphere { radius: 0.5 }, [0.0, -0.53, 3.0])).unwrap();
    let text = format!(
        r#"{{"version": 1, "parts": [{SHEET}, {{"particles": {{"positions": [[0, 0, 3]]}}}}],
        "contact_materials": [
            {{"name": "wool", "thickness": 0.04, "friction": {{"static": 0.6, "kinetic": 0.4}}, "groups": [1, 2], "touches": [0, 3]}},
            {{"name": "steel", "friction": 0.3, "groups": [3], "restitution": 0.5, "touches": "all"}},
            {{"name": "default", "thickness": 0.01, "restitution": 0.25}},
            {{"name": "air", "touches": []}}],
        "frictions": [{{"between": ["steel", "wool"], "friction": {{"static": 0.2}}}},
            {{"between": ["wool", "wool"], "friction": {{"static": 0.9, "kinetic": 0.1}}}}],
        "colliders": [{{"shape": {{"half_space": {{}}}}, "position": [0, -0.05, 0], "contact": "steel"}},
            {{"shape": {{"half_space": {{}}}}, "contact": "air"}},
            {{"shape": {{"sphere": {{"radius": 0.5}}}}, "position": [0, -0.53, 3]}}]}}"#
    );
    let file = good(&text);
    for (name, id) in [("default", ContactMaterialId::default()), ("wool", wool), ("steel", steel), ("air", air)] {
        assert_eq!(file.contact_materials[name], id);
        assert_eq!(file.scene.contact_material(id).unwrap(), scene.contact_material(id).unwrap(), "{name}");
    }
    assert_same(&file, &scene, Settings::default(), |_| Vec::new());
    // It lands on steel, not on air.
    let mut reference = file.reference().unwrap();
    let mut pushed = [false; 3];
    for _ in 0..10 {
        reference.step(1);
        for (pushed, force) in pushed.iter_mut().zip(reference.read_collider_forces().unwrap()) {
            *pushed |= force.force[1] < 0.0;
        }
    }
    assert_eq!(pushed, [true, false, true]);
}

#[test]
fn colliders_equal_those_of_the_library() {
    // The file has a quaternion of another length.
    let turned: [f64; 4] = [0.1f32, 0.2, -0.3, 0.9].map(f64::from);
    let length = turned.iter().map(|component| component * component).sum::<f64>().sqrt();
    let turned = turned.map(|component| (component / length) as f32);
    let about = Pose { position: [0.3, -0.1, 0.2], rotation: [0.0, 0.0, 0.5, 0.75f32.sqrt()] };
    let tetrahedron = (
        vec![[-1.0, -1.0, -1.0], [1.0, -1.0, -1.0], [0.0, -1.0, 1.0], [0.0, 0.2, 0.0]],
        [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]],
    );
    let cases = [
        (r#""shape": {"half_space": {}}"#, Collider::default()),
        (
            r#""shape": {"convex_hull": {"points": [[-1, -1, -1], [1, -1, -1], [0, -1, 1], [0, 0.2, 0]]}}"#,
            Collider::new(Shape::ConvexHull { points: tetrahedron.0.clone() }, [0.0; 3]),
        ),
        (
            r#""shape": {"heightfield": {"columns": 3, "rows": 2, "spacing": 0.5, "heights": [0, 0.1, 0, 0.1, 0, 0],
                "ends_at_border": true}}"#,
            Collider::new(
                Heightfield {
                    columns: 3,
                    rows: 2,
                    spacing: 0.5,
                    heights: vec![0.0, 0.1, 0.0, 0.1, 0.0, 0.0],
                    ends_at_border: true,
                }
                .into(),
                [0.0; 3],
            ),
        ),
        (
            r#""shape": {"mesh": {"positions": [[-1, -1, -1], [1, -1, -1], [0, -1, 1], [0, 0.2, 0]],
                "triangles": [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]], "cell": 0.1}}"#,
            Collider::new(Shape::mesh(&tetrahedron.0, &tetrahedron.1, Some(0.1)).unwrap(), [0.0; 3]),
        ),
        (
            r#""shape": {"mesh": {"positions": [[-1, -1, -1], [1, -1, -1], [0, -1, 1], [0, 0.2, 0]],
                "triangles": [[0, 3, 1], [1, 3, 2], [2, 3, 0]], "open": true}}, "margin": 0.05"#,
            Collider {
                margin: 0.05,
                ..Collider::new(Shape::sheet(&tetrahedron.0, &tetrahedron.1[1..], None).unwrap(), [0.0; 3])
            },
        ),
        (
            r#""shape": {"half_space": {"normal": [1, 2, 0]}}, "position": [0, -0.2, 0]"#,
            Collider::half_space([0.0, -0.2, 0.0], [1.0, 2.0, 0.0]).unwrap(),
        ),
        (
            r#""shape": {"sphere": {"radius": 0.3}}, "position": [0, -0.3, 0], "margin": 0.02"#,
            Collider { margin: 0.02, ..Collider::new(Shape::Sphere { radius: 0.3 }, [0.0, -0.3, 0.0]) },
        ),
        (
            r#""shape": {"capsule": {"radius": 0.1, "half_height": 0.4}}, "position": [0, -0.2, 0],
            "rotation": [0.1, 0.2, -0.3, 0.9], "two_sided": true"#,
            Collider {
                shape: Shape::Capsule { radius: 0.1, half_height: 0.4 },
                pose: Pose { position: [0.0, -0.2, 0.0], rotation: turned },
                two_sided: true,
                ..Collider::default()
            },
        ),
        (
            r#""shape": {"box": {"half_extents": [0.3, 0.1, 0.2]}}, "position": [0.3, -0.1, 0.2],
            "rotation": {"axis": [0, 0, 7], "degrees": 60}, "surface_velocity": [0, 1, 0.5]"#,
            Collider {
                shape: Shape::Box { half_extents: [0.3, 0.1, 0.2] },
                pose: about,
                surface_velocity: [0.0, 1.0, 0.5],
                ..Collider::default()
            },
        ),
    ];
    for (text, collider) in cases {
        let mut scene = Scene::new();
        let wool = scene.add_contact_material(ContactMaterial { thickness: 0.02, ..Default::default() }).unwrap();
        sheet(&mut scene, wool);
        scene.add_collider(collider).unwrap();
        let file = good(&format!(
            r#"{{"version": 1, "parts": [{SHEET}], "contact_materials": [{{"name": "wool", "thickness": 0.02}}],
            "colliders": [{{"name": "it", {text}}}]}}"#
        ));
        assert_eq!(file.colliders["it"].index(), 0);
        assert_same(&file, &scene, Settings::default(), |_| Vec::new());
    }
}

#[test]
fn every_type_of_part_accepts_a_contact_material() {
    let tet = r#"{"positions": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
        "triangles": [[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]]}"#;
    let rigid = r#""density": 1, "elasticity": {"rigid": {}}"#;
    let parts = [
        r#""particles": {"positions": [[0, 0, 0]]"#.into(),
        r#""cloth_grid": {"columns": 3, "rows": 3"#.into(),
        format!(r#""cloth_mesh": {{"mesh": {tet}"#),
        r#""rope": {"cord": "hemp", "points": [[0, 0, 0], [0, 1, 0]]"#.into(),
        format!(r#""soft_body": {{"mesh": {tet}, "spacing": 0.4, {rigid}"#),
        format!(
            r#""tetrahedra": {{"positions": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
            "tetrahedra": [[0, 1, 2, 3]], {rigid}"#
        ),
        format!(r#""balloon": {{"mesh": {tet}"#),
    ];
    // Particles whose material collides with no group fall through the floor.
    let height = |part: &str| {
        let file = good(&format!(
            r#"{{"version": 1, "parts": [{{{part}}}}}], "colliders": [{{"shape": {{"half_space": {{}}}}}}],
            "contact_materials": [{{"name": "ghost", "touches": []}}]}}"#
        ));
        let mut reference = file.reference().unwrap();
        reference.step(30);
        reference.read_positions().unwrap().iter().fold(f32::INFINITY, |low, position| position[1].min(low))
    };
    for part in &parts {
        let (stays, falls) = (height(part), height(&format!(r#"{part}, "contact": "ghost""#)));
        assert!(stays > -0.01 && falls < -0.5, "{part}: {stays} m, as a ghost {falls} m");
    }
}

#[test]
fn motions_equal_those_of_the_library() {
    let (quarter, turn) = (std::f32::consts::FRAC_1_SQRT_2, [0.0, 0.0, 0.0, 1.0]);
    let shape = Shape::Box { half_extents: [0.4, 0.05, 0.1] };
    let mut scene = Scene::new();
    let wool = scene.add_contact_material(ContactMaterial { thickness: 0.02, ..Default::default() }).unwrap();
    sheet(&mut scene, wool);
    let ball = scene.add_collider(Collider::new(Shape::Sphere { radius: 0.2 }, [-0.5, -0.25, 0.0])).unwrap();
    let paddle = scene.add_collider(Collider::new(shape, [0.0, -0.1, 0.3])).unwrap();
    let file = good(&format!(
        r#"{{"version": 1, "parts": [{SHEET}], "contact_materials": [{{"name": "wool", "thickness": 0.02}}],
        "colliders": [
            {{"name": "ball", "shape": {{"sphere": {{"radius": 0.2}}}}, "motion": {{"times": [0, 0.125, 0.25],
                "positions": [[-0.5, -0.25, 0], [0.5, -0.25, 0], [0.5, 0.25, 0]]}}}},
            {{"name": "paddle", "shape": {{"box": {{"half_extents": [0.4, 0.05, 0.1]}}}}, "position": [0, -0.1, 0.3],
                "motion": {{"times": [0, 0.5], "rotations": [[0, 0, 0, 1], {{"axis": [0, 0, 1], "degrees": 90}}]}}}}]}}"#
    ));
    assert_eq!((file.colliders["ball"], file.colliders["paddle"]), (ball, paddle));
    let poses = |time: f64| {
        let x = (-0.5 + (time.min(0.125) / 0.125)) as f32;
        let y = (-0.25 + 0.5 * ((time - 0.125).max(0.0) / 0.125)) as f32;
        let angle = 0.25 * std::f64::consts::PI * (time / 0.5);
        let rotation = [0.0, 0.0, angle.sin() as f32, angle.cos() as f32];
        vec![
            (ball, Pose { position: [x, y, 0.0], rotation: turn }),
            (paddle, Pose { position: [0.0, -0.1, 0.3], rotation }),
        ]
    };
    // Rotations by angles and by quaternions differ by rounding, so the path is compared first, then applied.
    for step in 1..=10 {
        let time = f64::from(step) / 60.0;
        for ((id, own), (expected_id, expected)) in file.collider_poses_at(time).zip(poses(time)) {
            assert_eq!(id, expected_id);
            let apart = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            let (far, turned) = (apart(&own.position, &expected.position), apart(&own.rotation, &expected.rotation));
            assert!(far < 1e-6 && turned < 1e-6, "{own:?} against {expected:?} at {time} s");
        }
    }
    assert_same(&file, &scene, Settings::default(), |time| file.collider_poses_at(time).collect());
    let mut moved = file.reference().unwrap();
    let still = run(&mut file.reference().unwrap(), |_| Vec::new());
    let here = run(&mut file.reference().unwrap(), |time| file.collider_poses_at(time).collect());
    assert!(still != here, "nothing has been moved");
    moved.move_collider(file.colliders["ball"], Pose::default()).unwrap();
    // At rest before and after; a motion sets the initial pose and takes the shorter arc.
    let at = |time: f64| file.collider_poses_at(time).map(|(_, pose)| pose).collect::<Vec<_>>();
    assert_eq!(at(0.25), [Pose { position: [0.5, 0.25, 0.0], rotation: turn }, at(0.25)[1]]);
    assert_eq!(at(9.0)[0], at(0.25)[0]);
    let [x, y, z, w] = at(9.0)[1].rotation;
    assert!([x, y] == [0.0; 2] && (z - quarter).abs() < 1e-6 && (w - quarter).abs() < 1e-6, "{z} {w}");
    assert_eq!(at(f64::NAN), at(0.0));
    let late = good(&motion(
        r#""times": [1, 2], "positions": [[0, 5, 0], [0, 6, 0]],
        "rotations": [{"axis": [0, 1, 0], "degrees": -100}, {"axis": [0, 1, 0], "degrees": 100}]"#,
    ));
    assert_eq!(late.scene.colliders()[1].pose.position, [0.0, 5.0, 0.0]);
    let middle = late.collider_poses_at(1.5).next().unwrap().1;
    assert_eq!(middle.position, [0.0, 5.5, 0.0]);
    assert!(middle.rotation[1].abs() > 0.9999, "{middle:?}");
}

#[test]
fn self_collision_equals_that_of_the_library() {
    let figures =
        SelfCollision { margin: 2.0, iterations: Some(3), pairs_per_particle: 20, ..SelfCollision::surfaces() };
    let cases = [
        ("false", None),
        ("null", None),
        (r#""particles""#, Some(SelfCollision::default())),
        (r#""surfaces""#, Some(SelfCollision::surfaces())),
        ("{}", Some(SelfCollision::default())),
        (r#"{"level": "surfaces"}"#, Some(SelfCollision::surfaces())),
        (r#"{"iterations": 4}"#, Some(SelfCollision { iterations: Some(4), ..SelfCollision::default() })),
        (r#"{"level": "surfaces", "margin": 2, "iterations": 3, "pairs_per_particle": 20}"#, Some(figures)),
    ];
    for (text, self_collision) in cases {
        let settings = Settings { self_collision, recovery_speed: 2.5, ..Settings::default() };
        let mut scene = Scene::new();
        let wool = scene.add_contact_material(ContactMaterial { thickness: 0.1, ..Default::default() }).unwrap();
        for _ in 0..2 {
            sheet(&mut scene, wool);
        }
        scene.set_position(3, [0.0, 0.1, 0.0]).unwrap();
        let file = good(&format!(
            r#"{{"version": 1, "parts": [{SHEET}, {SHEET}], "contact_materials": [{{"name": "wool", "thickness": 0.1}}],
            "start": [{{"particles": [3], "positions": [[0, 0.1, 0]]}}],
            "settings": {{"self_collision": {text}, "recovery_speed": 2.5}}}}"#
        ));
        let report = assert_same(&file, &scene, settings, |_| Vec::new()).read_contacts().unwrap();
        assert_eq!((report.lost, report.most_contacts > 0), (0, self_collision.is_some()), "{text}: {report:?}");
    }
    assert_eq!(good(&with(r#""settings": {}"#)).settings, Settings::default());
}

#[test]
fn omitted_fields_have_their_defaults() {
    let file = good(&with(r#""contact_materials": [{"name": "a"}], "colliders": [{"shape": {"half_space": {}}}]"#));
    assert_eq!(file.scene.contact_material(file.contact_materials["a"]).unwrap(), ContactMaterial::default());
    assert_eq!(file.scene.contact_material(file.contact_materials["default"]).unwrap(), ContactMaterial::default());
    assert_eq!(file.scene.colliders(), [Collider::default()]);
    assert!(file.colliders.is_empty() && file.collider_paths.is_empty());
    assert_eq!(file.collider_poses_at(1.0).count(), 0);
    let none = good(&with(r#""contact_materials": [], "frictions": [], "colliders": []"#));
    assert_eq!(none.contact_materials.len(), 1);
    assert!(none.scene.colliders().is_empty());
}

#[test]
fn the_number_of_colliders_is_limited() {
    let list = |count: usize| {
        with(&format!(r#""colliders": [{}]"#, vec![r#"{"shape": {"half_space": {}}}"#; count].join(",")))
    };
    assert_eq!(good(&list(65)).scene.colliders().len(), 65);
    let error = SceneFile::parse_within(&list(65), None, &Limits::small()).unwrap_err();
    assert!(error.place() == "colliders" && error.to_string().contains("limit of 64"), "{error}");
    let error = parse(&list(4097)).unwrap_err();
    assert!(error.place() == "colliders" && error.to_string().contains("limit of 4096"), "{error}");
}
