//! Plasticity and tears of a scene file: as deserialized by serde, and applied to the scene.

use super::Hint;
use super::build::Builder;
use super::error::{At, FileError};
use super::values::Selection;
use crate::constraints::{BendTwist, Distance, Hinge, Plasticity, StretchShear};
use crate::scene::Tearing;
use serde::Deserialize;

/// How a cloth tears.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct TearingFile {
    /// The strain across an edge beyond which it tears, greater than 0. Default: only weak edges tear.
    pub strain: Option<f32>,
    /// The most vertices that tears can add. Default 1024.
    pub copies: Option<u32>,
}

impl From<TearingFile> for Tearing {
    fn from(file: TearingFile) -> Self {
        let own = Self::at(file.strain.unwrap_or(f32::INFINITY));
        Self { copies: file.copies.unwrap_or(own.copies), ..own }
    }
}

/// Edges of tearable cloths that tear at a strain of their own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct WeakEdgesFile {
    /// All edges between two triangles whose ends are both among these particles.
    pub within: Vec<Selection>,
    /// The strain at which they tear, greater than 0. Default: they do not tear.
    pub strain: Option<f32>,
}

/// Lets the edges or hinges of a part, or the joints or segments of a rod, yield, creep and break.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct PlasticityFile {
    /// The name of a part: its structural and shear edges, segments or springs. One of this, `hinges_of`, `joints_of` and
    /// `segments_of`.
    pub edges_of: Option<String>,
    /// The name of a cloth whose bending model is "hinges".
    pub hinges_of: Option<String>,
    /// The name of a rod: its joints, which bend and twist.
    pub joints_of: Option<String>,
    /// The name of a rod: its segments, which stretch. A segment that breaks takes its joints with it.
    pub segments_of: Option<String>,
    /// The strain beyond which the rest length (relative) or the rest angle [rad] changes, at least 0. Default: none. The strain of a
    /// joint is its angle from rest [rad].
    pub yield_strain: Option<f32>,
    /// The share of the strain beyond it that becomes plastic [1/s], at least 0. Default: all of it in one step.
    pub flow_rate: Option<f32>,
    /// The increase of the yield strain per plastic strain, 0 to 1e6. Default 0.
    pub hardening: Option<f32>,
    /// The maximum of the plastic strain; less than 1 for edges, at most 3 for hinges and joints. Default 0.9.
    pub most: Option<f32>,
    /// The total strain beyond which an edge or a hinge breaks, at least 0. Default: none.
    pub rupture: Option<f32>,
}

impl PlasticityFile {
    fn plasticity(&self) -> Plasticity {
        let otherwise = Plasticity::default();
        Plasticity {
            yield_strain: self.yield_strain.unwrap_or(otherwise.yield_strain),
            flow_rate: self.flow_rate.unwrap_or(otherwise.flow_rate),
            hardening: self.hardening.unwrap_or(otherwise.hardening),
            most: self.most.unwrap_or(otherwise.most),
            rupture: self.rupture.unwrap_or(otherwise.rupture),
        }
    }
}

impl Builder<'_> {
    pub fn add_plasticity(&mut self, files: &[PlasticityFile]) -> Result<(), FileError> {
        for (index, file) in files.iter().enumerate() {
            let of = |field: &str| format!("plasticity[{index}]{field}");
            let names = [
                ("edges_of", &file.edges_of),
                ("hinges_of", &file.hinges_of),
                ("joints_of", &file.joints_of),
                ("segments_of", &file.segments_of),
            ];
            let mut given = names.into_iter().filter_map(|(field, name)| Some((field, name.as_ref()?)));
            let (Some((field, name)), None) = (given.next(), given.next()) else {
                return Err("it must have one of edges_of, hinges_of, joints_of and segments_of").at(|| of(""));
            };
            let part = &self.parts[self.part(name).at(|| of(&format!(".{field}")))?];
            let (range, what) = match field {
                "hinges_of" => (part.hinges.clone(), "hinges"),
                "joints_of" => (part.joints.clone(), "joints of a rod"),
                "segments_of" => (part.segments.clone(), "segments of a rod"),
                _ => (part.edges.clone(), "edges that are distance constraints"),
            };
            if range.is_empty() {
                return Err(format!("the part {name:?} has no {what}")).at(|| of(&format!(".{field}")));
            }
            let tethered = self.scene.tethered_bodies.iter().any(|body| body.particles.start == part.particles.start);
            let has_tethers = field == "edges_of" && tethered;
            self.count_members(range.len() as u64).at(|| of(""))?;
            let plasticity = file.plasticity();
            let set = match field {
                "hinges_of" => self.scene.set_plasticity::<Hinge>(range, plasticity),
                "joints_of" => self.scene.set_plasticity::<BendTwist>(range, plasticity),
                "segments_of" => self.scene.set_plasticity::<StretchShear>(range, plasticity),
                _ => self.scene.set_plasticity::<Distance>(range, plasticity),
            };
            set.at(|| of(""))?;
            let yields = plasticity.yield_strain < f32::INFINITY;
            let mut hint = |message: &str| self.hints.push(Hint { place: of(""), message: message.into() });
            if !yields && plasticity.rupture == f32::INFINITY {
                hint("it has no effect: it has neither yield_strain nor rupture");
            } else if !yields && [file.flow_rate, file.hardening, file.most].iter().any(Option::is_some) {
                hint("flow_rate, hardening and most have no effect without yield_strain");
            } else if has_tethers {
                hint("tethers neither yield nor break: set tethers of the part to false");
            }
        }
        Ok(())
    }

    pub fn add_weak_edges(&mut self, files: &[WeakEdgesFile]) -> Result<(), FileError> {
        let mut tearable = self.scene.tearable_edges();
        tearable.sort_unstable();
        if files.is_empty() && self.scene.tearable.iter().any(|cloth| cloth.strain == f32::INFINITY) {
            let message = "a cloth with tearing never tears: it has no strain, and there are no weak_edges".into();
            self.hints.push(Hint { place: "weak_edges".into(), message });
        }
        for (index, file) in files.iter().enumerate() {
            let place = || format!("weak_edges[{index}]");
            let mut within = self.select(&file.within, None, || format!("{}.within", place()))?;
            within.sort_unstable();
            within.dedup();
            let mut edges = Vec::new();
            for &particle in &within {
                let first = tearable.partition_point(|edge| edge[0] < particle);
                let from_particle = tearable[first..].iter().take_while(|edge| edge[0] == particle);
                edges.extend(from_particle.filter(|edge| within.binary_search(&edge[1]).is_ok()));
            }
            if edges.is_empty() {
                return Err("no edge between two triangles of a cloth with tearing is within these particles")
                    .at(place);
            }
            self.scene.push_tear_strains(edges, file.strain.unwrap_or(f32::INFINITY)).at(place)?;
        }
        Ok(())
    }
}
