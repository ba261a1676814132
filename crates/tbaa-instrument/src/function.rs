//! The pass over a module's functions.

use super::attributes::weaken;
use super::outcome::{Instrumented, SkipReason};
use super::pass::{Current, Pass, location};
use super::slots;
use super::table::Table;
use std::fmt::Write;
use tbaa::{Graph, TagId, TypeKind};
use tbaa_ir::{
    Body, DebugInfo, Edits, Groups, Module, Opcode, Sizes, Statement, TextError, TextErrorKind,
};
use tbaa_lex::table::{HashMap, HashSet};

pub(super) fn instrument(text: &[u8], module: &Module) -> Result<Instrumented, TextError> {
    let expected = |at, wanted| TextError::new(text, at, TextErrorKind::Expected { wanted });
    if let Some(at) = memchr::memmem::find(text, b"@__tbaa_witness_") {
        return Err(expected(at, "a module without checks; this one has been instrumented before"));
    }
    let mut edits = Edits::default();
    let groups = Groups::new(text, module);
    for group in groups.numbers() {
        weaken(groups.of(group), &mut edits);
    }
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
    for (function, name) in (0..).zip(module.functions()) {
        pass.function(name, &module.body(text, function));
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

    fn function(&mut self, name: &'t [u8], body: &Body<'t>) {
        let header = &body.header;
        weaken(header.attributes.clone(), &mut self.edits);
        let has = |word| self.groups.have(header.attributes.clone(), word);
        let reason = if has(b"naked") {
            Some(SkipReason::Naked)
        } else if has(b"disable_sanitizer_instrumentation") {
            Some(SkipReason::Disabled)
        } else if memchr::memmem::find(header.text, b" gc \"").is_some() {
            Some(SkipReason::Collected)
        } else {
            let funclet = |it: &Statement<'_>| {
                matches!(it.word, b"catchpad" | b"cleanuppad" | b"catchswitch")
            };
            body.statements.iter().any(funclet).then_some(SkipReason::Funclets)
        };
        if let Some(reason) = reason {
            self.skip(name, header.end, reason);
            return;
        }
        let coroutine = has(b"presplitcoroutine");
        let mut current = Current {
            name,
            subprogram: location(header.text),
            location: None,
            values: 0,
            slots: HashMap::default(),
            registers: slots::registers(self.text, body, self.module),
            swift_errors: HashSet::default(),
            pass: self,
        };
        current.enter(&body.header.parameters, &body.statements, coroutine);
        current.body(&body.statements);
    }
}

impl<'t> Current<'_, 't> {
    fn body(&mut self, statements: &[Statement<'t>]) {
        let module = self.pass.module;
        for (at, statement) in statements.iter().enumerate() {
            let access = statement.access.map(|access| &module.instructions()[access]);
            let after = statements.get(at + 1).map(|next| next.offset);
            match (statement.word, access) {
                (b"alloca", _) => self.alloca(statement, after),
                (b"landingpad", _) => self.after(statement, after, "unwound()"),
                (b"ret" | b"resume", _) => {
                    let before = at.checked_sub(1).map(|at| &statements[at]);
                    self.leave(before.filter(|it| is_last(it)).unwrap_or(statement));
                }
                _ if statement.opcode == Opcode::Call => self.call(statement, access, after),
                (_, Some(_)) if is_sanitizers(statement) => {}
                (_, Some(access)) => self.access(statement, access),
                _ => {}
            }
        }
    }
}

/// Returns whether nothing may stand between a call and the `ret` after it.
fn is_last(statement: &Statement<'_>) -> bool {
    let text = statement.text();
    statement.must_tail || memchr::memmem::find(text, b"@llvm.experimental.deoptimize").is_some()
}

/// Returns whether the instruction is another sanitizer's own.
fn is_sanitizers(statement: &Statement<'_>) -> bool {
    memchr::memmem::find(statement.text(), b"!nosanitize").is_some()
}
