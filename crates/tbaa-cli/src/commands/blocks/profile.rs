//! Finds the accesses that run most often, by the counts in a module or by the samples of `perf`.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Serialize;
use tbaa_check::blocks::{Blocked, Judge, Judged, PerfScript, block_counts};
use tbaa_ir::DebugInfo;

use super::not_asked;
use crate::files::read_file;
use crate::output::{counted, percent};
use crate::printable::printable_path;
use crate::report::{Result, bail, note};

/// How often an access ran.
#[derive(Serialize)]
pub(super) struct Heat {
    /// The number of runs of the access, or of samples at its line.
    pub(super) count: u64,
    /// The number of samples of the program; `None` if `count` is a number of runs.
    of: Option<u64>,
    pub(super) words: String,
}

#[derive(Default)]
pub(super) struct Profile {
    /// The counts, by index into the module's instructions.
    counts: HashMap<usize, u64>,
    /// The number of samples of the program; `None` if `counts` are numbers of runs.
    samples: Option<u64>,
}

impl Profile {
    /// Reads the output of `perf script` or, without it, asks `opt` for the module's counts.
    pub(super) fn of(
        script: Option<&Path>,
        opt: &str,
        judge: &Judge<'_>,
        functions: &[Judged<'_>],
        debug: &DebugInfo<'_>,
    ) -> Result<Profile> {
        let Some(path) = script else { return Ok(Profile::by_block(opt, judge, functions)) };
        // An access has the samples at its line, except those in other functions that also contain
        // the line, by inlining.
        let mut start = [0; 8];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
        if read.is_ok() && start == *b"PERFILE2" {
            bail!(
                "{} is perf's own format: give what `perf script --no-demangle -F ip,sym,srcline` \
                 prints of it",
                printable_path(path)
            );
        }
        let (file, text) = read_file(path)?;
        let text = String::from_utf8_lossy(&text);
        let script = PerfScript::read(&text);
        if script.lines.is_empty() {
            bail!(
                "{file} has no samples with lines: give what `perf script --no-demangle -F \
                 ip,sym,srcline` prints of a program that is compiled with -g"
            );
        }
        let functions: Vec<&[u8]> = judge.module.functions().collect();
        let mut profile = Profile { samples: Some(script.samples), ..Profile::default() };
        let mut lines = Vec::new();
        let mut owners: HashMap<(&str, u32), HashSet<&[u8]>> = HashMap::new();
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
            let is_here = |symbol: &[u8]| symbol == function || !owners[&place].contains(symbol);
            let here = by_symbol.iter().filter(|(symbol, _)| is_here(symbol.as_bytes()));
            *profile.counts.entry(access).or_default() += here.map(|here| here.1).sum::<u64>();
        }
        Ok(profile)
    }

    /// Returns how often an access ran; `None` if the profile does not count it.
    pub(super) fn heat(&self, access: usize) -> Option<Heat> {
        let count = *self.counts.get(&access)?;
        let words = match (count, self.samples) {
            (0, None) => "never run".to_owned(),
            (_, None) => format!("run {}", counted(count, "time")),
            (0, Some(_)) => "no sample is at its line".to_owned(),
            (_, Some(of)) => format!("{} of all samples are at its line", percent(count, of)),
        };
        Some(Heat { count, of: self.samples, words })
    }

    /// Returns a key that sorts the hottest loads first.
    pub(super) fn coldness(&self, blocked: &Blocked) -> Reverse<u64> {
        let count = blocked.load.access().and_then(|access| self.counts.get(&access));
        Reverse(count.copied().unwrap_or_default())
    }

    /// Sorts the functions, and the loads in each: the hottest come first.
    pub(super) fn sort(&self, functions: &mut [Judged<'_>]) {
        for function in functions.iter_mut() {
            function.loads.sort_by_key(|load| self.coldness(load));
        }
        let hottest =
            |it: &Judged<'_>| it.loads.first().map_or(Reverse(0), |load| self.coldness(load));
        functions.sort_by_key(hottest);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Takes the counts of the blocks from LLVM, which computes them from `!prof`.
    fn by_block(opt: &str, judge: &Judge<'_>, functions: &[Judged<'_>]) -> Profile {
        let (mut profile, text) = (Profile::default(), judge.module.text());
        if memchr::memmem::find(text, b"!\"function_entry_count\"").is_none() {
            return profile;
        }
        let by_name = block_counts(opt, text).unwrap_or_else(|error| {
            note(format!("the profile in the module is not used: {}", not_asked(&error)));
            Default::default()
        });
        let names: Vec<&[u8]> = judge.module.functions().collect();
        for function in functions {
            let body = &function.body.function;
            let counts = by_name.get(names[function.index as usize]);
            let Some(counts) = counts.filter(|of| of.len() == body.parts.len()) else { continue };
            for (at, inst) in body.instructions.iter().enumerate() {
                let part = body.parts.partition_point(|&first| first <= at) - 1;
                profile.counts.extend(inst.access.zip(counts[part]));
            }
        }
        profile
    }
}
