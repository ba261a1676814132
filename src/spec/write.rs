//! Converts a graph to a spec.
//!
//! Each entry is also given to a builder, as when the spec is loaded. If the builder refuses
//! the entry, a comment replaces it, so that the result loads.

use std::collections::{HashMap, HashSet};

use ron::ser::PrettyConfig;
use serde::Serialize;

use super::build::Declared;
use super::document::{CopyDecl, FieldDecl, SizedFieldDecl, TagDecl, TypeDecl, options};
use super::name::escape;
use crate::graph::{
    CopyId, Format, Graph, NodeId, Operand, Tag, TagId, TagParts, TypeId, TypeKind,
};
use crate::oracle::AliasRule;

/// The most bytes of an entry that fits on one line; a longer one is split.
const LINE: usize = 92;

/// Returns a graph as a spec: types, tags, `!tbaa.struct` nodes. If a [`Builder`](crate::Builder)
/// made the graph, [`Spec::load`](super::Spec::load) makes an equal one.
///
/// Types with the same name get different keys. A tag is named after its base type and, if it
/// accesses a part, its offset. Field names are empty, because a graph has none. A node that no
/// builder makes is left out, or replaced by a similar node of a builder. A comment says so.
///
/// ```
/// use tbaa::Graph;
/// use tbaa::spec::{Spec, write};
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("my runtime")?;
/// let int = b.scalar_type("int", root)?;
/// let pair = b.struct_type("Pair", &[(int, 0), (int, 4)])?;
/// b.struct_tag(pair, int, 4)?;
///
/// let text = write(&graph);
/// assert!(text.contains(r#"Struct(name: "Pair", fields: [("", "int", 0), ("", "int", 4)]),"#));
/// assert!(text.contains(r#"Tag(name: "Pair+4", base: "Pair", access: "int", offset: 4),"#));
/// assert_eq!(*Spec::load(&text)?.graph(), graph);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(graph: &Graph) -> String {
    let (declared, keys, nodes, names, taken) = Default::default();
    let rule = AliasRule::default();
    let out = format!("Spec(\n    name: \"graph\",\n    rules: {rule},\n    types: [\n");
    let mut writer = Writer { graph, declared, keys, nodes, names, taken, out };
    for ty in declaration_order(graph) {
        writer.ty(ty);
    }
    writer.out.push_str("    ],\n    tags: [\n");
    writer.taken = Taken::default();
    for tag in graph.tags() {
        writer.tag(tag);
    }
    writer.out.push_str("    ],\n");
    if graph.copies().next().is_some() {
        writer.out.push_str("    copies: [\n");
        for copy in graph.copies() {
            writer.copy(copy);
        }
        writer.out.push_str("    ],\n");
    }
    writer.out.push_str(")\n");
    writer.out
}

/// Returns the types, each after those that it refers to, except in cycles.
fn declaration_order(graph: &Graph) -> Vec<TypeId> {
    let mut order = Vec::new();
    let mut seen: HashSet<TypeId> = HashSet::new();
    // `false`: push the types that this type refers to. `true`: they are listed, so list the type.
    let mut stack: Vec<(TypeId, bool)> = graph.types().rev().map(|ty| (ty, false)).collect();
    while let Some((ty, complete)) = stack.pop() {
        if complete {
            order.push(ty);
        } else if seen.insert(ty) {
            stack.push((ty, true));
            let node = graph.ty(ty);
            let parts = node.parent().into_iter().chain(node.fields().map(|field| field.ty));
            stack.extend(parts.map(|part| (part, false)));
        }
    }
    order
}

/// The names in use, each with the count of suffixes that were tried for it.
#[derive(Default)]
struct Taken(HashMap<String, u32>);

impl Taken {
    /// Returns the name, with `#` and a number (2 or higher) appended if the name is in use.
    fn take(&mut self, name: String) -> String {
        let mut number = self.0.get(&name).copied().unwrap_or(0);
        let mut free = name.clone();
        while self.0.contains_key(&free) {
            number += 1;
            free = format!("{name}#{}", number + 1);
        }
        self.0.insert(free.clone(), 0);
        self.0.insert(name, number);
        free
    }
}

struct Writer<'g> {
    graph: &'g Graph,
    /// The types, tags and names that a reader of the text written so far will have built.
    declared: Declared,
    keys: HashMap<TypeId, String>,
    /// Maps each written node to the node that a reader builds for it.
    nodes: HashMap<NodeId, NodeId>,
    names: HashMap<TagId, String>,
    taken: Taken,
    out: String,
}

impl Writer<'_> {
    fn ty(&mut self, id: TypeId) {
        let name = self.graph.ty(id).name().map(escape);
        let built = self.type_decl(id).and_then(|decl| {
            let built = self.declared.add_type(&decl).map_err(|e| e.message().to_owned())?;
            self.declared.types.insert(decl.key().to_owned(), built);
            self.keys.insert(id, decl.key().to_owned());
            Ok((decl, built.node()))
        });
        self.entry("type", name, id.node(), built);
    }

    fn type_decl(&mut self, id: TypeId) -> Result<TypeDecl, String> {
        let node = self.graph.ty(id);
        let key = |ty: &TypeId| -> Result<String, String> {
            self.keys.get(ty).cloned().ok_or_else(|| "made of a type that is left out".to_owned())
        };
        let name = node.name().map(escape);
        if node.kind() == TypeKind::Malformed {
            return Err("malformed".to_owned());
        }
        if node.kind() == TypeKind::Root && name.is_none() {
            return match self.graph.operands(id.node()).next() {
                Some(Operand::Node(own)) if own == id.node() => {
                    Ok(TypeDecl::AnonymousRoot { key: self.taken.take("anonymous".to_owned()) })
                }
                None => Ok(TypeDecl::EmptyRoot { key: self.taken.take("empty".to_owned()) }),
                _ => Err("a root named by something else than a string".to_owned()),
            };
        }
        let name = name.ok_or("its identity is no string")?;
        let parent = || node.parent().as_ref().map_or(Err("no parent".to_owned()), key);
        // A struct whose only field is a struct at offset 0 has the form of a scalar, but the
        // builder refuses a scalar whose parent is a struct.
        let wraps_struct =
            node.parent().is_some_and(|parent| self.graph.ty(parent).kind() == TypeKind::Aggregate);
        let old_struct = node.kind() == TypeKind::Aggregate || wraps_struct;
        let mut decl = match (node.kind(), node.format()) {
            (TypeKind::Root, _) => TypeDecl::Root { name, key: None },
            (_, Format::New) => {
                let fields = node.fields().map(|field| {
                    let (ty, size) = (key(&field.ty)?, field.extent.unwrap_or(0));
                    Ok(SizedFieldDecl { name: String::new(), ty, offset: field.offset, size })
                });
                let fields = fields.collect::<Result<_, String>>()?;
                let size = node.size().unwrap_or(0);
                TypeDecl::Type { name, key: None, parent: parent()?, size, fields }
            }
            (_, Format::Old) if old_struct => {
                let fields = node.fields().map(|field| {
                    Ok(FieldDecl { name: String::new(), ty: key(&field.ty)?, offset: field.offset })
                });
                let fields = fields.collect::<Result<_, String>>()?;
                TypeDecl::Struct { name, key: None, fields }
            }
            (_, Format::Old) => TypeDecl::Scalar { name, key: None, parent: parent()? },
        };
        if let TypeDecl::Root { name, key }
        | TypeDecl::Scalar { name, key, .. }
        | TypeDecl::Struct { name, key, .. }
        | TypeDecl::Type { name, key, .. } = &mut decl
        {
            let free = self.taken.take(name.clone());
            *key = (free != *name).then_some(free);
        }
        Ok(decl)
    }

    fn tag(&mut self, id: TagId) {
        let built = self.tag_decl(id).and_then(|decl| {
            let built = self.declared.add_tag(&decl).map_err(|e| e.message().to_owned())?;
            self.declared.tags.insert(decl.name.clone(), built);
            self.names.insert(id, decl.name.clone());
            Ok((decl, self.declared.graph.tag_node(built)))
        });
        self.entry("tag", Some(id.index().to_string()), self.graph.tag_node(id), built);
    }

    fn tag_decl(&mut self, id: TagId) -> Result<TagDecl, String> {
        let tag = self.graph.tag(id).map_err(|malformed| malformed.to_string())?;
        let key = |ty| self.keys.get(ty).cloned().ok_or("of a type that is left out");
        let (base, access) = (key(&tag.base)?, key(&tag.access)?);
        let Tag { offset, immutable, .. } = tag;
        let whole = tag.is_whole() && offset == 0;
        let name = if whole { base.clone() } else { format!("{base}+{offset}") };
        let name = self.taken.take(name);
        let size = TagParts::size_number(self.graph, self.graph.tag_node(id));
        let size = size.filter(|&size| size != 0);
        Ok(TagDecl { name, base, access, offset, size, immutable })
    }

    fn copy(&mut self, id: CopyId) {
        let built = self.graph.copy(id).ok_or("malformed".to_owned()).and_then(|entries| {
            let entries = entries.into_iter().map(|entry| {
                let tag = self.names.get(&entry.tag).cloned();
                let tag = tag.ok_or("of a tag that is left out")?;
                Ok((entry.offset, entry.size, tag))
            });
            let decl = CopyDecl { entries: entries.collect::<Result<_, String>>()? };
            let built = self.declared.add_copy(&decl).map_err(|e| e.message().to_owned())?;
            Ok((decl, built.node()))
        });
        self.entry("struct copy", None, id.node(), built);
    }

    /// Writes an entry for `node`, or a comment that there is none. `entry` has the data and the
    /// node that a reader builds, or the reason why there is no entry.
    fn entry(
        &mut self,
        what: &str,
        name: Option<String>,
        node: NodeId,
        entry: Result<(impl Serialize, NodeId), String>,
    ) {
        let (entry, built) = match entry {
            Ok(entry) => entry,
            Err(reason) => {
                // The name is printed with escapes, because a newline would end the comment.
                let name = name.map_or_else(String::new, |name| format!(" {name:?}"));
                let reason = reason.escape_debug().to_string().replace("\\\"", "\"");
                self.out.push_str(&format!("        // left out: {what}{name}: {reason}\n"));
                return;
            }
        };
        self.note_change(node, built);
        let pretty = PrettyConfig::new().struct_names(true).compact_structs(true);
        let line = serialise(&entry, pretty.clone().compact_arrays(true));
        let text = if line.len() <= LINE { line } else { serialise(&entry, pretty) };
        for line in text.lines() {
            self.out.push_str(&format!("        {line}\n"));
        }
        self.out.insert(self.out.len() - 1, ',');
    }

    /// Notes that a reader builds `built` for `node`, and writes a comment if the two differ.
    fn note_change(&mut self, node: NodeId, built: NodeId) {
        self.nodes.insert(node, built);
        let reader = &self.declared.graph;
        let same = |(ours, theirs): (Operand<'_>, Operand<'_>)| match (ours, theirs) {
            (Operand::Node(ours), theirs) => self.nodes.get(&ours).copied() == theirs.node(),
            (ours, theirs) => ours == theirs,
        };
        let unchanged = self.graph.is_distinct(node) == reader.is_distinct(built)
            && self.graph.operand_count(node) == reader.operand_count(built)
            && self.graph.operands(node).zip(reader.operands(built)).all(same);
        if !unchanged {
            let remark = "        // rewritten: not what a builder makes (distinct, not i64)\n";
            self.out.push_str(remark);
        }
    }
}

fn serialise(entry: &impl Serialize, pretty: PrettyConfig) -> String {
    let text = options().to_string_pretty(entry, pretty.new_line("\n"));
    text.expect("strings, numbers and lists of them are written to a string")
}
