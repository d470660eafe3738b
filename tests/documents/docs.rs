//! Every file that the documents, the sources and the scripts name exists.

use std::fs;
use std::path::{Path, PathBuf};

/// The documents, relative to the root of the repository.
fn documents(root: &Path) -> Vec<PathBuf> {
    let mut documents = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(PathBuf::from).to_vec();
    for folder in ["docs", "docs/decisions"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = Path::new(folder).join(entry.unwrap().file_name());
            if path.extension().is_some_and(|extension| extension == "md") {
                documents.push(path);
            }
        }
    }
    documents.sort();
    documents
}

/// Words in backquotes that are paths, relative to the root of the repository.
fn quoted_paths(text: &str) -> impl Iterator<Item = &str> {
    let folders =
        ["src/", "shaders/", "examples/", "demos/", "tests/", "benches/", "cli/", "docs/", "fuzz/", "xtask/", ".ci/"];
    text.split('`').skip(1).step_by(2).filter(move |word| {
        folders.iter().any(|folder| word.starts_with(folder)) && !word.contains(['<', '*', '{', '…', ' ', '\n'])
    })
}

/// Targets of links to files, relative to the folder of the document.
fn linked_paths(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next());
    targets.filter(|target| !target.is_empty() && !target.contains(':'))
}

#[test]
fn every_path_in_the_documents_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for document in documents(root) {
        let text = fs::read_to_string(root.join(&document)).unwrap();
        let folder = document.parent().unwrap();
        let quoted = quoted_paths(&text).map(PathBuf::from);
        for path in quoted.chain(linked_paths(&text).map(|path| folder.join(path))) {
            assert!(root.join(&path).exists(), "{} names {}, which does not exist", document.display(), path.display());
            count += 1;
        }
    }
    assert!(count > 100, "only {count} paths were found: is the search broken?");
}

/// The sources below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let all = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    all.filter(|path| path.extension().is_some_and(|extension| extension == "rs" || extension == "wgsl")).collect()
}

/// Words of a source that are paths of other sources or documents, relative to the root of the repository.
fn source_paths(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || "/_-.".contains(letter)));
    words.map(|word| word.trim_end_matches('.')).filter(|word| {
        ["src/", "shaders/", "docs/"].iter().any(|folder| word.starts_with(folder))
            && [".rs", ".wgsl", ".md"].iter().any(|extension| word.ends_with(extension))
    })
}

#[test]
fn every_path_in_the_sources_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for source in ["src", "shaders"].iter().flat_map(|folder| sources(&root.join(folder))) {
        for path in source_paths(&fs::read_to_string(&source).unwrap()) {
            assert!(root.join(path).exists(), "{} names {path}, which does not exist", source.display());
            count += 1;
        }
    }
    assert!(count > 100, "only {count} paths were found: is the search broken?");
}

/// The run on a GPU is rare: its programs must not vanish unnoticed.
#[test]
fn every_program_of_the_run_on_a_gpu_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let [build, run] =
        ["build.sh", "run.sh"].map(|name| fs::read_to_string(root.join("benches/gpu").join(name)).unwrap());
    let mut built = Vec::new();
    for kind in ["tests", "benches", "examples"] {
        let list = build.lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix("=(")?.strip_suffix(')'));
        for name in list.unwrap_or_else(|| panic!("build.sh has no list of {kind}")).split(' ') {
            let files = ["", "demos/"]
                .map(|package| [format!("{package}{kind}/{name}.rs"), format!("{package}{kind}/{name}/main.rs")]);
            assert!(
                files.iter().flatten().any(|file| root.join(file).exists()),
                "build.sh names {kind}/{name}, which does not exist"
            );
            built.push(name);
        }
    }
    for rest in run.split("\"$programs/").skip(1) {
        let name = rest.split('"').next().unwrap();
        assert!(built.contains(&name) || name == "cuda_xpbd", "run.sh runs {name}, which build.sh does not build");
    }
}

#[test]
fn decisions_are_numbered_without_gaps() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut decisions = documents(root);
    decisions.retain(|path| path.starts_with("docs/decisions"));
    assert!(!decisions.is_empty());
    for (number, path) in (1..).zip(decisions) {
        let name = path.file_name().unwrap().to_string_lossy();
        assert!(name.starts_with(&format!("{number:04}-")), "{name} stands at number {number}");
        let text = fs::read_to_string(root.join(&path)).unwrap();
        assert!(text.starts_with(&format!("# {number:04}: ")), "the heading of {name} has another number");
    }
}
