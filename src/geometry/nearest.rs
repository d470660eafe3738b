//! The point of a triangle mesh that is nearest to a point.

use glam::DVec3;

/// Triangles of a leaf of the tree.
const LEAF: usize = 8;

/// Bounds of a range of triangles. An inner node is followed by its first child.
#[derive(Debug)]
struct Node {
    low: DVec3,
    high: DVec3,
    first: usize,
    count: usize,
    /// Index of the second child; 0 for a leaf.
    second: usize,
}

/// A tree of bounding boxes over the triangles of a mesh, split at the median.
#[derive(Debug)]
pub(crate) struct NearestTriangles {
    corners: Vec<[DVec3; 3]>,
    order: Vec<usize>,
    nodes: Vec<Node>,
}

/// The nearest point of a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Nearest {
    pub triangle: usize,
    /// Barycentric coordinates of the point.
    pub weights: [f64; 3],
    squared_distance: f64,
}

impl NearestTriangles {
    /// The indices must exist.
    pub fn new(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Self {
        let at = |corner: u32| DVec3::from_array(positions[corner as usize].map(f64::from));
        let corners: Vec<[DVec3; 3]> = triangles.iter().map(|corners| corners.map(at)).collect();
        let mut tree = Self { order: (0..corners.len()).collect(), corners, nodes: Vec::new() };
        if !tree.corners.is_empty() {
            tree.split(0, tree.corners.len());
        }
        tree
    }

    fn split(&mut self, first: usize, count: usize) {
        let own = &self.order[first..first + count];
        let points = || own.iter().flat_map(|&triangle| self.corners[triangle]);
        let low = points().fold(DVec3::INFINITY, DVec3::min);
        let high = points().fold(DVec3::NEG_INFINITY, DVec3::max);
        let index = self.nodes.len();
        self.nodes.push(Node { low, high, first, count, second: 0 });
        if count > LEAF {
            let axis = (high - low).max_position();
            let corners = &self.corners;
            let middle = |triangle: usize| corners[triangle].iter().map(|corner| corner[axis]).sum::<f64>();
            let half = count / 2;
            self.order[first..first + count]
                .select_nth_unstable_by(half, |&a, &b| middle(a).total_cmp(&middle(b)).then(a.cmp(&b)));
            self.split(first, half);
            self.nodes[index].second = self.nodes.len();
            self.split(first + half, count - half);
        }
    }

    /// The point nearest to `point`; `None` for a mesh without triangles.
    pub fn nearest(&self, point: [f32; 3]) -> Option<Nearest> {
        let point = DVec3::from_array(point.map(f64::from));
        let mut best: Option<Nearest> = None;
        let mut stack = vec![0];
        while let Some(index) = stack.pop() {
            let Some(node) = self.nodes.get(index) else { break };
            let outside = point.clamp(node.low, node.high).distance_squared(point);
            if best.is_some_and(|best| outside >= best.squared_distance) {
                continue;
            }
            if node.second > 0 {
                let distance = |child: usize| {
                    let Node { low, high, .. } = self.nodes[child];
                    point.clamp(low, high).distance_squared(point)
                };
                let [first, second] = [index + 1, node.second];
                let is_swapped = distance(second) < distance(first);
                // The nearer child is visited first.
                stack.extend(if is_swapped { [first, second] } else { [second, first] });
                continue;
            }
            for &triangle in &self.order[node.first..node.first + node.count] {
                let weights = barycentric(self.corners[triangle], point);
                let [a, b, c] = self.corners[triangle];
                let place = a * weights[0] + b * weights[1] + c * weights[2];
                let squared_distance = place.distance_squared(point);
                if best.is_none_or(|best| squared_distance < best.squared_distance) {
                    best = Some(Nearest { triangle, weights, squared_distance });
                }
            }
        }
        best
    }
}

/// Barycentric coordinates of the nearest point of a triangle. Source: Ericson, *Real-Time Collision Detection*, 5.1.5.
fn barycentric([a, b, c]: [DVec3; 3], p: DVec3) -> [f64; 3] {
    let (ab, ac) = (b - a, c - a);
    let [d1, d2] = [ab, ac].map(|edge| edge.dot(p - a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let [d3, d4] = [ab, ac].map(|edge| edge.dot(p - b));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    // Not if a and b are one point.
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 && d1 > d3 {
        let v = d1 / (d1 - d3);
        return [1.0 - v, v, 0.0];
    }
    let [d5, d6] = [ab, ac].map(|edge| edge.dot(p - c));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let w = d2 / (d2 - d6);
        return [1.0 - w, 0.0, w];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - w, w];
    }
    let sum = va + vb + vc;
    [va / sum, vb / sum, vc / sum]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_point_of_a_triangle_with_two_equal_corners_is_on_its_edge() {
        let [a, c] = [DVec3::ZERO, DVec3::X];
        for corners in [[a, a, c], [a, c, c], [a, c, a]] {
            let w = barycentric(corners, DVec3::new(0.25, 1.0, 0.0));
            let nearest = corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2];
            assert!(nearest.distance(DVec3::new(0.25, 0.0, 0.0)) < 1e-12, "{corners:?}: {w:?}");
        }
    }

    #[test]
    fn the_tree_finds_the_nearest_of_all_triangles() {
        let noise = |k: u32| (k.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32;
        let positions: Vec<[f32; 3]> = (0..300).map(|k| [noise(3 * k), noise(3 * k + 1), noise(3 * k + 2)]).collect();
        let triangles: Vec<[u32; 3]> = (0..100).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        let tree = NearestTriangles::new(&positions, &triangles);
        for k in 0..50 {
            let point = [1000, 1001, 1002].map(|axis| 2.0 * noise(axis + 3 * k) - 0.5);
            let found = tree.nearest(point).unwrap();
            let p = DVec3::from_array(point.map(f64::from));
            let distance = |corners: &[DVec3; 3]| {
                let w = barycentric(*corners, p);
                (corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2]).distance_squared(p)
            };
            let least = tree.corners.iter().map(distance).fold(f64::INFINITY, f64::min);
            assert_eq!(found.squared_distance, least, "point {k}");
        }
        assert_eq!(NearestTriangles::new(&[], &[]).nearest([0.0; 3]), None);
    }

    #[test]
    fn barycentric_coordinates_are_those_of_the_nearest_point() {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let cases = [
            (DVec3::new(0.25, 0.25, 3.0), [0.5, 0.25, 0.25]),
            (DVec3::new(-1.0, -1.0, 0.0), [1.0, 0.0, 0.0]),
            (DVec3::new(3.0, 0.1, 0.0), [0.0, 1.0, 0.0]),
            (DVec3::new(0.5, -2.0, 1.0), [0.5, 0.5, 0.0]),
            (DVec3::new(1.0, 1.0, 0.0), [0.0, 0.5, 0.5]),
            (DVec3::new(-1.0, 0.25, 0.0), [0.75, 0.0, 0.25]),
        ];
        for (point, expected) in cases {
            assert_eq!(barycentric(corners, point), expected, "{point}");
        }
    }
}
