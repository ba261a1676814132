//! Records, in memory and perhaps in a file, with which sets of tagged accesses the fault shows.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::report::{Context, Failure, Result, bail};

/// The known answers. A set of access numbers is written as ranges: `0-1249,3000`.
#[derive(Default)]
pub(super) struct State {
    known: HashMap<String, bool>,
    /// `None` if the answers are only in memory.
    file: Option<File>,
}

impl State {
    /// Reads the answers of the search that has this `identity`. New answers are added to the file.
    pub(super) fn open(path: &Path, identity: &str) -> Result<State> {
        let file = path.display();
        let failed = |error: io::Error| Failure::unusable(format!("cannot use {file}: {error}"));
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        // An interrupted search may have left an incomplete last line, which is dropped.
        let whole = &text[..text.rfind('\n').map_or(0, |at| at + 1)];
        let header = format!("tbaa bisect 1 {identity}");
        if whole.is_empty() && !header.starts_with(&text) {
            bail!("{file} is not what `tbaa bisect` writes; name another file");
        }
        let mut known = HashMap::new();
        for (index, line) in whole.lines().enumerate() {
            let answer = match line.split_once(' ') {
                _ if index == 0 && line == header => continue,
                Some(("tbaa", _)) if index == 0 && line.starts_with("tbaa bisect ") => bail!(
                    "{file} is of a search in another module or with another command; delete it, \
                     or name another file"
                ),
                Some(("shows", set)) if index > 0 => (set, true),
                Some(("gone", set)) if index > 0 => (set, false),
                _ => bail!(
                    "line {} of {file} is not what `tbaa bisect` writes; name another file",
                    index + 1
                ),
            };
            known.insert(answer.0.to_owned(), answer.1);
        }
        let mut into = OpenOptions::new();
        let mut into = into.create(true).append(true).open(path).map_err(failed)?;
        into.set_len(whole.len() as u64).map_err(failed)?;
        if whole.is_empty() {
            writeln!(into, "{header}").map_err(failed)?;
        }
        Ok(State { known, file: Some(into) })
    }

    pub(super) fn get(&self, set: &[usize]) -> Option<bool> {
        self.known.get(&ranges(set)).copied()
    }

    pub(super) fn insert(&mut self, set: &[usize], shows: bool) -> Result {
        let set = ranges(set);
        if let Some(file) = &mut self.file {
            let word = if shows { "shows" } else { "gone" };
            writeln!(file, "{word} {set}").context("cannot write to the state file")?;
        }
        self.known.insert(set, shows);
        Ok(())
    }
}

fn ranges(set: &[usize]) -> String {
    let chunks = set.chunk_by(|a, b| a + 1 == *b).map(|chunk| match chunk {
        [one] => one.to_string(),
        chunk => format!("{}-{}", chunk[0], chunk[chunk.len() - 1]),
    });
    chunks.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::{State, ranges};

    /// A file that holds only the beginning of the header is written anew.
    #[test]
    fn another_file_is_not_overwritten() {
        let file = std::env::temp_dir().join(format!("tbaa-state-{}", std::process::id()));
        for (text, taken) in [("", true), ("tbaa bis", true), ("notes", false), ("a\nb", false)] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(State::open(&file, "x").is_ok(), taken, "{text:?}");
            let left = std::fs::read_to_string(&file).unwrap();
            assert_eq!(left, if taken { "tbaa bisect 1 x\n" } else { text });
        }
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn neighbours_are_one_range() {
        for (set, expected) in [(&[][..], ""), (&[7], "7"), (&[0, 1, 2, 4, 8, 9], "0-2,4,8-9")] {
            assert_eq!(ranges(set), expected);
        }
    }
}
