//! Measures cost and error of a distance field against the exact closest triangle.

use super::shapes::{numbers, sphere};
use super::{DistanceField, Sides};
use glam::Vec3;
use parry3d::math::Vector;
use parry3d::query::PointQuery;
use parry3d::shape::{TriMesh, TriMeshFlags};
use std::hint::black_box;
use std::time::Instant;

/// `cargo test --release --lib collision::baked::measure -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn a_field_against_the_closest_triangle() {
    println!(
        "| triangles | cells | baking | sample | closest triangle | max error | mean error | max angle | mean angle |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for n in [11, 35, 112] {
        let (vertices, triangles) = sphere(n);
        let corners = vertices.iter().map(|p| Vector::from(*p)).collect();
        let mesh = TriMesh::with_flags(corners, triangles.clone(), TriMeshFlags::ORIENTED).unwrap();
        for cells in [64u32, 128] {
            let start = Instant::now();
            let field = DistanceField::bake(&vertices, &triangles, Some(2.0 / cells as f32), Sides::Closed).unwrap();
            let baking = start.elapsed();
            // Points within 1/16 of the surface: two cells of 1/32.
            let mut random = numbers(1);
            let points: Vec<Vec3> = (0..100_000)
                .map(|_| {
                    let p = Vec3::new(random(), random(), random()) * 2.0 - 1.0;
                    p.normalize() * (1.0 + (2.0 * random() - 1.0) / 16.0)
                })
                .collect();
            let start = Instant::now();
            let samples: Vec<_> = points.iter().map(|p| black_box(field.sample((*p).into()))).collect();
            let sample = start.elapsed() / points.len() as u32;
            let start = Instant::now();
            let hits: Vec<_> =
                points.iter().map(|p| black_box(mesh.project_local_point(Vector::from(p.to_array()), false))).collect();
            let query = start.elapsed() / points.len() as u32;
            let (mut most, mut sum, mut widest, mut angles, mut counted) = (0.0f32, 0.0f64, 0.0f32, 0.0f64, 0u32);
            for ((p, (distance, normal)), hit) in points.iter().zip(&samples).zip(&hits) {
                let away = *p - Vec3::from(hit.point.to_array());
                let exact = if hit.is_inside { -away.length() } else { away.length() };
                let error = (distance - exact).abs();
                most = most.max(error);
                sum += f64::from(error);
                if exact.abs() > 1e-3 {
                    let angle = Vec3::from(*normal).dot(away / exact).clamp(-1.0, 1.0).acos().to_degrees();
                    widest = widest.max(angle);
                    angles += f64::from(angle);
                    counted += 1;
                }
            }
            println!(
                "| {} | {cells}³ | {:.2} s | {} ns | {} ns | {:.2} mm | {:.3} mm | {widest:.1}° | {:.2}° |",
                triangles.len(),
                baking.as_secs_f32(),
                sample.as_nanos(),
                query.as_nanos(),
                1e3 * most,
                1e3 * sum / points.len() as f64,
                angles / f64::from(counted),
            );
        }
    }
}
