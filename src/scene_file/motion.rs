//! Motions of pinned particles and colliders over time.

use super::build::Builder;
use super::colliders::MotionFile;
use super::error::{At, FileError};
use super::format::TargetFile;
use crate::collision::{ColliderId, Pose};
use glam::DQuat;

/// The motion of pinned particles: linear between the given times, and at rest before and after them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TargetPath {
    /// The particles, each with the point \[m\] to which the offsets are added.
    pub particles: Vec<(u32, [f32; 3])>,
    /// Times \[s\], ascending.
    pub times: Vec<f64>,
    /// The displacements from these points \[m\], one for each time.
    pub offsets: Vec<[f32; 3]>,
}

impl TargetPath {
    /// The positions of the particles \[m\] at a time \[s\].
    pub fn at(&self, time: f64) -> impl Iterator<Item = (u32, [f32; 3])> {
        let offset = self.offset(time);
        self.particles.iter().map(move |&(particle, point)| {
            (particle, [0, 1, 2].map(|axis| (f64::from(point[axis]) + offset[axis]) as f32))
        })
    }

    fn offset(&self, time: f64) -> [f64; 3] {
        let (from, to, share) = between(&self.times, time);
        let at = |key: usize| self.offsets.get(key).map_or([0.0; 3], |offset| offset.map(f64::from));
        mix(at(from), at(to), share)
    }
}

/// The motion of a collider.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ColliderPath {
    /// The collider.
    pub collider: ColliderId,
    /// The poses over time.
    pub keys: KeyFrames,
}

/// Poses at given times. Between them the position moves linearly and the rotation turns about one axis along the
/// shorter arc; before and after them the pose is at rest.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct KeyFrames {
    /// Times \[s\], ascending.
    pub times: Vec<f64>,
    /// The poses, one for each time.
    pub poses: Vec<Pose>,
}

impl KeyFrames {
    /// The pose at a time \[s\].
    pub fn at(&self, time: f64) -> Pose {
        let (from, to, share) = between(&self.times, time);
        let (Some(a), Some(b)) = (self.poses.get(from), self.poses.get(to)) else { return Pose::default() };
        let position = mix(a.position.map(f64::from), b.position.map(f64::from), share);
        let turn = |pose: &Pose| DQuat::from_array(pose.rotation.map(f64::from)).normalize();
        // At a key frame the rotation is returned bit for bit.
        let rotation = if a.rotation == b.rotation || share == 0.0 {
            a.rotation
        } else {
            turn(a).slerp(turn(b), share).to_array().map(|component| component as f32)
        };
        Pose { position: position.map(|component| component as f32), rotation }
    }
}

/// The two keys around a time and the interpolation factor. Before the first and after the last key both are the same.
fn between(times: &[f64], time: f64) -> (usize, usize, f64) {
    let next = times.partition_point(|&other| other <= time);
    match (times.get(next.wrapping_sub(1)), times.get(next)) {
        (Some(&from), Some(&to)) => (next - 1, next, (time - from) / (to - from)),
        _ => (next.saturating_sub(1), next.saturating_sub(1), 0.0),
    }
}

fn mix(a: [f64; 3], b: [f64; 3], share: f64) -> [f64; 3] {
    [0, 1, 2].map(|axis| a[axis] + (b[axis] - a[axis]) * share)
}

fn check_times(times: &[f64]) -> Result<(), String> {
    match times.first() {
        None => return Err("there is no time".into()),
        Some(&first) if first < 0.0 => return Err(format!("time 0 is {first} s; it must be at least 0")),
        Some(_) => {}
    }
    match times.windows(2).position(|pair| pair[0] >= pair[1]) {
        None => Ok(()),
        Some(index) => {
            let (before, time) = (times[index], times[index + 1]);
            Err(format!("time {} is {time} s, but time {index} is {before} s; times must ascend", index + 1))
        }
    }
}

impl MotionFile {
    /// The key frames; `start` supplies omitted positions or rotations, and `of` returns the place of a field.
    pub(super) fn keys(&self, of: impl Fn(&str) -> String, start: Pose) -> Result<KeyFrames, FileError> {
        check_times(&self.times).at(|| of(".times"))?;
        if self.positions.is_none() && self.rotations.is_none() {
            return Err("it must have positions or rotations").at(|| of(""));
        }
        let mut poses = vec![start; self.times.len()];
        let fits = |count: usize| {
            let fault = || format!("{count} entries for {} times", self.times.len());
            (count == self.times.len()).then_some(()).ok_or_else(fault)
        };
        if let Some(positions) = &self.positions {
            fits(positions.len()).at(|| of(".positions"))?;
            for (key, (pose, &position)) in poses.iter_mut().zip(positions).enumerate() {
                pose.position = position;
                pose.checked(&format!("key frame {key}")).at(|| of(&format!(".positions[{key}]")))?;
            }
        }
        if let Some(rotations) = &self.rotations {
            fits(rotations.len()).at(|| of(".rotations"))?;
            for (key, (pose, rotation)) in poses.iter_mut().zip(rotations).enumerate() {
                let place = || of(&format!(".rotations[{key}]"));
                pose.rotation = rotation.quaternion().at(place)?;
                pose.checked(&format!("key frame {key}")).at(place)?;
            }
        }
        Ok(KeyFrames { times: self.times.clone(), poses })
    }
}

impl Builder<'_> {
    pub(super) fn targets(&mut self, files: &[TargetFile]) -> Result<Vec<TargetPath>, FileError> {
        let mut taken = std::collections::HashSet::new();
        let mut paths = Vec::with_capacity(files.len());
        for (index, file) in files.iter().enumerate() {
            let of = |field: &str| format!("targets[{index}]{field}");
            let chosen = self.select(&file.particles, None, || of(".particles"))?;
            for &particle in &chosen {
                let follows = self.scene.followers.binary_search_by_key(&particle, |it| it.particle).is_ok();
                let fault = if follows {
                    Some("follows others; it can have no target")
                } else if !self.scene.is_pinned(particle) {
                    Some("is not pinned; only pinned particles follow a target")
                } else if !taken.insert(particle) {
                    Some("has a target already")
                } else {
                    None
                };
                if let Some(fault) = fault {
                    return Err(format!("particle {particle} {fault}")).at(|| of(".particles"));
                }
            }
            check_times(&file.times).at(|| of(".times"))?;
            let (field, offsets) = match (&file.positions, &file.offsets) {
                (Some(positions), None) => (".positions", positions),
                (None, Some(offsets)) => (".offsets", offsets),
                _ => return Err("it must have either positions or offsets").at(|| of("")),
            };
            if offsets.len() != file.times.len() {
                let message = format!("{} entries for {} times", offsets.len(), file.times.len());
                return Err(message).at(|| of(field));
            }
            for (key, &offset) in offsets.iter().enumerate() {
                let what = || format!("target {key}");
                crate::error::check_finite(what, offset).at(|| format!("{}[{key}]", of(field)))?;
            }
            let absolute = file.positions.is_some();
            if absolute && chosen.len() != 1 {
                let message =
                    format!("positions are for one particle, not {}; offsets are for any number", chosen.len());
                return Err(message).at(|| of(field));
            }
            let start = |particle: u32| if absolute { [0.0; 3] } else { self.scene.rest_positions[particle as usize] };
            let particles: Vec<_> = chosen.into_iter().map(|particle| (particle, start(particle))).collect();
            // The sums are finite if those with the largest components are.
            let largest = |axis: usize| offsets.iter().map(|offset| offset[axis].abs()).fold(0.0, f32::max);
            let largest = [0, 1, 2].map(largest);
            for &(particle, point) in &particles {
                let what = || format!("largest target of particle {particle}");
                let place = [0, 1, 2].map(|axis| point[axis].abs() + largest[axis]);
                crate::error::check_finite(what, place).at(|| of(field))?;
            }
            paths.push(TargetPath { particles, times: file.times.clone(), offsets: offsets.clone() });
        }
        Ok(paths)
    }
}
