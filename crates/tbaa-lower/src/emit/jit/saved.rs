//! Saves and loads a JIT's types and tags, so that another process can continue with them.

use serde::{Deserialize, Serialize};

use super::{Jit, JitError, JitOptions, TagForm, Tagging, shared_tags};
use crate::{LoadError, Lowering, Saved};
use tbaa::declare::Policy;
use tbaa::spec::{Spec, write_all_declarations};
use tbaa::{AliasRule, Graph, Oracle, Session};

const VERSION: u32 = 2;

/// The stored form of a JIT: its declared types, its tags, and the name of its lineage (JITs
/// whose code may be linked). [`Jit::save`] makes it, and [`Jit::load`] reads it.
#[derive(Serialize, Deserialize, Debug)]
#[serde(rename = "Jit", deny_unknown_fields)]
pub struct SavedJit<'j> {
    version: u32,
    options: JitOptions,
    /// The types, as the text of a spec.
    types: String,
    /// The lowered tags, or `None` if the tags are clang's.
    lowering: Option<Saved<'j>>,
}

/// The reason why a JIT cannot be saved or loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// Writing the types and reading them again would change them.
    #[error(
        "the declared types cannot be saved: a target that is no preset, or a type that no spec \
         can say; declare them again in the other process, and lower under a new lineage"
    )]
    Types,
    /// Another version of this library wrote the saved JIT.
    #[error("a saved JIT of version {0}, and this library reads {VERSION}: begin anew")]
    Version(u32),
    /// The saved JIT was changed or cut off.
    #[error("a saved JIT that is damaged ({0}): begin anew")]
    Damaged(String),
    /// The saved tags cannot be used.
    #[error(transparent)]
    Load(LoadError),
    /// The tags of the shared records cannot be made.
    #[error(transparent)]
    Jit(JitError),
}

impl Jit {
    /// Returns the types, tags and lineage, to be stored with `serde`. A process that loads them
    /// continues from this state: its code may be linked with the code stored before.
    ///
    /// NB: only one process at a time may continue a lineage. Store the code together with this
    /// state, and load both or neither. Two processes that continue from one state do not know each
    /// other's types.
    ///
    /// # Errors
    ///
    /// Returns [`SaveError::Types`] if the types cannot be saved.
    pub fn save(&self) -> Result<SavedJit<'_>, SaveError> {
        let text = |session: &Session| {
            write_all_declarations("jit", session.types(), session.tagged().policy())
        };
        let types = text(&self.session).ok_or(SaveError::Types)?;
        // Check that reading the types again does not change them.
        let again = Session::from_parts(
            read(&types).map_err(|_| SaveError::Types)?,
            Oracle::new(Graph::new(), AliasRule::Union),
        );
        if text(&again).as_ref() != Some(&types) {
            return Err(SaveError::Types);
        }
        let lowering = self.tagging.lowering.as_ref();
        Ok(SavedJit {
            version: VERSION,
            options: self.tagging.options.clone(),
            types,
            lowering: lowering.map(|lowering| lowering.save(self.session.oracle())),
        })
    }

    /// Loads a saved JIT. Request its places again by their paths: they get the same tags.
    /// [Access classes](TagForm::Classes) start afresh: they do not separate an access in stored
    /// code from one in new code.
    ///
    /// # Errors
    ///
    /// Returns a [`SaveError`] if the saved data is invalid.
    pub fn load(saved: SavedJit<'_>) -> Result<Jit, SaveError> {
        if saved.version != VERSION {
            return Err(SaveError::Version(saved.version));
        }
        let SavedJit { mut options, types, lowering, .. } = saved;
        let counted = options.loaded.checked_add(1);
        options.loaded = counted.ok_or_else(|| SaveError::Damaged("its number".to_owned()))?;
        let tagged = read(&types)?;
        let clang = options.form == TagForm::Clang;
        let policy = if clang { Policy::Clang } else { Policy::Rfc };
        if tagged.policy() != policy || lowering.is_some() == clang {
            return Err(SaveError::Damaged("its policy".to_owned()));
        }
        let Some(lowering) = lowering else {
            let types = tagged.types().clone();
            return Jit::with_options(types, options).map_err(SaveError::Jit);
        };
        let (lowering, graph) = Lowering::load(lowering).map_err(SaveError::Load)?;
        let theirs = match &options.shared[..] {
            [] => None,
            _ => {
                let made = shared_tags(tagged.types(), &mut Graph::new(), &options);
                Some(made.map_err(SaveError::Jit)?.0)
            }
        };
        let session = Session::from_parts(tagged, Oracle::new(graph, AliasRule::Union));
        Ok(Jit { session, tagging: Tagging::of(options, Some(lowering), theirs) })
    }
}

fn read(types: &str) -> Result<tbaa::declare::TaggedTypes, SaveError> {
    let damaged = |error: tbaa::spec::SpecError| SaveError::Damaged(error.message().to_owned());
    let built = Spec::load(types).map_err(damaged)?;
    let tagged = built.tagged().cloned();
    tagged.ok_or_else(|| SaveError::Damaged("it has no types".to_owned()))
}
