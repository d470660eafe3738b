//! Resolves the selections of a file to particle indices.

use super::build::Builder;
use super::error::{At, FileError, Reason};
use super::values::Selection;
use std::ops::Range;

impl Builder<'_> {
    /// Adds to the number of particles that selections test or name; an error above the limit.
    pub fn count_members(&mut self, count: u64) -> Result<(), Reason> {
        self.members = self.members.saturating_add(count);
        if self.members > self.limits.members {
            return Err(Reason::too_large(
                "particles named by selections and groups",
                self.members,
                self.limits.members,
            ));
        }
        Ok(())
    }

    /// All particles of a list, in its order. `own` is the part to which names without a part refer.
    pub fn select(
        &mut self,
        list: &[Selection],
        own: Option<usize>,
        place: impl Fn() -> String,
    ) -> Result<Vec<u32>, FileError> {
        let mut chosen = Vec::with_capacity(list.len());
        for (index, selection) in list.iter().enumerate() {
            self.push_selected(selection, own, &mut chosen).at(|| format!("{}[{index}]", place()))?;
        }
        Ok(chosen)
    }

    /// The particles that selections name, one each.
    pub fn each<const N: usize>(
        &self,
        selections: &[Selection; N],
        place: impl Fn() -> String,
    ) -> Result<[u32; N], FileError> {
        let mut particles = [0; N];
        for (index, (selection, particle)) in selections.iter().zip(&mut particles).enumerate() {
            *particle = self.one(selection).at(|| format!("{}[{index}]", place()))?;
        }
        Ok(particles)
    }

    /// The particle that a selection names; an error if the selection may name several.
    pub fn one(&self, selection: &Selection) -> Result<u32, Reason> {
        let range = match selection {
            Selection::Index(particle) => *particle..particle.saturating_add(1),
            Selection::Text(text) => match self.text(text, None)? {
                Chosen::Range(range) => range,
                Chosen::List(_) => return Err(format!("{text:?} names more than one particle").into()),
            },
            Selection::Box(_) => return Err("a box names any number of particles; here one is needed".into()),
        };
        if range.len() != 1 {
            return Err(format!("{selection} names {} particles; here one is needed", range.len()).into());
        }
        self.scene.check_particle("this", range.start)?;
        self.scene.check_in_use("a selection", range.start)?;
        Ok(range.start)
    }

    fn push_selected(
        &mut self,
        selection: &Selection,
        own: Option<usize>,
        chosen: &mut Vec<u32>,
    ) -> Result<(), Reason> {
        let part_range = |own: Option<usize>| own.map(|part| self.parts[part].particles.clone());
        let picked = match selection {
            // Within a part, indices count from its first particle.
            Selection::Index(index) => match part_range(own) {
                Some(range) => Chosen::Range(span(*index, *index, &range)?),
                None => {
                    self.scene.check_particle("this", *index)?;
                    self.scene.check_in_use("a selection", *index)?;
                    Chosen::Range(*index..index + 1)
                }
            },
            Selection::Text(text) => self.text(text, own)?,
            Selection::Box(within) => {
                let [low, high] = within.corners;
                if let Some(axis) = (0..3).find(|&axis| low[axis] > high[axis]) {
                    let (axis, low, high) = (["x", "y", "z"][axis], low[axis], high[axis]);
                    return Err(format!("the first corner of the box must be the lowest, but its {axis} is {low} and that of the second {high}").into());
                }
                let part = within.part.as_deref().map(|name| self.part(name)).transpose()?;
                let range = part_range(part.or(own)).unwrap_or(0..self.scene.positions.len() as u32);
                self.count_members(range.len() as u64)?;
                let followers = &self.scene.followers;
                let follows = |particle: u32| followers.binary_search_by_key(&particle, |it| it.particle).is_ok();
                let inside = |x: [f32; 3]| (0..3).all(|axis| low[axis] <= x[axis] && x[axis] <= high[axis]);
                let rest = &self.scene.rest_positions;
                let list: Vec<u32> = range
                    .filter(|&particle| inside(rest[particle as usize]) && !follows(particle))
                    .filter(|&particle| !self.scene.is_in_reserve(particle))
                    .collect();
                if list.is_empty() {
                    return Err(format!("there is no particle in the box from {low:?} to {high:?}").into());
                }
                Chosen::List(list)
            }
        };
        match picked {
            Chosen::Range(range) => {
                self.count_members(range.len() as u64)?;
                chosen.extend(range);
            }
            Chosen::List(list) => {
                self.count_members(list.len() as u64)?;
                chosen.extend(list);
            }
        }
        Ok(())
    }

    /// The index of the part of the given name.
    pub fn part(&self, name: &str) -> Result<usize, Reason> {
        self.names.get(name).copied().ok_or_else(|| format!("no part above is named {name:?}").into())
    }

    fn text(&self, text: &str, own: Option<usize>) -> Result<Chosen, Reason> {
        let (part, what) = match (text.split_once(':'), own) {
            (Some((name, what)), _) => (self.part(name)?, what),
            (None, Some(own)) => (own, text),
            (None, None) => return Err(format!("{text:?} names no part; write \"PART:INDEX\"").into()),
        };
        let part = &self.parts[part];
        let range = part.particles.clone();
        let count = range.end - range.start;
        let (word, argument) = what.split_once(' ').map_or((what, None), |(word, rest)| (word, Some(rest)));
        let chosen = |first, last| span(first, last, &range).map(Chosen::Range);
        match (word, argument, part.grid) {
            ("all", None, _) => Ok(Chosen::Range(range)),
            ("first", None, _) => chosen(0, 0),
            ("last", None, _) => chosen(count.saturating_sub(1), count.saturating_sub(1)),
            ("corners", None, Some([columns, _])) => {
                let last = range.end - 1;
                Ok(Chosen::List(vec![range.start, range.start + columns - 1, last - (columns - 1), last]))
            }
            ("row", Some(row), Some([columns, rows])) => {
                let row = line(row, "row", rows)?;
                chosen(row * columns, (row + 1) * columns - 1)
            }
            ("column", Some(column), Some([columns, rows])) => {
                let column = line(column, "column", columns)?;
                Ok(Chosen::List((0..rows).map(|row| range.start + row * columns + column).collect()))
            }
            ("corners" | "row" | "column", _, None) => {
                Err(format!("{what:?}: only a cloth grid has rows, columns and corners").into())
            }
            _ => {
                let (first, last) = what.split_once('-').unwrap_or((what, what));
                match (first.parse(), last.parse()) {
                    (Ok(first), Ok(last)) => chosen(first, last),
                    _ => {
                        let known =
                            "an index, \"A-B\", \"all\", \"first\", \"last\", \"row R\", \"column C\" or \"corners\"";
                        Err(format!("{what:?} is not {known}").into())
                    }
                }
            }
        }
    }
}

/// A resolved selection: a range of particles, or a list.
enum Chosen {
    Range(Range<u32>),
    List(Vec<u32>),
}

/// Particles `first` to `last` of a part, both included.
fn span(first: u32, last: u32, range: &Range<u32>) -> Result<Range<u32>, Reason> {
    let count = range.end - range.start;
    if first > last || last >= count {
        let what = if first == last { format!("particle {first}") } else { format!("particles {first}-{last}") };
        return Err(format!("there is no {what} in a part of {count}").into());
    }
    Ok(range.start + first..range.start + last + 1)
}

/// Parses the index of a row or a column out of `count`.
fn line(text: &str, what: &str, count: u32) -> Result<u32, Reason> {
    let index = if text == "last" { Some(count - 1) } else { text.parse().ok() };
    index.filter(|&index| index < count).ok_or_else(|| format!("there is no {what} {text} of {count}").into())
}

impl std::fmt::Display for Selection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Index(index) => write!(formatter, "{index}"),
            Self::Text(text) => write!(formatter, "{text:?}"),
            Self::Box(_) => formatter.write_str("a box"),
        }
    }
}
