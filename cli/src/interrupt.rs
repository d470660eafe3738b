//! Interrupts by Ctrl-C, or by the signals that end a program.

use anyhow::{Context as _, ensure};
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The exit status of shells for a program that Ctrl-C ends; also that of the other signals here.
const EXIT_STATUS: i32 = 130;

/// Records the first interrupt for [`check`]. A second one ends the program at once, and temporary files remain.
pub fn watch() -> anyhow::Result<()> {
    let on_signal = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            exit(EXIT_STATUS);
        }
    };
    ctrlc::set_handler(on_signal).context("cannot watch for interrupts")
}

/// Returns an error after an interrupt; `during` says when.
pub fn check(during: impl FnOnce() -> String) -> anyhow::Result<()> {
    ensure!(!INTERRUPTED.load(Ordering::Relaxed), "interrupted {}", during());
    Ok(())
}
