//! A hanging chain: distance constraints of 0.2 m and 1e-4 m/N, masses of 1 kg, 24 substeps. The first particle is pinned,
//! and the chain is released from the horizontal. Prints the position of each particle.

use clap::Parser;
use supple::{Distance, Material, Particle, Scene};
use supple_demos::camera::Camera;
use supple_demos::{Demo, Options};

const LENGTH: f32 = 0.2;
const COMPLIANCE: f32 = 1e-4;

#[derive(Parser, Debug)]
#[command(about = "A chain that swings down from the horizontal")]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Distance constraints in the chain
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    links: u32,
}

fn main() -> anyhow::Result<()> {
    let Arguments { options, links } = supple_demos::parse(&[("substeps", "24")]);
    let mut scene = Scene::new();
    for particle in 0..=links {
        scene.add_particle(Particle { position: [LENGTH * particle as f32, 2.0, 0.0], ..Particle::default() })?;
    }
    for link in 0..links {
        let distance = Distance { particles: [link, link + 1], rest_length: LENGTH };
        scene.add(distance, Material::compliant(COMPLIANCE))?;
    }
    scene.pin(0)?;
    let demo = Demo {
        title: "chain",
        settings: options.settings(),
        edges: 0..links,
        camera: Camera { target: glam::Vec3::new(0.0, 1.0, 0.0), distance: 6.0, yaw: 0.0, pitch: 0.15 },
        ground: -1.0,
        scene,
        ..Demo::default()
    };
    let weight = 9.81 * links as f32;
    supple_demos::run(demo, &options, |report| {
        if !options.json {
            for (particle, [x, y, z]) in report.positions.iter().enumerate() {
                supple_demos::print(format_args!("particle {particle:2}: {x:8.4} {y:8.4} {z:8.4} m"))?;
            }
        }
        // A swinging chain has up to about five times its weight as tension, and up to 30 times if its end whips.
        let bound = f64::from(COMPLIANCE * weight / LENGTH) * 30.0;
        anyhow::ensure!(report.max_strain < bound, "a constraint is stretched by {:.1} %", report.max_strain * 100.0);
        anyhow::ensure!(
            report.lowest_point > 1.9 - f64::from(LENGTH) * f64::from(links) * (1.0 + bound),
            "it has come loose"
        );
        Ok(())
    })
}
