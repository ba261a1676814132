//! The options of a JIT.

use crate::{AccessClasses, Options};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

/// The metadata that LLVM gets for the accesses of a [`Jit`](super::Jit).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum TagForm {
    /// Lowered tags. They separate all pairs except those that
    /// [`Lowering::lost`](crate::Lowering::lost) counts.
    #[default]
    Lowered,
    /// Lowered tags, and scopes for all pairs: a call that touches several places gets scopes too.
    /// Lists grow with the number of places.
    LoweredScopes,
    /// Scopes of all pairs, and no tags.
    Scopes,
    /// Lowered tags, and in addition the exact relation, as [`AccessClasses`]. LLVM 22 uses it if
    /// its passes run with the crate `tbaa-plugin` (`run_passes` of `tbaa-inkwell`); otherwise it
    /// has no effect.
    ///
    /// NB: LLVM puts the classes of a call on all accesses of an inlined callee.
    /// [`Jit::call`](super::Jit::call) must name everything that the callee and its own callees
    /// touch.
    Classes,
    /// The tags that clang would attach, without lowering: an access through a union may alias
    /// everything.
    Clang,
}

/// The options of a [`Jit`](super::Jit).
///
/// ```
/// use tbaa_lower::emit::{JitOptions, TagForm};
///
/// let options = JitOptions::new().lineage("build 42").form(TagForm::LoweredScopes);
/// # let _ = options;
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JitOptions {
    pub(super) lineage: Option<String>,
    pub(super) form: TagForm,
    pub(super) shared: Vec<String>,
    /// The number of times that the JIT was loaded: each time its classes get another domain.
    pub(super) loaded: u32,
}

impl JitOptions {
    /// Returns the usual: a lineage that no other process has, lowered tags, and no
    /// records that are shared with C.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the lineage, for code that is the same in each build. NB: the name is the promise of
    /// [`Options::lineage`]: no other JIT has it, in any process whose code may be linked with this
    /// code.
    #[must_use]
    pub fn lineage(self, name: impl Into<String>) -> Self {
        JitOptions { lineage: Some(name.into()), ..self }
    }

    /// Sets what accesses get.
    #[must_use]
    pub fn form(self, form: TagForm) -> Self {
        JitOptions { form, ..self }
    }

    /// Names records that C code accesses under clang's own tags, in modules that are linked with
    /// the JIT's; the records inside them are shared too. The tags are then under clang's root.
    /// Check each such module with [`Jit::check_linked`](super::Jit::check_linked).
    #[must_use]
    pub fn shared(self, records: impl IntoIterator<Item = impl Into<String>>) -> Self {
        JitOptions { shared: records.into_iter().map(Into::into).collect(), ..self }
    }
}

impl JitOptions {
    /// Returns the options of the lowering.
    pub(super) fn lowering(&self) -> Options {
        let options = Options::new().lineage(self.lineage_name());
        match self.form {
            TagForm::LoweredScopes | TagForm::Scopes => options.scopes(),
            _ => options,
        }
    }

    /// Returns no classes, which are to grow.
    pub(super) fn no_classes(&self) -> Option<AccessClasses> {
        let domain = || format!("{}:{}", self.lineage_name(), self.loaded);
        (self.form == TagForm::Classes).then(|| AccessClasses::new(&domain()))
    }

    /// Returns whether no tags are attached.
    pub(super) fn scopes_alone(&self) -> bool {
        self.form == TagForm::Scopes
    }

    fn lineage_name(&self) -> String {
        self.lineage.clone().unwrap_or_else(unique_lineage)
    }
}

/// A name that no other lineage has, in this process or another.
fn unique_lineage() -> String {
    // Keys that the system's random numbers made, and that differ from call to call.
    let random = RandomState::new().build_hasher().finish();
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("jit {} {time:x} {random:x}", std::process::id())
}
