//! Warnings after a simulation.

use crate::backend::Backend;
use crate::console::warn;
use supple::scene_file::SceneFile;

/// Prints a warning for each counter of errors that is not 0.
pub fn print(file: &SceneFile, backend: &Backend, refused_tears: u64) -> anyhow::Result<()> {
    let diagnostics = backend.simulation.read_diagnostics()?;
    let count = diagnostics.non_finite_count;
    if count > 0 {
        let first = diagnostics
            .first_non_finite
            .map_or(String::new(), |particle| format!("; the first is particle {particle}"));
        warn(format_args!(
            "{count} particles were quarantined, because their positions would have become non-finite{first}; more substeps \
             or softer materials may help"
        ));
    }
    let lost_contacts = backend.simulation.read_contacts()?.lost;
    if lost_contacts > 0 {
        let given = file.settings.self_collision.unwrap_or_default().pairs_per_particle;
        warn(format_args!(
            "{lost_contacts} contacts were lost. If the list of pairs was full, raise pairs_per_particle of self_collision, \
             which is {given} and at most 256, or lower its margin. If elements have more than 32768 neighbours, or paths of more than 4096 \
             cells in a substep, raise substeps"
        ));
    }
    let lost_collider_contacts = diagnostics.lost_collider_contacts;
    if lost_collider_contacts > 0 {
        warn(format_args!(
            "collider forces omit {lost_collider_contacts} contacts: a particle reports at most two colliders per step"
        ));
    }
    if refused_tears > 0 {
        warn(format_args!(
            "{refused_tears} times an edge did not tear because no copy was left; raise copies of tearing"
        ));
    }
    Ok(())
}
