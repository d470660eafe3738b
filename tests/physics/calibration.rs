//! The presets of fabrics by the tests of textile laboratories: cantilever and drape. Writes docs/calibration.md.

use crate::bending::elastica;
use crate::common::noise;
use std::f64::consts::TAU;
use std::path::Path;
use supple::{Bending, ClothGrid, ClothMesh, Fabric, Orthotropic, Reference, Scene, Settings};

const G: f64 = 9.81;
const FABRICS: [(&str, Fabric); 7] = [
    ("SILK", Fabric::SILK),
    ("LEATHER", Fabric::LEATHER),
    ("COTTON", Fabric::COTTON),
    ("DENIM", Fabric::DENIM),
    ("STRETCH_DENIM", Fabric::STRETCH_DENIM),
    ("WOOL", Fabric::WOOL),
    ("RUBBER", Fabric::RUBBER),
];
/// The default, a finer setting, and the finest, from which deviations of the drape are taken.
const SUBSTEPS: [u32; 3] = [20, 50, 100];
/// The deviations that users accept at the first two.
const BARS: [f64; 2] = [0.3, 0.1];

/// The fabric with its flexural rigidity, and its warp along x.
fn plate(fabric: Fabric) -> Fabric {
    let membrane = fabric.membrane.map(|membrane| Orthotropic { direction: Some([1.0, 0.0, 0.0]), ..membrane });
    Fabric { bending: Bending::Isometric, membrane, ..fabric }
}

/// c = (B/(ρ g))^(1/3) [m] (Peirce 1930).
fn closed_bending_length(fabric: &Fabric) -> f64 {
    (f64::from(fabric.flexural_rigidity) / (f64::from(fabric.area_density) * G)).cbrt()
}

fn settle(scene: &Scene, substeps: u32, damping: f32, steps: u32) -> Vec<[f32; 3]> {
    let mut reference = Reference::new(scene, Settings { substeps, damping, ..Settings::default() }).unwrap();
    reference.step(steps);
    assert_eq!(reference.read_diagnostics().unwrap().non_finite_count, 0);
    reference.read_positions().unwrap()
}

/// The bending length [m] of a strip whose overhang is twice the closed form, from the slope of the chord to its tip. It is measured as in
/// ASTM D1388 and ISO 9073-7, but by the elastica instead of Peirce's approximation.
fn bending_length(fabric: &Fabric, substeps: u32) -> f64 {
    const CELLS: u32 = 12;
    let overhang = 2.0 * closed_bending_length(fabric);
    // The clamp is in the middle of the first cell.
    let cell = (overhang / (f64::from(CELLS) - 0.5)) as f32;
    let mut scene = Scene::new();
    let grid = ClothGrid {
        columns: CELLS + 1,
        rows: 3,
        column_axis: [cell * CELLS as f32, 0.0, 0.0],
        row_axis: [0.0, 0.0, 2.0 * cell],
        fabric: plate(*fabric),
        tethers: None,
        ..ClothGrid::default()
    };
    let strip = scene.add_cloth_grid(&grid).unwrap().particles;
    strip.filter(|i| i % (CELLS + 1) < 2).for_each(|i| scene.pin(i).unwrap());
    let x = settle(&scene, substeps, 30.0, 45);
    // The middle row.
    let [first, last] = [CELLS + 1, 2 * CELLS + 1].map(|i| x[i as usize].map(f64::from));
    let [along, down] = [last[0] - first[0] - 0.5 * f64::from(cell), first[1] - last[1]];
    let slope = down / along;
    // The slope of the elastica rises with the load w = (L/c)³.
    let (mut low, mut high) = (0.0, 200.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        let [along, down] = elastica(middle, 0.0);
        if down / along < slope { low = middle } else { high = middle }
    }
    overhang / low.cbrt()
}

const PEDESTAL: f64 = 0.09;
const DISC: f64 = 0.15;

/// A ring of triangles that are nearly equilateral, from one centimetre inside the pedestal to the border of the disc.
fn disc(fabric: &Fabric) -> Scene {
    const AROUND: u32 = 72;
    const RINGS: u32 = 8;
    let mut scene = Scene::new();
    let positions = (0..AROUND * RINGS).map(|i| {
        let (ring, place) = (i / AROUND, i % AROUND);
        let radius = PEDESTAL + 0.01 * (f64::from(ring) - 1.0);
        let (sin, cos) = (TAU * (f64::from(place) + 0.5 * f64::from(ring % 2)) / f64::from(AROUND)).sin_cos();
        let height = if ring < 2 { 0.0 } else { 1e-4 * noise(i) };
        [(radius * cos) as f32, height, (radius * sin) as f32]
    });
    let triangles = (0..RINGS - 1).flat_map(|ring| {
        (0..AROUND).flat_map(move |k| {
            let at = |ring: u32, k: u32| ring * AROUND + k % AROUND;
            let [a, b, c, d] = [at(ring, k), at(ring, k + 1), at(ring + 1, k), at(ring + 1, k + 1)];
            if ring % 2 == 0 { [[a, b, c], [b, d, c]] } else { [[a, d, c], [a, b, d]] }
        })
    });
    let (positions, triangles): (Vec<_>, Vec<_>) = (positions.collect(), triangles.collect());
    let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric: plate(*fabric), tethers: None };
    scene.add_cloth_mesh(&mesh).unwrap();
    (0..2 * AROUND).for_each(|i| scene.pin(i).unwrap());
    scene
}

/// The share of the free ring of the disc that its shadow covers: Cusick 1968, BS 5058 and ISO 9073-9, with a disc of 30 cm
/// on a pedestal of 18 cm.
fn drape_coefficient(fabric: &Fabric, substeps: u32) -> f64 {
    shadow(&settle(&disc(fabric), substeps, 2.0, 240))
}

/// The drape coefficient from positions.
fn shadow(x: &[[f32; 3]]) -> f64 {
    let mut radii = vec![PEDESTAL; 720];
    // Points between the rings and along them.
    for ring in 2..8 {
        for k in 0..72 {
            let [a, b] = [k, (k + 1) % 72].map(|k| x[ring * 72 + k].map(f64::from));
            for share in (0..16).map(|share| f64::from(share) / 16.0) {
                let [px, pz] = [0, 2].map(|axis| a[axis] + share * (b[axis] - a[axis]));
                let bin = (pz.atan2(px).rem_euclid(TAU) / TAU * 720.0) as usize % 720;
                radii[bin] = radii[bin].max(px.hypot(pz));
            }
        }
    }
    let shadow = radii.iter().map(|r| r * r).sum::<f64>() / 720.0;
    (shadow - PEDESTAL.powi(2)) / (DISC.powi(2) - PEDESTAL.powi(2))
}

/// The bending lengths [mm] and drape coefficients [%] of a fabric.
fn measured(fabric: &Fabric, substeps: &[u32]) -> [Vec<f64>; 2] {
    let lengths = substeps.iter().map(|&substeps| 1e3 * bending_length(fabric, substeps));
    let drapes = substeps.iter().map(|&substeps| 100.0 * drape_coefficient(fabric, substeps));
    [lengths.collect(), drapes.collect()]
}

/// A value with its deviation from `expected`, bold if beyond the bar.
fn cell(value: f64, expected: f64, bar: f64) -> String {
    let deviation = value / expected - 1.0;
    let bold = if deviation.abs() > bar { "**" } else { "" };
    format!("{value:.1} ({bold}{:+.0} %{bold})", 100.0 * deviation)
}

fn published(name: &str) -> &'static str {
    match name {
        "LEATHER" => "47 to 70, four sheep leathers of 0.64 to 0.96 mm (Memon et al. 2021)",
        _ => "none cited",
    }
}

const HEAD: &str = "# Calibration of fabrics

The presets of `Fabric` by two tests of textile laboratories, with `Bending::Isometric`. `tests/physics/calibration.rs` measures the tables on the CPU
reference and writes this page: `SUPPLE_WRITE_CALIBRATION=1 cargo test --test physics calibration -- --ignored`. Steps of 1/60 s, one
iteration, no tethers. Deviations in bold are beyond 30 % at 20 substeps (the default) or 10 % at 50.
";

const CANTILEVER: &str = "
## Cantilever

Bending length c in mm (ASTM D1388, ISO 9073-7): a strip of 12 by 2 cells hangs over an edge by 2 c, and c follows from the slope of the chord to
its tip by the elastica. The closed form is c = (B/(\u{3c1} g))^(1/3) (Peirce 1930) of the flexural rigidity B and the area density \u{3c1} of the preset.

| preset | B [N m] | \u{3c1} [kg/m\u{b2}] | closed form | 20 substeps | 50 substeps | 100 substeps |
|---|---|---|---|---|---|---|
";

const DRAPE: &str = "
## Drape

Drape coefficient in % (Cusick 1968, BS 5058, ISO 9073-9): the share of the free ring that the shadow covers, for a disc of 30 cm on a pedestal of
18 cm. The mesh has nearly equilateral triangles of 1 cm, whose `Bending::Isometric` is 10 to 15 % softer than B. The positions are those after 4 s with a
damping of 2/s. Deviations are those from 100 substeps, the finest setting measured.

| preset | 20 substeps | 50 substeps | 100 substeps | published |
|---|---|---|---|---|
";

fn page() -> String {
    let (mut cantilever, mut drape) = (String::new(), String::new());
    let all = std::thread::scope(|scope| {
        let run = |(_, fabric)| scope.spawn(move || measured(&fabric, &SUBSTEPS));
        FABRICS.map(run).map(|thread| thread.join().unwrap())
    });
    for ((name, fabric), [lengths, drapes]) in FABRICS.into_iter().zip(all) {
        let closed = 1e3 * closed_bending_length(&fabric);
        let bars = [BARS[0], BARS[1], BARS[1]];
        let lengths: Vec<String> = lengths.iter().zip(bars).map(|(&value, bar)| cell(value, closed, bar)).collect();
        let solution = drapes[2];
        let drapes: Vec<String> = drapes.iter().zip(BARS).map(|(&value, bar)| cell(value, solution, bar)).collect();
        let (b, density) = (fabric.flexural_rigidity, fabric.area_density);
        cantilever += &format!("| `{name}` | {b:.1e} | {density} | {closed:.1} | {} |\n", lengths.join(" | "));
        drape += &format!("| `{name}` | {} | {solution:.1} | {} |\n", drapes.join(" | "), published(name));
    }
    [HEAD, CANTILEVER, &cantilever, DRAPE, &drape].concat()
}

fn stored() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/calibration.md");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).replace("\r\n", "\n")
}

/// The leading numbers of the cells of the row of a preset, in the table whose number is given.
fn row(page: &str, name: &str, table: usize) -> Vec<f64> {
    let start = format!("| `{name}` |");
    let row = page.lines().filter(|line| line.starts_with(&start)).nth(table).unwrap();
    row.split('|').filter_map(|cell| cell.split_whitespace().next()?.parse().ok()).collect()
}

/// Rounding of other adapters and compilers may lead to other folds.
const TOLERANCE: f64 = 0.05;

fn assert_close(name: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{name}: {found:.2?}, {expected:.2?}");
    let close = found.iter().zip(expected).all(|(found, expected)| (found / expected - 1.0).abs() < TOLERANCE);
    let command = "SUPPLE_WRITE_CALIBRATION=1 cargo test --test physics calibration -- --ignored";
    assert!(close, "{name}: {found:.2?} instead of {expected:.2?} of docs/calibration.md; {command} writes it anew");
}

/// All rows take some minutes.
#[test]
#[ignore = "runs for minutes; two rows are checked by another test"]
fn calibration_equals_its_page() {
    let page = page();
    if std::env::var_os("SUPPLE_WRITE_CALIBRATION").is_some() {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/calibration.md"), &page).unwrap();
    }
    let stored = stored();
    for (name, _) in FABRICS {
        (0..2).for_each(|table| assert_close(name, &row(&page, name, table), &row(&stored, name, table)));
    }
}

#[test]
fn bending_lengths_and_drape_of_presets_equal_the_page_of_calibration() {
    let stored = stored();
    for (name, fabric) in FABRICS {
        let lengths = SUBSTEPS.iter().map(|&substeps| 1e3 * bending_length(&fabric, substeps));
        assert_close(name, &lengths.collect::<Vec<_>>(), &row(&stored, name, 0)[3..6]);
    }
    let (name, fabric) = FABRICS[1];
    assert_close(name, &[100.0 * drape_coefficient(&fabric, SUBSTEPS[0])], &row(&stored, name, 1)[..1]);
}
