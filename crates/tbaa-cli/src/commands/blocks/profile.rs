//! Which accesses a run of the program came to most: by the counts that clang puts into a module,
//! or by the samples of `perf`.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Serialize;
use tbaa_check::blocks::{Blocked, Judge, Judged};
use tbaa_ir::{DebugInfo, Location};

use super::prove::block_counts;
use crate::files::read_file;
use crate::output::{counted, percent};
use crate::printable::printable_path;
use crate::report::{Failure, note};

/// How hot an access is.
#[derive(Serialize)]
pub(super) struct Heat {
    /// How often it was run, or how many samples its line has.
    pub(super) count: u64,
    /// All samples of the program; none where `count` is of runs.
    of: Option<u64>,
    pub(super) words: String,
}

/// How hot the accesses of a module are.
#[derive(Default)]
pub(super) struct Profile {
    /// By index into the module's instructions.
    counts: HashMap<usize, u64>,
    /// All samples of the program; none where `counts` are of runs.
    samples: Option<u64>,
}

impl Profile {
    /// Reads what `perf script` wrote, or else asks `opt` about the counts that the module has.
    pub(super) fn of(
        (script, opt): (Option<&Path>, Option<&str>),
        judge: &Judge<'_>,
        functions: &[Judged<'_>],
        debug: &DebugInfo<'_>,
    ) -> Result<Profile, Failure> {
        match script {
            Some(path) => Profile::by_line(path, judge, debug),
            None => Ok(Profile::by_block(opt, judge, functions)),
        }
    }

    /// How hot an access is; `None` where no profile tells.
    pub(super) fn heat(&self, access: usize) -> Option<Heat> {
        let count = *self.counts.get(&access)?;
        let words = match (count, self.samples) {
            (0, None) => "never run".to_owned(),
            (_, None) => format!("run {}", counted(count, "time", "times")),
            (0, Some(_)) => "no sample is at its line".to_owned(),
            (_, Some(of)) => format!("{} of all samples are at its line", percent(count, of)),
        };
        Some(Heat { count, of: self.samples, words })
    }

    /// A key that puts what is hottest first.
    pub(super) fn coldness(&self, blocked: &Blocked) -> Reverse<u64> {
        let count = blocked.load.access().and_then(|it| self.counts.get(&it));
        Reverse(count.copied().unwrap_or_default())
    }

    /// Puts the hottest functions first, and in each the hottest loads. Without a profile all
    /// stay in the order of the text.
    pub(super) fn sort(&self, functions: &mut [Judged<'_>]) {
        for function in functions.iter_mut() {
            function.loads.sort_by_key(|it| self.coldness(it));
        }
        let hottest = |it: &Judged<'_>| it.loads.first().map_or(Reverse(0), |it| self.coldness(it));
        functions.sort_by_key(hottest);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// LLVM derives how often a block is run from the counts and weights of `!prof`.
    fn by_block(opt: Option<&str>, judge: &Judge<'_>, functions: &[Judged<'_>]) -> Profile {
        let mut profile = Profile::default();
        if memchr::memmem::find(judge.module.text(), b"!\"function_entry_count\"").is_none() {
            return profile;
        }
        let printed = match block_counts(opt, judge.module.text()) {
            Ok(printed) => printed,
            Err(why) => {
                note(format!("the profile in the module is not used: {why}"));
                return profile;
            }
        };
        let by_name = counts_by_name(&printed);
        let names: Vec<&[u8]> = judge.module.functions().collect();
        for function in functions {
            let body = &function.body.function;
            let counts = by_name.get(names[function.index as usize]);
            let Some(counts) = counts.filter(|it| it.len() == body.parts.len()) else { continue };
            for (at, inst) in body.instructions.iter().enumerate() {
                let part = body.parts.partition_point(|&first| first <= at) - 1;
                profile.counts.extend(inst.access.zip(counts[part]));
            }
        }
        profile
    }

    /// An access is as hot as its line. A line that several functions of the module have, for one
    /// is inlined into the other, is as hot in each as the samples in that function.
    fn by_line(path: &Path, judge: &Judge<'_>, debug: &DebugInfo<'_>) -> Result<Profile, Failure> {
        if is_perf_data(path) {
            return Err(Failure::unusable(format!(
                "{} is perf's own format: give what `perf script --no-demangle -F ip,sym,srcline` \
                 prints of it",
                printable_path(path)
            )));
        }
        let (file, text) = read_file(path)?;
        let text = String::from_utf8_lossy(&text);
        let script = Script::read(&text);
        if script.lines.is_empty() {
            return Err(Failure::unusable(format!(
                "{file} has no samples with lines: give what `perf script --no-demangle -F \
                 ip,sym,srcline` prints of a program that is compiled with -g"
            )));
        }
        let functions: Vec<&[u8]> = judge.module.functions().collect();
        let mut profile = Profile { samples: Some(script.samples), ..Profile::default() };
        let mut lines = Vec::new();
        let mut owners: HashMap<Place<'_>, HashSet<&[u8]>> = HashMap::new();
        for (access, instruction) in judge.module.instructions().iter().enumerate() {
            let Some(at) = debug.location_near(instruction.offset as usize) else { continue };
            let function = functions[instruction.function as usize];
            profile.counts.insert(access, 0);
            for (place, by_symbol) in script.at(&at) {
                owners.entry(place).or_default().insert(function);
                lines.push((access, function, place, by_symbol));
            }
        }
        if lines.is_empty() {
            note(format!(
                "none of the {} samples of {file} is at a line of this module: compile it with -g, \
                 from the sources of the program that perf ran",
                script.samples
            ));
            return Ok(Profile::default());
        }
        for (access, function, place, by_symbol) in lines {
            let is_elsewhere =
                |it: &str| it.as_bytes() != function && owners[&place].contains(it.as_bytes());
            let here = by_symbol.iter().filter(|(symbol, _)| !is_elsewhere(symbol));
            *profile.counts.entry(access).or_default() += here.map(|it| it.1).sum::<u64>();
        }
        Ok(profile)
    }
}

/// What LLVM's `print<block-freq>` says of each function: the counts of its blocks, in their
/// order, `None` where it knows none.
fn counts_by_name(printed: &[u8]) -> HashMap<&[u8], Vec<Option<u64>>> {
    let mut by_name: HashMap<&[u8], Vec<Option<u64>>> = HashMap::new();
    let mut blocks = None;
    for line in printed.split(|&byte| byte == b'\n') {
        if let Some(name) = line.strip_prefix(b"block-frequency-info: ") {
            blocks = Some(by_name.entry(name).or_default());
        } else if let Some(blocks) = blocks.as_mut().filter(|_| line.starts_with(b" - ")) {
            let count = memchr::memmem::rfind(line, b", count = ").map(|at| &line[at + 10..]);
            blocks.push(count.and_then(|it| str::from_utf8(it).ok()?.parse().ok()));
        }
    }
    by_name
}

/// Whether a file is what `perf record` writes.
fn is_perf_data(path: &Path) -> bool {
    let mut start = [0; 8];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == *b"PERFILE2"
}

/// A line, with its file as perf names it.
type Place<'s> = (&'s str, u32);

/// Samples by the symbol that they are in.
type BySymbol<'s> = HashMap<&'s str, u64>;

/// What `perf script` prints with `-F ip,sym,srcline`, or with its own fields and `srcline`.
struct Script<'s> {
    samples: u64,
    /// By the last part of a file's name and the number: all that perf calls the file, each with
    /// how many samples are in which symbol.
    lines: HashMap<(String, u32), HashMap<&'s str, BySymbol<'s>>>,
}

impl<'s> Script<'s> {
    /// A sample begins with a line that ends with an address and a symbol. Its place in the source
    /// is the next line, if perf knows it. With a call chain each line of the chain begins with a
    /// tab, and the first of them is where the program was.
    fn read(text: &'s str) -> Script<'s> {
        let mut script = Script { samples: 0, lines: HashMap::new() };
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

    /// The lines of the script that may be a place: perf prints the last part of a file's name
    /// unless it is asked for all of it.
    fn at<'a>(&'a self, at: &Location) -> Vec<(Place<'s>, &'a BySymbol<'s>)> {
        let path = Path::new(&at.file);
        let last = at.file.rsplit('/').next().unwrap_or_default();
        let files = self.lines.get(&(last.to_owned(), at.line)).into_iter().flatten();
        let is = |file: &str| path.ends_with(file) || Path::new(file).ends_with(path);
        let files = files.filter(|(file, _)| is(file));
        files.map(|(&file, by_symbol)| ((file, at.line), by_symbol)).collect()
    }
}

/// `f.c:12`, after which perf may write ` (discriminator 2)`.
fn place(line: &str) -> Option<(&str, u32)> {
    let line = line.strip_prefix("  ")?;
    let end = line.find(" (discriminator").unwrap_or(line.len());
    let (file, number) = line[..end].trim().rsplit_once(':')?;
    Some((file, number.parse().ok()?))
}

/// The symbol in `5586df7fe164 fill` and in `hot 3720 601.2: 250000 cpu-clock: 5586df7fe164
/// fill+0x14 (/tmp/hot)`.
fn symbol(line: &str) -> Option<&str> {
    let (_, rest) = line.rsplit_once(": ").unwrap_or(("", line));
    let (address, rest) = rest.trim().split_once(' ')?;
    u64::from_str_radix(address, 16).ok()?;
    let end = [" (", "+0x"].iter().filter_map(|it| rest.rfind(it)).min();
    let symbol = rest[..end.unwrap_or(rest.len())].trim();
    (!symbol.ends_with(':')).then_some(symbol)
}
