//! The colouring is valid, complete, small and deterministic, and the order within a colour has no influence on the
//! result.

use crate::common::thread_time;
use std::collections::BTreeSet;
use std::time::Duration;

use supple::internals::coloring::{Coloring, HUB_DEGREE, Span};
use supple::{ClothGrid, ClothMesh, Distance, Fabric, Material, Particle, Reference, Scene, Settings};

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    /// A number in −½ to ½.
    fn centered(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    }

    fn shuffle<T>(&mut self, values: &mut [T]) {
        for place in (1..values.len()).rev() {
            values.swap(place, self.below(place + 1));
        }
    }
}

/// The particles of constraints, `arity` for each.
struct Graph {
    name: String,
    particles: Vec<u32>,
    arity: usize,
    particle_count: usize,
}

impl Graph {
    fn len(&self) -> usize {
        self.particles.len() / self.arity
    }

    fn coloring(&self) -> Coloring {
        Coloring::greedy(&self.particles, self.arity, self.particle_count)
    }

    fn max_degree(&self) -> usize {
        let mut degree = vec![0; self.particle_count];
        self.particles.iter().for_each(|&particle| degree[particle as usize] += 1);
        degree.into_iter().max().unwrap_or(0)
    }

    fn of_scene(name: String, scene: &Scene) -> Self {
        let all = 0..scene.constraint_count() as u32;
        let particles = scene.distances(all).flat_map(|distance| distance.particles).collect();
        Self { name, particles, arity: 2, particle_count: scene.particle_count() }
    }

    /// Constraints between random particles.
    fn random(random: &mut Random, arity: usize, particle_count: usize, count: usize) -> Self {
        let mut particles: Vec<u32> = Vec::with_capacity(count * arity);
        for _ in 0..count {
            let start = particles.len();
            while particles.len() < start + arity {
                let particle = random.below(particle_count) as u32;
                if !particles[start..].contains(&particle) {
                    particles.push(particle);
                }
            }
        }
        Self {
            name: format!("{count} random constraints of {arity} among {particle_count}"),
            particles,
            arity,
            particle_count,
        }
    }

    /// A graph in which each particle has `degree` constraints of arity 2: the union of random cycles, shuffled.
    fn regular(random: &mut Random, particle_count: usize, degree: usize) -> Self {
        let mut pairs = Vec::new();
        for _ in 0..degree / 2 {
            let mut order: Vec<u32> = (0..particle_count as u32).collect();
            random.shuffle(&mut order);
            let next = order.iter().cycle().skip(1);
            pairs.extend(order.iter().zip(next).map(|(&a, &b)| [a, b]));
        }
        random.shuffle(&mut pairs);
        let particles = pairs.into_iter().flatten().collect();
        Self { name: format!("random {degree}-regular graph of {particle_count}"), particles, arity: 2, particle_count }
    }
}

/// A flat cloth of the given triangles, with its edges and bending springs.
fn mesh_graph(name: String, points: &[[f32; 2]], triangles: &[[u32; 3]]) -> Graph {
    let positions: Vec<[f32; 3]> = points.iter().map(|&[x, z]| [x, 0.0, z]).collect();
    let mut scene = Scene::new();
    let mesh = ClothMesh { positions: &positions, triangles, fabric: Fabric::default(), tethers: None };
    scene.add_cloth_mesh(&mesh).unwrap();
    Graph::of_scene(name, &scene)
}

/// A jittered grid whose cells are cut along random diagonals.
fn irregular_mesh(seed: u64, columns: usize, rows: usize) -> Graph {
    let random = &mut Random(seed);
    let mut points = Vec::new();
    for k in 0..columns * rows {
        let (r, c) = ((k / columns) as f32, (k % columns) as f32);
        points.push([c + 0.4 * random.centered(), r + 0.4 * random.centered()]);
    }
    let mut triangles = Vec::new();
    for r in 0..rows - 1 {
        for c in 0..columns - 1 {
            let at = |down: usize, across: usize| ((r + down) * columns + c + across) as u32;
            let [a, b, d, e] = [at(0, 0), at(0, 1), at(1, 0), at(1, 1)];
            triangles.extend(if random.below(2) == 0 { [[a, d, b], [b, d, e]] } else { [[a, d, e], [a, e, b]] });
        }
    }
    // Shuffled, as an exporter may order them.
    random.shuffle(&mut triangles);
    mesh_graph(format!("{columns} × {rows} irregular mesh, seed {seed}"), &points, &triangles)
}

/// The Delaunay triangulation of random points in a square (Bowyer 1981, Watson 1981).
fn delaunay_mesh(seed: u64, count: usize) -> Graph {
    let random = &mut Random(seed);
    let points: Vec<[f64; 2]> = (0..count).map(|_| [0, 1].map(|_| f64::from(random.centered()))).collect();
    let big = [[-9.0, -9.0], [9.0, -9.0], [0.0, 9.0]];
    let at = |vertex: usize| points.get(vertex).copied().unwrap_or_else(|| big[vertex - count]);
    let contains = |triangle: &[usize; 3], p: [f64; 2]| {
        let [a, b, c] = triangle.map(|vertex| [at(vertex)[0] - p[0], at(vertex)[1] - p[1]]);
        let square = |v: [f64; 2]| v[0] * v[0] + v[1] * v[1];
        let cross = |v: [f64; 2], w: [f64; 2]| v[0] * w[1] - v[1] * w[0];
        square(a) * cross(b, c) + square(b) * cross(c, a) + square(c) * cross(a, b) > 0.0
    };
    let mut triangles = vec![[count, count + 1, count + 2]];
    for (vertex, &point) in points.iter().enumerate() {
        let mut rim = BTreeSet::new();
        triangles.retain(|triangle| {
            let inside = contains(triangle, point);
            if inside {
                let [a, b, c] = *triangle;
                for (from, to) in [(a, b), (b, c), (c, a)] {
                    // An edge between two removed triangles occurs in both directions.
                    if !rim.remove(&(to, from)) {
                        rim.insert((from, to));
                    }
                }
            }
            !inside
        });
        triangles.extend(rim.into_iter().map(|(from, to)| [from, to, vertex]));
    }
    triangles.retain(|triangle| triangle.iter().all(|&vertex| vertex < count));
    let triangles: Vec<[u32; 3]> = triangles.iter().map(|triangle| triangle.map(|vertex| vertex as u32)).collect();
    let points: Vec<[f32; 2]> = points.iter().map(|point| point.map(|component| component as f32)).collect();
    mesh_graph(format!("Delaunay mesh of {count} random points, seed {seed}"), &points, &triangles)
}

fn meshes() -> Vec<Graph> {
    let irregular = [(1, 8, 8), (2, 30, 20), (3, 64, 64), (4, 100, 100), (5, 40, 40), (6, 13, 90)];
    let delaunay = [(7, 50), (8, 400), (9, 1500)];
    let irregular = irregular.map(|(seed, columns, rows)| irregular_mesh(seed, columns, rows));
    irregular.into_iter().chain(delaunay.map(|(seed, count)| delaunay_mesh(seed, count))).collect()
}

fn grid_scene(columns: u32, rows: u32) -> Scene {
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns, rows, tethers: None, ..ClothGrid::default() }).unwrap();
    scene
}

fn random_graphs() -> Vec<Graph> {
    let random = &mut Random(77);
    let sizes = [(2, 10, 40), (2, 500, 500), (2, 500, 2500), (2, 500, 5000), (3, 300, 1000), (3, 300, 3000)];
    let more = [(4, 400, 500), (4, 400, 2000), (4, 400, 4000), (1, 20, 20), (2, 3, 100), (4, 4, 50)];
    let mut graphs: Vec<_> = sizes
        .iter()
        .chain(&more)
        .map(|&(arity, particles, count)| Graph::random(random, arity, particles, count))
        .collect();
    graphs.extend([2, 4, 8, 16, 32, 46].map(|degree| Graph::regular(random, 600, degree)));
    graphs
}

/// Checks all requirements on a colouring.
fn check(graph: &Graph, coloring: &Coloring) {
    let name = &graph.name;
    let conflict = coloring.find_conflict(&graph.particles, graph.arity, graph.particle_count);
    assert_eq!(conflict, None, "{name}");
    // Complete: each constraint occurs once in the order, and each entry of the order is in one colour or in the
    // overflow.
    let mut order = coloring.order.clone();
    order.sort_unstable();
    assert!(order.iter().copied().eq(0..graph.len() as u32), "{name}: the order is no permutation");
    let mut end = 0;
    for span in coloring.colors.iter().chain([&coloring.overflow]) {
        assert_eq!(span.first, end, "{name}: {span:?}");
        end += span.count;
    }
    assert_eq!(end as usize, graph.len(), "{name}: the spans");
    assert!(coloring.colors.iter().all(|span| span.count > 0), "{name}: an empty colour");
    // Checked independently of `find_conflict`.
    for &span in &coloring.colors {
        let mut particles = BTreeSet::new();
        for &constraint in &coloring.order[span.range()] {
            for &particle in &graph.particles[constraint as usize * graph.arity..][..graph.arity] {
                assert!(particles.insert(particle), "{name}: particle {particle} twice in {span:?}");
            }
        }
    }
    // Each colour is sorted by the lowest particle. The overflow is in the order of insertion, which fixes the order of
    // its sums.
    for &span in &coloring.colors {
        let lowest = |&constraint: &u32| {
            graph.particles[constraint as usize * graph.arity..][..graph.arity].iter().copied().min()
        };
        assert!(coloring.order[span.range()].is_sorted_by_key(lowest), "{name}: {span:?} is not sorted");
    }
    assert!(coloring.order[coloring.overflow.range()].is_sorted(), "{name}: the overflow is not sorted");
    let colors = coloring.color_of_constraints();
    let overflow = colors.iter().filter(|color| color.is_none()).count();
    assert_eq!(overflow, coloring.overflow.count as usize, "{name}");
    assert_eq!(coloring.histogram().iter().sum::<u32>() as usize + overflow, graph.len(), "{name}");
}

#[test]
fn colorings_are_valid_and_complete() {
    for graph in random_graphs().iter().chain(&meshes()) {
        check(graph, &graph.coloring());
    }
}

#[test]
fn small_random_graphs_are_colored_validly() {
    let random = &mut Random(5);
    for _ in 0..2000 {
        let arity = 1 + random.below(4);
        let particle_count = arity + random.below(12);
        let count = random.below(60);
        let graph = Graph::random(random, arity, particle_count, count);
        check(&graph, &graph.coloring());
    }
}

#[test]
fn the_same_constraints_get_the_same_colors() {
    for graph in random_graphs().iter().chain(&meshes()) {
        assert!(graph.coloring() == graph.coloring(), "{}", graph.name);
    }
}

#[test]
fn colors_of_cloth_meshes_are_at_most_one_more_than_the_degree() {
    // The degree is a lower bound, and Vizing's theorem gives degree + 1 as an upper bound. First fit guarantees only
    // twice the degree, but by descending degree it meets Vizing's bound on meshes.
    for graph in meshes() {
        let (coloring, degree) = (graph.coloring(), graph.max_degree());
        println!("{}: {} constraints, degree {degree}, {} colours", graph.name, graph.len(), coloring.colors.len());
        assert_eq!(coloring.overflow.count, 0, "{}", graph.name);
        assert!(coloring.colors.len() <= degree + 1, "{}: {} of {degree}", graph.name, coloring.colors.len());
    }
}

#[test]
fn colors_of_random_graphs_stay_below_the_bound_of_first_fit() {
    for graph in random_graphs() {
        let (coloring, degree) = (graph.coloring(), graph.max_degree());
        let overflow = coloring.overflow.count;
        let colors = coloring.colors.len();
        println!("{}: degree {degree}, {colors} colours, {overflow} in the overflow", graph.name);
        // A constraint shares each of its particles with at most Δ − 1 others.
        let bound = graph.arity * degree.saturating_sub(1) + 1;
        assert!(colors <= bound, "{}: {colors} of {bound}", graph.name);
        if degree <= HUB_DEGREE && bound <= 64 {
            assert_eq!(overflow, 0, "{}", graph.name);
        }
    }
}

#[test]
fn a_grid_cloth_needs_twelve_colors() {
    // Two colours for each of six directions. Inner particles have twelve springs, so this is the minimum.
    for (columns, rows) in [(5, 5), (16, 16), (33, 7), (64, 64), (101, 100)] {
        let graph = Graph::of_scene(format!("{columns} × {rows} grid"), &grid_scene(columns, rows));
        let coloring = graph.coloring();
        check(&graph, &coloring);
        assert_eq!(graph.max_degree(), 12, "{}", graph.name);
        assert_eq!(coloring.colors.len(), 12, "{}: {:?}", graph.name, coloring.histogram());
        assert_eq!(coloring.overflow.count, 0, "{}", graph.name);
    }
}

#[test]
fn a_planted_conflict_is_found() {
    let graph = Graph::of_scene("grid".into(), &grid_scene(9, 9));
    let find = |coloring: &Coloring| coloring.find_conflict(&graph.particles, 2, graph.particle_count);
    let good = graph.coloring();
    assert_eq!(find(&good), None);

    // Merges two colours.
    let mut merged = good.clone();
    let second = merged.colors.remove(4);
    merged.colors[3].count += second.count;
    let conflict = find(&merged).expect("a conflict");
    assert_eq!(conflict.color, Some(3));
    let [a, b] = conflict.constraints.map(|c| &graph.particles[c as usize * 2..][..2]);
    assert!(a.iter().any(|particle| b.contains(particle)), "{a:?} and {b:?} share nothing");

    // Moves a constraint of the next colour into this colour, where it conflicts.
    let mut shifted = good.clone();
    let last = shifted.colors.len() - 2;
    shifted.colors[last].count += 1;
    shifted.colors[last + 1].first += 1;
    shifted.colors[last + 1].count -= 1;
    assert_eq!(find(&shifted).map(|conflict| conflict.color), Some(Some(last as u32)));

    // One constraint occurs twice.
    let mut doubled = good.clone();
    doubled.order[7] = doubled.order[3];
    let conflict = find(&doubled).expect("a conflict");
    assert_eq!((conflict.color, conflict.constraints), (None, [good.order[3]; 2]));
}

#[test]
fn a_missing_constraint_is_found() {
    let graph = Graph::of_scene("grid".into(), &grid_scene(9, 9));
    let find = |coloring: &Coloring| coloring.find_conflict(&graph.particles, 2, graph.particle_count);
    // The last constraint does not occur.
    let mut short = graph.coloring();
    short.order.pop();
    short.colors.last_mut().expect("a colour").count -= 1;
    assert!(find(&short).is_some(), "a constraint that stands nowhere");
    // It is in the order, but in no colour.
    let mut uncovered = graph.coloring();
    uncovered.colors.last_mut().expect("a colour").count -= 1;
    assert!(find(&uncovered).is_some(), "a constraint that no colour reaches");
}

#[test]
fn only_the_constraints_of_a_hub_are_solved_by_mass_splitting() {
    const SPOKES: u32 = 5000;
    let rim = |spoke: u32| 1 + spoke % SPOKES;
    let spokes = (0..SPOKES).flat_map(|spoke| [0, rim(spoke)]);
    let tire = (0..SPOKES).flat_map(|spoke| [rim(spoke), rim(spoke + 1)]);
    let graph = Graph {
        name: "wheel".into(),
        particles: spokes.chain(tire).collect(),
        arity: 2,
        particle_count: SPOKES as usize + 1,
    };
    let coloring = graph.coloring();
    check(&graph, &coloring);
    assert_eq!(coloring.overflow, Span { first: SPOKES, count: SPOKES });
    // A ring of even length.
    assert_eq!(coloring.histogram(), [SPOKES / 2; 2]);
    let colors = coloring.color_of_constraints();
    assert!(colors[..SPOKES as usize].iter().all(Option::is_none));
}

#[test]
fn a_particle_above_the_degree_limit_is_a_hub() {
    for (spokes, overflow) in [(HUB_DEGREE as u32, 0), (HUB_DEGREE as u32 + 1, HUB_DEGREE as u32 + 1)] {
        let particles = (1..=spokes).flat_map(|rim| [0, rim]).collect();
        let graph = Graph { name: "tree".into(), particles, arity: 2, particle_count: spokes as usize + 1 };
        let coloring = graph.coloring();
        check(&graph, &coloring);
        assert_eq!(coloring.overflow.count, overflow, "{spokes} spokes");
        assert_eq!(coloring.colors.len() as u32, spokes - overflow);
    }
}

#[test]
fn no_constraints_have_no_colors() {
    assert_eq!(Coloring::greedy(&[], 2, 10), Coloring::default());
    assert_eq!(Coloring::greedy(&[], 4, 0), Coloring::default());
}

#[test]
fn six_hundred_thousand_constraints_are_colored_within_a_second() {
    let graph = Graph::of_scene("large grid".into(), &grid_scene(317, 317));
    assert!(graph.len() >= 590_000, "{}", graph.len());
    // The best of three measurements, because the machine may be busy.
    let time = |_| {
        let start = thread_time();
        let coloring = graph.coloring();
        (thread_time() - start, coloring.colors.len())
    };
    let (best, colors) = (0..3).map(time).min().expect("three runs");
    println!("{} constraints, {colors} colours, {best:?}", graph.len());
    assert!(best < Duration::from_secs(1), "{best:?}");
}

/// The springs of a crumpled cloth in the given order, pinned at two corners.
fn springs(cloth: &Scene, order: &[u32]) -> Scene {
    let mut scene = Scene::new();
    for (&[x, y, z], &inverse_mass) in cloth.positions().iter().zip(cloth.inverse_masses()) {
        let position = [x, y + 0.02 * (9.0 * x + 4.0 * z).sin(), z];
        scene.add_particle(Particle { position, inverse_mass, ..Particle::default() }).unwrap();
    }
    // Constraints outside of grids would be solved as trees, which sum in the order of insertion.
    scene.add_grid(0..13 * 11, 13).unwrap();
    scene.pin(0).unwrap();
    scene.pin(12).unwrap();
    let all: Vec<Distance> = cloth.distances(0..cloth.constraint_count() as u32).collect();
    for &constraint in order {
        let material =
            Material { compliance: [0.0, 1e-6, 1e-4][constraint as usize % 3], damping: 5.0, ..Material::RIGID };
        scene.add(all[constraint as usize], material).unwrap();
    }
    scene
}

#[test]
fn the_order_within_a_color_changes_no_bit() {
    // Ordering by colour reproduces the colours: first fit gave each constraint its colour because earlier constraints
    // occupied each lower colour.
    let cloth = grid_scene(13, 11);
    let graph = Graph::of_scene("cloth".into(), &cloth);
    let coloring = graph.coloring();
    let settings = Settings { substeps: 4, iterations: 2, ..Settings::default() };
    let play = |order: &[u32]| {
        let mut reference = Reference::new(&springs(&cloth, order), settings).unwrap();
        reference.step(10);
        let lambdas = reference.read_lambdas::<Distance>().unwrap();
        let mut by_constraint = vec![0; order.len()];
        for (&constraint, lambda) in order.iter().zip(lambdas) {
            by_constraint[constraint as usize] = lambda.to_bits();
        }
        let bits = |vectors: Vec<[f32; 3]>| vectors.into_iter().map(|v| v.map(f32::to_bits)).collect::<Vec<_>>();
        (bits(reference.read_positions().unwrap()), bits(reference.read_velocities().unwrap()), by_constraint)
    };
    let in_order = play(&coloring.order);
    let insertion: Vec<u32> = (0..graph.len() as u32).collect();
    assert!(in_order == play(&insertion), "colour by colour is the order of insertion");
    let random = &mut Random(11);
    for round in 0..3 {
        let mut order = coloring.order.clone();
        coloring.colors.iter().for_each(|span| random.shuffle(&mut order[span.range()]));
        assert!(order != coloring.order);
        let shuffled = Graph::of_scene("shuffled".into(), &springs(&cloth, &order)).coloring();
        assert_eq!(shuffled.colors, coloring.colors, "round {round}");
        assert!(in_order == play(&order), "round {round}: the order within a colour shows");
    }
    // Negative control: the order across colours changes the result.
    let mut order = insertion;
    order.reverse();
    assert!(in_order.0 != play(&order).0);
}
