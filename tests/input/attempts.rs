//! Forms of cases that several files of this binary share.

use crate::common::cases::{Case, On};
use supple::{Reference, Settings, Solver};

/// An invalid change of settings.
pub type SettingsCase = Case<dyn Fn(&mut Settings)>;

pub fn settings_case(
    what: &'static str,
    words: &'static [&'static str],
    attempt: impl Fn(&mut Settings) + 'static,
) -> SettingsCase {
    Case { what, variant: "InvalidValue", words, attempt: Box::new(attempt) }
}

/// The same call on both backends.
pub struct Attempt {
    pub on_gpu: Box<On<Solver>>,
    pub on_reference: Box<On<Reference>>,
}

/// A case whose call is written the same for both backends.
macro_rules! running_case {
    ($what:expr, $variant:expr, $words:expr, |$backend:ident| $call:expr) => {
        Case {
            what: $what,
            variant: $variant,
            words: $words,
            attempt: Box::new(Attempt { on_gpu: Box::new(|$backend| $call), on_reference: Box::new(|$backend| $call) }),
        }
    };
}

pub(crate) use running_case;
