//! Loads, stores and calls, each with what LLVM is to know of it.

use std::collections::HashMap;

use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::types::{BasicMetadataTypeEnum, BasicTypeEnum};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValue, FunctionValue, InstructionValue, ValueKind,
};
use tbaa_inkwell::Tagger;

use super::{Any, Float, Int, Ptr, Result};
use crate::runtime::helpers::{self, Effect};
use crate::tags::{At, TagKind, Tags};

pub(super) struct Emitter<'ctx, 't> {
    pub(super) context: &'ctx Context,
    pub(super) builder: Builder<'ctx>,
    module: &'t Module<'ctx>,
    tagger: Tagger<'ctx>,
    tags: &'t Tags,
    helpers: HashMap<&'static str, (FunctionValue<'ctx>, Effect)>,
}

impl<'ctx, 't> Emitter<'ctx, 't> {
    pub(super) fn new(
        context: &'ctx Context,
        module: &'t Module<'ctx>,
        tags: &'t Tags,
    ) -> Result<Self> {
        let mut emitter = Emitter {
            context,
            builder: context.create_builder(),
            module,
            tagger: Tagger::new(context)?,
            tags,
            helpers: HashMap::new(),
        };
        for helper in helpers::all() {
            let declared = emitter.declare(&helper);
            emitter.helpers.insert(helper.name, (declared, helper.effect));
        }
        Ok(emitter)
    }

    fn declare(&self, helper: &helpers::Helper) -> FunctionValue<'ctx> {
        let of = |letter| -> Option<BasicTypeEnum<'ctx>> {
            Some(match letter {
                b'p' => self.context.ptr_type(AddressSpace::default()).into(),
                b'i' => self.context.i32_type().into(),
                b'l' => self.context.i64_type().into(),
                b'd' => self.context.f64_type().into(),
                _ => return None,
            })
        };
        let (result, parameters) = helper.signature.as_bytes().split_at(1);
        let parameters = parameters.iter().filter_map(|&letter| of(letter));
        let parameters: Vec<BasicMetadataTypeEnum<'ctx>> = parameters.map(Into::into).collect();
        let ty = match of(result[0]) {
            Some(result) => inkwell::types::BasicType::fn_type(&result, &parameters, false),
            None => self.context.void_type().fn_type(&parameters, false),
        };
        let function = self.module.add_function(helper.name, ty, None);
        let add = |name: &str, value| {
            let kind = Attribute::get_named_enum_kind_id(name);
            let attribute = self.context.create_enum_attribute(kind, value);
            function.add_attribute(AttributeLoc::Function, attribute);
        };
        add("nounwind", 0);
        if helper.effect == Effect::Nothing {
            // `memory(none)`
            add("memory", 0);
            add("willreturn", 0);
        }
        function
    }

    pub(super) fn add_function(&self, name: &str) -> FunctionValue<'ctx> {
        let pointer = self.context.ptr_type(AddressSpace::default());
        self.module.add_function(
            name,
            self.context.i32_type().fn_type(&[pointer.into()], false),
            None,
        )
    }

    fn type_of(&self, kind: TagKind) -> BasicTypeEnum<'ctx> {
        match kind {
            TagKind::Pointer => self.context.ptr_type(AddressSpace::default()).into(),
            TagKind::Byte => self.context.i8_type().into(),
            TagKind::Short => self.context.i16_type().into(),
            TagKind::Int => self.context.i32_type().into(),
            TagKind::Long => self.context.i64_type().into(),
            TagKind::Double => self.context.f64_type().into(),
        }
    }

    /// The address so many bytes behind another, in the same object.
    pub(super) fn behind(&self, object: Ptr<'ctx>, bytes: Int<'ctx>) -> Result<Ptr<'ctx>> {
        // SAFETY: callers stay inside the object, as the runtime lays it out.
        let address = unsafe {
            self.builder.build_in_bounds_gep(self.context.i8_type(), object, &[bytes], "")
        };
        Ok(address?)
    }

    /// The address of element `index`, of `size` bytes each.
    pub(super) fn element(
        &self,
        first: Ptr<'ctx>,
        index: Int<'ctx>,
        size: u64,
    ) -> Result<Ptr<'ctx>> {
        let bytes = self.builder.build_int_mul(index, self.long(size as i64), "")?;
        self.behind(first, bytes)
    }

    fn address(&self, object: Ptr<'ctx>, at: At) -> Result<Ptr<'ctx>> {
        self.behind(object, self.long(self.tags.place(at).place().offset as i64))
    }

    /// The one place where an access meets its tag.
    fn attach(&mut self, instruction: InstructionValue<'ctx>, at: At) -> Result<()> {
        Ok(self.tagger.attach(self.tags.place(at), instruction)?)
    }

    pub(super) fn load_named(
        &mut self,
        object: Ptr<'ctx>,
        at: At,
        name: &str,
    ) -> Result<Any<'ctx>> {
        let address = self.address(object, at)?;
        let value = self.builder.build_load(self.type_of(at.kind()), address, name)?;
        if let Some(instruction) = value.as_instruction_value() {
            self.attach(instruction, at)?;
        }
        Ok(value)
    }

    fn load(&mut self, object: Ptr<'ctx>, at: At) -> Result<Any<'ctx>> {
        self.load_named(object, at, "")
    }

    pub(super) fn load_pointer(&mut self, object: Ptr<'ctx>, at: At) -> Result<Ptr<'ctx>> {
        Ok(self.load(object, at)?.into_pointer_value())
    }

    pub(super) fn load_int(&mut self, object: Ptr<'ctx>, at: At) -> Result<Int<'ctx>> {
        Ok(self.load(object, at)?.into_int_value())
    }

    pub(super) fn load_float(&mut self, object: Ptr<'ctx>, at: At) -> Result<Float<'ctx>> {
        Ok(self.load(object, at)?.into_float_value())
    }

    pub(super) fn store(
        &mut self,
        object: Ptr<'ctx>,
        at: At,
        value: impl BasicValue<'ctx>,
    ) -> Result<()> {
        let address = self.address(object, at)?;
        let instruction = self.builder.build_store(address, value)?;
        self.attach(instruction, at)
    }

    /// Calls a helper.
    pub(super) fn call(
        &mut self,
        name: &str,
        arguments: &[Any<'ctx>],
    ) -> Result<Option<Any<'ctx>>> {
        let &(function, effect) = self.helpers.get(name).ok_or("no such helper")?;
        let arguments: Vec<BasicMetadataValueEnum<'ctx>> =
            arguments.iter().map(|&argument| argument.into()).collect();
        let call = self.builder.build_call(function, &arguments, "")?;
        if effect == Effect::NoFrames {
            let instruction = match call.try_as_basic_value() {
                ValueKind::Basic(value) => value.as_instruction_value(),
                ValueKind::Instruction(instruction) => Some(instruction),
            };
            if let Some(instruction) = instruction {
                self.tagger.attach_call(self.tags.helper(), instruction)?;
            }
        }
        Ok(call.try_as_basic_value().basic())
    }

    /// Calls a helper that has a result.
    pub(super) fn compute(&mut self, name: &str, arguments: &[Any<'ctx>]) -> Result<Any<'ctx>> {
        Ok(self.call(name, arguments)?.ok_or("a helper without a result")?)
    }

    /// Makes an unsigned integer an `i64`.
    pub(super) fn extend(&self, value: Int<'ctx>) -> Result<Int<'ctx>> {
        Ok(self.builder.build_int_z_extend(value, self.context.i64_type(), "")?)
    }

    pub(super) fn int(&self, value: i64) -> Int<'ctx> {
        self.context.i32_type().const_int(value as u64, true)
    }

    pub(super) fn ints<const N: usize>(&self, values: [i64; N]) -> [Any<'ctx>; N] {
        values.map(|value| self.int(value).into())
    }

    pub(super) fn long(&self, value: i64) -> Int<'ctx> {
        self.context.i64_type().const_int(value as u64, true)
    }

    pub(super) fn double(&self, value: f64) -> Float<'ctx> {
        self.context.f64_type().const_float(value)
    }
}
