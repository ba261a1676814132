//! Compares what is read from a text with the expected listing.

use std::fmt::Write as _;
use std::ops::Range;

use tbaa::TagId;
use tbaa_check::verify::Verifier;
use tbaa_ir::{Instruction, Module};
use tbaa_tests::cases;

use super::{grid, read};

pub(crate) const FILE: &str = "text/modules.txt";

fn instruction(module: &Module<'_>, it: &Instruction) -> String {
    let said = |span: Option<Range<usize>>| {
        span.map(|span| String::from_utf8_lossy(&module.text()[span]).into_owned())
    };
    let tag = module.tag_span(it);
    assert_eq!(tag.is_some(), it.tag.is_some());
    let ty = String::from_utf8_lossy(module.access_type(it)).into_owned();
    let mut line = format!("{}.{} {:?}", it.function, it.index, it.opcode);
    for (word, part) in [
        (" volatile", it.volatile.then(String::new)),
        (" atomic", it.atomic.then(String::new)),
        (" ", Some(ty).filter(|ty| !ty.is_empty())),
        (" to ", said(module.pointer_span(it))),
        (" tag ", said(tag)),
        (" copy", it.copy.map(|_| String::new())),
    ] {
        line += &part.map_or(String::new(), |part| format!("{word}{part}"));
    }
    line
}

/// Returns a tag's base type, offset, access type, and the verifier's rule that it breaks, if any.
fn tag(module: &Module<'_>, verifier: &mut Verifier<'_>, tag: TagId) -> String {
    let graph = module.graph();
    let name = |ty| String::from_utf8_lossy(graph.ty(ty).name().unwrap_or(b"?")).into_owned();
    let parts = graph.tag(tag).map_or("no tag".to_owned(), |tag| {
        format!("{}+{} {}", name(tag.base), tag.offset, name(tag.access))
    });
    match verifier.check(tag) {
        Ok(()) => parts,
        Err(violation) => format!("{parts}: {:?}", violation.rule),
    }
}

fn listing(text: &str) -> String {
    let module = match tbaa_ir::read(text.as_bytes()) {
        Ok(module) => module,
        Err(error) => return format!("refused: {error}"),
    };
    let mut out = String::new();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for (word, said_of_it) in [("layout", module.data_layout()), ("triple", module.triple())] {
        if let Some((words, at)) = said_of_it {
            assert_eq!(text.as_bytes()[at - 1], b'"');
            writeln!(out, "{word} {}", said(words)).unwrap();
        }
    }
    for ty in module.type_definitions() {
        assert!(text.as_bytes()[ty.offset as usize..].starts_with(&ty.body));
        writeln!(out, "type {} = {}", said(&ty.name), said(&ty.body)).unwrap();
    }
    for (number, function) in module.functions().enumerate() {
        let body = module.function_span(number as u32);
        assert_eq!((&text[body.start - 1..body.start], &text[body.end..=body.end]), ("{", "}"));
        writeln!(out, "function {}", said(function)).unwrap();
    }
    for it in module.instructions() {
        writeln!(out, "{}", instruction(&module, it)).unwrap();
    }
    let mut verifier = Verifier::new(module.graph());
    let tags = module.attached_tags();
    for (&tag_of, row) in tags.iter().zip(grid(&module)) {
        writeln!(out, "{row} {}", tag(&module, &mut verifier, tag_of)).unwrap();
    }
    for &errno in module.errno_tags() {
        writeln!(out, "errno: {}", tag(&module, &mut verifier, errno)).unwrap();
    }
    for warning in module.warnings() {
        writeln!(out, "warning: {:?}", warning.kind).unwrap();
    }
    writeln!(out, "{} nodes", module.graph().node_count()).unwrap();
    let dumped = tbaa_ir::write(module.graph());
    assert_eq!(read(&dumped).graph(), module.graph(), "{text}\nis not kept:\n{dumped}");
    out
}

#[test]
fn every_text_is_read_as_written_down() {
    cases::check(FILE, |_, parts| {
        // A text of one line stands for a text that is cut off, so it gets no line end.
        let whole = parts[0].lines().count() > 1;
        let text = if whole { parts[0] } else { parts[0].trim_end_matches('\n') };
        let found = listing(text);
        if whole {
            assert_eq!(listing(&text.replace('\n', "\r\n")).replace('\r', ""), found);
        }
        found
    });
}
