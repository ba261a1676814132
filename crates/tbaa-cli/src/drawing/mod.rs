//! The bytes of an object and the accesses to them, drawn: lanes of spans under a ruler.
//!
//! [`lanes`] says what is to be drawn, [`ruler`] which bytes have a column, [`text`] and [`svg`] draw it.

mod lanes;
mod ruler;
mod svg;
mod text;

pub(crate) use lanes::{common, of_explanation};
pub(crate) use svg::write as write_svg;
pub(crate) use text::write as write_text;

/// Bytes, with what they are called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    pub(crate) start: u64,
    /// `None` without end, or where the format does not tell.
    pub(crate) end: Option<u64>,
    pub(crate) label: String,
}

/// A lane's content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    Fields,
    A,
    B,
}

/// Spans that do not overlap, beside one another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Lane {
    pub(crate) mark: Mark,
    pub(crate) title: String,
    pub(crate) spans: Vec<Span>,
    /// A remark that the spans do not show.
    pub(crate) note: String,
}

/// One object, with the name of its type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Drawing {
    pub(crate) base: String,
    pub(crate) lanes: Vec<Lane>,
}
