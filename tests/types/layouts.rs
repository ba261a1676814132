//! Compares sizes, alignments and offsets with LLVM 22's.

use std::fmt::Write;

use pretty_assertions::assert_eq;
use tbaa::types::{Context, DataLayout, LayoutError, Layouts, Type, TypeKind, TypeSize};

use tbaa_ir::Sizes;
use tbaa_ir::types::ReadTypes;
use tbaa_tests::llvm::{Program, scratch};
use tbaa_tests::{Rng, setting};

/// Returns names and texts of data layouts: the default, some of LLVM 22, one that no target has.
fn layouts() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("../fixtures/types/layouts.txt").lines();
    lines.map(|line| line.split_once(' ').unwrap_or((line, "")))
}

/// Returns a random type in LLVM assembly. It may refer to the first `structs` of `%s0`, `%s1`, ...
fn random(rng: &mut Rng, depth: usize, structs: usize) -> String {
    const SIMPLE: &str = "i1|i7|i8|i16|i24|i32|i33|i64|i65|i128|i1000|half|bfloat|float|double|x86_fp80|\
        fp128|ppc_fp128|ptr|ptr addrspace(3)|ptr addrspace(7)|ptr addrspace(270)|x86_amx|target(\"spirv.Image\", float, 1)";
    const LANES: [&str; 9] = ["i1", "i8", "i24", "i32", "i64", "half", "float", "double", "ptr"];
    let leaf = depth == 0 || rng.one_in(3);
    match if leaf { rng.below(3) } else { 3 + rng.below(4) } {
        0 if structs > 0 => format!("%s{}", rng.below(structs)),
        1 => {
            let scale = if rng.one_in(4) { "vscale x " } else { "" };
            format!("<{scale}{} x {}>", 1 + rng.below(17), rng.pick(&LANES))
        }
        0 | 2 => SIMPLE.split('|').nth(rng.below(24)).unwrap().to_owned(),
        3 | 4 => format!("[{} x {}]", rng.below(6), random(rng, depth - 1, structs)),
        _ => {
            let (open, close) = if rng.one_in(3) { ("<{", "}>") } else { ("{", "}") };
            let count = rng.below(7);
            let same = rng.one_in(5).then(|| random(rng, depth - 1, structs));
            let mut part = |_| same.clone().unwrap_or_else(|| random(rng, depth - 1, structs));
            let parts: Vec<String> = (0..count).map(&mut part).collect();
            format!("{open} {}{close}", parts.join(", "))
        }
    }
}

/// Returns a module's struct definitions, and types to be measured.
fn universe(rng: &mut Rng, count: usize) -> (String, Vec<String>) {
    const STRUCTS: usize = 40;
    let mut definitions = String::from("%opaque = type opaque\n");
    for at in 0..STRUCTS {
        let mut body = String::new();
        // LLVM rejects an array of tiles (`x86_amx`).
        while !(body.starts_with(['{']) || body.starts_with("<{")) || body.contains("amx]") {
            body = random(rng, 2, at);
        }
        writeln!(definitions, "%s{at} = type {body}").unwrap();
    }
    let mut types: Vec<String> = (0..STRUCTS).map(|at| format!("%s{at}")).collect();
    types.extend(include_str!("../fixtures/types/measured.txt").lines().map(str::to_owned));
    types.extend((0..count).map(|_| random(rng, 4, STRUCTS)));
    (definitions, types)
}

/// Returns the line that `tests/llvm/types.cpp` should print for a type, from our own answers.
fn measured(context: &Context, layouts: &mut Layouts<'_>, ty: Type) -> String {
    let mut line = format!("{}\t", context.display(ty));
    let TypeSize { min: bits, scalable } = match layouts.size_in_bits(ty) {
        Err(LayoutError::Unsized) => return line + "unsized",
        other => other.unwrap(),
    };
    let (store, alloc) = (layouts.store_size(ty).unwrap(), layouts.alloc_size(ty).unwrap());
    let (abi, preferred) = (layouts.abi_align(ty).unwrap(), layouts.preferred_align(ty).unwrap());
    assert_eq!((scalable, scalable), (store.scalable, alloc.scalable));
    let mark = if scalable { "x" } else { "" };
    write!(line, "{bits}{mark} {} {} {abi} {preferred}", store.min, alloc.min).unwrap();
    if matches!(context.kind(ty), TypeKind::Literal { .. } | TypeKind::Identified { .. }) {
        let layout = layouts.struct_layout(ty).unwrap();
        let padded = if layout.padded { "padded" } else { "dense" };
        write!(line, "\t{} {} {padded}", layout.size.min, layout.align).unwrap();
        for offset in layout.offsets {
            write!(line, " {}", offset.min).unwrap();
        }
    }
    line
}

/// Parses a line that `tests/llvm/types.cpp` prints. Returns whether the type is scalable, its
/// store size and its allocation size in bytes; `None` if it has no size or LLVM rejects it.
fn stored(line: &str) -> Option<(bool, String, String)> {
    let (text, sizes) = line.split_once('\t')?;
    let mut sizes = sizes.split([' ', '\t']).filter(|_| text != "rejected");
    let bits = sizes.next()?;
    Some((bits.ends_with('x'), sizes.next()?.to_owned(), sizes.next()?.to_owned()))
}

#[test]
fn sizes_alignments_and_offsets_are_llvms() {
    let Some(llvm) = Program::get("types") else { return };
    let mut rng = Rng(setting("TBAA_SEED", 22) as u64);
    for (name, text) in layouts() {
        let (definitions, types) = universe(&mut rng, setting("TBAA_TYPES", 2_000));
        let module =
            format!("target datalayout = \"{text}\"\n{definitions}; types\n{}\n", types.join("\n"));
        let answers =
            llvm.ask(&["measure"], &scratch(&format!("layout-{name}.ll"), module.as_bytes()));
        let layout: DataLayout = text.parse().unwrap();
        let mut context = Context::new();
        let names = context.read_definitions(definitions.as_bytes()).unwrap();
        let mut parse = |ty: &String| context.parse_with(&names, ty.as_bytes()).ok();
        let parsed: Vec<Option<Type>> = types.iter().map(&mut parse).collect();
        let mut layouts = layout.layouts(&context);
        // `Sizes` gives the same sizes for the types' text.
        let module = format!("target datalayout = \"{text}\"\n{definitions}");
        let sizes = Sizes::new(&tbaa_ir::read(module.as_bytes()).unwrap());
        assert_eq!(answers.lines().count(), types.len());
        for ((ty, parsed), theirs) in types.iter().zip(parsed).zip(answers.lines()) {
            let size = sizes.minimum(ty.as_bytes());
            let text = |bytes: u64| bytes.to_string();
            let ours = size.map(|size| (size.scalable, text(size.store), text(size.alloc)));
            assert_eq!(ours, stored(theirs), "{name}: {ty}");
            let fixed = size.filter(|size| !size.scalable);
            assert_eq!(sizes.of(ty.as_bytes()), fixed, "{name}: {ty}");
            match parsed.map(|ty| measured(&context, &mut layouts, ty)) {
                Some(ours) => assert_eq!(ours, theirs, "{name}: {ty}"),
                None => assert!(theirs.starts_with("rejected"), "{name}: {ty}: {theirs}"),
            }
        }
    }
}

/// Returns layout strings at the limits of what LLVM accepts, and those of [`layouts`].
fn strings() -> impl Iterator<Item = &'static str> {
    let borders = include_str!("../fixtures/types/layout_strings.txt").lines();
    borders.chain(layouts().map(|(_, text)| text))
}

#[test]
fn layout_strings_are_accepted_as_llvm_accepts_them() {
    let Some(llvm) = Program::get("types") else { return };
    // A line has a string and, if we accept it, our output: LLVM must find the two equal.
    let line = |text: &str| match text.parse::<DataLayout>() {
        Ok(layout) => format!("{text}\t{layout}\n"),
        Err(_) => format!("{text}\n"),
    };
    let lines: String = strings().map(line).collect();
    let answers = llvm.ask(&["layouts"], &scratch("layouts.txt", lines.as_bytes()));
    assert_eq!(answers.lines().count(), lines.lines().count());
    for (line, answer) in lines.lines().zip(answers.lines()) {
        let expected = if line.contains('\t') { "equal" } else { "rejected" };
        assert!(answer.starts_with(expected), "{line}: {answer}");
    }
}

#[test]
fn what_a_layout_prints_reads_back() {
    for text in strings() {
        if let Ok(layout) = text.parse::<DataLayout>() {
            assert_eq!(layout.to_string().parse(), Ok(layout), "{text}");
        }
    }
    for text in ["e-p:32:32", "e-p0(far):32:32", "e-p1(far):32:32"] {
        assert_eq!(text.parse::<DataLayout>().unwrap().to_string(), text);
    }
    let error = "e-i64:33-S128".parse::<DataLayout>().unwrap_err().to_string();
    let message = "an alignment must be 8 times a power of two, in bits, and fit into 16 bits";
    assert_eq!(error, format!("`i64:33` at byte 2 of the data layout: {message}"));
}

#[test]
fn sizes_do_not_wrap() {
    let mut context = Context::new();
    for (text, expected) in [
        ("[2305843009213693951 x i8]", Ok(TypeSize::fixed((1 << 61) - 1))),
        ("[2305843009213693952 x i8]", Err(LayoutError::TooLarge)),
        ("[18446744073709551615 x i64]", Err(LayoutError::TooLarge)),
        ("[4294967296 x [4294967296 x i8]]", Err(LayoutError::TooLarge)),
        ("{ [2305843009213693951 x i8], i8 }", Err(LayoutError::TooLarge)),
        ("{ i8, { [2305843009213693951 x i8], i64 } }", Err(LayoutError::TooLarge)),
        ("[0 x [18446744073709551615 x i64]]", Err(LayoutError::TooLarge)),
        ("<4294967295 x i8388608>", Ok(TypeSize::fixed(1 << 52))),
    ] {
        let ty = context.parse(text.as_bytes()).unwrap();
        assert_eq!(crate::size(&context, ty), expected, "{text}");
    }
}
