//! Interrupts by Ctrl-C, or by the signals that end a program.

use anyhow::{Context as _, ensure};
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Exit status after an interrupt: 128 + SIGINT, as shells report it; also used for the other signals here.
const EXIT_STATUS: u8 = 130;

/// Records the first interrupt for [`check`]. A second one ends the program at once, and temporary files remain.
pub fn watch() -> anyhow::Result<()> {
    let on_signal = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            exit(EXIT_STATUS.into());
        }
    };
    ctrlc::set_handler(on_signal).context("cannot watch for interrupts")
}

/// The exit status after an error of the program: that of an interrupt, or 1.
pub fn exit_status() -> u8 {
    if INTERRUPTED.load(Ordering::Relaxed) { EXIT_STATUS } else { 1 }
}

/// Returns an error after an interrupt; `during` says when.
pub fn check(during: impl FnOnce() -> String) -> anyhow::Result<()> {
    ensure!(!INTERRUPTED.load(Ordering::Relaxed), "interrupted {}", during());
    Ok(())
}
