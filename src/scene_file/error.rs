//! Errors of scene files, with their place in the file.

use crate::error::Error;
use serde_json::Value;
use serde_path_to_error::Segment;
use std::path::PathBuf;

/// An error in a scene file, with its place in the file: `parts[2].cloth_grid.columns`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file is not JSON, or has a field, a type or a value range that the format does not allow.
    #[error("{}line {line}, column {column}: {message}", prefix(place))]
    Syntax {
        /// The place in the file; empty for the whole file.
        place: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The problem.
        message: String,
    },
    /// The fields contradict each other or name something that does not exist.
    #[error("{}{message}", prefix(place))]
    Content {
        /// The place in the file; empty for the whole file.
        place: String,
        /// The problem.
        message: String,
    },
    /// The library rejects the scene.
    #[error("{}{error}", prefix(place))]
    Scene {
        /// The place in the file; empty for the whole file.
        place: String,
        /// The error of the library.
        error: Error,
    },
    /// A file cannot be read.
    #[error("{}cannot read {}: {message}", prefix(place), path.display())]
    Read {
        /// The place that names the file; empty for the scene file itself.
        place: String,
        /// The file.
        path: PathBuf,
        /// The error of the operating system, or the problem with the file.
        message: String,
    },
}

/// The value at a path; `None` if the path leads through no value.
fn value_at<'a>(file: &'a Value, path: &serde_path_to_error::Path) -> Option<&'a Value> {
    path.iter().try_fold(file, |value, segment| match segment {
        Segment::Map { key } | Segment::Enum { variant: key } => value.get(key),
        Segment::Seq { index } => value.get(index),
        Segment::Unknown => None,
    })
}

/// The fault of a value in place of a kind.
fn kind_fault(value: Option<&Value>) -> &'static str {
    match value {
        Some(Value::Object(fields)) if fields.is_empty() => "it is empty, but must have one field, its kind",
        Some(Value::Null) => "it is null, but must name a kind",
        Some(Value::Bool(_)) => "it is a boolean, but must name a kind",
        Some(Value::Number(_)) => "it is a number, but must name a kind",
        Some(Value::Array(_)) => "it is a list, but must name a kind",
        _ => "it must have one field, its kind, but has more",
    }
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

    /// `text` is that of the whole file.
    pub(super) fn syntax(error: serde_path_to_error::Error<serde_json::Error>, text: &str) -> Self {
        let place = error.path().to_string();
        let mut fault = Self::syntax_at(if place == "." { "" } else { &place }, error.inner());
        if let Self::Syntax { message, .. } = &mut fault
            && message == "expected value"
            && let Ok(file) = serde_json::from_str::<Value>(text)
        {
            // serde_json reports this if a value that names one of several kinds is no name and no object of one field.
            *message = kind_fault(value_at(&file, error.path())).into();
        }
        fault
    }

    pub(super) fn syntax_at(place: &str, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let tail = format!(" at line {line} column {column}");
        let message = message.strip_suffix(&tail).unwrap_or(&message);
        // serde_json reports this if an array continues beyond its fixed length.
        let goes_on = !place.is_empty() && message == "trailing characters";
        let message = if goes_on { "there are more entries than there may be" } else { message }.to_string();
        Self::Syntax { place: place.into(), line, column, message }
    }
}

/// An error without its place.
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

/// Adds the place to an error.
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
