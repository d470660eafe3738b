//! All tests, two test binaries at a time. A binary leaves half of two cores idle: a software driver compiles the shaders
//! of a device on one thread, and a GPU waits for the host.

use crate::{Failure, Workspace, exit_code, not_run};
use std::collections::VecDeque;
use std::env;
use std::io::{self, Write};
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// The number of test binaries that run at the same time.
const AT_ONCE: usize = 2;

/// The number of threads of Mesa's software driver. With 0 it runs shaders in the thread that submits them. Passes over the
/// small scenes of tests take less time than their distribution to other threads.
const DRIVER_THREADS: &str = "LP_NUM_THREADS";

/// The tests that compare runs by bits keep the threads of the driver: they would show a race between workgroups.
const WITH_DRIVER_THREADS: &str = "state";

/// Builds and runs all tests. Prints the output of a binary when it ends. Returns the exit code of the first that fails.
pub fn run_all(workspace: &Workspace) -> Result<u8, Failure> {
    let mut names = build(workspace)?;
    // Cargo lists them in the order in which they were compiled.
    names.sort();
    let mut jobs: VecDeque<_> = names.into_iter().map(|name| vec!["--test".to_owned(), name]).collect();
    jobs.push_back(vec!["--lib".to_owned(), "--bins".to_owned()]);
    jobs.push_back(vec!["--doc".to_owned()]);
    let (jobs, outcomes) = (Mutex::new(jobs), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                // Not in the condition of a loop, which would hold the lock during the job.
                let next = || locked(&jobs).pop_front();
                while let Some(job) = next() {
                    let code = run_job(workspace, &job);
                    locked(&outcomes).push((job.join(" "), code));
                }
            });
        }
    });
    let mut first = 0;
    for (job, code) in outcomes.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let code = code?;
        if code != 0 {
            eprintln!("xtask: tests failed: cargo test --workspace {job}");
            first = if first == 0 { code } else { first };
        }
    }
    Ok(first)
}

/// A thread that panicked leaves the lists whole.
fn locked<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Compiles all tests and returns the names of the integration tests.
fn build(workspace: &Workspace) -> Result<Vec<String>, Failure> {
    let mut command = workspace.cargo_test();
    command.args(["--no-run", "--message-format=json-render-diagnostics"]);
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| not_run(&command, error))?;
    if !output.status.success() {
        return Err(Failure {
            code: exit_code(output.status),
            message: "the tests failed to compile; see above".into(),
        });
    }
    let names: Vec<String> =
        String::from_utf8_lossy(&output.stdout).lines().filter_map(test_name).map(str::to_owned).collect();
    if names.is_empty() {
        return Err(Failure::new("cargo names no integration tests"));
    }
    Ok(names)
}

/// The name of the integration test in a message of cargo about a compiled target.
fn test_name(message: &str) -> Option<&str> {
    let target =
        message.strip_prefix(r#"{"reason":"compiler-artifact""#)?.split_once(r#""target":{"kind":["test"]"#)?.1;
    target.split_once(r#""name":""#)?.1.split('"').next()
}

fn run_job(workspace: &Workspace, job: &[String]) -> Result<u8, Failure> {
    eprintln!("xtask: cargo test --workspace {}", job.join(" "));
    let mut command = workspace.cargo_test();
    let is_threaded = job.iter().any(|word| word == WITH_DRIVER_THREADS);
    if !is_threaded && env::var_os(DRIVER_THREADS).is_none() {
        command.env(DRIVER_THREADS, "0");
    }
    let output = command.arg("--no-fail-fast").args(job).output().map_err(|error| not_run(&command, error))?;
    // Held during both, so that the output of two binaries is not mixed. A closed pipe is no failure of a test.
    let mut screen = io::stdout().lock();
    let _ = screen.write_all(&output.stderr).and_then(|()| screen.write_all(&output.stdout));
    Ok(exit_code(output.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_integration_tests_are_named() {
        let message = |kind: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"p","target":{{"kind":["{kind}"],"crate_types":["bin"],"name":"parity","src_path":"/main.rs"}},"executable":"/parity-1"}}"#
            )
        };
        assert_eq!(test_name(&message("test")), Some("parity"));
        assert!(["lib", "bin", "example", "custom-build"].iter().all(|kind| test_name(&message(kind)).is_none()));
        assert_eq!(test_name(r#"{"reason":"build-finished","success":true}"#), None);
    }
}
