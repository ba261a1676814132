//! Computes the memory effects of functions and calls from their attributes.

use super::body::{Name, header};
use crate::globals::aliases;
use crate::{Argument, Attribute, Attributes, Call, Groups, Module};
use tbaa::parts::table::{HashMap, HashSet};
use tbaa_lex::lexer::{Lexer, words};
use tbaa_lex::source::unquoted;

/// A kind of memory that has its own bits in [`MemoryEffects`]. LLVM's name: `IRMemLocation`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MemoryLocation {
    /// Memory that arguments point to.
    Argument,
    /// Memory that no code of the module can access.
    Inaccessible,
    /// The variable `errno`.
    Errno,
    /// All other memory.
    Other,
    /// Target-specific memory, kind 0: `target_mem0`.
    Target0,
    /// Target-specific memory, kind 1: `target_mem1`.
    Target1,
}

/// How a function may access each kind of memory: LLVM's `MemoryEffects`, with the same bits.
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

    /// Creates the effects that allow `access` to all kinds: 1 to read, 2 to write, 3 for both.
    const fn all(access: u32) -> Self {
        MemoryEffects(access * 0b01_01_01_01_01_01)
    }

    /// Creates the effects that allow any access to one kind of memory, and none to others.
    const fn only(location: MemoryLocation) -> Self {
        MemoryEffects(3 << (2 * location as u32))
    }

    /// Returns the effects as LLVM's bits.
    pub fn to_bits(self) -> u32 {
        self.0
    }

    /// Returns the accesses that both effects allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        MemoryEffects(self.0 & other.0)
    }

    /// Returns the accesses that at least one of the effects allows.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        MemoryEffects(self.0 | other.0)
    }

    /// Returns these effects without those on one kind of memory.
    #[must_use]
    pub fn without(self, location: MemoryLocation) -> Self {
        MemoryEffects(self.0 & !Self::only(location).0)
    }

    /// Returns whether any memory may be written.
    pub fn writes(self) -> bool {
        self.and(Self::WRITE) != Self::NONE
    }

    /// Reads a `memory(...)` list; `None` for an unknown word. LLVM: `LLParser::parseMemoryAttr`.
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

    /// Returns the effects of an attribute from before LLVM 16, like LLVM's `upgradeMemoryAttr`.
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

/// Prefixes of intrinsics that store nothing. LLVM declares them as writing memory, so that its
/// passes do not reorder them.
const MARKERS: [&[u8]; 3] = [b"llvm.invariant.", b"llvm.lifetime.", b"llvm.prefetch"];

/// Operand bundles that do not access memory (`SILENT`), or only read it (`READING`). See LLVM's
/// `CallBase::hasReadingOperandBundles` and `CallBase::hasClobberingOperandBundles`.
const SILENT: [&[u8]; 4] = [b"ptrauth", b"kcfi", b"convergencectrl", b"deactivation-symbol"];
const READING: [&[u8]; 2] = [b"deopt", b"funclet"];

/// The memory effects of a module's functions and calls, as LLVM computes them from attributes.
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
    groups: HashMap<u32, Stated>,
    functions: HashMap<Name<'t>, (Stated, Vec<Argument<'t>>)>,
    intrinsics: HashMap<&'static [u8], MemoryEffects>,
    /// The names of the globals that are aliases of others.
    aliases: HashSet<Name<'t>>,
}

/// The properties that a list of attributes states.
#[derive(Clone, Copy, Default, Debug)]
struct Stated {
    /// The memory effects; `None` if the list states none.
    memory: Option<MemoryEffects>,
    /// True for `willreturn`: a call always ends.
    returns: bool,
    nounwind: bool,
    convergent: bool,
    null_is_valid: bool,
}

/// Prefixes, after `llvm.`, of the intrinsics whose calls do not always return. The source is LLVM
/// 22's `Intrinsics.td`, without the intrinsics of targets.
const MAY_END: [&[u8]; 26] = words(
    "asan. callbr. clear_cache coro. debugtrap eh. experimental.deoptimize \
     experimental.gc.statepoint experimental.guard experimental.patchpoint \
     experimental.stackmap gcread gcroot gcwrite hwasan. instrprof. objc. ptrauth.auth \
     ptrauth.resign read_volatile_register seh.scope. swift.async.context.addr trap ubsantrap \
     write_register xray.",
);

impl<'t> Effects<'t> {
    /// Reads the attributes of a module's functions.
    pub fn new(module: &'t Module<'_>) -> Self {
        let groups = Groups::new(module);
        let stated = |number| (number, stated(groups.of(number), |_| Stated::default()));
        let mut effects = Effects {
            groups: groups.numbers().map(stated).collect(),
            functions: HashMap::default(),
            intrinsics: HashMap::default(),
            aliases: aliases(module.text()).map(Name::of).collect(),
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
        let defined = module.functions.iter().map(|function| &function.head);
        for &head in module.declarations.iter().chain(defined) {
            let header = header(Lexer::new(module.text(), head as usize));
            if let Some((name, parameters, tail)) = header {
                let stated = effects.stated(tail);
                effects.functions.insert(Name::of(name), (stated, parameters));
            }
        }
        effects
    }

    /// Returns whether a global's name, without the `@`, is that of an alias.
    pub(super) fn is_alias(&self, name: &[u8]) -> bool {
        self.aliases.contains(&Name::of(name))
    }

    fn of_callee(&self, call: &Call<'t>) -> Stated {
        self.functions.get(&Name::of(call.callee)).map_or(Stated::default(), |known| known.0)
    }

    /// Returns whether a call or its callee is `convergent`.
    pub fn is_convergent(&self, call: &Call<'t>) -> bool {
        self.stated(call.attributes.clone()).convergent || self.of_callee(call).convergent
    }

    /// Returns whether a function's attributes allow accesses through null in address space 0.
    pub(super) fn null_is_valid(&self, attributes: &Attributes<'t>) -> bool {
        self.stated(attributes.clone()).null_is_valid
    }

    fn stated(&self, attributes: Attributes<'t>) -> Stated {
        stated(attributes, |group| self.groups.get(&group).copied().unwrap_or_default())
    }

    /// Returns whether a call always returns: it ends and does not unwind. Like LLVM's
    /// `isGuaranteedToTransferExecutionToSuccessor`.
    pub fn always_returns(&self, call: &Call<'t>) -> bool {
        let name = unquoted(call.callee);
        if self.intrinsic(&name).is_some() {
            let name = name.strip_prefix(b"llvm.").unwrap_or_default();
            return !MAY_END.iter().any(|it| name.starts_with(it));
        }
        let of_call = self.stated(call.attributes.clone());
        let of_callee = self.of_callee(call);
        (of_call.returns || of_callee.returns) && (of_call.nounwind || of_callee.nounwind)
    }

    /// Returns the memory effects of `@name`, like LLVM's `Function::getMemoryEffects`.
    pub fn of_function(&self, name: &[u8]) -> MemoryEffects {
        let stated = || self.functions.get(&Name::of(name))?.0.memory;
        let known = self.intrinsic(&unquoted(name)).or_else(stated);
        known.unwrap_or(MemoryEffects::ANY)
    }

    /// Returns whether a call's argument, or the callee's parameter, has one of these attributes.
    /// Ignores the parameter if an operand bundle of the call may write memory.
    pub fn argument_is(&self, call: &Call<'t>, nth: usize, texts: &[&str]) -> bool {
        // A bundle may access memory that the callee does not.
        let is_other = |attribute: &Attribute<'_>| match attribute {
            Attribute::Bundle(name) => !SILENT.contains(name) && !READING.contains(name),
            _ => false,
        };
        let has_bundle = call.attributes.clone().any(|(_, attribute)| is_other(&attribute));
        let parameters = self.functions.get(&Name::of(call.callee)).filter(|_| !has_bundle);
        let of_callee = parameters.and_then(|parameter| parameter.1.get(nth));
        let mut both = call.arguments.get(nth).into_iter().chain(of_callee);
        both.any(|argument| texts.iter().any(|text| argument.has(text.as_bytes())))
    }

    /// Returns the effects of one of LLVM's intrinsics; its name may have types as suffixes. See
    /// LLVM's `Intrinsic::lookupIntrinsicID`.
    fn intrinsic(&self, name: &[u8]) -> Option<MemoryEffects> {
        let mut name = name.strip_prefix(b"llvm.")?;
        loop {
            if let Some(&known) = self.intrinsics.get(name) {
                return Some(known);
            }
            name = &name[..memchr::memrchr(b'.', name)?];
        }
    }

    /// Returns a call's memory effects, like LLVM's `CallBase::getMemoryEffects`.
    pub fn of_call(&self, call: &Call<'t>) -> MemoryEffects {
        let stated = self.stated(call.attributes.clone()).memory.unwrap_or(MemoryEffects::ANY);
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

    /// Returns a call's effects, without those on inaccessible and target-specific memory. A call
    /// of an intrinsic in `MARKERS` has no effects.
    pub fn on_loads(&self, call: &Call<'t>) -> MemoryEffects {
        if MARKERS.iter().any(|marker| call.callee.starts_with(marker)) {
            return MemoryEffects::NONE;
        }
        [MemoryLocation::Inaccessible, MemoryLocation::Target0, MemoryLocation::Target1]
            .into_iter()
            .fold(self.of_call(call), MemoryEffects::without)
    }
}

/// Reads a list of attributes. For memory, groups override attributes outside groups, and a later
/// group overrides an earlier one.
fn stated<'t>(
    attributes: impl Iterator<Item = (std::ops::Range<usize>, Attribute<'t>)>,
    of_group: impl Fn(u32) -> Stated,
) -> Stated {
    let (mut stated, mut old, mut all) = (None, MemoryEffects::ANY, Stated::default());
    for (_, attribute) in attributes {
        match attribute {
            Attribute::Word(b"memory", Some(list)) => {
                stated = MemoryEffects::parse(list).or(stated);
            }
            Attribute::Word(b"willreturn", _) => all.returns = true,
            Attribute::Word(b"nounwind", _) => all.nounwind = true,
            Attribute::Word(b"convergent", _) => all.convergent = true,
            Attribute::Word(b"null_pointer_is_valid", _) => all.null_is_valid = true,
            Attribute::Word(word, _) => {
                old = MemoryEffects::of_old(word).map_or(old, |effects| old.and(effects));
            }
            Attribute::Group(group) => {
                let of = of_group(group);
                all.memory = of.memory.or(all.memory);
                all.returns |= of.returns;
                all.nounwind |= of.nounwind;
                all.convergent |= of.convergent;
                all.null_is_valid |= of.null_is_valid;
            }
            Attribute::Bundle(_) => {}
        }
    }
    let old = Some(old).filter(|&old| old != MemoryEffects::ANY);
    Stated { memory: all.memory.or(old).or(stated), ..all }
}

/// Returns whether a call is volatile, like LLVM's `Instruction::isVolatile`.
pub(super) fn is_volatile(call: &Call<'_>) -> bool {
    let is = |start: &[u8]| call.callee.starts_with(start);
    let is_atomic = || memchr::memmem::find(call.callee, b".atomic.").is_some();
    let flag = match () {
        () if is(b"llvm.matrix.column.major.load.") => call.arguments.get(2),
        () if is(b"llvm.matrix.column.major.store.") || is(b"llvm.mem") && !is_atomic() => {
            call.arguments.get(3)
        }
        () => None,
    };
    flag.is_some_and(|flag| flag.ty == b"i1" && flag.value == b"true")
}
