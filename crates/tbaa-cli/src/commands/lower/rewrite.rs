//! A module with its tags replaced, and scopes added.

use std::collections::HashMap;
use std::io::Write;

use tbaa::parts::{TAGS, TYPES};
use tbaa::types::TypeKind;
use tbaa::{Access, Graph, NodeId, Oracle, Size, TagId};
use tbaa_ir::{Instruction, Module, Opcode, Rewriter, Sizes, TextError};
use tbaa_lower::{AccessClasses, LowerError, Lowering, Source};

use crate::input::Input;
use crate::printable::printable;
use crate::report::Result;

/// The accesses of a module: each tag, and beside it each access that is wider than its tag says.
pub(super) fn sources(module: &Module<'_>, sizes: &Sizes) -> Vec<Source> {
    let mut sources: Vec<Source> = Vec::new();
    for instruction in module.instructions() {
        sources.extend(instruction.tag.map(|tag| source(module, sizes, tag, instruction)));
        let copy = instruction.copy.and_then(|copy| module.graph().copy(copy));
        for entry in copy.into_iter().flatten() {
            sources.push(of_width(module.graph(), entry.tag, entry.size));
        }
    }
    sources.extend(module.errno_tags().iter().map(Source::from));
    sources
}

/// A tag as a source, with the bytes of the access where these are more than the tag says, or are not known.
fn source(module: &Module<'_>, sizes: &Sizes, tag: TagId, instruction: &Instruction) -> Source {
    if !matches!(instruction.opcode, Opcode::Load | Opcode::Store) {
        return tag.into();
    }
    let ty = sizes.ty(module.access_type(instruction));
    let is_scalar = |kind: TypeKind<'_>| {
        matches!(kind, TypeKind::Primitive(_) | TypeKind::Int(_) | TypeKind::Pointer { .. })
    };
    let scalar = ty.is_some_and(|ty| sizes.with_kind(ty, is_scalar));
    let size = ty.and_then(|ty| sizes.size_of(ty)).filter(|ty| !ty.scalable);
    match size.map(|size| size.store) {
        Some(bytes) => of_width(module.graph(), tag, bytes),
        None if scalar => tag.into(),
        None => Source::sized(tag, Size::Unknown),
    }
}

/// A tag as the source of an access of so many bytes.
fn of_width(graph: &Graph, tag: TagId, bytes: u64) -> Source {
    match Access::of_width(graph, tag, bytes).size {
        Some(size) => Source::sized(tag, size),
        None => tag.into(),
    }
}

/// Metadata on its way into a module, each node once.
struct Definitions<'d, 't> {
    rewriter: &'d mut Rewriter<'t>,
    nodes: tbaa::parts::table::HashMap<NodeId, u32>,
    lists: HashMap<String, u32>,
    /// The operands of the lists in the text, by number, once asked for.
    there: Option<HashMap<&'t str, &'t str>>,
}

impl<'t> Definitions<'_, 't> {
    /// Attaches scopes to an instruction, beside those in the text. These are of
    /// other domains, and LLVM looks at each domain for itself.
    fn add_scopes(
        &mut self,
        text: &'t [u8],
        instruction: usize,
        kind: &'t str,
        scopes: &[u32],
    ) -> Result<(), TextError> {
        let mut operands = references(scopes);
        if let Some(node) = self.rewriter.metadata(instruction, kind) {
            let lists = self.there.get_or_insert_with(|| lists(text));
            match std::str::from_utf8(node).ok().and_then(|node| listed(lists, node)) {
                Some("") => {}
                Some(there) => operands = format!("{there}, {operands}"),
                // A list that cannot be read stays: without ours LLVM knows less.
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
        self.rewriter.set_metadata(instruction, kind, Some(number));
        Ok(())
    }
}

/// The operands of each node of a text that is a list of nodes alone, by its reference.
fn lists(text: &[u8]) -> HashMap<&str, &str> {
    let lines = text.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"!"));
    let lines = lines.filter_map(|line| std::str::from_utf8(line).ok());
    lines
        .filter_map(|line| {
            let (reference, body) = line.split_once(" = ")?;
            Some((reference, operands(body.strip_prefix("distinct ").unwrap_or(body))?))
        })
        .collect()
}

/// The operands of a list of nodes alone.
fn operands(list: &str) -> Option<&str> {
    let inside = list.trim().strip_prefix("!{")?.strip_suffix('}')?;
    let plain = |at: char| at.is_ascii_digit() || matches!(at, '!' | ',' | ' ');
    inside.chars().all(plain).then_some(inside)
}

/// The operands of a list that is a reference or written in place.
fn listed<'t>(lists: &HashMap<&'t str, &'t str>, node: &'t str) -> Option<&'t str> {
    lists.get(node).copied().or_else(|| operands(node))
}

fn references(numbers: &[u32]) -> String {
    numbers.iter().map(|number| format!("!{number}")).collect::<Vec<_>>().join(", ")
}

/// The classes of a module's accesses, calls left out.
pub(super) fn classes(
    module: &Module<'_>,
    sizes: &Sizes,
    oracle: &Oracle<&Graph>,
) -> Result<AccessClasses, LowerError> {
    let accesses =
        module.instructions().iter().filter(|instruction| instruction.opcode != Opcode::Call);
    let of = |instruction: &Instruction| {
        Some(access(source(module, sizes, instruction.tag?, instruction)))
    };
    AccessClasses::closed(oracle, accesses.filter_map(of))
}

/// Writes the module with its tags replaced.
pub(super) fn rewrite(
    input: &Input,
    module: &Module<'_>,
    sizes: &Sizes,
    lowering: &Lowering,
    classes: Option<&AccessClasses>,
    out: &mut dyn Write,
) -> Result {
    let text = rewritten(module, sizes, lowering, classes).map_err(|error| input.wrong(&error))?;
    Ok(out.write_all(&text)?)
}

fn rewritten(
    module: &Module<'_>,
    sizes: &Sizes,
    lowering: &Lowering,
    classes: Option<&AccessClasses>,
) -> Result<Vec<u8>, TextError> {
    let graph = lowering.graph();
    let mut rewriter = Rewriter::new(module);
    let nodes = rewriter.define_graph(graph)?;
    let mut definitions =
        Definitions { rewriter: &mut rewriter, nodes, lists: HashMap::new(), there: None };
    let scopes = write_scopes(lowering, &mut definitions)?;
    let class_scopes = classes.map(|class| write_classes(class, &mut definitions)).transpose()?;
    let mut copies: HashMap<NodeId, Option<u32>> = HashMap::new();
    for (index, instruction) in module.instructions().iter().enumerate() {
        if let Some(tag) = instruction.tag {
            let access = access(source(module, sizes, tag, instruction));
            let number = lowering.tag(access).map(|tag| definitions.nodes[&graph.tag_node(tag)]);
            definitions.rewriter.set_metadata(index, "tbaa", number);
            let class = classes.filter(|_| instruction.opcode != Opcode::Call);
            if let (Some(class), Some(scopes)) =
                (class.and_then(|class| class.of(access)), &class_scopes)
            {
                let own = [scopes[class as usize]];
                definitions.add_scopes(module.text(), index, "alias.scope", &own)?;
            }
            if let Some(of) = lowering.scopes_of(access) {
                let own = [scopes[of.scope as usize]];
                let apart: Vec<u32> = of.noalias().map(|scope| scopes[scope as usize]).collect();
                definitions.add_scopes(module.text(), index, "alias.scope", &own)?;
                if !apart.is_empty() {
                    definitions.add_scopes(module.text(), index, "noalias", &apart)?;
                }
            }
        }
        if let Some(copy) = instruction.copy {
            let number = match copies.get(&copy.node()) {
                Some(&number) => number,
                None => {
                    let number = write_copy(module, copy, lowering, &mut definitions)?;
                    copies.insert(copy.node(), number);
                    number
                }
            };
            definitions.rewriter.set_metadata(index, "tbaa.struct", number);
        }
    }
    // Without the list nothing is known of `errno`.
    let errno: Option<Vec<u32>> = module
        .errno_tags()
        .iter()
        .map(|&tag| Some(definitions.nodes[&graph.tag_node(lowering.tag(tag)?)]))
        .collect();
    if !module.errno_tags().is_empty() {
        rewriter.set_named_metadata("llvm.errno.tbaa", errno);
    }
    // These lists name the old tags and types. LLVM reads neither.
    rewriter.set_named_metadata(TAGS, None);
    rewriter.set_named_metadata(TYPES, None);
    rewriter.to_bytes()
}

/// Defines the classes' relation and their scopes; returns the scopes' numbers.
fn write_classes(
    classes: &AccessClasses,
    definitions: &mut Definitions<'_, '_>,
) -> Result<Vec<u32>, TextError> {
    let name = classes.domain();
    let domain = definitions.rewriter.define(format_args!("!{{!\"{name}\"}}"))?;
    let rows: String = classes.rows().map(|row| format!(", !\"{row}\"")).collect();
    let relation = definitions.rewriter.define(format_args!("!{{!\"{name}\"{rows}}}"))?;
    definitions.rewriter.set_named_metadata("tbaa.relations", Some(vec![relation]));
    let scope = |class| {
        let name = classes.name(class);
        definitions.rewriter.define(format_args!("!{{!\"{name}\", !{domain}}}"))
    };
    (0..classes.rows().len() as u32).map(scope).collect()
}

fn access(source: Source) -> Access {
    let access = Access::from(source.tag);
    source.size.map_or(access, |size| access.with_size(size))
}

/// Defines the domain and the scopes; returns the scopes' numbers.
fn write_scopes(
    lowering: &Lowering,
    definitions: &mut Definitions<'_, '_>,
) -> Result<Vec<u32>, TextError> {
    if lowering.scope_names().is_empty() {
        return Ok(Vec::new());
    }
    let name = |name: &str| printable(name.as_bytes()).replace(['"', '\\'], "?");
    let domain = name(&lowering.scope_domain());
    let domain = definitions.rewriter.define(format_args!("!{{!\"{domain}\"}}"))?;
    let scope = |scope: &String| {
        definitions.rewriter.define(format_args!("!{{!\"{}\", !{domain}}}", name(scope)))
    };
    lowering.scope_names().iter().map(scope).collect()
}

/// Defines a struct copy with lowered tags; `None` where one of its accesses
/// has none, for what a copy does not list is padding.
fn write_copy(
    module: &Module<'_>,
    copy: tbaa::CopyId,
    lowering: &Lowering,
    definitions: &mut Definitions<'_, '_>,
) -> Result<Option<u32>, TextError> {
    let Some(entries) = module.graph().copy(copy) else { return Ok(None) };
    let mut operands = Vec::new();
    for entry in entries {
        let of = access(of_width(module.graph(), entry.tag, entry.size));
        let Some(tag) = lowering.tag(of) else { return Ok(None) };
        let tag = definitions.nodes[&lowering.graph().tag_node(tag)];
        operands.push(format!("i64 {}, i64 {}, !{tag}", entry.offset, entry.size));
    }
    definitions.rewriter.define(format_args!("!{{{}}}", operands.join(", "))).map(Some)
}
