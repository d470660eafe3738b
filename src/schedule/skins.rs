//! The closed surfaces of [`Pressure`] constraints, and the constraints within them.
//!
//! Skin and gas act against each other even at rest. Constraint k conserves angular momentum about the positions x + d_k
//! at which it is evaluated. d_k contains the corrections δ_j of the previous constraints. About x, a sweep creates the
//! angular momentum −Σ_k Σ_(j<k) Σ m δ_j × δ_k. It is 0 for a single constraint and for mass splitting. In a sweep by
//! colours it is not, and a balloon begins to spin. `Pass::RestoreMomentum` removes from each skin the angular momentum
//! that the constraints within it have created. See `docs/decisions/0025-balloon-skins.md`.

use super::compiled::CompiledScene;
use crate::constraints::{Kind, Pressure, kind_index};
use crate::geometry::components;
use crate::scene::ConstraintSet;

/// The particles of skins. Surfaces that share a particle are one skin.
#[derive(Debug, Clone, Default)]
pub(crate) struct Skins {
    /// First member and member count of each skin.
    pub rows: Vec<[u32; 2]>,
    /// The particles of each skin, in ascending order.
    pub members: Vec<u32>,
    /// The skin of each particle, or [`NO_SKIN`].
    skin_of: Vec<u32>,
}

const NO_SKIN: u32 = u32::MAX;

impl Skins {
    /// The skins of the constraints of all kinds, in the order of [`crate::constraints::KINDS`].
    pub fn new(sets: &[ConstraintSet], particle_count: usize) -> Self {
        let set = &sets[kind_index(Pressure::INFO)];
        let mut skins = Self::default();
        if set.len() == 0 {
            return skins;
        }
        let surfaces: Vec<Vec<u32>> =
            set.records().map(|record| set.info.entities(record, &set.rows).collect()).collect();
        skins.skin_of = vec![NO_SKIN; particle_count];
        let united = components(surfaces.iter().map(Vec::as_slice), particle_count);
        for particles in united.into_iter().filter(|particles| particles.len() > 1) {
            let skin = skins.rows.len() as u32;
            particles.iter().for_each(|&particle| skins.skin_of[particle as usize] = skin);
            skins.rows.push([skins.members.len() as u32, particles.len() as u32]);
            skins.members.extend(particles);
        }
        skins
    }

    /// The constraints of a kind whose particles all belong to one skin, in ascending order. Those of orientations
    /// belong to none.
    pub fn constraints_of(&self, set: &ConstraintSet) -> Vec<u32> {
        if self.rows.is_empty() || set.info.orientations > 0 {
            return Vec::new();
        }
        let is_inside = |record: &[u32]| {
            let mut skins = set.info.entities(record, &set.rows).map(|particle| self.skin_of[particle as usize]);
            let first = skins.next().unwrap_or(NO_SKIN);
            first != NO_SKIN && skins.all(|skin| skin == first)
        };
        let constraints = (0u32..).zip(set.records());
        constraints.filter(|(_, record)| is_inside(record)).map(|(constraint, _)| constraint).collect()
    }
}

impl CompiledScene {
    /// Returns true if a constraint has any number of particles.
    pub fn has_groups(&self) -> bool {
        self.kinds.iter().any(|kind| kind.info.is_group() && kind.len() > 0)
    }
}
