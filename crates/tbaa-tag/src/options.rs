//! A user's declarations about a module's types.

use tbaa_ir::types::Definitions;
use tbaa_types::Type;

/// A front end's declarations about its types, in addition to the module.
///
/// Names are those of LLVM's struct types, such as `struct.Point`, with or without `%`. A name also
/// matches LLVM's renamed forms: `struct.Point.7`. Use the same options for all modules that are
/// linked together.
#[derive(Clone, Default, Debug)]
pub struct Options {
    pub(crate) elements: bool,
    pub(crate) nominal: Vec<Box<[u8]>>,
    pub(crate) unions: Vec<Vec<Box<[u8]>>>,
    pub(crate) opaque: Vec<Box<[u8]>>,
}

fn owned(name: &str) -> Box<[u8]> {
    name.trim_start_matches('%').as_bytes().into()
}

impl Options {
    /// Returns the options of the safest tags: members of structs alone.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Also tags accesses through other pointers by their scalar type: elements of arrays, and
    /// targets of plain pointers. Bytes (`i8`, `i1`) stay untagged. This adds
    /// [`ELEMENTS_PROMISE`](crate::ELEMENTS_PROMISE) to the program's obligations.
    #[must_use]
    pub fn elements(mut self) -> Self {
        self.elements = true;
        self
    }

    /// Separates a struct from all others, even from those with the same members: its memory is
    /// accessed only through this type, or through one that contains it.
    #[must_use]
    pub fn nominal(mut self, name: &str) -> Self {
        self.nominal.push(owned(name));
        self
    }

    /// Declares that structs share memory, as members of a union do. Each of their members may
    /// alias each other's. With [`elements`](Self::elements) accesses through them have no tag: a
    /// plain pointer may lead to any scalar of theirs.
    #[must_use]
    pub fn union<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.unions.push(names.into_iter().map(owned).collect());
        self
    }

    /// Leaves accesses through a struct without tags: they may alias everything.
    #[must_use]
    pub fn opaque(mut self, name: &str) -> Self {
        self.opaque.push(owned(name));
        self
    }

    /// Returns the types of a module that a name matches.
    pub(crate) fn types<'d>(
        definitions: &'d Definitions,
        name: &'d [u8],
    ) -> impl Iterator<Item = Type> + 'd {
        let is = move |of: &[u8]| match of.strip_prefix(name) {
            Some([b'.', digits @ ..]) => digits.iter().all(u8::is_ascii_digit),
            rest => rest == Some(b""),
        };
        definitions.names().filter(move |name| is(name.0)).map(|name| name.1)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        let unions = self.unions.iter().flatten();
        self.nominal.iter().chain(unions).chain(&self.opaque).map(|nominal| &**nominal)
    }
}
