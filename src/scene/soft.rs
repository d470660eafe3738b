//! Soft and rigid bodies: tetrahedral meshes, lattices around closed surfaces.

use super::elasticity::{lame, spring_modulus};
use super::lattice::{self, Lattice};
use super::{Elasticity, Material, Scene};
use crate::constraints::{Distance, Kind, NeoHookean, ShapeMatching, Volume};
use crate::error::{Error, Result, check_finite, check_positive};
use glam::Vec3;
use std::collections::HashMap;
use std::ops::Range;

/// A body in the shape of a closed surface. A lattice of tetrahedra is simulated, and the surface follows it; see
/// [`Lattice`].
#[derive(Debug, Clone, Copy)]
pub struct SoftBody<'a> {
    /// The vertices of the surface \[m\].
    pub positions: &'a [[f32; 3]],
    /// The triangles of the surface.
    pub triangles: &'a [[u32; 3]],
    /// The edge of a lattice cube \[m\].
    pub spacing: f32,
    /// Mass per volume [kg/m³].
    pub density: f32,
    /// The elastic model.
    pub elasticity: Elasticity,
}

/// A body of given tetrahedra.
#[derive(Debug, Clone, Copy)]
pub struct TetMesh<'a> {
    /// The vertices \[m\]; one particle per vertex.
    pub positions: &'a [[f32; 3]],
    /// The tetrahedra, with (x₁ − x₀)·((x₂ − x₀) × (x₃ − x₀)) > 0.
    pub tetrahedra: &'a [[u32; 4]],
    /// Mass per volume [kg/m³].
    pub density: f32,
    /// The elastic model.
    pub elasticity: Elasticity,
}

/// Index ranges of a body in the scene.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoftParts {
    /// The simulated particles.
    pub particles: Range<u32>,
    /// The surface vertices of a [`SoftBody`], which are followers; empty for a [`TetMesh`], whose surface consists of
    /// its particles.
    pub surface: Range<u32>,
    /// The surface in [`Scene::triangles`].
    pub triangles: Range<u32>,
    /// The [`Distance`] constraints along the edges.
    pub edges: Range<u32>,
    /// The [`Volume`] constraints.
    pub volumes: Range<u32>,
    /// The [`NeoHookean`] constraints.
    pub neo_hookean: Range<u32>,
    /// The [`ShapeMatching`] groups.
    pub groups: Range<u32>,
}

/// Tetrahedra to be added to a scene.
struct Tetrahedra<'a> {
    positions: &'a [[f32; 3]],
    tetrahedra: &'a [[u32; 4]],
    /// The filled fraction of each tetrahedron.
    fill: &'a [f32],
    /// The factor from Σ fill · volume to the true volume, applied to masses.
    mass_scale: f64,
    density: f32,
    elasticity: Elasticity,
    /// The factor c of k = c Eₛ Σ V/L², as a function of the edge length.
    stiffness: &'a dyn Fn(f64) -> f64,
}

/// The lower bound of the fill of lattice tetrahedra, for mass and stiffness: lighter ones would be unstable.
const LIGHTEST_FILL: f32 = 0.2;

impl Scene {
    /// Adds a body in the shape of a closed surface. It has lattice particles with the mass of the body around them,
    /// and the constraints of the elastic model. The surface vertices are followers ([`Scene::add_follower`]), whose
    /// triangles are added to the scene.
    ///
    /// # Errors
    /// The errors of [`Lattice::new`]; density or elasticity is out of range.
    pub fn add_soft_body(&mut self, body: &SoftBody<'_>) -> Result<SoftParts> {
        check_positive("density of a body", body.density)?;
        body.elasticity.check()?;
        let lattice = Lattice::new(body.positions, body.triangles, body.spacing)?;
        self.check_capacity("particles", body.positions.len() + lattice.positions.len())?;
        let fill: Vec<f32> = lattice.fill.iter().map(|fill| fill.max(LIGHTEST_FILL)).collect();
        let volume = |(tetrahedron, fill): (&[u32; 4], &f32)| {
            f64::from(Volume::of(tetrahedron.map(|vertex| lattice.positions[vertex as usize]))) * f64::from(*fill)
        };
        let filled: f64 = lattice.tetrahedra.iter().zip(&fill).map(volume).sum();
        let spacing = f64::from(body.spacing);
        let mut parts = self.push_tetrahedra(&Tetrahedra {
            positions: &lattice.positions,
            tetrahedra: &lattice.tetrahedra,
            fill: &fill,
            mass_scale: f64::from(lattice.volume) / filled,
            density: body.density,
            elasticity: body.elasticity,
            // Per cube, an edge belongs to one tetrahedron, a diagonal to three.
            stiffness: &|length| if length < 1.2 * spacing { 0.6 } else { 1.2 },
        })?;
        let (base, first) = (parts.particles.start, self.positions.len() as u32);
        for embedded in &lattice.embedding {
            self.push_follower(embedded.particles.map(|vertex| base + vertex), embedded.weights);
        }
        parts.surface = first..self.positions.len() as u32;
        parts.triangles = self.push_triangles(first, body.triangles);
        Ok(parts)
    }

    /// Adds a body of given tetrahedra.
    ///
    /// # Errors
    /// - The mesh has no vertices or tetrahedra, a position is not finite, an index is out of range, or a tetrahedron
    ///   repeats an index.
    /// - A tetrahedron does not have positive volume.
    /// - Density or elasticity is out of range.
    pub fn add_tetrahedra(&mut self, mesh: &TetMesh<'_>) -> Result<SoftParts> {
        check_positive("density of a body", mesh.density)?;
        mesh.elasticity.check()?;
        for (what, empty) in [
            ("the vertex list of a tetrahedral mesh", mesh.positions.is_empty()),
            ("the tetrahedron list of a tetrahedral mesh", mesh.tetrahedra.is_empty()),
        ] {
            if empty {
                return Err(Error::Empty { what });
            }
        }
        for (vertex, &position) in mesh.positions.iter().enumerate() {
            check_finite(|| format!("position of mesh vertex {vertex}"), position)?;
        }
        for (index, tetrahedron) in mesh.tetrahedra.iter().enumerate() {
            crate::geometry::check_indices(
                || format!("tetrahedron {index}"),
                "vertex",
                tetrahedron,
                mesh.positions.len(),
            )?;
            let volume = Volume::of(tetrahedron.map(|vertex| mesh.positions[vertex as usize]));
            check_positive(&format!("volume of tetrahedron {index}"), volume)?;
        }
        let mut parts = self.push_tetrahedra(&Tetrahedra {
            positions: mesh.positions,
            tetrahedra: mesh.tetrahedra,
            fill: &vec![1.0; mesh.tetrahedra.len()],
            mass_scale: 1.0,
            density: mesh.density,
            elasticity: mesh.elasticity,
            stiffness: &|_| 1.0,
        })?;
        let surface = lattice::boundary_triangles(mesh.tetrahedra);
        parts.triangles = self.push_triangles(parts.particles.start, &surface);
        Ok(parts)
    }

    pub(super) fn push_triangles(&mut self, base: u32, triangles: &[[u32; 3]]) -> Range<u32> {
        let first = self.triangles.len() as u32;
        self.triangles.extend(triangles.iter().map(|triangle| triangle.map(|vertex| base + vertex)));
        first..self.triangles.len() as u32
    }

    fn push_tetrahedra(&mut self, body: &Tetrahedra<'_>) -> Result<SoftParts> {
        let base = self.check_capacity("particles", body.positions.len())?;
        let place = |vertex: u32| body.positions[vertex as usize];
        let volumes: Vec<f64> =
            body.tetrahedra.iter().map(|tetrahedron| f64::from(Volume::of(tetrahedron.map(place)))).collect();
        let masses = body.vertex_masses(&volumes);
        let inverse_masses: Vec<f32> = (0..masses.len())
            .map(|vertex| super::invert_mass(|| format!("mass of body vertex {vertex}"), masses[vertex]))
            .collect::<Result<_>>()?;
        body.check_elasticity(&volumes, &masses)?;
        let springs = match body.elasticity {
            Elasticity::Elastic { young, bulk, damping_time } => {
                springs(body, &volumes, spring_modulus(young, bulk), damping_time)?
            }
            _ => Vec::new(),
        };
        let regions = match body.elasticity {
            Elasticity::Rigid { .. } => vec![(0..body.positions.len() as u32).collect()],
            Elasticity::Regions { rings, .. } => body.regions(rings),
            _ => Vec::new(),
        };
        self.check_members(ShapeMatching::INFO, regions.iter().map(|region| region.len() as u64).sum())?;

        for (&position, inverse_mass) in body.positions.iter().zip(inverse_masses) {
            self.push_particle(super::Particle { position, velocity: [0.0; 3], inverse_mass });
        }
        let particles = base..base + body.positions.len() as u32;
        self.bodies.push(particles.clone());
        let infos = [Distance::INFO, Volume::INFO, NeoHookean::INFO, ShapeMatching::INFO];
        let counts = |scene: &Self| infos.map(|info| scene.kind_count(info));
        let first = counts(self);
        for (edge, rest_length, material) in springs {
            let id = self.intern(material);
            self.push_constraint(&Distance { particles: edge.map(|vertex| base + vertex), rest_length }, id);
        }
        match body.elasticity {
            Elasticity::Elastic { bulk, damping_time, .. } => {
                self.push_volumes(base, body, &volumes, bulk.into(), damping_time)?;
            }
            Elasticity::NeoHookean { young, poisson_ratio, damping_time } => {
                let [lambda, mu] = lame(young, poisson_ratio);
                self.push_neo_hookean(base, body, mu, damping_time)?;
                self.push_volumes(base, body, &volumes, lambda, damping_time)?;
            }
            Elasticity::Rigid { shape } | Elasticity::Regions { shape, .. } => {
                for region in &regions {
                    let particles: Vec<u32> = region.iter().map(|vertex| base + vertex).collect();
                    let rest_positions: Vec<_> = region.iter().map(|&vertex| place(vertex)).collect();
                    let masses: Vec<f32> = region.iter().map(|&vertex| masses[vertex as usize]).collect();
                    let group =
                        ShapeMatching { particles: &particles, rest_positions: &rest_positions, masses: &masses };
                    self.add(group, shape)?;
                }
            }
        }
        let last = counts(self);
        let [edges, volumes, neo_hookean, groups] = [0, 1, 2, 3].map(|kind| first[kind]..last[kind]);
        Ok(SoftParts { particles, surface: 0..0, triangles: 0..0, edges, volumes, neo_hookean, groups })
    }

    fn push_volumes(
        &mut self,
        base: u32,
        body: &Tetrahedra<'_>,
        volumes: &[f64],
        bulk: f64,
        damping_time: f32,
    ) -> Result<()> {
        if bulk == 0.0 {
            return Ok(());
        }
        for ((tetrahedron, &volume), &fill) in body.tetrahedra.iter().zip(volumes).zip(body.fill) {
            let compliance = body.volume_compliance(volume, fill, bulk);
            let particles = tetrahedron.map(|vertex| base + vertex);
            // The same damping as the springs: otherwise one sweep of Gauss-Seidel adds energy.
            let material = Material { compliance, damping_time, ..Material::RIGID };
            self.add(Volume { particles, rest_volume: volume as f32 }, material)?;
        }
        Ok(())
    }

    /// Adds the distortion constraints of a neo-Hookean body of shear modulus `mu` \[Pa\].
    fn push_neo_hookean(&mut self, base: u32, body: &Tetrahedra<'_>, mu: f64, damping_time: f32) -> Result<()> {
        let material = Material { compliance: (1.0 / mu) as f32, damping_time, ..Material::RIGID };
        for (tetrahedron, &fill) in body.tetrahedra.iter().zip(body.fill) {
            let rest = tetrahedron.map(|vertex| body.positions[vertex as usize]);
            let constraint = NeoHookean::new(tetrahedron.map(|vertex| base + vertex), rest)?;
            let share = (f64::from(fill) * body.mass_scale).sqrt() as f32;
            self.add(constraint.scaled(share), material)?;
        }
        Ok(())
    }
}

impl Tetrahedra<'_> {
    /// The vertices up to `rings` edges away from each vertex, itself first. A vertex of no tetrahedron has no region.
    fn regions(&self, rings: u32) -> Vec<Vec<u32>> {
        let mut neighbours = vec![Vec::new(); self.positions.len()];
        for [a, b] in lattice::edges(self.tetrahedra) {
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
        // The last region of each vertex.
        let mut seen = vec![u32::MAX; self.positions.len()];
        let region = |center: u32| {
            let mut region = vec![center];
            seen[center as usize] = center;
            let mut inner = 0;
            for _ in 0..rings {
                let outer = region.len();
                for index in inner..outer {
                    for &vertex in &neighbours[region[index] as usize] {
                        if std::mem::replace(&mut seen[vertex as usize], center) != center {
                            region.push(vertex);
                        }
                    }
                }
                inner = outer;
            }
            region
        };
        (0..self.positions.len() as u32).map(region).filter(|region| region.len() > 1).collect()
    }

    /// The mass of each vertex \[kg\]: a quarter of the mass of its tetrahedra. A vertex of no tetrahedron gets the mean.
    fn vertex_masses(&self, volumes: &[f64]) -> Vec<f32> {
        let mut masses = vec![0f64; self.positions.len()];
        for ((tetrahedron, volume), &fill) in self.tetrahedra.iter().zip(volumes).zip(self.fill) {
            for &vertex in tetrahedron {
                masses[vertex as usize] += volume * f64::from(fill) * self.mass_scale * f64::from(self.density) / 4.0;
            }
        }
        let mean = masses.iter().sum::<f64>() / masses.len() as f64;
        masses.into_iter().map(|mass| if mass > 0.0 { mass as f32 } else { mean as f32 }).collect()
    }

    /// Checks the materials of volumes, or the masses of groups.
    fn check_elasticity(&self, volumes: &[f64], masses: &[f32]) -> Result<()> {
        match self.elasticity {
            Elasticity::Elastic { bulk, .. } => self.check_volumes(volumes, bulk.into())?,
            Elasticity::NeoHookean { young, poisson_ratio, .. } => {
                let [lambda, mu] = lame(young, poisson_ratio);
                Material::compliant((1.0 / mu) as f32).check("the shear modulus of a body, inverted,")?;
                for &tetrahedron in self.tetrahedra {
                    NeoHookean::new(tetrahedron, tetrahedron.map(|vertex| self.positions[vertex as usize]))?;
                }
                self.check_volumes(volumes, lambda)?;
            }
            _ => {
                if let Some(vertex) = masses.iter().position(|&mass| mass > 1e12) {
                    let what = format!("mass of body vertex {vertex}");
                    return Err(Error::invalid(what, masses[vertex], "at most 1e12 in a group"));
                }
            }
        }
        Ok(())
    }

    fn check_volumes(&self, volumes: &[f64], bulk: f64) -> Result<()> {
        for (&volume, &fill) in volumes.iter().zip(self.fill).filter(|_| bulk > 0.0) {
            let compliance = self.volume_compliance(volume, fill, bulk);
            Material::compliant(compliance).check("a volume of a body")?;
        }
        Ok(())
    }

    /// The compliance of the [`Volume`] constraint of a tetrahedron, V/(K · filled fraction).
    fn volume_compliance(&self, volume: f64, fill: f32, bulk: f64) -> f32 {
        (volume / (bulk * f64::from(fill) * self.mass_scale)) as f32
    }
}

/// The edges of the tetrahedra, with lengths and materials.
fn springs(
    body: &Tetrahedra<'_>,
    volumes: &[f64],
    young: f64,
    damping_time: f32,
) -> Result<Vec<([u32; 2], f32, Material)>> {
    let edges = lattice::edges(body.tetrahedra);
    let place: HashMap<[u32; 2], usize> = edges.iter().enumerate().map(|(index, &edge)| (edge, index)).collect();
    let length =
        |[a, b]: [u32; 2]| Vec3::from(body.positions[a as usize]).distance(Vec3::from(body.positions[b as usize]));
    let mut stiffness = vec![0f64; edges.len()];
    for ((&[a, b, c, d], &volume), &fill) in body.tetrahedra.iter().zip(volumes).zip(body.fill) {
        for [from, to] in [[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]] {
            let edge = [from.min(to), from.max(to)];
            let l = f64::from(length(edge));
            stiffness[place[&edge]] +=
                (body.stiffness)(l) * young * volume * f64::from(fill) * body.mass_scale / (l * l);
        }
    }
    let spring = |(&edge, k): (&[u32; 2], f64)| {
        let material = Material { compliance: (1.0 / k) as f32, damping_time, ..Material::RIGID };
        material.check("an edge of a body")?;
        let rest_length = length(edge);
        if !(rest_length > 0.0 && rest_length.is_finite()) {
            return Err(Error::ZeroLength { what: "edge of a body".into(), particles: edge, length: rest_length });
        }
        Ok((edge, rest_length, material))
    };
    edges.iter().zip(stiffness).map(spring).collect()
}
