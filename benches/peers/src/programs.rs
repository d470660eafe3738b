//! Peers that are separate programs: C and CUDA, compiled before the run, and Python scripts. Each runs the workload
//! and prints one line of JSON.

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of the sources.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/programs");

/// A program and its arguments.
#[derive(Debug, Clone, Copy)]
pub enum Program {
    /// `xpbd_cpu.c`.
    C(&'static [&'static str]),
    /// `cuda_xpbd.cu`.
    Cuda(&'static [&'static str]),
    /// A script, the Python module that it needs, and its arguments.
    Python(&'static str, &'static str, &'static [&'static str]),
    /// As [`Program::Python`], on an NVIDIA GPU.
    PythonCuda(&'static str, &'static str, &'static [&'static str]),
}

/// The tools found on this machine. Each is searched once, at its first use.
#[derive(Debug)]
pub struct Tools {
    build: PathBuf,
    python: PathBuf,
    c: OnceCell<Result<PathBuf, String>>,
    cuda: OnceCell<Result<PathBuf, String>>,
    nvidia: OnceCell<Result<(), String>>,
}

impl Tools {
    /// Programs are compiled into the folder `build`; scripts are run by `python`. Without it, the Python of the
    /// virtual environment in `README.md` is used, else that of the system.
    pub fn new(build: PathBuf, python: Option<PathBuf>) -> Result<Self> {
        std::fs::create_dir_all(&build).with_context(|| format!("cannot make {}", build.display()))?;
        let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join("venv/bin/python");
        let python = python.unwrap_or_else(|| if venv.exists() { venv } else { "python3".into() });
        Ok(Self { build, python, c: OnceCell::new(), cuda: OnceCell::new(), nvidia: OnceCell::new() })
    }

    /// The command of a program, or the tool that is missing.
    pub fn command(&self, program: Program) -> Result<Command> {
        let (mut command, arguments) = match program {
            Program::C(arguments) => (Command::new(known(&self.c, || self.compile_c())?), arguments),
            Program::Cuda(arguments) => {
                known(&self.nvidia, nvidia)?;
                (Command::new(known(&self.cuda, || self.compile_cuda())?), arguments)
            }
            Program::Python(script, module, arguments) => (self.script(script, module)?, arguments),
            Program::PythonCuda(script, module, arguments) => {
                known(&self.nvidia, nvidia)?;
                (self.script(script, module)?, arguments)
            }
        };
        command.args(arguments);
        Ok(command)
    }

    fn compile_c(&self) -> Result<PathBuf> {
        let to = self.build.join("xpbd_cpu");
        let options = ["-O3", "-march=native", "-ffast-math", "-fopenmp", "xpbd_cpu.c", "-lm", "-o"];
        run(Command::new("gcc").args(options).arg(&to).current_dir(SOURCES), "gcc")?;
        Ok(to)
    }

    fn compile_cuda(&self) -> Result<PathBuf> {
        let to = self.build.join("cuda_xpbd");
        let options = ["-O3", "-arch=native", "--use_fast_math", "cuda_xpbd.cu", "-o"];
        run(Command::new("nvcc").args(options).arg(&to).current_dir(SOURCES), "nvcc")?;
        Ok(to)
    }

    fn script(&self, script: &str, module: &str) -> Result<Command> {
        let look = format!("import importlib.util as u, sys; sys.exit(u.find_spec('{module}') is None)");
        let status = Command::new(&self.python).arg("-c").arg(look).stdin(Stdio::null()).status();
        let name = self.python.display();
        let status = status.with_context(|| format!("{name} cannot be run"))?;
        ensure!(status.success(), "the Python module {module} is not installed (see benches/peers/README.md)");
        let mut command = Command::new(&self.python);
        // Otherwise Python would write its caches into the source folder.
        command.env("PYTHONDONTWRITEBYTECODE", "1").arg(Path::new(SOURCES).join(script));
        Ok(command)
    }
}

/// The cached result of a search, which runs at the first call.
fn known<T: Clone>(cell: &OnceCell<Result<T, String>>, search: impl FnOnce() -> Result<T>) -> Result<T> {
    cell.get_or_init(|| search().map_err(|error| format!("{error:#}"))).clone().map_err(anyhow::Error::msg)
}

fn nvidia() -> Result<()> {
    run(Command::new("nvidia-smi").arg("-L"), "nvidia-smi")
        .map_err(|_| anyhow!("no NVIDIA GPU that nvidia-smi knows of"))
}

fn run(command: &mut Command, name: &str) -> Result<()> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("{name} cannot be run"))?;
    if !output.status.success() {
        bail!("{name} failed: {}", last_line(&output.stderr));
    }
    Ok(())
}

/// The last line that is not empty.
pub fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("without a word").to_owned()
}
