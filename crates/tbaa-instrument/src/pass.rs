//! The state while a module is instrumented, and the insertion of code into its text.

use std::cell::OnceCell;
use std::fmt::{Display, Write};

use super::function::number;
use super::table::{Site, Table};
use super::{Direction, Form, SkipReason, Skipped};
use tbaa::parts::table::{HashMap, HashSet};
use tbaa::{AliasRule, Graph, Oracle, TagId};
use tbaa_ir::{
    DebugInfo, Edits, Effects, Function, Global, Groups, Inst, MemorySize, Module, Names, Pointers,
    Sizes, Value,
};
use tbaa_types::{Type, TypeKind};

/// The module, and the edits to its text so far.
pub(super) struct Pass<'t> {
    pub(super) form: Form,
    pub(super) module: &'t Module<'t>,
    pub(super) sizes: &'t Sizes,
    pub(super) edits: Edits,
    /// The functions whose bodies certainly run with checks.
    pub(super) checked: HashSet<&'t [u8]>,
    pub(super) globals: HashMap<&'t [u8], Global<'t>>,
    pub(super) effects: &'t Effects<'t>,
    /// For each function looked up so far, a mask of the arguments that it writes through.
    pub(super) written: HashMap<&'t [u8], u32>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) table: Table,
    pub(super) debug: DebugInfo<'t>,
    pub(super) names: Names<'t>,
    pub(super) groups: Groups<'t>,
    /// For each tag, true if it may alias all memory under its root.
    pub(super) universal: Vec<bool>,
    /// True if a tag marks constant memory: then the runtime must see every write.
    pub(super) has_constants: bool,
    pub(super) next_number: Option<u32>,
    /// Text for the module's end: new metadata nodes, and a declaration of `llvm.stacksave`.
    pub(super) nodes: String,
    /// The name under which the module declares `llvm.stacksave`, once it is needed.
    pub(super) stack_save: Option<&'static str>,
    /// The text of the tag for the runtime's own memory; empty if there is none.
    pub(super) own_tag: String,
    /// One oracle (it answers alias queries) for each alias rule, once they are needed.
    pub(super) oracles: OnceCell<[Oracle<&'t Graph>; 3]>,
}

/// The function that is being instrumented.
pub(super) struct Current<'p, 't> {
    pub(super) pass: &'p mut Pass<'t>,
    pub(super) function: &'p Function<'t>,
    pub(super) pointers: &'p Pointers<'t>,
    pub(super) name: &'t [u8],
    /// The stores that may cause a warning: see [`WARNS`](super::layout::WARNS).
    pub(super) warning: HashSet<usize>,
    /// The metadata number of the function's `DISubprogram`.
    pub(super) subprogram: Option<u32>,
    /// The metadata number of a debug location without a line, once the function needs it.
    pub(super) location: Option<u32>,
    /// The number of values inserted so far, which also names the next one.
    pub(super) values: u32,
    /// The stack slots that stay in memory until the function ends.
    pub(super) slots: HashMap<Value, Slot>,
    /// The slots whose accesses can never be reported, so they need no checks.
    pub(super) own: HashSet<Value>,
    pub(super) swift_errors: HashSet<Value>,
    /// The name of the stack pointer at entry, if an `alloca` that stays in memory has no [`Slot`].
    pub(super) stack: Option<String>,
}

/// A stack slot that is allocated until the function ends.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) size: u64,
    /// True if only `llvm.lifetime.start` says where its lifetime begins.
    pub(super) marked: bool,
    /// If true, the slot is aligned to 4 bytes, and no other slot shares the shadow of its bytes.
    pub(super) whole: bool,
}

impl<'t> Pass<'t> {
    /// Returns an oracle for each rule that the runtime may use.
    pub(super) fn oracles(&self) -> &[Oracle<&'t Graph>; 3] {
        let oracle = |rule| Oracle::new(self.module.graph(), rule);
        self.oracles.get_or_init(|| AliasRule::ALL.map(oracle))
    }

    pub(super) fn skip(&mut self, name: &[u8], offset: usize, reason: SkipReason) {
        let function = String::from_utf8_lossy(name).into_owned();
        self.skipped.push(Skipped { offset, function, reason });
    }

    /// Returns the tag, unless it may alias all memory under its root.
    pub(super) fn telling(&self, tag: Option<TagId>) -> Option<TagId> {
        tag.filter(|tag| !self.universal[tag.index()])
    }

    /// Returns the size of a type; `None` if it is unknown or scalable.
    pub(super) fn size(&self, ty: Option<Type>) -> Option<MemorySize> {
        self.sizes.fixed_size(ty?)
    }

    /// Returns whether a type is `ptr` in address space 0.
    pub(super) fn is_plain(&self, ty: Option<Type>) -> bool {
        let is_plain = |kind: TypeKind<'_>| {
            matches!(kind, TypeKind::Pointer { address_space: 0, pointee: None })
        };
        ty.is_some_and(|ty| self.sizes.with_kind(ty, is_plain))
    }

    /// Returns the width of an integer type in bits; `None` for other types.
    pub(super) fn bits(&self, ty: Option<Type>) -> Option<u32> {
        self.sizes.with_kind(ty?, |kind| match kind {
            TypeKind::Int(bits) => Some(bits),
            _ => None,
        })
    }
}

impl Current<'_, '_> {
    pub(super) fn is_plain(&self, value: Value) -> bool {
        self.pass.is_plain(self.function.ty(value))
    }

    pub(super) fn written(&self, value: Value) -> String {
        String::from_utf8_lossy(self.function.written(value)).into_owned()
    }

    /// Returns the spelling of an instruction's result, if it has one.
    pub(super) fn result(&self, inst: &Inst) -> Option<String> {
        inst.result.map(|result| self.written(result)).filter(|name| !name.is_empty())
    }

    pub(super) fn skip(&mut self, inst: &Inst, reason: SkipReason) {
        self.pass.skip(self.name, inst.span.start, reason);
    }

    /// Adds an access to the table of accesses, and returns its number.
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
        let base = base.and_then(|base| self.pass.names.typedef(base.base)).unwrap_or_default();
        let (tag, function) = (tag.map_or(graph.tag_count(), TagId::index), self.name);
        let warns = self.function.at(inst.span.start).is_some_and(|at| self.warning.contains(&at));
        let site = Site { tag, warns, size, direction, function, place, what, base };
        self.pass.table.add(&site)
    }

    /// Inserts a call of the runtime, such as `released(ptr %p)`, before an instruction.
    pub(super) fn before(&mut self, inst: &Inst, call: impl Display) {
        self.put(inst, inst.span.start, format_args!("_{call}"));
    }

    /// Inserts a call of the runtime at `after`, a position after `inst`. `None` inserts nothing.
    pub(super) fn after(&mut self, inst: &Inst, after: Option<usize>, call: impl Display) {
        if let Some(after) = after {
            self.put(inst, after, format_args!("_{call}"));
        }
    }

    /// Inserts a call. `call` is the function's name after `@__tbaa_witness`, and the arguments.
    pub(super) fn put(&mut self, inst: &Inst, at: usize, call: impl Display) {
        let call = call.to_string();
        let name = &call[..call.find('(').unwrap_or(call.len())];
        let shared = name.ends_with(".shared");
        let convention = if shared { "preserve_mostcc " } else { "" };
        // The runtime's `printed` reads the program's memory, so `own_tag` would be wrong for it.
        let tag = if name == "_printed" { "" } else { &self.pass.own_tag };
        let call = format!("{convention}void @__tbaa_witness{call}{tag}");
        self.insert(inst, at, call);
    }

    pub(super) fn assembly(&mut self, inst: &Inst, at: usize, assembly: &str) {
        let call = format!("void asm sideeffect {assembly}{}", self.pass.own_tag);
        self.insert(inst, at, call);
    }

    /// Inserts a call, and adds its debug location.
    pub(super) fn insert(&mut self, inst: &Inst, at: usize, call: impl Display) {
        let mut text = format!("call {call}");
        if let Some(location) = self.location(inst) {
            let _ = write!(text, ", !dbg !{location}");
        }
        text.push_str("\n  ");
        self.pass.table.calls += 1;
        self.pass.edits.insert(at, text);
    }

    /// Returns the debug location for code inserted at an instruction. LLVM requires a location on
    /// each call in a function with debug information.
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

    /// Inserts an instruction at `at`, and returns the name of its result.
    pub(super) fn value(&mut self, at: usize, instruction: impl Display) -> String {
        let name = format!("%tbaa.witness.{}", self.values);
        self.values += 1;
        self.pass.edits.insert(at, format!("{name} = {instruction}\n  "));
        name
    }
}

/// Returns the number of the metadata node in the `!dbg` attachment of `text`.
pub(super) fn location(text: &[u8]) -> Option<u32> {
    let at = memchr::memmem::rfind(text, b"!dbg !")? + b"!dbg !".len();
    number(&text[at..])
}
