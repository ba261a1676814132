//! What keeps a load from being reused or hoisted, as far as types can tell.

use std::collections::{BTreeMap, HashMap, HashSet};

use tbaa::explain::Clause;
use tbaa::{AliasResult, AliasRule, Graph, Oracle, TagId};
use tbaa_ir::{Effects, Instruction, MemoryEffects, MemoryLocation, Module, Opcode, Sizes};

use super::Function;
use super::body::{Body, Event, Key};
use crate::char_origin::is_wider_char;

use super::flow::{FAR, Flow, Loop, Point, Way};

/// What an optimiser could do with a load or a loop, were it not for the blockers.
pub(super) enum Wanted {
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
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Vectors {
    Scalar,
    /// Vectorised, behind a check at run time that accesses do not overlap.
    Checked,
    Vectorised,
}

impl Vectors {
    pub(super) fn words(self) -> &'static str {
        match self {
            Vectors::Scalar => "no vectors",
            Vectors::Checked => "it is vectorised, behind a check at run time",
            Vectors::Vectorised => "it is vectorised without a check",
        }
    }
}

/// A loop, and what keeps it from being vectorised.
pub(super) struct Vectorise {
    /// The block that begins it.
    pub(super) header: usize,
    pub(super) now: Vectors,
    /// With tags that separate all that tags can separate in it.
    pub(super) then: Vectors,
    /// Why LLVM does not vectorise it, in its own words.
    pub(super) remark: Option<String>,
    /// Whether the access that is judged has the same pointer in every turn, and whether it or
    /// another that is blamed has.
    pub(super) is_fixed: bool,
    pub(super) has_fixed: bool,
}

/// Why a store or call counts as one that may change what is loaded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
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
    pub(super) fn is_of_types(self) -> bool {
        use Cause::{Call, Errno, Order, Register, SamePlace};
        !matches!(self, SamePlace | Register | Order | Call | Errno)
    }

    /// Whether tags could free a load from a list of blockers.
    pub(super) fn are_of_types(blockers: &[Blocker]) -> bool {
        blockers.iter().all(|it| it.cause.is_of_types() || it.cause == Cause::Register)
    }
}

/// A store or call that may change what is loaded.
#[derive(Clone, Copy)]
pub(super) struct Blocker {
    pub(super) event: Event,
    pub(super) cause: Cause,
    /// The load that it may change: the load that is judged, or one of its
    /// pointer.
    pub(super) load: usize,
}

/// A load and what keeps it, or a store and what keeps it in a loop.
pub(super) struct Blocked {
    /// Index into the module's instructions: of the store where [`Wanted::Sink`] is wanted.
    pub(super) load: usize,
    pub(super) wanted: Wanted,
    pub(super) blockers: Vec<Blocker>,
    /// How many loops it is in.
    pub(super) depth: usize,
}

impl Blocked {
    /// Whether the value changes from turn to turn of a loop, and could be held in a register.
    pub(super) fn is_held(&self) -> bool {
        matches!(self.wanted, Wanted::Sink(_))
            || self.blockers.iter().any(|it| it.cause == Cause::Register)
    }
}

/// How many loads one after another are followed: pointers to pointers.
const ROUNDS: usize = 4;

/// What is known of a module as a whole.
pub(super) struct Judge<'a> {
    pub(super) module: &'a Module<'a>,
    effects: &'a Effects<'a>,
    llvm: Oracle<&'a Graph>,
    union: Oracle<&'a Graph>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(module: &'a Module<'a>, effects: &'a Effects<'a>) -> Self {
        let [llvm, union] =
            [AliasRule::Llvm, AliasRule::Union].map(|it| Oracle::new(module.graph(), it));
        Judge { module, effects, llvm, union }
    }

    /// Judges the functions that are wanted.
    pub(super) fn functions(
        &self,
        sizes: &'a Sizes,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Vec<Function<'a>> {
        let judged = |index| {
            let mut body = Body::read(self.module, (sizes, self.effects), index);
            let loads = self.loads(&mut body);
            Function { index, body, loads }
        };
        (0..self.module.functions().len() as u32).filter(|&it| is_wanted(it)).map(judged).collect()
    }

    fn instruction(&self, index: usize) -> &'a Instruction {
        &self.module.instructions()[index]
    }

    pub(super) fn is_load(&self, index: usize) -> bool {
        self.instruction(index).opcode == Opcode::Load
    }

    pub(super) fn is_store(&self, index: usize) -> bool {
        self.instruction(index).opcode == Opcode::Store
    }

    /// The pointer that an instruction accesses memory through, as written.
    pub(super) fn pointer(&self, index: usize) -> Option<&'a [u8]> {
        Some(&self.module.text()[self.module.pointer_span(self.instruction(index))?])
    }

    /// Looks at every plain load of a function, in file order. A load that could
    /// not be reused or hoisted even without stores is none of it; one that
    /// nothing keeps has no blockers. With them are the stores that other accesses keep
    /// in a loop, where tags alone could free them.
    ///
    /// A load through a pointer that is loaded may be kept only because that
    /// pointer is loaded anew: then what blocks the pointer blocks it, too.
    fn loads(&self, body: &mut Body<'a>) -> Vec<Blocked> {
        if body.blocks.is_empty() {
            return Vec::new();
        }
        let flow = Flow::of(body);
        let mut found = BTreeMap::new();
        for _ in 0..ROUNDS {
            let count = found.len();
            self.round(body, &flow, &mut found);
            if found.len() == count {
                break;
            }
            for blocked in found.values() {
                if let Wanted::Reuse(earlier) = &blocked.wanted
                    && let [earlier] = earlier[..]
                    && let Some((value, earlier)) =
                        self.value(blocked.load).zip(self.value(earlier))
                {
                    body.equate(value, earlier);
                }
            }
        }
        self.stores(body, &flow, &mut found);
        found.into_values().collect()
    }

    /// Adds the stores that LLVM could do once, after a loop, but for accesses that types do
    /// not rule out. A store to a place whose load is blocked in the loop is none of them: what
    /// frees the load frees it.
    fn stores(&self, body: &Body<'a>, flow: &Flow, found: &mut BTreeMap<usize, Blocked>) {
        let mut added = Vec::new();
        for (block, of) in body.blocks.iter().enumerate() {
            let Some(around) = flow.innermost(block) else { continue };
            if !flow.is_in_every_turn(body, around, block) {
                continue;
            }
            for store in of.events.iter().filter_map(|event| event.access()) {
                let key = self.key(body, Event::Access(store));
                let is_store = self.instruction(store).opcode == Opcode::Store;
                let Some(pointer) = self.pointer(store).filter(|_| is_store && key.is_some())
                else {
                    continue;
                };
                if !body.is_invariant(pointer, &around.contains)
                    || self.is_renewed(body, around, pointer)
                {
                    continue;
                }
                let Some(events) = self.events_of(body, around) else { continue };
                let is_listed = |it: &Event| {
                    let blocked = it.access().and_then(|it| found.get(&it));
                    let open = blocked.is_some_and(|it| !it.blockers.is_empty());
                    open && self.key(body, *it) == key
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
            known.insert((self.key(body, Event::Access(*store)), header))
        });
        found.extend(added);
    }

    /// The accesses and calls of a loop; `None` if they are many.
    pub(super) fn events_of(&self, body: &Body<'a>, around: &Loop) -> Option<Vec<Event>> {
        let blocks = body.blocks.iter().zip(&around.contains).filter(|&(_, &within)| within);
        let events = blocks.flat_map(|(block, _)| &block.events).take(FAR + 1).copied();
        Some(events.collect::<Vec<_>>()).filter(|events| events.len() <= FAR)
    }

    /// Whether the variable that a pointer leads into has something new in each turn of a loop.
    fn is_renewed(&self, body: &Body<'a>, around: &Loop, pointer: &'a [u8]) -> bool {
        let root = body.place(pointer).root;
        let mut blocks = body.blocks.iter().zip(&around.contains).filter(|&(_, &within)| within);
        body.is_local_variable(root)
            && blocks.any(|(block, _)| block.events.iter().any(|it| body.renews(it, root)))
    }

    /// Whether two accesses may overlap in turns of a loop though they had types of their own:
    /// they are based on one pointer, and do not lie at different bytes from it.
    pub(super) fn may_meet(&self, body: &Body<'a>, a: usize, b: usize) -> bool {
        let [of_a, of_b] = [a, b].map(|it| {
            self.pointer(it).map(|pointer| (pointer, body.size(self.module, self.instruction(it))))
        });
        let Some((of_a, of_b)) = of_a.zip(of_b) else { return true };
        // What lies apart in one turn may not in two, if a `phi` moves the pointer.
        let base = body.based_on(of_a.0);
        let is_apart = || body.place(of_a.0).root == base && body.meet(of_a, of_b) == Some(false);
        base == body.based_on(of_b.0) && !is_apart()
    }

    /// Two accesses of two groups, one of which is a store, that types alone do not separate.
    pub(super) fn pair(&self, body: &Body<'a>, a: &[usize], b: &[usize]) -> Option<Blocker> {
        let both = a.iter().flat_map(|&a| b.iter().map(move |&b| (a, b)));
        both.into_iter().find_map(|(a, b)| {
            let [load, other] = if self.is_store(b) { [a, b] } else { [b, a] };
            let cause = self.cause(body, load, other).filter(|_| self.is_store(other))?;
            cause.is_of_types().then_some(Blocker { event: Event::Access(other), cause, load })
        })
    }

    /// The name of an instruction's result.
    fn value(&self, index: usize) -> Option<&'a [u8]> {
        Some(&self.module.text()[self.module.result_span(self.instruction(index))?])
    }

    /// Adds the loads that were not found before.
    fn round(&self, body: &Body<'a>, flow: &Flow, found: &mut BTreeMap<usize, Blocked>) {
        // Of each access what it is to: equal accesses have equal numbers.
        let mut numbers: HashMap<(Key<'a>, &[u8]), usize> = HashMap::new();
        let mut number = |&event: &Event| {
            let next = numbers.len();
            Some(*numbers.entry(self.key(body, event)?).or_insert(next))
        };
        let keys: Vec<Vec<Option<usize>>> = body
            .blocks
            .iter()
            .map(|block| block.events.iter().map(&mut number).collect())
            .collect();
        let before: HashMap<&[u8], usize> =
            found.keys().filter_map(|&load| Some((self.value(load)?, load))).collect();
        let mut added = Vec::new();
        for (index, block) in body.blocks.iter().enumerate() {
            for (nth, event) in block.events.iter().enumerate() {
                let Some(load) = event.access().filter(|load| !found.contains_key(load)) else {
                    continue;
                };
                if self.instruction(load).opcode != Opcode::Load || keys[index][nth].is_none() {
                    continue;
                }
                let point = Point { block: index, event: nth };
                let Some((wanted, between)) = self.wanted(body, flow, &keys, point) else {
                    continue;
                };
                let mut blockers =
                    self.blockers(body, load, &between, matches!(wanted, Wanted::Hoist(_)));
                let is_reused = matches!(wanted, Wanted::Reuse(_)) && !blockers.is_empty();
                if is_reused && self.is_moved(body, flow, &keys, point) {
                    blockers.clear();
                }
                let pointer = self.pointer(load).map(|pointer| body.source(pointer));
                if let Some(of_pointer) = pointer.and_then(|pointer| before.get(pointer)) {
                    blockers.extend(&found[of_pointer].blockers);
                }
                self.sort(&mut blockers);
                if blockers.iter().all(|it| it.cause == Cause::Register) {
                    blockers.clear();
                }
                let depth = flow.depth(index);
                added.push((load, Blocked { load, wanted, blockers, depth }));
            }
        }
        found.extend(added);
    }

    /// Pointer and type of a load or store that may stand for another; `None` of
    /// volatile and atomic ones.
    fn key(&self, body: &Body<'a>, event: Event) -> Option<(Key<'a>, &'a [u8])> {
        let Event::Access(index) = event else { return None };
        let instruction = self.instruction(index);
        let plain = !instruction.volatile && !instruction.atomic;
        let opcode = matches!(instruction.opcode, Opcode::Load | Opcode::Store);
        (plain && opcode)
            .then(|| Some((body.key(self.pointer(index)?), self.module.access_type(instruction))))?
    }

    /// What could become of a load, and what happens in between. A load that not
    /// every turn of a loop comes to may not be done before it: its pointer may
    /// lead nowhere.
    fn wanted(
        &self,
        body: &Body<'a>,
        flow: &Flow,
        keys: &[Vec<Option<usize>>],
        at: Point,
    ) -> Option<(Wanted, Vec<Event>)> {
        let key = keys[at.block][at.event];
        let is_equal = |block: usize, event: usize| keys[block][event] == key;
        let Event::Access(load) = body.blocks[at.block].events[at.event] else { return None };
        // The load itself, come to again, is none that it could reuse.
        let others = |way: &Way| {
            let mut found: Vec<usize> =
                way.found.iter().filter_map(|event| event.access()).collect();
            found.retain(|&access| access != load);
            found.sort_unstable();
            found.dedup();
            Some(found).filter(|found| !found.is_empty())
        };
        let pointer = self.pointer(load)?;
        let root = Some(body.place(pointer).root).filter(|root| body.is_local_variable(root));
        let is_start = |event: &Event| root.is_some_and(|root| body.renews(event, root));
        if let Some(way) = flow.back(body, at, is_equal, is_start)
            && let Some(found) = others(&way)
        {
            return Some((Wanted::Reuse(found), way.passed));
        }
        if let Some(around) = flow.innermost(at.block)
            && body.is_invariant(pointer, &around.contains)
            && flow.is_in_every_turn(body, around, at.block)
            && !self.is_renewed(body, around, pointer)
        {
            return Some((Wanted::Hoist(around.header), self.events_of(body, around)?));
        }
        let mut here = vec![false; body.blocks.len()];
        here[at.block] = true;
        let way = flow.partly_back(body, at, is_equal, is_start);
        let way = way.filter(|_| body.is_invariant(pointer, &here))?;
        Some((Wanted::Partly(others(&way)?), way.passed))
    }

    /// Whether LLVM loads on one way into the block alone, on which something may change the value,
    /// and reuses it on the others: the load is gone from all ways but the one that needs it.
    ///
    /// LLVM: `GVNPass::PerformLoadPRE`.
    fn is_moved(
        &self,
        body: &Body<'a>,
        flow: &Flow,
        keys: &[Vec<Option<usize>>],
        at: Point,
    ) -> bool {
        let Event::Access(load) = body.blocks[at.block].events[at.event] else { return false };
        let mut here = vec![false; body.blocks.len()];
        here[at.block] = true;
        let is_fixed = self.pointer(load).is_some_and(|it| body.is_invariant(it, &here));
        let key = keys[at.block][at.event];
        let is_equal = |block: usize, event: usize| keys[block][event] == key;
        let changes = |events: &[Event]| !self.blockers(body, load, events, false).is_empty();
        let before = &body.blocks[at.block].events[..at.event];
        if !is_fixed || changes(before) || (0..at.event).any(|it| is_equal(at.block, it)) {
            return false;
        }
        let (mut free, mut blocked) = (0, 0);
        for block in flow.before(at.block) {
            let end = Point { block, event: body.blocks[block].events.len() };
            match flow.back(body, end, is_equal, |_| false) {
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
                    Some(Cause::SamePlace) if in_loop && self.is_equal(body, load, other) => {
                        Some(Cause::Register)
                    }
                    // What the load gave is stored back, if they overlap at all.
                    Some(_) if self.is_stored_back(body, load, other) => None,
                    cause => cause,
                },
                Event::Other(offset) => self.of_call(body, load, offset),
            };
            cause.map(|cause| Blocker { event, cause, load })
        };
        let mut found: Vec<Blocker> = between.iter().filter_map(cause).collect();
        self.sort(&mut found);
        found
    }

    /// Whether a store stores what a load gave: the bytes that both touch do not change.
    fn is_stored_back(&self, body: &Body<'a>, load: usize, store: usize) -> bool {
        let stored = || body.at(self.offset(Event::Access(store)))?.stored();
        let plain = |it: usize| !self.instruction(it).volatile && !self.instruction(it).atomic;
        self.is_store(store)
            && self.is_load(load)
            && plain(store)
            && stored().is_some_and(|it| Some(it.value) == self.value(load))
    }

    /// Whether two accesses are of one type to one place.
    fn is_equal(&self, body: &Body<'a>, a: usize, b: usize) -> bool {
        let [a, b] = [a, b].map(|it| self.key(body, Event::Access(it)));
        a.is_some() && a == b
    }

    /// Puts blockers in file order, each once.
    fn sort(&self, blockers: &mut Vec<Blocker>) {
        blockers.sort_by_key(|blocker| self.offset(blocker.event));
        blockers.dedup_by_key(|blocker| self.offset(blocker.event));
    }

    /// Bytes from the start of the text.
    pub(super) fn offset(&self, event: Event) -> usize {
        match event {
            Event::Access(index) => self.instruction(index).offset as usize,
            Event::Other(offset) => offset,
        }
    }

    fn of_call(&self, body: &Body<'a>, load: usize, offset: usize) -> Option<Cause> {
        let statement = body.at(offset)?;
        if statement.word == b"fence" {
            return Some(Cause::Order);
        }
        let to_read = self.is_store(load);
        if self.pointer(load).is_some_and(|it| body.is_out_of_reach(it, offset, to_read, false)) {
            return None;
        }
        let effects = statement.call().map(|call| self.effects.on_loads(&call));
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
        match write.opcode {
            Opcode::Load if self.is_store(load) && !self.llvm.is_constant(write.tag) => {}
            Opcode::Load | Opcode::VaArg => return None,
            Opcode::Call if self.pointer(other).is_none() => {
                let effect = self.of_call(body, load, write.offset as usize);
                let apart = !self.llvm.may_alias(read.tag, write.tag);
                return effect.filter(|_| !apart);
            }
            _ => {}
        }
        let [of_read, of_write] = [load, other].map(|index| self.pointer(index));
        // A copy is as long as its argument says, which nobody reads here.
        let is_plain = matches!(write.opcode, Opcode::Load | Opcode::Store);
        let written = is_plain.then(|| body.size(self.module, write)).flatten();
        if let (Some(of_read), Some(of_write)) = (of_read, of_write) {
            match body.meet((of_read, body.size(self.module, read)), (of_write, written)) {
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
        if is_wider_char(self.module, a.0) || is_wider_char(self.module, b.0) {
            Cause::FlattenedUnion
        } else {
            Cause::Covers
        }
    }
}
