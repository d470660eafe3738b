//! Adds the loose particles, bodies, balloons and followers of a scene file to the scene.

use super::Part;
use super::build::{Builder, Built};
use super::cloths::cloth_part;
use super::error::{At, Reason};
use super::fabrics::Weave;
use super::mesh::Surface;
use super::parts::{BalloonFile, ElasticityFile, FollowersFile, ParticlesFile, SoftBodyFile, TetrahedraFile};
use crate::constraints::Volume;
use crate::scene::{Balloon, Elasticity, Particle, SoftBody, TetMesh, lattice, sound_time};
use std::collections::VecDeque;

/// Cubes in the bounding box of one triangle that are not counted. A mesh finer than its lattice stays below this
/// number.
const CUBES_UNDER_A_TRIANGLE: f64 = 64.0;

impl Builder<'_> {
    pub fn add_particles(&mut self, place: &str, file: &ParticlesFile) -> Built {
        let count = file.positions.len();
        self.check_particles(count as u64).at(|| format!("{place}.positions"))?;
        if file.mass.is_some() && file.inverse_mass.is_some() {
            return Err("it has both a mass and an inverse mass").at(|| place.into());
        }
        let first = self.scene.particle_count() as u32;
        for (index, &position) in file.positions.iter().enumerate() {
            let mut inverse_mass = 1.0;
            if let Some(mass) = &file.mass {
                let mass = mass.get(index, count).at(|| format!("{place}.mass"))?;
                inverse_mass = crate::scene::invert_mass(|| format!("mass of particle {index}"), mass)
                    .at(|| format!("{place}.mass"))?;
            }
            if let Some(given) = &file.inverse_mass {
                inverse_mass = given.get(index, count).at(|| format!("{place}.inverse_mass"))?;
            }
            let velocity = file.velocity.unwrap_or_default();
            self.scene.add_particle(Particle { position, velocity, inverse_mass }).at(|| place.into())?;
        }
        let particles = first..first + count as u32;
        if file.body {
            self.scene.add_body(particles.clone()).at(|| format!("{place}.body"))?;
        }
        Ok(Part { particles, ..Part::empty() })
    }

    pub fn add_soft_body(&mut self, place: &str, file: &SoftBodyFile) -> Built {
        let surface = self.surface(place, &file.mesh)?;
        if surface.has_maps() {
            let reason = "maps such as pin_map are for cloth_mesh and balloon: a soft body collides and is pinned by its lattice";
            return Err(reason).at(|| format!("{place}.mesh"));
        }
        let elasticity = self.elasticity(&file.elasticity, file.density, file.spacing);
        let elasticity = elasticity.at(|| format!("{place}.elasticity"))?;
        let rings = if let Elasticity::Regions { rings, .. } = elasticity { rings } else { 0 };
        self.spend_lattice(&surface, file.spacing, rings).at(|| format!("{place}.spacing"))?;
        let body = SoftBody {
            positions: &surface.positions,
            triangles: &surface.triangles,
            spacing: file.spacing,
            density: file.density,
            elasticity,
        };
        let parts = self.scene.add_soft_body(&body).at(|| place.into())?;
        Ok(Part {
            particles: parts.particles,
            surface: parts.surface,
            triangles: parts.triangles,
            edges: parts.edges,
            ..Part::empty()
        }
        .with_mesh(surface))
    }

    pub fn add_tetrahedra(&mut self, place: &str, file: &TetrahedraFile) -> Built {
        self.check_particles(file.positions.len() as u64).at(|| format!("{place}.positions"))?;
        // A tetrahedron has at most four surface faces.
        self.count_elements(4 * file.tetrahedra.len() as u64).at(|| format!("{place}.tetrahedra"))?;
        let elasticity = self.elasticity(&file.elasticity, file.density, mean_edge(file));
        let elasticity = elasticity.at(|| format!("{place}.elasticity"))?;
        if let Elasticity::Regions { rings, .. } = elasticity {
            self.spend_regions(file, rings).at(|| format!("{place}.elasticity"))?;
        }
        let (positions, tetrahedra) = (&file.positions, &file.tetrahedra);
        let body = TetMesh { positions, tetrahedra, density: file.density, elasticity };
        let parts = self.scene.add_tetrahedra(&body).at(|| place.into())?;
        Ok(Part { particles: parts.particles, triangles: parts.triangles, edges: parts.edges, ..Part::empty() })
    }

    pub fn add_balloon(&mut self, place: &str, file: &BalloonFile) -> Built {
        let surface = self.surface(place, &file.mesh)?;
        let balloon = Balloon {
            positions: &surface.positions,
            triangles: &surface.triangles,
            fabric: self.fabric(place, file.fabric.as_ref(), Weave::Mesh)?,
            pressure: file.pressure.unwrap_or(1.0),
            gas: self.material(file.gas.as_ref()).at(|| format!("{place}.gas"))?,
        };
        if file.pascals.is_some() && (file.pressure.is_some() || file.gas.is_some()) {
            return Err("a balloon has either pascals, or pressure and gas").at(|| place.into());
        }
        let balloon = match file.pascals {
            Some(pascals) => balloon.at(pascals).map_err(|error| surface.explain(error)).at(|| place.into())?,
            None => balloon,
        };
        let parts = self.scene.add_balloon(&balloon).map_err(|error| surface.explain(error)).at(|| place.into())?;
        self.apply_maps(place, &file.mesh, &surface, parts.cloth.particles.start)?;
        Ok(cloth_part(parts.cloth).with_mesh(surface))
    }

    pub fn add_followers(&mut self, place: &str, file: &FollowersFile) -> Built {
        let (count, first) = (file.sources.len(), self.scene.particle_count() as u32);
        if file.weights.len() != count {
            return Err(format!("{} entries for {count} followers", file.weights.len()))
                .at(|| format!("{place}.weights"));
        }
        self.check_particles(count as u64).at(|| format!("{place}.sources"))?;
        for (index, (sources, &weights)) in file.sources.iter().zip(&file.weights).enumerate() {
            let particles = self.each(sources, || format!("{place}.sources[{index}]"))?;
            self.scene.add_follower(particles, weights).at(|| format!("{place}.weights[{index}]"))?;
            let position = self.scene.positions.last().copied().unwrap_or_default();
            let what = || format!("position of follower {index}");
            crate::error::check_finite(what, position).at(|| format!("{place}.weights[{index}]"))?;
        }
        Ok(Part { particles: first..first + count as u32, ..Part::empty() })
    }

    /// `spacing` is the edge of an element \[m\].
    fn elasticity(&self, file: &ElasticityFile, density: f32, spacing: f32) -> Result<Elasticity, Reason> {
        Ok(match file {
            &ElasticityFile::Elastic { young, bulk, incompressible, damping_time } => {
                if let Some(bulk) = bulk.filter(|_| incompressible) {
                    return Err(format!("incompressible excludes bulk, which is {bulk}").into());
                }
                let bulk = if incompressible { Some(f32::INFINITY) } else { bulk };
                Elasticity::Elastic {
                    young,
                    bulk: bulk.unwrap_or(young),
                    damping_time: damping_time.unwrap_or_else(|| sound_time(young, density, spacing)),
                }
            }
            &ElasticityFile::NeoHookean { young, poisson_ratio, damping_time } => Elasticity::NeoHookean {
                young,
                poisson_ratio,
                damping_time: damping_time.unwrap_or_else(|| sound_time(young, density, spacing)),
            },
            ElasticityFile::Rigid { shape } => Elasticity::Rigid { shape: self.material(shape.as_ref())? },
            ElasticityFile::Regions { rings, shape } => {
                if !(1..=8).contains(rings) {
                    return Err(crate::Error::invalid("rings", f64::from(*rings), "1 to 8").into());
                }
                Elasticity::Regions { rings: *rings, shape: self.material(shape.as_ref())? }
            }
        })
    }

    /// Counts the cubes that a lattice scans, its maximum number of particles, and the members of its groups.
    fn spend_lattice(&mut self, surface: &Surface, spacing: f32, rings: u32) -> Result<(), Reason> {
        // The library reports a spacing out of range.
        if !(spacing > 0.0 && spacing.is_finite()) {
            return Ok(());
        }
        let spacing = f64::from(spacing);
        let span = |positions: &mut dyn Iterator<Item = [f32; 3]>| {
            let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
            for position in positions {
                for axis in 0..3 {
                    low[axis] = low[axis].min(f64::from(position[axis]));
                    high[axis] = high[axis].max(f64::from(position[axis]));
                }
            }
            [0, 1, 2].map(|axis| ((high[axis] - low[axis]).max(0.0) / spacing).ceil() + 1.0)
        };
        let cells = span(&mut surface.positions.iter().copied());
        let mut work = cells.iter().product::<f64>();
        for triangle in &surface.triangles {
            let corners = triangle.map(|vertex| surface.positions.get(vertex as usize).copied().unwrap_or_default());
            work += (span(&mut corners.into_iter()).iter().product::<f64>() - CUBES_UNDER_A_TRIANGLE).max(0.0);
        }
        self.cubes = self.cubes.saturating_add(work as u64);
        if self.cubes > self.limits.cubes {
            return Err(Reason::too_large(
                "cubes of lattices and under their triangles",
                self.cubes,
                self.limits.cubes,
            ));
        }
        let vertices = cells.iter().map(|cells| cells + 1.0).product::<f64>();
        if rings > 0 {
            let around = f64::from(2 * rings + 1).powi(3).min(vertices);
            self.count_members((vertices * around) as u64)?;
        }
        self.check_particles(vertices as u64 + surface.positions.len() as u64)?;
        self.count_elements(5 * cells.iter().product::<f64>() as u64)
    }

    /// Counts the members of the groups around the vertices of tetrahedra.
    fn spend_regions(&mut self, file: &TetrahedraFile, rings: u32) -> Result<(), Reason> {
        let count = file.positions.len();
        let fits = |tetrahedron: &&[u32; 4]| tetrahedron.iter().all(|&vertex| (vertex as usize) < count);
        let tetrahedra: Vec<[u32; 4]> = file.tetrahedra.iter().filter(fits).copied().collect();
        let mut neighbours = vec![Vec::new(); count];
        for [a, b] in lattice::edges(&tetrahedra) {
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
        let mut seen = vec![u32::MAX; count];
        let mut queue = VecDeque::new();
        for center in 0..count as u32 {
            queue.clear();
            queue.push_back((center, 0));
            seen[center as usize] = center;
            let mut members = 0;
            while let Some((vertex, ring)) = queue.pop_front() {
                members += 1;
                if ring == rings {
                    continue;
                }
                // Visiting neighbours counts as well; it dominates if many edges meet at one vertex.
                members += neighbours[vertex as usize].len() as u64 / 16;
                for &next in &neighbours[vertex as usize] {
                    if seen[next as usize] != center {
                        seen[next as usize] = center;
                        queue.push_back((next, ring + 1));
                    }
                }
            }
            self.count_members(members)?;
        }
        Ok(())
    }
}

/// The edge of a regular tetrahedron of the mean volume \[m\]; 0 without tetrahedra. Skips invalid tetrahedra, which
/// the scene rejects.
fn mean_edge(file: &TetrahedraFile) -> f32 {
    let corners = |tetrahedron: &[u32; 4]| {
        let places = tetrahedron.map(|vertex| file.positions.get(vertex as usize).copied());
        places.iter().all(Option::is_some).then(|| places.map(Option::unwrap_or_default))
    };
    let volume = |corners: [[f32; 3]; 4]| f64::from(Volume::of(corners).abs());
    let sum: f64 = file.tetrahedra.iter().filter_map(corners).map(volume).sum();
    let mean = sum / file.tetrahedra.len().max(1) as f64;
    (72f64.sqrt() * mean).cbrt() as f32
}
