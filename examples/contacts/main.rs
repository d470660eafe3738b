//! Things that touch: cloth on bodies and on itself, a knot, soft bodies in a funnel.
//!
//! ```text
//! cargo run --release --example contacts -- --scene sphere                             a window
//! cargo run --release --example contacts -- --scene knot --headless --json             a line of figures
//! cargo run --release --example contacts -- --scene layers --headless --obj out/layers meshes, one a step
//! ```

mod bodies;
mod cloths;
#[path = "../common/mod.rs"]
mod common;
mod cords;
mod measure;

use anyhow::ensure;
use clap::{CommandFactory, Parser};
use common::{Demo, Figures, Options, choice, headless, is_given};
use measure::Observed;
use supple::{ContactMaterial, ContactMaterialId, Friction, Pose, Scene, SelfCollision, SelfCollisionLevel, Solver};

/// What is kept apart from what; nothing for `off`.
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
    ("layers", cloths::layers),
    ("bowl", cloths::bowl),
    ("knot", cords::knot),
    ("twister", cloths::twister),
    ("funnel", bodies::funnel),
    ("bullet", cloths::bullet),
    ("incline", bodies::incline),
];

#[derive(Parser, Debug, Clone)]
#[command(about = "Things that touch")]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// What is played; each has defaults of its own for most of what follows
    #[arg(long, default_value = "sphere", value_parser = choice(SCENES))]
    scene: Build,
    /// What is kept apart from what, besides colliders
    #[arg(long, value_parser = choice(LEVELS))]
    self_collision: Option<Level>,
    /// Sweeps over the contacts in a substep
    #[arg(long)]
    contact_iterations: Option<u32>,
    /// The margin of the search, in thicknesses
    #[arg(long)]
    margin: Option<f32>,
    /// How thick cloth and ropes are, and how far apart the particles of bodies stay [m]; without it the
    /// spacing of the particles, a fifth more for a cloth that is laid over something, and 0.4 of that between surfaces;
    /// of the twister 0.7 mm, of the knot 20 mm
    #[arg(long)]
    thickness: Option<f32>,
    /// Coefficient of friction
    #[arg(long)]
    friction: Option<f32>,
    /// Particles in a row of a cloth
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    columns: Option<u32>,
    /// Rows of a cloth; as many as columns
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    rows: Option<u32>,
    /// How many cloths of layers and bowl, or bodies of funnel
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=200))]
    count: Option<u32>,
    /// Turns of the ball, the box or the mesh about the vertical a second, from half a second on [1/s]
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    spin: f32,
    /// Turns of one end of the twister against the other
    #[arg(long, default_value_t = 5.0)]
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
    /// Play it without contacts between particles first, for the time that they take
    #[arg(long)]
    compare: bool,
}

impl Arguments {
    fn columns(&self, default: u32) -> [u32; 2] {
        let columns = self.columns.unwrap_or(default);
        [columns, self.rows.unwrap_or(columns)]
    }

    /// Adds a contact material for particles that are `spacing` apart, and of the given level where nothing else is said.
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

/// Moves what is moved by hand before a step: takes a solver and the step, gives where colliders are then.
type Drive = Box<dyn FnMut(&mut Solver, u32) -> supple::Result<Vec<(usize, Pose)>>>;
/// Figures of positions.
type Measure = Box<dyn Fn(&[[f32; 3]]) -> Figures>;
/// What must hold of a report.
type Check = Box<dyn FnOnce(&headless::Report) -> anyhow::Result<()>>;
type Build = fn(&Arguments) -> anyhow::Result<Play>;

/// A scene with what is particular to it.
struct Play {
    demo: Demo,
    /// What is kept apart from what where nothing else is said.
    level: Level,
    /// Steps and substeps where nothing else is said.
    frames: u32,
    substeps: u32,
    /// Velocity damping where nothing else is said [1/s].
    damping: f32,
    /// Where it is not that of the earth [m/s²].
    gravity: Option<[f32; 3]>,
    /// Sweeps over the contacts and margin of the search where nothing else is said, not even by the level.
    contact_iterations: Option<u32>,
    margin: Option<f32>,
    /// Room for pairs where nothing else is said, not even by the level.
    pairs_per_particle: Option<u32>,
    drive: Option<Drive>,
    /// Figures of its own.
    measure: Measure,
    /// What must hold at the end.
    check: Check,
}

impl Default for Play {
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

/// The demo, what it is run with, and what must hold at its end.
type Ready = (Demo, Options, Check);

/// With contacts between particles as asked for, or `alone`, without.
fn make(arguments: &Arguments, alone: bool, without: Option<f64>) -> anyhow::Result<Ready> {
    let mut options = arguments.options.clone();
    let play = (arguments.scene)(arguments)?;
    let Play { mut demo, level, frames, substeps, damping, drive, measure, check, .. } = play;
    if !is_given("--frames") {
        options.frames = frames;
    }
    if !is_given("--substeps") {
        options.substeps = substeps;
    }
    if !is_given("--damping") {
        options.damping = damping;
    }
    demo.settings = options.settings();
    demo.settings.gravity = play.gravity.unwrap_or(demo.settings.gravity);
    let level = arguments.self_collision.unwrap_or(level).filter(|_| !alone);
    // Nobody reads them here.
    demo.settings.collider_forces = false;
    demo.settings.self_collision = level.map(|level| {
        let own = match level {
            SelfCollisionLevel::Particles => SelfCollision::default(),
            SelfCollisionLevel::Surfaces => SelfCollision::surfaces(),
        };
        SelfCollision {
            iterations: arguments.contact_iterations.or(play.contact_iterations).unwrap_or(own.iterations),
            margin: arguments.margin.or(play.margin).unwrap_or(own.margin),
            pairs_per_particle: play.pairs_per_particle.unwrap_or(own.pairs_per_particle),
            ..own
        }
    });
    demo.script = Some(Box::new(Observed::new(&demo.scene, drive, measure, without, !alone && options.headless)));
    Ok((demo, options, check))
}

/// The command line; what every scene has a default of its own for is said to.
fn parse() -> Arguments {
    let hidden = |command: clap::Command, option: &'static str| {
        command.mut_arg(option, |argument| {
            let help = format!("{} [default: that of the scene]", argument.get_help().cloned().unwrap_or_default());
            argument.hide_default_value(true).help(help)
        })
    };
    common::read(["frames", "substeps", "damping"].into_iter().fold(Arguments::command(), hidden))
}

fn main() -> anyhow::Result<()> {
    let arguments = parse();
    let mut without = None;
    if arguments.compare && arguments.options.headless {
        let (mut demo, mut options, _) = make(&arguments, true, None)?;
        (options.png, options.gif, options.obj) = (None, None, None);
        (options.positions, options.trace, options.profile) = (None, None, false);
        without = Some(headless::run(&mut demo, &options)?.ms_per_frame_median);
    }
    let (demo, options, check) = make(&arguments, false, without)?;
    let apart = demo.settings.self_collision.is_some();
    common::run(demo, &options, |report| {
        ensure!(report.non_finite_count == 0, "{} positions were not finite", report.non_finite_count);
        let lost = report.figures["overflow"].as_u64();
        ensure!(lost == Some(0), "{lost:?} pairs and contacts found no room, or were beyond what is looked at");
        // Without contacts things pass through each other.
        if apart { check(report) } else { Ok(()) }
    })
}
