//! Instruments each function of a module.

use std::{ops::Range, rc::Rc};

use super::layout::CHECKED;
use super::pass::location;
use super::repeats::repeats;
use super::rewrites::rewrites;
use super::table::Table;
use super::{Current, Form, Instrumented, Pass, SkipReason, Skipped};
use tbaa::parts::table::{HashMap, HashSet};
use tbaa::{Graph, TagId, TypeKind};
use tbaa_ir::{
    Attribute, DebugInfo, Edits, Effects, Flow, Function, Groups, Inst, Module, Names, Opcode,
    Pointers, Sizes, TextError, TextErrorKind,
};
use tbaa_lex::lexer::{Lexer, words};

pub(super) fn instrument(module: &Module<'_>, form: Form) -> Result<Instrumented, TextError> {
    let text = module.text();
    let expected = |at, wanted| TextError::new(text, at, TextErrorKind::Expected { wanted });
    if let Some(at) = memchr::memmem::find(text, b"@__tbaa_witness_") {
        return Err(expected(at, "a module without checks; this one has been instrumented before"));
    }
    if let Some((_, at)) = module.triple().filter(|(triple, _)| !is_supported(triple)) {
        let wanted = "x86_64 Linux with the GNU C library, the only target that checks run on";
        return Err(expected(at, wanted));
    }
    let form = if is_large(text) { Form::Calls } else { form };
    let mut edits = Edits::default();
    let groups = Groups::new(module);
    for group in groups.numbers() {
        weaken(groups.of(group), &mut edits);
    }
    let (sizes, effects) = (&Sizes::new(module), &Effects::new(module));
    let has_constants = module.graph().tags().any(|tag| is_constant(module.graph(), tag));
    let mut pass = Pass {
        form,
        module,
        globals: module.globals(sizes),
        sizes,
        edits,
        checked: HashSet::default(),
        effects,
        written: HashMap::default(),
        skipped: Vec::new(),
        table: Table::default(),
        debug: DebugInfo::new(module),
        names: Names::of_module(module),
        groups,
        universal: universal(module.graph(), has_constants),
        has_constants,
        next_number: module.next_number(),
        nodes: String::new(),
        stack_save: None,
        own_tag: String::new(),
        oracles: Default::default(),
    };
    pass.own_tag = pass.own_tag();
    let mut bodies = Vec::new();
    for (function, name) in (0..).zip(module.functions()) {
        let body = module.function(sizes, function);
        match pass.reason(&body) {
            Some(reason) => pass.skip(name, body.header.end, reason),
            None => {
                if pass.runs(name, &body) {
                    pass.checked.insert(name);
                }
                bodies.push((name, body));
            }
        }
    }
    for (name, body) in bodies {
        pass.function(name, Rc::new(body));
    }
    let is_typed = |skipped: &&Skipped| skipped.reason == SkipReason::TypedPointer;
    if let Some(skipped) = pass.skipped.iter().find(is_typed) {
        let wanted = "`ptr`: LLVM 14 and before print typed pointers, which cannot be instrumented; \
                      assemble the module with its own llvm-as, and take what llvm-dis of LLVM 17 \
                      or newer makes of that";
        return Err(expected(skipped.offset, wanted));
    }
    pass.skipped.sort_by_key(|skipped| skipped.offset);
    let (sites, calls) = (pass.table.count, pass.table.calls);
    let mut end = pass.table.write(module, form, &pass.own_tag, pass.has_constants);
    end.push_str(&pass.nodes);
    pass.edits.insert(text.len(), end);
    Ok(Instrumented { text: pass.edits.apply(text), sites, calls, skipped: pass.skipped })
}

pub(super) fn is_constant(graph: &Graph, tag: TagId) -> bool {
    graph.tag(tag).is_ok_and(|tag| tag.immutable)
}

/// Returns, for each tag, whether every rule lets it alias all memory under its root. This holds if
/// its type is a scalar and the root's only child. False for all tags if one marks constant memory.
fn universal(graph: &Graph, has_constants: bool) -> Vec<bool> {
    let root_of_child = |ty| {
        let parent = graph.ty(ty).parent()?;
        (graph.ty(parent).kind() == TypeKind::Root).then_some(parent)
    };
    let mut children: HashMap<_, u32> = HashMap::default();
    for root in graph.types().filter_map(root_of_child) {
        *children.entry(root).or_default() += 1;
    }
    let is_universal = |tag: TagId| {
        let tag = graph.tag(tag).ok()?;
        let root = root_of_child(tag.access)?;
        let scalar = graph.ty(tag.access).kind() == TypeKind::Scalar;
        Some(tag.base == tag.access && scalar && children[&root] == 1 && !has_constants)
    };
    graph.tags().map(|tag| is_universal(tag) == Some(true)).collect()
}

impl<'t> Pass<'t> {
    /// Returns `, !tbaa !N`, where `N` is a new tag for the runtime's memory. The tag aliases none
    /// of the program's tags. Returns an empty text if there is no root or no free number.
    fn own_tag(&mut self) -> String {
        let graph = self.module.graph();
        let root = graph.types().find(|ty| graph.ty(*ty).kind() == TypeKind::Root);
        let root = root.and_then(|root| self.module.number_of(root.node()));
        let numbers = self.next_number.and_then(|tag| Some((tag, tag.checked_add(1)?)));
        let (Some(root), Some((tag, ty))) = (root, numbers) else { return String::new() };
        self.next_number = ty.checked_add(1);
        self.nodes += &format!(
            "!{tag} = !{{!{ty}, !{ty}, i64 0}}\n!{ty} = !{{!\"tbaa-witness\", !{root}, i64 0}}\n"
        );
        format!(", !tbaa !{tag}")
    }

    /// Returns why a function gets no checks, if there is a reason. Replaces [`MEMORY`] attributes.
    fn reason(&mut self, body: &Function<'t>) -> Option<SkipReason> {
        let header = &body.header;
        weaken(header.attributes.clone(), &mut self.edits);
        let has = |word| self.groups.have(header.attributes.clone(), word);
        if has(b"naked") {
            return Some(SkipReason::Naked);
        } else if has(b"disable_sanitizer_instrumentation") {
            return Some(SkipReason::Disabled);
        } else if memchr::memmem::find(header.text, b" gc \"").is_some() {
            return Some(SkipReason::Collected);
        }
        let funclet = |inst: &Inst| {
            matches!(inst.opcode, Opcode::CatchPad | Opcode::CleanupPad | Opcode::CatchSwitch)
        };
        body.instructions.iter().any(funclet).then_some(SkipReason::Funclets)
    }

    /// Returns whether a call of the function `name` certainly runs `body` with its checks. LLVM
    /// may drop an `available_externally` body, so its linkage is changed. But if the body calls
    /// `name`, as glibc's `btowc` does, the call is to another definition: the linkage stays.
    fn runs(&mut self, name: &[u8], body: &Function<'_>) -> bool {
        const EXTERNAL: &[u8] = b"available_externally";
        let header = &body.header;
        let words = &header.text[..memchr::memchr(b'@', header.text).unwrap_or(0)];
        let has = |word: &[u8]| words.split(|byte| *byte == b' ').any(|part| part == word);
        let Some(at) = memchr::memmem::find(words, EXTERNAL) else {
            return !has(b"weak") && !has(b"linkonce");
        };
        let calls_itself = |inst: &Inst| body.call(inst).is_some_and(|call| call.callee == name);
        if body.instructions.iter().any(calls_itself) {
            return false;
        }
        let start = header.end - header.text.len() + at;
        self.edits.replace(start..start + EXTERNAL.len(), "linkonce_odr");
        true
    }

    fn function(&mut self, name: &'t [u8], function: Rc<Function<'t>>) {
        if let Some(at) = prefix_place(&function) {
            self.edits.insert(at, format!("prefix i64 {CHECKED} "));
        }
        if function.blocks.is_empty() {
            return;
        }
        let has = |word| self.groups.have(function.header.attributes.clone(), word);
        let coroutine = has(b"presplitcoroutine");
        let flow = Flow::without_loops(function.blocks.iter().map(|block| &block.successors[..]));
        let mut pointers = Pointers::new(&function, None, self.effects);
        let repeated = repeats(self, &function, &flow, &mut pointers);
        let warning = rewrites(self, &function, &pointers);
        let mut current = Current {
            name,
            warning,
            subprogram: location(function.header.text),
            location: None,
            values: 0,
            slots: HashMap::default(),
            own: HashSet::default(),
            swift_errors: HashSet::default(),
            stack: None,
            pass: self,
            function: &function,
            pointers: &pointers,
        };
        current.enter(coroutine);
        current.body(&flow, &repeated);
    }
}

impl Current<'_, '_> {
    fn body(&mut self, flow: &Flow, repeated: &HashSet<usize>) {
        let (module, function) = (self.pass.module, self.function);
        let all = &function.instructions[..];
        for (at, inst) in all.iter().enumerate().filter(|it| !repeated.contains(&it.0)) {
            let access = inst.access.map(|access| &module.instructions()[access]);
            let after = match inst.is_terminator {
                true => returned(function, flow, at),
                false if function.is_must_tail(inst) => None,
                false => all.get(at + 1).map(|next| next.span.start),
            };
            match (inst.opcode, access) {
                (Opcode::Alloca, _) => self.alloca(inst, after),
                (Opcode::LandingPad, _) => self.after(inst, after, "unwound(i32 1)"),
                (Opcode::Ret | Opcode::Resume, _) => {
                    let before = at.checked_sub(1).map(|at| &all[at]);
                    self.leave(before.filter(|before| is_last(function, before)).unwrap_or(inst));
                }
                (Opcode::Call, _) => self.call(inst, access, after),
                (_, Some(access)) if !is_sanitizers(function, inst) => self.access(inst, access),
                _ => {}
            }
        }
    }
}

/// Returns whether an instruction is a call that only a `ret` may follow.
fn is_last(function: &Function<'_>, inst: &Inst) -> bool {
    let deoptimizes = b"llvm.experimental.deoptimize";
    function.is_must_tail(inst)
        || function.call(inst).is_some_and(|call| call.callee.starts_with(deoptimizes))
}

/// Returns whether an instruction belongs to another sanitizer.
pub(super) fn is_sanitizers(function: &Function<'_>, inst: &Inst) -> bool {
    memchr::memmem::find(function.text_of(inst), b"!nosanitize").is_some()
}

/// Returns where a function's prefix data can be inserted; `None` if it has some already, or if its
/// header cannot be read. The grammar in LLVM: `LLParser::parseFunctionHeader`.
fn prefix_place(body: &Function<'_>) -> Option<usize> {
    let header = body.header.text;
    let start = body.header.end - header.len();
    let mut lexer = Lexer::new(header, 0);
    lexer.until(b"@", "a function header").ok()?;
    lexer.at += 1;
    lexer.skip_name().ok()?;
    lexer.skip_space().ok()?;
    (lexer.peek()? == b'(').then_some(())?;
    lexer.bracketed("parameters").ok()?;
    loop {
        lexer.skip_space().ok()?;
        let at = lexer.at;
        match lexer.peek()? {
            b'{' | b'!' => return Some(start + at),
            b'"' => drop(lexer.quoted().ok()?),
            b'(' => lexer.bracketed("an attribute").ok()?,
            _ => match lexer.word() {
                b"prefix" => return None,
                b"prologue" | b"personality" => return Some(start + at),
                b"" => lexer.at += 1,
                _ => {}
            },
        }
    }
}

/// Returns whether the code model lets data be so far from code that assembly cannot address it.
fn is_large(text: &[u8]) -> bool {
    let flag = b"!\"Code Model\", i32 ";
    let model = memchr::memmem::find(text, flag).and_then(|at| number(&text[at + flag.len()..]));
    // The number 3 is LLVM's `CodeModel::Medium`, and 4 is `CodeModel::Large`.
    model.is_some_and(|model| model >= 3)
}

/// Returns where code can be inserted after a call that ends a block: at the start of the only
/// successor that has a single predecessor and begins with neither `phi` nor `landingpad`.
fn returned(function: &Function<'_>, flow: &Flow, at: usize) -> Option<usize> {
    let place = |&to: &usize| {
        let first = &function.instructions[*function.blocks[to].instructions.first()?];
        let is_alone = flow.before(to).count() == 1;
        let is_plain = !matches!(first.opcode, Opcode::Phi | Opcode::LandingPad);
        (is_alone && is_plain).then_some(first.span.start)
    };
    let mut places = function.blocks[function.block_of(at)].successors.iter().filter_map(place);
    places.next().filter(|_| places.next().is_none())
}

/// Returns whether the target with this triple can run checks.
pub fn is_supported(triple: &[u8]) -> bool {
    let mut parts = triple.split(|&byte| byte == b'-');
    let is_x86_64 = matches!(parts.next(), Some(b"x86_64" | b"amd64"));
    let rest: Vec<_> = parts.collect();
    let other = [&b"musl"[..], b"gnux32", b"android", b"muslx32", b"ohos"];
    is_x86_64 && rest.contains(&&b"linux"[..]) && !rest.iter().any(|rest| other.contains(rest))
}

/// Attributes that limit a function's effects, such as the memory that it accesses. Its checks
/// access memory, so LLVM would wrongly merge or delete calls of the function. Source in LLVM:
/// `MemoryEffects`, and the attributes that it replaced in LLVM 16.
const MEMORY: [&[u8]; 8] = words(
    "memory readnone readonly writeonly argmemonly inaccessiblememonly \
     inaccessiblemem_or_argmemonly speculatable",
);

/// Reads the decimal number at the start of a text.
pub(super) fn number(text: &[u8]) -> Option<u32> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    str::from_utf8(&text[..len]).ok()?.parse().ok()
}

/// Replaces [`MEMORY`] attributes by `"tbaa-witness"`, since an attribute group must not be empty.
pub(super) fn weaken<'t>(
    attributes: impl Iterator<Item = (Range<usize>, Attribute<'t>)>,
    edits: &mut Edits,
) {
    for (span, attribute) in attributes {
        if matches!(attribute, Attribute::Word(word, _) if MEMORY.contains(&word)) {
            edits.replace(span, "\"tbaa-witness\"");
        }
    }
}
