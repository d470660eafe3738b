//! Membranes of cloth: an orthotropic sheet of given moduli instead of distance constraints.

use super::cloth_links::Measured;
use super::{Cloth, ClothGrid, ClothMesh, Fabric, Material, MaterialId, Scene};
use crate::constraints::{Kind, Membrane, in_material};
use crate::error::{Error, Result, check_finite, check_positive};
use glam::{DVec2, DVec3};
use std::ops::Range;

/// In-plane elasticity of a sheet: orthotropic St. Venant-Kirchhoff, by three [`Membrane`] constraints per triangle.
///
/// The tension per width is linear in the Green strain: N_uu = (E_u ε_uu + ν_uv E_v ε_vv)/(1 − ν_uv ν_vu), N_vv =
/// (E_v ε_vv + ν_uv E_v ε_uu)/(1 − ν_uv ν_vu), N_uv = 2 G ε_uv, with ν_vu = ν_uv E_v/E_u. Moduli are those of small
/// strains, in every direction and on every mesh. At a strain of 1 % along the warp the force exceeds E_u times the strain
/// by 1.5 %.
///
/// A material of thickness t and modulus E in Pa has a modulus of E t in N/m.
///
/// ```
/// use supple::{ClothGrid, Fabric, Orthotropic, Scene};
///
/// let membrane = Orthotropic { warp: 2000.0, weft: 1000.0, shear: 50.0, poisson_ratio: 0.2, direction: None };
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
}

impl Orthotropic {
    /// An isotropic sheet: G = E/(2 (1 + ν)). `modulus` is in N/m; the Poisson ratio is in −1 to 1.
    pub const fn isotropic(modulus: f32, poisson_ratio: f32) -> Self {
        let shear = modulus / (2.0 * (1.0 + poisson_ratio));
        Self { warp: modulus, weft: modulus, shear, poisson_ratio, direction: None }
    }

    /// ν_vu: the contraction along the warp per extension along the weft.
    fn reverse_ratio(&self) -> f64 {
        f64::from(self.poisson_ratio) * f64::from(self.weft) / f64::from(self.warp)
    }

    fn is_isotropic(&self) -> bool {
        let shear = self.warp / (2.0 * (1.0 + self.poisson_ratio));
        self.warp == self.weft && (self.shear - shear).abs() <= 1e-3 * shear
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
        if let Some(direction) = self.direction {
            check_finite(|| "warp direction of a fabric".into(), direction)?;
            check_positive(
                "length of the warp direction of a fabric",
                DVec3::from(direction.map(f64::from)).length() as f32,
            )?;
        }
        Ok(())
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

/// The texture coordinates of a mesh: the corners of each triangle.
pub(super) type Texture<'a> = Option<&'a [[[f32; 2]; 3]]>;

/// The membrane constraints of a cloth before they are added: three lists (warp, weft, shear) with their materials.
#[derive(Default)]
pub(super) struct Membranes {
    constraints: [Vec<Membrane>; 3],
    materials: Option<[Material; 3]>,
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
        }
        let material = |compliance: f64| Material { compliance: compliance as f32, damping: 0.0, ..fabric.structural };
        let materials = law.compliances().map(material);
        for material in materials {
            material.check("the membrane of a fabric")?;
        }
        Ok(Self { constraints, materials: Some(materials) })
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

    /// Adds membrane constraints. Shear comes first and the warp last, which has the smallest error.
    pub(super) fn push_membranes(&mut self, membranes: &Membranes) -> Result<(Range<u32>, Option<[MaterialId; 3]>)> {
        let first = self.kind_count(Membrane::INFO);
        let Some([warp, weft, shear]) = membranes.materials else { return Ok((first..first, None)) };
        let ids = [self.add_material(warp)?, self.add_material(weft)?, self.add_material(shear)?];
        for (list, id) in membranes.constraints.iter().zip(ids).rev() {
            list.iter().for_each(|membrane| self.push_constraint(membrane, id));
        }
        Ok((first..self.kind_count(Membrane::INFO), Some(ids)))
    }
}
