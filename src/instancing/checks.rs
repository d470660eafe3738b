//! Checks of assets and settings of instances.

use crate::error::{Error, Result};
use crate::instancing::asset::MOST_PARTICLES;
use crate::scene::{ConstraintSet, Scene};
use crate::settings::{ColorOrder, Execution, Settings, Sweep, check_moderate};

/// Maximum number of materials: 64 KiB of a uniform buffer.
const MOST_MATERIALS: usize = 4096;

/// Size of a buffer of `count` words [bytes]; an error if a `u32` cannot index them.
pub(crate) fn check_words(what: &'static str, count: u64) -> Result<u64> {
    let limit = u64::from(u32::MAX);
    if count <= limit { Ok(count * 4) } else { Err(Error::TooLarge { what, count, limit }) }
}

/// The settings with tiles: the schedule of instances.
pub(super) fn in_tiles(settings: Settings) -> Settings {
    Settings { execution: Execution::Tiles, ..settings }
}

/// Maximum number of constraints of a kind at a particle.
pub(super) fn most_constraints(asset: &Scene) -> u64 {
    let of_kind = |set: &ConstraintSet| {
        let mut counts = vec![0u64; asset.particle_count()];
        (0..set.len() as u32)
            .flat_map(|constraint| set.points_of(constraint))
            .for_each(|&particle| counts[particle as usize] += 1);
        counts.into_iter().max().unwrap_or(0)
    };
    asset.constraints.iter().filter(|set| !set.info.is_group()).map(of_kind).max().unwrap_or(0)
}

pub(super) fn check_asset(asset: &Scene) -> Result<()> {
    let count = asset.particle_count() as u64;
    if count > MOST_PARTICLES as u64 {
        let what = "particles of an asset that is instanced";
        return Err(Error::TooLarge { what, count, limit: MOST_PARTICLES as u64 });
    }
    // Limits the range of numbers at any scale.
    for (particle, (&position, &velocity)) in asset.positions.iter().zip(&asset.velocities).enumerate() {
        for (what, value) in [("position", position), ("velocity", velocity)] {
            check_moderate(&format!("{what} of particle {particle} of an asset that is instanced"), value)?;
        }
    }
    let groups = asset.constraints.iter().filter(|set| set.info.is_group());
    let groups = groups.map(|set| (format!("{} constraint", set.info.name), set.len()));
    let parts = [
        ("follower", asset.followers.len()),
        ("collider", asset.colliders.len()),
        ("attachment", asset.attachments.len()),
        ("skinned particle", asset.skinned.rows.len()),
        ("orientation", asset.orientations.len()),
        ("tearable cloth", asset.tearable.len()),
    ];
    let parts = parts.map(|(what, count)| (what.to_owned(), count));
    let plastic = asset.constraints.iter();
    let plastic = plastic.map(|set| (format!("plastic {} constraint", set.info.name), set.plastic.len()));
    if let Some((what, count)) = groups.chain(parts).chain(plastic).find(|&(_, count)| count > 0) {
        return Err(Error::NotInstanced { what, count: count as u64 });
    }
    let materials = asset.materials.len();
    if materials > MOST_MATERIALS {
        let (what, limit) = ("materials of an asset that is instanced", MOST_MATERIALS as u64);
        return Err(Error::TooLarge { what, count: materials as u64, limit });
    }
    Ok(())
}

pub(super) fn check_settings(settings: &Settings) -> Result<()> {
    let needs = [
        (settings.self_collision.is_some(), "Settings::self_collision = None"),
        (settings.forces, "Settings::forces = false"),
        (settings.tether_forces, "Settings::tether_forces = false"),
        (settings.mean_forces, "Settings::mean_forces = false"),
        (settings.contact_events > 0, "Settings::contact_events = 0"),
        (settings.body_damping != 0.0, "Settings::body_damping = 0"),
        (settings.sweep == Sweep::Jacobi, "Settings::sweep = Sweep::GaussSeidel"),
        (settings.color_order != ColorOrder::Fixed, "Settings::color_order = ColorOrder::Fixed"),
    ];
    match needs.into_iter().find(|(is_needed, _)| *is_needed) {
        Some((_, needed)) => Err(Error::NotEnabled { what: "Instances", needed }),
        None => Ok(()),
    }
}
