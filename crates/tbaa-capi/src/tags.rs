//! What a context keeps of the places it gave out.

use std::collections::HashMap;

use tbaa::declare::{DeclareError, Place, Policy, TaggedTypes};
use tbaa::spec::Built;
use tbaa::{AliasRule, Graph};
use tbaa_lower::emit::{
    Attachments, Jit, JitError, JitOptions, Recorded, TagForm, TaggedPlace, Tagging, Typed,
};

use crate::oracle::Tag;
use crate::status::{Error, Status, given};

/// Where a path leads, for the code that accesses it.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct TagPlace {
    /// The tag; 0 where the policy has none, and the access goes without.
    pub tag: Tag,
    /// The width of a bit-field; 0 of all else.
    pub bit_width: u32,
    /// The first bit of a bit-field, counted from where `offset` is.
    pub first_bit: u64,
    /// Bytes from what the path's last pointer points to, or from its start.
    /// Indices that are no constants count as 0.
    pub offset: u64,
    /// Bytes of what is there; 0 of a flexible array.
    pub size: u64,
    /// The alignment known of the address, in bytes.
    pub align: u64,
    /// Whether the path says `volatile`, which is for the instruction.
    pub is_volatile: bool,
    /// Whether the memory is never modified while it can be read.
    pub immutable: bool,
}

impl From<&Place> for TagPlace {
    fn from(found: &Place) -> Self {
        let (first_bit, bit_width) = found.bits.map_or((0, 0), |it| (it.first, it.width));
        TagPlace {
            tag: found.tag.map_or(Tag { id: 0 }, Tag::from),
            bit_width,
            // Counted from the place itself.
            first_bit: first_bit.saturating_sub(found.offset.saturating_mul(8)),
            offset: found.offset,
            size: found.size,
            align: found.align,
            is_volatile: found.volatile,
            immutable: found.immutable,
        }
    }
}

/// Nodes that are in no LLVM context yet. They never change, and live as long as
/// their context: threads may share them.
pub struct Recording(pub(crate) Kept);

pub(crate) enum Kept {
    Place(TaggedPlace),
    Call(Attachments<Recorded>),
}

/// Where a path leads, with what accesses there get. It never changes, lives as
/// long as its context, and may be used by any thread meanwhile.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Tagged {
    /// Offset, size and alignment; all 0 of a call.
    pub place: TagPlace,
    /// What to attach.
    pub nodes: *const Recording,
}

/// What a context keeps of its tags.
pub(crate) struct ContextTags {
    /// In the JIT while that is asked.
    tagging: Option<Tagging>,
    /// By what was asked for; what C holds pointers to is allocated apart.
    given: HashMap<Key, Box<Recording>>,
}

#[derive(PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Place(String, Option<u64>),
    Call(Vec<String>),
}

/// The types of a context, whose oracle stands apart.
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
    /// Changes the graph as part of its spec.
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

/// The error of a context without declared types.
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

/// The tags of a context, made by the usual options where there are none, and its types.
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
    /// Puts the tags of a JIT where a context has them, and returns the types.
    pub(crate) fn of<'c>(jit: Jit<Declared<'c>>, tags: &mut Option<ContextTags>) -> Declared<'c> {
        let (of, tagging) = jit.into_parts();
        *tags = Some(ContextTags { tagging: Some(tagging), given: HashMap::new() });
        of
    }

    /// Asks the JIT. It is gone after a panic, and so is the context.
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

    /// Returns what was given out before, or asks the JIT.
    pub(crate) fn give<'c>(
        &mut self,
        of: Declared<'c>,
        key: Key,
        make: impl FnOnce(&mut Jit<Declared<'c>>) -> Result<Kept, JitError>,
    ) -> Result<Tagged, Error> {
        match self.given.get(&key) {
            Some(known) => Ok(known.shown()),
            None => {
                let made = self.ask(of, make)?;
                Ok(self.keep(key, made))
            }
        }
    }

    /// Returns what was given out before, or this.
    pub(crate) fn keep(&mut self, key: Key, made: Kept) -> Tagged {
        self.given.entry(key).or_insert_with(|| Box::new(Recording(made))).shown()
    }
}

impl Recording {
    fn shown(&self) -> Tagged {
        let place = match &self.0 {
            Kept::Place(place) => TagPlace::from(place.place()),
            Kept::Call(_) => TagPlace::default(),
        };
        Tagged { place, nodes: self }
    }
}
