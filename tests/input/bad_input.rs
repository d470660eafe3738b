//! Bad input to a scene or to settings causes an error that names the field and the number, and changes nothing.

use crate::attempts::{SettingsCase, settings_case};
use crate::common::cases::*;
use supple::{
    ClothGrid, ClothMesh, Cord, Distance, Fabric, Material, MaterialId, Particle, Reference, Result, Rope, Scene,
    Settings, Tethers, Wind,
};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;
/// 2⁷⁰, beyond [`Material::LIMIT`].
const HUGE: f32 = 1_180_591_620_717_411_303_424.0;

/// All public data of a scene as text.
fn fingerprint(scene: &Scene) -> String {
    let springs: Vec<Distance> = scene.distances(0..scene.constraint_count() as u32).collect();
    let pins: Vec<u32> = scene.pinned_particles().collect();
    let (positions, masses, triangles) = (scene.positions(), scene.inverse_masses(), scene.triangles());
    format!("{positions:?} {masses:?} {triangles:?} {springs:?} {pins:?}")
}

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
    move |scene| scene.add(constraint, Material { compliance, damping, ..Material::RIGID }).map(drop)
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

const CORD: Cord = Cord { linear_density: 0.1, axial_stiffness: 1e4, damping: 0.0, bend: None, flexural_rigidity: 0.0 };

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
        // The last particle of `base` is 14.
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
    // A material id of a scene with more materials.
    let foreign = || -> MaterialId {
        let mut other = Scene::new();
        (0..9).map(|_| other.add_material(Material::RIGID).unwrap()).last().unwrap()
    };
    // `base` has spring 0 and the 39 springs of the cloth: 17 structural, 12 shear, 10 bend.
    vec![
        scene_case("an index past the end", "IndexOutOfRange", &["distance constraint 40", "15"], spring([0, 15], 1.0)),
        scene_case("an index of −1", "IndexOutOfRange", &["4294967295", "15"], spring([u32::MAX, 0], 1.0)),
        scene_case(
            "a spring to itself",
            "RepeatedIndex",
            &["distance constraint 40", "particle 7"],
            spring([7, 7], 1.0),
        ),
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
        // Its particles round to the same position.
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
        // A vertex that belongs to no triangle is still a particle.
        scene_case("a NaN vertex without triangles", "InvalidValue", &["mesh vertex 2"], {
            mesh(&NAN_SQUARE, &[[0, 1, 3]], |_| {})
        }),
        scene_case("a triangle past the end", "IndexOutOfRange", &["mesh triangle 1", "vertex 4", "only 4"], {
            mesh(&SQUARE, &[[0, 1, 2], [0, 2, 4]], |_| {})
        }),
        scene_case("a triangle with −1", "IndexOutOfRange", &["mesh triangle 0", "4294967295"], {
            mesh(&SQUARE, &[[0, 1, u32::MAX]], |_| {})
        }),
        scene_case("a triangle with a repeated vertex", "RepeatedIndex", &["mesh triangle 1", "vertex 3"], {
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
fn invalid_scene_input_is_rejected_by_name_without_changes() {
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

fn settings_cases() -> Vec<SettingsCase> {
    fn wind(change: impl Fn(&mut Wind)) -> impl Fn(&mut Settings) {
        move |settings| change(settings.wind.get_or_insert_default())
    }
    vec![
        settings_case("no dt", &["dt", "0"], |settings| settings.dt = 0.0),
        settings_case("a NaN dt", &["dt", "NaN"], |settings| settings.dt = NAN),
        settings_case("a negative dt", &["dt", "-0.5"], |settings| settings.dt = -0.5),
        settings_case("an infinite dt", &["dt", "inf"], |settings| settings.dt = INF),
        settings_case("a dt of two seconds", &["dt", "2", "at most 1"], |settings| settings.dt = 2.0),
        settings_case("a tiny dt", &["dt", "at least 1e-6"], |settings| settings.dt = 1e-9),
        settings_case("no substeps", &["substeps", "0", "1 to 10 000"], |settings| settings.substeps = 0),
        settings_case("too many substeps", &["substeps", "10001"], |settings| settings.substeps = 10_001),
        settings_case("no iterations", &["iterations", "0", "1 to 1 000"], |settings| settings.iterations = 0),
        settings_case("too many iterations", &["iterations", "1001"], |settings| settings.iterations = 1_001),
        settings_case("NaN gravity", &["gravity", "NaN"], |settings| settings.gravity[1] = NAN),
        settings_case("infinite gravity", &["gravity", "-inf"], |settings| settings.gravity[1] = -INF),
        settings_case("gravity of a neutron star", &["gravity", "2000000", "1e6"], |settings| {
            settings.gravity[0] = 2e6
        }),
        settings_case("negative damping", &["damping", "-0.25"], |settings| settings.damping = -0.25),
        settings_case("NaN damping", &["damping", "NaN"], |settings| settings.damping = NAN),
        settings_case("NaN wind", &["wind velocity", "NaN"], wind(|wind| wind.velocity[2] = NAN)),
        settings_case("infinite wind", &["wind velocity", "inf"], wind(|wind| wind.velocity[0] = INF)),
        settings_case(
            "wind beyond escape",
            &["wind velocity", "-2000000", "1e6"],
            wind(|wind| wind.velocity[2] = -2e6),
        ),
        settings_case("air denser than any star", &["air density", "2000000", "1e6"], wind(|wind| wind.density = 2e6)),
        settings_case("too strong gusts", &["gust", "11", "0 to 10"], wind(|wind| wind.gust = 11.0)),
        settings_case("NaN gusts", &["gust", "NaN"], wind(|wind| wind.gust = NAN)),
        settings_case("a negative gust frequency", &["gust frequency", "-1"], wind(|wind| wind.gust_frequency = -1.0)),
        settings_case("no gust length", &["gust length", "0"], wind(|wind| wind.gust_length = 0.0)),
        settings_case("negative air density", &["air density", "-1"], wind(|wind| wind.density = -1.0)),
        settings_case("NaN drag", &["drag", "NaN"], wind(|wind| wind.drag = NAN)),
        settings_case("negative lift", &["lift", "-1"], wind(|wind| wind.lift = -1.0)),
    ]
}

#[test]
fn settings_out_of_range_are_rejected_by_name() {
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
        assert_eq!(reference.read_diagnostics().unwrap().non_finite_count, 0, "{settings:?}");
    }
}

#[test]
fn defective_meshes_are_accepted_and_reported() {
    // Three triangles on one edge, a vertex without triangles, and a triangle wound against its neighbour.
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
    // Each further triangle is paired with the previous one.
    assert_eq!(cloth.bend.len(), 2);
    // The isolated vertex has a mass and falls.
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    reference.step(10);
    assert!(reference.read_positions().unwrap()[5][1] < 8.9);
    assert_eq!(reference.read_diagnostics().unwrap().non_finite_count, 0);
}

#[test]
fn constraint_ranges_past_the_end_are_empty() {
    let scene = base();
    let count = scene.constraint_count() as u32;
    assert_eq!(scene.distances(0..count).count(), count as usize);
    assert_eq!(scene.distances(0..count + 1).count(), 0);
    assert_eq!(scene.distances(u32::MAX - 1..u32::MAX).count(), 0);
    let backwards = std::ops::Range { start: 3, end: 1 };
    assert_eq!(scene.distances(backwards).count(), 0);
}

#[test]
fn masses_beyond_f32_are_rejected() {
    // If the mass underflows, its inverse is infinite; if it overflows, the inverse is 0, which would mean pinned.
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
fn cords_beyond_the_limits_of_a_material_are_rejected() {
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

/// A light wind with the shortest and fastest gusts in range.
#[test]
fn wind_at_the_ends_of_its_range_stays_finite() {
    let wind =
        Wind { velocity: [1e-20, 0.0, 0.0], gust: 10.0, gust_length: 1e-3, gust_frequency: 1e3, ..Wind::default() };
    let mut reference = Reference::new(&base(), Settings { wind: Some(wind), ..Settings::default() }).unwrap();
    reference.step(20);
    assert_eq!(reference.read_diagnostics().unwrap().non_finite_count, 0);
}
