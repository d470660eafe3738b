//! A balloon of thin rubber on a string. Half of its gas is let out, then it is inflated to twice its volume, rises and
//! stays in the wind. The gas is helium; the overpressure is computed from λ.
//!
//! ```text
//! cargo run --release --example balloon                                        a window, with a slider for the pressure
//! cargo run --release --example balloon -- --headless --frames 300 --json      a line of JSON
//! cargo run --release --example balloon -- --headless --pressure 1.5 --json    one pressure from start to end
//! ```

use anyhow::ensure;
use clap::Parser;
use glam::{Quat, Vec3};
use serde_json::json;
use std::ops::Range;
use supple::{
    Balloon, BalloonParts, Bending, Cord, Distance, Fabric, Material, Pressure, Rope, Scene, Settings, Solver,
};
use supple_demos::camera::Camera;
use supple_demos::shapes::{icosphere, placed};
use supple_demos::{Demo, Figures, Options, Script, breeze};

#[derive(Parser, Debug)]
#[command(about = "A balloon on a string")]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The target volume of the gas over the rest volume, constant; without it, from 1 to 0.3 to 2
    #[arg(long)]
    pressure: Option<f32>,
    /// Subdivisions of the icosahedron
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=7))]
    cuts: u32,
}

const RADIUS: f32 = 0.25;
/// The thickness of the skin relative to [`Fabric::RUBBER`]: 0.06 mm.
const THICKNESS: f32 = 0.125;
/// The stiffness of the springs along the edges [N/m].
const STIFFNESS: f32 = 0.75 * 750.0 * THICKNESS;
/// The lift of helium per volume [N/m³].
const LIFT: f32 = (1.204 - 0.167) * 9.81;

struct Gas {
    parts: BalloonParts,
    fixed: Option<f32>,
    pressure: f32,
    volume: f64,
}

impl Gas {
    /// The target volume: 1 for 0.25 s, down to 0.3 in 0.5 s, and up to 2 in 1.5 s.
    fn planned(step: u32) -> f32 {
        let seconds = step as f32 / 60.0;
        let [out, blown] = [(seconds - 0.25) / 0.5, (seconds - 0.75) / 1.5].map(|t| t.clamp(0.0, 1.0));
        1.0 - 0.7 * out + 1.7 * blown
    }

    fn wanted(&self) -> f32 {
        self.pressure * self.parts.rest_volume
    }
}

impl Script for Gas {
    fn drive(&mut self, solver: &mut Solver, step: u32) -> supple::Result<()> {
        self.pressure = self.fixed.unwrap_or_else(|| Self::planned(step));
        let BalloonParts { surface, rest_volume, pressure: index, cloth } = &self.parts;
        let constraint = Pressure { surface, rest_volume: *rest_volume, pressure: self.pressure };
        solver.set_constraint(*index, constraint)?;
        // The vertices of an icosphere have nearly equal shares of the surface.
        let share = LIFT * self.wanted() / cloth.particles.len() as f32;
        solver.set_forces(cloth.particles.start, &vec![[0.0, share, 0.0]; cloth.particles.len()])
    }

    fn observe(&mut self, positions: &[[f32; 3]]) -> supple::Result<()> {
        self.volume = self.parts.surface.volume(|particle| positions[particle as usize]);
        Ok(())
    }

    fn panel(&mut self, ui: &mut egui::Ui) {
        ui.label(format!("volume: {:.3} of {:.3} m³", self.volume, self.parts.rest_volume));
        let mut pressure = self.pressure;
        if ui.add(egui::Slider::new(&mut pressure, 0.1..=3.0).text("pressure factor")).changed() {
            self.fixed = Some(pressure);
        }
        if self.fixed.is_some() && ui.button("pressure as planned").clicked() {
            self.fixed = None;
        }
    }

    fn figures(&mut self, solver: &Solver) -> supple::Result<Figures> {
        let square = f64::from(solver.settings().substep()).powi(2);
        let lambda = solver.read_lambdas::<Pressure>()?.first().copied().unwrap_or_default();
        let figures = [
            ("pressure", f64::from(self.pressure)),
            ("rest_volume", f64::from(self.parts.rest_volume)),
            ("wanted_volume", f64::from(self.wanted())),
            ("volume", self.volume),
            ("overpressure", f64::from(lambda) / square),
            ("overpressure_of_a_sphere", f64::from(overpressure(self.pressure))),
        ];
        Ok(figures.map(|(name, value)| (name.into(), json!(value))).into_iter().collect())
    }
}

/// The overpressure 2 T/r [Pa] of a spherical skin of equilateral triangles, with T = √3 k (l − l₀)/l.
fn overpressure(pressure: f32) -> f32 {
    let stretch = pressure.cbrt();
    let tension = 3f32.sqrt() * STIFFNESS * (stretch - 1.0) / stretch;
    (2.0 * tension / (RADIUS * stretch)).max(0.0)
}

fn main() -> anyhow::Result<()> {
    // With fewer sweeps the gas and the skin, which pull against each other, do not come to rest on one pressure: at 1 it is
    // a third of what it should be.
    let Arguments { options, pressure, cuts } = supple_demos::parse(&[("wind", "0.8"), ("iterations", "6")]);
    let rubber = |compliance: f32| Material { damping_time: 2e-3, ..Material::compliant(compliance) };
    let fabric = Fabric {
        area_density: Fabric::RUBBER.area_density * THICKNESS,
        structural: rubber(1.0 / STIFFNESS),
        bend: rubber(0.0),
        flexural_rigidity: Fabric::RUBBER.flexural_rigidity * THICKNESS.powi(3),
        bending: Bending::Hinges,
        ..Fabric::RUBBER
    };
    let (positions, triangles) = placed(icosphere(cuts, RADIUS), Quat::IDENTITY, Vec3::Y * RADIUS);
    let rest_volume = 4.0 / 3.0 * std::f32::consts::PI * RADIUS.powi(3);
    // Atmospheric pressure.
    let gas = Material::compliant(rest_volume / 101_325.0);
    let mut scene = Scene::new();
    let balloon = Balloon { positions: &positions, triangles: &triangles, fabric, pressure: 1.0, gas };
    let parts = scene.add_balloon(&balloon)?;

    // The string starts at the lowest vertex of the skin.
    let height = |particle: &u32| scene.positions()[*particle as usize][1];
    let knot = parts.cloth.particles.clone().min_by(|a, b| height(a).total_cmp(&height(b))).unwrap_or_default();
    let top = Vec3::from(scene.positions()[knot as usize]);
    let points: Vec<[f32; 3]> = (1..=24).map(|k| (top + Vec3::NEG_Y * 0.7 * k as f32 / 24.0).into()).collect();
    let cord = Cord { axial_stiffness: 1e3, ..Cord::limp(2e-3, 1e3) };
    let rope = scene.add_rope(&Rope { points: &points, cord, tethers: None })?;
    let tie =
        scene.add(Distance { particles: [knot, rope.particles.start], rest_length: 0.7 / 24.0 }, Material::RIGID)?;
    scene.pin(rope.particles.end - 1)?;
    let ropes: Range<u32> = rope.segments.start..tie + 1;

    let settings = Settings {
        forces: true,
        keep_lambdas: true,
        wind: (options.wind != 0.0).then(|| breeze(options.wind)),
        ..options.settings()
    };
    let demo = Demo {
        title: "balloon",
        settings,
        edges: parts.cloth.structural.clone(),
        materials: vec![("stretch", parts.cloth.materials.structural)],
        tints: vec![(parts.cloth.particles.clone(), [0.40, 0.02, 0.03])],
        ropes,
        rope_thickness: 0.012,
        script: Some(Box::new(Gas { parts, fixed: pressure, pressure: 1.0, volume: f64::from(rest_volume) })),
        camera: Camera { target: Vec3::new(0.05, -0.05, 0.0), distance: 2.1, yaw: 0.5, pitch: 0.1 },
        ground: -0.9,
        scene,
        ..Demo::default()
    };
    supple_demos::run(demo, &options, |report| {
        ensure!(report.non_finite_count == 0, "{} positions were not finite", report.non_finite_count);
        let figure = |name: &str| report.figures[name].as_f64().unwrap_or(f64::NAN);
        let share = figure("volume") / figure("wanted_volume");
        ensure!((share - 1.0).abs() < 0.05, "the balloon has {share:.3} of the volume that its gas wants");
        Ok(())
    })
}
