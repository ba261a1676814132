//! Why clang tags an access as `char`, or not at all.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use tbaa::TagId;
use tbaa::types::Context;
use tbaa_ir::types::Definitions;
use tbaa_ir::{Body, Element, Instruction, Module, Opcode, Statement};

use crate::printable::printable;

/// What in the source gives an access no tag of its own type.
#[derive(Clone)]
pub(crate) enum CharOrigin {
    /// A `char` of the source: the access is a byte wide.
    Char,
    /// A member of a union, by the LLVM type of the union.
    Union(String),
    /// A value that is loaded as `char` and stored as `char`, and used for nothing else.
    Copy,
    /// A vector type that may alias, such as `__m128i`.
    Vector,
    /// An access that is wider than a byte, and nothing more is known.
    Wider,
    /// Bits of a word that are read, changed and stored. It has no tag.
    BitField,
}

/// Whether a load or store is tagged `char` and is wider than a byte.
pub(crate) fn is_wider_char(module: &Module<'_>, instruction: &Instruction) -> bool {
    let plain = matches!(instruction.opcode, Opcode::Load | Opcode::Store);
    let is_char = instruction.tag.is_some_and(|tag| is_char(module, tag));
    // A vectoriser makes `<16 x i8>` of several chars.
    let ty = module.access_type(instruction);
    plain && is_char && ty != b"i8" && !ty.ends_with(b" x i8>")
}

/// Whether a tag is clang's for `char`.
pub(crate) fn is_char(module: &Module<'_>, tag: TagId) -> bool {
    let graph = module.graph();
    graph.tag(tag).is_ok_and(|tag| graph.ty(tag.access).name() == Some(b"omnipotent char"))
}

/// Finds out where `char` tags come from: each function and each access is looked at once.
pub(crate) struct CharOrigins<'a> {
    module: &'a Module<'a>,
    types: OnceCell<Option<(Context, Definitions)>>,
    /// The function that was asked about last.
    function: RefCell<Option<(u32, Rc<Function<'a>>)>>,
    known: RefCell<HashMap<u32, Option<CharOrigin>>>,
}

/// A function's body, with the places of its values.
struct Function<'a> {
    body: Body<'a>,
    /// The statement that gives each value.
    defined: HashMap<&'a [u8], usize>,
    /// The statements that use each value, in order.
    used: tbaa::parts::table::HashMap<&'a [u8], Vec<usize>>,
}

impl<'a> Function<'a> {
    fn new(body: Body<'a>) -> Self {
        let statements = body.statements.iter().enumerate();
        let defined = statements.filter_map(|(at, it)| Some((it.result?, at))).collect();
        Function { defined, used: body.users(), body }
    }

    fn definition(&self, value: &[u8]) -> Option<&Statement<'a>> {
        Some(&self.body.statements[*self.defined.get(value)?])
    }

    fn uses(&self, value: &[u8]) -> impl ExactSizeIterator<Item = &Statement<'a>> {
        let uses = self.used.get(value).map(Vec::as_slice).unwrap_or_default();
        uses.iter().map(|&at| &self.body.statements[at])
    }
}

impl<'a> CharOrigins<'a> {
    pub(crate) fn new(module: &'a Module<'a>) -> Self {
        let (types, function, known) = (OnceCell::new(), RefCell::default(), RefCell::default());
        CharOrigins { module, types, function, known }
    }

    /// Finds out where the `char` tag of an access comes from, or why it has no tag; `None` of
    /// other tags, of other instructions than loads and stores, and of an access without a tag
    /// that is no bit-field.
    pub(crate) fn of(&self, instruction: &Instruction) -> Option<CharOrigin> {
        if let Some(known) = self.known.borrow().get(&instruction.offset) {
            return known.clone();
        }
        let found = self.find(instruction);
        self.known.borrow_mut().insert(instruction.offset, found.clone());
        found
    }

    fn function(&self, number: u32) -> Rc<Function<'a>> {
        let mut last = self.function.borrow_mut();
        match &*last {
            Some((of, function)) if *of == number => Rc::clone(function),
            _ => {
                let function = Rc::new(Function::new(self.module.body(number)));
                *last = Some((number, Rc::clone(&function)));
                function
            }
        }
    }

    fn find(&self, instruction: &Instruction) -> Option<CharOrigin> {
        let module = self.module;
        if !matches!(instruction.opcode, Opcode::Load | Opcode::Store) {
            return None;
        }
        let function = self.function(instruction.function);
        let definition = |value: &[u8]| function.definition(value);
        let statement = function.body.at(instruction.offset as usize)?;
        let Some(tag) = instruction.tag else {
            return is_bit_field(&function, statement).then_some(CharOrigin::BitField);
        };
        if !is_char(module, tag) {
            return None;
        }
        let pointer = &module.text()[module.pointer_span(instruction)?];
        let element = definition(pointer).and_then(Statement::element);
        if let Some(union) = element.and_then(|element| self.union_of(&element)) {
            return Some(CharOrigin::Union(union));
        }
        if !is_wider_char(module, instruction) {
            return Some(CharOrigin::Char);
        }
        if module.access_type(instruction).starts_with(b"<") {
            return Some(CharOrigin::Vector);
        }
        // The load of what a store writes, or this load.
        let load = match instruction.opcode {
            Opcode::Load => Some(statement),
            _ => statement.stored().and_then(|value| definition(value.value)),
        };
        let load = load.filter(|it| it.opcode == Opcode::Load);
        let both = load.zip(load.and_then(|it| copied(&function, it.result?)));
        let is_char = |it: &Statement<'_>| {
            let tag = it.access.and_then(|access| module.instructions()[access].tag);
            tag.is_some_and(|tag| is_char(module, tag))
        };
        let is_copy = both.is_some_and(|(load, store)| is_char(load) && is_char(store));
        Some(if is_copy { CharOrigin::Copy } else { CharOrigin::Wider })
    }

    /// The union that a `getelementptr` leads to, or through.
    fn union_of(&self, element: &Element<'_>) -> Option<String> {
        let types = self.types.get_or_init(|| {
            let mut context = Context::new();
            let names = self.module.read_types(&mut context).ok()?;
            Some((context, names))
        });
        let (context, names) = types.as_ref()?;
        let mut ty = names.named(element.ty.strip_prefix(b"%")?)?;
        let mut indices = element.indices().skip(1);
        loop {
            let name = context.name(ty).unwrap_or_default();
            if name.starts_with(b"union.") {
                return Some(format!("%{}", printable(name)));
            }
            let parts = context.parts(ty);
            // A pointer to a struct is one to its first member. All elements of an array are alike.
            let index: usize = match indices.next() {
                Some(index) if parts.len() > 1 => {
                    std::str::from_utf8(index.value).ok()?.parse().ok()?
                }
                _ => 0,
            };
            ty = *parts.get(index)?;
        }
    }
}

impl CharOrigin {
    /// Says it in a sentence's second half, after "the access is tagged char".
    pub(crate) fn words(&self) -> String {
        match self {
            CharOrigin::Char => "it is a char in the source".to_owned(),
            CharOrigin::Union(ty) => {
                format!("it is a member of {ty}, and clang tags members of unions as char")
            }
            CharOrigin::Copy => {
                "the value is only copied: a copy of a union or of several fields has the tag of char"
                    .to_owned()
            }
            CharOrigin::Vector => "it is a vector type that may alias, such as __m128i: clang tags \
                                   these as char"
                .to_owned(),
            CharOrigin::Wider => {
                "it is wider than a char: clang tags a member of a union so, and a type with \
                 __attribute__((may_alias))"
                    .to_owned()
            }
            CharOrigin::BitField => "it is a bit-field, which clang does not tag".to_owned(),
        }
    }
}

/// The store of a value that is used for nothing else.
fn copied<'f, 'a>(function: &'f Function<'a>, value: &[u8]) -> Option<&'f Statement<'a>> {
    let mut uses = function.uses(value);
    let store = uses.next().filter(|it| it.stored().is_some_and(|it| it.value == value))?;
    uses.next().is_none().then_some(store)
}

/// Whether a store puts back a word of which some bits are changed, or a load reads such a word.
///
/// clang: `CodeGenFunction::EmitStoreThroughBitfieldLValue`, `EmitLoadOfBitfieldLValue`.
fn is_bit_field(function: &Function<'_>, statement: &Statement<'_>) -> bool {
    let definition = |value: &[u8]| function.definition(value);
    let masks = |it: &Statement<'_>| matches!(it.word, b"and" | b"lshr" | b"ashr" | b"shl");
    if statement.opcode == Opcode::Load {
        let Some(result) = statement.result else { return false };
        let mut uses = function.uses(result);
        return uses.len() > 0 && uses.all(masks);
    }
    // `or` of what was masked out of the word before, or a mask alone where zeros are stored.
    let Some(mut value) = statement.stored().and_then(|it| definition(it.value)) else {
        return false;
    };
    if value.word == b"or" {
        let masked = value.values().filter_map(definition).find(|it| it.word == b"and");
        let Some(masked) = masked else { return false };
        value = masked;
    }
    value.word == b"and"
        && value.values().filter_map(definition).any(|it| it.opcode == Opcode::Load)
}
