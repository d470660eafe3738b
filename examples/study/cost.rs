//! Strain against the time of a frame, for a hanging cloth and for one that is draped over a ball. The times require
//! the GPU solver.
//!
//! Macklin et al. 2019, *Small Steps in Physics Simulation*; Kim et al. 2012 for tethers; `src/schedule/tiling.rs`.

use crate::plot::{Axis, BLUE, Figure, GREEN, Mark, ORANGE, PURPLE, Panel, SKY, Series};
use crate::scenes::{Backend, Lab};
use plotters::style::RGBColor;
use std::ops::Range;
use std::time::Instant;
use supple::{
    ClothGrid, Collider, ContactMaterial, Execution, Fabric, Material, Result, Scene, Settings, Shape, Sweep,
};
use supple_demos::measure::median;

/// A distribution of the work: substeps, and sweeps per substep.
struct Variant {
    label: &'static str,
    color: RGBColor,
    settings: Settings,
    substeps: &'static [u32],
}

fn hanging_variants() -> [Variant; 5] {
    let variant = |label, color, execution, substeps: &'static [u32]| Variant {
        label,
        color,
        settings: Settings { execution, ..Settings::default() },
        substeps,
    };
    let [mut twice, mut slack, mut jacobi] = [
        variant("tiles, two sweeps a substep", PURPLE, Execution::Tiles, &[15, 25, 40]),
        variant("tiles, no tethers", SKY, Execution::Tiles, &[30, 50, 72]),
        variant("Jacobi", ORANGE, Execution::Colors, &[10, 20]),
    ];
    twice.settings.iterations = 2;
    slack.settings.tethers = false;
    jacobi.settings.sweep = Sweep::Jacobi;
    let colors = variant("colours", GREEN, Execution::Colors, &[10, 20, 40, 60]);
    [jacobi, slack, twice, colors, variant("tiles", BLUE, Execution::Tiles, &[20, 30, 50, 72])]
}

/// As in `contacts --scene sphere`: damped by air, and supported by the ball only.
fn draped_variants() -> [Variant; 3] {
    let [_, _, twice, colors, tiles] = hanging_variants();
    let of = |variant: Variant, substeps| Variant {
        settings: Settings { damping: 6.0, ..variant.settings },
        substeps,
        ..variant
    };
    [of(twice, &[25, 36]), of(colors, &[10, 20, 40]), of(tiles, &[20, 50, 72])]
}

/// A cloth of 2 m, pinned at two corners, that falls from the horizontal.
fn hanging(count: u32) -> Result<(Scene, Range<u32>)> {
    let mut scene = Scene::new();
    let cloth = scene.add_cloth_grid(&ClothGrid { columns: count, rows: count, ..ClothGrid::default() })?;
    scene.pin(cloth.particles.start)?;
    scene.pin(cloth.particles.start + count - 1)?;
    Ok((scene, cloth.structural))
}

/// A cloth of 2 m over a ball of 0.5 m that lies on the ground.
fn draped(count: u32) -> Result<(Scene, Range<u32>)> {
    let mut scene = Scene::new();
    let mut fabric = Fabric::default();
    fabric.bend = Material { damping_time: 0.02, ..fabric.bend };
    let cloth = scene.add_cloth_grid(&ClothGrid {
        columns: count,
        rows: count,
        origin: [-1.0, 1.03, -1.0],
        column_axis: [2.0, 0.0, 0.0],
        row_axis: [0.0, 0.0, 2.0],
        fabric,
        tethers: None,
    })?;
    let thickness = 1.2 * 2.0 / (count - 1) as f32;
    let material = scene.add_contact_material(ContactMaterial { thickness, ..ContactMaterial::default() })?;
    scene.set_particle_contact(cloth.particles, material)?;
    scene.add_collider(Collider { material, ..Collider::new(Shape::Sphere { radius: 0.5 }, [0.0, 0.5, 0.0]) })?;
    scene.add_collider(Collider { material, ..Collider::default() })?;
    Ok((scene, cloth.structural))
}

/// The median time of a frame \[ms\], and the final mean |l/L₀ − 1| of the springs between neighbours [%].
fn time_frames(backend: &mut Backend, scene: &Scene, springs: Range<u32>, frames: u32) -> Result<(f64, f64)> {
    backend.wait()?;
    let mut times = Vec::new();
    for _ in 0..frames {
        let start = Instant::now();
        backend.step(1);
        backend.wait()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok((median(times), backend.strain(scene, springs)?))
}

pub fn figure(lab: &Lab) -> Result<Figure> {
    let count = lab.pick(16, 316);
    let panel =
        |title: String, (scene, springs): (Scene, Range<u32>), variants: &[Variant], frames: u32| -> Result<Panel> {
            let series = variants.iter().map(|variant| {
                let points = variant.substeps.iter().map(|&substeps| {
                    let settings = Settings { substeps, collider_forces: false, ..variant.settings };
                    time_frames(&mut lab.backend(&scene, settings)?, &scene, springs.clone(), frames)
                });
                let substeps: Vec<String> = variant.substeps.iter().map(u32::to_string).collect();
                let label = format!("{}: {} substeps", variant.label, substeps.join(", "));
                Ok(Series::new(label, variant.color, Mark::Dots, points.collect::<Result<_>>()?))
            });
            let (x, y) = (Axis::log("ms a frame"), Axis::log("mean strain at the end [%]"));
            Ok(Panel { title, x, y, series: series.collect::<Result<_>>()? })
        };
    let of = format!("{count} × {count}");
    Ok(Figure {
        title: "At equal time more substeps are stiffest, and tiles make them cheap".into(),
        panels: vec![
            panel(format!("{of}, by two corners, after 2 s"), hanging(count)?, &hanging_variants(), lab.pick(6, 120))?,
            panel(format!("{of}, on a ball, after 4 s"), draped(count)?, &draped_variants(), lab.pick(6, 240))?,
        ],
    })
}
