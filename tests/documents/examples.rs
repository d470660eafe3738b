//! Each example runs headless and ends in the expected state.

#[path = "../../demos/src/measure.rs"]
#[allow(dead_code, reason = "only the choice of a size is tested")]
mod measure;

use std::path::PathBuf;
use std::process::Command;

/// The path of an example, beside the folder of the test executable; `cargo test` builds it.
fn example(name: &str) -> Command {
    let executable = std::env::current_exe().unwrap();
    let folder = executable.ancestors().nth(2).unwrap().join("examples");
    let path = folder.join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(path.exists(), "{} is not built: run all tests, or `cargo build --examples` first", path.display());
    let mut command = Command::new(path);
    command.current_dir(env!("CARGO_TARGET_TMPDIR"));
    command
}

/// Runs a command and returns its standard output.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?} failed\n{out}\n{err}");
    out.into_owned()
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Removes a file that an earlier run has left.
fn remove(name: &str) {
    if file(name).exists() {
        std::fs::remove_file(file(name)).unwrap();
    }
}

#[test]
fn headless_lets_the_cloth_swing_down() {
    let out = run(&mut example("headless"));
    assert!(out.contains("lowest of 1024 particles"), "{out}");
    let height = out.split("is at ").nth(1).and_then(|rest| rest.split(" m").next()?.parse::<f64>().ok());
    // It starts at height 0; the diagonal of the square of 2 m is 2.83 m.
    assert!(height.is_some_and(|height| (-2.9..-0.5).contains(&height)), "{out}");
}

#[test]
fn embed_draws_cloth_and_cube() {
    remove("out/embed.png");
    assert!(run(example("embed").arg("--headless")).contains("wrote out/embed.png"));
    let picture = image::open(file("out/embed.png")).unwrap().to_rgb8();
    let redness = |pixel: &image::Rgb<u8>| i16::from(pixel.0[0]) - i16::from(pixel.0[2]);
    let [blue, orange] = [|redness| redness < -30, |redness| redness > 60]
        .map(|is: fn(i16) -> bool| picture.pixels().filter(|pixel| is(redness(pixel))).count());
    assert!(blue > 15_000 && orange > 3_000, "{blue} pixels of cloth and {orange} pixels of cube");
}

#[test]
fn checkpoint_continues_with_the_same_bits() {
    let out = run(&mut example("checkpoint"));
    assert!(out.contains("step 60: lost the device: true"), "{out}");
    assert!(out.contains("step 60: the positions of 1024 particles have the same bits"), "{out}");
}

#[test]
fn crowd_spawns_removes_and_draws_instances() {
    let png = file("crowd.png");
    let size = ["--headless", "--json", "--frames", "6", "--count", "9", "--substeps", "8"];
    let out = run(example("crowd").args(size).arg("--png").arg(&png));
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((report["instances"].as_u64(), report["particles"].as_u64()), (Some(9), Some(9 * 1024)));
    assert_eq!(report["non_finite_count"], 0);
    let picture = image::open(png).unwrap().to_rgb8();
    let sky = *picture.get_pixel(0, 0);
    let drawn = picture.pixels().filter(|pixel| **pixel != sky).count();
    assert!(drawn > 5_000, "{drawn} pixels are not sky");
}

#[test]
fn character_walks_without_crossings() {
    let size = ["--headless", "--json", "--frames", "12", "--columns", "16", "--substeps", "6"];
    let report: serde_json::Value = serde_json::from_str(&run(example("character").args(size))).unwrap();
    assert_eq!((report["crossings"].as_u64(), report["limb_crossings"].as_u64()), (Some(0), Some(0)));
    assert!(report["particles"].as_u64() > Some(300));
}

#[test]
fn adapters_reports_the_chosen_adapter() {
    assert!(run(example("adapters").arg("--headless")).contains('*'));
}

#[test]
fn chain_reports_its_last_particle() {
    let out = run(example("chain").args(["--headless", "--frames", "60"]));
    assert!(out.contains("particle 12:"), "{out}");
}

#[test]
fn cloth_runs_by_tiles_and_as_the_baseline_by_colours() {
    let report = |options: &[&str]| -> serde_json::Value {
        let size = ["--headless", "--columns", "24", "--rows", "24", "--frames", "2", "--json"];
        let options =
            if options.contains(&"--baseline") { options.to_vec() } else { [options, &["--wind", "0"]].concat() };
        serde_json::from_str(&run(example("cloth").args(size).args(options))).unwrap()
    };
    let (tiles, baseline) = (report(&["--execution", "tiles"]), report(&["--baseline"]));
    assert_eq!((&tiles["execution"], &baseline["execution"]), (&"tiles".into(), &"colors".into()));
    assert_eq!((tiles["dispatches_per_substep"].as_u64(), baseline["substeps"].as_u64()), (Some(5), Some(20)));
    assert!(tiles["substeps"].as_u64() > Some(20));
    let output = example("cloth").args(["--headless", "--baseline", "--substeps", "40"]).output().unwrap();
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("--baseline"));
}

#[test]
fn cloth_report_agrees_with_its_positions() {
    let npy = file("cloth.npy");
    let (png, gif) = (file("cloth.png"), file("cloth.gif"));
    let size = ["--headless", "--columns", "40", "--rows", "24", "--frames", "30", "--json", "--size", "160", "120"];
    let out = run(example("cloth")
        .args(size)
        .args(["--execution", "colors", "--wind", "0"])
        .arg("--positions")
        .arg(&npy)
        .arg("--png")
        .arg(&png)
        .arg("--gif")
        .arg(&gif));
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let figure = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name} is missing in {out}"));
    for name in
        ["ms_per_frame_median", "ms_per_frame_min", "ms_per_frame_max", "projections_per_second", "kinetic_energy"]
    {
        assert!(figure(name) > 0.0, "{name} in {out}");
    }
    assert_eq!(figure("particles"), 960.0);
    assert_eq!(figure("colors"), 12.0);
    assert_eq!(figure("dispatches_per_substep"), 13.0);
    assert_eq!(report["execution"], "colors");
    assert!(report["adapter"].is_string() && report["backend"].is_string() && report["seed"].is_number());

    // Recomputes the strain from the file.
    let npy = npyz::NpyFile::new(std::fs::File::open(npy).map(std::io::BufReader::new).unwrap()).unwrap();
    assert_eq!(npy.shape(), [960, 3]);
    let flat: Vec<f32> = npy.into_vec().unwrap();
    let place = |row: usize, column: usize| [0, 1, 2].map(|axis| f64::from(flat[3 * (row * 40 + column) + axis]));
    let length = |a: [f64; 3], b: [f64; 3]| (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt();
    let mut strains = Vec::new();
    for row in 0..24 {
        for column in 0..40 {
            if column + 1 < 40 {
                strains.push((length(place(row, column), place(row, column + 1)) * 39.0 / 2.0 - 1.0).abs());
            }
            if row + 1 < 24 {
                strains.push((length(place(row, column), place(row + 1, column)) * 23.0 / 2.0 - 1.0).abs());
            }
        }
    }
    let mean = strains.iter().sum::<f64>() / strains.len() as f64;
    let max = strains.iter().fold(0f64, |max, &strain| max.max(strain));
    assert!((mean - figure("mean_strain")).abs() < 1e-6, "mean {mean} against {out}");
    assert!((max - figure("max_strain")).abs() < 1e-5, "max {max} against {out}");
    assert_eq!(image::open(png).unwrap().width(), 160);
    assert!(std::fs::metadata(gif).unwrap().len() > 1000);
}

/// The line of JSON that a demo prints.
fn report(name: &str, arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&run(example(name).args(["--headless", "--json"]).args(arguments))).unwrap()
}

#[test]
fn rods_hang_and_twist() {
    let arguments = ["--frames", "40", "--substeps", "10", "--strands", "3", "--turns", "2"];
    let report = report("rods", &arguments);
    assert!(report["sag"].as_f64().unwrap() > 0.1, "{report}");
}

#[test]
fn cloth_reports_the_time_of_its_passes() {
    let trace = file("trace.json");
    let arguments = ["--columns", "24", "--rows", "24", "--wind", "0", "--frames", "9", "--substeps", "6", "--profile"];
    let report = report("cloth", &[&arguments[..], &["--trace", trace.to_str().unwrap()]].concat());
    let figure = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name} is missing in {report}"));
    assert!(figure("gpu_ms_per_frame_median") > 0.0 && figure("recording_ms_median") > 0.0, "{report}");
    assert!(figure("gpu_ms_per_frame_median") < figure("ms_per_frame_max"), "{report}");
    assert!(figure("recording_ms_median") < figure("ms_per_frame_median"), "{report}");
    // Positions, displacements, velocities, normals, residuals and two tethers already take 112 bytes.
    assert!((112.0..600.0).contains(&figure("bytes_per_particle")), "{report}");
    assert!(figure("ms_per_frame_early") > 0.0 && figure("ms_per_frame_late") > 0.0, "{report}");
    // Equal runs end in equal bits; different runs do not.
    let again =
        |frames: &str| self::report("cloth", &[&arguments[..6], &["--frames", frames, "--substeps", "6"]].concat());
    assert_eq!(report["positions_hash"], again("9")["positions_hash"]);
    assert_ne!(report["positions_hash"], again("8")["positions_hash"]);
    let passes = report["profile"].as_object().unwrap();
    let particles = ["targets", "start", "predict", "solve_tethers", "velocity", "finish", "normals"];
    for name in particles.into_iter().chain(["project_distance", "integrate_tethered"]) {
        assert!(passes[name].as_f64().is_some_and(|time| time >= 0.0), "{name} in {report}");
    }
    assert_eq!(passes.len(), 9, "{report}");
    assert!(passes["project_distance"].as_f64() > Some(0.0), "{report}");

    let trace: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(trace).unwrap()).unwrap();
    let slices: Vec<_> = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X").collect();
    let time = |event: &serde_json::Value, name: &str| event[name].as_f64().unwrap();
    assert!(slices.iter().all(|slice| time(slice, "ts") >= 0.0 && time(slice, "dur") >= 0.0));
    let count =
        |name: &str, row: u32| slices.iter().filter(|slice| slice["name"] == name && slice["tid"] == row).count();
    // Five frames of six substeps; the rows are the host and the GPU.
    for (name, row, expected) in
        [("record", 1, 5), ("wait", 1, 5), ("start", 2, 5), ("solve_tethers", 2, 5), ("integrate_tethered", 2, 25)]
    {
        assert_eq!(count(name, row), expected, "{name}");
    }
    // A pass lies within its frame.
    const PASSES: usize = 6 * 2 - 1 + 7;
    for frame in 4..9 {
        let name = format!("frame {frame}");
        let whole = slices.iter().find(|slice| slice["name"] == name.as_str() && slice["tid"] == 2).unwrap();
        let (begin, end) = (time(whole, "ts"), time(whole, "ts") + time(whole, "dur"));
        let inside = slices.iter().filter(|slice| slice["tid"] == 2 && slice["name"] != name.as_str());
        let inside =
            inside.filter(|slice| time(slice, "ts") >= begin && time(slice, "ts") + time(slice, "dur") <= end + 1e-3);
        // A pass of zero duration may lie on the boundary of two frames and count for both.
        assert!(inside.count() >= PASSES, "{name}");
    }
    assert_eq!(slices.iter().filter(|slice| slice["tid"] == 2).count(), 5 * (PASSES + 1));
}

#[test]
fn cloth_runs_with_every_bending_model() {
    for bending in ["springs", "hinges", "isometric", "none"] {
        let size = ["--columns", "24", "--rows", "24", "--frames", "30", "--rigidity", "1e-4", "--bending", bending];
        let report = report("cloth", &size);
        assert!(report["max_strain"].as_f64() < Some(0.05), "{report}");
        assert!(report["lowest_point"].as_f64() < Some(-0.3), "{report}");
    }
}

#[test]
fn cloth_runs_with_other_methods_and_sweeps() {
    let size = ["--columns", "24", "--rows", "24", "--frames", "30", "--substeps", "20"];
    for extra in [["--sweep", "jacobi"], ["--relaxation", "1.4"], ["--method", "pbd"]] {
        let report = report("cloth", &[&size[..], &extra].concat());
        assert!(report["max_strain"].as_f64() < Some(0.1), "{extra:?}: {report}");
    }
}

#[test]
fn soft_bodies_are_squeezed_and_keep_their_volume() {
    let (png, obj) = (file("soft_body.png"), file("tetrahedron.obj"));
    let picture = ["--png", png.to_str().unwrap(), "--size", "160", "120"];
    let report = report("soft_body", &[&["--frames", "36", "--spacing", "0.11"], &picture[..]].concat());
    assert_eq!(report["non_finite_count"].as_u64(), Some(0), "{report}");
    assert!(report["tetrahedra"].as_u64() > Some(1000), "{report}");
    let range = |name: &str| [0, 1].map(|end| report[name][end].as_f64().unwrap());
    let [least, most] = range("volume_range_of_ball");
    assert!((0.7..0.97).contains(&least) && most < 1.02, "{report}");
    let [least, most] = range("volume_range_of_hung");
    assert!(least > 0.93 && most < 1.05, "{report}");
    assert_eq!(image::open(png).unwrap().width(), 160);

    std::fs::write(&obj, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 4 3\nf 1 2 4\nf 2 3 4\n").unwrap();
    for elasticity in ["rigid", "regions"] {
        let report = self::report(
            "soft_body",
            &["--frames", "12", "--spacing", "0.11", "--elasticity", elasticity, "--mesh", obj.to_str().unwrap()],
        );
        let bounds = if elasticity == "rigid" { 0.99..1.01 } else { 0.8..1.2 };
        assert!(bounds.contains(&report["volume_ratio_of_hung"].as_f64().unwrap()), "{report}");
    }
}

#[test]
fn balloon_reaches_the_volume_and_the_pressure_of_a_sphere() {
    let report = report("balloon", &["--frames", "40", "--cuts", "2", "--pressure", "2", "--damping", "2"]);
    let figure = |name: &str| report[name].as_f64().unwrap();
    assert_eq!(figure("non_finite_count"), 0.0);
    assert!((figure("volume") / figure("wanted_volume") - 1.0).abs() < 0.01, "{report}");
    assert!((figure("wanted_volume") / figure("rest_volume") - 2.0).abs() < 1e-5, "{report}");
    assert!((figure("overpressure") / figure("overpressure_of_a_sphere") - 1.0).abs() < 0.15, "{report}");
}

#[test]
fn shape_matching_keeps_rigid_bodies_rigid() {
    let report = report("shape_matching", &["--frames", "20", "--spacing", "0.09"]);
    assert_eq!(report["non_finite_count"].as_u64(), Some(0), "{report}");
    let bodies = report["bodies"].as_array().unwrap();
    assert_eq!(bodies.len(), 8);
    for body in bodies {
        let figure = |name: &str| body[name].as_f64().unwrap();
        let soft = body["name"].as_str().unwrap().starts_with("soft");
        assert!(if soft { figure("shape_error") > 0.01 } else { figure("shape_error") < 1e-3 }, "{body}");
        assert!(figure("pin_error") < if soft { 0.3 } else { 0.01 }, "{body}");
    }
}

#[test]
fn contacts_lay_a_cloth_over_a_ball() {
    let (png, folder) = (file("contacts.png"), file("contacts_obj"));
    let arguments = ["--scene", "sphere", "--columns", "28", "--frames", "40", "--compare", "--size", "160", "120"];
    let files = ["--png", png.to_str().unwrap(), "--obj", folder.to_str().unwrap(), "--every", "20"];
    let report = report("contacts", &[&arguments[..], &files[..]].concat());
    let figure = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name} is missing in {report}"));
    for name in ["overflow", "self_intersections", "deepest_penetration", "non_finite_count"] {
        assert_eq!(figure(name), 0.0, "{name} in {report}");
    }
    assert!(figure("searches") > 0.0 && figure("ms_per_frame_median_without") > 0.0, "{report}");
    assert!(figure("lowest_point") < 0.6 && figure("mean_speed") > 0.0, "{report}");
    assert_eq!(image::open(png).unwrap().width(), 160);
    // The start, and the states after 20 and 40 steps.
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3);
    let (models, _) = tobj::load_obj(folder.join("frame_00002.obj"), &tobj::LoadOptions::default()).unwrap();
    assert_eq!(models[0].mesh.positions.len(), 3 * 28 * 28);
    assert_eq!(models[0].mesh.indices.len(), 6 * 27 * 27);
}

#[test]
fn contacts_lay_a_cloth_over_a_mesh() {
    let report = report("contacts", &["--scene", "mesh", "--columns", "24", "--frames", "30"]);
    let figure = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name} is missing in {report}"));
    assert_eq!(figure("self_intersections"), 0.0, "{report}");
    // Half the thickness of 1.2 spacings, up to the sampling error of the distance field.
    assert!((figure("nearest_to_mesh") - 1.2 * 0.6 / 23.0).abs() < 2e-3, "{report}");
    assert!(figure("lowest_point") < 0.9, "{report}");
}

#[test]
fn rapier_bodies_are_carried_by_cloth() {
    let report = report("rapier", &["--columns", "24", "--iterations", "1", "--frames", "300"]);
    let figure = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name} is missing in {report}"));
    assert!((figure("carried") / figure("weight") - 1.0).abs() < 0.03, "{report}");
    assert!(figure("lowest_body") > 0.2 && figure("fastest_body") < 0.3, "{report}");
}

#[test]
fn contacts_keep_layers_apart() {
    let report = report("contacts", &["--scene", "layers", "--count", "3", "--columns", "20", "--frames", "40"]);
    let figure = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name} is missing in {report}"));
    assert!(figure("candidates_max") >= figure("contacts_max") && figure("contacts_max") > 300.0, "{report}");
    assert_eq!(figure("self_intersections"), 0.0, "{report}");
    // The lowest particle lies on the ground, at half its thickness.
    assert!((figure("lowest_point") - 0.5 / 19.0).abs() < 1e-3, "{report}");
}

/// Each scene checks its own end state: no penetration, no intersections, the bullet caught.
#[test]
fn contacts_passes_its_checks_in_every_scene() {
    let scenes: [&[&str]; 7] = [
        &["cylinder", "--columns", "12", "--count", "2", "--frames", "30"],
        &["bullet"],
        &["box", "--columns", "24", "--frames", "30"],
        &["bowl", "--columns", "12", "--count", "3", "--frames", "40"],
        &["funnel", "--count", "2", "--frames", "30"],
        &["twister", "--columns", "12", "--turns", "0.5", "--substeps", "10"],
        &["shirt", "--columns", "10", "--frames", "20"],
    ];
    for scene in scenes {
        let report = report("contacts", &[&["--scene"], scene].concat());
        let figure = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name} is missing in {report}"));
        assert_eq!((figure("overflow"), figure("self_intersections")), (0.0, 0.0), "{scene:?}: {report}");
        assert!(figure("deepest_penetration") < 1e-4, "{scene:?}: {report}");
    }
}

#[test]
fn contacts_hold_a_block_on_a_slope_or_let_it_slide() {
    for [angle, friction] in [["25", "0.5"], ["40", "0.2"]] {
        let report =
            report("contacts", &["--scene", "incline", "--angle", angle, "--friction", friction, "--frames", "30"]);
        let [slid, expected] = ["slid", "expected_slide"].map(|name| report[name].as_f64().unwrap());
        assert!((slid - expected).abs() < 0.01 + 0.03 * expected, "{report}");
    }
}

#[test]
fn contacts_tighten_a_knot() {
    let report = report("contacts", &["--scene", "knot"]);
    let figure = |name: &str| report[name].as_f64().unwrap();
    // The writhe of a tight open trefoil is 3.4.
    assert!((3.2..3.7).contains(&figure("writhe").abs()), "{report}");
    assert!(figure("nearest_strands") > 0.019 && figure("max_strain") < 0.01, "{report}");
}

#[test]
fn cloth_without_tethers_stretches_more() {
    let arguments = ["--headless", "--columns", "48", "--rows", "48", "--frames", "60", "--json"];
    let strain = |extra: &[&str]| {
        let out = run(example("cloth").args(arguments).args(extra));
        serde_json::from_str::<serde_json::Value>(&out).unwrap()["max_strain"].as_f64().unwrap()
    };
    let (with, without) = (strain(&[]), strain(&["--no-tethers"]));
    assert!(without > 3.0 * with, "{with} with tethers, {without} without");
}

#[test]
fn without_a_display_the_demo_reports_it_and_writes_an_image() {
    ["out/cloth.png", "out/cloth.gif"].into_iter().for_each(remove);
    let mut command = example("cloth");
    command.args(["--columns", "16", "--rows", "16", "--frames", "4", "--size", "64", "64"]);
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Systems without these variables always have a display.
    if cfg!(target_os = "linux") {
        assert!(String::from_utf8_lossy(&output.stderr).contains("running headless instead"));
        assert!(file("out/cloth.png").exists() && file("out/cloth.gif").exists());
    }
}

#[test]
fn an_unknown_option_is_reported() {
    let output = example("cloth").args(["--headless", "--substeps", "0", "--frames", "1"]).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("substeps is 0"));
}

#[test]
fn a_window_on_a_software_adapter_has_as_many_particles_as_its_speed_allows() {
    let columns = |seconds| measure::columns_at_rate(64, seconds);
    // A step of 64 × 64 particles at four times the speed leaves time for 128 × 128.
    assert_eq!([columns(0.045), columns(0.045 / 4.0), columns(0.045 * 4.0)], [64, 128, 48]);
    // Limits, also for times that mean nothing.
    assert_eq!([columns(10.0), columns(0.0), columns(f64::INFINITY)], [48, 316, 48]);
}
