//! `cargo xtask demo`, `test` and `web`: run the project on a machine that has cargo and nothing else.
//!
//! Demo and tests need a Vulkan driver. On Linux without one, Mesa's software driver is installed first.

mod progress;
mod web;

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

const USAGE: &str = "\
Usage: cargo xtask <command> [arguments]

  demo [arguments]   the cloth of 100 000 particles, in release: a window, or without a display a picture and an
                     animation under out/. On a software adapter the window has fewer particles. The arguments are
                     passed to the example; `cargo xtask demo --help` lists them.
  test [arguments]   all tests, including doc tests. The arguments are passed to `cargo test`.
  web [PORT]         the cloth in a browser with WebGPU: builds the page and serves it, at port 8080 by default;
                     `web --build` only builds it.
  help               this text

Demo and tests check for a Vulkan adapter first. On Linux without one, they install Mesa's software driver with the package
manager of the system, as root or through sudo. SUPPLE_ADAPTER selects the adapter: a part of its name, or `software`.";

const ADAPTER_VARIABLE: &str = "SUPPLE_ADAPTER";

/// A package manager and its commands that install Mesa's software driver and the Vulkan loader.
struct Manager {
    program: &'static str,
    /// Only the last step must succeed: an unreachable repository fails a refresh but may not matter.
    steps: &'static [&'static [&'static str]],
}

const MANAGERS: [Manager; 5] = [
    Manager {
        program: "apt-get",
        // Waits for the dpkg lock, which a machine that has just started often holds for its own updates.
        steps: &[
            &["update"],
            &["install", "--yes", "-o", "DPkg::Lock::Timeout=120", "mesa-vulkan-drivers", "libvulkan1"],
        ],
    },
    Manager { program: "dnf", steps: &[&["install", "--assumeyes", "mesa-vulkan-drivers", "vulkan-loader"]] },
    Manager { program: "pacman", steps: &[&["-Sy", "--needed", "--noconfirm", "vulkan-swrast", "vulkan-icd-loader"]] },
    Manager { program: "zypper", steps: &[&["--non-interactive", "install", "libvulkan_lvp", "libvulkan1"]] },
    Manager { program: "apk", steps: &[&["add", "--no-cache", "mesa-vulkan-swrast", "vulkan-loader"]] },
];

impl Manager {
    /// The complete command lines, each with `prefix`.
    fn commands(&self, prefix: &[&'static str]) -> Vec<Vec<&'static str>> {
        self.steps.iter().map(|step| [prefix, &[self.program], step].concat()).collect()
    }

    /// The command lines as shell text.
    fn line(&self, prefix: &[&'static str]) -> String {
        self.commands(prefix).iter().map(|command| command.join(" ")).collect::<Vec<_>>().join(" && ")
    }
}

/// The first package manager on this machine.
fn find_manager(has: impl Fn(&str) -> bool) -> Option<&'static Manager> {
    MANAGERS.iter().find(|manager| has(manager.program))
}

/// The prefix of commands that need root; `None` if root rights are unavailable. Without a terminal no password can be
/// typed, so sudo must not prompt.
fn root_prefix(is_root: bool, has_sudo: bool, has_terminal: bool) -> Option<&'static [&'static str]> {
    match (is_root, has_sudo, has_terminal) {
        (true, _, _) => Some(&[]),
        (false, true, true) => Some(&["sudo"]),
        (false, true, false) => Some(&["sudo", "-n"]),
        (false, false, _) => None,
    }
}

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

/// Returns true if Mesa's software driver may match `SUPPLE_ADAPTER`. Its name is "llvmpipe (LLVM 20 ...)".
fn wants_software(wanted: &str) -> bool {
    let wanted = wanted.trim();
    wanted.is_empty() || wanted == "software" || wanted.to_lowercase().starts_with("llvm")
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

/// The message for a machine without an adapter on which nothing was installed, after `reason`.
fn instruction(reason: impl fmt::Display, manager: Option<&Manager>) -> Failure {
    let mut text = format!("{reason}.\nInstall a Vulkan driver, then try again. As root, ");
    match manager {
        Some(manager) => text += &format!("this installs Mesa's software driver:\n    {}", manager.line(&[])),
        None => {
            text += "one of these installs Mesa's software driver:";
            for manager in &MANAGERS {
                text += &format!("\n    {}", manager.line(&[]));
            }
        }
    }
    Failure::new(text + &obstacles())
}

/// Conditions under which programs do not find an installed driver.
fn obstacles() -> String {
    let mut text = String::new();
    // With these variables the loader searches nowhere else.
    for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        if let Some(files) = env::var_os(variable) {
            let files = files.to_string_lossy();
            text += &format!("\n{variable} is set to {files:?}: no other driver is found. Unset it.");
        }
    }
    if cfg!(all(target_env = "musl", target_feature = "crt-static")) {
        text += "\nThis Rust links programs statically, and such programs cannot load a driver: set \
                 RUSTFLAGS=-Ctarget-feature=-crt-static.";
    }
    text
}

/// Runs a command to its end and returns its exit code.
fn run(command: &mut Command) -> Result<u8, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|error| Failure::new(format!("{name} cannot be run: {error}")))?;
    match status.code() {
        Some(code) => Ok(u8::try_from(code).unwrap_or(1)),
        None => Err(Failure::new(format!("{name} was stopped ({status})"))),
    }
}

/// Returns true if a program is on the `PATH`.
fn has(program: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").stderr(Stdio::null()).output();
    id.is_ok_and(|output| output.status.success() && output.stdout.trim_ascii() == b"0")
}

/// Installs Mesa's software driver and prints a message first.
fn install() -> Result<&'static Manager, Failure> {
    let Some(manager) = find_manager(has) else {
        return Err(instruction("there is no Vulkan adapter, and no known package manager", None));
    };
    let has_terminal = io::stdin().is_terminal();
    let Some(prefix) = root_prefix(is_root(), has("sudo"), has_terminal) else {
        let reason = "there is no Vulkan adapter, and a driver can only be installed by root: there is no sudo";
        return Err(instruction(reason, Some(manager)));
    };
    eprintln!("xtask: there is no Vulkan adapter; installing Mesa's software driver:");
    let commands = manager.commands(prefix);
    for (index, words) in commands.iter().enumerate() {
        let line = words.join(" ");
        eprintln!("xtask: $ {line}");
        let Some((program, arguments)) = words.split_first() else { continue };
        let mut command = Command::new(program);
        // Standard output belongs to the job.
        command.args(arguments).stdout(io::stderr());
        if !has_terminal {
            command.stdin(Stdio::null());
        }
        let outcome = run(&mut command);
        let reason = match outcome {
            Ok(0) => continue,
            Ok(code) => format!("`{line}` failed with exit code {code}"),
            Err(failure) => failure.message,
        };
        if index + 1 == commands.len() {
            return Err(instruction(reason, Some(manager)));
        }
        eprintln!("xtask: {reason}; continuing");
    }
    Ok(manager)
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

    fn cargo(&self) -> Command {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(&self.root);
        if let Some(folder) = &self.runtime_folder {
            cargo.env("XDG_RUNTIME_DIR", &folder.0);
        }
        cargo
    }

    /// Returns true if an adapter fits `SUPPLE_ADAPTER`.
    fn has_adapter(&self, build: &[OsString]) -> Result<bool, Failure> {
        let mut cargo = self.cargo();
        // Standard output belongs to the job.
        cargo.arg("run").args(build).args(["--example", "adapters"]).stdout(io::stderr());
        match run(&mut cargo)? {
            0 => Ok(true),
            1 => Ok(false),
            // It failed to compile or crashed, which no driver would fix.
            code => {
                Err(Failure { code, message: "the check for a Vulkan adapter could not be made; see above".into() })
            }
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
            obstacles()
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
    workspace.provide_adapter(&build_options(arguments))?;
    run(workspace.cargo().args(["test", "--workspace"]).args(arguments))
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

    fn lines(manager: &str, prefix: &[&'static str]) -> Option<String> {
        find_manager(|program| program == manager).map(|manager| manager.line(prefix))
    }

    fn strings(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn each_manager_has_its_commands() {
        let expected = [
            (
                "apt-get",
                "apt-get update && apt-get install --yes -o DPkg::Lock::Timeout=120 mesa-vulkan-drivers libvulkan1",
            ),
            ("dnf", "dnf install --assumeyes mesa-vulkan-drivers vulkan-loader"),
            ("pacman", "pacman -Sy --needed --noconfirm vulkan-swrast vulkan-icd-loader"),
            ("zypper", "zypper --non-interactive install libvulkan_lvp libvulkan1"),
            ("apk", "apk add --no-cache mesa-vulkan-swrast vulkan-loader"),
        ];
        for (manager, line) in expected {
            assert_eq!(lines(manager, &[]).as_deref(), Some(line));
        }
        assert_eq!(lines("brew", &[]), None);
    }

    #[test]
    fn every_step_gets_the_prefix() {
        let line = lines("apt-get", &["sudo", "-n"]).unwrap_or_default();
        assert!(line.split(" && ").all(|step| step.starts_with("sudo -n apt-get ")), "{line}");
        assert_eq!(line.split(" && ").count(), 2);
    }

    #[test]
    fn the_first_known_manager_is_taken() {
        assert_eq!(find_manager(|_| true).map(|manager| manager.program), Some("apt-get"));
        assert!(find_manager(|_| false).is_none());
    }

    #[test]
    fn sudo_is_for_those_who_are_not_root_and_asks_only_at_a_terminal() {
        for (sudo, terminal) in [(false, false), (false, true), (true, false), (true, true)] {
            assert_eq!(root_prefix(true, sudo, terminal), Some(&[][..]));
        }
        assert_eq!(root_prefix(false, true, true), Some(&["sudo"][..]));
        assert_eq!(root_prefix(false, true, false), Some(&["sudo", "-n"][..]));
        assert_eq!(root_prefix(false, false, true), None);
        assert_eq!(root_prefix(false, false, false), None);
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

    #[test]
    fn only_a_software_adapter_is_worth_installing_a_software_driver() {
        assert!(["", " ", "software", " software ", "llvmpipe", "LLVMpipe (LLVM 20"].into_iter().all(wants_software));
        assert!(!["nvidia", "Software", "0"].into_iter().any(wants_software));
    }

    #[test]
    fn the_instruction_names_the_command() {
        let known = instruction("Why", find_manager(|program| program == "apk")).message;
        assert!(known.starts_with("Why.\n") && known.contains("apk add") && !known.contains("apt-get"), "{known}");
        let unknown = instruction("Why", None);
        assert_eq!(unknown.code, 1);
        assert!(MANAGERS.iter().all(|manager| unknown.message.contains(&manager.line(&[]))), "{}", unknown.message);
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
