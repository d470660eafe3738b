//! Measurements of contacts.

use crate::{Drive, Measure};
use serde_json::json;
use supple::gpu::Readback;
use supple::{ContactReport, Pose, Scene, Solver, wgpu};
use supple_demos::colliders::signed_distance;
use supple_demos::contacts;
use supple_demos::{Figures, Script};

/// The number of steps between two counts of intersections.
const LOOKED_AT: u32 = 10;

/// A scene that is driven and measured.
pub struct Observed {
    scene: Scene,
    drive: Option<Drive>,
    moved: Vec<(usize, Pose)>,
    measure: Measure,
    without: Option<f64>,
    /// Measurements of each step without a window; `None` with one.
    seen: Option<Seen>,
    /// The report shown in a window, and the readback in flight.
    shown: ContactReport,
    asked: Option<Readback<ContactReport>>,
}

/// The worst values so far.
#[derive(Default, Clone, Copy)]
struct Seen {
    step: u32,
    /// The deepest penetration of a free particle into a collider [m].
    deepest: f64,
    /// The number of edge-triangle intersections, counted every tenth step.
    intersections: u64,
}

impl Observed {
    /// `without` is the time of a step without contacts between particles [ms]. Expensive host measurements run only if
    /// `watched`, without a window.
    pub fn new(scene: &Scene, drive: Option<Drive>, measure: Measure, without: Option<f64>, watched: bool) -> Self {
        let seen = watched.then(Seen::default);
        let scene = scene.clone();
        Self { scene, drive, moved: Vec::new(), measure, without, seen, shown: ContactReport::default(), asked: None }
    }

    /// The deepest penetration of a free particle into a collider [m], or behind the surface of a shell; 0 if there is
    /// none, and for colliders of unknown shape.
    fn deepest(&self, positions: &[[f32; 3]]) -> f64 {
        let (rest, masses) = (self.scene.positions(), self.scene.inverse_masses());
        let mut deepest = 0f64;
        for (index, collider) in self.scene.colliders().iter().enumerate() {
            let pose = self.moved.iter().find(|moved| moved.0 == index).map_or(collider.pose, |moved| moved.1);
            for particle in (0..positions.len()).filter(|&particle| masses[particle] > 0.0) {
                let Some(distance) = signed_distance(collider, &pose, positions[particle]) else { continue };
                let start = signed_distance(collider, &collider.pose, rest[particle]).unwrap_or(1.0);
                let side = if collider.two_sided && start < 0.0 { -1.0 } else { 1.0 };
                deepest = deepest.max(-side * distance);
            }
        }
        deepest
    }
}

impl Script for Observed {
    fn drive(&mut self, solver: &mut Solver, step: u32) -> supple::Result<()> {
        if let Some(drive) = &mut self.drive {
            self.moved = drive(solver, step)?;
        }
        Ok(())
    }

    fn request(&mut self, solver: &Solver, encoder: &mut wgpu::CommandEncoder) {
        if self.asked.is_none() {
            self.asked = Some(solver.request_contacts(encoder));
        }
    }

    fn moved_colliders(&self) -> &[(usize, Pose)] {
        &self.moved
    }

    fn observe(&mut self, positions: &[[f32; 3]]) -> supple::Result<()> {
        let Some(Seen { step, deepest, intersections }) = self.seen else { return Ok(()) };
        let step = step + 1;
        let crossings =
            if step.is_multiple_of(LOOKED_AT) { self.scene.intersections(positions)?.count as u64 } else { 0 };
        let deepest = deepest.max(self.deepest(positions));
        self.seen = Some(Seen { step, deepest, intersections: intersections.max(crossings) });
        Ok(())
    }

    fn panel(&mut self, ui: &mut egui::Ui) {
        match self.asked.as_mut().map(Readback::try_take) {
            Some(Ok(Some(report))) => (self.shown, self.asked) = (report, None),
            Some(Err(_)) => self.asked = None,
            Some(Ok(None)) | None => {}
        }
        let ContactReport { pairs, contacts, lost, crossings, .. } = self.shown;
        ui.label(format!("contacts: {contacts} of {pairs} pairs; {lost} lost"));
        if let Some(crossings) = crossings {
            ui.label(format!("{crossings} crossings"));
        }
    }

    fn figures(&mut self, solver: &Solver) -> supple::Result<Figures> {
        let positions = solver.read_positions()?;
        let mut figures = contacts::figures(&self.scene, solver, &positions)?;
        let crossings = figures["self_intersections"].as_u64().unwrap_or(0);
        let mut add = |name: &str, value: serde_json::Value| figures.insert(name.into(), value);
        add("deepest_penetration", json!(self.deepest(&positions)));
        if let Some(Seen { deepest, intersections, .. }) = self.seen {
            add("deepest_penetration_max", json!(deepest));
            add("self_intersections_max", json!(intersections.max(crossings)));
        }
        if let Some(without) = self.without {
            add("ms_per_frame_median_without", json!(without));
        }
        figures.extend((self.measure)(&positions));
        Ok(figures)
    }
}
