//! What keeps a load from being reused or hoisted, as far as types can tell.
//!
//! A load could go if an earlier access has its value on every way to it, or if a loop does it in
//! every turn through one pointer. It stays where an event in between may change what is loaded,
//! if only on some of the ways. In a loop it also stays behind a call that may not return, unless
//! its pointer may be followed in any case. A call that yields what it reads is a load as well.
//! Each such event is a [`Blocker`], and its [`Cause`] says whether a tag could rule it out. The
//! judge reads what LLVM reads: the flow of control, pointers, attributes of calls, and tags by
//! rule `llvm`. `!tbaa.struct` is not read, by LLVM's alias analysis as by this.
//!
//! LLVM: `GVNPass`, `LoopInvariantCodeMotion`, `MemoryDependenceResults`.

mod body;
mod means;
mod perf;
mod proof;
mod prove;
mod vector;
mod ways;

use std::collections::{BTreeMap, HashMap, HashSet};

use tbaa::explain::Clause;
use tbaa::{AliasResult, AliasRule, Graph, Oracle, TagId};
use tbaa_ir::{
    Address, Def, Effects, Flow, Global, Instruction, Loop, MemoryEffects, MemoryLocation, Module,
    Opcode, Sizes, Value,
};

use crate::char_origin::is_wider_char;
use body::Key;
pub use body::{Body, Event};
pub use means::sets_errno;
pub use perf::{BySymbol, PerfLine, PerfScript};
pub use proof::{Figures, Sample};
pub use prove::{AskError, BlockCounts, Opt, Outcome, Prover, block_counts};
pub use vector::loops;
use ways::{Point, Way, back, partly_back};

/// What an optimiser could do with a load or a loop, were it not for the blockers.
pub enum Wanted {
    /// Take the value that an access loaded or stored: one of these stands last
    /// on each way.
    Reuse(Vec<Event>),
    /// Load before the loop with this header, a block.
    Hoist(usize),
    /// Store after the loop with this header: what is stored is held in a register.
    Sink(usize),
    /// Vectorise a loop, or leave out a check in front of it.
    Vectorise(Box<Vectorise>),
    /// Take the value of one of these, and load on the one way on which none of
    /// them stands.
    Partly(Vec<Event>),
}

/// What LLVM makes of a loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Vectors {
    /// Not vectorised.
    Scalar,
    /// Vectorised, behind a check at run time that accesses do not overlap.
    Checked,
    /// Vectorised, without a check.
    Vectorised,
}

/// A loop, and what keeps it from being vectorised.
pub struct Vectorise {
    /// The block that begins it.
    pub header: usize,
    /// What LLVM makes of it.
    pub now: Vectors,
    /// With tags that separate all that tags can separate in it.
    pub then: Vectors,
    /// Why LLVM does not vectorise it, in its own words.
    pub remark: Option<String>,
    /// Whether the access that is judged has the same pointer in every turn.
    pub is_fixed: bool,
    /// Whether it or another that is blamed has.
    pub has_fixed: bool,
}

/// Why a store or call counts as one that may change what is loaded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cause {
    /// The store has no tag.
    NoTag,
    /// The load has none.
    LoadNoTag,
    /// One of the two is tagged `char`, and is to something wider: what clang
    /// makes of a union's member.
    FlattenedUnion,
    /// One of the two is to a `char`, or to another type that covers the other's.
    Covers,
    /// Rule union tells the two apart, and rule llvm does not.
    RuleLlvm,
    /// Both are to what may be one object.
    SameType,
    /// It writes the very bytes that are loaded.
    SamePlace,
    /// It is to the very place, and does no harm: LLVM holds the value in a register through
    /// the loop once nothing else is in the way.
    ///
    /// LLVM: `promoteLoopAccessesToScalars`.
    Register,
    /// An atomic access, or a fence: types do not matter.
    Order,
    /// A call that may write anything.
    Call,
    /// A call that may write `errno`.
    Errno,
    /// A call that may not return, or unwind: what stands behind it in a loop is not run in every
    /// turn. LLVM says the same of a volatile store.
    NoReturn {
        /// It may also change what is loaded.
        writes: bool,
    },
}

impl Cause {
    /// Returns the name in JSON.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Cause::NoTag => "no tag",
            Cause::LoadNoTag => "load without a tag",
            Cause::FlattenedUnion => "flattened union",
            Cause::Covers => "covering type",
            Cause::RuleLlvm => "rule llvm",
            Cause::SameType => "same type",
            Cause::SamePlace | Cause::Register => "same place",
            Cause::Order => "order",
            Cause::Call => "call",
            Cause::Errno => "errno",
            Cause::NoReturn { .. } => "may not return",
        }
    }

    /// Whether a tag can change it.
    #[must_use]
    pub fn is_of_types(self) -> bool {
        use Cause::{Call, Errno, NoReturn, Order, Register, SamePlace};
        !matches!(self, SamePlace | Register | Order | Call | Errno | NoReturn { .. })
    }

    /// Whether tags could free a load from a list of blockers.
    #[must_use]
    pub fn are_of_types(blockers: &[Blocker]) -> bool {
        blockers.iter().all(|it| it.cause.is_of_types() || it.cause == Cause::Register)
    }
}

/// A store or call that may change what is loaded.
#[derive(Clone, Copy)]
pub struct Blocker {
    /// What it is.
    pub event: Event,
    /// Why it counts.
    pub cause: Cause,
    /// The load that it may change: the load that is judged, or one of its
    /// pointer.
    pub load: Event,
}

/// A load and what keeps it, or a store and what keeps it in a loop.
pub struct Blocked {
    /// The load, or a call that reads; the store where [`Wanted::Sink`] is wanted.
    pub load: Event,
    /// What could become of it.
    pub wanted: Wanted,
    /// What keeps it; none where LLVM can do what is wanted already.
    pub blockers: Vec<Blocker>,
    /// How many loops it is in.
    pub depth: usize,
}

impl Blocked {
    /// Whether the value changes from turn to turn of a loop, and could be held in a register.
    #[must_use]
    pub fn is_held(&self) -> bool {
        matches!(self.wanted, Wanted::Sink(_))
            || self.blockers.iter().any(|it| it.cause == Cause::Register)
    }
}

/// A function that is judged.
pub struct Judged<'t> {
    /// Index into [`Module::functions`].
    pub index: u32,
    /// What it does.
    pub body: Body<'t>,
    /// Its loads that could be reused or hoisted, and stores that could leave a loop, in the
    /// order of the text.
    pub loads: Vec<Blocked>,
}

/// How many loads one after another are followed: pointers to pointers.
const ROUNDS: usize = 4;

/// What is known of a module as a whole.
pub struct Judge<'a> {
    /// The module.
    pub module: &'a Module<'a>,
    /// The sizes of its types.
    pub sizes: &'a Sizes,
    effects: &'a Effects<'a>,
    llvm: Oracle<&'a Graph>,
    union: Oracle<&'a Graph>,
    globals: HashMap<&'a [u8], Global<'a>>,
}

impl<'a> Judge<'a> {
    /// A judge of a module's functions.
    #[must_use]
    pub fn new(module: &'a Module<'a>, sizes: &'a Sizes, effects: &'a Effects<'a>) -> Self {
        let [llvm, union] =
            [AliasRule::Llvm, AliasRule::Union].map(|it| Oracle::new(module.graph(), it));
        let globals = module.globals(sizes).into_iter().collect();
        Judge { module, sizes, effects, llvm, union, globals }
    }

    /// Returns a global variable of the module, by its name without the `@`.
    #[must_use]
    pub fn global(&self, name: &[u8]) -> Option<Global<'a>> {
        self.globals.get(name).copied()
    }

    /// Judges the functions that are wanted, by their indices.
    pub fn functions(&self, is_wanted: impl Fn(u32) -> bool) -> Vec<Judged<'a>> {
        let judged = |index| {
            let mut body = Body::read(self.module, (self.sizes, self.effects), index);
            let loads = self.loads(&mut body);
            Judged { index, body, loads }
        };
        (0..self.module.functions().len() as u32).filter(|&it| is_wanted(it)).map(judged).collect()
    }

    fn instruction(&self, index: usize) -> &'a Instruction {
        &self.module.instructions()[index]
    }

    fn tag(&self, event: Event) -> Option<TagId> {
        self.instruction(event.access()?).tag
    }

    /// Returns whether an event is a load, or a call that yields what it reads.
    #[must_use]
    pub fn is_load(&self, body: &Body<'a>, event: Event) -> bool {
        let is_load = |it: usize| self.instruction(it).opcode == Opcode::Load;
        event.access().is_some_and(is_load) || body.is_reader(event)
    }

    /// Returns whether an event is a store.
    #[must_use]
    pub fn is_store(&self, event: Event) -> bool {
        event.access().is_some_and(|it| self.instruction(it).opcode == Opcode::Store)
    }

    /// Looks at every plain load of a function, in file order. A load that could
    /// not be reused or hoisted even without stores is none of it; one that
    /// nothing keeps has no blockers. With them are the stores that other accesses keep
    /// in a loop, where tags alone could free them.
    ///
    /// A load through a pointer that is loaded may be kept only because that
    /// pointer is loaded anew: then what blocks the pointer blocks it, too.
    fn loads(&self, body: &mut Body<'a>) -> Vec<Blocked> {
        let Some(flow) = body.flow.take() else { return Vec::new() };
        // By the load's index in the function.
        let mut found = BTreeMap::new();
        for _ in 0..ROUNDS {
            let count = found.len();
            self.round((body, &flow), &mut found);
            if found.len() == count {
                break;
            }
            for blocked in found.values() {
                if let Wanted::Reuse(earlier) = &blocked.wanted
                    && let [earlier] = earlier[..]
                    && let Some((value, earlier)) =
                        value(body, blocked.load).zip(value(body, earlier))
                {
                    body.pointers.equate(value, earlier);
                }
            }
        }
        self.stores((body, &flow), &mut found);
        body.flow = Some(flow);
        found.into_values().collect()
    }

    /// Returns whether a load may be done wherever its pointer is known: its bytes are there as long
    /// as the function runs.
    ///
    /// LLVM: `isDereferenceableAndAlignedPointer`.
    fn is_dereferenceable(&self, body: &Body<'a>, load: Event) -> bool {
        let Some((pointer, Some(bytes))) = load.access().and_then(|it| body.place(it)) else {
            return false;
        };
        let Address { base, offset, terms } = body.pointers.address(pointer);
        let function = &body.function;
        let size = match function.def(base) {
            Def::Global(name) => self.global(name).filter(|it| !it.weak).map(|it| it.size),
            Def::Parameter(at) => function.header.parameters[at].dereferenceable(),
            _ => function.inst(base).and_then(|it| {
                let is_one = it.opcode == Opcode::Alloca && function.operands(it).is_empty();
                Some(self.sizes.size_of(it.ty?).filter(|it| is_one && !it.scalable)?.alloc)
            }),
        };
        let start = u64::try_from(offset).ok().filter(|_| terms.is_empty());
        let end = start.and_then(|start| start.checked_add(bytes));
        end.zip(size).is_some_and(|(end, size)| end <= size)
    }

    /// Adds the stores that LLVM could do once, after a loop, but for accesses that types do
    /// not rule out. A store to a place whose load is blocked in the loop is none of them: what
    /// frees the load frees it.
    fn stores(&self, (body, flow): In<'_, 'a>, found: &mut BTreeMap<usize, Blocked>) {
        let mut added = Vec::new();
        for (block, events) in body.events.iter().enumerate() {
            let Some(around) = flow.innermost(block) else { continue };
            if !body.is_in_every_turn(flow, block) {
                continue;
            }
            for &store in events.iter().filter(|&&it| self.is_store(it)) {
                let key = body.key(store).filter(|_| !is_renewed((body, flow), around, store));
                let Some(pointer) = store.access().and_then(|it| body.pointer(it)) else {
                    continue;
                };
                if key.is_none()
                    || !body.pointers.is_invariant(pointer, |it| flow.is_in(around, it))
                {
                    continue;
                }
                let Some(events) = body.events_of(flow, around) else { continue };
                let is_listed = |it: &Event| {
                    let blocked = body.at(*it).and_then(|it| found.get(&it));
                    let open = blocked.is_some_and(|it| !it.blockers.is_empty());
                    open && body.key(*it) == key
                };
                if events.iter().any(is_listed) {
                    continue;
                }
                let mut blockers = self.blockers(body, store, &events, true);
                blockers.retain(|it| it.event != store);
                // Nobody sees a local variable when the function is left.
                if !body.is_local_variable(body.pointers.address(pointer).base) {
                    self.add_ends(body, store, &body.ways_out(flow, around, None), &mut blockers);
                }
                let free = Cause::NoReturn { writes: false };
                let is_free = |it: &Blocker| it.cause.is_of_types() || it.cause == free;
                let all = blockers.iter().all(|it| is_free(it) || it.cause == Cause::Register);
                if let Some(at) = body.at(store).filter(|_| all && blockers.iter().any(is_free)) {
                    let (wanted, depth) = (Wanted::Sink(around.header), flow.depth(block));
                    added.push((at, Blocked { load: store, wanted, blockers, depth }));
                }
            }
        }
        // Of several stores to one place, the first stands for all.
        let mut known = HashSet::new();
        added.retain(|(_, blocked)| {
            let Wanted::Sink(header) = blocked.wanted else { return false };
            known.insert((body.key(blocked.load), header))
        });
        found.extend(added);
    }

    /// Returns whether two accesses may overlap in turns of a loop though they had types of their
    /// own: they are based on one pointer, and do not lie at different bytes from it.
    #[must_use]
    pub fn may_meet(&self, body: &Body<'a>, a: usize, b: usize) -> bool {
        let Some((a, b)) = body.place(a).zip(body.place(b)) else { return true };
        let pointers = &body.pointers;
        // What lies apart in one turn may not in two, if a `phi` moves the pointer.
        let base = pointers.based_on(a.0);
        let is_apart = || pointers.address(a.0).base == base && pointers.meet(a, b) == Some(false);
        base == pointers.based_on(b.0) && !is_apart()
    }

    /// Returns two accesses of two groups, one of which is a store, that types alone do not
    /// separate.
    #[must_use]
    pub fn pair(&self, body: &Body<'a>, a: &[usize], b: &[usize]) -> Option<Blocker> {
        let both = a.iter().flat_map(|&a| b.iter().map(move |&b| (a, b)));
        both.into_iter().find_map(|(a, b)| {
            let [a, b] = [a, b].map(Event::Access);
            let [load, other] = if self.is_store(b) { [a, b] } else { [b, a] };
            let cause = self.cause(body, load, other.access()?).filter(|_| self.is_store(other))?;
            cause.is_of_types().then_some(Blocker { event: other, cause, load })
        })
    }

    /// Adds the loads that were not found before.
    fn round(&self, (body, flow): In<'_, 'a>, found: &mut BTreeMap<usize, Blocked>) {
        // Of each access what it is to: equal accesses have equal numbers.
        let mut numbers: HashMap<Key<'a>, usize> = HashMap::new();
        let mut number = |&event: &Event| {
            let next = numbers.len();
            Some(*numbers.entry(body.key(event)?).or_insert(next))
        };
        let keys: Vec<Vec<Option<usize>>> =
            body.events.iter().map(|events| events.iter().map(&mut number).collect()).collect();
        let before: HashMap<Value, usize> =
            found.iter().filter_map(|(&at, it)| Some((value(body, it.load)?, at))).collect();
        let mut added = Vec::new();
        for (index, events) in body.events.iter().enumerate() {
            for (nth, &load) in events.iter().enumerate() {
                let Some(at) = body.at(load).filter(|at| !found.contains_key(at)) else { continue };
                if !self.is_load(body, load) || keys[index][nth].is_none() {
                    continue;
                }
                let point = Point { block: index, event: nth };
                let Some((wanted, between)) = self.wanted((body, flow), &keys, point) else {
                    continue;
                };
                let hoisted = matches!(wanted, Wanted::Hoist(_));
                let mut blockers = self.blockers(body, load, &between, hoisted);
                let is_reused = matches!(wanted, Wanted::Reuse(_)) && !blockers.is_empty();
                if is_reused && self.is_moved((body, flow), &keys, point) {
                    blockers.clear();
                }
                let ends = match flow.innermost(index) {
                    Some(around) if hoisted && !self.is_dereferenceable(body, load) => {
                        body.ways_out(flow, around, Some(point))
                    }
                    _ if matches!(wanted, Wanted::Partly(_)) && !blockers.is_empty() => {
                        body.ends_before(point)
                    }
                    _ => Vec::new(),
                };
                self.add_ends(body, load, &ends, &mut blockers);
                let pointer = load.access().and_then(|it| body.pointer(it));
                let pointer = pointer.map(|pointer| body.pointers.source(pointer));
                if let Some(of_pointer) = pointer.and_then(|pointer| before.get(&pointer)) {
                    blockers.extend(&found[of_pointer].blockers);
                }
                self.sort(body, &mut blockers);
                if blockers.iter().all(|it| it.cause == Cause::Register) {
                    blockers.clear();
                }
                let depth = flow.depth(index);
                added.push((at, Blocked { load, wanted, blockers, depth }));
            }
        }
        found.extend(added);
    }

    /// Adds what may end a turn of a loop before a load.
    fn add_ends(&self, body: &Body<'a>, load: Event, ends: &[Event], blockers: &mut Vec<Blocker>) {
        if ends.is_empty() {
            return;
        }
        let mut known: HashSet<Event> = ends.iter().copied().collect();
        for blocker in blockers.iter_mut().filter(|it| known.remove(&it.event)) {
            blocker.cause = Cause::NoReturn { writes: true };
        }
        let cause = Cause::NoReturn { writes: false };
        blockers.extend(known.into_iter().map(|event| Blocker { event, cause, load }));
        self.sort(body, blockers);
    }

    /// What could become of a load, and what happens in between. A load that not
    /// every turn of a loop comes to may not be done before it, unless its pointer may be followed
    /// in any case.
    fn wanted(
        &self,
        (body, flow): In<'_, 'a>,
        keys: &[Vec<Option<usize>>],
        at: Point,
    ) -> Option<(Wanted, Vec<Event>)> {
        let key = keys[at.block][at.event];
        let is_equal = |block: usize, event: usize| keys[block][event] == key;
        let load = body.events[at.block][at.event];
        // The load itself, come to again, is none that it could reuse.
        let others = |way: &Way| {
            let mut found: Vec<Event> = way.found.clone();
            found.retain(|&it| it != load);
            found.sort_unstable_by_key(|&it| body.at(it));
            found.dedup();
            Some(found).filter(|found| !found.is_empty())
        };
        let operands = body.operands(load);
        let bases = operands.iter().map(|&it| body.pointers.address(it).base);
        let bases: Vec<Value> = bases.filter(|&it| body.is_local_variable(it)).collect();
        let is_start = |event| bases.iter().any(|&base| body.renews(event, base));
        if let Some(way) = back((body, flow), at, is_equal, is_start)
            && let Some(found) = others(&way)
        {
            return Some((Wanted::Reuse(found), way.passed));
        }
        let is_fixed = |is_in: &dyn Fn(usize) -> bool| {
            operands.iter().all(|&it| body.pointers.is_invariant(it, is_in))
        };
        if let Some(around) = flow.innermost(at.block)
            && is_fixed(&|it| flow.is_in(around, it))
            && (body.is_in_every_turn(flow, at.block) || self.is_dereferenceable(body, load))
            && !is_renewed((body, flow), around, load)
        {
            return Some((Wanted::Hoist(around.header), body.events_of(flow, around)?));
        }
        // LLVM looks for calls on all ways alone.
        let way = partly_back((body, flow), at, is_equal, is_start);
        let way = way.filter(|_| !body.is_reader(load) && is_fixed(&|it| it == at.block))?;
        Some((Wanted::Partly(others(&way)?), way.passed))
    }

    /// Whether LLVM loads on one way into the block alone, on which something may change the value,
    /// and reuses it on the others. In a loop that way may be taken in every turn.
    ///
    /// LLVM: `GVNPass::PerformLoadPRE`.
    fn is_moved(&self, (body, flow): In<'_, 'a>, keys: &[Vec<Option<usize>>], at: Point) -> bool {
        let load = body.events[at.block][at.event];
        let mut operands = body.operands(load).into_iter();
        let is_fixed = operands.all(|it| body.pointers.is_invariant(it, |it| it == at.block));
        let key = keys[at.block][at.event];
        let is_equal = |block: usize, event: usize| keys[block][event] == key;
        let changes = |events: &[Event]| !self.blockers(body, load, events, false).is_empty();
        let before = &body.events[at.block][..at.event];
        if flow.depth(at.block) > 0
            || !is_fixed
            || body.is_reader(load)
            || changes(before)
            || (0..at.event).any(|it| is_equal(at.block, it))
        {
            return false;
        }
        let (mut free, mut blocked) = (0, 0);
        for block in flow.before(at.block) {
            let end = Point { block, event: body.events[block].len() };
            match back((body, flow), end, is_equal, |_| false) {
                Some(way) if !changes(&way.passed) => free += 1,
                _ => blocked += 1,
            }
        }
        free > 0 && blocked == 1
    }

    /// What of a list of events may change what is loaded, or read or change what is stored.
    /// In a loop as a whole, accesses to the very place are no harm.
    fn blockers(
        &self,
        body: &Body<'a>,
        load: Event,
        between: &[Event],
        in_loop: bool,
    ) -> Vec<Blocker> {
        if self.llvm.is_constant(self.tag(load)) {
            return Vec::new();
        }
        let cause = |&event: &Event| {
            let cause = match event {
                Event::Access(other) => match self.cause(body, load, other) {
                    Some(Cause::SamePlace) if in_loop && is_equal(body, load, event) => {
                        Some(Cause::Register)
                    }
                    // What the load gave is stored back, if they overlap at all.
                    Some(_) if self.is_stored_back(body, load, other) => None,
                    cause => cause,
                },
                Event::Other(at) => self.of_call(body, load, at),
            };
            cause.map(|cause| Blocker { event, cause, load })
        };
        let mut found: Vec<Blocker> = between.iter().filter_map(cause).collect();
        self.sort(body, &mut found);
        found
    }

    /// Whether a store stores what a load gave: the bytes that both touch do not change.
    fn is_stored_back(&self, body: &Body<'a>, load: Event, store: usize) -> bool {
        let plain = !self.instruction(store).volatile && !self.instruction(store).atomic;
        let stored = body.inst(Event::Access(store)).and_then(|it| body.function.stored(it));
        self.is_load(body, load) && plain && stored.is_some() && stored == value(body, load)
    }

    /// Puts blockers in file order, each once.
    fn sort(&self, body: &Body<'a>, blockers: &mut Vec<Blocker>) {
        blockers.sort_by_key(|blocker| self.offset(body, blocker.event));
        blockers.dedup_by_key(|blocker| self.offset(body, blocker.event));
    }

    /// Returns the bytes from the start of the text to an event's instruction.
    #[must_use]
    pub fn offset(&self, body: &Body<'a>, event: Event) -> usize {
        match event {
            Event::Access(index) => self.instruction(index).offset as usize,
            Event::Other(at) => body.function.instructions[at].span.start,
        }
    }

    /// Whether a call or fence, at an instruction of the function, may change what a load reads.
    fn of_call(&self, body: &Body<'a>, load: Event, at: usize) -> Option<Cause> {
        if body.function.instructions[at].opcode == Opcode::Fence {
            return Some(Cause::Order);
        }
        let to_read = self.is_store(load);
        let reads_arguments = !body.is_reader(load) || self.reads_arguments(body, load);
        let mut operands = body.operands(load).into_iter();
        let is_out = |it| body.pointers.is_out_of_reach(it, at, to_read, false);
        let is_pointer = |it: &Value| body.function.is_pointer(*it);
        if reads_arguments && operands.all(|it| !is_pointer(&it) || is_out(it)) {
            return None;
        }
        let effects = body.effects_of(at).unwrap_or(MemoryEffects::ANY);
        if to_read && effects != MemoryEffects::NONE {
            return Some(Cause::Call);
        }
        if effects.without(MemoryLocation::Errno).writes() {
            return Some(Cause::Call);
        }
        let errno = self.module.errno_tags().iter().copied();
        let answer = self.llvm.alias_any(self.tag(load), errno);
        (effects.writes() && answer == AliasResult::MayAlias).then_some(Cause::Errno)
    }

    /// Returns whether a call reads what its arguments lead to, and no other memory.
    fn reads_arguments(&self, body: &Body<'a>, call: Event) -> bool {
        let effects = body.at(call).and_then(|at| body.effects_of(at));
        effects.is_some_and(|it| it.without(MemoryLocation::Argument) == MemoryEffects::NONE)
    }

    /// Says why an access may change what a call reads; `None` if it cannot.
    fn of_reader(&self, body: &Body<'a>, call: Event, other: usize) -> Option<Cause> {
        let written = body.pointer(other)?;
        let at = body.at(call)?;
        let [tag, of_write] = [self.tag(call), self.instruction(other).tag];
        let apart = body.pointers.is_out_of_reach(written, at, true, false)
            || !self.llvm.may_alias(tag, of_write);
        let cause = if tag.is_some() { Cause::NoTag } else { Cause::LoadNoTag };
        (!apart).then_some(cause)
    }

    /// Whether and why an access may change what a load reads.
    fn cause(&self, body: &Body<'a>, load: Event, other: usize) -> Option<Cause> {
        let write = self.instruction(other);
        if write.atomic {
            return Some(Cause::Order);
        }
        match write.opcode {
            Opcode::Load if self.is_store(load) && !self.llvm.is_constant(write.tag) => {}
            Opcode::Load | Opcode::VaArg => return None,
            Opcode::Call if body.pointer(other).is_none() => {
                let effect = self.of_call(body, load, body.at(Event::Access(other))?);
                let apart = !self.llvm.may_alias(self.tag(load), write.tag);
                return effect.filter(|_| !apart);
            }
            _ if body.is_reader(load) => return self.of_reader(body, load, other),
            _ => {}
        }
        let load = load.access()?;
        let read = self.instruction(load);
        let places = body.place(load).zip(body.place(other));
        if let Some((of_read, of_write)) = places {
            match body.pointers.meet(of_read, of_write) {
                Some(true) => return Some(Cause::SamePlace),
                Some(false) => return None,
                None => {}
            }
        }
        if !self.llvm.may_alias(read.tag, write.tag) {
            return None;
        }
        Some(match (read.tag, write.tag) {
            (_, None) => Cause::NoTag,
            (None, _) => Cause::LoadNoTag,
            (Some(of_read), Some(of_write)) => self.of_tags((read, of_read), (write, of_write)),
        })
    }

    fn of_tags(&self, a: (&Instruction, TagId), b: (&Instruction, TagId)) -> Cause {
        if !self.union.may_alias(a.1, b.1) {
            return Cause::RuleLlvm;
        }
        if self.union.explain(a.1, b.1).clause != Clause::Generality {
            return Cause::SameType;
        }
        let graph = self.module.graph();
        let access = |tag: TagId| graph.tag(tag).ok().map(|tag| tag.access);
        if access(a.1) == access(b.1) {
            return Cause::SameType;
        }
        if [a.0, b.0].into_iter().any(|it| is_wider_char(self.module, self.sizes, it)) {
            Cause::FlattenedUnion
        } else {
            Cause::Covers
        }
    }
}

/// A body and its flow of control.
type In<'b, 'a> = (&'b Body<'a>, &'b Flow);

/// The value that a load gives.
fn value(body: &Body<'_>, load: Event) -> Option<Value> {
    body.inst(load)?.result
}

/// Whether two accesses are of one type to one place.
fn is_equal(body: &Body<'_>, a: Event, b: Event) -> bool {
    let [a, b] = [a, b].map(|it| body.key(it));
    a.is_some() && a == b
}

/// Returns whether a variable that a load's pointer leads into has something new in each turn of a
/// loop.
fn is_renewed((body, flow): In<'_, '_>, around: &Loop, load: Event) -> bool {
    let bases = body.operands(load).into_iter().map(|it| body.pointers.address(it).base);
    let mut bases = bases.filter(|&it| body.is_local_variable(it));
    bases.any(|base| {
        let mut events = flow.blocks_of(around).iter().flat_map(|&it| &body.events[it]);
        events.any(|&it| body.renews(it, base))
    })
}
