//! Stiffness against the length of the substep: α of XPBD is a material property, k of PBD is not.
//!
//! Macklin et al. 2016, §1 and §3.

use crate::plot::{Axis, BLUE, Figure, GRAY, GREEN, Mark, Panel, Series};
use crate::scenes::{G, Lab, spring, weightless};
use supple::{Material, Method, Result, Settings};

/// Compliance of a spring with a period of about one second [m/N].
const ALPHA: f64 = 0.025;
/// The substep at which k matches α [s].
const TUNED: f64 = 1.0 / 600.0;

fn settings(method: Method, h: f64) -> Settings {
    Settings { method, dt: h as f32, ..weightless() }
}

fn material() -> Material {
    let k = TUNED * TUNED / (TUNED * TUNED + ALPHA);
    Material { compliance: ALPHA as f32, stiffness: k as f32, ..Material::RIGID }
}

/// The effective compliance of stiffness k between a pin and 1 kg at substep h: PBD leaves (1 − k)(C + h v) of the
/// predicted error, XPBD leaves α̃/(w + α̃) of it.
fn compliance_of_k(h: f64) -> f64 {
    let k = f64::from(material().stiffness);
    h * h * (1.0 - k) / k
}

/// The stretch under 1 kg at rest [m].
fn rest_stretch(lab: &Lab, method: Method, h: f64) -> Result<f64> {
    let alpha = if method == Method::Pbd { compliance_of_k(h) } else { ALPHA };
    let damping = (2.0 / alpha.sqrt()) as f32;
    let gravity = [0.0, -G as f32, 0.0];
    let mut backend = lab.backend(&spring(0.0, material())?, Settings { damping, gravity, ..settings(method, h) })?;
    let rest = backend.settle(h as f32, 1e-6, 200.0)?;
    Ok(-rest[1][1] - 1.0)
}

/// The time between every second passage through the rest length [s].
fn period(lab: &Lab, method: Method, h: f64) -> Result<f64> {
    let alpha = if method == Method::Pbd { compliance_of_k(h) } else { ALPHA };
    let mut backend = lab.backend(&spring(0.05, material())?, settings(method, h))?;
    let (mut before, mut crossings) = (0.05, Vec::new());
    for step in 1..(1.6 * std::f64::consts::TAU * alpha.sqrt() / h) as u32 {
        backend.step(1);
        let stretch = -backend.positions()?[1][1] - 1.0;
        if before * stretch < 0.0 {
            crossings.push(h * (f64::from(step) - stretch / (stretch - before)));
        }
        before = stretch;
    }
    Ok(crossings[2] - crossings[0])
}

pub fn figure(lab: &Lab) -> Result<Figure> {
    let counts: &[u32] = lab.pick(&[1, 4, 10, 30], &[1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100]);
    let substeps: Vec<f64> = counts.iter().rev().map(|&count| 1.0 / 60.0 / f64::from(count)).collect();
    let (shortest, longest) = (substeps[0], 1.0 / 60.0);
    let panel = |title: &str, y: &'static str, value: fn(&Lab, Method, f64) -> Result<f64>, law: f64| {
        let curve =
            |method| -> Result<Vec<_>> { substeps.iter().map(|&h| Ok((1e3 * h, value(lab, method, h)?))).collect() };
        Ok(Panel {
            title: title.into(),
            x: Axis::log("substep h [ms]"),
            y: Axis::log(y),
            series: vec![
                Series::new("PBD, k = 1.1e−4", GREEN, Mark::Dots, curve(Method::Pbd)?),
                Series::new("XPBD, α = 0.025 m/N", BLUE, Mark::Dots, curve(Method::Xpbd)?),
                Series::new("closed form", GRAY, Mark::Dashes, vec![(1e3 * shortest, law), (1e3 * longest, law)]),
            ],
        })
    };
    Ok(Figure {
        title: "The stiffness of PBD goes with 1/h²; that of XPBD is the material's".into(),
        panels: vec![
            panel("1 kg at rest on a spring", "stretch [m]", rest_stretch, G * ALPHA)?,
            panel("1 kg swinging on a spring", "period [s]", period, std::f64::consts::TAU * ALPHA.sqrt())?,
        ],
    })
}
