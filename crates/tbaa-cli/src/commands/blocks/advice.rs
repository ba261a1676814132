//! Advice on how to remove a load's blockers: stores and calls that stop LLVM from optimising it.

use tbaa_check::blocks::{Blocked, Blocker, Cause, Event, Judge, Judged, Wanted, sets_errno};
use tbaa_ir::{DebugInfo, Def, Parameter};

use crate::printable::{function_name, printable};

/// The language that a module was compiled from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    C,
    Cpp,
    /// Another language, or unknown. The advice is for the author of the front end.
    Other,
}

/// Advice on byte types that clang 22 does not tag as `char`, unlike `uint8_t` and C's enums.
pub(super) const BYTES: &str = ". A byte type that aliases nothing else also helps: char8_t or an enum over \
                     unsigned char in C++, _BitInt(8) in both. If the byte is the one member of a \
                     struct, assign the member, not the struct";

pub(super) struct Advisor<'a> {
    judge: &'a Judge<'a>,
    debug: &'a DebugInfo<'a>,
    language: Language,
}

/// The ways, other than copying the loaded value, to remove all blockers of a load.
pub(super) struct Means {
    /// True if `restrict` on parameters, together with advice on calls, removes all blockers.
    restrict: bool,
    /// True if another byte type, together with advice on calls, removes all blockers.
    bytes: bool,
    /// True if advice on calls is given: function attributes, or a flag for `errno`.
    calls: bool,
    /// The global variable that is loaded, if `static` may remove all blockers.
    statics: Option<String>,
}

impl<'a> Advisor<'a> {
    pub(super) fn new(judge: &'a Judge<'a>, debug: &'a DebugInfo<'a>) -> Self {
        let language = match debug.language() {
            Some(name) if name.starts_with("DW_LANG_C_plus_plus") => Language::Cpp,
            Some(name) if name.starts_with("DW_LANG_C") => Language::C,
            _ => Language::Other,
        };
        Advisor { judge, debug, language }
    }

    pub(super) fn means(&self, function: &Judged<'a>, blocked: &Blocked) -> Means {
        let of_call = |blocker: &Blocker| match blocker.cause {
            Cause::Call | Cause::NoReturn { .. } => self.pure(function, blocker).is_some(),
            Cause::Errno => self.callee(function, blocker).is_some_and(sets_errno),
            cause => cause == Cause::Register,
        };
        let is_open = |blocker: &Blocker| {
            !matches!(blocker.cause, Cause::SamePlace | Cause::Order | Cause::NoReturn { .. })
        };
        let has_parameter =
            |blocker: &Blocker| is_open(blocker) && self.parameter(function, blocker).is_some();
        let all = |of_access: &dyn Fn(&Blocker) -> bool| {
            blocked.blockers.iter().all(|blocker| of_call(blocker) || of_access(blocker))
        };
        let [restrict, bytes] = [all(&has_parameter), all(&|it| self.judge.is_byte(it))];
        let is_access =
            |blocker: &Blocker| blocker.event.access().is_some() && blocker.cause != Cause::Order;
        let global = || self.global(function, blocked.load);
        let statics = blocked.blockers.iter().all(is_access).then(global).flatten();
        Means { restrict, bytes, calls: restrict || bytes, statics }
    }

    /// Returns the name of a blocker's callee, if the callee could be declared `pure`.
    fn pure(&self, function: &Judged<'a>, blocker: &Blocker) -> Option<String> {
        let (body, inst) = (&function.body.function, function.body.inst(blocker.event)?);
        let name = source_name(body.call(inst).filter(|_| function.body.may_be_pure(inst))?.callee);
        (self.language != Language::Other && !name.is_empty()).then_some(name)
    }

    /// Returns advice on how to remove a blocker; `None` for [`Cause::Register`], which needs none.
    pub(super) fn of(
        &self,
        function: &Judged<'a>,
        blocked: &Blocked,
        blocker: &Blocker,
        means: &Means,
    ) -> Option<String> {
        let is_source = self.language != Language::Other;
        let noun = if self.judge.is_store(blocker.load) { "store" } else { "load" };
        let parameter = means.restrict.then(|| self.parameter(function, blocker)).flatten();
        let only_copy = self.copy(blocked);
        let copy = match (&parameter, &means.statics) {
            (Some(parameter), _) => format!("{parameter}, or {only_copy}"),
            (None, Some(name)) => format!(
                "declare {name} static if only this file uses it and nothing takes its address, or {only_copy}"
            ),
            (None, None) => only_copy.clone(),
        };
        Some(match blocker.cause {
            Cause::Register => return None,
            _ if self.language == Language::Cpp
                && self.judge.is_of_vtable(&function.body, blocker.load) =>
            {
                "compile with -fstrict-vtable-pointers: the vtable pointer of an object does not \
                 change while it lives"
                    .to_owned()
            }
            Cause::NoTag | Cause::LoadNoTag
                if is_source && self.judge.module.graph().tag_count() == 0 =>
            {
                format!("this build has no tags (-fno-strict-aliasing, or -O0): {copy}")
            }
            Cause::LoadNoTag if function.body.is_reader(blocker.load) => copy,
            Cause::LoadNoTag if is_source && self.is_of_coroutine(function) => format!(
                "LLVM puts a coroutine's variables into a frame, and tags no access to it before LLVM 23: {copy}"
            ),
            Cause::NoTag | Cause::LoadNoTag if is_source => {
                format!(
                    "clang writes no tag for bit-fields, structs as a whole and memcpy: assign a \
                     struct's members one by one, or {copy}"
                )
            }
            Cause::NoTag => {
                let is_load = self.judge.is_load(&function.body, blocker.event);
                let noun = if is_load { "load" } else { "store" };
                format!("attach the tag of its type to the {noun}")
            }
            Cause::LoadNoTag => format!("attach the tag of its type to the {noun}"),
            Cause::RuleLlvm => "`tbaa lower` writes tags with which LLVM separates them".to_owned(),
            Cause::SamePlace => "the value changes in between: no tag can help".to_owned(),
            Cause::Order => format!("LLVM keeps the order of atomic accesses and fences: {copy}"),
            Cause::Errno => match self.callee(function, blocker) {
                Some(name) if means.calls && sets_errno(name) => {
                    "compile with -fno-math-errno if nothing reads errno".to_owned()
                }
                _ => copy,
            },
            Cause::FlattenedUnion if !is_source => {
                "describe the union, and `tbaa lower` writes tags for its members".to_owned()
            }
            Cause::FlattenedUnion => {
                format!("clang tags union members, and types that may alias, as char: {copy}")
            }
            Cause::Covers | Cause::SameType => {
                if parameter.is_none() && !is_source && blocker.cause == Cause::Covers {
                    "give one of them a type of its own that is not an ancestor of the other's"
                        .to_owned()
                } else if is_source && means.bytes && self.judge.is_byte(blocker) {
                    copy + BYTES
                } else {
                    copy
                }
            }
            Cause::Call | Cause::NoReturn { .. } => match self.pure(function, blocker) {
                Some(name) if means.calls => format!(
                    "declare {name} __attribute__((pure)) if it only reads memory, or {only_copy}"
                ),
                _ => copy,
            },
        })
    }

    /// Returns the global variable that a load reads, if this module defines it and other modules
    /// can name it. If no other module can name a variable, LLVM knows all its uses.
    /// LLVM: `GlobalsAAResult`.
    fn global(&self, function: &Judged<'a>, load: Event) -> Option<String> {
        let body = &function.body;
        let base = body.pointers.address(body.pointer(load.access()?)?).base;
        let Def::Global(name) = body.function.def(base) else { return None };
        let is_shared =
            self.judge.global(name).is_some_and(|global| global.defined && !global.local);
        (is_shared && self.language != Language::Other).then(|| function_name(name))
    }

    fn callee<'f>(&self, function: &Judged<'f>, blocker: &Blocker) -> Option<&'f [u8]> {
        let inst = function.body.inst(blocker.event)?;
        function.body.function.call(inst).map(|call| call.callee)
    }

    /// Returns advice that does not depend on the blocker: in most cases to copy the loaded value.
    fn copy(&self, blocked: &Blocked) -> String {
        if let Wanted::Vectorise(it) = &blocked.wanted
            && !it.is_fixed
        {
            return match self.language {
                _ if it.has_fixed => {
                    "copy what the loop loads from one place in every turn into local variables \
                     before the loop if it cannot change"
                }
                Language::Other => {
                    "give each of them an alias scope that excludes the other if no turn of the \
                     loop uses what another writes"
                }
                _ => {
                    "write `#pragma clang loop vectorize(assume_safety)` before the loop if no \
                     turn of the loop uses what another writes"
                }
            }
            .to_owned();
        }
        if blocked.is_held() || self.judge.is_store(blocked.load) {
            let object = match self.language {
                Language::Other => "a register",
                _ => "a local variable",
            };
            return format!(
                "hold the value in {object} during the loop and store it after the loop, if \
                 nothing else uses it meanwhile"
            );
        }
        let before = match blocked.wanted {
            Wanted::Hoist(_) | Wanted::Vectorise(_) => "before the loop",
            _ => "and use that",
        };
        match self.language {
            Language::Other => format!("load the value once {before} if it cannot change"),
            _ => format!("copy the value into a local variable {before} if it cannot change"),
        }
    }

    /// Returns whether a function is part of a coroutine. The function's parameter is then the
    /// coroutine's frame. LLVM: `CoroCloner`.
    fn is_of_coroutine(&self, function: &Judged<'a>) -> bool {
        let name = self.judge.module.functions().nth(function.index as usize).unwrap_or_default();
        [&b".resume"[..], b".destroy", b".cleanup"].iter().any(|part| name.ends_with(part))
    }

    /// Returns advice to declare a parameter `restrict`, if that separates blocker and load.
    fn parameter(&self, function: &Judged<'a>, blocker: &Blocker) -> Option<String> {
        if self.is_of_coroutine(function) {
            return None;
        }
        let span = self.judge.module.function_span(function.index);
        let condition = "if no other pointer leads there";
        self.judge.separating(&function.body, blocker).into_iter().find_map(|found| {
            let found = function.body.function.written(found);
            let keyword = match self.language {
                Language::C => "restrict",
                Language::Cpp => "__restrict",
                Language::Other => {
                    let name = printable(found);
                    return Some(format!("mark parameter {name} noalias {condition}"));
                }
            };
            let name = match self.debug.parameter(span.clone(), found) {
                Some(Parameter::Pointer(name)) => printable(name),
                Some(Parameter::This) => {
                    return Some(format!(
                        "declare the member function {keyword}, after its parameters, if no other \
                         pointer leads to this object"
                    ));
                }
                Some(_) => return None,
                None => printable(found),
            };
            Some(format!("declare parameter {name} {keyword} {condition}"))
        })
    }
}

/// Returns a function's name in the source, without the parameters that demangling appends.
fn source_name(callee: &[u8]) -> String {
    let mut name = function_name(callee);
    let mut depth = 0;
    let opens = |&(_, c): &(usize, char)| {
        depth += i32::from(c == ')') - i32::from(c == '(');
        c == '(' && depth == 0
    };
    // Only the last parentheses are cut: others belong to `(anonymous namespace)`, `operator()`.
    if let Some((at, _)) = name.char_indices().rev().find(opens)
        && callee.starts_with(b"_Z")
    {
        name.truncate(at);
    }
    name
}
