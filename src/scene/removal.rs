//! Removal of parts from a scene.

use super::scene_map::{GONE, SceneMap};
use super::tearing::twin_kinds;
use super::{ConstraintSet, Follower, Grid, Scene};
use crate::constraints::{Distance, Kind, group, kind_index};
use crate::error::{Error, Result};
use std::ops::Range;

/// Which entries of a list are kept.
struct Kept {
    /// By entry: its new index, or [`GONE`].
    now: Vec<u32>,
    /// By entry, and at the end: the number of kept entries before it.
    before: Vec<u32>,
}

impl Kept {
    fn new(count: usize, is_kept: impl Fn(usize) -> bool) -> Self {
        let (mut now, mut before, mut next) = (Vec::with_capacity(count), Vec::with_capacity(count + 1), 0);
        for index in 0..count {
            let kept = is_kept(index);
            before.push(next);
            now.push(if kept { next } else { GONE });
            next += u32::from(kept);
        }
        before.push(next);
        Self { now, before }
    }

    fn keeps(&self, index: u32) -> bool {
        self.now[index as usize] != GONE
    }

    fn range(&self, range: &Range<u32>) -> Range<u32> {
        self.before[range.start as usize]..self.before[range.end as usize]
    }

    /// The number of kept entries of a range.
    fn count(&self, range: &Range<u32>) -> u32 {
        let kept = self.range(range);
        kept.end - kept.start
    }

    fn retain<T>(&self, values: &mut Vec<T>) {
        let mut now = self.now.iter();
        values.retain(|_| now.next().is_some_and(|&now| now != GONE));
    }

    fn rename(&self, index: &mut u32) {
        *index = self.now[*index as usize];
    }
}

impl Scene {
    /// Removes parts: ranges of particles, with all constraints, triangles, attachments and skinned limits that contain one of
    /// them, the followers of removed sources, and the particles in reserve of removed cloths. Returns the map from the old indices
    /// to the new ones.
    ///
    /// All other particles, constraints and triangles keep their order. Materials, contact materials and colliders stay. Their
    /// ids and those of the remaining attachments stay valid. An orientation is removed with the particles of its segment. The
    /// returned map translates all other ids and ranges. [`crate::Solver::replace_scene`] takes the scene over into a running solver.
    ///
    /// ```
    /// # use supple::{ClothGrid, Reference, Scene, Settings};
    /// let mut scene = Scene::new();
    /// let first = scene.add_cloth_grid(&ClothGrid::default())?;
    /// let second = scene.add_cloth_grid(&ClothGrid { origin: [3.0, 0.0, 0.0], ..ClothGrid::default() })?;
    /// let mut solver = Reference::new(&scene, Settings::default())?;
    /// solver.step(1);
    /// let map = scene.remove(&[first.particles.clone()])?;
    /// solver.replace_scene(&scene, &map)?;
    /// solver.step(1);
    /// assert_eq!(map.particle(first.particles.start), None);
    /// assert_eq!(map.particle(second.particles.start), Some(0));
    /// # Ok::<(), supple::Error>(())
    /// ```
    ///
    /// # Errors
    /// Nothing changes on an error.
    /// - [`Error::IndexOutOfRange`]: a particle does not exist.
    /// - [`Error::CutPart`]: a body, a grid, a group ([`crate::ShapeMatching`], [`crate::Pressure`]) or the
    ///   sources of a follower would be removed in part.
    pub fn remove(&mut self, parts: &[Range<u32>]) -> Result<SceneMap> {
        let mut gone = vec![false; self.particle_count()];
        for part in parts {
            if part.start < part.end {
                self.check_particle("a part to be removed", part.end - 1)?;
                gone[part.start as usize..part.end as usize].fill(true);
            }
        }
        for follower in &self.followers {
            gone[follower.particle as usize] |= follower.sources.iter().all(|&source| gone[source as usize]);
        }
        for cloth in &self.tearable {
            if gone[cloth.vertices.start as usize..cloth.vertices.end as usize].iter().all(|&gone| gone) {
                gone[cloth.copies.start as usize..cloth.copies.end as usize].fill(true);
            }
        }
        let particles = Kept::new(gone.len(), |particle| !gone[particle]);
        self.check_parts(&particles)?;
        let orientations = self.kept_orientations(&particles);
        let is_kept = |set: &ConstraintSet, index: usize| {
            let (points, turned) = set.members_of(index);
            points.iter().all(|&particle| particles.keeps(particle))
                && turned.iter().all(|&orientation| orientations.keeps(orientation))
        };
        let constraints: Vec<Kept> =
            self.constraints.iter().map(|set| Kept::new(set.len(), |index| is_kept(set, index))).collect();
        let triangles = Kept::new(self.triangles.len(), |index| {
            self.triangles[index].iter().all(|&particle| particles.keeps(particle))
        });
        let attachments = Kept::new(self.attachments.len(), |index| {
            let (mut own, mut is_kept) = (self.attachments[index], true);
            own.rename(|particle| is_kept &= particles.keeps(*particle));
            is_kept
        });
        let skinned = Kept::new(self.skinned.rows.len(), |row| particles.keeps(self.skinned.rows[row].particle));
        self.keep([&particles, &orientations, &triangles, &attachments, &skinned], &constraints);
        Ok(SceneMap {
            particles: particles.now,
            orientations: orientations.now,
            constraints: constraints.into_iter().map(|kept| kept.now).collect(),
            triangles: triangles.now,
            attachments: attachments.now,
            skinned: skinned.now,
        })
    }

    /// `Ok` if every part that cannot be cut is kept or removed as a whole.
    fn check_parts(&self, particles: &Kept) -> Result<()> {
        let check = |what: String, kept: u32, count: u32| {
            if kept == 0 || kept == count { Ok(()) } else { Err(Error::CutPart { what, kept, count }) }
        };
        let check_range = |what: &str, range: &Range<u32>| {
            let what = format!("{what} of the particles {} to {}", range.start, range.end.saturating_sub(1));
            check(what, particles.count(range), range.len() as u32)
        };
        self.bodies.iter().try_for_each(|body| check_range("the body", body))?;
        self.tethered_bodies.iter().try_for_each(|body| check_range("the tethered body", &body.particles))?;
        self.grids.iter().try_for_each(|grid| check_range("the grid", &particles_of(grid)))?;
        self.tearable.iter().try_for_each(|cloth| check_range("the tearable cloth", &cloth.vertices))?;
        for follower in &self.followers {
            let own = [follower.particle].into_iter().chain(follower.sources);
            let kept = own.filter(|&particle| particles.keeps(particle)).count() as u32;
            // A follower alone can be removed.
            if particles.keeps(follower.particle) {
                check(format!("follower {} with its sources", follower.particle), kept, 5)?;
            }
        }
        for set in self.constraints.iter().filter(|set| set.info.is_group()) {
            for index in 0..set.len() {
                let (points, _) = set.members_of(index);
                let kept = points.iter().filter(|&&particle| particles.keeps(particle)).count() as u32;
                check(format!("{} constraint {index}", set.info.name), kept, points.len() as u32)?;
            }
        }
        Ok(())
    }

    /// Removes the orientations of removed segments: a constraint that contains them is removed, and none remains.
    /// Constraints with particles decide first, then those of orientations only, such as at a clamp.
    fn kept_orientations(&self, particles: &Kept) -> Kept {
        let mut kept = self.kept_by(particles, None);
        loop {
            let next = self.kept_by(particles, Some(&kept));
            if next.now == kept.now {
                return kept;
            }
            kept = next;
        }
    }

    /// The orientations that remain, by constraints with particles, and from the second round on by all constraints.
    fn kept_by(&self, particles: &Kept, before: Option<&Kept>) -> Kept {
        let count = self.orientations.len();
        let [mut lost, mut held] = [vec![false; count], vec![false; count]];
        for set in self.constraints.iter().filter(|set| set.info.orientations > 0) {
            let counts = set.info.point_count() > 0 || before.is_some();
            for index in 0..if counts { set.len() } else { 0 } {
                let (points, turned) = set.members_of(index);
                let is_kept = points.iter().all(|&particle| particles.keeps(particle))
                    && before.is_none_or(|before| turned.iter().all(|&own| before.keeps(own)));
                let marks = if is_kept { &mut held } else { &mut lost };
                turned.iter().for_each(|&orientation| marks[orientation as usize] = true);
            }
        }
        let was_kept = |own: usize| before.is_none_or(|before| before.keeps(own as u32));
        Kept::new(count, |own| was_kept(own) && (!lost[own] || held[own]))
    }

    /// Keeps particles, orientations, triangles, attachments, skinned particles, and by kind constraints.
    fn keep(&mut self, kept: [&Kept; 5], kept_constraints: &[Kept]) {
        let [kept, kept_orientations, kept_triangles, kept_attachments, kept_skinned] = kept;
        // All fields are listed, so a new field does not compile until it is handled.
        let Self {
            positions,
            velocities,
            inverse_masses,
            pinned,
            triangles,
            constraints,
            materials: _,
            interned: _,
            grids: _,
            tethered_bodies: _,
            bodies: _,
            followers,
            rest_positions,
            contact_materials: _,
            particle_contacts,
            contact_scales,
            friction_pairs: _,
            colliders: _,
            orientations,
            orientation_pins,
            cord_edges,
            attachments,
            attachment_ids,
            attachment_generation,
            reserved_attachments: _,
            skinned,
            tearable: _,
            tear_strains: _,
        } = self;
        for values in [positions, velocities, rest_positions] {
            kept.retain(values);
        }
        kept.retain(inverse_masses);
        kept.retain(pinned);
        kept.retain(particle_contacts);
        // Empty if no particle has a scale.
        kept.retain(contact_scales);
        kept_orientations.retain(orientations);
        kept_orientations.retain(orientation_pins);
        kept_triangles.retain(triangles);
        kept_attachments.retain(attachments);
        let attachment_count = attachment_ids.len();
        kept_attachments.retain(attachment_ids);
        *attachment_generation += u32::from(attachment_ids.len() < attachment_count);
        kept_skinned.retain(&mut skinned.rows);
        let rename = |particle: &mut u32| kept.rename(particle);
        triangles.iter_mut().flatten().for_each(rename);
        attachments.iter_mut().for_each(|attachment| attachment.rename(rename));
        skinned.rename(rename);
        cord_edges.retain(|edge| edge.iter().all(|&particle| kept.keeps(particle)));
        cord_edges.iter_mut().flatten().for_each(rename);
        followers.retain(|follower| kept.keeps(follower.particle));
        let named = |own: &mut Follower| own.sources.iter_mut().chain([&mut own.particle]).for_each(rename);
        followers.iter_mut().for_each(named);
        for (set, own) in constraints.iter_mut().zip(kept_constraints) {
            keep_constraints(set, own, kept, kept_orientations);
        }
        self.keep_ranges(kept, kept_triangles, kept_constraints);
    }

    /// Keeps parts that are ranges, and the strengths of edges.
    fn keep_ranges(&mut self, kept: &Kept, triangles: &Kept, constraints: &[Kept]) {
        let Self { grids, bodies, tethered_bodies, tearable, tear_strains, .. } = self;
        let distances = &constraints[kind_index(Distance::INFO)];
        let twins = twin_kinds().map(|kind| &constraints[kind]);
        grids.retain(|grid| kept.count(&particles_of(grid)) > 0);
        grids.iter_mut().for_each(|grid| kept.rename(&mut grid.first));
        bodies.retain(|body| kept.count(body) > 0);
        bodies.iter_mut().for_each(|body| *body = kept.range(body));
        tethered_bodies.retain(|body| kept.count(&body.particles) > 0);
        tear_strains.retain(|edge, _| edge.iter().all(|&particle| kept.keeps(particle)));
        *tear_strains =
            tear_strains.iter().map(|(edge, &strain)| (edge.map(|own| kept.now[own as usize]), strain)).collect();
        tearable.retain(|cloth| kept.count(&cloth.vertices) > 0);
        for cloth in tearable {
            cloth.vertices = kept.range(&cloth.vertices);
            cloth.copies = kept.range(&cloth.copies);
            cloth.triangles = triangles.range(&cloth.triangles);
            cloth.twins.iter_mut().zip(twins).for_each(|(own, kept)| *own = kept.range(own));
        }
        for body in tethered_bodies {
            body.particles = kept.range(&body.particles);
            body.triangles = triangles.range(&body.triangles);
            body.edges = distances.range(&body.edges);
        }
    }
}

fn particles_of(grid: &Grid) -> Range<u32> {
    grid.first..grid.first + grid.columns * grid.rows
}

/// Keeps constraints of a set, and renames their particles and orientations.
fn keep_constraints(set: &mut ConstraintSet, own: &Kept, particles: &Kept, orientations: &Kept) {
    let (info, size) = (set.info, set.info.record_words);
    let old = std::mem::take(&mut set.words);
    let old_rows = std::mem::take(&mut set.rows);
    set.slot_count = 0;
    let records: Vec<&[u32]> = old.chunks_exact(size).collect();
    for (index, record) in records.iter().enumerate().filter(|(index, _)| own.keeps(*index as u32)) {
        let first_word = set.words.len();
        set.words.extend_from_slice(record);
        let record = &mut set.words[first_word..];
        if info.is_group() {
            // The rows of a group end where those of the next one begin.
            let (first, end) =
                (record[0] as usize, records.get(index + 1).map_or(old_rows.len(), |next| next[0] as usize));
            let (now, members) = (set.rows.len() as u32, group::member_rows(record));
            set.rows.extend_from_slice(&old_rows[first..end]);
            for member in members.step_by(group::MEMBER_ROWS) {
                let member = &mut set.rows[now as usize + member - first];
                member[3] = (member[3] + now).saturating_sub(first as u32);
            }
            (record[0], record[2]) = (now, set.slot_count);
            set.slot_count += record[1];
        } else {
            record[info.point_count()..info.arity].iter_mut().for_each(|index| orientations.rename(index));
        }
    }
    set.rename(|particle| particles.rename(particle));
    let plastic = std::mem::take(&mut set.plastic).into_iter();
    let plastic = plastic.map(|(constraint, plasticity)| (own.now[constraint as usize], plasticity));
    set.plastic = plastic.filter(|(constraint, _)| *constraint != GONE).collect();
}
