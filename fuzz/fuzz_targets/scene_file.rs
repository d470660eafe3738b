//! Parses arbitrary bytes as a scene file. Parsing must not panic, and a parsed scene must compile and run for one
//! step.
#![no_main]

use libfuzzer_sys::fuzz_target;
use supple::scene_file::{Limits, SceneFile};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // Without a folder no other file is read.
    match SceneFile::parse_within(text, None, &Limits::small()) {
        Ok(file) => supple_fuzz::run(file),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
