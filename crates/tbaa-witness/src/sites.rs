//! Collects the accesses and tags of all modules, and caches the alias rule's answers.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use tbaa::raw::{Draft, DraftOperand, RawGraph};
use tbaa::{Access, AliasResult, AliasRule, Graph, NodeId, Operand, Oracle, TagId, TypeKind};

use tbaa_instrument::layout::{MAX_SITES, WARNS};

use crate::lock::{Guard, Lock};
use crate::options::options;
use crate::states::Row;
use crate::symbols::source_name;
use crate::{cells, log};

/// An access instruction, numbered from 1 across all modules. A number has 26 bits.
pub(crate) type Site = u32;

#[derive(Clone)]
pub(crate) struct Described {
    pub(crate) tag: TagId,
    /// The number of bytes; 0 if it is known only at run time.
    pub(crate) size: u64,
    pub(crate) function: String,
    /// The source file; empty without debug information.
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) what: String,
    /// The typedef name of the base type, if the type's node has no name.
    pub(crate) base: String,
    module: usize,
}

impl Described {
    pub(crate) fn function_name(&self) -> String {
        source_name(&self.function)
    }

    /// Returns which other accesses LLVM does not move across this one.
    pub(crate) fn keeps(&self) -> Keeps {
        let mut words = self.what.split(' ');
        let opcode = words.next();
        let (atomic, volatile) = match words.next() {
            Some("atomic") => (true, words.next() == Some("volatile")),
            word => (false, word == Some("volatile")),
        };
        match opcode {
            Some("atomicrmw" | "cmpxchg") => Keeps::All,
            _ if atomic && !self.what.ends_with(" unordered") => Keeps::All,
            _ if volatile => Keeps::Volatile,
            _ => Keeps::Nothing,
        }
    }

    /// Returns the words after the opcode and at the end of a `load` or `store` that is volatile or
    /// atomic like this access. The ordering of an atomic one is always `unordered`.
    pub(crate) fn written(&self) -> [&'static str; 2] {
        let atomic = self.what.split(' ').nth(1) == Some("atomic");
        match (atomic, self.keeps()) {
            (true, Keeps::Volatile) => ["atomic volatile ", " unordered"],
            (true, _) => ["atomic ", " unordered"],
            (_, Keeps::Volatile) => ["volatile ", ""],
            _ => ["", ""],
        }
    }
}

/// The accesses that LLVM does not move across an access, whatever the tags are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeps {
    Nothing,
    /// Other volatile accesses.
    Volatile,
    /// All accesses: this access is atomic, with an ordering stronger than unordered.
    All,
}

/// What a report's earlier and later access do. LLVM exploits the first variant most often.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Order {
    WriteRead,
    ReadWrite,
    WriteWrite,
    /// A read with a tag for constant memory, and a later write.
    Constant,
}

/// A flag in a kind (see [`kind()`]): the access is to a character.
const CHARACTER: u32 = 1 << 30;

/// A flag in a kind: the tag says that the memory is constant.
const CONSTANT: u32 = 1 << 29;

/// Set in the kind of a byte's writer if a later read had a tag for constant memory.
pub(crate) const PROMISED: u32 = 1 << 28;

/// The bits of a kind that hold its number.
const NUMBER: u32 = PROMISED - 1;

/// A cache of the rule's answers, hashed by two kinds. An entry holds two kinds of 31 bits, and a
/// bit that is set if they may alias.
static ANSWERS: [AtomicU64; 1 << 12] = [const { AtomicU64::new(0) }; 1 << 12];

static STORES: AtomicBool = AtomicBool::new(false);

static READERS: AtomicBool = AtomicBool::new(false);

static CONSTANTS: AtomicBool = AtomicBool::new(false);

static REGISTRY: Lock<Option<Registry>> = Lock::new(None);

pub(crate) struct Registry {
    /// The modules, ordered by their first site.
    modules: Vec<Known>,
    next: Site,
    pub(crate) oracle: Oracle<Graph>,
    /// For each tag and size, its kind.
    kinds: HashMap<(TagId, u64), u32>,
    list: Vec<(TagId, u64)>,
    /// The caches of each module's sites; `None` for a module that may be unloaded. Empty after a
    /// tag says that memory is constant.
    rows: Vec<Option<&'static [Row]>>,
}

/// A module's tables. Tables in the program's own file are borrowed. Others are copied, because a
/// library may be unloaded and a JIT may free its code.
pub(crate) struct Tables {
    pub(crate) sites: Cow<'static, [[u32; 2]]>,
    pub(crate) places: Cow<'static, [[u32; 6]]>,
    pub(crate) strings: Cow<'static, [u8]>,
}

struct Known {
    first: Site,
    tables: Tables,
    /// The module's tags, indexed by the numbers in its tables.
    tags: Vec<TagId>,
}

pub(crate) fn lock() -> Option<Guard<'static, Option<Registry>>> {
    REGISTRY.take()
}

impl Registry {
    pub(crate) fn new() -> Self {
        STORES.store(options().report_stores, Relaxed);
        READERS.store(options().reuse, Relaxed);
        Registry {
            modules: Vec::new(),
            next: 1,
            oracle: Oracle::new(Graph::new(), options().rules),
            kinds: HashMap::new(),
            list: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Adds a module. `tags` is the text of its tags. Returns its first site; `None` for an error.
    pub(crate) fn add(
        &mut self,
        tables: Tables,
        tags: &[u8],
        rows: Option<&'static [Row]>,
    ) -> Option<Site> {
        let first = self.next;
        let count = u32::try_from(tables.sites.len()).ok()?;
        let Some(next) = first.checked_add(count).filter(|next| *next <= MAX_SITES) else {
            log::say(
                "the program has more accesses than can be told apart: a module is not checked",
            );
            return None;
        };
        let own = tbaa_ir::read(tags).ok()?.into_graph();
        let tags = if self.modules.is_empty() {
            self.oracle = Oracle::new(own, options().rules);
            self.oracle.graph().tags().collect()
        } else {
            self.oracle.update(|graph| merge(graph, &own))?
        };
        for (number, site) in tables.sites.iter().enumerate() {
            let key = (*tags.get((site[0] & !WARNS) as usize)?, u64::from(site[1] >> 1));
            let graph = self.oracle.graph();
            let kind = *self.kinds.entry(key).or_insert_with(|| {
                self.list.push(key);
                let is_constant = graph.tag(key.0).is_ok_and(|tag| tag.immutable);
                self.list.len() as u32
                    | if is_character(graph, key) { CHARACTER } else { 0 }
                    | if is_constant { CONSTANT } else { 0 }
            });
            cells::kind(first + number as u32).store(kind, Relaxed);
        }
        if !has_constants() && self.kinds.values().any(|kind| kind & CONSTANT != 0) {
            CONSTANTS.store(true, Relaxed);
            // From now on every write must check the previous state.
            let rows = std::mem::take(&mut self.rows);
            rows.iter().flatten().copied().flatten().for_each(Row::look);
            let left = rows.iter().filter(|row| row.is_none()).count();
            if left > 0 {
                log::say(&format!(
                    "{left} modules of libraries or a JIT ran before the first one of which a tag calls memory \
                     constant: their writes over such memory are not looked for; let that module run first"
                ));
            }
        } else if !has_constants() {
            self.rows.push(rows);
        }
        self.next = next;
        self.modules.push(Known { first, tables, tags });
        Some(first)
    }

    pub(crate) fn describe(&self, site: Site) -> Option<Described> {
        let at = self.modules.partition_point(|known| known.first <= site).checked_sub(1)?;
        let known = &self.modules[at];
        let string = |at: u32| {
            let bytes = known.tables.strings.get(at as usize..).unwrap_or_default();
            let string = CStr::from_bytes_until_nul(bytes).unwrap_or_default();
            string.to_string_lossy().into_owned()
        };
        let number = (site - known.first) as usize;
        let [tag, size] = *known.tables.sites.get(number)?;
        let [function, file, line, column, what, base] = *known.tables.places.get(number)?;
        Some(Described {
            tag: *known.tags.get((tag & !WARNS) as usize)?,
            size: u64::from(size >> 1),
            function: string(function),
            file: string(file),
            line,
            column,
            what: string(what),
            base: string(base),
            module: at,
        })
    }

    /// Returns whether two accesses are in one module, and whether they are in one function. A
    /// function of a header counts as part of every module in which it has accesses.
    pub(crate) fn are_together(&self, a: &Described, b: &Described) -> [bool; 2] {
        let has = |module: usize, site: &Described| {
            let known = &self.modules[module];
            let [function, file] =
                [&site.function, &site.file].map(|text| [text.as_bytes(), b"\0"].concat());
            let is = |at: u32, text: &[u8]| {
                known
                    .tables
                    .strings
                    .get(at as usize..)
                    .is_some_and(|string| string.starts_with(text))
            };
            let mut places = known.tables.places.iter();
            !site.file.is_empty() && places.any(|at| is(at[0], &function) && is(at[1], &file))
        };
        let is_one = a.module == b.module || has(a.module, b) || has(b.module, a);
        [is_one, is_one && a.function == b.function]
    }
}

/// Returns an access with a tag. The size 0 means that the number of bytes is unknown.
pub(crate) fn access(graph: &Graph, (tag, bytes): (TagId, u64)) -> Access {
    if bytes == 0 { tag.into() } else { Access::of_bytes(graph, tag, bytes) }
}

/// Returns whether an access is to one byte of a type such as C's `char`. The tag's base and access
/// type must be the same child of a root, and some type must be a child of this type.
fn is_character(graph: &Graph, (tag, size): (TagId, u64)) -> bool {
    let is_top = |access| {
        let parent = graph.ty(access).parent();
        parent.is_some_and(|parent| graph.ty(parent).kind() == TypeKind::Root)
            && graph.types().any(|ty| graph.ty(ty).parent() == Some(access))
    };
    size == 1 && graph.tag(tag).is_ok_and(|tag| tag.base == tag.access && is_top(tag.access))
}

/// Adds a module's nodes to the graph of all modules. Returns its tags in that graph.
fn merge(graph: &mut Graph, own: &Graph) -> Option<Vec<TagId>> {
    let places: HashMap<NodeId, usize> =
        own.nodes().enumerate().map(|(place, node)| (node, place)).collect();
    let draft = |node| Draft {
        distinct: own.is_distinct(node),
        operands: own
            .operands(node)
            .map(|operand| match operand {
                Operand::Node(node) => DraftOperand::Member(places[&node]),
                other => other.into(),
            })
            .collect(),
    };
    let drafts: Vec<_> = own.nodes().map(draft).collect();
    let nodes = graph.insert_group(&drafts).ok()?;
    Some(own.tags().map(|tag| graph.mark_tag(nodes[places[&own.tag_node(tag)]])).collect())
}

/// Returns a site's *kind*: a number for its tag and size, with flags; 0 for no site. The rule's
/// answers depend only on kinds.
#[inline]
pub(crate) fn kind(site: Site) -> u32 {
    if site == 0 { 0 } else { cells::kind(site).load(Relaxed) }
}

pub(crate) fn is_of_characters(site: Site) -> bool {
    kind(site) & CHARACTER != 0
}

pub(crate) fn is_constant(site: Site) -> bool {
    kind(site) & CONSTANT != 0
}

/// Returns whether any tag says that memory is constant, so that writes must check previous states.
pub(crate) fn has_constants() -> bool {
    CONSTANTS.load(Relaxed)
}

/// Returns whether two sites have the same tag and size.
#[inline]
pub(crate) fn same_kind(a: Site, b: Site) -> bool {
    a == b || kind(a) == kind(b)
}

/// Returns whether a write may be reported for its tag and that of an earlier write of the same
/// bytes: option `report_stores`.
pub(crate) fn judges_stores() -> bool {
    STORES.load(Relaxed)
}

/// Returns whether reads without a tag for constant memory are recorded: the option `reuse`.
pub(crate) fn remembers_readers() -> bool {
    READERS.load(Relaxed)
}

/// Returns whether the rule says that two kinds may alias; `None` if the lock is not available.
#[inline]
pub(crate) fn may_alias(a: u32, b: u32) -> Option<bool> {
    if a == b {
        return Some(true);
    }
    let (a, b) = (a.min(b), a.max(b));
    let key = u64::from(a) << 33 | u64::from(b) << 1;
    let hash = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize;
    let known = ANSWERS[hash].load(Relaxed);
    if known & !1 == key { Some(known & 1 != 0) } else { ask(a, b, key, &ANSWERS[hash]) }
}

#[cold]
fn ask(a: u32, b: u32, key: u64, slot: &AtomicU64) -> Option<bool> {
    let registry = lock()?;
    let registry = registry.as_ref()?;
    let of =
        |kind: u32| access(registry.oracle.graph(), registry.list[(kind & NUMBER) as usize - 1]);
    let may = registry.oracle.alias(of(a), of(b)) == AliasResult::MayAlias;
    slot.store(key | u64::from(may), Relaxed);
    Some(may)
}

/// Returns the rules that say that two accesses do not alias.
pub(crate) fn rules_against(registry: &Registry, a: &Described, b: &Described) -> Vec<AliasRule> {
    let graph = registry.oracle.graph();
    let [a, b] = [a, b].map(|site| access(graph, (site.tag, site.size)));
    let against =
        |rules: &AliasRule| Oracle::new(graph, *rules).alias(a, b) == AliasResult::NoAlias;
    AliasRule::ALL.into_iter().filter(against).collect()
}
