//! Code that all demos share: command line, window, pictures and report. The library does not require it: `examples/embed.rs`
//! and `examples/headless.rs` do without.

#![allow(rustdoc::broken_intra_doc_links, reason = "units are in brackets, and --help prints documentation as it is")]

pub mod camera;
pub mod colliders;
pub mod contacts;
pub mod demo;
pub mod draw;
pub mod draw_pipelines;
pub mod draw_resources;
pub mod grip;
pub mod headless;
pub mod hung;
pub mod lines;
pub mod markers;
pub mod measure;
pub mod obj;
pub mod outputs;
pub mod panel;
pub mod picture;
pub mod screen;
pub mod shapes;
pub mod software;
pub mod strains;
pub mod timer;
pub mod trace;
pub mod window;

use anyhow::Context as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, FromArgMatches};
pub use demo::{Demo, Figures, Script};
pub use hung::{breeze, jitter, wind_of_speed};
use std::fmt::Display;
use std::io::{self, ErrorKind, Write as _};
use std::path::PathBuf;
use supple::gpu::{Context, fastest_execution};
use supple::{Execution, Method, Settings, Sweep};

/// The options of all demos.
#[derive(Args, Debug, Clone)]
pub struct Options {
    /// Simulate without a window
    #[arg(long)]
    pub headless: bool,
    /// Steps of 1/60 s to simulate without a window
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..))]
    pub frames: u32,
    /// Substeps per step
    #[arg(long, default_value_t = 20)]
    pub substeps: u32,
    /// Sweeps over all constraints per substep
    #[arg(long, default_value_t = 1)]
    pub iterations: u32,
    /// The stiffness model of constraints
    #[arg(long, default_value = "xpbd", value_parser = choice(METHODS))]
    pub method: Method,
    /// The order in which constraints are solved
    #[arg(long, default_value = "gauss-seidel", value_parser = choice(SWEEPS))]
    pub sweep: Sweep,
    /// The execution of constraints; "measured" selects the fastest on this adapter
    #[arg(long, default_value = "auto", value_parser = choice(EXECUTIONS))]
    pub execution: ExecutionChoice,
    /// Relaxation factor of each correction, between 0 and 2
    #[arg(long, default_value_t = 1.0)]
    pub relaxation: f32,
    /// Disable tethers
    #[arg(long)]
    pub no_tethers: bool,
    /// Speed of the wind [m/s]
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    pub wind: f32,
    /// Velocity damping [1/s]
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    pub damping: f32,
    /// Seed of the random displacement at the start; 0 = none
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Print one line of JSON
    #[arg(long)]
    pub json: bool,
    /// Time the passes of the last steps by GPU timestamps, and report ms per step and pass
    #[arg(long)]
    pub profile: bool,
    /// Write a trace of the last steps, for ui.perfetto.dev
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,
    /// Write the final positions, float32, particles × 3
    #[arg(long, value_name = "FILE.npy")]
    pub positions: Option<PathBuf>,
    /// Write a picture of every 30th and of the last state; each replaces the previous one
    #[arg(long, value_name = "FILE.png")]
    pub png: Option<PathBuf>,
    /// Write an animation, one picture per two steps
    #[arg(long, value_name = "FILE.gif")]
    pub gif: Option<PathBuf>,
    /// Write the surfaces as frame_00000.obj and so on, from the initial state; creates the folder
    #[arg(long, value_name = "FOLDER")]
    pub obj: Option<PathBuf>,
    /// Write pictures as picture_00001.png and so on, numbered by step; creates the folder
    #[arg(long, value_name = "FOLDER")]
    pub pictures: Option<PathBuf>,
    /// Steps between the files of --obj and of --pictures
    #[arg(long, default_value_t = 1, value_name = "STEPS", value_parser = clap::value_parser!(u32).range(1..))]
    pub every: u32,
    /// Width and height of pictures and of the window
    #[arg(long, value_names = ["WIDTH", "HEIGHT"], num_args = 2, default_values_t = [1280, 800])]
    pub size: Vec<u32>,
}

const METHODS: &[(&str, Method)] = &[("xpbd", Method::Xpbd), ("pbd", Method::Pbd), ("naive-pbd", Method::NaivePbd)];
const SWEEPS: &[(&str, Sweep)] = &[("gauss-seidel", Sweep::GaussSeidel), ("jacobi", Sweep::Jacobi)];
const EXECUTIONS: &[(&str, ExecutionChoice)] = &[
    ("auto", ExecutionChoice::Forced(Execution::Auto)),
    ("colors", ExecutionChoice::Forced(Execution::Colors)),
    ("tiles", ExecutionChoice::Forced(Execution::Tiles)),
    ("clusters", ExecutionChoice::Forced(Execution::Clusters)),
    ("measured", ExecutionChoice::Measured),
];

/// The execution option of the command line.
#[derive(Debug, Clone, Copy)]
pub enum ExecutionChoice {
    Forced(Execution),
    /// The fastest execution on this adapter, by measurement.
    Measured,
}

impl ExecutionChoice {
    fn forced(self) -> Execution {
        match self {
            Self::Forced(execution) => execution,
            Self::Measured => Execution::Auto,
        }
    }

    /// If requested, measures the fastest execution and sets it in the settings of a demo.
    pub fn measure(self, gpu: &Context, demo: &mut Demo) -> anyhow::Result<()> {
        if let Self::Measured = self {
            demo.settings.execution = fastest_execution(&gpu.device, &gpu.queue, &demo.scene, demo.settings)?;
        }
        Ok(())
    }
}

/// Parses one of a list of names.
pub fn choice<T: Clone + Send + Sync>(choices: &'static [(&'static str, T)]) -> impl TypedValueParser<Value = T> {
    let find = |name: String| choices.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    PossibleValuesParser::new(choices.iter().map(|(name, _)| *name)).try_map(move |name| find(name).ok_or("unknown"))
}

/// Parses the command line of a demo with its own defaults for some options.
pub fn parse<Arguments: CommandFactory + FromArgMatches>(defaults: &[(&'static str, &'static str)]) -> Arguments {
    let own = |command: clap::Command, &(option, value): &(&'static str, &'static str)| {
        command.mut_arg(option, |argument| argument.default_value(value))
    };
    read(defaults.iter().fold(Arguments::command(), own))
}

/// Parses the command line by a command derived from `Arguments`.
pub fn read<Arguments: FromArgMatches>(command: clap::Command) -> Arguments {
    Arguments::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
}

/// Prints a line. A reader that has closed the pipe, such as `head`, is no error.
pub fn print(line: impl Display) -> anyhow::Result<()> {
    match writeln!(io::stdout(), "{line}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}

/// Parses a number that is neither infinite nor NaN.
pub fn finite(text: &str) -> anyhow::Result<f32> {
    let value: f32 = text.parse()?;
    anyhow::ensure!(value.is_finite(), "it must be finite");
    Ok(value)
}

/// Returns true if the option is on the command line: each scene of `contacts` has its own defaults.
pub fn is_given(option: &str) -> bool {
    std::env::args_os().any(|argument| argument.to_string_lossy().starts_with(option))
}

impl Options {
    pub fn settings(&self) -> Settings {
        Settings {
            substeps: self.substeps,
            iterations: self.iterations,
            tethers: !self.no_tethers,
            method: self.method,
            sweep: self.sweep,
            execution: self.execution.forced(),
            relaxation: self.relaxation,
            damping: self.damping,
            wind: (self.wind != 0.0).then(|| breeze(self.wind)),
            ..Settings::default()
        }
    }

    pub fn picture_size(&self) -> anyhow::Result<(u32, u32)> {
        match self.size[..] {
            [width, height] if (16..=8192).contains(&width) && (16..=8192).contains(&height) => Ok((width, height)),
            _ => anyhow::bail!("--size {:?}: both must be 16 to 8192", self.size),
        }
    }
}

/// Runs a demo in a window. With `--headless` or without a display it runs headless, then prints and checks the report.
pub fn run(
    demo: Demo,
    options: &Options,
    check: impl FnOnce(&headless::Report) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut demo = if options.headless {
        demo
    } else {
        match window::run(demo, options)? {
            window::Outcome::Closed => return Ok(()),
            window::Outcome::NoDisplay { demo, reason } => {
                eprintln!("No window can be opened ({reason}); running headless instead.");
                *demo
            }
        }
    };
    let mut options = options.clone();
    // Without a display, a picture replaces the window.
    if !options.headless && options.png.is_none() {
        std::fs::create_dir_all("out")?;
        options.png = Some(format!("out/{}.png", demo.title).into());
        options.gif = options.gif.or(Some(format!("out/{}.gif", demo.title).into()));
    }
    let report = headless::run(&mut demo, &options)?;
    report.print(options.json)?;
    check(&report)
}
