//! A function's blocks, what in them may touch memory, and where pointers come from.

use std::collections::HashMap;

use tbaa_ir::{Argument, Element, Instruction, Module, Opcode, Sizes, Statement};

/// How many definitions are followed from a pointer to what it is derived from.
const DEPTH: usize = 16;

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
    /// Values that are taken for equal to others.
    equal: HashMap<&'t [u8], &'t [u8]>,
    sizes: &'t Sizes,
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
    pub(super) fn read(module: &Module, text: &'t [u8], sizes: &'t Sizes, function: u32) -> Self {
        let text = module.body(text, function);
        let mut definitions = HashMap::new();
        let mut blocks = Vec::new();
        for (index, (block, successors)) in text.blocks.iter().zip(text.successors()).enumerate() {
            let mut events = Vec::new();
            for at in block.statements.clone() {
                let statement = &text.statements[at];
                if let Some(name) = statement.result {
                    definitions.insert(name, (index, at));
                }
                if let Some(access) = statement.access {
                    events.push(Event::Access(access));
                } else if statement.opcode == Opcode::Call || statement.word == b"fence" {
                    events.push(Event::Other(statement.offset));
                }
            }
            blocks.push(Block { label: block.label, events, successors });
        }
        Body { blocks, text, definitions, equal: HashMap::new(), sizes }
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
    fn definition(&self, value: &[u8]) -> Option<&Statement<'t>> {
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
            match constant_step(&element, self.sizes) {
                Some(step) => {
                    let offset = place.offset.saturating_add(step);
                    place = BasedPointer { root: base, offset, ..place };
                }
                None => place = BasedPointer { root: base, offset: 0, exact: false },
            }
        }
        place
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
        let [a, b] = [place_a.root, place_b.root].map(|root| self.object(root));
        use Object::{Global, Parameter, Unknown};
        // LLVM: `isIdentifiedObject`, `isIdentifiedFunctionLocal`.
        let is_open = matches!(
            (a, b),
            (Unknown, _) | (_, Unknown) | (Parameter, Parameter | Global) | (Global, Parameter)
        );
        if is_open { None } else { Some(false) }
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

    /// Whether a pointer is a local variable in memory.
    pub(super) fn is_local_variable(&self, pointer: &[u8]) -> bool {
        self.definition(pointer).is_some_and(|it| it.word == b"alloca")
    }

    /// Whether a value is a parameter of the function.
    pub(super) fn is_parameter(&self, value: &[u8]) -> bool {
        self.text.header.parameters.iter().any(|it| it.value == value)
    }

    /// Bytes that an instruction accesses, if that is known.
    pub(super) fn size(&self, module: &Module, instruction: &Instruction) -> Option<u64> {
        Some(self.sizes.of(module.access_type(instruction))?.store)
    }

    fn object(&self, root: &[u8]) -> Object {
        if root.starts_with(b"@") {
            return Object::Global;
        }
        let is_noalias = |it: &&Argument<'_>| {
            it.value == root
                && it.attributes.split(u8::is_ascii_whitespace).any(|it| it == b"noalias")
        };
        match self.definition(root) {
            _ if !root.starts_with(b"%") => Object::Unknown,
            Some(statement) if statement.word == b"alloca" => Object::Local,
            Some(_) => Object::Unknown,
            None if self.text.header.parameters.iter().any(|it| is_noalias(&it)) => Object::Noalias,
            None => Object::Parameter,
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

/// The value that offsets are added to, if it has a name.
fn base<'t>(element: &Element<'t>) -> Option<&'t [u8]> {
    Some(element.base.value).filter(|base| base.starts_with(b"%") || base.starts_with(b"@"))
}

/// The bytes of a `getelementptr` by one constant.
fn constant_step(element: &Element<'_>, sizes: &Sizes) -> Option<i64> {
    let size = i64::try_from(sizes.of(element.ty)?.alloc).ok()?;
    let mut indices = element.indices();
    let index: i64 = str::from_utf8(indices.next()?.value).ok()?.parse().ok()?;
    indices.next().is_none().then_some(())?;
    index.checked_mul(size)
}
