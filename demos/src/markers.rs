//! Markers of pinned particles and of contacts, drawn on top of the picture.

use super::Demo;
use super::camera::Camera;
use glam::{Vec3, Vec4};
use supple::gpu::Readback;
use supple::{ContactEvents, ContactPhase, Settings, Solver, wgpu};

/// The capacity of the list of contact events while contacts are shown.
const EVENTS: u32 = 16_384;
/// The most markers of a kind that are drawn.
const MOST: usize = 4_000;

const PIN: egui::Color32 = egui::Color32::from_rgb(40, 90, 220);
const CONTACT: egui::Color32 = egui::Color32::from_rgb(240, 150, 20);

/// The markers of a window.
#[derive(Default)]
pub struct Markers {
    pub pins: bool,
    pub contacts: bool,
    /// True while the pins are off.
    pub released: bool,
    pending: Option<Readback<ContactEvents>>,
    /// The last contacts that were read back.
    touching: Vec<[f32; 3]>,
}

impl Markers {
    /// The settings with contact events while contacts are shown.
    pub fn settings(&self, settings: Settings) -> Settings {
        let contact_events = if self.contacts { settings.contact_events.max(EVENTS) } else { settings.contact_events };
        Settings { contact_events, ..settings }
    }

    /// Requests the contacts of a recorded step.
    pub fn request(&mut self, solver: &Solver, encoder: &mut wgpu::CommandEncoder) -> supple::Result<()> {
        if self.contacts && self.pending.is_none() {
            self.pending = Some(solver.request_contact_events(encoder)?);
        }
        Ok(())
    }

    /// Collects the contacts that arrived since the last frame.
    pub fn collect(&mut self) -> supple::Result<()> {
        let Some(events) = self.pending.as_mut().map(Readback::try_take).transpose()?.flatten() else { return Ok(()) };
        self.pending = None;
        let lasting = events.events.iter().filter(|event| event.phase != ContactPhase::Ended);
        self.touching = lasting.map(|event| event.position).collect();
        Ok(())
    }

    /// The number of contacts that are shown.
    pub fn contact_count(&self) -> usize {
        self.touching.len()
    }

    /// Draws the markers behind the panel; `positions` are those of the particles.
    pub fn draw(&self, context: &egui::Context, demo: &Demo, positions: &[[f32; 3]]) {
        let painter = context.layer_painter(egui::LayerId::background());
        let rect = context.viewport_rect();
        let place = |position: &[f32; 3]| on_screen(&demo.camera, rect, Vec3::from(*position));
        if self.contacts {
            for place in self.touching.iter().take(MOST).filter_map(place) {
                painter.circle_filled(place, 2.5, CONTACT);
            }
        }
        if self.pins && !self.released {
            let pinned = demo.scene.pinned_particles().filter_map(|particle| positions.get(particle as usize));
            for place in pinned.take(MOST).filter_map(place) {
                painter.circle_stroke(place, 4.0, egui::Stroke::new(1.5, PIN));
            }
        }
    }
}

/// The place of a point in the window; `None` behind the camera.
fn on_screen(camera: &Camera, rect: egui::Rect, point: Vec3) -> Option<egui::Pos2> {
    let clip: Vec4 = camera.view_projection(rect.width() / rect.height()) * point.extend(1.0);
    let (x, y) = (clip.x / clip.w, clip.y / clip.w);
    let place = rect.center() + egui::vec2(0.5 * x * rect.width(), -0.5 * y * rect.height());
    (clip.w > 0.0).then_some(place)
}
