//! Register bytecode, between the tree and LLVM's IR.
//!
//! A function's variables and temporaries are slots of the Lua stack, counted
//! from the base of its frame.

mod build;
mod expr;
mod stat;

use std::rc::Rc;

use crate::syntax::SyntaxError;
use crate::syntax::ast::{Binary, Function, Source, Type};

/// A stack slot, counted from the frame's base.
pub(crate) type Reg = u32;

/// A jump's target; [`Proto::labels`] says which operation it is.
pub(crate) type Label = usize;

/// What an operation reads.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Operand {
    Reg(Reg),
    Integer(i64),
    Number(f64),
    /// A string, by its number among the function's constants.
    String(usize),
    Boolean(bool),
    Nil,
}

/// An operand and what is known of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Value {
    pub(crate) operand: Operand,
    pub(crate) ty: Type,
}

/// One operation. Counts of `None` are known when it runs: they go up to the
/// top of the stack.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Op {
    Move {
        to: Reg,
        from: Operand,
    },
    /// Makes the value what the annotation says, or fails.
    Check {
        reg: Reg,
        ty: Type,
    },
    Vararg {
        to: Reg,
    },
    Upvalue {
        to: Reg,
        index: usize,
    },
    SetUpvalue {
        index: usize,
        from: Operand,
    },
    /// Makes a box for a variable that inner functions use.
    NewBox {
        to: Reg,
        from: Operand,
    },
    Unbox {
        to: Reg,
        boxed: Reg,
    },
    SetBox {
        boxed: Reg,
        from: Operand,
    },
    Global {
        to: Reg,
        name: usize,
    },
    SetGlobal {
        name: usize,
        from: Operand,
    },
    Index {
        to: Reg,
        table: Reg,
        key: Value,
    },
    SetIndex {
        table: Reg,
        key: Value,
        from: Operand,
    },
    /// Of typed arrays; `element` is the type of their elements.
    Element {
        to: Reg,
        array: Reg,
        key: Value,
        element: Type,
    },
    SetElement {
        array: Reg,
        key: Value,
        from: Value,
        element: Type,
    },
    Arith {
        op: Binary,
        to: Reg,
        a: Value,
        b: Value,
    },
    Minus {
        to: Reg,
        from: Value,
    },
    Not {
        to: Reg,
        from: Operand,
    },
    Length {
        to: Reg,
        from: Value,
    },
    Jump {
        target: Label,
    },
    /// Jumps if the value's truth is `when`.
    Test {
        value: Operand,
        when: bool,
        target: Label,
    },
    Compare {
        op: Binary,
        a: Value,
        b: Value,
        when: bool,
        target: Label,
    },
    /// Calls what is at `at` with the arguments behind it.
    Call {
        at: Reg,
        arguments: Option<u32>,
        results: Option<u32>,
    },
    Return {
        at: Reg,
        count: Option<u32>,
    },
    /// `at` is the index, then come the limit or count, the step, the variable.
    ForPrep {
        at: Reg,
        all_integers: bool,
        exit: Label,
    },
    ForLoop {
        at: Reg,
        ty: Type,
        body: Label,
    },
    Closure {
        to: Reg,
        function: usize,
    },
    NewTable {
        to: Reg,
        items: u32,
        pairs: u32,
    },
    NewArray {
        to: Reg,
        element: Type,
    },
    /// Stores what stands from `at` on into a table, from index `first` on.
    SetList {
        table: Reg,
        at: Reg,
        first: u32,
        count: Option<u32>,
    },
}

/// A function, compiled.
#[derive(Debug)]
pub(crate) struct Proto {
    /// Operations, each with its line.
    pub(crate) code: Vec<(Op, u32)>,
    /// Where each label is in `code`.
    pub(crate) labels: Vec<usize>,
    pub(crate) strings: Vec<Rc<str>>,
    /// Where a closure takes its upvalues from: a boxed register or an upvalue of
    /// the function that makes it.
    pub(crate) upvalues: Vec<UpvalueAt>,
    pub(crate) functions: Vec<Proto>,
    pub(crate) params: u32,
    /// Slots that a frame needs.
    pub(crate) slots: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UpvalueAt {
    Box(Reg),
    Upvalue(usize),
}

/// Compiles a program's main chunk, and the functions in it.
///
/// # Errors
///
/// A type that does not fit its annotation; a function that is too large.
pub(crate) fn compile(main: &Function) -> Result<Proto, SyntaxError> {
    build::Builder::function(main, &|source| match source {
        Source::Local(_) => unreachable!("the main chunk has no function around it"),
        Source::Upvalue(index) => UpvalueAt::Upvalue(index),
    })
}
