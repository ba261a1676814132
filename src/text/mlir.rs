//! Writes a graph as attributes of MLIR's LLVM dialect.

use std::fmt::Write;

use super::Numbering;
use crate::graph::{Field, Format, Graph, NodeId, TagId, TypeId, TypeKind};
use tbaa_lex::source::escape;

/// The reason why MLIR cannot express a graph.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MlirError {
    /// MLIR has no size-aware format.
    #[error("type {name:?} is size-aware, and MLIR knows the old format only")]
    SizeAware {
        /// The type's name.
        name: String,
    },
    /// A malformed type or tag.
    #[error("!{node} is malformed; `verify` says what is wrong with it")]
    Malformed {
        /// The node's number in the [`Numbering`].
        node: usize,
    },
    /// A second root without a name, or a distinct type or root with a name. MLIR has no distinct
    /// nodes: it merges equal ones.
    #[error("!{node} must stay apart from equal ones, and MLIR would merge them")]
    Distinct {
        /// The node's number in the [`Numbering`].
        node: usize,
    },
}

/// Returns a graph's tags and types as aliases of MLIR's `#llvm.tbaa_*` attributes, each before its
/// first use. `#tbaa_tag5` is the node that [`write`](super::write()) prints as `!5`.
///
/// # Errors
///
/// A [`MlirError`] if MLIR cannot express the graph.
///
/// MLIR: `TBAARootAttr`, `TBAATypeDescriptorAttr`, `TBAATagAttr`.
pub fn write_mlir(graph: &Graph) -> Result<String, MlirError> {
    write_mlir_numbered(graph, &Numbering::new(graph))
}

/// Like [`write_mlir`], with the node numbers of `numbering`.
///
/// # Errors
///
/// A [`MlirError`] if MLIR cannot express the graph.
pub fn write_mlir_numbered(graph: &Graph, numbering: &Numbering) -> Result<String, MlirError> {
    let names = vec![None; graph.node_count()];
    let mut writer = Writer { graph, numbering, names, anonymous: false, out: String::new() };
    for tag in graph.tags() {
        writer.tag(tag)?;
    }
    for ty in graph.types() {
        writer.ty(ty)?;
    }
    Ok(writer.out)
}

struct Writer<'g> {
    graph: &'g Graph,
    numbering: &'g Numbering,
    /// The MLIR alias of each type that is written already.
    names: Vec<Option<String>>,
    anonymous: bool,
    out: String,
}

impl Writer<'_> {
    fn tag(&mut self, id: TagId) -> Result<(), MlirError> {
        let node = self.graph.tag_node(id);
        let malformed = self.malformed(node);
        let tag = self.graph.tag(id).map_err(|_| malformed)?;
        if tag.format == Format::New {
            return Err(self.size_aware(tag.access));
        }
        self.ty(tag.base)?;
        self.ty(tag.access)?;
        let constant = if tag.immutable { ", constant = true" } else { "" };
        let (base, access) = (self.name(tag.base).to_owned(), self.name(tag.access).to_owned());
        let _ = writeln!(
            self.out,
            "#tbaa_tag{} = #llvm.tbaa_tag<base_type = {base}, access_type = {access}, \
             offset = {}{constant}>",
            self.number(node),
            tag.offset
        );
        Ok(())
    }

    /// Writes the types that a type refers to, and then the type.
    fn ty(&mut self, ty: TypeId) -> Result<(), MlirError> {
        let mut open = vec![(ty, false)];
        let mut on_path = std::collections::HashSet::<NodeId>::new();
        while let Some((next, ready)) = open.pop() {
            if self.names[next.node().index()].is_some() {
                continue;
            }
            let node = self.graph.ty(next);
            let members: Vec<Field> = match node.kind() {
                TypeKind::Malformed => return Err(self.malformed(next.node())),
                TypeKind::Root => Vec::new(),
                _ if node.format() == Format::New => return Err(self.size_aware(next)),
                TypeKind::Scalar => {
                    let field = |ty| Field { ty, offset: 0, extent: None };
                    node.parent().map(field).into_iter().collect()
                }
                TypeKind::Aggregate => node.fields().collect(),
            };
            if ready {
                self.define(next, &members)?;
            } else if on_path.insert(next.node()) {
                open.push((next, true));
                open.extend(members.iter().rev().map(|member| (member.ty, false)));
            } else {
                return Err(self.malformed(next.node()));
            }
        }
        Ok(())
    }

    fn define(&mut self, ty: TypeId, members: &[Field]) -> Result<(), MlirError> {
        let node = self.graph.ty(ty);
        let apart = match (node.kind(), node.name()) {
            (TypeKind::Root, None) => std::mem::replace(&mut self.anonymous, true),
            _ => self.graph.is_distinct(ty.node()),
        };
        if apart {
            return Err(MlirError::Distinct { node: self.number(ty.node()) as usize });
        }
        let mut id = String::new();
        escape(node.name().unwrap_or_default(), &mut id);
        let (alias, attribute) = match (node.kind(), node.name()) {
            (TypeKind::Root, None) => ("root", "#llvm.tbaa_root".to_owned()),
            (TypeKind::Root, Some(_)) => ("root", format!("#llvm.tbaa_root<id = \"{id}\">")),
            _ => {
                let member = |field: &Field| format!("<{}, {}>", self.name(field.ty), field.offset);
                let members = members.iter().map(member).collect::<Vec<_>>().join(", ");
                let attribute =
                    format!("#llvm.tbaa_type_desc<id = \"{id}\", members = {{{members}}}>");
                ("type_desc", attribute)
            }
        };
        let alias = format!("#tbaa_{alias}{}", self.number(ty.node()));
        let _ = writeln!(self.out, "{alias} = {attribute}");
        self.names[ty.node().index()] = Some(alias);
        Ok(())
    }

    fn malformed(&self, node: NodeId) -> MlirError {
        MlirError::Malformed { node: self.number(node) as usize }
    }

    fn number(&self, node: NodeId) -> u32 {
        self.numbering.get(node).unwrap_or_default()
    }

    fn name(&self, ty: TypeId) -> &str {
        self.names[ty.node().index()].as_deref().unwrap_or_default()
    }

    fn size_aware(&self, ty: TypeId) -> MlirError {
        let name = self.graph.ty(ty).name().unwrap_or_default();
        MlirError::SizeAware { name: String::from_utf8_lossy(name).into_owned() }
    }
}
