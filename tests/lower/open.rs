//! Open and mixed lowering, growth and storage.

use tbaa::declare::{Declarations, Policy, Record, Target};
use tbaa::{Access, Graph, Oracle, Rules, TagId};
use tbaa_lower::{Lowering, Options, Saved, Source, access_paths, tags_of_clang};

use tbaa_tests::Rng;
use tbaa_tests::setting;

/// A few random records: structs, unions, arrays, nested.
pub(crate) fn declarations(rng: &mut Rng) -> Declarations {
    let mut types = Declarations::new(Target::x86_64());
    let scalars =
        ["int", "double", "float", "short", "long", "char", "void *", "int *", "long long"];
    let mut named: Vec<String> = Vec::new();
    for number in 0..2 + rng.below(6) {
        let name = format!("S{number}");
        let mut record = match rng.below(3) {
            0 => Record::union(&name),
            _ => Record::structure(&name),
        };
        for member in 0..1 + rng.below(5) {
            let field = format!("m{member}");
            let one = match rng.below(4) {
                0 if !named.is_empty() => rng.pick(&named).clone(),
                1 => {
                    let inner = Record::union("")
                        .field("a", *rng.pick(&scalars))
                        .field("b", *rng.pick(&scalars));
                    record = record.field(field, inner);
                    continue;
                }
                _ => (*rng.pick(&scalars)).to_owned(),
            };
            record = match rng.below(6) {
                0 => record.field(field, format!("{one} [3]").as_str()),
                _ => record.field(field, one.as_str()),
            };
        }
        types.define(record).unwrap();
        named.push(name);
    }
    types
}

/// What the others' tags and ours are, for one random program.
pub(crate) struct Open {
    pub(crate) source: Graph,
    pub(crate) pairs: Vec<(TagId, TagId)>,
    pub(crate) lowering: Lowering,
    /// The sources whose memory the others cannot reach.
    pub(crate) private: Vec<TagId>,
}

impl Open {
    /// Our accesses with their tags, then theirs, of which the first is `char`;
    /// and how many are ours.
    pub(crate) fn accesses(&self) -> (Vec<(Access, Option<TagId>)>, usize) {
        let lowering = &self.lowering;
        let mut all: Vec<(Access, Option<TagId>)> =
            lowering.sources().map(|access| (access, lowering.tag(access))).collect();
        // Theirs are numbered as they were, for the graph is theirs.
        let theirs: Vec<TagId> = lowering.graph().tags().collect();
        let ours = all.len();
        let numbered = |tag: TagId| Some(theirs[tag.index()]);
        all.extend(self.pairs.iter().map(|&(source, tag)| (source.into(), numbered(tag))));
        (all, ours)
    }

    /// Whether one of ours can meet number `j`: theirs reach private memory by
    /// `char` alone.
    pub(crate) fn meets(&self, a: Access, j: usize, ours: usize) -> bool {
        j <= ours || !a.tag.is_some_and(|tag| self.private.contains(&tag))
    }
}

/// Opens a lowering for the records that are shared, and lowers all accesses.
pub(crate) fn open(seed: u64, mixed: bool, grown: bool) -> Open {
    let mut rng = Rng(seed);
    let types = declarations(&mut rng);
    let mut source = Graph::new();
    let shared = |record| !mixed || types.display(record).len() % 2 == seed as usize % 2;
    let (theirs, pairs) = tags_of_clang(&types, &mut source, shared).unwrap();
    let mut rfc = types.clone().into_tagged(Policy::Rfc);
    let paths = access_paths(&types, |_| true);
    let mut private = Vec::new();
    let mut ours: Vec<Source> = Vec::new();
    for path in &paths {
        let Ok(tag) = rfc.tag(&mut source, path) else { continue };
        let record = path.split('.').next().and_then(|name| types.named(name));
        if mixed && record.is_some_and(|record| !shared(record)) {
            private.push(tag);
            ours.push(Source::from(tag).private());
        } else {
            ours.push(tag.into());
        }
    }
    let oracle = Oracle::new(&source, Rules::Union);
    let mut lowering = Lowering::new(Options::new().lineage("open").scopes());
    lowering.fix(&oracle, theirs, pairs.iter().copied()).unwrap();
    let step = if grown { 3 } else { ours.len() };
    for some in ours.chunks(step) {
        lowering.lower(&oracle, some).unwrap();
    }
    drop(oracle);
    Open { source, pairs, lowering, private }
}

/// Each of our tags against each of ours and of theirs.
fn check(seed: u64, open: &Open) -> (u64, u64, u64) {
    let Open { source, lowering, .. } = open;
    let union = Oracle::new(source, Rules::Union);
    let llvm = Oracle::new(lowering.graph(), Rules::Llvm);
    let (all, ours) = open.accesses();
    let (mut count, mut no_alias, mut kept) = (0, 0, 0);
    for (i, &(a, tag_a)) in all[..ours].iter().enumerate() {
        for (j, &(b, tag_b)) in all.iter().enumerate().skip(i + 1) {
            let (may, lowered) = (union.may_alias(a, b), llvm.may_alias(tag_a, tag_b));
            let unsound = may && !lowered && open.meets(a, j, ours);
            assert!(
                !unsound,
                "seed {seed}: {:?} and {:?}, theirs {}: {}",
                lowering.graph().tag(tag_a.unwrap()),
                lowering.graph().tag(tag_b.unwrap()),
                j >= ours,
                union.explain(a, b)
            );
            count += 1;
            no_alias += u64::from(!may && j < ours);
            kept += u64::from(!lowered && j < ours);
        }
    }
    assert_eq!(lowering.check(&union), [], "seed {seed}");
    let loss = lowering.lost();
    assert_eq!((loss.no_alias, loss.pairs), (no_alias, no_alias - kept), "seed {seed}");
    (count, no_alias, kept)
}

#[test]
fn open_and_mixed_are_sound() {
    for (mixed, grown) in [(false, false), (false, true), (true, false), (true, true)] {
        let (mut pairs, mut no_alias, mut kept) = (0, 0, 0);
        let mut seed = setting("TBAA_SEED", 1) as u64;
        while pairs < setting("TBAA_PAIRS", 60_000) as u64 {
            let (more, no, still) = check(seed, &open(seed, mixed, grown));
            pairs += more;
            no_alias += no;
            kept += still;
            seed += 1;
        }
        println!(
            "mixed {mixed}, grown {grown}, to seed {seed}: {pairs} pairs, none unsound; \
             {kept} of {no_alias} NoAlias kept"
        );
    }
}

/// A lowering that is stored and goes on is the one that was never stored.
#[test]
fn storing_changes_nothing() {
    for seed in 1..60 {
        let mut rng = Rng(seed);
        let types = declarations(&mut rng);
        let mut source = Graph::new();
        let (theirs, pairs) = tags_of_clang(&types, &mut source, |_| true).unwrap();
        let mut rfc = types.clone().into_tagged(Policy::Rfc);
        let paths = access_paths(&types, |_| true);
        let ours: Vec<TagId> =
            paths.iter().filter_map(|path| rfc.tag(&mut source, path).ok()).collect();
        let (now, later) = ours.split_at(ours.len() / 2);
        let oracle = Oracle::new(source, Rules::Union);
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
        let again = Oracle::new(&source, Rules::Union);
        let later: Vec<TagId> = later.iter().map(|tag| tags[tag.index()]).collect();
        loaded.lower(&again, &later).unwrap();
        let text_of = |graph: &Graph, tag: Option<TagId>| {
            tag.map(|tag| {
                let tag = graph.tag(tag).unwrap();
                let name = |ty| String::from_utf8_lossy(graph.ty(ty).name().unwrap()).into_owned();
                (name(tag.base), name(tag.access), tag.offset, tag.immutable)
            })
        };
        for &tag in &ours {
            let other = tags[tag.index()];
            assert_eq!(
                text_of(lowering.graph(), lowering.tag(tag)),
                text_of(loaded.graph(), loaded.tag(other)),
                "seed {seed}"
            );
            let scopes = |lowering: &Lowering, tag| {
                lowering.scopes_of(tag).map(|of| (of.scope, of.noalias().collect::<Vec<_>>()))
            };
            assert_eq!(scopes(&lowering, tag), scopes(&loaded, other), "seed {seed}");
        }
        assert_eq!(lowering.lost(), loaded.lost());

        // A fork has another root, and so has all below it.
        let saved: Saved<'static> = ron::from_str(&text).unwrap();
        let (forked, _) = Lowering::load(saved.fork("another")).unwrap();
        if seed % 2 != 0 {
            let root = |lowering: &Lowering| {
                let graph = lowering.graph();
                graph.types().next().map(|ty| graph.ty(ty).name().unwrap().to_vec())
            };
            assert_ne!(root(&forked), root(&lowering), "seed {seed}");
        }
        // What was changed is noticed.
        let changed = text.replacen("private:false", "private:true", 1);
        assert_ne!(changed, text, "seed {seed}");
        let saved: Saved<'static> = ron::from_str(&changed).unwrap();
        assert!(Lowering::load(saved).is_err());
    }
}
