//! What can be wrong with a scene file, and where.

use crate::error::Error;
use std::path::PathBuf;

/// What is wrong with a scene file, and at which place in it: `parts[2].cloth_grid.columns`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// It is not JSON, or has a field, a type or a range that the format does not have.
    #[error("{}line {line}, column {column}: {message}", prefix(place))]
    Syntax {
        /// The place; empty for the whole file.
        place: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// What it says makes no scene.
    #[error("{}{message}", prefix(place))]
    Content {
        /// The place; empty for the whole file.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// The library refuses it.
    #[error("{}{error}", prefix(place))]
    Scene {
        /// The place; empty for the whole file.
        place: String,
        /// Why.
        error: Error,
    },
    /// A file cannot be read.
    #[error("{}cannot read {}: {message}", prefix(place), path.display())]
    Read {
        /// Where it is named; empty for the scene itself.
        place: String,
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

fn prefix(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!("{place}: ") }
}

impl FileError {
    /// The place in the file: `constraints[3].hinge.particles[0]`; empty for the whole file.
    pub fn place(&self) -> &str {
        match self {
            Self::Syntax { place, .. }
            | Self::Content { place, .. }
            | Self::Scene { place, .. }
            | Self::Read { place, .. } => place,
        }
    }

    pub(super) fn syntax(error: serde_path_to_error::Error<serde_json::Error>) -> Self {
        let place = error.path().to_string();
        Self::syntax_at(if place == "." { "" } else { &place }, error.inner())
    }

    pub(super) fn syntax_at(place: &str, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let tail = format!(" at line {line} column {column}");
        let message = message.strip_suffix(&tail).unwrap_or(&message);
        // What serde_json says of an array that goes on where a fixed number is expected.
        let goes_on = !place.is_empty() && message == "trailing characters";
        let message = if goes_on { "there are more entries than there may be" } else { message }.to_string();
        Self::Syntax { place: place.into(), line, column, message }
    }
}

/// An error that does not know its place yet.
#[derive(Debug)]
pub(super) enum Reason {
    Content(String),
    Scene(Error),
    Read(PathBuf, String),
}

impl Reason {
    pub fn too_large(what: &'static str, count: u64, limit: u64) -> Self {
        Self::Scene(Error::TooLarge { what, count, limit })
    }
}

impl From<String> for Reason {
    fn from(message: String) -> Self {
        Self::Content(message)
    }
}

impl From<&str> for Reason {
    fn from(message: &str) -> Self {
        Self::Content(message.into())
    }
}

impl From<Error> for Reason {
    fn from(error: Error) -> Self {
        Self::Scene(error)
    }
}

/// Gives an error its place.
pub(super) trait At<T> {
    fn at(self, place: impl FnOnce() -> String) -> Result<T, FileError>;
}

impl<T, R: Into<Reason>> At<T> for Result<T, R> {
    fn at(self, place: impl FnOnce() -> String) -> Result<T, FileError> {
        self.map_err(|reason| {
            let place = place();
            match reason.into() {
                Reason::Content(message) => FileError::Content { place, message },
                Reason::Scene(error) => FileError::Scene { place, error },
                Reason::Read(path, message) => FileError::Read { place, path, message },
            }
        })
    }
}
