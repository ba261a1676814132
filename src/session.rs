//! Declared types, their graph and its oracle behind one handle.

use crate::declare::{DeclId, Declarations, DeclareError, Place, Policy, Record, TaggedTypes};
use crate::extent::Size;
use crate::graph::{CopyId, Graph, TagId};
use crate::oracle::{Access, AliasResult, AliasRule, Conflict, Oracle};

/// A compiler's state for TBAA: the declared types, the graph with their tags, and the oracle that
/// answers queries on these tags.
///
/// Types, paths and queries may come in any order. Use the parts for operations that the session
/// does not offer: [`Session::types_mut`], [`Session::graph`], [`Session::oracle`], and all at once
/// in [`Session::update`].
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
    /// Returns a session with clang's tags and LLVM's answers: the tags go to LLVM unchanged.
    /// Members of unions are `char`.
    pub fn like_clang(types: Declarations) -> Session {
        Session::new(types, Policy::Clang, AliasRule::Llvm)
    }

    /// Returns a session whose tags and answers express everything that the types do, including
    /// unions and sizes: for your own optimiser. For stock LLVM, lower the tags first, with the
    /// crate `tbaa-lower`.
    pub fn with_unions(types: Declarations) -> Session {
        Session::new(types, Policy::Rfc, AliasRule::Union)
    }

    /// Returns a session with an empty graph. More types may be declared later.
    ///
    /// Not every pair makes sense: under [`AliasRule::Llvm`], tags of [`Policy::Rfc`] are
    /// misread as LLVM misreads them, and accesses to two members of a union may be
    /// `NoAlias`. [`Session::like_clang`] and [`Session::with_unions`] are the pairs that do.
    pub fn new(types: Declarations, policy: Policy, rule: AliasRule) -> Session {
        Session::from_parts(types.into_tagged(policy), Oracle::new(Graph::new(), rule))
    }

    /// Makes a session of its parts. Declared types are added to the graph, which may be that of a
    /// module. Types that were lowered into another graph before give
    /// [`BuildError::ForeignId`](crate::BuildError::ForeignId).
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

    /// Returns the tag of an access to a path, and adds it if it is new. [`Session::tags`] is
    /// faster for many paths.
    ///
    /// # Errors
    ///
    /// As [`TaggedTypes::tag`].
    pub fn tag(&mut self, path: &str) -> Result<TagId, DeclareError> {
        self.update(|types, graph| types.tag(graph, path))
    }

    /// Returns an access to a path with its own size, which may exceed the path's type: a number of
    /// bytes, or a [`Size`].
    ///
    /// # Errors
    ///
    /// As [`TaggedTypes::sized`].
    pub fn sized(&mut self, path: &str, size: impl Into<Size>) -> Result<Access, DeclareError> {
        self.update(|types, graph| types.sized(graph, path, size))
    }

    /// Returns the tags of accesses to several paths.
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

    /// Returns the `tbaa.struct` node for copies of a type.
    ///
    /// # Errors
    ///
    /// As [`TaggedTypes::copy`].
    pub fn copy(&mut self, ty: DeclId) -> Result<Option<CopyId>, DeclareError> {
        self.update(|types, graph| types.copy(graph, ty))
    }

    /// Changes types and graph, and updates the oracle.
    ///
    /// [`Oracle::update`] states the cost.
    pub fn update<R>(&mut self, change: impl FnOnce(&mut TaggedTypes, &mut Graph) -> R) -> R {
        let Session { tagged, oracle } = self;
        oracle.update(|graph| change(tagged, graph))
    }

    /// Returns whether two accesses may touch a common byte.
    ///
    /// As [`Oracle::alias`].
    #[inline]
    pub fn alias(&self, a: impl Into<Access>, b: impl Into<Access>) -> AliasResult {
        self.oracle.alias(a, b)
    }

    /// Returns whether [`Session::alias`] answers `MayAlias`.
    #[inline]
    pub fn may_alias(&self, a: impl Into<Access>, b: impl Into<Access>) -> bool {
        self.oracle.may_alias(a, b)
    }

    /// Returns which dependences may hold between two accesses.
    ///
    /// As [`Oracle::may_conflict`].
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

    /// Returns the declared types, to declare more of them.
    pub fn types_mut(&mut self) -> &mut Declarations {
        self.tagged.types_mut()
    }

    /// Returns the declared types under their policy.
    pub fn tagged(&self) -> &TaggedTypes {
        &self.tagged
    }

    /// Returns the graph: all nodes and tags so far.
    pub fn graph(&self) -> &Graph {
        self.oracle.graph()
    }

    /// Returns the oracle, for all other queries.
    pub fn oracle(&self) -> &Oracle {
        &self.oracle
    }
}
