//! Output that commands share: JSON, counts, limits, and a loop over several inputs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;

use crate::printable::is_hidden;
use crate::report::{Failure, Result, bail};

/// The output of a command that has no other formats.
#[derive(Clone, Copy, ValueEnum, Default)]
pub(crate) enum TextOrJson {
    #[default]
    Text,
    Json,
}

/// A comment before metadata whose numbers are not the input's.
pub(crate) const NEW_NUMBERS: &str =
    "; these nodes have new numbers, which are not those of the input";

/// Writes a document of `--format json`, and ends its line.
pub(crate) fn write_json(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write_json_text(&serde_json::to_string(document)?, out)?;
    writeln!(out)
}

/// Writes JSON. Keeps line feeds, and escapes other hidden characters, which are all in strings.
pub(crate) fn write_json_text(json: &str, out: &mut dyn Write) -> io::Result<()> {
    let must_be_escaped = |c| c != '\n' && is_hidden(c);
    for part in json.split_inclusive(must_be_escaped) {
        let plain = part.trim_end_matches(must_be_escaped);
        out.write_all(plain.as_bytes())?;
        for unit in part[plain.len()..].encode_utf16() {
            write!(out, "\\u{unit:04x}")?;
        }
    }
    Ok(())
}

/// Calls `work` for each input. Reports each failure but the last, which it returns. Stops if
/// output fails.
pub(crate) fn for_each_input(
    inputs: &[PathBuf],
    mut work: impl FnMut(&Path) -> Result,
) -> Result<Option<Failure>> {
    let mut unusable = None::<Failure>;
    for path in inputs {
        match work(path) {
            Ok(()) => {}
            Err(Failure::Output(error)) => return Err(Failure::Output(error)),
            Err(failure) => unusable.replace(failure).iter().for_each(Failure::report),
        }
    }
    Ok(unusable)
}

/// The number of answers that are held and printed.
#[derive(clap::Args)]
pub(crate) struct AnswersLimit {
    /// The most answers of one matrix, one for each pair of its tags.
    #[arg(long, alias = "limit", value_name = "COUNT", default_value_t = 1 << 28)]
    max_answers: u64,
}

impl AnswersLimit {
    /// Fails if the square of the number `tags` exceeds the limit. The message names `what`.
    pub(crate) fn check(&self, tags: usize, what: &str) -> Result {
        let answers = (tags as u64).saturating_mul(tags as u64);
        let most = self.max_answers;
        if answers > most {
            bail!(
                "the {tags} tags of {what} have {answers} answers, above the limit of {most}: raise it by \
                 --max-answers, or ask about two tags by `tbaa explain`"
            );
        }
        Ok(())
    }
}

/// Joins at most `most` names, and says how many more there are: `a, b and 3 more`.
pub(crate) fn listed(
    names: impl ExactSizeIterator<Item = String>,
    most: usize,
    separator: &str,
    last: &str,
) -> String {
    let more = names.len().saturating_sub(most);
    let shown = names.take(most).collect::<Vec<_>>().join(separator);
    if more == 0 { shown } else { format!("{shown}{last}{more} more") }
}

pub(crate) fn letter(may_alias: bool) -> u8 {
    if may_alias { b'M' } else { b'N' }
}

/// Returns a count and a noun: `1 pair`, `2 pairs`, `2 accesses`.
pub(crate) fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let plural = match count {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{count} {noun}{plural}")
}

/// Returns a percentage such as `12.5 %`, or `-` if `whole` is 0.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1} %", part as f64 * 100.0 / whole as f64) }
}
