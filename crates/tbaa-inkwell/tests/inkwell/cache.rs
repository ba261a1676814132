//! Tests of the cache: a stored JIT and its bitcode are loaded again, as another process would do.

use inkwell::context::Context;
use inkwell::module::Module;
use tbaa::declare::{Declarations, Member, Record, ScalarLayout, Target};
use tbaa_inkwell::cache::{CacheError, load, save};
use tbaa_inkwell::{Jit, JitOptions, TagForm, TaggedPlace};
use tbaa_lower::emit::{Emitter, TextSink};

use crate::runtime;
use crate::support::{self, Code, places};

/// Returns the number of loads of `CallInfo.l.base` left around a call of the function in `helper`.
fn loads_around<'ctx>(context: &'ctx Context, jit: &mut Jit, helper: Module<'ctx>) -> usize {
    helper.get_function("f").unwrap().as_global_value().set_name("set");
    support::loads_around(context, jit, helper, "set", &[0, 1]).0
}

/// Returns a module whose function stores to `TValue.value.n` through its second parameter.
fn stores<'ctx>(context: &'ctx Context, jit: &mut Jit) -> Module<'ctx> {
    let number = jit.place("TValue.value.n").unwrap();
    let code = Code::new(context, 2);
    let to = code.address(code.parameter(1), number.place().offset);
    code.attach(&number, code.store(to, 64, 7));
    code.end(context.i64_type().const_zero().into());
    code.verify();
    code.module
}

#[test]
fn another_process_goes_on() {
    let mut types = runtime::types();
    types.scalar("element", ScalarLayout { size: 8, align: 8 }, "long long").unwrap();
    types.alias("Slot", "TValue *").unwrap();
    types.define(Record::structure("Own").bits("a", "int", 3).field("e", "element")).unwrap();
    let mut jit = Jit::new(types);
    jit.places(&runtime::paths()).unwrap();
    let bytes = {
        let context = Context::create();
        let module = stores(&context, &mut jit);
        save(&jit, &[&module]).unwrap()
    };
    let context = Context::create();
    let (mut again, mut modules) = load(&context, &bytes).unwrap();
    // The loaded JIT has the same types, whichever way they were declared.
    for path in ["Own.a", "Own.e", "*element", "*Slot", "UpVal.u.open.touched"] {
        let [a, b] = [&mut jit, &mut again].map(|jit| jit.place(path).unwrap());
        assert_eq!(
            (a.place().size, a.place().bits, a.room()),
            (b.place().size, b.place().bits, b.room())
        );
        assert_eq!(a.place().offset, b.place().offset);
    }
    // The stored code and the loaded JIT share one type system, even after a type is added.
    again.define(Record::structure("Late").field("x", "int")).unwrap();
    again.place("Late.x").unwrap();
    assert_eq!(loads_around(&context, &mut again, modules.remove(0)), 0);
    // The tags of the stored code do not match those of another JIT.
    let context = Context::create();
    let mut other = Jit::new(runtime::types());
    let module = load(&context, &bytes).unwrap().1.remove(0);
    assert_eq!(loads_around(&context, &mut other, module), 2);

    // Bytes that were cut or changed are rejected before LLVM sees them.
    for len in [0, 7, 8, 12, 100] {
        assert!(matches!(load(&context, &bytes[..len]), Err(CacheError::Damaged(_))), "{len}");
    }
    for bit in (64..8 * bytes.len()).step_by(97) {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let error = load(&context, &changed).unwrap_err().to_string();
        assert!(error.contains("checksum"), "{error}");
    }
}

fn text(place: &TaggedPlace) -> String {
    let mut emitter = Emitter::new(TextSink::default());
    emitter.attachments(place.nodes()).unwrap();
    emitter.sink_mut().take()
}

#[test]
fn options_are_stored() {
    let context = Context::create();
    let types = runtime::types;
    // A loaded JIT numbers classes (accesses that alias alike) anew, in a new domain: `tbaa:L:1`.
    let options = JitOptions::new().lineage("L").form(TagForm::Classes);
    let mut jit = Jit::with_options(types(), options).unwrap();
    let scope = |jit: &mut Jit, path: &str| {
        let text = text(&jit.place(path).unwrap());
        let start = text.find("tbaa:L:").unwrap();
        text[start..].split('"').next().unwrap().to_owned()
    };
    assert!(scope(&mut jit, "CallInfo.l.base").starts_with("tbaa:L:0"));
    let (mut again, _) = load(&context, &save(&jit, &[]).unwrap()).unwrap();
    assert!(scope(&mut again, "TValue.tt").starts_with("tbaa:L:1"));
    let new = JitOptions::new;
    for options in [new().form(TagForm::Clang), new().shared(["CallInfo"])] {
        let mut jit = Jit::with_options(types(), options).unwrap();
        let place = jit.place("CallInfo.l.base").unwrap();
        let bytes = save(&jit, &[]).unwrap();
        let (mut again, modules) = load(&context, &bytes).unwrap();
        assert!(modules.is_empty());
        // The nodes are the same in LLVM, which creates nodes of equal content once.
        let code = Code::new(&context, 0);
        let node = |place: &TaggedPlace| {
            let made = code.tagger.emit(&context, |tagger| tagger.attachments(place.nodes()));
            made.unwrap().unwrap().tag.unwrap()
        };
        assert_eq!(node(&place), node(&again.place("CallInfo.l.base").unwrap()));
    }
    // A target made from a data layout is stored too.
    let layout = "e-p:64:64-i64:32".parse().unwrap();
    let jit = Jit::new(Declarations::new(Target::from_data_layout(layout)));
    let (mut again, _) = load(&context, &save(&jit, &[]).unwrap()).unwrap();
    assert_eq!(again.place("*long").unwrap().place().align, 4);
}

/// The loaded JIT has the stored regions (memory of a runtime), and the members that lack a type.
#[test]
fn regions_are_stored() {
    let declare = |types: &mut Declarations| {
        types.region("memory 0", "char").unwrap();
        types.region("numbers", "double").unwrap();
        types.alias("memory", "memory 0").unwrap();
        let length = Member::new("length 0", ScalarLayout { size: 8, align: 8 }).at(8);
        types.define(Record::structure("VM").member(length).size(16)).unwrap();
        assert!(types.region("memory 0", "double").is_err() && types.region("int", "int").is_err());
        assert!(types.region("VMs", "VM").is_err() && types.region("nothing", "void").is_err());
    };
    let paths = ["VM.length 0", "*memory", "*memory 0", "*numbers", "*double"];
    let mut types = Declarations::new(Target::x86_64());
    declare(&mut types);
    let mut jit = Jit::new(types);
    let before = places(&mut jit, paths);
    let context = Context::create();
    let (mut again, _) = load(&context, &save(&jit, &[]).unwrap()).unwrap();
    declare(again.types_mut());
    for (again, place) in places(&mut again, paths).iter().zip(&before) {
        assert_eq!(text(again), text(place), "{}", place.path());
    }
    assert_eq!(text(&before[1]), text(&before[2]));
    let tags = before.map(|place| place.place().tag);
    for (a, b) in [(0, 1), (0, 3), (0, 4), (1, 3), (1, 4), (3, 4)] {
        assert!(!jit.oracle().may_alias(tags[a], tags[b]), "{} and {}", paths[a], paths[b]);
    }
}
