//! Standard output and standard error of the commands.

use anyhow::Context as _;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write as _};

/// Prints a line. A reader that has closed the pipe, such as `head`, is no error.
pub fn print(line: impl Display) -> anyhow::Result<()> {
    match writeln!(io::stdout(), "{line}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}

/// Prints a warning; it is lost if standard error is closed.
pub fn warn(message: impl Display) {
    report(format_args!("warning: {message}"));
}

/// Prints a line on standard error; it is lost if standard error is closed.
pub fn report(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}
