//! The passes of a vertex output: one per attribute, since a pass may not bind a writable buffer twice.

use super::buffers::Buffers;
use super::maker::Maker;
use super::recorder::Recorder;
use super::stage::Slot::{Read, Uniform, Write};
use super::stage::Stage;
use super::store::PipelineStore;
use super::vertex_output::{VertexOutput, VertexTarget};
use crate::error::Result;
use crate::geometry::TangentTable;
use crate::scene::{BoundMesh, BoundVertex};
use crate::schedule::compiled::check_loop;
use glam::Vec3;
use wgpu::BufferUsages;

const VECTORS: &str = concat!(
    include_str!("../../shaders/integrate/vertex_vectors.wgsl"),
    include_str!("../../shaders/integrate/shared/vertex.wgsl")
);

const TANGENTS: &str = concat!(
    include_str!("../../shaders/integrate/vertex_tangents.wgsl"),
    include_str!("../../shaders/integrate/shared/perpendicular.wgsl"),
    include_str!("../../shaders/integrate/shared/vertex.wgsl")
);

const BOUND: &str = concat!(
    include_str!("../../shaders/integrate/vertex_bound.wgsl"),
    include_str!("../../shaders/integrate/shared/perpendicular.wgsl"),
    include_str!("../../shaders/integrate/shared/vertex.wgsl")
);

/// `VertexStream` in `shaders/integrate/shared/vertex.wgsl`.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct VertexStream {
    vertex_count: u32,
    offset: u32,
    stride: u32,
    components: u32,
    last: u32,
    padding: [u32; 3],
}

/// The passes of a vertex output.
#[derive(Debug)]
pub(super) struct VertexPasses {
    passes: Vec<(Stage, wgpu::BindGroup)>,
    vertex_count: u32,
    /// Size of its own buffers [bytes].
    pub bytes: u64,
}

impl VertexPasses {
    /// The output must have been checked.
    pub fn new(
        store: &PipelineStore,
        queue: &wgpu::Queue,
        shared: &Buffers,
        output: &VertexOutput<'_>,
    ) -> Result<Self> {
        store.guarded(|| {
            let maker = Maker::new(store.device());
            let made = Made { store, queue, maker: &maker, count: output.count() as u32 };
            if let Some(mesh) = output.bound {
                let passes = made.bound(shared, mesh, output)?;
                return Ok(Self { passes, vertex_count: made.count, bytes: maker.made_bytes() });
            }
            let mut passes = Vec::new();
            let sources = [
                (output.positions, &shared.positions, 1f32),
                (output.normals, &shared.normals, 0.0),
                (output.velocities, &shared.velocities, 0.0),
            ];
            if sources.iter().any(|(target, ..)| target.is_some()) {
                let vertices = maker.filled(queue, "vertices", output.vertices, BufferUsages::STORAGE)?;
                for (target, source, last) in sources {
                    if let Some(target) = target {
                        passes.push(made.pass("vertex_vectors", VECTORS, &[source, &vertices], (target, last))?);
                    }
                }
            }
            if let (Some(target), Some(texture)) = (output.tangents, output.texture_coordinates) {
                let table = TangentTable::new(output.vertices, output.triangles, texture);
                check_loop("triangles at one vertex of a vertex output", table.most_corners().into(), 1)?;
                let rows = maker.filled(queue, "vertex_rows", &table.rows, BufferUsages::STORAGE)?;
                let corners = maker.filled(queue, "vertex_corners", &table.corners, BufferUsages::STORAGE)?;
                let read = [&shared.positions, &shared.normals, &rows, &corners];
                passes.push(made.pass("vertex_tangents", TANGENTS, &read, (target, 0.0))?);
            }
            Ok(Self { passes, vertex_count: made.count, bytes: maker.made_bytes() })
        })
    }

    pub fn record<'a>(&'a self, recorder: &mut Recorder<'a>) {
        for (stage, bindings) in &self.passes {
            recorder.dispatch(stage, bindings, &[], self.vertex_count);
        }
    }
}

/// Creates the passes.
struct Made<'a> {
    store: &'a PipelineStore,
    queue: &'a wgpu::Queue,
    maker: &'a Maker<'a>,
    count: u32,
}

impl Made<'_> {
    /// The passes of bound vertices.
    fn bound(
        &self,
        shared: &Buffers,
        mesh: &BoundMesh,
        output: &VertexOutput<'_>,
    ) -> Result<Vec<(Stage, wgpu::BindGroup)>> {
        let row = |vertex: &BoundVertex| {
            let ([a, b, c], [v, w]) = (vertex.particles, vertex.weights.map(f32::to_bits));
            [[a, b, c, 0], [v, w, 0, 0]]
        };
        let rows: Vec<[[u32; 4]; 2]> = mesh.vertices.iter().map(row).collect();
        let rows = self.maker.filled(self.queue, "bound_rows", &rows, BufferUsages::STORAGE)?;
        type Vector = fn(&BoundVertex) -> [f32; 4];
        let attributes: [(_, &str, Vector); 3] = [
            (output.positions, "vertex_bound_positions", |vertex| Vec3::from(vertex.offset).extend(1.0).into()),
            (output.normals, "vertex_bound_directions", |vertex| Vec3::from(vertex.normal).extend(0.0).into()),
            (output.tangents, "vertex_bound_directions", |vertex| vertex.tangent),
        ];
        let mut passes = Vec::new();
        for (target, entry, vector) in attributes {
            if let Some(target) = target {
                let vectors: Vec<[f32; 4]> = mesh.vertices.iter().map(vector).collect();
                let vectors = self.maker.filled(self.queue, "bound_vectors", &vectors, BufferUsages::STORAGE)?;
                let read = [&shared.positions, &shared.normals, &rows, &vectors];
                passes.push(self.pass(entry, BOUND, &read, (target, 0.0))?);
            }
        }
        Ok(passes)
    }

    /// A pass that reads some buffers and writes a target; `last` is the fourth component of copied vectors.
    fn pass(
        &self,
        entry: &str,
        text: &str,
        read: &[&wgpu::Buffer],
        (target, last): (VertexTarget<'_>, f32),
    ) -> Result<(Stage, wgpu::BindGroup)> {
        let device = self.store.device();
        let range = target.range(self.count.into(), &device.limits());
        let stream = VertexStream {
            vertex_count: self.count,
            offset: ((target.offset - range.start) / 4) as u32,
            stride: (target.stride / 4) as u32,
            components: (target.format.size() / 4) as u32,
            last: last.to_bits(),
            padding: [0; 3],
        };
        let stream = self.maker.filled(self.queue, "vertex_stream", &[stream], BufferUsages::UNIFORM)?;
        let slots = [[Uniform].as_slice(), &vec![Read; read.len()], &[Write]].concat();
        let stage = Stage::new(self.store, entry, entry, text, &slots, &[]);
        let size = wgpu::BufferSize::new(range.end - range.start);
        let written = wgpu::BufferBinding { buffer: target.buffer, offset: range.start, size };
        let bindings = stage.bind_before(device, &[[&stream].as_slice(), read].concat(), written);
        Ok((stage, bindings))
    }
}
