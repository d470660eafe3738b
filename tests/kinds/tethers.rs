//! Tethers (long-range attachments) limit the stretch that one sweep leaves, and follow the pins. On both backends.

use crate::common;
use crate::common::{Pair, backends, change, distance, gpu, momentum};
use supple::constraints::Distance;
use supple::scene::RopeParts;
use supple::{
    Cloth, ClothGrid, Cord, Error, Fabric, Material, Particle, Reference, Rope, Scene, Settings, TetherForce, Tethers,
    Wind,
};

const G: f64 = 9.81;

/// The tolerance of the length of a tether. Constraints projected after the tethers move particles out again by their
/// residual; relative to the length this is larger near the pin.
const SLIP: f64 = 5e-3;

/// The tolerance of positions between both backends [m].
const TOLERANCE: f32 = 2e-4;

/// A default cloth of 2 m that hangs by the two corners of its first row.
fn corner_pinned(side: u32, tethers: Tethers) -> (Scene, Cloth) {
    let mut scene = Scene::new();
    let grid = ClothGrid { columns: side, rows: side, tethers: Some(tethers), ..ClothGrid::default() };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    scene.pin(cloth.particles.start).unwrap();
    scene.pin(cloth.particles.start + side - 1).unwrap();
    (scene, cloth)
}

/// A rope of rigid segments, 1 m long, that hangs from its first point.
fn hanging_rope(segments: u32, tethers: Option<Tethers>) -> (Scene, RopeParts) {
    let points: Vec<[f32; 3]> = (0..=segments).map(|point| [0.0, -(point as f32 / segments as f32), 0.0]).collect();
    let cord =
        Cord { linear_density: 0.1, axial_stiffness: f32::INFINITY, damping: 0.0, bend: None, flexural_rigidity: 0.0 };
    let mut scene = Scene::new();
    let rope = scene.add_rope(&Rope { points: &points, cord, tethers }).unwrap();
    scene.pin(rope.particles.start).unwrap();
    (scene, rope)
}

/// The largest relative excess over the distance from `anchor` in the flat rest shape; distances in a flat convex cloth
/// are straight lines.
fn overstretch(scene: &Scene, positions: &[[f32; 3]], anchor: usize, place: [f32; 3]) -> f64 {
    let rest = scene.positions();
    let beyond = (0..rest.len())
        .filter(|&particle| particle != anchor)
        .map(|particle| distance(positions[particle], place) / distance(rest[particle], rest[anchor]) - 1.0);
    beyond.fold(f64::NEG_INFINITY, f64::max)
}

/// One sweep propagates a load by one particle, tethers propagate it at once.
#[test]
fn a_cloth_with_tethers_stretches_less_than_five_percent_and_five_times_less_than_without() {
    let gpu = common::gpu();
    let (scene, cloth) = corner_pinned(48, Tethers::default());
    let with = backends(&gpu, &scene, Settings::default());
    let without = backends(&gpu, &scene, Settings { tethers: false, ..Settings::default() });
    for (mut with, mut without) in with.into_iter().zip(without) {
        let [held, loose] = [&mut with, &mut without].map(|backend| {
            backend.step(60);
            scene.strain(cloth.structural.clone(), &backend.read_positions().unwrap()).unwrap()
        });
        println!("{}: {held:?} with, {loose:?} without", with.name());
        assert!(held.max < 0.05, "{}: {held:?}", with.name());
        assert!(loose.max > 5.0 * held.max, "{}: {held:?} with, {loose:?} without", with.name());
        assert!(loose.mean > held.mean, "{}: {held:?} with, {loose:?} without", with.name());
    }
}

/// Tethers to a released pin are removed; those of the remaining pin stay active.
#[test]
fn only_the_remaining_pin_holds_after_a_release() {
    let gpu = common::gpu();
    let (scene, _) = corner_pinned(20, Tethers::default());
    let (left, right) = (0usize, 19usize);
    let places = [left, right].map(|pin| scene.positions()[pin]);
    for mut backend in backends(&gpu, &scene, Settings::default()) {
        backend.step(30);
        let both = backend.read_positions().unwrap();
        let held = places.iter().zip([left, right]).map(|(&place, pin)| overstretch(&scene, &both, pin, place));
        let held = held.fold(f64::NEG_INFINITY, f64::max);
        backend.release(&[left as u32]).unwrap();
        backend.step(60);
        let one = backend.read_positions().unwrap();
        let [to_left, to_right] =
            [(left, places[0]), (right, places[1])].map(|(pin, place)| overstretch(&scene, &one, pin, place));
        let corner = distance(one[left], places[0]);
        println!("{}: {held:.1e} on both, then {to_left:.2} / {to_right:.1e}, corner {corner:.3} m", backend.name());
        assert!(held < SLIP, "{}: {held} beyond the tethers of two pins", backend.name());
        assert!(corner > 1.0, "{}: the released corner moved {corner} m only", backend.name());
        assert!(to_left > 1.0, "{}: still in the spheres of the released pin, {to_left}", backend.name());
        assert!(to_right < SLIP, "{}: {to_right} beyond the tethers of the remaining pin", backend.name());
    }
}

/// Tethers of a new pin attach to its current position, also if it was pinned elsewhere before.
#[test]
fn a_pin_set_again_holds_its_new_position() {
    let gpu = common::gpu();
    let (scene, _) = corner_pinned(20, Tethers::default());
    for mut backend in backends(&gpu, &scene, Settings::default()) {
        backend.step(20);
        backend.release(&[0]).unwrap();
        backend.step(20);
        backend.pin(&[0]).unwrap();
        let place = backend.read_positions().unwrap()[0];
        assert!(distance(place, scene.positions()[0]) > 0.1, "{}: it did not move", backend.name());
        backend.step(40);
        assert_eq!(backend.read_positions().unwrap()[0], place, "{}: a pin moved", backend.name());
        backend.release(&[19]).unwrap();
        backend.step(40);
        let beyond = overstretch(&scene, &backend.read_positions().unwrap(), 0, place);
        println!("{}: {beyond:.1e}", backend.name());
        assert!(beyond < SLIP, "{}: {beyond} beyond the tethers of the new pin", backend.name());
    }
}

/// The shape at rest depends on the material, not on the grid: 1 % of the side of the cloth is 20 mm.
#[test]
fn a_cloth_hangs_in_the_same_shape_at_every_resolution() {
    let gpu = common::gpu();
    let mut shapes = Vec::new();
    // Ripples at the upper border of fine grids persist.
    for (cells, most) in [(12u32, 2e-3), (24, 2e-3), (48, 0.013), (96, 0.045)] {
        let (scene, cloth) = corner_pinned(cells + 1, Tethers::default());
        let mut solver = common::solver(&gpu, &scene, Settings { damping: 4.0, ..Settings::default() });
        solver.step(360);
        let positions = solver.read_positions().unwrap();
        let speed = solver.read_velocities().unwrap().into_iter().map(|v| distance(v, [0.0; 3])).fold(0.0, f64::max);
        println!("{cells} cells: {speed} m/s");
        assert!(speed < most, "{cells} cells: it still moves at {speed} m/s");
        // The particles shared with the coarsest grid.
        let stride = cells / 12;
        let places = (0..13 * 13).map(|k| (k / 13 * (cells + 1) + k % 13) * stride);
        shapes.push(places.map(|place| positions[(cloth.particles.start + place) as usize]).collect::<Vec<_>>());
    }
    let finest = &shapes[shapes.len() - 1];
    for shape in &shapes {
        let apart = shape.iter().zip(finest).map(|(a, b)| distance(*a, *b)).fold(0.0, f64::max);
        println!("{:.2} mm apart", apart * 1e3);
        assert!(apart < 0.02, "{apart} m apart");
    }
}

/// A new pin: tethers are recomputed along the material around it.
#[test]
fn a_pin_in_the_middle_of_the_cloth_holds_it_alone() {
    let gpu = common::gpu();
    let (scene, _) = corner_pinned(20, Tethers::default());
    let middle = 20 * 9 + 7;
    for mut backend in backends(&gpu, &scene, Settings::default()) {
        backend.step(5);
        backend.pin(&[middle]).unwrap();
        backend.release(&[0, 19]).unwrap();
        let place = backend.read_positions().unwrap()[middle as usize];
        backend.step(60);
        let (held, pins) = (backend.read_positions().unwrap(), [0, 19].map(|pin| scene.positions()[pin]));
        let beyond = overstretch(&scene, &held, middle as usize, place);
        backend.set_settings(Settings { tethers: false, ..Settings::default() }).unwrap();
        let mut loose = 0.0f64;
        for _ in 0..60 {
            backend.step(1);
            loose = loose.max(overstretch(&scene, &backend.read_positions().unwrap(), middle as usize, place));
        }
        println!("{}: {beyond:.1e}, {loose:.1e} without", backend.name());
        assert_eq!(held[middle as usize], place, "{}: a pin moved", backend.name());
        assert!(beyond < SLIP, "{}: {beyond} beyond the tethers of the new pin", backend.name());
        assert!(loose > 2.0 * SLIP, "{}: {loose} without tethers: they were not needed", backend.name());
        for (corner, pin) in [0, 19].into_iter().zip(pins) {
            assert!(distance(held[corner], pin) > 0.5, "{}: corner {corner} did not fall", backend.name());
        }
    }
}

/// Without pins only gravity acts: the centre of mass is in free fall, and no tether is active.
#[test]
fn a_cloth_with_all_pins_released_falls_freely() {
    let gpu = common::gpu();
    let (scene, _) = corner_pinned(20, Tethers::default());
    let total: f64 = scene.inverse_masses().iter().map(|&w| 1.0 / f64::from(w)).sum();
    for mut backend in backends(&gpu, &scene, Settings::default()) {
        let settings = Settings::default();
        let (h, n) = (f64::from(settings.dt) / f64::from(settings.substeps), f64::from(36 * settings.substeps));
        backend.step(20);
        backend.release(&[0, 19]).unwrap();
        let [x, v] = [backend.read_positions().unwrap(), backend.read_velocities().unwrap()]
            .map(|rows| momentum(&scene, &rows).map(|sum| sum / total));
        backend.step(36);
        let found = momentum(&scene, &backend.read_positions().unwrap()).map(|sum| sum / total);
        for axis in 0..3 {
            let fall = if axis == 1 { G * h * h * n * (n + 1.0) / 2.0 } else { 0.0 };
            let law = x[axis] + v[axis] * n * h - fall;
            println!("{} axis {axis}: {:.1e} m off", backend.name(), found[axis] - law);
            assert!((found[axis] - law).abs() < 1e-5, "{} axis {axis}: {} against {law}", backend.name(), found[axis]);
        }
    }
}

/// One sweep leaves a rope of 200 segments g h² n²/2 too long, 14 % here at 20 substeps. With tethers it keeps its
/// length. It hangs straight, so the distance from the pin to the end is its length.
#[test]
fn tethers_hold_a_rope_of_two_hundred_segments_to_one_percent() {
    let gpu = common::gpu();
    let (scene, rope) = hanging_rope(200, Some(Tethers::default()));
    let base = Settings { damping: 5.0, ..Settings::default() };
    let h = f64::from(base.dt) / f64::from(base.substeps);
    let false_stretch = G * h * h * (200.0f64.powi(2) / 2.0 - 1.0);
    for mut backend in backends(&gpu, &scene, base) {
        backend.step(120);
        let x = backend.read_positions().unwrap();
        let along: f64 = x.windows(2).map(|pair| distance(pair[0], pair[1])).sum();
        let (tip, strain) = (distance(x[0], x[200]), scene.strain(rope.segments.clone(), &x).unwrap());
        println!("{}: tip at {tip:.5} m, {along:.5} m along, {strain:?}", backend.name());
        assert!((tip - 1.0).abs() < 0.01 && (along - 1.0).abs() < 0.01, "{}: {tip} m, {along} m", backend.name());
        backend.reset();
        backend.set_settings(Settings { tethers: false, ..base }).unwrap();
        backend.step(240);
        let loose = distance(backend.read_positions().unwrap()[200], x[0]) - 1.0;
        println!("{}: {loose:.4} m without, law {false_stretch:.4} m", backend.name());
        assert!((loose / false_stretch - 1.0).abs() < 0.02, "{}: {loose} against {false_stretch}", backend.name());
    }
}

/// One sweep leaves the constraint at the fraction s of a rope too long by e (1 − s), with e = g h² n²/L: 109 % at the
/// top here, 54 % overall. Tethers of scale 1 + ε limit this to ε where it is larger. The overall stretch is ε −
/// ε²/(2e), 4.9 % for ε = 5 %.
#[test]
fn tethers_of_scale_1_05_allow_five_percent() {
    let gpu = common::gpu();
    for scale in [1.0f32, 1.05, 1.2] {
        let (scene, _) = hanging_rope(200, Some(Tethers { per_particle: 1, scale }));
        let settings = Settings { substeps: 10, damping: 5.0, ..Settings::default() };
        let h = f64::from(settings.dt) / f64::from(settings.substeps);
        let (e, slack) = (G * h * h * 200f64.powi(2), f64::from(scale) - 1.0);
        let law = slack - slack * slack / (2.0 * e);
        for mut backend in backends(&gpu, &scene, settings) {
            backend.step(120);
            let stretch = distance(backend.read_positions().unwrap()[0], backend.read_positions().unwrap()[200]) - 1.0;
            println!("{} scale {scale}: {stretch:.5} against {law:.5}", backend.name());
            assert!((stretch - law).abs() < 1e-3, "{} scale {scale}: {stretch} against {law}", backend.name());
        }
    }
}

/// Slack tethers have no effect on a compliant rope.
#[test]
fn tethers_that_are_slack_change_nothing() {
    let gpu = common::gpu();
    let points: Vec<[f32; 3]> = (0..10u8).map(|point| [0.0, -0.1 * f32::from(point), 0.0]).collect();
    let cord = Cord {
        linear_density: 1.0,
        axial_stiffness: 1e4,
        damping: 0.0,
        bend: Some(Material::compliant(1e-3)),
        flexural_rigidity: 0.0,
    };
    let hung = |tethers| {
        let mut scene = Scene::new();
        scene.add_rope(&Rope { points: &points, cord, tethers }).unwrap();
        scene.pin(0).unwrap();
        scene
    };
    let with = backends(&gpu, &hung(Some(Tethers { per_particle: 2, scale: 1.05 })), Settings::default());
    for (mut with, mut without) in with.into_iter().zip(backends(&gpu, &hung(None), Settings::default())) {
        with.step(60);
        without.step(60);
        assert_eq!(with.read_positions().unwrap(), without.read_positions().unwrap(), "{}", with.name());
    }
}

#[test]
fn pins_of_one_body_do_not_change_the_tethers_of_another() {
    // Two ropes side by side; the second is released and pinned again. The first must hold, then the second.
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let points = |x: f32| -> Vec<[f32; 3]> { (0..40).map(|k| [x, -0.05 * k as f32, 0.0]).collect() };
    let ropes = [0.0, 1.0].map(|x| {
        let rope = Rope { points: &points(x), cord: Cord::STEEL_CABLE, tethers: Some(Tethers::default()) };
        let particles = scene.add_rope(&rope).unwrap().particles;
        scene.pin(particles.start).unwrap();
        particles
    });
    let mut solver = common::solver(&gpu, &scene, Settings { substeps: 4, damping: 2.0, ..Settings::default() });
    solver.release(&[ropes[1].start]).unwrap();
    solver.pin(&[ropes[1].start]).unwrap();
    solver.step(90);
    let positions = solver.read_positions().unwrap();
    for rope in ropes {
        let [top, tip] = [rope.start, rope.end - 1].map(|particle| positions[particle as usize]);
        let length = common::distance(top, tip);
        // Without tethers g h² (n²/2 − 1) would add 0.13 m.
        assert!((length - 1.95).abs() < 0.01, "{length} m instead of 1.95 m");
    }
}

/// The force on a pin at the top of a rope, downwards \[N\].
fn force_on_pin(rope: &RopeParts, links: &[f32], tethers: &[TetherForce]) -> f64 {
    let pin = rope.particles.start;
    let pulls = tethers.iter().filter(|tether| tether.anchor == pin).map(|tether| f64::from(tether.force));
    pulls.sum::<f64>() - f64::from(links[0])
}

#[test]
fn the_link_and_the_tethers_at_a_pin_carry_the_weight_of_the_rope() {
    let gpu = common::gpu();
    for per_particle in [None, Some(1)] {
        let tethers = per_particle.map(|per_particle| Tethers { per_particle, scale: 1.0 });
        let (scene, rope) = hanging_rope(10, tethers);
        let settings = Settings { keep_lambdas: true, tether_forces: true, damping: 5.0, ..Settings::default() };
        let mut solver = common::solver(&gpu, &scene, settings);
        let mut reference = Reference::new(&scene, *solver.settings()).unwrap();
        solver.step(60);
        reference.step(60);
        let on_gpu = (solver.read_constraint_forces::<Distance>().unwrap(), solver.read_tether_forces().unwrap());
        let on_reference =
            (reference.read_constraint_forces::<Distance>().unwrap(), reference.read_tether_forces().unwrap());
        // The half segment at the pin hangs on nothing.
        let weight = 0.1 * 0.95 * G;
        for (name, (links, tethers)) in [("GPU", &on_gpu), ("reference", &on_reference)] {
            let force = force_on_pin(&rope, links, tethers);
            println!("{name}, tethers {per_particle:?}: {force} N, of that {} N by the link", -links[0]);
            assert!((force / weight - 1.0).abs() < 0.02, "{name}, tethers {per_particle:?}: {force} N of {weight} N");
            assert_eq!(tethers.is_empty(), per_particle.is_none(), "{name}");
        }
        if common::is_exact(&gpu) {
            assert_eq!(on_gpu, on_reference);
        }
    }
}

#[test]
fn disabled_tether_forces_are_not_stored() {
    let gpu = common::gpu();
    let (scene, rope) = hanging_rope(10, Some(Tethers::default()));
    let mut solver = common::solver(&gpu, &scene, Settings::default());
    solver.step(2);
    assert!(solver.read_tether_forces().unwrap().is_empty());
    let bytes = solver.memory_bytes();
    solver.set_settings(Settings { tether_forces: true, ..*solver.settings() }).unwrap();
    assert!(solver.memory_bytes() > bytes);
    assert!(solver.read_tether_forces().unwrap().is_empty());
    solver.step(2);
    assert!(!solver.read_tether_forces().unwrap().is_empty());
    solver.release(&[rope.particles.start]).unwrap();
    assert!(solver.read_tether_forces().unwrap().is_empty());
}

/// A cotton cloth of 1 m that hangs by two corners.
fn cotton(side: u32, tethers: Option<Tethers>) -> Scene {
    let mut scene = Scene::new();
    let grid = ClothGrid {
        columns: side,
        rows: side,
        origin: [-0.5, 0.0, 0.0],
        column_axis: [1.0, 0.0, 0.0],
        row_axis: [0.0, -1.0, 0.0],
        fabric: Fabric::COTTON,
        tethers,
    };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    scene.pin(cloth.particles.start).unwrap();
    scene.pin(cloth.particles.start + side - 1).unwrap();
    scene
}

/// A steady wind perpendicular to the cloth.
fn in_wind(steps_per_second: f32, substeps: u32) -> Settings {
    let wind = Some(Wind { velocity: [0.0, 0.0, 5.0], ..Wind::default() });
    Settings { dt: 1.0 / steps_per_second, substeps, wind, ..Settings::default() }
}

fn mean_square(velocities: &[[f32; 3]]) -> f64 {
    let squares = velocities.iter().flatten().map(|&component| f64::from(component).powi(2));
    squares.sum::<f64>() / velocities.len() as f64
}

/// The rms speed [m/s] in the second after the first.
fn flutter(scene: &Scene, steps_per_second: u16, substeps: u32) -> f64 {
    let mut reference = Reference::new(scene, in_wind(steps_per_second.into(), substeps)).unwrap();
    reference.step(steps_per_second.into());
    let squares = (0..steps_per_second).map(|_| {
        reference.step(1);
        mean_square(&reference.read_velocities().unwrap())
    });
    (squares.sum::<f64>() / f64::from(steps_per_second)).sqrt()
}

/// A cloth of 24 × 24 particles on two pins. Taut tethers, or a coarser grid, make the result depend on the substep;
/// see [`Tethers::scale`].
#[test]
fn a_corner_pinned_cloth_without_tethers_flutters_within_a_fifth_from_20_to_80_substeps() {
    let scene = cotton(24, None);
    let speeds = [(60, 20), (60, 50), (60, 80), (240, 20)].map(|(rate, substeps)| flutter(&scene, rate, substeps));
    println!("{speeds:.3?} m/s");
    let [least, most] = [f64::min, f64::max].map(|pick| speeds.into_iter().reduce(pick).unwrap());
    assert!(most < 1.2 * least, "{speeds:?} m/s");
}

/// Sines differ by rounding and flutter amplifies the difference, so only means are compared.
#[test]
fn a_cloth_in_a_steady_wind_flutters_equally_on_both_backends() {
    let gpu = common::gpu();
    let scene = cotton(24, None);
    let speeds = backends(&gpu, &scene, in_wind(60.0, 20)).map(|mut backend| {
        backend.step(60);
        let squares = (0..20).map(|_| {
            backend.step(3);
            mean_square(&backend.read_velocities().unwrap())
        });
        (squares.sum::<f64>() / 20.0).sqrt()
    });
    println!("{speeds:.3?} m/s");
    assert!((speeds[0] / speeds[1] - 1.0).abs() < 0.2, "{speeds:?} m/s");
}

/// A chain of particles of 1 kg, added one by one. The first is pinned.
fn chain(count: u32) -> Scene {
    let mut scene = Scene::new();
    for k in 0..count {
        let position = [0.1 * k as f32, 0.0, 0.0];
        scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
    }
    for k in 1..count {
        scene.add(Distance { particles: [k - 1, k], rest_length: 0.1 }, Material::RIGID).unwrap();
    }
    scene.pin(0).unwrap();
    scene
}

#[test]
fn tethers_of_raw_particles_limit_the_stretch_of_a_chain() {
    let gpu = gpu();
    let stretch = |tethers: bool| {
        let mut scene = chain(40);
        scene.set_mass(39, 100.0).unwrap();
        if tethers {
            scene.add_tethers(0..40, Tethers::default()).unwrap();
        }
        let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 4, ..Settings::default() });
        pair.run(40, TOLERANCE, "a chain");
        let [x, y, z] = pair.reference.read_positions().unwrap()[39];
        (x * x + y * y + z * z).sqrt() / 3.9
    };
    let (slack, tied) = (stretch(false), stretch(true));
    assert!(tied < 1.001 && slack > 1.05, "{tied}, {slack}");
}

#[test]
fn tethers_of_raw_particles_follow_pins_and_a_new_numbering() {
    let gpu = gpu();
    // The particle at a place of a chain that is shuffled beyond the first two.
    let at = |place: u32| if place < 2 { place } else { 2 + 7 * (place - 2) % 10 };
    let mut shuffled = Scene::new();
    for _ in 0..12 {
        shuffled.add_particle(Particle::default()).unwrap();
    }
    (0..12).for_each(|place| shuffled.set_position(at(place), [0.1 * place as f32, 0.0, 0.0]).unwrap());
    for place in 1..12 {
        let particles = [at(place - 1), at(place)];
        shuffled.add(Distance { particles, rest_length: 0.1 }, Material::RIGID).unwrap();
    }
    shuffled.pin(0).unwrap();
    shuffled.set_mass(at(11), 100.0).unwrap();
    shuffled.add_tethers(2..12, Tethers { per_particle: 1, scale: 1.0 }).unwrap();
    shuffled.add_body(2..12).unwrap();
    // The largest length between the new pin and a particle beyond it, relative to that at rest.
    let stretch = |tethers: bool| {
        let mut scene = shuffled.clone();
        let numbering = scene.renumber();
        assert!(!numbering.is_unchanged());
        let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 4, tethers, ..Settings::default() });
        pair.run(5, TOLERANCE, "before");
        change!(pair, pin(&[numbering.new_index(at(6)).unwrap()]));
        pair.run(5, TOLERANCE, "another pin");
        let x = numbering.to_old_order(&pair.reference.read_positions().unwrap()).unwrap();
        let [pin, beyond] = [6..7, 7..12].map(|places| places.map(|place| x[at(place) as usize]).collect::<Vec<_>>());
        (1..).zip(beyond).map(|(links, x)| distance(x, pin[0]) / (0.1 * f64::from(links))).fold(0.0, f64::max)
    };
    let (slack, tied) = (stretch(false), stretch(true));
    println!("{tied} with tethers, {slack} without");
    assert!(slack - 1.0 > 2.0 * (tied - 1.0) && slack > 1.02, "{tied}, {slack}");
}

#[test]
fn invalid_tethers_are_rejected() {
    let mut scene = chain(10);
    let none = scene.add_particle(Particle::default()).unwrap();
    scene.add_body(4..8).unwrap();
    let tethers = Tethers::default();
    let reject = |scene: &mut Scene, particles, tethers, words: &str| {
        let error = scene.add_tethers(particles, tethers).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        error
    };
    reject(&mut scene, 3..3, tethers, "the particle range of tethers is empty");
    reject(&mut scene, 0..12, tethers, "add_tethers names particle 11, but there are only 11");
    reject(&mut scene, none..none + 1, tethers, "distance constraints among tethered particles is empty");
    reject(&mut scene, 0..10, Tethers { per_particle: 9, ..tethers }, "tethers per particle is 9");
    reject(&mut scene, 0..10, Tethers { scale: f32::NAN, ..tethers }, "NaN");
    let cut = reject(&mut scene, 0..6, tethers, "particle 4 more than once");
    assert!(matches!(cut, Error::RepeatedIndex { .. }));
    scene.add_tethers(0..10, tethers).unwrap();
    reject(&mut scene, 5..10, tethers, "tethered particles names particle 5 more than once");
    assert!(scene.add_body(9..11).unwrap_err().to_string().contains("particle 9 more than once"));
    scene.add_body(0..4).unwrap();
}
