//! Contacts: cloth on bodies and on itself, a knot, soft bodies in a funnel.
//!
//! ```text
//! cargo run --release --example contacts -- --scene sphere                             a window
//! cargo run --release --example contacts -- --scene knot --headless --json             a line of JSON
//! cargo run --release --example contacts -- --scene layers --headless --obj out/layers meshes, one per step
//! ```

mod bodies;
mod cloths;
mod knot;
mod measure;
mod piles;
mod shirt;
mod shirt_mesh;

use anyhow::ensure;
use clap::{CommandFactory, Parser};
use measure::Observed;
use supple::{ContactMaterial, ContactMaterialId, Friction, Pose, Scene, SelfCollision, SelfCollisionLevel, Solver};
use supple_demos::{Demo, Figures, Options, choice, headless, is_given};

/// The level of self-collision; `None` for `off`.
type Level = Option<SelfCollisionLevel>;

const LEVELS: &[(&str, Level)] = &[
    ("off", None),
    ("particles", Some(SelfCollisionLevel::Particles)),
    ("surfaces", Some(SelfCollisionLevel::Surfaces)),
];
const SCENES: &[(&str, Build)] = &[
    ("sphere", cloths::sphere),
    ("box", cloths::table),
    ("mesh", cloths::mesh),
    ("layers", piles::layers),
    ("cylinder", piles::cylinder),
    ("bowl", piles::bowl),
    ("knot", knot::knot),
    ("twister", cloths::twister),
    ("funnel", bodies::funnel),
    ("bullet", cloths::bullet),
    ("incline", bodies::incline),
    ("shirt", shirt::shirt),
];

#[derive(Parser, Debug, Clone)]
#[command(about = "Contacts of cloth, ropes and soft bodies")]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The scene; each has its own defaults for most of the following options
    #[arg(long, default_value = "sphere", value_parser = choice(SCENES))]
    scene: Build,
    /// The level of self-collision
    #[arg(long, value_parser = choice(LEVELS))]
    self_collision: Option<Level>,
    /// Sweeps over the contacts per substep
    #[arg(long)]
    contact_iterations: Option<u32>,
    /// The margin of the search, in thicknesses
    #[arg(long)]
    margin: Option<f32>,
    /// Thickness of cloth, ropes and particles of bodies [m]; the default is the particle spacing. It is 1.2 times that for a
    /// cloth laid over a body, 0.4 times that between surfaces, 0.7 mm for the twister and 20 mm for the knot
    #[arg(long)]
    thickness: Option<f32>,
    /// Coefficient of friction
    #[arg(long)]
    friction: Option<f32>,
    /// Particles per row of a cloth
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    columns: Option<u32>,
    /// Rows of a cloth; default: as many as columns
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    rows: Option<u32>,
    /// Number of cloths of layers, cylinder and bowl, or of bodies of funnel
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=200))]
    count: Option<u32>,
    /// Rotation of the ball, the box or the mesh about the vertical after half a second [1/s]
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    spin: f32,
    /// Turns of one end of the twister relative to the other
    #[arg(long, default_value_t = 5.0, allow_negative_numbers = true, value_parser = turns)]
    turns: f32,
    /// Speed of the bullet [m/s]
    #[arg(long, default_value_t = 100.0)]
    speed: f32,
    /// Mass of the bullet [kg]
    #[arg(long, default_value_t = 0.002)]
    mass: f32,
    /// Slope of the incline [degrees]
    #[arg(long, default_value_t = 25.0)]
    angle: f32,
    /// Rotation of the camera about the vertical [degrees]
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true, value_parser = supple_demos::finite)]
    yaw: f32,
    /// With --headless: first run without contacts between particles, to measure their cost
    #[arg(long)]
    compare: bool,
}

impl Arguments {
    /// The number of steps; `default` if it is not given.
    fn frames(&self, default: u32) -> u32 {
        if is_given("--frames") { self.options.frames } else { default }
    }

    fn columns(&self, default: u32) -> [u32; 2] {
        let columns = self.columns.unwrap_or(default);
        [columns, self.rows.unwrap_or(columns)]
    }

    /// Adds a contact material for particles that are `spacing` apart; `level` is the default level.
    fn material(&self, scene: &mut Scene, level: Level, spacing: f32) -> supple::Result<ContactMaterialId> {
        let level = self.self_collision.unwrap_or(level);
        let share = if level == Some(SelfCollisionLevel::Surfaces) { 0.4 } else { 1.0 };
        let thickness = self.thickness.unwrap_or(share * spacing);
        scene.add_contact_material(ContactMaterial { thickness, friction: self.friction(0.5), ..Default::default() })
    }

    fn friction(&self, default: f32) -> Friction {
        Friction::coulomb(self.friction.unwrap_or(default))
    }
}

/// Moves pins and colliders before a step. Takes the solver and the step; returns the poses of moved colliders.
type Drive = Box<dyn FnMut(&mut Solver, u32) -> supple::Result<Vec<(usize, Pose)>>>;
/// Computes values from positions.
type Measure = Box<dyn Fn(&[[f32; 3]]) -> Figures>;
/// Checks a report.
type Check = Box<dyn FnOnce(&headless::Report) -> anyhow::Result<()>>;
type Build = fn(&Arguments) -> anyhow::Result<Setup>;

/// A scene with its defaults and callbacks.
struct Setup {
    demo: Demo,
    /// The default level of self-collision.
    level: Level,
    /// The default number of steps and of substeps.
    frames: u32,
    substeps: u32,
    /// The default velocity damping [1/s].
    damping: f32,
    /// The gravity [m/s²], if it is not the standard gravity.
    gravity: Option<[f32; 3]>,
    /// The default sweeps over the contacts and margin of the search; they override those of the level.
    contact_iterations: Option<u32>,
    margin: Option<f32>,
    /// The default capacity for pairs; it overrides that of the level.
    pairs_per_particle: Option<u32>,
    drive: Option<Drive>,
    /// The measurements of the scene.
    measure: Measure,
    /// The check of the final state.
    check: Check,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            demo: Demo { title: "contacts", ..Demo::default() },
            level: Some(SelfCollisionLevel::Particles),
            frames: 120,
            substeps: 20,
            damping: 0.0,
            gravity: None,
            contact_iterations: None,
            margin: None,
            pairs_per_particle: None,
            drive: None,
            measure: Box::new(|_| Figures::new()),
            check: Box::new(|_| Ok(())),
        }
    }
}

/// The demo, its options, and its final check.
type Ready = (Demo, Options, Check);

/// Builds the demo with contacts between particles as requested, or without if `alone`.
fn make(arguments: &Arguments, alone: bool, ms_without_contacts: Option<f64>) -> anyhow::Result<Ready> {
    let mut options = arguments.options.clone();
    let setup = (arguments.scene)(arguments)?;
    let Setup { mut demo, level, frames, substeps, damping, drive, measure, check, .. } = setup;
    options.frames = arguments.frames(frames);
    if !is_given("--substeps") {
        options.substeps = substeps;
    }
    if !is_given("--damping") {
        options.damping = damping;
    }
    demo.camera.yaw += arguments.yaw.to_radians();
    demo.settings = options.settings();
    demo.settings.gravity = setup.gravity.unwrap_or(demo.settings.gravity);
    let level = arguments.self_collision.unwrap_or(level).filter(|_| !alone);
    // The forces on colliders are not read.
    demo.settings.collider_forces = false;
    demo.settings.self_collision = level.map(|level| {
        let own = match level {
            SelfCollisionLevel::Particles => SelfCollision::default(),
            SelfCollisionLevel::Surfaces => SelfCollision::surfaces(),
        };
        SelfCollision {
            iterations: arguments.contact_iterations.or(setup.contact_iterations),
            margin: arguments.margin.or(setup.margin).unwrap_or(own.margin),
            pairs_per_particle: setup.pairs_per_particle.unwrap_or(own.pairs_per_particle),
            ..own
        }
    });
    demo.script =
        Some(Box::new(Observed::new(&demo.scene, drive, measure, ms_without_contacts, !alone && options.headless)));
    Ok((demo, options, check))
}

/// Parses the number of turns of the twister.
fn turns(text: &str) -> anyhow::Result<f32> {
    let turns = supple_demos::finite(text)?;
    ensure!(turns.abs() <= 1000.0, "it must be at most 1000 either way");
    Ok(turns)
}

/// Parses the command line; the help marks options whose default depends on the scene.
fn parse() -> Arguments {
    let hidden = |command: clap::Command, option: &'static str| {
        command.mut_arg(option, |argument| {
            let help = format!("{} [default: that of the scene]", argument.get_help().cloned().unwrap_or_default());
            argument.hide_default_value(true).help(help)
        })
    };
    supple_demos::read(["frames", "substeps", "damping"].into_iter().fold(Arguments::command(), hidden))
}

fn main() -> anyhow::Result<()> {
    let arguments = parse();
    let mut ms_without_contacts = None;
    if arguments.compare && arguments.options.headless {
        let (mut demo, mut options, _) = make(&arguments, true, None)?;
        (options.png, options.gif, options.obj, options.pictures) = (None, None, None, None);
        (options.positions, options.trace, options.profile) = (None, None, false);
        ms_without_contacts = Some(headless::run(&mut demo, &options)?.ms_per_frame_median);
    }
    let (demo, options, check) = make(&arguments, false, ms_without_contacts)?;
    let apart = demo.settings.self_collision.is_some();
    supple_demos::run(demo, &options, |report| {
        ensure!(report.non_finite_count == 0, "{} positions were not finite", report.non_finite_count);
        let lost = report.figures["overflow"].as_u64();
        ensure!(lost == Some(0), "{lost:?} pairs and contacts were lost: beyond the capacity or the search range");
        // Without contacts the check would fail.
        if apart { check(report) } else { Ok(()) }
    })
}
