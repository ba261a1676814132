//! Writes LLVM constants from which the runtime learns a module's accesses (sites) and tags.

use std::{borrow::Cow, collections::BTreeSet, fmt::Write};

use super::layout::{NO_TAG, VERSION, WARNS};
use super::{Check, Direction, Form, inline};
use tbaa::parts::table::IndexMap;
use tbaa_ir::{Location, Module, write};
use tbaa_lex::source::escape;

/// The table of accesses, numbered from 0.
///
/// Each access has two 32-bit words. The first is the index of its tag in the graph (for an
/// untagged access, the number of tags), with the bit [`WARNS`] if the access may cause a warning.
/// The second is twice its size in bytes (0 if the size is unknown until run time or is 2 GiB or
/// more), plus 1 for a write. In `places`, each access has six words.
#[derive(Default)]
pub(super) struct Table {
    words: String,
    /// For reports: offsets into the strings (of names and descriptions), the line and the column.
    places: String,
    pub(super) count: u32,
    strings: IndexMap<Vec<u8>, u32>,
    /// The size of all strings in bytes, including the zero byte after each string.
    strings_len: u32,
    /// The number of checks and runtime calls in the module's functions.
    pub(super) calls: u32,
    /// Each kind of check for which the module needs a function.
    pub(super) checks: BTreeSet<Check>,
    /// Each size, in bytes, for which the module needs a function that clears shadow memory.
    pub(super) clears: BTreeSet<u64>,
    /// Each number N of pointers for which the module needs a function `__tbaa_witness.outN`.
    pub(super) out: BTreeSet<usize>,
}

pub(super) struct Site<'t> {
    pub(super) tag: usize,
    /// True if the access may cause a warning: see [`WARNS`].
    pub(super) warns: bool,
    pub(super) size: u64,
    pub(super) direction: Direction,
    pub(super) function: &'t [u8],
    pub(super) place: Option<Location>,
    /// A description of the access, such as `store i32, ptr %p`.
    pub(super) what: String,
    /// The typedef name of a base type that has no name itself; empty for other types.
    pub(super) base: String,
}

impl Table {
    pub(super) fn add(&mut self, site: &Site<'_>) -> u32 {
        let (file, line, column) =
            site.place.as_ref().map_or(("", 0, 0), |place| (&place.file, place.line, place.column));
        let size = u32::try_from(site.size).ok().and_then(|size| size.checked_mul(2)).unwrap_or(0);
        let size = size | u32::from(site.direction == Direction::Write);
        let tag = site.tag as u32 | if site.warns { WARNS } else { 0 };
        let function = self.string(site.function);
        let file = self.string(file.as_bytes());
        let what = self.string(site.what.as_bytes());
        let base = self.string(site.base.as_bytes());
        let places = [function, file, line, column, what, base];
        for (out, words) in [(&mut self.words, &[tag, size][..]), (&mut self.places, &places)] {
            for word in words {
                let comma = if out.is_empty() { "" } else { ", " };
                let _ = write!(out, "{comma}i32 {word}");
            }
        }
        self.count += 1;
        self.count - 1
    }

    fn string(&mut self, string: &[u8]) -> u32 {
        if let Some(&at) = self.strings.get(string) {
            return at;
        }
        let at = self.strings_len;
        self.strings_len += string.len() as u32 + 1;
        self.strings.insert(string.to_owned(), at);
        at
    }

    /// Returns the text to add to the module: globals, functions, and the runtime's declarations.
    pub(super) fn write(
        &self,
        module: &Module<'_>,
        form: Form,
        tag: &str,
        has_constants: bool,
    ) -> String {
        let mut graph = Cow::Borrowed(module.graph());
        if has_constants {
            // Untagged accesses get a new last tag, under its own root.
            let mut builder = graph.to_mut().builder();
            let root = builder.root(NO_TAG);
            let tagged = root.and_then(|root| {
                let ty = builder.scalar_type(NO_TAG, root)?;
                builder.struct_tag(ty, ty, 0)
            });
            debug_assert!(tagged.is_ok());
        }
        let tags = write(&graph);
        let mut strings = Vec::with_capacity(self.strings_len as usize);
        for string in self.strings.keys() {
            strings.extend_from_slice(string);
            strings.push(0);
        }
        let (mut out, n) = (String::new(), self.count);
        out += &format!(
            "\n@__tbaa_witness.module = internal global {{ i64, i32, i32, i32, ptr, ptr, ptr, ptr, i64, ptr }} \
             {{ i64 0, i32 {VERSION}, i32 {n}, i32 {}, ptr @__tbaa_witness.sites, \
             ptr @__tbaa_witness.places, ptr @__tbaa_witness.strings, ptr @__tbaa_witness.tags, i64 {}, ptr @__tbaa_witness.rows }}\n\
             @__tbaa_witness.sites = internal constant [{} x i32] [{}]\n\
             @__tbaa_witness.places = internal constant [{} x i32] [{}]\n",
            self.strings_len,
            tags.len(),
            u64::from(n) * 2,
            self.words,
            u64::from(n) * 6,
            self.places,
        );
        for (name, bytes) in [("strings", &strings[..]), ("tags", tags.as_bytes())] {
            let len = bytes.len();
            let _ = write!(out, "@__tbaa_witness.{name} = internal constant [{len} x i8] c\"");
            escape(bytes, &mut out);
            out.push_str("\"\n");
        }
        inline::write(n, form, &self.checks, tag, &mut out);
        self.clears.iter().for_each(|&size| inline::clear(size, tag, &mut out));
        self.out.iter().for_each(|&pointers| inline::out(pointers, tag, &mut out));
        for (name, parameters) in RUNTIME {
            out += &format!("declare void @__tbaa_witness_{name}({parameters}) ");
            out += "nounwind nonlazybind\n";
        }
        out
    }
}

/// The runtime functions that a module may call. Calls of all but `printed` have a tag if the
/// module has a root. This tag aliases no access of the program, so that LLVM may move accesses.
const RUNTIME: &[(&str, &str)] = &[
    ("check", "ptr nocapture, i32, ptr nocapture"),
    ("access", "ptr nocapture, i64, i32, ptr nocapture"),
    ("masked", "ptr nocapture, i64, i64, i32, ptr nocapture"),
    ("masked_clear", "ptr nocapture, i64, i64"),
    ("clear", "ptr nocapture, i64"),
    ("printed", "ptr nocapture, i64"),
    ("unwound", "i32"),
    ("barrier", ""),
    ("out", "ptr nocapture, ptr nocapture, i64"),
    ("allocated", "ptr nocapture, i64"),
    ("released", "ptr nocapture"),
];
