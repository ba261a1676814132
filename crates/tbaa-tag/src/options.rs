//! A user's declarations about a module's types.

use tbaa_ir::types::Definitions;
use tbaa_types::Type;

/// A front end's declarations about its types, beside what the module says.
///
/// Names are those of LLVM's struct types, such as `struct.Point`, with or without `%`. One stands
/// also for what LLVM makes of it where the name is taken: `struct.Point.7`. Give all modules
/// that are linked together the same options.
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

    /// Tags accesses behind other pointers, too, by their scalar type: elements of arrays, and
    /// what a plain pointer points to. Bytes (`i8`, `i1`) stay without tags. This adds
    /// [`ELEMENTS_PROMISE`](crate::ELEMENTS_PROMISE) to what the program must keep to.
    #[must_use]
    pub fn elements(mut self) -> Self {
        self.elements = true;
        self
    }

    /// Tells a struct apart from all others, also from those with the same members: its memory
    /// is accessed through this type alone, or through one that it is declared in.
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

    /// Returns the types of a module that a name stands for.
    pub(crate) fn types<'d>(
        definitions: &'d Definitions,
        name: &'d [u8],
    ) -> impl Iterator<Item = Type> + 'd {
        let is = move |of: &[u8]| match of.strip_prefix(name) {
            Some([b'.', digits @ ..]) => digits.iter().all(u8::is_ascii_digit),
            rest => rest == Some(b""),
        };
        definitions.names().filter(move |it| is(it.0)).map(|it| it.1)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        let unions = self.unions.iter().flatten();
        self.nominal.iter().chain(unions).chain(&self.opaque).map(|it| &**it)
    }
}
