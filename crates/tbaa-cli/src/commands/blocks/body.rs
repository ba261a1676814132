//! A function's blocks, what in them may touch memory, and where pointers come from.

use std::collections::HashMap;

use tbaa_ir::{
    Argument, Call, Effects, Element, Instruction, MemoryEffects, MemoryLocation, Module, Opcode,
    Sizes, Statement,
};

/// How many definitions are followed from a pointer to what it is derived from.
const DEPTH: usize = 16;

/// Values derived from an address that are followed. LLVM follows 100 uses.
const MOST_DERIVED: usize = 256;

/// Something that may read or write memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// Index into the module's instructions.
    Access(usize),
    /// A call, or a fence: bytes from the start of the text.
    Other(usize),
}

impl Event {
    pub(super) fn access(self) -> Option<usize> {
        match self {
            Event::Access(index) => Some(index),
            Event::Other(_) => None,
        }
    }
}

pub(super) struct Block<'t> {
    /// Without `%`; empty for the first one if the text does not name it.
    pub(super) label: &'t [u8],
    pub(super) events: Vec<Event>,
    pub(super) successors: Vec<usize>,
}

pub(super) struct Body<'t> {
    pub(super) blocks: Vec<Block<'t>>,
    text: tbaa_ir::Body<'t>,
    /// Where the value of a name comes from, by the name with its `%`: the block, and the
    /// number of the instruction.
    definitions: HashMap<&'t [u8], (usize, usize)>,
    /// Where the calls are that are accesses, in bytes from the start of the text.
    calls: HashMap<usize, usize>,
    /// Values that are taken for equal to others.
    equal: HashMap<&'t [u8], &'t [u8]>,
    sizes: &'t Sizes,
    effects: &'t Effects<'t>,
    /// Where the function lets others know the address of a local variable or a parameter.
    captures: HashMap<&'t [u8], Captures>,
}

/// What a pointer is derived from, and how far it is from there.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub(super) struct BasedPointer<'t> {
    pub(super) root: &'t [u8],
    pub(super) offset: i64,
    /// Whether the offset is all that lies between.
    pub(super) exact: bool,
}

/// Two pointers with equal keys are equal where both are defined.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Key<'t> {
    Exact(&'t [u8], i64),
    /// A base, and the type and indices of a `getelementptr`.
    Element(&'t [u8], &'t [u8], &'t [u8]),
}

impl<'t> Body<'t> {
    pub(super) fn read(
        module: &'t Module<'_>,
        (sizes, effects): (&'t Sizes, &'t Effects<'t>),
        function: u32,
    ) -> Self {
        let text = module.body(function);
        let mut definitions = HashMap::new();
        let mut calls = HashMap::new();
        let mut blocks = Vec::new();
        for (index, (block, successors)) in text.blocks.iter().zip(text.successors()).enumerate() {
            let mut events = Vec::new();
            for at in block.statements.clone() {
                let statement = &text.statements[at];
                if let Some(name) = statement.result {
                    definitions.insert(name, (index, at));
                }
                if let Some(access) = statement.access {
                    if statement.opcode == Opcode::Call {
                        calls.insert(access, statement.offset);
                    }
                    events.push(Event::Access(access));
                } else if statement.opcode == Opcode::Call || statement.word == b"fence" {
                    events.push(Event::Other(statement.offset));
                }
            }
            blocks.push(Block { label: block.label, events, successors });
        }
        let captures = captures(&text, &blocks, effects);
        let equal = HashMap::new();
        Body { blocks, text, definitions, calls, equal, sizes, effects, captures }
    }

    /// The instruction that begins at a place of the text.
    pub(super) fn at(&self, offset: usize) -> Option<&Statement<'t>> {
        self.text.at(offset)
    }

    /// The block in which each load is, by the name of its value. A value that
    /// takes a load's place may take its name.
    pub(super) fn loads(&self) -> HashMap<String, String> {
        let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let place = |(value, &(block, _)): (&&[u8], &(usize, usize))| {
            (name(&value[1..]), name(self.blocks[block].label))
        };
        let is_load = |at: usize| self.text.statements[at].opcode == Opcode::Load;
        self.definitions.iter().filter(|(_, it)| is_load(it.1)).map(place).collect()
    }

    /// What computes a value; `None` for a parameter or a global.
    pub(super) fn definition(&self, value: &[u8]) -> Option<&Statement<'t>> {
        Some(&self.text.statements[self.definitions.get(value)?.1])
    }

    /// The `getelementptr` that computes a value.
    fn element(&self, value: &[u8]) -> Option<Element<'t>> {
        self.definition(value).filter(|it| it.word == b"getelementptr")?.element()
    }

    /// Returns whether a pointer is the same in all turns of a loop: nothing but
    /// its offset is computed there.
    pub(super) fn is_invariant(&self, pointer: &'t [u8], in_loop: &[bool]) -> bool {
        let mut pending = vec![pointer];
        let mut steps = 0;
        while let Some(value) = pending.pop() {
            steps += 1;
            if steps > DEPTH * 4 {
                return false;
            }
            let Some(&(block, at)) = self.definitions.get(value) else { continue };
            if !in_loop[block] {
                continue;
            }
            let statement = &self.text.statements[at];
            if !matches!(statement.word, b"getelementptr" | b"bitcast" | b"addrspacecast") {
                return false;
            }
            pending.extend(statement.values());
        }
        true
    }

    pub(super) fn key(&self, pointer: &'t [u8]) -> Key<'t> {
        match self.element(pointer) {
            Some(element) => match self.place(pointer) {
                BasedPointer { root, offset, exact: true } => Key::Exact(root, offset),
                _ => Key::Element(element.base.value, element.ty, element.list),
            },
            None => Key::Exact(self.equal.get(pointer).copied().unwrap_or(pointer), 0),
        }
    }

    /// The value that a pointer is computed from by offsets alone.
    pub(super) fn source(&self, pointer: &'t [u8]) -> &'t [u8] {
        let mut pointer = pointer;
        for _ in 0..DEPTH {
            match self.element(pointer).and_then(|element| base(&element)) {
                Some(base) => pointer = base,
                None => break,
            }
        }
        pointer
    }

    /// Takes a value for equal to an earlier one from now on.
    pub(super) fn equate(&mut self, value: &'t [u8], earlier: &'t [u8]) {
        let earlier = self.equal.get(earlier).copied().unwrap_or(earlier);
        self.equal.insert(value, earlier);
    }

    /// Follows a pointer to what it is derived from.
    pub(super) fn place(&self, pointer: &'t [u8]) -> BasedPointer<'t> {
        let mut place = BasedPointer { root: pointer, offset: 0, exact: true };
        for _ in 0..DEPTH {
            place.root = self.equal.get(place.root).copied().unwrap_or(place.root);
            let Some(element) = self.element(place.root) else { break };
            let Some(base) = base(&element) else { break };
            match self.sizes.step(&element) {
                Some(step) => {
                    let offset = place.offset.saturating_add(step);
                    place = BasedPointer { root: base, offset, ..place };
                }
                None => place = BasedPointer { root: base, offset: 0, exact: false },
            }
        }
        place
    }

    /// The values that a pointer may be based on: parameters, variables, and what is loaded or
    /// called. A `phi` or a `select` is taken for one itself where LLVM does so: where there are
    /// many, or where a `phi` is of another `phi`.
    ///
    /// LLVM: `BasicAAResult::aliasPHI`, `BasicAAResult::aliasSelect`.
    fn origins(&self, pointer: &'t [u8]) -> Vec<&'t [u8]> {
        let (mut seen, mut found) = (vec![self.place(pointer).root], Vec::new());
        let mut at = 0;
        while let Some(&root) = seen.get(at) {
            at += 1;
            let choice = self.definition(root).filter(|it| matches!(it.word, b"phi" | b"select"));
            let Some(choice) = choice else {
                found.push(root);
                continue;
            };
            let operands = choice.operands();
            let operands = operands.text[operands.at..].trim_ascii_start();
            // The others are labels of blocks, and the condition.
            let is_choice = |it: &[u8]| {
                let is_value = it.starts_with(b"@")
                    || self.definitions.contains_key(it)
                    || self.text.header.parameters.iter().any(|of| of.value == it);
                is_value && !operands.starts_with(&[b"i1 ", it, b","].concat())
            };
            for value in choice.values().filter(|it| is_choice(it)) {
                let root = self.place(value).root;
                let is_phi =
                    root == value && self.definition(value).is_some_and(|it| it.word == b"phi");
                if is_phi && choice.word == b"phi" {
                    return vec![seen[0]];
                }
                if !seen.contains(&root) {
                    seen.push(root);
                }
            }
            if seen.len() > DEPTH {
                break;
            }
        }
        match found.is_empty() || at < seen.len() {
            true => vec![seen[0]],
            false => found,
        }
    }

    /// The one value that a pointer is based on, or else what it is derived from by offsets.
    pub(super) fn based_on(&self, pointer: &'t [u8]) -> &'t [u8] {
        match self.origins(pointer)[..] {
            [origin] => origin,
            _ => self.place(pointer).root,
        }
    }

    /// Compares the places of two accesses, whatever their types: `Some(true)` if
    /// they share a byte, `Some(false)` if they lie at other bytes from one place
    /// or in objects of their own, `None` if that is not known.
    pub(super) fn meet(
        &self,
        a: (&'t [u8], Option<u64>),
        b: (&'t [u8], Option<u64>),
    ) -> Option<bool> {
        let [place_a, place_b] = [self.place(a.0), self.place(b.0)];
        if self.key(a.0) == self.key(b.0) {
            return Some(true);
        }
        if place_a.root == place_b.root {
            if !place_a.exact || !place_b.exact {
                return None;
            }
            let ends =
                |place: &BasedPointer<'_>, size: u64| place.offset.saturating_add_unsigned(size);
            return Some(
                ends(&place_a, a.1?) > place_b.offset && ends(&place_b, b.1?) > place_a.offset,
            );
        }
        let (of_a, of_b) = (self.origins(a.0), self.origins(b.0));
        let mut pairs = of_a.iter().flat_map(|a| of_b.iter().map(move |b| (*a, *b)));
        pairs.all(|(a, b)| self.are_apart(a, b)).then_some(false)
    }

    /// Whether two values lead to different objects, whatever is added to them.
    ///
    /// LLVM: `isIdentifiedObject`, `isIdentifiedFunctionLocal`, `isEscapeSource`.
    fn are_apart(&self, a: &[u8], b: &[u8]) -> bool {
        use Object::{Global, Local, Noalias, Parameter, Unknown};
        let [of_a, of_b] = [a, b].map(|it| self.object(it));
        let is_kept = |object, root, other| {
            matches!(object, Local | Noalias) && self.is_kept_from(root, other)
        };
        let is_open = matches!(
            (of_a, of_b),
            (Unknown, _) | (_, Unknown) | (Parameter, Parameter | Global) | (Global, Parameter)
        );
        a != b && (!is_open || is_kept(of_a, a, b) || is_kept(of_b, b, a))
    }

    /// Where a block's first instruction after its phis begins, in bytes from the start of
    /// the text.
    pub(super) fn first_offset(&self, block: usize) -> Option<usize> {
        let statements = &self.text.statements[self.text.blocks[block].statements.clone()];
        statements.iter().find(|it| it.word != b"phi").map(|it| it.offset)
    }

    /// Where the instruction that ends a block begins, in bytes from the start of the text.
    pub(super) fn last_offset(&self, block: usize) -> Option<usize> {
        let statements = &self.text.statements[self.text.blocks[block].statements.clone()];
        statements.last().map(|it| it.offset)
    }

    /// Whether a local variable has nothing after an event that it had before: its life begins or
    /// ends, or a function is given its address, which it may write through. A C++ function
    /// that takes constants may only read it.
    pub(super) fn renews(&self, event: &Event, variable: &[u8]) -> bool {
        let offset = match *event {
            Event::Access(access) => self.calls.get(&access).copied(),
            Event::Other(offset) => Some(offset),
        };
        let Some(call) = offset.and_then(|at| self.at(at)).and_then(Statement::call) else {
            return false;
        };
        if call.callee.starts_with(b"llvm.") {
            return call.callee.starts_with(b"llvm.lifetime.")
                && call.arguments.last().is_some_and(|it| it.value == variable);
        }
        let has = |word: &[u8]| memchr::memmem::find(call.callee, word).is_some();
        let may_read = call.callee.starts_with(b"_Z") && (has(b"RK") || has(b"PK"));
        !may_read && self.arguments_to_write(&call).any(|it| self.place(it).root == variable)
    }

    /// The pointers that a call is given, but for those that it only reads through.
    fn arguments_to_write<'c>(&self, call: &'c Call<'t>) -> impl Iterator<Item = &'t [u8]> + 'c {
        let effects = self.effects;
        let arguments = (0..).zip(&call.arguments).filter(move |&(nth, it)| {
            it.is_pointer() && !effects.argument_is(call, nth, &["readonly", "readnone"])
        });
        arguments.map(|(_, it)| it.value)
    }

    /// Whether a call may be given the address of what a pointer leads to, to write to it or also
    /// to read it.
    fn is_given(
        &self,
        call: &Call<'t>,
        pointer: &'t [u8],
        to_read: bool,
        as_restrict: bool,
    ) -> bool {
        let parameter = self.based_on(pointer);
        let may_lead_there = |value| {
            let other = self.based_on(value);
            if as_restrict && other != parameter && self.restrict_separates(parameter, other) {
                return false;
            }
            // LLVM does not follow a choice of pointers that is added to.
            let root = self.place(value).root;
            let choice = self.definition(root).map(|it| it.word);
            root != value && matches!(choice, Some(b"phi" | b"select"))
                || self.meet((value, None), (pointer, None)) != Some(false)
        };
        match to_read {
            true => call.arguments.iter().any(|it| it.is_pointer() && may_lead_there(it.value)),
            false => self.arguments_to_write(call).any(may_lead_there),
        }
    }

    /// Whether a call at a place of the text can neither change nor, with `to_read`, read what a
    /// pointer leads to: its arguments lead elsewhere, and the call touches nothing else, or does
    /// not know the address yet. `as_restrict`: if a parameter were `restrict`.
    ///
    /// LLVM: `BasicAAResult::getModRefInfo`, `AAResults::getModRefInfo`.
    pub(super) fn is_out_of_reach(
        &self,
        pointer: &'t [u8],
        offset: usize,
        to_read: bool,
        as_restrict: bool,
    ) -> bool {
        let Some(call) = self.at(offset).and_then(Statement::call) else { return false };
        let root = self.place(pointer).root;
        let elsewhere = self.effects.on_loads(&call).without(MemoryLocation::Argument);
        let object = self.object(root);
        let is_hidden = (matches!(object, Object::Local | Object::Noalias)
            || as_restrict && matches!(object, Object::Parameter))
            && !self.is_captured_before(root, offset);
        let touches = if to_read { elsewhere != MemoryEffects::NONE } else { elsewhere.writes() };
        (is_hidden || !touches) && !self.is_given(&call, pointer, to_read, as_restrict)
    }

    /// Whether others may know the address of an object before a place of the text, or at it.
    fn is_captured_before(&self, object: &[u8], offset: usize) -> bool {
        let Some(captures) = self.captures.get(object) else { return true };
        let at = self.text.statements.partition_point(|it| it.offset < offset);
        let block = self.text.blocks.iter().position(|it| it.statements.contains(&at));
        let is_before =
            |it: &usize, block: usize| self.text.blocks[block].statements.contains(it) && *it <= at;
        block.is_none_or(|block| {
            captures.after[block] || captures.at.iter().any(|it| is_before(it, block))
        })
    }

    /// Whether a pointer comes from memory or from a call, and others do not know the address of
    /// an object before that.
    ///
    /// LLVM: `isEscapeSource`, `EarliestEscapeAnalysis`.
    fn is_kept_from(&self, object: &[u8], pointer: &[u8]) -> bool {
        self.is_escaped(pointer)
            && self
                .definition(pointer)
                .is_some_and(|it| !self.is_captured_before(object, it.offset))
    }

    /// Whether `restrict` on a parameter separates it from what another pointer is based on.
    pub(super) fn restrict_separates(&self, parameter: &[u8], other: &[u8]) -> bool {
        match self.object(other) {
            Object::Unknown => self.is_kept_from(parameter, other),
            _ => true,
        }
    }

    /// Whether a pointer is a local variable in memory.
    pub(super) fn is_local_variable(&self, pointer: &[u8]) -> bool {
        self.definition(pointer).is_some_and(|it| it.word == b"alloca")
    }

    /// As [`is_local_variable`](Self::is_local_variable), where nothing else has its address:
    /// an optimiser would hold it in a register.
    pub(super) fn is_private_variable(&self, pointer: &[u8]) -> bool {
        self.is_local_variable(pointer)
            && self.captures.get(pointer).is_some_and(|it| it.at.is_empty())
    }

    /// Whether a value is a parameter of the function that may lead where others do.
    pub(super) fn is_open_parameter(&self, value: &[u8]) -> bool {
        matches!(self.object(value), Object::Parameter)
    }

    /// Whether a pointer comes from memory or from a call: it leads to no object whose
    /// address the function keeps to itself.
    fn is_escaped(&self, root: &[u8]) -> bool {
        self.definition(root).is_some_and(|it| match it.opcode {
            Opcode::Load => true,
            Opcode::Call => it.call().is_some_and(|call| !call.callee.starts_with(b"llvm.")),
            _ => false,
        })
    }

    /// Bytes that an instruction accesses, if that is known.
    pub(super) fn size(&self, module: &Module<'_>, instruction: &Instruction) -> Option<u64> {
        Some(self.sizes.of(module.access_type(instruction))?.store)
    }

    fn object(&self, root: &[u8]) -> Object {
        if root.starts_with(b"@") {
            return Object::Global;
        }
        let mut parameters = self.text.header.parameters.iter();
        match self.definition(root) {
            _ if !root.starts_with(b"%") => Object::Unknown,
            Some(statement) if statement.word == b"alloca" => Object::Local,
            Some(_) => Object::Unknown,
            None => match parameters.find(|it| it.value == root) {
                Some(it) if is_noalias(it) => Object::Noalias,
                Some(_) => Object::Parameter,
                None => Object::Unknown,
            },
        }
    }
}

/// What a pointer leads to that is derived from nothing else.
#[derive(Clone, Copy)]
enum Object {
    /// An `alloca`.
    Local,
    Global,
    /// May lead to a global variable, or where another leads.
    Parameter,
    Noalias,
    Unknown,
}

/// Whether no other pointer leads where a parameter does.
fn is_noalias(parameter: &Argument<'_>) -> bool {
    let mut words = parameter.attributes.split(|byte| b" (".contains(byte));
    words.any(|it| it == b"noalias" || it == b"byval")
}

/// Where others come to know an address.
struct Captures {
    /// As indices of statements.
    at: Vec<usize>,
    /// Blocks that may run after one of them, by their numbers.
    after: Vec<bool>,
}

/// Where a function does more with the addresses of its local variables and pointers than to
/// access what they lead to.
///
/// LLVM: `PointerMayBeCaptured`, `FindEarliestCapture`.
fn captures<'t>(
    text: &tbaa_ir::Body<'t>,
    blocks: &[Block<'t>],
    effects: &Effects<'t>,
) -> HashMap<&'t [u8], Captures> {
    let parameters = text.header.parameters.iter().filter(|it| it.is_pointer()).map(|it| it.value);
    let locals = text.statements.iter().filter(|it| it.word == b"alloca");
    let objects: Vec<&[u8]> = parameters.chain(locals.filter_map(|it| it.result)).collect();
    let users = text.users();
    let keeps = |value: &[u8], it: &Statement<'t>| match it.word {
        b"load" | b"getelementptr" | b"phi" | b"select" => true,
        b"store" => it.stored().is_some_and(|stored| stored.value != value),
        b"icmp" => memchr::memmem::find(it.text(), b", null").is_some(),
        _ => it.call().is_some_and(|call| {
            let mut passed = (0..).zip(&call.arguments).filter(|(_, it)| it.value == value);
            call.callee.starts_with(b"llvm.")
                || passed.all(|(nth, _)| {
                    effects.argument_is(&call, nth, &["nocapture", "captures(none)", "byval"])
                })
        }),
    };
    let of = |object: &'t [u8]| {
        let (mut derived, mut at) = (vec![object], Vec::new());
        let mut next = 0;
        while let Some(&value) = derived.get(next) {
            next += 1;
            for &user in users.get(value).into_iter().flatten() {
                let it = &text.statements[user];
                if !keeps(value, it) || derived.len() > MOST_DERIVED {
                    at.push(user);
                } else if matches!(it.word, b"getelementptr" | b"phi" | b"select")
                    && let Some(result) = it.result.filter(|it| !derived.contains(it))
                {
                    derived.push(result);
                }
            }
        }
        let has = |block: &usize| at.iter().any(|it| text.blocks[*block].statements.contains(it));
        let mut after = vec![false; blocks.len()];
        let mut pending: Vec<usize> = (0..blocks.len()).filter(has).collect();
        while let Some(block) = pending.pop() {
            for &next in &blocks[block].successors {
                if !std::mem::replace(&mut after[next], true) {
                    pending.push(next);
                }
            }
        }
        (object, Captures { at, after })
    };
    objects.into_iter().map(of).collect()
}

/// The value that offsets are added to, if it has a name.
fn base<'t>(element: &Element<'t>) -> Option<&'t [u8]> {
    Some(element.base.value).filter(|base| base.starts_with(b"%") || base.starts_with(b"@"))
}
