//! Runtime helpers that clang compiled.

use inkwell::llvm_sys::core::LLVMSetMetadata;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, InstructionValue};
use std::ptr;
use tbaa::declare::{DeclareError, TaggedTypes};
use tbaa::{CopyEntry, CopyId, Graph, GraphError, TagId};
use tbaa_lower::emit::Plan;

use crate::{AttachError, ModuleTags, Tagger};

/// The accesses of a module of helpers, which clang compiled and a JIT links
/// in, by the JIT's own tags.
///
/// clang's tags are under clang's root, and the JIT's lowered ones under
/// another: LLVM would take each access of a helper for one that may change
/// anything of the JIT's. [`Helpers::read`] finds for each access of a helper
/// the tag under the JIT's declarations, and [`Helpers::attach`] puts in its
/// place what the JIT attaches to such an access. Between the two the tags may
/// be lowered with the JIT's own: [`Helpers::tags`].
///
/// A helper's union members are what clang makes of them, `char`, which may
/// alias everything.
#[derive(Debug)]
pub struct Helpers<'ctx> {
    accesses: Vec<(InstructionValue<'ctx>, Option<TagId>)>,
    copies: Vec<(InstructionValue<'ctx>, Option<CopyId>)>,
    kinds: [u32; 2],
}

/// Why helpers cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HelperError {
    /// The module's own nodes do not fit into a graph.
    Graph(GraphError),
    /// The tags cannot be made.
    Declare(DeclareError),
}

impl std::fmt::Display for HelperError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HelperError::Graph(error) => error.fmt(f),
            HelperError::Declare(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for HelperError {}

impl From<DeclareError> for HelperError {
    fn from(error: DeclareError) -> Self {
        HelperError::Declare(error)
    }
}

impl<'ctx> Helpers<'ctx> {
    /// Finds the tags of a module's accesses under `types`, in `graph`.
    ///
    /// # Errors
    ///
    /// [`HelperError`], where a graph is full.
    pub fn read(
        module: &Module<'ctx>,
        types: &mut TaggedTypes,
        graph: &mut Graph,
    ) -> Result<Self, HelperError> {
        let context = module.get_context();
        let kinds = ["tbaa", "tbaa.struct"].map(|kind| context.get_kind_id(kind));
        let theirs = ModuleTags::read(module).map_err(HelperError::Graph)?;
        // A helper has many accesses and few tags.
        let mut ours = Vec::with_capacity(theirs.graph.tag_count());
        for tag in theirs.graph.tags() {
            ours.push(types.adopt(graph, &theirs.graph, tag)?);
        }
        let access = |(instruction, tag): (InstructionValue<'ctx>, TagId)| {
            (instruction, ours.get(tag.index()).copied().flatten())
        };
        let accesses = theirs.accesses.into_iter().map(access).collect();
        let mut copies = Vec::new();
        for (instruction, copy) in theirs.copies {
            let entry = |entry: CopyEntry| {
                let tag = ours.get(entry.tag.index()).copied().flatten()?;
                Some(CopyEntry { tag, ..entry })
            };
            let entries = theirs.graph.copy(copy).unwrap_or_default().into_iter().map(entry);
            let entries: Option<Vec<_>> = entries.collect();
            // Overlapping entries, which clang has written, are left out.
            let copy = entries
                .filter(|entries| !entries.is_empty())
                .and_then(|entries| graph.builder().struct_copy(&entries).ok());
            copies.push((instruction, copy));
        }
        Ok(Helpers { accesses, copies, kinds })
    }

    /// Returns the tags that the helpers' accesses and copies have, each once,
    /// in the order in which they come. `graph` is that of [`Helpers::read`].
    #[must_use]
    pub fn tags(&self, graph: &Graph) -> Vec<TagId> {
        let mut seen = std::collections::HashSet::new();
        let copies = self.copies.iter().filter_map(|&(_, copy)| graph.copy(copy?));
        let copied = copies.flatten().map(|entry| entry.tag);
        let tags = self.accesses.iter().filter_map(|&(_, tag)| tag).chain(copied);
        tags.filter(|&tag| seen.insert(tag)).collect()
    }

    /// Puts the plan's tags and scopes in place of clang's. An access that no
    /// tag was found for goes without. `graph` is that of [`Helpers::read`].
    /// Returns how many accesses have a tag or
    /// scopes, and how many have none.
    ///
    /// A bisection leaves off these tags as it does all others; clang's own are
    /// gone in any case.
    ///
    /// # Errors
    ///
    /// [`AttachError`]; the instructions before are changed then.
    pub fn attach(
        &self,
        tagger: &mut Tagger<'ctx>,
        plan: &impl Plan,
        graph: &Graph,
    ) -> Result<(usize, usize), AttachError> {
        let remove = |instruction: &InstructionValue<'ctx>, kind| {
            // SAFETY: the instruction is alive; no node removes what there is.
            unsafe { LLVMSetMetadata(instruction.as_value_ref(), kind, ptr::null_mut()) };
        };
        let (mut with, mut without) = (0, 0);
        for (instruction, tag) in &self.accesses {
            remove(instruction, self.kinds[0]);
            let nodes = tagger.emitter().access(plan, *tag)?;
            let any = nodes.tag.or(nodes.alias_scope).is_some();
            *(if any { &mut with } else { &mut without }) += 1;
            tagger.attach_nodes(nodes, *instruction)?;
        }
        for (instruction, copy) in &self.copies {
            remove(instruction, self.kinds[1]);
            if let Some(copy) = *copy {
                tagger.attach_copy(plan, graph, copy, *instruction)?;
            }
        }
        Ok((with, without))
    }
}
