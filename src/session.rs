//! A session: declared types, the graph of their tags, and an oracle for this graph.

use crate::declare::{DeclId, Declarations, DeclareError, Place, Policy, Record, TaggedTypes};
use crate::extent::Size;
use crate::graph::{CopyId, Graph, TagId};
use crate::oracle::{Access, AliasResult, AliasRule, Conflict, Oracle};

/// A compiler's state for TBAA: the declared types, the graph with their tags, and the oracle that
/// answers queries about these tags.
///
/// Types may be declared, paths resolved and queries asked in any order. For other operations, use
/// the parts: [`Session::types_mut`], [`Session::graph`] and [`Session::oracle`], or all of them at
/// once in [`Session::update`].
///
/// ```
/// use tbaa::declare::{Declarations, Record, Target};
/// use tbaa::{AliasResult, Session};
///
/// let types = Declarations::new(Target::x86_64());
/// let mut session = Session::with_unions(types);
/// session.define(Record::structure("Point").field("x", "int").field("y", "float"))?;
/// let point = session.tags(&["Point.x", "Point.y"])?;
/// assert_eq!(session.alias(point[0], point[1]), AliasResult::NoAlias);
///
/// // More types and tags come as the program is compiled.
/// session.define(Record::union("Word").field("bits", "int").field("number", "float"))?;
/// let (bits, number) = (session.tag("Word.bits")?, session.tag("Word.number")?);
/// assert_eq!(session.alias(bits, number), AliasResult::MayAlias);
/// # Ok::<(), tbaa::declare::DeclareError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Session {
    tagged: TaggedTypes,
    oracle: Oracle,
}

impl Session {
    /// Returns a session that makes the same tags as clang and answers like LLVM. The tags can be
    /// given to LLVM unchanged. Members of unions are accessed as `char`.
    pub fn like_clang(types: Declarations) -> Session {
        Session::new(types, Policy::Clang, AliasRule::Llvm)
    }

    /// Returns a session whose tags and answers use all facts that the types express, including
    /// unions and sizes. It is for your own optimiser. For stock LLVM, lower the tags first with
    /// the crate `tbaa-lower`.
    pub fn with_unions(types: Declarations) -> Session {
        Session::new(types, Policy::Rfc, AliasRule::Union)
    }

    /// Returns a session with an empty graph. More types may be declared later.
    ///
    /// Not every policy fits every rule. LLVM misreads tags of [`Policy::Rfc`], and so does
    /// [`AliasRule::Llvm`]: it may answer `NoAlias` for two members of a union.
    /// [`Session::like_clang`] and [`Session::with_unions`] choose a policy and a rule that fit.
    pub fn new(types: Declarations, policy: Policy, rule: AliasRule) -> Session {
        Session::from_parts(types.into_tagged(policy), Oracle::new(Graph::new(), rule))
    }

    /// Returns a session made of its parts. Declared types are added to the oracle's graph, which
    /// may be that of a module. If a type already has a node in another graph, later calls that use
    /// the type fail with [`BuildError::ForeignId`](crate::BuildError::ForeignId).
    pub fn from_parts(tagged: TaggedTypes, oracle: Oracle) -> Session {
        Session { tagged, oracle }
    }

    /// Splits the session into its parts.
    #[must_use]
    pub fn into_parts(self) -> (TaggedTypes, Oracle) {
        (self.tagged, self.oracle)
    }

    /// Declares a struct or union.
    ///
    /// # Errors
    ///
    /// As [`Declarations::define`].
    pub fn define(&mut self, record: Record) -> Result<DeclId, DeclareError> {
        self.types_mut().define(record)
    }

    /// Returns the tag for an access to a path, and adds the tag if it is new. For many paths,
    /// [`Session::tags`] is faster.
    ///
    /// # Errors
    ///
    /// As [`TaggedTypes::tag`].
    pub fn tag(&mut self, path: &str) -> Result<TagId, DeclareError> {
        self.update(|types, graph| types.tag(graph, path))
    }

    /// Returns an access to a path with the given size, a number of bytes or a [`Size`]. The size
    /// may exceed that of the path's type.
    ///
    /// # Errors
    ///
    /// As [`TaggedTypes::sized`].
    pub fn sized(&mut self, path: &str, size: impl Into<Size>) -> Result<Access, DeclareError> {
        self.update(|types, graph| types.sized(graph, path, size))
    }

    /// Returns the tags for accesses to several paths.
    ///
    /// # Errors
    ///
    /// As [`TaggedTypes::tags`].
    pub fn tags(&mut self, paths: &[impl AsRef<str>]) -> Result<Vec<TagId>, DeclareError> {
        self.update(|types, graph| types.tags(graph, paths))
    }

    /// Resolves a path to its tag, offset, size and alignment.
    ///
    /// # Errors
    ///
    /// As [`TaggedTypes::place`].
    pub fn place(&mut self, path: &str) -> Result<Place, DeclareError> {
        self.update(|types, graph| types.place(graph, path))
    }

    /// Returns the `tbaa.struct` node for copying objects of a type.
    ///
    /// # Errors
    ///
    /// As [`TaggedTypes::copy`].
    pub fn copy(&mut self, ty: DeclId) -> Result<Option<CopyId>, DeclareError> {
        self.update(|types, graph| types.copy(graph, ty))
    }

    /// Changes the types and the graph, and then updates the oracle. [`Oracle::update`] documents
    /// how long this takes.
    pub fn update<R>(&mut self, change: impl FnOnce(&mut TaggedTypes, &mut Graph) -> R) -> R {
        let Session { tagged, oracle } = self;
        oracle.update(|graph| change(tagged, graph))
    }

    /// Returns whether two accesses may touch a common byte, as [`Oracle::alias`] does.
    #[inline]
    pub fn alias(&self, a: impl Into<Access>, b: impl Into<Access>) -> AliasResult {
        self.oracle.alias(a, b)
    }

    /// Returns whether [`Session::alias`] answers `MayAlias`.
    #[inline]
    pub fn may_alias(&self, a: impl Into<Access>, b: impl Into<Access>) -> bool {
        self.oracle.may_alias(a, b)
    }

    /// Returns the possible dependences between two accesses, as [`Oracle::may_conflict`] does.
    pub fn may_conflict(
        &self,
        first: impl Into<Access>,
        second: impl Into<Access>,
    ) -> Option<Conflict> {
        self.oracle.may_conflict(first, second)
    }

    /// Returns the declared types.
    pub fn types(&self) -> &Declarations {
        self.tagged.types()
    }

    /// Returns the declared types, so that more can be declared.
    pub fn types_mut(&mut self) -> &mut Declarations {
        self.tagged.types_mut()
    }

    /// Returns the declared types with the policy by which they become nodes.
    pub fn tagged(&self) -> &TaggedTypes {
        &self.tagged
    }

    /// Returns the graph, which contains all nodes and tags so far.
    pub fn graph(&self) -> &Graph {
        self.oracle.graph()
    }

    /// Returns the oracle, for queries that the session does not offer.
    pub fn oracle(&self) -> &Oracle {
        &self.oracle
    }
}
