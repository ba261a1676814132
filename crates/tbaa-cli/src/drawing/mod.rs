//! Draws the bytes of an object and the accesses to them: lanes of spans under a ruler.
//!
//! [`lanes`] chooses the content, [`ruler`] the columns. [`text`] and [`svg`] write the drawing.

mod lanes;
mod ruler;
mod svg;
mod text;

pub(crate) use lanes::{common, of_explanation};
pub(crate) use svg::write as write_svg;
pub(crate) use text::write as write_text;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    pub(crate) start: u64,
    /// The end; `None` if the range is unbounded, or its end unknown.
    pub(crate) end: Option<u64>,
    pub(crate) label: String,
}

/// The content of a lane: fields, or the bytes of access `A` or `B`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    Fields,
    A,
    B,
}

/// A row of the drawing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Lane {
    pub(crate) mark: Mark,
    pub(crate) title: String,
    pub(crate) spans: Vec<Span>,
    /// A remark on something that the spans do not show.
    pub(crate) note: String,
}

/// One object, with the name of its type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Drawing {
    pub(crate) base: String,
    pub(crate) lanes: Vec<Lane>,
}
