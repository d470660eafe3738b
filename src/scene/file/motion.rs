//! Where pinned particles go over time.

use super::build::Builder;
use super::error::{At, FileError};
use super::format::TargetFile;

/// Where some pinned particles go: along straight lines between the given times, and still before and after them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TargetPath {
    /// Which, each with the point \[m\] from which its way is measured.
    pub particles: Vec<(u32, [f32; 3])>,
    /// Times \[s\], ascending.
    pub times: Vec<f64>,
    /// How far the particles are from their points at these times \[m\].
    pub offsets: Vec<[f32; 3]>,
}

impl TargetPath {
    /// Where the particles are \[m\] at a time \[s\].
    pub fn at(&self, time: f64) -> impl Iterator<Item = (u32, [f32; 3])> {
        let offset = self.offset(time);
        self.particles.iter().map(move |&(particle, point)| {
            (particle, [0, 1, 2].map(|axis| (f64::from(point[axis]) + offset[axis]) as f32))
        })
    }

    fn offset(&self, time: f64) -> [f64; 3] {
        let next = self.times.partition_point(|&other| other <= time);
        let at = |key: usize| self.offsets.get(key).map_or([0.0; 3], |offset| offset.map(f64::from));
        let (Some(&from), Some(&to)) = (self.times.get(next.wrapping_sub(1)), self.times.get(next)) else {
            return at(next.saturating_sub(1));
        };
        let (a, b, part) = (at(next - 1), at(next), (time - from) / (to - from));
        [0, 1, 2].map(|axis| a[axis] + (b[axis] - a[axis]) * part)
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
            let ascending = file.times.windows(2).all(|pair| pair[0] < pair[1]);
            if file.times.first().is_none_or(|&first| first < 0.0) || !ascending {
                return Err("the times must be there, at least 0, and ascend").at(|| of(".times"));
            }
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
            let start = |particle: u32| if absolute { [0.0; 3] } else { self.scene.positions[particle as usize] };
            let particles: Vec<_> = chosen.into_iter().map(|particle| (particle, start(particle))).collect();
            for &(particle, point) in &particles {
                for (key, offset) in offsets.iter().enumerate() {
                    let place = [0, 1, 2].map(|axis| point[axis] + offset[axis]);
                    let what = || format!("target {key} of particle {particle}");
                    crate::error::check_finite(what, place).at(|| format!("{}[{key}]", of(field)))?;
                }
            }
            paths.push(TargetPath { particles, times: file.times.clone(), offsets: offsets.clone() });
        }
        Ok(paths)
    }
}
