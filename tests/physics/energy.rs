//! The energy of scenes with several rigid constraints per particle never grows, for any topology and any masses.

use crate::common::nets::{FAMILIES, Net, Random};
use crate::common::{Pair, gpu};
use supple::internals::Pass;
use supple::{Distance, DistanceLimit, Execution, Limit, Material, Particle, Reference, Scene, Settings};

/// The largest gain of energy over the start, in m g L, and the mean and largest strain over all frames.
fn play_on_reference(net: &Net, substeps: u32, frames: u32) -> (f64, f32, f32) {
    let settings = Settings { substeps, ..Settings::default() };
    let mut reference = Reference::new(&net.scene(), settings).unwrap();
    let start = net.energy(&reference.read_positions().unwrap(), &reference.read_velocities().unwrap());
    let (mut gain, mut mean, mut largest) = (f64::NEG_INFINITY, 0.0, 0f32);
    for _ in 0..frames {
        reference.step(1);
        let positions = reference.read_positions().unwrap();
        gain = gain.max(net.energy(&positions, &reference.read_velocities().unwrap()) - start);
        let (frame_mean, frame_largest) = net.strain(&positions);
        mean += frame_mean / frames as f32;
        largest = largest.max(frame_largest);
    }
    (gain, mean, largest)
}

/// Runs `nets` nets of each family and prints their gain of energy and their strain.
fn play_families(nets: u64, substeps: u32) {
    for (name, family) in FAMILIES {
        let (mut worst, mut mean, mut largest) = (f64::NEG_INFINITY, 0.0, 0f32);
        for seed in 0..nets {
            let net = family(&mut Random::new(seed));
            let (gain, net_mean, net_largest) = play_on_reference(&net, substeps, 120);
            assert!(gain < 1e-4, "{name} {seed} at {substeps} substeps gains {gain:.2e} m g L");
            worst = worst.max(gain);
            mean += net_mean / nets as f32;
            largest = largest.max(net_largest);
        }
        println!("{name:6} {substeps:3} substeps: gain {worst:9.2e}, strain {mean:.5} mean, {largest:.3} largest");
        assert!(mean < 2e-3 * 20.0 / substeps as f32, "{name} at {substeps} substeps: mean strain {mean}");
    }
}

#[test]
fn links_that_meet_in_one_particle_gain_no_energy_at_20_substeps() {
    play_families(10, 20);
}

#[test]
fn links_that_meet_in_one_particle_gain_no_energy_at_60_substeps() {
    play_families(6, 60);
}

#[test]
fn links_that_meet_in_one_particle_gain_no_energy_at_100_substeps() {
    play_families(4, 100);
}

#[test]
fn beads_on_a_light_junction_swing_no_faster_than_they_fall() {
    // A knot of 1 g on a thread of 5 cm, with 16 beads of 1 g on threads of 5 to 6 cm.
    let mut scene = Scene::new();
    let particle = |scene: &mut Scene, position: [f32; 3]| {
        scene.add_particle(Particle { position, inverse_mass: 1e3, ..Particle::default() }).unwrap()
    };
    let [top, knot] = [0.0, -0.05].map(|y| particle(&mut scene, [0.0, y, 0.0]));
    scene.pin(top).unwrap();
    let mut links = vec![([top, knot], 0.05f32)];
    for bead in 0..16u8 {
        let x = 0.002 * f32::from(bead);
        let bead = particle(&mut scene, [x, -0.1, 0.0]);
        links.push(([knot, bead], (x * x + 0.0025).sqrt()));
    }
    for (particles, rest_length) in links {
        scene.add(Distance { particles, rest_length }, Material::RIGID).unwrap();
    }
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    let mut fastest = 0f32;
    for _ in 0..240 {
        reference.step(1);
        let speed = |v: &[f32; 3]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
        fastest = reference.read_velocities().unwrap().iter().map(speed).fold(fastest, f32::max);
    }
    println!("fastest {fastest} m/s");
    assert!(fastest < 0.5, "{fastest} m/s");
}

#[test]
fn hubs_of_hundreds_of_links_gain_no_energy() {
    for (arms, ratio) in [(49, 1.0), (60, 100.0), (150, 1.0), (300, 30.0)] {
        let mut random = Random::new(arms);
        let mut net = Net::default();
        let top = net.particle([0.0, 0.3, 0.0], 1.0);
        let hub = net.particle([0.0; 3], 1.0 / ratio);
        net.links.push([top, hub]);
        net.pins.push(top);
        for _ in 0..arms {
            let leaf = net.particle(random.direction().map(|x| 0.1 * x), 1.0);
            net.links.push([hub, leaf]);
        }
        for substeps in [20, 60] {
            let (gain, mean, largest) = play_on_reference(&net, substeps, 120);
            println!(
                "{arms} links, leaves {ratio} times as heavy, {substeps} substeps: gain {gain:.2e}, strain {mean:.4} mean, {largest:.3} largest"
            );
            assert!(gain < 1e-4, "{arms} links at {substeps} substeps gain {gain:.2e} m g L");
            assert!(largest < 0.01, "{arms} links at {substeps} substeps stretch by {largest}");
        }
    }
}

/// Hubs that are all connected to the same leaves: `hubs` trees are parallel.
fn with_shared_leaves(random: &mut Random) -> Net {
    let (hubs, leaves, ratio) = (2 + random.below(4) as u32, 4 + random.below(25), 1000f32.powf(random.next()));
    let mass = if random.next() < 0.6 { 1.0 / ratio } else { ratio };
    let mut net = Net::default();
    let top = net.particle([0.0, 0.4, 0.0], 1.0);
    net.pins.push(top);
    for hub in 0..hubs {
        let hub = net.particle([0.05 * hub as f32, 0.1 * random.next(), 0.1 * random.next()], mass);
        if net.links.is_empty() || random.next() < 0.6 {
            net.links.push([top, hub]);
        }
    }
    for _ in 0..leaves {
        let leaf = net.particle(random.direction().map(|x| 0.2 * x), 1.0);
        net.links.extend((1..=hubs).map(|hub| [hub, leaf]));
    }
    net
}

/// A pinned particle, a light joint, and 2 to 6 heavy leaves, whose links become parallel as they fall.
fn light_joint(random: &mut Random) -> Net {
    let ratio = 1000f32.powf(0.3 + 0.7 * random.next());
    let mut net = Net::default();
    let top = net.particle([0.0; 3], 1.0);
    let place = random.direction().map(|x| 0.1 * x);
    let joint = net.particle(place, 1.0 / ratio);
    net.pins.push(top);
    net.links.push([top, joint]);
    for _ in 0..2 + random.below(5) {
        let direction = random.direction();
        let leaf = net.particle([0, 1, 2].map(|axis| place[axis] + 0.1 * direction[axis]), 1.0);
        net.links.push([joint, leaf]);
    }
    net
}

#[test]
fn hubs_with_the_same_leaves_gain_no_energy() {
    play(with_shared_leaves, "shared leaves");
}

#[test]
fn links_that_become_parallel_at_a_light_joint_gain_no_energy() {
    play(light_joint, "light joint");
}

/// 60 nets of a family, at 20, 60 and 100 substeps in turn.
fn play(family: fn(&mut Random) -> Net, name: &str) {
    for seed in 0..60 {
        let (net, substeps) = (family(&mut Random::new(seed)), [20, 60, 100][seed as usize % 3]);
        let (gain, _, largest) = play_on_reference(&net, substeps, 120);
        assert!(gain < 1e-4, "{name} {seed} at {substeps} substeps gains {gain:.2e} m g L");
        assert!(largest < 0.5, "{name} {seed} at {substeps} substeps stretches by {largest}");
    }
}

#[test]
fn hubs_with_the_same_leaves_agree_on_both_backends() {
    let gpu = gpu();
    for execution in [Execution::Colors, Execution::Tiles, Execution::Clusters] {
        for seed in 0..4 {
            let net = with_shared_leaves(&mut Random::new(seed));
            let mut pair = Pair::new(&gpu, &net.scene(), Settings { execution, ..Settings::default() });
            pair.run(5, 1e-4, "shared leaves");
        }
    }
}

/// A hub with rigid, compliant and damped constraints, which hangs from pins by distance limits.
fn mixed_tree(random: &mut Random) -> Scene {
    let mut scene = Scene::new();
    let mass = |random: &mut Random| 1.0 / 100f32.powf(random.next());
    let hub = Particle { inverse_mass: 1.0, ..Particle::default() };
    let hub = scene.add_particle(hub).unwrap();
    for arm in 0..24 {
        let is_pin = arm >= 20;
        let [x, y, z] = random.direction();
        let position = [x, if is_pin { y.abs() } else { y }, z];
        let inverse_mass = mass(random);
        let leaf = scene.add_particle(Particle { position, inverse_mass, ..Particle::default() }).unwrap();
        let particles = if random.next() < 0.5 { [hub, leaf] } else { [leaf, hub] };
        let compliance = if random.next() < 0.5 { 0.0 } else { 1e-7 * random.next() };
        let material = Material { compliance, damping_time: 0.01 * random.next(), ..Material::RIGID };
        let length = if is_pin { 1.0 } else { 0.8 + 0.4 * random.next() };
        if arm < 12 {
            scene.add(Distance { particles, rest_length: length }, material).unwrap();
        } else {
            let limit = if is_pin || random.next() < 0.5 { Limit::AtMost } else { Limit::AtLeast };
            scene.add(DistanceLimit { particles, length, limit }, material).unwrap();
        }
        if is_pin {
            scene.pin(leaf).unwrap();
        }
    }
    scene
}

#[test]
fn trees_agree_on_both_backends() {
    let gpu = gpu();
    let has_trees = |pair: &Pair| pair.passes(1).iter().any(|pass| matches!(pass, Pass::Trees { .. }));
    for execution in [Execution::Colors, Execution::Tiles, Execution::Clusters] {
        let settings = Settings { execution, ..Settings::default() };
        for (name, family) in FAMILIES {
            let net = family(&mut Random::new(7));
            let mut pair = Pair::new(&gpu, &net.scene(), settings);
            assert!(has_trees(&pair), "{name}");
            pair.run(3, 1e-4, name);
        }
    }
    for iterations in [1, 3] {
        let settings = Settings { iterations, keep_lambdas: true, ..Settings::default() };
        let mut pair = Pair::new(&gpu, &mixed_tree(&mut Random::new(iterations.into())), settings);
        assert!(has_trees(&pair));
        pair.run(30, 1e-4, "mixed tree");
        assert!(pair.reference.read_positions().unwrap().iter().flatten().all(|x| x.abs() < 10.0));
        let on_gpu = pair.solver.read_lambdas::<DistanceLimit>().unwrap();
        assert!(on_gpu.iter().any(|&lambda| lambda < 0.0) && on_gpu.iter().all(|&lambda| lambda <= 0.0), "{on_gpu:?}");
    }
}
