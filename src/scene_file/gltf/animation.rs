//! Animations of nodes: key frames and their interpolation (glTF 2.0, section 3.11 and appendix C).

use super::Gltf;
use super::json::{self, Sampler, name};
use super::rig::non_uniform;
use glam::{DQuat, DVec4};

/// The most times and values of all channels. Channels may share accessors, so a small file may have very many.
const MAX_VALUES: u64 = 10_000_000;

/// The animated property of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Path {
    Translation,
    Rotation,
    Scale,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Interpolation {
    Linear,
    Step,
    /// Three values a key frame: in-tangent, value, out-tangent.
    Cubic,
}

/// The motion of one property of a bone.
#[derive(Debug, Clone)]
pub(super) struct Channel {
    pub bone: usize,
    pub path: Path,
    interpolation: Interpolation,
    /// Ascending \[s\].
    times: Vec<f64>,
    /// The fourth component is 0 except for rotations.
    values: Vec<DVec4>,
}

/// An animation of a file: its channels that move the bones of a skin.
#[derive(Debug, Clone)]
pub(in crate::scene_file) struct Animation {
    pub name: String,
    /// The last time of all key frames \[s\], also of nodes that are no bones.
    pub duration: f64,
    pub(super) channels: Vec<Channel>,
}

impl Animation {
    /// Reads all animations. `bones` has the bone of each node; channels of other nodes, such as a prop,
    /// count for the duration only.
    pub fn read_all(gltf: &Gltf, bones: &[Option<usize>]) -> Result<Vec<Self>, String> {
        let json::Document { animations, accessors, .. } = &gltf.document;
        let samplers = |own: &json::Animation| {
            let samplers = own.channels.iter().filter_map(|channel| own.samplers.get(channel.sampler as usize));
            samplers.flat_map(|sampler| [sampler.input, sampler.output]).collect::<Vec<_>>()
        };
        let sampled = animations.iter().flat_map(samplers).filter_map(|index| accessors.get(index as usize));
        let values = sampled.fold(0u64, |sum, accessor| sum.saturating_add(accessor.count));
        if values > MAX_VALUES {
            return Err(format!("its animations have {values} times and values, more than the limit of {MAX_VALUES}"));
        }
        let all = animations.iter().enumerate();
        all.map(|(index, file)| {
            let label = name("animation", index, &file.name);
            Self::read(gltf, bones, file, index).map_err(|error| format!("{label}: {error}"))
        })
        .collect()
    }

    fn read(gltf: &Gltf, bones: &[Option<usize>], file: &json::Animation, index: usize) -> Result<Self, String> {
        let (mut channels, mut duration) = (Vec::new(), 0.0);
        for (place, channel) in file.channels.iter().enumerate() {
            let path = match channel.target.path.as_str() {
                "translation" => Path::Translation,
                "rotation" => Path::Rotation,
                "scale" => Path::Scale,
                // Weights of morph targets, and extensions.
                _ => continue,
            };
            let Some(node) = channel.target.node else { continue };
            let count = file.samplers.len();
            let sampler = file.samplers.get(channel.sampler as usize);
            let sampler = sampler
                .ok_or_else(|| format!("channel {place} names sampler {}, but {count} exist", channel.sampler))?;
            let target = gltf.document.nodes.get(node as usize);
            let target = target
                .ok_or_else(|| format!("channel {place} names node {node}, but {} exist", gltf.document.nodes.len()))?;
            let Some(bone) = bones[node as usize] else {
                let times = gltf.vectors(sampler.input, "input", 1).unwrap_or_default();
                duration = times.into_iter().filter(|time| time.is_finite()).map(f64::from).fold(duration, f64::max);
                continue;
            };
            if target.matrix.is_some() {
                return Err(format!(
                    "channel {place} moves {}, which has a matrix",
                    name("node", node as usize, &target.name)
                ));
            }
            channels
                .push(Channel::read(gltf, sampler, bone, path).map_err(|error| format!("channel {place}: {error}"))?);
        }
        let last = |channel: &Channel| channel.times.last().copied().unwrap_or_default();
        let duration = channels.iter().map(last).fold(duration, f64::max);
        Ok(Self { name: file.name.clone().unwrap_or_else(|| format!("animation {index}")), duration, channels })
    }
}

impl Channel {
    fn read(gltf: &Gltf, sampler: &Sampler, bone: usize, path: Path) -> Result<Self, String> {
        let interpolation = match sampler.interpolation.as_deref() {
            None | Some("LINEAR") => Interpolation::Linear,
            Some("STEP") => Interpolation::Step,
            Some("CUBICSPLINE") => Interpolation::Cubic,
            Some(other) => return Err(format!("the interpolation {other:?} does not exist")),
        };
        let times: Vec<f64> = gltf.vectors(sampler.input, "input", 1)?.into_iter().map(f64::from).collect();
        let is_ascending = times.windows(2).all(|pair| pair[0] < pair[1]);
        if !is_ascending || times.iter().any(|time| !time.is_finite() || *time < 0.0) {
            return Err("its times are not finite, ascending and at least 0".into());
        }
        let width = if path == Path::Rotation { 4 } else { 3 };
        let numbers = gltf.vectors(sampler.output, "output", width)?;
        if let Some(place) = numbers.iter().position(|number| !number.is_finite()) {
            return Err(format!("output {} is {}, which is not finite", place / width, numbers[place]));
        }
        let vector =
            |v: &[f32]| DVec4::new(v[0].into(), v[1].into(), v[2].into(), v.get(3).copied().unwrap_or(0.0).into());
        let values: Vec<DVec4> = numbers.chunks_exact(width).map(vector).collect();
        let per_key = if interpolation == Interpolation::Cubic { 3 } else { 1 };
        if values.len() != per_key * times.len() {
            return Err(format!("{} values for {} times, each with {per_key}", values.len(), times.len()));
        }
        let keys = values.chunks_exact(per_key).map(|of_key| of_key[per_key / 2]);
        for (key, value) in keys.enumerate() {
            match path {
                Path::Rotation if value.length() < 1e-3 => return Err(format!("rotation {key} is 0")),
                Path::Scale if value.truncate().min_element() < 0.999 * value.truncate().max_element() => {
                    return Err(non_uniform(&format!("key frame {key}"), value.truncate().to_array()));
                }
                Path::Scale if value.x <= 0.0 => return Err(format!("the scale of key frame {key} is {}", value.x)),
                _ => {}
            }
        }
        Ok(Self { bone, path, interpolation, times, values })
    }

    /// The value at a time \[s\]: that of the first or the last key frame outside of them. Rotations have length 1.
    pub fn at(&self, time: f64) -> [f64; 4] {
        let next = self.times.partition_point(|&key| key <= time);
        let last = self.times.len() - 1;
        let value = if next == 0 || next > last {
            self.value(next.saturating_sub(1).min(last))
        } else {
            let (before, span) = (next - 1, self.times[next] - self.times[next - 1]);
            self.between(before, (time - self.times[before]) / span, span)
        };
        if self.path == Path::Rotation { value.normalize_or(DVec4::W).to_array() } else { value.to_array() }
    }

    /// The value between the key frame `before` and the next one.
    fn between(&self, before: usize, share: f64, span: f64) -> DVec4 {
        let [from, to] = [before, before + 1].map(|key| self.value(key));
        match self.interpolation {
            Interpolation::Step => from,
            Interpolation::Linear if self.path == Path::Rotation => {
                let [from, to] = [from, to].map(|value| DQuat::from_vec4(value).normalize());
                from.slerp(to, share).into()
            }
            Interpolation::Linear => from.lerp(to, share),
            Interpolation::Cubic => {
                let (out, into) = (self.values[3 * before + 2] * span, self.values[3 * before + 3] * span);
                let (square, cube) = (share * share, share * share * share);
                from * (2.0 * cube - 3.0 * square + 1.0)
                    + out * (cube - 2.0 * square + share)
                    + to * (3.0 * square - 2.0 * cube)
                    + into * (cube - square)
            }
        }
    }

    fn value(&self, key: usize) -> DVec4 {
        if self.interpolation == Interpolation::Cubic { self.values[3 * key + 1] } else { self.values[key] }
    }
}
