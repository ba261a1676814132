//! Reads the samples of a program by source line, as `perf script` prints them.

use std::collections::HashMap;
use std::path::Path;

use tbaa_ir::Location;

/// A source line: the file's path as perf prints it, and the line number.
pub type PerfLine<'s> = (&'s str, u32);

/// The number of samples in each symbol.
pub type BySymbol<'s> = HashMap<&'s str, u64>;

/// The output of `perf script` with `-F ip,sym,srcline`, or with `srcline` and the default fields.
pub struct PerfScript<'s> {
    /// The number of samples.
    pub samples: u64,
    /// The samples of each source line. The key is the last component of the file's path, and the
    /// line number. Several files may match; the inner key is the path as perf prints it.
    pub lines: HashMap<(String, u32), HashMap<&'s str, BySymbol<'s>>>,
}

impl<'s> PerfScript<'s> {
    /// Reads the output.
    ///
    /// Each sample has a line with an address and a symbol. The line after it is the source line,
    /// if perf knows the source. With a call chain, each address line of the chain begins with a
    /// tab. Then only the chain's first address counts: it is where the program was.
    pub fn read(text: &'s str) -> PerfScript<'s> {
        let mut script = PerfScript { samples: 0, lines: HashMap::new() };
        let mut sample = None;
        let mut is_in_chain = false;
        for line in text.lines() {
            if let Some((file, number)) = place(line) {
                if let Some(symbol) = sample.take() {
                    let last = file.rsplit('/').next().unwrap_or(file);
                    let files = script.lines.entry((last.to_owned(), number)).or_default();
                    *files.entry(file).or_default().entry(symbol).or_default() += 1;
                }
                continue;
            }
            let is_caller = is_in_chain && line.starts_with('\t');
            // A chain ends with an empty line, or with the first line of the next sample.
            is_in_chain = line.starts_with('\t') || is_in_chain && line.starts_with("  ");
            sample = symbol(line).filter(|_| !is_caller);
            script.samples += u64::from(sample.is_some());
        }
        script
    }

    /// Returns the lines that may be `at`: their path ends with the path of `at`, or the reverse.
    pub fn at<'a>(&'a self, at: &Location) -> Vec<(PerfLine<'s>, &'a BySymbol<'s>)> {
        let path = Path::new(&at.file);
        let last = at.file.rsplit('/').next().unwrap_or_default();
        let files = self.lines.get(&(last.to_owned(), at.line)).into_iter().flatten();
        let is = |file: &str| path.ends_with(file) || Path::new(file).ends_with(path);
        let files = files.filter(|(file, _)| is(file));
        files.map(|(&file, by_symbol)| ((file, at.line), by_symbol)).collect()
    }
}

/// Parses `f.c:12` after two spaces. Perf may append ` (discriminator 2)`.
fn place(line: &str) -> Option<(&str, u32)> {
    let line = line.strip_prefix("  ")?;
    let end = line.find(" (discriminator").unwrap_or(line.len());
    let (file, number) = line[..end].trim().rsplit_once(':')?;
    Some((file, number.parse().ok()?))
}

/// Returns the symbol in `5586df7fe164 fill` and in `hot 3720 601.2: 250000 cpu-clock: 5586df7fe164
/// fill+0x14 (/tmp/hot)`.
fn symbol(line: &str) -> Option<&str> {
    let (_, rest) = line.rsplit_once(": ").unwrap_or(("", line));
    let (address, rest) = rest.trim().split_once(' ')?;
    u64::from_str_radix(address, 16).ok()?;
    let end = [" (/", " ([", " (inlined)", "+0x"].iter().filter_map(|mark| rest.rfind(mark)).min();
    let symbol = rest[..end.unwrap_or(rest.len())].trim();
    (!symbol.ends_with(':')).then_some(symbol)
}
