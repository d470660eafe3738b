//! The plan: its passes, their number and order, and the records that they cover.

use supple::constraints::{KINDS, Kind, kind_index};
use supple::internals::coloring::Span;
use supple::internals::{Pass, Plan};
use supple::{
    ClothGrid, Collider, ContactMaterial, ContactMaterialId, Distance, Execution, Material, Particle, Reference, Scene,
    SelfCollision, Settings, Shape, Tethers, Wind,
};

fn plan(scene: &Scene, settings: Settings) -> Plan {
    Reference::new(scene, settings).unwrap().plan().clone()
}

fn grid(columns: u32, rows: u32, tethers: Option<Tethers>) -> Scene {
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns, rows, tethers, ..ClothGrid::default() }).unwrap();
    scene.pin(0).unwrap();
    scene
}

/// A hub with `spokes` springs to other particles, and a chain of four beside it.
fn wheel_and_chain(spokes: u32) -> Scene {
    let mut scene = Scene::new();
    for particle in 0..spokes + 5 {
        let position = [particle as f32, 0.0, 0.0];
        scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
    }
    let links = (1..=spokes).map(|spoke| [0, spoke]).chain((spokes + 1..spokes + 4).map(|link| [link, link + 1]));
    for particles in links {
        scene.add(Distance { particles, rest_length: 1.0 }, Material::RIGID).unwrap();
    }
    scene
}

/// The records of each kind that a list of passes projects, in the order of the first iteration.
fn projected(passes: &[Pass], kind: usize) -> Vec<Span> {
    let span = |pass: &Pass| match *pass {
        Pass::Project { kind: of, span, .. }
        | Pass::Tiles { kind: of, span, .. }
        | Pass::Trees { kind: of, span, .. }
        | Pass::Clusters { kind: of, span, .. }
        | Pass::Split { kind: of, span, .. }
            if of == kind =>
        {
            Some(span)
        }
        _ => None,
    };
    let mut spans: Vec<Span> = passes.iter().filter_map(span).collect();
    spans.sort_by_key(|span| span.first);
    spans
}

/// The passes of each iteration of a substep, without the tethers.
fn iterations(plan: &Plan, count: usize) -> Vec<Vec<Pass>> {
    let constraints: Vec<Pass> = plan.substep.iter().copied().filter(|pass| *pass != Pass::SolveTethers).collect();
    assert_eq!(constraints.len() % count, 0, "{} passes in {count} iterations", constraints.len());
    constraints.chunks(constraints.len() / count).map(<[Pass]>::to_vec).collect()
}

fn is_first_iteration(pass: &Pass) -> Option<bool> {
    match *pass {
        Pass::Project { first_iteration, .. }
        | Pass::Trees { first_iteration, .. }
        | Pass::Tiles { first_iteration, .. }
        | Pass::Clusters { first_iteration, .. }
        | Pass::Split { first_iteration, .. } => Some(first_iteration),
        _ => None,
    }
}

#[test]
fn every_constraint_is_projected_exactly_once_an_iteration() {
    let scenes = [grid(17, 13, Some(Tethers::default())), grid(2, 2, None), wheel_and_chain(5), wheel_and_chain(200)];
    for scene in scenes {
        for (count, execution) in
            [(1, Execution::Colors), (3, Execution::Colors), (1, Execution::Tiles), (2, Execution::Clusters)]
        {
            let plan = plan(&scene, Settings { iterations: count, execution, ..Settings::default() });
            for iteration in iterations(&plan, count as usize) {
                let mut total = 0;
                for kind in 0..KINDS.len() {
                    // The spans cover the records without gaps and overlaps.
                    let mut end = 0;
                    for span in projected(&iteration, kind) {
                        assert_eq!(span.first, end, "{span:?}");
                        assert!(span.count > 0, "an empty dispatch: {span:?}");
                        end = span.first + span.count;
                    }
                    total += end as usize;
                }
                assert_eq!(total, scene.constraint_count());
            }
        }
    }
}

#[test]
fn lambda_starts_at_zero_in_the_first_iteration_alone() {
    let plan = plan(&wheel_and_chain(200), Settings { iterations: 3, ..Settings::default() });
    for (index, iteration) in iterations(&plan, 3).iter().enumerate() {
        let flags: Vec<bool> = iteration.iter().filter_map(is_first_iteration).collect();
        assert_eq!(flags, vec![index == 0; flags.len()], "iteration {index}");
        assert!(!flags.is_empty());
    }
}

/// One pass per line.
fn text(plan: &Plan) -> String {
    let parts = [("begin", &plan.begin), ("substep", &plan.substep), ("between", &plan.between), ("end", &plan.end)];
    let lines = parts.iter().flat_map(|(name, passes)| passes.iter().map(move |pass| format!("{name:7} {pass:?}\n")));
    let distance = format!("kind: {}", kind_index(Distance::INFO));
    lines.collect::<String>().replace(&distance, "kind: distance")
}

#[test]
fn the_plan_of_a_small_tethered_cloth() {
    // 2 × 2 particles have no bending springs, which need three in a row. The two diagonals share no particle.
    let plan = plan(&grid(2, 2, Some(Tethers::default())), Settings::default());
    let golden = "\
begin   Targets
begin   Start
begin   Predict
begin   SolveTethers
substep Project { kind: distance, color: 0, span: Span { first: 0, count: 2 }, first_iteration: true }
substep Project { kind: distance, color: 1, span: Span { first: 2, count: 2 }, first_iteration: true }
substep Project { kind: distance, color: 2, span: Span { first: 4, count: 2 }, first_iteration: true }
between IntegrateTethered
end     Velocity
end     Finish
end     Normals
";
    assert_eq!(text(&plan), golden);
}

#[test]
fn the_plan_of_a_star_and_a_chain() {
    let plan = plan(&wheel_and_chain(60), Settings { iterations: 2, ..Settings::default() });
    let golden = "\
begin   Targets
begin   Start
begin   Predict
substep Trees { kind: distance, color: 0, span: Span { first: 0, count: 60 }, first_iteration: true }
substep Project { kind: distance, color: 0, span: Span { first: 60, count: 2 }, first_iteration: true }
substep Project { kind: distance, color: 1, span: Span { first: 62, count: 1 }, first_iteration: true }
substep Trees { kind: distance, color: 0, span: Span { first: 0, count: 60 }, first_iteration: false }
substep Project { kind: distance, color: 0, span: Span { first: 60, count: 2 }, first_iteration: false }
substep Project { kind: distance, color: 1, span: Span { first: 62, count: 1 }, first_iteration: false }
between IntegrateAndPredict
end     Velocity
end     Finish
";
    assert_eq!(text(&plan), golden);
}

#[test]
fn the_plan_of_a_hub_with_more_links_than_a_star_and_a_chain() {
    let plan = plan(&wheel_and_chain(1100), Settings { iterations: 2, ..Settings::default() });
    let golden = "\
begin   Targets
begin   Start
begin   Predict
substep Project { kind: distance, color: 0, span: Span { first: 0, count: 2 }, first_iteration: true }
substep Project { kind: distance, color: 1, span: Span { first: 2, count: 1 }, first_iteration: true }
substep Split { kind: distance, span: Span { first: 3, count: 1100 }, first_iteration: true }
substep GatherChunks { kind: distance }
substep GatherHubs { kind: distance }
substep Project { kind: distance, color: 0, span: Span { first: 0, count: 2 }, first_iteration: false }
substep Project { kind: distance, color: 1, span: Span { first: 2, count: 1 }, first_iteration: false }
substep Split { kind: distance, span: Span { first: 3, count: 1100 }, first_iteration: false }
substep GatherChunks { kind: distance }
substep GatherHubs { kind: distance }
between IntegrateAndPredict
end     Velocity
end     Finish
";
    assert_eq!(text(&plan), golden);
}

#[test]
fn a_substep_of_a_cloth_costs_5_dispatches_with_few_pins_and_6_with_many() {
    // Four phases of tiles or twelve colours, and one pass over the particles that also solves the tethers. The counts
    // guard the performance without timing.
    for (execution, sweep) in [(Execution::Auto, 4), (Execution::Colors, 12)] {
        let settings = Settings { execution, ..Settings::default() };
        let dispatches = |tethers, settings| plan(&grid(64, 64, tethers), settings).dispatches_per_substep();
        assert_eq!(dispatches(Some(Tethers::default()), settings), sweep + 1);
        assert_eq!(dispatches(None, settings), sweep + 1);
        let mut many = grid(64, 64, Some(Tethers::default()));
        (1..9).for_each(|particle| many.pin(particle).unwrap());
        assert_eq!(many.pinned_particles().count(), 9);
        assert_eq!(plan(&many, settings).dispatches_per_substep(), sweep + 2);
        assert_eq!(dispatches(Some(Tethers::default()), Settings { tethers: false, ..settings }), sweep + 1);
    }
}

#[test]
fn contacts_cost_few_dispatches_per_substep() {
    // The search takes six dispatches and each iteration one. Corrections are applied once at the end; with a collider in
    // every second iteration. Surfaces have six iterations and four rounds of division planes.
    let mut scene = grid(64, 64, None);
    let alone = plan(&scene, Settings::default()).dispatches_per_substep();
    let contacts = |scene: &Scene, own| {
        let settings = Settings { self_collision: Some(own), ..Settings::default() };
        plan(scene, settings).dispatches_per_substep() - alone
    };
    assert_eq!(contacts(&scene, SelfCollision::default()), 11);
    assert_eq!(contacts(&scene, SelfCollision::surfaces()), 19);
    scene.add_collider(Collider { shape: Shape::Sphere { radius: 0.3 }, ..Collider::default() }).unwrap();
    assert_eq!(contacts(&scene, SelfCollision::default()), 17);
    assert_eq!(contacts(&scene, SelfCollision::surfaces()), 28);
}

/// Each iteration of contacts reads the corrections of all iterations before it that have not been applied, and colliders find none
/// of these.
#[test]
fn corrections_of_contacts_are_complete_when_they_are_read() {
    let mut scene = grid(8, 8, None);
    for colliders in 0..2 {
        for sweeps in [1, 2, 3, 6, 8, 9, 24, 64] {
            let own = SelfCollision { iterations: Some(sweeps), ..SelfCollision::default() };
            let plan = plan(&scene, Settings { self_collision: Some(own), ..Settings::default() });
            // The iterations in each sum; the number of those that have been applied, and of all.
            let (mut sums, mut applied, mut count) = ([vec![], vec![]], 0, 0);
            for pass in &plan.substep {
                match *pass {
                    Pass::SolveContacts { is_last, sum, continues } => {
                        assert_eq!(is_last, count + 1 == sweeps);
                        assert_eq!(sums[1 - sum as usize], (applied..count).collect::<Vec<_>>(), "{sweeps}: {count}");
                        sums[sum as usize].extend(continues.then(|| count - 1));
                        sums[sum as usize].push(count);
                        count += 1;
                    }
                    Pass::ApplyCorrections => {
                        assert_eq!(sums[0], (applied..count).collect::<Vec<_>>(), "{sweeps} sweeps");
                        (sums, applied) = ([vec![], vec![]], count);
                    }
                    Pass::Collide { .. } => assert_eq!(applied, count, "{sweeps} sweeps"),
                    _ => {}
                }
            }
            assert_eq!((applied, count), (sweeps, sweeps), "{colliders} colliders");
        }
        scene.add_collider(Collider::default()).unwrap();
    }
}

#[test]
fn tethers_are_solved_once_a_substep_at_any_iteration_count() {
    let settings = Settings { iterations: 5, ..Settings::default() };
    let scene = grid(8, 8, Some(Tethers::default()));
    let whole = plan(&scene, settings);
    assert_eq!(whole.begin.last(), Some(&Pass::SolveTethers));
    assert_eq!(whole.between, [Pass::IntegrateTethered]);
    assert_eq!(whole.substep.len(), 5 * 12);
    // If the pass over the particles is split, tethers have their own pass.
    let windy = plan(&scene, Settings { wind: Some(Wind::default()), ..settings });
    assert_eq!(windy.substep.iter().filter(|pass| **pass == Pass::SolveTethers).count(), 1);
    assert_eq!(windy.substep.len(), 5 * 12 + 1);
}

#[test]
fn tethers_without_pins_add_no_pass() {
    let scene = grid(8, 8, Some(Tethers::default()));
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    let has_tethers = |plan: &Plan| (plan.contains(&Pass::SolveTethers), plan.contains(&Pass::IntegrateTethered));
    assert_eq!(has_tethers(reference.plan()), (true, true));
    reference.release(&[0]).unwrap();
    assert_eq!(has_tethers(reference.plan()), (false, false));
    assert_eq!(reference.plan().between, [Pass::IntegrateAndPredict]);
    reference.pin(&[63]).unwrap();
    assert_eq!(has_tethers(reference.plan()), (true, true));
}

/// Colliders are part of the final pass of a substep, unless another pass must run in between.
#[test]
fn adjacent_passes_at_the_end_of_a_substep_with_colliders_are_fused() {
    let with_collider = |mut scene: Scene| {
        scene.add_collider(Collider::default()).unwrap();
        scene
    };
    let [plain, tethered] = [None, Some(Tethers::default())].map(|tethers| with_collider(grid(4, 4, tethers)));
    let mut bouncing = plain.clone();
    let bouncy = ContactMaterial { restitution: 0.5, ..ContactMaterial::default() };
    bouncing.set_contact_material(ContactMaterialId::default(), bouncy).unwrap();
    let settings = Settings::default();
    let windy = Settings { wind: Some(Wind::default()), ..settings };
    let [particles, surfaces] = [SelfCollision::default(), SelfCollision::surfaces()]
        .map(|own| Settings { self_collision: Some(own), ..settings });
    for (scene, settings, in_one) in [
        (&plain, settings, true),
        (&plain, particles, false),
        (&plain, surfaces, false),
        (&plain, windy, false),
        (&tethered, settings, false),
        (&bouncing, settings, false),
    ] {
        let plan = plan(scene, settings);
        let collides = |passes: &[Pass]| passes.iter().filter(|pass| matches!(pass, Pass::Collide { .. })).count();
        assert_eq!(plan.substep[0], Pass::InterpolateColliders, "{settings:?}");
        assert_eq!(plan.between.contains(&Pass::CollideAndPredict), in_one, "{settings:?}");
        assert_eq!(collides(&plan.end), usize::from(in_one), "{settings:?}");
        // One in two iterations of contacts; on surfaces also one before the search.
        let each = match settings.self_collision {
            None => 1,
            Some(_) if settings == surfaces => 6 / 2 + 1,
            Some(_) => 4 / 2,
        };
        assert_eq!(collides(&plan.substep), if in_one { 0 } else { each }, "{settings:?}");
    }
}

#[test]
fn wind_splits_the_fused_passes_of_a_substep() {
    let settings = Settings { wind: Some(Wind::default()), ..Settings::default() };
    let plan = plan(&grid(8, 8, None), settings);
    assert_eq!(plan.begin, [Pass::Targets, Pass::Start, Pass::Accelerations, Pass::Predict]);
    assert_eq!(plan.between, [Pass::Velocity, Pass::Accelerations, Pass::Predict]);
    assert_eq!(plan.end, [Pass::Velocity, Pass::Finish, Pass::Normals]);
}

#[test]
fn wind_without_surfaces_adds_no_pass() {
    let scene = wheel_and_chain(3);
    let windy = plan(&scene, Settings { wind: Some(Wind::default()), ..Settings::default() });
    assert_eq!(windy, plan(&scene, Settings::default()));
}

#[test]
fn a_step_is_begin_then_substeps_separated_by_between_then_end() {
    let plan = plan(&grid(5, 4, Some(Tethers::default())), Settings::default());
    for substeps in [1u32, 2, 7] {
        let passes: Vec<Pass> = plan.step(substeps, 0).collect();
        let count = |wanted: Pass| passes.iter().filter(|pass| **pass == wanted).count() as u32;
        assert_eq!(count(Pass::Start), 1);
        assert_eq!(count(Pass::Predict), 1);
        assert_eq!(count(Pass::SolveTethers), 1);
        assert_eq!(count(Pass::IntegrateTethered), substeps - 1);
        assert_eq!(count(Pass::Velocity), 1);
        assert_eq!(count(Pass::Finish), 1);
        let further = (substeps as usize - 1) * plan.dispatches_per_substep();
        assert_eq!(passes.len(), plan.begin.len() + plan.substep.len() + further + plan.end.len());
        assert_eq!(passes[..plan.begin.len()], plan.begin);
        assert_eq!(passes[passes.len() - plan.end.len()..], plan.end);
        assert_eq!(passes[passes.len() - plan.end.len() - 1], *plan.substep.last().unwrap());
    }
}

#[test]
fn the_plan_follows_the_settings() {
    let mut reference = Reference::new(&grid(5, 5, Some(Tethers::default())), Settings::default()).unwrap();
    let before = reference.plan().clone();
    reference.set_settings(Settings { iterations: 2, ..Settings::default() }).unwrap();
    assert_eq!(reference.plan().substep.len(), 2 * before.substep.len());
    // The call fails and changes nothing.
    assert!(reference.set_settings(Settings { iterations: 0, ..Settings::default() }).is_err());
    assert_eq!(reference.plan().substep.len(), 2 * before.substep.len());
    reference.set_settings(Settings::default()).unwrap();
    assert_eq!(*reference.plan(), before);
}

#[test]
fn an_empty_set_of_constraints_is_no_dispatch() {
    let mut scene = Scene::new();
    scene.add_particle(Particle::default()).unwrap();
    let plan = plan(&scene, Settings::default());
    assert_eq!(plan.substep, []);
    assert_eq!(plan.dispatches_per_substep(), 1);
}
