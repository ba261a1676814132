//! The reason why a module gets no tags.

use tbaa::BuildError;
use tbaa_ir::TextError;
use tbaa_ir::types::ParseError;

/// The reason why a module gets no tags.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TagError {
    /// The module does not determine the offsets of members.
    #[error(
        "no `target datalayout`, without which nobody knows where members stand: set the module's \
         data layout to that of the target machine"
    )]
    NoLayout,
    /// The module is of a language that allows what tags forbid.
    #[error("made from {0}, which allows memory to be accessed as any type: tags would be wrong")]
    Language(&'static str),
    /// A definition of a struct type cannot be read.
    #[error(transparent)]
    Type(ParseError),
    /// A struct type of the module has another layout than the declared record of its name.
    #[error(
        "%{ty} is not {record:?} as declared: {contradiction}; declare the members and the padding \
         that the module has, or give one of the two another name"
    )]
    Layout {
        /// The name of the struct type.
        ty: String,
        /// The declared record.
        record: String,
        /// The difference.
        contradiction: String,
    },
    /// The nodes do not fit into a graph.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The tags cannot be put into the text.
    #[error(transparent)]
    Text(#[from] TextError),
}
