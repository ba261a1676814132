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
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Returns every type, in the order in which they were declared or first named.
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

    /// Returns the type of a name, which is that of a scalar, an enum, a record or an alias.
    pub fn named(&self, name: &str) -> Option<DeclId> {
        self.names.get(name).copied()
    }

    /// Returns the size of a type in bytes; `None` for `void`, a function, or an undefined struct.
    ///
    /// # Panics
    ///
    /// If `id` is from other declarations, as for all functions here.
    pub fn size_of(&self, id: DeclId) -> Option<u64> {
        self.decl(id).size
    }

    /// Returns the alignment of a type in bytes.
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
    pub fn is_cplusplus(&self) -> bool {
        self.cplusplus
    }

    /// Returns whether a type is a struct or union.
    pub fn is_record(&self, id: DeclId) -> bool {
        self.record(id).is_some()
    }

    /// Returns whether a type is a struct or union without a name.
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

    /// Returns the scalars that C does not have: name, size, alignment and the scalar above.
    #[cfg(feature = "spec")]
    pub(crate) fn own_scalars(&self) -> impl Iterator<Item = (&str, u64, u64, DeclId)> + '_ {
        self.decls[self.builtins..].iter().filter_map(|decl| match &decl.kind {
            DeclKind::Scalar { name, parent: Some(parent), .. } => {
                Some((name.as_str(), decl.size?, decl.align, *parent))
            }
            _ => None,
        })
    }

    /// Returns the additional names of types, except those of C.
    #[cfg(feature = "spec")]
    pub(crate) fn own_aliases(&self) -> impl Iterator<Item = (&str, DeclId)> + '_ {
        self.names.iter().skip(self.builtin_names).filter_map(|(name, &id)| {
            let is_enum = matches!(self.kind(id), DeclKind::Enum { name: own, .. } if own == name);
            (self.display(id) != *name && !is_enum).then_some((name.as_str(), id))
        })
    }

    /// Returns the name of the root of all types.
    #[cfg(feature = "spec")]
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// Returns how C writes a type without a name, which [`Declarations::ty`] reads.
    pub fn display(&self, id: DeclId) -> String {
        self.written(id, false)
    }

    /// Like [`Declarations::display`], but with `struct X` instead of `X`, which is valid before X
    /// is declared.
    pub fn display_with_keywords(&self, id: DeclId) -> String {
        self.written(id, true)
    }

    fn written(&self, id: DeclId, keywords: bool) -> String {
        // The words before a declarator's name, and those after it.
        let (mut left, mut right, mut ty) = (String::new(), String::new(), id);
        let name = loop {
            let kind = self.kind(ty);
            if left.starts_with('*') && matches!(kind, DeclKind::Array { .. } | DeclKind::Function)
            {
                left.insert(0, '(');
                right.push(')');
            }
            ty = match kind {
                DeclKind::Pointer { to } => {
                    left.insert(0, '*');
                    *to
                }
                DeclKind::Atomic { of } => {
                    left.insert_str(0, "_Atomic");
                    *of
                }
                DeclKind::Array { element, len } => {
                    let len = len.map_or(String::new(), |len| len.to_string());
                    right.push_str(&format!("[{len}]"));
                    *element
                }
                DeclKind::Function => {
                    right.push_str("()");
                    self.void()
                }
                DeclKind::Vector { element, len } => {
                    break format!("<{len} x {}>", self.short_name(*element));
                }
                DeclKind::Complex { element } => {
                    break format!("{} _Complex", self.short_name(*element));
                }
                DeclKind::Record(record) if keywords => {
                    break format!("{} {}", record.keyword(), record.name);
                }
                _ => break self.short_name(ty),
            };
        };
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
