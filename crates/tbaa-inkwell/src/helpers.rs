//! Tags for runtime helpers: functions that clang compiled, and that the JIT's code calls.

use inkwell::module::Module;
use inkwell::values::{InstructionOpcode, InstructionValue};
use tbaa::declare::DeclareError;
use tbaa::{CopyEntry, GraphError, TagId};
use tbaa_lower::emit::{Jit, JitError};

use crate::tagger::remove;
use crate::{AttachError, Attached, ModuleTags, Tagger};

/// The accesses of a module of runtime helpers, with their tags under the JIT's declarations. clang
/// compiled the helpers, and the JIT links them in.
///
/// clang's tags have another root than the JIT's tags, so LLVM would assume that each store of a
/// helper may change all of the JIT's memory. [`Helpers::read`] finds the JIT's tag for each access
/// of a helper, and [`Helpers::attach`] replaces clang's tag by it. Read the helpers before you
/// call [`Jit::places`], so that the JIT computes all tags together.
///
/// clang tags union members in helpers as `char`, which may alias everything.
#[derive(Debug)]
pub struct Helpers<'ctx> {
    accesses: Vec<(InstructionValue<'ctx>, Option<TagId>)>,
    copies: Vec<(InstructionValue<'ctx>, Option<Vec<CopyEntry>>)>,
    kinds: [u32; 2],
}

/// The reason why helpers cannot be read or tagged.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HelperError {
    /// The module's own metadata nodes do not fit into a graph.
    #[error(transparent)]
    Graph(GraphError),
    /// The JIT cannot make the tags, for example because the types of a member differ.
    #[error("helpers: {0}")]
    Jit(#[from] JitError),
    /// A tag cannot be attached.
    #[error(transparent)]
    Attach(#[from] AttachError),
}

/// Checks helpers that keep clang's tags. Returns an error if these tags are not the ones that
/// [`JitOptions::shared`](tbaa_lower::emit::JitOptions::shared) assumes. Call it before linking.
///
/// # Errors
///
/// [`HelperError::Jit`], as [`Jit::check_linked`]; [`HelperError::Graph`].
pub fn check_shared(module: &Module<'_>, jit: &Jit) -> Result<(), HelperError> {
    let theirs = ModuleTags::read(module).map_err(HelperError::Graph)?;
    Ok(jit.check_linked(&theirs.graph)?)
}

impl<'ctx> Helpers<'ctx> {
    /// Finds the JIT's tag for each access and copy of a module.
    ///
    /// # Errors
    ///
    /// [`HelperError::Jit`] if a member of a declared record has another type in the helpers;
    /// [`HelperError::Graph`] if the module has more nodes than a graph can hold.
    pub fn read(module: &Module<'ctx>, jit: &mut Jit) -> Result<Self, HelperError> {
        let context = module.get_context();
        let kinds = ["tbaa", "tbaa.struct"].map(|kind| context.get_kind_id(kind));
        let theirs = ModuleTags::read(module).map_err(HelperError::Graph)?;
        // Translate each tag once: a helper has many accesses and few tags.
        let ours = jit.adopt(&theirs.graph)?;
        let of = |tag: TagId| ours.get(tag.index()).copied().flatten();
        let accesses =
            theirs.accesses.into_iter().map(|access| (access.instruction, of(access.id))).collect();
        let entry = |entry: CopyEntry| Some(CopyEntry { tag: of(entry.tag)?, ..entry });
        let copies = theirs.copies.into_iter().map(|Attached { instruction, id }| {
            let entries = theirs.graph.copy(id).unwrap_or_default();
            let entries: Option<Vec<_>> = entries.into_iter().map(entry).collect();
            (instruction, entries.filter(|entries| !entries.is_empty()))
        });
        Ok(Helpers { accesses, copies: copies.collect(), kinds })
    }

    /// Replaces clang's tags by the JIT's tags and scopes. If the JIT has no tag for an access,
    /// clang's tag is only removed. Returns the number of accesses for which the JIT has a tag or
    /// scopes, and the number of other accesses. Copies (`!tbaa.struct`) are not counted.
    ///
    /// Tags that the `tagger` omits, to find a wrong one, count too. clang's are always removed.
    ///
    /// # Errors
    ///
    /// [`HelperError`]; instructions up to the failing one may then be changed already.
    pub fn attach(&self, tagger: &Tagger, jit: &mut Jit) -> Result<(usize, usize), HelperError> {
        let (mut with, mut without) = (0, 0);
        for (instruction, tag) in &self.accesses {
            remove(*instruction, self.kinds[0]);
            let tagged = tag.map(|tag| jit.access(tag)).transpose()?.unwrap_or_default();
            let nodes = match instruction.get_opcode() {
                InstructionOpcode::Load => &tagged.access,
                _ => &tagged.call,
            };
            let any = nodes.tag.as_ref().or(nodes.alias_scope.as_ref()).is_some();
            *(if any { &mut with } else { &mut without }) += 1;
            tagger.attach_recorded(nodes, *instruction)?;
        }
        for (instruction, entries) in &self.copies {
            remove(*instruction, self.kinds[1]);
            let Some(entries) = entries else { continue };
            match jit.copy(entries) {
                Ok(nodes) => tagger.attach_recorded(&nodes, *instruction)?,
                // The entries are not valid, for example because they overlap: attach nothing.
                Err(JitError::Declare(DeclareError::Build(_))) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok((with, without))
    }
}
