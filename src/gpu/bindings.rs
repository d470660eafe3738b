//! Which buffers each pass is bound to.

use super::buffers::Buffers;
use super::pipelines::{Pipelines, Stage};

#[derive(Debug)]
pub(super) struct Bindings {
    pub targets: wgpu::BindGroup,
    pub start: wgpu::BindGroup,
    pub accelerations: wgpu::BindGroup,
    pub body_damping: wgpu::BindGroup,
    pub follow: wgpu::BindGroup,
    pub predict: wgpu::BindGroup,
    pub velocity: wgpu::BindGroup,
    pub advance: wgpu::BindGroup,
    /// By which of the anchors are read, where there are any.
    pub advance_tethered: Option<[wgpu::BindGroup; 2]>,
    pub advance_pinned: Option<wgpu::BindGroup>,
    pub finish: wgpu::BindGroup,
    pub tether: wgpu::BindGroup,
    pub normals: wgpu::BindGroup,
    pub kinds: Vec<KindBindings>,
}

#[derive(Debug)]
pub(super) struct KindBindings {
    pub project: Option<wgpu::BindGroup>,
    pub stars: Option<wgpu::BindGroup>,
    pub tile: Option<wgpu::BindGroup>,
    pub cluster: Option<wgpu::BindGroup>,
    pub split: Option<wgpu::BindGroup>,
    /// Of the pass that clears the sums of λ, and of the one that adds to them.
    pub force_sums: Option<[wgpu::BindGroup; 2]>,
    pub gather_chunks: wgpu::BindGroup,
    pub gather_hubs: wgpu::BindGroup,
}

impl Bindings {
    pub fn new(device: &wgpu::Device, pipelines: &Pipelines, buffers: &Buffers) -> Self {
        let b = buffers;
        let bind = |stage: &Stage, buffers: &[&wgpu::Buffer]| stage.bind(device, buffers);
        let velocities = &pipelines.velocities;
        let motion = [&b.params, &b.positions, &b.displacements, &b.residuals];
        let kinds = pipelines.kinds.iter().zip(&b.kinds).map(|(stages, k)| {
            let project = vec![&b.positions, &b.displacements, &k.records, &b.materials, &k.lambdas];
            let stars = [project.as_slice(), &[&k.stars]].concat();
            let tile = [project.as_slice(), &[&k.tiles]].concat();
            let cluster = [project.as_slice(), &[&k.clusters]].concat();
            let split = [project.as_slice(), &[&k.shares, &k.impulses]].concat();
            let group = [project.as_slice(), &[&k.members, &k.impulses, &k.rotations]].concat();
            let gather = [&b.positions, &b.displacements, &k.impulses, &k.slots, &k.chunks, &k.sums, &k.hubs];
            let (project, split) = if k.is_group { (&group, &group) } else { (&project, &split) };
            let bind = |stage: &Stage, buffers: &[&wgpu::Buffer]| stage.bind_span(device, &b.spans, buffers);
            let sums = pipelines.force_sums.as_ref().zip(k.force_sums.as_ref());
            let bind_sums = |stage: &Stage, buffers: &[&wgpu::Buffer]| stage.bind(device, buffers);
            KindBindings {
                project: stages.project.as_ref().map(|stage| bind(stage, project)),
                stars: stages.stars.as_ref().map(|stage| bind(stage, &stars)),
                tile: stages.tile.as_ref().map(|stage| bind(stage, &tile)),
                cluster: stages.cluster.as_ref().map(|stage| bind(stage, &cluster)),
                split: stages.split.as_ref().map(|stage| bind(stage, split)),
                force_sums: sums.map(|([clear, add], b)| [bind_sums(clear, &[b]), bind_sums(add, &[b, &k.lambdas])]),
                gather_chunks: pipelines.gather_chunks.bind_span(device, &b.spans, &gather),
                gather_hubs: pipelines.gather_hubs.bind_span(device, &b.spans, &gather),
            }
        });
        Self {
            targets: bind(&pipelines.targets, &[&b.params, &b.targets, &b.positions, &b.velocities]),
            start: bind(&pipelines.start, &[&b.params, &b.velocities, &b.displacements, &b.residuals, &b.status]),
            accelerations: bind(
                &pipelines.accelerations,
                &[
                    &b.params,
                    &b.positions,
                    &b.displacements,
                    &b.ring_offsets,
                    &b.ring_corners,
                    &b.accelerations,
                    &b.status,
                    &b.forces,
                ],
            ),
            body_damping: bind(&pipelines.body_damping, &[&b.params, &b.positions, &b.displacements, &b.bodies]),
            follow: bind(
                &pipelines.follow,
                &[&b.params, &b.positions, &b.velocities, &b.followers, &b.displacements, &b.residuals],
            ),
            predict: bind(
                &pipelines.predict,
                &[&b.params, &b.positions, &b.accelerations, &b.displacements, &b.residuals],
            ),
            velocity: bind(&velocities.velocity, &motion),
            advance: bind(&velocities.advance, &motion),
            advance_tethered: velocities.advance_tethered.as_ref().map(|[stage, _]| {
                [0, 1].map(|side| {
                    let own = [&b.tether_runs, &b.tethers, &b.anchors[side], &b.anchors[1 - side]];
                    bind(stage, &[motion.as_slice(), &own].concat())
                })
            }),
            advance_pinned: velocities
                .advance_tethered
                .as_ref()
                .map(|[_, stage]| bind(stage, &[motion.as_slice(), &[&b.pins]].concat())),
            finish: bind(&pipelines.finish, &[&b.params, &b.displacements, &b.velocities, &b.residuals, &b.status]),
            tether: bind(
                &pipelines.tether,
                &[
                    &b.params,
                    &b.positions,
                    &b.displacements,
                    &b.tether_runs,
                    &b.tethers,
                    &b.pins,
                    &b.anchors[0],
                    &b.pulls,
                ],
            ),
            normals: bind(&pipelines.normals, &[&b.params, &b.positions, &b.ring_offsets, &b.ring_corners, &b.normals]),
            kinds: kinds.collect(),
        }
    }
}
