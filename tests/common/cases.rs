//! Cases of bad input and the errors that they must cause.

use supple::{ClothGrid, Distance, Material, Particle, Result, Scene};

/// A call that must fail: its description, the variant of the error, and words that the message must contain.
pub struct Case<T: ?Sized> {
    pub what: &'static str,
    pub variant: &'static str,
    pub words: &'static [&'static str],
    pub attempt: Box<T>,
}

/// Describes the fault in the outcome of a case; `None` if the outcome is right.
pub fn fault<T: ?Sized, V>(case: &Case<T>, outcome: Result<V>) -> Option<String> {
    let what = case.what;
    let Err(error) = outcome else { return Some(format!("{what}: accepted")) };
    let (name, message) = (format!("{error:?}"), error.to_string());
    let variant = name.split([' ', '(', '{']).next().unwrap_or_default();
    if variant != case.variant {
        return Some(format!("{what}: {variant} instead of {}: {message}", case.variant));
    }
    let missing = case.words.iter().find(|word| !message.contains(**word))?;
    Some(format!("{what}: no {missing:?} in {message:?}"))
}

pub fn assert_no_faults(faults: Vec<String>) {
    assert!(faults.is_empty(), "{} fault(s):\n{}", faults.len(), faults.join("\n"));
}

/// A scene of three particles (one massless), a spring, a cloth and a material, so that every kind of index can be
/// wrong.
pub fn base() -> Scene {
    let mut scene = Scene::new();
    for (x, inverse_mass) in [(0.0, 1.0), (1.0, 1.0), (2.0, 0.0)] {
        let position = [x, 0.0, 0.0];
        scene.add_particle(Particle { position, inverse_mass, ..Particle::default() }).unwrap();
    }
    scene.add(Distance { particles: [0, 1], rest_length: 1.0 }, Material::compliant(1e-4)).unwrap();
    scene.add_cloth_grid(&ClothGrid { columns: 4, rows: 3, ..ClothGrid::default() }).unwrap();
    scene
}

/// A call on a scene or a backend.
pub type On<T> = dyn Fn(&mut T) -> Result<()>;

pub fn running_scene() -> Scene {
    let mut scene = base();
    scene.pin(3).unwrap();
    scene
}

pub fn bits(vectors: &[[f32; 3]]) -> Vec<[u32; 3]> {
    vectors.iter().map(|vector| vector.map(f32::to_bits)).collect()
}

/// The index of the first particle whose positions differ in a bit.
pub fn first_changed(left: &[[f32; 3]], right: &[[f32; 3]]) -> Option<usize> {
    assert_eq!(left.len(), right.len());
    bits(left).iter().zip(bits(right)).position(|(left, right)| *left != right)
}
