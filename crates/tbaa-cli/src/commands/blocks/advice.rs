//! How to free a load that stores or calls block, in the words of its language.

use tbaa_ir::{DebugInfo, Parameter};

use tbaa_check::blocks::{Blocked, Blocker, Cause, Event, Judge, Judged, Wanted};
use tbaa_check::char_origin::{is_char, is_wider_char};
use tbaa_ir::{Def, Function, Inst, Object};

use crate::printable::{function_name, printable};

/// What a module was compiled from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    C,
    Cpp,
    /// What is read is metadata that a front end wrote: advice is for its author.
    Other,
}

/// What clang 22 tags apart from `char`: `std::byte`, `uint8_t` and enumerations of C are not.
pub(super) const BYTES: &str = ". A byte type that aliases nothing else also helps: char8_t or an enum over \
                     unsigned char in C++, _BitInt(8) in both. If the byte is the one member of a \
                     struct, assign the member, not the struct";

pub(super) struct Advisor<'a> {
    judge: &'a Judge<'a>,
    debug: &'a DebugInfo<'a>,
    language: Language,
}

/// What frees a load besides a copy of its value, of all its blockers.
pub(super) struct Means {
    /// Parameters that are declared `restrict`.
    restrict: bool,
    /// Another byte type.
    bytes: bool,
    /// Attributes of the functions that are called.
    calls: bool,
    /// A global variable that could be `static`.
    statics: Option<String>,
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

    /// What besides a copy of the value frees a load. Each blocker must have an answer: if one of
    /// them remains, the others' answers free the load of none.
    pub(super) fn means(&self, function: &Judged<'a>, blocked: &Blocked) -> Means {
        let of_call = |it: &Blocker| match it.cause {
            Cause::Call | Cause::NoReturn { .. } => self.pure(function, it).is_some(),
            Cause::Errno => self.callee(function, it).is_some_and(is_math),
            cause => cause == Cause::Register,
        };
        let is_open = |it: &Blocker| {
            !matches!(it.cause, Cause::SamePlace | Cause::Order | Cause::NoReturn { .. })
        };
        let has_parameter = |it: &Blocker| is_open(it) && self.parameter(function, it).is_some();
        let all = |of_access: &dyn Fn(&Blocker) -> bool| {
            blocked.blockers.iter().all(|it| of_call(it) || of_access(it))
        };
        let [restrict, bytes] = [all(&has_parameter), all(&|it| self.is_byte(it))];
        let is_access = |it: &Blocker| it.event.access().is_some() && it.cause != Cause::Order;
        let global = || self.global(function, blocked.load);
        let statics = blocked.blockers.iter().all(is_access).then(global).flatten();
        Means { restrict, bytes, calls: restrict || bytes, statics }
    }

    /// The function that a blocker calls, if it could be declared pure.
    fn pure(&self, function: &Judged<'a>, blocker: &Blocker) -> Option<String> {
        let (body, inst) = (&function.body.function, function.body.inst(blocker.event)?);
        let name = source_name(body.call(inst).filter(|_| may_be_pure(body, inst))?.callee);
        (self.language != Language::Other && !name.is_empty()).then_some(name)
    }

    /// What would free the load of this blocker; `None` where nothing needs to be done.
    /// Other means than a copy are named if they help.
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
        let copy = match (&parameter, &means.statics) {
            (Some(parameter), _) => format!("{parameter}, or {}", self.copy(blocked)),
            (None, Some(name)) => format!(
                "declare {name} static if only this file uses it and nothing takes its address, or {}",
                self.copy(blocked)
            ),
            (None, None) => self.copy(blocked),
        };
        Some(match blocker.cause {
            Cause::Register => return None,
            _ if self.is_of_vtable(function, blocker.load) => {
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
                Some(name) if means.calls && is_math(name) => {
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
                let bytes =
                    if is_source && means.bytes && self.is_byte(blocker) { BYTES } else { "" };
                if parameter.is_none() && !is_source && blocker.cause == Cause::Covers {
                    "give one of them a type of its own that is not an ancestor of the other's"
                        .to_owned()
                } else {
                    format!("{copy}{bytes}")
                }
            }
            Cause::Call | Cause::NoReturn { .. } => match self.pure(function, blocker) {
                Some(name) if means.calls => format!(
                    "declare {name} __attribute__((pure)) if it only reads memory, or {}",
                    self.copy(blocked)
                ),
                _ => copy,
            },
        })
    }

    /// The global variable that a load reads, if this module defines it and others can name it.
    /// LLVM knows where a variable of this module alone is used.
    ///
    /// LLVM: `GlobalsAAResult`.
    fn global(&self, function: &Judged<'a>, load: Event) -> Option<String> {
        let body = &function.body;
        let base = body.pointers.address(body.pointer(load.access()?)?).base;
        let Def::Global(name) = body.function.def(base) else { return None };
        let is_shared = self.judge.global(name).is_some_and(|it| it.defined && !it.local);
        (is_shared && self.language != Language::Other).then(|| function_name(name))
    }

    /// Whether an access is to the pointer by which an object of C++ finds its virtual functions,
    /// or follows that pointer.
    fn is_of_vtable(&self, function: &Judged<'a>, load: Event) -> bool {
        let module = self.judge.module;
        let is_vtable = |it: usize| {
            let tag = module.instructions()[it].tag.and_then(|tag| module.graph().tag(tag).ok());
            tag.is_some_and(|it| module.graph().ty(it.access).name() == Some(b"vtable pointer"))
        };
        let access = load.access();
        let pointer = access.and_then(|it| function.body.pointer(it));
        let base = pointer.map(|it| function.body.pointers.address(it).base);
        let from = base.and_then(|base| function.body.function.inst(base)?.access);
        self.language == Language::Cpp && [access, from].into_iter().flatten().any(is_vtable)
    }

    /// Whether one of a blocker and its load is of one byte that is tagged as `char`, and another
    /// byte type would separate the two.
    fn is_byte(&self, blocker: &Blocker) -> bool {
        let module = self.judge.module;
        blocker.cause == Cause::Covers
            && [blocker.event, blocker.load].into_iter().filter_map(Event::access).any(|it| {
                let it = &module.instructions()[it];
                it.tag.is_some_and(|tag| is_char(module, tag))
                    && !is_wider_char(module, self.judge.sizes, it)
            })
    }

    /// The function that a blocker calls.
    fn callee<'f>(&self, function: &Judged<'f>, blocker: &Blocker) -> Option<&'f [u8]> {
        let inst = function.body.inst(blocker.event)?;
        function.body.function.call(inst).map(|it| it.callee)
    }

    /// The advice that works for every pointer.
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

    /// The parameter whose declaration as `restrict` separates the two. clang heeds it on the
    /// parameters of functions alone, and only accesses through the parameter itself count.
    fn parameter(&self, function: &Judged<'a>, blocker: &Blocker) -> Option<String> {
        let body = &function.body;
        let pointers = &body.pointers;
        let pointer = body.pointer(blocker.load.access()?)?;
        let read = pointers.based_on(pointer);
        // Of a call, which pointers it has is not known.
        let (write, is_hidden) = match blocker.event {
            Event::Access(index) => (Some(pointers.based_on(body.pointer(index)?)), false),
            Event::Other(at) => {
                let to_read = self.judge.is_store(blocker.load);
                (None, pointers.is_out_of_reach(pointer, at, to_read, true))
            }
        };
        if Some(read) == write || !is_hidden && write.is_none() {
            return None;
        }
        let span = self.judge.module.function_span(function.index);
        let both = [(Some(read), write), (write, Some(read))].into_iter();
        let open = both.filter_map(|(it, other)| {
            let it = it.filter(|&it| pointers.object(it) == Object::Parameter)?;
            let apart = || other.is_some_and(|other| pointers.restrict_separates(it, other));
            (is_hidden || apart()).then(|| body.function.written(it))
        });
        let mut advised = open.filter_map(|found| {
            let condition = "if no other pointer leads there";
            let keyword = match self.language {
                Language::C => "restrict",
                Language::Cpp => "__restrict",
                Language::Other => {
                    return Some(format!(
                        "mark parameter {} noalias {condition}",
                        printable(found)
                    ));
                }
            };
            match self.debug.parameter(span.clone(), found) {
                Some(Parameter::Pointer(name)) => {
                    let name = printable(name.as_bytes());
                    Some(format!("declare parameter {name} {keyword} {condition}"))
                }
                Some(Parameter::This) => Some(format!(
                    "declare the member function {keyword}, after its parameters, if no other \
                     pointer leads to this object"
                )),
                Some(_) => None,
                None => {
                    Some(format!("declare parameter {} {keyword} {condition}", printable(found)))
                }
            }
        });
        advised.next()
    }
}

/// A function's name as its declaration has it, without parameters.
fn source_name(callee: &[u8]) -> String {
    let name = function_name(callee);
    if callee.starts_with(b"_Z") {
        name.split('(').next().unwrap_or_default().to_owned()
    } else {
        name
    }
}

/// Whether a function of C's `math.h` sets errno, which `-fno-math-errno` concerns.
fn is_math(name: &[u8]) -> bool {
    const NAMES: &str = "acos acosh asin atan2 atanh cos cosh erfc exp exp10 exp2 expm1 fdim fma \
                         fmod hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb \
                         lrint lround nextafter nexttoward pow remainder remquo scalbln scalbn sin \
                         sincos sinh sqrt tan tgamma";
    let name = String::from_utf8_lossy(name);
    let bare = name.strip_suffix(['f', 'l']).unwrap_or(&name);
    NAMES.split(' ').any(|it| it == name || it == bare)
}

/// Whether a call has a result, and no pointer through which it could give others.
fn may_be_pure(function: &Function<'_>, inst: &Inst) -> bool {
    let Some(call) = function.call(inst) else { return false };
    let has = |attributes: &[u8], word: &[u8]| {
        attributes.split(u8::is_ascii_whitespace).any(|it| it == word)
    };
    let mut arguments = call.arguments.iter().zip(function.operands(inst));
    let writable = arguments.any(|(it, &value)| {
        function.is_pointer(value)
            && !["readonly", "readnone"].iter().any(|word| has(it.attributes, word.as_bytes()))
    });
    let is_new = has(function.text_of(inst), b"noalias");
    inst.result.is_some() && !is_new && !writable
}
