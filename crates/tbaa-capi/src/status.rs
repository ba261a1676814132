//! The status of a call, and the text of the last error.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use crate::error::Status;
pub(crate) use crate::error::{Error, OrStatus, given};
use crate::text::{Out, Str, write};

/// The statuses in words, indexed by number.
const NAMES: [&str; 12] = [
    "ok", "invalid argument", "unknown id", "declaration", "path", "untagged", "spec", "build",
    "refused", "sink", "unwritable", "panicked",
];

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

fn fail(error: Error) -> Status {
    // While a thread ends, `LAST` may be destroyed already. Then the message is dropped.
    let _ = LAST.try_with(|last| *last.borrow_mut() = error.message);
    error.status
}

fn panicked(payload: Box<dyn Any + Send>) -> Error {
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "panic".to_owned(),
    };
    // Dropping the panic's payload might panic again.
    std::mem::forget(payload);
    Error::new(Status::Panicked, format!("a defect of libtbaa, please report: {text}"))
}

/// Runs the body of a function that returns a status. Stores the message of an error or panic.
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

pub(crate) fn free<T>(owned: Option<Box<T>>) {
    answer((), || {
        drop(owned);
        Some(())
    });
}

/// Runs `body` and returns its answer, or `doubt` if it returns `None` or panics.
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

/// Returns the message of the last failed call on this thread: lowercase, mostly one line, with the
/// remedy. Empty if no call has failed. It lives until the next call on this thread fails.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_last_error() -> Str {
    LAST.try_with(|last| Str::of(&last.borrow())).unwrap_or(Str::of(""))
}

/// Returns a status in words, such as `unknown id`, or `unknown status`. It lives as long as the
/// program.
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
