//! The metadata that a context has returned for places and calls.

use std::collections::HashMap;

use tbaa::declare::{DeclareError, Place, Policy, TaggedTypes};
use tbaa::spec::Built;
use tbaa::{AliasRule, Graph};
use tbaa_lower::emit::{
    Attachments, Jit, JitError, JitOptions, Recorded, TagForm, TaggedPlace, Tagging, Typed,
};

use crate::oracle::Tag;
use crate::status::{Error, Status, given};

/// The place that a path leads to: its tag, its bytes and its alignment.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct TagPlace {
    /// The tag; 0 if the policy has none, so that the access must stay untagged.
    pub tag: Tag,
    /// The width of a bit-field in bits; 0 for other members.
    pub bit_width: u32,
    /// The first bit of a bit-field, counted from `offset`.
    pub first_bit: u64,
    /// Bytes from the target of the path's last pointer, or from the path's start. Variable indices
    /// count as 0.
    pub offset: u64,
    /// The size of the member in bytes; 0 for a flexible array.
    pub size: u64,
    /// The known alignment of the address, in bytes.
    pub align: u64,
    /// True if the path says `volatile`: make the instruction volatile.
    pub is_volatile: bool,
    /// True if the memory is never modified while it can be read.
    pub immutable: bool,
    /// False if the true alignment is unknown, as in a region of any bytes; then `align` is 1.
    pub aligned: bool,
}

impl From<&Place> for TagPlace {
    fn from(found: &Place) -> Self {
        let (first_bit, bit_width) = found.bits.map_or((0, 0), |bits| (bits.first, bits.width));
        TagPlace {
            tag: found.tag.map_or(Tag { id: 0 }, Tag::from),
            bit_width,
            // `bits.first` counts from the same byte as `found.offset`.
            first_bit: first_bit.saturating_sub(found.offset.saturating_mul(8)),
            offset: found.offset,
            size: found.size,
            align: found.align,
            is_volatile: found.volatile,
            immutable: found.immutable,
            aligned: found.aligned,
        }
    }
}

/// Nodes that are not yet in an LLVM context. They never change, and live as long as their
/// `tbaa_context`: threads may share them.
pub struct Recording(pub(crate) Requested);

pub(crate) enum Requested {
    Place(TaggedPlace),
    Call(Attachments<Recorded>),
}

/// The place of a path, and the nodes for accesses to it. It never changes, lives as long as its
/// `tbaa_context`, and may be used by any thread.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Tagged {
    /// Offset, size and alignment; all 0 for a call.
    pub place: TagPlace,
    /// The nodes to attach.
    pub nodes: *const Recording,
}

/// The metadata that a context has returned, and the state from which more is made.
pub(crate) struct ContextTags {
    /// The state of a [`Jit`], which makes metadata; `None` while in use, and after a panic.
    tagging: Option<Tagging>,
    /// The results by their request. C holds pointers to them, so each has a box.
    given: HashMap<Key, Box<Recording>>,
}

#[derive(PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Place(String, Option<u64>),
    Call(Vec<String>),
}

/// The types of a context, with its oracle.
pub(crate) struct Declared<'c> {
    pub(crate) oracle: &'c mut tbaa::Oracle,
    pub(crate) built: &'c mut Built,
}

const DECLARED: &str = "looked at before";

impl Typed for Declared<'_> {
    fn tagged(&self) -> &TaggedTypes {
        self.built.tagged().expect(DECLARED)
    }

    fn oracle(&self) -> &tbaa::Oracle {
        self.oracle
    }

    fn update<R>(&mut self, change: impl FnOnce(&mut TaggedTypes, &mut Graph) -> R) -> R {
        self.grow_spec(|built| {
            let (types, graph) = built.tagged_mut().expect(DECLARED);
            change(types, graph)
        })
    }
}

impl Declared<'_> {
    /// Runs `change` on `built` with the oracle's graph in it, and updates the oracle.
    pub(crate) fn grow_spec<R>(&mut self, change: impl FnOnce(&mut Built) -> R) -> R {
        let Declared { oracle, built } = self;
        oracle.update(|graph| {
            std::mem::swap(graph, built.graph_mut());
            let result = change(built);
            std::mem::swap(graph, built.graph_mut());
            result
        })
    }
}

pub(crate) fn undeclared() -> Error {
    let message = "the spec of this context declares no types: give it a `declare`";
    Error::new(Status::Declaration, message)
}

impl From<JitError> for Error {
    fn from(error: JitError) -> Error {
        let status = match error {
            JitError::Declare(DeclareError::Untagged { .. }) | JitError::NoTag { .. } => {
                Status::Untagged
            }
            JitError::Declare(DeclareError::Build(_)) => Status::Build,
            JitError::Declare(_) => Status::Path,
            JitError::NotDeclared { .. } | JitError::NotShared { .. } => Status::Declaration,
            JitError::Emit(_) => Status::Refused,
            _ => Status::Build,
        };
        Error::new(status, error)
    }
}

pub(crate) fn check_declared(of: &Declared<'_>) -> Result<(), Error> {
    let types = of.built.tagged().ok_or_else(undeclared)?;
    if types.policy() == Policy::Rfc && of.oracle.rule() == AliasRule::Llvm {
        let message = "tags of policy rfc are lowered by rule union: make the context with \
                       TBAA_RULE_UNION, as tbaa_options_for_llvm does";
        return Err(Error::argument(message));
    }
    Ok(())
}

/// Returns a context's metadata and types. If `tags` is `None`, fills it, with default options.
pub(crate) fn tags_of<'c>(
    (tags, mut of): (&'c mut Option<ContextTags>, Declared<'c>),
) -> Result<(&'c mut ContextTags, Declared<'c>), Error> {
    check_declared(&of)?;
    if tags.is_none() {
        let form = match of.tagged().policy() {
            Policy::Rfc => TagForm::Lowered,
            _ => TagForm::Clang,
        };
        let jit = Jit::of(of, JitOptions::new().form(form))?;
        of = ContextTags::of(jit, tags);
    }
    Ok((given(tags.as_mut(), "the tags")?, of))
}

impl ContextTags {
    /// Stores the state of `jit` in `tags`, and returns the types that `jit` used.
    pub(crate) fn of<'c>(jit: Jit<Declared<'c>>, tags: &mut Option<ContextTags>) -> Declared<'c> {
        let (of, tagging) = jit.into_parts();
        *tags = Some(ContextTags { tagging: Some(tagging), given: HashMap::new() });
        of
    }

    /// Runs the request `ask` on a [`Jit`]. If `ask` panics, later requests fail.
    pub(crate) fn ask<'c, R>(
        &mut self,
        of: Declared<'c>,
        ask: impl FnOnce(&mut Jit<Declared<'c>>) -> Result<R, JitError>,
    ) -> Result<R, Error> {
        let mut jit = Jit::resume(of, given(self.tagging.take(), "the tags")?);
        let found = ask(&mut jit);
        self.tagging = Some(jit.into_parts().1);
        Ok(found?)
    }

    /// Returns the stored result for a key. If there is none, makes one by `make` and stores it.
    pub(crate) fn give<'c>(
        &mut self,
        of: Declared<'c>,
        key: Key,
        make: impl FnOnce(&mut Jit<Declared<'c>>) -> Result<Requested, JitError>,
    ) -> Result<Tagged, Error> {
        match self.given.get(&key) {
            Some(known) => Ok(known.shown()),
            None => {
                let made = self.ask(of, make)?;
                Ok(self.keep(key, made))
            }
        }
    }

    /// Returns the stored result for a key. If there is none, stores `made`.
    pub(crate) fn keep(&mut self, key: Key, made: Requested) -> Tagged {
        self.given.entry(key).or_insert_with(|| Box::new(Recording(made))).shown()
    }
}

impl Recording {
    fn shown(&self) -> Tagged {
        let place = match &self.0 {
            Requested::Place(place) => TagPlace::from(place.place()),
            Requested::Call(_) => TagPlace::default(),
        };
        Tagged { place, nodes: self }
    }
}
