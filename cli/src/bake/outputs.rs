//! The files of a simulation.

use super::Arguments;
use crate::backend::Backend;
use crate::console;
use crate::export::contacts::ContactsFile;
use crate::export::geometry::{self, Shape};
use crate::export::npy::Array;
use crate::export::obj::ObjSequence;
use crate::export::partial::resolved;
use crate::export::point_cache::{Format, PointCache};
use crate::export::usd::{Usd, clip_folder};
use crate::export::usd_text::prim_names;
use crate::export::{Frame, Timing};
use anyhow::{Context as _, ensure};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use supple::constraints::KINDS;
use supple::scene_file::SceneFile;

/// The place of the name of a part in the path of a point cache.
const PART: &str = "{part}";

/// The requested files, open for writing.
pub struct Outputs {
    positions: Option<Array>,
    velocities: Option<Array>,
    lambda: Option<Array>,
    /// The index of the kind of λ.
    kind: usize,
    contacts: Option<ContactsFile>,
    obj: Option<ObjSequence>,
    caches: Vec<PointCache>,
    usd: Option<Usd>,
    samples: u32,
}

impl Arguments {
    /// The file for positions: the default if nothing else is requested.
    fn positions(&self) -> Option<PathBuf> {
        let others = [&self.velocities, &self.lambda, &self.contacts, &self.obj, &self.pc2, &self.mdd, &self.usd];
        let only_others = others.iter().any(|path| path.is_some());
        self.out.clone().or_else(|| (!only_others).then(|| "positions.npy".into()))
    }

    fn needs_shapes(&self) -> bool {
        [&self.obj, &self.pc2, &self.mdd, &self.usd].iter().any(|path| path.is_some())
    }
}

/// Checks that the files differ from each other and from the scene.
pub fn check(arguments: &Arguments, shapes: &[Shape]) -> anyhow::Result<()> {
    let Arguments { scene, velocities, lambda, contacts, pc2, mdd, usd, part, .. } = arguments;
    let positions = arguments.positions();
    let single = [&positions, velocities, lambda, contacts, usd].into_iter().flatten().cloned();
    let caches = [pc2, mdd].into_iter().flatten().flat_map(|path| caches_of(path, shapes)).map(|(path, _)| path);
    let (scene, mut targets) = (resolved(scene), HashSet::new());
    let clips = usd.as_deref().filter(|_| arguments.usd_clips).map(clip_folder);
    for path in single.chain(caches).chain(arguments.obj.clone()).chain(clips) {
        let target = resolved(&path);
        ensure!(target != scene, "cannot write {}: it is the scene file", path.display());
        ensure!(targets.insert(target), "{}: two outputs cannot be written to one file", path.display());
    }
    if let Some(path) = usd {
        // USD selects the format of a layer by its extension.
        let is_usda = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("usda"));
        ensure!(is_usda, "cannot write {}: the extension of --usd must be .usda", path.display());
    }
    ensure!(part.is_none() || arguments.needs_shapes(), "--part needs --obj, --pc2, --mdd or --usd");
    Ok(())
}

/// The shapes of the requested meshes; none if no mesh is requested.
pub fn shapes(arguments: &Arguments, file: &SceneFile) -> anyhow::Result<Vec<Shape>> {
    if !arguments.needs_shapes() {
        return Ok(Vec::new());
    }
    geometry::shapes(file, arguments.part.as_deref()).with_context(|| arguments.scene.display().to_string())
}

/// The point caches of a path with their particles: one of all shapes, or one each if the path contains [`PART`].
fn caches_of(path: &Path, shapes: &[Shape]) -> Vec<(PathBuf, Vec<u32>)> {
    // A path that is not UTF-8 is taken literally.
    let Some(pattern) = path.to_str().filter(|path| path.contains(PART)) else {
        return vec![(path.into(), shapes.iter().flat_map(|shape| shape.file_particles.iter().copied()).collect())];
    };
    let names = prim_names(shapes).into_iter().map(|name| pattern.replace(PART, &name).into());
    names.zip(shapes.iter().map(|shape| shape.file_particles.clone())).collect()
}

impl Outputs {
    pub fn create(
        arguments: &Arguments,
        file: &SceneFile,
        backend: &Backend,
        shapes: Vec<Shape>,
    ) -> anyhow::Result<Self> {
        let kind = KINDS.iter().position(|info| info.name == arguments.lambda_kind);
        let kind = kind.with_context(|| format!("no kind is named {:?}", arguments.lambda_kind))?;
        let samples = arguments.frames / arguments.every + 1;
        let particles = file.scene.particle_count() as u64;
        let lambdas =
            if arguments.lambda.is_some() { backend.simulation.read_lambdas_of(kind)?.len() as u64 } else { 0 };
        let array = |path: &Option<PathBuf>, shape: &[u64]| {
            path.as_deref().map(|path| Array::create(path, &[&[u64::from(samples)], shape].concat())).transpose()
        };
        let timing = Timing { samples, seconds: f64::from(file.settings.dt) * f64::from(arguments.every) };
        let mut caches = Vec::new();
        for (path, format) in [(&arguments.pc2, Format::Pc2), (&arguments.mdd, Format::Mdd)] {
            for (path, points) in path.iter().flat_map(|path| caches_of(path, &shapes)) {
                caches.push(PointCache::create(&path, format, points, timing)?);
            }
        }
        let obj = arguments.obj.as_deref().map(|folder| ObjSequence::create(folder, &shapes)).transpose()?;
        let usd = match &arguments.usd {
            None => None,
            Some(path) if arguments.usd_clips => Some(Usd::create_with_clips(path, shapes, timing)?),
            Some(path) => Some(Usd::create(path, shapes, timing, particles as usize)?),
        };
        Ok(Self {
            positions: array(&arguments.positions(), &[particles, 3])?,
            velocities: array(&arguments.velocities, &[particles, 3])?,
            lambda: array(&arguments.lambda, &[lambdas])?,
            kind,
            contacts: arguments.contacts.as_deref().map(|path| ContactsFile::create(path, file)).transpose()?,
            obj,
            caches,
            usd,
            samples: 0,
        })
    }

    /// Writes the state after `step` steps.
    pub fn write(&mut self, step: u32, file: &SceneFile, backend: &Backend) -> anyhow::Result<()> {
        let read = |is_needed: bool, values: &dyn Fn() -> supple::Result<Vec<[f32; 3]>>| {
            if is_needed { values() } else { Ok(Vec::new()) }
        };
        let has_shapes = self.obj.is_some() || self.usd.is_some();
        let needs_positions = self.positions.is_some() || has_shapes || !self.caches.is_empty();
        let positions = read(needs_positions, &|| backend.simulation.read_positions())?;
        let velocities =
            read(self.velocities.is_some() || self.usd.is_some(), &|| backend.simulation.read_velocities())?;
        let normals = read(has_shapes, &|| backend.simulation.read_normals())?;
        if let Some(array) = &mut self.positions {
            array.extend(positions.iter().copied().flatten())?;
        }
        if let Some(array) = &mut self.velocities {
            array.extend(velocities.iter().copied().flatten())?;
        }
        if let Some(array) = &mut self.lambda {
            array.extend(backend.simulation.read_lambdas_of(self.kind)?)?;
        }
        if let Some(lines) = &mut self.contacts {
            lines.write(step, f64::from(step) * f64::from(file.settings.dt), file, backend)?;
        }
        let frame = Frame { sample: self.samples, positions: &positions, velocities: &velocities, normals: &normals };
        if let Some(sequence) = &mut self.obj {
            sequence.write(step, &frame)?;
        }
        for cache in &mut self.caches {
            cache.write(&frame)?;
        }
        if let Some(stage) = &mut self.usd {
            stage.write(&frame)?;
        }
        self.samples += 1;
        Ok(())
    }

    /// Completes the files, then prints their names. A file that cannot be completed does not affect the others.
    pub fn finish(self) -> anyhow::Result<()> {
        let arrays = [self.positions, self.velocities, self.lambda].into_iter().flatten();
        let mut finished: Vec<anyhow::Result<String>> = arrays.map(Array::finish).collect();
        finished.extend(self.contacts.map(ContactsFile::finish));
        finished.extend(self.obj.map(|sequence| Ok(sequence.finish())));
        finished.extend(self.caches.into_iter().map(PointCache::finish));
        finished.extend(self.usd.map(Usd::finish));
        let (mut descriptions, mut failures) = (Vec::new(), Vec::new());
        for result in finished {
            match result {
                Ok(description) => descriptions.push(description),
                Err(failure) => failures.push(failure),
            }
        }
        let printed =
            descriptions.iter().try_for_each(|description| console::print(format_args!("wrote {description}")));
        failures.extend(printed.err());
        // The last one is returned.
        let failure = failures.pop();
        for failure in failures {
            console::report(format_args!("error: {failure:#}"));
        }
        failure.map_or(Ok(()), Err)
    }
}
