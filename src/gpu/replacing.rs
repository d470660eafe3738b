//! Parts that come and go while a simulation runs: a solver of the edited scene takes over the state of what remains.

use super::contacts::COLLIDER_CONTACT_BYTES;
use super::opening::{free_failed, is_too_large, opened};
use super::skinned::POSE_BYTES;
use super::snapshot::state_buffers;
use super::solver::Solver;
use crate::constraints::plasticity::PlasticState;
use crate::error::Result;
use crate::scene::{Scene, SceneMap};
use crate::settings::{Execution, Settings};
use crate::sim::attachments::AttachmentState;
use crate::sim::replacing::{Move, moves, runs};
use std::collections::HashMap;

/// Bytes of a row of a buffer of particles or of orientations.
const ROW_BYTES: u64 = 16;

/// The rows of a buffer that are copied.
struct Rows {
    moves: Vec<Move>,
    /// Bytes of a row.
    bytes: u64,
}

impl Solver {
    /// Replaces the scene by an edited one: parts come and go while the simulation runs. Native targets only; a browser calls
    /// [`Solver::replace_scene_async`].
    ///
    /// Edit the scene of the solver or a clone of it: add parts with its builders, remove parts by [`Scene::remove`]. `map` is
    /// the result of that, or of [`Scene::map`] before the first addition, or several edits joined by [`SceneMap::then`].
    ///
    /// ```
    /// # use supple::{Reference, Rope, Scene, Settings};
    /// # let mut scene = Scene::new();
    /// # let points = [[0.0; 3], [0.1, 0.0, 0.0], [0.2, 0.0, 0.0]];
    /// # let rope = Rope { points: &points, cord: supple::Cord::limp(0.01, 100.0), tethers: None };
    /// # scene.add_rope(&rope)?;
    /// # let mut solver = Reference::new(&scene, Settings::default())?;
    /// let map = scene.map();
    /// let parts = scene.add_rope(&rope)?;
    /// solver.replace_scene(&scene, &map)?;
    /// solver.pin(&[parts.particles.start])?;
    /// # Ok::<(), supple::Error>(())
    /// ```
    ///
    /// Remaining parts keep positions, velocities, rounding residuals, pins, targets, masses, forces, multipliers, plastic
    /// strains, tears, materials, changed parameters, collider contacts, attachments with their ids, skinned poses, limits and
    /// joints. Colliders, settings, clocks and the shift of the origin stay. Parts that are added start as in the scene, whose
    /// positions are those before [`Solver::shift_origin`].
    ///
    /// If no part that remains touches a part that is added or removed, it continues with the same bits, except:
    ///
    /// - Lists of self-collision are searched anew, and their friction anchors and contact events begin anew.
    /// - With [`crate::Execution::Auto`] on a software adapter or on the CPU, a kind of constraints changes from colours to
    ///   tiles when 4096 of them are in grids. Choose the execution explicitly to avoid it. On other GPUs the execution stays, unless
    ///   clusters exceed the memory of the device.
    /// - The first plastic constraint of a kind, and grids of more materials or cell sizes than a tile can hold, change the tiles
    ///   of that kind to colours.
    /// - [`crate::ColorOrder::Shuffled`] draws another order if a part adds colours.
    /// - With the first group or the last one, colliders push after each iteration of contacts or no longer, and the default of
    ///   [`crate::SelfCollision::iterations`] changes.
    /// - Added groups of another size class ([`crate::ShapeMatching`], [`crate::Pressure`]) can change the number of threads of
    ///   each group, and the order of their sums.
    ///
    /// The whole scene is compiled again and all buffers are new: get [`Solver::positions`] and others again, and add vertex
    /// outputs again, which are removed. Pipelines in [`Solver::pipeline_store`] are reused. The call submits one copy to the
    /// queue; submit recorded steps first. Forces of tethers read 0 until the next step, and
    /// [`crate::Diagnostics::first_non_finite`] is reset.
    ///
    /// # Errors
    /// Nothing changes on an error.
    /// - [`crate::Error::SceneMap`]: the map is of another scene; the new scene has fewer materials, or other colliders or attachments:
    ///   call [`Solver::add_collider`] and [`Solver::attach`] instead.
    /// - As [`Solver::new`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn replace_scene(&mut self, scene: &Scene, map: &SceneMap) -> Result<()> {
        pollster::block_on(self.replace_scene_async(scene, map))
    }

    /// As [`Solver::replace_scene`], without blocking. A future that is dropped before it is ready changes nothing.
    ///
    /// # Errors
    /// As [`Solver::replace_scene`].
    pub async fn replace_scene_async(&mut self, scene: &Scene, map: &SceneMap) -> Result<()> {
        let settings = self.controls.settings;
        let may_fall_back =
            self.user_settings.execution == Execution::Auto && settings.execution == Execution::Clusters;
        let mut auto = self.auto;
        let mut new = match opened(&self.store, &self.queue, self.controls.replaced(scene, map)?).await {
            Err(error) if may_fall_back && is_too_large(&error) => {
                free_failed(&self.device, &self.queue);
                auto = Execution::Tiles;
                let mut controls = self.controls.replaced(scene, map)?;
                controls.set_settings(Settings { execution: auto, ..settings })?;
                opened(&self.store, &self.queue, controls).await?
            }
            other => other?,
        };
        new.fit_targets(new.controls.targets.len())?;
        new.upload_state();
        new.upload_targets();
        let carry = || {
            self.carry_buffers(&new, map);
            Ok(())
        };
        self.store.guarded_async(carry).await?;
        new.vertex_outputs = self.vertex_outputs.emptied();
        (new.auto, new.user_settings, new.steps) = (auto, self.user_settings, self.steps);
        new.real_time = self.real_time;
        (new.recorded_substep, new.recorded_substeps) = (self.recorded_substep, self.recorded_substeps);
        new.derived_is_stale = true;
        *self = new;
        Ok(())
    }

    /// Copies the state of what remains into the buffers of another solver.
    fn carry_buffers(&self, new: &Self, map: &SceneMap) {
        let rows = self.carried_rows(new, map);
        let buffers = |solver: &Self| {
            let all = state_buffers(&solver.buffers, &solver.contacts, &solver.controls).into_iter();
            all.map(|(name, buffer, _)| (name, buffer.clone())).collect::<HashMap<String, wgpu::Buffer>>()
        };
        let [old, now] = [self, new].map(buffers);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        for (name, Rows { moves, bytes }) in rows {
            let (Some(from), Some(to)) = (old.get(&name), now.get(&name)) else { continue };
            for (range, first) in runs(moves) {
                let [source, target] = [u64::from(range.start) * bytes, u64::from(first) * bytes];
                encoder.copy_buffer_to_buffer(from, source, to, target, range.len() as u64 * bytes);
            }
        }
        self.queue.submit([encoder.finish()]);
    }

    /// The rows that are copied, by the name of the buffer.
    fn carried_rows(&self, new: &Self, map: &SceneMap) -> Vec<(String, Rows)> {
        let (own, other) = (&self.controls, &new.controls);
        let entities = own.entity_moves(other, map);
        let mut all = Vec::new();
        let mut add = |name: String, bytes: u64, moves: Vec<Move>| all.push((name, Rows { moves, bytes }));
        for name in ["positions", "displacements", "residuals", "velocities", "forces"] {
            add(name.into(), ROW_BYTES, entities.clone());
        }
        add("frames".into(), ROW_BYTES, moves(&map.orientations).collect());
        // All words but the index of a particle, `first_non_finite`.
        add("status".into(), 4, [0, 1, 2, 3, 4, 5, 6, 8].map(|word| [word, word]).into());
        for (name, buffer) in self.contacts.state_buffers(own) {
            match name {
                // The list of colliders is the same: one row.
                "colliders" | "collider_forces" => add(format!("contacts.{name}"), buffer.size(), vec![[0, 0]]),
                "collider_contacts" => {
                    add(format!("contacts.{name}"), COLLIDER_CONTACT_BYTES, moves(&map.particles).collect());
                }
                _ => {}
            }
        }
        let attached = other.attachments.live().map(|id| [id.index() as u32; 2]).collect();
        add("attachment_states".into(), size_of::<AttachmentState>() as u64, attached);
        let skinned: Vec<Move> = moves(&map.skinned).collect();
        for name in ["skinned_poses", "skinned_states"] {
            add(name.into(), POSE_BYTES, skinned.clone());
        }
        for (index, kind) in own.compiled.kinds.iter().enumerate().filter(|(_, kind)| kind.len() > 0) {
            let label = |part: &str| format!("{part}.{}", kind.info.name);
            let records = own.record_moves(other, map, index);
            if self.keep_lambdas && new.keep_lambdas {
                for part in ["lambdas", "force_sums"] {
                    add(label(part), 4 * kind.info.lambda_count() as u64, records.clone());
                }
            }
            let plastic = own.plastic_moves(other, map, index);
            add(label("plastic_states"), size_of::<PlasticState>() as u64, plastic);
            if kind.info.is_group() {
                add(label("rotations"), ROW_BYTES, records);
            }
        }
        all
    }
}
