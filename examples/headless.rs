//! A minimal program: a flag of 1 024 particles falls for a second, and the height of its lowest particle is printed.

use supple::{ClothGrid, Scene, Settings, Solver, gpu::Context};

fn main() -> supple::Result<()> {
    let mut scene = Scene::new();
    let cloth = scene.add_cloth_grid(&ClothGrid { columns: 32, rows: 32, ..ClothGrid::default() })?;
    cloth.corners()?[..2].iter().try_for_each(|&corner| scene.pin(corner))?;

    let gpu = Context::new(supple::required_limits(&scene))?;
    let mut solver = Solver::new(&gpu.device, &gpu.queue, &scene, Settings::default())?;
    solver.step(60);

    let positions = solver.read_positions()?;
    let lowest = positions.iter().map(|position| position[1]).fold(f32::INFINITY, f32::min);
    println!("{}: the lowest of {} particles is at {lowest:.3} m", gpu.adapter_name(), positions.len());
    assert!(lowest < -0.5 && lowest > -2.9, "it should have swung down, and not have stretched");
    Ok(())
}
