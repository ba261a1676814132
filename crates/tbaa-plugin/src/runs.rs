//! Runs of LLVM's passes with some answers of its analysis by types left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::toolchain::{Error, SOURCE, Toolchain, shown_command};

/// The alias analyses, LLVM's default ones, with the watched one in the place of
/// LLVM's analysis by types, and last: it is asked only what all others leave open.
const LAST: &str = "basic-aa,scoped-noalias-aa,globals-aa,tbaa-worth";

/// The same with the watched one first: it is asked everything.
const FIRST: &str = "tbaa-worth,basic-aa,scoped-noalias-aa,globals-aa";

/// Two tags by their names, in the order of their bytes, or one and nothing: what an
/// immutable tag says alone.
///
/// A tag's name is `base+offset:access`, with the names of its type nodes.
pub type Pair = (String, String);

/// The answers that LLVM may get: for each function that is named, these pairs and no
/// others; for all others all, or none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Allowed {
    /// Functions of which only these answers are given.
    pub only: BTreeMap<String, BTreeSet<Pair>>,
    /// True if the other functions get no answers.
    pub none: bool,
}

impl Allowed {
    /// The file that the plugin reads.
    fn text(&self) -> String {
        let mut text = if self.none { "*\n".to_owned() } else { String::new() };
        for (function, pairs) in &self.only {
            let _ = writeln!(text, "{function}");
            for (a, b) in pairs {
                let _ = writeln!(text, "{function}\t{a}\t{b}");
            }
        }
        text
    }
}

/// The cost of a function's code after the passes.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
pub struct Code {
    /// The function's name.
    #[serde(rename = "measured")]
    pub function: String,
    /// The functions that are inlined in it, by debug information; `None` without.
    pub inlined: Option<BTreeSet<String>>,
    /// A hash of its instructions, without names and metadata.
    pub code: String,
    /// Instructions, debug information left out.
    pub instructions: i64,
    /// Loads.
    pub loads: i64,
    /// Stores.
    pub stores: i64,
    /// Loops that load or store vectors.
    #[serde(rename = "vector loops")]
    pub vector_loops: i64,
    /// LLVM's throughput cost of each instruction, times how often LLVM expects its
    /// block to run in one call.
    pub cost: f64,
    /// Loads of each line, as `file:line`; those without a line under an empty name.
    pub lines: BTreeMap<String, i64>,
}

/// One question that LLVM asked, with the answer.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, Serialize)]
pub struct Question {
    /// The function whose analysis was asked.
    pub function: String,
    /// The pass that asked.
    pub pass: String,
    /// The first tag's name.
    pub a: String,
    /// The second tag's name, or nothing.
    pub b: String,
    /// `MayAlias`, `NoAlias`, `constant`, or `denied`.
    pub answer: String,
    /// The number of times.
    pub count: u64,
}

impl Question {
    /// Returns whether types decided it.
    pub fn is_decided(&self) -> bool {
        self.answer == "NoAlias" || self.answer == "constant"
    }
}

/// Runs of one pipeline of passes on one module, each kept in a folder.
#[derive(Debug)]
pub struct Runs<'t> {
    tools: &'t Toolchain,
    folder: PathBuf,
    input: PathBuf,
    passes: String,
    /// The number of times that `opt` was run by this object.
    pub made: usize,
}

impl<'t> Runs<'t> {
    /// Prepares to run these passes, such as `default<O2>`, on a module's text, with
    /// what is kept below `folder`.
    ///
    /// # Errors
    ///
    /// The folder cannot be made.
    pub fn new(
        tools: &'t Toolchain,
        folder: &Path,
        text: &[u8],
        passes: &str,
    ) -> Result<Self, Error> {
        // Another plugin may have found something else.
        let name = format!("{:016x}", hash((text, passes, &tools.plugin, SOURCE)));
        let folder = folder.join(name);
        fs::create_dir_all(&folder).map_err(|error| Error::File(folder.clone(), error))?;
        let input = folder.join("input.ll");
        if fs::read(&input).ok().is_none_or(|there| there != text) {
            // Another text of the same hash: what it left is of no use.
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let _ = fs::remove_file(entry.path());
            }
            fs::write(&input, text).map_err(|error| Error::File(input.clone(), error))?;
        }
        Ok(Runs { tools, folder, input, passes: passes.to_owned(), made: 0 })
    }

    /// The code that LLVM makes with these answers, by function.
    ///
    /// # Errors
    ///
    /// `opt` fails, or its output cannot be read.
    pub fn code(&mut self, allowed: &Allowed) -> Result<BTreeMap<String, Code>, Error> {
        let lines: Vec<Code> = self.run(allowed, LAST, "TBAA_WORTH_CODE", "code")?;
        Ok(lines.into_iter().map(|code| (code.function.clone(), code)).collect())
    }

    /// Returns the questions that LLVM asks its analysis by types when no other has an answer, all answers given.
    ///
    /// # Errors
    ///
    /// `opt` fails, or its output cannot be read.
    pub fn questions(&mut self) -> Result<Vec<Question>, Error> {
        self.run(&Allowed::default(), LAST, "TBAA_WORTH_ASKED", "asked")
    }

    /// Returns the questions that LLVM asks its analysis by types when that comes before all others.
    ///
    /// # Errors
    ///
    /// `opt` fails, or its output cannot be read.
    pub fn all_questions(&mut self) -> Result<Vec<Question>, Error> {
        self.run(&Allowed::default(), FIRST, "TBAA_WORTH_ASKED", "first")
    }

    /// The pairs of tags that LLVM asks about, merged ones too, as LLVM's text: the
    /// named metadata `tbaa.asked` lists, for each, the two tags, the answer of LLVM,
    /// and how often it was asked.
    ///
    /// # Errors
    ///
    /// `opt` fails, or its output cannot be read.
    pub fn tags(&mut self) -> Result<Vec<u8>, Error> {
        let result = self.kept(&Allowed::default(), LAST, "TBAA_ASKED", "tags")?;
        fs::read(&result).map_err(|error| Error::File(result, error))
    }

    /// Runs the passes as `opt` alone does, and keeps nothing: for its time.
    ///
    /// # Errors
    ///
    /// `opt` fails.
    pub fn with_types(&self) -> Result<(), Error> {
        self.plain("-enable-tbaa=true")
    }

    /// Runs the passes as `opt` alone does without its analysis by types, and keeps nothing: for
    /// its time.
    ///
    /// # Errors
    ///
    /// `opt` fails.
    pub fn without_types(&self) -> Result<(), Error> {
        self.plain("-enable-tbaa=false")
    }

    fn plain(&self, flag: &str) -> Result<(), Error> {
        let mut command = Command::new(&self.tools.opt);
        command.arg(format!("-passes={}", self.passes)).arg(flag);
        command.arg("-disable-output").arg(&self.input);
        finish(&mut command)
    }

    fn run<T: for<'a> Deserialize<'a>>(
        &mut self,
        allowed: &Allowed,
        analyses: &str,
        variable: &str,
        kind: &str,
    ) -> Result<Vec<T>, Error> {
        let result = self.kept(allowed, analyses, variable, kind)?;
        let lines = match fs::read_to_string(&result) {
            Ok(lines) => lines,
            Err(error) => return Err(Error::File(result, error)),
        };
        let parsed = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>();
        parsed.map_err(|error| Error::File(result, error.into()))
    }

    /// The file that a run writes, made anew if it is not there.
    fn kept(
        &mut self,
        allowed: &Allowed,
        analyses: &str,
        variable: &str,
        kind: &str,
    ) -> Result<PathBuf, Error> {
        let text = allowed.text();
        let name = format!("{kind}-{:016x}", hash(&text));
        let [allow, result] = ["allow", "json"].map(|it| self.folder.join(format!("{name}.{it}")));
        let of = |path: &Path| {
            let path = path.to_owned();
            move |error| Error::File(path, error)
        };
        // The list is written last: with it the result is known to be whole.
        let kept = fs::read(&allow).is_ok_and(|kept| kept == text.as_bytes());
        if !kept {
            let own = self.folder.join(format!("{name}.{}", std::process::id()));
            fs::write(&own, &text).map_err(of(&own))?;
            let ended = self.opt(&own, analyses, variable, &result);
            ended.and_then(|()| fs::rename(&own, &allow).map_err(of(&allow)))?;
        }
        Ok(result)
    }

    fn opt(
        &mut self,
        allow: &Path,
        analyses: &str,
        variable: &str,
        result: &Path,
    ) -> Result<(), Error> {
        let mut command = Command::new(&self.tools.opt);
        command.arg("-load-pass-plugin").arg(&self.tools.plugin);
        command.arg(format!("-passes={},function(tbaa-measure)", self.passes));
        command.arg(format!("-aa-pipeline={analyses}"));
        command.arg("-disable-output").arg(&self.input);
        let all = ["ALLOW", "CODE", "ASKED"].map(|it| format!("TBAA_WORTH_{it}"));
        for other in all.iter().map(String::as_str).chain(["TBAA_ASKED", "TBAA_WATCH"]) {
            command.env_remove(other);
        }
        command.env(variable, result);
        if fs::metadata(allow).is_ok_and(|it| it.len() > 0) {
            command.env("TBAA_WORTH_ALLOW", allow);
        }
        self.made += 1;
        finish(&mut command)
    }
}

fn finish(command: &mut Command) -> Result<(), Error> {
    let printed = match command.output() {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    Err(Error::Passes(shown_command(command), printed))
}

/// A number that names a file, whose content is compared besides.
fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}
