//! The program's own files, as far as debug information tells where they are.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Component, Path, PathBuf};

use tbaa_ir::{DebugInfo, Location};

use crate::printable::printable;

/// Bytes of a source file that are read; a longer one is no source.
const MOST: u64 = 64 << 20;

pub(crate) struct Sources {
    /// Each file's name in a line of output.
    short: HashMap<String, String>,
    /// The lines of the files that were asked for; `None` of one that cannot be read.
    lines: RefCell<BTreeMap<PathBuf, Option<Vec<String>>>>,
}

impl Sources {
    pub(crate) fn of(debug: &DebugInfo<'_>) -> Sources {
        let mut by_last: HashMap<String, Vec<(PathBuf, String)>> = HashMap::new();
        for file in debug.files() {
            let path = normal(Path::new(&file));
            let last = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            by_last.entry(last).or_default().push((path, file));
        }
        let mut short = HashMap::new();
        for (last, files) in by_last {
            // Two files of one name go by all that the compiler was given.
            let is_one = files.iter().all(|(path, _)| *path == files[0].0);
            for (_, file) in files {
                let name = if is_one { last.clone() } else { file.clone() };
                short.insert(file, printable(name));
            }
        }
        Sources { short, lines: RefCell::default() }
    }

    /// The last part of a file's name, where no other file of the module has it.
    pub(crate) fn name(&self, at: &Location) -> String {
        self.short.get(&at.file).cloned().unwrap_or_else(|| printable(&at.file))
    }

    /// `f.c:14`.
    pub(crate) fn place(&self, at: &Location) -> String {
        format!("{}:{}", self.name(at), at.line)
    }

    /// The text of a place's file, with the name that the compiler was given; `None` if it cannot be read.
    pub(crate) fn text(at: &Location) -> Option<Vec<u8>> {
        let is_file = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() < MOST)
        };
        let paths = [Path::new(&at.directory).join(&at.file), PathBuf::from(&at.file)];
        fs::read(paths.into_iter().find(is_file)?).ok()
    }

    /// A line of a place's file, by its number from 1. `None` if the file cannot be read, or has no such line.
    pub(crate) fn line(&self, at: &Location, number: u32) -> Option<String> {
        let path = Path::new(&at.directory).join(&at.file);
        let mut all = self.lines.borrow_mut();
        let lines = all.entry(path).or_insert_with(|| Some(lines(&Sources::text(at)?)));
        lines.as_ref()?.get(number.checked_sub(1)? as usize).cloned()
    }
}

/// The lines of a text, fit to be printed.
fn lines(text: &[u8]) -> Vec<String> {
    let line = |line: &[u8]| {
        let spaced = line.trim_ascii_end().split(|&byte| byte == b'\t');
        printable(spaced.collect::<Vec<_>>().join(&b"    "[..]))
    };
    text.split(|&byte| byte == b'\n').map(line).collect()
}

/// A path without `.` and with `a/..` taken away.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if normal.file_name().is_some() => {
                normal.pop();
            }
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}
