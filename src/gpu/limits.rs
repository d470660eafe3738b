//! Device limits that a scene requires, and the check of a device before the scene is compiled.

use super::chains::LINK_BYTES;
use super::contacts::{COLLIDER_CONTACT_BYTES, CONTACT_BYTES, CORRECTION_BYTES, TRIANGLE_CONTACT_BYTES};
use super::kind_buffers::TREE_ROWS;
use super::maker::check_size;
use super::recorder::MAX_WORKGROUPS_PER_AXIS;
use super::skinned::BIND_BYTES;
use super::stage::WORKGROUP_SIZE;
use crate::collision::Colliders;
use crate::collision::events::event_bytes;
use crate::collision::slabs;
use crate::constraints::plasticity::PlasticRow;
use crate::constraints::{Distance, Kind};
use crate::error::{Error, Result};
use crate::scene::{ConstraintSet, Scene, TetheredBody, rows_of};
use crate::schedule::chains::chain_kinds;
use crate::schedule::skins::Skins;
use crate::schedule::tiling::{MOST_LINKS, Tiling};
use crate::schedule::trees::Trees;
use crate::settings::{Settings, Sweep};
use crate::sim::capacities::{Capacities, contact_capacity};
use std::collections::HashSet;

/// Storage buffers of the pass with the most of them.
pub(super) const STORAGE_BUFFERS: u32 = 8;

/// Bytes of a triangle in the rings of its corners.
const RING_BYTES: u64 = 24;

/// Bytes of a follower, and of a row of tethers.
const FOLLOWER_BYTES: u64 = 48;
const TETHER_BYTES: u64 = 8;

/// The device limits that a scene requires: the defaults, raised if a buffer of the scene is larger.
///
/// Request the device with these limits or higher ones: `supple::gpu::Context::new(supple::required_limits(&scene))`. Colliders that are added while
/// the scene runs are included if it has one: 112 bytes a particle and 64 a triangle.
pub fn required_limits(scene: &Scene) -> wgpu::Limits {
    let skins = Skins::new(&scene.constraints, scene.particle_count());
    limits(scene, |_| true, |set| set.overflow_count(scene, &skins), 0)
}

/// The defaults, raised to the buffers that every scene has, to the records of the sets with records on the GPU, to the
/// split constraints of each set, and to `least` bytes.
fn limits(
    scene: &Scene,
    has_records: impl Fn(&ConstraintSet) -> bool,
    split_count: impl Fn(&ConstraintSet) -> u32,
    least: u64,
) -> wgpu::Limits {
    let particles = scene.particle_count() as u64;
    // Contacts of all particles and triangles, also with colliders that are added while running.
    let [collider_contact, triangle] =
        if scene.colliders().is_empty() { [0, 0] } else { [COLLIDER_CONTACT_BYTES, TRIANGLE_CONTACT_BYTES] };
    let of_contacts = [
        scene.triangles.len() as u64 * triangle,
        particles * collider_contact,
        // With seams, which may begin while running.
        particles * if scene.constraint_count_of(Distance::INFO) > 0 { 20 } else { 16 }
            + scene.contact_scales.len() as u64 * 4,
    ];
    let sizes = sizes(scene).map(|(_, size)| size).into_iter().chain(of_contacts).chain([collider_data_bytes(scene)]);
    // A split constraint stores a vec4 for each of its particles.
    let records = scene.constraints.iter().map(|set| {
        let split = u64::from(split_count(set));
        // Groups store the rows of members and details, and two vectors per member.
        let groups = (set.rows.len() as u64 * 16).max(u64::from(set.slot_count) * 32);
        let records = if has_records(set) { set.words.len() as u64 * 4 } else { 0 };
        // If λ is stored.
        let lambdas = (set.len() * set.info.lambda_count()) as u64 * 4;
        let plastic = set.plastic.len() as u64 * size_of::<PlasticRow>() as u64;
        // Searched only in large sets. Each node of a tree is the end of a link.
        let most_nodes = set.len() as u64 * 16 * TREE_ROWS;
        let is_large = most_nodes > wgpu::Limits::default().max_storage_buffer_binding_size;
        let has_trees = is_large && !set.info.unilateral;
        let trees = if has_trees { 16 * TREE_ROWS * Trees::new(set, scene, 0, &[]).nodes.len() as u64 } else { 0 };
        let impulses = split * set.info.arity as u64 * 16;
        [records, lambdas, impulses, groups, plastic, trees].into_iter().fold(0, u64::max)
    });
    let largest = sizes.chain(records).fold(least, u64::max).next_multiple_of(256);
    let defaults = wgpu::Limits::default();
    wgpu::Limits {
        max_storage_buffer_binding_size: defaults.max_storage_buffer_binding_size.max(largest),
        max_buffer_size: defaults.max_buffer_size.max(largest),
        ..defaults
    }
}

/// The device limits that a scene requires with these settings: those of [`required_limits`], raised for the pairs of
/// self-collision, for contact events and for [`crate::Sweep::Jacobi`]. They are lower if tile shaders contain the parameters of a kind as
/// constants. Its records are then needed only after a call of [`crate::Solver::set_constraint`].
pub fn required_limits_with(scene: &Scene, settings: &Settings) -> wgpu::Limits {
    let contacts = settings.self_collision.map_or(0, |own| {
        let pairs = scene.particle_count() as u64 * u64::from(own.pairs_per_particle);
        // Surface level: 32 bytes for the volumes of each particle, edge and triangle of a closed mesh with three edges and
        // two triangles per particle. Particle level: the corrections.
        let most = if settings.keeps_surfaces_apart() { 192 } else { CORRECTION_BYTES };
        let contacts = contact_capacity(pairs) * CONTACT_BYTES;
        contacts.max(pairs * 16).max(scene.particle_count() as u64 * most)
    });
    let most = wgpu::Limits::default().max_storage_buffer_binding_size;
    // Evaluated only for large sets: tiling takes as long as the rest of the compilation.
    let has_records = |set: &ConstraintSet| {
        set.words.len() as u64 * 4 <= most || !settings.tiles() || !Tiling::new(set, &scene.grids).holds_all(set.len())
    };
    let skins = Skins::new(&scene.constraints, scene.particle_count());
    let split_count = |set: &ConstraintSet| match settings.sweep {
        Sweep::Jacobi => set.len() as u32,
        Sweep::GaussSeidel => set.overflow_count(scene, &skins),
    };
    let [events, table] = event_bytes(settings.contact_events);
    limits(scene, has_records, split_count, contacts.max(events).max(table))
}

/// Number of tether rows of a scene.
fn tether_count(scene: &Scene) -> u64 {
    let of_body = |body: &TetheredBody| body.particles.len() as u64 * u64::from(rows_of(body.tethers.per_particle));
    scene.tethered_bodies.iter().map(of_body).sum()
}

/// Labels and sizes [bytes] of the largest buffers that every scene has, whatever its settings.
fn sizes(scene: &Scene) -> [(&'static str, u64); 6] {
    [
        ("positions", scene.entity_count() as u64 * 16),
        ("chain_links", chain_kinds().iter().map(|&kind| scene.constraints[kind].len() as u64 * LINK_BYTES).sum()),
        ("followers", scene.followers.len() as u64 * FOLLOWER_BYTES),
        ("ring_corners", scene.triangles.len() as u64 * RING_BYTES),
        ("tethers", tether_count(scene) * TETHER_BYTES),
        ("skinned_binds", scene.skinned.rows.len() as u64 * BIND_BYTES),
    ]
}

/// `Ok` if a device meets the limits of the passes.
pub(super) fn check_device(limits: &wgpu::Limits) -> Result<()> {
    let dynamic = limits.max_dynamic_uniform_buffers_per_pipeline_layout;
    let demands = [
        ("max_storage_buffers_per_shader_stage", STORAGE_BUFFERS, limits.max_storage_buffers_per_shader_stage),
        ("max_compute_invocations_per_workgroup", WORKGROUP_SIZE, limits.max_compute_invocations_per_workgroup),
        ("max_compute_workgroups_per_dimension", MAX_WORKGROUPS_PER_AXIS, limits.max_compute_workgroups_per_dimension),
        ("max_dynamic_uniform_buffers_per_pipeline_layout", 1, dynamic),
    ];
    match demands.into_iter().find(|(_, needed, available)| needed > available) {
        Some((limit, needed, available)) => {
            let (needed, available) = (needed.into(), available.into());
            Err(Error::LimitExceeded { what: "the solver".into(), limit, needed, available })
        }
        None => Ok(()),
    }
}

/// Bytes of the slabs of colliders and the data of their shapes.
fn collider_data_bytes(scene: &Scene) -> u64 {
    // They were checked when they were added.
    let Ok(colliders) = Colliders::new(&scene.colliders, scene.contact_materials.len()) else { return 0 };
    4 * (slabs::initial_words(&colliders.rows, 0.0).len() + colliders.data.len()) as u64
}

/// `Ok` if the buffers whose sizes follow from counts are within the limits of a device. The others are checked after the
/// compilation of the scene, which takes longer.
pub(super) fn check_sizes(scene: &Scene, settings: &Settings, limits: &wgpu::Limits) -> Result<()> {
    let check = |label: &str, size: u64| check_size(limits, label, size);
    sizes(scene).into_iter().try_for_each(|(label, size)| check(label, size))?;
    let particles = scene.particle_count() as u64;
    if let Some(own) = settings.self_collision {
        let capacities = Capacities::new(scene.particle_count(), Some(own));
        check("pairs", u64::from(capacities.pairs) * 16)?;
        check("contacts", u64::from(capacities.contacts) * CONTACT_BYTES)?;
        check("tracked", particles * 32)?;
    }
    let stores_contacts = settings.keeps_collider_impulses() || settings.self_collision.is_some();
    if stores_contacts && !scene.colliders().is_empty() {
        check("collider_contacts", particles * COLLIDER_CONTACT_BYTES)?;
    }
    let [events, table] = event_bytes(settings.contact_events);
    check("contact_events", events)?;
    check("event_table", table)?;
    let has_groups = scene.constraints.iter().any(|set| set.info.is_group() && set.len() > 0);
    for set in &scene.constraints {
        let label = |part: &str| format!("{part}.{}", set.info.name);
        check(&label("members"), set.rows.len() as u64 * 16)?;
        if set.info.is_group() {
            check(&label("impulses"), u64::from(set.slot_count) * 32)?;
        } else if settings.sweep == Sweep::Jacobi {
            check(&label("impulses"), (set.len() * set.info.arity) as u64 * 16)?;
        }
        check(&label("plastic_rows"), set.plastic.len() as u64 * size_of::<PlasticRow>() as u64)?;
        if settings.keeps_lambdas(has_groups) {
            check(&label("lambdas"), (set.len() * set.info.lambda_count()) as u64 * 4)?;
        }
        let records = check(&label("records"), set.words.len() as u64 * 4);
        if records.is_err() && !(settings.tiles() && may_be_tiled(set, scene)) {
            return records;
        }
    }
    Ok(())
}

/// True if tiles may hold all constraints of a set and their parameters. False only if that is certain.
fn may_be_tiled(set: &ConstraintSet, scene: &Scene) -> bool {
    let mut in_grid = vec![false; scene.particle_count()];
    for grid in &scene.grids {
        let first = grid.first as usize;
        in_grid[first..first + grid.columns as usize * grid.rows as usize].fill(true);
    }
    let mut parameters = HashSet::new();
    !set.info.is_group()
        && set.info.orientations == 0
        && set.records().all(|record| {
            // A link of the pattern has the same parameters in all tiles.
            parameters.insert(&record[set.info.material_word() + 1..]);
            in_grid[record[0] as usize] && parameters.len() <= MOST_LINKS
        })
}
