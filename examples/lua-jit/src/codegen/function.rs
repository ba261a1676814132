//! One function: its blocks, its slots, its values.
//!
//! Every operation loads the base of the frame from `CallInfo` before it touches
//! a slot, for a call may have moved the stack. LLVM finds out whether the load is
//! needed, as in Ravi. For comparison, [`Reload`] can place fewer loads.

use inkwell::values::FunctionValue;
use inkwell::{FloatPredicate, IntPredicate};

use super::access::Emitter;
use super::{Any, Block, Float, Int, Ptr, Reload, Result, Words};
use crate::bytecode::{Label, Operand, Proto, Reg, Type, Value};
use crate::runtime::layout::{TValue, tag};
use crate::tags::At;

pub(super) struct FunctionGen<'e, 'ctx, 't> {
    pub(super) e: &'e mut Emitter<'ctx, 't>,
    pub(super) proto: &'e Proto,
    function: FunctionValue<'ctx>,
    pub(super) l: Ptr<'ctx>,
    pub(super) ci: Ptr<'ctx>,
    /// The base that this operation has loaded.
    base: Option<Ptr<'ctx>>,
    reload: Reload,
    /// Where the base is kept if not every operation loads it.
    kept: Ptr<'ctx>,
    /// Where each operation begins.
    blocks: Vec<Block<'ctx>>,
    /// The block that returns a failure.
    failed: Block<'ctx>,
    pub(super) line: u32,
}

impl<'e, 'ctx, 't> FunctionGen<'e, 'ctx, 't> {
    pub(super) fn emit(
        e: &'e mut Emitter<'ctx, 't>,
        name: &str,
        proto: &'e Proto,
        reload: Reload,
    ) -> Result<()> {
        let function = e.add_function(name);
        let entry = e.context.append_basic_block(function, "entry");
        e.builder.position_at_end(entry);
        let l = function.get_nth_param(0).ok_or("no parameter")?.into_pointer_value();
        l.set_name("L");
        let ci = e.load_named(l, At::Ci, "ci")?.into_pointer_value();
        let kept = e.builder.build_alloca(ci.get_type(), "kept")?;
        if reload != Reload::EachOperation {
            let base = e.load_named(ci, At::Base, "base")?;
            e.builder.build_store(kept, base)?;
        }
        let blocks: Vec<_> = (0..proto.code.len())
            .map(|at| e.context.append_basic_block(function, &format!("op{at}")))
            .collect();
        let failed = e.context.append_basic_block(function, "failed");
        e.builder.build_unconditional_branch(blocks[0])?;
        e.builder.position_at_end(failed);
        e.builder.build_return(Some(&e.int(-1)))?;
        let mut function = FunctionGen {
            e,
            proto,
            function,
            l,
            ci,
            base: None,
            reload,
            kept,
            blocks,
            failed,
            line: 0,
        };
        for (at, (op, line)) in proto.code.iter().enumerate() {
            function.e.builder.position_at_end(function.blocks[at]);
            (function.base, function.line) = (None, *line);
            if function.op(op)? {
                // The last operation is a return, so there is a next.
                function.go(function.blocks[at + 1])?;
            }
        }
        Ok(())
    }

    pub(super) fn target(&self, label: Label) -> Block<'ctx> {
        self.blocks[self.proto.labels[label]]
    }

    pub(super) fn block(&self, name: &str) -> Block<'ctx> {
        self.e.context.append_basic_block(self.function, name)
    }

    /// Goes on emitting in a block that only this one leads to.
    pub(super) fn begin(&self, block: Block<'ctx>) {
        self.e.builder.position_at_end(block);
    }

    pub(super) fn go(&self, to: Block<'ctx>) -> Result<()> {
        self.e.builder.build_unconditional_branch(to)?;
        Ok(())
    }

    pub(super) fn branch(
        &self,
        condition: Int<'ctx>,
        yes: Block<'ctx>,
        no: Block<'ctx>,
    ) -> Result<()> {
        self.e.builder.build_conditional_branch(condition, yes, no)?;
        Ok(())
    }

    pub(super) fn icmp(&self, how: IntPredicate, a: Int<'ctx>, b: Int<'ctx>) -> Result<Int<'ctx>> {
        Ok(self.e.builder.build_int_compare(how, a, b, "")?)
    }

    pub(super) fn fcmp(
        &self,
        how: FloatPredicate,
        a: Float<'ctx>,
        b: Float<'ctx>,
    ) -> Result<Int<'ctx>> {
        Ok(self.e.builder.build_float_compare(how, a, b, "")?)
    }

    /// Loads the base; once an operation.
    fn base(&mut self) -> Result<Ptr<'ctx>> {
        if let Some(base) = self.base {
            return Ok(base);
        }
        let base = match self.reload {
            Reload::EachOperation => self.e.load_named(self.ci, At::Base, "base")?,
            _ => self.e.builder.build_load(self.kept.get_type(), self.kept, "base")?,
        };
        let base = base.into_pointer_value();
        self.base = Some(base);
        Ok(base)
    }

    /// The address of a slot.
    pub(super) fn slot(&mut self, reg: Reg) -> Result<Ptr<'ctx>> {
        let base = self.base()?;
        self.e.behind(base, self.e.long(i64::from(reg) * size_of::<TValue>() as i64))
    }

    /// What stands at an address: the value's word and its tag.
    pub(super) fn words_at(&mut self, at: Ptr<'ctx>) -> Result<Words<'ctx>> {
        let word = self.e.load_int(at, At::Word)?;
        let tag = self.e.load_int(at, At::Tag)?;
        Ok((word, self.widen(tag)?))
    }

    fn widen(&self, tag: Int<'ctx>) -> Result<Int<'ctx>> {
        Ok(self.e.builder.build_int_z_extend(tag, self.e.context.i32_type(), "")?)
    }

    /// Stores a value at an address.
    pub(super) fn put_words(&mut self, at: Ptr<'ctx>, (word, tag): Words<'ctx>) -> Result<()> {
        self.e.store(at, At::Word, word)?;
        let short = self.e.context.i16_type();
        let tag = self.e.builder.build_int_truncate(tag, short, "")?;
        self.e.store(at, At::Tag, tag)
    }

    /// Stores a value in a slot.
    pub(super) fn put(&mut self, to: Reg, words: Words<'ctx>) -> Result<()> {
        let slot = self.slot(to)?;
        self.put_words(slot, words)
    }

    pub(super) fn put_tag(&mut self, at: Ptr<'ctx>, tag: u16) -> Result<()> {
        let tag = self.e.context.i16_type().const_int(tag.into(), false);
        self.e.store(at, At::Tag, tag)
    }

    /// An operand as its word and its tag.
    pub(super) fn words(&mut self, operand: Operand) -> Result<Words<'ctx>> {
        let (word, tag) = match operand {
            Operand::Reg(reg) => {
                let slot = self.slot(reg)?;
                return self.words_at(slot);
            }
            Operand::Integer(i) => (self.e.long(i), tag::INTEGER),
            Operand::Number(n) => (self.e.long(n.to_bits() as i64), tag::NUMBER),
            Operand::Boolean(b) => (self.e.long(b.into()), tag::BOOLEAN),
            Operand::Nil => (self.e.long(0), tag::NIL),
            Operand::String(index) => {
                let string = self.string(index)?;
                let long = self.e.context.i64_type();
                (self.e.builder.build_ptr_to_int(string, long, "")?, tag::STRING)
            }
        };
        Ok((word, self.e.int(tag.into())))
    }

    /// The tag of an operand: a constant where its type is known.
    pub(super) fn tag_of(&mut self, value: Value) -> Result<Int<'ctx>> {
        let known = match (value.ty, value.operand) {
            (Type::Integer, _) => tag::INTEGER,
            (Type::Number, _) => tag::NUMBER,
            (Type::IntegerArray, _) => tag::INTEGER_ARRAY,
            (Type::NumberArray, _) => tag::NUMBER_ARRAY,
            (_, Operand::Boolean(_)) => tag::BOOLEAN,
            (_, Operand::Nil) => tag::NIL,
            (_, Operand::String(_)) => tag::STRING,
            (_, Operand::Reg(reg)) => {
                let slot = self.slot(reg)?;
                let tag = self.e.load_int(slot, At::Tag)?;
                return self.widen(tag);
            }
            (Type::Any, Operand::Integer(_)) => tag::INTEGER,
            (Type::Any, Operand::Number(_)) => tag::NUMBER,
        };
        Ok(self.e.int(known.into()))
    }

    pub(super) fn has_tag(&mut self, value: Value, tag: u16) -> Result<Int<'ctx>> {
        let found = self.tag_of(value)?;
        self.icmp(IntPredicate::EQ, found, self.e.int(tag.into()))
    }

    /// An operand that is known to be an integer.
    pub(super) fn integer(&mut self, operand: Operand) -> Result<Int<'ctx>> {
        match operand {
            Operand::Integer(i) => Ok(self.e.long(i)),
            Operand::Reg(reg) => {
                let slot = self.slot(reg)?;
                self.e.load_int(slot, At::Integer)
            }
            // In a branch that is never taken.
            _ => Ok(self.e.long(0)),
        }
    }

    /// An operand that is known to be a float, or an integer if its type says so.
    pub(super) fn number(&mut self, value: Value) -> Result<Float<'ctx>> {
        match value.operand {
            Operand::Number(n) => Ok(self.e.double(n)),
            Operand::Integer(i) => Ok(self.e.double(i as f64)),
            Operand::Reg(_) if value.ty == Type::Integer => {
                let integer = self.integer(value.operand)?;
                let double = self.e.context.f64_type();
                Ok(self.e.builder.build_signed_int_to_float(integer, double, "")?)
            }
            Operand::Reg(reg) => {
                let slot = self.slot(reg)?;
                self.e.load_float(slot, At::Number)
            }
            _ => Ok(self.e.double(0.0)),
        }
    }

    pub(super) fn put_integer(&mut self, to: Reg, value: Int<'ctx>) -> Result<()> {
        let slot = self.slot(to)?;
        self.e.store(slot, At::Integer, value)?;
        self.put_tag(slot, tag::INTEGER)
    }

    pub(super) fn put_number(&mut self, to: Reg, value: Float<'ctx>) -> Result<()> {
        let slot = self.slot(to)?;
        self.e.store(slot, At::Number, value)?;
        self.put_tag(slot, tag::NUMBER)
    }

    /// The closure that runs.
    pub(super) fn closure(&mut self) -> Result<Ptr<'ctx>> {
        let func = self.e.load_pointer(self.ci, At::Func)?;
        self.e.load_pointer(func, At::Closure)
    }

    /// A string constant of the function.
    pub(super) fn string(&mut self, index: usize) -> Result<Ptr<'ctx>> {
        let closure = self.closure()?;
        let proto = self.e.load_pointer(closure, At::Proto)?;
        let constants = self.e.load_pointer(proto, At::Constants)?;
        let at = self.e.behind(constants, self.e.long((index * size_of::<TValue>()) as i64))?;
        self.e.load_pointer(at, At::String)
    }

    /// Whether an operand is neither nil nor false.
    pub(super) fn truth(&mut self, operand: Operand) -> Result<Int<'ctx>> {
        let Operand::Reg(reg) = operand else {
            let truth = !matches!(operand, Operand::Nil | Operand::Boolean(false));
            return Ok(self.e.context.bool_type().const_int(truth.into(), false));
        };
        let tag = self.tag_of(Value { operand, ty: Type::Any })?;
        let slot = self.slot(reg)?;
        let boolean = self.e.load_int(slot, At::Boolean)?;
        let nil = self.icmp(IntPredicate::EQ, tag, self.e.int(tag::NIL.into()))?;
        let is_boolean = self.icmp(IntPredicate::EQ, tag, self.e.int(tag::BOOLEAN.into()))?;
        let zero = self.icmp(IntPredicate::EQ, boolean, self.e.int(0))?;
        let no = self.e.builder.build_and(is_boolean, zero, "")?;
        let falsy = self.e.builder.build_or(nil, no, "")?;
        Ok(self.e.builder.build_not(falsy, "")?)
    }

    /// Calls a helper with the state and these arguments. The helper may have
    /// moved the stack.
    pub(super) fn helper(
        &mut self,
        name: &str,
        arguments: &[Any<'ctx>],
    ) -> Result<Option<Any<'ctx>>> {
        let result = self.e.call(name, &[&[self.l.into()], arguments].concat())?;
        self.base = None;
        let moved = match self.reload {
            Reload::EachOperation => false,
            Reload::AfterCalls => name == "lua_call",
            Reload::AfterHelpers => true,
        };
        if moved {
            let base = self.e.load_named(self.ci, At::Base, "base")?;
            self.e.builder.build_store(self.kept, base)?;
        }
        Ok(result)
    }

    /// Calls a helper whose last argument is the line. If its result is below 0, the helper has
    /// failed, and the function fails too.
    pub(super) fn fallible(&mut self, name: &str, arguments: &[Any<'ctx>]) -> Result<Int<'ctx>> {
        let all = [arguments, &self.e.ints([self.line.into()])].concat();
        let result = self.helper(name, &all)?.ok_or("a helper without a result")?.into_int_value();
        let zero = result.get_type().const_zero();
        let failed = self.icmp(IntPredicate::SLT, result, zero)?;
        let next = self.block("goes_on");
        self.branch(failed, self.failed, next)?;
        self.begin(next);
        Ok(result)
    }

    /// Fails with one of the messages that the runtime knows.
    pub(super) fn fail(&mut self, which: usize) -> Result<()> {
        self.helper("lua_fail", &self.e.ints([which as i64, self.line.into()]))?;
        self.go(self.failed)
    }

    /// Loads the base before an operation branches; each branch begins with `resume`.
    pub(super) fn fork(&mut self) -> Result<Ptr<'ctx>> {
        self.base()
    }

    /// Begins a branch after `fork`.
    pub(super) fn resume(&mut self, block: Block<'ctx>, base: Ptr<'ctx>) {
        self.begin(block);
        self.base = Some(base);
    }
}
