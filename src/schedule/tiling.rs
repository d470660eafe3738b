//! Tiles: constraints of a grid of particles that one thread solves one after another, on displacements that it loads and stores once.
//!
//! A grid repeats itself. It is cut into tiles of [`SIDE`] × [`SIDE`] particles, and a constraint belongs to the tile of its upper left
//! corner, the smallest row and column of its particles. As it reaches [`REACH`] rows and columns at most, a tile touches
//! [`SPAN`] × [`SPAN`] particles, and every other tile, in both directions, can be solved at the same time: four *phases* in place of as
//! many colours as a particle has constraints, with a third of the loads and stores. What all tiles may hold is the *pattern*, from
//! which the shader is written out (`src/gpu/tiles.rs`), link after link, so that it stays in registers; a tile says by bits
//! what of it is there. Along the border, where something is missing or for grids of other sizes the pattern is the same.
//!
//! What does not fit (constraints that reach farther, or that lie outside of any grid) is coloured as ever.

use crate::constraints::MAX_ARITY;
use crate::scene::{ConstraintSet, Grid};
use crate::schedule::coloring::Span;
use std::collections::HashMap;

/// Particles along the side of a tile whose constraints are its own.
pub(crate) const SIDE: u32 = 4;

/// How many rows or columns a constraint may span besides its first; at most [`SIDE`], or tiles of a phase would meet.
const REACH: u32 = 2;

/// Particles along the side of all that a tile touches.
pub(crate) const SPAN: u32 = SIDE + REACH;

/// The most links of a pattern: a tile has so many bits for them.
const MOST_LINKS: usize = 96;

/// Bits of which a tile has several words.
type Bits = u128;

/// The most materials of a grid that its tiles know.
pub(crate) const MOST_MATERIALS: usize = 4;

/// Phases: the parities of a tile's row and column.
pub(crate) const PHASES: usize = 4;

/// A constraint of the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Link {
    /// Where its particles lie in the tile: row · [`SPAN`] + column; the first `arity` count.
    pub slots: [u8; MAX_ARITY],
    /// Its material, as the place in the list that each grid has.
    pub material: u8,
}

/// The parameters of a constraint, as many as a kind with a fixed number of particles has.
pub(crate) type Parameters = [u32; 4];

/// The constraints of one kind that are solved in tiles.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tiling {
    /// In the order in which a tile solves them.
    pub pattern: Vec<Link>,
    /// For each link the parameters of its constraints, where all of them have the same: the shader holds them then, and loads none.
    pub shared: Vec<Option<Parameters>>,
    /// Sorted by phase.
    pub tiles: Vec<Tile>,
    /// The tiles of each phase, none of them empty.
    pub phases: Vec<Span>,
    /// Their records.
    pub records: Vec<Span>,
    /// The constraints, in the order of their records.
    pub order: Vec<u32>,
}

/// A tile of a grid.
#[derive(Debug, Clone)]
pub(crate) struct Tile {
    pub phase: usize,
    /// Its upper left particle.
    pub first: u32,
    /// Those of its grid.
    columns: u32,
    slots: Bits,
    links: Bits,
    /// Those of the links, as entries of the material table.
    materials: [u32; MOST_MATERIALS],
    /// Its constraints, as places in the order of all.
    pub constraints: Span,
}

/// Words of a tile as the GPU reads it.
pub(crate) const TILE_WORDS: usize = 12;

impl Tile {
    /// As the GPU reads it, where its records begin at `record`: first particle, columns of its grid, which slots there are (two words); which
    /// links there are (three words), first record; the materials.
    pub fn words(&self, record: u32) -> [u32; TILE_WORDS] {
        let word = |bits: Bits, index: u32| (bits >> (32 * index)) as u32;
        let Self { first, columns, slots, links, materials: [a, b, c, d], .. } = *self;
        let ([near, far], [low, middle, high]) = ([0, 1].map(|k| word(slots, k)), [0, 1, 2].map(|k| word(links, k)));
        [first, columns, near, far, low, middle, high, record, a, b, c, d]
    }
}

/// A constraint that lies in a grid.
struct Found {
    constraint: u32,
    tile: u32,
    link: Link,
}

/// One that is solved in a tile, in the order of the records.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    phase: usize,
    tile: u32,
    /// Its place in the pattern.
    link: u32,
    constraint: u32,
}

impl Tiling {
    pub fn is_empty(&self) -> bool {
        self.phases.is_empty()
    }

    /// Tiles what can be tiled of a set of constraints. The grids are in ascending order.
    pub fn new(set: &ConstraintSet, grids: &[Grid]) -> Self {
        if set.info.is_group() || grids.is_empty() {
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
        // Of two constraints of the same place the second is left to the colours.
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

    /// From now on all parameters are loaded, as one of a constraint has changed; returns whether any was not before.
    pub fn unshare(&mut self) -> bool {
        let any = self.shared.iter().any(Option::is_some);
        self.shared.fill(None);
        any
    }

    /// Whether the shader of the tiles holds the parameters of all of so many constraints, so that nothing reads their records.
    pub fn holds_all(&self, constraints: usize) -> bool {
        self.order.len() == constraints && self.shared.iter().all(Option::is_some)
    }

    /// The materials, as entries of the table, where all tiles have the same.
    pub fn common_materials(&self) -> Option<[u32; MOST_MATERIALS]> {
        let first = self.tiles.first()?.materials;
        self.tiles.iter().all(|tile| tile.materials == first).then_some(first)
    }

    /// All tiles as the GPU reads them.
    pub fn words(&self) -> Vec<u32> {
        self.tiles.iter().flat_map(|tile| tile.words(tile.constraints.first)).collect()
    }

    /// The slots that any link of the pattern names, in ascending order.
    pub fn slots(&self, arity: usize) -> Vec<u32> {
        let named =
            self.pattern.iter().flat_map(|link| &link.slots[..arity]).fold(0, |slots: Bits, slot| slots | 1 << slot);
        (0..SPAN * SPAN).filter(|slot| named >> slot & 1 == 1).collect()
    }
}

/// The number of the first tile of each grid.
fn first_tiles(grids: &[Grid]) -> Vec<u32> {
    let tiles = |grid: &Grid| grid.columns.div_ceil(SIDE) * grid.rows.div_ceil(SIDE);
    grids.iter().scan(0, |sum, grid| Some(std::mem::replace(sum, *sum + tiles(grid)))).collect()
}

/// The grid of a tile, and the row and column of its upper left particle.
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

/// The tile and the link of a constraint; nothing where its particles do not lie together in a grid.
/// Its material is put on the list of the grid.
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

/// The parameters of a record of a kind that is not a group.
fn parameters(set: &ConstraintSet, constraint: u32) -> Parameters {
    let size = set.info.record_words;
    let record = &set.words[constraint as usize * size..][..size];
    let words = &record[set.info.material_word() + 1..];
    std::array::from_fn(|place| words.get(place).copied().unwrap_or(0))
}

/// The parameters of each link of the pattern in which all its constraints agree.
fn shared(set: &ConstraintSet, placed: &[Placed], links: usize) -> Vec<Option<Parameters>> {
    // Nothing yet; then what all have had so far, or that they do not agree.
    let mut found: Vec<Option<Option<Parameters>>> = vec![None; links];
    for placed in placed {
        let own = parameters(set, placed.constraint);
        let found = &mut found[placed.link as usize];
        *found = Some(found.map_or(Some(own), |known| known.filter(|known| *known == own)));
    }
    found.into_iter().map(Option::flatten).collect()
}

/// The links that occur most often, in the order in which they were added: what was added last is satisfied best.
fn pattern(found: &[Found]) -> Vec<Link> {
    // How often, and where first.
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

    /// Two grids with links between any two of their particles, near and far.
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
        // All that the cloths are made of is in tiles; what leads far away is not.
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
