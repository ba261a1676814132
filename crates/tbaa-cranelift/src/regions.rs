//! Assigns alias regions to accesses. [`Regions`] never changes an assignment.

use std::borrow::{Borrow, Cow};
use std::collections::HashMap;

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::{
    AliasRegion, AliasRegionData, Function, Inst, InstBuilder, MemFlagsData,
};
use tbaa::parts::Vicinity;
use tbaa::parts::table::IndexSet;
use tbaa::{Access, AccessKind, AliasRule, Graph, Oracle};

use crate::flow::exposed;
use crate::memory::{Memory, sized};
use crate::partition::{Node, Relation};
use crate::{Tags, Why};

/// The alias region of each known access, for one function or for many.
///
/// Accesses that may alias are never in two regions. An access that may alias accesses in several
/// regions has no region.
///
/// # Adding accesses
///
/// An access keeps its region, or stays without one. An oracle's answers do not change when types
/// are added. So code compiled earlier stays correct, and may be inlined into later code.
///
/// The order of adding matters: first add all accesses that you know, with [`Regions::extend`]. For
/// the best regions of one function, use a new `Regions` for that function.
///
/// # Inlining
/// Cranelift merges regions of equal `user_id` when it inlines a function. So functions that are
/// inlined into each other must have their regions from one `Regions`.
///
/// ```
/// use tbaa::Session;
/// use tbaa::declare::{Declarations, Record, Target};
/// use tbaa_cranelift::Regions;
///
/// let types = Declarations::new(Target::x86_64());
/// let mut session = Session::with_unions(types);
/// session.define(Record::structure("Point").field("x", "int").field("y", "float"))?;
/// let point = session.tags(&["Point.x", "Point.y"])?;
/// let mut regions = Regions::new(session.oracle());
/// regions.extend(session.oracle(), point.iter().copied())?;
/// assert_ne!(regions.id(point[0]), regions.id(point[1]));
///
/// // The whole of it is apart from neither.
/// let whole = session.tag("Point")?;
/// regions.extend(session.oracle(), [whole])?;
/// assert_eq!(regions.id(whole), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Regions {
    rule: AliasRule,
    known: Vec<Known>,
    places: HashMap<Access, usize>,
    /// The number of regions, which are numbered from 0.
    count: u32,
    most: u32,
}

/// An access whose region has been decided.
#[derive(Clone, Debug)]
struct Known {
    access: Access,
    region: Option<u32>,
    loads: u64,
    stores: u64,
}

/// The effect of [`Regions::apply`] on a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Applied {
    /// The number of regions that the function's accesses use.
    pub regions: usize,
    /// The number of sequence points that were inserted.
    pub sequence_points: usize,
    /// The accesses without a region, in the order of the code, each with the reason.
    pub without_region: Vec<WithoutRegion>,
}

/// An access without a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WithoutRegion {
    /// The access.
    pub inst: Inst,
    /// The reason why the access has no region.
    pub why: Why,
}

/// The reason why regions cannot be assigned.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegionError {
    /// The oracle uses another rule than the regions. Regions of two rules cannot be combined.
    #[error(
        "these regions follow rule {regions}, and this oracle follows rule {oracle}: make new \
         regions for it"
    )]
    OtherRule {
        /// The rule of the regions.
        regions: AliasRule,
        /// The rule of the oracle.
        oracle: AliasRule,
    },
    /// The function needs more than 65,535 combinations of memory flags, Cranelift's limit.
    #[error(
        "the function has more than 65,535 combinations of memory flags: split it, or give its \
         tags fewer regions"
    )]
    TooManyFlags,
}

/// Up to this number of new accesses, each is compared with all known accesses.
const FEW_ACCESSES: usize = 64;

/// The number of rounds in which one store loses its region for each load that would miss a store.
/// In the next round, all stores that may alias such a load lose their regions.
const MAX_ROUNDS: usize = 8;

impl Regions {
    /// The default for [`Regions::at_most`]. Cranelift's analysis takes time for each region and
    /// block, and more regions separate hardly more accesses.
    pub const MOST: u32 = 16;

    /// Creates an empty set of regions, for oracles with the same rule as `oracle`.
    pub fn new<G: Borrow<Graph>>(oracle: &Oracle<G>) -> Regions {
        let (known, places, most) = (Vec::new(), HashMap::new(), Regions::MOST);
        Regions { rule: oracle.rule(), known, places, count: 0, most }
    }

    /// Sets the largest number of regions, at least 1 (default: [`Regions::MOST`]). Accesses that
    /// need a further region join the one with which they have the fewest load-store pairs.
    #[must_use]
    pub fn at_most(self, most: u32) -> Regions {
        Regions { most, ..self }
    }

    /// Assigns regions to new accesses with a tag. List each one as often as it occurs in the code:
    /// frequent loads and stores have more weight.
    ///
    /// # Errors
    ///
    /// [`RegionError::OtherRule`].
    pub fn extend<G: Borrow<Graph>>(
        &mut self,
        oracle: &Oracle<G>,
        accesses: impl IntoIterator<Item = impl Into<Access>>,
    ) -> Result<(), RegionError> {
        if oracle.rule() != self.rule {
            return Err(RegionError::OtherRule { regions: self.rule, oracle: oracle.rule() });
        }
        let old = self.known.len();
        for access in accesses {
            let given: Access = access.into();
            let access = sized(oracle, given);
            if access.tag.is_none() {
                continue;
            }
            let place = *self.places.entry(access).or_insert(self.known.len());
            if place == self.known.len() {
                self.known.push(Known { access, region: None, loads: 0, stores: 0 });
            }
            self.places.insert(given.with_kind(AccessKind::Both), place);
            let known = &mut self.known[place];
            known.loads += u64::from(given.kind != AccessKind::Write);
            known.stores += u64::from(given.kind != AccessKind::Read);
        }
        self.place(oracle, old);
        Ok(())
    }

    /// Assigns regions to the accesses in `known` from index `old` on.
    fn place<G: Borrow<Graph>>(&mut self, oracle: &Oracle<G>, old: usize) {
        if old == self.known.len() {
            return;
        }
        let node = |given| Node { loads: 0, stores: 0, accesses: 0, given };
        let mut nodes: Vec<Node> = (0..self.count).map(|region| node(Some(region))).collect();
        // For many new accesses, index the known accesses by their types.
        let mut vicinity = (self.known.len() - old > FEW_ACCESSES).then(|| Vicinity::new(oracle));
        if let Some(vicinity) = &mut vicinity {
            let known = (0..).zip(&self.known);
            known.for_each(|(number, known)| vicinity.add(oracle, known.access, number));
        }
        let near = |access: Access| vicinity.as_ref()?.of(oracle, access);
        // New accesses that may alias the same regions and the same new accesses form one node.
        let mut classes: IndexSet<(Vec<u32>, Vec<u32>)> = IndexSet::default();
        let mut class_of = Vec::new();
        for (at, known) in self.known.iter().enumerate() {
            let class = if at < old {
                known.region.map(|region| region as usize)
            } else {
                let (mut touched, mut row) = (Vec::new(), Vec::new());
                let all = || (0..self.known.len() as u32).collect();
                for number in near(known.access).unwrap_or_else(all) {
                    let other = &self.known[number as usize];
                    let of_old = (number as usize) < old;
                    if of_old && other.region.is_none_or(|region| touched.contains(&region))
                        || !oracle.may_alias(known.access, other.access)
                    {
                        continue;
                    }
                    match other.region.filter(|_| of_old) {
                        Some(region) => touched.push(region),
                        None => row.push(number - old as u32),
                    }
                }
                touched.sort_unstable();
                let (class, is_new) = classes.insert_full((touched, row));
                nodes.extend(is_new.then(|| node(None)));
                let class = self.count as usize + class;
                class_of.push(class);
                Some(class)
            };
            if let Some(class) = class {
                nodes[class].loads += known.loads;
                nodes[class].stores += known.stores;
                nodes[class].accesses += 1;
            }
        }
        let mut relation = Relation::default();
        for (number, node) in nodes.into_iter().enumerate() {
            let class = number.checked_sub(self.count as usize);
            let mut may: Vec<usize> = Vec::new();
            if let Some((touched, row)) = class.and_then(|class| classes.get_index(class)) {
                may.extend(touched.iter().map(|&region| region as usize));
                may.extend(row.iter().map(|&new| class_of[new as usize]));
                may.sort_unstable();
                may.dedup();
            }
            relation.add(node, may);
        }
        let regions = relation.regions(self.count, self.most);
        for (known, class) in self.known[old..].iter_mut().zip(class_of) {
            known.region = regions[class];
            self.count = self.count.max(known.region.map_or(0, |region| region + 1));
        }
    }

    /// Returns the number of regions created so far.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Returns whether no region has been created.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the `user_id` of an access's region; `None` if the access is new or has no region.
    ///
    /// Give the access the size that it had in [`Regions::extend`].
    pub fn id(&self, access: impl Into<Access>) -> Option<u32> {
        let access = access.into().with_kind(AccessKind::Both);
        self.places.get(&access).and_then(|&place| self.known[place].region)
    }

    /// Declares and returns the region of an access in a function; `None` as for [`Regions::id`].
    ///
    /// An access without a region may need a sequence point: [`Regions::insert_sequence_points`].
    pub fn region(&self, func: &mut Function, access: impl Into<Access>) -> Option<AliasRegion> {
        let user_id = self.id(access)?;
        let description = Cow::Owned(format!("tbaa {user_id}"));
        Some(func.dfg.alias_regions.insert(AliasRegionData { user_id, description }))
    }

    /// Returns memory flags with an access's region in a function. See [`Regions::region`].
    pub fn flags(
        &self,
        func: &mut Function,
        access: impl Into<Access>,
        flags: MemFlagsData,
    ) -> MemFlagsData {
        flags.with_alias_region(self.region(func, access))
    }

    /// Assigns regions to the accesses of a function, so that Cranelift can remove more loads.
    ///
    /// Call this function when `func` is built, before Cranelift optimises it. Existing regions are
    /// replaced. An access without a tag loses its region, because it may touch any memory.
    ///
    /// A load without a region must see the stores before it. So stores that such a load would miss
    /// get no region either: at a store without a region, Cranelift forgets the contents of memory.
    /// Then sequence points are inserted as by [`Regions::insert_sequence_points`].
    ///
    /// # Errors
    ///
    /// As [`Regions::extend`], and [`RegionError::TooManyFlags`]. Then no instruction is changed.
    pub fn apply<G: Borrow<Graph>>(
        &mut self,
        oracle: &Oracle<G>,
        func: &mut Function,
        tags: &Tags,
    ) -> Result<Applied, RegionError> {
        let accesses = Memory::all(oracle, func, tags);
        self.extend(oracle, accesses.iter().map(|memory| memory.access))?;
        let mut changes = Vec::new();
        let mut bare = HashMap::new();
        for memory in &accesses {
            let region = self.region(func, memory.access);
            let Some(flags) = func.dfg.insts[memory.inst].memflags_data(&func.dfg) else {
                continue;
            };
            let [with, without] = [region, None].map(|region| {
                let flags = func.dfg.mem_flags.insert(flags.with_alias_region(region));
                flags.map_err(|_| RegionError::TooManyFlags)
            });
            changes.push((memory.inst, with?));
            bare.insert(memory.inst, without?);
        }
        let set = |func: &mut Function, inst: Inst, flags| {
            if let Some(place) = func.dfg.insts[inst].memflags_mut() {
                *place = flags;
            }
        };
        changes.into_iter().for_each(|(inst, flags)| set(func, inst, flags));
        for round in 0.. {
            let mut unseen = exposed(oracle, func, tags);
            unseen.retain(|(bare, _)| bare.loads());
            if unseen.is_empty() {
                break;
            }
            let mut seen: Vec<Inst> = unseen.iter().map(|(_, store)| store.inst).collect();
            // `unseen` has one store per load. Round `MAX_ROUNDS` adds all that may alias the load.
            if round == MAX_ROUNDS {
                let sees = |store: &&Memory| {
                    let may = |bare: &Memory| oracle.may_alias(bare.access, store.access);
                    store.stores() && unseen.iter().any(|(bare, _)| may(bare))
                };
                seen.extend(accesses.iter().filter(sees).map(|memory| memory.inst));
            }
            seen.into_iter().for_each(|inst| set(func, inst, bare[&inst]));
        }
        let mut applied = Applied::default();
        let mut used = Vec::new();
        for memory in accesses {
            match func.dfg.insts[memory.inst].alias_region(&func.dfg) {
                Some(region) => used.push(region),
                None => {
                    let why = Why::of(oracle, tags, &memory);
                    applied.without_region.push(WithoutRegion { inst: memory.inst, why });
                }
            }
        }
        used.sort_unstable();
        used.dedup();
        applied.regions = used.len();
        applied.sequence_points = Regions::insert_sequence_points(oracle, func, tags);
        Ok(applied)
    }

    /// Inserts sequence points before the accesses without a region that would miss a store in a
    /// region. Returns the number of sequence points.
    ///
    /// In Cranelift, every access sees a store without a region, but an access without a region
    /// misses stores in regions. A sequence point generates no code; it makes Cranelift forget the
    /// contents of memory.
    pub fn insert_sequence_points<G: Borrow<Graph>>(
        oracle: &Oracle<G>,
        func: &mut Function,
        tags: &Tags,
    ) -> usize {
        let exposed = exposed(oracle, func, tags);
        for (bare, _) in &exposed {
            FuncCursor::new(func).at_inst(bare.inst).ins().sequence_point();
        }
        exposed.len()
    }
}
