//! The map from the indices of a scene to those of the scene that it was edited to.

use super::{OrientationId, Scene};
use crate::constraints::{Kind, kind_index};
use crate::error::{Error, Result};
use std::ops::Range;

/// The new index of an entry that is removed.
pub(crate) const GONE: u32 = u32::MAX;

/// Where the particles and constraints of a scene are in the scene that it was edited to; see
/// [`crate::Solver::replace_scene`].
///
/// [`Scene::remove`] returns it. If parts are only added, call [`Scene::map`] before the first addition. Entries that remain keep
/// their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SceneMap {
    /// New indices, or [`GONE`].
    pub(crate) particles: Vec<u32>,
    pub(crate) orientations: Vec<u32>,
    /// By kind.
    pub(crate) constraints: Vec<Vec<u32>>,
    pub(crate) triangles: Vec<u32>,
    pub(crate) attachments: Vec<u32>,
    pub(crate) skinned: Vec<u32>,
}

fn new_index(list: &[u32], index: u32) -> Option<u32> {
    list.get(index as usize).copied().filter(|&now| now != GONE)
}

impl SceneMap {
    /// The new index of a particle; `None` if it is removed or has not existed.
    pub fn particle(&self, particle: u32) -> Option<u32> {
        new_index(&self.particles, particle)
    }

    /// The new range of a part, such as [`Cloth::particles`](crate::Cloth::particles). `None` if one of its particles is
    /// removed or has not existed, or if the range is empty.
    pub fn particles(&self, part: Range<u32>) -> Option<Range<u32>> {
        let all = self.particles.get(part.start as usize..part.end as usize)?;
        let (first, last) = (*all.first()?, *all.last()?);
        // What remains keeps its order.
        (!all.contains(&GONE)).then(|| first..last + 1)
    }

    /// The new index of a constraint of a kind; `None` if it is removed or has not existed.
    pub fn constraint<K: Kind>(&self, index: u32) -> Option<u32> {
        new_index(&self.constraints[kind_index(K::INFO)], index)
    }

    /// The new index of a triangle; `None` if it is removed or has not existed.
    pub fn triangle(&self, index: u32) -> Option<u32> {
        new_index(&self.triangles, index)
    }

    /// The new id of an orientation; `None` if it is removed or has not existed.
    pub fn orientation(&self, id: OrientationId) -> Option<OrientationId> {
        new_index(&self.orientations, id.0).map(OrientationId)
    }

    /// The new row of a skinned particle; `None` if it is removed or has not existed.
    pub fn skinned(&self, row: u32) -> Option<u32> {
        new_index(&self.skinned, row)
    }

    /// The map of this edit followed by another one. Parts may have been added between the two.
    ///
    /// # Errors
    /// [`Error::SceneMap`] if the scene of `next` has fewer entries than this map leads to.
    pub fn then(&self, next: &Self) -> Result<Self> {
        let join = |what: &str, first: &[u32], second: &[u32]| {
            check_targets(what, first, second.len())?;
            Ok(first.iter().map(|&now| second.get(now as usize).copied().unwrap_or(GONE)).collect())
        };
        let pairs = self.constraints.iter().zip(&next.constraints);
        Ok(Self {
            particles: join("particle", &self.particles, &next.particles)?,
            orientations: join("orientation", &self.orientations, &next.orientations)?,
            constraints: pairs.map(|(first, second)| join("constraint", first, second)).collect::<Result<_>>()?,
            triangles: join("triangle", &self.triangles, &next.triangles)?,
            attachments: join("attachment", &self.attachments, &next.attachments)?,
            skinned: join("skinned particle", &self.skinned, &next.skinned)?,
        })
    }

    /// `Ok` if this is a map from `old` to `new`. It has the entries of `old`. All of them lead to entries of `new`, and
    /// particles and constraints that remain are the same.
    pub(crate) fn check(&self, old: &Scene, new: &Scene) -> Result<()> {
        let check = |what: &str, map: &[u32], [old, new]: [usize; 2]| {
            if map.len() != old {
                let reason = format!("it has {} entries for {what}s, but the scene of the solver has {old}", map.len());
                return Err(Error::SceneMap { reason });
            }
            check_targets(what, map, new)
        };
        check("particle", &self.particles, [old.particle_count(), new.particle_count()])?;
        check("orientation", &self.orientations, [old.orientations.len(), new.orientations.len()])?;
        check("triangle", &self.triangles, [old.triangles.len(), new.triangles.len()])?;
        check("attachment", &self.attachments, [old.attachments.len(), new.attachments.len()])?;
        check("skinned particle", &self.skinned, [old.skinned.rows.len(), new.skinned.rows.len()])?;
        for (particle, &now) in self.particles.iter().enumerate().filter(|(_, now)| **now != GONE) {
            let places = [old.rest_positions[particle], new.rest_positions[now as usize]];
            if places[0].map(f32::to_bits) != places[1].map(f32::to_bits) {
                let [old, new] = places;
                let reason = format!("particle {particle} was added at {old:?}, its new particle {now} at {new:?}");
                return Err(Error::SceneMap { reason });
            }
        }
        for ((map, old), new) in self.constraints.iter().zip(&old.constraints).zip(&new.constraints) {
            let name = old.info.name;
            check(&format!("{name} constraint"), map, [old.len(), new.len()])?;
            for (index, &now) in map.iter().enumerate().filter(|(_, now)| **now != GONE) {
                let [(points, turned), (new_points, new_turned)] =
                    [old.members_of(index), new.members_of(now as usize)];
                let particles = points.iter().map(|&particle| self.particles[particle as usize]);
                let orientations = turned.iter().map(|&own| self.orientations[own as usize]);
                if !particles.eq(new_points.iter().copied()) || !orientations.eq(new_turned.iter().copied()) {
                    let reason = format!("{name} constraint {index} and its new constraint {now} have other particles");
                    return Err(Error::SceneMap { reason });
                }
            }
        }
        Ok(())
    }
}

/// `Ok` if all entries that remain have distinct new indices below `count`, in order.
fn check_targets(what: &str, map: &[u32], count: usize) -> Result<()> {
    let mut next = 0;
    for (index, &now) in map.iter().enumerate().filter(|(_, now)| **now != GONE) {
        if now < next || now as usize >= count {
            let reason = format!("{what} {index} becomes {now}, but must be {next} or more and less than {count}");
            return Err(Error::SceneMap { reason });
        }
        next = now + 1;
    }
    Ok(())
}

impl Scene {
    /// The map of a scene to itself. Take it before parts are added, and pass it to [`crate::Solver::replace_scene`]
    /// afterwards.
    pub fn map(&self) -> SceneMap {
        let all = |count: usize| (0..count as u32).collect::<Vec<_>>();
        SceneMap {
            particles: all(self.particle_count()),
            orientations: all(self.orientations.len()),
            constraints: self.constraints.iter().map(|set| all(set.len())).collect(),
            triangles: all(self.triangles.len()),
            attachments: all(self.attachments.len()),
            skinned: all(self.skinned.rows.len()),
        }
    }
}
