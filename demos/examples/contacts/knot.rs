//! A rope with a knot.

use crate::{Arguments, Setup};
use anyhow::ensure;
use glam::{DVec3, Vec3};
use serde_json::json;
use supple::{Collider, Cord, Rope, Scene, SelfCollisionLevel, Solver};
use supple_demos::camera::Camera;
use supple_demos::{Demo, Figures};

/// The height of the ends at the start [m], at which the whole rope is above the ground.
const LIFT: f32 = 0.35;

/// The thickness of the rope [m].
const THICKNESS: f32 = 0.02;
/// Length of the segments of the rope [m].
const SPACING: f32 = 0.7 * THICKNESS;
/// The speed of the ends relative to each other [m/s].
const PULL: f32 = 1.0;

/// Points of an overhand knot with long ends along x, at the given spacing [m]. The knot is the polynomial knot of
/// Shastri (1992), with y and z swapped and each axis scaled: x = t³ − 3t, y = t⁴ − 4t², z = t⁵ − 10t.
fn overhand(spacing: f32) -> Vec<[f32; 3]> {
    let knot = |t: f32| {
        let [x, y, z] = [t.powi(3) - 3.0 * t, t.powi(4) - 4.0 * t * t, t.powi(5) - 10.0 * t];
        Vec3::new(0.13 * x, 0.013 * z + 0.03, 0.09 * y)
    };
    let (from, to) = (knot(-2.1), knot(2.1));
    // Each end continues as a quadratic Bézier curve to a point on the x axis, along which it is pulled.
    let lead_out = |end: Vec3, s: f32| {
        let far = Vec3::new(1.6 * end.x.signum(), 0.0, 0.0);
        let lead = end + (end - knot(2.0 * end.x.signum())) * 4.0;
        end * (1.0 - s).powi(2) + lead * 2.0 * s * (1.0 - s) + far * s * s
    };
    let fraction = |step: u32| step as f32 / 400.0;
    let path = (0..400).rev().map(|step| lead_out(from, fraction(step + 1)));
    let path = path.chain((0..=400).map(|step| knot(4.2 * fraction(step) - 2.1)));
    let path: Vec<Vec3> = path.chain((1..=400).map(|step| lead_out(to, fraction(step)))).collect();
    // Resample the path at equal spacing.
    let mut points = vec![path[0]];
    for pair in path.windows(2) {
        while let Some(last) = points.last().copied()
            && last.distance(pair[1]) >= spacing
        {
            let along = (pair[1] - last).normalize();
            points.push(last + along * spacing);
        }
    }
    points.into_iter().map(|point| (point + LIFT * Vec3::Y).into()).collect()
}

/// An overhand knot that is pulled tight at both ends.
pub fn knot(arguments: &Arguments) -> anyhow::Result<Setup> {
    let thickness = arguments.thickness.unwrap_or(THICKNESS);
    let points = overhand(SPACING);
    let mut scene = Scene::new();
    let cord = Cord { flexural_rigidity: 2e-4, ..Cord::NYLON };
    let rope = scene.add_rope(&Rope { points: &points, cord, tethers: None })?;
    let material = supple::ContactMaterial { thickness, friction: arguments.friction(0.3), ..Default::default() };
    let material = scene.add_contact_material(material)?;
    scene.set_particle_contact(rope.particles.clone(), material)?;
    scene.add_collider(Collider { material, ..Collider::new(supple::Shape::HalfSpace, [0.0, -0.05, 0.0]) })?;
    let ends = [rope.particles.start, rope.particles.end - 1];
    for end in ends {
        scene.pin(end)?;
    }
    let starts = ends.map(|end| Vec3::from(scene.positions()[end as usize]));
    let length = (points.len() - 1) as f32 * SPACING;
    // 14 thicknesses of rope stay in the knot at the end of the pull.
    let end_distance = length - 14.0 * thickness;
    let gap = (starts[1].x - starts[0].x).abs();
    ensure!(end_distance > gap, "the rope of {length} m is too short for a thickness of {thickness} m");
    let drive = move |solver: &mut Solver, step: u32| {
        let seconds = (step + 1) as f32 / 60.0;
        let pulled = (PULL * seconds).min(end_distance - gap);
        for (end, start) in ends.into_iter().zip(starts) {
            if solver.is_pinned(end)? {
                // The ends come down while they are pulled.
                let moved = Vec3::new(0.5 * pulled * start.x.signum(), -LIFT * pulled / (end_distance - gap), 0.0);
                solver.set_target(end, (start + moved).into())?;
            }
        }
        Ok(Vec::new())
    };
    let demo = Demo {
        title: "contacts",
        edges: rope.segments.clone(),
        ropes: rope.segments.clone(),
        rope_thickness: thickness,
        camera: Camera { target: Vec3::ZERO, distance: 0.6, yaw: 0.3, pitch: 0.8 },
        ground: -0.05,
        scene,
        ..Demo::default()
    };
    Ok(Setup {
        demo,
        frames: ((end_distance - gap) / PULL * 60.0) as u32 + 60,
        drive: Some(Box::new(drive)),
        measure: Box::new(move |positions| {
            let [writhe, nearest] = writhe_and_nearest(positions, thickness);
            Figures::from_iter([("writhe".into(), json!(writhe)), ("nearest_strands".into(), json!(nearest))])
        }),
        check: Box::new(|report| {
            let writhe = report.figures["writhe"].as_f64().map_or(f64::NAN, f64::abs);
            ensure!(writhe > 2.0, "the writhe is {writhe}: the knot has come undone");
            ensure!(report.mean_strain < 0.05, "the rope is stretched by {:.1} %", report.mean_strain * 100.0);
            Ok(())
        }),
        level: Some(SelfCollisionLevel::Surfaces),
        substeps: 60,
        ..Setup::default()
    })
}

/// The writhe of an open rope, about 3.4 if knotted and about 0 if not; and the smallest distance [m] between two
/// segment midpoints more than five thicknesses apart along the rope.
fn writhe_and_nearest(positions: &[[f32; 3]], thickness: f32) -> [f64; 2] {
    let places: Vec<DVec3> = positions.iter().map(|&position| Vec3::from(position).as_dvec3()).collect();
    let segments: Vec<[DVec3; 2]> =
        places.windows(2).map(|pair| [0.5 * (pair[0] + pair[1]), pair[1] - pair[0]]).collect();
    let min_index_gap = (5.0 * thickness / SPACING) as usize;
    let (mut sum, mut nearest) = (0.0, f64::INFINITY);
    for (i, [here, along]) in segments.iter().enumerate() {
        for (j, [there, other]) in segments.iter().enumerate().skip(i + 2) {
            let between = *here - *there;
            sum += along.cross(*other).dot(between) / between.length().powi(3);
            if j > i + min_index_gap {
                nearest = nearest.min(between.length());
            }
        }
    }
    [sum / (2.0 * std::f64::consts::PI), nearest]
}
