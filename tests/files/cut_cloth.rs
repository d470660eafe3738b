//! Cloth cut out of a woven grid.

use crate::common;
use crate::common::{backends, distance};
use std::collections::HashSet;
use supple::constraints::{Hinge, IsometricBend, Kind};
use supple::{Bending, ClothGrid, CutCloth, Error, Execution, Fabric, Reference, Scene, Settings, Tethers};

fn grid(columns: u32, rows: u32, bending: Bending) -> ClothGrid {
    let fabric = Fabric { bending, flexural_rigidity: 1e-4, ..Fabric::COTTON };
    ClothGrid { columns, rows, fabric, row_axis: [0.3, -1.5, 0.2], ..ClothGrid::default() }
}

type Keep = fn(u32, u32) -> bool;

/// Shapes cut out of a grid of 13 × 11: a disc, an L, a ring, a comb, and two cells that share a corner.
const SHAPES: [(&str, Keep); 5] = [
    ("disc", |c, r| (f32::from(c as u8) - 5.5).hypot(f32::from(r as u8) - 4.5) < 5.0),
    ("L", |c, r| c < 4 || r > 6),
    ("ring", |c, r| !(3..9).contains(&c) || !(3..7).contains(&r)),
    ("comb", |c, r| r < 2 || c % 3 == 0),
    ("corner", |c, r| (c, r) == (2, 2) || (c, r) == (3, 3)),
];

fn cut(bending: Bending, keep: Keep) -> (Scene, CutCloth) {
    let mut scene = Scene::new();
    let cut = scene.add_cloth_grid_where(&grid(13, 11, bending), keep).unwrap();
    (scene, cut)
}

#[test]
fn a_cut_cloth_has_the_particles_links_and_masses_of_its_cells() {
    for (name, keep) in SHAPES {
        let (scene, cut) = cut(Bending::Springs, keep);
        let cloth = &cut.cloth;
        let cells: Vec<[u32; 2]> =
            (0..10).flat_map(|r| (0..12).map(move |c| [c, r])).filter(|&[c, r]| keep(c, r)).collect();
        let corner = |c: u32, r: u32| r * 13 + c;
        let sides = |&[c, r]: &[u32; 2]| {
            let [a, b, d, e] = [corner(c, r), corner(c + 1, r), corner(c, r + 1), corner(c + 1, r + 1)];
            [[a, b], [d, e], [a, d], [b, e]]
        };
        let expected: HashSet<[u32; 2]> = cells.iter().flat_map(sides).collect();
        let points: HashSet<u32> = expected.iter().flatten().copied().collect();
        assert_eq!(scene.particle_count(), points.len(), "{name}");
        assert_eq!(cut.points.len(), 143);
        // Particles are numbered in the order of the grid points that have one.
        let given: Vec<u32> = cut.points.iter().flatten().copied().collect();
        assert!(given.iter().copied().eq(cloth.particles.clone()), "{name}");
        assert!((0..143).all(|point| cut.points[point as usize].is_some() == points.contains(&point)), "{name}");
        let named = |link: [u32; 2]| link.map(|point| cut.points[point as usize].unwrap());
        let links = |range: std::ops::Range<u32>| -> HashSet<[u32; 2]> {
            scene.distances(range).map(|distance| distance.particles).collect()
        };
        assert_eq!(links(cloth.structural.clone()), expected.iter().copied().map(named).collect(), "{name}");
        assert_eq!(cloth.structural.len(), expected.len(), "{name}");
        assert_eq!((cloth.shear.len(), cloth.triangles.len()), (2 * cells.len(), 2 * cells.len()), "{name}");
        let bends = expected.iter().filter(|[a, b]| expected.contains(&[*b, 2 * b - a])).count();
        assert_eq!(cloth.bend.len(), bends, "{name}");
        // Each edge has the length, and each particle the position, of the full grid.
        let mut whole = Scene::new();
        let other = whole.add_cloth_grid(&grid(13, 11, Bending::Springs)).unwrap();
        for (point, particle) in cut.points.iter().enumerate() {
            let Some(particle) = particle else { continue };
            assert_eq!(scene.positions()[*particle as usize], whole.positions()[point], "{name}");
        }
        let lengths =
            |scene: &Scene, range| scene.distances(range).map(|distance| distance.rest_length).collect::<Vec<_>>();
        let known = lengths(&whole, other.shear.clone());
        for length in lengths(&scene, cloth.shear.clone()) {
            assert!(known.iter().any(|known| (known / length - 1.0).abs() < 1e-5), "{name}");
        }
        let mass: f64 = scene.inverse_masses().iter().map(|&w| 1.0 / f64::from(w)).sum();
        let total: f64 = whole.inverse_masses().iter().map(|&w| 1.0 / f64::from(w)).sum();
        let share = cells.len() as f64 / 120.0;
        assert!((mass / (total * share) - 1.0).abs() < 1e-5, "{name}: {mass} kg of {total}");
        assert!(cloth.report.is_clean() || name == "corner", "{name}: {:?}", cloth.report);
    }
}

#[test]
fn a_cut_that_keeps_all_cells_is_the_grid() {
    for bending in [Bending::Springs, Bending::Hinges, Bending::Isometric] {
        let grid = grid(7, 6, bending);
        let (mut whole, mut cut) = (Scene::new(), Scene::new());
        let cloth = whole.add_cloth_grid(&grid).unwrap();
        let kept = cut.add_cloth_grid_where(&grid, |_, _| true).unwrap();
        assert_eq!(kept.cloth, cloth);
        assert_eq!(cut.positions(), whole.positions());
        assert!(kept.points.into_iter().flatten().eq(cloth.particles));
    }
}

#[test]
fn bending_of_a_cut_cloth_is_that_of_its_mesh() {
    for (name, keep) in SHAPES {
        let inner = |scene: &Scene, cloth: &CutCloth| {
            let triangles =
                &scene.triangles()[cloth.cloth.triangles.start as usize..cloth.cloth.triangles.end as usize];
            let sides: Vec<[u32; 2]> = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
            sides.iter().filter(|[a, b]| a < b && sides.contains(&[*b, *a])).count()
        };
        for (bending, kind) in [(Bending::Hinges, Hinge::INFO), (Bending::Isometric, IsometricBend::INFO)] {
            let (scene, cut) = cut(bending, keep);
            assert_eq!(scene.constraint_count_of(kind), inner(&scene, &cut), "{name}");
        }
    }
}

#[test]
fn a_hanging_cut_cloth_agrees_on_both_backends_in_every_execution() {
    let gpu = common::gpu();
    for (name, keep) in SHAPES {
        if name == "corner" {
            continue;
        }
        for bending in [Bending::Springs, Bending::Hinges] {
            let (mut scene, cut) = cut(bending, keep);
            let pins: Vec<u32> = cut.points.iter().flatten().copied().take(3).collect();
            pins.iter().for_each(|&pin| scene.pin(pin).unwrap());
            for execution in [Execution::Auto, Execution::Colors, Execution::Tiles, Execution::Clusters] {
                let settings = Settings { execution, substeps: 10, damping: 1.0, ..Settings::default() };
                let mut ends = Vec::new();
                for mut backend in backends(&gpu, &scene, settings) {
                    backend.step(40);
                    let positions = backend.read_positions().unwrap();
                    let strain = scene.strain(cut.cloth.structural.clone(), &positions).unwrap();
                    assert!(strain.mean < 0.02, "{name} {bending:?} {execution:?} {}: {strain:?}", backend.name());
                    assert!(pins.iter().all(|&pin| positions[pin as usize] == scene.positions()[pin as usize]));
                    ends.push(positions);
                }
                if common::is_exact(&gpu) {
                    assert_eq!(ends[0], ends[1], "{name} {bending:?} {execution:?}");
                }
            }
        }
    }
}

#[test]
fn tethers_of_a_cut_cloth_go_around_its_holes() {
    // A U that hangs by the end of one arm and unfolds to more than 4 m. A tether across the gap would stop the other
    // end at 2 m.
    let mut scene = Scene::new();
    let tethers = Some(Tethers { per_particle: 1, scale: 1.0 });
    let grid = ClothGrid { tethers, ..grid(13, 11, Bending::None) };
    let cut = scene.add_cloth_grid_where(&grid, |c, r| !(1..11).contains(&c) || r == 9).unwrap();
    let ends = [cut.points[0].unwrap(), cut.points[12].unwrap()];
    scene.pin(ends[0]).unwrap();
    let mut reference = Reference::new(&scene, Settings { damping: 0.5, ..Settings::default() }).unwrap();
    let mut farthest = 0.0f64;
    for _ in 0..240 {
        reference.step(1);
        let positions = reference.read_positions().unwrap();
        farthest = farthest.max(distance(positions[ends[0] as usize], positions[ends[1] as usize]));
    }
    let strain = scene.strain(cut.cloth.structural.clone(), &reference.read_positions().unwrap()).unwrap();
    assert!((3.5..4.9).contains(&farthest) && strain.mean < 0.02, "{farthest} m, {strain:?}");
}

#[test]
fn a_grid_without_kept_cells_is_rejected_and_adds_nothing() {
    let mut scene = Scene::new();
    let error = scene.add_cloth_grid_where(&grid(4, 4, Bending::Springs), |_, _| false).unwrap_err();
    assert!(matches!(error, Error::Empty { what } if what.contains("cells")), "{error}");
    let narrow = grid(1, 4, Bending::Springs);
    assert!(matches!(scene.add_cloth_grid_where(&narrow, |_, _| true), Err(Error::InvalidValue { .. })));
    let wrong = ClothGrid { tethers: Some(Tethers { per_particle: 99, scale: 1.0 }), ..grid(4, 4, Bending::Springs) };
    assert!(scene.add_cloth_grid_where(&wrong, |c, _| c > 0).is_err());
    assert_eq!(scene.particle_count(), 0);
}
