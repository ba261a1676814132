//! Removes temporary folders and restores saved files at the end, even after Ctrl-C.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use crate::report::{Failure, Result, bail};

/// The folders that exist, each with its saved files.
static FOLDERS: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// A folder, pairs of a saved file and its copy, and a script that restores the files after a kill.
type Entry = (PathBuf, Vec<(PathBuf, PathBuf)>, Option<PathBuf>);

/// A folder that is removed when this value is dropped.
pub(crate) struct Folder(PathBuf);

fn folders() -> MutexGuard<'static, Vec<Entry>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Restores the saved files. Then removes the script and the folder, unless a file is not restored.
fn remove((folder, kept, script): Entry) {
    let mut is_restored = true;
    for (file, copy) in kept {
        // A running program's file cannot be written, but it can be replaced by another.
        let replace = |_| std::fs::remove_file(&file).and_then(|()| std::fs::copy(&copy, &file));
        if let Err(error) = std::fs::copy(&copy, &file).or_else(replace) {
            let (file, copy) = (file.display(), copy.display());
            Failure::unusable(format!("cannot restore {file}: {error}; {copy} is a copy")).report();
            is_restored = false;
        }
    }
    if !is_restored {
        return;
    }
    let _ = script.map(std::fs::remove_file);
    let _ = std::fs::remove_dir_all(folder);
}

impl Folder {
    pub(crate) fn new() -> Result<Folder> {
        static HANDLER: Once = Once::new();
        HANDLER.call_once(|| {
            // Without a handler, Ctrl-C leaves the folder behind, which is acceptable.
            let _ = ctrlc::set_handler(|| {
                folders().drain(..).for_each(remove);
                // The status that a shell gives to a program ended by SIGINT.
                std::process::exit(130);
            });
        });
        let (place, mut number) = (std::env::temp_dir(), 0);
        let mut made = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut made, 0o700);
        loop {
            let folder = place.join(format!("tbaa-{}-{number}", std::process::id()));
            match made.create(&folder) {
                Ok(()) => {
                    folders().push((folder.clone(), Vec::new(), None));
                    return Ok(Folder(folder));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {
                    number += 1;
                }
                Err(error) => {
                    bail!("cannot make a folder: {}: {error}; set TMPDIR", place.display())
                }
            }
        }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Saves a copy of a file. When the folder is removed, the file is restored from the copy.
    pub(crate) fn keep(&self, file: &Path) -> io::Result<()> {
        let mut folders = folders();
        let Some((folder, kept, _)) = folders.iter_mut().find(|folder| folder.0 == self.0) else {
            return Ok(());
        };
        let copy = folder.join(format!("kept-{}", kept.len()));
        std::fs::copy(file, &copy)?;
        kept.push((file.to_owned(), copy));
        Ok(())
    }

    /// Writes a shell script that restores the saved files, for use if this process is killed.
    pub(crate) fn script(&self, script: &Path) -> io::Result<()> {
        let mut folders = folders();
        let Some((_, kept, place)) = folders.iter_mut().find(|folder| folder.0 == self.0) else {
            return Ok(());
        };
        let quoted = |path: &Path| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
        };
        let mut text = String::from("set -e\n");
        for (file, copy) in kept.iter() {
            text += &format!("cp -f {} {}\n", quoted(copy), quoted(file));
        }
        std::fs::write(script, text + &format!("rm {}\n", quoted(script)))?;
        *place = Some(script.to_owned());
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let own = folders().extract_if(.., |folder| folder.0 == self.0).next();
        own.into_iter().for_each(remove);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_of_a_file_that_cannot_be_restored_stays() {
        let (files, saved) = (Folder::new().unwrap_or_else(|_| panic!()), Folder::new());
        let saved = saved.unwrap_or_else(|_| panic!());
        let file = files.file("program");
        std::fs::write(&file, "text").unwrap();
        saved.keep(&file).unwrap();
        drop(files);
        let copy = saved.file("kept-0");
        drop(saved);
        assert_eq!(std::fs::read(&copy).unwrap(), b"text");
        std::fs::remove_dir_all(copy.parent().unwrap()).unwrap();
    }
}
