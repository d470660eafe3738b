//! Compares supple with other solvers on one cloth, in one run on one machine.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml -- --n 316 --repeat 3`; `README.md` lists the peers.
//! Peers run one after another in separate processes, all of them in each round, so other load on the machine affects
//! them equally.

#[path = "../../common/mod.rs"]
mod common;
mod drape;
mod dynamis;
mod load;
mod peers;
mod programs;
mod rapier;
mod supple;
mod table;

use ::supple::gpu::Context;
use ::supple::wgpu;
use anyhow::{Context as _, Result, bail, ensure};
use clap::{Parser, ValueEnum as _};
use drape::{Drape, Init, Line};
use load::Load;
use peers::{PEERS, Peer, Way};
use programs::Tools;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use table::{Outcome, Run};

#[derive(Parser, Debug)]
#[command(about = "Measures supple beside other solvers on one cloth, and writes one table")]
struct Arguments {
    /// Particles per side
    #[arg(long, default_value_t = 316, value_parser = clap::value_parser!(u32).range(4..=4096))]
    n: u32,
    /// Rounds; the table shows medians
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Frames of 1/60 s; the strain is that of the last one
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(6..))]
    frames: u32,
    /// Only supple and the peers whose names start with one of these
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    only: Vec<String>,
    /// The initial state of the cloth
    #[arg(long, value_enum, default_value_t = Init::Hang)]
    init: Init,
    /// Timeout per peer [s]
    #[arg(long, default_value_t = 900)]
    timeout: u64,
    /// The Python of the scripts; default: benches/peers/venv if it exists, else that of the system
    #[arg(long)]
    python: Option<PathBuf>,
    /// The folder of the table (Markdown) and the runs (JSON lines), named by the adapter
    #[arg(long, default_value = "out", value_name = "FOLDER")]
    out: PathBuf,
    /// Runs this peer in this process and prints its line
    #[arg(long, hide = true)]
    play: Option<String>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // On one line, because it becomes part of the table of the parent process.
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let drape = Drape { n: arguments.n, init: arguments.init };
    if let Some(name) = &arguments.play {
        let line = play_here(name, &drape, arguments.frames)?;
        println!("{}", serde_json::to_string(&line)?);
        return Ok(());
    }
    let adapter = Context::new(wgpu::Limits::default())?.adapter_name();
    let build = std::env::current_exe()?.with_file_name("programs");
    let tools = Tools::new(build.clone(), arguments.python.clone())?;

    let mut outcomes: Vec<Outcome> = chosen(&arguments.only)?.into_iter().map(Outcome::new).collect();
    let mut table = String::new();
    for round in 1..=arguments.repeat {
        for outcome in outcomes.iter_mut().filter(|outcome| outcome.fault.is_none()) {
            let name = outcome.peer.name;
            match command(outcome.peer, &tools, arguments).and_then(|command| play(command, &build, arguments.timeout))
            {
                Ok((line, others_cores)) => {
                    eprintln!("{round}/{} {name}: {:.2} ms a frame", arguments.repeat, line.ms_per_frame_median);
                    outcome.runs.push(Run { name: name.into(), round, others_cores, line });
                }
                Err(fault) => {
                    eprintln!("{round}/{} {name}: {fault:#}", arguments.repeat);
                    outcome.fault = Some(format!("{fault:#}"));
                }
            }
        }
        // Written after each round, so that an aborted run leaves a table.
        table = table::markdown(&adapter, &drape, arguments.frames, round, &outcomes)?;
        write(&arguments.out, &adapter, drape.n, &table, &outcomes)?;
    }
    println!("{table}");
    Ok(())
}

/// supple and the peers whose names start with an entry of `only`; all if it is empty.
fn chosen(only: &[String]) -> Result<Vec<&'static Peer>> {
    let begins = |peer: &Peer, beginning: &String| peer.name.starts_with(beginning);
    if let Some(unknown) = only.iter().find(|beginning| !PEERS.iter().any(|peer| begins(peer, beginning))) {
        let names: Vec<_> = PEERS.iter().map(|peer| peer.name).collect();
        bail!("no peer's name begins with {unknown}; there are {}", names.join(", "));
    }
    let named = |peer: &Peer| only.is_empty() || only.iter().any(|beginning| begins(peer, beginning));
    Ok(PEERS.iter().filter(|peer| peer.name == peers::SUPPLE || named(peer)).collect())
}

/// The command that runs a peer, or the reason why it cannot run here.
fn command(peer: &Peer, tools: &Tools, arguments: &Arguments) -> Result<Command> {
    ensure!(arguments.n <= peer.largest_n, "too slow beyond {0} × {0} particles", peer.largest_n);
    let mut command = match peer.way {
        Way::Here(_) => {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["--play", peer.name]);
            command
        }
        Way::Program(program) => tools.command(program)?,
    };
    let init = arguments.init.to_possible_value().context("every start has a name")?;
    command.args([
        "--n",
        &arguments.n.to_string(),
        "--frames",
        &arguments.frames.to_string(),
        "--init",
        init.get_name(),
    ]);
    Ok(command)
}

fn play_here(name: &str, drape: &Drape, frames: u32) -> Result<Line> {
    let peer = PEERS.iter().find(|peer| peer.name == name).with_context(|| format!("no peer is named {name}"))?;
    let Way::Here(ready) = peer.way else { bail!("{name} is a program of its own") };
    drape::measure(name, drape, frames, ready(drape)?)
}

/// Runs a peer to its end. Returns its measurements and the number of processors that others used.
fn play(mut command: Command, scratch: &Path, timeout: u64) -> Result<(Line, Option<f64>)> {
    let [stdout, stderr] = ["stdout", "stderr"].map(|name| scratch.join(name));
    let load = Load::now();
    let start = Instant::now();
    // Output goes to files, because it is not read while the peer runs.
    let mut child = command
        .stdin(Stdio::null())
        .stdout(File::create(&stdout)?)
        .stderr(File::create(&stderr)?)
        .spawn()
        .with_context(|| format!("{} cannot be run", command.get_program().display()))?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > Duration::from_secs(timeout) {
            child.kill()?;
            child.wait()?;
            bail!("stopped after {timeout} s");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let others = load.zip(Load::now()).map(|(before, after)| before.others_until(after, start.elapsed()));
    ensure!(status.success(), "{}", programs::last_line(&std::fs::read(stderr)?));
    let output = std::fs::read_to_string(stdout)?;
    let line = output.lines().rev().find(|line| line.starts_with('{')).context("it printed no figures")?;
    Ok((serde_json::from_str(line).with_context(|| format!("it printed {line}"))?, others))
}

fn write(folder: &Path, adapter: &str, n: u32, table: &str, outcomes: &[Outcome]) -> Result<()> {
    let name = common::file_name(adapter);
    let lines: Result<String, _> = outcomes
        .iter()
        .flat_map(|outcome| &outcome.runs)
        .map(|run| serde_json::to_string(run).map(|line| line + "\n"))
        .collect();
    std::fs::create_dir_all(folder)?;
    for (extension, text) in [("md", table), ("jsonl", &lines?)] {
        let path = folder.join(format!("{name}-peers-{n}.{extension}"));
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        eprintln!("wrote {}", path.display());
    }
    Ok(())
}
