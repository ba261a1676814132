//! Reads that repeat one before them: of the same bytes, by the same tag, with nothing between
//! them that may write. The runtime would learn nothing from them.
//!
//! Code that is not optimised loads a pointer again for each use. So pointers are compared by
//! how they are made: by which value a slot has that only whole loads and stores use, and by
//! the text of a `getelementptr` whose indices are constants.

use tbaa::TagId;
use tbaa_ir::{Module, Opcode, Statement};
use tbaa_lex::table::{HashMap, HashSet};

/// What a value is.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Value<'t> {
    /// Nothing more is known than its name.
    Named(&'t [u8]),
    /// What a slot has, after so many stores to it.
    Loaded(&'t [u8], u32),
    /// An element of something, by the type and the indices.
    Element(u32, &'t [u8], &'t [u8]),
}

/// What is known at a place of a block.
#[derive(Default)]
pub(super) struct Repeats<'t> {
    numbers: HashMap<Value<'t>, u32>,
    /// Of results of instructions.
    known: HashMap<&'t [u8], u32>,
    stores: HashMap<&'t [u8], u32>,
    /// Reads since anything may have been written: pointer, bytes, tag.
    reads: HashSet<(u32, u64, TagId)>,
}

impl<'t> Repeats<'t> {
    /// At the start of a block, which may be come to from anywhere. A slot's value then is
    /// one that no other block has.
    pub(super) fn begin(&mut self) {
        self.reads.clear();
        for stores in self.stores.values_mut() {
            *stores += 1;
        }
    }

    /// Where anything may be written.
    pub(super) fn written(&mut self) {
        self.reads.clear();
    }

    /// Returns whether a read of these bytes is a repeated one; notes it if not.
    pub(super) fn is_repeated(&mut self, pointer: &'t [u8], size: u64, tag: TagId) -> bool {
        let pointer = self.number_of(pointer);
        !self.reads.insert((pointer, size, tag))
    }

    fn number_of(&mut self, name: &'t [u8]) -> u32 {
        match self.known.get(name) {
            Some(&number) => number,
            None => self.number(Value::Named(name)),
        }
    }

    fn number(&mut self, value: Value<'t>) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(value).or_insert(next)
    }

    /// Notes what an instruction that makes a pointer makes, and what is stored to a slot.
    pub(super) fn pass(
        &mut self,
        statement: &Statement<'t>,
        text: &'t [u8],
        module: &Module,
        registers: &HashSet<&'t [u8]>,
    ) {
        if let Some(access) = statement.access.map(|access| &module.instructions()[access])
            && let Some(slot) = access.pointer_span(text).map(|span| &text[span])
            && registers.contains(slot)
        {
            let stores = self.stores.entry(slot).or_default();
            match (access.opcode, statement.result) {
                (Opcode::Store, _) => *stores += 1,
                (Opcode::Load, Some(result)) => {
                    let value = Value::Loaded(slot, *stores);
                    let number = self.number(value);
                    self.known.insert(result, number);
                }
                _ => {}
            }
        } else if statement.word == b"getelementptr"
            && let (Some(result), Some(element)) = (statement.result, statement.element())
            && memchr::memchr2(b'%', b'<', element.list).is_none()
        {
            let base = self.number_of(element.base.value);
            let number = self.number(Value::Element(base, element.ty, element.list));
            self.known.insert(result, number);
        }
    }
}
