//! A checkpoint: saves the state of a simulation to a file, loses the device, and continues on another one with the same
//! bits.

use supple::gpu::{Context, Snapshot};
use supple::{ClothGrid, Scene, Settings, Solver, Wind};

const FRAMES: u32 = 30;

fn run(solver: &mut Solver) -> supple::Result<Vec<[f32; 3]>> {
    for _ in 0..FRAMES {
        solver.step(1);
    }
    solver.read_positions()
}

fn main() -> anyhow::Result<()> {
    let mut scene = Scene::new();
    let cloth = scene.add_cloth_grid(&ClothGrid { columns: 32, rows: 32, ..ClothGrid::default() })?;
    cloth.corners()?[..2].iter().try_for_each(|&corner| scene.pin(corner))?;
    let wind = Wind { velocity: [0.0, 0.5, -3.0], gust: 0.5, ..Wind::default() };

    let first = Context::new(supple::required_limits(&scene))?;
    let settings = Settings { wind: Some(wind), ..Settings::default() };
    let mut solver = Solver::new(&first.device, &first.queue, &scene, settings)?;
    run(&mut solver)?;
    let bytes = solver.snapshot()?.to_bytes();
    std::fs::create_dir_all("out")?;
    std::fs::write("out/checkpoint.bin", &bytes)?;
    println!("step {}: wrote {} bytes to out/checkpoint.bin", solver.recorded_steps(), bytes.len());
    let expected = run(&mut solver)?;
    first.device.destroy();
    println!("step {}: lost the device: {}", 2 * FRAMES, solver.read_positions().is_err());

    let second = Context::new(supple::required_limits(&scene))?;
    let snapshot = Snapshot::from_bytes(&std::fs::read("out/checkpoint.bin")?)?;
    let mut solver = Solver::new(&second.device, &second.queue, &scene, *snapshot.settings())?;
    solver.restore(&snapshot)?;
    println!("step {}: continues on a new device", solver.recorded_steps());
    let found = run(&mut solver)?;
    anyhow::ensure!(found == expected, "the positions differ");
    println!("step {}: the positions of {} particles have the same bits", solver.recorded_steps(), found.len());
    Ok(())
}
