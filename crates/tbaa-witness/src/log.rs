//! Writes this library's output to standard error, or to a file if the option `log_path` is set.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::sync::atomic::{AtomicBool, Ordering::*};

use crate::options::options;

pub(crate) fn say(line: &str) {
    put(&format!("tbaa-witness: {line}\n"));
}

/// Writes to standard error, or to the file `PATH.PID` if the option `log_path` is `PATH`.
pub(crate) fn put(text: &str) {
    static FAILED: AtomicBool = AtomicBool::new(false);
    if let Some(path) = &options().log_path {
        let file = format!("{path}.{}", std::process::id());
        let written = open(&file, true).and_then(|mut file| file.write_all(text.as_bytes()));
        let Err(error) = written else { return };
        if !FAILED.swap(true, Relaxed) {
            print(&format!(
                "tbaa-witness: cannot write {file}: {error}; this goes to standard error\n"
            ));
        }
    }
    print(text);
}

/// Opens a file for reports. If others can create links in its folder, a link could point to a file
/// of this user. So a link is followed only if this user or root owns it.
pub(crate) fn open(file: &str, append: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).append(append).truncate(!append);
    let opened = options.clone().custom_flags(libc::O_NOFOLLOW).open(file);
    let Ok(link) = fs::symlink_metadata(file) else { return opened };
    // SAFETY: cannot fail.
    let users = [0, unsafe { libc::geteuid() }];
    match link.is_symlink() {
        true if users.contains(&link.uid()) => options.open(file),
        true => Err(io::Error::other("it is another user's symbolic link")),
        false => opened,
    }
}

fn print(text: &str) {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        // SAFETY: the bytes are valid. The standard library is not used, because a signal handler
        // may run while a lock of the standard library is held.
        let done = unsafe { libc::write(libc::STDERR_FILENO, rest.as_ptr().cast(), rest.len()) };
        let Ok(done @ 1..) = usize::try_from(done) else { return };
        rest = &rest[done..];
    }
}
