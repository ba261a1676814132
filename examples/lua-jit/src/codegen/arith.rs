//! Arithmetic and comparison: directly where the types are known, else behind
//! checks of the tags, else by a helper.

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
        let base = self.fork()?;
        let (ints, not_ints) = (self.block("ints"), self.block("not_ints"));
        let (floats, slow, done) = (self.block("floats"), self.block("slow"), self.block("done"));
        if float_only {
            self.go(not_ints)?;
        } else {
            let both = self.both(a, b, tag::INTEGER)?;
            self.branch(both, ints, not_ints)?;
        }
        self.resume(ints, base);
        if float_only {
            // Nothing leads here.
            self.e.builder.build_unreachable()?;
        } else {
            self.integers(op, to, a, b)?;
            self.go(done)?;
        }
        self.resume(not_ints, base);
        let both = self.both(a, b, tag::NUMBER)?;
        self.branch(both, floats, slow)?;
        self.resume(floats, base);
        let typed = |value: Value| Value { ty: Type::Number, ..value };
        self.floats(op, to, typed(a), typed(b))?;
        self.go(done)?;
        self.resume(slow, base);
        let number = OPERATORS.iter().position(|&known| known == op).unwrap_or(0);
        let (a, b) = (self.words(a.operand)?, self.words(b.operand)?);
        let (to, number) = (self.e.int(to.into()), self.e.int(number as i64));
        let arguments = [to.into(), number.into(), a.0.into(), a.1.into(), b.0.into(), b.1.into()];
        self.fallible("lua_arith", &arguments)?;
        self.go(done)?;
        self.begin(done);
        Ok(())
    }

    /// Whether both values have a tag.
    fn both(&mut self, a: Value, b: Value, tag: u16) -> Result<Int<'ctx>> {
        let (a, b) = (self.has_tag(a, tag)?, self.has_tag(b, tag)?);
        Ok(self.e.builder.build_and(a, b, "")?)
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
        let result = self.e.call(name, &[a.into(), b.into()])?;
        Ok(result.ok_or("a helper without a result")?.into_int_value())
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
        let result = self.e.call(name, &arguments)?;
        Ok(result.ok_or("a helper without a result")?.into_float_value())
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
        if a.ty == Type::Integer && b.ty == Type::Integer {
            let truth = self.compare_integers(op, a, b)?;
            self.branch(truth, yes, no)?;
        } else if a.ty.is_number() && b.ty.is_number() && a.ty == b.ty {
            let truth = self.compare_floats(op, a, b)?;
            self.branch(truth, yes, no)?;
        } else if equality && (is_nil(a) || is_nil(b)) {
            let truth = self.has_tag(if is_nil(a) { b } else { a }, tag::NIL)?;
            self.branch(truth, yes, no)?;
        } else {
            let base = self.fork()?;
            let (ints, not_ints) = (self.block("ints"), self.block("not_ints"));
            let (floats, slow) = (self.block("floats"), self.block("slow"));
            let both = self.both(a, b, tag::INTEGER)?;
            self.branch(both, ints, not_ints)?;
            self.resume(ints, base);
            let truth = self.compare_integers(op, a, b)?;
            self.branch(truth, yes, no)?;
            self.resume(not_ints, base);
            let both = self.both(a, b, tag::NUMBER)?;
            self.branch(both, floats, slow)?;
            self.resume(floats, base);
            let typed = |value: Value| Value { ty: Type::Number, ..value };
            let truth = self.compare_floats(op, typed(a), typed(b))?;
            self.branch(truth, yes, no)?;
            self.resume(slow, base);
            let (a, b) = (self.words(a.operand)?, self.words(b.operand)?);
            let words = [a.0.into(), a.1.into(), b.0.into(), b.1.into()];
            let result = if equality {
                let result = self.e.call("lua_equal", &words)?;
                result.ok_or("a helper without a result")?.into_int_value()
            } else {
                let or_equal = self.e.int((op == Binary::Le).into());
                let mut arguments = vec![or_equal.into()];
                arguments.extend(words);
                self.fallible("lua_less", &arguments)?
            };
            let truth = self.icmp(IntPredicate::NE, result, self.e.int(0))?;
            self.branch(truth, yes, no)?;
        }
        self.begin(next);
        Ok(())
    }

    fn compare_integers(&mut self, op: Binary, a: Value, b: Value) -> Result<Int<'ctx>> {
        let (a, b) = (self.integer(a.operand)?, self.integer(b.operand)?);
        let how = match op {
            Binary::Lt => IntPredicate::SLT,
            Binary::Le => IntPredicate::SLE,
            _ => IntPredicate::EQ,
        };
        self.icmp(how, a, b)
    }

    fn compare_floats(&mut self, op: Binary, a: Value, b: Value) -> Result<Int<'ctx>> {
        let (a, b) = (self.number(a)?, self.number(b)?);
        let how = match op {
            Binary::Lt => FloatPredicate::OLT,
            Binary::Le => FloatPredicate::OLE,
            _ => FloatPredicate::OEQ,
        };
        self.fcmp(how, a, b)
    }
}
