//! Runs the tests: once each to see which mutants they come by, then for each
//! mutant those that do, until one fails. Those come first that killed the most
//! mutants in the least time, then the fastest.

use crate::Result;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes that a test may use, in KiB: a mutant may allocate without end.
const MEMORY: usize = 8_000_000;

struct Test {
    program: PathBuf,
    name: String,
    time: Duration,
    reached: Vec<usize>,
    /// Mutants killed so far.
    killed: AtomicUsize,
}

impl Test {
    /// Microseconds for each mutant killed, had it killed one more.
    fn price(&self) -> usize {
        self.time.as_micros() as usize / (1 + self.killed.load(Relaxed))
    }
}

/// The tests inside the mutated library, and test programs of these names.
pub fn programs(tree: &Path, package: &str, names: &str) -> Result<Vec<PathBuf>> {
    let of = names.split_whitespace().map(|name| format!("--test={name}"));
    let inside = ["-p", package, "--lib"].map(str::to_owned);
    let beside = ["-p", "tbaa-tests", "--features", "self-check"].map(str::to_owned);
    let mut found = Vec::new();
    for arguments in [inside.to_vec(), beside.into_iter().chain(of).collect()] {
        let output = crate::cargo(tree).args(["test", "--no-run"]).args(arguments).output()?;
        let messages = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(messages.into_owned().into());
        }
        let lines = messages.lines().filter(|line| line.trim_start().starts_with("Executable"));
        let paths = lines.filter_map(|line| line.split_once("(")?.1.strip_suffix(')'));
        found.extend(paths.map(|path| tree.join(path)));
    }
    Ok(found)
}

/// Whether the test passes, within a time.
fn passes(
    tree: &Path,
    (program, name): (&Path, &str),
    set: (&str, &str),
    limit: Duration,
) -> Result<bool> {
    let run = format!("ulimit -v {MEMORY}; exec \"$0\" --exact \"$1\"");
    let mut child = Command::new("sh")
        .args(["-c", &run])
        .args([program.as_os_str(), name.as_ref()])
        .current_dir(tree)
        .env(set.0, set.1)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        thread::sleep(
            (start.elapsed() / 8).clamp(Duration::from_millis(1), Duration::from_millis(100)),
        );
    }
}

/// The tests that pass, and which mutants each comes by. Kept in `tests.tsv` until a program is
/// built anew.
fn tests(to: &Path, programs: &[PathBuf], slowest: Duration) -> Result<Vec<Test>> {
    let kept = to.join("tests.tsv");
    let time = |path: &Path| fs::metadata(path).and_then(|it| it.modified()).ok();
    if programs.iter().any(|program| time(program) > time(&kept)) {
        let mut lines = Vec::new();
        for program in programs {
            let listed = Command::new(program).args(["--list", "--format=terse"]).output()?.stdout;
            for name in
                String::from_utf8(listed)?.lines().filter_map(|it| it.strip_suffix(": test"))
            {
                lines.extend(record(to, program, name, slowest)?);
            }
        }
        fs::write(&kept, lines.concat())?;
    }
    let read = |line: &str| -> Result<Test> {
        let parts: Vec<&str> = line.split('\t').collect();
        let [program, name, time, reached] = parts[..] else {
            return Err("tests.tsv is damaged".into());
        };
        let reached = reached.split(' ').filter(|it| !it.is_empty()).map(str::parse);
        Ok(Test {
            program: program.into(),
            name: name.to_owned(),
            time: Duration::from_millis(time.parse()?),
            reached: reached.collect::<Result<_, _>>()?,
            killed: AtomicUsize::new(0),
        })
    };
    fs::read_to_string(&kept)?.lines().map(read).collect()
}

/// A line of `tests.tsv`, unless the test fails without mutants or is slow.
fn record(to: &Path, program: &Path, name: &str, slowest: Duration) -> Result<Option<String>> {
    let (tree, reached) = (to.join("tree"), to.join("reached"));
    let reached = reached.to_str().ok_or("the directory's name is not UTF-8")?;
    let start = Instant::now();
    if !passes(&tree, (program, name), ("MUTANT", "0"), slowest)? {
        println!("left out, for it fails or is slow without mutants: {name}");
        return Ok(None);
    }
    let time = start.elapsed().as_millis();
    let _ = fs::remove_file(reached);
    passes(&tree, (program, name), ("MUTANT_REACHED", reached), slowest * 10)?;
    let numbers = fs::read_to_string(reached).unwrap_or_default().replace('\n', " ");
    println!("{time} ms, {} mutants: {name}", numbers.split(' ').count());
    Ok(Some(format!("{}\t{name}\t{time}\t{numbers}\n", program.display())))
}

/// What came of one mutant.
fn outcome(tree: &Path, number: usize, tests: &[&Test], allowed: Duration) -> Result<String> {
    if tests.is_empty() {
        return Ok("not reached".to_owned());
    }
    let mut tests = tests.to_vec();
    tests.sort_by_key(|test| test.price());
    let mut left = allowed;
    for test in tests {
        let Some(rest) = left.checked_sub(test.time) else {
            return Ok("survived the time given".to_owned());
        };
        left = rest;
        let limit = test.time * 5 + Duration::from_secs(4);
        if !passes(tree, (&test.program, &test.name), ("MUTANT", &number.to_string()), limit)? {
            test.killed.fetch_add(1, Relaxed);
            return Ok(format!("killed by {}", test.name));
        }
    }
    Ok("survived".to_owned())
}

fn setting(variable: &str, default: u64) -> u64 {
    let set = std::env::var(variable).ok().and_then(|it| it.parse().ok());
    set.unwrap_or(default)
}

/// Tries each mutant that has no outcome in `outcomes.tsv`, and appends there.
pub fn run(to: &Path, mutants: &[String], programs: &[PathBuf]) -> Result<()> {
    let slowest = Duration::from_secs(setting("MUTANT_TEST_SECONDS", 20));
    let tests = tests(to, programs, slowest)?;
    let allowed = Duration::from_secs(setting("MUTANT_SECONDS", 60));
    let every = setting("MUTANT_EVERY", 1) as usize;
    let mut by_mutant: HashMap<usize, Vec<&Test>> = HashMap::new();
    for test in &tests {
        for &number in &test.reached {
            by_mutant.entry(number).or_default().push(test);
        }
    }
    let path = to.join("outcomes.tsv");
    let before = fs::read_to_string(&path).unwrap_or_default();
    let done: HashSet<&str> =
        before.lines().filter_map(|it| Some(it.split_once('\t')?.1)).collect();
    let only = std::env::var("MUTANT_FILES").unwrap_or_default();
    let file = Mutex::new(File::options().create(true).append(true).open(&path)?);
    let next = AtomicUsize::new(1);
    let tree = to.join("tree");
    let work = || -> Result<(), String> {
        loop {
            let number = next.fetch_add(1, Relaxed);
            let Some(mutant) = mutants.get(number - 1) else { return Ok(()) };
            let wanted = mutant.starts_with(&only) && number.is_multiple_of(every);
            if !wanted || done.contains(mutant.as_str()) {
                continue;
            }
            let tests = by_mutant.get(&number).map_or(&[][..], Vec::as_slice);
            let what = outcome(&tree, number, tests, allowed).map_err(|it| it.to_string())?;
            let line = format!("{what}\t{mutant}\n");
            file.lock().unwrap().write_all(line.as_bytes()).map_err(|it| it.to_string())?;
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|it| it.join().expect("a worker does not panic"))
    })?;
    summary(&path)
}

/// Mutants by folder: killed, survived, not reached.
fn summary(outcomes: &Path) -> Result<()> {
    let text = fs::read_to_string(outcomes)?;
    let mut folders: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for line in text.lines() {
        let mut parts = line.split('\t');
        let (what, place) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let inside = place.split_once("src/").map_or(place, |(_, inside)| inside);
        let folder = inside.split(['/', ':']).next().unwrap_or("");
        let column =
            if what.starts_with("killed") { 0 } else { 1 + usize::from(what == "not reached") };
        folders.entry(folder).or_default()[column] += 1;
    }
    println!("folder, killed, survived, not reached");
    for (folder, [killed, survived, unreached]) in folders {
        println!("{folder}, {killed}, {survived}, {unreached}");
    }
    Ok(())
}
