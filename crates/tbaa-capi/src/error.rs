//! The status of a call, and its message.

use std::fmt::Display;

/// The status of a call. If it is not `TBAA_STATUS_OK`, no result was written, and
/// `tbaa_last_error` says what is wrong and what to do.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// A NULL that is not allowed, a number that is not a constant of its enum, text that is not
    /// UTF-8, or an array that is too large for memory or misaligned.
    InvalidArgument = 1,
    /// An id that this context or oracle did not issue.
    UnknownId = 2,
    /// A declaration that C would reject, or whose offsets or sizes do not fit the members' types.
    Declaration = 3,
    /// A path, such as `Point.x`, that leads to no member or element.
    Path = 4,
    /// The context's policy has no tag for the path: leave the access untagged.
    Untagged = 5,
    /// A spec (the text that `tbaa_context_load` reads) that has errors.
    Spec = 6,
    /// Metadata nodes that the library refuses to make.
    Build = 7,
    /// A tag that LLVM would reject, crash on or get wrong for this access.
    Refused = 8,
    /// A callback reported failure.
    Sink = 9,
    /// The format given to `tbaa_dump` cannot express the metadata.
    Unwritable = 10,
    /// A defect of the library. A context that the call was changing can only be freed.
    Panicked = 11,
}

/// A status other than `Status::Ok`, and its message.
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

/// Converts any error to an [`Error`]: `result.or_status(Status::Path)`.
pub(crate) trait OrStatus<T> {
    fn or_status(self, status: Status) -> Result<T, Error>;
}

impl<T, E: Display> OrStatus<T> for Result<T, E> {
    fn or_status(self, status: Status) -> Result<T, Error> {
        self.map_err(|error| Error::new(status, error))
    }
}

/// Returns the value. If there is none, returns the error that `name` is NULL.
pub(crate) fn given<T>(pointer: Option<T>, name: &str) -> Result<T, Error> {
    pointer.ok_or_else(|| Error::argument(format!("{name} is NULL")))
}
