//! Shared by the tests: a device, scenes, and the comparison of both backends.

#![allow(dead_code, unused_macros, unused_imports, reason = "each test file uses its own part of it")]

pub mod cases;
pub mod instancing;
pub mod nets;
pub mod raw;
pub mod shapes;

use std::ops::Range;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use supple::constraints::{Kind, kind_index};
use supple::gpu::{Context, PipelineStore, Readback};
use supple::internals::Pass;
use supple::{
    Cloth, ClothGrid, ClothMesh, ContactMaterial, Distance, Fabric, Friction, Material, Particle, Reference, Scene,
    Settings, Simulation, Solver, wgpu,
};

/// The GPU of the tests, whose solvers share pipelines. Without an adapter it fails and names the package to install.
pub fn gpu() -> Context {
    static SHARED: OnceLock<Context> = OnceLock::new();
    let open = || Context::new(wgpu::Limits::default()).unwrap_or_else(|error| panic!("{error}"));
    SHARED.get_or_init(open).clone()
}

/// The pipelines that all solvers on [`gpu`] share; a new store for other devices.
pub fn store(gpu: &Context) -> PipelineStore {
    static SHARED: OnceLock<PipelineStore> = OnceLock::new();
    let shared = SHARED.get_or_init(|| PipelineStore::new(&self::gpu().device));
    if *shared.device() == gpu.device { shared.clone() } else { PipelineStore::new(&gpu.device) }
}

/// A device that no other test uses, with pipelines of its own.
pub fn own_gpu() -> Context {
    gpu_with(wgpu::Limits::default())
}

/// The same with other limits. All devices belong to one `wgpu::Instance`, which tells them apart.
pub fn gpu_with(limits: wgpu::Limits) -> Context {
    Context::on(gpu().adapter, limits).unwrap_or_else(|error| panic!("{error}"))
}

/// A compute pipeline of a program that embeds a solver.
pub fn pipeline(device: &wgpu::Device, text: &str, entry: &str) -> wgpu::ComputePipeline {
    let source = wgpu::ShaderSource::Wgsl(text.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(entry),
        layout: None,
        module: &module,
        entry_point: Some(entry),
        compilation_options: Default::default(),
        cache: None,
    })
}

pub fn solver(gpu: &Context, scene: &Scene, settings: Settings) -> Solver {
    Solver::with_store(&store(gpu), &gpu.queue, scene, settings).unwrap()
}

/// Waits for submitted work and takes its data. Another test that polls the shared device may deliver them a moment later.
pub fn taken<T>(gpu: &Context, readback: &mut Readback<T>) -> T {
    loop {
        gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        if let Some(data) = readback.try_take().unwrap() {
            return data;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The words of a buffer that can be copied.
pub fn words(gpu: &Context, buffer: &wgpu::Buffer) -> Vec<u32> {
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let descriptor = wgpu::BufferDescriptor { label: None, size: buffer.size(), usage, mapped_at_creation: false };
    let staging = gpu.device.create_buffer(&descriptor);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
    encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., |_| {});
    gpu.queue.submit([encoder.finish()]);
    gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let view = staging.get_mapped_range(..).unwrap();
    bytemuck::pod_collect_to_vec(&view)
}

/// A cloth that hangs by two corners, slightly crumpled so that no coordinate is special.
pub fn hanging_cloth(columns: u32, rows: u32) -> (Scene, Cloth) {
    hanging_cloth_of(columns, rows, Fabric::default())
}

/// The same of a fabric.
pub fn hanging_cloth_of(columns: u32, rows: u32, fabric: Fabric) -> (Scene, Cloth) {
    let mut scene = Scene::new();
    let axes = ([2.0, 0.1, 0.2], [-0.1, 0.3, 1.9]);
    let grid = ClothGrid { columns, rows, column_axis: axes.0, row_axis: axes.1, fabric, ..ClothGrid::default() };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    for particle in cloth.particles.clone() {
        let [x, y, z] = scene.positions()[particle as usize];
        let wave = 0.01 * (7.0 * x + 3.0 * z).sin();
        scene.set_position(particle, [x, y + wave, z]).unwrap();
    }
    scene.pin(cloth.particles.start).unwrap();
    scene.pin(cloth.particles.start + columns - 1).unwrap();
    (scene, cloth)
}

/// Moves each particle of a range by at most `size` [m], in varying directions.
pub fn crumple(scene: &mut Scene, particles: Range<u32>, size: f32) {
    for particle in particles {
        let [x, y, z] = scene.positions()[particle as usize];
        let [dx, dy, dz] = [0, 1, 2].map(|axis| size * noise(3 * particle + axis));
        scene.set_position(particle, [x + dx, y + dy, z + dz]).unwrap();
    }
}

/// A stack of sheets of 0.4 m between two pinned sheets. The upper pinned sheet moves down at 0.5 m/s.
pub fn press(thickness: f32, sheets: u32) -> Scene {
    let mut scene = Scene::new();
    let material = ContactMaterial { thickness, friction: Friction::coulomb(0.3), ..ContactMaterial::default() };
    let material = scene.add_contact_material(material).unwrap();
    for sheet in 0..sheets + 2 {
        let angle = 0.3 * sheet as f32;
        let (sin, cos) = (0.4 * angle.sin(), 0.4 * angle.cos());
        let height = 1.5 * thickness * sheet as f32;
        let grid = ClothGrid {
            columns: 8,
            rows: 8,
            origin: [-0.5 * (cos + sin), height, -0.5 * (cos - sin)],
            column_axis: [cos, 0.0, -sin],
            row_axis: [sin, 0.0, cos],
            ..ClothGrid::default()
        };
        let cloth = scene.add_cloth_grid(&grid).unwrap();
        scene.set_particle_contact(cloth.particles.clone(), material).unwrap();
        crumple(&mut scene, cloth.particles.clone(), 0.1 * thickness);
        if sheet == 0 || sheet == sheets + 1 {
            for particle in cloth.particles {
                scene.pin(particle).unwrap();
                let speed = if sheet == 0 { 0.0 } else { -0.5 };
                scene.set_velocity(particle, [0.0, speed, 0.0]).unwrap();
            }
        }
    }
    scene
}

/// A particle with more constraints than there are colours: a hub with spokes.
pub fn wheel(spokes: u32, material: Material) -> Scene {
    let mut scene = Scene::new();
    let hub = scene.add_particle(Particle::default()).unwrap();
    for spoke in 0..spokes {
        let (sin, cos) = (spoke as f32 * 2.4).sin_cos();
        let position = [cos, 0.1 * (spoke % 7) as f32, sin];
        let rim = scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
        let rest_length = 0.9;
        scene.add(Distance { particles: [hub, rim], rest_length }, material).unwrap();
    }
    scene
}

/// Runs the passes of a plan on both backends and compares them.
pub struct Pair<'a> {
    pub gpu: &'a Context,
    pub solver: Solver,
    pub reference: Reference,
}

/// Makes the same call on both backends of a [`Pair`].
macro_rules! change {
    ($pair:expr, $call:ident($($argument:expr),+)) => {{
        $pair.solver.$call($($argument),+).unwrap();
        $pair.reference.$call($($argument),+).unwrap();
    }};
}
pub(crate) use change;

/// A difference between the backends after a pass.
#[derive(Debug)]
pub struct Difference {
    pub pass: String,
    pub what: &'static str,
    pub particle: usize,
    pub on_gpu: [f32; 3],
    pub on_reference: [f32; 3],
}

impl<'a> Pair<'a> {
    pub fn new(gpu: &'a Context, scene: &Scene, settings: Settings) -> Self {
        let solver = solver(gpu, scene, settings);
        // The reference must run the execution that the solver chose for `Auto`.
        let execution = solver.execution().chosen;
        let reference = Reference::new(scene, Settings { execution, ..*solver.settings() }).unwrap();
        Self { gpu, solver, reference }
    }

    /// Returns the first pass after which positions or displacements differ by more than `tolerance`, relative to the
    /// largest component, plus [`roundings`].
    pub fn first_difference(&mut self, tolerance: f32, passes: impl IntoIterator<Item = Pass>) -> Option<Difference> {
        for (index, pass) in passes.into_iter().enumerate() {
            let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
            self.solver.encode_passes(&mut encoder, [pass], None);
            self.gpu.queue.submit([encoder.finish()]);
            self.reference.run(pass);
            let pairs = [
                ("position", self.solver.read_positions().unwrap(), self.reference.read_positions().unwrap()),
                (
                    "displacement",
                    self.solver.read_displacements().unwrap(),
                    self.reference.read_displacements().unwrap(),
                ),
            ];
            let rotations = (self.solver.read_rotations().unwrap(), self.reference.read_rotations().unwrap());
            let axes = |rows: Vec<[f32; 4]>| rows.into_iter().map(|[x, y, z, _]| [x, y, z]).collect::<Vec<_>>();
            let turns = self.solver.read_rotation_vectors().unwrap();
            let expected = self.reference.read_rotation_vectors().unwrap();
            let rotations = [("rotation", axes(rotations.0), axes(rotations.1)), ("rotation vector", turns, expected)];
            let slack = if tolerance == 0.0 { 0.0 } else { roundings(&pairs[0].2) };
            for (what, on_gpu, on_reference) in pairs.into_iter().chain(rotations) {
                if let Some(particle) = first_apart(&on_gpu, &on_reference, tolerance, slack) {
                    let (on_gpu, on_reference) = (on_gpu[particle], on_reference[particle]);
                    return Some(Difference {
                        pass: format!("{index}: {pass:?}"),
                        what,
                        particle,
                        on_gpu,
                        on_reference,
                    });
                }
            }
        }
        None
    }

    /// Runs `steps` steps on both backends. They must agree bit for bit on an exact adapter, else within `tolerance`.
    pub fn run(&mut self, steps: u32, tolerance: f32, what: &str) {
        self.solver.step(steps);
        self.reference.step(steps);
        let faults = self.solver.read_diagnostics().unwrap().non_finite_count;
        assert_eq!(faults, self.reference.read_diagnostics().unwrap().non_finite_count, "{what}");
        let slack = if is_exact(self.gpu) { 0.0 } else { roundings(&self.reference.read_positions().unwrap()) };
        let tolerance = if is_exact(self.gpu) { 0.0 } else { tolerance };
        let Settings { dt, substeps, .. } = *self.reference.settings();
        let axes = |rows: Vec<[f32; 4]>| rows.into_iter().map(|[x, y, z, _]| [x, y, z]).collect::<Vec<_>>();
        for (name, on_gpu, on_reference, slack) in [
            ("position", self.solver.read_positions().unwrap(), self.reference.read_positions().unwrap(), slack),
            (
                "displacement",
                self.solver.read_displacements().unwrap(),
                self.reference.read_displacements().unwrap(),
                slack,
            ),
            (
                "velocity",
                self.solver.read_velocities().unwrap(),
                self.reference.read_velocities().unwrap(),
                slack * substeps as f32 / dt,
            ),
            (
                "orientation",
                axes(self.solver.read_orientations().unwrap()),
                axes(self.reference.read_orientations().unwrap()),
                slack,
            ),
            (
                "angular velocity",
                self.solver.read_angular_velocities().unwrap(),
                self.reference.read_angular_velocities().unwrap(),
                slack * substeps as f32 / dt,
            ),
        ] {
            let unequal = first_apart(&on_gpu, &on_reference, tolerance, slack);
            let rows = unequal.map(|particle| (particle, on_gpu[particle], on_reference[particle]));
            assert!(rows.is_none(), "{what}: {name} of {rows:?}");
        }
    }

    /// The passes of `steps` steps.
    pub fn passes(&self, steps: u32) -> Vec<Pass> {
        let plan = self.reference.plan();
        let substeps = self.reference.settings().substeps;
        (0..steps).flat_map(|step| plan.step(substeps, step)).collect()
    }
}

/// The first particle at which two lists differ by more than `tolerance` of the largest component.
pub fn first_unequal(left: &[[f32; 3]], right: &[[f32; 3]], tolerance: f32) -> Option<usize> {
    first_apart(left, right, tolerance, 0.0)
}

/// The rounding error \[m\] of positions of this size. Adapters with other roundings differ by as much, even for small
/// displacements.
pub fn roundings(positions: &[[f32; 3]]) -> f32 {
    32.0 * f32::EPSILON * positions.iter().flatten().fold(1f32, |size, component| size.max(component.abs()))
}

/// The first particle at which two lists differ by more than `tolerance` of the largest component, plus `slack`.
pub fn first_apart(left: &[[f32; 3]], right: &[[f32; 3]], tolerance: f32, slack: f32) -> Option<usize> {
    assert_eq!(left.len(), right.len());
    left.iter().zip(right).position(|(left, right)| {
        let size = left.iter().chain(right).fold(0f32, |size, component| size.max(component.abs()));
        (0..3).any(|axis| {
            let difference = (left[axis] - right[axis]).abs();
            difference.is_nan() || difference > tolerance * size + slack
        })
    })
}

/// Returns true if the adapter computes `f32` exactly as the CPU, as Mesa's software driver does. Parity is then
/// bitwise.
pub fn is_exact(gpu: &Context) -> bool {
    gpu.adapter.get_info().name.contains("llvmpipe")
}

/// Σ m v [kg m/s].
pub fn momentum(scene: &Scene, velocities: &[[f32; 3]]) -> [f64; 3] {
    let mut sum = [0f64; 3];
    for (velocity, &w) in velocities.iter().zip(scene.inverse_masses()) {
        (0..3).for_each(|axis| sum[axis] += f64::from(velocity[axis]) / f64::from(w));
    }
    sum
}

/// A row of particles along `direction`, `spacing` apart, connected by distance constraints; the first is pinned.
pub fn chain(count: u32, spacing: f32, direction: [f32; 3], mass: f32, material: Material) -> (Scene, Range<u32>) {
    let mut scene = Scene::new();
    for link in 0..count {
        let position = direction.map(|component| component * spacing * link as f32);
        let particle = Particle { position, inverse_mass: 1.0 / mass, ..Particle::default() };
        scene.add_particle(particle).unwrap();
    }
    for link in 1..count {
        scene.add(Distance { particles: [link - 1, link], rest_length: spacing }, material).unwrap();
    }
    scene.pin(0).unwrap();
    (scene, 0..count - 1)
}

/// The scene on both backends.
pub fn backends(gpu: &Context, scene: &Scene, settings: Settings) -> [Box<dyn Simulation>; 2] {
    [Box::new(Reference::new(scene, settings).unwrap()), Box::new(solver(gpu, scene, settings))]
}

/// The time for which this thread has run on a CPU, so that other load does not count. Where the system has no such
/// count, the time since the first call.
pub fn thread_time() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = statistics.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// |a − b| [m], computed in f64.
pub fn distance(a: [f32; 3], b: [f32; 3]) -> f64 {
    (0..3).map(|axis| (f64::from(a[axis]) - f64::from(b[axis])).powi(2)).sum::<f64>().sqrt()
}

/// A fixed pseudorandom number in −1 to 1.
pub fn noise(seed: u32) -> f32 {
    let mixed = seed.wrapping_mul(2_654_435_761) ^ 0x9e37_79b9;
    let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(2_246_822_519);
    ((mixed >> 8) & 0xffff) as f32 / 32_767.5 - 1.0
}

/// Pairs of sheets of 16 × 16 particles, 3 m apart; the upper sheet of each pair intersects the lower one. `depths`
/// gives the depth of each upper particle below its free height as a function of x and z. A pair has 512 particles.
pub fn tangles(thickness: f32, depths: &[&dyn Fn(f32, f32) -> f32]) -> Scene {
    let mut scene = Scene::new();
    let material = ContactMaterial { thickness, ..ContactMaterial::default() };
    let material = scene.add_contact_material(material).unwrap();
    let sheet = |origin, column_axis, row_axis| ClothGrid {
        columns: 16,
        rows: 16,
        origin,
        column_axis,
        row_axis,
        tethers: None,
        ..ClothGrid::default()
    };
    for (index, depth) in depths.iter().enumerate() {
        let aside = 3.0 * index as f32;
        let below = sheet([aside - 0.5, 0.0, -0.5], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
        let above = sheet([aside - 0.37, 2.0 * thickness, -0.31], [0.7, 0.0, 0.05], [0.03, 0.0, 0.7]);
        for grid in [below, above] {
            let cloth = scene.add_cloth_grid(&grid).unwrap();
            scene.set_particle_contact(cloth.particles.clone(), material).unwrap();
            crumple(&mut scene, cloth.particles, 1e-3);
        }
        let first = 512 * index as u32;
        for particle in first + 256..first + 512 {
            let [x, y, z] = scene.positions()[particle as usize];
            scene.set_position(particle, [x, y - depth(x - aside, z), z]).unwrap();
        }
    }
    scene
}

/// A fine cloth that falls on a floor of two triangles of 10 m. A tent lies under it, and a fast triangle crosses it.
/// If `entangled`, a blade of 1 m intersects the cloth at the start.
pub fn sizes(columns: u32, entangled: bool) -> Scene {
    let mut scene = Scene::new();
    let thin = ContactMaterial { thickness: 0.01, ..ContactMaterial::default() };
    let thin = scene.add_contact_material(thin).unwrap();
    let side = 0.02 * (columns - 1) as f32;
    let grid = ClothGrid {
        columns,
        rows: columns,
        origin: [-0.5 * side, 0.2, -0.5 * side],
        column_axis: [side, 0.0, 0.0],
        row_axis: [0.0, 0.02, side],
        tethers: None,
        ..ClothGrid::default()
    };
    let cloth = scene.add_cloth_grid(&grid).unwrap().particles;
    crumple(&mut scene, cloth.clone(), 1e-3);
    cloth.for_each(|particle| scene.set_velocity(particle, [0.0, -1.5, 0.0]).unwrap());
    let mut add = |positions: &[[f32; 3]], triangles: &[[u32; 3]], velocity: [f32; 3], held: bool| {
        let mesh = ClothMesh { positions, triangles, fabric: Fabric::default(), tethers: None };
        for particle in scene.add_cloth_mesh(&mesh).unwrap().particles {
            scene.set_velocity(particle, velocity).unwrap();
            if held {
                scene.pin(particle).unwrap();
            }
        }
    };
    let floor = [[-5.0, 0.0, -5.1], [5.0, 0.0, -5.0], [5.0, 0.0, 5.0], [-5.0, 0.0, 5.0]];
    add(&floor, &[[0, 2, 1], [0, 3, 2]], [0.0; 3], true);
    let tent = [[-0.08, 0.02, -0.05], [0.09, 0.02, -0.06], [0.0, 0.02, 0.1], [0.01, 0.12, 0.0]];
    add(&tent, &[[0, 1, 3], [1, 2, 3], [2, 0, 3]], [0.0; 3], true);
    let dart = [[-0.3, 0.25, 0.02], [-0.26, 0.25, 0.01], [-0.27, 0.26, 0.05]];
    add(&dart, &[[0, 1, 2]], [8.0, -3.0, 0.0], false);
    if entangled {
        add(&[[0.03, -0.4, -0.6], [0.04, 1.0, 0.1], [0.05, -0.4, 0.6]], &[[0, 1, 2]], [0.0; 3], true);
    }
    scene.set_particle_contact(0..scene.particle_count() as u32, thin).unwrap();
    scene
}
