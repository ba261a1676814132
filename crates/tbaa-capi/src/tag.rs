//! Tags for a module that has none.

use std::ffi::c_void;

use crate::emit::NodeEmitter;
use crate::error::{Error, given};
use crate::status::{Status, status};
use crate::text::{Out, Str, Text, slice};

/// A front end's description of its struct types, by their LLVM names, such as `struct.Point`. Zero
/// describes nothing. All modules of a program need the same.
#[repr(C)]
pub struct Tagging {
    /// Tag elements of arrays and targets of plain pointers by their scalar type. Then nothing may
    /// be zeroed or copied in words of another type.
    pub elements: bool,
    /// Structs that differ from other structs with the same members.
    pub nominal: *const Str,
    /// The number of nominal structs.
    pub nominal_count: usize,
    /// Structs that share memory, as members of a union do: names separated by commas.
    pub unions: *const Str,
    /// The number of unions.
    pub union_count: usize,
    /// Structs whose accesses get no tag.
    pub opaque: *const Str,
    /// The number of opaque structs.
    pub opaque_count: usize,
}

/// Attaches a tag to an instruction: the function's index among those with a body, and the
/// instruction's index in it, both from 0. Calls follow the module's order.
pub type AttachTag =
    Option<extern "C" fn(data: *mut c_void, function: u32, instruction: u32, tag: *mut c_void)>;

/// Finds tags for the loads and stores of a module from the places that its getelementptrs name,
/// and passes each to `attach`. The module is assembly text from the front end, before any of
/// LLVM's passes. `tbaa_llvm_tag_module` does this for a module of llvm-c.
///
/// The program must keep to this: if two accesses to the same bytes, while one value lives there,
/// reach them through getelementptrs, then the members before them have the same LLVM types in the
/// same order, or one struct is declared inside the other, and both use the same scalar type.
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
        let read =
            tbaa_ir::read(text).map_err(|error| Error::argument(format!("module: {error}")))?;
        let options = tagging.map_or(Ok(tbaa_tag::Options::new()), options)?;
        let tags = tbaa_tag::tag(&read, &options)
            .map_err(|error| Error::argument(format!("module: {error}")))?;
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
    // SAFETY: the caller's promise for arrays.
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
