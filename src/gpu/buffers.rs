//! The buffers on the GPU.
//!
//! Positions, displacements, residuals, velocities and forces have a row for each particle, then one for each orientation
//! (`shaders/integrate/orientations.wgsl`).
//!
//! | buffer | element | written by | read by |
//! |---|---|---|---|
//! | positions | `vec4`: x \[m\], inverse mass [1/kg] | velocity, apply_restitution, follow, collide, apply_triangle_contacts, shift, passes of orientations | most passes, the caller's renderer |
//! | displacements | `vec4`: d \[m\], 0 | start, predict, projections, solve_attachments, restore_momentum, solve_tethers, passes of contacts, velocity, body_damping, follow, passes of skinned particles and orientations | most passes |
//! | residuals | `vec4<u32>`: rounding errors of x and d and the quarantine mark, packed | all passes that move particles or orientations | the same, collide_triangles |
//! | frames | `vec4`: unit quaternion of an orientation | finish_orientations | the caller's renderer |
//! | velocities | `vec4`: v [m/s], 1 if set by the host or by targets since the last step | targets, start, follow, finish, passes of skinned particles, of orientations | same |
//! | accelerations | `vec4`: by wind, fields, forces [m/s²] | accelerations | predict |
//! | forces | `vec4`: by the user \[N\], 0; then torques on orientations \[N m\] | the caller | accelerations, passes of orientations |
//! | bodies, followers | rows, see the shaders | – | body_damping, follow |
//! | skin rows, members | first member and member count, `u32` | – | save_displacements, restore_momentum |
//! | saved displacements | `vec4` a member of a skin: d before the constraints within skins \[m\], 0 | save_displacements | restore_momentum |
//! | normals | `vec4`: unit normal, 0 | normals | the caller's renderer |
//! | indices | `u32`, three a triangle | – | the caller's renderer |
//! | ring offsets, corners | `u32`, `vec2<u32>` | – | accelerations, normals |
//! | tethers, targets | rows, see the shaders | host | solve_tethers, velocity_tether, targets |
//! | tether runs, pins | `u32` | host | solve_tethers, velocity_tether, velocity |
//! | contact_events | contact events of the last step | collect_contact_events | the host |
//! | event_table | contacts of the last two steps | passes of contact events | the same |
//! | tether_displacements | `f32` a tether, if kept: the displacement of its particle by it in the last substep \[m\] | solve_tethers | the host |
//! | anchors | the pins, if few: at the start of this substep, and of the next | solve_tethers, velocity_tether | velocity_tether |
//! | attachments | rows, order by colour, states | host; solve_attachments, finish_attachments (states) | passes of attachments |
//! | skinned | limits, bind poses, joints, poses, states: see `shaders/integrate/skinned.wgsl` | host, the caller (poses); passes of skinned particles | the same |
//! | materials | α̃, γ, factor, relief | host | projections |
//! | per kind: trees, tiles, clusters | see `shaders/schedule/solve_trees.wgsl`, `shaders/schedule/projection/tile.wgsl`, `shaders/schedule/project_cluster.wgsl` | – | projections |
//! | per kind: records, lambdas, shares, impulses, slots, chunks, sums, hubs; members, rotations | see the shaders | projections, gather | same |
//! | chains, chain rows; chain links, chain factors | rows; 11 and 10 `vec4` a link, see `shaders/schedule/solve_chains.wgsl` | linearize_chains (links), solve_chains (factors) | solve_chains |
//! | per kind: links of records | `u32` | – | linearize_chains |
//! | per kind: force sums, if kept | `f32` a multiplier: Σ λ over the substeps of a step | force_sums_clear, force_sums_add | the host |
//! | params, spans | uniforms | host | every pass |
//! | status | clock, faults | finish, finish_orientations, collide, passes of instances | start, accelerations, passes of orientations and contact events, the host |

use super::chains::ChainBuffers;
use super::kind_buffers::{KindBuffers, make_kinds};
use super::maker::Maker;
use super::skinned::SkinnedBuffers;
use crate::collision::events::event_bytes;
use crate::error::Result;
use crate::scene::Follower;
use crate::schedule::plan::FEW_PINS;
use crate::sim::attachments::{AttachmentRow, AttachmentState};
use crate::sim::controls::Controls;
use crate::sim::params::{Params, Target};
use wgpu::BufferUsages;

/// Clock and counters on the GPU: `Status` in `shaders/common/params.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Status {
    pub air: [u32; 4],
    pub steps: u32,
    pub last_h: f32,
    pub non_finite_count: u32,
    pub first_non_finite: u32,
    pub lost_collider_contacts: u32,
    pub padding: [u32; 3],
}

impl Status {
    pub const NEW: Self = Self {
        air: [0; 4],
        steps: 0,
        last_h: 0.0,
        non_finite_count: 0,
        first_non_finite: u32::MAX,
        lost_collider_contacts: 0,
        padding: [0; 3],
    };
}

/// The range of a dispatch: `Span` in `shaders/common/params.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct SpanRow {
    pub first: u32,
    pub count: u32,
    pub first_iteration: u32,
    pub zero: u32,
}

/// A pin as tethers read it: `Anchor` in `shaders/common/params.wgsl`. Written by the GPU only.
#[repr(C)]
pub struct AnchorRow {
    pub position: [f32; 3],
    pub particle: u32,
    pub displacement: [f32; 3],
    pub padding: u32,
}

#[derive(Debug)]
pub(super) struct Buffers {
    pub positions: wgpu::Buffer,
    pub displacements: wgpu::Buffer,
    pub residuals: wgpu::Buffer,
    pub velocities: wgpu::Buffer,
    pub accelerations: wgpu::Buffer,
    pub forces: wgpu::Buffer,
    pub bodies: wgpu::Buffer,
    pub followers: wgpu::Buffer,
    pub skin_rows: wgpu::Buffer,
    pub skin_members: wgpu::Buffer,
    pub saved_displacements: wgpu::Buffer,
    pub normals: wgpu::Buffer,
    pub frames: wgpu::Buffer,
    pub indices: wgpu::Buffer,
    pub ring_offsets: wgpu::Buffer,
    pub ring_corners: wgpu::Buffer,
    pub tethers: wgpu::Buffer,
    pub tether_runs: wgpu::Buffer,
    pub tether_displacements: wgpu::Buffer,
    pub contact_events: wgpu::Buffer,
    pub event_table: wgpu::Buffer,
    pub pins: wgpu::Buffer,
    pub anchors: [wgpu::Buffer; 2],
    pub targets: wgpu::Buffer,
    pub materials: wgpu::Buffer,
    pub params: wgpu::Buffer,
    pub spans: wgpu::Buffer,
    pub status: wgpu::Buffer,
    /// Rows, order and states.
    pub attachments: [wgpu::Buffer; 3],
    pub skinned: SkinnedBuffers,
    pub kinds: Vec<KindBuffers>,
    pub chains: ChainBuffers,
}

pub(super) fn sizes(buffers: &[&wgpu::Buffer]) -> u64 {
    buffers.iter().map(|buffer| buffer.size()).sum()
}

impl Buffers {
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, controls: &Controls, keep_lambdas: bool) -> Result<Self> {
        let maker = Maker::new(device);
        let (storage, uniform) = (BufferUsages::STORAGE, BufferUsages::UNIFORM);
        let drawn = storage | BufferUsages::VERTEX;
        let (count, entities) = (controls.scene.particle_count() as u64, controls.scene.entity_count() as u64);
        let compiled = &controls.compiled;
        let skins = &compiled.skins;
        let empty = |label, size, usage| maker.empty(label, size, usage);

        let (kinds, chains, spans) = make_kinds(device, queue, controls, keep_lambdas)?;
        let surface_count = if compiled.rings.is_empty() { 0 } else { count };
        let [contact_events, event_table] = Self::make_events(device, controls)?;
        let anchors = || empty("anchors", (FEW_PINS * size_of::<AnchorRow>()) as u64, storage | uniform);
        Ok(Self {
            positions: empty("positions", entities * 16, drawn)?,
            displacements: empty("displacements", entities * 16, storage)?,
            residuals: empty("residuals", entities * 16, storage)?,
            velocities: empty("velocities", entities * 16, drawn)?,
            accelerations: Self::make_accelerations(device, controls)?,
            forces: Self::make_forces(device, controls)?,
            bodies: maker.filled(queue, "bodies", &compiled.bodies, storage)?,
            followers: maker.filled(queue, "followers", &follower_rows(&compiled.followers), storage)?,
            skin_rows: maker.filled(queue, "skin_rows", &skins.rows, storage)?,
            skin_members: maker.filled(queue, "skin_members", &skins.members, storage)?,
            saved_displacements: empty("saved_displacements", skins.members.len() as u64 * 16, storage)?,
            frames: empty("frames", (entities - count) * 16, drawn)?,
            normals: empty("normals", surface_count * 16, drawn)?,
            indices: maker.filled(queue, "indices", &controls.scene.triangles, storage | BufferUsages::INDEX)?,
            ring_offsets: maker.filled(queue, "ring_offsets", &compiled.rings.offsets, storage)?,
            ring_corners: maker.filled(queue, "ring_corners", &compiled.rings.corners, storage)?,
            tethers: empty("tethers", controls.tether_rows.len() as u64 * 8, storage)?,
            tether_runs: maker.filled(queue, "tether_runs", &compiled.tether_runs, storage)?,
            tether_displacements: Self::make_tether_displacements(device, controls)?,
            contact_events,
            event_table,
            pins: empty("pins", count * 4, storage)?,
            anchors: [anchors()?, anchors()?],
            targets: Self::make_targets(device, 16)?,
            materials: empty("materials", size_of_val(controls.scaled_materials().as_slice()) as u64, storage)?,
            params: empty("params", size_of::<Params>() as u64, uniform)?,
            spans,
            status: empty("status", size_of::<Status>() as u64, storage)?,
            attachments: Self::make_attachments(device, controls)?,
            skinned: SkinnedBuffers::new(device, queue, controls)?,
            kinds,
            chains,
        })
    }

    /// Size of all of them [bytes]; like [`KindBuffers::bytes`], it names every field.
    pub fn bytes(&self) -> u64 {
        let Self {
            positions,
            displacements,
            residuals,
            velocities,
            accelerations,
            forces,
            bodies,
            followers,
            skin_rows,
            skin_members,
            saved_displacements,
            normals,
            frames,
            indices,
            ring_offsets,
            ring_corners,
            tethers,
            tether_runs,
            tether_displacements,
            contact_events,
            event_table,
            pins,
            anchors,
            targets,
            materials,
            params,
            spans,
            status,
            attachments: [rows, order, states],
            skinned,
            kinds,
            chains,
        } = self;
        let motion = sizes(&[positions, displacements, residuals, velocities, accelerations, forces, normals, frames]);
        let shape = sizes(&[
            bodies,
            followers,
            skin_rows,
            skin_members,
            saved_displacements,
            indices,
            ring_offsets,
            ring_corners,
            tethers,
            tether_runs,
            tether_displacements,
            contact_events,
            event_table,
            pins,
            targets,
        ]);
        let parameters = sizes(&[&anchors[0], &anchors[1], materials, params, spans, status, rows, order, states]);
        let own = sizes(&skinned.all()) + chains.bytes() + kinds.iter().map(KindBuffers::bytes).sum::<u64>();
        motion + shape + parameters + own
    }

    /// The buffer of accelerations; empty if only gravity acts.
    pub fn make_accelerations(device: &wgpu::Device, controls: &Controls) -> Result<wgpu::Buffer> {
        let count = if controls.params().accelerated == 1 { controls.scene.particle_count() } else { 0 };
        let maker = Maker::new(device);
        maker.empty("accelerations", count as u64 * 16, BufferUsages::STORAGE)
    }

    /// The buffer of forces, filled with 0; empty if they are off.
    pub fn make_forces(device: &wgpu::Device, controls: &Controls) -> Result<wgpu::Buffer> {
        let count = if controls.settings.forces { controls.scene.entity_count() } else { 0 };
        let maker = Maker::new(device);
        maker.empty("forces", count as u64 * 16, BufferUsages::STORAGE)
    }

    /// The buffer of the displacements by tethers, filled with 0; empty if they are not kept.
    pub fn make_tether_displacements(device: &wgpu::Device, controls: &Controls) -> Result<wgpu::Buffer> {
        let count = if controls.settings.tether_forces { controls.tether_rows.len() } else { 0 };
        Maker::new(device).empty("tether_displacements", count as u64 * 4, BufferUsages::STORAGE)
    }

    /// The buffers of contact events and of their tables, filled with 0; empty without events.
    pub fn make_events(device: &wgpu::Device, controls: &Controls) -> Result<[wgpu::Buffer; 2]> {
        let (maker, [events, table]) = (Maker::new(device), event_bytes(controls.settings.contact_events));
        let storage = BufferUsages::STORAGE;
        Ok([maker.empty("contact_events", events, storage)?, maker.empty("event_table", table, storage)?])
    }

    /// The buffers of attachments: rows, order and states.
    fn make_attachments(device: &wgpu::Device, controls: &Controls) -> Result<[wgpu::Buffer; 3]> {
        let (maker, storage) = (Maker::new(device), BufferUsages::STORAGE);
        let count = u64::from(controls.attachments.capacity);
        Ok([
            maker.empty("attachments", count * size_of::<AttachmentRow>() as u64, storage)?,
            maker.empty("attachment_order", controls.attachments.most_words() * 4, storage)?,
            maker.empty("attachment_states", count * size_of::<AttachmentState>() as u64, storage)?,
        ])
    }

    /// The buffer of a number of targets.
    pub fn make_targets(device: &wgpu::Device, count: usize) -> Result<wgpu::Buffer> {
        let maker = Maker::new(device);
        maker.empty("targets", (count * size_of::<Target>()) as u64, BufferUsages::STORAGE)
    }
}

/// Three rows a follower: particle, sources, weights.
fn follower_rows(followers: &[Follower]) -> Vec<[u32; 4]> {
    let rows =
        |follower: &Follower| [[follower.particle, 0, 0, 0], follower.sources, follower.weights.map(f32::to_bits)];
    followers.iter().flat_map(rows).collect()
}
