//! Tiles: constraints of a grid of particles that one thread solves in sequence, with displacements in registers.
//!
//! A grid is cut into tiles of [`SIDE`] × [`SIDE`] particles. A constraint belongs to the tile of its upper left
//! corner, the smallest row and column of its particles. It extends over at most [`REACH`] further rows and columns, so
//! a tile reads [`SPAN`] × [`SPAN`] particles. Every other tile in both directions can be solved in parallel: four
//! *phases* replace the colours, with a third of the loads and stores.
//!
//! The *pattern* lists all constraints that a tile may have; an entry is a *link*. The shader is generated from it,
//! link by link (`src/gpu/tiles.rs`). Each tile has a bit mask of its links, so one pattern also covers borders and
//! grids of other sizes.
//!
//! Constraints that extend farther or lie outside of any grid are coloured, and so are kinds of more than 4 parameters.

use crate::constraints::MAX_ARITY;
use crate::scene::{ConstraintSet, Grid};
use crate::schedule::coloring::Span;
use std::collections::HashMap;

/// Side of a tile, in particles.
pub(crate) const SIDE: u32 = 4;

/// Maximum number of further rows or columns of a constraint; at most [`SIDE`], so that tiles of a phase share no
/// particle.
const REACH: u32 = 4;

/// Side of the region that a tile reads, in particles.
pub(crate) const SPAN: u32 = SIDE + REACH;

/// Maximum number of links of a pattern: the bits of a tile's mask.
pub(crate) const MOST_LINKS: usize = 96;

/// A bit mask of several words.
type Bits = u128;

/// Maximum number of materials of a grid in tiles.
pub(crate) const MOST_MATERIALS: usize = 4;

/// Number of phases: the parities of a tile's row and column.
pub(crate) const PHASES: usize = 4;

/// A constraint of the pattern, relative to the tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Link {
    /// Slots of its particles: row · [`SPAN`] + column; the first `arity` are in use.
    pub slots: [u8; MAX_ARITY],
    /// Index of its material in the list of the grid.
    pub material: u8,
}

/// Parameters of a constraint in tiles.
pub(crate) type Parameters = [u32; MOST_PARAMETERS];

/// Maximum number of parameters of a kind in tiles: `Record` in `shaders/schedule/projection/tile.wgsl`.
const MOST_PARAMETERS: usize = 4;

/// The constraints of one kind that are solved in tiles.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tiling {
    /// The links, in the order in which a tile solves them.
    pub pattern: Vec<Link>,
    /// By link, the parameters of its constraints if all are equal; the shader then contains them as constants.
    pub shared: Vec<Option<Parameters>>,
    /// All tiles, sorted by phase.
    pub tiles: Vec<Tile>,
    /// The tiles of each phase; never empty.
    pub phases: Vec<Span>,
    /// The records of each phase.
    pub records: Vec<Span>,
    /// The constraints in the order of their records.
    pub order: Vec<u32>,
}

/// A tile of a grid.
#[derive(Debug, Clone)]
pub(crate) struct Tile {
    pub phase: usize,
    /// Index of its upper left particle.
    pub first: u32,
    /// Number of columns of its grid.
    columns: u32,
    slots: Bits,
    links: Bits,
    /// Materials of its grid, as indices in the material table.
    materials: [u32; MOST_MATERIALS],
    /// Its constraints, as indices in `order`.
    pub constraints: Span,
}

/// Number of words of a tile in GPU memory.
pub(crate) const TILE_WORDS: usize = 12;

impl Tile {
    /// GPU data, with records from `record` on: first particle, columns of its grid, mask of slots (two words); mask of
    /// links (three words), first record; four materials.
    pub fn words(&self, record: u32) -> [u32; TILE_WORDS] {
        let word = |bits: Bits, index: u32| (bits >> (32 * index)) as u32;
        let Self { first, columns, slots, links, materials: [a, b, c, d], .. } = *self;
        let ([near, far], [low, middle, high]) = ([0, 1].map(|k| word(slots, k)), [0, 1, 2].map(|k| word(links, k)));
        [first, columns, near, far, low, middle, high, record, a, b, c, d]
    }
}

/// A constraint within a grid.
struct Found {
    constraint: u32,
    tile: u32,
    link: Link,
}

/// A constraint in a tile; sorts in the order of the records.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    phase: usize,
    tile: u32,
    /// Index of its link in the pattern.
    link: u32,
    constraint: u32,
}

impl Tiling {
    pub fn is_empty(&self) -> bool {
        self.phases.is_empty()
    }

    /// Tiles the constraints of a set as far as possible. The grids are in ascending order.
    pub fn new(set: &ConstraintSet, grids: &[Grid]) -> Self {
        let is_long = set.info.record_words > set.info.material_word() + 1 + MOST_PARAMETERS;
        if set.info.is_group() || set.info.orientations > 0 || is_long || grids.is_empty() {
            return Self::default();
        }
        let firsts = first_tiles(grids);
        let mut materials = vec![Vec::new(); grids.len()];
        let mut found: Vec<Found> = Vec::new();
        for (index, record) in (0..).zip(set.records()) {
            found.extend(find(set, grids, &firsts, index, record, &mut materials));
        }
        let pattern = pattern(&found);
        let bit_of: HashMap<Link, u32> = (0..).zip(&pattern).map(|(bit, &link)| (link, bit)).collect();
        let place = |&Found { constraint, tile, link }: &Found| {
            let link = *bit_of.get(&link)?;
            Some(Placed { phase: phase(grids, &firsts, tile), tile, link, constraint })
        };
        let mut placed: Vec<Placed> = found.iter().filter_map(place).collect();
        placed.sort_unstable();
        // Of two constraints with the same link the second is coloured.
        placed.dedup_by_key(|placed| (placed.tile, placed.link));

        let shared = shared(set, &placed, pattern.len());
        let mut tiling = Self { pattern, shared, ..Self::default() };
        let (mut first_tile, mut first_record) = (0, 0);
        for of_phase in placed.chunk_by(|a, b| a.phase == b.phase) {
            for tile in of_phase.chunk_by(|a, b| a.tile == b.tile) {
                let (index, row, column) = corner(grids, &firsts, tile[0].tile);
                let (grid, place) = (&grids[index], tiling.order.len() as u32);
                let (mut slots, mut links): (Bits, Bits) = (0, 0);
                for placed in tile {
                    links |= 1 << placed.link;
                    let named = &tiling.pattern[placed.link as usize].slots[..set.info.arity];
                    named.iter().for_each(|slot| slots |= 1 << slot);
                }
                tiling.tiles.push(Tile {
                    phase: tile[0].phase,
                    first: grid.first + row * grid.columns + column,
                    columns: grid.columns,
                    slots,
                    links,
                    materials: std::array::from_fn(|place| materials[index].get(place).copied().unwrap_or(0)),
                    constraints: Span { first: place, count: tile.len() as u32 },
                });
                tiling.order.extend(tile.iter().map(|placed| placed.constraint));
            }
            let (tiles, records) = (tiling.tiles.len() as u32, tiling.order.len() as u32);
            tiling.phases.push(Span { first: first_tile, count: tiles - first_tile });
            tiling.records.push(Span { first: first_record, count: records - first_record });
            (first_tile, first_record) = (tiles, records);
        }
        tiling
    }

    /// Clears all shared parameters, because one constraint has changed. Returns true if there were any.
    pub fn unshare(&mut self) -> bool {
        let any = self.shared.iter().any(Option::is_some);
        self.shared.fill(None);
        any
    }

    /// True if the tile shader contains the parameters of all `constraints` constraints: no pass reads their records.
    pub fn holds_all(&self, constraints: usize) -> bool {
        self.order.len() == constraints && self.shared.iter().all(Option::is_some)
    }

    /// The materials, as indices in the material table, if all tiles have the same ones.
    pub fn common_materials(&self) -> Option<[u32; MOST_MATERIALS]> {
        let first = self.tiles.first()?.materials;
        self.tiles.iter().all(|tile| tile.materials == first).then_some(first)
    }

    /// GPU data of all tiles.
    pub fn words(&self) -> Vec<u32> {
        self.tiles.iter().flat_map(|tile| tile.words(tile.constraints.first)).collect()
    }

    /// The slots that the pattern uses, in ascending order.
    pub fn slots(&self, arity: usize) -> Vec<u32> {
        let named =
            self.pattern.iter().flat_map(|link| &link.slots[..arity]).fold(0, |slots: Bits, slot| slots | 1 << slot);
        (0..SPAN * SPAN).filter(|slot| named >> slot & 1 == 1).collect()
    }
}

/// Index of the first tile of each grid.
fn first_tiles(grids: &[Grid]) -> Vec<u32> {
    let tiles = |grid: &Grid| grid.columns.div_ceil(SIDE) * grid.rows.div_ceil(SIDE);
    grids.iter().scan(0, |sum, grid| Some(std::mem::replace(sum, *sum + tiles(grid)))).collect()
}

/// The grid of a tile, with the row and column of its upper left particle.
fn corner(grids: &[Grid], firsts: &[u32], tile: u32) -> (usize, u32, u32) {
    let index = firsts.partition_point(|&first| first <= tile) - 1;
    let local = tile - firsts[index];
    let across = grids[index].columns.div_ceil(SIDE);
    (index, local / across * SIDE, local % across * SIDE)
}

fn phase(grids: &[Grid], firsts: &[u32], tile: u32) -> usize {
    let (_, row, column) = corner(grids, firsts, tile);
    (row / SIDE % 2 * 2 + column / SIDE % 2) as usize % PHASES
}

/// The tile and the link of a constraint; `None` if it does not fit in a tile of a grid. Adds its material to the list
/// of the grid.
fn find(
    set: &ConstraintSet,
    grids: &[Grid],
    firsts: &[u32],
    constraint: u32,
    record: &[u32],
    materials: &mut [Vec<u32>],
) -> Option<Found> {
    let particles = &record[..set.info.arity];
    let index = grids.partition_point(|grid| grid.first <= particles[0]).checked_sub(1)?;
    let grid = &grids[index];
    let mut places = [[0; 2]; MAX_ARITY];
    for (place, &particle) in places.iter_mut().zip(particles) {
        let local = particle.checked_sub(grid.first).filter(|&local| local < grid.columns * grid.rows)?;
        *place = [local / grid.columns, local % grid.columns];
    }
    let places = &places[..particles.len()];
    let least = |axis: usize| places.iter().map(|place| place[axis]).min().unwrap_or(0);
    let corner = [least(0) / SIDE, least(1) / SIDE];
    let mut slots = [0; MAX_ARITY];
    for (slot, place) in slots.iter_mut().zip(places) {
        let [row, column] = [place[0] - corner[0] * SIDE, place[1] - corner[1] * SIDE];
        if row >= SPAN || column >= SPAN {
            return None;
        }
        *slot = (row * SPAN + column) as u8;
    }
    let tile = firsts[index] + corner[0] * grid.columns.div_ceil(SIDE) + corner[1];
    let (materials, material) = (&mut materials[index], record[set.info.material_word()]);
    let rank = materials.iter().position(|&known| known == material).unwrap_or(materials.len());
    if rank == materials.len() {
        if rank == MOST_MATERIALS {
            return None;
        }
        materials.push(material);
    }
    Some(Found { constraint, tile, link: Link { slots, material: rank as u8 } })
}

/// The parameters of a record of fixed arity.
fn parameters(set: &ConstraintSet, constraint: u32) -> Parameters {
    let size = set.info.record_words;
    let record = &set.words[constraint as usize * size..][..size];
    let words = &record[set.info.material_word() + 1..];
    std::array::from_fn(|place| words.get(place).copied().unwrap_or(0))
}

/// By link, the parameters if all of its constraints have the same ones.
fn shared(set: &ConstraintSet, placed: &[Placed], links: usize) -> Vec<Option<Parameters>> {
    // Outer `None`: no constraint yet. Inner `None`: parameters differ.
    let mut found: Vec<Option<Option<Parameters>>> = vec![None; links];
    for placed in placed {
        let own = parameters(set, placed.constraint);
        let found = &mut found[placed.link as usize];
        *found = Some(found.map_or(Some(own), |known| known.filter(|known| *known == own)));
    }
    found.into_iter().map(Option::flatten).collect()
}

/// The most frequent links, in the order of insertion: later constraints are satisfied best.
fn pattern(found: &[Found]) -> Vec<Link> {
    // Number of constraints, and the first one.
    let mut counts: HashMap<Link, (u32, u32)> = HashMap::new();
    for Found { constraint, link, .. } in found {
        counts.entry(*link).or_insert((0, *constraint)).0 += 1;
    }
    let mut links: Vec<(Link, (u32, u32))> = counts.into_iter().collect();
    links.sort_by_key(|&(_, (count, first))| (std::cmp::Reverse(count), first));
    links.truncate(MOST_LINKS);
    links.sort_by_key(|&(_, (_, first))| first);
    links.into_iter().map(|(link, _)| link).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClothGrid, Distance, Material, Scene, constraints::Kind, constraints::kind_index};

    /// Two grids with additional constraints between near and distant particles.
    fn tangle() -> Scene {
        let mut scene = Scene::new();
        for [columns, rows] in [[7, 9], [16, 4]] {
            scene.add_cloth_grid(&ClothGrid { columns, rows, ..ClothGrid::default() }).unwrap();
        }
        let count = scene.particle_count() as u32;
        for k in 0..400 {
            let particles = [k * 37 % count, (k * 37 + k % 23 + 1) % count];
            scene.add(Distance { particles, rest_length: 1.0 }, Material::compliant((k % 3) as f32)).unwrap();
        }
        scene
    }

    #[test]
    fn tiles_of_a_phase_share_no_particle_and_slots_lead_to_the_particles() {
        let scene = tangle();
        let set = &scene.constraints[kind_index(Distance::INFO)];
        let tiling = Tiling::new(set, &scene.grids);
        assert_eq!(tiling.phases.len(), PHASES);
        assert_eq!(tiling.pattern.len(), MOST_LINKS);
        let mut seen = vec![false; set.len()];
        let words = tiling.words();
        let mut place = 0;
        for phase in &tiling.phases {
            let mut owner = vec![usize::MAX; scene.particle_count()];
            for tile in phase.range() {
                let words = &words[TILE_WORDS * tile..][..TILE_WORDS];
                let [first, columns, near, far, low, middle, high, record] = std::array::from_fn(|k| words[k]);
                assert_eq!(record as usize, place);
                let bits =
                    |words: &[u32]| words.iter().rev().fold(0, |bits: Bits, &word| bits << 32 | Bits::from(word));
                let (slots, links) = (bits(&[near, far]), bits(&[low, middle, high]));
                for (_, link) in tiling.pattern.iter().enumerate().filter(|(bit, _)| links >> bit & 1 == 1) {
                    let constraint = tiling.order[place] as usize;
                    let record = &set.words[constraint * set.info.record_words..];
                    for k in 0..set.info.arity {
                        let slot = u32::from(link.slots[k]);
                        assert_eq!(slots >> slot & 1, 1);
                        assert_eq!(record[k], first + slot / SPAN * columns + slot % SPAN);
                        let owner = &mut owner[record[k] as usize];
                        assert!(*owner == usize::MAX || *owner == tile, "particle {} of two tiles", record[k]);
                        *owner = tile;
                    }
                    assert_eq!(record[set.info.material_word()], words[8 + usize::from(link.material)]);
                    assert!(!std::mem::replace(&mut seen[constraint], true));
                    place += 1;
                }
            }
        }
        assert_eq!(place, tiling.order.len());
        // The constraints of the cloths are in tiles; distant ones are not.
        let tiled = seen.iter().filter(|seen| **seen).count();
        assert!(tiled < set.len() && tiled > set.len() - 400, "{tiled} of {}", set.len());
    }

    #[test]
    fn a_tile_solves_in_the_order_of_insertion_and_grids_agree_in_their_parameters() {
        let mut scene = Scene::new();
        for [columns, rows] in [[9, 9], [7, 5]] {
            let size = [columns, rows].map(|count| 0.1 * (count - 1) as f32);
            let (column_axis, row_axis) = ([size[0], 0.0, 0.0], [0.0, 0.0, size[1]]);
            let grid = ClothGrid { columns, rows, column_axis, row_axis, ..ClothGrid::default() };
            scene.add_cloth_grid(&grid).unwrap();
        }
        let set = &scene.constraints[kind_index(Distance::INFO)];
        let tiling = Tiling::new(set, &scene.grids);
        assert_eq!(tiling.pattern.len() as u32, 6 * SIDE * SIDE);
        assert!(tiling.shared.iter().all(Option::is_some));
        let first = &tiling.order[..6 * (SIDE * SIDE) as usize];
        assert!(first.is_sorted(), "{first:?}");
    }
}
