//! Scene files build the same scene as the library calls, and errors name their place.

use std::path::{Path, PathBuf};
use supple::scene_file::{FileError, Limits, SceneFile};
use supple::{
    Balloon, Bending, ClothGrid, ClothMesh, Cord, CosineBend, Distance, DistanceLimit, Elasticity, Fabric, Field,
    Hinge, Limit, Material, Orthotropic, Particle, Reference, Rope, Scene, Settings, ShapeMatching, SoftBody,
    Stiffening, TensionPiece, Tethers, Wind,
};

fn parse(text: &str) -> Result<SceneFile, FileError> {
    SceneFile::parse(text, None)
}

fn good(text: &str) -> SceneFile {
    parse(text).unwrap_or_else(|error| panic!("{error}\nin {text}"))
}

/// A scene of the given parts, followed by more fields.
fn with(parts: &str, more: &str) -> String {
    format!(r#"{{"version": 1, "parts": [{parts}]{more}}}"#)
}

const THREE: &str =
    r#"{"particles": {"name": "p", "positions": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "pin": [0]}}"#;
const GRID: &str = r#"{"cloth_grid": {"name": "flag", "columns": 4, "rows": 3}}"#;
const QUAD: &str =
    r#"{"positions": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], "triangles": [[0, 1, 2], [0, 2, 3]]}"#;
const TET: &str = r#"{"positions": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "triangles": [[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]]}"#;

/// A text that must fail: its description, the text, and words that the error must contain.
struct Bad(&'static str, String, &'static [&'static str]);

fn constraint(text: &str) -> String {
    with(THREE, &format!(r#", "constraints": [{text}]"#))
}

fn cloth(field: &str) -> String {
    with(&format!(r#"{{"cloth_grid": {{"columns": 4, "rows": 3, {field}}}}}"#), "")
}

fn rope(field: &str) -> String {
    with(&format!(r#"{{"rope": {{{field}}}}}"#), "")
}

fn setting(field: &str) -> String {
    with(THREE, &format!(r#", "settings": {{{field}}}"#))
}

fn target(field: &str) -> String {
    with(THREE, &format!(r#", "targets": [{{{field}}}]"#))
}

fn syntax_cases() -> Vec<Bad> {
    vec![
        Bad("an empty text", String::new(), &["line 1", "EOF"]),
        Bad("no JSON", "hello".into(), &["line 1, column 1", "expected value"]),
        Bad("a list", "[]".into(), &["line 1"]),
        Bad("no version", "{}".into(), &["version"]),
        Bad("a later version", r#"{"version": 2}"#.into(), &["version: line 1", "version 2", "reads 1"]),
        Bad("two scenes", format!("{} {{}}", with(THREE, "")), &["trailing"]),
        Bad("cut short", with(THREE, "")[..40].into(), &["EOF"]),
        Bad("an unknown field", with(THREE, r#", "particels": []"#), &["unknown field `particels`", "column"]),
        Bad("an unknown part", with(r#"{"sphere": {}}"#, ""), &["parts[0]", "unknown variant `sphere`", "cloth_grid"]),
        Bad(
            "a part of two kinds",
            with(r#"{"particles": {"positions": [[0, 0, 0]]}, "balloon": {}}"#, ""),
            &["parts[0]", "one field, its kind"],
        ),
        Bad("an unknown field in a part", cloth(r#""colums": 3"#), &["parts[0].cloth_grid", "`colums`", "`columns`"]),
        Bad(
            "a text for a number",
            cloth(r#""origin": [0, "x", 0]"#),
            &["parts[0].cloth_grid.origin[1]", "\"x\"", "f32"],
        ),
        Bad("two coordinates", cloth(r#""origin": [0, 1]"#), &["parts[0].cloth_grid.origin", "length 2"]),
        Bad("negative columns", with(r#"{"cloth_grid": {"columns": -1, "rows": 2}}"#, ""), &["columns", "`-1`", "u32"]),
        Bad("half a column", with(r#"{"cloth_grid": {"columns": 2.5, "rows": 2}}"#, ""), &["columns", "2.5"]),
        Bad("no rows", with(r#"{"cloth_grid": {"columns": 2}}"#, ""), &["parts[0].cloth_grid", "missing field `rows`"]),
        Bad("a number too large", cloth(r#""origin": [1e999, 0, 0]"#), &["out of range"]),
        Bad("deep nesting", format!(r#"{{"version": 1, "colliders": [{}]}}"#, "[".repeat(100_000)), &["colliders[0]"]),
        Bad(
            "a constraint of no kind",
            constraint(r#"{"spring": {"particles": [[0, 1]]}}"#),
            &["constraints[0]", "`spring`", "`distance`"],
        ),
        Bad(
            "three particles for a pair",
            constraint(r#"{"distance": {"particles": [[0, 1], [0, 1, 2]]}}"#),
            &["constraints[0].distance.particles[1]"],
        ),
        Bad(
            "a fractional particle",
            constraint(r#"{"distance": {"particles": [[0, 1.5]]}}"#),
            &["constraints[0].distance.particles[0][1]", "1.5", "a particle"],
        ),
        Bad(
            "a particle beyond 32 bits",
            constraint(r#"{"distance": {"particles": [[0, 5000000000]]}}"#),
            &["particles[0][1]", "5000000000", "beyond any scene"],
        ),
        Bad("a method of no name", setting(r#""method": "euler""#), &["settings.method", "`euler`", "`naive_pbd`"]),
        Bad("a field of no sort", setting(r#""fields": [{"well": {}}]"#), &["settings.fields[0]", "`well`"]),
        Bad("a seed of text", setting(r#""color_order": {"shuffled": {"seed": "a"}}"#), &["color_order.shuffled.seed"]),
        Bad(
            "a material given twice",
            with(THREE, r#", "materials": {"a": {}, "a": {}}"#),
            &["materials", "\"a\"", "twice"],
        ),
        Bad("bending of no name", cloth(r#""fabric": {"bending": "soft"}"#), &["cloth_grid.fabric.bending", "`soft`"]),
    ]
}

fn part_cases() -> Vec<Bad> {
    let mesh = |mesh: &str| with(&format!(r#"{{"cloth_mesh": {{"mesh": {mesh}}}}}"#), "");
    let body = |field: &str| with(&format!(r#"{{"soft_body": {{"mesh": {TET}, "density": 1, {field}}}}}"#), "");
    let tets = |field: &str| {
        let positions = r#""positions": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]"#;
        with(&format!(r#"{{"tetrahedra": {{{positions}, "density": 1, {field}}}}}"#), "")
    };
    let followers = |field: &str| with(&format!(r#"{THREE}, {{"followers": {{{field}}}}}"#), "");
    vec![
        Bad("nothing at all", r#"{"version": 1}"#.into(), &["parts", "no particles"]),
        Bad("a name of two", with(&format!("{GRID}, {GRID}"), ""), &["parts[1].cloth_grid.name", "\"flag\""]),
        Bad("a colon in a name", cloth(r#""name": "a:b""#), &["parts[0].cloth_grid.name", "colon"]),
        Bad("one column", with(r#"{"cloth_grid": {"columns": 1, "rows": 9}}"#, ""), &["parts[0]", "columns", "1", "2"]),
        Bad(
            "a grid of billions",
            with(r#"{"cloth_grid": {"columns": 4000000000, "rows": 4000000000}}"#, ""),
            &["parts[0].cloth_grid", "particles of the scene", "16000000000000000000", "limit of 4000000"],
        ),
        Bad("an infinite origin", cloth(r#""origin": [1e39, 0, 0]"#), &["parts[0].cloth_grid", "origin", "inf"]),
        Bad("axes of one direction", cloth(r#""row_axis": [1, 0, 0]"#), &["parts[0].cloth_grid", "area"]),
        Bad("an unknown fabric", cloth(r#""fabric": "velvet""#), &["parts[0].cloth_grid.fabric", "velvet", "silk"]),
        Bad("a weightless fabric", cloth(r#""fabric": {"area_density": 0}"#), &["parts[0]", "area density", "0"]),
        Bad("an unknown material", cloth(r#""fabric": {"shear": "glue"}"#), &["cloth_grid.fabric", "\"glue\""]),
        Bad("nine tethers", cloth(r#""tethers": {"per_particle": 9}"#), &["parts[0].cloth_grid", "tethers", "9"]),
        Bad("a pin past the end", cloth(r#""pin": [0, 12]"#), &["parts[0].cloth_grid.pin[1]", "no particle 12", "12"]),
        Bad("a row past the end", cloth(r#""pin": ["row 3"]"#), &["cloth_grid.pin[0]", "no row 3 of 3"]),
        Bad("a pin of no sense", cloth(r#""pin": ["top left"]"#), &["cloth_grid.pin[0]", "top left", "row R"]),
        Bad(
            "an empty box",
            cloth(r#""pin": [{"box": [[5, 5, 5], [6, 6, 6]]}]"#),
            &["pin[0]", "no particle in the box"],
        ),
        Bad("a box inside out", cloth(r#""pin": [{"box": [[1, 0, 0], [0, 1, 1]]}]"#), &["pin[0]", "lowest"]),
        Bad("an infinite velocity", cloth(r#""velocity": [0, 1e39, 0]"#), &["cloth_grid.velocity", "inf"]),
        Bad("a mesh of no sort", mesh("{}"), &["parts[0].cloth_mesh.mesh", "obj"]),
        Bad(
            "a mesh without folder",
            mesh(r#"{"obj": "a.obj"}"#),
            &["cloth_mesh.mesh.obj", "a.obj", "without a folder"],
        ),
        Bad(
            "a vertex past the end",
            mesh(r#"{"positions": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "triangles": [[0, 1, 3]]}"#),
            &["parts[0].cloth_mesh", "triangle 0", "3"],
        ),
        Bad(
            "a mesh of no scale",
            mesh(&QUAD.replace('}', r#", "scale": [1, 0, 1]}"#)),
            &["parts[0].cloth_mesh.mesh", "scale", "0"],
        ),
        Bad(
            "two factors",
            mesh(&QUAD.replace('}', r#", "scale": [1, 2]}"#)),
            &["cloth_mesh.mesh", "scale has 2 values for 3"],
        ),
        Bad("a rope of nothing", rope(r#""cord": "hemp""#), &["parts[0].rope", "points"]),
        Bad("a rope of one point", rope(r#""cord": "hemp", "points": [[0, 0, 0]]"#), &["parts[0].rope", "two points"]),
        Bad(
            "a rope of no segments",
            rope(r#""cord": "hemp", "from": [0, 0, 0], "to": [1, 0, 0], "segments": 0"#),
            &["parts[0].rope.segments", "at least 1"],
        ),
        Bad(
            "a rope of billions",
            rope(r#""cord": "hemp", "from": [0, 0, 0], "to": [1, 0, 0], "segments": 4294967295"#),
            &["parts[0].rope.segments", "4294967296", "4000000"],
        ),
        Bad("a cord of no name", rope(r#""cord": "silk", "points": []"#), &["parts[0].rope.cord", "silk", "hemp"]),
        Bad("a cord of no mass", rope(r#""cord": {}, "points": []"#), &["parts[0].rope.cord", "linear_density"]),
        Bad(
            "corners of a rope",
            rope(r#""cord": "hemp", "points": [[0,0,0],[1,0,0]], "pin": ["corners"]"#),
            &["rope.pin[0]"],
        ),
        Bad(
            "an open body",
            with(
                &format!(
                    r#"{{"soft_body": {{"mesh": {QUAD}, "density": 1, "spacing": 0.5,
            "elasticity": {{"rigid": {{}}}}}}}}"#
                ),
                "",
            ),
            &["parts[0].soft_body", "not closed"],
        ),
        Bad(
            "a body of no spacing",
            body(r#""spacing": 0, "elasticity": {"rigid": {}}"#),
            &["soft_body", "spacing", "0"],
        ),
        Bad(
            "a body of billions of cubes",
            body(r#""spacing": 0.0001, "elasticity": {"rigid": {}}"#),
            &["parts[0].soft_body.spacing", "cubes", "limit of 4000000"],
        ),
        Bad(
            "a body of a billion members",
            body(r#""spacing": 0.01, "elasticity": {"regions": {"rings": 8}}"#),
            &["parts[0].soft_body.spacing", "groups", "limit of 32000000"],
        ),
        Bad(
            "nine rings",
            body(r#""spacing": 0.5, "elasticity": {"regions": {"rings": 9}}"#),
            &["soft_body.elasticity", "9"],
        ),
        Bad(
            "both moduli",
            body(r#""spacing": 0.5, "elasticity": {"elastic": {"young": 1, "bulk": 1, "incompressible": true}}"#),
            &["soft_body.elasticity", "incompressible"],
        ),
        Bad("a body without stiffness", body(r#""spacing": 0.5, "elasticity": {"elastic": {"young": 0}}"#), &["Young"]),
        Bad(
            "a tetrahedron inside out",
            tets(r#""tetrahedra": [[0, 2, 1, 3]], "elasticity": {"rigid": {}}"#),
            &["parts[0].tetrahedra", "volume of tetrahedron 0"],
        ),
        Bad(
            "an open balloon",
            with(&format!(r#"{{"balloon": {{"mesh": {QUAD}}}}}"#), ""),
            &["parts[0].balloon", "closed"],
        ),
        Bad(
            "mass and inverse mass",
            with(r#"{"particles": {"positions": [[0,0,0]], "mass": 1, "inverse_mass": 1}}"#, ""),
            &["parts[0].particles", "both"],
        ),
        Bad(
            "too few masses",
            with(r#"{"particles": {"positions": [[0,0,0], [1,0,0]], "mass": [1]}}"#, ""),
            &["particles.mass", "1 values for 2"],
        ),
        Bad("no mass", with(r#"{"particles": {"positions": [[0,0,0]], "mass": 0}}"#, ""), &["particles.mass", "0"]),
        Bad(
            "a follower of one",
            followers(r#""sources": [[0, 0, 0, 0]], "weights": [[1, 1, 0, 0]]"#),
            &["parts[1].followers.weights[0]", "sum"],
        ),
        Bad(
            "a follower of nobody",
            followers(r#""sources": [[0, 0, 0, 9]], "weights": [[1, 0, 0, 0]]"#),
            &["followers.sources[0][3]", "9", "only 4"],
        ),
        Bad(
            "a follower of its own part",
            followers(r#""name": "f", "sources": [["f:0", "f:0", "f:0", "f:0"]], "weights": [[1, 0, 0, 0]]"#),
            &["followers.sources[0][0]", "no part above is named \"f\""],
        ),
        Bad(
            "a follower too few",
            followers(r#""sources": [[0, 0, 0, 0]], "weights": []"#),
            &["followers.weights", "0 entries for 1"],
        ),
    ]
}

fn constraint_cases() -> Vec<Bad> {
    vec![
        Bad(
            "a particle past the end",
            constraint(r#"{"distance": {"particles": [[0, 1], [1, 4]]}}"#),
            &["constraints[0].distance.particles[1][1]", "particle 4", "only 4"],
        ),
        Bad(
            "a part of no name",
            constraint(r#"{"distance": {"particles": [[0, "q:1"]]}}"#),
            &["constraints[0].distance.particles[0][1]", "\"q\""],
        ),
        Bad("a text without part", constraint(r#"{"distance": {"particles": [[0, "1"]]}}"#), &["[0][1]", "PART:INDEX"]),
        Bad("two for one", constraint(r#"{"distance": {"particles": [[0, "p:1-2"]]}}"#), &["[0][1]", "2 particles"]),
        Bad(
            "the same twice",
            constraint(r#"{"distance": {"particles": [[1, "p:1"]]}}"#),
            &["particles[0]", "more than once"],
        ),
        Bad(
            "a negative length",
            constraint(r#"{"distance": {"particles": [[0, 1]], "rest_length": -0.5}}"#),
            &["constraints[0].distance.particles[0]", "rest length", "-0.5"],
        ),
        Bad(
            "too few lengths",
            constraint(r#"{"distance": {"particles": [[0, 1], [1, 2]], "rest_length": [1]}}"#),
            &["constraints[0].distance", "rest_length has 1 values for 2"],
        ),
        Bad("no kind", constraint("{}"), &["constraints[0]", "it is empty"]),
        Bad("a number as a kind", constraint("7"), &["constraints[0]", "it is a number"]),
        Bad("a list as a kind", constraint("[1]"), &["constraints[0]", "it is a list"]),
        Bad(
            "a list as a material",
            constraint(r#"{"distance": {"particles": [[0, 1]], "material": [1e-5, 1e-4]}}"#),
            &["distance.material", "sequence"],
        ),
        Bad(
            "a particle in reserve",
            with(
                r#"{"cloth_grid": {"columns": 3, "rows": 3, "fabric": {"tearing": {"strain": 0.1}}}}"#,
                r#", "constraints": [{"distance": {"particles": [[0, 9]]}}]"#,
            ),
            &["particles[0][1]", "9", "reserve"],
        ),
        Bad(
            "too few masses of a group",
            constraint(r#"{"shape_matching": {"particles": [0, 1, 2], "masses": [1]}}"#),
            &["constraints[0].shape_matching", "masses has 1 values for 3"],
        ),
        Bad(
            "an unknown material of a group",
            constraint(r#"{"shape_matching": {"particles": [0, 1, 2], "material": "x"}}"#),
            &["constraints[0].shape_matching.material", "\"x\""],
        ),
        Bad(
            "a corner past the end",
            constraint(r#"{"pressure": {"triangles": [[0, 1, 9]]}}"#),
            &["constraints[0].pressure.triangles[0][2]", "particle 9"],
        ),
        Bad(
            "an unknown material",
            constraint(r#"{"distance": {"particles": [], "material": "x"}}"#),
            &["distance.material", "\"x\""],
        ),
        Bad(
            "a negative compliance",
            constraint(r#"{"distance": {"particles": [], "material": {"compliance": -1}}}"#),
            &["constraints[0].distance.material", "compliance", "-1"],
        ),
        Bad(
            "a material out of range",
            with(THREE, r#", "materials": {"m": {"stiffness": 2}}"#),
            &["materials.m", "stiffness", "2"],
        ),
        Bad(
            "a limit on nothing",
            constraint(r#"{"distance_limit": {"limit": "at_most"}}"#),
            &["constraints[0].distance_limit", "edges_of"],
        ),
        Bad(
            "edges of loose particles",
            constraint(r#"{"distance_limit": {"limit": "at_most", "edges_of": "p"}}"#),
            &["distance_limit.edges_of", "no edges"],
        ),
        Bad(
            "a limit of both",
            constraint(r#"{"distance_limit": {"limit": "at_most", "particles": [], "length": 1, "scale": 2}}"#),
            &["constraints[0].distance_limit", "both"],
        ),
        Bad(
            "an angle too wide",
            constraint(r#"{"hinge": {"particles": [[0, 1, 2, 3]], "rest_angle": 4}}"#),
            &["constraints[0].hinge.particles[0]", "rest angle", "4"],
        ),
        Bad(
            "a cosine too wide",
            constraint(r#"{"cosine_bend": {"particles": [[0, 1, 2]], "rest_angle": -1}}"#),
            &["constraints[0].cosine_bend.particles[0]", "-1"],
        ),
        Bad(
            "a bend of no scale",
            constraint(r#"{"isometric_bend": {"particles": [[0, 1, 2, 3]], "scale": 0}}"#),
            &["constraints[0].isometric_bend.particles[0]", "scale", "0"],
        ),
        Bad(
            "one length of two",
            constraint(r#"{"line_bend": {"particles": [[0, 1, 2]], "lengths": [[1]]}}"#),
            &["constraints[0].line_bend.lengths[0]", "length 1"],
        ),
        Bad(
            "a negative area",
            constraint(r#"{"area": {"particles": [[0, 1, 2]], "rest_area": -1}}"#),
            &["area.particles[0]", "-1"],
        ),
        Bad(
            "a volume inside out",
            constraint(r#"{"volume": {"particles": [[0, 2, 1, 3]]}}"#),
            &["constraints[0].volume.particles[0]", "rest volume"],
        ),
        Bad(
            "pressure on nothing",
            constraint(r#"{"pressure": {}}"#),
            &["constraints[0].pressure", "part or triangles"],
        ),
        Bad(
            "pressure on a hole",
            constraint(r#"{"pressure": {"triangles": [[0, 1, 2]]}}"#),
            &["constraints[0].pressure", "not closed"],
        ),
        Bad(
            "a group of one",
            constraint(r#"{"shape_matching": {"particles": [1]}}"#),
            &["constraints[0].shape_matching", "at least 2"],
        ),
        Bad(
            "a group of too few masses",
            constraint(r#"{"shape_matching": {"particles": ["p:all"], "masses": [1, 2]}}"#),
            &["constraints[0].shape_matching", "2 values for 4"],
        ),
        Bad(
            "members beyond the limit",
            with(
                r#"{"cloth_grid": {"name": "g", "columns": 200, "rows": 200}}"#,
                &format!(r#", "pins": [{}"g:0"]"#, r#""g:all", "#.repeat(900)),
            ),
            &["pins[800]", "limit of 32000000"],
        ),
    ]
}

fn other_cases() -> Vec<Bad> {
    vec![
        Bad("no time step", setting(r#""dt": 0"#), &["settings", "dt", "0"]),
        Bad("too many substeps", setting(r#""substeps": 10001"#), &["settings", "substeps", "10001"]),
        Bad("an infinite gravity", setting(r#""gravity": [0, -1e39, 0]"#), &["settings", "gravity", "-inf"]),
        Bad("a gravity of four", setting(r#""gravity": [0, -9.81, 0, 0]"#), &["settings.gravity", "more entries"]),
        Bad("too strong gusts", setting(r#""wind": {"gust": 11}"#), &["settings", "gust", "11"]),
        Bad(
            "nine fields",
            setting(&format!(
                r#""fields": [{}]"#,
                [r#"{"point": {"position": [0,0,0], "strength": 1, "radius": 1}}"#; 9].join(",")
            )),
            &["settings.fields", "9", "limit of 8"],
        ),
        Bad(
            "a vortex without axis",
            setting(r#""fields": [{"vortex": {"position": [0,0,0], "axis": [0,0,0], "strength": 1, "radius": 1}}]"#),
            &["settings", "axis of field 0"],
        ),
        Bad("a pin past the end", with(THREE, r#", "pins": [1, 4]"#), &["pins[1]", "particle 4", "only 4"]),
        Bad("a pin of no part", with(THREE, r#", "pins": ["all"]"#), &["pins[0]", "PART:INDEX"]),
        Bad(
            "bodies that overlap",
            with(GRID, r#", "bodies": [{"first": 3, "last": 5}]"#),
            &["bodies[0]", "more than once"],
        ),
        Bad(
            "a body backwards",
            with(THREE, r#", "bodies": [{"first": 3, "last": 1}]"#),
            &["bodies[0]", "before its first"],
        ),
        Bad(
            "a free target",
            target(r#""particles": [1], "times": [0], "offsets": [[0,0,0]]"#),
            &["targets[0].particles", "particle 1", "not pinned"],
        ),
        Bad(
            "no times",
            target(r#""particles": [0], "times": [], "offsets": []"#),
            &["targets[0].times", "there is no time"],
        ),
        Bad(
            "times that fall",
            target(r#""particles": [0], "times": [1, 0], "offsets": [[0,0,0],[0,0,0]]"#),
            &["targets[0].times", "time 1 is 0 s, but time 0 is 1 s", "ascend"],
        ),
        Bad(
            "a time too early",
            target(r#""particles": [0], "times": [-1], "offsets": [[0,0,0]]"#),
            &["targets[0].times"],
        ),
        Bad(
            "too few offsets",
            target(r#""particles": [0], "times": [0, 1], "offsets": [[0,0,0]]"#),
            &["targets[0].offsets", "1 entries for 2"],
        ),
        Bad(
            "nowhere to go",
            target(r#""particles": [0], "times": [0]"#),
            &["targets[0]", "either positions or offsets"],
        ),
        Bad(
            "an infinite target",
            target(r#""particles": [0], "times": [0], "positions": [[1e39,0,0]]"#),
            &["targets[0].positions[0]", "inf"],
        ),
        Bad(
            "two targets",
            with(
                THREE,
                r#", "targets": [{"particles": [0], "times": [0], "offsets": [[0,0,0]]},
                {"particles": ["p:0"], "times": [0], "offsets": [[0,0,0]]}]"#,
            ),
            &["targets[1].particles", "particle 0", "already"],
        ),
        Bad(
            "one place for two",
            with(GRID, r#", "pins": [0, 1], "targets": [{"particles": [0, 1], "times": [0], "positions": [[0,0,0]]}]"#),
            &["targets[0].positions", "one particle, not 2"],
        ),
        Bad(
            "an infinite force",
            with(THREE, r#", "forces": [{"particles": [1], "force": [0, 1e39, 0]}]"#),
            &["forces[0].force", "particle 1", "inf"],
        ),
        Bad(
            "a force on nobody",
            with(THREE, r#", "forces": [{"particles": [7], "force": [0, 1, 0]}]"#),
            &["forces[0].particles[0]", "7"],
        ),
        Bad(
            "a start of both",
            with(THREE, r#", "start": [{"particles": [1], "offset": [0,0,0], "positions": [[0,0,0]]}]"#),
            &["start[0]", "both"],
        ),
        Bad(
            "too few starts",
            with(THREE, r#", "start": [{"particles": [1, 2], "positions": [[0,0,0]]}]"#),
            &["start[0].positions", "1 positions for 2"],
        ),
        Bad(
            "an infinite start",
            with(THREE, r#", "start": [{"particles": [1], "velocity": [0, 0, -1e39]}]"#),
            &["start[0].velocity", "-inf"],
        ),
    ]
}

#[test]
fn invalid_scenes_are_rejected_with_their_place() {
    let mut cases = syntax_cases();
    cases.extend(part_cases());
    cases.extend(constraint_cases());
    cases.extend(other_cases());
    assert!(cases.len() >= 100, "{}", cases.len());
    let mut faults = Vec::new();
    for Bad(what, text, words) in &cases {
        match parse(text) {
            Ok(_) => faults.push(format!("{what}: accepted")),
            Err(error) => {
                let message = error.to_string();
                faults.extend(
                    words
                        .iter()
                        .filter(|word| !message.contains(**word))
                        .map(|word| format!("{what}: no {word:?} in {message:?}")),
                );
            }
        }
    }
    assert!(faults.is_empty(), "{} fault(s):\n{}", faults.len(), faults.join("\n"));
}

/// A folder with the given files, for one test.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    folder
}

fn cloth_from(obj: &str) -> String {
    with(&format!(r#"{{"cloth_mesh": {{"mesh": {{"obj": "{obj}"}}}}}}"#), "")
}

#[test]
fn invalid_obj_files_are_rejected_with_their_line() {
    let files = [
        ("faceless.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n"),
        ("empty.obj", "# nothing\n"),
        ("past.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n"),
        ("zero.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n"),
        ("back.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -1 -2 -4\n"),
        ("pair.obj", "v 0 0 0\nv 1 0 0\nf 1 2\n"),
        ("flat.obj", "v 0 0\n"),
        ("word.obj", "v 0 0 zero\n"),
        ("endless.obj", "v 0 0 inf\n"),
        ("letters.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf a b c\n"),
        ("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n"),
    ];
    let folder = folder("bad_obj", &files);
    std::fs::write(folder.join("binary.obj"), b"v 0 0 \xff\n").unwrap();
    let cases: [(&str, &[&str]); 15] = [
        ("missing.obj", &["missing.obj", "cannot read"]),
        ("faceless.obj", &["faceless.obj", "no faces"]),
        ("empty.obj", &["empty.obj", "no vertices"]),
        ("past.obj", &["past.obj", "line 4", "vertex 4", "only 3"]),
        ("zero.obj", &["line 4", "vertex 0"]),
        ("back.obj", &["line 4", "vertex -4"]),
        ("pair.obj", &["line 3", "three corners"]),
        ("flat.obj", &["line 1", "three coordinates"]),
        ("word.obj", &["line 1", "\"zero\""]),
        ("endless.obj", &["line 1", "inf"]),
        ("letters.obj", &["line 4", "\"a\""]),
        ("binary.obj", &["binary.obj", "line 1", "not a number"]),
        (".", &["not a file"]),
        ("/etc/hostname", &["relative"]),
        ("line.obj", &["parts[0].cloth_mesh", "area of"]),
    ];
    for (name, words) in cases {
        let error = SceneFile::parse(&cloth_from(name), Some(&folder)).unwrap_err();
        let place = if name == "line.obj" { "parts[0].cloth_mesh" } else { "parts[0].cloth_mesh.mesh.obj" };
        assert_eq!(error.place(), place, "{error}");
        for word in words {
            assert!(error.to_string().contains(word), "no {word:?} in {error}");
        }
    }
}

#[test]
fn obj_files_keep_their_order_and_cut_quads_along_their_first_diagonal() {
    // Two objects with shared vertices, all forms of corners, a vertex with a colour, and a continued line.
    let text = "o one\nv 0 0 0 1 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\nf 1/1/1 2/1/1 3//1 \\\n 4\no two\n\
        v 2 0 0 # last\nf 2 -1 3/1\n";
    let folder = folder("good_obj", &[("quad.obj", text)]);
    let file = SceneFile::parse(&cloth_from("quad.obj"), Some(&folder)).unwrap();
    assert_eq!(file.scene.triangles(), [[0, 1, 2], [0, 2, 3], [1, 4, 2]]);
    assert_eq!(file.scene.positions()[4], [2.0, 0.0, 0.0]);
    // Written to a file and read from there.
    std::fs::write(folder.join("scene.json"), cloth_from("quad.obj")).unwrap();
    let read = SceneFile::read(folder.join("scene.json")).unwrap();
    assert_eq!(read.scene.positions(), file.scene.positions());
    let error = SceneFile::read(folder.join("none.json")).unwrap_err();
    assert!(matches!(error, FileError::Read { .. }) && error.to_string().contains("none.json"), "{error}");
}

#[test]
fn meshes_are_scaled_then_rotated_then_translated() {
    let mesh = QUAD.replace('}', r#", "scale": [2, 1, 1], "rotate": [0, 0, 90], "translate": [0, 0, 5]}"#);
    let file = good(&with(&format!(r#"{{"cloth_mesh": {{"mesh": {mesh}}}}}"#), ""));
    let expected = [[0.0, 0.0, 5.0], [0.0, 2.0, 5.0], [-1.0, 2.0, 5.0], [-1.0, 0.0, 5.0]];
    for (place, expected) in file.scene.positions().iter().zip(expected) {
        for axis in 0..3 {
            assert!((place[axis] - expected[axis]).abs() < 1e-6, "{place:?} against {expected:?}");
        }
    }
    // Rotations about x, then y, then z: z goes to −y, which y keeps, and z turns to x.
    let turned = |x: [f32; 3]| {
        let mesh = format!(
            r#"{{"positions": [[0, 0, 0], [1, 0, 0], [0, 1, 0], {x:?}], "triangles": [[0, 1, 2]],
            "rotate": [90, 90, 90]}}"#
        );
        good(&with(&format!(r#"{{"cloth_mesh": {{"mesh": {mesh}}}}}"#), "")).scene.positions()[3]
    };
    let [x, y, z] = turned([0.0, 0.0, 1.0]).map(f32::round);
    assert_eq!([x, y, z], [1.0, 0.0, 0.0]);
    // A mirrored mesh keeps its outside, so a balloon accepts it.
    let mirrored = TET.replace("]]}", r#"]], "scale": [-1, 1, 1]}"#);
    good(&with(&format!(r#"{{"balloon": {{"mesh": {mirrored}}}}}"#), ""));
}

#[test]
fn omitted_fields_have_their_defaults() {
    let file = good(&with(GRID, ""));
    assert_eq!(file.settings, Settings::default());
    assert_eq!(good(&with(GRID, r#", "settings": {}"#)).settings, Settings::default());
    assert_eq!(good(&with(GRID, r#", "settings": {"wind": {}}"#)).settings.wind, Some(Wind::default()));
    assert!(file.forces.is_empty() && file.targets.is_empty() && file.materials.is_empty() && file.title.is_none());
    assert_eq!(file.targets_at(1.0).count(), 0);
    let part = file.part("flag").unwrap();
    assert_eq!((part.particles.clone(), part.grid), (0..12, Some([4, 3])));
    assert_eq!(part.edges.len(), 29);
    let settings = r#", "settings": {"dt": 0.01, "substeps": 5, "iterations": 3, "gravity": [0, 0, 1], "damping": 0.5,
        "step_factor": 0.9, "body_damping": 0.1, "method": "naive_pbd", "sweep": "jacobi", "relaxation": 1.5,
        "color_order": {"shuffled": {"seed": 4}}, "execution": "colors", "tethers": false, "keep_lambdas": true, "triangle_contacts": false,
        "fields": [{"point": {"position": [1, 2, 3], "strength": 4, "radius": 5}}]}"#;
    let expected = Settings {
        self_collision: None,
        recovery_speed: 1.0,
        dt: 0.01,
        substeps: 5,
        iterations: 3,
        gravity: [0.0, 0.0, 1.0],
        damping: 0.5,
        step_factor: 0.9,
        body_damping: 0.1,
        method: supple::Method::NaivePbd,
        sweep: supple::Sweep::Jacobi,
        relaxation: 1.5,
        color_order: supple::ColorOrder::Shuffled { seed: 4 },
        execution: supple::Execution::Colors,
        wind: None,
        fields: Field::slots(&[Field::Point { position: [1.0, 2.0, 3.0], strength: 4.0, radius: 5.0 }]),
        forces: false,
        contact_events: 0,
        collider_forces: true,
        tethers: false,
        triangle_contacts: false,
        keep_lambdas: true,
        mean_forces: false,
        tether_forces: false,
    };
    assert_eq!(good(&with(GRID, settings)).settings, expected);
}

/// The positions after ten steps on the CPU, as bits.
fn run(mut reference: Reference) -> Vec<[u32; 3]> {
    reference.step(10);
    assert_eq!(reference.read_diagnostics().unwrap().non_finite_count, 0);
    reference.read_positions().unwrap().into_iter().map(|position| position.map(f32::to_bits)).collect()
}

fn assert_same(file: &SceneFile, scene: &Scene) {
    assert_eq!(file.scene.positions(), scene.positions());
    assert_eq!(file.scene.inverse_masses(), scene.inverse_masses());
    assert_eq!(file.scene.constraint_count(), scene.constraint_count());
    assert_eq!(file.scene.bodies(), scene.bodies());
    assert_eq!(file.scene.triangles(), scene.triangles());
    assert!(file.scene.pinned_particles().eq(scene.pinned_particles()));
    assert!(run(file.reference().unwrap()) == run(Reference::new(scene, file.settings).unwrap()), "they part");
}

#[test]
fn presets_equal_those_of_the_library() {
    let fabrics = [
        ("plain", Fabric::default()),
        ("silk", Fabric::SILK),
        ("cotton", Fabric::COTTON),
        ("denim", Fabric::DENIM),
        ("stretch_denim", Fabric::STRETCH_DENIM),
        ("wool", Fabric::WOOL),
        ("leather", Fabric::LEATHER),
        ("rubber", Fabric::RUBBER),
    ];
    for (name, fabric) in fabrics {
        let mut scene = Scene::new();
        let cloth = scene.add_cloth_grid(&ClothGrid { columns: 4, rows: 3, fabric, ..Default::default() }).unwrap();
        scene.pin(cloth.particles.start).unwrap();
        assert_same(&good(&cloth_text(&format!(r#""fabric": "{name}""#))), &scene);
        assert_same(&good(&cloth_text(&format!(r#""fabric": {{"preset": "{name}"}}"#))), &scene);
    }
    let cords = [
        ("steel_cable", Cord::STEEL_CABLE),
        ("nylon", Cord::NYLON),
        ("hemp", Cord::HEMP),
        ("cotton", Cord::COTTON),
        ("rubber_band", Cord::RUBBER_BAND),
    ];
    for (name, cord) in cords {
        let points = [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [1.0, 0.0, 0.0]];
        let mut scene = Scene::new();
        scene.add_rope(&Rope { points: &points, cord, tethers: Some(Tethers::default()) }).unwrap();
        scene.pin(0).unwrap();
        let text = format!(r#""cord": "{name}", "from": [0, 0, 0], "to": [1, 0, 0], "segments": 2, "pin": ["first"]"#);
        assert_same(&good(&rope(&text)), &scene);
    }
}

fn cloth_text(field: &str) -> String {
    cloth(&format!(r#""pin": [0], {field}"#))
}

#[test]
fn a_cloth_with_given_parameters_equals_that_of_the_library() {
    let soft = Material { compliance: 2e-3, damping: 0.5, damping_time: 0.01, stiffness: 0.7 };
    for (name, bending) in [
        ("springs", Bending::Springs),
        ("hinges", Bending::Hinges),
        ("isometric", Bending::Isometric),
        ("none", Bending::None),
    ] {
        let fabric = Fabric {
            area_density: 0.3,
            structural: Material::compliant(1e-5),
            shear: soft,
            bend: soft,
            flexural_rigidity: 1e-3,
            bending,
            stretch_limit: 1.2,
            membrane: None,
            tearing: None,
        };
        let grid = ClothGrid {
            columns: 5,
            rows: 4,
            origin: [0.0, 1.0, 2.0],
            column_axis: [1.0, 0.0, 0.5],
            row_axis: [0.0, 0.5, 1.0],
            fabric,
            tethers: Some(Tethers { per_particle: 1, scale: 1.1 }),
        };
        let mut scene = Scene::new();
        scene.add_material(soft).unwrap();
        let cloth = scene.add_cloth_grid(&grid).unwrap();
        for column in [0, 4] {
            scene.pin(column).unwrap();
        }
        for particle in cloth.particles {
            scene.set_velocity(particle, [0.0, 0.0, 1.0]).unwrap();
        }
        let text = format!(
            r#"{{"cloth_grid": {{"columns": 5, "rows": 4, "origin": [0, 1, 2], "column_axis": [1, 0, 0.5],
            "row_axis": [0, 0.5, 1], "tethers": {{"per_particle": 1, "scale": 1.1}}, "velocity": [0, 0, 1], "pin": [0, "4"],
            "fabric": {{"area_density": 0.3, "structural": {{"compliance": 1e-5}}, "shear": "soft", "bend": "soft",
            "flexural_rigidity": 1e-3, "stretch_limit": 1.2, "bending": "{name}"}}}}}}"#
        );
        let table =
            r#", "materials": {"soft": {"compliance": 2e-3, "damping": 0.5, "damping_time": 0.01, "stiffness": 0.7}}"#;
        assert_same(&good(&with(&text, table)), &scene);
    }
}

#[test]
fn a_cloth_with_a_membrane_equals_that_of_the_library() {
    let membrane = Orthotropic { weft: 1e3, shear: 50.0, ..Orthotropic::isotropic(2e3, 0.2) };
    let fabric = Fabric { membrane: Some(membrane), bending: Bending::Hinges, ..Fabric::default() };
    let mut scene = Scene::new();
    let grid = ClothGrid { columns: 5, rows: 4, fabric, ..ClothGrid::default() };
    scene.add_cloth_grid(&grid).unwrap();
    scene.pin(0).unwrap();
    let text = r#"{"cloth_grid": {"columns": 5, "rows": 4, "pin": [0], "fabric": {"bending": "hinges",
        "membrane": {"warp": 2000, "weft": 1000, "shear": 50, "poisson_ratio": 0.2}}}}"#;
    assert_same(&good(&with(text, "")), &scene);

    // A tension of three pieces along the warp, of two along the weft.
    let piece = |strain, modulus| Some(TensionPiece { strain, modulus });
    let warp = [piece(0.01, 4e3), piece(0.05, f32::INFINITY)];
    let stiffening = Stiffening { warp, weft: [piece(0.02, 1500.0), None] };
    let mut scene = Scene::new();
    let fabric = Fabric { membrane: Some(Orthotropic { stiffening, ..membrane }), ..fabric };
    let cloth = scene.add_cloth_grid(&ClothGrid { fabric, ..grid }).unwrap();
    assert_eq!((cloth.membranes.len(), cloth.membrane_limits.len()), (3 * 24, 3 * 24));
    scene.pin(0).unwrap();
    let pieces = r#""poisson_ratio": 0.2, "warp_pieces": [{"strain": 0.01, "modulus": 4000}, {"strain": 0.05}],
        "weft_pieces": [{"strain": 0.02, "modulus": 1500}]"#;
    let text = text.replace(r#""poisson_ratio": 0.2"#, pieces);
    assert_same(&good(&with(&text, "")), &scene);
    let three =
        text.replace(r#"[{"strain": 0.02, "modulus": 1500}]"#, &format!("[{}]", [r#"{"strain": 0.1}"#; 3].join(", ")));
    let error = SceneFile::parse(&with(&three, ""), None).unwrap_err().to_string();
    assert!(error.contains("weft_pieces has 3 pieces, but at most 2"), "{error}");

    // An isotropic sheet needs no direction.
    let mut scene = Scene::new();
    let fabric = Fabric { membrane: Some(Orthotropic::isotropic(500.0, 0.3)), ..Fabric::default() };
    let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.5]];
    let triangles = [[0, 1, 2], [2, 1, 3]];
    let tethers = Some(Tethers::default());
    scene.add_cloth_mesh(&ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers }).unwrap();
    let text = r#"{"cloth_mesh": {"mesh": {"positions": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.5]],
        "triangles": [[0, 1, 2], [2, 1, 3]]}, "fabric": {"membrane": {"warp": 500, "poisson_ratio": 0.3}}}}"#;
    assert_same(&good(&with(text, "")), &scene);
}

/// Both triangles of a square have the warp along y, by texture coordinates with a seam.
#[test]
fn the_texture_of_a_mesh_gives_the_warp_of_its_membrane() {
    let fabric = r#""fabric": {"membrane": {"warp": 2000, "weft": 1000, "shear": 50}}"#;
    let scene = |name: &str, obj: &str| {
        let text = with(&format!(r#"{{"cloth_mesh": {{"mesh": {{"obj": "mesh.obj"}}, {fabric}}}}}"#), "");
        let folder = folder(name, &[("mesh.obj", obj)]);
        SceneFile::parse(&text, Some(&folder))
    };
    let vertices = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";
    let texture = "vt 0 0\nvt 0 -1\nvt 1 -1\nvt 5 5\nvt 6 4\nvt 6 5\nvt 0 0\n";
    let file = scene("warp", &format!("{vertices}{texture}f 1/1 2/2 3/3\nf 1/4 3/5 4/6\n")).unwrap();
    let membrane =
        Orthotropic { weft: 1e3, shear: 50.0, direction: Some([0.0, 1.0, 0.0]), ..Orthotropic::isotropic(2e3, 0.0) };
    let fabric = Fabric { membrane: Some(membrane), ..Fabric::default() };
    let mut expected = Scene::new();
    let (positions, triangles) = (file.scene.positions(), file.scene.triangles());
    expected.add_cloth_mesh(&ClothMesh { positions, triangles, fabric, tethers: Some(Tethers::default()) }).unwrap();
    assert_same(&file, &expected);
    for (name, obj, words) in [
        ("bare", format!("{vertices}f 1 2 3\n"), "texture coordinates"),
        ("half", format!("{vertices}{texture}f 1/1 2/2 3/3\nf 1 3 4\n"), "triangle 1 has no texture coordinates"),
        ("flat", format!("{vertices}{texture}f 1/1 2/2 3/3\nf 1/1 3/2 4/7\n"), "texture coordinates of triangle 1"),
    ] {
        let message = scene(name, &obj).unwrap_err().to_string();
        assert!(message.contains(words) && message.contains("parts[0].cloth_mesh"), "{name}: {message}");
    }
}

#[test]
fn constraints_without_rest_values_keep_the_shape() {
    let points = [[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 1.0, 0.3], [0.4, -0.8, 0.5]];
    let mut scene = Scene::new();
    for (position, mass) in points.into_iter().zip([1.0, 2.0, 3.0, 4.0]) {
        scene.add_particle(Particle { position, velocity: [0.1, 0.0, 0.0], inverse_mass: 1.0 / mass }).unwrap();
    }
    scene.pin(0).unwrap();
    scene.add_body(0..4).unwrap();
    let soft = Material { damping_time: 0.01, ..Material::compliant(0.01) };
    let apart = |a: usize, b: usize| glam::Vec3::from(points[a]).distance(points[b].into());
    let stretch = Distance { particles: [0, 1], rest_length: apart(0, 1) };
    scene.add(stretch, Material::RIGID).unwrap();
    scene.add(Distance { particles: [2, 3], rest_length: 1.5 }, soft).unwrap();
    let limit = DistanceLimit { particles: [1, 2], length: apart(1, 2) * 1.2, limit: Limit::AtMost };
    scene.add(limit, soft).unwrap();
    let hinge = Hinge::new([0, 1, 2, 3], Hinge::angle(points));
    scene.add(Hinge { scale: 2.0, ..hinge }, soft).unwrap();
    scene.add(CosineBend { particles: [1, 2, 0], rest_angle: 1.0 }, soft).unwrap();
    let masses = [1.0, 2.0, 3.0, 4.0].map(|mass: f32| 1.0 / (1.0 / mass));
    let group = ShapeMatching { particles: &[0, 1, 2, 3], rest_positions: &points, masses: &masses };
    scene.add(group, soft).unwrap();
    scene.set_position(3, [0.4, -0.8, 0.75]).unwrap();
    let text = with(
        r#"{"particles": {"name": "p", "positions": [[0, 0, 0], [1, 0.1, 0], [0.2, 1, 0.3], [0.4, -0.8, 0.5]],
            "mass": [1, 2, 3, 4], "velocity": [0.1, 0, 0], "body": true}}"#,
        r#", "pins": ["p:first"], "constraints": [
            {"distance": {"particles": [["p:0", 1]]}},
            {"distance": {"particles": [[2, 3]], "rest_length": 1.5, "material": {"compliance": 0.01, "damping_time": 0.01}}},
            {"distance_limit": {"particles": [[1, 2]], "limit": "at_most", "scale": 1.2,
                "material": {"compliance": 0.01, "damping_time": 0.01}}},
            {"hinge": {"particles": [[0, 1, 2, 3]], "scale": 2, "material": {"compliance": 0.01, "damping_time": 0.01}}},
            {"cosine_bend": {"particles": [[1, 2, 0]], "rest_angle": [1],
                "material": {"compliance": 0.01, "damping_time": 0.01}}},
            {"shape_matching": {"particles": ["p:all"], "material": {"compliance": 0.01, "damping_time": 0.01}}}],
        "start": [{"particles": ["p:last"], "offset": [0, 0, 0.25]}]"#,
    );
    assert_same(&good(&text), &scene);
}

#[test]
fn defaults_of_rest_values_leave_a_shape_at_rest() {
    // No gravity and no deformation, so no particle may move.
    let still = r#", "settings": {"gravity": [0, 0, 0]}, "constraints": [
        {"distance": {"particles": [[0, 1]]}}, {"hinge": {"particles": [[0, 1, 2, 3]]}},
        {"distance_limit": {"particles": [[0, 2]], "limit": "at_least"}}, {"cosine_bend": {"particles": [[1, 2, 0]]}},
        {"area": {"particles": [[0, 1, 2]]}}, {"membrane": {"particles": [[0, 1, 2]], "weights": [0, 1, 0.5]}},
        {"membrane_limit": {"particles": [[0, 1, 2]], "strain": 0.0}},
        {"neo_hookean": {"particles": [[0, 1, 2, 3]]}}, {"volume": {"particles": [[0, 1, 2, 3]]}},
        {"pressure": {"triangles": [[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]]}},
        {"shape_matching": {"particles": ["p:all"]}}]"#;
    let file = good(&with(THREE, still));
    let mut reference = file.reference().unwrap();
    reference.step(10);
    for (end, start) in reference.read_positions().unwrap().iter().zip(file.scene.positions()) {
        assert!((0..3).all(|axis| (end[axis] - start[axis]).abs() < 1e-6), "{start:?} to {end:?}");
    }
    // A row stays straight, and a flat quadrangle stays flat.
    let flat = r#"{"particles": {"positions": [[0, 0, 0], [1, 0, 0], [0.5, 1, 0], [0.5, -1, 0], [2, 0, 0]]}}"#;
    let bends = r#", "settings": {"gravity": [0, 0, 0]}, "constraints": [{"line_bend": {"particles": [[0, 4, 1]]}},
        {"isometric_bend": {"particles": [[0, 1, 2, 3]]}}]"#;
    let file = good(&with(flat, bends));
    let mut reference = file.reference().unwrap();
    reference.step(10);
    assert_eq!(reference.read_positions().unwrap(), file.scene.positions());
}

#[test]
fn bodies_equal_those_of_the_library() {
    let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let triangles = [[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]];
    let elasticities = [
        (
            r#"{"elastic": {"young": 1e4, "bulk": 2e4, "damping_time": 0.01}}"#,
            Elasticity::Elastic { young: 1e4, bulk: 2e4, damping_time: 0.01 },
        ),
        (
            r#"{"elastic": {"young": 1e4, "incompressible": true}}"#,
            Elasticity::Elastic { young: 1e4, bulk: f32::INFINITY, damping_time: 0.3 * (500f32 / 1e4).sqrt() },
        ),
        (r#"{"elastic": {"young": 1e4}}"#, Elasticity::elastic(1e4, 500.0, 0.3)),
        (
            r#"{"elastic": {"young": 1e4, "bulk": 0, "damping_time": 0}}"#,
            Elasticity::Elastic { young: 1e4, bulk: 0.0, damping_time: 0.0 },
        ),
        (r#"{"neo_hookean": {"young": 1e4, "poisson_ratio": 0.4}}"#, Elasticity::neo_hookean(1e4, 0.4, 500.0, 0.3)),
        (
            r#"{"neo_hookean": {"young": 1e4, "poisson_ratio": 0, "damping_time": 0.02}}"#,
            Elasticity::NeoHookean { young: 1e4, poisson_ratio: 0.0, damping_time: 0.02 },
        ),
        (r#"{"rigid": {}}"#, Elasticity::Rigid { shape: Material::RIGID }),
        (
            r#"{"regions": {"rings": 2, "shape": {"compliance": 1e-3}}}"#,
            Elasticity::Regions { rings: 2, shape: Material::compliant(1e-3) },
        ),
    ];
    for (text, elasticity) in elasticities {
        let (mut scene, spacing, density) = (Scene::new(), 0.3, 500.0);
        let (positions, triangles) = (&positions[..], &triangles[..]);
        scene.add_soft_body(&SoftBody { positions, triangles, spacing, density, elasticity }).unwrap();
        let field = format!(r#""mesh": {TET}, "spacing": 0.3, "density": 500, "elasticity": {text}"#);
        assert_same(&good(&with(&format!(r#"{{"soft_body": {{{field}}}}}"#), "")), &scene);
    }
    let mut scene = Scene::new();
    let (fabric, gas) = (Fabric::RUBBER, Material::compliant(1e-3));
    let balloon = Balloon { positions: &positions, triangles: &triangles, fabric, pressure: 1.5, gas };
    scene.add_balloon(&balloon).unwrap();
    let field = format!(r#""mesh": {TET}, "fabric": "rubber", "pressure": 1.5, "gas": {{"compliance": 1e-3}}"#);
    assert_same(&good(&with(&format!(r#"{{"balloon": {{{field}}}}}"#), "")), &scene);
    // The same from a cloth and a constraint on its surface.
    let skin = format!(r#"{{"cloth_mesh": {{"name": "skin", "mesh": {TET}, "fabric": "rubber", "tethers": false}}}}"#);
    let inside =
        r#", "constraints": [{"pressure": {"part": "skin", "pressure": 1.5, "material": {"compliance": 1e-3}}}]"#;
    assert_same(&good(&with(&skin, inside)), &scene);
}

#[test]
fn a_limit_on_the_edges_of_a_part_limits_each_edge() {
    let text = r#", "constraints": [{"distance_limit": {"edges_of": "flag", "scale": 1.1, "limit": "at_most"}}]"#;
    let mut scene = Scene::new();
    let cloth = scene.add_cloth_grid(&ClothGrid { columns: 4, rows: 3, ..Default::default() }).unwrap();
    let edges: Vec<_> = scene.distances(cloth.structural.start..cloth.shear.end).collect();
    for Distance { particles, rest_length } in edges {
        let limit = DistanceLimit { particles, length: rest_length * 1.1, limit: Limit::AtMost };
        scene.add(limit, Material::RIGID).unwrap();
    }
    assert_same(&good(&with(GRID, text)), &scene);
}

#[test]
fn selections_select_the_documented_particles() {
    let pinned = |list: &str| -> Vec<u32> {
        let text = with(&format!("{THREE}, {GRID}"), &format!(r#", "pins": [{list}]"#));
        good(&text).scene.pinned_particles().filter(|&particle| particle != 0).collect()
    };
    let cases: [(&str, &[u32]); 12] = [
        ("5", &[5]),
        (r#""flag:1", 7"#, &[5, 7]),
        (r#""flag:2-4""#, &[6, 7, 8]),
        (r#""flag:first", "flag:last""#, &[4, 15]),
        (r#""flag:row 1""#, &[8, 9, 10, 11]),
        (r#""flag:row last""#, &[12, 13, 14, 15]),
        (r#""flag:column 0""#, &[4, 8, 12]),
        (r#""flag:column last""#, &[7, 11, 15]),
        (r#""flag:corners""#, &[4, 7, 12, 15]),
        (r#""p:all""#, &[1, 2, 3]),
        (r#"{"part": "flag", "box": [[-1, 0, -1], [-1, 0, 1]]}"#, &[4, 8, 12]),
        (r#"{"box": [[0.5, 0, 0], [1, 0, 0]]}"#, &[1, 11]),
    ];
    for (list, expected) in cases {
        assert_eq!(pinned(list), expected, "{list}");
    }
    // Within a part, the selection names its own particles.
    let own = with(&format!(r#"{THREE}, {{"cloth_grid": {{"columns": 4, "rows": 3, "pin": [1, "row last"]}}}}"#), "");
    let pinned: Vec<u32> = good(&own).scene.pinned_particles().collect();
    assert_eq!(pinned, [0, 5, 12, 13, 14, 15]);
}

#[test]
fn targets_move_along_straight_lines() {
    let file = good(&target(r#""particles": [0], "times": [1, 2, 4], "positions": [[0, 0, 0], [1, 0, 0], [1, 2, 0]]"#));
    let at = |time: f64| file.targets_at(time).collect::<Vec<_>>();
    for (time, expected) in [
        (0.0, [0.0, 0.0, 0.0]),
        (1.0, [0.0, 0.0, 0.0]),
        (1.25, [0.25, 0.0, 0.0]),
        (2.0, [1.0, 0.0, 0.0]),
        (3.5, [1.0, 1.5, 0.0]),
        (4.0, [1.0, 2.0, 0.0]),
        (100.0, [1.0, 2.0, 0.0]),
    ] {
        assert_eq!(at(time), [(0, expected)], "at {time} s");
    }
    let text = r#", "pins": ["flag:row 0"],
        "targets": [{"particles": ["flag:row 0"], "times": [0, 2], "offsets": [[0, 0, 0], [0, 1, 0]]}]"#;
    let file = good(&with(GRID, text));
    for (index, (particle, [x, y, z])) in file.targets_at(1.0).enumerate() {
        let [x0, y0, z0] = file.scene.positions()[index];
        assert_eq!((particle as usize, [x, y, z]), (index, [x0, y0 + 0.5, z0]));
    }
    // Also at a time of NaN.
    assert_eq!(file.targets_at(f64::NAN).count(), 4);
}

#[test]
fn forces_are_summed_and_applied() {
    let text = r#", "settings": {"gravity": [0, 0, 0]}, "forces": [{"particles": ["p:all"], "force": [1, 0, 0]},
        {"particles": [2], "force": [0, 2, 0]}]"#;
    let file = good(&with(THREE, text));
    assert!(file.settings.forces);
    assert_eq!(file.forces, [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [1.0, 0.0, 0.0]]);
    let mut reference = file.reference().unwrap();
    reference.step(60);
    let [x, y, _] = reference.read_velocities().unwrap()[2];
    assert!((x - 1.0).abs() < 1e-4 && (y - 2.0).abs() < 1e-4, "{x} {y}");
}

#[test]
fn materials_of_the_table_can_be_found_by_name() {
    let text = r#", "materials": {"soft": {"compliance": 0.5}, "hard": {}},
        "constraints": [{"distance": {"particles": [[0, 1]], "material": "soft"}}]"#;
    let file = good(&with(THREE, text));
    let soft = file.scene.material(file.materials["soft"]).unwrap();
    assert_eq!(soft, Material::compliant(0.5));
    // Named entries can be changed while running.
    let mut reference = file.reference().unwrap();
    reference.set_material(file.materials["soft"], Material::RIGID).unwrap();
}

#[test]
fn lower_limits_are_respected() {
    let text = with(r#"{"cloth_grid": {"columns": 200, "rows": 200}}"#, "");
    assert!(parse(&text).is_ok());
    let error = SceneFile::parse_within(&text, None, &Limits::small()).unwrap_err();
    assert!(error.to_string().contains("limit of 10000"), "{error}");
    let long = format!("{text}{}", " ".repeat(1 << 20));
    let error = SceneFile::parse_within(&long, None, &Limits::small()).unwrap_err();
    assert!(error.to_string().contains("bytes"), "{error}");
}

#[test]
fn a_cloth_mesh_equals_that_of_the_library() {
    let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    let triangles = [[0, 1, 2], [0, 2, 3]];
    for (word, tethers) in [("true", Some(Tethers::default())), ("false", None)] {
        let mut scene = Scene::new();
        let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric: Fabric::WOOL, tethers };
        scene.add_cloth_mesh(&mesh).unwrap();
        scene.pin(1).unwrap();
        let field = format!(r#""mesh": {QUAD}, "fabric": "wool", "tethers": {word}, "pin": [1]"#);
        assert_same(&good(&with(&format!(r#"{{"cloth_mesh": {{{field}}}}}"#), "")), &scene);
    }
}

/// The fenced blocks of the given language in a document.
fn blocks<'a>(text: &'a str, sort: &str) -> Vec<&'a str> {
    let fence = format!("```{sort}\n");
    text.split(&fence).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

fn document(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)).unwrap()
}

#[test]
fn the_examples_of_the_document_are_scenes() {
    let text = document("scene.md");
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/scenes");
    let blocks = blocks(&text, "json");
    assert!(blocks.len() >= 2, "{}", blocks.len());
    for block in blocks {
        let file = SceneFile::parse(block, Some(&scenes)).unwrap_or_else(|error| panic!("{error}\nin {block}"));
        let mut reference = file.reference().unwrap();
        reference.step(2);
        assert_eq!(reference.read_diagnostics().unwrap().non_finite_count, 0);
    }
}

#[test]
fn the_document_lists_every_field() {
    fn names(schema: &serde_json::Value, found: &mut std::collections::BTreeSet<String>) {
        match schema {
            serde_json::Value::Object(map) => {
                if let Some(serde_json::Value::Object(properties)) = map.get("properties") {
                    found.extend(properties.keys().cloned());
                }
                for key in ["const", "enum"] {
                    let values =
                        map.get(key).into_iter().flat_map(|it| it.as_array().cloned().unwrap_or(vec![it.clone()]));
                    found.extend(values.filter_map(|value| value.as_str().map(String::from)));
                }
                map.values().for_each(|value| names(value, found));
            }
            serde_json::Value::Array(list) => list.iter().for_each(|value| names(value, found)),
            _ => {}
        }
    }
    let text = document("scene.md");
    let mut found = std::collections::BTreeSet::new();
    names(&supple::scene_file::schema(), &mut found);
    assert!(found.len() > 80, "{}", found.len());
    let named = |name: &str| text.contains(&format!("`{name}`")) || text.contains(&format!("\"{name}\""));
    let missing: Vec<_> = found.iter().filter(|name| !named(name)).collect();
    assert!(missing.is_empty(), "docs/scene.md does not name {missing:?}");
}

/// Run with `SUPPLE_WRITE_SCHEMA=1` to write the schema file.
#[test]
fn the_schema_agrees_with_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scene.schema.json");
    let schema = supple::scene_file::schema();
    if std::env::var_os("SUPPLE_WRITE_SCHEMA").is_some() {
        std::fs::write(&path, format!("{schema:#}\n")).unwrap();
    }
    let committed: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert!(
        committed == schema,
        "docs/scene.schema.json is not that of the code; write it anew: SUPPLE_WRITE_SCHEMA=1 cargo test --test files scene_file"
    );
}
