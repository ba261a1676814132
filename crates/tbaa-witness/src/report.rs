//! Writes reports: two accesses, and why their tags do not allow both. Reports with equal tags and
//! equal [`Order`] are of one kind. The first report of a kind is written at once. Later ones are
//! counted; the option `all` writes later contradictions too. A *site* is an access instruction.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

use tbaa::{AliasRule, Graph, TagId, TypeKind};

use crate::kinds::{self, Kind, place};
use crate::options::{Suppression, options};
use crate::reproduce::reproduce;
use crate::sites::{self, Described, Keeps, Order, Registry, Site};
use crate::{blocks, log, memory};

/// A cache of pairs of sites for which [`report`] was called, hashed by pair. It needs no lock.
static RECENT: [AtomicU64; 1 << 12] = [const { AtomicU64::new(0) }; 1 << 12];

/// True if this process called `fork`, or is a child of such a process.
pub(crate) static FORKED: AtomicBool = AtomicBool::new(false);

/// Reports two accesses. A pair of sites is reported at most once, and not at all if suppressed.
#[cold]
pub(crate) fn report(order: Order, first: Site, second: Site, address: usize, bytes: usize) {
    // Another process may have written these bytes between the two accesses.
    if FORKED.load(Relaxed) && memory::is_shared(address) {
        return;
    }
    let key = u64::from(first) << 32 | u64::from(second);
    let recent = &RECENT[(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize];
    if recent.swap(key, Relaxed) == key {
        return;
    }
    let Some(registry) = sites::lock() else { return };
    let Some(registry) = &*registry else { return };
    let Some(mut seen) = kinds::lock() else { return };
    let seen = seen.get_or_insert_default();
    if options().halt && kinds::count() > 0 || !seen.is_new(first, second) {
        return;
    }
    let (Some(a), Some(b)) = (registry.describe(first), registry.describe(second)) else { return };
    let suppressed = |described: &Described| {
        let names = [&described.function, &described.function_name()];
        let of = |rule: &Suppression| names.iter().any(|name| rule.matches(name, &described.file));
        options().suppressions.iter().any(of)
    };
    if suppressed(&a)
        || suppressed(&b)
        || kinds::warns(order) && registry.are_together(&a, &b) != [true; 2]
    {
        return;
    }
    let (kind, is_new) = seen.add(order, [&a, &b], registry);
    if is_new || options().all && !kinds::warns(order) {
        let (number, kind) = match options().all && !kinds::warns(order) {
            true => (kinds::count(), &Kind::new(order, [&a, &b], registry)),
            // Printed reports are numbered consecutively.
            false => (seen.count_of(kinds::warns(order)), seen.kind(kind)),
        };
        log::put(&text(number, kind, address, bytes, registry));
    }
}

fn text(number: u32, kind: &Kind, address: usize, bytes: usize, registry: &Registry) -> String {
    let mut out = String::new();
    let last = address.saturating_add(bytes.saturating_sub(1));
    let [a, b] = &kind.best;
    let name = if kinds::warns(kind.order) { "warning" } else { "contradiction" };
    let _ = writeln!(out, "tbaa-witness: {name} {number}: {}", kind.happens());
    for ((word, site), says) in kind.words().into_iter().zip([a, b]).zip(&kind.says) {
        let _ = writeln!(out, "  {word:<6} {says}");
        let _ = writeln!(out, "         {} in {}{}", site.what, site.function_name(), place(site));
    }
    let _ = writeln!(out, "  bytes  {address:#x} to {last:#x}: {}", blocks::owner(address));
    let names: Vec<_> = kind.rules.iter().map(ToString::to_string).collect();
    let word = if kind.order == Order::Constant { "constant" } else { "NoAlias" };
    let _ = writeln!(out, "  rules  {word} by {}", names.join(", "));
    for (at, line) in kind.reason.lines().enumerate() {
        let _ = writeln!(out, "  {} {line}", if at == 0 { "reason" } else { "      " });
    }
    let _ = writeln!(out, "  so     {}", kind.so());
    let _ = writeln!(out, "  help   {}", kind.help);
    if number == 1 && kind.is_clangs {
        let _ = writeln!(
            out,
            "  tags   clang writes them: each access has one, by its type, and -fstrict-aliasing lets LLVM \
             conclude from two that they are of different memory"
        );
    }
    let graph = registry.oracle.graph();
    if [a, b].into_iter().any(|site| is_character(graph, site.tag)) {
        let _ = writeln!(
            out,
            "  note   C lets an access of character type touch any object (6.5p7); clang's tag of a \
             character member says less"
        );
    }
    if let Some(folder) = &options().repro {
        let (write, read) = if kind.order == Order::WriteRead { (a, b) } else { (b, a) };
        let what = match kind.order {
            // LLVM merges reads of constant memory even without optimisation.
            Order::Constant => "none: of memory that is called constant".to_owned(),
            _ if !kind.rules.contains(&AliasRule::Llvm) => {
                "none: LLVM itself keeps the two apart".to_owned()
            }
            _ if kind.nothing().is_some() || read.keeps() != Keeps::Nothing => {
                "none: LLVM itself keeps the two in order".to_owned()
            }
            _ => repro(folder, number, graph, write, read),
        };
        let _ = writeln!(out, "  repro  {what}");
    }
    for (at, frame) in kind.stack.iter().enumerate() {
        let _ = writeln!(out, "  {} {frame}", if at == 0 { "stack " } else { "      " });
    }
    out
}

/// Returns whether a tag accesses a struct member of character type. A character type is called
/// "omnipotent char", and its parent is a root.
fn is_character(graph: &Graph, tag: TagId) -> bool {
    let Ok(tag) = graph.tag(tag) else { return false };
    let of_root = |ty| {
        let parent = graph.ty(ty).parent();
        parent.is_some_and(|parent| graph.ty(parent).kind() == TypeKind::Root)
    };
    let is_char = graph.ty(tag.access).name() == Some(b"omnipotent char");
    tag.base != tag.access && is_char && of_root(tag.access)
}

/// Writes a program that repeats both accesses. Returns its path, or why it could not be written.
fn repro(folder: &str, number: u32, graph: &Graph, write: &Described, read: &Described) -> String {
    let file = format!("{folder}/{}-{number}.ll", std::process::id());
    let [write, read] = [write, read].map(|site| (site.tag, site.size, site.written()));
    let program = reproduce(graph, write, read);
    match log::open(&file, false).and_then(|mut open| open.write_all(program.as_bytes())) {
        Ok(()) => file,
        Err(error) => format!("none: cannot write {file}: {error}"),
    }
}
