//! Balloons: closed cloths with gas inside.

use super::{Cloth, ClothMesh, Fabric, Material, Scene};
use crate::constraints::{ClosedSurface, Kind, Pressure};
use crate::error::{Error, Result, check_positive};

/// A closed cloth with gas inside.
#[derive(Debug, Clone)]
pub struct Balloon<'a> {
    /// The vertices \[m\]; one particle per vertex.
    pub positions: &'a [[f32; 3]],
    /// The triangles of a closed surface, counterclockwise seen from outside.
    pub triangles: &'a [[u32; 3]],
    /// The fabric.
    pub fabric: Fabric,
    /// The pressure factor: the ratio of the gas volume at zero pressure difference to the rest volume.
    pub pressure: f32,
    /// Compliance of the gas [m⁶/J]; rigid is an incompressible fluid.
    pub gas: Material,
}

/// Index ranges of a balloon in the scene.
#[derive(Debug, Clone, PartialEq)]
pub struct BalloonParts {
    /// The skin.
    pub cloth: Cloth,
    /// The [`Pressure`] constraint.
    pub pressure: u32,
    /// The closed surface, for [`crate::Solver::set_constraint`]. After [`Scene::renumber`], rebuild it from the
    /// triangles.
    pub surface: ClosedSurface,
    /// The volume of the given shape \[m³\].
    pub rest_volume: f32,
}

/// N of `src/constraints/pressure.rs`: the pressure is 0.1 % lower at twice the rest volume.
const GAS_VOLUMES: f32 = 1000.0;

impl<'a> Pressure<'a> {
    /// A pressure of `pascals` \[Pa\] above that of the air around, and the material of its constraint. The pressure hardly depends on the
    /// volume: it is 0.1 % lower at twice the rest volume, 1 % at eleven times. In operation a factor of 1 + 1000 r
    /// ([`crate::Solver::set_constraint`]) gives r times the pressure.
    ///
    /// # Errors
    /// The pressure or the rest volume \[m³\] is not finite or not positive; the compliance N V₀/Δp exceeds 1e18 m⁶/J.
    pub fn at(surface: &'a ClosedSurface, rest_volume: f32, pascals: f32) -> Result<(Self, Material)> {
        check_positive("pressure [Pa] of a closed surface", pascals)?;
        check_positive("rest volume of a closed surface under pressure", rest_volume)?;
        let material = Material::compliant(GAS_VOLUMES * rest_volume / pascals);
        material.check("a closed surface under pressure")?;
        Ok((Self { surface, rest_volume, pressure: 1.0 + GAS_VOLUMES }, material))
    }
}

impl Balloon<'_> {
    /// The balloon with a gas of `pascals` \[Pa\] above the pressure of the air around, at any volume, in place of `pressure` and `gas`: see
    /// [`Pressure::at`].
    ///
    /// ```
    /// # use supple::{Balloon, Fabric, Material, Scene};
    /// # let positions = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    /// # let triangles = [[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]];
    /// # let mut scene = Scene::new();
    /// let skin = Balloon {
    ///     positions: &positions, triangles: &triangles, fabric: Fabric::RUBBER, pressure: 1.0, gas: Material::RIGID,
    /// };
    /// scene.add_balloon(&skin.at(300.0)?)?;
    /// # Ok::<(), supple::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scene::add_balloon`] and [`Pressure::at`].
    pub fn at(self, pascals: f32) -> Result<Self> {
        let surface = self.closed_surface()?;
        let rest_volume = surface.volume(|vertex| self.positions[vertex as usize]) as f32;
        let (Pressure { pressure, .. }, gas) = Pressure::at(&surface, rest_volume, pascals)?;
        Ok(Self { pressure, gas, ..self })
    }

    /// The surface, by vertices.
    fn closed_surface(&self) -> Result<ClosedSurface> {
        let own = ClosedSurface::new(self.triangles)?;
        crate::geometry::check_indices(|| "a balloon".into(), "vertex", own.particles(), self.positions.len())?;
        Ok(own)
    }
}

impl Scene {
    /// Adds a closed cloth with gas inside.
    ///
    /// The constraints within the skin are solved by colours of their own. The angular momentum that a Gauss-Seidel sweep
    /// over them creates is removed from the skin: a balloon at rest does not begin to spin, and a spinning balloon keeps
    /// its angular momentum. Skins that share a particle count as one.
    ///
    /// # Errors
    /// The surface is not closed ([`ClosedSurface::new`]), encloses no volume or tears ([`Fabric::tearing`]), so that the gas would leave;
    /// also the errors of [`Scene::add_cloth_mesh`].
    pub fn add_balloon(&mut self, balloon: &Balloon<'_>) -> Result<BalloonParts> {
        balloon.gas.check("the gas of a balloon")?;
        let own = balloon.closed_surface()?;
        if balloon.fabric.tearing.is_some() {
            let what = "tearing of the skin of a balloon".into();
            return Err(Error::Unsupported {
                what,
                instead: "a tear would let out the gas; set Fabric::tearing to None",
            });
        }
        let rest_volume = own.volume(|vertex| balloon.positions[vertex as usize]) as f32;
        let base = self.positions.len() as u32;
        let triangles: Vec<_> = balloon.triangles.iter().map(|triangle| triangle.map(|vertex| base + vertex)).collect();
        let surface = ClosedSurface::new(&triangles)?;
        let constraint = Pressure { surface: &surface, rest_volume, pressure: balloon.pressure };
        Kind::check(&constraint, self.kind_count(Pressure::INFO) as usize)?;
        let (positions, fabric) = (balloon.positions, balloon.fabric);
        let cloth =
            self.add_cloth_mesh(&ClothMesh { positions, triangles: balloon.triangles, fabric, tethers: None })?;
        let pressure = self.add(constraint, balloon.gas)?;
        Ok(BalloonParts { cloth, pressure, surface, rest_volume })
    }
}
