//! How to free a load that stores or calls block, in the words of its language.

use tbaa_ir::DebugInfo;

use super::Function;
use super::blame::{Blocked, Blocker, Cause, Judge, Wanted};
use super::body::Event;
use crate::printable::printable;

/// What a module was compiled from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    C,
    Cpp,
    /// What is read is metadata that a front end wrote: advice is for its author.
    Other,
}

pub(super) struct Advisor<'a> {
    judge: &'a Judge<'a>,
    debug: &'a DebugInfo<'a>,
    language: Language,
}

impl<'a> Advisor<'a> {
    pub(super) fn new(judge: &'a Judge<'a>, debug: &'a DebugInfo<'a>) -> Self {
        let language = match debug.language() {
            Some(it) if it.starts_with("DW_LANG_C_plus_plus") => Language::Cpp,
            Some(it) if it == "DW_LANG_C" || it.starts_with("DW_LANG_C") => Language::C,
            _ => Language::Other,
        };
        Advisor { judge, debug, language }
    }

    /// What would free the load of this blocker.
    pub(super) fn of(
        &self,
        function: &Function<'_>,
        blocked: &Blocked,
        blocker: &Blocker,
    ) -> String {
        let is_source = self.language != Language::Other;
        match blocker.cause {
            Cause::NoTag | Cause::LoadNoTag if is_source => {
                format!("clang writes no tag for bit-fields and memcpy: {}", self.copy(blocked))
            }
            Cause::NoTag => "attach the tag of its type to the store".to_owned(),
            Cause::LoadNoTag => "attach the tag of its type to the load".to_owned(),
            Cause::RuleLlvm => "`tbaa lower` writes tags with which LLVM separates them".to_owned(),
            Cause::SamePlace => "the value changes in between: no tag can help".to_owned(),
            Cause::Order => "LLVM does not reorder atomic accesses and fences".to_owned(),
            Cause::Errno => "compile with -fno-math-errno if nothing reads errno".to_owned(),
            Cause::FlattenedUnion if !is_source => {
                "describe the union, and `tbaa lower` writes tags for its members".to_owned()
            }
            Cause::FlattenedUnion => {
                format!(
                    "clang tags union members and may_alias types as char: {}",
                    self.copy(blocked)
                )
            }
            Cause::Covers | Cause::SameType => {
                let parameter = self.parameter(function, blocker);
                match (parameter, is_source) {
                    (Some(parameter), _) => format!("{parameter}, or {}", self.copy(blocked)),
                    (None, true) => self.copy(blocked),
                    (None, false) if blocker.cause == Cause::Covers => {
                        "give one of them a type of its own that is not an ancestor of the other's"
                            .to_owned()
                    }
                    (None, false) => self.copy(blocked),
                }
            }
            Cause::Call => {
                let call = match blocker.event {
                    Event::Other(offset) => function.body.at(offset),
                    Event::Access(index) => {
                        function.body.at(self.judge.module.instructions()[index].offset as usize)
                    }
                };
                let reads_only = call.filter(|it| is_source && may_be_pure(it));
                let callee = reads_only.and_then(|it| it.call()).map(|it| printable(it.callee));
                match callee.filter(|name| !name.is_empty()) {
                    Some(name) => format!(
                        "declare {name} __attribute__((pure)) if it only reads memory, or {}",
                        self.copy(blocked)
                    ),
                    None => self.copy(blocked),
                }
            }
        }
    }

    /// The advice that works for every pointer.
    fn copy(&self, blocked: &Blocked) -> String {
        let before = match blocked.wanted {
            Wanted::Hoist(_) => "before the loop",
            _ => "and use that",
        };
        match self.language {
            Language::Other => format!("load the value once {before} if it cannot change"),
            _ => format!("copy the value into a local variable {before} if it cannot change"),
        }
    }

    /// The parameter whose declaration as `restrict` separates the two. clang heeds it on the
    /// parameters of functions alone, and only accesses through the parameter itself count.
    fn parameter(&self, function: &Function<'_>, blocker: &Blocker) -> Option<String> {
        let write = blocker.event.access()?;
        let root = |index| Some(function.body.place(self.judge.pointer(index)?).root);
        let (read, write) = (root(blocker.load)?, root(write)?);
        if read == write {
            return None;
        }
        let found = [read, write].into_iter().find(|it| function.body.is_parameter(it))?;
        let name = self.debug.parameter(self.judge.module.function_span(function.index), found);
        let keyword = match self.language {
            Language::C => "restrict",
            Language::Cpp => "__restrict",
            Language::Other => {
                return Some(format!(
                    "mark parameter {} noalias if no other pointer leads there",
                    printable(found)
                ));
            }
        };
        let name = name.map_or_else(|| printable(found), |name| printable(name.as_bytes()));
        Some(format!("declare parameter {name} {keyword} if no other pointer leads there"))
    }
}

/// Whether a call has a result, and no pointer through which it could give others.
fn may_be_pure(call: &tbaa_ir::Statement<'_>) -> bool {
    let Some(of) = call.call() else { return false };
    let has = |attributes: &[u8], word: &[u8]| {
        attributes.split(u8::is_ascii_whitespace).any(|it| it == word)
    };
    let writable = |it: &tbaa_ir::Argument<'_>| {
        it.is_pointer()
            && !["readonly", "readnone"].iter().any(|word| has(it.attributes, word.as_bytes()))
    };
    call.result.is_some() && !of.arguments.iter().any(writable)
}
