//! Stiffness against iterations: naive PBD, PBD with k', XPBD.
//!
//! Macklin et al. 2016, §3; Müller et al. 2007, §3.3, for k' = 1 − (1 − k)^(1/n).

use crate::plot::{Axis, BLUE, Figure, GRAY, GREEN, Mark, ORANGE, Panel, Series};
use crate::scenes::{G, Lab, chain, spring, weightless};
use plotters::style::RGBColor;
use supple::{Material, Method, Result, Settings};

const METHODS: [(&str, Method, RGBColor); 3] =
    [("naive PBD, k", Method::NaivePbd, ORANGE), ("PBD, k'", Method::Pbd, GREEN), ("XPBD, α", Method::Xpbd, BLUE)];

/// The compliances of the soft and of the stiff chain [m/N].
const SOFT: f64 = 1e-4;
const STIFF: f64 = 1e-6;
const SEGMENTS: u32 = 11;
const SUBSTEPS: u32 = 4;

/// The fraction of the stretch of a single spring that remains after one substep of n iterations.
fn spring_left(lab: &Lab, method: Method, iterations: u32) -> Result<f64> {
    let (k, h) = (0.2, f64::from(weightless().substep()));
    // PBD and XPBD agree at one iteration: α̃/(w + α̃) = 1 − k, with w = 1/kg.
    let compliance = (h * h * (1.0 - k) / k) as f32;
    let scene = spring(0.1, Material { compliance, stiffness: k as f32, ..Material::RIGID })?;
    let mut backend = lab.backend(&scene, Settings { method, iterations, ..weightless() })?;
    backend.step(1);
    Ok((-backend.positions()?[1][1] - 1.0) / 0.1)
}

/// The total stretch of a hanging chain in equilibrium [m].
fn chain_stretch(lab: &Lab, alpha: f64, method: Method, iterations: u32) -> Result<f64> {
    let settings =
        Settings { method, iterations, substeps: SUBSTEPS, damping: 12.0, tethers: false, ..Settings::default() };
    let h = f64::from(settings.substep());
    // The same stiffness at one iteration: k = w/(w + α̃), with w = 2/kg for two particles of 1 kg.
    let k = 2.0 * h * h / (2.0 * h * h + alpha);
    let material = Material { compliance: alpha as f32, stiffness: k as f32, ..Material::RIGID };
    let mut backend = lab.backend(&chain(SEGMENTS, 0.2, 1.0, material)?, settings)?;
    let rest = backend.settle(settings.dt, 2e-6, 20.0)?;
    Ok(-rest[SEGMENTS as usize][1] - 0.2 * f64::from(SEGMENTS))
}

pub fn figure(lab: &Lab) -> Result<Figure> {
    let counts: &[u32] = lab.pick(&[1, 3, 10, 30, 100], &[1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 70, 100]);
    let curves = |value: &dyn Fn(Method, u32) -> Result<f64>| -> Result<Vec<Series>> {
        METHODS
            .into_iter()
            .map(|(label, method, color)| {
                let points = counts.iter().map(|&n| Ok((f64::from(n), value(method, n)?)));
                Ok(Series::new(label, color, Mark::Dots, points.collect::<Result<_>>()?))
            })
            .collect()
    };
    let hanging = |title: &str, alpha: f64, top: f64| -> Result<Panel> {
        let mut series = curves(&|method, n| Ok(1e3 * chain_stretch(lab, alpha, method, n)?))?;
        let law = 1e3 * alpha * G * f64::from(SEGMENTS * (SEGMENTS + 1) / 2);
        series.push(Series::new("closed form, α Σ T", GRAY, Mark::Dashes, vec![(1.0, law), (100.0, law)]));
        Ok(Panel {
            title: title.into(),
            x: Axis::log("iterations in a substep of 1/240 s"),
            y: Axis::linear("stretch of the chain [mm]").range(0.0, top),
            series,
        })
    };
    Ok(Figure {
        title: "XPBD converges to its compliance; naive PBD stiffens with every iteration".into(),
        panels: vec![
            Panel {
                title: "lone spring, one substep".into(),
                x: Axis::log("iterations"),
                y: Axis::linear("stretch left / stretch at start").range(0.0, 1.0),
                series: curves(&|method, n| spring_left(lab, method, n))?,
            },
            hanging("chain of 11 links at rest, α = 1e−4 m/N", SOFT, 90.0)?,
            hanging("the same, α = 1e−6 m/N", STIFF, 15.0)?,
        ],
    })
}
