//! Contact statistics.

use super::Figures;
use glam::Vec3;
use serde_json::json;
use std::collections::HashSet;
use supple::{Scene, Solver};

/// The particles that have mass and are not pinned at the start.
pub fn free_particles(scene: &Scene) -> Vec<usize> {
    let pinned: HashSet<u32> = scene.pinned_particles().collect();
    let is_free = |&particle: &usize| scene.inverse_masses()[particle] > 0.0 && !pinned.contains(&(particle as u32));
    (0..scene.particle_count()).filter(is_free).collect()
}

/// The contact report of a solver, and statistics of its particles.
pub fn figures(scene: &Scene, solver: &Solver, positions: &[[f32; 3]]) -> supple::Result<Figures> {
    let (report, velocities) = (solver.read_contacts()?, solver.read_velocities()?);
    let speed = |particle: usize| f64::from(Vec3::from(velocities[particle]).length());
    let speeds: Vec<f64> = free_particles(scene).into_iter().map(speed).collect();
    let figures = [
        ("contacts_max", json!(report.most_contacts)),
        ("candidates_max", json!(report.most_pairs)),
        ("overflow", json!(report.lost)),
        ("lost_collider_contacts", json!(solver.read_diagnostics()?.lost_collider_contacts)),
        ("searches", json!(report.searches)),
        ("truncated", json!(report.truncated)),
        ("deepest_overlap", json!(report.deepest)),
        ("self_intersections", json!(scene.intersections(positions)?.count)),
        ("mean_speed", json!(speeds.iter().sum::<f64>() / speeds.len().max(1) as f64)),
    ];
    Ok(figures.map(|(name, value)| (name.into(), value)).into_iter().collect())
}
