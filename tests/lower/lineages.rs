//! A *lineage* is a `Lowering`, which makes tags for LLVM, and grows. One program has several.

use tbaa::declare::{DeclId, Declarations, Policy, Record, TaggedTypes, Target};
use tbaa::raw::RawGraph;
use tbaa::{Access, AliasRule, Graph, Oracle, TagId};
use tbaa_lower::emit::Emitter;
use tbaa_lower::{
    LowerError, Lowering, Options, Saved, Shared, Source, access_paths, tags_of_clang,
};

use super::llvm::grid;
use super::random::records;
use tbaa_tests::Rng;
use tbaa_tests::llvm::Llvm;
use tbaa_tests::setting;
use tbaa_tests::universe::Universe;

/// One access in the linked program, by a lineage or by clang.
#[derive(Default)]
struct Use {
    /// The lineage that made the tag; `CLANG` for clang.
    lineage: usize,
    /// For an access by clang: bit `n` is set if lineage `n` was told of the access.
    told: u8,
    /// The access, with a tag of [`Program::source`].
    access: Access,
    /// The access's tag in the linked program.
    tag: Option<TagId>,
    /// The tag that clang gives to the same access.
    clang: Option<TagId>,
    /// True if the lineage declared the memory private.
    private: bool,
    /// True if all lineages are forks of one. Forks share their private memory.
    forked: bool,
    /// True if the access's tag aliases everything.
    universal: bool,
}

const CLANG: usize = usize::MAX;

impl Use {
    /// Returns whether to check LLVM's answer on two accesses: one is by a lineage, and they may
    /// reach the same byte while every lineage and clang keep their promises.
    fn meets(&self, other: &Use) -> bool {
        match (self.lineage, other.lineage) {
            (CLANG, CLANG) => false,
            // The promises: each lineage is told which record types clang's code uses, and clang
            // does not access private memory.
            (CLANG, lineage) => self.told >> lineage & 1 != 0 && !other.private,
            (_, CLANG) => other.meets(self),
            (one, two) if one == two || self.forked => true,
            // Another lineage reaches private memory only through a tag that aliases everything.
            _ => (!self.private || other.universal) && (!other.private || self.universal),
        }
    }
}

/// Returns the number in a record's name: 3 for `R3`.
fn number_of(name: &str) -> Option<usize> {
    name.strip_prefix('R')?.parse().ok()
}

/// Linked modules of several lineages and of clang.
struct Program {
    source: Graph,
    linked: Emitter<Graph>,
    uses: Vec<Use>,
}

struct Lineage {
    rfc: TaggedTypes,
    source: Graph,
    lowering: Lowering,
    given: Vec<(String, Option<u64>, bool)>,
}

impl Lineage {
    /// Lowers the accesses of some paths, a random number at a time. `private` returns whether the
    /// memory of a tag is private.
    fn grow(&mut self, rng: &mut Rng, paths: &[String], private: impl Fn(&Graph, TagId) -> bool) {
        let paths: Vec<&String> = paths.iter().filter(|_| !rng.one_in(3)).collect();
        let order = rng.shuffled(paths.len());
        let step = 1 + rng.below(12);
        for some in order.chunks(step) {
            let mut sources = Vec::new();
            for path in some.iter().map(|&at| paths[at]) {
                let Ok(tag) = self.rfc.tag(&mut self.source, path) else { continue };
                let size = rng.one_in(12).then(|| *rng.pick(&[0, 1, 4, 8, 16]));
                let mut source = size.map_or(tag.into(), |size| Source::sized(tag, size));
                source.private |= private(&self.source, tag);
                self.given.push((path.clone(), size, source.private));
                sources.push(source);
            }
            let oracle = Oracle::new(&self.source, AliasRule::Union);
            self.lowering.lower(&oracle, sources).unwrap();
        }
        let oracle = Oracle::new(&self.source, AliasRule::Union);
        assert_eq!(self.lowering.check(&oracle), []);
    }
}

/// Returns paths of accesses to declared types, and every seventh path also as immutable.
fn paths(types: &Declarations) -> Vec<String> {
    let mut paths = access_paths(types, |_| true);
    paths.extend(types.records().map(|record| types.display(record)));
    let immutable = paths.iter().step_by(7).map(|path| format!("immutable {path}"));
    paths.extend(immutable.collect::<Vec<_>>());
    paths
}

impl Program {
    fn new(seed: u64) -> Program {
        let mut rng = Rng(seed);
        let records = records(&mut rng);
        let parts = records.names().count();
        let count = 2 + rng.below(3);
        let forked = rng.one_in(2);
        // If `mixed`, all records that are not shared are private memory.
        let mixed = rng.one_in(2);
        let shared_parts: Vec<bool> = (0..parts).map(|_| !mixed || rng.one_in(2)).collect();
        let all = records.declare(Target::x86_64(), |_| true).unwrap();
        let named = (0..parts).filter(|&at| shared_parts[at]);
        let named = named.filter_map(|at| all.named(&format!("R{at}")));
        let shared = Shared::new(&all, named);
        let mut rfc = all.clone().into_tagged(Policy::Rfc);
        let mut source = Graph::new();
        let mut program =
            Program { source: Graph::new(), linked: Emitter::new(Graph::new()), uses: Vec::new() };

        let mut lineages: Vec<Lineage> = Vec::new();
        let mut told_of = vec![0_u8; parts];
        let mut stored: Option<(String, Declarations)> = None;
        for number in 0..count {
            let name = format!("lineage {number}");
            let wanted: Vec<bool> = (0..parts).map(|_| !rng.one_in(3)).collect();
            // Private memory belongs to the first lineage, or to all forks.
            let is_private = |graph: &Graph, tag: TagId| {
                mixed && (forked || number == 0) && shared.source(graph, tag).private
            };
            let (types, lowering, source) = match &stored {
                None => {
                    let types = records.declare(Target::x86_64(), |at| wanted[at]).unwrap();
                    let mut source = Graph::new();
                    // `by_name`: clang's code uses the record type, and this lineage is told so.
                    let told: Vec<bool> = (0..parts).map(|_| !rng.one_in(3)).collect();
                    let by_name = |record: DeclId| {
                        let name = types.display(record);
                        let known = all.named(&name).is_some_and(|id| shared.has(id));
                        known && number_of(&name).is_some_and(|at| told[at])
                    };
                    for record in types.records().filter(|&record| by_name(record)) {
                        let at = number_of(&types.display(record)).unwrap();
                        told_of[at] |= if forked { u8::MAX } else { 1 << number };
                    }
                    let (theirs, pairs) = tags_of_clang(&types, &mut source, by_name).unwrap();
                    let mut lowering = Lowering::new(Options::new().lineage(name));
                    let oracle = Oracle::new(&source, AliasRule::Union);
                    lowering.fix(&oracle, theirs, pairs).unwrap();
                    drop(oracle);
                    (types, lowering, source)
                }
                Some((text, types)) => {
                    let saved: Saved<'static> = ron::from_str(text).unwrap();
                    let (lowering, source) = Lowering::load(saved.fork(name)).unwrap();
                    (types.clone(), lowering, source)
                }
            };
            let rfc = types.clone().into_tagged(Policy::Rfc);
            let mut lineage = Lineage { rfc, source, lowering, given: Vec::new() };
            lineage.grow(&mut rng, &paths(&types), is_private);
            if forked && stored.is_none() {
                let oracle = Oracle::new(&lineage.source, AliasRule::Union);
                let text = ron::to_string(&lineage.lowering.save(&oracle)).unwrap();
                stored = Some((text, types));
            }
            lineages.push(lineage);
        }
        // clang's own accesses, to shared memory.
        let mut clang = all.clone().into_tagged(Policy::Clang);
        let (mut theirs, pairs) = tags_of_clang(&all, &mut source, |id| shared.has(id)).unwrap();
        for (number, lineage) in lineages.iter_mut().enumerate() {
            let mut given = std::mem::take(&mut lineage.given);
            given.dedup();
            for (path, size, private) in given {
                // Tags are looked up, not lowered: a lineage that was forked must not grow.
                let tag = lineage.rfc.tag(&mut lineage.source, &path).unwrap();
                let of =
                    |tag: TagId| size.map_or(tag.into(), |size| Access::from(tag).with_size(size));
                let lowered = lineage.lowering.tag(of(tag));
                let access = of(rfc.tag(&mut source, &path).unwrap());
                let tag = lowered.map(|tag| program.link(lineage.lowering.graph(), tag));
                let universal = path.ends_with("*char") && size.is_none();
                let clang = clang.tag(&mut theirs, &path).ok();
                let clang = clang.map(|tag| program.link(&theirs, tag));
                let (lineage, told) = (number, 0);
                let one = Use { lineage, told, access, tag, clang, private, forked, universal };
                program.uses.push(one);
            }
        }
        for (from, tag) in pairs {
            let tag = Some(program.link(&theirs, tag));
            let base = source.ty(source.tag(from).unwrap().base).name().unwrap();
            let record = number_of(std::str::from_utf8(base).unwrap());
            let told = record.map_or(u8::MAX, |record| told_of[record]);
            let (lineage, access, clang) = (CLANG, from.into(), tag);
            program.uses.push(Use { lineage, told, access, tag, clang, ..Use::default() });
        }
        program.source = source;
        program
    }

    /// Adds a tag to the linked program, where equal nodes are merged.
    fn link(&mut self, graph: &Graph, tag: TagId) -> TagId {
        let node = self.linked.node(graph, graph.tag_node(tag)).unwrap();
        self.linked.sink_mut().mark_tag(node)
    }

    /// Asks LLVM about each pair that [meets](Use::meets). Returns the number of these pairs, and
    /// of those that the rule separates. Of the latter, it returns how many LLVM separates too, and
    /// how many LLVM would separate if clang had compiled everything.
    fn check(&self, llvm: &Llvm, seed: u64) -> [usize; 4] {
        let oracle = Oracle::new(&self.source, AliasRule::Union);
        let both = self.uses.iter().flat_map(|one| [one.tag, one.clang]);
        let mut tags: Vec<TagId> = both.flatten().collect();
        tags.sort_unstable();
        tags.dedup();
        let rows = grid(llvm, &format!("seed {seed}"), self.linked.sink(), &tags);
        let place = |tag| tags.binary_search(&tag).unwrap();
        let no_alias = |a: Option<TagId>, b: Option<TagId>| {
            let places = a.map(place).zip(b.map(place));
            places.is_some_and(|(a, b)| [rows[a][b], rows[b][a]].contains(&b'N'))
        };
        let mut sums = [0; 4];
        for (at, a) in self.uses.iter().enumerate() {
            for b in &self.uses[at..] {
                if !a.meets(b) {
                    continue;
                }
                let may = oracle.may_alias(a.access, b.access);
                let (no, of_clang) = (no_alias(a.tag, b.tag), no_alias(a.clang, b.clang));
                let counts = [true, !may, no && !may, of_clang && !may];
                sums = std::array::from_fn(|at| sums[at] + usize::from(counts[at]));
                let shown = [a, b].map(|one| (one.access, one.lineage, one.tag));
                let why = || oracle.explain(a.access, b.access);
                assert!(!(no && may), "seed {seed}: {shown:?}: {}", why());
            }
        }
        sums
    }
}

/// LLVM answers `MayAlias` wherever the rule does, whatever each lineage knows and however it grew
/// or was forked.
#[test]
fn llvm_agrees_on_linked_lineages() {
    let Some(llvm) = Llvm::get() else { return };
    let wanted = setting("TBAA_PAIRS", 60_000);
    let mut seed = setting("TBAA_SEED", 1) as u64;
    let mut sums = [0; 4];
    while sums[0] < wanted {
        let more = Program::new(seed).check(llvm, seed);
        sums = std::array::from_fn(|at| sums[at] + more[at]);
        seed += 1;
    }
    let [pairs, no_alias, kept, by_clang] = sums;
    println!(
        "to seed {seed}: {pairs} pairs, {kept} of {no_alias} NoAlias kept, {by_clang} by clang"
    );
    assert!(kept * 2 > by_clang, "shared memory has tags that say something");
}

/// Two members at one offset: LLVM follows only one of them, so for LLVM the path to a byte does
/// not pass through the other member.
#[test]
fn members_that_overlap() {
    let mut linked = Emitter::new(Graph::new());
    let mut tag_of = |whole: bool| {
        let graph = |sized| {
            let mut u = Universe::new(sized);
            let root = u.root("R");
            let char = u.scalar("char", root, 1);
            let int = u.scalar("int", char, 4);
            let [x, y] = ["A", "B"].map(|name| u.aggregate(name, char, 4, &[(int, 0, 4)]));
            let both = u.aggregate("O", char, 4, &[(x, 0, 4), (y, 0, 4)]);
            for base in [int, if whole { both } else { x }] {
                u.tag(base, int, 0, 4);
            }
            u.graph()
        };
        let ((source, ours), (theirs, tags)) = (graph(true), graph(false));
        let oracle = Oracle::new(&source, AliasRule::Union);
        let mut lowering = Lowering::new(Options::new());
        lowering.fix(&oracle, theirs, ours.iter().copied().zip(tags)).unwrap();
        lowering.lower(&oracle, &ours).unwrap();
        let (graph, tag) = (lowering.graph(), lowering.tag(ours[1]).unwrap());
        let node = linked.node(graph, graph.tag_node(tag)).unwrap();
        linked.sink_mut().mark_tag(node)
    };
    let (whole, part) = (tag_of(true), tag_of(false));
    let llvm = Oracle::new(linked.sink(), AliasRule::Llvm);
    assert!(llvm.may_alias(whole, part), "one is inside the other");
}

#[test]
fn private_memory_stays_private() {
    let mut types = Declarations::new(Target::x86_64());
    types.define(Record::structure("P").field("x", "int").field("y", "int")).unwrap();
    let mut source = Graph::new();
    let (theirs, pairs) = tags_of_clang(&types, &mut source, |_| false).unwrap();
    let mut rfc = types.into_tagged(Policy::Rfc);
    let (x, y) = (rfc.tag(&mut source, "P.x").unwrap(), rfc.tag(&mut source, "P.y").unwrap());
    let oracle = Oracle::new(&source, AliasRule::Union);
    let mut lowering = Lowering::new(Options::new().lineage("one"));
    lowering.fix(&oracle, theirs, pairs).unwrap();
    lowering.lower(&oracle, [Source::from(x).private(), y.into()]).unwrap();
    let (of_x, of_y) = (lowering.tag(x), lowering.tag(y));
    let error = lowering.lower(&oracle, [x]).unwrap_err();
    assert!(matches!(&error, LowerError::Private { place } if place == "P+0: int"), "{error}");
    assert!(error.to_string().contains("name its record in `Shared`"), "{error}");
    // Private memory stays private; shared memory may be requested as either.
    lowering.lower(&oracle, [Source::from(x).private(), Source::from(y).private()]).unwrap();
    assert_eq!((lowering.tag(x), lowering.tag(y)), (of_x, of_y));
    assert_ne!(of_x, of_y);
}
