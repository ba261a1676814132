//! Checks the alias regions of a function against the tags of its accesses.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;

use cranelift_codegen::ir::{AliasRegion, Function, Inst};
use tbaa::{Access, Graph, Oracle, TagId};

use crate::Tags;
use crate::flow::exposed;
use crate::memory::{Memory, is_fence, own_size};

/// The kinds of mistakes in an access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Rule {
    /// Two accesses that may alias are in two regions. At least one stores, and neither is atomic.
    /// Cranelift assumes NoAlias.
    Parted,
    /// An access without a region may alias an earlier store in a region, and some path between
    /// them has no fence, such as a call. Cranelift ignores the store at this access.
    Hidden,
    /// A store has an immutable tag, which promises that the memory never changes.
    ImmutableStore,
    /// Two accesses that may alias are in two regions, but neither stores, or one is atomic.
    /// Cranelift compiles such code correctly, but forbids it: inlining may add a store.
    PartedSafely,
    /// An access touches more bytes than its tag covers.
    Wide,
    /// A load is `readonly`, but judging by the tags, a store in the function may write its memory.
    Readonly,
    /// An access that is not `readonly` has no region, but another access of the function has one.
    NoRegion,
}

impl Rule {
    /// Returns whether a finding of this rule is an error: the function may be miscompiled.
    pub fn is_error(self) -> bool {
        matches!(self, Rule::Parted | Rule::Hidden | Rule::ImmutableStore)
    }

    /// Returns what to do about the mistake.
    pub fn remedy(self) -> &'static str {
        match self {
            Rule::Parted | Rule::PartedSafely => {
                "give both accesses one region, or let `Regions::apply` give all regions; if the two never touch the same memory, declare them as different types"
            }
            Rule::Hidden => {
                "give the access the store's region, or call `Regions::insert_sequence_points`"
            }
            Rule::ImmutableStore => {
                "use a tag that is not immutable for memory that the program writes"
            }
            Rule::Wide => "use the tag of the whole record, or one access for each field",
            Rule::Readonly => {
                "remove `readonly` unless the memory never changes while the function runs"
            }
            Rule::NoRegion => {
                "attach a tag to the access, and a narrower one where a tag may alias several regions"
            }
        }
    }
}

/// The reason why an access has no region.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Why {
    /// No tag was recorded for the instruction.
    NoTag,
    /// The oracle's graph does not contain the tag.
    UnknownTag,
    /// The tag does not apply to an access of this size, or the size is unknown.
    Wide,
    /// Any other reason. For example, the access may alias accesses in several regions, or it is a
    /// store whose value a load without a region may read.
    Vague,
}

impl Why {
    pub(crate) fn of<G: Borrow<Graph>>(oracle: &Oracle<G>, tags: &Tags, memory: &Memory) -> Why {
        match tags.get(memory.inst) {
            None => Why::NoTag,
            Some(tag) if !oracle.graph().owns_tag(tag) => Why::UnknownTag,
            Some(_) if memory.access.tag.is_none() => Why::Wide,
            Some(_) => Why::Vague,
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::NoTag => "no tag was recorded for it",
            Why::UnknownTag => "the oracle does not know its tag",
            Why::Wide => "it is wider than its tag",
            Why::Vague => "its tag may alias accesses of several regions, or of none",
        })
    }
}

/// A finding of [`check`]. Its text says what is wrong, where, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The access.
    pub inst: Inst,
    /// The access that `inst` conflicts with; `None` if the rule is about a single access.
    pub other: Option<Inst>,
    /// The mistake and the instructions, without the remedy.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = if self.rule.is_error() { "error" } else { "warning" };
        write!(f, "{level}: {}\n  help: {}", self.message, self.rule.remedy())
    }
}

/// Compares the alias regions of a function, wherever they come from, with the oracle's answers for
/// its tags.
///
/// Errors come first, then warnings, both in the order of the code. For [`Rule::Parted`] and
/// [`Rule::PartedSafely`], accesses with the same tag, size, kind, atomicity and region form a
/// group: two groups have at most one finding, for the first access of each.
///
/// Call this function before Cranelift optimises `func` or inlines calls. Inlined instructions have
/// no tags in `tags`, so correct code would have findings. An access without a tag may touch any
/// memory. A wrong tag is not detected.
///
/// [`Rule::Parted`] and [`Rule::Hidden`] follow from Cranelift's `alias_analysis.rs`.
pub fn check<G: Borrow<Graph>>(oracle: &Oracle<G>, func: &Function, tags: &Tags) -> Vec<Finding> {
    let checker = Checker { oracle, func, tags };
    let accesses = Memory::all(oracle, func, tags);
    let mut findings = checker.parted(&accesses);
    findings.extend(exposed(oracle, func, tags).iter().map(|pair| checker.hidden(pair)));
    findings.extend(accesses.iter().filter_map(|memory| checker.alone(memory)));
    findings.extend(checker.readonly(&accesses));
    if accesses.iter().any(|memory| memory.region.is_some()) {
        let bare = accesses.iter().filter(|memory| memory.region.is_none() && !memory.readonly);
        findings.extend(bare.map(|memory| checker.no_region(memory)));
    }
    // Sort by the position in the layout. The numbers of instructions may have another order.
    let places: HashMap<Inst, usize> =
        accesses.iter().enumerate().map(|(place, memory)| (memory.inst, place)).collect();
    findings.sort_by_key(|finding| {
        (!finding.rule.is_error(), places.get(&finding.inst).copied(), finding.rule)
    });
    findings
}

struct Checker<'a, G> {
    oracle: &'a Oracle<G>,
    func: &'a Function,
    tags: &'a Tags,
}

impl<G: Borrow<Graph>> Checker<'_, G> {
    /// Finds accesses that may alias and are in two regions. `readonly` loads are left out: nothing
    /// writes their memory while the function runs, so they cannot conflict with a store.
    fn parted(&self, accesses: &[Memory]) -> Vec<Finding> {
        let mut groups: HashMap<(Access, AliasRegion, bool), usize> = HashMap::new();
        let mut firsts: Vec<(Memory, AliasRegion, bool)> = Vec::new();
        for memory in accesses.iter().filter(|memory| !memory.readonly) {
            let Some(region) = memory.region else { continue };
            // At an atomic access, Cranelift forgets the contents of all regions.
            let atomic = is_fence(self.func, memory.inst);
            let group = *groups.entry((memory.access, region, atomic)).or_insert(firsts.len());
            if group == firsts.len() {
                firsts.push((*memory, region, atomic));
            }
        }
        let mut found = Vec::new();
        for (at, (second, region, atomic)) in firsts.iter().enumerate() {
            for (first, other, fence) in &firsts[..at] {
                if region == other || !self.oracle.may_alias(first.access, second.access) {
                    continue;
                }
                let safe = *atomic || *fence || !(first.stores() || second.stores());
                let clause = self.oracle.explain(first.access, second.access).clause;
                let message = format!(
                    "{} and {} may alias (rule {}: {clause}), but they are in two regions: {} and {}",
                    self.at(first),
                    self.at(second),
                    self.oracle.rule(),
                    self.named(*other),
                    self.named(*region),
                );
                let rule = if safe { Rule::PartedSafely } else { Rule::Parted };
                found.push(finding(rule, second, Some(first), message));
            }
        }
        found
    }

    fn hidden(&self, (bare, store): &(Memory, Memory)) -> Finding {
        let region = store.region.map(|region| self.named(region)).unwrap_or_default();
        let message = format!(
            "{} has no region, so Cranelift does not see that {} ({region}) may write the same memory before it",
            self.at(bare),
            self.at(store),
        );
        finding(Rule::Hidden, bare, Some(store), message)
    }

    /// Returns the mistake of a single access: a store with an immutable tag, or too many bytes.
    fn alone(&self, memory: &Memory) -> Option<Finding> {
        let tag = self.tags.get(memory.inst)?;
        if memory.stores() && self.oracle.is_constant(tag) {
            let message = format!("{} writes memory that its tag calls immutable", self.at(memory));
            return Some(finding(Rule::ImmutableStore, memory, None, message));
        }
        let own = own_size(self.oracle, tag.into())?;
        let width = memory.width.filter(|&width| width > own)?;
        let message =
            format!("{} touches {width} bytes, but its tag covers {own}", self.at(memory));
        Some(finding(Rule::Wide, memory, None, message))
    }

    /// Finds `readonly` loads whose memory a store may write. Each finding names one such store.
    fn readonly(&self, accesses: &[Memory]) -> Vec<Finding> {
        let mut stores: HashMap<Access, Memory> = HashMap::new();
        for store in accesses.iter().filter(|memory| memory.stores()) {
            stores.entry(store.access).or_insert(*store);
        }
        let finding = |load: &Memory| {
            let may = |store: &&Memory| self.oracle.may_alias(store.access, load.access);
            let store = stores.values().filter(may).min_by_key(|store| store.inst)?;
            let (load_text, store_text) = (self.at(load), self.at(store));
            let message =
                format!("{load_text} is `readonly`, but {store_text} may write what it reads");
            Some(finding(Rule::Readonly, load, Some(store), message))
        };
        accesses.iter().filter(|memory| memory.readonly).filter_map(finding).collect()
    }

    fn no_region(&self, memory: &Memory) -> Finding {
        let cost = if memory.stores() {
            "Cranelift forgets what it knows of all memory there"
        } else {
            "it needs a sequence point behind each store that may write what it reads"
        };
        let why = Why::of(self.oracle, self.tags, memory);
        let message = format!("{} has no region ({why}): {cost}", self.at(memory));
        finding(Rule::NoRegion, memory, None, message)
    }

    /// Returns a text for an access: its instruction, and the types and offset of its tag.
    fn at(&self, memory: &Memory) -> String {
        let inst = memory.inst;
        let text = self.func.dfg.display_inst(inst);
        match self.tags.get(inst) {
            Some(tag) => format!("{inst} `{text}` ({})", self.meaning(tag)),
            None => format!("{inst} `{text}` (no tag)"),
        }
    }

    fn meaning(&self, tag: TagId) -> String {
        let graph = self.oracle.graph();
        let Some(tag) = graph.owns_tag(tag).then(|| graph.tag(tag).ok()).flatten() else {
            return "a tag that the oracle does not know".to_owned();
        };
        let name =
            |ty| String::from_utf8_lossy(graph.ty(ty).name().unwrap_or_default()).into_owned();
        if tag.base == tag.access {
            name(tag.access)
        } else {
            format!("{} at {} of {}", name(tag.access), tag.offset, name(tag.base))
        }
    }

    /// Returns a text for a region: its number, and its description if it has one.
    fn named(&self, region: AliasRegion) -> String {
        let regions = &self.func.dfg.alias_regions;
        if regions.is_valid(region) && !regions[region].description.is_empty() {
            format!("{region} \"{}\"", regions[region].description)
        } else {
            region.to_string()
        }
    }
}

fn finding(rule: Rule, at: &Memory, other: Option<&Memory>, message: String) -> Finding {
    Finding { rule, inst: at.inst, other: other.map(|other| other.inst), message }
}
