//! Physics on both backends: closed forms, bending, energy and momentum.

#[path = "../common/mod.rs"]
mod common;

mod bending;
mod calibration;
mod closed_forms;
mod closed_forms_bodies;
mod energy;
mod implicit_euler;
mod membranes;
mod momentum;
mod random_scenes;
mod rods;
mod rods_free;
mod scaled_compliance;
mod solids;
mod springs;
mod study;
