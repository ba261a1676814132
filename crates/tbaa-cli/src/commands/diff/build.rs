//! One of the two builds that `tbaa diff` compares: its accesses, function by function.

use indexmap::IndexMap;
use tbaa::{AliasRule, Graph, Oracle, TagId};
use tbaa_ir::{DebugInfo, Instruction, Names, Opcode};

use crate::find::by_function;
use crate::input::{Content, Input};
use crate::printable::{function_name, printable};
use crate::render::Source;

/// An access's opcode and type, or `None` and the name of a spec's tag.
pub(super) type Key<'a> = (Option<Opcode>, &'a [u8]);

/// A load, store or other access of a module, or a tag of a spec.
#[derive(Clone, Copy)]
pub(super) struct BuildAccess<'a> {
    pub(super) key: Key<'a>,
    pub(super) tag: Option<TagId>,
    pub(super) writes: bool,
    instruction: Option<&'a Instruction>,
}

pub(super) struct Function<'a> {
    /// The name by which the functions of two builds are matched.
    pub(super) symbol: &'a [u8],
    pub(super) name: String,
    pub(super) accesses: Vec<BuildAccess<'a>>,
}

pub(super) struct Build<'a> {
    pub(super) input: &'a Input,
    pub(super) rules: AliasRule,
    pub(super) oracle: Oracle<&'a Graph>,
    pub(super) functions: Vec<Function<'a>>,
    names: Names<'a>,
    /// `None` for a spec.
    debug: Option<DebugInfo<'a>>,
    source: Source<'a>,
}

impl<'a> Build<'a> {
    pub(super) fn new(input: &'a Input, rules: AliasRule) -> Build<'a> {
        Build {
            input,
            rules,
            oracle: Oracle::new(input.graph(), rules),
            functions: functions(input),
            names: input.names(),
            debug: input.module().ok().map(DebugInfo::new),
            source: Source::new(input.file(), input.text()),
        }
    }

    pub(super) fn without_tags(mut self) -> Build<'a> {
        let accesses = self.functions.iter_mut().flat_map(|function| &mut function.accesses);
        accesses.for_each(|access| access.tag = None);
        self
    }

    /// Returns the tags of all accesses in order of appearance, each with its number of accesses.
    pub(super) fn tags(&self) -> Vec<(TagId, u64)> {
        let mut tags: IndexMap<TagId, u64> = IndexMap::new();
        let accesses = self.functions.iter().flat_map(|function| &function.accesses);
        for tag in accesses.filter_map(|access| access.tag) {
            *tags.entry(tag).or_default() += 1;
        }
        tags.into_iter().collect()
    }

    pub(super) fn meaning(&self, tag: TagId) -> String {
        printable(self.names.tag(tag))
    }

    /// Returns an access's line in the source or in the assembly text, or the name of a spec's tag.
    pub(super) fn place(&self, access: &BuildAccess<'_>) -> String {
        let Some(instruction) = access.instruction else { return printable(access.key.1) };
        let (debug, offset) = (self.debug.as_ref(), instruction.offset as usize);
        match debug.and_then(|debug| debug.location_near(offset)) {
            Some(at) => format!("{}:{}", printable(at.file), at.line),
            None => format!("{}:{}", self.input.file(), self.source.position(offset).0),
        }
    }

    pub(super) fn words(&self, access: &BuildAccess<'_>) -> String {
        let what = match access.key.0 {
            Some(Opcode::Load) => "load",
            Some(Opcode::Store) => "store",
            Some(Opcode::Call) => "call",
            Some(_) => "access",
            None => "tag",
        };
        match access.tag {
            Some(tag) => format!("{what} {}", self.meaning(tag)),
            None => format!("{what} without a tag"),
        }
    }
}

fn functions(input: &Input) -> Vec<Function<'_>> {
    let module = match &input.content {
        Content::Module(module) => module,
        Content::Spec(built, _) => {
            let tags = built.tags().iter().map(|(name, &tag)| BuildAccess {
                key: (None, name.as_bytes()),
                tag: Some(tag),
                writes: true,
                instruction: None,
            });
            let (name, accesses) = ("tags".to_owned(), tags.collect());
            return vec![Function { symbol: b"tags", name, accesses }];
        }
    };
    let is_listed = |it: &&Instruction| it.opcode.accesses_memory() || it.tag.is_some();
    let functions = by_function(module).map(|(symbol, all)| {
        let accesses = all.iter().filter(is_listed).map(|instruction| BuildAccess {
            key: (Some(instruction.opcode), module.access_type(instruction)),
            tag: instruction.tag,
            writes: instruction.opcode != Opcode::Load,
            instruction: Some(instruction),
        });
        let accesses = accesses.collect();
        Function { symbol, name: format!("@{}", function_name(symbol)), accesses }
    });
    functions.collect()
}
