//! The examples of the three articles about LLVM's types, in their numbers.
//!
//! - "Type Equality in LLVM" (lowlevelbits.org)
//! - Chris Lattner, "LLVM 3.0 Type System Rewrite" (LLVM blog, 2011)
//! - an introduction to LLVM's type system, in Chinese (2023)

use tbaa::types::{
    Context, DataLayout, Encoding, Equality, LayoutError, ParseErrorKind, Primitive, Type,
    TypeError, TypeKind, TypeSize, canonical_name, equal,
};

fn encoded(context: &Context, ty: Type) -> String {
    Encoding::of(context, ty).unwrap().to_string()
}

fn read(text: &str) -> Context {
    let mut context = Context::new();
    context.read_definitions(text.as_bytes()).unwrap();
    context
}

fn named(context: &Context, name: &str) -> Type {
    context.struct_by_name(name.as_bytes()).unwrap_or_else(|| panic!("no %{name}"))
}

fn structurally(context: &Context, a: &str, b: &str) -> bool {
    let (a, b) = (named(context, a), named(context, b));
    equal(Equality::Structural, (context, a), (context, b))
}

mod type_equality {
    use super::*;

    /// Two modules of one header, in one context.
    #[test]
    fn the_same_struct_of_two_modules() {
        let mut context = Context::new();
        let module = b"%struct.Point = type { i32, i32 }";
        context.read_definitions(module).unwrap();
        context.read_definitions(module).unwrap();
        let mut text = String::new();
        context.write_definitions(&mut text).unwrap();
        assert_eq!(
            text,
            "%struct.Point = type { i32, i32 }\n%struct.Point.0 = type { i32, i32 }\n"
        );
        assert!(structurally(&context, "struct.Point", "struct.Point.0"));
    }

    #[test]
    fn one_name_and_two_types() {
        let context = read(
            "%struct.Point = type { i32, i32 }
             %struct.Point.0 = type { float, float, float }",
        );
        assert_eq!(canonical_name(b"struct.Point.0"), b"struct.Point");
        assert!(!structurally(&context, "struct.Point", "struct.Point.0"));
    }

    /// `StructType::isLayoutIdentical` says no to the wrappers.
    #[test]
    fn wrappers_of_equal_structs() {
        let context = read(
            "%struct.Point = type { i32, i32 }
             %struct.Point.0 = type { i32, i32 }
             %struct.wrapper = type { %struct.Point }
             %struct.wrapper.0 = type { %struct.Point.0 }",
        );
        assert!(structurally(&context, "struct.wrapper", "struct.wrapper.0"));
        assert!(!structurally(&context, "struct.wrapper", "struct.Point"));
    }

    /// Types of two contexts are comparable, primitive ones to begin with.
    #[test]
    fn types_of_two_contexts() {
        let (mut one, mut other) = (Context::new(), Context::new());
        let (a, b) = (one.int(32).unwrap(), other.int(32).unwrap());
        assert_ne!(a, b);
        assert!(equal(Equality::Structural, (&one, a), (&other, b)));
        let c = other.int(64).unwrap();
        assert!(!equal(Equality::Structural, (&one, a), (&other, c)));
    }

    /// Both names stay, though one class has both: see the command `types`.
    #[test]
    fn two_names_of_one_layout() {
        let context = read("%struct.Point = type { i32, i32 }\n%struct.Tuple = type { i32, i32 }");
        assert!(structurally(&context, "struct.Point", "struct.Tuple"));
        assert_eq!(context.structs().len(), 2);
    }

    /// The third element's name is all that differs, and no body is known.
    #[test]
    fn the_type_that_never_existed() {
        let context = read(
            "%struct.ct_data_s = type { i16, i16 }
             %struct.mach_msg_body_t = type { i32 }
             %struct.static_tree_desc_s = type opaque
             %struct.tree_desc_s = type { %struct.ct_data_s*, i32, %struct.mach_msg_body_t* }
             %struct.tree_desc_s.79312 = type { %struct.ct_data_s*, i32, %struct.static_tree_desc_s* }",
        );
        assert!(!structurally(&context, "struct.tree_desc_s", "struct.tree_desc_s.79312"));
        assert_eq!(canonical_name(b"struct.tree_desc_s.79312"), b"struct.tree_desc_s");
    }

    #[test]
    fn encodings_of_single_types() {
        let mut context = Context::new();
        for (text, expected) in [
            ("i32", "I32"),
            ("i177", "I177"),
            ("[16 x i8*]", "A16PI8"),
            ("{ i32, i8*, float }", "S3S0I32PI8F"),
        ] {
            let ty = context.parse(text.as_bytes()).unwrap();
            assert_eq!(encoded(&context, ty), expected, "{text}");
        }
    }

    const RECURSIVE: &str = "%list = type { %list*, i32 }
                             %node = type { %node*, i32 }
                             %root = type { %node*, i32 }";

    #[test]
    fn recursive_structs() {
        let context = read(RECURSIVE);
        assert!(structurally(&context, "list", "node"));
        assert!(!structurally(&context, "root", "node"));
        assert!(!structurally(&context, "root", "list"));
        // S(2, S0, P(S(2, S0, x, x)), I(32))
        assert_eq!(encoded(&context, named(&context, "list")), "S2S0PS2S0xxI32");
        assert_eq!(encoded(&context, named(&context, "node")), "S2S0PS2S0xxI32");
        // S(2, S0, P(S(2, S1, P(S(2, S1, x, x)), I(32))), I(32)); the article
        // closes a parenthesis too late and so has one I(32) too many inside.
        assert_eq!(encoded(&context, named(&context, "root")), "S2S0PS2S1PS2S1xxI32I32");
    }

    #[test]
    fn recursive_structs_that_unfold_alike() {
        let context = read(RECURSIVE);
        let [list, node, root] = ["list", "node", "root"].map(|name| named(&context, name));
        let alike = |a, b| equal(Equality::Unfolding, (&context, a), (&context, b));
        assert!(alike(list, node) && alike(root, node) && alike(root, list));
    }

    #[test]
    fn opaque_structs() {
        let context = read(
            "%struct.A = type opaque
             %struct.A.0 = type opaque
             %struct.B = type opaque
             %foo = type { %struct.A* }
             %bar = type { %struct.A.0* }
             %buzz = type { %struct.B* }",
        );
        assert!(structurally(&context, "struct.A", "struct.A.0"));
        assert!(!structurally(&context, "struct.A", "struct.B"));
        assert!(structurally(&context, "foo", "bar"));
        assert!(!structurally(&context, "foo", "buzz"));
        assert!(!structurally(&context, "bar", "buzz"));
    }
}

mod type_system_rewrite {
    use super::*;

    #[test]
    fn completion_instead_of_refinement() {
        let mut context = Context::new();
        let list = context.named_struct(b"intlist").unwrap();
        let before = context.typed_pointer(list, 0).unwrap();
        let i32 = context.int(32).unwrap();
        assert_eq!(context.definition(list).to_string(), "%intlist = type opaque");
        context.set_body(list, &[before, i32], false).unwrap();
        assert_eq!(context.definition(list).to_string(), "%intlist = type { %intlist*, i32 }");
        assert_eq!(context.typed_pointer(list, 0), Ok(before), "nothing moved");
        assert_eq!(context.set_body(list, &[], false), Err(TypeError::HasBody));
    }

    /// In LLVM 2.9, `%T1` and `%T2` became two names of one type.
    #[test]
    fn two_structs_stay_two() {
        let mut context = Context::new();
        let t1 = context.named_struct(b"T1").unwrap();
        let t2 = context.named_struct(b"T2").unwrap();
        let (g1, g2) =
            (context.typed_pointer(t1, 0).unwrap(), context.typed_pointer(t2, 0).unwrap());
        context.set_body(t2, &[], false).unwrap();
        context.set_body(t1, &[], false).unwrap();
        assert_ne!(g1, g2);
        assert_eq!(context.display(g1).to_string(), "%T1*");
        assert_eq!(context.display(g2).to_string(), "%T2*");
    }

    #[test]
    fn numbered_structs_print_by_number() {
        let context = read("%0 = type { %0*, i32 }");
        let ty = context.structs().next().unwrap();
        assert_eq!(context.definition(ty).to_string(), "%0 = type { %0*, i32 }");
        assert!(matches!(context.kind(ty), TypeKind::Identified { name: None, .. }));
    }

    /// `%t1 = type %t1*`, a pointer to itself, was a type in LLVM 2.9.
    #[test]
    fn only_structs_are_recursive() {
        let error = Context::new().read_definitions(b"%t1 = type %t1*").unwrap_err();
        assert_eq!(error.kind, ParseErrorKind::UsedBefore("%t1".into()));
    }

    #[test]
    fn literal_structs_are_uniqued_and_identified_ones_are_not() {
        let mut context = Context::new();
        let literal = context.parse(b"{ i32, i32 }").unwrap();
        assert_eq!(context.parse(b"{i32,i32}"), Ok(literal));
        let names = context.read_definitions(b"%ty = type { i32, i32 }").unwrap();
        assert_ne!(names.named(b"ty"), Some(literal));
        assert_eq!(context.display(literal).to_string(), "{ i32, i32 }");
    }

    #[test]
    fn a_name_that_is_taken_gets_a_suffix() {
        let mut context = Context::new();
        let types: Vec<Type> = (0..3).map(|_| context.named_struct(b"foo").unwrap()).collect();
        let names: Vec<String> = types.iter().map(|&ty| context.display(ty).to_string()).collect();
        assert_eq!(names, ["%foo", "%foo.0", "%foo.1"]);
    }

    /// `x.ll` and `y.ll`: the linker must find that the two `%A` are one.
    #[test]
    fn two_modules_in_one_context() {
        let mut context = Context::new();
        let x = context.read_definitions(b"%A = type { i32 }").unwrap();
        let y = context.read_definitions(b"%A = type { i32 }").unwrap();
        let (a, b) = (x.named(b"A").unwrap(), y.named(b"A").unwrap());
        assert_ne!(a, b);
        assert!(equal(Equality::Structural, (&context, a), (&context, b)));
    }
}

mod introduction {
    use super::*;

    fn round_trip(context: &mut Context, text: &str) -> Type {
        let ty = context.parse(text.as_bytes()).unwrap();
        assert_eq!(context.display(ty).to_string(), text);
        ty
    }

    /// The sizes that the tables give.
    #[test]
    fn primitive_types_and_their_bits() {
        let mut context = Context::new();
        let layout = DataLayout::default();
        for (text, bits) in [
            ("half", 16),
            ("bfloat", 16),
            ("float", 32),
            ("double", 64),
            ("fp128", 128),
            ("x86_fp80", 80),
            ("ppc_fp128", 128),
            ("x86_amx", 8192),
            ("i32", 32),
        ] {
            let ty = round_trip(&mut context, text);
            let size = layout.layouts(&context).size_in_bits(ty);
            assert_eq!(size, Ok(TypeSize::fixed(bits)), "{text}");
        }
        for text in ["void", "label", "metadata", "token"] {
            let ty = round_trip(&mut context, text);
            assert_eq!(layout.layouts(&context).size_in_bits(ty), Err(LayoutError::Unsized));
        }
        // LLVM 20 dropped it for this.
        let mmx = context.parse(b"x86_mmx").unwrap();
        assert_eq!(context.display(mmx).to_string(), "<1 x i64>");
    }

    #[test]
    fn integers_have_1_to_2_to_the_23_bits() {
        let mut context = Context::new();
        assert!(context.int(1).is_ok() && context.int(8_388_608).is_ok());
        assert_eq!(context.int(0), Err(TypeError::IntWidth(0)));
        assert_eq!(context.int(8_388_609), Err(TypeError::IntWidth(8_388_609)));
        assert!(context.parse(b"i0").is_err());
        assert!(context.parse(b"i8388609").is_err());
        assert!(context.parse(b"i99999999999999999999999").is_err());
    }

    #[test]
    fn pointers() {
        let mut context = Context::new();
        for text in
            ["i32*", "i64*", "ptr", "ptr addrspace(5)", "i8 addrspace(1)*", "i32 (i8*, ...)*"]
        {
            round_trip(&mut context, text);
        }
        for text in ["void*", "label*", "metadata*", "token*", "x86_amx*", "ptr*"] {
            assert!(context.parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn arrays_and_vectors() {
        let mut context = Context::new();
        let layout = DataLayout::default();
        for (text, bytes) in [
            ("[40 x i32]", 160),
            ("[3 x [4 x i32]]", 48),
            ("[2 x [3 x [4 x i16]]]", 48),
            ("<4 x i32>", 16),
            ("<8 x float>", 32),
            ("[13 x i8]", 13),
        ] {
            let ty = round_trip(&mut context, text);
            let size = layout.layouts(&context).alloc_size(ty);
            assert_eq!(size, Ok(TypeSize::fixed(bytes)), "{text}");
        }
        let scalable = round_trip(&mut context, "<vscale x 4 x i32>");
        let size = layout.layouts(&context).alloc_size(scalable);
        assert_eq!(size, Ok(TypeSize { min: 16, scalable: true }));
        assert_ne!(context.parse(b"<4 x i32>"), Ok(scalable));
    }

    #[test]
    fn structs() {
        let mut context = read(
            "%struct.B = type { %struct.A* }
             %struct.A = type opaque
             %struct.P = type <{ i32, i16, i8 }>
             %struct.C = type { %struct.anon, %struct.anon.0 }
             %struct.anon = type { i32, i32, i32 }
             %struct.anon.0 = type { i32, i32, i32 }",
        );
        let layout = DataLayout::default();
        let mut layouts = layout.layouts(&context);
        let mut size = |name| layouts.alloc_size(named(&context, name));
        assert_eq!(size("struct.A"), Err(LayoutError::Unsized));
        assert_eq!(size("struct.B"), Ok(TypeSize::fixed(8)));
        assert_eq!(size("struct.P"), Ok(TypeSize::fixed(7)));
        assert_eq!(size("struct.C"), Ok(TypeSize::fixed(24)));
        assert!(structurally(&context, "struct.anon", "struct.anon.0"));
        let i32 = context.int(32).unwrap();
        let literal = context.literal_struct(&[i32, i32, i32], false).unwrap();
        assert_eq!(context.parse(b"{ i32, i32, i32 }"), Ok(literal));
    }

    #[test]
    fn functions() {
        let mut context = Context::new();
        let i32 = context.int(32).unwrap();
        let function = context.function(i32, &[i32], false).unwrap();
        assert_eq!(context.parse(b"i32 (i32)"), Ok(function));
        round_trip(&mut context, "i32 (i8*, ...)");
        round_trip(&mut context, "void (...)");
        round_trip(&mut context, "void ()");
        let void = context.primitive(Primitive::Void);
        assert!(context.function(i32, &[void], false).is_err());
    }
}
