//! Each scene of `examples/scenes` runs on both backends.

use crate::common;
use crate::common::{first_unequal, gpu, is_exact, store};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use supple::Reference;
use supple::constraints::KINDS;
use supple::scene_file::SceneFile;

const FRAMES: u32 = 30;

/// Scenes in which changes of the start by 1e-6 grow to centimetres and more; in the others they stay below 8 mm.
const CHAOTIC: [&str; 5] = ["bat", "drape", "isometric_drape", "skirt", "wire"];

fn scenes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/scenes");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths
}

fn read(path: &Path) -> SceneFile {
    SceneFile::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The largest coordinate of any particle [m].
fn reach(positions: &[[f32; 3]]) -> f32 {
    positions.iter().flatten().fold(0.0, |reach, component| component.abs().max(reach))
}

#[test]
fn every_scene_agrees_on_both_backends() {
    let gpu = gpu();
    assert!(scenes().len() >= 10);
    for path in scenes() {
        let (file, name) = (read(&path), path.file_stem().unwrap().to_string_lossy().into_owned());
        let mut solver = file.solver_with_store(&store(&gpu), &gpu.queue).unwrap();
        let mut reference = file.reference().unwrap();
        for frame in 1..=FRAMES {
            let time = f64::from(frame) * f64::from(file.settings.dt);
            for (particle, position) in file.targets_at(time) {
                solver.set_target(particle, position).unwrap();
                reference.set_target(particle, position).unwrap();
            }
            for (collider, pose) in file.collider_poses_at(time) {
                solver.move_collider(collider, pose).unwrap();
                reference.move_collider(collider, pose).unwrap();
            }
            solver.step(1);
            reference.step(1);
            if file.scene.can_tear() {
                let tears = [solver.tear().unwrap(), reference.tear().unwrap()];
                assert!(tears[0] == tears[1] || !is_exact(&gpu), "{name}: {tears:?}");
            }
        }
        let (on_gpu, on_reference) = (solver.read_positions().unwrap(), reference.read_positions().unwrap());
        assert_eq!(solver.read_diagnostics().unwrap().non_finite_count, 0, "{name}");
        assert_eq!(reference.read_diagnostics().unwrap().non_finite_count, 0, "{name}");
        let report = reference.read_contacts().unwrap();
        assert_eq!(report.lost, 0, "{name}: {report:?}");
        let (start, end) = (reach(file.scene.positions()), reach(&on_reference));
        assert!(end.is_finite() && end < 3.0 * start + 3.0, "{name}: from {start} m to {end} m away");
        assert_ne!(on_reference, file.scene.positions(), "{name}: nothing moves");
        // Sines differ between drivers, so scenes with wind agree only up to rounding.
        if is_exact(&gpu) && file.settings.wind.is_none() {
            let unequal = first_unequal(&on_gpu, &on_reference, 0.0);
            assert_eq!(unequal, None, "{name}: the backends part");
        } else if is_exact(&gpu) || !CHAOTIC.contains(&name.as_str()) {
            let apart = on_gpu.iter().zip(&on_reference).map(|(a, b)| common::distance(*a, *b)).fold(0.0, f64::max);
            println!("{name}: {apart:.1e} m apart");
            assert!(apart < if is_exact(&gpu) { 1e-4 } else { 0.02 }, "{name}: the backends are {apart} m apart");
        }
    }
}

#[test]
fn the_scenes_cover_every_kind() {
    let mut kinds = BTreeSet::new();
    let mut parts = BTreeSet::new();
    for path in scenes() {
        let reference: Reference = read(&path).reference().unwrap();
        for (index, info) in KINDS.iter().enumerate() {
            if !reference.read_lambdas_of(index).unwrap().is_empty() {
                kinds.insert(info.name);
            }
        }
        let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for part in json["parts"].as_array().unwrap() {
            parts.extend(part.as_object().unwrap().keys().cloned());
        }
    }
    let missing: Vec<_> = KINDS.iter().map(|info| info.name).filter(|name| !kinds.contains(name)).collect();
    assert!(missing.is_empty(), "no scene has {missing:?}");
    assert_eq!(parts.len(), 9, "{parts:?}");
}

#[test]
fn targets_are_reached() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/scenes");
    let file = read(&folder.join("animated_target.json"));
    let mut reference = file.reference().unwrap();
    for frame in 1..=FRAMES {
        let time = f64::from(frame) * f64::from(file.settings.dt);
        let targets: Vec<_> = file.targets_at(time).collect();
        assert_eq!(targets.len(), 24);
        for &(particle, position) in &targets {
            reference.set_target(particle, position).unwrap();
        }
        reference.step(1);
        let positions = reference.read_positions().unwrap();
        for (particle, position) in targets {
            let apart = common::distance(positions[particle as usize], position);
            assert!(apart < 1e-6, "particle {particle} is {apart} m from its target in frame {frame}");
        }
    }
}
