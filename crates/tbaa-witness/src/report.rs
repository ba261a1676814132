//! Reports: what two accesses did, and why their tags say that they cannot.
//!
//! Reports are of a *kind* if their accesses have the same two tags, in the same order. The
//! first of a kind is written when it happens, and the others are counted. What is written
//! at the end says how many there were, and which two accesses show the kind best.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::*};

use tbaa::{AliasRule, Graph, Oracle, TagId, TypeKind};
use tbaa_ir::{Names, name_in_source};

use crate::blocks;
use crate::lock::Lock;
use crate::options::{Suppression, options};
use crate::reproduce::reproduce;
use crate::sites::{self, Described, Order, Registry, Site};
use crate::symbols::{self, Frame};

/// What was reported or suppressed.
#[derive(Default)]
struct Seen {
    pairs: HashSet<(Site, Site)>,
    kinds: Vec<Kind>,
    numbers: HashMap<(Order, TagId, TagId), usize>,
}

/// Reports of one kind.
#[derive(Clone)]
pub(crate) struct Kind {
    pub(crate) order: Order,
    /// The two accesses that LLVM sees at once most easily.
    pub(crate) best: [Described; 2],
    /// Whether they are in one module, and in one function.
    together: [bool; 2],
    /// What their tags say.
    pub(crate) says: [String; 2],
    /// The rules that contradict, and why.
    pub(crate) rules: Vec<AliasRule>,
    pub(crate) reason: String,
    /// Of the first report.
    pub(crate) stack: Vec<Frame>,
    /// Reports, one for each two places in the program.
    pub(crate) pairs: u32,
}

static SEEN: Lock<Option<Seen>> = Lock::new(None);
/// The last pairs by their hash, to be found without a lock.
static RECENT: [AtomicU64; 1 << 12] = [const { AtomicU64::new(0) }; 1 << 12];
static REPORTS: AtomicU32 = AtomicU32::new(0);

/// Frames that a report shows.
const FRAMES: usize = 16;

/// Returns how many pairs were reported.
pub(crate) fn count() -> u32 {
    REPORTS.load(Relaxed)
}

/// The kinds of reports so far, those first that LLVM can use most easily.
pub(crate) fn kinds() -> Vec<Kind> {
    let kinds = SEEN.take().and_then(|seen| Some(seen.as_ref()?.kinds.clone()));
    let mut kinds = kinds.unwrap_or_default();
    kinds.sort_by_key(|kind| {
        let together = std::cmp::Reverse((kind.together, kind.pairs));
        (!kind.rules.contains(&AliasRule::Llvm), kind.order, together)
    });
    kinds
}

/// Writes a line of this library's own.
pub(crate) fn say(line: &str) {
    put(&format!("tbaa-witness: {line}\n"));
}

/// Writes to standard error, or to the file that the options name.
fn put(text: &str) {
    static FAILED: AtomicBool = AtomicBool::new(false);
    if let Some(path) = &options().log_path {
        let file = format!("{path}.{}", std::process::id());
        let written = open(&file, true).and_then(|mut file| file.write_all(text.as_bytes()));
        let Err(error) = written else { return };
        if !FAILED.swap(true, Relaxed) {
            print(&format!(
                "tbaa-witness: cannot write {file}: {error}; this goes to standard error\n"
            ));
        }
    }
    print(text);
}

/// Opens a file for what there was. Where others may put a link, they may have one to a file of this user's: a link is
/// followed only if it is this user's or the system's.
pub(crate) fn open(file: &str, append: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).append(append).truncate(!append);
    let opened = options.clone().custom_flags(libc::O_NOFOLLOW).open(file);
    let Ok(link) = fs::symlink_metadata(file) else { return opened };
    // SAFETY: nothing can go wrong.
    let users = [0, unsafe { libc::geteuid() }];
    match link.is_symlink() {
        true if users.contains(&link.uid()) => options.open(file),
        true => Err(io::Error::other("it is another user's symbolic link")),
        false => opened,
    }
}

fn print(text: &str) {
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
    let Some(mut seen) = SEEN.take() else { return };
    let seen = seen.get_or_insert_with(Seen::default);
    if !seen.pairs.insert((first, second)) {
        return;
    }
    let (Some(a), Some(b)) = (registry.describe(first), registry.describe(second)) else { return };
    let suppressed = |it: &Described| {
        let names = [&it.function, &it.function_name()];
        let of = |rule: &Suppression| names.iter().any(|name| rule.matches(name, &it.file));
        options().suppressions.iter().any(of)
    };
    if suppressed(&a) || suppressed(&b) {
        return;
    }
    let count = REPORTS.fetch_add(1, Relaxed) + 1;
    let is_new = match seen.numbers.get(&(order, a.tag, b.tag)) {
        Some(&known) => {
            let kind = &mut seen.kinds[known];
            kind.pairs += 1;
            let together = registry.are_together(&a, &b);
            if together > kind.together {
                (kind.together, kind.best) = (together, [a.clone(), b.clone()]);
            }
            false
        }
        None => {
            seen.numbers.insert((order, a.tag, b.tag), seen.kinds.len());
            seen.kinds.push(Kind::new(order, [&a, &b], registry));
            true
        }
    };
    if is_new || options().all {
        let kind = match is_new {
            true => seen.kinds[seen.kinds.len() - 1].clone(),
            false => Kind::new(order, [&a, &b], registry),
        };
        // Those that are printed are counted on.
        let number = if options().all { count } else { seen.kinds.len() as u32 };
        put(&text(number, &kind, address, bytes, registry));
    }
    if options().halt {
        crate::end::write_files();
        // SAFETY: ends the process.
        unsafe { libc::_exit(if options().exitcode == 0 { 1 } else { options().exitcode }) };
    }
}

impl Kind {
    fn new(order: Order, [a, b]: [&Described; 2], registry: &Registry) -> Kind {
        let rules = sites::rules_against(registry, a, b);
        let (one, other) = (sites::access((a.tag, a.size)), sites::access((b.tag, b.size)));
        let own = options().rules;
        // Where the chosen rule says nothing, the first that does.
        let by = rules.first().copied().filter(|_| !rules.contains(&own)).unwrap_or(own);
        let mut reason = Oracle::new(registry.oracle.graph(), by).explain(one, other);
        reason.rename(|name| name_in_source(name.as_bytes()));
        Kind {
            order,
            best: [a.clone(), b.clone()],
            together: registry.are_together(a, b),
            says: [a, b].map(|it| access(registry, it)),
            rules,
            reason: reason.to_string(),
            stack: stack(),
            pairs: 1,
        }
    }

    /// What LLVM needs to see both accesses at once.
    pub(crate) fn needs(&self) -> &'static str {
        match self.together {
            [false, _] => "in two modules, which are compiled apart: with -flto",
            [_, false] => "in one module: once one function is inlined into the other",
            _ => "in one function",
        }
    }

    /// What the two accesses do, by their order.
    pub(crate) fn words(&self) -> [&'static str; 2] {
        match self.order {
            Order::WriteRead => ["write", "read"],
            Order::ReadWrite => ["read", "write"],
            Order::WriteWrite => ["write", "write"],
        }
    }

    pub(crate) fn happens(&self) -> &'static str {
        match self.order {
            Order::WriteRead => "a write, and a later read of what it wrote",
            Order::ReadWrite => "a read, and a later write over what it read (shown by reuse=1)",
            Order::WriteWrite => "a write over another (C allows it; shown by report_stores=1)",
        }
    }

    /// What may come of it.
    pub(crate) fn so(&self) -> String {
        let who = match self.rules.contains(&AliasRule::Llvm) {
            true => "LLVM",
            false => "a compiler by such a rule",
        };
        let may = match self.order {
            Order::WriteRead => {
                "may let the read go first, and give it what was there before the write"
            }
            Order::ReadWrite => {
                "may let the write go first, and give the read what the write wrote"
            }
            Order::WriteWrite => "may swap the writes, and leave what the first wrote",
        };
        format!("{who} {may}")
    }
}

/// The text of a report.
fn text(number: u32, kind: &Kind, address: usize, bytes: usize, registry: &Registry) -> String {
    let mut out = String::new();
    let last = address.saturating_add(bytes.saturating_sub(1));
    let [a, b] = &kind.best;
    let _ = writeln!(out, "tbaa-witness: contradiction {number}: {}", kind.happens());
    for ((word, it), says) in kind.words().into_iter().zip([a, b]).zip(&kind.says) {
        let _ = writeln!(out, "  {word:<6} {says}");
        let _ = writeln!(out, "         {} in {}{}", it.what, it.function_name(), place(it));
    }
    let _ = writeln!(out, "  bytes  {address:#x} to {last:#x}: {}", blocks::owner(address));
    let names: Vec<_> = kind.rules.iter().map(ToString::to_string).collect();
    let _ = writeln!(out, "  rules  NoAlias by {}", names.join(", "));
    for (at, line) in kind.reason.lines().enumerate() {
        let _ = writeln!(out, "  {} {line}", if at == 0 { "reason" } else { "      " });
    }
    let _ = writeln!(out, "  so     {}", kind.so());
    let graph = registry.oracle.graph();
    if [a, b].into_iter().any(|it| is_character(graph, it.tag)) {
        let _ = writeln!(
            out,
            "  note   C lets an access of character type touch any object (6.5p7); clang's tag of a \
             character member says less"
        );
    }
    if let Some(folder) = &options().repro {
        let (write, read) = if kind.order == Order::WriteRead { (a, b) } else { (b, a) };
        let llvm = kind.rules.contains(&AliasRule::Llvm);
        let written = llvm.then(|| repro(folder, number, graph, write, read));
        let what = written.unwrap_or_else(|| "none: LLVM itself keeps the two apart".to_owned());
        let _ = writeln!(out, "  repro  {what}");
    }
    for (at, frame) in kind.stack.iter().enumerate() {
        let _ = writeln!(out, "  {} {frame}", if at == 0 { "stack " } else { "      " });
    }
    out
}

/// Whether a tag is of a member of character type: of a scalar that all others are below.
fn is_character(graph: &Graph, tag: TagId) -> bool {
    let Ok(tag) = graph.tag(tag) else { return false };
    let of_root = |ty| {
        let parent = graph.ty(ty).parent();
        parent.is_some_and(|parent| graph.ty(parent).kind() == TypeKind::Root)
    };
    let is_char = graph.ty(tag.access).name() == Some(b"omnipotent char");
    tag.base != tag.access && is_char && of_root(tag.access)
}

/// Writes a program of two accesses, and says where it is.
fn repro(folder: &str, number: u32, graph: &Graph, write: &Described, read: &Described) -> String {
    let file = format!("{folder}/{}-{number}.ll", std::process::id());
    let program = reproduce(graph, (write.tag, write.size), (read.tag, read.size));
    match open(&file, false).and_then(|mut it| it.write_all(program.as_bytes())) {
        Ok(()) => file,
        Err(error) => format!("none: cannot write {file}: {error}"),
    }
}

/// What a tag says, with its number of bytes.
fn access(registry: &Registry, it: &Described) -> String {
    let graph = registry.oracle.graph();
    let Ok(tag) = graph.tag(it.tag) else { return "a malformed tag".to_owned() };
    let names = Names::of_graph(graph);
    let name = |ty| match graph.ty(ty).name() {
        Some(b"") | None if ty == tag.base && !it.base.is_empty() => format!("\"{}\"", it.base),
        Some(b"") | None => "a type without a name".to_owned(),
        Some(_) => format!("\"{}\"", names.ty(ty)),
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

pub(crate) fn place(it: &Described) -> String {
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
fn stack() -> Vec<Frame> {
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
    let of = |frame: &*mut libc::c_void| symbols::frames(frame.addr().wrapping_sub(1));
    // The check itself is inlined into the program.
    let is_check = |frame: &Frame| frame.function.starts_with("__tbaa_witness");
    frames.flat_map(of).filter(|frame| !is_check(frame)).take(FRAMES).collect()
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
