//! Groups reports by kind.
//!
//! Two reports have the same *kind* if they have the same [`Order`], first tag and second tag.
//! The summary at the end counts the reports of each kind, and shows for each the pair of accesses
//! that LLVM can exploit most easily. A *site* is an access instruction of the program.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU32, Ordering::*};

use tbaa::parts::is_clang_root;
use tbaa::{AliasRule, Oracle, TagId};
use tbaa_instrument::layout::NO_TAG;
use tbaa_ir::{Names, name_in_source, remedy};

use crate::lock::{Guard, Lock};
use crate::options::options;
use crate::sites::{self, Described, Keeps, Order, Registry, Site};
use crate::symbols::{self, Frame};

#[derive(Default)]
pub(crate) struct Reported {
    pairs: HashSet<(Site, Site)>,
    kinds: Vec<Kind>,
    numbers: HashMap<(Order, TagId, TagId), usize>,
}

/// Returns whether a report is only a warning, because C allows both accesses.
pub(crate) fn warns(order: Order) -> bool {
    order == Order::WriteWrite && !sites::judges_stores()
}

#[derive(Clone)]
pub(crate) struct Kind {
    pub(crate) order: Order,
    /// The pair of accesses that LLVM can most easily analyse together.
    pub(crate) best: [Described; 2],
    /// Says whether the pair is in one module, and whether it is in one function.
    together: [bool; 2],
    /// The descriptions of both tags.
    pub(crate) says: [String; 2],
    /// The alias rules that the accesses contradict.
    pub(crate) rules: Vec<AliasRule>,
    pub(crate) reason: String,
    /// The call stack at the first report.
    pub(crate) stack: Vec<Frame>,
    pub(crate) help: String,
    /// True if the root of the second tag is one of clang's.
    pub(crate) is_clangs: bool,
    /// The number of reports: one for each pair of sites.
    pub(crate) pairs: u32,
}

static REPORTED: Lock<Option<Reported>> = Lock::new(None);
static REPORTS: AtomicU32 = AtomicU32::new(0);

const ATOMIC: &str = "LLVM moves nothing over an atomic access that is ordered: nothing comes of these two as long \
                      as one of them is";
const VOLATILE: &str = "LLVM keeps volatile accesses in their order: nothing comes of these two as long as both are \
                        volatile";
const VOLATILE_READ: &str =
    "LLVM reads anew what is volatile: nothing comes of this read as long as it is";

/// The largest number of stack frames that a report shows.
const FRAMES: usize = 16;

/// Returns how many contradictions were reported.
pub(crate) fn count() -> u32 {
    REPORTS.load(Relaxed)
}

pub(crate) fn lock() -> Option<Guard<'static, Option<Reported>>> {
    REPORTED.take()
}

/// Returns the kinds of warnings if `warnings`, or else of contradictions. Kinds that LLVM can most
/// easily exploit come first.
pub(crate) fn kinds(warnings: bool) -> Vec<Kind> {
    let kinds = REPORTED.take().and_then(|seen| Some(seen.as_ref()?.kinds.clone()));
    let mut kinds = kinds.unwrap_or_default();
    kinds.retain(|kind| warns(kind.order) == warnings);
    kinds.sort_by_key(|kind| {
        let together = std::cmp::Reverse((kind.together, kind.pairs));
        (!kind.rules.contains(&AliasRule::Llvm), kind.order, together)
    });
    kinds
}

impl Reported {
    /// Records a pair of accesses. Returns whether it is new.
    pub(crate) fn is_new(&mut self, first: Site, second: Site) -> bool {
        self.pairs.insert((first, second))
    }

    /// Counts a report. Returns its kind's index, and whether it is the first of that kind.
    pub(crate) fn add(
        &mut self,
        order: Order,
        [a, b]: [&Described; 2],
        registry: &Registry,
    ) -> (usize, bool) {
        if !warns(order) {
            REPORTS.fetch_add(1, Relaxed);
        }
        let next = self.kinds.len();
        let number = *self.numbers.entry((order, a.tag, b.tag)).or_insert(next);
        if number == next {
            self.kinds.push(Kind::new(order, [a, b], registry));
        } else {
            let kind = &mut self.kinds[number];
            kind.pairs += 1;
            let together = registry.are_together(a, b);
            if together > kind.together {
                (kind.together, kind.best) = (together, [a.clone(), b.clone()]);
            }
        }
        (number, number == next)
    }

    pub(crate) fn kind(&self, number: usize) -> &Kind {
        &self.kinds[number]
    }

    pub(crate) fn count_of(&self, warnings: bool) -> u32 {
        self.kinds.iter().filter(|kind| warns(kind.order) == warnings).count() as u32
    }
}

impl Kind {
    pub(crate) fn new(order: Order, [a, b]: [&Described; 2], registry: &Registry) -> Kind {
        let rules = match order {
            Order::Constant => AliasRule::ALL.to_vec(),
            _ => sites::rules_against(registry, a, b),
        };
        let graph = registry.oracle.graph();
        let [one, other] = [a, b].map(|site| sites::access(graph, (site.tag, site.size)));
        let own = options().rules;
        // If the rule in the options allows the accesses, explain the first rule that forbids them.
        let by = rules.first().copied().filter(|_| !rules.contains(&own)).unwrap_or(own);
        let reason = match order {
            Order::Constant => {
                "the tag of the read calls its memory constant (its last number is 1): nothing writes it after \
                 that read, as long as it lives"
                    .to_owned()
            }
            _ => {
                let mut reason = Oracle::new(graph, by).explain(one, other);
                reason.rename(|name| name_in_source(name.as_bytes()));
                reason.to_string()
            }
        };
        let root = graph.tag(b.tag).ok().and_then(|tag| graph.root_of(tag.access));
        let is_clangs = root.and_then(|root| graph.ty(root).name()).is_some_and(is_clang_root);
        let help = match order {
            Order::Constant => {
                "write it before the first read by that tag, or give the read a tag without the last number"
            }
            _ => remedy(is_clangs),
        };
        Kind {
            order,
            help: help.to_owned(),
            is_clangs,
            best: [a.clone(), b.clone()],
            together: registry.are_together(a, b),
            says: [a, b].map(|site| access(registry, site)),
            rules,
            reason,
            stack: stack(),
            pairs: 1,
        }
    }

    /// Returns the condition under which LLVM analyses both accesses together.
    pub(crate) fn needs(&self) -> &'static str {
        match self.together {
            [false, _] => "in two modules, which are compiled apart: with -flto",
            [_, false] => "in one module: once one function is inlined into the other",
            _ => "in one function",
        }
    }

    pub(crate) fn words(&self) -> [&'static str; 2] {
        match self.order {
            Order::WriteRead => ["write", "read"],
            Order::ReadWrite | Order::Constant => ["read", "write"],
            Order::WriteWrite => ["write", "write"],
        }
    }

    pub(crate) fn happens(&self) -> &'static str {
        match self.order {
            Order::WriteRead => "a write, and a later read of what it wrote",
            Order::ReadWrite => "a read, and a later write over what it read (shown by reuse=1)",
            Order::WriteWrite if warns(self.order) => {
                "a write over another by another type, in one function"
            }
            Order::WriteWrite => "a write over another (C allows it; shown by report_stores=1)",
            Order::Constant => "a write to memory that the tag of an earlier read calls constant",
        }
    }

    /// Returns why LLVM does not exploit the tags, if a volatile or atomic access prevents it.
    /// LLVM: `AAResults::getModRefInfo` of a `LoadInst` or a `StoreInst`, and
    /// `MemoryDependenceResults::getSimplePointerDependencyFrom`.
    pub(crate) fn nothing(&self) -> Option<&'static str> {
        let [first, second] = [&self.best[0], &self.best[1]].map(Described::keeps);
        let reads = self.order == Order::Constant;
        match (first, second) {
            (Keeps::All, _) => Some(ATOMIC),
            (_, Keeps::All) if !reads => Some(ATOMIC),
            (Keeps::Volatile, _) if reads => Some(VOLATILE_READ),
            (Keeps::Volatile, Keeps::Volatile) => Some(VOLATILE),
            _ => None,
        }
    }

    /// Returns what a compiler may do with the accesses because of their tags.
    pub(crate) fn so(&self) -> String {
        if let Some(nothing) = self.nothing().filter(|_| self.rules.contains(&AliasRule::Llvm)) {
            return nothing.to_owned();
        }
        // LLVM does not move a volatile access.
        let stays = [&self.best[0], &self.best[1]].map(|site| site.keeps() == Keeps::Volatile);
        let who = match self.rules.contains(&AliasRule::Llvm) {
            true => "LLVM",
            false => "a compiler by such a rule",
        };
        let may = match self.order {
            Order::WriteRead if stays[1] => {
                "may let the write wait for the volatile read, which then finds what was there before the write"
            }
            Order::ReadWrite if stays[1] => {
                "may let the read wait for the volatile write, and give it what the write wrote"
            }
            Order::WriteRead => {
                "may let the read go first, and give it what was there before the write"
            }
            Order::ReadWrite => {
                "may let the write go first, and give the read what the write wrote"
            }
            Order::WriteWrite if warns(self.order) => {
                "may swap the writes, or leave one out: C and C++ allow both where memory becomes another object's \
                 (C 6.5p6), and clang may break the program"
            }
            Order::WriteWrite => "may swap the writes, and leave what the first wrote",
            Order::Constant => "may give a later read by that tag what was there before the write",
        };
        format!("{who} {may}")
    }
}

/// Describes the type, offset and size of an access.
fn access(registry: &Registry, site: &Described) -> String {
    let graph = registry.oracle.graph();
    let Ok(tag) = graph.tag(site.tag) else { return "a malformed tag".to_owned() };
    let names = Names::of_graph(graph);
    let name = |ty| match graph.ty(ty).name() {
        Some(b"") | None if ty == tag.base && !site.base.is_empty() => format!("\"{}\"", site.base),
        Some(b"") | None => "a type without a name".to_owned(),
        Some(_) => format!("\"{}\"", names.ty(ty)),
    };
    let mut text = match site.size {
        0 => String::new(),
        1 => "1 byte as ".to_owned(),
        size => format!("{size} bytes as "),
    };
    if graph.ty(tag.access).name() == Some(NO_TAG.as_bytes()) {
        return text.replace(" as ", " ") + "without a tag";
    }
    text.push_str(&name(tag.access));
    if tag.base != tag.access {
        let _ = write!(text, " at {} of {}", tag.offset, name(tag.base));
    }
    text
}

pub(crate) fn place(site: &Described) -> String {
    match (&site.file[..], site.line) {
        ("", 0) => String::new(),
        (file, line) => format!(", {file}:{line}:{}", site.column),
    }
}

unsafe extern "C" {
    /// From the unwinder library: returns the start of the function that contains an address.
    fn _Unwind_FindEnclosingFunction(address: *const libc::c_void) -> *const libc::c_void;
}

/// Returns the stack frames of the access that is about to happen, innermost first.
fn stack() -> Vec<Frame> {
    let mut frames = [std::ptr::null_mut(); FRAMES + 16];
    // SAFETY: the array has room for the number of frames that is passed.
    let found = unsafe { libc::backtrace(frames.as_mut_ptr(), frames.len() as i32) };
    let found = &frames[..usize::try_from(found).unwrap_or(0)];
    let own = |frame: &*mut libc::c_void| {
        // SAFETY: any code address is allowed. This one is in the call instruction.
        let function = unsafe { _Unwind_FindEnclosingFunction(frame.wrapping_byte_sub(1)) };
        crate::CHECKS.iter().any(|check| check.0.addr() == function.addr())
    };
    // The first frames are this library's own, up to the function that the program called.
    let first = found.iter().position(own).unwrap_or(0);
    let frames = found[first..].iter().skip_while(|frame| own(frame));
    let of = |frame: &*mut libc::c_void| symbols::frames(frame.addr().wrapping_sub(1));
    // LLVM may inline the check into the program.
    let is_check = |frame: &Frame| frame.function.starts_with("__tbaa_witness");
    frames.flat_map(of).filter(|frame| !is_check(frame)).take(FRAMES).collect()
}
