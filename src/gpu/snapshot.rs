//! Snapshots: the state of a solver, to continue later, in another solver, or on another device.

use super::buffers::Buffers;
use super::contacts::Contacts;
use super::readback::Readback;
use super::snapshot_bytes::Section;
use super::solver::Solver;
use super::{contacts, guarded};
use crate::error::{Error, Result};
use crate::gpu::pipelines::KindStages;
use crate::settings::Settings;
use crate::sim::controls::Controls;
use crate::words::{WordReader, WordWriter, damaged};
use std::collections::BTreeSet;

/// The state of a [`Solver`] at one point in time, by [`Solver::snapshot`] or [`Solver::request_snapshot`].
///
/// It contains all that a step reads and that may change. Of the particles: positions, displacements, residuals, velocities, pins, targets
/// and masses. Of the constraints: multipliers, rotations, plastic strains, materials and changed parameters. Of the contacts: pair lists,
/// friction anchors, events, and colliders with their poses. It also contains attachments, skinned poses, joints, settings, the shift of the origin and the clock,
/// but not the scene itself. Tears of cloth are part of it.
#[derive(Clone, PartialEq)]
pub struct Snapshot {
    pub(super) scene: String,
    pub(super) layout: String,
    pub(super) settings: Settings,
    pub(super) host: Vec<u32>,
    pub(super) sections: Vec<Section>,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes: usize = self.sections.iter().map(|section| section.bytes.len()).sum();
        f.debug_struct("Snapshot").field("scene", &self.scene).field("bytes", &bytes).finish_non_exhaustive()
    }
}

impl Snapshot {
    /// The settings of the solver, as given ([`Solver::settings`]). A solver for [`Solver::restore`] is created with them.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    fn section(&self, name: &str) -> Result<&Section> {
        self.sections.iter().find(|section| section.name == name).ok_or_else(|| damaged(format!("it lacks {name}")))
    }
}

/// Host state of a solver beside [`Controls`].
struct Clock {
    steps: u32,
    real_time_left: f32,
    recorded_substep: f32,
    recorded_substeps: u32,
    anchors: u32,
}

impl Clock {
    fn write(&self, w: &mut WordWriter) {
        let Self { steps, real_time_left, recorded_substep, recorded_substeps, anchors } = *self;
        [steps, recorded_substeps, anchors].into_iter().for_each(|word| w.word(word));
        w.floats(&[real_time_left, recorded_substep]);
    }

    fn read(r: &mut WordReader<'_>) -> Result<Self> {
        let [steps, recorded_substeps, anchors] = r.words()?;
        let [real_time_left, recorded_substep] = r.floats()?;
        if anchors > 1 {
            return Err(damaged(format!("it reads the list of pins {anchors}")));
        }
        Ok(Self { steps, real_time_left, recorded_substep, recorded_substeps, anchors })
    }
}

/// The buffers with state that outlasts a step: name, buffer, and size of the state \[bytes\]. Other buffers are constant, uploaded from the host state, or
/// written before they are read in each step.
pub(super) fn state_buffers<'a>(
    b: &'a Buffers,
    contacts: &'a Contacts,
    controls: &Controls,
) -> Vec<(String, &'a wgpu::Buffer, u64)> {
    let mut all: Vec<(String, &wgpu::Buffer)> = [
        ("positions", &b.positions),
        ("displacements", &b.displacements),
        ("residuals", &b.residuals),
        ("velocities", &b.velocities),
        ("frames", &b.frames),
        ("tether_displacements", &b.tether_displacements),
        ("contact_events", &b.contact_events),
        ("event_table", &b.event_table),
        ("anchors.0", &b.anchors[0]),
        ("anchors.1", &b.anchors[1]),
        ("status", &b.status),
        ("attachment_states", &b.attachments[2]),
        ("skinned_poses", &b.skinned.poses),
        ("skinned_states", &b.skinned.states),
    ]
    .map(|(name, buffer)| (name.to_owned(), buffer))
    .into();
    // The buffer remains when forces are turned off.
    all.extend(controls.settings.forces.then(|| ("forces".to_owned(), &b.forces)));
    for (kind, own) in controls.compiled.kinds.iter().zip(&b.kinds).filter(|(kind, _)| kind.len() > 0) {
        let label = |part: &str| format!("{part}.{}", kind.info.name);
        all.extend([(label("lambdas"), &own.lambdas), (label("rotations"), &own.rotations)]);
        all.push((label("plastic_states"), &own.plastic[1]));
        all.extend(own.force_sums.iter().map(|sums| (label("force_sums"), sums)));
    }
    all.extend(contacts.state_buffers(controls).into_iter().map(|(name, buffer)| (format!("contacts.{name}"), buffer)));
    let mut all: Vec<_> = all.into_iter().map(|(name, buffer)| (name, buffer, buffer.size())).collect();
    all.push(("targets".into(), &b.targets, size_of_val(controls.targets.as_slice()) as u64));
    all
}

impl Solver {
    /// Requests a snapshot at this point of the encoder. Of the host it contains the state at the time of the call, so request
    /// it after [`Solver::encode`] in the same encoder.
    pub fn request_snapshot(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Snapshot> {
        let mut host = WordWriter::default();
        let clock = Clock {
            steps: self.steps,
            real_time_left: self.real_time.left,
            recorded_substep: self.recorded_substep,
            recorded_substeps: self.recorded_substeps,
            anchors: self.ping_pong.anchors as u32,
        };
        clock.write(&mut host);
        self.controls.write_words(&mut host);
        let buffers = state_buffers(&self.buffers, &self.contacts, &self.controls);
        let (names, copied): (Vec<String>, Vec<_>) =
            buffers.into_iter().map(|(name, buffer, size)| (name, (buffer, 0, size))).unzip();
        let (scene, layout) = (self.controls.scene_fingerprint(), self.controls.layout_fingerprint());
        let (settings, host) = (self.user_settings, host.0);
        Readback::of_parts(&self.device, encoder, &copied, move |parts| {
            let sections = names.iter().zip(parts).map(|(name, bytes)| Section::new(name, bytes));
            let (scene, layout, host) = (scene.clone(), layout.clone(), host.clone());
            Snapshot { scene, layout, settings, host, sections: sections.collect() }
        })
    }

    /// Waits for all submitted work and takes a snapshot. Native targets only; a browser requests it
    /// ([`Solver::request_snapshot`]).
    ///
    /// ```no_run
    /// # fn main() -> supple::Result<()> {
    /// # let (scene, settings) = (supple::Scene::new(), supple::Settings::default());
    /// # let gpu = supple::gpu::Context::new(supple::required_limits(&scene))?;
    /// # let solver = supple::Solver::new(&gpu.device, &gpu.queue, &scene, settings)?;
    /// use supple::{Solver, gpu::Snapshot};
    /// let bytes = solver.snapshot()?.to_bytes();
    /// // Later, perhaps on another device:
    /// let snapshot = Snapshot::from_bytes(&bytes)?;
    /// let mut solver = Solver::new(&gpu.device, &gpu.queue, &scene, *snapshot.settings())?;
    /// solver.restore(&snapshot)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn snapshot(&self) -> Result<Snapshot> {
        super::reading::read(&self.device, &self.queue, |encoder| self.request_snapshot(encoder))
    }

    /// Continues from a snapshot: of this solver, or of another one of the same scene. On the same adapter, and on adapters
    /// that round alike, the simulation continues bit for bit. Like all changes it consists of queued writes: submit recorded
    /// steps first.
    ///
    /// All that [`Snapshot`] lists is replaced, settings included. Ids of colliders and attachments that were valid at the time
    /// of the snapshot are valid again. Lists of contacts grow to the capacity that they had. Vertex outputs stay.
    ///
    /// The solver needs the scene and the settings of the snapshot: create it with [`Snapshot::settings`], or call
    /// [`Solver::set_settings`] before. `dt`, substeps, gravity, damping, wind and fields may differ, and are replaced. If
    /// [`crate::Execution::Auto`] resolves to another execution on another adapter, choose the one of the snapshot explicitly.
    ///
    /// # Errors
    /// Nothing changes on an error.
    /// - [`Error::SnapshotMismatch`]: another scene, or settings that determine buffers or the order of constraints.
    /// - [`Error::SnapshotBytes`]: the state does not fit the solver.
    /// - [`Error::LimitExceeded`]: lists of contacts or colliders exceed the limits of this device.
    /// - [`Error::DeviceLost`], [`Error::OutOfMemory`], [`Error::Gpu`].
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        guarded(&self.device, || Ok(()))?;
        let (clock, controls) = self.restored_controls(snapshot)?;
        let keys = self.controls.changed_constraints.keys().chain(controls.changed_constraints.keys());
        let kinds: BTreeSet<usize> = keys.map(|&(kind, _)| kind).collect();
        // With the present parameters, which stay if a later call fails.
        kinds.iter().try_for_each(|&kind| self.upload_records(kind))?;
        let before = std::mem::replace(&mut self.controls, controls);
        match self.fit_restored(&before, snapshot, &kinds) {
            Ok(Some(contacts)) => self.contacts = contacts,
            Ok(None) => {}
            Err(error) => {
                self.controls = before;
                return Err(error);
            }
        }
        self.user_settings = Settings { execution: self.user_settings.execution, ..snapshot.settings };
        self.upload_restored(snapshot, &kinds);
        self.steps = clock.steps;
        self.real_time.left = clock.real_time_left;
        (self.recorded_substep, self.recorded_substeps) = (clock.recorded_substep, clock.recorded_substeps);
        self.ping_pong.anchors = clock.anchors as usize;
        self.derived_is_stale = true;
        Ok(())
    }

    /// The host state of a snapshot of the same scene and layout.
    fn restored_controls(&self, snapshot: &Snapshot) -> Result<(Clock, Controls)> {
        let own = [self.controls.scene_fingerprint(), self.controls.layout_fingerprint()];
        let pairs = [("scene", &snapshot.scene), ("settings", &snapshot.layout)].into_iter().zip(own);
        for ((what, of_snapshot), solver) in pairs {
            if *of_snapshot != solver {
                return Err(Error::SnapshotMismatch { what, snapshot: of_snapshot.clone(), solver });
            }
        }
        let mut controls = self.controls.clone();
        controls.settings = Settings { execution: self.controls.settings.execution, ..snapshot.settings };
        controls.compiled.check_bodies(&controls.settings)?;
        let mut reader = WordReader(&snapshot.host);
        let clock = Clock::read(&mut reader)?;
        controls.read_words(&mut reader)?;
        // Ids given after the snapshot name no later object.
        controls.colliders = controls.colliders.continuing_ids_of(&self.controls.colliders);
        controls.attachments = controls.attachments.continuing_ids_of(&self.controls.attachments);
        if !reader.0.is_empty() {
            return Err(damaged(format!("{} words follow its state", reader.0.len())));
        }
        Ok((clock, controls))
    }

    /// Creates the passes and buffers of the restored state; returns other contacts if it needs them. Buffers that are replaced
    /// here have no state, or the present one.
    fn fit_restored(
        &mut self,
        before: &Controls,
        snapshot: &Snapshot,
        kinds: &BTreeSet<usize>,
    ) -> Result<Option<Contacts>> {
        self.fit_passes()?;
        self.remake_accelerations()?;
        for &kind in kinds {
            // Tiles read changed parameters from records.
            let (store, compiled) = (&self.store, &self.controls.compiled);
            let make = || Ok(KindStages::new(store, compiled, kind, self.keep_lambdas));
            self.pipelines.kinds[kind] = store.guarded(make)?;
        }
        self.rebind();
        let controls = &self.controls;
        let lists = |own: &Controls| [own.capacities.pairs, own.capacities.contacts];
        let is_other = controls.colliders.len() != before.colliders.len()
            || controls.scene.triangles != before.scene.triangles
            || controls.scene.contact_materials != before.scene.contact_materials
            || controls.scene.contact_scales != before.scene.contact_scales
            || lists(controls) != lists(before)
            || !self.contacts.fits(controls);
        let make = || contacts::remake(&self.store, &self.queue, controls, &self.buffers);
        let contacts = is_other.then(make).transpose()?;
        for (name, buffer, size) in state_buffers(&self.buffers, contacts.as_ref().unwrap_or(&self.contacts), controls)
        {
            let section = snapshot.section(&name)?;
            // The list of targets grows below.
            if section.size > size.max(buffer.size()) {
                let (of_snapshot, own) = (section.size, buffer.size());
                return Err(damaged(format!("{name} has {of_snapshot} bytes, but the buffer of the solver has {own}")));
            }
        }
        self.fit_targets(self.controls.targets.len())?;
        Ok(contacts)
    }

    /// Queues the writes of the restored state.
    fn upload_restored(&mut self, snapshot: &Snapshot, kinds: &BTreeSet<usize>) {
        self.contact_params = self.controls.contact_params();
        self.forget_counters();
        self.upload_settings();
        let controls = &self.controls;
        self.upload_torn();
        self.contacts.write_seams(&self.queue, controls);
        self.write(&self.buffers.pins, 0, &controls.pins);
        self.write_attachment_order();
        self.upload_skinning();
        self.upload_tethers();
        for &kind in kinds {
            self.write(&self.buffers.kinds[kind].records, 0, &controls.compiled.kinds[kind].records);
            self.write(&self.buffers.kinds[kind].plastic[0], 0, &controls.compiled.kinds[kind].plastic);
        }
        for (name, buffer, _) in state_buffers(&self.buffers, &self.contacts, controls) {
            if let Ok(section) = snapshot.section(&name) {
                self.write(buffer, 0, &section.contents());
            }
        }
    }
}
