//! Tests `tbaa masks`: tables of bit masks for Rust and C. Their assertions compile only if the
//! masks give the alias rule's answers.

mod tools;

use std::fs;
use std::path::Path;
use std::process::Command;

use tbaa::spec::Spec;
use tbaa::{AliasRule, Oracle};

const RULES: [&str; 3] = ["llvm", "union", "union-strict"];
/// Compilers do not warn about unused constants in headers. Here, the tables are source files.
const UNUSED: &str = "-Wno-unused-const-variable";

const SPECS: &str = "../../specs";

fn table(spec: &Path, args: &[&str]) -> String {
    tools::printed(tools::tbaa(&["masks"]).arg(spec).args(args))
}

/// Compiles Rust tables as modules of one library, or C tables as files. Returns the messages.
fn compile(lang: &str, folder: &Path, tables: &[String]) -> String {
    let (mut library, mut command) = (String::new(), Command::new("rustc"));
    if lang == "c" {
        command = Command::new("cc");
        command.args(["-std=c11", "-Wall", "-Wextra", "-pedantic", "-fsyntax-only", UNUSED]);
    }
    for (at, text) in tables.iter().enumerate() {
        let file = folder.join(format!("t{at}.{lang}"));
        fs::write(&file, text).unwrap();
        library += &format!("#[allow(dead_code)] mod t{at};\n");
        command.args((lang == "c").then_some(file));
    }
    if lang == "rs" {
        fs::write(folder.join("lib.rs"), format!("#![no_std]\n{library}")).unwrap();
        command.args(["--crate-type=lib", "--emit=metadata", "--edition=2021", "lib.rs"]);
    }
    let output = command.current_dir(folder).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.success(), !said.contains("error"), "{said}");
    said
}

#[test]
fn the_table_of_every_spec_compiles_as_rust_and_c() {
    let Some(()) = tools::find(&["cc", "rustc"]) else { return };
    let folder = tools::emptied("masks/every");
    let specs = tools::files(SPECS, &["ron"]);
    for lang in ["rs", "c"] {
        let mut tables = Vec::new();
        for (spec, rule) in specs.iter().flat_map(|spec| RULES.map(|rule| (spec, rule))) {
            let name = if lang == "rs" { "rust" } else { "c" };
            let args = ["--lang", name, "--rules", rule, "--bits"];
            tables.extend(["64", "5"].map(|bits| table(spec, &[&args[..], &[bits]].concat())));
        }
        assert!(tables.len() > 70);
        if lang == "c" {
            let ravi = tools::path(SPECS).join("ravi.ron");
            tables.push(table(&ravi, &["--lang", "c", "--prefix", "lua"]) + CALLS);
        }
        assert_eq!(compile(lang, &folder, &tables), "");
    }
    let calls = format!("cc {UNUSED} t{}.c && ./a.out", specs.len() * 6);
    tools::printed(tools::shell(&calls).current_dir(&folder));
}

/// A C program about a call that reads an `int` and writes a `TValue.tt`. It returns 0 if correct.
const CALLS: &str = "int main(void) {
  lua_effect call = lua_union(lua_load(LUA_INT), lua_store(LUA_TVALUE_TT)), all = lua_unknown();
  lua_effect n = lua_load(LUA_TVALUE_N), tt = lua_load(LUA_SHORT);
  return lua_conflict(call, n) || !lua_conflict(call, tt) || !lua_conflict(all, call)
      || lua_conflict(call, lua_load(LUA_INT)) || !lua_conflict(call, lua_store(LUA_INT))
      || lua_conflict(lua_none(), all) || !lua_may_alias(LUA_SHORT, LUA_TVALUE_TT);
}
";

#[test]
fn a_wrong_mask_does_not_compile() {
    let Some(()) = tools::find(&["cc", "rustc"]) else { return };
    let folder = tools::emptied("masks/wrong");
    let spec = tools::path(SPECS).join("ravi.ron");
    let built = Spec::load(&fs::read_to_string(&spec).unwrap()).unwrap();
    let oracle = Oracle::new(built.graph(), AliasRule::Union);
    let tags: Vec<_> = built.tags().values().copied().collect();
    for (lang, name, mark) in [("rs", "rust", "Mask = Mask("), ("c", "c", " UINT64_C(")] {
        let whole = table(&spec, &["--lang", name, "--rules", "union"]);
        let start = whole.find("/// \"").unwrap_or_else(|| whole.find("// \"").unwrap());
        let places = whole[start..].match_indices(mark).map(|found| start + found.0);
        let places: Vec<usize> = places.collect();
        assert_eq!(places.len(), tags.len());
        let (mut tables, mut expected) = (vec![whole.clone()], vec![false]);
        for (&place, &tag) in places.iter().zip(&tags) {
            let (before, after) = whole.split_at(place + mark.len());
            let rest = &after[after.find(')').unwrap()..];
            let apart = tags.iter().any(|&other| !oracle.may_alias(tag, other));
            let masks = ["0x0", "0xffffffffffffffff"];
            tables.extend(masks.map(|mask| format!("{before}{mask}{rest}")));
            expected.extend([true, apart]);
        }
        let said = compile(lang, &folder, &tables);
        let refused: Vec<_> =
            (0..tables.len()).map(|at| said.contains(&format!("t{at}.{lang}:"))).collect();
        assert_eq!(refused, expected, "{said}");
    }
}
