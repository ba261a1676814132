//! The two equalities against their definitions, and on large inputs.

use std::fmt::Write;

use pretty_assertions::assert_eq;
use tbaa::types::{
    Context, Encoding, Equality, MAX_ENCODING, Packing, Primitive, Type, TypeClasses, TypeKind,
    canonical_name,
};

use tbaa_ir::types::ReadTypes;
use tbaa_tests::{Rng, setting};

/// A random type over structs, opaque ones among them.
fn part(rng: &mut Rng, structs: usize, depth: usize) -> String {
    let inner = |rng: &mut Rng| part(rng, structs, depth - 1);
    match if depth == 0 { rng.below(4) } else { rng.below(9) } {
        0 => "i32".to_owned(),
        1 => ["float", "i16", "[2 x i8]", "%op*", "%op.1*", "%other*"][rng.below(6)].to_owned(),
        2..=4 => format!("%s{}*", rng.below(structs)),
        5 => format!("[2 x {}]", inner(rng)),
        6 => format!("{{ {}, {} }}", inner(rng), inner(rng)),
        7 => format!("void ({}, {})*", inner(rng), inner(rng)),
        _ => format!("{} addrspace(1)*", inner(rng)),
    }
}

/// Structs that resemble each other: each is made from one of few patterns.
fn module(rng: &mut Rng, structs: usize) -> String {
    let mut text = String::from("%op = type opaque\n%op.1 = type opaque\n%other = type opaque\n");
    let patterns = 1 + rng.below(3);
    let bodies: Vec<Vec<String>> = (0..patterns)
        .map(|_| (0..1 + rng.below(3)).map(|_| part(rng, structs, 2)).collect())
        .collect();
    for at in 0..structs {
        let mut body = rng.pick(&bodies).clone();
        // The same pattern, over other structs.
        for one in &mut body {
            if one.starts_with("%s") && rng.one_in(2) {
                *one = format!("%s{}*", rng.below(structs));
            }
        }
        let (open, close) = if rng.one_in(6) { ("<{", "}>") } else { ("{", "}") };
        writeln!(text, "%s{at} = type {open} {} {close}", body.join(", ")).unwrap();
    }
    text
}

/// Bisimilarity by its definition: all pairs, without those that differ.
fn naive_unfolding(context: &Context) -> Vec<Vec<bool>> {
    let types: Vec<Type> = context.types().collect();
    let count = types.len();
    let head = |ty: Type| match context.kind(ty) {
        TypeKind::Identified { name, body: None, .. } => {
            format!("opaque {:?}", name.map(canonical_name))
        }
        TypeKind::Identified { packing, .. } | TypeKind::Literal { packing, .. } => {
            format!("struct {packing:?} {}", context.parts(ty).len())
        }
        TypeKind::Pointer { address_space, pointee } => {
            format!("pointer {address_space} {}", pointee.is_some())
        }
        TypeKind::Array { len, .. } => format!("array {len}"),
        TypeKind::Function { params, var_arg, .. } => format!("fn {} {var_arg}", params.len()),
        other => format!("{other:?}"),
    };
    let heads: Vec<String> = types.iter().map(|&ty| head(ty)).collect();
    let mut same: Vec<Vec<bool>> =
        (0..count).map(|a| (0..count).map(|b| heads[a] == heads[b]).collect()).collect();
    loop {
        let before = same.clone();
        for a in 0..count {
            for b in 0..count {
                let (of_a, of_b) = (context.parts(types[a]), context.parts(types[b]));
                let mut parts = of_a.iter().zip(of_b);
                same[a][b] = same[a][b] && parts.all(|(a, b)| before[a.index()][b.index()]);
            }
        }
        if same == before {
            return same;
        }
    }
}

#[test]
fn classes_are_what_the_definitions_say() {
    let rounds = setting("TBAA_ROUNDS", 300);
    let mut merged = [0, 0];
    for seed in 0..rounds {
        let mut rng = Rng(seed as u64);
        // The encodings of many structs are longer than the prefix that is compared first.
        let structs = 2 + rng.below(if seed % 8 == 0 { 40 } else { 8 });
        let text = module(&mut rng, structs);
        let mut context = Context::new();
        context.read_definitions(text.as_bytes()).unwrap();
        let types: Vec<Type> = context.types().collect();
        let encodings: Vec<Encoding> =
            types.iter().map(|&ty| Encoding::of(&context, ty).unwrap()).collect();
        let naive = naive_unfolding(&context);
        let structural = TypeClasses::new(&[&context], Equality::Structural);
        let unfolding = TypeClasses::new(&[&context], Equality::Unfolding);
        assert!(structural.is_exact());
        for (i, &a) in types.iter().enumerate() {
            for (j, &b) in types.iter().enumerate() {
                let place = || {
                    format!(
                        "seed {seed}: {:?} {:?}\n{text}",
                        context.definition(a).to_string(),
                        context.definition(b).to_string()
                    )
                };
                let same = encodings[i] == encodings[j];
                assert_eq!(structural.same(a, b), same, "{}", place());
                assert_eq!(unfolding.same(a, b), naive[i][j], "{}", place());
                assert!(!same || naive[i][j], "{}", place());
                merged[0] += usize::from(i < j && same);
                merged[1] += usize::from(i < j && naive[i][j] && !same);
            }
        }
    }
    // The test would mean little if nothing were equal, or all that unfolds
    // alike were.
    assert!(merged[0] > rounds && merged[1] > rounds, "{merged:?}");
}

#[test]
fn two_contexts_compare_as_one_does() {
    for seed in 0..50 {
        let mut rng = Rng(seed);
        let text = module(&mut rng, 6);
        let (mut one, mut other, mut both) = (Context::new(), Context::new(), Context::new());
        let a = one.read_definitions(text.as_bytes()).unwrap();
        let b = other.read_definitions(text.as_bytes()).unwrap();
        let first = both.read_definitions(text.as_bytes()).unwrap();
        let second = both.read_definitions(text.as_bytes()).unwrap();
        for equality in [Equality::Structural, Equality::Unfolding] {
            let across = TypeClasses::new(&[&one, &other], equality);
            let within = TypeClasses::new(&[&both], equality);
            for (name, x) in a.names() {
                for (other_name, y) in b.names() {
                    let (p, q) = (first.named(name), second.named(other_name));
                    let expected = within.same(p.unwrap(), q.unwrap());
                    assert_eq!(across.same(x, y), expected, "{seed}");
                }
            }
        }
    }
}

#[test]
fn names_that_are_canonical() {
    for name in ["op.", ".0", "op.0.", "op.1a", "op.-1"] {
        assert_eq!(canonical_name(name.as_bytes()), name.as_bytes());
    }
}

/// Chains that unfold alike and point to one of two structs now and then, each
/// in an order of its own: more to compare than is compared.
#[test]
fn classes_say_that_not_all_was_compared() {
    const APART: usize = 25;
    let mut text = String::from("%x = type { i32 }\n%y = type { i32 }\n");
    for chain in 0..64 {
        for at in 0..7 * APART {
            let leaf = [", %x*", ", %y*"][(chain >> (at / APART)) & 1];
            let leaf = if at % APART == 0 { leaf } else { "" };
            writeln!(text, "%c{chain}_{at} = type {{ %c{chain}_{}*{leaf} }}", at + 1).unwrap();
        }
        writeln!(text, "%c{chain}_{} = type {{ %x* }}", 7 * APART).unwrap();
    }
    let mut context = Context::new();
    context.read_definitions(text.as_bytes()).unwrap();
    assert!(!TypeClasses::new(&[&context], Equality::Structural).is_exact());
    assert!(TypeClasses::new(&[&context], Equality::Unfolding).is_exact());
}

/// Types with a remote difference: a long chain ends in the struct that they also use directly, or
/// in its copy.
#[test]
fn what_is_shared_far_away_counts() {
    for length in [1, 10, 30, 100, 1000] {
        let mut text = String::from("%end = type { i32 }\n%copy = type { i32 }\n");
        for (chain, end) in [("a", "end"), ("b", "end"), ("c", "copy"), ("d", "copy")] {
            for at in 0..length {
                writeln!(text, "%{chain}{at} = type {{ %{chain}{}* }}", at + 1).unwrap();
            }
            writeln!(text, "%{chain}{length} = type {{ %{end}* }}").unwrap();
            for other in ["end", "copy"] {
                writeln!(text, "%{chain}.{other} = type {{ %{chain}0*, %{other}* }}").unwrap();
            }
        }
        let mut context = Context::new();
        context.read_definitions(text.as_bytes()).unwrap();
        let named = |name: &str| context.struct_by_name(name.as_bytes()).unwrap();
        let tops: Vec<Type> = ["a", "b", "c", "d"]
            .into_iter()
            .flat_map(|chain| ["end", "copy"].map(|other| named(&format!("{chain}.{other}"))))
            .collect();
        let structural = TypeClasses::new(&[&context], Equality::Structural);
        let unfolding = TypeClasses::new(&[&context], Equality::Unfolding);
        assert!(structural.is_exact());
        for &x in &tops {
            for &y in &tops {
                let same = Encoding::of(&context, x) == Encoding::of(&context, y);
                assert_eq!(structural.same(x, y), same, "{length}: {x:?} {y:?}");
                assert!(unfolding.same(x, y));
            }
        }
        // a and b share %end with their other element, c and d do not.
        assert!(structural.same(named("a.end"), named("c.copy")));
        assert!(!structural.same(named("a.end"), named("c.end")));
    }
}

/// The number of classes of structs.
fn struct_classes(context: &Context, equality: Equality) -> usize {
    let classes = TypeClasses::new(&[context], equality);
    assert!(classes.is_exact());
    let mut numbers: Vec<usize> = context.structs().map(|ty| classes.class_of(ty)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len()
}

const MANY: usize = 100_000;

/// Returns a context of structs whose elements are pointers to structs.
fn rings(structs: usize, mut elements: impl FnMut(usize) -> Vec<usize>) -> Context {
    let mut context = Context::new();
    let types: Vec<Type> = (0..structs).map(|_| context.numbered_struct().unwrap()).collect();
    for at in 0..structs {
        let pointers: Vec<Type> = elements(at)
            .into_iter()
            .map(|to| context.typed_pointer(types[to % structs], 0).unwrap())
            .collect();
        context.set_body(types[at], &pointers, Packing::Padded).unwrap();
    }
    context
}

#[test]
fn a_hundred_thousand_recursive_structs_are_one_class() {
    let ring = rings(MANY, |at| vec![at + 1]);
    assert_eq!(struct_classes(&ring, Equality::Structural), 1);
    assert_eq!(struct_classes(&ring, Equality::Unfolding), 1);
}

#[test]
fn a_hundred_thousand_recursive_structs_are_all_different() {
    // One of them has an additional element, so all others differ by their distance from it.
    let ring = rings(MANY, |at| if at == 0 { vec![1, 1] } else { vec![at + 1] });
    assert_eq!(struct_classes(&ring, Equality::Structural), MANY);
    assert_eq!(struct_classes(&ring, Equality::Unfolding), MANY);
    // All unfold alike; one points elsewhere than to itself.
    let ring = rings(MANY, |at| vec![at + 1, if at == 0 { 1 } else { at }]);
    assert_eq!(struct_classes(&ring, Equality::Structural), MANY);
    assert_eq!(struct_classes(&ring, Equality::Unfolding), 1);
}

#[test]
fn cycles_that_meet_are_told_apart_by_where_they_meet() {
    // Two rings, one longer by a struct; then a random graph.
    let half = MANY / 2;
    let ring = rings(MANY, |at| {
        vec![if at == half {
            0
        } else if at == MANY - 1 {
            half + 1
        } else {
            at + 1
        }]
    });
    assert_eq!(struct_classes(&ring, Equality::Structural), 2);
    assert_eq!(struct_classes(&ring, Equality::Unfolding), 1);
    let mut rng = Rng(7);
    let random = rings(MANY, |_| vec![rng.below(MANY), rng.below(MANY)]);
    assert!(struct_classes(&random, Equality::Structural) > MANY * 9 / 10);
    assert_eq!(struct_classes(&random, Equality::Unfolding), 1);
}

/// A program in many modules: each has the same types, and some of its own.
#[test]
fn many_copies_of_a_program_are_as_many_classes_as_one() {
    let mut rng = Rng(3);
    let text: String = module(&mut rng, 500);
    let mut context = Context::new();
    let first = context.read_definitions(text.as_bytes()).unwrap();
    let one = struct_classes(&context, Equality::Structural);
    for _ in 1..40 {
        context.read_definitions(text.as_bytes()).unwrap();
    }
    assert_eq!(context.structs().len(), 40 * first.names().len());
    assert_eq!(struct_classes(&context, Equality::Structural), one);
}

#[test]
fn the_longest_encoding_has_as_many_numbers_as_are_said() {
    let mut context = Context::new();
    let float = context.primitive(Primitive::Float);
    // A struct is three numbers, and each float is one.
    for count in [MAX_ENCODING - 3, MAX_ENCODING - 2] {
        let ty = context.literal_struct(&vec![float; count], Packing::Padded).unwrap();
        let numbers = Encoding::of(&context, ty).map(|encoding| encoding.numbers().len());
        assert_eq!(numbers, Some(count + 3).filter(|&length| length <= MAX_ENCODING));
    }
}
