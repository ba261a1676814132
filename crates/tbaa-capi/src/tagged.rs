//! Places (what paths such as `Point.x` lead to), with the metadata for LLVM's accesses to them.

use std::mem::MaybeUninit;

use tbaa::declare::Policy;
use tbaa::{AccessKind, Size};
use tbaa_lower::emit::{Attachments, Jit, JitOptions, Recorded, TagForm, Typed};

use crate::context::{Context, change, made_in, say_vague};
use crate::emit::{NodeAttachments, NodeEmitter};
use crate::status::{Error, Status, given, made, status};
use crate::tags::{ContextTags, Key, Requested, Tagged, check_declared, tags_of};
use crate::text::{Str, constant, slice};

/// The options of a context's tags. All zero is the default.
#[repr(C)]
pub struct TagOptions {
    /// The name of the type system of this context's tags, which is called a lineage. If it is
    /// empty, the library makes a unique name. A fixed name makes the emitted code the same in each
    /// run. Then no other context may use the name, in any process whose code may be linked with
    /// this code.
    pub lineage: Str,
    /// A `tbaa_tag_form`.
    pub form: u32,
    /// The names of records that C code also accesses, with clang's own tags, in modules that are
    /// linked with code that has this context's tags.
    pub shared: *const Str,
    /// The number of names in `shared`.
    pub shared_count: usize,
}

/// The metadata for LLVM under `TBAA_POLICY_RFC`; `TBAA_POLICY_CLANG` passes tags unchanged.
#[repr(u32)]
pub enum TagFormNumber {
    /// Lowered tags, for which LLVM's own rule gives correct answers.
    Lowered = 0,
    /// Lowered tags, and alias scopes for all places that the rule separates, also for calls.
    LoweredScopes = 1,
    /// The same alias scopes, and no tags.
    Scopes = 2,
}

/// The kind of an instruction, which decides its metadata.
#[repr(u32)]
pub enum InstructionKind {
    /// The instruction loads.
    Load = 0,
    /// The instruction stores, or loads and stores.
    Store = 1,
    /// The instruction calls.
    Call = 2,
    /// The instruction copies or fills memory, such as `llvm.memcpy`, or is another intrinsic that
    /// accesses memory, such as `llvm.masked.store`.
    Copy = 3,
    /// Any other instruction; LLVM allows no tag on it.
    None = 4,
    /// The instruction is a call that itself copies or fills the memory of an argument: `byval`,
    /// `sret`, `inalloca`, `preallocated`.
    OwnMemory = 5,
    /// The instruction is in another LLVM context than the emitter's.
    OtherContext = 6,
}

/// Converts an array of strings. Returns an error if one is not UTF-8.
unsafe fn texts<'t>(texts: *const Str, count: usize, name: &str) -> Result<Vec<&'t str>, Error> {
    // SAFETY: the caller promises `count` texts.
    let texts = unsafe { slice(texts, count, name) }?;
    texts.iter().map(|text| text.text()).collect()
}

/// Sets the options of the tags of a context with `TBAA_POLICY_RFC`. Call it before the first place
/// is requested, or not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tbaa_context_tag_options(
    context: Option<&mut Context>,
    options: Option<&TagOptions>,
) -> Status {
    change(context, |context| {
        let options = given(options, "the options")?;
        let (tags, of) = context.tagging();
        if tags.is_some() {
            return Err(Error::argument("places were given out: say first what tags are to be"));
        }
        check_declared(&of)?;
        if of.tagged().policy() != Policy::Rfc {
            let message = "under this policy LLVM gets the tags as they are, without options: make \
                           the context with tbaa_options_for_llvm";
            return Err(Error::argument(message));
        }
        let all = [TagForm::Lowered, TagForm::LoweredScopes, TagForm::Scopes];
        let mut made = JitOptions::new().form(constant(&all, options.form, "tbaa_tag_form")?);
        let lineage = options.lineage.text()?;
        if !lineage.is_empty() {
            made = made.lineage(lineage);
        }
        // SAFETY: the caller promises `shared_count` names.
        made = made.shared(unsafe { texts(options.shared, options.shared_count, "shared") }?);
        ContextTags::of(Jit::of(of, made)?, tags);
        Ok(())
    })
}

/// Gives the places of paths, with the metadata for accesses to them (see `tbaa_tag_form`). A path
/// that only names a record is the whole record, as a copy accesses it. Request all places that are
/// known at the start in one call: their tags then separate the most accesses. More may follow
/// later, and earlier results stay valid. On an error nothing is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tbaa_places(
    context: Option<&mut Context>,
    paths: *const Str,
    count: usize,
    places: *mut Tagged,
) -> Status {
    change(context, |context| {
        // SAFETY: the caller promises `count` paths.
        let paths = unsafe { texts(paths, count, "paths") }?;
        if places.is_null() && count > 0 {
            return Err(Error::argument("the place of the places is NULL"));
        }
        context.grow_spec(|built| paths.iter().for_each(|path| say_vague(built, path)));
        let (tags, of) = tags_of(context.tagging())?;
        // One request for all paths lets the library make their lowered tags together.
        let found = tags.ask(of, |jit| jit.places(&paths))?;
        let keep = |(path, place): (&str, _)| {
            tags.keep(Key::Place(path.to_owned(), None), Requested::Place(place))
        };
        let found: Vec<Tagged> = paths.into_iter().zip(found).map(keep).collect();
        // SAFETY: the caller promises room for `count` places; `found` is our own.
        unsafe { std::ptr::copy_nonoverlapping(found.as_ptr(), places, found.len()) };
        Ok(())
    })
}

/// Gives the place of a path for accesses of `size` bytes. They may exceed the place, as an access
/// to a vector that begins there does. `UINT64_MAX` means a varying size: the result is then valid
/// for accesses of any size.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_place_sized(
    context: Option<&mut Context>,
    path: Str,
    size: u64,
    place: Option<&mut MaybeUninit<Tagged>>,
) -> Status {
    made_in(context, place, |context| {
        let path = path.text()?;
        let (tags, of) = tags_of(context.tagging())?;
        let key = Key::Place(path.to_owned(), Some(size));
        tags.give(of, key, |jit| jit.sized(path, size).map(Requested::Place))
    })
}

/// Gives the metadata of a call. The call reads and writes the memory of `touched` (paths),
/// allocates or frees objects of the types `memory`, and touches nothing else that others access.
/// With one path and no types, the metadata is the path's tag. If the context's `tbaa_tag_form` has
/// scopes, the call also gets scopes for all places that the call does not touch.
///
/// An allocator must name the type of each object that it may free, and of each object that may
/// later use the bytes: LLVM moves the last stores to a freed object past a call that does not
/// touch it. If a callee reallocates, collects garbage or calls back, `touched` must include
/// whatever these operations touch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tbaa_call_touching(
    context: Option<&mut Context>,
    touched: *const Str,
    touched_count: usize,
    memory: *const Str,
    memory_count: usize,
    call: Option<&mut MaybeUninit<Tagged>>,
) -> Status {
    made_in(context, call, |context| {
        // SAFETY: the caller promises `touched_count` texts.
        let mut all = unsafe { texts(touched, touched_count, "touched") }?;
        // SAFETY: the caller promises `memory_count` texts.
        all.extend(unsafe { texts(memory, memory_count, "memory") }?);
        let (tags, of) = tags_of(context.tagging())?;
        let key = Key::Call(all.iter().map(|&text| text.to_owned()).collect());
        tags.give(of, key, |jit| jit.call(&all).map(Requested::Call))
    })
}

/// Emits the metadata of an instruction that accesses a place, or of a call. `kind` is a
/// `tbaa_instruction_kind`. `size` is the accessed bytes, 0 if unknown, `UINT64_MAX` if they vary.
/// The result is `TBAA_STATUS_REFUSED`, with the remedy, for a store to immutable memory, and for
/// an access that is wider than its place and not a run of whole elements. A path that ends at an
/// element (`[*]`), or a type alone, allows runs. A copy or fill of unknown size must be a run,
/// unless the place ends in a flexible array. `tbaa-llvm.h` calls this for an instruction.
///
/// The function takes no lock. Many threads may use the place, but only one may use the emitter.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_emit_tagged(
    emitter: Option<&mut NodeEmitter>,
    tagged: Option<&Tagged>,
    kind: u32,
    size: u64,
    nodes: Option<&mut MaybeUninit<NodeAttachments>>,
) -> Status {
    made(nodes, || {
        let emitter = given(emitter, "the emitter")?;
        let tagged = given(tagged, "the place")?;
        // SAFETY: the context made the place, and still lives.
        let recording = given(unsafe { tagged.nodes.as_ref() }, "the place's nodes")?;
        let kinds: [u32; 7] = [0, 1, 2, 3, 4, 5, 6];
        let kind = constant(&kinds, kind, "tbaa_instruction_kind")?;
        let reasons = [
            "only loads, stores, calls, va_arg, atomicrmw and cmpxchg can have a tag",
            "the call has an argument that is memory (byval, sret), which it accesses beside what \
             the place names, and LLVM would delete the stores that fill it: leave the call \
             without a tag, or pass a plain pointer",
            "the instruction is in another LLVM context than the emitter: make one for each",
        ];
        if let Some(at) = kind.checked_sub(InstructionKind::None as u32) {
            return Err(refused(reasons[at as usize]));
        }
        let found: &Attachments<Recorded> = match (&recording.0, kind) {
            (Requested::Call(call), _) => call,
            (Requested::Place(place), 0 | 1) => {
                let access = if kind == 1 { AccessKind::Write } else { AccessKind::Read };
                match size {
                    0 => place.check_kind(access),
                    size => place.check(size, access),
                }
                .map_err(refused)?;
                place.nodes()
            }
            (Requested::Place(place), _) => {
                if kind == 3 {
                    // A copy of unknown length (size 0) counts as a run of whole elements. A
                    // varying size (`u64::MAX`), such as that of a scalable vector, does not.
                    match size {
                        u64::MAX => place.check(Size::Unknown, AccessKind::Read),
                        size => place.check_copy(size),
                    }
                    .map_err(refused)?;
                }
                &place.tagged().call
            }
        };
        emitter.recorded(found)
    })
}

/// Checks whether an access of `size` bytes may have a place's tag. The access consists of one or
/// more values of `element` bytes each. The result is `TBAA_STATUS_REFUSED`, with the remedy, if it
/// may not. `pointer` is true if each value is a pointer, whose size comes from the module's data
/// layout. `tbaa-llvm.h` calls this.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_check_element(
    tagged: Option<&Tagged>,
    size: u64,
    element: u64,
    pointer: bool,
) -> Status {
    status(|| {
        let tagged = given(tagged, "the place")?;
        // SAFETY: the context made the place, and still lives.
        let recording = given(unsafe { tagged.nodes.as_ref() }, "the place's nodes")?;
        let Requested::Place(place) = &recording.0 else { return Ok(()) };
        let checked = place.check(size, AccessKind::Read);
        checked.and_then(|()| place.check_element(element)).map_err(|misuse| {
            match pointer && place.place().pointer {
                true => refused(
                    "the pointer has more bytes by the module's data layout than the place has: \
                     give the module the data layout of the target that the types are declared \
                     for, before code is built",
                ),
                false => refused(misuse),
            }
        })
    })
}

fn refused(misuse: impl std::fmt::Display) -> Error {
    Error::new(Status::Refused, misuse)
}
