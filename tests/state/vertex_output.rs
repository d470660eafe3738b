//! Vertex outputs: positions, normals and tangents in vertex buffers of the program, through a table of particles.

use crate::common::{gpu, gpu_with, solver, words};
use glam::{DVec3, Vec3};
use supple::gpu::{Context, VertexOutput, VertexTarget};
use supple::scene::{Weld, weld};
use supple::{ClothGrid, ClothMesh, Error, Fabric, Rod, RodMaterial, Scene, Settings, Solver, wgpu};
use wgpu::VertexFormat::{Float32x2, Float32x3, Float32x4};
use wgpu::{BufferUsages, VertexFormat};

/// Bits of the words that no output writes.
const UNTOUCHED: u32 = 0x7fc0_1234;

/// A tube with a texture seam: the vertices of the first column are repeated behind the last one, with u = 1.
struct Tube {
    positions: Vec<[f32; 3]>,
    texture: Vec<[f32; 2]>,
    triangles: Vec<[u32; 3]>,
    rows: u32,
}

impl Tube {
    const COLUMNS: u32 = 12;

    fn new(rows: u32) -> Self {
        let columns = Self::COLUMNS;
        let (mut positions, mut texture, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..rows {
            for column in 0..=columns {
                let angle = std::f32::consts::TAU * (column % columns) as f32 / columns as f32;
                let (sin, cos) = angle.sin_cos();
                let bulge = 0.3 + 0.02 * (row as f32 * 1.7 + angle).sin();
                positions.push([bulge * cos, -0.1 * row as f32, bulge * sin]);
                texture.push([column as f32 / columns as f32, row as f32 / rows as f32 * 0.7]);
            }
        }
        let at = |row: u32, column: u32| row * (columns + 1) + column;
        for (row, column) in (0..rows - 1).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let [a, b] = [at(row, column), at(row, column + 1)];
            let [c, d] = [at(row + 1, column), at(row + 1, column + 1)];
            triangles.extend([[a, b, c], [b, d, c]]);
        }
        Self { positions, texture, triangles, rows }
    }

    /// The welded tube, which hangs by its first row, and the particle of each vertex.
    fn scene(&self) -> (Scene, Vec<u32>) {
        let mut scene = Scene::new();
        // The particles do not begin at 0.
        scene
            .add_cloth_grid(&ClothGrid { columns: 3, rows: 3, origin: [5.0, 0.0, 0.0], ..Default::default() })
            .unwrap();
        let welded = weld(&self.positions, &self.triangles, 0.0).unwrap();
        assert_eq!(welded.positions.len() as u32, self.rows * Self::COLUMNS);
        let Weld { positions, triangles, .. } = &welded;
        let mesh = ClothMesh { positions, triangles, fabric: Fabric::COTTON, tethers: None };
        let cloth = scene.add_cloth_mesh(&mesh).unwrap();
        assert_eq!(cloth.report.coincident_vertices, 0);
        let particles = welded.particles(cloth.particles.start);
        particles[..Self::COLUMNS as usize].iter().for_each(|&particle| scene.pin(particle).unwrap());
        (scene, particles)
    }
}

/// A vertex buffer of the program, filled with `UNTOUCHED`.
fn vertex_buffer(gpu: &Context, size: u64, usage: BufferUsages) -> wgpu::Buffer {
    let usage = usage | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
    let descriptor = wgpu::BufferDescriptor { label: Some("vertices"), size, usage, mapped_at_creation: false };
    let buffer = gpu.device.create_buffer(&descriptor);
    gpu.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&vec![UNTOUCHED; size as usize / 4]));
    buffer
}

/// The output of the tests: 20 bytes before the first vertex; per vertex 56 bytes with position, normal, texture coordinates, tangent, and a
/// word between.
struct Interleaved {
    buffer: wgpu::Buffer,
}

impl Interleaved {
    const BASE: usize = 5;
    const STRIDE: usize = 14;

    fn new(gpu: &Context, vertices: usize) -> Self {
        let words = Self::BASE + Self::STRIDE * vertices;
        Self { buffer: vertex_buffer(gpu, words as u64 * 4, BufferUsages::STORAGE | BufferUsages::VERTEX) }
    }

    fn target(&self, word: usize, format: VertexFormat) -> Option<VertexTarget<'_>> {
        let (offset, stride) = ((Self::BASE + word) as u64 * 4, Self::STRIDE as u64 * 4);
        Some(VertexTarget { buffer: &self.buffer, offset, stride, format })
    }

    fn output<'a>(&'a self, tube: &'a Tube, particles: &'a [u32]) -> VertexOutput<'a> {
        VertexOutput {
            vertices: particles,
            triangles: &tube.triangles,
            texture_coordinates: Some(&tube.texture),
            positions: self.target(0, Float32x3),
            normals: self.target(3, Float32x4),
            tangents: self.target(9, Float32x4),
            ..VertexOutput::EMPTY
        }
    }

    /// Positions and normals equal those of the solver bit for bit; returns the tangents.
    fn check(&self, gpu: &Context, solver: &Solver, particles: &[u32]) -> Vec<[f32; 4]> {
        let words = words(gpu, &self.buffer);
        let (positions, normals) = (solver.read_positions().unwrap(), solver.read_normals().unwrap());
        assert!(words[..Self::BASE].iter().all(|&word| word == UNTOUCHED));
        let vertices = words[Self::BASE..].chunks_exact(Self::STRIDE).zip(particles);
        vertices
            .map(|(vertex, &particle)| {
                assert_eq!(vertex[..3], positions[particle as usize].map(f32::to_bits), "particle {particle}");
                assert_eq!(vertex[3..6], normals[particle as usize].map(f32::to_bits), "particle {particle}");
                assert_eq!(vertex[6], 0, "the fourth component of a normal");
                assert_eq!([vertex[7], vertex[8], vertex[13]], [UNTOUCHED; 3]);
                std::array::from_fn(|k| f32::from_bits(vertex[9 + k]))
            })
            .collect()
    }
}

#[test]
fn an_output_of_velocities_equals_those_of_the_solver_bit_for_bit() {
    let (gpu, tube) = (gpu(), Tube::new(5));
    let (scene, particles) = tube.scene();
    let mut solver = solver(&gpu, &scene, Settings::default());
    let own = Interleaved::new(&gpu, particles.len());
    let velocities = own.target(2, Float32x4);
    solver.add_vertex_output(&VertexOutput { vertices: &particles, velocities, ..VertexOutput::EMPTY }).unwrap();
    let pinned = particles[3];
    solver.pin(&[pinned]).unwrap();
    let [x, y, z] = scene.positions()[pinned as usize];
    solver.set_target(pinned, [x + 0.01, y, z]).unwrap();
    solver.step(7);
    let check = |solver: &Solver| {
        let (words, expected) = (words(&gpu, &own.buffer), solver.read_velocities().unwrap());
        let vertices = words[Interleaved::BASE..].chunks_exact(Interleaved::STRIDE);
        for (vertex, &particle) in vertices.zip(&particles) {
            assert_eq!(vertex[2..5], expected[particle as usize].map(f32::to_bits), "particle {particle}");
            assert_eq!((vertex[5], vertex[1], vertex[6]), (0, UNTOUCHED, UNTOUCHED));
        }
        assert!(expected.iter().flatten().any(|&component| component != 0.0));
        expected[pinned as usize]
    };
    check(&solver);
    // A particle that loses its target stands still, before the next step too.
    solver.set_target(pinned, [x + 0.02, y, z]).unwrap();
    solver.step(1);
    assert!(check(&solver)[0] > 0.0);
    solver.clear_targets(&[pinned]).unwrap();
    solver.step(0);
    assert_eq!(check(&solver), [0.0; 3]);
}

/// The tangents in f64, from the definition: ∂x/∂u of each triangle times the magnitude of its area in texture coordinates.
fn expected_tangents(tube: &Tube, particles: &[u32], positions: &[[f32; 3]], normals: &[[f32; 3]]) -> Vec<DVec3> {
    let mut sums = vec![DVec3::ZERO; particles.len()];
    for triangle in &tube.triangles {
        let x = triangle.map(|v| Vec3::from(positions[particles[v as usize] as usize]).as_dvec3());
        let [a, b, c] = triangle.map(|v| tube.texture[v as usize].map(f64::from));
        let ([u1, v1], [u2, v2]) = ([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]);
        let area = u1 * v2 - u2 * v1;
        let along_u = ((x[1] - x[0]) * v2 - (x[2] - x[0]) * v1) / area;
        triangle.iter().for_each(|&vertex| sums[vertex as usize] += along_u * area.abs());
    }
    let across = |(sum, &particle): (DVec3, &u32)| {
        let n = Vec3::from(normals[particle as usize]).as_dvec3();
        (sum - n * n.dot(sum)).normalize()
    };
    sums.into_iter().zip(particles).map(across).collect()
}

#[test]
fn an_interleaved_output_equals_positions_and_normals_bit_for_bit_through_the_table() {
    let (gpu, tube) = (gpu(), Tube::new(6));
    let (scene, particles) = tube.scene();
    let mut solver = solver(&gpu, &scene, Settings::default());
    let interleaved = Interleaved::new(&gpu, particles.len());
    let bytes = solver.memory_bytes();
    solver.add_vertex_output(&interleaved.output(&tube, &particles)).unwrap();
    assert!(solver.memory_bytes() > bytes, "the tables are counted");
    // No step: only the output.
    solver.step(0);
    interleaved.check(&gpu, &solver, &particles);
    solver.step(5);
    interleaved.check(&gpu, &solver, &particles);
    // Each change of positions is written by the next call, also without a step.
    let moved: Vec<[f32; 3]> =
        solver.read_positions().unwrap().iter().map(|&[x, y, z]| [x + 0.1 * y, y, z - 0.2 * x]).collect();
    let changes: [&dyn Fn(&mut Solver); 3] = [
        &|solver| solver.set_positions(0, &moved).unwrap(),
        &|solver| solver.shift_origin([3.0, 0.5, -2.0]).unwrap(),
        &|solver| solver.reset(),
    ];
    for change in changes {
        change(&mut solver);
        solver.step(0);
        interleaved.check(&gpu, &solver, &particles);
    }
}

#[test]
fn tangents_follow_u_are_orthogonal_to_the_normal_and_equal_a_host_computation() {
    let (gpu, mut tube) = (gpu(), Tube::new(6));
    for mirrored in [false, true] {
        if mirrored {
            tube.texture.iter_mut().for_each(|uv| uv[0] *= -1e-4);
        }
        let (scene, particles) = tube.scene();
        let mut solver = solver(&gpu, &scene, Settings::default());
        let interleaved = Interleaved::new(&gpu, particles.len());
        solver.add_vertex_output(&interleaved.output(&tube, &particles)).unwrap();
        solver.step(20);
        let tangents = interleaved.check(&gpu, &solver, &particles);
        let (positions, normals) = (solver.read_positions().unwrap(), solver.read_normals().unwrap());
        let expected = expected_tangents(&tube, &particles, &positions, &normals);
        let handedness = tangents[0][3];
        for (vertex, &[x, y, z, h]) in tangents.iter().enumerate() {
            let tangent = DVec3::new(x.into(), y.into(), z.into());
            assert!((tangent - expected[vertex]).length() < 1e-4, "{vertex}: {tangent} {}", expected[vertex]);
            let n = Vec3::from(normals[particles[vertex] as usize]).as_dvec3();
            assert!(tangent.dot(n).abs() < 1e-5 && (tangent.length() - 1.0).abs() < 1e-5);
            assert_eq!(h, handedness);
        }
        // v increases downwards.
        let n = Vec3::from(normals[particles[0] as usize]);
        let [x, y, z, h] = tangents[0];
        assert!((n.cross(Vec3::new(x, y, z)) * h).y < -0.5, "mirrored: {mirrored}");
    }
}

#[test]
fn a_tangent_without_a_direction_of_u_is_a_unit_vector_across_the_normal() {
    let (gpu, mut tube) = (gpu(), Tube::new(3));
    tube.texture.fill([0.5, 0.5]);
    let (scene, particles) = tube.scene();
    let mut solver = solver(&gpu, &scene, Settings::default());
    let interleaved = Interleaved::new(&gpu, particles.len());
    solver.add_vertex_output(&interleaved.output(&tube, &particles)).unwrap();
    solver.step(1);
    let normals = solver.read_normals().unwrap();
    for ([x, y, z, h], &particle) in interleaved.check(&gpu, &solver, &particles).into_iter().zip(&particles) {
        let (tangent, n) = (Vec3::new(x, y, z), Vec3::from(normals[particle as usize]));
        assert!(tangent.dot(n).abs() < 1e-6 && (tangent.length() - 1.0).abs() < 1e-6 && h == 1.0);
    }
}

#[test]
fn a_garment_that_is_split_along_texture_seams_stays_together_and_the_split_is_reported() {
    let (gpu, tube) = (gpu(), Tube::new(6));
    let mut split = Scene::new();
    let mesh =
        ClothMesh { positions: &tube.positions, triangles: &tube.triangles, fabric: Fabric::COTTON, tethers: None };
    assert_eq!(split.add_cloth_mesh(&mesh).unwrap().report.coincident_vertices, tube.rows);
    let (scene, particles) = tube.scene();
    let mut solver = solver(&gpu, &scene, Settings::default());
    let buffer = vertex_buffer(&gpu, particles.len() as u64 * 16, BufferUsages::STORAGE);
    let positions = Some(VertexTarget { buffer: &buffer, offset: 0, stride: 16, format: Float32x4 });
    solver.add_vertex_output(&VertexOutput { vertices: &particles, positions, ..VertexOutput::EMPTY }).unwrap();
    solver.step(30);
    let words = words(&gpu, &buffer);
    let row = 4 * (Tube::COLUMNS as usize + 1);
    let start = solver.read_positions().unwrap()[particles[0] as usize];
    assert_eq!(words[..3], start.map(f32::to_bits));
    for vertices in words.chunks_exact(row) {
        assert_eq!(vertices[..4], vertices[row - 4..], "both sides of the seam");
        assert_eq!(f32::from_bits(vertices[3]), 1.0);
    }
}

#[test]
fn outputs_are_independent_and_a_removed_one_is_no_longer_written() {
    let (gpu, tube) = (gpu(), Tube::new(4));
    let (scene, particles) = tube.scene();
    let mut solver = solver(&gpu, &scene, Settings::default());
    let [first, second] = [0, 1].map(|_| Interleaved::new(&gpu, particles.len()));
    let id = solver.add_vertex_output(&first.output(&tube, &particles)).unwrap();
    solver.add_vertex_output(&second.output(&tube, &particles)).unwrap();
    solver.step(3);
    assert_eq!(words(&gpu, &first.buffer), words(&gpu, &second.buffer));
    let before = words(&gpu, &first.buffer);
    solver.remove_vertex_output(id).unwrap();
    first.buffer.destroy();
    solver.step(3);
    assert_ne!(words(&gpu, &second.buffer), before);
    second.check(&gpu, &solver, &particles);
    let again = solver.remove_vertex_output(id);
    assert!(matches!(again, Err(Error::NoVertexOutput { number: 1 })), "{again:?}");
}

/// The errors of outputs with other targets of positions.
fn target_errors(solver: &mut Solver, good: &VertexOutput<'_>, plain: &wgpu::Buffer) -> Vec<(String, &'static str)> {
    let target = good.positions.unwrap();
    let velocities = solver.velocities().clone();
    let cases = [
        (VertexTarget { offset: 80, ..target }, " is a buffer of 2204 bytes, but 2220 bytes are written"),
        (VertexTarget { stride: 8, ..target }, " is 8, but must be at least 12 bytes, the size of Float32x3"),
        (
            VertexTarget { stride: 12, format: Float32x4, ..target },
            " is 12, but must be at least 16 bytes, the size of Float32x4",
        ),
        (VertexTarget { stride: 30, ..target }, " is 30, but must be a multiple of 4 bytes"),
        (VertexTarget { offset: 6, ..target }, " is 6, but must be a multiple of 4 bytes"),
        (
            VertexTarget { format: Float32x2, ..target },
            " has the format Float32x2; supported are Float32x3 and Float32x4",
        ),
        (
            VertexTarget { buffer: plain, ..target },
            " is a buffer without the usage STORAGE; create it with wgpu::BufferUsages::STORAGE",
        ),
        (VertexTarget { buffer: &velocities, ..target }, " is a buffer of the solver; create another one"),
    ];
    let error = |target| {
        let output = VertexOutput { positions: Some(target), ..*good };
        solver.add_vertex_output(&output).unwrap_err().to_string()
    };
    let (targets, expected): (Vec<_>, Vec<_>) = cases.into_iter().unzip();
    targets.into_iter().map(error).zip(expected).collect()
}

#[test]
fn a_vertex_output_that_does_not_fit_is_an_error_that_names_the_target_and_the_numbers() {
    let (gpu, tube) = (gpu(), Tube::new(3));
    let (scene, particles) = tube.scene();
    let mut solver = solver(&gpu, &scene, Settings::default());
    let interleaved = Interleaved::new(&gpu, particles.len());
    let good = interleaved.output(&tube, &particles);
    let plain = vertex_buffer(&gpu, 4096, BufferUsages::VERTEX);
    for (message, expected) in target_errors(&mut solver, &good, &plain) {
        assert!(message.contains("the target of positions of a vertex output"), "{message}");
        assert!(message.ends_with(expected), "{message}");
    }
    let (mut distant, mut outside, mut unset) = (particles.clone(), tube.triangles.clone(), tube.texture.clone());
    (distant[4], outside[1][2], unset[3][1]) = (1000, 39, f32::NAN);
    let few = Some(&tube.texture[1..]);
    let outputs = [
        (VertexOutput { vertices: &[], ..good }, "the vertex list of a vertex output is empty"),
        (
            VertexOutput { vertices: &particles, ..VertexOutput::EMPTY },
            "the list of targets of a vertex output is empty",
        ),
        (
            VertexOutput { vertices: &distant, ..good },
            "vertex 4 of a vertex output names particle 1000, but there are only 45",
        ),
        (
            VertexOutput { triangles: &outside, ..good },
            "triangle 1 of a vertex output names vertex 39, but there are only 39",
        ),
        (VertexOutput { triangles: &[], ..good }, "the triangle list of a vertex output with tangents is empty"),
        (
            VertexOutput { positions: interleaved.target(1, Float32x3), ..good },
            "offset of the target of normals of a vertex output is 32, but must be outside of the other attributes of the vertex",
        ),
        (
            VertexOutput { tangents: interleaved.target(6, Float32x4), ..good },
            "offset of the target of tangents of a vertex output is 44, but must be outside of the other attributes of the vertex",
        ),
        (
            VertexOutput { texture_coordinates: None, ..good },
            "a vertex output of tangents needs VertexOutput::texture_coordinates",
        ),
        (
            VertexOutput { texture_coordinates: few, ..good },
            "texture coordinates and vertices of a vertex output: 38 against 39 entries",
        ),
        (
            VertexOutput { texture_coordinates: Some(&unset), ..good },
            "texture coordinate of vertex 3 of a vertex output is NaN, but must be finite",
        ),
    ];
    for (output, expected) in outputs {
        assert_eq!(solver.add_vertex_output(&output).unwrap_err().to_string(), expected);
    }
    // Targets of different strides overlap somewhere if their ranges meet.
    let normals = good.normals.map(|target| VertexTarget { stride: target.stride / 2, ..target });
    let error = solver.add_vertex_output(&VertexOutput { normals, ..good }).unwrap_err().to_string();
    assert!(error.ends_with("must be outside of the other attributes of the vertex"), "{error}");
    solver.step(1);
    assert!(words(&gpu, &interleaved.buffer).iter().all(|&word| word == UNTOUCHED), "nothing was added");
}

#[test]
fn the_frames_of_rods_are_no_target() {
    let gpu = gpu();
    let mut scene = Scene::new();
    let points = [[0.0; 3], [0.1, 0.0, 0.0], [0.2, 0.0, 0.0]];
    scene.add_rod(&Rod::new(&points, RodMaterial::round(0.005, 1e6, 0.3, 1000.0))).unwrap();
    let mut solver = solver(&gpu, &scene, Settings::default());
    let frames = solver.frames().clone();
    let target = VertexTarget { buffer: &frames, offset: 0, stride: 16, format: Float32x4 };
    let output = VertexOutput { vertices: &[0], positions: Some(target), ..VertexOutput::EMPTY };
    assert!(matches!(solver.add_vertex_output(&output), Err(Error::SolverBuffer { .. })));
}

#[test]
fn targets_may_follow_each_other_in_one_buffer() {
    let (gpu, tube) = (gpu(), Tube::new(3));
    let (scene, particles) = tube.scene();
    let mut solver = solver(&gpu, &scene, Settings::default());
    let size = 12 * particles.len() as u64;
    let buffer = vertex_buffer(&gpu, 2 * size, BufferUsages::STORAGE);
    let target = |offset| Some(VertexTarget { buffer: &buffer, offset, stride: 12, format: Float32x3 });
    let output = |positions, normals| VertexOutput { vertices: &particles, positions, normals, ..VertexOutput::EMPTY };
    let error = solver.add_vertex_output(&output(target(0), target(size - 8))).unwrap_err().to_string();
    assert!(error.contains("must be outside of the other attributes"), "{error}");
    solver.add_vertex_output(&output(target(0), target(size))).unwrap();
    solver.step(2);
    let words = words(&gpu, &buffer);
    let bits = |values: Vec<[f32; 3]>| {
        particles.iter().flat_map(|&it| values[it as usize].map(f32::to_bits)).collect::<Vec<_>>()
    };
    let expected = [bits(solver.read_positions().unwrap()), bits(solver.read_normals().unwrap())].concat();
    assert_eq!(words, expected);
}

#[test]
fn a_target_may_lie_anywhere_in_a_large_buffer_but_not_span_more_than_the_device_binds() {
    const ROOM: u64 = 1 << 16;
    let gpu = gpu_with(wgpu::Limits { max_storage_buffer_binding_size: ROOM, ..wgpu::Limits::default() });
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns: 4, rows: 4, ..ClothGrid::default() }).unwrap();
    let mut solver = Solver::new(&gpu.device, &gpu.queue, &scene, Settings::default()).unwrap();
    let buffer = vertex_buffer(&gpu, 2 * ROOM, BufferUsages::STORAGE);
    let particles: Vec<u32> = (0..16).collect();
    let mut add = |offset, stride| {
        let positions = Some(VertexTarget { buffer: &buffer, offset, stride, format: Float32x3 });
        solver.add_vertex_output(&VertexOutput { vertices: &particles, positions, ..VertexOutput::EMPTY })
    };
    let offset = buffer.size() - 16 * 12;
    add(offset, 12).unwrap();
    let Err(Error::LimitExceeded { limit, needed, available, .. }) = add(0, 4372) else { panic!("no error") };
    assert_eq!((limit, needed, available), ("max_storage_buffer_binding_size", 15 * 4372 + 12, ROOM));
    solver.step(2);
    let last = words(&gpu, &buffer)[(buffer.size() / 4 - 3) as usize..].to_vec();
    assert_eq!(last, solver.read_positions().unwrap()[15].map(f32::to_bits));
}

/// A detailed strip beside the tube: eight vertices a row of triangles, outside and inside of it.
struct Detail {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
    texture: Vec<[f32; 2]>,
}

fn detail(tube: &Tube) -> Detail {
    let (mut positions, mut normals, mut texture) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..40 {
        let angle = 0.31 * k as f32;
        let (sin, cos) = angle.sin_cos();
        let (radius, height) =
            (0.3 + 0.02 * (k % 5) as f32 - 0.04, -0.02 - 0.1 * (tube.rows - 2) as f32 * k as f32 / 40.0);
        positions.push([radius * cos, height, radius * sin]);
        normals.push(Vec3::new(cos, 0.3, sin).normalize().into());
        texture.push([angle, height]);
    }
    let triangles = (0..38).map(|k| [k, k + 1, k + 2]).collect();
    Detail { positions, normals, triangles, texture }
}

#[test]
fn a_detailed_mesh_follows_a_coarse_cloth_as_the_host_computes_it() {
    use supple::scene::{BoundMesh, DetailMesh};
    let (gpu, tube) = (gpu(), Tube::new(8));
    let (scene, _) = tube.scene();
    let Detail { positions, normals, triangles, texture } = detail(&tube);
    let mesh = DetailMesh {
        positions: &positions,
        normals: &normals,
        triangles: &triangles,
        texture_coordinates: Some(&texture),
    };
    let bound = BoundMesh::new(&scene, scene.triangles(), &mesh).unwrap();
    // At rest the mesh is where it was.
    let rest: Vec<_> = scene.rest_poses();
    let rest_normals: Vec<[f32; 3]> = rest.iter().map(|pose| pose.normal).collect();
    for (vertex, placed) in bound.placed(scene.positions(), &rest_normals).unwrap().iter().enumerate() {
        assert!(Vec3::from(placed.position).distance(positions[vertex].into()) < 1e-6);
        assert!(Vec3::from(placed.normal).distance(normals[vertex].into()) < 1e-6);
    }
    let mut solver = solver(&gpu, &scene, Settings::default());
    let buffer = Interleaved::new(&gpu, positions.len());
    let output = VertexOutput {
        bound: Some(&bound),
        positions: buffer.target(0, Float32x3),
        normals: buffer.target(3, Float32x4),
        tangents: buffer.target(9, Float32x4),
        ..VertexOutput::EMPTY
    };
    solver.add_vertex_output(&output).unwrap();
    solver.step(20);
    let words = words(&gpu, &buffer.buffer);
    let (x, n) = (solver.read_positions().unwrap(), solver.read_normals().unwrap());
    let rows = words[Interleaved::BASE..].chunks_exact(Interleaved::STRIDE);
    for (row, expected) in rows.zip(bound.placed(&x, &n).unwrap()) {
        let at = |first: usize| Vec3::from_slice(&[0, 1, 2].map(|k| f32::from_bits(row[first + k])));
        assert!(at(0).distance(expected.position.into()) < 1e-6, "{expected:?}");
        assert!(at(3).distance(expected.normal.into()) < 1e-5, "{expected:?}");
        assert!(at(9).distance(Vec3::from_slice(&expected.tangent)) < 1e-5, "{expected:?}");
        assert!((at(3).length() - 1.0).abs() < 1e-5 && (at(9).length() - 1.0).abs() < 1e-5);
        assert_eq!([row[6], row[12]], [0, expected.tangent[3].to_bits()]);
        assert_eq!([row[7], row[8], row[13]], [UNTOUCHED; 3]);
    }
}

#[test]
fn a_bound_mesh_keeps_its_offsets_when_the_cloth_moves_rigidly() {
    use supple::scene::{BoundMesh, DetailMesh};
    let tube = Tube::new(6);
    let (scene, _) = tube.scene();
    let Detail { positions, normals, .. } = detail(&tube);
    let mesh = DetailMesh { positions: &positions, normals: &normals, triangles: &[], texture_coordinates: None };
    let bound = BoundMesh::new(&scene, scene.triangles(), &mesh).unwrap();
    let turn = glam::Quat::from_euler(glam::EulerRot::XYZ, 0.7, -1.1, 0.4);
    let offset = Vec3::new(0.3, -0.2, 0.9);
    let moved = |v: &[f32; 3]| turn * Vec3::from(*v);
    let x: Vec<[f32; 3]> = scene.positions().iter().map(|x| (moved(x) + offset).into()).collect();
    let n: Vec<[f32; 3]> = scene.rest_poses().iter().map(|pose| moved(&pose.normal).into()).collect();
    for (placed, (position, normal)) in bound.placed(&x, &n).unwrap().iter().zip(positions.iter().zip(&normals)) {
        assert!(Vec3::from(placed.position).distance(moved(position) + offset) < 2e-6);
        assert!(Vec3::from(placed.normal).distance(moved(normal)) < 2e-6);
    }
}

#[test]
fn a_bad_bound_mesh_is_an_error() {
    use supple::scene::{BoundMesh, BoundVertex, DetailMesh};
    let (gpu, tube) = (gpu(), Tube::new(4));
    let (scene, _) = tube.scene();
    let good = DetailMesh { positions: &[[0.0; 3]], normals: &[[0.0; 3]], triangles: &[], texture_coordinates: None };
    let bind = |mesh: &DetailMesh<'_>| BoundMesh::new(&scene, scene.triangles(), mesh);
    let fails = |mesh: DetailMesh<'_>| bind(&mesh).unwrap_err().to_string();
    let cases = [
        (fails(DetailMesh { positions: &[], ..good }), "the vertex list of a bound mesh is empty"),
        (fails(DetailMesh { normals: &[], ..good }), "positions and normals of a bound mesh: 1 against 0 entries"),
        (
            fails(DetailMesh { positions: &[[f32::NAN; 3]], ..good }),
            "position of vertex 0 of a bound mesh is NaN, but must be finite",
        ),
        (
            fails(DetailMesh { triangles: &[[0, 0, 1]], ..good }),
            "triangle 0 of a bound mesh names vertex 1, but there is only 1",
        ),
        (BoundMesh::new(&scene, &[], &good).unwrap_err().to_string(), "the list of triangles of a bound mesh is empty"),
        (
            BoundMesh::new(&scene, &[[0, 1, 999]], &good).unwrap_err().to_string(),
            "triangle 0 of the cloth of a bound mesh names particle 999, but there are only 57",
        ),
    ];
    for (error, expected) in cases {
        assert_eq!(error, expected);
    }
    let bound = bind(&good).unwrap();
    assert!(bound.placed(&[[0.0; 3]], &[[0.0; 3]]).is_err());
    let mut solver = solver(&gpu, &scene, Settings::default());
    let buffer = Interleaved::new(&gpu, 1);
    let tangents = VertexOutput { bound: Some(&bound), tangents: buffer.target(9, Float32x4), ..VertexOutput::EMPTY };
    let both = VertexOutput { vertices: &[0], positions: buffer.target(0, Float32x3), ..tangents };
    let far = BoundMesh { vertices: vec![BoundVertex { particles: [0, 1, 60], ..BoundVertex::default() }] };
    let far = VertexOutput { bound: Some(&far), positions: buffer.target(0, Float32x3), ..VertexOutput::EMPTY };
    let velocities = VertexOutput { velocities: buffer.target(0, Float32x3), tangents: None, ..tangents };
    let error = solver.add_vertex_output(&velocities).unwrap_err().to_string();
    assert_eq!(error, "a vertex output of velocities needs VertexOutput::vertices instead of bound ones");
    assert!(matches!(solver.add_vertex_output(&tangents), Err(Error::NotEnabled { .. })));
    assert!(matches!(solver.add_vertex_output(&both), Err(Error::LengthMismatch { .. })));
    assert!(matches!(solver.add_vertex_output(&far), Err(Error::IndexOutOfRange { index: 60, .. })));
}
