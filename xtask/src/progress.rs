//! A build by cargo that reports on standard error how many crates are compiled, and about how long the rest takes.

use crate::{Failure, Workspace, exit_code, not_run};
use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::process::Stdio;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The time of supple and a demo in release, in crates of mean time: an estimate. They come last, mostly on one core.
const CRATES_OF_SUPPLE: f64 = 100.0;

/// The least share of the crates that gives an estimate: the first ones are small.
const LEAST_SHARE: f64 = 0.2;

/// Runs `cargo build` with these options and returns its exit code.
pub fn build(workspace: &Workspace, options: &[&str]) -> Result<u8, Failure> {
    let mut progress = Progress::new(count_packages(workspace));
    let mut command = workspace.cargo();
    command.args(["build", "--quiet", "--message-format=json-render-diagnostics"]).args(options);
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| not_run(&command, error))?;
    let (sender, packages) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.filter_map(|line| package(&line)).try_for_each(|package| sender.send(package))
        });
    }
    let mut screen = Screen::new();
    loop {
        match packages.recv_timeout(screen.interval) {
            Ok((package, is_fresh)) => progress.add(package, is_fresh),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        screen.show(&progress);
    }
    screen.clear();
    child.wait().map(exit_code).map_err(|error| not_run(&command, error))
}

/// About how many packages of others the demos need: features that only the tests of supple enable add some. `None` if cargo does
/// not tell.
fn count_packages(workspace: &Workspace) -> Option<usize> {
    let mut command = workspace.cargo();
    // `tree` downloads missing packages, and says so on standard error.
    command.args([
        "tree",
        "--package",
        "supple-demos",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ]);
    let output = command.stderr(Stdio::inherit()).output().ok().filter(|output| output.status.success())?;
    Some(packages_of_tree(&String::from_utf8_lossy(&output.stdout)))
}

/// The number of different packages in a tree, without those of this workspace. A line is a name, a version and notes.
fn packages_of_tree(tree: &str) -> usize {
    let packages = tree.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?))
    });
    packages.filter(|(name, _)| !name.starts_with("supple")).collect::<HashSet<_>>().len()
}

/// The package of a message of cargo about a compiled library of others, and whether it was compiled before. Build scripts do not
/// count.
fn package(message: &str) -> Option<(String, bool)> {
    let is_library = message.starts_with(r#"{"reason":"compiler-artifact""#)
        && !message.contains(r#""kind":["custom-build"]"#)
        && !message.contains(r#""kind":["example"]"#);
    let name = message.split(r#""package_id":""#).nth(1)?.split('"').next()?;
    // The id of a package of this workspace is a path.
    (is_library && !name.starts_with("path+")).then(|| (name.to_owned(), message.contains(r#""fresh":true"#)))
}

/// The packages that are ready.
struct Progress {
    total: Option<usize>,
    ready: HashSet<String>,
    compiled: usize,
    start: Instant,
    /// When the last package was ready.
    last: Instant,
}

impl Progress {
    fn new(total: Option<usize>) -> Self {
        let now = Instant::now();
        Self { total, ready: HashSet::new(), compiled: 0, start: now, last: now }
    }

    fn add(&mut self, package: String, is_fresh: bool) {
        if self.ready.insert(package) && !is_fresh {
            self.compiled += 1;
            self.last = Instant::now();
        }
    }

    /// The progress as text.
    fn line(&self) -> String {
        let elapsed = self.start.elapsed();
        let (ready, seconds) = (self.ready.len(), elapsed.as_secs());
        let Some(total) = self.total.map(|total| total.max(ready)) else {
            return format!("{ready} crates, {seconds} s");
        };
        let left = remaining([self.compiled, total - ready], self.last - self.start, self.last.elapsed());
        let estimate = match left.map(|left| left.as_secs()) {
            None => String::new(),
            Some(0..60) => ", less than a minute left".into(),
            Some(seconds) => format!(", about {} min left", (seconds + 30) / 60),
        };
        let last = if ready == total { ", now supple" } else { "" };
        format!("{ready} of {total} crates{last}, {seconds} s{estimate}")
    }
}

/// The time that the crates `left` and supple take, if `compiled` crates took a time `spent`, `since` after that; `None` if too few are compiled.
fn remaining([compiled, left]: [usize; 2], spent: Duration, since: Duration) -> Option<Duration> {
    let (compiled, left) = (compiled as f64, left as f64);
    let is_enough = compiled > 0.0 && compiled >= LEAST_SHARE * (compiled + left);
    is_enough.then(|| spent.mul_f64((left + CRATES_OF_SUPPLE) / compiled).saturating_sub(since))
}

/// Standard error: a line that is replaced on a terminal, otherwise a new line at longer intervals.
struct Screen {
    is_terminal: bool,
    interval: Duration,
    shown: Instant,
    is_empty: bool,
}

impl Screen {
    fn new() -> Self {
        let is_terminal = io::stderr().is_terminal();
        let interval = Duration::from_secs(if is_terminal { 1 } else { 20 });
        Self { is_terminal, interval, shown: Instant::now(), is_empty: true }
    }

    fn show(&mut self, progress: &Progress) {
        if self.shown.elapsed() < self.interval {
            return;
        }
        self.shown = Instant::now();
        if std::mem::take(&mut self.is_empty) {
            eprintln!("xtask: compiling, which takes 5 to 8 minutes on two cores");
        }
        let line = progress.line();
        if self.is_terminal {
            eprint!("\r\x1b[Kxtask: {line}");
        } else {
            eprintln!("xtask: {line}");
        }
        // A closed standard error is no reason to stop.
        let _ = io::stderr().flush();
    }

    fn clear(&self) {
        if self.is_terminal && !self.is_empty {
            eprint!("\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_a_tree_count_once_and_without_those_of_the_workspace() {
        let tree = "supple-demos v0.1.0 (/somewhere/demos)\nsupple v0.1.0 (/somewhere)\nglam v0.33.1\nglam v0.34.0\nserde_derive v1.0.1 (proc-macro)\nglam v0.34.0 (*)\n\n";
        assert_eq!(packages_of_tree(tree), 3);
        assert_eq!(packages_of_tree(""), 0);
    }

    #[test]
    fn compiled_libraries_are_packages_and_build_scripts_are_not() {
        let message = |kind: &str, fresh: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"registry+x#log@0.4.1","target":{{"kind":["{kind}"]}},"fresh":{fresh}}}"#
            )
        };
        assert_eq!(package(&message("lib", false)), Some(("registry+x#log@0.4.1".into(), false)));
        assert_eq!(package(&message("proc-macro", true)), Some(("registry+x#log@0.4.1".into(), true)));
        assert_eq!(package(&message("custom-build", false)), None);
        assert_eq!(package(&message("example", false)), None);
        assert_eq!(package(&message("lib", false).replace("registry+x#log", "path+file:///somewhere#supple")), None);
        assert_eq!(package(r#"{"reason":"build-finished","success":true}"#), None);
        assert_eq!(package(""), None);
    }

    #[test]
    fn the_estimate_follows_the_time_of_the_crates_so_far() {
        let seconds = Duration::from_secs;
        let of_supple = seconds(CRATES_OF_SUPPLE as u64);
        // A second for each crate.
        assert_eq!(remaining([100, 50], seconds(100), seconds(0)), Some(seconds(50) + of_supple));
        assert_eq!(remaining([150, 0], seconds(150), seconds(10)), Some(of_supple - seconds(10)));
        assert_eq!(remaining([150, 0], seconds(150), seconds(1000)), Some(seconds(0)));
        // Too few.
        assert_eq!(remaining([0, 0], seconds(9), seconds(9)), None);
        assert_eq!(remaining([10, 140], seconds(9), seconds(9)), None);
    }
}
