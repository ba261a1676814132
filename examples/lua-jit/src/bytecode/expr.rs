//! Expressions.

use full_moon::ast::{
    BinOp, Call, Expression, Field, FunctionArgs, FunctionCall, Index, Prefix, Suffix,
    TableConstructor, UnOp, Var,
};
use full_moon::tokenizer::{Position, Symbol, TokenReference, TokenType};

use super::function::{Home, Lowering, start};
use super::read::{self, Result, mistake};
use super::{Binary, Label, Op, Operand, Reg, Type, Value};

/// An expression, with the last suffix of calls and elements taken off.
pub(super) enum Expr<'e> {
    Name(&'e TokenReference),
    Index(Chain<'e>, &'e Index),
    Call(Chain<'e>, &'e Call),
    Tree(&'e Expression),
}

/// A variable or an expression in parentheses, with what follows it.
pub(super) struct Chain<'e> {
    pub(super) prefix: &'e Prefix,
    pub(super) suffixes: Vec<&'e Suffix>,
}

impl<'e> From<Chain<'e>> for Expr<'e> {
    fn from(mut chain: Chain<'e>) -> Expr<'e> {
        match (chain.suffixes.pop(), chain.prefix) {
            (Some(Suffix::Index(index)), _) => Expr::Index(chain, index),
            (Some(Suffix::Call(call)), _) => Expr::Call(chain, call),
            (_, Prefix::Name(name)) => Expr::Name(name),
            (_, Prefix::Expression(tree)) => Expr::Tree(tree),
            _ => unreachable!("Lua 5.4 has no other prefix"),
        }
    }
}

impl<'e> From<&'e Var> for Expr<'e> {
    fn from(var: &'e Var) -> Expr<'e> {
        match var {
            Var::Name(name) => Expr::Name(name),
            Var::Expression(it) => {
                Chain { prefix: it.prefix(), suffixes: it.suffixes().collect() }.into()
            }
            _ => unreachable!("Lua 5.4 has no other variable"),
        }
    }
}

impl<'e> From<&'e Expression> for Expr<'e> {
    fn from(tree: &'e Expression) -> Expr<'e> {
        match tree {
            Expression::Var(var) => var.into(),
            Expression::FunctionCall(call) => call.into(),
            _ => Expr::Tree(tree),
        }
    }
}

impl<'e> From<&'e FunctionCall> for Expr<'e> {
    fn from(it: &'e FunctionCall) -> Expr<'e> {
        Chain { prefix: it.prefix(), suffixes: it.suffixes().collect() }.into()
    }
}

impl Expr<'_> {
    /// Where the name, the operator or the suffix stands.
    pub(super) fn at(&self) -> Position {
        match self {
            Expr::Name(name) => name.start_position(),
            Expr::Index(_, Index::Dot { name, .. }) => name.start_position(),
            Expr::Index(_, index) => start(*index),
            Expr::Call(_, call) => start(*call),
            Expr::Tree(Expression::BinaryOperator { binop, .. }) => start(binop),
            Expr::Tree(tree) => start(*tree),
        }
    }
}

/// Whether an expression may have several values.
pub(super) fn is_open(tree: &Expression) -> bool {
    matches!(tree, Expression::FunctionCall(_))
}

/// `nil`, `true` or `false`.
fn literal(tree: &Expression) -> Option<Operand> {
    let Expression::Symbol(token) = tree else { return None };
    match token.token_type() {
        TokenType::Symbol { symbol: Symbol::Nil } => Some(Operand::Nil),
        TokenType::Symbol { symbol: Symbol::True } => Some(Operand::Boolean(true)),
        TokenType::Symbol { symbol: Symbol::False } => Some(Operand::Boolean(false)),
        _ => None,
    }
}

fn operator(binop: &BinOp) -> Result<Binary> {
    Ok(match binop {
        BinOp::Plus(_) => Binary::Add,
        BinOp::Minus(_) => Binary::Sub,
        BinOp::Star(_) => Binary::Mul,
        BinOp::Slash(_) => Binary::Div,
        BinOp::DoubleSlash(_) => Binary::FloorDiv,
        BinOp::Percent(_) => Binary::Mod,
        BinOp::Caret(_) => Binary::Pow,
        BinOp::TwoEqual(_) => Binary::Eq,
        BinOp::TildeEqual(_) => Binary::Ne,
        BinOp::LessThan(_) => Binary::Lt,
        BinOp::LessThanEqual(_) => Binary::Le,
        BinOp::GreaterThan(_) => Binary::Gt,
        BinOp::GreaterThanEqual(_) => Binary::Ge,
        _ => {
            let message = format!("the operator `{}` is not supported", binop.token().token());
            return mistake(start(binop), message);
        }
    })
}

impl Lowering<'_> {
    /// The value of a constant, if this is one.
    fn constant(&mut self, tree: &Expression) -> Result<Option<Value>> {
        let operand = match tree {
            Expression::Number(token) => {
                read::number(&token.token().to_string(), token.start_position())?
            }
            Expression::String(token) => Operand::String(self.string(&read::string(token)?)),
            Expression::UnaryOperator { unop: UnOp::Minus(_), expression } => {
                match self.constant(expression)?.map(|value| value.operand) {
                    Some(Operand::Integer(i)) => Operand::Integer(i.wrapping_neg()),
                    Some(Operand::Number(n)) => Operand::Number(-n),
                    _ => return Ok(None),
                }
            }
            _ => match literal(tree) {
                Some(operand) => operand,
                None => return Ok(None),
            },
        };
        let ty = match operand {
            Operand::Integer(_) => Type::Integer,
            Operand::Number(_) => Type::Number,
            _ => Type::Any,
        };
        Ok(Some(Value { operand, ty }))
    }

    /// Computes an expression; what is in a slot or constant stays where it is.
    pub(super) fn value<'e>(&mut self, expr: impl Into<Expr<'e>>) -> Result<Value> {
        let expr = expr.into();
        match &expr {
            Expr::Tree(Expression::Parentheses { expression, .. }) if !is_open(expression) => {
                return self.value(&**expression);
            }
            Expr::Tree(tree) => {
                if let Some(value) = self.constant(tree)? {
                    return Ok(value);
                }
            }
            Expr::Name(name) => {
                if let Home::Local(var) = self.resolve(&name.token().to_string())
                    && let var = &self.f.vars[var]
                    && !var.boxed
                {
                    return Ok(Value { operand: Operand::Reg(var.reg), ty: var.known });
                }
            }
            _ => {}
        }
        let to = self.temporary();
        let ty = self.into(expr, to)?;
        Ok(Value { operand: Operand::Reg(to), ty })
    }

    /// As [`Lowering::value`], in a slot.
    pub(super) fn in_slot<'e>(&mut self, expr: impl Into<Expr<'e>>) -> Result<(Reg, Type)> {
        let value = self.value(expr)?;
        if let Operand::Reg(reg) = value.operand {
            return Ok((reg, value.ty));
        }
        let to = self.temporary();
        self.move_to(to, value);
        Ok((to, value.ty))
    }

    /// Computes an expression into a slot, and says what is known of it.
    pub(super) fn into<'e>(&mut self, expr: impl Into<Expr<'e>>, to: Reg) -> Result<Type> {
        let (mark, expr) = (self.f.free, expr.into());
        let line = expr.at().line() as u32;
        self.f.line = line;
        let ty = match expr {
            Expr::Name(name) => self.name(name, to),
            Expr::Index(chain, index) => {
                let (table, ty) = self.in_slot(chain)?;
                let key = self.key(ty, index)?;
                self.f.line = line;
                let element = ty.element();
                match element {
                    Type::Any => self.emit(Op::Index { to, table, key }),
                    _ => self.emit(Op::Element { to, array: table, key, element }),
                }
                element
            }
            Expr::Call(..) => {
                let at = self.call(expr, Some(1))?;
                self.emit(Op::Move { to, from: Operand::Reg(at) });
                Type::Any
            }
            Expr::Tree(tree) => self.tree(tree, to, line)?,
        };
        self.f.free = mark;
        Ok(ty)
    }

    fn name(&mut self, name: &TokenReference, to: Reg) -> Type {
        let name = name.token().to_string();
        match self.resolve(&name) {
            Home::Local(var) => {
                let var = &self.f.vars[var];
                let (reg, ty) = (var.reg, var.known);
                if var.boxed {
                    self.emit(Op::Unbox { to, boxed: reg });
                } else {
                    self.move_to(to, Value { operand: Operand::Reg(reg), ty });
                }
                ty
            }
            Home::Upvalue(index) => {
                self.emit(Op::Upvalue { to, index });
                self.f.upvalues[index].ty
            }
            Home::Global => {
                let name = self.string(&name);
                self.emit(Op::Global { to, name });
                Type::Any
            }
        }
    }

    fn tree(&mut self, tree: &Expression, to: Reg, line: u32) -> Result<Type> {
        if let Some(value) = self.constant(tree)? {
            self.move_to(to, value);
            return Ok(value.ty);
        }
        match tree {
            Expression::Parentheses { expression, .. } => return self.into(&**expression, to),
            Expression::UnaryOperator { unop, expression } => match unop {
                UnOp::Not(_) => {
                    let from = self.value(&**expression)?.operand;
                    self.emit(Op::Not { to, from });
                }
                UnOp::Minus(_) => {
                    let from = self.value(&**expression)?;
                    number_or_any(from, start(unop))?;
                    self.f.line = line;
                    self.emit(Op::Minus { to, from });
                    return Ok(from.ty);
                }
                UnOp::Hash(_) => {
                    let (reg, ty) = self.in_slot(&**expression)?;
                    self.f.line = line;
                    self.emit(Op::Length { to, from: Value { operand: Operand::Reg(reg), ty } });
                    return Ok(Type::Integer);
                }
                _ => return mistake(start(unop), "the operator `~` is not supported"),
            },
            Expression::BinaryOperator { lhs, binop: BinOp::And(_) | BinOp::Or(_), rhs } => {
                // The first operand may be the variable that is assigned to.
                let result = self.temporary();
                let end = self.label();
                let left = self.into(&**lhs, result)?;
                let when = matches!(tree, Expression::BinaryOperator { binop: BinOp::Or(_), .. });
                self.emit(Op::Test { value: Operand::Reg(result), when, target: end });
                let right = self.into(&**rhs, result)?;
                self.place(end);
                self.emit(Op::Move { to, from: Operand::Reg(result) });
                return Ok(if left == right { left } else { Type::Any });
            }
            Expression::BinaryOperator { lhs, binop, rhs } => {
                let op = operator(binop)?;
                if !op.is_comparison() {
                    let (a, b) = (self.value(&**lhs)?, self.value(&**rhs)?);
                    number_or_any(a, start(binop))?;
                    number_or_any(b, start(binop))?;
                    self.f.line = line;
                    self.emit(Op::Arith { op, to, a, b });
                    return Ok(match (op, a.ty, b.ty) {
                        (Binary::Div | Binary::Pow, ..) => Type::Number,
                        (_, Type::Any, _) | (_, _, Type::Any) => Type::Any,
                        (_, Type::Integer, Type::Integer) => Type::Integer,
                        _ => Type::Number,
                    });
                }
                let (yes, end) = (self.label(), self.label());
                self.branch(tree, true, yes)?;
                self.emit(Op::Move { to, from: Operand::Boolean(false) });
                self.emit(Op::Jump { target: end });
                self.place(yes);
                self.emit(Op::Move { to, from: Operand::Boolean(true) });
                self.place(end);
            }
            Expression::TableConstructor(table) => self.table(table, to)?,
            Expression::Function(function) => {
                self.closure(function.body(), start(function.function_token()), to)?;
            }
            Expression::Symbol(token) if self.outer.is_empty() => {
                debug_assert_eq!(token.token().to_string(), "...");
                self.emit(Op::Vararg { to });
            }
            _ => return mistake(start(tree), "only the main chunk has `...`"),
        }
        Ok(Type::Any)
    }

    /// Computes an index into a value of type `ty`, and checks that it can have one.
    pub(super) fn key(&mut self, ty: Type, index: &Index) -> Result<Value> {
        let (at, value) = match index {
            Index::Brackets { expression, .. } => {
                (Expr::from(&**expression).at(), self.value(&**expression)?)
            }
            Index::Dot { name, .. } => {
                let operand = Operand::String(self.string(&name.token().to_string()));
                (name.start_position(), Value { operand, ty: Type::Any })
            }
            _ => return mistake(start(index), "this index is not supported"),
        };
        match (ty.element(), value) {
            _ if ty.is_number() => {
                mistake(at, format!("a value of type {} has no elements", ty.name()))
            }
            (Type::Any, _) | (_, Value { ty: Type::Integer, .. }) => Ok(value),
            (_, Value { operand: Operand::Reg(_), ty: Type::Any }) => {
                let reg = self.temporary();
                self.move_to(reg, value);
                self.emit(Op::Check { reg, ty: Type::Integer });
                Ok(Value { operand: Operand::Reg(reg), ty: Type::Integer })
            }
            _ => mistake(at, format!("the index of an array of type {} is an integer", ty.name())),
        }
    }

    /// Computes an expression into a slot as a value of the type that an annotation gives it.
    pub(super) fn put_typed(
        &mut self,
        tree: &Expression,
        to: Reg,
        ty: Type,
        what: &str,
    ) -> Result<()> {
        if let (Expression::TableConstructor(table), true) = (tree, ty.element() != Type::Any) {
            return self.array(table, ty, to);
        }
        let found = self.into(tree, to)?;
        let nothing = literal(tree);
        self.check((to, found), ty, what, Expr::from(tree).at(), nothing)
    }

    /// Sees to it that a slot's value of type `found` has type `ty`.
    pub(super) fn check(
        &mut self,
        (reg, found): (Reg, Type),
        ty: Type,
        what: &str,
        at: Position,
        literal: Option<Operand>,
    ) -> Result<()> {
        if ty == Type::Any || ty == found {
            return Ok(());
        }
        let found = match (literal, found) {
            (Some(Operand::Nil), _) => "nil",
            (Some(_), _) => "boolean",
            (None, found) if found != Type::Any && !(found.is_number() && ty.is_number()) => {
                found.name()
            }
            _ => {
                self.f.line = at.line() as u32;
                self.emit(Op::Check { reg, ty });
                return Ok(());
            }
        };
        mistake(at, format!("{what} is of type {}, and this is of type {found}", ty.name()))
    }

    fn array(&mut self, table: &TableConstructor, ty: Type, to: Reg) -> Result<()> {
        // The items may read what `to` was.
        let mark = self.f.free;
        let (array, element) = (self.temporary(), ty.element());
        self.emit(Op::NewArray { to: array, element });
        for (at, field) in table.fields().iter().enumerate() {
            let Field::NoKey(item) = field else {
                let message = format!("a value of type {} has no fields", ty.name());
                return mistake(start(field), message);
            };
            let mark = self.f.free;
            let slot = self.temporary();
            self.put_typed(item, slot, element, "an element")?;
            let key = Value { operand: Operand::Integer(at as i64 + 1), ty: Type::Integer };
            let from = Value { operand: Operand::Reg(slot), ty: element };
            self.emit(Op::SetElement { array, key, from, element });
            self.f.free = mark;
        }
        self.emit(Op::Move { to, from: Operand::Reg(array) });
        self.f.free = mark;
        Ok(())
    }

    fn table(&mut self, constructor: &TableConstructor, to: Reg) -> Result<()> {
        /// Items that wait on the stack before they are stored.
        const BATCH: usize = 50;
        let table = self.temporary();
        let fields = constructor.fields();
        let items = fields.iter().filter_map(|field| match field {
            Field::NoKey(item) => Some(item),
            _ => None,
        });
        let items: Vec<&Expression> = items.collect();
        let pairs = (fields.len() - items.len()) as u32;
        self.emit(Op::NewTable { to: table, items: items.len() as u32, pairs });
        for field in fields {
            let mark = self.f.free;
            let (key, value) = match field {
                Field::ExpressionKey { key, value, .. } => (self.value(&**key)?, value),
                Field::NameKey { key, value, .. } => {
                    let operand = Operand::String(self.string(&key.token().to_string()));
                    (Value { operand, ty: Type::Any }, value)
                }
                _ => continue,
            };
            let from = self.value(&**value)?.operand;
            self.emit(Op::SetIndex { table, key, from });
            self.f.free = mark;
        }
        for (batch, chunk) in items.chunks(BATCH).enumerate() {
            let at = self.f.free;
            let last = batch * BATCH + chunk.len() == items.len();
            let count = self.list(chunk, last)?;
            self.emit(Op::SetList { table, at, first: (batch * BATCH) as u32 + 1, count });
            self.f.free = at;
        }
        self.emit(Op::Move { to, from: Operand::Reg(table) });
        Ok(())
    }

    /// Computes a list into the next free slots; if it may end with all results of a call, and does,
    /// the count is `None`.
    pub(super) fn list(&mut self, list: &[&Expression], open: bool) -> Result<Option<u32>> {
        for (at, &expr) in list.iter().enumerate() {
            if open && at + 1 == list.len() && is_open(expr) {
                self.call(expr.into(), None)?;
                return Ok(None);
            }
            let slot = self.temporary();
            self.into(expr, slot)?;
        }
        Ok(Some(list.len() as u32))
    }

    /// Calls, and returns the slot where the results begin.
    pub(super) fn call(&mut self, expr: Expr<'_>, results: Option<u32>) -> Result<Reg> {
        let position = expr.at();
        let Expr::Call(function, call) = expr else { return mistake(position, "this is no call") };
        let arguments = match call {
            Call::AnonymousCall(arguments) => match &**arguments {
                FunctionArgs::Parentheses { arguments, .. } => arguments,
                _ => return mistake(position, "calls without parentheses are not supported"),
            },
            _ => return mistake(position, "methods are not supported: write `t.f(t, ...)`"),
        };
        let at = self.temporary();
        let ty = self.into(function, at)?;
        if ty != Type::Any {
            return mistake(position, format!("a value of type {} cannot be called", ty.name()));
        }
        let arguments = self.list(&arguments.iter().collect::<Vec<_>>(), true)?;
        self.f.line = position.line() as u32;
        self.emit(Op::Call { at, arguments, results });
        // The results need their slots, even where nobody asks for one.
        self.f.free = at;
        for _ in 0..results.unwrap_or(1).max(1) {
            self.temporary();
        }
        Ok(at)
    }

    /// Jumps to `target` if the expression's truth is `when`.
    pub(super) fn branch(&mut self, tree: &Expression, when: bool, target: Label) -> Result<()> {
        let mark = self.f.free;
        match tree {
            Expression::Symbol(_) if literal(tree).is_some() => {
                if (literal(tree) == Some(Operand::Boolean(true))) == when {
                    self.emit(Op::Jump { target });
                }
            }
            Expression::UnaryOperator { unop: UnOp::Not(_), expression } => {
                self.branch(expression, !when, target)?;
            }
            Expression::Parentheses { expression, .. } if !is_open(expression) => {
                self.branch(expression, when, target)?;
            }
            Expression::BinaryOperator {
                lhs,
                binop: binop @ (BinOp::And(_) | BinOp::Or(_)),
                rhs,
            } => {
                if matches!(binop, BinOp::Or(_)) == when {
                    self.branch(lhs, when, target)?;
                    self.branch(rhs, when, target)?;
                } else {
                    let end = self.label();
                    self.branch(lhs, !when, end)?;
                    self.branch(rhs, when, target)?;
                    self.place(end);
                }
            }
            Expression::BinaryOperator { lhs, binop, rhs } if operator(binop)?.is_comparison() => {
                let (op, line) = (operator(binop)?, start(binop).line() as u32);
                let (a, b) = (self.value(&**lhs)?, self.value(&**rhs)?);
                self.f.line = line;
                let (op, a, b) = match op {
                    Binary::Gt => (Binary::Lt, b, a),
                    Binary::Ge => (Binary::Le, b, a),
                    op => (op, a, b),
                };
                self.emit(Op::Compare { op, a, b, when, target });
            }
            _ => {
                let value = self.value(tree)?.operand;
                self.emit(Op::Test { value, when, target });
            }
        }
        self.f.free = mark;
        Ok(())
    }
}

fn number_or_any(value: Value, at: Position) -> Result<()> {
    if value.ty == Type::Any || value.ty.is_number() {
        return Ok(());
    }
    mistake(at, format!("arithmetic on a value of type {}", value.ty.name()))
}
