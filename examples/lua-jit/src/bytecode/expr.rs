//! Expressions.

use super::build::Builder;
use super::{Label, Op, Operand, Reg, Value};
use crate::syntax::SyntaxError;
use crate::syntax::ast::{Binary, Expr, ExprKind, Type, Unary};

type Result<T> = std::result::Result<T, SyntaxError>;

impl Builder<'_> {
    /// Computes an expression; what is in a slot or constant stays where it is.
    pub(super) fn value(&mut self, expr: &Expr) -> Result<Value> {
        let constant = |operand, ty| Ok(Value { operand, ty });
        match &expr.kind {
            ExprKind::Nil => constant(Operand::Nil, Type::Any),
            ExprKind::True => constant(Operand::Boolean(true), Type::Any),
            ExprKind::False => constant(Operand::Boolean(false), Type::Any),
            ExprKind::Integer(i) => constant(Operand::Integer(*i), Type::Integer),
            ExprKind::Number(n) => constant(Operand::Number(*n), Type::Number),
            ExprKind::String(s) => constant(Operand::String(self.string(s)), Type::Any),
            ExprKind::Local(var) if !self.is_boxed(*var) => {
                let (reg, ty) = self.var(*var);
                constant(Operand::Reg(reg), ty)
            }
            ExprKind::One(inner) if !is_open(inner) => self.value(inner),
            _ => {
                let to = self.temporary();
                let ty = self.into(expr, to)?;
                Ok(Value { operand: Operand::Reg(to), ty })
            }
        }
    }

    /// As [`Builder::value`], in a slot.
    pub(super) fn in_slot(&mut self, expr: &Expr) -> Result<(Reg, Type)> {
        let value = self.value(expr)?;
        if let Operand::Reg(reg) = value.operand {
            return Ok((reg, value.ty));
        }
        let to = self.temporary();
        self.move_to(to, value);
        Ok((to, value.ty))
    }

    /// Computes an expression into a slot, and says what is known of it.
    pub(super) fn into(&mut self, expr: &Expr, to: Reg) -> Result<Type> {
        let mark = self.mark();
        let ty = self.compute(expr, to)?;
        self.release(mark);
        Ok(ty)
    }

    fn compute(&mut self, expr: &Expr, to: Reg) -> Result<Type> {
        self.line = expr.line;
        match &expr.kind {
            ExprKind::Vararg => self.emit(Op::Vararg { to }),
            ExprKind::Local(var) if self.is_boxed(*var) => {
                let (boxed, ty) = self.var(*var);
                self.emit(Op::Unbox { to, boxed });
                return Ok(ty);
            }
            ExprKind::Upvalue(index) => {
                self.emit(Op::Upvalue { to, index: *index });
                return Ok(self.function.upvalues[*index].ty);
            }
            ExprKind::Global(name) => {
                let name = self.string(name);
                self.emit(Op::Global { to, name });
            }
            ExprKind::Index(table, key) => return self.index(expr, table, key, to),
            ExprKind::Call(..) => {
                let at = self.call(expr, Some(1))?;
                self.emit(Op::Move { to, from: Operand::Reg(at) });
            }
            ExprKind::One(inner) => return self.compute(inner, to),
            ExprKind::Unary(Unary::Not, inner) => {
                let from = self.value(inner)?.operand;
                self.emit(Op::Not { to, from });
            }
            ExprKind::Unary(Unary::Minus, inner) => {
                let from = self.value(inner)?;
                self.number_or_any(from, expr.offset)?;
                self.line = expr.line;
                self.emit(Op::Minus { to, from });
                return Ok(from.ty);
            }
            ExprKind::Unary(Unary::Length, inner) => {
                let (reg, ty) = self.in_slot(inner)?;
                self.line = expr.line;
                self.emit(Op::Length { to, from: Value { operand: Operand::Reg(reg), ty } });
                return Ok(Type::Integer);
            }
            ExprKind::Binary(op, a, b) if !op.is_comparison() => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                self.number_or_any(a, expr.offset)?;
                self.number_or_any(b, expr.offset)?;
                self.line = expr.line;
                self.emit(Op::Arith { op: *op, to, a, b });
                return Ok(result_of(*op, a.ty, b.ty));
            }
            ExprKind::Binary(..) => {
                let (yes, end) = (self.label(), self.label());
                self.branch(expr, true, yes)?;
                self.emit(Op::Move { to, from: Operand::Boolean(false) });
                self.emit(Op::Jump { target: end });
                self.place(yes);
                self.emit(Op::Move { to, from: Operand::Boolean(true) });
                self.place(end);
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                // The first operand may be the variable that is assigned to.
                let result = self.temporary();
                let end = self.label();
                let left = self.into(a, result)?;
                let when = matches!(expr.kind, ExprKind::Or(..));
                self.emit(Op::Test { value: Operand::Reg(result), when, target: end });
                let right = self.into(b, result)?;
                self.place(end);
                self.emit(Op::Move { to, from: Operand::Reg(result) });
                return Ok(if left == right { left } else { Type::Any });
            }
            ExprKind::Table { items, pairs } => self.table(items, pairs, to)?,
            ExprKind::Function(inner) => {
                let function = self.inner(inner)?;
                self.emit(Op::Closure { to, function });
            }
            _ => {
                let value = self.value(expr)?;
                self.move_to(to, value);
                return Ok(value.ty);
            }
        }
        Ok(Type::Any)
    }

    fn number_or_any(&self, value: Value, offset: usize) -> Result<()> {
        if value.ty == Type::Any || value.ty.is_number() {
            return Ok(());
        }
        let message = format!("arithmetic on a value of type {}", value.ty.name());
        Err(SyntaxError::new(offset, message))
    }

    fn index(&mut self, expr: &Expr, table: &Expr, key: &Expr, to: Reg) -> Result<Type> {
        let (table, ty) = self.in_slot(table)?;
        let key = self.key(ty, key)?;
        self.line = expr.line;
        let element = ty.element();
        match element {
            Type::Any => self.emit(Op::Index { to, table, key }),
            _ => self.emit(Op::Element { to, array: table, key, element }),
        }
        Ok(element)
    }

    /// Computes an index into a value of type `ty`, and checks that it can have
    /// one.
    pub(super) fn key(&mut self, ty: Type, key: &Expr) -> Result<Value> {
        let value = self.value(key)?;
        let message = match (ty, value.ty) {
            (Type::Integer | Type::Number, _) => {
                format!("a value of type {} has no elements", ty.name())
            }
            (Type::IntegerArray | Type::NumberArray, Type::Integer) => return Ok(value),
            (Type::IntegerArray | Type::NumberArray, Type::Any)
                if matches!(value.operand, Operand::Reg(_)) =>
            {
                let reg = self.temporary();
                self.move_to(reg, value);
                self.emit(Op::Check { reg, ty: Type::Integer });
                return Ok(Value { operand: Operand::Reg(reg), ty: Type::Integer });
            }
            (Type::IntegerArray | Type::NumberArray, _) => {
                format!("the index of an array of type {} is an integer", ty.name())
            }
            _ => return Ok(value),
        };
        Err(SyntaxError::new(key.offset, message))
    }

    /// Computes an expression into a slot as a value of the type that an
    /// annotation gives it.
    pub(super) fn put_typed(&mut self, expr: &Expr, to: Reg, ty: Type, what: &str) -> Result<()> {
        if let (ExprKind::Table { items, pairs }, true) = (&expr.kind, ty.element() != Type::Any) {
            if let Some((key, _)) = pairs.first() {
                let message = format!("a value of type {} has no fields", ty.name());
                return Err(SyntaxError::new(key.offset, message));
            }
            return self.array(items, ty, to);
        }
        let found = self.into(expr, to)?;
        self.check(to, found, ty, what, expr)
    }

    /// Sees to it that a slot's value of type `found` has type `ty`.
    pub(super) fn check(
        &mut self,
        reg: Reg,
        found: Type,
        ty: Type,
        what: &str,
        expr: &Expr,
    ) -> Result<()> {
        let never = matches!(expr.kind, ExprKind::Nil | ExprKind::True | ExprKind::False)
            || found != Type::Any && !(found.is_number() && ty.is_number());
        if ty == Type::Any || ty == found {
            return Ok(());
        }
        if never {
            let found = match expr.kind {
                ExprKind::Nil => "nil",
                ExprKind::True | ExprKind::False => "boolean",
                _ => found.name(),
            };
            let message = format!("{what} is of type {}, and this is of type {found}", ty.name());
            return Err(SyntaxError::new(expr.offset, message));
        }
        self.line = expr.line;
        self.emit(Op::Check { reg, ty });
        Ok(())
    }

    fn array(&mut self, items: &[Expr], ty: Type, to: Reg) -> Result<()> {
        // The items may read what `to` was.
        let mark = self.mark();
        let (array, element) = (self.temporary(), ty.element());
        self.emit(Op::NewArray { to: array, element });
        for (at, item) in items.iter().enumerate() {
            let mark = self.mark();
            let slot = self.temporary();
            self.put_typed(item, slot, element, "an element")?;
            let key = Value { operand: Operand::Integer(at as i64 + 1), ty: Type::Integer };
            let from = Value { operand: Operand::Reg(slot), ty: element };
            self.emit(Op::SetElement { array, key, from, element });
            self.release(mark);
        }
        self.emit(Op::Move { to, from: Operand::Reg(array) });
        self.release(mark);
        Ok(())
    }

    fn table(&mut self, items: &[Expr], pairs: &[(Expr, Expr)], to: Reg) -> Result<()> {
        /// Items that wait on the stack before they are stored.
        const BATCH: usize = 50;
        let table = self.temporary();
        let (hinted_items, hinted_pairs) = (items.len() as u32, pairs.len() as u32);
        self.emit(Op::NewTable { to: table, items: hinted_items, pairs: hinted_pairs });
        for (key, from) in pairs {
            let mark = self.mark();
            let key = self.value(key)?;
            let from = self.value(from)?.operand;
            self.emit(Op::SetIndex { table, key, from });
            self.release(mark);
        }
        for (batch, chunk) in items.chunks(BATCH).enumerate() {
            let (mark, at) = (self.mark(), self.mark());
            let last = (batch * BATCH + chunk.len()) == items.len();
            let count = self.list(chunk, last)?;
            let first = (batch * BATCH) as u32 + 1;
            self.emit(Op::SetList { table, at, first, count });
            self.release(mark);
        }
        self.emit(Op::Move { to, from: Operand::Reg(table) });
        Ok(())
    }

    /// Computes a list into the next free slots; if it may end with all results
    /// of a call, and does, the count is `None`.
    pub(super) fn list(&mut self, exprs: &[Expr], open: bool) -> Result<Option<u32>> {
        for (at, expr) in exprs.iter().enumerate() {
            if open && at + 1 == exprs.len() && is_open(expr) {
                self.call(expr, None)?;
                return Ok(None);
            }
            let slot = self.temporary();
            self.into(expr, slot)?;
        }
        Ok(Some(exprs.len() as u32))
    }

    /// Calls, and returns the slot where the results begin.
    pub(super) fn call(&mut self, expr: &Expr, results: Option<u32>) -> Result<Reg> {
        let ExprKind::Call(function, list) = &expr.kind else {
            unreachable!("only calls are called");
        };
        let mark = self.mark();
        let at = self.temporary();
        let ty = self.into(function, at)?;
        if ty != Type::Any {
            let message = format!("a value of type {} cannot be called", ty.name());
            return Err(SyntaxError::new(expr.offset, message));
        }
        let arguments = self.list(list, true)?;
        self.line = expr.line;
        self.emit(Op::Call { at, arguments, results });
        self.release(mark);
        // The results need their slots, even where nobody asks for one.
        for _ in 0..results.unwrap_or(1).max(1) {
            self.temporary();
        }
        Ok(at)
    }

    /// Jumps to `target` if the expression's truth is `when`.
    pub(super) fn branch(&mut self, expr: &Expr, when: bool, target: Label) -> Result<()> {
        let mark = self.mark();
        match &expr.kind {
            ExprKind::True | ExprKind::False | ExprKind::Nil => {
                if matches!(expr.kind, ExprKind::True) == when {
                    self.emit(Op::Jump { target });
                }
            }
            ExprKind::Unary(Unary::Not, inner) => self.branch(inner, !when, target)?,
            ExprKind::One(inner) if !is_open(inner) => self.branch(inner, when, target)?,
            ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                let or = matches!(expr.kind, ExprKind::Or(..));
                if or == when {
                    self.branch(a, when, target)?;
                    self.branch(b, when, target)?;
                } else {
                    let end = self.label();
                    self.branch(a, !when, end)?;
                    self.branch(b, when, target)?;
                    self.place(end);
                }
            }
            ExprKind::Binary(op, a, b) if op.is_comparison() => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                self.line = expr.line;
                let (op, a, b) = match op {
                    Binary::Gt => (Binary::Lt, b, a),
                    Binary::Ge => (Binary::Le, b, a),
                    _ => (*op, a, b),
                };
                self.emit(Op::Compare { op, a, b, when, target });
            }
            _ => {
                let value = self.value(expr)?.operand;
                self.emit(Op::Test { value, when, target });
            }
        }
        self.release(mark);
        Ok(())
    }
}

/// Whether an expression may have several values.
pub(super) fn is_open(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Call(..))
}

fn result_of(op: Binary, a: Type, b: Type) -> Type {
    match (op, a, b) {
        (Binary::Div | Binary::Pow, _, _) => Type::Number,
        (_, Type::Integer, Type::Integer) => Type::Integer,
        (_, Type::Number, Type::Integer | Type::Number) | (_, Type::Integer, Type::Number) => {
            Type::Number
        }
        _ => Type::Any,
    }
}
