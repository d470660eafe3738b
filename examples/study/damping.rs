//! Damping against substeps: damping rates per time, and factors per substep.
//!
//! Macklin et al. 2016, eq. 26, for the dashpot.

use crate::plot::{Axis, BLUE, Figure, GRAY, Mark, ORANGE, Panel, Series};
use crate::scenes::{Lab, spring, weightless};
use supple::{Material, Result, Settings};

/// Compliance of a spring with a period of about one second [m/N].
const ALPHA: f32 = 0.025;
/// The decay rate: all three decay as exp(−t/2) at 20 substeps.
const RATE: f32 = 0.5;

/// The stretch of a spring [mm] over time [s].
fn swing(lab: &Lab, material: Material, settings: Settings) -> Result<Vec<(f64, f64)>> {
    let mut backend = lab.backend(&spring(0.1, material)?, settings)?;
    let dt = f64::from(settings.dt);
    let mut points = vec![(0.0, 100.0)];
    for step in 1..=lab.pick(120, 240) {
        backend.step(1);
        points.push((f64::from(step) * dt, 1e3 * (-backend.positions()?[1][1] - 1.0)));
    }
    Ok(points)
}

pub fn figure(lab: &Lab) -> Result<Figure> {
    let elastic = Material::compliant(ALPHA);
    let at = |substeps| Settings { substeps, ..weightless() };
    // The factor per substep at 20 substeps.
    let factor = (-2.0 * RATE / 1200.0).exp();
    type Setup<'a> = &'a dyn Fn(u32) -> (Material, Settings);
    let ways: [(&str, Setup); 3] = [
        ("dashpot β = 1 N s/m", &|n| (Material { damping: 2.0 * RATE, ..elastic }, at(n))),
        ("velocity damping 1/s", &|n| (elastic, Settings { damping: 2.0 * RATE, ..at(n) })),
        ("v times 0.99917 each substep", &|n| (elastic, Settings { step_factor: factor.powi(n as i32), ..at(n) })),
    ];
    let panels = ways.into_iter().map(|(title, setup)| {
        let curve = |substeps, color, mark| -> Result<Series> {
            let (material, settings) = setup(substeps);
            Ok(Series::new(format!("{substeps} substeps"), color, mark, swing(lab, material, settings)?))
        };
        let mut series = vec![curve(20, BLUE, Mark::Line)?, curve(60, ORANGE, Mark::Dashes)?];
        let envelope = |&(t, _): &(f64, f64)| (t, 100.0 * (-f64::from(RATE) * t).exp());
        let envelope = series[0].points.iter().map(envelope).collect();
        series.push(Series::new("exp(−t/2)", GRAY, Mark::Line, envelope));
        Ok(Panel {
            title: title.into(),
            x: Axis::linear("time [s]"),
            y: Axis::linear("stretch [mm]").range(-105.0, 105.0),
            series,
        })
    });
    Ok(Figure {
        title: "Damping per second does not see the substeps; a factor per substep does".into(),
        panels: panels.collect::<Result<_>>()?,
    })
}
