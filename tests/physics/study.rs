//! The claims of `docs/study.md`, checked on the CSV files that the example `study` writes.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The rows of a CSV file: panel, series, x, y.
struct Figures(Vec<(String, String, f64, f64)>);

impl Figures {
    fn read(folder: &Path, name: &str) -> Self {
        let text = std::fs::read_to_string(folder.join(name).with_extension("csv")).unwrap();
        let row = |line: &str| {
            let quoted: Vec<&str> = line.split('"').collect();
            let (x, y) = quoted[4].trim_start_matches(',').split_once(',').unwrap();
            (quoted[1].into(), quoted[3].into(), x.parse().unwrap(), y.parse().unwrap())
        };
        Self(text.lines().skip(1).map(row).collect())
    }

    /// The points of a series; panel and series are matched by a part of their names.
    fn series(&self, panel: &str, series: &str) -> Vec<(f64, f64)> {
        let named = self.0.iter().filter(|row| row.0.contains(panel) && row.1.contains(series));
        let points: Vec<(f64, f64)> = named.map(|row| (row.2, row.3)).collect();
        assert!(!points.is_empty(), "no series {series} in {panel}");
        points
    }

    fn at(&self, panel: &str, series: &str, x: f64) -> f64 {
        let points = self.series(panel, series);
        let point = points.iter().find(|point| (point.0 / x - 1.0).abs() < 1e-6);
        point.unwrap_or_else(|| panic!("{series} in {panel} has no point at {x}")).1
    }
}

/// Checks the difference relative to `expected`.
#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() < tolerance, "{found} against {expected}");
}

#[test]
fn the_study_agrees_with_its_page() {
    let executable = std::env::current_exe().unwrap();
    let example = executable.ancestors().nth(2).unwrap().join("examples/study");
    let example = example.with_extension(std::env::consts::EXE_EXTENSION);
    assert!(example.exists(), "{} is not built: `cargo build --examples` first", example.display());
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("study");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
    let output = Command::new(example).arg("--quick").arg("--out").arg(&folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for name in ["iterations", "time_step", "substeps", "damping", "convergence", "stiffness", "order", "bending"] {
        let size = std::fs::metadata(folder.join(name).with_extension("svg")).unwrap().len();
        assert!((5_000..100_000).contains(&size), "{name}.svg has {size} bytes");
        let svg = std::fs::read_to_string(folder.join(name).with_extension("svg")).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}.svg holds what is no number");
    }

    let figures = Figures::read(&folder, "iterations");
    for (n, left) in figures.series("lone", "naive") {
        assert!((left - 0.8f64.powf(n)).abs() < 1e-5, "naive PBD keeps {left} after {n}");
    }
    for method in ["k'", "XPBD"] {
        figures.series("lone", method).iter().for_each(|point| near(point.1, 0.8, 1e-5));
    }
    let law = figures.at("1e−4", "closed form", 1.0);
    figures.series("1e−4", "XPBD").iter().filter(|point| point.0 >= 3.0).for_each(|point| near(point.1, law, 2e-3));
    assert!(figures.at("1e−4", "naive", 100.0) < 0.02 * law);
    // With few iterations XPBD is too soft, and k' is still independent of the material.
    let law = figures.at("1e−6", "closed form", 1.0);
    assert!(figures.at("1e−6", "XPBD", 1.0) > 15.0 * law);
    near(figures.at("1e−6", "XPBD", 100.0), law, 5e-3);
    assert!(figures.at("1e−6", "k'", 100.0) > 8.0 * law);
    near(figures.at("1e−6", "k'", 1.0) / figures.at("1e−6", "k'", 100.0), 1.9, 0.05);

    let figures = Figures::read(&folder, "time_step");
    let law = figures.series("at rest", "closed form")[0].1;
    figures.series("at rest", "XPBD").iter().for_each(|point| near(point.1, law, 1e-4));
    for (h, stretch) in figures.series("at rest", "PBD, k") {
        near(stretch, law * (0.6 * h).powi(2), 1e-3);
    }
    let law = figures.series("swinging", "closed form")[0].1;
    for (h, period) in figures.series("swinging", "XPBD") {
        // The law of the integrator: slower by (ω h)²/3.
        near(period, law * (1.0 + (std::f64::consts::TAU / law * 1e-3 * h).powi(2) / 3.0), 3e-4);
    }
    figures.series("swinging", "PBD, k").iter().for_each(|&(h, period)| near(period, law * 0.6 * h, 1e-3));

    let figures = Figures::read(&folder, "substeps");
    figures.series("chain", "× 1 iteration").iter().for_each(|&(n, error)| near(error, figures.at("", "law", n), 0.02));
    near(figures.at("", "1 substep ×", 20.0) / figures.at("", "1 substep ×", 100.0), 5.0, 0.05);
    // A fifth of the work and a quarter of the error.
    near(figures.at("", "1 substep ×", 100.0) / figures.at("", "× 1 iteration", 20.0), 4.0, 0.05);

    let figures = Figures::read(&folder, "damping");
    for way in ["dashpot", "velocity damping"] {
        let (coarse, fine) = (figures.series(way, "20 substeps"), figures.series(way, "60 substeps"));
        let apart = coarse.iter().zip(&fine).map(|(a, b)| (a.1 - b.1).abs()).fold(0.0, f64::max);
        assert!(apart < 1.0, "{way}: {apart} mm apart");
        near(figures.at(way, "20 substeps", 1.0), figures.at(way, "exp", 1.0), 0.04);
    }
    assert!(figures.at("each substep", "20 substeps", 1.0) > 2.5 * figures.at("each substep", "60 substeps", 1.0));

    let figures = Figures::read(&folder, "convergence");
    let left = |panel, series, n| figures.series(panel, series).iter().find(|point| point.0 == n).unwrap().1;
    let (jacobi, plain, over) = ("Jacobi", "Gauss-Seidel", "ω 1.8");
    assert!(left("cloth", jacobi, 300.0) > 1.8 * left("cloth", plain, 300.0));
    assert!(left("cloth", over, 30.0) > 2.0 * left("cloth", plain, 30.0), "over-relaxation costs at first");
    assert!(left("cloth", over, 300.0) < left("cloth", plain, 300.0), "and pays late");
    assert!(left("chain", over, 300.0) < 0.03 * left("chain", plain, 300.0));

    let figures = Figures::read(&folder, "stiffness");
    for panel in ["no tethers", "two tethers"] {
        let at = |series| figures.at(panel, series, 20.0);
        let (jacobi, iterated, colors) = (at("Jacobi"), at("5 iterations"), at("n substeps, colours"));
        assert!(jacobi > iterated && iterated > 1.1 * colors, "{panel}: {jacobi}, {iterated}, {colors}");
        assert!(at("tiles") < colors && at("clusters") < 1.1 * colors, "{panel}: {colors}");
    }
    assert!(figures.at("two tethers", "tiles", 20.0) < figures.at("no tethers", "tiles", 20.0));

    let figures = Figures::read(&folder, "order");
    let end = |panel, series| figures.series(panel, series).last().unwrap().1;
    assert!(end("at the time", "fixed") > 1.0 && end("at the time", "alternating") > 1.0);
    assert!(end("at the time", "Jacobi") < 1e-3);
    assert!(end("at the time", "shuffled") > 1.0 && end("mean", "shuffled") < 0.8 * end("mean", "fixed"));

    let figures = Figures::read(&folder, "bending");
    figures.series("", "isometric").iter().for_each(|&(b, drop)| near(drop, figures.at("", "elastica", b), 0.01));
}
