//! Plasticity and tears of a scene file: as deserialized by serde, and applied to the scene.

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
                _ => (part.edges.clone(), "links, segments or springs"),
            };
            if range.is_empty() {
                return Err(format!("the part {name:?} has no {what}")).at(|| of(&format!(".{field}")));
            }
            let plasticity = file.plasticity();
            let set = match field {
                "hinges_of" => self.scene.set_plasticity::<Hinge>(range, plasticity),
                "joints_of" => self.scene.set_plasticity::<BendTwist>(range, plasticity),
                "segments_of" => self.scene.set_plasticity::<StretchShear>(range, plasticity),
                _ => self.scene.set_plasticity::<Distance>(range, plasticity),
            };
            set.at(|| of(""))?;
        }
        Ok(())
    }

    pub fn add_weak_edges(&mut self, files: &[WeakEdgesFile]) -> Result<(), FileError> {
        for (index, file) in files.iter().enumerate() {
            let place = || format!("weak_edges[{index}]");
            let mut within = self.select(&file.within, None, || format!("{}.within", place()))?;
            within.sort_unstable();
            let has = |particle: &u32| within.binary_search(particle).is_ok();
            let mut edges = self.scene.tearable_edges();
            edges.retain(|edge| edge.iter().all(has));
            if edges.is_empty() {
                return Err("no edge between two triangles of a cloth with tearing is within these particles")
                    .at(place);
            }
            self.scene.set_tear_strain(&edges, file.strain.unwrap_or(f32::INFINITY)).at(place)?;
        }
        Ok(())
    }
}
