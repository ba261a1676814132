//! Why a module gets no tags.

use std::fmt;

use tbaa::BuildError;
use tbaa_ir::TextError;
use tbaa_ir::types::ParseError;

/// Why a module gets no tags.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TagError {
    /// The module does not say where members stand.
    NoLayout,
    /// LLVM's passes have made its `getelementptr`s count bytes.
    Optimised,
    /// The module is of a language that allows what tags forbid.
    Language(&'static str),
    /// A definition of a struct type cannot be read.
    Type(ParseError),
    /// The nodes do not fit into a graph.
    Build(BuildError),
    /// The tags cannot be put into the text.
    Text(TextError),
}

impl fmt::Display for TagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TagError::NoLayout => f.write_str(
                "no `target datalayout`, without which nobody knows where members stand: set the \
                 module's data layout to that of the target machine",
            ),
            TagError::Optimised => f.write_str(
                "all getelementptrs count bytes: LLVM's passes have run, and the types of places are \
                 gone; take the module as the front end made it",
            ),
            TagError::Language(language) => write!(
                f,
                "made from {language}, which allows memory to be accessed as any type: tags would be \
                 wrong"
            ),
            TagError::Type(error) => write!(f, "{error}"),
            TagError::Build(error) => error.fmt(f),
            TagError::Text(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TagError {
    /// The text is that of an error inside, and so is the cause.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TagError::Type(error) => error.source(),
            TagError::Build(error) => error.source(),
            TagError::Text(error) => error.source(),
            _ => None,
        }
    }
}

impl From<BuildError> for TagError {
    fn from(error: BuildError) -> Self {
        TagError::Build(error)
    }
}

impl From<TextError> for TagError {
    fn from(error: TextError) -> Self {
        TagError::Text(error)
    }
}
