//! Weights of the hinges of a triangle mesh, such that the mesh bends like a plate.

use glam::DVec3;

/// Directions of the trial cylinders. The energy is of degree 4 in the direction, so 5 directions determine it.
const DIRECTIONS: usize = 6;
/// Iterations: enough for 1 % on a grid; more only scatter the weights of irregular meshes.
const ITERATIONS: usize = 10;
/// Bounds of a weight as a multiple of |e|²/(A₁ + A₂).
const RANGE: (f64, f64) = (0.1, 4.0);

/// A hinge, or half of one: a border edge is half a hinge whose second triangle is the mirror image of the first.
struct Bend {
    /// The edge, then the opposite vertices. At the border the third vertex is repeated, with a share of 0.
    vertices: [u32; 4],
    /// The share of this hinge in the triangles around each of its vertices.
    shares: [f64; 4],
    /// A third of the area of this hinge's triangles around each of its vertices \[m²\]; each triangle has three edges.
    areas: [f64; 4],
    /// Area-weighted normals of its triangles at each vertex, of arbitrary sign.
    normals: [DVec3; 4],
    along: DVec3,
    across: DVec3,
    /// Derivatives of the angle with respect to curvature across, twist and curvature along the edge \[m\].
    angle: [f64; 3],
    /// |e|²/(A₁ + A₂)
    classical: f64,
}

/// The weights w of hinges in the energy ½ B Σ w (θ − θ₀)², such that B is the flexural rigidity \[N·m\].
///
/// A hinge is \[edge vertex 0, edge vertex 1, opposite vertex of triangle 1, opposite vertex of triangle 2\]; indices
/// must be in range. Only the rest shape is used, with the two triangles of a hinge unfolded into a plane. Weights are
/// dimensionless and independent of the scale of the mesh. The weight of a hinge without area is 0.
///
/// # Derivation
/// Let the vertices lie on z = ½ xᵀ K x, with t along the edge and n across it. The angle is θ = α K_nn + β K_nt + γ
/// K_tt with α = (h₁ + h₂)/2, β = x₁ − x₂ and γ = −½ Σ x(|e| − x)/h. (x, h) is the position of an opposite vertex along
/// the edge and its height above it. For cylinders K = κ u uᵀ of each direction u, the triangles around each vertex
/// should store ½ B κ² times their area; half of each hinge belongs to each triangle. The equations outnumber the
/// weights.
///
/// The iteration starts from |e|²/(A₁ + A₂), which is exact for equilateral triangles (Grinspun et al. 2003, without
/// the factor 3 of some citations). Each hinge is multiplied by the mean of (target energy)/(energy) over its vertices
/// and directions, to the power of 1.5 for faster convergence (Richardson 1972, Lucy 1974). All weights stay positive,
/// and no matrix is inverted.
///
/// # Limits
/// - If all diagonals are parallel, no weights give a plate: bending along and across the diagonals differs by a factor
///   of about 4. Lattices of skewed cells with alternating diagonals bend at 0.45 to 1.38 of the plate if the sides meet at 73°.
/// - The vertices are assumed to stay on the cylinder. If the membrane is soft, vertices of an irregular mesh leave it
///   by up to about h² κ/8, and the plate is softer. Soft means Y h⁴ κ² below about 1000 B, for edges h and a tensile
///   stiffness Y \[N/m\].
/// - A strip with free borders also bends across. The energy of hinges is a sum of squares of directional curvatures,
///   so its tensor is fully symmetric; if isotropic, Poisson's ratio is 1/3. A strip then has at most 1 − 1/9 of the
///   rigidity of a cylinder. [`super::Bending::Hinges`] lists the ratios of strips.
pub(super) fn hinge_weights(positions: &[[f32; 3]], hinges: &[[u32; 4]]) -> Vec<f64> {
    let at = |vertex: u32| DVec3::from(positions[vertex as usize].map(f64::from));
    let mut bends: Vec<Bend> = hinges.iter().map(|&hinge| Bend::new(hinge, at, false)).collect();
    bends.extend(border(hinges).into_iter().map(|half| Bend::new(half, at, true)));
    let (areas, frames) = areas_and_frames(&bends, positions.len());
    let circle = std::array::from_fn(|direction| {
        let angle = direction as f64 * std::f64::consts::PI / DIRECTIONS as f64;
        (angle.cos(), angle.sin())
    });
    let energies: Vec<[[f64; DIRECTIONS]; 4]> = bends
        .iter()
        .map(|bend| std::array::from_fn(|slot| bend.energies(slot, &frames[bend.vertices[slot] as usize], &circle)))
        .collect();
    let factors = fit_factors(&bends, &energies, &areas);
    let weights = bends.iter().zip(&factors).map(|(bend, factor)| bend.classical * factor);
    weights.take(hinges.len()).map(|weight| if weight.is_finite() { weight } else { 0.0 }).collect()
}

/// The area of each vertex, and its frame: the normal and two tangents.
fn areas_and_frames(bends: &[Bend], vertex_count: usize) -> (Vec<f64>, Vec<[DVec3; 3]>) {
    let mut areas = vec![0.0; vertex_count];
    let mut normals = vec![DVec3::ZERO; vertex_count];
    for bend in bends {
        for (slot, vertex) in bend.vertices.into_iter().enumerate() {
            let (normal, sum) = (bend.normals[slot], &mut normals[vertex as usize]);
            // The winding of triangles and the order of a hinge's vertices are arbitrary.
            *sum += if sum.dot(normal) < 0.0 { -normal } else { normal };
            areas[vertex as usize] += bend.areas[slot];
        }
    }
    let frame = |normal: DVec3| {
        let normal = normal.normalize_or(DVec3::Z);
        let (first, second) = normal.any_orthonormal_pair();
        [normal, first, second]
    };
    (areas, normals.into_iter().map(frame).collect())
}

/// The factor of each hinge on its classical weight, by [`ITERATIONS`] of the update that [`hinge_weights`] describes.
/// `energies` are those of [`Bend::energies`], by hinge and slot.
fn fit_factors(bends: &[Bend], energies: &[[[f64; DIRECTIONS]; 4]], areas: &[f64]) -> Vec<f64> {
    let mut factors = vec![1.0f64; bends.len()];
    // First the energy of each vertex, then the ratio of the target to it.
    let mut ratios = vec![[0.0; DIRECTIONS]; areas.len()];
    for _ in 0..ITERATIONS {
        ratios.fill([0.0; DIRECTIONS]);
        for ((bend, energies), factor) in bends.iter().zip(energies).zip(&factors) {
            for (vertex, energies) in bend.vertices.iter().zip(energies) {
                for (sum, energy) in ratios[*vertex as usize].iter_mut().zip(energies) {
                    *sum += factor * energy;
                }
            }
        }
        for (ratios, area) in ratios.iter_mut().zip(areas) {
            *ratios = ratios.map(|energy| if energy > 0.0 { area / energy } else { 1.0 });
        }
        for ((bend, energies), factor) in bends.iter().zip(energies).zip(&mut factors) {
            let (mut sum, mut total) = (0.0, 0.0);
            for (vertex, energies) in bend.vertices.iter().zip(energies) {
                for (ratio, energy) in ratios[*vertex as usize].iter().zip(energies) {
                    sum += ratio * energy;
                    total += energy;
                }
            }
            let gain = if total > 0.0 { sum / total } else { 1.0 };
            *factor = (*factor * gain * gain.sqrt()).clamp(RANGE.0, RANGE.1);
        }
    }
    factors
}

/// The triangle sides that are no hinge, as half hinges. Without them, border hinges would get too much weight.
fn border(hinges: &[[u32; 4]]) -> Vec<[u32; 4]> {
    let side = |a: u32, b: u32, opposite: u32| [a.min(b), a.max(b), opposite];
    let triangles = || hinges.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, b, d]]);
    let mut hinged: Vec<[u32; 3]> = triangles().map(|[a, b, c]| side(a, b, c)).collect();
    let mut others: Vec<[u32; 3]> = triangles().flat_map(|[a, b, c]| [side(b, c, a), side(c, a, b)]).collect();
    hinged.sort_unstable();
    others.sort_unstable();
    others.dedup();
    others.retain(|side| hinged.binary_search(side).is_err());
    others.into_iter().map(|[a, b, c]| [a, b, c, c]).collect()
}

impl Bend {
    fn new(vertices: [u32; 4], at: impl Fn(u32) -> DVec3, half: bool) -> Self {
        let [a, b, c, d] = vertices.map(at);
        let length = a.distance(b);
        let along = (b - a).normalize_or_zero();
        let place = |vertex: DVec3| {
            let x = (vertex - a).dot(along);
            let up = vertex - a - x * along;
            (x, up.length(), up)
        };
        let ((x1, h1, up1), (mut x2, mut h2, up2)) = (place(c), place(d));
        let down2 = if half { up1 } else { -up2 };
        if half {
            (x2, h2) = (x1, h1);
        }
        let angle = [0.5 * (h1 + h2), x1 - x2, -0.5 * (x1 * (length - x1) / h1 + x2 * (length - x2) / h2)];
        let classical = 2.0 * length / (h1 + h2);
        // Excludes triangles without area, whose non-finite values would affect their neighbours.
        let sound = angle.iter().all(|value| value.is_finite()) && classical.is_finite();
        let (normal1, normal2) = (along.cross(up1) * length, along.cross(down2) * length);
        let (area1, area2) = (length * h1 / 6.0, length * h2 / 6.0);
        Self {
            vertices,
            shares: if half { [0.5, 0.5, 0.5, 0.0] } else { [1.0, 1.0, 0.5, 0.5] },
            areas: if half { [area1, area1, area1, 0.0] } else { [area1 + area2, area1 + area2, area1, area2] },
            normals: [normal1 + normal2, normal1 + normal2, normal1, normal2],
            along,
            across: (up1.normalize_or_zero() + down2.normalize_or_zero()).normalize_or(up1.normalize_or_zero()),
            angle: if sound { angle } else { [0.0; 3] },
            classical: if sound { classical } else { 0.0 },
        }
    }

    /// Twice the energy of this hinge within the triangles around one of its vertices, for B = κ = 1, per direction.
    fn energies(
        &self,
        slot: usize,
        &[normal, first, second]: &[DVec3; 3],
        circle: &[(f64, f64); DIRECTIONS],
    ) -> [f64; DIRECTIONS] {
        // Directions are transported by projection to the tangent plane; on flat meshes this is exact.
        let along = self.along.reject_from_normalized(normal).normalize_or(first);
        let across = normal.cross(along);
        let across = if across.dot(self.across) < 0.0 { -across } else { across };
        std::array::from_fn(|direction| {
            let (cos, sin) = circle[direction];
            let (t, n) =
                (cos * along.dot(first) + sin * along.dot(second), cos * across.dot(first) + sin * across.dot(second));
            let angle = self.angle[0] * n * n + self.angle[1] * n * t + self.angle[2] * t * t;
            self.shares[slot] * self.classical * angle * angle
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn hinges_of(triangles: &[[u32; 3]]) -> Vec<[u32; 4]> {
        let mut edges: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        for &[a, b, c] in triangles {
            for [from, to, opposite] in [[a, b, c], [b, c, a], [c, a, b]] {
                edges.entry([from.min(to), from.max(to)]).or_default().push(opposite);
            }
        }
        edges.iter().filter(|(_, faces)| faces.len() == 2).map(|(e, f)| [e[0], e[1], f[0], f[1]]).collect()
    }

    /// A lattice of 12 × 12 cells with given vertex positions; `flip` selects the cells with the other diagonal.
    fn lattice(
        place: impl Fn(u32, u32) -> [f32; 2],
        flip: impl Fn(u32, u32) -> bool,
    ) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
        let cells = || (0..12).flat_map(|r| (0..12).map(move |c| (r, c)));
        let points = (0..13).flat_map(|r| (0..13).map(move |c| (r, c)));
        let positions = points.map(|(r, c)| place(c, r)).map(|[x, y]| [x, y, 0.0]).collect();
        let triangles = cells().flat_map(|(r, c)| {
            let [p, q, s, t] = [r * 13 + c, r * 13 + c + 1, r * 13 + c + 13, r * 13 + c + 14];
            if flip(c, r) { [[p, q, t], [p, t, s]] } else { [[p, q, s], [q, t, s]] }
        });
        (positions, triangles.collect())
    }

    /// The least and the greatest energy relative to a plate, for the inner 6 × 6 cells bent to cylinders of 36
    /// directions. The angles are measured on bent vertices, independently of the derivation of the weights.
    fn rigidity(
        positions: &[[f32; 3]],
        triangles: &[[u32; 3]],
        weights: impl Fn(&[[u32; 4]]) -> Vec<f64>,
    ) -> (f64, f64) {
        let hinges = hinges_of(triangles);
        let weights = weights(&hinges);
        let inner: Vec<[u32; 3]> = (0..288usize)
            .filter(|t| [t / 24, t / 2 % 12].iter().all(|cell| (3..9).contains(cell)))
            .map(|t| sorted(triangles[t]))
            .collect();
        let flat = |v: u32| DVec3::from(positions[v as usize].map(f64::from));
        let cross = |a: DVec3, b: DVec3, c: DVec3| (b - a).cross(c - a);
        let area: f64 = inner.iter().map(|t| 0.5 * cross(flat(t[0]), flat(t[1]), flat(t[2])).length()).sum();
        let energy = |direction: u32| {
            let (sin, cos) = (f64::from(direction) * std::f64::consts::PI / 36.0).sin_cos();
            let curvature = 1e-4;
            let bent = |v: u32| flat(v) + DVec3::Z * 0.5 * curvature * (cos * flat(v).x + sin * flat(v).y).powi(2);
            let each = hinges.iter().zip(&weights).map(|(&[a, b, c, d], weight)| {
                let share = [[a, b, c], [a, b, d]].into_iter().filter(|&t| inner.contains(&sorted(t))).count() as f64;
                let (n1, n2) = (cross(bent(a), bent(b), bent(c)), cross(bent(a), bent(d), bent(b)));
                let angle = n1.cross(n2).length().atan2(n1.dot(n2));
                0.5 * share * weight * angle * angle
            });
            each.sum::<f64>() / (area * curvature * curvature)
        };
        (0..36).map(energy).fold((f64::MAX, 0.0), |(least, most), energy| (least.min(energy), energy.max(most)))
    }

    fn sorted(mut triangle: [u32; 3]) -> [u32; 3] {
        triangle.sort_unstable();
        triangle
    }

    fn within(positions: &[[f32; 3]], triangles: &[[u32; 3]], least: f64, most: f64) {
        let found = rigidity(positions, triangles, |hinges| hinge_weights(positions, hinges));
        assert!(found.0 >= least && found.1 <= most, "{found:?} is not within {least} to {most}");
    }

    #[test]
    fn equilateral_mesh_has_the_rigidity_in_all_directions() {
        let (positions, triangles) =
            lattice(|c, r| [c as f32 + 0.5 * r as f32, r as f32 * 0.75f32.sqrt()], |_, _| false);
        within(&positions, &triangles, 0.999, 1.001);
        // Weights at the border equal those inside.
        let weights = hinge_weights(&positions, &hinges_of(&triangles));
        assert!(weights.iter().all(|weight| (weight - 2.0 / 3.0f64.sqrt()).abs() < 1e-4), "{weights:?}");
    }

    #[test]
    fn alternating_diagonals_have_the_rigidity_in_all_directions() {
        for aspect in [1.0, 2.0, 0.5] {
            let (positions, triangles) = lattice(|c, r| [c as f32, aspect * r as f32], |c, r| (c + r) % 2 == 1);
            within(&positions, &triangles, 0.985, 1.015);
            // The exact weights: the ratio of cell sides for the sides, 2 a b/(a² + b²) for the diagonals, up to the
            // border.
            let aspect = f64::from(aspect);
            let hinges = hinges_of(&triangles);
            for ([a, b, ..], weight) in hinges.iter().zip(hinge_weights(&positions, &hinges)) {
                let expected = match b - a {
                    1 => 1.0 / aspect,
                    13 => aspect,
                    _ => 2.0 * aspect / (1.0 + aspect * aspect),
                };
                assert!((weight / expected - 1.0).abs() < 0.03, "{a} {b}: {weight} instead of {expected}");
            }
        }
    }

    #[test]
    fn irregular_mesh_is_nearer_to_a_plate_than_by_classical_weights() {
        // Jitter of up to 0.3 cells and random diagonals.
        let noise = |c: u32, r: u32, salt: u32| {
            let mut x = (c * 31 + r * 1009 + salt * 65537).wrapping_mul(0x9E37_79B9);
            x = (x ^ (x >> 15)).wrapping_mul(0x85EB_CA6B);
            ((x ^ (x >> 13)) & 0xFFFF) as f32 / 32768.0 - 1.0
        };
        let place = |c, r| [c as f32 + 0.3 * noise(c, r, 1), r as f32 + 0.3 * noise(c, r, 2)];
        let (positions, triangles) = lattice(place, |c, r| noise(c, r, 3) > 0.0);
        let classical = |hinges: &[[u32; 4]]| {
            let at = |v: u32| DVec3::from(positions[v as usize].map(f64::from));
            let each = hinges.iter().map(|h| {
                let [a, b, c, d] = h.map(at);
                2.0 * (b - a).length_squared() / ((b - a).cross(c - a).length() + (b - a).cross(d - a).length())
            });
            each.collect()
        };
        let (least, most) = rigidity(&positions, &triangles, classical);
        assert!(least > 1.3 && most > 2.0 * least, "{least} to {most}");
        within(&positions, &triangles, 0.85, 1.25);
    }

    #[test]
    fn parallel_diagonals_keep_the_mean_and_no_weight_vanishes() {
        let (positions, triangles) = lattice(|c, r| [c as f32, r as f32], |_, _| false);
        within(&positions, &triangles, 0.45, 2.05);
    }

    #[test]
    fn closed_mesh_has_weights_near_the_classical() {
        let g = 0.5 * (1.0 + 5.0f32.sqrt());
        let mut positions = Vec::new();
        for (one, golden) in [(1.0, g), (1.0, -g), (-1.0, g), (-1.0, -g)] {
            positions.extend([[0.0, one, golden], [one, golden, 0.0], [golden, 0.0, one]]);
        }
        let distance =
            |a: u32, b: u32| glam::Vec3::from(positions[a as usize]).distance(glam::Vec3::from(positions[b as usize]));
        let mut triangles = Vec::new();
        for a in 0..12 {
            for b in a + 1..12 {
                triangles.extend(
                    (b + 1..12)
                        .filter(|&c| [(a, b), (b, c), (a, c)].iter().all(|&(p, q)| distance(p, q) < 2.1))
                        .map(|c| [a, b, c]),
                );
            }
        }
        let hinges = hinges_of(&triangles);
        assert_eq!((triangles.len(), hinges.len()), (20, 30));
        for weight in hinge_weights(&positions, &hinges) {
            assert!((0.9..1.3).contains(&weight), "{weight}");
        }
    }

    #[test]
    fn scale_and_winding_do_not_matter() {
        let (positions, triangles) =
            lattice(|c, r| [c as f32, r as f32 * (1.0 + 0.05 * c as f32)], |c, r| (c + r) % 2 == 1);
        let hinges = hinges_of(&triangles);
        let small: Vec<[f32; 3]> = positions.iter().map(|p| p.map(|x| x / 1024.0)).collect();
        let turned: Vec<[u32; 4]> = hinges.iter().map(|&[a, b, c, d]| [b, a, d, c]).collect();
        let weights = hinge_weights(&positions, &hinges);
        for other in [hinge_weights(&small, &hinges), hinge_weights(&positions, &turned)] {
            assert!(weights.iter().zip(&other).all(|(a, b)| (a / b - 1.0).abs() < 1e-9));
        }
    }

    #[test]
    fn degenerate_meshes_give_finite_weights() {
        assert!(hinge_weights(&[], &[]).is_empty());
        let shapes: [[[f32; 3]; 4]; 5] = [
            [[0.0; 3]; 4],
            [[0.0; 3], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 1.0, 0.0]],
            [[0.0; 3], [1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.5, 1.0, 0.0]],
            [[0.0; 3], [1e-30, 0.0, 0.0], [0.0, 1e30, 0.0], [0.0, -1e-30, 0.0]],
            [[0.0; 3], [f32::MAX, 0.0, 0.0], [0.0, f32::MAX, 0.0], [f32::NAN, 0.0, 0.0]],
        ];
        for positions in shapes {
            let weights = hinge_weights(&positions, &[[0, 1, 2, 3], [0, 2, 1, 3]]);
            assert!(weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0), "{positions:?}: {weights:?}");
        }
    }
}
