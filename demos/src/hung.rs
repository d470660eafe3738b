//! The cloth that hangs by two corners, in a window and in a browser.

use super::Demo;
use super::camera::Camera;
use std::ops::Range;
use supple::{ClothGrid, Scene, Settings, Wind};

/// A cloth of 2 m × 2 m, pinned at two corners, falling from the horizontal. The seed displaces it by at most a
/// hundredth of the spacing: enough to cause other folds, at less than 0.01 % strain.
pub fn hung_cloth(grid: &ClothGrid, seed: u64, settings: Settings) -> supple::Result<Demo> {
    let mut scene = Scene::new();
    let cloth = scene.add_cloth_grid(grid)?;
    scene.pin(cloth.particles.start)?;
    scene.pin(cloth.particles.start + grid.columns - 1)?;
    let texture = scene.positions().iter().map(|&[x, _, z]| [x, z]).collect();
    jitter(&mut scene, cloth.particles.clone(), 0.02 / grid.columns.max(grid.rows) as f32, seed)?;
    let materials = cloth.materials;
    Ok(Demo {
        title: "cloth",
        settings,
        edges: cloth.structural.clone(),
        materials: vec![("stretch", materials.structural), ("shear", materials.shear), ("bend", materials.bend)],
        camera: Camera { target: glam::Vec3::new(0.0, -0.75, -0.35), distance: 3.6, yaw: 0.6, pitch: 0.18 },
        ground: -2.1,
        texture,
        scene,
        ..Demo::default()
    })
}

/// A gusty wind of the given mean speed [m/s], slightly upwards and away from the camera.
pub fn breeze(speed: f32) -> Wind {
    Wind { velocity: [0.25 * speed, 0.15 * speed, -0.95 * speed], gust: 0.6, ..Wind::default() }
}

/// A wind of the given mean speed [m/s] in the direction of another one; `None` if nothing of it is left.
pub fn wind_of_speed(wind: Wind, speed: f32) -> Option<Wind> {
    let direction = glam::Vec3::from(wind.velocity).try_normalize();
    let direction = direction.unwrap_or_else(|| glam::Vec3::from(breeze(1.0).velocity).normalize());
    let wind = Wind { velocity: (direction * speed).into(), ..wind };
    (speed > 0.0 || wind.turbulence > 0.0).then_some(wind)
}

/// Moves free particles vertically by at most `amplitude` [m], with the given seed; 0 moves none.
pub fn jitter(scene: &mut Scene, particles: Range<u32>, amplitude: f32, seed: u64) -> supple::Result<()> {
    let mut state = seed;
    let mut random = || {
        // SplitMix64 (Steele, Lea, Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    let pinned: Vec<u32> = scene.pinned_particles().collect();
    for particle in particles.filter(|particle| seed != 0 && !pinned.contains(particle)) {
        let [x, y, z] = scene.positions()[particle as usize];
        scene.set_position(particle, [x, y + amplitude * random(), z])?;
    }
    Ok(())
}
