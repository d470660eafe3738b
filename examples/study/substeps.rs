//! Substeps against iterations at equal work.
//!
//! Macklin et al. 2019, *Small Steps in Physics Simulation*.

use crate::plot::{Axis, BLUE, Figure, GRAY, GREEN, Mark, ORANGE, Panel, Series};
use crate::scenes::{G, Lab, chain};
use supple::{Material, Result, Settings};

/// The residual stretch of a rigid chain of 1 m with `links` constraints [m].
fn false_stretch(lab: &Lab, links: u32, substeps: u32, iterations: u32) -> Result<f64> {
    let expected = law(links, substeps) / f64::from(iterations);
    // The slowest mode of a chain that stretches so much by its weight; the damping is critical for it.
    let omega = std::f64::consts::FRAC_PI_2 * (G / (2.0 * expected)).sqrt();
    let damping = (2.0 * omega) as f32;
    let settings = Settings { substeps, iterations, damping, tethers: false, ..Settings::default() };
    let mut backend = lab.backend(&chain(links, 1.0 / links as f32, 1.0, Material::RIGID)?, settings)?;
    let rest = backend.settle(settings.dt, 2e-4 * expected, 40.0 / omega)?;
    Ok(-rest[links as usize][1] - 1.0)
}

/// One sweep of two colours leaves g h² (N²/2 − 1); derived in `tests/physics/springs.rs`.
fn law(links: u32, substeps: u32) -> f64 {
    let h = 1.0 / 60.0 / f64::from(substeps);
    G * h * h * (f64::from(links).powi(2) / 2.0 - 1.0)
}

pub fn figure(lab: &Lab) -> Result<Figure> {
    let links = lab.pick(64, 316);
    let sweeps: &[u32] = lab.pick(&[20, 100], &[10, 20, 24, 30, 50, 100]);
    let curve = |split: &dyn Fn(u32) -> Option<(u32, u32)>| -> Result<Vec<_>> {
        let splits = sweeps.iter().filter_map(|&sweeps| Some((sweeps, split(sweeps)?)));
        splits.map(|(sweeps, (n, k))| Ok((f64::from(sweeps), 100.0 * false_stretch(lab, links, n, k)?))).collect()
    };
    let series = vec![
        Series::new("1 substep × n iterations", ORANGE, Mark::Dots, curve(&|n| Some((1, n)))?),
        Series::new("n/10 substeps × 10 iterations", GREEN, Mark::Dots, {
            curve(&|n| (n % 10 == 0).then_some((n / 10, 10)))?
        }),
        Series::new("n substeps × 1 iteration", BLUE, Mark::Dots, curve(&|n| Some((n, 1)))?),
        Series::new("law of one iteration, g h² (N²/2 − 1)", GRAY, Mark::Dashes, {
            sweeps.iter().map(|&n| (f64::from(n), 100.0 * law(links, n))).collect()
        }),
    ];
    Ok(Figure {
        title: "At equal work substeps win: error ∝ 1/n² against 1/n".into(),
        panels: vec![Panel {
            title: format!("rigid chain of 1 m at rest, N = {links} links"),
            x: Axis::log("sweeps in a step of 1/60 s, n"),
            y: Axis::log("false stretch [%]"),
            series,
        }],
    })
}
