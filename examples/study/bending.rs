//! The deflection of a clamped strip, compared with the elastica.
//!
//! Peirce's cantilever test of cloth (1930).

use crate::plot::{Axis, BLUE, Figure, GRAY, GREEN, Mark, ORANGE, Panel, Series};
use crate::scenes::{G, Lab};
use supple::{Bending, Cloth, ClothGrid, ClothMesh, Fabric, Material, Result, Scene, Settings};

/// The free length [m]. The bending constraint at the last clamped row represents half a cell on either side, so the
/// clamp lies half a cell behind that row.
const LENGTH: f64 = 0.2;
const CELLS: u32 = 8;
/// Mass per area [kg/m²].
const DENSITY: f64 = 0.2;

/// The deflection of the tip of a strip of flexural rigidity B, relative to its length.
///
/// B θ'' = −q (L − s) cos θ, with q the weight per area and θ the angle below the horizontal. The boundary conditions
/// are θ(0) = 0 and θ'(L) = 0. θ'(0) is found by bisection; each trial takes 4000 steps of the midpoint rule.
fn elastica(rigidity: f64) -> f64 {
    const STEPS: u32 = 4000;
    let ds = LENGTH / f64::from(STEPS);
    let slope = |s: f64, theta: f64| -DENSITY * G * (LENGTH - s) * theta.cos() / rigidity;
    let integrate_from_clamp = |curvature: f64| {
        let (mut theta, mut rate, mut drop) = (0f64, curvature, 0.0);
        for step in 0..STEPS {
            let s = f64::from(step) * ds;
            let middle = theta + 0.5 * ds * rate;
            let middle_rate = rate + 0.5 * ds * slope(s, theta);
            theta += ds * middle_rate;
            rate += ds * slope(s + 0.5 * ds, middle);
            drop += ds * middle.sin();
        }
        (rate, drop / LENGTH)
    };
    // The moment at the clamp is at most that of the straight strip.
    let (mut low, mut high) = (0.0, 0.5 * DENSITY * G * LENGTH * LENGTH / rigidity);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if integrate_from_clamp(middle).0 > 0.0 { high = middle } else { low = middle }
    }
    integrate_from_clamp(low).1
}

/// A function that builds a strip along x; `simulated_deflection` clamps the particles at x ≤ 0.
type Strip = fn(&mut Scene, Fabric) -> Result<Cloth>;

fn grid(scene: &mut Scene, fabric: Fabric) -> Result<Cloth> {
    let cell = (LENGTH / (f64::from(CELLS) + 0.5)) as f32;
    scene.add_cloth_grid(&ClothGrid {
        columns: CELLS + 2,
        rows: 5,
        origin: [-cell, 0.0, 0.0],
        column_axis: [cell * (CELLS + 1) as f32, 0.0, 0.0],
        row_axis: [0.0, 0.0, 4.0 * cell],
        fabric,
        tethers: None,
    })
}

/// Equilateral triangles with edges across the strip. With edges along the strip, the clamped particles would form a
/// zigzag, and the free length would be undefined.
fn equilateral(scene: &mut Scene, fabric: Fabric) -> Result<Cloth> {
    let (lines, points) = (CELLS + 2, 9);
    // The distance between lines of points; each second line is shifted by half an edge.
    let height = LENGTH / (f64::from(CELLS) + 0.5);
    let edge = height * 2.0 / 3f64.sqrt();
    let mut positions = Vec::new();
    for line in 0..lines {
        for point in 0..points {
            let z = edge * (f64::from(point) + 0.5 * f64::from(line % 2));
            positions.push([(height * (f64::from(line) - 1.0)) as f32, 0.0, z as f32]);
        }
    }
    let mut triangles = Vec::new();
    for line in 0..lines - 1 {
        for point in 0..points - 1 {
            let (a, b) = (line * points + point, (line + 1) * points + point);
            let pair =
                if line % 2 == 0 { [[a, a + 1, b], [a + 1, b + 1, b]] } else { [[a, b + 1, b], [a, a + 1, b + 1]] };
            triangles.extend(pair);
        }
    }
    scene.add_cloth_mesh(&ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers: None })
}

/// The deflection of the end of a strip in equilibrium, relative to its length.
fn simulated_deflection(lab: &Lab, strip: Strip, bending: Bending, rigidity: f64) -> Result<f64> {
    let mut scene = Scene::new();
    let fabric = Fabric {
        area_density: DENSITY as f32,
        structural: Material::RIGID,
        shear: Material::RIGID,
        flexural_rigidity: rigidity as f32,
        bending,
        ..Fabric::default()
    };
    let cloth = strip(&mut scene, fabric)?;
    let start: Vec<[f32; 3]> = scene.positions().to_vec();
    for particle in cloth.particles.clone().filter(|&particle| start[particle as usize][0] < 1e-6) {
        scene.pin(particle)?;
    }
    let settings = Settings { substeps: 40, iterations: 10, damping: 10.0, ..Settings::default() };
    let rest = lab.backend(&scene, settings)?.settle(settings.dt, 1e-5, 8.0)?;
    let length = start.iter().map(|position| f64::from(position[0])).fold(0.0, f64::max);
    let end = cloth.particles.filter(|&particle| f64::from(start[particle as usize][0]) > length - 1e-6);
    let end: Vec<f64> = end.map(|particle| -rest[particle as usize][1]).collect();
    Ok(end.iter().sum::<f64>() / end.len() as f64 / LENGTH)
}

pub fn figure(lab: &Lab) -> Result<Figure> {
    let variants: [(&str, Strip, Bending, _); 3] = [
        ("isometric, grid", grid, Bending::Isometric, BLUE),
        ("hinges, grid", grid, Bending::Hinges, GREEN),
        ("hinges, equilateral triangles", equilateral, Bending::Hinges, ORANGE),
    ];
    let rigidities: &[f64] = lab.pick(&[2e-3, 1e-2], &[5e-4, 1e-3, 2e-3, 4e-3, 1e-2]);
    let mut series = Vec::new();
    for (label, strip, bending, color) in variants.into_iter().take(lab.pick(1, 3)) {
        let points =
            rigidities.iter().map(|&rigidity| Ok((rigidity, simulated_deflection(lab, strip, bending, rigidity)?)));
        series.push(Series::new(label, color, Mark::Dots, points.collect::<Result<_>>()?));
    }
    let curve: Vec<(f64, f64)> = rigidities.iter().map(|&rigidity| (rigidity, elastica(rigidity))).collect();
    series.push(Series::new("elastica", GRAY, Mark::Dashes, curve));
    Ok(Figure {
        title: "A clamped strip droops as the elastica of its flexural rigidity".into(),
        panels: vec![Panel {
            title: "strip of 0.2 m and 0.2 kg/m², clamped at one end".into(),
            x: Axis::log("flexural rigidity B [N m]"),
            y: Axis::linear("drop of the end / length").range(0.0, 1.0),
            series,
        }],
    })
}
