//! Meshes from files: polygons, encodings, welding, open seams, winding, texture coordinates.

use crate::common;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use supple::gpu::{VertexOutput, VertexTarget};
use supple::scene::{Topology, weld};
use supple::scene_file::{ObjMesh, SceneFile};
use supple::{ClothMesh, Error, Fabric, Reference, Scene, Shape, wgpu};

/// Random numbers in 0..1.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

type Vector = [f64; 3];

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn minus(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn length(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

/// The vector area of a triangle.
fn vector_area(corners: [Vector; 3]) -> Vector {
    cross(minus(corners[1], corners[0]), minus(corners[2], corners[0])).map(|component| 0.5 * component)
}

/// Three orthogonal axes.
fn frame(random: &mut impl FnMut() -> f64) -> [Vector; 3] {
    let mut direction = || [random() - 0.5, random() - 0.5, random() - 0.5];
    let unit = |v: Vector| v.map(|component| component / length(v));
    let u = unit(direction());
    let n = unit(cross(u, direction()));
    [u, cross(n, u), n]
}

/// A polygon in the plane of a frame, as an OBJ with one face.
fn face(points: &[[f64; 2]], [u, v, _]: [Vector; 3], offset: Vector) -> String {
    let mut text = String::new();
    for [x, y] in points {
        let place = [0, 1, 2].map(|axis| (u[axis] * x + v[axis] * y + offset[axis]) as f32);
        text.push_str(&format!("v {} {} {}\n", place[0], place[1], place[2]));
    }
    let corners: Vec<String> = (1..=points.len()).map(|corner| corner.to_string()).collect();
    text + "f " + &corners.join(" ") + "\n"
}

/// Checks that each triangle faces along the normal, that areas sum to that of the polygon, that the border consists of
/// its edges, and that the triangles form a disc.
fn check_triangulation(what: &str, points: &[[f64; 2]], mesh: &ObjMesh, normal: Vector) {
    let count = points.len();
    assert_eq!(mesh.triangles.len(), count - 2, "{what}");
    let expected: f64 = (0..count)
        .map(|k| {
            let ([ax, ay], [bx, by]) = (points[k], points[(k + 1) % count]);
            0.5 * (ax * by - ay * bx)
        })
        .sum();
    let mut area = 0.0;
    let mut sides: HashMap<[u32; 2], u32> = HashMap::new();
    for &triangle in &mesh.triangles {
        let own = vector_area(triangle.map(|vertex| mesh.positions[vertex as usize].map(f64::from)));
        assert!(dot(own, normal) > 0.0, "{what}: {triangle:?} faces the other way");
        area += length(own);
        for side in 0..3 {
            *sides.entry([triangle[side], triangle[(side + 1) % 3]]).or_default() += 1;
        }
    }
    assert!((area - expected).abs() < 1e-4 * expected, "{what}: {area} instead of {expected}");
    let count = count as u32;
    for (&[from, to], &times) in &sides {
        assert_eq!(times, 1, "{what}");
        let border = to == (from + 1) % count;
        assert_ne!(sides.contains_key(&[to, from]), border, "{what}: the side {from} {to}");
    }
    assert!((0..count).all(|corner| sides.contains_key(&[corner, (corner + 1) % count])), "{what}: an edge is missing");
    // Cloth must accept the mesh.
    Topology::new(&mesh.positions, &mesh.triangles).unwrap_or_else(|error| panic!("{what}: {error}"));
}

fn parsed(what: &str, text: &str) -> ObjMesh {
    ObjMesh::parse(text).unwrap_or_else(|error| panic!("{what}: {error}\n{text}"))
}

#[test]
fn concave_faces_in_any_plane_become_triangles_inside_them() {
    let l = vec![[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
    let arrow = vec![[0.0, 0.0], [2.0, 1.0], [0.0, 2.0], [0.7, 1.0]];
    let star: Vec<[f64; 2]> = (0..14)
        .map(|k| {
            let (sin, cos) = (f64::from(k) * std::f64::consts::TAU / 14.0).sin_cos();
            let radius = if k % 2 == 0 { 1.0 } else { 0.2 };
            [radius * cos, radius * sin]
        })
        .collect();
    let mut comb = vec![[0.0, 0.0], [10.0, 0.0]];
    for tooth in (0..10).rev() {
        let x = f64::from(tooth);
        comb.extend([[x + 1.0, 3.0], [x + 0.6, 3.0], [x + 0.5, 0.1], [x + 0.4, 3.0], [x + 0.05, 3.0]]);
    }
    let mut random = random(3);
    for (name, polygon) in [("L", l), ("arrow", arrow), ("star", star), ("comb", comb)] {
        for turn in 0..20 {
            let axes = frame(&mut random);
            // With every corner as the first one.
            let mut points = polygon.clone();
            points.rotate_left(turn % polygon.len());
            let what = format!("{name} {turn}");
            let mesh = parsed(&what, &face(&points, axes, [random(), 3.0, -2.0]));
            check_triangulation(&what, &points, &mesh, axes[2]);
        }
    }
}

/// A random simple polygon: a star around the origin, or a monotone band with collinear corners.
fn simple_polygon(random: &mut impl FnMut() -> f64, count: usize) -> Vec<[f64; 2]> {
    if random() < 0.5 {
        let mut angles: Vec<f64> = (0..count).map(|k| (k as f64 + 0.8 * random()) / count as f64).collect();
        angles.sort_by(f64::total_cmp);
        return angles
            .into_iter()
            .map(|angle| {
                let ((sin, cos), radius) = ((angle * std::f64::consts::TAU).sin_cos(), 0.1 + random());
                [radius * cos, radius * sin]
            })
            .collect();
    }
    // The lower chain is at most 0, the upper one at least 1; some corners lie on an edge.
    let half = count / 2;
    let mut points: Vec<[f64; 2]> = Vec::new();
    for k in 0..half {
        let level = if random() < 0.6 { 0.0 } else { -0.9 * random() };
        points.push([k as f64, level]);
    }
    for k in (0..half).rev() {
        let level = if random() < 0.6 { 1.0 } else { 1.0 + 0.9 * random() };
        points.push([k as f64, level]);
    }
    points
}

#[test]
fn random_simple_polygons_keep_their_area_and_every_corner() {
    let mut random = random(7);
    for trial in 0..600 {
        let count = 4 + (random() * 40.0) as usize;
        let points = simple_polygon(&mut random, count.max(4) & !1);
        if points.len() < 4 {
            continue;
        }
        // Axis-aligned planes have exactly collinear corners, others up to rounding.
        let axes = match trial % 3 {
            0 => [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
            1 => [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]],
            _ => frame(&mut random),
        };
        let what = format!("trial {trial}");
        let mesh = parsed(&what, &face(&points, axes, [1.0, -2.0, 0.5]));
        check_triangulation(&what, &points, &mesh, axes[2]);
    }
}

#[test]
fn a_corner_on_an_edge_is_kept_and_the_mesh_conforms_to_its_neighbours() {
    // A sheet of two faces: vertex 0.5 0 0 is a convex corner of one face and collinear in the other.
    for first in ["f 1 4 3 2 5", "f 5 1 4 3 2", "f 2 5 1 4 3", "f 3 2 5 1 4"] {
        let text = format!("v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nv 0.5 0 0\nv 0.5 0 -1\n{first}\nf 1 5 6\nf 5 2 6\n");
        let mesh = parsed(first, &text);
        let report = Topology::new(&mesh.positions, &mesh.triangles).unwrap().report;
        assert_eq!(mesh.triangles.len(), 5, "{first}");
        assert_eq!((report.boundary_edges, report.is_clean()), (5, true), "{first}: {report:?}");
    }
    // A box of six faces with collinear corners at each edge is closed, and each triangle has a substantial area.
    let mut points: Vec<[i32; 3]> = Vec::new();
    let mut faces = String::new();
    for axis in 0..3 {
        for side in [0, 2] {
            let ring = [[0, 0], [1, 0], [2, 0], [2, 1], [2, 2], [1, 2], [0, 2], [0, 1]];
            let mut corners: Vec<usize> = ring
                .iter()
                .map(|&[u, v]| {
                    let mut point = [0; 3];
                    (point[axis], point[(axis + 1) % 3], point[(axis + 2) % 3]) = (side, u, v);
                    points.iter().position(|other| *other == point).unwrap_or_else(|| {
                        points.push(point);
                        points.len() - 1
                    })
                })
                .collect();
            if side == 0 {
                corners.reverse();
            }
            let words: Vec<String> = corners.iter().map(|corner| (corner + 1).to_string()).collect();
            faces += &format!("f {}\n", words.join(" "));
        }
    }
    let vertices: String = points.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n")).collect();
    let mesh = parsed("box", &(vertices + &faces));
    let report = Topology::new(&mesh.positions, &mesh.triangles).unwrap().report;
    assert!(report.is_closed() && report.is_clean(), "{report:?}");
    for triangle in &mesh.triangles {
        let area = length(vector_area(triangle.map(|vertex| mesh.positions[vertex as usize].map(f64::from))));
        assert!(area >= 0.5, "{triangle:?} {area}");
    }
}

#[test]
fn slightly_warped_faces_are_triangulated_and_convex_quads_keep_their_first_diagonal() {
    let mut random = random(5);
    for trial in 0..100 {
        let points = simple_polygon(&mut random, 16);
        let [u, v, n] = frame(&mut random);
        let mut text = String::new();
        for [x, y] in &points {
            let bump = 0.02 * (random() - 0.5);
            let place = [0, 1, 2].map(|axis| u[axis] * x + v[axis] * y + n[axis] * bump);
            text += &format!("v {} {} {}\n", place[0], place[1], place[2]);
        }
        let corners: Vec<String> = (1..=points.len()).map(|corner| corner.to_string()).collect();
        match ObjMesh::parse(&(text + "f " + &corners.join(" ") + "\n")) {
            Ok(mesh) => assert_eq!(mesh.triangles.len(), points.len() - 2, "{trial}"),
            Err(error) => panic!("{trial}: {error}"),
        }
    }
    let quad = parsed("quad", "v 0 0 0\nv 1 0 0.1\nv 1 1 0\nv 0 1 0.1\nf 1 2 3 4\nf 4 3 2 1\n");
    assert_eq!(quad.triangles, [[0, 1, 2], [0, 2, 3], [3, 2, 1], [3, 1, 0]]);
}

#[test]
fn faces_without_a_triangulation_are_rejected_with_their_line() {
    let square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.5 0 0\nv 0 0 0\nv 2 0 0\nv 3 0 0\n";
    let cases: [(&str, &[&str]); 10] = [
        ("f 1 3 2 4", &["line 10", "no area, or crosses itself"]),
        ("f 1 2 3 1 4", &["line 10", "vertex 1 twice"]),
        ("f 1 2 2", &["line 10", "vertex 2 twice"]),
        // Vertices 1 and 6 have the same position.
        ("f 1 6 1", &["line 10", "vertex 1 twice"]),
        ("f 1 6 6", &["line 10", "vertex 6 twice"]),
        ("f 1 2 3 6", &["line 10", "vertices 1 and 6", "same position"]),
        ("f 1 2 7 8", &["line 10", "no area"]),
        ("f 1 2 3 9", &["line 10", "vertex 9", "only 8"]),
        ("f 1/1 2/2 3/3", &["line 10", "texture coordinate 1", "only 0"]),
        ("f 4 7 2 5 3", &["line 10", "crosses itself"]),
    ];
    for (face, words) in cases {
        let error = ObjMesh::parse(&format!("{square}# a comment\n{face}\n")).unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "{face}: no {word:?} in {error}");
        }
    }
    let pentagram: Vec<[f64; 2]> = (0..5)
        .map(|k| {
            let (sin, cos) = (f64::from(k) * 2.0 * std::f64::consts::TAU / 5.0).sin_cos();
            [cos, sin]
        })
        .collect();
    let axes = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]];
    let error = ObjMesh::parse(&face(&pentagram, axes, [0.0; 3])).unwrap_err().to_string();
    assert!(error.contains("line 6") && error.contains("crosses itself"), "{error}");
}

#[test]
fn particles_fall_through_the_notch_of_a_concave_collider_and_rest_on_its_arms_on_both_backends() {
    // A U with single faces as caps and a channel along z, with vertical and then sloped walls.
    let shapes: [(&[[f64; 2]], f64); 2] = [
        (
            &[[-1.0, 0.0], [-1.0, -1.0], [1.0, -1.0], [1.0, 0.0], [0.4, 0.0], [0.4, -0.8], [-0.4, -0.8], [-0.4, 0.0]],
            -0.8,
        ),
        (
            &[[-1.0, 0.0], [-1.0, -2.0], [1.0, -2.0], [1.0, 0.0], [0.6, 0.0], [0.4, -1.5], [-0.4, -1.5], [-0.6, 0.0]],
            -1.5,
        ),
    ];
    let folder = folder("notches");
    let gpu = common::gpu();
    for (points, floor) in shapes {
        let count = points.len();
        let mut text = String::new();
        for z in [0.5, -0.5] {
            text.extend(points.iter().map(|[x, y]| format!("v {x} {y} {z}\n")));
        }
        let words =
            |corners: &[usize]| corners.iter().map(|corner| (corner + 1).to_string()).collect::<Vec<_>>().join(" ");
        let front: Vec<usize> = (0..count).collect();
        let back: Vec<usize> = (0..count).rev().map(|corner| corner + count).collect();
        text += &format!("f {}\nf {}\n", words(&front), words(&back));
        for corner in 0..count {
            let next = (corner + 1) % count;
            text += &format!("f {}\n", words(&[corner, corner + count, next + count, next]));
        }
        std::fs::write(folder.join("mesh.obj"), text).unwrap();
        let scene = r#"{"version": 1, "parts": [{"particles": {"positions": [[0, 0.3, 0], [0.2, 0.2, 0.2], [0.8, 0.3, 0], [-0.8, 0.3, 0.1]]}}],
            "colliders": [{"shape": {"mesh": {"obj": "mesh.obj", "cell": 0.05}}}]}"#;
        let file = SceneFile::parse(scene, Some(&folder)).unwrap();
        for mut backend in common::backends(&gpu, &file.scene, file.settings) {
            let mut fastest = 0.0f64;
            for _ in 0..90 {
                backend.step(1);
                let speeds =
                    backend.read_velocities().unwrap().into_iter().map(|velocity| length(velocity.map(f64::from)));
                fastest = speeds.fold(fastest, f64::max);
            }
            let heights: Vec<f64> =
                backend.read_positions().unwrap().iter().map(|position| f64::from(position[1])).collect();
            for (height, expected) in heights.iter().zip([floor, floor, 0.0, 0.0]) {
                assert!((height - expected).abs() < 0.03, "{} {heights:?} above {floor}", backend.name());
            }
            assert!(fastest < 7.0, "{} {fastest} m/s", backend.name());
        }
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

const CLOTH: &str = r#"{"version": 1, "parts": [{"cloth_mesh": {"mesh": {"obj": "mesh.obj"}}}]}"#;
const TRIANGLE: &str = "v 0 1 0\nv 1 1 0\nv 0 1 1\nf 1 3 2\n";

#[test]
fn files_may_begin_with_a_byte_order_mark_and_names_may_have_any_encoding() {
    let utf16 = |text: &str, big: bool| -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    };
    let marked = |text: &str| [b"\xef\xbb\xbf", text.as_bytes()].concat();
    let folder = folder("encodings");
    let latin = [b"o pi\xe8ce\ng \xff\xfe\nusemtl b\xe4r # caf\xe9\n".as_slice(), TRIANGLE.as_bytes()].concat();
    let meshes =
        [marked(TRIANGLE), TRIANGLE.into(), latin, utf16(TRIANGLE, false), utf16(TRIANGLE, true), marked("v 0 1 0\n")];
    for (index, mesh) in meshes.iter().enumerate() {
        std::fs::write(folder.join("mesh.obj"), mesh).unwrap();
        for scene in [marked(CLOTH), CLOTH.into(), utf16(CLOTH, false), utf16(CLOTH, true)] {
            std::fs::write(folder.join("scene.json"), scene).unwrap();
            let read = SceneFile::read(folder.join("scene.json"));
            if index == 5 {
                assert!(read.unwrap_err().to_string().contains("no faces"));
            } else {
                assert_eq!(read.unwrap().scene.positions()[0], [0.0, 1.0, 0.0], "mesh {index}");
            }
        }
        if index < 5 {
            assert_eq!(ObjMesh::read(folder.join("mesh.obj")).unwrap().triangles, [[0, 2, 1]]);
        }
    }
    SceneFile::parse(&format!("\u{feff}{CLOTH}"), Some(&folder)).unwrap_err();
    std::fs::write(folder.join("mesh.obj"), TRIANGLE).unwrap();
    SceneFile::parse(&format!("\u{feff}{CLOTH}"), Some(&folder)).unwrap();
    std::fs::write(folder.join("scene.json"), b"{\"version\": 1, \"title\": \"\xff\"}").unwrap();
    assert!(SceneFile::read(folder.join("scene.json")).unwrap_err().to_string().contains("UTF-8"));
}

#[cfg(unix)]
#[test]
fn paths_need_not_be_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder("paths").join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("mesh.obj"), TRIANGLE).unwrap();
    let scene = folder.join(std::ffi::OsStr::from_bytes(b"sc\xe8ne.json"));
    std::fs::write(&scene, CLOTH).unwrap();
    assert_eq!(SceneFile::read(&scene).unwrap().scene.particle_count(), 3);
    assert_eq!(ObjMesh::read(folder.join("mesh.obj")).unwrap().positions.len(), 3);
    let error = ObjMesh::read(folder.join(std::ffi::OsStr::from_bytes(b"\xe9.obj"))).unwrap_err();
    assert!(error.to_string().contains("cannot read"), "{error}");
}

/// A cylinder without caps; its seam has two columns of vertices, as texture coordinates require.
fn tube(around: u32, rows: u32) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let at = |r: u32, c: u32| r * (around + 1) + c;
    let mut positions = Vec::new();
    for r in 0..rows {
        for c in 0..=around {
            let (sin, cos) = ((c % around) as f32 * std::f32::consts::TAU / around as f32).sin_cos();
            positions.push([cos, r as f32 * 0.1, -sin]);
        }
    }
    let cells = (0..rows - 1).flat_map(|r| (0..around).map(move |c| (r, c)));
    let triangles = cells
        .flat_map(|(r, c)| {
            let [a, b, d, e] = [at(r, c), at(r, c + 1), at(r + 1, c), at(r + 1, c + 1)];
            [[a, b, d], [b, e, d]]
        })
        .collect();
    (positions, triangles)
}

#[test]
fn welding_joins_vertices_within_the_tolerance_and_returns_a_map() {
    let (mut positions, triangles) = tube(12, 5);
    let welded = weld(&positions, &triangles, 0.0).unwrap();
    assert_eq!((welded.positions.len(), welded.triangles.len()), (60, triangles.len()));
    for (vertex, &now) in welded.map.iter().enumerate() {
        assert_eq!(welded.positions[now as usize], positions[vertex]);
    }
    for (triangle, &source) in welded.triangles.iter().zip(&welded.sources) {
        assert_eq!(*triangle, triangles[source as usize].map(|vertex| welded.map[vertex as usize]));
    }
    let report = Topology::new(&welded.positions, &welded.triangles).unwrap().report;
    assert_eq!((report.boundary_edges, report.is_clean(), report.is_closed()), (24, true, false));
    let again = weld(&welded.positions, &welded.triangles, 0.0).unwrap();
    assert_eq!(again.positions, welded.positions);

    // An open seam, far from the origin and across the cells of any grid.
    for offset in [0.0f32, 1000.0] {
        for position in &mut positions {
            position[0] += offset;
        }
        positions[12][0] += 2e-3;
        assert_eq!(weld(&positions, &triangles, 1e-3).unwrap().positions.len(), 61);
        let welded = weld(&positions, &triangles, 3e-3).unwrap();
        assert_eq!((welded.positions.len(), welded.map[12]), (60, 0));
        positions[12][0] = positions[0][0];
    }
    // All vertices are merged into one point, and no triangle remains.
    let all = weld(&positions, &triangles, 1e4).unwrap();
    assert_eq!((all.positions.len(), all.triangles.len()), (1, 0));
    for bad in [-1e-6, f32::NAN, f32::INFINITY] {
        let error = weld(&positions, &triangles, bad).unwrap_err().to_string();
        assert!(error.contains("tolerance of a weld"), "{error}");
    }
    assert!(matches!(weld(&positions, &[[0, 1, 999]], 0.0), Err(Error::IndexOutOfRange { index: 999, .. })));
}

#[test]
fn no_two_welded_vertices_are_within_the_tolerance_and_none_has_moved_farther() {
    let mut random = random(11);
    for tolerance in [0.02f32, 0.1, 1e-30] {
        let positions: Vec<[f32; 3]> =
            (0..800).map(|_| [0, 1, 2].map(|axis| (random() * [1.0, 0.5, 0.1][axis]) as f32 - 0.3)).collect();
        let welded = weld(&positions, &[], tolerance).unwrap();
        let far = |a: [f32; 3], b: [f32; 3]| length(minus(a.map(f64::from), b.map(f64::from)));
        for (index, &a) in welded.positions.iter().enumerate() {
            assert!(welded.positions[..index].iter().all(|&b| far(a, b) > tolerance.into()));
        }
        for (&position, &now) in positions.iter().zip(&welded.map) {
            assert!(far(position, welded.positions[now as usize]) <= tolerance.into());
        }
    }
}

fn cloth_of(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> supple::scene::MeshReport {
    let mesh = ClothMesh { positions, triangles, fabric: Fabric::default(), tethers: None };
    Scene::new().add_cloth_mesh(&mesh).unwrap().report
}

#[test]
fn open_seams_are_counted_and_borders_are_not() {
    let (positions, triangles) = tube(12, 5);
    let report = cloth_of(&positions, &triangles);
    assert_eq!((report.coincident_vertices, report.is_clean(), report.is_closed()), (5, false, false));
    // A flat square with a border is consistent but not closed.
    let square = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, -0.0], [0.0, 1.0, 0.0]];
    let report = cloth_of(&square, &[[0, 1, 2], [0, 2, 3]]);
    assert_eq!((report.boundary_edges, report.is_clean(), report.is_closed()), (4, true, false));
    // −0 equals 0: two adjacent triangles without shared vertices.
    let apart =
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, -0.0, 0.0], [1.0, 1.0, 0.0], [-0.0, 1.0, 0.0]];
    assert_eq!(cloth_of(&apart, &[[0, 1, 2], [3, 4, 5]]).coincident_vertices, 2);
    // The sides of a seam as an exporter rounds them, and of a gap.
    for (gap, expected) in [(2e-6, 2), (2e-3, 1)] {
        let mut apart = apart;
        apart[2][2] = gap;
        assert_eq!(cloth_of(&apart, &[[0, 1, 2], [3, 4, 5]]).coincident_vertices, expected, "{gap} m");
    }
    // Closed, inconsistent, isolated.
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let closed = cloth_of(&corners, &[[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]]);
    assert!(closed.is_closed() && closed.is_clean());
    let turned = cloth_of(&corners, &[[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 3, 2]]);
    assert!(!turned.is_closed() && !turned.is_clean());
    let isolated = cloth_of(&corners, &[[0, 2, 1]]);
    assert!(!isolated.is_clean());
}

fn mesh_json(positions: &[[f32; 3]], triangles: &[[u32; 3]], more: &str) -> String {
    format!(r#"{{"positions": {positions:?}, "triangles": {triangles:?}{more}}}"#)
}

#[test]
fn a_continued_line_may_have_comments() {
    let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 \\\n3 4 # quad\n";
    assert_eq!(ObjMesh::parse(text).unwrap().triangles.len(), 2);
}

#[test]
fn a_scene_file_hints_at_loose_vertices_and_opposed_normals() {
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [5.0, 0.0, 5.0]];
    let mesh = mesh_json(&corners, &[[0, 2, 1], [0, 2, 3]], "");
    let text = format!(r#"{{"version": 1, "parts": [{{"cloth_mesh": {{"mesh": {mesh}}}}}]}}"#);
    let hints: Vec<String> = SceneFile::parse(&text, None).unwrap().hints.iter().map(ToString::to_string).collect();
    assert_eq!(hints.len(), 2, "{hints:?}");
    assert!(hints[0].starts_with("parts[0].cloth_mesh: 1 vertices belong to no triangle"), "{hints:?}");
    assert!(hints[1].contains("1 edges are between triangles of opposed normals"), "{hints:?}");
}

#[test]
fn a_scene_file_hints_at_open_seams_and_welds_on_request() {
    let (positions, triangles) = tube(12, 5);
    let scene = |sort: &str, more: &str| {
        let mesh = mesh_json(&positions, &triangles, more);
        SceneFile::parse(&format!(r#"{{"version": 1, "parts": [{{"{sort}": {{"mesh": {mesh}}}}}]}}"#), None)
    };
    let open = scene("cloth_mesh", "").unwrap();
    let hints: Vec<String> = open.hints.iter().map(ToString::to_string).collect();
    assert_eq!(hints.len(), 1);
    assert!(hints[0].starts_with("parts[0].cloth_mesh: ") && hints[0].contains("5 border vertices"), "{hints:?}");
    let mut welded = scene("cloth_mesh", r#", "weld": 1e-5"#).unwrap();
    assert!(welded.hints.is_empty());
    assert_eq!(welded.scene.particle_count(), 60);
    let part = welded.parts[0].clone();
    assert_eq!((part.vertex_particles.len(), part.vertex_particles[12]), (65, 0));
    let numbering = welded.renumber();
    for (&position, &particle) in positions.iter().zip(&welded.parts[0].vertex_particles) {
        let [a, b] = [position, welded.scene.positions()[numbering.new_index(particle).unwrap() as usize]]
            .map(|place| place.map(f64::from));
        assert!(length(minus(a, b)) < 1e-5);
    }
    for bad in ["-0.1", "1e99"] {
        let error = scene("cloth_mesh", &format!(r#", "weld": {bad}"#)).unwrap_err();
        assert!(error.place().starts_with("parts[0].cloth_mesh.mesh"), "{error}");
    }
}

/// An OBJ of a tube with texture coordinates. Vertices are repeated along the seam if `splits`, as some exporters write them.
fn obj_tube(splits: bool) -> String {
    let (positions, triangles) = tube(12, 5);
    let mut text = String::new();
    // Texture coordinates differ on both sides of the seam, which are the columns 0 and 12.
    positions.iter().for_each(|[x, y, z]| text += &format!("v {x} {y} {z}\n"));
    (0..positions.len()).for_each(|vertex| text += &format!("vt {} {}\n", vertex % 13, vertex / 13));
    let joined = |vertex: u32| if splits || vertex % 13 != 12 { vertex } else { vertex - 12 };
    for triangle in triangles {
        let [a, b, c] = triangle.map(|vertex| format!("{}/{}", joined(vertex) + 1, vertex + 1));
        text += &format!("f {a} {b} {c}\n");
    }
    text
}

#[test]
fn the_render_mesh_of_an_obj_is_split_along_its_seam_and_drives_a_vertex_output() {
    let gpu = common::gpu();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for (name, splits, weld) in [("split.obj", true, r#", "weld": 1e-5"#), ("joined.obj", false, "")] {
        std::fs::write(folder.join(name), obj_tube(splits)).unwrap();
        let text = format!(r#"{{"version": 1, "parts": [{{"cloth_mesh": {{"mesh": {{"obj": "{name}"{weld}}}}}}}]}}"#);
        let mut file = SceneFile::parse(&text, Some(&folder)).unwrap();
        assert!(file.hints.iter().all(|hint| !hint.message.contains("seam")), "{:?}", file.hints);
        file.renumber();
        let mesh = file.parts[0].render_mesh(&file.scene).unwrap();
        // 60 particles, and 5 vertices more along the seam; unused vertices of the joined file stay particles.
        assert_eq!(mesh.vertices.len(), 65, "{name}");
        let particles: std::collections::BTreeSet<u32> = mesh.vertices.iter().copied().collect();
        assert_eq!(particles.len(), 60, "{name}");
        let mut solver = common::solver(&gpu, &file.scene, supple::Settings::default());
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_SRC;
        let descriptor = wgpu::BufferDescriptor { label: None, size: 65 * 28, usage, mapped_at_creation: false };
        let buffer = gpu.device.create_buffer(&descriptor);
        let target = |offset, format| Some(VertexTarget { buffer: &buffer, offset, stride: 28, format });
        let positions = target(0, wgpu::VertexFormat::Float32x3);
        let tangents = target(12, wgpu::VertexFormat::Float32x4);
        solver.add_vertex_output(&VertexOutput { positions, tangents, ..VertexOutput::of(&mesh) }).unwrap();
        solver.step(3);
        assert_eq!(solver.read_diagnostics().unwrap().non_finite_count, 0);
        let (words, x) = (common::words(&gpu, &buffer), solver.read_positions().unwrap());
        for (row, &particle) in words.chunks_exact(7).zip(&mesh.vertices) {
            let [a, b, c] = x[particle as usize];
            assert_eq!(row[..3], [a, b, c].map(f32::to_bits), "{name}, particle {particle}");
            let length = row[3..6].iter().map(|&word| f32::from_bits(word).powi(2)).sum::<f32>().sqrt();
            assert!((length - 1.0).abs() < 1e-4 && f32::from_bits(row[6]).abs() == 1.0, "{name}, particle {particle}");
        }
    }
}

/// A box whose faces have their own vertices: closed only after welding. The faces point outwards.
fn split_box(half: f32) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for axis in 0..3 {
        for side in [-half, half] {
            let first = positions.len() as u32;
            for [u, v] in [[-half, -half], [half, -half], [half, half], [-half, half]] {
                let mut point = [0.0; 3];
                (point[axis], point[(axis + 1) % 3], point[(axis + 2) % 3]) = (side, u, v);
                positions.push(point);
            }
            let [a, b, c, d] = [0, 1, 2, 3].map(|corner| first + corner);
            triangles.extend(if side > 0.0 { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] });
        }
    }
    (positions, triangles)
}

#[test]
fn bodies_balloons_and_colliders_are_closed_by_welding() {
    let (positions, triangles) = split_box(0.5);
    let parts = |weld: &str| {
        let mesh = mesh_json(&positions, &triangles, weld);
        let elastic = r#""spacing": 0.25, "density": 100, "elasticity": {"elastic": {"young": 1e4}}"#;
        let particle = r#"{"particles": {"positions": [[0, 3, 0]]}}"#;
        [
            format!(r#""parts": [{{"soft_body": {{"mesh": {mesh}, {elastic}}}}}]"#),
            format!(r#""parts": [{{"balloon": {{"mesh": {mesh}}}}}]"#),
            format!(r#""parts": [{particle}], "colliders": [{{"shape": {{"mesh": {mesh}}}}}]"#),
        ]
    };
    for (open, welded) in parts("").into_iter().zip(parts(r#", "weld": 0"#)) {
        let error = SceneFile::parse(&format!(r#"{{"version": 1, {open}}}"#), None).unwrap_err().to_string();
        assert!(error.contains("not closed"), "{error}");
        SceneFile::parse(&format!(r#"{{"version": 1, {welded}}}"#), None).unwrap();
    }
    assert!(matches!(Shape::mesh(&positions, &triangles, None), Err(Error::OpenSurface { .. })));
    let welded = weld(&positions, &triangles, 0.0).unwrap();
    assert_eq!(welded.positions.len(), 8);
    Shape::mesh(&welded.positions, &welded.triangles, None).unwrap();
}

#[test]
fn a_closed_collider_that_faces_inwards_is_rejected_with_its_volume_and_a_shell_is_not() {
    let (positions, triangles) = split_box(1.0);
    let room = weld(&positions, &triangles, 0.0).unwrap();
    let inward: Vec<[u32; 3]> = room.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
    let error = Shape::mesh(&room.positions, &inward, Some(0.05)).unwrap_err();
    assert!(matches!(error, Error::InwardWinding { volume } if (volume + 8.0).abs() < 1e-9), "{error}");
    for word in ["-8e0 m³", "two_sided", "Reverse"] {
        assert!(error.to_string().contains(word), "no {word} in {error}");
    }
    Shape::sheet(&room.positions, &inward, Some(0.05)).unwrap();
    let scene = |triangles: &[[u32; 3]], two_sided: bool| {
        let mesh = mesh_json(&room.positions, triangles, r#", "cell": 0.05"#);
        SceneFile::parse(
            &format!(
                r#"{{"version": 1, "parts": [{{"cloth_grid": {{"columns": 8, "rows": 8, "origin": [-0.3, 0, -0.3],
                "column_axis": [0.6, 0, 0], "row_axis": [0, 0, 0.6]}}}}],
                "colliders": [{{"shape": {{"mesh": {mesh}}}, "two_sided": {two_sided}}}]}}"#
            ),
            None,
        )
    };
    let error = scene(&inward, false).unwrap_err().to_string();
    assert!(error.starts_with("colliders[0].shape") && error.contains("two_sided"), "{error}");
    // Both windings give the same shell: the cloth falls to the floor of the room and stays there.
    for triangles in [&inward, &room.triangles] {
        let mut reference: Reference = scene(triangles, true).unwrap().reference().unwrap();
        reference.step(120);
        for position in reference.read_positions().unwrap() {
            assert!((-1.01..-0.95).contains(&position[1]), "{position:?}");
        }
    }
}

#[test]
fn texture_coordinates_stay_with_the_corners_through_polygons_welds_and_mirrors() {
    let text = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nv 0 -1 0\nvt 0 0\nvt 1 0 0\nvt 1 .5\nvt .5 .5\nvt .5 1\nvt 0 1\nvt 0.25\n\
        f 1/1 2/2 3/3 4/4 5/5 6/6\nf 1/-1 7/7/2 2/2//\nf 1 2 7\n";
    let mesh = parsed("textured", text);
    assert_eq!(mesh.texture.coordinates[6], [0.25, 0.0]);
    for (triangle, texture) in mesh.triangles[..4].iter().zip(&mesh.texture.triangles) {
        assert_eq!(texture.unwrap(), *triangle, "the corners of the polygon have the numbers of their vertices");
    }
    assert_eq!(mesh.texture.triangles[4..], [Some([6, 6, 1]), None]);
    assert_eq!(mesh.lines, [15, 15, 15, 15, 16, 17]);
    assert!(parsed("plain", TRIANGLE).texture.triangles.is_empty());

    let folder = folder("textures");
    std::fs::write(folder.join("mesh.obj"), text).unwrap();
    let json = CLOTH.replace(r#""mesh.obj""#, r#""mesh.obj", "scale": [-1, 1, 1], "weld": 0"#);
    let file = SceneFile::parse(&json, Some(&folder)).unwrap();
    let part = &file.parts[0];
    for (triangle, texture) in file.scene.triangles()[..4].iter().zip(&part.texture.triangles) {
        assert_eq!(texture.unwrap(), *triangle);
    }
    assert_eq!(part.texture.triangles[4], Some([6, 1, 6]));
}

#[test]
fn a_triangle_without_area_is_rejected_with_its_line() {
    let folder = folder("flat");
    std::fs::write(folder.join("mesh.obj"), "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nf 1 2 4\n\nf 1 2 3\n").unwrap();
    let error = SceneFile::parse(CLOTH, Some(&folder)).unwrap_err().to_string();
    assert!(error.contains("area of") && error.contains("line 7"), "{error}");
}

#[test]
fn cloth_grids_have_texture_coordinates_that_are_not_mirrored() {
    let grid = |first: &str| format!(r#"{{"cloth_grid": {{"name": "{first}", "columns": 4, "rows": 3}}}}"#);
    let text = format!(r#"{{"version": 1, "parts": [{}, {}]}}"#, grid("a"), grid("b"));
    let file = SceneFile::parse(&text, None).unwrap();
    for name in ["a", "b"] {
        let part = file.part(name).unwrap();
        let coordinates = &part.texture.coordinates;
        assert_eq!((coordinates[0], coordinates[3], coordinates[8]), ([0.0, 1.0], [1.0, 1.0], [0.0, 0.0]));
        assert_eq!(part.texture.triangles.len(), 12);
        for corners in part.texture.triangles.iter().map(|corners| corners.unwrap()) {
            let [a, b, c] = corners.map(|corner| coordinates[corner as usize]);
            let area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
            assert!((area - 1.0 / 6.0).abs() < 1e-6, "a triangle has twice the area {area} in texture coordinates");
        }
        assert_eq!(part.render_mesh(&file.scene).unwrap().texture_coordinates.len(), 12);
    }
}
