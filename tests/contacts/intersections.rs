//! Tests the count of edge-triangle intersections against an integer oracle and against known counts.
//!
//! The oracle solves p + t (q − p) = a + u (b − a) + v (c − a) by Cramer's rule, in polynomials of the infinitesimals
//! that perturb the particles. It has no trees, no predicates and no order of tests.

use crate::common::shapes::CUBE;
use crate::common::thread_time;
use num_bigint::BigInt;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Add, Mul, Sub};
use supple::{
    ClothGrid, EdgeTriangle, Elasticity, Error, Intersections, Particle, Scene, SoftBody, count_intersections,
};

type Mesh = (Vec<[f32; 3]>, Vec<[u32; 3]>);

// ------------------------------------------------------------------------------------------------------ the oracle

trait Integer: Clone + PartialOrd + From<i64> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {}
impl<T: Clone + PartialOrd + From<i64> + Add<Output = T> + Sub<Output = T> + Mul<Output = T>> Integer for T {}

fn sign<T: Integer>(value: &T) -> i32 {
    i32::from(*value > T::from(0)) - i32::from(*value < T::from(0))
}

/// A polynomial in one infinitesimal: coefficients by exponent.
#[derive(Clone)]
struct Polynomial<T>(BTreeMap<u32, T>);

impl<T: Integer> Polynomial<T> {
    fn plus(mut self, other: &Self, factor: i64) -> Self {
        for (&exponent, value) in &other.0 {
            let sum = self.0.remove(&exponent).unwrap_or(T::from(0)) + value.clone() * T::from(factor);
            self.0.insert(exponent, sum);
        }
        self
    }

    fn times(&self, other: &Self) -> Self {
        let mut product = Self(BTreeMap::new());
        for (a, x) in &self.0 {
            let row = other.0.iter().map(|(b, y)| (a + b, x.clone() * y.clone())).collect();
            product = product.plus(&Self(row), 1);
        }
        product
    }

    /// The sign of the coefficient of the lowest power.
    fn sign(&self) -> i32 {
        self.0.values().map(sign).find(|&sign| sign != 0).unwrap_or(0)
    }
}

fn cross<T: Integer>(a: &[T; 3], b: &[T; 3]) -> [T; 3] {
    let minor = |i: usize, j: usize| a[i].clone() * b[j].clone() - a[j].clone() * b[i].clone();
    [minor(1, 2), minor(2, 0), minor(0, 1)]
}

fn minus<T: Integer>(a: &[T; 3], b: &[T; 3]) -> [T; 3] {
    std::array::from_fn(|axis| a[axis].clone() - b[axis].clone())
}

fn determinant<T: Integer>(a: &[T; 3], b: &[T; 3], c: &[T; 3]) -> T {
    let [x, y, z] = cross(b, c);
    a[0].clone() * x + a[1].clone() * y + a[2].clone() * z
}

fn polynomial_determinant<T: Integer>(rows: [&[Polynomial<T>; 3]; 3]) -> Polynomial<T> {
    let mut sum = Polynomial(BTreeMap::new());
    for ([i, j, k], factor) in
        [([0, 1, 2], 1), ([1, 2, 0], 1), ([2, 0, 1], 1), ([2, 1, 0], -1), ([1, 0, 2], -1), ([0, 2, 1], -1)]
    {
        sum = sum.plus(&rows[0][i].times(&rows[1][j]).times(&rows[2][k]), factor);
    }
    sum
}

/// Returns true if D, t D, (1 − t) D, u D, v D and (1 − u − v) D have one sign and none is 0; `None` if only zeros
/// decide.
fn one_sign(signs: [i32; 6]) -> Option<bool> {
    let (positive, negative) = (signs.contains(&1), signs.contains(&-1));
    if positive && negative {
        return Some(false);
    }
    if signs.contains(&0) { None } else { Some(true) }
}

/// Returns true if an edge (the first two) intersects a triangle (the other three). Each particle has a position and an
/// index.
fn passes<T: Integer>(particles: [([T; 3], u32); 5]) -> bool {
    let [p, q, a, b, c] = particles.each_ref().map(|(place, _)| place);
    let (d, e, f, r) = (minus(q, p), minus(a, b), minus(a, c), minus(a, p));
    let whole = determinant(&d, &e, &f);
    let (t, u, v) = (determinant(&r, &e, &f), determinant(&d, &r, &f), determinant(&d, &e, &r));
    let (before, w) = (whole.clone() - t.clone(), whole.clone() - u.clone() - v.clone());
    if let Some(decided) = one_sign([whole, t, before, u, v, w].each_ref().map(sign)) {
        return decided;
    }
    // The infinitesimal of axis k of the i-th particle, in order of position and index, is ε^(2^(3i + k)).
    let mut order = [0, 1, 2, 3, 4];
    order.sort_by(|&i, &j| particles[i].partial_cmp(&particles[j]).unwrap());
    let moved: [[Polynomial<T>; 3]; 5] = std::array::from_fn(|i| {
        let rank = order.iter().position(|&k| k == i).unwrap();
        std::array::from_fn(|axis| {
            Polynomial(BTreeMap::from([(0, particles[i].0[axis].clone()), (1 << (3 * rank + axis), T::from(1))]))
        })
    });
    let difference = |i: usize, j: usize| [0, 1, 2].map(|axis| moved[i][axis].clone().plus(&moved[j][axis], -1));
    let (d, e, f, r) = (difference(1, 0), difference(2, 3), difference(2, 4), difference(2, 0));
    let whole = polynomial_determinant([&d, &e, &f]);
    let t = polynomial_determinant([&r, &e, &f]);
    let (u, v) = (polynomial_determinant([&d, &r, &f]), polynomial_determinant([&d, &e, &r]));
    let (before, w) = (whole.clone().plus(&t, -1), whole.clone().plus(&u, -1).plus(&v, -1));
    one_sign([whole, t, before, u, v, w].each_ref().map(Polynomial::sign)).expect("an infinitesimal leaves no zeros")
}

/// Tests each edge against each triangle; `place` converts coordinates to exact integers.
fn oracle<T: Integer>((positions, triangles): &Mesh, place: impl Fn(f32) -> T) -> Vec<EdgeTriangle> {
    let places: Vec<[T; 3]> = positions.iter().map(|position| position.map(&place)).collect();
    let at = |particle: u32| places[particle as usize].clone();
    let mut edges = BTreeSet::new();
    for &[a, b, c] in triangles {
        edges.extend([[a.min(b), a.max(b)], [b.min(c), b.max(c)], [c.min(a), c.max(a)]]);
    }
    let mut found = Vec::new();
    for edge in edges.into_iter().filter(|&[p, q]| at(p) != at(q)) {
        for (&triangle, index) in triangles.iter().zip(0..) {
            let [a, b, c] = triangle.map(at);
            let has_area = cross(&minus(&b, &a), &minus(&c, &a)).iter().any(|part| sign(part) != 0);
            let five =
                [edge[0], edge[1], triangle[0], triangle[1], triangle[2]].map(|particle| (at(particle), particle));
            if has_area && !edge.iter().any(|particle| triangle.contains(particle)) && passes(five) {
                found.push(EdgeTriangle { edge, triangle: index });
            }
        }
    }
    found
}

// ------------------------------------------------------------------------------------------------------ meshes

/// An xorshift generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        for shift in [13, -7, 17] {
            self.0 ^= if shift > 0 { self.0 << shift } else { self.0 >> -shift };
        }
        (((self.0 >> 32) * u64::from(end)) >> 32) as u32
    }
}

fn soup(random: &mut Random, particles: u32, triangles: u32, mut coordinate: impl FnMut(&mut Random) -> f32) -> Mesh {
    let positions = (0..particles).map(|_| [0; 3].map(|_| coordinate(random))).collect();
    (positions, (0..triangles).map(|_| [0; 3].map(|_| random.below(particles))).collect())
}

fn count((positions, triangles): &Mesh) -> Intersections {
    count_intersections(positions, triangles).unwrap()
}

/// A sheet of square cells; `place` maps column and row to a position.
fn sheet(columns: u32, rows: u32, place: impl Fn(f32, f32) -> [f32; 3]) -> Mesh {
    let mut mesh = Mesh::default();
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        mesh.0.push(place(column as f32, row as f32));
        if row + 1 < rows && column + 1 < columns {
            let a = row * columns + column;
            mesh.1.extend([[a, a + 1, a + columns + 1], [a, a + columns + 1, a + columns]]);
        }
    }
    mesh
}

/// Both meshes together; the particles of the second follow those of the first.
fn joined((mut positions, mut triangles): Mesh, second: &Mesh) -> Mesh {
    let first = positions.len() as u32;
    positions.extend(&second.0);
    triangles.extend(second.1.iter().map(|triangle| triangle.map(|particle| particle + first)));
    (positions, triangles)
}

/// One triangle, used for its edges.
fn needle(p: [f32; 3], q: [f32; 3], far: [f32; 3]) -> Mesh {
    (vec![p, q, far], vec![[0, 1, 2]])
}

fn moved((positions, triangles): &Mesh, place: impl Fn([f32; 3]) -> [f32; 3]) -> Mesh {
    (positions.iter().map(|&position| place(position)).collect(), triangles.clone())
}

/// The same surfaces with other indices, corners and orders, and `pairs` with the new indices.
fn relabelled(random: &mut Random, (positions, triangles): &Mesh, pairs: &[EdgeTriangle]) -> (Mesh, Vec<EdgeTriangle>) {
    let mut shuffled = |count: usize| {
        let mut order: Vec<u32> = (0..count as u32).collect();
        (1..count).rev().for_each(|k| order.swap(k, random.below(k as u32 + 1) as usize));
        order
    };
    let (to, triangle_to) = (shuffled(positions.len()), shuffled(triangles.len()));
    let mut new: Mesh = (vec![[0.0; 3]; positions.len()], vec![[0; 3]; triangles.len()]);
    to.iter().zip(positions).for_each(|(&index, &position)| new.0[index as usize] = position);
    for (&index, triangle) in triangle_to.iter().zip(triangles) {
        let mut triangle = triangle.map(|particle| to[particle as usize]);
        triangle.rotate_left(index as usize % 3);
        if index % 2 == 1 {
            triangle.swap(0, 1);
        }
        new.1[index as usize] = triangle;
    }
    let renamed = |pair: &EdgeTriangle| {
        let [a, b] = pair.edge.map(|particle| to[particle as usize]);
        EdgeTriangle { edge: [a.min(b), a.max(b)], triangle: triangle_to[pair.triangle as usize] }
    };
    let mut pairs: Vec<_> = pairs.iter().map(renamed).collect();
    pairs.sort();
    (new, pairs)
}

const TRIANGLE: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];

// ------------------------------------------------------------------------------------------------------ single pairs

#[test]
fn two_triangles_that_cross_are_found_with_edge_and_triangle() {
    let flat: Mesh = (TRIANGLE.to_vec(), vec![[0, 1, 2]]);
    // Both edges at the low corner intersect the flat triangle.
    let through = joined(flat.clone(), &needle([1.0, 1.0, -1.0], [1.0, 1.0, 1.0], [0.5, 1.0, 2.0]));
    let found = count(&through);
    let pair = |edge| EdgeTriangle { edge, triangle: 0 };
    assert_eq!(found, Intersections { count: 2, pairs: vec![pair([3, 4]), pair([3, 5])] });
    // One edge of each triangle intersects the other triangle.
    let hooked = joined(flat.clone(), &needle([1.0, 1.0, -1.0], [1.0, 1.0, 1.0], [1.0, -9.0, 0.5]));
    let crossed = EdgeTriangle { edge: [0, 1], triangle: 1 };
    assert_eq!(count(&hooked).pairs, [crossed, pair([3, 4])]);
    // Just in front of the triangle, and just behind it.
    for (low, high) in [(f32::from_bits(1), 1.0), (-1.0, -f32::from_bits(1)), (1.0, 2.0)] {
        let apart = joined(flat.clone(), &needle([1.0, 1.0, low], [1.0, 1.0, high], [0.5, 1.0, high]));
        assert_eq!(count(&apart), Intersections::default(), "{low} {high}");
    }
    // Just outside the border.
    let x = 2.0 + 2.0 * f32::EPSILON;
    assert_eq!(count(&joined(flat, &needle([x, 2.0, -1.0], [x, 2.0, 1.0], [9.0, 9.0, 1.0]))).count, 0);
}

#[test]
fn neighbours_do_not_count_but_their_far_edges_do() {
    let positions =
        vec![[0.0; 3], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [1.0, 1.0, 1.0], [1.0, 1.0, -1.0], [-9.0, 0.0, 1.0]];
    // Triangles with a common edge, flat and folded onto each other.
    assert_eq!(count(&(positions.clone(), vec![[0, 1, 2], [1, 0, 3]])).count, 0);
    let folded = vec![[0.0; 3], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [1.0, 1.0, 0.0]];
    assert_eq!(count(&(folded, vec![[0, 1, 2], [1, 0, 3]])).count, 0);
    // A common corner: the edge opposite to it intersects the other triangle, the edges at the corner do not.
    let found = count(&(positions.clone(), vec![[0, 1, 2], [0, 3, 4]]));
    assert_eq!(found.pairs, [EdgeTriangle { edge: [3, 4], triangle: 0 }]);
    assert_eq!(count(&(positions, vec![[0, 1, 2], [0, 3, 5]])).count, 0);
    // Flat cloth: neighbours are coplanar and touch; the same in a vertical plane.
    assert_eq!(count(&sheet(20, 20, |x, y| [x, y, 0.0])).count, 0);
    assert_eq!(count(&sheet(20, 20, |x, y| [x, x, y])).count, 0);
}

#[test]
fn coplanar_triangles_are_counted_by_the_rule() {
    let flat: Mesh = (TRIANGLE.to_vec(), vec![[0, 1, 2]]);
    for k in 0..9 {
        let shift = k as f32;
        let mesh = joined(flat.clone(), &moved(&flat, |[x, y, z]| [x + shift, y, z]));
        let found = count(&mesh);
        assert_eq!(found.pairs, oracle(&mesh, |x| x as i128), "shifted by {k}");
        assert!(k <= 4 || found.count == 0, "shifted by {k}");
    }
}

#[test]
fn elements_without_area_or_length_do_not_count() {
    // Degenerate triangles (a line, a point, a repeated particle) that are intersected, or intersect another one.
    let through = needle([1.0, 0.0, -1.0], [1.0, 0.0, 1.0], [1.0, 0.0, 2.0]);
    for line in [[[0.0; 3], [2.0, 0.0, 0.0], [4.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]; 3]] {
        assert_eq!(count(&joined((line.to_vec(), vec![[0, 1, 2]]), &through)).count, 0);
    }
    let twice = (vec![[0.0; 3], [2.0, 0.0, 0.0]], vec![[0, 1, 1], [1, 1, 1]]);
    assert_eq!(count(&joined(twice, &through)).count, 0);
    let point = (vec![[1.0, 1.0, 0.0]; 3], vec![[0, 1, 2]]);
    assert_eq!(count(&joined((TRIANGLE.to_vec(), vec![[0, 1, 2]]), &point)).count, 0);
    // A collapsed triangle still has an edge.
    let stick = (vec![[1.0, 1.0, -1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], vec![[0, 1, 2]]);
    let found = count(&joined((TRIANGLE.to_vec(), vec![[0, 1, 2]]), &stick));
    assert_eq!(found.pairs, [[3, 4], [3, 5]].map(|edge| EdgeTriangle { edge, triangle: 0 }));
    // A whole cloth at one point.
    assert_eq!(count(&sheet(50, 50, |_, _| [1.0; 3])).count, 0);
    assert_eq!(count_intersections(&[], &[]), Ok(Intersections::default()));
}

// ------------------------------------------------------------------------------------------------------ no gaps

#[test]
fn through_an_edge_or_a_vertex_of_a_sheet_counts_once() {
    let sheet = sheet(5, 5, |x, y| [x, y, 0.0]);
    for (what, at) in [
        ("a vertex", [2.0, 2.0]),
        ("an edge along x", [2.5, 2.0]),
        ("an edge along y", [2.0, 1.25]),
        ("a diagonal", [1.5, 1.5]),
        ("a triangle", [1.5, 1.25]),
    ] {
        for ([dx, dy], turn) in [[0.0, 0.0], [1.0, 0.0], [-1.0, 0.5], [-0.5, -1.0], [1.0, 1.0]]
            .into_iter()
            .flat_map(|d| (0..8u32).map(move |k| (d, k)))
        {
            let [x, y] = at;
            let along = |t: f32| [x + dx * t, y + dy * t, t];
            // The needle has no area; both edges from its low end coincide.
            let needle = needle(along(-1.0), along(1.0), along(31.0));
            // The tie-breaking rule depends on the order of positions, so each direction is tested.
            let mirrored = |position: [f32; 3]| {
                std::array::from_fn(|axis| if turn >> axis & 1 == 1 { -position[axis] } else { position[axis] })
            };
            let both = moved(&joined(sheet.clone(), &needle), mirrored);
            let first = sheet.0.len() as u32;
            let found = count(&both);
            let of = |edge: [u32; 2]| found.pairs.iter().filter(|pair| pair.edge == edge).count();
            assert_eq!(of([first, first + 1]), 1, "{what}, slope {dx} {dy}, turn {turn}");
            assert_eq!(of([first, first + 2]), 1, "{what}, slope {dx} {dy}, turn {turn}");
            assert_eq!(found.count, 2, "{what}, slope {dx} {dy}, turn {turn}");
        }
    }
}

#[test]
fn a_closed_surface_is_left_once_and_passed_an_even_number_of_times() {
    let corners = [[2, 0, 0], [-2, 0, 0], [0, 2, 0], [0, -2, 0], [0, 0, 2], [0, 0, -2]].map(|c| c.map(|x| x as f32));
    let mut faces = Vec::new();
    for (x, y, z) in [(0, 2, 4), (0, 2, 5), (0, 3, 4), (0, 3, 5), (1, 2, 4), (1, 2, 5), (1, 3, 4), (1, 3, 5)] {
        faces.push([x, y, z]);
    }
    let octahedron: Mesh = (corners.to_vec(), faces);
    let mut random = Random(7);
    let (mut left, mut passed) = (0, 0);
    for turn in 0..3000 {
        let mut point = |far: u32| [0; 3].map(|_| random.below(2 * far + 1) as f32 - far as f32);
        let (p, q) = (if turn % 2 == 0 { point(1) } else { point(4) }, point(4));
        let size = |point: [f32; 3]| point.iter().map(|x| x.abs()).sum::<f32>();
        if size(p) == 2.0 || size(q) == 2.0 || p == q {
            continue;
        }
        // A needle without area: its edges are pq, twice.
        let found = count(&joined(octahedron.clone(), &needle(p, q, q)));
        let of = |edge: [u32; 2]| found.pairs.iter().filter(|pair| pair.edge == edge).count();
        let crossings = of([6, 7]);
        if (size(p) < 2.0) != (size(q) < 2.0) {
            assert_eq!(crossings, 1, "from {p:?} to {q:?}");
            left += 1;
        } else {
            // Both ends outside, or both inside.
            assert!(crossings == 0 || crossings == 2 && size(p) > 2.0, "from {p:?} to {q:?}: {crossings}");
            passed += crossings / 2;
        }
    }
    assert!(left > 200 && passed > 100, "{left} {passed}");
}

#[test]
fn a_curtain_with_a_row_of_particles_in_the_plane_of_a_sheet_is_counted() {
    // Rows and columns of the curtain meet those of the sheet exactly, at particles and at edge midpoints.
    for (offset, step) in [(1.0, 1.0), (1.5, 1.0), (1.0, 0.5), (1.25, 0.25)] {
        for y in [3.0, 2.5] {
            let floor = sheet(8, 8, |x, y| [x, y, 0.0]);
            let curtain = sheet(4, 5, |x, z| [offset + step * x, y, z - 2.0]);
            let first = floor.0.len() as u32;
            let found = count(&joined(floor.clone(), &curtain));
            for column in 0..4 {
                let particle = |row: u32| first + 4 * row + column;
                let ways = |pair: &&EdgeTriangle| (0..4).any(|row| pair.edge == [particle(row), particle(row + 1)]);
                assert_eq!(found.pairs.iter().filter(ways).count(), 1, "{offset} {step} {y} {column}");
            }
            // One huge triangle in place of the floor, with no edge nearby.
            let huge = (vec![[-1e6, -1e6, 0.0], [1e6, -1e6, 0.0], [0.0, 1e6, 0.0]], vec![[0, 1, 2]]);
            assert!(count(&joined(huge, &curtain)).count >= 4 + 3);
        }
    }
}

// ------------------------------------------------------------------------------------------------------ against the oracle

#[test]
fn soups_of_small_integers_agree_with_the_oracle() {
    let mut random = Random(1);
    let (mut pairs, mut soups) = (0, 0);
    // Smaller ranges have more coplanar, collinear and coincident points.
    for range in [2, 3, 4, 5, 8, 16, 100, 1 << 20] {
        for _ in 0..40 {
            let (particles, triangles) = (6 + random.below(20), 4 + random.below(12));
            let mesh = soup(&mut random, particles, triangles, |random| random.below(range) as f32);
            let expected = oracle(&mesh, |x| x as i128);
            let found = count(&mesh);
            assert_eq!(found.pairs, expected, "{mesh:?}");
            assert_eq!(found.count, expected.len());
            pairs += expected.len();
            soups += 1;
        }
    }
    assert!(soups >= 200 && pairs > 2000, "{soups} soups, {pairs} pairs");
}

#[test]
fn soups_of_all_sizes_of_numbers_agree_with_the_oracle() {
    // Each coordinate has its own magnitude, so f64 differences round and products differ widely.
    let mut random = Random(2);
    let mut pairs = 0;
    for exponents in [&[0, 30][..], &[0, 60], &[-40, 0, 40], &[-149, 0, 100], &[-149, -126, 125], &[100, 124]] {
        for _ in 0..15 {
            let mesh = soup(&mut random, 10, 8, |random| {
                let exponent = exponents[random.below(exponents.len() as u32) as usize];
                ((f64::from(random.below(7)) - 3.0) * 2f64.powi(exponent)) as f32
            });
            // Units of the smallest f32, 2⁻¹⁴⁹.
            let whole = |x: f32| {
                let bits = x.abs().to_bits();
                let (exponent, mantissa) = (bits >> 23, i64::from(bits & 0x7f_ffff));
                let mantissa = if exponent > 0 { mantissa + (1 << 23) } else { mantissa };
                (BigInt::from(mantissa) << exponent.saturating_sub(1)) * if x < 0.0 { -1 } else { 1 }
            };
            let expected = oracle(&mesh, whole);
            assert_eq!(count(&mesh).pairs, expected, "{mesh:?}");
            pairs += expected.len();
        }
    }
    assert!(pairs > 200, "{pairs}");
}

#[test]
fn nearly_flat_triangles_agree_with_the_oracle() {
    // Coplanar points, exactly or off by the last bit; f64 alone cannot decide.
    let mut random = Random(3);
    let mut pairs = 0;
    for _ in 0..60 {
        let mesh = soup(&mut random, 14, 10, |random| random.below(64) as f32);
        let lifted = moved(&mesh, |[x, y, _]| {
            let z = (1 << 23) as f32 + x + 2.0 * y;
            [x, y, if (x + y) % 3.0 == 0.0 { f32::from_bits(z.to_bits() + 1) } else { z }]
        });
        let expected = oracle(&lifted, |x| x as i128);
        assert_eq!(count(&lifted).pairs, expected, "{lifted:?}");
        pairs += expected.len();
    }
    assert!(pairs > 200, "{pairs}");
}

// ------------------------------------------------------------------------------------------------------ known counts

/// A strip that runs up, down and up again through itself, with `pieces` (odd) straight pieces per leg. Rows shift
/// sideways, so no two meet. Legs 1 and 3 intersect in the middle of their middle pieces.
fn looped(rows: u32, pieces: u32) -> Mesh {
    let way = [[-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, 1.0f32]];
    sheet(3 * pieces + 1, rows + 1, |s, row| {
        let along = s / pieces as f32;
        let leg = (along.floor() as usize).min(2);
        let part = along - leg as f32;
        let at = |axis: usize| way[leg][axis] * (1.0 - part) + way[leg + 1][axis] * part;
        [at(0), row + 0.125 * along, at(1)]
    })
}

#[test]
fn a_cloth_folded_through_itself_has_the_intersections_of_its_geometry() {
    // The line of intersection crosses n + 1 edges and n diagonals of each leg. It runs from y = 1/16 to n + 1/16 on
    // one leg, and from 5/16 to n + 5/16 on the other. So the first edge of one leg and the last of the other miss.
    for (rows, pieces) in [(1, 1), (10, 1), (10, 5), (37, 9), (300, 3)] {
        let mesh = looped(rows, pieces);
        let found = count(&mesh);
        assert_eq!(found.count, 4 * rows as usize, "{rows} rows, {pieces} pieces");
        assert_eq!(found.pairs.len(), found.count.min(1000));
        assert!(found.pairs.is_sorted_by(|a, b| a < b));
        if mesh.1.len() <= 60 {
            let scale = |x: f32| BigInt::from((f64::from(x) * 2f64.powi(60)) as i128);
            assert_eq!(found.pairs, oracle(&mesh, scale));
        }
    }
}

#[test]
fn distance_without_contact_never_counts() {
    // Two layers one ulp apart, and a roll with close turns.
    let gap = 1.0 + f32::EPSILON;
    let layers = joined(sheet(40, 40, |x, y| [x, y, 1.0]), &sheet(40, 40, |x, y| [x, y, gap]));
    assert_eq!(count(&layers).count, 0);
    let roll = sheet(400, 10, |s, row| {
        let (radius, angle) = (1.0 + 0.001 * s, 0.05 * s);
        [radius * angle.cos(), row, radius * angle.sin()]
    });
    assert_eq!(count(&roll).count, 0);
}

#[test]
fn counts_do_not_depend_on_names_or_place() {
    let mut random = Random(4);
    let mut all = 0;
    for range in [3, 4, 8, 1000] {
        for _ in 0..25 {
            // All positions are distinct, because only the index distinguishes particles at the same position.
            let (mut positions, triangles) = soup(&mut random, 16, 14, |random| random.below(range) as f32);
            let mut seen = BTreeSet::new();
            for position in &mut positions {
                while !seen.insert(position.map(f32::to_bits)) {
                    *position = [0; 3].map(|_| random.below(range) as f32);
                }
            }
            let mesh = (positions, triangles);
            let found = count(&mesh);
            let (other, pairs) = relabelled(&mut random, &mesh, &found.pairs);
            assert_eq!(count(&other).pairs, pairs, "{mesh:?}");
            let shifted = moved(&mesh, |[x, y, z]| [x + 4096.0, y - 1e6, z + 0.5]);
            assert_eq!(count(&shifted), found, "{mesh:?}");
            let scaled = moved(&mesh, |position| position.map(|x| x * 2f32.powi(-100)));
            assert_eq!(count(&scaled), found, "{mesh:?}");
            all += found.count;
        }
    }
    assert!(all > 1000, "{all}");
    // Without contact, mirroring and exchanging axes do not change the result.
    let mesh = looped(12, 3);
    let found = count(&mesh);
    let places: [fn([f32; 3]) -> [f32; 3]; 4] =
        [|[x, y, z]| [-x, y, z], |[x, y, z]| [x, -y, -z], |[x, y, z]| [-x, -y, -z], |[x, y, z]| [z, x, y]];
    for place in places {
        assert_eq!(count(&moved(&mesh, place)), found);
    }
}

// ------------------------------------------------------------------------------------------------------ scenes

#[test]
fn surfaces_of_a_scene_count_followers_among_them() {
    let mut scene = Scene::new();
    let cloth = ClothGrid { columns: 9, rows: 9, ..ClothGrid::default() };
    scene.add_cloth_grid(&cloth).unwrap();
    assert_eq!(scene.intersections(scene.positions()), Ok(Intersections::default()));
    let corners: Vec<[f32; 3]> =
        (0..8).map(|k| [k & 1, k >> 1 & 1, k >> 2].map(|bit| 0.3 * bit as f32 - 0.16)).collect();
    let body = SoftBody {
        positions: &corners,
        triangles: &CUBE,
        spacing: 0.1,
        density: 1000.0,
        elasticity: Elasticity::Elastic { young: 1e5, bulk: 0.0, damping_time: 0.0 },
    };
    let first_triangle = scene.triangle_count() as u32;
    scene.add_soft_body(&body).unwrap();
    let found = scene.intersections(scene.positions()).unwrap();
    // The four vertical edges of the box and the diagonals of its faces intersect the cloth; edges of the cloth
    // intersect the faces.
    let through_cloth = found.pairs.iter().filter(|pair| pair.triangle < first_triangle).count();
    assert_eq!(through_cloth, 4 + 4, "{found:?}");
    assert!(found.count > through_cloth, "{found:?}");
    let raised: Vec<[f32; 3]> =
        scene.positions().iter().enumerate().map(|(k, &[x, y, z])| [x, if k < 81 { y + 1.0 } else { y }, z]).collect();
    assert_eq!(scene.intersections(&raised).unwrap().count, 0);
}

#[test]
fn bad_input_is_an_error() {
    let mut scene = Scene::new();
    scene.add_particle(Particle::default()).unwrap();
    let what = "positions and particles";
    assert_eq!(scene.intersections(&[]), Err(Error::LengthMismatch { what, left: 0, right: 1 }));
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let error = scene.intersections(&[[0.0, bad, 0.0]]).unwrap_err();
        assert!(matches!(&error, Error::InvalidValue { what, .. } if what == "position of particle 0"), "{error}");
    }
    let error = count_intersections(&TRIANGLE, &[[0, 1, 2], [0, 1, 3]]).unwrap_err();
    let expected = Error::IndexOutOfRange { what: "triangle 1".into(), target: "particle", index: 3, count: 3 };
    assert_eq!(error, expected);
}

#[test]
fn one_huge_triangle_and_outlying_particles_add_no_time() {
    let start = thread_time();
    let cloth = sheet(100, 100, |x, y| [x, y, (x * 0.3).sin()]);
    let clean = count(&cloth);
    assert_eq!(clean.count, 0);
    // A huge vertical triangle through the middle of a cell.
    let huge = needle([50.3, 40.2, -1e30], [50.3, 40.2, 1e30], [f32::MAX, 40.2, 1e30]);
    let found = count(&joined(cloth.clone(), &huge));
    assert!(found.pairs.iter().any(|pair| pair.edge == [10_000, 10_001]), "{:?}", found.pairs);
    // Edges of the cloth along y intersect it at x = 51 to 99, diagonals at 51.2 to 98.2.
    assert_eq!(found.pairs.iter().filter(|pair| pair.triangle as usize == cloth.1.len()).count(), 49 + 48);
    // Distant particles, every tenth of them near the limits of f32.
    let mut astray = cloth;
    for (k, position) in astray.0.iter_mut().enumerate().filter(|(k, _)| k % 1000 == 0) {
        *position = if k % 2000 == 0 { [f32::MAX; 3] } else { [-1e30, 1e30, -f32::MAX] };
    }
    count(&astray);
    let time = thread_time() - start;
    assert!(time.as_secs() < 20, "{time:?}");
}

#[test]
fn a_large_folded_cloth_takes_little_time() {
    let start = thread_time();
    let count_of = |side: u32, fold: &dyn Fn(f32, f32) -> [f32; 3]| count(&sheet(side, side, fold)).count;
    let side = if cfg!(debug_assertions) { 100 } else { 316 };
    // Ten pleats, closer than the cell width; then flat, with every test degenerate.
    let width = side as f32 / 10.0;
    let pleats = |x: f32, y: f32| {
        let layer = (x / width).floor();
        let part = x - width * layer;
        [if layer % 2.0 == 0.0 { part } else { width - part }, y + 0.01 * layer, 0.1 * layer + 0.1 * part / width]
    };
    assert_eq!(count_of(side, &pleats), 0);
    let folded = thread_time() - start;
    assert_eq!(count_of(side, &|x, y| [x, y, 0.0]), 0);
    let flat = thread_time() - start - folded;
    println!("{side} x {side}: {folded:?} folded, {flat:?} flat");
    let limit = if cfg!(debug_assertions) { 10.0 } else { 2.0 };
    assert!((folded + flat).as_secs_f64() < limit, "{folded:?} {flat:?}");
}
