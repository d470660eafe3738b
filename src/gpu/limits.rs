//! Device limits that a scene requires.

use super::contacts::{COLLIDER_CONTACT_BYTES, CONTACT_BYTES, TRIANGLE_CONTACT_BYTES};
use crate::collision::events::event_bytes;
use crate::scene::{ConstraintSet, Scene, TetheredBody, rows_of};
use crate::schedule::skins::Skins;
use crate::schedule::tiling::Tiling;
use crate::settings::{Settings, Sweep};
use crate::sim::capacities::contact_capacity;

/// The device limits that a scene requires: the defaults, raised if a buffer of the scene is larger.
///
/// Request the device with these limits or higher ones: `supple::gpu::Context::new(supple::required_limits(&scene))`.
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
    let tethers = tether_count(scene) * 8;
    // Collider contacts of all particles, even if no pass stores them yet.
    let [collider_contact, triangle] =
        if scene.colliders().is_empty() { [0, 24] } else { [COLLIDER_CONTACT_BYTES, TRIANGLE_CONTACT_BYTES] };
    let sizes = [
        scene.followers.len() as u64 * 48,
        scene.triangles.len() as u64 * triangle,
        tethers,
        particles * collider_contact,
        particles * 16 + scene.contact_scales.len() as u64 * 4,
    ];
    // A split constraint stores a vec4 for each of its particles.
    let records = scene.constraints.iter().map(|set| {
        let split = u64::from(split_count(set));
        // Groups store the rows of members and details, and two vectors per member.
        let groups = (set.rows.len() as u64 * 16).max(u64::from(set.slot_count) * 32);
        let records = if has_records(set) { set.words.len() as u64 * 4 } else { 0 };
        // If λ is stored.
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

/// The device limits that a scene requires with these settings: those of [`required_limits`], raised for the pairs of
/// self-collision, for contact events and for [`crate::Sweep::Jacobi`]. They are lower if tile shaders contain the parameters of a kind as
/// constants. Its records are then needed only after a call of [`crate::Solver::set_constraint`].
pub fn required_limits_with(scene: &Scene, settings: &Settings) -> wgpu::Limits {
    let contacts = settings.self_collision.map_or(0, |own| {
        let pairs = scene.particle_count() as u64 * u64::from(own.pairs_per_particle);
        // Surface level: the grid of a closed mesh with three edges and two triangles per particle. It has three tables
        // of up to twelve entries, sums, and quantised positions. Particle level: the predicted position of each
        // particle.
        let most = if settings.keeps_surfaces_apart() { 176 } else { 32 };
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
