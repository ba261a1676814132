//! Specs: types, tags and expected answers in a RON file.
//!
//! A spec describes a front end's TBAA and the expected answers, so that tagging can be tested
//! without an optimizer. The guide `docs/specs.md` describes the format field by field. The files
//! under `specs/` are examples, and all of them are tests.
//!
//! ```
//! use tbaa::spec::Spec;
//!
//! let text = r#"Spec(
//!     name: "pair",
//!     types: [
//!         Root(name: "my runtime"),
//!         Scalar(name: "int", parent: "my runtime"),
//!         Struct(name: "Pair", fields: [("first", "int", 0), ("second", "int", 4)]),
//!     ],
//!     tags: [
//!         Tag(name: "p->first", base: "Pair", access: "int", offset: 0),
//!         Tag(name: "p->second", base: "Pair", access: "int", offset: 4),
//!         Tag(name: "*i", base: "int", access: "int", offset: 0),
//!     ],
//!     expect: [
//!         (a: "p->first", b: "p->second", llvm: NoAlias, why: "two fields of one struct"),
//!         (a: "p->first", b: "*i", llvm: MayAlias, why: "a bare int may be that field"),
//!     ],
//! )"#;
//! let mut built = Spec::load(text)?;
//! assert_eq!(built.check().failures, []);
//!
//! // A tag goes by its name or by a path of field names.
//! assert_eq!(built.tag("Pair.second")?, built.tags()["p->second"]);
//!
//! // A mistake is reported where it stands.
//! let error = Spec::load(&text.replace("access: \"int\"", "access: \"itn\"")).unwrap_err();
//! assert_eq!((error.line(), error.column()), (9, 53));
//! assert_eq!(error.message(), r#"no type "itn": did you mean "int"?"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The stages: [`Spec::parse`] checks the form; [`Spec::build`] checks the content and makes a
//! graph; [`Built::check`] queries the oracle. [`write()`] converts a graph to a spec.

mod build;
mod built;
mod declare;
mod declare_write;
mod document;
mod error;
mod name;
mod place;
mod write;

pub use built::{Built, Expectation, Failure, NameError, Report};
pub use declare::{DeclareDecl, DeclaredType, MemberDecl, RecordDecl};
pub use declare_write::{write_all_declarations, write_declarations};
pub use document::{CopyDecl, Expect, FieldDecl, SizedFieldDecl, Spec, TagDecl, TypeDecl};
pub use error::SpecError;
pub use place::SpecPath;
pub use write::write;
