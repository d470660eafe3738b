//! Constraints, ropes and colours of cloths as the renderer draws them.

use super::Demo;
use glam::Vec3;
use supple::{Distance, Solver};

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Line {
    pub particles: [u32; 2],
    pub color: [u8; 4],
    /// The width [m].
    pub width: f32,
}

/// A segment of a rope, with the neighbours before and after it.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Tube {
    pub particles: [u32; 4],
    /// The radius [m].
    pub radius: f32,
}

/// Each distance constraint as a line. The colour shows its colour in the colouring, or without one its direction at
/// rest.
pub fn constraint_lines(demo: &Demo, solver: &Solver) -> Vec<Line> {
    let place = |particle: u32| Vec3::from(demo.scene.positions()[particle as usize]);
    let colors = solver.coloring::<Distance>().color_of_constraints();
    let distances = demo.scene.distances(0..colors.len() as u32);
    let line = |(distance, color): (Distance, Option<u32>)| Line {
        particles: distance.particles,
        color: color.map_or_else(
            || {
                let [a, b] = distance.particles.map(place);
                hue((b.z - a.z).atan2(b.x - a.x) / std::f32::consts::PI)
            },
            |color| hue(color as f32 * 0.618_034),
        ),
        width: if solver.index_count() == 0 { 0.02 } else { 0.002 },
    };
    distances.zip(colors).map(line).collect()
}

/// The ropes and rods as segments; a segment that starts at the end of the previous one continues it.
pub fn tubes(demo: &Demo) -> Vec<Tube> {
    let radius = if demo.rope_thickness > 0.0 { 0.5 * demo.rope_thickness } else { 0.006 };
    let ropes = demo.scene.distances(demo.ropes.clone()).map(|distance| (distance.particles, radius));
    let of_rod = |(particles, radius): &(Vec<u32>, f32)| {
        particles.windows(2).map(|pair| ([pair[0], pair[1]], *radius)).collect::<Vec<_>>()
    };
    let pieces: Vec<([u32; 2], f32)> = ropes.chain(demo.rods.iter().flat_map(of_rod)).collect();
    let tube = |place: usize| {
        let ([a, b], radius) = pieces[place];
        let before = place.checked_sub(1).map(|before| pieces[before].0).filter(|before| before[1] == a);
        let after = pieces.get(place + 1).map(|after| after.0).filter(|after| after[0] == b);
        Tube { particles: [before.map_or(a, |before| before[0]), a, b, after.map_or(b, |after| after[1])], radius }
    };
    (0..pieces.len()).map(tube).collect()
}

/// The colour of each particle, with alpha 1 if both sides have it; a single row if all are equal.
pub fn tints(demo: &Demo) -> Vec<[f32; 4]> {
    let count = if demo.tints.is_empty() { 1 } else { demo.scene.particle_count() };
    let mut tints = vec![[0.52, 0.05, 0.06, 0.0]; count];
    for (particles, [red, green, blue]) in &demo.tints {
        tints[particles.start as usize..particles.end as usize].fill([*red, *green, *blue, 1.0]);
    }
    tints
}

/// The texture coordinates of each particle; a single row out of range if the demo has none.
pub fn texture_coordinates(demo: &Demo) -> Vec<[f32; 2]> {
    if demo.texture.is_empty() { vec![[1e9; 2]] } else { demo.texture.clone() }
}

/// A saturated colour; `turns` is the hue in turns.
pub fn hue(turns: f32) -> [u8; 4] {
    let channel = |offset: f32| {
        let distance = ((turns + offset).rem_euclid(1.0) * 6.0 - 3.0).abs() - 1.0;
        (distance.clamp(0.0, 1.0) * 150.0) as u8 + 12
    };
    [channel(0.0), channel(2.0 / 3.0), channel(1.0 / 3.0), 255]
}
