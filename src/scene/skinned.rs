//! Skinned particles: limits of their distance from the skinned pose of a character.

mod mesh;

pub use mesh::{JointCapsule, SkinnedMesh};

use crate::error::{Error, Result, check_finite};
use crate::geometry::vector::length;
use crate::scene::Scene;
use glam::Vec3;
use std::collections::BTreeSet;

/// The most joints of a scene.
pub const MAX_JOINTS: u32 = 65_536;

/// The greatest radius of a backstop \[m\].
const MAX_RADIUS: f32 = 1e6;

/// Position and normal of a vertex of an animated surface.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SkinnedPose {
    /// Position \[m\].
    pub position: [f32; 3],
    /// Normal, which points away from the body. Only backstops need it; its length has no effect, and 0 is no normal.
    pub normal: [f32; 3],
}

/// A sphere behind the skinned position that a particle does not enter.
///
/// With the unit normal n, its centre is the skinned position − n (`distance` + `radius`). A large radius makes it almost a
/// plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backstop {
    /// Distance from the skinned position to the sphere \[m\], at least 0.
    pub distance: f32,
    /// Radius of the sphere \[m\], greater than 0 and at most 1e6.
    pub radius: f32,
}

/// The limits of a skinned particle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SkinnedLimits {
    /// Maximum distance from the skinned position \[m\]: 0 follows it exactly, ∞ is no limit.
    pub max_distance: f32,
    /// The backstop, if any.
    pub backstop: Option<Backstop>,
}

impl SkinnedLimits {
    /// No limit.
    pub const FREE: Self = Self { max_distance: f32::INFINITY, backstop: None };

    pub(crate) fn check(&self, row: usize) -> Result<()> {
        if self.max_distance.is_nan() || self.max_distance < 0.0 {
            let what = format!("maximum distance of skinned particle {row}");
            return Err(Error::invalid(what, self.max_distance, "at least 0 m, or infinity for no limit"));
        }
        let Some(Backstop { distance, radius }) = self.backstop else { return Ok(()) };
        if !distance.is_finite() || distance < 0.0 {
            let what = format!("backstop distance of skinned particle {row}");
            return Err(Error::invalid(what, distance, "finite and at least 0 m"));
        }
        if !(radius > 0.0 && radius <= MAX_RADIUS) {
            let what = format!("backstop radius of skinned particle {row}");
            return Err(Error::invalid(what, radius, "greater than 0 and at most 1e6 m"));
        }
        Ok(())
    }
}

/// The joints that move a vertex, and their weights, for linear blend skinning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointWeights {
    /// Indices of the joint matrices. Those of weight 0 have no effect.
    pub joints: [u32; 4],
    /// Weights, at least 0. [`Scene::add_skinned`] divides them by their sum, which must be greater than 0.
    pub weights: [f32; 4],
}

impl JointWeights {
    /// One joint of weight 1.
    pub const fn rigid(joint: u32) -> Self {
        Self { joints: [joint, 0, 0, 0], weights: [1.0, 0.0, 0.0, 0.0] }
    }

    /// The four largest of any number of joints and weights, normalised. Equal weights keep their order.
    ///
    /// # Errors
    /// A weight is negative or not finite, or all are 0.
    pub fn largest(weights: &[(u32, f32)]) -> Result<Self> {
        for &(joint, weight) in weights {
            check_weight(|| format!("weight of joint {joint}"), weight)?;
        }
        let mut sorted = weights.to_vec();
        sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut own = Self { joints: [0; 4], weights: [0.0; 4] };
        for (place, (joint, weight)) in sorted.into_iter().filter(|(_, weight)| *weight > 0.0).take(4).enumerate() {
            (own.joints[place], own.weights[place]) = (joint, weight);
        }
        own.normalised(|| "joint weights".into())
    }

    /// Divides the weights by their sum, and sets joints of weight 0 to 0.
    pub(crate) fn normalised(self, what: impl Fn() -> String) -> Result<Self> {
        for (joint, weight) in self.joints.into_iter().zip(self.weights) {
            check_weight(|| format!("weight of joint {joint} of {}", what()), weight)?;
        }
        let sum: f64 = self.weights.iter().map(|&weight| f64::from(weight)).sum();
        if sum <= 0.0 {
            return Err(Error::invalid(format!("sum of the {}", what()), sum, "greater than 0"));
        }
        let weights = self.weights.map(|weight| (f64::from(weight) / sum) as f32);
        let mut joints = self.joints;
        joints.iter_mut().zip(weights).filter(|(_, weight)| *weight == 0.0).for_each(|(joint, _)| *joint = 0);
        Ok(Self { joints, weights })
    }
}

fn check_weight(what: impl FnOnce() -> String, weight: f32) -> Result<()> {
    let expected = "finite and at least 0";
    if weight.is_finite() && weight >= 0.0 { Ok(()) } else { Err(Error::invalid(what(), weight, expected)) }
}

/// A particle whose motion is limited by the skinned pose of a character.
///
/// A free particle stays within its [`SkinnedLimits`]. A pinned particle follows the skinned position, as a target. The pose
/// moves linearly from one step to the next. It is set by the host ([`crate::Solver::set_skinned_poses`]), by a pass of the
/// program ([`crate::Solver::skinned_poses`]), or computed from joint matrices ([`Skinned::joints`],
/// [`crate::Solver::set_joints`]).
///
/// The limits are those of *skinned constraints* of Jolt Physics, and the motion and separation constraints of NvCloth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Skinned {
    /// The particle.
    pub particle: u32,
    /// The pose at the start. With joints: the bind pose, in which all joint matrices are the identity.
    pub pose: SkinnedPose,
    /// The limits, which [`crate::Solver::set_skinned_limits`] changes.
    pub limits: SkinnedLimits,
    /// The joints that compute the pose; `None` if it is set otherwise.
    pub joints: Option<JointWeights>,
}

/// The skinned particles of a scene.
#[derive(Debug, Clone, Default)]
pub(crate) struct SkinnedParticles {
    pub rows: Vec<Skinned>,
    /// The particles of all rows.
    particles: BTreeSet<u32>,
    reserved_joints: u32,
}

impl SkinnedParticles {
    pub fn contains(&self, particle: u32) -> bool {
        self.particles.contains(&particle)
    }

    pub fn rename(&mut self, rename: impl Fn(&mut u32)) {
        self.rows.iter_mut().for_each(|row| rename(&mut row.particle));
        self.particles = self.rows.iter().map(|row| row.particle).collect();
    }
}

impl Scene {
    /// Adds a skinned particle and returns its row: its index among the skinned particles.
    ///
    /// In each substep the limits act after the constraints. Contacts act later and take precedence: a particle that a
    /// collider pushes may exceed its maximum distance.
    ///
    /// ```
    /// # use supple::{Backstop, ClothGrid, Scene, Skinned, SkinnedLimits};
    /// let mut scene = Scene::new();
    /// let sleeve = scene.add_cloth_grid(&ClothGrid::default())?;
    /// let poses = scene.rest_poses();
    /// for particle in sleeve.particles {
    ///     let limits = SkinnedLimits { max_distance: 0.05, backstop: Some(Backstop { distance: 0.01, radius: 0.1 }) };
    ///     let pose = poses[particle as usize];
    ///     scene.add_skinned(Skinned { particle, pose, limits, joints: None })?;
    /// }
    /// # Ok::<(), supple::Error>(())
    /// ```
    ///
    /// # Errors
    /// - The particle does not exist, is a follower, is in reserve for tears or is already skinned.
    /// - The pose is not finite.
    /// - A limit, a joint or a weight is out of range.
    pub fn add_skinned(&mut self, skinned: Skinned) -> Result<u32> {
        let row = self.skinned.rows.len();
        let what = || format!("skinned particle {row}");
        self.check_particle(&what(), skinned.particle)?;
        self.check_in_use(&what(), skinned.particle)?;
        self.check_no_follower(&what(), skinned.particle, 1)?;
        if self.skinned.contains(skinned.particle) {
            return Err(Error::Skinned { what: what(), particle: skinned.particle });
        }
        check_finite(|| format!("position of {}", what()), skinned.pose.position)?;
        check_finite(|| format!("normal of {}", what()), skinned.pose.normal)?;
        skinned.limits.check(row)?;
        let joints = skinned.joints.map(|own| own.normalised(|| format!("joint weights of {}", what()))).transpose()?;
        if let Some(&joint) = joints.iter().flat_map(|own| &own.joints).find(|joint| **joint >= MAX_JOINTS) {
            return Err(Error::invalid(format!("joint of {}", what()), joint, "less than 65536"));
        }
        self.skinned.particles.insert(skinned.particle);
        self.skinned.rows.push(Skinned { joints, ..skinned });
        Ok(row as u32)
    }

    /// The skinned particles, by row.
    pub fn skinned(&self) -> &[Skinned] {
        &self.skinned.rows
    }

    /// Lets [`crate::Solver::set_joints`] take at least `count` matrices, such as those of all joints of a character, of which the
    /// clothes may not need all.
    ///
    /// # Errors
    /// More than [`MAX_JOINTS`].
    pub fn reserve_joints(&mut self, count: u32) -> Result<()> {
        if count > MAX_JOINTS {
            return Err(Error::TooLarge { what: "joints", count: count.into(), limit: MAX_JOINTS.into() });
        }
        self.skinned.reserved_joints = self.skinned.reserved_joints.max(count);
        Ok(())
    }

    /// The number of joint matrices: that of [`Scene::reserve_joints`], or the highest joint of a skinned particle, plus 1.
    pub fn joint_count(&self) -> u32 {
        let joints = self.skinned.rows.iter().flat_map(|skinned| &skinned.joints).flat_map(|own| own.joints);
        joints.map(|joint| joint + 1).fold(self.skinned.reserved_joints, u32::max)
    }

    /// The position of each particle and its unit normal: the area-weighted sum of those of the triangles at the particle; 0
    /// if it has no triangles.
    pub fn rest_poses(&self) -> Vec<SkinnedPose> {
        let at = |particle: u32| Vec3::from(self.positions[particle as usize]);
        let mut sums = vec![Vec3::ZERO; self.positions.len()];
        for corners @ &[a, b, c] in &self.triangles {
            let normal = (at(b) - at(a)).cross(at(c) - at(a));
            corners.iter().for_each(|&corner| sums[corner as usize] += normal);
        }
        let poses = self.positions.iter().zip(sums).map(|(&position, sum)| {
            let l = length(sum);
            let normal = if l > 0.0 { sum / l } else { Vec3::ZERO };
            SkinnedPose { position, normal: normal.into() }
        });
        poses.collect()
    }
}
