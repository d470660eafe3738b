//! Files that exist under their final name only when they are complete.

use anyhow::{Context as _, ensure};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// A file under a temporary name until it is complete. If it is dropped earlier, it is removed.
pub struct Partial {
    path: PathBuf,
    /// The final path, with links resolved.
    place: PathBuf,
    partial: PathBuf,
}

/// The path with links resolved. If the file does not exist, its folder is resolved; if that does not exist, the path as given.
pub fn place(path: &Path) -> PathBuf {
    let in_folder = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    };
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.into())
}

impl Partial {
    pub fn create(path: &Path) -> anyhow::Result<(Self, BufWriter<File>)> {
        // Renaming would replace a link, a device or a pipe by a file.
        let place = place(path);
        let name = place.file_name().with_context(|| format!("cannot write {}: it names no file", path.display()))?;
        let mut partial = name.to_os_string();
        partial.push(format!(".{}.part", std::process::id()));
        let partial = place.with_file_name(partial);
        ensure!(!path.is_dir(), "cannot write {}: it is a folder", path.display());
        ensure!(!path.exists() || path.is_file(), "cannot write {}: it is not a regular file", path.display());
        ensure!(path.exists() || !path.is_symlink(), "cannot write {}: it is a link to no file", path.display());
        let file = File::create(&partial).with_context(|| format!("cannot write {}", path.display()))?;
        Ok((Self { path: path.into(), place, partial }, BufWriter::new(file)))
    }

    /// The final path, as given.
    pub fn name(&self) -> std::path::Display<'_> {
        self.path.display()
    }

    pub fn fault(&self) -> String {
        format!("cannot write {}", self.path.display())
    }

    /// Renames the file to its final name.
    pub fn finish(self) -> anyhow::Result<()> {
        std::fs::rename(&self.partial, &self.place).with_context(|| self.fault())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After the rename there is nothing to remove.
        std::fs::remove_file(&self.partial).ok();
    }
}
