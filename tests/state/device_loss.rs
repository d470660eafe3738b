//! After the loss of the device, calls that need it return an error, and none panics.

use crate::common;
use supple::{ClothGrid, Collider, Error, Scene, SelfCollision, Settings, Shape, Solver, wgpu};

#[test]
fn calls_after_the_loss_of_the_device_are_errors_and_do_not_panic() {
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns: 8, rows: 8, ..ClothGrid::default() }).unwrap();
    let gpu = common::own_gpu();
    let settings = Settings { self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    let mut solver = Solver::new(&gpu.device, &gpu.queue, &scene, settings).unwrap();
    solver.step(2);
    gpu.device.destroy();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    solver.encode(&mut encoder, 1);
    let mut readback = solver.request_positions(&mut encoder);
    gpu.queue.submit([encoder.finish()]);
    drop(gpu.device.poll(wgpu::PollType::Poll));
    let sphere = Collider::new(Shape::Sphere { radius: 0.1 }, [0.0; 3]);
    let more = Settings { iterations: 2, ..settings };
    let outcomes = [
        ("try_take", readback.try_take().map(drop)),
        ("read_positions", solver.read_positions().map(drop)),
        ("read_contacts", solver.read_contacts().map(drop)),
        ("add_collider", solver.add_collider(&sphere).map(drop)),
        ("set_settings", solver.set_settings(more)),
        ("shift_origin", solver.shift_origin([1.0, 0.0, 0.0])),
        ("Solver::new", Solver::new(&gpu.device, &gpu.queue, &scene, settings).map(drop)),
    ];
    for (what, outcome) in outcomes {
        assert!(matches!(outcome, Err(Error::DeviceLost { .. })), "{what}: {outcome:?}");
    }
    // Queued writes have no effect, and may be accepted.
    for outcome in [solver.set_positions(0, &[[0.0; 3]]), solver.pin(&[3]), solver.release(&[3])] {
        assert!(matches!(outcome, Ok(()) | Err(Error::DeviceLost { .. })), "{outcome:?}");
    }
    solver.reset();
    solver.step(1);
}
