//! A spec converted into a graph, with tags by name or path, and expectations.

use std::fmt;

use indexmap::IndexMap;

use super::document::Spec;
use super::place::SpecPath;
use crate::builder::BuildError;
use crate::declare::{DeclareError, TaggedTypes};
use crate::graph::{Format, Graph, TagId, TypeId};
use crate::nearest::suggestion;
use crate::oracle::{AliasResult, AliasRule, Oracle};
use crate::table::HashMap;

/// A spec that is consistent, and its graph.
#[derive(Debug)]
pub struct Built {
    pub(super) spec: Spec,
    pub(super) graph: Graph,
    /// The types, in the order of `spec.types`.
    pub(super) types: IndexMap<String, TypeId>,
    /// The tags: first those of `spec.tags`, in their order.
    pub(super) tags: IndexMap<String, TagId>,
    pub(super) tagged: Option<TaggedTypes>,
}

/// One expected answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Expectation<'b> {
    /// The place of the expectation in the spec.
    pub place: SpecPath,
    /// The name of the first tag.
    pub a_name: &'b str,
    /// The name of the second tag.
    pub b_name: &'b str,
    /// The first tag.
    pub a: TagId,
    /// The second tag.
    pub b: TagId,
    /// The rule that must give the answer.
    pub rule: AliasRule,
    /// The answer.
    pub answer: AliasResult,
    /// The clause that decides.
    pub why: &'b str,
    /// The LLVM version that confirmed the answer, for rule `llvm` only.
    pub confirmed: Option<&'b str>,
}

/// An expectation that does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The place of the expectation in the spec.
    pub place: SpecPath,
    /// The name of the first tag.
    pub a: String,
    /// The name of the second tag.
    pub b: String,
    /// The rule that was used.
    pub rule: AliasRule,
    /// The answer that the spec expects.
    pub expected: AliasResult,
    /// The answer that the oracle gives.
    pub actual: AliasResult,
    /// The clause that decides according to the spec.
    pub why: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { a, b, rule, expected, actual, why, .. } = self;
        write!(f, "{a:?} and {b:?} by rule {rule}: expected {expected}, got {actual} ({why})")
    }
}

/// The result of checking a spec's expectations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The number of expected answers that were checked.
    pub checked: usize,
    /// The expectations that do not hold, in file order.
    pub failures: Vec<Failure>,
}

/// The reason why a name or path has no tag.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// There is no tag of that name, and no type that the path could start at.
    #[error("no tag {name:?}{hint}")]
    NoTag {
        /// The requested name.
        name: String,
        /// The remedy: the name to write instead.
        hint: String,
    },
    /// A type on the path lacks this field.
    #[error("type {ty:?} has no field {field:?}{hint}")]
    NoField {
        /// The key of the type.
        ty: String,
        /// The field's name in the path.
        field: String,
        /// The remedy: the name to write instead.
        hint: String,
    },
    /// The builder refuses a tag for the end of the path.
    #[error("no tag for {path:?}: {error}")]
    Refused {
        /// The path.
        path: String,
        /// The builder's reason.
        error: BuildError,
    },
    /// The path does not exist among the declared types.
    #[error(transparent)]
    Declared(DeclareError),
}

/// Returns each way to split a path at one of its dots, or not at all, with the longest first part
/// first.
fn cuts(path: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let dots = path.rmatch_indices('.');
    std::iter::once((path, None)).chain(dots.map(|(at, _)| (&path[..at], Some(&path[at + 1..]))))
}

impl Built {
    /// Returns the spec.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Returns the graph: the spec's types, tags and copies.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the graph alone.
    #[must_use]
    pub fn into_graph(self) -> Graph {
        self.graph
    }

    /// Returns the graph, to add to it, or to move it elsewhere while an [`Oracle`] owns it. It
    /// must be back for [`Built::tag`] and [`Built::check`], which use the ids of this graph.
    pub fn graph_mut(&mut self) -> &mut Graph {
        &mut self.graph
    }

    /// Returns the declared types, to declare more, with the graph that contains their nodes and
    /// tags.
    pub fn tagged_mut(&mut self) -> Option<(&mut TaggedTypes, &mut Graph)> {
        self.tagged.as_mut().map(|tagged| (tagged, &mut self.graph))
    }

    /// Returns the declared types, if the spec has them.
    pub fn tagged(&self) -> Option<&TaggedTypes> {
        self.tagged.as_ref()
    }

    /// Returns each type by its key, in file order. Keys of equal nodes share an id.
    pub fn types(&self) -> &IndexMap<String, TypeId> {
        &self.types
    }

    /// Returns each tag by its name, in file order, then those of declared
    /// types by their paths. Names of equal tags share an id.
    pub fn tags(&self) -> &IndexMap<String, TagId> {
        &self.tags
    }

    /// Returns the tag with a name, or the tag for the access that a path describes, such as
    /// `CallInfo.l.base`.
    ///
    /// Paths into declared types are those of [`TaggedTypes::tag`]. Other paths are the key of a
    /// type (the longest that fits, because keys may contain dots), then names of fields. Such a
    /// path means an access to the last field, at the sum of the offsets; a key alone means the
    /// whole type. The access is as large as its type. Its tag is added to the graph if it is new.
    ///
    /// # Errors
    ///
    /// [`NameError`], which suggests the nearest name.
    ///
    /// ```
    /// use tbaa::spec::Spec;
    ///
    /// let mut built = Spec::load(r#"Spec(name: "paths", types: [
    ///     Root(name: "runtime"),
    ///     Scalar(name: "any pointer", parent: "runtime"),
    ///     Struct(name: "CallInfo_l", fields: [("base", "any pointer", 0)]),
    ///     Struct(name: "CallInfo", fields: [("func", "any pointer", 0), ("l", "CallInfo_l", 32)]),
    /// ])"#)?;
    /// let base = built.tag("CallInfo.l.base")?;
    /// assert_eq!(built.graph().tag(base)?.offset, 32);
    ///
    /// let error = built.tag("CallInfo.l.bsae").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     r#"type "CallInfo_l" has no field "bsae": did you mean "base"?"#
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tag(&mut self, name: &str) -> Result<TagId, NameError> {
        if let Some(&tag) = self.tags.get(name) {
            return Ok(tag);
        }
        // Explicit nodes come first.
        let is_node = cuts(name).any(|(key, _)| self.types.contains_key(key));
        if let Some(tagged) = self.tagged.as_mut().filter(|_| !is_node) {
            return tagged.tag(&mut self.graph, name).map_err(NameError::Declared);
        }
        let (base, access, offset) = self.path(name)?;
        let ty = self.graph.ty(access);
        let (format, size) = (ty.format(), ty.size().unwrap_or(0));
        let mut b = self.graph.builder();
        match format {
            Format::Old => b.struct_tag(base, access, offset),
            Format::New => b.access_tag(base, access, offset, size),
        }
        .map_err(|error| NameError::Refused { path: name.to_owned(), error })
    }

    /// Follows a path to its base type, access type and offset.
    fn path(&self, path: &str) -> Result<(TypeId, TypeId, u64), NameError> {
        let start = cuts(path).find_map(|(key, rest)| Some((self.types.get_index_of(key)?, rest)));
        let Some((base, mut rest)) = start else {
            let names = self.tags.keys().chain(self.types.keys()).map(String::as_str);
            let otherwise = "give a tag of the spec, or a path such as `Type.field`";
            let hint = suggestion(path, names, otherwise);
            return Err(NameError::NoTag { name: path.to_owned(), hint });
        };
        let (mut access, mut offset) = (base, 0_u64);
        while let Some(names) = rest {
            let fields = self.spec.types[access].fields();
            let step = cuts(names).find_map(|(name, after)| {
                let &(_, ty, at) = fields.iter().find(|&&(known, ..)| known == name)?;
                // An empty name means that the field's name is unknown.
                let ty = self.types.get_index_of(ty).filter(|_| !name.is_empty())?;
                Some((ty, at, after))
            });
            let Some((ty, at, after)) = step else {
                let name = names.split('.').next().unwrap_or(names);
                let known: Vec<&str> =
                    fields.iter().map(|&(name, ..)| name).filter(|name| !name.is_empty()).collect();
                let otherwise = match known[..] {
                    [] => "it has no named fields".to_owned(),
                    _ => format!("it has {}", known.join(", ")),
                };
                return Err(NameError::NoField {
                    ty: self.spec.types[access].key().to_owned(),
                    hint: suggestion(name, known, &otherwise),
                    field: name.to_owned(),
                });
            };
            (access, offset, rest) = (ty, offset.saturating_add(at), after);
        }
        Ok((self.types[base], self.types[access], offset))
    }

    /// Returns every expected answer, in file order.
    pub fn expectations(&self) -> impl Iterator<Item = Expectation<'_>> {
        self.spec.expect.iter().enumerate().flat_map(move |(index, expect)| {
            let confirmed = expect.confirmed.as_deref().or(self.spec.confirmed.as_deref());
            expect.answers().map(move |(rule, answer)| Expectation {
                place: SpecPath::list("expect").item(index),
                a_name: &expect.a,
                b_name: &expect.b,
                a: self.tags[&expect.a],
                b: self.tags[&expect.b],
                rule,
                answer,
                why: &expect.why,
                confirmed: confirmed.filter(|_| rule == AliasRule::Llvm),
            })
        })
    }

    /// Checks every expected answer with the oracle.
    pub fn check(&self) -> Report {
        let mut report = Report::default();
        let mut oracles = HashMap::<AliasRule, Oracle<&Graph>>::default();
        for expectation in self.expectations() {
            let Expectation { rule, answer: expected, .. } = expectation;
            report.checked += 1;
            let oracle = oracles.entry(rule).or_insert_with(|| Oracle::new(&self.graph, rule));
            let actual = oracle.alias(expectation.a, expectation.b);
            if actual != expected {
                report.failures.push(Failure {
                    place: expectation.place,
                    a: expectation.a_name.to_owned(),
                    b: expectation.b_name.to_owned(),
                    rule,
                    expected,
                    actual,
                    why: expectation.why.to_owned(),
                });
            }
        }
        report
    }
}
