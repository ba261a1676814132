//! Compares layouts and tags of generated types with those of clang 22.

use std::collections::HashMap;
use std::fmt::Write as _;

use tbaa::declare::{Declarations, DeclareError, Policy, Target};
use tbaa::{CopyId, Graph, TagId};

use tbaa_tests::generate::{Access, Program, Taste, What};
use tbaa_tests::llvm::{Llvm, scratch};
use tbaa_tests::{Rng, setting, show_tag};

const TARGETS: [(&str, &str); 6] = [
    ("x86-64", "x86_64-linux-gnu"),
    ("aarch64", "aarch64-linux-gnu"),
    ("i686", "i686-linux-gnu"),
    ("windows", "x86_64-pc-windows-msvc"),
    ("riscv64", "riscv64-linux-gnu"),
    ("wasm32", "wasm32-unknown-unknown"),
];

/// Returns the LLVM assembly that clang makes from a source text; `None` without clang 22.
fn clang(triple: &str, name: &str, c: &str, options: &[&str]) -> Option<String> {
    let llvm = Llvm::get()?;
    let file = scratch(&format!("declare/{name}-{triple}.c"), c.as_bytes());
    let common = ["-target", triple, "-O1", "-Xclang", "-disable-llvm-passes"];
    let common = [&common[..], &["-ffreestanding", "-fstrict-aliasing"], options].concat();
    Some(String::from_utf8(llvm.clang(&file, &common)).unwrap())
}

/// Returns the numbers of `unsigned long long name[] = { ... }` in a module's text.
fn numbers(module: &str, name: &str) -> Vec<u64> {
    let line = module.lines().find(|line| line.starts_with(&format!("@{name} ="))).unwrap();
    let (_, list) = line.split_once("] [").unwrap();
    let (list, _) = list.split_once(']').unwrap();
    list.split(", ").map(|item| item.strip_prefix("i64 ").unwrap().parse().unwrap()).collect()
}

fn program(seed: u64, target: &str) -> (Program, Vec<Access>) {
    let taste = Taste { int128: target != "i686", elements: 5, members: 6 };
    let program = Program::new(&mut Rng(seed), setting("TBAA_RECORDS", 240), taste);
    let accesses = program.accesses(&mut Rng(seed));
    (program, accesses)
}

#[test]
fn presets_have_clangs_data_layouts() {
    for (name, triple) in TARGETS.into_iter().chain([("apple", "arm64-apple-macosx")]) {
        let Some(module) = clang(triple, "empty", "", &[]) else { return };
        let line = module.lines().find_map(|line| line.strip_prefix("target datalayout = \""));
        let layout = line.unwrap().trim_end_matches('"').parse().unwrap();
        assert_eq!(Target::by_name(name).unwrap().data_layout(), &layout, "{name}");
        assert_eq!(Target::by_name(name), Target::by_name(triple));
    }
    assert_eq!(Target::by_name("x86_64-unknown-uefi"), None);
    // Other triples of the same targets, and an x86-64 triple that has no preset.
    for (triple, preset) in [
        ("aarch64-apple-darwin", "apple"),
        ("arm64-unknown-linux-gnu", "aarch64"),
        ("i386-pc-linux-gnu", "i686"),
        ("x86_64-linux-gnux32", ""),
        ("i686-w64-mingw32", ""),
        ("wasm32-unknown-emscripten", ""),
        ("i386-unknown-openbsd", ""),
    ] {
        let Some(module) = clang(triple, "triple", "", &[]) else { return };
        let module = tbaa_ir::read(module.as_bytes()).unwrap();
        let layout = str::from_utf8(module.data_layout().unwrap().0).unwrap().parse().unwrap();
        let target = Target::of_module(Some(triple), Some(layout)).unwrap();
        match Target::by_name(preset) {
            Some(preset) => assert_eq!(target, preset, "{triple}"),
            None => assert_eq!((Target::by_name(triple), target.pointer_size()), (None, 4)),
        }
    }
}

#[test]
fn builtin_types_are_clangs() {
    let names = "char|_Bool|short|int|long|long long|float|double|long double|void *|\
        int64_t|size_t|intptr_t|wchar_t|char16_t|char32_t|int32_t|\
        float _Complex|long double _Complex|_Atomic short|\
        _Atomic double _Complex|<3 x float>|<16 x double>|<2 x short>";
    let names: Vec<&str> = names.split('|').collect();
    let mut c = String::from(
        "typedef __INT64_TYPE__ int64_t; typedef __SIZE_TYPE__ size_t;\n\
         typedef __INTPTR_TYPE__ intptr_t; typedef __WCHAR_TYPE__ wchar_t;\n\
         typedef __CHAR16_TYPE__ char16_t; typedef __CHAR32_TYPE__ char32_t;\n\
         typedef int int32_t;\nunsigned long long found[] = {",
    );
    for &name in &names {
        let name = match name.trim_matches(['<', '>']).split_once(" x ") {
            Some((len, lane)) => format!("{lane} __attribute__((ext_vector_type({len})))"),
            None => name.to_owned(),
        };
        write!(c, "sizeof({name}), _Alignof({name}), ").unwrap();
    }
    c.push_str("};\n");
    for (number, name) in ["int64_t", "size_t", "intptr_t", "wchar_t"].into_iter().enumerate() {
        writeln!(c, "{name} g{number}; void f{number}(void) {{ g{number} = 0; }}").unwrap();
    }
    for (target, triple) in TARGETS {
        let Some(ll) = clang(triple, "builtin", &c, &[]) else { return };
        let mut types = Declarations::new(Target::by_name(target).unwrap());
        let found = numbers(&ll, "found");
        for (name, found) in names.iter().zip(found.chunks(2)) {
            let ty = types.ty(name).unwrap();
            let ours = [types.size_of(ty).unwrap(), types.align_of(ty)];
            assert_eq!(ours, found, "{name} on {target}");
        }
        let mut module = tbaa_ir::read(ll.as_bytes()).unwrap();
        let tags: Vec<_> = module.instructions().iter().map(|i| i.tag.unwrap()).collect();
        let mut types = types.into_tagged(Policy::Clang);
        for (name, tag) in ["int64_t", "size_t", "intptr_t", "wchar_t"].into_iter().zip(tags) {
            assert_eq!(types.tag(module.graph_mut(), name), Ok(tag), "{name} on {target}");
        }
    }
}

#[test]
fn layouts_are_clangs() {
    let (mut records, mut members) = (0, 0);
    for (target, triple) in TARGETS {
        let seed = setting("TBAA_SEED", 1) as u64;
        let (program, accesses) = program(seed, target);
        let mut c = program.c();
        c.push_str("unsigned long long sizes[] = {\n");
        for (_, name) in program.names() {
            writeln!(c, "sizeof({name}), _Alignof({name}),").unwrap();
        }
        c.push_str("};\nunsigned long long offsets[] = {\n");
        let measured: Vec<&Access> = accesses.iter().filter(|a| a.has_offset).collect();
        for access in &measured {
            let (record, member) = access.path.split_once('.').unwrap();
            let (_, name) = program.names().find(|(name, _)| *name == record).unwrap();
            writeln!(c, "__builtin_offsetof({name}, {member}),").unwrap();
        }
        c.push_str("};\n");
        let Some(module) = clang(triple, "layout", &c, &[]) else { return };
        let mut types = program.declare(Target::by_name(target).unwrap(), |_| true).unwrap();
        for ((name, _), found) in program.names().zip(numbers(&module, "sizes").chunks(2)) {
            let ty = types.named(name).unwrap();
            let ours = [types.size_of(ty).unwrap(), types.align_of(ty)];
            assert_eq!(ours, found, "seed {seed}, declare/layout-{triple}.c: {name}");
            records += 1;
        }
        for (access, found) in measured.into_iter().zip(numbers(&module, "offsets")) {
            let ours = types.offset_of(&access.path).unwrap();
            assert_eq!(ours, found, "seed {seed}, declare/layout-{triple}.c: {}", access.path);
            members += 1;
        }
    }
    println!("{records} records, {members} members");
    assert!(members > records);
}

#[test]
fn tags_are_clangs() {
    let mut counts = [0; 3];
    for (target, triple) in TARGETS {
        let seed = setting("TBAA_SEED", 1) as u64;
        let (program, accesses) = program(seed, target);
        let mut c = program.c();
        for (number, Access { lvalue, what, .. }) in accesses.iter().enumerate() {
            let value = match what {
                What::Vector => format!("(__typeof__({lvalue})){{0}}"),
                What::Copy { .. } => lvalue.replacen("g_", "h_", 1),
                _ => "0".to_owned(),
            };
            writeln!(c, "void f{number}(void) {{ {lvalue} = {value}; }}").unwrap();
        }
        let Some(ll) = clang(triple, "tags", &c, &[]) else { return };
        let mut module = tbaa_ir::read(ll.as_bytes()).unwrap();
        let last = last_accesses(&module);
        let types = program.declare(Target::by_name(target).unwrap(), |_| true).unwrap();
        let mut types = types.into_tagged(Policy::Clang);
        for (number, access) in accesses.iter().enumerate() {
            let (tag, copy) = last.get(&format!("f{number}")).copied().unwrap_or_default();
            let what = format!("seed {seed}, {triple}, {}", access.path);
            if let What::Copy { bits } = access.what {
                if !bits {
                    let place = types.place(module.graph_mut(), &access.path).unwrap();
                    let ours = types.copy(module.graph_mut(), place.ty).unwrap();
                    counts[2] += 1;
                    let show = |copy: CopyId| show_copy(module.graph(), copy);
                    assert_eq!(ours.map(show), copy.map(show), "{what}");
                    assert_eq!(ours, copy, "{what}");
                }
                continue;
            }
            let ours = match types.tag(module.graph_mut(), &access.path) {
                Ok(tag) => Some(tag),
                Err(DeclareError::Untagged { .. }) => None,
                Err(error) => panic!("{what}: {error}"),
            };
            counts[usize::from(ours.is_some())] += 1;
            let show = |tag: TagId| show_tag(module.graph(), tag);
            assert_eq!(ours.map(show), tag.map(show), "{what}");
            assert_eq!(ours, tag, "{what}: types of one name");
        }
    }
    println!("untagged, tags, tbaa.struct: {counts:?}");
    assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
}

type Attached = (Option<TagId>, Option<CopyId>);

/// Returns the attachments of the last access of each function.
fn last_accesses(module: &tbaa_ir::Module<'_>) -> HashMap<String, Attached> {
    let names: Vec<_> = module.functions().map(String::from_utf8_lossy).collect();
    let accesses = module.instructions().iter();
    let named = |i: &tbaa_ir::Instruction| names[i.function as usize].clone().into_owned();
    accesses.map(|access| (named(access), (access.tag, access.copy))).collect()
}

/// C++ types, whose tags contain names that are mangled as in the Itanium ABI.
#[test]
fn cplusplus_tags_are_clangs() {
    let cpp = include_str!("../../fixtures/types/names.cpp");
    let paths = "D.b.x D.b.y D.b.c.z D.b.e D.f D.t D.w D.h D.pc D.pc->z *D.r D.as[1].c D.u D.pf \
         *D.pf F1.e8 F1.q F1.i.y F1.x P1.h.d.y Over.e Over.d Over.x";
    let paths: Vec<&str> = paths.split(' ').collect();
    let options = ["-x", "c++", "-std=c++20"];
    let Some(ll) = clang("x86_64-linux-gnu", "cpp", cpp, &options) else { return };
    for (target, triple) in TARGETS {
        let Some(ll) = clang(triple, "cpp", cpp, &options) else { return };
        let spec = include_str!("../../fixtures/types/names.ron").replace("x86-64", target);
        let types = tbaa_tests::declared(&spec);
        let names = "F1 P1 P2 P3 P4 ZS Fl Em M1".split(' ');
        for (name, size) in names.zip(numbers(&ll, "sizes")) {
            let ours = types.size_of(types.named(name).unwrap());
            assert_eq!(ours, Some(size), "{name} on {target}");
        }
        let tag = types.into_tagged(Policy::Clang).tag(&mut Graph::new(), "F1.q");
        assert_eq!(tag.is_err(), target == "windows", "clang's names differ there");
    }
    let mut module = tbaa_ir::read(ll.as_bytes()).unwrap();
    let last = last_accesses(&module);
    let types = tbaa_tests::declared(include_str!("../../fixtures/types/names.ron"));
    let mut types = types.into_tagged(Policy::Clang);
    for (number, path) in paths.iter().enumerate() {
        let name = format!("f{number}");
        let (tag, _) = last[&format!("_Z{}{name}v", name.len())];
        let ours = types.tag(module.graph_mut(), path).unwrap();
        let shown = Some(ours).into_iter().chain(tag).map(|tag| show_tag(module.graph(), tag));
        assert_eq!(Some(ours), tag, "{path}: {:?}", shown.collect::<Vec<_>>());
    }
}

fn show_copy(graph: &Graph, copy: CopyId) -> String {
    let entries = graph.copy(copy).unwrap().into_iter();
    let entries = entries.map(|e| format!("{}+{} {}", e.offset, e.size, show_tag(graph, e.tag)));
    entries.collect::<Vec<_>>().join("; ")
}
