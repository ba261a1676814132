//! Tags and scopes that stock LLVM gets right.

use std::borrow::Cow;
use std::collections::HashMap;
use std::mem::MaybeUninit;

use tbaa::{Access, Format, Graph, TagId};
use tbaa_lower::emit::{ScopeNames, Scopes};
use tbaa_lower::{Lowering, Options, ScopeForm, Source};

use crate::describe::dumped;
use crate::oracle::{MemoryAccess, Oracle, Tag};
use crate::status::{Error, OrStatus, Status, free, given, made, status};
use crate::text::{Str, Text, constant, slice, write};

/// An access to be lowered.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LowerSource {
    /// Its tag.
    pub tag: Tag,
    /// How often it is asked about: pairs that cannot all be told apart are
    /// weighed by it. 0 is taken for 1.
    pub weight: u32,
    /// Bytes, in place of what the tag says; 0 for the tag's own.
    pub size: u64,
}

/// How tags are lowered. All zero is the old format, for a lowering that does
/// not grow.
#[repr(C)]
pub struct LowerOptions {
    /// Names the type system of the lowered tags, so that it may grow: no two
    /// lowerings that grow may have one name. Empty for one that does not.
    pub lineage: Str,
    /// The most nodes one above the other: more say more, and LLVM takes longer.
    /// 0 for the default.
    pub depth: u32,
    /// Of `tbaa_scope_form`: what scopes say beside the tags.
    pub scopes: u32,
    /// Whether the lowered tags are of the size-aware format.
    pub size_aware: bool,
}

/// Which pairs a lowering's scopes speak of.
#[repr(u32)]
pub enum ScopeFormNumber {
    /// There are no scopes.
    None = 0,
    /// The pairs that the lowered tags lose: few scopes, and short lists.
    Lost = 1,
    /// All pairs: tags are not needed beside them.
    All = 2,
}

/// Tags in place of a program's, with which LLVM answers that accesses may
/// overlap wherever the program's rule does, and on as few other pairs as can
/// be.
pub struct Lowered {
    inner: Lowering,
    given: Given,
}

/// The tags that were given, by id: a snapshot has other `TagId`s for the same.
type Given = HashMap<u32, TagId>;

impl Lowered {
    pub(crate) fn graph(&self) -> &Graph {
        self.inner.graph()
    }

    /// Returns an access as it was lowered.
    fn source(&self, access: MemoryAccess) -> Option<Access> {
        let mut source = Access::from(*self.given.get(&access.tag.id)?);
        source.size = (access.size != 0).then_some(access.size);
        Some(source)
    }

    pub(crate) fn knows(&self, access: MemoryAccess) -> bool {
        self.source(access).is_some_and(|source| self.inner.why(source).is_some())
    }

    /// Returns the lowered tag of an access that was lowered.
    pub(crate) fn tag(&self, access: MemoryAccess) -> Result<Option<TagId>, Error> {
        match self.source(access).filter(|&source| self.inner.why(source).is_some()) {
            Some(source) => Ok(self.inner.tag(source)),
            None => {
                let MemoryAccess { tag, size, .. } = access;
                let of = if size == 0 { String::new() } else { format!(", of {size} bytes,") };
                let message = format!(
                    "an access with tag {}{of} was not lowered: give it to `tbaa_lower`",
                    tag.id
                );
                Err(Error::new(Status::UnknownId, message))
            }
        }
    }

    fn names(&self, own: Option<u32>, noalias: impl Iterator<Item = u32>) -> Names<'_> {
        let name = |scope: u32| self.inner.scope_names()[scope as usize].as_str();
        Names {
            domain: Cow::Owned(self.inner.scope_domain()),
            own: own.into_iter().map(name).collect(),
            noalias: noalias.map(name).collect(),
        }
    }

    /// Returns the scopes of an access that was lowered.
    pub(crate) fn scopes(&self, access: MemoryAccess) -> Option<Names<'_>> {
        let scopes = self.inner.scopes_of(self.source(access)?)?;
        Some(self.names(Some(scopes.scope), scopes.noalias()))
    }

    /// Returns the scopes that a call leaves alone: those of which no source may
    /// alias what it touches.
    pub(crate) fn call_scopes(&self, oracle: &Oracle, touched: &[Access]) -> Names<'_> {
        let mut alone = vec![true; self.inner.scope_names().len()];
        for source in self.inner.sources() {
            let Some(scopes) = self.inner.scopes_of(source) else { continue };
            let alone = &mut alone[scopes.scope as usize];
            let tag = source.tag.and_then(|tag| oracle.graph().tag_at(tag.index()));
            let mut here = Access::from(tag);
            here.size = source.size;
            *alone = *alone && !touched.iter().any(|&of| oracle.inner.may_alias(here, of));
        }
        self.names(None, (0..).zip(alone).filter(|&(_, alone)| alone).map(|(scope, _)| scope))
    }
}

/// Makes a lowering of no tags. Options of NULL are as all zero. Free it with
/// `tbaa_lowered_free`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_lowered_new(
    options: Option<&LowerOptions>,
    lowered: Option<&mut MaybeUninit<Box<Lowered>>>,
) -> Status {
    made(lowered, || {
        let mut made = Options::new();
        if let Some(options) = options {
            let lineage = options.lineage.text()?;
            if !lineage.is_empty() {
                made = made.lineage(lineage);
            }
            if options.depth != 0 {
                made = made.depth(usize::try_from(options.depth).unwrap_or(usize::MAX));
            }
            let all = [ScopeForm::None, ScopeForm::Lost, ScopeForm::All];
            made = made.scopes(constant(&all, options.scopes, "tbaa_scope_form")?);
            if options.size_aware {
                made = made.format(Format::New);
            }
        }
        Ok(Box::new(Lowered { inner: Lowering::new(made), given: Given::new() }))
    })
}

/// Frees a lowering. NULL is no error.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_lowered_free(lowered: Option<Box<Lowered>>) {
    free(lowered);
}

/// Lowers accesses by the rule of an oracle, which must be the same each time: a
/// context's own, or one snapshot. The lowered tags are for the tags of all.
/// The first call lowers its sources together and best: give it all that are
/// known. Later calls, of a lowering with a lineage, find places for more and
/// change no tag that was given out. What is there already is passed over. On
/// an error nothing is added.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tbaa_lower(
    lowered: Option<&mut Lowered>,
    oracle: Option<&Oracle>,
    sources: *const LowerSource,
    count: usize,
) -> Status {
    status(|| {
        let (lowered, oracle) = (given(lowered, "the lowering")?, given(oracle, "the oracle")?);
        // SAFETY: the caller promises `count` sources.
        let sources = unsafe { slice(sources, count, "sources") }?;
        let given = |source: &LowerSource| Some((source.tag.id, oracle.tag(source.tag)?));
        let given: Vec<_> = sources.iter().filter_map(given).collect();
        let source = |source: &LowerSource| {
            let mut made = Source::from((oracle.known_tag(source.tag)?, source.weight));
            made.size = (source.size != 0).then_some(source.size);
            Ok(made)
        };
        let sources: Vec<Source> = sources.iter().map(source).collect::<Result<_, Error>>()?;
        lowered.inner.lower(&oracle.inner, sources).or_status(Status::Build)?;
        lowered.given.extend(given);
        Ok(())
    })
}

/// Gives the number of pairs of lowered accesses that the rule tells apart, and
/// of those among them that LLVM does not: `lost` of `told_apart`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_lowered_loss(
    lowered: Option<&Lowered>,
    told_apart: Option<&mut MaybeUninit<u64>>,
    lost: Option<&mut MaybeUninit<u64>>,
) -> Status {
    status(|| {
        let loss = given(lowered, "the lowering")?.inner.lost();
        let lost = given(lost, "the place of the result")?;
        write(told_apart, || Ok(loss.no_alias))?;
        lost.write(loss.pairs);
        Ok(())
    })
}

/// Writes the lowered metadata as text, as `tbaa_dump` does a program's.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_lowered_dump(
    lowered: Option<&Lowered>,
    format: u32,
    text: Option<&mut MaybeUninit<Text>>,
) -> Status {
    made(text, || dumped(given(lowered, "the lowering")?.graph(), format))
}

/// Answers of a rule as `!alias.scope` and `!noalias`, exact pair by pair.
pub struct AliasScopes {
    inner: Scopes,
    given: Given,
}

impl AliasScopes {
    /// Returns the scopes of an access as large as its tag says.
    pub(crate) fn access(&self, tag: Tag) -> Option<Names<'_>> {
        self.inner.of(*self.given.get(&tag.id)?).map(Names::from)
    }

    /// Returns the scopes that a call leaves alone.
    pub(crate) fn call(&self, oracle: &Oracle, touched: &[TagId]) -> Names<'_> {
        self.inner.of_call(&oracle.inner, touched).into()
    }
}

/// Makes scopes of an oracle's answers on some tags: accesses as large as their
/// tags say. It takes time and memory in proportion to the number of pairs.
///
/// Accesses may be emitted with any oracle of the context; calls get scopes with
/// this one only.
///
/// `domain` names the program to LLVM: modules that may be linked or inlined
/// into each other share it only if their tags are of one context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tbaa_scopes_new(
    oracle: Option<&Oracle>,
    domain: Str,
    tags: *const Tag,
    count: usize,
    scopes: Option<&mut MaybeUninit<Box<AliasScopes>>>,
) -> Status {
    made(scopes, || {
        let oracle = given(oracle, "the oracle")?;
        // SAFETY: the caller promises `count` tags.
        let tags = unsafe { slice(tags, count, "tags") }?;
        let known = tags.iter().map(|&tag| oracle.known_tag(tag));
        let known: Vec<TagId> = known.collect::<Result<_, Error>>()?;
        let inner = Scopes::new(domain.text()?, &oracle.inner, &known, None);
        let given = tags.iter().map(|tag| tag.id).zip(known).collect();
        Ok(Box::new(AliasScopes { inner, given }))
    })
}

/// Frees scopes. NULL is no error.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_scopes_free(scopes: Option<Box<AliasScopes>>) {
    free(scopes);
}

/// Scopes by name.
pub(crate) struct Names<'a> {
    pub(crate) domain: Cow<'a, str>,
    pub(crate) own: Vec<&'a str>,
    pub(crate) noalias: Vec<&'a str>,
}

impl<'a> From<ScopeNames<'a>> for Names<'a> {
    fn from(names: ScopeNames<'a>) -> Self {
        let ScopeNames { domain, own, noalias, .. } = names;
        Names { domain: Cow::Borrowed(domain), own, noalias }
    }
}
