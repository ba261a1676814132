//! Reports: what two accesses did, and why their tags say that they cannot.

use std::collections::HashSet;
use std::ffi::CStr;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};

use tbaa::{Graph, Oracle, Rules};

use crate::blocks;
use crate::options::options;
use crate::reproduce::reproduce;
use crate::sites::{self, Described, Order, Registry, Site};

/// Pairs of sites that were reported or suppressed.
static SEEN: std::sync::Mutex<Option<HashSet<(Site, Site)>>> = std::sync::Mutex::new(None);
/// The last of them by their hash, to be found without a lock.
static RECENT: [AtomicU64; 1 << 12] = [const { AtomicU64::new(0) }; 1 << 12];
static REPORTS: AtomicU32 = AtomicU32::new(0);

/// Frames that a report shows.
const FRAMES: usize = 16;

/// Returns how many pairs were reported.
pub(crate) fn count() -> u32 {
    REPORTS.load(Relaxed)
}

/// Writes a line of this library's own.
pub(crate) fn say(line: &str) {
    put(&format!("tbaa-witness: {line}\n"));
}

/// Writes to standard error, or to the file that the options name.
fn put(text: &str) {
    if let Some(path) = &options().log_path {
        let file = format!("{path}.{}", std::process::id());
        let file = std::fs::OpenOptions::new().create(true).append(true).open(file);
        if file.is_ok_and(|mut file| file.write_all(text.as_bytes()).is_ok()) {
            return;
        }
    }
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        // SAFETY: the bytes are there. Not through the standard library, whose
        // lock a signal handler may find taken.
        let done = unsafe { libc::write(libc::STDERR_FILENO, rest.as_ptr().cast(), rest.len()) };
        let Ok(done @ 1..) = usize::try_from(done) else { return };
        rest = &rest[done..];
    }
}

/// Reports two accesses, once for each two sites.
#[cold]
pub(crate) fn report(order: Order, first: Site, second: Site, address: usize, bytes: usize) {
    let key = u64::from(first) << 32 | u64::from(second);
    let recent = &RECENT[(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize];
    if recent.swap(key, Relaxed) == key {
        return;
    }
    let Some(registry) = sites::lock() else { return };
    let Some(registry) = &*registry else { return };
    {
        let Ok(mut seen) = SEEN.try_lock() else { return };
        if !seen.get_or_insert_with(HashSet::new).insert((first, second)) {
            return;
        }
    }
    let (Some(a), Some(b)) = (registry.describe(first), registry.describe(second)) else { return };
    let suppressed = |it: &Described| {
        options().suppressions.iter().any(|rule| rule.matches(&it.function, &it.file))
    };
    if suppressed(&a) || suppressed(&b) {
        return;
    }
    let number = REPORTS.fetch_add(1, Relaxed) + 1;
    put(&text(number, order, [&a, &b], address, bytes, registry));
    if options().halt {
        // SAFETY: ends the process.
        unsafe { libc::_exit(if options().exitcode == 0 { 1 } else { options().exitcode }) };
    }
}

/// The text of a report.
fn text(
    number: u32,
    order: Order,
    [a, b]: [&Described; 2],
    address: usize,
    bytes: usize,
    registry: &Registry,
) -> String {
    let (first, second, happens, may) = match order {
        Order::WriteRead => (
            "write",
            "read",
            "a write, and a later read of what it wrote",
            "may let the read go first, and give it what was there before the write",
        ),
        Order::ReadWrite => (
            "read",
            "write",
            "a read, and a later write over what it read",
            "may let the write go first, and give the read what the write wrote",
        ),
        Order::WriteWrite => (
            "write",
            "write",
            "a write over another (C allows it; shown by report_stores=1)",
            "may swap the writes, and leave what the first wrote",
        ),
    };
    let mut out = String::new();
    let last = address.saturating_add(bytes.saturating_sub(1));
    let _ = writeln!(out, "tbaa-witness: contradiction {number}: {happens}");
    for (word, it) in [(first, a), (second, b)] {
        let _ = writeln!(out, "  {word:<6} {}", access(registry, it));
        let _ = writeln!(out, "         {} in {}{}", it.what, it.function, place(it));
    }
    let _ = writeln!(out, "  bytes  {address:#x} to {last:#x}: {}", blocks::owner(address));
    let rules = sites::rules_against(registry, a, b);
    let names: Vec<_> = rules.iter().map(ToString::to_string).collect();
    let _ = writeln!(out, "  rules  NoAlias by {}", names.join(", "));
    let (one, other) = (sites::access((a.tag, a.size)), sites::access((b.tag, b.size)));
    let graph = registry.oracle.graph();
    let own = options().rules;
    // Where the chosen rule says nothing, the first that does.
    let reason =
        Oracle::new(graph, rules.first().copied().filter(|_| !rules.contains(&own)).unwrap_or(own));
    let reason = reason.explain(one, other).to_string();
    for (at, line) in reason.lines().enumerate() {
        let _ = writeln!(out, "  {} {line}", if at == 0 { "reason" } else { "      " });
    }
    let llvm = rules.contains(&Rules::Llvm);
    let who = if llvm { "LLVM" } else { "a compiler by such a rule" };
    let _ = writeln!(out, "  so     {who} {may}");
    if let Some(folder) = &options().repro {
        let (write, read) = if order == Order::WriteRead { (a, b) } else { (b, a) };
        let written = llvm.then(|| repro(folder, number, graph, write, read));
        let what = written.unwrap_or_else(|| "none: LLVM itself keeps the two apart".to_owned());
        let _ = writeln!(out, "  repro  {what}");
    }
    out.push_str(&stack());
    out
}

/// Writes a program of two accesses, and says where it is.
fn repro(folder: &str, number: u32, graph: &Graph, write: &Described, read: &Described) -> String {
    let file = format!("{folder}/{}-{number}.ll", std::process::id());
    let program = reproduce(graph, (write.tag, write.size), (read.tag, read.size));
    match std::fs::write(&file, program) {
        Ok(()) => file,
        Err(error) => format!("none: cannot write {file}: {error}"),
    }
}

/// What a tag says, with its number of bytes.
fn access(registry: &Registry, it: &Described) -> String {
    let graph = registry.oracle.graph();
    let Ok(tag) = graph.tag(it.tag) else { return "a malformed tag".to_owned() };
    let name = |ty| match graph.ty(ty).name() {
        Some(name) => format!("\"{}\"", String::from_utf8_lossy(name)),
        None => "a type without a name".to_owned(),
    };
    let mut text = match it.size {
        0 => String::new(),
        1 => "1 byte as ".to_owned(),
        size => format!("{size} bytes as "),
    };
    text.push_str(&name(tag.access));
    if tag.base != tag.access {
        let _ = write!(text, " at {} of {}", tag.offset, name(tag.base));
    }
    text
}

fn place(it: &Described) -> String {
    match (&it.file[..], it.line) {
        ("", 0) => String::new(),
        (file, line) => format!(", {file}:{line}:{}", it.column),
    }
}

unsafe extern "C" {
    /// Of the library that unwinds: the start of the function that has an
    /// address of code.
    fn _Unwind_FindEnclosingFunction(address: *const libc::c_void) -> *const libc::c_void;
}

/// The frames of the second access.
fn stack() -> String {
    let mut frames = [std::ptr::null_mut(); FRAMES + 16];
    // SAFETY: the array has room for as many frames.
    let found = unsafe { libc::backtrace(frames.as_mut_ptr(), frames.len() as i32) };
    let found = &frames[..usize::try_from(found).unwrap_or(0)];
    let own = |frame: &*mut libc::c_void| {
        // SAFETY: an address of code, just before where a call returns.
        let function = unsafe { _Unwind_FindEnclosingFunction(frame.wrapping_byte_sub(1)) };
        crate::CHECKS.iter().any(|check| check.0.addr() == function.addr())
    };
    // What this library did comes first, up to the check that was called.
    let first = found.iter().position(own).unwrap_or(0);
    let frames = found[first..].iter().skip_while(|frame| own(frame));
    let mut out = String::new();
    for (at, frame) in frames.take(FRAMES).enumerate() {
        let name = symbol(frame.addr().wrapping_sub(1)).0;
        let _ = writeln!(out, "  {} {name}", if at == 0 { "stack " } else { "      " });
    }
    out
}

/// What is at an address of code: a name, or a file and an offset into it; and
/// the file.
pub(crate) fn symbol(address: usize) -> (String, String) {
    // SAFETY: all zero is a valid value, and `dladdr` fills it in.
    let (known, info) = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        (libc::dladdr(std::ptr::without_provenance(address), &mut info) != 0, info)
    };
    if !known || info.dli_fname.is_null() {
        return (format!("{address:#x}"), String::new());
    }
    // SAFETY: what `dladdr` gives are strings that stay.
    let string =
        |at: *const libc::c_char| unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned();
    let file = string(info.dli_fname);
    let offset = address.wrapping_sub(info.dli_fbase.addr());
    let short = file.rsplit('/').next().unwrap_or(&file);
    let place = format!("{short}+{offset:#x}");
    let name = if info.dli_sname.is_null() {
        place
    } else {
        format!("{} ({place})", string(info.dli_sname))
    };
    (name, file)
}

/// Whether a text is what a pattern says, `*` standing for any characters.
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
