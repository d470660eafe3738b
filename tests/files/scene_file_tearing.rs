//! Tears, plastic rods and pressures of scene files: what they set, and the places of their errors.

use supple::scene_file::SceneFile;
use supple::{BendTwist, Distance, StretchShear};

/// A cloth that tears, a cloth that does not, and a rod, with further fields.
fn parsed(tearing: &str, more: &str) -> Result<SceneFile, String> {
    let text = format!(
        r#"{{"version": 1, "parts": [
        {{"cloth_grid": {{"name": "sheet", "columns": 6, "rows": 6, "fabric": {{"bending": "none", "structural": {{"compliance": 0.01}}, "tearing": {tearing}}}, "tethers": false}}}},
        {{"cloth_grid": {{"name": "whole", "columns": 3, "rows": 3, "origin": [4, 0, 0]}}}},
        {{"rod": {{"name": "wire", "from": [0, 2, 0], "to": [1, 2, 0], "segments": 5, "radius": 0.01, "young": 1e6, "density": 1000}}}}
        ]{more}}}"#
    );
    SceneFile::parse(&text, None).map_err(|error| error.to_string())
}

#[test]
fn a_file_sets_tears_weak_edges_and_plastic_rods() {
    let file = parsed(
        r#"{"copies": 20}"#,
        r#", "weak_edges": [{"within": ["sheet:row 2"], "strain": 0.05}],
        "plasticity": [{"joints_of": "wire", "yield_strain": 0.1}, {"segments_of": "wire", "rupture": 0.2}]"#,
    )
    .unwrap();
    assert!(file.scene.can_tear());
    // The copies lie between the two cloths.
    assert_eq!((file.parts[0].particles.clone(), file.parts[1].particles.start), (0..36, 56));
    let reference = file.reference().unwrap();
    assert_eq!(reference.read_plastic_strains::<BendTwist>().unwrap().len(), 4);
    assert_eq!(reference.read_plastic_strains::<StretchShear>().unwrap().len(), 5);
    assert!(reference.read_plastic_strains::<Distance>().unwrap().is_empty());
    // Only the weak edges tear: a pull along the columns tears the row.
    let mut reference = file.reference().unwrap();
    let ends: Vec<u32> = (0..6).chain(30..36).collect();
    reference.pin(&ends).unwrap();
    let mut torn = Vec::new();
    for step in 1..18 {
        for &particle in &ends[6..] {
            let [x, y, z] = file.scene.positions()[particle as usize];
            reference.set_target(particle, [x, y, z + 0.02 * step as f32]).unwrap();
        }
        reference.step(1);
        torn.extend(reference.tear().unwrap().edges);
    }
    torn.sort_unstable();
    assert_eq!(torn, [[12, 13], [13, 14], [14, 15], [15, 16], [16, 17]]);
}

#[test]
fn a_balloon_has_a_pressure_in_pascals_or_a_factor_and_a_gas() {
    let text = |fields: &str| {
        format!(
            r#"{{"version": 1, "parts": [{{"balloon": {{"mesh": {{"positions": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]],
            "triangles": [[0,2,1],[0,3,2],[0,1,3],[1,2,3]]}}, {fields}}}}}]}}"#
        )
    };
    assert!(SceneFile::parse(&text(r#""pascals": 200"#), None).is_ok());
    for (fields, words) in [
        (r#""pascals": 200, "pressure": 1.2"#, ["parts[0].balloon", "either pascals"]),
        (r#""pascals": -5"#, ["parts[0].balloon", "-5"]),
        (r#""pascals": 5, "fabric": {"tearing": {"strain": 0.1}}"#, ["parts[0].balloon", "gas"]),
    ] {
        let error = SceneFile::parse(&text(fields), None).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }
    let open = text(r#""pascals": 5"#).replace("[1,2,3]]", "[1,3,2]]");
    let error = SceneFile::parse(&open, None).unwrap_err().to_string();
    assert!(error.contains("parts[0].balloon") && error.contains("not closed"), "{error}");
}

#[test]
fn errors_of_tears_and_plastic_rods_name_their_places() {
    let strong = r#"{"strain": 0.2}"#;
    for (tearing, more, words) in [
        (r#"{"strain": -1}"#, "", ["parts[0].cloth_grid", "-1"]),
        (r#"{"strain": 0.1, "copies": 4000000000}"#, "", ["parts[0].cloth_grid.fabric", "4000000"]),
        (strong, r#", "weak_edges": [{"within": ["whole:all"], "strain": 0.1}]"#, ["weak_edges[0]", "no edge"]),
        (strong, r#", "weak_edges": [{"within": ["sheet:row 1"], "strain": 0}]"#, ["weak_edges[0]", "0"]),
        (strong, r#", "weak_edges": [{"within": ["sail:all"], "strain": 1}]"#, ["weak_edges[0].within[0]", "sail"]),
        (strong, r#", "plasticity": [{"joints_of": "sheet"}]"#, ["plasticity[0].joints_of", "joints of a rod"]),
        (strong, r#", "plasticity": [{"segments_of": "wire", "edges_of": "wire"}]"#, ["plasticity[0]", "one of"]),
        (strong, r#", "plasticity": [{"segments_of": "wire", "most": 2}]"#, ["plasticity[0]", "less than 1"]),
    ] {
        let error = parsed(tearing, more).err().unwrap_or_else(|| panic!("{tearing} {more} is accepted"));
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }
}
