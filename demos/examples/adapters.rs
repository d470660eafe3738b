//! Lists the graphics adapters and marks the one that the library chooses. The exit code is 1 without an adapter.

use clap::Parser;
use std::process::ExitCode;
use supple::gpu::choose_adapter;
use supple::wgpu;

#[derive(Parser, Debug)]
#[command(about = "Lists the graphics adapters, and marks the one that the library chooses")]
struct Arguments {
    /// Has no effect here; all examples accept it
    #[arg(long)]
    headless: bool,
}

fn main() -> ExitCode {
    Arguments::parse();
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    let chosen = choose_adapter(&instance, None).map(|adapter| adapter.get_info());
    // Each enumeration creates new objects, so adapters are compared by their info. Among equal adapters the first is
    // marked.
    let mark =
        chosen.as_ref().ok().and_then(|chosen| adapters.iter().position(|adapter| adapter.get_info() == *chosen));
    for (index, adapter) in adapters.iter().enumerate() {
        let info = adapter.get_info();
        println!(
            "{} {} ({}, {:?}, {})",
            if mark == Some(index) { "*" } else { " " },
            info.name,
            info.backend,
            info.device_type,
            format!("{} {}", info.driver, info.driver_info).trim(),
        );
    }
    match chosen {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
