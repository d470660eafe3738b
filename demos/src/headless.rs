//! Runs a demo without a window: steps, times, files and a report.

use super::measure::{early_and_late_medians, median, peak_memory_mib, resident_memory_mib};
use super::outputs::{Outputs, cannot_write};
use super::trace::{FrameTimes, Trace};
use super::{Demo, Figures, Options, print};
use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::time::Instant;
use supple::constraints::{
    Area, BendTwist, CosineBend, Distance, DistanceLimit, Hinge, IsometricBend, LineBend, Membrane, MembraneLimit,
    NeoHookean, Pressure, ShapeMatching, StretchShear, Volume,
};
use supple::gpu::{Context, Profile, Timestamps};
use supple::internals::coloring::Coloring;
use supple::{Execution, Solver, wgpu};

/// The number of final frames that are profiled on request.
const PROFILED_FRAMES: u32 = 5;

/// The report of a run. Times are wall-clock, from the recording of a frame to the end of its GPU work, unless stated
/// otherwise. Profiled frames are excluded if there are others.
#[derive(Debug, Serialize)]
pub struct Report {
    pub adapter: String,
    pub backend: String,
    pub particles: usize,
    pub constraints: usize,
    pub colors: usize,
    /// Constraints without a colour; with self-collision, the number of lost contacts instead.
    pub overflow: usize,
    pub dispatches_per_substep: usize,
    /// The schedule that ran: "colors", "tiles" or "clusters".
    pub execution: &'static str,
    pub substeps: u32,
    pub iterations: u32,
    pub tethers: bool,
    pub frames: u32,
    pub ms_per_frame_median: f64,
    pub ms_per_frame_min: f64,
    pub ms_per_frame_max: f64,
    /// Medians of the second tenth of the frames and of the last tenth. They differ if frames become slower.
    pub ms_per_frame_early: f64,
    pub ms_per_frame_late: f64,
    /// GPU time by timestamps around the compute pass; `None` without timestamp support.
    pub gpu_ms_per_frame_median: Option<f64>,
    /// CPU time to record a frame, including `finish`.
    pub recording_ms_median: f64,
    pub ns_per_particle_substep: f64,
    pub projections_per_second: f64,
    /// Time from the scene to a ready solver: device, colours, tethers, pipelines, uploads.
    pub compile_ms: f64,
    /// GPU memory of all buffers of the solver, per particle.
    pub bytes_per_particle: f64,
    pub peak_memory_mib: Option<f64>,
    /// Growth of process memory from the first tenth of the frames to the last frame.
    pub memory_growth_mib: Option<f64>,
    pub mean_strain: f64,
    pub max_strain: f64,
    /// Kinetic energy [J].
    pub kinetic_energy: f64,
    /// Height of the lowest particle [m].
    pub lowest_point: f64,
    pub non_finite_count: u32,
    /// The hash of the final position bits; equal runs have equal hashes.
    pub positions_hash: String,
    pub seed: u64,
    /// GPU time per pass [ms per frame], with `--profile`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<serde_json::Map<String, serde_json::Value>>,
    /// Values added by the script of the demo; they replace fields of the same name.
    #[serde(flatten)]
    pub figures: Figures,
    #[serde(skip)]
    pub positions: Vec<[f32; 3]>,
}

impl Report {
    pub fn print(&self, json: bool) -> anyhow::Result<()> {
        // Serialized through a map, in which a value of the script replaces a field of the same name.
        print(if json { serde_json::to_value(self)?.to_string() } else { self.text() })
    }

    fn text(&self) -> String {
        let mut lines = vec![
            format!("{} ({})", self.adapter, self.backend),
            format!("{} particles, {} constraints in {} colours", self.particles, self.constraints, self.colors),
            format!(
                "{} frames of {} substeps: {:.2} ms a frame (median; {:.2} to {:.2}), {:.1} million projections a second",
                self.frames,
                self.substeps,
                self.ms_per_frame_median,
                self.ms_per_frame_min,
                self.ms_per_frame_max,
                self.projections_per_second / 1e6,
            ),
        ];
        if let Some(gpu) = self.gpu_ms_per_frame_median {
            lines.push(format!("of these {gpu:.2} ms on the GPU; {:.3} ms to record", self.recording_ms_median));
        }
        let profile = self.profile.iter().flatten();
        lines.extend(
            profile.map(|(name, time)| format!("  {name}: {:.3} ms a frame", time.as_f64().unwrap_or(f64::NAN))),
        );
        lines.extend(self.figures.iter().map(|(name, value)| format!("{name}: {value}")));
        lines.push(format!("strain: mean {:.3} %, max {:.2} %", self.mean_strain * 100.0, self.max_strain * 100.0));
        lines.push(format!("kinetic energy {:.4} J, lowest point {:.3} m", self.kinetic_energy, self.lowest_point));
        lines.join("\n")
    }
}

pub fn run(demo: &mut Demo, options: &Options) -> anyhow::Result<Report> {
    let start = Instant::now();
    let gpu = Context::new(supple::required_limits_with(&demo.scene, &demo.settings))?;
    let opened = start.elapsed();
    options.execution.measure(&gpu, demo)?;
    let start = Instant::now();
    let mut solver = Solver::new(&gpu.device, &gpu.queue, &demo.scene, demo.settings)?;
    // The uploads count as compile time, not as part of the first frame.
    gpu.queue.submit([]);
    gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
    let compile_ms = (opened + start.elapsed()).as_secs_f64() * 1e3;

    let mut outputs = Outputs::create(&gpu, demo, &solver, options)?;
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} frames, {per_sec}, {eta} left")?;
    let progress = ProgressBar::new(options.frames.into()).with_style(style);
    let mut clock = Clock::new(&gpu, options)?;
    let mut frames = Vec::new();
    let mut early_memory = None;
    for frame in 0..options.frames {
        if let Some(script) = &mut demo.script {
            script.drive(&mut solver, frame)?;
        }
        frames.push(clock.run_frame(&gpu, demo, &mut solver, frame)?);
        if let Some(script) = &mut demo.script {
            script.observe(&solver.read_positions()?)?;
        }
        if let Some(message) = outputs.write(&gpu, demo, &solver, frame + 1)? {
            progress.suspend(|| eprintln!("{message}"));
        }
        if frame == options.frames / 10 {
            early_memory = resident_memory_mib();
        }
        progress.inc(1);
    }
    let memory_growth_mib = early_memory.zip(resident_memory_mib()).map(|(early, late)| late - early);
    progress.finish_and_clear();
    let positions = solver.read_positions()?;
    outputs.finish(&positions)?;
    if let Some(path) = &options.trace {
        clock.trace.write(path).with_context(|| cannot_write(path))?;
    }
    report(demo, options, &gpu, &solver, positions, Measured { frames, compile_ms, memory_growth_mib })
}

/// Measures frames: by timestamps if the adapter has them, and the last ones by pass on request.
struct Clock {
    timestamps: Option<Timestamps>,
    first_profiled: u32,
    trace: Trace,
}

impl Clock {
    fn new(gpu: &Context, options: &Options) -> anyhow::Result<Self> {
        let profiles = options.profile || options.trace.is_some();
        let timestamps = match Timestamps::new(&gpu.device, &gpu.queue, 1) {
            Ok(timestamps) => Some(timestamps),
            Err(supple::Error::NoTimestamps) if !profiles => None,
            Err(error) => return Err(error).context("--profile and --trace need timestamps of the GPU"),
        };
        let profiled_frames = if profiles { PROFILED_FRAMES } else { 0 };
        let first_profiled = options.frames.saturating_sub(profiled_frames);
        Ok(Self { timestamps, first_profiled, trace: Trace::begin() })
    }

    /// Records, submits and awaits a frame.
    fn run_frame(&mut self, gpu: &Context, demo: &mut Demo, solver: &mut Solver, frame: u32) -> anyhow::Result<Frame> {
        let timestamps = self.timestamps.as_ref();
        let begin = Instant::now();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut profile = None;
        if frame >= self.first_profiled {
            profile = Some(solver.encode_profiled(&mut encoder, 1)?);
        } else {
            solver.encode_timed(&mut encoder, 1, timestamps.map(|timestamps| timestamps.writes(0)));
        }
        let commands = encoder.finish();
        let recorded = Instant::now();
        // The readback request is not part of the frame.
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let pass = timestamps.filter(|_| profile.is_none()).map(|timestamps| timestamps.request(&mut encoder));
        if let Some(script) = &mut demo.script {
            script.request(solver, &mut encoder);
        }
        let submission_index = Some(gpu.queue.submit([commands, encoder.finish()]));
        let submitted = Instant::now();
        gpu.device.poll(wgpu::PollType::Wait { submission_index, timeout: None })?;
        let done = Instant::now();
        let profile = profile.map(|mut profile| profile.try_take()).transpose()?.flatten();
        let pass = pass.map(|mut pass| pass.try_take()).transpose()?.flatten();
        let milliseconds = |end: Instant| end.duration_since(begin).as_secs_f64() * 1e3;
        if let Some(profile) = &profile {
            self.trace.push(frame, &FrameTimes { begin, recorded, submitted, done }, profile);
        }
        let gpu_ms = profile.as_ref().map(Profile::milliseconds).or(pass.map(|intervals| intervals[0].milliseconds()));
        Ok(Frame { wall_ms: milliseconds(done), recording_ms: milliseconds(recorded), gpu_ms, profile })
    }
}

/// The measurements of a run.
struct Measured {
    frames: Vec<Frame>,
    compile_ms: f64,
    memory_growth_mib: Option<f64>,
}

/// The times of a frame.
struct Frame {
    wall_ms: f64,
    recording_ms: f64,
    gpu_ms: Option<f64>,
    profile: Option<Profile>,
}

/// The median time of each pass [ms per frame].
fn by_pass<'a>(profiles: impl Iterator<Item = &'a Profile>) -> serde_json::Map<String, serde_json::Value> {
    let sums: Vec<_> = profiles.map(Profile::by_name).collect();
    let names = sums.first().into_iter().flatten().map(|&(name, _)| name);
    let time = |name: &str| {
        let of_frame =
            |frame: &Vec<(&str, f64)>| frame.iter().find(|&&(other, _)| other == name).map(|&(_, time)| time);
        median(sums.iter().filter_map(of_frame).collect())
    };
    names.map(|name| (name.to_owned(), time(name).into())).collect()
}

fn report(
    demo: &mut Demo,
    options: &Options,
    gpu: &Context,
    solver: &Solver,
    positions: Vec<[f32; 3]>,
    measured: Measured,
) -> anyhow::Result<Report> {
    let Measured { frames, compile_ms, memory_growth_mib } = measured;
    let mut plain: Vec<&Frame> = frames.iter().filter(|frame| frame.profile.is_none()).collect();
    if plain.is_empty() {
        plain = frames.iter().collect();
    }
    let times: Vec<f64> = plain.iter().map(|frame| frame.wall_ms).collect();
    let gpu_times: Vec<f64> = plain.iter().filter_map(|frame| frame.gpu_ms).collect();
    let fastest = times.iter().copied().fold(f64::NAN, f64::min);
    let slowest = times.iter().copied().fold(f64::NAN, f64::max);
    let [early, late] = early_and_late_medians(&times);
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
        execution: match solver.execution().execution {
            Execution::Tiles => "tiles",
            Execution::Clusters => "clusters",
            _ => "colors",
        },
        substeps: settings.substeps,
        iterations: settings.iterations,
        tethers: settings.tethers,
        frames: options.frames,
        ms_per_frame_median: median,
        ms_per_frame_min: fastest,
        ms_per_frame_max: slowest,
        ms_per_frame_early: early,
        ms_per_frame_late: late,
        gpu_ms_per_frame_median: (!gpu_times.is_empty()).then(|| self::median(gpu_times)),
        recording_ms_median: self::median(plain.iter().map(|frame| frame.recording_ms).collect()),
        ns_per_particle_substep: median * 1e6 / (particles as f64 * f64::from(settings.substeps)),
        projections_per_second: projections / median * 1e3,
        compile_ms,
        bytes_per_particle: solver.memory_bytes() as f64 / particles as f64,
        peak_memory_mib: peak_memory_mib(),
        memory_growth_mib,
        mean_strain: strain.mean,
        max_strain: strain.max,
        kinetic_energy: kinetic_energy(&solver.read_velocities()?, demo.scene.inverse_masses()),
        lowest_point: positions.iter().map(|position| f64::from(position[1])).fold(f64::INFINITY, f64::min),
        non_finite_count: solver.read_diagnostics()?.non_finite_count,
        positions_hash: positions_hash(&positions),
        seed: options.seed,
        profile: options.profile.then(|| by_pass(frames.iter().filter_map(|frame| frame.profile.as_ref()))),
        figures,
        positions,
    })
}

/// The number of colours of all kinds, and of constraints without a colour.
pub fn colors(solver: &Solver) -> [usize; 2] {
    let colorings = [
        solver.coloring::<Hinge>(),
        solver.coloring::<CosineBend>(),
        solver.coloring::<LineBend>(),
        solver.coloring::<IsometricBend>(),
        solver.coloring::<BendTwist>(),
        solver.coloring::<NeoHookean>(),
        solver.coloring::<Volume>(),
        solver.coloring::<Area>(),
        solver.coloring::<Membrane>(),
        solver.coloring::<ShapeMatching>(),
        solver.coloring::<Pressure>(),
        solver.coloring::<StretchShear>(),
        solver.coloring::<Distance>(),
        solver.coloring::<MembraneLimit>(),
        solver.coloring::<DistanceLimit>(),
    ];
    let count = |coloring: &Coloring| [coloring.colors.len(), coloring.overflow.count as usize];
    colorings.into_iter().map(count).fold([0; 2], |sum, count| [sum[0] + count[0], sum[1] + count[1]])
}

/// XXH3 of all position bits: equal hashes mean equal bits.
fn positions_hash(positions: &[[f32; 3]]) -> String {
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(bytemuck::cast_slice(positions)))
}

/// ½ Σ m v² [J].
fn kinetic_energy(velocities: &[[f32; 3]], inverse_masses: &[f32]) -> f64 {
    let energy = |(v, &w): (&[f32; 3], &f32)| {
        let square: f64 = v.iter().map(|&component| f64::from(component).powi(2)).sum();
        if w > 0.0 { 0.5 * square / f64::from(w) } else { 0.0 }
    };
    velocities.iter().zip(inverse_masses).map(energy).sum()
}
