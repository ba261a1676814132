//! Finds the tag that breaks a program, by attaching only some tags in each run.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tbaa::parts::fnv;

/// Decides which tags are attached in a run, so that halving finds the tag that breaks a program.
///
/// There are two methods. If the compiler always attaches tags in the same order, attach the first
/// `n` tags, and halve the interval for `n` after each run. If the order differs between runs (many
/// threads, tiers chosen at run time), attach the tags whose hash ends in a binary pattern. The
/// hash is of a name that the caller gives to an attachment, such as the function's name and the
/// instruction's number in it.
///
/// ```
/// use tbaa_lower::emit::Bisect;
///
/// let mut bisect = Bisect::first(2);
/// let kept: Vec<_> = ["f 0", "f 1", "g 0"].map(|name| bisect.keep(name)).into();
/// assert_eq!(kept, [true, true, false]);
///
/// // Extending a pattern by `0` and by `1` splits the tags that it keeps.
/// let keeps = |pattern| Bisect::hash(pattern).unwrap().keep("f 0");
/// assert_eq!(keeps("1"), keeps("01") || keeps("11"));
/// ```
///
/// LLVM: `-opt-bisect-limit`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bisect {
    how: How,
    /// The number of the attachment that was last requested of this `Bisect`, or 0.
    last: u64,
    /// True if attachments requested of this `Bisect` are counted in `ASKED`.
    shared: bool,
}

/// The number of attachments that were requested of all `Bisect` values with `shared` set.
static ASKED: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, PartialEq, Eq, Debug)]
enum How {
    All,
    First(u64),
    /// Keep a tag if the lowest `bits` bits of its name's hash equal `value`.
    Hash {
        bits: u32,
        value: u64,
    },
}

/// A malformed setting.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{}: {setting:?} is no setting; give a number to attach the first so many tags, or `hash:` and \
     0 to 64 binary digits, as in `hash:0110`, to attach those whose hash ends so",
    Bisect::VARIABLE
)]
pub struct BisectError {
    setting: String,
}

impl Default for Bisect {
    fn default() -> Self {
        Self::all()
    }
}

impl Bisect {
    /// The environment variable that [`Bisect::from_env`] reads.
    pub const VARIABLE: &'static str = "TBAA_BISECT";

    /// Attaches every tag.
    #[must_use]
    pub fn all() -> Self {
        Bisect { how: How::All, last: 0, shared: false }
    }

    /// Attaches only the first `limit` tags.
    #[must_use]
    pub fn first(limit: u64) -> Self {
        Bisect { how: How::First(limit), last: 0, shared: false }
    }

    /// Attaches tags whose names hash to a number that ends in `pattern`, up to 64 binary digits.
    /// To attach fewer tags, add digits at the front of the pattern.
    ///
    /// # Errors
    ///
    /// Returns [`BisectError`] for any other text.
    pub fn hash(pattern: &str) -> Result<Self, BisectError> {
        let digits = pattern.bytes().all(|byte| matches!(byte, b'0' | b'1'));
        if pattern.len() > 64 || !digits {
            return Err(BisectError { setting: format!("hash:{pattern}") });
        }
        let value = pattern.bytes().fold(0, |value, byte| value << 1 | u64::from(byte == b'1'));
        let how = How::Hash { bits: pattern.len() as u32, value };
        Ok(Bisect { how, last: 0, shared: false })
    }

    /// Parses the environment variable `TBAA_BISECT`, such as `1200` or `hash:0110`. If it is
    /// unset or empty, every tag is attached. All values that this function returns in a process
    /// share one count, across contexts and threads.
    ///
    /// # Errors
    ///
    /// Returns [`BisectError`] for a malformed setting.
    pub fn from_env() -> Result<Self, BisectError> {
        let setting = std::env::var_os(Self::VARIABLE).unwrap_or_default();
        Ok(Bisect { shared: true, ..Self::parse(&setting.to_string_lossy())? })
    }

    /// Parses a setting in the form that [`Bisect::from_env`] reads.
    ///
    /// # Errors
    ///
    /// Returns [`BisectError`] for a malformed setting.
    pub fn parse(setting: &str) -> Result<Self, BisectError> {
        match setting.strip_prefix("hash:") {
            _ if setting.is_empty() => Ok(Self::all()),
            Some(pattern) => Self::hash(pattern),
            None => match setting.parse() {
                Ok(limit) => Ok(Self::first(limit)),
                Err(_) => Err(BisectError { setting: setting.to_owned() }),
            },
        }
    }

    /// Counts an attachment, and returns whether to make it. `name` is the attachment's name.
    pub fn keep(&mut self, name: impl AsRef<[u8]>) -> bool {
        let before = if self.shared { ASKED.fetch_add(1, Relaxed) } else { self.last };
        self.last = before.saturating_add(1);
        match self.how {
            How::All => true,
            How::First(limit) => self.last <= limit,
            How::Hash { bits, value } => {
                let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
                hash(name.as_ref()) & mask == value
            }
        }
    }

    /// Returns whether the decision depends on names. If not, the caller need not compute them.
    pub fn wants_names(&self) -> bool {
        matches!(self.how, How::Hash { .. })
    }

    /// Returns the number of requested attachments. [`Bisect::from_env`] values share one count.
    pub fn asked(&self) -> u64 {
        if self.shared { ASKED.load(Relaxed) } else { self.last }
    }

    /// Returns whether the attachment requested last is the last one within the limit. Its tag
    /// breaks the program if the program fails with this limit and works with the next lower one.
    pub fn is_at_limit(&self) -> bool {
        matches!(self.how, How::First(limit) if limit == self.last)
    }
}

/// Returns the same number on every machine: FNV-1a, with its bits mixed by the last step of
/// `SplitMix64` so that the lowest bits depend on all others.
fn hash(bytes: &[u8]) -> u64 {
    let hash = fnv(bytes);
    let mixed = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
