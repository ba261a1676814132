//! [`Input`], the module or spec that a command reads, and the names of its tags.

use std::path::Path;

use indexmap::IndexMap;
use tbaa::parts::encoding::Form;
use tbaa::raw::RawGraph;
use tbaa::spec::{Built, Spec, TypeDecl};
use tbaa::wellformed::Verifier;
use tbaa::{AliasRule, Field, Graph, NodeId, Tag, TagId, TypeId, TypeKind};
use tbaa_ir::{Keep, Module, Names, Numbering, TextError, TextErrorKind, position, read_or_return};

use crate::convert::{Origin, disassemble, how_to_make};
use crate::files::{is_bitcode, read_file, read_stdin};
use crate::printable::printable;
use crate::progress;
use crate::report::{Failure, Result, bail, note, place, warn};

#[derive(clap::Args)]
pub(crate) struct RulesArg {
    /// The alias rule: llvm, union or union-strict; by default what a spec says, or else llvm.
    #[arg(long, value_name = "RULES")]
    pub(crate) rules: Option<AliasRule>,
}

pub(crate) struct Input {
    pub(crate) file: String,
    pub(crate) content: Content,
    /// Tags of the spec that the user named, each with the name that the user wrote.
    pub(crate) asked: Vec<(TagId, String)>,
    is_compiled: bool,
}

#[expect(clippy::large_enum_variant, reason = "there is one of it")]
pub(crate) enum Content {
    Module(Module<'static>),
    /// A built spec, and its text.
    Spec(Built, Vec<u8>),
}

impl Input {
    fn new(file: String, content: Content) -> Self {
        Input { file, content, asked: Vec::new(), is_compiled: false }
    }

    /// Returns whether [`Input::open`] had clang make the text from C or C++.
    pub(crate) fn is_compiled(&self) -> bool {
        self.is_compiled
    }

    /// Reads an input that the command line names, and prints warnings.
    pub(crate) fn open<'a>(origin: impl Into<Origin<'a>>) -> Result<Input> {
        Self::open_keeping(origin, Keep::Used)
    }

    /// Like [`Input::open`], with a choice of the metadata nodes that a module keeps.
    pub(crate) fn open_keeping<'a>(origin: impl Into<Origin<'a>>, keep: Keep) -> Result<Input> {
        let origin = origin.into();
        let (file, text) = read(origin)?;
        if is_spec(origin.path, &text) {
            let built = load_spec(&file, &text)?;
            return Ok(Input::new(file, Content::Spec(built, text)));
        }
        let mut module = read_module(&file, text, keep)?;
        warn(module.warnings(), |warning| {
            let position = position(module.text(), warning.offset);
            (Some(place(&file, position)), warning.kind.to_string())
        });
        let graph = module.graph();
        if module.functions().len() == 0 && graph.tag_count() == 0 && graph.node_count() > 0 {
            let tags = guess_roles(&mut module);
            note(format!(
                "{file} has metadata and no instructions; {tags} of its nodes have the form of a tag, and are read as tags"
            ));
        } else if graph.tag_count() == 0 {
            note(format!(
                "{file} has no access tags: clang writes none at -O0 or with -fno-strict-aliasing, \
                 and rustc writes none at all"
            ));
        }
        let is_compiled = origin.is_compiled()?;
        Ok(Input { is_compiled, ..Input::new(file, Content::Module(module)) })
    }

    /// Reads a module from assembly text, without printing warnings.
    pub(crate) fn of_text(file: String, text: Vec<u8>) -> Result<Input> {
        let module = read_module(&file, text, Keep::Used)?;
        Ok(Input::new(file, Content::Module(module)))
    }

    /// Reads a module for its struct types, without printing warnings. Fails for a spec.
    pub(crate) fn open_for_types(origin: Origin<'_>) -> Result<Input> {
        let (file, text) = read(origin)?;
        if is_spec(origin.path, &text) {
            bail!("{file} is a spec, which has no LLVM types; name a .ll file");
        }
        Self::of_text(file, text)
    }

    pub(crate) fn wrong(&self, error: &TextError) -> Failure {
        Failure::at(&self.file, self.text(), error.offset, &error.kind)
    }

    pub(crate) fn text(&self) -> &[u8] {
        match &self.content {
            Content::Module(module) => module.text(),
            Content::Spec(_, text) => text,
        }
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Returns the module. Fails for a spec, which has no instructions.
    pub(crate) fn module(&self) -> Result<&Module<'_>> {
        match &self.content {
            Content::Module(module) => Ok(module),
            Content::Spec(..) => {
                bail!("{} is a spec, which has no instructions; name a .ll file", self.file)
            }
        }
    }

    pub(crate) fn graph(&self) -> &Graph {
        match &self.content {
            Content::Module(module) => module.graph(),
            Content::Spec(built, _) => built.graph(),
        }
    }

    /// Returns the numbers of nodes in a dump: the module's own, or new ones for a spec.
    pub(crate) fn numbering(&self) -> Numbering {
        match &self.content {
            Content::Module(module) => module.numbering(),
            Content::Spec(built, _) => Numbering::new(built.graph()),
        }
    }

    pub(crate) fn rules(&self, asked: Option<AliasRule>) -> AliasRule {
        asked.unwrap_or_else(|| match &self.content {
            Content::Module(_) => AliasRule::Llvm,
            Content::Spec(built, _) => built.spec().rules,
        })
    }

    /// Returns the named tags of a spec, or the [`listed_tags`] of a module, each with its name.
    pub(crate) fn rows(&self) -> Vec<(String, TagId)> {
        match &self.content {
            Content::Spec(built, _) => {
                built.tags().iter().map(|(name, &tag)| (name.clone(), tag)).collect()
            }
            Content::Module(module) => {
                listed_tags(module).into_iter().map(|tag| (self.label(tag), tag)).collect()
            }
        }
    }

    /// Returns a tag's label: `!8`, or else its operands; for a spec its name, or else its meaning.
    pub(crate) fn label(&self, tag: TagId) -> String {
        match &self.content {
            Content::Module(module) => reference(module, module.graph().tag_node(tag)),
            Content::Spec(built, _) => {
                let named = built.tags().iter().map(|(name, &known)| (name, known));
                let asked = self.asked.iter().map(|(known, path)| (path, *known));
                let name = named.chain(asked).find(|&(_, known)| known == tag);
                let meaning = || Names::of_graph(built.graph()).tag(tag);
                name.map_or_else(meaning, |(name, _)| name.clone())
            }
        }
    }

    pub(crate) fn names(&self) -> Names<'_> {
        match &self.content {
            Content::Module(module) => Names::of_module(module),
            Content::Spec(built, _) => Names::of_graph(built.graph()),
        }
    }

    /// Returns a tag's label and, except for a spec, its meaning: `!8 vec.len (long at 8 of vec)`.
    pub(crate) fn described(&self, names: &Names<'_>, tag: TagId) -> String {
        let label = printable(self.label(tag));
        match &self.content {
            Content::Module(_) => format!("{label} {}", printable(names.tag(tag))),
            Content::Spec(..) => label,
        }
    }

    /// Warns of tags that LLVM's verifier rejects, which may alias everything under rule `llvm`.
    /// Returns the number of these tags, or 0 under another rule.
    pub(crate) fn warn_rejected(
        &self,
        rules: AliasRule,
        tags: impl IntoIterator<Item = TagId>,
    ) -> usize {
        if rules != AliasRule::Llvm {
            return 0;
        }
        let mut verifier = Verifier::new(self.graph());
        let rejected = tags.into_iter().filter_map(|tag| Some((tag, verifier.check(tag).err()?)));
        let rejected: Vec<_> = rejected.collect::<IndexMap<_, _>>().into_iter().collect();
        warn(&rejected, |&(tag, violation)| {
            let (label, node) = (self.label(tag), self.graph().tag_node(tag));
            let within = match &self.content {
                Content::Module(module) if violation.node != node => {
                    format!(", in {}", reference(module, violation.node))
                }
                _ => String::new(),
            };
            let text = format!(
                "LLVM rejects tag {label}: {violation}{within}; rule llvm answers MayAlias to every \
                 query about it"
            );
            (self.place_of(node), text)
        });
        rejected.len()
    }

    /// Returns `file:line:column` of a node; for a spec only the file.
    fn place_of(&self, node: NodeId) -> Option<String> {
        let Content::Module(module) = &self.content else { return Some(self.file.clone()) };
        Some(place(&self.file, position(module.text(), module.offset_of(node)?)))
    }

    /// Returns the name of a field of the type `ty` in the spec: see [`Input::field_name`].
    pub(crate) fn name_of_field(&self, ty: TypeId, at: usize, field: &Field) -> Option<&str> {
        let name = self.graph().ty(ty).name().unwrap_or_default();
        self.field_name(&String::from_utf8_lossy(name), at, field.offset)
    }

    /// Returns the name of a field in the spec or in debug information.
    pub(crate) fn any_name_of_field(
        &self,
        names: &Names<'_>,
        ty: TypeId,
        at: usize,
        field: &Field,
    ) -> Option<String> {
        if let Some(name) = self.name_of_field(ty, at, field) {
            return Some(name.to_owned());
        }
        let (format, access, offset) = (self.graph().ty(ty).format(), field.ty, field.offset);
        let tag = Tag { base: ty, access, offset, size: None, immutable: false, format };
        let place = names.place_of(&tag);
        let path = place.strip_prefix(names.ty(ty).as_str())?.strip_prefix('.')?;
        // A path to a struct without a name continues to its first scalar: cut that off.
        let of = self.graph().ty(access);
        let unnamed = of.kind() == TypeKind::Aggregate && of.name().is_none_or(<[u8]>::is_empty);
        Some(path.split('.').next().filter(|_| unnamed).unwrap_or(path).to_owned())
    }

    /// Returns a field's name in the spec; `None` if unknown, or if types named `ty` disagree.
    pub(crate) fn field_name(&self, ty: &str, field: usize, offset: u64) -> Option<&str> {
        let Content::Spec(built, _) = &self.content else { return None };
        let named = built.spec().types.iter().filter_map(|decl| match decl {
            TypeDecl::Struct { name, fields, .. } if name == ty => {
                Some(fields.get(field).map(|field| (&field.name, field.offset)))
            }
            TypeDecl::Type { name, fields, .. } if name == ty => {
                Some(fields.get(field).map(|field| (&field.name, field.offset)))
            }
            _ => None,
        });
        let mut found = None;
        for name in named {
            let (name, _) = name.filter(|&(_, at)| at == offset)?;
            if *found.get_or_insert(name) != name {
                return None;
            }
        }
        found.map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Returns the text of a tag that need not be in the graph, with `size` as its size operand.
    pub(crate) fn tag_text(&self, tag: &Tag, size: Option<u64>) -> String {
        match &self.content {
            Content::Module(module) => {
                let [base, access] = [tag.base, tag.access].map(|ty| reference(module, ty.node()));
                // LLVM prints `i64` as a signed number.
                let size = size.map(|size| format!(", i64 {}", size as i64)).unwrap_or_default();
                let immutable = if tag.immutable { ", i64 1" } else { "" };
                format!("!{{{base}, {access}, i64 {}{size}{immutable}}}", tag.offset as i64)
            }
            Content::Spec(built, _) => {
                let key = |ty: TypeId| {
                    let known = built.types().iter().find(|&(_, &known)| known == ty);
                    // A declared type has a name instead of a key.
                    let name = || printable(built.graph().ty(ty).name().unwrap_or(b"?"));
                    known.map_or_else(name, |(key, _)| key.clone())
                };
                let size = size.map(|size| format!(", size: {size}")).unwrap_or_default();
                let immutable = if tag.immutable { ", immutable: true" } else { "" };
                let ([base, access], offset) = ([tag.base, tag.access].map(key), tag.offset);
                format!("(base: {base:?}, access: {access:?}, offset: {offset}{size}{immutable})")
            }
        }
    }
}

/// Returns the attached tags in order of first appearance, or if there are none, all tags.
pub(crate) fn listed_tags(module: &Module<'_>) -> Vec<TagId> {
    let attached = module.attached_tags();
    if attached.is_empty() { module.graph().tags().collect() } else { attached }
}

/// Returns the text of a node of a module: its number, or its operands if it has none. The
/// recursion ends: inline nodes nest to a limited depth, and every cycle has a numbered node.
pub(crate) fn reference(module: &Module<'_>, node: NodeId) -> String {
    if let Some(number) = module.number_of(node) {
        return format!("!{number}");
    }
    let inner = |inner| reference(module, inner);
    format!("!{{{}}}", tbaa_ir::write_operands(module.graph(), node, inner))
}

pub(crate) fn load_spec(file: &str, text: &[u8]) -> Result<Built> {
    let text = std::str::from_utf8(text).map_err(|error| {
        Failure::at(file, text, error.valid_up_to(), "a spec must be UTF-8, and this byte is not")
    })?;
    Spec::load(text).map_err(|error| {
        let mut lines = text.split_inclusive('\n');
        let before: usize = lines.by_ref().take(error.line() - 1).map(str::len).sum();
        let line = lines.next().unwrap_or_default().trim_end_matches('\n');
        let column = line.char_indices().nth(error.column() - 1).map_or(line.len(), |at| at.0);
        Failure::at(file, text.as_bytes(), before + column, error.message())
    })
}

pub(crate) fn read_module(file: &str, text: Vec<u8>, keep: Keep) -> Result<Module<'static>> {
    read_or_return(text.into(), keep).map_err(|(error, text)| {
        let is_blank = |line: &[u8]| matches!(line.trim_ascii_start().first(), None | Some(b';'));
        let is_first = text[..error.offset].split(|&byte| byte == b'\n').all(is_blank);
        let mut message = error.kind.to_string();
        if is_first && matches!(error.kind, TextErrorKind::Expected { .. }) {
            message =
                format!("this is not LLVM assembly: {message}, and a spec's name must end in .ron");
        }
        Failure::at(file, &text, error.offset, message)
    })
}

/// Reads the text of an input, converted if needed. Returns the name for messages too.
fn read(origin: Origin<'_>) -> Result<(String, Vec<u8>)> {
    let is_compiled = origin.is_compiled()?;
    let (file, text) = match origin.path.as_os_str() == "-" {
        true => read_stdin()?,
        false => read_file(origin.path)?,
    };
    progress::doing(format!("at work on {file}"));
    // Findings refer to lines of the assembly text, not of the original file.
    let converted = || format!("{file} as assembly");
    if is_compiled {
        return Ok((converted(), origin.compile(&text)?));
    }
    if let Some(how) = how_to_make(origin.path) {
        bail!("{file} is not LLVM assembly: {how}; give the .ll file");
    }
    if is_bitcode(&text) {
        return Ok((converted(), disassemble(&text)?));
    }
    Ok((file, text))
}

/// Returns whether an input is a spec: by its extension, or on standard input by its beginning.
fn is_spec(path: &Path, text: &[u8]) -> bool {
    if path.as_os_str() != "-" {
        return path.extension().is_some_and(|extension| extension == "ron");
    }
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_start);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"//"));
    first.is_some_and(|line| {
        [b"(".as_slice(), b"Spec", b"#!["].iter().any(|start| line.starts_with(start))
    })
}

/// Marks nodes as tags, types or copies by the form of their operands. Returns the number of tags.
fn guess_roles(module: &mut Module<'_>) -> usize {
    let nodes = module.graph().nodes();
    let mut roles: Vec<_> = nodes.map(|node| (node, Form::of(module.graph(), node))).collect();
    // Marking a `!tbaa.struct` node also adds tags for its entries, so these nodes come last.
    roles.sort_by_key(|&(node, role)| (role == Some(Form::Copy), module.offset_of(node)));
    let graph = module.graph_mut();
    for (node, role) in roles {
        match role {
            Some(Form::Tag) => drop(graph.mark_tag(node)),
            Some(Form::Copy) => drop(graph.mark_copy(node)),
            Some(Form::Type) => drop(graph.mark_type(node)),
            None => {}
        }
    }
    graph.tag_count()
}
