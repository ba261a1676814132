//! Finds redundant and loop-invariant loads that LLVM keeps because of stores and calls.
//!
//! A load is redundant if earlier accesses provide its value on all paths to it. A load is
//! loop-invariant if the loop does not change the pointer, and the load runs in every iteration or
//! its bytes are known to be dereferenceable. LLVM must keep such a load if a store or call on a
//! path in between may change the value. In a loop, LLVM must also keep a load after a call that
//! might not return, unless the loaded bytes are known to be dereferenceable. A call that
//! [`Body::is_reader`] accepts is treated as a load.
//!
//! What makes LLVM keep a load is a [`Blocker`], and its [`Cause`] says whether a tag could help.
//! [`Judge`] finds blockers by control flow, pointers, attributes of calls, and tags by
//! [`AliasRule::Llvm`], as LLVM does. Like LLVM's alias analysis, `Judge` ignores `!tbaa.struct`.
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
    Address, Def, Effects, Flow, Global, Instruction, MemoryEffects, MemoryLocation, Module,
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

/// The optimisation that a load, store or loop would allow if nothing blocked it.
pub enum Wanted {
    /// Reuse the value that an earlier access loaded or stored. The list holds the last such access
    /// on each path, except the load itself.
    Reuse(Vec<Event>),
    /// Load once, before the loop with this header block.
    Hoist(usize),
    /// Hold the value in a register, and store it once, after the loop with this header block.
    Sink(usize),
    /// Vectorise a loop, or drop the overlap check before it.
    Vectorise(Box<Vectorise>),
    /// Reuse the value of these accesses on all predecessors but one, and load on that one.
    Partly(Vec<Event>),
}

/// The state of a loop after LLVM's vectoriser.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Vectors {
    /// Not vectorised.
    Scalar,
    /// Vectorised, guarded by a check at run time that accesses do not overlap.
    Checked,
    /// Vectorised, without a check.
    Vectorised,
}

/// A loop that is not vectorised, or only with a check that accesses do not overlap.
pub struct Vectorise {
    /// The loop's header block.
    pub header: usize,
    /// The loop's state in the unmodified code.
    pub now: Vectors,
    /// The loop's state if tags separated all accesses in it that tags can separate.
    pub then: Vectors,
    /// LLVM's remark that says why the loop is not vectorised.
    pub remark: Option<String>,
    /// True if [`Blocked::load`] has the same pointer in every iteration.
    pub is_fixed: bool,
    /// True if [`Blocked::load`] or a blocker has the same pointer in every iteration.
    pub has_fixed: bool,
}

/// The reason why an event blocks an optimisation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cause {
    /// The blocking access ([`Blocker::event`]) has no tag.
    NoTag,
    /// The blocked access ([`Blocker::load`]) has no tag.
    LoadNoTag,
    /// The load or store is tagged `char`, as clang tags union members, and accesses a wider type.
    FlattenedUnion,
    /// One access type, such as `char`, is an ancestor of the other access type.
    Covers,
    /// [`AliasRule::Union`] answers NoAlias, and [`AliasRule::Llvm`] answers MayAlias.
    RuleLlvm,
    /// By their types, the load and the store may access the same object.
    SameType,
    /// The addresses show that the store writes bytes that the load reads.
    SamePlace,
    /// The store writes to exactly the loaded address, but does not block. LLVM holds the value in
    /// a register through the loop if nothing else prevents this.
    /// LLVM: `promoteLoopAccessesToScalars`.
    Register,
    /// An atomic access, or a fence: types do not matter.
    Order,
    /// A call that may write the loaded memory, or access the stored memory ([`Wanted::Sink`]).
    Call,
    /// A call that may write `errno`.
    Errno,
    /// A call that might not return, or might unwind: the instructions after it might not run.
    /// LLVM treats a volatile store the same way.
    NoReturn {
        /// True if the event would block even if execution always continued after it.
        writes: bool,
    },
}

impl Cause {
    /// Returns the cause's name in JSON.
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

    /// Returns whether a tag could remove the cause.
    pub fn is_of_types(self) -> bool {
        use Cause::{Call, Errno, NoReturn, Order, Register, SamePlace};
        !matches!(self, SamePlace | Register | Order | Call | Errno | NoReturn { .. })
    }

    /// Returns whether tags could remove all blockers, those with [`Cause::Register`] excepted.
    pub fn are_of_types(blockers: &[Blocker]) -> bool {
        let mut causes = blockers.iter().map(|blocker| blocker.cause);
        causes.all(|cause| cause.is_of_types() || cause == Cause::Register)
    }
}

/// An event that prevents the optimisation of a load, store or loop.
#[derive(Clone, Copy)]
pub struct Blocker {
    /// The event that blocks.
    pub event: Event,
    /// The reason why the event blocks.
    pub cause: Cause,
    /// The access that the event blocks: [`Blocked::load`], or a load that its pointer comes from.
    pub load: Event,
}

/// A load, store or loop that LLVM could optimise, with the blockers.
pub struct Blocked {
    /// The load, or a call that reads; the store for [`Wanted::Sink`]; for a loop, one of its
    /// accesses.
    pub load: Event,
    /// The optimisation that the blockers prevent.
    pub wanted: Wanted,
    /// The blockers; empty if LLVM can already perform the optimisation `wanted`.
    pub blockers: Vec<Blocker>,
    /// The number of loops around `load`.
    pub depth: usize,
}

impl Blocked {
    /// Returns whether the value changes between iterations and could be held in a register.
    pub fn is_held(&self) -> bool {
        matches!(self.wanted, Wanted::Sink(_))
            || self.blockers.iter().any(|blocker| blocker.cause == Cause::Register)
    }
}

/// A function with the loads and stores that were analysed in it.
pub struct Judged<'t> {
    /// Index into [`Module::functions`].
    pub index: u32,
    /// The function's control flow, pointers and events.
    pub body: Body<'t>,
    /// The loads that LLVM could remove or hoist, and the stores that it could sink, in file order.
    pub loads: Vec<Blocked>,
}

/// The largest number of rounds in the search for loads. A later round also finds loads whose
/// pointers an earlier round found to be equal.
const ROUNDS: usize = 4;

/// Analyses the functions of one module: finds their blocked loads and stores.
pub struct Judge<'a> {
    /// The module.
    pub module: &'a Module<'a>,
    /// The sizes of the module's types.
    pub sizes: &'a Sizes,
    effects: &'a Effects<'a>,
    llvm: Oracle<&'a Graph>,
    union: Oracle<&'a Graph>,
    globals: HashMap<&'a [u8], Global<'a>>,
}

impl<'a> Judge<'a> {
    /// Returns the analysis of a module.
    pub fn new(module: &'a Module<'a>, sizes: &'a Sizes, effects: &'a Effects<'a>) -> Self {
        let [llvm, union] =
            [AliasRule::Llvm, AliasRule::Union].map(|it| Oracle::new(module.graph(), it));
        let globals = module.globals(sizes).into_iter().collect();
        Judge { module, sizes, effects, llvm, union, globals }
    }

    /// Returns a global variable of the module, by its name without the `@`.
    pub fn global(&self, name: &[u8]) -> Option<Global<'a>> {
        self.globals.get(name).copied()
    }

    /// Analyses the functions whose indices `is_wanted` accepts.
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

    /// Returns whether an event is a load, or a call that [`Body::is_reader`] accepts.
    pub fn is_load(&self, body: &Body<'a>, event: Event) -> bool {
        let is_load = |index: usize| self.instruction(index).opcode == Opcode::Load;
        event.access().is_some_and(is_load) || body.is_reader(event)
    }

    /// Returns whether an event is a store.
    pub fn is_store(&self, event: Event) -> bool {
        event.access().is_some_and(|access| self.instruction(access).opcode == Opcode::Store)
    }

    /// Finds the loads that LLVM could optimise if nothing blocked them, and the stores of
    /// [`Judge::stores`]. Loads without blockers are included. The blockers of a load of a pointer
    /// also block, from the next round on, the loads through the pointer.
    fn loads(&self, body: &mut Body<'a>) -> Vec<Blocked> {
        let Some(flow) = body.flow.take() else { return Vec::new() };
        // Keyed by the load's instruction index in the function.
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

    /// Returns whether the bytes of a load are dereferenceable in the whole function.
    /// LLVM: `isDereferenceableAndAlignedPointer`.
    fn is_dereferenceable(&self, body: &Body<'a>, load: Event) -> bool {
        let Some((pointer, Some(bytes))) = load.access().and_then(|access| body.place(access))
        else {
            return false;
        };
        let Address { base, offset, terms } = body.pointers.address(pointer);
        let function = &body.function;
        let size = match function.def(base) {
            Def::Global(name) => {
                self.global(name).filter(|global| !global.weak).map(|global| global.size)
            }
            Def::Parameter(at) => function.header.parameters[at].dereferenceable(),
            _ => function.inst(base).and_then(|inst| {
                let is_one = inst.opcode == Opcode::Alloca && function.operands(inst).is_empty();
                Some(self.sizes.fixed_size(inst.ty.filter(|_| is_one)?)?.alloc)
            }),
        };
        let start = u64::try_from(offset).ok().filter(|_| terms.is_empty());
        let end = start.and_then(|start| start.checked_add(bytes));
        end.zip(size).is_some_and(|(end, size)| end <= size)
    }

    /// Adds the stores that LLVM could sink out of a loop if tags separated the blockers, and if
    /// calls that do not access the stored memory always returned. Leaves out a store if a load
    /// from its address is blocked in the loop.
    fn stores(&self, (body, flow): In<'_, 'a>, found: &mut BTreeMap<usize, Blocked>) {
        let mut added = Vec::new();
        for (block, events) in body.events.iter().enumerate() {
            let Some(around) = flow.innermost(block) else { continue };
            if !body.is_in_every_turn(flow, block) {
                continue;
            }
            for &store in events.iter().filter(|&&event| self.is_store(event)) {
                let Some(key) = body.key(store) else { continue };
                let pointer = store.access().and_then(|access| body.pointer(access));
                let is_fixed = |pointer: &Value| {
                    body.pointers.is_invariant(*pointer, |block| flow.is_in(around, block))
                };
                let Some(pointer) = pointer.filter(is_fixed) else { continue };
                let events = body.events_of(flow, around);
                let Some(events) = events.filter(|events| !is_renewed(body, events, store)) else {
                    continue;
                };
                let is_listed = |event: &Event| {
                    let blocked = body.at(*event).and_then(|at| found.get(&at));
                    let open = blocked.is_some_and(|blocked| !blocked.blockers.is_empty());
                    open && body.key(*event).as_ref() == Some(&key)
                };
                if events.iter().any(is_listed) {
                    continue;
                }
                let mut blockers = self.blockers(body, store, &events, true);
                blockers.retain(|blocker| blocker.event != store);
                // A local variable is not visible after the function has returned or unwound.
                if !body.is_local_variable(body.pointers.address(pointer).base) {
                    self.add_ends(body, store, &body.ways_out(flow, around, None), &mut blockers);
                }
                let is_free = |cause: Cause| {
                    cause.is_of_types() || cause == Cause::NoReturn { writes: false }
                };
                let mut causes = blockers.iter().map(|blocker| blocker.cause);
                let any = causes.clone().any(is_free);
                let all = causes.all(|cause| is_free(cause) || cause == Cause::Register);
                if let Some(at) = body.at(store).filter(|_| all && any) {
                    let (wanted, depth) = (Wanted::Sink(around.header), flow.depth(block));
                    added.push((at, Blocked { load: store, wanted, blockers, depth }));
                }
            }
        }
        // Of several stores of one type to one address in a loop, the first is reported.
        let mut known = HashSet::new();
        added.retain(|(_, blocked)| {
            let Wanted::Sink(header) = blocked.wanted else { return false };
            known.insert((body.key(blocked.load), header))
        });
        found.extend(added);
    }

    /// Returns whether two accesses may overlap in a loop even if tags separated their types: both
    /// are based on the same pointer, and are not known to access different bytes in all
    /// iterations. Also true if one of the pointers is unknown.
    pub fn may_meet(&self, body: &Body<'a>, a: usize, b: usize) -> bool {
        let Some((a, b)) = body.place(a).zip(body.place(b)) else { return true };
        let pointers = &body.pointers;
        // If a `phi` changes the pointer, accesses of different iterations may overlap.
        let base = pointers.based_on(a.0);
        let is_apart = || pointers.address(a.0).base == base && pointers.meet(a, b) == Some(false);
        base == pointers.based_on(b.0) && !is_apart()
    }

    /// Returns the first pair of accesses, one of `a` and one of `b`, that may overlap and that
    /// tags could separate. At least one access of the pair is a store.
    pub fn pair(&self, body: &Body<'a>, a: &[usize], b: &[usize]) -> Option<Blocker> {
        let both = a.iter().flat_map(|&a| b.iter().map(move |&b| (a, b)));
        both.into_iter().find_map(|(a, b)| {
            let [a, b] = [a, b].map(Event::Access);
            let [load, other] = if self.is_store(b) { [a, b] } else { [b, a] };
            let cause = self.cause(body, load, other.access()?).filter(|_| self.is_store(other))?;
            cause.is_of_types().then_some(Blocker { event: other, cause, load })
        })
    }

    fn round(&self, (body, flow): In<'_, 'a>, found: &mut BTreeMap<usize, Blocked>) {
        // Events with equal `Body::key` get equal numbers; an event without a key gets none.
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
                let wanted = self.wanted((body, flow), &keys, point);
                let Some((wanted, between)) = wanted else { continue };
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
                        body.ends_in(index, nth).collect()
                    }
                    _ => Vec::new(),
                };
                self.add_ends(body, load, &ends, &mut blockers);
                let pointer = load.access().and_then(|access| body.pointer(access));
                let pointer = pointer.map(|pointer| body.pointers.source(pointer));
                if let Some(of_pointer) = pointer.and_then(|pointer| before.get(&pointer)) {
                    blockers.extend(&found[of_pointer].blockers);
                }
                self.sort(body, &mut blockers);
                if blockers.iter().all(|blocker| blocker.cause == Cause::Register) {
                    blockers.clear();
                }
                let depth = flow.depth(index);
                added.push((at, Blocked { load, wanted, blockers, depth }));
            }
        }
        found.extend(added);
    }

    /// Adds `ends`, the events after which execution might not continue, to `blockers`.
    fn add_ends(&self, body: &Body<'a>, load: Event, ends: &[Event], blockers: &mut Vec<Blocker>) {
        if ends.is_empty() {
            return;
        }
        let mut known: HashSet<Event> = ends.iter().copied().collect();
        for blocker in blockers.iter_mut().filter(|blocker| known.remove(&blocker.event)) {
            blocker.cause = Cause::NoReturn { writes: true };
        }
        let cause = Cause::NoReturn { writes: false };
        blockers.extend(known.into_iter().map(|event| Blocker { event, cause, load }));
        self.sort(body, blockers);
    }

    /// Returns the optimisation that a load would allow, and the events that might prevent it. A
    /// load that does not run in every iteration may be hoisted only if it is dereferenceable.
    fn wanted(
        &self,
        (body, flow): In<'_, 'a>,
        keys: &[Vec<Option<usize>>],
        at: Point,
    ) -> Option<(Wanted, Vec<Event>)> {
        let key = keys[at.block][at.event];
        let is_equal = |block: usize, event: usize| keys[block][event] == key;
        let load = body.events[at.block][at.event];
        // A load cannot reuse its own value from an earlier iteration.
        let others = |way: &Way| {
            let mut found: Vec<Event> = way.found.clone();
            found.retain(|&found| found != load);
            found.sort_unstable_by_key(|&found| body.at(found));
            found.dedup();
            Some(found).filter(|found| !found.is_empty())
        };
        let operands = body.operands(load);
        let bases = operands.iter().map(|&operand| body.pointers.address(operand).base);
        let bases: Vec<Value> = bases.filter(|&base| body.is_local_variable(base)).collect();
        let is_start = |event| bases.iter().any(|&base| body.renews(event, base));
        if let Some(way) = back((body, flow), at, is_equal, is_start)
            && let Some(found) = others(&way)
        {
            return Some((Wanted::Reuse(found), way.passed));
        }
        let is_fixed = |is_in: &dyn Fn(usize) -> bool| {
            operands.iter().all(|&operand| body.pointers.is_invariant(operand, is_in))
        };
        if let Some(around) = flow.innermost(at.block)
            && is_fixed(&|it| flow.is_in(around, it))
            && (body.is_in_every_turn(flow, at.block) || self.is_dereferenceable(body, load))
        {
            let events = body.events_of(flow, around)?;
            if !is_renewed(body, &events, load) {
                return Some((Wanted::Hoist(around.header), events));
            }
        }
        // LLVM does not remove partially redundant calls.
        let way = partly_back((body, flow), at, is_equal, is_start);
        let way = way.filter(|_| !body.is_reader(load) && is_fixed(&|it| it == at.block))?;
        Some((Wanted::Partly(others(&way)?), way.passed))
    }

    /// Returns whether LLVM reuses the value on all predecessors but one, and loads again at the
    /// end of that one because an event may change the value there. Returns false in a loop, where
    /// the remaining load may run in every iteration. LLVM: `GVNPass::PerformLoadPRE`.
    fn is_moved(&self, (body, flow): In<'_, 'a>, keys: &[Vec<Option<usize>>], at: Point) -> bool {
        let load = body.events[at.block][at.event];
        let is_here = |block| block == at.block;
        let mut operands = body.operands(load).into_iter();
        let is_fixed = operands.all(|operand| body.pointers.is_invariant(operand, is_here));
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

    /// Returns the blockers among events: those that may change what is loaded, or read or change
    /// what is stored. With `in_loop`, an access with the key of `load` gets [`Cause::Register`].
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
                Event::Access(other) => match self.cause(body, load, other)? {
                    Cause::SamePlace if in_loop && is_equal(body, load, event) => Cause::Register,
                    _ if self.is_stored_back(body, load, other) => return None,
                    cause => cause,
                },
                Event::Other(at) => self.of_call(body, load, at)?,
            };
            Some(Blocker { event, cause, load })
        };
        let mut found: Vec<Blocker> = between.iter().filter_map(cause).collect();
        self.sort(body, &mut found);
        found
    }

    /// Returns whether a store writes the value of a load, and leaves the loaded bytes as they are.
    fn is_stored_back(&self, body: &Body<'a>, load: Event, store: usize) -> bool {
        let plain = !self.instruction(store).volatile && !self.instruction(store).atomic;
        let stored = body.inst(Event::Access(store)).and_then(|inst| body.function.stored(inst));
        let is_value = stored.is_some() && stored == value(body, load);
        // Two aligned accesses of one type are to the same bytes, or share none.
        let is_aligned =
            load.access().is_some_and(|load| body.is_aligned(load)) && body.is_aligned(store);
        let is_same = is_aligned || is_equal(body, load, Event::Access(store));
        self.is_load(body, load) && plain && is_value && is_same
    }

    /// Sorts blockers in file order, and keeps one blocker for each event.
    fn sort(&self, body: &Body<'a>, blockers: &mut Vec<Blocker>) {
        blockers.sort_by_key(|blocker| self.offset(body, blocker.event));
        blockers.dedup_by_key(|blocker| self.offset(body, blocker.event));
    }

    /// Returns the offset of an event's instruction, in bytes from the start of the text.
    pub fn offset(&self, body: &Body<'a>, event: Event) -> usize {
        match event {
            Event::Access(index) => self.instruction(index).offset as usize,
            Event::Other(at) => body.function.instructions[at].span.start,
        }
    }

    /// Returns why a call or fence may change what a load reads, or touch what a store writes;
    /// `None` if it cannot. `at` is the instruction index of the call or fence.
    fn of_call(&self, body: &Body<'a>, load: Event, at: usize) -> Option<Cause> {
        if body.function.instructions[at].opcode == Opcode::Fence {
            return Some(Cause::Order);
        }
        let to_read = self.is_store(load);
        let of_load = body.at(load).and_then(|at| body.effects_of(at));
        let on_others = of_load.map(|effects| effects.without(MemoryLocation::Argument));
        let reads_arguments = !body.is_reader(load) || on_others == Some(MemoryEffects::NONE);
        let mut operands = body.operands(load).into_iter();
        let is_out = |it| body.pointers.is_out_of_reach(it, at, to_read, false);
        let is_pointer = |value: &Value| body.function.is_pointer(*value);
        if reads_arguments && operands.all(|operand| !is_pointer(&operand) || is_out(operand)) {
            return None;
        }
        let effects = body.effects_of(at).unwrap_or(MemoryEffects::ANY);
        let touches = to_read && effects != MemoryEffects::NONE;
        if touches || effects.without(MemoryLocation::Errno).writes() {
            return Some(Cause::Call);
        }
        let errno = self.module.errno_tags().iter().copied();
        let answer = self.llvm.alias_any(self.tag(load), errno);
        let bytes = load.access().and_then(|access| body.place(access)?.1);
        let may_be_errno = answer == AliasResult::MayAlias && bytes.is_none_or(|bytes| bytes <= 4);
        (effects.writes() && may_be_errno).then_some(Cause::Errno)
    }

    /// Returns why the access `other` may change what a call reads; `None` if it cannot.
    fn of_reader(&self, body: &Body<'a>, call: Event, other: usize) -> Option<Cause> {
        let written = body.pointer(other)?;
        let at = body.at(call)?;
        let [tag, of_write] = [self.tag(call), self.instruction(other).tag];
        let apart = body.pointers.is_out_of_reach(written, at, true, false)
            || !self.llvm.may_alias(tag, of_write);
        let cause = match (tag, of_write) {
            (None, _) => Cause::LoadNoTag,
            (_, None) => Cause::NoTag,
            _ => Cause::SameType,
        };
        (!apart).then_some(cause)
    }

    /// Returns why the access `other` may block `load`; `None` if it cannot.
    fn cause(&self, body: &Body<'a>, load: Event, other: usize) -> Option<Cause> {
        let write = self.instruction(other);
        if write.atomic {
            return Some(Cause::Order);
        }
        match write.opcode {
            Opcode::Load if self.is_store(load) && !self.llvm.is_constant(write.tag) => {}
            Opcode::Load => return None,
            Opcode::Call if body.pointer(other).is_none() => {
                let effect = self.of_call(body, load, body.at(Event::Access(other))?);
                return effect.filter(|_| self.llvm.may_alias(self.tag(load), write.tag));
            }
            _ if body.is_reader(load) => return self.of_reader(body, load, other),
            _ => {}
        }
        let load = load.access()?;
        let read = self.instruction(load);
        let place = body.place(load);
        let meet = |of_write| body.pointers.meet(place?, of_write);
        // A store cannot be moved past a copy that reads the stored bytes.
        let source = body.source(other).filter(|_| self.is_store(Event::Access(load)));
        let of_source = source.map_or(Some(false), |source| meet((source, None)));
        let of_write = body.place(other).and_then(meet);
        match if of_write == Some(false) { of_source } else { of_write } {
            Some(meets) => meets.then_some(Cause::SamePlace),
            None if !self.llvm.may_alias(read.tag, write.tag) => None,
            None => Some(match (read.tag, write.tag) {
                (_, None) => Cause::NoTag,
                (None, _) => Cause::LoadNoTag,
                (Some(of_read), Some(of_write)) => self.of_tags((read, of_read), (write, of_write)),
            }),
        }
    }

    fn of_tags(&self, a: (&Instruction, TagId), b: (&Instruction, TagId)) -> Cause {
        let graph = self.module.graph();
        let access = |tag: TagId| graph.tag(tag).ok().map(|tag| tag.access);
        let is_wider = |instruction| is_wider_char(self.module, self.sizes, instruction);
        if !self.union.may_alias(a.1, b.1) {
            Cause::RuleLlvm
        } else if self.union.explain(a.1, b.1).clause != Clause::Generality
            || access(a.1) == access(b.1)
        {
            Cause::SameType
        } else if is_wider(a.0) || is_wider(b.0) {
            Cause::FlattenedUnion
        } else {
            Cause::Covers
        }
    }
}

type In<'b, 'a> = (&'b Body<'a>, &'b Flow);

fn value(body: &Body<'_>, load: Event) -> Option<Value> {
    body.inst(load)?.result
}

/// Returns whether two events have equal keys, such as accesses of one type at one address.
fn is_equal(body: &Body<'_>, a: Event, b: Event) -> bool {
    let [a, b] = [a, b].map(|it| body.key(it));
    a.is_some() && a == b
}

/// Returns whether an event renews (`Body::renews`) a local variable into which `load` points.
fn is_renewed(body: &Body<'_>, events: &[Event], load: Event) -> bool {
    let bases = body.operands(load).into_iter().map(|operand| body.pointers.address(operand).base);
    let mut bases = bases.filter(|&base| body.is_local_variable(base));
    bases.any(|base| events.iter().any(|&event| body.renews(event, base)))
}
