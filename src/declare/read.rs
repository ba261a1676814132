//! Functions that return what was declared: types, sizes, members, and types as C text.

use super::declarations::DeclKind;
use super::{DeclId, Declarations, Target};

/// A member of a struct or union, with its offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MemberLayout<'a> {
    /// The name; empty if the member has none.
    pub name: &'a str,
    /// The type.
    pub ty: DeclId,
    /// The offset in bits from the start of the struct or union.
    pub offset: u64,
    /// The width in bits if the member is a bit-field.
    pub bits: Option<u32>,
    /// True if the member is never modified while it can be read.
    pub immutable: bool,
    /// True if the member is a base class.
    pub base: bool,
}

impl Declarations {
    /// Returns the target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Returns all types, in the order in which they were declared or first mentioned.
    pub fn types(&self) -> impl DoubleEndedIterator<Item = DeclId> + ExactSizeIterator + '_ {
        (0..self.decls.len() as u32).map(|index| self.id(index))
    }

    /// Returns the defined structs and unions that have a name, in order of their first mention.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = DeclId> + '_ {
        self.types().filter(
            |&id| matches!(self.kind(id), DeclKind::Record(r) if r.defined && !r.name.is_empty()),
        )
    }

    /// Returns the type called `name`, which may be an alias.
    pub fn named(&self, name: &str) -> Option<DeclId> {
        self.names.get(name).copied()
    }

    /// Returns the size of a type in bytes; `None` for `void`, a function, or an undefined struct.
    ///
    /// # Panics
    ///
    /// If `id` belongs to other declarations. The other functions of this `impl` block that take a
    /// [`DeclId`] panic likewise.
    pub fn size_of(&self, id: DeclId) -> Option<u64> {
        self.decl(id).size
    }

    /// Returns the alignment of a type in bytes.
    pub fn align_of(&self, id: DeclId) -> u64 {
        self.decl(id).align
    }

    /// Returns the element type and the lengths of an array, outermost dimension first. For any
    /// other type, returns the type itself and no lengths.
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

    /// Returns the members of a struct or union, in their order. Other types have none.
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

    /// Returns whether the predefined types are those of C++.
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

    /// Returns whether a record's layout depends on more than its members' sizes and alignments.
    #[cfg(feature = "spec")]
    pub(crate) fn has_hidden_alignments(&self) -> bool {
        self.cplusplus || self.target.is_microsoft()
    }

    #[cfg(feature = "spec")]
    pub(crate) fn may_alias(&self, id: DeclId) -> bool {
        self.record(id).is_some_and(|record| record.may_alias)
    }

    /// Returns the integer type and the name of each enum.
    #[cfg(feature = "spec")]
    pub(crate) fn enums(&self) -> impl Iterator<Item = (DeclId, &str)> + '_ {
        self.decls.iter().filter_map(|decl| match &decl.kind {
            DeclKind::Enum { name, integer } => Some((*integer, name.as_str())),
            _ => None,
        })
    }

    /// Returns the scalars that the program declared: name, size, alignment and parent.
    #[cfg(feature = "spec")]
    pub(crate) fn own_scalars(&self) -> impl Iterator<Item = (&str, u64, u64, DeclId)> + '_ {
        self.decls[self.builtins..].iter().filter_map(|decl| match &decl.kind {
            DeclKind::Scalar { name, parent: Some(parent), .. } => {
                Some((name.as_str(), decl.size?, decl.align, *parent))
            }
            _ => None,
        })
    }

    #[cfg(feature = "spec")]
    pub(crate) fn own_aliases(&self) -> impl Iterator<Item = (&str, DeclId)> + '_ {
        self.names.iter().skip(self.builtin_names).filter_map(|(name, &id)| {
            let is_enum = matches!(self.kind(id), DeclKind::Enum { name: own, .. } if own == name);
            (self.display(id) != *name && !is_enum).then_some((name.as_str(), id))
        })
    }

    #[cfg(feature = "spec")]
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// Returns a type as C text, such as `int *[4]`. [`Declarations::ty`] can read the text, unless
    /// the type is a function, or is made from an unnamed record.
    pub fn display(&self, id: DeclId) -> String {
        self.written(id, false)
    }

    /// Like [`Declarations::display`], but writes `struct X` or `union X` for a record X. The text
    /// can also be read before X is declared.
    pub fn display_with_keywords(&self, id: DeclId) -> String {
        self.written(id, true)
    }

    fn written(&self, id: DeclId, keywords: bool) -> String {
        // C writes a part of a type before the declared name, and a part after it.
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

    /// Returns a type's name; the title for a record, `void *` for a pointer, and `type` for other
    /// types without a name.
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
