//! Measures claims of papers on PBD and XPBD: each as a plot (SVG) and as data (CSV). `docs/study.md` shows and
//! explains them; `tests/physics/study.rs` checks the numbers.
//!
//! Runs on the CPU reference, which gives the same bits on every machine. With `--gpu` it runs on the solver and adds
//! the timed figure.

mod bending;
mod convergence;
mod cost;
mod damping;
mod iterations;
mod order;
mod plot;
mod scenes;
mod stiffness;
mod substeps;
mod time_step;

use clap::Parser;
use plot::Figure;
use scenes::Lab;
use std::path::PathBuf;
use supple::gpu::Context;

type Maker = fn(&Lab) -> supple::Result<Figure>;

/// The name and function of each figure.
const FIGURES: [(&str, Maker); 8] = [
    ("iterations", iterations::figure),
    ("time_step", time_step::figure),
    ("substeps", substeps::figure),
    ("damping", damping::figure),
    ("convergence", convergence::figure),
    ("stiffness", stiffness::figure),
    ("order", order::figure),
    ("bending", bending::figure),
];

/// The timed figure, which requires `--gpu`.
const TIMED: (&str, Maker) = ("cost", cost::figure);

#[derive(Parser, Debug)]
#[command(about = "Plots claims of papers on PBD and XPBD")]
struct Arguments {
    /// The folder of the SVG and CSV files
    #[arg(long, value_name = "DIR", default_value = "out/study")]
    out: PathBuf,
    /// Only the figure of this name
    #[arg(long, value_name = "NAME", value_parser = FIGURES.map(|(name, _)| name).into_iter().chain([TIMED.0]).collect::<Vec<_>>())]
    only: Option<String>,
    /// Fewer points and smaller scenes
    #[arg(long)]
    quick: bool,
    /// Run on the GPU solver instead of the CPU reference
    #[arg(long)]
    gpu: bool,
}

fn main() -> anyhow::Result<()> {
    let Arguments { out, only, quick, gpu } = Arguments::parse();
    let gpu = if gpu { Some(Context::new(supple::wgpu::Limits::default())?) } else { None };
    let lab = Lab { quick, gpu };
    let timed = lab.gpu.as_ref().map(|_| TIMED);
    anyhow::ensure!(only.as_deref() != Some(TIMED.0) || timed.is_some(), "--only {}: it is timed, with --gpu", TIMED.0);
    std::fs::create_dir_all(&out)?;
    for (name, figure) in
        FIGURES.into_iter().chain(timed).filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name))
    {
        let start = std::time::Instant::now();
        let figure = figure(&lab)?;
        std::fs::write(out.join(name).with_extension("csv"), figure.csv())?;
        figure.draw(&out.join(name).with_extension("svg"))?;
        println!("{name}: {} ({:.1} s)", figure.title, start.elapsed().as_secs_f64());
    }
    println!("wrote {}", out.display());
    Ok(())
}
