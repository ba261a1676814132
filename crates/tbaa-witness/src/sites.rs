//! The accesses of all modules, their tags, and what the rule says of two.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::CStr;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering::*};
use tbaa::raw::{Draft, DraftOperand, RawGraph};
use tbaa::{Access, AliasResult, AliasRule, Graph, NodeId, Operand, Oracle, TagId, TypeKind};

use tbaa_instrument::layout::VERSION;
use tbaa_ir::demangled_function;

use crate::lock::{Guard, Lock};
use crate::options::options;
use crate::report;
use crate::states::{self, Event, Row};

/// An access of the program by its number, which counts from 1 through all
/// modules and has 26 bits.
pub(crate) type Site = u32;

pub(crate) const MAX_SITES: u32 = (1 << 26) - 1;
/// The base of a module that could not be registered.
const FAILED: u64 = 2;

/// What a module says of itself: `@__tbaa_witness.module`.
#[repr(C)]
pub struct Module {
    /// Its first site as a change has it ([`states::change`]); 0 until it is registered.
    base: AtomicU64,
    version: u32,
    count: u32,
    strings_len: u32,
    sites: *const [u32; 2],
    places: *const [u32; 6],
    strings: *const u8,
    tags: *const u8,
    tags_len: u64,
    /// One for each site.
    rows: *const Row,
}

/// One access in words.
#[derive(Clone)]
pub(crate) struct Described {
    pub(crate) tag: TagId,
    /// In bytes; 0 where it is known only as it runs.
    pub(crate) size: u64,
    pub(crate) function: String,
    /// Empty where the program has no debug information.
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) what: String,
    /// The typedef of the base type, if its node has no name.
    pub(crate) base: String,
    /// The number of its module.
    module: usize,
}

impl Described {
    /// The function, by its name in the source if it is a C++ function.
    pub(crate) fn function_name(&self) -> String {
        demangled_function(self.function.as_bytes()).unwrap_or_else(|| self.function.clone())
    }
}

/// In which order two accesses came: what LLVM does most often first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Order {
    WriteRead,
    ReadWrite,
    WriteWrite,
}

/// The kind of each site: a number of its tag and size. All sites of a kind
/// answer alike.
static KINDS: AtomicPtr<AtomicU32> = AtomicPtr::new(ptr::null_mut());

/// Set in the kinds of characters.
const CHARACTER: u32 = 1 << 30;

/// Answers by two kinds: 31 bits of each, and whether they may alias.
static ANSWERS: [AtomicU64; 1 << 12] = [const { AtomicU64::new(0) }; 1 << 12];

/// Whether a write over a write is to be judged.
static STORES: AtomicBool = AtomicBool::new(false);

/// Whether a read and a later write are to be judged.
static READERS: AtomicBool = AtomicBool::new(false);

static REGISTRY: Lock<Option<Registry>> = Lock::new(None);

/// All modules that ran so far.
pub(crate) struct Registry {
    /// By their first sites, ascending.
    modules: Vec<Known>,
    next: Site,
    pub(crate) oracle: Oracle<Graph>,
    /// The kinds, and each one's number less 1.
    kinds: HashMap<(TagId, u64), u32>,
    list: Vec<(TagId, u64)>,
}

/// A module's own tables. The program's stay, and all others are copied: a library may be unloaded, and a
/// JIT may free what it has run.
struct Known {
    first: Site,
    sites: Cow<'static, [[u32; 2]]>,
    places: Cow<'static, [[u32; 6]]>,
    strings: Cow<'static, [u8]>,
    /// In the order in which the sites count them.
    tags: Vec<TagId>,
}

// SAFETY: a module's pointers are to its constants.
unsafe impl Sync for Module {}

impl Module {
    /// An access by the site with this number in the module. Where the module cannot be
    /// registered nothing is known after a write.
    #[inline]
    pub(crate) fn event(&'static self, number: u32) -> Event {
        let mut base = self.base.load(Acquire);
        if base == 0 {
            self.register();
            base = self.base.load(Acquire);
        }
        let at = number as usize;
        // SAFETY: a module has as many sites and rows as it says, and rows are valid atomics.
        let (row, size) = unsafe { (&*self.rows.add(at), (*self.sites.add(at))[1]) };
        let (size, reads) = (size >> 1, size & 1 == 0);
        let site = states::site(base).map_or(0, |first| first + number);
        Event::new(site, reads, size, row)
    }

    #[cold]
    fn register(&'static self) {
        let stays = loaded(self.sites.addr());
        let Some(mut registry) = lock() else { return };
        let registry = registry.get_or_insert_with(Registry::new);
        // Another thread may have been first.
        if self.base.load(Acquire) == 0 {
            let base =
                registry.add(self, stays).map_or(FAILED, |first| states::change(0, 0, first));
            self.base.store(base, Release);
        }
    }
}

/// Returns whether an address is among the constants of the program's own file. Forgets all memory if a library has been
/// unloaded since this was asked last: where it was, another may be loaded, whose variables nobody has
/// written.
fn loaded(address: usize) -> bool {
    static UNLOADED: AtomicU64 = AtomicU64::new(0);
    struct Found {
        address: usize,
        is_constant: bool,
        unloaded: u64,
    }
    /// Of the first, which is the program.
    unsafe extern "C" fn first(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        found: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the C library hands over what it knows of a file, and what it was given.
        let (info, found) = unsafe { (&*info, &mut *found.cast::<Found>()) };
        // SAFETY: the file has as many parts as it says.
        let parts = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let within = found.address.wrapping_sub(info.dlpi_addr as usize);
        found.is_constant = parts.iter().any(|part| {
            let start = part.p_vaddr as usize;
            // A JIT may have put a module into a variable of the program.
            let stays = part.p_type == libc::PT_LOAD && part.p_flags & libc::PF_W == 0;
            stays && (start..start + part.p_memsz as usize).contains(&within)
        });
        found.unloaded = info.dlpi_subs;
        1
    }
    let mut found = Found { address, is_constant: false, unloaded: 0 };
    // SAFETY: the function gets what is its own.
    unsafe { libc::dl_iterate_phdr(Some(first), ptr::from_mut(&mut found).cast()) };
    if UNLOADED.swap(found.unloaded, Relaxed) != found.unloaded {
        crate::shadow::forget_all();
    }
    found.is_constant
}

/// Takes the registry.
pub(crate) fn lock() -> Option<Guard<'static, Option<Registry>>> {
    REGISTRY.take()
}

impl Registry {
    fn new() -> Self {
        STORES.store(options().report_stores, Relaxed);
        READERS.store(options().reuse, Relaxed);
        Registry {
            modules: Vec::new(),
            next: 1,
            oracle: Oracle::new(Graph::new(), options().rules),
            kinds: HashMap::new(),
            list: Vec::new(),
        }
    }

    /// Adds a module whose tables may stay where they are, and returns its first site.
    fn add(&mut self, module: &'static Module, stays: bool) -> Option<Site> {
        let first = self.next;
        let next = first.checked_add(module.count).filter(|next| *next <= MAX_SITES);
        let (Some(next), VERSION) = (next, module.version) else {
            report::say("a module was instrumented by another version of tbaa: it is not checked");
            return None;
        };
        if KINDS.load(Acquire).is_null() {
            let kinds = crate::memory::map(MAX_SITES as usize * size_of::<u32>())?;
            KINDS.store(kinds.cast(), Release);
        }
        // SAFETY: the module's constants are as long as it says.
        let (tags, sites, places, strings) = unsafe {
            (
                std::slice::from_raw_parts(module.tags, module.tags_len as usize),
                std::slice::from_raw_parts(module.sites, module.count as usize),
                std::slice::from_raw_parts(module.places, module.count as usize),
                std::slice::from_raw_parts(module.strings, module.strings_len as usize),
            )
        };
        let own = tbaa_ir::read(tags).ok()?.into_graph();
        let tags = if self.modules.is_empty() {
            self.oracle = Oracle::new(own, options().rules);
            self.oracle.graph().tags().collect()
        } else {
            self.oracle.update(|graph| merge(graph, &own))?
        };
        for (number, site) in sites.iter().enumerate() {
            let key = (*tags.get(site[0] as usize)?, u64::from(site[1] >> 1));
            let graph = self.oracle.graph();
            let kind = *self.kinds.entry(key).or_insert_with(|| {
                self.list.push(key);
                self.list.len() as u32 | if is_character(graph, key) { CHARACTER } else { 0 }
            });
            kind_cell(first + number as u32).store(kind, Relaxed);
        }
        self.next = next;
        let (sites, places, strings) = match stays {
            true => (sites.into(), places.into(), strings.into()),
            false => (sites.to_vec().into(), places.to_vec().into(), strings.to_vec().into()),
        };
        self.modules.push(Known { first, sites, places, strings, tags });
        Some(first)
    }

    pub(crate) fn describe(&self, site: Site) -> Option<Described> {
        let at = self.modules.partition_point(|known| known.first <= site).checked_sub(1)?;
        let known = &self.modules[at];
        let string = |at: u32| {
            let bytes = known.strings.get(at as usize..).unwrap_or_default();
            let string = CStr::from_bytes_until_nul(bytes).unwrap_or_default();
            string.to_string_lossy().into_owned()
        };
        let number = (site - known.first) as usize;
        let [tag, size] = *known.sites.get(number)?;
        let [function, file, line, column, what, base] = *known.places.get(number)?;
        Some(Described {
            tag: *known.tags.get(tag as usize)?,
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

    /// Whether two accesses were compiled in one module, and are in one function. One in a function of a header is in
    /// each module that has it.
    pub(crate) fn are_together(&self, a: &Described, b: &Described) -> [bool; 2] {
        let has = |module: usize, it: &Described| {
            let known = &self.modules[module];
            let [function, file] =
                [&it.function, &it.file].map(|it| [it.as_bytes(), b"\0"].concat());
            let is = |at: u32, text: &[u8]| {
                known.strings.get(at as usize..).is_some_and(|it| it.starts_with(text))
            };
            let mut places = known.places.iter();
            !it.file.is_empty() && places.any(|at| is(at[0], &function) && is(at[1], &file))
        };
        let is_one = a.module == b.module || has(a.module, b) || has(b.module, a);
        [is_one, is_one && a.function == b.function]
    }
}

/// An access by a tag, of a size where that is known.
pub(crate) fn access((tag, size): (TagId, u64)) -> Access {
    let access = Access::from(tag);
    if size == 0 { access } else { access.with_size(size) }
}

/// Whether an access is of one byte, by a type that all others but a few are below: C++'s `char`,
/// beside which is the pointer to a vtable.
fn is_character(graph: &Graph, (tag, size): (TagId, u64)) -> bool {
    let is_top = |access| {
        let parent = graph.ty(access).parent();
        parent.is_some_and(|it| graph.ty(it).kind() == TypeKind::Root)
            && graph.types().any(|ty| graph.ty(ty).parent() == Some(access))
    };
    size == 1 && graph.tag(tag).is_ok_and(|tag| tag.base == tag.access && is_top(tag.access))
}

/// Adds a module's nodes to the graph of all, and returns its tags there.
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

#[inline]
fn kind_cell<'k>(site: Site) -> &'k AtomicU32 {
    // SAFETY: a site exists only once the kinds are mapped, which are as many
    // as there can be sites; zeroes are valid atomics.
    unsafe { &*KINDS.load(Relaxed).add(site as usize) }
}

/// The number of a site's tag and size; 0 for no site.
#[inline]
pub(crate) fn kind(site: Site) -> u32 {
    if site == 0 { 0 } else { kind_cell(site).load(Relaxed) }
}

/// Whether a site is of characters.
pub(crate) fn is_of_characters(site: Site) -> bool {
    kind(site) & CHARACTER != 0
}

/// Whether two sites have one tag and one size.
#[inline]
pub(crate) fn same_kind(a: Site, b: Site) -> bool {
    a == b || kind(a) == kind(b)
}

/// Whether a write over a write is reported.
pub(crate) fn judges_stores() -> bool {
    STORES.load(Relaxed)
}

/// Whether a read and a later write are reported.
pub(crate) fn remembers_readers() -> bool {
    READERS.load(Relaxed)
}

/// Reports two accesses that share bytes if the rule says that they cannot. Returns whether
/// it says that they can, or it does not matter; `None` where nobody can be asked.
#[inline]
pub(crate) fn check(
    order: Order,
    first: Site,
    second: Site,
    address: usize,
    bytes: impl FnOnce() -> usize,
) -> Option<bool> {
    let (a, b) = (kind(first), kind(second));
    let agrees = order == Order::WriteWrite && !judges_stores() || may_alias(a, b)?;
    if !agrees {
        report::report(order, first, second, address, bytes());
    }
    Some(agrees)
}

/// Whether the rule says that two kinds may share bytes; `None` where it cannot be asked.
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
    let of = |kind: u32| access(registry.list[(kind & !CHARACTER) as usize - 1]);
    let may = registry.oracle.alias(of(a), of(b)) == AliasResult::MayAlias;
    slot.store(key | u64::from(may), Relaxed);
    Some(may)
}

/// The rules by which two accesses do not alias.
pub(crate) fn rules_against(registry: &Registry, a: &Described, b: &Described) -> Vec<AliasRule> {
    let (a, b) = (access((a.tag, a.size)), access((b.tag, b.size)));
    let graph = registry.oracle.graph();
    let all = [AliasRule::Llvm, AliasRule::Union, AliasRule::UnionStrict];
    let against =
        |rules: &AliasRule| Oracle::new(graph, *rules).alias(a, b) == AliasResult::NoAlias;
    all.into_iter().filter(against).collect()
}
