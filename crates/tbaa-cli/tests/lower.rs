//! `tbaa lower` on accesses that are not one scalar: what each becomes, why, and
//! what the real LLVM 22 makes of it.

mod tools;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tbaa_tests::llvm::aa_eval;

/// The types of all modules here, old format: `union U { int i; float f[2]; }`,
/// `struct S { union U u; int n; }`.
const TYPES: &str = include_str!("lower/types.ll");

/// The same in the size-aware format, with `!20` an access to a whole `S`.
const SIZED: &str = include_str!("lower/sized.ll");

/// A module, and what was made of it.
struct Lowered {
    /// The module's lines.
    text: String,
    /// Of each source its type and why, as `--format table` says.
    table: String,
    /// The pairs of stores that LLVM 22 calls `NoAlias`, by what is stored; `None`
    /// without LLVM.
    no_alias: Option<BTreeSet<[String; 2]>>,
}

fn scratch(name: &str, content: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lower").join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, content).unwrap();
    file
}

fn run(program: &str, args: &[&str], file: &Path) -> (String, String) {
    let output = Command::new(program).args(args).arg(file).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{program} {args:?} {}: {err}", file.display());
    (out, err)
}

/// The pairs of stores of a module that LLVM calls `NoAlias`.
fn no_alias(file: &Path, pipeline: &str) -> BTreeSet<[String; 2]> {
    let found = aa_eval("opt-22", &[], pipeline, file).expect("opt-22");
    let stored = |store: String| {
        let value = store.strip_prefix("store ").unwrap().split_once(", ptr").unwrap().0;
        value.rsplit(' ').next().unwrap().trim_end_matches(')').to_owned()
    };
    let apart = found.into_iter().filter(|it| it.answer == "NoAlias");
    apart
        .map(|it| {
            let mut pair = it.pair.map(stored);
            pair.sort();
            pair
        })
        .collect()
}

/// Lowers a module of stores, each of another number, under some types.
fn lower(name: &str, args: &[&str], stores: &str, types: &str) -> Lowered {
    let lines: String = stores.lines().map(|line| format!("  {}\n", line.trim())).collect();
    let module = format!("define void @f(ptr %p) {{\n{lines}  ret void\n}}\n{types}");
    let file = scratch(&format!("{name}.ll"), &module);
    let tbaa = env!("CARGO_BIN_EXE_tbaa");
    let (table, _) = run(tbaa, &["lower", "--format", "table"], &file);
    let (text, _) = run(tbaa, &[&["lower"], args].concat(), &file);
    let lowered = scratch(&format!("{name}.lowered.ll"), &text);
    let no_alias =
        tools::are_there(&["opt-22"]).then(|| no_alias(&lowered, "scoped-noalias-aa,tbaa"));
    Lowered { text, table, no_alias }
}

impl Lowered {
    /// The type and the reason of a source, by the number of its tag.
    fn why(&self, tag: &str) -> Vec<(&str, &str)> {
        let of = |line: &'_ str| -> bool { line.split('\t').next() == Some(tag) };
        let lines = self.table.lines().filter(|line| of(line));
        lines.filter_map(|line| line.split_once('\t')?.1.split_once('\t')).collect()
    }

    /// What is attached to the store of a value.
    fn attached(&self, value: &str) -> &str {
        let store = format!("{value}, ptr %p");
        let line = self.text.lines().find(|line| line.contains(&store)).expect(value);
        line.split_once(", ptr %p").unwrap().1
    }

    /// That LLVM calls just these pairs `NoAlias`.
    fn says(&self, pairs: &[[&str; 2]]) {
        let right = pairs.iter().map(|pair| pair.map(str::to_owned)).collect();
        if let Some(found) = &self.no_alias {
            assert_eq!(*found, right, "{}", self.text);
        }
    }
}

const PLACED: &str = "type chosen";

/// A bit-field is accessed by its storage unit, an `int`, and clang gives it no
/// tag, or in a union the tag of the whole `char`.
#[test]
fn bit_fields() {
    let stores = "store i32 1, ptr %p, !tbaa !15
        store i32 2, ptr %p
        store i32 3, ptr %p, !tbaa !12";
    let lowered = lower("bit-fields", &[], stores, TYPES);
    assert_eq!(lowered.attached("i32 2"), "", "it gets no tag by being lowered");
    assert_eq!(lowered.why("!15")[0].1, PLACED);
    // Two units at one place are one node; the untagged access aliases all.
    lowered.says(&[["1", "3"]]);
}

/// An access to an immutable object keeps the flag, at the node of the others.
#[test]
fn immutable_tags() {
    let stores = "store i64 1, ptr %p, !tbaa !16
        store i64 2, ptr %p, !tbaa !12
        store i32 3, ptr %p, !tbaa !10";
    let lowered = lower("immutable", &[], stores, TYPES);
    let [(flagged, why), (plain, _)] = [lowered.why("!16")[0], lowered.why("!12")[0]];
    assert_eq!((flagged, why), (plain, PLACED));
    let number = lowered.attached("i64 1").strip_prefix(", !tbaa ").unwrap();
    let line = lowered.text.lines().find(|line| line.starts_with(&format!("{number} = ")));
    assert!(line.unwrap().ends_with(", i64 0, i64 1}"), "{}", lowered.text);
    lowered.says(&[["1", "3"], ["2", "3"]]);
}

/// What is read through an array in a union shares bytes with the member beside
/// it; clang says `char`.
#[test]
fn arrays_in_unions() {
    let stores = "store i32 1, ptr %p, !tbaa !13
        store float 2.0, ptr %p, !tbaa !14
        store double 3.0, ptr %p, !tbaa !12
        store i32 4, ptr %p, !tbaa !15";
    let stores = stores.replace("float 2.0", "i32 2").replace("double 3.0", "i64 3");
    let lowered = lower("arrays", &[], &stores, TYPES);
    assert_eq!(lowered.why("!14")[0].1, PLACED);
    lowered.says(&[["1", "3"], ["2", "3"], ["3", "4"], ["1", "4"], ["2", "4"]]);
}

/// A vector of four under the tag of a member that is no array leaves the struct: the tag does
/// not describe it, and it may alias everything.
#[test]
fn vectors() {
    let stores = "store i32 1, ptr %p, !tbaa !17
        store <4 x i32> splat (i32 2), ptr %p, !tbaa !17
        store i32 3, ptr %p, !tbaa !15
        store i64 4, ptr %p, !tbaa !12";
    let lowered = lower("vectors", &[], stores, SIZED);
    assert_eq!(lowered.why("!17").len(), 2, "a source of its own: {}", lowered.table);
    assert!(lowered.why("!17").iter().all(|(_, why)| *why == PLACED), "{}", lowered.table);
    assert_ne!(lowered.attached("i32 1"), lowered.attached("(i32 2)"));
    lowered.says(&[["1", "3"], ["1", "4"], ["3", "4"]]);
}

/// Two accesses that were merged to a wider one, under the tag of the first.
#[test]
fn widened_accesses() {
    let stores = "store i32 1, ptr %p, !tbaa !17
        store i96 2, ptr %p, !tbaa !17
        store i32 3, ptr %p, !tbaa !15
        store i32 4, ptr %p, !tbaa !11";
    let lowered = lower("widened", &[], stores, SIZED);
    assert_eq!(lowered.why("!17").len(), 2, "a source of its own: {}", lowered.table);
    // The `int` of `S.u` shares its bytes with a `float`, and `S.n` does not.
    lowered.says(&[["1", "3"], ["3", "4"]]);
}

/// An access to a whole struct touches what is in it, and nothing else.
#[test]
fn whole_struct_accesses() {
    let stores = "store i96 1, ptr %p, !tbaa !20
        store i32 2, ptr %p, !tbaa !15
        store i32 3, ptr %p, !tbaa !11
        store i64 4, ptr %p, !tbaa !12";
    let lowered = lower("whole", &[], stores, SIZED);
    assert_eq!(lowered.why("!20")[0].1, PLACED);
    lowered.says(&[["1", "4"], ["2", "3"], ["2", "4"], ["3", "4"]]);
    // The bytes of an array are known, too: both stores are what the tag says.
    let stores = format!("{stores}\n  store [3 x i32] zeroinitializer, ptr %p, !tbaa !20");
    let lowered = lower("whole-array", &[], &stores, SIZED);
    assert_eq!(lowered.why("!20").len(), 1, "{}", lowered.table);
}

/// A copy's entries are accesses of their sizes. LLVM makes a copy of one entry
/// a load and a store with that tag.
#[test]
fn struct_copies() {
    let module = format!(
        "define void @f(ptr %p, ptr %q) {{
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 8, i1 false), !tbaa.struct !30
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 8, i1 false), !tbaa.struct !31
  store i32 1, ptr %p, !tbaa !10
  ret void
}}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
{TYPES}
!30 = !{{i64 0, i64 8, !12}}
!31 = !{{i64 0, i64 4, !10, i64 4, i64 4, !32}}
!32 = !{{!33, !33, i64 0}}
!33 = !{{!\"lost\", !34, i64 0}}
!34 = !{{!\"lost\", !33, i64 0}}
"
    );
    let file = scratch("copies.ll", &module);
    let (text, _) = run(env!("CARGO_BIN_EXE_tbaa"), &["lower"], &file);
    let copies: Vec<&str> = text.lines().filter(|line| line.contains("call ")).collect();
    let list = copies[0].split_once("!tbaa.struct ").unwrap().1;
    let list = text.lines().find(|line| line.starts_with(&format!("{list} = "))).unwrap();
    let tag = list.strip_suffix('}').unwrap().rsplit(", ").next().unwrap();
    assert!(list.contains("!{i64 0, i64 8, !"), "{text}");
    assert!(!copies[1].contains("tbaa"), "an entry has no tag, so the list goes: {text}");
    if !tools::are_there(&["opt-22"]) {
        return;
    }
    let lowered = scratch("copies.lowered.ll", &text);
    let (done, _) = run("opt-22", &["-passes=verify,instcombine", "-S"], &lowered);
    let metadata = |text: &str, number: &str| {
        let line = text.lines().find(|line| line.starts_with(&format!("{number} = ")));
        line.unwrap().split_once(" = ").unwrap().1.to_owned()
    };
    let store = done.lines().find(|line| line.contains("store i64")).expect("the copy is a store");
    let stored = store.split_once("!tbaa ").unwrap().1;
    // The nodes are numbered anew: their types' names say which they are.
    let name = |text: &str, tag: &str| {
        let tag = metadata(text, tag);
        metadata(text, tag.strip_prefix("!{").unwrap().split(',').next().unwrap())
    };
    let of = |node: String| node.split('"').nth(1).unwrap().to_owned();
    assert_eq!(of(name(&done, stored)), of(name(&text, tag)));
}

/// A call that may set `errno` leaves a `float` alone, and no `int`; where a tag
/// of `errno` has no lowered one, nothing is known of it.
#[test]
fn errno() {
    let module = |errno: &str| {
        format!(
            "define i32 @f(ptr %p) {{
  %a = load i32, ptr %p, !tbaa !10
  %x = call double @g(double 1.0)
  %b = load i32, ptr %p, !tbaa !10
  %s = sub i32 %a, %b
  ret i32 %s
}}
define float @h(ptr %p) {{
  %a = load float, ptr %p, !tbaa !11
  %x = call double @g(double 1.0)
  %b = load float, ptr %p, !tbaa !11
  %s = fdiv float %a, %b
  ret float %s
}}
declare double @g(double) memory(errnomem: write) nounwind willreturn
!llvm.errno.tbaa = !{{{errno}}}
{TYPES}
!40 = !{{!41, !41, i64 0}}
!41 = !{{!\"lost\", !42, i64 0}}
!42 = !{{!\"lost\", !41, i64 0}}
"
        )
    };
    for (errno, replaced, float_loads) in [("!10", true, 1), ("!40", false, 2)] {
        let file = scratch("errno.ll", &module(errno));
        let (text, _) = run(env!("CARGO_BIN_EXE_tbaa"), &["lower"], &file);
        assert_eq!(text.contains("!llvm.errno.tbaa"), replaced, "{text}");
        if !tools::are_there(&["opt-22"]) {
            return;
        }
        let lowered = scratch("errno.lowered.ll", &text);
        let (done, _) = run("opt-22", &["-passes=verify,gvn", "-S"], &lowered);
        let loads = |of: &str| done.lines().filter(|line| line.contains(of)).count();
        assert_eq!(loads("load i32"), 2, "errno is an int: {done}");
        assert_eq!(loads("load float"), float_loads, "{done}");
    }
}

/// Scopes are added to those that are there: they are of other domains, and LLVM
/// answers `NoAlias` where either says so.
#[test]
fn scopes_beside_scopes() {
    let stores = "store i32 1, ptr %p, !tbaa !10, !alias.scope !52
        store i32 2, ptr %p, !tbaa !10, !noalias !52
        store i32 3, ptr %p, !tbaa !13, !alias.scope !53, !noalias !{!51}
        store i64 4, ptr %p, !tbaa !12, !noalias !52
        store i64 5, ptr %p, !tbaa !12";
    let scopes = "!50 = distinct !{!50}\n!51 = distinct !{!51, !50}\n!52 = !{!51}\n!53 = !{}\n";
    let types = format!("{TYPES}{scopes}");
    let all = lower("scopes", &["--scopes"], stores, &types);
    // By their scopes, 1 is apart from 2, 3 and 4; by the rule, ints from doubles.
    let right = [["1", "2"], ["1", "3"], ["1", "4"], ["1", "5"], ["2", "4"], ["2", "5"]];
    let right = [&right[..], &[["3", "4"], ["3", "5"]]].concat();
    all.says(&right);
    assert!(all.attached("i32 1").contains("!alias.scope !"), "{}", all.text);
    let list = all.attached("i32 1").rsplit_once("!alias.scope ").unwrap().1;
    let list = list.split(',').next().unwrap();
    let defined = all.text.lines().find(|line| line.starts_with(&format!("{list} = "))).unwrap();
    assert!(defined.contains("!{!51, !"), "what was there stays: {defined}");
    lower("scopes-none", &[], stores, &types).says(&right);
    // Without tags the scopes say the same.
    if all.no_alias.is_some() {
        let file = scratch("scopes-alone.ll", &all.text);
        let found = no_alias(&file, "scoped-noalias-aa");
        assert_eq!(found, right.iter().map(|pair| pair.map(str::to_owned)).collect());
    }
}

/// Two open lineages give each shared place the same tag: nothing in the metadata
/// says whose it is.
#[test]
fn open_lineages_agree() {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs/ravi-declared.ron");
    let lowered = |lineage: &str, option: &[&str]| {
        let arguments = [&["lower", "--lineage", lineage], option].concat();
        run(env!("CARGO_BIN_EXE_tbaa"), &arguments, &spec).0
    };
    let open = lowered("a", &["--open"]);
    assert!(open.contains("CallInfo") && !open.contains("!\"a "), "{open}");
    assert_eq!(open, lowered("b", &["--open"]));
    // Memory that is one lineage's own has nodes of its own.
    let mixed = lowered("a", &["--open-struct", "GCObject"]);
    assert_ne!(mixed, lowered("b", &["--open-struct", "GCObject"]));
}
