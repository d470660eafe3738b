//! Constraints of every kind, built from the samples of the kinds.

use glam::{DQuat, Vec3};
use supple::constraints::{KINDS, Kind, KindInfo, Sample};
use supple::internals::rotation;
use supple::{Material, Orientation, Particle, Reference, Result, Scene};

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

/// Adds a constraint between the particles and orientations from the given ones on.
fn add_raw<const PLACE: usize>(scene: &mut Scene, sample: &Sample, material: Material, [point, turned]: [u32; 2]) {
    let mut parameters = [0; MAX_PARAMETERS];
    parameters[..sample.parameters.len()].copy_from_slice(&sample.parameters);
    let info = Raw::<PLACE>::INFO;
    let points = if info.is_group() { sample.positions.len() } else { info.point_count() };
    let orientations = (sample.positions.len() - points) as u32;
    let particles: Vec<u32> = (point..point + points as u32).chain(turned..turned + orientations).collect();
    scene.add(Raw::<PLACE> { particles: &particles, parameters, members: &sample.members }, material).unwrap();
}

type Adder = fn(&mut Scene, &Sample, Material, [u32; 2]);

macro_rules! adders {
    ($($place:literal)*) => { [$(add_raw::<$place>),*] };
}

/// By index of the kind, for at most 32 kinds.
const ADDERS: [Adder; 32] =
    adders!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);

/// A scene of one constraint of kind `place` between the first particles and the first orientations. A kind without
/// particles has a particle of its own in the scene.
pub fn scene_of(place: usize, sample: &Sample, positions: &[Vec3], material: Material) -> Scene {
    scene_of_copies(place, sample, &[positions.to_vec()], material)
}

/// A scene with a constraint for each list of positions. Groups have one only, since their members name particles.
pub fn scene_of_copies(place: usize, sample: &Sample, copies: &[Vec<Vec3>], material: Material) -> Scene {
    let mut scene = Scene::new();
    let mut firsts = Vec::new();
    for positions in copies {
        firsts.push([scene.particle_count() as u32, scene.orientations().len() as u32]);
        add_entries(&mut scene, KINDS[place], positions);
    }
    if scene.particle_count() == 0 {
        scene.add_particle(Particle::default()).unwrap();
    }
    let add = ADDERS.get(place).expect("at most 32 kinds");
    firsts.into_iter().for_each(|first| add(&mut scene, sample, material, first));
    scene
}

fn add_entries(scene: &mut Scene, info: &KindInfo, positions: &[Vec3]) {
    for (k, &position) in positions.iter().enumerate() {
        let weight = 1.0 + 0.5 * k as f32;
        if is_point(info, k) {
            let particle = Particle { position: position.into(), inverse_mass: weight, ..Particle::default() };
            scene.add_particle(particle).unwrap();
        } else {
            let rotation = rotation::quaternion_of(position).to_array();
            let orientation = Orientation { rotation, inverse_inertia: weight, ..Orientation::default() };
            scene.add_orientation(orientation).unwrap();
        }
    }
}

/// True if entry k of a constraint is a particle, false if it is an orientation.
pub fn is_point(info: &KindInfo, k: usize) -> bool {
    info.is_group() || k < info.point_count()
}

/// Pins an entry of the constraint of [`scene_of`].
pub fn pin(scene: &mut Scene, info: &KindInfo, k: u32) {
    if is_point(info, k as usize) {
        scene.pin(k).unwrap();
    } else {
        let id = scene.orientation(k - info.point_count() as u32).unwrap();
        scene.pin_orientation(id).unwrap();
    }
}

/// The places of the constraint of [`scene_of`]: positions, and modified Rodrigues parameters of orientations.
pub fn places(reference: &Reference, info: &KindInfo) -> Vec<Vec3> {
    let positions = reference.read_positions().unwrap();
    let count = if info.is_group() { positions.len() } else { info.point_count() };
    let parameters = reference
        .read_orientations()
        .unwrap()
        .into_iter()
        .map(|q| rotation::parameters_of(DQuat::from_array(q.map(f64::from))));
    positions[..count].iter().map(|&x| x.into()).chain(parameters).collect()
}

/// Each kind with its index, and each of its samples.
pub fn cases() -> impl Iterator<Item = (usize, &'static KindInfo, Sample)> {
    KINDS
        .iter()
        .enumerate()
        .flat_map(|(place, &info)| (info.samples)().into_iter().map(move |sample| (place, info, sample)))
}
