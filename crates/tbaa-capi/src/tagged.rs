//! Places with the tags that LLVM gets for them.

use std::mem::MaybeUninit;

use tbaa::declare::Policy;
use tbaa::{AccessKind, Size};
use tbaa_lower::emit::{Attachments, Jit, JitOptions, Recorded, TagForm, Typed};

use crate::context::{Context, change, made_in};
use crate::emit::{NodeAttachments, NodeEmitter};
use crate::status::{Error, Status, given, made};
use crate::tags::{ContextTags, Kept, Key, Tagged, check_declared, tags_of};
use crate::text::{Str, constant, slice};

/// What the tags of a context are to be beside the usual. All zero is the usual.
#[repr(C)]
pub struct TagOptions {
    /// Names the lineage, so that code is the same in each run; no other context may
    /// have it, in any process whose code may be linked with this one's. Empty for a
    /// name that nobody else has.
    pub lineage: Str,
    /// Of `tbaa_tag_form`.
    pub form: u32,
    /// Names of records that C code accesses by clang's own tags, in modules that
    /// are linked with the JIT's.
    pub shared: *const Str,
    /// The number of these names.
    pub shared_count: usize,
}

/// What LLVM gets for accesses under policy `rfc`. Under policy `clang` it gets the
/// tags as they are.
#[repr(u32)]
pub enum TagFormNumber {
    /// Lowered tags, which LLVM gets right.
    Lowered = 0,
    /// The same, and scopes of all pairs: a call that touches several places gets
    /// scopes too.
    LoweredScopes = 1,
    /// Scopes of all pairs, and no tags.
    Scopes = 2,
}

/// What an instruction does, for what it gets.
#[repr(u32)]
pub enum InstructionKind {
    /// It loads.
    Load = 0,
    /// It stores, or does both at once.
    Store = 1,
    /// It calls.
    Call = 2,
    /// It copies or fills memory, such as `llvm.memcpy`, or is another intrinsic that accesses
    /// memory, such as `llvm.masked.store`.
    Copy = 3,
    /// Something else, which LLVM does not let have a tag.
    None = 4,
    /// It calls with an argument that is memory, which the call copies or fills by itself:
    /// `byval`, `sret`, `inalloca`, `preallocated`.
    OwnMemory = 5,
    /// It is in another LLVM context than the emitter's.
    OtherContext = 6,
    /// It loads or stores a pointer that has more bytes by the module's data layout than by
    /// the declarations.
    OtherLayout = 7,
}

/// Texts of C, as Rust has them.
unsafe fn texts<'t>(texts: *const Str, count: usize, name: &str) -> Result<Vec<&'t str>, Error> {
    // SAFETY: the caller promises `count` texts.
    let texts = unsafe { slice(texts, count, name) }?;
    texts.iter().map(|text| text.text()).collect()
}

/// Says what the tags of a context of policy `rfc` are to be. Call it before the first place is
/// asked for, or not at all.
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
        // SAFETY: the caller promises so many names.
        made = made.shared(unsafe { texts(options.shared, options.shared_count, "shared") }?);
        ContextTags::of(Jit::of(of, made)?, tags);
        Ok(())
    })
}

/// Gives the places that paths lead to, with what LLVM gets for accesses there:
/// under policy `rfc` lowered tags. A path that names a record alone is the whole
/// record, as a copy accesses it. Ask for all places that are known at the start in
/// one call: their tags tell most accesses apart. More may come at any time; what
/// was given out stays. On an error nothing is written.
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
        let (tags, of) = tags_of(context.tagging())?;
        // All are lowered together.
        let found = tags.ask(of, |jit| jit.places(&paths))?;
        let found = paths
            .into_iter()
            .zip(found)
            .map(|(path, place)| tags.keep(Key::Place(path.to_owned(), None), Kept::Place(place)));
        let found: Vec<Tagged> = found.collect();
        // SAFETY: the caller promises room for `count` places; `found` is our own.
        unsafe { std::ptr::copy_nonoverlapping(found.as_ptr(), places, found.len()) };
        Ok(())
    })
}

/// Gives the place that a path leads to for accesses of `size` bytes, which may be
/// more than it has, such as a vector that begins there; `UINT64_MAX` is for a size
/// that varies, and covers no less than any other.
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
        tags.give(of, key, |jit| jit.sized(path, size).map(Kept::Place))
    })
}

/// Gives what a call gets that reads and writes the memory of `touched`, by paths,
/// and hands out or takes back objects of the types `memory`, and touches nothing
/// else that others access. With one path and no types that is the path's tag; with
/// several the scopes of all that the call leaves alone, so nothing where there are
/// none.
///
/// An allocator must name the type of each object that it may free, and of each
/// object that may be made of its bytes: LLVM moves the last stores to an object that
/// is freed behind a call that does not touch it. A callee that reallocates, collects
/// garbage or calls back touches whatever those touch.
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
        // SAFETY: the caller promises as many.
        let mut all = unsafe { texts(touched, touched_count, "touched") }?;
        // SAFETY: as above.
        all.extend(unsafe { texts(memory, memory_count, "memory") }?);
        let (tags, of) = tags_of(context.tagging())?;
        let key = Key::Call(all.iter().map(|&text| text.to_owned()).collect());
        tags.give(of, key, |jit| jit.call(&all).map(Kept::Call))
    })
}

/// Emits what an instruction at a place, or a call, is to get. `kind` is of
/// `tbaa_instruction_kind`; `size` has the bytes that it accesses, 0 if they are not
/// known, `UINT64_MAX` if they vary. An access that is wider than its place and no run of
/// whole elements, and a store where memory is immutable, is `TBAA_STATUS_REFUSED`, with the
/// remedy. A path that ends at an element (`[*]`) has runs, and so has a type alone; a fill of
/// a size that varies must be one, unless the place ends in a flexible array.
/// `tbaa-llvm.h` calls this with what the instruction says.
///
/// It takes no lock: the place may be used by many threads, the emitter by one.
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
        // SAFETY: the context made it, and lives.
        let recording = given(unsafe { tagged.nodes.as_ref() }, "the place's nodes")?;
        let kinds: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
        let kind = constant(&kinds, kind, "tbaa_instruction_kind")?;
        let reasons = [
            "only loads, stores, calls, va_arg, atomicrmw and cmpxchg can have a tag",
            "the call has an argument that is memory (byval, sret), which it accesses beside what \
             the place names, and LLVM would delete the stores that fill it: leave the call \
             without a tag, or pass a plain pointer",
            "the instruction is in another LLVM context than the emitter: make one for each",
            "the pointer has more bytes by the module's data layout than the place has: give the \
             module the data layout of the target that the types are declared for, before code is \
             built",
        ];
        if let Some(&reason) = (kind as usize)
            .checked_sub(InstructionKind::None as usize)
            .and_then(|it| reasons.get(it))
        {
            return Err(refused(reason));
        }
        let found: &Attachments<Recorded> = match (&recording.0, kind) {
            (Kept::Call(call), _) => call,
            (Kept::Place(place), 0 | 1) => {
                let access = if kind == 1 { AccessKind::Write } else { AccessKind::Read };
                match size {
                    0 => place.check_kind(access),
                    size => place.check(size, access),
                }
                .map_err(refused)?;
                place.nodes()
            }
            (Kept::Place(place), _) => {
                if kind == 3 {
                    // A copy of a length that the code does not say is a run, but no vector that
                    // only the processor knows.
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

fn refused(misuse: impl std::fmt::Display) -> Error {
    Error::new(Status::Refused, misuse)
}
