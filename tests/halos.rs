//! Whole substeps, core by core: bit by bit what a dispatch a colour does, whatever the scene, and whatever is changed while it runs.

mod common;

use common::{Pair, change, crumple, first_unequal, hanging_cloth, is_exact, raw, wheel};
use supple::gpu::Context;
use supple::{
    Balloon, Bending, ClothGrid, ColorOrder, Cord, Distance, Elasticity, Execution, Fabric, Field, Material, Pass,
    Rope, Scene, Settings, SoftBody, Tethers, Wind,
};

/// Relative to the largest component after some steps, where bits may differ.
const TOLERANCE: f32 = 1e-3;

fn halos() -> Settings {
    Settings { execution: Execution::Halos, substeps: 4, ..Settings::default() }
}

/// Plays a scene on both players, in whole substeps on the GPU.
fn plays(gpu: &Context, scene: &Scene, settings: Settings, steps: u32, what: &str) {
    let mut pair = Pair::new(gpu, scene, settings);
    assert!(is_fused(&pair), "{what}");
    pair.play(steps, TOLERANCE, what);
}

fn is_fused(pair: &Pair<'_>) -> bool {
    let plan = pair.solver.plan();
    let fused = plan.dispatches_per_substep() == 1;
    let halos = |tethers| Pass::Halos { is_first: false, tethers };
    assert_eq!(fused, plan.contains(&halos(true)) || plan.contains(&halos(false)));
    fused
}

#[test]
fn a_cloth_of_many_cores_agrees() {
    let gpu = common::gpu();
    for bending in [Bending::Springs, Bending::None] {
        let mut scene = Scene::new();
        let fabric = Fabric { bending, flexural_rigidity: 1e-3, stretch_limit: 1.05, ..Fabric::default() };
        let cloth = scene.add_cloth_grid(&ClothGrid { columns: 60, rows: 47, fabric, ..ClothGrid::default() }).unwrap();
        crumple(&mut scene, cloth.particles.clone(), 0.01);
        scene.pin(0).unwrap();
        scene.pin(59).unwrap();
        for substeps in [2, 3, 6] {
            let settings = Settings { substeps, damping: 0.2, ..halos() };
            plays(&gpu, &scene, settings, 3, &format!("{bending:?}, {substeps} substeps"));
        }
        plays(&gpu, &scene, Settings { tethers: false, ..halos() }, 2, "no tethers");
    }
}

#[test]
fn few_pins_many_pins_and_none_agree() {
    let gpu = common::gpu();
    for pins in [0, 1, 8, 9, 40] {
        let mut scene = Scene::new();
        let cloth = scene.add_cloth_grid(&ClothGrid { columns: 40, rows: 40, ..ClothGrid::default() }).unwrap();
        crumple(&mut scene, cloth.particles.clone(), 0.01);
        (0..pins).for_each(|pin| scene.pin(pin).unwrap());
        if pins > 0 {
            // One that moves by itself, and whose tethers follow it.
            scene.set_velocity(0, [0.5, 1.0, -0.25]).unwrap();
        }
        plays(&gpu, &scene, halos(), 3, &format!("{pins} pins"));
    }
}

#[test]
fn every_kind_agrees() {
    let gpu = common::gpu();
    let material = Material { compliance: 1e-4, damping: 10.0, damping_time: 1e-3, stiffness: 0.5 };
    for (place, info, sample) in raw::cases().filter(|(_, info, _)| !info.is_group()) {
        let scene = raw::scene_of(place, &sample, &sample.positions, material);
        plays(&gpu, &scene, Settings { relaxation: 1.2, ..halos() }, 3, info.name);
    }
}

#[test]
fn ropes_bodies_and_cloths_together_agree() {
    let gpu = common::gpu();
    let (mut scene, _) = hanging_cloth(30, 30);
    let points: Vec<[f32; 3]> = (0..300).map(|k| [0.01 * k as f32, 1.0, 0.3]).collect();
    let cord = Cord { linear_density: 0.1, axial_stiffness: 1e4, damping: 0.0, bend: None, flexural_rigidity: 1e-4 };
    let rope = scene.add_rope(&Rope { points: &points, cord, tethers: Some(Tethers::default()) }).unwrap();
    scene.pin(rope.particles.start).unwrap();
    let (positions, triangles) = common::shapes::icosphere(2, 0.4);
    let (positions, triangles) = (&positions[..], &triangles[..]);
    let elasticity = Elasticity::Elastic { young: 1e4, bulk: 1e4, damping_time: 0.0 };
    scene.add_soft_body(&SoftBody { positions, triangles, spacing: 0.2, density: 1e3, elasticity }).unwrap();
    plays(&gpu, &scene, halos(), 3, "together");
}

#[test]
fn what_changes_while_running_changes_there() {
    let gpu = common::gpu();
    let (scene, cloth) = hanging_cloth(40, 33);
    let mut pair = Pair::new(&gpu, &scene, halos());
    assert!(is_fused(&pair));
    pair.play(2, TOLERANCE, "before");
    change!(pair, set_target(0, [0.1, 0.2, -0.1]));
    pair.play(2, TOLERANCE, "target");
    change!(pair, pin(&[700, 701]));
    pair.play(1, TOLERANCE, "more pins");
    change!(pair, release(&[0, 700]));
    pair.play(1, TOLERANCE, "fewer pins");
    change!(pair, set_material(cloth.materials.structural, Material::compliant(1e-3)));
    change!(pair, set_positions(900, &[[0.3, 0.1, 0.2]]));
    change!(pair, set_velocities(5, &[[0.3, 1.0, 0.2]]));
    pair.play(2, TOLERANCE, "material, position, velocity");
    assert!(is_fused(&pair));
    change!(pair, set_settings(Settings { substeps: 7, gravity: [1.0, -3.0, 0.5], ..halos() }));
    assert!(is_fused(&pair));
    pair.play(2, TOLERANCE, "settings");
    // What it is not for goes by colours, and comes back.
    let fields = Field::slots(&[Field::Point { position: [1.0, 2.0, 0.0], strength: 20.0, radius: 1.0 }]);
    for (what, settings) in [
        ("fields", Settings { fields, ..halos() }),
        ("iterations", Settings { iterations: 2, ..halos() }),
        ("multipliers", Settings { keep_lambdas: true, ..halos() }),
        ("mean forces", Settings { mean_forces: true, ..halos() }),
        ("alternating", Settings { color_order: ColorOrder::Alternating, ..halos() }),
        ("shuffled", Settings { color_order: ColorOrder::Shuffled { seed: 3 }, ..halos() }),
    ] {
        change!(pair, set_settings(settings));
        assert!(!is_fused(&pair), "{what}");
        pair.play(2, TOLERANCE, what);
        change!(pair, set_settings(halos()));
        assert!(is_fused(&pair), "after {what}");
        pair.play(2, TOLERANCE, what);
    }
    let old = scene.distances(11..12).next().unwrap();
    change!(pair, set_constraint(11, Distance { rest_length: 1.3 * old.rest_length, ..old }));
    assert!(!is_fused(&pair));
    pair.play(2, TOLERANCE, "constraint");
    for player in [&mut pair.solver as &mut dyn Resettable, &mut pair.reference] {
        player.reset_now();
    }
    pair.play(2, TOLERANCE, "reset");
}

trait Resettable {
    fn reset_now(&mut self);
}

impl Resettable for supple::Solver {
    fn reset_now(&mut self) {
        self.reset();
    }
}

impl Resettable for supple::Reference {
    fn reset_now(&mut self) {
        self.reset();
    }
}

#[test]
fn what_it_is_not_for_goes_by_colors() {
    let gpu = common::gpu();
    let (cloth, _) = hanging_cloth(20, 20);
    let wind = Settings { wind: Some(Wind::default()), ..halos() };
    // A particle with more constraints than there are colours is solved at once with others.
    for (what, scene, settings) in [("wind", cloth, wind), ("hub", wheel(80, Material::RIGID), halos())] {
        let mut pair = Pair::new(&gpu, &scene, settings);
        assert!(!is_fused(&pair), "{what}");
        if what == "hub" {
            pair.play(2, TOLERANCE, what);
        }
    }
    let mut scene = Scene::new();
    let (positions, triangles) = common::shapes::icosphere(2, 0.4);
    let (positions, triangles, fabric) = (&positions[..], &triangles[..], Fabric::default());
    let balloon = Balloon { positions, triangles, fabric, pressure: 1.0, gas: Material::RIGID };
    scene.add_balloon(&balloon).unwrap();
    assert!(!is_fused(&Pair::new(&gpu, &scene, halos())));
}

#[test]
fn a_device_without_room_plays_the_same() {
    let (scene, _) = hanging_cloth(40, 33);
    let small = supple::wgpu::Limits { max_compute_workgroup_storage_size: 8192, ..Default::default() };
    let small = Context::new(small).unwrap();
    let large = common::gpu();
    let play = |gpu: &Context, execution| {
        let mut pair = Pair::new(gpu, &scene, Settings { execution, ..halos() });
        common::step(gpu, &mut pair.solver, 3);
        (is_fused(&pair), pair.solver.read_positions().unwrap())
    };
    let (is_fused, colors) = play(&large, Execution::Colors);
    assert!(!is_fused);
    let tolerance = if is_exact(&large) { 0.0 } else { 1e-4 };
    for (gpu, fuses) in [(&large, true), (&small, false)] {
        let (is_fused, halos) = play(gpu, Execution::Halos);
        assert_eq!((is_fused, first_unequal(&colors, &halos, tolerance)), (fuses, None));
    }
}

#[test]
fn a_step_is_played_in_pairs() {
    let gpu = common::gpu();
    let (scene, _) = hanging_cloth(40, 33);
    let passes = |substeps| {
        let pair = Pair::new(&gpu, &scene, Settings { substeps, ..halos() });
        let plan = pair.solver.plan();
        let all: Vec<Pass> = plan.step(substeps, 0).collect();
        let halos: Vec<bool> = all
            .iter()
            .filter_map(|pass| if let Pass::Halos { is_first, .. } = pass { Some(*is_first) } else { None })
            .collect();
        (halos, all.iter().any(|pass| matches!(pass, Pass::Project { .. })))
    };
    // One substep has no other to go with.
    assert_eq!(passes(1), (vec![], true));
    assert!(!is_fused(&Pair::new(&gpu, &scene, Settings { substeps: 1, ..halos() })));
    let pair = Pair::new(&gpu, &scene, Settings { tethers: false, ..halos() });
    let halos = |tethers| pair.solver.plan().contains(&Pass::Halos { is_first: false, tethers });
    assert!(halos(false) && !halos(true));
    assert_eq!(passes(2), (vec![true, false], false));
    assert_eq!(passes(5), (vec![false; 4], true));
}
