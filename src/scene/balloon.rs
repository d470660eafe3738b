//! Balloons: closed cloths with gas inside.

use super::{Cloth, ClothMesh, Fabric, Material, Scene};
use crate::constraints::{ClosedSurface, Kind, Pressure};
use crate::error::Result;

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

impl Scene {
    /// Adds a closed cloth with gas inside.
    ///
    /// The constraints within the skin are solved by colours of their own. The angular momentum that a Gauss-Seidel sweep
    /// over them creates is removed from the skin: a balloon at rest does not begin to spin, and a spinning balloon keeps
    /// its angular momentum. Skins that share a particle count as one.
    ///
    /// # Errors
    /// The surface is not closed ([`ClosedSurface::new`]) or encloses no volume; also the errors of
    /// [`Scene::add_cloth_mesh`].
    pub fn add_balloon(&mut self, balloon: &Balloon<'_>) -> Result<BalloonParts> {
        balloon.gas.check("the gas of a balloon")?;
        let own = ClosedSurface::new(balloon.triangles)?;
        crate::geometry::check_particles(|| "a balloon".into(), own.particles(), balloon.positions.len())?;
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
