//! Fabrics and cords with parameters from the literature.
//!
//! Cloth: area density ρ_A [kg/m²], membrane stiffness E_t [N/m] (the secant at 490 N/m, mean of warp and weft), shear
//! stiffness G [N/m per rad], bending rigidity B [N·m].
//!
//! | fabric | ρ_A | E_t | G | B | sources |
//! |---|---|---|---|---|---|
//! | silk, 16 momme | 0.069 | 8 000 | 20 | 3e-6 | weight by the definition of the momme; B: median of light fabrics in Feng et al. 2022; E_t, G typical |
//! | cotton broadcloth | 0.124 | 20 000 | 80 | 1e-5 | Matsudaira et al. 2015, table 1; Tadesse et al. 2018; G typical |
//! | denim, 12 oz | 0.41 | 9 400 | 110 | 4e-5 | *Journal of Textiles* 2016, 4614168, table 5 (mean of six); Wang et al. 2011; B: Feng et al. 2022 |
//! | wool suiting | 0.20 | 7 000 | 33 | 1e-5 | Fan, Yu, Hunter 2004, table 1.12; Matsudaira et al. 2015 |
//! | garment leather, 0.8 mm | 0.65 | 20 000 | 7 500 | 1e-4 | thickness and drape: Memon et al. 2021; the rest typical |
//! | natural rubber sheet, 0.5 mm | 0.475 | 750 | 250 | 2.1e-5 | E 1.5 MPa, 950 kg/m³ (vulcanised, MatWeb); B = E t³/(12 (1 − ν²)) |
//!
//! Fabrics of one fibre vary by a factor of two to three in E_t and G, and of five in B. "Typical" values are usual in
//! the trade and have no single source.
//!
//! - Woven fabrics: on a square grid an edge represents a strip as wide as it is long, so its compliance is 1/E_t at
//!   any resolution. With both diagonals per cell, the compliance of a diagonal is 1/G.
//! - Isotropic sheets (leather, rubber) have 3/4 E_t along the edges and 3/8 E_t along the diagonals. This gives E_t
//!   with an in-plane Poisson ratio of 1/3.
//! - Bending springs have no linear bending stiffness, so no compliance corresponds to a B. Their compliance is ℓ³/B
//!   with ℓ = 1 mm, which keeps only the order of the fabrics.
//!
//! A membrane has moduli of small strains instead, of which few are published for both directions, shear and Poisson
//! ratio of one sample. `STRETCH_DENIM` is the sample 11oz-black-denim of Wang, O'Brien, Ramamoorthi 2011, *Data-Driven
//! Elastic Models for Cloth* (99 % cotton, 1 % spandex; 0.324 kg/m²). The first row of its stretching data is
//! c₁₁ 205.35, c₁₂ 10.234, c₂₂ 1013.89, c₃₃ 53.387. As in ARCSim (Narain, Samii, O'Brien 2012), the energy per area is
//! c₁₁ ε₁₁² + 2 c₁₂ ε₁₁ ε₂₂ + c₂₂ ε₂₂² + 2 c₃₃ ε₁₂². The stiffer direction is taken as the warp; B is that of denim above.
//!
//! Cords: mass per length [kg/m] and axial stiffness EA \[N\].
//!
//! | cord | mass | EA | sources |
//! |---|---|---|---|
//! | steel cable 6×19, steel core, 8 mm | 0.255 | 2.6e6 | Orcina's wire rope formulae (3 990 d² kg/m, 4.04e10 d² N) |
//! | nylon, three strands, 12.7 mm | 0.097 | 1.0e5 | four times the breaking load of 25.6 kN (25 % at break) |
//! | hemp or manila, 12.7 mm | 0.112 | 9e4 | breaking load 10.6 kN; elongation at break 10 to 15 %, typical |
//! | cotton, three strands, 12.7 mm | 0.10 | 4.5e4 | breaking load 6.7 kN; elongation at break 10 to 20 %, typical |
//! | rubber band, 6 mm × 1 mm | 0.0057 | 9 | rubber as above, E 1.5 MPa |

use super::{Bending, Cord, Fabric, Material, Orthotropic, Stiffening};

/// A woven fabric: E_t [N/m], G [N/m], B [N·m].
const fn woven(area_density: f32, tensile: f32, shear: f32, bending: f32) -> Fabric {
    Fabric {
        area_density,
        structural: Material::compliant(1.0 / tensile),
        shear: Material::compliant(1.0 / shear),
        bend: Material::compliant(1e-9 / bending),
        flexural_rigidity: bending,
        bending: Bending::Springs,
        stretch_limit: f32::INFINITY,
        membrane: None,
        tearing: None,
    }
}

/// An isotropic sheet: E_t [N/m], B [N·m].
const fn isotropic(area_density: f32, tensile: f32, bending: f32) -> Fabric {
    woven(area_density, 0.75 * tensile, 0.375 * tensile, bending)
}

/// Presets; `src/scene/presets.rs` lists the parameters and their sources.
impl Fabric {
    /// Silk of 16 momme: 69 g/m².
    pub const SILK: Self = woven(0.069, 8e3, 20.0, 3e-6);
    /// Cotton broadcloth: 124 g/m².
    pub const COTTON: Self = woven(0.124, 2e4, 80.0, 1e-5);
    /// Denim of 12 oz/yd²: 410 g/m².
    pub const DENIM: Self = woven(0.41, 9.4e3, 110.0, 4e-5);
    /// Denim with 1 % spandex, 324 g/m², as a membrane of measured moduli: 2 027 N/m along the warp, 410 N/m along the weft,
    /// shear 53 N/m, Poisson ratio 0.05. It stretches: omit tethers, or see [`super::Tethers::scale`].
    pub const STRETCH_DENIM: Self = Self {
        area_density: 0.324,
        membrane: Some(Orthotropic {
            warp: 2026.8,
            weft: 410.5,
            shear: 53.39,
            poisson_ratio: 0.0498,
            direction: None,
            stiffening: Stiffening::NONE,
        }),
        ..Self::DENIM
    };
    /// Wool suiting: 200 g/m².
    pub const WOOL: Self = woven(0.20, 7e3, 33.0, 1e-5);
    /// Garment leather of 0.8 mm: 650 g/m².
    pub const LEATHER: Self = isotropic(0.65, 2e4, 1e-4);
    /// Natural rubber sheet of 0.5 mm: 475 g/m². It stretches: omit tethers, or see [`super::Tethers::scale`].
    pub const RUBBER: Self = isotropic(0.475, 750.0, 2.1e-5);
}

/// Presets; `src/scene/presets.rs` lists the parameters and their sources.
impl Cord {
    /// Steel cable 6×19 with a steel core, 8 mm thick.
    pub const STEEL_CABLE: Self = Self::limp(0.255, 2.6e6);
    /// Nylon rope of three strands, 12.7 mm thick.
    pub const NYLON: Self = Self::limp(0.097, 1.0e5);
    /// Hemp or manila rope, 12.7 mm thick.
    pub const HEMP: Self = Self::limp(0.112, 9e4);
    /// Cotton rope of three strands, 12.7 mm thick.
    pub const COTTON: Self = Self::limp(0.10, 4.5e4);
    /// One strand of a rubber band, 6 mm × 1 mm. It stretches: omit tethers, or see [`super::Tethers::scale`].
    pub const RUBBER_BAND: Self = Self::limp(5.7e-3, 9.0);

    /// A cord without bending resistance: mass per length [kg/m], axial stiffness EA \[N\].
    pub const fn limp(linear_density: f32, axial_stiffness: f32) -> Self {
        Self { linear_density, axial_stiffness, damping: 0.0, bend: None, flexural_rigidity: 0.0 }
    }
}
