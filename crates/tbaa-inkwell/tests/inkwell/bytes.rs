//! Compares the bytes that an instruction touches with those of its place (memory that a path such
//! as `S.x` names). `attach` rejects an access that the place does not describe. Programs run
//! unoptimised and after `-O2`. With correct metadata, both results are the same.

use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::targets::TargetData;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{
    BasicMetadataValueEnum, BasicValue, FunctionValue, InstructionValue, IntValue, PointerValue,
};
use tbaa::Size;
use tbaa::declare::{Declarations, Record, Target};
use tbaa_inkwell::AttachError;
use tbaa_lower::emit::{Jit, JitOptions, MisuseError, TagForm, TaggedPlace};

use crate::support::{Code, places};
use crate::wrong::{force, helper, load_store_load, wide_store};

/// The forms of metadata that LLVM reads without the crate `tbaa_plugin`, except clang's tags.
pub const FORMS: [TagForm; 3] = [TagForm::Lowered, TagForm::LoweredScopes, TagForm::Scopes];
/// The value of eight bytes after a `memset` to 1.
const FILLED: u64 = 0x0101_0101_0101_0101;

fn records() -> Declarations {
    tbaa_tests::declared(include_str!("bytes.ron"))
}

fn jit(form: TagForm) -> Jit {
    Jit::with_options(records(), JitOptions::new().form(form)).unwrap()
}

/// Returns `bytes` as a value that LLVM cannot know: adds a zero that is loaded from memory.
fn varies<'c>(code: &Code<'c>, bytes: u64) -> IntValue<'c> {
    let (zero, _) = code.load(code.address(code.parameter(0), 120), 64, "");
    let bytes = code.context.i64_type().const_int(bytes, false);
    code.builder.build_int_add(zero.into_int_value(), bytes, "").unwrap()
}

/// Fills `bytes` bytes at `offset` from the second parameter with the value 1.
fn fill<'c>(code: &Code<'c>, offset: u64, bytes: u64, known: bool) -> InstructionValue<'c> {
    fill_at(code, code.address(code.parameter(1), offset), 1, bytes, known)
}

/// Fills memory with a byte. If `known`, the number of bytes is a constant for LLVM.
pub fn fill_at<'c>(
    code: &Code<'c>,
    to: PointerValue<'c>,
    byte: u64,
    bytes: u64,
    known: bool,
) -> InstructionValue<'c> {
    let len = match known {
        true => code.context.i64_type().const_int(bytes, false),
        false => varies(code, bytes),
    };
    let byte = code.context.i8_type().const_int(byte, false);
    let call = code.builder.build_memset(to, 8, byte, len).unwrap();
    call.as_instruction_value().unwrap()
}

/// Builds a call of the function `of` with one argument, and returns the call instruction.
pub fn instruction<'c>(
    code: &Code<'c>,
    of: FunctionValue<'c>,
    pointer: PointerValue<'c>,
) -> InstructionValue<'c> {
    let call = code.builder.build_call(of, &[pointer.into()], "").unwrap();
    call.try_as_basic_value().unwrap_basic().as_instruction_value().unwrap()
}

fn wider<T: std::fmt::Debug>(attached: Result<T, AttachError>) {
    match attached {
        Err(AttachError::Misuse(misuse @ MisuseError::Wider { .. })) => {
            assert!(misuse.to_string().contains("a path that ends in `[*]`"), "{misuse}");
        }
        other => panic!("{other:?}"),
    }
}

/// The place of a record that ends in a flexible array includes the array.
#[test]
fn a_flexible_tail() {
    for form in FORMS {
        let mut jit = jit(form);
        let [whole, element, _] = &places(&mut jit, ["Arr", "Arr.data[*]", "Proto.step"]);
        assert_eq!((whole.place().size, whole.room()), (8, Size::Unknown));
        for known in [true, false] {
            let right =
                load_store_load(element, &|code| code.attach(whole, fill(code, 0, 32, known)));
            assert_eq!(right, [FILLED; 2], "{form:?}");
        }
        let calls = [jit.call(&["Arr"]), jit.allocating_call(&["Proto.step"], &["Arr"])];
        for call in calls.map(Result::unwrap) {
            let right = load_store_load(element, &|code| {
                let fills = helper(code, "fills");
                let made = instruction(code, fills, code.parameter(1));
                code.tagger.attach_call(&call, made).unwrap();
            });
            assert_eq!(right, [FILLED; 2], "{form:?}");
        }
    }
}

/// A place of unknown size (0 or `u64::MAX`) aliases all that a place of a known size aliases.
#[test]
fn a_size_that_varies_covers_no_less_than_a_known_one() {
    for form in FORMS {
        let mut jit = jit(form);
        let [behind, _] = places(&mut jit, ["Outer.y", "Inner.x"]);
        let sizes = [16, 64, 0, u64::MAX];
        for place in sizes.map(|size| jit.sized("Inner.x", size).unwrap()) {
            let right = load_store_load(&behind, &|code| code.attach(&place, wide_store(code)));
            assert_eq!(right, [7, 7], "{form:?}, {:?}", place.room());
        }
    }
    // clang's tags have no sizes: a requested size that fits in the place changes nothing.
    let mut jit = jit(TagForm::Clang);
    let [plain, fits] = [jit.place("Proto.step"), jit.sized("Proto.step", 8)].map(Result::unwrap);
    assert_eq!(fits.nodes(), plain.nodes());
    let next = jit.place("Proto.next").unwrap();
    let wide = jit.sized("Proto.step", 16).unwrap();
    let right = load_store_load(&next, &|code| code.attach(&wide, fill(code, 8, 16, true)));
    assert_eq!(right, [FILLED; 2]);
}

/// Only at `S.a[*]`, `*long` or a record may a fill be larger: a multiple of the place's size.
#[test]
fn runs() {
    let mut jit = jit(TagForm::Lowered);
    let mut place = |path: &str| jit.place(path).unwrap();
    let [step, next, kind] = ["Proto.step", "Proto.next", "Proto.kind"].map(&mut place);
    let wrong = load_store_load(&next, &|code| force(code, &step, fill(code, 8, 16, true)));
    assert_eq!(wrong, [FILLED, 0], "by force");
    let context = Context::create();
    let code = Code::new(&context, 2);
    let attach = |place: &TaggedPlace, fill| code.tagger.attach(place, fill);
    for place in [&step, &kind, &place("Fixed.tail"), &place("Fixed.cells")] {
        wider(attach(place, fill(&code, 0, 32, true)));
        wider(attach(place, fill(&code, 0, 8, false)));
        attach(place, fill(&code, 0, place.place().size, true)).unwrap();
    }
    wider(attach(&place("Fixed.cells[1]"), fill(&code, 8, 16, true)));
    wider(attach(&place("Fixed.cells[*]"), fill(&code, 0, 24, true)));
    wider(attach(&place("Arr.data[*]"), fill(&code, 8, 20, true)));
    for (path, bytes) in [("Fixed.cells[*]", 16), ("*long", 64), ("*Proto", 48), ("Proto", 48)] {
        attach(&place(path), fill(&code, 0, bytes, true)).unwrap();
        attach(&place(path), fill(&code, 0, bytes, false)).unwrap();
    }
    let element = place("Arr.data[*]");
    for known in [true, false] {
        let right =
            load_store_load(&element, &|code| code.attach(&element, fill(code, 8, 64, known)));
        assert_eq!(right, [FILLED; 2]);
    }
}

fn masked<'c>(code: &Code<'c>, name: &str) -> InstructionValue<'c> {
    masked_at(code, name, code.parameter(1), 7)
}

/// Stores a value to each of four words with an intrinsic.
pub fn masked_at<'c>(
    code: &Code<'c>,
    name: &str,
    to: PointerValue<'c>,
    value: u64,
) -> InstructionValue<'c> {
    let (i32, i64) = (code.context.i32_type(), code.context.i64_type());
    let pointer = code.context.ptr_type(AddressSpace::default());
    let scatter = name.ends_with("scatter");
    let mut addresses = pointer.vec_type(4).get_undef();
    for lane in 0..4_u64 {
        let (to, lane) = (code.address(to, 8 * lane), i32.const_int(lane, false));
        addresses = code.builder.build_insert_element(addresses, to, lane, "").unwrap();
    }
    let types: [BasicTypeEnum<'_>; 2] = [
        i64.vec_type(4).into(),
        if scatter { addresses.get_type().into() } else { pointer.into() },
    ];
    let function = Intrinsic::find(name).unwrap().get_declaration(&code.module, &types).unwrap();
    let values = inkwell::types::VectorType::const_vector(&[i64.const_int(value, false); 4]);
    let on = code.context.bool_type().const_int(1, false);
    let mut arguments: Vec<BasicMetadataValueEnum<'_>> = vec![values.into()];
    arguments.push(if scatter { addresses.into() } else { to.into() });
    // Before LLVM 22, the alignment is an argument here.
    if function.count_params() == 4 {
        arguments.push(i32.const_int(8, false).into());
    }
    arguments.push(inkwell::types::VectorType::const_vector(&[on; 4]).into());
    let call = code.builder.build_call(function, &arguments, "").unwrap();
    call.try_as_basic_value().unwrap_instruction()
}

#[test]
fn intrinsics_have_a_width() {
    let mut jit = jit(TagForm::Lowered);
    let [step, next, element] = &places(&mut jit, ["Proto.step", "Proto.next", "Arr.data[*]"]);
    let sized = jit.sized("Proto.step", 32).unwrap();
    for name in ["llvm.masked.store", "llvm.masked.scatter"] {
        let wrong = load_store_load(next, &|code| force(code, step, masked(code, name)));
        assert_eq!(wrong, [7, 0], "by force");
        let context = Context::create();
        let code = Code::new(&context, 2);
        wider(code.tagger.attach(step, masked(&code, name)));
        for (place, load) in [(element, element), (&sized, next)] {
            let right = load_store_load(load, &|code| code.attach(place, masked(code, name)));
            assert_eq!(right, [7; 2], "{name}");
        }
    }
}

/// A call with a `byval` or `sret` argument gets no tag: the call accesses the argument's memory.
#[test]
fn arguments_that_are_memory() {
    let mut jit = jit(TagForm::Lowered);
    let (place, call) = (jit.place("Proto.step").unwrap(), jit.call(&["Proto.step"]).unwrap());
    for name in ["byval", "sret"] {
        let context = Context::create();
        let code = Code::new(&context, 2);
        let function = helper(&code, "counts");
        for on_call in [true, false] {
            let made = code.builder.build_call(function, &[code.parameter(0).into()], "").unwrap();
            let kind = Attribute::get_named_enum_kind_id(name);
            let attribute = context.create_type_attribute(kind, context.i64_type().into());
            match on_call {
                true => made.add_attribute(AttributeLoc::Param(0), attribute),
                false => function.add_attribute(AttributeLoc::Param(0), attribute),
            }
            let made = made.try_as_basic_value().unwrap_basic().as_instruction_value().unwrap();
            for error in [code.tagger.attach(&place, made), code.tagger.attach_call(&call, made)] {
                let Err(AttachError::OwnMemory(attribute)) = error else { panic!("{error:?}") };
                assert_eq!(attribute, name);
            }
            assert!(!made.has_metadata());
        }
    }
}

#[test]
fn attaching_again_replaces() {
    let [scopes, _] = places(&mut jit(TagForm::LoweredScopes), ["Proto.step", "Proto.next"]);
    let mut plain = jit(TagForm::Lowered);
    let (place, call) = (plain.place("Proto.step").unwrap(), plain.call(&[] as &[&str]).unwrap());
    let context = Context::create();
    let code = Code::new(&context, 2);
    let store = code.store(code.parameter(0), 64, 7);
    let has = |instruction: InstructionValue<'_>| {
        ["tbaa", "alias.scope", "noalias"]
            .map(|kind| instruction.get_metadata(context.get_kind_id(kind)).is_some())
    };
    code.attach(&scopes, store);
    assert_eq!(has(store), [true; 3]);
    code.attach(&place, store);
    assert_eq!(has(store), [true, false, false]);
    let made = instruction(&code, helper(&code, "counts"), code.parameter(0));
    code.attach(&scopes, made);
    code.tagger.attach_call(&call, made).unwrap();
    assert_eq!(has(made), [false; 3]);
}

#[test]
fn a_place_without_bytes_and_one_too_far() {
    let mut jit = jit(TagForm::Lowered);
    let nothing = jit.place("Nothing").unwrap();
    let context = Context::create();
    let code = Code::new(&context, 2);
    wider(code.tagger.attach(&nothing, code.store(code.parameter(0), 8, 7)));
    for path in ["Arr.data[18446744073709551615]", "Arr.data[9007199254740992]"] {
        let error = jit.place(path).unwrap_err().to_string();
        assert!(error.starts_with(path), "{error}");
    }
    assert_eq!(jit.place("Arr.data[1000000]").unwrap().place().offset, 8_000_008);
}

#[test]
fn a_module_with_another_data_layout() {
    let mut small = Declarations::new(Target::i686());
    small.define(Record::structure("Node").field("next", "Node *").field("n", "int")).unwrap();
    let next = Jit::new(small).place("Node.next").unwrap();
    let context = Context::create();
    let code = Code::new(&context, 2);
    let store = || code.builder.build_store(code.parameter(0), code.parameter(1)).unwrap();
    let error = code.tagger.attach(&next, store()).unwrap_err();
    assert!(error.to_string().contains("give the module the data layout of the target"), "{error}");
    let layout = TargetData::create("e-p:32:32");
    code.module.set_data_layout(&layout.get_data_layout());
    code.attach(&next, store());
}
