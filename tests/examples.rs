//! Every example runs headless and finds its end state in order.

use std::path::PathBuf;
use std::process::Command;

/// The examples lie beside the folder of this test's executable; `cargo test` has built them.
fn example(name: &str) -> Command {
    let executable = std::env::current_exe().unwrap();
    let folder = executable.ancestors().nth(2).unwrap().join("examples");
    let path = folder.join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(path.exists(), "{} is not built: run all tests, or `cargo build --examples` first", path.display());
    let mut command = Command::new(path);
    command.current_dir(env!("CARGO_TARGET_TMPDIR"));
    command
}

/// Runs it and returns what it printed.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?} failed\n{out}\n{err}");
    out.into_owned()
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn headless_swings_down() {
    assert!(run(&mut example("headless")).contains("lowest of 1024 particles"));
}

#[test]
fn embed_draws_cloth_and_cube() {
    assert!(run(&mut example("embed")).contains("wrote out/embed.png"));
}

#[test]
fn adapters_names_the_one_it_picks() {
    assert!(run(example("adapters").arg("--headless")).contains('*'));
}

#[test]
fn chain_holds_together() {
    let out = run(example("chain").args(["--headless", "--frames", "60"]));
    assert!(out.contains("particle 12:"), "{out}");
}

#[test]
fn cloth_reports_what_its_positions_say() {
    let npy = file("cloth.npy");
    let (png, gif) = (file("cloth.png"), file("cloth.gif"));
    let size = ["--headless", "--columns", "40", "--rows", "24", "--frames", "30", "--json", "--size", "160", "120"];
    let out =
        run(example("cloth").args(size).arg("--positions").arg(&npy).arg("--png").arg(&png).arg("--gif").arg(&gif));
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let figure = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name} is missing in {out}"));
    for name in
        ["ms_per_frame_median", "ms_per_frame_min", "ms_per_frame_max", "projections_per_second", "kinetic_energy"]
    {
        assert!(figure(name) > 0.0, "{name} in {out}");
    }
    assert_eq!(figure("particles"), 960.0);
    assert_eq!(figure("colors"), 12.0);
    assert_eq!(figure("dispatches_per_substep"), 14.0);
    assert!(report["adapter"].is_string() && report["backend"].is_string() && report["seed"].is_number());

    // The strain again, from the file and by other means.
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
fn without_a_display_the_demo_says_so_and_makes_a_picture() {
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
fn a_wrong_option_is_named() {
    let output = example("cloth").args(["--headless", "--substeps", "0", "--frames", "1"]).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("substeps is 0"));
}
