//! GPU data of the asset of [`crate::Instances`] (`shaders/instancing/instances.wgsl`).
//!
//! An asset is a scene of at most [`MOST_PARTICLES`] particles. The threads of one workgroup solve all of its
//! constraints in the order of [`crate::Execution::Tiles`]. For each kind they solve the tiles by phases
//! (`src/schedule/tiling.rs`), then the other constraints by colours, with a barrier after each phase and colour.
//!
//! The records of all kinds are in one buffer, the multipliers in another. The *place* of a constraint is the index of
//! both.

use crate::schedule::compiled::{CompiledScene, MAX_LOOP};
use crate::schedule::compiled_kind::CompiledKind;
use crate::schedule::tiling::{PHASES, TILE_WORDS};
use crate::settings::Settings;

/// Maximum number of particles of an asset: 16 bytes each fill 16 KiB of workgroup memory, the WebGPU default limit.
pub(crate) const MOST_PARTICLES: usize = 1024;

/// Maximum number of threads of an instance, `WORKGROUP_SIZE` of `src/gpu/stage.rs`.
pub(crate) const MOST_THREADS: usize = 128;

/// Words of the header of a kind: offset of its colours, number of colours, offset of the bounds of its phases.
const KIND_HEAD: usize = 3;

/// Loop iterations over the phases and colours of a kind. The software driver counts one more per loop than its body
/// runs.
const KIND_ITERATIONS: u64 = 6;

/// See the [module documentation](self).
#[derive(Debug, Clone, Default)]
pub(crate) struct Asset {
    /// The headers of the kinds. Then, per particle, first tether row · 16 + number of tethers. Then, per kind, its
    /// colours (first place, count) and, if it has tiles, the offsets of the tiles of each phase, the end, and the
    /// tiles.
    pub words: Vec<u32>,
    /// The kinds of the asset, as indices in [`crate::constraints::KINDS`].
    pub kinds: Vec<usize>,
    /// By kind of [`crate::constraints::KINDS`], the place of its first constraint.
    pub first_places: Vec<u32>,
    /// Number of words of all records.
    pub record_words: usize,
    /// Number of multipliers of all constraints.
    pub lambda_count: usize,
    /// Number of constraints or tiles that can be solved in parallel, per phase and colour.
    parallel: Vec<usize>,
    particle_count: usize,
}

impl Asset {
    pub fn new(compiled: &CompiledScene) -> Self {
        let kinds: Vec<usize> = (0..compiled.kinds.len()).filter(|&kind| compiled.kinds[kind].len() > 0).collect();
        let mut asset = Self {
            words: vec![0; KIND_HEAD * kinds.len()],
            kinds,
            first_places: vec![0; compiled.kinds.len()],
            particle_count: compiled.tether_runs.len(),
            ..Self::default()
        };
        asset.words.extend(&compiled.tether_runs);
        for rank in 0..asset.kinds.len() {
            let index = asset.kinds[rank];
            let kind = &compiled.kinds[index];
            let first = asset.place_records(index, kind);
            let phases_at = if kind.tiling.is_empty() { 0 } else { asset.push_tiles(kind, first) };
            let colors_at = asset.words.len() as u32;
            for color in &kind.coloring.colors {
                asset.words.extend([first + color.first, color.count]);
                asset.parallel.push(color.count as usize);
            }
            let head = [colors_at, kind.coloring.colors.len() as u32, phases_at];
            asset.words[KIND_HEAD * rank..][..KIND_HEAD].copy_from_slice(&head);
        }
        asset
    }

    /// Offset of the header of the kind with this rank in [`Asset::kinds`].
    pub fn head_at(rank: usize) -> usize {
        KIND_HEAD * rank
    }

    /// Offset of the tether run of the first particle.
    pub fn tether_runs_at(&self) -> usize {
        KIND_HEAD * self.kinds.len()
    }

    /// The records of all kinds, in the order of their places.
    pub fn records(&self, kinds: &[CompiledKind]) -> Vec<u32> {
        let mut records = vec![0; self.record_words];
        for &index in &self.kinds {
            let kind = &kinds[index];
            let first = self.first_places[index] as usize * kind.info.record_words;
            records[first..][..kind.records.len()].copy_from_slice(&kind.records);
        }
        records
    }

    /// Reserves the records and multipliers of a kind; returns the place of its first constraint.
    fn place_records(&mut self, index: usize, kind: &CompiledKind) -> u32 {
        let (record_words, lambdas) = (kind.info.record_words, kind.info.lambda_count());
        let first = self.record_words.div_ceil(record_words).max(self.lambda_count.div_ceil(lambdas));
        self.record_words = (first + kind.len()) * record_words;
        self.lambda_count = (first + kind.len()) * lambdas;
        self.first_places[index] = first as u32;
        first as u32
    }

    /// Appends the tiles of a kind; returns the offset of the bounds of its phases.
    fn push_tiles(&mut self, kind: &CompiledKind, first_place: u32) -> u32 {
        let at = self.words.len();
        let mut next = (at + PHASES + 1) as u32;
        self.words.push(next);
        for phase in 0..PHASES {
            let count = kind.tiling.tiles.iter().filter(|tile| tile.phase == phase).count();
            next += (count * TILE_WORDS) as u32;
            self.words.push(next);
            self.parallel.push(count);
        }
        for tile in &kind.tiling.tiles {
            self.words.extend(tile.words(first_place + tile.constraints.first));
        }
        at as u32
    }

    /// Number of loop iterations of one thread in a step, with `threads` threads per instance and `more` iterations per
    /// substep.
    pub fn loop_iterations(&self, threads: usize, settings: &Settings, most_tethers: u32, more: u64) -> u64 {
        let per_thread = |count: usize| count.div_ceil(threads) as u64;
        let all = self.parallel.iter().map(|&count| 2 + per_thread(count)).sum::<u64>();
        let sweeps = u64::from(settings.iterations) * (1 + all + KIND_ITERATIONS * self.kinds.len() as u64);
        let particles = per_thread(self.particle_count);
        let over_particles = 2 * (particles + 1);
        let tethers = particles * (1 + u64::from(most_tethers));
        over_particles + u64::from(settings.substeps) * (4 + over_particles + tethers + sweeps + more)
    }

    /// True if any constraint is solved in a tile.
    pub fn has_tiles(compiled: &CompiledScene) -> bool {
        compiled.kinds.iter().any(|kind| !kind.tiling.is_empty())
    }

    /// Number of threads of an instance: without tiles, one per particle. Tiles are few and use many registers: then at
    /// most `subgroup`, doubled while a thread exceeds [`MAX_LOOP`] by `iterations`.
    pub fn threads(&self, has_tiles: bool, subgroup: usize, iterations: impl Fn(usize) -> u64) -> usize {
        let most_parallel = self.parallel.iter().copied().max().unwrap_or(1).max(1);
        let wanted = if has_tiles {
            most_parallel.next_power_of_two().min(subgroup)
        } else {
            self.particle_count.next_power_of_two()
        };
        let doubled = std::iter::successors(Some(wanted), |threads| Some(2 * threads));
        doubled
            .take_while(|&threads| threads < MOST_THREADS)
            .find(|&threads| iterations(threads) <= MAX_LOOP)
            .unwrap_or(MOST_THREADS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::compiled::Purpose;
    use crate::{Bending, ClothGrid, Distance, Fabric, Material, Particle, Scene};

    fn compiled(scene: &Scene) -> CompiledScene {
        let settings = Settings { execution: crate::Execution::Tiles, ..Settings::default() };
        CompiledScene::new(scene, &settings, Purpose::Asset).unwrap()
    }

    fn cloth(columns: u32, rows: u32, bending: Bending) -> Scene {
        let mut scene = Scene::new();
        let fabric = Fabric { bending, flexural_rigidity: 1e-2, stretch_limit: 1.05, ..Fabric::default() };
        scene.add_cloth_grid(&ClothGrid { columns, rows, fabric, ..ClothGrid::default() }).unwrap();
        scene
    }

    #[test]
    fn every_constraint_of_an_asset_is_solved_once_and_kinds_do_not_overlap() {
        for bending in [Bending::Springs, Bending::Hinges, Bending::Isometric] {
            let mut scene = cloth(17, 9, bending);
            let last = scene.add_particle(Particle { position: [9.0, 0.0, 0.0], ..Particle::default() }).unwrap();
            scene.add(Distance { particles: [0, last], rest_length: 9.0 }, Material::RIGID).unwrap();
            let compiled = compiled(&scene);
            let asset = Asset::new(&compiled);
            let mut ends = [0; 2];
            for (rank, &index) in asset.kinds.iter().enumerate() {
                let (kind, first) = (&compiled.kinds[index], asset.first_places[index]);
                let head: [usize; KIND_HEAD] =
                    std::array::from_fn(|word| asset.words[Asset::head_at(rank) + word] as usize);
                let [colors_at, colors, phases_at] = head;
                let mut solved = vec![0; kind.len()];
                if phases_at > 0 {
                    for bounds in asset.words[phases_at..=phases_at + PHASES].windows(2) {
                        for tile in asset.words[bounds[0] as usize..bounds[1] as usize].chunks_exact(TILE_WORDS) {
                            let links: u32 = tile[4..7].iter().map(|word| word.count_ones()).sum();
                            (tile[7]..tile[7] + links).for_each(|place| solved[(place - first) as usize] += 1);
                        }
                    }
                }
                for color in asset.words[colors_at..][..2 * colors].chunks_exact(2) {
                    (color[0]..color[0] + color[1]).for_each(|place| solved[(place - first) as usize] += 1);
                }
                assert!(solved.iter().all(|&count| count == 1), "{}", kind.info.name);
                for (end, size) in ends.iter_mut().zip([kind.info.record_words, kind.info.lambda_count()]) {
                    assert!(first as usize * size >= *end);
                    *end = (first as usize + kind.len()) * size;
                }
            }
            assert_eq!(ends, [asset.record_words, asset.lambda_count]);
            assert_eq!(asset.words[asset.tether_runs_at()..][..scene.particle_count()], compiled.tether_runs);
        }
    }

    #[test]
    fn an_asset_has_as_many_threads_as_it_can_use() {
        let compiled = compiled(&cloth(32, 32, Bending::Springs));
        let asset = Asset::new(&compiled);
        assert!(Asset::has_tiles(&compiled));
        assert_eq!([8, 32].map(|subgroup| asset.threads(true, subgroup, |_| 0)), [8, 16]);
        assert_eq!(asset.threads(true, 8, |threads| 700_000 / threads as u64), 16);
        assert_eq!(asset.threads(false, 8, |_| 0), MOST_THREADS);
    }
}
