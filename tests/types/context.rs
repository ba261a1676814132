//! The store and its text: what is one type, what is refused, what hostile
//! text does.

use std::fmt::Write;

use tbaa::types::{
    Context, DataLayout, Encoding, Equality, LayoutError, ParseErrorKind, Primitive, Type,
    TypeClasses, TypeError, TypeSize, equal,
};

const DEEP: usize = 1_000_000;

fn message(text: &str) -> String {
    Context::new().read_definitions(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn what_is_printed_reads_back_as_the_same_type() {
    let mut context = Context::new();
    let names = context
        .read_definitions(
            b"%struct.S = type { i32, %1*, %\"a b\\22\\5C\\FF\" }
              %0 = type <{ %struct.S, ptr addrspace(3) }>
              %\"a b\\22\\5C\\FF\" = type opaque
              %\"0\" = type {}
              %1 = type <{}> ; not %0
              %\"\\01odd\" = type { %\"0\", %0* }
              %alias = type [2 x %struct.S*]",
        )
        .unwrap();
    let printed = |context: &Context| {
        let mut text = String::new();
        context.write_definitions(&mut text).unwrap();
        text
    };
    let first = printed(&context);
    let mut again = Context::new();
    again.read_definitions(first.as_bytes()).unwrap();
    assert_eq!(printed(&again), first);
    assert_eq!(context.display(names.named(b"alias").unwrap()).to_string(), "[2 x %struct.S*]");
    for text in [
        "%struct.S",
        "%\"a b\\22\\5C\\FF\"",
        "%\"0\"",
        "[0 x <{ i8, [18446744073709551615 x %0 addrspace(16777215)*] }>]",
        "void (%struct.S*, { i1, <vscale x 3 x half> }, ...)* addrspace(1)*",
        "i32 (i32 (i32)*)",
        "target(\"spirv.Image\", void, [2 x i8], 1, 0, 4294967295)",
        "target(\"a\\22b\")",
        "<2 x i32*>",
        "metadata",
    ] {
        let ty = context.parse(text.as_bytes()).expect(text);
        assert_eq!(context.display(ty).to_string(), text);
    }
    // White space and comments are free.
    let spaced = context.parse(b" [ 2\nx ; two\n< { i8 ,i16\t} > ] ").unwrap();
    assert_eq!(context.parse(b"[2 x <{i8,i16}>]"), Ok(spaced));
}

#[test]
fn a_struct_cannot_contain_itself() {
    for text in [
        "%a = type { %a }",
        "%a = type { [0 x %a] }",
        "%a = type { i32, { %b } } %b = type { [2 x %a] }",
        "%c = type { %a* } %b = type { %a } %a = type { [1 x %b], %c }",
        "%a = type { target(\"x\", %a) }",
    ] {
        let mut context = Context::new();
        let error = context.read_definitions(text.as_bytes()).unwrap_err();
        assert!(matches!(error.kind, ParseErrorKind::Type(TypeError::Recursive { .. })), "{error}");
        // What stays in the context is not recursive either.
        let layout = DataLayout::default();
        let mut layouts = layout.layouts(&context);
        for ty in context.structs() {
            let _ = layouts.alloc_size(ty);
        }
    }
    let mut context = Context::new();
    let [a, b] = [b"a", b"b"].map(|name| context.named_struct(name).unwrap());
    let array = context.array(a, 2).unwrap();
    context.set_body(b, &[array], false).unwrap();
    assert_eq!(
        context.set_body(a, &[b], false).unwrap_err().to_string(),
        "struct %a contains itself; let it contain a pointer"
    );
    let pointer = context.typed_pointer(b, 0).unwrap();
    context.set_body(a, &[pointer], false).unwrap();
    let size = DataLayout::default().layouts(&context).alloc_size(b);
    assert_eq!(size, Ok(TypeSize::fixed(16)));
}

#[test]
fn errors_say_where_and_what() {
    for (text, expected) in [
        ("%a = type { i32, %b }", "1:18: type %b is used and not defined; add `%b = type ...`"),
        ("%a = type {}\n%a = type {}", "2:1: type %a is defined a second time"),
        ("%a = type { i32", "1:16: expected `,` or the end of the struct"),
        ("%a = type { void }", "1:13: void cannot be an element of a struct"),
        ("%a = type i33333333", "1:11: an integer of 33333333 bits: it must have 1 to 8388608"),
        ("%a = type <0 x i8>", "1:16: a vector of 0 elements: it must have 1 to 4294967295"),
        (
            "%a = type ptr addrspace(16777216)",
            "1:11: address space 16777216: it must be less than 16777216",
        ),
        (
            "%a = type i8 addrspace(16777216)*",
            "1:11: address space 16777216: it must be less than 16777216",
        ),
        ("%a = type <2 x label>", "1:16: label cannot be an element of a vector"),
        (
            "%b = type {}\n%a = type { %a }",
            "2:1: struct %a contains itself; let it contain a pointer",
        ),
        ("%a = type target(\"x\", 1, i8)", "1:26: expected an integer"),
        ("%a = type int", "1:11: expected a type"),
        ("%a = i32", "1:6: expected `type`"),
        ("a", "1:1: expected a type name such as %struct.Point"),
        (
            "%a = type %b %b = type [2 x i8]",
            "1:14: type %b is no struct and is used before this; move it up",
        ),
    ] {
        assert_eq!(message(text), expected, "{text}");
    }
}

#[test]
fn a_target_type_takes_the_parameters_that_llvm_takes() {
    let tuple = "a scalable vector and one integer";
    for (parameters, takes) in [
        ("\"aarch64.svcount\", 1", "no parameters"),
        ("\"aarch64.svcount\", i8", "no parameters"),
        ("\"amdgcn.named.barrier\"", "one integer and no type"),
        ("\"amdgcn.named.barrier\", i8, 0", "one integer and no type"),
        ("\"riscv.vector.tuple\", 2", tuple),
        ("\"riscv.vector.tuple\", <vscale x 8 x i8>", tuple),
    ] {
        let error = Context::new().parse(format!("target({parameters})").as_bytes()).unwrap_err();
        assert_eq!(error.kind, ParseErrorKind::Type(TypeError::TargetParameters { takes }));
    }
}

#[test]
fn a_modules_types_go_by_name_or_number() {
    let text = br#"%S = type { %0, %"a\\22"* }
%0 = type { i32 }
%"a\\22" = type opaque
"#;
    let module = tbaa_ir::read(text).unwrap();
    let mut context = Context::new();
    let names = module.read_types(text, &mut context).unwrap();
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
    assert_eq!(other.array(ty, 2), Err(TypeError::ForeignId));
    assert_eq!(other.vector(ty, 2, false), Err(TypeError::ForeignId));
    assert_eq!(other.function(ty, &[], false), Err(TypeError::ForeignId));
    assert_eq!(other.literal_struct(&[ty], false), Err(TypeError::ForeignId));
    assert_eq!(other.set_body(opaque, &[ty], false), Err(TypeError::ForeignId));
    assert_eq!(other.set_body(ty, &[], false), Err(TypeError::ForeignId));
    let float = other.primitive(Primitive::Float);
    assert_eq!(other.set_body(float, &[], false), Err(TypeError::NotIdentified));
    assert_eq!(other.named_struct(b"a\0b"), Err(TypeError::Name));
    assert_eq!(other.structs().len(), 1);
}

#[test]
fn completing_a_struct_moves_no_type() {
    let mut context = Context::new();
    let structs: Vec<Type> = (0..100).map(|_| context.numbered_struct().unwrap()).collect();
    let pointers: Vec<Type> =
        structs.iter().map(|&ty| context.typed_pointer(ty, 0).unwrap()).collect();
    let before: Vec<(Type, String)> =
        context.types().map(|ty| (ty, context.display(ty).to_string())).collect();
    for (at, &ty) in structs.iter().enumerate() {
        context.set_body(ty, &[pointers[(at * 7 + 3) % 100]], at % 2 == 0).unwrap();
    }
    let after: Vec<(Type, String)> =
        context.types().map(|ty| (ty, context.display(ty).to_string())).collect();
    assert_eq!(before, after);
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
        let size = DataLayout::default().layouts(&context).alloc_size(ty);
        assert_eq!(size, Ok(TypeSize::fixed(bytes)));
        let mut other = Context::new();
        let same = other.parse(text.as_bytes()).unwrap();
        assert!(equal(Equality::Structural, (&context, ty), (&other, same)));
        assert!(equal(Equality::Unfolding, (&context, ty), (&other, same)));
        assert!(Encoding::of(&context, ty).is_some());
    }
    let functions = format!("{}void{}", "void (".repeat(DEEP), ")*".repeat(DEEP));
    assert!(Context::new().parse(functions.as_bytes()).is_err(), "void is no parameter");
    for text in ["[2 x ", "{", "<{", "void (", "<4 x ", "target(\"x\", ", "%\"", "[", "i8 ("] {
        assert!(Context::new().parse(text.repeat(DEEP).as_bytes()).is_err(), "{text}");
    }
    let arrays = format!("{}i8{}", "[2 x ".repeat(DEEP), "]".repeat(DEEP));
    let mut context = Context::new();
    let ty = context.parse(arrays.as_bytes()).unwrap();
    let size = DataLayout::default().layouts(&context).alloc_size(ty);
    assert_eq!(size, Err(LayoutError::TooLarge));
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

/// 100,000 structs, each of which contains the next one, read from a text in
/// either order.
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
        let mut context = Context::new();
        context.read_definitions(text.as_bytes()).unwrap();
        let first = context.struct_by_name(b"s0").unwrap();
        let size = DataLayout::default().layouts(&context).alloc_size(first);
        assert_eq!(size, Ok(TypeSize::fixed(8)));
        assert!(TypeClasses::new(&[&context], Equality::Structural).is_exact());
    }
}
