//! Shows on a terminal what the command is doing, once it takes more than a second.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The time until progress is first shown, and between two updates.
const PATIENCE: Duration = Duration::from_secs(1);

/// The text, and true if it is on the terminal now. Lock this while writing to the terminal.
static LINE: Mutex<(String, bool)> = Mutex::new((String::new(), false));

fn line() -> MutexGuard<'static, (String, bool)> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn clear(line: &mut (String, bool)) {
    if std::mem::take(&mut line.1) {
        // Ignore the error: if standard error is closed, nobody can be told.
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
}

/// Begins to show progress, if standard error is a terminal.
pub(crate) fn start() {
    if !io::stderr().is_terminal() {
        return;
    }
    let since = Instant::now();
    thread::spawn(move || {
        loop {
            thread::sleep(PATIENCE);
            let mut line = line();
            if !line.0.is_empty() {
                let text = format!("\r\x1b[K{}, {} s", line.0, since.elapsed().as_secs());
                line.1 = write!(io::stderr(), "{text}").is_ok();
            }
        }
    });
}

pub(crate) fn doing(text: impl Into<String>) {
    line().0 = text.into();
}

pub(crate) fn end() {
    let mut line = line();
    line.0.clear();
    clear(&mut line);
}

/// Calls `write`, which may write to the terminal, while the progress line is hidden.
pub(crate) fn aside<T>(write: impl FnOnce() -> T) -> T {
    let mut line = line();
    clear(&mut line);
    write()
}

/// Standard output. Each write hides the progress line first.
pub(crate) struct Output(pub(crate) io::StdoutLock<'static>);

impl Write for Output {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if crate::IS_CLOSED.load(Ordering::Relaxed) {
            // Rust opened `/dev/null` in place of the closed output, so a write would succeed.
            return Err(io::Error::other("it is closed"));
        }
        aside(|| self.0.write(buffer))
    }

    fn flush(&mut self) -> io::Result<()> {
        aside(|| self.0.flush())
    }
}
