//! A front end's statements about a module's types.

use tbaa_ir::types::Definitions;
use tbaa_types::Type;

/// A front end's statements about its types, in addition to the module.
///
/// Names are those of LLVM's struct types, such as `struct.Point`, with or without `%`. A name also
/// matches names that LLVM made from it, such as `struct.Point.7`. Use the same options for all
/// modules that are linked together.
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
    /// Returns the safest options: only accesses to struct members get tags.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Also tags accesses to array elements or through plain pointers, by their scalar type, unless
    /// this type is a byte (`i8`, `i1`). The program must then also keep
    /// [`ELEMENTS_PROMISE`](crate::ELEMENTS_PROMISE).
    #[must_use]
    pub fn elements(mut self) -> Self {
        self.elements = true;
        self
    }

    /// Separates a struct from all others, even from those with the same members. Its memory must
    /// be accessed only through this type, or through types that contain it.
    #[must_use]
    pub fn nominal(mut self, name: &str) -> Self {
        self.nominal.push(owned(name));
        self
    }

    /// Declares that structs share memory, as members of a union do. All members of these structs
    /// may then alias each other. With [`elements`](Self::elements), accesses through these structs
    /// get no tag, because a plain pointer may lead to any scalar in them.
    #[must_use]
    pub fn union<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.unions.push(names.into_iter().map(owned).collect());
        self
    }

    /// Leaves accesses through a struct untagged, so they may alias everything.
    #[must_use]
    pub fn opaque(mut self, name: &str) -> Self {
        self.opaque.push(owned(name));
        self
    }

    /// Returns the module's struct types that match a name.
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
