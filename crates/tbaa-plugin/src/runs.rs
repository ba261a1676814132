//! Runs LLVM's passes while some answers of its type-based alias analysis are suppressed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::toolchain::{Error, SOURCE, Toolchain, shown_command};

/// LLVM's default alias analyses, but with `tbaa-worth` of this crate's plugin as type-based one.
/// `tbaa-worth` is last, so LLVM queries it only when no other analysis has an answer.
const LAST: &str = "basic-aa,scoped-noalias-aa,globals-aa,tbaa-worth";

/// The same analyses with `tbaa-worth` first, so LLVM always queries it.
const FIRST: &str = "tbaa-worth,basic-aa,scoped-noalias-aa,globals-aa";

/// An answer of `tbaa-worth`: the names of two tags that do not alias, in byte order. If the second
/// name is empty, the answer is that the first tag is immutable.
///
/// A tag's name is `base+offset:access`, with the names of its types.
pub type Pair = (String, String);

/// The answers that LLVM may get while it optimises each function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Allowed {
    /// For each function named here, the only answers that LLVM gets.
    pub only: BTreeMap<String, BTreeSet<Pair>>,
    /// True if LLVM gets no answers for the other functions, false if it gets all.
    pub none: bool,
}

impl Allowed {
    /// Returns the text of the file that tells the plugin the allowed answers.
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

/// The size and cost of a function's code after the passes.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
pub struct Code {
    /// The function's name.
    #[serde(rename = "measured")]
    pub function: String,
    /// The functions that are inlined in it, or `None` if there is no debug information.
    pub inlined: Option<BTreeSet<String>>,
    /// A hash of its instructions, without names and metadata.
    pub code: String,
    /// The number of instructions, without debug intrinsics.
    pub instructions: i64,
    /// The number of loads.
    pub loads: i64,
    /// The number of stores.
    pub stores: i64,
    /// The number of loops that load or store vectors.
    #[serde(rename = "vector loops")]
    pub vector_loops: i64,
    /// The estimated cost of one call: LLVM's throughput cost of each instruction, times how often
    /// LLVM expects its block to run.
    pub cost: f64,
    /// The number of loads on each source line; the key is `file:line`, or empty without a line.
    pub lines: BTreeMap<String, i64>,
}

/// A query that LLVM made to `tbaa-worth`, and the answer.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, Serialize)]
pub struct Question {
    /// The function that LLVM was optimising.
    pub function: String,
    /// The pass that made the query.
    pub pass: String,
    /// The first tag's name.
    pub a: String,
    /// The second tag's name. It is empty for a query about immutable memory.
    pub b: String,
    /// `MayAlias`, `NoAlias`, `constant` (immutable), or `denied` (suppressed).
    pub answer: String,
    /// The number of times that LLVM made the query.
    pub count: u64,
}

impl Question {
    /// Returns whether LLVM got the answer `NoAlias` or `constant`.
    pub fn is_decided(&self) -> bool {
        self.answer == "NoAlias" || self.answer == "constant"
    }
}

/// Runs one pipeline of passes on one module, and caches each result in a folder.
#[derive(Debug)]
pub struct Runs<'t> {
    tools: &'t Toolchain,
    folder: PathBuf,
    input: PathBuf,
    passes: String,
    /// The number of times that this object has run `opt` with the plugin.
    pub made: usize,
}

impl<'t> Runs<'t> {
    /// Prepares to run passes such as `default<O2>` on a module. The cache is below `folder`.
    ///
    /// # Errors
    ///
    /// Returns an error if the cache cannot be written.
    pub fn new(
        tools: &'t Toolchain,
        folder: &Path,
        text: &[u8],
        passes: &str,
    ) -> Result<Self, Error> {
        // The hash includes the plugin, because another plugin may give other results.
        let name = format!("{:016x}", hash((text, passes, &tools.plugin, SOURCE)));
        let folder = folder.join(name);
        fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
        let input = folder.join("input.ll");
        if fs::read(&input).ok().is_none_or(|there| there != text) {
            // The folder is new, or its files are for another text with the same hash.
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let _ = fs::remove_file(entry.path());
            }
            fs::write(&input, text).map_err(Error::file(&input))?;
        }
        Ok(Runs { tools, folder, input, passes: passes.to_owned(), made: 0 })
    }

    /// Returns the code of each function after the passes, which got only the allowed answers.
    ///
    /// # Errors
    ///
    /// Returns an error if `opt` fails, or if its output cannot be read.
    pub fn code(&mut self, allowed: &Allowed) -> Result<BTreeMap<String, Code>, Error> {
        let lines: Vec<Code> = self.run(allowed, LAST, "TBAA_WORTH_CODE", "code")?;
        Ok(lines.into_iter().map(|code| (code.function.clone(), code)).collect())
    }

    /// Returns the queries that LLVM makes if the type-based analysis comes last.
    ///
    /// # Errors
    ///
    /// Returns an error if `opt` fails, or if its output cannot be read.
    pub fn questions(&mut self) -> Result<Vec<Question>, Error> {
        self.run(&Allowed::default(), LAST, "TBAA_WORTH_ASKED", "asked")
    }

    /// Returns the queries that LLVM makes if the type-based analysis comes first.
    ///
    /// # Errors
    ///
    /// Returns an error if `opt` fails, or if its output cannot be read.
    pub fn all_questions(&mut self) -> Result<Vec<Question>, Error> {
        self.run(&Allowed::default(), FIRST, "TBAA_WORTH_ASKED", "first")
    }

    /// Returns a module in LLVM assembly with the pairs of tags in LLVM's queries, including tags
    /// that LLVM merged. For each pair, the named metadata `tbaa.asked` lists the two tags, the
    /// answer, and the number of queries. Returns an empty text if there was no query.
    ///
    /// # Errors
    ///
    /// Returns an error if `opt` fails, or if its output cannot be read.
    pub fn tags(&mut self) -> Result<Vec<u8>, Error> {
        let result = self.kept(&Allowed::default(), LAST, "TBAA_ASKED", "tags")?;
        fs::read(&result).map_err(Error::file(&result))
    }

    /// Runs the passes in `opt` without the plugin or a cache, so that the time can be measured.
    ///
    /// # Errors
    ///
    /// Returns an error if `opt` fails.
    pub fn with_types(&self) -> Result<(), Error> {
        self.plain("-enable-tbaa=true")
    }

    /// Like [`Runs::with_types`], but without type-based alias analysis.
    ///
    /// # Errors
    ///
    /// Returns an error if `opt` fails.
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
        let lines = fs::read_to_string(&result).map_err(Error::file(&result))?;
        let parsed = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>();
        parsed.map_err(|error| Error::File(result, error.into()))
    }

    /// Returns the path of a run's result. Runs `opt` if the result is not cached.
    fn kept(
        &mut self,
        allowed: &Allowed,
        analyses: &str,
        variable: &str,
        kind: &str,
    ) -> Result<PathBuf, Error> {
        let text = allowed.text();
        let name = format!("{kind}-{:016x}", hash(&text));
        let [allow, result] =
            ["allow", "json"].map(|end| self.folder.join(format!("{name}.{end}")));
        // The file `allow` is made last: if it exists, the result is complete.
        let kept = fs::read(&allow).is_ok_and(|kept| kept == text.as_bytes());
        if !kept {
            let own = self.folder.join(format!("{name}.{}", std::process::id()));
            fs::write(&own, &text).map_err(Error::file(&own))?;
            self.opt(&own, analyses, variable, &result)?;
            fs::rename(&own, &allow).map_err(Error::file(&allow))?;
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
        for other in
            ["TBAA_WORTH_ALLOW", "TBAA_WORTH_CODE", "TBAA_WORTH_ASKED", "TBAA_ASKED", "TBAA_WATCH"]
        {
            command.env_remove(other);
        }
        command.env(variable, result);
        if fs::metadata(allow).is_ok_and(|metadata| metadata.len() > 0) {
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

fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}
