//! Membranes of cloth: an orthotropic sheet of given moduli instead of distance constraints.

use super::cloth_links::Measured;
use super::{Cloth, ClothGrid, ClothMesh, Fabric, Material, MaterialId, Scene};
use crate::constraints::{Kind, Membrane, MembraneLimit, in_material};
use crate::error::{Error, Result, check_finite, check_positive};
use glam::{DVec2, DVec3};
use std::ops::Range;

/// In-plane elasticity of a sheet: orthotropic St. Venant-Kirchhoff, by three [`Membrane`] constraints per triangle.
///
/// Without [`Orthotropic::stiffening`] the tension per width is linear in the Green strain: N_uu = (E_u ε_uu + ν_uv E_v ε_vv)/(1 − ν_uv ν_vu), N_vv =
/// (E_v ε_vv + ν_uv E_v ε_uu)/(1 − ν_uv ν_vu), N_uv = 2 G ε_uv, with ν_vu = ν_uv E_v/E_u. Moduli are those of small
/// strains, in every direction and on every mesh. At a strain of 1 % along the warp the force exceeds E_u times the strain
/// by 1.5 %.
///
/// A material of thickness t and modulus E in Pa has a modulus of E t in N/m.
///
/// ```
/// use supple::{ClothGrid, Fabric, Orthotropic, Scene};
///
/// let isotropic = Orthotropic::isotropic(2000.0, 0.2);
/// let membrane = Orthotropic { weft: 1000.0, shear: 50.0, ..isotropic };
/// let fabric = Fabric { membrane: Some(membrane), ..Fabric::default() };
/// let mut scene = Scene::new();
/// let cloth = scene.add_cloth_grid(&ClothGrid { columns: 9, rows: 9, fabric, ..ClothGrid::default() })?;
/// assert_eq!(cloth.membranes.len(), 3 * 2 * 8 * 8);
/// # Ok::<(), supple::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Orthotropic {
    /// Modulus E_u along the warp [N/m]; positive.
    pub warp: f32,
    /// Modulus E_v along the weft [N/m]; positive.
    pub weft: f32,
    /// Shear modulus G between warp and weft [N/m]; positive.
    pub shear: f32,
    /// Poisson ratio ν_uv: the contraction along the weft per extension along the warp, under tension along the warp.
    /// ν_uv² E_v/E_u < 1.
    pub poisson_ratio: f32,
    /// The direction of the warp in the given shape, projected to each triangle. `None` is along the rows of a grid;
    /// meshes need a direction or texture coordinates ([`Scene::add_cloth_mesh_with_texture`]) unless the sheet is
    /// isotropic.
    pub direction: Option<[f32; 3]>,
    /// Higher moduli beyond given strains, as measured fabrics have.
    pub stiffening: Stiffening,
}

/// The most pieces of a tension after the first. More would bring more than 48 limits to a vertex of nine triangles, and those are solved by mass
/// splitting.
pub(super) const PIECES: usize = 2;

/// Stiffening of a sheet: its tension along warp and weft is piecewise linear in the Green strain.
///
/// The modulus up to the first strain is that of [`Orthotropic`]. Each piece is a [`MembraneLimit`] per triangle, of compliance 1/(E − E') if E'
/// is the modulus before. It acts on the strain along its own thread alone: under tension along one thread, the contraction per extension
/// stays that of the Poisson ratio. Moduli that fall are not supported.
///
/// A sheet of 200 N/m up to a strain of 3 % along the warp, then of 4000 N/m, with a limit of 10 %:
///
/// ```
/// use supple::{Orthotropic, Stiffening, TensionPiece};
///
/// let piece = |strain, modulus| Some(TensionPiece { strain, modulus });
/// let warp = [piece(0.03, 4000.0), piece(0.10, f32::INFINITY)];
/// let stiffening = Stiffening { warp, ..Stiffening::NONE };
/// let membrane = Orthotropic { stiffening, ..Orthotropic::isotropic(200.0, 0.2) };
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stiffening {
    /// The pieces along the warp, by rising strain and modulus.
    pub warp: [Option<TensionPiece>; PIECES],
    /// The pieces along the weft.
    pub weft: [Option<TensionPiece>; PIECES],
}

/// A piece of a piecewise linear tension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TensionPiece {
    /// The Green strain at which the piece begins, 0 to 1e6. A stretch s has the Green strain (s² − 1)/2.
    pub strain: f32,
    /// The modulus in the piece \[N/m\], greater than that of the piece before. Infinite: a limit of the
    /// strain, up to the error of the solver.
    pub modulus: f32,
}

impl Stiffening {
    /// A sheet of one modulus.
    pub const NONE: Self = Self { warp: [None; PIECES], weft: [None; PIECES] };
}

/// The threads along which a sheet stiffens, with their weights of the strain.
const THREADS: [(&str, [f64; 3]); 2] = [("warp", [1.0, 0.0, 0.0]), ("weft", [0.0, 1.0, 0.0])];

impl Orthotropic {
    /// An isotropic sheet: G = E/(2 (1 + ν)). `modulus` is in N/m; the Poisson ratio is in −1 to 1.
    pub const fn isotropic(modulus: f32, poisson_ratio: f32) -> Self {
        let shear = modulus / (2.0 * (1.0 + poisson_ratio));
        Self { warp: modulus, weft: modulus, shear, poisson_ratio, direction: None, stiffening: Stiffening::NONE }
    }

    /// ν_vu: the contraction along the warp per extension along the weft.
    fn reverse_ratio(&self) -> f64 {
        f64::from(self.poisson_ratio) * f64::from(self.weft) / f64::from(self.warp)
    }

    fn is_isotropic(&self) -> bool {
        let shear = self.warp / (2.0 * (1.0 + self.poisson_ratio));
        self.warp == self.weft && self.stiffening == Stiffening::NONE && (self.shear - shear).abs() <= 1e-3 * shear
    }

    /// True if the sheet needs texture coordinates on a mesh.
    pub(crate) fn needs_warp(&self) -> bool {
        self.direction.is_none() && !self.is_isotropic()
    }

    pub(super) fn check(&self) -> Result<()> {
        check_positive("warp modulus of a fabric", self.warp)?;
        check_positive("weft modulus of a fabric", self.weft)?;
        check_positive("shear modulus of a fabric", self.shear)?;
        let product = f64::from(self.poisson_ratio) * self.reverse_ratio();
        if product.is_nan() || product >= 1.0 {
            let (warp, weft) = (self.warp, self.weft);
            let what = format!("Poisson ratio of a fabric with moduli of {warp} and {weft} N/m");
            return Err(Error::invalid(what, self.poisson_ratio, "less than √(warp/weft) in magnitude"));
        }
        for ((thread, _), (modulus, pieces)) in THREADS.into_iter().zip(self.curves()) {
            check_pieces(thread, modulus, &pieces)?;
        }
        if let Some(direction) = self.direction {
            check_finite(|| "warp direction of a fabric".into(), direction)?;
            check_positive(
                "length of the warp direction of a fabric",
                DVec3::from(direction.map(f64::from)).length() as f32,
            )?;
        }
        Ok(())
    }

    /// By thread, the modulus of small strains and the further pieces.
    fn curves(&self) -> [(f32, [Option<TensionPiece>; PIECES]); 2] {
        [(self.warp, self.stiffening.warp), (self.weft, self.stiffening.weft)]
    }

    /// The weights of the three constraints of a triangle: warp, weft, shear.
    fn weights(&self) -> [[f64; 3]; 3] {
        [[1.0, self.reverse_ratio(), 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    }

    /// Their compliances [m/N].
    fn compliances(&self) -> [f64; 3] {
        let warp = (1.0 - f64::from(self.poisson_ratio) * self.reverse_ratio()) / f64::from(self.warp);
        [warp, 1.0 / f64::from(self.weft), 1.0 / f64::from(self.shear)]
    }
}

fn check_pieces(thread: &str, modulus: f32, pieces: &[Option<TensionPiece>]) -> Result<()> {
    let (mut strain, mut modulus) = (None, modulus);
    for (index, piece) in pieces.iter().enumerate() {
        let Some(piece) = piece else { continue };
        let what = |value: &str| format!("{value} of piece {index} of the stiffening along the {thread}");
        if !(0.0..=1e6).contains(&piece.strain) {
            return Err(Error::invalid(what("strain"), piece.strain, "0 to 1e6"));
        }
        if strain.is_some_and(|before| piece.strain <= before) {
            return Err(Error::invalid(what("strain"), piece.strain, "greater than that of the piece before"));
        }
        if piece.modulus.is_nan() || piece.modulus <= modulus {
            let name = format!("{}, after one of {modulus} N/m,", what("modulus"));
            return Err(Error::invalid(name, piece.modulus, "greater than the one before"));
        }
        (strain, modulus) = (Some(piece.strain), piece.modulus);
    }
    Ok(())
}

/// The texture coordinates of a mesh: the corners of each triangle.
pub(super) type Texture<'a> = Option<&'a [[[f32; 2]; 3]]>;

/// The membrane constraints of a cloth before they are added: three lists (warp, weft, shear) with their materials.
#[derive(Default)]
pub(super) struct Membranes {
    constraints: [Vec<Membrane>; 3],
    materials: Option<[Material; 3]>,
    /// By thread and piece.
    limits: [[Option<Limits>; PIECES]; 2],
}

/// The limits of one piece of a tension, by triangle.
struct Limits {
    constraints: Vec<MembraneLimit>,
    material: Material,
    strain: f32,
}

/// The membranes of a cloth that were added, with their materials.
pub(super) struct AddedMembranes {
    pub membranes: Range<u32>,
    pub membrane_limits: Range<u32>,
    pub membrane: Option<[MaterialId; 3]>,
    pub stiffening: [[Option<MaterialId>; PIECES]; 2],
}

impl Membranes {
    /// The membranes of the triangles of a cloth. Empty if the fabric has none.
    pub fn new(cloth: &Measured<'_>, triangles: &[[u32; 3]], texture: Texture<'_>, fabric: &Fabric) -> Result<Self> {
        let Some(law) = fabric.membrane else { return Ok(Self::default()) };
        if let Some(texture) = texture
            && texture.len() != triangles.len()
        {
            let (left, right) = (texture.len(), triangles.len());
            return Err(Error::LengthMismatch { what: "texture coordinates and triangles of a cloth", left, right });
        }
        if texture.is_none() && law.needs_warp() {
            let needed = "Orthotropic::direction or texture coordinates";
            return Err(Error::NotEnabled { what: "a mesh with an orthotropic membrane", needed });
        }
        let material = |compliance: f64| Material { compliance: compliance as f32, damping: 0.0, ..fabric.structural };
        let materials = law.compliances().map(material);
        let mut limits = law.curves().map(|(modulus, pieces)| {
            let mut before = f64::from(modulus);
            pieces.map(|piece| {
                let TensionPiece { strain, modulus } = piece?;
                let material = material(1.0 / (f64::from(modulus) - before));
                before = f64::from(modulus);
                Some(Limits { constraints: Vec::with_capacity(triangles.len()), material, strain })
            })
        });
        for material in materials.iter().chain(limits.iter().flatten().flatten().map(|limit| &limit.material)) {
            material.check("the membrane of a fabric")?;
        }
        let mut constraints = [(); 3].map(|()| Vec::with_capacity(triangles.len()));
        for (index, &triangle) in triangles.iter().enumerate() {
            let what = || format!("triangle {index} of a cloth");
            let edges = cloth.edges(triangle);
            let warp = match (law.direction, texture) {
                (Some(direction), _) => DVec3::from(direction.map(f64::from)),
                (None, Some(texture)) => warp_of_texture(edges, texture[index], what)?,
                (None, None) => edges[0],
            };
            let edges = in_material(edges, warp, what)?;
            for (list, weights) in constraints.iter_mut().zip(law.weights()) {
                list.push(Membrane::from_edges(cloth.particles(triangle), edges, weights)?);
            }
            for (limits, (_, weights)) in limits.iter_mut().zip(THREADS) {
                for Limits { constraints, strain, .. } in limits.iter_mut().flatten() {
                    let particles = cloth.particles(triangle);
                    constraints.push(MembraneLimit::from_edges(particles, edges, weights, *strain)?);
                }
            }
        }
        Ok(Self { constraints, materials: Some(materials), limits })
    }
}

/// The direction of u in a triangle with edges a and b. Only the direction of the texture matters, not its scale.
fn warp_of_texture([a, b]: [DVec3; 2], corners: [[f32; 2]; 3], what: impl Fn() -> String) -> Result<DVec3> {
    if let Some(value) = corners.into_iter().flatten().find(|value| !value.is_finite()) {
        return Err(Error::invalid(format!("texture coordinate of {}", what()), value, "finite"));
    }
    let [uv0, uv1, uv2] = corners.map(|uv| DVec2::from(uv.map(f64::from)));
    let (p, q) = (uv1 - uv0, uv2 - uv0);
    let (determinant, longest) = (p.perp_dot(q), p.length_squared().max(q.length_squared()));
    if determinant.abs() <= 1e-9 * longest {
        let name = format!("area of the texture coordinates of {}", what());
        return Err(Error::invalid(name, 0.5 * determinant, "not 0"));
    }
    Ok((a * q.y - b * p.y) / determinant)
}

impl ClothGrid {
    /// The fabric, with the warp along the rows unless it has a direction.
    pub(super) fn fabric_along_rows(&self) -> Fabric {
        let along = |law: Orthotropic| Orthotropic { direction: law.direction.or(Some(self.column_axis)), ..law };
        Fabric { membrane: self.fabric.membrane.map(along), ..self.fabric }
    }
}

impl Scene {
    /// Adds a cloth from a triangle mesh whose warp is the direction of the first texture coordinate.
    ///
    /// `texture` has the coordinates (u, v) of the three corners of each triangle. Only the direction of u in each
    /// triangle is used, and only by [`Fabric::membrane`]; [`Orthotropic::direction`] takes precedence.
    ///
    /// # Errors
    /// The errors of [`Scene::add_cloth_mesh`]. With a membrane: the lengths of `texture` and of the triangles differ; the
    /// texture coordinates of a triangle are not finite or have no area.
    pub fn add_cloth_mesh_with_texture(&mut self, mesh: &ClothMesh, texture: &[[[f32; 2]; 3]]) -> Result<Cloth> {
        self.add_mesh(mesh, Some(texture))
    }

    /// Adds membrane constraints. Shear comes first and the warp last, which has the smallest error. The limits of the warp follow those of
    /// the weft.
    pub(super) fn push_membranes(&mut self, membranes: &Membranes) -> Result<AddedMembranes> {
        let [first, first_limit] = [Membrane::INFO, MembraneLimit::INFO].map(|info| self.kind_count(info));
        let mut membrane = None;
        if let Some([warp, weft, shear]) = membranes.materials {
            let ids = [self.add_material(warp)?, self.add_material(weft)?, self.add_material(shear)?];
            for (list, id) in membranes.constraints.iter().zip(ids).rev() {
                list.iter().for_each(|membrane| self.push_constraint(membrane, id));
            }
            membrane = Some(ids);
        }
        let mut stiffening = [[None; PIECES]; 2];
        for (limits, ids) in membranes.limits.iter().zip(&mut stiffening).rev() {
            for (limit, own) in limits.iter().zip(ids) {
                let Some(Limits { constraints, material, .. }) = limit else { continue };
                let id = self.add_material(*material)?;
                constraints.iter().for_each(|limit| self.push_constraint(limit, id));
                *own = Some(id);
            }
        }
        let membranes = first..self.kind_count(Membrane::INFO);
        let membrane_limits = first_limit..self.kind_count(MembraneLimit::INFO);
        Ok(AddedMembranes { membranes, membrane_limits, membrane, stiffening })
    }
}
