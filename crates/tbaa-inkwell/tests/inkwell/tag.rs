//! `tag_module` gives a module in memory the same tags that its text gets.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use tbaa_inkwell::{Attached, ModuleTags, TagModuleError, TagOptions, tag_module};
use tbaa_tests::llvm::{Llvm, corpus};

fn attached(module: &inkwell::module::Module<'_>) -> Vec<String> {
    let tags = ModuleTags::read(module).unwrap();
    let node =
        |tag| tbaa_ir::write_operands(&tags.graph, tags.graph.tag_node(tag), |_| String::new());
    let line = |access: &Attached<'_, _>| format!("{} {}", access.instruction, node(access.id));
    tags.accesses.iter().map(line).collect()
}

#[test]
fn a_live_module_gets_the_tags_of_its_text() {
    let Some(llvm) = Llvm::get() else { return };
    let context = Context::create();
    let mut tagged = 0;
    for file in corpus() {
        let flags = ["-O1", "-Xclang", "-disable-llvm-passes", "-fno-strict-aliasing", "-g"];
        let text = llvm.clang(&file, &flags);
        let read = tbaa_ir::read(&text).unwrap();
        let tags = match tbaa_tag::tag(&read, &TagOptions::new().elements()) {
            Ok(tags) => tags.to_bytes(&read).unwrap(),
            Err(_) => continue,
        };
        let parse = |mut text: Vec<u8>| {
            text.push(0);
            let buffer = MemoryBuffer::create_from_memory_range_copy(&text[..text.len() - 1], "m");
            context.create_module_from_ir(buffer).unwrap()
        };
        let (live, from_text) = (parse(text), parse(tags));
        // LLVM renames struct types that both modules have: compare only the ends of instructions.
        let counts = tag_module(&live, &TagOptions::new().elements()).unwrap();
        live.verify().unwrap();
        let (found, expected) = (attached(&live), attached(&from_text));
        let end = |line: &String| line.rsplit_once(", align").unwrap().1.to_owned();
        let ends = |lines: &[String]| lines.iter().map(end).collect::<Vec<_>>();
        assert_eq!(ends(&found), ends(&expected), "{}", file.display());
        assert_eq!(counts.tagged, found.len());
        tagged += found.len();
    }
    assert!(tagged > 300, "{tagged}");
    let error = tag_module(&context.create_module("m"), &TagOptions::new()).unwrap_err();
    assert!(matches!(error, TagModuleError::Tag(_)), "{error}");
}
