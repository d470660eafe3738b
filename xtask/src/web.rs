//! `cargo xtask web`: builds the page of `examples/web` and serves it.

use crate::{Failure, Workspace, run};
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

const TARGET: &str = "wasm32-unknown-unknown";
const PORT: &str = "8080";

/// The folder of the page, and that of everything built for it, below the root of the workspace.
const SOURCES: &str = "examples/web";
const BUILT: &str = "target/web";

/// `--build` only builds; a number is the port to serve at.
pub fn web(arguments: &[OsString]) -> Result<u8, Failure> {
    let mut port = Some(PORT.to_owned());
    for argument in arguments {
        match argument.to_str() {
            Some("--build") => port = None,
            Some(text) if text.parse::<u16>().is_ok() => port = Some(text.to_owned()),
            _ => {
                let message = format!("web takes --build or a port from 0 to 65535, not {argument:?}");
                return Err(Failure { code: 2, message });
            }
        }
    }
    if !has_target() {
        return Err(Failure::new(format!(
            "the target {TARGET} is missing; add it with\n\n    rustup target add {TARGET}"
        )));
    }
    let workspace = Workspace::new()?;
    let (sources, built) = (workspace.root.join(SOURCES), workspace.root.join(BUILT));
    let build = |arguments: &[&str]| {
        let mut cargo = workspace.cargo();
        cargo.current_dir(&sources).args(["build", "--release", "--locked"]).args(arguments);
        run(cargo.arg("--target-dir").arg(&built))
    };
    for arguments in [["--package", "supple-web", "--target", TARGET].as_slice(), &["--package", "supple-web-tool"]] {
        let code = build(arguments)?;
        if code != 0 {
            return Ok(code);
        }
    }
    let tool = built.join("release").join(format!("supple-web-tool{}", std::env::consts::EXE_SUFFIX));
    let module = built.join(TARGET).join("release/supple_web.wasm");
    let site = built.join("site");
    let code = run(Command::new(tool).arg(module).arg(&sources).arg(&site).args(port.as_deref()))?;
    if port.is_none() && code == 0 {
        println!("The page is in {}. Any server of static files can serve it.", site.display());
    }
    Ok(code)
}

/// True if the standard library of the target is installed.
fn has_target() -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let found =
        Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).stderr(Stdio::null()).output();
    found.is_ok_and(|found| Path::new(String::from_utf8_lossy(&found.stdout).trim()).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_argument_is_an_error_of_use() {
        for argument in ["--port", "65536", "-1", ""] {
            let failure = web(&[argument.into()]).expect_err(argument);
            assert!(failure.code == 2 && failure.message.contains(&format!("{argument:?}")), "{}", failure.message);
        }
    }
}
