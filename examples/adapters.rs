//! Lists the graphics adapters, and marks the one that the library would use. Ends with 1 where there is none.

use clap::Parser;
use std::process::ExitCode;
use supple::gpu::choose_adapter;
use supple::wgpu;

#[derive(Parser, Debug)]
#[command(about = "Lists the graphics adapters, and marks the one that would be used")]
struct Arguments {
    /// Changes nothing here; every example takes it
    #[arg(long)]
    headless: bool,
}

fn main() -> ExitCode {
    Arguments::parse();
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    let chosen = choose_adapter(&instance, None).map(|adapter| adapter.get_info());
    // Adapters are new objects each time they are asked for; what they say of themselves stays. Twins say the same: the
    // first is meant.
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
