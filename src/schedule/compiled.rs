//! The compiled scene: records sorted by schedule, data of mass splitting, and the triangles around each particle.
//!
//! A scene is compiled once; both backends read the result. State that changes at run time (pins, targets, materials,
//! settings) is in [`crate::sim::controls`].

use crate::error::{Error, Result};
use crate::scene::{ConstraintSet, Follower, Scene, TetherGraph, rows_of};
use crate::schedule::chains::Chains;
use crate::schedule::changes::link_joints;
use crate::schedule::compiled_kind::CompiledKind;
use crate::schedule::contacts::ContactElements;
use crate::schedule::rings::Rings;
use crate::schedule::skins::Skins;
use crate::schedule::tearing::TearMesh;
use crate::settings::{Settings, Sweep};
use std::borrow::Cow;
use std::ops::Range;

/// Maximum number of loop iterations of one GPU thread. Mesa's software driver silently ends all loops of an invocation
/// after 65 535 iterations in total.
pub(crate) const MAX_LOOP: u64 = 60_000;

/// The use of a compiled scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Scene,
    /// The asset of [`crate::Instances`]: without trees, mass splitting and skins.
    Asset,
}

/// The scene data that both backends read.
#[derive(Debug, Clone)]
pub(crate) struct CompiledScene {
    /// One entry per kind of [`crate::constraints::KINDS`].
    pub kinds: Vec<CompiledKind>,
    pub purpose: Purpose,
    pub chains: Chains,
    pub orientation_count: u32,
    pub rings: Rings,
    /// Maximum number of tethers of a particle.
    pub most_tethers: u32,
    /// By particle: first tether row · 16 + number of tethers.
    pub tether_runs: Vec<u32>,
    /// True if all particles have `most_tethers` tethers, stored consecutively.
    pub all_tethered: bool,
    /// First particle and particle count of each body with body damping: all but tearable cloths, whose pieces move apart.
    pub bodies: Vec<[u32; 2]>,
    pub followers: Vec<Follower>,
    pub skins: Skins,
    pub contact_elements: ContactElements,
    pub tearing: Option<TearMesh>,
}

/// The input of the schedules of all kinds.
#[derive(Clone, Copy)]
pub(super) struct ScheduleInput<'a> {
    pub scene: &'a Scene,
    pub settings: &'a Settings,
    pub purpose: Purpose,
    pub skins: &'a Skins,
    pub tearing: Option<&'a TearMesh>,
}

impl ScheduleInput<'_> {
    /// Only these have trees, chains, skins, and mass splitting at hubs.
    pub fn is_gauss_seidel_scene(&self) -> bool {
        self.settings.sweep == Sweep::GaussSeidel && self.purpose == Purpose::Scene
    }
}

impl CompiledScene {
    pub fn new(scene: &Scene, settings: &Settings, purpose: Purpose) -> Result<Self> {
        #[cfg(feature = "internals")]
        counted::add();
        let particle_count = scene.particle_count();
        let most_tethers = TetherGraph::runs(scene).map(|(_, _, per_particle)| per_particle).max().unwrap_or(0);
        let tether_runs = tether_runs(scene);
        let run_of = |particle: usize| (particle as u32 * rows_of(most_tethers)) << 4 | most_tethers;
        let all_tethered = tether_runs.iter().enumerate().all(|(particle, &run)| run == run_of(particle));
        let tears = |body: &&Range<u32>| scene.tearable.iter().any(|cloth| cloth.vertices.start == body.start);
        let whole = scene.bodies.iter().filter(|body| !tears(body));
        let bodies: Vec<[u32; 2]> = whole.map(|body| [body.start, body.len() as u32]).collect();
        let rings = Rings::new(&scene.triangles, particle_count)?;
        let skins = match purpose {
            Purpose::Scene => Skins::new(&scene.constraints, particle_count),
            Purpose::Asset => Skins::default(),
        };
        let sets: Vec<_> = scene.constraints.iter().map(|set| set.with_entities(particle_count)).collect();
        let tearing = TearMesh::new(scene)?;
        let input = ScheduleInput { scene, settings, purpose, skins: &skins, tearing: tearing.as_ref() };
        let (kinds, chains) = Self::compile_kinds(&sets, input)?;
        Ok(Self {
            kinds,
            chains,
            purpose,
            orientation_count: scene.orientations.len() as u32,
            rings,
            most_tethers,
            tether_runs,
            all_tethered,
            bodies,
            followers: scene.followers.clone(),
            skins,
            contact_elements: ContactElements::new(scene),
            tearing,
        })
    }

    /// Schedules the constraints of all kinds.
    fn compile_kinds(sets: &[Cow<'_, ConstraintSet>], input: ScheduleInput<'_>) -> Result<(Vec<CompiledKind>, Chains)> {
        let chains = if input.is_gauss_seidel_scene() {
            Chains::new(sets, input.scene.entity_count())
        } else {
            Chains::default()
        };
        let compile = |set: &Cow<'_, ConstraintSet>| CompiledKind::new(set, input, &chains);
        let mut kinds = sets.iter().map(compile).collect::<Result<Vec<_>>>()?;
        link_joints(&mut kinds);
        if let Some(mesh) = input.tearing {
            mesh.write_bound(&mut kinds, input.scene);
        }
        Ok((kinds, chains))
    }

    /// Reschedules the constraints for other settings; their current parameters are kept.
    pub fn reschedule(&mut self, scene: &Scene, settings: &Settings) -> Result<()> {
        let mut sets: Vec<_> = self.kinds.iter().map(CompiledKind::constraints).collect();
        if let Some(mesh) = &self.tearing {
            sets.iter_mut().enumerate().for_each(|(kind, set)| mesh.restore(kind, &mut set.words, scene));
        }
        let sets: Vec<_> = sets.into_iter().map(Cow::Owned).collect();
        let (purpose, skins, tearing) = (self.purpose, &self.skins, self.tearing.as_ref());
        let input = ScheduleInput { scene, settings, purpose, skins, tearing };
        (self.kinds, self.chains) = Self::compile_kinds(&sets, input)?;
        Ok(())
    }

    /// By kind and constraint, the place of its record.
    pub fn places(&self) -> Vec<Vec<u32>> {
        self.kinds.iter().map(|kind| kind.coloring.places()).collect()
    }

    /// Maximum number of pairs of tethers of a particle; the shaders read two at once.
    pub fn tether_pairs(&self) -> u32 {
        rows_of(self.most_tethers) / 2
    }
}

/// By particle: first tether row · 16 + number of tethers.
fn tether_runs(scene: &Scene) -> Vec<u32> {
    let mut runs = vec![0; scene.particle_count()];
    let mut next = 0u32;
    for (first, count, per_particle) in TetherGraph::runs(scene) {
        for particle in first..first + count {
            runs[particle as usize] = next << 4 | per_particle;
            next += rows_of(per_particle);
        }
    }
    runs
}

/// Returns an error that names `what` if the `iterations` of one thread exceed [`MAX_LOOP`]. The error counts objects:
/// `iterations` times `objects_per_iteration`.
pub(crate) fn check_loop(what: &'static str, iterations: u64, objects_per_iteration: u64) -> Result<()> {
    if iterations <= MAX_LOOP {
        Ok(())
    } else {
        Err(Error::TooLarge {
            what,
            count: iterations * objects_per_iteration,
            limit: MAX_LOOP * objects_per_iteration,
        })
    }
}

/// Counts compilations, for tests.
#[cfg(feature = "internals")]
pub mod counted {
    use std::cell::Cell;

    thread_local! {
        static COMPILED: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn add() {
        COMPILED.set(COMPILED.get() + 1);
    }

    /// The number of scenes that this thread has compiled.
    pub fn compiled_scenes() -> usize {
        COMPILED.get()
    }
}
