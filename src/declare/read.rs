//! Reading declared types: sizes, members, and how C writes them.

use super::declarations::DeclKind;
use super::{DeclId, Declarations, Target};

/// A member of a struct or union, laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MemberLayout<'a> {
    /// The name; empty of an anonymous member.
    pub name: &'a str,
    /// The type.
    pub ty: DeclId,
    /// Bits from the start of the struct or union.
    pub offset: u64,
    /// The width of a bit-field.
    pub bits: Option<u32>,
    /// True if it is never modified while it can be read.
    pub immutable: bool,
    /// True if it is a base class.
    pub base: bool,
}

impl Declarations {
    /// Returns the target.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Returns every type, in the order in which they were declared or first
    /// named.
    pub fn types(&self) -> impl DoubleEndedIterator<Item = DeclId> + ExactSizeIterator + '_ {
        (0..self.decls.len() as u32).map(|index| self.id(index))
    }

    /// Returns the structs and unions that are defined and have a name, in the
    /// order in which they were first named.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = DeclId> + '_ {
        self.types().filter(
            |&id| matches!(self.kind(id), DeclKind::Record(r) if r.defined && !r.name.is_empty()),
        )
    }

    /// Returns the type of a name, which is that of a scalar, an enum, a record
    /// or an alias.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<DeclId> {
        self.names.get(name).copied()
    }

    /// Returns the size of a type in bytes; `None` for `void`, a function, or an undefined struct.
    ///
    /// # Panics
    ///
    /// If `id` is from other declarations, as for all functions here.
    #[must_use]
    pub fn size_of(&self, id: DeclId) -> Option<u64> {
        self.decl(id).size
    }

    /// Returns the alignment of a type in bytes.
    #[must_use]
    pub fn align_of(&self, id: DeclId) -> u64 {
        self.decl(id).align
    }

    /// Returns the type of an array's elements and its lengths, the outermost
    /// first; of another type, itself and none.
    #[doc(hidden)]
    pub fn array_parts(&self, mut id: DeclId) -> (DeclId, Vec<Option<u64>>) {
        let mut lens = Vec::new();
        while let DeclKind::Array { element, len } = self.kind(id) {
            lens.push(*len);
            id = *element;
        }
        (id, lens)
    }

    /// Returns whether a type is a union.
    #[must_use]
    pub fn is_union(&self, id: DeclId) -> bool {
        self.record(id).is_some_and(|record| record.union)
    }

    /// Returns the members of a struct or union in the order of declaration; none for other types.
    pub fn members(
        &self,
        id: DeclId,
    ) -> impl DoubleEndedIterator<Item = MemberLayout<'_>> + ExactSizeIterator + '_ {
        let fields = self.record(id).map_or(&[][..], |record| &record.fields);
        fields.iter().map(|field| MemberLayout {
            name: &field.name,
            ty: field.ty,
            offset: field.offset,
            bits: field.bits,
            immutable: field.immutable,
            base: field.base,
        })
    }

    /// Returns whether the types are C++'s.
    #[must_use]
    pub fn is_cplusplus(&self) -> bool {
        self.cplusplus
    }

    /// Returns whether a type is a struct or union.
    #[must_use]
    pub fn is_record(&self, id: DeclId) -> bool {
        self.record(id).is_some()
    }

    /// Returns whether a type is a struct or union without a name.
    #[must_use]
    pub fn is_unnamed(&self, id: DeclId) -> bool {
        self.record(id).is_some_and(|record| record.name.is_empty())
    }

    /// Returns whether layouts depend on how the records inside were declared,
    /// and not on their sizes and alignments alone.
    #[cfg(feature = "spec")]
    pub(crate) fn has_hidden_alignments(&self) -> bool {
        matches!(self.target.rules, super::target::LayoutRules::Microsoft { .. })
    }

    #[cfg(feature = "spec")]
    pub(crate) fn may_alias(&self, id: DeclId) -> bool {
        self.record(id).is_some_and(|record| record.may_alias)
    }

    /// Returns the integer types of enums, with the enums' names.
    #[cfg(feature = "spec")]
    pub(crate) fn enums(&self) -> impl Iterator<Item = (DeclId, &str)> + '_ {
        self.decls.iter().filter_map(|decl| match &decl.kind {
            DeclKind::Enum { name, integer } => Some((*integer, name.as_str())),
            _ => None,
        })
    }

    /// Returns the scalars that C does not have: name, size, alignment and the scalar
    /// above.
    #[cfg(feature = "spec")]
    pub(crate) fn own_scalars(&self) -> impl Iterator<Item = (&str, u64, u64, DeclId)> + '_ {
        let known = self.fresh();
        self.decls.iter().filter_map(move |decl| match &decl.kind {
            DeclKind::Scalar { name, parent: Some(parent), .. } if known.named(name).is_none() => {
                Some((name.as_str(), decl.size?, decl.align, *parent))
            }
            _ => None,
        })
    }

    /// Returns the additional names of types, except those of C.
    #[cfg(feature = "spec")]
    pub(crate) fn own_aliases(&self) -> impl Iterator<Item = (&str, DeclId)> + '_ {
        let known = self.fresh();
        self.names.iter().filter_map(move |(name, &id)| {
            let own = known.named(name).is_none() && self.display(id) != *name;
            let is_enum = matches!(self.kind(id), DeclKind::Enum { name: own, .. } if own == name);
            (own && !is_enum).then_some((name.as_str(), id))
        })
    }

    /// Returns the name of the root of all types.
    #[cfg(feature = "spec")]
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// The types of C alone.
    #[cfg(feature = "spec")]
    fn fresh(&self) -> Declarations {
        match self.cplusplus {
            true => Declarations::cplusplus(self.target.clone()),
            false => Declarations::new(self.target.clone()),
        }
    }

    /// Returns how C writes a type without a name, which
    /// [`Declarations::ty`] reads.
    #[must_use]
    pub fn display(&self, id: DeclId) -> String {
        self.written(id, false)
    }

    /// Like [`Declarations::display`], but with `struct X` instead of `X`, which is valid before X
    /// is declared.
    #[must_use]
    pub fn display_with_keywords(&self, id: DeclId) -> String {
        self.written(id, true)
    }

    fn written(&self, id: DeclId, keywords: bool) -> String {
        // The words in front of a declarator's name, backwards, and those after it.
        let (mut left, mut right) = (String::new(), String::new());
        let mut ty = id;
        loop {
            let enclose = |left: &mut String, right: &mut String| {
                if left.ends_with('*') {
                    left.push('(');
                    right.push(')');
                }
            };
            ty = match self.kind(ty) {
                DeclKind::Pointer { to } => {
                    left.push('*');
                    *to
                }
                DeclKind::Atomic { of } => {
                    left.push_str("cimotA_");
                    *of
                }
                DeclKind::Array { element, len } => {
                    enclose(&mut left, &mut right);
                    let len = len.map_or(String::new(), |len| len.to_string());
                    right.push_str(&format!("[{len}]"));
                    *element
                }
                DeclKind::Function => {
                    enclose(&mut left, &mut right);
                    right.push_str("()");
                    self.void()
                }
                _ => break,
            };
        }
        let name = match self.kind(ty) {
            DeclKind::Vector { element, len } => format!("<{len} x {}>", self.short_name(*element)),
            DeclKind::Complex { element } => format!("{} _Complex", self.short_name(*element)),
            DeclKind::Record(record) if keywords && record.union => {
                format!("union {}", record.name)
            }
            DeclKind::Record(record) if keywords => format!("struct {}", record.name),
            _ => self.short_name(ty),
        };
        let left: String = left.chars().rev().collect();
        let blank = if left.is_empty() && !right.starts_with('[') { "" } else { " " };
        format!("{name}{blank}{left}{right}").trim_end().to_owned()
    }

    /// Returns the name of a type that is not derived from another.
    pub(super) fn short_name(&self, id: DeclId) -> String {
        match self.kind(id) {
            DeclKind::Void => "void".to_owned(),
            DeclKind::Scalar { .. } if id == self.char() => "char".to_owned(),
            DeclKind::Scalar { name, .. } | DeclKind::Enum { name, .. } => name.clone(),
            DeclKind::Record(record) => record.title.clone(),
            DeclKind::Pointer { .. } => "void *".to_owned(),
            _ => "type".to_owned(),
        }
    }
}
