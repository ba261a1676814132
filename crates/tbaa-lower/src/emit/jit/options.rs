//! The options of a JIT.

use crate::{AccessClasses, Options};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

/// The kind of metadata that a [`Jit`](super::Jit) attaches to accesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum TagForm {
    /// Lowered tags, for stock LLVM. [`Lowering::lost`](crate::Lowering::lost) counts the pairs of
    /// accesses that do not alias but that LLVM does not separate.
    #[default]
    Lowered,
    /// Lowered tags and alias scopes ([`Options::scopes`]). A call that touches the memory of
    /// several paths gets scopes too. The lists of scopes grow with the number of paths.
    LoweredScopes,
    /// Alias scopes as with [`TagForm::LoweredScopes`], and no tags.
    Scopes,
    /// Lowered tags, and the exact alias relation as [`AccessClasses`]. LLVM 22 uses the relation
    /// if its passes run with the crate `tbaa-plugin` (`run_passes` of `tbaa-inkwell`); otherwise
    /// the relation has no effect.
    ///
    /// NB: LLVM puts the classes of a call on all accesses of an inlined callee. So
    /// [`Jit::call`](super::Jit::call) must list everything that the callee and its own callees
    /// touch.
    Classes,
    /// Clang's tags, unchanged. An access through a union may then alias everything.
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
    /// How often the JIT was saved and loaded. Each time, its access classes get a new domain.
    pub(super) loaded: u32,
}

impl JitOptions {
    /// Returns the defaults: a lineage that no other process has, lowered tags, and no records
    /// shared with C.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the lineage: this JIT, and the JITs that later continue from its saved state. The name
    /// is in the metadata, so with a fixed name, each build makes the same code. NB: as for
    /// [`Options::lineage`], no other JIT may have this name if the code of both may be linked.
    #[must_use]
    pub fn lineage(self, name: impl Into<String>) -> Self {
        JitOptions { lineage: Some(name.into()), ..self }
    }

    /// Sets the kind of metadata that accesses get.
    #[must_use]
    pub fn form(self, form: TagForm) -> Self {
        JitOptions { form, ..self }
    }

    /// Lists records that C code accesses with clang's own tags, in modules that are linked with
    /// the JIT's. Records nested in the listed records are shared too. The JIT's tags then use
    /// clang's root. Check each such module with [`Jit::check_linked`](super::Jit::check_linked).
    #[must_use]
    pub fn shared(self, records: impl IntoIterator<Item = impl Into<String>>) -> Self {
        JitOptions { shared: records.into_iter().map(Into::into).collect(), ..self }
    }
}

impl JitOptions {
    pub(super) fn lowering(&self) -> Options {
        let options = Options::new().lineage(self.lineage_name());
        match self.form {
            TagForm::LoweredScopes | TagForm::Scopes => options.scopes(),
            _ => options,
        }
    }

    /// Returns an empty list of classes, or `None` if this form has no classes.
    pub(super) fn no_classes(&self) -> Option<AccessClasses> {
        let domain = || format!("{}:{}", self.lineage_name(), self.loaded);
        (self.form == TagForm::Classes).then(|| AccessClasses::new(&domain()))
    }

    pub(super) fn scopes_alone(&self) -> bool {
        self.form == TagForm::Scopes
    }

    fn lineage_name(&self) -> String {
        self.lineage.clone().unwrap_or_else(unique_lineage)
    }
}

/// Returns a name that no other lineage has, in this process or another.
fn unique_lineage() -> String {
    // `RandomState` has random keys from the system, and they differ from call to call.
    let random = RandomState::new().build_hasher().finish();
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("jit {} {time:x} {random:x}", std::process::id())
}
