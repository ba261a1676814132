//! Tests structural equality of types, and equality by unfolding (names replaced by bodies).

use std::collections::HashSet;
use std::fmt::Write;

use pretty_assertions::assert_eq;
use tbaa::types::{
    Context, Encoding, MAX_ENCODING, Packing, Primitive, Type, TypeClasses, TypeKind,
    canonical_name,
};

use tbaa_ir::types::ReadTypes;
use tbaa_tests::{Rng, setting};

use crate::{EQUALITIES, defined};

/// Returns a random type that may refer to structs, some of them opaque.
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

/// Returns structs that resemble each other: each is made from one of a few patterns.
fn module(rng: &mut Rng, structs: usize) -> String {
    let mut text = String::from("%op = type opaque\n%op.1 = type opaque\n%other = type opaque\n");
    let patterns = 1 + rng.below(3);
    let bodies: Vec<Vec<String>> = (0..patterns)
        .map(|_| (0..1 + rng.below(3)).map(|_| part(rng, structs, 2)).collect())
        .collect();
    for at in 0..structs {
        let mut body = rng.pick(&bodies).clone();
        // Some pointers point to other structs than in the pattern.
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

/// Computes bisimilarity by its definition: starts with all pairs, and removes those that differ.
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
        // With many structs, an encoding may exceed the prefix that `TypeClasses` compares first.
        let structs = 2 + rng.below(if seed % 8 == 0 { 40 } else { 8 });
        let text = module(&mut rng, structs);
        let context = defined(&text);
        let types: Vec<Type> = context.types().collect();
        let encodings: Vec<Encoding> =
            types.iter().map(|&ty| Encoding::of(&context, ty).unwrap()).collect();
        let naive = naive_unfolding(&context);
        let [structural, unfolding] = EQUALITIES.map(|of| TypeClasses::new(&[&context], of));
        assert!(structural.is_exact());
        for (i, &a) in types.iter().enumerate() {
            for (j, &b) in types.iter().enumerate() {
                let (same, alike) = (encodings[i] == encodings[j], naive[i][j]);
                let [x, y] = [a, b].map(|ty| context.definition(ty));
                let found = (structural.same(a, b), unfolding.same(a, b));
                assert_eq!(found, (same, alike), "seed {seed}: {x} and {y}\n{text}");
                assert!(!same || alike, "seed {seed}: {x} and {y}\n{text}");
                merged[0] += usize::from(i < j && same);
                merged[1] += usize::from(i < j && alike && !same);
            }
        }
    }
    // The test means little unless some types are equal, and some only when they are unfolded.
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
        for equality in EQUALITIES {
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
#[should_panic = "was not compared"]
fn a_type_that_is_newer_than_the_comparison_is_noticed() {
    let (mut one, mut other) = (Context::new(), Context::new());
    other.int(32).unwrap();
    one.int(64).unwrap();
    let classes = TypeClasses::new(&[&one, &other], EQUALITIES[0]);
    classes.class_of(one.int(77).unwrap());
}

#[test]
fn names_that_are_canonical() {
    for name in ["op.", ".0", "op.0.", "op.1a", "op.-1"] {
        assert_eq!(canonical_name(name.as_bytes()), name.as_bytes());
    }
}

/// 64 chains of structs are equal by unfolding. In each, some structs also point to `%x` or `%y`,
/// in an order that differs from chain to chain: the structural comparison reaches its limit.
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
    let context = defined(&text);
    let exact = EQUALITIES.map(|equality| TypeClasses::new(&[&context], equality).is_exact());
    assert_eq!(exact, [false, true]);
}

/// Each compared type points to a chain, and to `%end` or `%copy`, which are equal. The chain ends
/// with a pointer to one of these two structs.
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
        let context = defined(&text);
        let named = |name: &str| context.struct_by_name(name.as_bytes()).unwrap();
        let tops: Vec<Type> = ["a", "b", "c", "d"]
            .into_iter()
            .flat_map(|chain| ["end", "copy"].map(|other| named(&format!("{chain}.{other}"))))
            .collect();
        let [structural, unfolding] = EQUALITIES.map(|of| TypeClasses::new(&[&context], of));
        assert!(structural.is_exact());
        for &x in &tops {
            for &y in &tops {
                let same = Encoding::of(&context, x) == Encoding::of(&context, y);
                assert_eq!(structural.same(x, y), same, "{length}: {x:?} {y:?}");
                assert!(unfolding.same(x, y));
            }
        }
        // `a.end` and `c.copy` reach one struct twice, `c.end` reaches two structs.
        assert!(structural.same(named("a.end"), named("c.copy")));
        assert!(!structural.same(named("a.end"), named("c.end")));
    }
}

/// Returns the number of classes of equal structs, by each of the two equalities.
fn struct_classes(context: &Context) -> [usize; 2] {
    EQUALITIES.map(|equality| {
        let classes = TypeClasses::new(&[context], equality);
        assert!(classes.is_exact());
        context.structs().map(|ty| classes.class_of(ty)).collect::<HashSet<_>>().len()
    })
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
fn a_hundred_thousand_recursive_structs() {
    const HALF: usize = MANY / 2;
    type Elements = fn(usize) -> Vec<usize>;
    let cases: [(&str, Elements, [usize; 2]); 4] = [
        ("one ring", |at| vec![at + 1], [1, 1]),
        // The other structs differ by their distance from struct 0.
        ("one more element", |at| if at == 0 { vec![1, 1] } else { vec![at + 1] }, [MANY; 2]),
        ("one that does not point to itself", |at| vec![at + 1, at.max(1)], [MANY, 1]),
        (
            "two rings, one longer by a struct",
            |at| match at {
                HALF => vec![0],
                _ if at == MANY - 1 => vec![HALF + 1],
                _ => vec![at + 1],
            },
            [2, 1],
        ),
    ];
    for (name, elements, classes) in cases {
        assert_eq!(struct_classes(&rings(MANY, elements)), classes, "{name}");
    }
    let mut rng = Rng(7);
    let random = rings(MANY, |_| vec![rng.below(MANY), rng.below(MANY)]);
    let [structural, unfolding] = struct_classes(&random);
    assert!(structural > MANY * 9 / 10 && unfolding == 1, "{structural} {unfolding}");
}

#[test]
fn many_copies_of_a_program_are_as_many_classes_as_one() {
    let mut rng = Rng(3);
    let text: String = module(&mut rng, 500);
    let mut context = Context::new();
    let first = context.read_definitions(text.as_bytes()).unwrap();
    let one = struct_classes(&context);
    for _ in 1..40 {
        context.read_definitions(text.as_bytes()).unwrap();
    }
    assert_eq!(context.structs().len(), 40 * first.names().len());
    assert_eq!(struct_classes(&context), one);
}

#[test]
fn the_longest_encoding_has_as_many_numbers_as_are_said() {
    let mut context = Context::new();
    let float = context.primitive(Primitive::Float);
    // The encoding of a struct takes three numbers, and that of each float one.
    for count in [MAX_ENCODING - 3, MAX_ENCODING - 2] {
        let ty = context.literal_struct(&vec![float; count], Packing::Padded).unwrap();
        let numbers = Encoding::of(&context, ty).map(|encoding| encoding.numbers().len());
        assert_eq!(numbers, Some(count + 3).filter(|&length| length <= MAX_ENCODING));
    }
}
