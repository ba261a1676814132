//! Adds tags to a module that has none.

use std::collections::BTreeMap;

use inkwell::module::Module;
use inkwell::values::InstructionOpcode;
use tbaa_ir::TextError;
use tbaa_lower::emit::{EmitError, Emitter};
use tbaa_tag::{Options, TagError, TaggedAccess, Untagged, tag};

use crate::{LlvmSink, SinkError};

/// The result of [`tag_module`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TagCounts {
    /// The number of accesses that got a tag.
    pub tagged: usize,
    /// The number of accesses that got no tag, for each reason.
    pub untagged: BTreeMap<Untagged, usize>,
}

/// The reason why no access of a module got a tag.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TagModuleError {
    /// LLVM's text of the module cannot be read.
    #[error(transparent)]
    Text(TextError),
    /// Tags would be wrong, or cannot be computed.
    #[error(transparent)]
    Tag(TagError),
    /// A tag cannot be made in the module's context.
    #[error(transparent)]
    Emit(EmitError<SinkError>),
}

/// Gives tags to a module's accesses, derived from the types in its `getelementptr`s, like
/// [`tbaa_tag::tag`]. [`tbaa_tag::PROMISE`] is what the program must guarantee.
///
/// Call it when the module is complete and has its data layout, before any of LLVM's passes.
///
/// # Errors
///
/// [`TagModuleError`]; the module is then unchanged.
///
/// # Panics
///
/// If LLVM prints instructions in another order than it lists them.
pub fn tag_module(module: &Module<'_>, options: &Options) -> Result<TagCounts, TagModuleError> {
    let printed = module.print_to_string();
    let text = printed.to_bytes();
    let read = tbaa_ir::read(text).map_err(TagModuleError::Text)?;
    let tags = tag(&read, options).map_err(TagModuleError::Tag)?;
    let mut emitter = Emitter::new(LlvmSink::new(module.get_context()));
    let mut nodes = Vec::with_capacity(tags.tags.len());
    for &TaggedAccess { instruction: at, tag } in &tags.tags {
        let node = emitter.tag(&tags.graph, tag).map_err(TagModuleError::Emit)?;
        let instruction = read.instructions()[at];
        nodes.push((instruction.function, instruction.index, node));
    }
    let kind = module.get_context().get_kind_id("tbaa");
    let mut nodes = nodes.into_iter().peekable();
    let functions = module.get_functions().filter(|function| function.count_basic_blocks() > 0);
    for (function, value) in functions.enumerate() {
        let blocks = value.get_basic_block_iter();
        let instructions = blocks.flat_map(|block| block.get_instructions());
        for (index, instruction) in instructions.enumerate() {
            let here = |next: &(u32, u32, _)| (next.0, next.1) == (function as u32, index as u32);
            let Some((.., node)) = nodes.next_if(here) else { continue };
            let opcode = instruction.get_opcode();
            let is_access = matches!(opcode, InstructionOpcode::Load | InstructionOpcode::Store);
            assert!(is_access, "instruction {index} of function {function} is {opcode:?}");
            let set = instruction.set_metadata(node.as_value(), kind);
            set.expect("a tag is a node of metadata");
        }
    }
    assert!(nodes.next().is_none(), "an instruction that LLVM prints and does not list");
    Ok(TagCounts { tagged: tags.tags.len(), untagged: tags.reasons() })
}
