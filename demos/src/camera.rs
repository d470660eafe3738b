//! An orbit camera.

use glam::camera::rh::{proj::directx::perspective, view::look_at_mat4};
use glam::{Mat4, Vec2, Vec3};

/// A camera that orbits a point: drag to orbit, scroll to zoom.
#[derive(Debug, Clone, Copy, Default)]
pub struct Camera {
    pub target: Vec3,
    pub distance: f32,
    /// Angle around the vertical [rad].
    pub yaw: f32,
    /// Angle above the horizon [rad].
    pub pitch: f32,
}

/// A ray.
#[derive(Debug, Clone, Copy)]
pub struct Ray {
    pub origin: Vec3,
    pub direction: Vec3,
}

impl Camera {
    pub fn eye(&self) -> Vec3 {
        let (sin_pitch, cos_pitch) = self.pitch.sin_cos();
        let (sin_yaw, cos_yaw) = self.yaw.sin_cos();
        self.target + self.distance * Vec3::new(sin_yaw * cos_pitch, sin_pitch, cos_yaw * cos_pitch)
    }

    pub fn view_projection(&self, aspect: f32) -> Mat4 {
        let view = look_at_mat4(self.eye(), self.target, Vec3::Y);
        // 45° along the shorter side of the picture.
        let half = (0.5 * 45f32.to_radians()).tan() / aspect.min(1.0);
        let near = 0.02 * (self.distance / 30.0).max(1.0);
        perspective(2.0 * half.atan(), aspect, near, (4.0 * self.distance).max(100.0)) * view
    }

    pub fn orbit(&mut self, pixels: Vec2) {
        self.yaw -= pixels.x * 0.006;
        self.pitch = (self.pitch + pixels.y * 0.006).clamp(-0.1, 1.5);
    }

    pub fn zoom(&mut self, lines: f32) {
        self.distance = (self.distance * (-0.1 * lines).exp()).clamp(0.2, 1e5);
    }

    /// The ray through a point of the picture; both axes run from −1 to 1, y up.
    pub fn ray(&self, place: Vec2, aspect: f32) -> Ray {
        let inverse = self.view_projection(aspect).inverse();
        let [near, far] = [0.0, 1.0].map(|depth| inverse.project_point3(place.extend(depth)));
        Ray { origin: near, direction: (far - near).normalize() }
    }
}

impl Ray {
    /// The intersection of the ray with the plane through a point, if the plane faces against `normal`.
    pub fn meet(&self, point: Vec3, normal: Vec3) -> Option<Vec3> {
        let along = self.direction.dot(normal);
        let distance = (point - self.origin).dot(normal) / along;
        (along.abs() > 1e-6 && distance > 0.0).then(|| self.origin + self.direction * distance)
    }

    /// The point closest to the ray, seen from its origin; `None` if all are off by more than 2°. Points in front are
    /// preferred to better hits behind them.
    pub fn nearest(&self, points: impl Iterator<Item = (usize, [f32; 3])>) -> Option<usize> {
        let score = |(index, point): (usize, [f32; 3])| {
            let to = Vec3::from(point) - self.origin;
            let along = to.dot(self.direction);
            let miss = (to - along * self.direction).length() / along;
            (along > 0.0 && miss < 0.035).then_some((index, along * (1.0 + 4.0 * miss)))
        };
        points.filter_map(score).min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
    }
}
