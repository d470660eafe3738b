//! The slabs by which particles find colliders on the GPU: `shaders/collision/collide/slabs.wgsl` describes them.

use super::colliders::ColliderRow;

/// Slabs along each axis; more of them repeat these.
const SLABS: usize = 64;

/// Number of words in the masks of all slabs, for this number of colliders.
pub(crate) fn word_count(colliders: usize) -> usize {
    3 * SLABS * colliders.div_ceil(32)
}

/// The words before the data of the shapes: the inverse width of a slab [1/m] (bits), the words per mask, and empty masks.
///
/// A slab is as wide as the median of the colliders with their contact distance; `thickness` is the largest one \[m\]. Any
/// width is correct: a small one costs time for colliders and reaches over many slabs, a large one for several colliders
/// in one slab.
pub(crate) fn initial_words(rows: &[ColliderRow], thickness: f32) -> Vec<u32> {
    let is_finite = |row: &&ColliderRow| !row.is_removed() && row.bound < f32::MAX;
    let width = |row: &ColliderRow| 2.0 * (row.bound + row.margin + thickness);
    let mut widths: Vec<f32> = rows.iter().filter(is_finite).map(width).collect();
    widths.sort_unstable_by(f32::total_cmp);
    let width = widths.get(widths.len() / 2).copied().unwrap_or(1.0);
    let mut words = vec![(1.0 / width).to_bits(), rows.len().div_ceil(32) as u32];
    words.resize(words.len() + word_count(rows.len()), 0);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::{Collider, Colliders, Shape};

    #[test]
    fn a_slab_is_as_wide_as_most_colliders() {
        let sphere = |radius: f32| Collider { margin: 0.01, ..Collider::new(Shape::Sphere { radius }, [0.0; 3]) };
        let colliders = [sphere(0.04), Collider::new(Shape::HalfSpace, [0.0; 3]), sphere(50.0), sphere(0.09)];
        let width_of = |colliders: &[Collider]| {
            let words = initial_words(&Colliders::new(colliders, 1).unwrap().rows, 0.02);
            assert_eq!((words.len(), words[1]), (2 + 192, 1));
            1.0 / f32::from_bits(words[0])
        };
        assert!((width_of(&colliders) - 0.24).abs() < 1e-6);
        assert!((width_of(&colliders[1..2]) - 1.0).abs() < 1e-6);
        assert_eq!(word_count(33), 384);
    }
}
