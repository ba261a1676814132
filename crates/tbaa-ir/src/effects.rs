//! What functions and calls do to memory, as far as attributes say.

use std::borrow::Cow;

use super::attributes::{Attribute, Attributes, Groups};
use super::body::{Argument, Call, header};
use super::module::Module;
use tbaa::parts::table::HashMap;
use tbaa_lex::lexer::Lexer;
use tbaa_lex::source::unescape;

/// A kind of memory that effects speak of.
///
/// LLVM: `IRMemLocation`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MemoryLocation {
    /// What arguments point to.
    Argument,
    /// What no code of the module can access.
    Inaccessible,
    /// The variable `errno`.
    Errno,
    /// All other memory.
    Other,
    /// Memory that the target gives a meaning to.
    Target0,
    /// More of it.
    Target1,
}

/// What a function may do to each kind of memory.
///
/// LLVM: `MemoryEffects`, with the same numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryEffects(u32);

impl MemoryEffects {
    /// No memory is read or written.
    pub const NONE: Self = Self::all(0);
    /// All memory may be read.
    pub const READ: Self = Self::all(1);
    /// All memory may be written.
    pub const WRITE: Self = Self::all(2);
    /// All memory may be read and written: nothing is known.
    pub const ANY: Self = Self::all(3);

    /// 1 to read, 2 to write, 3 for both.
    const fn all(access: u32) -> Self {
        MemoryEffects(access * 0b01_01_01_01_01_01)
    }

    /// Only what is done to memory of one kind.
    const fn only(location: MemoryLocation) -> Self {
        MemoryEffects(3 << (2 * location as u32))
    }

    /// Returns the number that LLVM has for it.
    #[must_use]
    pub fn to_bits(self) -> u32 {
        self.0
    }

    /// Returns what both sides allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        MemoryEffects(self.0 & other.0)
    }

    /// Returns what one side or the other allows.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        MemoryEffects(self.0 | other.0)
    }

    /// Returns the effects on all memory but one kind.
    #[must_use]
    pub fn without(self, location: MemoryLocation) -> Self {
        MemoryEffects(self.0 & !Self::only(location).0)
    }

    /// Returns whether any memory may be written.
    #[must_use]
    pub fn writes(self) -> bool {
        self.and(Self::WRITE) != Self::NONE
    }

    /// Reads what stands in `memory(...)`; `None` where LLVM would not.
    ///
    /// LLVM: `LLParser::parseMemoryAttr`.
    fn parse(list: &[u8]) -> Option<Self> {
        let mut effects = Self::NONE;
        for part in list.split(|&byte| byte == b',') {
            let mut sides = part.rsplitn(2, |&byte| byte == b':').map(<[u8]>::trim_ascii);
            let access = match sides.next()? {
                b"none" => Self::NONE,
                b"read" => Self::READ,
                b"write" => Self::WRITE,
                b"readwrite" => Self::ANY,
                _ => return None,
            };
            let location = match sides.next() {
                None => {
                    effects = access;
                    continue;
                }
                Some(b"argmem") => MemoryLocation::Argument,
                Some(b"inaccessiblemem") => MemoryLocation::Inaccessible,
                Some(b"errnomem") => MemoryLocation::Errno,
                Some(b"target_mem0") => MemoryLocation::Target0,
                Some(b"target_mem1") => MemoryLocation::Target1,
                Some(_) => return None,
            };
            effects = effects.without(location).or(access.and(Self::only(location)));
        }
        Some(effects)
    }

    /// What attributes say that LLVM had before version 16.
    ///
    /// LLVM: `upgradeMemoryAttr`.
    fn of_old(word: &[u8]) -> Option<Self> {
        let [argument, inaccessible] =
            [MemoryLocation::Argument, MemoryLocation::Inaccessible].map(Self::only);
        Some(match word {
            b"readnone" => Self::NONE,
            b"readonly" => Self::READ,
            b"writeonly" => Self::WRITE,
            b"argmemonly" => argument,
            b"inaccessiblememonly" => inaccessible,
            b"inaccessiblemem_or_argmemonly" => argument.or(inaccessible),
            _ => return None,
        })
    }
}

/// Intrinsics that LLVM says write what their argument points to, so that they stay in
/// order. They change nothing that is loaded after.
const MARKERS: [&[u8]; 3] = [b"llvm.invariant.", b"llvm.lifetime.", b"llvm.prefetch"];

/// Bundles that say nothing of memory, and those that only let it be read.
///
/// LLVM: `CallBase::hasReadingOperandBundles`, `CallBase::hasClobberingOperandBundles`.
const SILENT: [&[u8]; 4] = [b"ptrauth", b"kcfi", b"convergencectrl", b"deactivation-symbol"];
const READING: [&[u8]; 2] = [b"deopt", b"funclet"];

/// What the functions and calls of a module do to memory, as LLVM reads it from attributes.
///
/// ```
/// let text = b"declare i32 @g() memory(read)\ndefine i32 @f() {\n  %x = call i32 @g()\n  ret i32 %x\n}\n";
/// let module = tbaa_ir::read(text)?;
/// let (effects, sizes) = (tbaa_ir::Effects::new(&module), tbaa_ir::Sizes::new(&module));
/// let function = module.function(&sizes, 0);
/// let call = function.call(&function.instructions[0]).unwrap();
/// assert_eq!(effects.of_call(&call), tbaa_ir::MemoryEffects::READ);
/// # Ok::<(), tbaa_ir::TextError>(())
/// ```
#[derive(Debug)]
pub struct Effects<'t> {
    /// `None` where a group says nothing of memory.
    groups: HashMap<u32, (Option<MemoryEffects>, Ends)>,
    functions: HashMap<Cow<'t, [u8]>, (MemoryEffects, Ends, Vec<Argument<'t>>)>,
    intrinsics: HashMap<&'static [u8], MemoryEffects>,
}

/// The attributes that say how a call ends.
#[derive(Clone, Copy, Default, Debug)]
struct Ends {
    /// It comes to an end: `willreturn`.
    returns: bool,
    /// It throws nothing: `nounwind`.
    nounwind: bool,
}

/// Prefixes of the intrinsics that may not return, or unwind. Source: LLVM 22's `Intrinsics.td`,
/// those that belong to no target.
const MAY_END: [&[u8]; 26] = [
    b"asan.", b"callbr.", b"clear_cache", b"coro.", b"debugtrap", b"eh.",
    b"experimental.deoptimize", b"experimental.gc.statepoint", b"experimental.guard",
    b"experimental.patchpoint", b"experimental.stackmap", b"gcread", b"gcroot", b"gcwrite",
    b"hwasan.", b"instrprof.", b"objc.", b"ptrauth.auth", b"ptrauth.resign",
    b"read_volatile_register", b"seh.scope.", b"swift.async.context.addr", b"trap", b"ubsantrap",
    b"write_register", b"xray.",
];

impl<'t> Effects<'t> {
    /// Reads the attributes of a module's functions.
    #[must_use]
    pub fn new(module: &'t Module<'_>) -> Self {
        let groups = Groups::new(module);
        let bodies = groups.numbers().map(|it| {
            (it, (stated(groups.of(it), |_| None), ends(groups.of(it), |_| Ends::default())))
        });
        let mut effects = Effects {
            groups: bodies.collect(),
            functions: HashMap::default(),
            intrinsics: HashMap::default(),
        };
        let mut memory = MemoryEffects::ANY;
        for line in include_str!("intrinsics.txt").lines().filter(|line| !line.starts_with('#')) {
            match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                Some(list) => {
                    memory = MemoryEffects::parse(list.as_bytes()).unwrap_or(MemoryEffects::ANY);
                }
                None => {
                    let names = line.split_ascii_whitespace();
                    effects.intrinsics.extend(names.map(|name| (name.as_bytes(), memory)));
                }
            }
        }
        let defined = (0..module.functions().len() as u32).map(|it| module.header_span(it).start);
        let heads = module.declarations.iter().map(|&it| it as usize).chain(defined);
        for head in heads {
            if let Some((name, parameters, tail)) = header(Lexer::new(module.text(), head)) {
                let (memory, ends) = (effects.stated(tail.clone()), effects.ends(tail));
                effects.functions.insert(unquoted(name), (memory, ends, parameters));
            }
        }
        effects
    }

    fn stated(&self, attributes: Attributes<'t>) -> MemoryEffects {
        let of_group = |group| self.groups.get(&group)?.0;
        stated(attributes, of_group).unwrap_or(MemoryEffects::ANY)
    }

    fn ends(&self, attributes: Attributes<'t>) -> Ends {
        ends(attributes, |group| self.groups.get(&group).map_or(Ends::default(), |it| it.1))
    }

    /// Returns whether what follows a call is always run after it: the call comes to an end, and
    /// throws nothing.
    ///
    /// LLVM: `isGuaranteedToTransferExecutionToSuccessor`.
    #[must_use]
    pub fn always_returns(&self, call: &Call<'t>) -> bool {
        let name = unquoted(call.callee);
        if self.intrinsic(&name).is_some() {
            let name = name.strip_prefix(b"llvm.").unwrap_or_default();
            return !MAY_END.iter().any(|it| name.starts_with(it));
        }
        let of_call = self.ends(call.attributes.clone());
        let of_callee = self.functions.get(&*name).map_or(Ends::default(), |it| it.1);
        (of_call.returns || of_callee.returns) && (of_call.nounwind || of_callee.nounwind)
    }

    /// Returns what a function does; `name` is as the text writes it after the `@`.
    ///
    /// LLVM: `Function::getMemoryEffects`.
    #[must_use]
    pub fn of_function(&self, name: &[u8]) -> MemoryEffects {
        let name = unquoted(name);
        let known = self.intrinsic(&name).or_else(|| Some(self.functions.get(&*name)?.0));
        known.unwrap_or(MemoryEffects::ANY)
    }

    /// Returns whether an attribute of the call's argument, or of its callee's parameter, has one of
    /// these texts.
    #[must_use]
    pub fn argument_is(&self, call: &Call<'t>, nth: usize, texts: &[&str]) -> bool {
        let parameters = self.functions.get(&*unquoted(call.callee));
        let of_callee = parameters.and_then(|it| it.2.get(nth));
        let both = call.arguments.get(nth).into_iter().chain(of_callee);
        both.into_iter().any(|it| {
            texts.iter().any(|text| memchr::memmem::find(it.attributes, text.as_bytes()).is_some())
        })
    }

    /// What LLVM's table says of an intrinsic, whose name may end with types.
    ///
    /// LLVM: `Intrinsic::lookupIntrinsicID`.
    fn intrinsic(&self, name: &[u8]) -> Option<MemoryEffects> {
        let mut name = name.strip_prefix(b"llvm.")?;
        loop {
            if let Some(&known) = self.intrinsics.get(name) {
                return Some(known);
            }
            name = &name[..memchr::memrchr(b'.', name)?];
        }
    }

    /// Returns what a call does.
    ///
    /// LLVM: `CallBase::getMemoryEffects`.
    #[must_use]
    pub fn of_call(&self, call: &Call<'t>) -> MemoryEffects {
        let stated = self.stated(call.attributes.clone());
        if call.callee.is_empty() {
            return stated;
        }
        let mut of_function = self.of_function(call.callee);
        if call.callee != b"llvm.assume" {
            for (_, attribute) in call.attributes.clone() {
                match attribute {
                    Attribute::Bundle(name) if SILENT.contains(&name) => {}
                    Attribute::Bundle(name) if READING.contains(&name) => {
                        of_function = of_function.or(MemoryEffects::READ);
                    }
                    Attribute::Bundle(_) => of_function = MemoryEffects::ANY,
                    _ => {}
                }
            }
        }
        if is_volatile(call) {
            of_function = of_function.or(MemoryEffects::only(MemoryLocation::Inaccessible));
        }
        stated.and(of_function)
    }

    /// Returns what a call does to memory that may be loaded after it.
    #[must_use]
    pub fn on_loads(&self, call: &Call<'t>) -> MemoryEffects {
        if MARKERS.iter().any(|marker| call.callee.starts_with(marker)) {
            return MemoryEffects::NONE;
        }
        [MemoryLocation::Inaccessible, MemoryLocation::Target0, MemoryLocation::Target1]
            .into_iter()
            .fold(self.of_call(call), MemoryEffects::without)
    }
}

/// What a list of attributes says of memory; `None` where it says nothing. Groups replace
/// what is said beside them, and each what one before it says.
fn stated<'t>(
    attributes: impl Iterator<Item = (std::ops::Range<usize>, Attribute<'t>)>,
    of_group: impl Fn(u32) -> Option<MemoryEffects>,
) -> Option<MemoryEffects> {
    let (mut stated, mut old, mut in_groups) = (None, MemoryEffects::ANY, None);
    for (_, attribute) in attributes {
        match attribute {
            Attribute::Word(b"memory", Some(list)) => {
                stated = MemoryEffects::parse(list).or(stated);
            }
            Attribute::Word(word, _) => {
                old = MemoryEffects::of_old(word).map_or(old, |effects| old.and(effects));
            }
            Attribute::Group(group) => in_groups = of_group(group).or(in_groups),
            Attribute::Bundle(_) => {}
        }
    }
    in_groups.or(Some(old).filter(|&old| old != MemoryEffects::ANY)).or(stated)
}

/// Reads how a call ends from a list of attributes.
fn ends<'t>(
    attributes: impl Iterator<Item = (std::ops::Range<usize>, Attribute<'t>)>,
    of_group: impl Fn(u32) -> Ends,
) -> Ends {
    attributes.fold(Ends::default(), |Ends { returns, nounwind }, (_, attribute)| {
        let more = match attribute {
            Attribute::Word(b"willreturn", _) => Ends { returns: true, nounwind: false },
            Attribute::Word(b"nounwind", _) => Ends { returns: false, nounwind: true },
            Attribute::Group(group) => of_group(group),
            _ => Ends::default(),
        };
        Ends { returns: returns || more.returns, nounwind: nounwind || more.nounwind }
    })
}

/// LLVM: `Instruction::isVolatile`.
fn is_volatile(call: &Call<'_>) -> bool {
    let which = match call.callee {
        callee if callee.starts_with(b"llvm.matrix.column.major.load.") => 2,
        callee if callee.starts_with(b"llvm.matrix.column.major.store.") => 3,
        callee
            if callee.starts_with(b"llvm.mem")
                && memchr::memmem::find(callee, b".atomic.").is_none() =>
        {
            3
        }
        _ => return false,
    };
    call.arguments.get(which).is_some_and(|it| it.ty == b"i1" && it.value == b"true")
}

/// A name without its quotes and escapes.
pub(super) fn unquoted(name: &[u8]) -> Cow<'_, [u8]> {
    match name.strip_prefix(b"\"") {
        Some(quoted) => Cow::Owned(unescape(quoted.strip_suffix(b"\"").unwrap_or(quoted))),
        None => Cow::Borrowed(name),
    }
}
