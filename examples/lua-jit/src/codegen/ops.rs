//! Operations, one after the other.

use inkwell::IntPredicate;

use super::function::FunctionGen;
use super::{Int, Ptr, Result};
use crate::bytecode::{Label, Op, Operand, Reg, Type, Value};
use crate::runtime::layout::{TValue, tag};
use crate::tags::At;

impl<'ctx> FunctionGen<'_, 'ctx, '_> {
    /// Emits an operation; `false` if the next one does not follow it.
    pub(super) fn op(&mut self, op: &Op) -> Result<bool> {
        match *op {
            Op::Move { to, from } => {
                let words = self.words(from)?;
                self.put(to, words)?;
            }
            Op::Check { reg, ty } => self.check(reg, ty)?,
            Op::Vararg { to } => {
                self.helper("lua_vararg", &self.e.ints([to.into()]))?;
            }
            Op::Upvalue { to, index } => {
                let at = self.upvalue(index)?;
                let words = self.words_at(at)?;
                self.put(to, words)?;
            }
            Op::SetUpvalue { index, from } => {
                let words = self.words(from)?;
                let at = self.upvalue(index)?;
                self.put_words(at, words)?;
            }
            Op::NewBox { to, from } => {
                let (word, tag) = self.words(from)?;
                let to = self.e.int(to.into());
                self.helper("lua_newbox", &[to.into(), word.into(), tag.into()])?;
            }
            Op::Unbox { to, boxed } => {
                let at = self.unbox(boxed)?;
                let words = self.words_at(at)?;
                self.put(to, words)?;
            }
            Op::SetBox { boxed, from } => {
                let words = self.words(from)?;
                let at = self.unbox(boxed)?;
                self.put_words(at, words)?;
            }
            Op::Global { to, name } => self.global(to, name)?,
            Op::SetGlobal { name, from } => self.set_global(name, from)?,
            Op::Index { to, table, key } => self.index(to, table, key)?,
            Op::SetIndex { table, key, from } => self.set_index(table, key, from)?,
            Op::Element { to, array, key, element } => self.element(to, array, key, element)?,
            Op::SetElement { array, key, from, element } => {
                self.set_element(array, key, from, element)?;
            }
            Op::Arith { op, to, a, b } => self.arith(op, to, a, b)?,
            Op::Minus { to, from } => self.minus(to, from)?,
            Op::Not { to, from } => {
                let truth = self.truth(from)?;
                let falsy = self.e.builder.build_not(truth, "")?;
                let word = self.e.extend(falsy)?;
                self.put(to, (word, self.e.int(tag::BOOLEAN.into())))?;
            }
            Op::Length { to, from } => self.length(to, from)?,
            Op::Jump { target } => {
                self.go(self.target(target))?;
                return Ok(false);
            }
            Op::Test { value, when, target } => {
                let truth = self.truth(value)?;
                let (target, next) = (self.target(target), self.block("else"));
                let (yes, no) = if when { (target, next) } else { (next, target) };
                self.branch(truth, yes, no)?;
                self.begin(next);
            }
            Op::Compare { op, a, b, when, target } => self.compare(op, (a, b), when, target)?,
            Op::Call { at, arguments, results } => {
                let numbers = self.e.ints([at.into(), count(arguments), count(results)]);
                self.fallible("lua_call", &numbers)?;
            }
            Op::Return { at, count } => {
                self.give_back(at, count)?;
                return Ok(false);
            }
            Op::ForPrep { at, all_integers, exit } => self.for_prep(at, all_integers, exit)?,
            Op::ForLoop { at, ty, body } => self.for_loop(at, ty, body)?,
            Op::Closure { to, function } => {
                self.helper("lua_closure", &self.e.ints([to.into(), function as i64]))?;
            }
            Op::NewTable { to, items, pairs } => {
                let numbers = self.e.ints([to, items, pairs].map(i64::from));
                self.helper("lua_newtable", &numbers)?;
            }
            Op::NewArray { to, element } => {
                let integers = element == Type::Integer;
                let tag = if integers { tag::INTEGER_ARRAY } else { tag::NUMBER_ARRAY };
                self.helper("lua_newarray", &self.e.ints([to.into(), tag.into()]))?;
            }
            Op::SetList { table, at, first, count: items } => {
                let [table, at, first] = [table, at, first].map(i64::from);
                self.fallible("lua_setlist", &self.e.ints([table, at, first, count(items)]))?;
            }
        }
        Ok(true)
    }

    /// Checks an annotation; calls the helper only if the tag is another.
    fn check(&mut self, reg: Reg, ty: Type) -> Result<()> {
        let tag = match ty {
            Type::Integer => tag::INTEGER,
            Type::Number => tag::NUMBER,
            Type::IntegerArray => tag::INTEGER_ARRAY,
            Type::NumberArray => tag::NUMBER_ARRAY,
            Type::Any => return Ok(()),
        };
        let right = self.has_tag(Value { operand: Operand::Reg(reg), ty: Type::Any }, tag)?;
        let (convert, done) = (self.block("convert"), self.block("done"));
        self.branch(right, done, convert)?;
        self.begin(convert);
        self.fallible("lua_check", &self.e.ints([reg.into(), tag.into()]))?;
        self.go(done)?;
        self.begin(done);
        Ok(())
    }

    fn length(&mut self, to: Reg, from: Value) -> Result<()> {
        let length = if from.ty.element() != Type::Any {
            let Operand::Reg(reg) = from.operand else {
                return Err("an array is in a slot".into());
            };
            let slot = self.slot(reg)?;
            let array = self.e.load_pointer(slot, At::Array)?;
            let len = self.e.load_int(array, At::Len)?;
            self.e.extend(len)?
        } else {
            let (word, tag) = self.words(from.operand)?;
            self.fallible("lua_length", &[word.into(), tag.into()])?
        };
        self.put_integer(to, length)
    }

    /// Where the value of an upvalue is.
    fn upvalue(&mut self, index: usize) -> Result<Ptr<'ctx>> {
        let closure = self.closure()?;
        let upvals = self.e.load_pointer(closure, At::Upvals)?;
        let at = self.e.behind(upvals, self.e.long((index * size_of::<usize>()) as i64))?;
        let upval = self.e.load_pointer(at, At::Upval)?;
        self.e.load_pointer(upval, At::V)
    }

    fn unbox(&mut self, boxed: Reg) -> Result<Ptr<'ctx>> {
        let slot = self.slot(boxed)?;
        let upval = self.e.load_pointer(slot, At::Box)?;
        self.e.load_pointer(upval, At::V)
    }

    fn give_back(&mut self, at: Reg, results: Option<u32>) -> Result<()> {
        /// More results than these are moved by the runtime.
        const FEW: u32 = 3;
        let count = match results {
            Some(count @ ..=FEW) => {
                for result in 0..count {
                    let words = self.words(Operand::Reg(at + result))?;
                    let func = self.e.load_pointer(self.ci, At::Func)?;
                    let bytes = i64::from(result) * size_of::<TValue>() as i64;
                    let to = self.e.behind(func, self.e.long(bytes))?;
                    self.put_words(to, words)?;
                }
                self.e.int(count.into())
            }
            _ => {
                let numbers = self.e.ints([at.into(), count(results)]);
                let count = self.helper("lua_return", &numbers)?;
                count.ok_or("a helper without a result")?.into_int_value()
            }
        };
        self.e.builder.build_return(Some(&count))?;
        Ok(())
    }

    /// Prepares a loop. It counts the turns before the first one, so no index can overflow.
    fn for_prep(&mut self, at: Reg, all_integers: bool, exit: Label) -> Result<()> {
        let exit = self.target(exit);
        let enter = self.block("enter");
        if !all_integers {
            let runs = self.fallible("lua_forprep", &self.e.ints([at.into()]))?;
            let runs = self.icmp(IntPredicate::NE, runs, self.e.int(0))?;
            self.branch(runs, enter, exit)?;
            self.begin(enter);
            return Ok(());
        }
        let base = self.fork()?;
        let [start, limit, step] = [0, 1, 2].map(|i| self.integer(Operand::Reg(at + i)));
        let (start, limit, step) = (start?, limit?, step?);
        let (zero, good, runs) = (self.block("zero_step"), self.block("step"), self.block("runs"));
        let is_zero = self.icmp(IntPredicate::EQ, step, self.e.long(0))?;
        self.branch(is_zero, zero, good)?;
        self.resume(zero, base);
        // The runtime has the message.
        self.fallible("lua_forprep", &self.e.ints([at.into()]))?;
        self.go(exit)?;
        self.resume(good, base);
        let up = self.icmp(IntPredicate::SGT, step, self.e.long(0))?;
        let pick = |yes: Int<'ctx>, no: Int<'ctx>| -> Result<Int<'ctx>> {
            Ok(self.e.builder.build_select(up, yes, no, "")?.into_int_value())
        };
        let (low, high) = (pick(start, limit)?, pick(limit, start)?);
        let by = pick(step, self.e.builder.build_int_neg(step, "")?)?;
        let any = self.icmp(IntPredicate::SLE, low, high)?;
        self.branch(any, runs, exit)?;
        self.resume(runs, base);
        let distance = self.e.builder.build_int_sub(high, low, "")?;
        let count = self.e.builder.build_int_unsigned_div(distance, by, "")?;
        self.put_integer(at + 1, count)?;
        self.put_integer(at + 3, start)?;
        self.go(enter)?;
        self.begin(enter);
        Ok(())
    }

    fn for_loop(&mut self, at: Reg, ty: Type, body: Label) -> Result<()> {
        let body = self.target(body);
        let done = self.block("done");
        match ty {
            Type::Integer => {
                let base = self.fork()?;
                let count = self.integer(Operand::Reg(at + 1))?;
                let more = self.icmp(IntPredicate::NE, count, self.e.long(0))?;
                let next = self.block("next");
                self.branch(more, next, done)?;
                self.resume(next, base);
                let count = self.e.builder.build_int_sub(count, self.e.long(1), "")?;
                self.put_integer(at + 1, count)?;
                let index = self.integer(Operand::Reg(at))?;
                let step = self.integer(Operand::Reg(at + 2))?;
                let index = self.e.builder.build_int_add(index, step, "")?;
                self.put_integer(at, index)?;
                self.put_integer(at + 3, index)?;
                self.go(body)?;
            }
            _ => {
                let more = self.helper("lua_forloop", &self.e.ints([at.into()]))?;
                let more = more.ok_or("a helper without a result")?.into_int_value();
                let more = self.icmp(IntPredicate::NE, more, self.e.int(0))?;
                self.branch(more, body, done)?;
            }
        }
        self.begin(done);
        Ok(())
    }
}

/// A count as helpers take it: -1 for all up to the top.
fn count(known: Option<u32>) -> i64 {
    known.map_or(-1, i64::from)
}
