//! Register bytecode, between the tree of `full_moon` and LLVM's IR.
//!
//! A function's variables and temporaries are slots of the Lua stack, counted from the base of its
//! frame.

mod expr;
mod function;
mod read;
mod stat;

use std::rc::Rc;

pub(crate) use function::compile;

/// What is known of a value when the program is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    Any,
    Integer,
    Number,
    IntegerArray,
    NumberArray,
}

impl Type {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Type::Any => "any",
            Type::Integer => "integer",
            Type::Number => "number",
            Type::IntegerArray => "integer[]",
            Type::NumberArray => "number[]",
        }
    }

    /// The type of an array's elements; `Any` if this is no typed array.
    pub(crate) fn element(self) -> Type {
        match self {
            Type::IntegerArray => Type::Integer,
            Type::NumberArray => Type::Number,
            _ => Type::Any,
        }
    }

    pub(crate) fn is_number(self) -> bool {
        matches!(self, Type::Integer | Type::Number)
    }
}

/// An operator with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Binary {
    pub(crate) fn is_comparison(self) -> bool {
        use Binary::{Eq, Ge, Gt, Le, Lt, Ne};
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }
}

/// A stack slot, counted from the frame's base.
pub(crate) type Reg = u32;

/// A jump's target; [`Proto::labels`] says which operation it is.
pub(crate) type Label = usize;

/// What an operation reads. A string is its number among the function's constants.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Operand {
    Reg(Reg),
    Integer(i64),
    Number(f64),
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

/// One operation.
///
/// `Check` makes a value what its annotation says, or fails. Boxes hold the variables that inner
/// functions use. `Element` and `SetElement` access typed arrays, whose elements are of type
/// `element`. `Test` and `Compare` jump if the truth is `when`. `Call` calls what is at `at` with
/// the arguments behind it; a count of `None` goes up to the top of the stack. A loop has four
/// slots from `at` on: the index, the limit or count, the step, the variable. `SetList` stores the
/// values from `at` on into a table, from index `first` on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Op {
    Move { to: Reg, from: Operand },
    Check { reg: Reg, ty: Type },
    Vararg { to: Reg },
    Upvalue { to: Reg, index: usize },
    SetUpvalue { index: usize, from: Operand },
    NewBox { to: Reg, from: Operand },
    Unbox { to: Reg, boxed: Reg },
    SetBox { boxed: Reg, from: Operand },
    Global { to: Reg, name: usize },
    SetGlobal { name: usize, from: Operand },
    Index { to: Reg, table: Reg, key: Value },
    SetIndex { table: Reg, key: Value, from: Operand },
    Element { to: Reg, array: Reg, key: Value, element: Type },
    SetElement { array: Reg, key: Value, from: Value, element: Type },
    Arith { op: Binary, to: Reg, a: Value, b: Value },
    Minus { to: Reg, from: Value },
    Not { to: Reg, from: Operand },
    Length { to: Reg, from: Value },
    Jump { target: Label },
    Test { value: Operand, when: bool, target: Label },
    Compare { op: Binary, a: Value, b: Value, when: bool, target: Label },
    Call { at: Reg, arguments: Option<u32>, results: Option<u32> },
    Return { at: Reg, count: Option<u32> },
    ForPrep { at: Reg, all_integers: bool, exit: Label },
    ForLoop { at: Reg, ty: Type, body: Label },
    Closure { to: Reg, function: usize },
    NewTable { to: Reg, items: u32, pairs: u32 },
    NewArray { to: Reg, element: Type },
    SetList { table: Reg, at: Reg, first: u32, count: Option<u32> },
}

/// A function, compiled.
#[derive(Debug, Default)]
pub(crate) struct Proto {
    /// Operations, each with its line.
    pub(crate) code: Vec<(Op, u32)>,
    /// Where each label is in `code`.
    pub(crate) labels: Vec<usize>,
    pub(crate) strings: Vec<Rc<str>>,
    /// Where a closure takes its upvalues from.
    pub(crate) upvalues: Vec<UpvalueAt>,
    pub(crate) functions: Vec<Proto>,
    pub(crate) params: u32,
    /// Slots that a frame needs.
    pub(crate) slots: u32,
}

/// A boxed register or an upvalue of the function that makes a closure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UpvalueAt {
    Box(Reg),
    Upvalue(usize),
}
