//! A cloth of 100 000 particles: 2 m × 2 m, 0.2 kg/m², pinned at two corners, falling from the horizontal in a wind.
//!
//! ```text
//! cargo run --release --example cloth                                  a window
//! cargo run --release --example cloth -- --headless --json             a line of JSON
//! cargo run --release --example cloth -- --headless --png cloth.png    a picture
//! ```

use clap::Parser;
use supple::{Bending, ClothGrid, Execution, Fabric, Tethers};
use supple_demos::Options;
use supple_demos::hung::hung_cloth;

const BENDINGS: &[(&str, Bending)] = &[
    ("springs", Bending::Springs),
    ("hinges", Bending::Hinges),
    ("isometric", Bending::Isometric),
    ("none", Bending::None),
];

/// The default number of columns and rows.
const COLUMNS: u32 = 316;

/// The default number of substeps.
const SUBSTEPS: &str = "50";

#[derive(Parser, Debug)]
#[command(about = "A cloth of 100 000 particles, pinned at two corners")]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Particles per row [default: 316, less in a window on a software adapter]
    #[arg(long)]
    columns: Option<u32>,
    /// Rows [default: 316, less in a window on a software adapter]
    #[arg(long)]
    rows: Option<u32>,
    /// The bending model
    #[arg(long, default_value = "springs", value_parser = supple_demos::choice(BENDINGS))]
    bending: Bending,
    /// Flexural rigidity of hinges and of isometric bending [N m]
    #[arg(long, default_value_t = Fabric::default().flexural_rigidity)]
    rigidity: f32,
    /// Twenty substeps by colours, without wind, damping and seed: the baseline of comparisons
    #[arg(long, conflicts_with_all = ["substeps", "execution", "wind", "damping", "seed"])]
    baseline: bool,
    /// Tethers per particle
    #[arg(long, default_value_t = 2)]
    tethers: u32,
}

fn main() -> anyhow::Result<()> {
    let Arguments { mut options, columns, rows, bending, rigidity, baseline, tethers } =
        supple_demos::parse(&[("substeps", SUBSTEPS), ("wind", "1.5"), ("damping", "0.5"), ("seed", "3")]);
    if baseline {
        (options.substeps, options.execution) = (20, supple_demos::ExecutionChoice::Forced(Execution::Colors));
        (options.wind, options.damping, options.seed) = (0.0, 0.0, 0);
    }
    let fabric = Fabric { bending, flexural_rigidity: rigidity, ..Fabric::default() };
    let tethers = Some(Tethers { per_particle: tethers, scale: 1.0 });
    let (seed, settings) = (options.seed, options.settings());
    let make = move |columns, rows| {
        hung_cloth(&ClothGrid { columns, rows, fabric, tethers, ..ClothGrid::default() }, seed, settings)
    };
    let mut demo = make(columns.unwrap_or(COLUMNS), rows.unwrap_or(COLUMNS))?;
    if columns.is_none() && rows.is_none() {
        demo.resized = Some(Box::new(move |columns| make(columns, columns)));
    }
    supple_demos::run(demo, &options, |report| {
        anyhow::ensure!(report.non_finite_count == 0, "{} positions were not finite", report.non_finite_count);
        let sound = report.mean_strain < 0.05 || options.no_tethers;
        anyhow::ensure!(sound, "the cloth is stretched by {:.1} % on average", report.mean_strain * 100.0);
        Ok(())
    })
}
