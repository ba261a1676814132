//! Compares sizes, alignments and offsets with LLVM 22's.

use std::fmt::Write;

use pretty_assertions::assert_eq;
use tbaa::types::{Context, DataLayout, LayoutError, Layouts, Type, TypeKind, TypeSize};

use tbaa_ir::Sizes;
use tbaa_ir::types::ReadTypes;
use tbaa_tests::llvm::{Program, scratch};
use tbaa_tests::{Rng, setting};

/// Returns data layouts of LLVM 22's targets, and one that no target has, with their names.
fn layouts() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("../fixtures/types/layouts.txt").lines();
    lines.map(|line| line.split_once(' ').unwrap_or((line, "")))
}

/// Appends a random type in LLVM assembly, over the structs `%s0` to `%s{structs}`.
fn random(rng: &mut Rng, depth: usize, structs: usize, out: &mut String) {
    const SIMPLE: &str = "i1|i7|i8|i16|i24|i32|i33|i64|i65|i128|i1000|half|bfloat|float|double|x86_fp80|\
        fp128|ppc_fp128|ptr|ptr addrspace(3)|ptr addrspace(7)|ptr addrspace(270)|x86_amx|target(\"spirv.Image\", float, 1)";
    const LANES: [&str; 9] = ["i1", "i8", "i24", "i32", "i64", "half", "float", "double", "ptr"];
    let leaf = depth == 0 || rng.one_in(3);
    match if leaf { rng.below(3) } else { 3 + rng.below(4) } {
        0 if structs > 0 => write!(out, "%s{}", rng.below(structs)).unwrap(),
        1 => {
            let scale = if rng.one_in(4) { "vscale x " } else { "" };
            write!(out, "<{scale}{} x {}>", 1 + rng.below(17), rng.pick(&LANES)).unwrap();
        }
        0 | 2 => *out += SIMPLE.split('|').nth(rng.below(24)).unwrap(),
        3 | 4 => {
            write!(out, "[{} x ", rng.below(6)).unwrap();
            random(rng, depth - 1, structs, out);
            *out += "]";
        }
        _ => {
            let (open, close) = if rng.one_in(3) { ("<{", "}>") } else { ("{", "}") };
            *out += open;
            let count = rng.below(7);
            let same = rng.one_in(5).then(|| {
                let mut text = String::new();
                random(rng, depth - 1, structs, &mut text);
                text
            });
            for at in 0..count {
                *out += if at > 0 { ", " } else { " " };
                match &same {
                    Some(text) => *out += text,
                    None => random(rng, depth - 1, structs, out),
                }
            }
            *out += close;
        }
    }
}

/// Returns a module's struct definitions, and types to be measured.
fn universe(rng: &mut Rng, count: usize) -> (String, Vec<String>) {
    const STRUCTS: usize = 40;
    let mut definitions = String::from("%opaque = type opaque\n");
    for at in 0..STRUCTS {
        let mut body = String::new();
        // An array of tiles is not a type.
        while !(body.starts_with(['{']) || body.starts_with("<{")) || body.contains("amx]") {
            body.clear();
            random(rng, 2, at, &mut body);
        }
        writeln!(definitions, "%s{at} = type {body}").unwrap();
    }
    let mut types: Vec<String> = (0..STRUCTS).map(|at| format!("%s{at}")).collect();
    types.extend(include_str!("../fixtures/types/measured.txt").lines().map(str::to_owned));
    types.extend((0..count).map(|_| {
        let mut text = String::new();
        random(rng, 4, STRUCTS, &mut text);
        text
    }));
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
/// store size and its allocation size in bytes.
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
        let parsed: Vec<Option<Type>> =
            types.iter().map(|ty| context.parse_with(&names, ty.as_bytes()).ok()).collect();
        let mut layouts = layout.layouts(&context);
        let ours: Vec<Option<String>> =
            parsed.iter().map(|ty| ty.map(|ty| measured(&context, &mut layouts, ty))).collect();
        let theirs: Vec<&str> = answers.lines().collect();
        assert_eq!(theirs.len(), ours.len());
        // `Sizes`, which the commands use, gives the same sizes for the types' text.
        let module = format!("target datalayout = \"{text}\"\n{definitions}");
        let sizes = Sizes::new(&tbaa_ir::read(module.as_bytes()).unwrap());
        for (ty, theirs) in types.iter().zip(&theirs) {
            let size = sizes.minimum(ty.as_bytes());
            let ours =
                size.map(|size| (size.scalable, size.store.to_string(), size.alloc.to_string()));
            assert_eq!(ours, stored(theirs), "{name}: {ty}");
            let fixed = size.filter(|size| !size.scalable);
            assert_eq!(sizes.of(ty.as_bytes()), fixed, "{name}: {ty}");
        }
        for ((ours, theirs), ty) in ours.iter().zip(theirs).zip(&types) {
            match ours {
                Some(ours) => assert_eq!(ours, theirs, "{name}: {ty}"),
                None => assert!(theirs.starts_with("rejected"), "{name}: {ty}: {theirs}"),
            }
        }
    }
}

/// Returns strings at the limits of what LLVM accepts, and those of [`layouts`].
fn strings() -> impl Iterator<Item = &'static str> {
    let borders = include_str!("../fixtures/types/layout_strings.txt").lines();
    borders.chain(layouts().map(|(_, text)| text))
}

#[test]
fn layout_strings_are_accepted_as_llvm_accepts_them() {
    let Some(llvm) = Program::get("types") else { return };
    // Each line has a string and our output for it: LLVM must find the two equal.
    let lines: Vec<String> = strings()
        .map(|text| match text.parse::<DataLayout>() {
            Ok(layout) => format!("{text}\t{layout}"),
            Err(_) => text.to_owned(),
        })
        .collect();
    let file = scratch("layouts.txt", (lines.join("\n") + "\n").as_bytes());
    let answers = llvm.ask(&["layouts"], &file);
    assert_eq!(answers.lines().count(), lines.len());
    for (line, answer) in lines.iter().zip(answers.lines()) {
        if line.contains('\t') {
            assert_eq!(answer, "equal", "{line}");
        } else {
            assert!(answer.starts_with("rejected"), "{line}: {answer}");
        }
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
    let error = "e-i64:33-S128".parse::<DataLayout>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`i64:33` at byte 2 of the data layout: an alignment must be 8 times a power of two, \
         in bits, and fit into 16 bits"
    );
}

#[test]
fn sizes_do_not_wrap() {
    let mut context = Context::new();
    let layout = DataLayout::default();
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
        assert_eq!(layout.layouts(&context).alloc_size(ty), expected, "{text}");
    }
}
