//! Checks of indices: of particles, orientations and mesh vertices.

use crate::error::{Error, Result};
use std::collections::HashSet;
use std::ops::Range;

/// Returns `Ok` if all indices are below `count` and differ. In an error `what` names the object that holds them, and
/// `target` the kind of object that they name: "particle".
pub(crate) fn check_indices(
    what: impl Fn() -> String,
    target: &'static str,
    indices: &[u32],
    count: usize,
) -> Result<()> {
    check_exists(&what, target, indices, count)?;
    // Up to 4 indices are compared pairwise, more are hashed.
    let mut seen = HashSet::new();
    for (position, &index) in indices.iter().enumerate() {
        let is_new = if indices.len() > 4 { seen.insert(index) } else { !indices[..position].contains(&index) };
        if !is_new {
            return Err(Error::RepeatedIndex { what: what(), target, index });
        }
    }
    Ok(())
}

/// Returns the range of `length` indices from `first` on if all are below `count`. The names are as in [`check_indices`].
pub(crate) fn check_range(
    what: &str,
    target: &'static str,
    first: u32,
    length: usize,
    count: usize,
) -> Result<Range<usize>> {
    let end = u64::from(first) + length as u64;
    if end <= count as u64 {
        return Ok(first as usize..end as usize);
    }
    // The last index; of an empty range the first.
    let index = end.max(u64::from(first) + 1) - 1;
    Err(Error::IndexOutOfRange { what: what.into(), target, index, count: count as u64 })
}

/// Returns `Ok` if all indices are below `count`. The names are as in [`check_indices`].
pub(crate) fn check_exists(
    what: impl Fn() -> String,
    target: &'static str,
    indices: &[u32],
    count: usize,
) -> Result<()> {
    match indices.iter().find(|&&index| index as usize >= count) {
        None => Ok(()),
        Some(&index) => Err(Error::IndexOutOfRange { what: what(), target, index: index.into(), count: count as u64 }),
    }
}
