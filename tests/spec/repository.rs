//! Every spec in three folders is a test: as it is, with the two tags of each answer swapped, with
//! its types in another order, and after it is written and read again.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use tbaa_tests::engines::answers;
use tbaa_tests::{Rng, cases, files};

use tbaa::spec::{Built, Spec, TypeDecl, write};
use tbaa::{AliasRule, Oracle, TagId, TypeId};

/// Returns the path from the repository's root, and the text, of every spec in the three folders.
fn specs() -> Vec<(String, String)> {
    let root = Path::new(tbaa_tests::ROOT);
    let folders = ["specs", "specs/regressions", "tests/fixtures/specs"];
    let paths = folders.iter().flat_map(|folder| files(folder, &["ron"]));
    let name = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
    paths.map(|path| (name(&path), fs::read_to_string(&path).unwrap())).collect()
}

fn on_every_spec(check: impl Fn(&Built, &str) -> Vec<String>) {
    let mut failures = Vec::new();
    for (file, text) in specs() {
        match Spec::load(&text) {
            Err(error) => failures.push(format!("{file}:{error}")),
            Ok(built) => failures
                .extend(check(&built, &text).into_iter().map(|line| format!("{file}: {line}"))),
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn expectations_hold() {
    on_every_spec(|built, text| {
        let report = built.check();
        let at = |failure: &tbaa::spec::Failure| failure.place.locate(text).0;
        let failures = report.failures.iter().map(|f| format!("line {}: {f}", at(f)));
        let swapped = built.expectations().filter(|expectation| {
            Oracle::new(built.graph(), expectation.rule).alias(expectation.b, expectation.a)
                != expectation.answer
        });
        failures.chain(swapped.map(|swapped| format!("swapped: {swapped:?}"))).collect()
    });
}

/// Puts the types into a random order in which each precedes its uses, and the tags into any order.
fn shuffle(spec: &mut Spec, random: &mut Rng) {
    let mut waiting = std::mem::take(&mut spec.types);
    let mut declared: Vec<String> = Vec::new();
    while !waiting.is_empty() {
        let ready: Vec<usize> = (0..waiting.len())
            .filter(|&index| parts(&waiting[index]).iter().all(|part| declared.contains(part)))
            .collect();
        let next = waiting.remove(ready[random.below(ready.len())]);
        declared.push(next.key().to_owned());
        spec.types.push(next);
    }
    let tags = std::mem::take(&mut spec.tags);
    spec.tags = random.shuffled(tags.len()).into_iter().map(|at| tags[at].clone()).collect();
}

fn parts(decl: &TypeDecl) -> Vec<String> {
    match decl {
        TypeDecl::Scalar { parent, .. } => vec![parent.clone()],
        TypeDecl::Struct { fields, .. } => fields.iter().map(|field| field.ty.clone()).collect(),
        TypeDecl::Type { parent, fields, .. } => {
            fields.iter().map(|field| &field.ty).chain([parent]).cloned().collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn the_order_of_declarations_does_not_matter() {
    on_every_spec(|built, _| {
        let tags: Vec<TagId> = built.tags().values().copied().collect();
        let expected = answers(built.graph(), &tags);
        let mut failures = Vec::new();
        for seed in 1..=8 {
            let mut spec = built.spec().clone();
            shuffle(&mut spec, &mut Rng(seed));
            let shuffled = spec.build().unwrap();
            let tags: Vec<TagId> = built.tags().keys().map(|name| shuffled.tags()[name]).collect();
            if answers(shuffled.graph(), &tags) != expected {
                failures.push(format!("seed {seed}: answers differ"));
            }
            failures.extend(shuffled.check().failures.iter().map(|f| format!("seed {seed}: {f}")));
        }
        failures
    });
}

#[test]
fn every_graph_survives_ll_text_and_then_a_spec() {
    on_every_spec(|built, _| {
        let ll = tbaa_ir::write(built.graph());
        let read = tbaa_ir::read(ll.as_bytes()).unwrap().into_graph();
        match Spec::load(&write(&read)) {
            Ok(again) if read == *built.graph() && *again.graph() == read => Vec::new(),
            other => vec![format!("read otherwise, {:?}: {ll}", other.err())],
        }
    });
}

#[test]
fn the_data_of_a_spec_survives_serde() {
    use ron::extensions::Extensions;
    let options = ron::Options::default()
        .with_default_extension(Extensions::IMPLICIT_SOME)
        .with_default_extension(Extensions::UNWRAP_VARIANT_NEWTYPES);
    on_every_spec(|built, _| {
        let text = options.to_string(built.spec()).unwrap();
        match Spec::parse(&text) {
            Ok(spec) if spec == *built.spec() => Vec::new(),
            other => vec![format!("{text} reads as {other:?}")],
        }
    });
}

#[test]
fn a_wrong_expectation_is_found() {
    let text = include_str!("../fixtures/graph/wrong.ron");
    let report = Spec::load(text).unwrap().check();
    assert_eq!((report.checked, report.failures.len()), (2, 1));
    let failure = &report.failures[0];
    assert_eq!(failure.place.locate(text), (10, 9));
    assert_eq!(
        failure.to_string(),
        r#""*i" and "*f" by rule llvm: expected MayAlias, got NoAlias (wrong)"#
    );
}

#[test]
fn tags_go_by_name_or_path() {
    let text = include_str!("../fixtures/specs/everything.ron");
    let mut built = Spec::load(text).unwrap();
    let before = built.graph().tag_count();
    for (path, name) in [
        ("p->first", "p->first"),
        ("int", "int"),
        ("Pair.first", "p->first"),
        ("Nest.p.q.pair.second", "n->p.q.pair.second"),
        ("Nest.odd", "n->odd"),
        ("private int", "private"),
        ("List.head", "l->head"),
        ("List.data", "l->data[i]"),
        ("List", "*l"),
    ] {
        assert_eq!(built.tag(path), Ok(built.tags()[name]), "{path}");
    }
    assert_eq!(built.graph().tag_count(), before, "all of these were there");

    let new = built.tag("Nest.p.q.pair.first").unwrap();
    assert_eq!(new.index(), before);
    assert_eq!(built.graph().tag(new).unwrap().offset, 8);
    assert_eq!(built.tag("Nest.p.q.pair.first"), Ok(new));

    cases::check("specs/paths.txt", |_, parts| {
        built.tag(parts[0].trim_end()).unwrap_err().to_string()
    });
}

#[test]
fn the_llvm_that_confirmed_an_answer_is_known() {
    let built = Spec::load(include_str!("../fixtures/specs/everything.ron")).unwrap();
    let confirmed: HashMap<_, _> =
        built.expectations().map(|e| ((e.a_name, e.b_name, e.rule), e.confirmed)).collect();
    let of = |a, b, rule| confirmed[&(a, b, rule)];
    assert_eq!(of("p->first", "p->second", AliasRule::Llvm), Some("LLVM 22.1.8"));
    assert_eq!(of("p->first", "p->second", AliasRule::Union), None);
    assert_eq!(of("l->head", "l->data[i]", AliasRule::Llvm), Some("LLVM 21"));
}

/// Each whole spec in `docs/specs.md` loads, and its answers are right.
#[test]
fn the_documented_example_holds() {
    let page = include_str!("../../docs/specs.md");
    let blocks: Vec<&str> =
        page.split("```ron\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let whole: Vec<&&str> = blocks.iter().filter(|block| block.contains("Spec(")).collect();
    assert!(!whole.is_empty());
    for text in whole {
        let built = Spec::load(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let report = built.check();
        assert_eq!(report.failures, []);
        assert!(report.checked > 0);
    }
}

#[test]
fn the_structs_that_the_articles_print_are_in_the_specs() {
    let call_info = "any pointer 0, any pointer 4, any pointer 8, any pointer 12, CallInfo_l 16, \
                     long long 32, short 40, omnipotent char 42";
    let s = "omnipotent char 0, omnipotent char 400, int 800, int 804";
    for (file, name, fields, offsets) in [
        ("ravi-article", "CallInfo_l", "any pointer 0, any pointer 4, long long 8", [0, 4]),
        ("ravi-article", "CallInfo", call_info, [4, 16]),
        ("rfc-2017", "S", s, [800, 804]),
    ] {
        let path = Path::new(tbaa_tests::ROOT).join(format!("specs/{file}.ron"));
        let built = Spec::load(&fs::read_to_string(path).unwrap()).unwrap();
        let graph = built.graph();
        let name_of = |ty| String::from_utf8_lossy(graph.ty(ty).name().unwrap()).into_owned();
        let is_printed = |&ty: &TypeId| {
            let field = |field: tbaa::Field| format!("{} {}", name_of(field.ty), field.offset);
            let found: Vec<String> = graph.ty(ty).fields().map(field).collect();
            name_of(ty) == name && found.join(", ") == fields
        };
        let ty = graph.types().find(is_printed).unwrap_or_else(|| panic!("{file}: {name}"));
        for offset in offsets {
            let is_it =
                |tag| graph.tag(tag).is_ok_and(|tag| (tag.base, tag.offset) == (ty, offset));
            let mut asked =
                built.expectations().flat_map(|expectation| [expectation.a, expectation.b]);
            assert!(asked.any(is_it), "{file}: {name} at {offset}");
        }
    }
}
