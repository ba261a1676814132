//! Outside the crates that read text, no code compares how an opcode or a type is spelled.

use std::fs;
use std::path::{Path, PathBuf};

/// Opcodes and types. Words such as `float` and `double` are left out: they are also names in tags.
const SPELLED: &str = "add addrspacecast alloca and ashr atomicrmw bitcast br call callbr cmpxchg fence freeze \
    getelementptr i1 i16 i32 i64 i8 icmp inttoptr invoke load lshr musttail or phi ptr ptrtoint \
    ret select sext shl store sub switch trunc unreachable va_arg void zext";

/// The crates that may compare spellings, because they read or write text.
const READERS: &[&str] = &["tbaa-ir", "tbaa-lex", "tbaa-types"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            files(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(entry);
        }
    }
}

/// Returns the lines of a source that have a word of [`SPELLED`] as a byte string, unless it is the
/// argument of a method `of` or `ty`.
fn literals(text: &str) -> Vec<String> {
    let is_spelled = |line: &&str| {
        let words =
            SPELLED.split(' ').flat_map(|part| [format!("b\"{part}\""), format!("b\" {part} \"")]);
        words.into_iter().any(|word| {
            line.match_indices(&word)
                .any(|(at, _)| !line[..at].ends_with(".of(") && !line[..at].ends_with(".ty("))
        })
    };
    text.lines().filter(is_spelled).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn no_rule_knows_text() {
    assert_eq!(literals("    b\"alloca\" => {\n    let size = sizes.of(b\"ptr\");").len(), 1);
    let mut found = Vec::new();
    for member in fs::read_dir(Path::new(tbaa_tests::ROOT).join("crates")).unwrap() {
        let member = member.unwrap().path();
        if READERS.iter().any(|it| member.ends_with(it)) {
            continue;
        }
        let mut sources = Vec::new();
        files(&member.join("src"), &mut sources);
        for source in sources {
            let text = fs::read_to_string(&source).unwrap();
            let lines = literals(&text).into_iter();
            found.extend(lines.map(|line| format!("{}: {line}", source.display())));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
