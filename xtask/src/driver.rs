//! Installs Mesa's software driver by the package manager of the system.

use crate::{Failure, run};
use std::env;
use std::fmt;
use std::io::{self, IsTerminal};
use std::process::{Command, Stdio};

/// A package manager and its commands that install Mesa's software driver and the Vulkan loader.
pub struct Manager {
    pub program: &'static str,
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

/// Returns true if Mesa's software driver may match `SUPPLE_ADAPTER`. Its name is "llvmpipe (LLVM 20 ...)".
pub fn wants_software(wanted: &str) -> bool {
    let wanted = wanted.trim();
    let name = wanted.to_lowercase();
    wanted == "software" || "llvmpipe".contains(&name) || name.starts_with("llvm")
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
    Failure::new(text + &driver_hints())
}

/// Conditions under which programs do not find an installed driver.
pub fn driver_hints() -> String {
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

/// Returns true if a program is on the `PATH`.
fn has(program: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").stderr(Stdio::null()).output();
    id.is_ok_and(|output| output.status.success() && output.stdout.trim_ascii() == b"0")
}

/// Prints the commands that install Mesa's software driver, and runs them.
pub fn install() -> Result<&'static Manager, Failure> {
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
        // Standard output carries only that of the tests or of the demo.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(manager: &str, prefix: &[&'static str]) -> Option<String> {
        find_manager(|program| program == manager).map(|manager| manager.line(prefix))
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
    fn only_a_software_adapter_is_worth_installing_a_software_driver() {
        assert!(
            ["", " ", "software", " software ", "pipe", "llvmpipe", "LLVMpipe (LLVM 20"]
                .into_iter()
                .all(wants_software)
        );
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
}
