//! A thousand flags of 1024 particles each, hung on poles, let go at once: every flag is a body that one workgroup keeps for all substeps of
//! a step, so that a step of a million particles takes a handful of dispatches.
//!
//! ```text
//! cargo run --release --example flags                                        a window
//! cargo run --release --example flags -- --headless --json                   a line of figures
//! cargo run --release --example flags -- --headless --execution patches      in a dispatch for every layer and substep
//! ```

mod common;

use clap::Parser;
use common::camera::Camera;
use common::{Demo, Options};
use std::f32::consts::TAU;
use supple::kinds::Kind;
use supple::{ClothGrid, Distance, Material, Particle, Scene};

/// Width and height of a flag [m], and how far it is from one pole to the next along a row and from row to row.
const SIZE: [f32; 2] = [0.45, 0.3];
const APART: [f32; 2] = [0.65, 0.8];

/// Height of the poles [m].
const POLE: f32 = 1.0;

/// How fast the free end of a flag is at the start, at most [m/s].
const SPEED: f32 = 2.5;

#[derive(Parser, Debug)]
#[command(about = "A thousand flags, each of them solved by a workgroup of its own")]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Flags
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
    /// Particles in a row of a flag
    #[arg(long, default_value_t = 32)]
    columns: u32,
    /// Rows of a flag
    #[arg(long, default_value_t = 32)]
    rows: u32,
}

fn main() -> anyhow::Result<()> {
    let Arguments { options, count, columns, rows } = common::parse(&[("execution", "whole")]);
    let mut scene = Scene::new();
    // Half as many again across as in depth.
    let across = (1.5 * count as f32).sqrt().ceil() as u32;
    let depth = count.div_ceil(across);
    let foot = |flag: u32| {
        let [x, z] = [flag % across, flag / across].map(|place| place as f32);
        [APART[0] * (x - 0.5 * across as f32), 0.0, APART[1] * (0.5 * (depth - 1) as f32 - z)]
    };
    let mut demo = Demo {
        title: "flags",
        settings: options.settings(),
        camera: Camera {
            target: glam::Vec3::new(0.0, 0.6, 0.0),
            distance: (0.6 * APART[0] * across as f32 + 1.5).min(30.0),
            yaw: 0.5,
            pitch: 0.3,
        },
        rope_thickness: 0.015,
        ..Demo::default()
    };
    for flag in 0..count {
        let [x, y, z] = foot(flag);
        let cloth = scene.add_cloth_grid(&ClothGrid {
            columns,
            rows,
            origin: [x, y + POLE, z],
            column_axis: [SIZE[0], 0.0, 0.0],
            row_axis: [0.0, -SIZE[1], 0.0],
            ..ClothGrid::default()
        })?;
        // Every flag begins to wave at another moment.
        let phase = TAU * (flag as f32 * 0.618).fract();
        for (place, particle) in (0..).zip(cloth.particles.clone()) {
            let along = (place % columns) as f32 / (columns - 1) as f32;
            if place % columns == 0 {
                scene.pin(particle)?;
            } else {
                scene.set_velocity(particle, [0.0, 0.0, SPEED * along * (phase + 4.0 * along).sin()])?;
            }
        }
        demo.tints.push((cloth.particles, tint(flag % across, flag / across)));
        if flag == 0 {
            demo.edges = cloth.structural;
        }
    }
    let poles = scene.constraint_count_of(Distance::INFO) as u32;
    for flag in 0..count {
        let [x, y, z] = foot(flag);
        let ends = [y, y + POLE].map(|y| Particle { position: [x, y, z], inverse_mass: 0.0, ..Particle::default() });
        let [low, high] = [scene.add_particle(ends[0])?, scene.add_particle(ends[1])?];
        scene.add(Distance { particles: [low, high], rest_length: POLE }, Material::RIGID)?;
    }
    demo.ropes = poles..poles + count;
    demo.scene = scene;
    common::run(demo, &options, |report| {
        anyhow::ensure!(report.non_finite_count == 0, "{} positions were not finite", report.non_finite_count);
        anyhow::ensure!(report.mean_strain < 0.05, "a flag is stretched by {:.1} %", report.mean_strain * 100.0);
        anyhow::ensure!(report.lowest_point > -0.01, "a flag has come loose");
        Ok(())
    })
}

/// The colour of a flag, linear: bands across the field.
fn tint(column: u32, row: u32) -> [f32; 3] {
    const COLORS: [[f32; 3]; 5] =
        [[0.70, 0.06, 0.05], [0.85, 0.45, 0.04], [0.80, 0.75, 0.60], [0.05, 0.30, 0.45], [0.03, 0.12, 0.35]];
    COLORS[((column + 2 * row) / 2 % 5) as usize]
}
