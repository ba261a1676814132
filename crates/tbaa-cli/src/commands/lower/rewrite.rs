//! Rewrites a module for `tbaa lower`: replaces its tags and adds alias scopes.

use std::collections::HashMap;

use tbaa::parts::{TAGS, TYPES};
use tbaa::{Access, CopyId, Graph, NodeId, Oracle, TagId};
use tbaa_ir::{Module, Opcode, Rewriter, Sizes, TextError};
use tbaa_lower::{AccessClasses, LowerError, Lowering, Source};

use crate::find::access_of;
use crate::printable::printable;

/// Returns the tags to lower: of instructions, `!tbaa.struct` entries and `!llvm.errno.tbaa`.
pub(super) fn sources(module: &Module<'_>, sizes: &Sizes) -> Vec<Source> {
    let mut sources: Vec<Source> = Vec::new();
    for instruction in module.instructions() {
        sources.extend(source(access_of(module, sizes, instruction)));
        let copy = instruction.copy.and_then(|copy| module.graph().copy(copy));
        for entry in copy.into_iter().flatten() {
            sources.extend(source(Access::of_width(module.graph(), entry.tag, entry.size)));
        }
    }
    sources.extend(module.errno_tags().iter().map(Source::from));
    sources
}

/// Returns a tag to lower, with the access's size, if any.
fn source(access: Access) -> Option<Source> {
    let tag = access.tag?;
    Some(access.size.map_or(tag.into(), |size| Source::sized(tag, size)))
}

struct Definitions<'t> {
    text: &'t [u8],
    rewriter: Rewriter<'t>,
    nodes: tbaa::parts::table::HashMap<NodeId, u32>,
    lists: HashMap<String, u32>,
    /// The operands of each metadata list in the text, by its reference (`!8`), once needed.
    there: Option<HashMap<&'t str, &'t str>>,
}

impl<'t> Definitions<'t> {
    /// Adds scopes to an instruction's list `kind`. LLVM compares each domain's scopes separately.
    fn add_scopes(&mut self, at: usize, kind: &'t str, scopes: &[u32]) -> Result<(), TextError> {
        let scopes: Vec<_> = scopes.iter().map(|number| format!("!{number}")).collect();
        let mut operands = scopes.join(", ");
        if let Some(node) = self.rewriter.metadata(at, kind) {
            let lists = self.there.get_or_insert_with(|| lists(self.text));
            let listed = |node| lists.get(node).copied().or_else(|| self::operands(node));
            match std::str::from_utf8(node).ok().and_then(listed) {
                Some("") => {}
                Some(there) => operands = format!("{there}, {operands}"),
                // Keep a list that cannot be parsed. Without the new scopes LLVM only knows less.
                None => return Ok(()),
            }
        }
        let number = match self.lists.get(&operands) {
            Some(&number) => number,
            None => {
                let number = self.rewriter.define(format_args!("!{{{operands}}}"))?;
                self.lists.insert(operands, number);
                number
            }
        };
        self.rewriter.set_metadata(at, kind, Some(number));
        Ok(())
    }

    /// Defines scopes for access classes, and the rows of [`AccessClasses`]. Returns scope numbers.
    fn classes(&mut self, classes: &AccessClasses) -> Result<Vec<u32>, TextError> {
        let name = classes.domain();
        let domain = self.rewriter.define(format_args!("!{{!\"{name}\"}}"))?;
        let rows: String = classes.rows().map(|row| format!(", !\"{row}\"")).collect();
        let relation = self.rewriter.define(format_args!("!{{!\"{name}\"{rows}}}"))?;
        self.rewriter.set_named_metadata("tbaa.relations", Some(vec![relation]));
        let scope = |class| {
            let name = classes.name(class);
            self.rewriter.define(format_args!("!{{!\"{name}\", !{domain}}}"))
        };
        (0..classes.rows().len() as u32).map(scope).collect()
    }

    /// Defines the scopes of `lowering`, and their domain. Returns the numbers of the scope nodes.
    fn scopes(&mut self, lowering: &Lowering) -> Result<Vec<u32>, TextError> {
        if lowering.scope_names().is_empty() {
            return Ok(Vec::new());
        }
        let name = |name: &str| printable(name).replace(['"', '\\'], "?");
        let domain = name(&lowering.scope_domain());
        let domain = self.rewriter.define(format_args!("!{{!\"{domain}\"}}"))?;
        let scope = |scope: &String| {
            self.rewriter.define(format_args!("!{{!\"{}\", !{domain}}}", name(scope)))
        };
        lowering.scope_names().iter().map(scope).collect()
    }

    /// Defines a `!tbaa.struct` node with lowered tags. Returns `None` if a tag was not lowered,
    /// because LLVM takes bytes without an entry for padding.
    fn copy(
        &mut self,
        graph: &Graph,
        copy: CopyId,
        lowering: &Lowering,
    ) -> Result<Option<u32>, TextError> {
        let Some(entries) = graph.copy(copy) else { return Ok(None) };
        let mut operands = Vec::new();
        for entry in entries {
            let of = Access::of_width(graph, entry.tag, entry.size);
            let Some(tag) = lowering.tag(of) else { return Ok(None) };
            let tag = self.nodes[&lowering.graph().tag_node(tag)];
            operands.push(format!("i64 {}, i64 {}, !{tag}", entry.offset, entry.size));
        }
        self.rewriter.define(format_args!("!{{{}}}", operands.join(", "))).map(Some)
    }
}

/// Maps the reference (`!8`) of each metadata node to its operands, if these are all nodes.
fn lists(text: &[u8]) -> HashMap<&str, &str> {
    let lines = text.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"!"));
    let list = |line| {
        let (reference, body) = std::str::from_utf8(line).ok()?.split_once(" = ")?;
        Some((reference, operands(body.strip_prefix("distinct ").unwrap_or(body))?))
    };
    lines.filter_map(list).collect()
}

/// Returns the operands of a metadata node, if they are all nodes.
fn operands(list: &str) -> Option<&str> {
    let inside = list.trim().strip_prefix("!{")?.strip_suffix('}')?;
    let plain = |at: char| at.is_ascii_digit() || matches!(at, '!' | ',' | ' ');
    inside.chars().all(plain).then_some(inside)
}

/// Groups a module's tagged accesses, except calls, into classes: see [`AccessClasses`].
pub(super) fn classes(
    module: &Module<'_>,
    sizes: &Sizes,
    oracle: &Oracle<&Graph>,
) -> Result<AccessClasses, LowerError> {
    let accesses = module.instructions().iter().filter(|it| it.opcode != Opcode::Call);
    let tagged = accesses.filter(|it| it.tag.is_some());
    AccessClasses::closed(oracle, tagged.map(|it| access_of(module, sizes, it)))
}

pub(super) fn rewrite(
    module: &Module<'_>,
    sizes: &Sizes,
    lowering: &Lowering,
    classes: Option<&AccessClasses>,
) -> Result<Vec<u8>, TextError> {
    let graph = lowering.graph();
    let (text, mut rewriter) = (module.text(), Rewriter::new(module));
    let nodes = rewriter.define_graph(graph)?;
    let mut to = Definitions { text, rewriter, nodes, lists: HashMap::new(), there: None };
    let scopes = to.scopes(lowering)?;
    let class_scopes = classes.map(|classes| to.classes(classes)).transpose()?;
    let mut copies: HashMap<NodeId, Option<u32>> = HashMap::new();
    for (index, instruction) in module.instructions().iter().enumerate() {
        if instruction.tag.is_some() {
            let access = access_of(module, sizes, instruction);
            let number = lowering.tag(access).map(|tag| to.nodes[&graph.tag_node(tag)]);
            to.rewriter.set_metadata(index, "tbaa", number);
            let class = classes.filter(|_| instruction.opcode != Opcode::Call);
            let class = class.and_then(|classes| classes.of(access));
            if let (Some(class), Some(scopes)) = (class, &class_scopes) {
                to.add_scopes(index, "alias.scope", &[scopes[class as usize]])?;
            }
            if let Some(of) = lowering.scopes_of(access) {
                let apart: Vec<u32> = of.noalias().map(|scope| scopes[scope as usize]).collect();
                to.add_scopes(index, "alias.scope", &[scopes[of.scope as usize]])?;
                if !apart.is_empty() {
                    to.add_scopes(index, "noalias", &apart)?;
                }
            }
        }
        if let Some(copy) = instruction.copy {
            let number = match copies.get(&copy.node()) {
                Some(&number) => number,
                None => to.copy(module.graph(), copy, lowering)?,
            };
            copies.insert(copy.node(), number);
            to.rewriter.set_metadata(index, "tbaa.struct", number);
        }
    }
    // If a tag was not lowered, drop the list: LLVM then assumes nothing about `errno`.
    let node = |&tag: &TagId| Some(to.nodes[&graph.tag_node(lowering.tag(tag)?)]);
    let errno: Option<Vec<u32>> = module.errno_tags().iter().map(node).collect();
    if !module.errno_tags().is_empty() {
        to.rewriter.set_named_metadata("llvm.errno.tbaa", errno);
    }
    // These lists name the old tags and types. LLVM does not read them.
    to.rewriter.set_named_metadata(TAGS, None);
    to.rewriter.set_named_metadata(TYPES, None);
    to.rewriter.to_bytes()
}
