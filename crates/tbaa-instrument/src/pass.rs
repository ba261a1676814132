//! What the pass over a module holds, and how it calls the runtime.

use std::cell::OnceCell;
use std::fmt::{Display, Write};

use super::Form;
use super::attributes::number;
use super::check::Direction;
use super::outcome::{SkipReason, Skipped};
use super::table::{Site, Table};
use tbaa::parts::table::{HashMap, HashSet};
use tbaa::{AliasRule, Graph, Oracle, TagId};
use tbaa_ir::{
    DebugInfo, Edits, Effects, Function, Global, Groups, Inst, MemorySize, Module, Names, Pointers,
    Sizes, Value,
};
use tbaa_types::{Type, TypeKind};

/// What is known of the module, and what is made of it so far.
pub(super) struct Pass<'t> {
    pub(super) form: Form,
    pub(super) module: &'t Module<'t>,
    pub(super) sizes: &'t Sizes,
    pub(super) edits: Edits,
    /// Functions with a body that gets checks.
    pub(super) checked: HashSet<&'t [u8]>,
    pub(super) globals: HashMap<&'t [u8], Global<'t>>,
    pub(super) effects: &'t Effects<'t>,
    /// What functions write through their arguments, of those asked about.
    pub(super) written: HashMap<&'t [u8], u32>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) table: Table,
    pub(super) debug: DebugInfo<'t>,
    pub(super) names: Names<'t>,
    pub(super) groups: Groups<'t>,
    /// Tags that may alias all memory under their root.
    pub(super) universal: Vec<bool>,
    /// Set if a tag calls memory constant: then every write is told of.
    pub(super) has_constants: bool,
    pub(super) next_number: Option<u32>,
    /// Locations and tags that the text does not have.
    pub(super) nodes: String,
    /// The name under which the module has `llvm.stacksave`, once that is asked.
    pub(super) stack_save: Option<&'static str>,
    /// What is attached to calls of the runtime: they access none of the
    /// program's memory.
    pub(super) own_tag: String,
    /// What each rule says of the module's tags, once that is asked.
    pub(super) oracles: OnceCell<[Oracle<&'t Graph>; 3]>,
}

/// The function that the pass is in.
pub(super) struct Current<'p, 't> {
    pub(super) pass: &'p mut Pass<'t>,
    pub(super) function: &'p Function<'t>,
    pub(super) pointers: &'p Pointers<'t>,
    pub(super) name: &'t [u8],
    /// Stores that look at what is there.
    pub(super) looking: HashSet<usize>,
    /// The `DISubprogram`.
    pub(super) subprogram: Option<u32>,
    /// The number of a location in it without a line.
    pub(super) location: Option<u32>,
    /// Values that are inserted are named by their numbers.
    pub(super) values: u32,
    /// Stack slots that stay in memory.
    pub(super) slots: HashMap<Value, Slot>,
    /// Those of which nothing can be reported.
    pub(super) own: HashSet<Value>,
    pub(super) swift_errors: HashSet<Value>,
    /// Where the stack ends before what the function allocates there while it runs, if it does.
    pub(super) stack: Option<String>,
}

/// A stack slot whose place is known wherever the function ends.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    /// In bytes.
    pub(super) size: u64,
    /// Whether `llvm.lifetime.start` says when it begins.
    pub(super) marked: bool,
    /// Whether it begins at a multiple of 4 bytes, so that it shares no granule with others.
    pub(super) whole: bool,
}

impl<'t> Pass<'t> {
    /// The rules that a program may be run by.
    pub(super) fn oracles(&self) -> &[Oracle<&'t Graph>; 3] {
        let oracle = |rule| Oracle::new(self.module.graph(), rule);
        self.oracles.get_or_init(|| AliasRule::ALL.map(oracle))
    }

    pub(super) fn skip(&mut self, name: &[u8], offset: usize, reason: SkipReason) {
        let function = String::from_utf8_lossy(name).into_owned();
        self.skipped.push(Skipped { offset, function, reason });
    }

    /// The tag, unless it may alias everything.
    pub(super) fn telling(&self, tag: Option<TagId>) -> Option<TagId> {
        tag.filter(|tag| !self.universal[tag.index()])
    }

    /// The size of a type, unless only the machine knows it.
    pub(super) fn size(&self, ty: Option<Type>) -> Option<MemorySize> {
        self.sizes.size_of(ty?).filter(|size| !size.scalable)
    }

    /// Whether a type is `ptr`, to address space 0.
    pub(super) fn is_plain(&self, ty: Option<Type>) -> bool {
        let is_plain = |kind: TypeKind<'_>| {
            matches!(kind, TypeKind::Pointer { address_space: 0, pointee: None })
        };
        ty.is_some_and(|ty| self.sizes.with_kind(ty, is_plain))
    }

    /// How many bits an integer type has; `None` of other types.
    pub(super) fn bits(&self, ty: Option<Type>) -> Option<u32> {
        self.sizes.with_kind(ty?, |kind| match kind {
            TypeKind::Int(bits) => Some(bits),
            _ => None,
        })
    }
}

impl Current<'_, '_> {
    /// Whether a value is a `ptr` to address space 0.
    pub(super) fn is_plain(&self, value: Value) -> bool {
        self.pass.is_plain(self.function.ty(value))
    }

    /// A value as the text writes it.
    pub(super) fn written(&self, value: Value) -> String {
        String::from_utf8_lossy(self.function.written(value)).into_owned()
    }

    /// The result of an instruction, if the text has a name for it.
    pub(super) fn result(&self, inst: &Inst) -> Option<String> {
        inst.result.map(|it| self.written(it)).filter(|name| !name.is_empty())
    }

    pub(super) fn skip(&mut self, inst: &Inst, reason: SkipReason) {
        self.pass.skip(self.name, inst.span.start, reason);
    }

    /// Adds a site of an access.
    pub(super) fn site(
        &mut self,
        inst: &Inst,
        tag: Option<TagId>,
        size: u64,
        direction: Direction,
        what: String,
    ) -> u32 {
        let place = self.pass.debug.location_at(inst.span.start);
        let graph = self.pass.module.graph();
        let base = tag.and_then(|tag| graph.tag(tag).ok());
        let base = base.and_then(|it| self.pass.names.typedef(it.base)).unwrap_or_default();
        let (tag, function) = (tag.map_or(graph.tag_count(), TagId::index), self.name);
        let looks = self.function.at(inst.span.start).is_some_and(|at| self.looking.contains(&at));
        let site = Site { tag, looks, size, direction, function, place, what, base };
        self.pass.table.add(&site)
    }

    /// Calls the runtime before an instruction: `released(ptr %p)`.
    pub(super) fn before(&mut self, inst: &Inst, call: impl Display) {
        self.put(inst, inst.span.start, format_args!("_{call}"));
    }

    /// Calls the runtime where the instruction after `inst` stands.
    pub(super) fn after(&mut self, inst: &Inst, after: Option<usize>, call: impl Display) {
        if let Some(after) = after {
            self.put(inst, after, format_args!("_{call}"));
        }
    }

    /// Calls what has this name after `@__tbaa_witness`.
    pub(super) fn put(&mut self, inst: &Inst, at: usize, call: impl Display) {
        let call = call.to_string();
        let name = &call[..call.find('(').unwrap_or(call.len())];
        let shared = name.ends_with(".shared");
        let convention = if shared { "preserve_mostcc " } else { "" };
        // One function reads what was printed, and so the program's memory.
        let tag = if name == "_printed" { "" } else { &self.pass.own_tag };
        let call = format!("{convention}void @__tbaa_witness{call}{tag}");
        self.insert(inst, at, call);
    }

    /// Inserts inline assembly.
    pub(super) fn assembly(&mut self, inst: &Inst, at: usize, assembly: &str) {
        let call = format!("void asm sideeffect {assembly}{}", self.pass.own_tag);
        self.insert(inst, at, call);
    }

    /// Inserts a call, of which everything but its location is given.
    pub(super) fn insert(&mut self, inst: &Inst, at: usize, call: impl Display) {
        let mut text = format!("call {call}");
        if let Some(location) = self.location(inst) {
            let _ = write!(text, ", !dbg !{location}");
        }
        text.push_str("\n  ");
        self.pass.table.calls += 1;
        self.pass.edits.insert(at, text);
    }

    /// The location of what is inserted for an instruction; one in a function
    /// that has debug information needs one.
    fn location(&mut self, inst: &Inst) -> Option<u32> {
        let scope = self.subprogram?;
        let own = location(self.function.text_of(inst));
        own.or(self.location).or_else(|| {
            let number = self.pass.next_number?;
            self.pass.next_number = number.checked_add(1);
            let _ = writeln!(self.pass.nodes, "!{number} = !DILocation(line: 0, scope: !{scope})");
            self.location = Some(number);
            self.location
        })
    }

    /// Computes a value at `at`, and returns its name.
    pub(super) fn value(&mut self, at: usize, instruction: impl Display) -> String {
        let name = format!("%tbaa.witness.{}", self.values);
        self.values += 1;
        self.pass.edits.insert(at, format!("{name} = {instruction}\n  "));
        name
    }
}

/// Returns the number of the node that is attached as `!dbg` in `text`.
pub(super) fn location(text: &[u8]) -> Option<u32> {
    let at = memchr::memmem::rfind(text, b"!dbg !")? + b"!dbg !".len();
    number(&text[at..])
}
