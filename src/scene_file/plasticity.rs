//! Plasticity of a scene file: as deserialized by serde, and applied to the scene.

use super::build::Builder;
use super::error::{At, FileError};
use crate::constraints::{Distance, Hinge, Plasticity};
use serde::Deserialize;

/// Lets the edges or the hinges of a part yield, creep and break.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct PlasticityFile {
    /// The name of a part: its structural and shear edges, segments or springs. Either this or `hinges_of`.
    pub edges_of: Option<String>,
    /// The name of a cloth whose bending model is "hinges".
    pub hinges_of: Option<String>,
    /// The strain beyond which the rest length (relative) or the rest angle [rad] changes, at least 0. Default: none.
    pub yield_strain: Option<f32>,
    /// The share of the strain beyond it that becomes plastic [1/s], at least 0. Default: all of it in one step.
    pub flow_rate: Option<f32>,
    /// The increase of the yield strain per plastic strain, 0 to 1e6. Default 0.
    pub hardening: Option<f32>,
    /// The maximum of the plastic strain; less than 1 for edges. Default 0.9.
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
            let (name, hinges) = match (&file.edges_of, &file.hinges_of) {
                (Some(name), None) => (name, false),
                (None, Some(name)) => (name, true),
                _ => return Err("it must have either edges_of or hinges_of").at(|| of("")),
            };
            let field = if hinges { ".hinges_of" } else { ".edges_of" };
            let part = &self.parts[self.part(name).at(|| of(field))?];
            let range = if hinges { part.hinges.clone() } else { part.edges.clone() };
            if range.is_empty() {
                let what = if hinges { "hinges" } else { "links, segments or springs" };
                return Err(format!("the part {name:?} has no {what}")).at(|| of(field));
            }
            let plasticity = file.plasticity();
            let set = if hinges {
                self.scene.set_plasticity::<Hinge>(range, plasticity)
            } else {
                self.scene.set_plasticity::<Distance>(range, plasticity)
            };
            set.at(|| of(""))?;
        }
        Ok(())
    }
}
