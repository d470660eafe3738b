//! Closed surfaces with a pressure in Pa.

use crate::common;
use crate::common::Pair;
use supple::scene::Bending;
use supple::{
    Balloon, ClosedSurface, Error, Fabric, Material, Orthotropic, Pressure, Reference, Scene, Settings, Tearing,
};

const RADIUS: f32 = 0.2;

/// Young's modulus times thickness \[N/m\], and the Poisson ratio.
const MODULUS: f32 = 500.0;
const POISSON_RATIO: f32 = 0.3;

fn rubber() -> Fabric {
    let shear = MODULUS / (2.0 * (1.0 + POISSON_RATIO));
    let membrane = Orthotropic { shear, ..Orthotropic::isotropic(MODULUS, POISSON_RATIO) };
    Fabric { area_density: 0.5, bending: Bending::None, membrane: Some(membrane), ..Fabric::default() }
}

/// The stretch s of a sphere: the membrane tension E/(1 − ν) (s² − 1)/2 is Δp R s/2.
fn stretch(pascals: f32) -> f64 {
    let ratio = f64::from(pascals * RADIUS / MODULUS * (1.0 - POISSON_RATIO));
    0.5 * (ratio + (ratio * ratio + 4.0).sqrt())
}

#[test]
fn a_sphere_under_pressure_has_the_radius_and_the_pressure_of_the_closed_form() {
    let (positions, triangles) = common::shapes::icosphere(2, RADIUS);
    for pascals in [100.0, 800.0] {
        let mut scene = Scene::new();
        let (pressure, gas) = (1.0, Material::RIGID);
        let skin = Balloon { positions: &positions, triangles: &triangles, fabric: rubber(), pressure, gas };
        let parts = scene.add_balloon(&skin.at(pascals).unwrap()).unwrap();
        // One sweep of 20 substeps would be 13 % too soft.
        let motion = Settings { gravity: [0.0; 3], damping: 20.0, substeps: 60, ..Settings::default() };
        let settings = Settings { keep_lambdas: true, ..motion };
        let mut reference = Reference::new(&scene, settings).unwrap();
        reference.step(60);
        let place = |x: &Vec<[f32; 3]>| parts.surface.volume(|particle| x[particle as usize]).cbrt();
        let x = reference.read_positions().unwrap();
        let (own, law) = (place(&x) / place(&scene.positions().to_vec()), stretch(pascals));
        assert!(((own - 1.0) / (law - 1.0) - 1.0).abs() < 0.02, "{pascals} Pa: stretch {own}, law {law}");
        let force = reference.read_constraint_forces::<Pressure<'_>>().unwrap()[0];
        assert!((force / pascals - 1.0).abs() < 2e-3, "{force} of {pascals} Pa");
        // A quarter of the pressure.
        let factor = 1.0 + 1000.0 * 0.25;
        let less = Pressure { surface: &parts.surface, rest_volume: parts.rest_volume, pressure: factor };
        reference.set_constraint(parts.pressure, less).unwrap();
        reference.step(60);
        let force = reference.read_constraint_forces::<Pressure<'_>>().unwrap()[0];
        assert!((force / (0.25 * pascals) - 1.0).abs() < 5e-3, "{force} of a quarter of {pascals} Pa");
    }
}

#[test]
fn both_backends_agree_on_a_balloon_of_given_pressure() {
    let gpu = common::gpu();
    let (positions, triangles) = common::shapes::icosphere(1, RADIUS);
    let mut scene = Scene::new();
    let (pressure, gas) = (1.0, Material::RIGID);
    let skin = Balloon { positions: &positions, triangles: &triangles, fabric: rubber(), pressure, gas };
    scene.add_balloon(&skin.at(400.0).unwrap()).unwrap();
    let mut pair = Pair::new(&gpu, &scene, Settings { damping: 2.0, ..Settings::default() });
    pair.run(12, 1e-4, "balloon");
}

/// Every way to a pressure refuses a skin that is open or tears, and bad pressures.
#[test]
fn open_and_leaking_skins_and_bad_pressures_are_errors() {
    let (positions, triangles) = common::shapes::icosphere(0, RADIUS);
    let (pressure, gas) = (1.0, Material::RIGID);
    let open = Balloon { positions: &positions, triangles: &triangles[1..], fabric: rubber(), pressure, gas };
    let is_open = |error: Error| matches!(error, Error::OpenSurface { boundary_edges: 3, .. });
    assert!(is_open(open.clone().at(100.0).unwrap_err()));
    let mut scene = Scene::new();
    assert!(is_open(scene.add_balloon(&open).unwrap_err()));
    assert!(is_open(ClosedSurface::new(open.triangles).unwrap_err()));
    let skin = Balloon { triangles: &triangles, ..open };
    for pascals in [0.0, -100.0, f32::NAN, f32::INFINITY, 1e-30] {
        let error = skin.clone().at(pascals).unwrap_err();
        assert!(matches!(error, Error::InvalidValue { .. }), "{pascals}: {error}");
    }
    let tears = Balloon { fabric: Fabric { tearing: Some(Tearing::at(0.2)), ..rubber() }, ..skin };
    let error = scene.add_balloon(&tears).unwrap_err().to_string();
    assert!(error.contains("gas") && error.contains("set Fabric::tearing to None"), "{error}");
    assert_eq!(scene.particle_count(), 0);
}
