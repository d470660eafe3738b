//! Tethers while pins are added, removed and moved, up to and beyond the capacity of the pin buffer. Both backends
//! agree.

use crate::common;
use crate::common::{Pair, change, crumple};
use std::ops::Range;
use supple::{ClothGrid, Cord, Execution, Material, Particle, Rope, Scene, Settings, Tethers};

/// Tolerance relative to the largest component, on adapters that are not exact.
const TOLERANCE: f32 = 2e-4;

fn tethers(per_particle: u32) -> Option<Tethers> {
    Some(Tethers { per_particle, scale: 1.0 })
}

fn add_rope(scene: &mut Scene, x: f32, count: u32, tethers: Option<Tethers>) -> Range<u32> {
    let point = |k: u32| [x + 0.003 * k as f32, -0.1 * k as f32, 0.01 * (k % 3) as f32];
    let points: Vec<[f32; 3]> = (0..count).map(point).collect();
    let cord = Cord {
        linear_density: 1.0,
        axial_stiffness: 1e4,
        damping: 0.0,
        bend: Some(Material::compliant(1e-3)),
        flexural_rigidity: 0.0,
    };
    scene.add_rope(&Rope { points: &points, cord, tethers }).unwrap().particles
}

#[test]
fn any_number_of_pins_can_be_set_and_released() {
    for execution in [Execution::Auto, Execution::Clusters] {
        go_through_all_numbers(execution);
    }
}

fn go_through_all_numbers(execution: Execution) {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let a = add_rope(&mut scene, 0.0, 14, tethers(1));
    let grid = ClothGrid { columns: 7, rows: 5, tethers: tethers(8), ..ClothGrid::default() };
    let cloth = scene.add_cloth_grid(&grid).unwrap().particles;
    crumple(&mut scene, cloth.clone(), 0.02);
    let b = add_rope(&mut scene, 2.0, 9, tethers(3));
    let free = add_rope(&mut scene, 3.0, 5, None);
    let all: Vec<u32> = (0..scene.particle_count() as u32).collect();
    let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 3, execution, ..Settings::default() });
    pair.run(1, TOLERANCE, "no pin");
    let corner = cloth.start + 6;
    let middle = a.start + 7;
    let order = [corner, a.start, b.end - 1, free.start + 2, cloth.start, middle, b.start, free.end - 1, cloth.end - 1];
    for (count, pin) in (1..).zip(order) {
        change!(pair, pin(&[pin]));
        pair.run(2, TOLERANCE, &format!("{count} pins"));
        if count == 5 {
            change!(pair, set_target(corner, [0.3, 0.2, -0.5]));
            change!(pair, set_velocities(a.start, &[[0.3, 0.1, 0.0]]));
            change!(pair, set_positions(b.end - 1, &[[1.9, -0.7, 0.2]]));
        }
    }
    for place in [0, 8, 1, 7, 2, 6, 3] {
        change!(pair, release(&[order[place]]));
        pair.run(2, TOLERANCE, &format!("without pin {place}"));
    }
    for (pins, what) in [(all.as_slice(), "all pinned"), (&order, "some pinned")] {
        change!(pair, pin(pins));
        pair.run(1, TOLERANCE, what);
        change!(pair, release(&all));
        pair.run(2, TOLERANCE, "none pinned");
        change!(pair, pin(pins));
        pair.solver.reset();
        pair.reference.reset();
        pair.run(2, TOLERANCE, "reset");
    }
}

/// If all particles have equally many tethers, the kernel needs no offsets.
#[test]
fn ropes_with_equal_tether_counts_agree() {
    let gpu = common::gpu();
    for (count, pin_count) in [(1, 1), (2, 1), (3, 1), (3, 5)] {
        let mut scene = Scene::new();
        let ropes = [0.0, 1.0].map(|x| add_rope(&mut scene, x, 14, tethers(count)));
        for particle in ropes.into_iter().flat_map(|rope| rope.step_by(3).take(pin_count)) {
            scene.pin(particle).unwrap();
        }
        let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 7, ..Settings::default() });
        pair.run(20, TOLERANCE, &format!("{count} tethers each, {pin_count} pins"));
    }
}

/// A non-finite value at a pin or a particle is counted and does not affect unconnected particles.
#[test]
fn non_finite_particles_do_not_affect_unconnected_ones() {
    let gpu = common::gpu();
    let mut faults = 0;
    for (pin_count, execution) in
        [1, 8, 9].into_iter().flat_map(|count| [(count, Execution::Auto), (count, Execution::Clusters)])
    {
        let mut scene = Scene::new();
        let unpinned = add_rope(&mut scene, 1.0, 4, tethers(2));
        let a = add_rope(&mut scene, 0.0, 12, tethers(2));
        let loose = scene.add_particle(Particle { position: [5.0, 0.0, 0.0], ..Particle::default() }).unwrap();
        for k in 0..pin_count {
            scene.pin(a.start + k).unwrap();
        }
        let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 4, dt: 0.1, execution, ..Settings::default() });
        pair.run(1, TOLERANCE, "before");
        // The displacement of a substep, or its square, overflows.
        change!(pair, set_target(a.start, [3e37, 0.0, 0.0]));
        change!(pair, set_velocities(unpinned.start, &[[3e38, 0.0, 0.0]]));
        for _ in 0..3 {
            pair.solver.step(1);
            pair.reference.step(1);
        }
        let on_gpu = pair.solver.read_positions().unwrap()[loose as usize];
        assert_eq!(on_gpu, pair.reference.read_positions().unwrap()[loose as usize], "{pin_count} pins");
        let fall = 9.81 * 0.025f32.powi(2) * 16.0 * 17.0 / 2.0;
        assert!((on_gpu[1] / -fall - 1.0).abs() < 1e-5, "{pin_count} pins: {on_gpu:?}, {fall}");
        let counted = (
            pair.solver.read_diagnostics().unwrap().non_finite_count,
            pair.reference.read_diagnostics().unwrap().non_finite_count,
        );
        assert_eq!(counted.0, counted.1, "{pin_count} pins, {execution:?}");
        faults += counted.0;
    }
    assert!(faults > 0, "nothing was to be counted");
}
