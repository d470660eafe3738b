//! Measurements of contacts.

use crate::{Drive, Measure};
use serde_json::json;
use supple::gpu::Readback;
use supple::{ContactReport, Pose, Scene, Solver, wgpu};
use supple_demos::colliders::signed_distance;
use supple_demos::contacts::{self, free_particles};
use supple_demos::{Figures, Script};

/// The number of steps between two counts of intersections.
const INTERSECTION_INTERVAL: u32 = 10;

/// A scene that is driven and measured.
pub struct Observed {
    scene: Scene,
    drive: Option<Drive>,
    moved: Vec<(usize, Pose)>,
    measure: Measure,
    ms_without_contacts: Option<f64>,
    /// Measurements of each step without a window; `None` with one.
    worst: Option<Worst>,
    /// The report shown in a window, and the readback in flight.
    last_report: ContactReport,
    pending_report: Option<Readback<ContactReport>>,
}

/// The worst values so far.
#[derive(Default, Clone, Copy)]
struct Worst {
    step: u32,
    /// The deepest penetration of a free particle into a collider [m].
    deepest: f64,
    /// The largest number of edge-triangle intersections in a counted step.
    intersections: u64,
}

impl Observed {
    /// `ms_without_contacts` is the time of a step without contacts between particles. Expensive host measurements run
    /// only if `is_headless`.
    pub fn new(
        scene: &Scene,
        drive: Option<Drive>,
        measure: Measure,
        ms_without_contacts: Option<f64>,
        is_headless: bool,
    ) -> Self {
        Self {
            scene: scene.clone(),
            drive,
            moved: Vec::new(),
            measure,
            ms_without_contacts,
            worst: is_headless.then(Worst::default),
            last_report: ContactReport::default(),
            pending_report: None,
        }
    }

    /// The deepest penetration of a free particle into a collider [m], or behind the surface of a shell; 0 if there is
    /// none, and for colliders of unknown shape.
    fn deepest(&self, positions: &[[f32; 3]]) -> f64 {
        let rest = self.scene.positions();
        let free = free_particles(&self.scene);
        let mut deepest = 0f64;
        for (index, collider) in self.scene.colliders().iter().enumerate() {
            let pose = self.moved.iter().find(|moved| moved.0 == index).map_or(collider.pose, |moved| moved.1);
            for &particle in &free {
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
        if self.pending_report.is_none() {
            self.pending_report = Some(solver.request_contacts(encoder));
        }
    }

    fn reset(&mut self) {
        self.moved.clear();
    }

    fn moved_colliders(&self) -> &[(usize, Pose)] {
        &self.moved
    }

    fn observe(&mut self, positions: &[[f32; 3]]) -> supple::Result<()> {
        let Some(Worst { step, deepest, mut intersections }) = self.worst else { return Ok(()) };
        let step = step + 1;
        if step.is_multiple_of(INTERSECTION_INTERVAL) {
            intersections = intersections.max(self.scene.intersections(positions)?.count as u64);
        }
        self.worst = Some(Worst { step, deepest: deepest.max(self.deepest(positions)), intersections });
        Ok(())
    }

    fn panel(&mut self, ui: &mut egui::Ui) {
        match self.pending_report.as_mut().map(Readback::try_take) {
            Some(Ok(Some(report))) => (self.last_report, self.pending_report) = (report, None),
            Some(Err(_)) => self.pending_report = None,
            Some(Ok(None)) | None => {}
        }
        let ContactReport { pairs, contacts, lost, crossings, .. } = self.last_report;
        ui.label(format!("contacts: {contacts} of {pairs} pairs; {lost} lost"));
        if let Some(crossings) = crossings {
            ui.label(format!("{crossings} crossings"));
        }
    }

    fn figures(&mut self, solver: &Solver) -> supple::Result<Figures> {
        let positions = solver.read_positions()?;
        let mut figures = contacts::figures(&self.scene, solver, &positions)?;
        let intersections_now = figures["self_intersections"].as_u64().unwrap_or(0);
        let mut add = |name: &str, value: serde_json::Value| figures.insert(name.into(), value);
        add("deepest_penetration", json!(self.deepest(&positions)));
        if let Some(Worst { deepest, intersections, .. }) = self.worst {
            add("deepest_penetration_max", json!(deepest));
            add("self_intersections_max", json!(intersections.max(intersections_now)));
        }
        if let Some(time) = self.ms_without_contacts {
            add("ms_per_frame_median_without", json!(time));
        }
        figures.extend((self.measure)(&positions));
        Ok(figures)
    }
}
