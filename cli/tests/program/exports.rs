//! `supple bake` writes meshes and point caches that agree with the positions of the simulation.

use crate::{array, bake, baked, path, refused, scene};
use supple::scene_file::{ObjMesh, SceneFile};

#[test]
fn surfaces_are_written_as_obj() {
    let name = scene("bat.json");
    let [out, _] =
        baked(&[&name, "--frames", "4", "--every", "2", "--reference", "--obj", "swing", "--out", "swing.npy"]);
    assert!(out.contains("wrote swing [3 files]"), "{out}");
    let values = array("swing.npy").1;
    let file = SceneFile::read(&name).unwrap();
    for (index, frame) in [0, 2, 4].into_iter().enumerate() {
        let text = std::fs::read_to_string(path("swing").join(format!("frame_{frame:05}.obj"))).unwrap();
        let words = |sort: &str| -> Vec<Vec<String>> {
            let lines = text.lines().filter_map(|line| line.strip_prefix(sort));
            lines.map(|line| line.split_whitespace().map(String::from).collect()).collect()
        };
        let vertices: Vec<f32> = words("v ").concat().iter().map(|word| word.parse().unwrap()).collect();
        assert_eq!(vertices, values[index * 1024 * 3..][..1024 * 3]);
        let vertex = |word: &String| word.split('/').next().unwrap().parse::<u32>().unwrap() - 1;
        let corners: Vec<u32> = words("f ").concat().iter().map(vertex).collect();
        assert_eq!(corners, file.scene.triangles().concat());
    }
}

#[test]
fn texture_coordinates_of_an_obj_are_written_in_every_frame() {
    let folder = path("textured");
    std::fs::create_dir_all(&folder).unwrap();
    // A tube of three sides, split at its seam, after a part without texture.
    let text = "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 0 0\nv 0 1 0\nv 1 1 0\nv 0 1 1\nv 0 1 0\n\
        vt 0 0\nvt 0.25 0\nvt 0.5 0\nvt 1 0\nvt 0 1\nvt 0.25 1\nvt 0.5 1\nvt 1 1\n\
        f 1/1 2/2 6/6 5/5\nf 2/2 3/3 7/7 6/6\nf 3/3 4/4 8/8 7/7\n";
    std::fs::write(folder.join("tube.obj"), text).unwrap();
    let scene = |weld: &str| {
        let text = format!(
            r#"{{"version": 1, "parts": [{{"cloth_grid": {{"columns": 2, "rows": 2}}}},
            {{"cloth_mesh": {{"mesh": {{"obj": "tube.obj"{weld}}}}}}}, {{"cloth_mesh": {{"mesh": {{"obj": "tube.obj"{weld}}}}}}}]}}"#
        );
        std::fs::write(folder.join("scene.json"), text).unwrap();
        let output = bake(&["textured/scene.json", "--frames", "1", "--reference", "--obj", "textured/frames"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).unwrap()
    };
    let said = scene("");
    assert!(said.contains("warning: parts[1].cloth_mesh: the cloth has open seams: 2 border vertices"), "{said}");
    assert!(!scene(r#", "weld": 0"#).contains("warning"));
    for frame in 0..2 {
        let mesh = ObjMesh::read(folder.join(format!("frames/frame_{frame:05}.obj"))).unwrap();
        assert_eq!((mesh.positions.len(), mesh.triangles.len(), mesh.texture.coordinates.len()), (16, 14, 20));
        // The grid, with row 0 at the top of its picture.
        assert_eq!(mesh.texture.coordinates[..4], [[0.0, 1.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0]]);
        assert_eq!(mesh.texture.triangles[..2], [Some(mesh.triangles[0]), Some(mesh.triangles[1])]);
        let read = ObjMesh::parse(text).unwrap();
        for (copy, first) in [(2, 4), (8, 12)] {
            for (index, own) in read.texture.triangles.iter().enumerate() {
                let expected = own.map(|corners| corners.map(|corner| first + corner));
                assert_eq!(mesh.texture.triangles[copy + index], expected);
            }
        }
        assert_eq!(mesh.texture.coordinates[4..12], read.texture.coordinates);
    }
}

/// A rope, loose particles, a tube with a welded seam and a soft body: vertices are not particles.
fn mixed(folder: &str) -> SceneFile {
    let root = path(folder);
    std::fs::create_dir_all(&root).unwrap();
    let tube = "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 0 0\nv 0 1 0\nv 1 1 0\nv 0 1 1\nv 0 1 0\n\
        f 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\n";
    std::fs::write(root.join("tube.obj"), tube).unwrap();
    let text = r#"{"version": 1, "parts": [
        {"particles": {"positions": [[9, 0, 0]]}},
        {"rope": {"name": "cord", "from": [0, 3, 0], "to": [1, 3, 0], "segments": 4, "cord": "nylon", "pin": ["first"]}},
        {"cloth_mesh": {"name": "tube", "mesh": {"obj": "tube.obj", "weld": 0}}},
        {"soft_body": {"name": "box", "spacing": 0.5, "density": 100, "elasticity": {"rigid": {}},
            "mesh": {"positions": [[3, 0, 0], [4, 0, 0], [3, 1, 0], [3, 0, 1]],
                "triangles": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]}}}]}"#;
    std::fs::write(root.join("scene.json"), text).unwrap();
    SceneFile::read(root.join("scene.json")).unwrap()
}

/// The words of a cache after its header.
fn floats(bytes: &[u8], value: fn([u8; 4]) -> f32) -> Vec<f32> {
    bytes.chunks_exact(4).map(|bytes| value(bytes.try_into().unwrap())).collect()
}

#[test]
fn point_caches_have_the_vertices_of_the_mesh_files() {
    let file = mixed("caches");
    let arguments = ["caches/scene.json", "--frames", "4", "--every", "2", "--reference", "--out", "caches/x.npy"];
    let [out, _] = baked(&[&arguments[..], &["--pc2", "caches/x.pc2", "--mdd", "caches/x.mdd"]].concat());
    // 5 points of the rope, 8 vertices of the tube, though welded, and 4 of the body.
    assert!(out.contains("wrote caches/x.pc2 [3 samples, 17 points]"), "{out}");
    let positions = array("caches/x.npy").1;
    let count = file.scene.particle_count();
    let [rope, tube, body] = ["cord", "tube", "box"].map(|name| file.part(name).unwrap());
    let particles: Vec<u32> =
        rope.particles.clone().chain(tube.vertex_particles.clone()).chain(body.vertex_particles.clone()).collect();
    let place = |sample: usize, particle: u32| positions[(sample * count + particle as usize) * 3..][..3].to_vec();
    let expected: Vec<f32> =
        (0..3).flat_map(|sample| particles.iter().flat_map(move |&particle| place(sample, particle))).collect();
    let pc2 = std::fs::read(path("caches/x.pc2")).unwrap();
    assert_eq!(floats(&pc2[32..], f32::from_le_bytes), expected);
    let mdd = std::fs::read(path("caches/x.mdd")).unwrap();
    let values = floats(&mdd[8..], f32::from_be_bytes);
    assert_eq!(values[..3], [0.0, 2.0, 4.0].map(|step: f32| step * file.settings.dt));
    assert_eq!(values[3..], expected);
    baked(&[
        "caches/scene.json",
        "--frames",
        "4",
        "--every",
        "2",
        "--reference",
        "--part",
        "box",
        "--pc2",
        "caches/box.pc2",
    ]);
    let pc2 = std::fs::read(path("caches/box.pc2")).unwrap();
    let own: Vec<f32> = expected.chunks(51).flat_map(|sample| &sample[39..]).copied().collect();
    assert_eq!(floats(&pc2[32..], f32::from_le_bytes), own);
    let each = ["caches/scene.json", "--frames", "4", "--every", "2", "--reference", "--pc2", "caches/each_{part}.pc2"];
    assert!(baked(&each)[0].contains("wrote caches/each_cord.pc2 [3 samples, 5 points]"));
    assert_eq!(std::fs::read(path("caches/each_box.pc2")).unwrap(), pc2);
    assert!(path("caches/each_tube.pc2").is_file() && !path("caches/each_{part}.pc2").exists());
}

#[test]
fn ropes_are_lines_and_loose_particles_are_left_out() {
    mixed("lines");
    let exports = ["--obj", "lines/frames", "--usd", "lines/frames.usda"];
    baked(&[&["lines/scene.json", "--frames", "0", "--reference"], &exports[..]].concat());
    let usd = std::fs::read_to_string(path("lines/frames.usda")).unwrap();
    // The thickness of contacts is 5 mm by default.
    assert!(usd.contains("widths = [0.005, 0.005, 0.005, 0.005, 0.005] (interpolation = \"vertex\")"), "{usd}");
    let text = std::fs::read_to_string(path("lines/frames/frame_00000.obj")).unwrap();
    let count = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    // 5 points of the rope, 6 welded vertices of the tube, 4 of the body.
    assert_eq!((count("v "), count("vn "), count("f "), count("l ")), (15, 10, 10, 1), "{text}");
    assert!(text.contains("g cord\nl 1 2 3 4 5\ng tube\n"), "{text}");
    for line in text.lines().filter_map(|line| line.strip_prefix("vn ")) {
        let square: f32 = line.split(' ').map(|word| word.parse::<f32>().unwrap().powi(2)).sum();
        assert!((square - 1.0).abs() < 1e-5, "{line}");
    }
}

#[test]
fn rods_are_curves() {
    let text = r#"{"version": 1, "settings": {"dt": 0.0208333}, "parts": [
        {"rod": {"name": "bar", "from": [0, 1, 0], "to": [1, 1, 0], "segments": 2, "radius": 0.01, "young": 1e7, "density": 1000}},
        {"cloth_grid": {"columns": 2, "rows": 2}},
        {"rod": {"name": "ring", "points": [[1, 2, 0], [0, 2, 1], [-1, 2, 0], [0, 2, -1]], "closed": true, "rest": "shape",
            "radius": 0.01, "young": 1e7, "density": 1000}}]}"#;
    std::fs::write(path("rods.json"), text).unwrap();
    let arguments = ["rods.json", "--frames", "2", "--every", "2", "--reference", "--out", "rods.npy", "--obj", "rods"];
    let [out, _] = baked(&[&arguments[..], &["--usd", "rods.usda", "--pc2", "rods.pc2"]].concat());
    assert!(out.contains("wrote rods.pc2 [2 samples, 11 points]") && out.contains("[2 samples, 3 prims]"), "{out}");
    let values = array("rods.npy").1;
    let pc2 = std::fs::read(path("rods.pc2")).unwrap();
    assert_eq!(floats(&pc2[32..], f32::from_le_bytes), values);
    let obj = std::fs::read_to_string(path("rods/frame_00002.obj")).unwrap();
    assert!(obj.contains("g bar\nl 1 2 3\n") && obj.contains("g ring\nl 8 9 10 11 8\n"), "{obj}");
    let usd = std::fs::read_to_string(path("rods.usda")).unwrap();
    assert_eq!(usd_samples(&usd, "ring", "points", 1), values[(11 + 7) * 3..]);
    let ring = usd.split("def BasisCurves \"ring\"").nth(1).unwrap();
    assert!(ring.contains("wrap = \"periodic\"") && ring.contains("curveVertexCounts = [4]"), "{ring}");
    assert!(ring.contains("widths = [0.02, 0.02, 0.02, 0.02] (interpolation = \"vertex\")"), "{ring}");
    assert!(usd.contains("def BasisCurves \"bar\"") && usd.contains("wrap = \"nonperiodic\""), "{usd}");
    assert!(usd.contains("timeCodesPerSecond = 24\n"), "{usd}");
}

#[test]
fn frames_of_an_earlier_simulation_are_reported() {
    let name = scene("bat.json");
    let arguments = ["--reference", "--obj", "earlier"];
    std::fs::remove_dir_all(path("earlier")).ok();
    assert_eq!(baked(&[&[&name, "--frames", "3"][..], &arguments].concat())[1], "");
    std::fs::write(path("earlier/frame_of_mine.obj"), "").unwrap();
    let [out, err] = baked(&[&[&name, "--frames", "1"][..], &arguments].concat());
    assert!(
        out.contains("wrote earlier [2 files]") && err.contains("warning: earlier also has 2 frames"),
        "{out}{err}"
    );
}

/// The values of `sample` in the time samples of an attribute.
fn usd_samples(text: &str, prim: &str, attribute: &str, sample: u32) -> Vec<f32> {
    let prim = text.split(&format!("\"{prim}\"")).nth(1).unwrap();
    let samples = prim.split(&format!("{attribute}.timeSamples = {{")).nth(1).unwrap();
    let value = samples.split(&format!(" {sample}: [")).nth(1).unwrap().split(']').next().unwrap();
    value.split(|c| "(), ".contains(c)).filter(|word| !word.is_empty()).map(|word| word.parse().unwrap()).collect()
}

#[test]
fn usd_stages_have_points_velocities_and_units() {
    let file = mixed("stage");
    let arguments = ["stage/scene.json", "--frames", "2", "--reference", "--out", "stage/x.npy"];
    let velocities = ["--velocities", "stage/v.npy"];
    let [out, _] = baked(&[&arguments[..], &velocities, &["--usd", "stage/x.usda"]].concat());
    assert!(out.contains("wrote stage/x.usda [3 samples, 3 prims]"), "{out}");
    let text = std::fs::read_to_string(path("stage/x.usda")).unwrap();
    for line in ["upAxis = \"Y\"", "metersPerUnit = 1\n", "timeCodesPerSecond = 60\n", "endTimeCode = 2\n"] {
        assert!(text.contains(line), "{line} is missing");
    }
    let (positions, velocities) = (array("stage/x.npy").1, array("stage/v.npy").1);
    let count = file.scene.particle_count();
    let rope = file.part("cord").unwrap().particles.clone();
    for sample in 0..3 {
        let range = (sample * count + rope.start as usize) * 3..(sample * count + rope.end as usize) * 3;
        assert_eq!(usd_samples(&text, "cord", "points", sample as u32), positions[range.clone()]);
        assert_eq!(usd_samples(&text, "cord", "velocities", sample as u32), velocities[range]);
    }
    let left: Vec<_> = std::fs::read_dir(path("stage")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 5, "temporary files are left: {left:?}");
}

#[test]
fn usd_clips_have_the_same_samples_as_one_file() {
    mixed("clips");
    let arguments = ["clips/scene.json", "--frames", "2", "--reference"];
    baked(&[&arguments[..], &["--usd", "clips/one.usda"]].concat());
    baked(&[&arguments[..], &["--usd", "clips/many.usda", "--usd-clips"]].concat());
    let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
    let one = read("clips/one.usda");
    for sample in 0..3 {
        let clip = read(&format!("clips/many_clips/frame.{sample:05}.usda"));
        for attribute in ["extent", "points", "velocities", "normals"] {
            let [a, b] = [&one, &clip].map(|text| usd_samples(text, "tube", attribute, sample));
            assert_eq!(a, b, "{attribute} {sample}");
        }
    }
    let stage = read("clips/many.usda");
    assert!(stage.contains("@./many_clips/frame.00002.usda@") && !stage.contains("timeSamples"), "{stage}");
    assert!(read("clips/many_clips/manifest.usda").contains("point3f[] points"));
    let names =
        std::fs::read_dir(path("clips")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().all(|name| !name.ends_with(".part")));
}

#[test]
fn folders_of_clips_are_checked_before_the_simulation() {
    let folder = path("clip_folders");
    std::fs::remove_dir_all(&folder).ok();
    mixed("clip_folders");
    let bake = |frames: &'static str| {
        let arguments = ["clip_folders/scene.json", "--reference", "--usd", "clip_folders/x.usda", "--usd-clips"];
        [&arguments[..], &["--frames", frames]].concat()
    };
    let clips = folder.join("x_clips");
    std::fs::write(&clips, "a file").unwrap();
    let started = std::time::Instant::now();
    let error = refused(&bake("1000000000"));
    assert!(error.contains("cannot write") && error.contains("x_clips"), "{error} {:?}", started.elapsed());
    std::fs::remove_file(&clips).unwrap();
    // The folder may be a link.
    #[cfg(unix)]
    {
        std::fs::create_dir(folder.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", &clips).unwrap();
    }
    let [_, err] = baked(&bake("2"));
    assert_eq!(err, "");
    let [_, err] = baked(&bake("1"));
    assert!(err.contains("x_clips also has 1 frames"), "{err}");
    let files = |folder: &std::path::Path| std::fs::read_dir(folder).unwrap().count();
    assert_eq!(files(&clips), 4, "three clips and the manifest");
    let last = clips.join("frame.00001.usda");
    let text = std::fs::read_to_string(&last).unwrap();
    let mut permissions = last.metadata().unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&last, permissions).unwrap();
    let error = refused(&bake("3"));
    assert!(error.contains("frame.00001.usda: it is read-only"), "{error}");
    assert_eq!((files(&clips), std::fs::read_to_string(&last).unwrap()), (4, text));
}

#[test]
fn invalid_exports_are_reported_before_the_simulation() {
    mixed("invalid");
    let error = refused(&["invalid/scene.json", "--obj", "invalid/o", "--part", "shirt"]);
    assert!(error.contains("\"shirt\"") && error.contains("cord, tube, box"), "{error}");
    let error = refused(&["invalid/scene.json", "--part", "tube"]);
    assert!(error.contains("--part needs"), "{error}");
    let error = refused(&["invalid/scene.json", "--usd", "invalid/x.usdc"]);
    assert!(error.contains("x.usdc") && error.contains(".usda"), "{error}");
    let error = refused(&["invalid/scene.json", "--usd-clips"]);
    assert!(error.contains("--usd"), "{error}");
    let loose = r#"{"version": 1, "parts": [{"particles": {"positions": [[0, 0, 0]]}}]}"#;
    std::fs::write(path("invalid/loose.json"), loose).unwrap();
    let error = refused(&["invalid/loose.json", "--pc2", "invalid/x.pc2"]);
    assert!(error.contains("loose.json") && error.contains("no surfaces, no ropes and no rods"), "{error}");
    assert!(!path("invalid/x.pc2").exists() && !path("positions.npy").exists());
}

#[test]
fn exports_to_paths_that_cannot_be_written_are_refused() {
    let name = scene("flag_in_wind.json");
    std::fs::write(path("a_file"), "").unwrap();
    std::fs::create_dir_all(path("a_folder.usda")).unwrap();
    let cases = [
        ("--pc2", "no_folder/flag.pc2", "No such file or directory"),
        ("--mdd", "no_folder/flag.mdd", "No such file or directory"),
        ("--usd", "no_folder/flag.usda", "No such file or directory"),
        ("--usd", "a_folder.usda", "it is a folder"),
        ("--pc2", "a_file/flag.pc2", "Not a directory"),
        ("--usd", "a_file/flag.usda", "Not a directory"),
        ("--obj", "a_file", "File exists"),
        ("--obj", "a_file/frames", "Not a directory"),
    ];
    for (option, file, reason) in cases {
        let error = refused(&[&name, "--frames", "1", option, file]);
        assert!(error.contains(&format!("cannot write {file}: ")), "{option} {file}: {error}");
        assert!(!cfg!(unix) || error.contains(reason), "{option} {file}: {error}");
    }
    assert!(!path("no_folder").exists() && std::fs::read(path("a_file")).unwrap().is_empty());
}
