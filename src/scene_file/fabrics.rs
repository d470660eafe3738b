//! Fabrics of the cloths and balloons of a scene file.

use super::Hint;
use super::build::Builder;
use super::error::{At, FileError, Reason};
use super::parts::{BendingFile, FabricFile, MembraneFile, TensionPieceFile};
use super::values::NameOr;
use crate::scene::{Bending, Fabric, Material, Orthotropic, Stiffening, Tearing, TensionPiece};

/// The edges of a cloth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weave {
    /// Rows, columns and the diagonals of the cells.
    Grid,
    /// The edges of a triangle mesh.
    Mesh,
}

impl Builder<'_> {
    /// The fabric of the part at `place`. Fields without an effect become hints.
    pub fn fabric(
        &mut self,
        place: &str,
        given: Option<&NameOr<FabricFile>>,
        weave: Weave,
    ) -> Result<Fabric, FileError> {
        let fabric = self.fabric_of(given).at(|| format!("{place}.fabric"))?;
        if let Some(NameOr::Structured(file)) = given {
            let hint = |(field, reason)| Hint {
                place: format!("{place}.fabric.{field}"),
                message: format!("it has no effect: {reason}"),
            };
            self.hints.extend(without_effect(file, &fabric, weave).map(hint));
        }
        Ok(fabric)
    }

    fn fabric_of(&self, given: Option<&NameOr<FabricFile>>) -> Result<Fabric, Reason> {
        let file = match given {
            None => return Ok(Fabric::default()),
            Some(NameOr::Scalar(name)) => return fabric_preset(name),
            Some(NameOr::Structured(file)) => file,
        };
        let mut fabric = file.preset.as_deref().map_or(Ok(Fabric::default()), fabric_preset)?;
        let materials = [
            (&mut fabric.structural, &file.structural),
            (&mut fabric.shear, &file.shear),
            (&mut fabric.bend, &file.bend),
        ];
        for (material, given) in materials {
            if given.is_some() {
                *material = self.material(given.as_ref())?;
            }
        }
        fabric.area_density = file.area_density.unwrap_or(fabric.area_density);
        fabric.flexural_rigidity = file.flexural_rigidity.unwrap_or(fabric.flexural_rigidity);
        fabric.stretch_limit = file.stretch_limit.unwrap_or(fabric.stretch_limit);
        fabric.bending = match file.bending {
            None => fabric.bending,
            Some(BendingFile::Springs) => Bending::Springs,
            Some(BendingFile::Hinges) => Bending::Hinges,
            Some(BendingFile::Isometric) => Bending::Isometric,
            Some(BendingFile::None) => Bending::None,
        };
        if let Some(membrane) = &file.membrane {
            fabric.membrane = Some(orthotropic(membrane)?);
        }
        fabric.tearing = file.tearing.map(Tearing::from);
        if let Some(tearing) = fabric.tearing {
            self.check_particles(tearing.copies.into())?;
        }
        Ok(fabric)
    }
}

/// The given fields that do not change the motion of a cloth, and the reasons.
fn without_effect(
    file: &FabricFile,
    fabric: &Fabric,
    weave: Weave,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_compliant = |material: Material| material.compliance > 0.0 || material.damping > 0.0;
    let has_membrane = fabric.membrane.is_some();
    let has_rigidity = matches!(fabric.bending, Bending::Hinges | Bending::Isometric);
    let structural = has_membrane && is_compliant(fabric.structural);
    let bend = match fabric.bending {
        Bending::Springs => false,
        Bending::None => true,
        Bending::Hinges | Bending::Isometric => is_compliant(fabric.bend),
    };
    let fields = [
        (
            file.structural.is_some() && structural,
            "structural",
            "a membrane replaces the springs along the weave and uses only the damping_time of their material",
        ),
        (file.shear.is_some() && has_membrane, "shear", "a membrane replaces the springs along the diagonals"),
        (
            file.shear.is_some() && !has_membrane && weave == Weave::Mesh,
            "shear",
            "a triangle mesh has no springs along diagonals",
        ),
        (
            file.bend.is_some() && bend,
            "bend",
            "the compliance and damping of bend are those of the bending model springs; flexural_rigidity is that of hinges and isometric",
        ),
        (
            file.flexural_rigidity.is_some() && !has_rigidity,
            "flexural_rigidity",
            "only the bending models hinges and isometric use it",
        ),
    ];
    fields.into_iter().filter_map(|(is_unused, field, reason)| is_unused.then_some((field, reason)))
}

fn orthotropic(file: &MembraneFile) -> Result<Orthotropic, Reason> {
    let isotropic = Orthotropic::isotropic(file.warp, file.poisson_ratio);
    let (warp, weft) = (tension_pieces("warp", &file.warp_pieces)?, tension_pieces("weft", &file.weft_pieces)?);
    Ok(Orthotropic {
        weft: file.weft.unwrap_or(file.warp),
        shear: file.shear.unwrap_or(isotropic.shear),
        direction: file.direction,
        stiffening: Stiffening { warp, weft },
        ..isotropic
    })
}

fn tension_pieces<const N: usize>(
    thread: &str,
    files: &[TensionPieceFile],
) -> Result<[Option<TensionPiece>; N], Reason> {
    if files.len() > N {
        return Err(format!("membrane.{thread}_pieces has {} pieces, but at most {N} are possible", files.len()).into());
    }
    let piece =
        |file: &TensionPieceFile| TensionPiece { strain: file.strain, modulus: file.modulus.unwrap_or(f32::INFINITY) };
    Ok(std::array::from_fn(|index| files.get(index).map(piece)))
}

fn fabric_preset(name: &str) -> Result<Fabric, Reason> {
    Ok(match name {
        "plain" => Fabric::default(),
        "silk" => Fabric::SILK,
        "cotton" => Fabric::COTTON,
        "denim" => Fabric::DENIM,
        "stretch_denim" => Fabric::STRETCH_DENIM,
        "wool" => Fabric::WOOL,
        "leather" => Fabric::LEATHER,
        "rubber" => Fabric::RUBBER,
        _ => {
            let known = "plain, silk, cotton, denim, stretch_denim, wool, leather and rubber";
            return Err(format!("no fabric is named {name:?}; there are {known}").into());
        }
    })
}
