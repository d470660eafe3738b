//! `supple bake` writes the results of the backends, as complete files or not at all.

use crate::{array, bake, baked, path, refused, scene};
use std::process::Command;
use supple::constraints::{Distance, kind_index};
use supple::scene_file::SceneFile;

#[test]
fn arrays_contain_every_requested_frame() {
    let (name, file) = (scene("jacobi_net.json"), SceneFile::read(scene("jacobi_net.json")).unwrap());
    let [out, _] = baked(&[
        &name,
        "--frames",
        "7",
        "--every",
        "3",
        "--reference",
        "--out",
        "net.npy",
        "--velocities",
        "net_v.npy",
        "--lambda",
        "net_l.npy",
        "--lambda-kind",
        "distance",
    ]);
    assert!(out.contains("wrote net.npy [3, 81, 3]") && out.contains("wrote net_l.npy [3, 144]"), "{out}");
    let (mut positions, mut velocities, mut lambdas) = (Vec::new(), Vec::new(), Vec::new());
    let mut reference = file.reference().unwrap();
    for frame in 0..=7 {
        if frame > 0 {
            reference.step(1);
        }
        if frame % 3 == 0 {
            positions.extend(reference.read_positions().unwrap().into_iter().flatten());
            velocities.extend(reference.read_velocities().unwrap().into_iter().flatten());
            lambdas
                .extend(reference.read_lambdas_of(kind_index(<Distance as supple::constraints::Kind>::INFO)).unwrap());
        }
    }
    assert_eq!(array("net.npy"), (vec![3, 81, 3], positions));
    assert_eq!(array("net_v.npy"), (vec![3, 81, 3], velocities));
    assert_eq!(array("net_l.npy"), (vec![3, 144], lambdas));
}

#[test]
fn targets_move_on_the_gpu() {
    let name = scene("animated_target.json");
    baked(&[&name, "--frames", "12", "--every", "12", "--out", "gpu.npy"]);
    let (shape, values) = array("gpu.npy");
    assert_eq!(shape, [2, 576, 3]);
    let file = SceneFile::read(&name).unwrap();
    let end = &values[576 * 3..];
    for (particle, position) in file.targets_at(12.0 * f64::from(file.settings.dt)) {
        let place = &end[particle as usize * 3..][..3];
        assert!((0..3).all(|axis| (place[axis] - position[axis]).abs() < 1e-6), "{place:?} against {position:?}");
    }
}

#[test]
fn lambdas_alone_write_no_positions() {
    let name = scene("balloon.json");
    baked(&[&name, "--frames", "1", "--lambda", "p.npy", "--lambda-kind", "pressure"]);
    let (shape, values) = array("p.npy");
    assert_eq!(shape, [2, 1]);
    assert!(values[0] == 0.0 && values[1] != 0.0, "{values:?}");
    assert!(!path("positions.npy").exists());
}

#[test]
fn invalid_requests_are_reported_and_write_no_files() {
    let name = scene("beam.json");
    let error = refused(&[&name, "--frames", "1", "--out", "none/x.npy"]);
    assert!(error.contains("cannot write none"), "{error}");
    let error = refused(&["missing.json"]);
    assert!(error.contains("missing.json") && error.contains("cannot read"), "{error}");
    let error = refused(&[&name, "--out", "same.npy", "--velocities", "same.npy"]);
    assert!(error.contains("same.npy") && error.contains("one file"), "{error}");
    let error = refused(&[&name, "--out", "same.npy", "--velocities", "./same.npy"]);
    assert!(error.contains("./same.npy") && error.contains("one file"), "{error}");
    let flag = scene("flag_in_wind.json");
    let error = refused(&[&flag, "--frames", "0", "--pc2", "{part}.same", "--mdd", "flag.same"]);
    assert!(error.contains("flag.same") && error.contains("one file"), "{error}");
    let error = refused(&[&name, "--lambda", "l.npy", "--lambda-kind", "spring"]);
    assert!(error.contains("spring") && error.contains("shape_matching"), "{error}");
    let error = refused(&[&name, "--every", "0"]);
    assert!(error.contains("0"), "{error}");
    std::fs::write(path("bad.json"), r#"{"version": 1, "parts": [{"rope": {"cord": "wool", "points": []}}]}"#).unwrap();
    let error = refused(&["bad.json", "--out", "bad.npy"]);
    assert!(error.contains("bad.json") && error.contains("parts[0].rope.cord") && error.contains("wool"), "{error}");
    let error = refused(&["bad.json", "--out", "bad.json"]);
    assert!(error.contains("bad.json"), "{error}");
    std::fs::copy(&name, path("own.json")).unwrap();
    let error = refused(&["own.json", "--frames", "1", "--out", "own.json"]);
    assert!(error.contains("own.json") && error.contains("the scene"), "{error}");
    if cfg!(unix) {
        let error = refused(&[&name, "--frames", "1", "--out", "/dev/null"]);
        assert!(error.contains("/dev/null") && error.contains("regular file"), "{error}");
    }
    let left = std::fs::read_dir(path("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = left.filter(|name| name.starts_with("bad.npy") || name.starts_with("same.npy")).collect();
    assert!(left.is_empty(), "{left:?}");
}

fn lines(name: &str) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn contact_lines_equal_the_report_of_the_solver() {
    let name = scene("bat.json");
    let file = SceneFile::read(&name).unwrap();
    let [out, _] = baked(&[&name, "--frames", "12", "--every", "4", "--reference", "--contacts", "bat.jsonl"]);
    assert!(out.contains("wrote bat.jsonl [4 lines]") && !path("positions.npy").exists(), "{out}");
    let (lines, mut reference) = (lines("bat.jsonl"), file.reference().unwrap());
    for frame in 0..=12u32 {
        let time = f64::from(frame) * f64::from(file.settings.dt);
        let (collider, pose) = file.collider_poses_at(time).next().unwrap();
        if frame > 0 {
            reference.move_collider(collider, pose).unwrap();
            reference.step(1);
        }
        if frame % 4 != 0 {
            continue;
        }
        let (line, force) = (&lines[frame as usize / 4], reference.read_collider_forces().unwrap()[0]);
        let expected = serde_json::json!([{ "name": "bat", "force": force.force, "torque": force.torque,
            "position": pose.position, "rotation": pose.rotation }]);
        assert_eq!((&line["frame"], &line["time"]), (&frame.into(), &time.into()));
        // `f32` values are written with their shortest digits.
        assert_eq!(line["colliders"].to_string(), short(&expected).to_string());
        assert_eq!(line["lost"], 0);
    }
    let pushed = lines.iter().any(|line| line["colliders"][0]["force"][2].as_f64().unwrap() != 0.0);
    assert!(pushed, "the bat has hit nothing: {lines:?}");
}

/// The value with numbers as `f32` prints them.
fn short(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Number(number) => {
            let text = serde_json::to_string(&(number.as_f64().unwrap() as f32)).unwrap();
            serde_json::from_str(&text).unwrap()
        }
        serde_json::Value::Array(list) => list.iter().map(short).collect(),
        serde_json::Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), short(value))).collect(),
        other => other.clone(),
    }
}

#[test]
fn both_backends_count_the_same_contacts() {
    let text = r#"{"version": 1, "settings": {"substeps": 5, "self_collision": "particles"},
        "contact_materials": [{"name": "default", "thickness": 0.1}], "colliders": [{"shape": {"half_space": {}}}], "parts": [
        {"cloth_grid": {"columns": 9, "rows": 9, "origin": [-0.5, 0.1, -0.5], "column_axis": [1, 0, 0], "row_axis": [0, 0, 1]}},
        {"cloth_grid": {"columns": 8, "rows": 8, "origin": [-0.4, 0.25, -0.5], "column_axis": [1, 0, 0], "row_axis": [0, 0, 1]}}]}"#;
    std::fs::write(path("layers.json"), text).unwrap();
    baked(&["layers.json", "--frames", "20", "--every", "10", "--contacts", "gpu.jsonl"]);
    baked(&["layers.json", "--frames", "20", "--every", "10", "--contacts", "cpu.jsonl", "--reference"]);
    let (gpu, cpu) = (lines("gpu.jsonl"), lines("cpu.jsonl"));
    assert_eq!((gpu.len(), cpu.len()), (3, 3));
    for (gpu, cpu) in gpu.iter().zip(&cpu) {
        for count in ["searches", "pairs", "contacts", "lost"] {
            let [a, b] = [gpu, cpu].map(|line| line[count].as_f64().unwrap());
            assert!((a - b).abs() <= 0.1 * b, "{count}: {gpu} against {cpu}");
        }
    }
    assert!(cpu[2]["most_contacts"].as_u64().unwrap() > 20, "{cpu:?}");
    assert_eq!(cpu[0]["colliders"][0]["force"], serde_json::json!([0.0, 0.0, 0.0]));
}

#[test]
fn lost_contacts_are_reported_at_the_end() {
    let text = r#"{"version": 1, "settings": {"substeps": 2, "self_collision": {"pairs_per_particle": 1, "fixed_capacity": true}},
        "contact_materials": [{"name": "default", "thickness": 0.5}], "parts": [
        {"cloth_grid": {"columns": 9, "rows": 9}}, {"cloth_grid": {"columns": 9, "rows": 9, "origin": [-1, 0.1, -1]}}]}"#;
    std::fs::write(path("crowd.json"), text).unwrap();
    for backend in [&["--reference"][..], &[]] {
        let output = bake(&[&["crowd.json", "--frames", "2", "--out", "crowd.npy"], backend].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && said.contains("warning: "), "{backend:?}: {said}");
        assert!(said.contains("pairs_per_particle") && said.contains("which is 1"), "{backend:?}: {said}");
    }
    let said = bake(&[&scene("bat.json"), "--frames", "2", "--out", "quiet.npy", "--reference"]).stderr;
    assert!(!String::from_utf8(said).unwrap().contains("warning"));
}

/// Old files stay, and no temporary ones.
#[cfg(unix)]
#[test]
fn an_interrupt_removes_temporary_files() {
    let folder = path("interrupted");
    std::fs::remove_dir_all(&folder).ok();
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("x.npy"), "old").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_supple"));
    let outputs = ["--reference", "--out", "x.npy", "--usd", "x.usda", "--pc2", "x.pc2"];
    command.args(["bake", &scene("hanging_cloth.json"), "--frames", "500"]).args(outputs).current_dir(&folder);
    let mut program = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let names = || {
        let entries = std::fs::read_dir(&folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    while names().len() < 5 && program.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &program.id().to_string()]).status().unwrap().success());
    let output = program.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && error.contains("interrupted before step") && error.contains("of 500"),
        "{error}"
    );
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(names(), ["x.npy"]);
    assert_eq!(std::fs::read_to_string(folder.join("x.npy")).unwrap(), "old");
}

#[cfg(unix)]
#[test]
fn closed_pipes_lose_no_files() {
    let folder = path("closed");
    std::fs::remove_dir_all(&folder).ok();
    std::fs::create_dir_all(&folder).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_supple"));
    let outputs = ["--reference", "--frames", "2", "--out", "x.npy", "--velocities", "v.npy", "--usd", "x.usda"];
    command.args(["bake", &scene("hanging_cloth.json")]).args(outputs).current_dir(&folder);
    let pipe = std::process::Stdio::piped;
    let mut program = command.stdout(pipe()).stderr(pipe()).spawn().unwrap();
    drop((program.stdout.take(), program.stderr.take()));
    assert!(program.wait().unwrap().success());
    for name in ["x.npy", "v.npy", "x.usda"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
}

#[test]
fn folders_and_read_only_files_are_not_replaced() {
    let same = refused(&[&scene("hanging_cloth.json"), "--frames", "1", "--out", "same", "--obj", "same"]);
    assert!(same.contains("same: two outputs cannot be written to one file"), "{same}");
    let locked = path("locked.npy");
    // Of an earlier run.
    std::fs::remove_file(&locked).ok();
    std::fs::write(&locked, "old").unwrap();
    let mut permissions = locked.metadata().unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&locked, permissions).unwrap();
    let error = refused(&[&scene("hanging_cloth.json"), "--frames", "1", "--out", locked.to_str().unwrap()]);
    assert!(error.contains("it is read-only"), "{error}");
    assert_eq!(std::fs::read_to_string(&locked).unwrap(), "old");
}

#[cfg(unix)]
#[test]
fn arguments_need_not_be_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = path("latin").join(OsStr::from_bytes(b"sc\xe8nes"));
    std::fs::create_dir_all(&folder).unwrap();
    let text = "\u{feff}{\"version\": 1, \"parts\": [{\"cloth_grid\": {\"columns\": 2, \"rows\": 2}}]}";
    std::fs::write(folder.join("scene.json"), text).unwrap();
    let out = folder.join(OsStr::from_bytes(b"positi\xf6ns.npy"));
    let arguments = [
        "bake".into(),
        folder.join("scene.json").into(),
        "--frames".into(),
        "1".into(),
        "--reference".into(),
        "--out".into(),
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_supple"));
    let output = command.args::<_, std::ffi::OsString>(arguments).arg(&out).arg("--obj").arg(&folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(out.is_file() && folder.join("frame_00001.obj").is_file());
}

/// The weights of the sheet fall with its lower piece, and meshes, whose triangles would change, are refused.
#[test]
fn torn_cloth_is_baked_as_positions_only() {
    baked(&[&scene("torn_sheet.json"), "--frames", "60", "--every", "60", "--out", "torn.npy"]);
    let (shape, values) = array("torn.npy");
    assert_eq!(shape[0], 2);
    let height = |particle: usize| values[3 * (shape[1] as usize + particle) + 1];
    // The rows before and behind the perforation.
    assert!(height(8 * 17 + 8) > 0.8 && height(11 * 17 + 8) < 0.2, "{} {}", height(8 * 17 + 8), height(11 * 17 + 8));
    let error = refused(&[&scene("torn_sheet.json"), "--frames", "1", "--obj", "torn_obj"]);
    assert!(error.contains("tearing") && !path("torn_obj").exists(), "{error}");
}
