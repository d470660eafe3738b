//! Warnings after a simulation.

use crate::backend::Backend;
use supple::scene_file::SceneFile;

/// Prints a warning for each counter of errors that is not 0.
pub fn print(file: &SceneFile, backend: &Backend) -> supple::Result<()> {
    let diagnostics = backend.diagnostics()?;
    let count = diagnostics.non_finite_count;
    if count > 0 {
        let first = diagnostics
            .first_non_finite
            .map_or(String::new(), |particle| format!("; the first is particle {particle}"));
        eprintln!(
            "warning: {count} positions would not have been finite, and their particles were stopped{first}; more substeps or \
             softer materials may help"
        );
    }
    let lost = backend.contacts()?.lost;
    if lost > 0 {
        let given = file.settings.self_collision.unwrap_or_default().pairs_per_particle;
        eprintln!(
            "warning: {lost} contacts were lost. If the list of pairs was full, raise pairs_per_particle of self_collision, \
             which is {given} and at most 256, or lower its margin. If elements have more than 32768 neighbours, or paths of more than 4096 \
             cells in a substep, raise substeps"
        );
    }
    let lost = diagnostics.lost_collider_contacts;
    if lost > 0 {
        eprintln!("warning: the forces on colliders lack {lost} contacts of particles with a third collider in a step");
    }
    Ok(())
}
