//! Translates clang's tags to tags of the declared types.

use super::{AccessInfo, TaggedTypes};
use crate::declare::declarations::DeclKind;
use crate::declare::path::{ResolvedPath, Step};
use crate::declare::{DeclId, DeclareError};
use crate::extent::Size;
use crate::graph::{Graph, Tag, TagId, TypeId, is_clang_root};
use tbaa_types::demangle::demangled;

/// clang's name for the type that may alias everything.
const CHAR: &str = "omnipotent char";
/// The largest number of nested members, of pointers in a type, and of ancestors of a type.
const DEEPEST: usize = 1 << 10;

impl TaggedTypes {
    /// Returns the tag of the declared types for an access that clang tagged in another module. So
    /// accesses by a runtime's C functions and by a front end's code use one type tree.
    ///
    /// If possible, an access to a member of a declared struct becomes an access to that member.
    /// Any other access gets a tag for a scalar type: clang's access type if it is declared, else
    /// the nearest declared ancestor of clang's access type, which can be `char`. Returns `None` if
    /// there is no such type, if the tag is malformed, or if its root is not one of clang's. The
    /// access must then stay untagged.
    ///
    /// Structs are identified by name. Two structs with the same name must be the same.
    ///
    /// ```
    /// use tbaa::declare::{Declarations, Policy, Record, Target};
    /// use tbaa::Graph;
    ///
    /// // As clang tags an access to `kind` of `struct Point { double x; int kind; }`.
    /// let mut helper = Graph::new();
    /// let mut b = helper.builder();
    /// let root = b.root("Simple C/C++ TBAA")?;
    /// let char = b.scalar_type("omnipotent char", root)?;
    /// let [double, int] = [b.scalar_type("double", char)?, b.scalar_type("int", char)?];
    /// let point = b.struct_type("Point", &[(double, 0), (int, 8)])?;
    /// let theirs = b.struct_tag(point, int, 8)?;
    ///
    /// let mut types = Declarations::new(Target::x86_64());
    /// types.define(Record::structure("Point").field("x", "double").field("kind", "int"))?;
    /// let mut types = types.into_tagged(Policy::Rfc);
    /// let mut graph = Graph::new();
    /// let ours = types.tag(&mut graph, "Point.kind")?;
    /// assert_eq!(types.adopt(&mut graph, &helper, theirs)?, Some(ours));
    /// # Ok::<(), tbaa::declare::DeclareError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`DeclareError::OtherType`] if the member has another type in the other module, for example
    /// if a struct is declared with a `long` but has a `long long` in the header.
    /// [`DeclareError::Build`] if the graph is full.
    ///
    /// # Panics
    ///
    /// If `tag` belongs to another graph than `clang`.
    pub fn adopt(
        &mut self,
        graph: &mut Graph,
        clang: &Graph,
        tag: TagId,
    ) -> Result<Option<TagId>, DeclareError> {
        let Ok(Tag { base, access, offset, .. }) = clang.tag(tag) else { return Ok(None) };
        let root = clang.root_of(access).and_then(|root| clang.ty(root).name());
        if !root.is_some_and(is_clang_root) {
            return Ok(None);
        }
        let name = |ty: TypeId| clang.ty(ty).name().and_then(|name| str::from_utf8(name).ok());
        if let Some(record) = name(base).and_then(|name| self.record_of_clang(name))
            && let Some(resolved) = self.member_at(record, offset, base == access)
        {
            let member = self.access(&resolved);
            let ours = self.node_of(graph, resolved.end())?;
            let equal = base == access
                || ours.is_some_and(|ours| graph.ty(ours).name() == clang.ty(access).name());
            // clang writes `char` for types that have no node of their own. `char` fits any type.
            let vague = name(access) == Some(CHAR);
            let size = name(access).and_then(|name| self.scalar_named(name));
            let size = size.and_then(|ty| self.types.size_of(ty));
            // Accept an ancestor or descendant of equal size: `void *` for a pointer to a struct.
            let alike = ours.is_some_and(|ours| {
                (stands_below(graph, ours, clang, access)
                    || stands_below(clang, access, graph, ours))
                    && size == self.types.size_of(resolved.end())
            });
            if !(equal || vague || alike) && ours.is_some() {
                return Err(DeclareError::OtherType {
                    member: format!("{}, offset {offset}", self.types.display(record)),
                    ours: self.types.display(resolved.end()),
                    theirs: name(access).unwrap_or_default().to_owned(),
                });
            }
            if let (true, AccessInfo::Ordinary { .. }) = (equal || alike && !vague, member)
                && let Some(tag) = self.tag_of(graph, &member, false)?
            {
                return Ok(Some(tag));
            }
        }
        // Use the access type or its nearest ancestor that is declared.
        let above = std::iter::successors(Some(access), |&ty| clang.ty(ty).parent());
        for ty in above.take(DEEPEST) {
            if let Some(ty) = name(ty).and_then(|name| self.scalar_named(name)) {
                let size = self.types.size_of(ty).unwrap_or(0);
                let bare =
                    AccessInfo::Ordinary { base: None, ty, offset: 0, size: Size::Bytes(size) };
                return self.tag_of(graph, &bare, false);
            }
        }
        Ok(None)
    }

    /// Returns the defined struct or union that has this name in clang's nodes. In C++ the name is
    /// mangled.
    pub fn record_of_clang(&self, name: &str) -> Option<DeclId> {
        let id = self.types.named(&source_name(name)).or_else(|| self.types.named(name))?;
        self.types.record(id).filter(|record| record.defined)?;
        Some(id)
    }

    /// Returns the scalar, enum or pointer type that has this name in clang's nodes.
    fn scalar_named(&mut self, name: &str) -> Option<DeclId> {
        if name == "any pointer" {
            return self.pointer_to("void", 1);
        }
        if let Some(depth) = name.strip_prefix("any p").and_then(|d| d.strip_suffix(" pointer")) {
            return self.pointer_to("void", depth.parse().ok()?);
        }
        if let Some((depth, pointee)) = name.strip_prefix('p').and_then(|rest| rest.split_once(' '))
        {
            let depth = depth.parse().ok()?;
            let pointee = self.record_of_clang(pointee).or_else(|| self.scalar_of(pointee))?;
            let pointee = self.types.display(pointee);
            return self.pointer_to(&pointee, depth);
        }
        self.scalar_of(name)
    }

    fn scalar_of(&self, name: &str) -> Option<DeclId> {
        let source = source_name(name);
        self.types.types().find(|&id| match self.types.kind(id) {
            DeclKind::Scalar { name: known, .. } => known == name,
            DeclKind::Enum { name: known, .. } => self.types.cplusplus && *known == source,
            _ => false,
        })
    }

    fn pointer_to(&mut self, pointee: &str, depth: usize) -> Option<DeclId> {
        if !(1..=DEEPEST).contains(&depth) {
            return None;
        }
        self.types.ty(&format!("{pointee} {}", "*".repeat(depth))).ok()
    }

    /// Returns the path to the innermost member that starts at `offset` in `record`, or to `record`
    /// if `whole`. Returns `None` if there is no such member outside unions and bit-fields.
    fn member_at(&self, record: DeclId, mut offset: u64, whole: bool) -> Option<ResolvedPath> {
        let mut resolved =
            ResolvedPath { volatile: false, immutable: false, start: record, steps: Vec::new() };
        while !whole && resolved.steps.len() < DEEPEST {
            let ty = resolved.end();
            match self.types.kind(ty) {
                DeclKind::Record(of) if of.union || !of.defined => return None,
                DeclKind::Record(of) => {
                    let (index, field) = of.fields.iter().enumerate().find(|(_, field)| {
                        let size = self.types.size_of(field.ty).unwrap_or(0);
                        let inside = offset.checked_sub(field.offset / 8);
                        field.bits.is_none() && inside.is_some_and(|inside| inside < size)
                    })?;
                    offset -= field.offset / 8;
                    let step = Step::Field { record: ty, index: index as u32 };
                    resolved.steps.push((step, field.ty));
                }
                DeclKind::Array { element, .. } => {
                    let size = self.types.size_of(*element).filter(|&size| size > 0)?;
                    offset %= size;
                    resolved.steps.push((Step::Element { index: None }, *element));
                }
                _ if offset == 0 => return Some(resolved),
                _ => return None,
            }
        }
        whole.then_some(resolved)
    }
}

/// Returns whether `ty`, a type of `graph`, has an ancestor with the name of `above`, a type of
/// `others`. Returns false if `above` is `char`, which is an ancestor of all scalars.
fn stands_below(graph: &Graph, ty: TypeId, others: &Graph, above: TypeId) -> bool {
    let Some(name) = others.ty(above).name().filter(|&name| name != CHAR.as_bytes()) else {
        return false;
    };
    let chain = std::iter::successors(graph.ty(ty).parent(), |&ty| graph.ty(ty).parent());
    chain.take(DEEPEST).any(|ty| graph.ty(ty).name() == Some(name))
}

/// Returns the demangled name: `A::B` for `_ZTSN1A1BE`. Returns other names unchanged.
fn source_name(name: &str) -> String {
    demangled(name.as_bytes()).unwrap_or_else(|| name.to_owned())
}
