//! Finds and reads the program's source files, if debug information tells where they are.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Component, Path, PathBuf};

use tbaa_ir::{DebugInfo, Location};

use crate::printable::printable;

/// A file of this size in bytes or more is not read, because it is no source file.
const MOST: u64 = 64 << 20;

pub(crate) struct Sources {
    /// The name that is printed for each file.
    short: HashMap<String, String>,
    /// The lines of the files read so far; `None` if a file cannot be read.
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
            // If different files have the same last part, print the compiler's whole names.
            let is_one = files.iter().all(|(path, _)| *path == files[0].0);
            for (_, file) in files {
                let name = if is_one { last.clone() } else { file.clone() };
                short.insert(file, printable(name));
            }
        }
        Sources { short, lines: RefCell::default() }
    }

    /// Returns the last part of a file's path if it is unique in the module, otherwise the path.
    pub(crate) fn name(&self, at: &Location) -> String {
        self.short.get(&at.file).cloned().unwrap_or_else(|| printable(&at.file))
    }

    pub(crate) fn place(&self, at: &Location) -> String {
        format!("{}:{}", self.name(at), at.line)
    }

    pub(crate) fn text(at: &Location) -> Option<Vec<u8>> {
        let is_file = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() < MOST)
        };
        let paths = [Path::new(&at.directory).join(&at.file), PathBuf::from(&at.file)];
        fs::read(paths.into_iter().find(is_file)?).ok()
    }

    /// Returns a line of a location's file, by its number from 1; `None` if there is none.
    pub(crate) fn line(&self, at: &Location, number: u32) -> Option<String> {
        let path = Path::new(&at.directory).join(&at.file);
        let mut all = self.lines.borrow_mut();
        let lines = all.entry(path).or_insert_with(|| Some(lines(&Sources::text(at)?)));
        lines.as_ref()?.get(number.checked_sub(1)? as usize).cloned()
    }
}

fn lines(text: &[u8]) -> Vec<String> {
    let line = |line: &[u8]| {
        let spaced = line.trim_ascii_end().split(|&byte| byte == b'\t');
        printable(spaced.collect::<Vec<_>>().join(&b"    "[..]))
    };
    text.split(|&byte| byte == b'\n').map(line).collect()
}

/// Returns a path without `.` and with each `a/..` removed.
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
