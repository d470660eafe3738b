//! `cargo xtask demo`, `test` and `web`: run the project on a machine that has cargo and nothing else.
//!
//! Demo and tests need a Vulkan driver. On Linux without one, Mesa's software driver is installed first.

mod driver;
mod progress;
mod suite;
mod web;

use driver::{driver_hints, install, wants_software};
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

const USAGE: &str = "\
Usage: cargo xtask <command> [arguments]

  demo [arguments]   the cloth of 100 000 particles, in release: a window, or without a display a picture and an
                     animation under out/. On a software adapter the window has fewer particles. The arguments are
                     passed to the example; `cargo xtask demo --help` lists them.
  test [arguments]   all tests, including doc tests, two test binaries at a time. With arguments it runs `cargo test`
                     with them.
  web [PORT]         the cloth in a browser with WebGPU: builds the page and serves it, at port 8080 by default;
                     `web --build` only builds it.
  help               this text

Demo and tests check for a Vulkan adapter first. On Linux without one, they install Mesa's software driver with the package
manager of the system, as root or through sudo. SUPPLE_ADAPTER selects the adapter: a part of its name, or `software`.";

const ADAPTER_VARIABLE: &str = "SUPPLE_ADAPTER";

/// The arguments of `cargo test` that select the build. The adapter check uses the same ones, or everything would be
/// compiled twice.
fn build_options(arguments: &[OsString]) -> Vec<OsString> {
    let mut options = Vec::new();
    let mut arguments = arguments.iter().take_while(|argument| *argument != "--");
    while let Some(argument) = arguments.next() {
        let Some(text) = argument.to_str() else { continue };
        match text {
            "-r" | "--release" | "--locked" | "--offline" | "--frozen" => options.push(argument.clone()),
            "--profile" | "--target" | "--target-dir" => {
                options.push(argument.clone());
                options.extend(arguments.next().cloned());
            }
            _ if ["--profile=", "--target=", "--target-dir="].iter().any(|option| text.starts_with(option)) => {
                options.push(argument.clone());
            }
            _ => {}
        }
    }
    options
}

/// The path of the example `adapters` in a message of cargo about a compiled target.
fn adapters_program(message: &str) -> Option<&str> {
    let (_, target) = message.split_once(r#""kind":["example"],"crate_types":["bin"],"name":"adapters""#)?;
    target.split_once(r#""executable":""#)?.1.split('"').next()
}

/// The reason why the job did not run, with its exit code.
struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    fn new(message: impl Into<String>) -> Self {
        Self { code: 1, message: message.into() }
    }
}

/// The failure to start a command.
fn not_run(command: &Command, error: io::Error) -> Failure {
    Failure::new(format!("{} cannot be run: {error}", command.get_program().to_string_lossy()))
}

/// The exit code of a program; 1 if it was stopped by a signal.
fn exit_code(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Runs a command to its end and returns its exit code.
fn run(command: &mut Command) -> Result<u8, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|error| not_run(command, error))?;
    match status.code() {
        Some(_) => Ok(exit_code(status)),
        None => Err(Failure::new(format!("{name} was stopped ({status})"))),
    }
}

/// A private temporary folder, removed on drop.
struct PrivateFolder(PathBuf);

impl PrivateFolder {
    #[cfg(unix)]
    fn new() -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        let mut number = 0;
        loop {
            let folder = env::temp_dir().join(format!("supple-xtask-{}-{number}", std::process::id()));
            // Fails if the name exists, because a folder of another user would not be private.
            match std::fs::DirBuilder::new().mode(0o700).create(&folder) {
                Ok(()) => return Ok(Self(folder)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    #[cfg(not(unix))]
    fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // An empty folder that remains is harmless.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The folder and environment in which cargo runs.
struct Workspace {
    root: PathBuf,
    runtime_folder: Option<PrivateFolder>,
}

impl Workspace {
    fn new() -> Result<Self, Failure> {
        // The value at run time overrides the value at compile time.
        let member = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&member).parent().map(Path::to_owned);
        let root = root.ok_or_else(|| Failure::new(format!("{member:?} lies in no workspace")))?;
        // Mesa prints a warning at each start without this variable, for example in containers.
        let unset = env::var_os("XDG_RUNTIME_DIR").is_none_or(|folder| folder.is_empty());
        let runtime_folder = (cfg!(target_os = "linux") && unset).then(PrivateFolder::new).and_then(|folder| {
            folder
                .inspect_err(|error| eprintln!("xtask: there is no XDG_RUNTIME_DIR, and making one failed: {error}"))
                .ok()
        });
        Ok(Self { root, runtime_folder })
    }

    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        if let Some(folder) = &self.runtime_folder {
            command.env("XDG_RUNTIME_DIR", &folder.0);
        }
        command
    }

    fn cargo(&self) -> Command {
        self.command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }

    /// `cargo test` of all packages.
    fn cargo_test(&self) -> Command {
        let mut cargo = self.cargo();
        cargo.args(["test", "--workspace"]);
        cargo
    }

    /// Returns true if an adapter fits `SUPPLE_ADAPTER`. `build` contains options of `cargo build`.
    fn has_adapter(&self, build: &[OsString]) -> Result<bool, Failure> {
        let failure = |code| Failure { code, message: "the check for a Vulkan adapter failed; see above".into() };
        let mut cargo = self.cargo();
        // Not `cargo run`: it has no `--workspace`, and would compile crates again with fewer features.
        cargo.arg("build").args(build).args(["--example", "adapters", "--message-format=json-render-diagnostics"]);
        let output = cargo.stderr(Stdio::inherit()).output().map_err(|error| not_run(&cargo, error))?;
        let messages = String::from_utf8_lossy(&output.stdout);
        let program = messages.lines().find_map(adapters_program).filter(|_| output.status.success());
        let program = program.ok_or_else(|| failure(exit_code(output.status).max(1)))?;
        // Standard output carries only that of the tests or of the demo.
        match run(self.command(program).stdout(io::stderr()))? {
            0 => Ok(true),
            1 => Ok(false),
            code => Err(failure(code)),
        }
    }

    /// Ensures that there is an adapter, and installs a driver if necessary.
    fn provide_adapter(&self, build: &[OsString]) -> Result<(), Failure> {
        if !cfg!(target_os = "linux") {
            // Other systems include their drivers.
            return Ok(());
        }
        eprintln!("xtask: looking for a Vulkan adapter");
        if self.has_adapter(build)? {
            return Ok(());
        }
        let wanted = env::var_os(ADAPTER_VARIABLE).map(|wanted| wanted.to_string_lossy().into_owned());
        if let Some(wanted) = wanted.filter(|wanted| !wants_software(wanted)) {
            return Err(Failure::new(format!(
                "no adapter fits {ADAPTER_VARIABLE}={wanted}, and Mesa's software driver would not either: change it, or unset it"
            )));
        }
        let manager = install()?;
        if self.has_adapter(build)? {
            return Ok(());
        }
        Err(Failure::new(format!(
            "{} has installed Mesa's software driver, yet no Vulkan adapter is found.\n`vulkaninfo --summary` (of the \
             package vulkan-tools) says what the Vulkan loader sees.{}",
            manager.program,
            driver_hints()
        )))
    }
}

fn demo(arguments: &[OsString]) -> Result<u8, Failure> {
    let workspace = Workspace::new()?;
    // Both at once, so that nothing is left to compile after the check for an adapter.
    let code = progress::build(&workspace, &["--release", "--example", "adapters", "--example", "cloth"])?;
    if code != 0 {
        return Err(Failure { code, message: "the demo failed to compile; see above".into() });
    }
    workspace.provide_adapter(&["--release".into()])?;
    run(workspace.cargo().args(["run", "--release", "--example", "cloth", "--"]).args(arguments))
}

fn test(arguments: &[OsString]) -> Result<u8, Failure> {
    let workspace = Workspace::new()?;
    workspace.provide_adapter(&[vec!["--workspace".into()], build_options(arguments)].concat())?;
    if arguments.is_empty() {
        return suite::run_all(&workspace);
    }
    run(workspace.cargo_test().args(arguments))
}

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let command = arguments.next();
    let rest: Vec<OsString> = arguments.collect();
    let outcome = match command.as_deref().map(OsStr::to_string_lossy).as_deref() {
        Some("demo") => demo(&rest),
        Some("test") => test(&rest),
        Some("web") => web::web(&rest),
        Some("help" | "--help" | "-h") => {
            // A closed pipe is no error: a reader may need only the first lines.
            let _ = writeln!(io::stdout(), "{USAGE}");
            Ok(0)
        }
        Some(other) => Err(Failure { code: 2, message: format!("there is no command {other:?}\n\n{USAGE}") }),
        None => Err(Failure { code: 2, message: format!("a command is missing\n\n{USAGE}") }),
    };
    ExitCode::from(outcome.unwrap_or_else(|failure| {
        eprintln!("xtask: {}", failure.message);
        failure.code
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn the_example_is_found_among_the_messages_of_cargo() {
        let message = r#"{"reason":"compiler-artifact","target":{"kind":["example"],"crate_types":["bin"],"name":"adapters","src_path":"/a.rs"},"executable":"/target/adapters","fresh":true}"#;
        assert_eq!(adapters_program(message), Some("/target/adapters"));
        assert_eq!(adapters_program(&message.replace(r#""name":"adapters""#, r#""name":"cloth""#)), None);
    }

    #[test]
    fn the_check_is_built_like_the_tests() {
        assert_eq!(build_options(&strings(&["--test", "parity", "--nocapture"])), strings(&[]));
        assert_eq!(build_options(&strings(&["--release", "--lib"])), strings(&["--release"]));
        assert_eq!(build_options(&strings(&["--profile", "fast", "-r"])), strings(&["--profile", "fast", "-r"]));
        assert_eq!(build_options(&strings(&["--target-dir=/t", "a"])), strings(&["--target-dir=/t"]));
        // Arguments after `--` are for the tests.
        assert_eq!(build_options(&strings(&["--locked", "--", "--release"])), strings(&["--locked"]));
        assert_eq!(build_options(&strings(&["--profile"])), strings(&["--profile"]));
    }

    #[cfg(unix)]
    #[test]
    fn the_runtime_folder_is_private_and_goes() -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        let (one, other) = (PrivateFolder::new()?, PrivateFolder::new()?);
        let path = one.0.clone();
        assert_ne!(path, other.0);
        assert_eq!(std::fs::metadata(&path)?.permissions().mode() & 0o777, 0o700);
        drop(one);
        assert!(!path.exists());
        Ok(())
    }
}
