//! LLVM's answers on all ordered pairs of the accesses, against what each switch
//! promises.

use std::io::Write;
use std::process::{Command, Stdio};

use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::types::{BasicType, BasicTypeEnum};
use inkwell::values::{BasicValue, BasicValueEnum, InstructionOpcode, PointerValue};
use inkwell::{AddressSpace, OptimizationLevel, targets};
use tbaa_inkwell::Tagger;

use crate::tags::{ACCESSES, At, Elements, Kind, Switch, Tags};

/// Row by row, whether the accesses may alias; in the order of [`ACCESSES`].
type Rows = Vec<Vec<bool>>;

const OURS: [Switch; 3] = [Switch::Lowered, Switch::Scopes, Switch::LoweredScopes];

/// Emits accesses as the compiler does.
struct Accesses<'ctx, 't> {
    context: &'ctx Context,
    module: Module<'ctx>,
    builder: Builder<'ctx>,
    tagger: Tagger<'ctx>,
    tags: &'t Tags,
}

impl<'ctx, 't> Accesses<'ctx, 't> {
    fn new(context: &'ctx Context, tags: &'t Tags) -> Self {
        Accesses {
            context,
            module: context.create_module("pairs"),
            builder: context.create_builder(),
            tagger: Tagger::new(context).unwrap(),
            tags,
        }
    }

    fn type_of(&self, at: At) -> BasicTypeEnum<'ctx> {
        match at.kind() {
            Kind::Pointer => self.context.ptr_type(AddressSpace::default()).into(),
            Kind::Byte => self.context.i8_type().into(),
            Kind::Short => self.context.i16_type().into(),
            Kind::Int => self.context.i32_type().into(),
            Kind::Long => self.context.i64_type().into(),
            Kind::Double => self.context.f64_type().into(),
        }
    }

    /// Begins a function of so many pointers, which are named `%p0` and on.
    fn begin(
        &self,
        name: &str,
        pointers: usize,
        result: Option<BasicTypeEnum<'ctx>>,
    ) -> (BasicBlock<'ctx>, Vec<PointerValue<'ctx>>) {
        let pointer = self.context.ptr_type(AddressSpace::default());
        let parameters = vec![pointer.into(); pointers];
        let ty = match result {
            Some(result) => result.fn_type(&parameters, false),
            None => self.context.void_type().fn_type(&parameters, false),
        };
        let function = self.module.add_function(name, ty, None);
        let block = self.context.append_basic_block(function, "entry");
        self.builder.position_at_end(block);
        let pointers: Vec<_> =
            function.get_param_iter().map(BasicValueEnum::into_pointer_value).collect();
        for (number, pointer) in pointers.iter().enumerate() {
            pointer.set_name(&format!("p{number}"));
        }
        (block, pointers)
    }

    fn load(&mut self, from: PointerValue<'ctx>, at: At, name: &str) -> BasicValueEnum<'ctx> {
        let value = self.builder.build_load(self.type_of(at), from, name).unwrap();
        let load = value.as_instruction_value().unwrap();
        self.tagger.attach(self.tags, self.tags.place(at), load).unwrap();
        value
    }

    fn store(&mut self, to: PointerValue<'ctx>, at: At) {
        let store = self.builder.build_store(to, self.type_of(at).const_zero()).unwrap();
        self.tagger.attach(self.tags, self.tags.place(at), store).unwrap();
    }
}

/// The answers of `aa-eval` on a load by each access and a store by each, or
/// `None` where there is no `opt-22`.
fn of_aa_eval(tags: &Tags) -> Option<Rows> {
    let context = Context::create();
    let mut code = Accesses::new(&context, tags);
    let (_, pointers) = code.begin("f", ACCESSES.len(), None);
    for (number, &(at, ..)) in ACCESSES.iter().enumerate() {
        code.load(pointers[number], at, &format!("l{number}"));
        code.store(pointers[number], at);
    }
    code.builder.build_return(None).unwrap();
    code.module.verify().unwrap();

    let opt = Command::new("opt-22")
        .args(["-disable-output", "-aa-pipeline=tbaa,scoped-noalias-aa", "-passes=aa-eval"])
        .args(["-evaluate-aa-metadata", "-print-all-alias-modref-info", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut opt) = opt else {
        let required = std::env::var("TBAA_LLVM").is_ok_and(|value| value == "require");
        assert!(!required, "opt-22 is required and not there");
        eprintln!("not compared with LLVM: there is no `opt-22`");
        return None;
    };
    let text = code.module.print_to_string().to_string();
    // LLVM reads all before it prints; `take` closes the pipe.
    opt.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = opt.wait_with_output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{printed}");

    let number = |text: &str, before: &str| -> Option<usize> {
        let (_, rest) = text.split_once(before)?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    let mut answers = vec![vec![None; ACCESSES.len()]; ACCESSES.len()];
    for line in printed.lines() {
        let Some((answer, pair)) = line.trim().split_once(':') else { continue };
        let Some((load, store)) = pair.split_once(" <-> ") else { continue };
        let Some(load) = number(load, "%l") else { continue };
        let store = number(store, "ptr %p").unwrap();
        let may = match answer {
            "MayAlias" => true,
            "NoAlias" => false,
            _ => panic!("{line}"),
        };
        assert_eq!(answers[load][store].replace(may), None, "{line}");
    }
    let rows = answers.into_iter().map(|row| row.into_iter().collect::<Option<Vec<_>>>());
    Some(rows.collect::<Option<Rows>>().expect("a pair was not answered"))
}

/// Whether GVN keeps, of two loads by one access around a store by another, the
/// second: on all pairs.
fn of_gvn(tags: &Tags) -> Rows {
    let context = Context::create();
    let mut code = Accesses::new(&context, tags);
    let mut blocks = Vec::new();
    for &(first, ..) in ACCESSES {
        for &(second, ..) in ACCESSES {
            let ty = code.type_of(first);
            let both = context.struct_type(&[ty, ty], false).into();
            let name = format!("{first:?}_{second:?}");
            let (block, pointers) = code.begin(&name, 2, Some(both));
            let before = code.load(pointers[0], first, "before");
            code.store(pointers[1], second);
            let after = code.load(pointers[0], first, "after");
            code.builder.build_aggregate_return(&[before, after]).unwrap();
            blocks.push(block);
        }
    }
    code.module.verify().unwrap();

    targets::Target::initialize_native(&targets::InitializationConfig::default()).unwrap();
    let triple = targets::TargetMachine::get_default_triple();
    let machine = targets::Target::from_triple(&triple).unwrap().create_target_machine(
        &triple,
        "x86-64",
        "",
        OptimizationLevel::Default,
        targets::RelocMode::Default,
        targets::CodeModel::Default,
    );
    let options = PassBuilderOptions::create();
    code.module.run_passes("gvn", &machine.unwrap(), options).unwrap();
    let kept = |block: &BasicBlock<'_>| {
        let loads = block.get_instructions();
        let loads = loads.filter(|i| i.get_opcode() == InstructionOpcode::Load).count();
        assert!(loads == 1 || loads == 2);
        loads == 2
    };
    blocks.chunks(ACCESSES.len()).map(|row| row.iter().map(kept).collect()).collect()
}

/// The pairs on which two differ, with what each says.
fn differ(left: &Rows, right: &Rows) -> Vec<String> {
    let mut pairs = Vec::new();
    for (i, (left, right)) in left.iter().zip(right).enumerate() {
        for (j, (left, right)) in left.iter().zip(right).enumerate() {
            if left != right {
                pairs.push(format!("{:?} {:?}: {left} {right}", ACCESSES[i].0, ACCESSES[j].0));
            }
        }
    }
    pairs
}

fn no_alias(rows: &Rows) -> usize {
    rows.iter().flatten().filter(|&&may| !may).count()
}

/// Scopes, alone or beside lowered tags, give rule `union` exactly; lowered tags
/// give it but for the pairs that the lowering itself calls lost.
#[test]
fn llvm_answers_all_pairs_as_promised() {
    for elements in [Elements::Own, Elements::OfC] {
        for switch in OURS {
            let tags = Tags::new(switch, elements).unwrap();
            let (rule, promised) = (tags.by_rule(), tags.promised());
            let Some(answers) = of_aa_eval(&tags) else { return };
            assert_eq!(differ(&answers, &promised), Vec::<String>::new(), "{switch} {elements:?}");
            println!(
                "{elements:?} {switch}: of {} pairs {} NoAlias by rule, {} for LLVM",
                ACCESSES.len() * ACCESSES.len(),
                no_alias(&rule),
                no_alias(&answers),
            );
            assert!(no_alias(&rule) > 0);
            if switch != Switch::Lowered {
                assert_eq!(differ(&answers, &rule), Vec::<String>::new(), "{switch}");
            }
        }
        // The pairs are not apart by what else LLVM knows.
        let untagged = of_aa_eval(&Tags::new(Switch::None, elements).unwrap());
        assert_eq!(untagged.map(|rows| no_alias(&rows)), Some(0));
    }
}

/// A load is redundant to GVN exactly if the store since its like is promised to
/// leave it alone.
#[test]
fn gvn_removes_loads_as_promised() {
    for elements in [Elements::Own, Elements::OfC] {
        for switch in OURS {
            let tags = Tags::new(switch, elements).unwrap();
            let kept = of_gvn(&tags);
            let wrong = differ(&kept, &tags.promised());
            assert_eq!(wrong, Vec::<String>::new(), "{switch} {elements:?}");
            println!("{elements:?} {switch}: GVN removed {} loads", no_alias(&kept));
        }
        assert_eq!(no_alias(&of_gvn(&Tags::new(Switch::None, elements).unwrap())), 0);
    }
}
