//! The peers, in the order of the table.

use crate::drape::{Drape, Ready};
use crate::programs::Program;
use crate::{dynamis, rapier, supple};
use anyhow::Result;

/// The kind of a peer.
#[derive(Clone, Copy)]
pub enum Way {
    /// Part of this program, run in its own process.
    Here(fn(&Drape) -> Result<Ready>),
    Program(Program),
}

pub struct Peer {
    pub name: &'static str,
    pub way: Way,
    /// The largest number of particles per side; beyond it the peer is too slow or fails.
    pub largest_n: u32,
}

/// The reference of the comparison.
pub const SUPPLE: &str = "supple";

pub const PEERS: &[Peer] = &[
    here(SUPPLE, supple::same),
    here("supple-default", supple::default),
    here("supple-demo", supple::demo),
    here("rapier", rapier::same),
    here("rapier-default", rapier::default),
    here("dynamis", dynamis::same),
    here("dynamis-default", dynamis::default),
    program("native-scalar", Program::C(&["--variant", "scalar"])),
    program("native-avx512", Program::C(&["--variant", "avx512"])),
    program("native-avx512-1thread", Program::C(&["--variant", "avx512", "--threads", "1"])),
    program("native-avx512-tethers", Program::C(&["--variant", "avx512", "--lra", "1"])),
    program("native-fused", Program::C(&["--variant", "fused"])),
    program("native-fused-1thread", Program::C(&["--variant", "fused", "--threads", "1"])),
    program("cuda-stream", Program::Cuda(&["--mode", "stream"])),
    program("cuda-graph", Program::Cuda(&["--mode", "graph"])),
    program("cuda-coop", Program::Cuda(&["--mode", "coop"])),
    program("cuda-tile", Program::Cuda(&["--mode", "tile"])),
    program("wgpu-naive", Program::Python("wgpu_drape.py", "wgpu", &[])),
    program("taichi-cpu", Program::Python("taichi_drape.py", "taichi", &["--arch", "cpu"])),
    program("taichi-cuda", Program::PythonCuda("taichi_drape.py", "taichi", &["--arch", "cuda"])),
    program("pypbd", Program::Python("pypbd_drape.py", "pypbd", &[])),
    program("pypbd-demo", Program::Python("pypbd_drape.py", "pypbd", &["--scene", "demo"])),
    program("newton-xpbd-cpu", Program::Python("newton_drape.py", "newton", &["--solver", "xpbd"])),
    program(
        "newton-xpbd-cuda",
        Program::PythonCuda("newton_drape.py", "newton", &["--solver", "xpbd", "--device", "cuda:0"]),
    ),
    up_to(64, program("newton-vbd-cpu", Program::Python("newton_drape.py", "newton", &["--solver", "vbd"]))),
    program(
        "newton-vbd-cuda",
        Program::PythonCuda("newton_drape.py", "newton", &["--solver", "vbd", "--device", "cuda:0"]),
    ),
    up_to(128, program("numpy-f64", Program::Python("numpy_drape.py", "numpy", &[]))),
];

const fn here(name: &'static str, play: fn(&Drape) -> Result<Ready>) -> Peer {
    Peer { name, way: Way::Here(play), largest_n: u32::MAX }
}

const fn program(name: &'static str, program: Program) -> Peer {
    Peer { name, way: Way::Program(program), largest_n: u32::MAX }
}

const fn up_to(largest_n: u32, peer: Peer) -> Peer {
    Peer { largest_n, ..peer }
}
