//! Checks what LLVM 22 reads in rewritten texts.

use std::process::Command;

use tbaa_ir::{Instruction, Module, Opcode, Rewriter};
use tbaa_tests::llvm::{Llvm, WAYS, corpus, scratch};
use tbaa_tests::process::run;
use tbaa_tests::show_tag;

/// Returns a text after LLVM has read, verified and printed it.
fn through_llvm(name: &str, text: &[u8]) -> Vec<u8> {
    let file = scratch(name, text);
    run(Command::new("opt-22").args(["-S", "-passes=verify"]).arg(file)).unwrap()
}

/// An instruction, its `!tbaa` tag, and whether it has a `!tbaa.struct` attachment.
#[derive(PartialEq, Debug)]
struct Row {
    function: u32,
    opcode: Opcode,
    tag: Option<String>,
    copy: bool,
}

/// Returns a row for each [`listed`] instruction, with or without a tag.
fn rows(text: &[u8]) -> Vec<Row> {
    let module = tbaa_ir::read(text).unwrap();
    let row = |(_, i): (usize, &Instruction)| Row {
        function: i.function,
        opcode: i.opcode,
        tag: i.tag.map(|tag| show_tag(module.graph(), tag)),
        copy: i.copy.is_some(),
    };
    listed(&module).map(row).collect()
}

fn listed<'m>(module: &'m Module<'m>) -> impl Iterator<Item = (usize, &'m Instruction)> {
    let all = module.instructions().iter().enumerate();
    all.filter(|(_, i)| i.opcode.accesses_memory() || module.pointer_span(i).is_some())
}

/// Checks a rewrite without changes, and what LLVM reads after each of three other rewrites.
fn check(what: &str, text: &[u8]) -> usize {
    let module = tbaa_ir::read(text).unwrap();
    let before = rows(text);
    assert_eq!(Rewriter::new(&module).to_bytes().unwrap(), text, "{what}");

    let mut rewriter = Rewriter::new(&module);
    for i in 0..module.instructions().len() {
        rewriter.set_metadata(i, "tbaa", None);
        rewriter.set_metadata(i, "tbaa.struct", None);
    }
    let printed = through_llvm(&format!("rewrite/{what}-none.ll"), &rewriter.to_bytes().unwrap());
    let after = rows(&printed);
    let none = |row: &Row| row.tag.is_none() && !row.copy;
    assert!(after.iter().all(none) && after.len() == before.len(), "{what}");

    // Drops the tags of every second listed instruction. Replaces the other tags by the original
    // tag of the previous tagged instruction, if that tag has a number.
    let mut rewriter = Rewriter::new(&module);
    let numbered = |i: &Instruction| module.number_of(module.graph().tag_node(i.tag?));
    let mut expected = rows(text);
    let mut last = None;
    for (row, (index, i)) in listed(&module).enumerate() {
        let known = last.replace((row, numbered(i)));
        if i.tag.is_none() {
            last = known;
        } else if row % 2 == 0 {
            rewriter.set_metadata(index, "tbaa", None);
            expected[row].tag = None;
        } else if let Some((from, Some(number))) = known {
            rewriter.set_metadata(index, "tbaa", Some(number));
            expected[row].tag = before[from].tag.clone();
        }
    }
    let printed = through_llvm(&format!("rewrite/{what}-some.ll"), &rewriter.to_bytes().unwrap());
    assert_eq!(rows(&printed), expected, "{what}");

    let mut rewriter = Rewriter::new(&module);
    let domain = rewriter.define_distinct("!\"domain\"").unwrap();
    let scope = rewriter.define_distinct(format_args!("!{domain}")).unwrap();
    let list = rewriter.define(format_args!("!{{!{scope}}}")).unwrap();
    for (index, _) in listed(&module) {
        rewriter.set_metadata(index, "noalias", Some(list));
        rewriter.set_metadata(index, "alias.scope", Some(list));
    }
    let printed = through_llvm(&format!("rewrite/{what}-more.ll"), &rewriter.to_bytes().unwrap());
    assert_eq!(rows(&printed), before, "{what}");
    let printed = String::from_utf8(printed).unwrap();
    for kind in ["!noalias !", "!alias.scope !"] {
        let body = printed.lines().filter(|line| line.contains(kind)).count();
        assert!(body >= before.len(), "{what}: {kind} on {body} of {}", before.len());
    }
    before.len()
}

#[test]
fn llvm_reads_what_was_set() {
    let Some(llvm) = Llvm::get() else { return };
    let mut count = 0;
    // Each source is compiled with the next of the `ways`.
    let ways = [&WAYS[..], &[("debug", &["-O2", "-g"])]].concat();
    for (source, (way, options)) in corpus().iter().zip(ways.iter().cycle()) {
        let stem = source.file_stem().unwrap().to_string_lossy();
        count += check(&format!("{stem}-{way}"), &llvm.clang(source, options));
    }
    println!("{count} instructions");
    assert!(count > 200);
}
