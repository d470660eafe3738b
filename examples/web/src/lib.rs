//! The cloth demo in a browser: a page of `index.html` and `page.js` calls a [`Page`] from its animation frames.

#![cfg(target_arch = "wasm32")]

#[allow(dead_code, reason = "the demos in a window use the rest")]
#[path = "../../../demos/src"]
mod common {
    pub mod camera;
    pub mod colliders;
    pub mod demo;
    pub mod draw;
    pub mod draw_pipelines;
    pub mod draw_resources;
    pub mod grip;
    pub mod hung;
    pub mod lines;
    #[path = "../../tests/common/shapes.rs"]
    pub mod shapes;
    pub mod strains;
    pub mod timer;
    pub use demo::Demo;
}
mod page;
mod scenes;
