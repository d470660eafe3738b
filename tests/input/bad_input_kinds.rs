//! Bad input to constraint kinds, bodies, followers, fields and forces causes an error with the numbers and changes
//! nothing. Extreme valid input runs and stays finite.

use crate::attempts::{Attempt, SettingsCase, running_case, settings_case};
use crate::common;
use crate::common::cases::*;
use crate::common::{gpu, shapes, solver};
use supple::constraints::Kind;
use supple::gpu::Context;
use supple::scene::Lattice;
use supple::{
    Area, Balloon, Bending, ClosedSurface, ClothGrid, ClothMesh, Cord, CosineBend, DistanceLimit, Elasticity, Fabric,
    Field, Hinge, IsometricBend, Limit, LineBend, Material, Membrane, MembraneLimit, NeoHookean, Orthotropic, Particle,
    Pressure, Reference, Result, Rope, Scene, Settings, ShapeMatching, SoftBody, Solver, Stiffening, TensionPiece,
    TetMesh, Volume, Wind,
};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

type SceneCase = Case<On<Scene>>;

fn case(
    what: &'static str,
    variant: &'static str,
    words: &'static [&'static str],
    attempt: impl Fn(&mut Scene) -> Result<()> + 'static,
) -> SceneCase {
    Case { what, variant, words, attempt: Box::new(attempt) }
}

/// A case with the error `InvalidValue`.
fn value(
    what: &'static str,
    words: &'static [&'static str],
    attempt: impl Fn(&mut Scene) -> Result<()> + 'static,
) -> SceneCase {
    case(what, "InvalidValue", words, attempt)
}

/// Adds a rigid constraint.
fn adds<K: Kind + 'static>(constraint: K) -> impl Fn(&mut Scene) -> Result<()> {
    move |scene| scene.add(constraint, Material::RIGID).map(drop)
}

/// Adds a valid constraint with a modified material.
fn of_material(change: impl Fn(&mut Material)) -> impl Fn(&mut Scene) -> Result<()> {
    move |scene| {
        let mut material = Material::RIGID;
        change(&mut material);
        scene.add(Volume { particles: [3, 4, 7, 12], rest_volume: 1.0 }, material).map(drop)
    }
}

const POLES: [[f32; 3]; 6] =
    [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]];
const OCTAHEDRON: [[u32; 3]; 8] =
    [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
const CORNER: [[f32; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const ELASTIC: Elasticity = Elasticity::Elastic { young: 1e4, bulk: 1e4, damping_time: 0.0 };
/// The first particle of the octahedron in [`rich`].
const OCTA: u32 = 15;
const PARTICLES: u32 = 22;

fn raised(triangles: &[[u32; 3]], by: u32) -> Vec<[u32; 3]> {
    triangles.iter().map(|triangle| triangle.map(|vertex| vertex + by)).collect()
}

fn octa_surface() -> ClosedSurface {
    ClosedSurface::new(&raised(&OCTAHEDRON, OCTA)).unwrap()
}

/// `base` with one constraint of most kinds, an octahedron (particles 15 to 20) under pressure, and a follower (21).
fn rich() -> Scene {
    let mut scene = base();
    for [x, y, z] in POLES {
        scene.add_particle(Particle { position: [x + 5.0, y, z], ..Particle::default() }).unwrap();
    }
    let surface = octa_surface();
    let soft = Material::compliant(1e-3);
    scene.add(Pressure { surface: &surface, rest_volume: 4.0 / 3.0, pressure: 1.0 }, soft).unwrap();
    scene.add(Volume { particles: [15, 17, 19, 16], rest_volume: 0.3 }, soft).unwrap();
    scene.add(Area { particles: [3, 4, 7], rest_area: 0.5 }, soft).unwrap();
    scene.add(Hinge::new([3, 8, 7, 4], 0.1), soft).unwrap();
    scene.add(CosineBend { particles: [3, 5, 4], rest_angle: 3.0 }, soft).unwrap();
    scene.add(LineBend { particles: [4, 6, 5], lengths: [0.6; 2], scale: 1.0 }, soft).unwrap();
    scene.add(DistanceLimit { particles: [3, 14], length: 2.0, limit: Limit::AtMost }, soft).unwrap();
    let group = ShapeMatching { particles: &[15, 16, 17], rest_positions: &POLES[..3], masses: &[1.0; 3] };
    scene.add(group, soft).unwrap();
    scene.add_follower([15, 16, 17, 18], [0.25; 4]).unwrap();
    scene.pin(3).unwrap();
    assert_eq!(scene.particle_count(), PARTICLES as usize);
    scene
}

fn hinge(rest_angle: f32, scale: f32) -> impl Fn(&mut Scene) -> Result<()> {
    adds(Hinge { particles: [3, 4, 7, 8], rest_angle, scale })
}

fn line(lengths: [f32; 2], scale: f32) -> impl Fn(&mut Scene) -> Result<()> {
    adds(LineBend { particles: [3, 5, 4], lengths, scale })
}

fn group(
    particles: &'static [u32],
    rest_positions: &'static [[f32; 3]],
    masses: &'static [f32],
) -> impl Fn(&mut Scene) -> Result<()> {
    adds(ShapeMatching { particles, rest_positions, masses })
}

fn pressure(rest_volume: f32, factor: f32) -> impl Fn(&mut Scene) -> Result<()> {
    move |scene| {
        let surface = octa_surface();
        scene.add(Pressure { surface: &surface, rest_volume, pressure: factor }, Material::RIGID).map(drop)
    }
}

fn kind_cases() -> Vec<SceneCase> {
    let quad = [3, 4, 7, 8];
    let volume = |particles, rest_volume| adds(Volume { particles, rest_volume });
    let area = |particles, rest_area| adds(Area { particles, rest_area });
    let cosine = |particles, rest_angle| adds(CosineBend { particles, rest_angle });
    let limit = |particles, length| adds(DistanceLimit { particles, length, limit: Limit::AtLeast });
    let bend = |coefficients| adds(IsometricBend { particles: quad, coefficients });
    vec![
        case("a hinge past the end", "IndexOutOfRange", &["hinge constraint 1", "particle 22", "only 22"], {
            adds(Hinge::new([3, 4, 7, PARTICLES], 0.0))
        }),
        case("a hinge with a repeat", "RepeatedIndex", &["hinge constraint 1", "particle 4"], {
            adds(Hinge::new([3, 4, 7, 4], 0.0))
        }),
        value("a hinge of more than π", &["rest angle of hinge 1", "3.25", "-π to π"], hinge(3.25, 1.0)),
        value("a hinge of NaN", &["rest angle of hinge 1", "NaN"], hinge(NAN, 1.0)),
        value("a hinge of no scale", &["scale of hinge 1", "0"], hinge(0.0, 0.0)),
        value("a hinge of infinite scale", &["scale of hinge 1", "inf"], hinge(0.0, INF)),
        case("a cosine bend of −1", "IndexOutOfRange", &["cosine_bend constraint 1", "4294967295"], {
            cosine([3, 5, u32::MAX], 3.0)
        }),
        value("a cosine bend below 0", &["rest angle of cosine bend 1", "-0.5", "0 to π"], cosine([3, 5, 4], -0.5)),
        value("a cosine bend of NaN", &["rest angle of cosine bend 1", "NaN"], cosine([3, 5, 4], NAN)),
        case("a line bend with a repeat", "RepeatedIndex", &["line_bend constraint 1", "particle 5"], {
            adds(LineBend { particles: [5, 5, 4], lengths: [1.0; 2], scale: 1.0 })
        }),
        value("a line bend of no length", &["length of line bend 1", "0"], line([1.0, 0.0], 1.0)),
        value("a line bend of NaN length", &["length of line bend 1", "NaN"], line([NAN, 1.0], 1.0)),
        value("a line bend of negative scale", &["line bend 1", "-2"], line([1.0; 2], -2.0)),
        value("a line bend whose coefficient overflows", &["scale over length of line bend 1", "inf"], {
            line([1e-30, 1.0], 1e20)
        }),
        case("an isometric bend past the end", "IndexOutOfRange", &["isometric_bend constraint 0", "22"], {
            adds(IsometricBend { particles: [22, 3, 4, 5], coefficients: [1.0, -1.0, -1.0] })
        }),
        value("an isometric bend of NaN", &["isometric bend 0", "NaN"], bend([1.0, NAN, 0.0])),
        value("an isometric bend beyond 1e12", &["isometric bend 0", "2199023255552", "1e12"], {
            bend([2_199_023_255_552.0, 0.0, 0.0])
        }),
        value("the cotangents of a flat triangle", &["cotangent", "[3, 4, 7, 8]", "area"], move |_| {
            IsometricBend::new(quad, [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0]]).map(drop)
        }),
        case("a volume past the end", "IndexOutOfRange", &["volume constraint 1", "22"], volume([0, 1, 2, 22], 1.0)),
        case("a volume with a repeat", "RepeatedIndex", &["volume constraint 1", "particle 1"], {
            volume([0, 1, 2, 1], 1.0)
        }),
        value("a volume of nothing", &["rest volume of volume constraint 1", "0"], volume(quad, 0.0)),
        value("a negative volume", &["rest volume of volume constraint 1", "-0.5"], volume(quad, -0.5)),
        value("a NaN volume", &["rest volume of volume constraint 1", "NaN"], volume(quad, NAN)),
        case("an area with a repeat", "RepeatedIndex", &["area constraint 1", "particle 3"], area([3, 3, 4], 1.0)),
        value("an infinite area", &["rest area of area constraint 1", "inf"], area([3, 4, 7], INF)),
        value("a negative area", &["rest area of area constraint 1", "-0.25"], area([3, 4, 7], -0.25)),
        case("a limit to itself", "RepeatedIndex", &["distance_limit constraint 1", "particle 6"], limit([6, 6], 1.0)),
        value("a limit of no length", &["length of distance limit 1", "0"], limit([3, 4], 0.0)),
        value("a negative limit", &["length of distance limit 1", "-1.5"], limit([3, 4], -1.5)),
        case("a group past the end", "IndexOutOfRange", &["shape_matching constraint 1", "22"], {
            group(&[15, 16, 22], &[[0.0; 3]; 3], &[1.0; 3])
        }),
        case("a group with a repeat", "RepeatedIndex", &["shape_matching constraint 1", "particle 15"], {
            group(&[15, 16, 17, 18, 15], &[[0.0; 3]; 5], &[1.0; 5])
        }),
        case("a group of few rest positions", "LengthMismatch", &["rest positions", "3", "2"], {
            group(&[15, 16, 17], &[[0.0; 3]; 2], &[1.0; 3])
        }),
        case("a group of many masses", "LengthMismatch", &["masses", "3", "4"], {
            group(&[15, 16, 17], &[[0.0; 3]; 3], &[1.0; 4])
        }),
        value("a group of one", &["particle count of shape matching group 1", "1", "at least 2"], {
            group(&[15], &[[0.0; 3]], &[1.0])
        }),
        value("a group of none", &["shape matching group 1", "0", "at least 2"], group(&[], &[], &[])),
        value("a NaN rest position", &["rest position of particle 16", "group 1", "NaN"], {
            group(&[15, 16], &[[0.0; 3], [0.0, NAN, 0.0]], &[1.0; 2])
        }),
        value("a massless member", &["mass of particle 16", "group 1", "0"], {
            group(&[15, 16], &[[0.0; 3]; 2], &[1.0, 0.0])
        }),
        value("a NaN mass", &["mass of particle 15", "NaN"], group(&[15, 16], &[[0.0; 3]; 2], &[NAN, 1.0])),
        value("a mass beyond 1e12", &["mass of particle 15", "2199023255552", "1e12"], {
            group(&[15, 16], &[[0.0; 3]; 2], &[2_199_023_255_552.0, 1.0])
        }),
        value("a gas of no volume", &["rest volume of pressure constraint 1", "0"], pressure(0.0, 1.0)),
        value("a gas of no pressure", &["pressure factor of pressure constraint 1", "0"], pressure(1.0, 0.0)),
        value("a gas of NaN pressure", &["pressure factor of pressure constraint 1", "NaN"], pressure(1.0, NAN)),
        value("a gas that overflows", &["target volume of pressure constraint 1", "inf"], pressure(1e30, 1e30)),
        case(
            "a surface past the end",
            "IndexOutOfRange",
            &["pressure constraint 1", "particle 22", "only 22"],
            |scene| {
                let surface = ClosedSurface::new(&raised(&OCTAHEDRON, 18))?;
                scene.add(Pressure { surface: &surface, rest_volume: 1.0, pressure: 1.0 }, Material::RIGID).map(drop)
            },
        ),
        value("a NaN damping time", &["damping time", "NaN"], of_material(|material| material.damping_time = NAN)),
        value("a negative damping time", &["damping time", "-1"], of_material(|material| material.damping_time = -1.0)),
        value("a damping time for ever", &["damping time", "inf"], of_material(|material| material.damping_time = INF)),
        value("a stiffness of 2", &["stiffness", "2", "0 to 1"], of_material(|material| material.stiffness = 2.0)),
        value("a stiffness of NaN", &["stiffness", "NaN"], of_material(|material| material.stiffness = NAN)),
        value("a stiffness below 0", &["stiffness", "-0.5"], of_material(|material| material.stiffness = -0.5)),
    ]
}

fn piece(strain: f32, modulus: f32) -> Option<TensionPiece> {
    Some(TensionPiece { strain, modulus })
}

fn membrane_cases() -> Vec<SceneCase> {
    const LAW: Orthotropic = Orthotropic { weft: 1e3, shear: 50.0, ..Orthotropic::isotropic(2e3, 0.2) };
    const SQUARE: [[f32; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    const UV: [[f32; 2]; 3] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]];
    let grid = |change: fn(&mut Orthotropic)| {
        move |scene: &mut Scene| {
            let mut law = LAW;
            change(&mut law);
            let fabric = Fabric { membrane: Some(law), ..Fabric::default() };
            scene.add_cloth_grid(&ClothGrid { columns: 4, rows: 3, fabric, ..ClothGrid::default() }).map(drop)
        }
    };
    let mesh = |direction: Option<[f32; 3]>, texture: Option<&'static [[[f32; 2]; 3]]>| {
        move |scene: &mut Scene| {
            let fabric = Fabric { membrane: Some(Orthotropic { direction, ..LAW }), ..Fabric::default() };
            let (positions, triangles) = (&SQUARE[..], &[[0, 1, 2], [0, 2, 3]][..]);
            let mesh = ClothMesh { positions, triangles, fabric, tethers: None };
            match texture {
                Some(texture) => scene.add_cloth_mesh_with_texture(&mesh, texture).map(drop),
                None => scene.add_cloth_mesh(&mesh).map(drop),
            }
        }
    };
    let membrane = |coefficients, offset| adds(Membrane { particles: [3, 4, 7], coefficients, offset });
    let new = |rest, weights| move |_: &mut Scene| Membrane::new([3, 4, 7], rest, weights).map(drop);
    vec![
        value("a warp of no modulus", &["warp modulus of a fabric", "0"], grid(|law| law.warp = 0.0)),
        value("a warp of NaN modulus", &["warp modulus of a fabric", "NaN"], grid(|law| law.warp = NAN)),
        value("a weft of negative modulus", &["weft modulus of a fabric", "-5"], grid(|law| law.weft = -5.0)),
        value("a shear of infinite modulus", &["shear modulus of a fabric", "inf"], grid(|law| law.shear = INF)),
        value("a Poisson ratio too great", &["Poisson ratio of a fabric", "2000", "1000", "1.5", "√(warp/weft)"], {
            grid(|law| law.poisson_ratio = 1.5)
        }),
        value("a Poisson ratio too small", &["Poisson ratio", "-1.5"], grid(|law| law.poisson_ratio = -1.5)),
        value("a NaN Poisson ratio", &["Poisson ratio", "NaN"], grid(|law| law.poisson_ratio = NAN)),
        value("a modulus too small to invert", &["membrane of a fabric", "1e18"], grid(|law| law.shear = 1e-20)),
        value("a negative strain", &["strain of piece 0 of the stiffening along the weft", "-0.1"], {
            grid(|law| law.stiffening.weft[0] = piece(-0.1, 2e3))
        }),
        value("a strain too large", &["strain of piece 0 of the stiffening along the warp", "2000000", "1e6"], {
            grid(|law| law.stiffening.warp[0] = piece(2e6, 2e3))
        }),
        value("strains that fall", &["strain of piece 1 of the stiffening along the warp", "0.02", "greater"], {
            grid(|law| law.stiffening.warp = [piece(0.02, 3e3), piece(0.02, 4e3)])
        }),
        value(
            "a modulus that falls",
            &["modulus of piece 0 of the stiffening along the warp", "2000", "500", "greater"],
            grid(|law| law.stiffening.warp[0] = piece(0.1, 500.0)),
        ),
        value(
            "a NaN modulus",
            &["modulus of piece 1", "weft", "NaN"],
            grid(|law| law.stiffening.weft[1] = piece(0.1, NAN)),
        ),
        value("a piece beyond a limit", &["modulus of piece 1", "warp", "inf"], {
            grid(|law| law.stiffening.warp = [piece(0.02, INF), piece(0.04, INF)])
        }),
        case("stiffening without a warp", "NotEnabled", &["direction or texture coordinates"], |scene| {
            let stiffening = Stiffening { warp: [piece(0.1, 2e3), None], ..Stiffening::NONE };
            let membrane = Some(Orthotropic { stiffening, ..Orthotropic::isotropic(1e3, 0.3) });
            let fabric = Fabric { membrane, ..Fabric::default() };
            let mesh = ClothMesh { positions: &SQUARE, triangles: &[[0, 1, 2], [0, 2, 3]], fabric, tethers: None };
            scene.add_cloth_mesh(&mesh).map(drop)
        }),
        value("a membrane limit of NaN strain", &["strain of a membrane limit", "[3, 4, 7]", "NaN"], |_| {
            MembraneLimit::new([3, 4, 7], UV, [1.0, 0.0, 0.0], NAN).map(drop)
        }),
        value("a strain that no triangle has", &["strain of a membrane limit", "[3, 4, 7]", "-0.5", "-0.6"], |_| {
            MembraneLimit::new([3, 4, 7], UV, [1.0, 0.0, 0.0], -0.6).map(drop)
        }),
        value("a limit that no triangle reaches", &["offset of membrane limit 0", "-1", "no triangle"], {
            adds(MembraneLimit { component: Membrane { particles: [3, 4, 7], coefficients: [1.0; 3], offset: -1.0 } })
        }),
        value("a NaN warp", &["warp direction", "NaN"], grid(|law| law.direction = Some([NAN, 0.0, 0.0]))),
        value("a warp of no length", &["warp direction", "0"], grid(|law| law.direction = Some([0.0; 3]))),
        value("a warp across a sheet", &["warp direction", "triangle 0 of a cloth"], {
            mesh(Some([0.0, 0.0, 1.0]), None)
        }),
        case("a mesh without a warp", "NotEnabled", &["direction or texture coordinates"], mesh(None, None)),
        case("a texture of one triangle", "LengthMismatch", &["texture coordinates", "1", "2"], {
            mesh(None, Some(&[UV]))
        }),
        value("a texture of no area", &["texture coordinates of triangle 1", "0"], {
            mesh(None, Some(&[UV, [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]]))
        }),
        value("a texture of NaN", &["texture coordinate of triangle 1", "NaN"], {
            mesh(None, Some(&[UV, [[0.0, NAN], [1.0, 1.0], [2.0, 3.0]]]))
        }),
        value("a membrane of NaN", &["membrane 0", "NaN"], membrane([1.0, NAN, 1.0], 1.0)),
        value("a membrane of infinite offset", &["membrane 0", "inf"], membrane([1.0, 0.0, 1.0], INF)),
        case("a membrane with a repeat", "RepeatedIndex", &["membrane constraint 0", "particle 3"], {
            adds(Membrane { particles: [3, 4, 3], coefficients: [1.0; 3], offset: 1.0 })
        }),
        value("a membrane of no area", &["area of a membrane", "[3, 4, 7]", "0"], {
            new([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [1.0, 0.0, 0.0])
        }),
        value("a membrane of no weight", &["weight of a membrane", "[3, 4, 7]", "0"], new(UV, [0.0; 3])),
        value("a membrane of NaN weight", &["membrane", "[3, 4, 7]", "NaN"], new(UV, [NAN, 0.0, 0.0])),
    ]
}

fn neo_hookean_cases() -> Vec<SceneCase> {
    let solid = |young: f32, poisson_ratio: f32, damping_time: f32| {
        tets(move |mesh| mesh.elasticity = Elasticity::NeoHookean { young, poisson_ratio, damping_time })
    };
    let kind = |scale: f32, element: f32| {
        let mut rest_inverse = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        rest_inverse[1][2] = element;
        adds(NeoHookean { particles: [3, 4, 7, 12], rest_inverse, scale })
    };
    vec![
        value("a solid of no stiffness", &["Young's modulus of a body", "0"], solid(0.0, 0.3, 0.0)),
        value("a solid of NaN stiffness", &["Young's modulus of a body", "NaN"], solid(NAN, 0.3, 0.0)),
        value("an incompressible solid", &["Poisson ratio of a body", "0.5", "0.4999"], solid(1e4, 0.5, 0.0)),
        value("a solid that widens", &["Poisson ratio of a body", "-0.25"], solid(1e4, -0.25, 0.0)),
        value("a NaN solid", &["Poisson ratio of a body", "NaN"], solid(1e4, NAN, 0.0)),
        value("a solid of negative damping", &["damping time", "-1"], solid(1e4, 0.3, -1.0)),
        value("a solid too soft to invert", &["shear modulus", "1e18"], solid(1e-20, 0.3, 0.0)),
        value("a tetrahedron of no scale", &["scale of neo-Hookean tetrahedron 0", "0"], kind(0.0, 0.0)),
        value("a tetrahedron of NaN edges", &["neo-Hookean tetrahedron 0", "NaN"], kind(1.0, NAN)),
        value("a rest shape inside out", &["volume of a neo-Hookean tetrahedron", "[3, 4, 7, 12]", "-0.16"], |_| {
            NeoHookean::new([3, 4, 7, 12], [CORNER[0], CORNER[2], CORNER[1], CORNER[3]]).map(drop)
        }),
    ]
}

fn surface_cases() -> Vec<SceneCase> {
    let closed = |triangles: &[[u32; 3]]| {
        let triangles = triangles.to_vec();
        move |_: &mut Scene| ClosedSurface::new(&triangles).map(drop)
    };
    let mut turned = OCTAHEDRON;
    turned[3].swap(0, 1);
    let mut finned = OCTAHEDRON.to_vec();
    finned.push([0, 2, 6]);
    let balloon = |positions: &[[f32; 3]], triangles: &[[u32; 3]], pressure: f32, gas: Material, fabric: Fabric| {
        let (positions, triangles) = (positions.to_vec(), triangles.to_vec());
        move |scene: &mut Scene| {
            let (positions, triangles) = (&positions[..], &triangles[..]);
            scene.add_balloon(&Balloon { positions, triangles, fabric, pressure, gas }).map(drop)
        }
    };
    let inside_out: Vec<[u32; 3]> = OCTAHEDRON.iter().map(|&[a, b, c]| [a, c, b]).collect();
    let mut lost = POLES;
    lost[4][2] = NAN;
    let flat = POLES.map(|[x, y, _]| [x, y, 0.0]);
    let (rigid, fabric) = (Material::RIGID, Fabric::default());
    vec![
        case("a surface of nothing", "Empty", &["triangle list of a closed surface"], closed(&[])),
        case("a surface with a hole", "OpenSurface", &["3 edges", "not closed"], closed(&OCTAHEDRON[..7])),
        case("a surface with a triangle turned over", "OpenSurface", &["3 run through twice"], closed(&turned)),
        case("a surface with a fin", "OpenSurface", &["1 with more than two", "2 edges"], closed(&finned)),
        case("a surface with a repeat", "RepeatedIndex", &["triangle 0 of a closed surface", "particle 1"], {
            closed(&[[1, 1, 2]])
        }),
        case("an open balloon", "OpenSurface", &["3 edges"], balloon(&POLES, &OCTAHEDRON[1..], 1.0, rigid, fabric)),
        value("a balloon inside out", &["rest volume", "-1.333"], balloon(&POLES, &inside_out, 1.0, rigid, fabric)),
        // The first two triangles have an area in the plane, so the error is about the volume.
        value("a flat balloon", &["rest volume", "0"], balloon(&flat, &OCTAHEDRON, 1.0, rigid, fabric)),
        value("a balloon with a NaN vertex", &["NaN"], balloon(&lost, &OCTAHEDRON, 1.0, rigid, fabric)),
        case("a balloon past the end", "IndexOutOfRange", &["balloon", "vertex 5", "only 5"], {
            balloon(&POLES[..5], &OCTAHEDRON, 1.0, rigid, fabric)
        }),
        value("a balloon of no pressure", &["pressure factor", "0"], balloon(&POLES, &OCTAHEDRON, 0.0, rigid, fabric)),
        value("a balloon of negative pressure", &["pressure factor", "-1"], {
            balloon(&POLES, &OCTAHEDRON, -1.0, rigid, fabric)
        }),
        value("a balloon of bad gas", &["compliance of the gas of a balloon", "-1"], {
            balloon(&POLES, &OCTAHEDRON, 1.0, Material::compliant(-1.0), fabric)
        }),
        value("a massless balloon", &["area density", "0"], {
            balloon(&POLES, &OCTAHEDRON, 1.0, rigid, Fabric { area_density: 0.0, ..fabric })
        }),
    ]
}

fn soft(change: impl Fn(&mut SoftBody)) -> impl Fn(&mut Scene) -> Result<()> {
    move |scene| {
        let mut body =
            SoftBody { positions: &POLES, triangles: &OCTAHEDRON, spacing: 0.5, density: 1000.0, elasticity: ELASTIC };
        change(&mut body);
        scene.add_soft_body(&body).map(drop)
    }
}

fn tets(change: impl Fn(&mut TetMesh)) -> impl Fn(&mut Scene) -> Result<()> {
    move |scene| {
        let mut mesh =
            TetMesh { positions: &CORNER, tetrahedra: &[[0, 1, 2, 3]], density: 1000.0, elasticity: ELASTIC };
        change(&mut mesh);
        scene.add_tetrahedra(&mesh).map(drop)
    }
}

fn elastic(young: f32, bulk: f32, damping_time: f32) -> Elasticity {
    Elasticity::Elastic { young, bulk, damping_time }
}

fn body_cases() -> Vec<SceneCase> {
    const FLAT: [[f32; 3]; 4] = [CORNER[0], CORNER[1], CORNER[2], [1.0, 1.0, 0.0]];
    const LOST: [[f32; 3]; 4] = [CORNER[0], CORNER[1], CORNER[2], [0.0, 0.0, NAN]];
    const FAR: [[f32; 3]; 4] = [[1e7, 0.0, 0.0], [1e7 + 1.0, 0.0, 0.0], [1e7, 1.0, 0.0], [1e7, 0.0, 1.0]];
    const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]];
    let of = |elasticity: Elasticity| soft(move |body| body.elasticity = elasticity);
    let regions = |rings| Elasticity::Regions { rings, shape: Material::RIGID };
    vec![
        value("a lattice of no spacing", &["spacing of a lattice", "0"], soft(|body| body.spacing = 0.0)),
        value("a lattice of NaN spacing", &["spacing of a lattice", "NaN"], soft(|body| body.spacing = NAN)),
        case("a lattice of a billion cubes", "TooLarge", &["cubes of a lattice", "8000000000", "20000000"], {
            soft(|body| body.spacing = 0.001)
        }),
        value("a lattice finer than rounding", &["spacing of a lattice", "1e-5"], soft(|body| body.spacing = 1e-6)),
        value("a lattice finer than rounding far away", &["spacing of a lattice", "0.5", "1e-5"], {
            soft(|body| (body.positions, body.triangles) = (&FAR, &TETRAHEDRON))
        }),
        case("a body with a hole", "OpenSurface", &["3 edges"], soft(|body| body.triangles = &OCTAHEDRON[1..])),
        case("a body of no triangles", "Empty", &["triangle list"], soft(|body| body.triangles = &[])),
        case("a body of no vertices", "Empty", &["vertex list"], soft(|body| body.positions = &[])),
        case("a body past the end", "IndexOutOfRange", &["surface triangle 4", "vertex 5", "only 5"], {
            soft(|body| body.positions = &POLES[..5])
        }),
        value("a body with a NaN vertex", &["surface vertex 3", "NaN"], {
            soft(|body| (body.positions, body.triangles) = (&LOST, &TETRAHEDRON))
        }),
        value("a body without a volume", &["volume of a closed surface", "0"], {
            soft(|body| (body.positions, body.triangles) = (&FLAT, &TETRAHEDRON))
        }),
        value("a body of no density", &["density of a body", "0"], soft(|body| body.density = 0.0)),
        value("a body of NaN density", &["density of a body", "NaN"], soft(|body| body.density = NAN)),
        value("a body of no stiffness", &["Young's modulus", "0"], of(elastic(0.0, 1e4, 0.0))),
        value("a body of infinite stiffness", &["Young's modulus", "inf"], of(elastic(INF, 1e4, 0.0))),
        value("a body of negative bulk", &["bulk modulus", "-1"], of(elastic(1e4, -1.0, 0.0))),
        value("a body of NaN bulk", &["bulk modulus", "NaN"], of(elastic(1e4, NAN, 0.0))),
        value("a body of negative damping time", &["damping time", "-1"], of(elastic(1e4, 0.0, -1.0))),
        value("a body of no rings", &["rings", "0", "1 to 8"], of(regions(0))),
        value("a body of nine rings", &["rings", "9", "1 to 8"], of(regions(9))),
        value("a body of bad shape", &["shape of a body", "-1"], {
            of(Elasticity::Rigid { shape: Material::compliant(-1.0) })
        }),
        // Values that are out of range only once volumes and masses are known.
        value("a body softer than a material may be", &["compliance", "1e18"], of(elastic(1e-20, 0.0, 0.0))),
        value("a body of less bulk than a material may have", &["compliance", "1e18"], of(elastic(1e4, 1e-20, 0.0))),
        value("a rigid body heavier than a group may be", &["mass", "1e12"], {
            soft(|body| {
                body.density = 1e15;
                body.elasticity = Elasticity::Rigid { shape: Material::RIGID };
            })
        }),
        value("a body of regions heavier than a group may be", &["mass", "1e12"], {
            soft(|body| {
                body.density = 1e15;
                body.elasticity = Elasticity::Regions { rings: 1, shape: Material::RIGID };
            })
        }),
        value("a body lighter than f32", &["mass of body vertex"], soft(|body| body.density = 1e-40)),
        case("tetrahedra of no vertices", "Empty", &["vertex list of a tetrahedral mesh"], {
            tets(|mesh| mesh.positions = &[])
        }),
        case("no tetrahedra", "Empty", &["tetrahedron list"], tets(|mesh| mesh.tetrahedra = &[])),
        case("a tetrahedron past the end", "IndexOutOfRange", &["tetrahedron 1", "vertex 4", "only 4"], {
            tets(|mesh| mesh.tetrahedra = &[[0, 1, 2, 3], [0, 1, 2, 4]])
        }),
        case("a tetrahedron with a repeat", "RepeatedIndex", &["tetrahedron 0", "vertex 2"], {
            tets(|mesh| mesh.tetrahedra = &[[0, 2, 2, 3]])
        }),
        value("a tetrahedron inside out", &["volume of tetrahedron 0", "-0.1666"], {
            tets(|mesh| mesh.tetrahedra = &[[0, 2, 1, 3]])
        }),
        value("a flat tetrahedron", &["volume of tetrahedron 0", "0"], tets(|mesh| mesh.positions = &FLAT)),
        value("a tetrahedron with a NaN vertex", &["mesh vertex 3", "NaN"], tets(|mesh| mesh.positions = &LOST)),
        value("tetrahedra of infinite density", &["density of a body", "inf"], tets(|mesh| mesh.density = INF)),
        value("a lattice by itself", &["spacing of a lattice", "-1"], |_| {
            Lattice::new(&POLES, &OCTAHEDRON, -1.0).map(drop)
        }),
    ]
}

fn cloth_and_rope_cases() -> Vec<SceneCase> {
    let cloth = |flexural_rigidity: f32, bending: Bending| {
        move |scene: &mut Scene| {
            let fabric = Fabric { flexural_rigidity, bending, ..Fabric::default() };
            scene.add_cloth_grid(&ClothGrid { columns: 4, rows: 3, fabric, ..ClothGrid::default() }).map(drop)
        }
    };
    let rope = |flexural_rigidity: f32| {
        move |scene: &mut Scene| {
            let cord = Cord { linear_density: 0.1, axial_stiffness: 1e4, damping: 0.0, bend: None, flexural_rigidity };
            let points = &[[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
            scene.add_rope(&Rope { points, cord, tethers: None }).map(drop)
        }
    };
    let follower =
        |sources: [u32; 4], weights: [f32; 4]| move |scene: &mut Scene| scene.add_follower(sources, weights).map(drop);
    let quarter = [0.25; 4];
    vec![
        value("hinges of no rigidity", &["flexural rigidity", "0"], cloth(0.0, Bending::Hinges)),
        value("hinges of negative rigidity", &["flexural rigidity", "-1"], cloth(-1.0, Bending::Hinges)),
        value("a plate of NaN rigidity", &["flexural rigidity", "NaN"], cloth(NAN, Bending::Isometric)),
        value("a plate of infinite rigidity", &["flexural rigidity", "inf"], cloth(INF, Bending::Isometric)),
        value("a plate too soft to invert", &["flexural rigidity", "1e18"], cloth(1e-20, Bending::Isometric)),
        value("a rope of negative rigidity", &["flexural rigidity of a cord", "-1"], rope(-1.0)),
        value("a rope of NaN rigidity", &["flexural rigidity of a cord", "NaN"], rope(NAN)),
        value("a rope of infinite rigidity", &["flexural rigidity of a cord", "inf"], rope(INF)),
        value("a rope too soft to invert", &["bend at point 1", "1e18"], rope(1e-20)),
        case("a body of no particles", "Empty", &["particle range of a body"], |scene| scene.add_body(1..1)),
        case("a body backwards", "Empty", &["particle range of a body"], |scene| {
            scene.add_body(std::ops::Range { start: 2, end: 1 })
        }),
        case("a body past the end", "IndexOutOfRange", &["body", "particle 22", "only 22"], |s| s.add_body(20..23)),
        case("a body into a cloth", "RepeatedIndex", &["bodies", "particle 3"], |scene| scene.add_body(0..4)),
        case("a body around a cloth", "RepeatedIndex", &["bodies", "particle 3"], |scene| scene.add_body(0..20)),
        case("a body in a cloth", "RepeatedIndex", &["bodies", "particle 5"], |scene| scene.add_body(5..6)),
        case("a follower past the end", "IndexOutOfRange", &["follower 1", "particle 22", "only 22"], {
            follower([0, 1, 22, 3], quarter)
        }),
        value("a follower of a follower", &["source of follower 1", "21"], follower([0, 1, 3, 21], quarter)),
        value(
            "a follower of NaN weight",
            &["weight of follower 1", "NaN"],
            follower([0, 1, 3, 4], [1.0, NAN, 0.0, 0.0]),
        ),
        value("a follower of infinite weights", &["weight of follower 1", "inf"], {
            follower([0, 1, 3, 4], [INF, -INF, 1.0, 0.0])
        }),
        value("weights of sum 2", &["sum of the weights of follower 1", "2"], follower([0, 1, 3, 4], [0.5; 4])),
        value("weights of sum 0", &["sum of the weights of follower 1", "0"], follower([0, 1, 3, 4], [0.0; 4])),
        value("a place that overflows", &["follower 1"], |scene| {
            scene.set_position(0, [3e38, 0.0, 0.0])?;
            scene.set_position(1, [-3e38, 0.0, 0.0])?;
            let outcome = scene.add_follower([0, 1, 4, 5], [1.0, -1.0, 0.5, 0.5]).map(drop);
            scene.set_position(0, [0.0; 3])?;
            scene.set_position(1, [1.0, 0.0, 0.0])?;
            outcome
        }),
    ]
}

/// The positions and velocities of a scene after three steps, as bits.
fn bits_after_three_steps(scene: &Scene) -> Vec<[u32; 3]> {
    let settings = Settings { substeps: 3, body_damping: 0.5, ..Settings::default() };
    let mut reference = Reference::new(scene, settings).unwrap();
    reference.step(3);
    let mut found = bits(&reference.read_positions().unwrap());
    found.extend(bits(&reference.read_velocities().unwrap()));
    found
}

#[test]
fn invalid_kinds_and_bodies_are_rejected_by_name_without_changes() {
    let mut cases = kind_cases();
    cases.extend(surface_cases());
    cases.extend(membrane_cases());
    cases.extend(neo_hookean_cases());
    cases.extend(body_cases());
    cases.extend(cloth_and_rope_cases());
    assert!(cases.len() >= 100, "{}", cases.len());
    let expected = bits_after_three_steps(&rich());
    let mut faults = Vec::new();
    for case in &cases {
        let mut scene = rich();
        // Includes the private fields.
        let before = format!("{scene:?}");
        let counts = |scene: &Scene| (scene.particle_count(), scene.constraint_count(), scene.triangle_count());
        let counted = counts(&scene);
        faults.extend(fault(case, (case.attempt)(&mut scene)));
        if counts(&scene) != counted {
            let what = case.what;
            faults.push(format!("{what}: particles, constraints, triangles {counted:?} became {:?}", counts(&scene)));
        } else if format!("{scene:?}") != before {
            faults.push(format!("{}: the scene has changed", case.what));
        } else if bits_after_three_steps(&scene) != expected {
            faults.push(format!("{}: it runs differently", case.what));
        }
    }
    println!("{} cases", cases.len());
    assert_no_faults(faults);
}

// ------------------------------------------------------------------------------------------------------ settings

fn settings_cases() -> Vec<SettingsCase> {
    fn field(field: Field) -> impl Fn(&mut Settings) {
        move |settings| settings.fields[2] = field
    }
    fn air(change: impl Fn(&mut Wind)) -> impl Fn(&mut Settings) {
        move |settings| change(settings.wind.get_or_insert_default())
    }
    let point = |position, strength, radius| field(Field::Point { position, strength, radius });
    let vortex = |axis, radius| field(Field::Vortex { position: [0.0; 3], axis, strength: 1.0, radius });
    let up = [0.0, 1.0, 0.0];
    vec![
        settings_case("no relaxation", &["relaxation", "0"], |settings| settings.relaxation = 0.0),
        settings_case("relaxation of 2", &["relaxation", "2", "less than 2"], |settings| settings.relaxation = 2.0),
        settings_case("NaN relaxation", &["relaxation", "NaN"], |settings| settings.relaxation = NAN),
        settings_case("no step factor", &["step factor", "0"], |settings| settings.step_factor = 0.0),
        settings_case("a step factor of 1.5", &["step factor", "1.5", "at most 1"], |settings| {
            settings.step_factor = 1.5
        }),
        settings_case("a NaN step factor", &["step factor", "NaN"], |settings| settings.step_factor = NAN),
        settings_case("body damping of 1.5", &["body damping", "1.5", "0 to 1"], |settings| {
            settings.body_damping = 1.5
        }),
        settings_case("negative body damping", &["body damping", "-0.5"], |settings| settings.body_damping = -0.5),
        settings_case("NaN body damping", &["body damping", "NaN"], |settings| settings.body_damping = NAN),
        settings_case("a point at NaN", &["position of field 2", "NaN"], point([NAN, 0.0, 0.0], 1.0, 1.0)),
        settings_case("a point far away", &["position of field 2", "2000000", "1e6"], point([2e6, 0.0, 0.0], 1.0, 1.0)),
        settings_case("a point of infinite strength", &["strength of field 2", "inf"], point([0.0; 3], INF, 1.0)),
        settings_case("a point of no radius", &["radius of field 2", "0", "1e-6"], point([0.0; 3], 1.0, 0.0)),
        settings_case("a point of negative radius", &["radius of field 2", "-1"], point([0.0; 3], 1.0, -1.0)),
        settings_case("a point of NaN radius", &["radius of field 2", "NaN"], point([0.0; 3], 1.0, NAN)),
        settings_case(
            "a vortex without an axis",
            &["length of the axis of field 2", "0", "1e-6"],
            vortex([0.0; 3], 1.0),
        ),
        settings_case("a vortex of NaN axis", &["axis of field 2", "NaN"], vortex([0.0, NAN, 0.0], 1.0)),
        settings_case("a vortex of infinite radius", &["radius of field 2", "inf"], vortex(up, INF)),
        settings_case("negative turbulence", &["turbulence", "-1", "0 to 1000"], air(|wind| wind.turbulence = -1.0)),
        settings_case("NaN turbulence", &["turbulence", "NaN"], air(|wind| wind.turbulence = NAN)),
        settings_case("turbulence of no size", &["turbulence length", "0"], air(|wind| wind.turbulence_length = 0.0)),
    ]
}

#[test]
fn methods_fields_and_damping_out_of_range_are_rejected_by_name() {
    let gpu = gpu();
    let mut faults = Vec::new();
    let mut reference = Reference::new(&rich(), Settings::default()).unwrap();
    let mut on_gpu = solver(&gpu, &rich(), Settings::default());
    for case in settings_cases() {
        let mut settings = Settings::default();
        (case.attempt)(&mut settings);
        faults.extend(fault(&case, settings.check()));
        faults.extend(fault(&case, Reference::new(&rich(), settings)));
        faults.extend(fault(&case, Solver::new(&gpu.device, &gpu.queue, &rich(), settings)));
        faults.extend(fault(&case, reference.set_settings(settings)));
        faults.extend(fault(&case, on_gpu.set_settings(settings)));
    }
    assert_eq!((*reference.settings(), *on_gpu.settings()), (Settings::default(), Settings::default()));
    assert_no_faults(faults);
    // The simulation continues as if the calls had not been made.
    let mut untouched = Reference::new(&rich(), Settings::default()).unwrap();
    let mut untouched_gpu = solver(&gpu, &rich(), Settings::default());
    reference.step(2);
    untouched.step(2);
    on_gpu.step(2);
    untouched_gpu.step(2);
    assert_eq!(first_changed(&reference.read_positions().unwrap(), &untouched.read_positions().unwrap()), None);
    assert_eq!(first_changed(&on_gpu.read_positions().unwrap(), &untouched_gpu.read_positions().unwrap()), None);
}

// ------------------------------------------------------------------------------------------------- while running

/// Invalid calls on [`rich`], whose forces are enabled.
fn running_cases() -> Vec<Case<Attempt>> {
    fn volume(particles: [u32; 4], rest_volume: f32) -> Volume {
        Volume { particles, rest_volume }
    }
    const OWN: [u32; 4] = [15, 17, 19, 16];
    vec![
        running_case!(
            "a volume past the end",
            "IndexOutOfRange",
            &["set_constraint", "volume 1", "there is only 1"],
            |p| p.set_constraint(1, volume(OWN, 1.0))
        ),
        running_case!("a constraint of −1", "IndexOutOfRange", &["set_constraint", "4294967295", "1"], |p| p
            .set_constraint(u32::MAX, volume(OWN, 1.0))),
        running_case!("a kind of which there is none", "IndexOutOfRange", &["isometric_bend", "0"], |p| {
            p.set_constraint(0, IsometricBend { particles: OWN, coefficients: [1.0, -1.0, 0.0] })
        }),
        running_case!("a volume of other particles", "InvalidValue", &["volume constraint 0", "18"], |p| {
            p.set_constraint(0, volume([15, 18, 19, 16], 1.0))
        }),
        running_case!("a volume in another order", "InvalidValue", &["volume constraint 0", "17"], |p| p
            .set_constraint(0, volume([17, 15, 19, 16], 1.0))),
        running_case!("a volume of nothing", "InvalidValue", &["rest volume of volume constraint 0", "0"], |p| {
            p.set_constraint(0, volume(OWN, 0.0))
        }),
        running_case!("a NaN volume", "InvalidValue", &["rest volume of volume constraint 0", "NaN"], |p| {
            p.set_constraint(0, volume(OWN, NAN))
        }),
        running_case!("a hinge beyond π", "InvalidValue", &["rest angle of hinge 0", "4"], |p| {
            p.set_constraint(0, Hinge::new([3, 8, 7, 4], 4.0))
        }),
        running_case!("a gas of NaN pressure", "InvalidValue", &["pressure factor", "constraint 0", "NaN"], |p| {
            let surface = octa_surface();
            p.set_constraint(0, Pressure { surface: &surface, rest_volume: 1.0, pressure: NAN })
        }),
        running_case!("a gas of another surface", "InvalidValue", &["pressure constraint 0", "16"], |p| {
            let surface = ClosedSurface::new(&raised(&OCTAHEDRON, OCTA + 1))?;
            p.set_constraint(0, Pressure { surface: &surface, rest_volume: 1.0, pressure: 1.0 })
        }),
        running_case!(
            "a gas of part of its surface",
            "LengthMismatch",
            &["particles of a constraint", "4", "6"],
            |p| {
                let surface = ClosedSurface::new(&raised(&[[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]], OCTA))?;
                p.set_constraint(0, Pressure { surface: &surface, rest_volume: 1.0, pressure: 1.0 })
            }
        ),
        running_case!("a group of fewer", "LengthMismatch", &["particles of a constraint", "2", "3"], |p| {
            let group = ShapeMatching { particles: &[15, 16], rest_positions: &POLES[..2], masses: &[1.0; 2] };
            p.set_constraint(0, group)
        }),
        running_case!("a group of a NaN mass", "InvalidValue", &["mass of particle 16", "NaN"], |p| {
            let masses = &[1.0, NAN, 1.0];
            p.set_constraint(0, ShapeMatching { particles: &[15, 16, 17], rest_positions: &POLES[..3], masses })
        }),
        running_case!("forces past the end", "IndexOutOfRange", &["force", "particle 22", "only 22"], |p| {
            p.set_forces(20, &[[0.0; 3]; 3])
        }),
        running_case!("a NaN force", "InvalidValue", &["force of particle 4", "NaN"], |p| {
            p.set_forces(3, &[[1.0; 3], [0.0, NAN, 0.0]])
        }),
        running_case!("an infinite force", "InvalidValue", &["force of particle 0", "inf"], |p| {
            p.set_forces(0, &[[INF, 0.0, 0.0]])
        }),
    ]
}

#[test]
fn rejected_constraints_and_forces_leave_running_backends_unchanged() {
    let gpu = gpu();
    let scene = rich();
    let settings = Settings { forces: true, substeps: 5, ..Settings::default() };
    let (mut tried, mut untouched) = (solver(&gpu, &scene, settings), solver(&gpu, &scene, settings));
    let mut reference = Reference::new(&scene, settings).unwrap();
    let mut faults = Vec::new();
    for case in running_cases() {
        let (on_gpu, on_reference) = ((case.attempt.on_gpu)(&mut tried), (case.attempt.on_reference)(&mut reference));
        if format!("{on_gpu:?}") != format!("{on_reference:?}") {
            faults.push(format!("{}: {on_gpu:?} against {on_reference:?} of the reference", case.what));
        }
        faults.extend(fault(&case, on_gpu));
    }
    assert_no_faults(faults);
    let mut untouched_reference = Reference::new(&scene, settings).unwrap();
    tried.step(3);
    untouched.step(3);
    reference.step(3);
    untouched_reference.step(3);
    for (what, tried, untouched) in [
        ("on the GPU", tried.read_positions().unwrap(), untouched.read_positions().unwrap()),
        ("on the reference", reference.read_positions().unwrap(), untouched_reference.read_positions().unwrap()),
    ] {
        assert_eq!(first_changed(&tried, &untouched), None, "the first particle that has changed {what}");
    }
}

#[test]
fn disabled_forces_cannot_be_set() {
    let gpu = gpu();
    let mut on_gpu = solver(&gpu, &rich(), Settings::default());
    let mut reference = Reference::new(&rich(), Settings::default()).unwrap();
    for outcome in [on_gpu.set_forces(0, &[[1.0; 3]]), reference.set_forces(0, &[[1.0; 3]])] {
        let words = &["Settings::forces", "true"];
        let case: Case<()> = Case { what: "forces off", variant: "NotEnabled", words, attempt: Box::new(()) };
        assert_eq!(fault(&case, outcome), None);
    }
}

/// Setting the constraint of a group keeps its rest shape, and so must keep the sum of masses that defines its centre.
#[test]
fn a_group_replaced_with_other_masses_keeps_its_position() {
    let mut scene = Scene::new();
    let group = |masses: &'static [f32]| ShapeMatching { particles: &[0, 1, 2, 3], rest_positions: &CORNER, masses };
    for position in CORNER {
        scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
    }
    scene.add(group(&[1.0; 4]), Material::RIGID).unwrap();
    let settings = Settings { gravity: [0.0; 3], ..Settings::default() };
    let mut reference = Reference::new(&scene, settings).unwrap();
    reference.set_constraint(0, group(&[2.0; 4])).unwrap();
    reference.step(1);
    let moved = reference
        .read_positions()
        .unwrap()
        .iter()
        .zip(CORNER)
        .map(|(&a, b)| common::distance(a, b))
        .fold(0.0, f64::max);
    println!("moved by {moved} m");
    assert!(moved < 1e-6, "a group at rest moved by {moved} m");
}

// -------------------------------------------------------------------------------------------------- odd but legal

/// Runs a scene on both backends. Both must be finite, without quarantined particles, and agree. Returns the positions.
fn runs(gpu: &Context, what: &str, scene: &Scene, settings: Settings, steps: u32) -> Vec<[f32; 3]> {
    let mut on_gpu = solver(gpu, scene, settings);
    let mut reference = Reference::new(scene, settings).unwrap();
    on_gpu.step(steps);
    reference.step(steps);
    let (found, expected) = (on_gpu.read_positions().unwrap(), reference.read_positions().unwrap());
    let diagnostics = on_gpu.read_diagnostics().unwrap();
    assert_eq!(
        (diagnostics.non_finite_count, reference.read_diagnostics().unwrap().non_finite_count),
        (0, 0),
        "{what}: {diagnostics:?}"
    );
    assert!(found.iter().chain(&expected).flatten().all(|component| component.is_finite()), "{what}");
    if common::is_exact(gpu) {
        assert_eq!(common::first_unequal(&found, &expected, 0.0), None, "{what}");
    }
    found
}

/// The largest displacement |x − x₀| [m].
fn farthest(positions: &[[f32; 3]], scene: &Scene) -> f64 {
    positions.iter().zip(scene.positions()).map(|(&a, &b)| common::distance(a, b)).fold(0.0, f64::max)
}

#[test]
fn bodies_of_a_millimetre_and_of_a_kilometre_fall_as_they_are() {
    let gpu = gpu();
    let (positions, triangles) = shapes::icosphere(1, 1.0);
    let shape = Material::RIGID;
    let elasticities =
        [ELASTIC, elastic(1e5, INF, 0.01), Elasticity::Rigid { shape }, Elasticity::Regions { rings: 1, shape }];
    for size in [1e-3f32, 1.0, 1e3] {
        let positions: Vec<[f32; 3]> = positions.iter().map(|x| x.map(|component| component * size)).collect();
        for elasticity in elasticities {
            let mut scene = Scene::new();
            let (spacing, density) = (0.7 * size, 1000.0);
            let body = SoftBody { positions: &positions, triangles: &triangles, spacing, density, elasticity };
            scene.add_soft_body(&body).unwrap();
            let settings = Settings { substeps: 5, body_damping: 0.1, ..Settings::default() };
            let found = runs(&gpu, &format!("{size} m, {elasticity:?}"), &scene, settings, 6);
            // The fall is g h² n(n + 1)/2 = 5.07 cm with n = 30 substeps of h = 1/300 s; the body keeps its shape.
            let fall = 9.81 * 465.0 / 90_000.0;
            let off = found
                .iter()
                .zip(scene.positions())
                .map(|(&[x, y, z], &[a, b, c])| common::distance([x, y, z], [a, (f64::from(b) - fall) as f32, c]));
            let off = off.fold(0.0, f64::max);
            assert!(off < 1e-6 + 1e-6 * f64::from(size), "{size} m, {elasticity:?}: off by {off} m");
        }
        let fabric = Fabric { bending: Bending::Hinges, ..Fabric::default() };
        let mut scene = Scene::new();
        let balloon =
            Balloon { positions: &positions, triangles: &triangles, fabric, pressure: 1.0, gas: Material::RIGID };
        scene.add_balloon(&balloon).unwrap();
        let found =
            runs(&gpu, &format!("a balloon of {size} m"), &scene, Settings { substeps: 5, ..Settings::default() }, 6);
        let off = farthest(&found, &scene);
        assert!((off / (9.81 * 465.0 / 90_000.0) - 1.0).abs() < 0.02, "a balloon of {size} m: {off} m");
    }
}

#[test]
fn flat_straight_collapsed_and_coincident_groups_stay_finite() {
    let gpu = gpu();
    let flat = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.4, 0.0, 0.3]];
    let straight = [0.0, 0.5, 1.5, 2.0, 3.0].map(|x| [x, 0.5 * x, -x]);
    let solid = [CORNER[0], CORNER[1], CORNER[2], CORNER[3], [1.0, 1.0, 1.0]];
    let point = [[0.25, 1.0, -3.0]; 5];
    let rests = [("flat", flat), ("straight", straight), ("solid", solid), ("coincident", point)];
    let mirrored = solid.map(|[x, y, z]| [x, y, -z]);
    let places = [("flat", flat), ("straight", straight), ("a point", point), ("inside out", mirrored)];
    for (rest_name, rest_positions) in rests {
        for (place_name, place) in places {
            let mut scene = Scene::new();
            for position in place {
                scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
            }
            let group = ShapeMatching {
                particles: &[0, 1, 2, 3, 4],
                rest_positions: &rest_positions,
                masses: &[1.0, 0.5, 1.0, 1.0, 2.0],
            };
            scene.add(group, Material::RIGID).unwrap();
            scene.add_body(0..5).unwrap();
            for settings in [
                Settings { substeps: 4, body_damping: 1.0, ..Settings::default() },
                Settings { substeps: 4, iterations: 3, relaxation: 1.5, ..Settings::default() },
            ] {
                let what = format!("{rest_name} at rest, now {place_name}");
                let found = runs(&gpu, &what, &scene, settings, 8);
                assert!(farthest(&found, &scene) < 20.0, "{what}: {found:?}");
            }
        }
    }
}

#[test]
fn constraints_without_a_gradient_stay_at_rest() {
    let gpu = gpu();
    // All particles at one point, and all on a line: most constraints have no gradient direction.
    for apart in [0.0, 1.0] {
        let mut scene = Scene::new();
        for k in 0..6u8 {
            let position = [f32::from(k) * apart, 1.0, 0.0];
            scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
        }
        for material in [Material::RIGID, Material { compliance: 1e-3, damping_time: 0.1, ..Material::RIGID }] {
            scene.add(Volume { particles: [0, 1, 2, 3], rest_volume: 1.0 }, material).unwrap();
            scene.add(Area { particles: [0, 1, 2], rest_area: 1.0 }, material).unwrap();
            scene.add(Hinge::new([0, 1, 2, 3], 1.0), material).unwrap();
            if apart == 0.0 {
                scene.add(CosineBend { particles: [0, 2, 1], rest_angle: 1.0 }, material).unwrap();
            }
            scene.add(LineBend { particles: [0, 2, 1], lengths: [1.0; 2], scale: 1.0 }, material).unwrap();
            let bend = IsometricBend { particles: [0, 1, 2, 3], coefficients: [0.0; 3] };
            scene.add(bend, material).unwrap();
            let limit = DistanceLimit { particles: [4, 5], length: 0.5, limit: Limit::AtMost };
            scene.add(limit, material).unwrap();
            let surface = ClosedSurface::new(&OCTAHEDRON).unwrap();
            scene.add(Pressure { surface: &surface, rest_volume: 1.0, pressure: 2.0 }, material).unwrap();
        }
        let settings = Settings { substeps: 4, iterations: 2, ..Settings::default() };
        let found = runs(&gpu, &format!("{apart} m apart"), &scene, settings, 5);
        // The limit pulls the last two together; the others fall as a single particle does.
        let mut lone = Scene::new();
        lone.add_particle(Particle { position: [0.0, 1.0, 0.0], ..Particle::default() }).unwrap();
        let mut reference = Reference::new(&lone, settings).unwrap();
        reference.step(5);
        let [_, y, _] = reference.read_positions().unwrap()[0];
        for (k, found) in found[..4].iter().enumerate() {
            assert_eq!(*found, [k as f32 * apart, y, 0.0], "particle {k}, {apart} m apart");
        }
    }
}

#[test]
fn fields_at_their_own_centre_and_at_the_ends_of_their_range_stay_finite() {
    let gpu = gpu();
    let mut scene = Scene::new();
    for position in [[0.0; 3], [0.0, 1.0, 0.0], [1e-30, 0.0, 0.0], [1e-12, 0.0, 0.0], [1e6, 0.0, 0.0]] {
        scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
    }
    let position = [0.0; 3];
    let up = [0.0, 1e-5, 0.0];
    for radius in [1e-6, 1.0, 1e6] {
        for strength in [1e6, -1e6, 1e-30, 0.0] {
            let fields = Field::slots(&[
                Field::Point { position, strength, radius },
                Field::Vortex { position, axis: up, strength, radius },
            ]);
            let settings = Settings { fields, substeps: 1, gravity: [0.0; 3], ..Settings::default() };
            let mut on_gpu = solver(&gpu, &scene, settings);
            on_gpu.step(1);
            let mut reference = Reference::new(&scene, settings).unwrap();
            reference.step(1);
            let found = on_gpu.read_positions().unwrap();
            assert!(
                found.iter().chain(&reference.read_positions().unwrap()).flatten().all(|x| x.is_finite()),
                "{settings:?}"
            );
            assert_eq!(
                (
                    on_gpu.read_diagnostics().unwrap().non_finite_count,
                    reference.read_diagnostics().unwrap().non_finite_count
                ),
                (0, 0)
            );
            assert_eq!((found[0], reference.read_positions().unwrap()[0]), ([0.0; 3], [0.0; 3]), "{settings:?}");
        }
    }
}

#[test]
fn resting_bodies_of_every_elasticity_keep_their_bits() {
    let gpu = gpu();
    let (positions, triangles) = shapes::icosphere(1, 0.5);
    let shape = Material::RIGID;
    for elasticity in [ELASTIC, Elasticity::Rigid { shape }, Elasticity::Regions { rings: 2, shape }] {
        let mut scene = Scene::new();
        let body =
            SoftBody { positions: &positions, triangles: &triangles, spacing: 0.25, density: 1000.0, elasticity };
        scene.add_soft_body(&body).unwrap();
        let settings = Settings { gravity: [0.0; 3], substeps: 5, body_damping: 1.0, ..Settings::default() };
        let off = farthest(&runs(&gpu, "at rest", &scene, settings, 10), &scene);
        println!("{elasticity:?}: {off:e} m");
        // Rest lengths and goals are rounded to f32: the ulp of half a metre is 6e-8 m.
        assert!(off < 3e-7, "{elasticity:?}: {off} m");
    }
}
