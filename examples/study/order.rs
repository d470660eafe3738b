//! The bias of a fixed colour order: the asymmetry of a symmetric cloth.

use crate::plot::{Axis, BLUE, Figure, GREEN, Mark, ORANGE, PURPLE, Panel, Series};
use crate::scenes::{Lab, distance};
use supple::{Bending, ClothGrid, ColorOrder, Fabric, Material, Result, Scene, Settings, Sweep};

/// Particles per side of 1 m.
const COUNT: u32 = 21;

/// A square cloth, pinned along its border. Masses, pins and constraints are invariant under the symmetries of the
/// square. It is stretched by a tenth, so that buckling does not break a symmetry.
fn cloth() -> Result<Scene> {
    let mut scene = Scene::new();
    let elastic = Material::compliant(1e-3);
    let fabric = Fabric { structural: elastic, shear: elastic, bending: Bending::None, ..Fabric::default() };
    scene.add_cloth_grid(&ClothGrid {
        columns: COUNT,
        rows: COUNT,
        origin: [-0.5, 0.0, -0.5],
        column_axis: [1.0, 0.0, 0.0],
        row_axis: [0.0, 0.0, 1.0],
        fabric,
        tethers: None,
    })?;
    for particle in 0..COUNT * COUNT {
        let stretched = scene.positions()[particle as usize].map(|component| 1.1 * component);
        scene.set_position(particle, stretched)?;
    }
    let border = |place: u32| place == 0 || place == COUNT - 1;
    for particle in (0..COUNT * COUNT).filter(|particle| border(particle % COUNT) || border(particle / COUNT)) {
        scene.pin(particle)?;
    }
    Ok(scene)
}

/// The mean distance between a particle and its mirror images [m]: left and right, front and back, rows and columns.
fn asymmetry(positions: &[[f64; 3]]) -> f64 {
    let at = |row: u32, column: u32| positions[(row * COUNT + column) as usize];
    let last = COUNT - 1;
    let mut sum = 0.0;
    for row in 0..COUNT {
        for column in 0..COUNT {
            let [x, y, z] = at(row, column);
            sum += distance(at(row, last - column), [-x, y, z]);
            sum += distance(at(last - row, column), [x, y, -z]);
            sum += distance(at(column, row), [z, y, x]);
        }
    }
    sum / f64::from(3 * COUNT * COUNT)
}

pub fn figure(lab: &Lab) -> Result<Figure> {
    let ways = [
        ("fixed order", Sweep::GaussSeidel, ColorOrder::Fixed, ORANGE),
        ("alternating", Sweep::GaussSeidel, ColorOrder::Alternating, PURPLE),
        ("shuffled", Sweep::GaussSeidel, ColorOrder::Shuffled { seed: 1 }, GREEN),
        ("Jacobi", Sweep::Jacobi, ColorOrder::Fixed, BLUE),
    ];
    let (steps, every) = (lab.pick(60, 240), lab.pick(6, 2));
    let (mut instant, mut mean) = (Vec::new(), Vec::new());
    for (label, sweep, color_order, color) in ways {
        let settings = Settings { sweep, color_order, damping: 3.0, ..Settings::default() };
        let mut backend = lab.backend(&cloth()?, settings)?;
        let mut sum = vec![[0f64; 3]; (COUNT * COUNT) as usize];
        let (mut now, mut so_far) = (Vec::new(), Vec::new());
        for sample in 1..=steps / every {
            backend.step(every);
            let positions = backend.positions()?;
            for (sum, position) in sum.iter_mut().zip(&positions) {
                (0..3).for_each(|axis| sum[axis] += position[axis]);
            }
            let average: Vec<[f64; 3]> =
                sum.iter().map(|sum| sum.map(|component| component / f64::from(sample))).collect();
            let time = f64::from(sample * every) / 60.0;
            now.push((time, 1e3 * asymmetry(&positions).max(1e-9)));
            so_far.push((time, 1e3 * asymmetry(&average).max(1e-9)));
        }
        instant.push(Series::new(label, color, Mark::Line, now));
        mean.push(Series::new(label, color, Mark::Line, so_far));
    }
    let panel = |title: &str, series| Panel {
        title: title.into(),
        x: Axis::linear("time [s]"),
        y: Axis::log("distance to the mirror images [mm]"),
        series,
    };
    Ok(Figure {
        title: "Every order of colours leaves its mark on a symmetric cloth; Jacobi leaves none".into(),
        panels: vec![panel("at the time", instant), panel("mean positions up to the time", mean)],
    })
}
