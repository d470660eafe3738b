//! Residual against iterations within one substep: Gauss-Seidel, successive over-relaxation, Jacobi.
//!
//! Macklin et al. 2014, *Unified Particle Physics*, §4.2 and §4.3; mass splitting of Tonge et al. 2012.

use crate::plot::{Axis, BLUE, Figure, GREEN, Mark, ORANGE, PURPLE, Panel, SKY, Series};
use crate::scenes::{Lab, chain, distance, weightless};
use supple::{Bending, ClothGrid, Fabric, Material, Result, Scene, Settings, Sweep};

/// The root mean square of |l/L₀ − 1| over all distance constraints [%].
fn residual(scene: &Scene, positions: &[[f64; 3]]) -> f64 {
    let strains = scene.distances(0..scene.constraint_count() as u32).map(|link| {
        let [a, b] = link.particles.map(|particle| positions[particle as usize]);
        distance(a, b) / f64::from(link.rest_length) - 1.0
    });
    100.0 * (strains.map(|strain| strain * strain).sum::<f64>() / scene.constraint_count() as f64).sqrt()
}

/// A cloth of 1 m, stretched by a tenth in both directions and pinned at one corner. Pinned along a side, it could not
/// reach rest.
fn cloth(count: u32) -> Result<Scene> {
    let mut scene = Scene::new();
    let fabric = Fabric { shear: Material::RIGID, bending: Bending::None, ..Fabric::default() };
    let axes = ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
    scene.add_cloth_grid(&ClothGrid {
        columns: count,
        rows: count,
        origin: [0.0; 3],
        column_axis: axes.0,
        row_axis: axes.1,
        fabric,
        tethers: None,
    })?;
    for particle in 0..count * count {
        let stretched = scene.positions()[particle as usize].map(|component| 1.1 * component);
        scene.set_position(particle, stretched)?;
    }
    scene.pin(0)?;
    Ok(scene)
}

pub fn figure(lab: &Lab) -> Result<Figure> {
    let ways = [
        ("Jacobi", Sweep::Jacobi, 1.0, ORANGE),
        ("Jacobi, ω 1.5", Sweep::Jacobi, 1.5, PURPLE),
        ("Gauss-Seidel", Sweep::GaussSeidel, 1.0, GREEN),
        ("Gauss-Seidel, ω 1.5", Sweep::GaussSeidel, 1.5, SKY),
        ("Gauss-Seidel, ω 1.8", Sweep::GaussSeidel, 1.8, BLUE),
    ];
    let counts: &[u32] = lab.pick(&[1, 30, 300], &[1, 2, 3, 5, 7, 10, 20, 30, 50, 75, 100, 150, 200, 300]);
    let panel = |title: &str, scene: Scene| -> Result<Panel> {
        let start: Vec<[f64; 3]> = scene.positions().iter().map(|position| position.map(f64::from)).collect();
        let series = ways.into_iter().map(|(label, sweep, relaxation, color)| {
            let mut points = vec![(0.0, residual(&scene, &start))];
            for &iterations in counts {
                let mut backend = lab.backend(&scene, Settings { iterations, sweep, relaxation, ..weightless() })?;
                backend.step(1);
                points.push((f64::from(iterations), residual(&scene, &backend.positions()?)));
            }
            Ok(Series::new(label, color, Mark::Dots, points))
        });
        let (x, y) = (Axis::linear("iterations"), Axis::log("root mean square strain [%]"));
        Ok(Panel { title: title.into(), x, y, series: series.collect::<Result<_>>()? })
    };
    Ok(Figure {
        title: "Gauss-Seidel beats Jacobi on cloth; over-relaxation costs at first and pays late".into(),
        panels: vec![
            panel("chain of 32 links, 10 % too long", chain(32, 0.1, 1.1, Material::RIGID)?)?,
            panel("cloth of 16 × 16, 10 % too large", cloth(16)?)?,
        ],
    })
}
