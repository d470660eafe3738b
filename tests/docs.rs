//! The paths named in the documents exist.

use std::path::Path;

/// Words in backquotes and link targets that look like paths of this repository.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let linked = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let folders = ["src/", "shaders/", "examples/", "tests/", "benches/", "docs/", "xtask/", ".ci/"];
    quoted
        .chain(linked)
        .filter(move |word| folders.iter().any(|folder| word.starts_with(folder)) && !word.contains(['<', ' ']))
}

#[test]
fn every_path_in_the_documents_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for document in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "docs/study.md", "docs/scene.md"] {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        for path in paths(&text).filter(|path| !["src/constraints/x.rs", "shaders/constraints/x.wgsl"].contains(path)) {
            assert!(root.join(path).exists(), "{document} names {path}, which does not exist");
            count += 1;
        }
    }
    assert!(count > 10, "only {count} paths were found: is the search broken?");
}
