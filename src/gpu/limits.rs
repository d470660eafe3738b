//! What a scene asks of a device.

use super::contacts::COLLIDER_CONTACT_BYTES;
use crate::scene::{ConstraintSet, Scene, Skins, TetheredBody, rows_of};
use crate::schedule::tiling::Tiling;
use crate::settings::{Settings, Sweep};

/// The limits that a device needs for a scene: the defaults, raised where a buffer of the scene is larger.
///
/// Request the device with them, or with more: `supple::gpu::Context::new(supple::required_limits(&scene))`.
pub fn required_limits(scene: &Scene) -> wgpu::Limits {
    let skins = Skins::new(&scene.constraints, scene.particle_count());
    limits(scene, |_| true, |set| set.overflow_count(scene, &skins), 0)
}

/// The defaults, raised for what a scene has in any case, for the records of those sets that have them on the GPU, for so many constraints of a
/// set that are solved at once, and to `least` bytes.
fn limits(
    scene: &Scene,
    has_records: impl Fn(&ConstraintSet) -> bool,
    split_count: impl Fn(&ConstraintSet) -> u32,
    least: u64,
) -> wgpu::Limits {
    let particles = scene.particle_count() as u64;
    let tethers = tether_count(scene) * 8;
    // What happens to each at colliders; also where nothing is kept of it yet.
    let touches = if scene.colliders().is_empty() { 0 } else { particles * COLLIDER_CONTACT_BYTES };
    let sizes =
        [scene.followers.len() as u64 * 48, scene.triangles.len() as u64 * 24, tethers, touches, particles * 16];
    // What is split needs a vec4 for each of its particles.
    let records = scene.constraints.iter().map(|set| {
        let split = u64::from(split_count(set));
        // The rows of members and their details; two vectors for each member.
        let groups = (set.rows.len() as u64 * 16).max(u64::from(set.slot_count) * 32);
        let records = if has_records(set) { set.words.len() as u64 * 4 } else { 0 };
        // Where these are kept.
        let lambdas = (set.len() * set.info.lambda_count()) as u64 * 4;
        records.max(lambdas).max(split * set.info.arity as u64 * 16).max(groups)
    });
    let largest = sizes.into_iter().chain(records).fold(least, u64::max).next_multiple_of(256);
    let defaults = wgpu::Limits::default();
    wgpu::Limits {
        max_storage_buffer_binding_size: defaults.max_storage_buffer_binding_size.max(largest),
        max_buffer_size: defaults.max_buffer_size.max(largest),
        ..defaults
    }
}

/// The limits that a device needs for a scene that is run with the given settings: those of [`required_limits`], raised for the pairs of
/// self-collision and for [`crate::Sweep::Jacobi`]; lowered where tiles hold all constraints of a kind, and need no records, until
/// [`crate::Solver::set_constraint`] tells one from the others.
pub fn required_limits_with(scene: &Scene, settings: &Settings) -> wgpu::Limits {
    let contacts = settings.self_collision.map_or(0, |own| {
        let pairs = scene.particle_count() as u64 * u64::from(own.pairs_per_particle);
        // The grid of a closed mesh, with three edges and two triangles a particle: three tables of up to twelve entries, sums, rough places. Or
        // where each particle was to be.
        let most = if settings.keeps_surfaces_apart() { 176 } else { 32 };
        // Half as many contacts as pairs, of three times the size.
        (pairs * 24).max(scene.particle_count() as u64 * most)
    });
    let most = wgpu::Limits::default().max_storage_buffer_binding_size;
    // Looked at only where it matters, as it takes as long as most of the cooking.
    let has_records = |set: &ConstraintSet| {
        set.words.len() as u64 * 4 <= most || !settings.tiles() || !Tiling::new(set, &scene.grids).holds_all(set.len())
    };
    let skins = Skins::new(&scene.constraints, scene.particle_count());
    let split_count = |set: &ConstraintSet| match settings.sweep {
        Sweep::Jacobi => set.len() as u32,
        Sweep::GaussSeidel => set.overflow_count(scene, &skins),
    };
    limits(scene, has_records, split_count, contacts)
}

/// How many tethers a scene has room for.
fn tether_count(scene: &Scene) -> u64 {
    let of_body = |body: &TetheredBody| body.particles.len() as u64 * u64::from(rows_of(body.tethers.per_particle));
    scene.tethered_bodies.iter().map(of_body).sum()
}
