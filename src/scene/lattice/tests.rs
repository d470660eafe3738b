use super::*;

type Surface = (Vec<[f32; 3]>, Vec<[u32; 3]>);

/// The surface of a box, with 12 triangles.
fn cuboid(low: [f32; 3], high: [f32; 3]) -> Surface {
    let corner = |index: usize| [0, 1, 2].map(|axis| if index >> axis & 1 == 0 { low[axis] } else { high[axis] });
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    ((0..8).map(corner).collect(), triangles)
}

/// A unit sphere: an icosahedron with `levels` subdivisions of every triangle into four.
fn icosphere(levels: u32) -> Surface {
    let golden = (1.0 + 5.0f64.sqrt()) / 2.0;
    let mut points: Vec<DVec3> = Vec::new();
    for [a, b] in [[1.0, golden], [-1.0, golden], [1.0, -golden], [-1.0, -golden]] {
        points.extend([DVec3::new(0.0, a, b), DVec3::new(a, b, 0.0), DVec3::new(b, 0.0, a)]);
    }
    // The 20 triangles are all triples at mutual distance 2.
    let near = |a: usize, b: usize| (points[a].distance(points[b]) - 2.0).abs() < 1e-9;
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in (b + 1..12).filter(|&c| near(a, b) && near(b, c) && near(c, a)) {
                let outward = points[a].dot(points[b].cross(points[c])) > 0.0;
                triangles.push(if outward { [a, b, c] } else { [a, c, b] }.map(|vertex| vertex as u32));
            }
        }
    }
    points.iter_mut().for_each(|point| *point = point.normalize());
    for _ in 0..levels {
        let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                points.push((points[a as usize] + points[b as usize]).normalize());
                points.len() as u32 - 1
            })
        };
        let mut quarter = |[a, b, c]: [u32; 3]| {
            let [d, e, f] = [middle(a, b), middle(b, c), middle(c, a)];
            [[a, d, f], [d, b, e], [f, e, c], [d, e, f]]
        };
        triangles = triangles.iter().flat_map(|&triangle| quarter(triangle)).collect();
    }
    (points.iter().map(|point| point.as_vec3().into()).collect(), triangles)
}

/// A torus around the z axis.
fn torus(major: f32, minor: f32, around: u32, across: u32) -> Surface {
    let mut surface = Surface::default();
    let turn = |index: u32, count: u32| index as f32 / count as f32 * std::f32::consts::TAU;
    for i in 0..around {
        for j in 0..across {
            let [u, v] = [turn(i, around), turn(j, across)];
            let radius = major + minor * v.cos();
            surface.0.push([radius * u.cos(), radius * u.sin(), minor * v.sin()]);
            let at = |i: u32, j: u32| i % around * across + j % across;
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            surface.1.extend([[a, b, c], [a, c, d]]);
        }
    }
    surface
}

fn moved(surface: &Surface, map: impl Fn(DVec3) -> DVec3) -> Surface {
    let map = |&position: &[f32; 3]| map(DVec3::from(position.map(f64::from))).as_vec3().into();
    (surface.0.iter().map(map).collect(), surface.1.clone())
}

/// Applies a fixed arbitrary rotation.
fn turned(point: DVec3) -> DVec3 {
    glam::DQuat::from_euler(glam::EulerRot::XYZ, 0.7, -0.4, 1.1) * point
}

fn build((positions, triangles): &Surface, spacing: f32) -> Lattice {
    Lattice::new(positions, triangles, spacing).unwrap()
}

fn corner(lattice: &Lattice, vertex: u32) -> DVec3 {
    DVec3::from(lattice.positions[vertex as usize].map(f64::from))
}

fn volume_of(lattice: &Lattice, tetrahedron: [u32; 4]) -> f64 {
    let [a, b, c, d] = tetrahedron.map(|vertex| corner(lattice, vertex));
    (b - a).dot((c - a).cross(d - a)) / 6.0
}

fn total_volume(lattice: &Lattice) -> f64 {
    lattice.tetrahedra.iter().map(|&tetrahedron| volume_of(lattice, tetrahedron)).sum()
}

fn filled_volume(lattice: &Lattice) -> f64 {
    let pairs = lattice.tetrahedra.iter().zip(&lattice.fill);
    pairs.map(|(&tetrahedron, &fill)| volume_of(lattice, tetrahedron) * f64::from(fill)).sum()
}

/// Asserts the invariants of every lattice and returns the number of its connected components.
fn check(surface: &Surface, lattice: &Lattice, spacing: f64) -> usize {
    assert_eq!(lattice.tetrahedra.len(), lattice.fill.len());
    assert_eq!(surface.0.len(), lattice.embedding.len());
    let largest = surface.0.as_flattened().iter().fold(0.0f32, |largest, x| largest.max(x.abs()));
    let rounding = f64::from(largest * f32::EPSILON);
    for (&tetrahedron, &fill) in lattice.tetrahedra.iter().zip(&lattice.fill) {
        assert!(volume_of(lattice, tetrahedron) > 0.5 * spacing.powi(3) / 6.0);
        assert!((Lattice::LEAST_FILL..=1.0).contains(&fill));
    }
    let sets: HashSet<[u32; 4]> = lattice.tetrahedra.iter().copied().map(sorted).collect();
    for (&position, embedded) in surface.0.iter().zip(&lattice.embedding) {
        assert!(sets.contains(&sorted(embedded.particles)));
        assert!(embedded.weights.iter().all(|weight| (0.0..=1.0).contains(weight)), "{:?}", embedded.weights);
        assert!((embedded.weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        let terms = embedded.particles.iter().zip(embedded.weights);
        let place: DVec3 = terms.map(|(&vertex, weight)| f64::from(weight) * corner(lattice, vertex)).sum();
        let error = place.distance(DVec3::from(position.map(f64::from)));
        assert!(error < 1e-6 * spacing + 4.0 * rounding, "{error:e}");
    }

    // Every face has one or two tetrahedra; faces of one form the closed boundary, which faces outwards.
    let mut faces: HashMap<[u32; 3], u32> = HashMap::new();
    let mut parent: Vec<usize> = (0..lattice.positions.len()).collect();
    for &[a, b, c, d] in &lattice.tetrahedra {
        for face in [[b, c, d], [a, c, d], [a, b, d], [a, b, c]] {
            *faces.entry(sorted(face)).or_default() += 1;
        }
        for vertex in [b, c, d] {
            let [from, to] = [find(&parent, vertex as usize), find(&parent, a as usize)];
            parent[from] = to;
        }
    }
    assert!(faces.values().all(|&count| count <= 2));
    let boundary = boundary_triangles(&lattice.tetrahedra);
    assert_eq!(boundary.len(), faces.values().filter(|&&count| count == 1).count());
    let enclosed: f64 = boundary
        .iter()
        .map(|triangle| {
            let [a, b, c] = triangle.map(|vertex| corner(lattice, vertex) - corner(lattice, 0));
            a.dot(b.cross(c)) / 6.0
        })
        .sum();
    assert!((enclosed / total_volume(lattice) - 1.0).abs() < 1e-6);
    let edges = edges(&lattice.tetrahedra);
    assert_eq!(edges.len(), edges.iter().collect::<HashSet<_>>().len());
    assert!(edges.iter().all(|[a, b]| a < b));
    covered(surface, spacing as f32);
    let roots: HashSet<usize> = lattice.tetrahedra.iter().map(|t| find(&parent, t[0] as usize)).collect();
    // Vertices without a tetrahedron would be separate roots.
    assert_eq!(roots.len(), (0..parent.len()).filter(|&vertex| parent[vertex] == vertex).count());
    roots.len()
}

/// Asserts that every point of the surface lies in a kept cube, within the tolerance.
fn covered((positions, triangles): &Surface, spacing: f32) {
    let grid = Grid::new(positions, spacing).unwrap();
    let points: Vec<DVec3> = positions.iter().map(|&position| grid.place(position)).collect();
    let kept = volume::inside_cubes(&grid, &points, triangles, 1.0);
    let kept: HashSet<[u32; 3]> = kept.iter().map(|cube| cube.at).collect();
    const STEPS: u32 = 24;
    for triangle in triangles {
        let [a, b, c] = triangle.map(|vertex| points[vertex as usize]);
        for [u, v] in (0..=STEPS * STEPS).map(|step| [step % STEPS, step / STEPS]).filter(|[u, v]| u + v <= STEPS) {
            let point = a + (f64::from(u) * (b - a) + f64::from(v) * (c - a)) / f64::from(STEPS);
            let cubes = (0..8).map(|corner: usize| {
                let side = |axis: usize| if corner >> axis & 1 == 0 { -1.0 } else { 1.0 };
                [0, 1, 2].map(|axis| grid.cell(axis, point[axis] + 1.01 * grid.tolerance * side(axis)))
            });
            assert!({ cubes }.any(|cube| kept.contains(&cube)), "{point}");
        }
    }
}

fn sorted<const N: usize>(mut indices: [u32; N]) -> [u32; N] {
    indices.sort_unstable();
    indices
}

fn find(parent: &[usize], mut vertex: usize) -> usize {
    while parent[vertex] != vertex {
        vertex = parent[vertex];
    }
    vertex
}

fn close(value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() < tolerance, "{value} against {expected}");
}

#[test]
fn unit_cube() {
    let cube = cuboid([0.0; 3], [1.0; 3]);
    for (spacing, cells) in [(0.25, 4), (0.1, 10), (1.0 / 3.0, 3), (0.3, 4), (0.7, 2), (1.0, 1), (5.0, 1)] {
        let lattice = build(&cube, spacing);
        assert_eq!(check(&cube, &lattice, spacing.into()), 1);
        assert_eq!(lattice.tetrahedra.len(), 5 * cells * cells * cells);
        assert_eq!(lattice.positions.len(), (cells + 1) * (cells + 1) * (cells + 1));
        assert!(total_volume(&lattice) > 1.0 - 1e-6);
        close(filled_volume(&lattice), 1.0, if spacing < 2.0 { 1e-4 } else { 2e-2 });
        close(lattice.volume.into(), 1.0, 1e-6);
    }
    // If the body is flush with the lattice, all cubes are full and no empty layer is added.
    assert!(build(&cube, 0.25).fill.iter().all(|&fill| fill > 0.999_999));
}

/// Faces on lattice planes inside the grid do not add cubes beyond them.
#[test]
fn flush_steps() {
    let steps = [cuboid([0.0; 3], [1.0; 3]), cuboid([2.0; 3], [3.0; 3])];
    let joined = join(&steps);
    for shift in [0.0, 0.1, 7.3] {
        let joined = moved(&joined, |point| 0.1 * point + shift);
        let lattice = build(&joined, 0.05);
        assert_eq!(check(&joined, &lattice, 0.05), 2);
        assert_eq!(lattice.tetrahedra.len(), 2 * 8 * 5);
    }
}

fn join(surfaces: &[Surface]) -> Surface {
    let mut joined = Surface::default();
    for (positions, triangles) in surfaces {
        let base = joined.0.len() as u32;
        joined.0.extend(positions);
        joined.1.extend(triangles.iter().map(|triangle| triangle.map(|vertex| base + vertex)));
    }
    joined
}

#[test]
fn sphere() {
    let sphere = icosphere(3);
    for spacing in [0.1, 0.17, 0.5, 3.0] {
        let lattice = build(&sphere, spacing);
        assert_eq!(check(&sphere, &lattice, spacing.into()), 1);
        let polyhedron = enclosed_volume(&sphere.0, &sphere.1, DVec3::ZERO).unwrap();
        close(filled_volume(&lattice), polyhedron, if spacing < 1.0 { 1e-3 } else { 2e-2 });
        close(lattice.volume.into(), polyhedron, 1e-6);
    }
}

/// The fill of each tetrahedron is its fraction of points inside, and no tetrahedron with inside points is missing.
#[test]
fn fill_is_exact() {
    let half = DVec3::new(0.8, 0.37, 0.55);
    let tilted = moved(&cuboid((-half).as_vec3().into(), half.as_vec3().into()), turned);
    let back = glam::DQuat::from_euler(glam::EulerRot::XYZ, 0.7, -0.4, 1.1).inverse();
    let lattice = build(&tilted, 0.23);
    check(&tilted, &lattice, 0.23);
    close(filled_volume(&lattice), 8.0 * half.x * half.y * half.z, 1e-3);
    const STEPS: u32 = 16;
    for (&tetrahedron, &fill) in lattice.tetrahedra.iter().zip(&lattice.fill) {
        let [a, b, c, d] = tetrahedron.map(|vertex| corner(&lattice, vertex));
        let mut inside = [0, 0];
        for index in 0..STEPS.pow(3) {
            let [x, y, z] =
                [index, index / STEPS, index / STEPS / STEPS].map(|i| (f64::from(i % STEPS) + 0.5) / f64::from(STEPS));
            if x + y + z < 1.0 {
                let point = back * (a + x * (b - a) + y * (c - a) + z * (d - a));
                inside[1] += 1;
                inside[0] += u32::from(point.abs().cmple(half).all());
            }
        }
        let sampled = f64::from(inside[0]) / f64::from(inside[1]);
        assert!((f64::from(fill) - sampled).abs() < 0.06, "{fill} against {sampled}");
    }
}

#[test]
fn torus_keeps_its_hole() {
    let ring = torus(1.0, 0.3, 64, 24);
    for spacing in [0.1, 0.2] {
        let lattice = build(&ring, spacing);
        assert_eq!(check(&ring, &lattice, spacing.into()), 1);
        let nearest = lattice.positions.iter().map(|p| p[0].hypot(p[1])).fold(f32::INFINITY, f32::min);
        assert!(nearest > 0.7 - 1.8 * spacing, "{nearest}");
        close(filled_volume(&lattice), lattice.volume.into(), 1e-3);
        close(lattice.volume.into(), 2.0 * std::f64::consts::PI.powi(2) * 0.09, 0.02);
    }
}

#[test]
fn cavity_stays_empty() {
    let [outer, mut inner] = [icosphere(2), moved(&icosphere(2), |point| 0.6 * point)];
    inner.1.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    let shell = join(&[outer, inner]);
    let lattice = build(&shell, 0.1);
    assert_eq!(check(&shell, &lattice, 0.1), 1);
    assert!(lattice.positions.iter().all(|&position| glam::Vec3::from(position).length() > 0.3));
    close(filled_volume(&lattice), lattice.volume.into(), 1e-3);
}

#[test]
fn overlaps_count_once() {
    let pair = join(&[cuboid([0.0; 3], [1.0; 3]), cuboid([0.5; 3], [1.5; 3])]);
    let lattice = build(&pair, 0.25);
    check(&pair, &lattice, 0.25);
    close(filled_volume(&lattice), 2.0 - 0.125, 1e-3);
}

#[test]
fn thin_plates_are_kept_whole() {
    for axis in 0..3 {
        let mut high = [1.0; 3];
        high[axis] = 0.002;
        let plate = cuboid([0.0; 3], high);
        let lattice = build(&plate, 0.1);
        assert_eq!(check(&plate, &lattice, 0.1), 1);
        assert_eq!(lattice.tetrahedra.len(), 500);
        close(filled_volume(&lattice), 0.002, 0.02);
        let tilted = moved(&plate, turned);
        let lattice = build(&tilted, 0.1);
        assert_eq!(check(&tilted, &lattice, 0.1), 1);
        close(filled_volume(&lattice), 0.002, 0.02);
    }
    // A needle, thin along two axes.
    let needle = moved(&cuboid([0.0; 3], [1.0, 0.003, 0.002]), turned);
    let lattice = build(&needle, 0.1);
    assert_eq!(check(&needle, &lattice, 0.1), 1);
}

#[test]
fn far_from_the_origin() {
    let near = icosphere(2);
    let far = moved(&near, |point| point + DVec3::new(1000.0, -700.0, 300.0));
    let lattice = build(&far, 0.2);
    assert_eq!(check(&far, &lattice, 0.2), 1);
    assert_eq!(lattice.tetrahedra.len(), build(&near, 0.2).tetrahedra.len());
    close(filled_volume(&lattice), lattice.volume.into(), 2e-3);
}

#[test]
fn deterministic_and_either_way_round() {
    let mut sphere = icosphere(2);
    let lattice = build(&sphere, 0.15);
    assert_eq!(lattice, build(&sphere, 0.15));
    sphere.1.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    let flipped = build(&sphere, 0.15);
    assert_eq!(lattice.positions, flipped.positions);
    assert_eq!(lattice.tetrahedra, flipped.tetrahedra);
    assert_eq!(lattice.embedding, flipped.embedding);
    assert!(lattice.fill.iter().zip(&flipped.fill).all(|(a, b)| (a - b).abs() < 1e-6));
}

#[test]
fn unused_vertices_are_tied_to_the_first() {
    let mut cube = cuboid([0.0; 3], [1.0; 3]);
    cube.0.push([0.5, 0.5, 0.5]);
    let lattice = build(&cube, 0.25);
    assert_eq!(lattice.embedding[8], Embedded { particles: [0; 4], weights: [1.0, 0.0, 0.0, 0.0] });
}

#[test]
fn errors() {
    let (positions, triangles) = cuboid([0.0; 3], [1.0; 3]);
    let fail = |positions: &[[f32; 3]], triangles: &[[u32; 3]], spacing| {
        Lattice::new(positions, triangles, spacing).unwrap_err()
    };
    assert_eq!(fail(&[], &triangles, 0.1), Error::Empty { what: "vertex list of a surface" });
    assert_eq!(fail(&positions, &[], 0.1), Error::Empty { what: "triangle list of a surface" });
    for spacing in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-6] {
        assert!(matches!(fail(&positions, &triangles, spacing), Error::InvalidValue { .. }));
    }
    let too_large = fail(&positions, &triangles, 0.002);
    assert!(matches!(too_large, Error::TooLarge { count: 125_000_000, limit: 20_000_000, .. }), "{too_large}");
    let mut broken = positions.clone();
    broken[3][1] = f32::NAN;
    assert!(fail(&broken, &triangles, 0.1).to_string().contains("surface vertex 3"));
    broken[3][1] = f32::MAX;
    assert!(matches!(fail(&broken, &triangles, f32::MAX), Error::InvalidValue { .. }));
    let index = fail(&positions[..7], &triangles, 0.1);
    assert!(matches!(index, Error::IndexOutOfRange { index: 7, count: 7, .. }), "{index}");
    let mut repeated = triangles.clone();
    repeated[2] = [4, 5, 5];
    assert!(matches!(fail(&positions, &repeated, 0.1), Error::RepeatedIndex { index: 5, .. }));
    let flat: Vec<_> = positions.iter().map(|&[x, y, _]| [x, y, 0.5]).collect();
    assert!(matches!(fail(&flat, &triangles, 0.1), Error::InvalidValue { .. }));

    let open = |triangles: &[[u32; 3]]| match fail(&positions, triangles, 0.1) {
        Error::OpenSurface { boundary_edges, non_manifold_edges, inconsistent_edges, vertices } => {
            ([boundary_edges, non_manifold_edges, inconsistent_edges], vertices)
        }
        error => panic!("{error}"),
    };
    assert_eq!(open(&triangles[1..]), ([3, 0, 0], [0, 3]));
    let mut turned = triangles.clone();
    turned[0].swap(1, 2);
    assert_eq!(open(&turned), ([0, 0, 3], [0, 3]));
    let mut doubled = triangles.clone();
    doubled.push(triangles[0]);
    assert_eq!(open(&doubled), ([0, 3, 0], [0, 2]));
}
