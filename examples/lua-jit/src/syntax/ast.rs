//! The tree of a program.

use std::rc::Rc;

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

    /// The type of an array's elements; `Any` of what is no typed array.
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

/// A local variable of a function, by its number there.
pub(crate) type VarId = usize;

#[derive(Debug)]
pub(crate) struct Var {
    pub(crate) name: Rc<str>,
    pub(crate) ty: Type,
    /// An inner function uses it, so it lives in a box of its own.
    pub(crate) captured: bool,
    /// Its own function assigns to it after its declaration.
    pub(crate) assigned: bool,
}

/// Where a function finds a variable of a function around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    Local(VarId),
    Upvalue(usize),
}

#[derive(Debug)]
pub(crate) struct Upvalue {
    pub(crate) name: Rc<str>,
    pub(crate) ty: Type,
    pub(crate) source: Source,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: Rc<str>,
    pub(crate) params: Vec<VarId>,
    pub(crate) vars: Vec<Var>,
    pub(crate) upvalues: Vec<Upvalue>,
    pub(crate) body: Vec<Stat>,
    pub(crate) line: u32,
}

#[derive(Debug)]
pub(crate) enum Stat {
    Local { vars: Vec<VarId>, values: Vec<Expr> },
    LocalFunction { var: VarId, function: Expr },
    Assign { targets: Vec<Expr>, values: Vec<Expr> },
    Call(Expr),
    If { arms: Vec<(Expr, Vec<Stat>)>, otherwise: Vec<Stat> },
    While { condition: Expr, body: Vec<Stat> },
    Repeat { body: Vec<Stat>, condition: Expr },
    For { var: VarId, start: Expr, limit: Expr, step: Option<Expr>, body: Vec<Stat> },
    Do(Vec<Stat>),
    Return { values: Vec<Expr>, line: u32 },
    Break { offset: usize },
}

#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) offset: usize,
    pub(crate) line: u32,
}

#[derive(Debug)]
pub(crate) enum ExprKind {
    Nil,
    True,
    False,
    Integer(i64),
    Number(f64),
    String(Rc<str>),
    Vararg,
    Local(VarId),
    Upvalue(usize),
    Global(Rc<str>),
    Index(Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Expr>),
    /// In parentheses: of a call, the first result alone.
    One(Box<Expr>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Table {
        items: Vec<Expr>,
        pairs: Vec<(Expr, Expr)>,
    },
    Function(Box<Function>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unary {
    Minus,
    Not,
    Length,
}

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
