//! What a JIT is to do beside the usual.

use crate::{Classes, Options, ScopeForm};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

/// What a [`Jit`](super::Jit) is to do beside the usual.
///
/// ```
/// use tbaa_lower::ScopeForm;
/// use tbaa_lower::emit::JitOptions;
///
/// let options = JitOptions::new().lineage("build 42").scopes(ScopeForm::Lost);
/// # let _ = options;
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JitOptions {
    pub(super) lineage: Option<String>,
    pub(super) scopes: ScopeForm,
    pub(super) alone: bool,
    pub(super) shared: Vec<String>,
    pub(super) clang: bool,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(super) classes: bool,
    /// How often the JIT was loaded: each time its classes get another domain.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(super) loaded: u32,
}

impl JitOptions {
    /// Returns the usual: a lineage that no other process has, no scopes, and no
    /// records that are shared with C.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the lineage, for code that is the same in each build. NB: the name is
    /// a promise, that of [`Options::lineage`]: no other JIT has it, in any process
    /// whose code may be linked with this one's.
    #[must_use]
    pub fn lineage(self, name: impl Into<String>) -> Self {
        JitOptions { lineage: Some(name.into()), ..self }
    }

    /// Adds scopes beside the tags: see [`ScopeForm`].
    #[must_use]
    pub fn scopes(self, scopes: ScopeForm) -> Self {
        JitOptions { scopes, classes: false, ..self }
    }

    /// Leaves the tags off: scopes of all pairs are all that is attached.
    #[must_use]
    pub fn scopes_alone(self) -> Self {
        JitOptions { alone: true, ..self.scopes(ScopeForm::All) }
    }

    /// Adds the exact relation beside the tags, as [`Classes`](crate::Classes), in place of
    /// scopes of another form. LLVM 22 asks it where its passes are run with the crate
    /// `tbaa-plugin` (`run_passes` of `tbaa-inkwell`); elsewhere it is of no effect.
    ///
    /// NB: LLVM puts the classes of a call on all accesses of a callee that it inlines.
    /// [`Jit::call`](super::Jit::call) must name all that the callee and its own callees
    /// touch.
    #[must_use]
    pub fn classes(self) -> Self {
        JitOptions { classes: true, alone: false, scopes: ScopeForm::None, ..self }
    }

    /// Names records that C code accesses by clang's own tags, in modules that are
    /// linked with the JIT's; what is inside these records is shared with them.
    /// The tags then stand under clang's root. Look at each such module with
    /// [`Jit::check_linked`](super::Jit::check_linked).
    #[must_use]
    pub fn shared(self, records: impl IntoIterator<Item = impl Into<String>>) -> Self {
        JitOptions { shared: records.into_iter().map(Into::into).collect(), ..self }
    }

    /// Attaches the tags that clang would, without lowering: an access through a
    /// union then may alias everything.
    #[must_use]
    pub fn as_clang(self) -> Self {
        JitOptions { clang: true, ..self }
    }
}

impl JitOptions {
    /// Returns the options of the lowering.
    pub(super) fn lowering(&self) -> Options {
        Options::new().lineage(self.lineage_name()).scopes(self.scopes)
    }

    /// Returns no classes, which are to grow.
    pub(super) fn no_classes(&self) -> Option<Classes> {
        self.classes.then(|| Classes::new(&format!("{}:{}", self.lineage_name(), self.loaded)))
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
