//! Mistakes that careful users make. Programs run both unoptimised and after `-O2`. With wrong
//! metadata, which most tests must attach by force, the two results differ.

use std::sync::atomic::{AtomicU64, Ordering};

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::values::{BasicValue, FunctionValue, InstructionValue, PointerValue};
use inkwell::{AddressSpace, AtomicOrdering, AtomicRMWBinOp, IntPredicate};
use tbaa::declare::{Declarations, Record, Target};
use tbaa::{AccessKind, Size};
use tbaa_inkwell::{HelperError, Helpers, check_shared};
use tbaa_lower::emit::{Jit, JitError, JitOptions, MisuseError, TagForm, TaggedPlace};

use crate::helpers::compile;
use crate::support::{Code, call_between, places};

pub fn types(records: impl IntoIterator<Item = Record>) -> Declarations {
    let mut types = Declarations::new(Target::x86_64());
    records.into_iter().for_each(|record| _ = types.define(record).unwrap());
    types
}

fn proto() -> Declarations {
    types([Record::structure("Proto").field("size", "int").field("step", "long")])
}

/// Attaches a place's metadata without checking the instruction.
pub fn force<'ctx>(code: &Code<'ctx>, place: &TaggedPlace, to: InstructionValue<'ctx>) {
    let nodes = code.tagger.emit(code.context, |emitter| emitter.attachments(place.nodes()));
    code.tagger.attach_nodes(nodes.unwrap().unwrap(), to).unwrap();
}

/// Returns the results of the code that `build` makes, unoptimised and after `-O2`. The code
/// gets two pointers to one object.
pub fn both(build: &dyn for<'c> Fn(&Code<'c>)) -> [u64; 2] {
    [false, true].map(|optimise| {
        let context = Context::create();
        let code = Code::new(&context, 2);
        build(&code);
        code.verify();
        if optimise {
            code.optimise();
        }
        let helpers = [
            ("counts", counts as *const ()),
            ("reuses", reuses as *const ()),
            ("fills", fills as *const ()),
        ];
        code.run_with(&mut [0; 16], &helpers)
    })
}

/// Declares one of the functions that [`both`] provides, such as `counts`, and returns it.
pub fn helper<'c>(code: &Code<'c>, name: &str) -> FunctionValue<'c> {
    if let Some(known) = code.module.get_function(name) {
        return known;
    }
    let pointer = code.context.ptr_type(AddressSpace::default());
    let ty = match name {
        "counts" | "fills" => code.context.i64_type().fn_type(&[pointer.into()], false),
        _ => pointer.fn_type(&[pointer.into()], false),
    };
    let function = code.module.add_function(name, ty, None);
    for name in ["nounwind", "willreturn"] {
        let kind = Attribute::get_named_enum_kind_id(name);
        let attribute = code.context.create_enum_attribute(kind, 0);
        function.add_attribute(AttributeLoc::Function, attribute);
    }
    function
}

static CALLS: AtomicU64 = AtomicU64::new(0);

/// Reads `Proto.step`, and increments a counter that nothing else accesses.
extern "C" fn counts(proto: *const u64) -> u64 {
    // SAFETY: the tests call it with a `Proto`.
    let step = unsafe { *proto.add(1) };
    CALLS.fetch_add(1, Ordering::Relaxed) + step
}

/// Fills the first 32 bytes of a record, which may end in a flexible array, with the value 1.
extern "C" fn fills(object: *mut u64) -> u64 {
    // SAFETY: the tests call it with 16 words.
    unsafe { object.cast::<u8>().write_bytes(1, 32) };
    0
}

/// An allocator that takes back an object and returns its memory for a new one.
extern "C" fn reuses(object: *mut u64) -> *mut u64 {
    object
}

/// Mistake: a call that also writes a counter has the tag of an immutable place.
#[test]
fn a_call_does_not_say_immutable() {
    for form in [TagForm::LoweredScopes, TagForm::Clang] {
        let mut jit = Jit::with_options(proto(), JitOptions::new().form(form)).unwrap();
        let step = jit.place("immutable Proto.step").unwrap();
        let touched = jit.call(&["immutable Proto.step"]).unwrap();
        let program = |attach: &dyn for<'c> Fn(&Code<'c>, InstructionValue<'c>)| {
            both(&|code| {
                let counts = helper(code, "counts");
                let [first, second] = [0, 1].map(|_| {
                    let arguments = [code.parameter(0).into()];
                    let call = code.builder.build_call(counts, &arguments, "").unwrap();
                    let value = call.try_as_basic_value().unwrap_basic();
                    attach(code, value.as_instruction_value().unwrap());
                    value.into_int_value()
                });
                code.subtract(second, first);
            })
        };
        assert_eq!(program(&|code, call| force(code, &step, call)), [1, 0], "by force");
        assert_eq!(program(&|code, call| code.attach(&step, call)), [1, 1]);
        let attach_call = program(&|code, call| code.tagger.attach_call(&touched, call).unwrap());
        assert_eq!(attach_call, [1, 1]);
    }
}

/// Runs two loads at `load` around the code of `store`. Returns their difference: see [`both`].
pub fn load_store_load(load: &TaggedPlace, store: &dyn for<'c> Fn(&Code<'c>)) -> [u64; 2] {
    both(&|code| {
        let first = code.load_at(load);
        store(code);
        code.subtract(code.load_at(load), first);
    })
}

/// Builds a store to `Proto.step` through the second parameter.
fn store<'c>(code: &Code<'c>) -> InstructionValue<'c> {
    code.store(code.address(code.parameter(1), 8), 64, 7)
}

/// Mistake: the C header declares a member as `long long`, the JIT as `long`.
#[test]
fn a_helper_whose_header_differs() {
    let source = "struct Proto { int size; long long step; };\n\
                  void set(struct Proto *p) { p->step = 7; }";
    let context = Context::create();
    let mut jit = Jit::new(proto());
    let error = Helpers::read(&compile(&context, "differs", source, &[]), &mut jit).unwrap_err();
    assert_eq!(
        error.to_string(),
        "helpers: Proto, offset 8: declared as \"long\", and the compiled code accesses \
         \"long long\" there, which LLVM would take for unrelated: declare the type that the \
         header has"
    );
    // The result if an access has only the tag of clang's type.
    let step = jit.place("Proto.step").unwrap();
    let theirs = jit.place("*long long").unwrap();
    let wrong = load_store_load(&step, &|code| force(code, &theirs, store(code)));
    assert_eq!(wrong, [7, 0], "by force");
    let right = load_store_load(&step, &|code| code.attach(&step, store(code)));
    assert_eq!(right, [7, 7]);

    // Pointer types may differ if one of them is `void *`, or if clang omits pointer types.
    let source = "struct Proto { int size; long step; void *next; struct Proto *last; };\n\
                  void set(struct Proto *p) { p->next = p; p->last = p; p->step = 1; }";
    let record = Record::structure("Proto").field("size", "int").field("step", "long");
    let mut jit = Jit::new(types([record.field("next", "struct Proto *").field("last", "void *")]));
    for (name, options) in [("pointers", &[][..]), ("flat", &["-Xclang", "-no-pointer-tbaa"])] {
        let module = compile(&context, name, source, options);
        let helpers = Helpers::read(&module, &mut jit).unwrap();
        assert_eq!(helpers.attach(&Code::new(&context, 0).tagger, &mut jit).unwrap().1, 0);
    }
    let record = Record::structure("Proto").field("size", "int").field("step", "long");
    let mut jit = Jit::new(types([record.field("next", "int *").field("last", "short *")]));
    let error = Helpers::read(&compile(&context, "pointee", source, &[]), &mut jit).unwrap_err();
    assert!(error.to_string().contains("offset 24: declared as \"short *\""), "{error}");
}

fn tvalue() -> Declarations {
    let value = Record::union("").field("n", "double").field("i", "long");
    types([
        Record::structure("TValue").field("value", value).field("tt", "long"),
        Record::structure("Frame").field("base", "TValue *"),
    ])
}

/// Returns a store of both words of a `TValue`; the second word is `tt`.
pub fn wide_store<'c>(code: &Code<'c>) -> InstructionValue<'c> {
    let i64 = code.context.i64_type();
    let one = code.context.i32_type().const_int(1, false);
    let words = i64.vec_type(2).const_zero().const_insert_element(one, i64.const_int(7, false));
    let store = code.builder.build_store(code.parameter(1), words).unwrap();
    store.set_alignment(8).unwrap();
    store
}

/// Mistake: a value of 16 bytes is stored as a vector, with the tag of its first member.
#[test]
fn an_access_wider_than_its_place() {
    let mut jit = Jit::new(tvalue());
    let [number, kind, value] = &places(&mut jit, ["TValue.value.n", "TValue.tt", "TValue"]);
    let wide = jit.sized("TValue.value.n", 16).unwrap();
    let wrong = load_store_load(kind, &|code| force(code, number, wide_store(code)));
    assert_eq!(wrong, [7, 0], "by force");
    for place in [value, &wide] {
        let right = load_store_load(kind, &|code| code.attach(place, wide_store(code)));
        assert_eq!(right, [7, 7], "{}", place.path());
    }
    let context = Context::create();
    let code = Code::new(&context, 2);
    for instruction in [code.store(code.parameter(1), 128, 7), wide_store(&code)] {
        let error = code.tagger.attach(number, instruction).unwrap_err();
        assert_eq!(
            error.to_string(),
            "an access of 16 bytes at `TValue.value.n`, which has 8: LLVM does not look at sizes \
             and would miss the rest; ask for the place of the whole record, for an array's \
             elements by a path that ends in `[*]`, or for this one with the size of the access \
             (`sized`)"
        );
        assert!(!instruction.has_metadata());
    }
    // A vector of scalable length is rejected too, except at a place of unknown size.
    let lanes = context.i64_type().scalable_vec_type(2).const_zero();
    let store = code.builder.build_store(code.parameter(1), lanes).unwrap();
    let error = code.tagger.attach(value, store).unwrap_err().to_string();
    assert!(error.starts_with("an access of a size that varies at `TValue`"), "{error}");
    let any = jit.sized("TValue.value.n", Size::Unknown).unwrap();
    code.attach(&any, store);
    // A copy must cover whole records, or end inside the first one.
    let copy = |bytes| {
        let (to, from) = (code.parameter(0), code.parameter(1));
        let bytes = context.i64_type().const_int(bytes, false);
        let call = code.builder.build_memcpy(to, 8, from, 8, bytes).unwrap();
        code.tagger.attach(value, call.as_instruction_value().unwrap())
    };
    copy(48).unwrap();
    copy(8).unwrap();
    let error = copy(24).unwrap_err().to_string();
    assert!(error.starts_with("an access of 24 bytes at `TValue`, which has 16:"), "{error}");
}

#[test]
fn a_store_at_an_immutable_place() {
    let mut jit = Jit::new(proto());
    let [constant, plain] = &places(&mut jit, ["immutable Proto.step", "Proto.step"]);
    let wrong = load_store_load(constant, &|code| force(code, constant, store(code)));
    assert_eq!(wrong, [7, 0], "by force");
    let right = load_store_load(plain, &|code| code.attach(plain, store(code)));
    assert_eq!(right, [7, 7]);
    let context = Context::create();
    let code = Code::new(&context, 2);
    let (zero, xchg) = (context.i64_type().const_zero(), AtomicRMWBinOp::Xchg);
    let exchange =
        code.builder.build_atomicrmw(xchg, code.parameter(0), zero, AtomicOrdering::Monotonic);
    for instruction in [store(&code), exchange.unwrap().as_instruction().unwrap()] {
        let error = code.tagger.attach(constant, instruction).unwrap_err().to_string();
        assert!(
            error.starts_with("a store at `immutable Proto.step`, which is immutable: LLVM moves"),
            "{error}"
        );
        assert!(!instruction.has_metadata());
    }
}

/// Mistake: helpers keep clang's tags, but these differ from the tags that the JIT assumes.
#[test]
fn shared_records_of_another_clang() {
    let source = "struct Proto { int size; long step; };\n\
                  struct Frame { struct Proto *proto; };\n\
                  void set(struct Frame *f, struct Proto *p) { f->proto = p; }";
    let record = Record::structure("Frame").field("proto", "struct Proto *");
    let mut declared = proto();
    declared.define(record).unwrap();
    let jit = |shared: &[&str]| {
        let options = JitOptions::new().shared(shared.iter().copied());
        Jit::with_options(declared.clone(), options).unwrap()
    };
    // Calls the helper between two loads.
    let run = |flags: &[&str], check: bool| {
        let results = [false, true].map(|optimise| {
            let context = Context::create();
            let mut jit = jit(&["Frame"]);
            let module = compile(&context, &format!("clang{}", flags.len()), source, flags);
            if check {
                check_shared(&module, &jit)?;
            }
            let proto = jit.place("Frame.proto").unwrap();
            let code = Code::new(&context, 2);
            call_between(&code, &proto, module, "set", &[1, 1]);
            if optimise {
                code.optimise();
            }
            Ok::<_, HelperError>(u64::from(code.run(&mut [0; 16]) != 0))
        });
        let [plain, optimised] = results;
        Ok::<_, HelperError>([plain?, optimised?])
    };
    assert_eq!(run(&[], true).unwrap(), [1, 1]);
    let flat = &["-Xclang", "-no-pointer-tbaa"];
    assert_eq!(run(flat, false).unwrap(), [1, 0], "by force");
    let error = run(flat, true).unwrap_err().to_string();
    assert!(error.starts_with("helpers: the C code's node of `Frame` is not the one"), "{error}");

    let context = Context::create();
    let module = compile(&context, "unshared", source, &[]);
    let error = check_shared(&module, &jit(&["Proto"])).unwrap_err();
    let frame = HelperError::Jit(JitError::NotShared { record: "Frame".to_owned() });
    assert_eq!(error, frame);
    let missing = JitOptions::new().shared(["Frames"]);
    let error = Jit::with_options(declared.clone(), missing).unwrap_err().to_string();
    assert_eq!(error, "the shared record `Frames` is not declared: define it first");
    // A record that only the header declares is not shared, so clang's flags do not matter.
    let own = "struct Own { struct Own *next; int i; };\n\
               void set(struct Own *o) { o->next = o; o->i = 1; }";
    check_shared(&compile(&context, "own", own, flat), &jit(&["Frame"])).unwrap();
}

/// Mistake: an allocating call lists only the allocator's own memory.
#[test]
fn an_allocator_touches_what_it_hands_out() {
    let declared = types([
        Record::structure("Arena").field("used", "int"),
        Record::structure("Cons").field("head", "long"),
        Record::structure("Float").field("value", "double"),
    ]);
    // for (i = 0; i < 100; i++) { cons->head = i; number = reuses(cons); number->value = 0.5; }
    let program = |form: TagForm, allocates: bool| {
        let options = JitOptions::new().form(form);
        let mut jit = Jit::with_options(declared.clone(), options).unwrap();
        let [head, value] = &places(&mut jit, ["Cons.head", "Float.value"]);
        let touched = match allocates {
            true => jit.allocating_call(&["Arena.used"], &["Cons", "Float"]).unwrap(),
            false => jit.call(&["Arena.used"]).unwrap(),
        };
        both(&|code| {
            let reuses = helper(code, "reuses");
            let (i64, cons) = (code.context.i64_type(), code.parameter(0));
            let [body, exit] =
                ["body", "exit"].map(|name| code.context.append_basic_block(code.function, name));
            code.builder.build_unconditional_branch(body).unwrap();
            code.builder.position_at_end(body);
            let i = code.builder.build_phi(i64, "i").unwrap();
            let count = i.as_basic_value().into_int_value();
            code.attach(head, code.builder.build_store(cons, count).unwrap());
            let call = code.builder.build_call(reuses, &[cons.into()], "").unwrap();
            let number: PointerValue<'_> =
                call.try_as_basic_value().unwrap_basic().into_pointer_value();
            code.tagger.attach_call(&touched, number.as_instruction().unwrap()).unwrap();
            let half = code.context.f64_type().const_float(0.5);
            code.attach(value, code.builder.build_store(number, half).unwrap());
            let one = i64.const_int(1, false);
            let next = code.builder.build_int_add(count, one, "").unwrap();
            let entry = code.function.get_first_basic_block().unwrap();
            i.add_incoming(&[(&i64.const_zero(), entry), (&next, body)]);
            let most = i64.const_int(100, false);
            let more = code.builder.build_int_compare(IntPredicate::ULT, next, most, "").unwrap();
            code.builder.build_conditional_branch(more, body, exit).unwrap();
            code.builder.position_at_end(exit);
            // Return the first 8 bytes of the memory as they are at the end.
            let (bits, _) = code.load(code.parameter(1), 64, "");
            code.end(bits);
        })
    };
    let half = 0.5_f64.to_bits();
    for form in [TagForm::Lowered, TagForm::LoweredScopes] {
        assert_eq!(program(form, false), [half, 99], "it lists its own memory only");
        assert_eq!(program(form, true), [half, half]);
    }
    // The call is still known not to touch other memory, because scopes can express that.
    let options = JitOptions::new().form(TagForm::LoweredScopes);
    let mut jit = Jit::with_options(declared, options).unwrap();
    jit.places(&["Cons.head", "Float.value", "Arena.used", "*short"]).unwrap();
    let touched = jit.allocating_call(&["Arena.used"], &["Cons", "Float"]).unwrap();
    assert!(touched.noalias.is_some() && touched.tag.is_none());
}

#[test]
fn misuse_names_the_place() {
    let misuse =
        Jit::new(proto()).place("immutable Proto.step").unwrap().check(8, AccessKind::Write);
    assert_eq!(misuse, Err(MisuseError::Store { path: "immutable Proto.step".to_owned() }));
}
