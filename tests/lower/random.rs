//! *Lowers* random programs (makes tags for LLVM) in each [`Way`], and checks all pairs' answers.

use tbaa::declare::{Policy, Target};
use tbaa::{Access, AliasRule, Format, Graph, Oracle, TagId};
use tbaa_lower::{Lowering, Options, Saved, Source, access_paths, tags_of_clang};

use tbaa_tests::generate::{self, Taste};
use tbaa_tests::lowered::check;
use tbaa_tests::universe;
use tbaa_tests::{Rng, setting, show_tag};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// Arbitrary types, with a random rule, options and sizes.
    Closed,
    /// Declared types; clang's code accesses all records.
    Open,
    /// Declared types; clang's code accesses some records.
    Mixed,
}

impl Way {
    pub(crate) const ALL: [Way; 3] = [Way::Closed, Way::Open, Way::Mixed];
}

/// A random program and its lowering.
pub(crate) struct Program {
    pub(crate) source: Graph,
    pub(crate) rule: AliasRule,
    pub(crate) lowering: Lowering,
    /// The accesses of clang's code, with clang's tags; the first is `char`.
    theirs: Vec<(Access, Option<TagId>)>,
    /// The tags of private memory, which clang's code reaches only by `char`.
    private: Vec<TagId>,
}

impl Program {
    /// Lowers a random program in one call, or in several if `grown`.
    pub(crate) fn new(way: Way, seed: u64, grown: bool) -> Program {
        match way {
            Way::Closed => Program::closed(seed, grown),
            Way::Open => Program::declared(seed, false, grown),
            Way::Mixed => Program::declared(seed, true, grown),
        }
    }

    fn closed(seed: u64, grown: bool) -> Program {
        let mut rng = Rng(seed);
        let taste = if rng.one_in(4) { universe::Taste::Tame } else { universe::Taste::Wild };
        let sized = !rng.one_in(3);
        let mut u = universe::random(&mut rng, sized, taste);
        (0..rng.below(4)).for_each(|_| universe::grow(&mut rng, &mut u, taste));
        let (source, tags) = u.graph();
        let [llvm, union, strict] = AliasRule::ALL;
        let rule = *rng.pick(&[union, union, strict, llvm]);
        let format = *rng.pick(&[Format::Old, Format::New]);
        let depth = *rng.pick(&[64, 64, 3, 1]);
        let mut options = Options::new().format(format).depth(depth);
        options.scopes = rng.one_in(2);
        let source_of = |rng: &mut Rng, tag: TagId| match rng.below(8) {
            0 => Source::sized(tag, *rng.pick(&[0, 1, 8, 16])),
            _ => tag.into(),
        };
        let sources: Vec<Source> = tags.iter().map(|&tag| source_of(&mut rng, tag)).collect();
        let mut lowering = Lowering::new(if grown { options.lineage("test") } else { options });
        let oracle = Oracle::new(&source, rule);
        lower(&mut lowering, &oracle, &sources, grown.then_some(&mut rng));
        drop(oracle);
        Program { source, rule, lowering, theirs: Vec::new(), private: Vec::new() }
    }

    fn declared(seed: u64, mixed: bool, grown: bool) -> Program {
        let mut rng = Rng(seed);
        let types = records(&mut rng).declare(Target::x86_64(), |_| true).unwrap();
        let mut source = Graph::new();
        let shared = |record| !mixed || types.display(record).len() % 2 == seed as usize % 2;
        let (theirs, pairs) = tags_of_clang(&types, &mut source, shared).unwrap();
        let mut rfc = types.clone().into_tagged(Policy::Rfc);
        let (mut private, mut sources) = (Vec::new(), Vec::new());
        for path in access_paths(&types, |_| true) {
            let Ok(tag) = rfc.tag(&mut source, &path) else { continue };
            let record = path.split('.').next().and_then(|name| types.named(name));
            if mixed && record.is_some_and(|record| !shared(record)) {
                private.push(tag);
                sources.push(Source::from(tag).private());
            } else {
                sources.push(tag.into());
            }
        }
        let mut lowering = Lowering::new(Options::new().lineage("open").scopes());
        let oracle = Oracle::new(&source, AliasRule::Union);
        lowering.fix(&oracle, theirs, pairs.iter().copied()).unwrap();
        lower(&mut lowering, &oracle, &sources, grown.then_some(&mut rng));
        drop(oracle);
        // The lowering's graph began as the graph of clang's tags, so their indices are unchanged.
        let tags: Vec<TagId> = lowering.graph().tags().collect();
        let theirs = pairs.iter().map(|&(from, tag)| (from.into(), Some(tags[tag.index()])));
        let theirs = theirs.collect();
        Program { source, rule: AliasRule::Union, lowering, theirs, private }
    }

    /// Returns our accesses with their tags, then clang's, and the number of ours.
    pub(crate) fn accesses(&self) -> (Vec<(Access, Option<TagId>)>, usize) {
        let tag = |access| (access, self.lowering.tag(access));
        let mut all: Vec<_> = self.lowering.sources().map(tag).collect();
        let ours = all.len();
        all.extend(&self.theirs);
        (all, ours)
    }

    /// Returns whether our access `a` may share memory with number `j` of [`Program::accesses`]:
    /// clang's code, whose first access is number `ours`, reaches private memory only by `char`.
    pub(crate) fn meets(&self, a: Access, j: usize, ours: usize) -> bool {
        j <= ours || !a.tag.is_some_and(|tag| self.private.contains(&tag))
    }
}

/// Lowers sources, at once or (with `steps`) a few at a time. Checks that no earlier tag changes.
fn lower(
    lowering: &mut Lowering,
    oracle: &Oracle<&Graph>,
    sources: &[Source],
    mut steps: Option<&mut Rng>,
) {
    let (mut given, mut rest): (Vec<(Access, Option<TagId>)>, _) = (Vec::new(), sources);
    while !rest.is_empty() {
        let step = steps.as_mut().map_or(rest.len(), |rng| 1 + rng.below(9_usize));
        let (now, later) = rest.split_at(rest.len().min(step));
        lowering.lower(oracle, now).unwrap();
        for &(access, tag) in &given {
            assert_eq!(lowering.tag(access), tag, "a tag given out changed");
        }
        given = lowering.sources().map(|access| (access, lowering.tag(access))).collect();
        rest = later;
    }
}

pub(crate) fn records(rng: &mut Rng) -> generate::Program {
    let count = 3 + rng.below(5);
    generate::Program::new(rng, count, Taste { int128: true, elements: 3, members: 5 })
}

#[test]
fn lowerings_are_sound() {
    for (way, grown) in Way::ALL.into_iter().flat_map(|way| [(way, false), (way, true)]) {
        let mut seed = setting("TBAA_SEED", 1) as u64;
        let mut counts = [0; 3];
        while counts[0] < setting("TBAA_PAIRS", 60_000) as u64 {
            let program = Program::new(way, seed, grown);
            let source = Oracle::new(&program.source, program.rule);
            let what = format!("{way:?}, seed {seed}");
            let more = check(&what, &source, &program.lowering);
            counts.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            let llvm = Oracle::new(program.lowering.graph(), AliasRule::Llvm);
            let (all, ours) = program.accesses();
            for &(a, tag_a) in &all[..ours] {
                for (j, &(b, tag_b)) in all.iter().enumerate().skip(ours) {
                    let no = program.meets(a, j, ours) && !llvm.may_alias(tag_a, tag_b);
                    assert!(!no || !source.may_alias(a, b), "{what}: {}", source.explain(a, b));
                    counts[0] += 1;
                }
            }
            seed += 1;
        }
        println!("{way:?}, grown {grown}, to seed {seed}: pairs, NoAlias and lost {counts:?}");
    }
}

#[test]
fn the_same_twice() {
    for seed in 1..40 {
        let text = || Program::new(Way::Closed, seed, seed % 2 == 0);
        let [one, two] = [(); 2].map(|()| tbaa_ir::write(text().lowering.graph()));
        assert_eq!(one, two, "seed {seed}");
    }
}

#[test]
fn storing_changes_nothing() {
    for seed in 1..60 {
        let mut rng = Rng(seed);
        let types = records(&mut rng).declare(Target::x86_64(), |_| true).unwrap();
        let mut source = Graph::new();
        let (theirs, pairs) = tags_of_clang(&types, &mut source, |_| true).unwrap();
        let mut rfc = types.clone().into_tagged(Policy::Rfc);
        let paths = access_paths(&types, |_| true);
        let ours: Vec<TagId> =
            paths.iter().filter_map(|path| rfc.tag(&mut source, path).ok()).collect();
        let (now, later) = ours.split_at(ours.len() / 2);
        let oracle = Oracle::new(source, AliasRule::Union);
        let mut lowering = Lowering::new(Options::new().lineage("stored").scopes());
        if seed % 2 == 0 {
            lowering.fix(&oracle, theirs, pairs).unwrap();
        }
        lowering.lower(&oracle, now).unwrap();
        let text = ron::to_string(&lowering.save(&oracle)).unwrap();
        lowering.lower(&oracle, later).unwrap();

        let saved: Saved<'static> = ron::from_str(&text).unwrap();
        let (mut loaded, source) = Lowering::load(saved).unwrap();
        assert_eq!(&source, oracle.graph());
        let tags: Vec<TagId> = source.tags().collect();
        let again = Oracle::new(&source, AliasRule::Union);
        let later: Vec<TagId> = later.iter().map(|tag| tags[tag.index()]).collect();
        loaded.lower(&again, &later).unwrap();
        let nodes = |lowering: &Lowering, tag| {
            let scopes = lowering.scopes_of(tag);
            let scopes = scopes.map(|of| (of.scope, of.noalias().collect::<Vec<_>>()));
            (lowering.tag(tag).map(|tag| show_tag(lowering.graph(), tag)), scopes)
        };
        for &tag in &ours {
            assert_eq!(nodes(&lowering, tag), nodes(&loaded, tags[tag.index()]), "seed {seed}");
        }
        assert_eq!(lowering.lost(), loaded.lost());

        // Without tags of clang, a fork has another root, so all nodes below the root differ.
        let saved: Saved<'static> = ron::from_str(&text).unwrap();
        let (forked, _) = Lowering::load(saved.fork("another")).unwrap();
        if seed % 2 != 0 {
            let root = |lowering: &Lowering| {
                let graph = lowering.graph();
                graph.types().next().map(|ty| graph.ty(ty).name().unwrap().to_vec())
            };
            assert_ne!(root(&forked), root(&lowering), "seed {seed}");
        }
        // A change of the text is detected.
        let changed = text.replacen("private:false", "private:true", 1);
        assert_ne!(changed, text, "seed {seed}");
        let saved: Saved<'static> = ron::from_str(&changed).unwrap();
        assert!(Lowering::load(saved).is_err());
    }
}
