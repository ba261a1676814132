//! What may come of a call.

use std::fmt::Display;

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
