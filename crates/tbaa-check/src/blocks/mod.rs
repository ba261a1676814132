//! What keeps a load from being reused or hoisted, as far as types can tell.
//!
//! A load could go if an earlier access has its value on every way to it, or if a loop does it in
//! every turn through one pointer. It stays where an event in between may change what is loaded.
//! Each such event is a [`Blocker`], and its [`Cause`] says whether a tag could rule it out. The
//! judge reads what LLVM reads: the flow of control, pointers, attributes of calls, and tags by
//! rule `llvm`.
//!
//! LLVM: `GVNPass`, `LoopInvariantCodeMotion`, `MemoryDependenceResults`.

mod body;
mod ways;

use std::collections::{BTreeMap, HashMap, HashSet};

use tbaa::explain::Clause;
use tbaa::{AliasResult, AliasRule, Graph, Oracle, TagId};
use tbaa_ir::{
    Effects, Flow, Instruction, Loop, MemoryEffects, MemoryLocation, Module, Opcode, Sizes, Value,
};

use crate::char_origin::is_wider_char;
use body::Key;
pub use body::{Body, Event};
use ways::{Point, Way, back, partly_back};

/// What an optimiser could do with a load or a loop, were it not for the blockers.
pub enum Wanted {
    /// Take the value that an access loaded or stored: one of these stands last
    /// on each way. Indices into the module's instructions.
    Reuse(Vec<usize>),
    /// Load before the loop with this header, a block.
    Hoist(usize),
    /// Store after the loop with this header: what is stored is held in a register.
    Sink(usize),
    /// Vectorise a loop, or leave out a check in front of it.
    Vectorise(Box<Vectorise>),
    /// Take the value of one of these, and load on the one way on which none of
    /// them stands.
    Partly(Vec<usize>),
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
}

impl Cause {
    /// Whether a tag can change it.
    #[must_use]
    pub fn is_of_types(self) -> bool {
        use Cause::{Call, Errno, Order, Register, SamePlace};
        !matches!(self, SamePlace | Register | Order | Call | Errno)
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
    pub load: usize,
}

/// A load and what keeps it, or a store and what keeps it in a loop.
pub struct Blocked {
    /// Index into the module's instructions: of the store where [`Wanted::Sink`] is wanted.
    pub load: usize,
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
}

impl<'a> Judge<'a> {
    /// A judge of a module's functions.
    #[must_use]
    pub fn new(module: &'a Module<'a>, sizes: &'a Sizes, effects: &'a Effects<'a>) -> Self {
        let [llvm, union] =
            [AliasRule::Llvm, AliasRule::Union].map(|it| Oracle::new(module.graph(), it));
        Judge { module, sizes, effects, llvm, union }
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

    /// Returns whether an access, an index into the module's instructions, is a load.
    #[must_use]
    pub fn is_load(&self, access: usize) -> bool {
        self.instruction(access).opcode == Opcode::Load
    }

    /// Returns whether an access is a store.
    #[must_use]
    pub fn is_store(&self, access: usize) -> bool {
        self.instruction(access).opcode == Opcode::Store
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

    /// Adds the stores that LLVM could do once, after a loop, but for accesses that types do
    /// not rule out. A store to a place whose load is blocked in the loop is none of them: what
    /// frees the load frees it.
    fn stores(&self, (body, flow): In<'_, 'a>, found: &mut BTreeMap<usize, Blocked>) {
        let mut added = Vec::new();
        for (block, events) in body.events.iter().enumerate() {
            let Some(around) = flow.innermost(block) else { continue };
            if !body.is_in_every_turn(flow, around, block) {
                continue;
            }
            let stores = events.iter().filter_map(|it| it.access());
            for store in stores.filter(|&it| self.is_store(it)) {
                let key = body.key(Event::Access(store));
                let Some(pointer) = body.pointer(store).filter(|_| key.is_some()) else { continue };
                if !body.pointers.is_invariant(pointer, &around.contains)
                    || is_renewed(body, around, pointer)
                {
                    continue;
                }
                let Some(events) = body.events_of(around) else { continue };
                let is_listed = |it: &Event| {
                    let blocked = it.access().and_then(|it| found.get(&it));
                    let open = blocked.is_some_and(|it| !it.blockers.is_empty());
                    open && body.key(*it) == key
                };
                if events.iter().any(is_listed) {
                    continue;
                }
                let mut blockers = self.blockers(body, store, &events, true);
                blockers.retain(|it| it.event != Event::Access(store));
                let of_types = blockers.iter().any(|it| it.cause.is_of_types());
                if of_types && Cause::are_of_types(&blockers) {
                    let (wanted, depth) = (Wanted::Sink(around.header), flow.depth(block));
                    added.push((store, Blocked { load: store, wanted, blockers, depth }));
                }
            }
        }
        // Of several stores to one place, the first stands for all.
        let mut known = HashSet::new();
        added.retain(|(store, blocked)| {
            let Wanted::Sink(header) = blocked.wanted else { return false };
            known.insert((body.key(Event::Access(*store)), header))
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
            let [load, other] = if self.is_store(b) { [a, b] } else { [b, a] };
            let cause = self.cause(body, load, other).filter(|_| self.is_store(other))?;
            cause.is_of_types().then_some(Blocker { event: Event::Access(other), cause, load })
        })
    }

    /// Adds the loads that were not found before.
    fn round(&self, (body, flow): In<'_, 'a>, found: &mut BTreeMap<usize, Blocked>) {
        // Of each access what it is to: equal accesses have equal numbers.
        let mut numbers: HashMap<Key, usize> = HashMap::new();
        let mut number = |&event: &Event| {
            let next = numbers.len();
            Some(*numbers.entry(body.key(event)?).or_insert(next))
        };
        let keys: Vec<Vec<Option<usize>>> =
            body.events.iter().map(|events| events.iter().map(&mut number).collect()).collect();
        let before: HashMap<Value, usize> =
            found.keys().filter_map(|&load| Some((value(body, load)?, load))).collect();
        let mut added = Vec::new();
        for (index, events) in body.events.iter().enumerate() {
            for (nth, event) in events.iter().enumerate() {
                let Some(load) = event.access().filter(|load| !found.contains_key(load)) else {
                    continue;
                };
                if !self.is_load(load) || keys[index][nth].is_none() {
                    continue;
                }
                let point = Point { block: index, event: nth };
                let Some((wanted, between)) = self.wanted((body, flow), &keys, point) else {
                    continue;
                };
                let mut blockers =
                    self.blockers(body, load, &between, matches!(wanted, Wanted::Hoist(_)));
                let is_reused = matches!(wanted, Wanted::Reuse(_)) && !blockers.is_empty();
                if is_reused && self.is_moved((body, flow), &keys, point) {
                    blockers.clear();
                }
                let pointer = body.pointer(load).map(|pointer| body.pointers.source(pointer));
                if let Some(of_pointer) = pointer.and_then(|pointer| before.get(&pointer)) {
                    blockers.extend(&found[of_pointer].blockers);
                }
                self.sort(body, &mut blockers);
                if blockers.iter().all(|it| it.cause == Cause::Register) {
                    blockers.clear();
                }
                let depth = flow.depth(index);
                added.push((load, Blocked { load, wanted, blockers, depth }));
            }
        }
        found.extend(added);
    }

    /// What could become of a load, and what happens in between. A load that not
    /// every turn of a loop comes to may not be done before it: its pointer may
    /// lead nowhere.
    fn wanted(
        &self,
        (body, flow): In<'_, 'a>,
        keys: &[Vec<Option<usize>>],
        at: Point,
    ) -> Option<(Wanted, Vec<Event>)> {
        let key = keys[at.block][at.event];
        let is_equal = |block: usize, event: usize| keys[block][event] == key;
        let load = body.events[at.block][at.event].access()?;
        // The load itself, come to again, is none that it could reuse.
        let others = |way: &Way| {
            let mut found: Vec<usize> =
                way.found.iter().filter_map(|event| event.access()).collect();
            found.retain(|&access| access != load);
            found.sort_unstable();
            found.dedup();
            Some(found).filter(|found| !found.is_empty())
        };
        let pointer = body.pointer(load)?;
        let base =
            Some(body.pointers.address(pointer).base).filter(|&it| body.is_local_variable(it));
        let is_start = |event| base.is_some_and(|base| body.renews(event, base));
        if let Some(way) = back((body, flow), at, is_equal, is_start)
            && let Some(found) = others(&way)
        {
            return Some((Wanted::Reuse(found), way.passed));
        }
        if let Some(around) = flow.innermost(at.block)
            && body.pointers.is_invariant(pointer, &around.contains)
            && body.is_in_every_turn(flow, around, at.block)
            && !is_renewed(body, around, pointer)
        {
            return Some((Wanted::Hoist(around.header), body.events_of(around)?));
        }
        let way = partly_back((body, flow), at, is_equal, is_start);
        let way = way.filter(|_| is_fixed_in(body, pointer, at.block))?;
        Some((Wanted::Partly(others(&way)?), way.passed))
    }

    /// Whether LLVM loads on one way into the block alone, on which something may change the value,
    /// and reuses it on the others: the load is gone from all ways but the one that needs it.
    ///
    /// LLVM: `GVNPass::PerformLoadPRE`.
    fn is_moved(&self, (body, flow): In<'_, 'a>, keys: &[Vec<Option<usize>>], at: Point) -> bool {
        let Some(load) = body.events[at.block][at.event].access() else { return false };
        let is_fixed = body.pointer(load).is_some_and(|it| is_fixed_in(body, it, at.block));
        let key = keys[at.block][at.event];
        let is_equal = |block: usize, event: usize| keys[block][event] == key;
        let changes = |events: &[Event]| !self.blockers(body, load, events, false).is_empty();
        let before = &body.events[at.block][..at.event];
        if !is_fixed || changes(before) || (0..at.event).any(|it| is_equal(at.block, it)) {
            return false;
        }
        let (mut free, mut blocked) = (0, 0);
        for block in flow.before(at.block) {
            let end = Point { block, event: body.events[block].len() };
            match back((body, flow), end, is_equal, |_| false) {
                Some(way) if !changes(&way.passed) => free += 1,
                // A turn of a loop needs the load as often as before.
                _ if flow.dominates(at.block, block) => return false,
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
        load: usize,
        between: &[Event],
        in_loop: bool,
    ) -> Vec<Blocker> {
        if self.llvm.is_constant(self.instruction(load).tag) {
            return Vec::new();
        }
        let cause = |&event: &Event| {
            let cause = match event {
                Event::Access(other) => match self.cause(body, load, other) {
                    Some(Cause::SamePlace) if in_loop && is_equal(body, load, other) => {
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
    fn is_stored_back(&self, body: &Body<'a>, load: usize, store: usize) -> bool {
        let plain = !self.instruction(store).volatile && !self.instruction(store).atomic;
        let stored = body.inst(Event::Access(store)).and_then(|it| body.function.stored(it));
        self.is_load(load) && plain && stored.is_some() && stored == value(body, load)
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
    fn of_call(&self, body: &Body<'a>, load: usize, at: usize) -> Option<Cause> {
        let inst = &body.function.instructions[at];
        if inst.opcode == Opcode::Fence {
            return Some(Cause::Order);
        }
        let to_read = self.is_store(load);
        let pointer = body.pointer(load);
        if pointer.is_some_and(|it| body.pointers.is_out_of_reach(it, at, to_read, false)) {
            return None;
        }
        let effects = body.function.call(inst).map(|call| body.effects().on_loads(&call));
        let effects = effects.unwrap_or(MemoryEffects::ANY);
        if to_read && effects != MemoryEffects::NONE {
            return Some(Cause::Call);
        }
        if effects.without(MemoryLocation::Errno).writes() {
            return Some(Cause::Call);
        }
        let errno = self.module.errno_tags().iter().copied();
        let answer = self.llvm.alias_any(self.instruction(load).tag, errno);
        (effects.writes() && answer == AliasResult::MayAlias).then_some(Cause::Errno)
    }

    /// Whether and why an access may change what a load reads.
    fn cause(&self, body: &Body<'a>, load: usize, other: usize) -> Option<Cause> {
        let [read, write] = [load, other].map(|index| self.instruction(index));
        if write.atomic {
            return Some(Cause::Order);
        }
        let places = body.place(load).zip(body.place(other));
        match write.opcode {
            Opcode::Load if self.is_store(load) && !self.llvm.is_constant(write.tag) => {}
            Opcode::Load | Opcode::VaArg => return None,
            Opcode::Call if body.pointer(other).is_none() => {
                let effect = self.of_call(body, load, body.at(Event::Access(other))?);
                let apart = !self.llvm.may_alias(read.tag, write.tag);
                return effect.filter(|_| !apart);
            }
            _ => {}
        }
        if let Some((of_read, of_write)) = places {
            match body.pointers.meet(of_read, of_write) {
                Some(true) => return Some(Cause::SamePlace),
                Some(false) => return None,
                None => {}
            }
        }
        let by_copy = write.copy.filter(|_| write.tag.is_none());
        if let Some(copy) = by_copy {
            return self.llvm.copy_may_alias(copy, read.tag).then_some(Cause::SameType);
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
fn value(body: &Body<'_>, load: usize) -> Option<Value> {
    body.inst(Event::Access(load))?.result
}

/// Whether two accesses are of one type to one place.
fn is_equal(body: &Body<'_>, a: usize, b: usize) -> bool {
    let [a, b] = [a, b].map(|it| body.key(Event::Access(it)));
    a.is_some() && a == b
}

/// Whether a pointer is the same however a block is come to.
fn is_fixed_in(body: &Body<'_>, pointer: Value, block: usize) -> bool {
    let mut here = vec![false; body.events.len()];
    here[block] = true;
    body.pointers.is_invariant(pointer, &here)
}

/// Whether the variable that a pointer leads into has something new in each turn of a loop.
fn is_renewed(body: &Body<'_>, around: &Loop, pointer: Value) -> bool {
    let base = body.pointers.address(pointer).base;
    let mut blocks = body.events.iter().zip(&around.contains).filter(|&(_, &within)| within);
    body.is_local_variable(base)
        && blocks.any(|(events, _)| events.iter().any(|&it| body.renews(it, base)))
}
