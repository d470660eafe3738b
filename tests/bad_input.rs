//! Bad input: every mistake is refused by name, with the number that is wrong, before anything has changed. And what is odd
//! but lawful runs on, finite.

mod common;

use common::{gpu, solver, step};
use std::sync::mpsc;
use std::time::Duration;
use supple::gpu::Context;
use supple::{
    ClothGrid, ClothMesh, Cord, Distance, Error, Fabric, Material, MaterialId, Particle, Reference, Result, Rope,
    Scene, Settings, Solver, Tethers, Wind, wgpu,
};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;
/// 2⁷⁰, beyond [`Material::LIMIT`].
const HUGE: f32 = 1_180_591_620_717_411_303_424.0;

/// An attempt that must fail: what is wrong, the variant of the error, and the words that its message must contain.
struct Case<T: ?Sized> {
    what: &'static str,
    variant: &'static str,
    words: &'static [&'static str],
    attempt: Box<T>,
}

/// What is wrong with the outcome of a case; `None` if nothing.
fn fault<T: ?Sized, V>(case: &Case<T>, outcome: Result<V>) -> Option<String> {
    let what = case.what;
    let Err(error) = outcome else { return Some(format!("{what}: accepted")) };
    let (name, message) = (format!("{error:?}"), error.to_string());
    let variant = name.split([' ', '(', '{']).next().unwrap_or_default();
    if variant != case.variant {
        return Some(format!("{what}: {variant} instead of {}: {message}", case.variant));
    }
    let missing = case.words.iter().find(|word| !message.contains(**word))?;
    Some(format!("{what}: no {missing:?} in {message:?}"))
}

fn assert_no_faults(faults: Vec<String>) {
    assert!(faults.is_empty(), "{} fault(s):\n{}", faults.len(), faults.join("\n"));
}

/// Three particles, one of them massless, a spring, a cloth and a material: enough for every index to be wrong.
fn base() -> Scene {
    let mut scene = Scene::new();
    for (x, inverse_mass) in [(0.0, 1.0), (1.0, 1.0), (2.0, 0.0)] {
        let position = [x, 0.0, 0.0];
        scene.add_particle(Particle { position, inverse_mass, ..Particle::default() }).unwrap();
    }
    scene.add(Distance { particles: [0, 1], rest_length: 1.0 }, Material::compliant(1e-4)).unwrap();
    scene.add_cloth_grid(&ClothGrid { columns: 4, rows: 3, ..ClothGrid::default() }).unwrap();
    scene
}

/// Everything public about a scene, as text.
fn fingerprint(scene: &Scene) -> String {
    let springs: Vec<Distance> = scene.distances(0..scene.constraint_count() as u32).collect();
    let pins: Vec<u32> = scene.pinned_particles().collect();
    let (positions, masses, triangles) = (scene.positions(), scene.inverse_masses(), scene.triangles());
    format!("{positions:?} {masses:?} {triangles:?} {springs:?} {pins:?}")
}

/// An attempt on a scene or a player.
type On<T> = dyn Fn(&mut T) -> Result<()>;

type SceneCase = Case<On<Scene>>;

fn scene_case(
    what: &'static str,
    variant: &'static str,
    words: &'static [&'static str],
    attempt: impl Fn(&mut Scene) -> Result<()> + 'static,
) -> SceneCase {
    Case { what, variant, words, attempt: Box::new(attempt) }
}

fn particle(particle: Particle) -> impl Fn(&mut Scene) -> Result<()> {
    move |scene| scene.add_particle(particle).map(drop)
}

fn spring(particles: [u32; 2], rest_length: f32) -> impl Fn(&mut Scene) -> Result<()> {
    move |scene| scene.add(Distance { particles, rest_length }, Material::RIGID).map(drop)
}

fn spring_of(compliance: f32, damping: f32) -> impl Fn(&mut Scene) -> Result<()> {
    let constraint = Distance { particles: [0, 1], rest_length: 1.0 };
    move |scene| scene.add(constraint, Material { compliance, damping }).map(drop)
}

fn grid(change: impl Fn(&mut ClothGrid)) -> impl Fn(&mut Scene) -> Result<()> {
    move |scene| {
        let mut grid = ClothGrid { columns: 4, rows: 3, ..ClothGrid::default() };
        change(&mut grid);
        scene.add_cloth_grid(&grid).map(drop)
    }
}

fn mesh(
    positions: &'static [[f32; 3]],
    triangles: &'static [[u32; 3]],
    change: impl Fn(&mut ClothMesh),
) -> impl Fn(&mut Scene) -> Result<()> {
    move |scene| {
        let mut mesh = ClothMesh { positions, triangles, fabric: Fabric::default(), tethers: None };
        change(&mut mesh);
        scene.add_cloth_mesh(&mesh).map(drop)
    }
}

const CORD: Cord = Cord { linear_density: 0.1, axial_stiffness: 1e4, damping: 0.0, bend: None };

fn rope(points: &'static [[f32; 3]], change: impl Fn(&mut Rope)) -> impl Fn(&mut Scene) -> Result<()> {
    move |scene| {
        let mut rope = Rope { points, cord: CORD, tethers: None };
        change(&mut rope);
        scene.add_rope(&rope).map(drop)
    }
}

const SQUARE: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 1.0]];
const LINE: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]];

fn particle_cases() -> Vec<SceneCase> {
    let at = |position| particle(Particle { position, ..Particle::default() });
    let moving = |velocity| particle(Particle { velocity, ..Particle::default() });
    let of_mass = |inverse_mass| particle(Particle { inverse_mass, ..Particle::default() });
    vec![
        // `base` ends with particle 14.
        scene_case("a NaN position", "InvalidValue", &["position of particle 15", "NaN"], at([0.0, NAN, 0.0])),
        scene_case("an infinite position", "InvalidValue", &["position of particle 15", "inf"], at([INF, 0.0, 0.0])),
        scene_case("a position of −∞", "InvalidValue", &["position of particle 15", "-inf"], at([0.0, 0.0, -INF])),
        scene_case("a NaN velocity", "InvalidValue", &["velocity of particle 15", "NaN"], moving([NAN, 0.0, 0.0])),
        scene_case(
            "an infinite velocity",
            "InvalidValue",
            &["velocity of particle 15", "inf"],
            moving([0.0, INF, 0.0]),
        ),
        scene_case("a negative inverse mass", "InvalidValue", &["inverse mass of particle 15", "-0.5"], of_mass(-0.5)),
        scene_case("a NaN inverse mass", "InvalidValue", &["inverse mass of particle 15", "NaN"], of_mass(NAN)),
        scene_case("an infinite inverse mass", "InvalidValue", &["inverse mass of particle 15", "inf"], of_mass(INF)),
        scene_case("an inverse mass beyond 1e12", "InvalidValue", &["particle 15", "1125899906842624", "0 to 1e12"], {
            of_mass(1_125_899_906_842_624.0)
        }),
        scene_case("a pin past the end", "IndexOutOfRange", &["pin", "15"], |scene| scene.pin(15)),
        scene_case("a pin at u32::MAX", "IndexOutOfRange", &["4294967295", "15"], |scene| scene.pin(u32::MAX)),
        scene_case("a position past the end", "IndexOutOfRange", &["set_position", "99", "15"], |scene| {
            scene.set_position(99, [0.0; 3])
        }),
        scene_case("a NaN set_position", "InvalidValue", &["position of particle 3", "NaN"], |scene| {
            scene.set_position(3, [NAN; 3])
        }),
        scene_case("a velocity past the end", "IndexOutOfRange", &["set_velocity", "99", "15"], |scene| {
            scene.set_velocity(99, [0.0; 3])
        }),
        scene_case("an infinite set_velocity", "InvalidValue", &["velocity of particle 3", "inf"], |scene| {
            scene.set_velocity(3, [0.0, 0.0, INF])
        }),
    ]
}

fn constraint_cases() -> Vec<SceneCase> {
    // A material of a scene that has more of them.
    let foreign = || -> MaterialId {
        let mut other = Scene::new();
        (0..9).map(|_| other.add_material(Material::RIGID).unwrap()).last().unwrap()
    };
    // `base` holds the spring 0 and 39 of the cloth: 17 structural, 12 shear, 10 bend.
    vec![
        scene_case("an index past the end", "IndexOutOfRange", &["distance constraint 40", "15"], spring([0, 15], 1.0)),
        scene_case("an index of −1", "IndexOutOfRange", &["4294967295", "15"], spring([u32::MAX, 0], 1.0)),
        scene_case(
            "a spring to itself",
            "RepeatedIndex",
            &["distance constraint 40", "particle 7"],
            spring([7, 7], 1.0),
        ),
        scene_case("no rest length", "ZeroLength", &["distance constraint 40", "[0, 1]", "0 m"], spring([0, 1], 0.0)),
        scene_case("a rest length of −0", "ZeroLength", &["[0, 1]"], spring([0, 1], -0.0)),
        scene_case("a negative rest length", "InvalidValue", &["rest length", "-1.5"], spring([0, 1], -1.5)),
        scene_case("a NaN rest length", "InvalidValue", &["rest length", "40", "NaN"], spring([0, 1], NAN)),
        scene_case("an infinite rest length", "InvalidValue", &["rest length", "40", "inf"], spring([0, 1], INF)),
        scene_case("a negative compliance", "InvalidValue", &["compliance", "-0.25"], spring_of(-0.25, 0.0)),
        scene_case("a NaN compliance", "InvalidValue", &["compliance", "NaN"], spring_of(NAN, 0.0)),
        scene_case("an infinite compliance", "InvalidValue", &["compliance", "inf"], spring_of(INF, 0.0)),
        scene_case(
            "a huge compliance",
            "InvalidValue",
            &["compliance", "11805916207174113", "1e18"],
            spring_of(HUGE, 0.0),
        ),
        scene_case("a negative damping", "InvalidValue", &["damping", "-2"], spring_of(0.0, -2.0)),
        scene_case("a NaN damping", "InvalidValue", &["damping", "NaN"], spring_of(0.0, NAN)),
        scene_case("a huge damping", "InvalidValue", &["damping", "1e18"], spring_of(0.0, HUGE)),
        scene_case("a bad entry of the table", "InvalidValue", &["compliance of material 4", "-1"], |scene| {
            scene.add_material(Material::compliant(-1.0)).map(drop)
        }),
        scene_case("a material of another scene", "IndexOutOfRange", &["material", "8", "4"], move |scene| {
            scene.add_with(Distance { particles: [0, 1], rest_length: 1.0 }, foreign()).map(drop)
        }),
        scene_case("a look at a material of another scene", "IndexOutOfRange", &["8", "4"], move |scene| {
            scene.material(foreign()).map(drop)
        }),
        scene_case("strain of constraints past the end", "IndexOutOfRange", &["41", "40"], |scene| {
            let positions = scene.positions().to_vec();
            scene.strain(0..41, &positions).map(drop)
        }),
        scene_case("strain at positions of another scene", "LengthMismatch", &["2", "15"], |scene| {
            scene.strain(0..1, &[[0.0; 3]; 2]).map(drop)
        }),
    ]
}

fn grid_cases() -> Vec<SceneCase> {
    let tethers = |per_particle, scale| Some(Tethers { per_particle, scale });
    vec![
        scene_case("a grid of no rows", "InvalidValue", &["rows", "0", "at least 2"], grid(|grid| grid.rows = 0)),
        scene_case("a grid of one row", "InvalidValue", &["rows", "1", "at least 2"], grid(|grid| grid.rows = 1)),
        scene_case("a grid of no columns", "InvalidValue", &["columns", "0"], grid(|grid| grid.columns = 0)),
        scene_case("a grid of one column", "InvalidValue", &["columns", "1"], grid(|grid| grid.columns = 1)),
        scene_case(
            "a grid of more than 2³² constraints",
            "TooLarge",
            &["25769803776", "4294967295"],
            grid(|grid| (grid.columns, grid.rows) = (65_536, 65_536)),
        ),
        scene_case("a NaN origin", "InvalidValue", &["origin", "NaN"], grid(|grid| grid.origin[1] = NAN)),
        scene_case("an infinite axis", "InvalidValue", &["row axis", "inf"], grid(|grid| grid.row_axis[0] = INF)),
        scene_case(
            "a column axis of no length",
            "DegenerateTriangle",
            &["triangle 0", "12 such"],
            grid(|grid| {
                grid.column_axis = [0.0; 3];
            }),
        ),
        scene_case(
            "parallel axes",
            "DegenerateTriangle",
            &["triangle 0", "12 such"],
            grid(|grid| {
                grid.row_axis = [1.0, 0.0, 0.0];
            }),
        ),
        scene_case(
            "axes that overflow",
            "InvalidValue",
            &["position of mesh vertex", "inf"],
            grid(|grid| {
                (grid.origin[0], grid.column_axis[0]) = (3e38, 3e38);
            }),
        ),
        // Its particles round to the same place.
        scene_case("a small cloth far away", "DegenerateTriangle", &["12 such"], grid(|grid| grid.origin[0] = 1e12)),
        scene_case(
            "a massless fabric",
            "InvalidValue",
            &["area density", "0"],
            grid(|grid| {
                grid.fabric.area_density = 0.0;
            }),
        ),
        scene_case(
            "a NaN fabric",
            "InvalidValue",
            &["structural", "NaN"],
            grid(|grid| {
                grid.fabric.structural.compliance = NAN;
            }),
        ),
        scene_case(
            "a fabric of negative shear",
            "InvalidValue",
            &["shear", "-1"],
            grid(|grid| {
                grid.fabric.shear.compliance = -1.0;
            }),
        ),
        scene_case(
            "a fabric of huge bend",
            "InvalidValue",
            &["bend", "1e18"],
            grid(|grid| {
                grid.fabric.bend.damping = HUGE;
            }),
        ),
        scene_case("no tethers per particle", "InvalidValue", &["tethers per particle", "0", "1 to 8"], {
            grid(move |grid| grid.tethers = tethers(0, 1.0))
        }),
        scene_case("nine tethers per particle", "InvalidValue", &["tethers per particle", "9", "1 to 8"], {
            grid(move |grid| grid.tethers = tethers(9, 1.0))
        }),
        scene_case("tethers of NaN scale", "InvalidValue", &["scale of tethers", "NaN"], {
            grid(move |grid| grid.tethers = tethers(2, NAN))
        }),
        scene_case("tethers of no scale", "InvalidValue", &["scale of tethers", "0"], {
            grid(move |grid| grid.tethers = tethers(2, 0.0))
        }),
    ]
}

fn mesh_cases() -> Vec<SceneCase> {
    const NAN_SQUARE: [[f32; 3]; 4] = [SQUARE[0], SQUARE[1], [1.0, NAN, 1.0], SQUARE[3]];
    const FAR_SQUARE: [[f32; 3]; 4] = [SQUARE[0], [3e38, 0.0, 0.0], [3e38, 0.0, 3e38], SQUARE[3]];
    vec![
        scene_case("a mesh of no vertices", "Empty", &["vertex list"], mesh(&[], &[[0, 1, 2]], |_| {})),
        scene_case("a mesh of no triangles", "Empty", &["triangle list"], mesh(&SQUARE, &[], |_| {})),
        scene_case(
            "a NaN vertex",
            "InvalidValue",
            &["mesh vertex 2", "NaN"],
            mesh(&NAN_SQUARE, &[[0, 1, 2], [0, 2, 3]], |_| {}),
        ),
        // NaN in a vertex that no triangle names is still a particle.
        scene_case("a NaN vertex without triangles", "InvalidValue", &["mesh vertex 2"], {
            mesh(&NAN_SQUARE, &[[0, 1, 3]], |_| {})
        }),
        scene_case("a triangle past the end", "IndexOutOfRange", &["mesh triangle 1", "particle 4", "only 4"], {
            mesh(&SQUARE, &[[0, 1, 2], [0, 2, 4]], |_| {})
        }),
        scene_case("a triangle with −1", "IndexOutOfRange", &["mesh triangle 0", "4294967295"], {
            mesh(&SQUARE, &[[0, 1, u32::MAX]], |_| {})
        }),
        scene_case("a triangle with a repeated vertex", "RepeatedIndex", &["mesh triangle 1", "particle 3"], {
            mesh(&SQUARE, &[[0, 1, 2], [3, 2, 3]], |_| {})
        }),
        scene_case("triangles of no area", "DegenerateTriangle", &["triangle 0", "[0, 1, 2]", "0e0", "2 such"], {
            mesh(&LINE, &[[0, 1, 2], [2, 1, 0]], |_| {})
        }),
        scene_case("triangles whose area overflows", "DegenerateTriangle", &["triangle 0", "inf"], {
            mesh(&FAR_SQUARE, &[[0, 1, 2]], |_| {})
        }),
        scene_case("coincident vertices", "DegenerateTriangle", &["[0, 1, 2]"], {
            mesh(&[[0.0; 3], [0.0; 3], [1.0, 0.0, 0.0]], &[[0, 1, 2]], |_| {})
        }),
        scene_case("a mesh of NaN density", "InvalidValue", &["area density", "NaN"], {
            mesh(&SQUARE, &[[0, 1, 2]], |mesh| mesh.fabric.area_density = NAN)
        }),
        scene_case("a mesh of bad tethers", "InvalidValue", &["tethers per particle", "9"], {
            mesh(&SQUARE, &[[0, 1, 2]], |mesh| mesh.tethers = Some(Tethers { per_particle: 9, scale: 1.0 }))
        }),
    ]
}

fn rope_cases() -> Vec<SceneCase> {
    vec![
        scene_case("a rope of no points", "Empty", &["fewer than two points"], rope(&[], |_| {})),
        scene_case("a rope of one point", "Empty", &["fewer than two points"], rope(&[[0.0; 3]], |_| {})),
        scene_case("coincident points", "ZeroLength", &["segment 1", "[16, 17]", "0 m"], {
            rope(&[LINE[0], LINE[1], LINE[1], LINE[2]], |_| {})
        }),
        scene_case("a NaN point", "InvalidValue", &["point 1 of a rope", "NaN"], rope(&[LINE[0], [NAN; 3]], |_| {})),
        scene_case("a segment that overflows", "ZeroLength", &["segment 0", "inf"], {
            rope(&[[-3e38, 0.0, 0.0], [3e38, 0.0, 0.0]], |_| {})
        }),
        scene_case("a massless cord", "InvalidValue", &["linear density", "0"], {
            rope(&LINE, |rope| rope.cord.linear_density = 0.0)
        }),
        scene_case("a cord without stiffness", "InvalidValue", &["axial stiffness", "0"], {
            rope(&LINE, |rope| rope.cord.axial_stiffness = 0.0)
        }),
        scene_case("a cord of NaN stiffness", "InvalidValue", &["axial stiffness", "NaN"], {
            rope(&LINE, |rope| rope.cord.axial_stiffness = NAN)
        }),
        scene_case("a cord of negative damping", "InvalidValue", &["damping of a cord", "-1"], {
            rope(&LINE, |rope| rope.cord.damping = -1.0)
        }),
        scene_case("a cord of bad bend", "InvalidValue", &["bend", "-1"], {
            rope(&LINE, |rope| rope.cord.bend = Some(Material::compliant(-1.0)))
        }),
        scene_case("a rope of bad tethers", "InvalidValue", &["scale of tethers", "-1"], {
            rope(&LINE, |rope| rope.tethers = Some(Tethers { per_particle: 1, scale: -1.0 }))
        }),
    ]
}

#[test]
fn scenes_refuse_bad_input_by_name_and_stay_as_they_were() {
    let mut cases = particle_cases();
    cases.extend(constraint_cases());
    cases.extend(grid_cases());
    cases.extend(mesh_cases());
    cases.extend(rope_cases());
    assert!(cases.len() >= 40, "{}", cases.len());
    let mut faults = Vec::new();
    for case in &cases {
        let mut scene = base();
        let before = fingerprint(&scene);
        faults.extend(fault(case, (case.attempt)(&mut scene)));
        if fingerprint(&scene) != before {
            faults.push(format!("{}: the scene has changed", case.what));
        }
    }
    assert_no_faults(faults);
}

type SettingsCase = Case<dyn Fn(&mut Settings)>;

fn settings_cases() -> Vec<SettingsCase> {
    fn case(
        what: &'static str,
        words: &'static [&'static str],
        attempt: impl Fn(&mut Settings) + 'static,
    ) -> SettingsCase {
        Case { what, variant: "InvalidValue", words, attempt: Box::new(attempt) }
    }
    fn wind(change: impl Fn(&mut Wind)) -> impl Fn(&mut Settings) {
        move |settings| change(settings.wind.get_or_insert_default())
    }
    vec![
        case("no dt", &["dt", "0"], |settings| settings.dt = 0.0),
        case("a NaN dt", &["dt", "NaN"], |settings| settings.dt = NAN),
        case("a negative dt", &["dt", "-0.5"], |settings| settings.dt = -0.5),
        case("an infinite dt", &["dt", "inf"], |settings| settings.dt = INF),
        case("a dt of two seconds", &["dt", "2", "at most 1"], |settings| settings.dt = 2.0),
        case("a tiny dt", &["dt", "at least 1e-6"], |settings| settings.dt = 1e-9),
        case("no substeps", &["substeps", "0", "1 to 10 000"], |settings| settings.substeps = 0),
        case("too many substeps", &["substeps", "10001"], |settings| settings.substeps = 10_001),
        case("no iterations", &["iterations", "0", "1 to 1 000"], |settings| settings.iterations = 0),
        case("too many iterations", &["iterations", "1001"], |settings| settings.iterations = 1_001),
        case("NaN gravity", &["gravity", "NaN"], |settings| settings.gravity[1] = NAN),
        case("infinite gravity", &["gravity", "-inf"], |settings| settings.gravity[1] = -INF),
        case("gravity of a neutron star", &["gravity", "2000000", "1e6"], |settings| settings.gravity[0] = 2e6),
        case("negative damping", &["damping", "-0.25"], |settings| settings.damping = -0.25),
        case("NaN damping", &["damping", "NaN"], |settings| settings.damping = NAN),
        case("NaN wind", &["wind velocity", "NaN"], wind(|wind| wind.velocity[2] = NAN)),
        case("infinite wind", &["wind velocity", "inf"], wind(|wind| wind.velocity[0] = INF)),
        case("wind beyond escape", &["wind velocity", "-2000000", "1e6"], wind(|wind| wind.velocity[2] = -2e6)),
        case("air denser than any star", &["air density", "2000000", "1e6"], wind(|wind| wind.density = 2e6)),
        case("too strong gusts", &["gust", "11", "0 to 10"], wind(|wind| wind.gust = 11.0)),
        case("NaN gusts", &["gust", "NaN"], wind(|wind| wind.gust = NAN)),
        case("a negative gust frequency", &["gust frequency", "-1"], wind(|wind| wind.gust_frequency = -1.0)),
        case("no gust length", &["gust length", "0"], wind(|wind| wind.gust_length = 0.0)),
        case("negative air density", &["air density", "-1"], wind(|wind| wind.density = -1.0)),
        case("NaN drag", &["drag", "NaN"], wind(|wind| wind.drag = NAN)),
        case("negative lift", &["lift", "-1"], wind(|wind| wind.lift = -1.0)),
    ]
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let mut faults = Vec::new();
    let mut reference = Reference::new(&base(), Settings::default()).unwrap();
    for case in settings_cases() {
        let mut settings = Settings::default();
        (case.attempt)(&mut settings);
        faults.extend(fault(&case, settings.check()));
        faults.extend(fault(&case, Reference::new(&base(), settings)));
        faults.extend(fault(&case, reference.set_settings(settings)));
    }
    assert_eq!(*reference.settings(), Settings::default());
    assert_no_faults(faults);
}

#[test]
fn settings_at_the_ends_of_their_ranges_run() {
    let ends = [
        Settings { dt: 1e-6, substeps: 1, ..Settings::default() },
        Settings { dt: 1.0, substeps: 1, ..Settings::default() },
        Settings { dt: 1e-6, substeps: 10_000, ..Settings::default() },
        Settings { substeps: 1, iterations: 1_000, ..Settings::default() },
        Settings { damping: f32::MAX, ..Settings::default() },
        Settings {
            gravity: [0.0; 3],
            wind: Some(Wind { velocity: [0.0; 3], ..Wind::default() }),
            ..Settings::default()
        },
    ];
    for settings in ends {
        let mut reference = Reference::new(&base(), settings).unwrap();
        reference.step(1);
        assert_eq!(reference.non_finite_count(), 0, "{settings:?}");
    }
}

#[test]
fn meshes_that_are_odd_are_taken_and_reported() {
    // Three triangles on one edge, a vertex of none, and one that runs the same way as its neighbour.
    let positions = [SQUARE[0], SQUARE[1], SQUARE[2], [0.5, 1.0, 0.2], [0.5, -1.0, 0.3], [9.0, 9.0, 9.0]];
    let mut scene = Scene::new();
    let triangles = [[0, 1, 2], [1, 0, 3], [1, 0, 4]];
    let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric: Fabric::default(), tethers: None };
    let cloth = scene.add_cloth_mesh(&mesh).unwrap();
    let report = cloth.report;
    assert_eq!(report.non_manifold_edges, 1);
    assert_eq!(report.isolated_vertices, 1);
    assert_eq!(report.inconsistent_edges, 1);
    assert_eq!(report.boundary_edges, 6);
    // Each further triangle is paired with the one before.
    assert_eq!(cloth.bend.len(), 2);
    // The lone vertex has a mass, and falls.
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    reference.step(10);
    assert!(reference.positions()[5][1] < 8.9);
    assert_eq!(reference.non_finite_count(), 0);
}

#[test]
fn ranges_of_constraints_past_the_end_hold_none() {
    let scene = base();
    let count = scene.constraint_count() as u32;
    assert_eq!(scene.distances(0..count).count(), count as usize);
    assert_eq!(scene.distances(0..count + 1).count(), 0);
    assert_eq!(scene.distances(u32::MAX - 1..u32::MAX).count(), 0);
    let backwards = std::ops::Range { start: 3, end: 1 };
    assert_eq!(scene.distances(backwards).count(), 0);
}

#[test]
fn masses_beyond_f32_are_refused() {
    // The inverse of a mass that underflows is infinite, and that of one that overflows is 0: pinned without a word.
    let light = grid(|grid| grid.fabric.area_density = 1e-39);
    let heavy = grid(|grid| (grid.fabric.area_density, grid.row_axis) = (3e38, [0.0, 0.0, 1e4]));
    let thin = rope(&LINE, |rope| rope.cord.linear_density = 1e-40);
    let fat = rope(&[[0.0; 3], [1e4, 0.0, 0.0]], |rope| rope.cord.linear_density = 3e38);
    let attempts: [(&str, &On<Scene>); 4] =
        [("a light cloth", &light), ("a heavy cloth", &heavy), ("a light rope", &thin), ("a heavy rope", &fat)];
    let mut faults = Vec::new();
    for (what, attempt) in attempts {
        let mut scene = Scene::new();
        if attempt(&mut scene).is_ok() {
            let odd = scene.inverse_masses().iter().filter(|w| !(w.is_finite() && **w > 0.0)).count();
            faults.push(format!("{what}: accepted, with {odd} inverse masses of 0 or infinity"));
        }
    }
    assert_no_faults(faults);
}

#[test]
fn cords_whose_segments_are_beyond_the_limits_of_a_material_are_refused() {
    // α = L/(EA) overflows although L and EA are in range.
    let soft = |rope: &mut Rope| rope.cord.axial_stiffness = 1e-30;
    let damped = |rope: &mut Rope| rope.cord.damping = HUGE;
    let mut faults = Vec::new();
    for (what, outcome) in
        [("compliance", rope(&LINE, soft)(&mut Scene::new())), ("damping", rope(&LINE, damped)(&mut Scene::new()))]
    {
        if outcome.is_ok() {
            faults.push(format!("{what} of a segment beyond Material::LIMIT: accepted"));
        }
    }
    assert_no_faults(faults);
}

// ------------------------------------------------------------------------------------------------ while running

fn bits(vectors: &[[f32; 3]]) -> Vec<[u32; 3]> {
    vectors.iter().map(|vector| vector.map(f32::to_bits)).collect()
}

/// The first particle whose positions differ in a bit.
fn first_changed(left: &[[f32; 3]], right: &[[f32; 3]]) -> Option<usize> {
    assert_eq!(left.len(), right.len());
    bits(left).iter().zip(bits(right)).position(|(left, right)| *left != right)
}

/// The same call on both players.
struct Attempt {
    on_gpu: Box<On<Solver>>,
    on_reference: Box<On<Reference>>,
}

/// A case whose call is spelled alike for both players.
macro_rules! running_case {
    ($what:expr, $variant:expr, $words:expr, |$player:ident| $call:expr) => {
        Case {
            what: $what,
            variant: $variant,
            words: $words,
            attempt: Box::new(Attempt { on_gpu: Box::new(|$player| $call), on_reference: Box::new(|$player| $call) }),
        }
    };
}

/// Mistakes with `base`: 15 particles, 2 is massless, 3 is pinned.
fn running_cases(foreign: MaterialId) -> Vec<Case<Attempt>> {
    vec![
        running_case!("a target of a free particle", "NotPinned", &["particle 1 "], |p| p.set_target(1, [0.0; 3])),
        running_case!("a target past the end", "IndexOutOfRange", &["set_target", "15"], |p| p
            .set_target(15, [0.0; 3])),
        running_case!("a target of −1", "IndexOutOfRange", &["4294967295"], |p| p.set_target(u32::MAX, [0.0; 3])),
        running_case!("a NaN target", "InvalidValue", &["target of particle 3", "NaN"], |p| p.set_target(3, [NAN; 3])),
        running_case!("an infinite target", "InvalidValue", &["target of particle 3", "inf"], |p| {
            p.set_target(3, [0.0, INF, 0.0])
        }),
        running_case!("a release of a massless particle", "InvalidValue", &["inverse mass of particle 2", "0"], |p| {
            p.release(&[2])
        }),
        // The first of the list would be lawful.
        running_case!("a release past the end", "IndexOutOfRange", &["release", "15"], |p| p.release(&[3, 15])),
        running_case!("a pin past the end", "IndexOutOfRange", &["pin", "77", "15"], |p| p.pin(&[0, 1, 77])),
        running_case!("a pin at u32::MAX", "IndexOutOfRange", &["pin", "4294967295"], |p| p.pin(&[u32::MAX])),
        running_case!("positions past the end", "IndexOutOfRange", &["position", "16", "15"], |p| {
            p.set_positions(14, &[[0.0; 3]; 2])
        }),
        running_case!("positions from u32::MAX", "IndexOutOfRange", &["4294967296", "15"], |p| {
            p.set_positions(u32::MAX, &[[0.0; 3]])
        }),
        running_case!("a NaN position", "InvalidValue", &["position of particle 5", "NaN"], |p| {
            p.set_positions(4, &[[0.0; 3], [0.0, NAN, 0.0]])
        }),
        running_case!("velocities past the end", "IndexOutOfRange", &["velocity", "17", "15"], |p| {
            p.set_velocities(0, &[[0.0; 3]; 17])
        }),
        running_case!("an infinite velocity", "InvalidValue", &["velocity of particle 0", "inf"], |p| {
            p.set_velocities(0, &[[INF; 3]])
        }),
        running_case!("settings without substeps", "InvalidValue", &["substeps", "0"], |p| {
            p.set_settings(Settings { substeps: 0, ..Settings::default() })
        }),
        running_case!("settings of NaN dt that also want λ", "InvalidValue", &["dt", "NaN"], |p| {
            p.set_settings(Settings { dt: NAN, keep_lambdas: true, ..Settings::default() })
        }),
        Case {
            what: "a material of another scene",
            variant: "IndexOutOfRange",
            words: &["material", "8", "4"],
            attempt: Box::new(Attempt {
                on_gpu: Box::new(move |p| p.set_material(foreign, Material::RIGID)),
                on_reference: Box::new(move |p| p.set_material(foreign, Material::RIGID)),
            }),
        },
    ]
}

fn running_scene() -> Scene {
    let mut scene = base();
    scene.pin(3).unwrap();
    scene
}

#[test]
fn a_running_solver_refuses_mistakes_and_goes_on_as_if_they_had_not_been() {
    let gpu = gpu();
    let scene = running_scene();
    let foreign = (0..9).map(|_| Scene::add_material).fold((Scene::new(), None), |(mut other, _), add| {
        let id = add(&mut other, Material::RIGID).unwrap();
        (other, Some(id))
    });
    let foreign = foreign.1.expect("nine materials");
    let mut tried = solver(&gpu, &scene, Settings::default());
    let mut untouched = solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    step(&gpu, &mut tried, 3);
    step(&gpu, &mut untouched, 3);
    reference.step(3);

    let before = tried.read_positions().unwrap();
    let mut faults = Vec::new();
    for case in running_cases(foreign) {
        let (on_gpu, on_reference) = ((case.attempt.on_gpu)(&mut tried), (case.attempt.on_reference)(&mut reference));
        if format!("{on_gpu:?}") != format!("{on_reference:?}") {
            faults.push(format!("{}: {on_gpu:?} against {on_reference:?} of the reference", case.what));
        }
        faults.extend(fault(&case, on_gpu));
        if first_changed(&before, &tried.read_positions().unwrap()).is_some() {
            faults.push(format!("{}: positions have changed", case.what));
        }
    }
    // What λ would be is not kept.
    let what = "λ that is not kept";
    let case: Case<()> = Case { what, variant: "InvalidValue", words: &["keep_lambdas"], attempt: Box::new(()) };
    faults.extend(fault(&case, tried.read_lambdas::<Distance>()));
    let case: Case<()> = Case { what: "is_pinned past the end", variant: "IndexOutOfRange", words: &["15"], ..case };
    faults.extend(fault(&case, tried.is_pinned(15)));
    assert_no_faults(faults);

    step(&gpu, &mut tried, 5);
    step(&gpu, &mut untouched, 5);
    let pairs = [
        ("position", tried.read_positions().unwrap(), untouched.read_positions().unwrap()),
        ("velocity", tried.read_velocities().unwrap(), untouched.read_velocities().unwrap()),
    ];
    for (what, tried, untouched) in pairs {
        assert_eq!(first_changed(&tried, &untouched), None, "the first particle whose {what} has changed");
    }
    assert_eq!(*tried.settings(), Settings::default());
    assert_eq!(tried.read_diagnostics().unwrap(), untouched.read_diagnostics().unwrap());
}

#[test]
fn real_time_that_is_no_number_counts_as_none() {
    let gpu = gpu();
    let mut solver = solver(&gpu, &base(), Settings::default());
    for nonsense in [NAN, INF, -INF, -1.0] {
        assert_eq!(solver.advance(nonsense), 0, "{nonsense}");
        assert_eq!(solver.interpolation(), 0.0, "{nonsense}");
    }
    for long in [1.0, 1e10, f32::MAX] {
        assert_eq!(solver.advance(long), 4, "{long} s");
        assert!((0.0..=1.0).contains(&solver.interpolation()), "{long} s: {}", solver.interpolation());
    }
}

#[test]
fn an_empty_scene_is_refused() {
    let gpu = gpu();
    let outcome = Solver::new(&gpu.device, &gpu.queue, &Scene::new(), Settings::default());
    assert!(matches!(outcome, Err(Error::Empty { .. })), "{outcome:?}");
}

#[test]
fn both_players_refuse_an_empty_scene() {
    // "As `Solver::new`, but for the device."
    let outcome = Reference::new(&Scene::new(), Settings::default());
    assert!(matches!(outcome, Err(Error::Empty { .. })), "{:?}", outcome.map(drop));
}

#[test]
fn a_scene_over_the_limits_of_the_device_is_refused_with_both_numbers() {
    const ROOM: u64 = 65_536;
    let small = |limits: wgpu::Limits| Context::new(limits).unwrap_or_else(|error| panic!("{error}"));
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns: 100, rows: 100, ..ClothGrid::default() }).unwrap();

    let gpu = small(wgpu::Limits { max_storage_buffer_binding_size: ROOM, ..wgpu::Limits::default() });
    let outcome = Solver::new(&gpu.device, &gpu.queue, &scene, Settings::default()).map(drop);
    let Err(Error::LimitExceeded { what, limit, needed, available }) = outcome else { panic!("{outcome:?}") };
    assert_eq!((limit, available), ("max_storage_buffer_binding_size", ROOM), "{what}");
    assert!(needed > ROOM, "{needed}");
    // What it asks for is enough.
    let enough = supple::required_limits(&scene);
    assert!(enough.max_storage_buffer_binding_size >= needed);
    // The device is as good as before.
    let mut alive = solver(&gpu, &base(), Settings::default());
    step(&gpu, &mut alive, 1);
    assert_eq!(alive.read_diagnostics().map(|found| found.steps), Ok(1));

    let gpu = small(wgpu::Limits { max_buffer_size: ROOM, ..wgpu::Limits::default() });
    let outcome = Solver::new(&gpu.device, &gpu.queue, &scene, Settings::default()).map(drop);
    assert!(matches!(outcome, Err(Error::LimitExceeded { limit: "max_buffer_size", .. })), "{outcome:?}");

    let gpu = small(wgpu::Limits { max_storage_buffers_per_shader_stage: 4, ..wgpu::Limits::default() });
    let outcome = Solver::new(&gpu.device, &gpu.queue, &base(), Settings::default()).map(drop);
    let Err(Error::LimitExceeded { limit, available, .. }) = outcome else { panic!("{outcome:?}") };
    assert_eq!((limit, available), ("max_storage_buffers_per_shader_stage", 4));
}

#[test]
fn limits_that_no_adapter_has_are_refused() {
    let limits = wgpu::Limits { max_storage_buffer_binding_size: 1 << 60, ..wgpu::Limits::default() };
    let outcome = Context::new(limits).map(drop);
    let Err(Error::LimitExceeded { limit, needed, .. }) = outcome else { panic!("{outcome:?}") };
    assert_eq!((limit, needed), ("max_storage_buffer_binding_size", 1 << 60));
}

/// Runs in a thread of its own, and fails if it takes longer than a minute.
fn within_a_minute<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || sender.send(run()));
    match receiver.recv_timeout(Duration::from_secs(60)) {
        Ok(outcome) => outcome,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: hangs"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            panic!("{what}: panicked: {:?}", thread.join().err().and_then(|fault| fault.downcast::<String>().ok()))
        }
    }
}

#[test]
fn a_device_that_is_destroyed_is_an_error_and_neither_a_panic_nor_a_hang() {
    let outcomes = within_a_minute("a destroyed device", || {
        let gpu = gpu();
        let mut solver = solver(&gpu, &base(), Settings::default());
        step(&gpu, &mut solver, 2);
        assert!(solver.read_positions().is_ok());
        // With work under way.
        step(&gpu, &mut solver, 50);
        gpu.device.destroy();
        [
            ("read_positions", solver.read_positions().map(drop)),
            ("read_velocities", solver.read_velocities().map(drop)),
            ("read_diagnostics", solver.read_diagnostics().map(drop)),
            ("Solver::new", Solver::new(&gpu.device, &gpu.queue, &base(), Settings::default()).map(drop)),
        ]
    });
    for (what, outcome) in outcomes {
        let lost = matches!(outcome, Err(Error::DeviceLost { .. } | Error::Gpu { .. }));
        assert!(lost, "{what}: {outcome:?}");
    }
}

#[test]
fn calls_on_a_destroyed_device_neither_panic_nor_hang() {
    within_a_minute("calls on a destroyed device", || {
        let gpu = gpu();
        let mut solver = solver(&gpu, &running_scene(), Settings::default());
        gpu.device.destroy();
        // A program may notice only later. What the calls return is their own affair.
        let outcomes = [
            solver.set_positions(0, &[[0.0; 3]]),
            solver.set_velocities(0, &[[0.0; 3]]),
            solver.set_target(3, [0.0; 3]),
            solver.pin(&[4]),
            solver.release(&[4]),
            solver.set_settings(Settings { iterations: 2, ..Settings::default() }),
        ];
        drop(outcomes);
        solver.reset();
        step(&gpu, &mut solver, 2);
        assert!(solver.read_positions().is_err());
    });
}

#[test]
fn a_request_made_before_the_device_was_destroyed_is_an_error() {
    within_a_minute("a request under way", || {
        let gpu = gpu();
        let solver = solver(&gpu, &base(), Settings::default());
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut request = solver.request_positions(&mut encoder);
        gpu.device.destroy();
        gpu.queue.submit([encoder.finish()]);
        // A program polls once a frame.
        for _ in 0..100 {
            if let Err(error) = gpu.device.poll(wgpu::PollType::Poll) {
                println!("poll: {error}");
            }
            match request.try_take() {
                Err(Error::DeviceLost { .. }) => return,
                Err(error) => panic!("{error}"),
                Ok(Some(_)) => panic!("it delivered"),
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        panic!("for ever on its way");
    });
}

// ------------------------------------------------------------------------------------------------ odd but lawful

fn all_finite(vectors: &[[f32; 3]]) -> bool {
    vectors.iter().flatten().all(|component| component.is_finite())
}

#[test]
fn a_position_that_would_be_nan_is_counted_and_not_taken() {
    let gpu = gpu();
    let scene = running_scene();
    let mut solver = solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    // At the second step it leaves the range of f32, if the spring to particle 1 has not pulled by ∞ · 0 before.
    let settings = Settings { dt: 1.0, substeps: 1, ..Settings::default() };
    let mut set_off = |velocity: [f32; 3]| {
        solver.set_settings(settings)?;
        reference.set_settings(settings)?;
        solver.set_velocities(0, &[velocity])?;
        reference.set_velocities(0, &[velocity])
    };
    set_off([3e38, 3e38, 0.0]).unwrap();
    step(&gpu, &mut solver, 2);
    reference.step(2);
    let found = solver.read_diagnostics().unwrap();
    assert!(found.non_finite_count > 0, "{found:?}");
    assert!(found.first_non_finite.is_some_and(|particle| particle <= 1), "{found:?}");
    let positions = solver.read_positions().unwrap();
    assert!(all_finite(&positions));
    assert!(reference.non_finite_count() > 0);
    assert!(all_finite(&reference.positions()));
    // The cloth beside it has noticed nothing.
    let tolerance = if common::is_exact(&gpu) { 0.0 } else { 1e-4 };
    assert_eq!(common::first_unequal(&positions[3..], &reference.positions()[3..], tolerance), None);
    // A reset forgets it.
    solver.reset();
    step(&gpu, &mut solver, 1);
    let found = solver.read_diagnostics().unwrap();
    assert_eq!((found.steps, found.non_finite_count, found.first_non_finite), (1, 0, None));
}

#[test]
fn both_players_hold_the_same_particles() {
    // The square of the spring's length overflows.
    let gpu = gpu();
    let scene = running_scene();
    let mut solver = solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    solver.set_velocities(0, &[[3e38, 3e38, 0.0]]).unwrap();
    reference.set_velocities(0, &[[3e38, 3e38, 0.0]]).unwrap();
    step(&gpu, &mut solver, 2);
    reference.step(2);
    assert_eq!(solver.read_diagnostics().unwrap().non_finite_count, reference.non_finite_count());
    let positions = solver.read_positions().unwrap();
    assert_eq!(common::first_unequal(&positions, &reference.positions(), 1e-4), None);
}

#[test]
fn a_free_particle_that_leaves_the_range_of_f32_stays_at_its_end() {
    let gpu = gpu();
    let mut scene = Scene::new();
    scene.add_particle(Particle::default()).unwrap();
    scene.add_particle(Particle { position: [1.0, 2.0, 3.0], ..Particle::default() }).unwrap();
    let settings = Settings { dt: 1.0, substeps: 4, ..Settings::default() };
    let mut solver = solver(&gpu, &scene, settings);
    solver.set_velocities(1, &[[3e38, 0.0, 0.0]]).unwrap();
    step(&gpu, &mut solver, 5);
    let found = solver.read_diagnostics().unwrap();
    assert!(found.non_finite_count > 0, "{found:?}");
    assert_eq!(found.first_non_finite, Some(1));
    let positions = solver.read_positions().unwrap();
    assert!(all_finite(&positions), "{positions:?}");
    assert!(positions[1][0] > 1e38, "{positions:?}");
    assert!(all_finite(&solver.read_velocities().unwrap()));
}

#[test]
fn a_target_out_of_reach_leaves_everything_finite() {
    // The velocity that would reach it in a step is beyond f32.
    let gpu = gpu();
    let mut solver = solver(&gpu, &running_scene(), Settings::default());
    solver.set_target(3, [f32::MAX; 3]).unwrap();
    step(&gpu, &mut solver, 3);
    assert!(all_finite(&solver.read_positions().unwrap()));
}

/// Plays a scene on both players, and returns the positions on the GPU once both agree, all finite, with nothing held.
fn played(scene: &Scene, settings: Settings, steps: u32) -> Vec<[f32; 3]> {
    let gpu = gpu();
    let mut on_gpu = solver(&gpu, scene, settings);
    let mut reference = Reference::new(scene, settings).unwrap();
    step(&gpu, &mut on_gpu, steps);
    reference.step(steps);
    let positions = on_gpu.read_positions().unwrap();
    assert!(all_finite(&positions));
    assert_eq!(on_gpu.read_diagnostics().unwrap().non_finite_count, 0);
    let tolerance = if common::is_exact(&gpu) { 0.0 } else { 1e-4 };
    assert_eq!(common::first_unequal(&positions, &reference.positions(), tolerance), None);
    positions
}

#[test]
fn a_rigid_spring_between_two_pins_does_nothing() {
    // 0/0, and the spring is too short by half.
    let mut scene = Scene::new();
    for x in [0.0, 1.0] {
        let index = scene.add_particle(Particle { position: [x, 1.0, 2.0], ..Particle::default() }).unwrap();
        scene.pin(index).unwrap();
    }
    scene.add(Distance { particles: [0, 1], rest_length: 0.5 }, Material::RIGID).unwrap();
    let positions = played(&scene, Settings { iterations: 3, ..Settings::default() }, 5);
    assert_eq!(first_changed(&positions, scene.positions()), None);
}

#[test]
fn nothing_moves_where_everything_is_pinned() {
    let mut scene = running_scene();
    (0..scene.particle_count() as u32).for_each(|particle| scene.pin(particle).unwrap());
    let positions = played(&scene, Settings::default(), 5);
    assert_eq!(first_changed(&positions, scene.positions()), None);
}

#[test]
fn a_spring_between_coincident_particles_rests() {
    // It has no direction. Both fall, side by side.
    let mut scene = Scene::new();
    for _ in 0..2 {
        scene.add_particle(Particle { position: [0.25, 1.0, -3.0], ..Particle::default() }).unwrap();
    }
    for material in [Material::RIGID, Material { compliance: 1e-3, damping: 1.0 }] {
        scene.add(Distance { particles: [0, 1], rest_length: 0.5 }, material).unwrap();
    }
    let positions = played(&scene, Settings::default(), 10);
    assert_eq!(positions[0], positions[1]);
    assert!(positions[0][1] < 0.9);
}

#[test]
fn extreme_materials_and_masses_stay_finite() {
    let mut scene = Scene::new();
    let masses = [1e-30, 1e12, 1.0, 1e-12, 1e12, f32::MIN_POSITIVE];
    for (k, inverse_mass) in masses.into_iter().enumerate() {
        let position = [k as f32, 0.1 * (k % 2) as f32, 0.0];
        scene.add_particle(Particle { position, inverse_mass, ..Particle::default() }).unwrap();
    }
    let limit = Material::LIMIT;
    let materials = [(0.0, 0.0), (limit, limit), (1e-45, limit), (limit, 0.0), (1e-30, 1e-30)];
    for (k, (compliance, damping)) in (0..).zip(materials) {
        let constraint = Distance { particles: [k, k + 1], rest_length: 1.0 };
        scene.add(constraint, Material { compliance, damping }).unwrap();
    }
    let gpu = gpu();
    let mut on_gpu = solver(&gpu, &scene, Settings::default());
    step(&gpu, &mut on_gpu, 5);
    assert!(all_finite(&on_gpu.read_positions().unwrap()));
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    reference.step(5);
    assert!(all_finite(&reference.positions()));
}

#[test]
fn a_velocity_survives_a_change_of_the_time_step() {
    // The state is a displacement per substep, which means another velocity as soon as the substep changes.
    let gpu = gpu();
    let mut scene = Scene::new();
    let velocity = [1.0, -2.0, 0.5];
    scene.add_particle(Particle { velocity, ..Particle::default() }).unwrap();
    let settings = |dt: f32, substeps| Settings { dt, substeps, gravity: [0.0; 3], ..Settings::default() };
    let plays = [(1.0 / 60.0, 20), (1.0 / 30.0, 20), (1.0 / 60.0, 7), (0.1, 1), (1.0 / 240.0, 50)];
    let mut on_gpu = solver(&gpu, &scene, settings(plays[0].0, plays[0].1));
    let mut time = 0.0;
    for (dt, substeps) in plays {
        on_gpu.set_settings(settings(dt, substeps)).unwrap();
        step(&gpu, &mut on_gpu, 3);
        time += 3.0 * dt;
        let position = on_gpu.read_positions().unwrap()[0];
        let expected = velocity.map(|component| component * time);
        assert_eq!(common::first_unequal(&[position], &[expected], 1e-5), None, "{position:?}, not {expected:?}");
    }
}

#[test]
fn a_cloth_takes_changes_of_the_time_step_as_the_reference_does() {
    let gpu = gpu();
    let (scene, _) = common::hanging_cloth(9, 8);
    let mut on_gpu = solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    for (dt, substeps, iterations) in [(1.0 / 60.0, 20, 1), (1.0 / 30.0, 5, 2), (1.0 / 240.0, 1, 1), (0.1, 40, 3)] {
        let settings = Settings { dt, substeps, iterations, ..Settings::default() };
        on_gpu.set_settings(settings).unwrap();
        reference.set_settings(settings).unwrap();
        step(&gpu, &mut on_gpu, 4);
        reference.step(4);
        let positions = on_gpu.read_positions().unwrap();
        assert!(all_finite(&positions));
        let tolerance = if common::is_exact(&gpu) { 0.0 } else { 1e-3 };
        assert_eq!(common::first_unequal(&positions, &reference.positions(), tolerance), None, "{settings:?}");
    }
}
