//! `Context`, which stores types, and the text form of types.

use std::collections::HashSet;
use std::fmt::Write;

use tbaa::types::{
    Context, DataLayout, ElementCount, Encoding, Equality, LayoutError, MergedTypes, Packing,
    Primitive, Type, TypeClasses, TypeError, TypeKind, TypeSize,
};
use tbaa_ir::types::ReadTypes;
use tbaa_tests::{Rng, cases};

use crate::{EQUALITIES, defined, definitions, size};

const DEEP: usize = 1_000_000;

const PACKINGS: [Packing; 2] = [Packing::Padded, Packing::Packed];

/// Returns `of`, and the types that contain it, directly or nested, but not through a pointer.
fn holds(context: &Context, of: Type) -> HashSet<Type> {
    let mut holding = HashSet::from([of]);
    loop {
        let new = |&ty: &Type| {
            !holding.contains(&ty)
                && !matches!(context.kind(ty), TypeKind::Pointer { .. })
                && context.parts(ty).iter().any(|part| holding.contains(part))
        };
        let new: Vec<Type> = context.types().filter(new).collect();
        if new.is_empty() {
            return holding;
        }
        holding.extend(new);
    }
}

#[test]
fn a_body_is_refused_where_the_struct_is_in_it() {
    let (mut refused, mut refused_texts) = (0, 0);
    for seed in 0..2_000 {
        let mut rng = Rng(seed);
        let mut context = Context::new();
        let names: Vec<String> = (0..1 + rng.below(5)).map(|at| format!("s{at}")).collect();
        let structs: Vec<Type> =
            names.iter().map(|name| context.named_struct(name.as_bytes()).unwrap()).collect();
        let mut types = structs.clone();
        types.push(context.int(8).unwrap());
        let mut text = String::new();
        let mut is_recursive = false;
        for at in rng.shuffled(structs.len()) {
            for _ in 0..rng.below(4) {
                let part = *rng.pick(&types);
                let made = match rng.below(6) {
                    0 => context.array(part, rng.below(3)),
                    1 => context.literal_struct(&[part], *rng.pick(&PACKINGS)),
                    2 => context.typed_pointer(part, 0),
                    3 => context.target(b"x", &[part], &[]),
                    4 => context.named_struct(b"around").and_then(|around| {
                        context.set_body(around, &[part], Packing::Padded).map(|()| around)
                    }),
                    _ => context.function(part, &[]).and_then(|function| match rng.one_in(2) {
                        true => context.target(b"f", &[function], &[]),
                        false => context.typed_pointer(function, 0),
                    }),
                };
                types.push(made.unwrap());
            }
            let elements: Vec<Type> = (0..rng.below(3)).map(|_| *rng.pick(&types)).collect();
            let holding = holds(&context, structs[at]);
            let contained = elements.iter().any(|element| holding.contains(element));
            let body: Vec<String> =
                elements.iter().map(|&ty| context.display(ty).to_string()).collect();
            writeln!(text, "%{} = type {{ {} }}", names[at], body.join(", ")).unwrap();
            let name = Some(names[at].clone());
            let verdict = context.set_body(structs[at], &elements, *rng.pick(&PACKINGS));
            let right = if contained { Err(TypeError::Recursive { name }) } else { Ok(()) };
            assert_eq!(verdict, right, "seed {seed}: {text}");
            is_recursive |= contained;
            refused += usize::from(contained);
        }
        context.types().for_each(|ty| _ = size(&context, ty));
        for ty in context.structs().filter(|ty| !structs.contains(ty)) {
            writeln!(text, "{}", context.definition(ty)).unwrap();
        }
        let read = Context::new().read_definitions(text.as_bytes());
        assert_eq!(read.is_err(), is_recursive, "seed {seed}: {text}");
        refused_texts += usize::from(is_recursive);
    }
    assert!(refused > 300 && refused_texts > 300, "{refused} {refused_texts}");
}

/// `Context::complete`, unlike `set_body`, accepts a body that contains its own struct.
#[test]
fn a_struct_that_contains_itself_has_no_size_and_a_class() {
    let mut context = Context::new();
    let [a, b] = [b"a", b"b"].map(|name| context.named_struct(name).unwrap());
    let array = context.array(a, 2).unwrap();
    context.complete(a, &[b], Packing::Padded).unwrap();
    context.complete(b, &[array], Packing::Padded).unwrap();
    for ty in [a, b, array] {
        assert_eq!(size(&context, ty), Err(LayoutError::Unsized));
        assert!(Encoding::of(&context, ty).is_some());
    }
    assert!(DataLayout::default().layouts(&context).struct_layout(a).is_err());
    for equality in EQUALITIES {
        assert!(!TypeClasses::new(&[&context], equality).same(a, b));
    }
    assert!(MergedTypes::new(&[&context]).is_ok());
}

#[test]
fn a_modules_types_go_by_name_or_number() {
    let text = br#"%S = type { %0, %"a\\22"* }
%0 = type { i32 }
%"a\\22" = type opaque
"#;
    let module = tbaa_ir::read(text).unwrap();
    let mut context = Context::new();
    let names = module.read_types(&mut context).unwrap();
    let [s, escaped] = [&b"S"[..], b"a\\22"].map(|name| names.named(name).unwrap());
    let pointer = context.typed_pointer(escaped, 0).unwrap();
    assert_eq!(context.parts(s), [names.numbered(0).unwrap(), pointer]);
    assert_eq!((names.numbered(1), names.named(b"0")), (None, None));
    assert_eq!(context.parse_with(&names, b"%0").ok(), names.numbered(0));
}

#[test]
fn ids_of_another_context_are_noticed() {
    let mut one = Context::new();
    let ty = one.int(32).unwrap();
    let mut other = Context::new();
    let opaque = other.named_struct(b"s").unwrap();
    let made = [
        other.array(ty, 2),
        other.vector(ty, ElementCount::Fixed(2)),
        other.function(ty, &[]),
        other.literal_struct(&[ty], Packing::Padded),
    ];
    assert_eq!(made, [const { Err(TypeError::ForeignId) }; 4]);
    for (of, part) in [(opaque, &[ty][..]), (ty, &[])] {
        assert_eq!(other.set_body(of, part, Packing::Padded), Err(TypeError::ForeignId));
    }
    let float = other.primitive(Primitive::Float);
    assert_eq!(other.set_body(float, &[], Packing::Padded), Err(TypeError::NotIdentified));
    assert_eq!(other.named_struct(b"a\0b"), Err(TypeError::Name));
    assert_eq!(other.structs().len(), 1);
}

#[test]
fn completing_a_struct_moves_no_type() {
    let mut context = Context::new();
    let structs: Vec<Type> = (0..100).map(|_| context.numbered_struct().unwrap()).collect();
    let pointers: Vec<Type> =
        structs.iter().map(|&ty| context.typed_pointer(ty, 0).unwrap()).collect();
    let types = |context: &Context| -> Vec<(Type, String)> {
        context.types().map(|ty| (ty, context.display(ty).to_string())).collect()
    };
    let before = types(&context);
    for (at, &ty) in structs.iter().enumerate() {
        context.set_body(ty, &[pointers[(at * 7 + 3) % 100]], PACKINGS[at % 2]).unwrap();
    }
    assert_eq!(types(&context), before);
}

#[test]
fn a_million_levels_are_read_printed_and_compared() {
    let nested =
        |open: &str, close: &str| format!("{}i8{}", open.repeat(DEEP / 5), close.repeat(DEEP / 5));
    for (text, bytes) in [
        (nested("[1 x ", "]"), 1),
        (nested("{ ", " }"), 1),
        (nested("", "*"), 8),
        (nested("<{ ", " }>"), 1),
    ] {
        let mut context = Context::new();
        let ty = context.parse(text.as_bytes()).unwrap();
        assert_eq!(context.display(ty).to_string(), text);
        assert_eq!(size(&context, ty), Ok(TypeSize::fixed(bytes)));
        let mut other = Context::new();
        let same = other.parse(text.as_bytes()).unwrap();
        for equality in EQUALITIES {
            assert!(TypeClasses::new(&[&context, &other], equality).same(ty, same));
        }
        assert!(Encoding::of(&context, ty).is_some());
        assert!(MergedTypes::new(&[&context, &other]).is_ok());
    }
    let functions = format!("{}void{}", "void (".repeat(DEEP), ")*".repeat(DEEP));
    assert!(Context::new().parse(functions.as_bytes()).is_err(), "void is no parameter");
    for text in ["[2 x ", "{", "<{", "void (", "<4 x ", "target(\"x\", ", "%\"", "[", "i8 ("] {
        assert!(Context::new().parse(text.repeat(DEEP).as_bytes()).is_err(), "{text}");
    }
    let arrays = format!("{}i8{}", "[2 x ".repeat(DEEP), "]".repeat(DEEP));
    let mut context = Context::new();
    let ty = context.parse(arrays.as_bytes()).unwrap();
    assert_eq!(size(&context, ty), Err(LayoutError::TooLarge));
}

#[test]
fn a_text_without_end_is_cut() {
    let mut text = String::from("%f0 = type void (i8)*\n");
    for level in 1..80 {
        let below = level - 1;
        writeln!(text, "%f{level} = type void (%f{below}, %f{below})*").unwrap();
    }
    let mut context = Context::new();
    let names = context.read_definitions(text.as_bytes()).unwrap();
    let top = names.named(b"f79").unwrap();
    struct Counted(usize, bool);
    impl Write for Counted {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0 += text.len();
            self.1 = text == "...";
            Ok(())
        }
    }
    let mut counted = Counted(0, false);
    write!(counted, "{}", context.display(top)).unwrap();
    assert!(counted.1 && counted.0 < 1 << 30);
    assert_eq!(Encoding::of(&context, top), None);
    assert!(TypeClasses::new(&[&context], Equality::Structural).is_exact());
}

#[test]
fn text_that_is_cut_anywhere_is_an_error_or_a_type() {
    let text = b"%a = type <{ i32 (%b*, ...)*, [2 x <vscale x 4 x i8>], ptr addrspace(1), \
                 target(\"x\", i8, 1), { %\"q\\22\"* } }> %b = type opaque %\"q\\22\" = type {}";
    for end in 0..text.len() {
        let _ = Context::new().read_definitions(&text[..end]);
        for byte in [0, b'\\', b'"', b'<', b'}', b'9', 0xff] {
            let mut changed = text.to_vec();
            changed[end] = byte;
            let _ = Context::new().read_definitions(&changed);
        }
    }
    assert!(Context::new().read_definitions(text).is_ok());
}

#[test]
fn a_long_chain_is_read_in_either_order() {
    const COUNT: usize = 100_000;
    for forward in [true, false] {
        let mut text = String::new();
        for at in 0..COUNT {
            let at = if forward { at } else { COUNT - 1 - at };
            let next = if at + 1 == COUNT { "i64".into() } else { format!("%s{}", at + 1) };
            writeln!(text, "%s{at} = type {{ {next} }}").unwrap();
        }
        let context = defined(&text);
        let first = context.struct_by_name(b"s0").unwrap();
        assert_eq!(size(&context, first), Ok(TypeSize::fixed(8)));
        assert!(TypeClasses::new(&[&context], Equality::Structural).is_exact());
    }
}

#[test]
fn completion_instead_of_refinement() {
    let mut context = Context::new();
    let list = context.named_struct(b"intlist").unwrap();
    let before = context.typed_pointer(list, 0).unwrap();
    let i32 = context.int(32).unwrap();
    assert_eq!(context.definition(list).to_string(), "%intlist = type opaque");
    context.set_body(list, &[before, i32], Packing::Padded).unwrap();
    assert_eq!(context.definition(list).to_string(), "%intlist = type { %intlist*, i32 }");
    assert_eq!(context.typed_pointer(list, 0), Ok(before), "nothing moved");
    assert_eq!(context.set_body(list, &[], Packing::Padded), Err(TypeError::HasBody));
}

#[test]
fn a_name_that_is_taken_gets_a_suffix() {
    let mut context = Context::new();
    let types: Vec<Type> = (0..3).map(|_| context.named_struct(b"foo").unwrap()).collect();
    let names: Vec<String> = types.iter().map(|&ty| context.display(ty).to_string()).collect();
    assert_eq!(names, ["%foo", "%foo.0", "%foo.1"]);
}

#[test]
fn what_makes_no_type_is_refused() {
    let mut context = Context::new();
    assert!(context.int(1).is_ok() && context.int(8_388_608).is_ok());
    assert_eq!(context.int(0), Err(TypeError::IntWidth(0)));
    assert_eq!(context.int(8_388_609), Err(TypeError::IntWidth(8_388_609)));
    let (i32, void) = (context.int(32).unwrap(), context.primitive(Primitive::Void));
    let function = context.function(i32, &[i32]).unwrap();
    assert_eq!(context.parse(b"i32 (i32)"), Ok(function));
    let variadic = context.variadic_function(i32, &[i32]).unwrap();
    assert_eq!(context.parse(b"i32 (i32, ...)"), Ok(variadic));
    assert!(context.function(i32, &[void]).is_err());
}

/// Returns the sizes and encodings of types, and the pairs of equal types, as text.
fn of_types(context: &Context, types: &[Type]) -> String {
    let layout = DataLayout::default();
    let mut layouts = layout.layouts(context);
    let mut out = String::new();
    for &ty in types {
        let size = layouts.size_in_bits(ty).map_or_else(
            |error| format!("{error:?}"),
            |size| format!("{}{} bits", size.min, if size.scalable { " at least" } else { "" }),
        );
        let encoding = Encoding::of(context, ty).map_or("too long".into(), |of| of.to_string());
        writeln!(out, "{}: {size}, {encoding}", context.definition(ty)).unwrap();
    }
    for (word, equality) in [("equal", Equality::Structural), ("alike", Equality::Unfolding)] {
        let classes = TypeClasses::new(&[context], equality);
        assert!(classes.is_exact());
        for (at, &ty) in types.iter().enumerate() {
            let same = |other: &&Type| classes.same(ty, **other);
            for &other in types[at + 1..].iter().filter(same) {
                let [a, b] = [ty, other].map(|ty| context.display(ty));
                writeln!(out, "{word}: {a}, {b}").unwrap();
            }
        }
    }
    out
}

#[test]
fn types_are_as_written_down() {
    cases::check("types/types.txt", |_, parts| {
        let mut context = Context::new();
        for module in &parts[1..] {
            if let Err(error) = context.read_definitions(module.trim_end().as_bytes()) {
                // The types that are left in the context are not recursive.
                let types: Vec<_> = context.structs().collect();
                _ = of_types(&context, &types);
                return format!("refused: {error}");
            }
        }
        let mut types: Vec<_> = context.structs().collect();
        let mut out = String::new();
        for text in parts[0].lines() {
            match context.parse(text.as_bytes()) {
                Ok(ty) => {
                    let shown = context.display(ty).to_string();
                    assert_eq!(context.parse(shown.as_bytes()), Ok(ty));
                    types.push(ty);
                }
                Err(error) => writeln!(out, "{text} is refused: {error}").unwrap(),
            }
        }
        let printed = definitions(&context);
        assert_eq!(definitions(&defined(&printed)), printed);
        of_types(&context, &types) + &out
    });
}
