//! A spec and the graph built from it. Finds tags by name or path, and checks expectations.

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

/// A spec that passed the checks of [`Spec::build`], and its graph.
#[derive(Debug)]
pub struct Built {
    pub(super) spec: Spec,
    pub(super) graph: Graph,
    /// The types by key, in the order of `spec.types`.
    pub(super) types: IndexMap<String, TypeId>,
    /// The tags by name. Those of `spec.tags` come first, in their order.
    pub(super) tags: IndexMap<String, TagId>,
    pub(super) tagged: Option<TaggedTypes>,
}

/// One expected answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Expectation<'b> {
    /// The path of the expectation in the spec.
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
    /// The expected answer.
    pub answer: AliasResult,
    /// The reason for the answer, as the spec gives it.
    pub why: &'b str,
    /// The LLVM version that confirmed the answer. Only answers of rule `llvm` have one.
    pub confirmed: Option<&'b str>,
}

/// An expectation that does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The path of the expectation in the spec.
    pub place: SpecPath,
    /// The name of the first tag.
    pub a: String,
    /// The name of the second tag.
    pub b: String,
    /// The rule that gave the answer.
    pub rule: AliasRule,
    /// The answer that the spec expects.
    pub expected: AliasResult,
    /// The answer that the oracle gave.
    pub actual: AliasResult,
    /// The reason for the expected answer, as the spec gives it.
    pub why: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { a, b, rule, expected, actual, why, .. } = self;
        write!(f, "{a:?} and {b:?} by rule {rule}: expected {expected}, got {actual} ({why})")
    }
}

/// The result of checking the expectations of a spec.
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
    /// There is no tag with this name, and no type at which the path could begin.
    #[error("no tag {name:?}{hint}")]
    NoTag {
        /// The name for which no tag was found.
        name: String,
        /// The remedy, such as the name to write instead.
        hint: String,
    },
    /// A type on the path does not have this field.
    #[error("type {ty:?} has no field {field:?}{hint}")]
    NoField {
        /// The key of the type that lacks the field.
        ty: String,
        /// The name of the field in the path.
        field: String,
        /// The remedy, such as the name to write instead.
        hint: String,
    },
    /// The builder refused the tag that the path describes.
    #[error("no tag for {path:?}: {error}")]
    Refused {
        /// The path.
        path: String,
        /// The reason that the builder gave.
        error: BuildError,
    },
    /// The declared types do not contain the path.
    #[error(transparent)]
    Declared(DeclareError),
}

/// Returns the path without a split, and then split at each of its dots, the last dot first.
fn cuts(path: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let dots = path.rmatch_indices('.');
    std::iter::once((path, None)).chain(dots.map(|(at, _)| (&path[..at], Some(&path[at + 1..]))))
}

impl Built {
    /// Returns the spec.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Returns the graph, which contains the spec's types, tags and struct copies.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the graph and drops the rest.
    #[must_use]
    pub fn into_graph(self) -> Graph {
        self.graph
    }

    /// Returns the graph, so that you can add nodes or move it into an [`Oracle`] for some time.
    /// Before you call [`Built::tag`] or [`Built::check`], move the graph back.
    pub fn graph_mut(&mut self) -> &mut Graph {
        &mut self.graph
    }

    /// Returns the declared types, so that more can be declared, and the graph that contains their
    /// nodes and tags. Returns `None` if the spec has no declared types.
    pub fn tagged_mut(&mut self) -> Option<(&mut TaggedTypes, &mut Graph)> {
        self.tagged.as_mut().map(|tagged| (tagged, &mut self.graph))
    }

    /// Returns the declared types, if the spec has any.
    pub fn tagged(&self) -> Option<&TaggedTypes> {
        self.tagged.as_ref()
    }

    /// Returns the types by key, in file order. Keys of equal nodes have the same id.
    pub fn types(&self) -> &IndexMap<String, TypeId> {
        &self.types
    }

    /// Returns the tags by name, in file order, and then the tags of declared types by path. Names
    /// of equal tags have the same id.
    pub fn tags(&self) -> &IndexMap<String, TagId> {
        &self.tags
    }

    /// Returns the tag with a name, or the tag for the access that a path such as `CallInfo.l.base`
    /// describes.
    ///
    /// A path into declared types has the form of [`TaggedTypes::tag`]. Any other path is the key
    /// of a type (the longest that fits, because keys may contain dots), and then names of fields.
    /// With fields, the path means an access to the last one, at the sum of their offsets. Without
    /// fields, it means an access to the whole type. The access is as large as the accessed type. A
    /// tag that is new is added to the graph.
    ///
    /// # Errors
    ///
    /// [`NameError`], which may suggest a similar name.
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
        // If a path may begin at a type node and at a declared type, the node has priority.
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

    /// Returns the base type, access type and offset of a path.
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
                // A field with an empty name has no known name, so no path leads to it.
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

    /// Returns all expected answers, in file order.
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

    /// Compares each expected answer with that of the oracle.
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
