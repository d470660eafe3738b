//! Standard output and standard error of the commands.

use std::fmt::Display;
use std::io::{self, Write as _};
pub use supple_demos::print;

/// Prints a warning; it is lost if standard error is closed.
pub fn warn(message: impl Display) {
    report(format_args!("warning: {message}"));
}

/// Prints a line on standard error; it is lost if standard error is closed.
pub fn report(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}
