//! Pipelines that solvers of one device share, for tests: they make many solvers, and the translation of shaders takes most of their time.

use super::stage::{Slot, Stage};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// All inputs of a [`Stage`] except the device.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Description {
    pub name: String,
    pub entry: String,
    pub source: String,
    pub slots: Vec<Slot>,
    /// Names and the bits of values.
    pub constants: Vec<(String, u64)>,
}

/// The devices whose solvers share pipelines, with their pipelines.
static SHARED: Mutex<Vec<(wgpu::Device, HashMap<Description, Stage>)>> = Mutex::new(Vec::new());

fn shared() -> MutexGuard<'static, Vec<(wgpu::Device, HashMap<Description, Stage>)>> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From this call on, solvers of the device share pipelines of equal shaders. The device and its pipelines are kept until the process ends. All
/// devices of the process must belong to one `wgpu::Instance`, as wgpu distinguishes devices only within an instance.
pub fn share_pipelines(device: &wgpu::Device) {
    let mut shared = shared();
    if shared.iter().all(|(known, _)| known != device) {
        shared.push((device.clone(), HashMap::new()));
    }
}

/// The stage of this description, which `create` makes unless the device shares one.
pub(super) fn stage(device: &wgpu::Device, description: Description, create: impl FnOnce() -> Stage) -> Stage {
    let find = |(known, _): &&mut (wgpu::Device, _)| known == device;
    match shared().iter_mut().find(find) {
        None => return create(),
        Some((_, stages)) => {
            if let Some(stage) = stages.get(&description) {
                return stage.clone();
            }
        }
    }
    // Unlocked: other threads create stages at the same time.
    let stage = create();
    if let Some((_, stages)) = shared().iter_mut().find(find) {
        stages.insert(description, stage.clone());
    }
    stage
}
