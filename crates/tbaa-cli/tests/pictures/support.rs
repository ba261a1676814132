//! Running the command, and looking at markup.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The output of a command.
pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) text: String,
    pub(crate) errors: String,
}

/// Runs the command in the folder of inputs.
pub(crate) fn run(args: &[&str]) -> Output {
    stdin(args, b"")
}

/// The same with something on standard input.
pub(crate) fn stdin(args: &[&str], input: &[u8]) -> Output {
    feed(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs"), args, input)
}

/// Runs the command in any folder.
pub(crate) fn run_in(folder: &Path, args: &[&str]) -> Output {
    feed(folder, args, b"")
}

fn feed(folder: &Path, args: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tbaa"));
    command.args(args).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may leave its input alone.
    let _ = child.stdin.take().unwrap().write_all(input);
    let out = child.wait_with_output().unwrap();
    Output {
        code: out.status.code().unwrap(),
        text: String::from_utf8(out.stdout).unwrap(),
        errors: String::from_utf8_lossy(&out.stderr).into_owned(),
    }
}

/// The output of another program for a text; `None` if it is not installed.
pub(crate) fn filter(program: &str, args: &[&str], input: &[u8]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        eprintln!("{program} is not installed, and is not asked");
        return None;
    };
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || pipe.write_all(&input));
    let out = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && errors.is_empty(), "{program}: {errors}");
    Some(String::from_utf8(out.stdout).unwrap())
}

/// Sees to it that a text is well-formed XML without processing instructions
/// and the like: elements nest, attributes are quoted, and nothing else begins
/// with `<` or `&`.
#[track_caller]
pub(crate) fn assert_markup(text: &str) {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-:".contains(c))
    };
    let check = |text: &str| {
        for part in text.split('&').skip(1) {
            let (entity, _) = part.split_once(';').expect("an entity ends");
            assert!(["amp", "lt", "gt", "quot", "#39"].contains(&entity), "&{entity};");
        }
        let bad = |c: char| c < ' ' && c != '\n' || matches!(c, '\u{fffe}' | '\u{ffff}');
        assert!(!text.contains(bad), "{text:?}");
    };
    let (mut rest, mut open) = (text, Vec::new());
    while let Some((before, after)) = rest.split_once('<') {
        check(before);
        assert!(!open.is_empty() || before.trim().is_empty(), "{before:?} is in no element");
        let (tag, after) = after.split_once('>').expect("a tag ends");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "</{name}>");
            continue;
        }
        let (tag, closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(is_name(name), "<{tag}>");
        while !attributes.trim().is_empty() {
            let (key, value) = attributes.trim_start().split_once("=\"").expect("name=\"value\"");
            assert!(is_name(key), "{key:?} in <{tag}>");
            let (value, more) = value.split_once('"').expect("a value ends");
            check(value);
            attributes = more;
        }
        if !closed {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} are open");
}
