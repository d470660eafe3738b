//! The program `supple`: simulates scene files and writes their results for other programs.

mod adapters;
mod backend;
mod bake;
mod bench;
mod console;
mod export;
mod interrupt;
#[cfg(feature = "view")]
mod save;
mod validate;
#[cfg(feature = "view")]
mod view;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser, Debug)]
#[command(name = "supple", version, about = "Simulates cloth, ropes and soft bodies from scene files")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Simulate a scene and write caches: NumPy, OBJ, PC2, MDD, USD
    Bake(bake::Arguments),
    /// Check scenes and list their contents
    Validate(validate::Arguments),
    /// List the graphics adapters; * marks the selected one
    Adapters,
    /// Measure the time of a step on this machine
    Bench(bench::Arguments),
    /// Show a scene in a window
    #[cfg(feature = "view")]
    View(view::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Bake(arguments) => bake::run(&arguments),
        Command::Validate(arguments) => validate::run(&arguments),
        Command::Adapters => adapters::run(),
        Command::Bench(arguments) => bench::run(&arguments),
        #[cfg(feature = "view")]
        Command::View(arguments) => view::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console::report(format_args!("error: {error:#}"));
            interrupt::exit_status().into()
        }
    }
}
