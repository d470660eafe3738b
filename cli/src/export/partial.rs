//! Files that exist under their final name only when they are complete.

use anyhow::{Context as _, ensure};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// A file under a temporary name until it is complete. If it is dropped earlier, it is removed.
pub struct Partial {
    path: PathBuf,
    /// The final path, with links resolved.
    target: PathBuf,
    temporary: PathBuf,
}

/// The path with links resolved. If the file does not exist, its folder is resolved; if that does not exist, the path as given.
pub fn resolved(path: &Path) -> PathBuf {
    let in_folder = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    };
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.into())
}

fn write_failure(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// Checks that a path names no file, or one that may be replaced: renaming would replace a link, a device or a pipe by a file.
fn check_replaceable(path: &Path) -> anyhow::Result<()> {
    let failure = write_failure(path);
    ensure!(!path.is_dir(), "{failure}: it is a folder");
    ensure!(!path.exists() || path.is_file(), "{failure}: it is not a regular file");
    let is_read_only = path.metadata().is_ok_and(|metadata| metadata.permissions().readonly());
    ensure!(!is_read_only, "{failure}: it is read-only");
    ensure!(path.exists() || !path.is_symlink(), "{failure}: it is a link to no file");
    Ok(())
}

impl Partial {
    pub fn create(path: &Path) -> anyhow::Result<(Self, BufWriter<File>)> {
        let (target, failure) = (resolved(path), write_failure(path));
        let name = target.file_name().with_context(|| format!("{failure}: it names no file"))?;
        let mut temporary = name.to_os_string();
        temporary.push(format!(".{}.part", std::process::id()));
        let temporary = target.with_file_name(temporary);
        check_replaceable(path)?;
        let file = File::create(&temporary).context(failure)?;
        Ok((Self { path: path.into(), target, temporary }, BufWriter::new(file)))
    }

    /// The final path, as given.
    pub fn name(&self) -> std::path::Display<'_> {
        self.path.display()
    }

    /// The text of an error that occurs while the file is written.
    pub fn failure(&self) -> String {
        write_failure(&self.path)
    }

    /// Renames the file to its final name.
    pub fn finish(self) -> anyhow::Result<()> {
        std::fs::rename(&self.temporary, &self.target).with_context(|| self.failure())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After the rename there is nothing to remove.
        std::fs::remove_file(&self.temporary).ok();
    }
}

/// Files of a folder that lie in a temporary folder inside it until all are complete. If it is dropped earlier, they are removed.
pub struct PartialFolder {
    target: PathBuf,
    temporary: PathBuf,
    /// True if the folder did not exist.
    is_new: bool,
}

impl PartialFolder {
    /// `replaces` tells from the name of a file whether it may be replaced in the end.
    pub fn create(target: PathBuf, replaces: impl Fn(&str) -> bool) -> anyhow::Result<Self> {
        for entry in std::fs::read_dir(&target).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(&replaces) {
                let path = entry.path();
                check_replaceable(&path)?;
                ensure!(!path.is_symlink(), "{}: it is a link", write_failure(&path));
            }
        }
        let (temporary, is_new) = (target.join(format!("{}.part", std::process::id())), !target.exists());
        std::fs::create_dir_all(&temporary).with_context(|| write_failure(&target))?;
        Ok(Self { target, temporary, is_new })
    }

    /// Creates a file of the folder.
    pub fn file(&self, name: &str) -> anyhow::Result<(Partial, BufWriter<File>)> {
        Partial::create(&self.temporary.join(name))
    }

    /// The path of the folder.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Moves the files into the folder, in place of files of the same names.
    pub fn finish(self) -> anyhow::Result<()> {
        let move_files = || -> std::io::Result<()> {
            for entry in std::fs::read_dir(&self.temporary)? {
                let entry = entry?;
                std::fs::rename(entry.path(), self.target.join(entry.file_name()))?;
            }
            Ok(())
        };
        move_files().with_context(|| write_failure(&self.target))
    }
}

impl Drop for PartialFolder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.temporary).ok();
        if self.is_new {
            // A folder with files is not removed.
            std::fs::remove_dir(&self.target).ok();
        }
    }
}
