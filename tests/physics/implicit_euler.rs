//! Compares one step of XPBD with one step of implicit Euler for the same energy U = Σ C²/(2α). Implicit Euler is the
//! minimum of Σ m |x − x̃|²/(2 h²) + U(x), where x̃ are the predicted positions. The minimum is computed by Newton's
//! method in f64 with numerical derivatives; the energies share no code with the library.

use crate::common;
use crate::common::{backends, chain, noise};
use supple::{
    Area, ClosedSurface, Hinge, IsometricBend, LineBend, Material, Particle, Pressure, Scene, Settings, ShapeMatching,
    Sweep, Volume,
};

type V = [f64; 3];

fn sub(a: V, b: V) -> V {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: V, b: V) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: V, b: V) -> V {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn norm(a: V) -> f64 {
    dot(a, a).sqrt()
}

/// x as a list of points.
fn points(x: &[f64]) -> Vec<V> {
    x.chunks_exact(3).map(|x| [x[0], x[1], x[2]]).collect()
}

// ------------------------------------------------------------------------------------------- Newton's method

/// ∇f by fourth-order differences.
fn gradient(f: &dyn Fn(&[f64]) -> f64, x: &[f64], step: f64) -> Vec<f64> {
    let at = |k: usize, by: f64| {
        let mut x = x.to_vec();
        x[k] += by;
        f(&x)
    };
    (0..x.len())
        .map(|k| {
            let [near, far] = [step, 2.0 * step].map(|step| at(k, step) - at(k, -step));
            (8.0 * near - far) / (12.0 * step)
        })
        .collect()
}

/// Solves A x = b by Gaussian elimination with pivoting.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for column in 0..n {
        let pivot = (column..n).max_by(|&i, &j| a[i][column].abs().total_cmp(&a[j][column].abs())).unwrap();
        a.swap(column, pivot);
        b.swap(column, pivot);
        for row in column + 1..n {
            let factor = a[row][column] / a[column][column];
            let (above, below) = a.split_at_mut(row);
            below[0].iter_mut().zip(&above[column]).for_each(|(left, right)| *left -= factor * right);
            b[row] -= factor * b[column];
        }
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|k| a[row][k] * b[k]).sum();
        b[row] = (b[row] - known) / a[row][row];
    }
    b
}

/// Minimizes f from `start` by Newton's method; only the `free` coordinates change.
fn minimum(f: &dyn Fn(&[f64]) -> f64, start: &[f64], free: &[usize], size: f64) -> Vec<f64> {
    let step = 1e-2 * size;
    let place = |y: &[f64]| {
        let mut x = start.to_vec();
        free.iter().zip(y).for_each(|(&k, &y)| x[k] = y);
        x
    };
    let reduced = |y: &[f64]| f(&place(y));
    let mut y: Vec<f64> = free.iter().map(|&k| start[k]).collect();
    let mut hessian = Vec::new();
    for round in 0..40 {
        // The Hessian dominates the cost, so it is reused for four rounds.
        if round % 4 == 0 {
            let column = |k: usize| -> Vec<f64> {
                let [above, below] = [step, -step].map(|by| {
                    let mut moved = y.clone();
                    moved[k] += by;
                    gradient(&reduced, &moved, step)
                });
                above.iter().zip(below).map(|(above, below)| (above - below) / (2.0 * step)).collect()
            };
            hessian = (0..y.len()).map(column).collect();
        }
        let newton = solve(hessian.clone(), gradient(&reduced, &y, step));
        let longest = newton.iter().fold(0f64, |longest, step| longest.max(step.abs()));
        y.iter_mut().zip(&newton).for_each(|(y, step)| *y -= step);
        if longest < 1e-6 * size {
            return place(&y);
        }
    }
    panic!("Newton's method does not converge");
}

// --------------------------------------------------------------------------------------------------- energies

/// Particles at `rest`, with masses of 1 to 2 kg.
fn scene_of(rest: &[V]) -> Scene {
    let mut scene = Scene::new();
    for (k, place) in rest.iter().enumerate() {
        let position = place.map(|component| component as f32);
        scene
            .add_particle(Particle {
                position,
                inverse_mass: 1.0 / (1.0 + 0.25 * (k % 5) as f32),
                ..Particle::default()
            })
            .unwrap();
    }
    scene
}

/// C of all constraints as a function of the positions.
type Constraints<'a> = Box<dyn Fn(&[V]) -> Vec<f64> + 'a>;

/// A scene at rest, its constraints, and α.
struct Case<'a> {
    name: &'static str,
    scene: Scene,
    squares: Constraints<'a>,
    alpha: f64,
}

fn springs(alpha: f64) -> Case<'static> {
    let (mut scene, _) = chain(4, 1.0, [0.6, 0.0, -0.8], 1.0, Material::compliant(alpha as f32));
    // Bent, because the gradients of a straight chain do not turn.
    for (k, place) in [[0.0f32; 3], [0.6, 0.0, -0.8], [0.6, 1.0, -0.8], [1.4, 1.6, -0.8]].into_iter().enumerate() {
        scene.set_position(k as u32, place).unwrap();
    }
    let squares = |x: &[V]| x.windows(2).map(|pair| (norm(sub(pair[0], pair[1])) - 1.0).powi(2)).collect();
    Case { name: "springs", scene, squares: Box::new(squares), alpha }
}

/// The dihedral angle from the two triangle normals, signed.
fn angle([x0, x1, x2, x3]: [V; 4]) -> f64 {
    let e = sub(x1, x0);
    let [a, b] = [sub(x2, x0), sub(x3, x0)].map(|v| {
        let along = dot(v, e) / dot(e, e);
        sub(v, e.map(|component| along * component))
    });
    // a and b are perpendicular to the edge, 180° apart for a flat hinge; the angle is the one from b to −a, seen along
    // −e.
    let turn = dot(cross(a, b), e) / norm(e);
    turn.atan2(-dot(a, b))
}

const HINGES: [[u32; 4]; 3] = [[1, 2, 0, 3], [3, 2, 1, 4], [3, 4, 2, 5]];

fn hinges(alpha: f64) -> Case<'static> {
    let rest = [[0.0, 0.0, 0.0], [0.9, 0.0, 0.1], [0.4, 0.9, 0.0], [1.4, 0.8, 0.5], [1.0, 1.6, 0.7], [1.9, 1.5, 1.3]];
    let mut scene = scene_of(&rest);
    let angles = HINGES.map(|hinge| angle(hinge.map(|k| rest[k as usize])));
    for (particles, rest_angle) in HINGES.into_iter().zip(angles) {
        let place = particles.map(|k| rest[k as usize].map(|component| component as f32));
        assert!((f64::from(Hinge::angle(place)) - rest_angle).abs() < 1e-6, "{rest_angle}");
        scene.add(Hinge::new(particles, rest_angle as f32), Material::compliant(alpha as f32)).unwrap();
    }
    let squares = move |x: &[V]| {
        HINGES.iter().zip(angles).map(|(hinge, rest)| (angle(hinge.map(|k| x[k as usize])) - rest).powi(2)).collect()
    };
    Case { name: "hinges", scene, squares: Box::new(squares), alpha }
}

const BODY: [V; 5] = [[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 1.1, 0.0], [0.3, 0.2, 1.2], [1.1, 1.0, 0.9]];

/// |Σ k x|².
fn square(x: &[V], terms: &[(u32, f64)]) -> f64 {
    (0..3).map(|axis| terms.iter().map(|&(place, k)| k * x[place as usize][axis]).sum::<f64>().powi(2)).sum()
}

/// Three bending constraints along five particles.
fn lines(alpha: f64) -> Case<'static> {
    let mut scene = scene_of(&[0.0, 1.0, 2.0, 3.0, 4.0].map(|x| [x, 0.0, 0.0]));
    for middle in 1..4 {
        let bend = LineBend { particles: [middle - 1, middle + 1, middle], lengths: [1.0; 2], scale: 1.0 };
        scene.add(bend, Material::compliant(alpha as f32)).unwrap();
    }
    let squares = |x: &[V]| (1..4).map(|k| square(x, &[(k - 1, 1.0), (k + 1, 1.0), (k, -2.0)])).collect();
    Case { name: "lines", scene, squares: Box::new(squares), alpha }
}

/// Two quadratic hinges of a strip of equilateral triangles; all cotangents are 1/√3.
fn sheets(alpha: f64) -> Case<'static> {
    let height = 0.75f64.sqrt();
    let rest = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, height, 0.0], [1.5, height, 0.0], [1.0, 2.0 * height, 0.0]];
    let mut scene = scene_of(&rest);
    let hinges = [[1u32, 2, 0, 3], [2, 3, 1, 4]];
    for hinge in hinges {
        let places = hinge.map(|vertex| rest[vertex as usize].map(|component| component as f32));
        scene.add(IsometricBend::new(hinge, places).unwrap(), Material::compliant(alpha as f32)).unwrap();
    }
    let k = 2.0 / 3f64.sqrt();
    let squares =
        move |x: &[V]| hinges.iter().map(|&[a, b, c, d]| square(x, &[(a, k), (b, k), (c, -k), (d, -k)])).collect();
    Case { name: "sheets", scene, squares: Box::new(squares), alpha }
}

fn volumes(alpha: f64) -> Case<'static> {
    let tets = [[0u32, 1, 2, 3], [1, 2, 3, 4]];
    let volume = |x: &[V], [a, b, c, d]: [u32; 4]| {
        let [a, b, c, d] = [a, b, c, d].map(|k| x[k as usize]);
        dot(sub(a, d), cross(sub(b, d), sub(c, d))) / -6.0
    };
    let mut scene = scene_of(&BODY);
    let rest = tets.map(|tet| volume(&BODY, tet));
    for (particles, rest_volume) in tets.into_iter().zip(rest) {
        let rest_volume = rest_volume as f32;
        scene.add(Volume { particles, rest_volume }, Material::compliant(alpha as f32)).unwrap();
    }
    let squares = move |x: &[V]| tets.iter().zip(rest).map(|(&tet, rest)| (volume(x, tet) - rest).powi(2)).collect();
    Case { name: "volumes", scene, squares: Box::new(squares), alpha }
}

fn areas(alpha: f64) -> Case<'static> {
    let triangles = [[0u32, 1, 2], [2, 1, 4], [0, 2, 3]];
    // Heron's formula.
    let area = |x: &[V], triangle: [u32; 3]| {
        let [a, b, c] = triangle.map(|k| x[k as usize]);
        let [a, b, c] = [norm(sub(b, c)), norm(sub(c, a)), norm(sub(a, b))];
        let s = 0.5 * (a + b + c);
        (s * (s - a) * (s - b) * (s - c)).sqrt()
    };
    let mut scene = scene_of(&BODY);
    let rest = triangles.map(|triangle| area(&BODY, triangle));
    for (particles, rest_area) in triangles.into_iter().zip(rest) {
        let rest_area = rest_area as f32;
        scene.add(Area { particles, rest_area }, Material::compliant(alpha as f32)).unwrap();
    }
    let squares =
        move |x: &[V]| triangles.iter().zip(rest).map(|(&triangle, rest)| (area(x, triangle) - rest).powi(2)).collect();
    Case { name: "areas", scene, squares: Box::new(squares), alpha }
}

/// The minimum over R and t of Σ m |x − R q − t|² = Σ m (|x'|² + |q'|²) − 2 λ, relative to the centres of mass.
///
/// The power iteration computes λ, the largest eigenvalue of Horn's 4 × 4 matrix (Horn 1987, *Closed-form solution of
/// absolute orientation using unit quaternions*).
fn misfit(x: &[V], q: &[V], m: &[f64]) -> f64 {
    let total: f64 = m.iter().sum();
    let center = |x: &[V]| [0, 1, 2].map(|axis| x.iter().zip(m).map(|(x, m)| m * x[axis]).sum::<f64>() / total);
    let (cx, cq) = (center(x), center(q));
    let (mut s, mut size) = ([[0.0; 3]; 3], 0.0);
    for ((x, q), m) in x.iter().zip(q).zip(m) {
        let (x, q) = (sub(*x, cx), sub(*q, cq));
        size += m * (dot(x, x) + dot(q, q));
        (0..3).for_each(|i| (0..3).for_each(|j| s[i][j] += m * q[i] * x[j]));
    }
    let matrix = [
        [s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]],
        [s[1][2] - s[2][1], s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]],
        [s[2][0] - s[0][2], s[0][1] + s[1][0], s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1]],
        [s[0][1] - s[1][0], s[2][0] + s[0][2], s[1][2] + s[2][1], s[2][2] - s[0][0] - s[1][1]],
    ];
    // The matrix is shifted by a bound on its negative eigenvalues, so that the largest eigenvalue also has the largest
    // magnitude.
    let (mut v, mut lambda) = ([1.0, 0.1, 0.1, 0.1], 0.0);
    for _ in 0..100 {
        let next = [0, 1, 2, 3].map(|row| (0..4).map(|k| matrix[row][k] * v[k]).sum::<f64>() + 0.5 * size * v[row]);
        let length = next.iter().map(|component| component * component).sum::<f64>().sqrt();
        v = next.map(|component| component / length);
        lambda = length - 0.5 * size;
    }
    size - 2.0 * lambda
}

fn shapes(groups: &'static [&'static [u32]], alpha: f64) -> Case<'static> {
    let mut scene = scene_of(&BODY);
    let mass = |k: u32, scene: &Scene| 1.0 / scene.inverse_masses()[k as usize];
    let rest = |group: &[u32]| group.iter().map(|&k| BODY[k as usize]).collect::<Vec<V>>();
    let mut masses = Vec::new();
    for group in groups {
        let rest_positions: Vec<[f32; 3]> = rest(group).iter().map(|x| x.map(|component| component as f32)).collect();
        let weights: Vec<f32> = group.iter().map(|&k| mass(k, &scene)).collect();
        let shape = ShapeMatching { particles: group, rest_positions: &rest_positions, masses: &weights };
        scene.add(shape, Material::compliant(alpha as f32)).unwrap();
        masses.push(weights.iter().map(|&m| f64::from(m)).collect::<Vec<f64>>());
    }
    let squares = move |x: &[V]| {
        let one = |(group, masses): (&&[u32], &Vec<f64>)| {
            let x: Vec<V> = group.iter().map(|&k| x[k as usize]).collect();
            misfit(&x, &rest(group), masses)
        };
        groups.iter().zip(&masses).map(one).collect()
    };
    Case { name: "shape matching", scene, squares: Box::new(squares), alpha }
}

fn pressure(alpha: f64) -> Case<'static> {
    let rest =
        [[1.0, 0.0, 0.1], [-1.1, 0.0, 0.0], [0.0, 0.9, 0.0], [0.1, -1.0, 0.0], [0.0, 0.1, 1.2], [0.0, 0.0, -1.0]];
    let triangles = [[0u32, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
    // Relative to an outside point, so that no particle is at the origin.
    let volume = move |x: &[V]| {
        let tet = |&[a, b, c]: &[u32; 3]| {
            let [a, b, c] = [a, b, c].map(|k| sub(x[k as usize], [3.0, -2.0, 1.0]));
            dot(a, cross(b, c)) / 6.0
        };
        triangles.iter().map(tet).sum::<f64>()
    };
    let rest_volume = volume(&rest);
    let mut scene = scene_of(&rest);
    let surface = ClosedSurface::new(&triangles).unwrap();
    let constraint = Pressure { surface: &surface, rest_volume: rest_volume as f32, pressure: 1.0 };
    scene.add(constraint, Material::compliant(alpha as f32)).unwrap();
    let squares = move |x: &[V]| vec![(volume(x) - rest_volume).powi(2)];
    Case { name: "pressure", scene, squares: Box::new(squares), alpha }
}

// ------------------------------------------------------------------------------------------------------ claims

/// The initial state of a step: up to `size` m off the rest shape, with velocities of `size`/h, so constraint errors
/// are of that size too.
fn disturb(scene: &Scene, size: f64, settings: &Settings) -> Scene {
    let mut scene = scene.clone();
    for particle in 0..scene.particle_count() as u32 {
        let push = |seed: u32| [0, 1, 2].map(|axis| size as f32 * noise(6 * particle + 3 * seed + axis));
        let place = scene.positions()[particle as usize];
        let push_place = push(0);
        if !scene.pinned_particles().any(|pin| pin == particle) {
            scene.set_position(particle, [0, 1, 2].map(|axis| place[axis] + push_place[axis])).unwrap();
            scene.set_velocity(particle, push(1).map(|component| component / settings.dt)).unwrap();
        }
    }
    scene
}

/// The result of an implicit Euler step, and its largest distance from the motion by inertia alone.
fn implicit_euler(case: &Case<'_>, velocities: &[[f32; 3]], settings: &Settings, size: f64) -> (Vec<V>, f64) {
    let scene = &case.scene;
    let h = f64::from(settings.dt);
    let gravity = settings.gravity.map(f64::from);
    let pinned: Vec<u32> = scene.pinned_particles().collect();
    let free: Vec<usize> = (0..3 * scene.particle_count()).filter(|&k| !pinned.contains(&((k / 3) as u32))).collect();
    let mut predicted = Vec::new();
    for (k, place) in scene.positions().iter().enumerate() {
        let fall = if pinned.contains(&(k as u32)) { 0.0 } else { h * h };
        predicted.extend(
            (0..3).map(|axis| f64::from(place[axis]) + h * f64::from(velocities[k][axis]) + fall * gravity[axis]),
        );
    }
    let masses: Vec<f64> = scene.inverse_masses().iter().map(|&w| 1.0 / f64::from(w)).collect();
    // Multiplied by h², so both terms are of the order of m |x − x̃|².
    let energy = |x: &[f64]| {
        let inertia: f64 = (0..x.len()).map(|k| 0.5 * masses[k / 3] * (x[k] - predicted[k]).powi(2)).sum();
        let squares: f64 = (case.squares)(&points(x)).iter().sum();
        inertia + squares * h * h / (2.0 * case.alpha)
    };
    let end = minimum(&energy, &predicted, &free, size);
    let far = points(&end).iter().zip(points(&predicted)).map(|(a, b)| norm(sub(*a, b))).fold(0.0, f64::max);
    (points(&end), far)
}

/// The distance of the backends from the minimum for `softer` times the compliance, relative to the largest
/// displacement by constraints. One value per entry of `variants`; `size` is the disturbance.
fn departures(gpu: &supple::gpu::Context, case: &Case<'_>, size: f64, variants: &[Settings], softer: f64) -> Vec<f64> {
    // Gravity that causes a fall of `size` within the step.
    let gravity = [0.0, (-size / h2()) as f32, 0.0];
    let scene = disturb(&case.scene, size, &variants[0]);
    let [reference, _] = backends(gpu, &scene, variants[0]);
    let velocities = reference.read_velocities().unwrap();
    let squares = Box::new(|x: &[V]| (case.squares)(x));
    let moved = Case { name: case.name, scene, squares, alpha: softer * case.alpha };
    let (end, far) = implicit_euler(&moved, &velocities, &Settings { gravity, ..variants[0] }, size);
    let off = |settings: &Settings| {
        let ends = backends(gpu, &moved.scene, Settings { gravity, ..*settings }).map(|mut backend| {
            backend.step(1);
            let pairs = backend.read_positions().unwrap().into_iter().zip(&end);
            pairs.map(|(a, b)| norm(sub(a.map(f64::from), *b))).fold(0.0, f64::max) / far
        });
        ends[0].max(ends[1])
    };
    let departures = variants.iter().map(off).collect();
    println!("{} {size}, α × {softer}: {departures:.5?}", case.name);
    departures
}

fn settings(sweep: Sweep, relaxation: f32, iterations: u32) -> Settings {
    Settings { substeps: 1, keep_lambdas: true, sweep, relaxation, iterations, ..Settings::default() }
}

/// h² of these steps.
fn h2() -> f64 {
    f64::from(Settings::default().dt).powi(2)
}

/// Many iterations converge to x = x̃ + W Σ ∇C(x_k) Δλ_k with C(x) = −α̃ Σ Δλ_k. This is implicit Euler, except that
/// the gradients are those of the iterates x_k instead of the last one. They turn by the order of |x − x̃|/l, so the
/// relative difference is proportional to the motion per step. Macklin et al. 2016 take their residual g = M (x − x̃) −
/// ∇C λ as zero.
///
/// A relaxation above 1 takes longer steps along old gradients, one below 1 shorter ones.
#[test]
fn a_converged_step_is_that_of_implicit_euler_to_first_order_in_its_motion() {
    let gpu = common::gpu();
    use Sweep::{GaussSeidel, Jacobi};
    let variants = [
        settings(GaussSeidel, 1.0, 100),
        settings(Jacobi, 1.0, 200),
        settings(GaussSeidel, 1.3, 100),
        settings(GaussSeidel, 0.7, 100),
    ];
    let cases = [springs(0.3 * h2()), hinges(h2()), volumes(0.03 * h2()), areas(0.2 * h2()), pressure(h2())];
    for case in cases {
        let [large, small] = [0.04, 0.01].map(|size| departures(&gpu, &case, size, &variants, 1.0));
        for (place, (large, small)) in large.iter().zip(&small).enumerate() {
            let ratio = large / small;
            assert!((3.3..5.0).contains(&ratio), "{}, {place}: {large} and {small}", case.name);
            assert!(*small < 0.02, "{}, {place}: {small}", case.name);
        }
        let [other] = departures(&gpu, &case, 0.01, &variants[..1], 1.3)[..] else { panic!() };
        assert!(other > 3.0 * small[0], "{}: {other}", case.name);
        let [tiny] = departures(&gpu, &case, 0.001, &variants[..1], 1.0)[..] else { panic!() };
        assert!(tiny < 2e-3, "{}: {tiny}", case.name);
    }
}

/// After convergence, further iterations change only roundings; a single iteration has not converged.
#[test]
fn iterations_beyond_convergence_change_nothing() {
    let gpu = common::gpu();
    for case in [springs(0.3 * h2()), hinges(h2()), volumes(0.03 * h2()), areas(0.2 * h2())] {
        let scene = disturb(&case.scene, 0.04, &settings(Sweep::GaussSeidel, 1.0, 1));
        let ends = [1, 100, 400].map(|iterations| {
            backends(&gpu, &scene, settings(Sweep::GaussSeidel, 1.0, iterations)).map(|mut backend| {
                backend.step(1);
                backend.read_positions().unwrap()
            })
        });
        let [one, hundred, more] = ends;
        for ((one, hundred), more) in one.iter().zip(&hundred).zip(&more) {
            let apart =
                |end: &[[f32; 3]]| end.iter().zip(more).map(|(a, b)| common::distance(*a, *b)).fold(0.0, f64::max);
            println!("{}: {:.1e} after one, {:.1e} after a hundred", case.name, apart(one), apart(hundred));
            assert!(apart(hundred) < 1e-6, "{}: {}", case.name, apart(hundred));
            assert!(apart(one) > 3e-4, "{}: {}", case.name, apart(one));
        }
    }
}

/// The spring law C = −α λ/h² holds to rounding for any motion, sweep and relaxation.
#[test]
fn lambda_of_a_converged_step_is_that_of_the_stretch() {
    let gpu = common::gpu();
    let alpha = 0.3 * h2();
    let case = springs(alpha);
    for (sweep, relaxation) in
        [(Sweep::GaussSeidel, 1.0), (Sweep::Jacobi, 1.0), (Sweep::GaussSeidel, 1.5), (Sweep::Jacobi, 0.5)]
    {
        let settings = settings(sweep, relaxation, 300);
        for mut backend in backends(&gpu, &disturb(&case.scene, 0.1, &settings), settings) {
            backend.step(1);
            let x: Vec<V> = backend.read_positions().unwrap().iter().map(|x| x.map(f64::from)).collect();
            for (link, (pair, &lambda)) in
                x.windows(2).zip(&backend.read_lambdas::<supple::Distance>().unwrap()).enumerate()
            {
                let stretch = norm(sub(pair[0], pair[1])) - 1.0;
                let law = -alpha * f64::from(lambda) / h2();
                assert!(stretch.abs() > 1e-4 && (stretch - law).abs() < 1e-6, "{} {link}: {stretch}", backend.name());
            }
        }
    }
}

/// For a shape, C = √Σ m |x − g|², and its gradient m (x − g)/C is a unit vector in many dimensions. If several groups
/// overlap, the gradient turns between iterations as much as x − g changes, at any size. A single λ per group would end
/// a tenth of the displacement away. With one multiplier per member, groups end at the minimum of implicit Euler for
/// any sweep and relaxation.
#[test]
fn single_and_overlapping_shapes_converge_to_implicit_euler() {
    let gpu = common::gpu();
    let lone = shapes(&[&[0, 1, 2, 3, 4]], 0.5 * h2());
    let overlapping = shapes(&[&[0, 1, 2, 3], &[1, 2, 3, 4]], 0.5 * h2());
    for case in [&lone, &overlapping] {
        for departure in departures(&gpu, case, 0.04, &variants(), 1.0) {
            assert!(departure < 1e-4, "{}: {departure}", case.name);
        }
    }
}

/// The C of line and sheet bending is the length of a vector that is linear in the positions, with one multiplier per
/// component. No term is dropped, so the step equals implicit Euler.
#[test]
fn quadratic_bends_converge_to_implicit_euler() {
    let gpu = common::gpu();
    for case in [lines(0.05 * h2()), sheets(0.5 * h2())] {
        for departure in departures(&gpu, &case, 0.04, &variants(), 1.0) {
            assert!(departure < 1e-4, "{}: {departure}", case.name);
        }
    }
}

/// Both sweeps, with relaxations below and above 1.
fn variants() -> [Settings; 4] {
    [
        settings(Sweep::GaussSeidel, 1.0, 150),
        settings(Sweep::Jacobi, 1.0, 400),
        settings(Sweep::GaussSeidel, 1.3, 150),
        settings(Sweep::GaussSeidel, 0.7, 150),
    ]
}
