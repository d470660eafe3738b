//! Shaders, examples and documents are valid and agree with the code.

#[path = "../common/mod.rs"]
mod common;

mod docs;
mod examples;
mod shaders;
