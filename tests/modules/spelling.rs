//! The same program, spelled in another way, gets the same answers.
//!
//! Each analysis must give the same results for both spellings, except for names and lines. A
//! finding is identified by the number of its access, which no spelling changes. Where the table
//! does not say "same", it says what differs, or why.
//!
//! | spelling | functions | blocks | lint | tag | instrument |
//! |---|---|---|---|---|---|
//! | numbers for names | same | same | same | types have no names | same |
//! | bitcode | same | same | same | same | same |
//! | blocks cut by a `br` | more instructions | same | same | same | same |
//! | casts of no effect | more instructions | same | same | same | some checks differ |
//! | address space 1 | same | same | same | types are named by their members | no checks |
//! | opaque for typed pointers | fewer casts | same | fewer structs | fewer types | not refused |

use tbaa_check::blocks::{Event, Judge, Wanted};
use tbaa_check::lint::{self, lint};
use tbaa_instrument::{Form, instrument};
use tbaa_ir::{Effects, Module, Names, Opcode, Sizes};
use tbaa_tests::llvm::{Llvm, corpus};
use tbaa_tests::lua;
use tbaa_tests::process::run;
use tbaa_tests::respell::{Spelling, assemble, disassemble, named};
use tbaa_tests::{Rng, cases};

/// The results of each analysis, as lines of text.
#[derive(PartialEq, Eq)]
struct Facts {
    functions: Vec<String>,
    blocks: Vec<String>,
    lint: Vec<String>,
    tag: Vec<String>,
    instrument: Vec<String>,
}

impl Facts {
    fn of(text: &[u8]) -> Facts {
        let module = tbaa_ir::read(text).unwrap();
        Facts {
            functions: functions(&module),
            blocks: blocks(&module),
            lint: findings(&module),
            tag: tags(&module),
            instrument: checks(&module),
        }
    }

    /// Panics if the results differ in an analysis that is not in `skipped`.
    fn assert_same(&self, other: &Facts, skipped: &[&str], name: &str) {
        let all = [
            ("functions", &self.functions, &other.functions),
            ("blocks", &self.blocks, &other.blocks),
            ("lint", &self.lint, &other.lint),
            ("tag", &self.tag, &other.tag),
            ("instrument", &self.instrument, &other.instrument),
        ];
        for (what, before, after) in all.into_iter().filter(|it| !skipped.contains(&it.0)) {
            let lines = before.iter().zip(after);
            let first = lines.clone().position(|(a, b)| a != b).unwrap_or(lines.len());
            let both = [before, after].map(|it| it.get(first));
            assert!(before == after, "{name}: {what} differs at {first}: {both:#?}");
        }
    }
}

fn functions(module: &Module<'_>) -> Vec<String> {
    let sizes = Sizes::new(module);
    let mut found = Vec::new();
    for number in 0..module.functions().len() as u32 {
        let function = module.function(&sizes, number);
        for (index, block) in function.blocks.iter().enumerate() {
            for &at in &block.instructions {
                let inst = &function.instructions[at];
                let ids: Vec<usize> =
                    function.operands(inst).iter().map(|operand| operand.index()).collect();
                let size = inst.ty.and_then(|ty| sizes.size_of(ty)).map(|ty| ty.store);
                found.push(format!(
                    "{number} block {index}: {:?} {:?} {ids:?}, of {size:?} bytes; then {:?}",
                    inst.result.map(|result| result.index()),
                    inst.opcode,
                    function.incoming(inst)
                ));
            }
            found.push(format!("{number} block {index}: to {:?}", block.successors));
        }
    }
    found
}

fn blocks(module: &Module<'_>) -> Vec<String> {
    let (sizes, effects) = (Sizes::new(module), Effects::new(module));
    let judge = Judge::new(module, &sizes, &effects);
    let mut found = Vec::new();
    for judged in judge.functions(|_| true) {
        // A call or fence is identified by how many calls and fences of its function precede it.
        let is_other = |at: &usize| {
            let opcode = judged.body.function.instructions[*at].opcode;
            matches!(opcode, Opcode::Call | Opcode::Fence)
        };
        let event = |event| match event {
            Event::Access(access) => format!("access {access}"),
            Event::Other(at) => format!("call {}", (0..at).filter(is_other).count()),
        };
        let all = |events: &[Event]| events.iter().map(|&it| event(it)).collect::<Vec<_>>();
        for blocked in &judged.loads {
            let wanted = match &blocked.wanted {
                Wanted::Reuse(earlier) => format!("reuse {:?}", all(earlier)),
                Wanted::Partly(earlier) => format!("partly {:?}", all(earlier)),
                Wanted::Hoist(_) => "hoist".to_owned(),
                Wanted::Sink(_) => "sink".to_owned(),
                Wanted::Vectorise(_) => "vectorise".to_owned(),
            };
            let blockers = blocked.blockers.iter();
            let blockers =
                blockers.map(|blocker| format!("{} {:?}", event(blocker.event), blocker.cause));
            found.push(format!(
                "{} {wanted}, in {} loops: {}",
                event(blocked.load),
                blocked.depth,
                blockers.collect::<Vec<_>>().join(", ")
            ));
        }
    }
    found
}

fn findings(module: &Module<'_>) -> Vec<String> {
    let offsets: Vec<usize> =
        module.instructions().iter().map(|instruction| instruction.offset as usize).collect();
    let access = |at: usize| offsets.partition_point(|&offset| offset <= at).checked_sub(1);
    let text = module.text();
    let found = lint(module, &lint::Options::default());
    let mut found: Vec<String> = found
        .iter()
        .map(|found| {
            let start = found.primary.as_ref().map(|primary| primary.span.start);
            // A finding about a metadata node has no access.
            let is_node = |at: &usize| text[*at] == b'!' && text[..*at].ends_with(b"\n");
            format!("{} {:?}", found.code, start.filter(|start| !is_node(start)).map(access))
        })
        .collect();
    found.sort();
    found
}

fn tags(module: &Module<'_>) -> Vec<String> {
    let Ok(tags) = tbaa_tag::tag(module, &tbaa_tag::Options::new()) else {
        return vec!["refused".to_owned()];
    };
    let names = Names::of_graph(&tags.graph);
    let tagged = tags.tags.iter().map(|tag| format!("{} {}", tag.instruction, names.tag(tag.tag)));
    let untagged =
        tags.untagged.iter().map(|untagged| format!("{} {:?}", untagged.instruction, untagged.why));
    tagged.chain(untagged).collect()
}

/// Returns the checks that instrumenting adds to a module, in the order of the text.
fn checks(module: &Module<'_>) -> Vec<String> {
    let Ok(checked) = instrument(module, Form::Calls) else {
        return vec!["refused".to_owned()];
    };
    let text = String::from_utf8(checked.text).unwrap();
    let calls = text.lines().filter(|line| line.starts_with("  call "));
    let names = calls.filter_map(|call| call.split_once("@__tbaa_witness."));
    names.map(|(_, it)| it.split('(').next().unwrap().to_owned()).collect()
}

/// Returns the analyses that a spelling may change, by the table at the top of this file.
fn skipped(spelling: Spelling) -> &'static [&'static str] {
    match spelling {
        Spelling::Numbered => &["tag"],
        Spelling::Cast => &["functions", "instrument"],
        Spelling::AddressSpace => &["tag", "instrument"],
        Spelling::Split => &["functions"],
        Spelling::Bitcode => &[],
    }
}

/// Returns the modules whose paths are in `TBAA_MODULES`, to test besides those compiled here.
fn named_modules() -> Vec<(String, Vec<u8>)> {
    let files = std::env::var("TBAA_MODULES").unwrap_or_default();
    let read = |text: &str| (text.to_owned(), std::fs::read(text).unwrap());
    files.split_whitespace().map(read).collect()
}

fn sources() -> Vec<std::path::PathBuf> {
    let mut files = corpus();
    let some = |buf: &std::path::PathBuf| {
        ["lvm.c", "ltable.c", "lstring.c"].iter().any(|name| buf.ends_with(name))
    };
    files.extend(lua::sources("lua-5.4.9").into_iter().filter(some));
    files
}

#[test]
fn real_modules_in_other_spellings() {
    let Some(llvm) = Llvm::get() else { return };
    let rounds: u64 = std::env::var("TBAA_SPELLINGS").map_or(1, |var| var.parse().unwrap());
    let mut count = 0;
    let mut compare = |name: &str, text: &[u8]| {
        let text = named(text);
        let before = Facts::of(&text);
        for (seed, spelling) in (0..rounds).flat_map(|it| Spelling::ALL.map(|how| (it, how))) {
            let after = spelling.of(&text, &mut Rng(seed));
            let name = format!("{name} {spelling:?} {seed}");
            before.assert_same(&Facts::of(&after), skipped(spelling), &name);
            count += 1;
        }
    };
    for file in sources() {
        for level in ["-O0", "-O1", "-O2"] {
            let named_too = ["-Xclang", "-disable-O0-optnone"];
            let options = [&[level, "-w", "-fno-exceptions"][..], &named_too].concat();
            compare(&format!("{} {level}", file.display()), &llvm.clang(&file, &options));
        }
    }
    named_modules().iter().for_each(|(name, text)| compare(name, text));
    println!("{count} modules in another spelling");
}

/// Compares typed pointers, as LLVM 14 prints them, with LLVM 22's output for the same bitcode.
#[test]
fn typed_pointers_made_opaque() {
    if Llvm::get().is_none() || std::process::Command::new("clang-14").arg("-v").output().is_err() {
        return;
    }
    let mut count = 0;
    for file in sources() {
        for level in ["-O1", "-O2"] {
            let mut clang = std::process::Command::new("clang-14");
            clang.args([level, "-w", "-fno-exceptions", "-S", "-emit-llvm", "-o", "-"]).arg(&file);
            // Some C of the corpus is too new for clang 14.
            let Ok(printed) = run(&mut clang) else { continue };
            let bitcode = assemble("14", &printed);
            let [typed, opaque] =
                ["14", "22"].map(|version| Facts::of(&disassemble(version, &bitcode)));
            let name = format!("{} {level}", file.display());
            typed.assert_same(&opaque, &["functions", "lint", "tag", "instrument"], &name);
            count += 1;
        }
    }
    println!("{count} modules of typed pointers");
}

/// The analysis `blocks` gives the same results for each spelling of a program's pointers.
#[test]
fn a_pointer_is_one_in_each_spelling() {
    cases::check("spelling.txt", |_, texts| {
        let answers = |text: &&str| blocks(&tbaa_ir::read(text.as_bytes()).unwrap());
        let answers: Vec<Vec<String>> = texts.iter().map(answers).collect();
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
        answers[0].join("\n")
    });
}
