//! The name of an orientation, which constraints refer to like to particles.

/// The index of an orientation in a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OrientationId(pub(crate) u32);

impl OrientationId {
    /// The index in [`crate::Scene::orientations`] and in the lists that backends return.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
