//! Elements of tables and typed arrays, and fields.

use inkwell::IntPredicate;

use super::function::FunctionGen;
use super::{Block, Int, Ptr, Result, Words};
use crate::bytecode::{Operand, Reg, Type, Value};
use crate::runtime::layout::{Node, TValue, tag};
use crate::tags::At;

impl<'ctx> FunctionGen<'_, 'ctx, '_> {
    pub(super) fn index(&mut self, to: Reg, table: Reg, key: Value) -> Result<()> {
        let base = self.fork()?;
        let (slow, done) = (self.block("slow"), self.block("done"));
        let object = self.table_or(table, slow)?;
        if let Some((at, missing)) = self.find(object, key, slow)? {
            self.copy_or_nil(to, at, missing, base, done)?;
        }
        self.resume(slow, base);
        let table = self.words(Operand::Reg(table))?;
        let key = self.words(key.operand)?;
        let to = self.e.int(to.into());
        let arguments = [to.into(), table.0.into(), table.1.into(), key.0.into(), key.1.into()];
        self.fallible("lua_index", &arguments)?;
        self.go(done)?;
        self.begin(done);
        Ok(())
    }

    pub(super) fn set_index(&mut self, table: Reg, key: Value, from: Operand) -> Result<()> {
        let base = self.fork()?;
        let (slow, done) = (self.block("slow"), self.block("done"));
        let object = self.table_or(table, slow)?;
        if let Some((at, missing)) = self.find(object, key, slow)? {
            let words = self.words(from)?;
            self.put_words(at, words)?;
            self.go(done)?;
            if let Some(missing) = missing {
                self.begin(missing);
                self.go(slow)?;
            }
        }
        self.resume(slow, base);
        let table = self.words(Operand::Reg(table))?;
        self.set_slowly(table, key.operand, from)?;
        self.go(done)?;
        self.begin(done);
        Ok(())
    }

    fn set_slowly(&mut self, table: Words<'ctx>, key: Operand, from: Operand) -> Result<()> {
        let (key, from) = (self.words(key)?, self.words(from)?);
        let words = [table.0, table.1, key.0, key.1, from.0, from.1];
        self.fallible("lua_setindex", &words.map(Into::into))?;
        Ok(())
    }

    /// Copies a table's value into a slot, or nil if it is missing.
    fn copy_or_nil(
        &mut self,
        to: Reg,
        at: Ptr<'ctx>,
        missing: Option<Block<'ctx>>,
        base: Ptr<'ctx>,
        done: Block<'ctx>,
    ) -> Result<()> {
        let words = self.words_at(at)?;
        self.put(to, words)?;
        self.go(done)?;
        if let Some(missing) = missing {
            self.resume(missing, base);
            let nil = self.words(Operand::Nil)?;
            self.put(to, nil)?;
            self.go(done)?;
        }
        Ok(())
    }

    /// The table in a slot; goes to `slow` if there is none.
    fn table_or(&mut self, reg: Reg, slow: Block<'ctx>) -> Result<Ptr<'ctx>> {
        let value = Value { operand: Operand::Reg(reg), ty: Type::Any };
        let is_table = self.has_tag(value, tag::TABLE)?;
        let next = self.block("table");
        self.branch(is_table, next, slow)?;
        self.begin(next);
        let slot = self.slot(reg)?;
        self.e.load_pointer(slot, At::Table)
    }

    /// The address of a key's value, and the block in which a field is known not
    /// to be there. `None` for keys that only the runtime looks up: the code then
    /// goes to `slow`.
    fn find(
        &mut self,
        table: Ptr<'ctx>,
        key: Value,
        slow: Block<'ctx>,
    ) -> Result<Option<(Ptr<'ctx>, Option<Block<'ctx>>)>> {
        match (key.operand, key.ty) {
            (Operand::String(index), _) => {
                let string = self.string(index)?;
                let (at, missing) = self.find_field(table, string)?;
                Ok(Some((at, Some(missing))))
            }
            (Operand::Integer(_) | Operand::Reg(_), Type::Integer | Type::Any) => {
                let is_integer = self.has_tag(key, tag::INTEGER)?;
                let next = self.block("integer");
                self.branch(is_integer, next, slow)?;
                self.begin(next);
                let index = self.integer(key.operand)?;
                let size = self.e.load_int(table, At::Sizearray)?;
                let index = self.in_bounds(index, size, slow)?;
                let elements = self.e.load_pointer(table, At::Elements)?;
                Ok(Some((self.e.element(elements, index, size_of::<TValue>() as u64)?, None)))
            }
            _ => {
                self.go(slow)?;
                Ok(None)
            }
        }
    }

    /// Turns an index from 1 into one from 0; goes to `outside` unless it is below the count.
    fn in_bounds(
        &mut self,
        index: Int<'ctx>,
        count: Int<'ctx>,
        outside: Block<'ctx>,
    ) -> Result<Int<'ctx>> {
        let count = self.e.extend(count)?;
        let index = self.e.builder.build_int_sub(index, self.e.long(1), "")?;
        let inside = self.icmp(IntPredicate::ULT, index, count)?;
        let next = self.block("inside");
        self.branch(inside, next, outside)?;
        self.begin(next);
        Ok(index)
    }

    /// Follows the nodes from a string's main position on. Code goes on where the
    /// string was found.
    pub(super) fn find_field(
        &mut self,
        table: Ptr<'ctx>,
        string: Ptr<'ctx>,
    ) -> Result<(Ptr<'ctx>, Block<'ctx>)> {
        let before = self.e.builder.get_insert_block().ok_or("no block")?;
        let (again, same_tag) = (self.block("node"), self.block("string_key"));
        let (other, next) = (self.block("other_key"), self.block("next_node"));
        let (found, missing) = (self.block("found"), self.block("missing"));
        let long = self.e.context.i64_type();

        let nodes = self.e.load_pointer(table, At::Nodes)?;
        let log = self.e.load_int(table, At::Lsizenode)?;
        let hash = self.e.load_int(string, At::Hash)?;
        let (log, hash) = (self.e.extend(log)?, self.e.extend(hash)?);
        let count = self.e.builder.build_left_shift(self.e.long(1), log, "")?;
        let mask = self.e.builder.build_int_sub(count, self.e.long(1), "")?;
        let position = self.e.builder.build_and(hash, mask, "")?;
        let first = self.e.element(nodes, position, size_of::<Node>() as u64)?;
        self.go(again)?;

        self.begin(again);
        let node = self.e.builder.build_phi(first.get_type(), "")?;
        node.add_incoming(&[(&first, before)]);
        let at = node.as_basic_value().into_pointer_value();
        let key_tag = self.e.load_int(at, At::KeyTag)?;
        let string_tag = key_tag.get_type().const_int(tag::STRING.into(), false);
        let is_string = self.icmp(IntPredicate::EQ, key_tag, string_tag)?;
        self.branch(is_string, same_tag, other)?;

        self.begin(same_tag);
        let key = self.e.load_pointer(at, At::KeyString)?;
        let same = self.e.builder.build_int_compare(IntPredicate::EQ, key, string, "")?;
        self.branch(same, found, other)?;

        self.begin(other);
        let distance = self.e.load_int(at, At::KeyNext)?;
        let last = self.icmp(IntPredicate::EQ, distance, self.e.int(0))?;
        self.branch(last, missing, next)?;

        self.begin(next);
        let distance = self.e.builder.build_int_s_extend(distance, long, "")?;
        let following = self.e.element(at, distance, size_of::<Node>() as u64)?;
        node.add_incoming(&[(&following, next)]);
        self.go(again)?;

        self.begin(found);
        // A node begins with its value.
        Ok((at, missing))
    }

    /// The address of a typed array's element; goes to `outside` if there is none.
    fn element_at(
        &mut self,
        array: Ptr<'ctx>,
        index: Int<'ctx>,
        outside: Block<'ctx>,
    ) -> Result<Ptr<'ctx>> {
        let len = self.e.load_int(array, At::Len)?;
        let index = self.in_bounds(index, len, outside)?;
        let data = self.e.load_pointer(array, At::Data)?;
        self.e.element(data, index, 8)
    }

    pub(super) fn element(&mut self, to: Reg, array: Reg, key: Value, element: Type) -> Result<()> {
        let base = self.fork()?;
        let outside = self.block("outside");
        let slot = self.slot(array)?;
        let object = self.e.load_pointer(slot, At::Array)?;
        let index = self.integer(key.operand)?;
        let at = self.element_at(object, index, outside)?;
        if element == Type::Integer {
            let value = self.e.load_int(at, At::IntElement)?;
            self.put_integer(to, value)?;
        } else {
            let value = self.e.load_float(at, At::NumElement)?;
            self.put_number(to, value)?;
        }
        let done = self.block("done");
        self.go(done)?;
        self.resume(outside, base);
        self.fail(0)?;
        self.begin(done);
        Ok(())
    }

    pub(super) fn set_element(
        &mut self,
        array: Reg,
        key: Value,
        from: Value,
        element: Type,
    ) -> Result<()> {
        let base = self.fork()?;
        let (outside, done) = (self.block("outside"), self.block("done"));
        let slot = self.slot(array)?;
        let object = self.e.load_pointer(slot, At::Array)?;
        let index = self.integer(key.operand)?;
        let long = self.e.context.i64_type();
        let bits;
        if element == Type::Integer {
            bits = self.integer(from.operand)?;
            let at = self.element_at(object, index, outside)?;
            self.e.store(at, At::IntElement, bits)?;
        } else {
            let value = self.number(from)?;
            bits = self.e.builder.build_bit_cast(value, long, "")?.into_int_value();
            let at = self.element_at(object, index, outside)?;
            self.e.store(at, At::NumElement, value)?;
        }
        self.go(done)?;
        self.resume(outside, base);
        self.fallible("lua_append", &[object.into(), index.into(), bits.into()])?;
        self.go(done)?;
        self.begin(done);
        Ok(())
    }

    pub(super) fn global(&mut self, to: Reg, name: usize) -> Result<()> {
        let base = self.fork()?;
        let (at, missing) = self.find_global(name)?;
        let done = self.block("done");
        self.copy_or_nil(to, at, Some(missing), base, done)?;
        self.begin(done);
        Ok(())
    }

    pub(super) fn set_global(&mut self, name: usize, from: Operand) -> Result<()> {
        let base = self.fork()?;
        let (at, missing) = self.find_global(name)?;
        let done = self.block("done");
        let words = self.words(from)?;
        self.put_words(at, words)?;
        self.go(done)?;
        self.resume(missing, base);
        let globals = self.globals()?;
        let long = self.e.context.i64_type();
        let globals = self.e.builder.build_ptr_to_int(globals, long, "")?;
        let table = (globals, self.e.int(tag::TABLE.into()));
        self.set_slowly(table, Operand::String(name), from)?;
        self.go(done)?;
        self.begin(done);
        Ok(())
    }

    fn globals(&mut self) -> Result<Ptr<'ctx>> {
        let global = self.e.load_pointer(self.l, At::Global)?;
        self.e.load_pointer(global, At::Globals)
    }

    fn find_global(&mut self, name: usize) -> Result<(Ptr<'ctx>, Block<'ctx>)> {
        let globals = self.globals()?;
        let string = self.string(name)?;
        self.find_field(globals, string)
    }
}
