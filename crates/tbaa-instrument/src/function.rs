//! The pass over a module's functions.

use std::fmt::Write;
use std::ops::Range;

use super::attributes::{Groups, weaken};
use super::edit::Edits;
use super::outcome::{Instrumented, SkipReason};
use super::pass::{Current, Pass, location};
use super::sizes::Sizes;
use super::slots;
use super::table::Table;
use tbaa::{Graph, TagId, TypeKind};
use tbaa_ir::{
    Argument, DebugInfo, Instruction, Module, Opcode, Statement, TextError, TextErrorKind,
    arguments, statements,
};
use tbaa_types::lexer::Lexer;
use tbaa_types::table::{HashMap, HashSet};

pub(super) fn instrument(text: &[u8], module: &Module) -> Result<Instrumented, TextError> {
    let expected = |at, wanted| TextError::new(text, at, TextErrorKind::Expected { wanted });
    if let Some(at) = memchr::memmem::find(text, b"@__tbaa_witness_") {
        return Err(expected(at, "a module without checks; this one has been instrumented before"));
    }
    let mut edits = Edits::default();
    let groups = Groups::weaken(text, &mut edits);
    let mut pass = Pass {
        text,
        module,
        sizes: Sizes::new(text, module),
        edits,
        defined: module.functions().collect(),
        skipped: Vec::new(),
        table: Table::default(),
        debug: DebugInfo::new(text),
        groups,
        universal: universal(module.graph()),
        next_number: module.next_number(),
        nodes: String::new(),
        own_tag: String::new(),
    };
    pass.own_tag = pass.own_tag();
    let mut next = 0;
    for function in 0..module.functions().len() {
        let all = &module.instructions()[next..];
        let count = all.iter().take_while(|it| it.function as usize == function).count();
        pass.function(function as u32, &all[..count]);
        next += count;
    }
    let typed = pass.skipped.iter().find(|it| it.reason == SkipReason::TypedPointer);
    if let Some(skipped) = typed {
        let wanted = "`ptr`: LLVM 14 and before print typed pointers, which cannot be instrumented";
        return Err(expected(skipped.offset, wanted));
    }
    pass.skipped.sort_by_key(|skipped| skipped.offset);
    let sites = pass.table.sites();
    let mut end = pass.table.write(module, &pass.own_tag);
    end.push_str(&pass.nodes);
    pass.edits.insert(text.len(), end);
    Ok(Instrumented { text: pass.edits.apply(text), sites, skipped: pass.skipped })
}

/// Returns, for each tag, whether it may alias all memory under its root by
/// every rule: a whole one of the root's only child.
fn universal(graph: &Graph) -> Vec<bool> {
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
        Some(tag.base == tag.access && scalar && children[&root] == 1)
    };
    graph.tags().map(|tag| is_universal(tag) == Some(true)).collect()
}

impl<'t> Pass<'t> {
    /// A tag for the runtime's memory, which is none of the program's: a type of
    /// its own beside all others. Without a number for it nothing says so.
    fn own_tag(&mut self) -> String {
        let graph = self.module.graph();
        let root = graph.types().find(|ty| graph.ty(*ty).kind() == TypeKind::Root);
        let root = root.and_then(|root| self.module.number_of(root.node()));
        let numbers = self.next_number.and_then(|tag| Some((tag, tag.checked_add(1)?)));
        let (Some(root), Some((tag, ty))) = (root, numbers) else { return String::new() };
        self.next_number = ty.checked_add(1);
        let _ = write!(
            self.nodes,
            "!{tag} = !{{!{ty}, !{ty}, i64 0}}\n!{ty} = !{{!\"tbaa-witness\", !{root}, i64 0}}\n"
        );
        format!(", !tbaa !{tag}")
    }

    fn function(&mut self, function: u32, accesses: &'t [Instruction]) {
        let (text, module) = (self.text, self.module);
        let body = module.function_span(function);
        let Some(name) = module.functions().nth(function as usize) else { return };
        let head = module.header_span(function).start;
        let (parameters, tail) = header(text, head..body.start).unwrap_or((Vec::new(), body.start));
        weaken(text, tail..body.start, &mut self.edits);
        let statements = statements(text, body.clone());
        let head = &text[head..body.start];
        let reason = if self.groups.have(head, b"naked") {
            Some(SkipReason::Naked)
        } else if self.groups.have(head, b"disable_sanitizer_instrumentation") {
            Some(SkipReason::Disabled)
        } else if memchr::memmem::find(head, b" gc \"").is_some() {
            Some(SkipReason::Collected)
        } else {
            let funclet = |it: &Statement<'_>| {
                matches!(it.word, b"catchpad" | b"cleanuppad" | b"catchswitch")
            };
            statements.iter().any(funclet).then_some(SkipReason::Funclets)
        };
        if let Some(reason) = reason {
            self.skip(name, body.start, reason);
            return;
        }
        let coroutine = self.groups.have(head, b"presplitcoroutine");
        let registers = slots::registers(text, &statements, accesses, module);
        let mut current = Current {
            name,
            subprogram: location(head),
            location: None,
            values: 0,
            slots: HashMap::default(),
            registers,
            swift_errors: HashSet::default(),
            pass: self,
        };
        current.enter(&parameters, &statements, coroutine);
        current.body(&statements, accesses);
    }
}

/// Returns a function's parameters, and where its list of them ends.
fn header(text: &[u8], head: Range<usize>) -> Option<(Vec<Argument<'_>>, usize)> {
    let mut lexer = Lexer::new(&text[..head.end], head.start);
    lexer.until(b"@", "a function header").ok()?;
    lexer.eat(b"@").then_some(())?;
    lexer.skip_name().ok()?;
    lexer.skip_space().ok()?;
    (lexer.peek()? == b'(').then_some(())?;
    Some((arguments(&mut lexer)?, lexer.at))
}

impl<'t> Current<'_, 't> {
    fn body(&mut self, statements: &[Statement<'t>], accesses: &[Instruction]) {
        let mut accesses = accesses.iter().peekable();
        for (at, statement) in statements.iter().enumerate() {
            let access = accesses.next_if(|it| it.offset as usize == statement.offset);
            let after = statements.get(at + 1).map(|next| next.offset);
            match (statement.word, access) {
                (b"alloca", _) => self.alloca(statement, after),
                (b"landingpad", _) => self.after(statement, after, "unwound()"),
                (b"ret" | b"resume", _) => {
                    let before = at.checked_sub(1).map(|at| &statements[at]);
                    let is_last = |it: &&Statement<'t>| is_last(self.pass.text, it);
                    self.leave(before.filter(is_last).unwrap_or(statement));
                }
                _ if statement.opcode == Opcode::Call => self.call(statement, access, after),
                (_, Some(_)) if is_sanitizers(self.pass.text, statement) => {}
                (_, Some(access)) => self.access(statement, access),
                _ => {}
            }
        }
    }
}

/// Returns whether nothing may stand between a call and the `ret` after it.
fn is_last(text: &[u8], statement: &Statement<'_>) -> bool {
    let line = &text[statement.offset..statement.end];
    statement.must_tail || memchr::memmem::find(line, b"@llvm.experimental.deoptimize").is_some()
}

/// Returns whether the instruction is another sanitizer's own.
fn is_sanitizers(text: &[u8], statement: &Statement<'_>) -> bool {
    memchr::memmem::find(&text[statement.offset..statement.end], b"!nosanitize").is_some()
}
