//! Constraints of every kind, built from the samples of the kinds.

use glam::Vec3;
use supple::constraints::{KINDS, Kind, KindInfo, Sample};
use supple::{Material, Particle, Result, Scene};

/// The largest number of parameters in a record of these tests.
pub const MAX_PARAMETERS: usize = 16;

/// A constraint of kind `KINDS[PLACE]`, built from the words of a sample.
#[derive(Debug, Clone, Copy)]
struct Raw<'a, const PLACE: usize> {
    particles: &'a [u32],
    parameters: [u32; MAX_PARAMETERS],
    members: &'a [u32],
}

impl<const PLACE: usize> Kind for Raw<'_, PLACE> {
    const INFO: &'static KindInfo = KINDS[if PLACE < KINDS.len() { PLACE } else { 0 }];

    fn particles(&self) -> &[u32] {
        self.particles
    }

    fn write_parameters(&self, words: &mut Vec<u32>) {
        words.extend_from_slice(&self.parameters[..parameter_room(Self::INFO)]);
    }

    fn write_members(&self, _first_row: u32, rows: &mut Vec<[u32; 4]>) {
        rows.extend(self.members.chunks_exact(4).map(|row| <[u32; 4]>::try_from(row).unwrap()));
    }

    fn check(&self, _index: usize) -> Result<()> {
        Ok(())
    }
}

/// The number of words of a record that can hold parameters.
pub fn parameter_room(info: &KindInfo) -> usize {
    let named = if info.is_group() { 3 } else { info.arity };
    info.record_words.checked_sub(named + 1).unwrap_or_else(|| panic!("{}: no room", info.name))
}

fn add_raw<const PLACE: usize>(scene: &mut Scene, sample: &Sample, material: Material) {
    let mut parameters = [0; MAX_PARAMETERS];
    parameters[..sample.parameters.len()].copy_from_slice(&sample.parameters);
    let particles: Vec<u32> = (0..sample.positions.len() as u32).collect();
    scene.add(Raw::<PLACE> { particles: &particles, parameters, members: &sample.members }, material).unwrap();
}

/// A scene of one constraint of kind `place` between the particles 0, 1, …
pub fn scene_of(place: usize, sample: &Sample, positions: &[Vec3], material: Material) -> Scene {
    let mut scene = Scene::new();
    for (k, &position) in positions.iter().enumerate() {
        let inverse_mass = 1.0 + 0.5 * k as f32;
        scene.add_particle(Particle { position: position.into(), inverse_mass, ..Particle::default() }).unwrap();
    }
    let adders = [
        add_raw::<0>,
        add_raw::<1>,
        add_raw::<2>,
        add_raw::<3>,
        add_raw::<4>,
        add_raw::<5>,
        add_raw::<6>,
        add_raw::<7>,
        add_raw::<8>,
        add_raw::<9>,
        add_raw::<10>,
        add_raw::<11>,
        add_raw::<12>,
        add_raw::<13>,
    ];
    adders.get(place).expect("a row of `adders` for every kind")(&mut scene, sample, material);
    scene
}

/// Each kind with its index, and each of its samples.
pub fn cases() -> impl Iterator<Item = (usize, &'static KindInfo, Sample)> {
    KINDS
        .iter()
        .enumerate()
        .flat_map(|(place, &info)| (info.samples)().into_iter().map(move |sample| (place, info, sample)))
}
