//! The data in the text of a spec. Reading a text checks only its form, not its content.

use ron::extensions::Extensions;
use serde::{Deserialize, Serialize};

use super::DeclareDecl;
use crate::oracle::{AliasResult, AliasRule};

/// The data in the text of a spec. [`Spec::build`] checks its content.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The name of the spec, which is usually the name of its file without `.ron`.
    pub name: String,
    /// The subject of the spec, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The origin of the types and tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The rule that the commands of `tbaa-cli` use by default.
    #[serde(default)]
    pub rules: AliasRule,
    /// The LLVM version, such as `LLVM 22.1.8`, that confirmed the answers of rule `llvm` for which
    /// [`Expect::confirmed`] names no version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<String>,
    /// Types declared as in C. Their nodes and tags are made from these declarations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declare: Option<DeclareDecl>,
    /// The type nodes. Each must come after the nodes that it refers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<TypeDecl>,
    /// The tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<TagDecl>,
    /// The struct copies, which are `!tbaa.struct` nodes in LLVM.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<CopyDecl>,
    /// The expected answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expect>,
}

/// A type node. Other entries refer to it by its key, or by its name if it has no key.
///
/// Types may have the same name, but not the same key. Names are written as in `.ll` text and may
/// contain any bytes: `\` with two hexadecimal digits is a byte, and `\\` is a backslash. RON
/// resolves its own escapes first, so write `"\\FF"` or `r"\FF"`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum TypeDecl {
    /// A named root.
    Root {
        /// The name.
        name: String,
        /// The key by which other entries refer to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// A root that no other module shares: a distinct node that refers to itself.
    AnonymousRoot {
        /// The key by which other entries refer to it.
        key: String,
    },
    /// The root `!{}`.
    EmptyRoot {
        /// The key by which other entries refer to it.
        key: String,
    },
    /// An old-format scalar.
    Scalar {
        /// The name.
        name: String,
        /// The key by which other entries refer to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// The key of the parent, which is a root or a scalar.
        parent: String,
    },
    /// An old-format struct or union.
    Struct {
        /// The name.
        name: String,
        /// The key by which other entries refer to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// The fields, in ascending order of offsets.
        fields: Vec<FieldDecl>,
    },
    /// A size-aware type. Without fields, it is a scalar.
    Type {
        /// The name.
        name: String,
        /// The key by which other entries refer to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// The key of the parent, which is a root or a size-aware type.
        parent: String,
        /// The size in bytes.
        size: u64,
        /// The fields, in ascending order of offsets.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fields: Vec<SizedFieldDecl>,
    },
}

impl TypeDecl {
    /// Returns the key of this type, or its name if it has no key.
    pub fn key(&self) -> &str {
        match self {
            TypeDecl::AnonymousRoot { key } | TypeDecl::EmptyRoot { key } => key,
            TypeDecl::Root { name, key }
            | TypeDecl::Scalar { name, key, .. }
            | TypeDecl::Struct { name, key, .. }
            | TypeDecl::Type { name, key, .. } => key.as_ref().unwrap_or(name),
        }
    }

    /// Returns each field as its name, the key of its type, and its offset.
    pub(super) fn fields(&self) -> Vec<(&str, &str, u64)> {
        match self {
            TypeDecl::Struct { fields, .. } => {
                fields.iter().map(|f| (&*f.name, &*f.ty, f.offset)).collect()
            }
            TypeDecl::Type { fields, .. } => {
                fields.iter().map(|f| (&*f.name, &*f.ty, f.offset)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A field of an old-format struct, written `("name", "type", offset)`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "(String, String, u64)", into = "(String, String, u64)")]
pub struct FieldDecl {
    /// The field's name, which paths use. Empty if it is unknown.
    pub name: String,
    /// The key of the field's type. For an array, it is the type of the elements.
    pub ty: String,
    /// The number of bytes from the start of the struct to the field.
    pub offset: u64,
}

/// A field of a size-aware type, written `("name", "type", offset, size)`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "(String, String, u64, u64)", into = "(String, String, u64, u64)")]
pub struct SizedFieldDecl {
    /// The field's name, which paths use. Empty if it is unknown.
    pub name: String,
    /// The key of the field's type. For an array, it is the type of the elements.
    pub ty: String,
    /// The number of bytes from the start of the type to the field.
    pub offset: u64,
    /// The size of the field in bytes. For an array, it is the size of the whole array.
    pub size: u64,
}

/// An access tag. It has the format of its base type.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename = "Tag", deny_unknown_fields)]
pub struct TagDecl {
    /// The name that expectations and commands use. Two names may denote the same tag.
    pub name: String,
    /// The key of the base type.
    pub base: String,
    /// The key of the access type.
    pub access: String,
    /// The number of bytes from the start of the base type to the access.
    pub offset: u64,
    /// The size of the access in bytes, only in the size-aware format. Unknown when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The immutability flag: true if the accessed memory is constant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub immutable: bool,
}

/// The accesses that a copy of a struct makes: a `!tbaa.struct` node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename = "Copy", deny_unknown_fields)]
pub struct CopyDecl {
    /// The accesses, in ascending order of offsets, such as `(0, 4, "tag")`: the number of bytes
    /// from the start of the copied memory, the number of bytes copied, and the name of the tag.
    pub entries: Vec<(u64, u64, String)>,
}

/// The expected answers to one query, by one or more rules.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The first tag: its name, or a path if the spec has [`Spec::declare`].
    pub a: String,
    /// The second tag, written like the first. It may be the same tag.
    pub b: String,
    /// The answer that rule `llvm` must give.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llvm: Option<AliasResult>,
    /// The answer that rule `union` must give.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub union: Option<AliasResult>,
    /// The answer that rule `union-strict` must give.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub union_strict: Option<AliasResult>,
    /// The reason for the answer. It is reported if the expectation fails.
    pub why: String,
    /// The LLVM version that confirmed the `llvm` answer, if it differs from [`Spec::confirmed`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<String>,
}

impl Expect {
    /// Returns the answers that the expectation contains, each with its rule.
    pub fn answers(&self) -> impl Iterator<Item = (AliasRule, AliasResult)> + use<> {
        let answers = [
            (AliasRule::Llvm, self.llvm),
            (AliasRule::Union, self.union),
            (AliasRule::UnionStrict, self.union_strict),
        ];
        answers.into_iter().filter_map(|(rule, answer)| Some((rule, answer?)))
    }
}

/// Implements the conversions between a declaration and the tuple that represents it in a spec.
macro_rules! written_as_tuples {
    ($($decl:ident { $($field:ident: $ty:ty),* })*) => {$(
        impl From<($($ty),*)> for $decl {
            fn from(($($field),*): ($($ty),*)) -> Self {
                $decl { $($field),* }
            }
        }

        impl From<$decl> for ($($ty),*) {
            fn from($decl { $($field),* }: $decl) -> Self {
                ($($field),*)
            }
        }
    )*};
}

written_as_tuples! {
    FieldDecl { name: String, ty: String, offset: u64 }
    SizedFieldDecl { name: String, ty: String, offset: u64, size: u64 }
}

/// Returns the RON options for specs: `llvm: NoAlias` needs no `Some`, and `Struct(name: ...)`
/// needs no second pair of parentheses.
pub(super) fn options() -> ron::Options {
    ron::Options::default()
        .with_default_extension(Extensions::IMPLICIT_SOME)
        .with_default_extension(Extensions::UNWRAP_VARIANT_NEWTYPES)
}
