//! `tbaa report`: writes a self-contained HTML page.

mod answers;
mod data;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::convert::FlagsArg;
use crate::input::Input;
use crate::report::{Result, write_output};
use crate::svg::escape;

use data::{Data, Facts, TAGS};

/// The page, with a placeholder such as `{{data}}` for each part.
const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    include_str!("bytes.js"),
    "\n",
    include_str!("matrix.js"),
    "\n",
    include_str!("page.js")
);

/// The number of bytes that the data of a page should not exceed: see [`document`].
const SIZE: usize = 1_800_000;

/// Writes a page on modules or specs: types, aliasing, findings, repeated loads.
///
/// Repeated loads are those that LLVM cannot reuse because of a store or call. The page is one file
/// that needs no other. It aims below 2 MB: it has the most used tags, and says how many it omits.
#[derive(clap::Args)]
#[command(after_help = include_str!("../help/report.txt"))]
pub(crate) struct Report {
    /// .ll, .bc, C or C++ files, .ron specs, or `-`.
    #[arg(required_unless_present = "build")]
    input: Vec<PathBuf>,
    #[command(flatten)]
    flags: FlagsArg,
    /// List the hottest loads first, as `tbaa blocks --profile` does.
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Write to a file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Report, out: &mut dyn Write) -> Result {
    let inputs = args.flags.inputs(&args.input)?;
    let each = SIZE / inputs.len();
    let (mut documents, mut files) = (Vec::new(), Vec::new());
    for path in &inputs {
        let input = Input::open(args.flags.among(path, inputs.iter()))?;
        documents.push(document(&input, args.profile.as_deref(), each)?);
        files.push(input.file().to_owned());
    }
    let page = page(&files.join(", "), &documents);
    match &args.output {
        Some(path) => write_output(path, &inputs, page.as_bytes()),
        None => Ok(out.write_all(page.as_bytes())?),
    }
}

/// Returns the data as JSON. Halves the limits of [`Data::of`] until the JSON has at most `room`
/// bytes, or the limit of tags is at most 8.
fn document(input: &Input, profile: Option<&Path>, room: usize) -> Result<String> {
    let facts = Facts::of(input, profile)?;
    let mut halvings = 0;
    loop {
        let data = serde_json::to_string(&Data::of(input, &facts, halvings));
        // A `<` in a script could begin an HTML tag.
        let data = data.map_err(io::Error::from)?.replace('<', "\\u003c");
        if data.len() <= room || TAGS >> halvings <= 8 {
            return Ok(data);
        }
        halvings += 1;
    }
}

fn page(title: &str, documents: &[String]) -> String {
    let data = format!("[{}]", documents.join(","));
    // Insert the data last, because an input may contain the text of a placeholder.
    let page = PAGE.replace("{{style}}", STYLE).replace("{{script}}", SCRIPT);
    let (before, after) = page.split_once("{{data}}").unwrap_or((&page, ""));
    before.replace("{{title}}", &escape(title)) + &data + after
}

#[cfg(test)]
mod tests {
    use super::{PAGE, SCRIPT, STYLE, page};

    #[test]
    fn the_page_has_a_place_for_each_part() {
        for mark in ["{{title}}", "{{style}}", "{{script}}", "{{data}}"] {
            assert_eq!(PAGE.matches(mark).count(), 1, "{mark}");
            assert!(!SCRIPT.contains(mark) && !STYLE.contains(mark));
        }
        assert!(!SCRIPT.contains("</script") && !STYLE.contains("</style"));
        let page = page("a<b {{data}}", &["{\"x\":\"{{script}}\"}".to_owned()]);
        assert!(page.contains("a&lt;b ") && page.contains("[{\"x\":\"{{script}}\"}]"));
    }
}
