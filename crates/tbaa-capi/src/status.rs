//! What came of a call, and the text of the last error.

use std::any::Any;
use std::cell::RefCell;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::text::{Out, Str, write};

/// What came of a call. Where it is not `TBAA_STATUS_OK`, nothing was written
/// to out-parameters, and `tbaa_last_error` says what is wrong and what to do.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// A NULL where none may be, a number that no constant has, text that is
    /// not UTF-8, or an array without end.
    InvalidArgument = 1,
    /// An id that this context or oracle did not issue.
    UnknownId = 2,
    /// A declaration that C would not accept, or whose offsets or sizes are
    /// not those of its types.
    Declaration = 3,
    /// A path that leads nowhere.
    Path = 4,
    /// The policy has no tag for what a path leads to: the access goes without.
    Untagged = 5,
    /// A spec that cannot be read.
    Spec = 6,
    /// Nodes that the builder refuses to make.
    Build = 7,
    /// A tag that LLVM would reject, crash on or get wrong.
    Refused = 8,
    /// A callback said that it failed.
    Sink = 9,
    /// The format cannot say what the graph holds.
    Unwritable = 10,
    /// A defect of the library. The context it was given can only be freed.
    Panicked = 11,
}

/// The statuses in words, by number.
const NAMES: [&str; 12] = [
    "ok",
    "invalid argument",
    "unknown id",
    "declaration",
    "path",
    "untagged",
    "spec",
    "build",
    "refused",
    "sink",
    "unwritable",
    "panicked",
];

/// A status other than OK, and its text.
pub(crate) struct Error {
    pub(crate) status: Status,
    pub(crate) message: String,
}

impl Error {
    pub(crate) fn new(status: Status, message: impl Display) -> Error {
        Error { status, message: message.to_string() }
    }

    pub(crate) fn argument(message: impl Display) -> Error {
        Error::new(Status::InvalidArgument, message)
    }
}

/// Names the status of an error: `result.or_status(Status::Path)`.
pub(crate) trait OrStatus<T> {
    fn or_status(self, status: Status) -> Result<T, Error>;
}

impl<T, E: Display> OrStatus<T> for Result<T, E> {
    fn or_status(self, status: Status) -> Result<T, Error> {
        self.map_err(|error| Error::new(status, error))
    }
}

/// What a pointer points to, unless it is NULL.
pub(crate) fn given<T>(pointer: Option<T>, name: &str) -> Result<T, Error> {
    pointer.ok_or_else(|| Error::argument(format!("{name} is NULL")))
}

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

fn fail(error: Error) -> Status {
    // A thread that is being torn down has nowhere to keep it.
    let _ = LAST.try_with(|last| *last.borrow_mut() = error.message);
    error.status
}

fn panicked(payload: Box<dyn Any + Send>) -> Error {
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "panic".to_owned(),
    };
    // What a payload does when it is dropped is not to be trusted.
    std::mem::forget(payload);
    Error::new(Status::Panicked, format!("a defect of libtbaa, please report: {text}"))
}

/// Runs the body of a function that returns a status.
pub(crate) fn status(body: impl FnOnce() -> Result<(), Error>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(error)) => fail(error),
        Err(payload) => fail(panicked(payload)),
    }
}

/// Runs the body of a function that makes a result and writes it.
pub(crate) fn made<T>(out: Out<'_, T>, make: impl FnOnce() -> Result<T, Error>) -> Status {
    status(|| write(out, make))
}

/// Frees what the library made.
pub(crate) fn free<T>(owned: Option<Box<T>>) {
    answer((), || {
        drop(owned);
        Some(())
    });
}

/// Runs the body of a function that has an answer for everything: `doubt` where
/// the body has none, or panics.
#[inline]
pub(crate) fn answer<T>(doubt: T, body: impl FnOnce() -> Option<T>) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(found) => found.unwrap_or(doubt),
        Err(payload) => {
            fail(panicked(payload));
            doubt
        }
    }
}

/// Returns what the last call on this thread that failed said: lowercase, one
/// line mostly, with the remedy. Empty where none failed. It lives until the
/// next call on this thread fails.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_last_error() -> Str {
    LAST.try_with(|last| Str::of(&last.borrow())).unwrap_or(Str::of(""))
}

/// Returns a status in words, such as `unknown id`; of a number that is no
/// status, `unknown status`. It lives as long as the program.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_status_name(status: u32) -> Str {
    let name = usize::try_from(status).ok().and_then(|status| NAMES.get(status));
    Str::of(name.unwrap_or(&"unknown status"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_status_or_the_answer_in_doubt() {
        assert_eq!(status(|| panic!("number {}", 7)), Status::Panicked);
        assert!(tbaa_last_error().text().is_ok_and(|text| text.ends_with("number 7")));
        assert!(answer(true, || panic!("other")));
        assert!(tbaa_last_error().text().is_ok_and(|text| text.ends_with("other")));
        assert_eq!(status(|| std::panic::panic_any(7)), Status::Panicked);
        assert_eq!(status(|| Ok(())), Status::Ok);
    }

    #[test]
    fn errors_are_of_the_thread() {
        status(|| Err(Error::argument("here")));
        let there = std::thread::spawn(|| tbaa_last_error().text().map(str::len).unwrap_or(99));
        assert_eq!(there.join().unwrap_or(99), 0);
        assert!(tbaa_last_error().text().is_ok_and(|text| text == "here"));
    }
}
