//! The stiffness of a hanging cloth at equal work: substeps against iterations; colours, tiles, clusters and Jacobi;
//! with and without tethers.
//!
//! Macklin et al. 2019, *Small Steps in Physics Simulation*; Kim et al. 2012 for tethers; `src/schedule/tiling.rs`, `src/schedule/clusters.rs`.

use crate::plot::{Axis, BLUE, Figure, GREEN, Mark, ORANGE, PURPLE, Panel, SKY, Series};
use crate::scenes::Lab;
use plotters::style::RGBColor;
use supple::{Cloth, ClothGrid, Execution, Result, Scene, Settings, Sweep, Tethers};

/// A distribution of sweeps: iterations per substep.
struct Way {
    label: &'static str,
    color: RGBColor,
    iterations: u32,
    execution: Execution,
    sweep: Sweep,
}

const fn way(label: &'static str, color: RGBColor, iterations: u32, execution: Execution) -> Way {
    Way { label, color, iterations, execution, sweep: Sweep::GaussSeidel }
}

const WAYS: [Way; 5] = [
    Way { sweep: Sweep::Jacobi, ..way("n substeps, Jacobi", ORANGE, 1, Execution::Colors) },
    way("n/5 substeps × 5 iterations, colours", PURPLE, 5, Execution::Colors),
    way("n substeps, colours", GREEN, 1, Execution::Colors),
    way("n substeps, clusters", SKY, 1, Execution::Clusters),
    way("n substeps, tiles", BLUE, 1, Execution::Tiles),
];

/// A cloth of 2 m with rigid springs between neighbours, pinned at two corners, that swings down from the horizontal.
fn cloth(count: u32, tethers: Option<Tethers>) -> Result<(Scene, Cloth)> {
    let mut scene = Scene::new();
    let cloth = scene.add_cloth_grid(&ClothGrid { columns: count, rows: count, tethers, ..ClothGrid::default() })?;
    scene.pin(cloth.particles.start)?;
    scene.pin(cloth.particles.start + count - 1)?;
    Ok((scene, cloth))
}

/// The mean |l/L₀ − 1| of the structural springs [%], averaged from 1.5 to 2 s because the cloth oscillates.
fn strain(lab: &Lab, scene: &Scene, cloth: &Cloth, settings: Settings) -> Result<f64> {
    let mut backend = lab.backend(scene, settings)?;
    let mut sum = 0.0;
    backend.step(84);
    for _ in 0..6 {
        backend.step(6);
        sum += backend.strain(scene, cloth.structural.clone())?;
    }
    Ok(sum / 6.0)
}

pub fn figure(lab: &Lab) -> Result<Figure> {
    let count = lab.pick(16, 32);
    let sweeps: &[u32] = lab.pick(&[5, 20], &[5, 10, 20, 40]);
    let panel = |title: String, tethers: Option<Tethers>| -> Result<Panel> {
        let (scene, cloth) = cloth(count, tethers)?;
        let series = WAYS.iter().map(|way| {
            let points = sweeps.iter().map(|&n| {
                let (substeps, iterations) = (n / way.iterations, way.iterations);
                let (execution, sweep) = (way.execution, way.sweep);
                let settings = Settings { substeps, iterations, execution, sweep, ..Settings::default() };
                Ok((f64::from(n), strain(lab, &scene, &cloth, settings)?))
            });
            Ok(Series::new(way.label, way.color, Mark::Dots, points.collect::<Result<_>>()?))
        });
        let (x, y) = (Axis::log("sweeps in a step of 1/60 s, n"), Axis::log("mean strain from 1.5 to 2 s [%]"));
        Ok(Panel { title, x, y, series: series.collect::<Result<_>>()? })
    };
    Ok(Figure {
        title: "Substeps make cloth stiff, tethers carry the pins; tiles and clusters are as good as colours".into(),
        panels: vec![
            panel(format!("cloth of {count} × {count}, no tethers"), None)?,
            panel("the same, two tethers a particle".into(), Some(Tethers::default()))?,
        ],
    })
}
