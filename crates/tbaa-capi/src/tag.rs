//! Finds tags for a module that has none.

use std::ffi::c_void;
use std::fmt::Display;

use crate::emit::NodeEmitter;
use crate::error::{Error, given};
use crate::status::{Status, status};
use crate::text::{Out, Str, Text, slice};

/// A front end's description of its struct types, by their LLVM names, such as `struct.Point`. A
/// zeroed description names no types. Use the same description for all modules of a program.
#[repr(C)]
pub struct Tagging {
    /// Also tag elements of arrays and scalars behind plain pointers, by their scalar type. The
    /// program then promises not to zero or copy this memory in words of another type.
    pub elements: bool,
    /// Structs that are types of their own. By default, structs whose members have the same types
    /// and offsets share one type.
    pub nominal: *const Str,
    /// The number of nominal structs.
    pub nominal_count: usize,
    /// Groups of structs that share memory, as the members of a union do. Each string names the
    /// structs of one group, separated by commas.
    pub unions: *const Str,
    /// The number of groups.
    pub union_count: usize,
    /// Structs whose accesses get no tag.
    pub opaque: *const Str,
    /// The number of opaque structs.
    pub opaque_count: usize,
}

/// A callback that attaches a tag to an instruction. `function` is the function's index among those
/// with a body, and `instruction` is the instruction's index in that function. Both count from 0.
/// The library calls it in the order of the instructions in the module.
pub type AttachTag =
    Option<extern "C" fn(data: *mut c_void, function: u32, instruction: u32, tag: *mut c_void)>;

/// Finds tags for the loads and stores of a module from the members that its getelementptrs select,
/// and passes each tag to `attach`. The module is assembly text from the front end, before any of
/// LLVM's passes. `tbaa_llvm_tag_module` does this for a module of llvm-c.
///
/// The program makes this promise about any two accesses that reach the same bytes through
/// getelementptrs while one value lives there. Both use the same scalar type. Their structs have
/// the same LLVM types, in the same order and nesting, up to the accessed member, or one struct is
/// declared inside the other.
///
/// Unless `summary` is NULL, it becomes a text with one line for each reason why accesses have no
/// tag: their number and the reason. Free it with `tbaa_text_free`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_tag_module(
    emitter: Option<&mut NodeEmitter>,
    module: Str,
    tagging: Option<&Tagging>,
    attach: AttachTag,
    data: *mut c_void,
    summary: Out<'_, Text>,
) -> Status {
    status(|| {
        let emitter = given(emitter, "the emitter")?;
        let attach = given(attach, "the callback")?;
        let text = module.bytes()?;
        let wrong = |error: &dyn Display| Error::argument(format!("module: {error}"));
        let read = tbaa_ir::read(text).map_err(|error| wrong(&error))?;
        let options = tagging.map_or(Ok(tbaa_tag::Options::new()), options)?;
        let tags = tbaa_tag::tag(&read, &options).map_err(|error| wrong(&error))?;
        let mut nodes = Vec::with_capacity(tags.tags.len());
        for &tbaa_tag::TaggedAccess { instruction: at, tag } in &tags.tags {
            nodes.push((read.instructions()[at], emitter.tag(&tags.graph, tag)?));
        }
        for (instruction, node) in nodes {
            attach(data, instruction.function, instruction.index, node);
        }
        if let Some(summary) = summary {
            let lines = tags.reasons().into_iter().map(|(why, count)| format!("{count} {why}\n"));
            summary.write(Text::from(lines.collect::<String>()));
        }
        Ok(())
    })
}

fn options(tagging: &Tagging) -> Result<tbaa_tag::Options, Error> {
    // SAFETY: the caller promises the numbers of elements.
    let (nominal, unions, opaque) = unsafe {
        (
            slice(tagging.nominal, tagging.nominal_count, "nominal")?,
            slice(tagging.unions, tagging.union_count, "unions")?,
            slice(tagging.opaque, tagging.opaque_count, "opaque")?,
        )
    };
    let mut options = tbaa_tag::Options::new();
    if tagging.elements {
        options = options.elements();
    }
    for name in nominal {
        options = options.nominal(name.text()?);
    }
    for names in unions {
        options = options.union(names.text()?.split(','));
    }
    for name in opaque {
        options = options.opaque(name.text()?);
    }
    Ok(options)
}
