//! The document as it is written: plain data, form checked, content not.

use ron::extensions::Extensions;
use serde::{Deserialize, Serialize};

use super::DeclareDecl;
use crate::oracle::{AliasResult, AliasRule};

/// A spec as its text has it. [`Spec::build`] checks it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The name of the spec, by custom the file's name without `.ron`.
    pub name: String,
    /// The subject of the spec, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The source of the types and tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The rule that a command uses by default.
    #[serde(default)]
    pub rules: AliasRule,
    /// The LLVM version that confirmed every `llvm` answer, such as `LLVM 22.1.8`: some answers
    /// differ between versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<String>,
    /// Types declared with a layout. Beside these or instead of them there may
    /// be nodes, in `types`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declare: Option<DeclareDecl>,
    /// The type nodes, each declared before it is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<TypeDecl>,
    /// The tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<TagDecl>,
    /// The struct copies, `!tbaa.struct` in LLVM.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<CopyDecl>,
    /// The expected answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expect>,
}

/// A type node. Others refer to it by its key, or by its name if it has none.
///
/// Keys allow two types of one name, which metadata may have. A name is written as in `.ll` text,
/// so that it may contain any bytes: `\` and two hexadecimal digits are a byte, and `\\` is a
/// backslash. RON's own escapes are applied first, so it is `"\\FF"` in a spec, or `r"\FF"`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum TypeDecl {
    /// A named root.
    Root {
        /// The name.
        name: String,
        /// The key by which others name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// A root that no other module shares: a distinct node that refers to itself.
    AnonymousRoot {
        /// The key by which others name it.
        key: String,
    },
    /// The root `!{}`.
    EmptyRoot {
        /// The key by which others name it.
        key: String,
    },
    /// An old-format scalar.
    Scalar {
        /// The name.
        name: String,
        /// The key by which others name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// A root or a scalar.
        parent: String,
    },
    /// An old-format struct or union.
    Struct {
        /// The name.
        name: String,
        /// The key by which others name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// The fields, by ascending offset.
        fields: Vec<FieldDecl>,
    },
    /// A size-aware type: a scalar when it has no fields.
    Type {
        /// The name.
        name: String,
        /// The key by which others name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// A root or a size-aware type.
        parent: String,
        /// The size in bytes.
        size: u64,
        /// The fields, by ascending offset.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fields: Vec<SizedFieldDecl>,
    },
}

impl TypeDecl {
    /// Returns what other entries call this type: its key, or else its name.
    pub fn key(&self) -> &str {
        match self {
            TypeDecl::AnonymousRoot { key } | TypeDecl::EmptyRoot { key } => key,
            TypeDecl::Root { name, key }
            | TypeDecl::Scalar { name, key, .. }
            | TypeDecl::Struct { name, key, .. }
            | TypeDecl::Type { name, key, .. } => key.as_ref().unwrap_or(name),
        }
    }

    /// Returns the name and type key of each field, with its offset.
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
    /// The field's name, for paths; empty if unknown.
    pub name: String,
    /// The key of the field's type; for an array, of the element's type.
    pub ty: String,
    /// Bytes from the start of the struct.
    pub offset: u64,
}

/// A field of a size-aware type, written `("name", "type", offset, size)`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "(String, String, u64, u64)", into = "(String, String, u64, u64)")]
pub struct SizedFieldDecl {
    /// The field's name, for paths; empty if unknown.
    pub name: String,
    /// The key of the field's type; for an array, of the element's type.
    pub ty: String,
    /// Bytes from the start of the type.
    pub offset: u64,
    /// The bytes of the field; for an array, of the whole array.
    pub size: u64,
}

/// An access tag. Its format is that of its base type.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename = "Tag", deny_unknown_fields)]
pub struct TagDecl {
    /// The name in expectations and commands. Two names may mean one tag.
    pub name: String,
    /// The key of the base type.
    pub base: String,
    /// The key of the access type.
    pub access: String,
    /// Bytes from the start of the base type.
    pub offset: u64,
    /// Bytes accessed, in the size-aware format only; unknown when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// True if the memory is never modified while it can be read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub immutable: bool,
}

/// The accesses that a copy of a struct makes: a `!tbaa.struct` node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename = "Copy", deny_unknown_fields)]
pub struct CopyDecl {
    /// The accesses, such as `(0, 4, "tag")`, in the order of their offsets: bytes from the start of
    /// the copied memory, bytes copied, and the name of the tag.
    pub entries: Vec<(u64, u64, String)>,
}

/// The expected answer to a query, by one rule or more.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The name of a tag, or with [`Spec::declare`] a path.
    pub a: String,
    /// The name of another, or of the same.
    pub b: String,
    /// The answer by rule `llvm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llvm: Option<AliasResult>,
    /// The answer by rule `union`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub union: Option<AliasResult>,
    /// The answer by rule `union_strict`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub union_strict: Option<AliasResult>,
    /// The clause that decides, as a hint if the expectation fails.
    pub why: String,
    /// The LLVM version that confirmed the `llvm` answer, if not [`Spec::confirmed`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<String>,
}

impl Expect {
    /// Returns the answers that are given, each with its rule.
    pub fn answers(&self) -> impl Iterator<Item = (AliasRule, AliasResult)> + use<> {
        let answers = [
            (AliasRule::Llvm, self.llvm),
            (AliasRule::Union, self.union),
            (AliasRule::UnionStrict, self.union_strict),
        ];
        answers.into_iter().filter_map(|(rule, answer)| Some((rule, answer?)))
    }
}

/// Converts between a declaration and the tuple that it is written as.
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

/// RON as specs use it: `llvm: NoAlias` without a `Some` around it, and
/// `Struct(name: ...)` without another pair of brackets.
pub(super) fn options() -> ron::Options {
    ron::Options::default()
        .with_default_extension(Extensions::IMPLICIT_SOME)
        .with_default_extension(Extensions::UNWRAP_VARIANT_NEWTYPES)
}
