//! Readers answer as the oracle did when it was published. The publisher's memory is bounded.

use tbaa::raw::RawGraph;
use tbaa::{
    Access, AccessKind, AliasRule, Format, Graph, Int, NodeId, Operand, Oracle, Publisher,
    SizedField, TagId,
};

use crate::soak::{self, Plan, QUESTIONS};
use crate::{Rng, heap};

/// Adds a struct with two overlapping fields, and tags of its parts, of the whole and of a scalar.
fn add(graph: &mut Graph, name: &str, inner: Option<TagId>) -> Vec<TagId> {
    let inner = inner.map(|tag| graph.tag(tag).unwrap().base);
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let int = b.sized_type(root, 4, "int", &[]).unwrap();
    let float = b.sized_type(root, 4, "float", &[]).unwrap();
    let field = |ty, offset, size| SizedField { ty, offset, size };
    let mut fields = vec![field(int, 0, 4), field(float, 0, 4), field(int, 8, 16)];
    fields.extend(inner.map(|inner| field(inner, 24, 64)));
    let ty = b.sized_type(root, 88, name, &fields).unwrap();
    vec![
        b.access_tag(ty, int, 8, 4).unwrap(),
        b.access_tag(ty, int, 0, 4).unwrap(),
        b.access_tag(ty, float, 0, 4).unwrap(),
        b.immutable_access_tag(ty, ty, 0, 88).unwrap(),
        b.access_tag(int, int, 0, 4).unwrap(),
    ]
}

fn assert_alike<G: std::borrow::Borrow<Graph>>(one: &Oracle, other: &Oracle<G>) {
    let tags: Vec<_> = other.graph().tags().collect();
    assert_eq!(tags.len(), one.graph().tag_count());
    for &a in &tags {
        assert_eq!(one.is_well_formed(a), other.is_well_formed(a));
        assert_eq!(one.is_constant(a), other.is_constant(a));
        for &b in &tags {
            assert_eq!(one.may_alias(a, b), other.may_alias(a, b), "{a:?} {b:?}");
            assert_eq!(one.explain(a, b), other.explain(a, b), "{a:?} {b:?}");
            assert_eq!(one.most_generic(a, b), other.most_generic(a, b), "{a:?} {b:?}");
        }
    }
}

#[test]
fn a_tag_is_known_once_it_is_published() {
    for rules in AliasRule::ALL {
        let mut oracle = Oracle::new(Graph::new(), rules);
        let mut publisher = Publisher::new(&oracle);
        let mut reader = publisher.reader();
        let tags = oracle.update(|graph| add(graph, "A", None));
        let (x, y) = (tags[0], tags[2]);
        assert!(!oracle.may_alias(x, y));
        assert!(reader.may_alias(x, y), "not published");
        assert!(!reader.catch_up(), "there is nothing to catch up with");
        publisher.publish(&oracle);
        assert_eq!(reader.oracle().graph().tag_count(), 0, "readers come by themselves");
        assert!(!reader.may_alias(x, y), "published");
        assert!(reader.may_alias(x, x) && reader.may_alias(x, None));
        let (read, write) = (Access::from(x).reading(), Access::from(y));
        assert_eq!(reader.may_conflict(read, write), None);
        assert!(reader.may_conflict(read, Access::from(x).writing()).is_some());
        assert_eq!(reader.may_conflict(read, read), None);
        assert_eq!(Access::from(x).kind, AccessKind::default());
    }
}

/// A reader that lags answers as the oracle did when the reader's replica (copy) was published.
#[test]
fn a_replica_answers_as_the_oracle_did() {
    for rules in AliasRule::ALL {
        let mut oracle = Oracle::new(Graph::new(), rules);
        let mut publisher = Publisher::new(&oracle);
        let mut readers = vec![publisher.reader()];
        let mut then = vec![oracle.clone().into_graph()];
        let mut last = None;
        for step in 0..11 {
            let tags = oracle.update(|graph| add(graph, &format!("S{step}"), last));
            last = Some(tags[0]);
            // Sometimes the graph grows twice before it is published.
            if step % 3 == 0 {
                continue;
            }
            publisher.publish(&oracle);
            let mut reader = publisher.reader();
            assert!(!reader.catch_up());
            assert_alike(reader.oracle(), &oracle);
            readers.push(reader);
            then.push(oracle.graph().clone());
            // Sometimes an old reader catches up, so that its replica can be used again.
            if step % 2 == 0 {
                let first = readers.len() / 2;
                assert!(readers[first].catch_up());
                then[first] = oracle.graph().clone();
            }
        }
        let newest = &readers[readers.len() - 1];
        assert_alike(newest.oracle(), &Oracle::new(oracle.graph(), rules));
        for (reader, then) in readers.iter().zip(&then) {
            let was = Oracle::new(then, rules);
            assert_eq!(reader.oracle().graph(), then, "as it was published");
            for (a, x) in reader.oracle().graph().tags().zip(then.tags()) {
                for (b, y) in reader.oracle().graph().tags().zip(then.tags()) {
                    assert_eq!(reader.oracle().may_alias(a, b), was.may_alias(x, y));
                }
            }
        }
    }
}

/// A replica (a reader's copy) has all nodes, also those that become tags or types much later.
#[test]
fn a_replica_has_all_nodes_and_marks() {
    let mut oracle = Oracle::new(Graph::new(), AliasRule::Union);
    let mut publisher = Publisher::new(&oracle);
    let rng = &mut Rng(7);
    let mut nodes: Vec<NodeId> = Vec::new();
    for step in 0..400_u64 {
        oracle.update(|graph| {
            let name = format!("n{}", rng.below(40));
            let mut operands = vec![Operand::String(name.as_bytes())];
            for _ in 0..rng.below(4) {
                if !nodes.is_empty() {
                    operands.push(Operand::Node(*rng.pick(&nodes)));
                }
                operands.push(Operand::Int(Int::i64(step % 5)));
            }
            operands.push(Operand::Raw("!DIExpression()"));
            operands.truncate(1 + rng.below(operands.len()));
            let node = match rng.below(4) {
                0 => graph.insert_distinct(&operands),
                _ => graph.insert(&operands),
            };
            nodes.push(node.unwrap());
            let old = *rng.pick(&nodes);
            match rng.below(6) {
                0 => drop(graph.mark_tag(old)),
                1 => drop(graph.mark_type(old)),
                2 => drop(graph.mark_copy(old)),
                3 => drop(graph.mark_attached(old)),
                _ => {}
            }
        });
        if rng.one_in(3) {
            publisher.publish(&oracle);
            let reader = publisher.reader();
            let (graph, replica) = (oracle.graph(), reader.oracle().graph());
            assert_eq!(graph, replica);
            assert!(graph.copies().eq(replica.copies()));
            assert!(graph.types().eq(replica.types()));
            assert!(graph.tags().eq(replica.tags()));
            for &node in &nodes {
                assert!(graph.operands(node).eq(replica.operands(node)));
                assert_eq!(graph.is_distinct(node), replica.is_distinct(node));
                assert_eq!(graph.tag_of(node), replica.tag_of(node));
                let roots = [graph, replica].map(|graph| Some(graph.root_of(graph.type_of(node)?)));
                assert_eq!(roots[0], roots[1]);
            }
            // A copy of the replica still merges equal nodes: inserting one again adds none.
            let (mut copy, count) = (replica.clone(), graph.node_count());
            for node in replica.nodes().filter(|&node| !replica.is_distinct(node)) {
                let of_copy = |node: NodeId| Operand::Node(copy.nth_node(node.index()).unwrap());
                let operands = replica.operands(node);
                let operands: Vec<_> =
                    operands.map(|operand| operand.node().map_or(operand, of_copy)).collect();
                assert_eq!(copy.insert(&operands).unwrap().index(), node.index());
            }
            assert_eq!(copy.node_count(), count);
            // Each type has the same format in both: either both accept a sized child, or neither.
            for (here, there) in graph.types().zip(replica.types()) {
                let mut copies = [(graph.clone(), here), (replica.clone(), there)];
                let made = copies.each_mut().map(|(copy, ty)| {
                    let ty = copy.type_of(copy.nth_node(ty.node().index()).unwrap()).unwrap();
                    copy.builder().sized_type(ty, 4, "new", &[]).is_ok()
                });
                assert_eq!(made[0], made[1]);
            }
        }
    }
}

#[test]
fn what_is_kept_is_bounded_by_readers() {
    let mut oracle = Oracle::new(Graph::new(), AliasRule::Llvm);
    let mut publisher = Publisher::new(&oracle);
    let mut readers: Vec<_> = (0..3).map(|_| publisher.reader()).collect();
    for step in 0..60 {
        oracle.update(|graph| add(graph, &format!("S{step}"), None));
        publisher.publish(&oracle);
        // Each reader lags by a different number of publications.
        for (i, reader) in readers.iter_mut().enumerate() {
            if step % (i + 1) == 0 {
                reader.catch_up();
            }
        }
        assert!(publisher.replicas() <= readers.len() + 2, "{}", publisher.replicas());
    }
    let graph = oracle.graph().tag_count();
    assert!(readers.iter().all(|reader| reader.oracle().graph().tag_count() + 60 > graph));
    // Replicas that no reader uses are dropped as the graph grows.
    for step in 60..200 {
        oracle.update(|graph| add(graph, &format!("S{step}"), None));
        publisher.publish(&oracle);
        for reader in &mut readers {
            reader.catch_up();
        }
    }
    assert_eq!(publisher.replicas(), 2);
    // If nothing has changed, nothing is published.
    publisher.publish(&oracle);
    assert_eq!(publisher.replicas(), 2);
    assert!(!readers[0].catch_up());
    // A reader outlives the publisher.
    drop(publisher);
    let tag = oracle.graph().tag_at(0).unwrap();
    assert!(readers[0].may_alias(tag, tag));
}

/// The publisher can publish an oracle whose graph was replaced, and another oracle.
#[test]
fn another_oracle_takes_the_place() {
    let mut oracle = Oracle::new(Graph::new(), AliasRule::Union);
    let old = oracle.update(|graph| add(graph, "A", None));
    let mut publisher = Publisher::new(&oracle);
    let mut reader = publisher.reader();
    assert!(!reader.may_alias(old[0], old[2]));
    let new = oracle.update(|graph| {
        *graph = Graph::new();
        add(graph, "B", None)
    });
    publisher.publish(&oracle);
    assert!(!reader.may_alias(old[0], old[2]), "it may still be asked");
    assert!(!reader.may_alias(new[0], new[2]), "an id of another graph makes it catch up");
    assert!(reader.may_alias(old[0], old[2]), "now these are unknown");
    let strict = Oracle::new(oracle.graph(), AliasRule::Llvm);
    publisher.publish(&strict);
    assert!(reader.catch_up());
    assert_eq!(reader.oracle().rule(), AliasRule::Llvm);
}

/// A short `cargo run --release -p tbaa-bench --bin soak`; `TBAA_SOAK` is the number of queries.
#[test]
fn soak() {
    let questions = std::env::var("TBAA_SOAK").map_or(120_000, |var| var.parse().unwrap());
    let readers = 3;
    for rules in AliasRule::ALL {
        for format in [Format::Old, Format::New] {
            let structs = (questions / 6 / QUESTIONS / (readers + 1)).max(10);
            let plan = Plan { rule: rules, format, structs, readers, seed: 1, held: heap::held };
            let report = soak::run(&plan);
            println!("{rules}, {format:?}: {report}");
            assert_eq!(report.answers, structs * QUESTIONS * (readers + 1));
            // Bytes per tag vary, because full tables double. The bytes per tag
            // would grow tenfold during the run if memory were never released.
            let bytes: Vec<_> =
                report.parts.iter().map(|part| part.bytes as f64 / part.tags as f64).collect();
            let least = bytes[1..].iter().copied().fold(f64::INFINITY, f64::min);
            // 512 KiB more are allowed for the answers that oracles cache.
            let remembered = f64::from(1 << 19) / report.parts[9].tags as f64;
            assert!(bytes[9] < 3.0 * least + remembered, "{bytes:?}");
            assert!(report.parts.iter().all(|part| part.replicas <= readers + 2));
            assert!(report.apart > 0 && report.apart < report.answers);
        }
    }
}
