//! Helpers that run the command `tbaa` and check markup.

use std::path::Path;
use std::process::Command;

use crate::tools;

pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) text: String,
    pub(crate) errors: String,
}

/// Runs `tbaa` in `tests/inputs`.
pub(crate) fn run(args: &[&str]) -> Output {
    stdin(args, b"")
}

/// Runs `tbaa` in `tests/inputs`, with `input` as standard input.
pub(crate) fn stdin(args: &[&str], input: &[u8]) -> Output {
    run_in(&tools::path("tests/inputs"), args, input)
}

pub(crate) fn run_in(folder: &Path, args: &[&str], input: &[u8]) -> Output {
    let out = tools::fed(tools::tbaa(args).current_dir(folder), input);
    Output {
        code: out.status.code().unwrap(),
        text: String::from_utf8(out.stdout).unwrap(),
        errors: String::from_utf8_lossy(&out.stderr).into_owned(),
    }
}

/// Returns a program's output for `input`; `None` if the program is not installed.
pub(crate) fn filter(program: &str, args: &[&str], input: &[u8]) -> Option<String> {
    if Command::new(program).arg("-V").output().is_err() {
        eprintln!("{program} is not installed, and is not asked");
        return None;
    }
    let out = tools::fed(Command::new(program).args(args), input);
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && errors.is_empty(), "{program}: {errors}");
    Some(String::from_utf8(out.stdout).unwrap())
}

/// Checks for well-formed XML without declarations, comments and processing instructions.
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
