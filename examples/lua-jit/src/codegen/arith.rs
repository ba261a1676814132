//! Arithmetic and comparison. Operands of known types need no checks. For others, code checks the
//! tags, and calls a helper unless both are integers or both are floats.

use inkwell::{FloatPredicate, IntPredicate};

use super::function::FunctionGen;
use super::{Float, Int, Result};
use crate::bytecode::{Binary, Label, Operand, Reg, Type, Value};
use crate::runtime::helpers::OPERATORS;
use crate::runtime::layout::tag;

impl<'ctx> FunctionGen<'_, 'ctx, '_> {
    pub(super) fn arith(&mut self, op: Binary, to: Reg, a: Value, b: Value) -> Result<()> {
        let float_only = matches!(op, Binary::Div | Binary::Pow);
        match (a.ty, b.ty) {
            (Type::Integer, Type::Integer) if !float_only => return self.integers(op, to, a, b),
            _ if a.ty.is_number() && b.ty.is_number() => return self.floats(op, to, a, b),
            _ => {}
        }
        let done = self.block("done");
        let types = if float_only { &[Type::Number][..] } else { &[Type::Integer, Type::Number] };
        self.by_type(types, a, b, |it, ty, a, b| {
            match ty {
                Type::Integer => it.integers(op, to, a, b)?,
                _ => it.floats(op, to, a, b)?,
            }
            it.go(done)
        })?;
        let number = OPERATORS.iter().position(|&known| known == op).unwrap_or(0);
        let (a, b) = (self.words(a.operand)?, self.words(b.operand)?);
        let (to, number) = (self.e.int(to.into()), self.e.int(number as i64));
        let arguments = [to.into(), number.into(), a.0.into(), a.1.into(), b.0.into(), b.1.into()];
        self.fallible("lua_arith", &arguments)?;
        self.go(done)?;
        self.begin(done);
        Ok(())
    }

    /// Emits code for operands that both have a type, for each type; goes on where they have none.
    fn by_type(
        &mut self,
        types: &[Type],
        a: Value,
        b: Value,
        emit: impl Fn(&mut Self, Type, Value, Value) -> Result<()>,
    ) -> Result<()> {
        let base = self.fork()?;
        for &ty in types {
            let (both, other) = (self.block("both"), self.block("other"));
            let tag = if ty == Type::Integer { tag::INTEGER } else { tag::NUMBER };
            let (first, second) = (self.has_tag(a, tag)?, self.has_tag(b, tag)?);
            let same = self.e.builder.build_and(first, second, "")?;
            self.branch(same, both, other)?;
            self.resume(both, base);
            emit(self, ty, Value { ty, ..a }, Value { ty, ..b })?;
            self.resume(other, base);
        }
        Ok(())
    }

    fn integers(&mut self, op: Binary, to: Reg, a: Value, b: Value) -> Result<()> {
        let constant = b.operand;
        let (a, b) = (self.integer(a.operand)?, self.integer(b.operand)?);
        let builder = &self.e.builder;
        let result = match op {
            Binary::Add => builder.build_int_add(a, b, "")?,
            Binary::Sub => builder.build_int_sub(a, b, "")?,
            Binary::Mul => builder.build_int_mul(a, b, "")?,
            _ => self.divide(op, a, b, constant)?,
        };
        self.put_integer(to, result)
    }

    /// Floor division, or its remainder.
    fn divide(
        &mut self,
        op: Binary,
        a: Int<'ctx>,
        b: Int<'ctx>,
        constant: Operand,
    ) -> Result<Int<'ctx>> {
        let zero = self.e.long(0);
        if matches!(constant, Operand::Integer(1..)) {
            // C's quotient or remainder, and a step towards the floor.
            let builder = &self.e.builder;
            let remainder = builder.build_int_signed_rem(a, b, "")?;
            let below = builder.build_int_compare(IntPredicate::SLT, remainder, zero, "")?;
            let (plain, step) = match op {
                Binary::Mod => (remainder, b),
                _ => (builder.build_int_signed_div(a, b, "")?, self.e.long(-1)),
            };
            let stepped = builder.build_int_add(plain, step, "")?;
            let result = builder.build_select(below, stepped, plain, "")?;
            return Ok(result.into_int_value());
        }
        let base = self.fork()?;
        let (bad, good) = (self.block("by_zero"), self.block("not_by_zero"));
        let is_zero = self.icmp(IntPredicate::EQ, b, zero)?;
        self.branch(is_zero, bad, good)?;
        self.resume(bad, base);
        self.fail(if op == Binary::Mod { 2 } else { 1 })?;
        self.resume(good, base);
        let name = if op == Binary::Mod { "lua_modulo" } else { "lua_floor_div" };
        Ok(self.e.compute(name, &[a.into(), b.into()])?.into_int_value())
    }

    fn floats(&mut self, op: Binary, to: Reg, a: Value, b: Value) -> Result<()> {
        let (a, b) = (self.number(a)?, self.number(b)?);
        let builder = &self.e.builder;
        let result = match op {
            Binary::Add => builder.build_float_add(a, b, "")?,
            Binary::Sub => builder.build_float_sub(a, b, "")?,
            Binary::Mul => builder.build_float_mul(a, b, "")?,
            Binary::Div => builder.build_float_div(a, b, "")?,
            Binary::FloorDiv => {
                let quotient = builder.build_float_div(a, b, "")?;
                self.pure("lua_floor", &[quotient])?
            }
            Binary::Mod => self.pure("lua_float_modulo", &[a, b])?,
            _ => self.pure("lua_power", &[a, b])?,
        };
        self.put_number(to, result)
    }

    /// Calls a helper that computes, and no more.
    fn pure(&mut self, name: &str, arguments: &[Float<'ctx>]) -> Result<Float<'ctx>> {
        let arguments: Vec<_> = arguments.iter().map(|&argument| argument.into()).collect();
        Ok(self.e.compute(name, &arguments)?.into_float_value())
    }

    pub(super) fn minus(&mut self, to: Reg, from: Value) -> Result<()> {
        match from.ty {
            Type::Integer => {
                let value = self.integer(from.operand)?;
                let minus = self.e.builder.build_int_neg(value, "")?;
                self.put_integer(to, minus)
            }
            Type::Number => {
                let value = self.number(from)?;
                let minus = self.e.builder.build_float_neg(value, "")?;
                self.put_number(to, minus)
            }
            _ => {
                let (word, tag) = self.words(from.operand)?;
                let to = self.e.int(to.into());
                self.fallible("lua_minus", &[to.into(), word.into(), tag.into()])?;
                Ok(())
            }
        }
    }

    /// Jumps to the target if the comparison's truth is `when`, else goes on.
    pub(super) fn compare(
        &mut self,
        op: Binary,
        (a, b): (Value, Value),
        when: bool,
        target: Label,
    ) -> Result<()> {
        let (equality, negated) = (matches!(op, Binary::Eq | Binary::Ne), op == Binary::Ne);
        let when = when != negated;
        let (target, next) = (self.target(target), self.block("else"));
        let (yes, no) = if when { (target, next) } else { (next, target) };
        let is_nil = |value: Value| value.operand == Operand::Nil;
        if a.ty == b.ty && a.ty.is_number() {
            let truth = self.compare_numbers(op, a, b)?;
            self.branch(truth, yes, no)?;
        } else if equality && (is_nil(a) || is_nil(b)) {
            let truth = self.has_tag(if is_nil(a) { b } else { a }, tag::NIL)?;
            self.branch(truth, yes, no)?;
        } else {
            self.by_type(&[Type::Integer, Type::Number], a, b, |it, _, a, b| {
                let truth = it.compare_numbers(op, a, b)?;
                it.branch(truth, yes, no)
            })?;
            let (a, b) = (self.words(a.operand)?, self.words(b.operand)?);
            let words = [a.0.into(), a.1.into(), b.0.into(), b.1.into()];
            let result = if equality {
                self.e.compute("lua_equal", &words)?.into_int_value()
            } else {
                let or_equal = self.e.ints([(op == Binary::Le).into()]);
                self.fallible("lua_less", &[&or_equal[..], &words].concat())?
            };
            let truth = self.icmp(IntPredicate::NE, result, self.e.int(0))?;
            self.branch(truth, yes, no)?;
        }
        self.begin(next);
        Ok(())
    }

    /// Compares two integers or two floats.
    fn compare_numbers(&mut self, op: Binary, a: Value, b: Value) -> Result<Int<'ctx>> {
        let (integers, floats) = match op {
            Binary::Lt => (IntPredicate::SLT, FloatPredicate::OLT),
            Binary::Le => (IntPredicate::SLE, FloatPredicate::OLE),
            _ => (IntPredicate::EQ, FloatPredicate::OEQ),
        };
        if a.ty == Type::Integer {
            let (a, b) = (self.integer(a.operand)?, self.integer(b.operand)?);
            return self.icmp(integers, a, b);
        }
        let (a, b) = (self.number(a)?, self.number(b)?);
        self.fcmp(floats, a, b)
    }
}
