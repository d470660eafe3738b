//! What is measured of things that touch.

use crate::common::colliders::signed_distance;
use crate::common::{Figures, Script};
use crate::{Drive, Measure};
use glam::Vec3;
use serde_json::json;
use supple::{Pose, Scene, Solver};

/// A scene that is driven and measured.
pub struct Observed {
    scene: Scene,
    drive: Option<Drive>,
    moved: Vec<(usize, Pose)>,
    measure: Measure,
    without: Option<f64>,
}

impl Observed {
    /// `without` is what a step took without contacts between particles [ms].
    pub fn new(scene: &Scene, drive: Option<Drive>, measure: Measure, without: Option<f64>) -> Self {
        Self { scene: scene.clone(), drive, moved: Vec::new(), measure, without }
    }

    /// How far the deepest free particle is inside a collider [m], or on the wrong side of a shell; 0 where none is.
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

    fn moved_colliders(&self) -> &[(usize, Pose)] {
        &self.moved
    }

    fn figures(&mut self, solver: &Solver) -> supple::Result<Figures> {
        let positions = solver.read_positions()?;
        let (report, velocities) = (solver.read_contacts()?, solver.read_velocities()?);
        let free = velocities.iter().zip(self.scene.inverse_masses()).filter(|(_, mass)| **mass > 0.0);
        let speeds: Vec<f64> = free.map(|(&velocity, _)| f64::from(Vec3::from(velocity).length())).collect();
        let mut figures = Figures::new();
        let mut add = |name: &str, value: serde_json::Value| figures.insert(name.into(), value);
        add("contacts_max", json!(report.most_contacts));
        add("candidates_max", json!(report.most_pairs));
        add("overflow", json!(report.lost));
        add("searches", json!(report.searches));
        add("truncated", json!(report.truncated));
        add("deepest_penetration", json!(self.deepest(&positions)));
        add("deepest_overlap", json!(report.deepest));
        add("self_intersections", json!(self.scene.intersections(&positions)?.count));
        add("mean_speed", json!(speeds.iter().sum::<f64>() / speeds.len().max(1) as f64));
        if let Some(without) = self.without {
            add("ms_per_frame_median_without", json!(without));
        }
        figures.extend((self.measure)(&positions));
        Ok(figures)
    }
}
