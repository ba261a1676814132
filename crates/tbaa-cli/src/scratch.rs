//! Folders that are removed at the end, and files that are put back, by Ctrl-C too.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use crate::report::{Failure, Result, bail};

/// The folders that are there, each with files that were kept.
static FOLDERS: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// A folder, the places of kept files with the copies, and a script that puts these back if this process cannot.
type Entry = (PathBuf, Vec<(PathBuf, PathBuf)>, Option<PathBuf>);

/// A folder that is removed at the end.
pub(crate) struct Folder(PathBuf);

fn folders() -> MutexGuard<'static, Vec<Entry>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts files back, and removes the folder.
fn remove((folder, kept, script): Entry) {
    for (file, copy) in kept {
        // A program that still runs cannot be written to, but another file can take its place.
        let replace = |_| std::fs::remove_file(&file).and_then(|()| std::fs::copy(&copy, &file));
        if let Err(error) = std::fs::copy(&copy, &file).or_else(replace) {
            Failure::unusable(format!("cannot restore {}: {error}", file.display())).report();
        }
    }
    let _ = script.map(std::fs::remove_file);
    let _ = std::fs::remove_dir_all(folder);
}

impl Folder {
    pub(crate) fn new() -> Result<Folder> {
        static HANDLER: Once = Once::new();
        HANDLER.call_once(|| {
            // Without a handler a folder is left, which is no reason not to go on.
            let _ = ctrlc::set_handler(|| {
                folders().drain(..).for_each(remove);
                // The status by which a shell says that SIGINT ended a program.
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

    /// Keeps a file as it is: it is put back at the end.
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

    /// Writes a shell script that puts the kept files back if this process is killed. It is removed at the end.
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
