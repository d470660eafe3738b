//! Materials: compliance and damping of constraints, fabrics and cords.

use super::{Bending, Orthotropic, Tearing};
use crate::error::{Error, Result, check_non_negative, check_positive};

/// Compliance and damping of a constraint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Material {
    /// Compliance α, the inverse of a stiffness, in \[C\]²/J: m/N for a distance. 0 = rigid.
    pub compliance: f32,
    /// Damping β in J·s/\[C\]²: for a distance, a dashpot of β N·s/m parallel to the spring (Macklin et al. 2016, eq.
    /// 26). It acts through α β, so it has no effect on rigid constraints; use `damping_time` for them.
    pub damping: f32,
    /// Damping time τ \[s\]: γ = (α β + τ)/h in eq. 26.
    ///
    /// For a spring it equals a dashpot of β = τ/α. For a rigid constraint it is the limit α → 0, C + τ dC/dt = 0: a
    /// violation decays as exp(−t/τ) for any substep, without a velocity impulse.
    ///
    /// Stiff constraints that act against each other should have the same τ. A damped constraint undoes in one sweep
    /// the correction of an undamped one, which can add energy from a τ of about ten substeps.
    pub damping_time: f32,
    /// Stiffness k of [`crate::Method::Pbd`], 0 to 1; XPBD does not use it.
    pub stiffness: f32,
}

impl Default for Material {
    /// [`Material::RIGID`].
    fn default() -> Self {
        Self::RIGID
    }
}

impl Material {
    /// A rigid constraint.
    pub const RIGID: Self = Self { compliance: 0.0, damping: 0.0, damping_time: 0.0, stiffness: 1.0 };

    /// The greatest compliance and damping; beyond it α/h² overflows.
    pub const LIMIT: f32 = 1e18;

    /// A spring of compliance α [\[C\]²/J] without damping.
    pub const fn compliant(compliance: f32) -> Self {
        Self { compliance, ..Self::RIGID }
    }

    /// Returns `Ok` if the parameters are in range; `what` names the material in the error.
    pub(crate) fn check(&self, what: &str) -> Result<()> {
        let parameters =
            [("compliance", self.compliance), ("damping", self.damping), ("damping time", self.damping_time)];
        for (field, value) in parameters {
            let name = format!("{field} of {what}");
            check_non_negative(&name, value)?;
            if value > Self::LIMIT {
                return Err(Error::invalid(name, value, "at most 1e18"));
            }
        }
        if !(0.0..=1.0).contains(&self.stiffness) {
            return Err(Error::invalid(format!("stiffness of {what}"), self.stiffness, "0 to 1"));
        }
        Ok(())
    }
}

/// An entry of a scene's material table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MaterialId(pub(crate) u32);

impl MaterialId {
    /// The index in the table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The material of a cloth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fabric {
    /// Mass per area [kg/m²].
    pub area_density: f32,
    /// Constraints along the weave, or along the edges of a mesh [m/N].
    pub structural: Material,
    /// Constraints along the diagonals of the cells of a grid [m/N].
    pub shear: Material,
    /// Constraints of [`Bending::Springs`]: between every second particle of a line, or between the opposite vertices
    /// of an edge [m/N]. The damping time and PBD stiffness also apply to the other bending models.
    pub bend: Material,
    /// Flexural rigidity B \[N m\] of [`Bending::Hinges`] and [`Bending::Isometric`].
    pub flexural_rigidity: f32,
    /// The bending model.
    pub bending: Bending,
    /// The greatest ratio of an edge's length to its rest length, for any compliance; 1.1 is usual, infinite is no
    /// limit. It applies to structural edges, by [`crate::DistanceLimit`]s that are projected last (Provot 1995).
    pub stretch_limit: f32,
    /// In-plane elasticity of given moduli in place of the constraints of `structural` and `shear`, of which only the
    /// damping time and PBD stiffness of `structural` are used; `None` is distance constraints.
    pub membrane: Option<Orthotropic>,
    /// How the cloth tears; `None` never does. See [`crate::Solver::tear`].
    pub tearing: Option<Tearing>,
}

impl Default for Fabric {
    /// An inextensible cloth of 0.2 kg/m². Compliances: structural 0, shear 1e-6 m/N, bending springs 1e-4 m/N. B =
    /// 1e-5 N m.
    fn default() -> Self {
        Self {
            area_density: 0.2,
            structural: Material::RIGID,
            shear: Material::compliant(1e-6),
            bend: Material::compliant(1e-4),
            flexural_rigidity: 1e-5,
            bending: Bending::Springs,
            stretch_limit: f32::INFINITY,
            membrane: None,
            tearing: None,
        }
    }
}

impl Fabric {
    /// True if a mesh of this fabric needs texture coordinates.
    #[cfg(feature = "scene-file")]
    pub(crate) fn needs_warp(&self) -> bool {
        self.membrane.is_some_and(|membrane| membrane.needs_warp())
    }

    pub(crate) fn check(&self) -> Result<()> {
        check_positive("area density of a fabric", self.area_density)?;
        if self.stretch_limit.is_nan() || self.stretch_limit < 1.0 {
            return Err(Error::invalid("stretch limit of a fabric", self.stretch_limit, "at least 1"));
        }
        if let Some(membrane) = &self.membrane {
            membrane.check()?;
        }
        self.tearing.map_or(Ok(()), |tearing| tearing.check())?;
        self.structural.check("the structural material of a fabric")?;
        self.shear.check("the shear material of a fabric")?;
        self.bend.check("the bend material of a fabric")
    }
}

/// The material of a rope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cord {
    /// Mass per length [kg/m].
    pub linear_density: f32,
    /// Axial stiffness EA \[N\]: the force that doubles the length. Infinite = rigid.
    pub axial_stiffness: f32,
    /// Damping β of each segment [N·s/m].
    pub damping: f32,
    /// Bend constraints between every second point [m/N]; `None` for none.
    pub bend: Option<Material>,
    /// Flexural rigidity EI \[N m²\]: the moment that bends the rope to a radius of 1 m. 0 for none.
    pub flexural_rigidity: f32,
}

impl Cord {
    pub(crate) fn check(&self) -> Result<()> {
        check_positive("linear density of a cord", self.linear_density)?;
        if self.axial_stiffness.is_nan() || self.axial_stiffness <= 0.0 {
            return Err(Error::invalid("axial stiffness of a cord", self.axial_stiffness, "greater than 0"));
        }
        check_non_negative("damping of a cord", self.damping)?;
        check_non_negative("flexural rigidity of a cord", self.flexural_rigidity)?;
        self.bend.map_or(Ok(()), |bend| bend.check("the bend material of a cord"))
    }

    /// The material of a segment of the given length \[m\]: α = L/(EA).
    pub(crate) fn material(&self, length: f32) -> Material {
        Material { compliance: length / self.axial_stiffness, damping: self.damping, ..Material::RIGID }
    }
}
