//! A demo without a window: steps, times, files, and a report.

use super::measure::{median, peak_memory_mb};
use super::obj::Sequence;
use super::picture::{Film, Painter};
use super::{Demo, Figures, Options};
use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;
use supple::coloring::Coloring;
use supple::gpu::Context;
use supple::{Distance, Hinge, IsometricBend, LineBend, Pressure, ShapeMatching, Solver, Volume, wgpu};

/// What came of a run. Times are wall-clock from the recording of a frame to the end of its work on the GPU.
#[derive(Debug, Serialize)]
pub struct Report {
    pub adapter: String,
    pub backend: String,
    pub particles: usize,
    pub constraints: usize,
    pub colors: usize,
    /// Constraints that no colour took.
    pub overflow: usize,
    pub dispatches_per_substep: usize,
    pub substeps: u32,
    pub iterations: u32,
    pub tethers: bool,
    pub frames: u32,
    pub ms_per_frame_median: f64,
    pub ms_per_frame_min: f64,
    pub ms_per_frame_max: f64,
    pub ns_per_particle_substep: f64,
    pub projections_per_second: f64,
    /// Building scene, constraints, colours, tethers and uploading them.
    pub cook_ms: f64,
    pub peak_memory_mb: Option<f64>,
    pub mean_strain: f64,
    pub max_strain: f64,
    /// [J]
    pub kinetic_energy: f64,
    /// Height of the lowest particle [m].
    pub lowest_point: f64,
    pub non_finite_count: u32,
    pub seed: u64,
    /// Those of the demo's script.
    #[serde(flatten)]
    pub figures: Figures,
    #[serde(skip)]
    pub positions: Vec<[f32; 3]>,
}

impl Report {
    pub fn print(&self, json: bool) -> anyhow::Result<()> {
        if json {
            println!("{}", serde_json::to_string(self)?);
            return Ok(());
        }
        println!("{} ({})", self.adapter, self.backend);
        println!("{} particles, {} constraints in {} colours", self.particles, self.constraints, self.colors);
        println!(
            "{} frames of {} substeps: {:.2} ms a frame (median; {:.2} to {:.2}), {:.1} million projections a second",
            self.frames,
            self.substeps,
            self.ms_per_frame_median,
            self.ms_per_frame_min,
            self.ms_per_frame_max,
            self.projections_per_second / 1e6,
        );
        for (name, value) in &self.figures {
            println!("{name}: {value}");
        }
        println!("strain: mean {:.3} %, max {:.2} %", self.mean_strain * 100.0, self.max_strain * 100.0);
        println!("kinetic energy {:.4} J, lowest point {:.3} m", self.kinetic_energy, self.lowest_point);
        Ok(())
    }
}

pub fn run(demo: &mut Demo, options: &Options) -> anyhow::Result<Report> {
    let start = Instant::now();
    let gpu = Context::new(supple::required_limits_with(&demo.scene, &demo.settings))?;
    let mut solver = Solver::new(&gpu.device, &gpu.queue, &demo.scene, demo.settings)?;
    // The uploads belong to the cooking, not to the first frame.
    gpu.queue.submit([]);
    gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
    let cook_ms = start.elapsed().as_secs_f64() * 1e3;

    let picture_size = options.picture_size()?;
    // Before the work rather than after it.
    for path in options.png.iter().chain(&options.gif).chain(&options.positions) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        anyhow::ensure!(folder.is_dir(), "{}: there is no folder {}", cannot_write(path), folder.display());
    }
    if let Some(path) = &options.png {
        let format = image::ImageFormat::from_path(path).with_context(|| cannot_write(path))?;
        anyhow::ensure!(format == image::ImageFormat::Png, "{}: pictures are PNG", cannot_write(path));
    }
    let wants_pictures = options.png.is_some() || options.gif.is_some();
    let mut painter = wants_pictures.then(|| Painter::new(&gpu, demo, &solver, picture_size));
    let mut film =
        options.gif.as_deref().map(|path| Film::create(path).with_context(|| cannot_write(path))).transpose()?;
    let mut sequence =
        options.obj.as_deref().map(|folder| Sequence::create(folder, options.every, demo)).transpose()?;
    if let Some(sequence) = &mut sequence {
        sequence.write(demo.scene.positions())?;
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} frames, {per_sec}, {eta} left")?;
    let progress = ProgressBar::new(options.frames.into()).with_style(style);
    let mut times = Vec::new();
    for frame in 0..options.frames {
        if let Some(script) = &mut demo.script {
            script.drive(&mut solver, frame)?;
        }
        let start = Instant::now();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        solver.encode(&mut encoder, 1);
        if let Some(script) = &mut demo.script {
            script.request(&solver, &mut encoder);
        }
        let submission_index = Some(gpu.queue.submit([encoder.finish()]));
        gpu.device.poll(wgpu::PollType::Wait { submission_index, timeout: None })?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        if let Some(script) = &mut demo.script {
            script.observe(&solver.read_positions()?);
        }
        if let Some(sequence) = sequence.as_mut().filter(|sequence| sequence.wants(frame + 1)) {
            sequence.write(&solver.read_positions()?)?;
        }
        if let (Some(painter), Some(film), 0) = (&mut painter, &mut film, frame % 2) {
            film.push(&painter.paint(&gpu, demo, &solver)?)?;
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    drop(film);
    if let (Some(painter), Some(path)) = (&mut painter, &options.png) {
        painter.paint(&gpu, demo, &solver)?.save(path).with_context(|| cannot_write(path))?;
    }
    let positions = solver.read_positions()?;
    if let Some(path) = &options.positions {
        write_positions(path, &positions).with_context(|| cannot_write(path))?;
    }
    if wants_pictures && !options.json {
        for path in options.png.iter().chain(&options.gif) {
            println!("wrote {}", path.display());
        }
    }
    report(demo, options, &gpu, &solver, positions, times, cook_ms)
}

fn report(
    demo: &mut Demo,
    options: &Options,
    gpu: &Context,
    solver: &Solver,
    positions: Vec<[f32; 3]>,
    times: Vec<f64>,
    cook_ms: f64,
) -> anyhow::Result<Report> {
    let fastest = times.iter().copied().fold(f64::NAN, f64::min);
    let slowest = times.iter().copied().fold(f64::NAN, f64::max);
    let median = median(times);
    let settings = &demo.settings;
    let strain = demo.scene.strain(demo.edges.clone(), &positions)?;
    let [colors, overflow] = colors(solver);
    let figures = demo.script.as_mut().map_or(Ok(Figures::new()), |script| script.figures(solver))?;
    let constraints = demo.scene.constraint_count();
    let particles = demo.scene.particle_count();
    let projections = constraints as f64 * f64::from(settings.substeps) * f64::from(settings.iterations);
    Ok(Report {
        adapter: gpu.adapter_name(),
        backend: gpu.adapter.get_info().backend.to_string(),
        particles,
        constraints,
        colors,
        overflow,
        dispatches_per_substep: solver.plan().dispatches_per_substep(),
        substeps: settings.substeps,
        iterations: settings.iterations,
        tethers: settings.tethers,
        frames: options.frames,
        ms_per_frame_median: median,
        ms_per_frame_min: fastest,
        ms_per_frame_max: slowest,
        ns_per_particle_substep: median * 1e6 / (particles as f64 * f64::from(settings.substeps)),
        projections_per_second: projections / median * 1e3,
        cook_ms,
        peak_memory_mb: peak_memory_mb(),
        mean_strain: strain.mean,
        max_strain: strain.max,
        kinetic_energy: kinetic_energy(&solver.read_velocities()?, demo.scene.inverse_masses()),
        lowest_point: positions.iter().map(|position| f64::from(position[1])).fold(f64::INFINITY, f64::min),
        non_finite_count: solver.read_diagnostics()?.non_finite_count,
        seed: options.seed,
        figures,
        positions,
    })
}

/// The colours of all kinds that the builders use, and the constraints that no colour took.
pub fn colors(solver: &Solver) -> [usize; 2] {
    let colorings = [
        solver.coloring::<Distance>(),
        solver.coloring::<Hinge>(),
        solver.coloring::<LineBend>(),
        solver.coloring::<IsometricBend>(),
        solver.coloring::<Volume>(),
        solver.coloring::<Pressure>(),
        solver.coloring::<ShapeMatching>(),
    ];
    let count = |coloring: &Coloring| [coloring.colors.len(), coloring.overflow.count as usize];
    colorings.into_iter().map(count).fold([0; 2], |sum, count| [sum[0] + count[0], sum[1] + count[1]])
}

/// ½ Σ m v² [J].
fn kinetic_energy(velocities: &[[f32; 3]], inverse_masses: &[f32]) -> f64 {
    let energy = |(v, &w): (&[f32; 3], &f32)| {
        let square: f64 = v.iter().map(|&component| f64::from(component).powi(2)).sum();
        if w > 0.0 { 0.5 * square / f64::from(w) } else { 0.0 }
    };
    velocities.iter().zip(inverse_masses).map(energy).sum()
}

fn write_positions(path: &Path, positions: &[[f32; 3]]) -> anyhow::Result<()> {
    use npyz::WriterBuilder;
    let file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let dtype = npyz::DType::Plain("<f4".parse()?);
    let mut writer =
        npyz::WriteOptions::new().dtype(dtype).shape(&[positions.len() as u64, 3]).writer(file).begin_nd()?;
    writer.extend(positions.iter().flatten().copied())?;
    writer.finish()?;
    Ok(())
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
