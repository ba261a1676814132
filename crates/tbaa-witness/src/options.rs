//! Reads the options in the environment variable `TBAA_WITNESS`.

use std::ffi::CStr;
use std::sync::OnceLock;

use tbaa::AliasRule;

use crate::own::variable;

/// The options, written as `name=value` and separated by `:`.
#[derive(Default)]
pub(crate) struct Options {
    /// The alias rule that judges accesses: `rules=llvm`, `union` or `union-strict`.
    pub(crate) rules: AliasRule,
    /// `exitcode=N`: the exit status after a contradiction. 0 leaves the program's status.
    pub(crate) exitcode: i32,
    /// `halt=1`: the program ends after the first contradiction.
    pub(crate) halt: bool,
    /// `reuse=1`: a write over bytes that were read earlier is checked too.
    pub(crate) reuse: bool,
    /// `report_stores=1`: a write over bytes that were written earlier is checked too.
    pub(crate) report_stores: bool,
    /// `log_path=FILE`: reports are written to `FILE.PID`.
    pub(crate) log_path: Option<String>,
    /// `all=1`: every contradiction is written, not only the first of each [kind](crate::kinds).
    pub(crate) all: bool,
    /// `calls=1`: calls of functions whose effects are unknown are listed even without reports.
    pub(crate) calls: bool,
    /// `json=FILE`, `sarif=FILE`: files for the summary. `%p` in FILE stands for the process id.
    pub(crate) json: Option<String>,
    pub(crate) sarif: Option<String>,
    /// `harmless=FILE`: patterns of functions that are assumed to write nothing, one per line.
    pub(crate) harmless: Vec<String>,
    /// `repro=FOLDER`: programs that repeat the accesses of reports are written there.
    pub(crate) repro: Option<String>,
    /// `suppressions=FILE`: each line selects reports that are neither written nor counted.
    pub(crate) suppressions: Vec<Suppression>,
}

/// A line of the suppressions file: `fun:NAME` or `src:FILE`. In both, `*` matches any text.
pub(crate) enum Suppression {
    Function(String),
    Source(String),
}

pub(crate) fn options() -> &'static Options {
    static OPTIONS: OnceLock<Options> = OnceLock::new();
    OPTIONS.get_or_init(|| read(&text()))
}

/// Returns the text of the options. It is empty if the program has more rights than its user,
/// because options name files to write.
fn text() -> String {
    // SAFETY: the name ends with a zero byte, and so does the text. Nothing changes it meanwhile.
    unsafe {
        let text = variable(c"TBAA_WITNESS".as_ptr());
        if text.is_null() || libc::getauxval(libc::AT_SECURE) != 0 {
            return String::new();
        }
        CStr::from_ptr(text).to_string_lossy().into_owned()
    }
}

fn read(text: &str) -> Options {
    let mut options = Options { rules: AliasRule::Llvm, exitcode: 66, ..Options::default() };
    for part in text.split(':').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or((part, "1"));
        let flag = || match value {
            "0" | "1" => Some(value == "1"),
            _ => None,
        };
        let file = |into: &mut Option<String>| {
            *into = Some(value.to_owned());
            Some(())
        };
        let set = match name {
            "rules" => value.parse().map(|rules| options.rules = rules).ok(),
            "exitcode" => value.parse().map(|code: u8| options.exitcode = code.into()).ok(),
            "halt" => flag().map(|flag| options.halt = flag),
            "reuse" => flag().map(|flag| options.reuse = flag),
            "report_stores" => flag().map(|flag| options.report_stores = flag),
            "all" => flag().map(|flag| options.all = flag),
            "calls" => flag().map(|flag| options.calls = flag),
            "log_path" => file(&mut options.log_path),
            "json" => file(&mut options.json),
            "sarif" => file(&mut options.sarif),
            "repro" => file(&mut options.repro),
            "harmless" => lines(value).map(|list| options.harmless = list),
            "suppressions" => suppressions(value).map(|list| options.suppressions = list),
            _ => None,
        };
        if set.is_none() {
            eprintln!(
                "tbaa-witness: TBAA_WITNESS has {part:?}, which is none of rules=llvm|union|union-strict, \
                 exitcode=N (0 to 255), halt=0|1, reuse=0|1, report_stores=0|1, all=0|1, calls=0|1, log_path=FILE, \
                 json=FILE, sarif=FILE, repro=FOLDER, harmless=FILE (readable, of names), suppressions=FILE (readable, \
                 of lines fun:NAME or src:FILE); it is left out"
            );
        }
    }
    options
}

/// Returns a file's lines, except those that are empty or begin with `#`; `None` if unreadable.
fn lines(file: &str) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(file).ok()?;
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    Some(lines.map(str::to_owned).collect())
}

fn suppressions(file: &str) -> Option<Vec<Suppression>> {
    let of_line = |line: String| match line.split_once(':')? {
        ("fun", pattern) => Some(Suppression::Function(pattern.to_owned())),
        ("src", pattern) => Some(Suppression::Source(pattern.to_owned())),
        _ => None,
    };
    lines(file)?.into_iter().map(of_line).collect()
}

impl Suppression {
    pub(crate) fn matches(&self, function: &str, file: &str) -> bool {
        match self {
            Suppression::Function(pattern) => glob(pattern, function),
            Suppression::Source(pattern) => glob(pattern, file),
        }
    }
}

/// Returns whether `text` equals the pattern, in which each `*` matches any text.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}
